"""A package index (PEP 503) on loopback that may require a login and records its requests.

    package_index.py [--port N] [--user NAME --password WORD] [--record FILE] DIRECTORY...

Serves the wheels and source archives of the directories. Prints its address when it listens.
"""

import argparse
import base64
import functools
import hashlib
import html
import json
import pathlib
import re
import urllib.parse

import loopback

SUFFIXES = ('.whl', '.tar.gz', '.zip')


def normalise(name):
    return re.sub(r'[-_.]+', '-', name).lower()


def project_of(file_name):
    if file_name.endswith('.whl'):
        return normalise(file_name.split('-')[0])
    return normalise(re.sub(r'-\d.*$', '', file_name))


@functools.cache
def digest_of(file, _changed):
    with open(file, 'rb') as content:
        return hashlib.file_digest(content, 'sha256').hexdigest()


class Index(loopback.Server):
    """Serves until closed; `requests` holds one dictionary per request, oldest first."""

    def __init__(self, directories, user=None, password=None, record=None, port=0, tls=None):
        self.requests = []
        self.record = record
        self.files = {}
        for directory in directories:
            for path in sorted(pathlib.Path(directory).iterdir()):
                if path.name.endswith(SUFFIXES):
                    self.files.setdefault(project_of(path.name), {})[path.name] = path
        self.login = None
        if user is not None:
            self.login = 'Basic ' + base64.b64encode(f'{user}:{password}'.encode()).decode()
        index = self

        class Handler(loopback.Handler):
            def respond(self, _):
                index.answer(self)

        super().__init__(Handler, port, tls)
        self.url += 'simple/'

    def answer(self, request):
        allowed = self.login is None or request.headers.get('Authorization') == self.login
        path = urllib.parse.unquote(urllib.parse.urlsplit(request.path).path)
        status, body, kind = self.content(path) if allowed else (401, b'log in', 'text/plain')
        challenge = {'WWW-Authenticate': 'Basic realm="packages"'} if status == 401 else {}
        entry = {'method': request.command, 'path': path, 'status': status,
                 'login': 'Authorization' in request.headers}
        self.requests.append(entry)
        if self.record:
            with open(self.record, 'a', encoding='utf-8') as out:
                out.write(json.dumps(entry) + '\n')
        # As indexes do: pip caches only files with a lifetime.
        kept = {'Cache-Control': 'max-age=31536000, immutable'} if status == 200 and path.startswith('/files/') else {}
        request.send(status, body, {'Content-Type': kind, **challenge, **kept})

    def content(self, path):
        parts = [part for part in path.split('/') if part]
        if parts == ['simple']:
            links = ''.join(f'<a href="/simple/{name}/">{name}</a>\n' for name in sorted(self.files))
            return 200, page(links), 'text/html'
        if len(parts) == 2 and parts[0] == 'simple' and normalise(parts[1]) in self.files:
            links = ''
            for name, file in self.files[normalise(parts[1])].items():
                digest = digest_of(file, file.stat().st_mtime_ns)
                links += f'<a href="/files/{html.escape(name)}#sha256={digest}">{html.escape(name)}</a>\n'
            return 200, page(links), 'text/html'
        if len(parts) == 2 and parts[0] == 'files':
            file = self.files.get(project_of(parts[1]), {}).get(parts[1])
            if file:
                return 200, file, 'application/octet-stream'
        return 404, b'not here', 'text/plain'


def page(links):
    return f'<!DOCTYPE html>\n<html><body>\n{links}</body></html>\n'.encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--port', type=int, default=0)
    parser.add_argument('--user')
    parser.add_argument('--password', default='')
    parser.add_argument('--record')
    parser.add_argument('directories', nargs='+')
    arguments = parser.parse_args()
    index = Index(arguments.directories, arguments.user, arguments.password, arguments.record,
                  arguments.port)
    print(index.url, flush=True)
    try:
        index.wait()
    except KeyboardInterrupt:
        index.close()


if __name__ == '__main__':
    main()
