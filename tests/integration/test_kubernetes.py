"""Jobs on Kubernetes: on a stand-in, or on the real cluster that `run.py --kubernetes=KUBECONFIG` names.

Fake nodes run the pods. A pod runs until a test ends it, or does what its annotation `test/outcome` says.
"""

import functools
import json
import re
import shlex
import signal
import subprocess
import time
import unittest

import yaml

import kubernetes_records as records
import secret_watch
import testbed
from kubernetes_cluster import PATIENCE, REAL, Cluster
from kubernetes_service import MACHINE
from testbed import autopack

IMAGE = 'registry.example/app@sha256:' + '0' * 64
POLL = '--polling-interval=1'


def pool(count=1, **keys):
    more = ''.join(f',{key.replace("_", "-")}={value}' for key, value in keys.items())
    return f'--worker-pool-spec=machine-type={MACHINE},replica-count={count},container-image-uri={IMAGE}{more}'


def template(outcome=None, **annotations):
    """Returns a pod template with the outcome of its pods."""
    given = {**({'test/outcome': outcome} if outcome else {}), **{f'test/{key}': value for key, value in annotations.items()}}
    return '--pod-template=' + json.dumps({'metadata': {'annotations': given}})


@functools.cache
def kubectl_is_new():
    """Returns whether kubectl is here, and lets the server check fields: that of Debian 12 needs documents of old servers."""
    try:
        said = testbed.run(['kubectl', 'version', '--client', '--output=json']).stdout
    except FileNotFoundError:
        return False
    return int(json.loads(said)['clientVersion']['minor'].rstrip('+')) >= 27


class OnKubernetes(unittest.TestCase):
    """Tests with a cluster that they share."""

    options = {}

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(**cls.options)
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.show('line 0', 'line 1')
        cls.folder = testbed.new_folder('jobs')

    @classmethod
    def environment(cls, **changes):
        return testbed.environment(KUBECONFIG=cls.cluster.kubeconfig, **changes)

    def submit(self, *flags, name='taxi', status=0, env=None, **options):
        """Submits; returns the answer. The image is not looked for: there is none."""
        return autopack('submit', '--submitter=kubernetes', f'--display-name={name}', *flags, cwd=self.folder,
                        env=env or self.environment(), status=status, **options)

    def jobs(self, *arguments, status=0):
        return autopack('jobs', *arguments, cwd=self.folder, env=self.environment(), status=status)

    def started(self, *flags, name='taxi', pods=1):
        """Returns the name of a submitted job, and its pods once they run."""
        whole = self.submit(*flags, name=name).out.strip()
        self.addCleanup(self.forget, whole)
        return whole, self.cluster.wait_for_pods(whole.split('/')[-1], pods)

    def forget(self, whole):
        for kind in ('TrainJob', 'JobSet', 'Job'):
            self.cluster.api.delete(kind, whole.split('/')[-1])

    def object_of(self, whole):
        """Returns the object of a job, of whatever kind."""
        for kind in ('TrainJob', 'JobSet', 'Job'):
            if self.cluster.service and kind in self.cluster.service.missing:
                continue
            status, item = self.cluster.api.ask('GET', self.cluster.api.path(kind, whole.split('/')[-1]))
            if status == 200:
                return item
        self.fail(f'{whole} does not exist')

    def described(self, whole):
        return self.jobs('describe', whole, '--format=json').json()

    def wait_for(self, whole, state, fragment=''):
        """Waits until the job is in a state, with a part of its reason."""
        def there():
            job = self.described(whole)
            return job if job['state'] == f'JOB_STATE_{state}' and fragment in job.get('detail', '') else None

        try:
            return testbed.wait_until(there, PATIENCE, f'{state} with `{fragment}`')
        except AssertionError as failure:
            raise AssertionError(f'{failure}: {self.described(whole)}') from None


