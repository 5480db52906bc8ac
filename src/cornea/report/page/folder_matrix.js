// The match matrix: one cell per pair of images, drawn pixel by pixel from the columns of pairs.
// Images are ordered by component, so that components are squares along the diagonal.

const matrix = {canvas: at('matrix'), hover: null, sheet: make('canvas'), state: '', drawn: ''};
const kMargin = 34;  // for the images along both sides

// A colour of the page's style, looked up once per drawing.
function colourOf(name) {
  const text = getComputedStyle(root).getPropertyValue(name).trim();
  const pen = make('canvas').getContext('2d');
  pen.fillStyle = text;
  pen.fillRect(0, 0, 1, 1);
  return pen.getImageData(0, 0, 1, 1).data;
}
const mixed = (a, b, share) => [0, 1, 2].map((i) => Math.round(a[i] + (b[i] - a[i]) * share));
const css = (c) => 'rgb(' + c[0] + ',' + c[1] + ',' + c[2] + ')';
// A pixel of a Uint32Array over ImageData: the lowest byte is red.
const packed = (c) => (255 << 24 | c[2] << 16 | c[1] << 8 | c[0]) >>> 0;

const kLevels = 32;
function palette() {
  const well = colourOf('--well'), weak = colourOf('--weak'), strong = colourOf('--strong');
  return {well: well, card: colourOf('--card'), tried: colourOf('--tried'), mark: colourOf('--out'), line: colourOf('--edge-solid'), ink: colourOf('--ink'),
    levels: Array.from({length: kLevels + 1}, (_, k) => mixed(weak, strong, k / kLevels))};
}
let colours = null;  // computed again when the theme changes

const levelOf = (p) => Math.max(0, Math.min(kLevels, Math.round(kLevels * strength(pairs.inliers[p]))));

// Size of a cell on the screen.
const cellSize = () => matrix.glide.scale();

// Draws onto a canvas of the same size.
function paintCells(sheet, g) {
  const w = sheet.width, h = sheet.height, d = g.density, pen = sheet.getContext('2d');
  const picture = pen.createImageData(w, h), out = new Uint32Array(picture.data.buffer);
  const ground = packed(colours.well), card = packed(colours.card);
  out.fill(card);
  const corner = g.toScreen(0, 0), size = g.scale() * d, edge = Math.round(kMargin * d);
  const left = corner.x * d, top = corner.y * d, gap = size >= 8 * d ? Math.round(d) : 0;
  const fill = (col, row, colour, apart) => {
    const x0 = Math.max(edge, Math.floor(left + col * size)), y0 = Math.max(edge, Math.floor(top + row * size));
    let x1 = Math.min(w, Math.floor(left + (col + 1) * size)), y1 = Math.min(h, Math.floor(top + (row + 1) * size));
    if (size < 1) { x1 = Math.min(w, x0 + 1); y1 = Math.min(h, y0 + 1); }
    for (let y = y0; y < y1 - apart; ++y) out.fill(colour, y * w + x0, Math.max(y * w + x0, y * w + x1 - apart));
  };
  // The background of the matrix.
  const right = Math.min(w, Math.floor(left + imageCount * size)), bottom = Math.min(h, Math.floor(top + imageCount * size));
  for (let y = Math.max(edge, Math.floor(top)); y < bottom; ++y) {
    out.fill(ground, y * w + Math.max(edge, Math.floor(left)), Math.max(y * w + edge, y * w + right));
  }
  const tried = packed(colours.tried), mark = packed(colours.mark), levels = colours.levels.map(packed);
  // The cells in view.
  const seen = (v) => Math.max(0, Math.min(imageCount, v));
  const firstCol = seen(Math.floor((edge - left) / size)), lastCol = seen(Math.ceil((w - left) / size));
  const firstRow = seen(Math.floor((edge - top) / size)), lastRow = seen(Math.ceil((h - top) / size));
  const inView = (col, row) => col >= firstCol && col < lastCol && row >= firstRow && row < lastRow;
  for (let k = 0; k < pairCount; ++k) {
    const p = byStrength[k], a = place[pairs.first[p]], b = place[pairs.second[p]], here = inView(b, a), there = inView(a, b);
    if (!here && !there) continue;
    const colour = !hasGeometry(p) ? tried : pairs.kind[p] === kWatermark ? mark : levels[levelOf(p)];
    if (here) fill(b, a, colour, gap);
    if (there) fill(a, b, colour, gap);
  }
  const line = packed(colours.line);
  for (let k = Math.max(firstCol, firstRow); k < Math.min(lastCol, lastRow); ++k) fill(k, k, line, gap);
  pen.putImageData(picture, 0, 0);
}

