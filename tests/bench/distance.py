"""Stands before a server on loopback and makes it as slow to reach as one in another town.

    distance.py HOST:PORT MILLISECONDS

Prints the port it listens on. Every byte comes so much later, either way; a connection takes a round trip to open.
"""

import asyncio
import sys


async def carry(reader, writer, delay):
    loop, pending = asyncio.get_running_loop(), asyncio.Queue()

    async def deliver():
        while True:
            due, data = await pending.get()
            await asyncio.sleep(max(0, due - loop.time()))
            if not data:
                writer.write_eof()
                return
            writer.write(data)
            await writer.drain()

    delivery = asyncio.create_task(deliver())
    data = b'\0'
    while data:
        data = await reader.read(1 << 16)
        pending.put_nowait((loop.time() + delay, data))
    await delivery


async def serve(target, delay):
    host, port = target.split(':')

    async def accept(reader, writer):
        await asyncio.sleep(2 * delay)
        there_reader, there_writer = await asyncio.open_connection(host, int(port))
        await asyncio.gather(carry(reader, there_writer, delay), carry(there_reader, writer, delay),
                             return_exceptions=True)
        writer.close()
        there_writer.close()

    server = await asyncio.start_server(accept, '127.0.0.1', 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == '__main__':
    try:
        asyncio.run(serve(sys.argv[1], float(sys.argv[2]) / 1000))
    except KeyboardInterrupt:
        sys.exit(130)
