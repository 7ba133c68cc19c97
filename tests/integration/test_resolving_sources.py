"""Directories, repositories and archives in open requirements: what they require, and their wheels."""

import io
import random
import string
import tarfile
import unittest

import testbed
from repositories import repository
from test_resolving import Commands
from test_wheels import write_wheel
from testbed import docker

ENTRY = """import json, importlib.metadata as metadata
names = {d.metadata["Name"].replace("-", "_"): d.version for d in metadata.distributions()}
print(json.dumps({name: version for name, version in names.items() if name.startswith("lk_")}))
"""
COMPUTES = """from setuptools import setup
setup(name="{name}", version="1.0", py_modules=["{name}"], install_requires=open("needs.txt").read().split())
"""


def computing(name, needs):
    """Returns the files of a package that computes what it requires."""
    return {'setup.py': COMPUTES.format(name=name), 'needs.txt': f'{needs}\n', f'{name}.py': ''}


class ResolvingSources(Commands, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('resolving/base:1')
        cls.house = testbed.new_folder('house')
        for name in ('lk_a', 'lk_b', 'lk_c', 'lk_d'):
            write_wheel(cls.house, name, '1.0', {f'{name}.py': ''})

    def setUp(self):
        self.env = testbed.environment(PIP_INDEX_URL=testbed.start_index([self.house]).url, AUTOPACK_UV=str(testbed.uv()),
                                       XDG_CACHE_HOME=str(testbed.new_cache()), DOCKER_HOST='unix:///nowhere')
        self.name = testbed.image_name('resolving-sources')

    def test_each_is_built_once_to_know_what_it_requires(self):
        place = repository(computing('lk_repository', 'lk_b'))
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode='w:gz') as tar:
            for path, text in computing('lk_archive', 'lk_c').items():
                entry = tarfile.TarInfo(f'lk_archive-1.0/{path}')
                entry.size = len(text)
                tar.addfile(entry, io.BytesIO(text.encode()))
        self.folder = testbed.write_tree({
            'train.py': ENTRY, 'requirements.txt': f'./lab\ngit+file://{place}\n./lk_archive-1.0.tar.gz\n',
            **{f'lab/{path}': text for path, text in computing('lk_lab', 'lk_a').items()}})
        (self.folder / 'lk_archive-1.0.tar.gz').write_bytes(archive.getvalue())
        answer = self.lock(status=2)
        self.assertIn('has to be built before its dependencies are known', answer.err)
        self.assertIn('requirements.txt:1 requires `lab`', answer.err)

        engine = {key: value for key, value in self.env.items() if key != 'DOCKER_HOST'}
        alone, self.env = self.env, engine
        answer = self.build('--engine=auto', '--build-network=host')
        everything = {name: '1.0' for name in ('lk_lab', 'lk_a', 'lk_repository', 'lk_b', 'lk_archive', 'lk_c')}
        self.assertEqual(self.versions(answer), everything)
        for words in ('from `lab`, a directory of sources', f'from `file://{place}`, a commit of a repository',
                      'from `lk_archive-1.0.tar.gz`, a source distribution', 'Resolved  6 packages'):
            self.assertIn(words, answer.err)
        self.env = alone
        self.lock()
        self.assertEqual(self.versions(self.build()), everything)
        # The lock is old if a file has changed that lists what a directory requires.
        (self.folder / 'lab/needs.txt').write_text('lk_b\n')
        self.env = engine
        answer = self.build('--engine=auto', '--build-network=host')
        self.assertIn('`lab/needs.txt` has changed since it was written', answer.err)
        del everything['lk_a']
        self.assertEqual(self.versions(answer), everything)

    def test_another_machine_takes_built_wheels_from_the_layers_of_the_repository(self):
        dice = {'setup.py': 'import random\nopen("lk_dice.py", "w").write(f"VALUE = {random.random()}")\n'
                            + COMPUTES.format(name='lk_dice'), 'needs.txt': 'lk_b\n'}
        large = ''.join(random.Random(1).choices(string.ascii_letters, k=4 << 20))  # has a layer of its own
        self.folder = testbed.write_tree({
            'train.py': ENTRY, 'requirements.txt': './lab\n', **{f'dice/{path}': text for path, text in dice.items()},
            **{f'lab/{path}': text for path, text in computing('lk_lab', 'lk_a').items()}, 'lab/lk_lab.py': f'X = "{large}"'})
        requirements = self.folder / 'requirements.txt'
        alone = self.env
        engine = {key: value for key, value in self.env.items() if key != 'DOCKER_HOST'}

        def here():
            self.env = engine
            return self.build('--engine=auto', '--build-network=host')

        def elsewhere(*more, env=alone, status=0):
            self.env = {**env, 'XDG_CACHE_HOME': str(testbed.new_cache())}
            return self.build(*more, status=status)

        here()

        requirements.write_text('./lab\nlk_c\n')
        self.assertIn('has to be built before its dependencies are known', elsewhere('--strict', status=1).err)
        self.assertEqual(self.versions(elsewhere()), {'lk_lab': '1.0', 'lk_a': '1.0', 'lk_c': '1.0'})
        # A small wheel shares a layer that changes with the others, and this one is never the same twice.
        requirements.write_text('./lab\n./dice\n')
        here()
        requirements.write_text('./lab\n./dice\nlk_c\nlk_d\n')
        self.assertIn('only an engine can build `dice`', elsewhere(status=1).err)
        # The setting keeps docker from taking the wheel from its own cache.
        answer = elsewhere('--engine=auto', '--build-network=host', env={**engine, 'PIP_TIMEOUT': '77'})
        self.assertIn('`dice` gives another wheel here than the repository remembers', answer.err)
        self.assertEqual(self.versions(answer), {name: '1.0' for name in ('lk_lab', 'lk_dice', 'lk_a', 'lk_b', 'lk_c', 'lk_d')})

    def test_a_wrong_name_and_a_source_for_another_system(self):
        self.folder = testbed.write_tree({
            'train.py': ENTRY, 'requirements.txt': 'lk_other @ ./lab\n',
            **{f'lab/{path}': text for path, text in computing('lk_lab', 'lk_a').items()}})
        self.env = {key: value for key, value in self.env.items() if key != 'DOCKER_HOST'}
        answer = self.lock(status=2)
        self.assertIn('the source of `lk-other` is a package `lk-lab`', answer.err)
        self.assertIn('requirements.txt:1', answer.err)
        (self.folder / 'requirements.txt').write_text('./lab\ngit+https://git.invalid/x.git ; sys_platform == "win32"\n')
        self.lock()
        self.assertIn('name = "lk-a"', (self.folder / 'pylock.toml').read_text())
        (self.folder / 'pylock.toml').unlink()
        (self.folder / 'requirements.txt').write_text('lk_other @ ./lab\n')
        (self.folder / 'lab/setup.py').write_text(
            'from setuptools import setup\nsetup(name="lk_lab", version="1.0", py_modules=["lk_lab"])\n')
        self.assertIn('`lab` gives a wheel of `lk-lab` 1.0', self.build(status=2).err)

    def test_a_plain_directory_needs_no_engine(self):
        self.folder = testbed.write_tree({
            'train.py': ENTRY + 'import lk_plain.inner\nprint(lk_plain.inner.VALUE)\n', 'requirements.txt': './plain\nlk_b\n',
            'plain/setup.py': 'from setuptools import setup, find_packages\nsetup(name="lk_plain", version="1.5", '
                              'packages=find_packages(), install_requires=["lk_a>=1"], include_package_data=True)\n',
            'plain/lk_plain/__init__.py': '', 'plain/lk_plain/inner.py': 'VALUE = 7\n', 'plain/lk_plain/table.csv': ''})
        answer = self.build()
        self.assertEqual(testbed.run_image(answer.json()['uri']).splitlines()[-1], '7')
        self.assertNotIn('Built', answer.err)
        listed = testbed.run_image('--entrypoint=python3', answer.json()['uri'], '-m', 'pip', 'show', '-f', 'lk_plain')
        self.assertIn('Requires: lk-a', listed.replace('lk_a', 'lk-a'))
        self.assertNotIn('table.csv', listed)
        # setuptools takes data files from MANIFEST.in: only its build knows them.
        (self.folder / 'plain/MANIFEST.in').write_text('include lk_plain/table.csv\n')
        answer = self.build(status=1)
        self.assertIn('has to be built before its dependencies are known (requirements.txt:1 requires `plain`)', answer.err)


if __name__ == '__main__':
    unittest.main()
