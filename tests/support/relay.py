"""Counts the bytes that a program sends to a server, and those it receives."""

import select
import socket
import threading


class Relay:
    """Forwards bytes between a socket of ours and another, and counts both directions."""

    def __init__(self, target, unix=None):
        self.target, self.sent, self.received = target, 0, 0
        self.server = socket.socket(socket.AF_UNIX if unix else socket.AF_INET)
        self.server.bind(unix or ('127.0.0.1', 0))
        self.server.listen(64)
        self.port = None if unix else self.server.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.server.accept()
            threading.Thread(target=self.carry, args=(client,), daemon=True).start()

    def carry(self, client):
        kind = socket.AF_UNIX if isinstance(self.target, str) else socket.AF_INET
        with client, socket.socket(kind) as server:
            server.connect(self.target)
            open_ends = [client, server]
            while open_ends:
                for end in select.select(open_ends, [], [])[0]:
                    other = server if end is client else client
                    try:
                        data = end.recv(1 << 16)
                        if data:
                            other.sendall(data)
                    except OSError:
                        return
                    if end is client:
                        self.sent += len(data)
                    else:
                        self.received += len(data)
                    if not data:
                        open_ends.remove(end)
                        try:
                            other.shutdown(socket.SHUT_WR)
                        except OSError:
                            return
