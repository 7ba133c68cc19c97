"""Google's application default credentials: which are found, the requests made with them, and their project.

Compared with google-auth of the distribution, run on the same files with the same variables, against one token
endpoint and metadata server on loopback. Releases before 1.27 know only keys, users and machines; test_credentials.py
and the unit tests check the requests of external accounts and impersonation.
"""

import base64
import json
import subprocess
import unittest
import urllib.parse

import loopback
import secret_watch
import testbed
from testbed import autopack

# Prints the project after fetching a token; the users' endpoint is in no file.
PEER = '''
import json, os, sys, warnings
warnings.simplefilter('ignore')
import google.auth, google.auth.transport._http_client as transport
try:
    credentials, project = google.auth.default(scopes=['https://www.googleapis.com/auth/cloud-platform'])
    if not hasattr(credentials, 'service_account_email'):
        credentials._token_uri = os.environ['TOKEN_URI']
    credentials.refresh(transport.Request())
except Exception as error:
    sys.exit(f'{type(error).__name__}: {error}')
print(project or '')
'''

SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
REFUSED = 'refused'
PROJECT = 'machine-project'
READY = ['submit', '--display-name=ready', '--skip-checks',
         '--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:v1']

LEFT_OUT = object()


class Google(loopback.Server):
    """Gives tokens, and records the credentials; no call that needs a token succeeds."""

    def __init__(self):
        self.asked, self.projects = [], []
        outer = self

        class Handler(loopback.Handler):
            def respond(self, body):
                outer.answer(self, urllib.parse.urlsplit(self.path), dict(urllib.parse.parse_qsl(body.decode(errors='replace'))))

        super().__init__(Handler)

    def answer(self, handler, url, form):
        # google-auth assumes JSON if the content type says so alone.
        flavor = {'Metadata-Flavor': 'Google', 'Content-Type': 'application/json'}
        token = {'access_token': 'ya29.given', 'expires_in': 3600, 'token_type': 'Bearer'}
        if url.path == '/token':
            self.asked.append(self.summary(form))
            handler.send(200, token)
        elif url.path.startswith('/computeMetadata/') and handler.headers.get('Metadata-Flavor') != 'Google':
            handler.send(403, 'no flavor')
        elif url.path == '/computeMetadata/v1/project/project-id':
            handler.send(200, PROJECT, {**flavor, 'Content-Type': 'application/text'})
        elif url.path.startswith('/computeMetadata/v1/instance/service-accounts/') and url.path.endswith('/token'):
            self.asked.append('of the machine')
            handler.send(200, token, flavor)
        elif url.path.startswith('/computeMetadata/v1/instance/'):
            handler.send(200, {'email': 'robot@example.iam.gserviceaccount.com', 'scopes': [SCOPE]}, flavor)
        elif url.path == '/':
            handler.send(200, 'computeMetadata/\n', flavor)
        else:
            self.projects.append(url.path.split('/')[3])
            handler.send(400, {'error': {'code': 400, 'message': 'not here'}})

    @staticmethod
    def summary(form):
        if 'assertion' not in form:
            return {name: form.get(name) for name in ('grant_type', 'client_id', 'client_secret', 'refresh_token')}
        head, claims, _ = (json.loads(base64.urlsafe_b64decode(part + '=' * (-len(part) % 4))) if index < 2 else None
                           for index, part in enumerate(form['assertion'].split('.')))
        return {'grant_type': form['grant_type'], 'issuer': claims['iss'], 'scope': claims.get('scope'), 'algorithm': head['alg'],
                'key': head.get('kid'), 'subject': claims.get('sub'), 'an hour': claims['exp'] - claims['iat'] == 3600}


def rsa_key(*arguments):
    return subprocess.run(['openssl', 'genrsa', *arguments, '2048'], check=True, capture_output=True).stdout.decode()


