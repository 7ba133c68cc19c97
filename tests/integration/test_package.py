"""The Debian package of autopack, in an image that autopack builds on a system with its dependencies and nothing else.

The long form also builds the one for Debian 13, there, from the sources.
"""

import os
import pathlib
import re
import unittest

import testbed
from testbed import autopack

LONG = testbed.FORM == 'long'


def output(*command, **variables):
    return testbed.run(command, env=os.environ | variables, timeout=1500).stdout.decode()


class Package(unittest.TestCase):
    name = 'this-release'
    variables = {}

    @classmethod
    def setUpClass(cls):
        folder = testbed.new_folder('package')
        package = pathlib.Path(cls.make(folder).strip().split('\n')[-1])
        output('dpkg-deb', '--extract', package, folder / 'files')
        cls.binary = folder / 'files' / 'usr' / 'bin' / 'autopack'
        cls.needed = sorted(re.sub(r' \(.*', '', name)
                            for name in output('dpkg-deb', '--field', package, 'Depends').strip().split(', '))
        cls.image = f'autopack-tests/itself-{cls.name}:1'
        cls.addClassCleanup(testbed.remove_images, cls.image.partition(':')[0])
        bare = cls.root_image('bare', cls.needed)
        # Its dependencies are installed, and there is no network: the lists of packages stay unchanged.
        dockerfile = (testbed.EXAMPLES / 'ci' / 'Dockerfile').read_text()
        for written, here in (('FROM debian:12-slim', f'FROM {bare}'), ('apt-get update', 'true'), ('.deb git', '.deb')):
            assert written in dockerfile, written
            dockerfile = dockerfile.replace(written, here)
        project = testbed.write_tree({'Dockerfile': dockerfile})
        (project / package.name).write_bytes(package.read_bytes())
        autopack('build', '--dockerfile=Dockerfile', '--no-push', f'--output-image-uri={cls.image}', cwd=project)

    @classmethod
    def make(cls, folder):
        """Builds the package in `folder`; the last line is its path."""
        build = pathlib.Path(testbed.binary).resolve().parent.parent
        # The usual compression of an unoptimised binary takes 20 s.
        return output(testbed.SYSTEM_PYTHON, testbed.ROOT / '.ci' / 'make_deb.py', build, folder, DPKG_DEB_COMPRESSOR_LEVEL='1')

    @classmethod
    def root_image(cls, name, packages):
        """Returns an image of those packages of the release. The machine keeps its tar, since it takes half a
        minute."""
        tar = output('bash', testbed.SUPPORT, 'root_tar', name, *packages, **cls.variables).strip()
        image = f'autopack-tests/{name}-{cls.name}:1'
        testbed.docker('import', tar, image)
        cls.addClassCleanup(testbed.remove_images, image.partition(':')[0])
        return image

    def inside(self, *arguments, options=()):
        project = testbed.example('script')
        return output('docker', 'run', '--rm', f'--volume={project}:/project', '--workdir=/project', *options, self.image, *arguments)

    def test_runs_as_the_one_that_was_built(self):
        self.assertEqual(self.inside('--version'), autopack('--version').out)
        arguments = ('dockerfile', f'--executor-image-uri={testbed.executor()}', '--script=trainer/task.py')
        engine = ('--volume=/var/run/docker.sock:/var/run/docker.sock',)
        self.assertEqual(self.inside(*arguments, options=engine), autopack(*arguments, cwd=testbed.example('script')).out)

    def test_brings_the_libraries_that_are_opened_when_they_are_used(self):
        linked = re.findall(r'NEEDED +(\S+)', output('objdump', '-p', self.binary))
        found = self.inside('-p', options=('--entrypoint=ldconfig',))
        for name in ('libgit2', 'libcurl', 'libarchive', 'libsquashfs', 'libz'):
            self.assertFalse([library for library in linked if library.startswith(f'{name}.')])
            named = re.search(rb'(?<![\w+./-])(%s\.so\.[0-9.]+)\0' % name.encode(), self.binary.read_bytes()).group(1)
            self.assertIn(f'\t{named.decode()} ', found)
        self.assertIn('ca-certificates', self.needed)

    def test_is_removed_without_a_trace(self):
        find = 'find / -xdev -name "*autopack*" -not -path "/var/log/*"'
        configure = 'sh /var/lib/dpkg/info/autopack.postinst configure'
        left = self.inside('-c', f'{configure}; {find}; dpkg --purge autopack >/dev/null; echo ---; {find}',
                           options=('--entrypoint=sh',))
        before, after = left.split('---\n')
        self.assertRegex(before, '^autopack is at /usr/bin/autopack; next: .* autopack run\n')
        self.assertIn('\n/usr/bin/autopack\n', before)
        self.assertEqual(after, '')


if LONG:
    class PackageForDebian13(Package):
        name = 'debian-13'
        variables = {'autopack_suite': 'trixie'}

        @classmethod
        def make(cls, folder):
            packages = output('bash', '-c', f'. {testbed.SUPPORT}; echo "${{autopack_build_packages[@]}}"').split()
            builder = cls.root_image('builder', [*packages, 'dpkg-dev'])
            output('docker', 'run', '--rm', '--network=none', f'--volume={testbed.ROOT}:/source:ro', f'--volume={folder}:/out', builder,
                   'sh', '-c', 'meson setup /build /source --buildtype=release && meson compile -C /build deb && '
                   'cp /build/*.deb /out')
            [package] = folder.glob('*.deb')
            return str(package)
