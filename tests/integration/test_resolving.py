"""`autopack lock` resolves requirements by uv; what it wrote is installed as layers of wheels, without an engine."""

import hashlib
import io
import json
import os
import pathlib
import tarfile
import unittest

import testbed
from index_server import IndexServer
from repositories import repository
from test_wheels import write_wheel
from testbed import autopack, docker

ENTRY = """import json, importlib.metadata as metadata
print(json.dumps({d.metadata["Name"]: d.version for d in metadata.distributions()
                  if (d.metadata["Name"] or "").startswith("lk_")}))
"""
RECORDER = """#!/bin/sh
printf '%s\\n' "$0" "$@" >> {log}
exec {uv} "$@"
"""


def write_sdist(house, name, version, setup):
    """Writes one as old tools did: its metadata lists no requirements."""
    stem = f'{name}-{version}'
    with tarfile.open(house / f'{stem}.tar.gz', 'w:gz') as archive:
        for path, text in ((f'{stem}/setup.py', setup),
                           (f'{stem}/PKG-INFO', f'Metadata-Version: 1.0\nName: {name}\nVersion: {version}\n')):
            entry = tarfile.TarInfo(path)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))


class Commands:
    """The commands of a test with an image `base`, a project `folder`, an environment `env` and an image `name`."""

    def lock(self, *flags, status=0, **env):
        return autopack('lock', '--executor-image-uri', self.base, '--script=train.py', *flags, cwd=self.folder,
                        env={**self.env, **env}, status=status)

    def build(self, *flags, status=0, **env):
        return autopack('build', '--executor-image-uri', self.base, '--script=train.py', '--format=json',
                        '--engine=direct', f'--output-image-uri={self.name}', *flags, cwd=self.folder,
                        env={**self.env, **env}, status=status)

    def versions(self, answer):
        return json.loads(testbed.run_image(answer.json()['uri']))


