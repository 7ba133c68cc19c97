"""No secret in any output at -vv: every command with every kind of credentials, in success and failure.

The search itself is in testbed.run: all output of a program is compared with all secrets of the run. The tests here
make the programs print as much as possible.
"""

import base64
import itertools
import json
import pathlib
import re
import subprocess
import unittest

import secret_watch
import testbed
from echo_server import EchoServer
from google_services import APIS, GoogleServices
from secret_watch import secret
from testbed import autopack
from vertex_server import VertexServer

POOL = '--worker-pool-spec=machine-type=n1-standard-4,container-image-uri='
READY = ['--display-name=ready', POOL + 'gcr.io/p/i:v1']
STUDY = ['--metric=loss:minimize', '--parameter=rate:double:1e-3..1:log']
NAME = 'projects/test-project/locations/us-central1/customJobs/7'
EMAIL = 'robot@p.iam.gserviceaccount.com'
OF_SERVICES = {
    'submit': ['submit', *READY, '--skip-checks'],
    'submit after checks': ['submit', *READY, f'--service-account={EMAIL}', '--base-output-dir=gs://out/x'],
    'submit and watch': ['submit', *READY, '--skip-checks', '--wait', '--stream-logs', '--polling-interval=1'],
    'submit as JSON': ['submit', *READY, '--format=json'],
    'submit, dry': ['submit', *READY, '--dry-run'],
    'pipeline': ['submit', *READY, '--as=training-pipeline'],
    'tune': ['tune', *READY, *STUDY],
    'list': ['jobs', 'list'],
    'describe': ['jobs', 'describe', NAME],
    'cancel': ['jobs', 'cancel', NAME],
    'logs': ['jobs', 'stream-logs', NAME],
    'doctor': ['doctor', *READY, f'--service-account={EMAIL}', '--base-output-dir=gs://out/x'],
    'doctor as JSON': ['doctor', *READY, '--format=json'],
}


def key_pair():
    folder = testbed.new_folder('keys')
    key, public = folder / 'key.pem', folder / 'public.pem'
    subprocess.run(['openssl', 'genpkey', '-algorithm', 'RSA', '-out', key], check=True, capture_output=True)
    subprocess.run(['openssl', 'pkey', '-in', key, '-pubout', '-out', public], check=True, capture_output=True)
    return key, public


class Watch(unittest.TestCase):
    """The search finds secrets; otherwise the other tests would prove nothing."""

    def test_every_way_to_write_a_secret_is_found(self):
        word = secret('word')
        pair = f'user:{word}'.encode()
        for text in (word, f'<{word}>', json.dumps({'a': [word]}), f'http://u:{word}@host/', word.encode().hex(),
                     base64.b64encode(pair).decode(), base64.b64encode(b'x' + pair + b'and more').decode(),
                     base64.urlsafe_b64encode(b'xy' + pair).decode(), base64.b64encode(word.encode()).decode()):
            with self.subTest(text), self.assertRaises(secret_watch.Leak):
                secret_watch.require_none('the test', text)
        odd = secret_watch.register('a/b+c d%e"f' + word, 'an odd one')
        for text in ('a%2Fb%2Bc%20d%25e%22f', 'a%2Fb%2Bc+d%25e%22f', 'a%252Fb%252Bc%2520d%2525e%2522f', 'a/b+c d%e\\"f'):
            with self.subTest(text), self.assertRaises(secret_watch.Leak):
                secret_watch.require_none('the test', text + word)
        self.assertEqual(secret_watch.found_in(odd[:-10] + word[:-4] + base64.b64encode(b'user:').decode()), [])

    def test_lines_of_a_key_are_found(self):
        key, _ = key_pair()
        file = testbed.write_tree({'key.json': json.dumps({'private_key': key.read_text()})}) / 'key.json'
        secret_watch.given({'GOOGLE_APPLICATION_CREDENTIALS': str(file)})
        self.assertEqual(secret_watch.found_in('-----BEGIN PRIVATE KEY-----'), [])
        self.assertEqual(secret_watch.found_in(key.read_text().split('\n')[9]), ['`private_key` of `key.json`'])

    def test_a_program_that_shows_one_fails(self):
        word = secret('shown')
        for variables in ({'PIP_INDEX_URL': f'http://robot:{word}@127.0.0.1/simple'},
                          {'DOCKER_AUTH_CONFIG': json.dumps({'auths': {'a': {'password': word}}})},
                          {'AWS_SECRET_ACCESS_KEY': word}):
            with self.subTest(str(list(variables))), self.assertRaises(secret_watch.Leak):
                testbed.run(['sh', '-c', 'env | base64 -w0 >&2'], env=testbed.environment(**variables))


