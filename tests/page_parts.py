# SPDX-License-Identifier: Apache-2.0
"""Checks the parts of the page of `cornea pair`: what is drawn at first, table, histogram, residuals, coverage and
layout. page_test.py runs them.
"""
import base64
import os
import re
import struct
import time

from chromium import check, text_of


def check_photograph_first(browser, page):
    browser.open(page, 1440)
    tops = browser.evaluate("['viewer', 'figures'].map(i => document.getElementById(i).getBoundingClientRect().top)")
    check(tops[0] < 200 and tops[0] < tops[1], f"the photographs come before the figures ({tops})")
    few = browser.colours("panel-0")
    found = re.fullmatch(r"Drawn: ([\d,]+) of ([\d,]+) matches, ([\d,]+) of ([\d,]+) lines\.", text_of(browser, "drawn"))
    numbers = [int(n.replace(",", "")) for n in found.groups()] if found else [0] * 4
    total = browser.evaluate("corneaPage.matches.length")
    check(numbers[1] == total and 0 < numbers[0] < total / 4, f"few marks are drawn, and how many is said ({numbers})")
    check(numbers[3] == total and 0 < numbers[2] <= 20, "so is the number of lines")
    browser.toggle("all")
    many = browser.colours("panel-0")
    check(many["blue"] > 2 * few["blue"], "all are drawn when asked for")
    check(f"Drawn: {total:,} of {total:,} matches, {total:,} of {total:,} lines." == text_of(browser, "drawn"), "and said")
    browser.toggle("links")
    check(f"Drawn: {total:,} of {total:,} matches." == text_of(browser, "drawn"), "lines that are off are not counted")
    browser.toggle("links")
    browser.toggle("all")
    check(browser.complaints == [], f"the console is empty {browser.complaints}")


def check_order_and_table(browser, page):
    browser.open(page, 1440)
    distances = "corneaPage.listed().map(m => m.distance)"
    listed = browser.evaluate(distances)
    check(listed == sorted(listed) and len(listed) > 500, "the table is in the order of distance")
    browser.evaluate("document.getElementById('panel-0').focus({preventScroll: true})")
    for key in "nnn":
        browser.press(key)
    check(browser.evaluate("corneaPage.chosen().distance") == listed[2], "N goes from the nearest on, by distance")
    browser.press("p")
    check(browser.evaluate("corneaPage.chosen().distance") == listed[1], "P goes back")
    browser.press("Escape")
    browser.press("p")
    check(browser.evaluate("corneaPage.chosen().distance") == listed[-1], "P begins with the farthest")
    check(browser.evaluate("document.querySelector('#rows .chosen .distance').textContent").startswith(
        f"{listed[-1]:,.0f}"[:3]), "the table scrolls to the chosen match")
    browser.press("Escape")
    browser.evaluate("document.getElementById('rows').scrollTop = 0")
    browser.evaluate("document.getElementById('rows').scrollIntoView({block: 'center'})")
    browser.settle()
    x, y, index = browser.evaluate("""(() => { const row = document.querySelectorAll('#rows [data-row]')[4];
        const box = row.getBoundingClientRect(); return [box.left + 60, box.top + 10, Number(row.dataset.row)]; })()""")
    before = browser.drawn()
    browser.click(x, y)
    check(browser.evaluate("corneaPage.listed().indexOf(corneaPage.chosen())") == index == 4, "a click in the table selects")
    check(browser.drawn()[:2] != before[:2], "and lights the match up in the photographs")
    check(browser.evaluate("document.querySelectorAll('#rows .chosen').length") == 1, "its row is marked")
    check(browser.colours("loupe-0")["any"] > 1000 and browser.colours("loupe-1")["any"] > 1000, "both points are shown close up")
    browser.evaluate("document.querySelector('#heads [data-key=ratio]').click()")
    ratios = browser.evaluate("corneaPage.listed().map(m => m.ratio)")
    check(ratios == sorted(ratios), "a click on a column's name sorts by it")
    browser.evaluate("document.querySelector('#heads [data-key=ratio]').click()")
    check(browser.evaluate("corneaPage.listed().map(m => m.ratio)") == ratios[::-1] or
          browser.evaluate("corneaPage.listed()[0].ratio") == ratios[-1], "a second click the other way")
    check(browser.complaints == [], f"the console is empty {browser.complaints}")


