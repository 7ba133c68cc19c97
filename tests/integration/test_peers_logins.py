"""The login that a registry receives: from autopack, and from docker, skopeo and podman with the same files.

A registry on loopback requires a token and records the login in the request for one. A row has the files; autopack must
send the login beside them, and so must each peer that reads such a file, unless the row says how that peer differs and
why.
"""

import base64
import json
import pathlib
import signal
import unittest
import urllib.parse

import loopback
import secret_watch
import testbed
from testbed import run

PASSWORD = secret_watch.secret('password')
GIVEN = secret_watch.secret('given-token')
# The login of a program that failed before it requested a token.
REFUSED = 'refused'
ANONYMOUS = 'anonymous'
NAME = 'team/app'


def basic(user, password=PASSWORD):
    return base64.b64encode(f'{user}:{password}'.encode()).decode()


def user(name):
    return {'auth': basic(name)}


class Registry(loopback.Server):
    """Requires a token, records whose login came for it, and contains no image."""

    def __init__(self):
        self.shown = []
        outer = self

        class Handler(loopback.Handler):
            def respond(self, body):
                outer.answer(self, dict(urllib.parse.parse_qsl(body.decode())))

        super().__init__(Handler)

    @property
    def address(self):
        return f'127.0.0.1:{self.port}'

    def answer(self, handler, form):
        if not handler.path.startswith('/token'):
            if handler.headers.get('Authorization', '').startswith('Bearer '):
                self.note(handler.headers['Authorization'], form)
                handler.send(404, {'errors': [{'code': 'MANIFEST_UNKNOWN', 'message': 'unknown'}]})
            else:
                challenge = f'Bearer realm="http://{self.address}/token",service="{self.address}"'
                handler.send(401, {'errors': [{'code': 'UNAUTHORIZED'}]}, {'WWW-Authenticate': challenge})
            return
        self.note(handler.headers.get('Authorization', ''), form)
        handler.send(200, {'token': GIVEN, 'access_token': GIVEN, 'expires_in': 300})

    def note(self, authorization, form):
        kind, _, value = authorization.partition(' ')
        if kind == 'Basic':
            name, _, password = base64.b64decode(value).decode().partition(':')
            self.shown.append(name if password == PASSWORD else f'{name} with another password')
        elif value and value != GIVEN:
            self.shown.append('a token of the registry')
        elif form.get('grant_type') == 'password':
            name = form['username']
            self.shown.append(name if form.get('password') == PASSWORD else f'{name} with another password')
        elif form.get('refresh_token'):
            self.shown.append('an identity token')
        elif not value:
            self.shown.append(ANONYMOUS)

    def take(self):
        """Returns the logins received since the last call."""
        shown, self.shown = list(dict.fromkeys(self.shown)), []
        return shown[0] if len(shown) == 1 else str(shown) if shown else REFUSED


HELPERS = {
    'docker-credential-known': f'echo \'{{"Username": "helped", "Secret": "{PASSWORD}"}}\'',
    'docker-credential-identity': f'echo \'{{"Username": "<token>", "Secret": "{PASSWORD}"}}\'',
    'docker-credential-empty': 'echo "credentials not found in native keychain"; exit 1',
    'docker-credential-broken': 'echo "it is locked" >&2; exit 1',
    'docker-credential-signals': 'grep "^Sig[BI]" /proc/self/status >"$HOME/signals"; exit 1',
}
# posix_spawn(3) ignores these in every child, because they are the C library's; SIGHUP is the user's choice.
NOT_OURS = 1 << 32 - 1 | 1 << 33 - 1 | 1 << signal.SIGHUP - 1
EAGER = {'docker': (ANONYMOUS, 'it warns and asks without a login; the refusal that follows would hide the cause')}
NO_STORE = {'skopeo': (ANONYMOUS, 'it knows helpers of a host, and no store')}