class Resolving(Commands, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('resolving/base:1')
        cls.house = testbed.new_folder('house')
        write_wheel(cls.house, 'lk_top', '1.0', {'lk_top.py': ''}, ['lk_low>=1'])
        write_wheel(cls.house, 'lk_low', '1.0', {'lk_low.py': ''})
        write_wheel(cls.house, 'lk_other', '3.0', {'lk_other.py': ''}, ['lk_low<2'])
        write_wheel(cls.house, 'lk_array', '1.0', {'lk_array.py': ''}, ['numpy>=1'])
        write_wheel(cls.house, 'lk_old', '1.0', {}).rename(cls.house / 'lk_old-1.0-cp37-cp37m-manylinux2014_x86_64.whl')
        testbed.make_wheel('lk_source', '1.0', 'VALUE = 1\n', cls.house, kind='--sdist', requires=['lk_low'])
        write_sdist(cls.house, 'lk_computed', '1.0', 'import os\nopen(os.environ.get("MARK", "/nowhere"), "w")\n'
                    'from setuptools import setup\nsetup(name="lk_computed", version="1.0", '
                    'install_requires=[os.environ["X"]])\n')

    def setUp(self):
        self.index = testbed.start_index([self.house])
        self.env = testbed.environment(PIP_INDEX_URL=self.index.url, AUTOPACK_UV=str(testbed.uv()),
                                       XDG_CACHE_HOME=str(testbed.new_cache()),
                                       DOCKER_HOST='unix:///nowhere')
        self.folder = testbed.write_tree({'train.py': ENTRY, 'requirements.txt': 'lk_top\n'})
        self.name = testbed.image_name('resolving')

    def require(self, *lines):
        (self.folder / 'requirements.txt').write_text('\n'.join(lines) + '\n')

    def text(self):
        return (self.folder / 'pylock.toml').read_text()

    def test_packages_are_explained_with_their_sizes(self):
        def explained():
            return autopack('explain', '--executor-image-uri', self.base, '--script=train.py',
                            f'--output-image-uri={self.name}', cwd=self.folder, env=self.env).out

        index = IndexServer([self.house])
        self.addCleanup(index.close)
        self.env['PIP_INDEX_URL'] = index.url
        self.assertNotIn('Packages', explained())  # not resolved yet
        self.build()
        said = explained()
        self.assertRegex(said, r'(?m)^Packages: 2, .* k?B$')
        self.assertRegex(said, r'(?m) k?B  lk-top 1\.0  for requirements\.txt:1  from 127\.0\.0\.1$')
        self.assertRegex(said, r'(?m) k?B  lk-low 1\.0  for lk-top  from 127\.0\.0\.1$')

    def test_what_it_wrote_is_installed(self):
        self.lock()
        self.assertEqual(self.versions(self.build()), {'lk_top': '1.0', 'lk_low': '1.0'})

    def test_a_script_alone_is_a_project(self):
        def block(*requirements):
            return (f'# /// script\n# requires-python = ">=3.8"\n# dependencies = {json.dumps(requirements)}\n#\n'
                    f'# [[tool.uv.index]]\n# url = "{self.index.url}"\n# default = true\n# ///\n')

        self.env['PIP_INDEX_URL'] = testbed.start_index([testbed.new_folder('empty')]).url
        self.folder = testbed.write_tree({'train.py': block('lk_top') + ENTRY})
        self.assertEqual(self.versions(self.build()), {'lk_top': '1.0', 'lk_low': '1.0'})
        self.lock()
        answer = self.build()
        self.assertNotIn('warning', answer.err)
        self.assertEqual(self.versions(answer), {'lk_top': '1.0', 'lk_low': '1.0'})
        (self.folder / 'train.py').write_text(block('lk_low') + ENTRY)
        answer = self.build()
        self.assertIn('`pylock.toml` is not used: `train.py` has changed since it was written', answer.err)
        self.assertEqual(self.versions(answer), {'lk_low': '1.0'})

    def test_an_added_line_changes_only_what_it_must(self):
        self.lock()
        newer = write_wheel(self.house, 'lk_low', '1.5', {'lk_low.py': ''})
        newest = write_wheel(self.house, 'lk_low', '2.0', {'lk_low.py': ''})
        self.addCleanup(newer.unlink)
        self.addCleanup(newest.unlink)
        index = testbed.start_index([self.house])
        self.require('lk_top', 'lk_other')
        answer = self.lock(PIP_INDEX_URL=index.url)
        self.assertIn('now lk-other==3.0; 2 unchanged', answer.err)
        answer = self.lock('--upgrade=lk_low', PIP_INDEX_URL=index.url)
        self.assertIn('now lk-low==1.5; no longer lk-low==1.0; 2 unchanged', answer.err)
        self.assertNotIn('nothing requires', answer.err)
        self.assertIn('nothing requires `lk_lwo`', self.lock('--upgrade=lk_lwo', PIP_INDEX_URL=index.url).err)
        self.require('lk_top')
        answer = self.lock('--upgrade', PIP_INDEX_URL=index.url)
        self.assertIn('now lk-low==2.0', answer.err)

    def test_nothing_is_raised_at_the_cost_of_what_the_project_requires(self):
        # uv settles lk_mid first, at its newest, which keeps lk_far at 2.0.
        house = testbed.new_folder('far')
        for version, needs in (('2.0', []), ('5.0', ['lk_mid<3'])):
            write_wheel(house, 'lk_far', version, {'lk_far.py': ''}, needs)
        for version in ('2.0', '3.0'):
            write_wheel(house, 'lk_mid', version, {'lk_mid.py': ''})
        index = testbed.start_index([house])
        self.require('lk_mid', 'lk_far')
        answer = self.lock(PIP_INDEX_URL=index.url)
        self.assertIn('name = "lk-far"\nversion = "2.0"', self.text())
        self.assertIn('name = "lk-mid"\nversion = "3.0"', self.text())
        self.assertNotIn('Raised', answer.err)

    def test_check(self):
        answer = self.lock('--check', status=3)
        self.assertIn('does not exist', answer.err)
        self.assertFalse((self.folder / 'pylock.toml').exists())
        self.lock()
        before = self.text()
        self.assertEqual(self.lock('--check', '--format=json').json()['packages'], ['lk-low==1.0', 'lk-top==1.0'])
        self.require('# nothing else', 'lk_top', 'lk_other')
        answer = self.lock('--check', status=3)
        self.assertIn('+lk-other==3.0', answer.out)
        self.assertEqual(self.text(), before)

    def test_an_old_lock_is_not_used_and_a_comment_makes_none_old(self):
        self.lock()
        self.require('# the same', 'lk_top')
        self.assertNotIn('warning', self.build().err)
        self.require('lk_top', 'lk_other==3.0', 'lk_low==1.0')
        answer = autopack('explain', '--check', '--executor-image-uri', self.base, '--script=train.py', cwd=self.folder,
                          env=self.env)
        self.assertIn('`pylock.toml` is not used: `requirements.txt` has changed since it was written', answer.err)

    def test_the_image_s_own_packages_count_as_installed(self):
        self.require('lk_array')  # needs numpy, which the index lacks
        answer = self.lock()
        self.assertIn('(1 of them it has already)', answer.err)
        self.assertIn('"numpy==', self.text())
        self.assertEqual(self.versions(self.build()), {'lk_array': '1.0'})
        text = self.text()
        (self.folder / 'pylock.toml').write_text(text.replace('"numpy==', '"numpy==0.'))
        answer = autopack('build', '--executor-image-uri', self.base, '--script=train.py', '--engine=direct',
                          f'--output-image-uri={self.name}', cwd=self.folder, env=self.env, status=2)
        self.assertIn('expects numpy 0.', answer.err)

    def test_a_build_resolves_once(self):
        self.require('lk_top')
        answer = self.build('--resolver=uv')
        self.assertIn('Resolved  2 packages', answer.err)
        self.assertEqual(self.versions(answer), {'lk_top': '1.0', 'lk_low': '1.0'})
        (self.folder / 'train.py').write_text(ENTRY + '# edited\n')
        self.assertNotIn('Resolved', self.build('--resolver=uv').err)
        newer = write_wheel(self.house, 'lk_low', '1.6', {'lk_low.py': ''})
        self.addCleanup(newer.unlink)
        self.index.files['lk-low'][newer.name] = newer
        other = f'--output-image-uri={testbed.image_name("resolving-other")}'
        self.assertNotIn('Resolved', self.build('--resolver=uv', other).err)
        elsewhere = testbed.start_index([self.house])
        other = f'--output-image-uri={testbed.image_name("resolving-elsewhere")}'
        self.assertIn('Resolved', self.build('--resolver=uv', other, PIP_INDEX_URL=elsewhere.url).err)
        self.require('lk_top', 'lk_other')
        answer = self.build('--resolver=uv')
        self.assertEqual(self.versions(answer), {'lk_top': '1.0', 'lk_low': '1.0', 'lk_other': '3.0'})
        answer = self.build('--resolver=uv', '--no-cache')
        self.assertEqual(self.versions(answer)['lk_low'], '1.6')
        self.assertFalse((self.folder / 'pylock.toml').exists())

    def test_another_machine_takes_the_resolution_of_the_repository(self):
        first = self.build()
        self.assertIn('Resolved  2 packages', first.err)
        newest = write_wheel(self.house, 'lk_low', '1.9', {'lk_low.py': ''})
        self.addCleanup(newest.unlink)
        other = {'XDG_CACHE_HOME': str(testbed.new_folder('other')), 'PIP_INDEX_URL': testbed.start_index([self.house]).url}
        self.require('lk_top', 'lk_other')
        added = self.build(**other)
        self.assertEqual(self.versions(added), {'lk_top': '1.0', 'lk_low': '1.0', 'lk_other': '3.0'})
        anew = self.build('--no-cache', **other)
        self.assertEqual(self.versions(anew)['lk_low'], '1.9')

    def test_the_project_in_a_nested_requirements_file(self):
        (self.folder / 'pyproject.toml').write_text('[project]\nname = "lab"\nversion = "1"\n'
                                                    'dependencies = ["lk_other"]\n[tool.setuptools]\npy-modules = []\n')
        self.require('-r more.txt')
        (self.folder / 'more.txt').write_text('lk_top\n-e .\n')
        self.lock()
        for name in ('lk-top', 'lk-other', 'lk-low'):
            self.assertIn(f'name = "{name}"', self.text())
        self.assertNotIn('name = "lab"', self.text())

    def test_a_program_of_the_project_is_not_uv(self):
        mark = testbed.new_folder('mark') / 'ran'
        (self.folder / 'uv').write_text(f'#!/bin/sh\ntouch {mark}\necho uv 0.13.9\n')
        (self.folder / 'uv').chmod(0o755)
        self.env = {key: value for key, value in self.env.items() if key != 'AUTOPACK_UV'} | {'PATH': '.::/usr/bin:/bin'}
        self.lock(status=1)
        self.assertFalse(mark.exists())

    def test_extra_packages_are_resolved_too(self):
        extra = write_wheel(testbed.new_folder('extra'), 'lk_extra', '1.0', {'lk_extra.py': ''}, ['lk_other'])
        everything = {'lk_extra': '1.0', 'lk_top': '1.0', 'lk_low': '1.0', 'lk_other': '3.0'}
        answer = self.build('--resolver=uv', f'--extra-packages={extra}')
        self.assertEqual(self.versions(answer), everything)
        self.lock(f'--extra-packages={extra}')
        answer = self.build(f'--extra-packages={extra}', f'--output-image-uri={testbed.image_name("resolving-extra")}')
        self.assertEqual(self.versions(answer), everything)

    def test_hashes_of_requirements_are_checked(self):
        def line(name, version, digest=None):
            path = next(self.house.glob(f'{name}-{version}-*.whl'))
            return f'{name}>={version} --hash=sha256:{digest or hashlib.sha256(path.read_bytes()).hexdigest()}'

        self.require(line('lk_top', '1.0'), line('lk_low', '1.0'))
        self.assertEqual(self.versions(self.build()), {'lk_top': '1.0', 'lk_low': '1.0'})
        for lines, words in (([line('lk_top', '1.0'), line('lk_low', '1.0', '0' * 64)],
                              'the index has `lk-low` 1.0 with another hash than its requirement'),
                             ([line('lk_top', '1.0')], '`lk-low`, which they require, has none')):
            self.require(*lines)
            for call in (self.lock, self.build):
                self.assertIn(words, call(status=2).err)
        # What a flag asks for is installed apart by pip, without hashes.
        self.require(line('lk_low', '1.0'))
        self.assertEqual(self.versions(self.build('--requirements=lk_other')), {'lk_other': '3.0', 'lk_low': '1.0'})

    def test_hashes_that_no_lock_has_are_left_to_pip(self):
        self.require(f'lk_low>=1 --hash=sha512:{"0" * 128}')
        answer = self.build(status=1)
        self.assertIn('only pip checks hashes other than sha256', answer.err)

    def test_an_image_s_settings_of_connections_need_no_engine(self):
        folder = testbed.write_tree({'Dockerfile': f'FROM {self.base}\nENV PIP_CERT=/etc/ssl/certs/own.pem PIP_RETRIES=2\n'})
        base = testbed.image_name('resolving-base')
        docker('build', '-q', '-t', base, folder)
        docker('push', '-q', base)
        answer = autopack('build', '--executor-image-uri', base, '--script=train.py', '--format=json', '--engine=direct',
                          f'--output-image-uri={self.name}', cwd=self.folder, env=self.env)
        self.assertEqual(self.versions(answer), {'lk_top': '1.0', 'lk_low': '1.0'})

    def test_git_reads_repositories_with_the_user_s_configuration(self):
        place = repository({'pyproject.toml': '[build-system]\nrequires = ["setuptools"]\n'
                            'build-backend = "setuptools.build_meta"\n'
                            '[project]\nname = "lk_git"\nversion = "1.0"\ndependencies = ["lk_low"]\n'})
        settings = testbed.new_folder('git') / 'config'
        settings.write_text(f'[url "file://{place}"]\n    insteadOf = https://git.invalid/team/lk_git\n')
        self.require('lk_git @ git+https://git.invalid/team/lk_git@main')
        self.lock(GIT_CONFIG_GLOBAL=str(settings))
        self.assertIn('name = "lk-low"', self.text())
        (self.folder / 'pylock.toml').unlink()
        answer = self.lock(status=2, XDG_CACHE_HOME=str(testbed.new_cache()), GIT_CONFIG_GLOBAL='/dev/null')
        self.assertIn('could not fetch `https://git.invalid/team/lk_git`', answer.err)
        self.assertIn('requirements.txt:1', answer.err)

    def test_no_solution(self):
        self.require('lk_top', 'lk_low>=9')
        answer = self.lock(status=2)
        self.assertIn('the requirements cannot be resolved', answer.err)
        self.assertIn('requirements.txt:2 requires `lk-low>=9`', answer.err)
        self.assertNotIn('--', answer.err.split('error:')[1])
        self.assertFalse((self.folder / 'pylock.toml').exists())

    def test_a_pin_without_a_wheel_for_the_python_says_which_has_one(self):
        self.require('lk_old==1.0')
        answer = self.lock(status=2)
        self.assertIn('`cp311`', answer.err)
        self.assertIn('`cp37m`', answer.err)

    def test_versions_for_other_pythons_are_not_chosen(self):
        house = testbed.new_folder('house')
        for version, python in (('1.0', '>=3.6'), ('2.0', '>=3.8,<3.10'), ('2.1', '>=3.8,<3.11')):
            write_wheel(house, 'lk_limited', version, {'lk_limited.py': ''}, python=python)
        write_wheel(house, 'lk_native', '1.0', {}).rename(house / 'lk_native-1.0-cp39-cp39-manylinux2014_x86_64.whl')
        testbed.make_wheel('lk_native', '1.0', 'VALUE = 1\n', house, kind='--sdist')
        for settings in ({'metadata': True}, {'pythons': True}):  # beside the wheel, or only on the index's page
            index = IndexServer([house], **settings)
            self.addCleanup(index.close)
            for file in house.iterdir() if 'pythons' in settings else ():
                index.misbehave(f'/files/{file.name}.metadata', 9, status=403)
            self.env['PIP_INDEX_URL'] = index.url
            self.env['XDG_CACHE_HOME'] = str(testbed.new_cache())
            self.require('lk_limited')
            self.lock()
            self.assertIn('version = "1.0"', self.text())
            self.require('lk_limited>=2')
            answer = self.lock(status=2)
            self.assertIn('`lk-limited` 2.1 requires Python >=3.8,<3.11, and the executor image has 3.11', answer.err)
            self.assertIn('requirements.txt:1', answer.err)
            (self.folder / 'pylock.toml').unlink()
        self.require('lk_native')
        answer = self.lock()
        self.assertIn('`lk-native` 1.0 has no wheel for this Python and has to be built', answer.err)
        self.assertIn('Python 3.9, for which it has wheels', answer.err)

    def test_no_code_of_a_package_runs(self):
        mark = testbed.new_folder('mark') / 'ran'
        folder = testbed.write_tree({'setup.py': f'open({str(mark)!r}, "w").close()\nfrom setuptools import setup\n'
                                                 'setup(name="lk_evil", version="1.0")\n'})
        self.require('lk_top', f'./{folder.name}')
        os.rename(folder, self.folder / folder.name)
        answer = self.lock(status=2)
        self.assertIn('has to be built', answer.err)
        self.assertFalse(mark.exists())

    def test_a_source_distribution_is_read_and_not_run(self):
        write_sdist(self.house, 'lk_old', '2.0', 'from setuptools import setup\n'
                    'setup(name="lk_old", version="2.0", install_requires=["lk_low>=1"], py_modules=["lk_old"])\n')
        self.index = testbed.start_index([self.house])
        self.require('lk_old', 'lk_source')
        self.lock(PIP_INDEX_URL=self.index.url)
        for name in ('lk-old', 'lk-source', 'lk-low'):
            self.assertIn(f'name = "{name}"', self.text())
        mark = testbed.new_folder('mark') / 'ran'
        self.require('lk_computed')
        before = self.text()
        answer = self.lock(status=2, MARK=str(mark), PIP_INDEX_URL=self.index.url)
        self.assertIn('`lk-computed==1.0` has to be built before its dependencies are known', answer.err)
        self.assertFalse(mark.exists())
        self.assertEqual(self.text(), before)

    def test_indexes_and_versions_that_only_uv_reads(self):
        other = testbed.new_folder('house')
        write_wheel(other, 'lk_top', '1.5', {'lk_top.py': ''}, ['lk_low>=1'])
        write_wheel(other, 'lk_low', '7.0', {'lk_low.py': ''})
        house = testbed.start_index([other])
        (self.folder / 'requirements.txt').unlink()

        def built(settings, *requirements, **env):
            (self.folder / 'pyproject.toml').write_text(
                f'[project]\nname = "app"\nversion = "0.1"\ndependencies = {json.dumps(requirements)}\n'
                f'[tool.uv]\npackage = false\n{settings}')
            return self.build(**env)

        index = f'[[tool.uv.index]]\nname = "house"\nurl = "{house.url}"\n'
        explicit = index + 'explicit = true\n[tool.uv.sources]\nlk_top = { index = "house" }\n'
        answer = built(explicit, 'lk_top')
        self.assertEqual(self.versions(answer), {'lk_top': '1.5', 'lk_low': '1.0'})
        self.assertNotIn('warning', answer.err)
        # A pin too is only looked for in its index, and no other index is asked about it.
        before = len(self.index.requests)
        (self.folder / 'pyproject.toml').write_text(
            '[project]\nname = "app"\nversion = "0.1"\ndependencies = ["lk_top==1.0"]\n[tool.uv]\npackage = false\n' + explicit)
        self.assertIn('no index has `lk-top==1.0`', self.build(status=2).err)
        self.assertNotIn('/simple/lk-top/', [entry['path'] for entry in self.index.requests[before:]])
        # For uv, the first index that has a package decides; pip's default index is the last.
        first = f'[[tool.uv.index]]\nname = "first"\nurl = "{self.index.url}"\n'
        self.assertEqual(self.versions(built(first, 'lk_top', PIP_INDEX_URL=house.url)), {'lk_top': '1.0', 'lk_low': '1.0'})
        self.assertEqual(self.versions(built('override-dependencies = ["lk_low>=7"]\n' + index, 'lk_other')),
                         {'lk_other': '3.0', 'lk_low': '7.0'})
        self.lock()
        self.assertEqual(self.versions(self.build('--no-cache')), {'lk_other': '3.0', 'lk_low': '7.0'})
        (self.folder / 'pylock.toml').unlink()
        self.assertEqual(self.versions(built('constraint-dependencies = ["lk_top<1.5"]\nindex-strategy = '
                                             '"unsafe-best-match"\n' + index, 'lk_top')), {'lk_top': '1.0', 'lk_low': '7.0'})
        answer = autopack('dockerfile', '--executor-image-uri', self.base, '--script=train.py', cwd=self.folder, env=self.env)
        self.assertIn('pip does not read which versions `[tool.uv]` chooses', answer.err)

    def test_a_project_without_a_package_needs_no_engine(self):
        (self.folder / 'requirements.txt').unlink()
        for text in ('[project]\nname = "app"\nversion = "0.1"\ndependencies = ["lk_other"]\n[tool.uv]\n',
                     '[tool.poetry]\npackage-mode = false\n[tool.poetry.dependencies]\npython = "^3.8"\nlk_other = "^3.0"\n'):
            (self.folder / 'pyproject.toml').write_text(text)
            self.assertEqual(self.versions(self.build()), {'lk_other': '3.0', 'lk_low': '1.0'})

    def test_a_source_distribution_that_computes_is_built_once(self):
        house = testbed.new_folder('computing')
        write_sdist(house, 'lk_builds', '1.0', 'import os\nfrom setuptools import setup\nsetup(name="lk_builds", '
                    'version="1.0", py_modules=[], install_requires=["lk_low" + os.environ.get("NOTHING", "")])\n')
        self.env = {key: value for key, value in self.env.items() if key != 'DOCKER_HOST'}
        self.env['PIP_INDEX_URL'] = testbed.start_index([self.house, house]).url
        self.require('lk_builds', 'lk_top')
        flags = ['--engine=auto', '--build-network=host']
        first = self.build(*flags)
        self.assertEqual(self.versions(first), {'lk_low': '1.0', 'lk_top': '1.0'})
        self.assertRegex(first.err, 'Built  `lk_builds-1.0')
        self.assertRegex(first.err, 'Resolved  3 packages')
        self.require('lk_builds')
        second = self.build('--engine=direct')
        self.assertEqual(self.versions(second), {'lk_low': '1.0'})

    def test_a_package_that_computes_what_it_requires_is_built_alone_and_once(self):
        testbed.write_tree({
            'setup.py': 'from setuptools import setup\nlines = open("needs.txt").read().split()\n'
                        'setup(name="lab", version="1.0", py_modules=["lab"], install_requires=lines,\n'
                        '      extras_require={"more": ["lk_other"], "all": ["lab[more]"], "none": ["lk_nowhere"]},\n'
                        '      entry_points={"console_scripts": ["lab = lab:main"]})\n',
            'needs.txt': 'lk_top\n', 'lab.py': 'def main(): print("from the launcher")\n', 'requirements.txt': '-e .[all]\n'},
            self.folder)
        answer = self.lock(status=2)
        self.assertIn("only a build of the project's own package knows what it requires", answer.err)
        self.env = {key: value for key, value in self.env.items() if key != 'DOCKER_HOST'}
        flags = ['--engine=auto', '--build-network=host']
        first = self.build(*flags)
        everything = {'lk_top': '1.0', 'lk_low': '1.0', 'lk_other': '3.0'}
        self.assertEqual(self.versions(first), everything)
        self.assertRegex(first.err, "Built  the project's own package in")
        self.assertRegex(first.err, 'Resolved  3 packages')
        self.assertEqual(testbed.run_image('--entrypoint=lab', first.json()['uri']), 'from the launcher')
        # Another repository takes it from here, without the engine.
        elsewhere = self.build(f'--output-image-uri={testbed.image_name("resolving-elsewhere")}')
        self.assertNotIn('Built', elsewhere.err)
        self.assertEqual(self.versions(elsewhere), everything)
        self.lock(DOCKER_HOST='unix:///nowhere')
        for name in ('lk-top', 'lk-other', 'lk-low'):
            self.assertIn(f'name = "{name}"', self.text())
        locked = self.build()
        self.assertEqual(self.versions(locked), everything)
        (self.folder / 'needs.txt').write_text('lk_low\n')
        changed = self.build(*flags)
        self.assertIn('`needs.txt` has changed since it was written', changed.err)
        self.assertRegex(changed.err, "Built  the project's own package in")
        self.assertEqual(self.versions(changed), {'lk_low': '1.0', 'lk_other': '3.0'})

    def test_pins_beside_a_setup_py_are_layers(self):
        testbed.write_tree({'setup.py': 'from setuptools import setup\nopen("made.py", "w").write("MADE = 1")\n'
                                        'setup(name="lab", version="1." + str(1), py_modules=["lab"])\n',
                            'lab.py': '', 'requirements.txt': 'lk_top==1.0\nlk_low==1.0\n'}, self.folder)
        self.env = {key: value for key, value in self.env.items() if key != 'DOCKER_HOST'}
        answer = self.build('--engine=auto', '--build-network=host')
        self.assertRegex(answer.err, "Built  the project's own package in")
        self.assertNotIn('Resolved', answer.err)
        self.assertEqual(self.versions(answer), {'lk_top': '1.0', 'lk_low': '1.0'})
        self.assertEqual(testbed.run_image('--entrypoint=python3', answer.json()['uri'], '-c',
                                'import lab, made, importlib.metadata as m; print(m.version("lab"))'), '1.1')

    def test_a_login_of_the_index_is_nowhere(self):
        secret = 'hunter2-of-the-index'
        index = testbed.start_index([self.house], user='me', password=secret)
        log = testbed.new_folder('log') / 'words'
        recorder = testbed.new_folder('recorder') / 'uv'
        recorder.write_text(RECORDER.format(log=log, uv=testbed.uv()))
        recorder.chmod(0o755)
        url = index.url.replace('://', f'://me:{secret}@')
        answer = self.lock('-vv', PIP_INDEX_URL=url, AUTOPACK_UV=str(recorder))
        self.assertIn('compile', log.read_text())
        for place in (log.read_text(), self.text(), answer.err, answer.out):
            self.assertNotIn(secret, place)
        for path in pathlib.Path(self.env['XDG_CACHE_HOME']).rglob('*'):
            if path.is_file():
                self.assertNotIn(secret.encode(), path.read_bytes(), path)

    def test_variables_in_an_index_of_a_requirements_file(self):
        index = testbed.start_index([self.house], user='me', password='hunter2-of-variables')
        self.require('--index-url ' + index.url.replace('://', '://${LK_USER}:${LK_WORD}@'), 'lk_top')
        login = {'LK_USER': 'me', 'LK_WORD': 'hunter2-of-variables', 'PIP_INDEX_URL': 'http://127.0.0.1:9/simple'}
        answer = self.build(**login)
        self.assertEqual(self.versions(answer), {'lk_top': '1.0', 'lk_low': '1.0'})
        self.assertNotIn(login['LK_WORD'], answer.err)

    def test_a_wrong_date_is_found_before_anything_is_asked(self):
        answer = self.lock('--exclude-newer=yesterday', status=2)
        self.assertIn('`--exclude-newer` is `yesterday`, which is not a date', answer.err)
        self.assertEqual(self.index.requests, [])

    def test_another_program_is_not_uv(self):
        answer = self.lock(status=2, AUTOPACK_UV='/bin/true')
        self.assertIn('AUTOPACK_UV is `/bin/true`, which is not uv', answer.err)

    def test_a_lock_of_another_tool_stays(self):
        (self.folder / 'pylock.toml').write_text('lock-version = "1.0"\ncreated-by = "me"\n')
        answer = self.lock(status=2)
        self.assertIn('was not written by `autopack lock`', answer.err)
        self.lock('--force')
        self.assertIn('created-by = "autopack"', self.text())

    def test_uv_comes_from_the_index_and_is_checked(self):
        without = {key: value for key, value in self.env.items() if key != 'AUTOPACK_UV'} | {'PATH': '/usr/bin:/bin'}
        self.env = without
        answer = self.lock(status=1)
        self.assertIn('the index has no `uv-', answer.err)
        self.assertIn('AUTOPACK_UV', answer.err)
        bad = testbed.new_folder('bad')
        (bad / testbed.UV_WHEEL).write_bytes(b'not uv')
        answer = self.lock(status=1, PIP_INDEX_URL=testbed.start_index([self.house, bad]).url)
        self.assertIn('which this machine lacks', answer.err)
        good = testbed.start_index([self.house, testbed.uv_wheel().parent])
        self.lock(PIP_INDEX_URL=good.url)
        self.lock()  # from the cache, though this index has none