class WithCredentials(unittest.TestCase):
    """Every kind of credentials file and source, each with its own secrets."""

    @classmethod
    def setUpClass(cls):
        cls.key, cls.public = key_pair()

    def user(self):
        return {'type': 'authorized_user', 'client_id': 'id', 'client_secret': secret('client-secret'),
                'refresh_token': secret('refresh-token')}

    def service_account(self, tokens):
        return {'type': 'service_account', 'client_email': EMAIL, 'private_key_id': '1', 'private_key': self.key.read_text(),
                'token_uri': f'{tokens}token', 'project_id': 'p'}

    def external(self, tokens, source, **more):
        return {'type': 'external_account', 'audience': '//iam.googleapis.com/projects/1/locations/global/'
                'workloadIdentityPools/p/providers/q', 'subject_token_type': 'urn:ietf:params:oauth:token-type:jwt',
                'token_url': f'{tokens}v1/token', 'credential_source': source} | more

    def file(self, content):
        return {'GOOGLE_APPLICATION_CREDENTIALS': testbed.write_tree({'adc.json': json.dumps(content)}) / 'adc.json'}

    def program(self, text):
        path = testbed.write_tree({'program': f'#!/bin/sh\n{text}\n'}) / 'program'
        path.chmod(0o755)
        return path

    def kinds(self, tokens):
        """Returns name -> the environment with these credentials; tokens come from the server at `tokens`."""
        subject = secret('subject')
        subjects = testbed.write_tree({'subject': subject, 'subject.json': json.dumps({'id_token': subject})})
        answer = json.dumps({'version': 1, 'success': True, 'id_token': secret('subject'),
                             'token_type': 'urn:ietf:params:oauth:token-type:id_token'})
        impersonation = f'{tokens}v1/projects/-/serviceAccounts/{EMAIL}:generateAccessToken'
        gcloud = secret('ya29.gcloud')
        config = testbed.write_tree({'bin/gcloud': '#!/bin/sh\necho \'{"credential": {"access_token": "' + gcloud +
                                     '", "token_expiry": "2999-01-01T00:00:00Z"}}\'\n'})
        (config / 'bin/gcloud').chmod(0o755)
        return {
            'access token file': {'CLOUDSDK_AUTH_ACCESS_TOKEN_FILE': testbed.write_tree({'t': secret('ya29.file')}) / 't'},
            'user': self.file(self.user()),
            'service account': self.file(self.service_account(tokens)),
            'self-signed': self.file(self.service_account(tokens)) | {'CLOUDSDK_AUTH_SERVICE_ACCOUNT_USE_SELF_SIGNED_JWT': 'true'},
            'external, file': self.file(self.external(tokens, {'file': str(subjects / 'subject.json'), 'format': {
                'type': 'json', 'subject_token_field_name': 'id_token'}}, client_id='id', client_secret=secret('client-secret'))),
            'external, URL': self.file(self.external(tokens, {'url': f'{tokens}subject', 'headers': {
                'X-Api-Key': secret('api-key')}})),
            'external, program': self.file(self.external(tokens, {'executable': {
                'command': str(self.program(f"echo '{answer}'"))}}, service_account_impersonation_url=impersonation)) | {
                    'GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES': '1'},
            'external, AWS': self.file(self.external(tokens, {
                'environment_id': 'aws1', 'regional_cred_verification_url': 'https://sts.{region}.amazonaws.com/?a=b'},
                subject_token_type='urn:ietf:params:aws:token-type:aws4_request')) | {
                    'AWS_ACCESS_KEY_ID': 'AKID', 'AWS_SECRET_ACCESS_KEY': secret('aws-key'),
                    'AWS_SESSION_TOKEN': secret('aws-session'), 'AWS_REGION': 'us-east-2'},
            'workforce user': self.file({**self.user(), 'type': 'external_account_authorized_user',
                                         'token_url': f'{tokens}v1/oauthtoken'}),
            'impersonated': self.file({'type': 'impersonated_service_account', 'service_account_impersonation_url': impersonation,
                                       'source_credentials': self.user()}),
            'gcloud': {'CLOUDSDK_CONFIG': config, 'AUTOPACK_ACCOUNT': 'me@example.org',
                       'PATH': f'{config}/bin:{testbed.environment()["PATH"]}'},
            'metadata': {'NO_GCE_CHECK': None, 'GCE_METADATA_HOST': tokens.split('/')[2], 'CLOUDSDK_CONFIG': config},
        }

    def environment(self, credentials, tokens, services):
        """Returns `credentials`, tokens from one server, services at another; no token of another run."""
        overrides = {f'CLOUDSDK_API_ENDPOINT_OVERRIDES_{api}': services for api in (*APIS, 'AIPLATFORM', 'LOGGING')}
        docker = {'auths': {'us-central1-docker.pkg.dev': {'username': 'me', 'password': secret('docker-password')}}}
        folder = testbed.write_tree({'config.json': json.dumps(docker)})
        return testbed.environment(**{
            'CLOUDSDK_CORE_PROJECT': 'test-project', 'CLOUDSDK_AI_REGION': 'us-central1', 'DOCKER_CONFIG': folder,
            'CLOUDSDK_AUTH_TOKEN_HOST': f'{tokens}token', 'XDG_CACHE_HOME': testbed.new_folder('cache'),
            **overrides, 'CLOUDSDK_API_ENDPOINT_OVERRIDES_IAMCREDENTIALS': tokens, **credentials})

    def say(self, arguments, env, cwd=None, status=None):
        """Runs the command; all its output is searched, however it ends."""
        self.assertEqual(env['AUTOPACK_VERBOSITY'], 'debug')
        answer = autopack(*arguments, env=env, cwd=cwd, status=status)
        self.assertIn(answer.status, (0, 1, 2, 3), answer)
        return answer

    def start(self, server):
        self.addCleanup(server.close)
        return server


