"""Events that continue by their cursor."""
import json
import time
from collections import deque
from typing import Any, AsyncIterator, Awaitable, Callable, Deque, Dict, Optional, Set

from .._deadline import Deadline
from .._settings import stream_pause
from .._sse import Frame, Frames
from ..errors import ConnectionFailed, DormouseError, UnexpectedResponse
from .http import Response
from .net import sleep_s

SILENCE_MS = 45_000  # the server sends a comment each 15 s


class AsyncEventStream:
    """The events of a session or a project, an asynchronous iterator.

    It connects again by its cursor, also across restarts of the server: no event is lost or
    repeated. Items are events; with `deltas` also `{"type": "delta", ...}`; and
    `{"type": "reset", "after": ...}` when retention removed events. Close it, or use `with`.
    """

    cursor: Optional[str]
    """Where to continue: give it as `after` to a later stream. It moves when the event after this
    one is asked for."""

    def __init__(
        self,
        connect: 'Callable[[Optional[str], Deadline], Awaitable[Response]]',
        after: Optional[str],
        deltas: bool,
        outage_ms: float,
        max_bytes: int,
    ):
        self.cursor = after
        self._connect = connect
        self._deltas = deltas
        self._outage_ms = outage_ms
        self._max = max_bytes
        self._response: Optional[Response] = None
        self._pieces: Any = None
        self._frames = Frames(max_bytes)
        self._waiting: Deque[Frame] = deque()
        self._taken: Optional[Frame] = None
        self._seen: Set[Any] = set()
        self._ended = False
        self._failures = 0
        self._failing: Optional[float] = None

    def __aiter__(self) -> 'AsyncIterator[Any]':
        return self

    async def __aenter__(self) -> 'AsyncEventStream':
        return self

    async def __aexit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection and the iterator."""
        self._ended = True
        self._disconnect()

    async def __anext__(self) -> Any:
        if self._taken is not None:
            self._moved(self._taken)
            self._taken = None
        while not self._ended:
            try:
                item = await self._next()
            except DormouseError as error:
                self._disconnect()
                await self._failed(error)
                continue
            except BaseException:
                self._disconnect()
                raise
            if item is not None:
                return item
        raise StopAsyncIteration

    async def _next(self) -> Any:
        """The next item; None: nothing yet that anybody is to see."""
        if not self._waiting:
            await self._read()
            return None
        frame = self._waiting.popleft()
        item = self._item(frame)
        if item is None:
            return None
        if item.get('type') == 'bye':
            if item.get('reason') == 'deleted':
                self.close()
                return None
            raise ConnectionFailed('The server ended the stream.')
        self._taken = frame
        return item

    async def _read(self) -> None:
        if self._response is None:
            self._response = await self._connect(self.cursor, Deadline(SILENCE_MS))
            if self._response.media_type != 'text/event-stream':
                raise UnexpectedResponse(self._response.status,
                                         'The answer is not text/event-stream.')
            self._pieces = self._response.pieces()
            self._frames = Frames(self._max)
        self._response.limit = Deadline(SILENCE_MS)
        try:
            self._waiting.extend(self._frames.feed(await self._pieces.__anext__()))
        except StopAsyncIteration:
            raise ConnectionFailed('The stream ended.') from None

    def _item(self, frame: Frame) -> Optional[Dict[str, Any]]:
        if frame.data == '':
            self._moved(frame)
            return None
        try:
            data = json.loads(frame.data)
            key = (data.get('sessionID'), data.get('seq'))
        except (ValueError, AttributeError):
            raise UnexpectedResponse(200, 'An event is not a JSON object.') from None
        self._failures = 0
        self._failing = None
        if frame.event in ('delta', 'reset', 'bye'):
            return None if frame.event == 'delta' and not self._deltas else {**data,
                                                                             'type': frame.event}
        if key in self._seen:
            return None
        self._seen.add(key)
        return data

    def _moved(self, frame: Frame) -> None:
        if frame.id is not None:
            self.cursor = frame.id
            self._seen.clear()

    def _disconnect(self) -> None:
        self._waiting.clear()
        if self._response is not None:
            self._response.close()
            self._response = None

    async def _failed(self, error: DormouseError) -> None:
        """Waits before the next connection, or raises if that cannot help."""
        pause = stream_pause(error, self._failures)
        if pause is None:
            raise error
        self._failures += 1
        if self._failing is None:
            self._failing = time.monotonic()
        if (time.monotonic() - self._failing) * 1000 + pause > self._outage_ms:
            raise error
        await sleep_s(pause / 1000)
