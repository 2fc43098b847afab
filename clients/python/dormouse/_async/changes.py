"""Pending calls that change."""
import json
from collections import OrderedDict, deque
from typing import Any, AsyncIterator, Awaitable, Callable, Deque, Dict, Optional

from ..types import PendingCall
from .http import Response

WAIT_S = 50
KNOWN_MAX = 10_000


class AsyncChanges:
    """Pending calls that change, oldest change first: an endless asynchronous iterator. Every
    change comes, also across restarts of the server."""

    cursor: Optional[int]
    """Give it as `since` to a later iterator. It moves once all changes of an answer were taken."""

    def __init__(self, since: Optional[int],
                 ask: 'Callable[[Dict[str, Any], int], Awaitable[Any]]'):
        self.cursor = since
        self._ask = ask
        self._next_cursor = since
        self._waiting: Deque[PendingCall] = deque()
        self._known: 'OrderedDict[str, str]' = OrderedDict()

    def __aiter__(self) -> 'AsyncIterator[PendingCall]':
        return self

    async def __anext__(self) -> PendingCall:
        while True:
            while self._waiting:
                call = self._waiting.popleft()
                if self._is_new(call):
                    return call
            self.cursor = self._next_cursor
            await self._read()

    async def _read(self) -> None:
        if self.cursor is None:
            response, _ = await self._ask({'limit': 1}, 0)
            self.cursor = self._next_cursor = as_of(response)
        response, page = await self._ask({'changedSince': self.cursor, 'limit': 200}, WAIT_S)
        calls = page['items']
        while page['next'] is not None:
            more = {'changedSince': self.cursor, 'limit': 200, 'cursor': page['next']}
            _, page = await self._ask(more, 0)
            calls += page['items']
        self._waiting.extend(reversed(calls))
        self._next_cursor = as_of(response) or self.cursor

    def _is_new(self, call: PendingCall) -> bool:
        """The server sends some changes twice."""
        text = json.dumps(call, sort_keys=True)
        if self._known.get(call['id']) == text:
            return False
        self._known[call['id']] = text
        self._known.move_to_end(call['id'])
        if len(self._known) > KNOWN_MAX:
            self._known.popitem(last=False)
        return True


def as_of(response: Response) -> int:
    return int(response.headers.get('dormouse-as-of', '0'))
