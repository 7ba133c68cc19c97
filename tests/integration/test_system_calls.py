"""System calls that fail, everywhere autopack makes them: it succeeds, or reports the failure, and leaves nothing
incomplete.

Most forms take a few places of each kind; the long one takes every place up to the number of calls of an undisturbed
run.
"""

import json
import re
import tempfile

import stored_image
import testbed
from call_faults import Scenario
from secret_watch import secret
from test_kill_sweep import require_whole_layout
from testbed import docker
from vertex_server import VertexServer

JOB = re.compile(r'projects/\S+/customJobs/\d+')


class Explain(Scenario):
    def arguments(self, number):
        return ['explain', '--script=train.py', '--format=json', f'--executor-image-uri={self.base}']

    def check(self, number, answer, first):
        if answer.returncode == 0:
            keys = json.loads(answer.stdout)
            type(self).key = getattr(type(self), 'key', keys['image_key'])
            self.assertEqual(keys['image_key'], self.key)

    def test_sweep(self):
        self.sweep()


class Push(Scenario):
    """A build by the direct engine to a repository."""

    step = 2

    def arguments(self, number):
        return ['build', '--script=train.py', '--format=json', '--engine=direct', f'--executor-image-uri={self.base}',
                f'--output-image-uri={self.registry}/system-calls/push-{number}:v1']

    def check(self, number, answer, first):
        path = f'system-calls/push-{number}'
        images = {tag: stored_image.whole_image(self.registry, path, tag) for tag in stored_image.tags(self.registry, path)}
        self.assertLessEqual(len(set(images.values())), 1, images)
        if answer.returncode == 0:
            self.assertEqual(images['v1'], json.loads(answer.stdout)['digest'])

    def test_sweep(self):
        self.sweep()


class Layout(Scenario):
    """A build into an OCI layout."""

    places = (2, 9, 40)

    def target(self, number):
        return self.room / f'{number}' / 'layout'

    def arguments(self, number):
        self.target(number).parent.mkdir(exist_ok=True)
        return ['build', '--script=train.py', '--format=json', '--engine=direct', '--no-push',
                f'--executor-image-uri={self.base}', f'--output=oci:{self.target(number)}:v1']

    def check(self, number, answer, first):
        target = self.target(number)
        if target.exists():
            require_whole_layout(target)
        if answer.returncode == 0:
            named, = json.loads((target / 'index.json').read_text())['manifests']
            manifest = json.loads((target / 'blobs' / named['digest'].replace(':', '/')).read_text())
            self.assertEqual(manifest['config']['digest'], json.loads(answer.stdout)['digest'])
        if first is not None:
            self.assertEqual([path.name for path in target.parent.iterdir()], ['layout'])

    def test_sweep(self):
        self.sweep()


class Prune(Scenario):
    """Builds with full caches whose files can be neither listed, inspected nor removed."""

    CACHES = ('blobs', 'layers', 'builds', 'pushed')
    LARGEST = 1 << 40
    # One write in sixteen, at random, prunes a cache.
    most_runs = 60

    def environment(self, number):
        return testbed.environment(XDG_CACHE_HOME=self.room / 'cache', DOCKER_HOST='unix:///nowhere/docker.sock')

    def arguments(self, number):
        return ['build', '--script=train.py', '--format=json', '--engine=direct', f'--executor-image-uri={self.base}',
                f'--output-image-uri={self.registry}/system-calls/prune-{number}:v1']

    def overfill(self):
        for cache in self.CACHES:
            folder = self.room / 'cache' / 'autopack' / cache
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / 'of-another').open('wb') as file:
                file.truncate(self.LARGEST)

    def faults(self, call, file, number):
        """Runs with `call` failing wherever it uses `file` of a cache; returns how often it did."""
        met = [part for cache in self.CACHES for part in ('-P', self.room / 'cache' / 'autopack' / cache / file)]
        with tempfile.NamedTemporaryFile('r') as log:
            answer = self.run_once(number, 'strace', '-f', '-qq', '-o', log.name, *met, '-e', f'trace={call}',
                                   '-e', f'inject={call}:error=EIO')
            self.assertEqual(answer.returncode, 0, answer.stderr.decode(errors='replace'))
            self.assertTrue(json.loads(answer.stdout)['digest'])
            return log.read().count('(INJECTED)')

    def test_a_cache_that_cannot_be_pruned_costs_nothing(self):
        number = 0
        for call, file in (('getdents64', ''), ('newfstatat', 'of-another'), ('unlink', 'of-another')):
            with self.subTest(call=call):
                injected = 0
                for _ in range(self.most_runs):
                    number += 1
                    self.overfill()
                    injected += self.faults(call, file, number)
                    if injected:
                        break
                self.assertGreater(injected, 0, 'no cache was pruned')


class EngineBuild(Scenario):
    """A build by the docker engine; each takes seconds."""

    places = (3, 20)
    step = 4
    most = 300

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.base = testbed.executor()
        testbed.at_exit(testbed.remove_images, 'autopack-tests/system-calls-')

    def environment(self, number):
        return testbed.environment(XDG_CACHE_HOME=self.room / f'cache-{number}')

    def arguments(self, number):
        return ['build', '--script=train.py', '--format=json', '--engine=docker', '--no-push',
                f'--executor-image-uri={self.base}', f'--output-image-uri=autopack-tests/system-calls-{number}:v1']

    def check(self, number, answer, first):
        if answer.returncode == 0:
            named = docker('image', 'inspect', '-f', '{{.Id}}', f'autopack-tests/system-calls-{number}:v1')
            self.assertEqual(named, json.loads(answer.stdout)['digest'])

    def test_sweep(self):
        self.sweep()


class Submit(Scenario):
    """A submission of an existing image."""

    step = 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.api = VertexServer(states=['RUNNING'])
        cls.addClassCleanup(cls.api.close)
        cls.token = testbed.write_tree({'token': secret('ya29.calls')}) / 'token'

    def environment(self, number):
        return testbed.environment(
            XDG_CACHE_HOME=self.room / f'cache-{number}', CLOUDSDK_CORE_PROJECT='test-project',
            CLOUDSDK_AI_REGION='us-central1', CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=self.token,
            CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=self.api.url)

    def arguments(self, number):
        return ['submit', f'--display-name=calls-{number}', '--skip-checks',
                '--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:v1']

    def require_told(self, answer, call, said):
        if call != 'write':
            self.assertIn(b'error', answer.stderr, said)
        self.assertEqual(answer.stdout.decode().strip(), ''.join(JOB.findall(answer.stdout.decode())), said)

    def check(self, number, answer, first):
        jobs = {entry['job']['name'] for entry in list(self.api.service.jobs.values())
                if entry['job']['displayName'] == f'calls-{number}'}
        told = set(JOB.findall((answer.stdout + answer.stderr).decode()))
        if first is None:
            # The result of one may be unknown for now: the next run resolves it.
            self.assertLessEqual(len(jobs), 1)
            self.assertTrue(told == jobs or answer.returncode != 0)
        else:
            told |= set(JOB.findall((first.stdout + first.stderr).decode()))
            self.assertEqual(jobs, told)

    def test_sweep(self):
        self.sweep()
