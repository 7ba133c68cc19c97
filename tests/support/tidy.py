"""Runs clang-tidy, as .clang-tidy says, over the .cpp files that changed within a day, or over all.

    tidy.py [--all] [--jobs N] BUILD

BUILD is a build directory that is configured, with clang and without precompiled headers: clang-tidy cannot read those
of another compiler. Prints what it finds, what it looked at and, at the end, `N passed, N failed`: a file is a case.

A file takes about eight seconds, most of them for the headers of libraries. So
* a file that was found clean is looked at again when it, a header of ours that it includes or .clang-tidy has changed;
* of a day with many commits, the newest come first, until MOST files are to be looked at. Those before have their turn
  in the next run, where the build directory is kept; --all looks at every file.
Without commits of the last day, or where git tells no history (a shallow clone, an unpacked archive), it looks at MOST
files, evenly spread.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST = 20
OUR_INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
NOISE = re.compile(r'^(\d+ warnings? |Suppressed |Use -header-filter|$)')


def git(*words):
    answer = subprocess.run(['git', '-C', ROOT, *words], capture_output=True, text=True, check=False)
    return answer.stdout.split('\n') if answer.returncode == 0 else []


def changed(known, is_clean):
    """Returns those of `known` that changed within a day, the newest first, and how many exceed the limit of one
    run."""
    found = dict.fromkeys(name for name in git('diff', '--name-only', 'HEAD') if name in known)
    commits = [line.split() for line in git('log', '--since=1.day', '--no-merges', '--format=%H %P')]
    left = set()
    for commit, *parents in filter(None, commits):
        if not parents:  # all its files are new
            continue
        files = [name for name in git('diff', '--name-only', parents[0], commit) if name in known]
        left.update(files)
        for name in files:
            if sum(not is_clean(one) for one in found) < MOST:
                found.setdefault(name)
    return list(found), len(left - set(found))


def spread(known):
    return sorted(known)[::max(1, len(known) // MOST)]


class Clean:
    """The files that were found clean: a digest of all inputs of the result."""

    def __init__(self, build, version):
        self.folder = build / 'clean'
        self.folder.mkdir(exist_ok=True)
        self.start = hashlib.sha256(version + (ROOT / '.clang-tidy').read_bytes())
        self.texts = {}
        self.includes = {}
        self.marks = {}

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = path.read_bytes()
        return self.texts[path]

    def included(self, path):
        """Returns our headers that `path` includes, directly or indirectly."""
        if path not in self.includes:
            names = [name.decode() for name in OUR_INCLUDE.findall(self.text(path))]
            places = [ROOT / 'src', ROOT / 'tests', path.parent]
            self.includes[path] = [place / name for name in names for place in places if (place / name).is_file()]
        return self.includes[path]

    def mark(self, entry):
        """Returns the file that exists if the current file of this compile command is clean."""
        if entry['name'] not in self.marks:
            self.marks[entry['name']] = self.folder / self.digest(entry)
        return self.marks[entry['name']]

    def digest(self, entry):
        digest = self.start.copy()
        digest.update(entry['command'].encode())
        seen, waiting = set(), [ROOT / entry['name']]
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                waiting += self.included(path)
        for path in sorted(seen):
            digest.update(f'\0{path.relative_to(ROOT)}\0'.encode() + self.text(path))
        return digest.hexdigest()


def commands(build):
    """Returns our .cpp files by their names below the root, each with its compile command."""
    entries = {}
    for entry in json.loads((build / 'compile_commands.json').read_text(encoding='utf-8')):
        path = pathlib.Path(entry['directory'], entry['file']).resolve()
        if path.is_relative_to(ROOT) and not path.is_relative_to(build):
            entries[str(path.relative_to(ROOT))] = {**entry, 'name': str(path.relative_to(ROOT))}
    return entries


def look(build, name):
    answer = subprocess.run(['clang-tidy', '-p', build, '--quiet', ROOT / name], capture_output=True, text=True,
                            check=False)
    lines = (answer.stdout + answer.stderr).splitlines()
    return answer.returncode == 0, '\n'.join(line for line in lines if not NOISE.match(line))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--all', action='store_true', help='all files')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('build', type=lambda text: pathlib.Path(text).resolve())
    arguments = parser.parse_args()
    entries = commands(arguments.build)
    version = subprocess.run(['clang-tidy', '--version'], capture_output=True, check=True).stdout
    clean = Clean(arguments.build, version)

    def is_clean(name):
        return clean.mark(entries[name]).exists()

    names, left = (sorted(entries), 0) if arguments.all else changed(entries, is_clean)
    kind = 'all files' if arguments.all else 'files that changed within a day'
    if not names:
        names, kind = spread(entries), 'files evenly spread, for none changed within a day'
    unknown = [name for name in names if not is_clean(name)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for name, (good, text) in zip(unknown, pool.map(lambda name: look(arguments.build, name), unknown)):
            if not good:
                failed += 1
                print(f'--- {name}\n{text}', flush=True)
            elif Clean(arguments.build, version).digest(entries[name]) == clean.mark(entries[name]).name:
                clean.mark(entries[name]).touch()
    print(f'clang-tidy: {len(names)} {kind}, {len(names) - len(unknown)} of them unchanged since they were found clean'
          + (f'; {left} more of the day wait for the next run or --tidy-all' if left else ''))
    print(f'{len(names) - failed} passed, {failed} failed')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
