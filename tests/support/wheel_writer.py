"""Writes wheels (PEP 427), the same bytes each time."""

import base64
import hashlib
import zipfile

TIME = (1980, 1, 2, 0, 0, 0)


class Writer:
    """A wheel being written."""

    def __init__(self, path, info, method=zipfile.ZIP_STORED, level=1):
        self.archive = zipfile.ZipFile(path, 'w')
        self.info, self.record, self.method, self.level = info, [], method, level

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.archive.close()

    def add(self, name, content):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
        self.record.append(f'{name},sha256={digest},{len(content)}\n')
        entry = zipfile.ZipInfo(name, TIME)
        entry.external_attr = 0o100644 << 16
        self.archive.writestr(entry, content, self.method, self.level)

    def add_metadata(self, metadata, tag, entry_points=None):
        purelib = str(tag == 'py3-none-any').lower()
        self.add(f'{self.info}/METADATA', metadata.encode())
        self.add(f'{self.info}/WHEEL', f'Wheel-Version: 1.0\nRoot-Is-Purelib: {purelib}\nTag: {tag}\n'.encode())
        if entry_points:
            self.add(f'{self.info}/entry_points.txt', entry_points)
        record = ''.join([*self.record, f'{self.info}/RECORD,,\n'])
        self.archive.writestr(zipfile.ZipInfo(f'{self.info}/RECORD', TIME), record)
