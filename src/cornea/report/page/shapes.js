// The geometry between the photographs in the page's own words: epipolar lines, where a homography
// puts a point, and what a match lacks to agree with them.

// The line in image i that the point p of the other image allows: F x1, or F^T x2.
function epipolarLine(i, p) {
  if (!data.F || planar) return null;
  const F = data.F;
  return i === 1 ? F.map((row) => row[0] * p.x + row[1] * p.y + row[2])
      : [0, 1, 2].map((k) => F[0][k] * p.x + F[1][k] * p.y + F[2][k]);
}

// Its two ends at the photograph's border; null where it misses the photograph.
function lineInImage([a, b, c], panel) {
  const left = -0.5, top = -0.5, right = panel.width - 0.5, bottom = panel.height - 0.5;
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
  return best;
}

// H x1 in the second image, its inverse's x2 in the first.
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
// homography puts it: pixels. Null where there is no such place.
function residual(i, match) {
  const p = match.points[i], partner = match.points[1 - i];
  if (planar) {
    const target = mapped(i, partner);
    return target && {x: target.x - p.x, y: target.y - p.y};
  }
  const line = epipolarLine(i, partner);
  if (!line) return null;
  const [a, b, c] = line, length = a * a + b * b;
  if (length === 0) return null;
  const away = (a * p.x + b * p.y + c) / length;
  return {x: -away * a, y: -away * b};
}
