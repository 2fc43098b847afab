"""A connection that blocks its thread."""
import selectors
import socket
import ssl
import time
from typing import Optional

from .._deadline import Deadline
from .._settings import Address
from ..errors import ConnectionFailed

PIECE = 65536


class Connection:
    def __init__(self, connected: socket.socket):
        self._socket = connected

    @classmethod
    def open(cls, to: Address, tls: Optional[ssl.SSLContext], limit: Deadline) -> 'Connection':
        try:
            connected = socket.create_connection((to.host, to.port), timeout=limit.seconds)
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if tls is not None:
                connected = tls.wrap_socket(connected, server_hostname=to.host)
            return cls(connected)
        except OSError as error:
            if isinstance(error, socket.timeout) and limit.left_s <= 0:
                limit.passed()
            why = error.strerror or type(error).__name__
            raise ConnectionFailed(f'No answer from {to.name}: {why}') from None

    @property
    def stale(self) -> bool:
        """It ended while it was idle."""
        with selectors.DefaultSelector() as ready:
            ready.register(self._socket, selectors.EVENT_READ)
            return bool(ready.select(0))

    def write(self, data: bytes, limit: Deadline) -> None:
        try:
            self._socket.settimeout(limit.seconds)
            self._socket.sendall(data)
        except socket.timeout:
            limit.passed()
        except OSError:
            pass  # refused before all of it was sent: the answer may have come

    def read(self, limit: Deadline) -> bytes:
        """The next bytes; none at the end."""
        try:
            self._socket.settimeout(limit.seconds)
            return self._socket.recv(PIECE)
        except socket.timeout:
            limit.passed()
            raise
        except OSError as error:
            why = type(error).__name__
            raise ConnectionFailed(f'The connection ended before the answer did: {why}') from None

    def close(self) -> None:
        self._socket.close()


sleep_s = time.sleep
