"""The controllers of JobSet and Trainer in the stand-in for Kubernetes."""

import copy
import hashlib

from kubernetes_controllers import condition, finished, holds, make_job, owner_of
from kubernetes_rules import JOB, JOBSET, TRAINJOB, coordinator_of, default_jobset
from kubernetes_store import Refused, kind_of, merge

SERVICE = kind_of('Service')
PREFIX = 'jobset.sigs.k8s.io/'


class JobSets:
    """Creates the Jobs of JobSets, and ends or restarts these with them."""

    def __init__(self, controllers):
        self.controllers, self.store = controllers, controllers.store

    def step(self):
        for item in self.store.all(JOBSET):
            if not item['metadata'].get('deletionTimestamp'):
                self.jobset(item)

    def jobs(self, item):
        return [job for kind, job in self.store.owned(item) if kind is JOB]

    def jobset(self, item):
        status = item.get('status')
        if not status:
            self.make_service(item)
            if self.make_jobs(item, {job['metadata']['name'] for job in self.jobs(item)}):
                item['status'] = {'restarts': 0}
                self.count(item, [])
                self.store.touch(JOBSET, item)
            return
        if status.get('terminalState'):
            for job in self.jobs(item):
                if not finished(job):
                    self.controllers.delete(JOB, job, 'Foreground')
            self.controllers.expire(JOBSET, item)
            return
        jobs = self.jobs(item)
        for job in jobs:
            if self.attempt(job) < status['restarts']:
                self.controllers.delete(JOB, job, 'Foreground')
        jobs = [job for job in jobs if self.attempt(job) == status['restarts']]
        if self.ends(item, jobs):
            return
        changed = self.suspend(item, jobs)
        self.make_jobs(item, {job['metadata']['name'] for job in self.jobs(item)})
        if self.count(item, jobs) or changed:
            self.store.touch(JOBSET, item)

    @staticmethod
    def attempt(job):
        return int(job['metadata']['labels'][PREFIX + 'restart-attempt'])

    def suspend(self, item, jobs):
        suspended = bool(item['spec'].get('suspend'))
        for job in jobs:
            if job['spec']['suspend'] != suspended and not finished(job):
                job['spec']['suspend'] = suspended
                if not suspended:
                    self.place(item, job)
                self.store.touch(JOB, job)
        if suspended:
            return self.controllers.set_condition(item, 'Suspended', 'True', 'SuspendedJobs', 'jobset is suspended')
        if holds(item, 'Suspended'):
            return self.controllers.set_condition(item, 'Suspended', 'False', 'ResumeJobs', 'jobset is resumed')
        return False

    @staticmethod
    def place(item, job):
        """Gives a Job that resumes what the queue wrote into the template: labels and node selector."""
        name = job['metadata']['labels'][PREFIX + 'replicatedjob-name']
        template = next(entry for entry in item['spec']['replicatedJobs'] if entry['name'] == name)['template']['spec']['template']
        own = job['spec']['template']
        for word in ('labels', 'annotations'):
            own['metadata'][word] = {**(template['metadata'].get(word) or {}), **(own['metadata'].get(word) or {})}
        if template['spec'].get('nodeSelector'):
            own['spec']['nodeSelector'] = dict(template['spec']['nodeSelector'])

    def ends(self, item, jobs):
        """Ends or restarts the JobSet if its Jobs say so; returns whether."""
        status, spec = item['status'], item['spec']
        failed = [job for job in jobs if holds(job, 'Failed')]
        if failed:
            policy, action, first = spec.get('failurePolicy'), *self.rule(item, failed)
            if policy is None:
                self.end(item, jobs, 'Failed', 'FailedJobs', f'jobset failed due to one or more job failures (first failed job: '
                         f'{first})', 'Warning')
                return True
            if action == 'FailJobSet':
                self.end(item, jobs, 'Failed', 'FailJobSetFailurePolicyAction',
                         f'applying FailJobSet failure policy action (first failed job: {first})', 'Warning')
                return True
            if status['restarts'] < policy.get('maxRestarts', 0):
                status['restarts'] += 1
                status['restartsCountTowardsMax'] = status['restarts']
                self.event(item, 'Warning', 'RestartJobSetFailurePolicyAction',
                           f'applying RestartJobSet failure policy action (first failed job: {first})')
                self.store.touch(JOBSET, item)
                return True
            self.end(item, jobs, 'Failed', 'ReachedMaxRestarts',
                     f'jobset failed due to reaching max number of restarts (first failed job: {first})', 'Warning')
            return True
        policy = spec['successPolicy']
        targets = policy.get('targetReplicatedJobs') or [entry['name'] for entry in spec['replicatedJobs']]
        wanted = sum(entry['replicas'] for entry in spec['replicatedJobs'] if entry['name'] in targets)
        done = sum(holds(job, 'Complete') for job in jobs if job['metadata']['labels'][PREFIX + 'replicatedjob-name'] in targets)
        if done and (policy['operator'] == 'Any' or done == wanted):
            self.end(item, jobs, 'Completed', 'AllJobsCompleted', 'jobset completed successfully', 'Normal')
            return True
        return False

    @staticmethod
    def rule(item, failed):
        """Returns the action of the first rule that matches a failed Job, and the Job's name."""
        failed = sorted(failed, key=lambda job: int(job['metadata']['resourceVersion']))
        for rule in (item['spec'].get('failurePolicy') or {}).get('rules') or []:
            pools, reasons = rule.get('targetReplicatedJobs'), rule.get('onJobFailureReasons')
            for job in failed:
                if (not pools or job['metadata']['labels'][PREFIX + 'replicatedjob-name'] in pools) and (
                        not reasons or condition(job, 'Failed')['reason'] in reasons):
                    return rule['action'], job['metadata']['name']
        return 'RestartJobSet', failed[0]['metadata']['name']

    def end(self, item, jobs, word, reason, message, level):
        self.count(item, jobs)
        if condition(item, 'RestartingJobSet') is None and item['status']['restarts']:
            self.controllers.set_condition(item, 'RestartingJobSet', 'False', f'JobSet{word}', f'jobset {word.lower()}')
        self.controllers.set_condition(item, word, 'True', reason, message)
        item['status']['terminalState'] = word
        self.event(item, level, reason, message)
        self.store.touch(JOBSET, item)

    def event(self, item, level, reason, message):
        self.controllers.event(JOBSET, item, level, reason, message, 'jobset')

    def count(self, item, jobs):
        """Writes the numbers of Jobs; the last pool comes first, as it may on a real server."""
        before = item['status'].get('replicatedJobsStatus')
        counts = []
        for entry in reversed(item['spec']['replicatedJobs']):
            own = [job for job in jobs if job['metadata']['labels'][PREFIX + 'replicatedjob-name'] == entry['name']]
            going = [job for job in own if not finished(job)]
            counts.append({
                'active': sum(bool(job['status'].get('active')) for job in going),
                'failed': sum(holds(job, 'Failed') for job in own), 'name': entry['name'],
                'ready': sum(job['status'].get('ready', 0) + job['status'].get('succeeded', 0) >= job['spec']['parallelism']
                             for job in going),
                'succeeded': sum(holds(job, 'Complete') for job in own),
                'suspended': sum(holds(job, 'Suspended') for job in own)})
        item['status']['replicatedJobsStatus'] = counts
        return counts != before

    def make_service(self, item):
        metadata, network = item['metadata'], item['spec']['network']
        name = network.get('subdomain') or metadata['name']
        if network['enableDNSHostnames'] and self.store.get(SERVICE, metadata['namespace'], name) is None:
            self.store.make(SERVICE, {
                'metadata': {'name': name, 'namespace': metadata['namespace'], 'ownerReferences': [owner_of(item, JOBSET)]},
                'spec': {'clusterIP': 'None', 'publishNotReadyAddresses': network['publishNotReadyAddresses'],
                         'selector': {PREFIX + 'jobset-name': metadata['name']}}}, 'manager')

    def make_jobs(self, item, known):
        """Creates the Jobs that are missing; returns whether the server let it."""
        spec = item['spec']
        total = sum(entry['replicas'] for entry in spec['replicatedJobs'])
        rank = 0
        for entry in spec['replicatedJobs']:
            for index in range(entry['replicas']):
                name = f'{item["metadata"]["name"]}-{entry["name"]}-{index}'
                if name not in known and not self.make_job(item, entry, name, index, rank, total):
                    return False
                rank += 1
        return True

    def make_job(self, item, entry, name, index, rank, total):
        metadata = item['metadata']
        namespace = metadata['namespace']
        marks = {'global-replicas': total, 'group-name': entry['groupName'], 'group-replicas': total, 'job-global-index': rank,
                 'job-group-index': rank, 'job-index': index,
                 'job-key': hashlib.sha1(f'{namespace}/{name}'.encode()).hexdigest(), 'jobset-name': metadata['name'],
                 'jobset-uid': metadata['uid'], 'replicatedjob-name': entry['name'], 'replicatedjob-replicas': entry['replicas'],
                 'restart-attempt': item.get('status', {}).get('restarts', 0)}
        if item['spec'].get('coordinator'):
            marks['coordinator'] = coordinator_of(item)
        labels = {PREFIX + key: str(value) for key, value in marks.items()}
        job = copy.deepcopy({'spec': entry['template']['spec']})
        inner = entry['template'].get('metadata') or {}
        job['metadata'] = {'name': name, 'namespace': namespace, 'labels': {**(inner.get('labels') or {}), **labels},
                           'annotations': {**(inner.get('annotations') or {}), **labels},
                           'ownerReferences': [owner_of(item, JOBSET)]}
        template = job['spec']['template']
        for word in ('labels', 'annotations'):
            template['metadata'][word] = {**(template['metadata'].get(word) or {}), **labels}
        if item['spec']['network']['enableDNSHostnames']:
            template['spec']['subdomain'] = item['spec']['network'].get('subdomain') or metadata['name']
        job['spec']['suspend'] = bool(item['spec'].get('suspend'))
        try:
            make_job(self.store, self.controllers.admission, job, namespace, 'manager')
        except Refused as refusal:
            self.event(item, 'Warning', 'JobCreationFailed', f'job "{name}" creation failed with error: {refusal}')
            return False
        return True


