"""A server on loopback that tells whoever asks what it was sent, logins included, the way each kind of server would.

Real ones do so by mistake: a proxy that prints the request, a service that quotes the token it refuses.
"""

import http.server
import json
import threading
import urllib.parse

import secret_watch


def google(status, text):
    return {'error': {'code': status, 'message': f'List of found errors:\t1.Field: a; Message: {text}\t2.Field: b; '
                      f'Message: {text}\t', 'status': text, 'errors': [{'message': text, 'reason': text}],
                      'details': [{'@type': 'type.googleapis.com/google.rpc.ErrorInfo', 'reason': text,
                                   'metadata': {'activationUrl': text, 'service': text}}]}}


FORMS = {
    'google': google,
    'oauth': lambda _, text: {'error': text, 'error_subtype': text, 'error_description': text},
    'registry': lambda _, text: {'errors': [{'code': text, 'message': text, 'detail': text}]},
    'engine': lambda _, text: {'message': text},
    'page': lambda _, text: f'<html>{text}</html>',
    'bare': lambda _, text: text,
}


class EchoServer:
    """Answers all with `status` and `form` until close(); the requests' paths are in `paths`."""

    def __init__(self, status=403, form='google'):
        self.status, self.form, self.paths = status, form, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def log_message(self, *_):
                pass

            def answer(self):
                body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
                secret_watch.seen(self.headers, body)
                outer.paths.append(self.path)
                login = self.headers.get('Authorization', '')
                told = ' '.join([login.partition(' ')[2], *self.headers.values(), body.decode(errors='replace'),
                                 urllib.parse.unquote_plus(body.decode(errors='replace'))])
                content = FORMS[outer.form](outer.status, told)
                text = (content if isinstance(content, str) else json.dumps(content)).encode()
                # what stands in the status line is printed by many programs
                line = ' '.join(['Refused', login, body.decode(errors='replace')])
                self.send_response(outer.status, line.encode('ascii', 'replace').decode().replace('\n', ' ').replace('\r', ' '))
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(text)))
                self.send_header('WWW-Authenticate', f'Basic realm="{login}"')
                if outer.status in (302, 307):
                    self.send_header('Location', f'http://127.0.0.1:1/elsewhere?{urllib.parse.quote(login)}#{login[7:]}')
                self.end_headers()
                if self.command != 'HEAD':
                    self.wfile.write(text)

            do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        self._server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f'http://127.0.0.1:{self.port}/'
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
