"""Objects of the stand-in for Kubernetes take the states that those of a real cluster were recorded to take, in that order."""

import copy
import json
import time
import unittest

import kubernetes_records as records
import testbed
from kubernetes_scene import RECORDS, SECONDS, Scene, admin, events


class Lives(Scene):
    """Objects from their creation to their end."""

    def life(self, name, *parts):
        self.play(f'{name}-create', *(f'{name}-{part}' for part in parts if part != 'events'))
        if 'events' in parts:
            self.play(f'{name}-events', edit=events)

    def test_jobs(self):
        self.life('job-succeed', 'final', 'events', 'pods')
        self.life('job-fail-backoff0', 'final', 'events', 'pods')
        self.life('job-fail-backoff1', 'final', 'events', 'pods')
        self.life('job-oom', 'final', 'events', 'pods')
        self.life('job-podfailurepolicy-failjob', 'final', 'events', 'pods')
        self.life('job-backofflimitperindex', 'final', 'pods')
        self.life('job-maxfailedindexes', 'final', 'pods')

    def test_a_deadline_and_a_time_to_live(self):
        self.service.times.second = 0.1
        self.life('job-deadline', 'final', 'events', 'pods')
        self.play('job-ttl-create', 'job-ttl-gone-404')

    def test_suspension(self):
        self.life('job-suspended', 'final', 'events', 'pods')
        self.play('job-unsuspend', 'job-unsuspended', 'job-suspend-running', 'job-suspended-again')

    def test_pods_that_wait(self):
        self.play('pod-unschedulable-job', 'pod-unschedulable-gpu', 'job-pending')

    def test_duplicates_and_preconditions(self):
        self.play('job-create-201', 'job-duplicate-409', 'job-duplicate-dryrun-409', 'job-delete-body', 'job-delete-bad-policy')

        def without_times(item):
            return {key: item['metadata'][key] for key in ('name', 'namespace')}

        self.play('job-delete-dryrun', edit=without_times)

    def test_deletions_of_jobs(self):
        def job(answer):
            return answer if answer['kind'] == 'Status' or 'items' in answer else {
                key: answer['metadata'].get(key) for key in ('name', 'finalizers', 'deletionGracePeriodSeconds')}

        self.service.times.delete = 0.5
        for word in ('foreground', 'background', 'orphan', 'default'):
            self.create('job-create-201', name=f'del-{word}')
        testbed.wait_until(lambda: sum(pod['status']['phase'] == 'Running' for pod in self.service.items('Pod')) == 4)
        self.play('job-delete-foreground', 'job-delete-foreground-get', 'job-delete-foreground-again', edit=job)
        self.create('job-create-201', name='reuse')
        admin(self.service, 'DELETE', '/apis/batch/v1/namespaces/ml/jobs/reuse?propagationPolicy=Foreground')
        self.play('job-create-while-deleting-409')
        self.play('job-delete-background', 'job-delete-background-get', 'job-delete-background-pods', 'job-delete-background-again',
                  'job-delete-background-get-later')
        self.play('job-delete-orphan', 'job-delete-orphan-get', 'job-delete-orphan-again', 'job-delete-default', edit=job)
        self.play('job-delete-orphan-get-later', 'job-delete-foreground-get-later', 'job-delete-foreground-pods')

        def running(answer):
            return [(pod['metadata']['name'], pod['status']['phase']) for pod in answer['items']]

        self.play('job-delete-orphan-pods', 'job-delete-default-pods', edit=running)

    def test_the_states_of_a_job_in_order(self):
        lines = RECORDS['watch-job-lifecycle'].body
        first = lines[0]['object']
        body = {'apiVersion': 'batch/v1', 'kind': 'Job', 'metadata': {'name': 'w1', 'labels': {'a': 'b'}}, 'spec': {
            'completions': 1, 'parallelism': 1, 'completionMode': 'Indexed', 'backoffLimit': 0, 'template': {
                'metadata': {'annotations': {'test/outcome': 'succeed'}}, 'spec': first['spec']['template']['spec']}}}
        self.assertEqual(admin(self.service, 'POST', '/apis/batch/v1/namespaces/ml/jobs', body).status, 201)
        found = self.watch('/apis/batch/v1/namespaces/ml/jobs?watch=1&fieldSelector=metadata.name%3Dw1&resourceVersion='
                           f'{self.service.store.compacted or 300}&allowWatchBookmarks=true&timeoutSeconds=1')

        def state(line):
            return [line['type'], line['object']['kind'], records.plain(line['object'].get('status'))]

        self.assertEqual([state(line) for line in found if line['type'] != 'BOOKMARK'],
                         [state(line) for line in lines if line['type'] != 'BOOKMARK'])
        self.assertEqual(records.plain(found[-1]), records.plain(lines[-1]))

    def watch(self, path):
        return [json.loads(line) for line in admin(self.service, 'GET', path).data.splitlines()]

    def test_jobsets(self):
        self.play('jobset-create-201', 'jobset-duplicate-409', 'jobset-duplicate-dryrun-409', 'jobset-running', 'jobset-jobs',
                  'jobset-pods', 'jobset-patch-immutable-422', 'jobset-patch-policy-immutable-422', 'jobset-strategic-merge-415')

        def service(answer):
            return {key: answer['spec'].get(key) for key in ('clusterIP', 'publishNotReadyAddresses', 'selector')}

        self.play('jobset-service', edit=service)

        def deleted(answer):
            return {key: answer['metadata'].get(key) for key in ('name', 'finalizers', 'deletionGracePeriodSeconds')}

        self.service.times.delete = 0.3
        self.play('jobset-delete-foreground', 'jobset-delete-get', edit=deleted)
        self.play('jobset-delete-get-later')

    def outcome(self, name, pools, restarts=0, suspend=False):
        """Creates a JobSet like the recorded ones, with the outcome of each pool's pods."""
        body = json.loads(json.dumps(RECORDS['jobset-create-201'].request['body']).replace('taxi-7f3a9c', name))
        for pool, entry in zip(pools, body['spec']['replicatedJobs'], strict=True):
            entry['template']['spec']['template']['metadata'] = {'annotations': {'test/outcome': pool} if pool else {}}
        body['spec']['failurePolicy']['maxRestarts'] = restarts
        if suspend:
            body['spec']['suspend'] = True
        path = RECORDS['jobset-create-201'].request['path']
        self.assertEqual(admin(self.service, 'POST', path, body).status, 201)

    def test_ends_of_jobsets(self):
        def end(answer):
            status = answer['status']
            return [status.get('terminalState'), status.get('restarts'),
                    [[entry['type'], entry['status'], entry['reason'], entry['message'].replace('workerpool1-1', 'workerpool1-0')]
                     for entry in status['conditions'] if entry['type'] != 'RestartingJobSet']]

        def pods(answer):
            return [[pod['metadata']['labels']['jobset.sigs.k8s.io/replicatedjob-name'], pod['status']['phase']]
                    for pod in answer['items']][:1]

        self.outcome('ok1', ['succeed', None])
        self.play('jobset-ok1-final', edit=end)
        self.play('jobset-ok1-events', edit=events)
        self.play('jobset-ok1-pods', edit=pods)
        self.outcome('fail1', [None, 'fail'])
        self.play('jobset-fail1-final', edit=end)

        def first(answer):
            return [[entry[1], entry[2].replace('workerpool1-1', 'workerpool1-0')] for entry in events(answer)]

        self.play('jobset-fail1-events', edit=first)
        self.play('jobset-fail1-pods', edit=pods)
        self.outcome('fail2', ['fail', None], restarts=1)
        self.play('jobset-fail2-final', edit=end)
        self.play('jobset-fail2-pods', edit=pods)
        self.outcome('sus1', [None, None], suspend=True)
        self.play('jobset-suspended')
        self.outcome('dj0', [None, None])
        self.play('jobset-delete-default-running')
        self.outcome('dj29', [None, None])
        self.play('jobset-delete-foreground-running', edit=lambda answer: answer['metadata']['finalizers'])

    def test_a_nonsense_template_is_accepted_and_never_runs(self):
        body = copy.deepcopy(RECORDS['jobset-negative-cpu'].request['body'])
        body['metadata']['name'] = 'bad7'
        path = RECORDS['jobset-negative-cpu'].request['path'].replace('&dryRun=All', '')
        self.assertEqual(admin(self.service, 'POST', path, body).status, 201)
        self.play('jobset-negative-cpu-events', edit=lambda answer: events(answer)[:1])
        self.play('jobset-negative-cpu-created-status', edit=lambda answer: answer.get('status'))

    def test_the_states_of_a_deleted_jobset_in_order(self):
        lines = RECORDS['watch-delete-foreground'].body
        self.outcome('wd1', [None, None])
        testbed.wait_until(lambda: sum(pod['status']['phase'] == 'Running' for pod in self.service.items('Pod')) == 4)
        path = '/apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets'
        admin(self.service, 'DELETE', f'{path}/wd1?propagationPolicy=Foreground')
        testbed.wait_until(lambda: not self.service.items('JobSet'))
        found = self.watch(f'{path}?watch=1&fieldSelector=metadata.name%3Dwd1&resourceVersion=300&timeoutSeconds=1')

        def states(entries):
            """Returns the kinds of lines; how many pods are ready in between differs."""
            result = []
            for entry in entries:
                item = entry['object']
                counts = item.get('status', {}).get('replicatedJobsStatus')
                state = [entry['type'], item['metadata'].get('finalizers'), 'new' if counts is None else 'counted']
                if state not in result[-1:]:
                    result.append(state)
            return result

        self.assertEqual(states(found), states(lines))

    def test_trainjobs(self):
        self.service.times.second = 0.1
        self.play('trainjob-create-201', 'trainjob-duplicate-409', 'trainjob-status', 'trainjob-jobset', 'trainjob-pods',
                  'trainjob-runtimepatches-201', 'trainjob-runtimepatches-jobset', 'trainjob-succeed-create', 'trainjob-complete',
                  'trainjob-deadline-create')
        self.play('trainjob-deadline', edit=lambda answer: answer['status']['conditions'])
        self.play('trainjob-suspended-create', 'trainjob-suspended')
        self.play('trainjob-delete', edit=lambda answer: answer['metadata']['finalizers'])

    def test_a_crash_of_a_trainjob_is_tried_again(self):
        self.service.times.restart = 60
        body = json.loads(json.dumps(RECORDS['trainjob-succeed-create'].request['body']).replace('succeed', 'fail').replace('tj7', 'tj8'))
        self.assertEqual(admin(self.service, 'POST', RECORDS['trainjob-succeed-create'].request['path'], body).status, 201)
        self.play('trainjob-failed')

    def test_pods_on_nodes(self):
        for name, outcome, count in (('run1', None, 2), ('hold1', 'hold', 1), ('pull1', 'imagepull', 1)):
            body = copy.deepcopy(RECORDS['job-create-201'].request['body'])
            body['metadata']['name'] = name
            body['spec'] |= {'completions': count, 'parallelism': count}
            body['spec']['template']['metadata']['annotations'] = {'test/outcome': outcome} if outcome else {}
            self.assertEqual(admin(self.service, 'POST', '/apis/batch/v1/namespaces/ml/jobs', body).status, 201)
        self.play('pod-running', 'job-running', 'pod-containercreating', 'pod-imagepullbackoff')
        for name, changes in (('sa1', {'serviceAccountName': 'no-such-sa'}), ('pend2', {'nodeSelector': {'no': 'node'}})):
            body['metadata']['name'] = name
            body['spec']['template'] = copy.deepcopy(RECORDS['job-create-201'].request['body']['spec']['template'])
            body['spec']['template']['spec'] |= changes
            self.assertEqual(admin(self.service, 'POST', '/apis/batch/v1/namespaces/ml/jobs', body).status, 201)
        self.play('job-missing-serviceaccount')
        self.play('job-missing-serviceaccount-events', edit=events)

        def reason(answer):
            return [pod['status'] for pod in answer['items']]

        self.play('pod-unschedulable-selector', edit=reason)
        self.create('pod-unschedulable-job')
        self.play('pod-unschedulable-events', edit=events)

    def test_logs(self):
        self.create('job-create-201', name='logj')
        pod = testbed.wait_until(lambda: next((pod for pod in self.service.items('Pod') if pod['status']['phase'] == 'Running'), 0))
        self.create('pod-unschedulable-job')
        waiting = testbed.wait_until(lambda: next((pod for pod in self.service.items('Pod') if 'conditions' in pod['status']
                                                   and pod['status']['phase'] == 'Pending'), 0))
        two = copy.deepcopy(RECORDS['job-create-201'].request['body'])
        two['metadata']['name'] = 'log2c'
        two['spec']['template']['spec']['containers'].append({'name': 'side', 'image': 'b'})
        self.assertEqual(admin(self.service, 'POST', '/apis/batch/v1/namespaces/ml/jobs', two).status, 201)
        pair = testbed.wait_until(lambda: next((pod for pod in self.service.items('Pod') if pod['status']['phase'] == 'Running'
                                                and 'log2c' in pod['metadata']['name']), 0))
        for names, item in ((('log-plain', 'log-container', 'log-bad-container-400', 'log-bad-sincetime-400', 'log-bad-tail-422',
                              'log-since-both-422', 'log-stream-bad', 'log-stream-stdout', 'log-limitbytes'), pod),
                            (('log-unscheduled-pod',), waiting),
                            (('log-two-containers-no-name-400', 'log-two-containers-unknown-400'), pair)):
            for name in names:
                self.log(name, item['metadata']['name'])
        for outcome, name in (('hold', 'log-kubelet-creating'), ('imagepull', 'log-kubelet-backoff')):
            body = copy.deepcopy(RECORDS['job-create-201'].request['body'])
            body['metadata']['name'] = outcome
            body['spec']['template']['metadata']['annotations'] = {'test/outcome': outcome}
            admin(self.service, 'POST', '/apis/batch/v1/namespaces/ml/jobs', body)
            held = testbed.wait_until(lambda outcome=outcome: next((
                pod for pod in self.service.items('Pod') if pod['metadata']['name'].startswith(outcome)
                and 'containerStatuses' in pod['status']), 0))
            self.log(name, held['metadata']['name'])
        self.log('log-kubelet-prev', pod['metadata']['name'])
        for fault, name in (('error', 'log-kubelet-500'), ('unreachable', 'log-node-refuses-connection'), ('no pod', 'log-kubelet-nopod')):
            self.service.log_faults = {'.': fault}
            self.log(name, pod['metadata']['name'])

    def log(self, name, pod):
        """Compares a request for a log of the pod, whose name replaces the recorded one."""
        record = RECORDS[name]
        theirs = record.request['path'].split('/')[6]
        path = record.request['path'].replace(theirs, pod)
        answer = records.replay(self.service, record, path)
        self.assertEqual(answer.status, record.status, name)
        body = json.loads(json.dumps(record.body).replace(theirs, pod))
        self.assertEqual(list(records.differences(records.plain(body), records.plain(answer.body))), [], name)


