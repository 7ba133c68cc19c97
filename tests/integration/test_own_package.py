"""The project's own package: really installed once, and again only if an input of the installation changed."""

import functools
import hashlib
import itertools
import json
import os
import subprocess
import unittest

import corpus_wheels
import testbed
from package_index import Index
from test_dockerfile import comparable, shape
from testbed import autopack, docker

# Unique to this process, which removes its images.
PREFIX = f'own-package-{os.getpid()}-'
NUMBERS = itertools.count(1)

PYPROJECT = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
READS = '''
import os
from setuptools import find_packages, setup
version = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'VERSION')).read().strip()
with open('trainer/version.py', 'w') as file:
    file.write('version = %r\\n' % version)
setup(name='trainer', version=version, packages=find_packages(), install_requires=['greeter'])
'''
GIT = '''
import subprocess
from setuptools import setup
try:
    revision = subprocess.check_output(['git', 'rev-parse', 'HEAD']).decode()
except (OSError, subprocess.CalledProcessError):
    revision = 'none'
open('trainer/revision.py', 'w').write('revision = %r\\n' % revision)
setup(name='trainer', version='1', packages=['trainer'])
'''
COPIES = '''
import shutil
from setuptools import setup
shutil.copytree('assets', 'trainer/assets', dirs_exist_ok=True)
setup(name='trainer', version='1', packages=['trainer'], package_data={'trainer': ['assets/*']})
'''
SCM = '''
[build-system]
requires = ["setuptools", "setuptools_scm"]
build-backend = "setuptools.build_meta"
[project]
name = "trainer"
dynamic = ["version"]
[tool.setuptools_scm]
[tool.setuptools]
packages = ["trainer"]
'''
# Like versioningit, without a repository; Debian has no package of it.
PKG_INFO = '''
import email
from setuptools import setup
setup(name='trainer', version=email.message_from_file(open('PKG-INFO'))['Version'], packages=['trainer'])
'''
VERSION_TASK = 'from importlib.metadata import version\nprint(version("trainer"))\n'
SHELL = '''
import subprocess
from setuptools import setup
subprocess.check_call('cat notes/*.txt > trainer/notes.txt', shell=True)
setup(name='trainer', version='1', packages=['trainer'])
'''
NUMPY = '''
import numpy
from setuptools import setup
open('trainer/built_with.py', 'w').write('version = %r\\n' % numpy.__version__)
setup(name='trainer', version='1', packages=['trainer'])
'''
EXTENSION = '''
from setuptools import Extension, find_packages, setup
setup(name='trainer', version='1', packages=find_packages(),
      ext_modules=[Extension('trainer.fast._sum', ['trainer/fast/sum.c'], depends=[])])
'''
SUM_C = '''
#include <Python.h>
#include "sum.h"
static PyObject* two(PyObject* self, PyObject* none) { return PyLong_FromLong(VALUE); }
static PyMethodDef methods[] = {{"two", two, METH_NOARGS, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_sum", "", -1, methods};
PyMODINIT_FUNC PyInit__sum(void) { return PyModule_Create(&module); }
'''


def installed_files(packages):
    """Returns the files of Debian packages on this machine, including their dependencies."""
    waiting, seen = list(packages), set()
    while waiting:
        name = waiting.pop()
        if name in seen or name.startswith('libc6'):
            continue
        seen.add(name)
        asked = subprocess.run(['dpkg-query', '-W', '-f', '${Depends}', name], capture_output=True, text=True, check=False)
        waiting += [word.split('|')[0].split('(')[0].strip().split(':')[0] for word in asked.stdout.split(',') if word.strip()]
    seen |= {name for name in ('libc6-dev',) if 'gcc' in packages}
    found = set()
    for name in seen:
        listed = subprocess.run(['dpkg-query', '-L', name], capture_output=True, text=True, check=False).stdout
        found |= {path for path in listed.splitlines() if path.startswith('/usr/') and '/share/doc' not in path}
    return sorted(found)


