"""Jobs of several pools on this machine: reported as on Vertex AI, ended by its rules, without leftovers."""

import json
import re
import signal
import unittest

import testbed
from secret_watch import secret
from testbed import autopack, docker

SHOW = '''import json, os
spec = json.loads(os.environ["CLUSTER_SPEC"])
config = json.loads(os.environ["TF_CONFIG"])
print(json.dumps({"task": spec["task"], "pools": {key: len(hosts) for key, hosts in spec["cluster"].items()},
                  "role": config["task"]["type"], "roles": sorted(config["cluster"]), "rank": os.environ["RANK"],
                  "world": os.environ["WORLD_SIZE"], "who": os.environ.get("WHO"),
                  "host": os.environ["MASTER_ADDR"] == spec["cluster"]["workerpool0"][0].split(":")[0]}))
'''


def left(name):
    """Returns what the engine still has of a job."""
    flag = f'label=autopack.job={name}'
    return docker('ps', '-aq', '--filter', flag) + docker('network', 'ls', '-q', '--filter', flag)


def lines_of(answer, replica):
    return [line.split(' | ', 1)[1] for line in answer.err.split('\n') if line.startswith(replica + ' | ')]


def container(pool, *program, **more):
    return {'machineSpec': {'machineType': 'n1-standard-4'}, **pool,
            'containerSpec': {'imageUri': testbed.executor(), 'command': list(program), **more}}


class OnThisMachine(unittest.TestCase):
    def setUp(self):
        # A separate home: it contains the records of jobs.
        self.home = testbed.new_folder('home')
        self.env = testbed.index_environment(HOME=self.home, XDG_CACHE_HOME=self.home / 'cache')

    def submit(self, *flags, folder=None, status=0, name='job', command='submit', config=None):
        folder = folder or testbed.new_folder('project')
        if config is not None:
            (folder / 'job.json').write_text(json.dumps(config))
            flags = ['--config=job.json', *flags]
        answer = autopack(command, '--submitter=local', f'--display-name={name}', *flags, cwd=folder, env=self.env,
                          status=status)
        found = re.search(r'local/\d+', answer.out)
        if found:
            self.assertEqual(left(found.group()), '', 'the engine has something of the job')
        return answer

    def describe(self, name):
        return autopack('jobs', 'describe', name, '--format=json', env=self.env).json()

    def packaged(self, script, **more):
        pool = f'machine-type=n1-standard-4,executor-image-uri={testbed.executor()},local-package-path=.,script={script}'
        return f'--worker-pool-spec={pool}' + ''.join(f',{key}={value}' for key, value in more.items())

    def detached(self, program):
        answer = autopack('submit', '--submitter=local', '--display-name=long', '--detach', '--config=job.json',
                          cwd=testbed.write_tree({'job.json': json.dumps(
                              {'workerPoolSpecs': [container({}, 'python3', '-uc', program)]})}), env=self.env)
        name = answer.out.strip()
        self.addCleanup(autopack, 'jobs', 'cancel', name, env=self.env, status=None)
        testbed.wait_until(lambda: self.describe(name)['state'] == 'JOB_STATE_RUNNING', 60, 'the job to run')
        return name


