#!/usr/bin/env python3
"""Google's token endpoints, metadata server and Artifact Registry on loopback, for vertex_server.py to mount.

Tokens: POST /token gives one for a refresh token or a signed assertion, POST /v1/token (STS) for another provider's
subject token (one of AWS is not verified), POST /v1/oauthtoken for a workforce pool's refresh token, POST /v1/projects/-/serviceAccounts/EMAIL:generateAccessToken for a token that this server gave, and
GET /computeMetadata/v1/instance/service-accounts/default/token for nothing (only with `Metadata-Flavor: Google`).
GET /subject gives such a subject token, as another cloud's metadata server does.
Artifact Registry: get and create of repositories; a creation is an operation that is done at the second look.
"""

import base64
import datetime
import json
import re
import subprocess
import tempfile
import urllib.parse

import secret_watch

AUDIENCE = 'https://oauth2.googleapis.com/token'
GRANT = 'urn:ietf:params:oauth:grant-type:'
SCOPE = 'https://www.googleapis.com/auth/'
STATUS = {400: 'INVALID_ARGUMENT', 401: 'UNAUTHENTICATED', 403: 'PERMISSION_DENIED', 404: 'NOT_FOUND',
          409: 'ALREADY_EXISTS', 429: 'RESOURCE_EXHAUSTED', 500: 'INTERNAL', 503: 'UNAVAILABLE'}
IMPERSONATION = re.compile(r'/v1/projects/-/serviceAccounts/([^/:]+):generateAccessToken')
REPOSITORIES = re.compile(r'/v1/(projects/[^/]+/locations/[^/]+)/repositories')
OPERATION = re.compile(r'/v1/(projects/[^/]+/locations/[^/]+/operations/\w+)')


class Refusal(Exception):
    def __init__(self, status, message, **body):
        super().__init__(message)
        self.status = status
        self.body = body or {'error': {'code': status, 'message': message, 'status': STATUS.get(status, 'UNKNOWN')}}


def decode(part):
    return base64.urlsafe_b64decode(part + '=' * (-len(part) % 4))


def verify_signature(message, signature, public_key):
    with tempfile.NamedTemporaryFile() as file:
        file.write(signature)
        file.flush()
        answer = subprocess.run(['openssl', 'dgst', '-sha256', '-verify', public_key, '-signature', file.name],
                                input=message, capture_output=True, check=False)
    if answer.returncode != 0:
        raise Refusal(400, 'signature', error='invalid_grant', error_description='Invalid JWT Signature.')


def read_jwt(text, public_key):
    """Returns header and claims; verifies the signature if a key is known."""
    try:
        head, body, signature = text.split('.')
        header, claims = json.loads(decode(head)), json.loads(decode(body))
    except ValueError:
        raise Refusal(400, 'jwt', error='invalid_grant', error_description='Invalid JWT.') from None
    if header.get('alg') != 'RS256' or not 0 < claims.get('exp', 0) - claims.get('iat', 0) <= 3600:
        raise Refusal(400, 'jwt', error='invalid_grant', error_description='Invalid JWT: Token must be a short-lived '
                      'token (60 minutes) and in a reasonable timeframe.')
    if public_key:
        verify_signature(f'{head}.{body}'.encode(), decode(signature), public_key)
    return header, claims


