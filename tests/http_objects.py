#!/usr/bin/env python3
"""The objects of the HTTP API (docs/reference/http-objects.md), each with all of its members."""
import unittest
import urllib.parse

from dormouse import main, wait_for
from shapes import (
    ACCEPTED, AGENT, CONSUMED, DOCTOR, EVENT, MESSAGE, OUTCOME, PENDING, SESSION,
    TOOL_STATE, TURN, Contract, list_of, mismatch, one_of,
)


class Objects(Contract):
    def test_new_session_is_201_with_location(self):
        body = {'agentID': 'demo', 'title': 'Ship', 'labels': {'team': 'x'}}
        answer = self.assertStatus(self.server.post('/api/projects/p.1/sessions', body), 201)
        session = answer.json
        self.assertShape(session, SESSION)
        self.assertEqual(answer.headers['Location'], f'/api/sessions/{session["id"]}')
        self.assertEqual(session['activity'], {'type': 'idle'})
        self.assertEqual((session['title'], session['labels']), ('Ship', {'team': 'x'}))
        self.assertEqual((session['projectID'], session['status']), ('p.1', 'active'))
        self.assertEqual(self.server.session(session['id']), session)

    def test_waiting_session_says_what_it_waits_for(self):
        session, call = self.waiting('deploy A within 1h')
        self.assertShape(session, SESSION)
        activity = session['activity']
        self.assertEqual(activity['pendingIDs'], [call['id']])
        self.assertEqual(activity['pendingID'], call['id'])
        self.assertEqual((activity['tool'], activity['timeout']), ('deploy', call['timeout']))
        self.assertEqual(call['timeout'] - call['time']['created'], 3_600_000)

    def test_busy_session_shows_turn_and_step(self):
        session = self.server.create()
        turn = self.server.prompt(session['id'], 'sleepy 1s', wait=0)['turnID']
        busy = wait_for(lambda: self.busy(session['id']), what='busy')
        self.assertShape(busy, SESSION)
        self.assertEqual(busy['activity'], {'type': 'busy', 'turnID': turn, 'step': 1})
        state = self.server.messages(session['id'])[1]['parts'][0]['state']
        self.assertEqual(state['status'], 'running')
        self.assertShape(state, TOOL_STATE['running'])
        self.server.at_rest(session['id'])

    def busy(self, session):
        now = self.server.session(session)
        return now if now['messageCount'] > 1 and now['activity']['type'] == 'busy' else None

    def test_prompt_is_202_with_its_turn(self):
        session = self.server.create()
        answer = self.assertStatus(self.server.prompt(session['id'], 'hello', wait=0), 202)
        self.assertShape(answer.json, ACCEPTED)
        self.assertIsNone(answer['queuedBehind'])
        self.assertTrue(answer['messageID'].endswith(f'_{answer["seq"]}'))

    def test_queued_prompt_says_behind_what(self):
        session, call = self.waiting()
        (turn,) = self.server.turns(session['id'])
        path = f'/api/sessions/{session["id"]}/prompt'
        for _ in range(2):
            answer = self.server.post(path, {'text': 'later'}, Idempotency_Key='later')
            self.assertEqual(answer['queuedBehind'], turn['id'])
        queued = self.server.turns(session['id'])[1]
        self.assertShape(queued, TURN)
        self.assertEqual((queued['status'], queued['finishReason']), ('queued', None))
        self.assertIsNone(queued['time']['started'])
        self.server.result(call['id'], 1)

    def test_prompt_parts_are_texts(self):
        session = self.server.create()
        parts = [{'type': 'text', 'text': 'one'}, {'type': 'text', 'text': 'two'}]
        path = f'/api/sessions/{session["id"]}/prompt?wait=20'
        self.assertStatus(self.server.post(path, {'parts': parts}), 200)
        texts = [part['text'] for part in self.server.messages(session['id'])[0]['parts']]
        self.assertEqual(texts, ['one', 'two'])

    def test_turns_in_each_of_their_states(self):
        session, call = self.waiting()
        (waiting,) = self.assertPage(self.server.get(f'/api/sessions/{session["id"]}/turns'), TURN)
        self.assertEqual((waiting['status'], waiting['finishReason']), ('waiting', 'paused'))
        self.assertEqual(waiting['pendingIDs'], [call['id']])
        self.server.result(call['id'], 'live')
        self.server.at_rest(session['id'])
        (ended,) = self.server.turns(session['id'])
        self.assertShape(ended, TURN)
        self.assertEqual((ended['status'], ended['finishReason']), ('ended', 'stop'))
        self.assertEqual((ended['step'], ended['pendingIDs']), (2, []))
        self.assertEqual(ended['usage']['steps'], 2)

    def test_messages_with_a_part_in_each_state(self):
        session = self.server.create('deploy A and B and C and D')
        path = f'/api/sessions/{session["id"]}/messages'
        self.assertPage(self.server.get(path), MESSAGE)
        calls = self.server.open_calls(session['id'])
        self.server.result(calls[0]['id'], {'url': 'x'}, title='T', metadata={'k': [1]})
        self.server.error(calls[1]['id'], 'no branch')
        self.server.delete(f'/async-tool/pending/{calls[2]["id"]}')
        states = [part['state'] for part in self.server.messages(session['id'])[1]['parts']]
        self.assertPage(self.server.get(path), MESSAGE)
        summary = [(state['status'], state.get('reason')) for state in states]
        self.assertEqual(
            summary,
            [
                ('completed', None),
                ('error', 'failed'),
                ('error', 'cancelled'),
                ('waiting_async', None),
            ],
        )
        self.assertEqual((states[0]['output'], states[0]['title']), ({'url': 'x'}, 'T'))
        self.assertEqual(states[0]['metadata'], {'k': [1]})
        self.assertEqual(states[3]['output'], {'status': 'queued', 'target': 'D'})

    def test_pending_call_with_all_its_members(self):
        session, call = self.waiting()
        self.assertShape(call, PENDING)
        (turn,) = self.server.turns(session['id'])
        message = self.server.messages(session['id'])[1]
        self.assertEqual((call['turnID'], call['messageID']), (turn['id'], message['id']))
        self.assertEqual(call['callID'], message['parts'][0]['callID'])
        self.assertEqual((call['tool'], call['input']), ('deploy', {'target': 'A'}))
        digest = 'sha256:b036ba8d5d066c7896b84aced286f17130a153cd8b3064c2791613f1ba0fa453'
        self.assertEqual(call['inputDigest'], digest)  # as in docs/reference/http-objects.md
        self.assertEqual(call['timeout'] - call['time']['created'], 24 * 3_600_000)
        self.assertTrue(call['id'].startswith('pnd_' + session['id'][4:]))
        one = self.server.get(f'/async-tool/pending/{call["id"]}')
        self.assertEqual(one.json, call)

    def test_result_is_applied_once_receipt_names_its_step(self):
        session, call = self.waiting()
        first = self.assertStatus(self.server.result(call['id'], {'v': 1}), 200)
        self.assertShape(first.json, OUTCOME)
        self.assertEqual((first['outcome'], first['duplicate']), ('applied', False))
        receipt = first['receipt']
        self.assertEqual((receipt['kind'], receipt['status']), ('result', 'completed'))
        self.assertEqual(receipt['by'], {'type': 'token', 'name': 'first'})
        self.server.at_rest(session['id'])
        again = self.assertStatus(self.server.result(call['id'], {'v': 1.0}, title='other'), 200)
        self.assertShape(again.json, OUTCOME)
        self.assertEqual((again['outcome'], again['duplicate']), ('duplicate', True))
        consumed = again['receipt']['consumed']
        self.assertShape(consumed, CONSUMED)
        self.assertEqual(consumed['step'], 2)
        self.assertEqual({**again['receipt'], 'consumed': None}, {**receipt, 'consumed': None})
        settled = self.server.get(f'/async-tool/pending/{call["id"]}').json
        self.assertShape(settled, PENDING)
        self.assertEqual(settled['result'], {'title': None, 'output': {'v': 1}, 'metadata': None})
        self.assertEqual(settled['receipt'], again['receipt'])

    def test_outputs_of_every_kind_come_back_as_they_were(self):
        outputs = [
            None,
            True,
            0,
            -1,
            1.5,
            '',
            'a "b" \\ \u2028 \U0001f600',
            [],
            {},
            [[{}]],
            {'': {'a': None}},
            'x' * 100_000,
        ]
        for output in outputs:
            session, call = self.waiting()
            self.assertStatus(self.server.result(call['id'], output), 200)
            state = self.server.messages(session['id'])[1]['parts'][0]['state']
            self.assertEqual((state['status'], state['output']), ('completed', output))
            settled = self.server.get(f'/async-tool/pending/{call["id"]}')
            self.assertEqual(settled['result']['output'], output)

    def test_error_progress_claim_and_cancel(self):
        session = self.server.create('deploy A and B')
        first, second = self.server.open_calls(session['id'])
        progress = {'pendingID': first['id'], 'payload': {'percent': 50}, 'key': '50'}
        answer = self.assertStatus(self.server.post('/async-tool/progress', progress), 200)
        self.assertEqual(answer.json, {'outcome': 'applied', 'duplicate': False})
        answer = self.server.post('/async-tool/progress', progress)
        self.assertEqual(answer.json, {'outcome': 'duplicate', 'duplicate': True})
        path = f'/async-tool/pending/{first["id"]}'
        claimed = self.assertStatus(self.server.post(path + '/claim', {'forMs': 60_000}), 200)
        self.assertShape(claimed.json, PENDING)
        self.assertEqual((claimed['status'], claimed['progressCount']), ('processing', 1))
        self.assertEqual(claimed['progress'][0]['payload'], {'percent': 50})
        applied = self.assertStatus(self.server.error(first['id'], 'broke'), 200)
        self.assertShape(applied.json, OUTCOME)
        self.assertEqual(self.server.get(path)['error'], 'broke')
        cancelled = self.assertStatus(
            self.server.delete(f'/async-tool/pending/{second["id"]}'), 200
        )
        self.assertShape(cancelled.json, OUTCOME)
        self.assertEqual(cancelled['receipt']['kind'], 'cancel')
        again = self.assertStatus(self.server.delete(f'/async-tool/pending/{second["id"]}'), 200)
        self.assertTrue(again['duplicate'])

    def test_decision(self):
        session, call = self.waiting('approve X')
        self.assertShape(call, PENDING)
        self.assertEqual((call['reason'], call['continuation']), ('approval', 'reentry'))
        self.assertIsNone(call['timeout'])
        answer = self.assertStatus(self.server.decide(call, True, reason='fine'), 200)
        self.assertShape(answer.json, OUTCOME)
        settled = self.server.get(f'/async-tool/pending/{call["id"]}').json
        self.assertShape(settled, PENDING)
        self.assertEqual(
            settled['decision'],
            {'approved': True, 'reason': 'fine', 'arguments': None, 'content': None},
        )

    def test_moves_answer_with_the_session(self):
        session, call = self.waiting()
        path = f'/api/sessions/{session["id"]}'
        cancelled = self.assertStatus(self.server.post(path + '/cancel'), 200)
        self.assertShape(cancelled.json, SESSION)
        self.assertEqual(cancelled['activity'], {'type': 'idle'})
        self.assertEqual(self.server.turns(session['id'])[0]['finishReason'], 'cancelled')
        patched = self.server.call('PATCH', path, {'title': 'New', 'labels': {'a': 'b'}})
        self.assertShape(self.assertStatus(patched, 200).json, SESSION)
        self.assertEqual((patched['title'], patched['labels']), ('New', {'a': 'b'}))
        ended = self.assertStatus(self.server.post(path + '/end', {}), 200)
        self.assertShape(ended.json, SESSION)
        self.assertEqual(ended['status'], 'completed')
        self.assertIsInstance(ended['time']['ended'], int)
        gone = self.assertStatus(self.server.delete(path), 204)
        self.assertEqual(gone.raw, b'')
        self.assertProblem(self.server.get(path), 404, 'not_found')

    def test_cancel_reason_is_in_the_call_the_turn_and_the_events(self):
        session = self.server.create('deploy A and B')['id']
        first, second = self.server.open_calls(session)
        self.server.prompt(session, 'later', wait=0)
        path = f'/async-tool/pending/{first["id"]}'
        for reason in ('another branch', 'other words'):
            answer = self.server.delete(path + '?reason=' + urllib.parse.quote(reason))
            self.assertStatus(answer, 200)
        self.assertTrue(answer['duplicate'], 'the reason is no part of what is compared')
        self.assertShape(self.server.get(path).json, PENDING)
        self.assertEqual(self.server.get(path)['cancelReason'], 'another branch')
        body = {'all': True, 'reason': 'wrong repository'}
        self.assertStatus(self.server.post(f'/api/sessions/{session}/cancel', body), 200)
        (turn, dropped) = self.server.turns(session)
        self.assertShape(turn, TURN)
        for one in (turn, dropped):
            self.assertEqual(one['cancelReason'], 'wrong repository')
        reasons = {}
        for event in self.server.events(session):
            reasons.setdefault(event['type'], []).append(event['data'].get('reason'))
        self.assertEqual(reasons['cancelled'], ['another branch', 'wrong repository'])
        self.assertEqual(reasons['turn_ended'], ['wrong repository'])
        self.assertEqual(reasons['input_dropped'], ['wrong repository'])
        states = [p['state'] for m in self.server.items(f'/api/sessions/{session}/messages')
                  for p in m['parts'] if p['type'] == 'tool']
        self.assertEqual([s['error'] for s in states],
                         ['cancelled: another branch', 'cancelled: wrong repository'])
        self.assertEqual(
            self.server.get(f'/async-tool/pending/{second["id"]}')['cancelReason'],
            'wrong repository',
        )

    def test_cancel_reason_is_text_of_a_kilobyte(self):
        session, call = self.waiting()
        path = f'/api/sessions/{session["id"]}/cancel'
        for reason in ('x' * 1_001, 7, ['x']):
            answer = self.server.post(path, {'reason': reason})
            self.assertProblem(answer, 400, 'bad_value', pointer='/reason')
        path = f'/async-tool/pending/{call["id"]}?reason=' + 'x' * 1_001
        self.assertProblem(self.server.delete(path), 400, 'bad_value')
        self.assertEqual(self.server.get(f'/api/sessions/{session["id"]}')['activity']['type'],
                         'waiting_async')

    def test_cancel_takes_a_call_the_turn_or_all(self):
        session = self.server.create('deploy A and B')
        call = self.server.open_calls(session['id'])[0]
        self.server.prompt(session['id'], 'later', wait=0)
        path = f'/api/sessions/{session["id"]}/cancel'
        one = self.assertStatus(self.server.post(path, {'pendingID': call['id']}), 200)
        self.assertEqual(len(one['activity']['pendingIDs']), 1)
        everything = self.assertStatus(self.server.post(path, {'all': True}), 200)
        self.assertEqual(everything['activity'], {'type': 'idle'})
        self.assertEqual([t['status'] for t in self.server.turns(session['id'])][0], 'ended')
        self.assertEqual(self.server.last_text(session['id']), '')

    def test_fork_has_the_past_and_nothing_open(self):
        session, call = self.waiting()
        path = f'/api/sessions/{session["id"]}/fork'
        answer = self.assertStatus(
            self.server.post(path, {'seq': session['seq'], 'title': 'F'}), 201
        )
        fork = answer.json
        self.assertShape(fork, SESSION)
        self.assertEqual(answer.headers['Location'], f'/api/sessions/{fork["id"]}')
        self.assertEqual((fork['forkedFrom'], fork['title']), (session['id'], 'F'))
        self.assertEqual(fork['activity'], {'type': 'idle'})
        items = self.assertPage(self.server.get(f'/api/sessions/{fork["id"]}/messages'), MESSAGE)
        state = items[1]['parts'][0]['state']
        self.assertEqual(
            (state['status'], state['error']), ('error', f'stays with session {session["id"]}')
        )
        self.server.prompt(fork['id'], 'hello')
        text = f'deploy A failed: stays with session {session["id"]}\nYou said: hello'
        self.assertEqual(self.server.last_text(fork['id']), text)
        self.assertEqual(self.server.open_calls(session['id']), [call])

    def test_events_agents_doctor_and_explain(self):
        session, call = self.waiting()
        receipt = self.server.result(call['id'], 1)['receipt']
        self.server.at_rest(session['id'])
        page = self.server.get(f'/api/sessions/{session["id"]}/events')
        for event in self.assertStatus(page, 200)['items']:
            head = {k: v for k, v in event.items() if k not in ('activity', 'status')}
            self.assertShape(head, EVENT)
        self.assertPage(self.server.get('/api/agents'), AGENT)
        self.assertShape(self.assertStatus(self.server.get('/api/doctor'), 200).json, DOCTOR)
        report = self.assertStatus(self.server.post('/api/doctor/repair', {'dryRun': True}), 200)
        self.assertEqual(sorted(report.json), ['events', 'found', 'next', 'sessions'])
        self.assertEqual(report['found'], [])
        bad = self.server.post('/api/doctor/repair', {'cursor': 'ses_1'})
        self.assertEqual((bad.status, bad['code']), (400, 'bad_cursor'))
        message = self.server.messages(session['id'])[0]
        for name in (call['id'], session['id'], receipt['id'], message['id'], call['turnID']):
            explained = self.assertStatus(self.server.get(f'/api/explain/{name}'), 200)
            self.assertEqual(explained['sessionID'], session['id'])
            self.assertShape(explained['session'], SESSION)
            self.assertEqual(explained['calls'][0]['pendingID'], call['id'])
            self.assertShape(explained['calls'][0]['pending'], PENDING)
            self.assertShape(explained['calls'][0]['consumed'], CONSUMED)


class Shapes(unittest.TestCase):
    """The checker itself finds planted errors."""

    def test_planted_mismatches_are_found(self):
        good = {'turnID': 'trn_12345', 'step': 1, 'seq': 2, 'at': 3}
        self.assertIsNone(mismatch(good, CONSUMED))
        for bad in (
            {**good, 'more': 1},
            {k: good[k] for k in ('turnID', 'step', 'seq')},
            {**good, 'seq': '2'},
            {**good, 'seq': True},
            {**good, 'turnID': 'ses_12345'},
            {**good, 'at': None},
            None,
            [],
        ):
            self.assertIsNotNone(mismatch(bad, CONSUMED), bad)
        self.assertIsNotNone(mismatch([good, 1], list_of(CONSUMED)))
        self.assertIsNotNone(mismatch('x', one_of('y', None)))


if __name__ == '__main__':
    main()
