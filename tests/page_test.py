#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the report page as a user sees it, in headless Chromium.

    page_test.py PROGRAM CHROMIUM [--screenshots DIR]

Makes pairs with the program, opens their pages from disk over the DevTools protocol, and checks what is drawn: no
error in the console, switches, slider, histogram, table, clicks, keys, zoom in step, wide and narrow, dark, light
and printed, and a name that tries to be a script. Uses only Python's standard library.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import time

from chromium import attempt, check, check_quiet, screenshots_folder, session, text_of, verdict
from page_parts import (check_bent_lines, check_coverage, check_frame, check_histogram, check_many_matches, check_order_and_table,
                        check_photograph_first, check_residuals, check_space)


def check_ordinary_page(browser, page, width, mobile):
    where = f"at {width} pixels: "
    browser.open(page, width, dark=False, mobile=mobile, density=2 if mobile else 1)
    start = browser.drawn()
    seen = [browser.colours("panel-0"), browser.colours("panel-1")]
    check(all(c["any"] > 1000 for c in seen), where + "both photographs are drawn")
    check(all(c["blue"] > 100 for c in seen), where + "inliers are drawn in both")
    check(all(c["orange"] > 20 for c in seen), where + "outliers are drawn in both")
    check(browser.colours("links")["any"] > 100, where + "lines join the photographs")
    check(browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth"),
          where + "nothing sticks out to the right")
    stacked = browser.evaluate("document.getElementById('panel-1').getBoundingClientRect().top >"
                               "document.getElementById('panel-0').getBoundingClientRect().bottom")
    check(stacked == (width < 760), where + ("stacked" if width < 760 else "side by side"))

    browser.toggle("inliers")
    without = browser.colours("panel-0")
    check(without["blue"] < seen[0]["blue"] / 20 and without["orange"] > 20, where + "inliers can be switched off")
    browser.toggle("inliers")
    check(browser.drawn() == start, where + "and on again")
    browser.toggle("outliers")
    check(browser.colours("panel-1")["orange"] < seen[1]["orange"] / 4, where + "outliers can be switched off")
    browser.toggle("outliers")
    browser.toggle("others")
    check(browser.drawn()[:2] != start[:2], where + "points without a match can be switched on")
    browser.toggle("others")
    browser.toggle("links")
    check(browser.colours("links")["any"] == 0, where + "lines can be switched off")
    browser.toggle("links")
    browser.toggle("all")
    everything = browser.colours("panel-0")
    browser.slide(30)
    slid = browser.colours("panel-0")
    check(slid["blue"] < everything["blue"] and slid["orange"] < everything["orange"] / 4,
          where + "the slider hides what is far off")
    browser.toggle("all")
    check(browser.evaluate("document.querySelectorAll('#histogram .faded').length") > 0, where + "the histogram shows the slider")
    check("px" in browser.evaluate("document.getElementById('cut-value').textContent"), where + "the slider says its value")
    browser.slide(1000)
    check(browser.drawn() == start, where + "the slider's end shows all")

    worst = browser.evaluate("""Math.max(...corneaPage.matches.filter(m => m.inlier).map(m => {
        const away = ([a, b, c], p) => Math.abs(a * p.x + b * p.y + c) / Math.hypot(a, b);
        const both = away(corneaPage.epipolarLine(1, m.points[0]), m.points[1]) +
            away(corneaPage.epipolarLine(0, m.points[1]), m.points[0]);
        return Math.abs(both - m.distance); }))""")
    check(worst < 1e-3, where + f"lines lie where the distances say ({worst:.1e} px)")
    spot = browser.lonely_match()
    white = [browser.colours("panel-0")["white"], browser.colours("panel-1")["white"]]
    if mobile:
        browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": spot["x"], "y": spot["y"]}])
        browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    else:
        browser.click(spot["x"], spot["y"])
    time.sleep(0.05)
    lit = [browser.colours("panel-0")["white"], browser.colours("panel-1")["white"]]
    check(lit[0] > white[0] + 80 and lit[1] > white[1] + 80, where + "a click draws an epipolar line in both")
    check("Inlier" in browser.evaluate("document.getElementById('selection').textContent"), where + "and says what was clicked")
    browser.evaluate("document.getElementById('panel-0').focus({preventScroll: true})")
    browser.mouse("mouseMoved", 2, 2)
    browser.press("Escape")
    check(browser.drawn()[:2] == start[:2], where + "Escape deselects")
    browser.press("n")
    check(browser.drawn() != start, where + "N selects a match")
    browser.press("Escape")

    box = browser.evaluate("(() => { const b = document.getElementById('panel-0').getBoundingClientRect();"
                           "return [b.left, b.top, b.width, b.height]; })()")
    x, y = box[0] + box[2] * 0.3, box[1] + box[3] * 0.4
    before = browser.drawn()
    if mobile:
        for gap in (20, 30, 45, 60, 80):
            points = [{"x": x - gap, "y": y, "id": 1}, {"x": x + gap, "y": y, "id": 2}]
            browser.call("Input.dispatchTouchEvent", type="touchStart" if gap == 20 else "touchMove", touchPoints=points)
        browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    else:
        browser.mouse("mouseMoved", x, y)
        browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-400)
    time.sleep(0.1)
    zoomed = browser.drawn()
    check(zoomed[0] != before[0] and zoomed[1] != before[1], where + "zooming in one moves both")
    view = browser.evaluate("corneaPage.view")
    check(view["zoom"] > 1.5, where + f"zoomed in ({view['zoom']:.2f})")
    both, one = browser.evaluate("""(() => {
        const size = [0, 1].map(i => document.getElementById('panel-' + i).getBoundingClientRect());
        const inside = (m, i) => { const p = corneaPage.toScreen(i, m.points[i]);
            return p.x >= 0 && p.y >= 0 && p.x <= size[i].width && p.y <= size[i].height; };
        const here = corneaPage.matches.filter(m => m.inlier && inside(m, 0));
        return [here.filter(m => inside(m, 1)).length, here.length]; })()""")
    check(one > 10 and both > 0.6 * one, where + f"both show the same part of the scene ({both} of {one} partners)")
    check(browser.evaluate("document.getElementById('zoom-reset').getBoundingClientRect().height > 0"),
          where + "the way back to the whole can be seen")
    if not mobile:
        browser.mouse("mousePressed", x, y, button="left", clickCount=1)
        browser.mouse("mouseMoved", x + 60, y + 40, button="left", buttons=1)
        browser.mouse("mouseReleased", x + 60, y + 40, button="left", clickCount=1)
        dragged = browser.drawn()
        check(dragged[0] != zoomed[0] and dragged[1] != zoomed[1], where + "dragging one moves both")
        for count in (1, 2):
            browser.mouse("mousePressed", x, y, button="left", clickCount=count)
            browser.mouse("mouseReleased", x, y, button="left", clickCount=count)
    else:
        browser.evaluate("document.getElementById('zoom-reset').click()")
    browser.settle()
    check(browser.evaluate("corneaPage.view.zoom") == 1, where + "and back to the whole")

    inside = """(i => { const m = corneaPage.chosen(), p = corneaPage.toScreen(i, m.points[i]);
        const box = document.getElementById('panel-' + i).getBoundingClientRect();
        return p.x >= 0 && p.y >= 0 && p.x <= box.width && p.y <= box.height; })"""
    browser.evaluate("document.getElementById('panel-0').focus({preventScroll: true})")
    for key in "NNN++++++":
        browser.press(key)
    check(browser.evaluate("corneaPage.view.zoom") > 5 and all(browser.evaluate(f"{inside}({i})") for i in (0, 1)),
          where + "keys zoom in on the chosen match in both")
    for key in ("Escape", "0"):
        browser.press(key)
    if not mobile:
        browser.evaluate("window.scrollTo(0, 120)")
        browser.settle()
        for _ in range(3):
            browser.mouse("mouseWheel", x, y - 100, deltaX=0, deltaY=-100)
            time.sleep(0.05)
        time.sleep(0.4)
        check(browser.evaluate("corneaPage.view.zoom") == 1 and browser.evaluate("window.scrollY") < 120,
              where + "a wheel over a photograph scrolls the page back up")

    light = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    browser.evaluate("document.getElementById('theme').click()")
    dark = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    check(light != dark, where + "the theme can be switched")
    browser.evaluate("document.getElementById('theme').click(); localStorage.clear()")
    check_quiet(browser, where)


