"""The sets of wheels that `wheels.py` measures. Each is kept in a folder beside the scratch folders, for the next run."""

import functools
import hashlib
import pathlib
import random
import re
import tempfile
import zipfile

import bases
import bench
import debian_wheels
import testbed
from wheel_writer import Writer

# In MB, packed.
SIZES = {'small': 0.2, 'middle': 30} | {
    f'part{number:02}': size for number, size in enumerate(
        [120, 60, 40, 20, 15, 12, 10, 8, 7, 6, 5, 5, 4, 4, 3, 3, 3, 2, 2, 2] + [0.75] * 12)}
# Bytes of 40 kinds, which deflate packs as it packs machine code: to two thirds.
MACHINE_CODE = bytes(byte % 40 for byte in range(256))
BINARY_SHARE, TEXT_SHARE, LIBRARY_SIZE, MODULE_SIZE = 1.42, 0.12, 4_000_000, 8_000
DEBIAN_PACKAGES = ('python3-numpy', 'python3-scipy', 'python3-pandas', 'python3-torch')


class WheelSet:
    """What one requirements.txt names, with hashes. `small` and `middle` are the distributions that are raised."""

    def __init__(self, folder):
        self.folder = pathlib.Path(tempfile.gettempdir()) / folder
        self.folder.mkdir(exist_ok=True)

    def raised(self, name, number):
        """The version that `name` is raised to; 0: the one that it has at first."""
        return f'{self.versions[name]}.{number}' if number else self.versions[name]

    @functools.cache
    def wheel(self, name, number=0):
        """The path of that wheel; what a former run made of it is taken as it is."""
        path = self.folder / self.file_name(name, self.raised(name, number))
        if not path.exists():
            partial = path.with_suffix('.part')
            self.write(partial, name, number)
            partial.rename(path)
        return path

    def wheels(self):
        return [self.wheel(name) for name in self.versions]

    @functools.cache
    def line(self, name, number):
        with open(self.wheel(name, number), 'rb') as content:
            digest = hashlib.file_digest(content, 'sha256').hexdigest()
        return f'{name}=={self.raised(name, number)} --hash=sha256:{digest}\n'

    def requirements(self, raised=None, number=0):
        return ''.join(self.line(name, number if name == raised else 0) for name in self.versions)


@functools.cache
def modules():
    return [bench.module(number, MODULE_SIZE) for number in range(50)]


class Synthetic(WheelSet):
    """34 wheels of 390 MB, 570 MB installed, for any platform."""

    small, middle, for_any_platform = 'small', 'middle', True
    versions = dict.fromkeys(SIZES, '1')

    def __init__(self):
        super().__init__('autopack-bench-wheels-2')

    def executor(self):
        return testbed.executor()

    def file_name(self, name, version):
        return f'{name}-{version}-py3-none-any.whl'

    def write(self, path, name, number):
        version = self.raised(name, number)
        numbers = random.Random(f'{name} {version}')
        size = int(SIZES[name] * 1e6)
        with Writer(path, f'{name}-{version}.dist-info', zipfile.ZIP_DEFLATED) as made:
            made.add(f'{name}/__init__.py', f'VERSION = "{version}"\n'.encode())
            for module in range(int(size * TEXT_SHARE / MODULE_SIZE)):
                text = f'# {name} {version} {module}\n{modules()[module % len(modules())]}'
                made.add(f'{name}/group_{module // 40}/module_{module}.py', text.encode())
            left = int(size * BINARY_SHARE)
            for library in range(-(-left // LIBRARY_SIZE)):
                piece = numbers.randbytes(min(LIBRARY_SIZE, left)).translate(MACHINE_CODE)
                made.add(f'{name}/library_{library}.so', piece)
                left -= len(piece)
            made.add_metadata(f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n', 'py3-none-any')


class Debian(WheelSet):
    """numpy, scipy, pandas and torch with all that they need, from Debian's packages, deflated as build tools do it."""

    small, middle, for_any_platform = 'python-dateutil', 'scipy', False

    def __init__(self):
        super().__init__('autopack-bench-wheels-debian-1')
        self.distributions = debian_wheels.Debian(DEBIAN_PACKAGES).distributions
        self.versions = {name: found.version for name, found in self.distributions.items()}

    def executor(self):
        """One that has none of these packages."""
        return bases.base('official')

    def file_name(self, name, version):
        return f'{re.sub("[-.]+", "_", name)}-{version}-{self.distributions[name].tag}.whl'

    def write(self, path, name, number):
        """A raised one has a line more in each module and some bytes more behind each library."""
        version, distribution = self.raised(name, number), self.distributions[name]
        house = testbed.new_folder('house')
        added = f'\n# {version}\n'.encode() if number else b''
        with zipfile.ZipFile(distribution.pack(house)) as packed, \
                Writer(path, f'{re.sub("[-.]+", "_", name)}-{version}.dist-info', zipfile.ZIP_DEFLATED, 6) as made:
            for member in packed.namelist():
                if '.dist-info/' not in member:
                    changed = member.endswith('.py') or '.so' in member
                    made.add(member, packed.read(member) + (added if changed else b''))
            made.add_metadata(distribution.metadata(version), distribution.tag, distribution.entry_points())


SETS = {'made': Synthetic, 'real': Debian}
