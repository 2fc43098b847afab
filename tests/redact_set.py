#!/usr/bin/env python3
"""Redaction of what was set of a session, of whole turns, and of quarantined mail."""
import contextlib
import json
import pathlib
import sqlite3

from dormouse import OnDisk, main, wait_for
from redact import SECRET, Redacting


class OfFiles(Redacting):
    kind = OnDisk

    def redaction_concern(self):
        return [one for one in self.server.get('/api/doctor')['concerns']
                if one['about'] == 'redaction']

    def test_doctor_says_until_when_the_files_have_it(self):
        session = self.server.create(f'the key is {SECRET}')['id']
        (prompt, _) = [m['id'] for m in self.server.messages(session)]
        self.assertEqual(self.redaction_concern(), [])
        file = pathlib.Path(self.server.directory, 'dormouse.db')
        with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as reader:
            reader.execute('BEGIN')  # from now on it needs the log as it is
            reader.execute('SELECT count(*) FROM sessions').fetchone()
            self.assertStatus(self.redact(session, messageID=prompt), 200)
            self.assertIn('backup', self.redaction_concern()[0]['next'])
        wait_for(lambda: not self.redaction_concern(), what='the log without it')


class OfWhatWasSet(Redacting):
    """Titles, aliases and labels, also former ones."""

    def change(self, session, **body):
        self.assertStatus(self.server.call('PATCH', f'/api/sessions/{session}', body), 200)

    def clean(self, *sessions):
        for session in sessions:
            self.assertNotIn(SECRET.encode(), self.answers(session, []))
            self.assertNotIn(SECRET.encode(), self.server.get(
                f'/api/sessions/{session}/inbox').raw)
        if not self.server.store:
            self.assertEqual(self.files_with(SECRET), [])
        self.server.restart()
        for session in sessions:
            self.assertNotIn(SECRET.encode(), self.answers(session, []))
        self.server.finish()
        self.server.start()

    def test_title_and_former_ones_also_of_forks(self):
        session = self.server.create('hi', title=f'former {SECRET}')['id']
        self.change(session, title=f'now {SECRET}')
        fork = self.assertStatus(self.server.post(f'/api/sessions/{session}/fork', {}), 201)['id']
        tried = self.assertStatus(self.redact(session, title=True, dryRun=True), 200)
        self.assertEqual((tried['events'], tried['what']), (2, 'title'))
        self.assertEqual([(c['sessionID'], c['why'], c['item']) for c in tried['copies']],
                         [(fork, 'fork', 'title')])
        done = self.assertStatus(self.redact(session, title=True, reason='name'), 200)
        self.assertIn('[removed by first on ', self.server.session(session)['title'])
        self.assertIn(SECRET, self.server.session(fork)['title'])
        self.assertEqual(self.redact(session, title=True).json, done.json)
        self.assertStatus(self.redact(session, title=True, forks=True), 200)
        self.clean(session, fork)
        (audited, _) = self.server.items('/api/audit?type=redacted')[::-1][:2]
        self.assertEqual((audited['line']['what'], audited['line']['reason']), ('title', 'name'))
        self.change(session, title=f'again {SECRET}')
        self.assertStatus(self.redact(session, title=True), 200)
        self.change(session, title='harmless')
        self.clean(session, fork)
        self.assertEqual(self.server.session(session)['title'], 'harmless')

    def test_title_that_was_set_later_goes_at_each_level(self):
        """Also from what the session was forked from, several times, and only of its tree."""
        family, others = [self.server.create('hi')['id']], [self.server.create('hi')['id']]
        for one in (*family, *others):
            self.change(one, title=f'now {SECRET}', labels={'customer': SECRET})
        for made in (family, others):
            for _ in range(3):
                fork = self.server.post(f'/api/sessions/{made[-1]}/fork', {})
                made.append(self.assertStatus(fork, 201)['id'])
        self.change(family[0], title='harmless', labels={'team': 'blue'})
        for what in ({'title': True}, {'label': 'customer'}):
            named = self.assertStatus(self.redact(family[2], **what, dryRun=True), 200)
            self.assertEqual({c['sessionID'] for c in named['copies']},
                             {family[0], family[1], family[3]})
            done = self.assertStatus(self.redact(family[2], **what, forks=True), 200)
            self.assertEqual({c['sessionID'] for c in done['copies']},
                             {family[0], family[1], family[3]})
        self.assertEqual(self.server.session(others[0])['title'], f'now {SECRET}')
        self.assertStatus(self.redact(others[1], title=True, forks=True), 200)
        self.assertStatus(self.redact(others[1], labels=True, forks=True), 200)
        self.clean(*family, *others)

    def test_automatic_title_goes_while_its_message_stays(self):
        session = self.server.create(f'the key is {SECRET}')['id']
        self.assertStatus(self.redact(session, title=True), 200)
        self.assertIn('[removed by', self.server.session(session)['title'])
        self.assertIn(SECRET, json.dumps(self.server.messages(session)))
        other = self.server.create()['id']
        self.assertProblem(self.redact(other, title=True), 404, 'not_found')

    def test_one_label_and_all_labels(self):
        labels = {'customer': SECRET, 'team': 'blue'}
        session = self.server.create('hi', labels=labels)['id']
        done = self.assertStatus(self.redact(session, label='customer'), 200)
        self.assertEqual(done['what'], 'label customer')
        left = self.server.session(session)['labels']
        self.assertEqual((left['team'], sorted(left)), ('blue', ['customer', 'team']))
        self.clean(session)
        self.change(session, labels={SECRET: 'x'})
        self.change(session, labels={'y': 'z'})
        self.assertStatus(self.redact(session, labels=True), 200)
        self.assertEqual(list(self.server.session(session)['labels']), ['removed'])
        self.clean(session)
        self.assertProblem(self.redact(session, label='none'), 404, 'not_found')
        self.assertProblem(self.redact(session, label=''), 400, 'bad_value')
        self.assertProblem(self.redact(session, labels=True, title=True), 400, 'bad_value')

    def test_second_label_goes_after_the_first(self):
        for then in ({'label': 'b'}, {'labels': True}):
            session = self.server.create('hi', labels={'a': 'harmless', 'b': SECRET})['id']
            self.assertStatus(self.redact(session, label='a'), 200)
            self.assertEqual(self.server.session(session)['labels']['b'], SECRET)
            self.assertStatus(self.redact(session, **then), 200)
            self.assertNotIn(SECRET, self.server.session(session)['labels'].values())
            self.clean(session)

    def test_fork_that_was_renamed_is_redacted_by_itself(self):
        origin = self.server.create('hi', title='first', labels={'k': 'one'})['id']
        fork = self.server.post(f'/api/sessions/{origin}/fork', {})['id']
        self.change(fork, title=SECRET, labels={'k': SECRET})
        self.assertStatus(self.redact(origin, title=True, forks=True), 200)
        self.assertStatus(self.redact(origin, labels=True, forks=True), 200)
        self.assertEqual(self.server.session(fork)['title'], SECRET)
        self.assertStatus(self.redact(fork, title=True), 200)
        self.assertStatus(self.redact(fork, label='k'), 200)
        self.assertNotIn(SECRET.encode(), self.server.get(f'/api/sessions/{fork}').raw)
        self.clean(origin, fork)

    def test_alias_also_where_mail_names_the_session_by_it(self):
        alice = self.server.create(alias='alice')['id']
        bob = self.server.create(alias=SECRET)['id']
        sent = self.server.post('/api/mail', {'to': SECRET, 'text': 'a'})
        self.assertEqual(sent.status, 202, sent)
        self.server.prompt(bob, 'tell alice x')
        wait_for(lambda: self.server.get(f'/api/sessions/{alice}/inbox').json['items'],
                 what='the mail')
        for session in (alice, bob):
            self.server.at_rest(session)
        self.assertIn(SECRET.encode(), self.server.get(f'/api/sessions/{alice}/inbox').raw)
        done = self.assertStatus(self.redact(bob, alias=True), 200)
        self.assertEqual([(c['sessionID'], c['why']) for c in done['copies']], [(alice, 'alias')])
        self.assertIsNone(self.server.session(bob)['alias'])
        self.clean(alice, bob)
        other = self.server.create(alias=SECRET)['id']
        self.assertEqual(self.server.session(other)['alias'], SECRET)
        self.assertEqual(self.redact(bob, alias=True).json, done.json)

    def test_parts_that_retention_has_cut_off_go_too(self):
        session = self.server.create('one', title=SECRET, labels={'a': SECRET}, alias=SECRET)['id']
        body = {'agentID': 'demo', 'prompt': SECRET, 'description': 'look'}
        task = self.assertStatus(self.server.post(f'/api/sessions/{session}/tasks', body),
                                 201).json
        self.assertStatus(self.server.get(f'/api/tasks/{task["taskID"]}/output?wait=30'), 200)
        for text in ('two', 'three', 'four'):
            self.assertStatus(self.server.prompt(session, text), 200)
        self.server.advance(3600)
        self.assertStatus(self.server.prompt(session, 'five'), 200)
        cut = self.assertStatus(self.server.post('/api/retention/messages', {
            'messageAgeMs': 60_000, 'sessionID': session}), 200)
        self.assertGreater(cut['messages'], 0)
        for named in ({'title': True}, {'labels': True}, {'alias': True},
                      {'taskID': task['taskID']}):
            self.assertStatus(self.redact(session, **named), 200)
        self.clean(session, task['sessionID'])


