"""Makes tiny data of the shapes that public training programs read (starts.yaml).

    tiny_data.py mnist DIRECTORY         the four files of MNIST or a likeness of it
    tiny_data.py pictures FILE...        PNG files of 64 by 64 points
    tiny_data.py series FILE             hourly values of two years under the columns of ETT
    tiny_data.py words FILE...           lines of words
    tiny_data.py numbers FILE...         little-endian 16-bit numbers below 64
    tiny_data.py cora DIRECTORY          cora.content for the papers of its cora.cites
"""

import datetime
import pathlib
import random
import struct
import sys
import zlib

CHANCE = random.Random(1)


def new(path):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def mnist(directory):
    for prefix, count in (('train', 640), ('t10k', 128)):
        images, labels = (new(f'{directory}/{prefix}-{kind}-ubyte') for kind in ('images-idx3', 'labels-idx1'))
        images.write_bytes(struct.pack('>4I', 0x803, count, 28, 28) + CHANCE.randbytes(count * 28 * 28))
        labels.write_bytes(struct.pack('>2I', 0x801, count) + bytes(number % 10 for number in range(count)))


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def pictures(*files):
    for file in files:
        rows = b''.join(b'\0' + CHANCE.randbytes(64 * 3) for _ in range(64))
        new(file).write_bytes(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>2I5B', 64, 64, 8, 2, 0, 0, 0)) +
                              chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))


def series(file):
    begin = datetime.datetime(2016, 7, 1)
    lines = ['date,HUFL,HULL,MUFL,MULL,LUFL,LULL,OT']
    lines += [','.join([str(begin + datetime.timedelta(hours=hour)), *(f'{CHANCE.random():.3f}' for _ in range(7))])
              for hour in range(20 * 30 * 24)]
    new(file).write_text('\n'.join(lines) + '\n')


def words(*files):
    for file in files:
        new(file).write_text(''.join(' '.join(CHANCE.choices('a few words of which all lines are made'.split(), k=12)) + '\n'
                                     for _ in range(400)))


def numbers(*files):
    for file in files:
        new(file).write_bytes(struct.pack('<20000H', *(CHANCE.randrange(64) for _ in range(20000))))


def cora(directory):
    directory = pathlib.Path(directory)
    papers = dict.fromkeys((directory / 'cora.cites').read_text().split())
    lines = [' '.join([paper, *CHANCE.choices('01', [60, 1], k=1433), f'Topic_{CHANCE.randrange(7)}']) for paper in papers]
    (directory / 'cora.content').write_text('\n'.join(lines) + '\n')


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
