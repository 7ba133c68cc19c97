"""A stand-in for a Kubernetes API server on loopback, with JobSet, Trainer and Kueue.

It answers as the server v1.36.3 was recorded to answer; test_kubernetes_answers.py compares it with the records. What it
keeps, adds and refuses is in the kubernetes_... files beside this one.

    with KubernetesService(folder) as service:
        env['KUBECONFIG'] = service.kubeconfig('submitter')

Tests may set: `access.rules`, `admission.policies`, quotas and other objects with `make`, `times`, `cut_logs` (so many
followed logs end early, without an error), `longest_watch`, `compact()`. A kind of `missing` has no resource definition.
"""

import base64
import copy
import json
import pathlib
import re
import time
import traceback
import urllib.parse

import kubernetes_rules as rules
import loopback
import secret_watch
from kubernetes_access import PENDING, REVIEWS, Access, Certificates, Discovery, User, known_kind
from kubernetes_controllers import Controllers
from kubernetes_jobsets import JobSets, TrainJobs
from kubernetes_logs import PodLogs
from kubernetes_queues import Queues
from kubernetes_schema import read_object
from kubernetes_store import (PlainText, Refused, Store, details, dump, field_matcher, invalid, invalid_options, kind_of,
                              label_matcher, merge, not_found)

JSON_TYPES = ('application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf')
WARNING = ('child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set '
           'propagationPolicy=Orphan to suppress this warning')
VERSION = {'major': '1', 'minor': '36', 'gitVersion': 'v1.36.3', 'gitCommit': 'stand-in', 'gitTreeState': 'clean',
           'buildDate': '2026-11-26T00:00:00Z', 'goVersion': 'go1.26.8', 'compiler': 'gc', 'platform': 'linux/amd64'}
RUNTIME = {'mlPolicy': {'numNodes': 1, 'torch': {}}, 'template': {'spec': {'replicatedJobs': [{
    'groupName': 'default', 'name': 'node', 'replicas': 1, 'template': {
        'metadata': {'labels': {'trainer.kubeflow.org/trainjob-ancestor-step': 'trainer'}},
        'spec': {'template': {'spec': {'containers': [{'image': 'pytorch/pytorch:2', 'name': 'node'}]}}}}}]}}}
RESOURCES = ('cpu', 'memory', 'nvidia.com/gpu')
# Of a node of this machine type, with NVIDIA's feature discovery.
MACHINE = 'n1-standard-4'
LABELS = {'node.kubernetes.io/instance-type': MACHINE, 'nvidia.com/gpu.product': 'Tesla-T4'}
WORD_OF = {'GET': 'get', 'POST': 'create', 'PUT': 'update', 'PATCH': 'patch', 'DELETE': 'delete'}


class Request:
    """A request's path, taken apart."""

    def __init__(self, handler, body):
        self.handler, self.body, self.method = handler, body, handler.command
        address = urllib.parse.urlsplit(handler.path)
        self.path = urllib.parse.unquote(address.path)
        self.query = dict(urllib.parse.parse_qsl(address.query, keep_blank_values=True))
        self.accept = handler.headers.get('Accept', '')
        self.type = handler.headers.get('Content-Type', 'application/json').partition(';')[0].strip()
        parts = self.path.strip('/').split('/')
        self.version = self.namespace = self.plural = self.name = self.part = ''
        self.is_resource = parts[0] == 'api' and len(parts) > 2 or parts[0] == 'apis' and len(parts) > 3
        if self.is_resource:
            self.version = parts[1] if parts[0] == 'api' else '/'.join(parts[1:3])
            rest = parts[2:] if parts[0] == 'api' else parts[3:]
            if rest[0] == 'namespaces' and len(rest) > 2:
                self.namespace, rest = rest[1], rest[2:]
            self.plural, self.name, self.part = (rest + ['', ''])[:3]
            if self.plural == 'namespaces':
                self.namespace = self.name
        self.group = self.version.rpartition('/')[0]

    @property
    def is_watch(self):
        return self.query.get('watch', '').lower() in ('1', 'true')

    @property
    def verb(self):
        if self.method in ('GET', 'HEAD') and not self.name:
            return 'watch' if self.is_watch else 'list'
        return WORD_OF.get(self.method, 'get')


