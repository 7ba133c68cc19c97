"""System calls that fail, at every place where autopack makes them: it succeeds, or says what failed, and never half.

strace makes one call of one kind fail. The short form takes a few places of each kind; with AUTOPACK_LONG_TESTS every
one up to the number that an undisturbed run makes. Then disks that are full or read-only, no home, a clock that goes
back, and files that change while they are read.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import tempfile
import threading
import time
import unittest

import testbed
from testbed import autopack, docker, run

LONG = bool(os.environ.get('AUTOPACK_LONG_TESTS'))
LIMIT = 60
# The loader's calls come before main, and what fails there is the loader's to say: lack of memory, it does not survive.
# brk is left out: it tells failure by another number than strace can give.
LOADER = 127
OF_MEMORY = ('mmap',)
PLACES = (1, 2, 5, 12, 30, 70)

FAULTS = [
    ('openat', 'EMFILE'), ('openat', 'EIO'), ('openat', 'ENOSPC'), ('openat2', 'EMFILE'), ('openat2', 'EIO'), ('read', 'EIO'),
    ('pread64', 'EIO'), ('write', 'ENOSPC'), ('write', 'EIO'), ('newfstatat', 'EIO'), ('getdents64', 'EIO'),
    ('rename', 'ENOSPC'), ('rename', 'EIO'), ('mkdir', 'ENOSPC'), ('unlink', 'EIO'), ('mmap', 'ENOMEM'),
    ('clone3', 'EAGAIN'), ('socket', 'EMFILE'), ('connect', 'EAGAIN'), ('sendto', 'EIO'), ('recvfrom', 'EIO'),
    ('epoll_create1', 'EMFILE'), ('eventfd2', 'EMFILE'), ('pipe2', 'EMFILE'), ('ftruncate', 'ENOSPC'), ('lseek', 'EIO'),
]
LOOKS_LIKE_A_BUG = re.compile(r'internal error|a bug|terminate called|std::|core dumped|Assertion', re.IGNORECASE)


def refused_by_the_loader(answer):
    return answer.returncode == LOADER and b'error while loading' in answer.stderr


class Scenario(unittest.TestCase):
    """One command, run with a fault at a time in a place of its own, and what must hold whatever fails."""

    @classmethod
    def setUpClass(cls):
        cls.base = f'{testbed.registry()}/system-calls/base:1'
        docker('tag', testbed.executor(), cls.base)
        docker('push', '-q', cls.base)
        cls.project = testbed.write_tree({'train.py': 'print(1)\n', 'data/a.txt': 'a\n', 'data/b.txt': 'b\n'})

    @classmethod
    def tearDownClass(cls):
        testbed.remove_images(f'{testbed.registry()}/system-calls')

    def arguments(self, number):
        raise NotImplementedError

    def check(self, number, status, out):
        """What the command left, with number `number`, must be what its status says."""

    def environment(self, number):
        return testbed.environment(XDG_CACHE_HOME=testbed.scratch() / f'{type(self).__name__}-cache-{number}',
                                   DOCKER_HOST='unix:///nowhere/docker.sock')

    def run_once(self, number, *tracer):
        return run([*tracer, testbed.binary, *map(str, self.arguments(number))], check=False, cwd=self.project,
                   env=self.environment(number), timeout=LIMIT)

    def calls(self, *command):
        """How often an undisturbed run makes each call, as strace counts."""
        with tempfile.NamedTemporaryFile('r') as counts:
            tracer = ['strace', '-f', '-c', '-o', counts.name]
            answer = run([*tracer, *command]) if command else self.run_once('counted', *tracer)
            self.assertEqual(answer.returncode, 0, answer.stderr.decode())
            lines = [line.split() for line in counts.read().splitlines()]
        return {line[-1]: int(line[3]) for line in lines if len(line) >= 5 and line[3].isdigit()}

    def run_with_fault(self, number, call, error, place):
        tracer = ('strace', '-f', '-qq', '-o', '/dev/null', '-e', f'trace={call}',
                  '-e', f'inject={call}:error={error}:when={place}')
        answer = self.run_once(number, *tracer)
        if refused_by_the_loader(answer):
            return
        said = f'{call} {error} at {place}: status {answer.returncode}\n{answer.stderr.decode(errors="replace")}'
        self.assertIn(answer.returncode, (0, 1, 2), said)
        self.assertIsNone(LOOKS_LIKE_A_BUG.search(answer.stderr.decode(errors='replace')), said)
        if answer.returncode != 0 and (call, place) != ('write', 1):
            self.assertNotEqual(answer.stderr, b'', said)
        self.check(number, answer.returncode, answer.stdout.decode())
        # Whatever was left behind, the next run works.
        again = self.run_once(number)
        self.assertEqual(again.returncode, 0, said + again.stderr.decode(errors='replace'))
        self.check(number, 0, again.stdout.decode())

    def sweep(self):
        made = self.calls()
        begins = self.calls(testbed.binary, '--version')
        cells = []
        for call, error in FAULTS:
            first = begins[call] if call in OF_MEMORY else 0
            count = made.get(call, 0) - first
            places = range(1, count + 1) if LONG else [place for place in PLACES if place <= count]
            cells += [(call, error, first + place) for place in places]
        self.assertGreater(len(cells), 20)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            running = {pool.submit(self.run_with_fault, number, *cell): cell for number, cell in enumerate(cells)}
            for future, cell in running.items():
                with self.subTest(cell=cell):
                    future.result()


class Explain(Scenario):
    def arguments(self, number):
        return ['explain', '--script=train.py', '--format=json', f'--executor-image-uri={self.base}']

    def check(self, number, status, out):
        if status == 0:
            keys = json.loads(out)
            type(self).key = getattr(type(self), 'key', keys['image_key'])
            self.assertEqual(keys['image_key'], self.key)
        elif out:
            self.assertEqual(list(json.loads(out)), ['error'])

    def test_sweep(self):
        self.sweep()


class Surroundings(unittest.TestCase):
    def setUp(self):
        self.folder = testbed.write_tree({'train.py': 'print(1)\n', 'data/a.txt': 'a\n'})

    def explain(self, status=0, **changes):
        return autopack('explain', '--script=train.py', '--executor-image-uri', testbed.executor(), '--format=json',
                        cwd=self.folder, env=testbed.environment(**changes), status=status)

    def build(self, output, status, **changes):
        return autopack('build', '--script=train.py', '--executor-image-uri', testbed.executor(), '--no-push',
                        f'--output=oci:{output}', cwd=self.folder, env=testbed.environment(**changes), status=status)

    def mounted(self, options):
        """A file system in memory of its own; none of this machine's is filled."""
        place = testbed.new_folder('disk')
        if run(['mount', '-t', 'tmpfs', '-o', options, 'tmpfs', place], check=False).returncode != 0:
            self.skipTest('no file system can be mounted here')
        self.addCleanup(run, ['umount', '-l', place], check=False)
        return place

    def test_a_full_disk_is_named(self):
        disk = self.mounted('size=64k')
        with open(disk / 'filler', 'wb', buffering=0) as filler:
            try:
                while filler.write(b'x' * 1024):
                    pass
            except OSError:
                pass
        answer = self.build(disk / 'layout', 1)
        self.assertIn('No space left on device', answer.err)
        self.assertEqual(answer.out, '')
        # A cache that cannot be written costs time, nothing else.
        self.explain(XDG_CACHE_HOME=disk)

    def test_a_read_only_disk_is_named(self):
        disk = self.mounted('ro')
        self.assertIn('Read-only file system', self.build(disk / 'layout', 1).err)
        self.explain(XDG_CACHE_HOME=disk)

    def test_without_a_home(self):
        for home in (None, '', '/nonexistent', '/dev/null'):
            with self.subTest(home=home):
                self.explain(HOME=home, XDG_CACHE_HOME=None)

    def test_a_clock_that_goes_back(self):
        cache = testbed.new_folder('cache')
        future = time.time() + 10 * 365 * 24 * 3600
        first = self.explain(XDG_CACHE_HOME=cache).json()['image_key']
        for path in [*cache.rglob('*'), *self.folder.rglob('*')]:
            os.utime(path, (future, future))
        self.assertEqual(self.explain(XDG_CACHE_HOME=cache).json()['image_key'], first)
        (self.folder / 'train.py').write_text('print(2)\n')
        os.utime(self.folder / 'train.py', (0, 0))
        self.assertNotEqual(self.explain(XDG_CACHE_HOME=cache).json()['image_key'], first)

    def test_files_that_change_grow_and_vanish(self):
        stop = threading.Event()

        def disturb():
            number = 0
            while not stop.is_set():
                number += 1
                folder = self.folder / f'd{number % 5}'
                folder.mkdir(exist_ok=True)
                (folder / 'grows.txt').open('a').write('x' * 1000)
                (folder / 'changes.txt').write_text(str(number))
                (folder / 'vanishes.txt').write_text('')
                (folder / 'vanishes.txt').unlink()
                if number % 7 == 0:
                    subprocess.run(['rm', '-rf', folder], check=True)

        thread = threading.Thread(target=disturb)
        thread.start()
        try:
            for number in range(60 if LONG else 12):
                output = testbed.scratch() / f'disturbed-{number}'
                answer = self.build(output, None)
                self.assertIn(answer.status, (0, 2), answer)
                if answer.status == 2:
                    self.assertRegex(answer.err, r'changed while|could not read|went away|does not exist|No such file')
                else:
                    run(['skopeo', 'copy', '-q', f'oci:{output}', f'dir:{output}-copy'])
        finally:
            stop.set()
            thread.join()
