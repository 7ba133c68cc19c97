"""A package index on loopback that serves JSON and HTML, and misbehaves as configured.

    index_server.py [--form json|html] [--metadata] [--no-ranges] [--no-hashes] [--user NAME --password WORD] DIRECTORY...

Serves the wheels and source archives of the directories. Prints its address when it listens.
"""

import argparse
import hashlib
import html
import json
import pathlib
import re
import time
import urllib.parse
import zipfile

import package_index

JSON = 'application/vnd.pypi.simple.v1+json'
HTML = 'text/html; charset=UTF-8'


def metadata_of(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return next((archive.read(name) for name in archive.namelist() if name.endswith('.dist-info/METADATA')), None)


class IndexServer(package_index.Index):
    """`form` is `json` (HTML for clients that do not request it) or `html`; `yanked` has reasons by file name."""

    def __init__(self, directories, form='json', metadata=False, ranges=True, hashes=True, yanked=None, pythons=False,
                 **rest):
        self.form, self.metadata, self.ranges, self.hashes, self.yanked = form, metadata, ranges, hashes, yanked or {}
        self.pythons, self.faults = pythons, {}
        super().__init__(directories, **rest)

    def misbehave(self, path, times=1, **fault):
        """For the next requests of `path`: `status` and `headers`, `redirect` to a URL, `stall` for seconds, `cut` after
        that many bytes, or answer another `body`."""
        self.faults.setdefault(path, []).extend([fault] * times)

    def asked(self, path):
        return [entry for entry in self.requests if entry['path'] == path]

    def answer(self, request):
        path = urllib.parse.unquote(urllib.parse.urlsplit(request.path).path)
        entry = {'path': path, 'login': request.headers.get('Authorization'), 'range': request.headers.get('Range')}
        self.requests.append(entry)
        fault = self.faults.get(path) and self.faults[path].pop(0) or {}
        time.sleep(fault.get('stall', 0))
        if 'redirect' in fault:
            request.send(302, b'', {'Location': fault['redirect']})
        elif 'status' in fault:
            request.send(fault['status'], b'as told', {'Content-Type': 'text/plain', **fault.get('headers', {})})
        elif self.login and entry['login'] != self.login:
            request.send(401, b'log in', {'Content-Type': 'text/plain', 'WWW-Authenticate': 'Basic realm="packages"'})
        else:
            status, body, kind = self.content_for(path, request)
            self.deliver(request, status, fault.get('body', body), kind, fault.get('cut'))

    def deliver(self, request, status, body, kind, cut):
        etag = '"' + hashlib.sha256(body).hexdigest()[:16] + '"'
        headers = {'Content-Type': kind, 'ETag': etag}
        if status == 200 and request.headers.get('If-None-Match') == etag:
            request.send(304, b'', headers)
            return
        asked = request.headers.get('Range', '')
        if status == 200 and self.ranges and asked.startswith('bytes=') and request.headers.get('If-Range', etag) == etag:
            first, size = int(asked[6:].rstrip('-')), len(body)
            if first >= size:
                request.send(416, b'', {'Content-Range': f'bytes */{size}'})
                return
            status, body = 206, body[first:]
            headers['Content-Range'] = f'bytes {first}-{size - 1}/{size}'
        if cut is not None:
            headers['Content-Length'] = str(len(body))
            request.send(status, body[:cut], headers)
            request.wfile.flush()
            request.close_connection = True
        else:
            request.send(status, body, headers)

    def content_for(self, path, request):
        parts = [part for part in path.split('/') if part]
        if len(parts) == 2 and parts[0] == 'simple':
            files = self.files.get(package_index.normalise(parts[1]))
            if files is None:
                return 404, b'not here', 'text/plain'
            if self.form == 'json' and JSON in request.headers.get('Accept', ''):
                return 200, self.json_page(parts[1], files), JSON
            return 200, self.html_page(files), HTML
        if path.endswith('.metadata') and self.metadata:
            name = parts[-1].removesuffix('.metadata')
            file = self.files.get(package_index.project_of(name), {}).get(name)
            body = metadata_of(file) if file else None
            return (200, body, 'text/plain') if body else (404, b'not here', 'text/plain')
        status, body, kind = self.content(path)
        return status, body.read_bytes() if isinstance(body, pathlib.Path) else body, kind

    def facts(self, path):
        body = path.read_bytes()
        metadata = metadata_of(path) if self.metadata and path.suffix == '.whl' else None
        return (hashlib.sha256(body).hexdigest(), len(body), metadata and hashlib.sha256(metadata).hexdigest())

    def json_page(self, project, files):
        entries = []
        for name, path in files.items():
            digest, size, metadata = self.facts(path)
            entry = {'filename': name, 'url': f'../../files/{urllib.parse.quote(name)}', 'size': size,
                     'hashes': {'sha256': digest} if self.hashes else {}, 'yanked': self.yanked.get(name, False)}
            if self.pythons and path.suffix == '.whl':
                found = re.search(r'(?m)^Requires-Python: (.*)$', metadata_of(path).decode())
                entry['requires-python'] = found and found[1]
            if metadata:
                entry['core-metadata'] = entry['dist-info-metadata'] = {'sha256': metadata}
            entries.append(entry)
        return json.dumps({'meta': {'api-version': '1.1'}, 'name': project, 'files': entries, 'versions': []}).encode()

    def html_page(self, files):
        links = ''
        for name, path in files.items():
            digest, _, metadata = self.facts(path)
            attributes = f' data-yanked="{html.escape(self.yanked[name])}"' if name in self.yanked else ''
            if metadata:
                attributes += f' data-core-metadata="sha256={metadata}" data-dist-info-metadata="sha256={metadata}"'
            fragment = f'#sha256={digest}' if self.hashes else ''
            links += f'<a href="../../files/{urllib.parse.quote(name)}{fragment}"{attributes}>{html.escape(name)}</a>\n'
        return package_index.page(links)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--port', type=int, default=0)
    parser.add_argument('--form', choices=['json', 'html'], default='json')
    parser.add_argument('--metadata', action='store_true')
    parser.add_argument('--no-ranges', action='store_true')
    parser.add_argument('--no-hashes', action='store_true')
    parser.add_argument('--user')
    parser.add_argument('--password', default='')
    parser.add_argument('directories', nargs='+')
    arguments = parser.parse_args()
    index = IndexServer(arguments.directories, arguments.form, arguments.metadata, not arguments.no_ranges,
                        not arguments.no_hashes, user=arguments.user, password=arguments.password, port=arguments.port)
    print(index.url, flush=True)
    try:
        index.wait()
    except KeyboardInterrupt:
        index.close()


if __name__ == '__main__':
    main()