class OfTurns(Redacting):
    def test_reason_of_a_cancelled_turn_goes_with_the_turn(self):
        session = self.server.create('deploy A')['id']
        queued = self.server.prompt(session, 'later', wait=0, when='queue')
        self.assertEqual(queued.status, 202, queued)
        self.assertStatus(self.server.post(f'/api/sessions/{session}/cancel',
                                           {'all': True, 'reason': SECRET}), 200)
        self.server.at_rest(session)
        turn = self.server.messages(session)[0]['turnID']
        self.assertIn(SECRET.encode(), self.answers(session, []))
        done = self.assertStatus(self.redact(session, turnID=turn, reason='x'), 200)
        self.assertEqual((done['turnID'], done['messageID']), (turn, None))
        self.assertNotIn(SECRET.encode(), self.answers(session, []))
        if not self.server.store:
            self.assertEqual(self.files_with(SECRET), [])
        self.assertEqual(self.redact(session, turnID=turn).json, done.json)
        self.assertStatus(self.server.prompt(session, 'continue'), 200)
        self.assertProblem(self.redact(session, turnID=turn[:-1] + '99'), 404, 'not_found')
        self.assertProblem(self.redact(session, turnID='trn_x'), 400, 'bad_value')
        self.server.finish()
        self.server.start()

    def test_turn_goes_with_all_its_messages(self):
        session = self.server.create(f'the key is {SECRET}')['id']
        self.server.prompt(session, 'other')
        turn = self.server.messages(session)[0]['turnID']
        self.assertStatus(self.redact(session, turnID=turn), 200)
        self.assertNotIn(SECRET.encode(), self.answers(session, []))
        self.assertIn('other', json.dumps(self.server.messages(session)))
        if not self.server.store:
            self.assertEqual(self.files_with(SECRET), [])


