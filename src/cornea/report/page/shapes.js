// The two-view geometry in JavaScript: epipolar lines, points mapped by a homography, and residuals
// of matches.

// If F was computed from E and a lens has distortion, F relates undistorted pixels: u = fx x + cx
// of the ray (x, y, 1). Otherwise these are the pixels themselves.
const lenses = data.pose && data.pose.ofUndistorted ? data.pose.cameras : null;

function distorted(i, p) {
  if (!lenses) return p;
  const [fx, fy, cx, cy, k1, k2, p1, p2] = lenses[i], x = (p.x - cx) / fx, y = (p.y - cy) / fy;
  const r = x * x + y * y, radial = 1 + r * (k1 + r * k2);
  return {x: fx * (x * radial + 2 * p1 * x * y + p2 * (r + 2 * x * x)) + cx,
    y: fy * (y * radial + p1 * (r + 2 * y * y) + 2 * p2 * x * y) + cy};
}

// The inverse of the distortion, by fixed-point iteration.
function undistorted(i, p) {
  let q = p;
  for (let k = 0; lenses && k < 100; ++k) {
    const there = distorted(i, q), away = {x: p.x - there.x, y: p.y - there.y};
    q = {x: q.x + away.x, y: q.y + away.y};
    if (Math.abs(away.x) + Math.abs(away.y) < 1e-7) break;
  }
  return q;
}

// The epipolar line in image i of the point p of the other image: F x1, or F^T x2.
function epipolarLine(i, pixel) {
  if (!data.F || planar) return null;
  const F = data.F, p = undistorted(1 - i, pixel);
  return i === 1 ? F.map((row) => row[0] * p.x + row[1] * p.y + row[2])
      : [0, 1, 2].map((k) => F[0][k] * p.x + F[1][k] * p.y + F[2][k]);
}

// The bounds of a photograph's border after undistortion.
function borders(panel, i) {
  const corners = [];
  for (const x of [-0.5, panel.width / 2, panel.width - 0.5]) {
    for (const y of [-0.5, panel.height / 2, panel.height - 0.5]) corners.push(undistorted(i, {x: x, y: y}));
  }
  const xs = corners.map((p) => p.x), ys = corners.map((p) => p.y);
  return {left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys)};
}

// The two ends of the line at the border of photograph i, or the curve that the lens makes of it;
// null if it misses the photograph.
function lineInImage([a, b, c], i) {
  const panel = panels[i], {left, top, right, bottom} = borders(panel, i);
  const ends = [];
  if (Math.abs(b) > 0) for (const x of [left, right]) ends.push({x: x, y: -(a * x + c) / b});
  if (Math.abs(a) > 0) for (const y of [top, bottom]) ends.push({x: -(b * y + c) / a, y: y});
  const slack = 1e-6 * (panel.width + panel.height);
  const inside = ends.filter((p) => p.x >= left - slack && p.x <= right + slack &&
      p.y >= top - slack && p.y <= bottom + slack);
  let best = null, longest = 0;
  for (const p of inside) {
    for (const q of inside) {
      const length = Math.hypot(p.x - q.x, p.y - q.y);
      if (length > longest) { longest = length; best = [p, q]; }
    }
  }
  if (!best || !lenses) return best;
  const kParts = 64, [p, q] = best;
  return Array.from({length: kParts + 1}, (_, k) => distorted(i,
      {x: p.x + (q.x - p.x) * k / kParts, y: p.y + (q.y - p.y) * k / kParts}));
}

// H x1 in the second image, H^-1 x2 in the first.
function mapped(i, p) {
  if (!data.H) return null;
  const [[a, b, c], [d, e, f], [g, h, k]] = data.H;
  const m = i === 1 ? data.H
      : [[e * k - f * h, c * h - b * k, b * f - c * e],
        [f * g - d * k, a * k - c * g, c * d - a * f],
        [d * h - e * g, b * g - a * h, a * e - b * d]];
  const w = m[2][0] * p.x + m[2][1] * p.y + m[2][2];
  return w === 0 ? null : {x: (m[0][0] * p.x + m[0][1] * p.y + m[0][2]) / w,
    y: (m[1][0] * p.x + m[1][1] * p.y + m[1][2]) / w};
}

// From a match's point in image i to the nearest point of its epipolar line, or to where the
// homography maps its partner: pixels. Null if there is no such point.
function residual(i, match) {
  const p = match.points[i], partner = match.points[1 - i];
  if (planar) {
    const target = mapped(i, partner);
    return target && {x: target.x - p.x, y: target.y - p.y};
  }
  const line = epipolarLine(i, partner);
  if (!line) return null;
  const [a, b, c] = line, length = a * a + b * b, here = undistorted(i, p);
  if (length === 0) return null;
  const away = (a * here.x + b * here.y + c) / length;
  const foot = distorted(i, {x: here.x - away * a, y: here.y - away * b});
  return {x: foot.x - p.x, y: foot.y - p.y};
}
