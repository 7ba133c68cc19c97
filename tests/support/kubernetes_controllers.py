"""The controllers of the stand-in for Kubernetes: Jobs, pods on fake nodes, and the removal of what belongs to nobody.

What a pod does is its annotation `test/outcome`: succeed, fail (with the exit code `test/exit-code`, 1 without), oom, hold
(its container is never created) or imagepull. A pod without it runs until it is deleted.
"""

import copy
import threading
import time

from kubernetes_rules import JOB, POD, amount, own_job
from kubernetes_store import Refused, kind_of, now, suffix

EVENT, NODE = kind_of('Event'), kind_of('Node')
EARLY = {'SuccessCriteriaMet': 'Complete', 'FailureTarget': 'Failed'}
TRACKING = 'batch.kubernetes.io/job-tracking'
INDEX = 'batch.kubernetes.io/job-completion-index'


class Times:
    """How long things take, in seconds. Real ones take longer: a pod's start, a crash's back-off of ten seconds."""

    def __init__(self, start=0.02, run=0.1, restart=0.1, delete=0.05, preempt=0.05, second=1.0):
        self.start, self.run, self.restart, self.delete, self.preempt = start, run, restart, delete, preempt
        self.second = second  # of deadlines and times to live


def condition(item, word):
    return next((entry for entry in item.get('status', {}).get('conditions', []) if entry['type'] == word), None)


def holds(item, word):
    found = condition(item, word)
    return found is not None and found['status'] == 'True'


def finished(job):
    return holds(job, 'Complete') or holds(job, 'Failed')


def owner_of(item, kind):
    return {'apiVersion': kind.version, 'kind': kind.kind, 'name': item['metadata']['name'], 'uid': item['metadata']['uid'],
            'controller': True, 'blockOwnerDeletion': True}


def ranges(numbers):
    """Returns `0,1` or `0-2,5`, as a Job's status does."""
    runs = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ','.join(str(first) if first == last else f'{first},{last}' if last == first + 1 else f'{first}-{last}'
                    for first, last in runs)