class Shapes(OnKubernetes):
    """What each shape of a job becomes."""

    def test_the_example_runs_as_its_page_says(self):
        folder = testbed.example('kubernetes')
        command = re.search(r'^ {4}autopack (submit .*?)\n\n', (folder / 'README.md').read_text(), re.MULTILINE | re.DOTALL)
        words = shlex.split(command.group(1).replace('\\\n', ' ').replace('BASE', testbed.pushed_executor('kubernetes-executor'))
                            .replace('REGISTRY/line', testbed.image_name('line')))
        answer = autopack(*words, cwd=folder, env=self.environment())
        whole = answer.out.strip()
        self.addCleanup(self.forget, whole)
        container = self.object_of(whole)['spec']['template']['spec']['containers'][0]
        self.assertRegex(container['image'], r'/line[^@]*@sha256:[0-9a-f]{64}$')
        self.assertIn(f'autopack jobs logs -f {whole}', answer.err)

    def test_one_replica_is_a_job(self):
        whole, pods = self.started(pool(), '--args=--epochs,3', '--timeout=2h')
        item = self.object_of(whole)
        self.assertEqual((item['kind'], item['spec']['completions'], item['spec']['activeDeadlineSeconds']), ('Job', 1, 7200))
        self.assertEqual(item['metadata']['labels']['app.kubernetes.io/managed-by'], 'autopack')
        self.assertEqual(list(pods), ['workerpool0-0'])
        container = pods['workerpool0-0']['spec']['containers'][0]
        self.assertEqual((container['image'], container['args']), (IMAGE, ['--epochs', '3']))
        self.assertEqual(whole, self.cluster.name_of(item['metadata']['name']))

    def test_two_pools_are_a_jobset(self):
        whole, pods = self.started(pool(1), pool(2), pods=3)
        self.assertEqual(self.object_of(whole)['kind'], 'JobSet')
        self.assertEqual(sorted(pods), ['workerpool0-0', 'workerpool1-0', 'workerpool1-1'])
        ranks = [pods[name]['metadata']['labels']['jobset.sigs.k8s.io/job-global-index'] for name in sorted(pods)]
        self.assertEqual(ranks, ['0', '1', '2'])
        name = whole.split('/')[-1]
        for pod in pods.values():
            values = {entry['name']: entry.get('value') for entry in pod['spec']['containers'][0]['env']}
            self.assertEqual(values['MASTER_ADDR'], f'{name}-workerpool0-0-0.{name}')
            self.assertEqual(values['WORLD_SIZE'], '3')
            self.assertEqual(f'{pod["spec"]["hostname"]}.{pod["spec"]["subdomain"]}',
                             f'{name}-{pod["metadata"]["labels"]["jobset.sigs.k8s.io/replicatedjob-name"]}-'
                             f'{pod["metadata"]["labels"]["jobset.sigs.k8s.io/job-index"]}-0.{name}')

    def test_one_pool_of_three(self):
        whole, pods = self.started(pool(3), pods=3)
        self.assertEqual(self.object_of(whole)['kind'], 'JobSet')
        self.assertEqual(sorted(pods), ['workerpool0-0', 'workerpool0-1', 'workerpool0-2'])
        self.wait_for(whole, 'RUNNING')
        for pod in pods.values():
            self.cluster.end(pod, 'succeed')
        self.jobs('wait', whole, POLL)

    def test_accelerators_become_limits(self):
        whole, pods = self.started(pool(accelerator_type='NVIDIA_TESLA_T4', accelerator_count=2))
        self.assertEqual(pods['workerpool0-0']['spec']['containers'][0]['resources']['limits']['nvidia.com/gpu'], '2')
        self.assertEqual(self.object_of(whole)['kind'], 'Job')

    def test_a_trainjob_of_a_runtime(self):
        whole, pods = self.started(pool(), '--object=trainjob', '--runtime=torch-distributed')
        item = self.object_of(whole)
        self.assertEqual((item['kind'], item['spec']['runtimeRef']['name']), ('TrainJob', 'torch-distributed'))
        self.assertEqual(pods and next(iter(pods.values()))['spec']['containers'][0]['image'], IMAGE)
        self.wait_for(whole, 'RUNNING')

    def test_the_name_is_short_enough_for_every_pod(self):
        whole, pods = self.started(pool(1), pool(2), name='A very long name of a job, which nobody should give to one', pods=3)
        self.assertTrue(all(len(pod['metadata']['name']) <= 63 for pod in pods.values()), pods.keys())
        self.assertEqual(self.described(whole)['displayName'], 'A very long name of a job, which nobody should give to one')

    def test_kubectl_takes_what_a_dry_run_prints(self):
        for flags in ([pool()], [pool(1), pool(3, accelerator_type='NVIDIA_TESLA_T4', accelerator_count=1)],
                      [pool(), '--object=trainjob', '--runtime=torch-distributed']):
            with self.subTest(flags):
                answer = self.submit('--dry-run', *flags)
                item = yaml.safe_load(answer.out)
                path = self.cluster.api.path(item['kind']) + '?dryRun=All&fieldValidation=Strict'
                self.assertEqual(self.cluster.api.ask('POST', path, item)[0], 201, answer.out)
                if not kubectl_is_new():
                    continue
                said = testbed.run(['kubectl', '--kubeconfig', self.cluster.kubeconfig, '--cache-dir', testbed.new_folder('kubectl'),
                                    'create', '--dry-run=server', '-f', '-'], input=answer.out.encode(), check=False)
                self.assertIn(b'created (server dry run)', said.stdout, said.stderr.decode() + answer.out)

    def test_a_dry_run_without_a_cluster(self):
        answer = self.submit('--dry-run', pool(), status=None, env=testbed.environment(KUBECONFIG='/nowhere/config'))
        self.assertIn(answer.status, (0, 2), answer)
        self.assertTrue(answer.out.startswith('apiVersion: ') if answer.status == 0 else 'error: ' in answer.err, answer)

    def test_the_template_is_merged_over_each_pod(self):
        item = {'metadata': {'labels': {'team': 'a'}}, 'spec': {
            'tolerations': [{'key': 'nvidia.com/gpu', 'operator': 'Exists'}], 'volumes': [{'name': 'data', 'emptyDir': {}}],
            'containers': [{'name': 'trainer', 'volumeMounts': [{'name': 'data', 'mountPath': '/data'}]}]}}
        _, pods = self.started(pool(1), pool(1), '--pod-template=' + json.dumps(item), pods=2)
        for pod in pods.values():
            self.assertEqual(pod['metadata']['labels']['team'], 'a')
            self.assertIn('nvidia.com/gpu', [entry['key'] for entry in pod['spec']['tolerations']])
            self.assertIn('/data', [mount['mountPath'] for mount in pod['spec']['containers'][0]['volumeMounts']])


