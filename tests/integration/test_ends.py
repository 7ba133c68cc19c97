"""The ends of a run: results that cannot be written, signals, no threads, and malicious servers."""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import loopback
import stored_image
import testbed
from fault_proxy import FaultProxy
from secret_watch import secret
from testbed import autopack
from vertex_server import VertexServer

READY = ['submit', '--display-name=ready', '--skip-checks',
         '--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:v1']
NO_ENGINE = {'DOCKER_HOST': 'unix:///nowhere/docker.sock'}


def service_environment(api):
    token = testbed.write_tree({'token': secret('ya29.ends')}) / 'token'
    return testbed.environment(CLOUDSDK_CORE_PROJECT='test-project', CLOUDSDK_AI_REGION='us-central1',
                               CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=token, CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=api.url)


class Results(unittest.TestCase):
    def fails(self, out, *arguments, env=None):
        process = testbed.Process(*arguments, env=env, stdout=out)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn(b'cannot write the result to standard output', err)
        return err.decode()

    def test_that_a_full_disk_does_not_take_are_an_error(self):
        with open('/dev/full', 'wb') as full:
            self.assertIn('No space left', self.fails(full, '--version'))

    def test_that_nobody_reads_are_an_error(self):
        reading, writing = os.pipe()
        os.close(reading)
        self.fails(writing, '--help')
        os.close(writing)

    def test_that_have_nowhere_to_go_are_an_error_and_go_into_no_file(self):
        folder = testbed.write_tree({'task.py': 'print()\n'})
        answer = subprocess.run(['bash', '-c', f'"{testbed.binary}" explain --script=task.py --executor-image-uri=x >&-'],
                                stdin=subprocess.DEVNULL, capture_output=True, cwd=folder,
                                env=testbed.environment(**NO_ENGINE), check=False, timeout=60)
        self.assertEqual(answer.returncode, 1, answer.stderr)
        self.assertEqual(sorted(path.name for path in folder.rglob('*')), ['task.py'])

    def test_of_a_submission_are_taken_up_by_the_next_run(self):
        with VertexServer() as api, open('/dev/full', 'wb') as full:
            env = service_environment(api)
            self.assertIn('Submitted  projects/', self.fails(full, *READY, env=env))
            answer = autopack(*READY, env=env)
            self.assertEqual([answer.out.strip()], list(api.service.jobs))


class Signals(unittest.TestCase):
    def interrupted(self, number, **options):
        with VertexServer(fail=['hang']) as api:
            # The runner of the tests may ignore some, as nohup does.
            heard = {'preexec_fn': lambda: signal.signal(number, signal.SIG_DFL)}
            process = testbed.Process(*READY, env=service_environment(api), **(options or heard))
            testbed.wait_until(lambda: api.service.jobs, what='the create')
            process.send_signal(number)
            if not options:
                out, err = process.communicate(timeout=30)
                self.assertEqual([out.decode().strip()], list(api.service.jobs), err)
                return process.returncode
            time.sleep(0.5)
            running = process.poll() is None
            process.kill()
            process.communicate()
            return running

    def test_have_exit_statuses_of_their_own(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            with self.subTest(number):
                self.assertEqual(self.interrupted(number), status)

    def test_that_were_ignored_stay_so(self):
        self.assertTrue(self.interrupted(signal.SIGHUP, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)))


class Threads(unittest.TestCase):
    def test_that_cannot_be_had_are_an_error_or_done_without(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix='autopack-threads-'))
        self.addCleanup(shutil.rmtree, folder)
        folder.chmod(0o777)
        program = shutil.copy(testbed.binary, folder / 'autopack')
        testbed.write_tree({'project/task.py': 'print()\n'}, folder)
        registry = testbed.start_registry()
        base = stored_image.push_base(registry)

        def limit():
            if os.getuid() == 0:
                os.setuid(65534)
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))

        for command in (['--version'], ['explain', '--script=task.py', f'--executor-image-uri={base}'],
                        ['build', '--script=task.py', '--engine=direct', f'--executor-image-uri={base}',
                         f'--output-image-uri={registry}/threads:1']):
            with self.subTest(command):
                answer = subprocess.run([program, *command], stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=limit,
                                        cwd=folder / 'project', check=False, timeout=60,
                                        env=testbed.environment(HOME=folder, XDG_CACHE_HOME=folder / 'cache', **NO_ENGINE))
                said = answer.stderr.decode()
                self.assertIn(answer.returncode, (0, 1), said)
                self.assertNotIn('internal', said)
                self.assertTrue(answer.returncode == 0 or 'cannot start a thread' in said, said)


