#!/usr/bin/env python3
"""The file and Redis indexes beside PostgreSQL, with two servers on one database. Each server
writes files of its own; one server writes Redis, and the other one continues when it is gone. At
the end nothing is missing and nothing is stale, whichever server stored it."""
import index_redis
from dormouse import main, wait_for
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

    def test_new_server_writes_everything(self):
        self.calls(6)
        c = self.indexed()
        wait_for(lambda: c.get('/readyz').status == 200, LATE_S, 'readiness')
        self.same(c)


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
