#!/usr/bin/env python3
"""Calls that clients make (POST /api/pending): every outcome, votes, deadlines, reminders,
idempotency over a SIGKILL, signed webhooks, rights, limits."""
import contextlib
import hashlib
import http.client
import json
import threading

from dormouse import Case, Client, main, wait_for
from webhook_peers import WHSEC, Receiver, plain, standard

DAY_MS = 86_400_000


class Asked(Case):
    def ask(self, question='Deploy 4.2 to production?', status=201, client=None, **more):
        headers = {'Idempotency-Key': more.pop('key')} if 'key' in more else {}
        query = f'?project={more.pop("project")}' if 'project' in more else ''
        answer = (client or self.server).post(
            '/api/pending' + query, {'question': question, **more}, **headers
        )
        return self.assertStatus(answer, status).json

    def call(self, question, wait=0):
        answer = self.server.get(f'/api/pending/{question["pendingID"]}?wait={wait}')
        return self.assertStatus(answer, 200).json

    def over(self, question):
        """The settled call; its session is completed and has nothing to do."""
        call = self.call(question)
        session = self.server.session(question['sessionID'])
        self.assertEqual((session['status'], session['agentID']), ('completed', 'none'))
        self.assertEqual(session['activity']['type'], 'idle')
        return call

    def types(self, question):
        return [one['type'] for one in self.server.events(question['sessionID'])]

    def token(self, name, role, **more):
        answer = self.server.post('/api/tokens', {'name': name, 'role': role, **more})
        self.assertStatus(answer, 201)
        client = Client(self.server.port, answer['secret'])
        self.addCleanup(client.close)
        return client


class Lists(Asked):
    def test_page_of_long_calls_ends_after_some_mebibytes(self):
        made = {self.ask(tool='deploy', arguments={'x': 'y' * 60_000})['pendingID']
                for _ in range(150)}
        for status in ('', '&status=waiting'):
            path = f'/async-tool/pending?limit=200{status}'
            first = self.server.get(path)
            self.assertLess(len(first['items']), 150)
            self.assertIsNotNone(first['next'])
            self.assertEqual({one['id'] for one in self.server.items(path)}, made)


