"""Compares how versions, conditions and markers are read with Debian's python3-packaging, on generated cases.

    python_packaging.py --binary build/tests/python_facts

Newer releases of packaging do not order text, older ones order it by its letters: no case depends on it.
"""

import argparse
import itertools
import random
import subprocess
import sys

from packaging.markers import UndefinedComparison
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

SEED = 440
VARIABLES = {'os_name': 'posix', 'sys_platform': 'linux', 'platform_machine': 'x86_64', 'platform_system': 'Linux',
             'platform_python_implementation': 'CPython', 'implementation_name': 'cpython',
             'implementation_version': '3.11.2', 'python_version': '3.11', 'python_full_version': '3.11.2'}
OLD_NAMES = {'os.name': 'os_name', 'sys.platform': 'sys_platform', 'platform.machine': 'platform_machine',
             'python_implementation': 'platform_python_implementation'}
VERSION_VARIABLES = ('implementation_version', 'python_version', 'python_full_version')
TEXTS = ('linux', 'win32', 'darwin', 'posix', 'nt', 'x86_64', 'aarch64', 'CPython', 'PyPy', 'cpython', 'Linux', 'li', '')


class Cases:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def number(self):
        return self.random.choice(['0', '1', '2', '3', '9', '10', '11', '007', '20240131', str(self.random.randrange(40))])

    def separator(self):
        return self.random.choice(['', '', '.', '-', '_'])

    def some(self, text, chance=0.3):
        return text if self.random.random() < chance else ''

    def release(self, least=1):
        return '.'.join(self.number() for _ in range(self.random.choice([least, 2, 2, 3, 3, 4])))

    def public(self, least=1):
        pre = self.separator() + self.random.choice(['a', 'b', 'c', 'rc', 'alpha', 'beta', 'pre', 'preview', 'RC', 'A']) + \
            self.separator() + self.some(self.number(), 0.8)
        post = self.random.choice(['-' + self.number(), self.separator() + self.random.choice(['post', 'rev', 'r', 'Post']) +
                                   self.separator() + self.some(self.number(), 0.8)])
        dev = self.separator() + 'dev' + self.separator() + self.some(self.number(), 0.8)
        return self.some('v', 0.05) + self.some(self.number() + '!', 0.08) + self.release(least) + self.some(pre) + \
            self.some(post, 0.25) + self.some(dev, 0.2)

    def local(self):
        parts = [self.random.choice(['cpu', 'cu121', 'ubuntu', 'LOCAL', 'a1', self.number()]) for _ in range(self.random.choice([1, 1, 2]))]
        return '+' + self.random.choice('.-_').join(parts)

    def version(self):
        text = self.public() + self.some(self.local(), 0.15)
        if self.random.random() < 0.08:
            at = self.random.randrange(len(text) + 1)
            text = text[:at] + self.random.choice(['.', '-', 'x', '!', '+', ' ', '*', 'rc', 'dev', '1']) + text[at:]
        return text

    def near(self, text):
        """Often the very version, or one of the same release."""
        return self.random.choice([text, self.version(), text.split('+')[0], self.release(), '3.11', '3.11.2', '3.9', '3'])

    def condition(self, version):
        operator = self.random.choice(['==', '==', '!=', '<=', '>=', '<', '>', '~=', '==='])
        if operator in ('==', '!=') and self.random.random() < 0.4:
            return operator + self.some(' ') + self.release() + '.*'
        if operator == '~=':
            # packaging 23 reads other spellings incorrectly here.
            return operator + normal(self.public(2)).split('!')[-1]
        return operator + self.some(' ') + self.near(version)

    def conditions(self, version):
        return ','.join(self.some(' ') + self.condition(version) for _ in range(self.random.choice([1, 1, 1, 2, 3])))

    def comparison(self):
        name = self.random.choice([*VARIABLES, *OLD_NAMES, 'extra'])
        quote = self.random.choice('"\'')
        if name in VERSION_VARIABLES:
            operator = self.random.choice(['==', '!=', '<=', '>=', '<', '>', '~='])
            value = self.random.choice(['3', '3.8', '3.9', '3.10', '3.11', '3.11.2', '3.12', '3.11.0', '4.0', '3.11.2rc1'])
            if operator == '~=':
                value = self.random.choice(['3.8', '3.11', '3.11.0', '3.12'])
            if operator in ('==', '!=') and self.random.random() < 0.3:
                value += '.*' if 'rc' not in value else ''
        else:
            operator = self.random.choice(['==', '!=']) if name == 'extra' else self.random.choice(['==', '!=', 'in', 'not in'])
            value = self.random.choice(['gpu', 'My_Extra', 'dev']) if name == 'extra' else self.random.choice(TEXTS)
        sides = [name, quote + value + quote]
        # A version on the left of a wild card has no meaning.
        if self.random.random() < 0.15 and '*' not in value and operator != '~=':
            sides.reverse()
        space = self.random.choice(['', ' ']) if operator not in ('in', 'not in') else ' '
        return sides[0] + space + operator + space + sides[1]

    def marker(self, depth=0):
        if depth > 2 or self.random.random() < 0.5:
            return self.comparison()
        text = self.random.choice([' and ', ' or ']).join(self.marker(depth + 1) for _ in range(2))
        return f'({text})' if self.random.random() < 0.5 else text

    def broken(self, text):
        if self.random.random() > 0.1:
            return text
        at = self.random.choice([0, len(text), *(i for i, c in enumerate(text) if c == ' ')])
        return text[:at] + self.random.choice([' (', ') ', ' "', ' and ', ' x ']) + text[at:]