class TrainJobs:
    """Makes the JobSets of TrainJobs, and copies their ends."""

    def __init__(self, controllers):
        self.controllers, self.store = controllers, controllers.store

    def step(self):
        for item in self.store.all(TRAINJOB):
            if not item['metadata'].get('deletionTimestamp'):
                self.trainjob(item)

    def trainjob(self, item):
        status, spec = item.setdefault('status', {}), item['spec']
        if condition(item, 'Complete') or condition(item, 'Failed'):
            return
        children = [child for kind, child in self.store.owned(item) if kind is JOBSET]
        if not children:
            self.make_jobset(item)
            return
        child = children[0]
        if bool(child['spec'].get('suspend')) != bool(spec.get('suspend')):
            child['spec'] = self.spec_of(item)
            self.store.touch(JOBSET, child)
        changed = False
        if spec.get('suspend'):
            changed = self.controllers.set_condition(item, 'Suspended', 'True', 'Suspended', 'TrainJob is suspended')
        elif holds(item, 'Suspended'):
            changed = self.controllers.set_condition(item, 'Suspended', 'False', 'Resumed', 'TrainJob is resumed')
        counts = copy.deepcopy(child.get('status', {}).get('replicatedJobsStatus'))
        if counts and counts != status.get('jobsStatus'):
            status['jobsStatus'], changed = counts, True
        for theirs, ours in (('Completed', 'Complete'), ('Failed', 'Failed')):
            if holds(child, theirs):
                said = condition(child, theirs)
                changed = self.controllers.set_condition(item, ours, 'True', said['reason'], said['message'])
        if (not spec.get('suspend') and spec.get('activeDeadlineSeconds') is not None and not condition(item, 'Complete')
                and self.controllers.passed(item, 'deadline', spec['activeDeadlineSeconds'] * self.controllers.times.second)):
            changed = self.controllers.set_condition(item, 'Failed', 'True', 'DeadlineExceeded',
                                                     'TrainJob exceeded its active deadline')
            self.controllers.delete(JOBSET, child, 'Background')
        if changed:
            self.store.touch(TRAINJOB, item)

    def spec_of(self, item):
        """Returns the spec of the JobSet: the runtime's template, the trainer's settings, then the patches."""
        spec, name = item['spec'], item['metadata']['name']
        trainer, reference = spec.get('trainer') or {}, spec['runtimeRef']
        runtime = self.store.get(kind_of(reference['kind']), item['metadata']['namespace'], reference['name'])
        result = {'spec': copy.deepcopy(runtime['spec']['template']['spec'])}
        nodes = trainer.get('numNodes') or runtime['spec']['mlPolicy']['numNodes']
        for job in result['spec']['replicatedJobs']:
            template = job['template']['spec']
            template |= {'completions': nodes, 'parallelism': nodes, 'completionMode': 'Indexed'}
            container = template['template']['spec']['containers'][0]
            container |= {key: copy.deepcopy(trainer[key]) for key in ('image', 'command', 'args') if key in trainer}
            if 'resourcesPerNode' in trainer:
                container['resources'] = copy.deepcopy(trainer['resourcesPerNode'])
            container['env'] = copy.deepcopy(trainer.get('env') or []) + [
                {'name': 'PET_NNODES', 'value': str(nodes)},
                {'name': 'PET_NPROC_PER_NODE', 'value': str(trainer.get('numProcPerNode', 'auto'))},
                {'name': 'PET_NODE_RANK', 'valueFrom': {'fieldRef': {
                    'fieldPath': "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}},
                {'name': 'PET_MASTER_ADDR', 'value': f'{name}-node-0-0.{name}'}, {'name': 'PET_MASTER_PORT', 'value': '29500'}]
            container['ports'] = [{'containerPort': 29500, 'protocol': 'TCP'}]
            for patch in spec.get('runtimePatches') or []:
                self.apply(patch, job)
        default_jobset(result)
        return result['spec'] | {'suspend': bool(spec.get('suspend'))}

    @staticmethod
    def apply(patch, job):
        wanted = ((patch.get('trainingRuntimeSpec') or {}).get('template') or {}).get('spec') or {}
        for entry in wanted.get('replicatedJobs') or []:
            if entry['name'] != job['name']:
                continue
            change = copy.deepcopy(((entry.get('template') or {}).get('spec') or {}).get('template') or {})
            containers = (change.get('spec') or {}).pop('containers', [])
            template = job['template']['spec']['template'] = merge(job['template']['spec']['template'], change)
            for container in containers:
                own = next(one for one in template['spec']['containers'] if one['name'] == container['name'])
                for key in ('env', 'volumeMounts'):
                    if key in container:
                        own[key] = [*own.get(key, []), *container[key]]

    def make_jobset(self, item):
        metadata = item['metadata']
        self.store.make(JOBSET, {'metadata': {'name': metadata['name'], 'namespace': metadata['namespace'],
                                              'ownerReferences': [owner_of(item, TRAINJOB)]}, 'spec': self.spec_of(item)},
                        'trainer')
