"""Checks that each folder of src/ includes only the folders that the table allows, and each library where it belongs.

    layering.py ROOT

Prints one line per finding; exit status 1 if there is any. Unneeded entries of the table are findings, too, and so are
cycles, and rows of src/README.md that differ.
"""

import graphlib
import pathlib
import re
import sys

# Folder -> the folders that it may include besides itself. `.` is main.cpp.
ALLOWED = {
    'base': '',
    'source': 'base',
    'python': 'base',
    'project/tables': 'base python',
    'project/code': 'base python project/tables',
    'project': 'base source python project/code',
    'project/requirements': 'base source python project/code project',
    'project/package': 'base source python project/tables project/code project project/requirements',
    'project/program': 'base source python project/tables project/code project project/requirements project/package',
    'project/scan': 'base project project/requirements project/package project/program',
    'lock': 'base source python project project/requirements',
    'image': 'base',
    'wheel': 'base python image',
    'gpu': 'base',
    'state': 'base source image',
    'plan': 'base source python project/tables project/code project project/requirements project/package '
    'project/program image state',
    'http': 'base',
    'index': 'base python project/requirements state http',
    'resolve': 'base python wheel index',
    'registry': 'base image http',
    'engine': 'base image http registry',
    'google': 'base image http registry',
    'packaging': 'base source project project/program image gpu state plan registry',
    'executor/remembered': 'base image state registry',
    'services': 'base image state http registry engine google packaging executor/remembered',
    'executor': 'base python image gpu state engine packaging executor/remembered services',
    'bundle': 'base image',
    'publish': 'base image bundle plan registry engine packaging services',
    'build/direct': 'base image plan packaging services executor publish',
    'build/wheels': 'base source python project/tables project/code project project/requirements project/package lock image '
    'wheel gpu plan http index resolve engine packaging executor/remembered sbom services executor build/direct',
    'build/docker': 'base source project/requirements lock image plan engine packaging services executor publish '
    'build/direct build/wheels',
    'build/cloud': 'base image http engine google packaging services build/docker',
    'attest': 'base source image registry packaging services build/wheels',
    'compare': 'base python image plan packaging services',
    'sbom': 'base python image state',
    'rebase': 'base python image registry packaging services executor build/direct',
    'inventory': 'base image state packaging services',
    'rootless': 'base image engine',
    'job': 'base project image packaging',
    'submit': 'base http google job',
    'kubernetes': 'base http google job submit',
    'slurm': 'base image bundle google job submit',
    'local': 'base image engine google job submit',
    'preflight': 'base image http registry engine google job',
    'pipeline': 'base source python project project/requirements project/program image gpu state plan packaging '
    'executor/remembered sbom attest compare engine rootless services executor publish build/direct build/wheels build/docker '
    'build/cloud job submit preflight',
    'verify': 'base source python project/requirements lock image registry http packaging services executor build/wheels attest compare pipeline',
    'cli': 'base source project project/requirements project/program gpu http engine google packaging services '
    'executor compare rebase inventory rootless job submit kubernetes slurm local preflight pipeline verify resolve',
    '.': 'base http cli',
}

# Header prefix of a library -> the only folders that may include it.
LIBRARIES = {
    'git2': 'source',
    'archive': 'image',
    'libdeflate': 'image',
    'zlib': 'base',
    'zstd': 'image',
    'sqfs/': 'bundle',
    'curl/': 'http',
    'openssl/': 'base',
    'yaml-cpp/': 'job',
    'toml++/': 'project',
    'kainjow/': 'plan',
    'CLI/': 'cli',
}

# It recurses with the length of the text, and a long one crashes the program.
UNWANTED = 'regex'

# A heavy header stays out of our headers, and its templates are compiled once.
JSON = 'nlohmann/json.hpp'
OUR_JSON = 'base/json.hpp'

ROW = re.compile(r'^\| `([\w/]+)/` \|.*\|([^|]*)\|$', re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def folder_of(path):
    return str(path.parent)


def includes(path, text):
    """Returns each `#include` of a file: its line, the bracket, and the name."""
    for match in INCLUDE.finditer(text):
        yield text.count('\n', 0, match.start(2)) + 1, match.group(1), match.group(2)


def of_ours(relative, name, allowed):
    """Returns the error of including our header `name`, if any."""
    folder, target = folder_of(relative), folder_of(pathlib.PurePath(name))
    if target == '.' or target not in allowed:
        return 'include "{}" by its path below src/'
    if name == OUR_JSON and relative.suffix != '.cpp':
        return '"{}" only in .cpp files; headers take nlohmann/json_fwd.hpp'
    if target != folder and target not in allowed[folder]:
        return f'{folder} may not include "{{}}": see the table in layering.py'
    return None


def of_libraries(relative, name):
    if name == UNWANTED:
        yield 'no <{}>: texts of strangers may be long'
    if name == JSON and str(relative) != OUR_JSON:
        yield f'include "{OUR_JSON}" (in .cpp files) or nlohmann/json_fwd.hpp'
    for prefix, owners in LIBRARIES.items():
        if name.startswith(prefix) and folder_of(relative) not in owners.split():
            yield f'only {" and ".join(f"src/{owner}/" for owner in owners.split())} may include <{{}}>'


def findings(root):
    source = root / 'src'
    allowed = {folder: set(others.split()) for folder, others in ALLOWED.items()}
    needed = {folder: set() for folder in allowed}
    for path in sorted(source.rglob('*.[ch]pp')):
        relative = path.relative_to(source)
        folder = folder_of(relative)
        if folder == 'pch':  # the precompiled headers
            continue
        if folder == '.' and relative.name != 'main.cpp':
            yield f'src/{relative}: belongs into a folder'
            continue
        if folder not in allowed:
            yield f'src/{relative}: {folder} is not in the table of layering.py'
            continue
        for line, bracket, name in includes(path, path.read_text(encoding='utf-8')):
            if name == 'version.hpp':
                continue
            if bracket == '"':
                needed[folder].add(folder_of(pathlib.PurePath(name)))
                found = [of_ours(relative, name, allowed)]
            else:
                found = of_libraries(relative, name)
            for fault in filter(None, found):
                yield f'src/{relative}:{line}: ' + fault.format(name)
    for folder, others in allowed.items():
        for other in sorted(others - needed[folder]):
            yield f'layering.py: {folder} may include {other}, and no file does'
    told = {folder: set(others.split()) for folder, others in ROW.findall((root / 'src/README.md').read_text())}
    for folder, others in allowed.items():
        if folder != '.' and told.get(folder) != others:
            yield f'src/README.md: the row of `{folder}/` says otherwise than layering.py'
    try:
        graphlib.TopologicalSorter(allowed).prepare()
    except graphlib.CycleError as error:
        yield 'layering.py: a circle: ' + ' -> '.join(error.args[1])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(findings(pathlib.Path(sys.argv[1])))
    print('\n'.join(found) if found else 'layering is as the table says')
    sys.exit(1 if found else 0)


if __name__ == '__main__':
    main()
