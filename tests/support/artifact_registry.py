"""A stand-in for Artifact Registry on loopback that speaks its dialect, under its real host names.

It is an HTTPS proxy: it responds itself for whatever host a client requests, with a certificate of a test authority.
So HTTPS_PROXY and SSL_CERT_FILE direct a program here, without further settings.

The dialect, where it differs from docker-registry's: an upload is one POST, then the whole blob in one PATCH and an
empty PUT, or in one PUT; a second PATCH or a Content-Range is refused. Nothing is mounted. A repository must exist
before the first push. The login is an access token, exchanged at the host's own realm.
"""

import base64
import hashlib
import itertools
import json
import re
import socket
import ssl
import subprocess
import threading
import urllib.parse

import loopback
import secret_watch


def make_certificates(folder, hosts):
    """Makes an authority, and its certificate for `hosts`; returns paths of authority, certificate and key."""
    names = ','.join(('IP:' if host[0].isdigit() else 'DNS:') + host for host in hosts)
    (folder / 'san').write_text(f'subjectAltName={names}\n')
    key = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1'  # an RSA key takes a tenth of a second
    for command in (
            f'req -x509 {key} -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.crt',
            f'req {key} -nodes -subj /CN=server -keyout server.key -out server.csr',
            'x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile san -out server.crt'):
        subprocess.run(['openssl', *command.split()], cwd=folder, capture_output=True, check=True)
    return folder / 'ca.crt', folder / 'server.crt', folder / 'server.key'


def refusal(status, code, message, **headers):
    return status, headers, json.dumps({'errors': [{'code': code, 'message': message}]}).encode()


class ArtifactRegistry(loopback.ThreadingServer):
    daemon_threads = True

    def __init__(self, certificates):
        super().__init__(('127.0.0.1', 0), Handler)
        self.authority, certificate, key = certificates
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(certificate, key)
        self.lock = threading.Lock()
        self.access_tokens = set()
        self.issued = {}  # registry token -> access token
        self.repositories = set()  # `project/repository`
        self.blobs = {}
        self.uploads = {}
        self.numbers = itertools.count()
        self.manifests = {}  # (image, tag or digest) -> (type, bytes)
        self.requests = []  # `METHOD path`
        self.immutable_tags = False
        self.denied = False
        self.answers = {}  # `METHOD word in the path` -> refusals to return first
        self.drop_bodies = 0  # number of large bodies that are not read to the end
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def environment(self):
        return {'HTTPS_PROXY': f'http://127.0.0.1:{self.server_port}', 'SSL_CERT_FILE': str(self.authority)}

    def handle_error(self, request, client_address):
        pass  # the client disconnected


