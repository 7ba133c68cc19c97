"""The Debian package of autopack, in an image that autopack builds on a system with its dependencies and nothing else."""

import pathlib
import re
import subprocess
import unittest

import testbed
from testbed import autopack

IMAGE = 'autopack-tests/itself:1'
BARE = 'autopack-tests/bare:1'


def output(*command):
    return testbed.run(command).stdout.decode()


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build = pathlib.Path(testbed.binary).resolve().parent.parent
        folder = testbed.new_folder('package')
        package = pathlib.Path(output(testbed.SYSTEM_PYTHON, testbed.ROOT / '.ci' / 'make_deb.py', build, folder).strip())
        cls.needed = sorted(re.sub(r' \(.*', '', name)
                            for name in output('dpkg-deb', '--field', package, 'Depends').strip().split(', '))
        # In the cache of the machine: it takes half a minute.
        tar = subprocess.run(['bash', testbed.SUPPORT, 'root_tar', 'bare', *cls.needed], check=True,
                             stdout=subprocess.PIPE, text=True).stdout.strip()
        testbed.docker('import', tar, BARE)
        # What it needs is there, and no network: the lists of packages stay as they are.
        dockerfile = (testbed.EXAMPLES / 'ci' / 'Dockerfile').read_text()
        for written, here in (('FROM debian:12-slim', f'FROM {BARE}'), ('apt-get update', 'true'), ('.deb git', '.deb')):
            assert written in dockerfile, written
            dockerfile = dockerfile.replace(written, here)
        project = testbed.write_tree({'Dockerfile': dockerfile})
        (project / package.name).write_bytes(package.read_bytes())
        autopack('build', '--dockerfile=Dockerfile', '--no-push', f'--output-image-uri={IMAGE}', cwd=project)

    @classmethod
    def tearDownClass(cls):
        testbed.remove_images('autopack-tests/itself')
        testbed.remove_images('autopack-tests/bare')

    def inside(self, *arguments, options=()):
        project = testbed.example('script')
        return output('docker', 'run', '--rm', f'--volume={project}:/project', '--workdir=/project', *options, IMAGE, *arguments)

    def test_runs_as_the_one_that_was_built(self):
        self.assertEqual(self.inside('--version'), autopack('--version').out)
        arguments = ('dockerfile', f'--executor-image-uri={testbed.executor()}', '--script=trainer/task.py')
        engine = ('--volume=/var/run/docker.sock:/var/run/docker.sock',)
        self.assertEqual(self.inside(*arguments, options=engine), autopack(*arguments, cwd=testbed.example('script')).out)

    def test_brings_the_libraries_that_are_opened_when_they_are_used(self):
        linked = re.findall(r'NEEDED +(\S+)', output('objdump', '-p', testbed.binary))
        found = self.inside('-p', options=('--entrypoint=ldconfig',))
        for name in ('libgit2', 'libcurl', 'libarchive', 'libz'):
            self.assertFalse([library for library in linked if library.startswith(f'{name}.')])
            named = re.search(rb'\0(%s\.so\.[0-9.]+)\0' % name.encode(), pathlib.Path(testbed.binary).read_bytes()).group(1)
            self.assertIn(f'\t{named.decode()} ', found)
        self.assertIn('ca-certificates', self.needed)

    def test_is_removed_without_a_trace(self):
        find = 'find / -xdev -name "*autopack*" -not -path "/var/log/*"'
        left = self.inside('-c', f'{find}; dpkg --purge autopack >/dev/null; echo ---; {find}', options=('--entrypoint=sh',))
        before, after = left.split('---\n')
        self.assertIn('/usr/bin/autopack\n', before)
        self.assertEqual(after, '')
