"""Late failures of the service are found before anything is built, and failed checks stop nobody."""

import hashlib
import json
import unittest
import urllib.request

import testbed
from artifact_registry import ArtifactRegistry, make_certificates
from google_services import NUMBER, TOKEN, GoogleServices, agent, error, policy
from secret_watch import secret
from testbed import autopack
from vertex_server import VertexServer

PASSWORD = secret('docker-password')
SECRET = secret('client-secret')
REPOSITORY = 'projects/test-project/locations/us-central1/repositories/autopack'
ACCOUNT = 'robot@test-project.iam.gserviceaccount.com'
NETWORK = f'projects/{NUMBER}/global/networks/net'
BOARD = 'projects/test-project/locations/us-central1/tensorboards/7'
RESOURCE = 'projects/test-project/locations/us-central1/persistentResources/mine'
IMAGE = 'us-central1-docker.pkg.dev/test-project/r/i:v1'
INDEX, MANIFEST = 'application/vnd.oci.image.index.v1+json', 'application/vnd.oci.image.manifest.v1+json'
STUDY = ['--metric=loss:minimize', '--parameter=rate:double:1e-3..1:log']
GPU = 'accelerator-type=NVIDIA_TESLA_T4,accelerator-count=1,'


def pool(image=IMAGE, extra=''):
    return f'--worker-pool-spec=machine-type=n1-standard-4,{extra}container-image-uri={image}'


class Asking(unittest.TestCase):
    """A user with all permissions, and services that can be made to refuse."""

    def setUp(self):
        self.google = GoogleServices()
        self.addCleanup(self.google.close)
        self.facts = self.google.facts
        content = {'type': 'authorized_user', 'client_id': 'id', 'client_secret': SECRET, 'refresh_token': SECRET}
        logins = {'auths': {'us-central1-docker.pkg.dev': {'username': 'me', 'password': PASSWORD}}}
        self.folder = testbed.write_tree({'adc.json': json.dumps(content), 'docker/config.json': json.dumps(logins)})
        self.variables = {
            'CLOUDSDK_CORE_PROJECT': 'test-project', 'CLOUDSDK_AI_REGION': 'us-central1',
            'DOCKER_CONFIG': str(self.folder / 'docker'), 'CLOUDSDK_AUTH_TOKEN_HOST': f'{self.google.url}token',
            'GOOGLE_APPLICATION_CREDENTIALS': str(self.folder / 'adc.json'), **self.google.variables()}

    def call(self, *arguments, status, timeout=300, **variables):
        return autopack(*arguments, '-vv', status=status, timeout=timeout, env=testbed.environment(**self.variables | variables))

    def doctor(self, *flags, status=0, **variables):
        result = self.call('doctor', '--format=json', '--display-name=job', *flags, status=status, **variables).json()
        self.assertEqual(result['errors'], sum(finding['outcome'] == 'error' for finding in result['findings']))
        return result

    def finding(self, check, outcome, *flags, remedy='', **variables):
        """Doctor reports this, and ends with 1 if it is an error."""
        result = self.doctor(*flags, status=1 if outcome == 'error' else 0, **variables)
        found = [finding for finding in result['findings'] if finding['check'] == check]
        self.assertIn(outcome, [finding['outcome'] for finding in found], json.dumps(result, indent=1))
        finding = next(finding for finding in found if finding['outcome'] == outcome)
        self.assertIn(remedy, '\n'.join(finding['remedies']))
        if outcome in ('warning', 'error') and check != 'job':
            self.assertTrue(finding['what'] and finding['why'] and finding['remedies'], finding)
        return finding


