"""A loopback server that repeats what it received, including logins, in the way of each kind of server.

Real servers do so by mistake: a proxy that prints the request, a service that quotes the token it refuses.
"""

import urllib.parse

import loopback


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


class EchoServer(loopback.Server):
    """Responds to everything with `status` and `form` until close(); `paths` has the requests' paths."""

    def __init__(self, status=403, form='google'):
        self.status, self.form, self.paths = status, form, []
        outer = self

        class Handler(loopback.Handler):
            def respond(self, body):
                outer.paths.append(self.path)
                login = self.headers.get('Authorization', '')
                told = ' '.join([login.partition(' ')[2], *self.headers.values(), body.decode(errors='replace'),
                                 urllib.parse.unquote_plus(body.decode(errors='replace'))])
                content = FORMS[outer.form](outer.status, told)
                # many programs print the status line
                line = ' '.join(['Refused', login, body.decode(errors='replace')])
                headers = {'Content-Type': 'application/json', 'WWW-Authenticate': f'Basic realm="{login}"'}
                if outer.status in (302, 307):
                    headers['Location'] = f'http://127.0.0.1:1/elsewhere?{urllib.parse.quote(login)}#{login[7:]}'
                self.send(outer.status, content, headers,
                          line.encode('ascii', 'replace').decode().replace('\n', ' ').replace('\r', ' '))

        super().__init__(Handler)
