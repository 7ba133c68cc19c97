"""Full or read-only disks, no home, a clock that goes back, and files that change during reading."""

import os
import subprocess
import threading
import time
import unittest

import testbed
from testbed import autopack, run

LONG = testbed.FORM == 'long'


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
        """A separate file system in memory; none of this machine's is filled."""
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
        # An unwritable cache costs only time.
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
