// What was found: numbers of matches as Float32Array, eight per match. page.cc says in which order
// the scripts of the page come.

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
