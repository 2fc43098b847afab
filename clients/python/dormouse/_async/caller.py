"""How operations of openapi.json are called: repeated, bounded, checked. AsyncClient builds on
it."""
import json
import math
import ssl
import urllib.parse
from typing import Any, AsyncIterator, Dict, NamedTuple, Optional, Tuple

from .._deadline import Deadline
from .._operations import OPERATIONS
from .._settings import (
    REPEATABLE,
    Limits,
    address_of,
    checked_token,
    new_key,
    pause_before,
    seconds_of,
    tls_context,
    token_from_environment,
    url_from_environment,
)
from ..errors import ConnectionFailed, Refusal, TimedOut, UnexpectedResponse
from ..refusals import BY_CODE
from .http import Pool, Response
from .net import sleep_s

WAIT_S = 50  # the longest `wait` of the server
GRACE_MS = 30_000  # for an answer, beside what the server waits
PROBLEM_BYTES = 1 << 20
# Deletions that answer a repeated request as the first one.
CANCELS = ('cancelPending', 'cancelAsked')


class AsyncCaller:
    """See AsyncClient."""

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        *,
        project: str = 'default',
        timeout_ms: float = 60_000,
        outage_ms: float = 300_000,
        max_response_bytes: int = 64 << 20,
        ssl_context: Optional[ssl.SSLContext] = None,
    ):
        if token is None and url is None:
            token = token_from_environment()
        self._token = checked_token(token)
        self._address = address_of(url or url_from_environment())
        self._pool = Pool(self._address, tls_context(self._address, ssl_context))
        self._limits = Limits(timeout_ms, outage_ms, max_response_bytes)
        self.project = project

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self._address.name!r}, project={self.project!r})'

    def __getstate__(self) -> Any:
        raise TypeError('a client holds a token and connections, and is not stored')

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends idle connections. The client may be used again."""
        self._pool.close()

    async def call(
        self,
        operation: str,
        *,
        path: Optional[Dict[str, Any]] = None,
        query: Optional[Dict[str, Any]] = None,
        body: Any = None,
        idempotency_key: Optional[str] = None,
        timeout_ms: Optional[float] = None,
    ) -> Any:
        """Any operation of openapi.json by its name; for what has no method. Returns its JSON
        value."""
        request = self._request(operation, path, query, body, idempotency_key)
        return (await self._repeated(request, timeout_ms))[1]

    async def _pages(self, operation: str, path: Dict[str, Any], query: Dict[str, Any],
                     timeout_ms: Optional[float]) -> AsyncIterator[Any]:
        cursor = None
        while True:
            page = await self.call(operation, path=path, timeout_ms=timeout_ms,
                                   query={'limit': 200, **query, 'cursor': cursor})
            for item in page['items']:
                yield item
            cursor = page['next']
            if cursor is None:
                return

    async def _waited(self, request: 'Request', timeout_ms: Optional[float], is_done: Any) -> Any:
        """Asks with `wait` until `is_done`, or until the caller's limit."""
        limit = Deadline(timeout_ms)
        while True:
            wait_s = min(WAIT_S,
                         math.ceil(max(limit.left_s, 0)) if timeout_ms is not None else WAIT_S)
            query = {**request.query, 'wait': wait_s}
            outage_ms = wait_s * 1000 + self._limits.outage_ms
            response, value = await self._repeated(request._replace(query=query), outage_ms, wait_s,
                                                   limit)
            if is_done(response, value):
                return value
            if limit.left_s <= 0:
                limit.passed()

    def _request(self, operation: str, path: Optional[Dict[str, Any]] = None,
                 query: Optional[Dict[str, Any]] = None, body: Any = None,
                 idempotency_key: Optional[str] = None) -> 'Request':
        keyed = OPERATIONS[operation][2]
        key = (idempotency_key or new_key()) if keyed else None
        content = b'' if body is None else json.dumps(body, allow_nan=False).encode()
        return Request(operation, path or {}, query or {}, content, key)

    async def _repeated(
        self,
        request: 'Request',
        timeout_ms: Optional[float],
        wait_s: int = 0,
        outer: Optional[Deadline] = None,
    ) -> Tuple[Any, Any]:
        method, _, keyed = OPERATIONS[request.operation]
        repeatable = keyed or method in ('GET', 'DELETE') or request.operation in REPEATABLE
        limit = Deadline(self._limits.timeout_ms if timeout_ms is None else timeout_ms, outer)
        tries = 0
        earlier: Optional[Exception] = None
        while True:
            try:
                return await self._once(request, Deadline(wait_s * 1000 + GRACE_MS, limit))
            except (Refusal, UnexpectedResponse, TimedOut, ConnectionFailed) as error:
                if limit.left_s <= 0:
                    # What an attempt before the limit met says more than the limit.
                    late = TimedOut('The time limit passed before the answer came.')
                    raise earlier or late from None
                earlier = error
                # The first of two deletions succeeded, and its answer was lost.
                if tries and gone(request, error):
                    return None, None
                pause = pause_before(error, tries, repeatable)
                if pause is None or pause / 1000 >= limit.left_s:
                    raise
            tries += 1
            await sleep_s(pause / 1000)

    async def _once(self, request: 'Request', limit: Deadline) -> Tuple[Response, Any]:
        method, template, _ = OPERATIONS[request.operation]
        target = template.format(**{name: quoted(value) for name, value in request.path.items()})
        headers = {'accept': 'application/json'}
        if request.body:
            headers['content-type'] = 'application/json'
        if request.key is not None:
            headers['idempotency-key'] = request.key
        if request.operation == 'getArtifact':
            headers['accept'] = '*/*'
        response = await self._good(method, target + search(request.query), headers, request.body,
                                    limit)
        try:
            content = await response.read(self._limits.max_bytes)
        except BaseException:
            response.close()
            raise
        if response.status == 204:
            return response, None
        if request.operation == 'getArtifact':
            return response, content
        if response.media_type != 'application/json':
            raise UnexpectedResponse(response.status, 'The answer is not application/json.')
        return response, parsed(content, response.status)

    async def _good(self, method: str, target: str, headers: Dict[str, str], body: bytes,
                    limit: Deadline) -> Response:
        """The response, unless it is a refusal or a redirect: those are raised."""
        lines = [f'{method} {self._address.prefix}{target} HTTP/1.1', f'host: {self._address.name}']
        if self._token:
            lines.append(f'authorization: Bearer {self._token}')
        if body or method in ('POST', 'PATCH'):
            lines.append(f'content-length: {len(body)}')
        lines += [f'{name}: {value}' for name, value in headers.items()]
        for line in lines:
            if not line.isascii() or '\r' in line or '\n' in line:
                raise ValueError('keys and cursors must consist of visible ASCII characters')
        response = await self._pool.send(('\r\n'.join(lines) + '\r\n\r\n').encode(), body, limit)
        if response.status < 300:
            return response
        try:
            raise await self._refusal(response)
        finally:
            response.close()

    async def _refusal(self, response: Response) -> Exception:
        after = seconds_of(response.headers.get('retry-after'))
        if response.status < 400:
            return UnexpectedResponse(
                response.status, 'The server answered with a redirect, which is not followed.')
        if response.media_type in ('application/problem+json', 'application/json'):
            content = await response.read(min(PROBLEM_BYTES, self._limits.max_bytes))
            if self._token:
                content = content.replace(self._token.encode(), b'[token]')
            problem = parsed(content, response.status)
            if isinstance(problem, dict):
                kind = BY_CODE.get(str(problem.get('code')), Refusal)
                return kind(response.status, problem, after)
        text = f'Status {response.status} without a problem document.'
        return UnexpectedResponse(response.status, text, after)


class Request(NamedTuple):
    operation: str
    path: Dict[str, Any]
    query: Dict[str, Any]
    body: bytes
    key: Optional[str]


def quoted(value: Any) -> str:
    return urllib.parse.quote(str(value), safe='')


def search(query: Dict[str, Any]) -> str:
    """A query string; members without a value are left out."""
    words = {True: 'true', False: 'false'}
    pairs = [(name, words[value] if isinstance(value, bool) else str(value))
             for name, value in query.items() if value is not None]
    return '?' + urllib.parse.urlencode(pairs) if pairs else ''


def parsed(content: bytes, status: int) -> Any:
    try:
        return json.loads(content.decode())
    except (ValueError, RecursionError):
        raise UnexpectedResponse(status, f'The answer ({status}) is not JSON.') from None


def gone(request: Request, error: Exception) -> bool:
    deletes = OPERATIONS[request.operation][0] == 'DELETE' and request.operation not in CANCELS
    return deletes and isinstance(error, Refusal) and error.status in (404, 410)