class Outcomes(Asked):
    def test_approval_is_shown_as_any_call_and_completes_its_session(self):
        approval = self.ask(tool='deploy', arguments={'version': '4.2'})
        call = approval['call']
        self.assertEqual(
            (call['status'], call['reason'], call['tool'], call['input'], call['message']),
            ('waiting', 'approval', 'deploy', {'version': '4.2'}, 'Deploy 4.2 to production?'),
        )
        self.assertFalse(approval['duplicate'])
        self.assertTrue(approval['answerURL'].endswith('/a/' + approval['pendingID']))
        session = self.server.session(approval['sessionID'])
        self.assertEqual(
            (session['title'], session['agentID'], session['activity']['type']),
            ('Deploy 4.2 to production?', 'none', 'waiting_async'),
        )
        (listed,) = self.server.items('/api/pending?view=inbox')
        self.assertEqual(listed['id'], approval['pendingID'])
        self.assertStatus(self.server.decide(call, True, reason='go'), 200)
        done = self.over(approval)
        self.assertEqual((done['status'], done['decision']['approved']), ('completed', True))
        self.assertEqual(done['decision']['reason'], 'go')
        self.assertEqual(
            self.types(approval),
            [
                'session_created', 'input_received', 'turn_started', 'agent_asked', 'submitted',
                'turn_ended', 'session_ended',
            ],
        )
        question, answer = self.server.messages(approval['sessionID'])
        self.assertEqual(question['parts'][0]['text'], 'Deploy 4.2 to production?')
        self.assertEqual(answer['parts'][0]['tool'], 'deploy')
        explained = self.server.get('/api/explain/' + approval['pendingID'])
        self.assertStatus(explained, 200)
        audited = self.server.items(f'/api/audit?session={approval["sessionID"]}')
        self.assertIn('submitted', [one['type'] for one in audited])

    def test_denial_settles_and_a_second_decision_is_a_conflict(self):
        question = self.ask()
        self.assertStatus(self.server.decide(question['call'], False, reason='not today'), 200)
        self.assertEqual(self.over(question)['decision']['approved'], False)
        part = self.server.messages(question['sessionID'])[1]['parts'][0]
        self.assertIn('denied: not today', json.dumps(part))
        self.assertTrue(self.server.decide(question['call'], False)['duplicate'])
        self.assertProblem(self.server.decide(question['call'], True), 409, 'conflict')

    def test_answer_that_does_not_fit_is_refused_and_the_call_waits(self):
        schema = {'type': 'object', 'properties': {'port': {'type': 'integer', 'maximum': 9}},
                  'required': ['port']}
        question = self.ask('Which port?', schema=schema)
        self.assertEqual(question['call']['reason'], 'user_input')
        pending = question['pendingID']
        self.assertProblem(self.server.result(pending, {'port': 10}), 422, 'invalid_result')
        self.assertProblem(self.server.decide(question['call'], True), 422, 'wrong_kind')
        self.assertEqual(self.call(question)['status'], 'waiting')
        self.assertStatus(self.server.result(pending, {'port': 8}), 200)
        self.assertEqual(self.over(question)['result']['output'], {'port': 8})

    def test_choices_accept_only_their_titles(self):
        question = self.ask(
            'Where?', choices=[{'title': 'staging'}, {'title': 'production', 'description': 'eu'}]
        )
        self.assertEqual(len(question['call']['form']['choices']), 2)
        self.assertProblem(self.server.result(question['pendingID'], 'mars'), 422, 'invalid_result')
        self.assertStatus(self.server.result(question['pendingID'], 'staging'), 200)
        self.assertEqual(self.over(question)['result']['output'], 'staging')

    def test_job_reports_through_its_callback_url(self):
        for body, status in (({'result': {'output': 7}}, 'completed'), ({'error': 'no'}, 'failed')):
            question = self.ask('Backup', kind='result', tool='backup', externalRef='b-1')
            self.assertEqual(
                question['call']['timeout'] - question['call']['time']['created'], DAY_MS
            )
            self.assertEqual(self.server.items('/api/pending?externalRef=b-1')[0]['id'],
                             question['pendingID'])
            path = f'/async-tool/pending/{question["pendingID"]}/callback'
            url = self.server.post(path, {})['url']
            nobody = Client(self.server.port, None)
            self.assertStatus(nobody.post('/c/' + url.rsplit('/', 1)[1], body), 200)
            nobody.close()
            self.assertEqual(self.over(question)['status'], status)

    def test_two_votes_are_needed_of_different_people(self):
        question = self.ask(answer={'from': ['ann', 'bob'], 'need': 2})
        ann, bob, eve = (self.token(name, 'answer') for name in ('ann', 'bob', 'eve'))
        body = {'pendingID': question['pendingID'], 'approved': True,
                'inputDigest': question['call']['inputDigest']}
        refused = eve.post('/async-tool/decision', body)
        self.assertProblem(refused, 403, 'not_an_answerer')
        self.assertEqual(ann.post('/async-tool/decision', body)['outcome'], 'counted')
        self.assertEqual(ann.post('/async-tool/decision', body)['outcome'], 'counted')
        self.assertEqual(self.call(question)['status'], 'waiting')
        self.assertEqual(bob.post('/async-tool/decision', body)['outcome'], 'applied')
        self.assertEqual(len(self.over(question)['answer']['votes']), 2)

    def test_requester_may_be_excluded(self):
        question = self.ask(answer={'forbidRequester': True})
        self.assertProblem(self.server.decide(question['call'], True), 403, 'not_an_answerer')
        other = self.token('ann', 'answer')
        body = {'pendingID': question['pendingID'], 'approved': True,
                'inputDigest': question['call']['inputDigest']}
        self.assertStatus(other.post('/async-tool/decision', body), 200)

    def test_decision_about_other_arguments_is_refused(self):
        question = self.ask(arguments={'a': 1})
        wrong = {**question['call'], 'inputDigest': 'sha256:' + '0' * 64}
        self.assertProblem(self.server.decide(wrong, True), 409, 'input_changed')
        edited = self.server.decide(question['call'], True, arguments={'a': 2})
        self.assertProblem(edited, 422, 'invalid_arguments')
        rule = self.server.decide(question['call'], True, rule={'scope': 'session'})
        self.assertProblem(rule, 400, 'bad_value')
        self.assertEqual(self.call(question)['status'], 'waiting')

    def test_cancelled_call_turn_or_session_completes_it(self):
        for cancel in (
            lambda a: self.server.delete(f'/api/pending/{a["pendingID"]}?reason=late'),
            lambda a: self.server.post(f'/api/sessions/{a["sessionID"]}/cancel', {}),
            lambda a: self.server.post(f'/api/sessions/{a["sessionID"]}/end', {}),
        ):
            question = self.ask()
            self.assertStatus(cancel(question), 200)
            self.assertEqual(self.over(question)['status'], 'cancelled')

    def test_session_without_agent_takes_no_work(self):
        question = self.ask()
        session = question['sessionID']
        for path, body in (
            (f'/api/sessions/{session}/prompt', {'text': 'hi'}),
            (f'/api/sessions/{session}/tasks', {'agentID': 'demo', 'prompt': 'hi'}),
            ('/api/mail', {'from': session, 'to': session, 'text': 'hi'}),
            ('/api/mail', {'to': session, 'text': 'hi'}),
            (f'/api/sessions/{session}/fork', {}),
        ):
            with self.subTest(path=path, body=body):
                self.assertProblem(self.server.post(path, body), 422, 'wrong_kind')
        created = self.server.post('/api/projects/default/sessions', {'agentID': 'none'})
        self.assertProblem(created, 400, 'bad_value')
        self.assertStatus(self.server.decide(question['call'], True), 200)
        again = self.server.post(f'/api/sessions/{session}/prompt', {'text': 'x', 'reopen': True})
        self.assertProblem(again, 422, 'wrong_kind')

    def test_lists_of_sessions_are_filtered_by_agent(self):
        with self.server.alone():  # numbers of several servers interleave
            question = self.ask()
            own = self.server.create(agent='demo')['id']
        listed = lambda query: [
            one['id'] for one in self.server.items('/api/projects/default/sessions?' + query)
        ]
        self.assertEqual(listed('limit=1'), [own, question['sessionID']])
        self.assertEqual(listed('agentID=none&limit=1'), [question['sessionID']])
        self.assertEqual(listed('agentID=none&state=waiting'), [question['sessionID']])
        self.assertEqual(listed('agentID=demo'), [own])
        self.assertEqual(listed('agentID=*'), [own])
        self.assertEqual(listed('agentID=*&state=waiting'), [])


