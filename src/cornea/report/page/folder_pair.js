// One pair in a dialog of the page: both photographs and its inliers as lines between them.

const pairView = {dialog: at('pair'), canvas: at('pair-canvas'), p: null, lines: new Uint16Array(0), hover: null, boxes: []};

function openPair(p) {
  const view = pairView;
  view.p = p;
  view.lines = new Uint16Array(0);
  view.hover = null;
  const names = [pairs.first[p], pairs.second[p]].map((i) => images.names[i]);
  const title = at('pair-title');
  title.textContent = '';
  title.append(names[0], make('span', ' and ', 'and'), names[1]);
  at('pair-sentence').textContent = !hasGeometry(p)
    ? (pairs.kind[p] === kUnverified ? 'The matches of this pair were not verified: none is known to be correct.'
      : 'No geometry explains more of the matches than expected by chance.')
    : pairs.kind[p] === kWatermark ? 'The matches do not move between the photographs: a watermark or a time stamp.'
      : {'planar': 'A homography explains the matches: the scene is planar.',
        'panoramic': 'A homography explains the matches: the camera only rotated, which gives no depth.',
        'planar or panoramic': 'A homography explains the matches: the scene is planar, or the camera only rotated.',
        'calibrated': 'An essential matrix explains the matches; both focal lengths are known.',
        'uncalibrated': 'A fundamental matrix explains the matches.'}[kindText(pairs.kind[p])] || '';
  const figures = at('pair-figures');
  figures.textContent = '';
  const add = (name, value) => { const row = make('div'); row.append(make('dt', name), make('dd', value)); figures.append(row); };
  add('Matches', whole(pairs.matches[p]));
  add('Inliers', hasGeometry(p) ? whole(pairs.inliers[p]) : '\u2013');
  add('Kind', kindText(kindOfPair(p)));
  add('Median distance', pairs.distance[p] >= 0 ? pixels(pairs.distance[p]) : '\u2013');
  add('Median angle of rays', pairs.angle[p] >= 0 ? degrees(pairs.angle[p]) : '\u2013');
  if (!view.dialog.open) view.dialog.showModal();
  withLines(p, (lines) => { if (view.p === p) { view.lines = lines; pairLinesChanged(); } });
  pairLinesChanged();
}

const lineCount = () => pairView.lines.length / 4;
const linesShown = () => Math.min(lineCount(), Number(at('pair-lines').value));

function pairLinesChanged() {
  const slider = at('pair-lines'), count = lineCount();
  slider.max = Math.max(1, count);
  slider.disabled = !count;
  at('pair-lines-text').textContent = !count ? 'none' : linesShown() + ' of ' + plural(pairs.inliers[pairView.p], 'inlier', 'inliers');
  drawPair();
}

// Side by side, or one above the other on a narrow screen.
function placePhotographs() {
  const view = pairView, w = view.canvas.parentElement.clientWidth, gap = 12;
  const narrow = window.matchMedia('(max-width: 760px)').matches;
  const sizes = [pairs.first[view.p], pairs.second[view.p]].map((i) => [images.width[i] || 4, images.height[i] || 3]);
  const most = window.innerHeight * (narrow ? 0.3 : 0.56);
  if (narrow) {
    const heights = sizes.map(([a, b]) => Math.min(most, w * b / a));
    view.boxes = sizes.map(([a, b], k) => ({x: (w - heights[k] * a / b) / 2, y: k ? heights[0] + gap : 0, w: heights[k] * a / b, h: heights[k]}));
    return [w, heights[0] + heights[1] + gap];
  }
  const height = Math.min(most, (w - gap) / (sizes[0][0] / sizes[0][1] + sizes[1][0] / sizes[1][1]));
  const widths = sizes.map(([a, b]) => height * a / b), left = (w - widths[0] - widths[1] - gap) / 2;
  view.boxes = widths.map((v, k) => ({x: k ? left + widths[0] + gap : left, y: 0, w: v, h: height}));
  return [w, height];
}

