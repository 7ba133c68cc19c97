#!/usr/bin/env python3
"""A stand-in for the Google APIs that autopack calls, on loopback: Vertex AI's jobs, logs, a token endpoint.

    vertex_server.py [--port 0] [--record FILE] [--fail 503,401,400,drop] [--states PENDING,RUNNING,SUCCEEDED]
                     [--control FILE] [--public-key PEM] [--oracle DIRECTORY]

prints its port, then serves until it is ended. Point autopack at it:

    export CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=http://127.0.0.1:PORT/

Jobs: create, get, list and cancel of customJobs, hyperparameterTuningJobs and trainingPipelines (job_service.py).
A created job takes the next state of --states at each get and keeps the last; `RUNNING*3` stands for three gets;
--control names a file whose state it takes instead, as long as the file is there. Every body is held against the table
of job fields (src/job/tables/schema.txt) and, where the folder is there, against the API's discovery document
(ORACLE/validate.py; the variable AUTOPACK_ORACLE names it too).
Logs: POST /v2/entries:list (log_service.py); CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING=http://127.0.0.1:PORT/. Started
by hand, the stand-in writes an entry for each state that a job enters.
Tokens: POST /token gives one for a refresh token or a signed assertion; `token_uri` of a key file or
CLOUDSDK_AUTH_TOKEN_HOST may name http://127.0.0.1:PORT/token.
--fail: what the next creates get instead of an answer: a status, `drop` (the job is made, the connection breaks),
`lost` (the job is made, the answer is 503), `garbled` (the job is made, the answer is no JSON), `hang` (the job is
made, no answer comes) or `cut` (no job is made, the connection breaks). The same for other calls with their name in
front: `get-503`, `list-drop`, `cancel-400`, `logs-429`. For tokens `token-STATUS` or `invalid_rapt`.
--record: one JSON object per request and line. Tokens that this server did not give are not recorded.
"""

import argparse
import base64
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_job_schema import read_table  # noqa: E402
from job_service import KINDS, JobService  # noqa: E402
from log_service import LogService  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLLECTION = re.compile(r'/v1/projects/([^/]+)/locations/([^/]+)/(' + '|'.join(KINDS) + ')')
STATUS = {400: 'INVALID_ARGUMENT', 401: 'UNAUTHENTICATED', 403: 'PERMISSION_DENIED', 404: 'NOT_FOUND',
          409: 'ALREADY_EXISTS', 429: 'RESOURCE_EXHAUSTED', 500: 'INTERNAL', 503: 'UNAVAILABLE'}
AUDIENCE = 'https://oauth2.googleapis.com/token'


class Refusal(Exception):
    def __init__(self, status, message, **body):
        super().__init__(message)
        self.status = status
        self.body = body or {'error': {'code': status, 'message': message, 'status': STATUS.get(status, 'UNKNOWN')}}


class Drop(Exception):
    """The connection is to break."""


class Garbled(Exception):
    """The answer is to be no JSON."""


def decode(part):
    return base64.urlsafe_b64decode(part + '=' * (-len(part) % 4))


def verify_signature(message, signature, public_key):
    with tempfile.NamedTemporaryFile() as file:
        file.write(signature)
        file.flush()
        answer = subprocess.run(['openssl', 'dgst', '-sha256', '-verify', public_key, '-signature', file.name],
                                input=message, capture_output=True, check=False)
    if answer.returncode != 0:
        raise Refusal(400, 'signature', error='invalid_grant', error_description='Invalid JWT Signature.')


