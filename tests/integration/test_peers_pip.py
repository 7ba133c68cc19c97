"""Requirement files, read as pip reads them: compared with pip itself.

Each table is data; a case whose result differs from the peer's says why that is intended.
"""

import json
import subprocess
import sys
import unittest

import testbed
from testbed import autopack

# pip's parser of requirement files: reads one JSON list of texts, prints the result of each; null if pip refuses one.
PIP = '''
import json, os, sys
from pip._internal.network.session import PipSession
from pip._internal.req.constructors import install_req_from_parsed_requirement
from pip._internal.req.req_file import parse_requirements
said = []
for text in json.load(sys.stdin):
    with open('requirements.txt', 'wb') as file:
        file.write(text.encode('latin-1'))
    try:
        lines = [(install_req_from_parsed_requirement(line), line.options)
                 for line in parse_requirements('requirements.txt', PipSession())]
        said.append([f'{line.req or line.link} {line.markers} {options}' for line, options in lines])
    except (Exception, SystemExit):
        said.append(None)
json.dump(said, sys.stdout)
'''

HASH = 'sha256:' + 'a' * 64

# Bytes as Latin-1, so that any can be written. The reason of an intended difference follows the case.
REQUIREMENTS = [
    ('six',), ('six==1.16',), ('  six  ',), ('six >=1, <2',), ('six (>=1)',), ('six[a,B-c]',), ('six[]',), ('six;',),
    ('six ; python_version < "3"',), ('six; python_version',), ('six; (python_version < "3"',), ('six=1',), ('six==', 'only an older pip takes it'),
    ('six 1',), ('==1',), ('six~=1.0',), ('six===any',), ('six==1.*',), ('six<1,>2,!=3',), ('# six',), ('six # why',),
    ('six#egg',), ('\nsix\r\nattrs\rpip\n',),
    ('six \\\n  ==1',), ('six \\\n# a comment ends it\n==1',), ('# not continued \\\nsix',), ('six\\',),
    ('-e pkgdir',), ('-e ./pkgdir',), ('-e ./pkgdir[x]',), ('-e pkgdir[x]',), ('-e nowhere',), ('./pkgdir',), ('./nowhere',),
    ('-e git+https://example.invalid/r.git#egg=x',),
    ('git+https://example.invalid/r.git#egg=x',),
    ('x @ https://example.invalid/x.zip',), ('x @ https://example.invalid/x.zip;python_version<"3"',),
    ('x @ https://example.invalid/x.zip ; python_version<"3"',), ('https://example.invalid/x.zip',),
    (f'six==1 --hash={HASH}',), (f'six==1 --hash {HASH} --hash={HASH}',), ('six --hash=md5:00',),
    ('--pre',), ('--pre=1',), ('--no-index',), ('--find-links=pkgdir',), ('-f pkgdir',), ('--prefer-binary',),
    ('--only-binary=:all:',), ('--no-binary six',), ('--require-hashes',), ('--trusted-host example.invalid',),
    ('--requirem other.txt',), ('-rother.txt',), ('-r other.txt -c other.txt',), ('-r nowhere.txt',), ('-r',),
    ('--only-final six', 'a newer pip knows it: passed on and told'), ('--nonsense', 'a newer pip may know it: passed on and told'),
    ("-e 'pkgdir",), ("-e 'pkgdir'",), ('# coding: latin-1\n# \xe9\nsix',), ('# coding: cp1252\n# \x85\nsix',),
    ('# \xe9\nsix',), ('\xef\xbb\xbfsix',), ('# encoding:\nsix',), ('\x00',), ('six\x00',),
    ('a.b_c--d',), ('-six', 'a newer pip may have such an option: passed on and told'), ('.six',), ('six-',), ('six==1;;',), ('six==1+local',), ('six==1!2.0',), ('six @ ./pkgdir', 'pip refuses it when the image is built'),
]

# Two files: they have the same key exactly if pip installs the same from both.
PAIRS = [
    ('six==1', 'six==2'), ('six==1', ' six == 1 '), ('six==1', 'six==1 # why'), ('six', 'attrs'),
    *((f'# ours{end}six==1', f'# ours{end}six==2') for end in
      ('\v', '\f', '\x1c', '\x1d', '\x1e', '\r', '\n', '\r\n', '\xc2\x85', '\xe2\x80\xa8', '\xe2\x80\xa9')),
    *((f'# ours{other}six==1', f'# ours{other}six==2') for other in ('\x1f', '\xc2\xa0', '\xe2\x80\xa7', '\\\n')),
    ('six\nattrs', 'six\n\n# between\nattrs'), ('six \\\n==1', 'six==1'), ('six==1;', 'six==1'),
    (f'six==1 --hash={HASH}', f'six==1 --hash=sha256:{"b" * 64}'), ('-r other.txt', 'attrs'), ('six[a]', 'six[b]'),
    ('six; python_version>"3"', 'six; python_version>"2"'),
]


class Pip(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = testbed.write_tree({'train.py': 'print(1)\n', 'other.txt': 'six\n', 'pkgdir/setup.py': ''})

    def pip_says(self, texts):
        answer = subprocess.run([testbed.SYSTEM_PYTHON, '-c', PIP], input=json.dumps(texts).encode(), cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                                env={'PATH': '/usr/bin:/bin', 'LC_ALL': 'C.UTF-8', 'HOME': str(self.folder)})
        self.assertEqual(answer.returncode, 0, answer.stderr.decode())
        return json.loads(answer.stdout)

    def explain(self, text):
        (self.folder / 'requirements.txt').write_bytes(text.encode('latin-1'))
        return autopack('explain', '--script=train.py', '--executor-image-uri', testbed.executor(), '--format=json',
                        cwd=self.folder, env=testbed.index_environment(), status=None)

    def test_requirements_are_taken_or_refused_alike(self):
        for case, peer in zip(REQUIREMENTS, self.pip_says([case[0] for case in REQUIREMENTS])):
            text, meant = case[0], case[1:]
            with self.subTest(text=text):
                answer = self.explain(text)
                self.assertIn(answer.status, (0, 2), answer)
                self.assertEqual((answer.status == 0) == (peer is not None), not meant, f'{peer}\n{answer}')

    def test_files_that_install_otherwise_have_another_key(self):
        pairs = testbed.daily_sample(PAIRS, 8)
        peer = iter(self.pip_says([text for pair in pairs for text in pair]))
        for pair, first, second in zip(pairs, peer, peer):
            with self.subTest(pair=pair):
                keys = [self.explain(text).json()['dependency_key'] for text in pair]
                self.assertEqual(keys[0] == keys[1], first == second, f'{first} {second}')


if __name__ == '__main__':
    sys.exit('run it with run.py')
