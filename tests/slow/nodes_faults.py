#!/usr/bin/env python3
"""What fails under three servers with one database: each request goes to a server drawn at random,
while servers, database and network fail. Nothing that was acknowledged is lost, each call has one
outcome (tests/write_once.py), and work continues within seconds.

By default the kinds that are quick. DORMOUSE_FAULTS=N runs all kinds, N percent as often as COUNTS
says: 100 is what a release needs, 10000 a hundred times that."""
import contextlib
import itertools
import os
import pathlib
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import postgres  # noqa: E402
from dormouse import Server, leave_out, main, wait_for, wait_for_fault  # noqa: E402
from nodes_load import AnyOf, Run, at_rest, continues, metric  # noqa: E402
from postgres_proxy import Proxy  # noqa: E402
from wrong_clock import clock_set_to  # noqa: E402

FAULTS = os.environ.get('DORMOUSE_FAULTS')
# How often each kind is run for a release.
COUNTS = {
    'server killed': 30,
    'server frozen for 8 s': 10,
    'server frozen in the middle of a batch': 3,
    'rolling restart': 3,
    'clocks ten minutes apart': 3,
    'connections cut': 100,  # each time all of them
    'answers to appends lost': 200,
    'server without database': 5,
    'half-open connections': 5,
    'notifications lost': 5,
    'database 200 ms away': 5,
    'database crashed': 10,
    'database frozen for 6 s': 3,
    'connections exhausted': 3,
    'disk full': 3,
    'synchronous standby promoted': 3,
    'asynchronous standby promoted': 3,
}
# What is promised. Ten times what a job takes just then is added (`slack`), some 0.3 s on a machine
# that does nothing else: what must happen after a fault is a few jobs one after the other.
REPLACED_S = 10  # a lost server's sessions are done elsewhere, with the tool of 2 s that it ran
BLOCKED_S = 7  # a server that is frozen in the middle of a batch holds up the others
STOPPED_S = 10  # a server that gets SIGTERM ends ...
HANDED_OVER_S = 1  # ... and then its sessions are done elsewhere
BACK_S = 5  # after the database or the network is back
RESTART_LIMIT_S = 30