class Handler(loopback.Handler):
    warnings = ()

    def end_headers(self):
        for text in self.warnings:
            self.send_header('Warning', f'299 - {json.dumps(text)}')
        self.warnings = ()
        super().end_headers()

    def respond(self, body):
        service = self.server.service
        request = Request(self, body)
        entry = {'method': self.command, 'path': request.path, 'query': request.query, 'body': parsed(body)}
        service.requests.append(entry)
        try:
            service.answer(request)
        except Refused as refusal:
            entry['status'] = refusal.code
            headers = dict(refusal.headers)
            if refusal.body.get('details', {}).get('retryAfterSeconds'):
                headers['Retry-After'] = str(refusal.body['details']['retryAfterSeconds'])
            self.send(refusal.code, dump(refusal.body), {'Content-Type': 'application/json', **headers})
        except PlainText as text:
            entry['status'] = text.code
            self.send(text.code, text.text, {'Content-Type': 'text/plain; charset=utf-8'})
        except (OSError, ValueError) as fault:
            if not isinstance(fault, OSError):
                service.errors.append(traceback.format_exc())
            raise
        except Exception:
            service.errors.append(traceback.format_exc())
            raise

    def begin_chunks(self, kind):
        self.send_response(200)
        self.send_header('Content-Type', kind)
        self.send_header('Transfer-Encoding', 'chunked')
        self.end_headers()

    def chunk(self, data):
        if data:
            self.wfile.write(f'{len(data):x}\r\n'.encode() + data + b'\r\n')
            self.wfile.flush()

    def end_chunks(self):
        self.wfile.write(b'0\r\n\r\n')
        self.wfile.flush()


def parsed(body):
    try:
        return json.loads(body)
    except ValueError:
        return None


