"""Many runs, in sequence and concurrently, over unreliable servers: all succeed, and their results are right.

200 pushes and 200 submissions in the long form, a part of them in the others.
"""

import concurrent.futures
import itertools
import os
import random
import threading
import unittest

import stored_image
import testbed
from fault_proxy import FAULTS, FaultProxy
from secret_watch import secret
from test_kill_sweep import require_whole_layout
from vertex_server import VertexServer

PUSHES, SUBMISSIONS, ROUNDS = {'daily': (12, 12, 1), 'nightly': (25, 25, 1), 'long': (200, 200, 5)}[testbed.FORM]
AT_ONCE = 20
# Faults of a service on a bad day, and of a network.
USUAL = ('refused', 'reset before the body', 'reset within the body', 'reset after the body', 'reset within the answer',
         '408', '429 with a time', '429', '500', '503', 'truncated')
NO_ENGINE = {'DOCKER_HOST': 'unix:///nowhere/docker.sock'}


class Unreliable(FaultProxy):
    """Spoils one request in `period`, at random, each time in another way."""

    def __init__(self, target, period, seed=1):
        self.period, self.random, self.ways = period, random.Random(seed), itertools.cycle(USUAL)
        self.counting = threading.Lock()
        super().__init__(target)

    def fault_of(self, step):
        with self.counting:
            self.seen.append(step)
            if self.random.randrange(self.period):
                return None
            self.hits += 1
            return FAULTS[next(self.ways)]


def peak_memory(arguments, env, cwd):
    """Returns the largest resident size of the run in kB; it must succeed."""
    process = testbed.Process(*arguments, env=env, cwd=cwd)
    out, err = process.stdout, process.stderr
    said = out.read() + err.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    out.close()
    err.close()
    assert process.returncode == 0, said.decode(errors='replace')
    return usage.ru_maxrss


class Load(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.registry = testbed.start_registry()
        cls.base = stored_image.push_base(cls.registry)
        cls.env = testbed.environment(**NO_ENGINE)

    def build(self, *flags):
        return ['build', f'--executor-image-uri={self.base}', '--script=task.py', '--engine=direct', '--format=json', *flags]

    def at_once(self, command, **options):
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            runs = [pool.submit(testbed.autopack, *command(number), status=None, **options) for number in range(AT_ONCE)]
            answers = [run.result() for run in runs]
        failed = [str(answer) for answer in answers if answer.status != 0]
        self.assertEqual(failed, [], '\n\n'.join(failed[:3]))
        return answers

    def test_pushes_through_a_proxy_that_fails_one_request_in_twenty(self):
        host, port = self.registry.split(':')
        with Unreliable((host, int(port)), 20) as proxy:
            folder = testbed.write_tree({'data.bin': 'x' * 3_000_000})
            sizes = []
            for number in range(PUSHES):
                testbed.write_tree({'task.py': f'print({number})\n', 'large.bin': f'{number}' * 1_000_000}, folder)
                sizes.append(peak_memory(self.build(f'--output-image-uri={proxy.address}/load/row:v{number}'),
                                         self.env, folder))
            self.assertGreater(proxy.hits, PUSHES // 20)
        digests = {stored_image.whole_image(self.registry, 'load/row', f'v{number}') for number in range(PUSHES)}
        self.assertNotIn(None, digests)
        self.assertEqual(len(digests), PUSHES)
        self.assertLess(max(sizes), 1.5 * sorted(sizes)[len(sizes) // 2], 'memory of one run against that of most')

    def test_pushes_at_once_of_one_project_with_one_cache_to_one_tag(self):
        for turn in range(ROUNDS):
            folder = testbed.write_tree({'task.py': f'print({turn})\n', 'data.bin': f'{turn}' * 2_000_000})
            home = testbed.new_folder('home')
            env = testbed.environment(XDG_CACHE_HOME=home, **NO_ENGINE)
            answers = self.at_once(lambda _, turn=turn: self.build(f'--output-image-uri={self.registry}/load/once-{turn}:v1'),
                                   cwd=folder, env=env)
            digests = {answer.json()['digest'] for answer in answers}
            self.assertEqual(digests, {stored_image.whole_image(self.registry, f'load/once-{turn}', 'v1')})

    def test_layouts_at_once(self):
        for turn in range(ROUNDS):
            folder = testbed.write_tree({'task.py': f'print({turn})\n'})
            target = testbed.new_folder('layouts') / 'all'
            answers = self.at_once(lambda number, target=target: self.build(f'--output=oci:{target}:t{number % 4}', '--no-push'),
                                   cwd=folder, env=self.env)
            self.assertEqual(len(answers), AT_ONCE)
            require_whole_layout(target)
            self.assertEqual([path.name for path in target.parent.iterdir()], ['all'])

    def with_api(self):
        api = VertexServer(states=['RUNNING'])
        self.addCleanup(api.close)
        token = testbed.write_tree({'token': secret('ya29.load')}) / 'token'
        env = testbed.environment(CLOUDSDK_CORE_PROJECT='test-project', CLOUDSDK_AI_REGION='us-central1',
                                  CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=token, CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=api.url)
        return api, env

    @staticmethod
    def submission(_=None):
        return ['submit', '--display-name=load', '--skip-checks',
                '--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:v1']

    def test_submissions_in_a_row(self):
        api, env = self.with_api()
        sizes = [peak_memory(self.submission(), env, testbed.scratch()) for _ in range(SUBMISSIONS)]
        self.assertEqual(len(api.service.jobs), SUBMISSIONS)
        self.assertLess(max(sizes), 1.5 * min(sizes))

    def test_submissions_at_once_make_a_job_each(self):
        api, env = self.with_api()
        names = {answer.out.strip() for answer in self.at_once(self.submission, env=env)}
        self.assertEqual(names, set(api.service.jobs))
        self.assertEqual(len(names), AT_ONCE)


if __name__ == '__main__':
    unittest.main()
