"""What Kubernetes' server adds to new objects and what it refuses in them: defaults, validation, webhooks, quotas."""

import copy
import re

from kubernetes_schema import QUANTITY, check_schema, check_webhook_types
from kubernetes_store import Refused, details, invalid, kind_of, now, suffix

JOB, POD, JOBSET, TRAINJOB = (kind_of(name) for name in ('Job', 'Pod', 'JobSet', 'TrainJob'))
SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'
BAD_SUBDOMAIN = ("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
                 f"and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{SUBDOMAIN}')")
LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
BAD_LABEL = ("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
             f"an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{LABEL}')")
LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
BAD_LABEL_1035 = ("a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
                  "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
                  f"'{LABEL_1035}')")
NAME_PART = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
BAD_NAME_PART = ("name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
                 f"character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{NAME_PART}')")
UNITS = {'': 1, 'm': 1e-3, 'k': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12, 'P': 1e15, 'Ki': 2**10, 'Mi': 2**20, 'Gi': 2**30,
         'Ti': 2**40, 'Pi': 2**50}
QUEUE, PRIORITY = 'kueue.x-k8s.io/queue-name', 'kueue.x-k8s.io/priority-class'
SUBRESOURCES = ('metadata.name', 'metadata.namespace', 'metadata.uid', 'spec.nodeName', 'spec.serviceAccountName',
                'status.hostIP', 'status.podIP')
RESERVED_ENV = ('PET_NNODES', 'PET_NPROC_PER_NODE', 'PET_NODE_RANK', 'PET_MASTER_ADDR', 'PET_MASTER_PORT')


def amount(quantity):
    """Returns a quantity as a number."""
    number, unit = QUANTITY.match(str(quantity)).groups()
    return float(number) * UNITS.get(unit, 1)


def canonical(quantity):
    """Returns a quantity as the server writes it."""
    text = str(quantity)
    return f'{round(amount(text) * 1000)}m' if '.' in text and amount(text) != int(amount(text)) else text


# Defaults

def write_quantities(container):
    resources = container.setdefault('resources', {})
    for part in ('limits', 'requests'):
        quantities = resources.get(part) or {}
        quantities |= {name: canonical(value) for name, value in quantities.items()}


def default_pod_spec(spec):
    for container in [*(spec.get('containers') or []), *(spec.get('initContainers') or [])]:
        image = container.get('image', '')
        for part in ('limits', 'requests'):
            quantities = (container.get('resources') or {}).get(part) or {}
            quantities |= {name: canonical(value) for name, value in quantities.items()}
        latest = '@' not in image and ':' not in image.rpartition('/')[2] or image.endswith(':latest')
        container.setdefault('resources', {})
        container.setdefault('terminationMessagePath', '/dev/termination-log')
        container.setdefault('terminationMessagePolicy', 'File')
        container.setdefault('imagePullPolicy', 'Always' if latest else 'IfNotPresent')
        for port in container.get('ports') or []:
            port.setdefault('protocol', 'TCP')
        for variable in container.get('env') or []:
            if variable.get('value') == '':
                del variable['value']
            if 'fieldRef' in (variable.get('valueFrom') or {}):
                variable['valueFrom']['fieldRef'].setdefault('apiVersion', 'v1')
    for volume in spec.get('volumes') or []:
        if 'secret' in volume:
            volume['secret'].setdefault('defaultMode', 420)
        if 'configMap' in volume:
            volume['configMap'].setdefault('defaultMode', 420)
        if 'hostPath' in volume:
            volume['hostPath'].setdefault('type', '')
    spec.setdefault('restartPolicy', 'Always')
    spec.setdefault('terminationGracePeriodSeconds', 30)
    spec.setdefault('dnsPolicy', 'ClusterFirst')
    spec.setdefault('securityContext', {})
    spec.setdefault('schedulerName', 'default-scheduler')
    if spec.get('serviceAccountName'):
        spec['serviceAccount'] = spec['serviceAccountName']


