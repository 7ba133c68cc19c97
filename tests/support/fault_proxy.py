"""A proxy on loopback that spoils chosen steps of its traffic: requests of a method and a path.

    proxy = FaultProxy(('127.0.0.1', 5000))        or a socket's path, with `unix` the path to listen on
    proxy.spoil(r'PUT /v2/.*/manifests/', 'reset after the body', times=1)

With `login` it is a registry that requires bearer tokens, issued at /token for that user and password.
FAULTS lists all faults. Redirects lead to another server, which records what it receives: `elsewhere`.
"""

import base64
import contextlib
import http.client
import itertools
import json
import os
import re
import socket
import struct
import threading
import time

import loopback
import secret_watch

# Requests of Kubernetes whose answers come bit by bit.
STREAM = re.compile(r'[?&](watch|follow)=')
HUGE = 300_000_000
DEEP = b'[' * 2_000_000


def reset(connection):
    """Closes so that the other side gets a reset, not an end."""
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    connection.close()


class Closed(Exception):
    """The connection has ended."""


class Exchange:
    """One request, its body not yet read."""

    def __init__(self, proxy, connection, reader):
        self.proxy, self.connection, self.reader = proxy, connection, reader
        line = reader.readline(1 << 16)
        if not line.strip():
            raise Closed
        self.method, self.path, _ = line.decode().split(' ', 2)
        self.headers = http.client.parse_headers(reader)
        self.body = None

    @property
    def step(self):
        return f'{self.method} {self.path}'

    def read_body(self):
        if self.body is None:
            self.body = b''.join(self.pieces())
        return self.body

    def pieces(self):
        if self.headers.get('Transfer-Encoding', '') != 'chunked':
            left = int(self.headers.get('Content-Length') or 0)
            while left:
                piece = self.reader.read(min(left, 1 << 16))
                if not piece:
                    raise Closed
                left -= len(piece)
                yield piece
            return
        while size := int(self.reader.readline() or '0', 16):
            yield self.reader.read(size)
            self.reader.readline()
        self.reader.readline()

    def forward(self):
        """Returns the server's own response: status, headers, body."""
        body = self.read_body()
        upstream = self.proxy.connect()
        try:
            upstream.putrequest(self.method, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in ('connection', 'transfer-encoding', 'content-length'):
                    upstream.putheader(name, value)
            upstream.putheader('Content-Length', str(len(body)))
            upstream.putheader('Connection', 'close')
            upstream.endheaders(body)
            answer = upstream.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            upstream.close()

    def send(self, status, headers, body, length=None):
        """Sends a response that declares the length `length`."""
        kept = [(name, value) for name, value in headers
                if name.lower() not in ('connection', 'transfer-encoding', 'content-length')]
        if self.method == 'HEAD':
            told = dict((name.lower(), value) for name, value in headers).get('content-length', '0')
        else:
            told = str(len(body) if length is None else length)
        head = f'HTTP/1.1 {status} X\r\n' + ''.join(f'{name}: {value}\r\n' for name, value in kept)
        if status not in (204, 304):
            head += f'Content-Length: {told}\r\n'
        self.connection.sendall(head.encode('latin-1') + b'\r\n' + (b'' if self.method == 'HEAD' else body))

    def refuse(self, status, *headers, code='UNKNOWN', body=None):
        self.read_body()
        error = {'errors': [{'code': code, 'message': f'spoilt: {status}'}],
                 'error': {'code': status, 'message': f'spoilt: {status}', 'status': code}}
        self.send(status, [('Content-Type', 'application/json'), *headers],
                  json.dumps(error).encode() if body is None else body)


# Faults: each takes an exchange, and the connection is reused unless it raises Closed.

def refused(exchange):
    exchange.proxy.close_for(0.3)
    raise Closed


def reset_before_body(_):
    raise Closed


def reset_within_body(exchange):
    for _ in itertools.islice(exchange.pieces(), 1):
        pass
    raise Closed


def reset_after_body(exchange):
    exchange.forward()
    raise Closed


def reset_within_answer(exchange):
    status, headers, body = exchange.forward()
    exchange.send(status, headers, body[:len(body) // 2], len(body) + 10)
    raise Closed


def stall(exchange):
    exchange.read_body()
    exchange.proxy.ended.wait()
    raise Closed


def refusal(status, *headers, **more):
    return lambda exchange: exchange.refuse(status, *headers, **more)


def truncated(exchange):
    status, headers, body = exchange.forward()
    exchange.send(status, headers, body[:-1], len(body) + 1 if not body else len(body))
    exchange.connection.shutdown(socket.SHUT_WR)
    raise Closed


def oversized(exchange):
    status, headers, _ = exchange.forward()
    exchange.send(status, headers, b'', HUGE)
    with contextlib.suppress(OSError):
        for _ in range(HUGE // (1 << 20)):
            exchange.connection.sendall(b' ' * (1 << 20))
    raise Closed


def wrong_digest(exchange):
    status, headers, body = exchange.forward()
    kept = [(name, value) for name, value in headers if name.lower() != 'docker-content-digest']
    exchange.send(status, [*kept, ('Docker-Content-Digest', 'sha256:' + '0' * 64)], body[:-1] + b' ' if body else body)


def wrong_length(exchange):
    status, headers, body = exchange.forward()
    exchange.send(status, headers, body, max(0, len(body) - 1))
    raise Closed


def garbage(exchange):
    exchange.read_body()
    exchange.connection.sendall(b'\x00\xff\xfenothing that is known\r\n\r\n')
    raise Closed


def not_json(exchange):
    status, headers, _ = exchange.forward()
    exchange.send(status, headers, b'<html>\xff</html>')


def deep_json(exchange):
    status, headers, _ = exchange.forward()
    exchange.send(status, headers, DEEP)


def many_headers(exchange):
    exchange.read_body()
    exchange.connection.sendall(b'HTTP/1.1 200 OK\r\n' + b'X-Many: %s\r\n' % (b'x' * 8000) * 500)
    raise Closed


def redirect(exchange):
    exchange.refuse(307, ('Location', exchange.proxy.elsewhere.url + 'taken?by=another'))


def tls_alert(exchange):
    exchange.read_body()
    exchange.connection.sendall(b'\x15\x03\x01\x00\x02\x02\x28')
    raise Closed


def expired(exchange):
    exchange.proxy.tokens.clear()
    exchange.refuse(401, ('WWW-Authenticate', exchange.proxy.challenge()), code='UNAUTHORIZED')


FAULTS = {
    'refused': refused,
    'reset before the body': reset_before_body,
    'reset within the body': reset_within_body,
    'reset after the body': reset_after_body,
    'reset within the answer': reset_within_answer,
    'stall': stall,
    '401': expired,
    '403': refusal(403, code='DENIED'),
    '404': refusal(404, code='NOT_FOUND'),
    '408': refusal(408),
    '409': refusal(409, code='CONFLICT'),
    '416': refusal(416, code='RANGE_INVALID'),
    '429 with a time': refusal(429, ('Retry-After', '1'), code='TOOMANYREQUESTS'),
    '429': refusal(429, code='TOOMANYREQUESTS'),
    '500': refusal(500),
    '503': refusal(503),
    'truncated': truncated,
    'oversized': oversized,
    'wrong digest': wrong_digest,
    'wrong length': wrong_length,
    'garbage': garbage,
    'not JSON': not_json,
    'deep JSON': deep_json,
    'deep JSON in a refusal': refusal(400, body=DEEP),
    'many headers': many_headers,
    'redirect elsewhere': redirect,
    'TLS alert': tls_alert,
}


class Elsewhere(loopback.Server):
    """Another host, which records everything that it receives."""

    def __init__(self):
        self.received = []
        outer = self

        class Handler(loopback.Handler):
            def read_body(self):
                body = super().read_body()
                outer.received.append((dict(self.headers), self.path, body))
                return body

            def respond(self, body):
                self.send(404, {})

        super().__init__(Handler)

    def require_no_secret(self):
        for headers, path, body in self.received:
            assert 'Authorization' not in headers, f'a login was sent elsewhere: {path}'
            secret_watch.require_none('what was sent elsewhere', json.dumps(headers), path, body)


class FaultProxy:
    """Forwards requests to `target`, and spoils those that spoil() selects."""

    def __init__(self, target, unix=None, login=None, slow=0.0):
        self.target, self.unix, self.login, self.slow = target, unix, login, slow
        self.elsewhere = Elsewhere()
        self.tokens, self.spoilt, self.hits, self.seen = set(), [], 0, []
        self.ended, self.is_open, self.lock = threading.Event(), threading.Event(), threading.Lock()
        self.port = None
        self.listen()
        self.address = unix or f'127.0.0.1:{self.port}'

    def listen(self):
        self.server = socket.socket(socket.AF_UNIX if self.unix else socket.AF_INET)
        self.server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if self.unix:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.unix)
        self.server.bind(self.unix or ('127.0.0.1', self.port or 0))
        self.server.listen(128)
        self.port = None if self.unix else self.server.getsockname()[1]
        self.is_open.set()
        threading.Thread(target=self.accept, args=(self.server,), daemon=True).start()

    def close_for(self, seconds):
        """Accepts no connections for a while; `is_open` is set when it is over."""
        self.is_open.clear()
        self.shut(self.server)

        def again():
            time.sleep(seconds)
            while not self.ended.is_set() and not self.is_open.is_set():
                with contextlib.suppress(OSError):  # a connection elsewhere has the port for a moment
                    self.listen()
                    return
                time.sleep(0.1)

        threading.Thread(target=again, daemon=True).start()

    @staticmethod
    def shut(server):
        # Closing alone does not wake the accepting thread.
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()

    def close(self):
        self.ended.set()
        self.shut(self.server)
        self.elsewhere.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def connect(self):
        connection = http.client.HTTPConnection('localhost', timeout=600)
        kind = socket.AF_UNIX if isinstance(self.target, str) else socket.AF_INET
        connection.sock = socket.socket(kind)
        connection.sock.connect(self.target)
        return connection

    def spoil(self, step, fault, times=1):
        """Spoils the next `times` requests whose `METHOD PATH` matches the pattern `step`; None means all."""
        with self.lock:
            self.spoilt.append([re.compile(step), fault if callable(fault) else FAULTS[fault], times])

    def mend(self):
        with self.lock:
            self.spoilt.clear()

    def fault_of(self, step):
        with self.lock:
            self.seen.append(step)
            for entry in self.spoilt:
                if entry[2] != 0 and entry[0].match(step):
                    entry[2] = None if entry[2] is None else entry[2] - 1
                    self.hits += 1
                    return entry[1]
        return None

    def accept(self, server):
        while not self.ended.is_set():
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        reader = connection.makefile('rb')
        try:
            while True:
                self.answer(Exchange(self, connection, reader))
        except (Closed, OSError, ValueError, http.client.HTTPException):
            pass
        finally:
            reader.close()
            reset(connection)

    def answer(self, exchange):
        fault = self.fault_of(exchange.step)
        if 'upgrade' in exchange.headers.get('Connection', '').lower():
            self.tunnel(exchange)
        if self.login and exchange.path.startswith('/token'):
            self.give_token(exchange, fault)
        elif self.login and exchange.headers.get('Authorization', '') not in self.tokens:
            exchange.refuse(401, ('WWW-Authenticate', self.challenge()), code='UNAUTHORIZED')
        elif fault:
            fault(exchange)
        elif STREAM.search(exchange.path):
            self.stream(exchange)
        else:
            status, headers, body = exchange.forward()
            time.sleep(self.slow)
            exchange.send(status, headers, body)

    def stream(self, exchange):
        """Forwards the pieces of an answer as they come, until it ends."""
        body = exchange.read_body()
        del exchange.headers['Connection']
        head = f'{exchange.step} HTTP/1.1\r\n' + ''.join(f'{name}: {value}\r\n' for name, value in exchange.headers.items())
        with socket.socket(socket.AF_UNIX if isinstance(self.target, str) else socket.AF_INET) as upstream:
            upstream.connect(self.target)
            upstream.sendall(head.encode() + b'Connection: close\r\n\r\n' + body)
            while data := upstream.recv(1 << 16):
                exchange.connection.sendall(data)
        raise Closed

    def challenge(self):
        return f'Bearer realm="http://{self.address}/token",service="faults"' if self.login else 'Basic realm="faults"'

    def give_token(self, exchange, fault):
        basic = base64.b64encode(':'.join(self.login).encode()).decode()
        secret_watch.seen(exchange.headers)
        given = exchange.headers.get('Authorization') == f'Basic {basic}'

        def forward():
            exchange.read_body()
            if not given:
                return 401, [], b'{}'
            token = secret_watch.register(f'bearer-{os.urandom(12).hex()}', 'a token of a registry')
            self.tokens.add(f'Bearer {token}')
            return 200, [('Content-Type', 'application/json')], json.dumps({'token': token}).encode()

        exchange.forward = forward
        if fault:
            fault(exchange)
        else:
            exchange.send(*forward())

    def tunnel(self, exchange):
        """Takes over a connection: forwards bytes in both directions until one side ends."""
        body = exchange.read_body()
        upstream = socket.socket(socket.AF_UNIX if isinstance(self.target, str) else socket.AF_INET)
        upstream.connect(self.target)
        head = f'{exchange.step} HTTP/1.1\r\n' + ''.join(f'{name}: {value}\r\n' for name, value in exchange.headers.items())
        upstream.sendall(head.encode() + b'\r\n' + body)

        def carry(source, sink):
            with contextlib.suppress(OSError, ValueError):
                while data := source.recv(1 << 16):
                    sink.sendall(data)
                sink.shutdown(socket.SHUT_WR)

        back = threading.Thread(target=carry, args=(upstream, exchange.connection), daemon=True)
        back.start()
        carry(exchange.connection, upstream)
        back.join()
        upstream.close()
        raise Closed
