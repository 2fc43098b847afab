"""The methods of AsyncClient."""
from typing import Any, AsyncIterator, Dict, List, Literal, Optional, Tuple, Union

from .. import types
from .._artifact import Artifact
from .._deadline import Deadline
from .._settings import input_of, new_key, without_none
from .caller import AsyncCaller, quoted, search
from .changes import AsyncChanges
from .http import Response
from .stream import AsyncEventStream

BATCH = 1000
SETTLED = ('completed', 'failed', 'expired', 'cancelled')

PromptInput = Union[str, List[types.InputPart]]
When = Literal['queue', 'steer', 'interrupt', 'reject']


class AsyncClient(AsyncCaller):
    """Sessions, prompts, pending calls, results, tasks and mail of one server: the
    asynchronous client.

    Without `url` and `token` it finds the server as the command line does: `$DORMOUSE_URL`,
    else http://127.0.0.1:3676; `$DORMOUSE_TOKEN`, else the token of the data directory. With
    `url` no token is looked for, so that it goes to no other server.

    Each call is repeated, within `timeout_ms`, when the connection fails or the server asks to
    come back later (Retry-After is obeyed), if repeating it changes nothing: reads,
    submissions, and what has an idempotency key. Raises Refusal (the server says no),
    ConnectionFailed, TimedOut, ResponseTooLarge or UnexpectedResponse. Times are in ms;
    objects are dicts as in JSON.
    """

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

    async def get_session(self, session_id: str, *,
                          timeout_ms: Optional[float] = None) -> types.Session:
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

    def list_projects(self, *, timeout_ms: Optional[float] = None) -> AsyncIterator[types.Project]:
        """Projects that the token may see: its own, or those that have sessions."""
        return self._pages('listProjects', {}, {}, timeout_ms)

    async def update_session(
        self, session_id: str, changes: types.PatchRequest, *, timeout_ms: Optional[float] = None
    ) -> types.Session:
        """Changes title, alias or labels. Returns the Session."""
        return await self.call('patchSession', path={'id': session_id}, body=changes,
                               timeout_ms=timeout_ms)

    async def delete_session(self, session_id: str, *, timeout_ms: Optional[float] = None) -> None:
        """Deletes it: open calls are cancelled, its streams end."""
        await self.call('deleteSession', path={'id': session_id}, timeout_ms=timeout_ms)

    async def end_session(self, session_id: str, *,
                          timeout_ms: Optional[float] = None) -> types.Session:
        """Completes it: open calls, the turn and the queue are cancelled. Not repeated after a lost
        connection."""
        return await self.call('endSession', path={'id': session_id}, body={},
                               timeout_ms=timeout_ms)

    async def resume_session(self, session_id: str, *,
                             timeout_ms: Optional[float] = None) -> types.Session:
        """A paused session becomes active. Not repeated after a lost connection."""
        return await self.call('resumeSession', path={'id': session_id}, body={},
                               timeout_ms=timeout_ms)

    async def retry_session(self, session_id: str, *,
                            timeout_ms: Optional[float] = None) -> types.Session:
        """A session whose last turn failed asks the model again. Not repeated after a lost
        connection."""
        return await self.call('retrySession', path={'id': session_id}, body={},
                               timeout_ms=timeout_ms)

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
        return await self.call('cancelSession', path={'id': session_id}, body=body,
                               timeout_ms=timeout_ms)

    async def wait_session(self, session_id: str, *,
                           timeout_ms: Optional[float] = None) -> types.Session:
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

    def list_turns(self, session_id: str, *,
                   timeout_ms: Optional[float] = None) -> AsyncIterator[types.Turn]:
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
        body = {**input_of(input),
                **without_none({'when': when, 'answers': answers, 'reopen': reopen})}
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
        body = {**input_of(input),
                **without_none({'when': when, 'answers': answers, 'reopen': reopen})}
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
        """Events of a session, from its first or from `after`; continues across restarts of
        the server."""
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

    def _stream(self, target: str, query: Dict[str, Any], after: Union[str, int, None],
                deltas: bool,
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
        """Pending calls of `session_id`, else of the project, newest first; without `status`
        those that are open."""
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

    async def wait(self, pending_id: str, *,
                   timeout_ms: Optional[float] = None) -> types.PendingCall:
        """Waits until the call is settled. Returns the PendingCall with its outcome. No limit
        without `timeout_ms`."""
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
        """Pending calls that change, as an endless iterator: a long poll by `changedSince`
        that continues by `cursor`. `since`: ms since the epoch; 0: all that are kept; default:
        from now on."""
        where = {**self._where(session_id, project), 'status': status, 'tool': tool,
                 'reason': reason, 'view': view}

        async def ask(more: Dict[str, Any], wait_s: int) -> Tuple[Response, Any]:
            query = {**where, **more, 'wait': wait_s or None}
            request = self._request('listPending', {}, query)
            return await self._repeated(request, wait_s * 1000 + self._limits.outage_ms, wait_s)

        return AsyncChanges(since, ask)

    def _where(self, session_id: Optional[str], project: Optional[str]) -> Dict[str, Any]:
        return {'sessionID': session_id} if session_id else {'project': project or self.project}

    async def ask(
        self,
        question: str,
        *,
        kind: Optional[Literal['approval', 'answer', 'result']] = None,
        tool: Optional[str] = None,
        arguments: Optional[Dict[str, Any]] = None,
        choices: Optional[List[types.Choice]] = None,
        schema: Optional[Dict[str, Any]] = None,
        answer: Optional[types.AskAnswerers] = None,
        within_ms: Optional[int] = None,
        on_deadline: Optional[Literal['expire', 'deny']] = None,
        remind_after_ms: Optional[int] = None,
        remind_every_ms: Optional[int] = None,
        webhook_url: Optional[str] = None,
        webhook_secret: Optional[str] = None,
        external_ref: Optional[str] = None,
        project: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        timeout_ms: Optional[float] = None,
    ) -> types.AskedCall:
        """Makes a call without an agent that people or a job settle, and returns at once: the
        AskedCall. The arguments are the members of AskRequest. The same `idempotency_key` finds
        the same call again, also after it was answered."""
        body = without_none({
            'question': question, 'kind': kind, 'tool': tool, 'arguments': arguments,
            'choices': choices, 'schema': schema, 'answer': answer, 'withinMs': within_ms,
            'onDeadline': on_deadline, 'remindAfterMs': remind_after_ms,
            'remindEveryMs': remind_every_ms, 'webhookURL': webhook_url,
            'webhookSecret': webhook_secret, 'externalRef': external_ref})
        return await self.call('ask', query={'project': project or self.project}, body=body,
                               idempotency_key=idempotency_key, timeout_ms=timeout_ms)

    async def ask_and_wait(self, question: str, *, timeout_ms: Optional[float] = None,
                           **members: Any) -> types.PendingCall:
        """Asks, and waits for the outcome: the settled PendingCall. Takes what `ask` takes;
        `timeout_ms` limits the wait, which has no limit by default: the question stays open."""
        call = await self.ask(question, **members)
        return await self.wait(call['pendingID'], timeout_ms=timeout_ms)

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
        """Reports progress of a call: any JSON value of up to 64 KiB. `key`: the same key
        again changes nothing."""
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
        """Asks other people: 1 to 20 names, or `role:answer`, `role:operate`, `role:admin`.
        Returns the PendingCall."""
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
        """Starts a background task: a child session of `agent_id` with that prompt. Returns
        the Task."""
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
        """Cancels the run of a task. Returns the Task; None for a call, which is cleared with
        it."""
        return await self.call('cancelTask', path={'id': task_id},
                               body=without_none({'reason': reason}),
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

    async def get_mail(self, mail_id: str, *,
                       timeout_ms: Optional[float] = None) -> types.MailState:
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

    async def get_artifact(self, artifact_id: str, *,
                           timeout_ms: Optional[float] = None) -> Artifact:
        """The bytes of an artifact, up to `max_response_bytes`."""
        request = self._request('getArtifact', {'id': artifact_id})
        response, content = await self._repeated(request, timeout_ms)
        digest = response.headers.get('etag', '').strip('"')
        return Artifact(content, response.headers.get('content-type', ''), digest)

    async def list_agents(self, *, timeout_ms: Optional[float] = None) -> List[types.Agent]:
        """Agents that sessions can have."""
        return (await self.call('listAgents', timeout_ms=timeout_ms))['items']

    async def me(self, *, timeout_ms: Optional[float] = None) -> types.Me:
        """The identity of the token: name, role, kind, projects, expires."""
        return await self.call('getMe', timeout_ms=timeout_ms)

    async def explain(self, id: str, *, timeout_ms: Optional[float] = None) -> types.Explanation:
        """The submission that settled a call, and the step that used it. `id`: any id of
        Dormouse."""
        return await self.call('explain', path={'id': id}, timeout_ms=timeout_ms)
