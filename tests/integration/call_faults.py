"""Runs commands in which strace makes one system call fail, and checks what must hold whatever fails.

A scenario is a command with a number, so that many can run at once without conflicts.
"""

import concurrent.futures
import json
import re
import tempfile
import unittest

import stored_image
import testbed
from testbed import run

LONG = testbed.FORM == 'long'
LIMIT = 60
# The loader's calls come before main, and the loader reports their failures: it does not survive a lack of memory. brk
# is left out: it reports failure by a number that strace cannot set.
LOADER = 127
OF_MEMORY = ('mmap',)

FAULTS = [
    ('openat', 'EMFILE'), ('openat', 'EIO'), ('openat', 'ENOSPC'), ('openat', 'ENOMEM'), ('openat2', 'EMFILE'),
    ('openat2', 'EIO'), ('read', 'EIO'), ('pread64', 'EIO'), ('write', 'ENOSPC'), ('write', 'EIO'), ('newfstatat', 'EIO'),
    ('getdents64', 'EIO'), ('readlink', 'EIO'), ('rename', 'ENOSPC'), ('rename', 'EIO'), ('mkdir', 'ENOSPC'),
    ('unlink', 'EIO'), ('close', 'EIO'), ('flock', 'ENOLCK'), ('fcntl', 'EMFILE'), ('mmap', 'ENOMEM'), ('clone3', 'EAGAIN'),
    ('socket', 'EMFILE'), ('socketpair', 'EMFILE'), ('connect', 'EAGAIN'), ('sendto', 'EIO'), ('recvfrom', 'EIO'),
    ('poll', 'ENOMEM'), ('epoll_create1', 'EMFILE'), ('eventfd2', 'EMFILE'), ('pipe2', 'EMFILE'), ('ftruncate', 'ENOSPC'),
    ('fsync', 'EIO'), ('lseek', 'EIO'),
]
LOOKS_LIKE_A_BUG = re.compile(r'internal error|a bug|terminate called|std::|core dumped|Assertion', re.IGNORECASE)


def spread(cells, most):
    """Returns at most `most` of `cells`, evenly spread."""
    return cells if len(cells) <= most else [cells[at * len(cells) // most] for at in range(most)]


def refused_by_the_loader(answer):
    return answer.returncode == LOADER and b'error while loading' in answer.stderr


class Scenario(unittest.TestCase):
    """One command, run with one fault at a time in its own place."""

    # How many calls of each kind in an undisturbed run the short form makes fail.
    places = (1, 2, 5, 12, 30, 70)
    # The short form takes every n-th of the resulting cells.
    step = 1
    # The long form takes at most so many, evenly spread: the limit is the time that the form may take.
    most = 2000

    @classmethod
    def setUpClass(cls):
        cls.registry = testbed.registry()
        cls.base = stored_image.push_base(cls.registry, 'system-calls/base')
        cls.project = testbed.write_tree({'train.py': 'print(1)\n', 'data/a.txt': 'a\n', 'data/b.txt': 'b\n'})
        cls.tree = testbed.tree_hash(cls.project)
        cls.room = testbed.new_folder(cls.__name__)

    def arguments(self, number):
        raise NotImplementedError

    def check(self, number, answer, first):
        """Checks what the command `number` left against its `answer`; `first` had no fault before it."""

    def environment(self, number):
        return testbed.environment(XDG_CACHE_HOME=self.room / f'cache-{number}', DOCKER_HOST='unix:///nowhere/docker.sock')

    def run_once(self, number, *tracer):
        return run([*tracer, testbed.binary, *map(str, self.arguments(number))], check=False, cwd=self.project,
                   env=self.environment(number), timeout=LIMIT)

    def calls(self, *command):
        """Counts each call of an undisturbed run with strace."""
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
        if answer.returncode != 0:
            self.require_told(answer, call, said)
        self.check(number, answer, None)
        # The next run works, whatever was left.
        again = self.run_once(number)
        self.assertEqual(again.returncode, 0, said + again.stderr.decode(errors='replace'))
        self.check(number, again, answer)
        self.assertEqual(testbed.tree_hash(self.project), self.tree, said)

    def require_told(self, answer, call, said):
        """A failure is reported, unless the call that fails is the one that reports it."""
        if call != 'write':
            self.assertIn(b'error', answer.stderr + answer.stdout, said)
        if answer.stdout:
            self.assertEqual(list(json.loads(answer.stdout)), ['error'], said)

    def cells(self):
        made = self.calls()
        begins = self.calls(testbed.binary, '--version')
        for call, error in FAULTS:
            first = begins[call] if call in OF_MEMORY else 0
            count = made.get(call, 0) - first
            for place in range(1, count + 1) if LONG else [place for place in self.places if place <= count]:
                yield call, error, first + place

    def sweep(self):
        every = list(self.cells())
        cells = spread(every, self.most) if LONG else every[::self.step * (1 if testbed.FORM == 'nightly' else 3)]
        self.assertGreater(len(cells), 3)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            running = {pool.submit(self.run_with_fault, number, *cell): cell for number, cell in enumerate(cells)}
            for done, (future, cell) in enumerate(running.items(), 1):
                with self.subTest(cell=cell):
                    future.result()
                if LONG and done % 100 == 0:
                    print(f'{type(self).__name__}: {done} of {len(cells)}', flush=True)
        if LONG:
            print(f'{type(self).__name__}: {len(cells)} of {len(every)} calls failed, one in a run', flush=True)
