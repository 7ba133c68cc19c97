"""The printed Dockerfile is the one that is built, and stays under the user's control."""

import unittest

import testbed
from testbed import autopack


def shape(image):
    """Returns paths, modes, owners, contents and configuration, without labels and times."""
    config = testbed.configuration(image)['Config']
    config = {key: config[key] for key in ('User', 'Env', 'Entrypoint', 'Cmd', 'WorkingDir', 'Volumes', 'ExposedPorts')
              if key in config}
    return config, testbed.file_tree(image)


# Files that differ between installations: byte code contains the time of its source. The record of an installation is
# autopack's own.
def comparable(tree):
    return {path: entry for path, entry in tree.items()
            if not path.endswith('.pyc') and path != '/.dockerenv' and not path.startswith('/usr/share/autopack')}


class PrintedDockerfile(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        # A base whose pip knows the index: docker build cannot receive our settings.
        cls.base = testbed.image_name('indexed') + ':1'
        context = testbed.write_tree({
            'Dockerfile': f'FROM {testbed.executor()}\nCOPY pip.conf /etc/pip.conf\n',
            'pip.conf': f'[global]\nindex-url = {testbed.index().url}\n'})
        testbed.docker('build', '-q', '-t', cls.base, context)

    def build_both(self, name, entry):
        folder = testbed.example(name)
        flags = ['--executor-image-uri', self.base, entry]
        ours = autopack('build', *flags, '--build-network=host', '--no-push', '--no-cache',
                        '--output-image-uri', testbed.image_name(name) + ':ours', cwd=folder).out.strip()
        text = autopack('dockerfile', *flags, cwd=folder).out
        clean = testbed.new_folder('clean') / name
        testbed.run(['cp', '-r', folder, clean])
        printed = testbed.new_folder('printed') / 'Dockerfile'
        autopack('dockerfile', *flags, '-o', printed, cwd=clean)
        self.assertEqual(printed.read_text(), text)
        theirs = testbed.image_name(name) + ':theirs'
        testbed.run([*testbed.buildkit_command(), 'build', '--network=host', '--no-cache', '-q', '-t', theirs,
                     '-f', printed, '.'], cwd=clean, env=testbed.environment(DOCKER_BUILDKIT='1'))
        self.addCleanup(testbed.remove_images_later, theirs.rsplit(':', 1)[0])
        return ours, theirs

    def check(self, name, entry):
        ours, theirs = self.build_both(name, entry)
        our_config, our_tree = shape(ours)
        their_config, their_tree = shape(theirs)
        self.assertEqual(our_config, their_config)
        our_tree, their_tree = comparable(our_tree), comparable(their_tree)
        self.assertEqual(sorted(set(our_tree) ^ set(their_tree)), [])
        self.assertEqual({path: (our_tree[path], their_tree[path]) for path in our_tree
                          if our_tree[path] != their_tree[path]}, {})

    def test_gives_the_same_image_for_a_script(self):
        self.check('script', '--script=trainer/task.py')

    @testbed.nightly('test_gives_the_same_image_for_setup_py')
    def test_gives_the_same_image_with_requirements(self):
        self.check('requirements', '--script=trainer/task.py')

    def test_gives_the_same_image_for_setup_py(self):
        self.check('setup-py', '--python-module=taxi.train')


class Check(unittest.TestCase):
    def setUp(self):
        self.folder = testbed.example('script')
        self.flags = ['--executor-image-uri', testbed.executor(), '--script=trainer/task.py']

    def test_is_the_same_text_each_time(self):
        first = autopack('dockerfile', *self.flags, cwd=self.folder).out
        elsewhere = testbed.example('script')
        self.assertEqual(autopack('dockerfile', *self.flags, cwd=elsewhere).out, first)
        self.assertIn(f'FROM {testbed.executor()}', first)

    def test_agrees_with_what_was_written(self):
        autopack('dockerfile', *self.flags, '-o', 'Dockerfile', cwd=self.folder)
        self.assertTrue((self.folder / 'Dockerfile.dockerignore').exists())
        autopack('dockerfile', *self.flags, '--check', 'Dockerfile', cwd=self.folder)

    def test_works_without_a_daemon(self):
        autopack('dockerfile', *self.flags, '-o', 'Dockerfile', cwd=self.folder)
        alone = testbed.environment(DOCKER_HOST='unix:///nowhere/docker.sock',
                                    XDG_CACHE_HOME=testbed.new_folder('cache'))
        autopack('dockerfile', *self.flags, '--check', 'Dockerfile', cwd=self.folder, env=alone)
        (self.folder / 'requirements.txt').write_text('numpy\n')
        autopack('dockerfile', *self.flags, '--check', 'Dockerfile', cwd=self.folder, env=alone, status=3)

    def test_shows_the_drift(self):
        autopack('dockerfile', *self.flags, '-o', 'Dockerfile', cwd=self.folder)
        (self.folder / 'requirements.txt').write_text('numpy\n')
        answer = autopack('dockerfile', *self.flags, '--check', 'Dockerfile', cwd=self.folder, status=3)
        self.assertRegex(answer.out, r'(?m)^--- ')
        self.assertRegex(answer.out, r'(?m)^\+.*requirements\.txt')

    def test_does_not_overwrite_an_edited_file(self):
        autopack('dockerfile', *self.flags, '-o', 'Dockerfile', cwd=self.folder)
        path = self.folder / 'Dockerfile'
        edited = path.read_text() + 'RUN echo mine\n'
        path.write_text(edited)
        answer = autopack('dockerfile', *self.flags, '-o', 'Dockerfile', cwd=self.folder, status=None)
        self.assertNotEqual(answer.status, 0, answer)
        self.assertEqual(path.read_text(), edited)
