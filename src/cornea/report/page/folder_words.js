// Words and numbers of the folder page, and its start. Every name is inserted as text.

// Describes what is under the pointer or selected.
function say() {
  const cell = matrix.hover || picked.cell, image = graph.hover !== null ? graph.hover : picked.image;
  const said = at('said'), thumbs = at('picked-thumbs'), p = pairOfCell(cell);
  const shows = [];
  said.textContent = '';
  if (graph.hover !== null || (image !== null && !matrix.hover)) {
    shows.push(image);
    said.append(make('b', images.names[image]), ': ' + plural(images.features[image], 'feature', 'features') + ', ' +
        (isAlone(image) ? 'shares no geometry with any other image' : 'connected to ' + plural(degree(image), 'image', 'images')) +
        (images.problems[image] ? '; the photograph ' + images.problems[image] : ''));
  } else if (cell && cell[0] === cell[1]) {
    shows.push(order[cell[0]]);
    said.append(make('b', images.names[order[cell[0]]]), ', with itself');
  } else if (cell) {
    shows.push(order[cell[0]], order[cell[1]]);
    said.append(make('b', images.names[order[cell[0]]]), ' and ', make('b', images.names[order[cell[1]]]), ': ' +
        (p === null ? (data.pairs.further ? 'not listed' : 'not tried') : pairText(p)));
  } else {
    said.textContent = 'Choose a cell of the matrix, an image of the graph or a row of the table to see it here.';
  }
  const key = shows.join();
  if (thumbs.dataset.key !== key) {
    thumbs.dataset.key = key;
    thumbs.replaceChildren(...shows.map((i) => thumbnailElement(i, 64)));
  }
  const chosen = pairOfCell(picked.cell);
  at('picked-open').hidden = chosen === null || Boolean(matrix.hover && p !== chosen);
  at('picked-list').hidden = picked.image === null;
}
at('picked-open').addEventListener('click', () => openPair(pairOfCell(picked.cell)));
at('picked-list').addEventListener('click', () => listPairsOf(picked.image));

function writeSentence() {
  const groups = data.components.filter((c) => c[0] > 1), joined = groups.reduce((sum, c) => sum + c[0], 0);
  const tried = pairCount + data.pairs.further;
  at('sentence').textContent = !imageCount ? 'There are no images.'
    : (!groups.length ? 'None of the ' + plural(imageCount, 'image', 'images') + ' shares a geometry with another'
      : groups.length === 1 && joined === imageCount ? 'All ' + plural(imageCount, 'image', 'images') + ' are connected'
        : whole(joined) + ' of ' + plural(imageCount, 'image', 'images') + ' are connected, in ' + plural(groups.length, 'group', 'groups')) +
      '. ' + whole(geometries + data.pairs.furtherVerified) + ' of ' + plural(tried, 'pair that was tried has', 'pairs that were tried have') + ' a geometry.';
}

function middle(values) {
  const sorted = Float64Array.from(values).sort();
  return sorted.length ? sorted[sorted.length >> 1] : 0;
}

function writeFolderFigures() {
  const groups = data.components.filter((c) => c[0] > 1).length, alone = data.components.length - groups;
  figure('Images', whole(imageCount));
  figure('Features, median', whole(middle(images.features)));
  figure('Pairs with a geometry', whole(geometries + data.pairs.furtherVerified), ' of ' + whole(pairCount + data.pairs.further));
  if (geometries) figure('Inliers, median', whole(middle(withGeometry.map((p) => pairs.inliers[p]))));
  const distances = withGeometry.map((p) => pairs.distance[p]).filter((d) => d >= 0);
  if (distances.length) figure('Distance, median', pixels(middle(distances)));
  figure('Groups', whole(groups), alone ? ' and ' + plural(alone, 'image', 'images') + ' alone' : '');
  if (data.stages.length) figure('Time', milliseconds(totalTime()));
}

function writeWarnings() {
  for (const warning of data.warnings) {
    const item = make('li', undefined, warning.serious ? 'serious' : '');
    item.append(make('span', warning.sentence));
    if (warning.images.length) {
      const button = make('button', 'Show', 'quiet');
      button.type = 'button';
      button.setAttribute('aria-label', 'Show: ' + warning.sentence);
      button.addEventListener('click', () => {
        focusOn({label: 'Only pairs of ' + plural(warning.images.length, 'image', 'images'), set: new Set(warning.images)}, false);
        at('matrix-name').scrollIntoView({block: 'start'});
      });
      item.append(button);
    }
    at('warnings').append(item);
  }
  at('warnings').hidden = !data.warnings.length;
}

// An even sample of the images of a component.
function sampleOf(members, most) {
  const count = Math.min(most, members.length);
  return Array.from({length: count}, (_, k) => members[Math.floor(k * members.length / count)]);
}

