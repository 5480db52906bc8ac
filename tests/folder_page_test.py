#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the page of a folder as a user sees it, in headless Chromium.

    folder_page_test.py PROGRAM CHROMIUM [--screenshots DIR]

Makes collections of generated photographs (make_collection.py), writes their pages with the program, opens them
from disk over the DevTools protocol, and compares what is shown with the database, which is read here
independently: matrix, graph, groups, table, filters, histograms, the view of a pair, keys, fingers, print, both
forms of the page, and what it says if its files are missing. If the environment variable CORNEA_AXE names an
axe.min.js, axe-core must find nothing. Uses only Python's standard library.
"""
import os
import subprocess
import sys
import time

from chromium import attempt, check, check_quiet, screenshots_folder, session, text_of, verdict
from folder_page_parts import (check_graph_and_keys, check_groups, check_histograms, check_matrix, check_pair_view,
                               check_table)
from folder_page_facts import Facts

HERE = os.path.dirname(os.path.abspath(__file__))


def make_page(opened, name, *arguments):
    """Writes the page of a generated collection; returns it with the facts of its database."""
    subprocess.run([sys.executable, "-B", os.path.join(HERE, "make_collection.py"), opened.path(name), *arguments], check=True,
                   capture_output=True)
    opened.cornea("report", "--db", f"{name}/collection.db", "--images", f"{name}/photos", "-o", f"{name}/out", "-q")
    return opened.path(name, "out", "report.html"), Facts(opened.path(name, "collection.db"), opened.path(name, "photos"))


def check_axe(browser, where):
    axe = os.environ.get("CORNEA_AXE")
    if not axe:
        return
    with open(axe, encoding="utf-8") as file:
        found = browser.violations(file.read())
    check(found == [], where + f"axe-core finds nothing {found}")


def check_layout(browser, page, width, mobile):
    where = f"at {width} pixels: "
    browser.open(page, width, mobile=mobile, density=2 if mobile else 1)
    check(browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), where + "nothing sticks out to the right")
    boxes = browser.evaluate("['matrix', 'graph', 'rows'].map(i => { const b = document.getElementById(i).getBoundingClientRect();"
                             "return [b.left, b.right, b.width, b.height]; })")
    check(all(0 <= b[0] and b[1] <= width and b[2] > 200 and b[3] > 200 for b in boxes), where + f"all parts have room {boxes}")
    small = browser.evaluate("""[...document.querySelectorAll('button, input, select')].map(e => [e.id, e.getBoundingClientRect()])
        .filter(([id, b]) => b.height > 0 && b.height < %d).map(([id, b]) => id + ' ' + b.height)""" % (36 if mobile else 20))
    check(small == [], where + f"buttons can be hit {small}")
    if mobile:
        spot = browser.evaluate("""(() => { const f = corneaFolder, p = Array.from(f.pairs.inliers).findIndex((n, p) => f.pairs.kind[p] === 2);
            const places = [f.pairs.first[p], f.pairs.second[p]].map(i => f.order.indexOf(i)).sort((a, b) => a - b);
            f.matrix.canvas.scrollIntoView({block: 'center'});
            const box = f.matrix.canvas.getBoundingClientRect(), s = f.matrix.glide.toScreen(places[1] + 0.5, places[0] + 0.5);
            return [box.left + s.x, box.top + s.y]; })()""")
        touch = [{"x": spot[0], "y": spot[1]}]
        for _ in range(2):
            browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=touch)
            browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
            browser.settle()
            if _ == 0:
                check(browser.evaluate("corneaFolder.picked.cell !== null && !corneaFolder.pairView.dialog.open"),
                      where + "a finger selects a pair of the matrix")
        check(browser.evaluate("corneaFolder.pairView.dialog.open"), where + "and opens it with a second touch")
        check(browser.evaluate("(b => b.width <= window.innerWidth && b.left >= 0)(document.getElementById('pair').getBoundingClientRect())"),
              where + "the view of the pair fits the screen")
        browser.evaluate("document.getElementById('pair-close').click()")
    check_axe(browser, where)
    check_quiet(browser, where)


def check_themes_and_print(browser, page, folder):
    browser.open(page, 1400)
    light = browser.pixels("matrix")
    browser.evaluate("document.getElementById('theme').click()")
    dark = browser.pixels("matrix")
    check(sum(light["mean"]) > sum(dark["mean"]) + 150, f"the theme is that of the matrix too ({light['mean']}, {dark['mean']})")
    check_axe(browser, "dark: ")
    browser.call("Emulation.setEmulatedMedia", media="print")
    browser.settle()
    paper = browser.pixels("matrix")
    check(sum(paper["mean"]) > sum(dark["mean"]) + 150, "print is white, whatever the theme")
    browser.call("Emulation.setEmulatedMedia", media="")
    file = os.path.join(folder, "page.pdf")
    browser.pdf(file)
    with open(file, "rb") as pdf:
        start = pdf.read()
    check(start.startswith(b"%PDF") and len(start) > 50000, f"it can be printed ({len(start)} bytes)")
    browser.evaluate("document.getElementById('theme').click(); localStorage.clear()")
    check_quiet(browser)


def check_hostile_names(browser, page, facts):
    browser.open(page, 1400)
    check(browser.evaluate("window.stolen === undefined"), "a name with <script> in it is not run")
    check(browser.evaluate("corneaFolder.images.names") == facts.names, "names are shown as they are")
    name = facts.names[0]
    browser.type_into("search", name)
    check("<script>" in name and browser.evaluate("corneaFolder.table.listed.length") ==
          sum(name in (facts.names[a], facts.names[b]) for a, b in facts.pairs), "such a name can be looked for")
    check(name in browser.evaluate("document.getElementById('rows').innerText"), "and is in the table as it is")
    check(browser.evaluate("document.querySelectorAll('script').length") == 3, "no element is made of it")
    check_quiet(browser)


def check_several_files(browser, page, facts):
    parts = os.path.join(os.path.dirname(page), "report_parts")
    names = sorted(os.listdir(parts))
    check(any(n.startswith("thumbnails-") for n in names) and any(n.startswith("lines-") for n in names),
          f"beyond 400 images there are files beside the page ({len(names)})")
    browser.open(page, 1400)
    check(not any("lines-" in r for r in browser.requests), "lines are not read before a pair is opened")
    browser.wait_for("(all => all.length > 5 && all.every(i => i.complete && i.naturalWidth > 0))"
                     "([...document.querySelectorAll('.group img.thumb')])", "thumbnails come from the files")
    check_pair_view(browser, facts)
    check(any("lines-" in r for r in browser.requests), "lines come from the files")
    check(browser.evaluate("document.getElementById('parts-problem').hidden"), "all files are there")
    check_quiet(browser, "several files: ")

    lines = os.path.join(parts, next(n for n in names if n.startswith("lines-")))
    text = open(lines, encoding="utf-8").read()
    key = text.split('"')[3]
    with open(lines, "w", encoding="utf-8") as file:
        file.write(text.replace(key, "0" * len(key), 1))
    browser.open(page, 1400)
    browser.evaluate("corneaFolder.openPair(0)")
    browser.wait_for("!document.getElementById('parts-problem').hidden", "a file of another run is noticed")
    check("another run" in text_of(browser, "parts-problem"), "and said to be one")
    check(browser.evaluate("corneaFolder.pairView.lines.length") == 0, "its lines are not drawn")
    os.remove(lines)
    browser.open(page, 1400)
    browser.evaluate("corneaFolder.openPair(0)")
    browser.wait_for("!document.getElementById('parts-problem').hidden", "a missing file is noticed")
    check("missing" in text_of(browser, "parts-problem"), "and said to be missing")
    check(all("report_parts" in c or "Failed to load resource" in c or "ERR_FILE_NOT_FOUND" in c for c in browser.complaints),
          f"nothing else is wrong {browser.complaints}")


def check_folder_command(opened):
    """The page that `cornea folder` writes at its end."""
    opened.cornea("scene", "-o", "scene", "--views", "4", "--width", "320", "--height", "240", "-q")
    opened.cornea("folder", "scene", "-o", "run", "--device", "cpu", "-q")
    browser = opened.browser
    browser.open(opened.path("run", "report.html"), 1400)
    facts = Facts(opened.path("run", "database.db"), opened.path("scene"))
    check(browser.evaluate("corneaFolder.images.names") == facts.names and len(facts.names) == 4, "cornea folder writes the page")
    check("All 4 images are connected" in text_of(browser, "sentence"), "it says that all are connected")
    check("colmap mapper" in text_of(browser, "next"), "and the command to type next")
    check(text_of(browser, "stages").count("ms") + text_of(browser, "stages").count(" s") >= 4, "and what took how long")
    check_pair_view(browser, facts)
    check_quiet(browser, "cornea folder: ")


def check_few(opened):
    """Folders without any connected images, and with a single image."""
    for count in (1, 3):
        page, facts = make_page(opened, f"few{count}", "--images", str(count), "--groups", "1")
        opened.browser.open(page, 1000)
        check(len(facts.names) == opened.browser.evaluate("corneaFolder.images.names.length"), f"a page of {len(facts.names)} images")
        check_axe(opened.browser, f"{count} images: ")
        check_quiet(opened.browser, f"{count} images: ")


def take_screenshots(browser, pages, pictures):
    os.makedirs(pictures, exist_ok=True)
    for name, page in pages:
        for width in (1440, 390):
            for dark in (False, True):
                browser.open(page, width, dark=dark, mobile=width == 390, density=2 if width == 390 else 1)
                time.sleep(1)  # thumbnails are loaded from files
                browser.screenshot(os.path.join(pictures, f"{name}-{width}-{'dark' if dark else 'light'}.png"))
        browser.open(page, 1440)
        browser.pdf(os.path.join(pictures, f"{name}.pdf"))


def main():
    with session(sys.argv[1], sys.argv[2], "cornea-folder-page-") as opened:
        browser = opened.browser
        page, facts = make_page(opened, "one", "--images", "70", "--groups", "3", "--hostile")
        check(not os.path.exists(opened.path("one", "out", "report_parts")), "up to 400 images the page is one file")
        attempt(check_layout, browser, page, 1400, False)
        attempt(check_layout, browser, page, 390, True)
        browser.open(page, 1400)
        for checks in (check_groups, check_matrix, check_graph_and_keys, check_table, check_histograms, check_pair_view):
            attempt(checks, browser, facts)
        check_quiet(browser, "one file: ")
        attempt(check_themes_and_print, browser, page, opened.folder)
        attempt(check_hostile_names, browser, page, facts)
        attempt(check_few, opened)
        attempt(check_folder_command, opened)
        many, facts = make_page(opened, "several", "--images", "401", "--groups", "3")
        if screenshots_folder():
            take_screenshots(browser, [("one", page), ("several", many)], screenshots_folder())
        attempt(check_several_files, browser, many, facts)
    return verdict()


if __name__ == "__main__":
    sys.exit(main())
