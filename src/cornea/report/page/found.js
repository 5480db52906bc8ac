// What was found. Data come from the element #data; numbers of matches as Float32Array, eight per
// match. The scripts of the page share one function's scope, in the order found, shapes, draw, overlay,
// point, histogram, table, space, pose, words.

const data = JSON.parse(document.getElementById('data').textContent);
const root = document.documentElement;
const at = (id) => document.getElementById(id);
const whole = (n) => Math.round(n).toLocaleString('en-US');
const plural = (n, one, many) => whole(n) + ' ' + (n === 1 ? one : many);
const pixels = (d) => (!Number.isFinite(d) ? '\u221e' : d < 0.1 ? d.toFixed(3) : d < 10 ? d.toFixed(2) : d < 100 ? d.toFixed(1) : whole(d)) + ' px';
const baseName = (path) => path.split('/').filter(Boolean).pop() || path;

function make(tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

function floats(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

// To four times a number that is easily read.
function roundUp(v) {
  const power = Math.pow(10, Math.floor(Math.log10(Math.max(v, 0.04) / 4)));
  return 4 * power * [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((step) => 4 * power * step >= v * 0.999999);
}

// The largest of 1, 2, 5, 10, 20, ... that is not above v.
function roundDown(v) {
  const power = Math.pow(10, Math.floor(Math.log10(v)));
  return power * [5, 2, 1].find((step) => power * step <= v * 1.000001);
}

// ---- The matches ----------------------------------------------------------------------------

const numbers = floats(data.matches);
const matches = [];
for (let i = 0; i + 8 <= numbers.length; i += 8) {
  matches.push({
    points: [{x: numbers[i], y: numbers[i + 1]}, {x: numbers[i + 2], y: numbers[i + 3]}],
    ratio: numbers[i + 4], distance: numbers[i + 5], inlier: numbers[i + 6] > 0, index: numbers[i + 7],
  });
}
const others = data.photographs.map((photograph) => floats(photograph.others));
const planar = data.kind === 'planar';
// Without a geometry there are neither inliers nor outliers, only matches.
const hasGeometry = data.F !== null || planar;
const hasDistances = matches.length > 0 && hasGeometry;
const inlierDistances = matches.filter((m) => m.inlier).map((m) => m.distance).sort((a, b) => a - b);
const kindOf = (m) => !hasGeometry ? 'match' : m.inlier ? 'inlier' : 'outlier';

// The axis of the histogram and of the slider; what lies beyond shares one bar.
const axis = data.threshold > 0 ? 2 * data.threshold
    : roundUp(2 * (inlierDistances[inlierDistances.length - 1] || 0));
const kBins = 40;
for (const m of matches) m.bin = m.distance < axis ? Math.floor(m.distance / axis * kBins) : kBins;

// The order in which matches get their marks where only some are drawn: steps of the golden ratio
// spread over the list, and what is drawn of the whole stays drawn when the view comes closer.
const byRank = matches.map((m, i) => ({m: m, key: (i * 0.6180339887498949) % 1}))
    .sort((a, b) => a.key - b.key).map((entry) => entry.m);

// ---- What is shown --------------------------------------------------------------------------

// cut: largest distance; bins: first and last bar of the histogram that are chosen, or null; all:
// every mark instead of the first few by rank.
const shown = {inliers: true, outliers: true, others: false, links: true, residuals: false, coverage: false,
  all: false, cut: Infinity, bins: null};

const isInRange = (m) => !hasDistances ||
    (m.distance <= shown.cut && (!shown.bins || (m.bin >= shown.bins[0] && m.bin <= shown.bins[1])));
const isShown = (m) => (m.inlier ? shown.inliers : shown.outliers) && isInRange(m);
