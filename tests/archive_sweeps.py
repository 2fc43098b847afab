#!/usr/bin/env python3
"""[archive]: the server moves completed sessions into files itself, and says when it cannot."""
import base64
import gzip
import json
import os
import shutil

import postgres
from dormouse import Server, main, run, wait_for
from reload import Reloading

DAY = 86_400


class Sweeps(Reloading):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / 'archive'

    def section(self, *lines, age='5d'):
        return '\n'.join(['[archive]', f'to = "{self.archive}"', f'completed_after = "{age}"',
                          'interval = "1h"', *lines, ''])

    def begin(self, *lines, **more):
        return self.serve(self.ops(''), self.section(*lines, **more))

    def completed(self, text='hello'):
        session = self.server.create(text, agent='ops')['id']
        self.server.at_rest(session)
        self.assertStatus(self.server.post(f'/api/sessions/{session}/end', {}), 200)
        return session

    def gone(self, *sessions):
        for session in sessions:
            wait_for(lambda one=session: self.server.get(f'/api/sessions/{one}').status != 200,
                     what='its deletion')

    def listed(self):
        done = run('sessions', '--archive', str(self.archive), '--json', '--all')
        self.assertEqual(done.returncode, 0, done.stderr)
        return [one['id'] for one in json.loads(done.stdout)['items']]

    def metric(self, name):
        lines = self.server.get('/metrics').raw.decode().splitlines()
        found = [line.split()[1] for line in lines if line.startswith(name + ' ')]
        return float(found[0]) if found else None

    def swept(self, sessions):
        wait_for(lambda: self.metric('dormouse_archived_sessions_total') == sessions,
                 what=f'{sessions} archived sessions')

    def concerns(self):
        return {one['about']: one['why'] for one in self.server.get('/api/doctor')['concerns']}


