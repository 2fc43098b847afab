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
        self.assertEqual(copy.last_text(self.waiting), 'deploy A: live')
        wait_for(lambda: copy.open_calls(fresh), what='the call of the new session')
        copy.restart()
        self.assertFalse(self.held(copy), 'also after a restart')
        self.assertFalse(self.held(self.original))
        self.assertEqual(len(self.original.open_calls(self.waiting)), 1)


    def test_sessions_of_gone_servers_are_named(self):
        session = self.original.create('sleepy 600s', wait=0)['id']
        wait_for(lambda: self.driven() == [session], what='the session at work')
        copy = self.server(store=self.copy_database())
        named = {'count': 1, 'sessions': [session]}
        wait_for(lambda: copy.get('/api/doctor')['ofGoneServers'] == named, 20,
                 'a session of a server that is gone')
        done = run('--server', f'http://127.0.0.1:{copy.port}', 'doctor',
                   env=environment(DORMOUSE_TOKEN=copy.token))
        self.assertIn('1 session at work on servers that are gone; they continue after '
                      f'dormouse release: {session}', done.stdout)
        self.release(copy)
        wait_for(lambda: copy.get('/api/doctor')['ofGoneServers']['count'] == 0, 20,
                 'the take-over')
        self.assertRegex(copy.get('/metrics').raw.decode(), '(?m)^dormouse_takeovers_total [1-9]')
        self.assertEqual(self.original.get('/api/doctor')['ofGoneServers'],
                         {'count': 0, 'sessions': []})

    def driven(self):
        return ['ses_' + row[0] for row in self.database.run(
            'SELECT id FROM sessions WHERE driver IS NOT NULL', schema=self.schema)]


class DoctorOfDatabase(Database):
    """`doctor` says what the database guarantees."""

    def setUp(self):
        super().setUp()
        self.primary = postgres.Cluster()
        self.addCleanup(self.primary.end)

    def doctor(self):
        done = run('--server', f'http://127.0.0.1:{self.one.port}', 'doctor',
                   env=environment(DORMOUSE_TOKEN=self.one.token))
        return done.stdout

    def database_of(self):
        return self.one.get('/api/doctor')['database']

    def test_standbys_and_guarantee_follow_the_settings(self):
        self.one = self.server(store=self.primary.url(self.schema))
        self.assertIn('because fsync or synchronous_commit is off', self.doctor())
        self.primary.configure('fsync = on')
        wait_for(lambda: 'without a standby they are lost' in self.doctor(), what='the setting')
        self.assertRegex(self.doctor(), r'database  PostgreSQL \d[^,]*, primary; no standby\n')
        standby = self.primary.standby()
        self.addCleanup(standby.end)
        wait_for(lambda: 'commits do not wait for it' in self.doctor(), what='the standby')
        self.primary.configure("synchronous_standby_names = '*'")
        wait_for(lambda: 'synchronous standby loses no acknowledged result' in self.doctor(),
                 what='the commits')
        self.assertIn(': sync, streaming, ', self.doctor())
        standby.stop()
        wait_for(lambda: 'than are connected' in self.doctor(), what='its end')
        found = self.one.get('/api/doctor')
        self.assertEqual(found['database']['standbys'], [])
        self.assertIn('database', [one['about'] for one in found['concerns']])
        self.primary.configure("synchronous_standby_names = ''")
        wait_for(lambda: 'than are connected' not in self.doctor(), what='the setting')

    def test_role_without_the_right_gets_its_name(self):
        standby = self.primary.standby()
        self.addCleanup(standby.end)
        self.primary.run('CREATE ROLE plain LOGIN', 'GRANT CREATE ON DATABASE postgres TO plain')
        self.one = self.server(store=self.primary.url(self.schema, user='plain'))
        wait_for(lambda: self.database_of()['standbyCount'] == 1, what='the standby')
        self.assertEqual(self.database_of()['standbys'], [])
        self.assertIn('GRANT pg_read_all_stats', self.database_of()['standbysHidden'])
        self.assertIn('standbys are not shown: ', self.doctor())
        self.primary.run('GRANT pg_read_all_stats TO plain')
        wait_for(lambda: len(self.database_of()['standbys']) == 1, what='the right')
        self.assertIsNone(self.database_of()['standbysHidden'])


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
