// Draws two photographs and what was found between them. Data come from the element #data; numbers of
// matches as Float32Array, eight to a match. Everything that is a name goes into the page as text.
(function () {
  'use strict';

  const data = JSON.parse(document.getElementById('data').textContent);
  const at = (id) => document.getElementById(id);
  const whole = (n) => Math.round(n).toLocaleString('en-US');
  const pixels = (d) => (d < 10 ? d.toFixed(2) : d < 100 ? d.toFixed(1) : whole(d)) + ' px';
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

  // ---- What was found -------------------------------------------------------------------------

  const numbers = floats(data.matches);
  const matches = [];
  for (let i = 0; i + 8 <= numbers.length; i += 8) {
    matches.push({
      points: [{x: numbers[i], y: numbers[i + 1]}, {x: numbers[i + 2], y: numbers[i + 3]}],
      ratio: numbers[i + 4], distance: numbers[i + 5], inlier: numbers[i + 6] > 0, index: numbers[i + 7],
    });
  }
  const others = data.photographs.map((photograph) => floats(photograph.others));
  const hasDistances = matches.length > 0 && data.F !== null;
  const planar = data.kind === 'planar';
  const inlierDistances = matches.filter((m) => m.inlier).map((m) => m.distance).sort((a, b) => a - b);
  // The axis of the histogram and of the slider; what lies beyond shares one bar.
  const axis = data.threshold > 0 ? 4 * data.threshold
      : roundUp(2 * (inlierDistances[inlierDistances.length - 1] || 0));

  // ---- What is drawn --------------------------------------------------------------------------

  const shown = {inliers: true, outliers: true, others: false, links: true, cut: Infinity};
  const view = {zoom: 1, centre: [{x: 0.5, y: 0.5}, {x: 0.5, y: 0.5}]};
  let chosen = null;   // by a click or a key
  let pointed = null;  // under the pointer
  const kMostZoom = 40, kMostLinks = 80;

  const panels = [0, 1].map((i) => ({
    canvas: at('panel-' + i), photo: at('photo-' + i),
    width: data.photographs[i].width, height: data.photographs[i].height, w: 1, h: 1, fit: 1,
  }));
  const viewer = at('viewer'), links = at('links');

  const isShown = (m) => (m.inlier ? shown.inliers : shown.outliers) &&
      !(hasDistances && m.distance > shown.cut);

  // Pixels of a photograph have their centres at whole numbers; its preview may be smaller.
  function toScreen(panel, p) {
    const scale = panels[panel].fit * view.zoom, c = view.centre[panel];
    return {x: panels[panel].w / 2 + (p.x + 0.5 - c.x * panels[panel].width) * scale,
      y: panels[panel].h / 2 + (p.y + 0.5 - c.y * panels[panel].height) * scale};
  }
  // As a share of the photograph's width and height.
  function toShare(panel, x, y) {
    const scale = panels[panel].fit * view.zoom, c = view.centre[panel];
    return {x: c.x + (x - panels[panel].w / 2) / scale / panels[panel].width,
      y: c.y + (y - panels[panel].h / 2) / scale / panels[panel].height};
  }

  const kInlier = '#4fb0ff', kOutlier = '#ff9a1f', kOther = '#ffffff', kDark = 'rgba(0,0,0,0.6)';

  // A mark is drawn once and then copied: a dark line under a bright one, told apart by its shape.
  function makeSprite(kind, size, density) {
    const sprite = document.createElement('canvas');
    const side = Math.ceil((2 * size + 6) * density);
    sprite.width = sprite.height = side;
    const c = sprite.getContext('2d');
    c.scale(density, density);
    const middle = side / density / 2;
    const bright = Math.min(1.8, Math.max(1, 0.5 * size));
    for (const [colour, width] of [[kDark, bright + Math.min(1.8, 0.45 * size)], [kind === 'inlier' ? kInlier : kOutlier, bright]]) {
      c.beginPath();
      c.strokeStyle = colour;
      c.lineWidth = width;
      c.lineCap = 'round';
      if (kind === 'inlier') {
        c.arc(middle, middle, size, 0, 2 * Math.PI);
      } else {
        const arm = size * 0.85;
        c.moveTo(middle - arm, middle - arm);
        c.lineTo(middle + arm, middle + arm);
        c.moveTo(middle + arm, middle - arm);
        c.lineTo(middle - arm, middle + arm);
      }
      c.stroke();
    }
    return sprite;
  }

  const sprites = new Map();
  function sprite(kind, size, density) {
    const key = kind + size + '@' + density;
    if (!sprites.has(key)) sprites.set(key, makeSprite(kind, size, density));
    return sprites.get(key);
  }

  // Marks leave most of the picture to be seen: smaller where there are many, larger where the view is
  // close.
  function markSize() {
    const room = Math.sqrt(panels[0].w * panels[0].h / Math.max(1, matches.length)) * view.zoom;
    return Math.round(4 * Math.min(5, Math.max(1.5, 0.19 * room))) / 4;
  }

  function drawPanel(i) {
    const panel = panels[i], density = panel.density;
    const c = panel.canvas.getContext('2d');
    c.setTransform(density, 0, 0, density, 0, 0);
    c.clearRect(0, 0, panel.w, panel.h);
    const scale = panel.fit * view.zoom;
    const corner = toScreen(i, {x: -0.5, y: -0.5});
    c.imageSmoothingEnabled = scale * panel.width < 4 * panel.photo.naturalWidth;
    c.drawImage(panel.photo, corner.x, corner.y, panel.width * scale, panel.height * scale);
    const lit = pointed || chosen;
    const near = (p) => p.x > -9 && p.y > -9 && p.x < panel.w + 9 && p.y < panel.h + 9;

    if (shown.others) {
      c.globalAlpha = lit ? 0.3 : 0.8;
      for (let k = 0; k + 1 < others[i].length; k += 2) {
        const p = toScreen(i, {x: others[i][k], y: others[i][k + 1]});
        if (!near(p)) continue;
        c.fillStyle = kDark;
        c.fillRect(p.x - 2, p.y - 2, 4, 4);
        c.fillStyle = kOther;
        c.fillRect(p.x - 1, p.y - 1, 2, 2);
      }
    }
    c.globalAlpha = lit ? 0.35 : 1;
    const size = markSize();
    for (const kind of ['inlier', 'outlier']) {
      const image = sprite(kind, size, density), side = image.width / density;
      for (const m of matches) {
        if (m.inlier !== (kind === 'inlier') || !isShown(m)) continue;
        const p = toScreen(i, m.points[i]);
        if (near(p)) c.drawImage(image, p.x - side / 2, p.y - side / 2, side, side);
      }
    }
    c.globalAlpha = 1;
    if (lit) drawLit(c, i, lit);
  }

  function drawLit(c, i, match) {
    const line = epipolarLine(i, match.points[1 - i]);
    const ends = line && lineInImage(line, panels[i]);
    if (ends) {
      const a = toScreen(i, ends[0]), b = toScreen(i, ends[1]);
      for (const [colour, width] of [[kDark, 4], ['#ffffff', 1.8]]) {
        c.beginPath();
        c.strokeStyle = colour;
        c.lineWidth = width;
        c.moveTo(a.x, a.y);
        c.lineTo(b.x, b.y);
        c.stroke();
      }
    }
    const target = planar && mapped(i, match.points[1 - i]);
    if (target) drawDiamond(c, toScreen(i, target));
    const p = toScreen(i, match.points[i]);
    const image = sprite(match.inlier ? 'inlier' : 'outlier', 7, panels[i].density);
    const side = image.width / panels[i].density;
    c.drawImage(image, p.x - side / 2, p.y - side / 2, side, side);
  }

  // Where a homography puts the partner.
  function drawDiamond(c, p) {
    for (const [colour, width] of [[kDark, 4], ['#ffffff', 1.8]]) {
      c.beginPath();
      c.strokeStyle = colour;
      c.lineWidth = width;
      c.moveTo(p.x, p.y - 12);
      c.lineTo(p.x + 12, p.y);
      c.lineTo(p.x, p.y + 12);
      c.lineTo(p.x - 12, p.y);
      c.closePath();
      c.stroke();
    }
  }

  // The line in image i that the point p of the other image allows: F x1, or F^T x2.
  function epipolarLine(i, p) {
    if (!data.F || planar) return null;
    const F = data.F;
    return i === 1 ? F.map((row) => row[0] * p.x + row[1] * p.y + row[2])
        : [0, 1, 2].map((k) => F[0][k] * p.x + F[1][k] * p.y + F[2][k]);
  }

  // Its two ends at the photograph's border; null where it misses the photograph.
  function lineInImage([a, b, c], panel) {
    const left = -0.5, top = -0.5, right = panel.width - 0.5, bottom = panel.height - 0.5;
    const ends = [];
    if (Math.abs(b) > 0) for (const x of [left, right]) ends.push({x: x, y: -(a * x + c) / b});
    if (Math.abs(a) > 0) for (const y of [top, bottom]) ends.push({x: -(b * y + c) / a, y: y});
    const slack = 1e-6 * (panel.width + panel.height);
    const inside = ends.filter((p) => p.x >= left - slack && p.x <= right + slack &&
        p.y >= top - slack && p.y <= bottom + slack);
    let best = null, longest = 0;
    for (const p of inside) {
      for (const q of inside) {
        const length = Math.hypot(p.x - q.x, p.y - q.y);
        if (length > longest) { longest = length; best = [p, q]; }
      }
    }
    return best;
  }

  // H x1 in the second image, its inverse's x2 in the first.
  function mapped(i, p) {
    if (!data.H) return null;
    const [[a, b, c], [d, e, f], [g, h, k]] = data.H;
    const m = i === 1 ? data.H
        : [[e * k - f * h, c * h - b * k, b * f - c * e],
          [f * g - d * k, a * k - c * g, c * d - a * f],
          [d * h - e * g, b * g - a * h, a * e - b * d]];
    const w = m[2][0] * p.x + m[2][1] * p.y + m[2][2];
    return w === 0 ? null : {x: (m[0][0] * p.x + m[0][1] * p.y + m[0][2]) / w,
      y: (m[1][0] * p.x + m[1][1] * p.y + m[1][2]) / w};
  }

  // From a match's point in one photograph to the one in the other, over the gap between them.
  function drawLinks() {
    const frame = viewer.getBoundingClientRect(), density = panels[0].density;
    resize(links, frame.width, frame.height, density);
    const c = links.getContext('2d');
    c.setTransform(density, 0, 0, density, 0, 0);
    c.clearRect(0, 0, frame.width, frame.height);
    const corners = panels.map((panel) => {
      const box = panel.canvas.getBoundingClientRect();
      return {x: box.left - frame.left, y: box.top - frame.top};
    });
    const ends = (m) => [0, 1].map((i) => {
      const p = toScreen(i, m.points[i]);
      const inside = p.x >= 0 && p.y >= 0 && p.x <= panels[i].w && p.y <= panels[i].h;
      return inside ? {x: p.x + corners[i].x, y: p.y + corners[i].y} : null;
    });
    const stroke = (m, width, alpha) => {
      const [a, b] = ends(m);
      if (!a || !b) return;
      const away = markSize() + 1, length = Math.hypot(b.x - a.x, b.y - a.y);
      if (length < 2 * away) return;
      const dx = (b.x - a.x) / length * away, dy = (b.y - a.y) / length * away;
      c.globalAlpha = alpha;
      c.strokeStyle = m.inlier ? kInlier : kOutlier;
      c.lineWidth = width;
      c.setLineDash(m.inlier ? [] : [5, 4]);
      c.beginPath();
      c.moveTo(a.x + dx, a.y + dy);
      c.lineTo(b.x - dx, b.y - dy);
      c.stroke();
    };
    const lit = pointed || chosen;
    if (shown.links) {
      const visible = matches.filter((m) => isShown(m) && ends(m).every(Boolean));
      const count = Math.min(kMostLinks, visible.length);
      for (let k = 0; k < count; ++k) {
        stroke(visible[Math.floor(k * visible.length / count)], 1, lit ? 0.08 : 0.4);
      }
    }
    if (lit) stroke(lit, 2, 1);
  }

  function resize(canvas, w, h, density) {
    const width = Math.round(w * density), height = Math.round(h * density);
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
  }

  // Both panels have one height, so that they stay in step.
  function layout() {
    const density = window.devicePixelRatio || 1;
    const stacked = window.matchMedia('(max-width: 760px)').matches;
    const w = panels[0].canvas.parentElement.clientWidth;
    const tallest = Math.max(...panels.map((p) => p.height / p.width));
    const most = Math.max(220, window.innerHeight * (stacked ? 0.6 : 0.76));
    const h = Math.max(120, Math.min(most, w * tallest));
    for (const panel of panels) {
      panel.w = w;
      panel.h = h;
      panel.density = density;
      panel.fit = Math.min(w / panel.width, h / panel.height);
      panel.canvas.style.height = h + 'px';
      resize(panel.canvas, w, h, density);
    }
  }

  let waiting = false;
  function draw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      drawPanel(0);
      drawPanel(1);
      drawLinks();
      at('zoom-value').textContent = (view.zoom < 9.95 ? +view.zoom.toFixed(1) : Math.round(view.zoom)) + '\u00d7';
      viewer.classList.toggle('zoomed', view.zoom > 1);
    });
  }

  // ---- Zoom and pan, in step ------------------------------------------------------------------

  function clampView() {
    view.zoom = Math.min(kMostZoom, Math.max(1, view.zoom));
    panels.forEach((panel, i) => {
      const scale = panel.fit * view.zoom, c = view.centre[i];
      const halfX = Math.min(0.5, panel.w / 2 / scale / panel.width);
      const halfY = Math.min(0.5, panel.h / 2 / scale / panel.height);
      c.x = Math.min(1 - halfX, Math.max(halfX, c.x));
      c.y = Math.min(1 - halfY, Math.max(halfY, c.y));
    });
  }

  // Keeps what lies at (x, y) of a panel where it is. The other panel does the same at the same place,
  // or at the partner of a match that was chosen.
  function zoomAt(i, x, y, factor) {
    const before = view.zoom, j = 1 - i;
    const anchor = toShare(i, x, y);
    let other = toShare(j, panels[j].w * x / panels[i].w, panels[j].h * y / panels[i].h);
    view.zoom = Math.min(kMostZoom, Math.max(1, before * factor));
    const keep = before / view.zoom;
    if (chosen) {
      other = {x: (chosen.points[j].x + 0.5) / panels[j].width, y: (chosen.points[j].y + 0.5) / panels[j].height};
    }
    [[i, anchor], [j, other]].forEach(([k, fixed]) => {
      view.centre[k].x = fixed.x - (fixed.x - view.centre[k].x) * keep;
      view.centre[k].y = fixed.y - (fixed.y - view.centre[k].y) * keep;
    });
    clampView();
    draw();
  }

  function pan(i, dx, dy) {
    const scale = panels[i].fit * view.zoom;
    for (const k of [0, 1]) {
      view.centre[k].x -= dx / scale / panels[i].width;
      view.centre[k].y -= dy / scale / panels[i].height;
    }
    clampView();
    draw();
  }

  function reset() {
    view.zoom = 1;
    clampView();
    draw();
  }

  // ---- Pointing and choosing ------------------------------------------------------------------

  function nearest(i, x, y, reach) {
    let best = null, least = reach;
    for (const m of matches) {
      if (!isShown(m)) continue;
      const p = toScreen(i, m.points[i]);
      const d = Math.hypot(p.x - x, p.y - y);
      if (d < least) { least = d; best = m; }
    }
    return best;
  }

  function describe(m) {
    const place = (p) => '(' + p.x.toFixed(1) + ', ' + p.y.toFixed(1) + ')';
    const line = at('selection');
    line.textContent = '';
    if (!m) {
      const few = matches.length < data.matchCount
          ? ' ' + whole(matches.length) + ' of ' + whole(data.matchCount) + ' matches are drawn, evenly chosen.' : '';
      line.textContent = (matches.length ? (planar
          ? 'Point at a match, or tap it: its partner lights up, and a diamond where the plane puts it.'
          : data.F ? 'Point at a match, or tap it: its partner lights up, with the epipolar line of each in the other.'
            : 'Point at a match, or tap it: its partner lights up.')
        : 'There is no match to point at.') + few;
      return;
    }
    line.append(make('b', m.inlier ? 'Inlier' : 'Outlier'),
        '  ' + place(m.points[0]) + ' \u2194 ' + place(m.points[1]) +
        (hasDistances ? ', ' + pixels(m.distance) + (planar ? ' from where the plane puts it' : ' from the epipolar lines') : '') +
        ', ratio ' + m.ratio.toFixed(2));
  }

  function light(next, byClick) {
    if (byClick) chosen = next;
    pointed = byClick ? null : next;
    describe(pointed || chosen);
    viewer.classList.toggle('pointing', Boolean(pointed));
    draw();
  }

  // The next shown match, and a view that has it in both panels.
  function step(direction) {
    const list = matches.filter(isShown);
    if (!list.length) return;
    const from = list.indexOf(chosen);
    const next = list[(from + direction + list.length + (from < 0 && direction < 0 ? 1 : 0)) % list.length];
    if (view.zoom > 1) {
      [0, 1].forEach((i) => {
        view.centre[i] = {x: next.points[i].x / panels[i].width, y: next.points[i].y / panels[i].height};
      });
      clampView();
    }
    light(next, true);
  }

  panels.forEach((panel, i) => {
    const canvas = panel.canvas;
    const fingers = new Map();
    let moved = 0, spread = 0;
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return {x: event.clientX - box.left, y: event.clientY - box.top};
    };
    const gap = () => {
      const [a, b] = [...fingers.values()];
      return {length: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2};
    };
    canvas.addEventListener('wheel', (event) => {
      // Where there is nothing to zoom out of, the page scrolls.
      if (view.zoom === 1 && event.deltaY > 0) return;
      event.preventDefault();
      const p = place(event), lines = event.deltaMode === 1 ? 16 : 1;
      zoomAt(i, p.x, p.y, Math.exp(-Math.max(-240, Math.min(240, event.deltaY * lines)) * 0.0022));
    }, {passive: false});
    canvas.addEventListener('pointerdown', (event) => {
      fingers.set(event.pointerId, place(event));
      moved = 0;
      if (fingers.size === 2) spread = gap().length;
      if (event.pointerType === 'mouse' || view.zoom > 1 || fingers.size === 2) canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      const p = place(event), last = fingers.get(event.pointerId);
      if (!last) {
        if (event.pointerType === 'mouse') light(nearest(i, p.x, p.y, 14), false);
        return;
      }
      moved += Math.hypot(p.x - last.x, p.y - last.y);
      const before = fingers.size === 2 ? gap() : null;
      fingers.set(event.pointerId, p);
      if (before) {
        const now = gap();
        if (spread > 0 && before.length > 0) zoomAt(i, now.x, now.y, now.length / before.length);
        pan(i, now.x - before.x, now.y - before.y);
      } else if (moved > 4 && view.zoom > 1) {
        viewer.classList.add('dragging');
        pan(i, p.x - last.x, p.y - last.y);
      }
    });
    const release = (event) => {
      const held = fingers.delete(event.pointerId);
      viewer.classList.remove('dragging');
      if (!held || event.type === 'pointercancel' || fingers.size) return;
      const p = place(event);
      if (moved <= 4) light(nearest(i, p.x, p.y, event.pointerType === 'mouse' ? 14 : 24), true);
    };
    canvas.addEventListener('pointerup', release);
    canvas.addEventListener('pointercancel', release);
    canvas.addEventListener('pointerleave', () => { if (pointed) light(null, false); });
    canvas.addEventListener('dblclick', (event) => { event.preventDefault(); reset(); });
    canvas.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const middle = [panel.w / 2, panel.h / 2], far = 60;
      const keys = {
        '+': () => zoomAt(i, ...middle, 1.4), '=': () => zoomAt(i, ...middle, 1.4), '-': () => zoomAt(i, ...middle, 1 / 1.4),
        '0': reset, n: () => step(1), p: () => step(-1), Escape: () => light(null, true),
        ArrowLeft: () => pan(i, far, 0), ArrowRight: () => pan(i, -far, 0),
        ArrowUp: () => pan(i, 0, far), ArrowDown: () => pan(i, 0, -far),
      };
      const arrow = event.key.startsWith('Arrow');
      if (!keys[event.key] || (arrow && view.zoom === 1)) return;
      event.preventDefault();
      keys[event.key]();
    });
  });

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
  at('zoom-in').addEventListener('click', () => zoomAt(0, panels[0].w / 2, panels[0].h / 2, 1.5));
  at('zoom-out').addEventListener('click', () => zoomAt(0, panels[0].w / 2, panels[0].h / 2, 1 / 1.5));
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
    root.dataset.ready = 'yes';
  });

  // For tests and the curious.
  window.corneaPage = {matches: matches, view: view, toScreen: toScreen, epipolarLine: epipolarLine};
})();
