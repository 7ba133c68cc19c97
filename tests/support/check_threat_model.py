"""Checks that each test and each file named in the pages for developers exists, including fuzz targets.

    check_threat_model.py ROOT
"""

import pathlib
import re
import sys

PAGES = ('CONTRIBUTING.md', 'src/README.md', 'tests/README.md', '.github/SECURITY.md')
BOUNDARIES = re.compile(r'^### Boundaries\n(.*?)^### ', re.MULTILINE | re.DOTALL)


def missing(root):
    targets = {name for path in (root / 'tests/fuzz').glob('*_targets.cpp')
               for name in re.findall(r'\{"(\w+)", ', path.read_text())}
    rows = [line.split('|') for line in BOUNDARIES.search((root / '.github/SECURITY.md').read_text())[1].splitlines()
            if line.startswith('| ')][1:]
    for row in rows:
        named = re.findall(r'`([^`]+)`', row[-2])
        if not named:
            yield f'{row[1].strip()}: no test is named'
        for name in named:
            is_file = name.endswith(('.cpp', '.py'))
            if not (any((root / 'tests').rglob(name)) if is_file else name in targets):
                yield f'{row[1].strip()}: there is no `{name}`'
    text = '\n'.join((root / page).read_text() for page in PAGES)
    for name in sorted(set(re.findall(r'`((?:src|tests|examples|templates)/[\w./-]+)', text))):
        if '...' not in name and 'TARGET' not in name and not (root / name).exists():
            yield f'there is no `{name}`'
    if len(rows) < 10:
        yield 'the table of boundaries is not found'


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(missing(pathlib.Path(sys.argv[1])))
    print('\n'.join(found) if found else 'each boundary has its tests, and each file is there')
    sys.exit(1 if found else 0)


if __name__ == '__main__':
    main()
