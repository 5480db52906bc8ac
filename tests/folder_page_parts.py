# SPDX-License-Identifier: Apache-2.0
"""Checks the parts of the page of a folder against the database: groups, matrix, graph, table, histograms and the
view of a pair. folder_page_test.py runs them.
"""
from chromium import check, text_of

# The position of a cell of the matrix in the window, and its colour.
CELL = """(([row, column]) => { const m = corneaFolder.matrix, box = m.canvas.getBoundingClientRect();
    const s = m.glide.toScreen(column + 0.5, row + 0.5), d = m.glide.density;
    const copy = document.createElement('canvas'), pen = copy.getContext('2d');
    copy.width = copy.height = 1;
    pen.drawImage(m.canvas, Math.floor(s.x * d), Math.floor(s.y * d), 1, 1, 0, 0, 1, 1);
    const colour = [...pen.getImageData(0, 0, 1, 1).data];
    return {x: box.left + s.x, y: box.top + s.y, colour: colour.slice(0, 3)}; })"""
NODE = """(i => { const g = corneaFolder.graph, box = g.canvas.getBoundingClientRect(), s = g.glide.toScreen(g.x[i], g.y[i]);
    return [box.left + s.x, box.top + s.y]; })"""


def show(browser, element):
    browser.evaluate(f"document.getElementById('{element}').scrollIntoView({{block: 'center'}})")
    browser.settle()


def listed(browser):
    """The pairs of the table, in its order."""
    return [tuple(pair) for pair in browser.evaluate(
        "Array.from(corneaFolder.table.listed, p => [corneaFolder.pairs.first[p], corneaFolder.pairs.second[p]])")]


def check_groups(browser, facts):
    groups = facts.groups()
    joined, alone = [g for g in groups if len(g) > 1], [g for g in groups if len(g) == 1]
    sentence = text_of(browser, "sentence")
    geometries = sum(facts.has_geometry(p) for p in facts.pairs)
    check(f"{sum(map(len, joined))} of {len(facts.names)} images are connected, in {len(joined)} groups" in sentence,
          f"the sentence says what is connected: {sentence}")
    check(f"{geometries:,} of {len(facts.pairs):,} pairs" in sentence, "and how many pairs have a geometry")
    shown = browser.evaluate("[...document.querySelectorAll('button.group .group-words')].map(e => e.innerText.split(/\\s+/)[0])")
    check([int(n) for n in shown] == [len(g) for g in joined], f"groups are listed, the largest first ({shown})")
    names = browser.evaluate("[...document.querySelectorAll('.group.alone .thumb-name')].map(e => e.title)")
    check(sorted(names) == sorted(facts.names[min(g)] for g in alone), f"so is every image without a connection ({len(names)})")
    first = browser.evaluate("document.querySelector('.group').classList.contains('alone')")
    check(first or not alone, "images without a connection come first")
    order = browser.evaluate("Array.from(corneaFolder.order)")
    check([set(order[sum(map(len, groups[:k])):][:len(g)]) for k, g in enumerate(groups)] == groups, "the matrix is ordered by groups")
    warnings = text_of(browser, "warnings")
    check(f"{len(facts.missing)} photograph" in warnings or not facts.missing, f"missing photographs are said: {warnings[:200]}")
    browser.evaluate("document.querySelectorAll('button.group')[1].click()")
    check(set(listed(browser)) == {p for p in facts.pairs if p[0] in groups[1] and p[1] in groups[1]}, "a group lists its pairs")
    check(browser.evaluate("corneaFolder.matrix.glide.zoom") > 1, "and is shown large in the matrix")
    browser.evaluate("document.getElementById('focus-clear').click()")
    check(len(listed(browser)) == len(facts.pairs) and browser.evaluate("corneaFolder.matrix.glide.zoom") == 1, "and back to all")


