"""autopack as a person meets it: on a terminal, in three shells, installed, in a narrow locale."""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import termios
import time
import unittest

import secret_watch
import testbed
from repositories import commit, fake_token, git
from testbed import autopack, docker

COMMANDS = ('submit', 'tune', 'run', 'build', 'dockerfile', 'explain', 'doctor', 'jobs', 'translate', 'completion')
PROJECT = {
    'trainer/__init__.py': '',
    'trainer/task.py': 'import json\nimport common\nimport yaml\nprint(common.x)\n',
    'common/__init__.py': 'x = 1\n',
    'trainer/tr\N{LATIN SMALL LETTER A WITH DIAERESIS}in data.csv': '1\n',
    'trainer/notes/a b.txt': 'x',
    '.dockerignore': '# not needed\n\nnotes\n**/notes\n',
}


class Terminal:
    """A program on a pseudo-terminal of 80 columns."""

    def __init__(self, command, env, cwd=None):
        self.text = ''
        self.pid, self.handle = pty.fork()
        if self.pid == 0:
            os.chdir(cwd or '/')
            os.execvpe(command[0], [str(part) for part in command], env)
        secret_watch.given(env)
        fcntl.ioctl(self.handle, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 80, 0, 0))

    def read(self, until=None, seconds=60):
        """What came until `until` did, or until the program ended."""
        end = time.monotonic() + seconds
        begin = len(self.text)
        while time.monotonic() < end:
            if until is not None and until in self.text[begin:]:
                return self.text[begin:]
            if not select.select([self.handle], [], [], 0.2)[0]:
                continue
            try:
                self.text += os.read(self.handle, 65536).decode(errors='replace')
            except OSError:
                secret_watch.require_none('the program', self.text)
                return self.text[begin:]
        raise AssertionError(f'{until!r} did not come:\n{self.text[begin:]}')

    def type(self, text):
        os.write(self.handle, text.encode())

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.handle)


def on_terminal(*arguments, cwd=None, **variables):
    env = testbed.environment(**({'TERM': 'xterm', 'NO_COLOR': None, 'CI': None, 'AUTOPACK_VERBOSITY': None} | variables))
    terminal = Terminal([testbed.binary, *arguments], env, cwd)
    try:
        return terminal.read()
    finally:
        os.waitpid(terminal.pid, 0)
        os.close(terminal.handle)


def plain(text):
    return re.sub('\x1b\\[[0-9;]*[A-Za-z]', '', text).replace('\r', '')


class Manners(unittest.TestCase):
    def test_help_fits_a_screen_and_shows_an_example(self):
        for command in COMMANDS:
            with self.subTest(command):
                text = on_terminal(command, '--help')
                lines = plain(text).splitlines()
                self.assertLessEqual(len(lines), 40)
                self.assertLessEqual(max(map(len, lines)), 80)
                self.assertIn('example:', lines)
                self.assertNotIn('\x1b', text)

    def test_colours_go_with_the_terminal_and_the_wish(self):
        wrong = ['build', '--engin=docker']
        self.assertIn('\x1b[1;31merror:', on_terminal(*wrong))
        self.assertNotIn('\x1b', on_terminal(*wrong, '--color=never'))
        self.assertNotIn('\x1b', on_terminal(*wrong, NO_COLOR='1'))
        piped = autopack(*wrong, env=testbed.environment(NO_COLOR=None), status=2).err
        self.assertNotIn('\x1b', piped)
        self.assertIn('did you mean `--engine`?', piped)
        self.assertIn('did you mean `explain`?', autopack('explian', status=2).err)
        self.assertIn('did you mean `direct`?', autopack('build', '--engine=dirct', status=2).err)

    def test_a_narrow_locale_gets_narrow_text(self):
        folder = testbed.new_folder('mein Projekt \N{LATIN SMALL LETTER U WITH DIAERESIS}')
        testbed.write_tree(PROJECT, folder)
        command = ['explain', '--executor-image-uri', testbed.executor(), '--python-module=trainer.task',
                   '--color=never']
        wide = autopack(*command, cwd=folder)
        self.assertIn('tr\N{LATIN SMALL LETTER A WITH DIAERESIS}in data.csv', wide.out)
        narrow = autopack(*command, cwd=folder, env=testbed.environment(LC_ALL='C'))
        self.assertTrue((narrow.out + narrow.err).isascii(), narrow)
        self.assertIn('tr\\xc3\\xa4in data.csv', narrow.out)
        self.assertLessEqual(max(map(len, wide.out.splitlines())), 80)


