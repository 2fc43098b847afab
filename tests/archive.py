#!/usr/bin/env python3
"""`dormouse archive`: completed sessions are in files before the store loses them, `show` still
reads them, and an archive that was interrupted is finished by the next one."""
import gzip
import json
import os
import resource
import stat
import subprocess

import postgres
from dormouse import BINARY, Server, environment, main, run, wait_for
from export import Whole


class Archive(Whole):
    def setUp(self):
        super().setUp()
        self.archive = self.folder / 'archive'

    def completed(self, text='hello', **more):
        session = self.server.create(text, **more)['id']
        self.server.at_rest(session)
        self.end(session)
        return session

    def end(self, session):
        self.assertStatus(self.server.post(f'/api/sessions/{session}/end', {}), 200)

    def archives(self, *options, status=0, after='0s', **more):
        done = run('archive', str(self.archive), '--completed-after', after, '--data',
                   str(self.server.directory), *options, **more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

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
        again = self.read('show', first).stdout
        self.assertEqual(again.splitlines()[2:], shown.splitlines()[2:])
        after = json.loads(self.read('show', first[:14], '--json').stdout.splitlines()[1])
        self.assertEqual(after['items'], before['items'])
        listed = self.read('sessions', '--json').stdout
        self.assertEqual([one['id'] for one in json.loads(listed)['items']], [first])
        self.assertIn('2 files, 2 sessions, 0 findings', self.read('verify').stdout)
        self.assertIn('is not in the archive', self.read('show', rests, status=1).stderr)
        self.server.finish()

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

    def test_session_comes_back_under_a_new_id(self):
        session = self.completed()
        self.archives()
        self.file.write_text(self.read('export', session).stdout)
        self.server.term()
        place = ('--data', str(self.server.directory))
        self.assertIn('it was deleted here: import with --new-ids',
                      self.imports(target=place, status=1).stderr)
        was, now = self.imports('--new-ids', target=place).stdout.split()
        self.assertEqual(was, session)
        self.server.start()
        self.assertEqual(self.server.session(now)['status'], 'completed')

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

    def test_server_must_work(self):
        self.completed()
        self.server.term()
        self.assertIn('no server works on', self.archives(status=7).stderr)
        self.assertFalse(self.archive.exists())
        self.assertIn('would archive 1', self.archives('--dry-run').stdout)

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
        self.server = original


if __name__ == '__main__':
    main()
