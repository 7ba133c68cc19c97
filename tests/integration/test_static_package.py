"""A package whose files determine its installation: no engine, no pip, and the same result for a program."""

import json
import unittest

import corpus_wheels
import testbed
from testbed import autopack, docker
from test_wheels import digest, write_wheel

# The build backend of each, and the place of its modules.
LAYOUTS = {'hatch': ('hatchling', 'hatchling.build', 'src/'), 'flit': ('flit_core', 'flit_core.buildapi', ''),
           'source': ('setuptools', 'setuptools.build_meta', 'src/'), 'flat': ('setuptools', 'setuptools.build_meta', '')}
PYPROJECT = '''[build-system]
requires = ["{requires}"]
build-backend = "{backend}"
[project]
name = "Lab.{name}"
version = "1.0.0-rc.1"
description = "Größe"
readme = "README.md"
requires-python = ">=3.8"
authors = [{{name = "A. B", email = "a@b.org"}}, {{name = "C"}}, {{email = "d@e.org"}}]
keywords = ["a", "b c"]
classifiers = ["Programming Language :: Python :: 3"]
dependencies = ["greeter>=0.5; python_version < '4'"]
optional-dependencies.gpu = ["tqdm>1; sys_platform == 'linux'", "plain"]
urls.Home = "https://example.org"
scripts.run-{name} = "lab_{name}.task:main"
entry-points."lab.plugins" = {{{name} = "lab_{name}"}}
[tool.flit.module]
name = "lab_{name}"
'''
# No other backend accepts the table of flit.
TASK = 'import sys\nfrom lab_{name} import NAME\ndef main():\n    print("ran", NAME, sys.argv[1:])\n'
LOOK = '''import importlib.util, json, subprocess, sys
import importlib.metadata as metadata
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import canonicalize_name
def requirement(text):
    one = Requirement(text)
    return [canonicalize_name(one.name), str(one.specifier), sorted(one.extras), sorted(str(one.marker).split(' and '))]
def told(name):
    one = metadata.distribution(f'lab-{name}')
    module = importlib.import_module(f'lab_{name}')
    skipped = ('Metadata-Version', 'License-File', 'Requires-Dist', 'Name', 'Description')
    described = (one.metadata['Description'] or one.metadata.get_payload()).strip()
    return {'name': canonicalize_name(one.metadata['Name']), 'version': metadata.version(f'lab.{name}'),
            'metadata': sorted((key, value) for key, value in one.metadata.items() if key not in skipped), 'text': described,
            'requires': sorted(map(requirement, one.requires)), 'direct': json.loads(one.read_text('direct_url.json')),
            'requested': one.read_text('REQUESTED'),
            'entries': sorted(str(entry) for entry in one.entry_points), 'found': metadata.version(f'lab-{name}'),
            'file': module.__file__.replace(sys.argv[1], ''), 'top': (one.read_text('top_level.txt') or '').split(),
            'script': subprocess.run([f'run-{name}', 'x'], capture_output=True, text=True, cwd='/').stdout,
            'files': sorted(str(file).rpartition('/')[2] for file in one.files
                            if not str(file).endswith(('.pth', '.pyc', '_finder.py'))),
            'others': [other for other in ('loose', 'docs') if importlib.util.find_spec(other)]}
print(json.dumps({name: told(name) for name in sys.argv[2:]}))
'''


def files_of(name):
    requires, backend, root = LAYOUTS[name]
    return {'pyproject.toml': PYPROJECT.format(name=name, requires=requires, backend=backend), 'README.md': '# Größe\n',
            'LICENSE': 'Do.\n', f'{root}lab_{name}/__init__.py': f'NAME = "{name}"\n',
            f'{root}lab_{name}/task.py': TASK.format(name=name), 'look.py': LOOK}


