"""Warnings and refusals before anything is built."""

import shutil
import unittest

import testbed
from testbed import autopack, docker, run

VERSION = 'import sys; print("%d.%d" % sys.version_info[:2])'
GIT = ('git', '-c', 'user.name=t', '-c', 'user.email=t@example.com')


class Advice(unittest.TestCase):
    """The executor image has numpy, and no yaml."""

    def setUp(self):
        self.base = testbed.executor()
        self.folder = testbed.write_tree({'trainer/__init__.py': '', 'trainer/task.py': 'import numpy\nimport yaml\n'})
        self.addCleanup(testbed.remove_images_later, f'autopack/{self.folder.name}')

    def call(self, command, *flags, **options):
        return autopack(*command.split(), '--executor-image-uri', self.base, '--python-module=trainer.task', *flags,
                        cwd=self.folder, **options)

    def test_build_says_what_explain_says(self):
        told = self.call('explain').err
        self.assertIn('`trainer/task.py` line 2 imports `yaml`, which neither a requirement nor the executor image provides',
                      told)
        self.assertIn('hint: --requirements=PyYAML', told.replace('`', ''))
        self.assertNotIn('numpy', told)
        for text in ('import numpy\nimport yaml\n', 'from .helper import x\nimport yaml\n',
                     'get_ipython().system("ls")\ndef x(:\n'):
            (self.folder / 'trainer/task.py').write_text(text)
            told = self.findings('explain')
            self.assertTrue(told)
            for command in ('build --no-push', 'build --no-push', 'explain --check'):  # built, then reused
                self.assertEqual(self.findings(command), told)

    def findings(self, command):
        return [line for line in self.call(command).err.splitlines() if line.startswith(('warning', '  hint'))]

    def test_strict_refuses_before_anything_is_built(self):
        def images():
            return docker('images', '--quiet', f'autopack/{self.folder.name}')

        before = images()  # a run that was killed may have left some
        for command in ('explain', 'explain --check', 'build --no-push'):
            refused = self.call(command, '--strict', status=2)
            self.assertIn('imports `yaml`', refused.err)
        self.assertEqual(images(), before)
        (self.folder / 'trainer/task.py').write_text('import numpy\n')
        self.call('build --no-push', '--strict')

    def test_git_and_the_working_tree_tell_the_same(self):
        (self.folder / 'trainer/task.py').write_text('from .helper import x\nimport yaml\nimport common\n')
        testbed.write_tree({'shared/common/__init__.py': 'import cv2\n'}, self.folder)
        (self.folder / 'common').symlink_to('shared/common')
        (self.folder / 'requirements.txt').write_text('pandas; sys_platform == "win32"\n')
        for command in (['init', '-q'], ['add', '.'], ['commit', '-qm', 'x']):
            run([*GIT, '-C', self.folder, *command])
        said = [[line for line in self.call('explain', *flags).err.splitlines() if line.startswith(('warning', '  hint'))]
                for flags in ((), ('--source=HEAD',), ('--source=index',))]
        self.assertEqual(said[0], said[1])
        self.assertEqual(said[0], said[2])
        self.assertIn('`.helper`, which does not exist', '\n'.join(said[0]))


class Machine(unittest.TestCase):
    """What the program expects of the machine it runs on."""

    def warnings(self, text, *steps):
        name = testbed.image_name('machine') + ':1'
        docker('build', '-q', '-t', name,
               testbed.write_tree({'Dockerfile': '\n'.join((f'FROM {testbed.executor()}', *steps, 'USER 4321'))}))
        self.addCleanup(testbed.remove_images, name)
        folder = testbed.write_tree({'train.py': text})
        told = autopack('explain', '--executor-image-uri', name, '--script=train.py', cwd=folder).err
        return [line for line in told.splitlines() if line.startswith('warning')]

    def test_a_user_without_a_name(self):
        text = 'import getpass\nprint(getpass.getuser())\n'
        self.assertEqual(self.warnings(text, 'USER root'), [
            "warning: `train.py` line 2 asks for the name of the user, and the image's user 4321 has none"])
        self.assertEqual(self.warnings(text, 'USER root', 'RUN echo app:x:4321:4321::/:/bin/sh >>/etc/passwd'), [])

    def test_no_time_zones(self):
        text = 'from zoneinfo import ZoneInfo\nprint(ZoneInfo("Europe/Berlin"))\n'
        self.assertEqual(self.warnings(text, 'USER root', 'RUN rm -rf /usr/share/zoneinfo'), [
            'warning: `train.py` line 2 uses the time zone `Europe/Berlin`, and the image has no data of time zones'])
        file = '/usr/share/zoneinfo/Europe/Berlin'
        self.assertEqual(
            self.warnings(text, 'USER root', f'RUN mkdir -p $(dirname {file}) && touch {file}'), [])


class PythonVersion(unittest.TestCase):
    def test_a_project_for_another_python_is_refused(self):
        base = testbed.executor()
        # The image consists of this machine's own distribution.
        version = run([testbed.SYSTEM_PYTHON, '-c', VERSION]).stdout.decode().strip()
        folder = testbed.write_tree({
            'pyproject.toml': '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
                              '[project]\nname = "trainer"\nversion = "1"\nrequires-python = ">=3.99"\n'
                              '[tool.setuptools]\npackages = ["trainer"]\n',
            'trainer/__init__.py': '', 'trainer/task.py': 'print("ran")\n'})
        self.addCleanup(shutil.rmtree, folder)
        for command in ('explain', 'explain --check', 'build --no-push'):
            refused = autopack(*command.split(), '--executor-image-uri', base, '--python-module=trainer.task', cwd=folder,
                               status=2)
            self.assertIn(f'the project requires Python `>=3.99`, but the executor image `{base}` has {version}',
                          refused.err)
            self.assertIn('pyproject.toml: [project] requires-python', refused.err)
