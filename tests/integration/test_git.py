"""Sources in git, the hooks of pre-commit, and the secret firewall, with the real git and pre-commit."""

import random
import string
import subprocess
import unittest

import testbed
from testbed import autopack

FLAGS = ['--executor-image-uri=python:3.11', '--script=trainer/task.py']


def alone(**changes):
    """An environment in which no engine and no network answer."""
    return testbed.environment(DOCKER_HOST='unix:///nowhere/docker.sock', XDG_CACHE_HOME=testbed.new_folder('cache'),
                               **changes)


def git(folder, *arguments, env=None, check=True):
    settings = {'GIT_AUTHOR_NAME': 'A', 'GIT_AUTHOR_EMAIL': 'a@example.com', 'GIT_COMMITTER_NAME': 'A',
                'GIT_COMMITTER_EMAIL': 'a@example.com', 'GIT_CONFIG_NOSYSTEM': '1'}
    return testbed.run(['git', '-C', folder, *arguments], env=(env or testbed.environment()) | settings, check=check)


def repository(files, name='repository'):
    folder = testbed.new_folder(name)
    git(folder, 'init', '-q', '-b', 'main')
    write(folder, files)
    git(folder, 'add', '-A')
    git(folder, 'commit', '-q', '-m', 'first')
    return folder


def write(folder, files):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def fake_token():
    """Made at run time, so that no text of this repository looks like a token."""
    return 'ghp' + '_' + ''.join(random.Random(1).choices(string.ascii_letters + string.digits, k=36))