class StaticPackage(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('static/base:1')
        cls.house = testbed.new_folder('house')
        cls.greeter = write_wheel(cls.house, 'greeter', '1.0', {'greeter.py': ''})
        cls.env = {'PIP_INDEX_URL': testbed.start_index([cls.house]).url}

    @classmethod
    def tearDownClass(cls):
        testbed.remove_images(f'{testbed.registry()}/static')

    def project(self, name, **more):
        pinned = f'greeter==1.0 --hash=sha256:{digest(self.greeter)}\n'
        return testbed.write_tree({**files_of(name), 'requirements.txt': pinned, **more}, testbed.new_folder('project'))

    def build(self, folder, *flags, status=0, **variables):
        return autopack('build', '--executor-image-uri', self.base, '--script=look.py', '--format=json', '--build-network=host',
                        f'--output-image-uri={testbed.registry()}/static/{folder.name}', *flags, cwd=folder, status=status,
                        env=testbed.environment(**self.env, **variables))

    def without_engine(self, folder, **options):
        return self.build(folder, '--engine=direct', DOCKER_HOST='unix:///nowhere', **options)

    def installed_by_pip(self):
        """Returns what programs see of all of them if pip installed them, as in the engine."""
        context = testbed.new_folder('context')
        for name in LAYOUTS:
            testbed.write_tree(files_of(name), context / 'app' / name)
        # Not beside the files that setuptools leaves in the project, which Python would find first.
        (context / 'app' / 'look.py').write_text(LOOK)
        installs = ' '.join(f'--editable /app/{name}' for name in LAYOUTS)
        (context / 'Dockerfile').write_text(
            f'FROM {self.base}\nCOPY app /app\nENV PIP_BREAK_SYSTEM_PACKAGES=1\n'
            # All backends at once: an environment of its own for each takes most of the time.
            f'RUN python3 -m pip install -q --no-compile --index-url {corpus_wheels.index().url} hatchling flit_core editables\n'
            f'RUN python3 -m pip install -q --no-deps --no-compile --no-build-isolation {installs}\n')
        image = f'{testbed.registry()}/static/by-pip:1'
        docker('build', '-q', '--network=host', '-t', image, context)
        told = {}
        for name in LAYOUTS:
            told |= json.loads(testbed.run_image(image, 'python3', '/app/look.py', f'/app/{name}', name))
        return told

    def test_programs_see_what_pip_would_have_installed(self):
        expected = self.installed_by_pip()
        for name in testbed.daily_sample(LAYOUTS, 3):
            with self.subTest(name):
                uri = self.without_engine(self.project(name)).json()['uri']
                told = json.loads(testbed.run_image(uri, '/usr/app', name))[name]
                self.assertEqual(told['direct'], {'dir_info': {'editable': True}, 'url': 'file:///usr/app'})
                self.assertEqual(told['script'], f"ran {name} ['x']\n")
                expected[name]['direct'] = told['direct']
                self.assertEqual(told, expected[name])

    def test_the_engine_makes_the_same_where_it_is_asked(self):
        folder = self.project('flat', **{'loose.py': '', '.dockerignore': '', 'pyproject.toml': PYPROJECT.format(
            name='flat', requires='setuptools', backend='setuptools.build_meta') + '[tool.setuptools]\npackages = ["lab_flat"]\n'})
        direct = self.without_engine(folder).json()
        by_engine = self.build(folder, '--engine=docker', '--no-cache').json()
        self.assertEqual(direct['tag'], by_engine['tag'])
        told = [json.loads(testbed.run_image(f"{answer['uri']}", '/usr/app', 'flat')) for answer in (direct, by_engine)]
        self.assertEqual(*told)
        check = testbed.run_image('--entrypoint=python3', direct['uri'], '-m', 'pip', 'uninstall', '-y', '--break-system-packages', 'lab.flat')
        self.assertIn('Successfully uninstalled', check)

    def test_is_made_again_when_what_it_was_made_of_changes(self):
        folder = self.project('hatch')
        self.assertEqual(self.without_engine(folder).json()['engine'], 'direct')
        (folder / 'src' / 'lab_hatch' / 'task.py').write_text('def main():\n    print("edited")\n')
        edited = self.without_engine(folder).json()
        self.assertTrue(edited['dependencies']['reused'])
        (folder / 'README.md').write_text('# Other\n')
        described = self.without_engine(folder).json()
        self.assertIn('pyproject.toml reads README.md, which changed', described['dependencies']['reason'])
        command = 'import importlib.metadata as m; print(m.metadata("lab-hatch").get_payload())'
        self.assertEqual(testbed.run_image('--entrypoint=python3', described['uri'], '-c', command), '# Other')

    def test_what_has_to_be_built_says_why(self):
        folder = self.project('flat', **{'setup.py': 'from setuptools import setup\nsetup()\n'})
        answer = self.without_engine(folder, status=1)
        self.assertIn("the build of the project's own package has to run: setup.py runs", ' '.join(answer.err.split()))
        explained = autopack('explain', '--executor-image-uri', self.base, '--script=look.py', cwd=self.project('hatch'),
                             env=testbed.environment(**self.env))
        self.assertIn("1 pinned package as layers of their wheels and the project's own package from its files, without an "
                      'engine', ' '.join(explained.out.split()))
