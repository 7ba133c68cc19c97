"""Compares autopack's installation of wheels with pip's, and shows which wheels it refuses.

    wheel_installations.py --binary build/tests/support/wheel_files [SEED]

Debian's pip and autopack install some hundred odd wheels; files, modes and bytes are compared. Differences are
intended: INSTALLER names autopack, launchers are those of the newest pip, data scripts are executable. The layers of the
same wheels are unpacked by GNU tar, by Python and by the engine, and compared too.
"""

import argparse
import hashlib
import importlib.metadata
import io
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'support'))
sys.dont_write_bytecode = True

import odd_wheels  # noqa: E402
import stored_image  # noqa: E402
from odd_wheels import File, Wheel  # noqa: E402

# The same wheels in each run: the daily form takes the first half of them.
COUNT = 100 if os.environ.get('AUTOPACK_TESTS', 'daily') == 'daily' else 200

# pip with the launcher of pip 26 and, on request, another directory for platform's modules.
PIP = '''
import os, sys
from pip._vendor.distlib.scripts import ScriptMaker
ScriptMaker.script_template = """import sys
from %(module)s import %(import_name)s
if __name__ == '__main__':
    sys.argv[0] = sys.argv[0].removesuffix('.exe')
    sys.exit(%(func)s())
"""
from pip._internal.req import req_install
scheme = req_install.get_scheme
def other_scheme(*arguments, **options):
    found = scheme(*arguments, **options)
    if os.environ.get('PLATLIB'):
        object.__setattr__(found, 'platlib', os.environ['PLATLIB'])  # frozen in newer ones
    return found
req_install.get_scheme = other_scheme
from pip._internal.cli.main import main
sys.exit(main(sys.argv[1:]))
'''

VERSION = '.'.join(str(part) for part in sys.version_info[:3])
SHORT = '.'.join(str(part) for part in sys.version_info[:2])
# The part after the directory of headers for a wheel named by its path: with pip 23, which autopack follows, the name
# in the file's name; with pip 25 the normalised one.
PIP_NAMES_ARE_PLAIN = int(importlib.metadata.version('pip').split('.')[0]) >= 25


