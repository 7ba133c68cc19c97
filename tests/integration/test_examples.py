"""Every example runs without a flag; some are pushed, pulled back by digest, and run; an edit costs only the code's layers."""

import subprocess
import unittest

import testbed
from testbed import autopack, docker

# name -> entry flags, lines of the output, paths in the image, paths that must not be there
CASES = {
    'script': (
        ['--script=trainer/task.py'],
        ['epoch 200: loss', 'accuracy: 0.9'],
        ['/usr/app/trainer/task.py', '/usr/app/README.md'],
        [],
    ),
    'module': (
        ['--python-module=trainer'],
        ['points: 200000', 'pi: 3.14'],
        ['/usr/app/trainer/__init__.py', '/usr/app/trainer/__main__.py', '/usr/app/trainer/sampling.py'],
        [],
    ),
    'bash-script': (
        ['--script=jobs/train.sh'],
        ['preparing 100 rows', 'slope: 3.00 offset: 2.00'],
        ['/usr/app/jobs/train.sh', '/usr/app/jobs/fit.py', '/usr/app/README.md'],
        [],
    ),
    'requirements': (
        ['--script=trainer/task.py'],
        ['mathutil 1.2', 'noise after: 0.0'],
        ['/usr/app/trainer/task.py', '/usr/app/README.md'],
        [],
    ),
    'setup-py': (
        ['--python-module=taxi.train'],
        ['taxi 2.3.0', 'base: 2.5 per km: 1.8'],
        ['/usr/app/taxi/train.py', '/usr/app/taxi/fares.py'],
        ['/usr/app/build'],
    ),
    'pyproject': (
        ['--python-module=wine.train'],
        ['wine 0.4', 'separated: 0.9'],
        ['/usr/app/src/wine/train.py'],
        ['/usr/app/build', '/usr/app/src/wine.egg-info'],
    ),
    'several-pools': (
        ['--script=trainer/task.py'],
        ['replica workerpool0/0, learning rate unset'],
        ['/usr/app/trainer/task.py', '/usr/app/job.yaml'],
        [],
    ),
}

# A line added to one file of the code, for each example.
EDITED = {
    'script': 'trainer/task.py',
    'module': 'trainer/sampling.py',
    'bash-script': 'jobs/fit.py',
    'requirements': 'trainer/task.py',
    'setup-py': 'taxi/fares.py',
    'pyproject': 'src/wine/train.py',
    'several-pools': 'trainer/task.py',
}


def build(folder, name, *flags, env=None):
    answer = autopack('build', '--executor-image-uri', testbed.executor(), '--build-network=host',
                      '--output-image-uri', name, '--format=json', *flags, cwd=folder,
                      env=env or testbed.index_environment())
    image = answer.json()
    if image['engine'] == 'direct':  # no engine has it yet
        docker('pull', '--quiet', image['uri'])
    return image


def history(image):
    """Returns when each layer was made and by which step: the engine's own record."""
    lines = docker('history', '--no-trunc', '--human=false', '--format', '{{.CreatedAt}}|{{.CreatedBy}}', image)
    return lines.split('\n')[::-1]


def code_steps(lines):
    return [line for line in lines if 'COPY' in line.split('|', 1)[1][:40]]


# What `autopack run` prints in the other examples that have a program.
ALONE = {'cluster': 'rank 0 of 1: slope 3.00 offset 2.00', 'own-dockerfile': 'lines: 0', 'settings': 'steps: 5',
         'tune': 'loss: 0.0', 'pre-commit': 'slope 3.0, intercept 2.0', 'kubernetes': 'slope 3.0 offset 2.0',
         'slurm': "model: {'slope': 3.0, 'offset': 2.0}"}
# An engine builds the Dockerfile of one, and runs the setup.py of the other.
NEED_ENGINE = {'own-dockerfile', 'setup-py'}
NO_PROGRAM = {'ci', 'guide', 'pictures', 'translate'}


