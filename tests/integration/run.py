"""Runs the integration tests on real parts: a Docker Engine, a registry, an index, all on this machine.

    run.py --binary build/src/autopack [PATTERN...]

A PATTERN is a part of a test's name. The last line is `N passed, N failed`; a test that could not run failed.
"""

import pathlib
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'support'))
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import secret_watch  # noqa: E402
import testbed  # noqa: E402


class Result(unittest.TestResult):
    """Prints a line for each test as it ends, and failures in full."""

    def startTest(self, test):
        super().startTest(test)
        self.begin = time.monotonic()
        self.failed_subtests = 0

    def line(self, word, test, text=''):
        seconds = time.monotonic() - self.begin
        print(f'{word:6} {test.id()} ({seconds:.1f} s)', flush=True)
        if text:
            print(text.rstrip(), flush=True)

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


def all_tests(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from all_tests(item)
        else:
            yield item


def main():
    patterns = testbed.main_binary(sys.argv[1:])
    testbed.verbosity = 'debug'
    suite = unittest.TestSuite(
        test for test in all_tests(unittest.defaultTestLoader.discover(str(HERE), pattern='test_*.py'))
        if not patterns or any(pattern in test.id() for pattern in patterns))
    result = Result()
    suite.run(result)
    print(f'{secret_watch.texts_searched} texts were searched for {secret_watch.count()} secrets')
    showing = secret_watch.files_that_show(testbed.base_environment()['HOME'])
    for path in showing:
        print(f'FAILED {path} was left behind and holds a secret')
    failed = len(result.failures) + len(result.errors) + len(result.skipped) + len(showing)
    subtests = getattr(result, 'passed_subtests', 0)
    failed_tests = len({case.id().split(' ')[0] for case, _ in result.failures + result.errors + result.skipped})
    passed = max(0, result.testsRun - failed_tests) + subtests
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed or not result.testsRun else 0)


if __name__ == '__main__':
    main()
