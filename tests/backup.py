#!/usr/bin/env python3
"""`dormouse backup` copies a data directory while its server runs; `restore` writes the copy, which
holds until it is released; damaged or foreign input changes nothing."""
import ctypes
import gzip
import hashlib
import io
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tarfile

from acp_face import Editor
from doctor import failed_session
from dormouse import BINARY, Case, Server, environment, main, run, wait_for
from rpc_peer import Refused

KEY = '5a' * 32
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1


class Backup(Case):
    # A backup of another store is a matter of its own programs.
    arguments = ('--store', 'sqlite')

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.server.own)
        self.target = self.folder / 'backup'

    def configured(self, text, **env):
        file = self.folder / 'dormouse.toml'
        file.write_text(text)
        self.server = self.new_server('--config', str(file), *self.arguments, env=env)
        self.addCleanup(self.server.clean)
        return self.server

    def backup(self, *options, status=0, target=None):
        done = run('backup', str(target or self.target), *options,
                   '--data', self.server.directory, '--json')
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout) if status == 0 else done.stderr

    def restore(self, *options, status=0, to='restored'):
        done = run('restore', str(self.target), *options, '--data', str(self.folder / to))
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stderr

    def checked(self, *options):
        return run('verify', '--backup', str(self.target), *options)

    def restored(self):
        server = Server('--store', 'sqlite', directory=self.folder / 'restored')
        self.addCleanup(server.clean)
        return server

    def chunks(self):
        return sorted(p for p in (self.target / 'chunks').rglob('*') if p.is_file())

    def key(self, text=KEY, name='key'):
        file = self.folder / name
        file.write_text(text + '\n')
        file.chmod(0o600)
        return '--key', str(file)

    def test_copy_of_a_running_server_holds_until_it_is_released(self):
        waiting = self.server.create('deploy A within 1h')['id']
        (call,) = self.server.open_calls(waiting)
        report = self.backup()
        self.assertGreater(report['feed'], 0)
        later = self.server.create('deploy B')['id']
        self.restore()

        copy = self.restored()
        self.assertEqual(copy.get(f'/api/sessions/{later}').status, 404, 'it was made later')
        wait_for(lambda: copy.get('/readyz').status == 200, what='readiness')
        self.assertTrue(copy.get('/readyz')['held'])
        self.assertTrue(copy.get('/api/doctor')['held'])
        self.assertIn(b'\ndormouse_held 1\n', copy.get('/metrics').raw)
        self.assertStatus(copy.result(call['id'], 'live'), 200)
        fresh = copy.create('deploy C', wait=0)['id']
        copy.advance(7200)
        self.assertEqual([t['status'] for t in copy.turns(waiting)], ['running'])
        self.assertEqual([m['role'] for m in copy.messages(fresh)], ['user'])
        copy.restart()
        self.assertTrue(copy.get('/api/doctor')['held'], 'also after a restart')

        released = run('--server', f'http://127.0.0.1:{copy.port}', 'release',
                       env={'DORMOUSE_TOKEN': copy.token})
        self.assertEqual(released.returncode, 0, released.stderr)
        self.assertIn('released', released.stdout)
        copy.at_rest(waiting)
        self.assertEqual(copy.last_text(waiting), 'deploy A: live')
        copy.at_rest(fresh)
        self.assertFalse(copy.get('/api/doctor')['held'])
        copy.restart()
        self.assertFalse(copy.get('/api/doctor')['held'], 'also after a restart')
        copy.finish()

    def assertHolds(self, copy, *words):
        done = run(*words, '--server', f'http://127.0.0.1:{copy.port}',
                   env={'DORMOUSE_TOKEN': copy.token})
        self.assertEqual(done.returncode, 10, done)
        self.assertIn('holds', done.stderr)
        self.assertIn('dormouse release', done.stderr)

    def test_commands_that_follow_a_turn_end_on_a_copy_that_holds(self):
        asleep = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(asleep)
        self.backup()
        self.restore()
        copy = self.restored()
        for words in (
            ('prompt', 'deploy B'),
            ('prompt', 'deploy B', '--wait'),
            ('prompt', 'again', '--when', 'queue', '-s', asleep),
            ('result', call['id'], 'live', '--wait'),
        ):
            with self.subTest(words=words):
                self.assertHolds(copy, *words)
        refused = copy.post(f'/api/sessions/{asleep}/attach', {})
        self.assertProblem(refused, 409, 'wrong_state')
        self.assertIn('holds', refused['detail'])

    def test_editor_is_told_that_a_copy_holds(self):
        self.backup()
        self.restore()
        copy = self.restored()
        editor = Editor(copy)
        self.addCleanup(editor.kill)
        session = editor.new()
        with self.assertRaises(Refused) as refused:
            editor.end(editor.say(session, 'deploy B'))
        self.assertIn('dormouse release', str(refused.exception))
        self.assertEqual(copy.session(session)['activity']['type'], 'idle')

    def test_retry_on_a_copy_that_holds_ends(self):
        failed = failed_session(self)
        self.backup()
        self.restore()
        self.assertHolds(self.restored(), 'retry', failed, '--wait')

    def archived(self, *options):
        """The bytes that `dormouse backup -` writes."""
        done = subprocess.run([BINARY, 'backup', '-', *options, '--data', self.server.directory],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def read_archive(self, archive, *words):
        """Runs the command with the archive on standard input; nothing temporary is left."""
        place = self.folder / 'place'
        place.mkdir(exist_ok=True)
        done = subprocess.run([BINARY, *words], input=archive, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=environment(TMPDIR=str(place)))
        self.assertEqual([p.name for p in place.iterdir() if p.name != 'new'], [])
        return done.returncode, (done.stdout + done.stderr).decode()

    def restore_archive(self, archive, *options):
        return self.read_archive(archive, 'restore', '-', *options,
                                 '--data', str(self.folder / 'place' / 'new'))

    def test_archive_is_restored_and_verified_from_standard_input(self):
        session = self.server.create('deploy A')['id']
        key = self.key()
        for options in ((), key):
            archive = self.archived(*options)
            status, said = self.read_archive(archive, 'verify', '--backup', '-', *options)
            self.assertEqual(status, 0, said)
            status, said = self.restore_archive(archive, *options)
            self.assertEqual(status, 0, said)
            new = self.folder / 'place' / 'new'
            self.assertEqual(run('verify', '--data', str(new)).returncode, 0)
            self.assertIn(session, run('export', session, '--data', str(new)).stdout)
            shutil.rmtree(new)
        self.assertIn('--key', self.restore_archive(archive)[1])
        # What tar makes of the directory of a backup is read, too.
        self.backup()
        tar = io.BytesIO()
        with tarfile.open(fileobj=tar, mode='w', format=tarfile.USTAR_FORMAT) as out:
            out.add(self.target, '.')
        status, said = self.restore_archive(tar.getvalue())
        self.assertEqual(status, 0, said)

    def test_archive_is_restored_where_the_parent_is_read_only(self):
        self.server.create('deploy A')
        parent, place = self.folder / 'parent', self.folder / 'place'
        place.mkdir()
        (parent / 'new').mkdir(parents=True)
        parent.chmod(0o555)
        self.addCleanup(parent.chmod, 0o755)

        def without_override():  # of permissions, if the tests run as root
            ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)

        def restore(place):
            return subprocess.run(
                [BINARY, 'restore', '-', '--data', str(parent / 'new')], input=self.archived(),
                capture_output=True, env=environment(TMPDIR=str(place)),
                preexec_fn=without_override)
        refused = restore(parent)
        self.assertEqual(refused.returncode, 8, refused)
        self.assertIn(b'TMPDIR', refused.stderr)
        done = restore(place)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(list(place.iterdir()), [])
        self.assertEqual(run('verify', '--data', str(parent / 'new')).returncode, 0)

    def ended_by(self, sent, moment, *words, archive=None, **more):
        """Runs a command to that moment, or to its end; nothing of it is left if it has not ended
        before. Returns its exit status."""
        place, new = self.folder / 'place', self.folder / 'place' / 'new'
        with open(archive or os.devnull, 'rb') as given:
            process = subprocess.Popen([BINARY, *words], stdin=given, env=environment(
                TMPDIR=str(place)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
        while process.poll() is None and not moment(place):
            pass
        process.send_signal(sent)
        status = process.wait(60)
        self.assertEqual([x.name for x in place.iterdir() if x.name != 'new'], [], sent)
        if status != 0:
            self.assertFalse(new.exists(), sent)
        shutil.rmtree(new, ignore_errors=True)
        return status

    def test_signal_at_any_moment_leaves_nothing(self):
        for _ in range(12):
            self.server.create('hello ' + 'x' * 900_000)
        self.backup()
        (self.folder / 'place').mkdir()
        tar = self.folder / 'tar'
        tar.write_bytes(self.archived())
        restore = ('restore', '-', '--data', str(self.folder / 'place' / 'new'))
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for words, archive in (
                    (restore, tar), (('restore', str(self.target), *restore[2:]), None),
                    (('verify', '--backup', '-'), tar)):
                for moment in (lambda place: any(place.glob('dormouse-*')),
                               lambda place: any(place.glob('dormouse-*/manifest.json')),
                               lambda place: (place / 'new').exists()):
                    status = self.ended_by(sent, moment, *words, archive=archive)
                    self.assertIn(status, (0, 130), (sent, words))
        ignored = self.ended_by(
            signal.SIGHUP, lambda place: any(place.glob('dormouse-*')), *restore, archive=tar,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(ignored, 0, 'as nohup starts it')

    def test_input_that_is_no_whole_archive_changes_nothing(self):
        self.server.create('deploy A')
        archive = self.archived()
        manifest = archive.rindex(b'manifest.json')
        damaged = bytearray(archive)
        damaged[700] ^= 1

        def with_file(name, kind=tarfile.REGTYPE):
            tar = io.BytesIO()
            with tarfile.open(fileobj=tar, mode='w', format=tarfile.USTAR_FORMAT) as out:
                entry = tarfile.TarInfo(name)
                entry.type, entry.linkname = kind, '/etc/passwd' if kind != tarfile.REGTYPE else ''
                out.addfile(entry)
            return tar.getvalue()

        one = 'chunks/ab/ab' + '0' * 62
        for what, status, words in (
            (b'', 2, 'is empty'),
            (b'x' * 100, 2, 'is no archive'),
            (b'x' * 5_000, 2, 'is no archive'),
            (gzip.compress(archive), 2, 'is no archive'),
            (archive[:300], 2, 'is no archive'),
            (archive[:700], 1, 'cut off'),
            (archive[:manifest], 1, 'cut off'),
            (archive[:manifest + 700], 1, 'cut off'),
            (archive[:-1024], 1, 'cut off'),
            (archive[:manifest] + bytes(1024), 3, 'manifest.json not found'),
            (bytes(damaged), 1, 'damaged'),
            (with_file('../x'), 2, 'it holds ../x'),
            (with_file('/etc/x'), 2, 'it holds /etc/x'),
            (with_file('chunks/ab/../../x'), 2, 'it holds chunks/ab/'),
            (with_file('token'), 2, 'it holds token'),
            (with_file('a\x1b[2J'), 2, 'it holds a'),
            (with_file('manifest.json', tarfile.SYMTYPE), 2, 'it holds manifest.json'),
            (with_file(one, tarfile.LNKTYPE), 2, 'it holds chunks/'),
            (with_file(one)[:512] * 2 + bytes(1024), 2, 'twice'),
        ):
            with self.subTest(words=words, size=len(what)):
                for code, said in (self.restore_archive(what),
                                   self.read_archive(what, 'verify', '--backup', '-')):
                    self.assertEqual(code, status, said)
                    self.assertIn(words, said)
                    self.assertNotIn('\x1b', said)
                self.assertFalse((self.folder / 'place' / 'new').exists())

    def test_second_backup_writes_what_changed_and_removes_the_rest(self):
        self.server.create('deploy A ' + 'x' * 1_000_000)
        first = self.backup()
        self.assertEqual(first['written'], len(self.chunks()))
        self.server.create('deploy B')
        second = self.backup()
        self.assertLess(second['written'], first['written'] / 2)
        self.assertGreater(second['feed'], first['feed'])
        named = {chunk for file in json.loads((self.target / 'manifest.json').read_text())
                 ['content']['files'] for chunk in file['chunks']}
        self.assertEqual({chunk.name for chunk in self.chunks()}, named)
        self.assertEqual(self.checked().returncode, 0)

    def test_stopped_server_is_copied_and_archive_holds_the_same(self):
        session = self.server.create('deploy A')['id']
        self.server.kill()
        archive = self.folder / 'archive.tar'
        with open(archive, 'wb') as out:
            done = subprocess.run([BINARY, 'backup', '-', '--data', self.server.directory],
                                  stdout=out, stderr=subprocess.PIPE, env=environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        restore = run('restore', str(archive), '--data', str(self.folder / 'restored'))
        self.assertEqual(restore.returncode, 2, restore)
        self.assertIn(f'{archive} is a file', restore.stderr)
        self.assertIn(f'< {archive}', restore.stderr)
        with tarfile.open(archive) as tar:
            tar.extractall(self.target)
        self.restore()
        self.assertEqual(run('verify', '--data', str(self.folder / 'restored')).returncode, 0)
        self.server.start()
        self.assertEqual(self.server.get(f'/api/sessions/{session}').status, 200)

    def test_encrypted_backup_needs_its_key(self):
        self.server.create('deploy a-secret-place')
        self.backup(*self.key())
        stored = b''.join(p.read_bytes() for p in self.target.rglob('*') if p.is_file())
        self.assertNotIn(b'a-secret-place', stored)
        self.assertNotIn(b'dormouse.db', stored)
        second = self.backup(*self.key())
        self.assertLess(second['written'], second['chunks'])
        self.assertIn('is encrypted: pass --key', self.restore(status=2))
        other = self.key('a5' * 32, 'other')
        self.assertIn('encrypted with another key', self.restore(*other, status=2))
        self.assertIn('another key', self.backup(*other, status=2))
        self.assertIn('64 hexadecimal digits', self.backup(*self.key('short', 'bad'), status=2))
        open_key = self.key(KEY, 'open')
        pathlib.Path(open_key[1]).chmod(0o644)
        self.assertIn('chmod 600', self.backup(*open_key, status=2))
        self.restore(*self.key())

    def test_damaged_or_newer_backup_is_refused_as_a_whole(self):
        self.server.create('deploy A')
        self.backup()
        manifest = self.target / 'manifest.json'
        text = manifest.read_text()
        first = self.chunks()[0]
        content = first.read_bytes()
        for damage, says in (
            (lambda: first.write_bytes(content[:-1]), 'is damaged'),
            (lambda: first.write_bytes(b'\0' + content[1:] + b'\0'), 'is damaged'),
            (first.unlink, 'is missing'),
        ):
            with self.subTest(says=says):
                damage()
                self.assertIn(first.name + ' ' + says, self.restore(status=1))
                checked = self.checked()
                self.assertEqual(checked.returncode, 1)
                self.assertIn(says, checked.stdout)
                first.write_bytes(content)
        for changed, says in (
            (text.replace('"format":2', '"format":3'), 'newer release'),
            (self.without_order(text), 'manifest.json is damaged: the chunks of dormouse.db'),
            (text.replace('"storeFormat":', '"storeFormat":9'), 'newer release'),
            (text.replace('"name":"token"', '"name":"../token"'), 'manifest.json is damaged'),
            (text[: len(text) // 2], 'manifest.json is damaged'),
            ('{}', 'not the manifest'),
        ):
            with self.subTest(says=says):
                manifest.write_text(changed)
                done = run('restore', str(self.target), '--data', str(self.folder / 'restored'))
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(says, done.stderr)
        manifest.unlink()
        self.assertIn('was cut off', self.restore(status=3))
        self.assertFalse((self.folder / 'restored').exists())

    def without_order(self, text):
        content = json.loads(text)
        content['content']['files'][0]['chunks'].reverse()
        return json.dumps(content)

    def test_backup_of_release_0_1_is_read(self):
        self.server.create('deploy A')
        self.backup()
        manifest = self.target / 'manifest.json'
        written = {**json.loads(manifest.read_text()), 'format': 1}
        for file in written['content']['files']:
            del file['namesSha256']
            whole = b''.join((self.target / 'chunks' / name[:2] / name).read_bytes()
                             for name in file['chunks'])
            file['sha256'] = hashlib.sha256(whole).hexdigest()
        manifest.write_text(json.dumps(written))
        self.assertEqual(self.checked().returncode, 0)
        self.restore()
        written['content']['files'][0]['sha256'] = '0' * 64
        manifest.write_text(json.dumps(written))
        self.assertIn('dormouse.db differs from the manifest', self.restore(status=1, to='b'))
        self.assertEqual(self.checked().returncode, 1)

    def test_target_in_use_full_or_foreign_stays_as_it_was(self):
        self.server.create('deploy A')
        self.backup()
        (self.folder / 'restored').mkdir()
        (self.folder / 'restored' / 'mine').write_text('x')
        self.assertIn('is not empty', self.restore(status=4))
        self.assertEqual([p.name for p in (self.folder / 'restored').iterdir()], ['mine'])
        self.assertIn('other files than a backup',
                      self.backup(status=4, target=self.folder / 'restored'))
        before = self.chunks()
        self.server.create('deploy B')
        full = subprocess.run(
            [BINARY, 'backup', str(self.target), '--data', self.server.directory],
            capture_output=True, env=environment(), restore_signals=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (32_768, 32_768)))
        self.assertNotEqual(full.returncode, 0)
        self.assertIn(b'File too large', full.stderr)
        self.assertEqual(self.chunks(), before)
        self.assertEqual(self.checked().returncode, 0)
        full = subprocess.run(
            [BINARY, 'restore', str(self.target), '--data', str(self.folder / 'full')],
            capture_output=True, env=environment(), restore_signals=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (32_768, 32_768)))
        self.assertIn(b'File too large', full.stderr)
        self.assertFalse((self.folder / 'full').exists())

        tar = self.archived()
        full = subprocess.run(
            [BINARY, 'restore', '-', '--data', str(self.folder / 'full')], input=tar,
            capture_output=True, env=environment(), restore_signals=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (32_768, 32_768)))
        self.assertEqual(full.returncode, 8, full)
        self.assertIn(b'File too large', full.stderr)
        self.assertFalse((self.folder / 'full').exists())
        self.assertEqual(list(self.folder.glob('dormouse-*')), [])

    def test_two_restores_at_once_write_one_copy(self):
        self.server.create('deploy A')
        self.backup()
        both = [subprocess.Popen([BINARY, 'restore', str(self.target), '--data',
                                  str(self.folder / 'restored')], env=environment(),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for _ in range(2)]
        outputs = [each.communicate()[1] for each in both]
        self.assertEqual(sorted(each.returncode for each in both), [0, 4], outputs)
        self.assertEqual(run('verify', '--data', str(self.folder / 'restored')).returncode, 0)

    def test_restore_that_did_not_finish_is_not_started(self):
        cut = self.folder / 'cut'
        cut.mkdir()
        (cut / 'restoring').write_text('{}\n')
        done = run('serve', '--data', str(cut), '--listen', '127.0.0.1:0', '--no-config')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('did not finish', done.stderr)


if __name__ == '__main__':
    main()