class Narrow(unittest.TestCase):
    """A terminal of 80 columns, no colour, a locale without UTF-8, odd names in the path."""

    SETTINGS = ('region: us-central1\nproject: p\ndisplay-name: x\nskip-checks: true\nscript: trainer/task.py\n'
                'worker-pool-spec:\n- machine-type: n1-standard-4\n')

    def setUp(self):
        self.folder = testbed.new_folder('mein Projekt \N{LATIN SMALL LETTER U WITH DIAERESIS}')
        testbed.write_tree(PROJECT | {'autopack.yaml': f'executor-image-uri: {testbed.executor()}\n' + self.SETTINGS}, self.folder)
        git(self.folder, 'init', '-q', '-b', 'main')
        commit(self.folder, 'first')

    def said(self, *arguments):
        text = on_terminal(*arguments, cwd=self.folder, LC_ALL='C', NO_COLOR='1')
        self.assertTrue(text.isascii(), text)
        self.assertNotIn('\x1b[1', text)
        return plain(text)

    def test_commands_on_a_source_of_git(self):
        for source in ('worktree', 'index', 'HEAD'):
            with self.subTest(source):
                text = self.said('explain', f'--source={source}')
                self.assertIn('tr\\xc3\\xa4in data.csv', text)
                self.assertIn('.dockerignore:4 **/notes', text)
        (self.folder / 'trainer/task.py').unlink()
        self.assertIn('`trainer/task.py` does not exist', self.said('explain', '--source=worktree'))
        self.assertIn('Goes in: ', self.said('explain', '--source=index'))
        self.assertIn('`nothing` names no commit of the git repository', self.said('explain', '--source=nothing'))
        self.assertIn('ENTRYPOINT ["python3", "trainer/task.py"]', self.said('dockerfile', '--source=HEAD'))

    def test_submit_alone_and_where_values_came_from(self):
        text = self.said('submit', '--dry-run', '-v', '--source=index')
        self.assertIn('"machineType": "n1-standard-4"', text)
        self.assertIn('--region is `us-central1` from `index:autopack.yaml` line 2', text)
        self.assertIn('--source is `index` from `--source`', text)
        self.assertIn('`us-west1` typed', self.said('submit', '--dry-run', '--save', '--region=us-west1'))

    def test_secrets(self):
        token = fake_token()
        name = 'trainer/schl\N{LATIN SMALL LETTER U WITH DIAERESIS}ssel 1.py'
        testbed.write_tree({name: f'TOKEN = "{token}"\n'}, self.folder)
        text = self.said('explain', '--check')
        self.assertIn('`trainer/schl\\xc3\\xbcssel 1.py` line 1 holds a GitHub token', text)
        self.assertNotIn(token, text)
        self.assertNotIn('GitHub token', self.said('explain', '--check', '--source=HEAD'))

    def test_piped_and_mistyped(self):
        answer = testbed.run(['sh', '-c', f"'{testbed.binary}' explain | head -1; '{testbed.binary}' explian"],
                             cwd=self.folder, check=False)
        self.assertEqual(answer.stdout.decode(), 'runs       python3 trainer/task.py\n')
        self.assertIn('did you mean `explain`?', answer.stderr.decode())


