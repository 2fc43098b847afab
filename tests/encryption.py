#!/usr/bin/env python3
"""Encryption of what is stored: with a key no content is in any file, everything works as without
one, and a missing or wrong key, damage and forgery are refused by name."""
import base64
import hashlib
import json
import pathlib
import sqlite3
import subprocess

from dormouse import BINARY, Case, Server, environment, main, run, wait_for_fault
from webhooks_out import Sent

KEY_A, KEY_B = (base64.b64encode(bytes([n]) * 32).decode() for n in (1, 2))
MARK = 'Xq7marker'
LONG = f'{MARK} ä line of a log\n' * 100_000  # an artifact
ENCRYPTED = ('--store', 'sqlite', '--key-env', 'KEY')


def files_with(folder, text=MARK):
    """The files below the folder that hold the text."""
    return [
        str(path) for path in pathlib.Path(folder).rglob('*')
        if path.is_file() and text.encode() in path.read_bytes()
    ]


def serve_refused(data, *arguments, **env):
    """Starts a server that must refuse; returns what it says."""
    done = run('serve', '--no-config', '--listen', '127.0.0.1:0', '--data', data, *arguments,
               env=environment(**env))
    assert done.returncode != 0, done.stdout
    return done.stderr


class Encrypted(Case):
    def setUp(self):
        self.server = self.started()

    def started(self, *arguments, key=KEY_A, **more):
        server = Server(*(arguments or ENCRYPTED), env={'KEY': key}, **more)
        self.addCleanup(server.clean)
        return server

    def file(self):
        return f'{self.server.directory}/dormouse.db'

    def sql(self, *statements):
        """Changes the file of a server that has ended; returns the rows of the last statement."""
        with sqlite3.connect(self.file()) as file:
            for statement in statements:
                rows = file.execute(statement).fetchall()
        file.close()
        return rows

    def worked(self):
        """A session with everything that has contents."""
        session = self.server.create(f'deploy {MARK}', title=MARK)['id']
        (call,) = self.server.open_calls(session)
        self.assertStatus(self.server.result(call['id'], LONG, title=MARK), 200)
        self.server.at_rest(session)
        return session

    def content(self, session):
        """What people see of the session."""
        events = self.server.events(session)
        row, = [s for s in self.server.items('/api/projects/default/sessions')
                if s['id'] == session]
        artifact, = [e['data']['artifactID'] for e in events if e['type'] == 'artifact_emitted']
        explained = self.assertStatus(self.server.get(f'/api/explain/{artifact}'), 200).raw
        raw = self.assertStatus(self.server.get(f'/api/artifacts/{artifact}'), 200).raw
        self.assertTrue(raw == LONG.encode(), 'the artifact is whole')
        return events, row, self.server.messages(session), len(explained) > 0