class Doctor(Asking):
    def test_with_everything_right(self):
        testbed.engine()
        answer = self.call('doctor', status=0)
        self.assertIn('0 errors, 0 warnings, 0 not known', answer.out)
        for words in ('project `test-project`', 'region `us-central1`', 'CLOUDSDK_AI_REGION', 'Docker Engine',
                      'user `me`', 'Google credentials', 'aiplatform.googleapis.com', 'will be made'):
            self.assertIn(words, answer.out.replace('\n         ', ' '))
        self.assertNotIn('\x1b', answer.out)
        self.assertLessEqual(max(map(len, answer.out.splitlines())), 80)
        self.assertEqual({finding['outcome'] for finding in self.doctor()['findings']}, {'ok'})

    def test_colour_is_a_matter_of_the_flag(self):
        answer = self.call('doctor', '--color=always', status=0, NO_COLOR=None)
        self.assertIn('\x1b[1;32mok', answer.out)

    def test_without_an_engine(self):
        finding = self.finding('engine', 'error', DOCKER_HOST='unix:///nowhere/engine.sock', remedy='DOCKER_HOST')
        self.assertIn('cannot reach the Docker Engine at `unix:///nowhere/engine.sock`', finding['what'])

    def test_without_credentials(self):
        home = testbed.new_folder('home')
        gone = {'GOOGLE_APPLICATION_CREDENTIALS': None, 'HOME': str(home), 'CLOUDSDK_CONFIG': str(home),
                'NO_GCE_CHECK': 'true'}
        finding = self.finding('credentials', 'error', remedy='gcloud auth application-default login', **gone)
        self.assertIn('no Google credentials', finding['what'])
        result = self.doctor(status=1, **gone)
        self.assertEqual(result['errors'], 1)
        self.assertGreater(result['unknown'], 3)

    def test_without_project_and_region(self):
        gone = {'CLOUDSDK_CORE_PROJECT': None, 'CLOUDSDK_AI_REGION': None}
        self.finding('project-setting', 'error', remedy='gcloud config set project', **gone)
        self.finding('region-setting', 'error', remedy='gcloud config set ai/region', **gone)

    def test_a_login_that_has_ended(self):
        self.google.answer('^/token', 400, {'error': 'invalid_grant', 'error_subtype': 'invalid_rapt'})
        self.finding('credentials', 'error', remedy='gcloud auth application-default login')

    def program(self, name):
        """Returns a folder for PATH whose program of that name never ends."""
        folder = testbed.write_tree({name: '#!/bin/sh\nexec sleep 600\n'})
        (folder / name).chmod(0o755)
        return folder

    def test_programs_that_never_end_are_unknown(self):
        helper = self.program('docker-credential-slow')
        (self.folder / 'docker/config.json').write_text(json.dumps({'credsStore': 'slow'}))
        path = testbed.environment()['PATH']
        project = testbed.write_tree({'train.py': 'print(1)\n'})
        packaged = ('--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri=python:3,script=train.py,'
                    f'local-package-path={project},output-image-uri=registry.example/team/i')
        for variables in ({'PATH': f'{helper}:{path}'},
                          {'PATH': f'{self.program("gcloud")}:{path}', 'AUTOPACK_ACCOUNT': 'me@example.org',
                           'DOCKER_CONFIG': str(testbed.new_folder())}):
            with self.subTest(list(variables)):
                result = self.call('doctor', '--format=json', '--display-name=job', packaged, status=None, timeout=60,
                                   **variables).json()
                self.assertIn('no answer within 2 s', [finding['why'] for finding in result['findings']])

    def test_a_token_that_is_not_renewed(self):
        (self.folder / 'token').write_text(TOKEN)
        self.finding('credentials', 'warning', CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=str(self.folder / 'token'))

    def test_no_login_for_the_registry(self):
        folder = testbed.write_tree({'train.py': 'print(1)\n'})
        packaged = ('--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri=python:3,script=train.py,'
                    f'local-package-path={folder},output-image-uri=registry.example/team/i')
        self.finding('registry-source', 'warning', packaged, remedy='docker login registry.example')

    def test_under_sudo_and_behind_a_proxy(self):
        self.finding('sudo', 'warning', SUDO_USER='me', remedy='usermod -aG docker me')
        proxied = {'HTTPS_PROXY': f'http://{PASSWORD}:x@127.0.0.1:1', 'NO_PROXY': '127.0.0.1'}
        self.finding('proxy', 'warning', **proxied)

    def test_a_job_that_cannot_be(self):
        finding = self.finding('job', 'error', pool(extra='replica-count=2,'))
        self.assertIn('replica', finding['what'])
        self.finding('job', 'error', '--config=gone.yaml')
        self.finding('image-name', 'error', pool('us-central1-docker.pkg.dev/test-project/r'))
        self.finding('command', 'warning', pool(), '--command=trainer.task', remedy='--command=python3,-m')

    def test_services_that_say_no(self):
        """Each finding of a request, and the check's other result if everything is right."""
        self.finding('quota', 'ok', pool(extra=GPU))
        self.facts['quotas']['custom_model_training_nvidia_t4_gpus'] = {'us-central1': 0, 'us-east1': 4}
        self.finding('quota', 'error', pool(extra=GPU), remedy='--region=us-east1')
        self.facts['services']['aiplatform.googleapis.com'] = 'DISABLED'
        self.finding('api', 'error', remedy='gcloud services enable aiplatform.googleapis.com')
        self.facts['permissions'].clear()
        self.finding('permission', 'error', remedy='roles/aiplatform.user')
        self.finding('repository', 'error', remedy='roles/artifactregistry.admin')
        self.facts['repositories'][REPOSITORY] = {'format': 'DOCKER'}
        self.finding('upload-permission', 'error', remedy='roles/artifactregistry.writer')
        self.facts['repositories'][REPOSITORY] = {'format': 'MAVEN'}
        self.finding('repository', 'error', remedy='--repository-format=docker')
        self.facts['projects']['test-project']['lifecycleState'] = 'DELETE_REQUESTED'
        self.finding('project', 'error', remedy='gcloud projects list')
        self.facts['projects'].clear()
        self.finding('project', 'error', remedy='gcloud projects list')

    def test_what_the_job_names(self):
        account = [pool(), f'--service-account={ACCOUNT}']
        self.finding('service-account', 'error', *account, remedy='gcloud iam service-accounts list')
        self.facts['accounts'][ACCOUNT] = {'projectId': 'test-project'}
        self.finding('logs', 'warning', *account, remedy='roles/logging.logWriter')
        self.facts['policies']['projects/test-project'] = policy('roles/logging.logWriter', f'serviceAccount:{ACCOUNT}')
        self.finding('logs', 'ok', *account)
        self.finding('act-as', 'ok', *account)
        self.facts['permissions'].discard('iam.serviceAccounts.actAs')
        self.finding('act-as', 'error', *account, remedy='roles/iam.serviceAccountUser')

        bucket = [pool(), '--base-output-dir=gs://out/x']
        self.finding('bucket', 'error', *bucket, remedy='gcloud storage buckets create gs://out')
        self.facts['buckets']['out'] = {'projectNumber': NUMBER, 'location': 'EUROPE-WEST4', 'locationType': 'region'}
        self.finding('bucket-location', 'warning', *bucket, remedy='--region=europe-west4')
        self.facts['buckets']['out'] = {'projectNumber': '9'}
        self.finding('bucket', 'warning', *bucket, remedy='roles/storage.objectUser')
        self.facts['policies']['out'] = policy('roles/storage.objectUser', agent())
        self.finding('bucket', 'ok', *bucket)

        network = [pool(), f'--network={NETWORK}']
        self.finding('network', 'error', *network, remedy='gcloud compute networks list')
        self.facts['networks'][NETWORK] = {'name': 'net'}
        self.finding('network', 'error', *network, remedy='vpc-peerings connect')

        board = [pool(), f'--service-account={ACCOUNT}', f'--tensorboard={BOARD}']
        self.finding('tensorboard', 'error', *board, remedy='gcloud ai tensorboards list')
        resource = [pool(), '--persistent-resource-id=mine']
        self.finding('persistent-resource', 'error', *resource, remedy='gcloud ai persistent-resources list')
        self.facts['resources'][RESOURCE] = {'state': 'RUNNING',
                                             'resourcePools': [{'machineSpec': {'machineType': 'n1-standard-4'}}]}
        self.finding('persistent-resource', 'ok', *resource)

        foreign = pool('us-docker.pkg.dev/other/r/i:v1')
        self.finding('image-reader', 'warning', foreign, remedy=agent())
        self.facts['policies']['projects/other/locations/us/repositories/r'] = policy(
            'roles/artifactregistry.reader', agent())
        self.finding('image-reader', 'ok', foreign)

    def test_images_in_a_registry(self):
        gone = testbed.image_name('gone')
        self.finding('image', 'error', pool(f'{gone}:v1'))
        there = testbed.image_name('there')
        testbed.docker('tag', testbed.executor(), f'{there}:v1')
        testbed.docker('push', '--quiet', f'{there}:v1')
        self.finding('image', 'ok', pool(f'{there}:v1'))

    def test_a_service_that_is_off_or_a_consumer_that_is_none(self):
        self.google.answer('/repositories/', 403, error(403, 'It is disabled.', 'SERVICE_DISABLED'))
        self.finding('api', 'error', remedy='gcloud services enable artifactregistry.googleapis.com')
        self.google.answer('^/v1/projects/[^/]+$', 403, error(403, 'Not valid.', 'CONSUMER_INVALID'))
        self.finding('project', 'error', remedy='gcloud projects describe test-project')

    def test_bad_answers_are_unknown(self):
        bad = {
            'no JSON': (200, b'<html>'), 'nothing': (200, b''), 'a list': (200, b'[]'), 'a number': (200, b'7'),
            'null': (200, b'null'), 'half a document': (200, b'{"services": ['), 'not UTF-8': (200, b'{"a": "\xff"}'),
            'a page of a proxy': (502, b'<html>bad gateway</html>'), 'no words': (500, b''), 'busy': (503, b'{}'),
            'refused': (403, b'{"error": "no"}'), 'an error that is a list': (400, b'{"error": [1]}'),
            'a redirect': (302, b''), 'too many': (429, b'{}'), 'control characters': (418, b'{"error": {"message": "\\u001b[2J"}}'),
            'unauthenticated': (401, b'{}')}
        for name, (status, body) in bad.items():
            with self.subTest(name):
                self.google._answers.clear()
                self.google.answer('^/v1|^/storage|^/compute', status, body)
                result = self.doctor(pool(extra=GPU), '--base-output-dir=gs://out/x', f'--network={NETWORK}')
                self.assertGreaterEqual(result['unknown'], 5)
                self.assertNotIn('\x1b', json.dumps(result, ensure_ascii=False))

    def test_answers_of_wrong_types_are_unknown_or_judged(self):
        strange = {'services': 'x', 'permissions': {'a': 1}, 'bindings': 7, 'consumerQuotaLimits': [[], {'quotaBuckets': 3}],
                   'projectNumber': [], 'lifecycleState': 4, 'peerings': {}, 'location': 1, 'dockerConfig': [],
                   'format': {}, 'state': [], 'resourcePools': 'p'}
        self.google.answer('^/v1|^/storage|^/compute', 200, strange)
        result = self.doctor(pool(extra=GPU), '--base-output-dir=gs://out/x', f'--network={NETWORK}',
                             f'--service-account={ACCOUNT}', '--persistent-resource-id=mine', status=None)
        self.assertGreaterEqual(result['unknown'], 1)