class Registries(unittest.TestCase):
    """A registry's responses about a base image."""

    @classmethod
    def setUpClass(cls):
        cls.registry = testbed.start_registry()
        cls.layer = stored_image.tar_of({'usr/bin/python3': b'#!/bin/sh\n'})

    def build(self, name, **limits):
        folder = testbed.write_tree({'task.py': 'print()\n'})
        home = testbed.new_folder('home')

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

        return autopack('build', '--script=task.py', '--engine=direct', f'--executor-image-uri={name}',
                        f'--output-image-uri={self.registry}/made/app:v1', cwd=folder, status=None, timeout=60,
                        env=testbed.environment(HOME=home, XDG_CACHE_HOME=home, **NO_ENGINE), preexec_fn=limit, **limits)

    def told(self, name):
        answer = self.build(name)
        self.assertEqual(answer.status, 1, answer)
        self.assertNotIn('this is a bug', answer.err)
        self.assertLess(len(answer.err), 20_000)
        self.assertIsNone(stored_image.whole_image(self.registry, 'made/app', 'v1'))
        return answer.err

    def test_that_is_no_image_makes_none(self):
        for number, (changes, words) in enumerate((
                ({'rootfs': {'type': 'layers', 'diff_ids': []}}, 'names 1 layers, its configuration 0'),
                ({'rootfs': {'type': 'layers', 'diff_ids': [stored_image.digest_of(b'')] * 2}}, 'its configuration 2'),
                ({'rootfs': {'type': 'layers', 'diff_ids': [stored_image.digest_of(b'')]}}, 'but its configuration has'),
                ({'rootfs': 5}, 'cannot be read'), ({'created': [1]}, 'cannot be read'), ({'history': 'x'}, 'cannot be read'),
                ({'config': [1]}, 'cannot be read'), ({'config': {'Env': 'x'}}, 'cannot be read'),
                ({'os': 7}, 'cannot be read'))):
            with self.subTest(changes):
                stored_image.push_image(self.registry, 'odd/base', str(number), [self.layer], changes)
                self.assertIn(words, self.told(f'{self.registry}/odd/base:{number}'))

    def served(self, **documents):
        """Returns a registry that serves these documents by path, JSON or bytes."""
        class Handler(loopback.Handler):
            def respond(self, _):
                content = documents.get(self.path.rpartition('/')[2])
                if content is None:
                    self.send(404, {})
                else:
                    self.send(200, content, {'Docker-Content-Digest': stored_image.digest_of(content),
                                             'Content-Type': stored_image.OCI + 'manifest.v1+json'})

        server = loopback.Server(Handler)
        self.addCleanup(server.close)
        return f'127.0.0.1:{server.port}/base:tag'

    def manifest(self, layers, configuration):
        def described(data, kind):
            return {'mediaType': stored_image.OCI + kind, 'digest': stored_image.digest_of(data), 'size': len(data)}

        return json.dumps({'schemaVersion': 2, 'mediaType': stored_image.OCI + 'manifest.v1+json',
                           'config': described(configuration, 'config.v1+json'),
                           'layers': [described(layer, 'layer.v1.tar') for layer in layers]}).encode()

    def answer_of(self, layers, configuration):
        manifest = self.manifest(layers, configuration)
        documents = {stored_image.digest_of(data): data for data in (*layers, configuration, manifest)}
        return self.served(tag=manifest, **documents)

    def test_that_is_a_bomb_is_told_in_little_time_and_memory(self):
        deep = b'[' * 5_000_000
        config = json.dumps({'os': 'linux', 'architecture': 'amd64', 'config': {},
                             'rootfs': {'diff_ids': [stored_image.digest_of(self.layer)] * 15_000}}).encode()
        link = stored_image.tarfile.TarInfo('usr/bin/python3')
        link.type, link.linkname = stored_image.tarfile.SYMTYPE, '../' * 400_000
        long_link = stored_image.io.BytesIO()
        with stored_image.tarfile.open(fileobj=long_link, mode='w') as archive:
            archive.addfile(link)
        long_path = stored_image.tar_of({'/' * 400_000 + 'python3': b'', 'a/' * 200_000 + 'python3': b''})
        simple = json.dumps({'os': 'linux', 'architecture': 'amd64', 'config': {}}).encode()
        for what, name in (('manifest', self.served(tag=deep, **{stored_image.digest_of(deep): deep})),
                           ('configuration', self.answer_of([], deep)),
                           ('15000 layers', self.answer_of([self.layer] * 15_000, config)),
                           ('link', self.layered(simple, long_link.getvalue())),
                           ('path', self.layered(simple, long_path))):
            with self.subTest(what):
                begin = time.monotonic()
                self.told(name)
                self.assertLess(time.monotonic() - begin, 20)

    def layered(self, simple, layer):
        config = {**json.loads(simple), 'rootfs': {'diff_ids': [stored_image.digest_of(layer)]}}
        return self.answer_of([layer], json.dumps(config).encode())

    def test_that_talks_a_lot_is_cut_short(self):
        said = json.dumps({'errors': [{'code': 'DENIED', 'message': 'no \u202egnp.exe ' + 'x' * 1_000_000}]})

        class Handler(loopback.Handler):
            def respond(self, _):
                self.send(403, said)

        server = loopback.Server(Handler)
        self.addCleanup(server.close)
        err = self.told(f'127.0.0.1:{server.port}/base:tag')
        self.assertIn('DENIED', err)
        self.assertNotIn('\u202e', err)


