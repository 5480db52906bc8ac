// A histogram with a selectable range: a click selects one bar, dragging selects several, arrow
// keys go from bar to bar.
//
//   box, name      the element, which takes keys; what it is a histogram of. The selection in words and
//                  the button that clears it follow the box, as ID-text and ID-clear
//   bins           [{in, out}], stacked; the last bin holds everything beyond the axis
//   axis, unit     its end, and the unit after its first number
//   label          of the picture; counted(n): "3 matches"
//   limit          {value, name} of a vertical line, or null
//   isFaded(k)     whether a bar is not selected
//   chosen()       first and last selected bar, or null; choose(a, b) selects, choose(null) clears
//   isCut()        whether something other than bars is selected that the clear button resets
//   said(a, b), hint  the contents of the bars a to b in words; what the user can do

function makeBars(o) {
  const kBins = o.bins.length - 1;
  const kHigh = 240, kTop = 24, kBottom = kHigh - 24, kBeyond = 40, kGap = 14;
  const bars = {};
  o.box.tabIndex = 0;
  o.box.setAttribute('role', 'group');
  o.box.setAttribute('aria-label', o.name + ': left and right arrows choose a bar, with Shift a range, Escape all');
  const text = make('span'), clear = make('button', 'Show all', 'quiet gone'), line = make('p', undefined, 'range');
  text.id = o.box.id + '-text';
  text.setAttribute('aria-live', 'polite');
  clear.id = o.box.id + '-clear';
  clear.type = 'button';
  line.append(text, clear);
  o.box.after(line);
  let plot = 1;        // width of the axis on the screen
  let under = null;    // the bar under the pointer
  let anchor = null;   // the bar where a drag or a keyboard selection began

  const binLeft = (k) => k === kBins ? plot + kGap : plot * k / kBins;
  const binWidth = (k) => k === kBins ? kBeyond : plot / kBins;
  const binAt = (x) => x >= plot + kGap / 2 ? kBins : Math.max(0, Math.min(kBins - 1, Math.floor(x / plot * kBins)));

  // Redrawn when the width changes; otherwise only its classes change (see show).
  bars.draw = () => {
    o.box.textContent = '';
    const width = Math.max(200, o.box.clientWidth);
    plot = width - kBeyond - kGap;
    const picture = svg('svg', {viewBox: '0 0 ' + width + ' ' + kHigh, role: 'img', 'aria-label': o.label});
    // The bar of values beyond the axis does not scale the others down: it is truncated if it is
    // taller.
    const tallest = Math.max(1, ...o.bins.slice(0, kBins).map((b) => b.in + b.out));
    const beyond = o.bins[kBins].in + o.bins[kBins].out, cut = beyond > tallest;
    const rise = (count) => (kBottom - kTop) * Math.min(1, count / tallest);
    picture.append(svg('line', {class: 'grid', x1: 0, x2: plot, y1: kTop + 0.5, y2: kTop + 0.5}),
        svg('text', {x: 0, y: kTop - 6}, o.counted(tallest)));
    o.bins.forEach((bin, k) => {
      const x = binLeft(k), w = binWidth(k) - (k === kBins ? 0 : 1);
      const tall = bin.in ? Math.max(rise(bin.in), 1) : 0, more = bin.out ? Math.max(Math.min(rise(bin.out), kBottom - kTop - tall), 1) : 0;
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
          (+(o.axis * k / 4).toFixed(2)).toLocaleString('en-US') + (k ? '' : o.unit)));
    }
    picture.append(svg('text', {x: width, y: kHigh - 6, 'text-anchor': 'end'}, '> ' + (+o.axis.toFixed(2)).toLocaleString('en-US')));
    if (beyond) {
      picture.append(svg('text', {x: width, y: kBottom - rise(beyond) - 6, 'text-anchor': 'end'}, whole(beyond)));
    }
    if (cut) {
      const [left, right, y] = [plot + kGap - 2, width + 2, kTop + 12];
      picture.append(svg('path', {class: 'break', d: `M${left} ${y + 5}L${right} ${y - 1}v6L${left} ${y + 11}z`}));
    }
    if (o.limit) {
      const x = plot * o.limit.value / o.axis;
      picture.append(svg('line', {class: 'limit', x1: x, x2: x, y1: kTop - 8, y2: kBottom}),
          svg('text', {class: 'limit-name', x: x + 6, y: kTop - 6}, o.limit.name));
    }
    o.box.append(picture);
    bars.show();
  };

  // Updates the selected range and the bar under the pointer, in the picture and in words.
  bars.show = () => {
    o.box.querySelectorAll('.bin').forEach((bin, k) => {
      bin.classList.toggle('faded', o.isFaded(k));
      bin.classList.toggle('under', k === under);
    });
    const range = o.chosen();
    clear.classList.toggle('gone', !range && !o.isCut());
    if (under !== null && anchor === null) {
      const words = o.said(under, under);
      text.textContent = words[0].toUpperCase() + words.slice(1) + '.';
    } else {
      text.textContent = range ? 'Chosen: ' + o.said(...range) + '.' : o.hint;
    }
  };

  const binOf = (event) => binAt(event.clientX - o.box.getBoundingClientRect().left);
  let before = null;  // the bars selected when the press began
  o.box.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    o.box.setPointerCapture(event.pointerId);
    before = o.chosen();
    anchor = under = binOf(event);
    o.choose(anchor, anchor);
  });
  o.box.addEventListener('pointermove', (event) => {
    const bin = binOf(event);
    if (bin === under) return;
    under = bin;
    if (anchor !== null) o.choose(Math.min(anchor, bin), Math.max(anchor, bin));
    else bars.show();
  });
  const release = (event) => {
    if (anchor === null) return;
    const again = before && before[0] === before[1] && before[0] === anchor && under === anchor;
    if (event.type === 'pointercancel') before ? o.choose(...before) : o.choose(null);
    else if (again) o.choose(null);  // a second click on the only selected bar clears the selection
    anchor = null;
    if (event.pointerType !== 'mouse') under = null;
    bars.show();
  };
  o.box.addEventListener('pointerup', release);
  o.box.addEventListener('pointercancel', release);
  o.box.addEventListener('pointerleave', () => { if (anchor === null) { under = null; bars.show(); } });
  o.box.addEventListener('keydown', (event) => {
    const direction = {ArrowLeft: -1, ArrowRight: 1}[event.key], range = o.chosen();
    if (event.key === 'Escape' && range) o.choose(null);
    else if (!direction) return;
    else if (!range) o.choose(0, 0);
    else {
      const [a, b] = range, moved = Math.max(0, Math.min(kBins, (direction > 0 ? b : a) + direction));
      if (event.shiftKey) o.choose(Math.min(a, moved), Math.max(b, moved));
      else o.choose(moved, moved);
    }
    event.preventDefault();
  });
  clear.addEventListener('click', () => o.choose(null));
  return bars;
}
