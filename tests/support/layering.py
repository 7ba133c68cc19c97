"""Checks that each folder of src/ includes only folders below it, and each library in one folder.

    layering.py ROOT

Prints one line per finding; exit status 1 when there is any.
"""

import pathlib
import re
import sys

# From low to high: the product's story. A folder includes itself and what stands before it.
FOLDERS = (
    'base',
    'source',
    'python',
    'project',
    'image',
    'state',
    'plan',
    'http',
    'registry',
    'engine',
    'google',
    'job',
    'submit',
    'preflight',
    'pipeline',
    'cli',
)

# Folders that do without some of those below them.
WITHOUT = {
    'job': ('http', 'registry', 'engine', 'google'),  # pure
}

# Header prefix of a library -> the only folder that may include it.
LIBRARIES = {
    'git2': 'source',
    'archive': 'image',
    'libdeflate': 'image',
    'zlib': 'source',
    'zstd': 'image',
    'curl/': 'http',
    'openssl/': 'base',
    'yaml-cpp/': 'job',
    'toml++/': 'project',
    'kainjow/': 'plan',
    'CLI/': 'cli',
}

# A heavy header stays out of our headers, and comes with its templates compiled once.
JSON = 'nlohmann/json.hpp'
OUR_JSON = 'base/json.hpp'

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def findings(root):
    source = root / 'src'
    for path in sorted(source.rglob('*')):
        if path.suffix not in ('.hpp', '.cpp', '.h'):
            continue
        relative = path.relative_to(source)
        folder = relative.parts[0] if len(relative.parts) > 1 else None
        if folder == 'pch':  # what the compiler reads ahead for all of them
            continue
        if folder is None and relative.name != 'main.cpp':
            yield f'src/{relative}: belongs into a folder'
            continue
        if folder is not None and folder not in FOLDERS:
            yield f'src/{relative}: folder {folder} is not in the table of layering.py'
            continue
        rank = FOLDERS.index(folder) if folder else len(FOLDERS)
        text = path.read_text(encoding='utf-8')
        for match in INCLUDE.finditer(text):
            line = text.count('\n', 0, match.start(2)) + 1
            where = f'src/{relative}:{line}'
            name = match.group(2)
            if match.group(1) == '"':
                target = name.split('/')[0]
                if name == 'version.hpp' or name.endswith('.inc'):
                    continue
                if '/' not in name or target not in FOLDERS:
                    yield f'{where}: include "{name}" by its path below src/'
                elif name == OUR_JSON and path.suffix != '.cpp':
                    yield f'{where}: "{name}" only in .cpp files; headers take nlohmann/json_fwd.hpp'
                elif target in WITHOUT.get(folder, ()):
                    yield f'{where}: {folder} does without {target} and may not include "{name}"'
                elif FOLDERS.index(target) > rank:
                    yield f'{where}: {folder} is below {target} and may not include "{name}"'
                continue
            if name == JSON and str(relative) != OUR_JSON:
                yield f'{where}: include "{OUR_JSON}" (in .cpp files) or nlohmann/json_fwd.hpp'
            for prefix, owner in LIBRARIES.items():
                if name.startswith(prefix) and folder != owner:
                    yield f'{where}: only src/{owner}/ may include <{name}>'


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(findings(pathlib.Path(sys.argv[1])))
    print('\n'.join(found) if found else 'layering is as the table says')
    sys.exit(1 if found else 0)


if __name__ == '__main__':
    main()
