#!/usr/bin/env python3
"""Data directories that earlier releases wrote (tools/record_directory.py): this release answers as
they did, continues every session, and keeps what was stored."""
import contextlib
import json
import pathlib
import shutil
import sqlite3
import tarfile
import tempfile
import unittest

import postgres
from dormouse import Client, Server, environment, main, run
from stored import STORE

RECORDED = pathlib.Path(__file__).resolve().parent / 'stored_directories'
BESIDE = ('token', 'callback.key')


def missing(recorded, now, at=''):
    """Where `now` lacks something of `recorded`: objects may have more members."""
    if isinstance(recorded, dict) and isinstance(now, dict):
        return [lack for name, value in recorded.items()
                for lack in missing(value, now.get(name), f'{at}.{name}')]
    if isinstance(recorded, list) and isinstance(now, list) and len(recorded) == len(now):
        return [lack for i, (one, other) in enumerate(zip(recorded, now))
                for lack in missing(one, other, f'{at}[{i}]')]
    return [] if recorded == now else [f'{at}: {recorded!r} is now {now!r}']


@unittest.skipIf(STORE != 'sqlite', 'the directories hold SQLite files')
class Directory:
    """What is the same for each."""

    folder = None

    def setUp(self):
        self.recorded = json.loads((RECORDED / self.folder / 'answers.json').read_text())
        self.made = self.recorded['sessions']
        self.data = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-stored-'))
        self.addCleanup(shutil.rmtree, self.data, True)
        self.data.chmod(0o700)
        store = self.load((RECORDED / self.folder / 'dormouse.sql').read_text())
        for name in BESIDE:
            (self.data / name).write_bytes((RECORDED / self.folder / name).read_bytes())
            (self.data / name).chmod(0o600)
        key = RECORDED / self.folder / 'key'
        self.key = ('--key-env', 'KEY_OF_DATA') if key.exists() else ()
        self.env = environment(KEY_OF_DATA=key.read_text()) if self.key else environment()
        self.server = Server(*store, *self.key, directory=self.data, env=self.env, start=False)
        self.addCleanup(self.server.clean)
        self.server.ahead = round(self.recorded['now'] - self.server.time() + 60)
        self.assertGreater(self.server.ahead, 0, 'the clock has reached the recorded time')

    def load(self, sql):
        """Makes the recorded database; returns what a server needs to use it."""
        with contextlib.closing(sqlite3.connect(self.data / 'dormouse.db')) as file:
            file.executescript(sql)
        return ()

    def call_of(self, name):
        return self.server.open_calls(self.made[name])[0]

    def test_answers_are_those_of_the_earlier_release(self):
        self.server.start()
        for path, answer in self.recorded['answers'].items():
            now = self.server.get(path)
            self.assertEqual(now.status, 200, path)
            self.assertEqual(missing(answer, now.json, path), [])
        reader = Client(self.server.port, self.recorded['reader'])
        self.addCleanup(reader.close)
        self.assertEqual(reader.get('/api/projects/default/sessions').status, 200)
        self.server.finish()

    def test_every_session_continues(self):
        self.server.start()
        self.assertEqual(self.server.result(self.call_of('sleeps')['id'], 'B is live').status, 200)
        self.server.decide(self.call_of('approval'), True)
        self.assertEqual(
            self.server.post('/async-tool/result', {'pendingID': self.call_of('question')['id'],
                                                    'result': {'output': 'red'}}).status, 200)
        for name in ('sleeps', 'approval', 'question'):
            self.assertEqual(self.server.at_rest(self.made[name])['activity']['type'], 'idle', name)
        self.assertIn('B is live', self.server.last_text(self.made['sleeps']))
        self.server.advance(31 * 86_400)
        self.assertEqual(self.server.at_rest(self.made['timer'])['activity']['type'], 'idle')
        for name in ('done', 'large', 'failed', 'cancelled', 'named', 'writer', 'fork'):
            self.assertEqual(self.server.prompt(self.made[name], 'hello').status, 200, name)
        self.server.finish()

    def test_result_that_was_stored_is_whole(self):
        self.server.start()
        shown = json.dumps(self.server.messages(self.made['large']))
        self.assertIn(self.recorded['large'], shown)


