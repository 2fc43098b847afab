"""A TCP proxy on loopback between a server and PostgreSQL that fails in the ways of a network. It
reads the messages of PostgreSQL's protocol as far as its faults need."""
import asyncio
import contextlib
import struct
import threading

CHUNK = 1 << 16
READY = b'Z'  # the server has committed, and waits for the next call
NOTIFICATION = b'A'
LARGE = 400  # bytes of a call that appends; looks at the store are smaller


class Pair:
    """A connection of a client and the one to PostgreSQL that belongs to it."""

    def __init__(self, client, server):
        self.client, self.server = client, server  # (reader, writer) each
        self.name = ''  # the application_name
        self.loses = False  # closes after the server's next commit, without its answer
        self.half = False  # nothing of the client passes any more
        self.rest = b''  # the beginning of a message of the server

    def close(self):
        for _, writer in (self.client, self.server):
            writer.transport.abort()


class Proxy:
    """`port` leads to PostgreSQL. Any thread sets the faults:
    `delay_s` before bytes pass in each direction; `silent`: no bytes pass, connections stay;
    `closed`: connections are cut and refused; `unnotified`: the server's notifications are lost;
    `lose` of the next answers to appends get lost with their connection; `stall`: of the next
    append half is sent, and nothing after it."""

    def __init__(self, to):
        self.to = to
        self.delay_s = 0
        self.silent = self.closed = self.unnotified = self.stall = False
        self.lose = 0
        self.lost = self.stalled = 0
        self.pairs = set()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.listening = threading.Event()
        self.thread.start()
        self.listening.wait()

    def url(self, database):
        """The URL of a database of the cluster through this proxy."""
        return database.replace(f':{self.to}/', f':{self.port}/')

    def cut(self):
        """Closes all connections."""
        self._in_loop(self._cut)

    def close(self):
        """Ends the proxy."""
        self.closed = True
        self._in_loop(self._cut)
        self.loop.call_soon_threadsafe(self.ending.set)
        self.thread.join()

    def _in_loop(self, what):
        done = threading.Event()
        self.loop.call_soon_threadsafe(lambda: (what(), done.set()))
        done.wait()

    def _cut(self):
        for pair in list(self.pairs):
            pair.close()

    def _run(self):
        self.loop.run_until_complete(self._serve())
        self.loop.close()

    async def _serve(self):
        self.ending = asyncio.Event()
        listener = await asyncio.start_server(self._accept, '127.0.0.1', 0)
        self.port = listener.sockets[0].getsockname()[1]
        self.listening.set()
        await self.ending.wait()
        listener.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self, reader, writer):
        if self.closed:
            return writer.transport.abort()
        try:
            server = await asyncio.open_connection('127.0.0.1', self.to)
        except OSError:
            return writer.transport.abort()
        pair = Pair((reader, writer), server)
        self.pairs.add(pair)
        try:
            ends = [self._pass(pair, reader, server[1], self._of_client),
                    self._pass(pair, server[0], writer, self._of_server)]
            tasks = [asyncio.ensure_future(end) for end in ends]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
        finally:
            self.pairs.discard(pair)
            pair.close()

    async def _pass(self, pair, reader, writer, change):
        with contextlib.suppress(OSError):
            while chunk := await reader.read(CHUNK):
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                while self.silent:
                    await asyncio.sleep(0.02)
                if self.closed:
                    return
                out = change(pair, chunk)
                if out is None:
                    return
                writer.write(out)
                await writer.drain()

    def _of_client(self, pair, chunk):
        if not pair.name and b'application_name\0' in chunk:
            pair.name = chunk.split(b'application_name\0')[1].split(b'\0')[0].decode()
        if pair.half:
            return b''
        appends = pair.name.endswith('/writer') and len(chunk) > LARGE
        if appends and self.stall:
            self.stall, pair.half = False, True
            self.stalled += 1
            return chunk[:len(chunk) // 2]
        if appends and self.lose > 0 and not pair.loses:  # one append may be several chunks
            self.lose -= 1
            pair.loses = True
        return chunk

    def _of_server(self, pair, chunk):
        """Returns what of it passes; None: the connection ends."""
        if chunk in (b'N', b'S') or not (self.unnotified or pair.loses or pair.rest):
            return chunk  # also the answer to a request for TLS, which is no message
        kinds, passing = [], b''
        pair.rest += chunk
        while len(pair.rest) >= 5:
            size = 1 + struct.unpack('!I', pair.rest[1:5])[0]
            if len(pair.rest) < size:
                break
            message, pair.rest = pair.rest[:size], pair.rest[size:]
            kinds.append(message[:1])
            if not (self.unnotified and message[:1] == NOTIFICATION):
                passing += message
        if not pair.loses:
            return passing
        if READY not in kinds:
            return b''
        self.lost += 1
        return None
