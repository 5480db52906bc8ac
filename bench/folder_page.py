#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how fast the page of a folder opens and scrolls in headless Chromium, and what axe-core finds in it.

    folder_page.py CHROMIUM PAGE... [--axe FILE] [--json FILE] [--runs N]

PAGE is a report.html that `cornea folder` or `cornea report` wrote; tests/make_collection.py makes collections of
any size. Opening is measured from the start of the navigation until two frames after the page has drawn itself, by
the clock and by the time of the page's own thread, which excludes other load on the machine. While the page, the
table, the zoomed matrix and the zoomed graph are moved for some seconds, every frame is recorded: intervals by the
clock and the thread's time per frame. FILE of --axe is an axe.min.js. Uses only Python's standard library.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))
from chromium import Browser  # noqa: E402


def thread_seconds(browser):
    metrics = {m["name"]: m["value"] for m in browser.call("Performance.getMetrics")["metrics"]}
    return metrics["TaskDuration"]


def opened(browser, page, width, mobile=False, dark=False):
    browser.call("Page.navigate", url="about:blank")
    browser.settle()
    before = thread_seconds(browser)
    browser.open(page, width, dark=dark, mobile=mobile, density=2 if mobile else 1)
    times = browser.evaluate("""(() => { const n = performance.getEntriesByType('navigation')[0];
        const paint = performance.getEntriesByName('first-contentful-paint')[0];
        return {paint: paint ? paint.startTime : null, load: n.loadEventEnd, ready: Number(document.documentElement.dataset.readyAt)}; })()""")
    after = thread_seconds(browser)
    # A new page may have a new process, whose clock begins at 0.
    times["thread"] = 1000 * (after - before if after > before else after)
    return times


RECORD = """(() => { window.frames_ = []; window.stop_ = false;
    const note = (t) => { frames_.push(t); if (!stop_) requestAnimationFrame(note); };
    requestAnimationFrame(note); })()"""


def recorded(browser, move):
    browser.settle()
    browser.evaluate(RECORD)
    before = thread_seconds(browser)
    move()
    spent = thread_seconds(browser) - before
    frames = browser.evaluate("(window.stop_ = true, frames_)")
    steps = sorted(b - a for a, b in zip(frames, frames[1:]))
    return {"frames": len(steps), "median_ms": statistics.median(steps), "p95_ms": steps[int(0.95 * (len(steps) - 1))], "worst_ms": steps[-1],
            "over_34_ms": sum(s > 34 for s in steps), "thread_ms_per_frame": 1000 * spent / len(steps)}


def scrolls(browser):
    """{what is moved: frames}"""
    def gesture(element, distance, speed=1600, repeat=2):
        x, y = browser.evaluate(f"(b => [b.left + b.width / 2, b.top + Math.min(b.height, innerHeight) / 2])"
                                f"(document.{element}.getBoundingClientRect())")
        y = max(20, min(y, 860))
        browser.call("Input.synthesizeScrollGesture", x=x, y=y, yDistance=-distance, speed=speed, repeatCount=repeat, repeatDelayMs=0)

    def drag(name):
        box = browser.evaluate(f"(b => [b.left, b.top, b.width, b.height])(document.getElementById('{name}').getBoundingClientRect())")
        x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
        browser.mouse("mouseMoved", x, y)
        browser.mouse("mousePressed", x, y, button="left", clickCount=1)
        for k in range(120):
            browser.mouse("mouseMoved", x + 1.5 * (k if k < 60 else 120 - k), y + (k if k < 60 else 120 - k), button="left", buttons=1)
        browser.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def hover(name):
        box = browser.evaluate(f"(b => [b.left, b.top, b.width, b.height])(document.getElementById('{name}').getBoundingClientRect())")
        for k in range(120):
            browser.mouse("mouseMoved", box[0] + box[2] * (0.2 + 0.005 * k), box[1] + box[3] * (0.2 + 0.005 * k))

    result = {}
    browser.evaluate("scrollTo(0, 0)")
    result["page"] = recorded(browser, lambda: gesture("body", 1500))
    browser.evaluate("document.getElementById('rows').scrollIntoView({block: 'center'})")
    result["table"] = recorded(browser, lambda: gesture("getElementById('rows')", 3000, 2400))
    for name in ("matrix", "graph"):
        browser.evaluate(f"document.getElementById('{name}').scrollIntoView({{block: 'center'}})")
        result[name + " under the pointer"] = recorded(browser, lambda: hover(name))
        for _ in range(4):
            browser.evaluate(f"document.getElementById('{name}-zoom-in').click()")
        result[name + ", zoomed, dragged"] = recorded(browser, lambda: drag(name))
        browser.evaluate(f"document.getElementById('{name}-zoom-reset').click()")
    return result


def measure(browser, page, runs, axe):
    result = {"bytes": os.path.getsize(page)}
    times = [opened(browser, page, 1440) for _ in range(runs)]
    counts = browser.evaluate("[corneaFolder.images.names.length, corneaFolder.pairs.first.length]")
    result["images"], result["pairs"] = counts
    result["open_ms"] = {key: round(statistics.median(t[key] or 0 for t in times)) for key in times[0]}
    result["worst_open_ms"] = round(max(t["ready"] for t in times))
    result["scroll"] = scrolls(browser)
    if axe:
        result["axe"] = {}
        for width in (1440, 390):
            for dark in (False, True):
                opened(browser, page, width, width == 390, dark)
                result["axe"][f"{width} {'dark' if dark else 'light'}"] = browser.violations(axe)
        opened(browser, page, 1440)
        browser.evaluate("corneaFolder.openPair(0)")
        browser.settle()
        result["axe"]["pair opened"] = browser.violations(axe)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("chromium")
    parser.add_argument("pages", nargs="+")
    parser.add_argument("--axe")
    parser.add_argument("--json")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    axe = open(given.axe, encoding="utf-8").read() if given.axe else None
    results = []
    with tempfile.TemporaryDirectory(prefix="cornea-chromium-", ignore_cleanup_errors=True) as profile:
        browser = Browser(given.chromium, profile)
        try:
            browser.call("Performance.enable", timeDomain="threadTicks")
            for page in given.pages:
                r = measure(browser, page, given.runs, axe)
                results.append(r)
                print(f"{r['images']:,} images, {r['pairs']:,} pairs, {r['bytes'] / 1e6:.1f} MB: ready after {r['open_ms']['ready']} ms "
                      f"(worst of {given.runs}: {r['worst_open_ms']}), first paint {r['open_ms']['paint']} ms, "
                      f"page's thread {r['open_ms']['thread']} ms")
                for name, s in r["scroll"].items():
                    print(f"  {name}: {s['frames']} frames, median {s['median_ms']:.1f} ms, 95% {s['p95_ms']:.1f} ms, "
                          f"worst {s['worst_ms']:.1f} ms, {s['over_34_ms']} over 34 ms; thread {s['thread_ms_per_frame']:.1f} ms per frame")
                for name, found in r.get("axe", {}).items():
                    print(f"  axe, {name}: {found if found else 'no violation'}")
        finally:
            browser.close()
    if given.json:
        with open(given.json, "w", encoding="utf-8") as out:
            json.dump({"runs": given.runs, "pages": results}, out, indent=1)


if __name__ == "__main__":
    main()
