// The graph of images and the pairs that connect them, at places that were computed with the page.
// Where images are far enough apart on the screen they are thumbnails, otherwise dots.

const graph = {canvas: at('graph'), hover: null, width: data.images.graph[0] / 1000, height: data.images.graph[1] / 1000};
graph.x = Float32Array.from(images.x, (v) => v / 65535 * graph.width);
graph.y = Float32Array.from(images.y, (v) => v / 65535 * graph.height);
const kMostEdges = 20000;  // drawn, the strongest
const drawnEdges = [];
for (let k = pairCount - 1; k >= 0 && drawnEdges.length < kMostEdges; --k) {
  if (connects(byStrength[k])) drawnEdges.push(byStrength[k]);
}
drawnEdges.reverse();

const nodeSide = () => Math.min(0.92 * graph.glide.scale(), 150);
const areThumbnails = () => nodeSide() >= 24;

// Lines in four widths, each one path.
function paintEdges(pen, g) {
  const classes = [[], [], [], []];
  for (const p of drawnEdges) classes[Math.max(0, Math.min(3, Math.floor(4 * strength(pairs.inliers[p]))))].push(p);
  const crowded = Math.min(1, Math.sqrt(1500 / Math.max(1, drawnEdges.length)) * Math.sqrt(g.zoom));
  classes.forEach((members, k) => {
    pen.beginPath();
    for (const p of members) {
      const a = g.toScreen(graph.x[pairs.first[p]], graph.y[pairs.first[p]]), b = g.toScreen(graph.x[pairs.second[p]], graph.y[pairs.second[p]]);
      if (Math.max(a.x, b.x) < 0 || Math.max(a.y, b.y) < 0 || Math.min(a.x, b.x) > g.w || Math.min(a.y, b.y) > g.h) continue;
      pen.moveTo(a.x, a.y);
      pen.lineTo(b.x, b.y);
    }
    pen.globalAlpha = Math.max(0.08, crowded * [0.3, 0.42, 0.55, 0.7][k]);
    pen.strokeStyle = css(colours.levels[[8, 14, 20, 28][k]]);
    pen.lineWidth = [0.7, 0.9, 1.2, 1.7][k];
    pen.stroke();
  });
  pen.globalAlpha = 1;
}

function paintNode(pen, g, i, lit) {
  const p = g.toScreen(graph.x[i], graph.y[i]), side = nodeSide();
  if (p.x < -side || p.y < -side || p.x > g.w + side || p.y > g.h + side) return;
  const ring = lit ? colours.ink : isAlone(i) ? colours.mark : null;
  if (!areThumbnails()) {
    const radius = Math.max(1.6, Math.min(6, 0.3 * g.scale())) + (lit ? 2 : 0);
    pen.beginPath();
    pen.arc(p.x, p.y, radius, 0, 2 * Math.PI);
    pen.fillStyle = css(lit ? colours.ink : isAlone(i) ? colours.mark : colours.levels[24]);
    pen.fill();
    return;
  }
  const entry = thumbnail(i, draw), w = images.width[i] || 4, h = images.height[i] || 3, scale = side / Math.max(w, h);
  const width = w * scale, height = h * scale;
  if (ring) {
    pen.fillStyle = css(ring);
    pen.fillRect(p.x - width / 2 - 3, p.y - height / 2 - 3, width + 6, height + 6);
  }
  pen.fillStyle = css(colourOf('--card'));
  pen.fillRect(p.x - width / 2 - 1, p.y - height / 2 - 1, width + 2, height + 2);
  if (entry) {
    const large = side * g.density > kSmall;
    pen.imageSmoothingQuality = 'high';
    pen.drawImage(large ? entry.image : entry.small, p.x - width / 2, p.y - height / 2, width, height);
  } else {
    pen.fillStyle = css(colours.line);
    pen.fillRect(p.x - width / 2, p.y - height / 2, width, height);
  }
}

