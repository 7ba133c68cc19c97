"""The start of programs: launchers, commands, installed modules, console scripts; run for real."""

import unittest

import testbed
from testbed import autopack, write_tree

PROGRAM = 'import os, sys\nprint(__name__, sys.argv[1:], os.environ.get("MARK"))\n'


class Start(unittest.TestCase):
    def setUp(self):
        self.folder = write_tree({'train.py': PROGRAM, 'pkg/__init__.py': '', 'pkg/task.py': PROGRAM})

    def go(self, *flags, status=0, **options):
        return autopack('run', '--executor-image-uri', testbed.executor(), *flags, cwd=self.folder, status=status, **options)

    def test_a_launcher_stands_before_the_program(self):
        self.assertEqual(self.go('--launcher=env MARK=set', '--script=train.py', '--', '-x').out, "__main__ ['-x'] set\n")
        self.assertEqual(self.go('--launcher=python3 -u -X dev', '--python-module=pkg.task').out, '__main__ [] None\n')

    def test_a_launcher_that_the_image_will_not_have_is_reported(self):
        answer = self.go('--launcher=torchrun', '--script=train.py', status=None)
        self.assertIn('`torch`, which provides `torchrun`, is neither in the project nor in the executor image', answer.err)
        answer = self.go('--launcher=mpirun -np 2', '--script=train.py', status=None)
        self.assertIn('the executor image has no `mpirun`', answer.err)
        self.assertIn('--system-packages=openmpi-bin', answer.err)

    def test_a_command_needs_no_entry(self):
        self.assertEqual(self.go('--command=python3,train.py,a', '--', 'b').out, "__main__ ['a', 'b'] None\n")
        pool = f'--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri={testbed.executor()},local-package-path=.'
        answer = autopack('submit', '--submitter=local', '--display-name=x', pool, '--command=python3,train.py,a',
                          '--args=b', cwd=self.folder)
        self.assertIn("__main__ ['a', 'b'] None", answer.err)

    def test_an_installed_module(self):
        self.assertIn('Linux', self.go('--python-module=platform').out)
        answer = self.go('--python-module=surely_not_there', status=1)
        self.assertIn('module `surely_not_there` is neither in the project nor in the executor image', answer.err)

    def test_what_a_shell_script_starts_must_be_there(self):
        write_tree({'runs/train.sh': 'make things\nif false; then jq .; fi\n'
                    'cd "$(dirname "$0")/.."\npython3 train.py && python3 gone.py || true\n'}, self.folder)
        answer = self.go('--script=runs/train.sh')
        self.assertIn('__main__ [] None', answer.out)
        self.assertIn('`gone.py` is run here, which does not exist', answer.err)
        self.assertIn('runs/train.sh:4', answer.err)
        self.assertIn('`make` is run here, and the executor image does not have it', answer.err)
        self.assertIn('--system-packages=make', answer.err)
        self.assertNotIn('`jq`', answer.err)
        self.assertNotIn('`train.py` is run', answer.err)

    def test_requirements_by_name_and_by_flag(self):
        write_tree({'requirements/base.txt': 'nosuch-distribution-one\n', 'requirements/dev.txt': 'black\n',
                    'own.txt': '# nothing\n'}, self.folder)
        text = autopack('dockerfile', '--executor-image-uri', testbed.executor(), '--script=train.py', cwd=self.folder).out
        self.assertIn('--requirement requirements/base.txt', text)
        self.assertNotIn('dev.txt', text)
        self.assertEqual(self.go('--script=train.py', '--requirements-file=own.txt').out, '__main__ [] None\n')

    def test_git_for_a_requirement_is_refused_where_the_image_has_none(self):
        flags = ('--script=train.py', '--requirements=a @ git+https://127.0.0.1/a.git')
        answer = self.go(*flags, status=125)
        self.assertIn('could not fetch `https://127.0.0.1/a.git`', answer.err)
        answer = self.go(*flags, '--resolver=engine', status=125)
        self.assertIn('is fetched by git, and the executor image does not have it', answer.err)
        self.assertIn('--system-packages=git', answer.err)


class Installation(unittest.TestCase):
    SETUP = 'import os\nfrom setuptools import setup\nsetup(name="lib", version=os.environ.get("LIB_VERSION", "0"))\n'
    PROGRAM = 'from importlib.metadata import version\nprint(version("lib"))\n'

    def test_variables_reach_the_installation_and_change_its_key(self):
        folder = write_tree({'train.py': self.PROGRAM, 'lib/setup.py': self.SETUP, 'autopack.yaml': 'build-env: {LIB_VERSION: 3}\n'})
        flags = ('run', '--executor-image-uri', testbed.executor(), '--script=train.py', '--extra-packages=lib')
        self.assertEqual(autopack(*flags, cwd=folder, env=testbed.index_environment()).out, '3\n')
        self.assertEqual(autopack(*flags, '--build-env=LIB_VERSION=4', cwd=folder, env=testbed.index_environment()).out, '4\n')
        answer = autopack(*flags, '--build-env=HF_TOKEN=abc', cwd=folder, status=125)
        self.assertIn('the value of `HF_TOKEN` looks like a secret', answer.err)
        self.assertNotIn('abc', answer.err)

    def test_a_console_script_and_an_extra_of_the_project(self):
        folder = write_tree({'pyproject.toml': '[build-system]\nrequires = ["setuptools"]\n'
                             'build-backend = "setuptools.build_meta"\n[project]\nname = "own"\nversion = "1"\n'
                             '[project.scripts]\nown-train = "own.cli:main"\n',
                             'own/__init__.py': '', 'own/cli.py': 'def main():\n    print("trained")\n'})
        flags = ('run', '--executor-image-uri', testbed.executor(), '--script=own-train')
        answer = autopack(*flags, cwd=folder, env=testbed.index_environment())
        self.assertEqual(answer.out, 'trained\n')
        answer = autopack(*flags, '--extra=gpu', cwd=folder, status=125)
        self.assertIn('the project has no extra `gpu`', answer.err)


if __name__ == '__main__':
    unittest.main()