class Environment:
    """A virtual environment, and its contents before anything is installed."""

    def __init__(self, root, platlib=None):
        self.root = root
        subprocess.run(['/usr/bin/python3', '-m', 'venv', '--without-pip', root], check=True)
        self.python = root / 'bin' / 'python3'
        self.purelib = root / 'lib' / f'python{SHORT}' / 'site-packages'
        self.platlib = platlib or self.purelib
        self.bare = set(self.files(root))

    def files(self, root):
        """Returns path -> mode and bytes of each file below `root`."""
        found = {}
        for folder, _, names in os.walk(root):
            for name in names:
                path = pathlib.Path(folder, name)
                facts = path.lstat()
                found[str(path.relative_to(root))] = (
                    stat.filemode(facts.st_mode), path.read_bytes() if stat.S_ISREG(facts.st_mode) else os.readlink(path))
        return found

    def pip(self, *arguments):
        os.umask(0o022)
        answer = subprocess.run(
            [self.python, '-c', PIP, 'install', '--no-deps', '--no-index', '--no-compile', '--no-warn-script-location',
             '--disable-pip-version-check', '--no-cache-dir', *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            env={'PATH': '/usr/bin:/bin', 'PYTHONPATH': '/usr/lib/python3/dist-packages', 'LC_ALL': 'C.UTF-8', 'HOME': str(self.root),
                 'PLATLIB': str(self.platlib)})
        return answer.returncode, answer.stdout.decode()

    def installed(self):
        return {path: facts for path, facts in self.files(self.root).items() if path not in self.bare}

    def autopack(self, binary, questions, *arguments):
        answer = subprocess.run(
            [binary, self.python, VERSION, self.purelib, self.platlib, self.root / 'bin',
             self.root / 'include' / 'site' / f'python{SHORT}', self.root, *arguments],
            input=''.join('\t'.join(str(part) for part in question) + '\n' for question in questions).encode(),
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        return answer.stdout.decode().splitlines()


def as_meant(files, scripts):
    """Returns pip's files with the intended differences."""
    meant = {}
    installer = [odd_wheels.record_row('INSTALLER', text).encode() for text in (b'pip\n', b'autopack\n')]
    for path, (mode, content) in files.items():
        if path.endswith('.dist-info/INSTALLER'):
            content = content.replace(b'pip\n', b'autopack\n')
        elif path.endswith('.dist-info/RECORD'):
            content = content.replace(b'.dist-info/' + installer[0], b'.dist-info/' + installer[1])
        elif path.startswith(scripts):
            mode = '-rwxr-xr-x'
        meant[path] = (mode, content)
    return meant


def plain_name(name):
    return re.sub('[-_.]+', '-', name).lower()


def differences(theirs, ours):
    for path in sorted(theirs.keys() | ours.keys()):
        if theirs.get(path) != ours.get(path):
            yield f'{path}: pip {str(theirs.get(path))[:600]}, autopack {str(ours.get(path))[:600]}'


def compare(binary, folder, root, wheels, by_name=False, platlib=None):
    """Installs `wheels` with both; returns the differences, and the number of files."""
    environment = Environment(root, platlib)
    out = folder / f'ours-{root.name[:8]}'
    paths = [wheel if isinstance(wheel, pathlib.Path) else wheel.write(folder) for wheel in wheels]
    arguments = paths
    if by_name:
        arguments = ['--find-links', folder, *(path.name.split('-')[0] for path in paths)]
    status, text = environment.pip(*arguments)
    if status != 0:
        return [f'pip fails: {text}'], 0
    theirs = environment.installed()
    questions = []
    for path in paths:
        name, version = path.name.split('-')[:2]
        info = next(found for found in environment.root.rglob('*.dist-info')
                    if plain_name(found.name) == plain_name(f'{name}-{version}.dist-info'))
        direct = info / 'direct_url.json'
        asked = name if by_name else plain_name(name) if PIP_NAMES_ARE_PLAIN else ''
        questions.append((path, out, 'yes', '' if by_name else direct, asked))
    said = environment.autopack(binary, questions)
    found = [f'{path.name}: {answer}' for path, answer in zip(paths, said, strict=True) if not answer.startswith('ok')]
    ours = environment.files(out / str(root)[1:])
    found += differences(as_meant(theirs, 'bin/'), ours)
    if len(list(out.rglob('*'))) != len(list((out / str(root)[1:]).rglob('*'))) + len(root.parts) - 1:
        found.append('files outside of the environment')
    found += in_layers(binary, folder, environment, questions, out)
    return found, len(ours)


def unpack_by_tar(layers, to):
    for layer in layers:
        with subprocess.Popen(['gzip', '-dc', layer], stdout=subprocess.PIPE) as gzip:
            subprocess.run(['tar', '-x', '--warning=no-unknown-keyword', '--no-same-owner', '-p', '-C', to], stdin=gzip.stdout, check=True)
        if gzip.returncode != 0:
            raise SystemExit('gzip refuses a layer')


def unpack_by_python(layers, to):
    for layer in layers:
        with tarfile.open(layer) as archive:
            archive.extractall(to, **({'filter': 'fully_trusted'} if sys.version_info >= (3, 12) else {}))


def unpack_by_engine(layers, to):
    """Loads an image of the layers into the engine, and unpacks the files of a container."""
    diff_ids = ['sha256:' + hashlib.sha256(stored_image.inflated(layer.read_bytes())).hexdigest() for layer in layers]
    configuration = json.dumps({'architecture': 'amd64', 'os': 'linux', 'config': {},
                                'rootfs': {'type': 'layers', 'diff_ids': diff_ids}}).encode()
    name = 'autopack-tests/wheels:1'
    manifest = json.dumps([{'Config': 'config.json', 'RepoTags': [name], 'Layers': [layer.name for layer in layers]}]).encode()
    image = to.with_suffix('.tar')
    with tarfile.open(image, 'w') as archive:
        for member, content in (('config.json', configuration), ('manifest.json', manifest)):
            info = tarfile.TarInfo(member)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for layer in layers:
            archive.add(layer, layer.name)
    subprocess.run(['docker', 'load', '-q', '-i', image], check=True, stdout=subprocess.DEVNULL)
    container = subprocess.run(['docker', 'create', name, '/none'], check=True, stdout=subprocess.PIPE).stdout.decode().strip()
    try:
        with subprocess.Popen(['docker', 'export', container], stdout=subprocess.PIPE) as export:
            subprocess.run(['tar', '-x', '--warning=no-unknown-keyword', '--no-same-owner', '-p', '-C', to, '--exclude=dev', '--exclude=etc/host*', '--exclude=.dockerenv',
                            '--exclude=etc/mtab', '--exclude=etc/resolv.conf', '--exclude=proc', '--exclude=sys'], stdin=export.stdout, check=True)
    finally:
        subprocess.run(['docker', 'rm', '-f', container], check=False, stdout=subprocess.DEVNULL)
        subprocess.run(['docker', 'rmi', '-f', name], check=False, stdout=subprocess.DEVNULL)


UNPACKERS = [unpack_by_tar, unpack_by_python, unpack_by_engine]


def in_layers(binary, folder, environment, questions, expected):
    """Packs the wheels into layers, and returns where their unpacked files are not `expected`."""
    for number, unpack in enumerate(UNPACKERS):
        to, layers = pathlib.Path(f'{expected}-{number}'), pathlib.Path(f'{expected}-layers-{number}')
        to.mkdir()
        layers.mkdir()
        told = environment.autopack(binary, questions, layers, str((1, 4, 30)[number]))
        for line in told:
            path, digest, diff_id, *_ = line.split('\t') if '\t' in line else ('', '', '')
            content = pathlib.Path(path).read_bytes() if path else b''
            if not path or digest != 'sha256:' + hashlib.sha256(content).hexdigest() or \
                    diff_id != 'sha256:' + hashlib.sha256(stored_image.inflated(content)).hexdigest():
                yield f'a layer is not what is told of it: {line}'
        unpack([pathlib.Path(line.split('\t')[0]) for line in told], to)
        for difference in differences(environment.files(expected), environment.files(to)):
            yield f'{unpack.__name__}: {difference}'
        for path in to.rglob('*'):
            if path.is_dir() and stat.S_IMODE(path.stat().st_mode) != 0o755:
                yield f'{unpack.__name__}: the directory {path} has another mode'


def special_wheels(folder):
    """Traits that need their own wheel."""
    yield Wheel('pip', version='99.0', files=[File('pip9/__init__.py', b'')],
                entry_points='[console_scripts]\npip = pip9:main\npip3 = pip9:main\npip3.9 = pip9:main\npipx = pip9:x\n')
    yield Wheel('easy', files=[File('easy.py')], entry_points='[console_scripts]\neasy_install = easy:main\neasy_install-2.7 = easy:main\n')
    yield Wheel('local', version='1.0+cu118', metadata='Name: LOCAL\nVersion: 1.0+cu118\nRequires-Dist: six\n\ntext\nName: other\n', files=[File('local.py')])
    yield Wheel('version_written_otherwise', version='1.0', metadata='Metadata-Version: 2.1\r\nname: Version.Written-otherwise\r\nVersion: 1.0.0\r\n',
                files=[File('vwo.py')])
    yield Wheel('info_otherwise', info='Info.Otherwise-1.0.dist-info', files=[File('info_otherwise.py')])
    yield Wheel('nothing_in_it')
    yield Wheel('newer_minor', format='Wheel-Version: 1.9\nRoot-Is-Purelib: true\nTag: py3-none-any\n', files=[File('newer_minor.py')])
    yield odd_wheels.written_by_python(folder)


def hostile():
    """Returns the name of the error -> the wheel, and a part of the message."""
    info = 'bad-1.0.dist-info'

    def bad(*files, **options):
        return Wheel('bad', files=list(files), **options)

    text = b'x = 1\n' * 50
    names = {'up': '../up.py', 'inner up': 'a/../../up.py', 'absolute': '/etc/x', 'point': 'a/./b', 'double slash': 'a//b', 'newline': 'a\nb', 'escape': 'a\x1bb',
             'zero': 'a\0b', 'separator': 'a\u2028b', 'direction': 'a\u202eb', 'long': 'x' * 300, 'whiteout': 'a/.wh.b', 'opaque': '.wh..wh..opq', 'deep': 'a/' * 150 + 'b'}
    for what, name in names.items():
        yield f'name: {what}', bad(File(name, text)), ' is a name '
    lies = {'name': ({'name': b'other.py'}, 'different names'), 'method': ({'method': 0}, 'different methods'), 'crc': ({'crc': 7}, 'different checksums'),
            'size': ({'size': 7}, 'different sizes'), 'compressed': ({'compressed': 7}, 'different sizes'), 'flags': ({'flags': 1}, 'different flags')}
    for what, (lie, words) in lies.items():
        yield f'local header: {what}', bad(File('a.py', text, local=lie)), words
    yield 'both say a wrong checksum', bad(File('a.py', text, local={'crc': 7}, central={'crc': 7}, recorded=False)), 'checksum differs'
    yield 'both say a wrong size', bad(File('a.py', text, local={'size': 7}, central={'size': 7}, recorded=False)), 'does not decompress to its stated size'
    yield 'wrong size of what is stored', bad(File('a.py', text, stored=True, local={'size': 7}, central={'size': 7})), 'stored, with two sizes'
    yield 'encrypted', bad(File('a.py', text, local={'flags': 1}, central={'flags': 1})), 'is encrypted'
    yield 'bzip2', bad(File('a.py', text, local={'method': 12}, central={'method': 12})), 'method 12'
    yield 'not UTF-8', bad(File('a.py', text, local={'name': b'a\xff'}, central={'name': b'a\xff'})), 'invalid UTF-8'
    latin = {'name': b'\xc3\xa9', 'flags': 0}
    yield 'no mark of UTF-8', bad(File('a.py', text, local=latin, central=latin)), 'not UTF-8'
    other = {'extra': b'\x75\x70\x09\x00\x01\0\0\0\0evil'}
    yield 'second name', bad(File('a.py', text, local=other, central=other)), 'second name'
    yield 'broken extra field', bad(File('a.py', text, central={'extra': b'\1\0\xff\xff'})), 'extra fields'
    yield 'duplicate', bad(File('a.py', b'1'), File('a.py', b'2')), 'twice'
    yield 'duplicate of another mode', bad(File('a.py', b'1'), File('a.py', b'1', mode=0o100755)), 'twice'
    yield 'file and directory', bad(File('a', b'1'), File('a/b', b'1')), 'is a file and a directory'
    yield 'bytes in front', bad(archive={'prefix': b'#!/bin/sh\n'}), 'bytes before its members'
    yield 'bytes between', bad(File('a.py', text), archive={'between': b'junk'}), 'bytes after'
    yield 'bytes before the directory', bad(archive={'before_directory': b'junk'}), 'bytes after'
    yield 'bytes behind', bad(archive={'suffix': b'junk'}), 'bytes after its end'
    yield 'an archive in the comment', bad(archive={'comment': b'PK\5\6' + b'\0' * 18}), 'is not at its end'
    yield 'directory elsewhere', bad(archive={'end': {'offset': 4}}), 'is not at its end'
    yield 'directory of another size', bad(archive={'end': {'size': 46}}), 'is not at its end'
    yield 'too few members', bad(archive={'end': {'count': 2}}), 'damaged'
    yield 'too many members', bad(archive={'end': {'count': 20}}), 'damaged'
    yield 'many disks', bad(archive={'end': {'disk': 1}}), 'one part of a split archive'
    yield 'members that overlap', bad(File('a.py', text, stored=True, central={'offset': 0}), File('b.py', text, central={'offset': 0})), 'share bytes'
    yield 'wrong descriptor', bad(File('a.py', text, descriptor='marked', local={'crc': 0}, central={'crc': 9})), 'the descriptor after'
    squeezed = File('a.py', text)
    whole = odd_wheels.Archive([]).data(squeezed)
    yield 'cut stream', bad(File('a.py', text, data=whole[:-3])), 'does not decompress'
    yield 'bytes behind a stream', bad(File('a.py', text, data=whole + b'\0\0')), 'does not decompress'
    big = b'x' * 20_000_000
    whole = odd_wheels.Archive([]).data(File('a.py', big))
    yield 'cut stream of a large file', bad(File('a.py', big, data=whole[:-3])), 'does not decompress'
    yield 'bytes behind the stream of a large file', bad(File('a.py', big, data=whole + b'\0')), 'does not decompress'
    yield 'longer stream of a large file', bad(File('a.py', big[:-1], data=whole, recorded=False)), 'does not decompress'
    bomb = {'size': 3_000_000_000}
    yield 'bomb that lies', bad(File('a.py', text, local=bomb, central=bomb, recorded=False)), 'cannot hold'
    bomb = {'size': 3_900_000_000}
    yield 'bomb', bad(File('a.py', b'', data=b'\0' * 4_000_000, local=bomb, central=bomb, recorded=False)), 'would unpack to'
    yield 'wrong hash', bad(File('a.py', text), record=lambda rows: [f'a.py,sha256={"A" * 43},', *rows[1:]]), 'does not have the hash'
    yield 'wrong size in RECORD', bad(File('a.py', text), record=lambda rows: [row + '0' if row.startswith('a.py') else row for row in rows]), 'does not have the size'
    yield 'hash that is none', bad(File('a.py', text), record=lambda rows: ['a.py,sha256=xyz,']), 'an invalid hash'
    yield 'two hashes', bad(File('a.py', text), record=lambda rows: [*rows, f'a.py,sha256={"A" * 43},']), 'two hashes'
    yield 'quote without end', bad(record=lambda rows: ['"a.py,,']), 'cannot be read'
    yield 'two .dist-info', bad(File('other-1.0.dist-info/METADATA')), 'several `.dist-info`'
    yield 'no .dist-info', bad(info='bad'), 'no `.dist-info`'
    yield 'another .dist-info', bad(info='other-1.0.dist-info'), 'belongs to another distribution'
    yield 'another name', bad(metadata='Name: other\nVersion: 1.0\n'), 'METADATA is for `other`'
    yield 'another version', bad(metadata='Name: bad\nVersion: 2.0\n'), 'METADATA is for version `2.0`'
    yield 'no name', bad(metadata='Version: 2.0\n'), 'has no name'
    yield 'wheel 2', bad(format='Wheel-Version: 2.0\nRoot-Is-Purelib: true\n'), 'format version 2.0'
    yield 'no version of the format', bad(format='Root-Is-Purelib: true\n'), 'no format version'
    yield 'variant', Wheel('bad', tag='1-py3-none-any-x86_64_v3', info=info), 'cannot be installed'
    yield 'data of no known kind', bad(File('bad-1.0.data/etc/x')), 'an unknown category'
    yield 'data without a kind', bad(File('bad-1.0.data/x')), 'an unknown category'
    yield 'data of something else', bad(File('other-1.0.data/purelib/x')), 'of another distribution'
    for what, line in {'no callable': 'x = a', 'a path': '../x = a:b', 'a blank': 'x y = a:b', 'code': 'x = a:b; import os', 'two colons': 'x = a:b:c',
                       'no equals': 'x', 'a whiteout': '.wh.x = a:b'}.items():
        yield f'program with {what}', bad(entry_points=f'[console_scripts]\n{line}\n'), 'entry_points.txt'


def check_hostile(binary, folder):
    environment = Environment(folder / 'hostile')
    failed = 0
    cases = list(hostile())
    out = folder / 'hostile-out'
    paths = []
    for number, (_, wheel, _) in enumerate(cases):
        (folder / str(number)).mkdir()
        paths.append(wheel.write(folder / str(number)))
    (folder / 'truncated').mkdir()
    whole = Wheel('bad', files=[File('a.py', b'x' * 3000, stored=True)]).write(folder / 'truncated').read_bytes()
    for size in range(0, len(whole), 97):
        paths.append(folder / 'truncated' / str(size) / 'bad-1.0-py3-none-any.whl')
        paths[-1].parent.mkdir()
        paths[-1].write_bytes(whole[:size])
        cases.append((f'cut to {size} bytes', None, '`bad-1.0-py3-none-any.whl` cannot be installed: it is not a zip archive'))
    answers = environment.autopack(binary, [(path, out, 'no', '', '') for path in paths])
    for (what, _, words), answer in zip(cases, answers, strict=True):
        if words not in answer or 'bad-' not in answer:
            print(f'{what}: {answer}')
            failed += 1
    return len(cases), failed


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--binary', required=True)
    parser.add_argument('seed', nargs='?', type=int, default=0)
    given = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix='autopack-wheels-'))
    try:
        found, files = [], 0
        (folder / 'wheels').mkdir()
        wheels = [odd_wheels.random_wheel(given.seed + number) for number in range(COUNT)]
        third = COUNT // 3
        sets = [
            ('by path', folder / 'plain', [*wheels[:third], *special_wheels(folder / 'wheels')], False, None),
            ('by name', folder / 'named', wheels[third:2 * third], True, None),
            ('with two directories', folder / 'two', wheels[2 * third:], False, folder / 'two' / 'platform' / 'site-packages'),
            ('at a path with blanks', folder / 'a blank', wheels[:20], False, None),
            ('at a long path', folder / ('long' * 30), wheels[:20], False, None),
        ]
        for what, root, chosen, by_name, platlib in sets:
            differing, count = compare(given.binary, folder / 'wheels', root, chosen, by_name, platlib)
            print(f'{what}: {len(chosen)} wheels, {count} files, {len(differing)} differ')
            found += differing
            files += count
        count, failed = check_hostile(given.binary, folder)
        print('\n'.join(found[:20]))
        print(f'{files} files as pip writes them, but for {len(found)}; {count - failed} of {count} hostile wheels refused by name')
        sys.exit(1 if found or failed or files < 1000 else 0)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == '__main__':
    main()
