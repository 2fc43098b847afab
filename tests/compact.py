#!/usr/bin/env python3
"""`dormouse compact` gives free space of the database back: the first time without a server, then
beside one that works; a kill at any moment leaves a whole database."""
import contextlib
import json
import pathlib
import sqlite3
import subprocess
import threading
import time

from dormouse import BINARY, Case, environment, main, run, wait_for


# Of requests that begin a session while the file is compacted. A step takes some 10 ms; a file
# that is rewritten at once, or copied under a lock, takes longer the larger it is. The longest of
# many requests is that of a disk and processors that others use, too.
PAUSE_LIMIT_S = 2
LONGEST_PAUSE_S = 10


class Compact(Case):
    arguments = ('--store', 'sqlite')

    def setUp(self):
        super().setUp()
        self.file = pathlib.Path(self.server.directory) / 'dormouse.db'

    def compact(self, status=0):
        done = run('compact', '--data', self.server.directory, '--json')
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout) if status == 0 else done.stderr

    def grow_and_delete(self, count=12):
        """Makes free pages; returns a session that stays."""
        stays = self.server.create('deploy A within 1h')['id']
        gone = [self.server.create('hello ' + 'x' * 400_000)['id'] for _ in range(count)]
        for session in gone:
            self.server.at_rest(session)
            self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        return stays

    def kill_when(self, is_time):
        """Kills `compact` at that moment, unless it has ended before."""
        process = subprocess.Popen([BINARY, 'compact', '--data', self.server.directory],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=environment())
        wait_for(lambda: process.poll() is not None or is_time(), what='the moment')
        process.kill()
        process.wait()

    def make_older(self):
        """The file becomes one of a release whose files gave no space back."""
        self.server.term()
        with contextlib.closing(sqlite3.connect(self.file, isolation_level=None)) as file:
            file.execute('PRAGMA auto_vacuum=NONE')
            file.execute('VACUUM')
        self.server.start()


class ByHand(Compact):
    def test_older_file_needs_the_server_stopped_once(self):
        self.make_older()
        stays = self.grow_and_delete()
        self.assertIn('rewrites the whole file, without a server', self.compact(status=4))
        events = self.server.events(stays)
        self.server.term()
        report = self.compact()
        self.assertTrue(report['rewritten'])
        self.assertLess(report['bytesAfter'], report['bytesBefore'] / 4)
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)
        self.server.verify()
        self.server.start()
        self.assertEqual(self.server.events(stays), events)

    def test_beside_a_server_that_works(self):
        stays = self.grow_and_delete(24)
        before = self.file.stat().st_size
        reports = []
        working = threading.Thread(target=lambda: reports.append(self.compact()))
        working.start()
        pauses = []
        while working.is_alive():
            began = time.monotonic()
            self.server.create('hello')
            pauses.append(time.monotonic() - began)
        working.join()
        (report,) = reports
        self.assertLess(sorted(pauses)[len(pauses) * 9 // 10], PAUSE_LIMIT_S)
        self.assertLess(max(pauses), LONGEST_PAUSE_S)
        self.assertFalse(report['rewritten'])
        self.server.term()  # the log becomes part of the file
        self.assertLess(self.file.stat().st_size, before / 2)
        self.server.verify()
        self.server.start()
        self.assertEqual(len(self.server.open_calls(stays)), 1)

    def test_kill_at_any_moment_leaves_a_whole_database(self):
        stays = self.grow_and_delete()
        events = self.server.events(stays)
        self.server.term()
        new = self.file.with_suffix('.db.compact')
        for written in (-1, 0, 4096, 100_000):
            self.kill_when(lambda size=written: size < 0 or
                           (new.exists() and new.stat().st_size >= size))
            self.server.verify()
        self.compact()
        self.server.verify()
        left = [file.name for file in self.file.parent.glob('*.compact')]
        self.assertEqual(left, [])
        self.server.start()
        self.assertEqual(self.server.events(stays), events)

    def test_kill_beside_a_server(self):
        stays = self.grow_and_delete()
        for less in (1, 500_000, 2_000_000):
            size = self.file.stat().st_size
            self.kill_when(lambda to=size - less: self.file.stat().st_size <= to)
            self.assertStatus(self.server.prompt(stays, 'more', when='queue', wait=0), 202)
        wait_for(lambda: self.server.get('/readyz').status == 200, what='readiness')
        self.server.term()
        self.server.verify()
        self.server.start()


class Refused(Compact):
    def test_no_store_and_databases(self):
        done = run('compact', '--data', str(self.file.parent / 'none'))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('dormouse.db not found', done.stderr)
        done = run('compact', '--store', 'postgres://dormouse@db.example.org/agents')
        self.assertEqual(done.returncode, 0)
        self.assertIn('autovacuum', done.stdout)


if __name__ == '__main__':
    main()