class Time(Asked):
    def test_deadline_expires_denies_or_escalates(self):
        expires = self.ask(withinMs=60_000)
        denies = self.ask(withinMs=60_000, onDeadline='deny')
        escalates = self.ask(
            withinMs=60_000, answer={'from': ['ann'], 'escalateTo': ['role:admin']}
        )
        self.server.advance(61)
        for question in (expires, denies):
            self.assertEqual(self.call(question, wait=20)['status'], 'expired')
            self.over(question)
        self.assertEqual(self.call(expires)['error'], 'nobody answered in time')
        self.assertEqual(self.call(denies)['error'], 'denied: nobody answered in time')
        messages = json.dumps(self.server.messages(denies['sessionID']))
        self.assertIn('denied: nobody answered in time', messages)
        self.assertProblem(self.server.decide(expires['call'], True), 410, 'expired')
        self.assertEqual(self.call(escalates)['answer']['from'], ['role:admin'])
        self.server.advance(61)
        self.assertEqual(self.call(escalates, wait=20)['status'], 'expired')

    def test_reminders_come_until_somebody_answers(self):
        question = self.ask(remindAfterMs=60_000, remindEveryMs=30_000)
        self.server.advance(61)
        self.server.advance(30)
        reminded = [e['number'] for e in self.events_of(question, 'reminded')]
        self.assertEqual(reminded, [1, 2])
        self.assertStatus(self.server.decide(question['call'], True), 200)
        self.server.advance(300)
        self.assertEqual(len(self.events_of(question, 'reminded')), 2)

    def events_of(self, question, type):
        events = self.server.events(question['sessionID'])
        return [one['data'] for one in events if one['type'] == type]

    def test_deadline_passes_while_the_server_is_down(self):
        question = self.ask(withinMs=60_000)
        self.server.kill()
        self.server.restart(down=120)
        self.assertEqual(self.call(question, wait=20)['status'], 'expired')
        self.over(question)


