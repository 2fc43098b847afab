#!/usr/bin/env python3
"""Restarts around each step, with the real binary: acknowledged work is stored, work in doubt
follows the tool's policy, waiting calls still wait, and nothing happens twice."""
import http.client
import os
import pathlib
import socket
import threading
import time

from dormouse import Alone, Case, Events, main, wait_for

NO_ANSWER = (http.client.HTTPException, OSError)


class Crash(Case):
    def wait_for_event(self, session, kind, count=1):
        def come():
            return sum(e['type'] == kind for e in self.server.events(session)) >= count

        wait_for(come, what=kind)

    def count(self, session, kind):
        return sum(e['type'] == kind for e in self.server.events(session))

    def assertSaid(self, session, text):
        self.assertEqual(self.server.at_rest(session)['activity'], {'type': 'idle'})
        self.assertEqual(self.server.last_text(session), text)


class InMidRun(Crash):
    def test_tool_that_may_run_again_does(self):
        session = self.server.create('sleepy 600ms', wait=0)['id']
        self.wait_for_event(session, 'tool_started')
        self.server.restart()
        self.assertSaid(session, 'sleepy 600ms: slept 600ms')
        started = [e['data'] for e in self.server.events(session) if e['type'] == 'tool_started']
        self.assertEqual(len(started), 2)
        self.assertEqual([s.get('attempt', 1) for s in started], [1, 2])
        # One generation: the same pendingID, and with it the same idempotency key.
        self.assertEqual(len({s['pendingID'] for s in started}), 1)
        self.assertLess(started[0]['epoch'], started[1]['epoch'])
        self.assertEqual(self.count(session, 'tool_finished'), 1)

    def test_tool_that_must_not_run_again_does_not(self):
        session = self.server.create('sleepy-never 600ms', wait=0)['id']
        self.wait_for_event(session, 'tool_started')
        self.server.restart()
        self.assertSaid(session, 'sleepy_never 600ms failed: outcome unknown')
        self.assertEqual(self.count(session, 'tool_started'), 1)
        state = self.server.messages(session)[1]['parts'][0]['state']
        self.assertEqual((state['status'], state['reason']), ('error', 'unknown'))

    def test_several_crashes_in_a_row(self):
        session = self.server.create('sleepy 400ms', wait=0)['id']
        for attempt in range(1, 4):
            self.wait_for_event(session, 'tool_started', attempt)
            self.server.restart()
        self.assertSaid(session, 'sleepy 400ms: slept 400ms')
        self.assertEqual(self.count(session, 'tool_started'), 4)

    def test_many_at_once_of_both_kinds(self):
        again = [self.server.create('sleepy 500ms', wait=0)['id'] for _ in range(10)]
        never = [self.server.create('sleepy-never 500ms', wait=0)['id'] for _ in range(10)]
        # Tools that had no thread yet were started too: the start is durable first.
        for session in again + never:
            self.wait_for_event(session, 'tool_started')
        self.server.restart()
        for session in again:
            self.assertSaid(session, 'sleepy 500ms: slept 500ms')
        for session in never:
            self.server.at_rest(session)
            self.assertIn(
                self.server.last_text(session),
                ('sleepy_never 500ms failed: outcome unknown', 'sleepy_never 500ms: slept 500ms'),
            )
            self.assertEqual(self.count(session, 'tool_started'), 1)

    def test_cancelled_tool_stays_cancelled(self):
        session = self.server.create('sleepy 1s', wait=0)['id']
        self.wait_for_event(session, 'tool_started')
        self.server.post(f'/api/sessions/{session}/cancel')
        self.server.restart()
        self.assertEqual(self.server.at_rest(session)['activity'], {'type': 'idle'})
        self.assertEqual(self.count(session, 'tool_started'), 1)
        self.assertEqual(self.server.turns(session)[0]['finishReason'], 'cancelled')


