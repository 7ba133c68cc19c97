"""Credentials reach only those who need them."""

import json
import pathlib
import tarfile
import unittest

import testbed
from secret_watch import secret
from testbed import autopack, docker

WORD = secret('password')


def find_in_image(image, word):
    """Returns names of files in a saved image, including its layers' files, that contain `word`."""
    path = testbed.new_folder('saved') / 'image.tar'
    docker('save', '-o', path, image)
    found, word = [], word.encode()
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isreg():
                data = archive.extractfile(member).read()
                if word in data:
                    found.append(member.name)
    path.unlink()
    return found


class PipIndex(unittest.TestCase):
    def setUp(self):
        self.index = testbed.start_index(user='robot', password=WORD)
        self.folder = testbed.write_tree({
            'requirements.txt': 'counter\n',
            'task.py': 'import counter, greeter\nprint(greeter.hello())\n',
        })
        self.target = testbed.image_name('secret')

    def build(self, env, *flags, status=0):
        return autopack('build', '--executor-image-uri', testbed.executor(), '--script=task.py', '--build-network=host',
                        '--output-image-uri', f'{self.target}:t', '-vv', *flags, cwd=self.folder, env=env,
                        status=status)

    def check(self, answer):
        image = answer.out.strip()
        self.assertEqual(testbed.run_image(image), 'hello two')
        self.assertIn((200, True), [(entry['status'], entry['login']) for entry in self.index.requests])
        self.assertEqual(find_in_image(image, WORD), [])
        # the history and the configuration are searched like all output
        docker('history', '--no-trunc', image)
        docker('image', 'inspect', image)
        for path in (pathlib.Path(testbed.base_environment()['HOME']), self.folder):
            hits = [str(file) for file in path.rglob('*') if file.is_file() and WORD.encode() in file.read_bytes()]
            self.assertEqual([hit for hit in hits if not hit.endswith(('.netrc', 'pip.conf'))], [])

    def with_login(self):
        return self.index.url.replace('http://', f'http://robot:{WORD}@')

    def test_url_with_a_password(self):
        self.check(self.build(testbed.environment(PIP_INDEX_URL=self.with_login())))

    def test_pip_configuration_file(self):
        settings = testbed.write_tree({'pip.conf': f'[global]\nindex-url = {self.with_login()}\n'})
        self.check(self.build(testbed.environment(PIP_CONFIG_FILE=settings / 'pip.conf')))

    def test_netrc(self):
        home = testbed.write_tree({'.netrc': f'machine 127.0.0.1 login robot password {WORD}\n'})
        (home / '.netrc').chmod(0o600)
        self.check(self.build(testbed.environment(HOME=home, PIP_INDEX_URL=self.index.url)))

    def test_a_wrong_password_is_told_without_the_password(self):
        url = self.index.url.replace('http://', f'http://robot:not-{WORD}@')
        answer = self.build(testbed.environment(PIP_INDEX_URL=url), status=2)
        self.assertEqual(answer.out, '')
        self.assertIn('counter', answer.err)


class PrivateBase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.address = testbed.start_registry(login=('reader', WORD))
        cls.base = f'{cls.address}/bases/python:3'
        cls.config = testbed.new_folder('docker')
        login = {'auths': {cls.address: {'auth': __import__('base64').b64encode(f'reader:{WORD}'.encode()).decode()}}}
        (cls.config / 'config.json').write_text(json.dumps(login))
        docker('tag', testbed.executor(), cls.base)
        docker('push', '--quiet', cls.base, env=testbed.environment(DOCKER_CONFIG=cls.config))

    def setUp(self):
        self.folder = testbed.write_tree({'task.py': 'print("trained")\n'})
        testbed.remove_images(self.base)

    def test_is_pulled_and_pushed_with_the_users_login(self):
        target = f'{self.address}/team/model:t'
        answer = autopack('build', '--executor-image-uri', self.base, '--script=task.py', '--output-image-uri', target,
                          '-vv', cwd=self.folder, env=testbed.environment(DOCKER_CONFIG=self.config))
        self.assertTrue(answer.out.startswith(f'{self.address}/team/model@sha256:'), answer)
        docker('pull', '--quiet', answer.out.strip(), env=testbed.environment(DOCKER_CONFIG=self.config))
        self.assertEqual(testbed.run_image(answer.out.strip()), 'trained')

    def test_without_a_login_the_registry_is_named(self):
        answer = autopack('build', '--executor-image-uri', self.base, '--script=task.py', '--no-push',
                          cwd=self.folder, status=1)
        self.assertIn(self.address, answer.err)
        self.assertIn('docker login', answer.err)
        self.assertEqual(answer.out, '')


class MovedBase(unittest.TestCase):
    def test_a_stale_local_tag_is_not_used(self):
        base = f'{testbed.registry()}/bases/moving:1'
        folder = testbed.write_tree({'task.py': 'print(open("/version").read().strip())\n'})
        for version in ('old', 'new'):
            context = testbed.write_tree({
                'Dockerfile': f'FROM {testbed.executor()}\nRUN echo {version} > /version\n'})
            docker('build', '-q', '-t', base, context)
            docker('push', '--quiet', base)
            if version == 'old':
                digests = docker('image', 'inspect', '--format', '{{join .RepoDigests " "}}', base).split()
                # An earlier run may have left the same image under its own registry's name.
                old = next(name for name in digests if name.startswith(base.removesuffix(':1') + '@'))
        # Pulled some time ago: the tag is the old image here and the new one in the registry.
        testbed.remove_images(base)
        docker('pull', '--quiet', old)
        docker('tag', old, base)
        answer = autopack('build', '--executor-image-uri', base, '--script=task.py', '--output-image-uri',
                          testbed.image_name('moved') + ':t', cwd=folder)
        self.assertEqual(testbed.run_image('--entrypoint', 'cat', base, '/version'), 'old')
        self.assertEqual(testbed.run_image(answer.out.strip()), 'new')
