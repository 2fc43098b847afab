#!/usr/bin/env python3
"""Retention inside a session: its oldest turns leave the journal, automatically or by hand; waiting
work stays, requests for deleted history get 410, and a kill leaves the whole or the rest."""
import pathlib
import re
import tempfile
import threading

from dormouse import Case, Events, main, run, wait_for

PATH = '/api/retention/messages'


class Cutting(Case):
    arguments = ()

    def talk(self, session, turns, word='hi'):
        for n in range(turns):
            self.assertStatus(self.server.prompt(session, f'{word} {n}'), 200)

    def cut(self, **body):
        return self.assertStatus(self.server.post(PATH, body), 200).json

    def messages(self, session):
        return self.server.items(f'/api/sessions/{session}/messages')

    def session(self, session):
        return self.assertStatus(self.server.get(f'/api/sessions/{session}'), 200).json

    def texts(self, session):
        return [m['parts'][0].get('text') for m in self.messages(session) if m['role'] == 'user']

    def events(self, session):
        return self.server.items(f'/api/sessions/{session}/events')


class ByHand(Cutting):
    def test_oldest_turns_are_deleted_the_rest_is_whole(self):
        session = self.server.create()['id']
        self.talk(session, 60)
        before = self.messages(session)
        self.assertEqual(len(before), 120)
        answer = self.cut(messagesPerSession=100, dryRun=True)
        self.assertEqual((answer['sessions'], answer['messages']), (1, 30))
        self.assertGreater(answer['bytes'], 0)
        self.assertEqual(self.messages(session), before, 'a dry run changes nothing')
        answer = self.cut(messagesPerSession=100)
        self.assertEqual((answer['sessions'], answer['messages'], answer['next']), (1, 30, None))
        self.assertEqual([one['sessionID'] for one in answer['found']], [session])
        for _ in range(2):
            self.assertEqual(self.messages(session), before[30:])
            gone = self.session(session)['historyAfter']
            events = self.events(session)
            self.assertEqual(
                [e['seq'] for e in events], list(range(gone + 1, events[-1]['seq'] + 1))
            )
            self.assertEqual(events[-1]['type'], 'base')
            self.assertEqual(events[-1]['data']['through'], gone)
            self.assertEqual(self.cut(messagesPerSession=100)['messages'], 0, 'once is enough')
            self.server.restart()
        self.talk(session, 2, 'later')
        self.assertEqual(self.texts(session)[-2:], ['later 0', 'later 1'])
        self.assertEqual(len(self.messages(session)), 94)

    def test_requests_for_deleted_history_get_410(self):
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.server.at_rest(session)
        key = {'Idempotency_Key': 'first'}
        path = f'/api/sessions/{session}/prompt?wait=20'
        self.assertStatus(self.server.post(path, {'text': 'once'}, **key), 200)
        self.talk(session, 60)
        old = self.server.get(f'/api/sessions/{session}/messages?limit=2')['next']
        self.cut(messagesPerSession=100, sessionID=session)
        gone = self.session(session)['historyAfter']
        for answer in (
            self.server.get(f'/api/sessions/{session}/events?after=3'),
            self.server.get(f'/api/sessions/{session}/messages?cursor={old}'),
            self.server.get(f'/async-tool/pending/{call["id"]}'),
            self.server.get(f'/api/explain/{call["id"]}'),
            self.server.result(call['id'], 'live'),
            self.server.result(call['id'], 'other'),
            self.server.post(f'/api/sessions/{session}/fork', {'seq': gone}),
            self.server.post(path, {'text': 'once'}, **key),
        ):
            self.assertProblem(answer, 410, 'history_gone')
        never = re.sub(r'^(pnd_.{22}_)\d+_\d+_', r'\g<1>99_1_', call['id'])
        self.assertProblem(self.server.result(never, 'live'), 404, 'not_found')
        fork = self.assertStatus(self.server.post(f'/api/sessions/{session}/fork', {}), 201)
        self.assertEqual(len(self.messages(fork['id'])), len(self.messages(session)))

    def test_stream_readers_continue_after_a_cut(self):
        session = self.server.create()['id']
        self.talk(session, 60)
        path = f'/api/sessions/{session}/events'
        head = self.session(session)['seq']
        with Events(self.server, path, last_event_id=head) as live:
            with self.server.alone():  # other servers report it with the next event
                self.cut(messagesPerSession=100)
            self.assertEqual(live.until(lambda f: f.event == 'base')[-1].id, head + 1)
            self.talk(session, 1)
            self.assertEqual(live.until(lambda f: f.event == 'turn_ended')[0].id, head + 2)
        gone = self.session(session)['historyAfter']
        newest = self.session(session)['seq']
        for place in (None, 3):
            with Events(self.server, path, last_event_id=place) as late:
                frames = late.until(lambda f: f.id == newest)
            frames = [f for f in frames if f.event]
            self.assertEqual((frames[0].event, frames[0].data), ('reset', {'after': gone}))
            self.assertEqual([f.id for f in frames[1:]], list(range(gone + 1, newest + 1)))
        feed, page = [], {'next': ''}
        while not feed or page['items']:
            place = page['next'] and f'&cursor={page["next"]}'
            page = self.server.get(f'/api/events?project=default&limit=200{place}').json
            feed += page['items']
        seqs = [e['seq'] for e in feed if e['sessionID'] == session]
        self.assertEqual(seqs, sorted(set(seqs)))
        self.assertEqual(seqs[-1], newest)

    def test_waiting_work_survives_a_cut(self):
        session = self.server.create()['id']
        self.talk(session, 60)
        self.assertStatus(self.server.prompt(session, 'deploy A'), 200)
        (call,) = self.server.open_calls(session)
        for n in range(2):
            self.server.prompt(session, f'queued {n}', wait=0, when='queue')
        self.assertEqual(self.cut(messagesPerSession=100)['sessions'], 1)
        self.server.restart()
        self.assertEqual(self.server.open_calls(session)[0]['id'], call['id'])
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.server.at_rest(session)
        self.assertEqual(self.texts(session)[-3:], ['deploy A', 'queued 0', 'queued 1'])
        self.assertStatus(self.server.result(call['id'], 'live'), 200)  # a repeat meets its receipt

    def test_view_for_sql_shows_what_is_left(self):
        session = self.server.create()['id']
        self.talk(session, 60)
        self.cut(messagesPerSession=100)
        rows = self.server.select(
            f"SELECT id, role FROM agent_session_messages WHERE session_id = '{session}'")
        self.assertEqual([(row['id'], row['role']) for row in rows],
                         [(m['id'], m['role']) for m in self.messages(session)])
        query = f"SELECT working_directory FROM agent_sessions WHERE id = '{session}'"
        self.assertEqual(len(self.server.select(query)), 1)

    def test_kill_in_the_middle_leaves_the_whole_or_the_rest(self):
        sessions = [self.server.create()['id'] for _ in range(6)]
        for session in sessions:
            self.talk(session, 56)
        for delay in (0.0, 0.002, 0.006):

            def ask():
                try:
                    self.server.new_client().post(PATH, {'messagesPerSession': 100})
                except Exception:
                    pass  # it was killed

            thread = threading.Thread(target=ask)
            thread.start()
            self.server.kill(after=delay)
            thread.join()
            self.server.verify()
            self.server.start()
        self.cut(messagesPerSession=100)
        for session in sessions:
            self.assertEqual(self.texts(session), [f'hi {n}' for n in range(11, 56)])

    def test_command_reports_what_is_deleted(self):
        session = self.server.create()['id']
        self.talk(session, 55)
        url = f'http://127.0.0.1:{self.server.port}'
        env = {'DORMOUSE_TOKEN': self.server.token}
        flags = ('--server', url, 'retention', '--messages', '100')
        done = run(*flags, '--dry-run', env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('20 messages of 1 session would be deleted', done.stdout)
        self.assertIn(session, done.stdout)
        self.assertEqual(len(self.messages(session)), 110)
        self.assertIn('20 messages of 1 session were deleted', run(*flags, env=env).stdout)
        self.assertEqual(len(self.messages(session)), 90)
        self.assertIn('0 messages of 0 sessions', run(*flags, env=env).stdout)
        self.assertEqual(run(*flags[:-1], '99', env=env).returncode, 2)

    def test_older_turns_are_deleted_the_newest_stays(self):
        session = self.server.create()['id']
        self.talk(session, 20, 'old')
        self.server.advance(3600)
        self.talk(session, 5, 'new')
        answer = self.cut(messageAgeMs=3_600_000, sessionID=session, dryRun=True)
        self.assertEqual((answer['messages'], answer['messageAgeMs']), (40, 3_600_000))
        self.assertIsNone(answer['messagesPerSession'])
        self.assertEqual(len(self.messages(session)), 50, 'a dry run changes nothing')
        self.assertEqual(self.cut(messageAgeMs=3_600_000)['messages'], 40)
        for _ in range(2):
            self.assertEqual(self.texts(session), [f'new {n}' for n in range(5)])
            self.assertEqual(self.session(session)['messageCount'], 10)
            self.server.restart()
        self.cut(messageAgeMs=0, sessionID=session)
        self.assertEqual(self.texts(session), ['new 4'], 'the newest stays')

    def test_journal_that_is_too_large_loses_its_oldest_turns(self):
        session, small = self.server.create()['id'], self.server.create('hi')['id']
        word = 'x' * 4_000
        self.talk(session, 40, word)
        before = self.messages(session)
        answer = self.cut(sessionBytes=100_000)
        self.assertEqual([one['sessionID'] for one in answer['found']], [session])
        self.assertGreater(answer['bytes'], 100_000)
        left = self.messages(session)
        self.assertEqual(left, before[len(before) - len(left):])
        self.assertLess(len(left), 24)
        self.assertGreater(len(left), 8)
        self.assertEqual(self.cut(sessionBytes=100_000)['sessions'], 0, 'once is enough')
        self.assertEqual(len(self.messages(small)), 2)
        self.server.restart()
        self.assertEqual(self.messages(session), left)

    def test_waiting_work_survives_a_cut_by_age(self):
        session = self.server.create()['id']
        self.talk(session, 4)
        self.assertStatus(self.server.prompt(session, 'deploy A'), 200)
        (call,) = self.server.open_calls(session)
        for n in range(2):
            self.server.prompt(session, f'queued {n}', wait=0, when='queue')
        self.assertEqual(self.cut(messageAgeMs=0)['messages'], 8)
        self.assertEqual(self.session(session)['messageCount'], len(self.messages(session)))
        self.server.restart()
        self.assertEqual(self.server.open_calls(session)[0]['id'], call['id'])
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.server.at_rest(session)
        self.assertEqual(self.texts(session), ['deploy A', 'queued 0', 'queued 1'])
        self.assertEqual(self.session(session)['messageCount'], len(self.messages(session)))

    def test_command_takes_an_age_and_a_size(self):
        session, other = self.server.create()['id'], self.server.create()['id']
        for one in (session, other):
            self.talk(one, 6)
        url = f'http://127.0.0.1:{self.server.port}'
        env = {'DORMOUSE_TOKEN': self.server.token}
        flags = ('--server', url, 'retention')

        def ask(*more):
            return run(*flags, *more, env=env)

        done = ask('--older-than', '0s', '--session', session, '--dry-run')
        self.assertIn('10 messages of 1 session would be deleted', done.stdout, done.stderr)
        done = ask('--older-than', '1d', '--bytes', '10MiB')
        self.assertIn('0 messages of 0 sessions were deleted', done.stdout, done.stderr)
        self.assertIn('10 messages of 1 session were deleted',
                      ask('--older-than', '0s', '--session', session).stdout)
        self.assertEqual(len(self.messages(other)), 12)
        for bad in (('--older-than', 'soon'), ('--bytes', '10MB'), ('--session', session)):
            self.assertEqual(ask(*bad).returncode, 2, bad)

    def test_bad_input_is_named_and_changes_nothing(self):
        for body, field in (
            ({}, 'messagesPerSession'),
            ({'messageAgeMs': -1}, 'messageAgeMs'),
            ({'messageAgeMs': '1d'}, 'messageAgeMs'),
            ({'sessionBytes': 65_535}, 'sessionBytes'),
            ({'messagesPerSession': 99}, 'messagesPerSession'),
            ({'messagesPerSession': '100'}, 'messagesPerSession'),
            ({'messagesPerSession': 100, 'after': 'x'}, 'after'),
            ({'messagesPerSession': 100, 'sessionID': 'ses_x', 'after': '1'}, 'after'),
            ({'messagesPerSession': 100, 'more': 1}, 'more'),
        ):
            answer = self.server.post(PATH, body)
            self.assertEqual(answer.status, 400, answer)
            self.assertIn(field, str(answer.json), body)
        foreign = {'messagesPerSession': 100, 'sessionID': 'ses_AAAAAAEAAAAAAAAAAAAAAA'}
        self.assertProblem(self.server.post(PATH, foreign), 404, 'not_found')


class ByItself(Cutting):
    keys = 'messages_per_session = 100'

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='dormouse-test-')
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, 'dormouse.toml')
        path.write_text(f'[server]\ndemo = true\n[retention]\n{self.keys}\n')
        self.arguments = ('--config', str(path))
        super().setUp()

    def test_session_over_the_limit_is_cut_as_turns_end(self):
        session = self.server.create()['id']
        self.talk(session, 140)
        wait_for(lambda: len(self.messages(session)) < 100)
        kept = self.texts(session)
        self.assertEqual(kept, [f'hi {n}' for n in range(140 - len(kept), 140)])
        self.assertGreaterEqual(len(kept), 40)
        self.assertIn('oldest messages removed', self.server.tail())


class ByAge(ByItself):
    keys = 'message_age = "1h"'

    def test_session_over_the_limit_is_cut_as_turns_end(self):
        session = self.server.create()['id']
        self.talk(session, 3, 'old')
        self.server.advance(3600)
        self.assertEqual(len(self.messages(session)), 6, 'no turn has ended since')
        self.talk(session, 1, 'new')
        wait_for(lambda: self.texts(session) == ['new 0'])
        self.assertIn('oldest messages removed', self.server.tail())


class ByBytes(ByItself):
    keys = 'session_bytes = 65536'

    def test_session_over_the_limit_is_cut_as_turns_end(self):
        session = self.server.create()['id']
        for n in range(30):
            self.assertStatus(self.server.prompt(session, f'{n} ' + 'x' * 4_000), 200)
        wait_for(lambda: len(self.messages(session)) < 20)
        self.assertTrue(self.texts(session)[-1].startswith('29 '))
        self.assertIn('oldest messages removed', self.server.tail())


if __name__ == '__main__':
    main()