def normal(text):
    try:
        return str(Version(text))
    except InvalidVersion:
        return 'none'


def compared(a, b):
    try:
        return str((Version(a) > Version(b)) - (Version(a) < Version(b)))
    except InvalidVersion:
        return 'none'


def contained(conditions, version, prereleases):
    """Returns None if packaging fails on a valid input."""
    try:
        specifiers = SpecifierSet(conditions)
        candidate = Version(version)
    except (InvalidSpecifier, InvalidVersion):
        return 'none'
    try:
        return 'yes' if specifiers.contains(candidate, prereleases=prereleases) else 'no'
    except InvalidVersion:
        return None


def evaluated(marker, extra):
    """Returns None if packaging fails on a valid marker."""
    try:
        # Marker itself ignores text after the marker.
        return 'yes' if Requirement(f'x; {marker}').marker.evaluate(VARIABLES | {'extra': extra}) else 'no'
    except InvalidRequirement:
        return 'none'
    except (InvalidVersion, UndefinedComparison, KeyError):
        return None


def questions(cases):
    for _ in range(4000):
        text = cases.version()
        yield f'version\t{text}', normal(text)
    for _ in range(4000):
        a = cases.version()
        b = cases.near(a)
        yield f'compare\t{a}\t{b}', compared(a, b)
    for _ in range(6000):
        version = cases.version()
        conditions = cases.conditions(version)
        # The same for epochs, where release numbers are compared one by one.
        if '!' in version and ('~=' in conditions or '.*' in conditions):
            continue
        for kind, prereleases in (('contains', None), ('contains-pre', True)):
            expected = contained(conditions, version, prereleases)
            if expected:
                yield f'{kind}\t{conditions}\t{version}', expected
    values = '\t'.join(f'{name}={value}' for name, value in VARIABLES.items())
    for _ in range(4000):
        marker = cases.broken(cases.marker())
        extra = cases.random.choice(['', 'gpu', 'my-extra'])
        expected = evaluated(marker, extra)
        if expected:
            yield f'marker\t{marker}\t{values}' + (f'\textra={extra}' if extra else ''), expected


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--binary', required=True)
    asked, expected = zip(*questions(Cases(SEED)))
    answers = subprocess.run([parser.parse_args().binary], input='\n'.join(asked) + '\n', text=True, check=True,
                             stdout=subprocess.PIPE).stdout.splitlines()
    wrong = [(question, answer, wanted) for question, answer, wanted in itertools.zip_longest(asked, answers, expected)
             if answer != wanted]
    for question, answer, wanted in wrong[:20]:
        print(f'{question}: {answer}, not {wanted}')
    told = {kind: sum(1 for one in expected if one == kind) for kind in ('yes', 'no', 'none')}
    print(f'{len(asked)} questions, {len(wrong)} answered otherwise; {told}')
    if min(told.values()) < 500:
        sys.exit('the cases are too much alike')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