@functools.cache
def compiler_base():
    """Returns the name of the executor image with this machine's C compiler; quick if it was made before."""
    name = 'autopack-tests/compiler:1'
    files = installed_files(['gcc', 'libpython3.11-dev', 'libc6-dev'])
    facts = [testbed.layers(testbed.executor()), [(path, os.lstat(path).st_size, os.lstat(path).st_mtime_ns) for path in files]]
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    if docker('image', 'inspect', '--format', '{{index .Config.Labels "compiler.key"}}', name, check=False) == key:
        return name
    context = testbed.new_folder('compiler')
    (context / 'files').write_text('\n'.join(files))
    testbed.run(['tar', '--create', '--file', context / 'files.tar', '--no-recursion', '--files-from', context / 'files'])
    (context / 'Dockerfile').write_text(f'FROM {testbed.executor()}\nADD files.tar /\nLABEL compiler.key={key}\n')
    docker('build', '-q', '-t', name, context)
    return name


class Base(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('own-package/base:1')

    @classmethod
    def tearDownClass(cls):
        testbed.remove_images(f'{testbed.registry()}/own-package')
        testbed.remove_images(f'autopack/{PREFIX}')

    def setUp(self):
        self.name = f'{PREFIX}{next(NUMBERS)}'

    def project(self, files):
        return testbed.write_tree({'trainer/__init__.py': '', **files}, testbed.new_folder('project'))

    def build(self, folder, *flags, base=None, entry='--python-module=trainer.task', status=0, **variables):
        return autopack('build', '--executor-image-uri', base or self.base, '--build-network=host', '--format=json', entry,
                        f'--display-name={self.name}', *flags, cwd=folder,
                        env=testbed.environment(**{'PIP_INDEX_URL': testbed.index().url, **variables}),
                        status=status)

    def run_image(self, answer, *command):
        image = answer.json()['digest']
        return testbed.run_image(*(['--entrypoint', command[0]] if command else []), image, *command[1:])

    def why(self, answer):
        """Returns why dependencies were installed; nothing if they were reused."""
        dependencies = answer.json()['dependencies']
        return '' if dependencies['reused'] else dependencies['reason'].removeprefix('rebuilt because ')

    def edit(self, folder, name, text):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


class Observed(Base):
    @testbed.nightly('version-read-by-setup of the corpus')
    def test_setup_py_reads_a_file_and_writes_a_module(self):
        folder = self.project({'setup.py': READS, 'VERSION': '1.2\n', 'notes.md': '',
                               'trainer/task.py': 'import greeter\nfrom trainer.version import version\nprint(version)\n'})
        self.assertEqual(self.run_image(self.build(folder)), '1.2')
        self.edit(folder, 'trainer/task.py', 'from trainer.version import version\nprint("edited", version)\n')
        self.edit(folder, 'notes.md', 'new')
        edited = self.build(folder)
        self.assertEqual(self.why(edited), '')
        self.assertEqual(self.run_image(edited), 'edited 1.2')
        self.edit(folder, 'VERSION', '1.3\n')
        again = self.build(folder)
        self.assertEqual(self.why(again), 'setup.py reads VERSION, which changed')
        self.assertEqual(self.run_image(again), 'edited 1.3')
        self.edit(folder, 'trainer/version.py', 'version = "of the tree"\n')
        self.assertEqual(self.run_image(self.build(folder)), 'edited 1.3')
        self.edit(folder, 'VERSION', '1.4\n')
        explained = autopack('explain', '--executor-image-uri', self.base, '--python-module=trainer.task',
                             f'--display-name={self.name}', cwd=folder, env=testbed.index_environment())
        self.assertIn('setup.py reads VERSION, which changed', ' '.join(explained.out.split()))

    def test_setup_cfg_alone_is_read(self):
        settings = '[metadata]\nname = trainer\nversion = 1\n[options]\npackages = trainer\n'
        folder = self.project({'setup.cfg': settings, 'trainer/task.py': VERSION_TASK})
        self.assertEqual(self.run_image(self.build(folder)), '1')
        self.edit(folder, 'trainer/task.py', 'print("edited")\n')
        edited = self.build(folder)
        self.assertEqual((self.why(edited), self.run_image(edited)), ('', 'edited'))
        self.edit(folder, 'setup.cfg', settings.replace('version = 1', 'version = 2'))
        self.assertIn('setup.cfg', self.why(self.build(folder)))

    def git(self, folder, *arguments):
        testbed.run(['git', '-c', 'user.name=a', '-c', 'user.email=a@example.org', *arguments], cwd=folder)

    @testbed.nightly('version-from-git of the corpus')
    def test_a_tag_is_a_new_version_and_a_commit_is_not(self):
        folder = self.project({'pyproject.toml': SCM, 'trainer/task.py': VERSION_TASK})
        index = corpus_wheels.index().url
        for command in (['init', '-q'], ['add', '.'], ['commit', '-qm', 'one'], ['tag', 'v1.4']):
            self.git(folder, *command)
        self.assertEqual(self.run_image(self.build(folder, PIP_INDEX_URL=index)), '1.4')
        self.edit(folder, 'trainer/task.py', VERSION_TASK + 'print("edited")\n')
        edited = self.build(folder, PIP_INDEX_URL=index)
        self.assertEqual(self.why(edited), "the project's version changed (1.4 -> 1.5.dev0)")
        self.assertEqual(self.run_image(edited), '1.5.dev0\nedited')
        self.git(folder, 'commit', '-qam', 'two')
        self.edit(folder, 'trainer/task.py', VERSION_TASK)
        again = self.build(folder, PIP_INDEX_URL=index)
        self.assertEqual((self.why(again), self.run_image(again)), ('', '1.5.dev0'))
        self.assertEqual(self.run_image(self.build(folder, '--source=v1.4', PIP_INDEX_URL=index)), '1.4')
        own = self.build(folder, PIP_INDEX_URL=index, SETUPTOOLS_SCM_PRETEND_VERSION='7.0')
        self.assertEqual(self.run_image(own), '7.0')

    def test_a_version_that_only_a_file_tells(self):
        folder = self.project({'pyproject.toml': PYPROJECT + '[tool.versioningit]\n', 'setup.py': PKG_INFO,
                               'trainer/task.py': VERSION_TASK})
        for command in (['init', '-q'], ['add', '.'], ['commit', '-qm', 'one'], ['tag', 'v2.1']):
            self.git(folder, *command)
        self.assertEqual(self.run_image(self.build(folder)), '2.1')
        self.edit(folder, 'trainer/task.py', 'import os\nprint(os.path.exists("PKG-INFO"))\n')
        edited = self.build(folder)
        self.assertEqual((self.why(edited), self.run_image(edited)), ('', 'False'))

    def test_git_without_a_repository_reads_nothing(self):
        folder = self.project({'setup.py': GIT, 'trainer/task.py': 'from trainer.revision import revision\nprint(revision)\n'})
        self.assertEqual(self.run_image(self.build(folder)), 'none')
        self.edit(folder, 'trainer/task.py', 'print("edited")\n')
        edited = self.build(folder)
        self.assertEqual((self.why(edited), self.run_image(edited)), ('', 'edited'))

    def test_a_program_that_is_not_observed_may_have_read_all(self):
        folder = self.project({'setup.py': SHELL, 'notes/a.txt': 'one\n', 'trainer/task.py': 'print(open("trainer/notes.txt").read())'})
        self.assertEqual(self.run_image(self.build(folder)), 'one')
        self.edit(folder, 'notes/b.txt', 'two\n')
        again = self.build(folder)
        self.assertIn('which may read any file, and one changed', self.why(again))
        self.assertEqual(self.run_image(again), 'one\ntwo')

    def test_setup_py_copies_a_directory(self):
        folder = self.project({'setup.py': COPIES, 'assets/a.txt': 'one', 'trainer/task.py':
                               'import os\nfor name in sorted(os.listdir("trainer/assets")):\n    print(name)\n'})
        self.assertEqual(self.run_image(self.build(folder)), 'a.txt')
        self.edit(folder, 'assets/b.txt', 'two')
        again = self.build(folder)
        self.assertEqual(self.why(again), 'setup.py lists assets, which holds other names now')
        self.assertEqual(self.run_image(again), 'a.txt\nb.txt')

    def test_setup_py_imports_numpy(self):
        folder = self.project({'setup.py': NUMPY, 'trainer/task.py': 'import trainer.built_with\nprint("built")\n'})
        self.assertEqual(self.run_image(self.build(folder)), 'built')

    @testbed.nightly('test_sources, which compiles one')
    def test_an_extension_nested_in_the_package(self):
        base = compiler_base()
        folder = self.project({'setup.py': EXTENSION, 'trainer/fast/__init__.py': '', 'trainer/fast/sum.c': SUM_C,
                               'trainer/fast/sum.h': '#define VALUE 2\n',
                               'trainer/task.py': 'from trainer.fast._sum import two\nprint(two())\n'})
        self.assertEqual(self.run_image(self.build(folder, base=base)), '2')
        self.edit(folder, 'trainer/task.py', 'from trainer.fast._sum import two\nprint("edited", two())\n')
        edited = self.build(folder, base=base)
        self.assertEqual((self.why(edited), self.run_image(edited)), ('', 'edited 2'))
        self.edit(folder, 'trainer/fast/sum.h', '#define VALUE 3\n')
        again = self.build(folder, base=base)
        self.assertEqual(self.why(again), 'the compiler reads trainer/fast/sum.h, which changed')
        self.assertEqual(self.run_image(again), 'edited 3')


class Layouts(Base):
    def check(self, files, entry='--python-module=trainer.task', said='ran'):
        folder = testbed.write_tree(files, testbed.new_folder('project'))
        answer = self.build(folder, entry=entry)
        self.assertEqual(self.run_image(answer), said)
        return answer

    def test_extras_and_scripts(self):
        answer = self.check({
            'pyproject.toml': PYPROJECT + '[project]\nname = "trainer"\nversion = "1"\ndependencies = []\n'
                                          '[project.optional-dependencies]\nsay = ["greeter==1.0"]\n'
                                          '[project.scripts]\ntrain = "trainer.task:main"\n',
            'requirements.txt': '-e .[say]\n', 'trainer/__init__.py': '',
            'trainer/task.py': 'import greeter\n\n\ndef main():\n    print(greeter.hello())\n\n\n'
                               'if __name__ == "__main__":\n    main()\n'}, said='hello one')
        self.assertEqual(self.run_image(answer, 'train'), 'hello one')

    def test_what_setup_py_needs_replaces_what_was_there(self):
        folder = self.project({'setup.py': 'from setuptools import setup\nsetup(name="trainer", version="1", '
                                           'packages=["trainer"], install_requires=["greeter<2"])\n',
                               'requirements.txt': 'greeter\n', 'trainer/task.py': 'import greeter\nprint(greeter.hello())\n'})
        answer = self.build(folder)
        self.assertEqual(self.run_image(answer), 'hello one')
        tree = testbed.file_tree(answer.json()['digest'], '/usr/local')
        self.assertEqual([path for path in tree if path.endswith('greeter-2.0.dist-info/METADATA')], [])

    @testbed.nightly('src-layout of the corpus')
    def test_src_layout_namespaces_and_several_packages(self):
        task = 'import a.b.c, other\nprint("ran")\n'
        self.check({'pyproject.toml': PYPROJECT + '[project]\nname = "trainer"\nversion = "1"\n',
                    'src/trainer/task.py': task, 'src/a/b/c.py': '', 'src/other/__init__.py': ''})

    @testbed.nightly('package-dir-is-the-root of the corpus')
    def test_a_directory_for_packages_that_is_the_root(self):
        self.check({'setup.py': 'from setuptools import find_packages, setup\nsetup(name="trainer", version="1", '
                                'package_dir={"": "."}, packages=find_packages(exclude=["tests*"]))\n',
                    'trainer/__init__.py': '', 'trainer/task.py': 'print("ran")\n', 'tests/__init__.py': ''})

    def test_a_project_that_is_no_package(self):
        self.check({'pyproject.toml': '[project]\nname = "trainer"\nversion = "1"\ndependencies = ["greeter==1.0"]\n'
                                      '[tool.uv]\npackage = false\n',
                    'train.py': 'import greeter\nprint(greeter.hello())\n', 'a/__init__.py': '', 'b/__init__.py': ''},
                   entry='--script=train.py', said='hello one')

    @testbed.nightly('workspace of the corpus')
    def test_members_of_a_workspace(self):
        self.check({'pyproject.toml': PYPROJECT + '[project]\nname = "trainer"\nversion = "1"\ndependencies = ["lib"]\n'
                                      '[tool.setuptools]\npackages = ["trainer"]\n[tool.uv.sources]\nlib = {workspace = true}\n'
                                      '[tool.uv.workspace]\nmembers = ["libs/*"]\n',
                    'trainer/__init__.py': '', 'trainer/task.py': 'import lib\nprint(lib.said)\n',
                    'libs/lib/pyproject.toml': PYPROJECT + '[project]\nname = "lib"\nversion = "1"\n',
                    'libs/lib/lib/__init__.py': 'said = "from the workspace"\n'}, said='from the workspace')


class OtherBackend(Base):
    @testbed.nightly('backend-poetry of the corpus')
    def test_is_fetched_and_what_only_it_knows_is_installed(self):
        house = testbed.new_folder('backend')
        testbed.run([testbed.SYSTEM_PYTHON, testbed.ROOT / 'tests/support/debian_wheels.py', '--to', house,
                     'python3-poetry-core'], timeout=600)
        index = Index([testbed.wheel_house(), testbed.DEBIAN_WHEELS, house])
        self.addCleanup(index.close)
        folder = self.project({
            'pyproject.toml': '[build-system]\nrequires = ["poetry-core"]\nbuild-backend = "poetry.core.masonry.api"\n'
                              '[tool.poetry]\nname = "trainer"\nversion = "1"\ndescription = ""\nauthors = []\n'
                              '[tool.poetry.dependencies]\ngreeter = "1.0"\n',
            'trainer/task.py': 'import greeter\nprint(greeter.hello())\n'})
        self.assertEqual(self.run_image(self.build(folder, PIP_INDEX_URL=index.url)), 'hello one')
        self.edit(folder, 'trainer/task.py', 'print("edited")\n')
        edited = self.build(folder, PIP_INDEX_URL=index.url)
        self.assertEqual((self.why(edited), self.run_image(edited)), ('', 'edited'))


class Equivalence(Base):
    def test_all_ways_make_the_same_image(self):
        folder = self.project({'setup.py': READS.replace("['greeter']", '[]'), 'VERSION': '1.2\n',
                               'trainer/version.py': 'version = "stale"\n',
                               'trainer/task.py': 'from trainer.version import version\nprint(version)\n'})
        target = f'{testbed.registry()}/own-package/{self.name}'
        docker_made = self.build(folder, '--engine=docker').json()
        pushed = self.build(folder, f'--output-image-uri={target}').json()
        self.assertEqual((docker_made['engine'], pushed['engine']), ('docker', 'direct'))
        loaded = self.build(folder, f'--display-name={self.name}-loaded').json()
        testbed.remove_images(f'{testbed.registry()}/own-package/{self.name}')
        docker('pull', '-q', pushed['uri'])
        config, tree = shape(docker_made['digest'])
        tree = comparable(tree)
        for image in (pushed['uri'], loaded['digest']):
            our_config, our_tree = shape(image)
            our_tree = comparable(our_tree)
            for one in (our_config, config):  # layers of wheels have no byte code
                one['Env'] = [variable for variable in one['Env'] if variable != 'PYTHONDONTWRITEBYTECODE=1']
            self.assertEqual(our_config, config)
            self.assertEqual({path: (our_tree.get(path), tree.get(path)) for path in our_tree.keys() | tree.keys()
                              if our_tree.get(path) != tree.get(path)}, {})
            self.assertEqual(testbed.run_image(image), '1.2')

    def test_the_record_travels_with_the_dependency_image(self):
        folder = self.project({'setup.py': READS, 'VERSION': '1.2\n', 'trainer/task.py': 'print(1)\n'})
        target = f'--output-image-uri={testbed.registry()}/own-package/{self.name}'
        self.build(folder, target)
        self.edit(folder, 'trainer/task.py', 'print(2)\n')
        elsewhere = self.build(folder, target, '--engine=direct', DOCKER_HOST='unix:///nowhere/docker.sock',
                               XDG_CACHE_HOME=testbed.new_folder('cache'))
        self.assertEqual(self.why(elsewhere), '')
        self.edit(folder, 'VERSION', '1.3\n')
        refused = self.build(folder, target, '--engine=direct', DOCKER_HOST='unix:///nowhere/docker.sock', status=1)
        self.assertIn('setup.py reads VERSION, which changed', refused.err + refused.out)


class Printed(Base):
    def test_is_short(self):
        folder = self.project({'setup.py': READS, 'requirements.txt': 'greeter\n', 'VERSION': '1', 'trainer/task.py': ''})
        text = autopack('dockerfile', '--executor-image-uri', self.base, '--python-module=trainer.task', cwd=folder).out
        lines = [line for line in text.splitlines() if line and not line.startswith('#')]
        self.assertLess(len(lines), 30, text)
        self.assertIn('-m pip install --editable . --no-input', text)


if __name__ == '__main__':
    unittest.main()
