#!/usr/bin/env python3
"""The report page as a person meets it, in headless Chromium.

    page_test.py PROGRAM CHROMIUM [--screenshots DIR]

Makes pairs with the program, opens their pages from disk over the DevTools protocol, and looks at what is
drawn: no error in the console, switches, slider, clicks, keys, zoom in step, wide and narrow, dark and
light, and a name that tries to be a script. Python's standard library only.
"""
import base64
import hashlib
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request


class WebSocket:
    """A client's side of RFC 6455, as much as DevTools needs: text both ways."""

    def __init__(self, address):
        parts = urllib.parse.urlparse(address)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\n"
                             f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                             "Sec-WebSocket-Version: 13\r\n\r\n").encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.socket.recv(1)
        if b" 101 " not in answer.split(b"\r\n")[0]:
            raise ConnectionError(answer.decode(errors="replace"))

    def take(self, count):
        parts = []
        while count:
            part = self.socket.recv(min(count, 1 << 20))
            if not part:
                raise ConnectionError("the browser hung up")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def send(self, text):
        payload, mask = text.encode(), os.urandom(4)
        size = len(payload)
        head = bytes([0x81]) + (bytes([0x80 | size]) if size < 126 else
                                struct.pack(">BH", 0x80 | 126, size) if size < 65536 else
                                struct.pack(">BQ", 0x80 | 127, size))
        masked = bytes(b ^ mask[i % 4] for i, b in enumerate(payload))
        self.socket.sendall(head + mask + masked)

    def receive(self):
        message = b""
        while True:
            first, second = self.take(2)
            size = second & 0x7F
            if size == 126:
                size = struct.unpack(">H", self.take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.take(8))[0]
            payload = self.take(size)
            if first & 0x0F in (0, 1):
                message += payload
                if first & 0x80:
                    return message.decode()
            elif first & 0x0F == 8:
                raise ConnectionError("the browser closed the connection")