function writeGroups() {
  const kMostGroups = 12, kMostAlone = 48, kThumb = 72, list = at('groups');
  // As many as fit beside or, on a narrow screen, below the words.
  const room = list.clientWidth - (window.innerWidth < 760 ? 24 : 240), most = Math.max(3, Math.min(24, Math.floor(room / (kThumb + 8))));
  const groups = data.components.filter((c) => c[0] > 1).length;
  for (let c = 0; c < Math.min(groups, kMostGroups); ++c) {
    const members = Array.from(order.subarray(componentStart[c], componentStart[c + 1]));
    const button = make('button', undefined, 'group'), strip = make('span', undefined, 'strip');
    button.type = 'button';
    strip.setAttribute('aria-hidden', 'true');
    for (const i of sampleOf(members, most)) strip.append(thumbnailElement(i, kThumb));
    const words = make('span', undefined, 'group-words');
    words.append(make('b', plural(members.length, 'image', 'images')), make('span', plural(data.components[c][1], 'pair', 'pairs'), 'muted'));
    button.append(words, strip);
    button.addEventListener('click', () => {
      focusOn({label: 'Only group ' + (c + 1), set: new Set(members), every: true}, true);
      at('matrix-name').scrollIntoView({block: 'start'});
    });
    list.append(button);
  }
  if (groups > kMostGroups) list.append(make('p', 'and ' + plural(groups - kMostGroups, 'smaller group', 'smaller groups'), 'muted'));
  const alone = Array.from(order.subarray(componentStart[groups], imageCount));
  if (!alone.length) return;
  const box = make('div', undefined, 'group alone'), words = make('span', undefined, 'group-words'), strip = make('ul', undefined, 'strip');
  words.append(make('b', plural(alone.length, 'image', 'images')), make('span', 'not connected', 'muted'));
  for (const i of alone.slice(0, kMostAlone)) {
    const item = make('li'), name = make('span', baseName(images.names[i]), 'thumb-name');
    name.title = images.names[i];
    item.append(thumbnailElement(i, kThumb), name);
    strip.append(item);
  }
  if (alone.length > kMostAlone) strip.append(make('li', 'and ' + whole(alone.length - kMostAlone) + ' more', 'muted'));
  box.append(words, strip);
  list.prepend(box);
}

function writeKinds() {
  const counts = new Map();
  for (let p = 0; p < pairCount; ++p) counts.set(kindOfPair(p), (counts.get(kindOfPair(p)) || 0) + 1);
  const option = (value, text) => { const element = make('option', text); element.value = value; at('kind').append(element); };
  option('all', 'all');
  option('geometry', 'with a geometry');
  for (const kind of [...counts.keys()].sort()) option(String(kind), kindText(kind) + ' (' + whole(counts.get(kind)) + ')');
}

function writeFolderWords() {
  at('title').textContent = data.title;
  writeSentence();
  writeWarnings();
  writeFolderFigures();
  writeGroups();
  writeKinds();
  writeFiles();
  at('times-card').hidden = !data.stages.length;
  if (data.stages.length) writeStages();
  else at('made-card').classList.add('alone');
  writeHowItWasMade();
  at('next-box').hidden = !data.next;
  at('next').textContent = data.next;
  copies(at('copy-next'), data.next);
  at('table-further').hidden = !data.pairs.further;
  at('table-further').textContent = plural(data.pairs.further, 'further pair was tried and is', 'further pairs were tried and are') + ' not listed.';
  const left = connecting - drawnEdges.length;
  at('graph-text').textContent = (imageCount > 1 ? 'Each line is a pair with a geometry; the stronger the line, the more inliers.' : '') +
      (left > 0 ? ' The strongest ' + whole(drawnEdges.length) + ' of ' + whole(connecting) + ' are drawn.' : '');
}

// ---- Begin ----------------------------------------------------------------------------------

let waiting = false, theme = null, printing = false;
// Reads the colours again after the page's style has changed.
function takeColours() {
  theme = isDark();
  colours = palette();
  matrix.state = matrix.drawn = graph.state = graph.drawn = '';
  writeLegend();
}
function draw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    if (theme !== isDark() && !printing) takeColours();
    drawMatrix();
    drawGraph();
    drawPair();
  });
}

// Paper is white: redraws before and after printing.
function printed(now) {
  printing = now;
  takeColours();
  drawMatrix();
  drawGraph();
}
window.matchMedia('print').addEventListener('change', (event) => printed(event.matches));

function fitToWindow() {
  matrix.glide.layout();
  graph.glide.layout();
  for (const chart of charts) chart.draw();
  table.draw();
  draw();
}

// Runs after the parts that are in the page itself.
document.addEventListener('DOMContentLoaded', () => {
  takeColours();
  writeFolderWords();
  table.sort();
  say();
  fitToWindow();
  let width = window.innerWidth;
  window.addEventListener('resize', () => { if (window.innerWidth !== width || window.innerWidth >= 760) { width = window.innerWidth; fitToWindow(); } });
  new ResizeObserver(() => { if (matrix.canvas.parentElement.clientWidth !== matrix.glide.w) fitToWindow(); }).observe(matrix.canvas.parentElement);
  requestAnimationFrame(() => requestAnimationFrame((now) => { root.dataset.ready = 'yes'; root.dataset.readyAt = now; }));
});

// For tests and for the browser's console.
window.corneaFolder = {images: images, pairs: pairs, picked: picked, matrix: matrix, graph: graph, table: table, order: order, filter: filter,
  pairAt: pairAt, pairOfCell: pairOfCell, openPair: openPair, pairView: pairView};
