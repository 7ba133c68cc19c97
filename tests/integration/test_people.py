"""autopack as a person meets it: on a terminal, in three shells, installed, in a narrow locale."""

import os
import pathlib
import re
import socket
import unittest

import testbed
from repositories import commit, fake_token, git
from terminal import Terminal, on_terminal, plain
from testbed import autopack

UMLAUT = '\N{LATIN SMALL LETTER U WITH DIAERESIS}'
COMMANDS = ('submit', 'tune', 'run', 'build', 'dockerfile', 'explain', 'doctor', 'jobs', 'translate', 'completion')
PROJECT = {
    'trainer/__init__.py': '',
    'trainer/task.py': 'import json\nimport common\nimport yaml\nprint(common.x)\n',
    'common/__init__.py': 'x = 1\n',
    'trainer/tr\N{LATIN SMALL LETTER A WITH DIAERESIS}in data.csv': '1\n',
    'trainer/notes/a b.txt': 'x',
    '.dockerignore': '# not needed\n\nnotes\n**/notes\n',
}


class Manners(unittest.TestCase):
    def test_help_fits_a_screen_and_shows_an_example(self):
        folder = testbed.new_folder(f'mein Projekt {UMLAUT}')
        for command in ([name] if name else [] for name in ('', *COMMANDS)):
            for locale in ('C', 'C.UTF-8'):
                with self.subTest(f'{command}, {locale}'):
                    text = on_terminal(*command, '--help', cwd=folder, LC_ALL=locale)
                    lines = plain(text).splitlines()
                    self.assertLessEqual(len(lines), 40)
                    self.assertLessEqual(max(map(len, lines)), 80)
                    self.assertIn('example:', lines)
                    self.assertTrue(text.isascii())
                    self.assertNotIn('\x1b', text)
                    every = plain(on_terminal(*command, '--help-all', cwd=folder, LC_ALL=locale))
                    self.assertLessEqual(max(map(len, every.splitlines())), 80)

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
        folder = testbed.new_folder(f'mein Projekt {UMLAUT}')
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
        self.folder = testbed.new_folder(f'mein Projekt {UMLAUT}')
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
        self.assertIn('--region is `us-central1` from index:autopack.yaml:2', text)
        self.assertIn('--source is `index` from `--source`', text)
        self.assertIn('`us-west1` typed', self.said('submit', '--dry-run', '--save', '--region=us-west1'))

    def test_secrets(self):
        token = fake_token()
        name = f'trainer/schl{UMLAUT}ssel 1.py'
        testbed.write_tree({name: f'TOKEN = "{token}"\n'}, self.folder)
        text = self.said('explain', '--check')
        self.assertIn('`trainer/schl\\xc3\\xbcssel 1.py` line 1 holds a GitHub token', text)
        self.assertNotIn(token, text)
        self.assertNotIn('GitHub token', self.said('explain', '--check', '--source=HEAD'))

    def test_hints_can_be_pasted_in_each_locale(self):
        names = [f'trainer/schl{UMLAUT}ssel 1.py', f"trainer/it's {UMLAUT}.py", 'trainer/back\\slash.py', 'trainer/bell\a.py',
                 'trainer/[a]*?.py', 'trainer/two\nlines.py']
        for shell, locale in (('bash', 'C'), ('bash', 'C.UTF-8'), ('zsh', 'C'), ('zsh', 'C.UTF-8')):
            with self.subTest(f'{shell}, {locale}'):
                token = fake_token()
                folder = testbed.write_tree({'trainer/task.py': ''} | {name: f'T = "{token}"\n' for name in names})
                check = ['explain', '--check', f'--executor-image-uri={testbed.executor()}', '--script=trainer/task.py']

                def pasted(marker):
                    env = testbed.environment(LC_ALL=locale, AUTOPACK_VERBOSITY=None)
                    answer = autopack(*check, cwd=folder, env=env, status=2)
                    self.assertTrue(locale != 'C' or answer.err.isascii(), answer)
                    hints = [line.split('hint: ')[1] for line in answer.err.splitlines() if marker in line]
                    self.assertEqual(len(hints), len(names), answer)
                    for hint in hints:
                        testbed.run([shell, '-c', hint.removeprefix('if it may be seen: ')], cwd=folder,
                                    env=testbed.environment(LC_ALL=locale))

                pasted('>> .autopack-allow-secrets')
                autopack(*check, cwd=folder)
                (folder / '.autopack-allow-secrets').unlink()
                (folder / '.dockerignore').touch()
                pasted('>> .dockerignore')
                autopack(*check, cwd=folder)
                self.assertEqual(len((folder / '.dockerignore').read_text().splitlines()), len(names))

    def test_a_rule_that_hides_what_is_needed(self):
        name = f'h{UMLAUT}lfe'
        folder = testbed.write_tree({'trainer/__init__.py': '', 'trainer/task.py': f'import {name}\n', f'{name}.py': '',
                                     f'da t{UMLAUT}/x.py': '', '.dockerignore': f'{name}.py\nda*\n'})
        env = testbed.environment(LC_ALL='C', AUTOPACK_VERBOSITY=None)
        command = ['explain', f'--executor-image-uri={testbed.executor()}', '--python-module=trainer.task']
        answer = autopack(*command, f'--extra-dirs=da t{UMLAUT}', cwd=folder, env=env)
        self.assertIn('da t\\xc3\\xbc/', answer.out)
        testbed.run(['bash', '-c', re.search(r'hint: (echo .* >> .dockerignore)', answer.err)[1]], cwd=folder, env=env)
        self.assertEqual((folder / '.dockerignore').read_text().splitlines()[2:], [f'!{name}.py'])

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
        self.base = testbed.pushed_executor('people/base:1')
        self.addCleanup(testbed.remove_images, f'{testbed.registry()}/people')

    def test_tells_rules_warnings_layers_and_what_would_be_sent(self):
        folder = testbed.write_tree(PROJECT)
        output = f'--output-image-uri={testbed.registry()}/people/one'
        first = self.explain(folder, output)
        self.assertIn('  .dockerignore:4 **/notes ', first.out)
        self.assertIn('`trainer/task.py` line 3 imports `yaml`, which neither a requirement nor the executor image', first.err)
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

    def test_looks_into_the_executor_image_for_what_no_requirement_names(self):
        folder = testbed.write_tree({'trainer/__init__.py': '', 'trainer/task.py': 'import numpy\nimport yaml\n'})
        # Once for an image: there is no engine the second time.
        for variables in ({}, {'DOCKER_HOST': 'unix:///nowhere/docker.sock'}):
            said = self.explain(folder, **variables).err
            self.assertNotIn('imports `numpy`', said)
            self.assertIn('`trainer/task.py` line 2 imports `yaml`, which neither a requirement nor the executor image', said)
        created = [line for line in said.splitlines() if '/containers/' in line]
        self.assertEqual(created, [])

    def test_works_without_daemon_and_registry(self):
        folder = testbed.write_tree(PROJECT)
        self.explain(folder)
        port = testbed.free_port()
        text = self.explain(folder, f'--output-image-uri=127.0.0.1:{port}/people/two',
                            DOCKER_HOST='unix:///nowhere/docker.sock').out
        self.assertIn('unknown: ', text)
        self.assertIn('unknown', text)
        self.assertIn('trainer/', text)