def default_job(item):
    spec = item.setdefault('spec', {})
    spec.setdefault('completionMode', 'NonIndexed')
    if 'parallelism' not in spec and 'completions' not in spec:
        spec['completions'] = 1
    spec.setdefault('parallelism', 1)
    spec.setdefault('backoffLimit', 2**31 - 1 if 'backoffLimitPerIndex' in spec else 6)
    spec.setdefault('suspend', False)
    spec.setdefault('manualSelector', False)
    spec.setdefault('podReplacementPolicy', 'Failed' if 'podFailurePolicy' in spec else 'TerminatingOrFailed')
    default_pod_spec(spec.setdefault('template', {}).setdefault('spec', {}))
    item['status'] = {}


def own_job(item):
    """Gives a Job the selector and labels that come with its uid."""
    uid, name, spec = item['metadata']['uid'], item['metadata']['name'], item['spec']
    spec['selector'] = {'matchLabels': {'batch.kubernetes.io/controller-uid': uid}}
    template = spec['template'].setdefault('metadata', {})
    if not template.get('annotations', True):
        del template['annotations']
    template['labels'] = {**(template.get('labels') or {}), 'batch.kubernetes.io/controller-uid': uid,
                          'batch.kubernetes.io/job-name': name, 'controller-uid': uid, 'job-name': name}
    if not item['metadata'].get('labels'):
        item['metadata']['labels'] = dict(template['labels'])


def default_pod(item):
    spec = item.setdefault('spec', {})
    default_pod_spec(spec)
    for container in spec.get('containers') or []:
        limits = container['resources'].get('limits') or {}
        if limits:
            container['resources']['requests'] = {**limits, **(container['resources'].get('requests') or {})}
    item['status'] = {'phase': 'Pending', 'qosClass': quality(spec)}


def quality(spec):
    """Returns the class of quality of service."""
    resources = [container.get('resources') or {} for container in spec.get('containers') or []]
    counted = {name for resource in resources for part in ('limits', 'requests') for name in resource.get(part) or {}}
    if not counted & {'cpu', 'memory'}:
        return 'BestEffort'
    fixed = all({'cpu', 'memory'} <= set(resource.get('limits') or {}) and resource.get('requests') == resource['limits']
                for resource in resources)
    return 'Guaranteed' if fixed else 'Burstable'


def default_jobset(item):
    spec = item.setdefault('spec', {})
    if 'failurePolicy' in spec:
        spec['failurePolicy'].setdefault('restartStrategy', 'Recreate')
        spec['failurePolicy'].setdefault('maxRestarts', 0)
    spec.setdefault('network', {}).setdefault('enableDNSHostnames', True)
    spec['network'].setdefault('publishNotReadyAddresses', True)
    spec.setdefault('startupPolicy', {'startupPolicyOrder': 'AnyOrder'})
    spec.setdefault('successPolicy', {'operator': 'All'}).setdefault('operator', 'All')
    for job in spec.get('replicatedJobs') or []:
        job.setdefault('groupName', 'default')
        job.setdefault('replicas', 1)
        job.setdefault('template', {}).setdefault('metadata', {})
        job['template'].setdefault('spec', {}).setdefault('completionMode', 'Indexed')
        template = job['template']['spec'].setdefault('template', {})
        template.setdefault('metadata', {})
        template.setdefault('spec', {}).setdefault('restartPolicy', 'OnFailure')
        for container in template['spec'].get('containers') or []:
            write_quantities(container)


def default_trainjob(item):
    spec = item.setdefault('spec', {})
    spec.setdefault('managedBy', 'trainer.kubeflow.org/trainjob-controller')
    spec.setdefault('suspend', False)
    if 'runtimeRef' in spec:
        spec['runtimeRef'].setdefault('apiGroup', 'trainer.kubeflow.org')
        spec['runtimeRef'].setdefault('kind', 'ClusterTrainingRuntime')
    for patch in spec.get('runtimePatches') or []:
        patch.setdefault('time', now())


