"""A parameter server in the roles that TF_CONFIG gives: ps keeps a number, workers add to it, the chief waits for all.

Workers repeat their report. The chief ends when each has reported, and the job ends with it: the others need not.
"""

import json
import os
import socketserver
import time
import urllib.request
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler

CONFIG = json.loads(os.environ['TF_CONFIG'])
TASK = CONFIG['task']
WORKERS = len(CONFIG['cluster'].get('worker', []))


class Server(BaseHTTPRequestHandler):
    reports = {}

    def do_GET(self):
        name, _, number = self.path.strip('/').partition('/')
        if number:
            self.reports[name] = float(number)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(self.reports).encode())

    def log_message(self, *_):
        pass


def ask(path):
    """What the parameter server answers; it may not be there yet."""
    url = f'http://{CONFIG["cluster"]["ps"][0]}/{path}'
    for _ in range(300):
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)
        except (OSError, HTTPException, ValueError):  # the last two: it was lost within its answer
            time.sleep(0.1)
    raise SystemExit(f'{url} does not answer')


def main():
    print(f'{TASK["type"]} {TASK["index"]} of {sorted(CONFIG["cluster"])}', flush=True)
    if TASK['type'] == 'ps':
        socketserver.TCPServer.allow_reuse_address = True
        with socketserver.ThreadingTCPServer(('', 2222), Server) as server:
            server.serve_forever()
    elif TASK['type'] == 'worker':
        while True:  # a parameter server that was restarted has lost its parameters
            ask(f'worker{TASK["index"]}/{TASK["index"] + 1}')
            time.sleep(0.1)
    elif TASK['type'] == 'chief':
        while len(ask('')) < WORKERS:
            time.sleep(0.05)
        print(f'sum of {WORKERS} workers: {sum(ask("").values())}', flush=True)


main()
