"""Objects of a Kubernetes API server: with revisions, a history for watches, selectors, and the answers of its refusals."""

import copy
import datetime
import json
import random
import re
import threading
import uuid

# The letters of the suffixes that Kubernetes makes.
LETTERS = 'bcdfghjklmnpqrstvwxz2456789'
REASONS = {400: 'BadRequest', 401: 'Unauthorized', 403: 'Forbidden', 404: 'NotFound', 405: 'MethodNotAllowed',
           406: 'NotAcceptable', 409: 'AlreadyExists', 410: 'Expired', 415: 'UnsupportedMediaType', 422: 'Invalid',
           429: 'TooManyRequests', 504: 'Timeout'}
CAUSES = {'Invalid value': 'FieldValueInvalid', 'Required value': 'FieldValueRequired', 'Duplicate value': 'FieldValueDuplicate',
          'Unsupported value': 'FieldValueNotSupported', 'Not found': 'FieldValueNotFound', 'Forbidden': 'FieldValueForbidden',
          'Too long': 'FieldValueTooLong', 'Internal error': 'InternalError'}
OPTIONAL_FIELDS = {'Job': ('status.successful',), 'Pod': ('spec.nodeName', 'status.phase'),
                   'Event': ('involvedObject.name', 'involvedObject.kind', 'involvedObject.uid', 'reason', 'type')}


class Kind:
    """A kind of object that the server keeps."""

    def __init__(self, kind, plural, version, namespaced=True):
        self.kind, self.plural, self.version, self.namespaced = kind, plural, version, namespaced
        self.group = version.rpartition('/')[0]

    @property
    def name(self):
        """Returns `jobs.batch`, as messages name the resource."""
        return f'{self.plural}.{self.group}' if self.group else self.plural

    @property
    def singular(self):
        """Returns `Job.batch`, as messages name the kind."""
        return f'{self.kind}.{self.group}' if self.group else self.kind

    @property
    def is_custom(self):
        return self.group.count('.') > 0 and not self.group.endswith('.k8s.io') or self.group in (
            'jobset.x-k8s.io', 'kueue.x-k8s.io')


KINDS = [
    Kind('Namespace', 'namespaces', 'v1', namespaced=False), Kind('Node', 'nodes', 'v1', namespaced=False),
    Kind('Pod', 'pods', 'v1'), Kind('Event', 'events', 'v1'), Kind('Secret', 'secrets', 'v1'),
    Kind('Service', 'services', 'v1'), Kind('ServiceAccount', 'serviceaccounts', 'v1'),
    Kind('ResourceQuota', 'resourcequotas', 'v1'), Kind('ConfigMap', 'configmaps', 'v1'), Kind('Job', 'jobs', 'batch/v1'),
    Kind('PriorityClass', 'priorityclasses', 'scheduling.k8s.io/v1', namespaced=False),
    Kind('RuntimeClass', 'runtimeclasses', 'node.k8s.io/v1', namespaced=False),
    Kind('JobSet', 'jobsets', 'jobset.x-k8s.io/v1alpha2'),
    Kind('TrainJob', 'trainjobs', 'trainer.kubeflow.org/v1alpha1'),
    Kind('TrainingRuntime', 'trainingruntimes', 'trainer.kubeflow.org/v1alpha1'),
    Kind('ClusterTrainingRuntime', 'clustertrainingruntimes', 'trainer.kubeflow.org/v1alpha1', namespaced=False),
    Kind('Workload', 'workloads', 'kueue.x-k8s.io/v1beta2'), Kind('LocalQueue', 'localqueues', 'kueue.x-k8s.io/v1beta2'),
    Kind('ClusterQueue', 'clusterqueues', 'kueue.x-k8s.io/v1beta2', namespaced=False),
    Kind('ResourceFlavor', 'resourceflavors', 'kueue.x-k8s.io/v1beta2', namespaced=False),
    Kind('WorkloadPriorityClass', 'workloadpriorityclasses', 'kueue.x-k8s.io/v1beta2', namespaced=False),
]


