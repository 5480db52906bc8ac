// Panning and zooming: wheel, mouse and fingers on a canvas, and the buttons beside it.

// A wheel gesture that began by scrolling the page keeps scrolling until the pointer moves.
let scrolledAt = -Infinity, pointerAt = -Infinity;
window.addEventListener('scroll', () => { scrolledAt = performance.now(); }, {passive: true});
const scrollsThePage = () => pointerAt < scrolledAt || performance.now() - scrolledAt < 300;

// All positions are pixels of the screen relative to the canvas's corner.
//
//   isZoomed()            if it is not, a wheel scrolls the page
//   wheelZoomsIn          whether a wheel may zoom in if nothing is zoomed yet; a pinch on a trackpad
//                         always may
//   zoom(x, y, factor, wheel)  zooms about this position
//   canDrag()             whether one finger or the mouse moves something
//   drag(dx, dy)          one finger or the mouse moves; pan(dx, dy): two fingers move while zooming
//   held(now)             a drag began or ended
//   hover(x, y)           the mouse is there, and no button is down
//   press(x, y, touch)    a click or a touch; leave(): the pointer left
//   reset                 called after a double click, if given
function listenToGestures(canvas, o) {
  const fingers = new Map();
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
    const pinch = event.ctrlKey || event.metaKey;  // browsers report a trackpad pinch this way
    if (event.deltaY === 0) return;
    // If there is nothing to zoom out of, the page scrolls.
    if (!pinch && !o.isZoomed() && (!o.wheelZoomsIn || event.deltaY > 0 || scrollsThePage())) return;
    event.preventDefault();
    const p = placeOf(event), amount = Math.max(-240, Math.min(240, event.deltaY * (event.deltaMode === 1 ? 16 : 1)));
    o.zoom(p.x, p.y, Math.exp(-amount * (pinch ? 0.01 : 0.0022)), !pinch);
  }, {passive: false});
  canvas.addEventListener('pointerdown', (event) => {
    if (event.pointerType === 'mouse' && event.button !== 0) return;
    if (!fingers.size) moved = false;
    fingers.set(event.pointerId, placeOf(event));
    pressed = placeOf(event);
    if (event.pointerType === 'mouse' || o.canDrag() || fingers.size === 2) canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    pointerAt = performance.now();
    const p = placeOf(event);
    if (event.pointerType === 'mouse' && event.buttons === 0) fingers.delete(event.pointerId);
    const last = fingers.get(event.pointerId);
    if (!last) {
      if (event.pointerType === 'mouse') o.hover(p.x, p.y);
      return;
    }
    // Tolerance, because a hand is never quite still.
    if (fingers.size > 1 || Math.hypot(p.x - pressed.x, p.y - pressed.y) > (event.pointerType === 'mouse' ? 4 : 10)) moved = true;
    const before = fingers.size === 2 ? gap() : null;
    fingers.set(event.pointerId, p);
    if (before) {
      const now = gap();
      if (before.length > 0) o.zoom(now.x, now.y, now.length / before.length, false);
      o.pan(now.x - before.x, now.y - before.y);
    } else if (moved && o.canDrag()) {
      o.held(true);
      o.drag(p.x - last.x, p.y - last.y);
    }
  });
  const release = (event) => {
    const held = fingers.delete(event.pointerId), p = placeOf(event);
    o.held(false);
    if (held && event.type !== 'pointercancel' && !fingers.size && !moved) o.press(p.x, p.y, event.pointerType !== 'mouse');
  };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('pointerleave', () => o.leave());
  if (o.reset) canvas.addEventListener('dblclick', (event) => { event.preventDefault(); o.reset(); });
}

// Three buttons in a box: zoom out, reset, zoom in. `of`: the words after "Zoom out"; whole: what
// the middle one shows; by(factor), reset: what they do. Returns a function that displays the zoom
// factor.
function makeZoomButtons(box, o) {
  const button = (name, text, label, action) => {
    const element = make('button', text, 'quiet');
    element.type = 'button';
    element.id = box.id + '-' + name;
    element.setAttribute('aria-label', label);
    element.addEventListener('click', action);
    box.append(element);
    return element;
  };
  button('out', '\u2212', 'Zoom out' + o.outOf, () => o.by(1 / 1.5));
  const middle = button('reset', '1\u00d7', o.whole, o.reset);
  button('in', '+', 'Zoom in' + o.into, () => o.by(1.5));
  return (zoom) => { middle.textContent = (zoom < 9.95 ? +zoom.toFixed(1) : Math.round(zoom)) + '\u00d7'; };
}
