// A drawing that can be panned and zoomed by gestures, buttons and keys. The page scrolls past it
// if there is nothing to zoom out of.
//
//   canvas, width, height  of the drawing, in its own units; tall(w): height on the screen
//   margin                 pixels left free at the left and the top
//   mostZoom               number, or a function
//   draw()                 called after a change of the view
//   hover(x, y), press(x, y, touch), leave()  at positions on the screen
//   buttons, name          element for the zoom buttons; the name of what they zoom
//   keys                   {key: action(event)} in addition to those that zoom

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
    sayZoom(g.zoom);
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
  const sayZoom = makeZoomButtons(o.buttons, {outOf: ' of the ' + o.name, into: 'to the ' + o.name, whole: 'Whole ' + o.name, by: g.zoomIn, reset: g.reset});
  // Shows this part of the content, with a margin.
  g.showBox = (left, top, right, bottom) => {
    g.zoom = 1;
    g.zoom = 0.9 * Math.min(roomX() / ((right - left) * g.fit), roomY() / ((bottom - top) * g.fit));
    g.x = (left + right) / 2;
    g.y = (top + bottom) / 2;
    g.changed();
  };
  // Scrolls a position into view.
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

  listenToGestures(o.canvas, {
    isZoomed: () => g.zoom > 1, wheelZoomsIn: false, zoom: g.zoomAt, canDrag: () => g.zoom > 1, drag: g.pan, pan: g.pan,
    held: () => {}, hover: o.hover, press: o.press, leave: o.leave,
  });
  o.canvas.addEventListener('keydown', (event) => {
    const keys = {'+': () => g.zoomIn(1.5), '=': () => g.zoomIn(1.5), '-': () => g.zoomIn(1 / 1.5), '0': () => g.reset()};
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const done = keys[event.key] || o.keys[event.key];
    if (!done) return;
    event.preventDefault();
    done(event);
  });
  return g;
}
