"""The client: see AsyncClient."""
import json
import math
import ssl
import urllib.parse
from typing import Any, AsyncIterator, Dict, List, Literal, NamedTuple, Optional, Tuple, Union

from .. import types
from .._artifact import Artifact
from .._deadline import Deadline
from .._operations import OPERATIONS
from .._settings import (
    REPEATABLE, Limits, address_of, checked_token, input_of, new_key, pause_before, seconds_of,
    tls_context, token_from_environment, url_from_environment, without_none,
)
from ..errors import ConnectionFailed, Refusal, TimedOut, UnexpectedResponse
from ..refusals import BY_CODE
from .changes import AsyncChanges
from .http import Pool, Response
from .net import sleep_s
from .stream import AsyncEventStream

WAIT_S = 50  # the longest `wait` of the server
GRACE_MS = 30_000  # for an answer, beside what the server waits
PROBLEM_BYTES = 1 << 20
BATCH = 1000
SETTLED = ('completed', 'failed', 'expired', 'cancelled')

PromptInput = Union[str, List[types.InputPart]]
When = Literal['queue', 'steer', 'interrupt', 'reject']


class AsyncClient:
    """Sessions, prompts, pending calls, results, tasks and mail of one server: the asynchronous client.

    Without `url` and `token` it finds the server as the command line does: `$DORMOUSE_URL`, else
    http://127.0.0.1:3676; `$DORMOUSE_TOKEN`, else the token of the data directory. With `url` no token
    is looked for, so that it goes to no other server.

    Each call is repeated, within `timeout_ms`, when the connection fails or the server asks to come
    back later (Retry-After is obeyed), if repeating it changes nothing: reads, submissions, and what
    has an idempotency key. Raises Refusal (the server says no), ConnectionFailed, TimedOut,
    ResponseTooLarge or UnexpectedResponse. Times are in ms; objects are dicts as in JSON.
    """

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

    async def __aenter__(self) -> 'AsyncClient':
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
        """Any operation of openapi.json by its name; for what has no method. Returns its JSON value."""
        request = self._request(operation, path, query, body, idempotency_key)
        return (await self._repeated(request, timeout_ms))[1]

    # ---- sessions

    async def create_session(
        self,
        agent_id: str,
        *,
        project: Optional[str] = None,
        prompt: Optional[PromptInput] = None,
        alias: Optional[str] = None,
        title: Optional[str] = None,
        labels: Optional[Dict[str, str]] = None,
        cwd: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        timeout_ms: Optional[float] = None,
    ) -> types.Session:
        """Makes a session of an agent; with `prompt` its first turn begins. Returns the Session."""
        first = None if prompt is None else input_of(prompt)
        body = without_none({'agentID': agent_id, 'prompt': first, 'alias': alias, 'title': title,
                             'labels': labels, 'cwd': cwd})
        path = {'project': project or self.project}
        return await self.call('createSession', path=path, body=body,
                               idempotency_key=idempotency_key, timeout_ms=timeout_ms)

    async def get_session(self, session_id: str, *, timeout_ms: Optional[float] = None) -> types.Session:
        """The Session."""
        return await self.call('getSession', path={'id': session_id}, timeout_ms=timeout_ms)

    def list_sessions(
        self,
        *,
        project: Optional[str] = None,
        state: Optional[str] = None,
        q: Optional[str] = None,
        alias: Optional[str] = None,
        timeout_ms: Optional[float] = None,
    ) -> AsyncIterator[types.Session]:
        """Sessions, newest first, page by page; `state` and `q` as in the HTTP reference."""
        query = {'state': state, 'q': q, 'alias': alias}
        return self._pages('listSessions', {'project': project or self.project}, query, timeout_ms)

    async def update_session(
        self, session_id: str, changes: types.PatchRequest, *, timeout_ms: Optional[float] = None
    ) -> types.Session:
        """Changes title, alias or labels. Returns the Session."""
        return await self.call('patchSession', path={'id': session_id}, body=changes, timeout_ms=timeout_ms)

    async def delete_session(self, session_id: str, *, timeout_ms: Optional[float] = None) -> None:
        """Deletes it: open calls are cancelled, its streams end."""
        await self.call('deleteSession', path={'id': session_id}, timeout_ms=timeout_ms)

    async def end_session(self, session_id: str, *, timeout_ms: Optional[float] = None) -> types.Session:
        """Completes it: open calls, the turn and the queue are cancelled. Not repeated after a lost
        connection."""
        return await self.call('endSession', path={'id': session_id}, body={}, timeout_ms=timeout_ms)

    async def resume_session(self, session_id: str, *, timeout_ms: Optional[float] = None) -> types.Session:
        """A paused session becomes active. Not repeated after a lost connection."""
        return await self.call('resumeSession', path={'id': session_id}, body={}, timeout_ms=timeout_ms)

    async def retry_session(self, session_id: str, *, timeout_ms: Optional[float] = None) -> types.Session:
        """A session whose last turn failed asks the model again. Not repeated after a lost connection."""
        return await self.call('retrySession', path={'id': session_id}, body={}, timeout_ms=timeout_ms)

    async def fork_session(
        self,
        session_id: str,
        *,
        seq: Optional[int] = None,
        title: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        timeout_ms: Optional[float] = None,
    ) -> types.Session:
        """A new session with the transcript up to `seq` (default: the newest). Returns it."""
        body = without_none({'seq': seq, 'title': title})
        return await self.call('forkSession', path={'id': session_id}, body=body,
                               idempotency_key=idempotency_key, timeout_ms=timeout_ms)

    async def cancel(
        self,
        session_id: str,
        *,
        all: Optional[bool] = None,
        reason: Optional[str] = None,
        timeout_ms: Optional[float] = None,
    ) -> types.Session:
        """Cancels the open turn and its calls; with `all` also the queue. Returns the Session."""
        body = without_none({'all': all or None, 'reason': reason})
        return await self.call('cancelSession', path={'id': session_id}, body=body, timeout_ms=timeout_ms)

    async def wait_session(self, session_id: str, *, timeout_ms: Optional[float] = None) -> types.Session:
        """Waits until it is idle, or sleeps because calls are open. Returns the Session. No limit
        without `timeout_ms`."""
        return await self._waited(
            self._request('getSession', {'id': session_id}), timeout_ms,
            lambda _, value: value['activity']['type'] in ('idle', 'waiting_async'))

    def list_messages(
        self, session_id: str, *, timeout_ms: Optional[float] = None
    ) -> AsyncIterator[types.Message]:
        """Messages, oldest first."""
        return self._pages('listMessages', {'id': session_id}, {}, timeout_ms)

    def list_turns(self, session_id: str, *, timeout_ms: Optional[float] = None) -> AsyncIterator[types.Turn]:
        """Turns, oldest first."""
        return self._pages('listTurns', {'id': session_id}, {}, timeout_ms)

    # ---- prompts

    async def prompt(
        self,
        session_id: str,
        input: PromptInput,
        *,
        when: Optional[When] = None,
        answers: Optional[str] = None,
        reopen: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
        timeout_ms: Optional[float] = None,
    ) -> types.Accepted:
        """Sends a prompt and returns once it is durable: turnID, messageID, seq, queuedBehind."""
        body = {**input_of(input), **without_none({'when': when, 'answers': answers, 'reopen': reopen})}
        return await self.call('prompt', path={'id': session_id}, body=body,
                               idempotency_key=idempotency_key, timeout_ms=timeout_ms)

    async def run(
        self,
        session_id: str,
        input: PromptInput,
        *,
        when: Optional[When] = None,
        answers: Optional[str] = None,
        reopen: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
        timeout_ms: Optional[float] = None,
    ) -> types.Turn:
        """Sends a prompt and waits until its turn has ended or sleeps. Returns the Turn. No limit
        without `timeout_ms`."""
        body = {**input_of(input), **without_none({'when': when, 'answers': answers, 'reopen': reopen})}
        # The same key again is the same prompt: the server waits for the turn that it began.
        request = self._request('prompt', {'id': session_id}, None, body, idempotency_key)
        return await self._waited(request, timeout_ms, lambda response, _: response.status == 200)

    # ---- events

    def events(
        self,
        session_id: str,
        *,
        after: Union[str, int, None] = None,
        view: Optional[Literal['events', 'objects']] = None,
        deltas: bool = False,
        children: Optional[bool] = None,
        outage_ms: Optional[float] = None,
    ) -> AsyncEventStream:
        """Events of a session, from its first or from `after`; continues across restarts of the server."""
        target = f'/api/sessions/{quoted(session_id)}/events'
        return self._stream(target, {'view': view, 'children': children}, after, deltas, outage_ms)

    def project_events(
        self,
        *,
        project: Optional[str] = None,
        after: Optional[str] = None,
        view: Optional[Literal['events', 'objects']] = None,
        deltas: bool = False,
        outage_ms: Optional[float] = None,
    ) -> AsyncEventStream:
        """Events of all sessions of a project; `after='now'` begins with the next one. Cursors are
        opaque texts."""
        query = {'project': project or self.project, 'view': view}
        return self._stream('/api/events', query, after, deltas, outage_ms)

    def _stream(self, target: str, query: Dict[str, Any], after: Union[str, int, None], deltas: bool,
                outage_ms: Optional[float]) -> AsyncEventStream:
        async def connect(cursor: Optional[str], limit: Deadline) -> Response:
            first = {'after': 'now'} if after == 'now' and cursor is None else {}
            headers = {'accept': 'text/event-stream'}
            if cursor is not None:
                headers['last-event-id'] = cursor
            return await self._good('GET', target + search({**query, **first}), headers, b'', limit)

        begin = None if after is None or after == 'now' else str(after)
        outage = self._limits.outage_ms if outage_ms is None else outage_ms
        return AsyncEventStream(connect, begin, deltas, outage, self._limits.max_bytes)

    # ---- pending calls

    def list_pending(
        self,
        *,
        session_id: Optional[str] = None,
        project: Optional[str] = None,
        status: Optional[str] = None,
        tool: Optional[str] = None,
        reason: Optional[str] = None,
        external_ref: Optional[str] = None,
        view: Optional[Literal['inbox']] = None,
        timeout_ms: Optional[float] = None,
    ) -> AsyncIterator[types.PendingCall]:
        """Pending calls, newest first; without `status` those that are open. Of `session_id`, else of
        the project."""
        query = {**self._where(session_id, project), 'status': status, 'tool': tool,
                 'reason': reason, 'externalRef': external_ref, 'view': view}
        return self._pages('listPending', {}, query, timeout_ms)

    async def get_pending(
        self,
        pending_id: str,
        *,
        view: Optional[Literal['inbox']] = None,
        timeout_ms: Optional[float] = None,
    ) -> types.PendingCall:
        """The PendingCall."""
        return await self.call('getPending', path={'id': pending_id}, query={'view': view},
                               timeout_ms=timeout_ms)

    async def wait(self, pending_id: str, *, timeout_ms: Optional[float] = None) -> types.PendingCall:
        """Waits until the call is settled. Returns the PendingCall with its outcome. No limit without
        `timeout_ms`."""
        return await self._waited(self._request('getPending', {'id': pending_id}), timeout_ms,
                                  lambda _, value: value['status'] in SETTLED)

    def changes(
        self,
        *,
        since: Optional[int] = None,
        session_id: Optional[str] = None,
        project: Optional[str] = None,
        status: Optional[str] = None,
        tool: Optional[str] = None,
        reason: Optional[str] = None,
        view: Optional[Literal['inbox']] = None,
    ) -> AsyncChanges:
        """Pending calls that change, as an endless iterator: a long poll by `changedSince` that
        continues by `cursor`. `since`: ms since the epoch; 0: all that are kept; default: from now on."""
        where = {**self._where(session_id, project), 'status': status, 'tool': tool,
                 'reason': reason, 'view': view}

        async def ask(more: Dict[str, Any], wait_s: int) -> Tuple[Response, Any]:
            query = {**where, **more, 'wait': wait_s or None}
            request = self._request('listPending', {}, query)
            return await self._repeated(request, wait_s * 1000 + self._limits.outage_ms, wait_s)

        return AsyncChanges(since, ask)

    def _where(self, session_id: Optional[str], project: Optional[str]) -> Dict[str, Any]:
        return {'sessionID': session_id} if session_id else {'project': project or self.project}

    async def approve(
        self,
        call: types.PendingCall,
        *,
        reason: Optional[str] = None,
        arguments: Optional[Dict[str, Any]] = None,
        content: Any = None,
        rule: Optional[types.RuleRequest] = None,
        timeout_ms: Optional[float] = None,
    ) -> types.SubmissionAnswer:
        """Approves the call as it was shown: its `inputDigest` is sent. `arguments` replaces its
        arguments; `rule` also approves later calls like it."""
        more = {'reason': reason, 'arguments': arguments, 'content': content, 'rule': rule}
        return await self._decide(call, True, more, timeout_ms)

    async def deny(
        self,
        call: types.PendingCall,
        *,
        reason: Optional[str] = None,
        content: Any = None,
        timeout_ms: Optional[float] = None,
    ) -> types.SubmissionAnswer:
        """Denies the call as it was shown."""
        return await self._decide(call, False, {'reason': reason, 'content': content}, timeout_ms)

    async def _decide(self, call: types.PendingCall, approved: bool, more: Dict[str, Any],
                      timeout_ms: Optional[float]) -> types.SubmissionAnswer:
        body = {'pendingID': call['id'], 'approved': approved, 'inputDigest': call['inputDigest'],
                **without_none(more)}
        return await self.call('submitDecision', body=body, timeout_ms=timeout_ms)

    async def submit_result(
        self,
        pending_id: str,
        output: Any,
        *,
        title: Optional[str] = None,
        metadata: Any = None,
        files: Optional[List[Dict[str, Any]]] = None,
        timeout_ms: Optional[float] = None,
    ) -> types.SubmissionAnswer:
        """Submits the result of a call, or the answer to a question. `output`: any JSON value."""
        result = {'output': output, **without_none({'title': title, 'metadata': metadata})}
        body = {'pendingID': pending_id, 'result': result, **without_none({'files': files})}
        return await self.call('submitResult', body=body, timeout_ms=timeout_ms)

    async def submit_error(
        self, pending_id: str, error: str, *, timeout_ms: Optional[float] = None
    ) -> types.SubmissionAnswer:
        """Submits an error as the outcome of a call."""
        body = {'pendingID': pending_id, 'error': error}
        return await self.call('submitError', body=body, timeout_ms=timeout_ms)

    async def submit_results(
        self, items: List[Dict[str, Any]], *, timeout_ms: Optional[float] = None
    ) -> List[Dict[str, Any]]:
        """Submits many results and errors, 1000 a request. Returns one {pendingID, status, answer,
        problem} for each."""
        answers: List[Dict[str, Any]] = []
        for at in range(0, len(items), BATCH):
            body = {'items': items[at:at + BATCH]}
            answer = await self.call('submitResults', body=body, timeout_ms=timeout_ms)
            answers += answer['items']
        return answers

    async def submit_progress(
        self,
        pending_id: str,
        payload: Any,
        *,
        key: Optional[str] = None,
        timeout_ms: Optional[float] = None,
    ) -> types.ProgressAnswer:
        """Reports progress of a call: any JSON value of up to 64 KiB. `key`: the same key again changes
        nothing."""
        body = {'pendingID': pending_id, 'payload': payload, 'key': key or new_key()}
        return await self.call('submitProgress', body=body, timeout_ms=timeout_ms)

    async def claim(
        self,
        pending_id: str,
        *,
        for_ms: Optional[int] = None,
        timeout_ms: Optional[float] = None,
    ) -> types.PendingCall:
        """Claims a call for one of several workers, for `for_ms` (default 60000; 0 releases it).
        Returns the PendingCall."""
        return await self.call('claimPending', path={'id': pending_id},
                               body=without_none({'forMs': for_ms}), timeout_ms=timeout_ms)

    async def reassign(
        self, pending_id: str, to: List[str], *, timeout_ms: Optional[float] = None
    ) -> types.PendingCall:
        """Asks other people: 1 to 20 names, or `role:answer`, `role:operate`, `role:admin`. Returns the
        PendingCall."""
        return await self.call('reassignPending', path={'id': pending_id}, body={'to': to},
                               timeout_ms=timeout_ms)

    async def cancel_pending(
        self, call: Union[str, types.PendingCall], *, reason: Optional[str] = None,
        timeout_ms: Optional[float] = None
    ) -> types.SubmissionAnswer:
        """Cancels one call; the model reads the reason."""
        pending_id = call if isinstance(call, str) else call['id']
        return await self.call('cancelPending', path={'id': pending_id}, query={'reason': reason},
                               timeout_ms=timeout_ms)

    # ---- tasks

    async def start_task(
        self,
        session_id: str,
        agent_id: str,
        prompt: str,
        *,
        description: Optional[str] = None,
        fork: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
        timeout_ms: Optional[float] = None,
    ) -> types.Task:
        """Starts a background task: a child session of `agent_id` with that prompt. Returns the Task."""
        body = {'agentID': agent_id, 'prompt': prompt,
                **without_none({'description': description, 'fork': fork})}
        return await self.call('startTask', path={'id': session_id}, body=body,
                               idempotency_key=idempotency_key, timeout_ms=timeout_ms)

    async def list_tasks(
        self, session_id: str, *, tree: Optional[bool] = None, timeout_ms: Optional[float] = None
    ) -> List[types.Task]:
        """Tasks of a session, oldest first; with `tree` each has `tasks`."""
        page = await self.call('listTasks', path={'id': session_id}, query={'tree': tree},
                               timeout_ms=timeout_ms)
        return page['items']

    async def resume_task(
        self,
        task_id: str,
        message: str,
        *,
        idempotency_key: Optional[str] = None,
        timeout_ms: Optional[float] = None,
    ) -> types.Task:
        """Sends a further message to a completed task. Returns the Task."""
        return await self.call('resumeTask', path={'id': task_id}, body={'message': message},
                               idempotency_key=idempotency_key, timeout_ms=timeout_ms)

    async def wait_task(self, task_id: str, *, timeout_ms: Optional[float] = None) -> types.Task:
        """Waits until the task's run has ended. Returns the Task with its result. No limit without
        `timeout_ms`."""
        return await self._waited(self._request('getTaskOutput', {'id': task_id}), timeout_ms,
                                  lambda response, _: response.status == 200)

    async def cancel_task(
        self, task_id: str, *, reason: Optional[str] = None, timeout_ms: Optional[float] = None
    ) -> Optional[types.Task]:
        """Cancels the run of a task. Returns the Task; None for a call, which is cleared with it."""
        return await self.call('cancelTask', path={'id': task_id}, body=without_none({'reason': reason}),
                               timeout_ms=timeout_ms)

    async def clear_task(self, task_id: str, *, timeout_ms: Optional[float] = None) -> None:
        """Removes a task; its session ends."""
        await self.call('clearTask', path={'id': task_id}, timeout_ms=timeout_ms)

    # ---- mail

    async def send_mail(
        self,
        text: str,
        *,
        to: Union[str, List[str], None] = None,
        from_: Optional[str] = None,
        reply_to: Optional[str] = None,
        resume: Optional[bool] = None,
        ttl: Optional[int] = None,
        project: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        timeout_ms: Optional[float] = None,
    ) -> types.MailAnswer:
        """Sends mail to one or more sessions (ids or aliases); without `to` to every alias of the
        project. `ttl` in ms."""
        body = without_none({'text': text, 'to': to, 'from': from_, 'replyTo': reply_to,
                             'resume': resume, 'ttl': ttl})
        return await self.call('sendMail', query={'project': project or self.project}, body=body,
                               idempotency_key=idempotency_key, timeout_ms=timeout_ms)

    async def get_mail(self, mail_id: str, *, timeout_ms: Optional[float] = None) -> types.MailState:
        """The state of a mail, for each receiver."""
        return await self.call('getMail', path={'id': mail_id}, timeout_ms=timeout_ms)

    async def list_inbox(
        self,
        session_id: str,
        *,
        after: Optional[int] = None,
        status: Optional[str] = None,
        timeout_ms: Optional[float] = None,
    ) -> AsyncIterator[types.Mail]:
        """The mail of a session, oldest first, after number `after`."""
        begin: Any = after
        while True:
            query = {'after': begin, 'status': status, 'limit': 200}
            page = await self.call('listInbox', path={'id': session_id}, query=query,
                                   timeout_ms=timeout_ms)
            for mail in page['items']:
                yield mail
            begin = page['next']
            if begin is None:
                return

    # ---- artifacts and the server

    async def get_artifact(self, artifact_id: str, *, timeout_ms: Optional[float] = None) -> Artifact:
        """The bytes of an artifact, up to `max_response_bytes`."""
        request = self._request('getArtifact', {'id': artifact_id})
        response, content = await self._repeated(request, timeout_ms)
        digest = response.headers.get('etag', '').strip('"')
        return Artifact(content, response.headers.get('content-type', ''), digest)

    async def list_agents(self, *, timeout_ms: Optional[float] = None) -> List[types.Agent]:
        """Agents that sessions can have."""
        return (await self.call('listAgents', timeout_ms=timeout_ms))['items']

    async def me(self, *, timeout_ms: Optional[float] = None) -> types.Me:
        """Who the token is: name, role, kind, projects, expires."""
        return await self.call('getMe', timeout_ms=timeout_ms)

    async def explain(self, id: str, *, timeout_ms: Optional[float] = None) -> types.Explanation:
        """Who settled a call, and which step used it. `id`: any id of Dormouse."""
        return await self.call('explain', path={'id': id}, timeout_ms=timeout_ms)

    # ---- how calls are repeated

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
            wait_s = min(WAIT_S, math.ceil(max(limit.left_s, 0)) if timeout_ms is not None else WAIT_S)
            query = {**request.query, 'wait': wait_s}
            outage_ms = wait_s * 1000 + self._limits.outage_ms
            response, value = await self._repeated(request._replace(query=query), outage_ms, wait_s, limit)
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
        while True:
            try:
                return await self._once(request, Deadline(wait_s * 1000 + GRACE_MS, limit))
            except (Refusal, UnexpectedResponse, TimedOut, ConnectionFailed) as error:
                if limit.left_s <= 0:
                    raise TimedOut('The time limit passed before the answer came.') from None
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
        response = await self._good(method, target + search(request.query), headers, request.body, limit)
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
    deletes = OPERATIONS[request.operation][0] == 'DELETE' and request.operation != 'cancelPending'
    return deletes and isinstance(error, Refusal) and error.status in (404, 410)
