// What is drawn over the photographs besides marks: lines between partners, residuals, the grid
// cells that contain inliers, and the two patches of a selected match.

// ---- Lines ----------------------------------------------------------------------------------

// Lines from a match's point in one photograph to that in the other, across the gap between them:
// the first by rank of the matches with marks in both.
let linked = {of: '', matches: [], all: 0};
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
  const addTo = (m) => {
    const [a, b] = ends(m);
    if (!a || !b) return;
    const away = markSize() + 1, length = Math.hypot(b.x - a.x, b.y - a.y);
    if (length < 2 * away) return;
    const dx = (b.x - a.x) / length * away, dy = (b.y - a.y) / length * away;
    c.moveTo(a.x + dx, a.y + dy);
    c.lineTo(b.x - dx, b.y - dy);
  };
  const stroke = (list, kind, width, alpha) => {
    c.globalAlpha = alpha;
    c.strokeStyle = kColours[kind];
    c.lineWidth = width;
    c.setLineDash(kind === 'outlier' ? [5, 4] : []);
    c.beginPath();
    for (const m of list) if (kindOf(m) === kind) addTo(m);
    c.stroke();
  };
  if (linked.of !== scene()) {
    const both = byRank.filter((m) => isShown(m) && [0, 1].every((i) => isInside(i, toScreen(i, m.points[i]))));
    linked = {of: scene(), all: both.length,
      matches: shown.links ? both.slice(0, shown.all ? kMostLinks : kFewLinks) : []};
  }
  const lit = pointed || chosen;
  const alpha = lit ? 0.08 : linked.matches.length > 400 ? 0.18 : linked.matches.length > 80 ? 0.3 : 0.5;
  for (const kind of ['match', 'inlier', 'outlier']) stroke(linked.matches, kind, 1, alpha);
  if (lit) stroke([lit], kindOf(lit), 2, 1);
}

// ---- Residuals ------------------------------------------------------------------------------

// The magnification of residuals: half the threshold, which is the share of one photograph, takes
// about 24 points of the screen.
function residualFactor() {
  const scale = Math.min(panels[0].fit, panels[1].fit) * view.zoom;
  return roundDown(Math.max(1, 24 / (axis / 4 * scale)));
}

// Matches far beyond the threshold have no residuals: these would cover the photograph.
const hasResidual = (m) => hasDistances && m.distance <= axis;
const beyondAxis = matches.some((m) => !hasResidual(m));

function drawResiduals(c, i) {
  const factor = residualFactor(), scale = panels[i].fit * view.zoom * factor;
  for (const kind of ['inlier', 'outlier']) {
    for (const [colour, width] of [[kDark, 2.6], [kColours[kind], 1.2]]) {
      c.beginPath();
      c.strokeStyle = colour;
      c.lineWidth = width;
      for (const m of markedMatches()) {
        const away = kindOf(m) === kind && hasResidual(m) ? residual(i, m) : null;
        if (!away) continue;
        const p = toScreen(i, m.points[i]);
        c.moveTo(p.x, p.y);
        c.lineTo(p.x + away.x * scale, p.y + away.y * scale);
      }
      c.stroke();
    }
  }
}

// ---- Coverage -------------------------------------------------------------------------------

const coverage = data.coverage.map((cells) => ({
  cells: cells, side: Math.round(Math.sqrt(cells.length)), held: cells.filter((count) => count > 0).length,
}));