class Alone(unittest.TestCase):
    """`autopack run` in each example, as a user would type it, except for the executor image; with an engine and without."""

    def test_every_example_runs_without_a_flag(self):
        base = testbed.pushed_executor('examples/base:1')
        self.addCleanup(testbed.remove_images, f'{testbed.registry()}/examples')
        # As examples/quickstart.sh makes it: the Dockerfile of one example names it.
        docker('tag', testbed.executor(), 'autopack-examples/python:1')
        env = testbed.index_environment(AUTOPACK_EXECUTOR_IMAGE_URI=base)
        without_engine = env | {'DOCKER_HOST': 'unix:///nowhere/docker.sock', 'XDG_CACHE_HOME': str(testbed.new_cache())}
        expected = ALONE | {name: output[-1] for name, (_, output, _, _) in CASES.items()}
        folders = {folder.name for folder in testbed.EXAMPLES.iterdir() if folder.is_dir()}
        self.assertEqual(folders, set(expected) | NO_PROGRAM)
        for name, line in sorted(expected.items()):
            with self.subTest(name):
                folder = testbed.example(name)
                answer = autopack('run', cwd=folder, env=env)
                self.assertIn(line, answer.out)
                if name not in NEED_ENGINE:
                    # The network is the machine's, where others may have the usual port.
                    flags = [f'--env=MASTER_PORT={testbed.free_port()}'] if name == 'cluster' else []
                    self.assertEqual(autopack('run', *flags, cwd=folder, env=without_engine).out, answer.out)
                self.addCleanup(testbed.remove_images, f'autopack/{folder.name}')


class Examples(unittest.TestCase):
    def test_built_pushed_pulled_and_run(self):
        for name, (entry, output, present, absent) in testbed.daily_sample(CASES.items(), 3):
            with self.subTest(name):
                folder = testbed.example(name)
                before = testbed.tree_hash(folder)
                target = testbed.image_name(name)
                image = build(folder, f'{target}:first', *entry)
                self.assertEqual(testbed.tree_hash(folder), before, 'the build changed the project')
                self.assertTrue(image['uri'].startswith(f'{target}@sha256:'), image)
                self.assertTrue(image['uri'].endswith(image['digest']), image)

                testbed.remove_images(target)
                docker('pull', '--quiet', image['uri'])
                said = testbed.run_image(image['uri'])
                for line in output:
                    self.assertIn(line, said)

                tree = testbed.file_tree(image['uri'], '/usr/app')
                for path in present:
                    self.assertIn(path, tree)
                    self.assertEqual(tree[path][1:4], (0o644, 0, 0), path)
                for path in absent:
                    self.assertNotIn(path, tree)
                self.assertEqual([path for path in tree if '__pycache__' in path], [])
                config = testbed.configuration(image['uri'])['Config']
                self.assertEqual(config['WorkingDir'], '/usr/app')
                self.assertIn('HOME=/home', config['Env'])
                self.assertIn('PYTHONDONTWRITEBYTECODE=1', config['Env'])

    def test_an_edit_of_the_code_reruns_no_dependency_step(self):
        for name, (entry, _, _, _) in testbed.daily_sample(CASES.items(), 3):
            with self.subTest(name):
                folder = testbed.example(name)
                target = testbed.image_name(name)
                first = build(folder, f'{target}:first', *entry)
                old_layers, old_history = testbed.layers(first['uri']), history(first['uri'])
                with open(folder / EDITED[name], 'a', encoding='utf-8') as out:
                    out.write('print("edited")\n')
                second = build(folder, f'{target}:second', *entry)
                new_layers, new_history = testbed.layers(second['uri']), history(second['uri'])

                self.assertNotEqual(first['digest'], second['digest'])
                self.assertEqual(len(old_layers), len(new_layers))
                changed = [number for number, pair in enumerate(zip(old_layers, new_layers)) if pair[0] != pair[1]]
                self.assertEqual(len(changed), 1, 'one layer holds the code')
                for old, new in zip(old_history, new_history):
                    if 'pip' in old or 'mkdir' in old:
                        self.assertEqual(old, new, 'a dependency step ran again')
                uploaded = [layer for layer in second['layers'] if layer['uploaded']]
                self.assertLessEqual(len(uploaded), 1)
                self.assertLess(second['bytes_uploaded'], 100_000)
                self.assertIn('edited', testbed.run_image(second['uri']))

    def test_the_same_project_again_is_the_same_image(self):
        folder = testbed.example('script')
        target = testbed.image_name('again')
        first = build(folder, f'{target}:first', '--script=trainer/task.py')
        second = build(folder, f'{target}:second', '--script=trainer/task.py')
        self.assertEqual(first['digest'], second['digest'])
        self.assertEqual(second['bytes_uploaded'], 0)

    def test_a_changed_requirement_reruns_the_dependency_step(self):
        folder = testbed.example('requirements')
        target = testbed.image_name('changed')
        requirement = folder / 'requirements' / 'numbers.txt'
        requirement.write_text(requirement.read_text() + 'greeter == 1.0\n')
        program = ['-c', 'import greeter; print(greeter.hello())']
        first = build(folder, f'{target}:first', '--script=trainer/task.py')
        self.assertEqual(testbed.run_image('--entrypoint', 'python3', first['uri'], *program), 'hello one')
        requirement.write_text(requirement.read_text().replace('1.0', '2.0'))
        second = build(folder, f'{target}:second', '--script=trainer/task.py')
        self.assertEqual(testbed.run_image('--entrypoint', 'python3', second['uri'], *program), 'hello two')
        self.assertNotEqual(first['digest'], second['digest'])

    def test_console_scripts_and_metadata_are_there(self):
        for name, entry, script, first_line in (
                ('setup-py', '--python-module=taxi.train', 'taxi-train', 'taxi 2.3.0'),
                ('pyproject', '--python-module=wine.train', 'wine-train', 'wine 0.4')):
            with self.subTest(name):
                image = build(testbed.example(name), testbed.image_name(name) + ':t', entry)
                said = testbed.run_image('--workdir', '/', '--entrypoint', script, image['uri'])
                self.assertEqual(said.split('\n')[0], first_line)


