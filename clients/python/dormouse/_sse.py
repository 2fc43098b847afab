"""Server-Sent Events: bytes in, frames out."""
import re
from typing import Iterator, List, NamedTuple, Optional

from .errors import ResponseTooLarge, UnexpectedResponse

_LINE_END = re.compile(rb'\r\n|\n|\r(?!$)')


class Frame(NamedTuple):
    id: Optional[str]
    event: str
    data: str


class Frames:
    """Splits a stream into frames, each of at most `max_bytes`."""

    def __init__(self, max_bytes: int):
        self._max = max_bytes
        self._rest = b''
        self._size = 0
        self._begin()

    def _begin(self) -> None:
        self._id: Optional[str] = None
        self._event = ''
        self._data: List[str] = []
        self._size = len(self._rest)

    def feed(self, piece: bytes) -> Iterator[Frame]:
        self._size += len(piece)
        *lines, self._rest = _LINE_END.split(self._rest + piece)
        for line in lines:
            frame = self._line(line)
            if frame is not None:
                yield frame
        if self._size > self._max:
            raise ResponseTooLarge(f'An event must have at most {self._max} bytes.')

    def _line(self, line: bytes) -> Optional[Frame]:
        if line == b'':
            frame = Frame(self._id, self._event or 'message', '\n'.join(self._data))
            begun = self._data or self._id is not None
            self._begin()
            # A frame with an id and nothing else says where the stream begins.
            return frame if begun else None
        try:
            field, _, text = line.decode().partition(':')
        except UnicodeDecodeError:
            raise UnexpectedResponse(200, 'An event is not UTF-8.') from None
        text = text[1:] if text.startswith(' ') else text
        if field == 'data':
            self._data.append(text)
        elif field == 'event':
            self._event = text
        elif field == 'id':
            self._id = text
        else:
            self._size = len(self._rest)  # a comment, or how long to wait
        return None