def check_matrix(browser, facts):
    show(browser, "matrix")
    order = browser.evaluate("Array.from(corneaFolder.order)")
    place = {image: k for k, image in enumerate(order)}
    strong = max((p for p in facts.pairs if facts.pairs[p][2] == 2), key=lambda p: facts.pairs[p][1])
    weak = min((p for p in facts.pairs if facts.pairs[p][2] == 2), key=lambda p: facts.pairs[p][1])
    refused = next(p for p in facts.pairs if not facts.has_geometry(p))
    untried = next((a, b) for a in range(len(order)) for b in range(a + 1, len(order)) if (a, b) not in facts.pairs)
    colours = []
    for a, b in (strong, weak, refused, untried):
        cells = [browser.evaluate(f"{CELL}({[place[x], place[y]]})")["colour"] for x, y in ((a, b), (b, a))]
        check(cells[0] == cells[1], "the matrix is symmetric")
        colours.append(tuple(cells[0]))
    check(len(set(colours)) == 4, f"strong, weak, refused and untried pairs have colours of their own {colours}")
    spot = browser.evaluate(f"{CELL}({sorted([place[strong[0]], place[strong[1]]])})")
    browser.mouse("mouseMoved", spot["x"], spot["y"])
    browser.settle()
    said = text_of(browser, "said")
    check(all(facts.names[i] in said for i in strong) and f"{facts.pairs[strong][1]:,} inliers" in said, f"a cell is said in words: {said}")
    browser.click(spot["x"], spot["y"])
    browser.settle()
    check(browser.evaluate("corneaFolder.pairView.dialog.open") and
          all(facts.names[i] in text_of(browser, "pair-title") for i in strong), "a click opens its pair in the same page")
    browser.press("Escape")
    browser.settle()
    check(not browser.evaluate("corneaFolder.pairView.dialog.open"), "Escape closes it")
    check(browser.evaluate("document.activeElement.id") == "matrix", "and the keys are where they were")
    check(browser.evaluate("document.querySelectorAll('#rows .chosen').length") == 1, "its row of the table is marked")

    # By keys alone: from the first cell to the next pair with a geometry, open it, step on, close.
    browser.press("Escape")
    browser.press("ArrowRight")
    check(browser.evaluate("corneaFolder.picked.cell") == [0, 1], "arrows choose a cell")
    browser.press("ArrowDown", shift=True)
    row, column = browser.evaluate("corneaFolder.picked.cell")
    expected = next((r for r in range(1, len(order)) if r != 1 and
                     facts.has_geometry_of(order[r], order[1])), None)
    check((row, column) == (expected, 1), f"Shift and an arrow go to the next pair with a geometry ({row}, {column})")
    browser.press("Enter")
    browser.settle()
    check(browser.evaluate("corneaFolder.pairView.dialog.open"), "Enter opens it")
    before = browser.evaluate("corneaFolder.pairView.p")
    browser.press("ArrowRight")
    after = browser.evaluate("corneaFolder.pairView.p")
    steps = browser.evaluate(f"[{before}, {after}].map(p => corneaFolder.table.listed.indexOf(p))")
    check(steps[1] == (steps[0] + 1) % len(facts.pairs), "an arrow goes to the next pair of the table")
    browser.press("Escape")
    browser.settle()
    for key in "++":
        browser.press(key)
    zoomed = browser.evaluate("corneaFolder.matrix.glide.zoom")
    browser.press("0")
    check(abs(zoomed - 2.25) < 1e-9 and browser.evaluate("corneaFolder.matrix.glide.zoom") == 1, f"keys zoom ({zoomed})")
    browser.evaluate("document.getElementById('matrix-zoom-in').click()")
    check(browser.evaluate("corneaFolder.matrix.glide.zoom") == 1.5, "buttons zoom")
    browser.evaluate("document.getElementById('matrix-zoom-reset').click()")
    scroll = browser.evaluate("window.scrollY")
    browser.mouse("mouseWheel", spot["x"], spot["y"], deltaX=0, deltaY=200)
    browser.wait_for(f"window.scrollY > {scroll}", "a wheel over the matrix scrolls the page")
    check(browser.evaluate("corneaFolder.matrix.glide.zoom") == 1, "and does not zoom")


