#!/usr/bin/env python3
"""A copy of a PostgreSQL database holds on all servers that use it until a person releases it; a
promoted standby does not."""
import os
import subprocess

import postgres
from dormouse import Server, environment, main, run, wait_for
from store_postgres import Database


class Copies(Database):
    def setUp(self):
        super().setUp()
        self.original = self.server()
        self.waiting = self.original.create('deploy A')['id']
        self.call, = self.original.open_calls(self.waiting)

    def copy_database(self):
        """Returns the URL of the schema in a new database, as pg_dump and psql make it."""
        name = 'copy_' + os.urandom(6).hex()
        programs = postgres.programs()
        subprocess.run([programs / 'createdb', '--maintenance-db', self.database.url(), name],
                       check=True)
        dump = subprocess.run([programs / 'pg_dump', '-d', self.database.url(), '-n', self.schema],
                              check=True, capture_output=True)
        subprocess.run([programs / 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d',
                        self.database.url(database=name)], input=dump.stdout, check=True,
                       capture_output=True)
        return self.database.url(self.schema, database=name)

    def held(self, server):
        return server.get('/api/doctor')['held']

    def release(self, server):
        done = run('--server', f'http://127.0.0.1:{server.port}', 'release',
                   env=environment(DORMOUSE_TOKEN=server.token))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('released', done.stdout)

    def test_copy_holds_until_it_is_released(self):
        url = self.copy_database()
        copy, second = self.server(store=url), self.server(store=url)
        wait_for(lambda: copy.get('/readyz').status == 200, what='readiness')
        self.assertTrue(copy.get('/readyz')['held'])
        self.assertIn('copy that holds', copy.tail())
        self.assertEqual(copy.result(self.call['id'], 'live').status, 200)
        fresh = second.create('deploy C', wait=0)['id']
        for server in (copy, second):
            server.advance(7200)
            self.assertTrue(self.held(server))
        self.assertEqual([turn['status'] for turn in copy.turns(self.waiting)], ['running'])
        copy.restart()
        self.assertTrue(self.held(copy), 'also after a restart')
        self.release(second)
        wait_for(lambda: not self.held(copy), what='the release on the other server')
        copy.at_rest(self.waiting)
        self.assertEqual(copy.said(self.waiting), 'deploy A: live')
        wait_for(lambda: copy.open_calls(fresh), what='the call of the new session')
        copy.restart()
        self.assertFalse(self.held(copy), 'also after a restart')
        self.assertFalse(self.held(self.original))
        self.assertEqual(len(self.original.open_calls(self.waiting)), 1)


class Standby(Database):
    def test_promoted_standby_does_not_hold(self):
        primary = postgres.Cluster()
        self.addCleanup(primary.end)
        first = self.server(store=primary.url(self.schema))
        session = first.create('deploy A')['id']
        standby = primary.standby()
        self.addCleanup(standby.end)
        wait_for(lambda: primary.run('SELECT count(*) FROM pg_stat_replication WHERE replay_lsn = '
                                     'pg_current_wal_lsn()') == [['1']], what='the standby')
        first.kill()
        primary.stop()
        standby.run('SELECT pg_promote()')
        second = Server('--store', standby.url(self.schema), '--relaxed')
        self.addCleanup(second.clean)
        self.assertFalse(second.get('/api/doctor')['held'])
        call, = second.open_calls(session)
        self.assertEqual(second.result(call['id'], 'live').status, 200)
        second.at_rest(session)
        second.finish()


if __name__ == '__main__':
    main()
