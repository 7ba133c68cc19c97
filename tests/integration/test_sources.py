"""Requirements without a wheel are built into one once, by the engine, and installed beside the others as pip would."""

import json
import pathlib
import re
import subprocess
import tarfile
import unittest

import secret_watch
import testbed
from testbed import autopack, docker
from test_wheels import digest, line, write_wheel

SETUP = """import pathlib, time
from setuptools import setup
here = pathlib.Path(__file__).parent
(here / '{name}.py').write_text('MADE = %r\\n' % time.time())
setup(name={name!r}, version={version!r}, py_modules=[{name!r}])
"""
PYPROJECT = '[build-system]\nrequires = ["setuptools", "wheel"]\nbuild-backend = "setuptools.build_meta"\n'
# Builds itself: without requirements from an index it is built in a fifth of the time, even with `--no-binary :all:`.
BACKEND = """import pathlib, time, zipfile
def build_wheel(directory, *_):
    info = '{name}-{version}.dist-info'
    files = {{'{name}.py': 'MADE = %r\\n' % time.time(), info + '/WHEEL': 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n',
             info + '/METADATA': 'Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n'}}
    with zipfile.ZipFile(pathlib.Path(directory, '{name}-{version}-py3-none-any.whl'), 'w') as wheel:
        for path in files:
            wheel.writestr(path, files[path])
        wheel.writestr(info + '/RECORD', ''.join(path + ',,\\n' for path in [*files, info + '/RECORD']))
    return '{name}-{version}-py3-none-any.whl'
"""
IN_TREE = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
ENTRY = """import importlib, importlib.metadata as metadata, json, sys
def told(name):
    one = metadata.distribution(name)
    direct = json.loads(one.read_text("direct_url.json") or "null")
    return [one.version, getattr(importlib.import_module(name), "MADE", None), direct]
print(json.dumps({name: told(name) for name in sys.argv[1:]}))
"""

EXTENSION = """#include <Python.h>
static PyObject *answer(PyObject *self, PyObject *none) { return PyLong_FromLong(42); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "compiled", "", -1, methods};
PyMODINIT_FUNC PyInit_compiled(void) { return PyModule_Create(&module); }
"""