class Explaining(unittest.TestCase):
    def explain(self, folder, *flags, **variables):
        return autopack('explain', '--executor-image-uri', self.base, '--python-module=trainer.task', *flags,
                        cwd=folder, env=testbed.environment(**variables))

    def setUp(self):
        self.base = f'{testbed.registry()}/people/base:1'
        docker('tag', testbed.executor(), self.base)
        docker('push', '-q', self.base)
        self.addCleanup(testbed.remove_images, f'{testbed.registry()}/people')

    def test_tells_rules_warnings_layers_and_what_would_be_sent(self):
        folder = testbed.write_tree(PROJECT)
        output = f'--output-image-uri={testbed.registry()}/people/one'
        first = self.explain(folder, output)
        self.assertIn('  .dockerignore:4 **/notes ', first.out)
        self.assertIn('`trainer/task.py` line 2 imports `common`, which is not in the image', first.err)
        self.assertIn('add `--extra-dirs=common`', first.err)
        self.assertIn('`trainer/task.py` line 3 imports `yaml`, which no requirement names', first.err)
        report = self.explain(folder, output, '--format=json').json()
        self.assertEqual(report['engine']['name'], 'direct')
        code = report['layers'][-1]
        self.assertTrue(code['upload'])
        self.assertGreater(report['upload']['bytes'], 0)
        self.assertFalse(report['rebuild']['image']['reused'])
        built = autopack('build', '--executor-image-uri', self.base, '--python-module=trainer.task', output,
                         '--format=json', cwd=folder).json()
        self.assertIn(code['digest'], [layer['digest'] for layer in built['layers']])
        again = self.explain(folder, output)
        self.assertIn('nothing: the registry has the image', again.out)
        (folder / 'trainer/task.py').write_text('print(2)\n')
        changed = self.explain(folder, output, '--format=json').json()
        self.assertIn('trainer/task.py', changed['rebuild']['image']['reason'])
        self.assertEqual([layer['upload'] for layer in changed['layers']],
                         [layer is changed['layers'][-1] for layer in changed['layers']])

    def test_works_without_daemon_and_registry(self):
        folder = testbed.write_tree(PROJECT)
        self.explain(folder)
        port = testbed.free_port()
        text = self.explain(folder, f'--output-image-uri=127.0.0.1:{port}/people/two',
                            DOCKER_HOST='unix:///nowhere/docker.sock').out
        self.assertIn('not known: ', text)
        self.assertIn('unknown', text)
        self.assertIn('trainer/', text)


class Shells(unittest.TestCase):
    def environment(self):
        folder = pathlib.Path(testbed.binary).resolve().parent
        return testbed.environment(PATH=f'{folder}:{os.environ["PATH"]}', TERM='dumb', PS1='> ')

    def complete(self, shell, prepare, line, answer):
        terminal = Terminal(shell, self.environment(), testbed.scratch())
        try:
            terminal.type(prepare + '; echo re""ady\n')
            terminal.read('ready')
            terminal.type(line + '\t')
            terminal.read(answer)
        finally:
            terminal.end()

    def test_complete_flags_and_values(self):
        cases = {'autopack exp': 'explain',
                 'autopack build --engine=di': 'direct',
                 'autopack submit --region=us-centr': 'us-central1',
                 'autopack submit --worker-pool-spec=machine-type=n1-standard-9': 'n1-standard-96',
                 'autopack submit --submitter lo': 'local'}
        for line, answer in cases.items():
            with self.subTest(f'bash: {line}'):
                self.complete(['bash', '--norc', '--noprofile', '-i'], 'source <(autopack completion bash)',
                              line, answer)
            with self.subTest(f'zsh: {line}'):
                self.complete(['zsh', '-f', '-i'],
                              'autoload -Uz compinit; compinit -u -D; source <(autopack completion zsh)',
                              line, answer)
            with self.subTest(f'fish: {line}'):
                found = testbed.run(['fish', '--no-config', '-c',
                                     f'autopack completion fish | source; complete -C "{line}"'],
                                    env=self.environment()).stdout.decode()
                self.assertIn(answer, found)


class Installation(unittest.TestCase):
    def test_puts_things_where_a_distribution_expects_them(self):
        build = pathlib.Path(testbed.binary).resolve().parents[1]
        place = testbed.new_folder('image of \N{LATIN SMALL LETTER U WITH DIAERESIS}')
        testbed.run(['meson', 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', place])
        prefix = next(place.rglob('bin/autopack')).parents[1]
        share = prefix / 'share'
        for name in ('bash-completion/completions/autopack.bash', 'zsh/site-functions/_autopack',
                     'fish/vendor_completions.d/autopack.fish', 'autopack/autopack.schema.json',
                     'doc/autopack/README.md', 'doc/autopack/examples/script/trainer/task.py'):
            self.assertTrue((share / name).is_file(), name)
        installed = prefix / 'bin/autopack'
        self.assertTrue(testbed.run([installed, '--version']).stdout.startswith(b'autopack '))
        listing = testbed.run([installed, 'dockerfile', '--executor-image-uri', testbed.executor(),
                               '--script=trainer/task.py'], cwd=share / 'doc/autopack/examples/script')
        self.assertIn(b'ENTRYPOINT', listing.stdout)
        page = share / 'man/man1/autopack.1'
        read = testbed.run(['man', '--warnings', '-l', page], env=testbed.environment(MANWIDTH='80'))
        self.assertEqual(read.stderr.decode(), '')
        for word in ('submit', '--worker-pool-spec', 'AUTOPACK_REGION', 'autopack.yaml'):
            self.assertIn(word, plain(re.sub('.\b', '', read.stdout.decode())))