class Browser:
    def __init__(self, program, folder):
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-background-networking", "--disable-dev-shm-usage", "--remote-debugging-port=0",
             f"--user-data-dir={folder}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file, deadline = os.path.join(folder, "DevToolsActivePort"), time.time() + 60
        while not (os.path.exists(port_file) and open(port_file).read().count("\n") >= 1):
            if time.time() > deadline or self.process.poll() is not None:
                raise RuntimeError("Chromium did not start")
            time.sleep(0.1)
        port = open(port_file).readline().strip()
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list"))
        self.socket = WebSocket(next(p for p in pages if p["type"] == "page")["webSocketDebuggerUrl"])
        self.count, self.complaints, self.requests = 0, [], []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def call(self, method, **parameters):
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == self.count:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.note(message)

    def note(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"])[:400])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(parameters["args"])[:400])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append("a dialog: " + parameters["message"])
            self.socket.send(json.dumps({"id": 0, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"][:200])

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {json.dumps(result['exceptionDetails'])[:500]}")
        return result["result"].get("value")

    def open(self, file, width, height=900, dark=False, mobile=False, density=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=density,
                  mobile=mobile)
        self.call("Emulation.setTouchEmulationEnabled", enabled=mobile)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.complaints, self.requests = [], []
        self.call("Page.navigate", url="file://" + urllib.parse.quote(os.path.abspath(file)))
        for _ in range(300):
            if self.evaluate("(document.documentElement || document.body || {dataset: {}}).dataset.ready || ''") == "yes":
                break
            time.sleep(0.1)
        else:
            raise RuntimeError(f"{file} did not get ready: {self.complaints}")
        self.settle()

    def settle(self):
        """Waits until what was asked for is drawn."""
        self.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))")

    def drawn(self):
        """A hash of each canvas: first photograph, second photograph, lines between them."""
        self.settle()
        images = self.evaluate("['panel-0','panel-1','links'].map(i => document.getElementById(i).toDataURL())")
        return [hashlib.sha256(image.encode()).hexdigest()[:12] for image in images]

    def colours(self, canvas):
        """How many pixels of a canvas are bluish (inliers), orange (outliers) and white; the scenes are gray."""
        self.settle()
        return self.evaluate("""(() => { const c = document.getElementById('%s');
            const copy = document.createElement('canvas');
            copy.width = c.width; copy.height = c.height;
            const pen = copy.getContext('2d', {willReadFrequently: true});
            pen.drawImage(c, 0, 0);
            const d = pen.getImageData(0, 0, c.width, c.height).data;
            let blue = 0, orange = 0, white = 0, any = 0;
            for (let i = 0; i < d.length; i += 4) {
              any += d[i + 3] > 0;
              blue += d[i + 2] - d[i] > 60;
              orange += d[i] - d[i + 2] > 60;
              white += d[i] > 252 && d[i + 1] > 252 && d[i + 2] > 252; }
            return {blue, orange, white, any}; })()""" % canvas)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def press(self, key):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key if len(key) == 1 else "")
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def toggle(self, box):
        self.evaluate(f"document.getElementById('show-{box}').click()")

    def slide(self, value):
        self.evaluate("(() => { const s = document.getElementById('cut'); s.value = %d;"
                      "s.dispatchEvent(new Event('input')); })()" % value)

    def lonely_match(self, panel=0):
        """Where, in the window, the inlier lies that is farthest from all others."""
        return self.evaluate("""(() => { const page = corneaPage;
            const canvas = document.getElementById('panel-%d');
            canvas.scrollIntoView({block: 'center'});
            const box = canvas.getBoundingClientRect();
            const places = page.matches.map(m => page.toScreen(%d, m.points[%d]));
            let best = null, most = 0;
            places.forEach((p, i) => {
              if (!page.matches[i].inlier || p.x < 20 || p.y < 20 || p.x > box.width - 20 || p.y > box.height - 20)
                return;
              let nearest = Infinity;
              for (const q of places) {
                const d = Math.hypot(p.x - q.x, p.y - q.y);
                if (d > 0 && d < nearest) nearest = d;
              }
              if (nearest > most) { most = nearest; best = {x: box.left + p.x, y: box.top + p.y, index: i}; }
            });
            return best; })()""" % (panel, panel, panel))

    def screenshot(self, file, whole=True):
        self.settle()
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(file, "wb") as out:
            out.write(base64.b64decode(data))

    def close(self):
        try:
            self.call("Browser.close")
        except (ConnectionError, OSError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


failures = []


def check(condition, what):
    print(("ok    " if condition else "FAIL  ") + what)
    if not condition:
        failures.append(what)


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
    browser.slide(30)
    slid = browser.colours("panel-0")
    check(slid["blue"] < seen[0]["blue"] and slid["orange"] < seen[0]["orange"] / 4, where + "the slider hides what is far off")
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
    check(browser.drawn()[:2] == start[:2], where + "Escape lets go")
    browser.press("n")
    check(browser.drawn() != start, where + "N chooses a match")
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
    check(one > 10 and both > 0.6 * one, where + f"both look at the same of the scene ({both} of {one} partners)")
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
    check(browser.complaints == [], where + f"no word in the console {browser.complaints}")
    check(all(r.startswith(("file:", "data:")) for r in browser.requests), where + "nothing comes from the network")


def check_hostile_name(browser, page, name):
    browser.open(page, 1000)
    check(browser.evaluate("window.stolen === undefined"), "a name with <script> in it is not run")
    check(name in browser.evaluate("document.getElementById('caption-0').textContent"), "it is shown as it is")
    check(name in browser.evaluate("document.title"), "in the title too")
    check(browser.evaluate("document.querySelectorAll('script').length") == 2, "no element is made of it")
    check(browser.evaluate("document.getElementById('command').textContent").count("cornea") >= 1, "the command is there")
    check(browser.complaints == [], f"no word in the console {browser.complaints}")


def main():
    program, chromium = os.path.abspath(sys.argv[1]), sys.argv[2]
    pictures = sys.argv[4] if len(sys.argv) > 4 and sys.argv[3] == "--screenshots" else None
    folder = tempfile.mkdtemp(prefix="cornea-page-")
    browser = None
    try:
        def cornea(*words):
            return subprocess.run([program, *words], cwd=folder, check=True, capture_output=True, text=True)

        cornea("scene", "-o", "scene", "--views", "2", "--width", "640", "--height", "480", "--noise", "3", "-q")
        first, second = "scene/view_000.png", "scene/view_001.png"
        cornea("pair", first, second, "-o", "ordinary", "--ratio", "0.9", "--device", "cpu")
        hostile = "it's \"<b>\" & <script>stolen=1<%2Fscript><!--.png"
        shutil.copy(os.path.join(folder, first), os.path.join(folder, hostile))
        cornea("pair", hostile, second, "-o", "hostile", "--device", "cpu")
        repeat = open(os.path.join(folder, "hostile", "report.html"), encoding="utf-8").read()
        check(hostile not in repeat, "the hostile name is nowhere in the file as it is")
        browser = Browser(chromium, os.path.join(folder, "profile"))
        page = os.path.join(folder, "ordinary", "report.html")
        check_ordinary_page(browser, page, 1400, mobile=False)
        check_ordinary_page(browser, page, 400, mobile=True)
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
        check(browser.complaints == [], f"no word in the console {browser.complaints}")

        with open(os.path.join(folder, "flat.pgm"), "wb") as out:
            out.write(b"P5 64 48 255\n" + bytes([90]) * (64 * 48))
        cornea("pair", "flat.pgm", "flat.pgm", "-o", "nothing", "--device", "cpu")
        browser.open(os.path.join(folder, "nothing", "report.html"), 400, mobile=True)
        check("No geometry" in browser.evaluate("document.getElementById('sentence').textContent"), "nothing found is said")
        check(browser.evaluate("document.getElementById('cut').disabled"), "without distances there is no slider")
        check(browser.complaints == [], f"no word in the console {browser.complaints}")

        if pictures:
            os.makedirs(pictures, exist_ok=True)
            for name in ("ordinary", "planar", "nothing"):
                for width in (1400, 400):
                    for dark in (False, True):
                        browser.open(os.path.join(folder, name, "report.html"), width, dark=dark, mobile=width == 400,
                                     density=2 if width == 400 else 1)
                        browser.screenshot(os.path.join(pictures, f"{name}-{width}-{'dark' if dark else 'light'}.png"))
    finally:
        if browser:
            browser.close()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(failures)} of the checks failed" if failures else "all is well")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
