// The table of pairs, its filters, and the histograms that select from it.

// search: lower-case words that the names contain; kind: 'geometry', 'none', a number or 'all';
// ranges of the histograms: first and last bar, or null.
const filter = {words: [], kind: 'all', features: null, inliers: null, distances: null};
const lowerNames = images.names.map((name) => name.toLowerCase());
const known = (v) => v >= 0 ? v : Infinity;

// A name whose folder part is shortened first if there is no room for both.
function fillName(cell, i) {
  const name = images.names[i], base = baseName(name), folder = name.slice(0, name.length - base.length);
  if (folder && name.endsWith(base)) cell.append(make('span', folder, 'in-folder'));
  cell.append(make('span', folder && name.endsWith(base) ? base : name, 'base-name'));
  cell.title = name;
}

const pairColumns = [
  {key: 'first', name: 'First image', value: (p) => lowerNames[pairs.first[p]], fill: (cell, p) => fillName(cell, pairs.first[p])},
  {key: 'second', name: 'Second image', value: (p) => lowerNames[pairs.second[p]], fill: (cell, p) => fillName(cell, pairs.second[p])},
  {key: 'inliers', name: 'Inliers', down: true, value: (p) => (hasGeometry(p) ? pairs.inliers[p] : -1), text: (p) => (hasGeometry(p) ? whole(pairs.inliers[p]) : '\u2013')},
  {key: 'matches', name: 'Matches', down: true, value: (p) => pairs.matches[p], text: (p) => whole(pairs.matches[p])},
  {key: 'kind', name: 'Kind', value: (p) => kindText(kindOfPair(p)), text: (p) => kindText(kindOfPair(p))},
  {key: 'distance', name: 'Distance', value: (p) => known(pairs.distance[p]), text: (p) => (pairs.distance[p] >= 0 ? pixels(pairs.distance[p]) : '\u2013')},
  {key: 'angle', name: 'Angle', down: true, value: (p) => pairs.angle[p], text: (p) => (pairs.angle[p] >= 0 ? degrees(pairs.angle[p]) : '\u2013')},
];

// ---- Histograms -----------------------------------------------------------------------------

const kBars = 40;
// The end of an axis: a round number above nearly all values.
function axisOf(values) {
  const sorted = Float64Array.from(values).sort();
  return sorted.length ? Math.max(4, roundUp(sorted[Math.floor(0.98 * (sorted.length - 1))] * 1.02)) : 4;
}
const featureAxis = axisOf(images.features);
const inlierAxis = axisOf(pairs.inliers.filter((_, p) => hasGeometry(p)));
const barOf = (value, axis, bars) => value < axis ? Math.floor(value / axis * bars) : bars;
const featureBar = (i) => barOf(images.features[i], featureAxis, kBars);
const inlierBar = (p) => barOf(pairs.inliers[p], inlierAxis, kBars);
// The bars of distances have the width with which they were counted.
const distanceBars = Math.max(1, data.distances.counts.length - 1), distanceAxis = data.distances.width * distanceBars;
const distanceBar = (p) => pairs.distance[p] < 0 ? -1 : barOf(pairs.distance[p], distanceAxis, distanceBars);
const inRange = (bar, range) => !range || (bar >= range[0] && bar <= range[1]);

function countBars(bars, items, barOfItem) {
  const bins = Array.from({length: bars + 1}, () => ({in: 0, out: 0}));
  for (const item of items) bins[barOfItem(item)].in += 1;
  return bins;
}

function makeFilterBars(key, o) {
  const total = (a, b) => { let sum = 0; for (let k = a; k <= b; ++k) sum += o.bins[k].in; return sum; };
  const from = (k) => o.number(o.axis * k / (o.bins.length - 1));
  const bars = makeBars({
    box: at(key), name: at(key + '-name').textContent, bins: o.bins, axis: o.axis, unit: o.unit,
    label: o.label, counted: o.counted, limit: null, hint: o.hint,
    isFaded: (k) => filter[key] !== null && !inRange(k, filter[key]),
    chosen: () => filter[key], isCut: () => false,
    choose: (a, b) => { filter[key] = a === null ? null : [a, b]; filterPairs(); },
    said: (a, b) => (a === o.bins.length - 1 ? 'from ' + from(a) : b === o.bins.length - 1 ? 'from ' + from(a)
      : from(a) + ' to ' + from(b + 1)) + o.unit + ': ' + o.counted(total(a, b)),
  });
  return bars;
}

