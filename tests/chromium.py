# SPDX-License-Identifier: Apache-2.0
"""Drives headless Chromium over the DevTools protocol, as far as tests of pages need it, and reports what they find.
Uses only Python's standard library.
"""
import base64
import contextlib
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
    """The client side of RFC 6455, as far as DevTools needs it: text in both directions."""

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
        """Waits until pending drawing is done."""
        self.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))")

    def drawn(self):
        """A hash of each canvas: first photograph, second photograph, lines between them."""
        self.settle()
        images = self.evaluate("['panel-0','panel-1','links'].map(i => document.getElementById(i).toDataURL())")
        return [hashlib.sha256(image.encode()).hexdigest()[:12] for image in images]

    def _of_canvas(self, canvas, body):
        """Evaluates the body of a function of the canvas's pixels, d."""
        self.settle()
        return self.evaluate("""(() => { const c = document.getElementById('%s');
            const copy = document.createElement('canvas');
            copy.width = c.width; copy.height = c.height;
            const pen = copy.getContext('2d', {willReadFrequently: true});
            pen.drawImage(c, 0, 0);
            const d = pen.getImageData(0, 0, c.width, c.height).data;
            %s })()""" % (canvas, body))

    def colours(self, canvas):
        """How many pixels of a canvas are bluish (inliers), orange (outliers) and white; the scenes are gray."""
        return self._of_canvas(canvas, """
            let blue = 0, orange = 0, white = 0, any = 0;
            for (let i = 0; i < d.length; i += 4) {
              any += d[i + 3] > 0;
              blue += d[i + 2] - d[i] > 60;
              orange += d[i] - d[i + 2] > 60;
              white += d[i] > 252 && d[i + 1] > 252 && d[i + 2] > 252; }
            return {blue, orange, white, any};""")

    def pixels(self, canvas):
        """A canvas as a hash, the number of its opaque pixels and their mean colour."""
        return self._of_canvas(canvas, """
            const sum = [0, 0, 0];
            let opaque = 0, hash = 0;
            for (let i = 0; i < d.length; i += 4) {
              hash = (hash * 31 + (d[i] << 16 ^ d[i + 1] << 8 ^ d[i + 2] ^ d[i + 3] << 24)) | 0;
              if (d[i + 3] < 255) continue;
              opaque += 1;
              for (const k of [0, 1, 2]) sum[k] += d[i + k]; }
            return {hash, opaque, mean: sum.map(s => Math.round(s / Math.max(1, opaque)))};""")

    def wait_for(self, condition, what):
        """Checks that an expression becomes true within some seconds."""
        deadline = time.time() + 15
        while not self.evaluate(condition):
            if time.time() > deadline:
                check(False, what)
                return
            time.sleep(0.05)
        check(True, what)

    def type_into(self, field, text):
        self.evaluate("(f => { f.value = %s; f.dispatchEvent(new Event('input')); })(document.getElementById('%s'))"
                      % (json.dumps(text), field))

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def press(self, key, shift=False):
        """Presses a key; Enter and Tab have their usual effect in a browser."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        more = {"modifiers": 8 if shift else 0}
        if key in codes:
            more["windowsVirtualKeyCode"] = codes[key]
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **more)

    def toggle(self, box):
        self.evaluate(f"document.getElementById('show-{box}').click()")
        self.settle()

    def slide(self, value):
        self.evaluate("(() => { const s = document.getElementById('cut'); s.value = %d;"
                      "s.dispatchEvent(new Event('input')); })()" % value)

    def lonely_match(self, panel=0):
        """The position in the window of the inlier that is farthest from all others."""
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

    def pdf(self, file):
        data = self.call("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)["data"]
        with open(file, "wb") as out:
            out.write(base64.b64decode(data))

    def violations(self, axe):
        """Runs axe-core, given as text, and returns 'rule: first element' for each violation."""
        self.evaluate(axe + "; 0")
        found = json.loads(self.evaluate("axe.run().then(r => JSON.stringify(r.violations.map(v => [v.id, v.nodes.map(n => n.html)])))"))
        return [f"{rule}: {elements[0][:160]}" for rule, elements in found]

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


def attempt(checks, *arguments):
    """Runs a check; if the page lacks what it looks for, the check fails and the others continue."""
    try:
        checks(*arguments)
    except (RuntimeError, KeyError, TypeError, IndexError) as error:
        check(False, f"{checks.__name__}: {error}")


def text_of(browser, element):
    return browser.evaluate(f"document.getElementById('{element}').textContent")


def check_quiet(browser, where=""):
    """Checks that nothing was written to the console, and that nothing was loaded from anywhere but the disk."""
    check(browser.complaints == [], where + f"the console is empty {browser.complaints}")
    check(all(r.startswith(("file:", "data:")) for r in browser.requests), where + "nothing comes from the network")


class Session:
    """The environment of a test of pages: a folder, the program, which runs in it, and the browser."""

    def __init__(self, program, chromium, folder):
        self.program, self.folder = program, folder
        self.browser = Browser(chromium, os.path.join(folder, "profile"))

    def cornea(self, *words):
        return subprocess.run([self.program, *words], cwd=self.folder, check=True, capture_output=True, text=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)


@contextlib.contextmanager
def session(program, chromium, prefix):
    folder, opened = tempfile.mkdtemp(prefix=prefix), None
    try:
        opened = Session(os.path.abspath(program), chromium, folder)
        yield opened
    finally:
        if opened:
            opened.browser.close()
        shutil.rmtree(folder, ignore_errors=True)


def verdict():
    """Prints the result of a test and returns its exit code."""
    print(f"{len(failures)} of the checks failed" if failures else "all is well")
    return 1 if failures else 0


def screenshots_folder():
    """The folder in the arguments PROGRAM CHROMIUM [--screenshots DIR]; None if not given."""
    return sys.argv[4] if len(sys.argv) > 4 and sys.argv[3] == "--screenshots" else None