class Interrupting(unittest.TestCase):
    """Ctrl-C on a terminal, typed while `explain` is running."""

    def interrupt(self, folder, flags, at_work):
        cache, temporary = testbed.new_folder('cache'), testbed.new_folder('temporary')
        env = testbed.environment(TERM='xterm', NO_COLOR=None, AUTOPACK_VERBOSITY=None, PS1='> ', XDG_CACHE_HOME=cache,
                                  TMPDIR=temporary)
        names = sorted(folder.rglob('*'))
        terminal = Terminal(['bash', '--norc', '--noprofile', '-i'], env, folder)
        try:
            terminal.type("bind 'set enable-bracketed-paste off'\n")
            before = self.status_and_modes(terminal)[1]
            terminal.type(f'{testbed.binary} explain {" ".join(flags)}\n')
            at_work(terminal)
            terminal.type('\x03')
            terminal.read('interrupted\r\n> ')
            self.assertEqual(self.status_and_modes(terminal), ['130', before])
            said = plain(terminal.text).split('^C')[1].split('> ')[0]
        finally:
            terminal.end()
        # A slow reading shows its progress, in an indented line that is drawn over.
        lines = [line for line in said.split('\n') if not line.startswith(' ')]
        self.assertEqual([line for line in lines if line], ['error: interrupted'])
        self.assertEqual(sorted(folder.rglob('*')), names)
        self.assertEqual(list(temporary.rglob('*')), [])
        # The cache is consistent at that point: a second run uses it.
        self.assertEqual([path for path in cache.rglob('*') if path.is_file() and not path.stat().st_size], [])
        return cache

    @staticmethod
    def status_and_modes(terminal):
        terminal.type('echo "sta""tus $? $(stty -g) e""nd"\n')
        return re.search(r'status (.*) end', terminal.read(' end\r\n'))[1].split()

    @staticmethod
    def children(terminal):
        return pathlib.Path(f'/proc/{terminal.pid}/task/{terminal.pid}/children').read_text().split()

    def test_while_a_tree_is_read(self):
        folder = testbed.write_tree({'trainer/task.py': 'print(1)\n'})
        # Takes no space on disk, and is too large to be read before somebody types.
        with open(folder / 'trainer/data.bin', 'wb') as data:
            data.truncate(1 << 40)

        def at_work(terminal):
            def has_read():
                return any(int(re.search(r'rchar: (\d+)', pathlib.Path(f'/proc/{child}/io').read_text())[1]) > 1 << 27
                           for child in self.children(terminal))
            testbed.wait_until(has_read, what='the reading of the tree')
        cache = self.interrupt(folder, [f'--executor-image-uri={testbed.executor()}', '--script=trainer/task.py'], at_work)
        self.assertEqual([path for path in cache.rglob('files/*')], [])

    def test_while_a_registry_is_waited_for(self):
        folder = testbed.write_tree({'trainer/task.py': 'print(1)\n'})
        with socket.socket() as silent:
            silent.bind(('127.0.0.1', 0))
            silent.listen()
            silent.settimeout(60)
            place = f'127.0.0.1:{silent.getsockname()[1]}/people'
            asked = []
            self.interrupt(folder, [f'--executor-image-uri={testbed.executor()}', f'--output-image-uri={place}/out',
                                    '--script=trainer/task.py'], lambda _: asked.append(silent.accept()[0]))
            asked[0].close()