def queue_defaults(item, is_trainjob):
    """Adds what Kueue's webhooks add."""
    if (item['metadata'].get('labels') or {}).get(QUEUE):
        item['spec']['suspend'] = True
    patches = item['spec'].setdefault('runtimePatches', []) if is_trainjob else None
    if patches is not None and not any(patch.get('manager') == 'kueue.x-k8s.io/manager' for patch in patches):
        patches.append({'manager': 'kueue.x-k8s.io/manager', 'trainingRuntimeSpec': {'template': {'spec': {}}}})


# Validation, as (field, text)

def value_fault(value, text):
    return f'Invalid value: "{value}": {text}'


def resource_faults(resources, path):
    for part in ('limits', 'requests'):
        for name, quantity in (resources.get(part) or {}).items():
            where = f'{path}.{part}[{name}]'
            if amount(quantity) < 0:
                yield where, value_fault(quantity, 'must be greater than or equal to 0')
            elif '/' in name and amount(quantity) != int(amount(quantity)):
                yield where, value_fault(quantity, 'must be an integer')
    for name, quantity in (resources.get('requests') or {}).items():
        limit = (resources.get('limits') or {}).get(name)
        if '/' in name and limit is None:
            yield f'{path}.limits', 'Required value: Limit must be set for non overcommitable resources'
        elif limit is not None and 0 <= amount(limit) < amount(quantity):
            yield f'{path}.requests', value_fault(quantity, f'must be less than or equal to {name} limit of {limit}')


def environment_faults(variables, path):
    for number, variable in enumerate(variables or []):
        name, where = variable.get('name', ''), f'{path}[{number}]'
        if not name:
            yield f'{where}.name', 'Required value'
        elif not re.fullmatch('[ -<>-~]+', name):
            yield f'{where}.name', value_fault(name, 'a valid environment variable name must consist only of printable ASCII '
                                               "characters other than '='")
        field = (variable.get('valueFrom') or {}).get('fieldRef', {}).get('fieldPath')
        if field is None:
            continue
        keyed = re.fullmatch(r"metadata\.(?:labels|annotations)\['(.*)'\]", field)
        if keyed and not re.fullmatch(NAME_PART, keyed[1].rpartition('/')[2]):
            yield f'{where}.valueFrom.fieldRef', value_fault(keyed[1], BAD_NAME_PART)
        elif not keyed and field not in SUBRESOURCES:
            yield (f'{where}.valueFrom.fieldRef.fieldPath',
                   value_fault(field, f'error converting fieldPath: field label not supported: {field}'))


def pod_spec_faults(spec, path):
    volumes = {volume.get('name') for volume in spec.get('volumes') or []}
    containers = spec.get('containers') or []
    if not containers:
        yield f'{path}.containers', 'Required value'
    names = [container.get('name', '') for container in containers]
    for number, container in enumerate(containers):
        where, name = f'{path}.containers[{number}]', container.get('name', '')
        if not re.fullmatch(LABEL, name):
            yield f'{where}.name', value_fault(name, BAD_LABEL) if name else 'Required value'
        elif name in names[:number]:
            yield f'{where}.name', f'Duplicate value: "{name}"'
        if not container.get('image'):
            yield f'{where}.image', 'Required value'
        yield from environment_faults(container.get('env'), f'{where}.env')
        for index, mount in enumerate(container.get('volumeMounts') or []):
            if mount.get('name') not in volumes:
                yield f'{where}.volumeMounts[{index}].name', f'Not found: "{mount.get("name")}"'
            if not mount.get('mountPath'):
                yield f'{where}.volumeMounts[{index}].mountPath', 'Required value'
        yield from resource_faults(container.get('resources') or {}, f'{where}.resources')


