// Words and numbers, switches and the theme. Every name is inserted as text.

// ---- Words and numbers ----------------------------------------------------------------------

// If there is no geometry: why, and which parts of the page are still useful.
const kNothing = {
  none: 'There is no fundamental matrix: none of the hypotheses agrees with more matches than expected by chance. ' +
      'Without it there are no epipolar lines and no distances to them, and no match is known to be correct. The table ' +
      'lists the most distinctive matches first (lowest ratio).',
  degenerate: 'There is no fundamental matrix: the matched points are equal or lie on a line, so that many matrices fit ' +
      'them equally well. Points spread over both photographs would determine one.',
  'too few points': 'There is no fundamental matrix: there are fewer matches than its estimation needs.',
};

function writeMatrix() {
  const matrix = planar ? data.H : data.F;
  at('copy-matrix').hidden = !matrix;
  at('matrix-name').textContent = !matrix ? 'Geometry' : planar ? 'Homography' : 'Fundamental matrix';
  const scaled = matrix && (Math.abs(matrix[2][2] - 1) < 1e-12 ? 'H\u2083\u2083 = 1' : 'norm 1');
  at('matrix-text').textContent = !matrix ? kNothing[data.kind] || kNothing.none
    : planar ? 'x\u2082 ~ H x\u2081 in pixels, with ' + scaled : 'x\u2082\u1d40 F x\u2081 = 0 in pixels, with norm 1';
  if (!matrix) return;
  for (const row of matrix) {
    const line = make('tr');
    for (const v of row) line.append(make('td', number(v)));
    at('matrix').append(line);
  }
  copies(at('copy-matrix'), '[' + matrix.map((row) => '[' + row.join(', ') + ']').join(',\n ') + ']');
}

// Five significant digits; numbers far from 1 in scientific notation.
function number(v) {
  if (v === null) return '\u2013';
  const size = Math.abs(v);
  const text = size === 0 ? '0' : size >= 0.01 && size < 10000 ? v.toPrecision(5) : v.toExponential(3).replace('e+', 'e');
  return text.replace(/-/g, '\u2212');
}

function writeFigures() {
  const [first, second] = data.photographs;
  const share = (part, all) => Math.round(100 * part / all) + ' %';
  figure('Matches', whole(data.matchCount));
  if (hasGeometry) {
    figure('Inliers', whole(data.inlierCount), data.matchCount ? '  ' + share(data.inlierCount, data.matchCount) : '');
    if (inlierDistances.length) figure('Median distance of inliers', pixels(inlierDistances[inlierDistances.length >> 1]));
    const [a, b] = coverage.map((c) => share(c.held, c.cells.length));
    figure('Coverage', a, ' and ' + b);
  }
  figure('Points', whole(first.points), ' and ' + whole(second.points));
  figure('Time', milliseconds(totalTime()));
}

function writeWords() {
  const [first, second] = data.photographs;
  const title = at('title');
  title.textContent = '';
  title.append(baseName(first.name), make('span', ' and ', 'and'), baseName(second.name));
  at('sentence').textContent = data.sentence;
  at('sentence').classList.toggle('notice', data.notice);
  writeFigures();
  data.photographs.forEach((photograph, i) => {
    at('caption-' + i).textContent = photograph.name + ' \u00b7 ' + photograph.width + ' \u00d7 ' + photograph.height;
    panels[i].canvas.setAttribute('aria-label', (i ? 'Second' : 'First') + ' photograph, ' + photograph.name);
  });
  at('count-inliers').textContent = whole(data.inlierCount);
  at('count-outliers').textContent = whole(data.matchCount - data.inlierCount);
  at('distances-text').textContent = !hasGeometry ? ''
    : (planar ? 'The distance of each point from where the homography maps its partner, summed over both photographs.'
      : 'The sum of the distances of each match to its two epipolar lines.') +
      (data.threshold > 0 ? ' Inliers are below the threshold.' : '');
  if (!hasGeometry) {
    for (const name of ['in', 'residual', 'cover', 'slider']) document.querySelector('.toolbar .' + name).hidden = true;
    root.classList.add('without-geometry');
    at('name-outliers').textContent = 'Matches';
    document.querySelector('.toolbar .out').classList.add('match');
  }
  at('keys-step').hidden = !matches.length;
  at('keys-order').textContent = table.sorting.key;
  root.classList.toggle('without-matches', !matches.length);
  writeStages();
  writeMatrix();
  writeFiles();
  writeHowItWasMade();
}

// ---- Switches and slider ---------------------------------------------------------------------

// Called after a change of what is shown.
function filterChanged() {
  if (chosen && !isShown(chosen)) light(null, true);
  table.list();
  histogram.show();
  at('cut-value').textContent = shown.bins ? rangeText(...shown.bins)
    : shown.cut === Infinity ? 'all' : 'up to ' + pixels(shown.cut);
  draw();
}

for (const name of ['inliers', 'outliers', 'others', 'links', 'residuals', 'coverage', 'all']) {
  const box = at('show-' + name);
  shown[name] = box.checked;
  box.addEventListener('change', () => {
    shown[name] = box.checked;
    filterChanged();
  });
}
const slider = at('cut');
function readSlider() {
  const v = Number(slider.value);
  shown.bins = null;
  shown.cut = v >= 1000 ? Infinity : axis * v / 1000;
  filterChanged();
}
slider.disabled = !hasDistances;
slider.addEventListener('input', readSlider);

// ---- Begin ----------------------------------------------------------------------------------

function fitToWindow() {
  if (!layout()) return;
  clampView();
  histogram.draw();
  table.draw();
  draw();
}

writeWords();
describe(null);
table.sort();
Promise.all(panels.map((panel) => panel.photo.decode())).then(() => {
  viewer.classList.add('drawn');
  writePose();
  fitToWindow();
  readSlider();
  window.addEventListener('resize', fitToWindow);
  // A scroll bar that appears or disappears changes the width too.
  new ResizeObserver(() => { if (roomOf(0) !== panels[0].w) fitToWindow(); }).observe(viewer);
  root.dataset.ready = 'yes';
});

// For tests and for the browser's console.
window.corneaPage = {matches: matches, view: view, chosen: () => chosen, listed: () => table.listed, toScreen: toScreen,
  epipolarLine: epipolarLine, lineInImage: lineInImage, residual: residual, bins: bins, coverage: coverage, space: space, spots: spots};
