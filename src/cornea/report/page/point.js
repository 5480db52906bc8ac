// Zoom, pan, pointing and choosing: mouse, fingers and keys.

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

// Keeps what lies at (x, y) of a panel where it is. The other panel does the same at the same place,
// or at the partner of a match that was chosen.
function zoomAt(i, x, y, factor) {
  const before = view.zoom, j = 1 - i;
  const anchor = toShare(i, x, y);
  let other = toShare(j, panels[j].w * x / panels[i].w, panels[j].h * y / panels[i].h);
  view.zoom = Math.min(kMostZoom, Math.max(1, before * factor));
  const keep = before / view.zoom;
  if (chosen) {
    other = {x: (chosen.points[j].x + 0.5) / panels[j].width, y: (chosen.points[j].y + 0.5) / panels[j].height};
  }
  [[i, anchor], [j, other]].forEach(([k, fixed]) => {
    view.centre[k].x = fixed.x - (fixed.x - view.centre[k].x) * keep;
    view.centre[k].y = fixed.y - (fixed.y - view.centre[k].y) * keep;
  });
  clampView();
  draw();
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

// ---- Pointing and choosing ------------------------------------------------------------------

function nearest(i, x, y, reach) {
  let best = null, least = reach;
  for (const m of matches) {
    if (!isShown(m)) continue;
    const p = toScreen(i, m.points[i]);
    const d = Math.hypot(p.x - x, p.y - y);
    if (d < least) { least = d; best = m; }
  }
  return best;
}

function describe(m) {
  const place = (p) => '(' + p.x.toFixed(1) + ', ' + p.y.toFixed(1) + ')';
  const line = at('selection');
  line.textContent = '';
  if (!m) {
    const few = matches.length < data.matchCount
        ? ' ' + whole(matches.length) + ' of ' + whole(data.matchCount) + ' matches are drawn, evenly chosen.' : '';
    line.textContent = (matches.length ? (planar
        ? 'Point at a match, or tap it: its partner lights up, and a diamond where the plane puts it.'
        : data.F ? 'Point at a match, or tap it: its partner lights up, with the epipolar line of each in the other.'
          : 'Point at a match, or tap it: its partner lights up.')
      : 'There is no match to point at.') + few;
    return;
  }
  line.append(make('b', m.inlier ? 'Inlier' : 'Outlier'),
      '  ' + place(m.points[0]) + ' \u2194 ' + place(m.points[1]) +
      (hasDistances ? ', ' + pixels(m.distance) + (planar ? ' from where the plane puts it' : ' from the epipolar lines') : '') +
      ', ratio ' + m.ratio.toFixed(2));
}

function light(next, byClick) {
  if (byClick) chosen = next;
  pointed = byClick ? null : next;
  describe(pointed || chosen);
  viewer.classList.toggle('pointing', Boolean(pointed));
  draw();
}

// The next shown match, and a view that has it in both panels.
function step(direction) {
  const list = matches.filter(isShown);
  if (!list.length) return;
  const from = list.indexOf(chosen);
  const next = list[(from + direction + list.length + (from < 0 && direction < 0 ? 1 : 0)) % list.length];
  if (view.zoom > 1) {
    [0, 1].forEach((i) => {
      view.centre[i] = {x: next.points[i].x / panels[i].width, y: next.points[i].y / panels[i].height};
    });
    clampView();
  }
  light(next, true);
}

panels.forEach((panel, i) => {
  const canvas = panel.canvas;
  const fingers = new Map();
  let moved = 0, spread = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  };
  const gap = () => {
    const [a, b] = [...fingers.values()];
    return {length: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2};
  };
  canvas.addEventListener('wheel', (event) => {
    // Where there is nothing to zoom out of, the page scrolls.
    if (view.zoom === 1 && event.deltaY > 0) return;
    event.preventDefault();
    const p = place(event), lines = event.deltaMode === 1 ? 16 : 1;
    zoomAt(i, p.x, p.y, Math.exp(-Math.max(-240, Math.min(240, event.deltaY * lines)) * 0.0022));
  }, {passive: false});
  canvas.addEventListener('pointerdown', (event) => {
    fingers.set(event.pointerId, place(event));
    moved = 0;
    if (fingers.size === 2) spread = gap().length;
    if (event.pointerType === 'mouse' || view.zoom > 1 || fingers.size === 2) canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    const p = place(event), last = fingers.get(event.pointerId);
    if (!last) {
      if (event.pointerType === 'mouse') light(nearest(i, p.x, p.y, 14), false);
      return;
    }
    moved += Math.hypot(p.x - last.x, p.y - last.y);
    const before = fingers.size === 2 ? gap() : null;
    fingers.set(event.pointerId, p);
    if (before) {
      const now = gap();
      if (spread > 0 && before.length > 0) zoomAt(i, now.x, now.y, now.length / before.length);
      pan(i, now.x - before.x, now.y - before.y);
    } else if (moved > 4 && view.zoom > 1) {
      viewer.classList.add('dragging');
      pan(i, p.x - last.x, p.y - last.y);
    }
  });
  const release = (event) => {
    const held = fingers.delete(event.pointerId);
    viewer.classList.remove('dragging');
    if (!held || event.type === 'pointercancel' || fingers.size) return;
    const p = place(event);
    if (moved <= 4) light(nearest(i, p.x, p.y, event.pointerType === 'mouse' ? 14 : 24), true);
  };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('pointerleave', () => { if (pointed) light(null, false); });
  canvas.addEventListener('dblclick', (event) => { event.preventDefault(); reset(); });
  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = [panel.w / 2, panel.h / 2], far = 60;
    const keys = {
      '+': () => zoomAt(i, ...middle, 1.4), '=': () => zoomAt(i, ...middle, 1.4), '-': () => zoomAt(i, ...middle, 1 / 1.4),
      '0': reset, n: () => step(1), p: () => step(-1), Escape: () => light(null, true),
      ArrowLeft: () => pan(i, far, 0), ArrowRight: () => pan(i, -far, 0),
      ArrowUp: () => pan(i, 0, far), ArrowDown: () => pan(i, 0, -far),
    };
    const arrow = event.key.startsWith('Arrow');
    if (!keys[event.key] || (arrow && view.zoom === 1)) return;
    event.preventDefault();
    keys[event.key]();
  });
});