def check_many_matches(browser, page, folder):
    """The same page with 20,000 matches: the table has few elements, whatever its length."""
    html = open(page, encoding="utf-8").read()
    count = 20000
    numbers = b"".join(struct.pack("<8f", i * 37 % 640, i * 53 % 480, i * 41 % 640, i * 59 % 480, 0.5, (i * 7919 % count) / 5000,
                                   (i * 7919 % count) / 5000 < 1.5, i) for i in range(count))
    html = re.sub(r'"matches":"[^"]*"', '"matches":"' + base64.b64encode(numbers).decode() + '"', html, count=1)
    html = re.sub(r'"matchCount":\d+', f'"matchCount":{count}', html, count=1)
    many = os.path.join(folder, "many.html")
    with open(many, "w", encoding="utf-8") as out:
        out.write(html)
    browser.open(many, 1440)
    check(browser.evaluate("corneaPage.listed().length") == count, "20,000 matches are listed")
    rows = browser.evaluate("document.querySelectorAll('#rows [data-row]').length")
    check(0 < rows < 40, f"by {rows} rows at a time")
    browser.evaluate("document.getElementById('rows').scrollTop = 1e9")
    browser.settle()
    last = browser.evaluate("Math.max(...[...document.querySelectorAll('#rows [data-row]')].map(r => Number(r.dataset.row)))")
    check(last == count - 1, "the last row can be reached")
    browser.toggle("all")
    check("2,000 of 20,000 lines" in (browser.settle() or text_of(browser, "drawn")), "lines have a limit, which is said")
    check(browser.complaints == [], f"the console is empty {browser.complaints}")


def bar(browser, k):
    """The middle of bar k of the histogram."""
    return browser.evaluate("""(() => { document.getElementById('histogram').scrollIntoView({block: 'center'});
        const box = document.querySelectorAll('#histogram .bin')[%d].querySelector('.hover').getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2]; })()""" % k)


def check_histogram(browser, page):
    browser.open(page, 1440)
    bins = browser.evaluate("corneaPage.bins.map(b => [b.in, b.out])")
    total = browser.evaluate("corneaPage.matches.length")
    check(sum(map(sum, bins)) == total, "the histogram counts every match once")
    width = 2 * 1.5 / 40
    x, y = bar(browser, 3)
    browser.mouse("mouseMoved", x, y)
    check(f"{bins[3][0]:,} inliers, {bins[3][1]} outliers" in text_of(browser, "histogram-text"), "a bar under the pointer says its counts")
    start = browser.drawn()
    browser.click(x, y)
    distances = browser.evaluate("corneaPage.listed().map(m => m.distance)")
    check(len(distances) == sum(bins[3]) and all(3 * width <= d < 4 * width for d in distances), "a click selects the matches of a bar")
    check(browser.drawn()[:2] != start[:2], "and only these are drawn")
    browser.click(x, y)
    check(browser.evaluate("corneaPage.listed().length") == total, "a second click deselects")
    far_x, far_y = bar(browser, 9)
    browser.mouse("mouseMoved", x, y)
    browser.mouse("mousePressed", x, y, button="left", clickCount=1)
    browser.mouse("mouseMoved", far_x, far_y, button="left", buttons=1)
    browser.mouse("mouseReleased", far_x, far_y, button="left", clickCount=1)
    chosen = [sum(b[k] for b in bins[3:10]) for k in (0, 1)]
    browser.mouse("mouseMoved", 5, 5)
    check(browser.evaluate("corneaPage.listed().length") == sum(chosen), "a drag selects a range")
    said = text_of(browser, "histogram-text")
    check(f"{chosen[0]:,} inlier" in said and f"{chosen[1]} outlier" in said and "0.23 to 0.75 px" in said, f"with its counts ({said})")
    check("0.75 px" in text_of(browser, "cut-value"), "the slider shows the same range")
    browser.evaluate("document.getElementById('histogram-clear').click()")
    check(browser.evaluate("corneaPage.listed().length") == total, "all can be shown again")
    browser.evaluate("document.getElementById('histogram').focus()")
    for _ in range(3):
        browser.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight")
    check(browser.evaluate("corneaPage.listed().length") == sum(bins[2]), "arrow keys go from bar to bar")
    browser.press("Escape")
    check(browser.evaluate("corneaPage.listed().length") == total, "Escape deselects them")
    check(browser.complaints == [], f"the console is empty {browser.complaints}")


def check_residuals(browser, what):
    """On the open page, a residual ends on the epipolar line, or where H maps the point."""
    worst = browser.evaluate("""Math.max(...corneaPage.matches.filter(m => m.inlier).map(m => {
        const [a, b] = [0, 1].map(i => corneaPage.residual(i, m));
        return Math.abs(Math.hypot(a.x, a.y) + Math.hypot(b.x, b.y) - m.distance); }))""")
    check(worst < 2e-3, what + f": both residuals of a match together are its distance ({worst:.1e} px)")
    before = browser.drawn()
    browser.toggle("residuals")
    check(browser.drawn()[:2] != before[:2], what + ": residuals are drawn when asked for")
    factor = re.search(r"residuals enlarged ([\d,]+) times", text_of(browser, "drawn"))
    check(factor is not None and int(factor.group(1).replace(",", "")) > 1, what + ": and say how much they are enlarged")
    browser.toggle("residuals")