class LocalJobs(OnThisMachine):
    def test_gradients_are_summed_over_as_many_replicas_as_are_allowed(self):
        answer = self.submit(self.packaged('allreduce.py'),
                             '--worker-pool-spec=machine-type=n1-standard-4,replica-count=39', '--max-replicas=4',
                             folder=testbed.example('cluster'))
        for rank, replica in enumerate(('workerpool0-0', 'workerpool1-0', 'workerpool1-1', 'workerpool1-2')):
            self.assertIn(f'rank {rank} of 4: slope 3.00 offset 2.00', '\n'.join(lines_of(answer, replica)))
        self.assertIn('4 of the job\'s 40 replicas run here', answer.err)
        job = self.describe(answer.out.strip())
        self.assertEqual(job['state'], 'JOB_STATE_SUCCEEDED')
        self.assertLess(job['createTime'], job['startTime'])
        self.assertLess(job['startTime'], job['endTime'])

    def test_an_image_that_nobody_sends_anywhere_needs_no_registry(self):
        folder = testbed.write_tree({'train.py': 'print("trained")\n'})
        answer = self.submit(f'--executor-image-uri={testbed.executor()}', '--project=p', '--region=us-central1', folder=folder)
        self.assertEqual(answer.err.count('trained'), 1, answer)
        self.assertNotIn('pushed', answer.err.lower())
        self.addCleanup(testbed.remove_images, 'us-central1-docker.pkg.dev/p/autopack/job')

    def test_the_training_of_a_pipeline_runs(self):
        folder = testbed.write_tree({'train.py': 'import os, sys\nprint(os.environ["AIP_MODEL_DIR"], sys.argv[1:])\n'})
        answer = self.submit(f'--executor-image-uri={testbed.executor()}', '--script=train.py', '--as=training-pipeline',
                             '--base-output-dir=gs://bucket/out', '--model-display-name=m', '--model-image-uri=gcr.io/p/i',
                             '--', '--epochs=1', folder=folder)
        self.assertIn("/gcs/bucket/out/model/ ['--epochs=1']\n", answer.err)
        self.assertIn('a model or dataset of a pipeline has no effect on this machine', answer.err)

    def test_a_legacy_job_runs_once_it_is_translated(self):
        program = {'imageUri': testbed.executor(), 'containerCommand': ['python3'],
                   'containerArgs': ['-c', 'import os; print(os.environ["TF_CONFIG"])']}
        job = {'trainingInput': {'scaleTier': 'CUSTOM', 'region': 'us-central1',
                                 'masterType': 'n1-standard-4', 'masterConfig': program,
                                 'workerType': 'n1-standard-4', 'workerCount': 2, 'workerConfig': program}}
        folder = testbed.write_tree({'legacy.json': json.dumps(job)})
        translated = autopack('translate', 'census', '--config=legacy.json', cwd=folder, env=self.env).json()
        answer = self.submit(folder=folder, config=translated)
        (told,) = lines_of(answer, 'workerpool1-1')
        told = json.loads(told)
        self.assertEqual((told['task']['type'], told['task']['index']), ('worker', 1))
        self.assertEqual({role: len(hosts) for role, hosts in told['cluster'].items()}, {'chief': 1, 'worker': 2})

    def test_roles_of_tensorflow_and_a_pool_with_an_image_of_its_own(self):
        folder = testbed.example('cluster')
        server = container({}, 'python3', '/gcs/code/roles.py')
        answer = self.submit(self.packaged('roles.py'), '--worker-pool-spec=machine-type=n1-standard-4,replica-count=2',
                             f'--gcs=code={folder}', folder=folder, config={'workerPoolSpecs': [{}, {}, server]})
        self.assertIn('sum of 2 workers: 3.0', lines_of(answer, 'workerpool0-0'))
        self.assertIn("ps 0 of ['chief', 'ps', 'worker']", lines_of(answer, 'workerpool2-0'))

    def test_each_replica_is_told_what_vertex_tells_it(self):
        (self.home / 'data').mkdir()
        show = [container({'replicaCount': count}, 'python3', '-c', SHOW,
                          env=[{'name': 'WHO', 'value': f'{pool}-$(RANK)'}])
                for pool, count in (('first', 1), ('second', 2))]
        answer = self.submit(config={'workerPoolSpecs': [show[0], {}, show[1]]})
        told = json.loads(lines_of(answer, 'workerpool0-0')[0])
        self.assertEqual(told, {'task': {'type': 'workerpool0', 'index': 0},
                                'pools': {'workerpool0': 1, 'workerpool2': 2}, 'role': 'chief',
                                'roles': ['chief', 'ps'], 'rank': '0', 'world': '3', 'who': 'first-0', 'host': True})

    def test_directories_stand_for_buckets_and_credentials_are_seen(self):
        data = testbed.write_tree({'words.txt': 'from the bucket\n'})
        gcloud = testbed.write_tree({'application_default_credentials.json': json.dumps(
            {'type': 'authorized_user', 'refresh_token': secret('1//local')})})
        self.env['CLOUDSDK_CONFIG'] = str(gcloud)
        program = ('import os\nprint(open("/gcs/data/words.txt").read(), end="")\n'
                   'place = os.environ["AIP_MODEL_DIR"]\nos.makedirs(place)\nopen(place + "weights", "w").write("1 2")\n'
                   'print(place, os.path.getsize(os.environ["GOOGLE_APPLICATION_CREDENTIALS"]) > 0)\n'
                   'print(open("/sys/fs/cgroup/memory/memory.limit_in_bytes").read()'
                   ' if os.path.exists("/sys/fs/cgroup/memory") else 268435456)\n')
        answer = self.submit(f'--gcs=data={data}', '--replica-memory=256m', '--replica-cpus=0.5', config={
            'workerPoolSpecs': [container({}, 'python3', '-c', program)],
            'baseOutputDirectory': {'outputUriPrefix': 'gs://models/run'}})
        self.assertIn('from the bucket\n/gcs/models/run/model/ True\n268435456\n', answer.err)
        output = self.home / 'cache' / 'autopack' / 'jobs' / answer.out.strip().split('/')[1] / 'output'
        self.assertEqual((output / 'model' / 'weights').read_text(), '1 2')

    def test_packages_run_in_their_executor_image(self):
        house = testbed.new_folder('bucket')
        testbed.make_wheel('packed', '1.0', 'print("packed ran")\n', house)
        wheel = next(house.glob('*.whl')).name
        pool = {'machineSpec': {'machineType': 'n1-standard-4'}, 'pythonPackageSpec': {
            'executorImageUri': testbed.executor(), 'packageUris': [f'gs://b/{wheel}'], 'pythonModule': 'packed'}}
        answer = self.submit(config={'workerPoolSpecs': [pool]}, status=2)
        self.assertIn('--gcs=b=DIRECTORY', answer.err)
        answer = self.submit(f'--gcs=b={house}', config={'workerPoolSpecs': [pool]})
        self.assertIn('packed ran\n', answer.err)

    def test_a_failing_worker_fails_the_job_with_its_status(self):
        answer = self.submit(status=7, config={'workerPoolSpecs': [
            container({}, 'sleep', '60'), container({}, 'python3', '-c', 'raise SystemExit(7)')]})
        told = 'The replica workerpool1-0 exited with a non-zero status of 7. Termination reason: Error.'
        self.assertIn(told, answer.err)
        job = self.describe(answer.out.strip())
        self.assertEqual((job['state'], job['error']), ('JOB_STATE_FAILED', {'code': 3, 'message': told}))

    def test_a_lost_worker_is_started_again_and_the_job_succeeds(self):
        # The primary replica ends when it is released, so the job cannot end before the fault strikes.
        state = testbed.new_folder('state')
        wait = ('import os, time\nwhile not os.path.exists("/gcs/state/go"): time.sleep(0.05)\n'
                'print("was let go")\n')
        folder = testbed.write_tree({'job.json': json.dumps({'workerPoolSpecs': [
            container({}, 'python3', '-c', wait), container({}, 'sleep', '600')]})})
        process = testbed.Process('submit', '--submitter=local', '--display-name=lost', '--config=job.json',
                                  f'--gcs=state={state}', '--fail=workerpool1-0@0s', '--timeout=300s', cwd=folder, env=self.env)
        self.addCleanup(process.kill)
        said = []
        for line in process.stderr:
            said.append(line.decode())
            if 'is started again' in said[-1]:
                (state / 'go').touch()
        out, _ = process.communicate(timeout=60)
        err = ''.join(said)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn('`--fail`: workerpool1-0 is killed.', err)
        self.assertIn('workerpool1-0 exited with a non-zero status of 137. Termination reason: Error. '
                      'It is started again (1 of 5).', err)
        self.assertIn('workerpool0-0 | was let go', err)
        self.assertEqual(left(out.decode().strip()), '')

    def test_a_parameter_server_may_be_lost_at_any_time(self):
        answer = self.submit(self.packaged('roles.py'), '--worker-pool-spec=machine-type=n1-standard-4',
                             '--worker-pool-spec=machine-type=n1-standard-4', '--fail=workerpool2-0@0s',
                             folder=testbed.example('cluster'))
        self.assertIn('sum of 1 workers: 1.0', lines_of(answer, 'workerpool0-0'))

    def test_a_job_ends_at_its_timeout(self):
        answer = self.submit('--timeout=1s', status=1, config={'workerPoolSpecs': [container({}, 'sleep', '60')]})
        self.assertIn('DEADLINE_EXCEEDED: The job did not end within its timeout of 1 s.', answer.err)

    def test_a_detached_job_is_found_followed_and_cancelled(self):
        name = self.detached('import time\nfor i in range(600): print("step", i); time.sleep(0.1)')
        table = autopack('jobs', 'list', '--kind=local', '--state=running', env=self.env).out
        self.assertRegex(table, rf'{name} +local job +running ')
        cancelled = autopack('jobs', 'cancel', name, '--format=json', env=self.env).json()
        self.assertEqual(cancelled['state'], 'JOB_STATE_CANCELLED')
        self.assertEqual(left(name), '')
        waited = autopack('jobs', 'wait', name, env=self.env, status=1)
        self.assertIn('was cancelled', waited.err)
        log = autopack('jobs', 'stream-logs', name, '--task-name=workerpool0-0', env=self.env, status=1)
        self.assertRegex(log.out.split('\n')[0], r'^INFO\t[-0-9]+ [:0-9]+ \+0000\tworkerpool0-0\tstep 0$')
        self.assertIn('was cancelled', log.err)

    def test_a_detached_job_is_waited_for(self):
        name = self.detached('import time\ntime.sleep(1)\nprint("done")')
        answer = autopack('jobs', 'wait', name, '--format=json', env=self.env)
        self.assertEqual(answer.json()['state'], 'JOB_STATE_SUCCEEDED')
        self.assertIn(f'Succeeded  {name}', answer.err)

    def test_what_an_interruption_leaves_is_nothing(self):
        folder = testbed.write_tree({'job.json': json.dumps(
            {'workerPoolSpecs': [container({}, 'python3', '-uc', 'print("up")\nimport time\ntime.sleep(60)')]})})
        process = testbed.Process('submit', '--submitter=local', '--display-name=x', '--config=job.json', cwd=folder,
                                  env=self.env)
        name = process.stdout.readline().decode().strip()
        testbed.wait_until(lambda: self.describe(name)['state'] == 'JOB_STATE_RUNNING', 60, 'the job to run')
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(left(name), '')
        self.assertEqual(self.describe(name)['state'], 'JOB_STATE_CANCELLED')

    def read_until(self, process, wanted):
        line = ' '
        while line and wanted not in line:
            line = process.stderr.readline().decode()
        self.assertIn(wanted, line)

    def test_a_second_interruption_kills_the_program(self):
        slow = ('import signal, time\ndef end(*_):\n    print("end")\n    time.sleep(4)\n    print("saved")\n    raise SystemExit\n'
                'signal.signal(signal.SIGTERM, end)\nprint("up")\nwhile True: time.sleep(1)')
        folder = testbed.write_tree({'job.json': json.dumps({'workerPoolSpecs': [container({}, 'python3', '-uc', slow)]})})
        process = testbed.Process('submit', '--submitter=local', '--display-name=x', '--config=job.json', cwd=folder,
                                  env=self.env)
        name = process.stdout.readline().decode().strip()
        self.read_until(process, 'up')
        process.send_signal(signal.SIGINT)
        self.read_until(process, 'the program has 5 s to end; Ctrl-C again kills it')
        self.read_until(process, 'end')
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertNotIn('saved', autopack('jobs', 'logs', name, env=self.env, status=1).out)
        self.assertEqual(left(name), '')
        self.assertEqual(self.describe(name)['state'], 'JOB_STATE_CANCELLED')

    def test_what_a_killed_run_left_the_next_removes(self):
        folder = testbed.write_tree({'job.json': json.dumps({'workerPoolSpecs': [container({}, 'sleep', '60')]})})
        process = testbed.Process('submit', '--submitter=local', '--display-name=x', '--config=job.json', cwd=folder,
                                  env=self.env)
        name = process.stdout.readline().decode().strip()
        testbed.wait_until(lambda: self.describe(name)['state'] == 'JOB_STATE_RUNNING', 60, 'the job to run')
        process.kill()
        process.communicate(timeout=60)
        self.assertNotEqual(left(name), '')
        self.assertEqual(self.describe(name)['state'], 'JOB_STATE_FAILED')
        self.submit(config={'workerPoolSpecs': [container({}, 'true')]})
        self.assertEqual(left(name), '')

    def test_what_has_no_meaning_here_is_told_and_the_services_rules_come_first(self):
        pools = [container({}, 'true')]
        answer = self.submit('--network=projects/1/global/networks/n', config={'workerPoolSpecs': pools})
        self.assertIn('the job\'s network has no effect on this machine', answer.err)
        answer = self.submit(config={'workerPoolSpecs': [{**pools[0], 'replicaCount': 2}]}, status=2)
        self.assertIn('replica', answer.err)
        answer = self.submit('--max-replicas=1', config={'workerPoolSpecs': [*pools, *pools]}, status=2)
        self.assertIn('the job has 2 pools', answer.err)
        answer = self.submit('--fail=workerpool1-0@1s', config={'workerPoolSpecs': pools}, status=2)
        self.assertIn('the job has no replica `workerpool1-0`', answer.err)
        self.assertIn('did you mean `workerpool0-0`?', answer.err)