class Tags(Asking):
    """Immutable tags, at a stand-in for Artifact Registry."""

    @classmethod
    def setUpClass(cls):
        cls.certificates = make_certificates(testbed.new_folder('certificates'), ['us-central1-docker.pkg.dev'])

    def setUp(self):
        super().setUp()
        self.registry = ArtifactRegistry(self.certificates)
        self.addCleanup(self.registry.server_close)
        self.addCleanup(self.registry.shutdown)
        self.registry.repositories.add('test-project/team')
        self.registry.access_tokens = {TOKEN}
        self.facts['repositories']['projects/test-project/locations/us-central1/repositories/team'] = {
            'format': 'DOCKER', 'dockerConfig': {'immutableTags': True}}
        logins = {'auths': {'us-central1-docker.pkg.dev': {'username': 'oauth2accesstoken', 'password': TOKEN}}}
        (self.folder / 'docker/config.json').write_text(json.dumps(logins))
        self.variables |= self.registry.environment() | {'NO_PROXY': '127.0.0.1'}
        self.project = testbed.write_tree({'train.py': 'print(1)\n'})

    def packaged(self, tag):
        return (f'--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri={testbed.executor()},script=train.py,'
                f'local-package-path={self.project},output-image-uri=us-central1-docker.pkg.dev/test-project/team/app:{tag}')

    def test_a_taken_tag_that_never_moves_is_found_before_the_build(self):
        self.finding('tag', 'ok', self.packaged('v1'))
        self.registry.manifests[('test-project/team/app', 'v1')] = (MANIFEST, b'{}')
        finding = self.finding('tag', 'error', self.packaged('v1'), remedy='lets autopack choose a tag')
        self.assertIn('tag `v1` exists', finding['what'])
        self.finding('tag', 'ok', self.packaged('v2'))
        answer = self.call('submit', '--display-name=job', self.packaged('v1'), status=1)
        self.assertIn('tag `v1` exists', answer.err)
        self.assertNotIn('POST', [request.split()[0] for request in self.registry.requests])
        self.facts['repositories']['projects/test-project/locations/us-central1/repositories/team']['dockerConfig'] = {}
        self.assertNotIn('tag', [finding['check'] for finding in self.doctor(self.packaged('v1'))['findings']])