def check_coverage(browser, page):
    browser.open(page, 1440)
    matches, sizes = browser.evaluate("""[corneaPage.matches.filter(m => m.inlier).map(m => m.points),
        JSON.parse(document.getElementById('data').textContent).photographs.map(p => [p.width, p.height])]""")
    shares = []
    for i in (0, 1):
        cells = {(int((m[i]["x"] + 0.5) * 8 / sizes[i][0]), int((m[i]["y"] + 0.5) * 8 / sizes[i][1])) for m in matches}
        check(browser.evaluate(f"corneaPage.coverage[{i}].held") == len(cells), f"{len(cells)} of 64 cells hold inliers")
        shares.append(int(100 * len(cells) / 64 + 0.5))
    check(f"Coverage{shares[0]} % and {shares[1]} %" in text_of(browser, "figures"), "the share of them is among the figures")
    before = browser.drawn()
    browser.toggle("coverage")
    check(browser.drawn()[:2] != before[:2], "the cells are drawn when asked for")
    check(browser.complaints == [], f"the console is empty {browser.complaints}")


def check_frame(browser, page):
    """Checks width, links, hints and print."""
    browser.open(page, 2560, height=1440)
    check(browser.evaluate("document.getElementById('viewer').getBoundingClientRect().width") > 2350, "a large screen is used")
    links = browser.evaluate("[...document.querySelectorAll('#files a')].map(a => [a.getAttribute('href'), a.href])")
    check([link[0] for link in links] == ["matches.csv", "summary.json"], "links to the CSV and the JSON")
    check(all(os.path.exists(link[1].removeprefix("file://")) for link in links), "which are beside the page")
    browser.open(page, 1440)
    place = "document.querySelector('.cards').getBoundingClientRect().top"
    before = browser.evaluate(place)
    browser.evaluate("document.getElementById('panel-0').focus({preventScroll: true, focusVisible: true})")
    browser.settle()
    check(browser.evaluate(place) == before, "focus on a photograph moves nothing")
    check(browser.evaluate("document.getElementById('keys').getBoundingClientRect().height") > 10, "the keys are written down")
    browser.press("n")
    browser.settle()
    check(browser.evaluate(place) == before, "nor does a chosen match")
    drawn = browser.drawn()
    for display in ("none", ""):
        browser.evaluate(f"document.querySelector('main').style.display = '{display}'; window.dispatchEvent(new Event('resize'))")
        browser.settle()
    check(browser.drawn() == drawn and browser.complaints == [], "a page that had no room for a while is drawn again")
    browser.open(page, 1440, dark=True)
    dark = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    printed = browser.evaluate("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,"
                               "getComputedStyle(document.querySelector('.card')).backgroundColor]")
    check(dark != "rgb(255, 255, 255)" and printed[0] == printed[2] == "rgb(255, 255, 255)" and printed[1] == "rgb(29, 29, 32)",
          f"paper is white, also from a dark screen ({printed})")
    browser.call("Emulation.setEmulatedMedia", media="")


def space_hash(browser):
    """A hash of the view of the cameras."""
    browser.settle()
    return browser.evaluate("document.getElementById('space').toDataURL()")


