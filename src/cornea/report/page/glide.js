// A drawing that can be moved and zoomed: by wheel, mouse, fingers and keys. The page scrolls past it
// where there is nothing to zoom out of.
//
//   canvas, width, height  of what is drawn, in its own units; tall(w): height on the screen
//   margin                 pixels left free at the left and the top
//   mostZoom               number, or a function
//   draw()                 after a change of the view
//   hover(x, y), press(x, y, touch), leave()  at places of the screen
//   zoomText               element that says how far

function makeGlide(o) {
  const g = {zoom: 1, x: o.width / 2, y: o.height / 2, w: 1, h: 1, density: 1, fit: 1, margin: o.margin || 0};
  const mostZoom = () => typeof o.mostZoom === 'function' ? o.mostZoom() : o.mostZoom;
  g.scale = () => g.fit * g.zoom;
  const roomX = () => g.w - g.margin, roomY = () => g.h - g.margin;
  g.toScreen = (x, y) => ({x: g.margin + roomX() / 2 + (x - g.x) * g.scale(), y: g.margin + roomY() / 2 + (y - g.y) * g.scale()});
  g.toContent = (sx, sy) => ({x: g.x + (sx - g.margin - roomX() / 2) / g.scale(), y: g.y + (sy - g.margin - roomY() / 2) / g.scale()});
  const clampOne = (v, size, room) => {
    const half = room / g.scale() / 2;
    return size <= 2 * half ? size / 2 : Math.max(half, Math.min(size - half, v));
  };
  g.changed = () => {
    g.zoom = Math.max(1, Math.min(Math.max(1, mostZoom()), g.zoom));
    g.x = clampOne(g.x, o.width, roomX());
    g.y = clampOne(g.y, o.height, roomY());
    o.zoomText.textContent = (g.zoom < 9.95 ? +g.zoom.toFixed(1) : Math.round(g.zoom)) + '\u00d7';
    o.canvas.classList.toggle('zoomed', g.zoom > 1);
    o.draw();
  };
  g.zoomAt = (sx, sy, factor) => {
    const before = g.toContent(sx, sy);
    g.zoom = Math.max(1, Math.min(Math.max(1, mostZoom()), g.zoom * factor));
    const after = g.toContent(sx, sy);
    g.x += before.x - after.x;
    g.y += before.y - after.y;
    g.changed();
  };
  g.pan = (dx, dy) => { g.x -= dx / g.scale(); g.y -= dy / g.scale(); g.changed(); };
  g.zoomIn = (factor) => g.zoomAt(g.margin + roomX() / 2, g.margin + roomY() / 2, factor);
  g.reset = () => { g.zoom = 1; g.changed(); };
  // Shows this part of the content, with some room around it.
  g.showBox = (left, top, right, bottom) => {
    g.zoom = 1;
    g.zoom = 0.9 * Math.min(roomX() / ((right - left) * g.fit), roomY() / ((bottom - top) * g.fit));
    g.x = (left + right) / 2;
    g.y = (top + bottom) / 2;
    g.changed();
  };
  // Brings a place into view.
  g.reveal = (x, y) => {
    const halfX = roomX() / g.scale() / 2, halfY = roomY() / g.scale() / 2, edge = 0.85;
    g.x = Math.max(x - edge * halfX, Math.min(x + edge * halfX, g.x));
    g.y = Math.max(y - edge * halfY, Math.min(y + edge * halfY, g.y));
    g.changed();
  };
  g.layout = () => {
    const w = o.canvas.parentElement.clientWidth;
    if (w <= 0) return;
    g.w = w;
    g.h = o.tall(w);
    g.density = window.devicePixelRatio || 1;
    g.fit = Math.min(roomX() / o.width, roomY() / o.height);
    o.canvas.style.height = g.h + 'px';
    resize(o.canvas, g.w, g.h, g.density);
    g.changed();
  };

  const canvas = o.canvas, fingers = new Map();
  let pressed = {x: 0, y: 0}, moved = false;
  const placeOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  };
  const gap = () => {
    const [a, b] = [...fingers.values()];
    return {length: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2};
  };
  canvas.addEventListener('wheel', (event) => {
    const pinch = event.ctrlKey || event.metaKey;  // what a trackpad sends for two fingers
    if (event.deltaY === 0 || (!pinch && g.zoom === 1)) return;
    event.preventDefault();
    const p = placeOf(event), amount = Math.max(-240, Math.min(240, event.deltaY * (event.deltaMode === 1 ? 16 : 1)));
    g.zoomAt(p.x, p.y, Math.exp(-amount * (pinch ? 0.01 : 0.0022)));
  }, {passive: false});
  canvas.addEventListener('pointerdown', (event) => {
    if (event.pointerType === 'mouse' && event.button !== 0) return;
    if (!fingers.size) moved = false;
    fingers.set(event.pointerId, placeOf(event));
    pressed = placeOf(event);
    if (event.pointerType === 'mouse' || g.zoom > 1 || fingers.size === 2) canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    const p = placeOf(event);
    if (event.pointerType === 'mouse' && event.buttons === 0) fingers.delete(event.pointerId);
    const last = fingers.get(event.pointerId);
    if (!last) {
      if (event.pointerType === 'mouse') o.hover(p.x, p.y);
      return;
    }
    // A hand is never quite still.
    if (fingers.size > 1 || Math.hypot(p.x - pressed.x, p.y - pressed.y) > (event.pointerType === 'mouse' ? 4 : 10)) moved = true;
    const before = fingers.size === 2 ? gap() : null;
    fingers.set(event.pointerId, p);
    if (before) {
      const now = gap();
      if (before.length > 0) g.zoomAt(now.x, now.y, now.length / before.length);
      g.pan(now.x - before.x, now.y - before.y);
    } else if (moved && g.zoom > 1) {
      g.pan(p.x - last.x, p.y - last.y);
    }
  });
  const release = (event) => {
    const held = fingers.delete(event.pointerId), p = placeOf(event);
    if (held && event.type !== 'pointercancel' && !fingers.size && !moved) o.press(p.x, p.y, event.pointerType !== 'mouse');
  };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('pointerleave', () => o.leave());
  canvas.addEventListener('keydown', (event) => {
    const keys = {'+': () => g.zoomIn(1.5), '=': () => g.zoomIn(1.5), '-': () => g.zoomIn(1 / 1.5), '0': () => g.reset()};
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const done = keys[event.key] || o.keys[event.key];
    if (!done) return;
    event.preventDefault();
    done(event);
  });
  return g;
}
