#!/usr/bin/env python3
"""Answers that depend on the state of a session or call (docs/errors): conflicts, idempotency keys,
conditional requests, paging and long polls."""
import json
import socket
import threading

from dormouse import NOTHING, Client, Server, main, wait_for
from shapes import RECEIPT, TURN, Contract, mismatch


class Conflicts(Contract):
    """409, 410, 422, 429: refusals by the state of a session or call."""

    def test_another_payload_is_a_conflict_with_the_winner(self):
        session, call = self.waiting()
        won = self.server.result(call['id'], 'A')['receipt']
        for answer in (
            self.server.result(call['id'], 'B'),
            self.server.error(call['id'], 'x'),
            self.server.delete(f'/async-tool/pending/{call["id"]}'),
            self.server.post('/async-tool/progress', {'pendingID': call['id'], 'payload': 1}),
            self.server.decide(call, True),
        ):
            problem = self.assertProblem(answer, 409, 'conflict', next='stop')
            self.assertEqual(problem['digest'], won['digest'])
            self.assertIsNone(mismatch(problem['receipt'], RECEIPT))
            self.assertEqual(problem['receipt']['id'], won['id'])

    def test_error_is_idempotent_too(self):
        session, call = self.waiting()
        self.assertFalse(self.server.error(call['id'], 'x')['duplicate'])
        self.assertTrue(self.server.error(call['id'], 'x')['duplicate'])
        self.assertProblem(self.server.error(call['id'], 'y'), 409, 'conflict')
        self.assertProblem(self.server.result(call['id'], 'x'), 409, 'conflict')

    def test_cancelled_call_stays_cancelled(self):
        session, call = self.waiting()
        self.server.delete(f'/async-tool/pending/{call["id"]}')
        for answer in (self.server.result(call['id'], 'B'), self.server.error(call['id'], 'x')):
            problem = self.assertProblem(answer, 409, 'cancelled')
            self.assertEqual(problem['receipt']['kind'], 'cancel')

    def test_expired_call_is_410(self):
        session, call = self.waiting('deploy A within 300ms')
        done = self.server.get(f'/async-tool/pending/{call["id"]}?wait=10')
        self.assertEqual((done['status'], done['error']), ('expired', 'Tool execution timed out'))
        for answer in (
            self.server.result(call['id'], 'B'),
            self.server.error(call['id'], 'x'),
            self.server.delete(f'/async-tool/pending/{call["id"]}'),
            self.server.post('/async-tool/progress', {'pendingID': call['id'], 'payload': 1}),
        ):
            problem = self.assertProblem(answer, 410, 'expired', next='stop')
            self.assertEqual(problem['receipt']['kind'], 'expiry')

    def test_illegal_moves_are_refused_by_name(self):
        session = self.server.create('hello')
        path = f'/api/sessions/{session["id"]}'
        for move in ('resume', 'retry'):
            answer = self.server.post(f'{path}/{move}')
            self.assertProblem(answer, 409, 'wrong_state', **{'from': 'active', 'move': move})
        self.assertStatus(self.server.post(path + '/end'), 200)
        for move in ('resume', 'retry', 'end'):
            answer = self.server.post(f'{path}/{move}')
            self.assertProblem(answer, 409, 'wrong_state', **{'from': 'completed', 'move': move})
        answer = self.server.prompt(session['id'], 'x')
        self.assertProblem(answer, 409, 'wrong_state', next='reopen')
        answer = self.server.prompt(session['id'], 'again', reopen=True)
        self.assertStatus(answer, 200)
        self.assertEqual(self.server.last_text(session['id']), 'You said: again')
        self.assertEqual(self.server.session(session['id'])['status'], 'active')

    def test_calls_of_an_ended_session_stay_cancelled(self):
        session, call = self.waiting()
        self.server.post(f'/api/sessions/{session["id"]}/end')
        answer = self.server.result(call['id'], 1)
        self.assertEqual(answer.status, 409, answer)

    def test_prompt_modes_in_the_middle_of_a_turn(self):
        session, call = self.waiting()
        answer = self.server.prompt(session['id'], 'x', when='reject')
        self.assertProblem(answer, 409, 'session_busy', next='retry')
        self.server.prompt(session['id'], 'hello', when='steer')
        self.assertEqual(self.server.last_text(session['id']), 'You said: hello')
        self.assertEqual(self.server.open_calls(session['id'])[0]['status'], 'waiting')
        self.server.prompt(session['id'], 'stop', when='interrupt')
        self.assertEqual(self.server.last_text(session['id']), 'You said: stop')
        self.server.result(call['id'], 'late')
        self.server.at_rest(session['id'])
        self.assertEqual(self.server.last_text(session['id']), 'deploy A: late')

    def test_prompt_with_two_open_questions_is_ambiguous(self):
        session, first = self.waiting('ask one?')
        self.server.prompt(session['id'], 'ask two?', when='steer')
        ids = [call['id'] for call in self.server.open_calls(session['id'])]
        self.assertEqual(len(ids), 2)
        answer = self.server.prompt(session['id'], 'yes')
        problem = self.assertProblem(answer, 409, 'ambiguous')
        self.assertEqual(sorted(problem['ids']), sorted(ids))
        self.assertStatus(self.server.prompt(session['id'], 'yes', wait=0, answers=ids[0]), 202)
        self.server.prompt(session['id'], 'no', answers=ids[1])

    def test_decision_is_bound_to_what_was_shown(self):
        session, call = self.waiting('approve X')
        other = {**call, 'inputDigest': 'sha256:' + '0' * 64}
        problem = self.assertProblem(self.server.decide(other, True), 409, 'input_changed')
        self.assertEqual(problem['inputDigest'], call['inputDigest'])
        self.assertEqual(self.server.open_calls(session['id']), [call])

    def test_edited_arguments_must_fit_the_tool(self):
        session, call = self.waiting('approve X')
        answer = self.server.decide(call, True, arguments={'action': 1, 'more': 2})
        problem = self.assertProblem(answer, 422, 'invalid_arguments')
        self.assertTrue(all(set(e) == {'pointer', 'message'} for e in problem['errors']))
        self.assertTrue(problem['errors'])
        self.assertEqual(self.server.open_calls(session['id']), [call])

    def test_wrong_kind_of_session_is_422_and_names_no_outcome(self):
        asked = self.server.post('/api/pending', {'question': 'Q?'}).json
        path = f'/api/sessions/{asked["sessionID"]}/prompt'
        problem = self.assertProblem(self.server.post(path, {'text': 'x'}), 422, 'wrong_kind')
        self.assertIn('This session has no agent', problem['detail'])
        self.assertEqual(problem['title'],
                         'The call, session or agent is of a kind that does not allow this')

    def test_wrong_kind_of_outcome_is_422_and_call_still_waits(self):
        session, call = self.waiting('approve X')
        for answer in (self.server.result(call['id'], 1), self.server.error(call['id'], 'x')):
            self.assertProblem(answer, 422, 'wrong_kind', reason='approval')
        self.assertEqual(self.server.open_calls(session['id']), [call])
        session, call = self.waiting('deploy A')
        self.assertProblem(self.server.decide(call, True), 422, 'wrong_kind', reason='tool_result')
        answer = self.server.prompt(session['id'], 'x', answers=call['id'])
        self.assertProblem(answer, 422, 'wrong_kind')

    def test_handoff_calls_refuse_outside_outcomes(self):
        session, call = self.waiting('wait 1h')
        self.assertProblem(self.server.result(call['id'], 1), 403, 'not_an_answerer')

    def test_running_tool_that_takes_no_outcome_is_not_ready(self):
        session = self.server.create('sleepy 1s', wait=0)
        events = wait_for(
            lambda: [e for e in self.server.events(session['id']) if e['type'] == 'tool_started']
        )
        pending = events[0]['data']['pendingID']
        answer = self.server.result(pending, 1)
        self.assertProblem(answer, 409, 'not_ready', next='retry')
        self.assertIsInstance(answer['retryAfter'], int)
        self.server.at_rest(session['id'])
        self.assertEqual(self.server.last_text(session['id']), 'sleepy 1s: slept 1s')

    def test_queue_has_a_limit(self):
        session, call = self.waiting()
        for number in range(100):
            self.assertStatus(self.server.prompt(session['id'], f'{number}', wait=0), 202)
        answer = self.server.prompt(session['id'], 'one more', wait=0)
        self.assertProblem(answer, 429, 'queue_full', next='retry')
        self.server.post(f'/api/sessions/{session["id"]}/cancel', {'all': True})

    def test_progress_has_a_limit(self):
        session, call = self.waiting()
        body = {'pendingID': call['id'], 'payload': 1}
        answers = [self.server.post('/async-tool/progress', body) for _ in range(60)]
        self.assertEqual({a.status for a in answers}, {200, 429})
        limited = next(a for a in answers if a.status == 429)
        self.assertProblem(limited, 429, 'rate_limited', next='retry')
        shown = self.server.get(f'/async-tool/pending/{call["id"]}')
        self.assertEqual(shown['progressCount'], sum(a.status == 200 for a in answers))
        self.assertLessEqual(len(shown['progress']), 20)


