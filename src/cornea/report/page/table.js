// The table of matches, ordered by distance unless sorted otherwise.

const columns = [
  {key: 'index', name: 'No.', value: (m) => m.index, text: (m) => whole(m.index + 1)},
  {key: 'distance', name: 'Distance', value: (m) => m.distance, text: (m) => !hasDistances ? '\u2013' : m.distance < 10 ? m.distance.toFixed(3) + ' px' : pixels(m.distance)},
  {key: 'kind', name: 'Kind', value: (m) => (m.inlier ? 0 : 1), text: (m) => kindOf(m)},
  {key: 'first', name: 'First, x, y', value: (m) => m.points[0].x, text: (m) => m.points[0].x.toFixed(1) + ', ' + m.points[0].y.toFixed(1)},
  {key: 'second', name: 'Second, x, y', value: (m) => m.points[1].x, text: (m) => m.points[1].x.toFixed(1) + ', ' + m.points[1].y.toFixed(1)},
  {key: 'ratio', name: 'Ratio', value: (m) => m.ratio, text: (m) => m.ratio.toFixed(2)},
];
for (const column of columns) column.disabled = !matches.length || (column.key === 'distance' && !hasDistances);

const table = makeRows({
  box: at('rows'), inside: at('rows-inside'), heads: at('heads'), columns: columns, items: matches,
  sorting: {key: hasDistances ? 'distance' : 'ratio', up: true},
  isShown: isShown, isChosen: (m) => m === chosen, classOf: kindOf,
  choose: (m) => chooseRow(m), open: (m) => chooseRow(m),
  point: (m) => { if (m !== pointed) light(m, false); },
  listed: () => {
    const count = table.listed.length;
    at('table-count').textContent = !matches.length ? '' : count === matches.length
      ? whole(count) : whole(count) + ' of ' + whole(matches.length);
    at('table-none').hidden = count > 0;
    at('table-none').textContent = matches.length ? 'No match is shown: the switches or ranges hide them all.'
      : 'There are no matches to list.';
  },
});