class Waiting(Asked):
    def test_waits_return_when_the_call_is_settled(self):
        question = self.ask()
        listed = self.server.get('/api/pending')
        since = listed.headers['Dormouse-As-Of']
        clients = [self.server.new_client() for _ in range(2)]
        clients[0].begin(f'/api/pending/{question["pendingID"]}?wait=50')
        clients[1].begin(f'/api/pending?changedSince={since}&wait=50&status=completed')
        self.assertStatus(self.server.decide(question['call'], True), 200)
        self.assertEqual(clients[0].end()['status'], 'completed')
        self.assertEqual([one['id'] for one in clients[1].end()['items']], [question['pendingID']])
        for client in clients:
            client.close()

    def test_bulk_of_calls_is_answered_as_one_batch(self):
        questions = [self.ask(f'Question {n}', kind='answer') for n in range(200)]
        self.assertEqual(len(self.server.items('/api/pending?limit=200')), 200)
        items = [{'pendingID': one['pendingID'], 'result': {'output': n}}
                 for n, one in enumerate(questions)]
        self.assertStatus(self.server.post('/async-tool/results', {'items': items}), 200)
        self.assertEqual(self.server.items('/api/pending'), [])
        self.assertEqual(self.over(questions[17])['result']['output'], 17)


class Again(Asked):
    def test_same_key_and_body_is_the_same_call_over_kills(self):
        first = self.ask(key='run-1')
        again = self.ask(key='run-1', status=200)
        self.assertEqual((again['pendingID'], again['duplicate']), (first['pendingID'], True))
        self.server.kill()
        self.server.restart()
        self.assertEqual(self.ask(key='run-1', status=200)['pendingID'], first['pendingID'])
        self.assertStatus(self.server.decide(first['call'], True), 200)
        self.server.kill()
        self.server.restart()
        settled = self.ask(key='run-1', status=200)
        self.assertEqual(settled['call']['decision']['approved'], True)
        self.assertEqual(len(self.server.items('/api/projects/default/sessions')), 1)

    def test_same_key_with_another_body_is_refused(self):
        self.ask(key='run-1')
        other = self.server.post('/api/pending', {'question': 'Other?'},
                                 **{'Idempotency-Key': 'run-1'})
        self.assertProblem(other, 422, 'idempotency_mismatch')

    def test_concurrent_requests_with_one_key_make_one_call(self):
        clients = [self.server.new_client() for _ in range(8)]
        found = []

        def ask(client):
            found.append(client.post('/api/pending', {'question': 'One?'},
                                     **{'Idempotency-Key': 'k'})['pendingID'])

        threads = [threading.Thread(target=ask, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for client in clients:
            client.close()
        self.assertEqual(len(set(found)), 1)
        self.assertEqual(len(found), 8)

    def test_kill_at_any_moment_leaves_one_call(self):
        # The server dies at different moments of the request; the client repeats it.
        for number, after in enumerate((0, 0.0005, 0.001, 0.002, 0.004, 0.008)):
            body, headers = {'question': f'Round {number}?'}, {'Idempotency-Key': f'round-{number}'}
            client = self.server.new_client()
            thread = threading.Thread(
                target=self.try_to, args=(client, '/api/pending', body, headers)
            )
            thread.start()
            self.server.kill(after)
            thread.join()
            client.close()
            self.server.restart()
            answer = self.server.post('/api/pending', body, **headers)
            self.assertIn(answer.status, (200, 201))
            mine = [one for one in self.server.items('/api/pending')
                    if one['message'] == body['question']]
            self.assertEqual([one['id'] for one in mine], [answer['pendingID']])

    def try_to(self, client, path, body, headers):
        """The server may die before, during or after it."""
        # AttributeError: http.client lost its socket while it sent the request.
        with contextlib.suppress(OSError, http.client.HTTPException, AttributeError):
            client.post(path, body, **headers)

    def test_kill_around_a_decision_keeps_one_outcome(self):
        for after in (0, 0.0005, 0.001, 0.003):
            question = self.ask()
            decision = {'pendingID': question['pendingID'], 'approved': True,
                        'inputDigest': question['call']['inputDigest']}
            client = self.server.new_client()
            thread = threading.Thread(
                target=self.try_to, args=(client, '/async-tool/decision', decision, {})
            )
            thread.start()
            self.server.kill(after)
            thread.join()
            client.close()
            self.server.restart()
            self.assertStatus(self.server.decide(question['call'], True), 200)
            done = self.over(question)
            self.assertEqual((done['status'], done['decision']['approved']), ('completed', True))
            self.assertEqual(self.types(question).count('submitted'), 1)


class Webhooks(Asked):
    def setUp(self):
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)
        self.configured(f'[server]\ndemo = true\nwebhook_hosts = ["{self.receiver.host}"]\n')

    def test_decision_is_sent_signed_and_survives_a_kill(self):
        for secret in ('shared-secret', WHSEC):
            question = self.ask(webhookURL=self.receiver.url + '/done', webhookSecret=secret)
            self.assertNotIn(secret, json.dumps(question))
            self.assertStatus(self.server.decide(question['call'], False, reason='no'), 200)
            self.server.kill()
            self.server.restart()

            def sent():
                """Also a message that was sent before the kill is sent again."""
                return [one for one in list(self.receiver.received)
                        if json.loads(one['body'])['pendingID'] == question['pendingID']]

            wait_for(sent, 30, 'the webhook')
            got = sent()[0]
            body = json.loads(got['body'])
            self.assertEqual(
                (body['pendingID'], body['status'], body['decision']['approved']),
                (question['pendingID'], 'completed', False),
            )
            headers = got['headers']
            expected = standard(
                secret, got['body'], headers['webhook-id'], int(headers['webhook-timestamp'])
            )
            self.assertEqual(headers['webhook-signature'], expected['webhook-signature'])
            if secret == 'shared-secret':
                self.assertEqual(headers['x-webhook-signature'], plain(secret, got['body']))
            events = json.dumps(self.server.events(question['sessionID']))
            self.assertNotIn(secret, events + self.server.log.read_text())

    def test_expiry_and_cancel_are_sent(self):
        expires = self.ask(webhookURL=self.receiver.url + '/a', withinMs=60_000)
        self.server.advance(61)
        self.assertEqual(json.loads(self.receiver.wait(1)[0]['body'])['status'], 'expired')
        self.over(expires)
        cancelled = self.ask(webhookURL=self.receiver.url + '/b')
        self.assertStatus(self.server.delete(f'/api/pending/{cancelled["pendingID"]}'), 200)
        self.assertEqual(json.loads(self.receiver.wait(2)[1]['body'])['status'], 'cancelled')

    def test_expiry_has_the_words_of_the_api(self):
        url, soon = self.receiver.url, 60_000
        texts = {
            self.ask(webhookURL=url, withinMs=soon)['pendingID']: 'nobody answered in time',
            self.ask(webhookURL=url, withinMs=soon, onDeadline='deny')['pendingID']:
                'denied: nobody answered in time',
            self.ask(webhookURL=url, withinMs=soon, kind='result')['pendingID']:
                'Tool execution timed out',
        }
        self.server.advance(61)
        for got in self.receiver.wait(3):
            body = json.loads(got['body'])
            text = texts.pop(body['pendingID'])
            self.assertEqual((body['status'], body['error']), ('expired', text))
            shown = self.call({'pendingID': body['pendingID']})
            self.assertEqual(shown['error'], text)
            canonical = json.dumps({'error': text}, separators=(',', ':')).encode()
            digest = 'sha256:' + hashlib.sha256(canonical).hexdigest()
            self.assertEqual({body['receipt']['digest'], shown['receipt']['digest']}, {digest})


class Rights(Asked):
    def test_role_operate_may_ask_and_lower_roles_may_not(self):
        for role, status in (('read', 403), ('answer', 403), ('operate', 201), ('admin', 201)):
            with self.subTest(role=role):
                client = self.token(f'{role}-token', role)
                answer = client.post('/api/pending', {'question': 'Q?'})
                self.assertStatus(answer, status)
        nobody = Client(self.server.port, None)
        self.assertProblem(nobody.post('/api/pending', {'question': 'Q?'}), 401, 'unauthenticated')
        nobody.close()

    def test_foreign_project_looks_like_an_unknown_one(self):
        own = self.token('own', 'operate', projects=['a'])
        both = self.token('both', 'operate', projects=['a', 'b'])
        question = self.ask(client=own)
        self.assertEqual(question['call']['projectID'], 'a')
        self.assertProblem(own.post('/api/pending?project=b', {'question': 'Q?'}), 404, 'not_found')
        self.assertProblem(both.post('/api/pending', {'question': 'Q?'}), 400, 'project_required')
        foreign = self.ask(client=both, project='b')
        for path in (f'/api/pending/{foreign["pendingID"]}', '/api/pending?project=b'):
            self.assertProblem(own.get(path), 404, 'not_found')
        self.assertProblem(own.delete(f'/api/pending/{foreign["pendingID"]}'), 404, 'not_found')
        self.assertEqual(own.get('/api/pending')['items'][0]['id'], question['pendingID'])

    def test_keys_of_two_callers_are_different(self):
        one, two = (self.token(name, 'operate') for name in ('one', 'two'))
        first = self.ask(key='k', client=one)
        self.assertNotEqual(self.ask(key='k', client=two)['pendingID'], first['pendingID'])


class Limits(Asked):
    def refused(self, pointer, status=400, code='bad_value', **body):
        with self.subTest(pointer=pointer):
            answer = self.server.post('/api/pending', {'question': 'Q?', **body})
            problem = self.assertProblem(answer, status, code)
            self.assertIn(pointer, problem['detail'])

    def test_every_member_has_its_bounds(self):
        self.refused('/question', question='')
        self.refused('/question', question='  \n')
        self.refused('/question', question='x' * 16_385)
        self.refused('/tool', tool='a b')
        self.refused('/tool', tool='x' * 129)
        self.refused('/arguments', arguments={'a': 'x' * 65_537})
        self.refused('/kind', kind='vote')
        self.refused('/kind', kind='approval', choices=[{'title': 'a'}])
        self.refused('/choices', choices=[])
        self.refused('/choices', choices=[{'title': str(n)} for n in range(21)])
        self.refused('/choices/0', choices=['a'])
        self.refused('/choices/0/title', choices=[{'title': ''}])
        self.refused('/choices/0/title', choices=[{'title': 'x' * 201}])
        self.refused('/choices/0/description', choices=[{'title': 'a', 'description': 'x' * 1001}])
        self.refused('/choices/1/title', choices=[{'title': 'a'}, {'title': 'a'}])
        self.refused('/choices', kind='result', choices=[{'title': 'a'}])
        self.refused('/schema', schema={'type': 'string'}, choices=[{'title': 'a'}])
        self.refused('/schema', schema={'type': 'x'})
        self.refused('/schema', schema={'description': 'x' * 32_768})
        self.refused('/answer', kind='result', answer={'need': 1})
        self.refused('/answer/need', answer={'need': 0})
        self.refused('/answer/need', answer={'need': 21})
        self.refused('/answer/from', answer={'from': []})
        self.refused('/answer/from/0', answer={'from': ['a b']})
        self.refused('/answer/from/0', answer={'from': ['role:read']})
        self.refused('/answer/from/1', answer={'from': ['a', 1]})
        self.refused('/answer/from', answer={'from': ['a'], 'need': 2})
        self.refused('/answer/from', answer={'from': [f'a{n}' for n in range(21)]})
        self.refused('/answer/escalateTo/0', withinMs=1_000, answer={'escalateTo': ['!']})
        self.refused('/withinMs', answer={'escalateTo': ['a']})
        self.refused('/withinMs', onDeadline='deny')
        self.refused('/withinMs', withinMs=999)
        self.refused('/withinMs', withinMs=367 * DAY_MS)
        self.refused('/onDeadline', withinMs=1_000, onDeadline='done')
        self.refused('/onDeadline', withinMs=1_000, kind='answer', onDeadline='deny')
        self.refused('/remindAfterMs', remindAfterMs=1)
        self.refused('/remindEveryMs', remindEveryMs=1)
        self.refused('/remindAfterMs', kind='result', remindAfterMs=1_000)
        self.refused('/webhookURL', webhookURL='ftp://x')
        self.refused('/webhookURL', webhookURL='http://x/' + 'x' * 2_048)
        self.refused('/webhookSecret', webhookURL='http://x/', webhookSecret='x' * 1_025)
        self.refused('/externalRef', externalRef='x' * 513)
        self.refused('quest', code='unknown_field', quest='x')
        self.assertEqual(self.server.items('/api/projects/default/sessions'), [])

    def test_large_body_is_refused_by_its_length(self):
        answer = self.server.post('/api/pending', {'question': 'x' * 300_000})
        self.assertProblem(answer, 413, 'too_large')


class FewWaiting(Asked):
    def setUp(self):
        self.configured('[server]\ndemo = true\n[limits]\nwaiting_calls = 2\n')

    def test_project_with_too_many_waiting_is_refused(self):
        first = self.ask(key='1')
        self.ask()
        refused = self.server.post('/api/pending', {'question': 'Q?'})
        self.assertProblem(refused, 429, 'too_many_pending', limit='waiting_calls', max=2)
        self.assertEqual(self.ask(key='1', status=200)['pendingID'], first['pendingID'])
        self.ask(project='other')
        self.assertStatus(self.server.decide(first['call'], True), 200)
        self.ask()


if __name__ == '__main__':
    main()
