"""A headless Chromium, driven through ChromeDriver by plain HTTP."""

import base64
import json
import re
import subprocess
import tempfile
import urllib.request

CHROMIUM = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic",
    "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars",
    "--force-device-scale-factor=1",
]

# The driver is on this machine, whatever proxy there may be.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Browser:
    """One window. Use it in a `with`."""

    def __init__(self, chromium, chromedriver):
        self.chromium, self.chromedriver = chromium, chromedriver

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def start(self):
        self.profile = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [self.chromedriver, "--port=0"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        # It says which port it took.
        for line in self.process.stdout:
            found = re.search(r"success\w* on port (\d+)", line)
            if found:
                break
        else:
            raise RuntimeError("chromedriver did not start")
        self.base = "http://127.0.0.1:" + found.group(1)
        made = self.call("POST", "/session", {"capabilities": {
            "alwaysMatch": {
                "goog:chromeOptions": {
                    "binary": self.chromium,
                    "args": CHROMIUM + ["--user-data-dir=" +
                                        self.profile.name],
                },
                "goog:loggingPrefs": {"browser": "ALL",
                                      "performance": "ALL"},
            }}})
        self.base += "/session/" + made["sessionId"]
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        finally:
            self.stop()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        self.profile.cleanup()

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            self.base + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        with OPENER.open(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute",
                         {"cmd": command, "params": parameters})

    def open(self, url, width, height=900, dark=False):
        """Loads a page as wide as a screen is; forgets older log entries."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width,
                      height=height, deviceScaleFactor=1, mobile=False)
        self.devtools("Emulation.setEmulatedMedia", features=[{
            "name": "prefers-color-scheme",
            "value": "dark" if dark else "light"}])
        self.log("browser"), self.log("performance")
        self.call("POST", "/url", {"url": url})

    def log(self, kind):
        return self.call("POST", "/se/log", {"type": kind})

    def complaints(self):
        """What the console says that it should not."""
        return [entry["message"] for entry in self.log("browser")
                if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """Addresses that were asked for, but for files and data."""
        found = []
        for entry in self.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                if not url.startswith(("file:", "data:")):
                    found.append(url)
        return found

    def evaluate(self, script):
        return self.call("POST", "/execute/sync",
                         {"script": script, "args": []})

    def screenshot(self, path):
        """The whole page, however long."""
        picture = self.devtools("Page.captureScreenshot", format="png",
                                captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def pdf(self):
        return base64.b64decode(self.call("POST", "/print", {}))