function drawGraph() {
  const g = graph.glide, pen = graph.canvas.getContext('2d');
  const lit = graph.hover !== null ? graph.hover : picked.image;
  pen.setTransform(g.density, 0, 0, g.density, 0, 0);
  pen.clearRect(0, 0, g.w, g.h);
  const state = [g.zoom, g.x, g.y, g.w, g.h, g.density, isDark()].join();
  if (graph.state !== state) {
    graph.state = state;
    graph.sheet = graph.sheet || make('canvas');
    resize(graph.sheet, g.w, g.h, g.density);
    const sheet = graph.sheet.getContext('2d');
    sheet.setTransform(g.density, 0, 0, g.density, 0, 0);
    sheet.clearRect(0, 0, g.w, g.h);
    paintEdges(sheet, g);
  }
  const focus = picked.focus && picked.focus.set, near = new Set();
  pen.globalAlpha = lit === null ? 1 : 0.35;
  pen.drawImage(graph.sheet, 0, 0, g.w, g.h);
  pen.globalAlpha = 1;
  const pair = pairOfCell(matrix.hover || picked.cell);
  const strong = (p, colour) => {
    const a = g.toScreen(graph.x[pairs.first[p]], graph.y[pairs.first[p]]), b = g.toScreen(graph.x[pairs.second[p]], graph.y[pairs.second[p]]);
    pen.beginPath();
    pen.moveTo(a.x, a.y);
    pen.lineTo(b.x, b.y);
    pen.strokeStyle = css(colour);
    pen.lineWidth = 2;
    pen.stroke();
  };
  if (lit !== null) {
    for (let k = aroundStart[lit]; k < aroundStart[lit + 1]; ++k) {
      strong(around[k], colours.levels[26]);
      near.add(pairs.first[around[k]] + pairs.second[around[k]] - lit);
    }
  }
  if (pair !== null) {
    if (connects(pair)) strong(pair, colours.ink);
    near.add(pairs.first[pair]).add(pairs.second[pair]);
  }
  for (let i = 0; i < imageCount; ++i) {
    const away = (lit !== null && i !== lit && !near.has(i)) || (lit === null && focus && !focus.has(i));
    pen.globalAlpha = away ? 0.25 : 1;
    paintNode(pen, g, i, i === lit || (pair !== null && lit === null && near.has(i)));
  }
  pen.globalAlpha = 1;
  if (lit !== null) paintNode(pen, g, lit, true);
}

function nodeAt(sx, sy, reach) {
  const g = graph.glide, p = g.toContent(sx, sy), most = Math.max(reach / g.scale(), areThumbnails() ? 0.5 : 0);
  let best = null, nearest = most * most;
  for (let i = 0; i < imageCount; ++i) {
    const away = (graph.x[i] - p.x) ** 2 + (graph.y[i] - p.y) ** 2;
    if (away <= nearest) { nearest = away; best = i; }
  }
  return best;
}

function pickImage(i) {
  picked.image = i;
  picked.cell = null;
  if (i !== null) graph.glide.reveal(graph.x[i], graph.y[i]);
  say();
  draw();
}

// The nearest image in that direction, within 45 degrees of it.
function stepImage(dx, dy) {
  if (!imageCount) return;
  if (picked.image === null) return pickImage(order[0]);
  const from = picked.image;
  let best = null, nearest = Infinity;
  for (let i = 0; i < imageCount; ++i) {
    const x = graph.x[i] - graph.x[from], y = graph.y[i] - graph.y[from];
    const ahead = x * dx + y * dy, aside = Math.abs(x * dy) + Math.abs(y * dx);
    if (i === from || ahead <= 0 || aside > ahead) continue;
    const away = ahead + 2 * aside;
    if (away < nearest) { nearest = away; best = i; }
  }
  if (best !== null) pickImage(best);
}

function listPairsOf(i) {
  focusOn({label: 'Only pairs of ' + baseName(images.names[i]), set: new Set([i])}, false);
  at('table-name').scrollIntoView({block: 'start', behavior: 'auto'});
  at('rows').focus({preventScroll: true});
}

graph.glide = makeGlide({
  canvas: graph.canvas, width: graph.width, height: graph.height,
  tall: (w) => Math.min(w, Math.max(320, window.innerHeight * 0.86)),
  mostZoom: () => Math.max(2, Math.max(graph.width, graph.height) / 4),
  zoomText: at('graph-zoom'),
  draw: () => draw(),
  hover: (x, y) => { graph.hover = nodeAt(x, y, 12); say(); draw(); },
  press: (x, y, touch) => pickImage(nodeAt(x, y, touch ? 24 : 12)),
  leave: () => { graph.hover = null; say(); draw(); },
  keys: {
    ArrowUp: () => stepImage(0, -1), ArrowDown: () => stepImage(0, 1), ArrowLeft: () => stepImage(-1, 0), ArrowRight: () => stepImage(1, 0),
    Enter: () => { if (picked.image !== null) listPairsOf(picked.image); },
    Escape: () => pickImage(null),
  },
});
for (const [name, action] of [['in', () => graph.glide.zoomIn(1.6)], ['out', () => graph.glide.zoomIn(1 / 1.6)], ['reset', () => graph.glide.reset()]]) {
  at('graph-' + name).addEventListener('click', action);
}