class Ends(OnKubernetes):
    def test_a_job_that_succeeds(self):
        answer = self.submit('--stream-logs', POLL, pool(), template('succeed'))
        self.addCleanup(self.forget, answer.out.strip())
        self.assertIn('line 0', answer.err)
        self.assertIn('line 1', answer.err)
        self.assertRegex(answer.err, r'(?i)succeeded')
        self.assertEqual(self.described(answer.out.strip())['state'], 'JOB_STATE_SUCCEEDED')

    def test_a_failure_with_its_exit_code(self):
        answer = self.submit('--wait', POLL, pool(), template('fail', **{'exit-code': '42'}), status=1)
        told = 'The replica workerpool0-0 exited with a non-zero status of 42.'
        self.assertIn(told, answer.err)
        job = self.described(answer.out.strip())
        self.assertEqual((job['state'], job['error']['code']), ('JOB_STATE_FAILED', 3))
        self.assertIn(told, job['error']['message'])

    def test_the_worker_that_failed_first_is_named(self):
        whole, pods = self.started(pool(1), pool(2), pods=3)
        self.cluster.end(pods['workerpool1-1'], 'fail', 7)
        answer = self.jobs('wait', whole, POLL, status=1)
        self.assertIn('workerpool1-1 exited with a non-zero status of 7', answer.err)

    def test_memory_that_ran_out(self):
        answer = self.submit('--wait', POLL, pool(), template('oom'), status=1)
        self.assertIn('workerpool0-0 ran out of memory', answer.err)
        self.assertEqual(self.described(answer.out.strip())['error']['code'], 8)

    def test_no_run_again_where_the_program_failed(self):
        whole, pods = self.started(pool(1), pool(1), pods=2)
        self.cluster.end(pods['workerpool0-0'], 'fail', 3)
        self.jobs('wait', whole, POLL, status=1)
        self.assertEqual(self.object_of(whole)['status'].get('restarts', 0), 0)

    def test_the_end_of_the_chief_is_the_end(self):
        whole, pods = self.started(pool(1), pool(2), pods=3)
        self.cluster.end(pods['workerpool0-0'], 'succeed')
        self.jobs('wait', whole, POLL)
        self.assertEqual(self.described(whole)['state'], 'JOB_STATE_SUCCEEDED')

    def test_a_deadline(self):
        for shape in ([pool()], [pool(1), pool(2)]):
            with self.subTest(shape):
                answer = self.submit('--wait', POLL, '--timeout=1s', *shape, status=1)
                self.addCleanup(self.forget, answer.out.strip())
                self.assertIn('timeout', answer.err)
                self.assertEqual(self.described(answer.out.strip())['error']['code'], 4)

    def test_a_cancelled_job_takes_its_pods_with_it(self):
        for shape, count in (([pool()], 1), ([pool(1), pool(2)], 3)):
            with self.subTest(shape):
                whole, _ = self.started(*shape, pods=count)
                self.jobs('cancel', whole)
                testbed.wait_until(lambda whole=whole: not self.cluster.pods(whole.split('/')[-1]), PATIENCE, 'the pods to go')
                testbed.wait_until(lambda whole=whole: 'there is no job' in self.jobs('describe', whole, status=None).err, PATIENCE,
                                   'the job to go')

    def test_a_job_that_is_deleted_while_it_is_waited_for(self):
        whole, _ = self.started(pool())
        process = testbed.Process('jobs', 'wait', whole, POLL, env=self.environment(), cwd=self.folder)
        self.addCleanup(process.kill)
        process.stderr.readline()
        self.jobs('cancel', whole)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn(b'cancelled', err.lower())

    def test_ctrl_c_leaves_the_job_alone(self):
        process = testbed.Process('submit', '--submitter=kubernetes', '--display-name=left', '--stream-logs', pool(),
                                  env=self.environment(), cwd=self.folder)
        self.addCleanup(process.kill)
        said = b''
        while b'line 1' not in said:
            line = process.stderr.readline()
            self.assertTrue(line, said)
            said += line
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, said + err)
        self.assertIn(b'the job continues', err)
        whole = out.decode().strip()
        self.addCleanup(self.forget, whole)
        self.assertEqual(self.described(whole)['state'], 'JOB_STATE_RUNNING')


