"""Recorded answers of a Kubernetes API server: reading them, asking a server the same, and comparing the two answers.

What differs from run to run is replaced before: uids, revisions, times, generated suffixes, addresses and nodes.
"""

import base64
import http.client
import json
import pathlib
import re
import ssl
import urllib.parse

UID = re.compile(r'\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b')
TIME = re.compile(r'\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z')
SUFFIX = re.compile(r'(?<=-)[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9-])')
ADDRESS = re.compile(r'\b10\.244\.\d+\.\d+\b')
HASH = re.compile(r'\b[0-9a-f]{40}\b')
WORKLOAD = re.compile(r'\b((?:job|jobset|trainjob)-[a-z0-9-]+)-[0-9a-f]{5}\b')
NODE = re.compile(r'\bnode[1-3]\b')
VOLATILE = ('managedFields', 'resourceVersion', 'generation', 'observedGeneration', 'remainingItemCount', 'continue', 'time')
IDENTITIES = {'admin (system:masters)': 'admin', 'submitter (group ml-team)': 'submitter', 'alice (no rights)': 'alice',
              None: 'admin'}


NODES = 'the bytes or the text come from a node, of which the stand-in has only the common answers'
ASK = 'the stand-in serves no such group or review'
HISTORY = 'the tokens and revisions belong to the recorded server; test_history_is_forgotten covers the behaviour'
SUCCESS = 'success policies and limits for each index are not used by autopack'
# Records that no test compares, with the reason.
LEFT_OUT = {
    'api-aggregated-discovery': ASK, 'apis-aggregated-discovery': ASK, 'apis-visibility': ASK,
    'openapi-v3-index': ASK, 'openapi-v3-missing': ASK,
    'openapi-v3-jobset-summary': ASK, 'openapi-v3-trainer-summary': ASK, 'readyz-verbose': ASK, 'version': ASK,
    'version-anonymous': ASK, 'ssrr': ASK, 'token-request': ASK, 'auth-serviceaccount-jwt-valid': ASK,
    'auth-token-whoami': ASK, 'auth-client-certificate': ASK, 'policy-create': ASK, 'jobset-endpointslices': ASK,
    'kueue-visibility-clusterqueue': ASK, 'kueue-watch-visibility-200': ASK, 'trainer-runtimes': ASK,
    'job-successpolicy-create': SUCCESS, 'job-successpolicy-events': SUCCESS, 'job-successpolicy-final': SUCCESS,
    'job-successpolicy-pods': SUCCESS, 'job-ttl-pods': 'taken before the Job was removed, with its pods in any state',
    'job-ttl-final': 'taken at a moment between two states', 'job-ttl-events': 'as job-succeed-events',
    'job-recreate-while-deleting': 'a moment between two states', 'job-backofflimitperindex-events': SUCCESS,
    'job-maxfailedindexes-events': SUCCESS, 'jobset-name-limits': 'a summary; test_the_longest_names tries each',
    'jobset-fail2-events': 'the noise of a restart depends on when it is seen',
    'kueue-change-queue-running-200': 'a queue is never changed', 'kueue-clusterqueue': ASK, 'kueue-clusterqueue-status': ASK,
    'kueue-flavor': ASK, 'kueue-localqueue': ASK, 'kueue-events': 'all events of a server that had seen everything else',
    'kueue-jobset-no-priority-events': 'an empty list among others', 'kueue-workload-no-priority': 'all Workloads at one moment',
    'kueue-workload-by-label': 'the uid belongs to the recorded server', 'kueue-suspend-by-hand-after': 'as kueue-jobset-admitted',
    'kueue-workload-suspended-by-hand': 'says `Recovered`, which no test needs', 'kueue-localqueue-held-status': 'usage is not kept',
    'kueue-localqueue-status': 'usage is not kept', 'kueue-visibility-localqueue': 'one item of kueue-visibility-two-waiting',
    'kueue-workload-deactivate': 'the name of the Workload is generated; test_by_hand sends the same change',
    'kueue-trainjob-admitted': 'as kueue-trainjob', 'kueue-jobset-delete-later': 'as jobset-delete-get-later',
    'list-bad-continue': HISTORY, 'list-continue-compacted': HISTORY, 'list-continue-old-revision-410': HISTORY,
    'list-continue-still-valid-200': HISTORY, 'list-limit-continue': HISTORY,
    'list-rv-too-old-200': HISTORY, 'list-rv-too-old-notolderthan-200': HISTORY,
    'watch-no-rv': HISTORY, 'watch-rv-0': HISTORY, 'watch-rv-too-old-410': HISTORY,
    'watch-jobset-rv-too-old-410': HISTORY, 'watch-rv-future': HISTORY,
    'watch-missing-name-200-none': HISTORY,
    'quota-status': ASK, 'trainjob-delete-later': 'a moment between two states',
    'trainjob-immutable-422': 'a TrainJob is never changed', 'trainjob-tj8-state': 'as trainjob-failed',
    'trainjob-tj1-after-foreground': 'as jobset-delete-get-later', 'put-job-immutable-422': 'a Job is never changed',
    'jobset-delete-background-running': 'as jobset-delete-default-running', 'jobset-scale-404': 'asked after the deletion',
    'log-node-container-without-log-source': NODES, 'log-node-missing': NODES, 'log-node-unknown': NODES,
    'log-kubelet-cut': NODES, 'log-kubelet-gone': NODES, 'log-kubelet-ok': NODES, 'log-kubelet-partial': NODES,
    'log-kubelet-slow': NODES, 'log-kubelet-errpull': NODES, 'log-sincetime-format': NODES, 'log-sincetime-nanos': NODES,
    'log-follow': NODES, 'log-follow-yes-means-true': NODES, 'log-previous': NODES, 'log-timestamps': NODES, 'log-sincetime': NODES,
    'log-tail': NODES, 'log-accept-json': 'as log-plain', 'kueue-gated-workload-exceeds-max': 'a feature gate that is off',
    'kueue-gated-workload-no-queue': 'a feature gate that is off', 'kueue-gated-workload-running': 'a feature gate that is off',
    'kueue-gated-workload-waiting': 'a feature gate that is off', 'kueue-gated-workload-wrong-flavor': 'a feature gate that is off',
}


