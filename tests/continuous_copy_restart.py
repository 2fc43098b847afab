#!/usr/bin/env python3
"""[backup]: a server that starts continues the copy of the one that stopped, whatever wrote the
database in between; `dormouse backup --now`."""
import json
import os
import pathlib
import re
import shutil
import sqlite3

from continuous_copy import Copying
from dormouse import main, run


class Continued(Copying):
    """A server that starts continues the generation of the one that stopped, by comparing every
    page with what the copy has."""

    def begun(self, server):
        """How many whole copies this process began."""
        text = server.get('/metrics').raw.decode()
        return int(float(re.search(r'^dormouse_copy_bases_total (\S+)$', text, re.M).group(1)))

    def stopped(self):
        """A server that has stopped, and a session of it."""
        server = self.serve()
        session = server.create('deploy ' + os.urandom(300_000).hex())['id']
        self.copied()
        self.assertEqual(server.term(), 0)
        return server, session

    def database(self):
        return pathlib.Path(self.server.directory) / 'dormouse.db'

    def run_sql(self, *statements):
        connection = sqlite3.connect(self.database(), isolation_level=None)
        for statement in statements:
            connection.execute(statement)
        connection.close()

    def same_as_restored(self, server):
        """The restored database has the pages that the server's has when it has stopped."""
        self.assertEqual(server.term(), 0)
        self.restore()
        restored = self.folder / 'restored' / 'dormouse.db'
        tables = []
        for file in (self.database(), restored):
            connection = sqlite3.connect(file)
            tables.append('\n'.join(connection.iterdump()))
            connection.close()
        self.assertEqual(*tables)

    def test_server_that_stopped_continues_its_generation(self):
        server, first = self.stopped()
        known = set(self.pieces())
        server.start()
        second = server.create('deploy B')['id']
        self.copied()
        self.assertEqual((len(self.generations()), self.begun(server)), (1, 0))
        fresh = sum(piece.stat().st_size for piece in set(self.pieces()) - known)
        self.assertLess(fresh, 300_000, 'not the whole database')
        self.same_as_restored(server)
        copy = self.restored()
        for session in first, second:
            self.assertEqual(copy.get(f'/api/sessions/{session}').status, 200)

    def test_pages_that_another_program_wrote_are_copied(self):
        server, _ = self.stopped()
        self.run_sql("UPDATE sessions SET title = 'written by another program'",
                     'CREATE TABLE theirs(x)', 'INSERT INTO theirs VALUES(randomblob(100000))')
        self.run_sql('DROP TABLE theirs', 'PRAGMA wal_checkpoint(TRUNCATE)')
        server.start()
        self.copied()
        self.assertEqual((len(self.generations()), self.begun(server)), (1, 0))
        self.same_as_restored(server)

    def test_older_file_that_was_put_back_is_copied(self):
        server, first = self.stopped()
        older = self.database().read_bytes()
        server.start()
        second = server.create('deploy B ' + os.urandom(100_000).hex())['id']
        self.copied()
        self.assertEqual(server.term(), 0)
        self.database().write_bytes(older)
        server.start()
        self.copied()
        self.assertEqual(len(self.generations()), 1)
        self.same_as_restored(server)
        copy = self.restored()
        self.assertEqual(copy.get(f'/api/sessions/{first}').status, 200)
        self.assertEqual(copy.get(f'/api/sessions/{second}').status, 404)

    def test_after_a_crash_a_generation_begins(self):
        server, _ = self.stopped()
        server.start()
        self.copied()
        server.restart(down=60)  # killed
        self.copied()
        self.assertEqual((len(self.generations()), self.begun(server)), (2, 1))
        self.same_as_restored(server)

    def test_with_another_page_size_a_generation_begins(self):
        server, _ = self.stopped()
        self.run_sql('PRAGMA journal_mode = DELETE', 'PRAGMA page_size = 8192', 'VACUUM')
        server.start()
        self.copied()
        self.assertEqual((len(self.generations()), self.begun(server)), (2, 1))
        self.same_as_restored(server)

    def test_copy_that_lost_its_end_is_not_continued(self):
        server, _ = self.stopped()
        for number, lose in enumerate((
            lambda: self.pieces()[-1].unlink(),
            lambda: (self.pieces()[0].parent / 'newest.json').unlink(),
            lambda: self.pieces()[-1].write_bytes(b'x'),
            lambda: (pathlib.Path(self.server.directory) / 'copy.pages').write_bytes(b'damaged'),
            lambda: shutil.rmtree(self.pieces()[0].parent),
        )):
            lose()
            server.start()
            self.copied()
            self.assertEqual((len(self.generations()), self.begun(server)), (number + 2, 1))
            self.assertEqual(server.term(), 0)
        server.start()
        self.copied()
        self.assertEqual(self.begun(server), 0)
        self.same_as_restored(server)

    def test_directory_that_was_copied_does_not_continue_too(self):
        server, _ = self.stopped()
        other = self.folder / 'other'
        shutil.copytree(server.directory, other)
        server.start()
        self.copied()
        self.assertEqual(self.begun(server), 0)
        second = self.serve(directory=other, start=False)
        self.assertEqual(server.term(), 0)
        second.start()
        self.copied(second)
        self.assertEqual((len(self.generations()), self.begun(second)), (2, 1))


class Now(Copying):
    def backup(self, *flags):
        return run('--server', f'http://127.0.0.1:{self.server.port}', 'backup', '--now', *flags,
                   env={'DORMOUSE_TOKEN': self.server.token})

    def slow(self):
        """A server that copies by itself at its start and its end only."""
        self.serve()
        config = self.folder / 'dormouse.toml'
        self.server.term()
        config.write_text(config.read_text().replace('100ms', '1h'))
        self.server.start()

    def test_command_returns_when_the_copy_has_everything(self):
        self.slow()
        for _ in range(3):
            session = self.server.create('deploy A')['id']
            done = self.backup()
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('it has everything that was acknowledged before', done.stdout)
        done = self.backup('--json')
        self.assertGreater(json.loads(done.stdout)['copiedAt'], 0)
        self.server.kill()
        self.restore()
        self.assertEqual(self.restored().get(f'/api/sessions/{session}').status, 200)

    def test_failure_says_why_and_the_next_one_has_everything(self):
        self.slow()
        self.assertEqual(self.backup().returncode, 0)
        owner = pathlib.Path(self.to) / 'owner.json'
        good = owner.read_bytes()
        owner.write_text('{}')
        session = self.server.create('deploy A')['id']
        done = self.backup()
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn('owner.json', done.stderr)
        owner.write_bytes(good)
        later = self.server.create('deploy B')['id']
        done = self.backup()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.server.kill()
        self.restore()
        copy = self.restored()
        for one in session, later:
            self.assertEqual(copy.get(f'/api/sessions/{one}').status, 200)

    def test_server_without_a_copy_says_so(self):
        self.server.start()
        done = self.backup()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('configure [backup]', done.stderr)
        for wrong in (['backup'], ['backup', '--now', '/tmp/x'], ['backup', '--now', '--key', 'k']):
            self.assertEqual(run(*wrong).returncode, 2, wrong)


if __name__ == '__main__':
    main()