class KubernetesService(PodLogs, loopback.Server):
    """The server; `folder` gets certificates and kubeconfigs."""

    def __init__(self, folder, *, tls=True, missing=(), nodes=3, gpus=8, times=None, fresh=True):
        self.folder = pathlib.Path(folder)
        self.store, self.access = Store(), Access()
        self.admission = rules.Admission(self.store, missing)
        self.controllers = Controllers(self.store, self.admission, times)
        self.times = self.controllers.times
        self.discovery, self.missing = Discovery(missing), missing
        self.queues = Queues(self.controllers)
        self.certificates = Certificates(folder) if tls else None
        self.requests, self.errors = [], []
        self.lines = [f'line {number}' for number in range(5)]
        self.logs = {}  # pattern of a pod's name -> lines instead of these
        self.log_faults = {}  # pattern of a pod's name -> what is wrong with its node: a key of NODES
        self.cut_logs, self.longest_watch = 0, 600
        self.initializing = {'jobsets', 'trainjobs'} if fresh else set()  # the first watch of each is refused
        self.tokens = {}
        for name, groups in (('admin', ['system:masters']), ('submitter', ['ml-team']), ('alice', [])):
            self.tokens[name] = secret_watch.secret(f'token-of-{name}')
            self.access.users[self.tokens[name]] = User(name, groups, f'u-{name}')
        self.furnish(nodes, gpus)
        self.controllers.more = [] if 'JobSet' in missing else [JobSets(self.controllers).step]
        self.controllers.more += [] if 'TrainJob' in missing else [TrainJobs(self.controllers).step]
        self.controllers.more += [] if 'Workload' in missing else [self.queues.step]
        super().__init__(Handler, tls=self.certificates)
        self._server.service = self
        self.controllers.start()

    def close(self):
        self.controllers.close()
        super().close()

    def furnish(self, nodes, gpus):
        """Adds namespaces, nodes, priority classes and a runtime of Trainer."""
        for name in ('default', 'ml', 'ml2', 'kube-system'):
            self.make('Namespace', name, '', status={'phase': 'Active'})
            self.make('ServiceAccount', 'default', name)
        for name, value in (('system-cluster-critical', 2_000_000_000), ('system-node-critical', 2_000_001_000)):
            self.make('PriorityClass', name, '', value=value)
        for number in range(1, nodes + 1):
            room = {'cpu': '96', 'memory': '1Ti', 'pods': '110', 'nvidia.com/gpu': str(gpus), 'ephemeral-storage': '1Ti'}
            self.make('Node', f'node{number}', '', status={'allocatable': room, 'capacity': room}, labels={
                'kubernetes.io/hostname': f'node{number}', 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64',
                'type': 'kwok', 'cloud.google.com/gke-accelerator': 'nvidia-h100-80gb', **LABELS})
        if 'TrainJob' not in self.missing:
            self.make('ClusterTrainingRuntime', 'torch-distributed', '', labels={'trainer.kubeflow.org/framework': 'torch'},
                      spec=copy.deepcopy(RUNTIME))

    def make(self, kind, name, namespace='ml', labels=None, **fields):
        """Adds an object without any check."""
        kind = kind_of(kind)
        metadata = {'name': name} | ({'namespace': namespace} if kind.namespaced else {}) | ({'labels': labels} if labels else {})
        with self.store.lock:
            return self.store.make(kind, {'apiVersion': kind.version, 'kind': kind.kind, 'metadata': metadata, **fields})

    def remove(self, kind, name, namespace='ml'):
        """Removes an object at once."""
        with self.store.lock:
            self.store.remove(kind_of(kind), self.store.need(kind_of(kind), namespace, name))

    def make_queue(self, name='team-a', gpus=8, cpus=32, memory='256Gi', classes=None):
        """Adds a queue with its cluster queue, a flavor and priority classes."""
        quotas = dict(zip(RESOURCES, (str(cpus), memory, str(gpus)), strict=True))
        self.make('ResourceFlavor', 'h100', '', spec={'nodeLabels': {'cloud.google.com/gke-accelerator': 'nvidia-h100-80gb'}})
        self.make('ClusterQueue', 'cq', '', spec={
            'namespaceSelector': {}, 'preemption': {'withinClusterQueue': 'LowerPriority'}, 'resourceGroups': [{
                'coveredResources': list(RESOURCES), 'flavors': [{'name': 'h100', 'resources': [
                    {'name': key, 'nominalQuota': value} for key, value in quotas.items()]}]}]})
        for title, value in (classes or {'low': 1, 'high': 1000}).items():
            self.make('WorkloadPriorityClass', title, '', value=value)
        self.make('LocalQueue', name, spec={'clusterQueue': 'cq', 'stopPolicy': 'None'}, status={})

    def items(self, kind, namespace=None):
        """Returns copies of the objects of a kind."""
        with self.store.lock:
            return copy.deepcopy(self.store.all(kind_of(kind), namespace))

    def created(self, kind):
        """Returns how many objects of a kind were ever created."""
        with self.store.lock:
            return self.store.counts.get(kind, 0)

    def compact(self):
        """Forgets the history: watches from an older revision end in 410."""
        with self.store.lock:
            self.store.compacted = self.store.revision
            self.store.changes.clear()

    def kubeconfig(self, user='submitter', namespace='ml', server=None, **settings):
        """Writes a kubeconfig; returns its path. `settings` are keys of the user instead of the token."""
        cluster = {'server': (server or self.url).rstrip('/')}
        if cluster['server'].startswith('https'):
            cluster['certificate-authority'] = str(self.certificates.ca)
        path = self.folder / f'{user}-{len(list(self.folder.glob("*.kubeconfig")))}.kubeconfig'
        path.write_text(json.dumps({
            'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'test',
            'clusters': [{'name': 'test-cluster', 'cluster': cluster}],
            'users': [{'name': user, 'user': settings or {'token': self.tokens[user]}}],
            'contexts': [{'name': 'test', 'context': {'cluster': 'test-cluster', 'user': user, 'namespace': namespace}}]}))
        path.chmod(0o600)
        return path

    # Requests

    def answer(self, request):
        certificate = None
        if self.certificates:
            certificate = request.handler.connection.getpeercert()
        user = self.access.user_of(request.handler.headers.get('Authorization', ''), certificate)
        if not request.is_resource:
            self.access.require_path(user, request.path)
            self.answer_path(request)
            return
        resource = request.plural + (f'/{request.part}' if request.part else '')
        self.access.require(user, request.verb, request.group, resource, request.namespace, request.name)
        if request.plural in REVIEWS:
            self.send(request, 201, self.access.review(user, request.plural, json.loads(request.body)))
        elif request.group == 'visibility.kueue.x-k8s.io' and 'Workload' not in self.missing:
            self.answer_pending(request)
        else:
            self.answer_resource(request)

    def answer_path(self, request):
        path = request.path.rstrip('/')
        if path == '/version':
            self.send(request, 200, VERSION)
        elif path in ('/healthz', '/readyz', '/livez'):
            request.handler.send(200, 'ok', {'Content-Type': 'text/plain; charset=utf-8'})
        elif path.startswith('/openapi/v3') and (found := self.discovery.openapi(path)):
            self.send(request, 200, found)
        elif path.startswith('/openapi/v3'):
            request.handler.send(404, b'', {'Content-Type': 'text/plain; charset=utf-8'})
        elif found := self.discovery.answer(path, request.accept):
            self.send(request, 200, found[0], {'Content-Type': found[1] or 'application/json'})
        else:
            raise PlainText(404, '404 page not found\n')

    @staticmethod
    def send(request, status, item, headers=None, warnings=()):
        request.handler.warnings = warnings
        request.handler.send(status, dump(item), {'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private',
                                                  **(headers or {})})

    def answer_pending(self, request):
        with self.store.lock:
            if request.plural != 'localqueues' or request.part != PENDING:
                raise Refused(404, 'the server could not find the requested resource')
            if self.store.get(kind_of('LocalQueue'), request.namespace, request.name) is None:
                where = {'name': request.name, 'group': request.group, 'kind': 'localqueue'}
                raise Refused(404, f'localqueue.{request.group} "{request.name}" not found', details=where)
            found = self.queues.pending(request.namespace, request.name)
        self.send(request, 200, {'kind': 'PendingWorkloadsSummary', 'apiVersion': request.version, 'metadata': {}, 'items': found})

    def answer_resource(self, request):
        kind = known_kind(request.version, request.plural, self.missing)
        if kind is None:
            if request.version in ('v1', *self.discovery.versions()):
                raise Refused(404, 'the server could not find the requested resource', details={})
            raise PlainText(404, '404 page not found\n')
        if 'application/json' not in request.accept and '*/*' not in request.accept and request.accept:
            raise Refused(406, '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, '
                          'application/vnd.kubernetes.protobuf, application/json;stream=watch, '
                          'application/vnd.kubernetes.protobuf;stream=watch', details={})
        if request.part == 'log' and kind.kind == 'Pod' and request.method == 'GET':
            self.answer_log(request)
        elif request.part:
            with self.store.lock:
                raise not_found(kind, request.name)
        elif request.method == 'GET':
            self.read(kind, request)
        elif request.method == 'POST' and not request.name:
            self.create(kind, request)
        elif request.method == 'DELETE' and request.name:
            self.delete(kind, request)
        elif request.method == 'PATCH' and request.name:
            self.patch(kind, request)
        else:
            raise Refused(405, 'the server does not allow this method on the requested resource', details={})

    # Reading

    def revision_of(self, request):
        """Returns the wanted revision of a list or object; Refused if it is yet to come."""
        text = request.query.get('resourceVersion', '')
        if text and not text.isdigit():
            raise Refused(500, f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax',
                          reason=None)
        revision = int(text or 0)
        if revision > self.store.revision and not request.is_watch:
            raise Refused(504, f'Timeout: Too large resource version: {revision}, current: {self.store.revision}',
                          details={'causes': [{'reason': 'ResourceVersionTooLarge', 'message': 'Too large resource version'}],
                                   'retryAfterSeconds': 1})
        return revision

    def read(self, kind, request):
        if request.is_watch:
            self.watch(kind, request)
            return
        with self.store.lock:
            revision = self.revision_of(request)
            if request.name:
                item = dump(self.store.need(kind, request.namespace, request.name))
                parts = {}
            else:
                if request.query.get('resourceVersionMatch') == 'Exact' and 0 < revision <= self.store.compacted:
                    raise Refused(410, 'The resourceVersion for the provided list is too old.')
                item = dump(self.list(kind, request, parts := {}))
        request.handler.send(200, item, {'Content-Type': 'application/json', **parts})

    def matcher(self, kind, request):
        labels = label_matcher(request.query.get('labelSelector', ''))
        fields = field_matcher(kind, request.query.get('fieldSelector', ''))
        return lambda item: labels(item) and fields(item) and (
            not request.namespace or not kind.namespaced or item['metadata']['namespace'] == request.namespace)

    def list(self, kind, request, _):
        matches = self.matcher(kind, request)
        items = [item for item in self.store.all(kind, request.namespace or None) if matches(item)]
        metadata = {'resourceVersion': str(self.store.revision)}
        start = 0
        if token := request.query.get('continue'):
            try:
                told = json.loads(base64.urlsafe_b64decode(token + '=' * (-len(token) % 4)))
            except ValueError:
                raise Refused(400, "invalid continue token: continue key is not valid: invalid character 'i' looking for "
                              'beginning of value') from None
            if told['rv'] <= self.store.compacted:
                raise Refused(410, 'The provided continue parameter is too old to display a consistent list result. You can start '
                              'a new list without the continue parameter.')
            start = told['start']
        limit = int(request.query.get('limit') or 0)
        if limit and len(items) > start + limit:
            token = base64.urlsafe_b64encode(json.dumps({'rv': self.store.revision, 'start': start + limit}).encode()).decode()
            metadata |= {'continue': token.rstrip('='), 'remainingItemCount': len(items) - start - limit}
            items = items[:start + limit]
        custom = kind.is_custom
        return {'kind': kind.kind + 'List', 'apiVersion': kind.version, 'metadata': metadata, 'items': [
            item if custom else {key: value for key, value in item.items() if key not in ('kind', 'apiVersion')}
            for item in items[start:]]}

    def watch(self, kind, request):
        seconds = min(float(request.query.get('timeoutSeconds') or 600), self.longest_watch)
        end, handler = time.monotonic() + seconds, request.handler
        with self.store.lock:
            if kind.plural in self.initializing:
                self.initializing.discard(kind.plural)
                raise Refused(429, 'storage is (re)initializing', details={'retryAfterSeconds': 1})
            matches = self.matcher(kind, request)
            if request.name:
                inner = matches
                matches = lambda item: inner(item) and item['metadata']['name'] == request.name  # noqa: E731
            revision = self.revision_of(request)
            first = []
            if revision == 0:
                first = [('ADDED', copy.deepcopy(item)) for item in self.store.all(kind) if matches(item)]
                revision = self.store.revision
                if request.query.get('sendInitialEvents') == 'true':
                    first.append(('BOOKMARK', self.bookmark(kind, revision, ended=True)))
            elif revision < self.store.compacted:
                first = [('ERROR', Refused(410, f'too old resource version: {revision} ({self.store.compacted})').body)]
                end = 0
        handler.begin_chunks('application/json')
        handler.chunk(b''.join(line(*entry) for entry in first))
        self.follow(kind, request, matches, revision, end)
        handler.end_chunks()

    def follow(self, kind, request, matches, revision, end):
        """Sends changes until `end`."""
        marks = request.query.get('allowWatchBookmarks', '').lower() in ('true', '1')
        while time.monotonic() < end and not self.controllers.ended:
            with self.store.lock:
                changes = self.store.since(revision, kind)
                if not changes:
                    self.store.changed.wait(min(1, max(0, end - time.monotonic())))
                    changes = self.store.since(revision, kind)
                revision = max([revision, *(change.revision for change in changes)])
                if self.store.compacted > revision:
                    revision = self.store.compacted
            request.handler.chunk(b''.join(line(change.word, change.item) for change in changes if matches(change.item)))
        if marks and end:
            request.handler.chunk(line('BOOKMARK', self.bookmark(kind, revision)))

    @staticmethod
    def bookmark(kind, revision, ended=False):
        metadata = {'resourceVersion': str(revision)}
        if ended:
            metadata['annotations'] = {'k8s.io/initial-events-end': 'true'}
        item = {'kind': kind.kind, 'apiVersion': kind.version, 'metadata': metadata}
        empty = {'spec': {'template': {'metadata': {}, 'spec': {'containers': None}}}, 'status': {}}
        return item | (empty if kind is rules.JOB else {})

    # Writing

    @staticmethod
    def options(request, what):
        """Checks the query of a request that writes; returns whether it is only tried."""
        query = request.query
        if 'dryRun' in query and query['dryRun'] != 'All':
            raise invalid_options(what, 'dryRun', f'Unsupported value: ["{query["dryRun"]}"]: supported values: "All"')
        if len(query.get('fieldManager', '')) > 128:
            raise invalid_options(what, 'fieldManager', 'Too long: may not be more than 128 bytes')
        if query.get('fieldValidation', '') not in ('', 'Ignore', 'Strict', 'Warn'):
            raise invalid_options(what, 'fieldValidation', f'Unsupported value: "{query["fieldValidation"]}": supported values: '
                                  '"", "Ignore", "Strict", "Warn"')
        return query.get('dryRun') == 'All'

    def create(self, kind, request):
        if request.type not in JSON_TYPES:
            raise Refused(415, 'the body of the request was in an unknown format - accepted media types include: '
                          + ', '.join(JSON_TYPES))
        tried = self.options(request, 'CreateOptions')
        item, warnings = read_object(kind, request.body, request.type, request.query.get('fieldValidation') or 'Warn')
        metadata = item.setdefault('metadata', {})
        if kind.namespaced and metadata.get('namespace', request.namespace) != request.namespace:
            raise Refused(400, 'the namespace of the provided object does not match the namespace sent on the request')
        item = rules.fresh(item)
        metadata = item['metadata']
        if kind.namespaced:
            metadata['namespace'] = request.namespace
        with self.store.lock:
            warnings += self.admission.create(kind, item, request.namespace)
            known = self.store.get(kind, request.namespace, metadata['name'])
            if known is not None:
                being = 'object is being deleted: ' if known['metadata'].get('deletionTimestamp') else ''
                raise Refused(409, f'{being}{kind.name} "{metadata["name"]}" already exists', details=details(kind, metadata['name']))
            self.store.prepare(kind, item, request.query.get('fieldManager') or 'unknown')
            if kind is rules.JOB:
                rules.own_job(item)
            if not tried:
                self.store.add(kind, item)
            answer = copy.deepcopy(item)
        self.send(request, 201, answer, warnings=warnings)

    def delete(self, kind, request):
        warnings = [WARNING] if kind is rules.JOB and 'propagationPolicy' not in request.query and not request.body else []
        options = parsed(request.body) or {}
        policy = request.query.get('propagationPolicy') or options.get('propagationPolicy')
        if policy not in (None, 'Foreground', 'Background', 'Orphan'):
            raise invalid_options('DeleteOptions', 'propagationPolicy', f'Unsupported value: "{policy}": supported values: '
                                  '"Foreground", "Background", "Orphan", "nil"')
        with self.store.lock:
            try:
                item = self.store.need(kind, request.namespace, request.name)
            except Refused as refusal:
                if warnings:
                    refusal.headers['Warning'] = f'299 - {json.dumps(WARNING)}'
                raise
            uid = (options.get('preconditions') or {}).get('uid', item['metadata']['uid'])
            if uid != item['metadata']['uid']:
                raise Refused(409, f'Operation cannot be fulfilled on {kind.singular} "{request.name}": the UID in the '
                              f'precondition ({uid}) does not match the UID in record ({item["metadata"]["uid"]}). The object '
                              'might have been deleted and then recreated', reason='Conflict',
                              details=details(kind, request.name) | {'kind': kind.kind})
            if request.query.get('dryRun') == 'All' or 'All' in (options.get('dryRun') or []):
                answer = copy.deepcopy(item)
            else:
                policy = policy or ('Orphan' if kind is rules.JOB else 'Background')
                gone = self.controllers.delete(kind, item, policy)
                answer = copy.deepcopy(item)
                if gone and kind is not rules.POD:
                    answer = {'kind': 'Status', 'apiVersion': 'v1', 'metadata': {}, 'status': 'Success',
                              'details': details(kind, request.name) | {'uid': item['metadata']['uid']}}
        self.send(request, 200, answer, warnings=warnings)

    def patch(self, kind, request):
        """Takes merge patches, and strategic ones of plain objects, which are merged as JSON here."""
        accepted = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']
        allowed = accepted[1:2] + ([] if kind.is_custom else ['application/strategic-merge-patch+json'])
        if request.type not in allowed:
            raise Refused(415, 'the body of the request was in an unknown format - accepted media types include: '
                          + ', '.join(accepted))
        with self.store.lock:
            item = self.store.need(kind, request.namespace, request.name)
            changed = merge(item, json.loads(request.body))
            if kind is rules.JOBSET and changed['spec'].get('replicatedJobs') != item['spec'].get('replicatedJobs'):
                raise invalid(kind, request.name, [('spec.replicatedJobs', 'Invalid value: []: field is immutable')],
                              before='admission webhook "vjobset.kb.io" denied the request: ')
            if kind is rules.JOBSET and changed['spec'].get('successPolicy') != item['spec'].get('successPolicy'):
                raise invalid(kind, request.name, [('spec.successPolicy', 'Invalid value: Value is immutable')])
            item.clear()
            item.update(changed)
            self.store.touch(kind, item)
            answer = copy.deepcopy(item)
        self.send(request, 200, answer)


def line(word, item):
    return dump({'type': word, 'object': item}) + b'\n'
