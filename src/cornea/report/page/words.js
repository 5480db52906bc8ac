// The histogram, words and numbers, switches and the theme. Everything that is a name goes into the
// page as text.

// ---- The histogram --------------------------------------------------------------------------

function svg(tag, attributes, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const key of Object.keys(attributes)) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return element;
}

const kBins = 40;
const bins = Array.from({length: kBins + 1}, () => ({in: 0, out: 0}));  // the last: beyond the axis
if (hasDistances) {
  for (const m of matches) {
    const bin = m.distance < axis ? Math.floor(m.distance / axis * kBins) : kBins;
    bins[bin][m.inlier ? 'in' : 'out'] += 1;
  }
}

function drawHistogram() {
  const place = at('histogram');
  place.textContent = '';
  if (!hasDistances) return;
  const width = Math.max(200, place.clientWidth), height = 172, bottom = height - 24, top = 22;
  const picture = svg('svg', {viewBox: '0 0 ' + width + ' ' + height, role: 'img',
    'aria-label': 'Histogram of distances: ' + whole(data.inlierCount) + ' inliers, ' +
        whole(data.matchCount - data.inlierCount) + ' outliers'});
  const beyond = 34, gap = 14, plot = width - beyond - gap;
  const tallest = Math.max(1, ...bins.map((b) => b.in + b.out));
  const rise = (count) => (bottom - top) * count / tallest;
  bins.forEach((bin, k) => {
    const last = k === kBins;
    const x = last ? plot + gap : plot * k / kBins;
    const w = last ? beyond : plot / kBins - 1;
    const faded = (last ? axis : axis * (k + 0.5) / kBins) > shown.cut ? ' faded' : '';
    const tall = rise(bin.in), more = rise(bin.out);
    if (bin.in) picture.append(svg('rect', {class: 'in' + faded, x: x, width: w, y: bottom - tall, height: tall}));
    if (bin.out) picture.append(svg('rect', {class: 'out' + faded, x: x, width: w, y: bottom - tall - more, height: Math.max(more, 1)}));
  });
  picture.append(svg('line', {class: 'axis', x1: 0, x2: plot, y1: bottom + 0.5, y2: bottom + 0.5}),
      svg('line', {class: 'axis', x1: plot + gap, x2: width, y1: bottom + 0.5, y2: bottom + 0.5}));
  for (let k = 0; k < 4; ++k) {
    picture.append(svg('text', {x: plot * k / 4, y: height - 6, 'text-anchor': k ? 'middle' : 'start'},
        +(axis * k / 4).toFixed(2) + (k ? '' : ' px')));
  }
  picture.append(svg('text', {x: width, y: height - 6, 'text-anchor': 'end'}, '> ' + +axis.toFixed(2)));
  if (data.threshold > 0) {
    const x = plot * data.threshold / axis;
    picture.append(svg('line', {class: 'limit', x1: x, x2: x, y1: top - 6, y2: bottom}),
        svg('text', {class: 'limit-name', x: x + 6, y: top + 2}, 'threshold ' + +data.threshold.toFixed(2) + ' px'));
  }
  place.append(picture);
}

// ---- Words and numbers ----------------------------------------------------------------------

function figure(name, value, small) {
  const row = make('div'), number = make('dd', value);
  if (small) number.append(make('small', small));
  row.append(make('dt', name), number);
  at('figures').append(row);
}

function milliseconds(ms) {
  return ms < 10 ? ms.toFixed(1) + ' ms' : ms < 1000 ? whole(ms) + ' ms' : (ms / 1000).toFixed(2) + ' s';
}

function copies(button, text) {
  button.addEventListener('click', async () => {
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch (error) {  // not allowed from a file: the old way
      const area = make('textarea', text);
      area.style.position = 'fixed';
      area.style.opacity = '0';
      document.body.append(area);
      area.select();
      done = document.execCommand('copy');
      area.remove();
      button.focus();
    }
    button.textContent = done ? 'Copied' : 'Select and copy';
    setTimeout(() => { button.textContent = 'Copy'; }, 1600);
  });
}