class Contents(Encrypted):
    def test_no_content_is_in_any_file(self):
        session = self.worked()
        waiting = self.server.create(f'approve {MARK}', title=MARK)['id']
        self.assertEqual(files_with(self.server.directory), [])
        before = self.content(session)
        self.assertEqual(before[1]['title'], MARK)
        self.assertIn(MARK, json.dumps(before[0]))
        self.server.restart()
        self.assertEqual(self.content(session), before)
        self.assertEqual(self.server.session(waiting)['title'], MARK)
        self.assertEqual(files_with(self.server.directory), [])
        self.server.finish()
        self.assertEqual(files_with(self.server.directory), [])

    def test_redaction_writes_encrypted_frames(self):
        session = self.server.create(f'deploy {MARK}', title='a')['id']
        (call,) = self.server.open_calls(session)
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.server.at_rest(session)
        message = self.server.messages(session)[0]['id']
        for what in ({'messageID': message}, {'pendingID': call['id']}):
            done = self.server.post(f'/api/sessions/{session}/redactions', what)
            self.assertStatus(done, 200)
        self.server.restart()
        self.assertIn('[removed by first on', json.dumps(self.server.messages(session)))
        self.server.prompt(session, 'hello')
        self.assertEqual(files_with(self.server.directory), [])
        self.server.finish()
        frames = [row[0] for row in self.sql('SELECT data FROM journal')]
        self.assertEqual([frame for frame in frames if not frame.startswith('[["sealed"')], [])

    def test_without_a_key_the_same_search_finds_it(self):
        self.server = self.started('--store', 'sqlite')
        self.worked()
        self.server.finish()
        self.assertEqual([pathlib.Path(f).name for f in files_with(self.server.directory)],
                         ['dormouse.db'])

    def test_views_for_sql_show_structure_and_no_content(self):
        session = self.worked()
        self.server.finish()
        rows = self.sql(f"SELECT id, title, status FROM agent_sessions WHERE id = '{session}'")
        self.assertEqual((rows[0][0], rows[0][2]), (session, 'active'))
        self.assertTrue(rows[0][1].startswith('sealed:'))
        self.assertEqual(self.sql('SELECT * FROM agent_session_messages'), [])
        rows = self.sql('SELECT tool, status, input, result FROM pending_tool_calls')
        self.assertEqual(rows, [('deploy', 'completed', None, None)])

    def test_copies_need_the_same_key(self):
        session = self.worked()
        before = self.content(session)
        folder = pathlib.Path(self.server.own)
        done = run('backup', folder / 'backup', '--data', self.server.directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(files_with(folder / 'backup'), [])
        done = run('restore', folder / 'backup', '--data', folder / 'copy')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('encrypted', serve_refused(folder / 'copy'))
        self.server.finish()
        self.server = self.started(directory=folder / 'copy')
        self.assertEqual(self.content(session), before)

    def test_export_is_plain_and_import_encrypts(self):
        session = self.worked()
        before = self.content(session)
        folder = pathlib.Path(self.server.own)
        refused = run('export', '--data', self.server.directory)
        self.assertEqual(refused.returncode, 4)
        self.assertIn('--key-env', refused.stderr)
        env = environment(KEY=KEY_A)
        done = run('export', '--data', self.server.directory, '--key-env', 'KEY', env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(MARK, done.stdout)
        for _ in range(2):  # the second one finds it there
            read = run('import', '-', '--data', folder / 'copy', '--key-env', 'KEY', env=env,
                       stdin=done.stdout)
            self.assertEqual(read.returncode, 0, read.stderr)
        self.assertIn('there already 1', read.stderr)
        self.server.finish()
        self.server = self.started(directory=folder / 'copy')
        self.assertEqual(files_with(self.server.directory), [])
        self.assertEqual(self.content(session)[2], before[2])

    def archived(self, *options):
        """A session in an archive of the server's, and what the environment of commands is."""
        session = self.worked()
        self.assertStatus(self.server.post(f'/api/sessions/{session}/end', {}), 200)
        archive = pathlib.Path(self.server.own) / 'archive'
        env = environment(KEY=KEY_A, NEW=KEY_B, BOTH=f'{KEY_B},{KEY_A}')
        done = run('archive', archive, '--completed-after', '0s', '--data', self.server.directory,
                   '--key-env', 'KEY', *options, env=env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return session, archive, env

    def reads(self, archive, session, key, env, refused=False):
        options = ('--archive', archive, *(('--key-env', key) if key else ()))
        out = ''
        for words in (('show', session), ('sessions',), ('verify',), ('export', session)):
            done = run(*words, *options, env=env)
            self.assertEqual(done.returncode != 0, refused, f'{words}: {done.stdout}{done.stderr}')
            self.assertFalse(refused and words[0] == 'export' and done.stdout)
            out += done.stdout + done.stderr
        return out

    def test_archive_is_plain_only_on_request(self):
        session, archive, env = self.archived('--plain')
        self.assertIn(MARK, run('show', session, '--archive', archive).stdout)
        self.assertEqual(len(list(archive.glob('*.jsonl.gz'))), 1)
        done = run('rekey', '--archive', archive, '--key-env', 'KEY', env=env)
        self.assertIn('0 data keys, 1 contents encrypted', done.stdout, done.stderr)
        self.assertEqual(list(archive.glob('*.jsonl.gz')), [])
        self.assertIn(MARK, self.reads(archive, session, 'KEY', env))

    def test_archive_is_encrypted_as_the_store_is(self):
        session, archive, env = self.archived()
        self.assertEqual(files_with(archive), [])
        (file,) = archive.glob('*.sealed')
        self.assertNotIn(b'\x1f\x8b', file.read_bytes()[:4])
        self.assertIn(MARK, self.reads(archive, session, 'KEY', env))
        for key, hint in ((None, '--key-env'), ('NEW', 'give that key too')):
            output = self.reads(archive, session, key, env, refused=True)
            self.assertIn('it is encrypted with the master key', output)
            self.assertIn(hint, output)
            self.assertNotIn(MARK, output)
        changed = bytearray(file.read_bytes())
        changed[len(changed) // 2] ^= 1
        file.write_bytes(changed)
        done = run('show', session, '--archive', archive, '--key-env', 'KEY', env=env)
        self.assertIn('its bytes were changed', done.stderr)

    def test_archive_is_read_with_an_old_key_until_rekey(self):
        session, archive, env = self.archived()
        self.assertIn(MARK, self.reads(archive, session, 'BOTH', env))
        done = run('rekey', '--archive', archive, '--key-env', 'NEW', env=env)
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertIn('is encrypted with the master key', done.stderr)
        for keys in (1, 0):
            done = run('rekey', '--archive', archive, '--key-env', 'BOTH', '--json', env=env)
            self.assertEqual(json.loads(done.stdout), {'keys': keys, 'contents': 0, 'servers': []})
        self.assertIn(MARK, self.reads(archive, session, 'NEW', env))
        done = run('show', session, '--archive', archive, '--key-env', 'KEY', env=env)
        self.assertIn('it is encrypted with the master key', done.stderr)

    def test_archive_stays_encrypted_when_a_message_is_removed(self):
        session, archive, env = self.archived()
        shown = run('show', session, '--json', '--archive', archive, '--key-env', 'KEY', env=env)
        message = json.loads(shown.stdout.splitlines()[1])['items'][0]['id']
        command = ('redact', session, message, '--yes', '--archive', archive)
        done = run(*command, env=env)
        self.assertIn('it is encrypted with the master key', done.stderr)
        done = run(*command, '--key-env', 'BOTH', env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(files_with(archive), [])
        self.assertEqual(len(list(archive.glob('*.sealed'))), 1)
        done = run('show', session, '--archive', archive, '--key-env', 'NEW', env=env)
        self.assertIn('[removed by', done.stdout, done.stderr)
        self.assertNotIn(f'  deploy {MARK}\n', done.stdout)

    def test_archive_stays_encrypted_when_a_redacted_copy_is_removed(self):
        other = self.server.create('hello')['id']
        self.server.at_rest(other)
        self.assertStatus(self.server.post(f'/api/sessions/{other}/end', {}), 200)
        session, archive, env = self.archived()
        data = ('--data', self.server.directory)
        done = run('archive', archive, '--restore', session, *data, '--key-env', 'KEY', env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        for item in self.server.messages(session):
            self.assertStatus(self.server.post(f'/api/sessions/{session}/redactions',
                                               {'messageID': item['id'], 'reason': 'x'}), 200)
        words = ('archive', archive, '--completed-after', '90d', *data)
        self.assertNotEqual(run(*words, env=env).returncode, 0)
        done = run(*words, '--key-env', 'KEY', env=env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        listed = run('sessions', '--json', '--archive', archive, '--key-env', 'KEY', env=env)
        self.assertEqual([one['id'] for one in json.loads(listed.stdout)['items']], [other])
        self.assertEqual(len(list(archive.glob('*.sealed'))), 1)
        self.assertIn('hello', self.reads(archive, other, 'KEY', env))

    def test_archive_of_a_plain_store_is_encrypted_with_a_key(self):
        self.server.finish()
        self.server = self.started('--store', 'sqlite')
        session, archive, env = self.archived()
        self.assertEqual(files_with(archive), [])
        self.assertIn(MARK, self.reads(archive, session, 'KEY', env))

    def test_compact_beside_the_server(self):
        session = self.worked()
        before = self.content(session)
        self.server.term()
        self.assertEqual(run('compact', '--data', self.server.directory).returncode, 0)
        self.server.start()
        self.assertEqual(self.content(session), before)
        self.assertEqual(files_with(self.server.directory), [])


class Webhooks(Sent):
    more = f'''
[store]
encryption_key_env = "S_KEY"
[[webhook]]
url = "RECEIVER/events"
events = ["call_paused", "submitted", "turn_ended"]
secret_env = "S_EVENTS"
'''
    env = {'S_KEY': KEY_A}

    def test_waiting_deliveries_are_encrypted_and_arrive(self):
        self.receiver.answer = lambda received: 500
        session = self.server.create(f'deploy {MARK}', agent='ops')['id']
        (call,) = self.server.open_calls(session)
        self.assertStatus(self.server.result(call['id'], MARK), 200)
        self.receiver.wait(2)
        self.server.key_env = 'S_KEY'
        self.assertEqual(files_with(self.server.directory), [])
        self.assertEqual(files_with(self.server.directory, 'shared-secret'), [])
        self.server.restart()
        self.receiver.answer = lambda received: 200
        self.server.advance(3600)
        bodies = [json.loads(r['body']) for r in self.receiver.wait(4)]
        self.assertIn(MARK, json.dumps(bodies))
        self.assertEqual(files_with(self.server.directory), [])


class Refused(Encrypted):
    def fails(self, text, *arguments, **env):
        before = self.digest()
        output = serve_refused(self.server.directory, *arguments, **env)
        self.assertIn(text, output)
        self.assertNotIn(KEY_A, output)
        self.assertNotIn(KEY_B, output)
        self.assertEqual(self.digest(), before, 'it changes nothing')

    def digest(self):
        return self.sql('SELECT value FROM meta ORDER BY name'), self.sql(
            'SELECT count(*), max(n) FROM feed'), self.sql('SELECT * FROM data_keys')

    def test_missing_and_wrong_keys(self):
        self.worked()
        self.server.finish()
        self.fails('encryption_key_env', '--store', 'sqlite')
        self.fails('master key', *ENCRYPTED, KEY=KEY_B)
        self.fails('is not set', *ENCRYPTED)
        for bad in ('', 'short', KEY_A[:-2], f'{KEY_A},', f'{KEY_A},{KEY_A}'):
            self.fails('key', *ENCRYPTED, KEY=bad)
        self.server.start()

    def test_indexes_and_memory_are_refused(self):
        self.server.finish()
        self.fails('index is not supported', *ENCRYPTED, '--index', 'files', KEY=KEY_A)
        output = serve_refused(f'{self.server.own}/new', '--store', 'memory', '--key-env', 'KEY',
                               KEY=KEY_A)
        self.assertIn('nothing to encrypt', output)

    def test_verify_without_the_key_compares_checksums(self):
        self.worked()
        self.server.term()
        done = run('verify', '--data', self.server.directory, '--json')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('--key-env', done.stderr)
        self.assertEqual(json.loads(done.stdout)['sessions'], 1)
        self.sql("UPDATE journal SET data = replace(data, 'sealed', 'sealeD') WHERE k & 1")
        done = run('verify', '--data', self.server.directory, '--json')
        self.assertEqual(done.returncode, 1, done.stderr)


class Damage(Encrypted):
    def found(self):
        """The findings of verify, with the key."""
        done = self.server.checked('--json')
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        return [f['what'] for f in json.loads(done.stdout)['findings']]

    def test_frame_of_another_session_is_found(self):
        """Frames of two sessions swap their places, and an SQL editor computes the checksums."""
        one, two = (self.server.create(f'say {word}')['id'] for word in ('one', 'two'))
        self.server.finish()
        frames = self.sql('SELECT k, n, data FROM journal WHERE k & 16777215 = 1 ORDER BY k')
        (k1, n1, d1), (k2, n2, d2) = frames
        self.assertEqual(n1, n2)
        for k, n, data in ((k1, n1, d2), (k2, n2, d1)):
            over = k.to_bytes(8) + n.to_bytes(8) + data.encode()
            stamp = int.from_bytes(hashlib.sha256(over).digest()[:8], signed=True)
            with sqlite3.connect(self.file()) as file:
                file.execute('UPDATE journal SET data = ?, sum = ? WHERE k = ?', (data, stamp, k))
            file.close()
        found = self.found()
        self.assertEqual(len([f for f in found if 'cannot be decrypted' in f]), 2, found)
        self.server.start()
        for session in (one, two):
            self.assertEqual(self.server.get(f'/api/sessions/{session}/messages').status, 500)
        self.assertEqual(self.server.create('hello')['activity']['type'], 'idle')
        self.server.term()

    def test_changed_data_key_is_named(self):
        self.worked()
        self.server.finish()
        self.sql("UPDATE data_keys SET wrapped = zeroblob(length(wrapped))")
        self.assertIn('data key', serve_refused(self.server.directory, *ENCRYPTED, KEY=KEY_A))

    def test_plain_title_that_somebody_wrote_is_not_shown(self):
        session = self.worked()
        self.server.finish()
        self.sql("UPDATE sessions SET title = 'forged'")
        self.assertTrue(self.found())
        self.server.start()
        (row,) = self.server.items('/api/projects/default/sessions')
        self.assertEqual(row['id'], session)
        self.assertNotEqual(row['title'], 'forged')
        self.server.term()


class Rekey(Encrypted):
    def setUp(self):
        """A store without a key."""
        self.server = self.started('--store', 'sqlite')

    def rekey(self, keys, status=0):
        done = run('rekey', '--data', self.server.directory, '--key-env', 'KEY', '--json',
                   env=environment(KEY=keys))
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout) if status == 0 else done.stderr

    def with_key(self, keys):
        self.server = self.started(key=keys, directory=self.server.directory)

    def test_plain_store_gets_a_key(self):
        session = self.worked()
        before = self.content(session)
        self.server.finish()
        self.with_key(KEY_A)
        self.assertEqual(self.content(session), before, 'what was there is read')
        later = self.server.create('say Later7mark', title='Later7mark')['id']
        self.assertEqual(files_with(self.server.directory, 'Later7mark'), [])
        self.assertNotEqual(files_with(self.server.directory), [])
        self.server.finish()
        self.assertGreater(self.rekey(KEY_A)['contents'], 5)
        self.assertEqual(files_with(self.server.directory), [])
        self.server.start()
        self.assertEqual(self.content(session), before)
        self.assertEqual(self.server.session(later)['title'], 'Later7mark')

    def test_rekey_encrypts_what_was_there(self):
        session = self.worked()
        waiting = self.server.create(f'approve {MARK}')['id']
        before = self.content(session)
        self.server.finish()
        first = self.rekey(KEY_A)
        self.assertGreater(first['contents'], 5)
        self.assertEqual(self.rekey(KEY_A)['contents'], 0, 'all is encrypted')
        for keys, others in ((KEY_A, False), (f'{KEY_A},{KEY_B}', True)):
            done = run('rekey', '--data', self.server.directory, '--key-env', 'KEY',
                       env=environment(KEY=keys))
            self.assertEqual('the other master keys' in done.stdout, others, done)
        self.assertEqual(files_with(self.server.directory), [])
        self.with_key(KEY_A)
        self.assertEqual(self.content(session), before)
        (call,) = self.server.open_calls(waiting)
        self.assertStatus(self.server.decide(call, True), 200)
        self.server.finish()
        self.sql("UPDATE sessions SET title = 'forged'")
        self.server.start()
        self.assertNotIn('forged', [s['title'] for s in self.server.items(
            '/api/projects/default/sessions')])
        self.server.term()

    def test_killed_rekey_continues(self):
        session = self.worked()
        before = self.content(session)
        self.server.finish()
        # As a kill after the first transactions leaves it: some are encrypted, the keys not yet.
        env = environment(KEY=KEY_A)
        for _ in range(3):
            process = subprocess.Popen(
                [BINARY, 'rekey', '--data', self.server.directory, '--key-env', 'KEY'], env=env,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_for_fault(0.03)  # some transactions are done, others not
            process.kill()
            process.wait()
        self.rekey(KEY_A)
        self.assertEqual(files_with(self.server.directory), [])
        self.with_key(KEY_A)
        self.assertEqual(self.content(session), before)

    def test_rekey_that_could_not_rewrite_the_file_continues(self):
        session = self.worked()
        before = self.content(session)
        self.server.finish()
        blocked = pathlib.Path(self.server.directory) / 'dormouse.db.compact' / 'x'
        blocked.mkdir(parents=True)
        self.rekey(KEY_A, status=8)
        blocked.rmdir()
        blocked.parent.rmdir()
        self.rekey(KEY_A)
        self.assertEqual(files_with(self.server.directory), [])
        self.with_key(KEY_A)
        self.assertEqual(self.content(session), before)

    def test_rotation_needs_the_old_key_until_rekey(self):
        session = self.worked()
        before = self.content(session)
        self.server.finish()
        self.rekey(KEY_A)
        self.assertIn('master key', self.rekey(KEY_B, status=4))
        self.assertIn('master key', serve_refused(self.server.directory, *ENCRYPTED, KEY=KEY_B))
        self.assertGreater(self.rekey(f'{KEY_B},{KEY_A}')['keys'], 0)
        self.assertIn('master key', serve_refused(self.server.directory, *ENCRYPTED, KEY=KEY_A))
        self.with_key(KEY_B)
        self.assertEqual(self.content(session), before)

    def test_server_that_starts_with_a_new_key_needs_no_rekey(self):
        session = self.worked()
        before = self.content(session)
        self.server.finish()
        self.rekey(KEY_A)
        self.with_key(f'{KEY_B},{KEY_A}')
        self.assertEqual(self.content(session), before)
        self.server.kill()
        self.assertIn('only the first master key is needed', self.server.tail())
        self.assertIn('master key', serve_refused(self.server.directory, *ENCRYPTED, KEY=KEY_A))
        self.with_key(KEY_B)
        self.assertEqual(self.content(session), before)

    def test_rekey_is_refused_beside_a_server_and_with_damage(self):
        self.worked()
        self.assertIn('in use', self.rekey(KEY_A, status=4))
        self.server.term()
        self.sql("UPDATE journal SET data = replace(data, 'Xq7', 'Yq7')")
        self.assertIn('damaged', self.rekey(KEY_A, status=1))


if __name__ == '__main__':
    main()
