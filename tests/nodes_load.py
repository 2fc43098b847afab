"""Load on several servers with one database, for tests/slow/nodes_faults.py: each request goes to
a random server, and what kill_under_load.py checks holds whatever happens to servers and database.
"""
import collections
import contextlib
import itertools
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / 'slow'))
import kill_under_load as load  # noqa: E402
from dormouse import Client, Server, Verbs, wait_for  # noqa: E402
from kill_under_load import NO_ANSWER  # noqa: E402

PATIENCE_S = 60  # until a request has an answer after a fault
WRITERS = 4


class Unavailable(ConnectionError):
    """A 503 as it must be: the request may be repeated."""


class AnyClient(Verbs):
    """A client of all servers: each call goes to one that is drawn, as a proxy without memory may
    do. 503 counts as no answer."""

    def __init__(self, servers, timeout=30, patient=False):
        self.servers, self.timeout, self.patient = servers, timeout, patient
        self.clients = {}
        self.refusals = collections.Counter()

    def call(self, *arguments, **named):
        if not self.patient:
            return self._once(*arguments, **named)
        def answer():
            with contextlib.suppress(*NO_ANSWER):
                return self._once(*arguments, **named)
        return wait_for(answer, PATIENCE_S, f'an answer to {arguments}')

    def _once(self, *arguments, **named):
        server = random.choice(self.servers)
        if server not in self.clients:
            self.clients[server] = Client(server.port, server.token, self.timeout)
        answer = self.clients[server].call(*arguments, **named)
        if answer.status < 500:
            return answer
        assert answer.status == 503, answer
        assert int(answer.headers['Retry-After']) >= 1, answer.headers
        self.refusals[answer['code']] += 1
        raise Unavailable(repr(answer))

    def close(self):
        for client in self.clients.values():
            client.close()


class AnyOf(Server):
    """The short forms of a server, for all of them."""

    def __init__(self, servers):
        self.servers = servers
        self.token = servers[0].token
        self.client = AnyClient(servers, patient=True)

    @property
    def port(self):
        return random.choice([server.port for server in self.servers if server.alive()])

    def new_client(self, timeout=30):
        return AnyClient(self.servers, timeout)


class Writer(load.Writer):
    """A client that continues when a request has no answer."""

    new_max = 10**9

    def create(self):
        with self.world.lock:
            unsettled = [s for s in self.world.sessions if not s.id]
        if len(unsettled) < 2 * WRITERS:  # while all is away nothing piles up
            super().create()

    def unanswered(self):
        self.world.requests['no answer'] += 1
        self.stop.wait(0.05)


class Run(load.Run):
    """The load on some servers, and what must hold at its end. `first`: its sessions are numbered
    from there, so that several runs use other names."""

    def __init__(self, servers, seed=None, first=1):
        self.seed = random.SystemRandom().randrange(2**31) if seed is None else seed
        super().__init__(0, self.seed, AnyOf(servers))
        self.servers = servers
        self.world.numbers = itertools.count(first)

    @contextlib.contextmanager
    def clients(self):
        """Runs the clients, and yields the session of which one reads the stream, and its reader.
        """
        stop = threading.Event()
        followed = self.world.any_session(self.draw)
        threads = [Writer(self.world, self.server, self.draw.random(), stop)
                   for _ in range(WRITERS)]
        follower = followed and load.Follower(self.world, self.server, followed, stop)
        everyone = threads + ([follower] if follower else [])
        for thread in everyone:
            thread.start()
        try:
            yield followed, follower
        finally:
            stop.set()
            for thread in everyone:
                thread.join()

    @contextlib.contextmanager
    def load(self):
        """Runs the clients; at the end, when all is well again, asks again what had no answer."""
        with self.clients() as (followed, follower):
            yield
        self.ask_again()
        if follower and not followed.deleted:
            self.read_journal(followed)
            if followed.journal[: len(follower.shown)] != follower.shown:
                self.world.fail(f'a reader was shown what is not in the journal: {followed.id}')

    def ask_again(self):
        """Also what is no longer among the newest: no cycle limits how much is asked for."""
        for session in [session for session in self.world.sessions if session.id is None]:
            load.ask_create(self.world, self.server.client, session, 5)
        super().ask_again()

    def settle(self, call, shown):
        with contextlib.suppress(*NO_ANSWER):  # then it is settled in the next round
            super().settle(call, shown)

    def finish(self):
        """Settles what is open, and compares everything with the answers that clients got."""
        self.settle_all()
        self.check()
        failures = self.world.failures
        assert not failures, f'seed {self.seed}, {len(failures)} failures: {failures[:5]}'
        return self.world.requests

    def unanswered(self):
        return self.world.requests['no answer']


def continues(servers, since, within):
    """Waits until each of the servers does a whole job; returns the seconds since then. Raises
    AssertionError if that takes longer than `within` seconds."""
    errors = collections.deque(maxlen=1)
    def is_done(server):
        try:
            do_a_job(server)
            return True
        except (*NO_ANSWER, AssertionError) as error:
            errors.append(error)
    for server in servers:
        try:
            wait_for(lambda: is_done(server), since + within - time.monotonic(), 'a job')
        except AssertionError as error:
            raise AssertionError(f'{error}: {list(errors)}') from None
    return time.monotonic() - since


def do_a_job(server):
    client = Client(server.port, server.token, timeout=10)
    with contextlib.closing(client):
        made = client.post('/api/projects/default/sessions?wait=5',
                           {'agentID': 'demo', 'prompt': {'text': 'deploy probe'}})
        assert made.status == 201, made
        call, = made['activity']['pendingIDs']
        done = client.post('/async-tool/result',
                           {'pendingID': call, 'result': {'output': 'live'}})
        assert done.status == 200, done
        rest = client.get(f'/api/sessions/{made["id"]}?wait=5')
        assert rest.status == 200 and rest['activity']['type'] == 'idle', rest


def at_rest(server, sessions, since, within):
    """Waits until each of these sessions has not worked once; returns the seconds since then."""
    def rests(session):
        now = server.get(f'/api/sessions/{session}?wait=1')
        return now.status in (404, 410) or now['activity']['type'] in ('idle', 'waiting_async')
    took = 0
    for session in sessions:
        left = since + within - time.monotonic()
        wait_for(lambda: rests(session), left, f'{session} at rest')
        took = time.monotonic() - since
    return took


def metric(server, name):
    """The value of a metric without labels; 0 while it is not listed."""
    for line in server.get('/metrics').raw.decode().splitlines():
        if line.startswith(name + ' '):
            return float(line.split()[1])
    return 0