class Handler(loopback.Handler):
    def do_CONNECT(self):
        self.send_response(200)
        self.end_headers()
        self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile('rb')
        self.wfile = self.connection.makefile('wb', 0)
        self.close_connection = False

    def answer(self):
        if self.is_dropped():
            self.rfile.read(1000)
            self.drop()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.connection.close()
            return
        secret_watch.seen(self.headers)
        self.respond(self.read_body())

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def is_dropped(self):
        if int(self.headers.get('Content-Length', '0')) <= 1_000_000:
            return False
        with self.server.lock:
            drop, self.server.drop_bodies = self.server.drop_bodies > 0, max(0, self.server.drop_bodies - 1)
        return drop

    def respond(self, body):
        url = urllib.parse.urlsplit(self.path)
        self.query = dict(urllib.parse.parse_qsl(url.query))
        with self.server.lock:
            self.server.requests.append(f'{self.command} {url.path}')
            status, headers, text = self.early(url.path) or self.route(url.path, body)
        self.send(status, text, {name.replace('_', '-'): value for name, value in headers.items()})

    def early(self, path):
        for pattern, answers in self.server.answers.items():
            method, word = pattern.split(' ')
            if answers and method == self.command and word in path:
                return answers.pop(0)
        return None

    def api(self, path):
        """The part of artifactregistry.googleapis.com that gets and creates a repository."""
        if self.headers.get('Authorization', '').removeprefix('Bearer ') not in self.server.access_tokens:
            return 401, {}, json.dumps({'error': {'code': 401, 'status': 'UNAUTHENTICATED'}}).encode()
        project, name = path.split('/')[3], self.query.get('repositoryId') or path.split('/')[-1]
        if self.command == 'POST':
            self.server.repositories.add(f'{project}/{name}')
            return 200, {}, json.dumps({'name': f'projects/{project}/operations/1', 'done': True}).encode()
        if f'{project}/{name}' in self.server.repositories:
            return 200, {}, json.dumps({'format': 'DOCKER', 'mode': 'STANDARD_REPOSITORY'}).encode()
        return 404, {}, json.dumps({'error': {'code': 404, 'message': 'Requested entity was not found.',
                                              'status': 'NOT_FOUND'}}).encode()

    def route(self, path, body):
        if path.startswith('/v1/projects/'):
            return self.api(path)
        if path == '/v2/token':
            return self.token()
        given = self.headers.get('Authorization', '').removeprefix('Bearer ')
        if given not in self.server.issued or self.server.issued[given] not in self.server.access_tokens | {None}:
            host = self.headers['Host'].removesuffix(':443')
            challenge = f'Bearer realm="https://{host}/v2/token",service="{host}"'
            return refusal(401, 'UNAUTHORIZED', 'authentication failed', WWW_Authenticate=challenge)
        if path == '/v2/':
            return 200, {}, b'{}'
        match = re.fullmatch(r'/v2/(([^/]+)/([^/]+)/.+)/(blobs/uploads/|blobs|manifests|tags/list)/?([^/]*)', path)
        if not match:
            if path.startswith('/artifacts-uploads/'):
                return self.upload(path, body)
            return refusal(400, 'NAME_INVALID', 'Missing image name. Pushes should be of the form '
                                                'docker push HOST-NAME/PROJECT-ID/REPOSITORY/IMAGE')
        image, project, repository, what, name = match.groups()
        resource = f'projects/{project}/locations/europe-west4/repositories/{repository}'
        if self.server.issued[given] is None:
            return refusal(403, 'DENIED', 'Unauthenticated request. Unauthenticated requests do not have permission '
                           f'"artifactregistry.repositories.uploadArtifacts" on resource "{resource}" '
                           '(or it may not exist)')
        if f'{project}/{repository}' not in self.server.repositories:
            return refusal(404, 'NAME_UNKNOWN', f'Repository "{repository}" not found')
        if self.server.denied and self.command in ('POST', 'PUT', 'PATCH'):
            return refusal(403, 'DENIED', 'Permission "artifactregistry.repositories.uploadArtifacts" denied on '
                                          f'resource "{resource}" (or it may not exist)')
        if what == 'blobs/uploads/':
            return self.start_upload(image)
        if what == 'blobs':
            return self.blob(name)
        return self.manifest(image, name, body)

    def token(self):
        header = self.headers.get('Authorization')
        access = None
        if header:
            user, _, access = base64.b64decode(header.removeprefix('Basic ')).decode().partition(':')
            if user != 'oauth2accesstoken' or access not in self.server.access_tokens:
                return refusal(401, 'UNAUTHORIZED', 'authentication failed')
        token = secret_watch.secret('registry-token')
        self.server.issued[token] = access
        return 200, {}, json.dumps({'token': token, 'expires_in': 3600}).encode()

    def start_upload(self, image):
        place = f'/artifacts-uploads/namespaces/{image}/uploads/{next(self.server.numbers)}'
        self.server.uploads[place] = None
        return 202, {'Location': place, 'Range': '0-0'}, b''

    def upload(self, path, body):
        if path not in self.server.uploads:
            return refusal(404, 'BLOB_UPLOAD_UNKNOWN', 'blob upload unknown to registry')
        there = self.server.uploads[path]
        if 'Content-Range' in self.headers or (self.command == 'PATCH' and there is not None):
            return refusal(400, 'UNSUPPORTED', 'chunked uploads are not supported')
        if self.command == 'PATCH':
            self.server.uploads[path] = body
            return 202, {'Location': path, 'Range': f'0-{len(body) - 1}'}, b''
        if self.command != 'PUT':
            return refusal(405, 'UNSUPPORTED', 'method not allowed')
        content = body if there is None else there
        digest = 'sha256:' + hashlib.sha256(content).hexdigest()
        if digest != self.query['digest']:
            return refusal(400, 'DIGEST_INVALID', 'provided digest did not match uploaded content')
        del self.server.uploads[path]
        self.server.blobs[digest] = content
        return 201, {'Docker-Content-Digest': digest}, b''

    def blob(self, digest):
        if digest not in self.server.blobs:
            return refusal(404, 'BLOB_UNKNOWN', 'blob unknown to registry')
        content = self.server.blobs[digest]
        return 200, {'Content_Length': str(len(content)), 'Docker-Content-Digest': digest}, content

    def manifest(self, image, reference, body):
        held = self.server.manifests
        if self.command in ('GET', 'HEAD'):
            if (image, reference) not in held:
                return refusal(404, 'MANIFEST_UNKNOWN', f'Failed to fetch "{reference}"')
            kind, text = held[image, reference]
            return 200, {'Content-Type': kind, 'Content_Length': str(len(text)),
                         'Docker-Content-Digest': 'sha256:' + hashlib.sha256(text).hexdigest()}, text
        document = json.loads(body)
        missing = [part['digest'] for part in [document['config'], *document['layers']]
                   if part['digest'] not in self.server.blobs]
        if missing:
            return refusal(400, 'MANIFEST_BLOB_UNKNOWN', f'blob {missing[0]} unknown to registry')
        kind = self.headers['Content-Type']
        if self.server.immutable_tags and held.get((image, reference), (kind, body))[1] != body:
            return refusal(400, 'DENIED', f'cannot update tag "{reference}": the repository has immutable tags')
        digest = 'sha256:' + hashlib.sha256(body).hexdigest()
        held[image, reference] = held[image, digest] = (kind, body)
        return 201, {'Docker-Content-Digest': digest}, b''