class Images(Asking):
    """Facts in the configuration of an image in a registry."""

    def pushed(self, **configuration):
        """Returns the name of an image without layers, with this configuration."""
        name = testbed.image_name('made')
        host, _, path = name.partition('/')
        text = json.dumps({'os': 'linux', 'architecture': 'amd64', 'rootfs': {'type': 'layers', 'diff_ids': []}} | configuration)
        digest = 'sha256:' + hashlib.sha256(text.encode()).hexdigest()
        begun = self.put(f'http://{host}/v2/{path}/blobs/uploads/', b'', 'POST')
        self.put(f'{begun}{"&" if "?" in begun else "?"}digest={digest}', text.encode(), 'PUT')
        manifest = {'schemaVersion': 2, 'mediaType': MANIFEST, 'layers': [], 'config': {
            'mediaType': 'application/vnd.oci.image.config.v1+json', 'digest': digest, 'size': len(text)}}
        self.put(f'http://{host}/v2/{path}/manifests/v1', json.dumps(manifest).encode(), 'PUT')
        return f'{name}:v1'

    @staticmethod
    def put(url, body, method, kind=MANIFEST):
        request = urllib.request.Request(url, body, {'Content-Type': kind}, method=method)
        with urllib.request.urlopen(request) as answer:
            return answer.headers.get('Location')

    def refused(self, check, *flags, status=1):
        """Doctor finds an error of `check`, and `submit` sends nothing because of it; returns the output."""
        finding = self.finding(check, 'error', *flags)
        with VertexServer() as vertex:
            answer = self.call('submit', '--display-name=job', *flags, status=status,
                               CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=vertex.url)
            self.assertIn(finding['what'], answer.err.replace('\n', ' '))
            self.assertEqual(vertex.requests, [])
        return finding

    def test_an_image_for_another_processor(self):
        image = self.pushed(architecture='arm64')
        finding = self.refused('architecture', pool(image))
        self.assertIn('arm64', finding['what'] + finding['why'])
        self.finding('image', 'ok', pool(self.pushed()))
        self.finding('image', 'ok', '--worker-pool-spec=machine-type=a4x-highgpu-4g,accelerator-type=NVIDIA_GB200,'
                     f'accelerator-count=4,container-image-uri={image}')

    def indexed(self, *platforms):
        """Returns the name of an image index with these platforms."""
        image = self.pushed(architecture='arm64')
        host, _, path = image.removesuffix(':v1').partition('/')
        with urllib.request.urlopen(urllib.request.Request(f'http://{host}/v2/{path}/manifests/v1',
                                                           headers={'Accept': MANIFEST})) as answer:
            text = answer.read()
        entry = {'mediaType': MANIFEST, 'digest': 'sha256:' + hashlib.sha256(text).hexdigest(), 'size': len(text)}
        named = [dict(zip(('os', 'architecture'), platform.split('/'))) for platform in platforms]
        index = {'schemaVersion': 2, 'mediaType': INDEX, 'manifests': [entry | {'platform': one} for one in named]}
        self.put(f'http://{host}/v2/{path}/manifests/all', json.dumps(index).encode(), 'PUT', INDEX)
        return f'{host}/{path}:all'

    def test_an_index_without_an_image_for_the_machines(self):
        image = self.indexed('linux/arm64', 'linux/s390x', 'unknown/unknown')
        packages = (f'--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri={image},python-module=trainer.task',
                    '--python-package-uris=gs://out/trainer.tar.gz')
        for flags in ([pool(image)], packages):
            finding = self.refused('architecture', *flags)
            self.assertIn(f'`{image}` has no image for `linux/amd64`', finding['what'])
            self.assertIn('it has `linux/arm64`, `linux/s390x`', finding['why'])
            self.assertIn('--platform=linux/amd64', ' '.join(finding['remedies']))
        self.finding('image', 'ok', pool(self.indexed('linux/arm64', 'linux/amd64')))

    def test_a_cuda_that_is_too_old_for_the_accelerator(self):
        a100 = '--worker-pool-spec=machine-type=a2-highgpu-1g,accelerator-type=NVIDIA_TESLA_A100,accelerator-count=1,'
        old = self.pushed(config={'Env': ['CUDA_VERSION=10.2.89']})
        finding = self.refused('cuda', f'{a100}container-image-uri={old}')
        self.assertIn('has CUDA 10.2.89, and `NVIDIA_TESLA_A100` needs 11', finding['what'])
        self.finding('image', 'ok', pool(old, extra=GPU))
        new = self.pushed(config={'Env': ['CUDA_VERSION=11.8.0']})
        self.finding('image', 'ok', f'{a100}container-image-uri={new}')
        project = testbed.write_tree({'train.py': 'print(1)\n'})
        self.refused('cuda', f'{a100}executor-image-uri={old},script=train.py,local-package-path={project},'
                     f'output-image-uri={testbed.image_name("cuda")}')


