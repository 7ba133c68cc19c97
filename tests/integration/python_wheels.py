"""Compares how wheels are named, ranked and chosen with Debian's python3-packaging, on generated cases.

    python_wheels.py --binary build/tests/python_facts

packaging asks the running interpreter for its C library; here it gets another. Its release in Debian 12 knows no
free-threaded ABI, so only tests/unit/python_tags_test.cpp checks their order.
"""

import argparse
import functools
import itertools
import random
import subprocess
import sys
import unittest.mock

from packaging import _manylinux, _musllinux, tags
from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion

SEED = 427
ARCHES = ('x86_64', 'aarch64', 'i686', 'ppc64le', 's390x', 'armv7l')


class Cases:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def one(self, *of):
        return self.random.choice(of)

    def dotted(self, make):
        return '.'.join(make() for _ in range(self.one(1, 1, 1, 2, 3)))

    def interpreter(self):
        return self.one('py3', 'py2', 'cp', 'py') + self.one('', '', '7', '8', '10', '11', '12', '2') if self.random.random() < 0.4 \
            else self.one('cp', 'py', 'pp', 'CP') + '3' + self.one('2', '6', '7', '8', '9', '10', '11', '12', '13')

    def abi(self):
        return self.one('none', 'none', 'abi3', 'cp311', 'cp311', 'cp37m', 'cp310', 'cp312', 'cp311d', 'pypy39_pp73')

    def platform(self):
        arch = self.one(*ARCHES)
        return self.one('any', 'any', f'linux_{arch}', f'manylinux1_{arch}', f'manylinux2010_{arch}', f'manylinux2014_{arch}',
                        f'manylinux_2_{self.random.randrange(4, 42)}_{arch}', f'musllinux_1_{self.random.randrange(4)}_{arch}',
                        'win_amd64', 'macosx_11_0_arm64', f'Manylinux_2_17_{arch}')

    def build(self):
        return self.one('', '', '', '-1', '-2', '-10', '-1a', '-1_b', '-0')

    def version(self):
        return self.one('1.0', '1.0', '2.0.1', '1!3', '1.0rc1', '1.0+cpu', '1.0.post1', '01.2', 'v1')

    def wheel(self, name='pkg', version=None):
        return f'{name}-{version or self.version()}{self.build()}-{self.dotted(self.interpreter)}-{self.dotted(self.abi)}-' \
               f'{self.dotted(self.platform)}.whl'

    def fitting_wheel(self, version):
        tags = self.one('py3-none-any', 'py3-none-any', 'py2.py3-none-any', 'cp38.cp39-abi3-manylinux2014_x86_64.linux_x86_64', None)
        return f'pkg-{version}{self.build()}-{tags}.whl' if tags else self.wheel(version=version)

    def odd_wheel(self):
        name = self.wheel(self.one('pkg', 'My.Pkg', 'a_b', 'A_B.c', 'x1'))
        if self.random.random() < 0.3:
            at = self.random.randrange(len(name) + 1)
            name = name[:at] + self.one('-', '.', '_', ' ', 'x', '1', '+', '/') + name[at:]
        if self.random.random() < 0.1:
            at = self.random.randrange(len(name))
            name = name[:at] + name[at + 1:]
        return name

    def target(self):
        """Returns version, ABI flags, machine, C library."""
        minor = self.one(6, 7, 8, 9, 10, 11, 12, 13)
        flags = self.one('', '', '', 'd') + ('m' if minor < 8 else '')
        libc = f'glibc 2 {self.random.randrange(17, 42)}' if self.random.random() < 0.75 else f'musl 1 {self.random.randrange(6)}'
        return f'3.{minor}.{self.random.randrange(10)}', flags, self.one(*ARCHES), libc


def read(name):
    """Returns None if newer releases of packaging refuse what this one accepts, or vice versa."""
    parts = name.removesuffix('.whl').split('-')
    if '__' in parts[0] or not parts[0] or any(not tag for part in parts[-3:] for tag in part.split('.')) \
            or not all(tag.isidentifier() for tag in parts[-3].split('.')):
        return None
    try:
        project, version, build, found = parse_wheel_filename(name)
    except (InvalidWheelFilename, InvalidVersion):
        return 'none'
    return f'{project.strip("-")} {version} {"".join(map(str, build)) or "-"} ' + ' '.join(sorted(map(str, found)))