class Waits(OnKubernetes):
    """Why a job does not run."""

    def test_an_image_that_cannot_be_pulled_is_reported_at_once(self):
        whole = self.submit(pool(), template('imagepull')).out.strip()
        self.addCleanup(self.forget, whole)
        job = self.wait_for(whole, 'PENDING', 'ImagePullBackOff')
        self.assertIn(IMAGE, job['detail'])

    def test_no_node_has_what_it_needs(self):
        whole = self.submit(pool(accelerator_type='NVIDIA_TESLA_T4', accelerator_count=4), '--pod-template=' + json.dumps(
            {'spec': {'nodeSelector': {'test/nowhere': 'x'}}})).out.strip()
        self.addCleanup(self.forget, whole)
        self.assertIn('workerpool0-0', self.wait_for(whole, 'PENDING', 'nodes are available')['detail'])

    def test_a_container_that_is_being_created(self):
        whole = self.submit(pool(), template('hold')).out.strip()
        self.addCleanup(self.forget, whole)
        self.wait_for(whole, 'PENDING', 'ContainerCreating')
        self.assertEqual(self.jobs('logs', whole).out, '')


class Lists(OnKubernetes):
    def test_jobs_are_listed_described_and_read(self):
        whole, _ = self.started(pool(), name='listed')
        other, _ = self.started(pool(1), pool(1), name='second', pods=2)
        for name in (whole, other):  # the counts of a job follow its pods
            testbed.wait_until(lambda name=name: re.search(rf'(?m)^{re.escape(name)} .*running',
                                                           self.jobs('list', '--submitter=kubernetes').out), PATIENCE, name)
        self.assertEqual(self.jobs('list', '--submitter=kubernetes', '--state=succeeded', '--format=json').json(), [])
        self.assertIn(f'name: {whole}\n', self.jobs('describe', whole).out)
        logs = self.jobs('logs', other, '--format=value(task_name,message)').out
        self.assertEqual(sorted(line for line in logs.splitlines() if 'line 0' in line),
                         ['workerpool0-0\tline 0', 'workerpool1-0\tline 0'])
        one = self.jobs('logs', other, '--task-name=workerpool1-0', '--format=value(task_name,message)').out
        self.assertEqual({line.split('\t')[0] for line in one.splitlines()}, {'workerpool1-0'})

    def test_a_job_that_is_not_there(self):
        answer = self.jobs('describe', self.cluster.name_of('nothing-000000'), status=1)
        self.assertIn('there is no job', answer.err)
        self.assertIn('there is no job', self.jobs('cancel', self.cluster.name_of('nothing-000000'), status=1).err)

    def test_a_name_that_is_not_whole_is_refused(self):
        answer = self.jobs('describe', 'kubernetes/lab', status=2)
        self.assertIn('`kubernetes/lab` is not the name of a job', answer.err)
        self.assertIn('kubernetes/CONTEXT/NAMESPACE/NAME', answer.err)

    def test_cancelling_what_has_ended(self):
        whole = self.submit('--wait', POLL, pool(), template('succeed')).out.strip()
        self.addCleanup(self.forget, whole)
        self.jobs('cancel', whole)
        self.assertEqual(self.described(whole)['state'], 'JOB_STATE_SUCCEEDED')


