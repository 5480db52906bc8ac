// The view graph: images and the pairs that connect them, at positions that were computed with the
// page. Images are thumbnails if they are far enough apart on the screen, otherwise dots.

const graph = {canvas: at('graph'), hover: null, sheet: make('canvas'), state: '', drawn: '',
  width: data.images.graph[0] / 1000, height: data.images.graph[1] / 1000};
graph.x = Float32Array.from(images.x, (v) => v / 65535 * graph.width);
graph.y = Float32Array.from(images.y, (v) => v / 65535 * graph.height);
const kMostEdges = 20000;  // maximum number drawn, the strongest
const drawnEdges = [];
for (let k = pairCount - 1; k >= 0 && drawnEdges.length < kMostEdges; --k) {
  if (connects(byStrength[k])) drawnEdges.push(byStrength[k]);
}
drawnEdges.reverse();

const nodeSide = () => Math.min(0.92 * graph.glide.scale(), 150);
const areThumbnails = () => nodeSide() >= 24;

// Four line styles by the number of inliers.
const kEdgeLooks = [{level: 8, alpha: 0.3, width: 0.7}, {level: 14, alpha: 0.42, width: 0.9}, {level: 20, alpha: 0.55, width: 1.2},
  {level: 28, alpha: 0.7, width: 1.7}];
const edgesOfLook = kEdgeLooks.map(() => []);
for (const p of drawnEdges) edgesOfLook[Math.max(0, Math.min(3, Math.floor(4 * strength(pairs.inliers[p]))))].push(p);
// If more lines are in view, none is wider than a pixel: such lines are drawn several times as
// fast, and different widths could not be distinguished anyway.
const kMostWideEdges = 800;

// In units of the graph.
function paintEdges(pen, g) {
  const scale = g.scale(), origin = g.toScreen(0, 0), from = g.toContent(0, 0), to = g.toContent(g.w, g.h), {x, y} = graph;
  const isInView = (p) => {
    const a = pairs.first[p], b = pairs.second[p];
    return Math.max(x[a], x[b]) >= from.x && Math.max(y[a], y[b]) >= from.y && Math.min(x[a], x[b]) <= to.x && Math.min(y[a], y[b]) <= to.y;
  };
  const inView = edgesOfLook.map((edges) => edges.filter(isInView)), many = inView.reduce((sum, edges) => sum + edges.length, 0) > kMostWideEdges;
  const crowded = Math.min(1, Math.sqrt(1500 / Math.max(1, drawnEdges.length)) * Math.sqrt(g.zoom));
  pen.save();
  pen.transform(scale, 0, 0, scale, origin.x, origin.y);
  kEdgeLooks.forEach((look, k) => {
    pen.beginPath();
    for (const p of inView[k]) {
      pen.moveTo(x[pairs.first[p]], y[pairs.first[p]]);
      pen.lineTo(x[pairs.second[p]], y[pairs.second[p]]);
    }
    pen.globalAlpha = Math.max(0.08, crowded * look.alpha);
    pen.strokeStyle = css(colours.levels[look.level]);
    pen.lineWidth = (many ? Math.min(look.width, 1 / g.density) : look.width) / scale;
    pen.stroke();
  });
  pen.restore();
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
  pen.fillStyle = css(colours.card);
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

// Draws everything that does not depend on the selection, on a canvas of its own.
function paintGraph(sheet, g) {
  const pen = sheet.getContext('2d'), focus = picked.focus && picked.focus.set;
  pen.setTransform(g.density, 0, 0, g.density, 0, 0);
  pen.clearRect(0, 0, g.w, g.h);
  paintEdges(pen, g);
  for (let i = 0; i < imageCount; ++i) {
    pen.globalAlpha = focus && !focus.has(i) ? 0.25 : 1;
    paintNode(pen, g, i, false);
  }
  pen.globalAlpha = 1;
}

function drawGraph() {
  const g = graph.glide, pen = graph.canvas.getContext('2d');
  const lit = graph.hover !== null ? graph.hover : picked.image, pair = pairOfCell(matrix.hover || picked.cell);
  const state = [g.zoom, g.x, g.y, g.w, g.h, g.density, focusNumber(), areThumbnails() ? thumbnailsCome : 0].join();
  const drawn = [state, lit, pair].join(';');
  if (graph.drawn === drawn) return;
  graph.drawn = drawn;
  if (graph.state !== state) {
    graph.state = state;
    resize(graph.sheet, g.w, g.h, g.density);
    paintGraph(graph.sheet, g);
  }
  pen.setTransform(g.density, 0, 0, g.density, 0, 0);
  pen.clearRect(0, 0, g.w, g.h);
  pen.globalAlpha = lit === null ? 1 : 0.3;
  pen.drawImage(graph.sheet, 0, 0, g.w, g.h);
  pen.globalAlpha = 1;
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
    const near = [];
    for (let k = aroundStart[lit]; k < aroundStart[lit + 1]; ++k) {
      strong(around[k], colours.levels[26]);
      near.push(pairs.first[around[k]] + pairs.second[around[k]] - lit);
    }
    for (const i of near) paintNode(pen, g, i, false);
    paintNode(pen, g, lit, true);
  } else if (pair !== null) {
    if (connects(pair)) strong(pair, colours.ink);
    paintNode(pen, g, pairs.first[pair], true);
    paintNode(pen, g, pairs.second[pair], true);
  }
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
  buttons: at('graph-zoom'), name: 'graph',
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
