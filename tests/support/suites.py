"""Runs suites of a build directory and counts their test cases.

    suites.py [--name NAME] --count FILE BUILD SUITE...

Prints one line per suite, and the whole output of failures. Writes `PASSED FAILED` to the file, and below them a
line for each failure. Exit status 1 if anything failed. A suite without tests counts as failed.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

DOCTEST = re.compile(r'\[doctest\] test cases:\s*(\d+) \|\s*(\d+) passed \|\s*(\d+) failed')
FAILURE = re.compile(r'^(?:FAILED +(\S.*)|TEST CASE: +(\S.*))$', re.MULTILINE)
OWN = re.compile(r'^(\d+) passed, (\d+) failed$', re.MULTILINE)
COLOUR = re.compile(r'\x1b\[[0-9;]*m')


def count(test):
    """Returns the test cases of one meson test: its own count, else one."""
    text = COLOUR.sub('', test.get('stdout') or '')
    good = test['result'] in ('OK', 'EXPECTEDFAIL')
    said = DOCTEST.findall(text)
    pairs = [(int(passed), int(failed)) for _, passed, failed in said]
    pairs += [(int(passed), int(failed)) for passed, failed in OWN.findall(text)[-1:]]
    passed, failed = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    if good:
        return max(passed, 1) if not failed else passed, failed
    return passed, max(failed, 1)


def failures(test):
    """Returns the failures in a meson test, one a line: how it ended, and the names of the cases that it prints."""
    text = COLOUR.sub('', test.get('stdout') or '')
    names = dict.fromkeys(own or case for own, case in FAILURE.findall(text))
    return [f'{test["name"]}: {test["result"]}', *(f'{test["name"]}: {name}' for name in names)]


def run_suite(build, suite, label):
    begin = time.monotonic()
    log = build / 'meson-logs' / 'testlog.json'
    log.unlink(missing_ok=True)
    # Time limits are for two idle cores; a slow or busy machine is not a failure.
    times = '20' if os.environ.get('AUTOPACK_TESTS') == 'long' else '4'
    command = ['meson', 'test', '-C', str(build), '--no-rebuild', '--timeout-multiplier', times, '--suite', suite]
    outcome = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, check=False)
    tests = [json.loads(line) for line in log.read_text(encoding='utf-8').splitlines()] if log.exists() else []
    passed = failed = 0
    broken = []
    for test in tests:
        good, bad = count(test)
        passed, failed = passed + good, failed + bad
        if bad:
            broken.append(test)
    if not tests:
        failed = 1
    print(f'{label:20} {passed} passed, {failed} failed  ({time.monotonic() - begin:.1f} s)', flush=True)
    if not tests:
        print(outcome.stdout.decode(errors='replace').rstrip())
    for test in broken:
        print(f'--- {test["name"]}: {test["result"]}')
        print((test.get('stdout') or '').rstrip())
        print((test.get('stderr') or '').rstrip())
        print('---', flush=True)
    return passed, failed, [f'{label}: {line}' for test in broken for line in failures(test)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--name', default='', help='stands before the names of the suites')
    parser.add_argument('--count', type=pathlib.Path, required=True, help='where the two numbers go')
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('suites', nargs='+')
    arguments = parser.parse_args()
    passed = failed = 0
    broken = []
    for suite in arguments.suites:
        good, bad, names = run_suite(arguments.build, suite, f'{arguments.name} {suite}'.strip())
        passed, failed = passed + good, failed + bad
        broken += names
    arguments.count.write_text('\n'.join([f'{passed} {failed}', *broken, '']), encoding='utf-8')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