def check_space(browser, page, width, mobile):
    """The two cameras and the points in three dimensions: mouse, touch and keys rotate and zoom them."""
    where = f"3D at {width} pixels: "
    browser.open(page, width, mobile=mobile, density=2 if mobile else 1)
    browser.evaluate("document.getElementById('space').scrollIntoView({block: 'center'})")
    browser.settle()
    seen = browser.evaluate("corneaPage.spots.filter(s => s.depth > 0 && s.sx >= 0 && s.sy >= 0 &&"
                            "s.sx <= corneaPage.space.w && s.sy <= corneaPage.space.h).length")
    spots, inliers = browser.evaluate("[corneaPage.spots.length, corneaPage.matches.filter(m => m.inlier).length]")
    check(spots > 0.8 * inliers > 100, where + f"{spots} of {inliers} inliers have a point")
    check(seen > 0.9 * spots, where + f"{seen} of them are in view")
    check(browser.evaluate("(() => { const c = document.getElementById('space'), r = window.devicePixelRatio;"
                           "return c.width === Math.round(c.clientWidth * r) && c.height === Math.round(c.clientHeight * r); })()"),
          where + "as sharp as the screen")
    start = space_hash(browser)
    left, top, w, h = browser.evaluate("(() => { const b = document.getElementById('space').getBoundingClientRect();"
                                       "return [b.left, b.top, b.width, b.height]; })()")
    x, y = left + 0.4 * w, top + 0.5 * h
    if mobile:
        for k in range(6):
            browser.call("Input.dispatchTouchEvent", type="touchStart" if k == 0 else "touchMove",
                         touchPoints=[{"x": x + 15 * k, "y": y}])
        browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        check(space_hash(browser) != start, where + "a finger rotates it")
        yaw, zoom = browser.evaluate("[corneaPage.space.yaw, corneaPage.space.zoom]")
        for gap in (20, 30, 45, 60, 80):
            browser.call("Input.dispatchTouchEvent", type="touchStart" if gap == 20 else "touchMove",
                         touchPoints=[{"x": x - gap, "y": y, "id": 1}, {"x": x + gap, "y": y, "id": 2}])
        browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        browser.settle()
        check(browser.evaluate("corneaPage.space.zoom") > 1.5 * zoom, where + "two fingers zoom")
        check(browser.evaluate("corneaPage.space.yaw") == yaw, where + "and do not rotate it")
    else:
        browser.mouse("mouseMoved", x, y)
        browser.mouse("mousePressed", x, y, button="left", clickCount=1)
        for k in range(1, 6):
            browser.mouse("mouseMoved", x + 15 * k, y + 6 * k, button="left", buttons=1)
        browser.mouse("mouseReleased", x + 75, y + 30, button="left", clickCount=1)
        rotated = space_hash(browser)
        check(rotated != start, where + "a drag rotates it")
        time.sleep(0.4)  # a wheel event soon after a scroll keeps scrolling
        browser.mouse("mouseMoved", x + 1, y)
        browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300)
        time.sleep(0.1)
        check(space_hash(browser) != rotated and browser.evaluate("corneaPage.space.zoom") > 1.2, where + "the wheel zooms")
    browser.evaluate("document.getElementById('space-reset').click()")
    browser.mouse("mouseMoved", 2, 2)
    check(space_hash(browser) == start, where + "and can be put back")
    browser.evaluate("document.getElementById('space').focus({preventScroll: true})")
    photographs = browser.drawn()
    for key in ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown", "+", "-"):
        before = space_hash(browser)
        browser.press(key)
        check(space_hash(browser) != before, where + f"{key} changes it")
    browser.press("+")
    check(browser.evaluate("corneaPage.space.zoom") > 1, where + "+ zooms in")
    browser.press("0")
    check(space_hash(browser) == start, where + "0 puts it back")
    check(browser.drawn() == photographs, where + "the photographs do not move with it")
    check("camera" in browser.evaluate("document.getElementById('space').getAttribute('aria-label')"),
          where + "it says what it shows")
    browser.press("n")
    check(space_hash(browser) != start, where + "a chosen match lights up in it")
    browser.press("Escape")
    browser.evaluate("document.getElementById('space-distance').click()")
    check(space_hash(browser) != start, where + "points can be coloured by distance")
    browser.evaluate("document.getElementById('space-photo').click()")
    browser.evaluate("document.getElementById('theme').click()")
    check(space_hash(browser) != start, where + "it follows the theme")
    browser.evaluate("document.getElementById('theme').click(); localStorage.clear()")
    check(space_hash(browser) == start, where + "and back")
    if not mobile:
        light = space_hash(browser)
        browser.open(page, width, dark=True)
        dark = space_hash(browser)
        browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        check(dark != light and space_hash(browser) != dark, where + "it is light in print")
        browser.call("Emulation.setEmulatedMedia", media="")
    check(browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), where + "nothing overflows")
    check(browser.complaints == [], where + f"the console is empty {browser.complaints}")


def check_bent_lines(browser, page):
    """Lenses with distortion: epipolar curves pass the points at the distances listed."""
    browser.open(page, 1440)
    worst = browser.evaluate("""Math.max(...corneaPage.matches.filter(m => m.inlier).map(m => {
        const [a, b] = [0, 1].map(i => corneaPage.residual(i, m));
        return Math.abs(Math.hypot(a.x, a.y) + Math.hypot(b.x, b.y) - m.distance); }))""")
    check(worst < 0.2, f"with distortion both residuals are the distance, but for the lens ({worst:.2f} px)")
    bend = browser.evaluate("""(() => { let most = 0;
        for (const m of corneaPage.matches.filter(m => m.inlier)) {
          const curve = corneaPage.lineInImage(corneaPage.epipolarLine(1, m.points[0]), 1);
          if (!curve || curve.length < 3) continue;
          const [p, q] = [curve[0], curve[curve.length - 1]], length = Math.hypot(q.x - p.x, q.y - p.y);
          for (const c of curve) most = Math.max(most, Math.abs((q.x - p.x) * (p.y - c.y) - (p.x - c.x) * (q.y - p.y)) / length);
        } return most; })()""")
    check(bend > 1, f"epipolar lines are drawn with the distortion of the lens ({bend:.1f} px)")
    check(browser.complaints == [], f"the console is empty {browser.complaints}")
