"""Runs the integration tests on real parts: a Docker Engine, a registry, an index, all on this machine.

    run.py --binary build/src/autopack [--lanes N] [--part alone|shared] [--record FILE] [--kubernetes KUBECONFIG]
        [PATTERN...]

A PATTERN is a part of a test's name, also of one that the daily form leaves out. The last line is `N passed, N failed`; a
test that could not run failed.
With --lanes the classes of tests are shared among N processes, because tests wait more than they work. A class with
`alone = True` affects the whole machine: it runs before the lanes start. --part selects these classes, or all others.
The classes that took longest start first, so that all lanes end at the same time: seconds.json contains their times,
and --record writes it.
The tests of jobs on Kubernetes use a stand-in; with --kubernetes they use the cluster of the kubeconfig
(kubernetes_cluster.py says what it needs).
"""

import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'support'))
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import secret_watch  # noqa: E402
import testbed  # noqa: E402

TICKET = struct.Struct('=I')
SECONDS = HERE / 'seconds.json'


class Result(unittest.TestResult):
    """Prints a line for each test as it ends, and failures in full."""

    def startTest(self, test):
        super().startTest(test)
        self.begin = time.monotonic()
        self.failed_subtests = 0

    def line(self, word, test, text=''):
        seconds = time.monotonic() - self.begin
        # In one piece, because lanes share the output.
        sys.stdout.write(f'{word:6} {test.id()} ({seconds:.1f} s)\n' + (text.rstrip() + '\n' if text else ''))
        sys.stdout.flush()

    def addSuccess(self, test):
        super().addSuccess(test)
        if not self.failed_subtests:
            self.line('ok', test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line('FAILED', test, self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.begin = getattr(self, 'begin', time.monotonic())
        self.line('FAILED', test, self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.failed_subtests += 1
            self.line('FAILED', subtest, self._exc_info_to_string(err, test))
        else:
            self.passed_subtests = getattr(self, 'passed_subtests', 0) + 1

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line('FAILED', test, f'skipped: {reason}')

    def counts(self):
        failed = len(self.failures) + len(self.errors) + len(self.skipped)
        failed_tests = len({case.id().split(' ')[0] for case, _ in self.failures + self.errors + self.skipped})
        return max(0, self.testsRun - failed_tests) + getattr(self, 'passed_subtests', 0), failed


def all_tests(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from all_tests(item)
        else:
            yield item


def is_wanted(test, patterns):
    if patterns:
        return any(pattern in test.id() for pattern in patterns)
    return testbed.FORM != 'daily' or not hasattr(getattr(test, test._testMethodName, None), 'covered_by')


def classes(patterns):
    """Returns the requested tests, by class; the same in each process."""
    found = {}
    for test in all_tests(unittest.defaultTestLoader.discover(str(HERE), pattern='test_*.py')):
        if is_wanted(test, patterns):
            found.setdefault(f'{type(test).__module__}.{type(test).__qualname__}', []).append(test)
    seconds = json.loads(SECONDS.read_text(encoding='utf-8')) if SECONDS.exists() else {}
    # A class that was never recorded could take long.
    return sorted(found.items(), key=lambda item: (-seconds.get(item[0], float('inf')), item[0]))


def is_alone(tests):
    return getattr(tests[0], 'alone', False)


def tickets(queue):
    """Reads numbers of classes from the pipe that all lanes share, until it is empty and closed."""
    while ticket := os.read(queue, TICKET.size):
        yield TICKET.unpack(ticket)[0]


def run_classes(every, result):
    """Runs the classes of tests one after another; returns how many seconds each took."""
    seconds = {}
    for name, tests in every:
        begin = time.monotonic()
        unittest.TestSuite(tests).run(result)
        seconds[name] = time.monotonic() - begin
    return seconds


def take_part(number, queue, report, every):
    """A lane: runs the classes whose tickets it gets, and writes its counts and their seconds to `report`."""
    testbed.number_from(number * 100_000 + 1)
    result = Result()
    seconds = run_classes((every[ticket] for ticket in tickets(queue)), result)
    pathlib.Path(report).write_text(json.dumps([*finish(result), seconds]), encoding='utf-8')


def finish(result):
    """Returns the counts of passed and failed, with the result of the watch for secrets."""
    passed, failed = result.counts()
    print(f'{secret_watch.texts_searched} texts were searched for {secret_watch.count()} secrets')
    showing = secret_watch.files_that_show(testbed.base_environment()['HOME'])
    for path in showing:
        print(f'FAILED {path} was left behind and holds a secret')
    return passed, failed + len(showing)


def run_lanes(count, every, arguments):
    """Shares classes among `count` processes; returns passed and failed, and how many seconds each class took."""
    # Once, not in each lane.
    testbed.pushed_executor('executor:1')
    os.environ[testbed.SHARED_REGISTRY] = ' '.join(map(str, testbed.registry_and_folder()))
    reading, writing = os.pipe()
    os.write(writing, b''.join(map(TICKET.pack, range(len(every)))))
    os.close(writing)
    passed, failed, seconds = 0, 0, {}
    with tempfile.TemporaryDirectory(prefix='autopack-lanes-') as folder:
        reports = [pathlib.Path(folder) / str(number) for number in range(1, count + 1)]
        lanes = [subprocess.Popen([sys.executable, __file__, *arguments, '--lane', str(number), str(reading), str(report)],
                                  stdin=subprocess.DEVNULL, pass_fds=[reading])
                 for number, report in enumerate(reports, 1)]
        os.close(reading)
        for number, (lane, report) in enumerate(zip(lanes, reports, strict=True), 1):
            lane.wait()
            if not report.exists():
                print(f'FAILED lane {number} ended with {lane.returncode}')
            good, bad, took = json.loads(report.read_text(encoding='utf-8')) if report.exists() else (0, 1, {})
            passed, failed = passed + good, failed + bad
            seconds |= took
    return passed, failed, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--binary', required=True)
    parser.add_argument('--lanes', type=int, default=1)
    parser.add_argument('--part', choices=['alone', 'shared'])
    parser.add_argument('--record', type=pathlib.Path, metavar='FILE')
    parser.add_argument('--kubernetes', type=pathlib.Path, metavar='KUBECONFIG')
    parser.add_argument('--lane', nargs=3, help=argparse.SUPPRESS)
    parser.add_argument('patterns', nargs='*')
    given = parser.parse_args()
    if given.kubernetes:
        os.environ['AUTOPACK_TESTS_KUBERNETES'] = str(given.kubernetes.resolve())
    testbed.set_binary(given.binary)
    testbed.verbosity = 'debug'
    every = classes(given.patterns)
    shared = [item for item in every if not is_alone(item[1])]
    if given.lane:
        number, queue, report = given.lane
        take_part(int(number), int(queue), report, shared)
        return
    here = [item for item in every if is_alone(item[1])] if given.part != 'shared' else []
    if given.lanes == 1 and given.part != 'alone':
        here += shared
    result = Result()
    seconds = run_classes(here, result)
    passed, failed = finish(result)
    if given.lanes > 1 and given.part != 'alone':
        good, bad, took = run_lanes(given.lanes, shared, ['--binary', given.binary, *given.patterns])
        passed, failed, seconds = passed + good, failed + bad, seconds | took
    if given.record:
        rounded = {name: round(took, 1) for name, took in sorted(seconds.items())}
        given.record.write_text(json.dumps(rounded, indent=1) + '\n', encoding='utf-8')
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed or not passed else 0)


if __name__ == '__main__':
    main()