def job_faults(item):
    name, spec = item['metadata'].get('name', ''), item['spec']
    if not name:
        yield 'metadata.name', 'Required value: name or generateName is required'
    elif not re.fullmatch(SUBDOMAIN, name) or len(name) > 253:
        yield 'metadata.name', value_fault(name, BAD_SUBDOMAIN)
    if len(name) > 63:
        for _ in range(2):  # the labels with and without a prefix
            yield 'spec.template.labels', value_fault(name, 'must be no more than 63 bytes')
    for field in ('completions', 'parallelism', 'backoffLimit', 'activeDeadlineSeconds', 'ttlSecondsAfterFinished'):
        if (spec.get(field) or 0) < 0:
            yield f'spec.{field}', f'Invalid value: {spec[field]}: must be greater than or equal to 0'
    if spec['completionMode'] == 'Indexed':
        if 'completions' not in spec:
            yield 'spec.completions', 'Required value: when completion mode is Indexed'
        longest = f'{name}-{max(0, spec.get("completions", 1) - 1)}'
        if len(longest) > 63 or not re.fullmatch(LABEL, longest):
            yield 'metadata.name', value_fault(name, f'will not able to create pod with invalid DNS label: {longest}')
    yield from pod_spec_faults(spec['template']['spec'], 'spec.template.spec')
    if spec['template']['spec']['restartPolicy'] == 'Always':
        yield 'spec.template.spec.restartPolicy', 'Required value: valid values: "OnFailure", "Never"'


def pod_faults(item):
    name = item['metadata'].get('name', '')
    if not name:
        yield 'metadata.name', 'Required value: name or generateName is required'
    elif not re.fullmatch(SUBDOMAIN, name):
        yield 'metadata.name', value_fault(name, BAD_SUBDOMAIN)
    yield from pod_spec_faults(item['spec'], 'spec')


def jobset_name_faults(name, job, path):
    longest = f'{name}-{job["name"]}-{max(0, job["replicas"] - 1)}'
    completions = job['template']['spec'].get('completions')
    pods = [] if completions is None else [f'{longest}-{max(0, completions - 1)}-abcde']
    for what, candidate in (('job', longest), *(('pod', pod) for pod in pods)):
        if len(candidate) > 63:
            yield path, value_fault(longest, f'JobSet name is too long, {what} names generated for this JobSet will exceed 63 '
                                    'characters')
        elif not re.fullmatch(LABEL_1035, candidate):
            yield path, value_fault(longest, BAD_LABEL_1035)


def jobset_faults(item):
    """Returns the faults that JobSet's validating webhook reports."""
    name, spec = item['metadata'].get('name', ''), item['spec']
    jobs = {job['name']: job for job in spec.get('replicatedJobs') or []}
    for number, job in enumerate(spec.get('replicatedJobs') or []):
        yield from jobset_name_faults(name, job, f'spec.replicatedJobs[{number}].name')
    for target in spec['successPolicy'].get('targetReplicatedJobs') or []:
        if target not in jobs:
            yield '<nil>', f"Internal error: invalid replicatedJob name '{target}' does not appear in .spec.ReplicatedJobs"
    coordinator = spec.get('coordinator')
    if not coordinator:
        return
    pool = coordinator['replicatedJob']
    if pool not in jobs:
        yield '<nil>', f'Internal error: coordinator replicatedJob {pool} does not exist'
        return
    label = coordinator_of(item)
    if len(label) > 63:
        yield '<nil>', (f'Internal error: spec will lead to invalid label value "{label}" for coordinator label '
                        '"jobset.sigs.k8s.io/coordinator" (long JobSet / ReplicatedJob / SubDomain name?): must be no more than '
                        '63 bytes')


def coordinator_of(item):
    """Returns the host name of a JobSet's coordinator."""
    name, spec = item['metadata']['name'], item['spec']
    given = spec['coordinator']
    return (f'{name}-{given["replicatedJob"]}-{given.get("jobIndex", 0)}-{given.get("podIndex", 0)}.'
            f'{spec["network"].get("subdomain") or name}')


def trainjob_rules(item):
    name = item['metadata'].get('name', '')
    if len(name) > 63:
        yield '<nil>', 'Invalid value: metadata.name must be no more than 63 characters'
    elif not re.fullmatch(LABEL_1035, name):
        yield '<nil>', 'Invalid value: metadata.name must match RFC 1035 DNS label format'
    manager = item['spec'].get('managedBy', '')
    allowed = ('trainer.kubeflow.org/trainjob-controller', 'kueue.x-k8s.io/multikueue')
    if manager not in allowed:
        yield 'spec.managedBy', value_fault(manager, f'ManagedBy must be {allowed[0]} or {allowed[1]} if set')