class Shells(unittest.TestCase):
    SHELLS = {'bash': (['bash', '--norc', '--noprofile', '-i'], 'source <(autopack completion bash)'),
              'zsh': (['zsh', '-f', '-i'], 'autoload -Uz compinit; compinit -u -D; source <(autopack completion zsh)'),
              'fish': (['fish', '--no-config', '-i'], 'autopack completion fish | source')}

    def environment(self, **changes):
        folder = pathlib.Path(testbed.binary).resolve().parent
        return testbed.environment(PATH=f'{folder}:{os.environ["PATH"]}', TERM='dumb', PS1='> ', **changes)

    def complete(self, shell, line, answer, end='', cwd=None, **variables):
        command, prepare = self.SHELLS[shell]
        terminal = Terminal(command, self.environment(**variables), cwd or testbed.scratch())
        try:
            terminal.type(prepare + '; echo re""ady\n')
            terminal.read('ready')
            terminal.type(line + '\t' + end)
            return terminal.read(answer)
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
                self.complete('bash', line, answer)
            with self.subTest(f'zsh: {line}'):
                self.complete('zsh', line, answer)
            with self.subTest(f'fish: {line}'):
                found = testbed.run(['fish', '--no-config', '-c',
                                     f'autopack completion fish | source; complete -C "{line}"'],
                                    env=self.environment()).stdout.decode()
                self.assertIn(answer, found)

    def test_complete_names_that_need_quotes(self):
        """Completed names denote the directory: autopack is started with it, in a locale that shows it and in one
        that does not."""
        start = f'autopack explain --executor-image-uri={testbed.executor()} --script=trainer/task.py '
        typed = ('--local-package-path=da', '--local-package-path da', '--local-package-path=da\\ te', '--local-package-path="da te')
        for shell in self.SHELLS:
            for locale in ('C', 'C.UTF-8'):
                # fish itself finds no names in paths that the locale cannot show, and leaves a quote open after a
                # directory.
                is_fish = shell == 'fish'
                letter = '' if is_fish and locale == 'C' else UMLAUT
                place = testbed.write_tree({f'da te n {letter}/trainer/task.py': ''}, testbed.new_folder(f'mein Projekt {letter}'))
                for flag in typed:
                    with self.subTest(f'{shell}, {locale}: {flag}'):
                        end = '"\n' if is_fish and '"' in flag else '\n'
                        self.complete(shell, start + flag, 'Goes in: 1 file', end=end, cwd=place, LC_ALL=locale)


class Installation(unittest.TestCase):
    def test_puts_things_where_a_distribution_expects_them(self):
        build = pathlib.Path(testbed.binary).resolve().parents[1]
        place = testbed.new_folder(f'image of {UMLAUT}')
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
        # Also found by its name, in a path that the locale cannot show.
        for locale, which in (('C', ['-l', page]), ('C.UTF-8', ['-l', page]), ('C', ['autopack'])):
            env = testbed.environment(MANWIDTH='80', LC_ALL=locale, MANPATH=share / 'man')
            read = testbed.run(['man', '--warnings', *which], env=env)
            self.assertEqual(read.stderr.decode(), '')
            text = plain(re.sub('.\b', '', read.stdout.decode()))
            for word in ('submit', '--worker-pool-spec', 'AUTOPACK_REGION', 'autopack.yaml'):
                self.assertIn(word, text)
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
            if locale == 'C':
                self.assertTrue(text.isascii())
            # A continued line of an example is one word with the next.
            self.assertIn('\n,executor-image-uri=python:3.11,local-package-path=.\n', text)