function drawPair() {
  const view = pairView;
  if (view.p === null || !view.dialog.open || view.canvas.parentElement.clientWidth <= 0) return;
  const [w, h] = placePhotographs(), density = window.devicePixelRatio || 1;
  view.canvas.style.height = h + 'px';
  resize(view.canvas, w, h, density);
  const pen = view.canvas.getContext('2d');
  pen.setTransform(density, 0, 0, density, 0, 0);
  pen.clearRect(0, 0, w, h);
  [pairs.first[view.p], pairs.second[view.p]].forEach((i, k) => {
    const box = view.boxes[k], entry = thumbnail(i, drawPair);
    pen.fillStyle = css(colours.line);
    pen.fillRect(box.x, box.y, box.w, box.h);
    pen.imageSmoothingQuality = 'high';
    if (entry) pen.drawImage(entry.image, box.x, box.y, box.w, box.h);
    else if (images.problems[i]) {
      pen.fillStyle = css(colours.ink);
      pen.font = '14px system-ui, sans-serif';
      pen.textAlign = 'center';
      pen.fillText('This photograph ' + images.problems[i], box.x + box.w / 2, box.y + box.h / 2, box.w - 16);
    }
  });
  const [a, b] = view.boxes, all = lineCount(), shown = linesShown();
  const ends = (k) => [a.x + view.lines[4 * k] / 65535 * a.w, a.y + view.lines[4 * k + 1] / 65535 * a.h,
    b.x + view.lines[4 * k + 2] / 65535 * b.w, b.y + view.lines[4 * k + 3] / 65535 * b.h];
  view.ends = [];
  for (let n = 0; n < shown; ++n) view.ends.push(ends(Math.floor(n * all / shown)));
  const stroke = (lines, colour, width) => {
    pen.beginPath();
    for (const [x1, y1, x2, y2] of lines) { pen.moveTo(x1, y1); pen.lineTo(x2, y2); }
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.stroke();
  };
  const quiet = view.hover === null ? 0.75 : 0.25;
  stroke(view.ends, 'rgba(0,0,0,' + 0.4 * quiet + ')', 2.4);
  stroke(view.ends, 'rgba(79,176,255,' + quiet + ')', 1.1);
  pen.fillStyle = 'rgba(79,176,255,' + Math.max(0.5, quiet) + ')';
  for (const [x1, y1, x2, y2] of view.ends) {
    pen.fillRect(x1 - 1.5, y1 - 1.5, 3, 3);
    pen.fillRect(x2 - 1.5, y2 - 1.5, 3, 3);
  }
  if (view.hover !== null && view.ends[view.hover]) {
    stroke([view.ends[view.hover]], 'rgba(0,0,0,0.6)', 4);
    stroke([view.ends[view.hover]], '#ffffff', 2);
  }
}

pairView.canvas.addEventListener('pointermove', (event) => {
  const box = pairView.canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  let best = null, nearest = 14 * 14;
  (pairView.ends || []).forEach(([x1, y1, x2, y2], k) => {
    const away = Math.min((x1 - x) ** 2 + (y1 - y) ** 2, (x2 - x) ** 2 + (y2 - y) ** 2);
    if (away < nearest) { nearest = away; best = k; }
  });
  if (best !== pairView.hover) { pairView.hover = best; drawPair(); }
});
pairView.canvas.addEventListener('pointerleave', () => { pairView.hover = null; drawPair(); });
at('pair-lines').addEventListener('input', pairLinesChanged);
at('pair-close').addEventListener('click', () => pairView.dialog.close());
pairView.dialog.addEventListener('click', (event) => { if (event.target === pairView.dialog) pairView.dialog.close(); });
pairView.dialog.addEventListener('close', () => {
  const p = pairView.p;
  pairView.p = null;
  if (p !== null) pickPair(p);
});

function stepPair(direction) {
  const p = table.next(pairView.p, direction);
  if (p !== null) openPair(p);
}
at('pair-back').addEventListener('click', () => stepPair(-1));
at('pair-next').addEventListener('click', () => stepPair(1));
pairView.dialog.addEventListener('keydown', (event) => {
  const direction = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (!direction || event.target === at('pair-lines') || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  stepPair(direction);
});