# The stages of a creation after decoding

class Admission:
    """Takes new objects through the stages of a server: `policies` are functions that return a message or None."""

    def __init__(self, store, missing):
        self.store, self.missing = store, missing  # missing: kinds without a controller, and so without its webhook
        self.policies = []

    def queued(self):
        return 'Workload' not in self.missing

    def create(self, kind, item, namespace, *, with_quota=True):
        """Returns the warnings for a new object, which gets its defaults; Refused if a stage refuses it."""
        self.check_namespace(kind, item, namespace)
        warnings = self.mutate(kind, item, namespace)
        metadata = item['metadata']
        if not metadata.get('name') and metadata.get('generateName'):
            metadata['name'] = metadata['generateName'] + suffix()
        self.validate(kind, item)
        warnings += self.deny(kind, item, namespace)
        if with_quota:
            self.check_quota(kind, item, namespace)
        return warnings

    def check_namespace(self, kind, item, namespace):
        if not kind.namespaced:
            return
        found = self.store.need(kind_of('Namespace'), '', namespace)
        if found['metadata'].get('deletionTimestamp'):
            cause = {'reason': 'NamespaceTerminating', 'message': f'namespace {namespace} is being terminated',
                     'field': 'metadata.namespace'}
            name = item['metadata'].get('name', '')
            raise Refused(403, f'{kind.name} "{name}" is forbidden: unable to create new content in namespace {namespace} '
                          'because it is being terminated', details=details(kind, name) | {'causes': [cause]})

    def mutate(self, kind, item, namespace):
        if kind is JOB:
            default_job(item)
        elif kind is POD:
            default_pod(item)
            self.pod_plugins(item, namespace)
        elif kind is JOBSET:
            check_webhook_types(kind, item, 'mjobset.kb.io')
            default_jobset(item)
        elif kind is TRAINJOB:
            check_webhook_types(kind, item, 'defaulter.trainjob.trainer.kubeflow.org')
            default_trainjob(item)
        if kind in (JOB, JOBSET, TRAINJOB) and self.queued() and not item['metadata'].get('ownerReferences'):
            queue_defaults(item, kind is TRAINJOB)
        return []

    def pod_plugins(self, item, namespace):
        """Refuses what the plug-ins for pods refuse before the validation, and adds their parts."""
        name, spec = item['metadata'].get('name') or item['metadata'].get('generateName', ''), item['spec']

        def forbid(why):
            raise Refused(403, f'pods "{name}" is forbidden: {why}', details=details(POD, name))

        account = spec.setdefault('serviceAccountName', 'default')
        spec['serviceAccount'] = account
        if account != 'default' and self.store.get(kind_of('ServiceAccount'), namespace, account) is None:
            forbid(f'error looking up service account {namespace}/{account}: serviceaccount "{account}" not found')
        priority = spec.get('priorityClassName')
        rank = self.store.get(kind_of('PriorityClass'), '', priority) if priority else {'value': 0}
        if rank is None:
            forbid(f'no PriorityClass with name {priority} was found')
        runtime = spec.get('runtimeClassName')
        if runtime and self.store.get(kind_of('RuntimeClass'), '', runtime) is None:
            forbid(f'pod rejected: RuntimeClass "{runtime}" not found')
        spec.setdefault('tolerations', [])
        for key in ('not-ready', 'unreachable'):
            spec['tolerations'].append({'key': f'node.kubernetes.io/{key}', 'operator': 'Exists', 'effect': 'NoExecute',
                                        'tolerationSeconds': 300})
        spec.setdefault('enableServiceLinks', True)
        spec |= {'priority': rank['value'], 'preemptionPolicy': 'PreemptLowerPriority'}
        access = f'kube-api-access-{suffix()}'
        spec.setdefault('volumes', []).append({'name': access, 'projected': {'defaultMode': 420, 'sources': [
            {'serviceAccountToken': {'expirationSeconds': 3607, 'path': 'token'}},
            {'configMap': {'name': 'kube-root-ca.crt', 'items': [{'key': 'ca.crt', 'path': 'ca.crt'}]}},
            {'downwardAPI': {'items': [{'path': 'namespace', 'fieldRef': {
                'apiVersion': 'v1', 'fieldPath': 'metadata.namespace'}}]}}]}})
        for container in spec.get('containers') or []:
            container.setdefault('volumeMounts', []).append(
                {'name': access, 'readOnly': True, 'mountPath': '/var/run/secrets/kubernetes.io/serviceaccount'})

    def validate(self, kind, item):
        name = item['metadata'].get('name', '')
        if kind in (JOB, POD):
            faults = list(job_faults(item) if kind is JOB else pod_faults(item))
            if faults:
                raise invalid(kind, name, faults)
        if kind in (JOBSET, TRAINJOB):
            if kind is JOBSET and not re.fullmatch(SUBDOMAIN, name):
                raise invalid(kind, name, [('metadata.name', value_fault(name, BAD_SUBDOMAIN))])
            check_schema(kind, item, trainjob_rules(item) if kind is TRAINJOB else ())

    def deny(self, kind, item, namespace):
        """Refuses what validating webhooks and policies refuse; returns warnings."""
        name = item['metadata'].get('name', '')
        for policy in self.policies:
            why = policy(kind, item)
            if why:
                raise Refused(422, f'{kind.name} "{name}" is forbidden: {why}',
                              details=details(kind, name) | {'causes': [{'message': why}]})
        if kind is JOBSET:
            faults = list(jobset_faults(item))
            if faults:
                raise invalid(kind, name, faults, before='admission webhook "vjobset.kb.io" denied the request: ')
        queue = (item['metadata'].get('labels') or {}).get(QUEUE)
        if kind in (JOB, JOBSET, TRAINJOB) and self.queued() and queue and not re.fullmatch(SUBDOMAIN, queue):
            raise Refused(403, f'admission webhook "v{kind.kind.lower()}.kb.io" denied the request: '
                          f'metadata.labels[{QUEUE}]: {value_fault(queue, BAD_SUBDOMAIN)}')
        if kind is TRAINJOB:
            self.deny_trainjob(item, namespace)
        return self.pod_security(kind, item, namespace)

    def deny_trainjob(self, item, namespace):
        denied = 'admission webhook "validator.trainjob.trainer.kubeflow.org" denied the request: '
        reference = item['spec']['runtimeRef']
        kind = reference['kind']
        if self.store.get(kind_of(kind), namespace, reference['name']) is None:
            shown = f'{{"name":"{reference["name"]}","apiGroup":"{reference["apiGroup"]}","kind":"{kind}"}}'
            raise Refused(403, f'{denied}spec.RuntimeRef: Invalid value: {shown}: {kind}.trainer.kubeflow.org '
                          f'"{reference["name"]}" not found: specified {kind[0].lower()}{kind[1:]} must be created before the '
                          'TrainJob is created')
        variables = item['spec'].get('trainer', {}).get('env') or []
        reserved = [variable['name'] for variable in variables if variable['name'] in RESERVED_ENV]
        if reserved:
            shown = ','.join(f'{{"name":"{variable["name"]}","value":"{variable.get("value", "")}"}}' for variable in variables)
            raise Refused(403, f'{denied}spec.trainer.env: Invalid value: [{shown}]: must not have reserved envs, invalid envs '
                          f'configured: [{" ".join(reserved)}]')

    def pod_security(self, kind, item, namespace):
        """Refuses a pod in a namespace with the level `restricted`; a Job gets a warning, other kinds nothing."""
        place = self.store.get(kind_of('Namespace'), '', namespace) or {'metadata': {}}
        if (place['metadata'].get('labels') or {}).get('pod-security.kubernetes.io/enforce') != 'restricted':
            return []
        if kind not in (JOB, POD):
            return []
        spec = item['spec'] if kind is POD else item['spec']['template']['spec']
        faults = ', '.join(restricted_faults(spec))
        if faults and kind is POD:
            name = item['metadata'].get('name') or item['metadata'].get('generateName', '')
            raise Refused(403, f'pods "{name}" is forbidden: violates PodSecurity "restricted:latest": {faults}',
                          details=details(POD, name))
        return [f'would violate PodSecurity "restricted:latest": {faults}'] if faults else []

    def check_quota(self, kind, item, namespace):
        name = item['metadata'].get('name') or item['metadata'].get('generateName', '')
        for quota in self.store.all(kind_of('ResourceQuota'), namespace):
            hard = quota['spec']['hard']
            title, count = quota['metadata']['name'], f'count/{kind.name}'
            wanted, used = {}, {}
            if count in hard:
                wanted, used = {count: 1}, {count: len(self.store.all(kind, namespace))}
            if kind is POD:
                wanted = requests_of(item, hard)
                lacking = [key for key, value in wanted.items() if value is None]
                if lacking:
                    holders = ','.join(container['name'] for container in item['spec']['containers'])
                    raise Refused(403, f'pods "{name}" is forbidden: failed quota: {title}: must specify '
                                  f'{",".join(lacking)} for: {holders}', details=details(kind, name))
                for pod in self.store.all(POD, namespace):
                    if pod['status']['phase'] in ('Pending', 'Running'):
                        for key, value in requests_of(pod, hard).items():
                            used[key] = used.get(key, 0) + (value or 0)
            over = [key for key in sorted(wanted) if used.get(key, 0) + wanted[key] > amount(hard[key])]
            if over:
                def listed(values, over=over):
                    return ','.join(f'{key}={values.get(key, 0):g}' for key in over)
                raise Refused(403, f'{kind.name} "{name}" is forbidden: exceeded quota: {title}, requested: {listed(wanted)}, '
                              f'used: {listed(used)}, limited: ' + ','.join(f'{key}={hard[key]}' for key in over),
                              details=details(kind, name))


