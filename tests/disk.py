#!/usr/bin/env python3
"""A disk that is full or read-only: reported with its code, nothing acknowledged is lost, and the
server recovers by itself when there is space (P9, P11). Needs its own small tmpfs: as root, or in a
user namespace."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest
from dormouse import BINARY, Case, OnDisk, environment, main, run, wait_for

# Mounting may need a user namespace, which only a single-threaded process can enter.
pytestmark = pytest.mark.own_process
INSIDE = 'DISK_TEST_INSIDE'
LEFT_OUT = 77
ROOM = 3 << 20


def mount(*arguments):
    return subprocess.run(['mount', *arguments], capture_output=True, text=True)


def mount_ended(place):
    subprocess.run(['umount', '-l', str(place)], check=True)


def fill(path):
    """Makes a file that takes all space."""
    with open(path, 'wb', buffering=0) as file:
        try:
            while True:
                file.write(b'x' * 4096)
        except OSError:
            pass


class Disk(Case):
    def setUp(self):
        self.place = tempfile.mkdtemp(prefix='dormouse-disk-')
        mounted = mount('-t', 'tmpfs', '-o', f'size={ROOM}', 'none', self.place)
        self.assertEqual(mounted.returncode, 0, mounted)
        self.addCleanup(self.unmount)
        self.server = OnDisk(directory=pathlib.Path(self.place, 'data'))
        self.addCleanup(self.server.clean)

    def unmount(self):
        mount_ended(self.place)
        shutil.rmtree(self.place)

    def fill(self):
        """Fills the disk."""
        self.ballast = pathlib.Path(self.place, 'ballast')
        fill(self.ballast)

    def until_refused(self):
        """Sends prompts until one is refused; returns the accepted ones and the refusal."""
        accepted = []
        for number in range(1000):
            answer = self.server.prompt(self.session, f'{number} ' + 'x' * 20_000, wait=0)
            if answer.status != 202:
                return accepted, answer
            accepted.append(answer['messageID'])
        self.fail('it was never refused')

    def test_full_disk_is_reported_and_the_server_recovers(self):
        waiting = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(waiting)
        self.session = self.server.create()['id']
        self.fill()
        accepted, refusal = self.until_refused()
        problem = self.assertProblem(refusal, 503, 'store_full', next='retry')
        self.assertIsInstance(problem['retryAfter'], int)
        self.assertTrue(self.server.alive())
        self.assertProblem(self.server.get('/readyz'), 503, 'store_full', next='retry')
        # Stored data can be read, and nothing is half done.
        self.assertEqual(self.server.open_calls(waiting), [call])
        self.assertProblem(self.server.result(call['id'], 'y' * 50_000), 503, 'store_full')
        self.assertEqual(self.server.get(f'/async-tool/pending/{call["id"]}')['status'], 'waiting')
        self.ballast.unlink()
        wait_for(lambda: self.server.get('/readyz').status == 200, what='readiness')
        wait_for(lambda: self.server.result(call['id'], 'live').status == 200, seconds=15)
        wait_for(lambda: self.server.last_text(waiting) == 'deploy A: live', seconds=30)
        self.assertAllThere(accepted)
        self.server.restart()
        self.assertAllThere(accepted)

    def assertAllThere(self, accepted):
        self.server.at_rest(self.session)
        ids = {m['id'] for m in self.server.messages(self.session)}
        self.assertEqual([one for one in accepted if one not in ids], [])

    def test_doctor_measures_the_disk_and_how_fast_it_fills(self):
        def why():
            found = self.server.get('/api/doctor')['concerns']
            return next(one['why'] for one in found if one['about'] == 'disk')

        self.assertRegex(why(), r'^[0-3] MiB are free on the disk of the data directory$')
        pathlib.Path(self.place, 'half').write_bytes(b'x' * (ROOM // 6))
        self.server.advance(660)
        self.assertRegex(why(), 'at the present rate it is full in [0-9]+ (minute|hour)')

    def test_killed_while_the_disk_is_full(self):
        self.session = self.server.create()['id']
        self.fill()
        accepted, _ = self.until_refused()
        self.server.kill()
        self.ballast.unlink()
        self.server.start()
        self.assertAllThere(accepted)

    def test_start_on_a_full_disk_says_so(self):
        self.server.term()
        self.fill()
        other = pathlib.Path(self.place, 'other')
        ended = run('serve', '--data', other, '--listen', '127.0.0.1:0', timeout=20)
        self.assertNotEqual(ended.returncode, 0)
        self.assertTrue(ended.stderr.strip())
        self.ballast.unlink()
        self.server.start()

    def test_import_and_export_on_a_full_disk(self):
        sessions = [self.server.create('deploy A within 1h ' + 'x' * 20_000)['id']
                    for _ in range(3)]
        self.server.term()
        file = pathlib.Path(self.place, 'sessions.jsonl')
        whole = run('export', '--data', self.server.directory)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        self.fill()
        with open(file, 'w', encoding='utf-8') as out:
            ended = subprocess.run([BINARY, 'export', '--data', self.server.directory], stdout=out,
                                   stderr=subprocess.PIPE, text=True, env=environment())
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn('No space left', ended.stderr)
        self.ballast.unlink()
        file.unlink()
        copy = pathlib.Path(self.place, 'copy')
        self.assertEqual(run('import', '-', '--data', copy, stdin='').returncode, 2)
        self.fill()
        full = run('import', '-', '--data', copy, stdin=whole.stdout)
        self.assertNotEqual(full.returncode, 0)
        self.assertTrue(full.stderr.strip())
        self.ballast.unlink()
        done = run('import', '-', '--data', copy, stdin=whole.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)
        for session in sessions:
            self.assertIn(session, done.stdout)
        self.assertEqual(run('verify', '--data', copy).returncode, 0)
        self.server.start()

    def test_first_configuration_on_a_full_disk(self):
        """Also if a part of it has been written, the reason is named and nothing of it is left."""
        self.server.term()
        place = pathlib.Path(self.place, 'new')
        place.mkdir()
        self.fill()
        for room in (0, 4096):
            os.truncate(self.ballast, self.ballast.stat().st_size - room)
            for words in (('config', 'init', str(place / 'd.toml')), ('init', str(place), '-y')):
                with self.subTest(words=words, room=room):
                    done = run(*words, env=environment(HOME=self.place))
                    self.assertEqual(done.returncode, 8, done)
                    self.assertIn('No space left on device', done.stderr)
                    self.assertEqual(list(place.iterdir()), [])

    def test_read_only_directory_is_refused(self):
        session = self.server.create('deploy A')['id']
        self.server.term()
        self.assertEqual(mount('-o', 'remount,ro', self.place).returncode, 0)
        ended = subprocess.run(
            [BINARY, 'serve', '--data', self.server.directory, '--listen', '127.0.0.1:0'],
            capture_output=True,
            text=True,
            timeout=20,
            env=environment(),
        )
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn('Read-only', ended.stderr)
        self.assertEqual(mount('-o', 'remount,rw', self.place).returncode, 0)
        self.server.start()
        self.assertEqual(len(self.server.open_calls(session)), 1)


class DiskOfAnIndex(Case):
    """Only the folder of the files of --index files is on the small disk."""

    def setUp(self):
        self.server = OnDisk('--index', 'files', start=False)
        self.addCleanup(self.server.clean)
        self.place = pathlib.Path(self.server.directory, 'storage')
        self.place.mkdir(parents=True, mode=0o700)
        mounted = mount('-t', 'tmpfs', '-o', f'size={ROOM}', 'none', str(self.place))
        self.assertEqual(mounted.returncode, 0, mounted)
        self.addCleanup(mount_ended, self.place)
        self.server.start()

    def index(self):
        (index,) = self.server.get('/api/doctor')['indexes']
        return index

    def test_store_continues_and_the_index_catches_up(self):
        ballast = self.place / 'ballast'
        fill(ballast)
        sessions = [self.server.create('deploy A')['id'] for _ in range(5)]
        calls = [self.server.open_calls(session)[0]['id'] for session in sessions]
        wait_for(lambda: self.index()['state'] == 'failed', what='the failure')
        self.assertIn('No space left', self.index()['why'])
        self.assertStatus(self.server.result(calls[0], 'live'), 200)
        wait_for(lambda: self.server.get('/readyz').status == 200, what='readiness')
        ballast.unlink()
        self.server.advance(31)
        files = [self.place / 'pending_tool' / f'{call}.json' for call in calls]
        wait_for(lambda: self.index()['state'] == 'current', what='a current index')
        wait_for(lambda: '"completed"' in files[0].read_text(), what='the settled call')
        self.assertTrue(all('"waiting"' in file.read_text() for file in files[1:]))


def mounts():
    place = tempfile.mkdtemp(prefix='dormouse-disk-')
    try:
        if mount('-t', 'tmpfs', '-o', 'size=1m', 'none', place).returncode != 0:
            return False
        subprocess.run(['umount', place], check=True)
        return True
    finally:
        os.rmdir(place)


def enter():
    """Enters a new user namespace, where mounting may be allowed."""
    if not os.environ.get(INSIDE) and shutil.which('unshare'):
        inside = ['unshare', '--user', '--map-root-user', '--mount', sys.executable, *sys.argv]
        if subprocess.run(inside[:4] + ['true'], capture_output=True).returncode == 0:
            os.execvpe(inside[0], inside, {**os.environ, INSIDE: '1'})
    print('no small file system: mounting a tmpfs is not allowed here')
    sys.exit(LEFT_OUT)


if __name__ == '__main__':
    if not mounts():
        enter()
    main()