class GoogleAuth(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.google = Google()
        cls.addClassCleanup(cls.google.close)
        cls.key = rsa_key()
        cls.old_key = rsa_key('-traditional')
        cls.user = {'type': 'authorized_user', 'client_id': 'id', 'client_secret': secret_watch.secret('client'),
                    'refresh_token': secret_watch.secret('refresh')}
        cls.robot = {'type': 'service_account', 'client_email': 'robot@p.iam.gserviceaccount.com', 'private_key_id': '1',
                     'private_key': cls.key, 'token_uri': f'{cls.google.url}token', 'project_id': 'of-the-key', 'client_id': '7'}

    def changed(self, content, **changes):
        return {name: value for name, value in {**content, **changes}.items() if value is not LEFT_OUT}

    def environment(self, files, variables):
        home = testbed.write_tree({name: text if isinstance(text, str) else json.dumps(text) for name, text in files.items()},
                                  testbed.new_folder('home'))
        place = {name: value.replace('HOME', str(home)) for name, value in variables.items()}
        return testbed.environment(HOME=home, XDG_CACHE_HOME=home / '.cache', CLOUDSDK_AI_REGION='us-central1',
                                   TOKEN_URI=f'{self.google.url}token', CLOUDSDK_AUTH_TOKEN_HOST=f'{self.google.url}token',
                                   CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=self.google.url,
                                   # Nothing responds there, immediately; NO_GCE_CHECK is newer than some releases of
                                   # google-auth.
                                   **{'GCE_METADATA_IP': '127.0.0.1:1', 'GCE_METADATA_ROOT': '127.0.0.1:1', **place})

    def taken(self, found_project):
        asked, self.google.asked = self.google.asked, []
        self.google.projects = []
        return (asked[0], found_project) if len(asked) == 1 else (asked or REFUSED)

    def autopack_asks(self, env):
        answer = autopack(*READY, env=env, status=None)
        projects = self.google.projects
        if not self.google.asked and not projects:
            self.assertIn(answer.status, (1, 2), answer)
            self.assertNotIn('internal', answer.err)
        return self.taken(projects[0] if projects else ''), answer

    def google_auth_asks(self, env):
        answer = testbed.run([testbed.SYSTEM_PYTHON, '-c', PEER], check=False, env=env)
        return self.taken(answer.stdout.decode().strip()), answer.stderr.decode()

    def compare(self, title, files, variables, meant=''):
        with self.subTest(title):
            env = self.environment(files, variables)
            (ours, answer), (theirs, said) = self.autopack_asks(env), self.google_auth_asks(env)
            if meant:
                self.assertNotEqual(ours, theirs, meant)
            else:
                self.assertEqual(ours, theirs, f'{said}\n{answer}')

    def test_files_that_a_variable_names(self):
        named = {'GOOGLE_APPLICATION_CREDENTIALS': 'HOME/adc.json', 'NO_GCE_CHECK': 'true'}
        for title, content in {
                'a key': self.robot,
                'a key in the older form': self.changed(self.robot, private_key=self.old_key),
                'a key without its id': self.changed(self.robot, private_key_id=LEFT_OUT),
                'a key without an account': self.changed(self.robot, client_email=LEFT_OUT),
                'a key without an endpoint': self.changed(self.robot, token_uri=LEFT_OUT),
                'no key': self.changed(self.robot, private_key=LEFT_OUT),
                'a key that is none': self.changed(self.robot, private_key='-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'),
                'an empty key': self.changed(self.robot, private_key=''),
                'more than is known': self.changed(self.robot, universe_domain='googleapis.com', later='x'),
                'no type': self.changed(self.robot, type=LEFT_OUT),
                'another type': self.changed(self.robot, type='gdch'),
                'a type that is no text': self.changed(self.robot, type=1),
                'an older file of a browser\'s login': {'installed': {'client_id': 'id', 'client_secret': secret_watch.secret('installed')}},
                'no object': [], 'a text': '"authorized_user"', 'no JSON': '{', 'nothing': '',
                'a user without a token': self.changed(self.user, refresh_token=LEFT_OUT),
                'a user without an id': self.changed(self.user, client_id=LEFT_OUT),
                'a user without a secret': self.changed(self.user, client_secret=LEFT_OUT)}.items():
            self.compare(title, {'adc.json': content}, named)
        self.compare('a file that is not there', {}, named)
        self.compare('a user', {'adc.json': self.user}, {**named, 'GOOGLE_CLOUD_PROJECT': 'named'})

    def test_files_of_gcloud(self):
        known = {'.config/gcloud/application_default_credentials.json': self.user}
        off = {'NO_GCE_CHECK': 'true', 'GOOGLE_CLOUD_PROJECT': 'named'}
        self.compare('in the home', known, off)
        self.compare('in a directory that is named', {'sdk/application_default_credentials.json': self.user},
                     {**off, 'CLOUDSDK_CONFIG': 'HOME/sdk'})
        self.compare('not in the home when another is named', known, {**off, 'CLOUDSDK_CONFIG': 'HOME/sdk'})
        self.compare('after the file of the variable', {**known, 'adc.json': self.robot},
                     {**off, 'GOOGLE_APPLICATION_CREDENTIALS': 'HOME/adc.json'})
        self.compare('not when the file of the variable is not there', known, {**off, 'GOOGLE_APPLICATION_CREDENTIALS': 'HOME/adc.json'})
        self.compare('damaged', {'.config/gcloud/application_default_credentials.json': '{'}, off)
        self.compare('nowhere', {}, off)

    def test_projects(self):
        named = {'GOOGLE_APPLICATION_CREDENTIALS': 'HOME/adc.json', 'NO_GCE_CHECK': 'true'}
        files = {'adc.json': self.robot}
        self.compare('of the key', files, named)
        self.compare('of the environment', files, {**named, 'GOOGLE_CLOUD_PROJECT': 'named'})
        self.compare('of the older variable', files, {**named, 'GCLOUD_PROJECT': 'old'})
        self.compare('of both variables', files, {**named, 'GCLOUD_PROJECT': 'old', 'GOOGLE_CLOUD_PROJECT': 'named'})
        self.compare('of gcloud', files, {**named, 'CLOUDSDK_CORE_PROJECT': 'gcloud', 'GOOGLE_CLOUD_PROJECT': 'named'},
                     'autopack stands in for gcloud, whose variable comes first')

    def test_machines(self):
        address = f'127.0.0.1:{self.google.port}'
        machine = {'NO_GCE_CHECK': 'false', 'GCE_METADATA_HOST': address, 'GCE_METADATA_ROOT': address, 'GCE_METADATA_IP': address,
                   'CLOUDSDK_CONFIG': 'HOME/none'}
        self.compare('without a file', {}, machine)
        self.compare('with a project', {}, {**machine, 'GOOGLE_CLOUD_PROJECT': 'named'})
        self.compare('after files', {'sdk/application_default_credentials.json': self.user},
                     {**machine, 'CLOUDSDK_CONFIG': 'HOME/sdk', 'GOOGLE_CLOUD_PROJECT': 'named'})
