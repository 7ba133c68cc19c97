"""Records every secret of a test run, and searches texts for them.

Secrets are recorded in three ways. A test makes a word with `secret`. Before a program starts, `given` reads its
environment and the credentials files that it names, as the program will. The servers of the tests pass received
requests to `seen`, so that tokens made on the way are known too.
`require_none` raises Leak if a text contains one of them: unchanged, in base64 at any offset, percent-encoded, as a
JSON string, in hexadecimal digits.
"""

import base64
import binascii
import configparser
import contextlib
import json
import os
import pathlib
import re
import secrets
import subprocess
import threading
import urllib.parse

# Shorter ones occur in other words by chance.
SHORTEST = 8
SECRET_KEYS = {'access_token', 'accessToken', 'auth', 'authorization', 'client_secret', 'id_token', 'identitytoken',
               'password', 'passphrase', 'private_key', 'refresh_token', 'registrytoken', 'saml_response', 'secret',
               'secretaccesskey', 'subject_token', 'assertion', 'token', 'x-api-key', 'x-amz-security-token', 'x-aws-ec2-metadata-token'}
SECRET_VARIABLES = ('AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN')
TOKEN_FILES = ('CLOUDSDK_AUTH_ACCESS_TOKEN_FILE', 'AUTOPACK_ACCESS_TOKEN_FILE')
USER_INFORMATION = re.compile(r'[a-z][a-z0-9+.-]*://[^/\s:@]*:([^/\s@]+)@')
NETRC_PASSWORD = re.compile(r'\bpassword\s+(\S+)')

_lock = threading.RLock()
_forms = {}  # a form of a secret -> its description
_known = set()
texts_searched = 0


class Leak(AssertionError):
    """A text contains a secret."""


def secret(name):
    """Returns a word that no other text contains, watched from now on."""
    return register(f'{name}-{secrets.token_hex(8)}', name)


def count():
    return len(_known)


def register(value, what):
    """Watches `value`; returns it."""
    with _lock:
        if not value or value in _known:
            return value
        _known.add(value)
        lines = [line for line in value.split('\n') if '-----' not in line]
        for part in lines if 'PRIVATE KEY' in value else [value.strip()]:
            for form in forms_of(part):
                if len(form) >= SHORTEST:
                    _forms.setdefault(form, what)
    return value


