// The two cameras and the triangulated points in three dimensions: rotated by dragging or by arrow
// keys, zoomed by the wheel, two fingers or keys. Coordinates are those of the first camera (x
// right, y down, z forward), in units of the baseline.

const pose = data.pose;
const spaceCanvas = at('space');
// radians: from behind the first camera, above and to its left
const kFirstView = {yaw: -0.62, pitch: 0.42};
const space = {yaw: kFirstView.yaw, pitch: kFirstView.pitch, zoom: 1, x: 0, y: 0, w: 1, h: 1, density: 1, byDistance: false};
const kLeastZoom = 0.4, kMostSpaceZoom = 200;

// ---- What there is --------------------------------------------------------------------------

const times = (m, p) => m.map((row) => row[0] * p[0] + row[1] * p[1] + row[2] * p[2]);
const transposed = (m) => [0, 1, 2].map((i) => m.map((row) => row[i]));
const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];

// The matches that have a triangulated point, with that point.
function readSpots() {
  const numbers = floats(pose.points), spots = [];
  matches.forEach((m, i) => {
    const p = [numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]];
    if (p.some((v) => v !== 0) && p.every(Number.isFinite)) spots.push({match: m, p: p, colour: '', sx: 0, sy: 0, depth: 0});
  });
  return spots;
}
const spots = pose ? readSpots() : [];
const spotOf = new Map(spots.map((spot) => [spot.match, spot]));
const centres = pose ? [[0, 0, 0], times(transposed(pose.R), pose.t).map((v) => -v)] : [];

// The box of the first view: both cameras and all points but the outermost, which may be many times
// farther away than the scene: those beyond the 95th percentile of the distances or 4 times the median
// are left out.
function framed() {
  const away = spots.map((spot) => Math.hypot(...spot.p)).sort((a, b) => a - b);
  const limit = spots.length ? Math.min(quantile(away, 0.95), 4 * quantile(away, 0.5)) : 1;
  const near = spots.filter((spot) => Math.hypot(...spot.p) <= limit);
  const sides = [0, 1, 2].map((k) => {
    const sorted = near.map((spot) => spot.p[k]).sort((a, b) => a - b);
    const ends = sorted.length ? [quantile(sorted, 0.02), quantile(sorted, 0.98)] : [0, 1];
    return [Math.min(ends[0], ...centres.map((c) => c[k])), Math.max(ends[1], ...centres.map((c) => c[k]))];
  });
  return {near: near, middle: sides.map(([a, b]) => (a + b) / 2), radius: Math.max(0.6, Math.hypot(...sides.map(([a, b]) => (b - a) / 2)))};
}
const frame = pose ? framed() : {near: [], middle: [0, 0, 0], radius: 1};
// How far in front of its camera a photograph is drawn: visible beside the scene, but not beyond
// it.
const plateDepth = Math.max(0.3, 0.22 * frame.radius);