class Source(unittest.TestCase):
    def setUp(self):
        self.target = testbed.image_name('git')
        self.folder = repository({'trainer/task.py': 'print("one")\n', 'trainer/more/data.txt': 'data\n'})

    def build(self, *flags, folder=None, env=None):
        return autopack('build', '--executor-image-uri', testbed.executor(), '--script=trainer/task.py',
                        '--output-image-uri', self.target, '--no-push', '--format=json', *flags, cwd=folder or self.folder,
                        env=env).json()

    def test_the_same_image_from_worktree_index_and_commit(self):
        first = self.build()
        for source in ('index', 'HEAD', 'main', git(self.folder, 'rev-parse', '--short', 'HEAD').stdout.decode().strip()):
            again = self.build(f'--source={source}')
            self.assertEqual((again['digest'], again['tag'], again['reused']), (first['digest'], first['tag'], True))
        fresh = testbed.image_name('git-fresh')
        alone_built = self.build('--source=HEAD', '--output-image-uri', fresh)
        self.assertEqual((alone_built['digest'], alone_built['reused']), (first['digest'], False))

    def test_no_dirty_file_slips_in(self):
        first = self.build()
        write(self.folder, {'trainer/task.py': 'print("two")\n', 'trainer/new.py': '', '.dockerignore': 'trainer/more\n'})
        (self.folder / 'trainer/more/data.txt').unlink()
        self.assertEqual(self.build('--source=index')['digest'], first['digest'])
        self.assertNotEqual(self.build()['digest'], first['digest'])
        git(self.folder, 'add', 'trainer/task.py')
        staged = self.build('--source=index')
        self.assertNotEqual(staged['digest'], first['digest'])
        self.assertTrue(staged['git']['dirty'])
        self.assertEqual(self.build('--source=HEAD')['digest'], first['digest'])

    def test_facts_and_labels(self):
        git(self.folder, 'remote', 'add', 'origin', 'https://me:word@example.com/team/r.git')
        head = git(self.folder, 'rev-parse', 'HEAD').stdout.decode().strip()
        plain = self.build('--source=HEAD')
        self.assertEqual(plain['git'], {'revision': head, 'remote': 'https://example.com/team/r.git', 'dirty': False})
        labelled = self.build('--source=HEAD', '--label-git')
        self.assertNotEqual(labelled['tag'], plain['tag'])
        labels = testbed.configuration(labelled['digest'])['Config']['Labels']
        self.assertEqual(labels['org.opencontainers.image.revision'], head)
        self.assertEqual(labels['org.opencontainers.image.source'], 'https://example.com/team/r.git')
        self.assertEqual(labels['autopack.git.dirty'], 'false')
        git(self.folder, 'commit', '-q', '--allow-empty', '-m', 'second')
        self.assertEqual(self.build('--source=HEAD')['tag'], plain['tag'])
        self.assertNotEqual(self.build('--source=HEAD', '--label-git')['tag'], labelled['tag'])

    def test_submit_and_run_take_it_too(self):
        write(self.folder, {'trainer/task.py': 'print("two")\n'})
        answer = autopack('run', '--executor-image-uri', testbed.executor(), '--script=trainer/task.py', '--source=HEAD',
                          cwd=self.folder)
        self.assertEqual(answer.out, 'one\n')
        pool = (f'--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri={testbed.executor()},'
                'local-package-path=.,script=trainer/task.py')
        answer = autopack('submit', '--submitter=local', '--display-name=x', pool, '--source=index', cwd=self.folder)
        self.assertIn('one', answer.err)

    def test_what_git_does_not_hold_is_refused_by_name(self):
        library = repository({'a.py': ''}, 'library')
        git(self.folder, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', library, 'trainer/lib')
        pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:' + '0' * 64 + '\nsize 9\n'
        write(self.folder, {'trainer/model.bin': pointer})
        git(self.folder, 'add', '-A')
        write(self.folder, {'.gitattributes': '*.bin filter=lfs\n'})
        git(self.folder, 'add', '.gitattributes')
        flags = ['explain', *FLAGS, '--check', '--source=index']
        answer = autopack(*flags, cwd=self.folder, env=alone(), status=2)
        self.assertIn('`trainer/lib` is a submodule', answer.err)
        self.assertIn('`trainer/model.bin` is a Git LFS file', answer.err)
        write(self.folder, {'.dockerignore': 'trainer/lib\ntrainer/model.bin\n'})
        git(self.folder, 'add', '.dockerignore')
        autopack(*flags, cwd=self.folder, env=alone())
        other = testbed.new_folder('outside')
        for extra in (f'--extra-dirs={other}', '--source=nothing'):
            autopack(*flags, extra, cwd=self.folder, env=alone(), status=2)
        autopack('explain', *FLAGS, '--check', '--source=HEAD', cwd=other, env=alone(), status=2)


class Lfs(unittest.TestCase):
    def test_a_fetched_file_has_its_contents(self):
        folder = repository({'trainer/task.py': 'print(open("trainer/model.bin").read())\n'})
        git(folder, 'lfs', 'install', '--local')
        write(folder, {'.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'trainer/model.bin': 'weights'})
        git(folder, 'add', '-A')
        git(folder, 'commit', '-q', '-m', 'model')
        answers = [autopack('run', '--executor-image-uri', testbed.executor(), '--script=trainer/task.py', f'--source={source}',
                            cwd=folder).out for source in ('worktree', 'HEAD')]
        self.assertEqual(answers, ['weights\n', 'weights\n'])


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
        write(folder or self.folder, files)
        git(folder or self.folder, 'add', '-A')

    def check_in(self, folder):
        self.stage({'trainer/task.py': 'print(1)\n'}, folder)
        self.assertEqual(self.commit(folder=folder)[0], 0)
        dockerfile = (folder / 'Dockerfile').read_text()
        self.stage({'Dockerfile': dockerfile.replace('/usr/app', '/app')}, folder)
        # Only what is staged counts, and pre-commit puts the rest aside.
        write(folder, {'Dockerfile': dockerfile})
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
        write(self.folder, {'trainer/settings.py': f'TOKEN = "{fake_token()}"\n', 'README.md': 'more\n'})
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
        write(self.folder, {'trainer/task.py': 'print("not staged")\n'})
        self.env = self.env | {'AUTOPACK_OUTPUT_IMAGE_URI': f'{name}:hook'}
        self.env.pop('DOCKER_HOST')
        self.pre_commit(self.folder, 'run', '--hook-stage', 'manual', 'autopack-build')
        self.assertEqual(testbed.docker('run', '--rm', f'{name}:hook'), 'staged')


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
