"""The hooks of pre-commit and the secret firewall, with the real git and pre-commit."""

import json
import re
import subprocess
import unittest

import testbed
from repositories import alone, commit, fake_token, git, repository
from testbed import autopack, write_tree

FLAGS = ['--executor-image-uri=python:3.11', '--script=trainer/task.py']


class Hooks(unittest.TestCase):
    """The example repository, its hooks run by pre-commit on real commits."""

    def setUp(self):
        hooks = repository({'.pre-commit-hooks.yaml': (testbed.ROOT / '.pre-commit-hooks.yaml').read_text()}, 'hooks')
        revision = git(hooks, 'rev-parse', 'HEAD').stdout.decode().strip()
        programs = testbed.new_folder('programs')
        (programs / 'autopack').symlink_to(testbed.binary)
        base = alone(PRE_COMMIT_HOME=testbed.new_folder('pre-commit'))
        self.env = base | {'PATH': f'{programs}:{base["PATH"]}'}
        self.folder = testbed.example('pre-commit')
        config = self.folder / '.pre-commit-config.yaml'
        text = config.read_text().replace('https://example.com/autopack.git', str(hooks)).replace('v0.1.0', revision)
        config.write_text(text)
        git(self.folder, 'init', '-q', '-b', 'main')
        git(self.folder, 'add', '-A')
        git(self.folder, 'commit', '-q', '-m', 'first')
        self.pre_commit(self.folder, 'install')

    def pre_commit(self, folder, *arguments, check=True):
        return testbed.run(['pre-commit', *arguments], cwd=folder, env=self.env, check=check)

    def commit(self, *arguments, folder=None):
        answer = git(folder or self.folder, 'commit', '-q', '-m', 'x', *arguments, env=self.env, check=False)
        return answer.returncode, (answer.stdout + answer.stderr).decode()

    def stage(self, files, folder=None):
        write_tree(files, folder or self.folder)
        git(folder or self.folder, 'add', '-A')

    def check_in(self, folder):
        self.stage({'trainer/task.py': 'print(1)\n'}, folder)
        self.assertEqual(self.commit(folder=folder)[0], 0)
        dockerfile = (folder / 'Dockerfile').read_text()
        self.stage({'Dockerfile': dockerfile.replace('/usr/app', '/app')}, folder)
        # Only what is staged counts, and pre-commit puts the rest aside.
        write_tree({'Dockerfile': dockerfile}, folder)
        status, said = self.commit(folder=folder)
        self.assertEqual(status, 1)
        self.assertIn('autopack-dockerfile', said)
        self.assertIn('+WORKDIR /usr/app', said)
        git(folder, 'add', '-A')
        token = fake_token()
        self.stage({'trainer/settings.py': f'\nTOKEN = "{token}"\n'}, folder)
        status, said = self.commit(folder=folder)
        self.assertEqual(status, 1)
        self.assertIn('`trainer/settings.py` line 2 holds a GitHub token', said)
        self.assertNotIn(token, said)
        git(folder, 'rm', '-qf', 'trainer/settings.py')

    def test_in_a_repository(self):
        self.check_in(self.folder)

    def test_in_a_worktree(self):
        other = testbed.new_folder('worktrees') / 'other side'
        git(self.folder, 'worktree', 'add', '-q', '-b', 'side', other)
        self.check_in(other)

    def test_during_a_partial_commit(self):
        write_tree({'trainer/settings.py': f'TOKEN = "{fake_token()}"\n', 'README.md': 'more\n'}, self.folder)
        git(self.folder, 'add', 'trainer/settings.py')
        # git makes an index of its own for the named files; the staged secret is not in it.
        status, said = self.commit('README.md')
        self.assertEqual((status, said), (0, said))
        status, said = self.commit('trainer/settings.py')
        self.assertEqual(status, 1)
        self.assertIn('holds a GitHub token', said)
        self.assertEqual(git(self.folder, 'show', '--stat', '--format=', 'HEAD').stdout.decode().split()[0], 'README.md')

    def test_the_image_of_the_index(self):
        config = self.folder / '.pre-commit-config.yaml'
        config.write_text(config.read_text().replace('python:3.11', testbed.executor()))
        name = testbed.image_name('hook')
        self.stage({'trainer/task.py': 'print("staged")\n'})
        write_tree({'trainer/task.py': 'print("not staged")\n'}, self.folder)
        self.env = self.env | {'AUTOPACK_OUTPUT_IMAGE_URI': f'{name}:hook'}
        self.env.pop('DOCKER_HOST')
        self.pre_commit(self.folder, 'run', '--hook-stage', 'manual', 'autopack-build')
        self.assertEqual(testbed.docker('run', '--rm', f'{name}:hook'), 'staged')


