#!/usr/bin/env python3
"""Mail between agents from outside (requirements E): its five scenarios, its edge cases, aliases,
and a kill in between."""
import json
import pathlib
import tempfile
import threading

from dormouse import Case, main, run, wait_for


class Mail(Case):
    def named(self, alias, **more):
        return self.server.create(alias=alias, **more)['id']

    def mail(self, **body):
        return self.server.post('/api/mail', body)

    def patch(self, session, alias):
        return self.server.call('PATCH', f'/api/sessions/{session}', {'alias': alias})

    def inbox(self, session, query=''):
        answer = self.server.get(f'/api/sessions/{session}/inbox{query}')
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def texts(self, session):
        return [mail['text'] for mail in self.inbox(session)['items']]

    def replies(self, session):
        """Returns the texts of the session's model in order."""
        out = []
        for message in self.server.messages(session):
            if message['role'] == 'assistant':
                out += [part['text'] for part in message['parts'] if part['type'] == 'text']
        return out

    def wait_reply(self, session, text):
        wait_for(lambda: any(text in one for one in self.replies(session)), what=repr(text))


class Scenarios(Mail):
    def test_idle_agent_is_woken_by_the_answer_and_sees_it(self):
        """Scenario 1: A asks and goes idle, B answers, A resumes."""
        alice, bob = self.named('alice'), self.named('bob')
        self.server.prompt(alice, 'tell bob tell alice forty-two')
        self.wait_reply(alice, 'broadcast bob: delivered')
        self.wait_reply(bob, 'broadcast alice: delivered')
        self.wait_reply(alice, 'You said: forty-two')
        turns = self.server.turns(alice)
        self.assertEqual([turn['cause']['type'] for turn in turns], ['prompt', 'mail'])
        self.assertEqual(turns[1]['cause']['by'], {'type': 'session', 'name': bob})
        mail = self.inbox(alice)['items'][0]
        self.assertEqual(mail['from'], {'sessionID': bob, 'alias': 'bob'})
        self.assertEqual((mail['number'], mail['hops'], mail['status']), (1, 1, 'read'))

    def test_busy_agent_sees_it_with_its_next_request(self):
        """Scenario 2: A stays active; its turn does not end before it has read the mail."""
        alice = self.named('alice')
        turn = self.server.prompt(alice, 'sleepy 1s', wait=0)['turnID']
        answer = self.mail(to='alice', text='while you work')
        self.assertEqual(answer.status, 202, answer)
        self.assertEqual(answer.json['receivers'][0]['status'], 'delivered')
        self.wait_reply(alice, 'You said: while you work')
        turns = self.server.turns(alice)
        self.assertEqual([one['id'] for one in turns], [turn], 'one turn, no second one')

    def test_mail_to_a_deleted_session_is_reported_to_the_sender(self):
        """Scenario 3."""
        alice, bob = self.named('alice'), self.named('bob')
        self.server.post(f'/api/sessions/{bob}/end', {})
        answer = self.mail(**{'from': alice, 'to': bob, 'text': 'hello?'})
        self.assertEqual(answer.status, 202, answer)
        self.assertEqual(answer.json['receivers'][0]['status'], 'failed')
        bounced = wait_for(lambda: [e for e in self.server.events(alice)
                                    if e['type'] == 'mail_bounced'], what='the report')
        self.assertEqual([e['data']['error']['code'] for e in bounced], ['wrong_state'])
        self.assertEqual(self.server.session(alice)['activity']['type'], 'idle')
        self.assertProblem(self.mail(to=bob, text='x'), 409, 'wrong_state')
        self.assertProblem(self.mail(to='nobody', text='x'), 404, 'not_found')
        self.server.prompt(alice, 'tell bob are you there')
        self.wait_reply(alice, "broadcast bob: failed: unknown session 'bob'")

    def test_unknown_name_is_answered_with_the_closest_known_one(self):
        def refused(name):
            answer = self.mail(to=name, text='x')
            self.assertProblem(answer, 404, 'not_found')
            return answer.json['detail']

        self.assertEqual(
            refused('bob'), "unknown session 'bob' (no other session here has an alias)."
        )
        for alias in ('alice', 'legal'):
            self.named(alias)
        self.assertEqual(refused('aliec'), "unknown session 'aliec' (did you mean 'alice'?).")
        self.assertEqual(refused('zzzz'), "unknown session 'zzzz' (aliases here: alice, legal).")
        for number in range(5):
            self.named(f'more-{number}')
        self.assertTrue(refused('zzzz').endswith('legal, more-0, more-1, more-2, …).'))
        # Among several, the others get it.
        answer = self.mail(to=['aliec', 'legal'], text='x')
        self.assertStatus(answer, 202)
        by_name = {one['to']: one for one in answer.json['receivers']}
        self.assertEqual(by_name['legal']['status'], 'delivered')
        self.assertIn("did you mean 'alice'?", by_name['aliec']['reason'])

    def test_several_to_an_idle_one_all_arrive_in_order(self):
        """Scenario 4."""
        alice = self.named('alice')
        senders = [self.named(f'n{i}') for i in range(5)]

        def send(session):
            client = self.server.new_client()
            for i in range(4):
                client.post('/api/mail', {'from': session, 'to': 'alice', 'text': f'{session} {i}'})
            client.close()

        threads = [threading.Thread(target=send, args=(one,)) for one in senders]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wait_for(lambda: self.inbox(alice)['read'] == 20, what='all of it read')
        texts = self.texts(alice)
        self.assertEqual(len(texts), 20)
        for session in senders:
            mine = [text for text in texts if text.startswith(session)]
            self.assertEqual(mine, [f'{session} {i}' for i in range(4)])
        numbers = [mail['number'] for mail in self.inbox(alice)['items']]
        self.assertEqual(numbers, list(range(1, 21)))

    def test_reply_while_the_sender_becomes_idle(self):
        """Scenario 5: whichever comes first, the mail is read."""
        alice = self.named('alice')
        for i in range(30):
            self.server.prompt(alice, f'hello {i}', wait=0)
            self.assertEqual(self.mail(to='alice', text=f'answer {i}').status, 202)
        wait_for(lambda: self.inbox(alice)['read'] == 30, what='all of it read')
        self.server.at_rest(alice)
        self.assertEqual(self.texts(alice), [f'answer {i}' for i in range(30)])

    def test_mail_loop_is_quarantined_until_a_person_releases_it(self):
        """Edge case: circular broadcasts."""
        alice, bob = self.named('alice'), self.named('bob')
        text = 'enough'
        for i in range(18):
            text = f'tell {"alice" if i % 2 == 0 else "bob"} {text}'
        self.server.prompt(alice, 'tell bob ' + text.split(' ', 2)[2])
        held = wait_for(
            lambda: self.inbox(alice, '?status=quarantined')['items']
            or self.inbox(bob, '?status=quarantined')['items'],
            what='a quarantined mail',
        )
        self.assertEqual(len(held), 1)
        self.assertEqual(held[0]['hops'], 16)
        self.assertIn('person may release', held[0]['reason'])
        for session in (alice, bob):
            self.assertEqual(self.server.at_rest(session)['activity']['type'], 'idle')
        self.assertTrue(self.server.get('/api/doctor').json['ok'])
        answer = self.server.post(f'/api/mail/{held[0]["id"]}/release', {})
        self.assertEqual((answer.status, answer['released']), (200, 1))
        again = self.server.post(f'/api/mail/{held[0]["id"]}/release', {})
        self.assertEqual((again.status, again['released']), (200, 0))
        reader = held[0]['to']['sessionID']
        wait_for(lambda: not self.inbox(reader, '?status=quarantined')['items'], what='it is read')

    def test_resume_false_wakes_nobody_and_true_wakes_one_that_waits(self):
        alice = self.named('alice')
        self.assertEqual(self.mail(to='alice', text='quiet', resume=False).status, 202)
        self.assertEqual(self.server.session(alice)['activity']['type'], 'idle')
        item = self.inbox(alice)['items'][0]
        self.assertEqual(item['status'], 'delivered')
        self.assertIn('resume false', item['reason'])
        self.server.prompt(alice, 'deploy A')
        self.assertEqual(self.inbox(alice)['read'], 1)
        self.mail(to='alice', text='patience')
        self.assertEqual(self.inbox(alice)['read'], 1, 'one that waits still waits')
        self.mail(to='alice', text='now', resume=True)
        wait_for(lambda: self.inbox(alice)['read'] == 3, what='both read')
        self.assertEqual(self.server.session(alice)['activity']['type'], 'waiting_async')

    def test_broadcast_reaches_all_sessions_with_an_alias(self):
        alice = self.named('alice')
        others = [self.named(f'n{i}') for i in range(3)]
        self.server.create()
        self.named('elsewhere', project='other')
        answer = self.mail(**{'from': 'alice', 'text': 'hello all'})
        self.assertEqual(
            sorted(one['sessionID'] for one in answer.json['receivers']), sorted(others)
        )
        for one in others:
            self.assertEqual(self.texts(one), ['hello all'])
        self.assertEqual(self.texts(alice), [])

    def test_key_sends_once(self):
        alice, bob = self.named('alice'), self.named('bob')
        for number, sender in enumerate(({}, {'from': alice})):
            body = {**sender, 'to': 'bob', 'text': 'once'}
            key = {'Idempotency-Key': f'k{number}'}
            first = self.server.post('/api/mail', body, **key)
            again = self.server.post('/api/mail', body, **key)
            self.assertEqual((first.status, again.status), (202, 202))
            self.assertEqual(first['id'], again['id'])
            self.assertEqual((first['duplicate'], again['duplicate']), (False, True))
            changed = self.server.post('/api/mail', {**body, 'text': 'other'}, **key)
            self.assertProblem(changed, 422, 'idempotency_mismatch')
        self.assertEqual(self.texts(bob), ['once', 'once'])

    def test_aliases_are_unique_durable_and_released(self):
        alice = self.named('alice')
        taken = self.server.post(
            '/api/projects/default/sessions', {'agentID': 'demo', 'alias': 'alice'}
        )
        self.assertProblem(taken, 409, 'alias_taken')
        self.named('alice', project='other')
        self.server.restart()
        bob = self.server.create()['id']
        self.assertProblem(self.patch(bob, 'alice'), 409, 'alias_taken')
        found = self.server.get('/api/projects/default/sessions?alias=alice').json
        self.assertEqual([one['id'] for one in found['items']], [alice])
        self.assertEqual(self.patch(alice, None).status, 200)
        self.assertEqual(self.patch(bob, 'alice').status, 200)
        self.server.post(f'/api/sessions/{bob}/end', {})
        self.assertEqual(self.server.session(bob)['alias'], None)
        self.named('alice')

    def test_two_that_race_for_an_alias(self):
        answers = []

        def create():
            client = self.server.new_client()
            body = {'agentID': 'demo', 'alias': 'ops'}
            answers.append(client.post('/api/projects/default/sessions', body))
            client.close()

        threads = [threading.Thread(target=create) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(answer.status for answer in answers), [201] + [409] * 7)

    def test_invalid_mail_is_refused_and_changes_nothing(self):
        alice = self.named('alice')
        seq = self.server.session(alice)['seq']
        for body in (
            {'to': 'alice'},
            {'to': 'alice', 'text': ''},
            {'to': [], 'text': 'x'},
            {'to': 7, 'text': 'x'},
            {'to': [7], 'text': 'x'},
            {'to': 'x' * 130, 'text': 'x'},
            {'to': 'alice', 'text': 'x', 'ttl': 0},
            {'to': 'alice', 'text': 'x', 'replyTo': 'mail_1'},
            {'to': 'alice', 'text': 'x', 'resume': 'yes'},
            {'to': 'alice', 'text': 'x', 'urgent': True},
        ):
            with self.subTest(body=json.dumps(body)[:80]):
                self.assertEqual(self.server.post('/api/mail', body).status, 400)
        large = self.mail(to='alice', text='x' * (64 * 1024 + 1))
        self.assertProblem(large, 413, 'too_large')
        for alias in ('a b', 'x' * 65, 'ses_x', '\u202e'):
            refused = self.patch(alice, alias)
            self.assertProblem(refused, 400, 'bad_value')
        self.assertProblem(self.server.post('/api/mail/mail_x/release', {}), 404, 'not_found')
        self.assertEqual(self.server.session(alice)['seq'], seq)

    def test_kill_right_after_the_answer_loses_nothing(self):
        alice, bob = self.named('alice'), self.named('bob')
        for i in range(5):
            answer = self.mail(**{'from': alice, 'to': 'bob', 'text': f'mail {i}'})
            self.assertEqual(answer.status, 202, answer)
            self.server.restart()
        wait_for(lambda: self.inbox(bob)['read'] == 5, what='all of it read')
        self.assertEqual(self.texts(bob), [f'mail {i}' for i in range(5)])

    def test_command_line(self):
        alice = self.named('alice')

        def dm(*words):
            url = f'http://127.0.0.1:{self.server.port}'
            return run(*words, '--server', url, '--data', self.server.directory)

        self.assertIn('alice: delivered', dm('mail', 'alice', 'hello', '--quiet').stdout)
        self.assertIn('hello', dm('inbox', alice).stdout)
        self.assertIn('alice', dm('alias').stdout)
        renamed = dm('alias', alice, 'anna')
        self.assertEqual(renamed.returncode, 0, renamed.stderr)
        self.assertEqual(self.server.session(alice)['alias'], 'anna')
        mail = self.inbox(alice)['items'][0]['id']
        self.assertIn('released', dm('release', mail).stdout)
        wait_for(lambda: self.inbox(alice)['read'] == 1, what='it is read')
        self.assertEqual(dm('mail', 'nobody', 'x').returncode, 3)


