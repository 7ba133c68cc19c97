"""Jobs reach the API stand-in with the pushed digest, and the job's name is reported whatever happens afterwards."""

import json
import unittest

import testbed
from secret_watch import secret
from testbed import autopack
from vertex_server import VertexServer


class Submit(unittest.TestCase):
    def setUp(self):
        self.api = VertexServer()
        self.addCleanup(self.api.close)
        token = testbed.write_tree({'token': secret('ya29.test')}) / 'token'
        self.env = testbed.index_environment(
            CLOUDSDK_CORE_PROJECT='test-project', CLOUDSDK_AI_REGION='us-central1',
            CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=token, CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=self.api.url)
        self.folder = testbed.example('several-pools')
        self.target = testbed.image_name('job')
        self.flags = [
            '--display-name=pools', '--config=job.yaml',
            f'--worker-pool-spec=machine-type=n1-standard-8,executor-image-uri={testbed.executor()},'
            f'local-package-path=.,script=trainer/task.py,output-image-uri={self.target}:v1',
            '--worker-pool-spec=machine-type=n1-standard-4,replica-count=3']

    def test_a_packaged_job_carries_the_pushed_digest_in_every_pool(self):
        answer = autopack('submit', *self.flags, '--format=json', cwd=self.folder, env=self.env)
        result = answer.json()
        reference = f'{self.target}@{result["image"]["digest"]}'
        self.assertEqual(result['image']['uri'], reference)
        self.assertEqual(len(self.api.requests), 1)
        request = self.api.requests[0]
        self.assertEqual(request['method'], 'POST')
        self.assertEqual(request['path'].split('?')[0], '/v1/projects/test-project/locations/us-central1/customJobs')
        pools = request['body']['jobSpec']['workerPoolSpecs']
        self.assertEqual([pool['containerSpec']['imageUri'] for pool in pools], [reference, reference])
        self.assertEqual([pool['replicaCount'] for pool in pools], ['1', '3'])
        self.assertEqual(pools[0]['diskSpec']['bootDiskSizeGb'], 200)
        self.assertEqual(pools[1]['containerSpec']['env'], [{'name': 'LEARNING_RATE', 'value': '0.1'}])
        self.assertEqual(request['body']['jobSpec']['scheduling'], {'timeout': '7200s'})
        self.assertIn('replica workerpool0/0', testbed.run_image(reference))

    def test_the_name_is_the_only_line_of_stdout(self):
        answer = autopack('submit', *self.flags, cwd=self.folder, env=self.env)
        self.assertRegex(answer.out, r'^projects/[^/]+/locations/us-central1/customJobs/\d+\n$')

    def test_without_credentials_nothing_is_built(self):
        home = testbed.new_folder('home')
        env = {**self.env, 'HOME': str(home), 'CLOUDSDK_CONFIG': str(home / 'gcloud')}
        del env['CLOUDSDK_AUTH_ACCESS_TOKEN_FILE']
        answer = autopack('submit', *self.flags, cwd=self.folder, env=env, status=1)
        self.assertIn('no Google credentials', answer.err)
        self.assertEqual(answer.out, '')
        self.assertEqual(testbed.images(self.target), [])
        self.assertEqual(self.api.requests, [])

    def test_a_dry_run_prints_the_request_and_sends_nothing(self):
        answer = autopack('submit', *self.flags, '--dry-run', cwd=self.folder, env=self.env)
        request = answer.json()['request']
        self.assertEqual(request['method'], 'POST')
        pools = request['body']['jobSpec']['workerPoolSpecs']
        self.assertEqual([pool['containerSpec']['imageUri'] for pool in pools], [f'{self.target}:v1'] * 2)
        self.assertEqual(self.api.requests, [])
        self.assertEqual(testbed.images(self.target), [])

    def test_a_tuning_job_and_pipelines_are_packaged_and_created_too(self):
        study = ['--metric=loss:minimize', '--parameter=rate:double:1e-3..1:log']
        for command, flags, collection, way in (
                ('tune', study, 'hyperparameterTuningJobs', ['trialJobSpec']),
                ('submit', ['--as=training-pipeline'], 'trainingPipelines', ['trainingTaskInputs']),
                ('tune', [*study, '--as=training-pipeline'], 'trainingPipelines',
                 ['trainingTaskInputs', 'trialJobSpec'])):
            with self.subTest(command=command, flags=flags):
                answer = autopack(command, *self.flags, *flags, cwd=self.folder, env=self.env)
                self.assertRegex(answer.out, rf'^projects/[^/]+/locations/us-central1/{collection}/\d+\n$')
                spec = self.api.requests[-1]['body']
                for key in way:
                    spec = spec[key]
                images = {pool['containerSpec']['imageUri'] for pool in spec['workerPoolSpecs']}
                self.assertRegex(images.pop(), f'^{self.target}@sha256:')
                self.assertFalse(images)
                self.assertEqual('cloudml-hypertune' in answer.err, command == 'tune')

    def test_a_ready_image_is_sent_as_typed(self):
        autopack('submit', '--display-name=ready',
                 '--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:v1',
                 cwd=self.folder, env=self.env)
        body = self.api.requests[0]['body']
        self.assertEqual(body['jobSpec']['workerPoolSpecs'][0]['containerSpec'], {'imageUri': 'gcr.io/p/i:v1'})

    def test_flags_of_the_only_pool_and_arguments(self):
        folder = testbed.write_tree({'train.py': 'import sys\nif __name__ == "__main__":\n    print("ran", sys.argv[1:])\n'})
        answer = autopack('submit', f'--executor-image-uri={testbed.executor()}', f'--output-image-uri={self.target}:v2',
                          '--accelerator-type=NVIDIA_TESLA_T4', '--boot-disk-size=200', '--env=A=1', '--', '--epochs', '2,3',
                          cwd=folder, env=self.env)
        pool = self.api.requests[-1]['body']['jobSpec']['workerPoolSpecs'][0]
        reference = pool['containerSpec']['imageUri']
        self.assertRegex(reference, f'^{self.target}@sha256:')
        self.assertEqual(pool['machineSpec'], {'machineType': 'n1-standard-8', 'acceleratorType': 'NVIDIA_TESLA_T4',
                                               'acceleratorCount': 1})
        self.assertEqual(pool['containerSpec']['args'], ['--epochs', '2,3'])
        self.assertEqual(pool['diskSpec'], {'bootDiskSizeGb': 200})
        self.assertIn("ran ['--epochs', '2,3']", testbed.run_image(reference, '--epochs', '2,3'))
        for part in ('script `train.py`', 'machine `n1-standard-8`', f'display name `{folder.name}`', 'region `us-central1`'):
            self.assertIn(f'  Inferred  {part}', answer.err)

    def test_without_a_submitter_it_stops_after_the_push(self):
        answer = autopack('submit', *self.flags, '--submitter=none', '--format=json', cwd=self.folder, env=self.env)
        self.assertTrue(json.loads(answer.out)['image']['uri'].startswith(f'{self.target}@sha256:'))
        self.assertEqual(self.api.requests, [])