class Google(WithCredentials):
    """Tokens come from a working server; services respond well, or refuse and repeat everything that they received."""

    def setUp(self):
        self.tokens = self.start(VertexServer(public_key=str(self.public), states=['SUCCEEDED']))

    def test_where_all_goes_well(self):
        facts = self.start(GoogleServices())
        for kind, credentials in self.kinds(self.tokens.url).items():
            with self.subTest(kind):
                env = self.environment(credentials, self.tokens.url, self.tokens.url)
                env |= {name: value for name, value in facts.variables('AIPLATFORM').items()}
                self.say(OF_SERVICES['submit'], env, status=0)
        for name, command in OF_SERVICES.items():
            with self.subTest(name):
                self.say(command, env)

    def test_where_services_say_what_they_were_sent(self):
        kinds = itertools.cycle(self.kinds(self.tokens.url).items())
        for status, form in ((403, 'google'), (401, 'bare'), (302, 'page'), (200, 'google')):
            services = self.start(EchoServer(status, form))
            # after a response of 200 that names no job, the list is polled for seconds
            commands = OF_SERVICES if status != 200 else {name: OF_SERVICES[name] for name in ('tune', 'list', 'doctor')}
            for command, arguments in commands.items():
                kind, credentials = next(kinds)
                with self.subTest(command, status=status, form=form, kind=kind):
                    services.paths.clear()
                    self.say(arguments, self.environment(credentials, self.tokens.url, services.url))
                    self.assertTrue(services.paths or '--dry-run' in arguments)

    def test_where_every_kind_is_refused(self):
        for kind, credentials in self.kinds(self.tokens.url).items():
            services = self.start(EchoServer(403, 'google'))
            with self.subTest(kind):
                env = self.environment(credentials, self.tokens.url, services.url)
                answer = self.say(OF_SERVICES['submit'], env, status=1)
                self.assertIn('403', answer.err)
                self.say([*OF_SERVICES['submit'], '--impersonate-service-account=' + EMAIL], env, status=1)

    def test_where_tokens_are_refused(self):
        for status, form in ((400, 'oauth'), (401, 'google'), (302, 'bare'), (200, 'oauth')):
            tokens = self.start(EchoServer(status, form))
            for kind, credentials in self.kinds(tokens.url).items():
                if kind in ('access token file', 'self-signed', 'gcloud', 'metadata'):
                    continue
                with self.subTest(kind, status=status, form=form):
                    self.say(OF_SERVICES['submit'], self.environment(credentials, tokens.url, self.tokens.url), status=1)
            with self.subTest('impersonation', status=status, form=form):
                env = self.environment(self.file(self.user()), tokens.url, self.tokens.url)
                env['CLOUDSDK_AUTH_TOKEN_HOST'] = f'{self.tokens.url}token'
                self.say([*OF_SERVICES['submit'], '--impersonate-service-account=' + EMAIL], env, status=1)

    def test_where_programs_say_what_they_know(self):
        word = secret('subject')
        for text in (f"echo '{word}'", f"echo '{word}' >&2; exit 1",
                     f"echo '{json.dumps({'version': 1, 'success': False, 'code': '1', 'message': 'no'})}'; echo {word} >&2"):
            credentials = self.file(self.external(self.tokens.url, {'executable': {'command': str(self.program(text))}}))
            env = self.environment(credentials, self.tokens.url, self.tokens.url)
            with self.subTest(text):
                self.say(OF_SERVICES['submit'], env | {'GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES': '1'}, status=1)


