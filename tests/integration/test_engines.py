"""Other kinds of engines, missing engines, and interrupted builds."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

import secret_watch
import testbed
from testbed import autopack


def containers_that_run(word):
    """Returns process ids whose command line contains `word`: steps of a build run on this machine."""
    found = []
    for entry in pathlib.Path('/proc').iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / 'cmdline').read_bytes()
            except OSError:
                continue
            if word.encode() in command and b'run.py' not in command:
                found.append(int(entry.name))
    return found


class NoEngine(unittest.TestCase):
    def setUp(self):
        self.folder = testbed.write_tree({'task.py': 'print(1)\n'})
        self.flags = ['--executor-image-uri=python:3', '--script=task.py', '--no-push']

    def test_no_socket(self):
        answer = autopack('build', *self.flags, cwd=self.folder, status=1,
                          env=testbed.environment(DOCKER_HOST='unix:///nowhere/docker.sock'))
        self.assertIn('/nowhere/docker.sock', answer.err)
        self.assertIn('DOCKER_HOST', answer.err)
        self.assertEqual(answer.out, '')

    def test_nobody_listens(self):
        port = testbed.free_port()
        answer = autopack('build', *self.flags, cwd=self.folder, status=1,
                          env=testbed.environment(DOCKER_HOST=f'tcp://127.0.0.1:{port}'))
        self.assertIn(str(port), answer.err)

    def test_run_says_125(self):
        autopack('run', '--executor-image-uri=python:3', '--script=task.py', cwd=self.folder, status=125,
                 env=testbed.environment(DOCKER_HOST='unix:///nowhere/docker.sock'))

    def test_a_context_that_does_not_exist(self):
        answer = autopack('build', *self.flags, cwd=self.folder, status=None,
                          env=testbed.environment(DOCKER_CONTEXT='elsewhere'))
        self.assertIn(answer.status, (1, 2), answer)
        self.assertIn('elsewhere', answer.err)


class FailingBuild(unittest.TestCase):
    def test_pip_names_the_requirement(self):
        folder = testbed.write_tree({'task.py': '', 'requirements.txt': 'no-such-package-here==9\n'})
        answer = autopack('build', '--executor-image-uri', testbed.executor(), '--script=task.py', '--build-network=host',
                          '--no-push', '--engine=docker', cwd=folder, env=testbed.index_environment(), status=2)
        self.assertIn('`requirements.txt` line 1', answer.err)
        self.assertIn('no-such-package-here', answer.err)
        self.assertIn('No matching distribution', answer.err)
        self.assertEqual(answer.out, '')

    def test_own_dockerfile_names_the_step_and_the_line(self):
        folder = testbed.write_tree({
            'Dockerfile': f'FROM {testbed.executor()}\nRUN echo before the end && exit 3\n'})
        answer = autopack('build', '--dockerfile=Dockerfile', '--no-push', cwd=folder, status=2)
        self.assertIn('line 2 of `Dockerfile`', answer.err)
        self.assertIn('before the end', answer.err)
        self.assertIn('exit 3', answer.err)

    def test_base_that_is_nowhere(self):
        folder = testbed.write_tree({'task.py': ''})
        name = f'{testbed.registry()}/nobody/has-this:1'
        answer = autopack('build', '--executor-image-uri', name, '--script=task.py', '--no-push', cwd=folder, status=1)
        self.assertIn(name, answer.err)

    def test_registry_that_is_down(self):
        folder = testbed.write_tree({'task.py': ''})
        name = f'127.0.0.1:{testbed.free_port()}/team/model'
        self.addCleanup(testbed.remove_images, name)
        answer = autopack('build', '--executor-image-uri', testbed.executor(), '--script=task.py',
                          '--output-image-uri', f'{name}:t', cwd=folder, status=1)
        self.assertIn(name.split('/')[0], answer.err)
        self.assertEqual(answer.out, '')
        alone = autopack('build', '--executor-image-uri', f'{name}:base', '--script=task.py', '--engine=direct',
                         '--output-image-uri', f'{name}:t', cwd=folder, status=1)
        self.assertIn(name, alone.err)
        self.assertIn(f"check that `{name.split('/')[0]}` is the right registry", alone.err)


class Interrupted(unittest.TestCase):
    def interrupt(self, how):
        seconds = 4000 + os.getpid() % 1000 + how
        folder = testbed.write_tree({
            'Dockerfile': f'FROM {testbed.executor()}\nRUN sleep {seconds}\n'})
        process = testbed.Process('build', '--dockerfile=Dockerfile', '--no-push', cwd=folder)
        try:
            testbed.wait_until(lambda: containers_that_run(f'sleep\0{seconds}'), what='the step')
            process.send_signal(how)
            out, err = process.communicate(timeout=10)
        finally:
            process.kill()
        self.assertEqual(process.returncode, 128 + how, err)
        self.assertEqual(out, b'')
        testbed.wait_until(lambda: not containers_that_run(f'sleep\0{seconds}'), 10, 'the end of the step')

    def test_ctrl_c_ends_the_step_on_the_daemon(self):
        self.interrupt(signal.SIGINT)

    def test_sigterm_too(self):
        self.interrupt(signal.SIGTERM)


class Podman(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        testbed.hold_podman(cls.addClassCleanup)
        folder = testbed.new_folder('podman')
        cls.socket = folder / 'podman.sock'
        runtime = shutil.which('runc') or shutil.which('crun')
        cls.storage = ['--root', folder / 'root', '--runroot', folder / 'run', '--storage-driver', 'overlay']
        cls.command = ['podman', '--runtime', runtime, '--cgroup-manager=cgroupfs', *map(str, cls.storage)]
        # Its defaults are higher than a machine may allow.
        limits = folder / 'containers.conf'
        limits.write_text('[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n')
        with open(folder / 'log', 'wb') as log:
            cls.service = subprocess.Popen([*cls.command, 'system', 'service', '--time=0', f'unix://{cls.socket}'],
                                           stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                           env=testbed.environment(CONTAINERS_CONF=limits))
        cls.addClassCleanup(cls.stop)
        testbed.wait_until(cls.socket.exists, what='podman')
        testbed.run([*cls.command, 'import', '--change', 'CMD=python3', testbed.executor_tar(),
                     'localhost/autopack-tests/python:1'])

    @classmethod
    def stop(cls):
        testbed.end(cls.service)
        testbed.run([*cls.command, 'unshare', 'true'], check=False)
        testbed.run([*cls.command, 'system', 'reset', '--force'], check=False)

    def test_builds_pushes_and_runs(self):
        folder = testbed.example('script')
        env = testbed.environment(DOCKER_HOST=f'unix://{self.socket}')
        target = testbed.image_name('podman')
        answer = autopack('build', '--executor-image-uri=localhost/autopack-tests/python:1', '--script=trainer/task.py',
                          '--output-image-uri', f'{target}:t', cwd=folder, env=env)
        self.assertTrue(answer.out.startswith(f'{target}@sha256:'), answer)
        said = testbed.run_image(answer.out.strip())
        self.assertIn('accuracy: 0.9', said)
        answer = autopack('run', '--executor-image-uri=localhost/autopack-tests/python:1', '--script=trainer/task.py',
                          cwd=folder, env=env)
        self.assertIn('accuracy: 0.9', answer.out)

    @testbed.nightly('test_local_jobs, with docker')
    def test_jobs_of_several_pools_and_studies_run_there(self):
        base = 'localhost/autopack-tests/python:1'
        home = testbed.new_folder('home')
        env = testbed.environment(DOCKER_HOST=f'unix://{self.socket}', HOME=home, XDG_CACHE_HOME=home / 'cache')
        pool = 'machine-type=n1-standard-4'
        answer = autopack('submit', '--submitter=local', '--display-name=job', '--fail=workerpool1-0@0s',
                          f'--worker-pool-spec={pool},executor-image-uri={base},local-package-path=.,script=roles.py',
                          f'--worker-pool-spec={pool}', f'--worker-pool-spec={pool}',
                          '--replica-memory=256m', '--replica-cpus=1', cwd=testbed.example('cluster'), env=env)
        self.assertIn('workerpool0-0 | sum of 1 workers: 1.0\n', answer.err)
        program = ('import json, os, sys\npath = os.environ["CLOUD_ML_HP_METRIC_FILE"]\nos.makedirs(os.path.dirname(path))\n'
                   'json.dump({"loss": sys.argv[-1], "global_step": "1", "timestamp": 1.5}, open(path, "w"))\n')
        job = {'workerPoolSpecs': [{'machineSpec': {'machineType': 'n1-standard-4'}, 'containerSpec': {
            'imageUri': base, 'command': ['python3', '-c', program]}}]}
        answer = autopack('tune', '--submitter=local', '--display-name=study', '--config=job.json', '--max-trial-count=3',
                          '--parameter=loss:1..3', '--metric=loss:minimize', '--algorithm=grid-search',
                          cwd=testbed.write_tree({'job.json': json.dumps(job)}), env=env)
        self.assertRegex(answer.err, r'(?m)^1 +succeeded +loss=1 +loss=1$')
        left = testbed.run([*self.command, 'ps', '--all', '--quiet', '--filter', 'label=autopack.job']).stdout
        left += testbed.run([*self.command, 'network', 'ls', '--quiet', '--filter', 'label=autopack.job']).stdout
        self.assertEqual(left, b'')

    def test_index_credentials_are_refused_there(self):
        folder = testbed.write_tree({'task.py': '', 'requirements.txt': 'greeter\n'})
        answer = autopack('build', '--executor-image-uri=localhost/autopack-tests/python:1', '--script=task.py',
                          '--no-push', cwd=folder, status=None,
                          env=testbed.environment(DOCKER_HOST=f'unix://{self.socket}',
                                                  PIP_INDEX_URL='http://robot:w0rd@127.0.0.1:9/simple/'))
        self.assertIn(answer.status, (1, 2), answer)
        self.assertIn('BuildKit', answer.err)
        self.assertNotIn('w0rd', answer.err)


class Progress(unittest.TestCase):
    def test_a_steps_output_is_told_while_it_runs(self):
        word = f'number {time.time_ns()}'
        folder = testbed.write_tree({
            'Dockerfile': f'FROM {testbed.executor()}\nRUN echo {word} && sleep 2\nRUN echo last\n'})
        process = testbed.Process('build', '--dockerfile=Dockerfile', '--no-push', '--progress=plain', '-v', cwd=folder)
        begin = time.monotonic()
        seen = None
        text = b''
        for line in process.stderr:
            text += line
            if line.strip() == word.encode() and seen is None:
                seen = time.monotonic() - begin
        end = time.monotonic() - begin
        process.stdout.read()
        process.stdout.close()
        process.stderr.close()
        secret_watch.require_none(process.args, text)
        self.assertEqual(process.wait(), 0, text)
        self.assertIsNotNone(seen, text)
        self.assertGreater(end - seen, 1, text)