class VertexServer:
    """The server, running in a thread of its own until close()."""

    def __init__(self, port=0, record=None, fail=(), states=('PENDING', 'RUNNING', 'SUCCEEDED'), public_key=None,
                 oracle=None, control=None, narrate=False):
        oracle = oracle or os.environ.get('AUTOPACK_ORACLE') or ROOT.parent / 'shared' / 'oracle'
        self.oracle = pathlib.Path(oracle) if pathlib.Path(oracle, 'validate.py').is_file() else None
        self.record, self.public_key = record, public_key
        self.service = JobService(Refusal, read_table(ROOT / 'src/job/tables/schema.txt'), self.oracle, states, control)
        self.logs = LogService(Refusal, self.oracle)
        if narrate:
            self.service.changed = lambda name, state: self.logs.add(name, f'the job is {state.lower()}', task='service')
        # Held back until a test sets it: what `hang` waits for.
        self.released = threading.Event()
        self.fail = list(fail)
        self.requests = []
        self.tokens = []
        self._lock = threading.RLock()
        self._server = http.server.ThreadingHTTPServer(('127.0.0.1', port), self._handler())
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f'http://127.0.0.1:{self.port}/'
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def jobs(self):
        return self.service.jobs

    def close(self):
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait(self):
        self._thread.join()

    def _handler(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def log_message(self, *_):
                pass

            def answer(self):
                body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
                try:
                    status, result = 200, outer.handle(self.command, self.path, self.headers, body)
                except Refusal as refusal:
                    status, result = refusal.status, refusal.body
                except Drop:
                    self.close_connection = True
                    return
                except Garbled:
                    status, result = 200, '<html>busy</html>'
                text = result.encode() if isinstance(result, str) else json.dumps(result).encode()
                self.send_response(status)
                self.send_header('Content-Type', 'application/json; charset=UTF-8')
                self.send_header('Content-Length', str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_DELETE = answer

        return Handler

    def handle(self, method, target, headers, body):
        with self._lock:
            url = urllib.parse.urlsplit(target)
            query = dict(urllib.parse.parse_qsl(url.query))
            if method == 'POST' and url.path == '/token':
                return self.give_token(dict(urllib.parse.parse_qsl(body.decode())))
            content = self.parse(body)
            self.note(method=method, path=target, body=content, authorization=self.known_token(headers),
                      quota_project=headers.get('x-goog-user-project', ''))
            if not re.fullmatch(r'Bearer \S+', headers.get('Authorization', '')):
                raise Refusal(401, 'Request is missing required authentication credential.')
            return self.serve(method, url.path, query, content)

    def serve(self, method, path, query, content):
        if method == 'POST' and path == '/v2/entries:list':
            return self.misbehave('logs', lambda: self.logs.list(content))
        collection = COLLECTION.fullmatch(path)
        if collection and method == 'POST':
            return self.misbehave('create', lambda: self.service.create(*collection.groups(), content))
        if collection and method == 'GET':
            return self.misbehave('list', lambda: self.service.list(*collection.groups(), query))
        name, _, verb = path.removeprefix('/v1/').partition(':')
        if method == 'POST' and verb == 'cancel':
            return self.misbehave('cancel', lambda: self.service.cancel(name))
        if method != 'GET' or verb:
            raise Refusal(404, 'The method is not found.')
        return self.misbehave('get', lambda: self.service.get(name))

    def misbehave(self, call, action):
        """Runs `action`, unless the next failure of `call` says otherwise."""
        failure = self.next_failure(call)
        if failure in (None, 'drop', 'lost', 'garbled', 'hang'):
            result = action()
        if failure == 'lost':
            raise Refusal(503, 'The service is currently unavailable.')
        if failure == 'hang':
            self._lock.release()
            self.released.wait()
            self._lock.acquire()
        if failure in ('drop', 'cut', 'hang'):
            raise Drop
        if failure == 'garbled':
            raise Garbled
        if failure:
            raise Refusal(int(failure), 'The request cannot be served.')
        return result

    @staticmethod
    def parse(body):
        try:
            return json.loads(body) if body else None
        except ValueError:
            raise Refusal(400, 'Invalid JSON payload received.') from None

    def known_token(self, headers):
        token = headers.get('Authorization', '').removeprefix('Bearer ')
        return token if token in self.tokens else '***' if token else ''

    def note(self, **entry):
        self.requests.append(entry)
        if self.record:
            with open(self.record, 'a', encoding='utf-8') as file:
                file.write(json.dumps(entry, sort_keys=True) + '\n')

    def next_failure(self, call):
        """The next failure that is meant for `call`, without its name; None when there is none."""
        for index, failure in enumerate(self.fail):
            owner, _, what = failure.rpartition('-')
            if failure == 'invalid_rapt':
                owner, what = 'token', failure
            if (owner or 'create') == call:
                del self.fail[index]
                return what
        return None

    def give_token(self, form):
        failure = self.next_failure('token')
        grant = form.get('grant_type', '')
        claims = None
        if grant.endswith(':jwt-bearer'):
            claims = self.check_assertion(form.get('assertion', ''))
        elif grant != 'refresh_token' or not all(form.get(key) for key in ('client_id', 'client_secret', 'refresh_token')):
            raise Refusal(400, 'grant', error='unsupported_grant_type', error_description=f'Invalid grant_type: {grant}')
        self.note(method='POST', path='/token', grant_type=grant, claims=claims)
        if failure == 'invalid_rapt':
            raise Refusal(400, 'rapt', error='invalid_grant', error_subtype='invalid_rapt',
                          error_description='reauth related error (invalid_rapt)')
        if failure:
            raise Refusal(int(failure), 'The token endpoint is busy.')
        self.tokens.append(f'ya29.stand-in-{len(self.tokens) + 1}')
        return {'access_token': self.tokens[-1], 'expires_in': 3599, 'token_type': 'Bearer'}

    def check_assertion(self, assertion):
        try:
            head, body, signature = assertion.split('.')
            header, claims = json.loads(decode(head)), json.loads(decode(body))
        except ValueError:
            raise Refusal(400, 'jwt', error='invalid_grant', error_description='Invalid JWT.') from None
        lifetime = claims.get('exp', 0) - claims.get('iat', 0)
        if header.get('alg') != 'RS256' or claims.get('aud') != AUDIENCE or not 0 < lifetime <= 3600:
            raise Refusal(400, 'jwt', error='invalid_grant', error_description='Invalid JWT: Token must be a short-lived '
                          'token (60 minutes) and in a reasonable timeframe.')
        if self.public_key:
            verify_signature(f'{head}.{body}'.encode(), decode(signature), self.public_key)
        return claims


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--port', type=int, default=0)
    parser.add_argument('--record')
    parser.add_argument('--fail', type=lambda text: text.split(','), default=[])
    parser.add_argument('--states', type=lambda text: text.split(','), default=['PENDING', 'RUNNING', 'SUCCEEDED'])
    parser.add_argument('--control')
    parser.add_argument('--public-key')
    parser.add_argument('--oracle')
    server = VertexServer(narrate=True, **vars(parser.parse_args()))
    print(server.port, flush=True)
    try:
        server.wait()
    except KeyboardInterrupt:
        server.close()


if __name__ == '__main__':
    main()
