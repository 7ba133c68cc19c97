"""Executor images as people make them: a user that is not root, an environment without pip, many layers, proxies."""

import hashlib
import json
import unittest

import testbed
from secret_watch import secret
from testbed import autopack, docker

WRITES = 'open("logs/run/x.txt", "w").write("x"); open("new.txt", "w"); print("written")\n'


class Executors(unittest.TestCase):
    def setUp(self):
        testbed.engine()
        self.folder = testbed.write_tree({'train.py': 'import greeter\nprint(greeter.hello())\n',
                                          'requirements.txt': 'greeter==1.0\n'})
        self.addCleanup(testbed.remove_images_later, f'autopack/{self.folder.name}')

    def built(self, name, *lines):
        context = testbed.write_tree({'Dockerfile': '\n'.join([f'FROM {testbed.executor()}', *lines]) + '\n'})
        docker('build', '-q', '-t', name, context)
        return name

    def base(self, *lines):
        name = self.built(testbed.image_name('odd-base') + ':1', *lines)
        docker('push', '-q', name)
        return name

    def run_on(self, base, *flags, command='run', **options):
        return autopack(command, f'--executor-image-uri={base}', '--script=train.py', *flags, cwd=self.folder,
                        env=testbed.index_environment(**options.pop('variables', {})), **options)

    def test_a_user_that_is_not_root_writes_to_directories_of_the_project(self):
        base = self.base('RUN useradd app', 'USER app')
        (self.folder / 'requirements.txt').unlink()
        testbed.write_tree({'train.py': WRITES, 'logs/run/keep.txt': ''}, self.folder)
        for flags in ([], ['--engine=docker']):
            with self.subTest(flags=flags):
                self.assertIn('written', self.run_on(base, *flags).out)
        text = self.run_on(base, command='dockerfile').out
        (self.folder / 'Dockerfile').write_text(text)
        for path in (self.folder, self.folder / 'logs', self.folder / 'logs/run'):
            path.chmod(0o755)
        image = docker('build', '-q', self.folder)
        self.addCleanup(docker, 'rmi', '-f', image)
        self.assertIn('written', testbed.run_image(image))

    def test_a_virtual_environment_without_pip(self):
        base = self.base('RUN python3 -m venv --without-pip /opt/venv', 'ENV PATH=/opt/venv/bin:$PATH')
        self.assertIn('hello one', self.run_on(base, '--build-network=host').out)

    @testbed.nightly('the unit tests of build errors')
    def test_an_executor_image_with_as_many_layers_as_an_engine_takes(self):
        below = len(testbed.layers(testbed.executor()))
        # Without containers, and quick if it was made before.
        base = self.built('autopack-tests/many-layers:1', *(f'COPY Dockerfile /l{i}' for i in range(124 - below)))
        if not testbed.loads_parts():
            # containerd's store takes more of them.
            self.run_on(base, '--no-push', '--build-network=host', command='build', timeout=300)
            return
        answer = self.run_on(base, '--no-push', command='build', status=2, timeout=300)
        self.assertIn('max depth exceeded', answer.err)
        self.assertIn('hint: put the executor image into one layer', answer.err)

    def test_proxies_of_dockers_configuration(self):
        password = secret('pr0xy-pass')
        proxy = f'http://me:{password}@127.0.0.1:9'
        proxies = {'proxies': {'default': {'httpProxy': proxy, 'noProxy': 'localhost,127.0.0.1'}}}
        config = testbed.write_tree({'config.json': json.dumps(proxies)})
        (self.folder / 'requirements.txt').unlink()
        (self.folder / 'train.py').write_text(
            'import hashlib, os\nprint(hashlib.sha256(os.environ["http_proxy"].encode()).hexdigest(), os.environ["NO_PROXY"])\n')
        digest = hashlib.sha256(proxy.encode()).hexdigest()
        for flags, no_proxy in (([], 'localhost,127.0.0.1'), (['--env=NO_PROXY=x'], 'x'), (['-vv'], 'localhost,127.0.0.1')):
            with self.subTest(flags=flags):
                answer = self.run_on(testbed.executor(), *flags, variables={'DOCKER_CONFIG': str(config)})
                self.assertIn(f'{digest} {no_proxy}', answer.out)
        text = f'FROM {testbed.executor()}\nRUN test "$HTTP_PROXY" = "$http_proxy" && test -n "$HTTP_PROXY"\n'
        (self.folder / 'Dockerfile').write_text(text)
        image = autopack('build', '--dockerfile=Dockerfile', '--no-push', '--no-cache', cwd=self.folder,
                         env=testbed.environment(DOCKER_CONFIG=str(config))).out.strip()
        self.assertNotIn(password, docker('history', '--no-trunc', image) + docker('inspect', image))

    def test_pythonpath_of_the_program(self):
        (self.folder / 'requirements.txt').unlink()
        testbed.write_tree({'src/lib/x.py': '', 'scripts/train.py': 'import lib.x\nprint("found")\n'}, self.folder)
        flags = [f'--executor-image-uri={testbed.executor()}', '--script=scripts/train.py']
        told = autopack('explain', '--check', *flags, cwd=self.folder)
        self.assertIn('imports `lib`', told.err)
        answer = autopack('run', *flags, '--env=PYTHONPATH=/usr/app/src', cwd=self.folder)
        self.assertEqual((answer.out.strip(), 'warning' in answer.err), ('found', False))
        (self.folder / 'variables').write_text('PYTHONPATH=src\n')
        self.assertNotIn('warning', autopack('run', *flags, '--env-file=variables', cwd=self.folder).err)
        (self.folder / 'autopack.yaml').write_text('env: {PYTHONPATH: /usr/app/src}\n')
        for command in (['explain', '--check'], ['explain'], ['build', '--no-push'], ['run']):
            with self.subTest(command=command):
                self.assertNotIn('imports `lib`', autopack(*command, *flags, cwd=self.folder).err)


if __name__ == '__main__':
    unittest.main()
