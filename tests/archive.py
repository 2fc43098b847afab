#!/usr/bin/env python3
"""`dormouse archive`: completed sessions are in files before the store loses them, `show` still
reads them, and an archive that was interrupted is finished by the next one."""
import contextlib
import gzip
import json
import os
import pathlib
import resource
import sqlite3
import stat
import subprocess
import unittest

import postgres
from dormouse import BINARY, Events, Server, environment, main, run, wait_for
from export import Whole
from feeds import whole_feed
from stored import STORE


class Archive(Whole):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / 'archive'

    def completed(self, text='hello', **more):
        session = self.server.create(text, **more)['id']
        self.server.at_rest(session)
        self.end(session)
        return session

    def completed_with_unread_mail(self):
        session = self.server.create('hello')['id']
        self.server.at_rest(session)
        mail = {'to': session, 'text': 'read me', 'resume': False}
        self.assertStatus(self.server.post('/api/mail', mail), 202)
        wait_for(lambda: self.server.get(f'/api/sessions/{session}/inbox')['items'],
                 what='the mail')
        self.end(session)
        return session

    def end(self, session):
        self.assertStatus(self.server.post(f'/api/sessions/{session}/end', {}), 200)

    def archives(self, *options, status=0, after='0s', **more):
        done = run('archive', str(self.archive), '--completed-after', after, '--data',
                   str(self.server.directory), *options, **more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def shown(self, session):
        """Its page, without the time since its creation."""
        lines = self.read('show', session).stdout.splitlines()
        return [line for line in lines if not line.startswith('created')]

    def read(self, *words, status=0):
        done = run(*words, '--archive', str(self.archive))
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def files(self, end='.jsonl.gz'):
        return sorted(self.archive.glob('*' + end))

    def gone(self, session):
        return self.server.get(f'/api/sessions/{session}').status in (404, 410)


class Moved(Archive):
    def test_completed_sessions_are_files_and_still_shown(self):
        first = self.completed('hello one')
        second = self.completed('hello two', project='other')
        rests = self.server.create('hello three')['id']
        self.server.at_rest(rests)
        shown = run('show', first, '--data', str(self.server.directory)).stdout
        before = json.loads(run('show', first, '--json', '--data',
                                str(self.server.directory)).stdout.splitlines()[1])
        done = self.archives()
        self.assertIn('archived 1 session, there already 0, deleted from the store 1, left 0',
                      done.stdout)
        self.assertTrue(self.gone(first))
        self.assertFalse(self.gone(second) or self.gone(rests))
        self.assertIn('archived 1 session', self.archives('--all-projects').stdout)
        self.assertEqual(len(self.files()), 2)
        live = [line for line in shown.splitlines() if not line.startswith('created')]
        self.assertEqual(self.shown(first)[2:], live[2:])
        after = json.loads(self.read('show', first[:14], '--json').stdout.splitlines()[1])
        self.assertEqual(after['items'], before['items'])
        listed = self.read('sessions', '--json').stdout
        self.assertEqual([one['id'] for one in json.loads(listed)['items']], [first])
        self.assertIn('2 files, 2 sessions, 0 findings', self.read('verify').stdout)
        homeless = run('verify', '--archive', str(self.archive), env=environment(HOME=''))
        self.assertIn('2 files, 2 sessions, 0 findings', homeless.stdout, homeless.stderr)
        self.assertIn('is not in the archive', self.read('show', rests, status=1).stderr)
        self.server.finish()

    @unittest.skipIf(STORE != 'sqlite', 'reads the SQLite file')
    def test_neither_title_nor_alias_stays_in_the_store(self):
        moved = [self.completed('deploy the secret', alias=name) for name in 'ab']
        self.archives()
        self.assertTrue(all(map(self.gone, moved)))
        deleted = self.server.create('delete the secret', alias='c')['id']
        self.server.at_rest(deleted)
        self.assertStatus(self.server.delete(f'/api/sessions/{deleted}'), 204)
        with contextlib.closing(sqlite3.connect(self.server.directory + '/dormouse.db')) as file:
            rows = file.execute('SELECT title, alias, status FROM sessions').fetchall()
        self.assertEqual(rows, [('', '', 'deleted')] * 3)

    @unittest.skipIf(STORE != 'sqlite', 'reads the SQLite files')
    def test_contents_of_removed_sessions_are_in_no_file(self):
        secret = 'hunter2-7f3a9c'
        sessions = [self.server.create(f'hello {secret} ' * times)['id'] for times in (1, 1_000)]
        for session in sessions:
            self.server.at_rest(session)
            for number in range(12):  # snapshots replace former ones
                self.server.prompt(session, f'{secret} {number}')
        self.end(sessions[0])
        self.archives()
        self.assertTrue(self.gone(sessions[0]))
        self.assertStatus(self.server.delete(f'/api/sessions/{sessions[1]}'), 204)
        self.server.term()
        files = [path for path in pathlib.Path(self.server.directory).rglob('*') if path.is_file()]
        self.assertEqual([path.name for path in files if secret.encode() in path.read_bytes()], [])
        self.server.start()
        self.assertIsNone(self.server.finish())

    def test_file_is_an_export_that_zcat_reads(self):
        session = self.completed()
        self.archives()
        (file,) = self.files()
        lines = gzip.decompress(file.read_bytes()).decode().splitlines()
        self.assertEqual(json.loads(lines[0])['sessions'], [session])
        self.assertEqual(json.loads(lines[-1])['type'], 'end')
        self.file.write_text('\n'.join(lines) + '\n')
        self.assertEqual(self.imports().stdout.split(), [session])
        self.verified()
        self.file.write_text(self.read('export', session).stdout)
        self.assertEqual(self.imports(to='one').stdout.split(), [session])
        self.assertEqual(stat.S_IMODE(os.stat(file).st_mode) & 0o077, 0)

    def test_artifacts_and_long_outputs_are_in_it(self):
        session, call = self.sleeping()
        output = 'x' * 1_500_000
        self.assertStatus(self.server.result(call['id'], output), 200)
        self.server.at_rest(session)
        self.end(session)
        self.archives()
        self.assertIn('"type":"artifact"', self.read('export', session).stdout)
        self.assertLess(self.files()[0].stat().st_size, 200_000)

    def test_young_ones_stay_and_dry_run_changes_nothing(self):
        session = self.completed()
        self.assertIn('archived 0', self.archives(after='1d').stdout)
        self.assertIn('would archive 1', self.archives('--dry-run').stdout)
        self.assertFalse(self.gone(session))
        self.assertEqual(self.files(), [])


class Restored(Archive):
    def restores(self, *sessions, options=(), place=None, status=0):
        words = [word for one in sessions for word in ('--restore', one)]
        done = run('archive', str(self.archive), *words, *options,
                   *(place or ('--data', str(self.server.directory))))
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def settled(self):
        session, call = self.sleeping()
        receipt = self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.server.at_rest(session)
        self.end(session)
        return session, call, receipt

    def titled(self, session, title):
        path = f'/api/sessions/{session}'
        self.assertStatus(self.server.call('PATCH', path, {'title': title}), 200)

    def is_restored(self, session, call, receipt, events):
        self.assertEqual(self.server.events(session), events)
        self.assertEqual(self.server.session(session)['status'], 'completed')
        again = self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.assertEqual(again['outcome'], 'duplicate')
        self.assertEqual(again['receipt']['id'], receipt['receipt']['id'])
        self.assertStatus(self.server.result(call['id'], 'other'), 409)
        (line,) = self.server.items('/api/audit?type=session_imported')
        self.assertEqual((line['sessionID'], line['line']['restored']), (session, True))

    def test_session_comes_back_under_its_id_into_a_server(self):
        session, call, receipt = self.settled()
        events = self.server.events(session)
        self.archives()
        before, end = whole_feed(self.server)
        self.assertEqual([event['type'] for event in before], ['session_deleted'])
        live = Events(self.server, f'/api/events?cursor={end}')
        self.addCleanup(live.close)
        self.assertIn('would import 1', self.restores(session, options=['--dry-run']).stderr)
        self.assertTrue(self.gone(session))
        self.assertEqual(self.restores(session[:16]).stdout.split(), [session])
        self.assertIn('there already', self.restores(session).stdout)
        self.assertEqual(whole_feed(self.server)[0][1:], events)
        self.is_restored(session, call, receipt, events)
        frames = live.until(lambda frame: frame.event == 'session_ended')
        self.assertEqual([frame.data['seq'] for frame in frames if frame.data],
                         [event['seq'] for event in events])
        listed = [one['id'] for one in self.server.items('/api/projects/default/sessions')]
        self.assertEqual(listed, [session])
        self.server.finish()
        done = run('verify', '--data', self.server.directory)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_session_comes_back_into_a_stopped_store(self):
        session, call, receipt = self.settled()
        events = self.server.events(session)
        self.archives()
        self.server.term()
        self.assertEqual(self.restores(session).stdout.split(), [session])
        done = run('verify', '--data', self.server.directory)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.server.start()
        self.is_restored(session, call, receipt, events)

    def test_restored_session_is_changed_and_archived_again(self):
        session = self.completed('hello one')
        self.archives()
        self.restores(session)
        self.titled(session, 'renamed')
        self.assertIn('archived 1', self.archives().stdout)
        self.assertTrue(self.gone(session))
        self.assertIn('renamed', self.read('show', session).stdout)
        self.assertEqual(self.restores(session).stdout.split(), [session])
        self.assertIn('deleted from the store 1', self.archives().stdout)
        self.assertIn('renamed', self.read('show', session).stdout)

    def test_created_again_with_its_key_is_the_restored_one(self):
        body = {'agentID': 'demo', 'prompt': {'parts': [{'type': 'text', 'text': 'hello'}]}}
        route = '/api/projects/default/sessions'
        session = self.server.post(route, body, Idempotency_Key='one')['id']
        self.server.at_rest(session)
        self.end(session)
        self.archives()
        self.restores(session)
        self.server.restart()
        again = self.server.post(route, body, Idempotency_Key='one')
        self.assertEqual(again['id'], session)
        self.assertEqual(len(self.server.items(route)), 1)

    def test_kill_while_it_comes_back_leaves_it_deleted_or_whole(self):
        body = {'agentID': 'demo', 'prompt': {'parts': [{'type': 'text', 'text': 'hello'}]}}
        route = '/api/projects/default/sessions'
        session = self.server.post(route, body, Idempotency_Key='one')['id']
        self.server.at_rest(session)
        for _ in range(9):
            self.server.prompt(session, 'x' * 100_000)
            self.server.at_rest(session)
        self.end(session)
        events = self.server.events(session)
        self.archives()
        words = ['archive', str(self.archive), '--restore', session, '--data',
                 str(self.server.directory)]
        for tenth in range(1, 12):
            process = subprocess.Popen([BINARY, *words], env=environment(),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.server.kill(after=tenth / 100)
            process.wait()
            self.server.start()
            status = self.server.get(f'/api/sessions/{session}').status
            again = self.server.post(route, body, Idempotency_Key='one')
            if status == 200:
                break
            self.assertEqual(status, 410)
            self.assertEqual((again.status, again['code']), (410, 'session_gone'))
            self.assertEqual(self.server.items(route), [])
        else:
            self.restores(session)
            again = self.server.post(route, body, Idempotency_Key='one')
        self.assertEqual(again['id'], session)
        self.assertEqual(self.server.events(session), events)

    def test_only_what_is_deleted_and_completed_comes_back(self):
        session, _ = self.sleeping()
        self.export()
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        done = self.imports('--restore-deleted', target=('--data', str(self.server.directory)),
                            status=1)
        self.assertIn('only a completed session', done.stderr)
        self.assertTrue(self.gone(session))
        done = self.imports(target=('--data', str(self.server.directory)), status=1)
        self.assertIn('with --restore-deleted', done.stderr)
        self.assertIn('is not in the archive',
                      self.after_one().restores('ses_zzzzzz', status=1).stderr)
        self.assertIn('name what', run('archive', str(self.archive)).stderr)

    def after_one(self):
        self.completed()
        self.archives()
        return self

    def test_session_that_is_used_is_not_replaced(self):
        session = self.completed('hello one')
        self.archives()
        self.restores(session)
        self.titled(session, 'renamed')
        events = self.server.events(session)
        self.assertIn('it is here with other events', self.restores(session, status=1).stderr)
        self.assertEqual(self.server.events(session), events)

    def test_damaged_file_brings_nothing_back(self):
        session = self.completed()
        self.archives()
        (file,) = self.files()
        changed = bytearray(file.read_bytes())
        changed[len(changed) // 2] ^= 1
        file.write_bytes(changed)
        self.assertIn('its bytes were changed', self.restores(session, status=1).stderr)
        self.assertTrue(self.gone(session))


class Offline(Archive):
    """Without a server: what it would do, on its data directory."""

    def test_sessions_are_moved_and_the_next_server_has_none_of_them(self):
        other = self.completed('hello other', project='other')
        first, second = self.completed('hello one'), self.completed('hello two')
        rests = self.server.create('hello three')['id']
        self.server.at_rest(rests)
        self.server.term()
        self.assertIn('would archive 2', self.archives('--dry-run').stdout)
        done = self.archives()
        self.assertIn('archived 2 sessions, there already 0, deleted from the store 2, left 0',
                      done.stdout)
        self.assertIn('archived 0 sessions', self.archives().stdout)
        verified = run('verify', '--data', str(self.server.directory))
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        self.server.start()
        self.assertTrue(self.gone(first) and self.gone(second))
        self.assertFalse(self.gone(other) or self.gone(rests))
        lines = self.server.items('/api/audit?type=session_deleted')
        self.assertEqual(sorted(line['sessionID'] for line in lines), sorted([first, second]))
        self.assertIn('hello one', self.read('show', first).stdout)
        done = run('archive', str(self.archive), '--restore', first, '--data',
                   str(self.server.directory))
        self.assertEqual(done.stdout.split(), [first], done.stderr)

    def test_result_is_that_of_a_server(self):
        """What a server deleted and what the command deleted leave the same rows."""
        with_server, alone = self.completed('hello one'), self.completed('hello one')
        self.archives('--dry-run')
        route = '/api/events?limit=200'
        self.assertStatus(self.server.delete(f'/api/sessions/{with_server}'), 204)
        self.server.term()
        self.archives()
        self.server.start()
        events = [one for one in self.server.get(route)['items']
                  if one['type'] == 'session_deleted']
        self.assertEqual([one['sessionID'] for one in events], [with_server, alone])
        self.assertEqual(events[0]['seq'], events[1]['seq'])
        self.assertEqual(self.server.get(f'/api/sessions/{alone}').status,
                         self.server.get(f'/api/sessions/{with_server}').status)

    def test_session_with_unread_mail_stays(self):
        session = self.completed_with_unread_mail()
        self.server.term()
        self.assertIn(f'left: {session}: it has unread mail', self.archives(status=1).stderr)
        self.server.start()
        self.assertFalse(self.gone(session))


class Left(Archive):
    def test_session_with_unread_mail_stays_and_no_file_is_written(self):
        session = self.completed_with_unread_mail()
        done = self.archives(status=1)
        self.assertIn(f'left: {session}: it has unread mail', done.stderr)
        self.assertFalse(self.gone(session))
        self.assertEqual(self.files(), [])


class Interrupted(Archive):
    def test_kill_loses_no_session_and_the_next_run_finishes(self):
        made = [self.completed(f'hello {number}') for number in range(30)]
        process = subprocess.Popen(
            [BINARY, 'archive', str(self.archive), '--completed-after', '0s', '--data',
             str(self.server.directory)],
            env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: self.files('.index.json') or process.poll() is not None, what='a file')
        process.kill()
        process.wait()
        listed = json.loads(self.read('sessions', '--json', '--all').stdout)['items']
        self.assertEqual(sorted(one['id'] for one in listed), sorted(made))
        self.archives()
        for session in made:
            self.assertTrue(self.gone(session))
        self.assertEqual(len(self.files()), 1, 'nothing was written twice')
        self.assertIn('30 sessions, 0 findings', self.read('verify').stdout)

    def test_half_a_file_is_not_used(self):
        session = self.completed()
        self.archives()
        (file,) = self.files()
        (self.archive / 'default-2020-01.1.jsonl.gz.new').write_bytes(b'half')
        self.completed('hello again')
        self.archives()
        self.assertEqual(list(self.archive.glob('*.new')), [])
        self.assertEqual(len(self.files()), 2)
        self.assertIn(session, self.read('show', session).stdout)
        self.assertTrue(file.exists())


class Bad(Archive):
    def test_damaged_and_truncated_files_are_named(self):
        session = self.completed()
        self.archives()
        (file,) = self.files()
        good = file.read_bytes()
        file.write_bytes(good[:len(good) // 2])
        self.assertIn(f'{file}', self.read('verify', status=1).stderr)
        self.assertIn('truncated', self.read('show', session, status=1).stderr)
        changed = bytearray(good)
        changed[len(good) // 2] ^= 1
        file.write_bytes(changed)
        self.assertIn('its bytes were changed', self.read('show', session, status=1).stderr)
        file.unlink()
        self.assertIn('No such file', self.read('show', session, status=1).stderr)
        file.write_bytes(good)
        (index,) = self.files('.index.json')
        text = index.read_text()
        index.write_text(text.replace('"format":1', '"format":3'))
        self.assertIn('newer than this release reads (2)',
                      self.read('show', session, status=1).stderr)
        index.write_text(text[:-20])
        self.assertIn('truncated', self.read('show', session, status=1).stderr)
        self.assertNotEqual(self.archives(status=2).stderr, '')

    def test_verify_names_all_files_that_are_wrong(self):
        for project in ('one', 'two', 'three', 'four', 'five'):
            self.completed(project=project)
        self.archives('--all-projects')
        one, two, three, _, five = [sorted(self.archive.glob(f'{name}-*'))
                                    for name in ('one', 'two', 'three', 'four', 'five')]
        one[0].unlink()
        two[1].unlink()
        three[0].write_text(three[0].read_text()[:-20])
        five[1].write_bytes(five[1].read_bytes()[:-20])
        done = self.read('verify', status=1)
        for text in (f'{one[1]}: its index is missing', f'{two[1]}: it is missing; its index has 1',
                     f'{three[0]}: it is truncated', f'{five[1]}: it has'):
            self.assertIn(text, done.stderr)
        self.assertIn('2 files, 2 sessions, 4 findings', done.stdout)

    def test_lost_and_damaged_indexes_are_made_again(self):
        made = {name: self.completed(f'hello {name}', project=name) for name in ('one', 'two')}
        self.archives('--all-projects')
        shown = {name: self.shown(made[name]) for name in made}
        one, two = self.files('.index.json')
        former = one.read_text()
        one.unlink()
        two.write_text(two.read_text()[:-20])
        self.assertIn('--rebuild makes it again', self.read('verify', status=1).stderr)
        done = self.read('verify', '--rebuild')
        self.assertIn(f'made again: {one}, of 1 session', done.stderr)
        self.assertIn(f'made again: {two}, of 1 session', done.stderr)
        self.assertIn('2 files, 2 sessions, 0 findings', done.stdout)
        self.assertEqual(one.read_text(), former)
        for name in made:
            self.assertEqual(self.shown(made[name]), shown[name])
        self.assertNotIn('made again', self.read('verify', '--rebuild').stderr)
        self.completed('hello three', project='one')
        self.archives('--all-projects')

    def test_damaged_data_gives_an_index_of_the_rest(self):
        first, second = self.completed('hello one'), self.completed('hello two')
        self.archives()
        (file,) = self.files()
        (index,) = self.files('.index.json')
        entry = json.loads(index.read_text().splitlines()[0])['sessions'][0]
        bytes_ = bytearray(file.read_bytes())
        bytes_[entry['offset'] + entry['bytes'] // 2] ^= 1
        file.write_bytes(bytes_)
        index.unlink()
        done = self.read('verify', '--rebuild', status=1)
        self.assertIn(f'{file}: the {entry["bytes"]} bytes from {entry["offset"]} on', done.stderr)
        self.assertIn('1 file, 1 session, 1 finding', done.stdout)
        self.assertEqual({first, second} - {entry['id']}, {
            one['id'] for one in json.loads(self.read('sessions', '--json').stdout)['items']})
        index.unlink()
        file.write_bytes(b'no archive')
        done = self.read('verify', '--rebuild', status=1)
        self.assertIn(f'{file}: no session in it is whole', done.stderr)
        self.assertEqual(self.files('.index.json'), [])

    def test_directories_that_do_not_fit(self):
        session = self.completed()
        self.assertIn('directory not found', self.read('show', session, status=1).stderr)
        self.archive.mkdir()
        (self.archive / 'notes.txt').write_text('mine')
        self.assertIn('holds other files than an archive', self.archives(status=4).stderr)
        self.assertFalse(self.gone(session))
        blocked = self.folder / 'blocked'
        blocked.write_text('a file')
        self.archive = blocked / 'archive'
        self.assertNotEqual(run('archive', str(self.archive), '--completed-after', '0s', '--data',
                                str(self.server.directory)).returncode, 0)
        self.assertFalse(self.gone(session))

    def test_full_disk_loses_nothing(self):
        session, call = self.sleeping()
        noise = os.urandom(1_000_000).hex()
        self.assertStatus(self.server.result(call['id'], noise), 200)
        self.server.at_rest(session)
        self.end(session)

        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

        done = subprocess.run(
            ['/usr/bin/env', '-S', 'sh', '-c', "trap '' XFSZ; exec \"$@\"", 'sh', BINARY, 'archive',
             str(self.archive), '--completed-after', '0s', '--data', str(self.server.directory)],
            env=environment(), capture_output=True, text=True, preexec_fn=small, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(str(self.archive), done.stderr)
        self.assertFalse(self.gone(session))
        self.assertEqual(self.files() + self.files('.new'), [])
        self.archives()
        self.assertTrue(self.gone(session))

    def test_server_that_cannot_be_reached_is_not_bypassed(self):
        session = self.completed()
        directory = pathlib.Path(self.server.directory)
        (directory / 'url').unlink()
        done = self.archives(status=4)
        self.assertIn(f'{self.server.directory} is in use by pid', done.stderr)
        self.assertFalse(self.archive.exists())
        self.assertFalse(self.gone(session))
        self.server.term()
        (directory / 'dormouse.db').unlink()
        self.assertIn('holds no dormouse.db', self.archives(status=3).stderr)
        self.assertFalse(self.archive.exists())

    def test_rights_are_those_of_the_token(self):
        session = self.completed()
        done = self.archives(status=1, env={'DORMOUSE_TOKEN': 'wrong'})
        self.assertIn('it is in the archive, and was not deleted', done.stderr)
        self.assertFalse(self.gone(session))
        self.assertIn('there already 1, deleted from the store 1', self.archives().stdout)


class OnPostgres(Archive):
    def test_sessions_of_a_database_are_moved(self):
        postgres.needed()
        url = postgres.cluster().url('t_' + os.urandom(6).hex())
        server = Server('--store', url, '--relaxed', start=False)
        server.store = None
        self.addCleanup(server.clean)
        original, self.server = self.server, server.start()
        wait_for(lambda: server.get('/readyz').status == 200, what='readiness')
        session = self.completed()
        self.archives('--store', url)
        self.assertTrue(self.gone(session))
        self.assertIn(session, self.read('show', session).stdout)
        words = ('archive', str(self.archive), '--restore', session)
        done = run(*words, '--data', str(server.directory))
        self.assertEqual(done.stdout.split(), [session], done.stderr)
        self.assertEqual(server.session(session)['status'], 'completed')
        self.archives('--store', url)
        server.term()
        done = run(*words, '--store', url)
        self.assertEqual(done.stdout.split(), [session], done.stderr)
        done = run('verify', '--store', url)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        server.start()
        wait_for(lambda: server.get('/readyz').status == 200, what='readiness')
        self.assertEqual(server.session(session)['status'], 'completed')
        self.server = original


if __name__ == '__main__':
    main()
