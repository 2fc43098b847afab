#!/usr/bin/env python3
"""[backup]: the running server copies its data directory continuously, to a directory or an object
store; `restore --at` writes its state at a time; damaged or foreign input changes nothing; a store
of objects that rejects, hangs or is gone delays nobody."""
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time

import npm
from dormouse import BINARY, Case, Server, environment, leave_out, main, run, wait_for
from object_store import (ACCESS, EMPTY, OBJECTS, SECRET, Peer, Store, Unwilling, signature)

KEY = '5a' * 32
CONFIG = '''
[backup]
to = "%s"
interval = "100ms"
%s
'''


def utc(ms):
    return time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(ms // 1000)) + f'.{ms % 1000:03}Z'


class Copying(Case):
    """Each test starts a server with the [backup] that it needs."""

    def setUp(self):
        self.folder = pathlib.Path(self.temporary())
        self.server = Server(start=False)
        self.addCleanup(self.server.clean)
        self.to = str(self.folder / 'copy')

    def temporary(self):
        folder = tempfile.mkdtemp(prefix='dormouse-copy-')
        self.addCleanup(shutil.rmtree, folder, True)
        return folder

    def serve(self, more='', env=None, to=None, start=True, **named):
        config = self.folder / 'dormouse.toml'
        config.write_text(CONFIG % (to or self.to, more))
        server = Server('--store', 'sqlite', '--config', str(config), env=env, start=start,
                        **named)
        self.addCleanup(server.clean)
        self.server = server
        return server

    def copied(self, server=None):
        """Waits until the copy has everything of now; returns the time of its newest state."""
        server = server or self.server
        head = wait_for(lambda: server.get('/api/doctor')['copy'])
        before = self.now(server)
        def newer():
            copy = server.get('/api/doctor')['copy']
            return (copy['copiedAt'] or 0) > before and copy
        return wait_for(newer, what=f'a copy ({head})')['copiedAt']

    def now(self, server):
        made = server.create('deploy now', wait=0)['id']
        return server.get(f'/api/sessions/{made}')['time']['created']

    def restore(self, *options, status=0, to='restored', place=None, env=None):
        done = run('restore', place or self.to, *options, '--data', str(self.folder / to),
                   env=env)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def restored(self, to='restored'):
        copy = Server('--store', 'sqlite', directory=self.folder / to)
        self.addCleanup(copy.clean)
        return copy

    def generations(self):
        return json.loads((pathlib.Path(self.to) / 'copy.json').read_text())['generations']

    def pieces(self):
        """Of the newest generation."""
        folder = pathlib.Path(self.to) / self.generations()[-1]['id']
        return sorted(p for p in folder.iterdir() if p.name.isdigit())

    def failure(self, server, *parts):
        """Waits until doctor says why the copy fails."""
        def why():
            reason = server.get('/api/doctor')['copy']['why'] or ''
            return reason if all(part in reason for part in parts) else None
        return wait_for(why, what=f'a failure with {parts}', seconds=60)


class ToADirectory(Copying):
    def test_copy_has_what_the_server_had_and_holds(self):
        server = self.serve()
        waiting = server.create('deploy A within 1h')['id']
        self.copied()
        server.kill()
        self.restore()
        copy = self.restored()
        self.assertTrue(copy.get('/api/doctor')['held'])
        self.assertEqual(copy.token, server.token)
        copy.advance(7200)
        self.assertEqual([t['status'] for t in copy.turns(waiting)], ['running'])
        copy.term()
        self.assertEqual(run('verify', '--data', str(self.folder / 'restored')).returncode, 0)
        checked = run('verify', '--backup', self.to)
        self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_copy_that_holds_is_copied_once_it_is_released(self):
        self.serve()
        self.copied()
        self.server.kill()
        self.restore()
        held = self.serve(directory=self.folder / 'restored', to=str(self.folder / 'other'))
        self.failure(held, 'dormouse release')
        self.assertEqual(held.post('/api/release').status, 200)
        self.copied()
        self.assertIsNone(held.get('/api/doctor')['copy']['why'])

    def test_increment_writes_what_changed_and_not_the_database(self):
        server = self.serve()
        for _ in range(2):
            server.create('deploy A ' + os.urandom(400_000).hex())
        self.copied()
        first = sum(p.stat().st_size for p in self.pieces())
        self.assertGreater(first, 600_000)
        known = set(self.pieces())
        server.create('deploy B')
        self.copied()
        fresh = set(self.pieces()) - known
        self.assertTrue(fresh)
        self.assertLess(max(p.stat().st_size for p in fresh), 300_000)
        metrics = server.get('/metrics').raw
        for name in (b'dormouse_copy_up 1\n', b'dormouse_copy_bases_total 1\n',
                     b'dormouse_copy_age_seconds ', b'dormouse_copy_failures_total 0\n'):
            self.assertIn(b'\n' + name, metrics)
        shown = run('--server', f'http://127.0.0.1:{server.port}', 'doctor',
                    env={'DORMOUSE_TOKEN': server.token})
        self.assertIn('copy      ', shown.stdout)
        server.finish()

    def test_restore_at_a_time_is_the_state_of_then(self):
        server = self.serve()
        first = server.create('deploy A')['id']
        at = self.copied()
        server.advance(3600)
        later = server.create('deploy B')['id']
        self.copied()
        self.restore('--at', utc(at + 1))
        copy = self.restored()
        self.assertEqual(copy.get(f'/api/sessions/{first}').status, 200)
        self.assertEqual(copy.get(f'/api/sessions/{later}').status, 404)
        self.assertTrue(copy.get('/readyz')['held'])
        self.restore(to='newest')
        newest = self.restored('newest')
        self.assertEqual(newest.get(f'/api/sessions/{later}').status, 200)
        self.assertIn('its first one is of', self.restore('--at', '2020-01-01T00:00:00Z',
                                                          status=3, to='none'))
        self.assertIn('--at must be a time', self.restore('--at', 'noon', status=2, to='none'))
        self.assertFalse((self.folder / 'none').exists())

    def ended_by(self, sent, moment, *words):
        """Runs a command to that moment, or to its end. Returns its exit status."""
        process = subprocess.Popen([BINARY, *words], env=environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not moment():
            pass
        process.send_signal(sent)
        return process.wait(60)

    def test_signal_at_any_moment_leaves_nothing(self):
        server = self.serve()
        for _ in range(6):
            server.create('deploy A ' + os.urandom(400_000).hex())
            self.copied()
        server.term()
        new = self.folder / 'restored'
        statuses = set()
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for moment in (lambda: True, new.exists, (new / 'dormouse.db').exists):
                status = self.ended_by(sent, moment, 'restore', self.to, '--data', str(new))
                self.assertIn(status, (0, 130, -sent), sent)
                self.assertEqual(new.exists(), status == 0, sent)
                shutil.rmtree(new, ignore_errors=True)
                statuses.add(status)
            status = self.ended_by(sent, lambda: True, 'verify', '--backup', self.to)
            self.assertIn(status, (0, 130, -sent), sent)
        self.assertIn(130, statuses)
        self.restore()
        self.assertEqual(self.restored().get('/api/doctor').status, 200)

    def test_last_changes_are_copied_at_the_end(self):
        server = self.serve('base_every = "1h"')
        self.copied()
        last = server.create('deploy last')['id']
        self.assertEqual(server.term(), 0)
        self.restore()
        self.assertEqual(self.restored().get(f'/api/sessions/{last}').status, 200)

    def test_killed_server_continues_in_a_new_generation(self):
        server = self.serve()
        first = server.create('deploy A')['id']
        at = self.copied()
        server.restart(down=60)
        second = server.create('deploy B')['id']
        self.copied()
        self.assertEqual(len(self.generations()), 2)
        self.restore('--at', utc(at + 1), to='old')
        self.assertEqual(self.restored('old').get(f'/api/sessions/{second}').status, 404)
        self.restore()
        copy = self.restored()
        for session in first, second:
            self.assertEqual(copy.get(f'/api/sessions/{session}').status, 200)

    def test_old_generations_are_removed_after_their_time(self):
        server = self.serve('base_every = "1h"\nkeep = "2h"')
        self.copied()
        oldest = self.generations()[0]['id']
        for _ in range(5):
            server.advance(3700)
            self.copied()
        wait_for(lambda: oldest not in [one['id'] for one in self.generations()])
        wait_for(lambda: not (pathlib.Path(self.to) / oldest).exists())
        self.assertLess(len(self.generations()), 6)
        self.restore()

    def test_encrypted_copy_needs_its_key(self):
        key = self.folder / 'key'
        key.write_text(KEY + '\n')
        key.chmod(0o600)
        server = self.serve(f'key_file = "{key}"')
        server.create('deploy a-secret-place')
        self.copied()
        server.kill()
        stored = b''.join(p.read_bytes() for p in pathlib.Path(self.to).rglob('*') if p.is_file())
        self.assertNotIn(b'a-secret-place', stored)
        self.assertIn('is encrypted: pass --key', self.restore(status=2))
        other = self.folder / 'other'
        other.write_text('a5' * 32)
        other.chmod(0o600)
        self.assertIn('encrypted with another key', self.restore('--key', str(other), status=2))
        self.restore('--key', str(key))
        again = self.serve(f'key_file = "{other}"', directory=server.directory)
        self.failure(again, 'encrypted with another key')

    def test_damaged_copy_is_refused_as_a_whole(self):
        server = self.serve()
        self.copied()
        self.copied()
        server.kill()
        pieces = self.pieces()
        self.assertGreater(len(pieces), 1)
        middle, last = pieces[0], pieces[-1]
        newest = middle.parent / 'newest.json'
        for file, damage, says in (
            (middle, lambda b: b[:-1], 'truncated'),
            (middle, lambda b: b[:20], 'has no head'),
            (middle, lambda b: b.replace(b'"format":2', b'"format":3', 1), 'newer release'),
            (middle, lambda b: b.replace(b'"storeFormat":', b'"storeFormat":9', 1),
             'newer release'),
            (middle, lambda b: b[:-1] + bytes([b[-1] ^ 1]), 'is damaged'),
            (middle, lambda b: b.replace(b'"release":"', b'"release":"x', 1), 'does not continue'),
            (middle, None, 'is missing'),
            (last, None, 'is missing'),
            (last, lambda b: b.replace(b'"release":"', b'"release":"x', 1),
             'does not have the digest'),
            (newest, None, 'is missing'),
            (newest, lambda b: b'{}', 'is damaged'),
            (pathlib.Path(self.to) / 'copy.json', lambda b: b[:30], 'is damaged'),
        ):
            with self.subTest(file=file.name, says=says):
                content = file.read_bytes()
                file.write_bytes(damage(content)) if damage else file.unlink()
                done = run('restore', self.to, '--data', str(self.folder / 'restored'))
                checked = run('verify', '--backup', self.to)
                file.write_bytes(content)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(says, done.stderr)
                self.assertNotEqual(checked.returncode, 0)
                self.assertIn(says, checked.stderr)
                self.assertFalse((self.folder / 'restored').exists())
        self.restore()

    def test_full_target_and_two_restores(self):
        server = self.serve()
        self.copied()
        server.kill()
        limited = subprocess.run(
            [BINARY, 'restore', self.to, '--data', str(self.folder / 'full')],
            capture_output=True, env=environment(), restore_signals=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (32_768, 32_768)))
        self.assertNotEqual(limited.returncode, 0)
        self.assertIn(b'File too large', limited.stderr)
        self.assertFalse((self.folder / 'full').exists())
        both = [subprocess.Popen([BINARY, 'restore', self.to, '--data',
                                  str(self.folder / 'restored')], env=environment(),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for _ in range(2)]
        outputs = [each.communicate()[1] for each in both]
        self.assertEqual(sorted(each.returncode for each in both), [0, 4], outputs)
        self.assertIn('is not empty', self.restore(status=4))

    def test_foreign_or_used_directory_is_left_alone(self):
        (self.folder / 'mine').mkdir()
        (self.folder / 'mine' / 'file').write_text('x')
        server = self.serve(to=str(self.folder / 'mine'))
        self.failure(server, 'holds other files')
        self.assertEqual([p.name for p in (self.folder / 'mine').iterdir()], ['file'])
        server.create('deploy A')
        server.term()
        first = self.serve()
        self.copied(first)
        second = self.serve()
        self.failure(second, 'another server copies')
        self.copied(first)

    def test_place_of_another_data_directory_is_refused(self):
        first = self.serve()
        session = first.create('deploy A')['id']
        at = self.copied()
        first.term()
        before = self.generations()
        second = self.serve()
        self.failure(second, 'another data directory', 'owner.json')
        second.term()
        self.assertEqual(self.generations(), before)
        first.start()
        self.copied(first)
        first.term()
        (pathlib.Path(self.to) / 'owner.json').unlink()
        second.start()
        self.copied(second)
        self.restore('--at', utc(at + 1))
        self.assertEqual(self.restored().get(f'/api/sessions/{session}').status, 200)

    def test_pieces_are_compressed(self):
        server = self.serve()
        server.create('deploy ' + 'all work and no play ' * 48_000)
        self.copied()
        server.term()
        size = (pathlib.Path(server.directory) / 'dormouse.db').stat().st_size
        self.assertGreater(size, 1_000_000)
        self.assertLess(sum(piece.stat().st_size for piece in self.pieces()), size / 2)
        self.restore()

    def test_settings_that_cannot_work_are_named_at_the_start(self):
        config = self.folder / 'dormouse.toml'
        data = self.folder / 'data'
        for to, more, store, says in (
            ('relative/path', '', 'sqlite', 'must be an absolute path'),
            (str(data / 'copy'), '', 'sqlite', 'must not be in the data directory'),
            (self.to, '', 'memory', 'only a store of kind sqlite'),
            (self.to, f'key_file = "{self.folder}/none"', 'sqlite', 'not found'),
            ('s3://ab', '', 'sqlite', 'must be s3://BUCKET'),
            ('s3://bucket/../other', '', 'sqlite', 'must be s3://BUCKET'),
            ('s3://backups/x', '', 'sqlite', 'needs an access key'),
        ):
            with self.subTest(to=to):
                config.write_text(CONFIG % (to, more))
                done = run('serve', '--data', str(data), '--listen', '127.0.0.1:0',
                           '--store', store, '--config', str(config))
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(says, done.stderr)


class ToAnObjectStore(Copying):
    def setUp(self):
        super().setUp()
        if why := npm.install(OBJECTS, 'node'):
            leave_out(why)
        self.store = Store(self.folder / 'objects')
        self.addCleanup(self.store.end)
        self.to = 's3://backups/dormouse'

    def serve(self, more='', env=None, port=None, **named):
        return super().serve(
            f'endpoint = "http://127.0.0.1:{port or self.store.port}"\n'
            'access_key_env = "S3_ACCESS_KEY"\nsecret_key_env = "S3_SECRET_KEY"\n' + more,
            env={'S3_ACCESS_KEY': ACCESS, 'S3_SECRET_KEY': SECRET, **(env or {})}, **named)

    def variables(self, **more):
        return {'AWS_ENDPOINT_URL': f'http://127.0.0.1:{self.store.port}',
                'AWS_ACCESS_KEY_ID': ACCESS, 'AWS_SECRET_ACCESS_KEY': SECRET, **more}

    def test_copy_is_restored_also_at_a_time(self):
        server = self.serve()
        first = server.create('deploy A ' + 'x' * 1_000_000)['id']
        at = self.copied()
        server.advance(3600)
        later = server.create('deploy B')['id']
        self.copied()
        server.kill()
        self.restore(env=self.variables())
        self.assertEqual(self.restored().get(f'/api/sessions/{later}').status, 200)
        self.restore('--at', utc(at + 1), to='old', env=self.variables())
        old = self.restored('old')
        self.assertEqual(old.get(f'/api/sessions/{first}').status, 200)
        self.assertEqual(old.get(f'/api/sessions/{later}').status, 404)

    def test_second_server_of_a_prefix_is_refused(self):
        first = self.serve()
        self.copied()
        second = self.serve()
        self.failure(second, 's3://backups/dormouse', 'another data directory')
        self.copied(first)
        second.term()

    def test_server_on_a_copied_directory_stops_the_first_ones_copy(self):
        first = self.serve()
        self.copied()
        first.term()
        copied = self.folder / 'data'
        shutil.copytree(first.directory, copied)
        first.start()
        self.copied(first)
        second = self.serve(directory=copied)
        self.copied(second)
        first.create('deploy B')
        self.failure(first, 'another server copies', 'copy of this data directory')
        self.copied(second)
        first.term()

    def test_store_that_is_gone_for_a_while_gets_everything(self):
        server = self.serve()
        self.copied()
        self.store.close()
        last = server.create('deploy B')['id']
        self.failure(server, 'http://127.0.0.1')
        self.assertIn(b'\ndormouse_copy_up 0\n', server.get('/metrics').raw)
        self.store.open()
        self.copied()
        server.finish()
        self.restore(env=self.variables())
        self.assertEqual(self.restored().get(f'/api/sessions/{last}').status, 200)

    def test_keys_or_bucket_that_are_wrong_are_named_without_the_key(self):
        wrong = 'an-unlikely-secret'
        server = self.serve(env={'S3_SECRET_KEY': wrong})
        why = self.failure(server, 'rejected')
        self.assertNotIn(wrong, why)
        self.assertNotIn(wrong, server.tail())
        self.assertNotIn(wrong, server.get('/api/config').raw.decode())
        server.term()
        output = self.restore(env=self.variables(AWS_SECRET_ACCESS_KEY=wrong), status=6)
        self.assertIn('rejected', output)
        self.assertNotIn(wrong, output)
        self.assertIn('needs an access key', self.restore(status=2))
        missing = self.serve(to='s3://no-such-bucket/x')
        self.failure(missing, 'bucket does not exist')
        missing.term()

    def test_store_that_hangs_or_answers_503_delays_nobody(self):
        for hangs in False, True:
            with self.subTest(hangs=hangs):
                peer = Peer(Unwilling)
                self.addCleanup(peer.close)
                peer.hangs = hangs
                server = self.serve(port=peer.port)
                self.assertTrue(peer.requested.wait(60))
                if not hangs:
                    self.failure(server, '503 SlowDown')
                server.create('deploy A')
                server.finish()  # also while a request hangs

    def test_signal_ends_a_command_whose_store_does_not_answer(self):
        for words in (('restore', self.to, '--data', str(self.folder / 'new')),
                      ('verify', '--backup', self.to)):
            for sent in (signal.SIGINT, signal.SIGTERM):
                peer = Peer(Unwilling)
                self.addCleanup(peer.close)
                peer.hangs = True
                process = subprocess.Popen(
                    [BINARY, *words], stderr=subprocess.PIPE, text=True, env=environment(
                        **self.variables(AWS_ENDPOINT_URL=f'http://127.0.0.1:{peer.port}')))
                self.assertTrue(peer.requested.wait(60))
                process.send_signal(sent)
                output = process.communicate(timeout=10)[1]  # a request may take 20 s
                self.assertEqual((process.returncode, 'interrupted' in output), (130, True), output)
                self.assertFalse((self.folder / 'new').exists())

    def test_signature_of_the_published_example(self):
        """The store's own check, by the example of the S3 documentation."""
        headers = {'host': 'examplebucket.s3.amazonaws.com', 'range': 'bytes=0-9',
                   'x-amz-content-sha256': EMPTY, 'x-amz-date': '20130524T000000Z'}
        self.assertEqual(
            signature('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'GET', '/test.txt', headers,
                      sorted(headers), '20130524/us-east-1/s3/aws4_request', EMPTY),
            'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41')


if __name__ == '__main__':
    main()