class Submitted(unittest.TestCase):
    def test_the_main_job_runs_from_its_digest(self):
        folder = testbed.example('script')
        target = testbed.image_name('submitted')
        answer = autopack(
            'submit', '--submitter=local', '--display-name=first',
            f'--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri={testbed.executor()},'
            f'local-package-path=.,script=trainer/task.py,output-image-uri={target}:t', '--args=--epochs=50',
            cwd=folder, env=testbed.index_environment())
        self.assertRegex(answer.out, r'^local/\S+\n$')
        self.assertIn('accuracy: 0.9', answer.err)
        self.assertIn(f'{target}@sha256:', answer.err)

    def test_a_failing_job_fails(self):
        folder = testbed.write_tree({'task.py': 'raise SystemExit(7)\n'})
        answer = autopack(
            'submit', '--submitter=local', '--display-name=failing',
            f'--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri={testbed.executor()},'
            'local-package-path=.,script=task.py', cwd=folder, status=None)
        self.assertEqual(answer.status, 7, answer)


class OwnDockerfile(unittest.TestCase):
    def test_is_built_with_what_is_not_ignored(self):
        folder = testbed.example('own-dockerfile')
        (folder / 'Dockerfile').write_text(
            (folder / 'Dockerfile').read_text().replace('ARG BASE=autopack-examples/python:1\n', '')
            .replace('${BASE}', testbed.executor()).replace('COPY lines.py', 'COPY .'))
        (folder / 'rows.csv').write_text('1,2\n')
        (folder / 'kept.txt').write_text('kept\n')
        target = testbed.image_name('own')
        answer = autopack('build', '--dockerfile=Dockerfile', '--output-image-uri', f'{target}:t', cwd=folder)
        reference = answer.out.strip()
        said = subprocess.run(['docker', 'run', '-i', '--rm', reference], input=b'a\nb\n', capture_output=True,
                              check=True, env=testbed.environment())
        self.assertEqual(said.stdout, b'lines: 2\n')
        tree = testbed.file_tree(reference, '/srv')
        self.assertIn('/srv/kept.txt', tree)
        self.assertNotIn('/srv/rows.csv', tree)
        self.assertNotIn('/srv/README.md', tree)