def write_in_tree(name, version, folder=None):
    """Writes sources of a module that contains its build time, which differs between builds."""
    return testbed.write_tree({'backend.py': BACKEND.format(name=name, version=version), 'pyproject.toml': IN_TREE,
                               'PKG-INFO': f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n'}, folder)


def make_sdist(name, version, house):
    path = house / f'{name}-{version}.tar.gz'
    with tarfile.open(path, 'w:gz') as sdist:
        sdist.add(write_in_tree(name, version), f'{name}-{version}')
    return path


class Sources(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('sources/base:1')
        cls.house = testbed.new_folder('house')
        cls.timed = testbed.make_sdist(testbed.write_tree(
            {'setup.py': SETUP.format(name='timed', version='1.0'), 'pyproject.toml': PYPROJECT}), cls.house)
        make_sdist('quick', '1.0', cls.house)
        cls.plain = [write_wheel(cls.house, 'plain', version, {'plain.py': f'V = "{version}"\n'}) for version in ('1.0', '1.1')]
        cls.local = write_wheel(testbed.new_folder('local'), 'nearby', '2.0', {'nearby.py': ''})
        cls.index = testbed.start_index([cls.house])

    def setUp(self):
        self.cache = testbed.new_cache()
        self.env = testbed.environment(PIP_INDEX_URL=self.index.url, XDG_CACHE_HOME=str(self.cache))
        self.folder = testbed.write_tree({'train.py': ENTRY})
        self.name = testbed.image_name('sources')

    def require(self, *lines):
        (self.folder / 'requirements.txt').write_text(''.join(text if text.endswith('\n') else text + '\n' for text in lines))

    def build(self, *flags, status=0, env=None, name=None, base=None):
        return autopack('build', '--executor-image-uri', base or self.base, '--script=train.py', '--format=json', '-v',
                        '--build-network=host', f'--output-image-uri={name or self.name}', *flags, cwd=self.folder,
                        env={**self.env, **(env or {})}, status=status)

    def run_image(self, answer, *names):
        return json.loads(testbed.run_image(answer.json()['uri'], *names))

    def test_builds_of_the_same_source_at_once_do_not_meet(self):
        # Each removes its temporary image, and none that another one uses.
        self.require('quick==1.0')
        processes = [testbed.Process('build', f'--executor-image-uri={self.base}', '--script=train.py', '--build-network=host',
                                     f'--output-image-uri={self.name}-{number}', cwd=self.folder,
                                     env={**self.env, 'XDG_CACHE_HOME': str(testbed.new_cache())}) for number in range(3)]
        for process in processes:
            _, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, err)

    def put_local_wheel(self):
        (self.folder / 'vendor').mkdir(exist_ok=True)
        (self.folder / 'vendor' / self.local.name).write_bytes(self.local.read_bytes())
        return f'./vendor/{self.local.name}'

    @classmethod
    def base_with_compiler(cls):
        """Returns the executor image with the smallest compiler of its distribution, and Python's headers."""
        folder = testbed.new_folder('compiler')
        version = testbed.run_image(cls.base, 'python3', '-c', 'import sys; print("%d.%d" % sys.version_info[:2])')
        testbed.run(['apt-get', 'download', '-q', '-o', 'APT::Sandbox::User=root', 'tcc', 'libc6-dev', 'linux-libc-dev',
                     f'libpython{version}-dev'], cwd=folder)
        (folder / 'Dockerfile').write_text(f'FROM {cls.base}\nCOPY *.deb /tmp/\n'
                                           'RUN for deb in /tmp/*.deb; do dpkg -x $deb /; done; rm /tmp/*.deb; tcc -v\n')
        base = f'{testbed.registry()}/sources/compiler:1'
        docker('build', '-q', '-t', base, folder)
        docker('push', '-q', base)
        return base

    def repository(self):
        folder = write_in_tree('versioned', '3.0')
        for words in (['init', '-q', '-b', 'main'], ['add', '.'],
                      ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '-m', 'one']):
            testbed.run(['git', '-C', folder, *words])
        commit = testbed.run(['git', '-C', folder, 'rev-parse', 'HEAD']).stdout.decode().strip()
        return folder, commit

    def test_a_local_wheel_and_one_by_its_url_need_no_engine(self):
        url = f'{self.index.url.rsplit("/simple", 1)[0]}/files/{self.plain[0].name}'
        self.require(self.put_local_wheel(), f'plain @ {url}')
        answer = self.build('--engine=direct', env={'DOCKER_HOST': 'unix:///nowhere'})
        told = self.run_image(answer, 'nearby', 'plain')
        hashes = [{'hash': f'sha256={digest(path)}', 'hashes': {'sha256': digest(path)}} for path in (self.local, self.plain[0])]
        self.assertEqual(told['nearby'], ['2.0', None, {'archive_info': hashes[0], 'url': f'file:///mnt/vendor/{self.local.name}'}])
        self.assertEqual(told['plain'], ['1.0', None, {'archive_info': hashes[1], 'url': url}])

    def test_a_changed_local_wheel_changes_the_image(self):
        self.require(self.put_local_wheel())
        first = self.build('--engine=direct').json()['uri']
        other = write_wheel(testbed.new_folder('local'), 'nearby', '2.0', {'nearby.py': 'MADE = "anew"\n'})
        (self.folder / 'vendor' / other.name).write_bytes(other.read_bytes())
        second = self.build('--engine=direct')
        self.assertNotEqual(first, second.json()['uri'])
        self.assertEqual(self.run_image(second, 'nearby')['nearby'][1], 'anew')

    def test_a_local_wheel_with_a_wrong_hash_is_refused(self):
        self.require(self.put_local_wheel() + ' --hash=sha256:' + '0' * 64)
        answer = self.build('--engine=direct', status=2)
        self.assertIn(self.local.name, answer.err)

    def test_a_source_distribution_is_built_once(self):
        timed = f'timed==1.0 --hash=sha256:{digest(self.timed)}'
        self.require(timed, line(self.plain[0]))
        first = self.build()
        self.assertRegex(first.err, r'Built +`timed-1\.0-py3-none-any\.whl` from `timed` 1\.0, a source distribution')
        made = self.run_image(first, 'timed', 'plain')
        self.assertIsNone(made['timed'][2])
        self.require(timed, line(self.plain[1]))
        asked = len(self.index.requests)
        second = self.build('--engine=direct', env={'DOCKER_HOST': 'unix:///nowhere'})
        self.assertNotIn('from `timed`', second.err)
        self.assertFalse([request for request in self.index.requests[asked:] if 'setuptools' in request['path']])
        told = self.run_image(second, 'timed', 'plain')
        self.assertEqual(told['timed'], made['timed'])
        self.assertEqual(told['plain'][0], '1.1')

    def test_nothing_is_left_in_the_engine_but_its_cache(self):
        self.require('quick==1.0')
        answer = self.build('-vv')
        (image,) = re.findall(r'DELETE \S+/images/(sha256:\w+)', answer.err)
        self.assertNotEqual(testbed.run(['docker', 'image', 'inspect', image], check=False).returncode, 0)
        self.assertEqual([path.name for path in (self.cache / 'autopack').iterdir() if path.is_file()], [])

    def test_is_what_pip_installs(self):
        (self.folder / 'lib').mkdir()
        write_in_tree('nested', '0.3', self.folder / 'lib')
        self.require('quick==1.0', self.put_local_wheel(), './lib')
        ours = self.build().json()['uri']
        pips = self.build('--engine=docker', name=self.name + '-pip').json()['uri']
        docker('pull', '-q', ours)
        there = [testbed.file_tree(uri, '/usr/local') for uri in (ours, pips)]
        apart = ('/INSTALLER', '/RECORD', '/direct_url.json', '/quick.py', '/nested.py')
        for tree in there:
            for path in [path for path in tree if '__pycache__' in path]:
                del tree[path]
            for path in [path for path in tree if path.endswith(apart)]:
                tree[path] = tree[path][:4]
        self.assertEqual(*there)
        self.assertTrue(any(path.endswith('nested.py') for path in there[0]))
        ours, pips = (json.loads(testbed.run_image(uri, 'nearby', 'nested')) for uri in (ours, pips))
        self.assertEqual(ours['nested'][2], pips['nested'][2])
        self.assertEqual(ours['nearby'][2]['url'], pips['nearby'][2]['url'])

    def test_a_directory_is_explained_and_built_again_when_it_changes_alone(self):
        (self.folder / 'lib').mkdir()
        write_in_tree('nested', '0.3', self.folder / 'lib')
        self.require('./lib')
        first = self.run_image(self.build(), 'nested')['nested']
        self.assertEqual(first[2], {'dir_info': {}, 'url': 'file:///mnt/lib'})
        self.require('./lib', line(self.plain[0]).split(' --')[0])
        self.assertEqual(self.run_image(self.build(), 'nested')['nested'], first)
        told = autopack('explain', '--executor-image-uri', self.base, '--script=train.py', f'--output-image-uri={self.name}',
                        cwd=self.folder, env=self.env).out
        self.assertIn('2 pinned packages as layers of their wheels, once the docker engine has built `lib` (a directory of sources)', told)
        (self.folder / 'lib' / 'more.txt').write_text('x')
        self.assertNotEqual(self.run_image(self.build(), 'nested')['nested'], first)

    def test_a_commit_of_a_repository(self):
        folder, commit = self.repository()
        self.require(f'git+file://{folder}@{commit}')
        told = self.run_image(self.build(), 'versioned')['versioned']
        self.assertEqual(told[2], {'url': f'file://{folder}', 'vcs_info': {'commit_id': commit, 'requested_revision': commit, 'vcs': 'git'}})
        self.require(f'versioned @ git+file://{folder}@{commit}', 'plain==1.0')
        answer = self.build('--engine=direct')
        self.assertEqual(self.run_image(answer, 'versioned')['versioned'], told)
        self.require(f'git+file://{folder}@{"0" * 40}')
        self.assertIn('could not fetch', self.build(status=1).err)

    @testbed.nightly('test_a_commit_of_a_repository')
    def test_a_lock_with_a_commit_and_a_wheel_of_the_project(self):
        folder, commit = self.repository()
        self.put_local_wheel()
        (self.folder / 'pylock.toml').write_text(
            'lock-version = "1.0"\ncreated-by = "a test"\n'
            f'[[packages]]\nname = "versioned"\n[packages.vcs]\ntype = "git"\nurl = "file://{folder}"\ncommit-id = "{commit}"\n'
            f'[[packages]]\nname = "nearby"\nversion = "2.0"\n[packages.archive]\npath = "vendor/{self.local.name}"\n'
            f'hashes = {{ sha256 = "{digest(self.local)}" }}\n'
            f'[[packages]]\nname = "timed"\nversion = "1.0"\n[packages.sdist]\nname = "{self.timed.name}"\n'
            f'url = "{self.index.url.rsplit("/simple", 1)[0]}/files/{self.timed.name}"\nhashes = {{ sha256 = "{digest(self.timed)}" }}\n')
        told = self.run_image(self.build('--lock=pylock.toml'), 'versioned', 'nearby', 'timed')
        self.assertEqual([told[name][0] for name in told], ['3.0', '2.0', '1.0'])
        self.assertEqual(told['versioned'][2]['vcs_info'], {'commit_id': commit, 'vcs': 'git'})

    def test_what_no_binary_names_is_built_though_it_has_a_wheel(self):
        house = testbed.new_folder('both')
        make_sdist('plain', '1.0', house)
        index = testbed.start_index([self.house, house])
        self.require('--no-binary plain', 'plain==1.0')
        answer = self.build(env={'PIP_INDEX_URL': index.url})
        self.assertIn('from `plain` 1.0, a source distribution', answer.err)
        self.assertIsNotNone(self.run_image(answer, 'plain')['plain'][1])

    @testbed.nightly('test_what_no_binary_names_is_built_though_it_has_a_wheel')
    def test_no_binary_of_all_builds_each_once(self):
        house = testbed.new_folder('all')
        for name, version in (('first', '1.0'), ('first', '1.1'), ('second', '2.0')):
            make_sdist(name, version, house)
            write_wheel(house, name, version, {f'{name}.py': ''})
        write_wheel(house, 'third', '3.0', {'third.py': ''})
        env = {'PIP_INDEX_URL': testbed.start_index([house]).url}

        def made(*lines, flags=()):
            self.require('--no-binary :all:', *lines)
            answer = self.build(*flags, env=env)
            built = re.findall(r'Built +`(\w+-[\d.]+)-py3-none-any.whl` from', answer.err)
            return built, {name: told[1] for name, told in self.run_image(answer, 'first', 'second').items()}
        built, old = made('first==1.0', 'second==2.0')
        self.assertEqual(built, ['first-1.0', 'second-2.0'])
        built, new = made('first==1.1', 'second==2.0')
        self.assertEqual(built, ['first-1.1'])
        self.assertEqual(new['second'], old['second'])
        self.assertNotIn(None, (*old.values(), *new.values()))
        built, anew = made('first==1.1', 'second==2.0', flags=['--no-cache'])
        self.assertEqual(built, ['first-1.1', 'second-2.0'])
        self.assertNotEqual(anew['second'], new['second'])
        self.require('--no-binary :all:', '--only-binary second', 'first==1.1', 'second==2.0', 'third==3.0')
        answer = self.build('--engine=direct', env=env, status=1)
        self.assertIn('requirements.txt:5: `--no-binary` asks for a source distribution of `third` 3.0', answer.err)

    @testbed.nightly('test_what_no_binary_names_is_built_though_it_has_a_wheel')
    def test_an_option_that_hides_files_is_named(self):
        # The build requirement of `timed` is available only as a wheel.
        self.require('--no-binary :all:', 'timed==1.0')
        answer = self.build(status=2)
        self.assertIn('requirements.txt:2: could not build `timed` 1.0', answer.err)
        self.assertIn('`--no-binary :all:` (requirements.txt:1) applies to build requirements, too', answer.err)
        self.require('timed==1.0', '--only-binary :all:')
        answer = self.build(status=2)
        self.assertIn('`--only-binary :all:` in `requirements.txt` line 2 leaves files of the index out', answer.err)
        self.require('timed==1.0', '--only-binary other', '--only-binary=other,Timed  # wheels')
        answer = self.build(status=2)
        self.assertIn('in `requirements.txt` line 3 leaves files of the index out', answer.err)
        self.assertNotIn('line 2 leaves', answer.err)

    @testbed.nightly('test_a_directory_is_explained_and_built_again_when_it_changes_alone')
    def test_an_extra_package_beside_pins(self):
        package = write_in_tree('beside', '0.1')
        self.require('plain==1.0')
        answer = self.build(f'--extra-packages={package}')
        self.assertIn('a directory of sources', answer.err)
        self.assertEqual(self.run_image(answer, 'beside')['beside'][0], '0.1')

    def test_a_c_extension_with_a_variable_of_the_build(self):
        base = self.base_with_compiler()
        house = testbed.new_folder('compiled')
        folder = testbed.write_tree({
            'setup.py': 'from setuptools import Extension, setup\nsetup(name="compiled", version="1.0", '
                        'ext_modules=[Extension("compiled", ["compiled.c"])])\n', 'compiled.c': EXTENSION})
        testbed.make_sdist(folder, house)
        index = testbed.start_index([self.house, house])
        self.require('compiled==1.0', 'plain==1.0')
        (self.folder / 'train.py').write_text('import compiled, plain\nprint(compiled.answer(), compiled.__file__)\n')
        answer = self.build('--build-env=CC=tcc', '--build-env=LDSHARED=tcc -shared', base=base,
                            env={'PIP_INDEX_URL': index.url})
        self.assertRegex(answer.err, r'Built +`compiled-1\.0-cp3\d+-cp3\d+-linux_\w+\.whl`')
        self.assertRegex(testbed.run_image(answer.json()['uri']), r'^42 /usr/local/lib/python3\.\d+/dist-packages/compiled\..*\.so$')
        # The inputs of the build belong to its key.
        again = self.build('--build-env=CC=tcc', '--build-env=LDSHARED=tcc -shared', '--build-env=NEW=1', base=base,
                           env={'PIP_INDEX_URL': index.url})
        self.assertIn('from `compiled` 1.0', again.err)

    def test_each_source_is_named_where_there_is_no_engine(self):
        folder, commit = self.repository()
        (self.folder / 'lib').mkdir()
        write_in_tree('nested', '0.3', self.folder / 'lib')
        self.require('timed==1.0', './lib', f'git+file://{folder}@{commit}')
        answer = self.build('--engine=direct', status=1)
        for words in ('`timed` 1.0 is a source distribution', '`lib` is a directory of sources', 'is a commit of a repository'):
            self.assertIn(words, answer.err)
        answer = self.build(status=1, env={'DOCKER_HOST': 'unix:///nowhere'})
        self.assertIn('only an engine can build `lib` (a directory of sources), ', answer.err)
        self.assertIn('`timed` 1.0 (a source distribution)', answer.err)

    def test_plain_python_needs_no_engine(self):
        house = testbed.new_folder('plain')
        folder = testbed.write_tree({
            'setup.py': 'from setuptools import setup, find_packages\n\nsetup(name="oldlab", version="1.0", '
                        'packages=find_packages(), scripts=["bin/oldlab"],\n      install_requires=["plain>=1"], '
                        'entry_points={"console_scripts": ["oldlab-main = oldlab.core:main"]})\n',
            'bin/oldlab': '#!/usr/bin/env python3\nimport oldlab.core\noldlab.core.main()\n',
            'oldlab/__init__.py': '', 'oldlab/core.py': 'def main():\n    print("from the lab")\n'})
        testbed.make_sdist(folder, house)
        index = testbed.start_index([self.house, house])
        env = {'PIP_INDEX_URL': index.url, 'DOCKER_HOST': 'unix:///nowhere', 'AUTOPACK_UV': str(testbed.uv())}
        self.require('oldlab')
        (self.folder / 'train.py').write_text('import subprocess, oldlab.core\noldlab.core.main()\nfor name in ("oldlab", "oldlab-main"):\n'
                                              '    print(subprocess.run([name], capture_output=True, text=True).stdout, end="")\n')
        answer = self.build(env=env)
        self.assertIn('made `oldlab-1.0-py3-none-any.whl` from `oldlab` 1.0 without a build', answer.err)
        self.assertEqual(testbed.run_image(answer.json()['uri']).split('\n')[:3], ['from the lab'] * 3)
        told = autopack('explain', '--executor-image-uri', self.base, '--script=train.py', f'--output-image-uri={self.name}',
                        '--verbose', cwd=self.folder, env={**self.env, **env}).out
        self.assertIn('2 pinned packages as layers of their wheels, without an engine', told)

    def test_a_build_that_fails_is_told_with_its_name(self):
        (self.folder / 'lib').mkdir()
        testbed.write_tree({'setup.py': 'raise SystemExit("no luck today")\n', 'pyproject.toml': PYPROJECT}, self.folder / 'lib')
        self.require('./lib')
        answer = self.build(status=None)
        self.assertNotEqual(answer.status, 0)
        self.assertIn('could not build `lib`, a directory of sources, into a wheel', answer.err)
        self.assertIn('no luck today', answer.err)

    def test_a_login_of_the_index_reaches_neither_image_nor_cache(self):
        user, password = 'packager', secret_watch.secret('index')
        index = testbed.start_index([self.house], user=user, password=password)
        address = index.url.replace('://', f'://{user}:{password}@')
        self.require('timed==1.0')
        answer = self.build('-vv', env={'PIP_INDEX_URL': address})
        self.assertTrue([request for request in index.requests if 'setuptools' in request['path'] and request['status'] == 200])
        self.assertNotIn(password, answer.err + answer.out)
        uri = answer.json()['uri']
        docker('pull', '-q', uri)
        self.assertNotIn(password, docker('history', '--no-trunc', uri) + docker('inspect', uri))
        saved = subprocess.run(['docker', 'save', uri], stdout=subprocess.PIPE, check=True).stdout
        self.assertNotIn(password.encode(), saved)
        for path in pathlib.Path(self.cache).rglob('*'):
            if path.is_file():
                self.assertNotIn(password.encode(), path.read_bytes(), path)