def forms_of(value):
    """Returns the forms in which `value` may be written; none if it is too short to be distinguished from other
    words."""
    if len(value) < SHORTEST:
        return set()
    data = value.encode()
    forms = {value, json.dumps(value)[1:-1], urllib.parse.quote(value, safe=''), urllib.parse.quote_plus(value), data.hex()}
    forms.add(urllib.parse.quote(urllib.parse.quote(value, safe=''), safe=''))
    for before in range(3):
        # Only the characters that depend on `value` alone, whatever comes before and after it.
        whole = base64.b64encode(bytes(before) + data).decode().rstrip('=')
        begin, end = -(-before * 8 // 6), (before + len(data)) * 8 // 6
        forms |= {whole[begin:end], whole[begin:end].translate(str.maketrans('+/', '-_'))}
    return forms


def found_in(text):
    """Returns the names of the secrets in `text`."""
    global texts_searched
    if isinstance(text, bytes):
        text = text.decode(errors='replace')
    with _lock:
        texts_searched += 1
        return sorted({what for form, what in _forms.items() if form in text})


def require_none(what, *texts):
    """Raises Leak unless all of `texts`, the output of `what`, are free of secrets."""
    for text in texts:
        shown = found_in(text)
        if shown:
            place = text if isinstance(text, str) else text.decode(errors='replace')
            raise Leak(f'{what} shows {", ".join(shown)}:\n{place}')


def files_that_show(folder):
    """Returns files below `folder` that contain a secret, except cached tokens and what the tests themselves cache:
    packages of Debian, which take minutes."""
    lines = {max(form.split('\n'), key=len) for form in _forms} - {''}
    if not lines:
        return []
    # Finds candidates. Looking for each form in each file of a cache takes minutes in Python.
    said = subprocess.run(['grep', '-rlaFZ', '-f', '-', '--', folder], input='\n'.join(lines).encode(), capture_output=True,
                          check=False, env={**os.environ, 'LC_ALL': 'C'}).stdout
    paths = sorted(pathlib.Path(os.fsdecode(name)) for name in said.split(b'\0') if name)
    return [str(path) for path in paths
            if not {'tokens', 'autopack-tests'} & set(path.parts) and found_in(path.read_bytes())]


def register_json(value, what):
    """Watches every value at a secret's key in `value`."""
    if isinstance(value, list):
        for item in value:
            register_json(item, what)
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        if isinstance(item, str) and key.lower() in {name.lower() for name in SECRET_KEYS}:
            register(item, f'`{key}` of {what}')
            if key == 'auth':
                register_basic(item, f'`{key}` of {what}')
        register_json(item, what)


def register_basic(encoded, what):
    """Watches the password after `Basic`."""
    with contextlib.suppress(binascii.Error, ValueError):
        register(base64.b64decode(encoded, validate=True).decode().partition(':')[2], f'the password in {what}')


def read(path):
    with contextlib.suppress(OSError, UnicodeDecodeError, ValueError):
        return pathlib.Path(path).read_text(encoding='utf-8')
    return ''


def given(environment):
    """Watches the secrets that a program with this environment finds."""
    for name, value in environment.items():
        for password in USER_INFORMATION.findall(value):
            register_url_password(password, f'`{name}`')
    for name in SECRET_VARIABLES:
        register(environment.get(name, ''), f'`{name}`')
    for name in TOKEN_FILES:
        register(read(environment.get(name, '')).strip(), f'the file of `{name}`')
    home = environment.get('HOME', '/nowhere')
    google = environment.get('CLOUDSDK_CONFIG', os.path.join(home, '.config/gcloud'))
    docker = environment.get('DOCKER_CONFIG', os.path.join(home, '.docker'))
    for path in (environment.get('GOOGLE_APPLICATION_CREDENTIALS', ''), os.path.join(docker, 'config.json'),
                 os.path.join(google, 'application_default_credentials.json'), environment.get('REGISTRY_AUTH_FILE', '')):
        content = parse(read(path))
        register_json(content, f'`{os.path.basename(path)}`')
        register_source(content)
    register_json(parse(environment.get('DOCKER_AUTH_CONFIG', '')), '`DOCKER_AUTH_CONFIG`')
    for password in NETRC_PASSWORD.findall(read(os.path.join(home, '.netrc'))):
        register(password, '`.netrc`')
    for password in USER_INFORMATION.findall(read(environment.get('PIP_CONFIG_FILE', ''))):
        register_url_password(password, '`pip.conf`')
    settings = configparser.RawConfigParser()
    with contextlib.suppress(configparser.Error):
        settings.read_string(read(environment.get('AWS_SHARED_CREDENTIALS_FILE', '')))
    for section in settings.sections():
        register(settings[section].get('aws_secret_access_key', ''), 'the AWS credentials file')


def register_url_password(password, what):
    register(password, f'the password in {what}')
    register(urllib.parse.unquote(password), f'the password in {what}')


def register_source(credentials):
    """Watches the subject token of an external account's file."""
    source = credentials.get('credential_source') if isinstance(credentials, dict) else None
    if not isinstance(source, dict):
        return
    if isinstance(source.get('file'), str):
        text = read(source['file']).strip()
        register_json(parse(text), 'the subject token file')
        register(text, 'the subject token')
    headers = source.get('headers')
    for value in headers.values() if isinstance(headers, dict) else ():
        if isinstance(value, str):
            register(value, 'a header of the credential source')


def parse(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def seen(headers, body=b''):
    """Watches what a server received: the login of a request, and the secrets of its form or JSON body."""
    kind, _, value = headers.get('Authorization', '').partition(' ')
    register(value, 'the login of a request')
    if kind == 'Basic':
        register_basic(value, 'the login of a request')
    text = body.decode(errors='replace')
    register_json(dict(urllib.parse.parse_qsl(text)), 'a request')
    register_json(parse(text), 'a request')