class TwoTokens(Contract):
    def setUp(self):
        self.server = Server(env={'DORMOUSE_TOKEN': 'dm_second_token_of_the_environment'})
        self.addCleanup(self.server.clean)
        self.other = Client(self.server.port, 'dm_second_token_of_the_environment')

    def test_claimed_call_refuses_another_claim(self):
        session, call = self.waiting()
        path = f'/async-tool/pending/{call["id"]}/claim'
        self.assertStatus(self.server.post(path, {'forMs': 400}), 200)
        problem = self.assertProblem(self.other.post(path), 409, 'claimed', next='retry')
        self.assertIsInstance(problem['until'], int)
        self.assertStatus(self.server.post(path, {'forMs': 400}), 200)
        wait_for(lambda: self.other.post(path).status == 200, what='the end of the claim')
        self.assertProblem(self.server.post(path, {'forMs': 0}), 409, 'claimed')
        self.assertStatus(self.other.post(path, {'forMs': 0}), 200)
        self.assertStatus(self.server.post(path), 200)
        answer = self.server.result(call['id'], 'settled all the same')
        self.assertStatus(answer, 200)

    def test_keys_of_two_principals_are_two_keys(self):
        body = {'agentID': 'demo'}
        path = '/api/projects/default/sessions'
        one = self.server.post(path, body, Idempotency_Key='k')
        two = self.other.post(path, body, Idempotency_Key='k')
        self.assertNotEqual(one['id'], two['id'])

    def test_receipt_says_who(self):
        session, call = self.waiting()
        answer = self.other.post(
            '/async-tool/result', {'pendingID': call['id'], 'result': {'output': 1}}
        )
        self.assertEqual(answer['receipt']['by'], {'type': 'token', 'name': 'env'})


