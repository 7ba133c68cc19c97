"""The selection of a lock is installed: wheels as layers without an engine, everything else by pip."""

import json
import unittest

import testbed
from testbed import autopack
from test_sources import write_in_tree
from test_wheels import digest, write_wheel

ENTRY = """import json, counted, names.left, importlib.metadata as metadata
print(json.dumps([metadata.version("counted"), names.left.SIDE, sorted(
    d.metadata["Name"] for d in metadata.distributions() if d.metadata["Name"] in ("counted", "names_left", "spare"))]))
"""
PROJECT = """[project]
name = "trainer"
version = "0.1"
requires-python = ">=3.7"
dependencies = ["counted>=1"]

[project.optional-dependencies]
more = ["spare"]

[tool.uv]
package = false
"""


class Locks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('locks/base:1')
        house = testbed.new_folder('house')
        cls.counted = write_wheel(house, 'counted', '1.0', {'counted/__init__.py': ''}, ['names_left'])
        cls.newer = write_wheel(house, 'counted', '1.1', {'counted/__init__.py': ''}, ['names_left'])
        cls.left = write_wheel(house, 'names_left', '2.0', {'names/left.py': 'SIDE = "left"\n'})
        cls.spare = write_wheel(house, 'spare', '3.0', {'spare.py': ''})
        cls.index = testbed.start_index([house])

    def setUp(self):
        self.env = testbed.environment(PIP_INDEX_URL=self.index.url, XDG_CACHE_HOME=str(testbed.new_cache()))
        self.folder = testbed.write_tree({'train.py': ENTRY, 'pyproject.toml': PROJECT})
        self.name = testbed.image_name('locks')

    def file_url(self, wheel):
        return f'{self.index.url.rsplit("/simple", 1)[0]}/files/{wheel.name}'

    def uv_lock(self, python='>=3.7'):
        def package(wheel, rest=''):
            name, version = wheel.name.split('-')[:2]
            return (f'[[package]]\nname = "{name.replace("_", "-")}"\nversion = "{version}"\n'
                    f'source = {{ registry = "{self.index.url}" }}\n{rest}'
                    f'wheels = [{{ url = "{self.file_url(wheel)}", hash = "sha256:{digest(wheel)}", '
                    f'size = {wheel.stat().st_size} }}]\n\n')
        return (f'version = 1\nrevision = 1\nrequires-python = "{python}"\n\n'
                + package(self.counted, 'dependencies = [{ name = "names-left" }]\n')
                + package(self.left) + package(self.spare)
                + '[[package]]\nname = "trainer"\nversion = "0.1"\nsource = { virtual = "." }\n'
                  'dependencies = [{ name = "counted" }]\n\n'
                  '[package.optional-dependencies]\nmore = [{ name = "spare" }]\n\n'
                  '[package.metadata]\nrequires-dist = [{ name = "counted", specifier = ">=1" }, '
                  '{ name = "spare", marker = "extra == \'more\'" }]\nprovides-extras = ["more"]\n')

    def pylock(self):
        packages = ''.join(
            f'[[packages]]\nname = "{wheel.name.split("-")[0].replace("_", "-")}"\nversion = "{wheel.name.split("-")[1]}"\n'
            f'[[packages.wheels]]\nname = "{wheel.name}"\nurl = "{self.file_url(wheel)}"\n'
            f'hashes = {{ sha256 = "{digest(wheel)}" }}\n' for wheel in (self.newer, self.left))
        return f'lock-version = "1.0"\ncreated-by = "a test"\n{packages}'

    def write(self, **texts):
        for name, text in texts.items():
            (self.folder / name.replace('_', '.')).write_text(text)

    def build(self, *flags, status=0, **env):
        return autopack('build', '--executor-image-uri', self.base, '--script=train.py', '--format=json', '-v',
                        '--build-network=host', f'--output-image-uri={self.name}', *flags, cwd=self.folder,
                        env={**self.env, **env}, status=status)

    def run_image(self, answer):
        return json.loads(testbed.run_image(answer.json()['uri']))

    def test_uv_without_an_engine(self):
        self.write(uv_lock=self.uv_lock())
        answer = self.build('--engine=direct', DOCKER_HOST='unix:///nowhere')
        self.assertEqual(self.run_image(answer), ['1.0', 'left', ['counted', 'names_left']])
        answer = self.build('--engine=direct', '--extra=more')
        self.assertEqual(self.run_image(answer), ['1.0', 'left', ['counted', 'names_left', 'spare']])

    def test_pylock_without_an_engine(self):
        self.write(pylock_toml=self.pylock())
        answer = self.build('--engine=direct', DOCKER_HOST='unix:///nowhere')
        self.assertEqual(self.run_image(answer), ['1.1', 'left', ['counted', 'names_left']])

    def test_the_flag_goes_over_requirements_and_the_order(self):
        self.write(uv_lock=self.uv_lock(), pylock_toml=self.pylock(), requirements_txt='absent-everywhere==1\n')
        self.assertEqual(self.run_image(self.build('--engine=direct', '--lock=uv.lock'))[0], '1.0')
        (self.folder / 'requirements.txt').unlink()
        answer = self.build('--engine=direct')
        self.assertIn('--lock=uv.lock', answer.err)
        self.assertEqual(self.run_image(answer)[0], '1.1')

    def test_without_the_lock_the_project_says_it(self):
        self.write(uv_lock=self.uv_lock())
        self.assertEqual(self.run_image(self.build('--lock=none'))[0], '1.1')

    def test_by_the_docker_engine(self):
        for write in ({'uv_lock': self.uv_lock()}, {'uv_lock': 'broken', 'pylock_toml': self.pylock()}):
            self.write(**write)
            version = '1.1' if 'pylock_toml' in write else '1.0'
            answer = self.build('--engine=docker')
            self.assertEqual(self.run_image(answer), [version, 'left', ['counted', 'names_left']])

    def test_beside_the_projects_own_package(self):
        self.write(uv_lock=self.uv_lock().replace('virtual', 'editable'))
        (self.folder / 'pyproject.toml').write_text(
            PROJECT.split('[tool.uv]')[0] + '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n')
        (self.folder / 'trainer').mkdir()
        (self.folder / 'trainer' / '__init__.py').write_text('')
        answer = self.build('--requirements=spare')
        self.assertIn('`spare` is not in `uv.lock`', answer.err)
        self.assertEqual(self.run_image(answer), ['1.0', 'left', ['counted', 'names_left', 'spare']])

    def test_one_for_another_python_is_refused_before_anything_is_built(self):
        self.write(uv_lock=self.uv_lock('>=3.99'))
        for engine in ('direct', 'docker'):
            answer = self.build(f'--engine={engine}', status=2)
            self.assertIn('`uv.lock` is for Python `>=3.99`', answer.err)
            self.assertIn('--lock=none', answer.err)
            self.assertNotIn('Built', answer.err)

    def test_what_pip_cannot_install_by_a_hash_is_refused(self):
        repository = ('[[packages]]\nname = "from-git"\nversion = "1"\n'
                      '[packages.vcs]\ntype = "git"\nurl = "https://host/x.git"\ncommit-id = "abc"\n')
        self.write(pylock_toml=self.pylock() + repository)
        answer = self.build('--engine=docker', '--lock=pylock.toml', status=2)
        self.assertIn('`from-git`', answer.err)
        self.assertIn('version control', answer.err)
        answer = self.build('--engine=direct', '--lock=pylock.toml', status=1)
        self.assertIn('version control', answer.err)

    def test_one_with_packages_of_no_index_is_passed_over(self):
        repository = '[[packages]]\nname = "from-git"\nversion = "1"\n[packages.vcs]\ntype = "git"\n'
        self.write(pylock_toml=self.pylock() + repository, train_py='print("trained")\n')
        answer = self.build()
        self.assertIn('nothing of `pylock.toml` is installed', answer.err)
        self.assertEqual(testbed.run_image(answer.json()['uri']), 'trained')

    @testbed.nightly('test_beside_the_projects_own_package')
    def test_directories_are_built_as_requirements_that_name_them(self):
        write_in_tree('nested', '0.3').rename(self.folder / 'lib')
        self.write(train_py='import importlib.metadata as metadata, nested\n'
                            'print(nested.MADE, metadata.distribution("nested").read_text("direct_url.json"))\n')
        package = '[[packages]]\nname = "nested"\nversion = "0.1"\n[packages.directory]\npath = "lib"\n'
        self.write(pylock_toml=self.pylock() + package)
        told = []
        for flags in (['--lock=pylock.toml'], ['--lock=uv.lock'], ['--lock=poetry.lock'], ['--lock=pdm.lock'], ['--lock=Pipfile.lock']):
            answer = self.build(*flags)
            told.append(testbed.run_image(answer.json()['uri']))
            self.assertEqual('from `lib`, a directory of sources' in answer.err, len(told) == 1)
            self.write(
                uv_lock=self.uv_lock().replace('[{ name = "counted" }]', '[{ name = "counted" }, { name = "nested" }]')
                + '[[package]]\nname = "nested"\nversion = "0.1"\nsource = { editable = "lib" }\n',
                poetry_lock='[[package]]\nname = "nested"\nversion = "0.1"\ngroups = ["main"]\nfiles = []\n\n[package.source]\n'
                            'type = "directory"\nurl = "lib"\n\n[metadata]\nlock-version = "2.1"\npython-versions = "*"\n',
                pdm_lock='[metadata]\nstrategy = ["inherit_metadata"]\nlock_version = "4.5.0"\n\n'
                         '[[package]]\nname = "nested"\nversion = "0.1"\npath = "./lib"\ngroups = ["default"]\n',
                Pipfile_lock=json.dumps({'_meta': {'pipfile-spec': 6, 'requires': {}, 'sources': []},
                                         'default': {'nested': {'editable': True, 'path': './lib'}}, 'develop': {}}, indent=4))
        self.assertEqual(len({*told}), 1, told)
        self.assertIn('{"dir_info": {}, "url": "file:///mnt/lib"}', told[0])
        (self.folder / 'lib' / 'more.txt').write_text('x')
        self.assertNotEqual(testbed.run_image(self.build('--lock=uv.lock').json()['uri']), told[0])
        answer = self.build('--engine=docker', '--no-cache', '--lock=pylock.toml', status=2)
        self.assertIn('pip cannot install `nested` by a hash: it is a directory of sources', answer.err)
        self.assertIn('--engine=auto', answer.err)
        (self.folder / 'lib').rename(self.folder / 'other')
        answer = self.build('--lock=pylock.toml', status=2)
        self.assertIn('`lib` does not exist', answer.err)
        self.assertIn('from: pylock.toml', answer.err)

    def test_is_explained_and_its_change_told(self):
        self.write(uv_lock=self.uv_lock())
        explained = autopack('explain', '--executor-image-uri', self.base, '--script=train.py', cwd=self.folder,
                             env=self.env).out
        self.assertIn('what uv.lock chooses', explained)
        self.assertIn('reads', explained)
        self.build()
        self.write(uv_lock=self.uv_lock().replace('revision = 1', 'revision = 2'))
        self.assertIn('uv.lock changed', self.build().err)