def times(kind, quick=1):
    """How often a kind is run here."""
    return max(1, COUNTS[kind] * int(FAULTS) // 100) if FAULTS else quick


def long(test):
    """Marks a kind that does not run by default."""
    return unittest.skipUnless(FAULTS, 'runs with DORMOUSE_FAULTS=N')(test)


class Faults(unittest.TestCase):
    """Three servers, each with a proxy before the database."""

    options = ()  # of the database; none: that of the file's tests

    def setUp(self):
        postgres.needed()
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.database = self.make_database()
        self.schema = 't_' + os.urandom(6).hex()
        self.proxies = [Proxy(self.database.port) for _ in range(3)]
        for proxy in self.proxies:
            self.stack.callback(proxy.close)
        self.servers = [self.start_server(proxy) for proxy in self.proxies]
        self.traffic = Run(self.servers)
        self.figures = []

    def make_database(self):
        return postgres.cluster()

    def start_server(self, proxy=None, env=None):
        url = self.database.url(self.schema) + '&sslmode=disable'
        server = Server('--store', proxy.url(url) if proxy else url, '--relaxed', env=env)
        self.stack.callback(server.clean)
        return server

    def repeat(self, count, fault, within=REPLACED_S):
        """Runs `fault` so often under load. It returns since when work must continue, on which
        servers; when it returns, the fault is over or stays."""
        for _ in range(count):
            with self.traffic.load():
                wait_for_fault(random.uniform(0.3, 0.8))  # the fault comes at any moment
                # A machine on which jobs take long now needs long after a fault, too.
                self.slack = 10 * continues(self.servers, time.monotonic(), RESTART_LIMIT_S)
                self.working = [session.id for session in self.traffic.living()[-20:]]
                since, servers = fault()
                limit = within + self.slack
                took = continues(servers, since, limit)
                took = max(took, at_rest(self.traffic.server, self.working, since, limit))
            self.figures.append(took)

    def end(self):
        """Checks everything, and says how long work stood still."""
        requests = self.traffic.finish()
        for server in self.servers:
            server.finish()
        figures = sorted(self.figures)
        print(f'\n{self._testMethodName[5:]}: {len(figures)} times, work continued after '
              f'{figures[len(figures) // 2]:.1f} s, at most {figures[-1]:.1f} s; '
              f'{len(self.traffic.world.sessions)} sessions, {dict(requests)}', flush=True)

    def give_work(self, server, tool='sleepy 2s'):
        """The server begins to run tools; those of 2 s take longer than until it fails."""
        client = server.new_client()
        for _ in range(3):
            made = client.post('/api/projects/default/sessions?wait=0',
                               {'agentID': 'demo', 'prompt': {'text': tool}})
            self.assertEqual(made.status, 201, made)
            self.working.append(made['id'])
        client.close()

    def continues_without(self, server, since, within=REPLACED_S):
        """Waits until the others do jobs and continue the sessions of this one."""
        others = [one for one in self.servers if one is not server]
        limit = within + self.slack
        took = continues(others, since, limit)
        took = max(took, at_rest(AnyOf(others), self.working, since, limit))
        self.figures.append(took)

    def removed(self):
        return sum(metric(server, 'dormouse_nodes_removed_total') for server in self.servers)


class OfServers(Faults):
    def test_killed_server(self):
        def kill():
            server = random.choice(self.servers)
            self.give_work(server)
            begin = time.monotonic()
            server.kill()
            self.continues_without(server, begin)
            wait_for(lambda: self.count_nodes() == 2, REPLACED_S + self.slack, 'the removal')
            server.start()
            return time.monotonic(), self.servers
        self.repeat(times('server killed'), kill, within=BACK_S)
        self.end()

    def count_nodes(self):
        return int(self.database.run('SELECT count(*) FROM nodes', schema=self.schema)[0][0])

    @long
    def test_frozen_server(self):
        def freeze():
            server = random.choice(self.servers)
            self.give_work(server)
            begin = time.monotonic()
            os.kill(server.process.pid, signal.SIGSTOP)
            try:
                self.continues_without(server, begin)
                wait_for_fault(max(0, begin + 8 - time.monotonic()))  # longer than its heartbeats
            finally:
                os.kill(server.process.pid, signal.SIGCONT)
            return time.monotonic(), self.servers
        self.repeat(times('server frozen for 8 s'), freeze, within=BACK_S)
        fenced = sum(metric(server, 'dormouse_fenced_total') for server in self.servers)
        self.assertGreaterEqual(fenced, 1, 'a frozen server was declared dead')
        self.end()

    @long
    def test_server_frozen_in_the_middle_of_a_batch(self):
        def freeze():
            place = random.randrange(3)
            proxy, server = self.proxies[place], self.servers[place]
            before = proxy.stalled
            proxy.stall = True
            wait_for(lambda: proxy.stalled > before, what='an append that is sent in half')
            begin = time.monotonic()
            os.kill(server.process.pid, signal.SIGSTOP)
            try:
                others = [one for one in self.servers if one is not server]
                self.figures.append(continues(others, begin, BLOCKED_S + self.slack))
                wait_for(lambda: self.count_nodes() == 2, REPLACED_S, 'the removal')
                self.continues_without(server, begin)
            finally:
                os.kill(server.process.pid, signal.SIGCONT)
            return time.monotonic(), self.servers
        self.repeat(times('server frozen in the middle of a batch'), freeze)
        self.end()

    def test_rolling_restart(self):
        def restart():
            for server in self.servers:
                self.give_work(server, 'sleepy 100ms')  # another one may have to run it whole
                self.assertEqual(server.term(STOPPED_S + self.slack), 0, server.tail())
                self.continues_without(server, time.monotonic(), HANDED_OVER_S)
                server.start()
            return time.monotonic(), self.servers
        self.repeat(times('rolling restart'), restart, within=BACK_S)
        self.end()


class OfClocks(Faults):
    @long
    def test_clocks_ten_minutes_apart(self):
        self.servers[1].finish()
        self.servers[2].finish()
        for place, offset in ((1, 600), (2, -600)):
            self.servers[place].environment.update(clock_set_to(offset))
            self.servers[place].start()
        self.repeat(times('clocks ten minutes apart'), lambda: (time.monotonic(), self.servers))
        self.end()


class OfNetwork(Faults):
    def test_connections_are_cut_and_answers_lost(self):
        def cut():
            for proxy in self.proxies:
                proxy.cut()
            return time.monotonic(), self.servers
        def lost():
            return sum(proxy.lost for proxy in self.proxies)
        def lose():
            before, begin = lost(), time.monotonic()
            for proxy, answers in zip(self.proxies, (4, 3, 3)):
                proxy.lose += answers
            wait_for(lambda: lost() == before + 10, RESTART_LIMIT_S, 'ten lost answers')
            return begin, self.servers
        self.repeat(times('connections cut'), cut, within=BACK_S)
        rounds = -(-times('answers to appends lost', quick=20) // 10)
        self.repeat(rounds, lose, within=BACK_S)
        self.assertEqual(lost(), 10 * rounds, 'answers that the proxies dropped')
        self.assertEqual(self.traffic.unanswered(), 0, 'the clients notice nothing')
        self.assertEqual(self.removed(), 0)
        self.end()

    @long
    def test_server_without_database(self):
        def part():
            place = random.randrange(3)
            proxy = self.proxies[place]
            self.give_work(self.servers[place])
            begin = time.monotonic()
            proxy.closed = True
            proxy.cut()
            try:
                self.continues_without(self.servers[place], begin)
                wait_for_fault(max(0, begin + 8 - time.monotonic()))  # longer than its heartbeats
            finally:
                proxy.closed = False
            return time.monotonic(), self.servers
        self.repeat(times('server without database'), part, within=BACK_S)
        self.end()

    @long
    def test_half_open_connections(self):
        def part():
            place = random.randrange(3)
            proxy = self.proxies[place]
            self.give_work(self.servers[place])
            begin = time.monotonic()
            proxy.silent = True
            try:
                self.continues_without(self.servers[place], begin)
                wait_for_fault(max(0, begin + 12 - time.monotonic()))  # longer than its calls
            finally:
                proxy.silent = False
            return time.monotonic(), self.servers
        self.repeat(times('half-open connections'), part, within=BACK_S)
        self.end()

    @long
    def test_notifications_are_lost(self):
        for proxy in self.proxies:
            proxy.unnotified = True
            proxy.cut()
        self.repeat(times('notifications lost'), lambda: (time.monotonic(), self.servers),
                    within=BACK_S)
        self.end()

    @long
    def test_database_is_200_ms_away(self):
        for proxy in self.proxies:
            proxy.delay_s = 0.1  # in each direction
        self.repeat(times('database 200 ms away'), lambda: (time.monotonic(), self.servers),
                    within=BACK_S)
        self.assertEqual(self.removed(), 0)
        self.end()


class OfDatabase(Faults):
    def test_database_crashes(self):
        def crash():
            self.database.stop()
            wait_for(self.started, RESTART_LIMIT_S, 'the database')
            return time.monotonic(), self.servers
        self.repeat(times('database crashed'), crash, within=BACK_S)
        self.assertEqual(self.removed(), 0, 'nobody is declared dead for it')
        self.end()

    def started(self):
        try:
            self.database.start()
            return True
        except AssertionError:  # backends of the crashed one are still there
            return False

    @long
    def test_database_is_frozen(self):
        def freeze():
            pids = [self.database.process.pid, *backends(self.database.process.pid)]
            for pid in pids:
                send(pid, signal.SIGSTOP)
            wait_for_fault(6)  # longer than what makes a server gone
            for pid in pids:
                send(pid, signal.SIGCONT)
            return time.monotonic(), self.servers
        self.repeat(times('database frozen for 6 s'), freeze, within=BACK_S)
        self.assertEqual(self.removed(), 0, 'nobody is declared dead for it')
        self.end()


def backends(pid):
    return [int(child) for child in
            pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text().split()]


def send(pid, what):
    with contextlib.suppress(ProcessLookupError):  # a connection that ended meanwhile
        os.kill(pid, what)


class OfConnections(Faults):
    def make_database(self):
        made = postgres.Cluster('max_connections = 30')
        self.stack.callback(made.end)
        return made

    @long
    def test_connections_are_exhausted(self):
        def exhaust():
            hogs = Hogs(self.database.port)
            try:
                for proxy in self.proxies:
                    proxy.cut()
                wait_for_fault(5)  # all that a server tries fails
            finally:
                hogs.close()
            return time.monotonic(), self.servers
        self.repeat(times('connections exhausted'), exhaust, within=BACK_S)
        self.end()


class Hogs:
    """Takes each connection that the database has left, until close()."""

    def __init__(self, port):
        self.port, self.taken, self.stop = port, [], threading.Event()
        self.thread = threading.Thread(target=self._take)
        self.thread.start()

    def _take(self):
        text = b'user\0postgres\0database\0postgres\0\0'
        start = struct.pack('!II', 8 + len(text), 3 << 16) + text
        while not self.stop.is_set():
            one = socket.create_connection(('127.0.0.1', self.port))
            one.sendall(start)
            if one.recv(1) == b'R':
                self.taken.append(one)
            else:  # too many connections
                one.close()
                self.stop.wait(0.01)

    def close(self):
        self.stop.set()
        self.thread.join()
        for one in self.taken:
            one.close()


class OfDisk(Faults):
    """A database whose tables are on a small disk; its log is on another one."""

    def make_database(self):
        folder = tempfile.mkdtemp(prefix='dormouse-disk-')
        self.stack.callback(os.rmdir, folder)
        done = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', folder],
                              capture_output=True, check=False)
        if done.returncode != 0:
            leave_out('no small disk can be mounted here')
        self.stack.callback(subprocess.run, ['umount', folder], check=True)
        self.disk = pathlib.Path(folder)
        made = postgres.Cluster(on=folder)
        self.stack.callback(made.end)
        return made

    @long
    def test_disk_is_full(self):
        def fill():
            filler = self.disk / 'filler'
            with contextlib.suppress(OSError), open(filler, 'wb', 0) as file:
                while True:
                    file.write(bytes(1 << 20))
            wait_for_fault(4)  # tables and their indexes grow until then
            filler.unlink()
            return time.monotonic(), self.servers
        self.repeat(times('disk full'), fill, within=BACK_S)
        self.end()


class OfStandby(Faults):
    """A primary that crashes, and a standby that is promoted; each is at one of two addresses."""

    synchronous = False

    def make_database(self):
        self.stack.callback(lambda: self.standby.end())  # the ones at the end
        self.stack.callback(lambda: self.database.end())
        self.database = postgres.Cluster()
        self.add_standby(postgres.free_port())
        return self.database

    def start_server(self, proxy=None, env=None):
        hosts = f'127.0.0.1:{self.database.port},127.0.0.1:{self.standby.port}'
        url = (f'postgres://postgres@{hosts}/postgres?schema={self.schema}'
               '&target_session_attrs=read-write')
        server = Server('--store', url, '--relaxed')
        self.stack.callback(server.clean)
        return server

    def add_standby(self, port):
        none = "synchronous_standby_names = ''"
        self.standby = postgres.Cluster(none, primary=self.database, port=port)
        if self.synchronous:
            self.database.configure("synchronous_standby_names = '*'")
        wanted = 'sync' if self.synchronous else 'async'
        state = 'SELECT sync_state FROM pg_stat_replication'
        wait_for(lambda: self.database.run(state) == [[wanted]], what='the standby')

    def promote(self):
        """Returns when the primary has crashed and the standby takes its place."""
        self.database.stop()
        begin = time.monotonic()
        self.standby.run('SELECT pg_promote()')
        gone, self.database = self.database, self.standby
        gone.end()
        return begin, gone.port


class OfSynchronousStandby(OfStandby):
    synchronous = True

    def test_synchronous_standby_is_promoted(self):
        def promote():
            begin, port = self.promote()
            self.figures.append(continues(self.servers, begin, BACK_S + self.slack))
            self.add_standby(port)
            return time.monotonic(), self.servers
        self.repeat(times('synchronous standby promoted'), promote)
        self.assertEqual(self.removed(), 0)
        self.end()


class OfAsynchronousStandby(OfStandby):
    @long
    def test_asynchronous_standby_without_the_tail_is_promoted(self):
        for n in range(times('asynchronous standby promoted')):
            lost = Run(self.servers, first=(n + 1) * 1_000_000)
            slack = 10 * continues(self.servers, time.monotonic(), RESTART_LIMIT_S)
            with lost.clients():
                wait_for_fault(1)  # both have work that is copied
                self.standby.configure("primary_conninfo = ''", file='postgresql.auto.conf')
                state = 'SELECT count(*) FROM pg_stat_replication'
                wait_for(lambda: self.database.run(state) == [['0']], what='the gap')
                wait_for_fault(1)  # work that the standby never gets
            ids = [session.id for session in lost.living()]
            before = {one: lost.server.events(one) for one in ids if lost.server.at_rest(one)}
            begin, port = self.promote()
            moment = time.time() * 1000
            self.figures.append(continues(self.servers, begin, BACK_S + slack))
            self.check_prefixes(before, moment)
            self.add_standby(port)
        self.repeat(1, lambda: (time.monotonic(), self.servers))
        self.end()

    def check_prefixes(self, before, moment):
        """Each journal begins with what it was; the rest is newer than the promotion and the same
        on all servers."""
        tails = 0
        for session, old in before.items():
            answers = [server.get(f'/api/sessions/{session}') for server in self.servers]
            if {answer.status for answer in answers} == {404}:
                tails += 1
                continue
            self.servers[0].at_rest(session)
            new, *others = [server.events(session) for server in self.servers]
            self.assertEqual(others, [new, new])
            self.assertEqual([event['seq'] for event in new], list(range(1, len(new) + 1)))
            kept = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(old, new))))
            tails += kept < len(old)
            self.assertGreater(kept, 0)
            for event in new[kept:]:
                self.assertGreaterEqual(event['at'], moment - 1000, (old[kept:], new[kept:]))
        self.assertGreater(tails, 0, 'something was lost')


if __name__ == '__main__':
    main()
