"""Makes odd and malicious wheels, with a zip writer that can lie."""

import base64
import dataclasses
import hashlib
import os
import random
import stat
import struct
import sys
import zipfile
import zlib

PYTHON = 0o100644
PROGRAM = 0o100755
THIS = f'cp{sys.version_info[0]}{sys.version_info[1]}'


def record_row(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
    quoted = '"' + name.replace('"', '""') + '"' if set(name) & set(',"') else name
    return f'{quoted},sha256={digest},{len(content)}'


@dataclasses.dataclass
class File:
    """A member of a wheel; false values of its headers are in `local` and `central`."""

    name: str
    content: bytes = b''
    mode: int = PYTHON
    stored: bool = False
    descriptor: str = ''  # '', 'plain', 'marked', 'large'
    zip64: bool = False
    level: int = 6
    local: dict = dataclasses.field(default_factory=dict)
    central: dict = dataclasses.field(default_factory=dict)
    recorded: bool = True
    data: bytes = None  # instead of the compressed content


@dataclasses.dataclass
class Archive:
    """A zip, written field by field."""

    files: list
    prefix: bytes = b''
    between: bytes = b''
    before_directory: bytes = b''
    suffix: bytes = b''
    comment: bytes = b''
    zip64: bool = False
    end: dict = dataclasses.field(default_factory=dict)

    def header(self, file, data, local):
        said = {'name': file.name.encode(), 'flags': 0, 'method': 0 if file.stored else 8, 'crc': zlib.crc32(file.content),
                'compressed': len(data), 'size': len(file.content), 'mode': file.mode << 16, 'extra': b'', 'version': 20}
        if not file.name.isascii():
            said['flags'] |= 1 << 11
        if file.descriptor:
            said['flags'] |= 8
            if local:
                said |= {'crc': 0, 'compressed': 0, 'size': 0}
        said |= file.local if local else file.central
        if file.zip64:
            said['extra'] += struct.pack('<HHQQ', 1, 16, said['size'], said['compressed'])
            said |= {'size': 0xffffffff, 'compressed': 0xffffffff, 'version': 45}
        return said

    def data(self, file):
        if file.data is not None:
            return file.data
        if file.stored:
            return file.content
        squeeze = zlib.compressobj(file.level, zlib.DEFLATED, -15)
        return squeeze.compress(file.content) + squeeze.flush()

    def bytes(self):
        out, directory = bytearray(self.prefix), bytearray()
        for file in self.files:
            offset, data = len(out), self.data(file)
            said = self.header(file, data, local=True)
            out += struct.pack('<IHHHIIIIHH', 0x04034b50, said['version'], said['flags'], said['method'], 0x21 << 16,
                               said['crc'], said['compressed'], said['size'], len(said['name']), len(said['extra']))
            out += said['name'] + said['extra'] + data
            if file.descriptor:
                facts = zlib.crc32(file.content), len(data), len(file.content)
                out += {'plain': b'', 'marked': b'PK\x07\x08', 'large': b'PK\x07\x08'}[file.descriptor]
                out += struct.pack('<IQQ' if file.descriptor == 'large' else '<III', *facts)
            out += self.between
            said = self.header(file, data, local=False)
            said = {'offset': offset} | said
            directory += struct.pack('<IHHHHIIIIHHHHHII', 0x02014b50, 3 << 8 | said['version'], said['version'], said['flags'],
                                     said['method'], 0x21 << 16, said['crc'], said['compressed'], said['size'],
                                     len(said['name']), len(said['extra']), 0, 0, 0, said['mode'], said['offset'])
            directory += said['name'] + said['extra']
        out += self.before_directory
        end = {'count': len(self.files), 'size': len(directory), 'offset': len(out), 'disk': 0} | self.end
        out += directory
        if self.zip64:
            at = len(out)
            out += struct.pack('<IQHHIIQQQQ', 0x06064b50, 44, 45, 45, 0, 0, end['count'], end['count'], end['size'], end['offset'])
            out += struct.pack('<IIQI', 0x07064b50, 0, at, 1)
            end |= {'count': 0xffff, 'size': 0xffffffff, 'offset': 0xffffffff}
        out += struct.pack('<IHHHHIIH', 0x06054b50, end['disk'], end['disk'], end['count'], end['count'], end['size'],
                           end['offset'], len(self.comment)) + self.comment
        return bytes(out + self.suffix)


@dataclasses.dataclass
class Wheel:
    """A wheel's files, without those of its .dist-info, and the oddities of these."""

    name: str
    version: str = '1.0'
    tag: str = 'py3-none-any'
    files: list = dataclasses.field(default_factory=list)
    entry_points: str = None
    info: str = None
    metadata: str = None
    format: str = None
    record_end: str = '\n'
    record: object = None  # changes the rows
    purelib: str = 'true'
    archive: dict = dataclasses.field(default_factory=dict)
    first: bool = False  # .dist-info comes first

    def file_name(self):
        return f'{self.name}-{self.version}-{self.tag}.whl'

    def info_files(self):
        info = self.info or f'{self.name}-{self.version}.dist-info'
        files = [File(f'{info}/METADATA', (self.metadata or f'Metadata-Version: 2.1\nName: {self.name}\nVersion: {self.version}\n').encode()),
                 File(f'{info}/WHEEL', (self.format or f'Wheel-Version: 1.0\nGenerator: odd\nRoot-Is-Purelib: {self.purelib}\nTag: {self.tag}\n').encode())]
        if self.entry_points is not None:
            files.append(File(f'{info}/entry_points.txt', self.entry_points.encode()))
        return info, files

    def write(self, folder):
        info, extra = self.info_files()
        files = extra + self.files if self.first else self.files + extra
        rows = [record_row(file.name, file.content) for file in files if file.recorded and not file.name.endswith('/')]
        rows.append(f'{info}/RECORD,,')
        if self.record:
            rows = self.record(rows)
        files = [*files, File(f'{info}/RECORD', ''.join(row + self.record_end for row in rows).encode())]
        path = folder / self.file_name()
        path.write_bytes(Archive(files, **self.archive).bytes())
        return path


def random_wheel(seed):
    """Returns a wheel that pip installs, with random content."""
    dice = random.Random(seed)
    name = dice.choice(['odd', 'Odd', 'o.dd', 'odd_pkg', 'ODD_Pkg.x']) + str(seed)
    module = f'mod{seed}'
    data = f'{name}-1.0.data'
    contents = [b'', b'x = 1\n', b'# \xc3\xa9\n' * 40, os.urandom(dice.randrange(1, 70_000)), b'print(1)\r\n' * dice.randrange(2_000, 20_000)]

    def file(path, content=None, mode=None):
        return File(path, dice.choice(contents) if content is None else content,
                    dice.choice([0o100644, 0o100755, 0o100600, 0o100777, 0o100644, 0o104711, 0, 0o100664]) if mode is None else mode,
                    stored=dice.random() < 0.25, descriptor=dice.choice(['', '', '', 'plain', 'marked', 'large']),
                    zip64=dice.random() < 0.1, level=dice.choice([1, 6, 9, 0]), recorded=dice.random() < 0.93)

    paths = ['__init__.py', 'a.py', 'a b.py', 'Ünicode.py', 'data,"quoted".txt', "it's", 'deep/' * 9 + 'x', 'lib.so', 'A.py', 'a.PY',
             'py.typed', '$HOME', '-r', 'x' * 200, 'back\\slash', '~', '{a}', 'x.pth', 'emoji-\U0001f40d']
    files = [file(f'{module}/{path}') for path in dice.sample(paths, dice.randrange(1, 12))]
    oddities = [
        [file(f'namespace{seed}/part.py')], [file(f'{module}.pth', b'import os\n')], [file(f'{module}-link', b'target', stat.S_IFLNK | 0o777)],
        [file(f'{data}/data/share/{module}/a.txt'), file(f'{data}/data/etc/{module}.conf')], [file(f'{data}/headers/{module}.h'), file(f'{data}/headers/sub/y.h')],
        [file(f'{data}/purelib/{module}_pure.py')], [file(f'{data}/platlib/{module}_plat.so')],
        [file(f'{data}/purelib/{module}/over.py', b'later'), file(f'{module}/over.py', b'earlier')],
        [file(f'{data}/scripts/{module}-run', b'#!python\nprint(1)\n'), file(f'{data}/scripts/{module}-w', b'#!pythonw -x\r\nprint(1)')],
        [file(f'{data}/scripts/{module}-sh', b'#!/bin/sh\necho\n'), file(f'{data}/scripts/{module}-bin', b'\x7fELF' + os.urandom(50_000))],
        [file(f'{data}/scripts/{module}-none', b'#!python'), file(f'{data}/scripts/{module}-empty', b'')],
        [file(f'{data}/scripts/sub/{module}-deep', b'#!python3\nx')],
        [file(f'{data}/scripts/{module}-cli', b'old'), file(f'{data}/scripts/{module}-cli.exe', b'MZ'), file(f'{data}/scripts/{module}-cli-script.py', b'#!python\n')],
        [file(f'{name}-1.0.dist-info/licenses/LICENSE'), file(f'{name}-1.0.dist-info/RECORD.jws')],
        [File(f'{module}/empty/', mode=0o40755, stored=True)], [file(f'{name}-1.0.dist-info/INSTALLER', b'other\n')],
        [same := file(f'{module}/twice.py', b'same'), same],
    ]
    for group in dice.sample(oddities, dice.randrange(0, 8)):
        files += group
    dice.shuffle(files)
    points = None
    if dice.random() < 0.6:
        points = dice.choice([
            f'[console_scripts]\n{module}-cli = {module}:main\n',
            f'# why\n[console_scripts]\n{module}-cli={module}.sub:App.run [extra]\n\n[gui_scripts]\n{module}-gui = {module}:gui\n',
            f'[other]\nx = y\n[console_scripts]\r\n{module}-CLI = {module}:main\r\n{module}-cli = {module}.x:y\r\n',
            '', '[console_scripts]\n'])
    record = dice.choice([None, None, lambda rows: [*rows, f'{module}/not-there.py,sha256=abc,3'], lambda rows: rows[::-1],
                          lambda rows: [row for row in rows if not row.endswith('RECORD,,')],
                          lambda rows: [row.split(',')[0] if row.startswith(module) and '"' not in row else row for row in rows]])
    return Wheel(name, tag=dice.choice(['py3-none-any', 'py2.py3-none-any', 'cp32-abi3-linux_x86_64', f'{THIS}-{THIS}-linux_x86_64']), files=files, entry_points=points,
                 record_end=dice.choice(['\n', '\r\n', '\r']), record=record, purelib=dice.choice(['true', 'false', 'True', 'false']),
                 first=dice.random() < 0.3, archive=dice.choice([{}, {}, {'zip64': True}, {'comment': b'a comment'}]))


def written_by_python(folder):
    """Returns a wheel written by Python's own zipfile to an unseekable stream, with descriptors."""
    wheel = Wheel('by_zipfile', files=[File('by_zipfile/__init__.py', b'x = 1\n' * 9)])
    info, files = wheel.info_files()
    files = [*wheel.files, *files]
    record = ''.join(record_row(file.name, file.content) + '\n' for file in files) + f'{info}/RECORD,,\n'
    path = folder / wheel.file_name()

    class Pipe:
        def __init__(self, file):
            self.write, self.flush = file.write, file.flush

    with path.open('wb') as out, zipfile.ZipFile(Pipe(out), 'w', zipfile.ZIP_DEFLATED) as archive:
        for file in [*files, File(f'{info}/RECORD', record.encode())]:
            with archive.open(file.name, 'w', force_zip64=file.name.endswith('METADATA')) as member:
                member.write(file.content)
    return path