def check_hostile_name(browser, page, name):
    browser.open(page, 1000)
    check(browser.evaluate("window.stolen === undefined"), "a name with <script> in it is not run")
    check(name in browser.evaluate("document.getElementById('caption-0').textContent"), "it is shown as it is")
    check(name in browser.evaluate("document.title"), "in the title too")
    check(browser.evaluate("document.querySelectorAll('script').length") == 2, "no element is made of it")
    check(browser.evaluate("document.getElementById('command').textContent").count("cornea") >= 1, "the command is there")
    check(browser.complaints == [], f"the console is empty {browser.complaints}")


def main():
    pictures = screenshots_folder()
    with session(sys.argv[1], sys.argv[2], "cornea-page-") as opened:
        cornea, browser, folder = opened.cornea, opened.browser, opened.folder
        cornea("scene", "-o", "scene", "--views", "2", "--width", "640", "--height", "480", "--noise", "3", "-q")
        first, second = "scene/view_000.png", "scene/view_001.png"
        cornea("pair", first, second, "-o", "ordinary", "--ratio", "0.9", "--device", "cpu")
        hostile = "it's \"<b>\" & <script>stolen=1<%2Fscript><!--.png"
        shutil.copy(os.path.join(folder, first), os.path.join(folder, hostile))
        cornea("pair", hostile, second, "-o", "hostile", "--device", "cpu")
        repeat = open(os.path.join(folder, "hostile", "report.html"), encoding="utf-8").read()
        check(hostile not in repeat, "the hostile name is nowhere in the file as it is")
        page = os.path.join(folder, "ordinary", "report.html")
        attempt(check_ordinary_page, browser, page, 1400, False)
        attempt(check_ordinary_page, browser, page, 400, True)
        for checks in (check_photograph_first, check_order_and_table, check_histogram, check_coverage, check_frame):
            attempt(checks, browser, page)
        attempt(check_residuals, browser, "a scene with depth")
        attempt(check_many_matches, browser, page, folder)
        with open(os.path.join(folder, "scene", "cameras.json")) as file:
            K = json.load(file)["views"][0]["K"]
        camera = f"{K[0][0]},{K[1][1]},{K[0][2]},{K[1][2]}"
        cornea("pair", first, second, "-o", "cameras", "--camera", camera, "--device", "cpu")
        page = os.path.join(folder, "cameras", "report.html")
        attempt(check_space, browser, page, 1440, False)
        attempt(check_space, browser, page, 390, True)
        cornea("pair", first, second, "-o", "bent", "--camera", camera + ",0.02,0", "--threshold", "6", "--device", "cpu")
        attempt(check_bent_lines, browser, os.path.join(folder, "bent", "report.html"))
        browser.open(os.path.join(folder, "ordinary", "report.html"), 1440)
        check(browser.evaluate("document.getElementById('pose-card').getBoundingClientRect().height") == 0,
              "without cameras there is no view of them")
        check_hostile_name(browser, os.path.join(folder, "hostile", "report.html"), hostile)
        command = browser.evaluate("document.getElementById('command').textContent")
        again = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True)
        check(again.returncode == 0, "the command on the page can be repeated in a shell")

        cornea("scene", "-o", "plane", "--kind", "plane", "--views", "2", "--width", "640", "--height", "480", "-q")
        cornea("pair", "plane/view_000.png", "plane/view_001.png", "-o", "planar", "--device", "cpu")
        browser.open(os.path.join(folder, "planar", "report.html"), 1400, dark=True)
        check("plane" in browser.evaluate("document.getElementById('sentence').textContent"), "a plane is called one")
        check(browser.evaluate("document.getElementById('matrix-name').textContent") == "Homography", "and has a homography")
        spot = browser.lonely_match()
        before = browser.drawn()
        browser.click(spot["x"], spot["y"])
        check(browser.drawn() != before, "a click on a plane's match lights it up")
        browser.press("Escape")
        limit = browser.evaluate("JSON.parse(document.getElementById('data').textContent).threshold")
        check(limit > 0 and f"threshold {round(limit, 2):g} px" in text_of(browser, "histogram"), "a plane has its threshold")
        worst = browser.evaluate("Math.max(...corneaPage.matches.filter(m => m.inlier).map(m => m.distance))")
        least = browser.evaluate("Math.min(...corneaPage.matches.filter(m => !m.inlier).map(m => m.distance))")
        check(worst < limit <= least, f"which its inliers keep and no outlier does ({worst:.2f}, {limit:.2f}, {least:.2f})")
        check(browser.evaluate("document.querySelector('#matrix tr:last-child td:last-child').textContent") == "1.0000" and
              "H\u2083\u2083 = 1" in text_of(browser, "matrix-text"), "H has H33 = 1")
        attempt(check_residuals, browser, "a plane")
        check(browser.complaints == [], f"the console is empty {browser.complaints}")

        with open(os.path.join(folder, "flat.pgm"), "wb") as out:
            out.write(b"P5 64 48 255\n" + bytes([90]) * (64 * 48))
        cornea("pair", "flat.pgm", "flat.pgm", "-o", "nothing", "--device", "cpu")
        for k in (0, 1):
            with open(os.path.join(folder, f"noise{k}.pgm"), "wb") as out:
                out.write(b"P5 128 96 255\n" + random.Random(k).randbytes(128 * 96))
        cornea("pair", "noise0.pgm", "noise1.pgm", "-o", "chance", "--ratio", "1", "--no-mutual", "--device", "cpu")
        check(json.load(open(os.path.join(folder, "chance", "summary.json")))["kind"] == "none", "noise has no geometry")
        browser.open(os.path.join(folder, "chance", "report.html"), 1400)
        check("chance" in text_of(browser, "matrix-text") and text_of(browser, "matrix-text").count(".") >= 2,
              "without geometry sentences say why")
        check(text_of(browser, "name-outliers") == "Matches" and "Outlier" not in browser.evaluate("document.body.innerText"),
              "and no match is called an outlier")
        check(browser.evaluate("corneaPage.listed()[0].ratio <= corneaPage.listed()[1].ratio"), "the table is by ratio")
        browser.press("n")
        check(text_of(browser, "selection").startswith("Match"), "a match is called one")
        check(browser.complaints == [], f"the console is empty {browser.complaints}")
        browser.open(os.path.join(folder, "nothing", "report.html"), 400, mobile=True)
        check("No geometry" in browser.evaluate("document.getElementById('sentence').textContent"), "nothing found is said")
        check(browser.evaluate("document.getElementById('cut').disabled"), "without distances there is no slider")
        check(browser.complaints == [], f"the console is empty {browser.complaints}")

        if pictures:
            os.makedirs(pictures, exist_ok=True)
            for name in ("ordinary", "cameras", "planar", "chance", "nothing"):
                for width in (2560, 1440, 390):
                    for dark in (False, True):
                        browser.open(os.path.join(folder, name, "report.html"), width, dark=dark, mobile=width == 390,
                                     density=2 if width == 390 else 1)
                        browser.screenshot(os.path.join(pictures, f"{name}-{width}-{'dark' if dark else 'light'}.png"))
    return verdict()


if __name__ == "__main__":
    sys.exit(main())
