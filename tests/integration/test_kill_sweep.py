"""Runs that are killed at any point leave nothing wrong, and the next run continues from there.

A run of each kind is killed after more and more of its time. Afterwards no tag names a wrong or partial image, a layout
is complete, at most one unreported job was created, and the same run succeeds when repeated. The long form has 200
points, the others a part of them.
"""

import hashlib
import json
import re
import signal
import time
import unittest

import stored_image
import testbed
from fault_proxy import FaultProxy
from secret_watch import secret
from vertex_server import VertexServer

POINTS = {
    'daily': {'build': 5, 'layout': 3, 'submit': 5},
    'nightly': {'build': 12, 'layout': 8, 'submit': 12},
    'long': {'build': 80, 'layout': 40, 'submit': 80},
}[testbed.FORM]
JOB = re.compile(r'projects/\S+/customJobs/\d+')


def require_whole_layout(folder):
    """Each blob that the layout's index refers to exists, and matches its digest."""

    def read(digest):
        algorithm, _, name = digest.partition(':')
        data = (folder / 'blobs' / algorithm / name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == name, f'{name} is damaged'
        return data

    for entry in json.loads((folder / 'index.json').read_text())['manifests']:
        manifest = json.loads(read(entry['digest']))
        for blob in (manifest['config'], *manifest['layers']):
            read(blob['digest'])


class KillSweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.registry = testbed.start_registry()
        cls.base = stored_image.push_base(cls.registry)

    def setUp(self):
        host, port = self.registry.split(':')
        # Slow, so that the points also fall between requests.
        self.proxy = FaultProxy((host, int(port)), slow=0.01)
        self.addCleanup(self.proxy.close)

    def sweep(self, points, command, check):
        """Runs command(N) once completely to measure its time, then kills it at each of the points."""
        begin = time.monotonic()
        self.finish(command(0))
        whole = time.monotonic() - begin
        for point in range(1, points + 1):
            with self.subTest(point=point):
                process = testbed.Process(*command(point)[0], **command(point)[1])
                time.sleep(whole * 1.1 * point / points)
                process.send_signal(signal.SIGKILL)
                killed = b''.join(process.communicate()).decode(errors='replace')
                check(point, killed, None)
                check(point, killed, self.finish(command(point)))

    @staticmethod
    def finish(command):
        return testbed.autopack(*command[0], **command[1])

    def build(self, point, *flags):
        folder = testbed.scratch() / f'killed-{flags[0].partition(":")[0] if flags else "push"}-{point}'
        testbed.write_tree({'task.py': f'print({point})\n', 'data': str(point) * 300_000}, folder)
        home = folder.parent / 'killed-home'
        env = testbed.environment(DOCKER_HOST='unix:///nowhere/docker.sock', HOME=home, XDG_CACHE_HOME=home / '.cache')
        return (['build', f'--executor-image-uri={self.base}', '--script=task.py', '--engine=direct', '--format=json',
                 *flags], {'cwd': folder, 'env': env})

    def test_a_push(self):
        def command(point):
            return self.build(point, f'--output-image-uri={self.proxy.address}/killed/push-{point}:v1')

        def check(point, _, answer):
            path = f'killed/push-{point}'
            images = {tag: stored_image.whole_image(self.registry, path, tag) for tag in stored_image.tags(self.registry, path)}
            if answer:
                self.assertEqual(set(images.values()), {answer.json()['digest']})
                self.assertIn('v1', images)

        self.sweep(POINTS['build'], command, check)

    def test_a_layout(self):
        folder = testbed.new_folder('layouts') / 'all'

        def command(point):
            return self.build(point, f'--output=oci:{folder}:t{point}', '--no-push')

        def check(_, __, answer):
            require_whole_layout(folder)
            if answer:
                left = [path for path in folder.parent.rglob('.*') if not path.is_dir() or path.parent == folder.parent]
                self.assertEqual(left, [], 'leftovers')

        self.sweep(POINTS['layout'], command, check)

    def test_a_layout_that_is_made(self):
        folder = testbed.new_folder('fresh-layouts')

        def command(point):
            return self.build(point, f'--output=oci:{folder / str(point)}:latest', '--no-push')

        def check(point, _, answer):
            if (folder / str(point)).exists():
                require_whole_layout(folder / str(point))
            if answer:
                self.assertTrue((folder / str(point) / 'index.json').is_file())
                self.assertEqual([path.name for path in folder.glob('.*')], [])

        self.sweep(POINTS['layout'], command, check)

    def test_a_submission(self):
        api = VertexServer(states=['RUNNING'])
        self.addCleanup(api.close)
        proxy = FaultProxy(('127.0.0.1', api.port), slow=0.05)
        self.addCleanup(proxy.close)
        token = testbed.write_tree({'token': secret('ya29.killed')}) / 'token'
        home = testbed.new_folder('home')
        env = testbed.environment(
            HOME=home, XDG_CACHE_HOME=home,
            CLOUDSDK_CORE_PROJECT='test-project', CLOUDSDK_AI_REGION='us-central1', CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=token,
            CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=f'http://{proxy.address}/')

        def command(point):
            return (['submit', f'--display-name=killed-{point}', '--skip-checks',
                     '--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:v1'], {'env': env})

        def check(point, killed, answer):
            time.sleep(0 if answer else 0.1)  # a request on its way arrives
            jobs = {entry['job']['name'] for entry in api.service.jobs.values()
                    if entry['job']['displayName'] == f'killed-{point}'}
            told = set(JOB.findall(killed))
            self.assertLessEqual(len(jobs - told), 1)
            if answer:
                self.assertEqual(jobs - told - {answer.out.strip()}, set())

        self.sweep(POINTS['submit'], command, check)
        # A run that is killed while it renames a record leaves a file that nobody uses.
        records = (home / 'autopack' / 'submissions').iterdir()
        self.assertEqual([path for path in records if not path.name.startswith('.')], [])


if __name__ == '__main__':
    unittest.main()