function writeWords() {
  const [first, second] = data.photographs;
  const title = at('title');
  title.textContent = '';
  title.append(baseName(first.name), make('span', ' and ', 'and'), baseName(second.name));
  at('sentence').textContent = data.sentence;
  at('sentence').classList.toggle('notice', data.notice);
  figure('Points', whole(first.points), ' and ' + whole(second.points));
  figure('Matches', whole(data.matchCount));
  figure('Inliers', whole(data.inlierCount),
      data.matchCount ? '  ' + Math.round(100 * data.inlierCount / data.matchCount) + ' %' : '');
  if (hasDistances && inlierDistances.length) {
    figure('Median distance', pixels(inlierDistances[inlierDistances.length >> 1]));
  }
  const total = data.stages.reduce((sum, stage) => sum + stage[1], 0);
  figure('Time', milliseconds(total));
  data.photographs.forEach((photograph, i) => {
    at('caption-' + i).textContent = photograph.name + ' \u00b7 ' + photograph.width + ' \u00d7 ' + photograph.height;
    panels[i].canvas.setAttribute('aria-label', (i ? 'Second' : 'First') + ' photograph, ' + photograph.name);
  });
  at('count-inliers').textContent = whole(data.inlierCount);
  at('count-outliers').textContent = whole(data.matchCount - data.inlierCount);
  at('distances-text').textContent = !hasDistances
    ? 'There are none: no fundamental matrix was found.'
    : planar ? 'How far each point lies from where the plane\u2019s homography puts it, in both photographs together.'
      : 'How far each match lies from its two epipolar lines together. Those below the threshold are inliers.';

  const slowest = Math.max(...data.stages.map((stage) => stage[1]), 1e-9);
  for (const [name, ms] of data.stages) {
    const bar = make('div', undefined, 'bar');
    bar.style.width = Math.max(0.5, 100 * ms / slowest) + '%';
    const track = make('div');
    track.append(bar);
    at('stages').append(make('span', name), track, make('span', milliseconds(ms), 'ms'));
  }
  const sum = make('div', undefined, 'total');
  sum.append(make('span', 'together'), make('span', milliseconds(total)));
  at('stages').append(sum);

  const matrix = planar ? data.H : data.F;
  at('copy-matrix').hidden = !matrix;
  at('matrix-name').textContent = planar ? 'Homography' : 'Fundamental matrix';
  at('matrix-text').textContent = !matrix ? 'None was found.'
    : planar ? 'x\u2082 ~ H x\u2081, pixels' : 'x\u2082\u1d40 F x\u2081 = 0, pixels';
  if (matrix) {
    for (const row of matrix) {
      const line = make('tr');
      for (const v of row) line.append(make('td', v.toExponential(3).replace(/-/g, '\u2212').replace('e+', 'e')));
      at('matrix').append(line);
    }
    copies(at('copy-matrix'), '[' + matrix.map((row) => '[' + row.join(', ') + ']').join(',\n ') + ']');
  }
  for (const [name, value] of data.facts) at('facts').append(make('dt', name), make('dd', value));
  at('command').textContent = data.command;
  copies(at('copy-command'), data.command);
}

// ---- Switches, slider, theme ----------------------------------------------------------------

for (const name of ['inliers', 'outliers', 'others', 'links']) {
  const box = at('show-' + name);
  shown[name] = box.checked;
  box.addEventListener('change', () => {
    shown[name] = box.checked;
    if (chosen && !isShown(chosen)) light(null, true);
    draw();
  });
}
const slider = at('cut');
function readSlider() {
  const v = Number(slider.value);
  shown.cut = v >= 1000 ? Infinity : axis * v / 1000;
  at('cut-value').textContent = v >= 1000 ? 'all' : 'up to ' + pixels(shown.cut);
  if (chosen && !isShown(chosen)) light(null, true);
  drawHistogram();
  draw();
}
slider.disabled = !hasDistances;
slider.addEventListener('input', readSlider);
at('zoom-in').addEventListener('click', () => zoomIn(0, 1.5));
at('zoom-out').addEventListener('click', () => zoomIn(0, 1 / 1.5));
at('zoom-reset').addEventListener('click', reset);

const root = document.documentElement;
const isDark = () => (root.dataset.theme ||
    (window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
const nameTheme = () => { at('theme-name').textContent = isDark() ? 'Light' : 'Dark'; };
try {
  const kept = localStorage.getItem('cornea-theme');
  if (kept === 'dark' || kept === 'light') root.dataset.theme = kept;
} catch (error) { /* no storage for files here: the system's choice holds */ }
at('theme').addEventListener('click', () => {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  try { localStorage.setItem('cornea-theme', root.dataset.theme); } catch (error) { /* as above */ }
  nameTheme();
});
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', nameTheme);
nameTheme();

// ---- Begin ----------------------------------------------------------------------------------

function fitToWindow() {
  layout();
  clampView();
  drawHistogram();
  draw();
}

writeWords();
describe(null);
Promise.all(panels.map((panel) => panel.photo.decode())).then(() => {
  viewer.classList.add('drawn');
  fitToWindow();
  readSlider();
  window.addEventListener('resize', fitToWindow);
  // A scroll bar that comes or goes changes the width too.
  new ResizeObserver(() => { if (roomOf(0) !== panels[0].w) fitToWindow(); }).observe(viewer);
  root.dataset.ready = 'yes';
});

// For tests and the curious.
window.corneaPage = {matches: matches, view: view, chosen: () => chosen, toScreen: toScreen, epipolarLine: epipolarLine};
