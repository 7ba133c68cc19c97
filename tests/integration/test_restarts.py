"""A registry and an engine that are stopped and restarted while a run needs them."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

import stored_image
import testbed
import test_remote_engine
from testbed import autopack, run


class Registry:
    """A registry that can be killed and restarted with the same data, at the same port."""

    def __init__(self):
        self.folder, self.port = testbed.new_folder('registry'), testbed.free_port()
        self.address = f'127.0.0.1:{self.port}'
        self.start()

    def start(self):
        with open(self.folder / 'log', 'ab') as log:
            self.process = subprocess.Popen(['bash', testbed.SUPPORT, 'run_registry', self.folder, str(self.port)],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        testbed.wait_until(lambda: testbed.listens(self.port), what='the registry')

    def kill(self):
        testbed.end(self.process, signal.SIGKILL)


def is_running(*command):
    """Returns whether any process of this machine, including containers, has that command line."""
    wanted = b'\0'.join(word.encode() for word in command) + b'\0'
    for path in pathlib.Path('/proc').glob('[0-9]*/cmdline'):
        with contextlib.suppress(OSError):
            if path.read_bytes() == wanted:
                return True
    return False


class Restarts(unittest.TestCase):
    def test_of_a_registry_within_an_upload(self):
        registry = Registry()
        self.addCleanup(registry.kill)
        base = stored_image.push_base(registry.address)
        folder = testbed.write_tree({'task.py': 'print(1)\n'})
        (folder / 'data.bin').write_bytes(os.urandom(60_000_000))
        command = ['build', '--script=task.py', '--engine=direct', '--format=json', f'--executor-image-uri={base}',
                   f'--output-image-uri={registry.address}/restarts/app:v1']
        env = testbed.environment(DOCKER_HOST='unix:///nowhere/docker.sock', XDG_CACHE_HOME=testbed.new_folder('cache'))
        process = testbed.Process(*command, env=env, cwd=folder)
        uploads = registry.folder / 'docker/registry/v2/repositories/restarts/app/_uploads'
        testbed.wait_until(lambda: uploads.is_dir() and any(path.stat().st_size for path in uploads.glob('*/data')),
                           what='the upload')
        registry.kill()
        self.assertIsNone(process.poll(), 'the push ended before the registry did')
        time.sleep(1)
        registry.start()
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err.decode(errors='replace'))
        pushed = testbed.Answer(command, subprocess.CompletedProcess(command, 0, out, err)).json()['digest']
        self.assertEqual(stored_image.whole_image(registry.address, 'restarts/app', 'v1'), pushed)
        self.assertEqual(autopack(*command, cwd=folder, env=env).json()['digest'], pushed)

    def test_of_an_engine_within_a_step(self):
        engine = test_remote_engine.remote_engine()
        env = test_remote_engine.remote_environment(engine.port)
        step = ['sleep', f'100.{engine.port}']
        folder = testbed.write_tree({'Dockerfile': f'FROM {testbed.EXECUTOR}\nRUN {json.dumps(step)}\n'})
        command = ['build', '--dockerfile=Dockerfile', '--engine=docker', '--no-push']
        process = testbed.Process(*command, env=env, cwd=folder)
        self.addCleanup(testbed.end, process)
        testbed.wait_until(lambda: is_running(*step), what='the step')
        engine.stop()
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, err.decode(errors='replace'))
        self.assertEqual(out, b'')
        self.assertIn(b'error:', err)
        self.assertNotIn(b'internal', err)
        engine.start()
        (folder / 'Dockerfile').write_text(f'FROM {testbed.EXECUTOR}\nRUN true\n')
        image = autopack(*command, cwd=folder, env=env).out.strip()
        run(['docker', 'image', 'inspect', image], env=env)


if __name__ == '__main__':
    unittest.main()
