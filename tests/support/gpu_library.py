"""Writes shared libraries with GPU code, and wheels with them, as far as readers of such code look at them."""

import struct

from wheel_writer import Writer

VARIANTS = {'a': 0x100000, 'f': 0x200000}


def entry(name, payload=b'x' * 40):
    """Returns an entry of a container, for `75`, `90a` or `ptx90`."""
    kind = 1 if name.startswith('ptx') else 2
    name = name.removeprefix('ptx')
    flags = 0x11 | VARIANTS.get(name[-1], 0)
    architecture = int(name.rstrip('af'))
    header = struct.pack('<HHIQQIIQQ', kind, 0x101, 64, len(payload), 0, 0x70001, architecture, 0, flags)
    return header.ljust(64, b'\0') + payload


def container(names, payload=b'x' * 40):
    entries = b''.join(entry(name, payload) for name in names)
    return struct.pack('<IHHQ', 0xBA55ED50, 1, 16, len(entries)) + entries


def library(containers):
    """Returns an ELF file without sections that holds `containers`."""
    header = b'\x7fELF\x02\x01\x01'.ljust(16, b'\0') + struct.pack('<HHIQQQIHHHHHH', 3, 62, 1, 0, 0, 0, 0, 64, 56, 0, 64, 0, 0)
    return header + b''.join(one.ljust((len(one) + 7) // 8 * 8, b'\0') for one in containers)


def write_wheel(folder, name, version, libraries, requires=()):
    """Writes a wheel with `libraries`, bytes by their path."""
    path = folder / f'{name}-{version}-py3-none-any.whl'
    with Writer(path, f'{name}-{version}.dist-info') as wheel:
        wheel.add(f'{name}/__init__.py', b'NAME = 1\n')
        for file, content in libraries.items():
            wheel.add(file, content)
        needs = ''.join(f'Requires-Dist: {line}\n' for line in requires)
        wheel.add_metadata(f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}', 'py3-none-any')
    return path
