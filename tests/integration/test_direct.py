"""The direct engine makes, without an engine, the image of the generated Dockerfile."""

import hashlib
import json
import os
import re
import time
import unittest
import urllib.error
import urllib.request

import testbed
from relay import Relay
from test_dockerfile import comparable, shape
from testbed import autopack, docker

CASES = {
    'script': ['--script=trainer/task.py'],
    'module': ['--python-module=trainer'],
    'bash-script': ['--script=jobs/train.sh'],
    'requirements': ['--script=trainer/task.py'],
    'setup-py': ['--python-module=taxi.train'],
    'pyproject': ['--python-module=wine.train'],
}

NO_DAEMON = {'DOCKER_HOST': 'unix:///nowhere/docker.sock'}


class Base(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('direct/base:1')

    @classmethod
    def tearDownClass(cls):
        testbed.remove_images(f'{testbed.registry()}/direct')

    def build(self, folder, name, *flags, status=0, **variables):
        return autopack('build', '--executor-image-uri', self.base, '--build-network=host', '--format=json',
                        '--output-image-uri', f'{testbed.registry()}/direct/{name}', *flags, cwd=folder,
                        env=testbed.index_environment(**variables), status=status)

    def pulled(self, uri):
        docker('pull', '-q', uri)
        self.addCleanup(docker, 'rmi', '-f', uri)
        return uri


class Equivalence(Base):
    def check(self, folder, name, *flags):
        docker('rmi', '-f', f'{testbed.registry()}/direct/{name}-docker', check=False)
        theirs = self.build(folder, f'{name}-docker', '--engine=docker', *flags).json()
        ours = self.build(folder, f'{name}-direct', *flags).json()
        self.assertEqual((theirs['engine'], ours['engine']), ('docker', 'direct'))
        loaded = self.build(folder, f'{name}-loaded', '--no-push', *flags).json()
        self.assertEqual(loaded['engine'], 'direct' if testbed.loads_parts() else 'docker')
        their_config, their_tree = shape(self.pulled(theirs['uri']))
        their_tree = comparable(their_tree)
        for image in (self.pulled(ours['uri']), loaded['digest']):
            our_config, our_tree = shape(image)
            self.assertEqual(our_config, their_config)
            our_tree = comparable(our_tree)
            self.assertEqual(sorted(set(our_tree) ^ set(their_tree)), [])
            self.assertEqual({path: (our_tree[path], their_tree[path]) for path in our_tree
                              if our_tree[path] != their_tree[path]}, {})

    def test_holds_for_the_examples(self):
        # test_equivalence.py compares the images of a script of bash each day.
        daily = ('script', 'setup-py')
        for name, flags in CASES.items() if testbed.FORM != 'daily' else [(name, CASES[name]) for name in daily]:
            with self.subTest(name):
                self.check(testbed.example(name), name, '--resolver=engine', *flags)

    def test_holds_for_odd_trees(self):
        folder = testbed.write_tree({
            'app/task.py': 'print("odd")\n',
            'app/a b/\N{LATIN SMALL LETTER U WITH DIAERESIS}.txt': 'x',
            'app/' + 'long' * 40 + '/' + 'name' * 40 + '.py': '',
            'app/empty.txt': '',
            'app/weights.bin': 'w' * 1_500_000,
            'app/table.csv': '1,2\n'})
        (folder / 'app' / 'nothing').mkdir()
        (folder / 'app' / 'run.sh').write_text('#!/bin/sh\n')
        (folder / 'app' / 'run.sh').chmod(0o700)
        (folder / 'app' / 'private').mkdir(mode=0o700)
        (folder / 'app' / 'private' / 'k.py').write_text('k = 1\n')
        (folder / 'app' / 'private' / 'k.py').chmod(0o600)
        os.symlink('task.py', folder / 'app' / 'link')
        os.link(folder / 'app' / 'table.csv', folder / 'app' / 'hard.csv')
        self.check(folder, 'odd', '--script=app/task.py')


class WithoutADaemon(Base):
    def test_an_edit_is_pushed_and_runs(self):
        folder = testbed.example('requirements')
        first = self.build(folder, 'edit', '--script=trainer/task.py').json()
        with open(folder / 'trainer' / 'task.py', 'a', encoding='utf-8') as code:
            code.write('print("edited")\n')
        second = self.build(folder, 'edit', '--script=trainer/task.py', '--engine=direct', **NO_DAEMON).json()
        self.assertNotEqual(first['digest'], second['digest'])
        self.assertEqual(second['engine'], 'direct')
        self.assertLess(second['bytes_uploaded'], 20_000)
        self.assertIn('edited', testbed.run_image(self.pulled(second['uri'])))

    def test_nothing_changed_is_reused(self):
        folder = testbed.example('script')
        first = self.build(folder, 'same', '--script=trainer/task.py').json()
        again = self.build(folder, 'same', '--script=trainer/task.py', **NO_DAEMON).json()
        self.assertFalse(first['reused'])
        self.assertTrue(again['reused'])
        self.assertEqual(again['digest'], first['digest'])
        self.assertEqual(again['bytes_uploaded'], 0)

    def test_the_same_files_give_the_same_digest_elsewhere(self):
        one = self.build(testbed.example('script'), 'one', '--script=trainer/task.py').json()
        two = self.build(testbed.example('script'), 'two', '--script=trainer/task.py',
                         XDG_CACHE_HOME=str(testbed.new_folder('cache'))).json()
        self.assertEqual(one['digest'], two['digest'])

    def test_the_users_tag_moves(self):
        folder = testbed.example('script')
        first = self.build(folder, 'tagged:mine', '--script=trainer/task.py').json()
        (folder / 'trainer' / 'more.py').write_text('')
        second = self.build(folder, 'tagged:mine', '--script=trainer/task.py').json()
        self.assertNotEqual(first['digest'], second['digest'])
        name = self.pulled(f'{testbed.registry()}/direct/tagged:mine')
        self.assertIn(second['digest'], docker('inspect', '-f', '{{.RepoDigests}}', name))
        (folder / 'trainer' / 'more.py').unlink()
        self.build(folder, 'tagged:mine', '--script=trainer/task.py')
        docker('pull', '-q', name)
        self.assertIn(first['digest'], docker('inspect', '-f', '{{.RepoDigests}}', name))

    def test_no_cache_makes_everything_anew(self):
        folder = testbed.example('script')
        first = self.build(folder, 'anew', '--script=trainer/task.py').json()
        again = self.build(folder, 'anew', '--script=trainer/task.py', '--no-cache').json()
        self.assertEqual((again['reused'], again['engine'], again['digest']), (False, 'direct', first['digest']))
        self.assertEqual(again['reason'], 'rebuilt because --no-cache asks for it')

    def test_a_missing_dependency_image_is_told(self):
        folder = testbed.example('requirements')
        with (folder / 'libs/mathutil/setup.py').open('a') as setup:
            setup.write('__import__("os").system("true")\n')
        self.build(testbed.example('script'), 'seen', '--script=trainer/task.py')
        answer = self.build(folder, 'never-built', '--script=trainer/task.py', '--engine=direct', status=1, **NO_DAEMON)
        message = answer.json()['error']
        self.assertIn('no dependency image', message['message'])
        self.assertIn('--engine=auto', message['hints'][0])

    def test_what_must_be_built_is_refused(self):
        folder = testbed.example('own-dockerfile')
        answer = autopack('build', '--dockerfile=Dockerfile', '--engine=direct', '--output-image-uri',
                          f'{testbed.registry()}/direct/own', cwd=folder, status=2)
        self.assertIn('Dockerfile', answer.err)


class WhatTheRegistryHas(Base):
    """Pushed layers are not checked again, and outdated knowledge does no harm."""

    def setUp(self):
        self.folder = testbed.write_tree({'task.py': 'print("first")\n', 'weights.bin': 'w' * 1_200_000,
                                          'table.csv': 'x,y\n' * 20_000})
        self.name = f'kept-{time.time_ns()}'
        self.first = self.push()

    def push(self, *flags):
        answer = self.build(self.folder, self.name, '--script=task.py', '-v', *flags)
        self.requests = re.findall(r'(GET|HEAD|POST|PUT|PATCH) http\S+/v2/(\S*)', answer.err)
        return answer.json()

    def edit(self):
        (self.folder / 'task.py').write_text(f'print("edit {time.time_ns()}")\n')

    def delete(self, what):
        url = f'http://{testbed.registry()}/v2/direct/{self.name}/{what}'
        urllib.request.urlopen(urllib.request.Request(url, method='DELETE')).close()

    def uploaded(self, image):
        return [layer['digest'] for layer in image['layers'] if layer['uploaded']]

    def check_whole(self, image):
        uri = self.pulled(image['uri'])
        self.assertIn('edit', testbed.run_image(uri))
        tree = testbed.file_tree(uri, '/usr/app')
        for name in ('weights.bin', 'table.csv'):
            self.assertEqual(tree[f'/usr/app/{name}'][4], hashlib.sha256((self.folder / name).read_bytes()).hexdigest())

    def test_is_known_after_a_push(self):
        self.edit()
        second = self.push()
        self.assertIn(('PUT', f'direct/{self.name}/manifests/{second["tag"]}'), self.requests)
        self.assertNotIn(('GET', ''), self.requests)
        self.assertEqual([what for method, what in self.requests if method == 'HEAD' and '/blobs/' in what], [])
        self.assertEqual(len(self.uploaded(second)), 1)
        self.check_whole(second)

    def test_is_asked_for_where_nothing_is_remembered(self):
        self.edit()
        with_memory = self.build(self.folder, self.name, '--script=task.py', XDG_CACHE_HOME=str(testbed.new_folder('cache')))
        self.assertLess(with_memory.json()['bytes_uploaded'], 20_000)

    def test_is_sent_again_when_a_layer_was_lost(self):
        lost = self.first['layers'][1]['digest']
        self.delete('blobs/' + lost)
        self.edit()
        second = self.push()
        self.assertIn(lost, self.uploaded(second))
        self.assertGreater(len(self.uploaded(second)), 1)
        self.check_whole(second)
        self.edit()
        self.assertNotIn(lost, self.uploaded(self.push()))

    def test_is_told_when_the_compressor_is_another(self):
        """The facts of a layer are about this compressor's bytes; here another one is used, as after an update."""
        cache = testbed.new_folder('cache')
        self.edit()
        self.build(self.folder, self.name, '--script=task.py', XDG_CACHE_HOME=str(cache))
        for path in (cache / 'autopack' / 'layers').iterdir():
            facts = json.loads(path.read_text())
            facts['digest'] = 'sha256:' + hashlib.sha256(path.name.encode()).hexdigest()
            facts['seal'] = hashlib.sha256(
                ' '.join(str(part) for part in (2, path.name, facts['digest'], facts['diffID'], facts['size'],
                                                facts['tarSize'])).encode()).hexdigest()
            path.write_text(json.dumps(facts))
        name = self.name + '-updated'
        failed = self.build(self.folder, name, '--script=task.py', status=1, XDG_CACHE_HOME=str(cache)).json()['error']
        self.assertIn('is compressed otherwise than before', failed['message'])
        self.assertIn('run the same command again', failed['hints'][0])
        with self.assertRaises(urllib.error.HTTPError):
            urllib.request.urlopen(f'http://{testbed.registry()}/v2/direct/{name}/manifests/{self.first["tag"]}')
        self.check_whole(self.build(self.folder, name, '--script=task.py', XDG_CACHE_HOME=str(cache)).json())

    def test_is_sent_again_when_the_image_was_deleted(self):
        self.delete('manifests/' + self.first['digest'])
        for layer in self.first['layers']:
            self.delete('blobs/' + layer['digest'])
        self.edit()
        second = self.push()
        self.assertEqual(len(self.uploaded(second)), len(second['layers']))
        self.check_whole(second)


    def begun(self):
        """Returns uploads of this repository that the registry still waits for."""
        repository = testbed.registry_and_folder()[1] / 'docker/registry/v2/repositories/direct' / self.name
        self.assertTrue(repository.is_dir())
        return list(repository.glob('_uploads/*/startedat'))

    def test_no_upload_is_left_open(self):
        self.edit()
        second = self.push()
        self.assertEqual([method for method, what in self.requests if 'blobs/uploads' in what and method == 'POST'], ['POST'] * 2)
        self.assertEqual(self.begun(), [])
        # Files that must not be sent are found before any request.
        self.edit()
        (self.folder / 'token.txt').write_text('ghp_' + 'R8s2Kd0vLq5TzXw7NbYc3GmHj9PfEa1UoIi4' + '\n')
        answer = self.build(self.folder, self.name, '--script=task.py', '-v', status=2)
        self.assertIn('token.txt', answer.err)
        self.assertNotIn('http', answer.err)
        (self.folder / 'token.txt').unlink()
        # Built before: the registry's image is used, and the upload started for an edit is abandoned.
        (self.folder / 'task.py').write_text('print("first")\n')
        self.assertEqual(self.push()['digest'], self.first['digest'])
        self.assertEqual([method for method, _ in self.requests if method in ('POST', 'PUT')], ['POST'] * 2)
        self.assertEqual(self.begun(), [])
        self.assertNotEqual(second['digest'], self.first['digest'])


class InTheEngine(Base):
    """Images without a registry: the code is loaded on top of the engine's image."""

    def project(self, version='1.0'):
        return testbed.write_tree({'task.py': 'import greeter\nprint(greeter.hello())\n',
                                   'requirements.txt': self.requirement(version)})

    @staticmethod
    def requirement(version):
        """Without a pin, so that the engine installs it."""
        return f'greeter>={version},<={version}\n'

    def run_program(self, folder, *flags, **variables):
        return autopack('run', '--executor-image-uri', self.base, '--build-network=host', '--script=task.py', '-v',
                        '--resolver=engine', *flags, cwd=folder, env=testbed.index_environment(**variables))

    def tags(self, folder):
        self.addCleanup(testbed.remove_images_later, f'autopack/{folder.name}')
        return docker('images', '--format', '{{.Tag}}', f'autopack/{folder.name}').split()

    def test_an_edit_builds_nothing(self):
        folder = self.project()
        first = self.run_program(folder)
        self.assertEqual(first.out, 'hello one\n')
        self.assertRegex(first.err, r'POST http://localhost/v1\.\d+/build')
        (folder / 'task.py').write_text('print("edited")\n')
        edited = self.run_program(folder)
        self.assertEqual(edited.out, 'edited\n')
        if not testbed.loads_parts():
            self.assertEqual(sorted(tag.partition('-')[0] for tag in self.tags(folder)), ['ap', 'run'])
            return
        self.assertNotIn('/build', edited.err)
        self.assertRegex(edited.err, r'Loaded  \S+:ap-[0-9a-f]{16} in ')
        # the program, its image again under its key, and its base
        self.assertEqual(sorted(tag.partition('-')[0] for tag in self.tags(folder)), ['ap', 'apd', 'run'])

    def test_old_dependencies_do_not_stay(self):
        folder = self.project()
        self.run_program(folder)
        (folder / 'requirements.txt').write_text(self.requirement('2.0'))
        before = set(self.tags(folder))
        self.assertEqual(self.run_program(folder).out, 'hello two\n')
        after = set(self.tags(folder))
        self.assertEqual(len(after), 3 if testbed.loads_parts() else 2)
        self.assertEqual(before & after, {'run'})

    def test_large_files_are_loaded_once(self):
        folder = self.project()
        self.tags(folder)
        (folder / 'data').mkdir()
        (folder / 'data' / 'weights.bin').write_bytes(os.urandom(3_000_000))
        socket = str(testbed.new_folder('relay') / 'docker.sock')
        relay = Relay(testbed.base_environment().get('DOCKER_HOST', 'unix:///var/run/docker.sock').removeprefix('unix://'),
                      socket)
        flags = ['--extra-dirs=data']
        self.run_program(folder, *flags, DOCKER_HOST=f'unix://{socket}')
        self.assertGreater(relay.sent, 3_000_000)
        before = relay.sent
        (folder / 'task.py').write_text('print("edited")\n')
        self.assertEqual(self.run_program(folder, *flags, DOCKER_HOST=f'unix://{socket}').out, 'edited\n')
        if not testbed.loads_parts():
            return
        self.assertLess(relay.sent - before, 100_000)
        history = docker('history', '--format', '{{.CreatedBy}} {{.Size}}', f'autopack/{folder.name}:run')
        self.assertRegex(history, r'autopack: .* 3MB')
        self.assertIn('RUN', history)

    def test_age_counts_here_too(self):
        folder = testbed.write_tree({'task.py': 'import greeter\nprint("ran")\n', 'requirements.txt': 'greeter\n'})
        self.run_program(folder)
        time.sleep(2)
        aged = self.run_program(folder, '--max-dependency-age=1s')
        self.assertIn('they are older than 1 second', aged.err)
        self.assertIn('/build', aged.err)
        young = self.run_program(folder, '--max-dependency-age=1h')
        if testbed.loads_parts():
            self.assertNotIn('/build', young.err)

    def test_the_docker_engine_builds_when_that_is_asked_for(self):
        folder = self.project()
        self.run_program(folder)
        (folder / 'task.py').write_text('print("edited")\n')
        self.assertIn('/build', self.run_program(folder, '--engine=docker').err)

    def test_without_the_engine_there_is_none(self):
        # No request: neither registry nor engine is running.
        refused = autopack('build', '--no-push', '--executor-image-uri=127.0.0.1:1/base', '--script=task.py', '--engine=direct',
                           cwd=self.project(), env=testbed.environment(DOCKER_HOST='unix:///nowhere/docker.sock'), status=2)
        self.assertIn('`--engine=direct` cannot make this image', refused.err)
        self.assertIn('--engine=auto', refused.err)


class Dependencies(Base):
    def project(self, version):
        return testbed.write_tree({'task.py': 'import greeter\nprint(greeter.hello())\n',
                                   'requirements.txt': f'greeter{version}\n'})

    def test_are_installed_anew_for_a_reason_that_is_told(self):
        folder = self.project('==1.0  # pinned')
        self.build(folder, 'reason', '--script=task.py')
        (folder / 'requirements.txt').write_text('greeter==2.0\n')
        answer = self.build(folder, 'reason', '--script=task.py')
        why = 'rebuilt because requirements.txt changed (greeter 1.0 -> 2.0)'
        self.assertEqual(answer.json()['dependencies'], {'reused': False, 'reason': why})
        self.assertIn(why, answer.err)
        (folder / 'task.py').write_text('print("edited")\n')
        edited = self.build(folder, 'reason', '--script=task.py').json()
        self.assertEqual(edited['dependencies'], {'reused': True, 'reason': 'reused: nothing changed'})
        self.assertEqual(edited['reason'], 'rebuilt because task.py changed')

    def test_are_asked_for_only_where_they_may_be_needed(self):
        folder, name = self.project('==1.0'), f'asked-{time.time_ns()}'
        flags = ['--script=task.py', '-v']
        first = self.build(folder, name, *flags).json()
        again = self.build(folder, name, *flags)
        self.assertNotIn('manifests/apd-', again.err)
        # Nothing changed here, but somebody deleted the image.
        url = f'http://{testbed.registry()}/v2/direct/{name}/manifests/{first["digest"]}'
        urllib.request.urlopen(urllib.request.Request(url, method='DELETE')).close()
        anew = self.build(folder, name, *flags, '--engine=direct')
        self.assertIn('manifests/apd-', anew.err)
        self.assertEqual(anew.json()['digest'], first['digest'])
        self.assertTrue(anew.json()['dependencies']['reused'])

    def test_age_when_that_is_asked_for_and_they_are_not_pinned(self):
        for version, ages in (('>=1.0', True), ('==1.0', False)):
            with self.subTest(version):
                folder, name = self.project(version), 'aged-' + ('open' if ages else 'pinned')
                first = self.build(folder, name, '--script=task.py').json()
                day = self.build(folder, name, '--script=task.py', '--max-dependency-age=1d').json()
                self.assertEqual((day['reused'], day['digest']), (True, first['digest']))
                time.sleep(2)
                second = self.build(folder, name, '--script=task.py', '--max-dependency-age=1s').json()
                self.assertEqual(second['reused'], not ages)
                if ages:
                    self.assertEqual(second['dependencies']['reason'],
                                     'rebuilt because they are older than 1 second')

    def test_age_with_the_docker_engine_too(self):
        folder = self.project('>=1.0')
        flags = ['--script=task.py', '--engine=docker']
        self.build(folder, 'aged-docker', *flags)
        time.sleep(2)
        second = self.build(folder, 'aged-docker', *flags, '--max-dependency-age=1s').json()
        self.assertFalse(second['reused'])
        self.assertIn('older than 1 second', second['reason'])
        third = self.build(folder, 'aged-docker', *flags, '--max-dependency-age=1h').json()
        self.assertTrue(third['reused'])

    def test_an_age_that_is_none_is_refused(self):
        answer = autopack('build', '--executor-image-uri', self.base, '--script=task.py', '--max-dependency-age=old',
                          cwd=self.project(''), status=2)
        self.assertIn('--max-dependency-age', answer.err)


if __name__ == '__main__':
    unittest.main()