class InAQueue(OnKubernetes):
    """Kueue: 8 GPUs, which jobs of low and high priority share."""

    GPUS = {'accelerator_type': 'NVIDIA_TESLA_T4', 'accelerator_count': 6}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.make_queue()

    def queued(self, *flags, name):
        resources = {'resources': {'requests': {'cpu': '1', 'memory': '1Gi'}}}
        item = {'spec': {'containers': [{'name': 'trainer', **resources}]}}
        whole = self.submit('--queue=team-a', '--pod-template=' + json.dumps(item), *flags, name=name).out.strip()
        self.addCleanup(self.gone, whole)
        return whole

    def gone(self, whole):
        """Removes a job; its quota is free afterwards."""
        self.forget(whole)
        testbed.wait_until(lambda: not self.cluster.pods(whole.split('/')[-1]), PATIENCE, 'the pods to go')

    def test_waiting_running_and_preemption(self):
        first = self.queued(pool(**self.GPUS), '--priority-class=low', name='first')
        self.cluster.wait_for_pods(first.split('/')[-1], 1)
        self.wait_for(first, 'RUNNING')
        second = self.queued(pool(**self.GPUS), '--priority-class=low', name='second')
        self.wait_for(second, 'QUEUED', 'insufficient unused quota for nvidia.com/gpu')
        third = self.queued(pool(**self.GPUS), '--priority-class=high', name='third')
        self.wait_for(third, 'RUNNING')
        self.wait_for(first, 'QUEUED', 'Preempted')
        self.jobs('cancel', third)
        # Which of two jobs that wait with one priority starts is Kueue's choice.
        testbed.wait_until(lambda: 'JOB_STATE_RUNNING' in {self.described(first)['state'], self.described(second)['state']},
                           PATIENCE, 'a job that waited to run')

    def test_a_jobset_waits_as_a_whole(self):
        whole = self.queued(pool(1, **self.GPUS), pool(1, **self.GPUS), name='big')
        self.wait_for(whole, 'QUEUED', 'maximum capacity')
        self.assertEqual(self.cluster.pods(whole.split('/')[-1]), {})

    def test_a_queue_or_class_that_is_missing_is_found_before(self):
        answer = self.submit('--queue=nowhere', pool(), status=None)
        self.assertNotEqual(answer.status, 0, answer)
        self.assertIn('has no queue `nowhere`', answer.err)
        if self.cluster.service:  # the login of the real one may not read classes
            self.cluster.service.access.rules['ml-team'][''] = [(('kueue.x-k8s.io',), ('workloadpriorityclasses',), ('get',))]
            answer = self.submit('--queue=team-a', '--priority-class=nobody', pool(), status=None)
            self.assertNotEqual(answer.status, 0, answer)
            self.assertIn('no workload priority class `nobody`', answer.err)

    def test_a_stopped_queue_is_a_warning(self):
        self.cluster.api.change('LocalQueue', 'team-a', {'spec': {'stopPolicy': 'Hold'}})
        self.addCleanup(self.cluster.api.change, 'LocalQueue', 'team-a', {'spec': {'stopPolicy': 'None'}})

        def stopped():
            status, item = self.cluster.api.ask('GET', self.cluster.api.path('LocalQueue', 'team-a'))
            return status == 200 and item['status']['conditions'][0]['reason'] == 'Stopped'

        testbed.wait_until(stopped, PATIENCE, 'the queue to stop')
        whole = self.queued(pool(), name='held')
        self.wait_for(whole, 'QUEUED', 'inactive')