class Containers(unittest.TestCase):
    """Containers that a run created to look into an image and could not remove."""

    alone = True  # any other run removes leftovers of an ended one

    def build(self, home, socket, **options):
        folder = testbed.write_tree({'task.sh': 'echo hello\n'})
        self.addCleanup(testbed.remove_images, f'autopack/{folder.name}')
        env = testbed.environment(DOCKER_HOST=f'unix://{socket}', HOME=home, XDG_CACHE_HOME=home / '.cache')
        return autopack('build', f'--executor-image-uri={testbed.executor()}', '--script=task.sh', '--engine=docker',
                        '--no-push', cwd=folder, env=env, **options)

    def make(self, owner):
        name = f'autopack-{os.urandom(8).hex()}'
        testbed.docker('create', '--name', name, '--label', f'autopack.owner={owner}', testbed.executor(), 'true')
        self.addCleanup(testbed.run, ['docker', 'rm', '--force', name], check=False)
        return name

    @staticmethod
    def exists(name):
        return testbed.run(['docker', 'container', 'inspect', name], check=False).returncode == 0

    def test_left_by_a_run_that_ended_are_removed_by_the_next(self):
        with FaultProxy('/var/run/docker.sock', unix=str(testbed.new_folder('socket') / 'docker.sock')) as proxy:
            proxy.spoil(r'DELETE .*/containers/', '500', None)
            failed = self.build(testbed.new_folder('home'), proxy.unix, status=None)
            left = {name for step in proxy.seen for name in re.findall(r'/containers/create\?name=([\w-]+)', step)}
        self.assertNotEqual(failed.status, 0, failed)
        self.assertEqual([name for name in left if not self.exists(name)], [])
        self.assertEqual(len(left), 1)
        owner = testbed.docker('inspect', '--format', '{{index .Config.Labels "autopack.owner"}}', *left)
        machine, boot, namespace, user, _, _ = owner.split('/')
        began = pathlib.Path('/proc/self/stat').read_text(encoding='utf-8').rsplit(')', 1)[1].split()[19]
        here = f'{boot}/{namespace}/{user}'
        living = self.make(f'{machine}/{here}/{os.getpid()}/{began}')
        reused = self.make(f'{machine}/{here}/{os.getpid()}/1')
        others = [self.make(f'{machine}/{boot}/{namespace}/{int(user) + 1}/1/1'), self.make(f'{machine}/{boot}/other/{user}/1/1'),
                  self.make(f'other/other/{namespace}/{user}/1/1'), self.make(f'/other/{namespace}/{user}/1/1'),
                  self.make(f'{machine}/other/{namespace}/{int(user) + 1}/1/1'), self.make(f'{here}/1/1')]
        # A machine without an id cannot detect a restart.
        started_again = [self.make(f'{machine}/other/{namespace}/{user}/{os.getpid()}/{began}')] if machine else []
        self.build(testbed.new_folder('home'), '/var/run/docker.sock')
        there = {name: self.exists(name) for name in [*left, living, reused, *started_again, *others]}
        self.assertEqual(there, {**dict.fromkeys([*left, *started_again], False), living: True, reused: False,
                                 **dict.fromkeys(others, True)})


if __name__ == '__main__':
    unittest.main()