class LocalStudies(OnThisMachine):
    PROGRAM = ('import json, os, sys\nvalues = dict(zip(sys.argv[1::2], sys.argv[2::2]))\n'
               'path = os.environ["CLOUD_ML_HP_METRIC_FILE"]\nos.makedirs(os.path.dirname(path))\n'
               'loss = (int(values["--layers"]) - 2) ** 2 + len(values["--kind"])\n'
               'json.dump({"global_step": "1", "loss": str(loss), "timestamp": 1.5, '
               '"trial": os.environ["CLOUD_ML_TRIAL_ID"]}, open(path, "w"))\n')

    def tune(self, *flags, status=0):
        return self.submit('--parameter=layers:1..3', '--parameter=kind:a|bb', *flags, command='tune', status=status,
                           config={'workerPoolSpecs': [container({}, 'python3', '-c', self.PROGRAM)]})

    def test_a_grid_is_searched_and_the_best_trial_stands_first(self):
        answer = self.tune('--metric=loss:minimize', '--algorithm=grid-search', '--max-trial-count=10',
                           '--parallel-trial-count=2')
        table = [line.split() for line in answer.err.split('\n') if ' succeeded ' in line]
        self.assertEqual(len(table), 6, answer.err)
        self.assertEqual(table[0][1:], ['succeeded', 'loss=1', 'layers=2', 'kind=a'])
        job = self.describe(answer.out.strip())
        self.assertEqual(job['state'], 'JOB_STATE_SUCCEEDED')
        self.assertEqual({trial['state'] for trial in job['trials']}, {'SUCCEEDED'})

    def test_a_trial_that_reports_nothing_is_told(self):
        answer = self.tune('--metric=accuracy:maximize', '--max-trial-count=1', status=1)
        self.assertIn('The trial never reported the metric accuracy', answer.err)

    STEPS = ('import json, os, sys, time\nloss = sys.argv[2]\npath = os.environ["CLOUD_ML_HP_METRIC_FILE"]\n'
             'os.makedirs(os.path.dirname(path))\n'
             'json.dump({"global_step": "1", "loss": loss, "timestamp": time.time()}, open(path, "w"))\n'
             'print("reported", flush=True)\nif int(loss) >= 4: time.sleep(60)\n')

    def steps(self, *flags):
        return {'config': {'workerPoolSpecs': [container({}, 'python3', '-c', self.STEPS)]}, 'command': 'tune'}, [
            '--parameter=loss:1..4', '--metric=loss:minimize', '--algorithm=grid-search', '--max-trial-count=4', *flags]

    def test_a_trial_without_hope_is_stopped(self):
        job, flags = self.steps('--early-stopping=median')
        answer = self.submit(*flags, **job)
        self.assertRegex(answer.err, r'(?m)^4 +stopped +loss=4 +loss=4$')
        self.assertIn('trial4-service | Stopped early at step 1.\n', answer.err)
        trials = self.describe(answer.out.strip())['trials']
        self.assertEqual([trial['state'] for trial in trials], ['SUCCEEDED'] * 3 + ['STOPPING'])
        self.assertEqual(trials[3]['measurements'][0]['metrics'], [{'metricId': 'loss', 'value': 4.0}])

    def test_a_study_that_was_killed_goes_on_with_what_it_has(self):
        job, flags = self.steps()
        folder = testbed.write_tree({'job.json': json.dumps(job['config'])})
        process = testbed.Process('tune', '--submitter=local', '--display-name=x', '--config=job.json', *flags, cwd=folder,
                                  env=self.env)
        name = process.stdout.readline().decode().strip()
        testbed.wait_until(lambda: len(self.describe(name).get('trials', [])) == 4, 60, 'the last trial to run')
        fourth = name.replace('/', '-') + '-4-'
        testbed.wait_until(lambda: docker('ps', '-q', '--filter', f'name={fourth}'), 60, 'its container to run')
        refused = autopack('tune', f'--resume={name}', cwd=folder, env=self.env, status=2)
        self.assertIn(f'`{name}` still runs', refused.err)
        process.kill()
        process.communicate(timeout=60)
        before = self.describe(name)['trials']
        self.assertEqual([trial['state'] for trial in before], ['SUCCEEDED'] * 3 + ['ACTIVE'])
        # Trial 4 has become hopeless: it is stopped when it runs again.
        answer = autopack('tune', f'--resume={name}', '--early-stopping=median', cwd=folder, env=self.env)
        self.assertEqual(answer.out.strip(), name)
        self.assertNotIn('trial3', answer.err)
        self.assertRegex(answer.err, r'(?m)^4 +stopped +loss=4 +loss=4$')
        job = self.describe(name)
        self.assertEqual(job['state'], 'JOB_STATE_SUCCEEDED')
        self.assertEqual(job['trials'][:3], before[:3])
        self.assertEqual(left(name), '')
