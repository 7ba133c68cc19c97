"""The projects of tests/corpus, each built and run as its file of expectations says (tests/corpus/README.md)."""

import os
import re
import shutil
import unittest

import bases
import corpus_wheels
import testbed
import yaml
from testbed import autopack

LONG = testbed.FORM == 'long'
CORPUS = testbed.ROOT / 'tests' / 'corpus'
KEYS = {'trait', 'prepare', 'start', 'arguments', 'bases', 'prints', 'status', 'says', 'explains', 'refused', 'fails', 'nightly'}


class Expected:
    """The contents of a project's file of expectations."""

    def __init__(self, path):
        self.name = path.stem
        self.folder = path.with_suffix('')
        values = yaml.safe_load(path.read_text(encoding='utf-8'))
        unknown = set(values) - KEYS
        if unknown or not self.folder.is_dir():
            raise ValueError(f'{path}: {unknown or "no such project"}')
        self.start = values['start']
        self.prepare = values.get('prepare', '')
        self.arguments = values.get('arguments', [])
        chosen = values.get('bases', 'all' if LONG else 'debian')
        every = bases.KINDS if chosen == 'all' else chosen.split()
        # The daily form uses one base, a different one for each project that names all.
        first = sum(map(ord, self.name)) % len(every) if chosen == 'all' else 0
        self.bases = every[first:first + 1] if testbed.FORM == 'daily' else every
        self.prints, self.says = values.get('prints', []), values.get('says', [])
        self.explains, self.refused = values.get('explains', []), values.get('refused', [])
        self.nightly = values.get('nightly', '')
        self.fails, self.status = values.get('fails', []), values.get('status', 0)


def checkout(expected):
    """Returns a copy of the project as its author has it."""
    folder = testbed.new_folder(expected.name) / expected.name
    shutil.copytree(expected.folder, folder, symlinks=True)
    home = {'GIT_CONFIG_GLOBAL': os.devnull, 'GIT_CONFIG_SYSTEM': os.devnull}
    testbed.run(['bash', '-euc', expected.prepare], cwd=folder,
                env=testbed.environment(WHEELS=corpus_wheels.packed(), **home))
    return folder


def warnings(text):
    return re.findall(r'^warning: .*', text, re.M)


class Corpus(unittest.TestCase):
    maxDiff = 4000

    def call(self, command, expected, base, *more, **options):
        environment = testbed.environment(PIP_INDEX_URL=corpus_wheels.index().url, AUTOPACK_VERBOSITY=None)
        return autopack(command, '--executor-image-uri', bases.base(base), '--build-network=host', *expected.start,
                        *more, cwd=self.folder, env=environment, **options)

    def check(self, expected, base):
        self.folder = checkout(expected)
        self.addCleanup(testbed.remove_images_later, f'autopack/{expected.name}')
        runs = self.scans if expected.nightly and testbed.FORM == 'daily' else self.runs
        check = self.refused if expected.refused else self.fails if expected.fails else runs
        check(expected, base)

    def scans(self, expected, base):
        """What is known without a build; the nightly form builds it."""
        said = self.call('explain', expected, base)
        for text in expected.explains:
            self.assertIn(text, said.out)
        if not expected.says:
            self.assertEqual(warnings(said.err), [])

    def runs(self, expected, base):
        # The program's own output is not autopack's.
        told = self.call('build', expected, base).err
        for text in expected.says:
            self.assertIn(text, told)
        if not expected.says:
            self.assertEqual(warnings(told), [])
        for text in expected.explains:
            self.assertIn(text, self.call('explain', expected, base).out)
        more = ['--', *expected.arguments] if expected.arguments else []
        answer = self.call('run', expected, base, *more, status=expected.status)
        for text in expected.prints:
            self.assertIn(text, answer.out, answer)

    def refused(self, expected, base):
        """Every command that would start it reports this before anything is built."""
        for command, flags in (('explain', ['--check']), ('build', [])):
            answer = self.call(command, expected, base, *flags, status=None)
            self.assertNotEqual(answer.status, 0, answer)
            for text in expected.refused:
                self.assertIn(text, answer.err, answer)
            self.assertNotRegex(answer.err, r'(?m)^Step |pip install', answer)

    def fails(self, expected, base):
        """The failure is reported with its remedy before the build that would fail."""
        builds = [] if expected.nightly and testbed.FORM == 'daily' else ['build']
        for command in ('explain', *builds):
            answer = self.call(command, expected, base, status=None)
            for text in expected.fails:
                self.assertIn(text, answer.err, answer)
        if builds:
            self.assertNotEqual(answer.status, 0, answer)


# Three classes, because a lane runs a class from its beginning to its end, and one would outlast all others.
SHARES = [type(f'Corpus{number}', (Corpus,), {'__module__': __name__}) for number in range(1, 4)]
globals().update((share.__name__, share) for share in SHARES)


def add_test(share, expected, base):
    name = f'test_{expected.name.replace("-", "_")}_on_{base}'
    setattr(share, name, lambda self: self.check(expected, base))


EVERY = [Expected(file) for file in sorted(set(CORPUS.glob('*.yaml')) - {CORPUS / 'starts.yaml'})]
for place, project in enumerate(EVERY):
    for kind in project.bases:
        add_test(SHARES[place % len(SHARES)], project, kind)