class Quarantined(Redacting):
    def test_quarantined_mail_stays_quarantined_without_its_text(self):
        sessions = {name: self.server.create(alias=name)['id'] for name in ('alice', 'bob')}
        text = SECRET
        for i in range(18):
            text = f'tell {"alice" if i % 2 == 0 else "bob"} {text}'
        self.server.prompt(sessions['alice'], 'tell bob ' + text.split(' ', 2)[2])

        def held():
            return [mail for session in sessions.values() for mail in
                    self.server.get(f'/api/sessions/{session}/inbox?status=quarantined').json[
                        'items']]
        (mail,) = wait_for(held, what='a quarantined mail')
        for session in sessions.values():
            self.server.at_rest(session)
        reader = mail['to']['sessionID']
        done = self.assertStatus(self.redact(reader, mailID=mail['id']), 200)
        self.assertEqual([c['why'] for c in done['copies']], ['mail'])
        (left,) = held()
        self.assertIn('[removed by first on ', left['text'])
        listed = self.server.get('/api/mail?status=undelivered')
        self.assertNotIn(SECRET.encode(), listed.raw)
        self.server.restart()
        for session in sessions.values():
            for item in self.server.items(f'/api/sessions/{session}/inbox'):
                if SECRET in json.dumps(item):
                    self.assertStatus(self.redact(session, mailID=item['id']), 200)
            for message in self.server.messages(session):
                if SECRET in json.dumps(message):
                    self.assertStatus(self.redact(session, messageID=message['id']), 200)
        for session in sessions.values():
            self.assertNotIn(SECRET.encode(), self.answers(session, []))
        if not self.server.store:
            self.assertEqual(self.files_with(SECRET), [])
        answer = self.server.post(f'/api/mail/{mail["id"]}/release', {})
        self.assertEqual((answer.status, answer['released']), (200, 1))
        wait_for(lambda: not held(), what='it is read')
        self.server.at_rest(reader)
        self.server.finish()
        self.server.start()


if __name__ == '__main__':
    main()