class Ci(unittest.TestCase):
    """The steps of the example for CI, run by a shell in a clean clone."""

    def test_the_steps_push_the_image_of_the_commit(self):
        origin = testbed.example('pre-commit')
        autopack('dockerfile', '--executor-image-uri', testbed.executor(), '--script=trainer/task.py', '-o', 'Dockerfile',
                 '--force', cwd=origin)
        git(origin, 'init', '-q', '-b', 'main')
        commit(origin, 'first')
        clone = testbed.new_folder('clones') / 'a clone'
        git(origin, 'clone', '-q', origin, clone)
        workflow = (testbed.EXAMPLES / 'ci/github-actions.yaml').read_text()
        steps = re.findall(r'- run: (.*)', workflow)
        self.assertEqual(len(steps), 3)
        programs = testbed.new_folder('programs')
        (programs / 'autopack').symlink_to(testbed.binary)
        base = testbed.environment()
        name = testbed.image_name('ci')
        env = base | {'PATH': f'{programs}:{base["PATH"]}', 'AUTOPACK_EXECUTOR_IMAGE_URI': testbed.executor(),
                      'AUTOPACK_SCRIPT': 'trainer/task.py', 'AUTOPACK_OUTPUT_IMAGE_URI': f'{name}:commit', 'CI': 'true'}
        for step in steps:
            testbed.run(['bash', '-e', '-c', step], cwd=clone, env=env)
        image = json.loads((clone / 'image.json').read_text())
        head = git(clone, 'rev-parse', 'HEAD').stdout.decode().strip()
        self.assertEqual((image['git']['revision'], image['git']['dirty']), (head, False))
        self.addCleanup(testbed.docker, 'rmi', '-f', image['uri'])
        self.assertEqual(testbed.docker('run', '--rm', '--pull=always', image['uri']),
                         testbed.docker('run', '--rm', '-v', f'{clone}:/src', '--entrypoint=python3', testbed.executor(),
                                        '/src/trainer/task.py'))
        (clone / 'Dockerfile').write_text('FROM scratch\n')
        self.assertEqual(testbed.run(['sh', '-c', steps[0]], cwd=clone, env=env, check=False).returncode, 3)


class Firewall(unittest.TestCase):
    def setUp(self):
        self.token = fake_token()
        self.folder = testbed.write_tree({'trainer/task.py': 'print(1)\n', 'trainer/keys.py': f'A = 1\nB = "{self.token}"\n',
                                          'trainer/.env': 'MODE=fast\n', '.dockerignore': '!**/.env\n'})

    def refused(self, *command, status=2):
        answer = autopack(*command, *FLAGS, cwd=self.folder, env=alone(), status=status)
        self.assertNotIn(self.token, answer.out + answer.err)
        return answer.err

    def test_all_at_once_before_anything_is_sent(self):
        said = self.refused('explain', '--check')
        self.assertIn('`trainer/keys.py` line 2 holds a GitHub token', said)
        self.assertIn('`trainer/.env` line 1 holds variables of an environment file', said)
        self.assertIn('2 errors', said)
        base = ['--executor-image-uri', testbed.executor(), '--script=trainer/task.py']
        target = testbed.image_name('secret')
        for command in (['build', '--output-image-uri', target], ['build', '--no-push'], ['run']):
            status = 125 if command == ['run'] else 2
            answer = autopack(*command, *base, cwd=self.folder, status=status)
            self.assertIn('holds a GitHub token', answer.err)
            self.assertNotIn(self.token, answer.out + answer.err)

    def test_allowed_one_by_one(self):
        said = self.refused('explain', '--check')
        lines = [line.split(': ', 2)[2] for line in said.splitlines() if 'if it may be seen' in line]
        self.assertEqual(len(lines), 2)
        for line in lines:
            subprocess.run(['sh', '-c', line], cwd=self.folder, check=True)
        answer = autopack('explain', '--check', *FLAGS, cwd=self.folder, env=alone())
        self.assertNotIn('allows a secret', answer.err)
        # Another value in the same place is another secret, and the line of the first is stale.
        keys = self.folder / 'trainer/keys.py'
        keys.write_text(keys.read_text().replace(self.token, 'ghp' + '_' + self.token[:3:-1]))
        answer = autopack('explain', '--check', *FLAGS, cwd=self.folder, env=alone(), status=2)
        self.assertIn('line 2 holds a GitHub token', answer.err)
        self.assertIn('`.autopack-allow-secrets` allows a secret in `trainer/keys.py` that is not there', answer.err)
        self.assertNotIn('.env', answer.err)
