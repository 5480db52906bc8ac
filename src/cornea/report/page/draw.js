// Draws the photographs and the marks on them.

const view = {zoom: 1, centre: [{x: 0.5, y: 0.5}, {x: 0.5, y: 0.5}]};
let chosen = null;   // by a click or a key
let pointed = null;  // under the pointer
const kMostZoom = 40;
// Marks per photograph and lines between them until "Draw all" is on, and the maximum number of
// lines then.
const kFewMarks = 120, kFewLinks = 16, kMostLinks = 2000;

const panels = [0, 1].map((i) => ({
  canvas: at('panel-' + i), photo: at('photo-' + i), marks: document.createElement('canvas'), marked: '',
  width: data.photographs[i].width, height: data.photographs[i].height, w: 1, h: 1, fit: 1, density: 1,
}));
const viewer = at('viewer'), links = at('links');

// Pixel centres of a photograph are at integers; its preview may be smaller.
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

const kColours = {inlier: '#4fb0ff', outlier: '#ff9a1f', match: '#ffe45c'};
const kOther = '#ffffff', kDark = 'rgba(0,0,0,0.5)';

// A mark is drawn once and then copied: a dark line under a bright one, with a distinct shape per
// kind.
function makeSprite(kind, size, bright, density) {
  const sprite = document.createElement('canvas');
  const side = Math.ceil((2 * size + 6) * density);
  sprite.width = sprite.height = side;
  const c = sprite.getContext('2d');
  c.scale(density, density);
  const middle = side / density / 2;
  for (const [colour, width] of [[kDark, bright + Math.min(1.4, 0.4 * size)], [kColours[kind], bright]]) {
    c.beginPath();
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.lineCap = 'round';
    if (kind !== 'outlier') {
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
function sprite(kind, size, bright, density) {
  const key = [kind, size, bright, density].join();
  if (!sprites.has(key)) sprites.set(key, makeSprite(kind, size, bright, density));
  return sprites.get(key);
}

// Marks must not hide the image: they are smaller if there are many, and larger if the view is
// close.
function markSize() {
  if (!shown.all) return 3.5;
  const room = Math.sqrt(panels[0].w * panels[0].h / Math.max(1, matches.length)) * view.zoom;
  return Math.round(4 * Math.min(4, Math.max(1.5, 0.17 * room))) / 4;
}

// Everything that decides which marks and lines are drawn; the highlighted one does not.
const scene = () => JSON.stringify([view, shown, shown.cut === Infinity, panels.map((p) => [p.w, p.h, p.density])]);

// The matches with marks in this view: those visible in either photograph, either all or the first
// by rank.
let marked = {of: '', matches: [], all: 0};
function markedMatches() {
  if (marked.of === scene()) return marked.matches;
  const visible = byRank.filter((m) => isShown(m) && [0, 1].some((i) => isInside(i, toScreen(i, m.points[i]))));
  marked = {of: scene(), matches: shown.all ? visible : visible.slice(0, kFewMarks), all: visible.length};
  return marked.matches;
}

function drawPanel(i) {
  const panel = panels[i], density = panel.density;
  const c = panel.canvas.getContext('2d');
  c.setTransform(density, 0, 0, density, 0, 0);
  c.globalAlpha = 1;
  c.clearRect(0, 0, panel.w, panel.h);
  const scale = panel.fit * view.zoom;
  const corner = toScreen(i, {x: -0.5, y: -0.5});
  c.imageSmoothingEnabled = scale * panel.width < 4 * panel.photo.naturalWidth;
  c.imageSmoothingQuality = 'high';
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

// Draws coverage, marks and residuals on a canvas of their own.
function drawMarks(i) {
  const panel = panels[i], density = panel.density;
  resize(panel.marks, panel.w, panel.h, density);
  const c = panel.marks.getContext('2d');
  c.setTransform(density, 0, 0, density, 0, 0);
  c.clearRect(0, 0, panel.w, panel.h);
  const near = (p) => p.x > -9 && p.y > -9 && p.x < panel.w + 9 && p.y < panel.h + 9;
  if (shown.coverage) drawCoverage(c, i);
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
  if (shown.residuals) drawResiduals(c, i);
  const size = shown.residuals ? Math.min(2, markSize()) : markSize();
  for (const kind of ['match', 'inlier', 'outlier']) {
    const image = sprite(kind, size, size < 2.5 ? 1 : 1.25, density), side = image.width / density;
    for (const m of markedMatches()) {
      if (kindOf(m) !== kind) continue;
      const p = toScreen(i, m.points[i]);
      if (near(p)) c.drawImage(image, p.x - side / 2, p.y - side / 2, side, side);
    }
  }
}

// A white line with a dark edge through these points.
function strokeBoth(c, places, closed) {
  for (const [colour, width] of [[kDark, 4], ['#ffffff', 1.8]]) {
    c.beginPath();
    c.strokeStyle = colour;
    c.lineWidth = width;
    places.forEach((p, k) => (k ? c.lineTo(p.x, p.y) : c.moveTo(p.x, p.y)));
    if (closed) c.closePath();
    c.stroke();
  }
}

function drawLit(c, i, match) {
  const line = epipolarLine(i, match.points[1 - i]);
  const ends = line && lineInImage(line, i);
  if (ends) strokeBoth(c, ends.map((p) => toScreen(i, p)), false);
  const target = planar && mapped(i, match.points[1 - i]);
  if (target) {  // where the homography maps the partner
    const p = toScreen(i, target);
    strokeBoth(c, [[0, -12], [12, 0], [0, 12], [-12, 0]].map(([x, y]) => ({x: p.x + x, y: p.y + y})), true);
  }
  const p = toScreen(i, match.points[i]);
  const image = sprite(kindOf(match), 7, 1.8, panels[i].density);
  const side = image.width / panels[i].density;
  c.drawImage(image, p.x - side / 2, p.y - side / 2, side, side);
}

const roomOf = (i) => panels[i].canvas.parentElement.clientWidth;
// Size of the window; on a phone its height changes as the browser's bars come and go.
let seen = {width: 0, height: 0};

// Both panels have the same height, so that they stay in step. False if there is no room, for
// instance in a tab that was never shown; drawing then waits until there is.
function layout() {
  const density = window.devicePixelRatio || 1;
  const stacked = window.matchMedia('(max-width: 760px)').matches;
  const width = window.innerWidth, height = window.innerHeight;
  seen = {width: width, height: stacked && width === seen.width ? Math.min(height, seen.height) : height};
  const w = roomOf(0);
  if (w <= 0) return false;
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
  return true;
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
    drawLoupes();
    drawSpace();
    sayWhatIsDrawn();
    sayZoom(view.zoom);
    root.classList.toggle('zoomed', view.zoom > 1);
  });
}