def requests_of(pod, hard):
    """Returns what a pod requests of each resource that a quota limits; None if it does not say."""
    result = {}
    for key in hard:
        part, _, resource = key.partition('.')
        if part not in ('requests', 'limits'):
            continue
        values = [(container['resources'].get(part) or {}).get(resource) for container in pod['spec']['containers']]
        missing = '/' not in resource and any(value is None for value in values)
        result[key] = None if missing else sum(amount(value or 0) for value in values)
    return result


def restricted_faults(spec):
    """Returns the four complaints of the level `restricted`."""
    for name, context in ((item['name'], item.get('securityContext') or {}) for item in spec.get('containers') or []):
        pod = spec.get('securityContext') or {}
        if context.get('allowPrivilegeEscalation') is not False:
            yield (f'allowPrivilegeEscalation != false (container "{name}" must set '
                   'securityContext.allowPrivilegeEscalation=false)')
        if (context.get('capabilities') or {}).get('drop') != ['ALL']:
            yield f'unrestricted capabilities (container "{name}" must set securityContext.capabilities.drop=["ALL"])'
        if not context.get('runAsNonRoot', pod.get('runAsNonRoot')):
            yield f'runAsNonRoot != true (pod or container "{name}" must set securityContext.runAsNonRoot=true)'
        if not (context.get('seccompProfile') or pod.get('seccompProfile')):
            yield (f'seccompProfile (pod or container "{name}" must set securityContext.seccompProfile.type to '
                   '"RuntimeDefault" or "Localhost")')


def fresh(item):
    """Returns a copy of a request's object without what only the server sets."""
    item = copy.deepcopy(item)
    for key in ('uid', 'resourceVersion', 'creationTimestamp', 'generation', 'managedFields', 'selfLink'):
        item['metadata'].pop(key, None)
    item.pop('status', None)
    return item
