"""HTTP/1.1 over one connection: a request out, a response in, both bounded."""
import re
import ssl
from typing import AsyncIterator, Dict, List, Optional

from .._deadline import Deadline
from .._settings import Address
from ..errors import ConnectionFailed, ResponseTooLarge, UnexpectedResponse
from .net import Connection

HEAD_MAX = 65536
IDLE_MAX = 8
STATUS = re.compile(rb'HTTP/1\.[01] ([1-5]\d\d)(?: [^\r\n]*)?')
SIZE = re.compile(rb'([0-9A-Fa-f]{1,8})(?:;.*)?')


class Response:
    """What came: the head at once, the body when it is read."""

    def __init__(self, pool: 'Pool', connection: Connection, limit: Deadline):
        self._pool = pool
        self._connection = connection
        self._buffer = b''
        self._done = False
        self.limit = limit
        self.status = 0
        self.headers: Dict[str, str] = {}

    async def read_head(self) -> None:
        while True:
            lines = (await self._until(b'\r\n\r\n', HEAD_MAX)).split(b'\r\n')
            match = STATUS.fullmatch(lines[0])
            if match is None:
                raise UnexpectedResponse(0, 'The answer is not HTTP.')
            self.status = int(match[1])
            if self.status >= 200:
                break
        for line in lines[1:]:
            name, colon, value = line.decode('latin-1').partition(':')
            if not colon or not name or name != name.strip():
                raise UnexpectedResponse(self.status, 'A header of the answer is not HTTP.')
            self.headers[name.lower()] = value.strip()

    async def _more(self) -> None:
        piece = await self._connection.read(self.limit)
        if not piece:
            raise ConnectionFailed('The connection ended before the answer did.')
        self._buffer += piece

    async def _until(self, end: bytes, most: int) -> bytes:
        while end not in self._buffer:
            if len(self._buffer) > most:
                raise UnexpectedResponse(self.status, f'Headers must have at most {most} bytes.')
            await self._more()
        found, self._buffer = self._buffer.split(end, 1)
        return found

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes. After the last piece the connection may serve another request."""
        if self.status in (204, 304):
            self.done()
        elif self.headers.get('transfer-encoding', '').lower() == 'chunked':
            async for piece in self._chunks():
                yield piece
            self.done()
        elif 'content-length' in self.headers:
            async for piece in self._exactly(self._length()):
                yield piece
            self.done()
        else:
            yield self._buffer
            while piece := await self._connection.read(self.limit):
                yield piece
            self.close()

    def _length(self) -> int:
        text = self.headers['content-length']
        if not re.fullmatch(r'\d{1,15}', text):
            raise UnexpectedResponse(self.status, 'Content-Length of the answer is not a number.')
        return int(text)

    async def _exactly(self, size: int) -> AsyncIterator[bytes]:
        while size > 0:
            if not self._buffer:
                await self._more()
            piece, self._buffer = self._buffer[:size], self._buffer[size:]
            size -= len(piece)
            yield piece

    async def _chunks(self) -> AsyncIterator[bytes]:
        while True:
            match = SIZE.fullmatch(await self._until(b'\r\n', HEAD_MAX))
            if match is None:
                raise UnexpectedResponse(self.status, 'A chunk of the answer is not HTTP.')
            size = int(match[1], 16)
            if size == 0:
                break
            async for piece in self._exactly(size):
                yield piece
            await self._until(b'\r\n', 2)
        while await self._until(b'\r\n', HEAD_MAX):
            pass  # trailers

    async def read(self, most: int) -> bytes:
        """The whole body. ResponseTooLarge if it has more than `most` bytes."""
        if 'content-length' in self.headers and self._length() > most:
            raise ResponseTooLarge(f'The answer must be at most {most} bytes.')
        found: List[bytes] = []
        size = 0
        async for piece in self.pieces():
            size += len(piece)
            if size > most:
                raise ResponseTooLarge(f'The answer must be at most {most} bytes.')
            found.append(piece)
        return b''.join(found)

    @property
    def media_type(self) -> str:
        return self.headers.get('content-type', '').split(';')[0].strip().lower()

    def done(self) -> None:
        self._done = True
        keep = self.headers.get('connection', '').lower() != 'close' and not self._buffer
        self._pool.put_back(self._connection, keep)

    def close(self) -> None:
        """Ends the connection, unless the whole body was read."""
        if not self._done:
            self._connection.close()


class Pool:
    """Connections to one server."""

    def __init__(self, to: Address, tls: Optional[ssl.SSLContext]):
        self._to = to
        self._tls = tls
        self._idle: List[Connection] = []

    async def send(self, head: bytes, body: bytes, limit: Deadline) -> Response:
        """The response, with its head read. The caller reads the body, or closes it."""
        connection = await self._connection(limit)
        try:
            await connection.write(head + body, limit)
            response = Response(self, connection, limit)
            await response.read_head()
            return response
        except BaseException:
            connection.close()
            raise

    async def _connection(self, limit: Deadline) -> Connection:
        while (connection := self._take()) is not None:
            if not connection.stale:
                return connection
            connection.close()
        return await Connection.open(self._to, self._tls, limit)

    def _take(self) -> Optional[Connection]:
        try:
            return self._idle.pop()  # another thread may have taken the last one
        except IndexError:
            return None

    def put_back(self, connection: Connection, keep: bool) -> None:
        if keep and len(self._idle) < IDLE_MAX:
            self._idle.append(connection)
        else:
            connection.close()

    def close(self) -> None:
        while (connection := self._take()) is not None:
            connection.close()