class Controllers:
    """Moves the objects of a store on, in a thread of its own; each step changes the state of an object at most once."""

    def __init__(self, store, admission, times=None):
        self.store, self.admission, self.times = store, admission, times or Times()
        self.more = []  # other controllers: functions without arguments
        self.ended = False
        self._marks, self._due, self._now, self._next_node = {}, None, 0.0, 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self._thread.start()

    def close(self):
        with self.store.lock:
            self.ended = True
            self.store.changed.notify_all()
        self._thread.join()

    def _run(self):
        with self.store.lock:
            while not self.ended:
                # One time for all of a step: what began together ends together.
                before, self._due, self._now = self.store.revision, None, time.monotonic()
                self.step()
                if self.store.revision == before:
                    self.store.changed.wait(None if self._due is None else max(0.001, self._due - time.monotonic()))

    def step(self):
        for job in self.store.all(JOB):
            self.job(job)
        for pod in self.store.all(POD):
            self.schedule(pod)
            self.keep(pod)
        for controller in self.more:
            controller()
        self.collect()

    def passed(self, item, what, seconds):
        """Returns whether `seconds` passed since this was asked first about the object."""
        mark = self._marks.setdefault((item['metadata']['uid'], what), self._now)
        if self._now >= mark + seconds:
            return True
        self._due = min(mark + seconds, self._due or mark + seconds)
        return False

    def delay(self, item, what, seconds):
        """Lets `passed` return False for a while."""
        self._marks[item['metadata']['uid'], what] = self._now + seconds

    def forget(self, item, what):
        self._marks.pop((item['metadata']['uid'], what), None)

    def event(self, kind, item, word, reason, message, component):
        """Adds an event, or counts one that is there again."""
        metadata = item['metadata']
        namespace = metadata.get('namespace', 'default')
        for known in self.store.all(EVENT, namespace):
            if (known['involvedObject']['uid'], known['reason'], known['message']) == (metadata['uid'], reason, message):
                return
        by_scheduler = component == 'default-scheduler'
        self.store.make(EVENT, {
            'metadata': {'name': f'{metadata["name"]}.{suffix()}{suffix()}', 'namespace': namespace},
            'involvedObject': {'kind': kind.kind, 'namespace': namespace, 'name': metadata['name'], 'uid': metadata['uid'],
                               'apiVersion': kind.version, 'resourceVersion': metadata['resourceVersion']},
            'reason': reason, 'message': message, 'source': {'component': component} if component.endswith('-controller') else {},
            'firstTimestamp': None if by_scheduler else now(), 'lastTimestamp': None if by_scheduler else now(),
            **({} if by_scheduler else {'count': 1}), 'type': word, 'eventTime': now(True) if by_scheduler else None,
            'reportingComponent': component, 'reportingInstance': ''}, component)

    def set_condition(self, item, word, state, reason, message, probe=False):
        """Sets a condition of the status; returns whether that changed it."""
        known = condition(item, word)
        if known and (known['status'], known['reason'], known['message']) == (state, reason, message):
            return False
        entry = {'type': word, 'status': state, **({'lastProbeTime': now()} if probe else {}), 'lastTransitionTime': now(),
                 'reason': reason, 'message': message}
        conditions = item['status'].setdefault('conditions', [])
        if known:
            conditions[conditions.index(known)] = entry
        else:
            conditions.append(entry)
        return True

    # Jobs

    def pods_of(self, job):
        uid = job['metadata']['uid']
        return [pod for pod in self.store.all(POD, job['metadata']['namespace'])
                if pod['metadata'].get('ownerReferences', [{}])[0].get('uid') == uid]

    def job(self, job):
        metadata, spec, status = job['metadata'], job['spec'], job['status']
        if finished(job):
            self.expire(JOB, job)
        if finished(job) or metadata.get('deletionTimestamp'):
            return
        pods = self.pods_of(job)
        early = next((word for word in EARLY if holds(job, word)), None)
        if early:
            self.end_job(job, early, pods)
        elif spec['suspend']:
            self.suspend_job(job, pods)
        elif 'startTime' in status and spec.get('activeDeadlineSeconds') is not None and self.passed(
                job, 'deadline', spec['activeDeadlineSeconds'] * self.times.second):
            for pod in pods:
                if pod['status']['phase'] in ('Pending', 'Running'):
                    status['failed'] = status.get('failed', 0) + 1
                    self.remove_pod(job, pod)
            self.target(job, 'FailureTarget', 'DeadlineExceeded', 'Job was active longer than specified deadline')
        else:
            self.run_job(job, pods)

    def suspend_job(self, job, pods):
        for pod in pods:
            if pod['status']['phase'] in ('Pending', 'Running'):
                self.remove_pod(job, pod)
        changed = self.set_condition(job, 'Suspended', 'True', 'JobSuspended', 'Job suspended', probe=True)
        if changed:
            self.event(JOB, job, 'Normal', 'Suspended', 'Job suspended', 'job-controller')
        changed = self.count(job, self.pods_of(job)) or changed
        if 'startTime' in job['status']:
            del job['status']['startTime']
            self.forget(job, 'deadline')
        if changed:
            self.store.touch(JOB, job)

    def target(self, job, word, reason, message):
        self.set_condition(job, word, 'True', reason, message, probe=True)
        self.count(job, self.pods_of(job))
        self.store.touch(JOB, job)

    def end_job(self, job, early, pods):
        """Adds the last condition to a Job, whose remaining pods are removed first."""
        for pod in pods:
            if pod['status']['phase'] in ('Pending', 'Running'):
                self.remove_pod(job, pod)
        said = condition(job, early)
        self.set_condition(job, EARLY[early], 'True', said['reason'], said['message'], probe=True)
        if early == 'SuccessCriteriaMet':
            job['status']['completionTime'] = now()
            self.event(JOB, job, 'Normal', 'Completed', 'Job completed', 'job-controller')
        else:
            self.event(JOB, job, 'Warning', said['reason'], said['message'], 'job-controller')
        self.count(job, self.pods_of(job))
        self.store.touch(JOB, job)

    def run_job(self, job, pods):
        spec, status = job['spec'], job['status']
        changed = False
        if 'startTime' not in status:
            status['startTime'], changed = now(), True
            self.passed(job, 'deadline', (spec.get('activeDeadlineSeconds') or 0) * self.times.second)
        if holds(job, 'Suspended'):
            changed = self.set_condition(job, 'Suspended', 'False', 'JobResumed', 'Job resumed', probe=True)
            self.event(JOB, job, 'Normal', 'Resumed', 'Job resumed', 'job-controller')
        by_index = {}
        for pod in pods:
            by_index.setdefault(int(pod['metadata']['annotations'].get(INDEX, 0)), []).append(pod['status']['phase'])
        failed = [pod for pod in pods if pod['status']['phase'] == 'Failed']
        completions = spec.get('completions', spec['parallelism'])
        if sum('Succeeded' in phases for phases in by_index.values()) >= completions:
            self.target(job, 'SuccessCriteriaMet', 'CompletionsReached', 'Reached expected number of succeeded pods')
            return
        if self.fails(job, failed, by_index):
            return
        active = sum(pod['status']['phase'] in ('Pending', 'Running') for pod in pods)
        for index in range(completions):
            phases = by_index.get(index, [])
            if {'Pending', 'Running', 'Succeeded'} & set(phases) or active >= spec['parallelism']:
                continue
            limit = spec.get('backoffLimitPerIndex')
            if limit is not None and phases.count('Failed') > limit:
                continue
            if phases and not self.passed(job, f'restart {index} {len(phases)}', self.times.restart):
                continue
            active += self.make_pod(job, index)
        if self.count(job, self.pods_of(job)) or changed:
            self.store.touch(JOB, job)

    def fails(self, job, failed, by_index):
        """Gives the Job up if its rules say so; returns whether."""
        spec = job['spec']
        for pod in failed:
            for number, rule in enumerate(spec.get('podFailurePolicy', {}).get('rules', [])):
                code = pod['status']['containerStatuses'][0]['state']['terminated']['exitCode']
                codes = rule.get('onExitCodes')
                if codes and rule['action'] == 'FailJob' and (code in codes['values']) == (codes['operator'] == 'In'):
                    name = pod['spec']['containers'][0]['name']
                    self.target(job, 'FailureTarget', 'PodFailurePolicy', f'Container {name} for pod '
                                f'{pod["metadata"]["namespace"]}/{pod["metadata"]["name"]} failed with exit code {code} matching '
                                f'FailJob rule at index {number}')
                    return True
        limit = spec.get('backoffLimitPerIndex')
        if limit is not None:
            lost = [index for index, phases in by_index.items() if phases.count('Failed') > limit]
            if len(lost) > spec.get('maxFailedIndexes', len(lost)):
                self.target(job, 'FailureTarget', 'MaxFailedIndexesExceeded',
                            'Job has exceeded the specified maximal number of failed indexes')
                return True
            done = [index for index, phases in by_index.items() if 'Succeeded' in phases]
            if lost and len(lost) + len(done) == spec.get('completions', 1):
                self.target(job, 'FailureTarget', 'FailedIndexes', 'Job has failed indexes')
                return True
        elif len(failed) > spec['backoffLimit']:
            self.target(job, 'FailureTarget', 'BackoffLimitExceeded', 'Job has reached the specified backoff limit')
            return True
        return False

    def count(self, job, pods):
        """Writes the numbers of a Job's pods into its status; returns whether they changed."""
        status, before = job['status'], copy.deepcopy(job['status'])
        phases = [pod['status']['phase'] for pod in pods]
        limit = job['spec'].get('backoffLimitPerIndex')
        numbers = {'active': phases.count('Pending') + phases.count('Running'), 'succeeded': phases.count('Succeeded'),
                   'failed': max(phases.count('Failed'), status.get('failed', 0))}
        for key, number in numbers.items():
            status.pop(key, None)
            if number:
                status[key] = number
        indexes = {phase: {int(pod['metadata']['annotations'][INDEX]) for pod in pods if pod['status']['phase'] == phase
                           and INDEX in pod['metadata'].get('annotations', {})} for phase in ('Succeeded', 'Failed')}
        if indexes['Succeeded']:
            status['completedIndexes'] = ranges(indexes['Succeeded'])
        if limit is not None:
            status['failedIndexes'] = ranges(indexes['Failed'])
        status |= {'terminating': 0, 'uncountedTerminatedPods': {}, 'ready': phases.count('Running')}
        return status != before

    def make_pod(self, job, index):
        """Creates a pod; returns whether the server let it."""
        metadata, spec = job['metadata'], job['spec']
        indexed = spec['completionMode'] == 'Indexed'
        pod = copy.deepcopy(spec['template'])
        name = f'{metadata["name"]}-{index}' if indexed else metadata['name']
        labels, annotations = pod['metadata'].get('labels', {}), pod['metadata'].get('annotations', {})
        if indexed:
            labels[INDEX] = annotations[INDEX] = str(index)
            if 'backoffLimitPerIndex' in spec:
                lost = sum(other['metadata']['annotations'][INDEX] == str(index) for other in self.pods_of(job))
                annotations['batch.kubernetes.io/job-index-failure-count'] = str(lost)
            pod['spec']['hostname'] = name
        if 'jobset.sigs.k8s.io/jobset-name' in labels:
            labels['jobset.sigs.k8s.io/priority'] = '0'
        pod['metadata'] = {'generateName': name + '-', 'namespace': metadata['namespace'], 'labels': labels,
                           'annotations': annotations, 'ownerReferences': [owner_of(job, JOB)], 'finalizers': [TRACKING]}
        for container in pod['spec']['containers'] if indexed else []:
            container.setdefault('env', []).append({'name': 'JOB_COMPLETION_INDEX', 'valueFrom': {'fieldRef': {
                'apiVersion': 'v1', 'fieldPath': f"metadata.labels['{INDEX}']"}}})
        if not self.passed(job, f'refused {index}', 0):
            return False
        try:
            self.admission.create(POD, pod, metadata['namespace'])
        except Refused as refusal:
            self.delay(job, f'refused {index}', self.times.restart)
            self.event(JOB, job, 'Warning', 'FailedCreate', f'Error creating: {refusal}', 'job-controller')
            return False
        self.store.make(POD, pod, 'kube-controller-manager')
        self.event(JOB, job, 'Normal', 'SuccessfulCreate', f'Created pod: {pod["metadata"]["name"]}', 'job-controller')
        return True

    def remove_pod(self, job, pod):
        self.store.remove(POD, pod)
        self.event(JOB, job, 'Normal', 'SuccessfulDelete', f'Deleted pod: {pod["metadata"]["name"]}', 'job-controller')

    def expire(self, kind, item):
        """Deletes what ended long enough ago."""
        left = item['spec'].get('ttlSecondsAfterFinished')
        if left is not None and not item['metadata'].get('deletionTimestamp') and self.passed(
                item, 'ttl', left * self.times.second):
            self.delete(kind, item, 'Foreground')

    # Nodes

    def fits(self, pod, node):
        """Returns why the pod cannot be on the node; empty if it can."""
        labels = node['metadata'].get('labels', {})
        terms = (((pod['spec'].get('affinity') or {}).get('nodeAffinity') or {}).get(
            'requiredDuringSchedulingIgnoredDuringExecution') or {}).get('nodeSelectorTerms')
        if any(labels.get(key) != value for key, value in (pod['spec'].get('nodeSelector') or {}).items()) or (
                terms and not any(all(selects(rule, labels) for rule in term.get('matchExpressions', [])) for term in terms)):
            return "node(s) didn't match Pod's node affinity/selector"
        used = {}
        for other in self.store.all(POD):
            if other['spec'].get('nodeName') == node['metadata']['name'] and other['status']['phase'] in ('Pending', 'Running'):
                for key, value in demand(other).items():
                    used[key] = used.get(key, 0) + value
        for key, value in demand(pod).items():
            if value and value + used.get(key, 0) > amount(node['status']['allocatable'].get(key, 0)):
                return f'Insufficient {key}'
        return ''

    def schedule(self, pod):
        if pod['spec'].get('nodeName') or pod['metadata'].get('deletionTimestamp'):
            return
        nodes = self.store.all(NODE)
        reasons = [self.fits(pod, node) for node in nodes]
        if '' in reasons:
            free = [node for node, reason in zip(nodes, reasons, strict=True) if not reason]
            self._next_node += 1
            pod['spec']['nodeName'] = free[self._next_node % len(free)]['metadata']['name']
            pod['status']['conditions'] = [plain_condition('PodScheduled', 'True')]
            name = pod['metadata']
            self.event(POD, pod, 'Normal', 'Scheduled', f'Successfully assigned {name["namespace"]}/{name["name"]} to '
                       f'{pod["spec"]["nodeName"]}', 'default-scheduler')
            self.store.touch(POD, pod)
            return
        counts = {reason: reasons.count(reason) for reason in sorted(set(reasons))}
        head = f'0/{len(nodes)} nodes are available'
        said = (f'{head}: ' + ', '.join(f'{count} {reason}' for reason, count in counts.items()) + '. no new claims to deallocate, '
                f'preemption: {head}: {len(nodes)} Preemption is not helpful for scheduling.') if nodes else 'no nodes available'
        known = condition(pod, 'PodScheduled')
        if known is None or known['message'] != said:
            pod['status']['conditions'] = [plain_condition('PodScheduled', 'False', 'Unschedulable', said)]
            self.event(POD, pod, 'Warning', 'FailedScheduling', said, 'default-scheduler')
            self.store.touch(POD, pod)

    def keep(self, pod):
        """Does what the program on the pod's node does."""
        if not pod['spec'].get('nodeName') or pod['metadata'].get('deletionTimestamp'):
            return
        status, annotations = pod['status'], pod['metadata'].get('annotations') or {}
        outcome = annotations.get('test/outcome')
        if status['phase'] == 'Pending' and outcome in ('hold', 'imagepull'):
            if 'containerStatuses' not in status:
                for word in ('startTime', 'hostIP'):
                    status[word] = now() if word == 'startTime' else '127.0.0.1'
                state = pull_failure if outcome == 'imagepull' else creating
                self.contain(pod, state, ready=False)
                self.store.touch(POD, pod)
        elif status['phase'] == 'Pending' and self.passed(pod, 'start', self.times.start):
            address = f'10.244.0.{self.store.revision % 250 + 2}'
            status |= {'phase': 'Running', 'hostIP': '127.0.0.1', 'podIP': address, 'podIPs': [{'ip': address}],
                       'startTime': status.get('startTime') or now()}
            status['conditions'] = [plain_condition(word, 'True') for word in (
                'PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled')]
            self.contain(pod, lambda _: {'running': {'startedAt': now()}}, ready=True)
            self.store.touch(POD, pod)
        elif status['phase'] == 'Running' and outcome in ('succeed', 'fail', 'oom') and self.passed(pod, 'run', self.times.run):
            self.finish(pod, outcome, int(annotations.get('test/exit-code', 1)))

    def finish(self, pod, outcome, code):
        good = outcome == 'succeed'
        code = 0 if good else 137 if outcome == 'oom' else code
        reason = 'Completed' if good else 'OOMKilled' if outcome == 'oom' else 'Error'
        pod['status']['phase'] = 'Succeeded' if good else 'Failed'
        why = 'PodCompleted' if good else 'PodFailed'
        pod['status']['conditions'] = [
            plain_condition('PodReadyToStartContainers', 'False'), plain_condition('Initialized', 'True', why if good else ''),
            plain_condition('Ready', 'False', why), plain_condition('ContainersReady', 'False', why),
            plain_condition('PodScheduled', 'True')]
        self.contain(pod, lambda _: {'terminated': {'exitCode': code, 'reason': reason, 'startedAt': now(), 'finishedAt': now()}},
                     ready=False)
        pod['metadata'].pop('finalizers', None)
        self.store.touch(POD, pod)

    @staticmethod
    def contain(pod, state, ready):
        pod['status']['containerStatuses'] = [{
            'name': container['name'], 'state': state(container), 'lastState': {}, 'ready': ready, 'restartCount': 0,
            'image': container['image'], 'imageID': '', 'started': ready} for container in pod['spec']['containers']]

    # Deleting

    def delete(self, kind, item, policy):
        """Deletes as a propagation policy says; returns whether the object is gone at once."""
        metadata = item['metadata']
        if policy == 'Background' or kind is POD:
            self.store.remove(kind, item)
            return True
        if not metadata.get('deletionTimestamp'):
            metadata |= {'deletionTimestamp': now(), 'deletionGracePeriodSeconds': 0,
                         'generation': metadata.get('generation', 1) + 1,
                         'finalizers': ['foregroundDeletion' if policy == 'Foreground' else 'orphan']}
            self.store.touch(kind, item)
        return False

    def collect(self):
        """Removes what is being deleted once nothing depends on it, and what belonged to something that is gone."""
        items = [(kind, item) for name, kept in self.store.items.items() for item in list(kept.values())
                 for kind in (kind_of(item['kind']),) if kind.plural == name]
        uids = {item['metadata']['uid'] for _, item in items}
        for kind, item in items:
            finalizers = item['metadata'].get('finalizers', [])
            if 'orphan' in finalizers and self.passed(item, 'delete', self.times.delete):
                for child_kind, child in self.store.owned(item):
                    child['metadata']['ownerReferences'] = []
                    self.store.touch(child_kind, child)
                self.store.remove(kind, item)
            elif 'foregroundDeletion' in finalizers and self.passed(item, 'delete', self.times.delete):
                children = self.store.owned(item)
                for child_kind, child in children:
                    self.delete(child_kind, child, 'Foreground' if child_kind is JOB or self.store.owned(child) else 'Background')
                if not children:
                    self.store.remove(kind, item)
            owners = item['metadata'].get('ownerReferences')
            if owners and not any(owner['uid'] in uids for owner in owners):
                self.store.remove(kind, item)