def check_graph_and_keys(browser, facts):
    show(browser, "graph")
    most = max(range(len(facts.names)), key=lambda i: len(facts.neighbours(i)))
    check(browser.pixels("graph")["opaque"] > 2000, "the graph is drawn")
    x, y = browser.evaluate(f"{NODE}({most})")
    browser.mouse("mouseMoved", x, y)
    browser.settle()
    said = text_of(browser, "said")
    check(facts.names[most] in said and f"connected to {len(facts.neighbours(most))} image" in said, f"an image is said in words: {said}")
    before = browser.pixels("graph")["hash"]
    browser.click(x, y)
    browser.mouse("mouseMoved", 2, 2)
    browser.settle()
    check(browser.evaluate("corneaFolder.picked.image") == most and browser.pixels("graph")["hash"] != "", "a click selects it")
    browser.press("Enter")
    browser.settle()
    check(set(listed(browser)) == {p for p in facts.pairs if most in p}, "Enter lists its pairs")
    check(browser.evaluate("document.activeElement.id") == "rows", "and goes to the table")
    browser.press("ArrowDown")
    browser.press("ArrowDown")
    chosen = browser.evaluate("corneaFolder.table.listed.indexOf(corneaFolder.pairOfCell(corneaFolder.picked.cell))")
    check(chosen == 1, f"arrows choose a row ({chosen})")
    browser.press("Enter")
    browser.settle()
    pair = listed(browser)[1]
    check(browser.evaluate("corneaFolder.pairView.dialog.open") and
          all(facts.names[i] in text_of(browser, "pair-title") for i in pair), "Enter opens the pair of the row")
    browser.press("Escape")
    browser.evaluate("document.getElementById('focus-clear').click()")
    browser.evaluate("document.getElementById('graph').focus({preventScroll: true})")
    browser.press("Escape")
    browser.press("ArrowRight")
    first = browser.evaluate("corneaFolder.picked.image")
    browser.press("ArrowRight")
    second = browser.evaluate("corneaFolder.picked.image")
    xs = browser.evaluate("Array.from(corneaFolder.graph.x)")
    check(first is not None and (second == first or xs[second] > xs[first]), "arrows go from image to image in the graph")
    check(before != browser.pixels("graph")["hash"], "and what is chosen is drawn")
    browser.press("Escape")
    # Every part can be reached by the Tab key.
    browser.evaluate("window.scrollTo(0, 0); document.activeElement.blur()")
    reached = set()
    for _ in range(60):
        browser.press("Tab")
        reached.add(browser.evaluate("document.activeElement.id"))
    wanted = {"theme", "matrix", "graph", "search", "kind", "rows", "features", "inliers", "distances", "copy-command"}
    check(wanted <= reached, f"Tab reaches all parts (not {wanted - reached})")


def check_table(browser, facts):
    show(browser, "rows")
    value = {"first": lambda p: facts.names[p[0]].lower(), "second": lambda p: facts.names[p[1]].lower(),
             "inliers": lambda p: facts.pairs[p][1] if facts.has_geometry(p) else -1, "matches": lambda p: facts.pairs[p][0]}
    for key, of in value.items():
        for _ in (1, 2):
            browser.evaluate(f"document.querySelector('#heads [data-key={key}]').click()")
            way = browser.evaluate(f"document.querySelector('#heads .{key}').getAttribute('aria-sort')")
            pairs = listed(browser)
            # Names are compared as JavaScript does, by UTF-16 units.
            unit = (lambda p: of(p).encode("utf-16-be")) if key in ("first", "second") else of
            check([unit(p) for p in pairs] == sorted((unit(p) for p in facts.pairs), reverse=way == "descending") and
                  len(pairs) == len(facts.pairs), f"the table sorts by {key}, {way}")
    for key in ("distance", "angle"):
        browser.evaluate(f"document.querySelector('#heads [data-key={key}]').click()")
        numbers = browser.evaluate(f"Array.from(corneaFolder.table.listed, p => corneaFolder.pairs.{key}[p])")
        known = [n for n in numbers if n >= 0]
        check(known in (sorted(known), sorted(known, reverse=True)) and len(set(known)) > 5, f"and by {key}")
        check(numbers[:len(known)] == known, "what is not known comes last")
    browser.evaluate("document.querySelector('#heads [data-key=inliers]').click()")
    check(browser.evaluate("document.querySelectorAll('#rows [data-row]').length") < 60, "few rows are elements of the page")
    browser.evaluate("document.getElementById('rows').scrollTop = 1e9")
    browser.settle()
    last = browser.evaluate("Math.max(...[...document.querySelectorAll('#rows [data-row]')].map(r => Number(r.dataset.row)))")
    check(last == len(facts.pairs) - 1, "scrolling reaches the last one")
    row = browser.evaluate("""(() => { const row = document.querySelector('#rows [data-row="%d"]');
        return [...row.children].map(c => c.textContent); })()""" % last)
    pair = listed(browser)[last]
    check(row[:2] == [facts.names[i] for i in pair] and row[3] == f"{facts.pairs[pair][0]:,}", f"it is of the pair that it names {row}")

    word = facts.names[-1].rsplit("/", 1)[-1][:9].upper()
    browser.type_into("search", word)
    expected = {p for p in facts.pairs if any(word.lower() in facts.names[i].lower() for i in p)}
    check(set(listed(browser)) == expected and 0 < len(expected) < len(facts.pairs), f"a name filters ({word}: {len(expected)})")
    check(f"{len(expected):,} of {len(facts.pairs):,}" == text_of(browser, "table-count"), "and the count is said")
    browser.type_into("search", "no such name")
    check(listed(browser) == [] and not browser.evaluate("document.getElementById('table-none').hidden"), "nothing listed is said")
    browser.type_into("search", "")
    for option, test in (("geometry", facts.has_geometry), ("1", lambda p: facts.pairs[p][2] == 1), ("2", lambda p: facts.pairs[p][2] == 2),
                         ("all", lambda p: True)):
        browser.evaluate(f"(k => {{ k.value = '{option}'; k.dispatchEvent(new Event('change')); }})(document.getElementById('kind'))")
        check(set(listed(browser)) == {p for p in facts.pairs if test(p)}, f"the kind '{option}' filters")