class Registries(WithCredentials):
    """A registry and an engine that repeat what they received, and helpers that print what they know."""

    def setUp(self):
        base = f'{testbed.registry()}/bases/no-secret:1'
        testbed.docker('tag', testbed.executor(), base)
        testbed.docker('push', '--quiet', base)
        self.folder = testbed.write_tree({'task.py': 'print(1)\n'})
        self.build = ['build', '--executor-image-uri', base, '--script=task.py']

    def login(self, host, **login):
        login = login or {'username': 'me', 'password': secret('docker-password')}
        return {'DOCKER_CONFIG': testbed.write_tree({'config.json': json.dumps({'auths': {host: login}})})}

    def test_a_registry_that_says_what_it_was_sent(self):
        for status, form in ((401, 'registry'), (403, 'registry'), (400, 'page'), (302, 'bare'), (200, 'bare')):
            registry = self.start(EchoServer(status, form))
            host = f'127.0.0.1:{registry.port}'
            for login in ({}, {'identitytoken': secret('identity-token')}, {'registrytoken': secret('registry-token')}):
                if login and status not in (401, 403):
                    continue
                env = testbed.environment(**self.login(host, **login))
                for flags in (['--engine=direct', '--output-image-uri', f'{host}/team/app:v1'],
                              ['--engine=direct', f'--output=oci:{testbed.new_folder()}/layout', '--executor-image-uri', f'{host}/team/base:v1']):
                    with self.subTest(status=status, form=form, login=list(login), flags=flags):
                        self.say([*self.build, *flags], env, status=1, cwd=self.folder)
            self.assertTrue(registry.paths)

    def test_an_engine_that_says_what_it_was_sent(self):
        for status, form in ((401, 'engine'), (500, 'engine'), (404, 'page'), (200, 'engine')):
            engine = self.start(EchoServer(status, form))
            env = testbed.environment(DOCKER_HOST=f'tcp://127.0.0.1:{engine.port}', **self.login(testbed.registry()))
            with self.subTest(status=status, form=form):
                self.say([*self.build, '--engine=docker', '--output-image-uri', testbed.image_name('engine')], env, status=1,
                         cwd=self.folder)
                self.say(['doctor'], env, cwd=self.folder)
            self.assertTrue(engine.paths)

    def test_a_helper_that_says_what_it_knows(self):
        word = secret('helper-secret')
        registry = self.start(EchoServer(401, 'registry'))
        host = f'127.0.0.1:{registry.port}'
        for text in (f"echo '{word}'; echo '{word}' >&2; exit 1", f"echo '{word}'",
                     f"echo '{json.dumps({'Username': 'me', 'Secret': word})}'", f"echo '{json.dumps({'Secret': word})}'"):
            folder = testbed.write_tree({'config.json': json.dumps({'credHelpers': {host: 'tell'}}),
                                         'docker-credential-tell': f'#!/bin/sh\ncat >/dev/null\n{text}\n'})
            (folder / 'docker-credential-tell').chmod(0o755)
            env = testbed.environment(DOCKER_CONFIG=folder, PATH=f'{folder}:{testbed.environment()["PATH"]}')
            for command in ([*self.build, '--engine=direct', '--output-image-uri', f'{host}/team/app:v1'],
                            ['doctor', f'{POOL}{host}/team/app:v1', '--display-name=job']):
                with self.subTest(text, command=command):
                    self.say(command, env, status=1, cwd=self.folder)


