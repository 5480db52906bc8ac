// Zoom, pan, pointing and selecting: mouse, fingers and keys.

// ---- Zoom and pan, in step ------------------------------------------------------------------

function clampView() {
  view.zoom = Math.min(kMostZoom, Math.max(1, view.zoom));
  panels.forEach((panel, i) => {
    const scale = panel.fit * view.zoom, c = view.centre[i];
    const halfX = Math.min(0.5, panel.w / 2 / scale / panel.width);
    const halfY = Math.min(0.5, panel.h / 2 / scale / panel.height);
    c.x = Math.min(1 - halfX, Math.max(halfX, c.x));
    c.y = Math.min(1 - halfY, Math.max(halfY, c.y));
  });
}

// Moves a panel's view so that a point of its photograph is at (x, y), as far as the border allows.
function showAt(i, p, x, y) {
  const panel = panels[i], scale = panel.fit * view.zoom;
  view.centre[i] = {x: (p.x + 0.5 - (x - panel.w / 2) / scale) / panel.width,
    y: (p.y + 0.5 - (y - panel.h / 2) / scale) / panel.height};
}

// The position in the other photograph that corresponds to (x, y) of panel i: that of the partner
// of a nearby match (the selected one, or else the nearest inlier), with the same offset as the
// match has here.
function partnerOf(i, x, y) {
  const here = chosen && toScreen(i, chosen.points[i]);
  const match = here && Math.hypot(here.x - x, here.y - y) < 30 ? chosen
      : nearest(i, x, y, Infinity, (m) => m.inlier);
  if (!match) return null;
  const p = toScreen(i, match.points[i]), scale = panels[1 - i].fit * view.zoom;
  return {x: match.points[1 - i].x + (x - p.x) / scale, y: match.points[1 - i].y + (y - p.y) / scale};
}

// Zooms about (x, y) of a panel, and shows the same part of the scene at that position of the
// other.
function zoomAt(i, x, y, factor) {
  const j = 1 - i, there = {x: panels[j].w * x / panels[i].w, y: panels[j].h * y / panels[i].h};
  const here = toPoint(i, x, y), partner = partnerOf(i, x, y) || toPoint(j, there.x, there.y);
  view.zoom = Math.min(kMostZoom, Math.max(1, view.zoom * factor));
  showAt(i, here, x, y);
  showAt(j, partner, there.x, there.y);
  clampView();
  draw();
}

// Zooms by keys and buttons: about the selected match, which is centred in both, or about the
// middle.
function zoomIn(i, factor) {
  if (!chosen) return zoomAt(i, panels[i].w / 2, panels[i].h / 2, factor);
  view.zoom = Math.min(kMostZoom, Math.max(1, view.zoom * factor));
  centreOn(chosen);
  draw();
}

function centreOn(match) {
  panels.forEach((panel, i) => showAt(i, match.points[i], panel.w / 2, panel.h / 2));
  clampView();
}

function pan(i, dx, dy) {
  const scale = panels[i].fit * view.zoom;
  for (const k of [0, 1]) {
    view.centre[k].x -= dx / scale / panels[i].width;
    view.centre[k].y -= dy / scale / panels[i].height;
  }
  clampView();
  draw();
}

function reset() {
  view.zoom = 1;
  clampView();
  draw();
}

const sayZoom = makeZoomButtons(at('zoom'), {outOf: '', into: '', whole: 'Whole photographs', by: (factor) => zoomIn(0, factor), reset: reset});

// ---- Pointing and choosing ------------------------------------------------------------------

function nearest(i, x, y, reach, among = () => true) {
  let best = null, least = reach;
  for (const m of matches) {
    if (!isShown(m) || !among(m)) continue;
    const p = toScreen(i, m.points[i]);
    const d = Math.hypot(p.x - x, p.y - y);
    if (d < least) { least = d; best = m; }
  }
  return best;
}

