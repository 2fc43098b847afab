#!/usr/bin/env python3
"""The file and Redis indexes beside PostgreSQL, with two servers on one database. Each server
writes files of its own; one server writes Redis, and the other one continues when it is gone. At
the end nothing is missing and nothing is stale, whichever server stored it."""
import unittest

import index_redis
import postgres
from dormouse import Server, main, run, wait_for
from index_files import Files
from store_postgres import Database

LATE_S = 30
STATUSES = ('waiting', 'completed', 'failed', 'expired', 'cancelled')


class Pair(Database):
    """Two servers with the same indexes; requests go to both in turn."""
    index = None

    def setUp(self):
        super().setUp()
        self.a, self.b = self.indexed(), self.indexed()
        self.turn = 0

    def indexed(self):
        return self.server('--index', self.index)

    def next(self):
        self.turn += 1
        alive = [server for server in (self.a, self.b) if server.alive()]
        return alive[self.turn % len(alive)]

    def calls(self, count):
        """Makes waiting calls; settles two of three, each on another server than its own."""
        for number in range(count):
            session = self.next().create('deploy A within 1h')['id']
            call, = self.next().open_calls(session)
            if number % 3 == 0:
                self.assertEqual(self.next().result(call['id'], 'live').status, 200)
            elif number % 3 == 1:
                self.assertEqual(self.next().delete(f'/api/sessions/{session}').status, 204)

    def stored(self):
        """The status of each call, by its id, as the store has it."""
        server = self.next()
        out = {}
        for status in STATUSES:
            for call in server.items(f'/api/pending?status={status}'):
                out[call['id']] = call['status']
        return out

    def index_state(self, server):
        (index,) = server.get('/api/doctor')['indexes']
        return index['state']


