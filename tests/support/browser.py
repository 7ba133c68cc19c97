"""Debian's Chromium, controlled through its own driver (the WebDriver protocol, which is JSON over HTTP)."""

import json
import subprocess
import urllib.request

import testbed

ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'


class Browser:
    """A window without a screen. It accesses only loopback and files."""

    def __init__(self, width=1100, height=900):
        port = testbed.free_port()
        self.driver = subprocess.Popen(['chromedriver', f'--port={port}'], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.address = f'http://127.0.0.1:{port}/session'
        testbed.wait_until(lambda: testbed.listens(port), what='chromedriver')
        arguments = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
                     '--disable-background-networking', '--proxy-server=127.0.0.1:1', f'--window-size={width},{height}']
        options = {'goog:chromeOptions': {'args': arguments}, 'goog:loggingPrefs': {'browser': 'ALL'}}
        self.session = ''
        self.session = '/' + self.ask('POST', '', {'capabilities': {'alwaysMatch': options}})['sessionId']

    def ask(self, method, path, body=None):
        data = json.dumps(body).encode() if method == 'POST' else None
        request = urllib.request.Request(self.address + self.session + path, data, {'Content-Type': 'application/json'},
                                         method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=120) as answer:
            return json.load(answer)['value']

    def open(self, path):
        self.ask('POST', '/url', {'url': f'file://{path}'})

    def run(self, script, *arguments):
        """Returns the result of the function body `script`."""
        return self.ask('POST', '/execute/sync', {'script': script, 'args': list(arguments)})

    def click(self, selector):
        element = self.ask('POST', '/element', {'using': 'css selector', 'value': selector})[ELEMENT]
        self.ask('POST', f'/element/{element}/click', {})

    def press(self, *keys):
        """WebDriver's codes: Enter is U+E007, Escape U+E00C, Tab U+E004, right U+E014."""
        actions = [{'type': kind, 'value': key} for key in keys for kind in ('keyDown', 'keyUp')]
        self.ask('POST', '/actions', {'actions': [{'type': 'key', 'id': 'keyboard', 'actions': actions}]})

    def prefer(self, scheme):
        """`light` or `dark`."""
        features = [{'name': 'prefers-color-scheme', 'value': scheme}]
        self.ask('POST', '/goog/cdp/execute', {'cmd': 'Emulation.setEmulatedMedia', 'params': {'features': features}})

    def resize(self, width, height=900):
        """Sets the size of the page in CSS pixels. Returns when the page has been redrawn."""
        self.ask('POST', '/goog/cdp/execute', {'cmd': 'Emulation.setDeviceMetricsOverride', 'params': {
            'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': False}})
        testbed.wait_until(lambda: self.run('return innerWidth') == width, what=f'a window of {width} pixels')
        # A page gets its size right before a frame; the second frame includes its reaction.
        self.ask('POST', '/execute/async', {'args': [], 'script': 'requestAnimationFrame(() => requestAnimationFrame(arguments[0]))'})

    def complaints(self):
        """Returns the browser's console messages."""
        return self.ask('POST', '/se/log', {'type': 'browser'})

    def close(self):
        if self.session:
            self.ask('DELETE', '')
        testbed.end(self.driver)
