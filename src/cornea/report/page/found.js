// The matches as a Float32Array, eight numbers per match. page.cc defines the order of the scripts
// of the page.

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

// The axis of the histogram and of the slider; values beyond it share one bar.
const axis = data.threshold > 0 ? 2 * data.threshold
    : roundUp(2 * (inlierDistances[inlierDistances.length - 1] || 0));
const kBins = 40;
for (const m of matches) m.bin = m.distance < axis ? Math.floor(m.distance / axis * kBins) : kBins;

// The order in which matches get marks if only some are drawn: steps of the golden ratio sample the
// list evenly, and marks that are drawn in the full view stay when zooming in.
const byRank = matches.map((m, i) => ({m: m, key: (i * 0.6180339887498949) % 1}))
    .sort((a, b) => a.key - b.key).map((entry) => entry.m);

// ---- What is shown --------------------------------------------------------------------------

// cut: largest distance; bins: first and last selected bar of the histogram, or null; all: draw
// every mark instead of the first few by rank.
const shown = {inliers: true, outliers: true, others: false, links: true, residuals: false, coverage: false,
  all: false, cut: Infinity, bins: null};

const isInRange = (m) => !hasDistances ||
    (m.distance <= shown.cut && (!shown.bins || (m.bin >= shown.bins[0] && m.bin <= shown.bins[1])));
const isShown = (m) => (m.inlier ? shown.inliers : shown.outliers) && isInRange(m);
