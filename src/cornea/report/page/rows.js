// A sortable table. Only the rows in view are elements of the page, so that thousands of rows
// scroll like a few.
//
//   box, inside    the part that scrolls, and in it the one that holds the rows
//   heads          of the columns: {key, name, value(item), text(item), disabled, down}; down: sorted
//                  from the highest at first; fill(cell, item) instead of text, if the cell holds
//                  more than text
//   items          the items of the rows; their order breaks ties
//   sorting        {key, up} to begin with
//   isShown, isChosen, classOf (of a row), choose (after a click or a key), open (Enter, or a double
//                  click), point (under the mouse, null: nothing), listed (after the list changed)

function makeRows(o) {
  const kRow = 30, kSpare = 6;  // height of a row; extra rows above and below the view
  const table = {sorting: o.sorting, sorted: [], listed: []};

  table.sort = () => {
    const value = o.columns.find((column) => column.key === table.sorting.key).value, sign = table.sorting.up ? 1 : -1;
    // Two infinite values are equal.
    const compare = (a, b) => { const x = value(a[0]), y = value(b[0]); return x === y ? a[1] - b[1] : x < y ? -sign : sign; };
    table.sorted = Array.from(o.items, (item, k) => [item, k]).sort(compare).map((entry) => entry[0]);
    for (const head of o.heads.querySelectorAll('button')) {
      const own = head.dataset.key === table.sorting.key;
      head.parentElement.setAttribute('aria-sort', own ? (table.sorting.up ? 'ascending' : 'descending') : 'none');
    }
    table.list();
  };

  // Called after a change of what is shown.
  table.list = () => {
    table.listed = table.sorted.filter(o.isShown);
    o.inside.style.height = table.listed.length * kRow + 'px';
    o.box.parentElement.setAttribute('aria-rowcount', table.listed.length);
    o.listed();
    table.draw();
  };

  const makeRow = (k) => {
    const item = table.listed[k], own = o.isChosen(item), row = make('div', undefined, 'tr ' + o.classOf(item) + (own ? ' chosen' : ''));
    row.setAttribute('role', 'row');
    row.setAttribute('aria-rowindex', k + 1);
    row.setAttribute('aria-selected', own);
    row.style.top = k * kRow + 'px';
    row.dataset.row = k;
    for (const column of o.columns) {
      const cell = make('span', column.fill ? undefined : column.text(item), column.key);
      if (column.fill) column.fill(cell, item);
      cell.setAttribute('role', 'gridcell');
      row.append(cell);
    }
    return row;
  };

  const rows = new Map();  // the rows that are elements, by index in the list
  // Creates rows that come into view and removes those that leave it; they are kept in the order of
  // the list, as a screen reader reads them.
  const scrolled = () => {
    const from = Math.max(0, Math.floor(o.box.scrollTop / kRow) - kSpare);
    const to = Math.min(table.listed.length, Math.ceil((o.box.scrollTop + o.box.clientHeight) / kRow) + kSpare);
    for (const [k, row] of rows) {
      if (k >= from && k < to) continue;
      row.remove();
      rows.delete(k);
    }
    let next = null;
    for (let k = to - 1; k >= from; --k) {
      if (!rows.has(k)) {
        rows.set(k, makeRow(k));
        o.inside.insertBefore(rows.get(k), next);
      }
      next = rows.get(k);
    }
  };
  // Called after a change of the list or of the selection.
  table.draw = () => {
    o.inside.replaceChildren();
    rows.clear();
    scrolled();
  };

  // Scrolls the row of an item into the table's view; the page itself does not move.
  table.show = (item) => {
    const k = item === null ? -1 : table.listed.indexOf(item);
    if (k >= 0) {
      const top = k * kRow, bottom = top + kRow - o.box.clientHeight;
      if (o.box.scrollTop > top) o.box.scrollTop = top;
      if (o.box.scrollTop < bottom) o.box.scrollTop = bottom;
    }
    table.draw();
  };

  // The item that many rows further, wrapping around at both ends.
  table.next = (item, direction) => {
    const count = table.listed.length, from = item === null ? -1 : table.listed.indexOf(item);
    if (!count) return null;
    return table.listed[from < 0 ? (direction > 0 ? 0 : count - 1) : (from + direction + count) % count];
  };

  const itemOf = (event) => {
    const row = event.target.closest('[data-row]');
    return row ? table.listed[Number(row.dataset.row)] : null;
  };
  o.box.addEventListener('scroll', scrolled, {passive: true});
  o.box.addEventListener('click', (event) => { const item = itemOf(event); if (item !== null) o.choose(item); });
  o.box.addEventListener('dblclick', (event) => { const item = itemOf(event); if (item !== null) o.open(item); });
  o.box.addEventListener('pointermove', (event) => { if (event.pointerType === 'mouse') o.point(itemOf(event)); });
  o.box.addEventListener('pointerleave', () => o.point(null));
  o.box.addEventListener('keydown', (event) => {
    const chosen = table.listed.find(o.isChosen), now = chosen === undefined ? null : chosen;
    const count = table.listed.length, far = Math.max(1, Math.floor(o.box.clientHeight / kRow) - 1);
    const jump = (by) => table.listed[Math.max(0, Math.min(count - 1, (now === null ? 0 : table.listed.indexOf(now)) + by))];
    const target = {ArrowDown: () => table.next(now, 1), ArrowUp: () => table.next(now, -1), Home: () => table.listed[0],
      End: () => table.listed[count - 1], PageDown: () => jump(far), PageUp: () => jump(-far)}[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || !count) return;
    if (event.key === 'Enter' && now !== null) o.open(now);
    else if (target) o.choose(target());
    else return;
    event.preventDefault();
  });

  for (const column of o.columns) {
    const head = make('span', undefined, column.key), button = make('button', column.name);
    head.setAttribute('role', 'columnheader');
    button.type = 'button';
    button.dataset.key = column.key;
    button.disabled = Boolean(column.disabled);
    button.addEventListener('click', () => {
      table.sorting.up = table.sorting.key === column.key ? !table.sorting.up : !column.down;
      table.sorting.key = column.key;
      o.box.scrollTop = 0;
      table.sort();
    });
    head.append(button);
    o.heads.append(head);
  }
  return table;
}