@functools.cache
def accepted(version, flags, machine, libc):
    kind, major, minor = libc.split()
    release = tuple(map(int, version.split('.')[:2]))
    own = 'cp' + ''.join(map(str, release))
    glibc = (int(major), int(minor)) if kind == 'glibc' else (-1, -1)
    musl = _musllinux._MuslVersion(int(major), int(minor)) if kind == 'musl' else None
    with unittest.mock.patch.object(_manylinux, '_get_glibc_version', lambda: glibc), \
            unittest.mock.patch.object(_manylinux, '_have_compatible_abi', lambda *_: True), \
            unittest.mock.patch.object(_musllinux, '_get_musl_version', lambda _: musl), \
            unittest.mock.patch.object(tags.sysconfig, 'get_platform', lambda: f'linux-{machine}'):
        platforms = list(tags._linux_platforms(is_32bit=False))
    abis = [own + flags] + ([own] if 'd' in flags and release >= (3, 8) else [])
    return [*tags.cpython_tags(release, abis, platforms), *tags.compatible_tags(release, own, platforms)]


@functools.cache
def places_of(*target):
    return {tag: place for place, tag in reversed(list(enumerate(accepted(*target))))}


def chosen(target, wheels):
    """As pip: the smallest position of a tag, then the largest build tag, then the first."""
    places = places_of(*target)
    best = None
    for at, name in enumerate(wheels):
        _, _, build, found = parse_wheel_filename(name)
        place = min((places[tag] for tag in found if tag in places), default=None)
        if place is not None and (best is None or (-place, build) > best[:2]):
            best = (-place, build, at)
    return 'none' if best is None else str(best[2])


def selected(target, pin, wanted, files):
    """As pip sorts the candidates of a pinned version: hash, not yanked, version, tag, build tag, the first."""
    places = places_of(*target)
    best = None
    for at, (name, hashes, python, yanked) in enumerate(files):
        _, version, build, found = parse_wheel_filename(name)
        place = min((places[tag] for tag in found if tag in places), default=None)
        if place is None or not SpecifierSet(f'=={pin}').contains(version, prereleases=True) \
                or not SpecifierSet(python).contains(target[0], prereleases=True) \
                or (wanted and hashes and not set(wanted) & set(hashes)):
            continue
        key = (bool(set(wanted) & set(hashes)), not yanked, version, -place, build)
        if best is None or key > best[0]:
            best = key, at
    return 'none' if best is None else str(best[1])


def questions(cases):
    for _ in range(8000):
        name = cases.odd_wheel()
        expected = read(name)
        if expected:
            yield f'wheel\t{name}', expected
    targets = sorted({cases.target() for _ in range(400)})
    for target in targets:
        yield '\t'.join(['tags', *target]), ' '.join(map(str, dict.fromkeys(accepted(*target))))
    for _ in range(4000):
        target = cases.one(*targets)
        wheels = [cases.wheel(version='1.0') for _ in range(cases.random.randrange(1, 12))]
        yield '\t'.join(['choose', *target, *wheels]), chosen(target, wheels)
    for _ in range(4000):
        target = cases.one(*targets)
        pin = cases.one('1.0', '1.0', '1.0+cpu', '1!3', '1.0rc1')
        wanted = cases.one('', 'a', 'ab')
        files = [(cases.fitting_wheel(cases.one(pin, pin, pin, '1.0+cpu', '1.0.0', cases.version())), cases.one('', 'a', 'b', 'c', 'cb'),
                  cases.one('', '', '>=3.8', '<3.10', '!=3.9.*'), cases.random.random() < 0.3)
                 for _ in range(cases.random.randrange(1, 10))]
        texts = ['|'.join([name, hashes, python, 'yanked' if yanked else '']) for name, hashes, python, yanked in files]
        yield '\t'.join(['select', *target, pin, wanted, *texts]), selected(target, pin, wanted, files)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--binary', required=True)
    asked, expected = zip(*questions(Cases(SEED)))
    answers = subprocess.run([parser.parse_args().binary], input='\n'.join(asked) + '\n', text=True, check=True,
                             stdout=subprocess.PIPE).stdout.splitlines()
    wrong = [(question, answer, wanted) for question, answer, wanted in itertools.zip_longest(asked, answers, expected)
             if answer != wanted]
    for question, answer, wanted in wrong[:20]:
        print(f'{question}: {answer}, not {wanted}')
    told = {kind: sum(1 for question, one in zip(asked, expected) if question.startswith(kind) and one != 'none')
            for kind in ('wheel', 'tags', 'choose', 'select')}
    refused = sum(1 for one in expected if one == 'none')
    print(f'{len(asked)} questions, {len(wrong)} answered otherwise; {told}, {refused} with none')
    if min(*told.values(), refused) < 300:
        sys.exit('the cases are too much alike')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
