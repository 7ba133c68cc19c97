"""The request that `submit --dry-run` prints equals the golden one, and gcloud's if its recorded runs are available."""

import json
import os
import pathlib
import re
import unittest

import testbed
from testbed import autopack

GOLDEN = testbed.ROOT / 'tests/golden/bodies'
ORACLE = pathlib.Path(os.environ.get('AUTOPACK_ORACLE') or testbed.ROOT.parent / 'shared/oracle')
TREE = {'task.py': '', 't.py': '', 'conf/a': '', 'trainer/__init__.py': '', 'trainer/task.py': ''}


def without_tags(body):
    """We add a tag to a packaged image named without one; gcloud omits it."""
    return json.loads(re.sub(r'"(127\.0\.0\.1:\d+/[^":]+):[^"]*"', r'"\1"', json.dumps(body)))


LISTS = ('requirements', 'extra-packages', 'extra-dirs')


def by_flags(argv):
    """Returns the command line with the keys of its only pool as flags; None if it has several, or one that flags
    package."""
    specs = [argument.partition('=')[2] for argument in argv if argument.startswith('--worker-pool-spec=')]
    if len(specs) != 1 or specs[0].startswith('^') or any(argument.startswith('--config') for argument in argv):
        return None
    pool = dict(part.partition('=')[::2] for part in specs[0].split(','))
    packages = any(argument.startswith('--python-package-uris') for argument in argv)
    if 'local-package-path' not in pool and 'executor-image-uri' in pool and not packages:
        return None
    flags = [f'--{key}={value.replace(";", ",") if key in LISTS else value}' for key, value in pool.items()]
    return [argument for argument in argv if not argument.startswith('--worker-pool-spec=')] + flags


COMMANDS = {'custom-jobs': 'submit', 'hp-tuning-jobs': 'tune'}


class Bodies(unittest.TestCase):
    def check_case(self, recorded, expected):
        """`argv` is gcloud's command line, or ours; for `submit`, only its flags."""
        argv = recorded['argv']
        if argv[0] == 'ai':
            argv = [COMMANDS[argv[1]], *argv[3:]]
        command, *flags = ['submit', *argv] if argv[0].startswith('-') else argv
        files = TREE | {f'proj/p1/{name}': text for name, text in TREE.items()} | recorded.get('config_file', {})
        folder = testbed.write_tree(files)
        environment = testbed.environment(CLOUDSDK_CORE_PROJECT='test-project')
        status = 0 if expected else 2
        answer = autopack(command, '--dry-run', *flags, cwd=folder, env=environment, status=status)
        if expected:
            self.assertEqual(without_tags(answer.json()['request']['body']), without_tags(expected))

    def test_golden_requests(self):
        for path in sorted(GOLDEN.glob('*.json')):
            with self.subTest(path.name):
                recorded = json.loads(path.read_text())
                self.check_case(recorded, recorded['body'])

    def test_gcloud_requests(self):
        for path in sorted(ORACLE.glob('gcloud/*.json')):
            recorded = json.loads(path.read_text())
            if recorded['argv'][1] not in COMMANDS or recorded['argv'][2] != 'create':
                continue
            with self.subTest(path.name):
                requests = recorded['requests']
                self.check_case(recorded, requests[0]['body'] if requests else None)
                flags = by_flags(recorded['argv'])
                if requests and flags:
                    self.check_case(recorded | {'argv': flags}, requests[0]['body'])
