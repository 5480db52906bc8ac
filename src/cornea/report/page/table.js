// The table of matches, in the order of distance unless sorted otherwise. Only the rows in view are
// elements of the page, so that many thousands scroll like few.

const kRow = 30, kSpare = 6;  // height of a row; rows kept ready above and below
const rowsBox = at('rows'), rowsInside = at('rows-inside');
const sorting = {key: hasDistances ? 'distance' : 'ratio', up: true};
let sorted = [];  // all matches in the order of the table
let listed = [];  // those of them that are shown

const columns = [
  {key: 'index', name: 'No.', value: (m) => m.index, text: (m) => whole(m.index + 1)},
  {key: 'distance', name: 'Distance', value: (m) => m.distance, text: (m) => !hasDistances ? '\u2013' : m.distance < 10 ? m.distance.toFixed(3) + ' px' : pixels(m.distance)},
  {key: 'kind', name: 'Kind', value: (m) => (m.inlier ? 0 : 1), text: (m) => kindOf(m)},
  {key: 'first', name: 'First, x, y', value: (m) => m.points[0].x, text: (m) => m.points[0].x.toFixed(1) + ', ' + m.points[0].y.toFixed(1)},
  {key: 'second', name: 'Second, x, y', value: (m) => m.points[1].x, text: (m) => m.points[1].x.toFixed(1) + ', ' + m.points[1].y.toFixed(1)},
  {key: 'ratio', name: 'Ratio', value: (m) => m.ratio, text: (m) => m.ratio.toFixed(2)},
];

function sortRows() {
  const value = columns.find((column) => column.key === sorting.key).value, sign = sorting.up ? 1 : -1;
  // Two infinite distances are equal.
  const compare = (a, b) => { const x = value(a), y = value(b); return x === y ? 0 : x < y ? -sign : sign; };
  sorted = matches.slice().sort((a, b) => compare(a, b) || a.index - b.index);
  for (const head of document.querySelectorAll('#heads button')) {
    const own = head.dataset.key === sorting.key;
    head.parentElement.setAttribute('aria-sort', own ? (sorting.up ? 'ascending' : 'descending') : 'none');
  }
  listRows();
}

function listRows() {
  listed = sorted.filter(isShown);
  rowsInside.style.height = listed.length * kRow + 'px';
  rowsBox.parentElement.setAttribute('aria-rowcount', listed.length);
  at('table-count').textContent = !matches.length ? '' : listed.length === matches.length
    ? whole(listed.length) : whole(listed.length) + ' of ' + whole(matches.length);
  at('table-none').hidden = listed.length > 0;
  at('table-none').textContent = matches.length ? 'No match is shown: a switch or a range hides them all.'
    : 'There are no matches to list.';
  drawRows();
}

function drawRows() {
  const from = Math.max(0, Math.floor(rowsBox.scrollTop / kRow) - kSpare);
  const to = Math.min(listed.length, Math.ceil((rowsBox.scrollTop + rowsBox.clientHeight) / kRow) + kSpare);
  const rows = [];
  for (let k = from; k < to; ++k) {
    const m = listed[k], row = make('div', undefined, 'tr ' + kindOf(m) + (m === chosen ? ' chosen' : ''));
    row.setAttribute('role', 'row');
    row.setAttribute('aria-rowindex', k + 1);
    row.setAttribute('aria-selected', m === chosen);
    row.style.top = k * kRow + 'px';
    row.dataset.row = k;
    for (const column of columns) {
      const cell = make('span', column.text(m), column.key);
      cell.setAttribute('role', 'gridcell');
      row.append(cell);
    }
    rows.push(row);
  }
  rowsInside.replaceChildren(...rows);
}

// The row of the chosen match, brought into the table's view; the page itself does not move.
function showRow() {
  const k = chosen ? listed.indexOf(chosen) : -1;
  if (k >= 0) {
    const top = k * kRow, bottom = top + kRow - rowsBox.clientHeight;
    if (rowsBox.scrollTop > top) rowsBox.scrollTop = top;
    if (rowsBox.scrollTop < bottom) rowsBox.scrollTop = bottom;
  }
  drawRows();
}

const matchOf = (event) => {
  const row = event.target.closest('[data-row]');
  return row ? listed[Number(row.dataset.row)] : null;
};
rowsBox.addEventListener('scroll', drawRows, {passive: true});
rowsBox.addEventListener('click', (event) => { const m = matchOf(event); if (m) chooseRow(m); });
rowsBox.addEventListener('pointermove', (event) => {
  if (event.pointerType === 'mouse' && matchOf(event) !== pointed) light(matchOf(event), false);
});
rowsBox.addEventListener('pointerleave', () => { if (pointed) light(null, false); });
rowsBox.addEventListener('keydown', (event) => {
  const steps = {ArrowDown: () => step(1), ArrowUp: () => step(-1),
    Home: () => listed.length && chooseRow(listed[0]), End: () => listed.length && chooseRow(listed[listed.length - 1])};
  if (!steps[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  steps[event.key]();
});

for (const column of columns) {
  const head = make('span', undefined, column.key), button = make('button', column.name);
  head.setAttribute('role', 'columnheader');
  button.type = 'button';
  button.dataset.key = column.key;
  button.disabled = !matches.length || (column.key === 'distance' && !hasDistances);
  button.addEventListener('click', () => {
    sorting.up = sorting.key === column.key ? !sorting.up : true;
    sorting.key = column.key;
    rowsBox.scrollTop = 0;
    sortRows();
  });
  head.append(button);
  at('heads').append(head);
}
