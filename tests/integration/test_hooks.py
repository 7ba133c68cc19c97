"""The hooks of pre-commit and the secret firewall, with the real git and pre-commit."""

import json
import re
import subprocess
import unittest

import testbed
from repositories import AUTHOR, alone, commit, fake_token, git, repository
from terminal import plain, run_on_terminal
from testbed import autopack, write_tree

FLAGS = ['--executor-image-uri=python:3.11', '--script=trainer/task.py']
UMLAUT = '\N{LATIN SMALL LETTER U WITH DIAERESIS}'


class Hooks(unittest.TestCase):
    """The example repository, its hooks run by pre-commit on real commits."""

    LOCALE = 'C.UTF-8'

    def place(self):
        return testbed.example('pre-commit')

    def setUp(self):
        hooks = repository({'.pre-commit-hooks.yaml': (testbed.ROOT / '.pre-commit-hooks.yaml').read_text()}, 'hooks')
        revision = git(hooks, 'rev-parse', 'HEAD').stdout.decode().strip()
        programs = testbed.new_folder('programs')
        (programs / 'autopack').symlink_to(testbed.binary)
        base = alone(PRE_COMMIT_HOME=testbed.new_folder('pre-commit'))
        self.env = base | {'PATH': f'{programs}:{base["PATH"]}', 'LC_ALL': self.LOCALE} | AUTHOR
        self.folder = self.place()
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
        # Only staged files count, and pre-commit hides the rest.
        write_tree({'Dockerfile': dockerfile}, folder)
        status, said = self.commit(folder=folder)
        self.assertEqual(status, 1)
        self.assertIn('autopack-dockerfile', said)
        self.assertIn('+WORKDIR /usr/app', said)
        self.assertNotIn('\x1b', said)
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
        # git makes a separate index for the named files; the staged secret is not in it.
        status, said = self.commit('README.md')
        self.assertEqual((status, said), (0, said))
        status, said = self.commit('trainer/settings.py')
        self.assertEqual(status, 1)
        self.assertIn('holds a GitHub token', said)
        self.assertEqual(git(self.folder, 'show', '--stat', '--format=', 'HEAD').stdout.decode().split()[0], 'README.md')

    def use_engine(self):
        config = self.folder / '.pre-commit-config.yaml'
        config.write_text(config.read_text().replace('python:3.11', testbed.executor()))
        self.env.pop('DOCKER_HOST')

    def test_the_image_of_the_index(self):
        self.use_engine()
        name = testbed.image_name('hook')
        self.stage({'trainer/task.py': 'print("staged")\n'})
        write_tree({'trainer/task.py': 'print("not staged")\n'}, self.folder)
        self.env = self.env | {'AUTOPACK_OUTPUT_IMAGE_URI': f'{name}:hook'}
        self.pre_commit(self.folder, 'run', '--hook-stage', 'manual', 'autopack-build')
        self.assertEqual(testbed.run_image(f'{name}:hook'), 'staged')


class HooksOfAPerson(Hooks):
    """The same and more in a path with spaces and letters that the locale cannot show, and on a terminal."""

    LOCALE = 'C'
    ODD = f'trainer/schl{UMLAUT}ssel 1.py'

    def place(self):
        place = testbed.new_folder(f'mein Projekt {UMLAUT}') / f'tr{UMLAUT}iner b'
        testbed.example('pre-commit').rename(place)
        return place

    def on_terminal(self, *command, **changes):
        env = {name: value for name, value in self.env.items() if name not in ('NO_COLOR', 'AUTOPACK_VERBOSITY')}
        return run_on_terminal(command, env | {'TERM': 'xterm'} | changes, self.folder)

    def pasted(self, hint):
        testbed.run(['bash', '-c', hint], cwd=self.folder, env=self.env)

    def hints(self, text):
        return [line.split('hint: ', 1)[1] for line in plain(text).splitlines() if 'hint: ' in line]

    def test_what_it_says_at_80_columns(self):
        self.use_engine()
        (self.folder / '.dockerignore').touch()
        self.pasted(f'autopack dockerfile --executor-image-uri={testbed.executor()} --script=trainer/task.py -o Dockerfile')
        git(self.folder, 'add', '-A')
        git(self.folder, 'commit', '-q', '-m', 'y', env=self.env)
        dockerfile = (self.folder / 'Dockerfile').read_text()
        self.stage({'Dockerfile': dockerfile.replace('/usr/app', '/app'), self.ODD: f'TOKEN = "{fake_token()}"\n'})
        status, text = self.on_terminal('git', 'commit', '-m', 'x', NO_COLOR='1')
        self.assertEqual(status, 1)
        # pre-commit has its own colours; ours are bold.
        self.assertNotIn('\x1b[1;', text)
        self.assertTrue(text.isascii(), text)
        # pre-commit pads its own lines to 80 columns; of ours, only commands to paste and lines with paths may be
        # longer.
        lines = plain(text).splitlines()
        self.assertEqual([line for line in lines if len(line) > 80 and 'hint: ' not in line and '`' not in line], [])
        self.assertIn('`trainer/schl\\xc3\\xbcssel 1.py` line 1 holds a GitHub token', text)
        coloured = self.on_terminal('git', 'commit', '-m', 'x')[1]
        self.assertIn('\x1b[1;31merror:\x1b[0m `Dockerfile` is not what autopack would write', coloured)
        self.assertEqual(plain(coloured).splitlines(), lines)
        # The printed command fixes it, in this locale too.
        fix, ignore, allow = self.hints(text)
        self.pasted(fix)
        self.assertEqual((self.folder / 'Dockerfile').read_text(), dockerfile)
        self.pasted(allow.removeprefix('if it may be seen: '))
        git(self.folder, 'add', '.autopack-allow-secrets')
        self.assertEqual(self.on_terminal('git', 'commit', '-m', 'x')[0], 0)
        git(self.folder, 'rm', '-q', '--cached', '.autopack-allow-secrets')
        self.assertEqual(self.on_terminal('git', 'commit', '-m', 'y')[0], 1)
        self.pasted(ignore)
        git(self.folder, 'add', '.dockerignore')
        self.assertEqual((self.folder / '.dockerignore').read_text(), f'{self.ODD}\n')
        text = self.on_terminal('git', 'commit', '-m', 'y')[1]
        self.assertIn('`Dockerfile.dockerignore` is not what autopack would write', text)
        self.pasted(self.hints(text)[0])
        self.assertEqual(self.on_terminal('git', 'commit', '-m', 'y')[0], 0)


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
        self.assertEqual(testbed.run_image('--pull=always', image['uri']),
                         testbed.run_image('-v', f'{clone}:/src', '--entrypoint=python3', testbed.executor(),
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
        # Another value in the same place is another secret, and the first one's line is stale.
        keys = self.folder / 'trainer/keys.py'
        keys.write_text(keys.read_text().replace(self.token, 'ghp' + '_' + self.token[:3:-1]))
        answer = autopack('explain', '--check', *FLAGS, cwd=self.folder, env=alone(), status=2)
        self.assertIn('line 2 holds a GitHub token', answer.err)
        self.assertIn('`.autopack-allow-secrets` allows a secret in `trainer/keys.py` that is not there', answer.err)
        self.assertNotIn('.env', answer.err)