class Kinds(Asking):
    """`tune` and training pipelines are checked like custom jobs."""

    def setUp(self):
        super().setUp()
        self.vertex = VertexServer()
        self.addCleanup(self.vertex.close)
        self.variables['CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM'] = self.vertex.url

    def refused(self, words, *arguments, status=1):
        answer = self.call(*arguments, status=status)
        self.assertIn(words, answer.err)
        self.assertEqual((answer.out, self.vertex.requests), ('', []))

    def sent(self, collection, *arguments):
        self.call(*arguments, status=0)
        self.assertTrue(self.vertex.requests.pop()['path'].split('?')[0].endswith(collection))

    def test_each_kind_needs_its_own_permission(self):
        kinds = {'customJobs': ['submit', pool()], 'hyperparameterTuningJobs': ['tune', pool(), *STUDY],
                 'trainingPipelines': ['submit', '--as=training-pipeline', pool()]}
        for collection, arguments in kinds.items():
            with self.subTest(collection):
                arguments = [*arguments, '--display-name=job']
                self.facts['permissions'].discard(f'aiplatform.{collection}.create')
                self.refused('you may not create jobs', *arguments)
                self.facts['permissions'].add(f'aiplatform.{collection}.create')
                others = {name for name in kinds if name != collection}
                self.facts['permissions'] -= {f'aiplatform.{name}.create' for name in others}
                self.sent(collection, *arguments)
                self.facts['permissions'] |= {f'aiplatform.{name}.create' for name in others}

    def test_parallel_trials_take_quota_each(self):
        self.facts['quotas']['custom_model_training_nvidia_t4_gpus'] = {'': 3}
        tune = ['tune', '--display-name=job', pool(extra=GPU), *STUDY, '--max-trial-count=8']
        self.sent('hyperparameterTuningJobs', *tune, '--parallel-trial-count=3')
        self.refused('and the job needs 4', *tune, '--parallel-trial-count=4')
        self.refused('and the job needs 4', *tune, '--parallel-trial-count=4', '--as=training-pipeline')

    def test_what_the_trial_job_names_is_looked_for(self):
        for arguments in (['tune', *STUDY], ['submit', '--as=training-pipeline'], ['tune', *STUDY, '--as=training-pipeline']):
            with self.subTest(arguments):
                self.refused('there is no bucket `gone`', *arguments, '--display-name=job', pool(), '--base-output-dir=gs://gone/x')
                self.refused(f'service account `{ACCOUNT}`', *arguments, '--display-name=job', pool(),
                             f'--service-account={ACCOUNT}')