class Refused(Exception):
    """The answer is a Status of failure, or a text that is none."""

    def __init__(self, code, message, *, details=None, reason='', headers=None):
        super().__init__(message)
        self.code, self.headers = code, headers or {}
        self.body = {'kind': 'Status', 'apiVersion': 'v1', 'metadata': {}, 'status': 'Failure', 'message': message}
        reason = REASONS.get(code, '') if reason == '' else reason
        if reason:
            self.body['reason'] = reason
        if details is not None:
            self.body['details'] = details
        self.body['code'] = code


class PlainText(Exception):
    """An answer in plain text: of a path that no group serves."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code, self.text = code, text


def details(kind, name=''):
    return ({'name': name} if name else {}) | ({'group': kind.group} if kind.group else {}) | {'kind': kind.plural}


def not_found(kind, name):
    return Refused(404, f'{kind.name} "{name}" not found', details=details(kind, name))


def invalid(kind, name, faults, *, before=''):
    """`faults` has (field, text), with the kind of fault before the text's first colon, if it has one."""
    unique = list(dict.fromkeys(faults))
    said = ', '.join(f'{field}: {text}' for field, text in unique)
    said = f'[{said}]' if len(unique) > 1 else said
    causes = [{'reason': cause_of(text), 'message': text, 'field': field} for field, text in faults]
    names = ({'name': name} if name else {}) | ({'group': kind.group} if kind.group else {})
    return Refused(422, f'{before}{kind.singular} "{name}" is invalid: {said}',
                   details=names | {'kind': kind.kind, 'causes': causes})


def cause_of(text):
    if ' in body must be of type ' in text:
        return 'FieldValueTypeInvalid'
    return CAUSES[text.partition(':')[0]]


def invalid_options(what, field, text):
    return invalid(Kind(what, '', 'meta.k8s.io/v1'), '', [(field, text)])


def now(fraction=False):
    time = datetime.datetime.now(datetime.timezone.utc)
    return time.strftime('%Y-%m-%dT%H:%M:%S.%fZ' if fraction else '%Y-%m-%dT%H:%M:%SZ')


def suffix():
    return ''.join(random.choice(LETTERS) for _ in range(5))


def value_at(item, path):
    for part in path.split('.'):
        item = item.get(part) if isinstance(item, dict) else None
    return item


REQUIREMENT = re.compile(r'\s*(!?)([A-Za-z0-9./_-]+)\s*(?:(==|=|!=)\s*([A-Za-z0-9._-]*)|(in|notin)\s*\(([^)]*)\))?\s*$')


def label_matcher(selector):
    """Returns a function that says whether labels match a selector in text."""
    tests = []
    for part in re.split(r',(?![^(]*\))', selector) if selector else []:
        match = REQUIREMENT.match(part)
        if not match:
            raise Refused(400, "unable to parse requirement: found '=', expected: identifier")
        lacks, key, operator, value, within, values = match.groups()
        if operator in ('=', '=='):
            tests.append(lambda labels, key=key, value=value: labels.get(key) == value)
        elif operator == '!=':
            tests.append(lambda labels, key=key, value=value: labels.get(key) != value)
        elif within:
            choice = {item.strip() for item in values.split(',')}
            tests.append(lambda labels, key=key, choice=choice, within=within:
                         (labels.get(key) in choice) == (within == 'in'))
        else:
            tests.append(lambda labels, key=key, lacks=lacks: (key in labels) != bool(lacks))
    return lambda item: all(test(item['metadata'].get('labels') or {}) for test in tests)


def field_matcher(kind, selector):
    tests = []
    for part in selector.split(',') if selector else []:
        field, operator, value = re.match(r'([^=!]*)(==|=|!=)(.*)', part).groups()
        if field not in ('metadata.name', 'metadata.namespace', *OPTIONAL_FIELDS.get(kind.kind, ())):
            raise Refused(400, f'field label "{field}" not supported for {kind.kind}' if not kind.is_custom else
                          f'field label not supported: {field}')
        tests.append(lambda item, field=field, operator=operator, value=value:
                     ((value_at(item, field) or '') == value) == (operator != '!='))
    return lambda item: all(test(item) for test in tests)