class SqliteDirectory(Directory):
    """What commands do with the file of an earlier release."""

    def test_verify_changes_nothing_and_later_finds_nothing(self):
        file = self.data / 'dormouse.db'
        before = file.read_bytes()
        self.assertIn('older release', run('verify', '--data', self.data, *self.key,
                                            env=self.env).stderr)
        self.assertEqual(file.read_bytes(), before)
        self.server.start()
        self.server.term()
        self.server.verify()

    def test_backup_and_export_of_it_are_whole(self):
        self.server.start()
        self.server.term()
        backup, copy = self.data / 'backup', self.data / 'copy'
        for words in (('backup', backup, '--data', self.data), ('restore', backup, '--data', copy),
                      ('verify', '--data', copy)):
            done = run(*words)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for project in ('default', 'other'):
            done = run('export', '--data', self.data, '--project', project, *self.key,
                       env=self.env)
            self.assertEqual(done.returncode, 0, done.stderr)
            for path, answer in self.recorded['answers'].items():
                if path.startswith(f'/api/projects/{project}/'):
                    for session in answer['items']:
                        self.assertIn(session['id'], done.stdout)


class Format20(SqliteDirectory, unittest.TestCase):
    folder = 'format-20'


class Format21(SqliteDirectory, unittest.TestCase):
    folder = 'format-21'


class Format22(SqliteDirectory, unittest.TestCase):
    folder = 'format-22'


class Format23(SqliteDirectory, unittest.TestCase):
    folder = 'format-23'


class Format23Encrypted(SqliteDirectory, unittest.TestCase):
    folder = 'format-23-encrypted'

    def test_key_is_needed(self):
        self.server.start()
        self.server.term()
        done = run('export', '--data', self.data)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('key', done.stderr)


class Postgres11(Directory, unittest.TestCase):
    """A dump by pg_dump of the schema that an earlier release wrote, in another cluster."""

    folder = 'postgres-11'

    def load(self, sql):
        cluster = postgres.cluster()
        cluster.run('DROP SCHEMA IF EXISTS recorded CASCADE', sql)
        return '--store', cluster.url(schema='recorded'), '--relaxed'

    def test_every_session_continues(self):
        """A copy in another database starts nothing until it is released."""
        self.server.start()
        self.assertTrue(self.server.get('/api/doctor')['held'])
        released = run('--server', f'http://127.0.0.1:{self.server.port}', 'release',
                       env=environment(DORMOUSE_TOKEN=self.server.token))
        self.assertEqual(released.returncode, 0, released.stderr)
        self.server.term()
        super().test_every_session_continues()

    def test_start_upgrades_the_tables(self):
        self.server.start()
        self.server.term()
        [row] = self.server.select("SELECT value FROM meta WHERE name = 'format'")
        self.assertGreater(row['value'], 11)
        self.server.verify()


@unittest.skipIf(STORE != 'sqlite', 'the backup holds a SQLite file')
class Files(unittest.TestCase):
    """An archive, an export and a backup of the release that wrote format 23."""

    def setUp(self):
        self.files = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-stored-'))
        self.addCleanup(shutil.rmtree, self.files, True)
        shutil.copytree(RECORDED / 'files-23', self.files, dirs_exist_ok=True)
        self.recorded = json.loads((self.files / 'files.json').read_text())
        self.data = self.files / 'data'

    def done(self, *words):
        done = run(*words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def has(self, *sessions):
        """A server on the data has what was recorded of them."""
        server = Server(directory=self.data)
        self.addCleanup(server.clean)
        for one in sessions:
            events = self.recorded['events'][self.recorded[one]]
            now = server.events(self.recorded[one])[:len(events)]
            self.assertEqual(missing(events, now), [], one)
        server.term()
        server.verify()

    def test_archive_is_read_verified_and_imported(self):
        place = ('--archive', self.files / 'archive')
        self.assertIn('1 session, 0 findings', self.done('verify', *place))
        self.assertIn('what was ended', self.done('sessions', *place))
        self.assertIn('hello', self.done('show', self.recorded['ended'], *place))
        (self.files / 'one.jsonl').write_text(self.done('export', *place))
        self.done('import', self.files / 'one.jsonl', '--data', self.data)
        self.has('ended')

    def test_export_is_imported(self):
        self.done('import', self.files / 'export.jsonl', '--data', self.data)
        self.has('ended', 'sleeps')

    def test_backup_is_verified_and_restored(self):
        with tarfile.open(self.files / 'backup.tar.gz') as packed:
            packed.extractall(self.files)
        self.done('verify', '--backup', self.files / 'backup')
        self.done('restore', self.files / 'backup', '--data', self.data)
        self.has('ended', 'sleeps')


if __name__ == '__main__':
    main()
