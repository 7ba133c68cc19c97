"""Cloud Build builds what needs an engine: the stand-in gets the source in a bucket, and a real engine builds it there."""

import concurrent.futures
import json
import re
import signal
import unittest

import secret_watch
import testbed
from terminal import Terminal
from testbed import autopack
from vertex_server import VertexServer

BUCKET = 'test-project_cloudbuild'
NO_ENGINE = 'unix:///nowhere/docker.sock'
PROGRAM = 'import greeter\n\nprint(greeter.hello())\n'


def image_of(api):
    """Returns the image of the only job."""
    (entry,) = api.jobs.values()
    return entry['job']['jobSpec']['workerPoolSpecs'][0]['containerSpec']['imageUri']


class CloudBuild(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('executor:1')
        cls.cache = testbed.new_cache()

    def setUp(self):
        self.api, self.env = self.stand_in()
        self.cloud = self.api.cloud
        self.name = testbed.image_name('cloud')

    def stand_in(self):
        """Returns a stand-in and the environment of a machine without an engine that uses it."""
        api = VertexServer()
        self.addCleanup(api.close)
        api.cloud.docker = testbed.buildkit_command()
        token = testbed.write_tree({'token': secret_watch.secret('ya29.test')}) / 'token'
        return api, testbed.index_environment(
            DOCKER_HOST=NO_ENGINE, XDG_CACHE_HOME=self.cache, CLOUDSDK_CORE_PROJECT='test-project',
            CLOUDSDK_AI_REGION='us-central1', CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=token,
            **{f'CLOUDSDK_API_ENDPOINT_OVERRIDES_{name}': api.url
               for name in ('AIPLATFORM', 'LOGGING', 'CLOUDBUILD', 'STORAGE', 'ARTIFACTREGISTRY')})

    def folder(self, **files):
        return testbed.write_tree({'Dockerfile': f'FROM {self.base}\nCOPY task.py /task.py\nENTRYPOINT ["python3", "/task.py"]\n',
                                   'task.py': f'print("in the cloud {self.name}")\n', **files})

    def submit(self, *flags, status=0, folder=None, env=None, name=None):
        return autopack('submit', '--dockerfile=Dockerfile', f'--output-image-uri={name or self.name}:v1',
                        '--machine-type=n1-standard-4', *flags, cwd=folder or self.folder(), env=env or self.env,
                        status=status)

    def check_nothing_is_left(self, api=None):
        left = [name for _, name in (api or self.api).cloud.objects if not re.fullmatch(r'autopack/log-[\w-]+\.txt', name)]
        self.assertEqual(left, [])

    def check_one_of_each(self, api, answer, name):
        """One build and one job, whose image is the one that was built."""
        self.assertEqual((len(api.cloud.builds), len(api.jobs)), (1, 1), answer)
        build = list(api.cloud.builds.values())[0]
        image = image_of(api)
        self.assertEqual(image, f'{name}@{build["results"]["images"][0]["digest"]}')
        self.check_nothing_is_left(api)
        return image

    def test_builds_pip_installs_and_reuses(self):
        folder = testbed.write_tree({'task.py': PROGRAM})
        command = ['submit', '--builder=cloud-build', f'--executor-image-uri={self.base}', '--script=task.py',
                   '--requirements=greeter==1.0', '--build-env=PIP_NO_COLOR=1', '--build-network=host',
                   '--machine-type=n1-standard-4', f'--output-image-uri={self.name}:v1']
        dry = autopack(*command, '--dry-run', cwd=folder, env=self.env)
        self.assertIn(f'project `test-project`, region `us-central1`, gets 1 file in `gs://{BUCKET}`', dry.err)
        explained = autopack('explain', *(word for word in command[1:] if not word.startswith('--machine')), cwd=folder,
                             env=self.env)
        self.assertRegex(explained.out, r'(?s)how +by Cloud Build: `--build-env` sets a variable of pip.*cloud build +project')
        self.assertEqual((self.cloud.builds, self.cloud.objects), ({}, {}))
        answer = autopack(*command, cwd=folder, env=self.env)
        (build,) = self.cloud.builds.values()
        self.assertIn('--target=dependencies', build['steps'][0]['args'])
        self.assertRegex(build['images'][0], r':apd-[0-9a-f]{16}$')
        self.assertRegex(answer.err, rf'Sent  3 files \(2 added by autopack\), .* to gs://{BUCKET}/autopack/[0-9a-f]+-[0-9a-f]+\.tar\.gz')
        self.assertIn('Started  build', answer.err)
        self.assertIn('in Cloud Build', answer.err)
        self.check_nothing_is_left()
        image = image_of(self.api)
        testbed.docker('pull', '-q', image)
        self.assertEqual(testbed.run_image(image), 'hello one')
        explained = autopack('explain', *(word for word in command[1:] if not word.startswith('--machine')), cwd=folder,
                             env=self.env)
        self.assertNotIn('cloud build', explained.out)
        # An edit, from a machine with an engine and an empty cache, needs neither of them again.
        (folder / 'task.py').write_text(PROGRAM + 'print("edited")\n')
        again = autopack(*command[:1], *command[2:], cwd=folder,
                         env={**self.env, 'XDG_CACHE_HOME': str(testbed.new_cache())})
        self.assertEqual(len(self.cloud.builds), 1, again)
        testbed.docker('rmi', image)

    def test_an_own_dockerfile_and_its_tag(self):
        answer = self.submit('--builder=cloud-build')
        image = self.check_one_of_each(self.api, answer, self.name)
        testbed.docker('pull', '-q', f'{self.name}:v1')
        self.assertEqual(testbed.run_image(f'{self.name}:v1'), f'in the cloud {self.name}')
        digests = json.loads(testbed.docker('image', 'inspect', f'{self.name}:v1'))[0]['RepoDigests']
        self.assertIn(image, digests)
        testbed.docker('rmi', f'{self.name}:v1')

    def test_lost_answers_make_one_build_and_one_job(self):
        folder = self.folder()

        def check(failure):
            api, env = self.stand_in()
            api.fail[:] = [failure]
            name = testbed.image_name('cloud')
            self.check_one_of_each(api, self.submit('--builder=cloud-build', folder=folder, env=env, name=name), name)
            self.assertEqual(api.fail, [])

        failures = ('build-drop', 'build-lost', 'build-garbled', 'build-cut', 'build-503', 'upload-lost', 'delete-drop', 'drop')
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for failure, result in [(failure, pool.submit(check, failure)) for failure in failures]:
                with self.subTest(failure):
                    result.result()

    def test_a_failed_build_shows_its_step(self):
        folder = self.folder()
        (folder / 'Dockerfile').write_text(f'FROM {self.base}\nRUN echo before; echo the reason >&2; exit 3\n')
        answer = self.submit('--builder=cloud-build', status=2, folder=folder)
        self.assertIn('the image build failed at `[2/2] RUN echo before; echo the reason >&2; exit 3`', answer.err)
        self.assertIn('line 2 of `Dockerfile`', answer.err)
        self.assertIn('the reason\n', answer.err)
        self.assertIn('its log: gcloud builds log', answer.err)
        self.assertEqual(self.api.jobs, {})
        self.check_nothing_is_left()

    def test_a_build_that_ends_otherwise_shows_its_last_lines(self):
        self.cloud.log = ''.join(f'line {number}\n' for number in range(40))
        self.cloud.outcome = {'status': 'FAILURE', 'failureInfo': {'type': 'PUSH_NOT_AUTHORIZED', 'detail': 'denied'}}
        answer = self.submit('--builder=cloud-build', status=1)
        self.assertIn(f'could not push `{self.name}', answer.err)
        shown = answer.err.split('its last output:')[1]
        self.assertIn('line 39\n', shown)
        self.assertNotIn('line 20\n', shown)
        self.assertIn('roles/artifactregistry.writer', answer.err)
        self.check_nothing_is_left()

    def test_ctrl_c_cancels_the_build(self):
        self.cloud.hold = True
        process = testbed.Process('submit', '--dockerfile=Dockerfile', '--builder=cloud-build', '--machine-type=n1-standard-4',
                                  f'--output-image-uri={self.name}:v1', env=self.env, cwd=self.folder(), text=True)
        testbed.wait_until(lambda: any(build['status'] == 'WORKING' for build in self.cloud.builds.values()), what='the build')
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, err)
        (build,) = self.cloud.builds.values()
        self.assertEqual(build['status'], 'CANCELLED')
        self.assertIn(f'build `{build["id"]}` is cancelled', err)
        self.assertEqual(self.api.jobs, {})
        self.check_nothing_is_left()

    def test_refusals_come_before_anything_is_sent(self):
        def refused(*flags):
            answer = self.submit('--builder=cloud-build', *flags, status=1)
            self.assertEqual((self.cloud.builds, self.cloud.objects, self.api.jobs), ({}, {}, {}))
            return answer.err

        self.cloud.is_allowed = False
        self.assertIn('roles/cloudbuild.builds.editor', refused())
        self.cloud.is_allowed = True
        self.cloud.storage.granted = {'storage.objects.get'}
        self.assertIn('missing: storage.objects.create, storage.objects.delete', refused())
        self.assertIn('there is no bucket `gs://other-bucket`', refused('--staging-bucket=gs://other-bucket'))
        # Somebody else's bucket with the name of gcloud's.
        self.cloud.storage.buckets = {'other-project': [BUCKET]}
        self.assertIn('gcloud storage buckets create gs://' + BUCKET, refused())

    def test_a_login_for_an_index_is_not_sent(self):
        url = f'http://user:{secret_watch.secret("index-password")}@127.0.0.1:9/simple'
        answer = autopack('submit', '--builder=cloud-build', f'--executor-image-uri={self.base}', '--script=task.py',
                          '--requirements=greeter==1.0', '--build-env=PIP_NO_COLOR=1', '--machine-type=n1-standard-4',
                          f'--output-image-uri={self.name}:v1', cwd=testbed.write_tree({'task.py': PROGRAM}), status=1,
                          env={**self.env, 'PIP_INDEX_URL': url})
        self.assertIn('the package index requires a login, which Cloud Build would get', answer.err)
        self.assertEqual((self.cloud.builds, self.cloud.objects), ({}, {}))

    def test_without_an_engine_a_person_is_asked(self):
        self.assertIn('--builder=cloud-build', self.submit(status=1).err)
        self.assertEqual((self.cloud.builds, self.cloud.objects), ({}, {}))
        command = [testbed.binary, 'submit', '--dockerfile=Dockerfile', f'--output-image-uri={self.name}:v1',
                   '--machine-type=n1-standard-4', f'--directory={self.folder()}']
        for answer, status, builds in (('n', 1, 0), ('y', 0, 1)):
            with self.subTest(answer):
                terminal = Terminal(command, self.env)
                terminal.read(f'2 files to gs://{BUCKET} [y/N] ')
                terminal.type(answer + '\n')
                terminal.read()
                self.assertEqual(terminal.wait(), status, terminal.text)
                self.assertEqual(len(self.cloud.builds), builds)

    def test_the_settings_of_a_project_do_not_choose_it_by_themselves(self):
        for line in ('builder: cloud-build\n', 'staging-bucket: gs://elsewhere\n'):
            with self.subTest(line):
                answer = self.submit(status=2, folder=self.folder(**{'autopack.yaml': line}))
                self.assertIn("which a project's settings may not say by themselves", answer.err)
        self.assertEqual((self.cloud.builds, self.cloud.objects), ({}, {}))
