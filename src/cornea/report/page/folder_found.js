// The contents of a folder: images and pairs as columns of numbers, and adjacency. folder_page.cc
// defines the order of the scripts of the page.

const column = (base64, Type) => new Type(bytesOf(base64).buffer);
const images = {
  names: data.images.names, problems: data.images.problems,
  width: column(data.images.width, Uint32Array), height: column(data.images.height, Uint32Array),
  features: column(data.images.features, Uint32Array), component: column(data.images.component, Uint32Array),
  x: column(data.images.x, Uint16Array), y: column(data.images.y, Uint16Array),
};
const imageCount = images.names.length;
const pairs = {
  first: column(data.pairs.first, Uint32Array), second: column(data.pairs.second, Uint32Array),
  matches: column(data.pairs.matches, Uint32Array), inliers: column(data.pairs.inliers, Uint32Array),
  kind: column(data.pairs.kind, Uint8Array),
  distance: column(data.pairs.distance, Float32Array), angle: column(data.pairs.angle, Float32Array),
};
const pairCount = pairs.first.length;

const kUnverified = 0, kDegenerate = 1, kWatermark = 7;  // COLMAP's configurations
const hasGeometry = (p) => pairs.kind[p] > kDegenerate && pairs.inliers[p] > 0;
const connects = (p) => hasGeometry(p) && pairs.kind[p] !== kWatermark;
const kindText = (kind) => kind === kUnverified ? 'not verified' : kind === kDegenerate ? 'no geometry' : data.pairs.kinds[kind];
const kindOfPair = (p) => hasGeometry(p) ? pairs.kind[p] : Math.min(pairs.kind[p], kDegenerate);
const isAlone = (i) => data.components[images.component[i]][0] === 1;

// The order of the matrix: by component, the largest first, and within a component as in the
// database.
const order = Uint32Array.from(images.names.keys()).sort((a, b) => images.component[a] - images.component[b] || a - b);
const place = new Uint32Array(imageCount);
order.forEach((image, k) => { place[image] = k; });
const componentStart = new Uint32Array(data.components.length + 1);
for (let c = 0; c < data.components.length; ++c) componentStart[c + 1] = componentStart[c] + data.components[c][0];

// Pairs are sorted by their images, so those of a first image are consecutive.
const rowStart = new Uint32Array(imageCount + 1);
for (let p = 0; p < pairCount; ++p) rowStart[pairs.first[p] + 1] += 1;
for (let i = 0; i < imageCount; ++i) rowStart[i + 1] += rowStart[i];

// The pair of two images, or null.
function pairAt(a, b) {
  const first = Math.min(a, b), second = Math.max(a, b);
  let low = rowStart[first], high = rowStart[first + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pairs.second[middle] < second) low = middle + 1;
    else high = middle;
  }
  return low < rowStart[first + 1] && pairs.second[low] === second ? low : null;
}

// For each image the pairs that connect it.
const aroundStart = new Uint32Array(imageCount + 1);
for (let p = 0; p < pairCount; ++p) {
  if (!connects(p)) continue;
  aroundStart[pairs.first[p] + 1] += 1;
  aroundStart[pairs.second[p] + 1] += 1;
}
for (let i = 0; i < imageCount; ++i) aroundStart[i + 1] += aroundStart[i];
const around = new Uint32Array(aroundStart[imageCount]);
const filledTo = aroundStart.slice();
for (let p = 0; p < pairCount; ++p) {
  if (!connects(p)) continue;
  around[filledTo[pairs.first[p]]++] = p;
  around[filledTo[pairs.second[p]]++] = p;
}
const degree = (i) => aroundStart[i + 1] - aroundStart[i];

let mostInliers = 1, geometries = 0, connecting = 0;
for (let p = 0; p < pairCount; ++p) {
  if (!hasGeometry(p)) continue;
  mostInliers = Math.max(mostInliers, pairs.inliers[p]);
  geometries += 1;
  if (connects(p)) connecting += 1;
}
// The strength of a pair, 0 to 1, by the logarithm of its inliers: 30 inliers relate to 300 as 300
// to 3,000.
const strength = (inliers) => Math.log(Math.max(1, inliers / 10)) / Math.log(Math.max(2, mostInliers / 10));

// Weakest first, so that the most important pairs are drawn last.
const byStrength = Uint32Array.from({length: pairCount}, (_, p) => p)
    .sort((a, b) => Number(hasGeometry(a)) - Number(hasGeometry(b)) || pairs.inliers[a] - pairs.inliers[b]);

// ---- What is chosen -------------------------------------------------------------------------

// cell: row and column of the matrix; image: of the graph; focus: {label, set} of the images that
// the table is limited to, or null.
const picked = {cell: null, image: null, focus: null};
const focusNumbers = new WeakMap();
let focuses = 0;
// A number that identifies a focus.
function focusNumber() {
  if (!picked.focus) return 0;
  if (!focusNumbers.has(picked.focus)) focusNumbers.set(picked.focus, ++focuses);
  return focusNumbers.get(picked.focus);
}
const pairOfCell = (cell) => cell && cell[0] !== cell[1] ? pairAt(order[cell[0]], order[cell[1]]) : null;

const degrees = (a) => (a < 9.95 ? a.toFixed(1) : Math.round(a)) + '\u00b0';

// A pair in words.
function pairText(p) {
  if (!hasGeometry(p)) {
    return plural(pairs.matches[p], 'match', 'matches') + ', ' +
        (pairs.kind[p] === kUnverified ? 'not verified' : 'no geometry');
  }
  return whole(pairs.inliers[p]) + ' inliers of ' + plural(pairs.matches[p], 'match', 'matches') + ', ' + kindText(pairs.kind[p]) +
      (pairs.distance[p] >= 0 ? ', median distance ' + pixels(pairs.distance[p]) : '') +
      (pairs.angle[p] >= 0 ? ', angle ' + degrees(pairs.angle[p]) : '');
}