# The content of `~/.docker/config.json`, with HOST for the registry; autopack's login; peers that differ, and why.
DOCKER = [
    ('no file', None, ANONYMOUS, {}),
    ('an empty object', {}, ANONYMOUS, {}),
    ('the host', {'auths': {'HOST': user('one')}}, 'one', {}),
    ('another port', {'auths': {'127.0.0.1:1': user('one')}}, ANONYMOUS, {}),
    ('the host without its port', {'auths': {'127.0.0.1': user('one')}}, ANONYMOUS, {}),
    ('user and password apart', {'auths': {'HOST': {'username': 'one', 'password': PASSWORD}}}, 'one',
     {'skopeo': (ANONYMOUS, 'it reads `auth` alone')}),
    ('with http', {'auths': {'http://HOST': user('one')}}, 'one', {}),
    ('with https', {'auths': {'https://HOST': user('one')}}, 'one', {}),
    ('with a version', {'auths': {'https://HOST/v1/': user('one')}}, 'one', {}),
    ('with a newer version', {'auths': {'https://HOST/v2/': user('one')}}, 'one', {}),
    ('with a path', {'auths': {'https://HOST/team': user('one')}}, 'one', {}),
    ('with the image', {'auths': {f'HOST/{NAME}': user('one')}}, 'one', {}),
    ('the host before a whole address', {'auths': {'https://HOST/v1/': user('two'), 'HOST': user('one')}}, 'one', {}),
    ('another host', {'auths': {'other.example': user('one')}}, ANONYMOUS, {}),
    ('an empty entry', {'auths': {'HOST': {}}}, ANONYMOUS, {}),
    ('an empty login', {'auths': {'HOST': {'auth': ''}}}, ANONYMOUS, {}),
    ('a password with a colon', {'auths': {'HOST': {'auth': basic('one', PASSWORD + ':x')}}}, 'one with another password', {}),
    ('zero bytes behind', {'auths': {'HOST': {'auth': basic('one', PASSWORD + '\0')}}}, 'one', {}),
    ('an identity token', {'auths': {'HOST': {'auth': basic('<token>', ''), 'identitytoken': PASSWORD}}}, 'an identity token', {}),
    ('an identity token alone', {'auths': {'HOST': {'identitytoken': PASSWORD}}}, 'an identity token',
     {'skopeo': (ANONYMOUS, 'it reads a token beside `auth` alone')}),
    ('a helper of the host', {'credHelpers': {'HOST': 'known'}, 'auths': {'HOST': user('one')}}, 'helped', {}),
    ('a helper of another', {'credHelpers': {'other.example': 'known'}}, ANONYMOUS, {}),
    ('a store', {'credsStore': 'known'}, 'helped', NO_STORE),
    ('a store with an empty entry', {'credsStore': 'known', 'auths': {'HOST': {}}}, 'helped', NO_STORE),
    ('a helper before a store', {'credsStore': 'broken', 'credHelpers': {'HOST': 'known'}}, 'helped', {}),
    ('a helper of an identity token', {'credHelpers': {'HOST': 'identity'}}, 'an identity token', {}),
    ('a store that knows nothing', {'credsStore': 'empty'}, ANONYMOUS, {}),
    ('base64 that is none', {'auths': {'HOST': {'auth': '%%%'}}}, REFUSED, EAGER),
    ('a login without a colon', {'auths': {'HOST': {'auth': base64.b64encode(b'one').decode()}}}, REFUSED,
     {**EAGER, 'skopeo': EAGER['docker']}),
    ('a helper that fails', {'credHelpers': {'HOST': 'broken'}}, REFUSED, EAGER),
    ('a helper that is not there', {'credHelpers': {'HOST': 'nowhere'}}, REFUSED, EAGER),
    ('no JSON', '{', REFUSED, EAGER),
    ('a list', '[]', REFUSED, EAGER),
]

