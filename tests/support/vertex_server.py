#!/usr/bin/env python3
"""A stand-in for the Google APIs that autopack calls, on loopback: Vertex AI's jobs and a token endpoint.

    vertex_server.py [--port 0] [--record FILE] [--fail 503,401,400,drop] [--states PENDING,RUNNING,SUCCEEDED]
                     [--public-key PEM] [--oracle DIRECTORY]

prints its port, then serves until it is ended. Point autopack at it:

    export CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=http://127.0.0.1:PORT/

Jobs: create, get, list and cancel of customJobs. A created job takes the next state at each get. Every body is held
against the table of job fields (src/job/tables/schema.txt) and, where the folder is there, against the API's
discovery document (ORACLE/validate.py; the variable AUTOPACK_ORACLE names it too).
Tokens: POST /token gives one for a refresh token or a signed assertion; `token_uri` of a key file or
CLOUDSDK_AUTH_TOKEN_HOST may name http://127.0.0.1:PORT/token.
--fail: what the next requests get instead of an answer: a status, `drop` (the job is made, the connection breaks) or
`lost` (the job is made, the answer is 503); for tokens `token-STATUS` or `invalid_rapt`.
--record: one JSON object per request and line. Tokens that this server did not give are not recorded.
"""

import argparse
import base64
import datetime
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLLECTION = re.compile(r'/v1/projects/([^/]+)/locations/([^/]+)/customJobs')
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


def scalar_fault(kind, value, values):
    good = {
        'string': isinstance(value, str),
        'bool': isinstance(value, bool),
        'int32': isinstance(value, int) and not isinstance(value, bool),
        'int64': isinstance(value, str) and re.fullmatch(r'-?\d+', value) is not None,
        'duration': isinstance(value, str) and re.fullmatch(r'\d{1,12}(\.\d{1,9})?s', value) is not None,
        'map': isinstance(value, dict) and all(isinstance(item, str) for item in value.values()),
        'enumeration': isinstance(value, str) and value in values,
    }
    return None if good[kind] else f'{json.dumps(value)} is no {kind}'


def schema_faults(value, message, table, path):
    """What the table of fields has against `value`, as (path, words)."""
    if not isinstance(value, dict):
        yield path, f'{json.dumps(value)} is no {message}'
        return
    for name, (kind, values, is_list, is_required) in table[message].items():
        if is_required and name not in value:
            yield f'{path}.{name}'.lstrip('.'), 'Required field is missing.'
    for name, item in value.items():
        where = f'{path}.{name}'.lstrip('.')
        kind, values, is_list, _ = table[message].get(name, ('output', (), False, False))
        if kind == 'output':
            yield where, 'Cannot find field.'
            continue
        if is_list and not isinstance(item, list):
            yield where, f'{json.dumps(item)} is no list'
            continue
        for index, element in enumerate(item if is_list else [item]):
            at = f'{where}[{index}]' if is_list else where
            if kind in table:
                yield from schema_faults(element, kind, table, at) if element or kind != 'WorkerPoolSpec' else ()
            elif fault := scalar_fault(kind, element, values):
                yield at, fault


def pool_faults(body):
    pools = body.get('jobSpec', {}).get('workerPoolSpecs', [])
    for index, pool in enumerate(pools):
        where = f'job_spec.worker_pool_specs[{index}]'
        if not pool and index > 0:
            continue
        if ('containerSpec' in pool) == ('pythonPackageSpec' in pool):
            yield where, 'Exactly one of `container_spec` and `python_package_spec` should be specified.'
        machine = pool.get('machineSpec', {})
        if ('acceleratorType' in machine) != ('acceleratorCount' in machine):
            yield (f'{where}.machine_spec.accelerator_type',
                   'Both `accelerator_type` and `accelerator_count` should be specified or none.')
        if index == 0 and pool.get('replicaCount', '1') != '1':
            yield f'{where}.replica_count', 'The primary pool has exactly one replica.'