class InQueues(Scene):
    def setUp(self):
        super().setUp()
        self.service.make_queue()
        self.service.make('LocalQueue', 'orphan', spec={'clusterQueue': 'no-such-cq', 'stopPolicy': 'None'}, status={})

    def workload(self, record, owner):
        """Waits until the Workload of a job has the recorded conditions."""
        recorded = RECORDS[record].body

        def conditions(item):
            text = json.dumps(records.plain([
                [entry['type'], entry['status'], entry['reason'], entry['message']] for entry in item['status']['conditions']]))
            return sorted(json.loads(text))

        def found():
            own = [item for item in self.service.items('Workload') if item['metadata']['ownerReferences'][0]['name'] == owner]
            return own and own[0].get('status', {}).get('conditions') and own[0]

        wanted = [entry for entry in conditions(recorded) if entry[2] != 'Recovered']
        end = time.monotonic() + SECONDS
        while not (own := found()) or conditions(own) != wanted:
            if time.monotonic() > end:
                break
            time.sleep(0.04)
        with self.subTest(record=record):
            self.assertEqual(conditions(own), wanted)
            for key in ('admission', 'resourceRequests'):
                if key in recorded['status']:
                    self.assertEqual(own['status'].get(key), recorded['status'][key])

    def test_jobsets_in_a_queue(self):
        self.play('kueue-localqueue-orphan-status', 'kueue-jobset-create', 'kueue-jobset-admitted')
        self.workload('kueue-workload-admitted', 'kq1')
        self.play('kueue-jobset-too-big')
        self.play('kueue-jobset-create-preempts-lower')
        self.workload('kueue-workload-preempted', 'kq1')
        self.play('kueue-jobset-preempted', 'kueue-jobset-admitted-after-preempting')
        self.workload('kueue-workload-exceeds-quota', 'kq2')
        self.play('kueue-jobset-no-such-queue', 'kueue-jobset-orphan-queue', 'kueue-jobset-no-such-priority',
                  'kueue-jobset-uncovered-resource', 'kueue-jobset-wrong-flavor')
        self.workload('kueue-workload-no-queue', 'kq4')
        self.workload('kueue-workload-orphan-queue', 'kq5')
        self.workload('kueue-workload-uncovered-resource', 'kq7')
        self.workload('kueue-workload-wrong-flavor', 'kq8')
        self.assertNotIn('kq6', [item['metadata']['ownerReferences'][0]['name'] for item in self.service.items('Workload')])
        self.play('kueue-jobset-high')
        self.workload('kueue-workload-high-admitted', 'kq9')
        self.play('kueue-jobset-bad-queue-name', 'kueue-jobset-dryrun-no-such-queue', 'kueue-missing-priority-dryrun')

    def test_by_hand(self):
        self.play('kueue-jobset-create-preempts-lower', 'kueue-jobset-admitted-after-preempting')
        self.play('kueue-jobset-high')
        admitted = testbed.wait_until(lambda: [item for item in self.service.items('JobSet') if item['metadata']['name'] == 'kq9'
                                               and not item['spec']['suspend']])
        self.assertTrue(admitted)
        self.play('kueue-unsuspend-by-hand', edit=lambda answer: answer['spec']['suspend'])
        self.play('kueue-unsuspend-by-hand-after', edit=lambda answer: answer['spec']['suspend'])
        self.play('kueue-suspend-by-hand', edit=lambda answer: answer['spec']['suspend'])
        testbed.wait_until(lambda: [item for item in self.service.items('JobSet') if item['metadata']['name'] == 'kq9'
                                    and not item['spec']['suspend']])
        name = next(item for item in self.service.items('Workload')
                    if item['metadata']['ownerReferences'][0]['name'] == 'kq9')['metadata']['name']
        admin(self.service, 'PATCH', f'/apis/kueue.x-k8s.io/v1beta2/namespaces/ml/workloads/{name}', {'spec': {'active': False}},
              'application/merge-patch+json')
        self.play('kueue-jobset-deactivated', edit=lambda answer: answer['spec']['suspend'])
        self.workload_word('kueue-workload-deactivated', name)

    def workload_word(self, record, name):
        wanted = next(entry for entry in RECORDS[record].body['status']['conditions'] if entry['type'] == 'Evicted')

        def evicted():
            item = next(item for item in self.service.items('Workload') if item['metadata']['name'] == name)
            return [entry for entry in item['status']['conditions'] if entry['type'] == 'Evicted']

        found = testbed.wait_until(evicted)[0]
        self.assertEqual([found['status'], found['reason'], found['message']], [wanted['status'], wanted['reason'], wanted['message']])

    def test_waiting_and_positions(self):
        self.play('kueue-w1')
        self.workload('kueue-workload-running', 'w1')
        self.play('kueue-w2')
        self.workload('kueue-workload-waiting', 'w2')
        self.play('kueue-w3', 'kueue-jobset-waiting-status')
        self.workload('kueue-workload-exceeds-max', 'w3')
        self.play('kueue-visibility-missing-queue')

        def places(answer):
            return [[item['metadata']['ownerReferences'][0]['name'], *(item[key] for key in (
                'priority', 'localQueueName', 'positionInClusterQueue', 'positionInLocalQueue'))] for item in answer['items']]

        self.play('kueue-visibility-two-waiting', edit=places)
        self.play('kueue-queue-hold', edit=lambda answer: answer['spec'])
        self.workload('kueue-workload-held', 'w2')

    def test_jobs_and_trainjobs(self):
        self.play('kueue-job-create', 'kueue-job-final', 'kueue-job-dryrun', 'kueue-trainjob-create')
        self.workload('kueue-workload-finished', 'kj1')
        self.play('kueue-trainjob')
        self.workload('kueue-workload-trainjob', 'kt1')
        self.create('kueue-jobset-create')
        self.play('kueue-jobset-delete', edit=lambda answer: answer['metadata']['finalizers'])


if not RECORDS:
    del Lives, InQueues

if __name__ == '__main__':
    unittest.main()