class WhileAsleep(Crash):
    def asleep(self, text='deploy A'):
        session = self.server.create(text)['id']
        return session, self.server.open_calls(session)

    def test_sleeping_session_is_the_same_after_a_kill(self):
        session, calls = self.asleep('deploy A and B')
        before = (
            self.server.session(session),
            calls,
            self.server.events(session),
            self.server.messages(session),
            self.server.turns(session),
        )
        self.server.restart()
        after = (
            self.server.session(session),
            self.server.open_calls(session),
            self.server.events(session),
            self.server.messages(session),
            self.server.turns(session),
        )
        self.assertEqual(after, before, 'nothing in doubt, nothing written')

    def test_result_wakes_it_after_the_restart(self):
        session, (call,) = self.asleep()
        self.server.restart()
        self.assertEqual(self.server.result(call['id'], 'live')['outcome'], 'applied')
        self.assertSaid(session, 'deploy A: live')

    def test_result_while_down_fails_and_its_repeat_succeeds(self):
        session, (call,) = self.asleep()
        self.server.kill()
        with self.assertRaises(ConnectionRefusedError):
            self.server.new_client().get('/healthz')
        self.server.start()
        answer = self.server.result(call['id'], 'live')
        self.assertFalse(answer['duplicate'])
        self.assertSaid(session, 'deploy A: live')

    def test_acknowledged_result_survives_the_kill_at_once(self):
        for number in range(10):
            session, (call,) = self.asleep(f'deploy t{number}')
            receipt = self.server.result(call['id'], number)['receipt']
            self.server.kill()
            self.server.start()
            again = self.server.result(call['id'], number)
            self.assertEqual(
                (again['outcome'], again['receipt']['id']), ('duplicate', receipt['id'])
            )
            self.assertSaid(session, f'deploy t{number}: {number}')
            other = self.server.result(call['id'], 'other')
            problem = self.assertProblem(other, 409, 'conflict')
            self.assertEqual(problem['receipt']['digest'], receipt['digest'])
            requests = [e for e in self.server.events(session) if e['type'] == 'model_replied']
            self.assertEqual(len(requests), 2, 'the result was used by one committed step')

    def test_deadline_that_passed_while_down_has_passed(self):
        session, (call,) = self.asleep('deploy A within 1m')
        self.server.restart(down=61)
        # Whether or not a timer already runs.
        problem = self.assertProblem(self.server.result(call['id'], 'late'), 410, 'expired')
        self.assertEqual(problem['receipt']['kind'], 'expiry')
        self.assertSaid(session, 'deploy A failed: Tool execution timed out')
        shown = self.server.get(f'/async-tool/pending/{call["id"]}')
        self.assertEqual((shown['status'], shown['error']), ('expired', 'Tool execution timed out'))

    def test_call_expires_without_a_request(self):
        session, (call,) = self.asleep('deploy A within 1m')
        self.server.restart(down=61)
        self.assertSaid(session, 'deploy A failed: Tool execution timed out')

    def test_deadline_still_ahead_is_kept_to_the_millisecond(self):
        session, (call,) = self.asleep('deploy A within 90s')
        self.server.restart()
        (after,) = self.server.open_calls(session)
        self.assertEqual(after['timeout'], call['timeout'])
        self.server.advance((call['timeout'] - self.server.time() * 1000) / 1000)
        expired = self.server.get(f'/async-tool/pending/{call["id"]}?wait=10')
        self.assertGreaterEqual(expired['receipt']['at'], call['timeout'])
        self.assertLessEqual(expired['receipt']['at'], self.server.time() * 1000)

    def test_wait_continues_across_a_restart(self):
        session, (call,) = self.asleep('wait 1h')
        self.server.restart()
        self.assertEqual(self.server.open_calls(session)[0]['timeout'], call['timeout'])
        self.server.advance(3600)
        wait_for(lambda: self.server.session(session)['activity']['type'] == 'idle')
        self.assertSaid(session, 'wait_for 1h: done')

    def test_wait_that_ended_while_down_is_done(self):
        session, _ = self.asleep('wait 1m')
        self.server.restart(down=61)
        wait_for(lambda: self.server.session(session)['activity']['type'] == 'idle')
        self.assertSaid(session, 'wait_for 1m: done')

    def test_queued_prompts_run_in_order_after_the_restart(self):
        session, (call,) = self.asleep()
        for number in range(5):
            self.server.prompt(session, f'n{number}', wait=0)
        self.server.restart()
        self.assertEqual(
            [t['status'] for t in self.server.turns(session)], ['waiting'] + 5 * ['queued']
        )
        self.server.result(call['id'], 'live')
        self.server.at_rest(session)
        self.assertEqual([t['status'] for t in self.server.turns(session)], 6 * ['ended'])
        texts = [
            m['parts'][0]['text']
            for m in self.server.messages(session)
            if m['role'] == 'assistant' and m['parts'][0]['type'] == 'text'
        ]
        self.assertEqual(texts, ['deploy A: live'] + [f'You said: n{n}' for n in range(5)])

    def test_approval_across_restarts_at_each_step(self):
        session, (call,) = self.asleep('approve-deploy web')
        self.server.restart()
        self.server.decide(call, True)
        self.server.restart()
        self.assertProblem(self.server.decide(call, False), 409, 'conflict')
        self.server.at_rest(session)
        (job,) = self.server.open_calls(session)
        self.assertEqual(job['generation'], 2)
        self.server.restart()
        self.server.result(job['id'], 'live')
        self.server.restart()
        self.assertSaid(session, 'approve_deploy web: live')

    def test_allowed_tool_runs_at_most_once(self):
        """Killed right after the decision: the tool ran once, or the model reads that this is
        unknown."""
        for number in range(10):
            session, (call,) = self.asleep(f'approve x{number}')
            self.server.decide(call, True)
            self.server.restart()
            self.server.at_rest(session)
            self.assertIn(
                self.server.last_text(session),
                (
                    f'dangerous x{number}: {{"done":"x{number}","runs":1}}',
                    f'dangerous x{number} failed: outcome unknown',
                ),
            )
            self.assertLessEqual(self.count(session, 'tool_started'), 1)

    def test_partly_settled_step(self):
        session, calls = self.asleep('deploy A and B and C')
        for number, call in enumerate(calls):
            self.server.result(call['id'], number)
            self.server.restart()
        self.assertSaid(session, 'deploy A: 0\ndeploy B: 1\ndeploy C: 2')

    def test_progress_claims_and_their_keys_survive(self):
        session, (call,) = self.asleep()
        progress = {'pendingID': call['id'], 'payload': {'percent': 50}, 'key': 'half'}
        self.server.post('/async-tool/progress', progress)
        self.server.post(f'/async-tool/pending/{call["id"]}/claim', {'forMs': 600_000})
        self.server.restart()
        self.assertTrue(self.server.post('/async-tool/progress', progress)['duplicate'])
        shown = self.server.get(f'/async-tool/pending/{call["id"]}')
        self.assertEqual((shown['status'], shown['progressCount']), ('processing', 1))
        self.server.result(call['id'], 1)

    def test_deleted_session_stays_deleted(self):
        session, (call,) = self.asleep()
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        self.server.restart()
        self.assertProblem(self.server.get(f'/api/sessions/{session}'), 404, 'not_found')
        self.assertProblem(self.server.result(call['id'], 1), 404, 'not_found')
        self.assertEqual(self.server.items('/api/projects/default/sessions'), [])
        self.assertEqual(self.server.items('/async-tool/pending'), [])

    def test_fork_is_whole_after_a_restart(self):
        session, (call,) = self.asleep()
        answer = self.server.post(f'/api/sessions/{session}/fork', {})
        fork = self.assertStatus(answer, 201)['id']
        before = self.server.messages(fork)
        self.server.restart()
        self.assertEqual(self.server.messages(fork), before)
        self.server.prompt(fork, 'hello')
        self.assertTrue(self.server.last_text(fork).endswith('You said: hello'))

    def test_ids_are_never_reused(self):
        made = []
        for _ in range(5):
            made += [self.server.create()['id'] for _ in range(5)]
            self.server.restart()
        self.assertEqual(len(set(made)), 25)
        listed = [s['id'] for s in self.server.items('/api/projects/default/sessions')]
        # Of several servers each has numbers of its own, and the list is in their order.
        order = sorted if self.server.beside else list
        self.assertEqual(order(listed), order(made[::-1]))