def check_histograms(browser, facts):
    for key, total in (("features", len(facts.names)), ("inliers", sum(map(facts.has_geometry, facts.pairs))),
                       ("distances", sum(facts.pairs[p][1] for p in facts.pairs if facts.has_geometry(p)))):
        show(browser, key)
        browser.evaluate(f"document.getElementById('{key}').focus({{preventScroll: true}})")
        browser.press("ArrowRight")
        for _ in range(browser.evaluate(f"document.querySelectorAll('#{key} .bin').length")):
            browser.press("ArrowRight", shift=True)
        said = text_of(browser, key + "-text")
        count = int(said.rsplit(":", 1)[1].split()[0].replace(",", ""))
        check(count == total, f"all bars of '{key}' hold {total:,}: {said}")
        browser.evaluate(f"document.getElementById('{key}-clear').click()")
        check(len(listed(browser)) == len(facts.pairs), "and deselect")
    browser.evaluate("document.getElementById('inliers').focus({preventScroll: true})")
    for _ in range(4):
        browser.press("ArrowRight")
    low, high = (float(n.replace(",", "")) for n in text_of(browser, "inliers-text").split(":")[1].replace("to", " ").split())
    # Numbers on the page are rounded, so values at the ends of bars are left out.
    inside = {p for p in facts.pairs if facts.has_geometry(p) and low + 1 < facts.pairs[p][1] < high - 1}
    outside = {p for p in facts.pairs if not facts.has_geometry(p) or not low - 1 <= facts.pairs[p][1] <= high + 1}
    found = set(listed(browser))
    check(inside <= found and not found & outside, f"a bar lists its pairs ({low} to {high}: {len(found)})")
    browser.press("Escape")


def check_pair_view(browser, facts):
    """Checks both ends of the lines of several pairs: each line is an inlier of the database."""
    candidates = [p for p in facts.pairs if facts.has_geometry(p)]
    for pair in (candidates[0], candidates[len(candidates) // 2], candidates[-1]):
        browser.evaluate(f"corneaFolder.openPair(corneaFolder.pairAt({pair[0]}, {pair[1]}))")
        browser.wait_for("corneaFolder.pairView.lines.length > 0", "lines of a pair come")
        lines = browser.evaluate("Array.from(corneaFolder.pairView.lines, v => v / 65535)")
        points = {tuple(round(v, 2) for v in facts.keypoints[pair[0]][a] + facts.keypoints[pair[1]][b]) for a, b in facts.pairs[pair][3]}
        sizes = facts.sizes[pair[0]] + facts.sizes[pair[1]]
        worst = 0
        for k in range(0, len(lines), 4):
            line = [share * size - 0.5 for share, size in zip(lines[k:k + 4], sizes)]
            # A point beyond the border is drawn on it.
            worst = max(worst, min(max(abs(a - min(max(b, -0.5), size - 0.5)) for a, b, size in zip(line, point, sizes)) for point in points))
        check(worst < 0.02 + max(sizes) / 65535, f"each of {len(lines) // 4} lines is an inlier of the pair ({worst:.4f} px)")
        figures = browser.evaluate("Object.fromEntries([...document.querySelectorAll('#pair-figures div')].map(d => [d.children[0].textContent, d.children[1].textContent]))")
        check(figures["Matches"] == f"{facts.pairs[pair][0]:,}" and figures["Inliers"] == f"{facts.pairs[pair][1]:,}", f"its numbers are shown {figures}")
    check(browser.pixels("pair-canvas")["opaque"] > 1000, "photographs and lines are drawn")
    drawn = browser.pixels("pair-canvas")["hash"]
    browser.evaluate("(s => { s.value = 0; s.dispatchEvent(new Event('input')); })(document.getElementById('pair-lines'))")
    check(browser.pixels("pair-canvas")["hash"] != drawn, "the slider takes lines away")
    browser.evaluate("document.getElementById('pair-close').click()")
    refused = next((p for p in facts.pairs if not facts.has_geometry(p)), None)
    if refused:
        browser.evaluate(f"corneaFolder.openPair(corneaFolder.pairAt({refused[0]}, {refused[1]}))")
        check(text_of(browser, "pair-lines-text") == "none" and len(text_of(browser, "pair-sentence")) > 20, "without a geometry it says so")
        browser.evaluate("document.getElementById('pair-close').click()")