class FilesOfTwo(Pair):
    index = 'files'

    def written(self, server):
        files = Files(server.directory)
        out = {}
        for path in files.calls.glob('pnd_*.json'):
            out[path.stem] = files.status(path.stem)
        return out

    def sessions(self, server):
        return sorted(path.stem for path in Files(server.directory).sessions.rglob('ses_*.json'))

    def same(self, *servers):
        expected = self.stored()
        sessions = sorted(one['id'] for one in self.next().items('/api/projects/default/sessions'))
        for server in servers:
            wait_for(lambda: self.written(server) == expected, LATE_S, 'the calls in files')
            wait_for(lambda: self.sessions(server) == sessions, LATE_S, 'the sessions in files')
            server.advance(2)
            wait_for(lambda: self.listed(server) == expected, LATE_S, 'index.json')

    def listed(self, server):
        by_status = Files(server.directory).index()['byStatus']
        return {call: status for status, calls in by_status.items() for call in calls}

    def test_each_server_writes_all_sessions(self):
        self.calls(9)
        self.same(self.a, self.b)

    def test_killed_server_catches_up_with_what_the_other_did(self):
        self.calls(6)
        self.same(self.a, self.b)
        for _ in range(3):
            self.a.kill()
            self.calls(6)
            self.a.start()
            wait_for(lambda: self.a.get('/readyz').status == 200, LATE_S, 'readiness')
            self.calls(3)
            self.same(self.a, self.b)

    def test_verify_makes_the_files_again(self):
        self.calls(6)
        self.same(self.a, self.b)
        self.a.term()
        files = Files(self.a.directory)
        path = next(files.calls.glob('pnd_*.json'))
        good = path.read_text()
        path.write_text('{"status":"completed"}')
        done = run('verify', '--store', self.url(), '--rebuild', '--data', self.a.directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(path.read_text(), good)
        self.calls(2)
        self.a.start()
        wait_for(lambda: self.a.get('/readyz').status == 200, LATE_S, 'readiness')
        self.same(self.a, self.b)
        self.assertIn(b'dormouse_index_rebuilds_total{index="files"} 0', self.a.get('/metrics').raw)

    def test_new_server_writes_everything(self):
        self.calls(6)
        c = self.indexed()
        wait_for(lambda: c.get('/readyz').status == 200, LATE_S, 'readiness')
        self.same(c)


class LostTail(unittest.TestCase):
    """A standby that lacks the newest results is promoted: documents of what was lost go."""

    def setUp(self):
        postgres.needed()
        index_redis.setUpModule()
        self.redis = index_redis.Redis()
        self.addCleanup(self.redis.clean)
        self.primary = postgres.Cluster()
        self.addCleanup(self.primary.end)
        self.standby = self.primary.standby()
        self.addCleanup(self.standby.end)
        self.follows, self.starts = self.server(), self.server()

    def server(self):
        hosts = f'127.0.0.1:{self.primary.port},127.0.0.1:{self.standby.port}'
        server = Server('--store', f'postgres://postgres@{hosts}/postgres?schema=indexed'
                        '&target_session_attrs=read-write', '--relaxed', '--index', 'files',
                        '--index', self.redis.url)
        self.addCleanup(server.clean)
        return server

    def lose_the_tail(self):
        replay = ('SELECT count(*) FROM pg_stat_replication WHERE replay_lsn = '
                  'pg_current_wal_lsn()')
        wait_for(lambda: self.primary.run(replay) == [['1']], what='the standby')
        self.standby.configure("primary_conninfo = ''", file='postgresql.auto.conf')
        state = 'SELECT count(*) FROM pg_stat_replication'
        wait_for(lambda: self.primary.run(state) == [['0']], what='the gap')

    def promote(self):
        self.primary.stop()
        self.standby.run('SELECT pg_promote()')

    def written(self, server):
        return {path.stem for path in Files(server.directory).sessions.rglob('ses_*.json')}

    def in_redis(self):
        names = self.redis.ask('KEYS', index_redis.PREFIX + 'by-session:*')
        return {name.rsplit(':', 1)[1] for name in names}

    def wait_until_written(self, expected, *servers):
        for server in servers:
            wait_for(lambda: self.written(server) == expected, LATE_S, 'the files')
        wait_for(lambda: self.in_redis() == expected, LATE_S, 'the keys')

    def test_documents_of_what_was_lost_are_removed(self):
        kept = self.follows.create('deploy A within 1h')['id']
        self.follows.open_calls(kept)
        self.lose_the_tail()
        lost = self.follows.create('deploy B within 1h')['id']
        self.follows.open_calls(lost)
        # The newest place of the indexes is one of a session that is kept.
        self.assertLess(self.follows.prompt(kept, 'deploy C within 1h', wait=0).status, 300)
        self.wait_until_written({kept, lost}, self.follows, self.starts)
        self.starts.term()
        self.promote()
        wait_for(lambda: self.follows.get(f'/api/sessions/{lost}').status == 404, LATE_S, 'its end')
        self.wait_until_written({kept}, self.follows)
        self.starts.start()
        self.wait_until_written({kept}, self.follows, self.starts)
        later = self.starts.create('deploy D within 1h')['id']
        self.wait_until_written({kept, later}, self.follows, self.starts)


class RedisOfTwo(Pair):
    def setUp(self):
        index_redis.setUpModule()
        self.redis = index_redis.Redis()
        self.addCleanup(self.redis.clean)
        self.index = self.redis.url
        super().setUp()

    def written(self):
        out = {}
        for status in STATUSES:
            for call in self.redis.members('by-status:' + status):
                self.assertNotIn(call, out)
                out[call] = status
        return out

    def sessions(self):
        names = self.redis.ask('KEYS', index_redis.PREFIX + 'by-session:*')
        return sorted(name.rsplit(':', 1)[1] for name in names)

    def same(self):
        expected = self.stored()
        def is_written():
            try:
                return self.written() == expected
            except AssertionError:  # a call changed its status meanwhile
                return False
        wait_for(is_written, LATE_S, 'the calls in Redis')
        sessions = sorted(one['id'] for one in self.next().items('/api/projects/default/sessions'))
        self.assertEqual(self.sessions(), sessions)
        waiting = sorted(call for call, status in expected.items() if status == 'waiting')
        self.assertEqual(sorted(self.redis.expirations()), waiting)

    def one_writes(self):
        """Returns the server that writes, and the other one."""
        def states():
            found = {self.index_state(server): server for server in (self.a, self.b)}
            return set(found) == {'current', 'standby'} and found
        found = wait_for(states, LATE_S, 'one that writes')
        return found['current'], found['standby']

    def test_one_server_writes_what_both_store(self):
        self.one_writes()
        self.calls(9)
        self.same()

    def test_other_server_continues_when_the_writer_is_killed(self):
        for _ in range(3):
            writer, other = self.one_writes()
            self.calls(4)
            writer.kill()
            self.calls(6)
            wait_for(lambda: self.index_state(other) == 'current', LATE_S, 'the other one')
            self.same()
            writer.start()
            self.calls(3)
            self.same()

    def test_writer_that_ends_gives_it_to_the_other(self):
        writer, other = self.one_writes()
        self.calls(4)
        self.assertEqual(writer.term(), 0)
        self.calls(6)
        wait_for(lambda: self.index_state(other) == 'current', LATE_S, 'the other one')
        self.same()

    def test_frozen_writer_spoils_nothing_when_it_resumes(self):
        writer, other = self.one_writes()
        self.calls(4)
        writer.process.send_signal(index_redis.signal.SIGSTOP)
        wait_for(lambda: len(other.get('/api/nodes')['items']) == 1, LATE_S, 'its removal')
        alone = self.a, self.b
        self.a = self.b = other
        self.calls(6)
        self.same()
        writer.process.send_signal(index_redis.signal.SIGCONT)
        self.a, self.b = alone
        self.one_writes()
        self.calls(3)
        self.same()

    def test_flushed_redis_is_made_again_by_the_one_that_writes(self):
        self.one_writes()
        self.calls(6)
        self.redis.ask('FLUSHALL')
        self.calls(1)
        self.same()


if __name__ == '__main__':
    main()
