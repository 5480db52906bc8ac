// What was found, and how it is drawn. Data come from the element #data; numbers of matches as
// Float32Array, eight to a match. The three scripts of the page share one function's scope, in the
// order draw, point, words.

const data = JSON.parse(document.getElementById('data').textContent);
const at = (id) => document.getElementById(id);
const whole = (n) => Math.round(n).toLocaleString('en-US');
const pixels = (d) => (d < 10 ? d.toFixed(2) : d < 100 ? d.toFixed(1) : whole(d)) + ' px';
const baseName = (path) => path.split('/').filter(Boolean).pop() || path;

function make(tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

function floats(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

// To four times a number that is easily read.
function roundUp(v) {
  const power = Math.pow(10, Math.floor(Math.log10(Math.max(v, 0.04) / 4)));
  return 4 * power * [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((step) => 4 * power * step >= v * 0.999999);
}

// ---- What was found -------------------------------------------------------------------------

const numbers = floats(data.matches);
const matches = [];
for (let i = 0; i + 8 <= numbers.length; i += 8) {
  matches.push({
    points: [{x: numbers[i], y: numbers[i + 1]}, {x: numbers[i + 2], y: numbers[i + 3]}],
    ratio: numbers[i + 4], distance: numbers[i + 5], inlier: numbers[i + 6] > 0, index: numbers[i + 7],
  });
}
const others = data.photographs.map((photograph) => floats(photograph.others));
const hasDistances = matches.length > 0 && (data.F !== null || data.kind === 'planar');
const planar = data.kind === 'planar';
const inlierDistances = matches.filter((m) => m.inlier).map((m) => m.distance).sort((a, b) => a - b);
// The axis of the histogram and of the slider; what lies beyond shares one bar.
const axis = data.threshold > 0 ? 4 * data.threshold
    : roundUp(2 * (inlierDistances[inlierDistances.length - 1] || 0));

// ---- What is drawn --------------------------------------------------------------------------

const shown = {inliers: true, outliers: true, others: false, links: true, cut: Infinity};
const view = {zoom: 1, centre: [{x: 0.5, y: 0.5}, {x: 0.5, y: 0.5}]};
let chosen = null;   // by a click or a key
let pointed = null;  // under the pointer
const kMostZoom = 40, kMostLinks = 80;

const panels = [0, 1].map((i) => ({
  canvas: at('panel-' + i), photo: at('photo-' + i), marks: document.createElement('canvas'), marked: '',
  width: data.photographs[i].width, height: data.photographs[i].height, w: 1, h: 1, fit: 1,
}));
const viewer = at('viewer'), links = at('links');

const isShown = (m) => (m.inlier ? shown.inliers : shown.outliers) &&
    !(hasDistances && m.distance > shown.cut);

// Pixels of a photograph have their centres at whole numbers; its preview may be smaller.
function toScreen(panel, p) {
  const scale = panels[panel].fit * view.zoom, c = view.centre[panel];
  return {x: panels[panel].w / 2 + (p.x + 0.5 - c.x * panels[panel].width) * scale,
    y: panels[panel].h / 2 + (p.y + 0.5 - c.y * panels[panel].height) * scale};
}
function toPoint(panel, x, y) {
  const scale = panels[panel].fit * view.zoom, c = view.centre[panel];
  return {x: c.x * panels[panel].width + (x - panels[panel].w / 2) / scale - 0.5,
    y: c.y * panels[panel].height + (y - panels[panel].h / 2) / scale - 0.5};
}
const isInside = (panel, p) => p.x >= 0 && p.y >= 0 && p.x <= panels[panel].w && p.y <= panels[panel].h;

const kInlier = '#4fb0ff', kOutlier = '#ff9a1f', kOther = '#ffffff', kDark = 'rgba(0,0,0,0.6)';

// A mark is drawn once and then copied: a dark line under a bright one, told apart by its shape.
function makeSprite(kind, size, density) {
  const sprite = document.createElement('canvas');
  const side = Math.ceil((2 * size + 6) * density);
  sprite.width = sprite.height = side;
  const c = sprite.getContext('2d');
  c.scale(density, density);
  const middle = side / density / 2;
  const bright = Math.min(1.8, Math.max(1, 0.5 * size));
  for (const [colour, width] of [[kDark, bright + Math.min(1.8, 0.45 * size)], [kind === 'inlier' ? kInlier : kOutlier, bright]]) {
    c.beginPath();
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.lineCap = 'round';
    if (kind === 'inlier') {
      c.arc(middle, middle, size, 0, 2 * Math.PI);
    } else {
      const arm = size * 0.85;
      c.moveTo(middle - arm, middle - arm);
      c.lineTo(middle + arm, middle + arm);
      c.moveTo(middle + arm, middle - arm);
      c.lineTo(middle - arm, middle + arm);
    }
    c.stroke();
  }
  return sprite;
}

const sprites = new Map();
function sprite(kind, size, density) {
  const key = kind + size + '@' + density;
  if (!sprites.has(key)) sprites.set(key, makeSprite(kind, size, density));
  return sprites.get(key);
}

// Marks leave most of the picture to be seen: smaller where there are many, larger where the view is
// close.
function markSize() {
  const room = Math.sqrt(panels[0].w * panels[0].h / Math.max(1, matches.length)) * view.zoom;
  return Math.round(4 * Math.min(5, Math.max(1.5, 0.19 * room))) / 4;
}

// What decides which marks and lines there are; which of them is lit does not.
const scene = () => JSON.stringify([view, shown, shown.cut === Infinity, panels.map((p) => [p.w, p.h, p.density])]);

function drawPanel(i) {
  const panel = panels[i], density = panel.density;
  const c = panel.canvas.getContext('2d');
  c.setTransform(density, 0, 0, density, 0, 0);
  c.globalAlpha = 1;
  c.clearRect(0, 0, panel.w, panel.h);
  const scale = panel.fit * view.zoom;
  const corner = toScreen(i, {x: -0.5, y: -0.5});
  c.imageSmoothingEnabled = scale * panel.width < 4 * panel.photo.naturalWidth;
  c.drawImage(panel.photo, corner.x, corner.y, panel.width * scale, panel.height * scale);
  const lit = pointed || chosen;
  if (panel.marked !== scene()) {
    drawMarks(i);
    panel.marked = scene();
  }
  c.globalAlpha = lit ? 0.35 : 1;
  c.drawImage(panel.marks, 0, 0, panel.w, panel.h);
  c.globalAlpha = 1;
  if (lit) drawLit(c, i, lit);
}

// The marks of all matches that are shown, on a sheet of their own.
function drawMarks(i) {
  const panel = panels[i], density = panel.density;
  resize(panel.marks, panel.w, panel.h, density);
  const c = panel.marks.getContext('2d');
  c.setTransform(density, 0, 0, density, 0, 0);
  c.clearRect(0, 0, panel.w, panel.h);
  const near = (p) => p.x > -9 && p.y > -9 && p.x < panel.w + 9 && p.y < panel.h + 9;
  if (shown.others) {
    c.globalAlpha = 0.8;
    for (let k = 0; k + 1 < others[i].length; k += 2) {
      const p = toScreen(i, {x: others[i][k], y: others[i][k + 1]});
      if (!near(p)) continue;
      c.fillStyle = kDark;
      c.fillRect(p.x - 2, p.y - 2, 4, 4);
      c.fillStyle = kOther;
      c.fillRect(p.x - 1, p.y - 1, 2, 2);
    }
  }
  c.globalAlpha = 1;
  const size = markSize();
  for (const kind of ['inlier', 'outlier']) {
    const image = sprite(kind, size, density), side = image.width / density;
    for (const m of matches) {
      if (m.inlier !== (kind === 'inlier') || !isShown(m)) continue;
      const p = toScreen(i, m.points[i]);
      if (near(p)) c.drawImage(image, p.x - side / 2, p.y - side / 2, side, side);
    }
  }
}

function drawLit(c, i, match) {
  const line = epipolarLine(i, match.points[1 - i]);
  const ends = line && lineInImage(line, panels[i]);
  if (ends) {
    const a = toScreen(i, ends[0]), b = toScreen(i, ends[1]);
    for (const [colour, width] of [[kDark, 4], ['#ffffff', 1.8]]) {
      c.beginPath();
      c.strokeStyle = colour;
      c.lineWidth = width;
      c.moveTo(a.x, a.y);
      c.lineTo(b.x, b.y);
      c.stroke();
    }
  }
  const target = planar && mapped(i, match.points[1 - i]);
  if (target) drawDiamond(c, toScreen(i, target));
  const p = toScreen(i, match.points[i]);
  const image = sprite(match.inlier ? 'inlier' : 'outlier', 7, panels[i].density);
  const side = image.width / panels[i].density;
  c.drawImage(image, p.x - side / 2, p.y - side / 2, side, side);
}

// Where a homography puts the partner.
function drawDiamond(c, p) {
  for (const [colour, width] of [[kDark, 4], ['#ffffff', 1.8]]) {
    c.beginPath();
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.moveTo(p.x, p.y - 12);
    c.lineTo(p.x + 12, p.y);
    c.lineTo(p.x, p.y + 12);
    c.lineTo(p.x - 12, p.y);
    c.closePath();
    c.stroke();
  }
}

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

// From a match's point in one photograph to the one in the other, over the gap between them; evenly
// chosen where there are many.
let linked = {of: '', matches: []};
function drawLinks() {
  const frame = viewer.getBoundingClientRect(), density = panels[0].density;
  resize(links, frame.width, frame.height, density);
  const c = links.getContext('2d');
  c.setTransform(density, 0, 0, density, 0, 0);
  c.clearRect(0, 0, frame.width, frame.height);
  const corners = panels.map((panel) => {
    const box = panel.canvas.getBoundingClientRect();
    return {x: box.left - frame.left, y: box.top - frame.top};
  });
  const ends = (m) => [0, 1].map((i) => {
    const p = toScreen(i, m.points[i]);
    return isInside(i, p) ? {x: p.x + corners[i].x, y: p.y + corners[i].y} : null;
  });
  const stroke = (m, width, alpha) => {
    const [a, b] = ends(m);
    if (!a || !b) return;
    const away = markSize() + 1, length = Math.hypot(b.x - a.x, b.y - a.y);
    if (length < 2 * away) return;
    const dx = (b.x - a.x) / length * away, dy = (b.y - a.y) / length * away;
    c.globalAlpha = alpha;
    c.strokeStyle = m.inlier ? kInlier : kOutlier;
    c.lineWidth = width;
    c.setLineDash(m.inlier ? [] : [5, 4]);
    c.beginPath();
    c.moveTo(a.x + dx, a.y + dy);
    c.lineTo(b.x - dx, b.y - dy);
    c.stroke();
  };
  const lit = pointed || chosen;
  if (shown.links) {
    if (linked.of !== scene()) {
      const visible = matches.filter((m) => isShown(m) && ends(m).every(Boolean));
      const count = Math.min(kMostLinks, visible.length);
      linked = {of: scene(), matches: Array.from({length: count}, (_, k) => visible[Math.floor(k * visible.length / count)])};
    }
    for (const m of linked.matches) stroke(m, 1, lit ? 0.08 : 0.4);
  }
  if (lit) stroke(lit, 2, 1);
}

function resize(canvas, w, h, density) {
  const width = Math.round(w * density), height = Math.round(h * density);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

const roomOf = (i) => panels[i].canvas.parentElement.clientWidth;
let seen = {width: 0, height: 0};  // of the window: on a phone its bars come and go with the height

// Both panels have one height, so that they stay in step.
function layout() {
  const density = window.devicePixelRatio || 1;
  const stacked = window.matchMedia('(max-width: 760px)').matches;
  const width = window.innerWidth, height = window.innerHeight;
  seen = {width: width, height: stacked && width === seen.width ? Math.min(height, seen.height) : height};
  const w = roomOf(0);
  const tallest = Math.max(...panels.map((p) => p.height / p.width));
  const most = Math.max(220, seen.height * (stacked ? 0.6 : 0.76));
  const h = Math.max(120, Math.min(most, w * tallest));
  for (const panel of panels) {
    panel.w = w;
    panel.h = h;
    panel.density = density;
    panel.fit = Math.min(w / panel.width, h / panel.height);
    panel.canvas.style.height = h + 'px';
    resize(panel.canvas, w, h, density);
  }
}

let waiting = false;
function draw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    drawPanel(0);
    drawPanel(1);
    drawLinks();
    at('zoom-value').textContent = (view.zoom < 9.95 ? +view.zoom.toFixed(1) : Math.round(view.zoom)) + '\u00d7';
    document.documentElement.classList.toggle('zoomed', view.zoom > 1);
  });
}