// The corners of a photograph as its camera places it, from the top left clockwise.
function plate(i) {
  const [fx, fy, cx, cy] = pose.cameras[i], {width, height} = data.photographs[i];
  const back = i ? transposed(pose.R) : [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  return [[-0.5, -0.5], [width - 0.5, -0.5], [width - 0.5, height - 0.5], [-0.5, height - 0.5]].map(([u, v]) => {
    const p = times(back, [(u - cx) / fx * plateDepth, (v - cy) / fy * plateDepth, plateDepth]);
    return p.map((x, k) => x + centres[i][k]);
  });
}
const plates = pose ? [plate(0), plate(1)] : [];

// The colour of each point is that of its pixel in the first photograph.
function readColours() {
  const photo = panels[0].photo, sheet = document.createElement('canvas');
  const scale = Math.min(1, 1000 / Math.max(photo.naturalWidth, photo.naturalHeight));
  sheet.width = Math.max(1, Math.round(photo.naturalWidth * scale));
  sheet.height = Math.max(1, Math.round(photo.naturalHeight * scale));
  const c = sheet.getContext('2d', {willReadFrequently: true});
  c.drawImage(photo, 0, 0, sheet.width, sheet.height);
  const bytes = c.getImageData(0, 0, sheet.width, sheet.height).data;
  for (const spot of spots) {
    const p = spot.match.points[0];
    const x = Math.min(sheet.width - 1, Math.max(0, Math.floor((p.x + 0.5) / panels[0].width * sheet.width)));
    const y = Math.min(sheet.height - 1, Math.max(0, Math.floor((p.y + 0.5) / panels[0].height * sheet.height)));
    const k = 4 * (y * sheet.width + x);
    spot.colour = 'rgb(' + bytes[k] + ',' + bytes[k + 1] + ',' + bytes[k + 2] + ')';
  }
}

// ---- Drawing --------------------------------------------------------------------------------

// The eye is four radii from the middle.
const kEye = 4;
function seenFrom(yaw, pitch) {
  const [sy, cy, sp, cp] = [Math.sin(yaw), Math.cos(yaw), Math.sin(pitch), Math.cos(pitch)], {middle, radius} = frame;
  return (p) => {
    const [x, y, z] = p.map((v, k) => (v - middle[k]) / radius);
    const right = cy * x + sy * z, ahead = cy * z - sy * x;
    const depth = kEye + cp * ahead + sp * y, down = cp * y - sp * ahead;
    return {x: right / depth, y: down / depth, depth: depth};
  };
}

// The extent of the first view on the image plane, which is scaled to fill the canvas.
function extent() {
  const see = seenFrom(kFirstView.yaw, kFirstView.pitch);
  const points = frame.near.map((spot) => see(spot.p)), cameras = [...plates.flat(), ...centres].map(see);
  const ends = (key) => {
    const sorted = points.map((p) => p[key]).sort((a, b) => a - b), all = cameras.map((p) => p[key]);
    if (sorted.length) all.push(quantile(sorted, 0.01), quantile(sorted, 0.99));
    return [Math.min(...all), Math.max(...all)];
  };
  const [left, right] = ends('x'), [top, bottom] = ends('y');
  return {x: (left + right) / 2, y: (top + bottom) / 2, w: Math.max(right - left, 1e-3), h: Math.max(bottom - top, 1e-3)};
}
const taken = pose ? extent() : null;

function projector() {
  const see = seenFrom(space.yaw, space.pitch);
  const fit = 0.84 * Math.min(space.w / taken.w, space.h / taken.h), scale = fit * space.zoom;
  return (p) => {
    const q = see(p);
    return {x: space.w / 2 + space.x + scale * (q.x - taken.x), y: space.h / 2 + space.y + scale * (q.y - taken.y), depth: q.depth};
  };
}

const styleOf = (name) => getComputedStyle(root).getPropertyValue(name).trim();

function path(c, places, closed) {
  c.beginPath();
  places.forEach((p, k) => (k ? c.lineTo(p.x, p.y) : c.moveTo(p.x, p.y)));
  if (closed) c.closePath();
}

// A photograph on its plate as two triangles, each drawn with its own affine map.
function drawPhotograph(c, i, corners) {
  const photo = panels[i].photo, w = photo.naturalWidth, h = photo.naturalHeight;
  const [a, b, d, e] = corners;  // top left, top right, bottom right, bottom left
  const halves = [[a, {x: b.x - a.x, y: b.y - a.y}, {x: e.x - a.x, y: e.y - a.y}, [a, b, e]],
    [{x: b.x + e.x - d.x, y: b.y + e.y - d.y}, {x: d.x - e.x, y: d.y - e.y}, {x: d.x - b.x, y: d.y - b.y}, [b, d, e]]];
  for (const [from, across, down, triangle] of halves) {
    c.save();
    path(c, triangle, true);
    c.clip();
    c.transform(across.x / w, across.y / w, down.x / h, down.y / h, from.x, from.y);
    c.globalAlpha = 0.85;
    c.drawImage(photo, 0, 0);
    c.restore();
  }
}

function drawCamera(c, i, project, ink, ground) {
  const corners = plates[i].map(project), eye = project(centres[i]);
  if ([eye, ...corners].some((p) => p.depth < 0.05)) return;
  drawPhotograph(c, i, corners);
  c.strokeStyle = ink;
  c.lineWidth = 1.5;
  c.lineJoin = 'round';
  path(c, corners, true);
  c.stroke();
  for (const corner of corners) {
    path(c, [eye, corner], false);
    c.stroke();
  }
  // Its number is behind it, where nothing else is drawn.
  const front = corners.reduce((sum, p) => ({x: sum.x + p.x / 4, y: sum.y + p.y / 4}), {x: 0, y: 0});
  const away = Math.max(1, Math.hypot(eye.x - front.x, eye.y - front.y));
  const x = eye.x + 13 * (eye.x - front.x) / away, y = eye.y + 13 * (eye.y - front.y) / away;
  c.beginPath();
  c.arc(x, y, 9, 0, 2 * Math.PI);
  c.fillStyle = ink;
  c.fill();
  c.fillStyle = ground;
  c.font = '600 12px system-ui, sans-serif';
  c.textAlign = 'center';
  c.textBaseline = 'middle';
  c.fillText(String(i + 1), x, y + 0.5);
}

// From blue, distance 0, to orange, the threshold: the colours of inliers and outliers.
function distanceColour(match, from, to) {
  const share = Math.min(1, match.distance / (data.threshold || axis));
  return 'rgb(' + from.map((v, k) => Math.round(v + (to[k] - v) * share)).join() + ')';
}
const rgbOf = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

function drawSpots(c, project, edge) {
  const lit = pointed || chosen, seen = [];
  for (const spot of spots) {
    if (!isShown(spot.match)) continue;
    const p = project(spot.p);
    spot.sx = p.x; spot.sy = p.y; spot.depth = p.depth;
    if (p.depth > 0.05 && p.x > -4 && p.y > -4 && p.x < space.w + 4 && p.y < space.h + 4) seen.push(spot);
  }
  seen.sort((a, b) => b.depth - a.depth);
  const [from, to] = [rgbOf(styleOf('--in')), rgbOf(styleOf('--out'))];
  const base = (seen.length > 4000 ? 2 : seen.length > 800 ? 2.6 : 3.4) * Math.min(2.2, Math.sqrt(space.zoom));
  c.globalAlpha = lit ? 0.45 : 1;
  for (const spot of seen) {
    const side = Math.max(1.5, Math.min(9, base * kEye / spot.depth));
    c.fillStyle = edge;
    c.fillRect(spot.sx - side / 2 - 0.5, spot.sy - side / 2 - 0.5, side + 1, side + 1);
    c.fillStyle = space.byDistance ? distanceColour(spot.match, from, to) : spot.colour;
    c.fillRect(spot.sx - side / 2, spot.sy - side / 2, side, side);
  }
  c.globalAlpha = 1;
}

// The two rays of the highlighted match and its point.
function drawRays(c, project, ink) {
  const spot = spotOf.get(pointed || chosen);
  if (!spot) return;
  const p = project(spot.p), eyes = centres.map(project);
  if ([p, ...eyes].some((q) => q.depth < 0.05)) return;
  c.strokeStyle = ink;
  c.lineWidth = 1.25;
  for (const eye of eyes) {
    path(c, [eye, p], false);
    c.stroke();
  }
  const image = sprite('inlier', 7, 1.8, space.density), side = image.width / space.density;
  c.drawImage(image, p.x - side / 2, p.y - side / 2, side, side);
}

function drawSpace() {
  if (!pose) return;
  const w = spaceCanvas.clientWidth, h = spaceCanvas.clientHeight;
  if (!w || !h) return;
  space.w = w;
  space.h = h;
  space.density = window.devicePixelRatio || 1;
  resize(spaceCanvas, w, h, space.density);
  const c = spaceCanvas.getContext('2d'), project = projector();
  const ink = styleOf('--ink'), ground = styleOf('--well');
  c.setTransform(space.density, 0, 0, space.density, 0, 0);
  c.clearRect(0, 0, w, h);
  drawSpots(c, project, styleOf('--edge'));
  const eyes = centres.map(project);
  if (eyes.every((p) => p.depth > 0.05)) {  // the baseline
    c.strokeStyle = styleOf('--out');
    c.lineWidth = 2.5;
    path(c, eyes, false);
    c.stroke();
  }
  for (const i of eyes[0].depth > eyes[1].depth ? [0, 1] : [1, 0]) drawCamera(c, i, project, ink, ground);
  drawRays(c, project, ink);
  at('space-reset').classList.toggle('gone', space.yaw === kFirstView.yaw && space.pitch === kFirstView.pitch &&
      space.zoom === 1 && space.x === 0 && space.y === 0);
}