class Policy(Mail):
    """The mail policy of a project ([[project]])."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='dormouse-mail-')
        self.addCleanup(folder.cleanup)
        config = pathlib.Path(folder.name, 'd.toml')
        config.write_text(
            '[server]\ndemo = true\n'
            '[[project]]\nid = "default"\nmail_notifies_parent = true\n'
            '[[project]]\nid = "calm"\nmail = "inbox"\n'
            '[[project]]\nid = "loud"\nmail = "steer"\n'
        )
        self.arguments = ('--config', str(config))
        super().setUp()

    def test_e7_parent_is_woken_by_mail_that_arrives_at_its_child(self):
        parent = self.server.create()['id']
        body = {'agentID': 'demo', 'prompt': 'hello', 'description': 'look'}
        task = self.server.post(f'/api/sessions/{parent}/tasks', body).json
        child = task['sessionID']
        wait_for(lambda: self.server.get(f'/api/tasks/{task["taskID"]}/output').status == 200)
        self.server.at_rest(parent)
        self.server.at_rest(child)
        answer = self.mail(to=child, text='the build is red')
        self.assertEqual(answer.json['receivers'][0]['status'], 'delivered')
        self.server.restart()  # what was acknowledged includes the parent's notification
        self.wait_reply(child, 'You said: the build is red')
        wait_for(lambda: self.inbox(parent)['read'] == 1, what='it at the parent')
        (mail,) = self.inbox(parent)['items']
        self.assertEqual(mail['from']['sessionID'], child)
        self.assertEqual(
            mail['text'], f'Mail to your task {task["taskID"]} from first: the build is red'
        )
        self.assertEqual(mail['hops'], 1)
        self.assertEqual(self.server.turns(parent)[-1]['cause']['type'], 'mail')
        # What the parent itself writes to its child comes back to it only as an answer.
        sent = self.mail(**{'from': parent, 'to': child, 'text': 'and now?'})
        self.assertEqual(sent.status, 202, sent)
        self.wait_reply(child, 'You said: and now?')
        self.server.at_rest(parent)
        self.assertEqual(len(self.inbox(parent)['items']), 1)

    def test_e8_project_policy_decides_mail_without_resume(self):
        calm = self.named('cal', project='calm')
        posted = self.server.post('/api/mail?project=calm', {'to': 'cal', 'text': 'quiet'})
        self.assertEqual(posted['receivers'][0]['status'], 'delivered')
        self.assertEqual(self.server.session(calm)['activity']['type'], 'idle')
        self.assertEqual(self.inbox(calm)['read'], 0)
        self.server.post('/api/mail?project=calm', {'to': 'cal', 'text': 'up', 'resume': True})
        wait_for(lambda: self.inbox(calm)['read'] == 2, what='both read')
        loud = self.named('lou', project='loud', prompt={'text': 'deploy A'})
        wait_for(lambda: self.server.open_calls(loud), what='its call')
        self.server.post('/api/mail?project=loud', {'to': 'lou', 'text': 'now'})
        wait_for(lambda: self.inbox(loud)['read'] == 1, what='one that waits is woken')
        self.assertEqual(self.server.session(loud)['activity']['type'], 'waiting_async')


if __name__ == '__main__':
    main()
