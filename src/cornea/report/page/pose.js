// How the view of the cameras is turned and zoomed, and what is said beside it.

// ---- Turning and zooming --------------------------------------------------------------------

function turn(dx, dy) {
  space.yaw += dx;
  space.pitch = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, space.pitch + dy));
  draw();
}

// Keeps what lies at (x, y) where it is.
function zoomSpace(x, y, factor) {
  const next = Math.min(kMostSpaceZoom, Math.max(kLeastZoom, space.zoom * factor)), by = next / space.zoom;
  const [fromX, fromY] = [x - space.w / 2, y - space.h / 2];
  space.x = fromX - (fromX - space.x) * by;
  space.y = fromY - (fromY - space.y) * by;
  space.zoom = next;
  if (next <= 1) space.x = space.y = 0;
  draw();
}

function resetSpace() {
  Object.assign(space, {yaw: kTurn.yaw, pitch: kTurn.pitch, zoom: 1, x: 0, y: 0});
  draw();
}

function spotAt(x, y, reach) {
  let best = null, least = reach;
  for (const spot of spots) {
    if (!isShown(spot.match) || spot.depth <= 0.05) continue;
    const d = Math.hypot(spot.sx - x, spot.sy - y);
    if (d < least) { least = d; best = spot; }
  }
  return best && best.match;
}

function listenInSpace() {
  const fingers = new Map();
  let pressed = {x: 0, y: 0}, moved = false;
  const place = (event) => {
    const box = spaceCanvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  };
  const gap = () => {
    const [a, b] = [...fingers.values()];
    return {length: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2};
  };
  spaceCanvas.addEventListener('wheel', (event) => {
    const pinch = event.ctrlKey || event.metaKey;  // what a trackpad sends for two fingers
    if (event.deltaY === 0) return;
    // Where there is nothing to zoom out of, the page scrolls.
    if (!pinch && space.zoom <= 1 && (event.deltaY > 0 || scrollsThePage())) return;
    event.preventDefault();
    const p = place(event), amount = Math.max(-240, Math.min(240, event.deltaY * (event.deltaMode === 1 ? 16 : 1)));
    const factor = Math.exp(-amount * (pinch ? 0.01 : 0.0022));
    zoomSpace(p.x, p.y, pinch ? factor : Math.max(factor, 1 / space.zoom));
  }, {passive: false});
  spaceCanvas.addEventListener('pointerdown', (event) => {
    if (event.pointerType === 'mouse' && event.button !== 0) return;
    if (!fingers.size) moved = false;
    fingers.set(event.pointerId, place(event));
    pressed = place(event);
    spaceCanvas.setPointerCapture(event.pointerId);
  });
  spaceCanvas.addEventListener('pointermove', (event) => {
    pointerAt = performance.now();
    const p = place(event);
    if (event.pointerType === 'mouse' && event.buttons === 0) fingers.delete(event.pointerId);
    const last = fingers.get(event.pointerId);
    if (!last) {
      if (event.pointerType === 'mouse') light(spotAt(p.x, p.y, 10), false);
      spaceCanvas.classList.toggle('over', Boolean(pointed));
      return;
    }
    if (fingers.size > 1 || Math.hypot(p.x - pressed.x, p.y - pressed.y) > (event.pointerType === 'mouse' ? 4 : 10)) moved = true;
    const before = fingers.size === 2 ? gap() : null;
    fingers.set(event.pointerId, p);
    if (before) {
      const now = gap();
      if (before.length > 0) zoomSpace(now.x, now.y, now.length / before.length);
      space.x += now.x - before.x;
      space.y += now.y - before.y;
      draw();
    } else if (moved) {
      spaceCanvas.classList.add('turning');
      turn(-(p.x - last.x) * 0.008, (p.y - last.y) * 0.008);
    }
  });
  const release = (event) => {
    const held = fingers.delete(event.pointerId);
    spaceCanvas.classList.remove('turning');
    if (!held || event.type === 'pointercancel' || fingers.size || moved) return;
    const p = place(event);
    light(spotAt(p.x, p.y, event.pointerType === 'mouse' ? 10 : 20), true);
  };
  spaceCanvas.addEventListener('pointerup', release);
  spaceCanvas.addEventListener('pointercancel', release);
  spaceCanvas.addEventListener('pointerleave', () => { if (pointed) light(null, false); });
  spaceCanvas.addEventListener('dblclick', (event) => { event.preventDefault(); resetSpace(); });
  spaceCanvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const far = Math.PI / 24, middle = [space.w / 2, space.h / 2];
    const keys = {ArrowLeft: () => turn(far, 0), ArrowRight: () => turn(-far, 0), ArrowUp: () => turn(0, -far),
      ArrowDown: () => turn(0, far), '+': () => zoomSpace(...middle, 1.25), '=': () => zoomSpace(...middle, 1.25),
      '-': () => zoomSpace(...middle, 0.8), '0': resetSpace};
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  at('space-reset').addEventListener('click', () => { resetSpace(); spaceCanvas.focus(); });
  for (const [id, byDistance] of [['space-photo', false], ['space-distance', true]]) {
    at(id).addEventListener('click', () => {
      space.byDistance = byDistance;
      at('space-photo').setAttribute('aria-pressed', !byDistance);
      at('space-distance').setAttribute('aria-pressed', byDistance);
      draw();
    });
  }
  // Paper is white: drawn anew before it is printed, and afterwards.
  window.matchMedia('print').addEventListener('change', drawSpace);
  window.addEventListener('beforeprint', drawSpace);
  window.addEventListener('afterprint', drawSpace);
}

// ---- Words ----------------------------------------------------------------------------------

function writePose() {
  at('pose-card').hidden = !pose;
  if (!pose) return;
  const minus = (words) => words.replace(/-(?=\d)/g, '\u2212');
  at('pose-sentence').textContent = minus(pose.sentence);
  for (const [name, value] of pose.facts) at('pose-facts').append(make('dt', name), make('dd', minus(value)));
  for (const row of pose.E) {
    const line = make('tr');
    for (const v of row) line.append(make('td', number(v)));
    at('essential').append(line);
  }
  copies(at('copy-essential'), '[' + pose.E.map((row) => '[' + row.join(', ') + ']').join(',\n ') + ']');
  spaceCanvas.setAttribute('aria-label', 'The two cameras, the baseline between them and ' +
      plural(spots.length, 'point', 'points') + ' in three dimensions, coordinates of the first camera. ' + pose.sentence);
  readColours();
  listenInSpace();
}
