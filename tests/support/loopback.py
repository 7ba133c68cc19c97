"""The common part of the tests' servers: one on loopback, in its own thread, that reads whole requests."""

import contextlib
import http.server
import json
import pathlib
import socket
import threading

import secret_watch


class Handler(http.server.BaseHTTPRequestHandler):
    """Calls `respond(body)` for each request, of any method."""

    protocol_version = 'HTTP/1.1'
    # A client that tries TLS first recognises an answer in HTTP by its status line.
    default_request_version = 'HTTP/1.0'
    # Head and body are sent separately: the second would wait for 40 ms until the first is acknowledged.
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self):
        body = self.read_body()
        secret_watch.seen(self.headers, body)
        self.respond(body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def read_body(self):
        if self.headers.get('Transfer-Encoding', '') != 'chunked':
            return self.rfile.read(int(self.headers.get('Content-Length') or 0))
        body = b''
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def send(self, status, content, headers=None, reason=None):
        """Sends bytes, a text or the file of a path, anything else as JSON; `headers` may override type and length."""
        is_file = isinstance(content, pathlib.Path)
        if isinstance(content, str):
            content = content.encode()
        text = content if is_file or isinstance(content, bytes) else json.dumps(content).encode()
        length = content.stat().st_size if is_file else len(text)
        self.send_response(status, reason)
        headers = {'Content-Type': 'application/json; charset=UTF-8', 'Content-Length': str(length), **(headers or {})}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == 'HEAD':
            return
        if is_file:
            with open(content, 'rb') as file:
                self.connection.sendfile(file)  # by the kernel, because the measured program needs the processors
        else:
            self.wfile.write(text)

    def drop(self):
        """Ends the connection without a response."""
        self.close_connection = True


class ThreadingServer(http.server.ThreadingHTTPServer):
    # A connection beyond the backlog, which is 5 by default, is retried only after a second.
    request_queue_size = 128

    def shutdown(self):
        # Wakes the serving thread, which otherwise notices the end only when its poll of half a second is over.
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        super().shutdown()


class Server:
    """Serves with `handler`, a class, until close()."""

    def __init__(self, handler, port=0, tls=None):
        self._server = ThreadingServer(('127.0.0.1', port), handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # the client disconnected
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        self.url = f'{"https" if tls else "http"}://127.0.0.1:{self.port}/'
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait(self):
        self._thread.join()