# The content of podman's and skopeo's `auth.json`.
PODMAN = [
    ('the host', {'auths': {'HOST': user('one')}}, 'one', {}),
    ('a namespace', {'auths': {'HOST/team': user('one')}}, 'one', {}),
    ('the image', {'auths': {f'HOST/{NAME}': user('one')}}, 'one', {}),
    ('another namespace', {'auths': {'HOST/other': user('one')}}, ANONYMOUS, {}),
    ('part of a name', {'auths': {'HOST/tea': user('one')}}, ANONYMOUS, {}),
    ('the longest', {'auths': {'HOST': user('one'), 'HOST/team': user('two'), f'HOST/{NAME}': user('three')}}, 'three', {}),
    ('a namespace before the host', {'auths': {'HOST': user('one'), 'HOST/team': user('two')}}, 'two', {}),
    ('an old address', {'auths': {'https://HOST/v1/': user('one')}}, 'one', {}),
    ('an identity token', {'auths': {'HOST': {'auth': basic('<token>', ''), 'identitytoken': PASSWORD}}}, 'an identity token', {}),
    ('a helper of the host', {'credHelpers': {'HOST': 'known'}}, 'helped', {}),
    ('an empty entry', {'auths': {'HOST': {}}}, ANONYMOUS, {}),
]


class Logins(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        testbed.engine()
        cls.registry = Registry()
        cls.addClassCleanup(cls.registry.close)
        cls.programs = testbed.write_tree({name: f'#!/bin/sh\ncat >/dev/null\n{text}\n' for name, text in HELPERS.items()})
        for name in HELPERS:
            (cls.programs / name).chmod(0o755)
        cls.project = testbed.write_tree({'train.py': 'print(1)\n'})

    def home(self, name, content):
        """Returns a home with that file, and the environment that uses it."""
        home = testbed.new_folder('home')
        if content is not None:
            text = content if isinstance(content, str) else json.dumps(content)
            testbed.write_tree({name: text.replace('HOST', self.registry.address)}, home)
        (home / 'run').mkdir(mode=0o700, exist_ok=True)
        return testbed.environment(HOME=home, XDG_CACHE_HOME=home / '.cache', XDG_RUNTIME_DIR=home / 'run',
                                   PATH=f'{self.programs}:{testbed.environment()["PATH"]}')

    def shown_by(self, program, env):
        image = f'{self.registry.address}/{NAME}:1'
        command = {
            'autopack': [testbed.binary, 'build', '--engine=direct', '--script=train.py', '--no-push', '--output=oci:made',
                         f'--executor-image-uri={image}'],
            'docker': ['docker', 'pull', image],
            'skopeo': ['skopeo', 'inspect', '--raw', '--tls-verify=false', f'docker://{image}'],
            'podman': ['podman', 'pull', '--tls-verify=false', image],
        }[program]
        variables = {'DOCKER_HOST': 'unix:///nowhere/docker.sock'} if program == 'autopack' else {}
        answer = run(command, check=False, cwd=self.project, env={**env, **variables})
        self.assertNotEqual(answer.returncode, 0)
        return self.registry.take(), (answer.stdout + answer.stderr).decode(errors='replace')

    def test_of_a_helper_are_asked_for_with_default_signals(self):
        env = self.home('.docker/config.json', {'credHelpers': {'HOST': 'signals'}})
        self.shown_by('autopack', env)
        lines = (pathlib.Path(env['HOME']) / 'signals').read_text(encoding='utf-8').splitlines()
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.assertEqual(int(line.split()[1], 16) & ~NOT_OURS, 0, line)

    def compare(self, table, name, peers):
        for title, content, wanted, differing in table:
            env = self.home(name, content)
            for program in ('autopack', *peers):
                with self.subTest(title, program=program):
                    shown, said = self.shown_by(program, env)
                    self.assertEqual(shown, differing.get(program, (wanted,))[0], f'{program}\n{said}')

    def test_of_dockers_file_are_found_as_docker_finds_them(self):
        self.compare(DOCKER, '.docker/config.json', ('docker', 'skopeo'))

    def test_of_podmans_file_are_found_as_podman_finds_them(self):
        testbed.hold_podman(self.addCleanup)
        self.compare(PODMAN, 'run/containers/auth.json', ('skopeo', 'podman'))
