"""Kueue in the stand-in for Kubernetes: Workloads, their admission within quotas, and preemption by priority."""

import copy
import re
import secrets

from kubernetes_controllers import condition, finished, holds, owner_of
from kubernetes_rules import JOB, JOBSET, PRIORITY, QUEUE, TRAINJOB, amount
from kubernetes_store import kind_of

WORKLOAD, LOCAL, CLUSTER, FLAVOR = (kind_of(name) for name in ('Workload', 'LocalQueue', 'ClusterQueue', 'ResourceFlavor'))
CLASS = kind_of('WorkloadPriorityClass')
MARK = 'kueue.x-k8s.io/'
STOPPED = ('Hold', 'HoldAndDrain')


def shown(resource, number):
    """Returns an amount as a quantity."""
    if resource == 'memory' and number >= 2**30 and number % 2**30 == 0:
        return f'{int(number / 2**30)}Gi'
    return f'{int(number)}' if number == int(number) else f'{int(number * 1000)}m'


class Queues:
    """Suspends and resumes the jobs that name a queue."""

    def __init__(self, controllers):
        self.controllers, self.store = controllers, controllers.store
        self.specs = {}  # uid of an admitted job -> its spec before

    def step(self):
        for kind in (JOB, JOBSET, TRAINJOB):
            for item in self.store.all(kind):
                if (item['metadata'].get('labels') or {}).get(QUEUE) and not item['metadata'].get('ownerReferences'):
                    self.job(kind, item)
        for queue in self.store.all(LOCAL):
            self.report(queue)
        waiting = [item for item in self.store.all(WORKLOAD) if item['spec']['active'] and not holds(item, 'QuotaReserved')
                   and not holds(item, 'Finished')]
        for item in sorted(waiting, key=self.order):
            self.consider(item)

    @staticmethod
    def order(item):
        return -item['spec']['priority'], item['metadata']['creationTimestamp'], item['metadata']['name']

    def workload_of(self, item):
        uid = item['metadata']['uid']
        return next((workload for workload in self.store.all(WORKLOAD, item['metadata']['namespace'])
                     if workload['metadata']['labels'].get(MARK + 'job-uid') == uid), None)

    def job(self, kind, item):
        """Makes the Workload of a job, and keeps `suspend` as the Workload says."""
        if item['metadata'].get('deletionTimestamp'):
            return
        workload = self.workload_of(item)
        if workload is None:
            if not finished(item) and not item.get('status', {}).get('terminalState'):
                self.make(kind, item)
            return
        if self.ended(item):
            self.finish(item, workload)
            return
        if not workload['spec']['active'] and holds(workload, 'Admitted'):
            self.evict(workload, 'Deactivated', 'The workload is deactivated')
        admitted = holds(workload, 'Admitted')
        if bool(item['spec'].get('suspend')) == admitted:
            item['metadata']['generation'] = item['metadata'].get('generation', 1) + 1
            uid = item['metadata']['uid']
            if admitted:
                self.specs[uid] = copy.deepcopy(item['spec'])
                self.place(kind, item, workload)
            else:
                item['spec'] = self.specs.pop(uid, item['spec'])
            item['spec']['suspend'] = not admitted
            self.store.touch(kind, item)
        elif admitted and not holds(workload, 'PodsReady') and self.all_ready(kind, item):
            self.controllers.set_condition(workload, 'PodsReady', 'True', 'Started',
                                           'All pods reached readiness and the workload is running')
            self.store.touch(WORKLOAD, workload)

    @staticmethod
    def ended(item):
        return finished(item) or holds(item, 'Completed')

    @staticmethod
    def all_ready(kind, item):
        status = item.get('status', {})
        if kind is JOB:
            return status.get('ready', 0) + status.get('succeeded', 0) >= item['spec']['parallelism']
        counts = status.get('replicatedJobsStatus') or status.get('jobsStatus') or []
        return bool(counts) and all(count['ready'] + count['succeeded'] for count in counts)

    def finish(self, item, workload):
        if holds(workload, 'Finished'):
            return
        good = holds(item, 'Complete') or holds(item, 'Completed')
        said = next(condition(item, word) for word in ('Complete', 'Completed', 'Failed') if holds(item, word))
        self.controllers.set_condition(workload, 'Finished', 'True', 'Succeeded' if good else 'Failed', said['message'])
        self.store.touch(WORKLOAD, workload)

    def make(self, kind, item):
        metadata = item['metadata']
        priority = metadata['labels'].get(PRIORITY)
        found = self.store.get(CLASS, '', priority) if priority else {'value': 0}
        if found is None:
            return  # a class that is missing: no Workload and no word about it
        reference = {'priorityClassRef': {'group': 'kueue.x-k8s.io', 'kind': 'WorkloadPriorityClass', 'name': priority}}
        workload = self.store.make(WORKLOAD, {
            'metadata': {'name': f'{kind.kind.lower()}-{metadata["name"]}-{secrets.token_hex(3)[:5]}',
                         'namespace': metadata['namespace'], 'finalizers': ['kueue.x-k8s.io/resource-in-use'],
                         'labels': {MARK + 'job-uid': metadata['uid']}, 'ownerReferences': [owner_of(item, kind)]},
            'spec': {'active': True, 'podSets': self.pod_sets(kind, item), 'priority': found['value'],
                     'queueName': metadata['labels'][QUEUE], **(reference if priority else {})}, 'status': {}}, 'kueue')
        workload['metadata'].pop('finalizers')
        self.controllers.set_condition(workload, 'PodsReady', 'False', 'WaitForStart', 'Not all pods are ready or succeeded')

    @staticmethod
    def pod_sets(kind, item):
        spec = item['spec']
        if kind is JOB:
            return [{'name': 'main', 'count': spec['parallelism'], 'template': copy.deepcopy(spec['template'])}]
        if kind is JOBSET:
            return [{'name': entry['name'], 'count': entry['replicas'] * entry['template']['spec'].get('parallelism', 1),
                     'template': copy.deepcopy(entry['template']['spec']['template'])} for entry in spec['replicatedJobs']]
        trainer = spec.get('trainer') or {}
        container = {'name': 'node', 'image': trainer.get('image', ''), 'resources': trainer.get('resourcesPerNode') or {}}
        return [{'name': 'node', 'count': trainer.get('numNodes', 1), 'template': {'metadata': {}, 'spec': {
            'containers': [container]}}}]

    def place(self, kind, item, workload):
        """Writes the flavor's labels into the templates of an admitted job."""
        admission = workload['status']['admission']
        for assigned in admission['podSetAssignments']:
            flavors = [self.store.get(FLAVOR, '', name) for name in sorted(set(assigned['flavors'].values()))]
            selector = {key: value for flavor in flavors for key, value in flavor['spec'].get('nodeLabels', {}).items()}
            labels = {MARK + 'cluster-queue-name': admission['clusterQueue'],
                      MARK + 'local-queue-name': workload['spec']['queueName'], MARK + 'podset': assigned['name']}
            for template in self.templates(kind, item, assigned['name'], workload):
                metadata = template.setdefault('metadata', {})
                metadata['labels'] = {**(metadata.get('labels') or {}), **labels}
                metadata['annotations'] = {**(metadata.get('annotations') or {}), MARK + 'workload': workload['metadata']['name']}
                if selector:
                    spec = template.setdefault('spec', {})
                    spec['nodeSelector'] = {**(spec.get('nodeSelector') or {}), **selector}

    @staticmethod
    def templates(kind, item, name, workload):
        if kind is JOB:
            return [item['spec']['template']]
        if kind is JOBSET:
            return [entry['template']['spec']['template'] for entry in item['spec']['replicatedJobs'] if entry['name'] == name]
        template = {}
        patch = next(patch for patch in item['spec']['runtimePatches'] if patch['manager'] == MARK + 'manager')
        patch['time'] = workload['metadata']['creationTimestamp']
        patch['trainingRuntimeSpec'] = {'template': {'spec': {'replicatedJobs': [
            {'name': name, 'template': {'spec': {'template': template}}}]}}}
        return [template]

    # Admission

    def report(self, queue):
        """Keeps the status of a local queue."""
        name, namespace = queue['metadata']['name'], queue['metadata']['namespace']
        status = queue.setdefault('status', {})
        before = copy.deepcopy(status)
        if queue['spec'].get('stopPolicy') in STOPPED:
            said = ('False', 'Stopped', 'LocalQueue is stopped')
        elif self.store.get(CLUSTER, '', queue['spec']['clusterQueue']) is None:
            said = ('False', 'ClusterQueueDoesNotExist', "Can't submit new workloads to clusterQueue")
        else:
            said = ('True', 'Ready', 'Can submit new workloads to localQueue')
        self.controllers.set_condition(queue, 'Active', *said)
        own = [item for item in self.store.all(WORKLOAD, namespace) if item['spec']['queueName'] == name
               and not holds(item, 'Finished')]
        admitted = sum(holds(item, 'Admitted') for item in own)
        status |= {'admittedWorkloads': admitted, 'pendingWorkloads': len(own) - admitted,
                   'reservingWorkloads': sum(holds(item, 'QuotaReserved') for item in own)}
        if status != before:
            self.store.touch(LOCAL, queue)

    def wait(self, item, reason, message):
        changed = self.controllers.set_condition(item, 'QuotaReserved', 'False', reason, message)
        if changed:
            self.store.touch(WORKLOAD, item)

    def consider(self, item):
        """Admits a waiting Workload, or says why it waits."""
        namespace, name = item['metadata']['namespace'], item['spec']['queueName']
        queue = self.store.get(LOCAL, namespace, name)
        if queue is None:
            self.wait(item, 'Inadmissible', f"LocalQueue {name} doesn't exist")
            return
        if queue['spec'].get('stopPolicy') in STOPPED:
            self.wait(item, 'Inadmissible', f'LocalQueue {name} is inactive')
            return
        cluster = self.store.get(CLUSTER, '', queue['spec']['clusterQueue'])
        if cluster is None:
            self.wait(item, 'Inadmissible', f'ClusterQueue {queue["spec"]["clusterQueue"]} doesn\'t exist')
            return
        admitted = [other for other in self.store.all(WORKLOAD) if holds(other, 'QuotaReserved') and not holds(other, 'Finished')
                    and other['status']['admission']['clusterQueue'] == cluster['metadata']['name']]
        needs = {entry['name']: self.request(entry) for entry in item['spec']['podSets']}
        item['status']['resourceRequests'] = [
            {'name': pods, 'resources': {key: shown(key, value) for key, value in wanted.items()}} for pods, wanted in needs.items()]
        faults, flavors = self.faults(item, cluster, admitted, needs)
        if not faults:
            self.admit(item, cluster, needs, flavors)
            return
        victims = self.victims(item, cluster, admitted, needs)
        if not victims:
            self.wait(item, 'Pending', '; '.join(faults))
        elif self.controllers.passed(item, 'preempt', self.controllers.times.preempt):
            for victim in victims:
                self.preempt(victim, item, cluster['metadata']['name'])
            self.consider(item)  # before those that wait behind it

    @staticmethod
    def request(pod_set):
        wanted = {}
        for container in pod_set['template']['spec']['containers']:
            resources = container.get('resources') or {}
            for key, value in {**(resources.get('limits') or {}), **(resources.get('requests') or {})}.items():
                wanted[key] = wanted.get(key, 0) + amount(value) * pod_set['count']
        return wanted

    def faults(self, item, cluster, admitted, needs):
        """Returns why the Workload does not fit, a text for each set of pods, and the flavor of each resource."""
        faults, considered, flavors = [], {}, {}
        for pod_set in item['spec']['podSets']:
            name, why = pod_set['name'], []
            for resource, wanted in sorted(needs[name].items(), key=lambda pair: ('/' not in pair[0], pair[0])):
                flavor, limit = self.flavor_of(cluster, resource)
                if flavor is None:
                    return [f"couldn't assign flavors to pod set {name}: resource {resource} unavailable in ClusterQueue"], {}
                labels = self.store.get(FLAVOR, '', flavor)['spec'].get('nodeLabels', {})
                selector = pod_set['template']['spec'].get('nodeSelector') or {}
                if any(key in selector and selector[key] != value for key, value in labels.items()):
                    return [f"couldn't assign flavors to pod set {name}: flavor {flavor} doesn't match node affinity"], {}
                flavors[resource] = flavor
                before, used = considered.get(resource, 0), usage(admitted, resource)
                considered[resource] = before + wanted
                if before + wanted > limit:
                    what = (f'previously considered podsets requests ({shown(resource, before)}) + current podset request '
                            f'({shown(resource, wanted)})' if before else f'request ({shown(resource, wanted)})')
                    why.append(f'insufficient quota for {resource} in flavor {flavor}, {what} > maximum capacity '
                               f'({shown(resource, limit)})')
                elif before + wanted > limit - used:
                    why.append(f'insufficient unused quota for {resource} in flavor {flavor}, '
                               f'{shown(resource, before + wanted - limit + used)} more needed')
            if why:
                faults.append(f"couldn't assign flavors to pod set {name}: {', '.join(why)}")
        return faults, flavors

    @staticmethod
    def flavor_of(cluster, resource):
        for group in cluster['spec']['resourceGroups']:
            if resource in group['coveredResources']:
                flavor = group['flavors'][0]
                limit = next(entry['nominalQuota'] for entry in flavor['resources'] if entry['name'] == resource)
                return flavor['name'], amount(limit)
        return None, 0

    def victims(self, item, cluster, admitted, needs):
        """Returns the Workloads of lower priority whose end makes room, the lowest first; none if that is not enough."""
        if cluster['spec'].get('preemption', {}).get('withinClusterQueue') != 'LowerPriority':
            return []
        left, chosen = list(admitted), []
        for other in sorted(admitted, key=lambda one: (one['spec']['priority'], -int(one['metadata']['resourceVersion']))):
            if other['spec']['priority'] >= item['spec']['priority']:
                break
            left.remove(other)
            chosen.append(other)
            if not self.faults(item, cluster, left, needs)[0]:
                return chosen
        return []

    def admit(self, item, cluster, needs, flavors):
        name = cluster['metadata']['name']
        item['status']['admission'] = {'clusterQueue': name, 'podSetAssignments': [
            {'name': entry['name'], 'count': entry['count'],
             'flavors': {resource: flavors[resource] for resource in needs[entry['name']]},
             'resourceUsage': {key: shown(key, value) for key, value in needs[entry['name']].items()}}
            for entry in item['spec']['podSets']]}
        item['status'].pop('resourceRequests', None)
        self.controllers.set_condition(item, 'QuotaReserved', 'True', 'QuotaReserved', f'Quota reserved in ClusterQueue {name}')
        self.controllers.set_condition(item, 'Admitted', 'True', 'Admitted', 'The workload is admitted')
        self.store.touch(WORKLOAD, item)
        self.controllers.forget(item, 'preempt')
        self.controllers.event(WORKLOAD, item, 'Normal', 'Admitted', f'Admitted by ClusterQueue {name}', 'kueue-admission')

    def preempt(self, victim, item, cluster):
        message = (f'Preempted to accommodate a workload (UID: {item["metadata"]["uid"]}, JobUID: '
                   f'{item["metadata"]["labels"][MARK + "job-uid"]}) due to prioritization in the ClusterQueue; preemptor path: '
                   f'/{cluster}; preemptee path: /{cluster}')
        self.evict(victim, 'Preempted', message)
        self.controllers.set_condition(victim, 'Preempted', 'True', 'InClusterQueue', message)
        self.controllers.set_condition(victim, 'Requeued', 'True', 'Preempted', message)
        self.store.touch(WORKLOAD, victim)

    def evict(self, item, reason, message):
        status = item['status']
        status.pop('admission', None)
        self.controllers.set_condition(item, 'QuotaReserved', 'False', 'Pending', message)
        self.controllers.set_condition(item, 'Evicted', 'True', reason, message)
        self.controllers.set_condition(item, 'Admitted', 'False', 'NoReservation', 'The workload has no reservation')
        self.controllers.set_condition(item, 'PodsReady', 'False', 'WaitForStart', 'Not all pods are ready or succeeded')
        self.store.touch(WORKLOAD, item)

    def pending(self, namespace, name):
        """Returns the items of the list of pending Workloads of a local queue."""
        queue = self.store.get(LOCAL, namespace, name)
        waiting = [item for item in self.store.all(WORKLOAD) if item['spec']['active'] and not holds(item, 'QuotaReserved')
                   and not holds(item, 'Finished') and not re.search('Inadmissible', str(condition(item, 'QuotaReserved')))]
        same = [item for item in sorted(waiting, key=self.order)
                if (other := self.store.get(LOCAL, item['metadata']['namespace'], item['spec']['queueName']))
                and other['spec']['clusterQueue'] == queue['spec']['clusterQueue']]
        own = [item for item in same if (item['metadata']['namespace'], item['spec']['queueName']) == (namespace, name)]
        return [{'metadata': {'name': item['metadata']['name'], 'namespace': namespace,
                              'creationTimestamp': item['metadata']['creationTimestamp'],
                              'ownerReferences': [{key: owner[key] for key in ('apiVersion', 'kind', 'name', 'uid')}
                                                  for owner in item['metadata']['ownerReferences']]},
                 'priority': item['spec']['priority'], 'localQueueName': name,
                 'positionInClusterQueue': same.index(item), 'positionInLocalQueue': position}
                for position, item in enumerate(own)]


def usage(admitted, resource):
    return sum(amount(assigned['resourceUsage'].get(resource, 0)) for item in admitted
               for assigned in item['status']['admission']['podSetAssignments'])