class GoogleServices:
    """Handles the paths above. `note` gets each request; `next_failure` returns a token's failure or None."""

    def __init__(self, note, next_failure=lambda: None, public_key=None, lifetime=3599, project='stand-in-project'):
        self.note, self.next_failure, self.public_key = note, next_failure, public_key
        self.lifetime, self.project = lifetime, project
        self.tokens = []
        self.repositories = {}
        self.operations = {}

    def handle(self, method, path, query, headers, body):
        """Returns the response (text for the metadata server), or None for other paths."""
        form = dict(urllib.parse.parse_qsl(body.decode(errors='replace')))
        if method == 'POST' and path == '/token':
            return self.give_token(form)
        if method == 'POST' and path == '/v1/oauthtoken':
            return self.refresh(form, headers)
        if method == 'POST' and path == '/v1/token':
            return self.exchange(form, headers)
        if method == 'GET' and (path == '/' or path.startswith('/computeMetadata/')):
            return self.metadata(path, query, headers)
        if method == 'POST' and (match := IMPERSONATION.fullmatch(path)):
            return self.impersonate(match[1], headers, json.loads(body))
        if method == 'GET' and path == '/subject':
            return secret_watch.register('subject-of-another-provider', 'the subject token')
        if match := REPOSITORIES.match(path):
            return self.repository(method, match, path, query, headers, body)
        if method == 'GET' and (match := OPERATION.fullmatch(path)):
            return self.operation(match[1], headers)
        return None

    def token_of(self, headers):
        """Returns the token of a request, if this server issued it or the known key signed it."""
        token = headers.get('Authorization', '').removeprefix('Bearer ')
        if token.count('.') == 2 and self.public_key:
            try:
                claims = read_jwt(token, self.public_key)[1]
            except Refusal:
                return ''
            return f'self-signed for {claims.get("scope") or claims.get("aud")} by {claims.get("sub")}'
        return token if token in self.tokens else ''

    def require_token(self, headers):
        token = self.token_of(headers)
        if not token:
            raise Refusal(401, 'Request had invalid authentication credentials.')
        return token

    def new_token(self):
        failure = self.next_failure()
        if failure == 'invalid_rapt':
            raise Refusal(400, 'rapt', error='invalid_grant', error_subtype='invalid_rapt',
                          error_description='reauth related error (invalid_rapt)')
        if failure:
            raise Refusal(int(failure), 'The token endpoint is busy.')
        self.tokens.append(secret_watch.register(f'ya29.stand-in-{len(self.tokens) + 1}', 'an access token'))
        return {'access_token': self.tokens[-1], 'expires_in': self.lifetime, 'token_type': 'Bearer'}

    def give_token(self, form):
        grant = form.get('grant_type', '')
        claims = None
        if grant == GRANT + 'jwt-bearer':
            claims = read_jwt(form.get('assertion', ''), self.public_key)[1]
            if claims.get('aud') != AUDIENCE:
                raise Refusal(400, 'aud', error='invalid_grant', error_description='Invalid JWT: wrong audience.')
        elif grant != 'refresh_token' or not all(form.get(key) for key in ('client_id', 'client_secret', 'refresh_token')):
            raise Refusal(400, 'grant', error='unsupported_grant_type', error_description=f'Invalid grant_type: {grant}')
        self.note(method='POST', path='/token', grant_type=grant, claims=claims)
        return self.new_token()

    def refresh(self, form, headers):
        self.note(method='POST', path='/v1/oauthtoken', form={**form, 'refresh_token': '...'},
                  basic=headers.get('Authorization', '').startswith('Basic '))
        if form.get('grant_type') != 'refresh_token' or not form.get('refresh_token'):
            raise Refusal(400, 'sts', error='invalid_request', error_description='Invalid refresh.')
        return self.new_token()

    def exchange(self, form, headers):
        self.note(method='POST', path='/v1/token', form={key: value for key, value in form.items() if key != 'subject_token'},
                  basic=headers.get('Authorization', '').startswith('Basic '))
        good = (form.get('grant_type') == GRANT + 'token-exchange' and form.get('audience', '').startswith('//iam.')
                and form.get('requested_token_type') == 'urn:ietf:params:oauth:token-type:access_token'
                and form.get('subject_token_type') and form.get('scope', '').startswith(SCOPE))
        if not good:
            raise Refusal(400, 'sts', error='invalid_request', error_description='Invalid token exchange.')
        if self.is_proof(form):
            return self.new_token() | {'issued_token_type': form['requested_token_type']}
        if not form.get('subject_token', '').startswith('subject-'):
            raise Refusal(400, 'sts', error='invalid_grant', error_description='The subject token '
                          f'{form.get("subject_token")} is rejected by the attribute condition.')
        return self.new_token() | {'issued_token_type': form['requested_token_type']}

    def is_proof(self, form):
        """Returns whether the subject token is a signed request of AWS, or certificates."""
        kind, token = form['subject_token_type'].rpartition(':')[2], form.get('subject_token', '')
        if kind == 'aws4_request':
            request = json.loads(urllib.parse.unquote(token))
            headers = {header['key']: header['value'] for header in request['headers']}
            secret_watch.seen({}, json.dumps(headers).encode())
            self.note(method='POST', path='subject', request=request, headers=headers)
            return headers.get('x-goog-cloud-target-resource') == form['audience']
        if kind == 'mtls':
            self.note(method='POST', path='subject', certificates=json.loads(token))
            return True
        return False

    def impersonate(self, account, headers, body):
        self.note(method='POST', path='generateAccessToken', account=account, body=body, authorization=self.require_token(headers))
        if body.get('scope') != [SCOPE + 'cloud-platform'] or not re.fullmatch(r'\d+s', body.get('lifetime', '')):
            raise Refusal(400, 'Request contains an invalid argument.')
        if account.startswith('forbidden'):
            raise Refusal(403, "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist).")
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=self.lifetime)
        return {'accessToken': self.new_token()['access_token'], 'expireTime': end.strftime('%Y-%m-%dT%H:%M:%SZ')}

    def metadata(self, path, query, headers):
        self.note(method='GET', path=path, flavor=headers.get('Metadata-Flavor', ''))
        if headers.get('Metadata-Flavor') != 'Google':
            raise Refusal(403, 'Missing Metadata-Flavor:Google header.')
        if path == '/':
            return 'computeMetadata/\n'
        if path == '/computeMetadata/v1/project/project-id':
            return self.project
        if path == '/computeMetadata/v1/instance/service-accounts/default/token' and query.get('scopes', '').startswith(SCOPE):
            return self.new_token()
        raise Refusal(404, 'not found')

    def repository(self, method, match, path, query, headers, body):
        token = self.require_token(headers)
        self.note(method=method, path=path, body=json.loads(body) if body else None, authorization=token,
                  quota_project=headers.get('x-goog-user-project', ''))
        name = path.removeprefix('/v1/')
        if method == 'GET':
            if name not in self.repositories:
                raise Refusal(404, 'Requested entity was not found.')
            return self.repositories[name]
        if method != 'POST' or match.end() != len(path):
            raise Refusal(404, 'The method is not found.')
        name = f'{name}/{query.get("repositoryId", "")}'
        content = json.loads(body)
        if content.get('format') != 'DOCKER' or not re.fullmatch(r'.*/[a-z]([a-z0-9-]{0,61}[a-z0-9])?', name):
            raise Refusal(400, 'Request contains an invalid argument.')
        if name in self.repositories:
            raise Refusal(409, 'the repository already exists')
        operation = f'{match[1]}/operations/op{len(self.operations) + 1}'
        self.operations[operation] = [1, name, {**content, 'name': name}]
        return {'name': operation, 'metadata': {}}

    def operation(self, name, headers):
        self.require_token(headers)
        if name not in self.operations:
            raise Refusal(404, 'Requested entity was not found.')
        looks, repository, content = self.operations[name]
        self.operations[name][0] = looks - 1
        if looks > 0:
            return {'name': name, 'metadata': {}}
        self.repositories[repository] = content
        return {'name': name, 'metadata': {}, 'done': True, 'response': content}