class OneServer(Sweeps):
    def test_server_archives_and_applies_a_reload(self):
        self.begin()
        old = self.completed()
        self.server.advance(4 * DAY)
        young = self.completed()
        self.server.advance(2 * DAY)
        self.gone(old)
        self.swept(1)
        self.assertEqual(self.listed(), [old])
        self.assertEqual(self.server.session(young)['status'], 'completed')
        self.assertEqual(self.metric('dormouse_archive_up'), 1)
        self.assertIsNotNone(self.metric('dormouse_archive_age_seconds'))
        answer = self.assertStatus(self.reload(self.ops(''), self.section(age='1d')), 200)
        self.assertEqual(answer['applied'], ['[archive] completed_after'])
        self.assertEqual(answer['needsRestart'], [])
        self.gone(young)
        self.swept(2)
        self.assertEqual(sorted(self.listed()), sorted([old, young]))
        done = run('verify', '--archive', str(self.archive))
        self.assertIn('2 sessions, 0 findings', done.stdout, done.stderr)
        self.assertIn('hello', run('show', old, '--archive', str(self.archive)).stdout)
        done = run('archive', str(self.archive), '--restore', old, '--data', self.server.directory)
        self.assertEqual(done.stdout.split(), [old], done.stderr)
        self.server.advance(DAY // 2)
        self.assertEqual(self.server.session(old)['status'], 'completed')

    def test_limit_of_a_sweep_is_kept_and_the_rest_follows(self):
        self.begin('sessions_per_sweep = 2')
        made = [self.completed(f'hello {number}') for number in range(5)]
        self.server.advance(6 * DAY)
        self.swept(2)
        self.gone(*made[:2])
        self.server.advance(3_700)
        self.swept(4)
        self.server.advance(3_700)
        self.swept(5)
        self.gone(*made)
        self.assertEqual(sorted(self.listed()), sorted(made))

    def with_unread_mail(self):
        session = self.server.create('hello', agent='ops')['id']
        self.server.at_rest(session)
        mail = {'to': session, 'text': 'read me', 'resume': False}
        self.assertStatus(self.server.post('/api/mail', mail), 202)
        wait_for(lambda: self.server.get(f'/api/sessions/{session}/inbox')['items'],
                 what='the mail')
        self.assertStatus(self.server.post(f'/api/sessions/{session}/end', {}), 200)
        return session

    def sweeps(self):
        """Moves the clock to the next sweep, and waits for its end."""
        self.server.advance(3_700)
        wait_for(lambda: self.metric('dormouse_archive_age_seconds') < 600, what='a sweep')

    def test_redacted_copy_is_removed_by_the_next_sweep(self):
        self.begin()
        session, other = self.completed('the password is hunter2'), self.completed()
        self.server.advance(6 * DAY)
        self.gone(session, other)
        self.swept(2)
        done = run('archive', str(self.archive), '--restore', session, '--data',
                   self.server.directory)
        self.assertEqual(done.stdout.split(), [session], done.stderr)
        for item in self.server.messages(session):
            self.assertStatus(self.server.post(f'/api/sessions/{session}/redactions',
                                               {'messageID': item['id'], 'reason': 'x'}), 200)
        self.assertEqual(sorted(self.listed()), sorted([session, other]))
        self.sweeps()
        self.assertEqual(self.listed(), [other])
        self.assertNotIn('archive', self.concerns())
        for file in self.archive.glob('*.jsonl.gz'):
            self.assertNotIn(b'hunter2', gzip.decompress(file.read_bytes()))

    def test_sessions_that_stay_are_counted_after_each_sweep(self):
        self.begin('sessions_per_sweep = 2', age='30m')
        left = [self.with_unread_mail() for _ in range(3)]
        self.server.advance(3_700)
        wait_for(lambda: self.metric('dormouse_archive_left_sessions') == 2, what='a sweep')
        for _ in range(5):
            self.sweeps()
            self.assertEqual(self.metric('dormouse_archive_left_sessions'), 3)
        moved = self.completed()
        for _ in range(3):
            self.sweeps()
        self.gone(moved)
        self.assertEqual(self.metric('dormouse_archive_left_sessions'), 3)
        for session in left:
            self.assertEqual(self.server.session(session)['status'], 'completed')

    def test_file_that_cannot_be_rewritten_does_not_stop_the_others(self):
        self.begin('sessions_per_sweep = 2', age='30m')
        session, other = self.completed('the password is hunter2'), self.completed()
        self.server.advance(3_700)
        self.swept(2)
        self.gone(session, other)
        left = [self.with_unread_mail() for _ in range(2)]
        run('archive', str(self.archive), '--restore', session, '--data', self.server.directory)
        for item in self.server.messages(session):
            self.assertStatus(self.server.post(f'/api/sessions/{session}/redactions',
                                               {'messageID': item['id'], 'reason': 'x'}), 200)
        (index,) = self.archive.glob('*.index.json')
        entries = json.loads(index.read_text().splitlines()[0])['sessions']
        (data,) = self.archive.glob('*.jsonl.gz')
        os.truncate(data, entries[-1]['offset'] + 5)
        moved = self.completed()
        self.sweeps()
        self.assertIn('has content that was redacted', self.concerns()['archive'])
        self.sweeps()
        self.gone(moved)
        for one in left:
            self.assertEqual(self.server.session(one)['status'], 'completed')

    def test_failed_sweep_is_named_and_tried_again(self):
        self.begin()
        session = self.completed()
        shutil.rmtree(self.archive, ignore_errors=True)
        self.archive.write_text('a file')
        self.server.advance(6 * DAY)
        wait_for(lambda: self.metric('dormouse_archive_up') == 0, what='a sweep that fails')
        self.assertIn(str(self.archive), self.concerns()['archive'])
        self.assertEqual(self.server.session(session)['status'], 'completed')
        self.archive.unlink()
        self.server.advance(3_700)
        self.gone(session)
        wait_for(lambda: self.metric('dormouse_archive_up') == 1, what='a sweep that works')
        self.assertNotIn('archive', self.concerns())

    def test_kill_in_between_loses_no_session(self):
        self.begin()
        made = [self.completed(f'hello {number}') for number in range(20)]
        self.server.advance(6 * DAY)
        wait_for(lambda: list(self.archive.glob('*.index.json')), what='a file')
        self.server.restart()
        self.gone(*made)
        self.assertEqual(sorted(self.listed()), sorted(made))
        done = run('verify', '--archive', str(self.archive))
        self.assertIn('20 sessions, 0 findings', done.stdout, done.stderr)

    def test_folder_is_checked_at_the_start(self):
        self.write(self.ops(''), '[archive]\nto = "archive"\n')
        done = run('config', 'check', str(self.file))
        self.assertIn('[archive]: to: must be an absolute path', done.stdout + done.stderr)
        self.write(self.ops(''), self.section(), '[store]\nurl = "memory"\n')
        done = run('config', 'check', str(self.file))
        self.assertIn('a store of kind memory is not archived', done.stdout + done.stderr)

    def test_encrypted_store_has_an_encrypted_archive(self):
        key = {'STORE_KEY': base64.b64encode(b'k' * 32).decode()}
        self.serve(self.ops(''), self.section(), '[store]\nencryption_key_env = "STORE_KEY"\n',
                   **key)
        session = self.completed('the word is hunter2')
        self.server.advance(6 * DAY)
        self.gone(session)
        self.assertEqual(len(list(self.archive.glob('*.sealed'))), 1)
        done = run('show', session, '--archive', str(self.archive), '--key-env', 'STORE_KEY',
                   env=key)
        self.assertIn('hunter2', done.stdout, done.stderr)


class Cluster(Sweeps):
    def test_one_server_of_two_sweeps(self):
        postgres.needed()
        url = postgres.cluster().url('t_' + os.urandom(6).hex())
        self.write(self.ops(''), self.section())
        servers = [Server('--config', str(self.file), '--store', url, '--relaxed', start=False)
                   for _ in range(2)]
        for server in servers:
            server.store = None
            self.addCleanup(server.clean)
            server.start()
            wait_for(lambda one=server: one.get('/readyz').status == 200, what='readiness')
        self.server = servers[0]
        made = [self.completed(f'hello {number}') for number in range(3)]
        for server in servers:
            server.advance(6 * DAY)
        for session in made:
            wait_for(lambda one=session: servers[1].get(f'/api/sessions/{one}').status != 200,
                     what='its deletion')
        self.assertEqual(sorted(self.listed()), sorted(made))
        self.assertEqual(len(list(self.archive.glob('*.index.json'))), 1)
        done = run('archive', str(self.archive), '--restore', made[0], '--data',
                   servers[0].directory)
        self.assertEqual(done.stdout.split(), [made[0]], done.stderr)
        for server in servers:
            wait_for(lambda one=server: one.get(f'/api/sessions/{made[0]}').status == 200,
                     what='its return')
        for server in servers:
            server.term()


if __name__ == '__main__':
    main()
