"""The wheels that the projects of tests/corpus require: small ones made here, and real ones packed from Debian's."""

import functools
import hashlib
import pathlib

import debian_wheels
import testbed
import wheel_writer

# Small and often used; their dependencies are included.
DEBIAN_PACKAGES = ('python3-numpy', 'python3-pandas', 'python3-sklearn', 'python3-matplotlib', 'python3-pil',
                   'python3-yaml', 'python3-tqdm', 'python3-dateutil', 'python3-setuptools-scm', 'python3-hatchling',
                   'python3-hatch-vcs', 'python3-poetry-core', 'flit')
ACCELERATE = '''
import os
import sys


def main():
    options = [word for word in sys.argv[1:] if word.startswith('--')]
    rest = sys.argv[1 + len(options):] if sys.argv[1] != 'launch' else sys.argv[2:]
    while rest and rest[0].startswith('--'):
        os.environ['PROCESSES'] = rest.pop(0).split('=')[1]
    os.execvp(sys.executable, [sys.executable, *rest])
'''
# Hatchling's dependency, which Debian has no package of: a path file for each mapped package.
EDITABLES = '''
import pathlib


class EditableProject:
    def __init__(self, project_name, project_dir):
        self.name, self.root, self.paths = project_name, pathlib.Path(project_dir), []

    def map(self, name, target):
        self.paths.append(str((self.root / target).parent))

    def add_to_path(self, directory):
        self.paths.append(str(self.root / directory))

    def dependencies(self):
        return []

    def files(self):
        yield f"_{self.name}.pth", "\\n".join(self.paths) + "\\n"
'''
DISPATCH = '''
import runpy
import sys

if __name__ == '__main__':
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name='__main__')
'''


def write_wheel(house, name, version, files, entry_points=None):
    path = house / f'{name}-{version}-py3-none-any.whl'
    with wheel_writer.Writer(path, f'{name}-{version}.dist-info') as wheel:
        for file, text in files.items():
            wheel.add(file, text.encode())
        wheel.add_metadata(f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n', 'py3-none-any',
                           entry_points and entry_points.encode())


@functools.cache
def small():
    """A launcher, a module to be started, and a part of a build backend."""
    house = testbed.new_folder('small-wheels')
    write_wheel(house, 'accelerate', '0.20', {'accelerate.py': ACCELERATE}, '[console_scripts]\naccelerate = accelerate:main\n')
    write_wheel(house, 'editables', '0.5', {'editables.py': EDITABLES})
    write_wheel(house, 'dispatch', '1.0', {'dispatch.py': DISPATCH})
    return house


@functools.cache
def packed():
    """Returns a folder of Debian's packages as wheels; quick if they were packed before."""
    packer = pathlib.Path(debian_wheels.__file__).read_bytes() + ' '.join(DEBIAN_PACKAGES).encode()
    house = debian_wheels.CACHE / f'wheels-{hashlib.sha256(packer).hexdigest()[:12]}'
    with debian_wheels.alone_in(house):
        if not (house / 'complete').exists():
            debian = debian_wheels.Debian(DEBIAN_PACKAGES)
            for distribution in debian.distributions.values():
                distribution.pack(house)
            for metadata in debian.folders['flit'].glob('usr/lib/python3/dist-packages/flit_core-*.dist-info'):
                debian_wheels.pack_recorded(metadata, house)
            (house / 'complete').touch()
    return house


@functools.cache
def index():
    return testbed.start_index(more=[small(), packed()])
