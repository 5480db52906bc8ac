// The histogram of distances. A click chooses a bar, a drag a range of them; what is not chosen is not
// shown on the photographs and in the table.

function svg(tag, attributes, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const key of Object.keys(attributes)) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return element;
}

const bins = Array.from({length: kBins + 1}, () => ({in: 0, out: 0}));  // the last: beyond the axis
if (hasDistances) for (const m of matches) bins[m.bin][m.inlier ? 'in' : 'out'] += 1;

const kHigh = 240, kTop = 24, kBottom = kHigh - 24, kBeyond = 40, kGap = 14;
const histogram = at('histogram');
let plot = 1;        // width of the axis on the screen
let under = null;    // the bar under the pointer
let anchor = null;   // the bar where a drag or a range of keys began

const binLeft = (k) => k === kBins ? plot + kGap : plot * k / kBins;
const binWidth = (k) => k === kBins ? kBeyond : plot / kBins;
const binAt = (x) => x >= plot + kGap / 2 ? kBins : Math.max(0, Math.min(kBins - 1, Math.floor(x / plot * kBins)));
const isFaded = (k) => shown.bins ? k < shown.bins[0] || k > shown.bins[1]
    : shown.cut < (k === kBins ? axis : axis * (k + 0.5) / kBins);

// Drawn anew where the width changes; otherwise only its classes change (see showRange).
function drawHistogram() {
  histogram.textContent = '';
  if (!hasDistances) return;
  const width = Math.max(200, histogram.clientWidth);
  plot = width - kBeyond - kGap;
  const picture = svg('svg', {viewBox: '0 0 ' + width + ' ' + kHigh, role: 'img',
    'aria-label': 'Histogram of distances: ' + plural(data.inlierCount, 'inlier', 'inliers') + ', ' +
        plural(data.matchCount - data.inlierCount, 'outlier', 'outliers')});
  // The bar of all that lies beyond does not make the others small: it is cut where it is taller.
  const tallest = Math.max(1, ...bins.slice(0, kBins).map((b) => b.in + b.out));
  const beyond = bins[kBins].in + bins[kBins].out, cut = beyond > tallest;
  const rise = (count) => (kBottom - kTop) * Math.min(1, count / tallest);
  picture.append(svg('line', {class: 'grid', x1: 0, x2: plot, y1: kTop + 0.5, y2: kTop + 0.5}),
      svg('text', {x: 0, y: kTop - 6}, plural(tallest, 'match', 'matches')));
  bins.forEach((bin, k) => {
    const x = binLeft(k), w = binWidth(k) - (k === kBins ? 0 : 1);
    const tall = rise(bin.in), more = bin.out ? Math.max(Math.min(rise(bin.out), kBottom - kTop - tall), 1) : 0;
    const group = svg('g', {class: 'bin'});
    group.append(svg('rect', {class: 'hover', x: x, width: w, y: kTop, height: kBottom - kTop}));
    if (bin.in) group.append(svg('rect', {class: 'in', x: x, width: w, y: kBottom - tall, height: tall}));
    if (bin.out) group.append(svg('rect', {class: 'out', x: x, width: w, y: kBottom - tall - more, height: more}));
    picture.append(group);
  });
  picture.append(svg('line', {class: 'axis', x1: 0, x2: plot, y1: kBottom + 0.5, y2: kBottom + 0.5}),
      svg('line', {class: 'axis', x1: plot + kGap, x2: width, y1: kBottom + 0.5, y2: kBottom + 0.5}));
  for (let k = 0; k < 4; ++k) {
    picture.append(svg('text', {x: plot * k / 4, y: kHigh - 6, 'text-anchor': k ? 'middle' : 'start'},
        +(axis * k / 4).toFixed(2) + (k ? '' : ' px')));
  }
  picture.append(svg('text', {x: width, y: kHigh - 6, 'text-anchor': 'end'}, '> ' + +axis.toFixed(2)));
  if (beyond) {
    picture.append(svg('text', {x: width, y: kBottom - rise(beyond) - 6, 'text-anchor': 'end'}, whole(beyond)));
  }
  if (cut) {
    const [left, right, y] = [plot + kGap - 2, width + 2, kTop + 12];
    picture.append(svg('path', {class: 'break', d: `M${left} ${y + 5}L${right} ${y - 1}v6L${left} ${y + 11}z`}));
  }
  if (data.threshold > 0) {
    const x = plot * data.threshold / axis;
    picture.append(svg('line', {class: 'limit', x1: x, x2: x, y1: kTop - 8, y2: kBottom}),
        svg('text', {class: 'limit-name', x: x + 6, y: kTop - 6}, 'threshold ' + +data.threshold.toFixed(2) + ' px'));
  }
  histogram.append(picture);
  showRange();
}

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

// The chosen range and the bar under the pointer, in the picture and in words.
function showRange() {
  histogram.querySelectorAll('.bin').forEach((bin, k) => {
    bin.classList.toggle('faded', isFaded(k));
    bin.classList.toggle('under', k === under);
  });
  at('range-clear').classList.toggle('gone', !shown.bins && shown.cut === Infinity);
  const said = at('range-text');
  if (!hasDistances) return;
  if (under !== null && anchor === null) {
    const text = rangeText(under, under);
    said.textContent = text[0].toUpperCase() + text.slice(1) + ': ' + countText(under, under) + '.';
  } else if (shown.bins) {
    said.textContent = 'Chosen: ' + rangeText(...shown.bins) + ', ' + countText(...shown.bins) + '.';
  } else {
    said.textContent = 'Click a bar or drag over several to choose these matches.';
  }
}

// Chooses the bars from a to b; null: all of them.
function chooseBins(a, b) {
  shown.bins = a === null ? null : [Math.min(a, b), Math.max(a, b)];
  shown.cut = Infinity;
  slider.value = !shown.bins || shown.bins[1] === kBins ? 1000 : Math.round(1000 * (shown.bins[1] + 1) / kBins);
  filterChanged();
}

if (hasDistances) {
  const binOf = (event) => binAt(event.clientX - histogram.getBoundingClientRect().left);
  let before = null;  // the bars chosen when the press began
  histogram.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    histogram.setPointerCapture(event.pointerId);
    before = shown.bins;
    anchor = under = binOf(event);
    chooseBins(anchor, anchor);
  });
  histogram.addEventListener('pointermove', (event) => {
    const bin = binOf(event);
    if (bin === under) return;
    under = bin;
    if (anchor !== null) chooseBins(anchor, bin);
    else showRange();
  });
  const release = (event) => {
    if (anchor === null) return;
    const again = before && before[0] === before[1] && before[0] === anchor && under === anchor;
    if (event.type === 'pointercancel') chooseBins(before && before[0], before && before[1]);
    else if (again) chooseBins(null);  // a second click on the one chosen bar lets go of it
    anchor = null;
    if (event.pointerType !== 'mouse') under = null;
    showRange();
  };
  histogram.addEventListener('pointerup', release);
  histogram.addEventListener('pointercancel', release);
  histogram.addEventListener('pointerleave', () => { if (anchor === null) { under = null; showRange(); } });
  histogram.addEventListener('keydown', (event) => {
    const direction = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (event.key === 'Escape' && shown.bins) chooseBins(null);
    else if (!direction) return;
    else if (!shown.bins) chooseBins(0, 0);
    else {
      const [a, b] = shown.bins, moved = Math.max(0, Math.min(kBins, (direction > 0 ? b : a) + direction));
      if (event.shiftKey) chooseBins(Math.min(a, moved), Math.max(b, moved));
      else chooseBins(moved, moved);
    }
    event.preventDefault();
  });
}
