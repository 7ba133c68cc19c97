"""A user's own Dockerfile is built unchanged, and files that it will not find are reported."""

import unittest

import testbed
from testbed import autopack

IMAGE = 'autopack-tests/own:1'


class OwnDockerfile(unittest.TestCase):
    def tearDown(self):
        testbed.remove_images('autopack-tests/own')

    def build(self, files, dockerfile='Dockerfile', status=0, text=None):
        text = text or f'FROM {testbed.executor()}\nCOPY . /context\n'
        folder = testbed.write_tree({'src/a.py': 'print(1)\n', 'Dockerfile': text, **files})
        if dockerfile.startswith('/'):
            dockerfile = f'{folder}{dockerfile}'
        return autopack('build', f'--dockerfile={dockerfile}', '--no-push', f'--output-image-uri={IMAGE}', cwd=folder,
                        env=testbed.environment(XDG_CACHE_HOME=testbed.new_folder('cache')), status=status)

    def context(self):
        return {path for path in testbed.file_tree(IMAGE, below='/context')}

    def names(self):
        return ' '.join(sorted(str(path) for path in self.context()))

    def test_is_read_where_it_stands_however_it_is_named(self):
        for name in ('Dockerfile', './Dockerfile', '/Dockerfile', 'src/../Dockerfile'):
            with self.subTest(name=name):
                self.build({}, name)
                self.assertNotIn('.autopack', self.names())

    def test_a_file_of_the_project_does_not_stand_in_for_it(self):
        answer = self.build({'.autopack/Dockerfile': 'FROM scratch\nCOPY nowhere /\n', '.dockerignore': 'Dockerfile\n'})
        self.assertIn('.autopack/Dockerfile', self.names())
        self.assertIn('copies the whole context, and with it the Dockerfile', answer.err)

    def test_an_ignore_file_may_leave_nothing(self):
        for rule in ('*', '**'):
            with self.subTest(rule=rule):
                self.build({'.dockerignore': f'{rule}\n'}, text=f'FROM {testbed.executor()}\nRUN true\n')

    def test_what_a_rule_leaves_out_is_named_with_the_rule(self):
        for name, rule in (('venv', '**/venv'), ('.git', '**/.git'), ('data', 'da*')):
            with self.subTest(name=name):
                text = f'FROM {testbed.executor()}\nCOPY ["src", "/src/"]\nCOPY --chmod=644 {name} /there\n'
                answer = self.build({f'{name}/file': '', '.dockerignore': 'da*\n'}, text=text, status=2)
                self.assertIn(f'`Dockerfile` line 3 copies `{name}`, but the rule `{rule}` leaves it out', answer.err)

    def test_a_mode_that_is_not_kept_is_told(self):
        folder = testbed.write_tree({'Dockerfile': f'FROM {testbed.executor()}\nCOPY a.txt /\n', 'a.txt': ''})
        (folder / 'a.txt').chmod(0o600)
        answer = autopack('build', '--dockerfile=Dockerfile', '--no-push', f'--output-image-uri={IMAGE}', cwd=folder,
                          env=testbed.environment(XDG_CACHE_HOME=testbed.new_folder('cache')))
        self.assertIn('`a.txt`, which not everybody may read here', answer.err)