def oracle_faults(body, oracle):
    document = next(oracle.glob('discovery/aiplatform-v1-pruned*.json'))
    answer = subprocess.run(
        [sys.executable, oracle / 'validate.py', '--require', '--strict-int64', '--no-output-only', '--json', '--oneofs',
         oracle / 'discovery/aiplatform-v1-oneofs.json', document, 'GoogleCloudAiplatformV1CustomJob', '-'],
        input=json.dumps(body).encode(), capture_output=True, check=False)
    if not answer.stdout:
        yield '$', answer.stderr.decode()
        return
    for error in json.loads(answer.stdout)['errors']:
        yield error['path'], error['message']


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
                 oracle=None):
        oracle = oracle or os.environ.get('AUTOPACK_ORACLE') or ROOT.parent / 'shared' / 'oracle'
        self.oracle = pathlib.Path(oracle) if pathlib.Path(oracle, 'validate.py').is_file() else None
        self.table = read_table(ROOT / 'src/job/tables/schema.txt')
        self.record, self.public_key, self.states = record, public_key, list(states)
        self.fail = list(fail)
        self.requests = []
        self.jobs = {}
        self.tokens = []
        self._lock = threading.RLock()
        self._server = http.server.ThreadingHTTPServer(('127.0.0.1', port), self._handler())
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f'http://127.0.0.1:{self.port}/'
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self):
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
                text = json.dumps(result).encode()
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
            collection = COLLECTION.fullmatch(url.path)
            if collection and method == 'POST':
                return self.create(*collection.groups(), content)
            if collection and method == 'GET':
                return self.list(url.path, query)
            name, _, verb = url.path.removeprefix('/v1/').partition(':')
            return self.one_job(method, name, verb)

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

    def next_failure(self, is_token):
        for index, failure in enumerate(self.fail):
            if (failure.startswith('token-') or failure == 'invalid_rapt') == is_token:
                return self.fail.pop(index)
        return None

    def create(self, project, region, body):
        failure = self.next_failure(is_token=False)
        if failure not in (None, 'drop', 'lost'):
            raise Refusal(int(failure), 'The request cannot be served.')
        faults = [*schema_faults(body, 'CustomJob', self.table, ''), *pool_faults(body)]
        if self.oracle and not faults:
            faults = list(oracle_faults(body, self.oracle))
        if faults:
            raise Refusal(400, 'List of found errors:' + ''.join(
                f'\t{number}.Field: {path}; Message: {words}\t' for number, (path, words) in enumerate(faults, 1)))
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec='microseconds').replace('+00:00', 'Z')
        name = f'projects/{project}/locations/{region}/customJobs/{4_000_000_000_000_000_000 + len(self.jobs)}'
        self.jobs[name] = {'job': {**body, 'name': name, 'state': 'JOB_STATE_PENDING', 'createTime': now,
                                   'updateTime': now}, 'states': [f'JOB_STATE_{state}' for state in self.states]}
        if failure == 'drop':
            raise Drop
        if failure == 'lost':
            raise Refusal(503, 'The service is currently unavailable.')
        return self.jobs[name]['job']

    def list(self, path, query):
        """Newest first. Filters: `display_name="x"`, `state="x"`, `labels.k="x"`, joined by AND."""
        parent = path.removeprefix('/v1/') + '/'
        jobs = [entry['job'] for name, entry in reversed(self.jobs.items()) if name.startswith(parent)]
        for field, value in re.findall(r'([\w.-]+)\s*=\s*"?([^"\s]+)"?', query.get('filter', '')):
            jobs = [job for job in jobs if self.filter_value(job, field) == value]
        start, size = int(query.get('pageToken') or 0), int(query.get('pageSize') or 100)
        result = {'customJobs': jobs[start:start + size]} if jobs else {}
        return result | ({'nextPageToken': str(start + size)} if len(jobs) > start + size else {})

    @staticmethod
    def filter_value(job, field):
        if field.startswith('labels.'):
            return job.get('labels', {}).get(field.removeprefix('labels.'))
        return job.get({'display_name': 'displayName'}.get(field, field))

    def one_job(self, method, name, verb):
        if name not in self.jobs:
            raise Refusal(404, f'The resource "{name}" is not found.')
        entry = self.jobs[name]
        if method == 'POST' and verb == 'cancel':
            entry['states'] = ['JOB_STATE_CANCELLING', 'JOB_STATE_CANCELLED']
            return {}
        if method != 'GET' or verb:
            raise Refusal(404, 'The method is not found.')
        if entry['states']:
            entry['job']['state'] = entry['states'].pop(0)
        return entry['job']

    def give_token(self, form):
        failure = self.next_failure(is_token=True)
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
            raise Refusal(int(failure.removeprefix('token-')), 'The token endpoint is busy.')
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
    parser.add_argument('--public-key')
    parser.add_argument('--oracle')
    server = VertexServer(**vars(parser.parse_args()))
    print(server.port, flush=True)
    try:
        server.wait()
    except KeyboardInterrupt:
        server.close()


if __name__ == '__main__':
    main()