class Refused(OnKubernetes):
    """What the cluster would refuse is found before anything is sent."""

    def refused(self, *flags, fragment, status=None):
        before = len(self.cluster.api.items('Job')) + len(self.cluster.api.items('JobSet'))
        answer = self.submit(*flags, status=status)
        self.assertNotEqual(answer.status, 0, answer)
        self.assertIn(fragment, answer.err)
        self.assertEqual(len(self.cluster.api.items('Job')) + len(self.cluster.api.items('JobSet')), before)

    def test_a_template_that_no_pod_may_have(self):
        for item, fragment in (({'spec': {'containers': [{'name': 'trainer', 'volumeMounts': [
                {'name': 'nope', 'mountPath': '/x'}]}]}}, 'Not found: "nope"'),
                               ({'spec': {'containers': [{'name': 'trainer', 'imagee': 'x'}]}}, 'imagee'),
                               ({'spec': {'containers': [{'name': 'trainer', 'resources': {'limits': {'cpu': '-1'}}}]}},
                                'must be greater than or equal to 0')):
            for shape in ([pool()], [pool(1), pool(1)]):
                with self.subTest(fragment=fragment, pools=len(shape)):
                    self.refused(*shape, '--pod-template=' + json.dumps(item), fragment=fragment)

    def test_a_quota_of_objects(self):
        self.cluster.api.make('ResourceQuota', 'none', spec={'hard': {'count/jobs.batch': '0'}})
        self.addCleanup(self.cluster.api.delete, 'ResourceQuota', 'none')
        if REAL:
            testbed.wait_until(lambda: self.cluster.api.ask('GET', self.cluster.api.path('ResourceQuota', 'none'))[1].get(
                'status', {}).get('hard'), PATIENCE, 'the quota')
        self.refused(pool(), fragment='exceeded quota')

    def test_a_login_without_rights(self):
        if self.cluster.service:
            config = self.cluster.service.kubeconfig('alice')
        else:
            config = self.cluster.kubeconfig.with_name('alice.kubeconfig')
        answer = self.submit(pool(), status=None, env=testbed.environment(KUBECONFIG=config))
        self.assertNotEqual(answer.status, 0, answer)
        self.assertIn('cannot create resource "jobs"', answer.err)

    def test_a_namespace_without_rights(self):
        self.refused(pool(), '--namespace=nowhere', fragment='nowhere')

    def test_a_login_that_is_refused(self):
        text = self.cluster.kubeconfig.read_text()
        secret = secret_watch.secret('token')
        path = self.folder / 'wrong.kubeconfig'
        path.write_text(re.sub(r'("?token"?: *"?)[\w-]+', rf'\g<1>{secret}', text))
        answer = self.submit(pool(), status=None, env=testbed.environment(KUBECONFIG=path))
        self.assertNotEqual(answer.status, 0, answer)
        self.assertIn('401', answer.err)

    def test_a_runtime_that_is_missing(self):
        self.refused(pool(), '--object=trainjob', '--runtime=nowhere', fragment='nowhere')


