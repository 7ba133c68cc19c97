"""Jobs that would certainly fail at their first line, or whose image no registry has, are not sent."""

import unittest

import testbed
from secret_watch import secret
from testbed import autopack
from vertex_server import VertexServer


class Refused(unittest.TestCase):
    """The executor image has numpy, and no yaml."""

    def setUp(self):
        self.api = VertexServer()
        self.addCleanup(self.api.close)
        token = testbed.write_tree({'token': secret('ya29.test')}) / 'token'
        self.env = testbed.environment(
            CLOUDSDK_CORE_PROJECT='test-project', CLOUDSDK_AI_REGION='us-central1',
            CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=token, CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=self.api.url)
        self.folder = testbed.write_tree({'train.py': 'import numpy\n'})
        self.target = testbed.image_name('refused')

    def submit(self, *flags, status=2, target=None, command='submit'):
        study = ['--metric=loss:minimize', '--parameter=rate:double:1e-3..1:log', '--max-trial-count=2']
        return autopack(command, '--display-name=refused', f'--executor-image-uri={testbed.executor()}', '--script=train.py',
                        f'--output-image-uri={target or self.target}', *(study if command == 'tune' else []), *flags,
                        cwd=self.folder, env=self.env, status=status)

    def write(self, text):
        (self.folder / 'train.py').write_text(text)

    def test_what_ends_at_its_first_line_is_refused_before_the_build(self):
        autopack('explain', f'--executor-image-uri={testbed.executor()}', '--script=train.py', cwd=self.folder, env=self.env)
        for text, what in (('def x(:\n', 'error: `train.py` line 1 is not valid Python'),
                           ('import numpyy\n', 'did you mean `numpy` by `numpyy`?'),
                           ('import yaml\n', 'hint: `--requirements=PyYAML`'),
                           ('%matplotlib inline\n', 'error: `train.py` line 1 is a command of a notebook'),
                           ('get_ipython().system("ls")\n', 'error: `train.py` line 1 calls `get_ipython()`')):
            self.write(text)
            ways = [('submit', ['--dry-run'])]
            if 'yaml' in text:
                ways += [('submit', []), ('tune', []), ('submit', ['--strict']), ('submit', ['--skip-checks=service'])]
            for command, flags in ways:
                with self.subTest(text=text, command=command, flags=flags):
                    answer = self.submit(*flags, command=command)
                    self.assertIn(what, answer.err)
                    self.assertIn('`--skip-checks=program` sends it anyway', answer.err)
                    self.assertEqual(answer.err.count('error: '), 1)
                    self.assertEqual(answer.out, '')
        sent = self.submit('--dry-run', '--skip-checks=program', status=0)
        self.assertIn(what.replace('error', 'warning'), sent.err)
        self.assertEqual(self.api.requests, [])
        self.assertEqual(testbed.images(self.target), [])

    def test_a_guarded_name_of_a_notebook_is_silent(self):
        self.write('try:\n    get_ipython()\nexcept NameError:\n    pass\n')
        self.assertNotIn('get_ipython', self.submit('--dry-run', status=0).err)

    def test_one_error_hides_no_other(self):
        self.write('import yaml\n')
        (self.folder / 'key.pem').write_text('-----BEGIN RSA PRIVATE KEY-----\n' + 'M' * 400 + '\n')
        for flags in ([], ['--dry-run'], ['--machine-type=none-such'], ['--requirements-file=gone.txt']):
            with self.subTest(flags=flags):
                answer = self.submit(*flags)
                self.assertIn('`key.pem` line 1 holds', answer.err)
                if flags != ['--requirements-file=gone.txt']:
                    self.assertIn('imports `yaml`', answer.err)

    def test_an_image_that_only_this_machine_has_is_refused(self):
        for flags in ([], ['--dry-run'], ['--output=docker']):
            with self.subTest(flags=flags):
                answer = self.submit(*flags, target='train')
                self.assertIn('error: `train` names no registry', answer.err)
                self.assertIn('--output-image-uri=us-central1-docker.pkg.dev/test-project/autopack/refused', answer.err)
                self.assertNotIn('Loaded', answer.err)
        image = self.submit('--dry-run', target='me/train:1', status=0).json()['image']
        self.assertEqual(image['uri'], 'me/train:1')
        self.assertEqual(self.api.requests, [])

    def test_a_ready_image_that_only_this_machine_has_is_refused(self):
        name = testbed.image_name('only-here') + ':1'
        testbed.docker('tag', testbed.executor(), name)
        pool = f'--worker-pool-spec=machine-type=n1-standard-4,container-image-uri={name}'
        answer = autopack('submit', '--display-name=refused', pool, env=self.env, cwd=self.folder, status=None)
        self.assertNotEqual(answer.status, 0)
        self.assertIn(f'error: there is no image `{name}`: its registry does not have it', answer.err)
        self.assertIn(f'hint: docker push {name}', answer.err)
        self.assertFalse([one for one in self.api.requests if 'customJobs' in str(one)])


if __name__ == '__main__':
    unittest.main()
