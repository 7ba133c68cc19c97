"""Prints how many lines of each folder of src/ ran in an instrumented build.

    coverage.py [--least PERCENT] BUILD

BUILD was made by clang with -fcoverage-mapping and its programs wrote their counts to BUILD/raw. The last line is
`N passed, N failed`: one case, that the total is not below the minimum.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def programs(build):
    """Returns the programs linked with src/: llvm-cov gets the first one separately."""
    found = [path for place in ('src', 'tests') for path in sorted((build / place).rglob('*'))
             if path.is_file() and not path.suffix and os.access(path, os.X_OK)]
    return [path for path in found if b'__llvm_covmap' in path.read_bytes()]


def summary(build):
    merged = build / 'merged.profdata'
    subprocess.run(['llvm-profdata', 'merge', '-sparse', '-o', merged, *(build / 'raw').glob('*.profraw')], check=True)
    first, *others = programs(build)
    command = ['llvm-cov', 'export', '-summary-only', f'-instr-profile={merged}', first]
    command += [f'-object={path}' for path in others]
    answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return json.loads(answer.stdout)['data'][0]['files']


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--least', type=float, default=85)
    parser.add_argument('build', type=lambda text: pathlib.Path(text).resolve())
    arguments = parser.parse_args()
    lines = collections.defaultdict(lambda: [0, 0])
    for file in summary(arguments.build):
        path = pathlib.Path(file['filename']).resolve()
        if path.is_relative_to(ROOT / 'src'):
            counts = file['summary']['lines']
            for key in (str(path.parent.relative_to(ROOT)), 'total'):
                lines[key][0] += counts['covered']
                lines[key][1] += counts['count']
    total = lines.pop('total')
    for folder, (covered, count) in [*sorted(lines.items()), ('all of src/', total)]:
        print(f'{folder:20} {100 * covered / count:5.1f} % of {count} lines')
    good = 100 * total[0] / total[1] >= arguments.least
    print(f'{int(good)} passed, {int(not good)} failed')
    sys.exit(0 if good else 1)


if __name__ == '__main__':
    main()