class Packaging(WithCredentials):
    """Logins of package indexes, wherever a user may keep them."""

    def setUp(self):
        self.word = secret('index-password')
        self.index = testbed.start_index(user='robot', password=self.word)
        self.url = self.index.url.replace('http://', f'http://robot:{self.word}@')
        self.target = testbed.image_name('no-secret')

    def commands(self):
        common = ['--executor-image-uri', testbed.executor(), '--script=task.py']
        return {'explain': ['explain', *common], 'explain as JSON': ['explain', *common, '--format=json'],
                'dockerfile': ['dockerfile', *common], 'dockerfile to a file': ['dockerfile', *common, '-o', 'Made'],
                'check': ['dockerfile', *common, '--check', 'Other'],
                'dry': ['submit', '--dry-run', '--display-name=x', '--project=p', '--region=us-central1',
                        f'--worker-pool-spec=machine-type=n1-standard-4,script=task.py,executor-image-uri={testbed.executor()},'
                        f'local-package-path=.,output-image-uri={self.target}'],
                'build': ['build', *common, '--build-network=host', '--output-image-uri', f'{self.target}:v1', '--format=json'],
                'run': ['run', *common, '--build-network=host']}

    def test_an_index_that_is_named_by_the_environment(self):
        folder = testbed.write_tree({'task.py': 'import greeter\n', 'requirements.txt': 'greeter\n', 'Other': 'FROM scratch\n'})
        env = testbed.environment(PIP_INDEX_URL=self.url, PIP_EXTRA_INDEX_URL=self.url)
        for name, command in self.commands().items():
            with self.subTest(name):
                self.say(command, env, cwd=folder, status=3 if name == 'check' else 0)
        self.assertEqual(secret_watch.found_in((folder / 'Made').read_text()), [])
        self.assertIn((200, True), [(entry['status'], entry['login']) for entry in self.index.requests])

    def test_a_login_that_stands_in_the_requirements(self):
        for line in (f'--extra-index-url {self.url}\ngreeter\n', f'greeter @ {self.url}greeter-1.0.whl\n',
                     f'git+{self.url}greeter.git\n', f'--find-links={self.url}\n', f'greeter==1@@@ {self.url}\n'):
            folder = testbed.write_tree({'task.py': 'import greeter\n', 'requirements.txt': line, 'Other': 'FROM scratch\n'})
            for name, command in self.commands().items():
                if name not in ('build', 'run'):
                    with self.subTest(name, line=line.replace(self.word, 'WORD')):
                        self.say(command, testbed.environment(), cwd=folder)

    def test_an_index_that_says_what_it_was_sent(self):
        echo = self.start(EchoServer(403, 'page'))
        folder = testbed.write_tree({'task.py': 'import greeter\n', 'requirements.txt': 'greeter\n'})
        url = echo.url.replace('http://', f'http://robot:{self.word}@')
        self.say(self.commands()['build'], testbed.environment(PIP_INDEX_URL=url), cwd=folder, status=2)
        self.assertTrue(echo.paths)

    def test_a_setup_that_prints_its_login(self):
        setup = ('import os, glob\nfrom setuptools import setup\nprint(dict(os.environ))\n'
                 'for name in glob.glob("/run/secrets/*") + glob.glob("/root/.config/pip/*") + ["/root/.netrc", "/etc/pip.conf"]:\n'
                 '    print(name, open(name).read() if os.path.isfile(name) else "-")\n'
                 'setup(name="mine", version="1", py_modules=["task"])\nraise SystemExit("no")\n')
        folder = testbed.write_tree({'task.py': 'import greeter\n', 'setup.py': setup})
        self.say(self.commands()['build'], testbed.environment(PIP_INDEX_URL=self.url), cwd=folder)


class OtherCommands(unittest.TestCase):
    def test_a_proxy_with_a_password(self):
        env = testbed.environment(HTTPS_PROXY=f'http://me:{secret("proxy-password")}@127.0.0.1:1', NO_PROXY='',
                                  CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=testbed.write_tree({'t': secret('ya29.file')}) / 't')
        for command in (['submit', *READY, '--project=p', '--region=us-central1'], ['doctor'], ['jobs', 'list']):
            with self.subTest(command):
                self.assertIn(autopack(*command, env=env, status=None).status, (0, 1, 2))

    def test_a_login_in_a_legacy_file(self):
        word = secret('url-password')
        text = json.dumps({'trainingInput': {'region': 'us-central1', 'scaleTier': 'BASIC', 'runtimeVersion': f'https://u:{word}@h/x',
                                             'pythonModule': 'a.b', 'packageUris': ['gs://b/a.tar.gz']}})
        self.assertNotEqual(autopack('translate', '-', input=text.encode(), status=None).status, 0)


class Suite(unittest.TestCase):
    def test_programs_are_started_where_they_are_searched(self):
        """A test that starts the binary directly would not be searched."""
        for file in sorted(pathlib.Path(__file__).parent.glob('test_*.py')):
            text = file.read_text()
            self.assertNotRegex(text, r'(subprocess|os)\.\w+\(\s*\[?\s*\[?testbed\.binary', file.name)

    def test_credentials_of_tests_are_made_as_secrets(self):
        literal = re.compile(r"""'(password|client_secret|refresh_token|token|identitytoken|id_token|secret)': *f?'""", re.IGNORECASE)
        for file in sorted(pathlib.Path(__file__).parent.glob('test_*.py')):
            self.assertIsNone(literal.search(file.read_text()), file.name)
