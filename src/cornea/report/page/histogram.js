// The histogram of distances. Matches outside of the selection are hidden on the photographs and in
// the table.

// The last bin: beyond the axis.
const bins = Array.from({length: kBins + 1}, () => ({in: 0, out: 0}));
if (hasDistances) for (const m of matches) bins[m.bin][m.inlier ? 'in' : 'out'] += 1;

// From the lower end of bar a to the upper end of bar b.
function rangeText(a, b) {
  const from = axis * a / kBins, to = axis * (b + 1) / kBins;
  if (a === kBins) return 'beyond ' + pixels(axis);
  return b === kBins ? 'from ' + pixels(from) : from.toFixed(2) + ' to ' + pixels(to);
}
function countText(a, b) {
  let inside = 0, outside = 0;
  for (let k = a; k <= b; ++k) { inside += bins[k].in; outside += bins[k].out; }
  return plural(inside, 'inlier', 'inliers') + ', ' + plural(outside, 'outlier', 'outliers');
}

// Selects the bars from a to b; null: all of them.
function chooseBins(a, b) {
  shown.bins = a === null ? null : [a, b];
  shown.cut = Infinity;
  slider.value = !shown.bins || shown.bins[1] === kBins ? 1000 : Math.round(1000 * (shown.bins[1] + 1) / kBins);
  filterChanged();
}

const histogram = !hasDistances ? {draw: () => {}, show: () => {}} : makeBars({
  box: at('histogram'), name: 'Distances', bins: bins, axis: axis, unit: ' px',
  label: 'Histogram of distances: ' + plural(data.inlierCount, 'inlier', 'inliers') + ', ' +
      plural(data.matchCount - data.inlierCount, 'outlier', 'outliers'),
  counted: (n) => plural(n, 'match', 'matches'),
  limit: data.threshold > 0 ? {value: data.threshold, name: 'threshold ' + +data.threshold.toFixed(2) + ' px'} : null,
  isFaded: (k) => shown.bins ? k < shown.bins[0] || k > shown.bins[1]
      : shown.cut < (k === kBins ? axis : axis * (k + 0.5) / kBins),
  chosen: () => shown.bins, choose: chooseBins, isCut: () => shown.cut !== Infinity,
  said: (a, b) => rangeText(a, b) + ': ' + countText(a, b),
  hint: 'Click a bar or drag over several to select these matches.',
});
