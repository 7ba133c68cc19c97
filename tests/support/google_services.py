#!/usr/bin/env python3
"""A stand-in on loopback for the Google APIs that checks ask: what projects, quotas, accounts, repositories, buckets
and networks there are. Vertex AI's jobs have one of their own (vertex_server.py).

    google_services.py [--port 0]

prints the variables that point autopack at it, then serves until it is ended. Everything is right at first; a test
changes `facts`, or says by `answer(pattern, ...)` what a path gets instead. Where an API has a field for it, absence
is told as the API tells it.
"""

import argparse
import json
import re
import sys
import threading
import urllib.parse

import loopback
import secret_watch

APIS = ('AIPLATFORM', 'ARTIFACTREGISTRY', 'CLOUDRESOURCEMANAGER', 'COMPUTE', 'IAM', 'SERVICEUSAGE', 'STORAGE')
STATUS = {400: 'INVALID_ARGUMENT', 401: 'UNAUTHENTICATED', 403: 'PERMISSION_DENIED', 404: 'NOT_FOUND'}
TOKEN = secret_watch.secret('ya29.token')
NUMBER = '4242'


def agent(number=NUMBER):
    return f'serviceAccount:service-{number}@gcp-sa-aiplatform-cc.iam.gserviceaccount.com'


def policy(role, *members):
    return {'bindings': [{'role': role, 'members': list(members)}]}


def error(status, message='', reason=None, service=None):
    body = {'code': status, 'message': message or 'The caller does not have permission.',
            'status': STATUS.get(status, 'UNKNOWN')}
    if reason:
        body['details'] = [{'@type': 'type.googleapis.com/google.rpc.ErrorInfo', 'reason': reason,
                            'domain': 'googleapis.com', 'metadata': {'service': service or ''}}]
    return {'error': body}


def right_facts():
    """Returns everything that a job may need, in a good state."""
    return {
        'projects': {'test-project': {'projectId': 'test-project', 'projectNumber': NUMBER, 'lifecycleState': 'ACTIVE'}},
        'permissions': {'aiplatform.customJobs.create', 'aiplatform.hyperparameterTuningJobs.create',
                        'aiplatform.trainingPipelines.create', 'artifactregistry.repositories.create',
                        'artifactregistry.repositories.uploadArtifacts', 'iam.serviceAccounts.actAs'},
        'services': {},  # host -> state; ENABLED if not listed
        'quotas': {},    # metric -> {region: limit}; 100 if not listed
        'policies': {},  # resource -> policy
        'accounts': {},
        'repositories': {},
        'buckets': {},
        'networks': {},
        'resources': {},  # of Vertex AI, by name
    }


class GoogleServices(loopback.Server):
    """The server, running in its own thread until close()."""

    def __init__(self, port=0):
        self.facts = right_facts()
        self.requests = []
        self._answers = []
        self._closing = threading.Event()
        self._lock = threading.Lock()
        super().__init__(self._handler(), port)

    def close(self):
        self._closing.set()
        super().close()

    def variables(self, *without):
        """Returns the environment that redirects autopack here, except for the APIs in `without`."""
        return {f'CLOUDSDK_API_ENDPOINT_OVERRIDES_{api}': self.url for api in APIS if api not in without}

    def answer(self, pattern, status=200, body=b'{}', how='answer'):
        """Sets the response for paths that contain `pattern`: bytes or JSON; `how` may be `hang` or `drop`."""
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        self._answers.append((re.compile(pattern), status, text, how))

    def _handler(self):
        outer = self

        class Handler(loopback.Handler):
            def respond(self, body):
                with outer._lock:
                    outer.requests.append((self.command, self.path))
                for pattern, status, text, how in outer._answers:
                    if not pattern.search(self.path):
                        continue
                    if how == 'hang':
                        outer._closing.wait()
                    if how == 'answer':
                        self.send(status, text)
                    else:
                        self.drop()
                    return
                if self.path == '/token':
                    self.send(200, {'access_token': TOKEN, 'expires_in': 3599})
                elif not re.fullmatch(r'Bearer \S+', self.headers.get('Authorization', '')):
                    self.send(401, error(401, 'Request had no credentials.'))
                else:
                    self.send(*outer.handle(self.command, self.path, body))

        return Handler

    def handle(self, method, target, body):
        url = urllib.parse.urlsplit(target)
        path, query = urllib.parse.unquote(url.path), urllib.parse.parse_qs(url.query)
        if path.endswith(':testIamPermissions') and method == 'POST':
            asked = json.loads(body)['permissions']
            granted = [permission for permission in asked if permission in self.facts['permissions']]
            return 200, {'permissions': granted} if granted else {}
        if path.endswith(':getIamPolicy'):
            return 200, self.facts['policies'].get(path.removesuffix(':getIamPolicy').removeprefix('/v1/'), {})
        if path.startswith('/storage/v1/b/') and path.endswith('/iam'):
            return 200, self.facts['policies'].get(path.split('/')[4], {})
        for pattern, look in ((r'/v1/projects/[^/]+/services:batchGet', lambda: self.services(query)),
                              (r'/v1beta1/projects/.*/consumerQuotaMetrics/[^/]+/(.+)', None)):
            match = re.fullmatch(pattern, path)
            if match:
                return 200, look() if look else self.quota(match.group(1))
        for pattern, kind in ((r'/v1/projects/-/serviceAccounts/(.+)', 'accounts'),
                              (r'/v1/(projects/[^/]+/locations/[^/]+/repositories/[^/]+)', 'repositories'),
                              (r'/v1/(projects/[^/]+/locations/.+)', 'resources'),
                              (r'/v1/projects/([^/]+)', 'projects'),
                              (r'/storage/v1/b/([^/]+)', 'buckets'),
                              (r'/compute/v1/(.+)', 'networks')):
            match = re.fullmatch(pattern, path)
            if match and method == 'GET' and match.group(1) in self.facts[kind]:
                return 200, self.facts[kind][match.group(1)]
            if match:
                break
        return 404, error(404, 'Requested entity was not found.')

    def services(self, query):
        return {'services': [{'name': name, 'state': self.facts['services'].get(name.rpartition('/')[2], 'ENABLED')}
                             for name in query.get('names', [])]}

    def quota(self, metric):
        limits = self.facts['quotas'].get(metric, {'': 100})
        buckets = [{'effectiveLimit': str(limit), **({'dimensions': {'region': region}} if region else {})}
                   for region, limit in limits.items()]
        return {'metric': f'aiplatform.googleapis.com/{metric}', 'consumerQuotaLimits': [{'quotaBuckets': buckets}]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--port', type=int, default=0)
    server = GoogleServices(parser.parse_args().port)
    for name, value in server.variables().items():
        print(f'export {name}={value}', flush=True)
    try:
        server.wait()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == '__main__':
    main()
