#!/usr/bin/env python3
"""Notifications of people about the calls they may answer: reminders, warnings before a deadline
(requirement A10)."""
import json
import pathlib
import tempfile

from dormouse import Client, main
from tools_by_config import Service, eventually
from webhook_peers import Receiver
from webhooks_out import Sent


class People(Sent):
    demo = True
    more = '''
[[gate]]
tools = ["deploy"]
ask = "Ship <!here> & {input.target}?"
[[notify]]
kind = "slack"
url_env = "S_SLACK"
[[notify]]
kind = "command"
command = ["FOLDER/tell.sh"]
on = ["gate_asked", "expired"]
'''
    env = {'S_SLACK': 'RECEIVER/slack/secret-path'}

    def setUp(self):
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)
        self.service = Service()
        self.addCleanup(self.service.close)
        folder = tempfile.mkdtemp(prefix='dormouse-tell-')
        script = pathlib.Path(folder) / 'tell.sh'
        script.write_text('#!/bin/sh\ncat >> "$0.notified"\n')
        script.chmod(0o755)
        self.notified = pathlib.Path(str(script) + '.notified')
        self.more = self.more.replace('FOLDER', folder)
        self.serve(self.receiver.url + '/done')

    def test_people_are_notified_only_of_calls_for_them(self):
        self.server.create('sleepy 10ms')
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        (got,) = self.receiver.wait(1)
        text = json.loads(got['body'])['text']
        self.assertEqual(list(json.loads(got['body'])), ['text'])
        self.assertIn('Ship &lt;!here&gt; &amp; A?', text)
        self.assertIn(f'/a/{call["id"]}', text)
        self.assertNotIn('cap_', text)
        page = Client(self.server.port, '').get(f'/a/{call["id"]}')
        self.assertEqual(
            (page.status, page.headers['Content-Type']), (200, 'text/html; charset=utf-8')
        )
        self.assertIn("default-src 'none'", page.headers['Content-Security-Policy'])
        self.assertNotIn(b'Ship', page.raw)  # the id is no right
        made = self.server.post(
            '/api/tokens', {'name': 'other', 'role': 'admin', 'projects': ['other']}
        )
        foreign = Client(self.server.port, made['secret']).get(f'/a/{call["id"]}')
        self.assertNotIn(b'Ship', foreign.raw)
        shown = self.server.get(f'/a/{call["id"]}')
        self.assertIn(b'Ship &lt;!here&gt; &amp; A?', shown.raw)
        self.assertNotIn(b'<!here>', shown.raw)
        self.assertStatus(self.server.get('/a/x'), 404)
        self.assertEqual(len(self.server.open_calls(session)), 1)
        body = json.loads(eventually(
            lambda: self.notified.exists() and self.notified.read_text(), 'the notification'))
        self.assertEqual(
            (body['event'], body['reason'], body['tool'], body['pendingID']),
            ('gate_asked', 'approval', 'deploy', call['id']),
        )
        self.in_state('delivered', 2)
        listed = json.dumps(self.deliveries())
        self.assertNotIn('secret-path', listed)
        self.assertIn('notify:S_SLACK', listed)
        self.assertNotIn('secret-path', self.server.log.read_text())
        self.assertEqual(len(self.receiver.received), 1)


class Reminders(Sent):
    demo = True
    more = '''
remind_after = "10m"
remind_every = "1h"
[[gate]]
tools = ["deploy"]
ask = "Deploy?"
remind_every = "1m"
[[notify]]
kind = "slack"
url_env = "S_SLACK"
'''
    env = {'S_SLACK': 'RECEIVER/slack/secret-path'}

    def texts(self, n):
        return [json.loads(r['body'])['text'] for r in self.receiver.wait(n)]

    def types(self, session):
        return [e['type'] for e in self.server.events(session)]

    def test_person_is_reminded_until_the_answer(self):
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        for n in 1, 2:
            self.in_state('delivered', n)  # else another server sends it, 20 s later
            self.server.advance(60)
        first, second, third = self.texts(3)
        self.assertTrue(first.startswith('Approval wanted: '), first)
        for text in second, third:
            self.assertTrue(text.startswith('Still waiting: '), text)
            self.assertIn(f'/a/{call["id"]}', text)
        self.assertStatus(self.server.decide(call, False), 200)
        self.server.at_rest(session)
        reminded = self.types(session).count('reminded')
        self.server.advance(600)  # past the next reminder
        self.assertEqual(self.types(session).count('reminded'), reminded)
        self.assertEqual(len(self.receiver.received), 1 + reminded)

    def test_reminders_survive_a_crash_missed_ones_merge(self):
        session = self.server.create('ask How many?')['id']
        self.in_state('delivered', 1)
        self.server.restart(down=600)
        first, reminder = self.texts(2)
        self.assertTrue(reminder.startswith('Still waiting: '), reminder)
        self.assertIn('How many?', reminder)
        self.in_state('delivered', 2)
        self.server.restart()
        (event,) = [e for e in self.server.events(session) if e['type'] == 'reminded']
        self.assertEqual(event['data']['number'], 1)
        self.assertGreater(event['data']['next'], event['at'] + 3_000_000)
        self.assertEqual(len(self.deliveries()), 2)

    def test_gate_without_reminders_uses_the_servers(self):
        session = self.server.create('approve X')['id']  # its gate has no reminders
        (call,) = self.server.open_calls(session)
        self.texts(1)
        self.server.advance(600)
        eventually(lambda: 'reminded' in self.types(session), 'the reminder of [server]')
        self.assertStatus(self.server.decide(call, True), 200)
        self.server.at_rest(session)
        job = self.server.create('sleepy 10ms')['id']
        self.assertNotIn('reminded', self.types(job))


class Deadlines(Sent):
    more = 'timeout = "10m"\nwarn_before = "8m"\n'

    def test_warning_precedes_the_deadline_and_survives_a_crash(self):
        session, pending = self.job()
        self.server.restart()
        self.server.advance(120)
        events = eventually(
            lambda: [e for e in self.server.events(session) if e['type'] == 'deadline_near'],
            'a warning',
        )
        self.assertEqual(events[0]['data']['pendingID'], pending)
        call = self.server.get(f'/async-tool/pending/{pending}').json
        self.assertEqual(call['status'], 'waiting')
        self.assertEqual(events[0]['data']['timeout'], call['timeout'])
        self.server.advance(480)
        (got,) = self.receiver.wait(1)
        body = json.loads(got['body'])
        self.assertEqual((body['status'], body['error']), ('expired', 'Tool execution timed out'))
        types = [e['type'] for e in self.server.events(session)]
        self.assertEqual((types.count('deadline_near'), types.count('expired')), (1, 1))
        # A late result is refused and kept as a note.
        self.assertProblem(self.server.result(pending, 'late'), 410, 'expired')
        self.assertIn('note', [e['type'] for e in self.server.events(session)])

    def test_answer_in_time_sends_no_warning(self):
        session, pending = self.job()
        self.server.result(pending, 'soon')
        self.server.at_rest(session)
        self.server.advance(300)  # past the warning
        self.assertNotIn('deadline_near', [e['type'] for e in self.server.events(session)])


if __name__ == '__main__':
    main()
