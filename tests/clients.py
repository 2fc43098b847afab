#!/usr/bin/env python3
"""The client libraries behave alike (clients/behaviour): against the real server, which is killed,
and against servers that misbehave."""
import contextlib
import hashlib
import socket
import sys
import time
import unittest

import npm
from docs_errors import read_codes
from dormouse import ROOT, Server, leave_out, main, wait_for

sys.path.insert(0, str(ROOT / 'tests/clients'))

from driven import CLIENTS, ClientError, Driven, command_of  # noqa: E402
from hostile import Hostile, problem, response  # noqa: E402

TOKEN = 'token-that-nobody-may-see'
SHORT_MS = 1000
LINES = ''.join(f'x-{n}: {"y" * 100}\r\n' for n in range(10000))
HEADERS = f'HTTP/1.1 200 OK\r\n{LINES}'.encode()


def send_cut_body(accepted):
    head = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n'
    accepted.sendall(head + b'{}')


class Library:
    """The tests; a class for each library follows."""

    library = ''

    @classmethod
    def setUpClass(cls):
        cls.command, cls.more = command_of(cls.library)
        cls.server = Server()
        cls.addClassCleanup(cls.server.clean)

    @classmethod
    def tearDownClass(cls):
        cls.server.finish()

    def setUp(self):
        if not self.server.alive():
            self.server.start()

    def driven(self, base=None, token=None, **options):
        driven = Driven(self.command, self.more)
        self.addCleanup(driven.close)
        base = base or f'http://127.0.0.1:{self.server.port}'
        driven.send(new={'base': base, 'token': token or self.server.token, **options}).value()
        return driven

    def hostile(self, *answers, **options):
        """A server that answers so, and a client of it."""
        server = Hostile(*answers)
        self.addCleanup(server.close)
        return server, self.driven(server.base, TOKEN, **options)

    def asleep(self, client, text='deploy shop'):
        session = client.call('createSession', 'demo', prompt=text)
        return client.call('waitSession', session['id'])

    def fails(self, kind, driven, *call, **options):
        with self.assertRaises(ClientError) as raised:
            driven.call(*call, **options)
        error = raised.exception
        self.assertEqual(error.kind, kind, error.about)
        self.assertNotIn(TOKEN, error.shown)
        self.assertNotIn(self.server.token, error.shown)
        return error

    # ---- what it is for

    def test_session_sleeps_and_a_result_wakes_it(self):
        client = self.driven()
        session = self.asleep(client)
        pending = session['activity']['pendingID']
        waiting = client.begin('wait', pending)
        answer = client.call('submitResult', pending, {'status': 'live'}, title='done')
        self.assertEqual(answer['outcome'], 'applied')
        self.assertEqual(client.call('submitResult', pending, {'status': 'live'})['outcome'],
                         'duplicate')
        self.assertEqual(waiting.value()['result']['output'], {'status': 'live'})
        client.call('waitSession', session['id'])
        texts = [part['text'] for message in client.all('listMessages', session['id'])
                 for part in message['parts'] if part['type'] == 'text']
        self.assertEqual(texts[-1], 'deploy shop: {"status":"live"}')
        self.assertEqual(client.call('explain', pending)['calls'][0]['pendingID'], pending)

    def test_run_returns_the_turn_that_ended(self):
        client = self.driven()
        session = client.call('createSession', 'demo')
        turn = client.call('run', session['id'], 'hello', idempotencyKey='hello-1')
        self.assertEqual((turn['status'], turn['finishReason']), ('ended', 'stop'))
        again = client.call('run', session['id'], 'hello', idempotencyKey='hello-1')
        self.assertEqual(again['id'], turn['id'])
        self.assertEqual(len(client.all('listTurns', session['id'])), 1)

    def test_prompt_modes_queue_and_reject(self):
        client = self.driven()
        session = client.call('createSession', 'demo', prompt='sleepy 30s')['id']
        queued = client.call('prompt', session, 'second', when='queue')
        self.assertIsNotNone(queued['queuedBehind'])
        error = self.fails('Refusal', client, 'prompt', session, 'third', when='reject')
        self.assertEqual((error.code, error.status, error.next), ('session_busy', 409, 'retry'))
        client.call('cancel', session, all=True, reason='enough')
        self.assertEqual(client.call('waitSession', session)['activity']['type'], 'idle')
        client.call('endSession', session)
        error = self.fails('Refusal', client, 'prompt', session, 'late')
        self.assertEqual(error.code, 'wrong_state')
        reopened = client.call('run', session, 'again', reopen=True)
        self.assertEqual(reopened['status'], 'ended')

    def test_approve_and_deny_send_what_was_shown(self):
        client = self.driven()
        for method, approved in (('approve', True), ('deny', False)):
            session = self.asleep(client, 'approve cleanup')
            call = client.call('getPending', session['activity']['pendingID'], view='inbox')
            error = self.fails('Refusal', client, method,
                               {**call, 'inputDigest': 'sha256:' + '0' * 64})
            self.assertEqual(error.code, 'input_changed')
            client.call(method, call, reason='because')
            decision = client.call('wait', call['id'])['decision']
            self.assertEqual((decision['approved'], decision['reason']), (approved, 'because'))

    def test_ask_makes_a_call_without_an_agent(self):
        client = self.driven()
        question = client.call('ask', 'Deploy?', kind='approval', tool='deploy',
                               arguments={'version': '4.2'}, idempotencyKey='deploy-4.2',
                               answer={'from': ['role:answer']}, withinMs=600_000)
        again = client.call('ask', 'Deploy?', kind='approval', tool='deploy',
                            arguments={'version': '4.2'}, idempotencyKey='deploy-4.2',
                            answer={'from': ['role:answer']}, withinMs=600_000)
        self.assertEqual((again['pendingID'], again['duplicate']), (question['pendingID'], True))
        client.call('approve', question['call'])
        self.assertTrue(client.call('wait', question['pendingID'])['decision']['approved'])
        other = client.call('ask', 'Where?', choices=[{'title': 'eu'}, {'title': 'us'}])
        error = self.fails('Refusal', client, 'submitResult', other['pendingID'], 'mars')
        self.assertEqual(error.code, 'invalid_result')
        client.call('submitResult', other['pendingID'], 'eu')
        self.assertEqual(client.call('wait', other['pendingID'])['result']['output'], 'eu')

    def test_batch_reports_each_item(self):
        client = self.driven()
        session = self.asleep(client, 'deploy A and B')
        calls = client.all('listPending', sessionID=session['id'])
        self.assertEqual(len(calls), 2)
        items = [{'pendingID': calls[0]['id'], 'result': {'output': 1}},
                 {'pendingID': calls[1]['id'], 'error': 'no'},
                 {'pendingID': 'pnd_unknown', 'error': 'no'}]
        answers = client.call('submitResults', items)
        self.assertEqual([one['status'] for one in answers], [200, 200, 404])

    def test_claim_progress_error_and_cancel_of_calls(self):
        client = self.driven()
        session = self.asleep(client, 'deploy A and B')
        one, two = client.all('listPending', sessionID=session['id'], tool='deploy')
        self.assertEqual(client.call('claim', one['id'], forMs=5000)['status'], 'processing')
        client.call('submitProgress', one['id'], {'percent': 50}, key='half')
        again = client.call('submitProgress', one['id'], {'percent': 50}, key='half')
        self.assertTrue(again['duplicate'])
        self.assertEqual(client.call('submitError', one['id'], 'broken')['outcome'], 'applied')
        client.call('cancelPending', two['id'], reason='not now')
        self.assertEqual(client.call('wait', two['id'])['cancelReason'], 'not now')

    def test_changes_continue_by_their_cursor(self):
        client = self.driven()
        first = self.asleep(client)
        since = client.call('getPending', first['activity']['pendingID'])['time']['created']
        changes = client.iterate('changes', since=since)
        # What changed shortly before `since` may come, too.
        own = first['activity']['pendingID']
        item = changes.until(lambda call: call['id'] == own)[-1]
        client.call('submitResult', item['id'], 1)
        self.assertEqual(changes.until(lambda call: call['status'] == 'completed')[-1]['id'],
                         item['id'])
        self.server.restart()
        second = self.asleep(client)['activity']['pendingID']
        self.assertEqual(changes.until(lambda call: call['id'] == second)[-1]['status'], 'waiting')

    def test_tasks_mail_and_artifacts(self):
        client = self.driven()
        alias = f'{self.library}-{time.monotonic_ns()}'
        parent = client.call('createSession', 'demo', alias=alias, labels={'a': 'b'})
        task = client.call('startTask', parent['id'], 'demo', 'look it up')
        done = client.call('waitTask', task['taskID'])
        self.assertEqual((done['status'], done['result']), ('completed', 'You said: look it up'))
        client.call('resumeTask', task['taskID'], 'once more')
        self.assertEqual(client.call('waitTask', task['taskID'])['result'], 'You said: once more')
        self.assertEqual(len(client.call('listTasks', parent['id'])), 1)
        client.call('clearTask', task['taskID'])
        sent = client.call('sendMail', 'good morning', to=alias)
        self.assertEqual(sent['receivers'][0]['sessionID'], parent['id'])
        mails = client.all('listInbox', parent['id'])
        self.assertEqual([mail['text'] for mail in mails], ['good morning'])
        self.assertEqual(client.call('getMail', sent['receivers'][0]['mailID'])['id'],
                         sent['receivers'][0]['mailID'])
        parts = [{'type': 'text', 'text': 'read'},
                 {'type': 'file', 'mime': 'text/plain', 'name': 'a.txt', 'data': 'aGVsbG8='}]
        client.call('run', parent['id'], parts)
        file = next(part for message in client.all('listMessages', parent['id'])
                    for part in message['parts'] if part['type'] == 'file')
        artifact = client.call('getArtifact', file['artifactID'])
        self.assertEqual(artifact['bytes'], 'aGVsbG8=')
        self.assertEqual(artifact['digest'], hashlib.sha256(b'hello').hexdigest())
        self.assertTrue(artifact['mime'].startswith('text/plain'))

    def test_lists_sessions_forks_updates_and_deletes(self):
        client = self.driven()
        project = f'p{time.monotonic_ns()}'
        made = [client.call('createSession', 'demo', project=project)['id'] for _ in range(3)]
        listed = [one['id'] for one in client.all('listSessions', project=project)]
        self.assertEqual(listed, made[::-1])
        self.assertIn(project, [one['id'] for one in client.all('listProjects')])
        changed = client.call('updateSession', made[0], {'title': 'new'})
        self.assertEqual(changed['title'], 'new')
        client.call('run', made[0], 'hello')
        fork = client.call('forkSession', made[0], title='copy')
        self.assertEqual(fork['forkedFrom'], made[0])
        client.call('deleteSession', made[0])
        self.assertEqual(self.fails('Refusal', client, 'getSession', made[0]).code, 'not_found')
        self.assertEqual(client.call('me')['role'], 'admin')
        self.assertIn('demo', [agent['id'] for agent in client.call('listAgents')])

    # ---- across SIGKILLs

    def test_prompt_without_an_answer_is_done_once(self):
        client = self.driven()
        session = client.call('createSession', 'demo')['id']
        self.server.kill()
        prompts = [client.begin('prompt', session, f'text {n}') for n in range(3)]
        self.server.start()
        turns = {prompt.value()['turnID'] for prompt in prompts}
        self.assertEqual(len(turns), 3)
        client.call('waitSession', session)
        self.assertEqual(len(client.all('listTurns', session)), 3)

    def test_ask_and_wait_survives_kills(self):
        client = self.driven()
        self.server.kill()
        question = f'Deploy with {self.library}?'
        answer = client.begin('askAndWait', question, idempotencyKey=f'ask-{self.library}')
        self.server.start()
        (call,) = wait_for(lambda: [one for one in self.server.items('/api/pending')
                                    if one['message'] == question], what='the question')
        self.server.restart()
        self.server.decide(call, False, reason='no')
        self.server.restart()
        decision = answer.value()['decision']
        self.assertEqual((decision['approved'], decision['reason']), (False, 'no'))

    def test_prompts_during_kills_are_done_once(self):
        client = self.driven()
        session = client.call('createSession', 'demo')['id']
        sent = []
        for burst in range(3):
            sent += [client.begin('prompt', session, f'text {burst} {n}') for n in range(10)]
            self.server.restart()
        accepted = [prompt.value()['turnID'] for prompt in sent]
        self.assertEqual(len(set(accepted)), 30)
        client.call('waitSession', session)
        texts = [part['text'] for message in client.all('listMessages', session)
                 if message['role'] == 'user' for part in message['parts']]
        self.assertEqual(sorted(texts),
                         sorted(f'text {b} {n}' for b in range(3) for n in range(10)))

    def from_now(self, client):
        """The events of the project from now on: the iterator has brought its first one."""
        feed = client.iterate('projectEvents', after='now')
        for _ in range(60):
            client.call('createSession', 'demo')
            with contextlib.suppress(AssertionError):
                feed.item(limit_s=0.5)
                return feed
        self.fail('no event of the project came')

    def test_events_come_once_across_kills(self):
        client = self.driven()
        feed = self.from_now(client)
        session = client.call('createSession', 'demo')['id']
        events = client.iterate('events', session)
        seen = []
        for number in range(3):
            client.call('run', session, f'hello {number}')
            seen += events.until(lambda event: event['type'] == 'turn_ended')
            self.server.restart()
        client.call('run', session, 'last')
        seen += events.until(lambda event: event['type'] == 'turn_ended')
        self.assertEqual([event['seq'] for event in seen], list(range(1, len(seen) + 1)))
        last = seen[-1]['seq']
        came = feed.until(lambda one: one['sessionID'] == session and one['seq'] == last)
        mine = [one['seq'] for one in came if one['sessionID'] == session]
        self.assertEqual(mine, list(range(1, last + 1)))

    def test_stream_resumes_by_its_cursor_in_another_process(self):
        first = self.driven()
        session = first.call('createSession', 'demo', prompt='hello')['id']
        events = first.iterate('events', session)
        events.until(lambda event: event['type'] == 'model_requested')
        cursor, seq = events.cursor, 4
        second = self.driven()
        again = second.iterate('events', session, after=cursor)
        # The cursor moves when the next event is asked for.
        self.assertEqual(again.item()['seq'], seq)

    def test_waits_survive_kills(self):
        client = self.driven()
        pending = self.asleep(client)['activity']['pendingID']
        waiting = client.begin('wait', pending)
        for _ in range(2):
            self.server.restart()
        client.call('submitResult', pending, 'late')
        self.assertEqual(waiting.value()['status'], 'completed')

    def test_stream_ends_with_its_session(self):
        client = self.driven()
        session = client.call('createSession', 'demo')['id']
        events = client.iterate('events', session)
        self.assertEqual(events.item()['type'], 'session_created')
        client.call('deleteSession', session)
        while 'end' not in (line := events.next()):
            self.assertEqual(line['item']['type'], 'session_deleted')

    def test_deltas_come_on_request(self):
        client = self.driven()
        session = client.call('createSession', 'demo')['id']
        events = client.iterate('events', session, deltas=True)
        client.call('run', session, 'hello')
        items = events.until(lambda item: item['type'] == 'turn_ended')
        texts = [item['text'] for item in items if item['type'] == 'delta']
        self.assertEqual(''.join(texts), 'You said: hello')

    # ---- refusals

    def test_each_code_is_a_typed_error(self):
        codes = read_codes(ROOT)
        answers = {f'/ses_{code}/': problem(int(http), code, following, 9000)
                   for code, following, http, *_ in codes}
        server = Hostile(by_path=answers)
        self.addCleanup(server.close)
        client = self.driven(server.base, TOKEN, timeoutMs=SHORT_MS)
        for code, following, http, *_ in codes:
            error = self.fails('Refusal', client, 'prompt', f'ses_{code}', 'hello')
            self.assertEqual((error.code, error.status, error.next), (code, int(http), following))
            self.assertEqual(error.retryAfterMs, 9000)
            self.assertRegex(error.remedy, r'\.$')
            self.check_class(error, code)
        self.assertGreater(len(codes), 50)

    def check_class(self, error, code):
        pass

    def test_retry_after_is_obeyed_with_the_same_key(self):
        accepted = '{"turnID":"trn_1","messageID":"msg_1","seq":2,"queuedBehind":null}'
        server, client = self.hostile(
            problem(429, 'rate_limited', 'retry', 1000, 'Retry-After: 1\r\n'),
            problem(503, 'draining', 'retry', 200, 'Retry-After: 1\r\n'),
            response(502, '<html>', 'text/html'),
            response(202, accepted))
        begin = time.monotonic()
        self.assertEqual(client.call('prompt', 'ses_x', 'hello')['turnID'], 'trn_1')
        # The waits are the client's own, by its clock. A slow machine makes them longer only.
        self.assertGreaterEqual(time.monotonic() - begin, 2)
        self.assertEqual(len({server.key(number) for number in range(4)}), 1)

    def test_retry_after_beyond_the_limit_is_an_error_at_once(self):
        answer = problem(429, 'rate_limited', 'retry', 60000, 'Retry-After: 60\r\n')
        server, client = self.hostile(answer)
        error = self.fails('Refusal', client, 'prompt', 'ses_x', 'hello', timeoutMs=20000)
        self.assertEqual((error.code, error.retryAfterMs), ('rate_limited', 60000))
        self.assertEqual(len(server.requests), 1)

    def test_unrepeatable_calls_are_sent_once(self):
        server, client = self.hostile(problem(503, 'store_unavailable', 'retry', 100))
        self.fails('Refusal', client, 'endSession', 'ses_x')
        self.assertEqual(len(server.requests), 1)
        server, client = self.hostile(lambda accepted: None)
        self.fails('ConnectionFailed', client, 'retrySession', 'ses_x')
        self.assertEqual(len(server.requests), 1)

    def test_lost_answer_of_a_deletion_is_no_error(self):
        server, client = self.hostile(lambda accepted: None, problem(404, 'not_found'))
        client.call('deleteSession', 'ses_x')
        self.assertEqual(len(server.requests), 2)

    # ---- time-outs

    def test_server_that_does_not_answer_is_a_time_out(self):
        _, client = self.hostile(lambda accepted: accepted.recv(1))
        self.fails('TimedOut', client, 'getSession', 'ses_x', timeoutMs=500)

    def test_wait_ends_at_its_limit(self):
        client = self.driven()
        pending = self.asleep(client)['activity']['pendingID']
        self.fails('TimedOut', client, 'wait', pending, timeoutMs=300)
        self.assertEqual(client.call('getPending', pending)['status'], 'waiting')

    def test_closed_port_is_a_failed_connection(self):
        with socket.create_server(('127.0.0.1', 0)) as probe:
            port = probe.getsockname()[1]
        client = self.driven(f'http://127.0.0.1:{port}', TOKEN)
        self.fails('ConnectionFailed', client, 'me', timeoutMs=3000)
        events = client.iterate('events', 'ses_x', outageMs=500)
        with self.assertRaises(ClientError) as raised:
            events.item()
        self.assertEqual(raised.exception.kind, 'ConnectionFailed')

    # ---- servers that misbehave

    def test_large_bodies_are_refused(self):
        large = response(200, '"' + 'x' * 300_000 + '"')
        _, client = self.hostile(large, maxResponseBytes=100_000)
        self.fails('ResponseTooLarge', client, 'getSession', 'ses_x')

        def endless(accepted):
            accepted.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
                             b'Transfer-Encoding: chunked\r\n\r\n')
            while True:
                accepted.sendall(b'1000\r\n' + b'x' * 4096 + b'\r\n')

        _, client = self.hostile(endless, maxResponseBytes=100_000)
        self.fails('ResponseTooLarge', client, 'getSession', 'ses_x')

    def test_large_event_ends_the_stream(self):
        def endless(accepted):
            accepted.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ')
            while True:
                accepted.sendall(b'x' * 4096)

        _, client = self.hostile(endless, maxResponseBytes=100_000)
        with self.assertRaises(ClientError) as raised:
            client.iterate('events', 'ses_x').item()
        self.assertEqual(raised.exception.kind, 'ResponseTooLarge')

    def test_endless_headers_are_refused(self):
        server, client = self.hostile(lambda accepted: accepted.sendall(HEADERS))
        self.fails('UnexpectedResponse', client, 'getSession', 'ses_x', timeoutMs=5000)
        self.assertEqual(len(server.requests), 1)

    def test_answers_of_another_service_are_unexpected(self):
        answers = [response(200, '<html>hello', 'text/html'),
                   response(200, '{', 'application/json'),
                   response(200, b'"\xff"', 'application/json'),
                   response(404, '<html>', 'text/html'), b'SSH-2.0-OpenSSH\r\n\r\n']
        _, client = self.hostile(*answers)
        for _ in answers:
            self.fails('UnexpectedResponse', client, 'getSession', 'ses_x')
        _, client = self.hostile(response(200, '{}'))
        with self.assertRaises(ClientError) as raised:
            client.iterate('events', 'ses_x').item()
        self.assertEqual(raised.exception.kind, 'UnexpectedResponse')

    def test_redirects_are_not_followed(self):
        other, _ = self.hostile(response(200, '{}'))
        for status in (301, 302, 303, 307, 308):
            where = f'Location: {other.base}/\r\n'
            _, client = self.hostile(response(status, '', 'text/html', where))
            self.fails('UnexpectedResponse', client, 'getSession', 'ses_x')
            self.fails('UnexpectedResponse', client, 'prompt', 'ses_x', 'hello')
        self.assertEqual(other.requests, [])

    def test_cut_body_is_a_failed_connection(self):
        server, client = self.hostile(send_cut_body)
        self.fails('ConnectionFailed', client, 'getSession', 'ses_x', timeoutMs=3000)
        self.assertGreater(len(server.requests), 1)

    def test_failure_before_the_limit_is_what_is_reported(self):
        _, client = self.hostile(send_cut_body, lambda accepted: accepted.recv(1))
        self.fails('ConnectionFailed', client, 'getSession', 'ses_x', timeoutMs=3000)

    def test_token_is_in_no_log(self):
        answer = problem(401, 'unauthenticated', detail=f'bad token {TOKEN}')
        _, client = self.hostile(answer)
        error = self.fails('Refusal', client, 'me')
        self.assertIn('[token]', error.message)
        self.assertNotIn(TOKEN, client.send(show=True).value())
        broken = Driven(self.command, self.more)
        self.addCleanup(broken.close)
        for options in ({'base': 'http://127.0.0.1:1', 'token': TOKEN + '\n'},
                        {'base': f'http://user:{TOKEN}@127.0.0.1', 'token': 'x'}):
            with self.assertRaises(ClientError) as raised:
                broken.send(new=options).value()
            self.assertNotIn(TOKEN, raised.exception.shown)
            self.assertEqual(raised.exception.kind, 'DormouseError')

    def test_silent_and_closing_streams_connect_again(self):
        def event(seq):
            data = f'{{"seq":{seq},"type":"note","sessionID":"ses_x"}}'
            return f'id: {seq}\nevent: note\ndata: {data}\n\n'

        body = event(1) + event(2)
        # The second connection repeats event 2, as a feed may.
        server, client = self.hostile(response(200, body, 'text/event-stream'),
                                      response(200, event(2) + event(3), 'text/event-stream'))
        events = client.iterate('events', 'ses_x')
        self.assertEqual([events.item()['seq'] for _ in range(2)], [1, 2])
        self.assertIn(events.item()['seq'], (2, 3))
        self.assertIn('last-event-id: 2', server.requests[1].lower())


    def test_stream_from_now_keeps_its_place_without_an_event(self):
        event = 'id: f9\nevent: note\ndata: {"seq":1,"type":"note","sessionID":"ses_x"}\n\n'
        server, client = self.hostile(
            response(200, 'retry: 1000\n\nid: f7\n\n', 'text/event-stream'),
            response(200, event, 'text/event-stream'))
        self.assertEqual(client.iterate('projectEvents', after='now').item()['seq'], 1)
        first, second = server.requests[:2]
        self.assertIn('after=now', first)
        self.assertNotIn('after=now', second)
        self.assertIn('last-event-id: f7', second.lower())


class Cancellable(Library):
    """The blocking client has time limits only."""

    def test_cancelled_calls_and_iterators_end(self):
        client = self.driven()
        session = self.asleep(client)
        waiting = client.begin('wait', session['activity']['pendingID'])
        events = client.iterate('events', session['id'])
        events.item()
        for one in (waiting, events):
            one.cancel()
            with self.assertRaises(ClientError) as raised:
                while True:
                    one.next()
            self.assertEqual(raised.exception.kind, 'cancelled')
        self.assertEqual(client.call('me')['role'], 'admin')


class TypeScript(Cancellable, unittest.TestCase):
    library = 'typescript'

    @classmethod
    def setUpClass(cls):
        if why := npm.install(CLIENTS / 'typescript', 'node'):
            leave_out(why)
        super().setUpClass()


class Python(Library, unittest.TestCase):
    library = 'python'

    def check_class(self, error, code):
        self.assertEqual(error.class_, ''.join(word.capitalize() for word in code.split('_')))


class PythonAsync(Cancellable, Python):
    library = 'python-async'


if __name__ == '__main__':
    main()
