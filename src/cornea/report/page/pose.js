// Rotation and zoom of the view of the cameras, and the words beside it.

// ---- Rotating and zooming --------------------------------------------------------------------

function rotate(dx, dy) {
  space.yaw += dx;
  space.pitch = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, space.pitch + dy));
  draw();
}

// Zooms about (x, y).
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
  Object.assign(space, {yaw: kFirstView.yaw, pitch: kFirstView.pitch, zoom: 1, x: 0, y: 0});
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
  listenToGestures(spaceCanvas, {
    isZoomed: () => space.zoom > 1, wheelZoomsIn: true,
    // A wheel stops zooming out where the page scrolls again.
    zoom: (x, y, factor, wheel) => zoomSpace(x, y, wheel ? Math.max(factor, 1 / space.zoom) : factor),
    canDrag: () => true, drag: (dx, dy) => rotate(-dx * 0.008, dy * 0.008),
    pan: (dx, dy) => { space.x += dx; space.y += dy; draw(); },
    held: (now) => spaceCanvas.classList.toggle('turning', now),
    hover: (x, y) => { light(spotAt(x, y, 10), false); spaceCanvas.classList.toggle('over', Boolean(pointed)); },
    press: (x, y, touch) => light(spotAt(x, y, touch ? 20 : 10), true),
    leave: () => { if (pointed) light(null, false); },
    reset: resetSpace,
  });
  spaceCanvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const far = Math.PI / 24, middle = [space.w / 2, space.h / 2];
    const keys = {ArrowLeft: () => rotate(far, 0), ArrowRight: () => rotate(-far, 0), ArrowUp: () => rotate(0, -far),
      ArrowDown: () => rotate(0, far), '+': () => zoomSpace(...middle, 1.25), '=': () => zoomSpace(...middle, 1.25),
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
  // Paper is white: redraws before and after printing.
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