class OnTheWay(Crash):
    """Killed during a request: it happened whole or not at all."""

    def test_create_without_answer_happened_once_or_not(self):
        for number in range(15):
            key = f'"k{number}"'
            body = {'agentID': 'demo', 'title': key, 'prompt': {'text': 'deploy A'}}
            path = '/api/projects/default/sessions'
            client = self.server.new_client()

            def ask():
                try:
                    client.post(path, body, Idempotency_Key=key)
                except NO_ANSWER:
                    pass

            thread = threading.Thread(target=ask)
            thread.start()
            self.server.restart(after=number * 0.0004)
            thread.join()
            answer = self.server.post(path + '?wait=10', body, Idempotency_Key=key)
            self.assertStatus(answer, 201)
            self.assertEqual(answer['activity']['type'], 'waiting_async')
        titles = [s['title'] for s in self.server.items('/api/projects/default/sessions')]
        self.assertEqual(len(titles), 15)
        self.assertEqual(len(set(titles)), 15)

    def test_half_sent_request_has_no_effect(self):
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        body = f'{{"pendingID":"{call["id"]}","result":{{"output":1}}}}'
        half = socket.create_connection(('127.0.0.1', self.server.port))
        half.sendall(
            f'POST /async-tool/result HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\n'
            f'Authorization: Bearer {self.server.token}\r\nContent-Type: application/json\r\n'
            f'Content-Length: {len(body)}\r\n\r\n{body[:-1]}'.encode()
        )
        half.close()
        self.server.restart()
        self.assertEqual(self.server.open_calls(session), [call])


