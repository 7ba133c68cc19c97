"""Hostile indexes, projects and programs called uv cannot make a resolution run code, read foreign files, or lie."""

import hashlib
import json
import pathlib
import signal
import unittest

import testbed
from index_server import IndexServer
from test_resolving import ENTRY, Commands
from test_wheels import write_wheel

EMPTY = b'Metadata-Version: 2.1\nName: lk_top\nVersion: 1.0\n'
FAKE_UV = """#!/bin/sh
[ "$1" = --version ] && echo 'uv 0.13.9' && exit
{action}
"""


class ResolvingAttacks(Commands, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = testbed.pushed_executor('attacks/base:1')
        cls.house = testbed.new_folder('house')
        write_wheel(cls.house, 'lk_top', '1.0', {'lk_top.py': ''}, ['lk_low>=1'])
        write_wheel(cls.house, 'lk_low', '1.0', {'lk_low.py': ''})
        cls.strange = testbed.new_folder('strange')
        write_wheel(cls.strange, 'lk_low', '99.0', {'lk_low.py': 'raise SystemExit("a stranger\'s code")\n'})

    def setUp(self):
        self.index = IndexServer([self.house], metadata=True)
        self.addCleanup(self.index.close)
        self.cache = testbed.new_cache()
        self.env = testbed.environment(PIP_INDEX_URL=self.index.url, AUTOPACK_UV=str(testbed.uv()),
                                       XDG_CACHE_HOME=str(self.cache), DOCKER_HOST='unix:///nowhere')
        self.folder = testbed.write_tree({'train.py': ENTRY, 'requirements.txt': 'lk_top\n'})
        self.name = testbed.image_name('attacks')
        self.mark = testbed.new_folder('mark') / 'ran'

    def fake(self, action):
        program = testbed.new_folder('fake') / 'uv'
        program.write_text(FAKE_UV.format(action=action))
        program.chmod(0o755)
        return str(program)

    def assert_nothing_left(self):
        self.assertFalse(self.mark.exists())
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ['requirements.txt', 'train.py'])

    def test_metadata_that_does_not_match_its_hash(self):
        wheel = next(self.house.glob('lk_top*.whl')).name
        self.index.misbehave(f'/files/{wheel}.metadata', 9, body=EMPTY)
        answer = self.lock(status=None)
        if answer.status == 0:  # read from the wheel instead
            self.assertIn('name = "lk-low"', (self.folder / 'pylock.toml').read_text())
        else:
            self.assert_nothing_left()

    def test_metadata_that_the_wheel_contradicts(self):
        wheel = next(self.house.glob('lk_top*.whl')).name
        page = json.loads(self.index.json_page('lk-top', self.index.files['lk-top']))
        for entry in page['files']:
            entry['core-metadata'] = entry['dist-info-metadata'] = {'sha256': hashlib.sha256(EMPTY).hexdigest()}
        self.index.misbehave(f'/files/{wheel}.metadata', 9, body=EMPTY)
        self.index.misbehave('/simple/lk-top/', 9, body=json.dumps(page).encode())
        answer = self.build(status=1)
        self.assertIn('an index publishes other metadata than its wheels have', answer.err)
        self.assertIn('the wheel of `lk-top` requires `lk-low>=1`', answer.err)
        self.assert_nothing_left()

    def test_a_wheel_with_another_hash_or_size(self):
        wheel = next(self.house.glob('lk_low*.whl'))
        for body in (wheel.read_bytes() + b'more', wheel.read_bytes()[:-1] + b'x'):
            self.index.misbehave(f'/files/{wheel.name}', 9, body=body)
            answer = self.build(status=None)
            self.assertNotEqual(answer.status, 0)
            self.assertIn('lk_low-1.0', answer.err)
            self.assert_nothing_left()
            self.index.faults.clear()
        self.build()

    def test_a_stranger_s_package_of_the_same_name(self):
        stranger = IndexServer([self.strange])
        self.addCleanup(stranger.close)
        (self.folder / 'requirements.txt').unlink()
        (self.folder / 'pyproject.toml').write_text(
            '[project]\nname = "app"\nversion = "0.1"\ndependencies = ["lk_top", "lk_low"]\n[tool.uv]\npackage = false\n'
            '[tool.uv.sources]\nlk_top = { index = "house" }\nlk_low = { index = "house" }\n'
            f'[[tool.uv.index]]\nname = "house"\nurl = "{self.index.url}"\nexplicit = true\n')
        answer = self.build(PIP_INDEX_URL=stranger.url)
        self.assertEqual(self.versions(answer), {'lk_top': '1.0', 'lk_low': '1.0'})
        self.assertEqual(stranger.requests, [])

    def test_a_hostile_project(self):
        evil = f'open({str(self.mark)!r}, "w").close()\n'
        interpreter = self.folder / 'python'
        interpreter.write_text(f'#!/bin/sh\ntouch {self.mark}\n')
        interpreter.chmod(0o755)
        outside = testbed.write_tree({'setup.py': evil, 'secret.txt': 'word'})
        (self.folder / 'backend.py').write_text(evil)
        (self.folder / '.python-version').write_text('./python\n')
        (self.folder / 'uv.toml').write_text('cache-dir = "stolen"\npython = "./python"\n')
        (self.folder / 'requirements.txt').unlink()
        path = f'[tool.uv.sources]\nlk_top = {{ path = "{outside}" }}\n'
        url = f'[tool.uv.sources]\nlk_top = {{ url = "file://{outside}/lk_top-1.0-py3-none-any.whl" }}\n'
        for sources, status in (('', 3), (path, 2), (url, 2)):
            (self.folder / 'pyproject.toml').write_text(
                '[project]\nname = "app"\nversion = "0.1"\ndependencies = ["lk_top"]\n'
                '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
                '[tool.uv]\npackage = false\ncache-dir = "stolen"\npython = "./python"\npython-preference = "system"\n'
                f'index-url = "file://{outside}"\nfind-links = ["{outside}"]\nno-build = false\n{sources}')
            before = sorted(path.name for path in self.folder.iterdir())
            answer = self.lock('--check', status=status)
            self.assertFalse(self.mark.exists())
            self.assertNotIn('word', answer.err)
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()), before)

    def test_a_uv_that_dies_or_floods(self):
        for action, words in (('kill -9 $$', 'uv ended with status 137'), ('exit 7', 'uv ended with status 7'), ('exit 0', 'ended without a lock'),
                              ('yes flood | head -c 1000000000', 'printed too much'),
                              ('yes flood | head -c 1000000000 >&2; exit 2', 'printed too much'),
                              ('echo nonsense > "$2/pylock.toml"', 'ended without a lock')):
            answer = self.lock(status=None, AUTOPACK_UV=self.fake(action))
            self.assertNotEqual(answer.status, 0, answer.err)
            self.assertIn(words, answer.err)
            self.assertLess(len(answer.err), 10_000)
            self.assert_nothing_left()

    def test_a_uv_that_hangs_ends_with_autopack(self):
        log = testbed.new_folder('log') / 'pid'
        program = self.fake(f'echo $$ > {log}.new; mv {log}.new {log}; exec sleep 1000')
        process = testbed.Process('lock', '--executor-image-uri', self.base, '--script=train.py', cwd=self.folder,
                                  env={**self.env, 'AUTOPACK_UV': program})
        testbed.wait_until(log.exists)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertFalse(pathlib.Path('/proc', log.read_text().strip()).exists())
        self.assert_nothing_left()


if __name__ == '__main__':
    unittest.main()