class Change:
    """One line of a watch."""

    def __init__(self, revision, word, kind, item):
        self.revision, self.word, self.kind, self.item = revision, word, kind, item


class Store:
    """The objects; all methods but `wait` are to be called with `lock`, which may be taken again."""

    def __init__(self):
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.revision = 300
        self.compacted = 0
        self.items = {kind.plural: {} for kind in KINDS}
        self.changes = []
        self.counts = {}  # of created objects by kind, for tests

    def get(self, kind, namespace, name):
        return self.items[kind.plural].get((namespace if kind.namespaced else '', name))

    def need(self, kind, namespace, name):
        item = self.get(kind, namespace, name)
        if item is None:
            raise not_found(kind, name)
        return item

    def all(self, kind, namespace=None):
        return [item for (place, _), item in sorted(self.items[kind.plural].items())
                if namespace is None or place == namespace or not kind.namespaced]

    def _note(self, word, kind, item):
        self.revision += 1
        item['metadata']['resourceVersion'] = str(self.revision)
        self.changes.append(Change(self.revision, word, kind, copy.deepcopy(item)))
        self.changed.notify_all()

    def prepare(self, kind, item, manager='test', generation=True):
        """Adds what the server adds to a new object."""
        metadata = item['metadata']
        metadata['uid'] = str(uuid.uuid4())
        metadata['creationTimestamp'] = now()
        if generation and kind.kind not in ('Event', 'Secret', 'ServiceAccount', 'Namespace'):
            metadata['generation'] = 1
        fields = {f'f:{key}': {} for key in item if key not in ('apiVersion', 'kind', 'metadata', 'status')}
        metadata['managedFields'] = [{'manager': manager, 'operation': 'Update', 'apiVersion': kind.version, 'time': now(),
                                      'fieldsType': 'FieldsV1', 'fieldsV1': fields}]
        item.setdefault('apiVersion', kind.version)
        item.setdefault('kind', kind.kind)
        return item

    def add(self, kind, item):
        metadata = item['metadata']
        key = (metadata.get('namespace', '') if kind.namespaced else '', metadata['name'])
        self.items[kind.plural][key] = item
        self.counts[kind.kind] = self.counts.get(kind.kind, 0) + 1
        self._note('ADDED', kind, item)
        return item

    def make(self, kind, item, manager='test'):
        """Adds an object that a controller or a test makes, without any check."""
        return self.add(kind, self.prepare(kind, item, manager))

    def touch(self, kind, item):
        """Records that the object has changed."""
        self._note('MODIFIED', kind, item)

    def remove(self, kind, item):
        metadata = item['metadata']
        if self.items[kind.plural].pop((metadata.get('namespace', '') if kind.namespaced else '', metadata['name']), None):
            self._note('DELETED', kind, item)

    def owned(self, item):
        """Returns the objects that name this one as an owner, as (kind, object)."""
        uid = item['metadata']['uid']
        return [(kind, child) for kind in KINDS for child in list(self.items[kind.plural].values())
                if any(owner['uid'] == uid for owner in child['metadata'].get('ownerReferences', []))]

    def since(self, revision, kind):
        """Returns the changes after `revision`."""
        return [change for change in self.changes if change.revision > revision and change.kind is kind]


def kind_of(name):
    return next(kind for kind in KINDS if kind.kind == name)


def merge(item, patch):
    """Applies a JSON merge patch."""
    if not isinstance(patch, dict):
        return patch
    item = dict(item) if isinstance(item, dict) else {}
    for key, value in patch.items():
        if value is None:
            item.pop(key, None)
        else:
            item[key] = merge(item.get(key), value)
    return item


def dump(item):
    return json.dumps(item, separators=(',', ':')).encode()