def is_left_out(name):
    """Server-side apply is not served: nothing that autopack creates can be changed."""
    return name in LEFT_OUT or name.startswith('ssa-')


class Record:
    def __init__(self, path):
        self.name = path.stem
        self.said = json.loads(path.read_text(encoding='utf-8'))
        self.request = self.said.get('request') or {}
        self.status = self.said.get('status') if isinstance(self.said.get('status'), int) else None
        self.headers = {name.lower(): value for name, value in self.said.get('headers', {}).items()}

    @property
    def body(self):
        """Returns what the server answered: an object, a text, or the lines of a watch."""
        for key in ('response', 'events', 'body', 'workload'):
            if key in self.said:
                found = self.said[key]
                if isinstance(found, str) and found.startswith('{'):
                    return json.loads(found)
                return found
        return None


def read(folder):
    """Returns the records by name."""
    return {path.stem: Record(path) for path in sorted(pathlib.Path(folder).glob('*.json'))}


class Asked:
    """An answer."""

    def __init__(self, status, headers, data):
        self.status, self.headers, self.data = status, {name.lower(): value for name, value in headers}, data

    @property
    def body(self):
        text = self.data.decode()
        if not text or 'json' not in self.headers.get('content-type', ''):
            return text
        try:
            return json.loads(text)
        except ValueError:
            return [json.loads(line) for line in text.splitlines()]


def ask(service, method, path, body=None, headers=None, certificate=None):
    """Sends a request to a stand-in; returns the answer."""
    address = urllib.parse.urlsplit(service.url)
    if address.scheme == 'https':
        context = ssl.create_default_context(cafile=service.certificates.ca)
        if certificate:
            context.load_cert_chain(*certificate)
        connection = http.client.HTTPSConnection(address.hostname, address.port, timeout=30, context=context)
    else:
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
    try:
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        connection.request(method, path, data, headers or {})
        answer = connection.getresponse()
        return Asked(answer.status, answer.getheaders(), answer.read())
    finally:
        connection.close()


def replay(service, record, name=None):
    """Asks what was asked for a record; `name` replaces the path."""
    request = record.request
    headers = dict(request.get('headers', {}))
    login = headers.get('Authorization', '' if request.get('headers') else 'Bearer TOKEN')
    known = IDENTITIES.get(request.get('identity')) if record.name != 'watch-forbidden-403' else 'alice'
    if record.name == 'auth-403-basic':
        headers['Authorization'] = 'Basic ' + base64.b64encode(b'name:word').decode()
    elif login:
        headers['Authorization'] = f'Bearer {service.tokens[known] if known else "of-nobody-here"}'
    certificate = service.certificates.make('carol', '/O=ml-team/CN=carol') if request.get('client_certificate') else None
    body = request.get('body')
    if isinstance(body, str):
        body = body.encode()
    return ask(service, request['method'], name or request['path'], body, headers, certificate)


def plain(item):
    """Returns the answer without what differs from run to run."""
    if isinstance(item, dict):
        kept = {key: plain(value) for key, value in item.items() if key not in VOLATILE}
        if kept.get('annotations') == {}:
            del kept['annotations']
        for key in ('items', 'replicatedJobsStatus', 'jobsStatus'):
            if isinstance(kept.get(key), list):
                kept[key] = sorted(kept[key], key=lambda entry: json.dumps(entry.get('metadata', entry), sort_keys=True))
        return kept
    if isinstance(item, list):
        return [plain(entry) for entry in item]
    if isinstance(item, str):
        item = WORKLOAD.sub(r'\1-SUFFIX', item)
        for pattern, word in ((UID, 'UID'), (TIME, 'TIME'), (ADDRESS, 'ADDRESS'), (HASH, 'HASH'), (NODE, 'NODE'),
                              (SUFFIX, 'SUFFIX')):
            item = pattern.sub(word, item)
    return item


def differences(wanted, given, path='$'):
    """Returns where two answers differ, as texts."""
    if isinstance(wanted, dict) and isinstance(given, dict):
        for key in sorted({*wanted, *given}):
            if key not in given:
                yield f'{path}.{key}: missing, recorded {json.dumps(wanted[key])[:300]}'
            elif key not in wanted:
                yield f'{path}.{key}: not recorded, given {json.dumps(given[key])[:300]}'
            else:
                yield from differences(wanted[key], given[key], f'{path}.{key}')
    elif isinstance(wanted, list) and isinstance(given, list) and len(wanted) == len(given):
        for number, (one, other) in enumerate(zip(wanted, given, strict=True)):
            yield from differences(one, other, f'{path}[{number}]')
    elif wanted != given:
        yield f'{path}: recorded {json.dumps(wanted)[:600]}\n      given    {json.dumps(given)[:600]}'


def compare(record, answer):
    """Returns the differences of status, warnings and body."""
    found = []
    if record.status is not None and answer.status != record.status:
        found.append(f'status: recorded {record.status}, given {answer.status}')
    if record.headers.get('warning') != answer.headers.get('warning'):
        found.append(f'warning: recorded {record.headers.get("warning")}, given {answer.headers.get("warning")}')
    return found + list(differences(plain(record.body), plain(answer.body)))
