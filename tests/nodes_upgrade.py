#!/usr/bin/env python3
"""Servers of two releases beside each other on one database, and the end of the upgrade. The other
releases are rows that the tests write."""
import threading

from dormouse import main, run, wait_for
from store_postgres import Database

LATE_S = 20


class OlderServer:
    """A server of a release before formats were counted: it registers as that one does, and counts
    its heartbeats."""

    def __init__(self, test, name):
        self.test, self.name = test, name
        test.sql(f"SELECT register_1(1, '\\x00', '{name}', '0.0.9')")
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.beat)
        self.thread.start()
        test.addCleanup(self.end)

    def beat(self):
        while not self.ended.wait(0.3):
            self.test.sql(f"UPDATE nodes SET beat = beat + 1 WHERE name = '{self.name}'")

    def end(self):
        if not self.ended.is_set():
            self.ended.set()
            self.thread.join()
            self.test.sql(f"DELETE FROM nodes WHERE name = '{self.name}'")


class Upgrade(Database):
    def setUp(self):
        super().setUp()
        self.a = self.server()
        self.known = self.stored('format')

    def stored(self, name):
        ((value,),) = self.sql(f"SELECT value FROM meta WHERE name = '{name}'")
        return int(value)

    def set(self, name, value):
        self.sql(f"UPDATE meta SET value = {value} WHERE name = '{name}'")

    def upgrade(self, *arguments):
        return run('upgrade', '--store', self.url(), *arguments)

    def concern(self):
        found = [one for one in self.a.get('/api/doctor')['concerns'] if one['about'] == 'upgrade']
        return found[0] if found else None

    def test_new_database_waits_for_nothing(self):
        self.assertEqual(self.stored('write_version'), self.known)
        done = self.upgrade()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('finished: nothing waits', done.stdout)
        self.assertIn(f'knows up to format {self.known}', done.stdout)
        wait_for(lambda: self.a.get('/api/nodes')['items'][0]['format'] == self.known, LATE_S,
                 'the first heartbeat')
        self.assertEqual(self.a.get('/api/doctor')['storeFormat'],
                         {'written': self.known, 'newest': self.known, 'known': self.known})
        self.assertIsNone(self.concern())

    def test_upgrade_is_finished_when_no_older_server_is_left(self):
        self.set('write_version', 8)
        older = OlderServer(self, 'web9')
        concern = wait_for(lambda: (found := self.concern()) and 'web9' in found['next'] and found,
                           LATE_S, 'the concern')
        self.assertIn('web9 (0.0.9)', concern['next'])
        self.assertIn('dormouse upgrade --finish', concern['next'])
        formats = {node['name']: node['format'] for node in self.a.get('/api/nodes')['items']}
        self.assertEqual(formats.pop('web9'), 8)
        self.assertEqual(list(formats.values()), [self.known])
        refused = self.upgrade('--finish')
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn('web9 (release 0.0.9, format 8)', refused.stderr)
        self.assertIn('Start a newer release in place of each', refused.stderr)
        self.assertEqual(self.stored('write_version'), 8, 'nothing was changed')
        self.assertIn('replace the servers', self.upgrade().stdout)
        older.end()
        finished = self.upgrade('--finish')
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertEqual(self.stored('write_version'), self.known)
        wait_for(lambda: self.concern() is None, LATE_S, 'the end of the concern')
        session = self.a.create('deploy A')['id']
        call, = self.a.open_calls(session)
        self.assertEqual(self.a.result(call['id'], 'live').status, 200)

    def test_redaction_waits_for_the_end_of_the_upgrade(self):
        session = self.a.create('the key is hunter2')['id']
        ask = {'messageID': self.a.messages(session)[0]['id']}
        path = f'/api/sessions/{session}/redactions'
        self.set('write_version', 8)
        wait_for(self.concern, LATE_S, 'the concern')
        refused = self.a.post(path, ask)
        self.assertEqual((refused.status, refused['code']), (409, 'wrong_state'))
        self.assertIn('dormouse upgrade --finish', refused['detail'])
        self.assertEqual(self.a.post(path, {**ask, 'dryRun': True}).status, 200)
        self.assertEqual(self.upgrade('--finish').returncode, 0)
        wait_for(lambda: self.a.post(path, ask).status == 200, LATE_S, 'the redaction')

    def test_older_release_is_refused_afterwards(self):
        self.set('write_version', 8)
        self.server().finish()  # the start of a server finishes nothing
        self.assertEqual(self.stored('write_version'), 8)
        self.assertEqual(self.upgrade('--finish').returncode, 0)
        with self.assertRaisesRegex(Exception, 'a newer format is written'):
            self.sql("SELECT register_1(1, '\\x00', 'web9', '0.0.9')")

    def test_this_release_beside_a_newer_one(self):
        self.set('format', self.known + 1)
        b = self.server()  # it may still start
        session = b.create('deploy A')['id']
        b.finish()
        self.assertEqual(len(self.a.open_calls(session)), 1)
        concern = wait_for(self.concern, LATE_S, 'the concern')
        self.assertIn('this server', concern['next'])
        self.assertIn('by a newer release', self.upgrade().stdout)
        self.assertEqual(run('verify', '--store', self.url()).returncode, 0)
        self.set('write_version', self.known + 1)
        output = self.refusal(self.url(), '--relaxed')
        self.assertIn(f'is written in format {self.known + 1}', output)
        self.assertIn('use the release of the servers that work on it', output)
        for refused in (self.upgrade(), self.upgrade('--finish')):
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(f'is written in format {self.known + 1}', refused.stderr)
        self.assertEqual(self.stored('write_version'), self.known + 1)


class WrongPlace(Database):
    def test_only_a_database_is_upgraded_so(self):
        done = run('upgrade', '--finish')
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn('--store', done.stderr)
        done = run('upgrade', '--finish', '--store', 'sqlite')
        self.assertIn('a data directory is upgraded at the start of its server', done.stderr)
        done = run('upgrade', '--store', self.url())
        self.assertIn('has no store', done.stderr)
        self.assertFalse(self.exists())


if __name__ == '__main__':
    main()