// Describes the highlighted match or, if there is none, what the user can do.
function describe(m) {
  const place = (p) => '(' + p.x.toFixed(1) + ', ' + p.y.toFixed(1) + ')';
  const line = at('selection');
  line.textContent = '';
  if (!m) {
    const kept = matches.length < data.matchCount
        ? ' The page holds ' + whole(matches.length) + ' of ' + whole(data.matchCount) + ' matches, an even sample.' : '';
    line.textContent = (!matches.length ? 'There is no match to point at.'
      : planar ? 'Point at a match: its partner lights up, with a diamond where the homography maps it.'
        : data.F ? 'Point at a match: its partner lights up, with the epipolar lines of both.'
          : 'Point at a match: its partner lights up. Without a geometry no match is known to be correct.') + kept;
    return;
  }
  line.append(make('b', {inlier: 'Inlier', outlier: 'Outlier', match: 'Match'}[kindOf(m)]),
      '  ' + place(m.points[0]) + ' \u2194 ' + place(m.points[1]) +
      (hasDistances ? ', ' + pixels(m.distance) + (planar ? ' from where the homography maps it' : ' from the epipolar lines') : '') +
      ', ratio ' + m.ratio.toFixed(2));
}

function light(next, byClick) {
  const before = [chosen, pointed];
  if (byClick) chosen = next;
  pointed = byClick ? null : next;
  if (before[0] === chosen && before[1] === pointed) return;
  describe(pointed || chosen);
  viewer.classList.toggle('pointing', Boolean(pointed));
  if (before[0] !== chosen) table.show(chosen);
  draw();
}

// Selects the match at (x, y) of a panel, and brings its partner to the same position of the other
// panel if it is not visible there.
function choose(i, x, y, reach) {
  const match = nearest(i, x, y, reach), j = 1 - i;
  if (match && view.zoom > 1 && !isInside(j, toScreen(j, match.points[j]))) {
    showAt(j, match.points[j], panels[j].w * x / panels[i].w, panels[j].h * y / panels[i].h);
    clampView();
  }
  light(match, true);
}

// Selects a match of the table, and a view that shows it in both panels.
function chooseRow(match) {
  if (view.zoom > 1) centreOn(match);
  light(match, true);
}

// The next match of the table, which is ordered by distance unless it was sorted otherwise.
function step(direction) {
  const next = table.next(chosen, direction);
  if (next) chooseRow(next);
}

panels.forEach((panel, i) => listenToGestures(panel.canvas, {
  isZoomed: () => view.zoom > 1, wheelZoomsIn: true, zoom: (x, y, factor) => zoomAt(i, x, y, factor),
  canDrag: () => view.zoom > 1, drag: (dx, dy) => pan(i, dx, dy), pan: (dx, dy) => pan(i, dx, dy),
  held: (now) => viewer.classList.toggle('dragging', now),
  hover: (x, y) => light(nearest(i, x, y, 14), false),
  press: (x, y, touch) => choose(i, x, y, touch ? 24 : 14),
  leave: () => { if (pointed) light(null, false); },
  reset: reset,
}));

// Keys work anywhere on the page; arrows move the photograph that has the focus.
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const panel = panels.findIndex((p) => p.canvas === event.target), i = Math.max(0, panel);
  const far = 60, key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const keys = {
    '+': () => zoomIn(i, 1.4), '=': () => zoomIn(i, 1.4), '-': () => zoomIn(i, 1 / 1.4),
    '0': reset, n: () => step(1), p: () => step(-1), Escape: () => light(null, true),
    ArrowLeft: () => pan(i, far, 0), ArrowRight: () => pan(i, -far, 0),
    ArrowUp: () => pan(i, 0, far), ArrowDown: () => pan(i, 0, -far),
  };
  if (!keys[key] || (key.startsWith('Arrow') && (view.zoom === 1 || panel < 0))) return;
  event.preventDefault();
  keys[key]();
});