class Keys(Contract):
    """Idempotency-Key on create, prompt and fork."""

    def assertKeyed(self, path, body, other, same):
        key = {'Idempotency_Key': '"a key"'}
        first = self.server.post(path, body, **key)
        self.assertLess(first.status, 300, first)
        again = self.server.post(path, body, **key)
        self.assertEqual((again.status, same(again)), (first.status, same(first)))
        bare = self.server.post(path, body, Idempotency_Key='a key')
        self.assertEqual(same(bare), same(first))
        spaced = json.dumps(body, indent=3).encode()
        again = self.server.call('POST', path, raw=spaced, headers={'Idempotency-Key': 'a key'})
        self.assertEqual(same(again), same(first))
        answer = self.server.post(path, other, **key)
        self.assertProblem(answer, 422, 'idempotency_mismatch')
        fresh = self.server.post(path, body, Idempotency_Key='another')
        self.assertNotEqual(same(fresh), same(first))

    def test_create(self):
        self.assertKeyed(
            '/api/projects/default/sessions',
            {'agentID': 'demo', 'prompt': {'text': 'deploy A'}},
            {'agentID': 'demo', 'prompt': {'text': 'deploy B'}},
            lambda a: a['id'],
        )
        self.assertEqual(len(self.server.items('/api/projects/default/sessions')), 2)

    def test_key_of_another_form_is_refused(self):
        path, body = '/api/projects/default/sessions', {'agentID': 'demo'}
        for key, why in (
            ('', 'must not be empty'), ('""', 'must not be empty'),
            ('"', 'a quote only at both ends'), ('"a', 'a quote only at both ends'),
            ('a"', 'a quote only at both ends'), ('"a"b"', 'a quote only at both ends'),
            ('a\tb', 'no control character'), ('a' * 1025, 'must be at most 1024 bytes'),
        ):
            with self.subTest(key=key[:9]):
                answer = self.server.post(path, body, Idempotency_Key=key)
                self.assertProblem(answer, 400, 'bad_value')
                self.assertIn(why, answer['detail'])
        self.assertEqual(self.server.items(path), [])
        for key in ('a' * 1024, f'"{"b" * 1024}"', 'ключ'.encode().decode('latin-1'), 'a=b; c'):
            first, again = (self.server.post(path, body, Idempotency_Key=key) for _ in range(2))
            self.assertEqual((first.status, again['id']), (201, first['id']), key[:9])

    def test_create_with_the_key_of_a_deleted_session_is_gone(self):
        path, body = '/api/projects/default/sessions', {'agentID': 'demo'}
        session = self.server.post(path, body, Idempotency_Key='k')
        self.server.delete(f'/api/sessions/{session["id"]}')
        answer = self.server.post(path, body, Idempotency_Key='k')
        self.assertProblem(answer, 410, 'session_gone')

    def test_prompt(self):
        session, call = self.waiting()
        path = f'/api/sessions/{session["id"]}/prompt'
        self.assertKeyed(
            path,
            {'text': 'one'},
            {'text': 'two'},
            lambda a: (a['turnID'], a['messageID'], a['seq']),
        )
        self.assertEqual(len(self.server.turns(session['id'])), 3)

    def test_fork(self):
        session, call = self.waiting()
        path = f'/api/sessions/{session["id"]}/fork'
        self.assertKeyed(path, {'seq': 5}, {'seq': 6}, lambda a: a['id'])

    def test_key_of_one_session_means_nothing_in_another(self):
        one, two = self.server.create(), self.server.create()
        for session in (one, two):
            path = f'/api/sessions/{session["id"]}/prompt?wait=20'
            answer = self.server.post(path, {'text': 'x'}, Idempotency_Key='k')
            self.assertEqual(answer['sessionID'], session['id'])

    def test_many_at_once_with_one_key_make_one_session(self):
        found, clients = [], [self.server.new_client() for _ in range(8)]

        def create(client):
            found.append(
                client.post(
                    '/api/projects/default/sessions', {'agentID': 'demo'}, Idempotency_Key='k'
                )
            )

        threads = [threading.Thread(target=create, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual({a.status for a in found}, {201})
        self.assertEqual(len({a['id'] for a in found}), 1)

    def test_key_outlives_a_restart(self):
        path, body = '/api/projects/default/sessions', {'agentID': 'demo'}
        first = self.server.post(path, body, Idempotency_Key='k')
        self.server.restart()
        again = self.server.post(path, body, Idempotency_Key='k')
        self.assertEqual(again['id'], first['id'])


class Conditional(Contract):
    def test_etag_is_the_sequence_number(self):
        session = self.server.create('hello')
        path = f'/api/sessions/{session["id"]}'
        answer = self.server.get(path)
        etag = answer.headers['ETag']
        self.assertEqual(etag, f'"{answer["seq"]}"')
        same = self.server.get(path, If_None_Match=etag)
        self.assertEqual((same.status, same.raw), (304, b''))
        patched = self.server.call('PATCH', path, {'title': 'x'}, {'If-Match': etag})
        self.assertStatus(patched, 200)
        self.assertEqual(patched.headers['ETag'], f'"{patched["seq"]}"')
        late = self.server.call('PATCH', path, {'title': 'y'}, {'If-Match': etag})
        self.assertProblem(late, 412, 'precondition_failed')
        self.assertStatus(self.server.get(path, If_None_Match=etag), 200)
        self.assertEqual(self.server.session(session['id'])['title'], 'x')

    def test_patch_of_one_member_leaves_the_other(self):
        session = self.server.create(title='T', labels={'a': 'b'})
        path = f'/api/sessions/{session["id"]}'
        one = self.assertStatus(self.server.call('PATCH', path, {'title': 'U'}), 200)
        self.assertEqual((one['title'], one['labels']), ('U', {'a': 'b'}))
        two = self.assertStatus(self.server.call('PATCH', path, {'labels': {}}), 200)
        self.assertEqual((two['title'], two['labels']), ('U', {}))
        three = self.assertStatus(self.server.call('PATCH', path, {'title': None}), 200)
        self.assertIsNone(three['title'])


class Paging(Contract):
    def walk(self, path, limit):
        """Returns all items, and the sizes of the pages."""
        items, sizes, cursor = [], [], ''
        while True:
            glue = '&' if '?' in path else '?'
            page = self.server.get(f'{path}{glue}limit={limit}{cursor}')
            self.assertStatus(page, 200)
            items += page['items']
            sizes.append(len(page['items']))
            if page['next'] is None:
                return items, sizes
            cursor = f'&cursor={page["next"]}'

    def test_page_of_long_messages_ends_after_some_mebibytes(self):
        session = self.server.create()['id']
        for number in range(6):
            self.server.prompt(session, f'{number} ' + 'x' * 1_000_000)
        items, sizes = self.walk(f'/api/sessions/{session}/messages', 200)
        texts = [one['parts'][0]['text'] for one in items]
        self.assertEqual([text.split()[0] for text in texts[::2]], [str(n) for n in range(6)])
        self.assertEqual(len(texts), 12)
        self.assertGreater(len(sizes), 1)

    def test_every_list_in_pages_is_the_whole_list(self):
        for text in ('a', 'b', 'c'):
            self.server.create(text)
        session = self.server.create('deploy A and B and C and D and E')
        path = f'/api/sessions/{session["id"]}'
        for number in range(4):
            self.server.prompt(session['id'], f'{number}', when='steer')
        for at in (
            '/api/projects/default/sessions',
            '/async-tool/pending',
            f'/async-tool/pending?sessionID={session["id"]}',
            path + '/messages',
            path + '/turns',
            path + '/events',
        ):
            whole = self.walk(at, 200)[0]
            for limit in (1, 2, 3, len(whole)):
                with self.subTest(at=at, limit=limit):
                    items, sizes = self.walk(at, limit)
                    self.assertEqual(items, whole)
                    self.assertLessEqual(max(sizes), limit)

    def test_orders(self):
        with self.server.alone():  # numbers of several servers interleave
            ids = [self.server.create('deploy A')['id'] for _ in range(3)]
        listed = self.server.items('/api/projects/default/sessions')
        self.assertEqual([one['id'] for one in listed], ids[::-1])
        listed = self.server.items('/async-tool/pending')
        self.assertEqual([one['sessionID'] for one in listed], ids[::-1])
        session = self.server.create('deploy A and B and C')
        listed = self.server.items(f'/async-tool/pending?sessionID={session["id"]}')
        self.assertEqual([one['callID'] for one in listed], ['call_3', 'call_2', 'call_1'])
        messages = self.server.messages(session['id'])
        self.assertEqual([m['role'] for m in messages], ['user', 'assistant'])
        seqs = [e['seq'] for e in self.server.events(session['id'])]
        self.assertEqual(seqs, list(range(1, len(seqs) + 1)))

    def test_filters_of_pending_calls(self):
        deploy = self.server.create('deploy A and B')
        self.server.create('approve X')
        self.server.create('ask Q?')
        first, second = self.server.open_calls(deploy['id'])
        self.server.result(first['id'], 1)
        self.server.post(f'/async-tool/pending/{second["id"]}/claim')

        def tools(query):
            items = self.server.items(f'/async-tool/pending{query}')
            return sorted((item['tool'], item['status']) for item in items)

        self.assertEqual(
            tools(''),
            [('ask_human', 'waiting'), ('dangerous', 'waiting'), ('deploy', 'processing')],
        )
        self.assertEqual(tools('?status=completed'), [('deploy', 'completed')])
        self.assertEqual(tools('?status=processing'), [('deploy', 'processing')])
        self.assertEqual(
            tools('?status=waiting'), [('ask_human', 'waiting'), ('dangerous', 'waiting')]
        )
        self.assertEqual(tools('?tool=deploy'), [('deploy', 'processing')])
        self.assertEqual(tools('?reason=approval'), [('dangerous', 'waiting')])
        self.assertEqual(tools('?reason=user_input&tool=deploy'), [])
        self.assertEqual(
            tools(f'?sessionID={deploy["id"]}&status=completed'), [('deploy', 'completed')]
        )

    def test_events_after_a_place(self):
        session = self.server.create('hello')
        path = f'/api/sessions/{session["id"]}/events'
        every = self.server.events(session['id'])
        for after in (0, 1, 3, len(every)):
            page = self.server.get(f'{path}?after={after}')
            self.assertEqual(page['items'], every[after:])
            page = self.server.get(path, Last_Event_ID=str(after))
            self.assertEqual(page['items'], every[after:])
        self.assertIsNone(self.server.get(f'{path}?after={len(every)}')['next'])


class Waits(Contract):
    """`wait`: until the condition holds, at most as long as requested, by the server's clock."""

    def asks(self, path, body=NOTHING):
        """Sends a waiting request of a separate client; end() returns its answer."""
        client = self.server.new_client()
        self.addCleanup(client.close)
        client.begin(path, body)
        for _ in range(5):  # so that the server has read it, also behind a proxy, which may reorder
            self.server.get('/healthz')
        self.assertTrue(client.waits())
        return client

    def settle(self, call):
        self.assertStatus(self.server.result(call['id'], 1), 200)

    def test_prompt_waits_until_its_turn_ends_or_sleeps(self):
        session = self.server.create()
        ended = self.server.prompt(session['id'], 'sleepy 500ms')
        self.assertShape(self.assertStatus(ended, 200).json, TURN)
        self.assertEqual(ended['status'], 'ended')
        sleeps = self.assertStatus(self.server.prompt(session['id'], 'deploy A'), 200)
        self.assertShape(sleeps.json, TURN)
        self.assertEqual(sleeps['status'], 'waiting')

    def test_prompt_whose_time_is_up_is_202_with_the_turn(self):
        session = self.server.create()
        path = f'/api/sessions/{session["id"]}/prompt?wait=10'
        client = self.asks(path, {'text': 'sleepy 20s'})
        self.server.advance(10)
        answer = self.assertStatus(client.end(), 202)
        self.assertShape(answer.json, TURN)
        self.assertEqual(answer['status'], 'running')
        self.server.advance(10)
        self.server.at_rest(session['id'])

    def test_queued_prompt_waits_for_its_own_turn(self):
        session, call = self.waiting()
        client = self.asks(f'/api/sessions/{session["id"]}/prompt?wait=20', {'text': 'after'})
        self.settle(call)
        self.assertEqual(self.assertStatus(client.end(), 200)['status'], 'ended')
        self.assertEqual(self.server.last_text(session['id']), 'You said: after')

    def test_pending_call_waits_until_it_is_settled(self):
        _, call = self.waiting()
        path = f'/async-tool/pending/{call["id"]}?wait=20'
        client = self.asks(path)
        self.settle(call)
        self.assertEqual(client.end()['status'], 'completed')
        self.assertEqual(self.server.get(path)['status'], 'completed')

    def test_pending_call_still_open_is_reported_at_the_limit(self):
        _, call = self.waiting()
        client = self.asks(f'/async-tool/pending/{call["id"]}?wait=10')
        self.server.advance(9)
        self.assertTrue(client.waits())
        self.server.advance(1)
        self.assertEqual(client.end()['status'], 'waiting')

    def test_session_wait_ends_when_it_is_idle_or_sleeps(self):
        session = self.server.create('sleepy 500ms', wait=0)
        now = self.server.session(session['id'], wait=20)
        self.assertEqual(now['activity'], {'type': 'idle'})
        self.assertEqual(self.server.last_text(session['id']), 'sleepy 500ms: slept 500ms')

    def test_list_of_a_session_waits_for_a_call(self):
        session = self.server.create()
        client = self.asks(f'/async-tool/pending?sessionID={session["id"]}&wait=20')
        self.server.prompt(session['id'], 'deploy A')
        self.assertEqual(len(client.end()['items']), 1)

    def test_client_that_disconnects_harms_no_other(self):
        session, call = self.waiting()
        for _ in range(20):
            client = socket.create_connection(('127.0.0.1', self.server.port))
            client.sendall(
                f'GET /async-tool/pending/{call["id"]}?wait=50 HTTP/1.1\r\n'
                f'Host: 127.0.0.1:{self.server.port}\r\n'
                f'Authorization: Bearer {self.server.token}\r\n\r\n'.encode()
            )
            client.close()
        self.assertStatus(self.server.result(call['id'], 1), 200)
        self.assertEqual(self.server.at_rest(session['id'])['activity'], {'type': 'idle'})


if __name__ == '__main__':
    main()