class Graceful(Crash):
    """SIGTERM: readyz 503, streams get bye, the log file is truncated, exit 0 within 10 s."""

    kind = Alone

    def test_idle_server_ends_at_once(self):
        self.server.create('deploy A')
        self.assertEqual(self.server.term(within=3), 0)
        wal = pathlib.Path(self.server.directory, 'dormouse.db-wal')
        self.assertTrue(not wal.exists() or wal.stat().st_size == 0, 'checkpointed, truncated')
        self.server.verify()
        self.server.start()

    def test_busy_server_ends_in_time(self):
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        busy = [self.server.create('sleepy 30s', wait=0)['id'] for _ in range(6)]
        streams = [Events(self.server, f'/api/sessions/{session}/events') for _ in range(3)]
        polls = [self.server.new_client() for _ in range(3)]
        for poll in polls:
            poll.begin(f'/async-tool/pending/{call["id"]}?wait=50')
        self.server.advance(1)
        self.assertTrue(all(poll.waits() for poll in polls))
        self.assertEqual(self.server.term(within=10), 0)
        for poll in polls:
            poll.close()
        for stream in streams:
            frames = stream.rest()
            self.assertEqual(frames[-1].event, 'bye')
            self.assertEqual(frames[-1].data, {'reason': 'draining'})
            self.assertIn(1000, [frame.retry for frame in frames])
        self.server.verify()
        self.server.start()
        for one in busy:
            self.server.post(f'/api/sessions/{one}/cancel')
        self.server.result(call['id'], 'live')
        self.assertSaid(session, 'deploy A: live')

    def takes_no_more(self):
        try:
            socket.create_connection(('127.0.0.1', self.server.port)).close()
        except ConnectionRefusedError:
            return True
        except ConnectionResetError:
            return False  # it waited in the socket that is being closed

    def test_while_it_drains_it_is_not_ready(self):
        """Seen on an existing connection; new ones are refused."""
        for _ in range(4):
            self.server.create('sleepy 30s', wait=0)
        client = self.server.new_client()
        wait_for(lambda: client.get('/readyz').status == 200)
        # The head of the next request is sent already, so its connection is not idle.
        watcher = socket.create_connection(('127.0.0.1', self.server.port))
        head = f'GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\n'
        watcher.sendall(head.encode())
        self.server.advance(0)  # the server has read that
        self.server.process.terminate()
        wait_for(self.takes_no_more, what='the end of listening')
        try:
            watcher.sendall(b'\r\n')
            reply = watcher.recv(65536).decode()
        except OSError:
            reply = ''
        self.assertEqual(self.server.process.wait(timeout=10), 0)
        self.assertTrue(reply.startswith('HTTP/1.1 503 '), f'{reply!r}')
        self.assertIn('"code":"draining"', reply)
        self.server.start()
        for session in self.server.items('/api/projects/default/sessions'):
            self.server.post(f'/api/sessions/{session["id"]}/cancel')

    def test_acknowledged_before_the_end_is_stored(self):
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        self.server.result(call['id'], 'live')
        self.server.term()
        self.server.start()
        self.assertSaid(session, 'deploy A: live')

    def test_token_file_is_for_its_owner_alone_and_stays(self):
        token = pathlib.Path(self.server.directory, 'token')
        before = token.read_text()
        self.assertEqual(os.stat(token).st_mode & 0o777, 0o600)
        self.server.restart()
        self.assertEqual(token.read_text(), before)


if __name__ == '__main__':
    main()