class WithoutJobSet(OnKubernetes):
    options = {'missing': ('JobSet', 'TrainJob', 'ClusterTrainingRuntime', 'TrainingRuntime', 'Workload', 'LocalQueue',
                           'ClusterQueue', 'ResourceFlavor', 'WorkloadPriorityClass')}

    def test_several_replicas_need_it(self):
        answer = self.submit(pool(1), pool(1), status=None)
        self.assertNotEqual(answer.status, 0, answer)
        self.assertIn('JobSet', answer.err)

    def test_one_replica_does_not(self):
        whole, pods = self.started(pool())
        self.assertEqual(list(pods), ['workerpool0-0'])
        self.assertIn(whole, self.jobs('list', '--submitter=kubernetes').out)

    def test_a_queue_needs_kueue(self):
        answer = self.submit('--queue=team-a', pool(), status=None)
        self.assertNotEqual(answer.status, 0, answer)
        self.assertIn('no Kueue', answer.err)


class Logins(OnKubernetes):
    """Ways to log in, on a stand-in."""

    options = {'nodes': 1}

    def config(self, **settings):
        return self.cluster.service.kubeconfig('submitter', **settings)

    def test_a_client_certificate(self):
        certificate, key = self.cluster.service.certificates.make('carol', '/O=ml-team/CN=carol')
        config = self.config(**{'client-certificate': str(certificate), 'client-key': str(key)})
        whole = self.submit(pool(), env=testbed.environment(KUBECONFIG=config)).out.strip()
        self.assertEqual(self.object_of(whole)['kind'], 'Job')

    def test_a_program_gives_the_token(self):
        token = self.cluster.service.tokens['submitter']
        answer = {'apiVersion': 'client.authentication.k8s.io/v1', 'kind': 'ExecCredential', 'status': {'token': token}}
        program = self.folder / 'login.sh'
        program.write_text(f"#!/bin/sh\necho run >>{self.folder}/runs\ncat <<'END'\n{json.dumps(answer)}\nEND\n")
        program.chmod(0o700)
        config = self.config(exec={'apiVersion': 'client.authentication.k8s.io/v1', 'command': str(program),
                                   'interactiveMode': 'Never'})
        whole = self.submit(pool(), env=testbed.environment(KUBECONFIG=config)).out.strip()
        self.assertEqual(self.object_of(whole)['kind'], 'Job')
        self.assertEqual((self.folder / 'runs').read_text(), 'run\n')

    def test_another_authority_is_not_trusted(self):
        other = testbed.new_folder('other')
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
                        '-subj', '/CN=other', '-keyout', 'key', '-out', 'ca.crt'], cwd=other, check=True, capture_output=True)
        config = json.loads(self.config().read_text())
        config['clusters'][0]['cluster']['certificate-authority'] = str(other / 'ca.crt')
        path = other / 'kubeconfig'
        path.write_text(json.dumps(config))
        answer = self.submit(pool(), status=None, env=testbed.environment(KUBECONFIG=path))
        self.assertNotEqual(answer.status, 0, answer)
        self.assertRegex(answer.err.lower(), 'certificate|tls|ssl')


