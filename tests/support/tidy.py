"""Runs clang-tidy, as .clang-tidy says, over the .cpp files that changed within a day, or over all.

    tidy.py [--all] [--jobs N] BUILD

BUILD is a build directory that is configured, with clang and without precompiled headers: clang-tidy cannot read those
of another compiler. Prints what it finds, what it looked at and, at the end, `N passed, N failed`: a file is a case.

A file takes 10 to 40 seconds, nearly all of them for the headers of libraries. So
* the files are looked at together, as one translation unit for each core: ten cost three times as much as one. Without the
  analyser, which takes a minute more for a large file; --all looks at each file alone, with it;
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
MOST = 24
PROGRAM = re.compile(rb'^int main\(|LLVMFuzzerTestOneInput|DOCTEST_CONFIG', re.MULTILINE)
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
    """The files that were found clean, with all checks if `is_whole`: a digest of all inputs of the result."""

    def __init__(self, build, version, is_whole):
        self.folder = build / 'clean'
        self.folder.mkdir(exist_ok=True)
        self.start = hashlib.sha256(version + bytes([is_whole]) + (ROOT / '.clang-tidy').read_bytes())
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


def tidy(words):
    answer = subprocess.run(['clang-tidy', '--quiet', *words], capture_output=True, text=True, check=False)
    lines = (answer.stdout + answer.stderr).splitlines()
    return answer.returncode == 0, '\n'.join(line for line in lines if not NOISE.match(line))


def flags(entries):
    """Returns the compiler's flags for `entries` as one, with absolute paths."""
    found = {}
    for entry in entries:
        words = entry['command'].split()[1:]
        skipped = {place + step for place, word in enumerate(words) if word in ('-o', '-MF', '-MQ', '-c') for step in (0, 1)}
        for place, word in enumerate(words):
            if place not in skipped and word != '-MD':
                folder = pathlib.Path(entry['directory'], word[2:]).resolve()
                found[f'-I{folder}' if word.startswith('-I') else word] = None
    return list(found)


def look(build, name):
    """Looks at one file with all checks; returns its findings, empty if it is clean."""
    good, text = tidy(['-p', build, ROOT / name])
    return '' if good else text or 'clang-tidy failed'


def look_together(build, number, entries):
    """Looks at all of `entries` as one file, without the analyser; returns the findings by name."""
    together = build / f'together-{number}.cpp'
    together.write_text(''.join(f'#include "{ROOT / entry["name"]}"\n' for entry in entries), encoding='utf-8')
    good, text = tidy([together, '--header-filter=(src|tests)/.*\\.[ch]pp$',
                       '--checks=-clang-analyzer-*,-bugprone-suspicious-include', '--', *flags(entries)])
    if good:
        return {}
    wrong = [entry['name'] for entry in entries if f'{entry["name"]}:' in text]
    if 'clang-diagnostic-error' in text or not wrong:
        wrong = [entry['name'] for entry in entries]
    # Names of two files may clash only because the files are together, so a finding counts if the file alone has it.
    found = {name: look(build, name) for name in wrong}
    return {name: said for name, said in found.items() if said}


def batches(entries, count):
    """Returns `entries` in up to `count` lists; a program has its own."""
    programs = [entry for entry in entries if PROGRAM.search((ROOT / entry['name']).read_bytes())]
    others = [entry for entry in entries if entry not in programs]
    return [some for some in (*(others[i::count] for i in range(count)), *([entry] for entry in programs)) if some]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--all', action='store_true', help='all files')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('build', type=lambda text: pathlib.Path(text).resolve())
    arguments = parser.parse_args()
    entries = commands(arguments.build)
    version = subprocess.run(['clang-tidy', '--version'], capture_output=True, check=True).stdout
    clean = Clean(arguments.build, version, arguments.all)

    def is_clean(name):
        return clean.mark(entries[name]).exists()

    names, left = (sorted(entries), 0) if arguments.all else changed(entries, is_clean)
    kind = 'all files' if arguments.all else 'files that changed within a day'
    if not names:
        names, kind = spread(entries), 'files evenly spread, for none changed within a day'
    unknown = [name for name in names if not is_clean(name)]
    failed = 0
    if arguments.all:
        some = [[entries[name]] for name in unknown]
    else:
        some = batches([entries[name] for name in unknown], arguments.jobs)

    def find(item):
        number, batch = item
        if arguments.all:
            text = look(arguments.build, batch[0]['name'])
            return {batch[0]['name']: text} if text else {}
        return look_together(arguments.build, number, batch)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for batch, found in zip(some, pool.map(find, enumerate(some))):
            for name in (entry['name'] for entry in batch):
                if name in found:
                    failed += 1
                    print(f'--- {name}\n{found[name]}', flush=True)
                elif Clean(arguments.build, version, arguments.all).digest(entries[name]) == clean.mark(entries[name]).name:
                    clean.mark(entries[name]).touch()
    print(f'clang-tidy: {len(names)} {kind}, {len(names) - len(unknown)} of them unchanged since they were found clean'
          + (f'; {left} more of the day wait for the next run or --tidy-all' if left else ''))
    print(f'{len(names) - failed} passed, {failed} failed')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