const oneImage = (n) => plural(n, 'image', 'images'), onePair = (n) => plural(n, 'pair', 'pairs');
const withGeometry = Array.from(byStrength).filter(hasGeometry);
const charts = [
  makeFilterBars('features', {bins: countBars(kBars, images.names.keys(), featureBar), axis: featureAxis, unit: '', number: whole, counted: oneImage,
    label: 'Histogram of features per image', hint: 'Click a bar to list the pairs of its images.'}),
  makeFilterBars('inliers', {bins: countBars(kBars, withGeometry, inlierBar), axis: inlierAxis, unit: '', number: whole, counted: onePair,
    label: 'Histogram of inliers per pair', hint: 'Click a bar to list its pairs.'}),
  makeFilterBars('distances', {bins: data.distances.counts.map((n) => ({in: n, out: 0})), axis: distanceAxis, unit: ' px',
    number: (v) => v.toFixed(1), counted: (n) => plural(n, 'inlier', 'inliers'),
    label: 'Histogram of the distances of all inliers', hint: 'Click a bar to list the pairs whose median distance lies in it.'}),
];

// ---- The table ------------------------------------------------------------------------------

function isListed(p) {
  const a = pairs.first[p], b = pairs.second[p];
  if (picked.focus && !(picked.focus.every ? picked.focus.set.has(a) && picked.focus.set.has(b) : picked.focus.set.has(a) || picked.focus.set.has(b))) return false;
  if (filter.kind === 'geometry' ? !hasGeometry(p) : filter.kind === 'none' ? hasGeometry(p) : filter.kind !== 'all' && kindOfPair(p) !== Number(filter.kind)) return false;
  if (filter.inliers && !(hasGeometry(p) && inRange(inlierBar(p), filter.inliers))) return false;
  if (filter.distances && !inRange(distanceBar(p), filter.distances)) return false;
  if (filter.features && !inRange(featureBar(a), filter.features) && !inRange(featureBar(b), filter.features)) return false;
  return filter.words.every((word) => lowerNames[a].includes(word) || lowerNames[b].includes(word));
}

const table = makeRows({
  box: at('rows'), inside: at('rows-inside'), heads: at('heads'), columns: pairColumns,
  items: Uint32Array.from({length: pairCount}, (_, p) => p), sorting: {key: 'inliers', up: false},
  isShown: isListed, isChosen: (p) => p === pairOfCell(picked.cell),
  classOf: (p) => (!hasGeometry(p) ? 'refused' : pairs.kind[p] === kWatermark ? 'mark' : 'verified'),
  choose: (p) => pickPair(p), open: (p) => openPair(p), point: () => {},
  listed: () => {
    const count = table.listed.length;
    at('table-count').textContent = count === pairCount ? whole(count) : whole(count) + ' of ' + whole(pairCount);
    at('table-none').hidden = count > 0;
    at('table-none').textContent = pairCount ? 'No pair matches the filters.' : 'No pair was tried.';
  },
});

// Selects a pair in the matrix, the graph and the table alike.
function pickPair(p) {
  const a = place[pairs.first[p]], b = place[pairs.second[p]];
  pickCell([Math.min(a, b), Math.max(a, b)]);
}

function filterPairs() {
  at('rows').scrollTop = 0;
  const clear = at('focus-clear');
  clear.hidden = !picked.focus;
  if (picked.focus) clear.textContent = picked.focus.label + ' \u00d7';
  at('range-reset').hidden = !filter.features && !filter.inliers && !filter.distances;
  for (const chart of charts) chart.show();
  table.list();
  draw();
}

// Limits the table, the graph and the matrix to these images; `look`: also shows them as large as
// possible.
function focusOn(focus, look) {
  picked.focus = focus;
  filterPairs();
  if (!look || !focus) return;
  let box = null;
  const whole = [Infinity, Infinity, -Infinity, -Infinity], cells = [Infinity, -Infinity];
  for (const i of focus.set) {
    box = whole;
    whole[0] = Math.min(whole[0], graph.x[i] - 0.5);
    whole[1] = Math.min(whole[1], graph.y[i] - 0.5);
    whole[2] = Math.max(whole[2], graph.x[i] + 0.5);
    whole[3] = Math.max(whole[3], graph.y[i] + 0.5);
    cells[0] = Math.min(cells[0], place[i]);
    cells[1] = Math.max(cells[1], place[i] + 1);
  }
  if (!box) return;
  graph.glide.showBox(...box);
  matrix.glide.showBox(cells[0], cells[0], cells[1], cells[1]);
}

at('search').addEventListener('input', () => {
  filter.words = at('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  filterPairs();
});
at('kind').addEventListener('change', () => { filter.kind = at('kind').value; filterPairs(); });
at('focus-clear').addEventListener('click', () => { focusOn(null, false); graph.glide.reset(); matrix.glide.reset(); });
at('range-reset').addEventListener('click', () => { filter.features = filter.inliers = filter.distances = null; filterPairs(); });
