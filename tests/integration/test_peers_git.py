"""Files that git writes at a checkout by its attributes: compared with git itself, on generated repositories.

The image of `--source=index` must have the key of a clean checkout's. Whatever libgit2 cannot follow is refused with
an explanation, and never made into another image.
"""

import random
import unittest

import testbed
from testbed import autopack, run

LONG = testbed.FORM == 'long'
ROUNDS = 600 if LONG else 30
PATHS = ('a.txt', 'b.TXT', 'c d.txt', 'e', 'sub/a.txt', 'sub/deep/f.sh', 'sub/[x].txt', '#g', '!h', 'caf\u00e9.txt', 'sub/i.bin')
# Line ends of every kind, with bytes that mark a binary file, and marks that `ident` fills in.
CONTENTS = (b'one\ntwo\n', b'one\r\ntwo\r\n', b'one\r\ntwo\nthree\r\n', b'one\rtwo', b'\x00one\ntwo\n', b'', b'\n', b'one', b'one\r\n\x1a',
            b'\xff\xfeone\ntwo\n', b'$Id$\n', b'\xef\xbb\xbfone\n', b'one\ntwo\r')
PATTERNS = ('*', '*.txt', '*.TXT', 'a.txt', '/a.txt', 'sub/*', 'sub/**', '**/a.txt', 'sub/', 'sub/deep/*.sh', '[ab].*', '[!a].*', '"c d.txt"',
            '"caf\\303\\251.txt"', 'caf\u00e9.txt', 'c[[:space:]]d.txt', 'c?d.txt', '\\#g', '#g', '!h', '\\!h', 'sub/\\[x\\].txt', 'e', '/e', '?',
            '"a.txt"', '"*.txt"', '"a.txt', './a.txt', 'sub/../a.txt', '**', '*.{txt,sh}', ' a.txt', 'A.txt')
ATTRIBUTES = ('text', '-text', '!text', 'text=auto', 'eol=crlf', 'eol=lf', '!eol', 'binary', '-binary', 'crlf', '-crlf', 'crlf=input', 'text eol=crlf',
              'text=auto eol=crlf', '-text eol=crlf', 'text=auto eol=lf', 'diff=x', 'export-ignore', 'merge=union', 'windows', '-windows', '!windows',
              'linguist-vendored text', 'text=x', 'eol=x', 'EOL=crlf', 'ident', '-ident', 'working-tree-encoding=UTF-8',
              'working-tree-encoding=UTF-16LE', 'filter=nowhere', '-filter', 'text\teol=crlf')
MACROS = ('[attr]windows text eol=crlf', '[attr]windows -text', '[attr]windows text=auto', '[attr]binary eol=crlf', '[attr]win')
# Not core.ignorecase: libgit2 compares patterns by their letters, whatever the setting.
SETTINGS = (('core.autocrlf', 'true'), ('core.autocrlf', 'input'), ('core.autocrlf', 'false'), ('core.eol', 'crlf'), ('core.eol', 'lf'))
# The messages that refuse unsupported settings.
REFUSED = ('has a quoted pattern', 'has a negative pattern', '`working-tree-encoding` changes', '`$Id$` git changes', 'a filter of your git settings')


class GitAttributes(unittest.TestCase):
    def explain(self, folder, *flags):
        return autopack('explain', '--script=task.py', '--format=json', '--executor-image-uri', testbed.executor(), *flags, cwd=folder,
                        env=self.env, status=None)

    def rules(self, chance):
        lines = [f'{chance.choice(PATTERNS)} {chance.choice(ATTRIBUTES)}' for _ in range(chance.randint(1, 5))]
        # The program itself must be readable.
        lines = [line for line in lines if not (line.startswith('*') and line.endswith('UTF-16LE'))]
        return chance.choice(['\n', '\n', '\r\n']).join(lines) + chance.choice(['', '\n'])

    def repository(self, chance):
        folder = testbed.new_folder('attributes')
        run(['git', 'init', '-q', folder], env=self.env)
        if chance.random() < 0.4:
            run(['git', '-C', folder, 'config', *chance.choice(SETTINGS)], env=self.env)
        files = {path: chance.choice(CONTENTS) for path in PATHS}
        files['task.py'] = b'print(1)\n'
        files['.gitattributes'] = ('\n'.join(chance.choices(MACROS, k=chance.choice([0, 0, 1, 2])) + [self.rules(chance)])).encode()
        if chance.random() < 0.4:
            files['sub/.gitattributes'] = self.rules(chance).encode()
        if chance.random() < 0.2:
            (folder / '.git/info').mkdir(exist_ok=True)
            (folder / '.git/info/attributes').write_text(self.rules(chance))
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
            # As if somebody with other settings had added it: what git would change when adding is not tested here.
            blob = run(['git', '-C', folder, 'hash-object', '-w', '--no-filters', path], env=self.env).stdout.decode().strip()
            run(['git', '-C', folder, 'update-index', '--add', '--cacheinfo', f'100644,{blob},{path}'], env=self.env)
        return folder

    def compare(self, number):
        """Returns whether autopack followed; raises AssertionError if it made something else."""
        chance = random.Random(number)
        folder = self.repository(chance)
        clean = testbed.new_folder('clean')
        checkout = run(['git', '-C', folder, 'checkout-index', '-q', '-a', f'--prefix={clean}/'], env=self.env, check=False)
        ours = self.explain(folder, '--source=index')
        said = '\n'.join(f'{path}: {path.read_bytes()!r}' for path in [*folder.rglob('.gitattributes'), folder / '.git/info/attributes',
                                                                       folder / '.git/config'] if path.exists()) + f'\n{ours}'
        if ours.status != 0:
            self.assertEqual(ours.status, 2, said)
            self.assertTrue(any(words in ours.err for words in REFUSED), said)
            return False
        self.assertEqual(checkout.returncode, 0, said + checkout.stderr.decode(errors='replace'))
        theirs = self.explain(clean)
        self.assertEqual(theirs.status, 0, theirs)
        self.assertEqual(ours.json()['image_key'], theirs.json()['image_key'], said)
        return True

    def test_are_followed_as_git_follows_them_or_refused(self):
        self.env = testbed.environment(HOME=testbed.new_folder('home'), GIT_CONFIG_NOSYSTEM='1')
        followed = 0
        for number in range(ROUNDS):
            with self.subTest(round=number):
                followed += self.compare(number)
        self.assertGreater(followed, ROUNDS // 4)
