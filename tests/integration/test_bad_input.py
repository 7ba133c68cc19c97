"""Bad input: each case with its status and the text of its message; nothing is sent, nothing is left."""

import json
import unittest
import urllib.request

import testbed
from secret_watch import secret
from testbed import autopack

TREE = {
    'trainer/__init__.py': '',
    'trainer/task.py': 'print("trained")\n',
    'tools/go.sh': 'echo go\n',
    'data.txt': 'rows\n',
}


def pool(**keys):
    """Returns `--worker-pool-spec` of a packaged pool; omits keys with the value None."""
    spec = {'machine-type': 'n1-standard-4', 'executor-image-uri': testbed.executor(), 'local-package-path': '.',
            'script': 'trainer/task.py'}
    spec.update({name.replace('_', '-'): value for name, value in keys.items()})
    return '--worker-pool-spec=' + ','.join(f'{name}={value}' for name, value in spec.items() if value is not None)


READY = '--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i'


class BadInput(unittest.TestCase):
    alone = True  # no other image or container may be created meanwhile

    @classmethod
    def setUpClass(cls):
        from vertex_server import VertexServer
        cls.api = VertexServer()
        cls.addClassCleanup(cls.api.close)
        cls.registry = testbed.start_registry()
        cls.token = testbed.write_tree({'token': secret('ya29.test')}) / 'token'
        cls.base = testbed.executor()

    def environment(self, **changes):
        values = {
            'CLOUDSDK_CORE_PROJECT': 'test-project',
            'CLOUDSDK_AI_REGION': 'us-central1',
            'CLOUDSDK_AUTH_ACCESS_TOKEN_FILE': self.token,
            'CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM': self.api.url,
        }
        return testbed.environment(AUTOPACK_VERBOSITY=None, **(values | changes))

    def refuse(self, name, arguments, fragments, *, status=2, files=(), removed=(), text=None, **changes):
        """One case: the command line, and fragments of the message."""
        with self.subTest(name):
            folder = testbed.write_tree(TREE | dict(files))
            for path in removed:
                (folder / path).unlink()
            before = testbed.tree_hash(folder)
            options = {} if text is None else {'input': text.encode()}
            answer = autopack(*arguments, cwd=folder, env=self.environment(**changes), status=status, **options)
            for fragment in [fragments] if isinstance(fragments, str) else fragments:
                self.assertIn(fragment, answer.err, answer)
            if '--check' not in arguments:
                self.assertEqual(answer.out, '', answer)
            self.assertNotIn('terminate called', answer.err)
            self.assertEqual(testbed.tree_hash(folder), before, 'the project changed')
            self.assertEqual(self.api.requests, [], 'something was sent')

    def in_the_engine(self):
        """Returns autopack's images and its containers."""
        return (testbed.images('autopack/') + testbed.images(self.registry),
                testbed.docker('ps', '-aq', '--filter', f'ancestor={self.base}'))

    def setUp(self):
        self.before = self.in_the_engine()

    def tearDown(self):
        catalog = json.load(urllib.request.urlopen(f'http://{self.registry}/v2/_catalog'))
        self.assertEqual(catalog['repositories'], [])
        self.assertEqual(self.in_the_engine(), self.before, 'an image or a container is left')

    def submit(self, name, flags, fragments, **options):
        target = {'output_image_uri': f'{self.registry}/team/model:t'}
        flags = [pool(**target) if flag is pool else flag for flag in flags]
        self.refuse(name, ['submit', '--display-name=bad', *flags], fragments, **options)

    def build(self, name, flags, fragments, **options):
        self.refuse(name, ['build', '--executor-image-uri', self.base, '--no-push', *flags], fragments, **options)

    def test_commands_and_flags(self):
        self.refuse('no such command', ['sumbit'], ['sumbit', 'submit'])
        self.refuse('no such flag', ['submit', '--regoin=us-central1', READY], ['--regoin', '--region'])
        self.refuse('a flag of local-run that gcloud hints at', ['build', '--base-imag=x'], '--base-imag')
        self.refuse('flag without its value', ['submit', '--display-name'], '--display-name')
        self.refuse('unexpected argument', ['build', 'trainer'], 'trainer')
        self.refuse('bad format', ['submit', READY, '--display-name=x', '--format=xml'], 'xml')
        self.refuse('bad progress', ['build', '--progress=fancy'], 'fancy')
        self.refuse('bad colour', ['build', '--color=blue'], 'blue')
        self.refuse('bad submitter', ['submit', READY, '--display-name=x', '--submitter=condor'], 'condor')
        self.refuse('directory of -C is absent', ['-C', 'nowhere', 'dockerfile'], 'nowhere')
        self.refuse('environment variable with a bad value', ['build', '--script=trainer/task.py'], 'purple',
                    AUTOPACK_COLOR='purple')

    def test_pools(self):
        self.submit('no pool at all', ['--no-infer'], '--worker-pool-spec')
        self.submit('empty first pool', ['--worker-pool-spec='], 'first')
        self.submit('unknown key', [pool(machine_typ='x')], ['machine-typ', 'machine-type'])
        self.submit('key without value', ['--worker-pool-spec=machine-type'], 'machine-type')
        self.submit('key twice', [READY + ',machine-type=n1-standard-8'], 'machine-type')
        self.submit('no machine type', [pool(machine_type=None)], 'machine-type')
        self.submit('replica count is a word', [pool(replica_count='two')], ['replica-count', 'two'])
        self.submit('replica count zero', [pool(replica_count=0)], 'replica-count')
        self.submit('replica count negative', [pool(replica_count=-1)], 'replica-count')
        self.submit('first pool with two replicas', [pool(replica_count=2)], 'replica')
        self.submit('unknown accelerator', [pool(accelerator_type='NVIDIA_TESLA_T5')],
                    ['NVIDIA_TESLA_T5', 'NVIDIA_TESLA_T4'])
        self.submit('count without accelerator', [pool(accelerator_count=1)], 'accelerator-type')
        self.submit('script and module', [pool(python_module='trainer.task')], ['script', 'python-module'])
        self.submit('neither script nor module', [pool(script=None)], ['script', 'python-module'])
        self.submit('package without a base', [pool(executor_image_uri=None)], 'executor-image-uri')
        self.submit('package and a ready image', [pool(container_image_uri='gcr.io/p/i')], 'container-image-uri')
        self.submit('second pool packages too', [pool(), pool()], 'local-package-path')
        self.submit('second pool has its own image', [pool(), READY], 'container-image-uri')
        self.submit('package in the second pool only', [READY, pool()], 'local-package-path')
        self.submit('module with a ready image', [READY + ',python-module=a.b'], 'python-module')
        self.submit('executor without a module',
                    ['--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri=gcr.io/p/i'], 'python-module')
        self.submit('requirements without a package', [READY + ',requirements=numpy'], 'requirements')

    def test_job_flags(self):
        self.refuse('no display name', ['submit', READY, '--display-name='], 'display')
        self.submit('unknown region', [READY, '--region=us-centrel1'], ['us-centrel1', 'us-central1'])
        self.submit('label with a capital', [READY, '--labels=Team=x'], 'Team')
        self.submit('label twice the length', [READY, '--labels=k=' + 'v' * 64], 'label')
        self.submit('service account that is none', [READY, '--service-account=foo'], ['--service-account', 'foo'])
        self.submit('key without its ring', [READY, '--kms-key=k'], 'kms')
        self.submit('bad timeout', [READY, '--timeout=soon'], ['timeout', 'soon'])
        self.submit('bad strategy', [READY, '--strategy=CHEAP'], 'CHEAP')
        self.submit('environment without a value', [READY, '--env=ONLY'], 'ONLY')
        self.submit('python packages on a ready image', [READY, '--python-package-uris=gs://b/p.tar.gz'],
                    'python-package-uris')
        self.submit('more pools than replicas here', [pool(), '--worker-pool-spec=machine-type=n1-standard-4',
                                                      '--submitter=local', '--max-replicas=1'], '2 pools')

    def test_configuration_files(self):
        def config(name, text, fragments, **options):
            self.submit(name, ['--config=-'], fragments, text=text, **options)

        good = 'workerPoolSpecs:\n- machineSpec: {machineType: n1-standard-4}\n  containerSpec: {imageUri: gcr.io/p/i}\n'
        self.submit('file is absent', ['--config=job.yaml'], 'job.yaml')
        config('empty', '', 'empty')
        config('not YAML', 'workerPoolSpecs: [\n', 'line')
        config('a list', '- 1\n', 'mapping')
        config('unknown key', good + 'schedulling: {}\n', ['schedulling', 'scheduling'])
        config('unknown nested key', good.replace('imageUri', 'imageUrl'), ['imageUrl', 'imageUri'])
        config('wrong type', good.replace('machineType: n1-standard-4', 'machineType: [5]'), 'machineType')
        config('bad enum', good + 'scheduling: {strategy: NOPE}\n', 'NOPE')
        config('key twice', good + 'network: a\nnetwork: b\n', 'network')
        config('both spellings of a key', good + 'baseOutputDirectory: {outputUriPrefix: gs://b}\n'
               'base_output_directory: {outputUriPrefix: gs://c}\n', ['baseOutputDirectory', 'twice'])
        config('no pools', 'network: projects/1/global/networks/n\n', 'worker pool')
        config('two kinds of work in one pool', good + '  pythonPackageSpec: {pythonModule: a}\n', ['workerPoolSpecs[0]', 'Python package'])

    def test_entry_points(self):
        self.build('script is absent', ['--script=trainer/tusk.py'], 'trainer/tusk.py')
        self.build('module is absent', ['--python-module=trainer.tusk'], 'trainer.tusk')
        self.build('package without __main__.py', ['--python-module=trainer'], '__main__.py')
        self.build('module with a dash', ['--python-module=trainer.my-task'], 'my-task')
        self.build('script is a directory', ['--script=trainer'], 'trainer')
        self.build('script leaves the directory', ['--script=../task.py'], '../task.py')
        self.build('absolute script', ['--script=/etc/passwd'], '/etc/passwd')
        self.build('neither', ['--no-infer'], ['--script', '--python-module'])
        self.build('both', ['--script=trainer/task.py', '--python-module=trainer.task'], ['`script`', '`python-module`'])
        self.build('directory is absent', ['--local-package-path=nowhere', '--script=task.py'], 'nowhere')
        self.build('script is ignored', ['--script=trainer/task.py'], ['.dockerignore', 'trainer'],
                   files={'.dockerignore': '# ours\ntrainer\n'})

    def test_dependencies(self):
        entry = '--script=trainer/task.py'
        self.build('extra package is absent', [entry, '--extra-packages=lib-1.whl'], 'lib-1.whl')
        self.build('extra directory is absent', [entry, '--extra-dirs=configs'], 'configs')
        self.build('included file is absent', [entry], ['more.txt', 'requirements.txt'],
                   files={'requirements.txt': 'numpy\n-r more.txt\n'})
        self.build('constraint file is absent', [entry], 'limits.txt', files={'requirements.txt': '-c limits.txt\n'})
        self.build('files include each other', [entry], 'requirements.txt',
                   files={'requirements.txt': '-r more.txt\n', 'more.txt': '-r requirements.txt\n-r gone.txt\n'})
        self.build('local wheel is absent', [entry], 'x-1-py3-none-any.whl',
                   files={'requirements.txt': './x-1-py3-none-any.whl\n'})
        self.build('requirement leaves the directory', [entry], '../lib', files={'requirements.txt': '../lib\n'})
        self.build('requirements file is ignored', [entry], ['.dockerignore', 'requirements.txt'],
                   files={'requirements.txt': 'numpy\n', '.dockerignore': '*.txt\n'})
        self.build('pyproject is no TOML', [entry], 'pyproject.toml', files={'pyproject.toml': '[project\n'})

    def test_names_of_images(self):
        entry = '--script=trainer/task.py'
        for name, reference in (
                ('capital letters', 'gcr.io/p/Model'), ('a digest', 'gcr.io/p/m@sha256:' + '0' * 64),
                ('an empty component', 'gcr.io//m'), ('a bad tag', 'gcr.io/p/m:a b'), ('a scheme', 'http://gcr.io/p/m')):
            self.build('output with ' + name, [entry, f'--output-image-uri={reference}'], reference)
        self.refuse('base with a line feed',
                    ['build', '--executor-image-uri=python:3\nRUN id', entry, '--no-push'], ['RUN id', 'is not an image name'])
        self.refuse('base with capital letters', ['build', '--executor-image-uri=Python:3', entry, '--no-push'],
                    'Python:3')
        self.build('platform that is none', [entry, '--platform=pc'], 'pc')
        self.build('engine that is none', [entry, '--engine=crane'], 'crane')
        self.build('system package that is none', [entry, '--system-packages=a b;c'], 'a b')

    def test_dockerfiles(self):
        self.refuse('own Dockerfile is absent', ['build', '--dockerfile=Dockerfile.gpu', '--no-push'], 'Dockerfile.gpu')
        self.refuse('own Dockerfile with an entry',
                    ['build', '--dockerfile=Dockerfile', '--script=trainer/task.py', '--no-push'], ['`script`', 'Dockerfile'],
                    files={'Dockerfile': f'FROM {self.base}\n'})
        self.refuse('own Dockerfile with an unknown instruction', ['build', '--dockerfile=Dockerfile', '--no-push'],
                    'BOGUS', files={'Dockerfile': f'FROM {self.base}\nBOGUS x\n'})
        self.refuse('own Dockerfile without FROM', ['build', '--dockerfile=Dockerfile', '--no-push'],
                    'no build stage', files={'Dockerfile': 'RUN true\n'})
        self.refuse('own Dockerfile copies what is not there', ['build', '--dockerfile=Dockerfile', '--no-push'],
                    'gone.txt', files={'Dockerfile': f'FROM {self.base}\nCOPY gone.txt /\n'})
        self.refuse('check against an absent file',
                    ['dockerfile', '--executor-image-uri', self.base, '--script=trainer/task.py', '--check', 'Docked'],
                    'Docked')
        self.build('templates that are absent', ['--script=trainer/task.py', '--templates=nowhere'], 'nowhere')


class ErrorsAsJson(unittest.TestCase):
    def test_an_error_is_an_object_on_stdout_when_asked(self):
        folder = testbed.write_tree(TREE)
        answer = autopack('build', '--executor-image-uri', testbed.executor(), '--script=gone.py', '--no-push',
                          '--format=json', cwd=folder, status=2)
        error = answer.json()['error']
        self.assertEqual(sorted(error), ['causes', 'hints', 'kind', 'message'])
        self.assertIn('gone.py', json.dumps(error))

    def test_all_findings_come_at_once(self):
        folder = testbed.write_tree(TREE)
        answer = autopack('build', '--executor-image-uri', testbed.executor(), '--script=gone.py', '--no-push',
                          '--extra-dirs=absent', '--extra-packages=lost.whl', cwd=folder, status=2)
        for name in ('gone.py', 'absent', 'lost.whl'):
            self.assertIn(name, answer.err)
