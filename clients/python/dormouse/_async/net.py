"""A connection that asyncio reads and writes."""
import asyncio
import ssl
from typing import Optional

from .._deadline import Deadline
from .._settings import Address
from ..errors import ConnectionFailed

PIECE = 65536


class Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._reader = reader
        self._writer = writer
        self._loop = asyncio.get_running_loop()

    @classmethod
    async def open(cls, to: Address, tls: Optional[ssl.SSLContext],
                   limit: Deadline) -> 'Connection':
        try:
            opening = asyncio.open_connection(to.host, to.port, ssl=tls)
            return cls(*await asyncio.wait_for(opening, limit.seconds))
        except OSError as error:
            if isinstance(error, TimeoutError) and limit.left_s <= 0:
                limit.passed()
            why = error.strerror or type(error).__name__
            raise ConnectionFailed(f'No answer from {to.name}: {why}') from None
        except asyncio.TimeoutError:
            limit.passed()
            raise

    @property
    def stale(self) -> bool:
        """It ended while it was idle, or belongs to another event loop."""
        return self._reader.at_eof() or self._loop is not asyncio.get_running_loop()

    async def write(self, data: bytes, limit: Deadline) -> None:
        try:
            self._writer.write(data)
            await asyncio.wait_for(self._writer.drain(), limit.seconds)
        except asyncio.TimeoutError:
            limit.passed()
        except OSError:
            pass  # refused before all of it was sent: the answer may have come

    async def read(self, limit: Deadline) -> bytes:
        """The next bytes; none at the end."""
        try:
            return await asyncio.wait_for(self._reader.read(PIECE), limit.seconds)
        except asyncio.TimeoutError:
            limit.passed()
            raise
        except OSError as error:
            why = type(error).__name__
            raise ConnectionFailed(f'The connection ended before the answer did: {why}') from None

    def close(self) -> None:
        if not self._loop.is_closed():
            self._writer.transport.abort()


sleep_s = asyncio.sleep