class LogsThatEnd(OnKubernetes):
    """Streams of logs that end before the container does, on a stand-in."""

    options = {'nodes': 2}

    def test_a_stream_that_ends_early_is_resumed(self):
        service = self.cluster.service
        service.lines = [f'line {number}' for number in range(20)]
        service.cut_logs = 3
        whole, pods = self.started(pool())
        process = testbed.Process('jobs', 'logs', '-f', whole, POLL, '--format=value(message)', env=self.environment(), cwd=self.folder)
        self.addCleanup(process.kill)
        said = [process.stdout.readline().decode().strip() for _ in range(20)]
        service.lines = [*service.lines, 'the last']
        self.cluster.end(pods['workerpool0-0'], 'succeed')
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(said + out.decode().split('\n')[:-1], [f'line {number}' for number in range(20)] + ['the last'])

    def test_watches_that_end_and_history_that_is_forgotten(self):
        service = self.cluster.service
        service.longest_watch = 0.2
        whole, pods = self.started(pool())
        process = testbed.Process('jobs', 'wait', whole, POLL, env=self.environment(), cwd=self.folder)
        self.addCleanup(process.kill)
        for _ in range(3):
            time.sleep(0.2)
            service.compact()
        self.cluster.end(pods['workerpool0-0'], 'succeed')
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)


class Alike(OnKubernetes):
    """The stand-in answers to what autopack sends as the real cluster does."""

    def test_both_add_the_same_to_what_is_sent(self):
        standin = Cluster(nodes=3)
        self.addCleanup(standin.close)
        full = {'metadata': {'labels': {'a': 'b'}}, 'spec': {
            'priorityClassName': 'system-node-critical', 'tolerations': [{'key': 'x', 'operator': 'Exists'}],
            'imagePullSecrets': [{'name': 's'}], 'volumes': [
                {'name': 'c', 'configMap': {'name': 'x'}}, {'name': 's', 'secret': {'secretName': 'x'}},
                {'name': 'h', 'hostPath': {'path': '/x'}}], 'securityContext': {'runAsUser': 1},
            'containers': [{'name': 'trainer', 'resources': {'limits': {'cpu': '0.5', 'memory': '1Gi'}}}]}}
        merged = '--pod-template=' + json.dumps(full)
        gpus = pool(accelerator_type='NVIDIA_TESLA_T4', accelerator_count=2)
        runtime = ['--object=trainjob', '--runtime=torch-distributed']
        for flags in ([pool()], [gpus, '--timeout=3h', '--restart-on-worker-restart'], [pool(1), pool(3)], [pool(), merged],
                      [pool(1), pool(2), merged], [pool(), *runtime], [pool(), *runtime, merged]):
            with self.subTest(flags):
                body = self.submit('--dry-run', '--format=json', *flags).json()['request']['body']
                path = standin.api.path(body['kind']) + '?dryRun=All&fieldManager=autopack&fieldValidation=Strict'
                ours, theirs = standin.api.ask('POST', path, body), self.cluster.api.ask('POST', path, body)
                self.assertEqual(ours[0], theirs[0])
                self.assertEqual(list(records.differences(records.plain(theirs[1]), records.plain(ours[1]))), [])


if REAL:  # what these change cannot be changed there
    del WithoutJobSet, Logins, LogsThatEnd
else:
    del Alike

if __name__ == '__main__':
    unittest.main()