def selects(rule, labels):
    """Returns whether labels of a node match one expression of an affinity."""
    there, values = rule['key'] in labels, rule.get('values') or []
    return {'In': there and labels.get(rule['key']) in values, 'NotIn': labels.get(rule['key']) not in values, 'Exists': there,
            'DoesNotExist': not there}[rule['operator']]


def demand(pod):
    """Returns what a pod requests of its node."""
    result = {}
    for container in pod['spec']['containers']:
        for key, value in (container['resources'].get('requests') or {}).items():
            result[key] = result.get(key, 0) + amount(value)
    return result


def plain_condition(word, state, reason='', message=''):
    return {'type': word, 'status': state, 'lastProbeTime': None, 'lastTransitionTime': now(),
            **({'reason': reason} if reason else {}), **({'message': message} if message else {})}


def creating(_):
    return {'waiting': {'reason': 'ContainerCreating'}}


def pull_failure(container):
    image = container['image']
    return {'waiting': {'reason': 'ImagePullBackOff', 'message':
                        f'Back-off pulling image "{image}": ErrImagePull: rpc error: code = NotFound desc = failed to pull and '
                        f'unpack image "{image}": failed to resolve reference "{image}": not found'}}


def make_job(store, admission, item, namespace, manager):
    """Adds a Job that a controller makes; Refused as for anybody."""
    admission.create(JOB, item, namespace)
    store.prepare(JOB, item, manager)
    own_job(item)
    return store.add(JOB, item)
