#!/usr/bin/env python3
"""A stand-in for the Google APIs that autopack calls, on loopback: Vertex AI's jobs, logs, tokens, repositories, and Cloud
Build with its bucket.

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
Tokens and Artifact Registry: see google_server.py. `token_uri` of a key file or CLOUDSDK_AUTH_TOKEN_HOST may name
http://127.0.0.1:PORT/token, GCE_METADATA_HOST 127.0.0.1:PORT, and CLOUDSDK_API_ENDPOINT_OVERRIDES_IAMCREDENTIALS and
CLOUDSDK_API_ENDPOINT_OVERRIDES_ARTIFACTREGISTRY http://127.0.0.1:PORT/.
Cloud Build: cloud_build_service.py; CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDBUILD and CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE
may name http://127.0.0.1:PORT/. It builds with the docker engine of this machine.
--fail: what the next creates get instead of an answer: a status, `drop` (the job is made, the connection breaks),
`lost` (the job is made, the answer is 503), `garbled` (the job is made, the answer is no JSON), `hang` (the job is
made, no answer comes) or `cut` (no job is made, the connection breaks). The same for other calls with their name in
front: `get-503`, `list-drop`, `cancel-400`, `logs-429`, `build-drop`, `build-list-403`, `upload-503`. For tokens `token-STATUS` or `invalid_rapt`.
--record: one JSON object per request and line. Tokens that this server did not give are not recorded.
"""

import argparse
import json
import os
import pathlib
import re
import sys
import threading
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import loopback  # noqa: E402
from check_job_schema import read_table  # noqa: E402
from cloud_build_service import CloudBuildService  # noqa: E402
from google_server import GoogleServices, Refusal  # noqa: E402
from job_service import KINDS, JobService  # noqa: E402
from log_service import LogService  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLLECTION = re.compile(r'/v1/projects/([^/]+)/locations/([^/]+)/(' + '|'.join(KINDS) + ')')


class Drop(Exception):
    """Breaks the connection."""


class Garbled(Exception):
    """Makes the response invalid JSON."""


class VertexServer(loopback.Server):
    """The server, running in its own thread until close()."""

    def __init__(self, port=0, record=None, fail=(), states=('PENDING', 'RUNNING', 'SUCCEEDED'), public_key=None,
                 oracle=None, control=None, narrate=False, tls=None):
        oracle = oracle or os.environ.get('AUTOPACK_ORACLE') or ROOT.parent / 'shared' / 'oracle'
        self.oracle = pathlib.Path(oracle) if pathlib.Path(oracle, 'validate.py').is_file() else None
        self.record = record
        self.service = JobService(Refusal, read_table(ROOT / 'src/job/tables/schema.txt')[0], self.oracle, states, control)
        self.logs = LogService(Refusal, self.oracle)
        if narrate:
            self.service.changed = lambda name, state: self.logs.add(name, f'the job is {state.lower()}', task='service')
        # `hang` waits until a test sets it.
        self.released = threading.Event()
        self.fail = list(fail)
        self.requests = []
        self.google = GoogleServices(self.note, lambda: self.next_failure('token'), public_key)
        self._lock = threading.RLock()
        self.cloud = CloudBuildService(Refusal, self.oracle, lambda: self.url, self._lock)
        super().__init__(self._handler(), port, tls)

    @property
    def jobs(self):
        return self.service.jobs

    def close(self):
        self.released.set()
        super().close()

    def _handler(self):
        outer = self

        class Handler(loopback.Handler):
            def respond(self, body):
                headers = {'Metadata-Flavor': 'Google'} if self.headers.get('Metadata-Flavor') else None
                try:
                    answer = outer.handle(self.command, self.path, self.headers, body)
                    if isinstance(answer, tuple):
                        status, content, more = answer
                        self.send(status, content, {**(headers or {}), **more})
                    else:
                        self.send(200, answer, headers)
                except Refusal as refusal:
                    self.send(refusal.status, refusal.body, headers)
                except Drop:
                    self.drop()
                except Garbled:
                    self.send(200, '<html>busy</html>', headers)

        return Handler

    def handle(self, method, target, headers, body):
        with self._lock:
            url = urllib.parse.urlsplit(target)
            query = dict(urllib.parse.parse_qsl(url.query))
            answer = self.google.handle(method, url.path, query, headers, body)
            if answer is not None:
                return answer
            answer = self.cloud.handle(method, url.path, query, headers, body, self.misbehave)
            if answer is not None:
                return answer
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
        """Runs `action`, unless a failure is set for the next `call`."""
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
        return self.google.token_of(headers) or ('***' if headers.get('Authorization') else '')

    def note(self, **entry):
        self.requests.append(entry)
        if self.record:
            with open(self.record, 'a', encoding='utf-8') as file:
                file.write(json.dumps(entry, sort_keys=True) + '\n')

    def next_failure(self, call):
        """Returns the next failure for `call`, without its name; None if there is none."""
        for index, failure in enumerate(self.fail):
            owner, _, what = failure.rpartition('-')
            if failure == 'invalid_rapt':
                owner, what = 'token', failure
            if (owner or 'create') == call:
                del self.fail[index]
                return what
        return None


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
