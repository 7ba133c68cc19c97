"""Fuzzes the parsers of what strangers write, under the address and undefined behaviour sanitizers.

    run.py BUILD [--replay | --seconds N] [--until-quiet] [--jobs N] [--seed N] [TARGET...]

BUILD is a directory of `meson setup -Dfuzz=true` made with clang. Each target runs for N seconds (5), starting from
its small corpus, with limits on memory and on the time of one input; with --until-quiet it goes on in rounds of N
seconds until one reaches no new code, for an hour at most. With --replay each target reads its corpus once, and
nothing new is tried. What breaks a target is kept below
BUILD/fuzz/TARGET/; once mended, it belongs into tests/fuzz/corpus/TARGET/. The last line is `N passed, N failed`.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MEMORY_MB = 1024
SECONDS_FOR_ONE_INPUT = 10
LONGEST_INPUT = 16384
# libgit2 1.5 forgets much of what it has when it fails.
LEAKY = 'git_'
DONE = re.compile(r'Done (\d+) runs')
COVERED = re.compile(r' cov: (\d+) ')
LONGEST = 3600
# How libFuzzer chooses the next input by default (entropic) takes more than half of the time where inputs are long.
CHOICE = '-entropic=0'


def run_rounds(binary, name, seconds, seed, until_quiet):
    """Good or not, runs, seconds, and what was said last."""
    covered = runs = spent = 0
    if seconds == 0:
        good, runs, said = run_round(binary, name, 0, seed)
        return name, good, runs, 0, said
    while True:
        good, more, said = run_round(binary, name, seconds, seed + spent if seed else 0)
        before, covered = covered, max([covered, *map(int, COVERED.findall(said))])
        runs, spent = runs + more, spent + seconds
        if not good or not until_quiet or covered == before or spent >= LONGEST:
            return name, good, runs, spent, said


def run_round(binary, name, seconds, seed):
    folder = binary.parents[2] / 'fuzz' / name
    found = folder / 'corpus'
    scratch = folder / 'scratch'
    for directory in (found, scratch):
        directory.mkdir(parents=True, exist_ok=True)
    leaks = int(not name.startswith(LEAKY))
    length = f'-max_total_time={seconds}' if seconds else '-runs=0'
    command = [binary, length, f'-timeout={SECONDS_FOR_ONE_INPUT}', f'-rss_limit_mb={MEMORY_MB}',
               f'-malloc_limit_mb={MEMORY_MB // 2}', f'-max_len={LONGEST_INPUT}', f'-artifact_prefix={folder}/',
               CHOICE, '-print_final_stats=1', f'-seed={seed}', f'-detect_leaks={leaks}', found]
    committed = HERE / 'corpus' / name
    if committed.is_dir():
        command.append(committed)
    dictionary = HERE / 'dictionaries' / f'{name}.txt'
    if dictionary.exists():
        command.insert(1, f'-dict={dictionary}')
    environment = {**os.environ, 'AUTOPACK_FUZZ_TARGET': name, 'TMPDIR': str(scratch), 'HOME': str(scratch),
                   'ASAN_OPTIONS': f'abort_on_error=1:allocator_may_return_null=1:detect_leaks={leaks}',
                   'UBSAN_OPTIONS': 'print_stacktrace=1:halt_on_error=1'}
    # Its own limits end it; this one is for a target that does not come back from them.
    try:
        outcome = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 env=environment, timeout=seconds + 120, check=False)
        said, status = outcome.stdout.decode(errors='replace'), outcome.returncode
    except subprocess.TimeoutExpired as error:
        said, status = (error.stdout or b'').decode(errors='replace'), 'none: it did not end'
    runs = DONE.search(said)
    return status == 0 and runs is not None, int(runs.group(1)) if runs else 0, said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('targets', nargs='*')
    parser.add_argument('--seconds', type=int, default=5)
    parser.add_argument('--replay', action='store_const', const=0, dest='seconds', help='read each corpus once')
    parser.add_argument('--until-quiet', action='store_true')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    parser.add_argument('--seed', type=int, default=0, help='0: another one each time')
    arguments = parser.parse_intermixed_args()
    binary = arguments.build.resolve() / 'tests' / 'fuzz' / 'fuzz_parsers'
    known = subprocess.run([binary], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout.decode().split()
    targets = arguments.targets or known
    unknown = sorted(set(targets) - set(known))
    if unknown:
        sys.exit(f'no such target: {", ".join(unknown)}; there are {", ".join(known)}')
    shutil.rmtree(arguments.build / 'fuzz', ignore_errors=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        running = [pool.submit(run_rounds, binary, name, arguments.seconds, arguments.seed, arguments.until_quiet)
                   for name in targets]
        for future in concurrent.futures.as_completed(running):
            name, good, runs, spent, said = future.result()
            print(f'{"ok" if good else "FAILED":6} {name}: {runs} runs in {spent} s', flush=True)
            if not good:
                failed += 1
                print('\n'.join(said.splitlines()[-60:]), flush=True)
    print(f'{len(targets) - failed} passed, {failed} failed')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