// Cells without an inlier are dimmed; the others show their number of inliers.
function drawCoverage(c, i) {
  const {cells, side} = coverage[i], panel = panels[i];
  cells.forEach((count, k) => {
    const x = k % side, y = Math.floor(k / side);
    const a = toScreen(i, {x: panel.width * x / side - 0.5, y: panel.height * y / side - 0.5});
    const b = toScreen(i, {x: panel.width * (x + 1) / side - 0.5, y: panel.height * (y + 1) / side - 0.5});
    if (b.x < 0 || b.y < 0 || a.x > panel.w || a.y > panel.h) return;
    if (!count) {
      c.fillStyle = 'rgba(0,0,0,0.5)';
      c.fillRect(a.x, a.y, b.x - a.x, b.y - a.y);
    }
    c.strokeStyle = 'rgba(255,255,255,0.4)';
    c.lineWidth = 1;
    c.beginPath();  // each line between cells once
    c.moveTo(Math.round(a.x) + 0.5, Math.round(b.y) + 0.5);
    if (y + 1 < side) c.lineTo(Math.round(b.x) + 0.5, Math.round(b.y) + 0.5);
    c.moveTo(Math.round(b.x) + 0.5, Math.round(a.y) + 0.5);
    if (x + 1 < side) c.lineTo(Math.round(b.x) + 0.5, Math.round(b.y) + 0.5);
    c.stroke();
    if (!count || b.x - a.x < 34) return;
    const text = whole(count);
    c.font = '11px system-ui, sans-serif';
    c.textBaseline = 'top';
    c.fillStyle = 'rgba(0,0,0,0.55)';
    c.fillRect(a.x + 2, a.y + 2, c.measureText(text).width + 6, 15);
    c.fillStyle = '#ffffff';
    c.fillText(text, a.x + 5, a.y + 4);
  });
}

// ---- The patches of a match -----------------------------------------------------------------

// Both patches of the highlighted match, side by side at one scale.
function drawLoupes() {
  const match = pointed || chosen;
  at('loupes').classList.toggle('empty', !match);
  [0, 1].forEach((i) => {
    const canvas = at('loupe-' + i), panel = panels[i], density = panel.density;
    const w = canvas.clientWidth, h = canvas.clientHeight;
    if (!w) return;
    resize(canvas, w, h, density);
    const c = canvas.getContext('2d');
    c.setTransform(density, 0, 0, density, 0, 0);
    c.clearRect(0, 0, w, h);
    if (!match) return;
    // Pixels across.
    const shows = Math.max(48, Math.min(...panels.map((p) => Math.max(p.width, p.height))) / 12);
    const scale = w / shows, p = match.points[i];
    const place = (q) => ({x: w / 2 + (q.x - p.x) * scale, y: h / 2 + (q.y - p.y) * scale});
    const corner = place({x: -0.5, y: -0.5});
    c.imageSmoothingEnabled = scale * panel.width < 12 * panel.photo.naturalWidth;
    c.drawImage(panel.photo, corner.x, corner.y, panel.width * scale, panel.height * scale);
    const line = epipolarLine(i, match.points[1 - i]), ends = line && lineInImage(line, i);
    if (ends) strokeBoth(c, ends.map(place), false);
    const target = planar && mapped(i, match.points[1 - i]);
    if (target) {
      const q = place(target);
      strokeBoth(c, [[0, -8], [8, 0], [0, 8], [-8, 0]].map(([x, y]) => ({x: q.x + x, y: q.y + y})), true);
    }
    const image = sprite(kindOf(match), 5, 1.5, density), side = image.width / density;
    c.drawImage(image, w / 2 - side / 2, h / 2 - side / 2, side, side);
  });
}

// ---- In words -------------------------------------------------------------------------------

function sayWhatIsDrawn() {
  const count = markedMatches().length;
  const zoomed = view.zoom > 1 ? ' in view' : '';
  const parts = [whole(count) + ' of ' + plural(marked.all, 'match', 'matches') + zoomed];
  if (shown.links) parts.push(whole(linked.matches.length) + ' of ' + plural(linked.all, 'line', 'lines'));
  if (shown.residuals) {
    parts.push('residuals enlarged ' + whole(residualFactor()) + ' times' + (beyondAxis ? ' (those up to ' + +axis.toFixed(2) + ' px)' : ''));
  }
  at('drawn').textContent = !matches.length ? '' : 'Drawn: ' + parts.join(', ') + '.';
}