// Images along both sides if there is room for them; otherwise one bar per component.
function paintSides(pen, g) {
  const size = g.scale(), box = kMargin - 6;
  // Beside the matrix, also where it is narrower or lower than the canvas.
  const corner = g.toScreen(0, 0), beside = Math.max(0, corner.x - kMargin), above = Math.max(0, corner.y - kMargin);
  for (const down of [true, false]) {
    pen.save();
    pen.beginPath();
    if (down) pen.rect(beside, kMargin, kMargin, g.h - kMargin);
    else pen.rect(kMargin, above, g.w - kMargin, kMargin);
    pen.clip();
    const from = g.toContent(kMargin, kMargin), to = g.toContent(g.w, g.h);
    const first = Math.max(0, Math.floor(down ? from.y : from.x)), last = Math.min(imageCount - 1, Math.floor(down ? to.y : to.x));
    if (size >= 20) {
      for (let k = first; k <= last; ++k) {
        const entry = thumbnail(order[k], draw), middle = g.toScreen(k + 0.5, k + 0.5);
        const x = down ? beside + kMargin / 2 - 1 : middle.x, y = down ? middle.y : above + kMargin / 2 - 1, room = Math.min(box, size - 3);
        if (!entry) {
          pen.fillStyle = css(colours.line);
          pen.fillRect(x - room / 2, y - room / 3, room, room * 2 / 3);
          continue;
        }
        const scale = room / Math.max(entry.small.width, entry.small.height);
        pen.drawImage(entry.small, x - entry.small.width * scale / 2, y - entry.small.height * scale / 2, entry.small.width * scale, entry.small.height * scale);
      }
    } else {
      for (let c = 0; c < data.components.length && data.components[c][0] > 1; ++c) {
        const a = g.toScreen(componentStart[c], componentStart[c]), b = g.toScreen(componentStart[c + 1], componentStart[c + 1]);
        pen.fillStyle = css(colours.levels[c % 2 ? 10 : 22]);
        if (down) pen.fillRect(beside + kMargin - 9, a.y, 5, Math.max(1, b.y - a.y - 1));
        else pen.fillRect(a.x, above + kMargin - 9, Math.max(1, b.x - a.x - 1), 5);
      }
    }
    pen.restore();
  }
}

function outline(pen, g, cell, width) {
  const a = g.toScreen(cell[1], cell[0]), size = Math.max(5, g.scale());
  const x = a.x + (g.scale() - size) / 2, y = a.y + (g.scale() - size) / 2;
  for (const [colour, extra] of [[css(colours.card), 2], [css(colours.ink), 0]]) {
    pen.lineWidth = width + extra;
    pen.strokeStyle = colour;
    pen.strokeRect(x - 0.5, y - 0.5, size, size);
  }
}

function drawMatrix() {
  const g = matrix.glide, pen = matrix.canvas.getContext('2d');
  const state = [g.zoom, g.x, g.y, g.w, g.h, g.density].join();
  const drawn = [state, matrix.hover, picked.cell, focusNumber(), thumbnailsCome].join(';');
  if (matrix.drawn === drawn) return;
  matrix.drawn = drawn;
  if (matrix.state !== state) {  // the cells themselves, on a canvas of their own
    matrix.state = state;
    resize(matrix.sheet, g.w, g.h, g.density);
    paintCells(matrix.sheet, g);
  }
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, matrix.canvas.width, matrix.canvas.height);
  pen.drawImage(matrix.sheet, 0, 0);
  pen.setTransform(g.density, 0, 0, g.density, 0, 0);
  paintSides(pen, g);
  pen.save();
  pen.beginPath();
  pen.rect(kMargin, kMargin, g.w - kMargin, g.h - kMargin);
  pen.clip();
  for (let c = 0; c < data.components.length && data.components[c][0] > 1; ++c) {
    const a = g.toScreen(componentStart[c], componentStart[c]), size = data.components[c][0] * g.scale();
    if (size < 6) continue;
    pen.lineWidth = 1;
    pen.strokeStyle = css(mixed(colours.line, colours.ink, 0.35));
    pen.strokeRect(Math.round(a.x) - 0.5, Math.round(a.y) - 0.5, Math.round(size), Math.round(size));
  }
  // The rows of the images that the table is limited to.
  if (picked.focus && picked.focus.set.size < imageCount) {
    pen.fillStyle = css(colours.mark);
    for (const i of picked.focus.set) {
      const a = g.toScreen(place[i], place[i]);
      pen.fillRect(kMargin, a.y, 3, Math.max(1, g.scale()));
      pen.fillRect(a.x, kMargin, Math.max(1, g.scale()), 3);
    }
  }
  const cell = matrix.hover || picked.cell;
  if (cell) {
    const a = g.toScreen(cell[1], cell[0]), size = Math.max(1, g.scale());
    pen.globalAlpha = 0.16;
    pen.fillStyle = css(colours.ink);
    pen.fillRect(kMargin, a.y, g.w, size);
    pen.fillRect(a.x, kMargin, size, g.h);
    pen.globalAlpha = 1;
  }
  if (picked.cell) outline(pen, g, picked.cell, 2);
  if (matrix.hover) outline(pen, g, matrix.hover, 1);
  pen.restore();
}