class Submit(Asking):
    """The same before `submit` builds and sends."""

    def setUp(self):
        super().setUp()
        self.vertex = VertexServer()
        self.addCleanup(self.vertex.close)
        self.variables['CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM'] = self.vertex.url

    def submit(self, *flags, status, **variables):
        return self.call('submit', '--display-name=job', *flags, status=status, **variables)

    def jobs(self):
        return [request for request in self.vertex.requests
                if request['method'] == 'POST' and request['path'].split('?')[0].endswith('/customJobs')]

    def test_all_findings_are_told_before_anything_is_sent(self):
        self.facts['quotas']['custom_model_training_nvidia_t4_gpus'] = {'': 0}
        self.facts['permissions'].clear()
        self.facts['services']['logging.googleapis.com'] = 'DISABLED'
        answer = self.submit(pool(extra=GPU), '--base-output-dir=gs://gone/x', status=1)
        for words in ('you may not create jobs', 'nvidia_t4_gpus` in `us-central1` is 0', 'there is no bucket `gone`',
                      '3 errors', 'warning: the API `logging.googleapis.com` is off'):
            self.assertIn(words, answer.err)
        self.assertEqual(answer.out, '')
        self.assertEqual(self.jobs(), [])

    def test_a_rule_and_a_service_together_are_invalid_input(self):
        self.facts['permissions'].clear()
        answer = self.submit(pool('us-central1-docker.pkg.dev/test-project/r'), status=2)
        self.assertIn('is not the name of an image', answer.err)
        self.assertIn('you may not create jobs', answer.err)

    def test_checks_can_be_skipped(self):
        self.facts['permissions'].clear()
        self.submit(pool(), '--skip-checks', status=0)
        self.assertEqual(self.google.requests.count(('POST', '/v1/projects/test-project:testIamPermissions')), 0)
        self.assertEqual(len(self.jobs()), 1)

    def test_a_dry_run_asks_nobody(self):
        self.submit(pool(), '--dry-run', status=0)
        self.assertEqual(self.google.requests, [])

    def test_services_that_never_answer_stop_nothing(self):
        self.google.answer('^/v1|^/storage', how='hang')
        answer = self.submit(pool(extra=GPU), '--base-output-dir=gs://out/x', status=0)
        self.assertIn('no answer within 2 s', answer.err)
        self.assertEqual(len(self.jobs()), 1)

    def test_connections_that_break_stop_nothing(self):
        self.google.answer('^/v1|^/storage', how='drop')
        self.submit(pool(extra=GPU), '--base-output-dir=gs://out/x', status=0)
        self.assertEqual(len(self.jobs()), 1)

    def test_a_registry_that_takes_no_push_is_found_before_the_build(self):
        address = testbed.start_registry(login=('user', PASSWORD))
        folder = testbed.write_tree({'train.py': 'print(1)\n'})
        target = f'{address}/tests/closed'
        answer = self.submit(
            f'--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri={testbed.executor()},'
            f'local-package-path={folder},script=train.py,output-image-uri={target}', status=1)
        self.assertIn('does not accept a push with the current login', answer.err)
        self.assertIn(f'docker login {address}', answer.err)
        self.assertEqual(testbed.images(target), [])

    def test_warnings_go_on(self):
        answer = self.submit(pool(), '--command=trainer.task', status=0)
        self.assertIn('looks like a Python module', answer.err)
        self.assertEqual(len(self.jobs()), 1)
