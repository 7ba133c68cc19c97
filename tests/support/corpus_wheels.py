"""The wheels that the projects of tests/corpus ask for: small ones made here, and real ones packed from Debian's."""

import functools
import hashlib
import pathlib

import debian_wheels
import testbed
import wheel_writer

# Small and often used; what they depend on comes along.
DEBIAN_PACKAGES = ('python3-numpy', 'python3-pandas', 'python3-sklearn', 'python3-matplotlib', 'python3-pil',
                   'python3-yaml', 'python3-tqdm', 'python3-dateutil', 'python3-setuptools-scm')
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
    """A launcher and a module to be started."""
    house = testbed.new_folder('small-wheels')
    write_wheel(house, 'accelerate', '0.20', {'accelerate.py': ACCELERATE}, '[console_scripts]\naccelerate = accelerate:main\n')
    write_wheel(house, 'dispatch', '1.0', {'dispatch.py': DISPATCH})
    return house


@functools.cache
def packed():
    """A folder of Debian's packages as wheels; quick when they were packed before."""
    packer = hashlib.sha256(pathlib.Path(debian_wheels.__file__).read_bytes()).hexdigest()[:12]
    house = debian_wheels.CACHE / f'wheels-{packer}'
    if not (house / 'complete').exists():
        house.mkdir(parents=True, exist_ok=True)
        for distribution in debian_wheels.Debian(DEBIAN_PACKAGES).distributions.values():
            distribution.pack(house)
        (house / 'complete').touch()
    return house


@functools.cache
def index():
    return testbed.start_index(more=[small(), packed()])