// The cell at a position on the screen; if cells are smaller than a finger or a pointer, the
// nearest one with a pair.
function cellAt(sx, sy, reach) {
  const g = matrix.glide, p = g.toContent(sx, sy), col = Math.floor(p.x), row = Math.floor(p.y);
  if (sx < kMargin || sy < kMargin || col < 0 || row < 0 || col >= imageCount || row >= imageCount) return null;
  const around = Math.ceil(reach / g.scale());
  if (g.scale() >= reach || around > 200 || pairOfCell([row, col]) !== null) return [row, col];
  let best = null, nearest = Infinity;
  for (let r = Math.max(0, row - around); r <= Math.min(imageCount - 1, row + around); ++r) {
    for (let c = Math.max(0, col - around); c <= Math.min(imageCount - 1, col + around); ++c) {
      const away = (r - row) ** 2 + (c - col) ** 2;
      if (away < nearest && pairOfCell([r, c]) !== null) { nearest = away; best = [r, c]; }
    }
  }
  return best || [row, col];
}

function pickCell(cell) {
  picked.cell = cell;
  picked.image = null;
  if (cell) {
    matrix.glide.reveal(cell[1] + 0.5, cell[0] + 0.5);
    const p = pairOfCell(cell);
    if (p !== null) table.show(p);
  }
  say();
  draw();
}

function stepCell(dr, dc, far) {
  if (!imageCount) return;
  let [r, c] = picked.cell || [0, 0];
  const inside = (k) => k >= 0 && k < imageCount;
  if (!picked.cell) return pickCell([0, Math.min(1, imageCount - 1)]);
  do {
    if (!inside(r + dr) || !inside(c + dc)) break;
    r += dr;
    c += dc;
  } while (far && (pairOfCell([r, c]) === null || !hasGeometry(pairOfCell([r, c]))));
  return pickCell([r, c]);
}

matrix.glide = makeGlide({
  canvas: matrix.canvas, width: Math.max(1, imageCount), height: Math.max(1, imageCount), margin: kMargin,
  tall: (w) => Math.min(w, Math.max(320, window.innerHeight * 0.86)),
  mostZoom: () => Math.max(1, imageCount / 6),
  buttons: at('matrix-zoom'), name: 'matrix',
  draw: () => draw(),
  hover: (x, y) => { matrix.hover = cellAt(x, y, 5); say(); draw(); },
  press: (x, y, touch) => {
    const cell = cellAt(x, y, touch ? 16 : 5), p = pairOfCell(cell);
    const again = cell && picked.cell && cell[0] === picked.cell[0] && cell[1] === picked.cell[1];
    pickCell(cell);
    // On a touch screen the first touch selects, and the second opens.
    if (p !== null && (!touch || again)) openPair(p);
  },
  leave: () => { matrix.hover = null; say(); draw(); },
  keys: {
    ArrowUp: (e) => stepCell(-1, 0, e.shiftKey), ArrowDown: (e) => stepCell(1, 0, e.shiftKey),
    ArrowLeft: (e) => stepCell(0, -1, e.shiftKey), ArrowRight: (e) => stepCell(0, 1, e.shiftKey),
    Enter: () => { const p = pairOfCell(picked.cell); if (p !== null) openPair(p); },
    Escape: () => pickCell(null),
  },
});

function writeLegend() {
  const legend = at('legend');
  legend.textContent = '';
  const swatch = (colour, text) => {
    const item = make('span'), box = make('i');
    box.style.background = css(colour);
    item.append(box, text);
    legend.append(item);
  };
  if (pairCount > geometries) swatch(colours.tried, 'tried, no geometry');
  for (const inliers of [20, 100, 500, 2500].filter((n) => n < mostInliers * 2)) {
    swatch(colours.levels[Math.max(0, Math.min(kLevels, Math.round(kLevels * strength(inliers))))], whole(inliers));
  }
  legend.append(make('span', 'inliers'));
  if (pairs.kind.includes(kWatermark)) swatch(colours.mark, 'watermark');
}
