"""Fits a line by gradient descent on every replica: each has its share of the data, and gradients are summed over TCP.

The first replica listens at MASTER_ADDR:MASTER_PORT, as torch.distributed's does, and the others meet it there.
"""

import json
import os
import socket
import time

RANK = int(os.environ.get('RANK', '0'))
WORLD = int(os.environ.get('WORLD_SIZE', '1'))
ADDRESS = (os.environ.get('MASTER_ADDR', 'localhost'), int(os.environ.get('MASTER_PORT', '2222')))


class Sum:
    """The sum of a list of numbers over all replicas, again and again."""

    def __init__(self):
        self.peers = []
        if RANK == 0:
            server = socket.create_server(('', ADDRESS[1]), backlog=WORLD)
            self.peers = [server.accept()[0].makefile('rw') for _ in range(WORLD - 1)]
        else:
            self.peers = [self.meet().makefile('rw')]

    @staticmethod
    def meet():
        """Replicas start in parallel: the first may not be there yet, nor its name."""
        for _ in range(300):
            try:
                return socket.create_connection(ADDRESS, timeout=60)
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f'rank {RANK} did not reach {ADDRESS[0]}')

    def of(self, numbers):
        if RANK > 0:
            print(json.dumps(numbers), file=self.peers[0], flush=True)
            return json.loads(self.peers[0].readline())
        for peer in self.peers:
            numbers = [mine + theirs for mine, theirs in zip(numbers, json.loads(peer.readline()))]
        for peer in self.peers:
            print(json.dumps(numbers), file=peer, flush=True)
        return numbers


def main():
    total = Sum()
    data = [(i / 100, 3 * i / 100 + 2) for i in range(RANK, 100, WORLD)]
    slope = offset = 0.0
    for _ in range(500):
        errors = [(slope * x + offset - y, x) for x, y in data]
        down, across, count = total.of([sum(e * x for e, x in errors), sum(e for e, _ in errors), len(errors)])
        slope -= down / count
        offset -= across / count
    print(f'rank {RANK} of {WORLD}: slope {slope:.2f} offset {offset:.2f}', flush=True)


main()
