"""Scenarios of bench/run on PostgreSQL with one and two servers: what the database itself can do,
two servers against one, take-over, events between servers, one session on both, an idle server."""
import contextlib
import http.server
import json
import os
import queue
import re
import selectors
import socket
import statistics
import threading
import time

from harness import Link, percentile, request
from machine import BUILD, Failed, Skipped, cpu_s, ratio, run, say
from scenarios import CONNECTIONS, gauge, job_figures, medians, put_to_sleep

BOTH = 64  # connections of two servers
COMMIT_DELAY_US = 3000
STORE_BENCH = BUILD / 'store_postgres_bench'
BATCHES = (1, 8, 32, 128)
WARM_UP_JOBS = 200  # of `dormouse bench`
WORKING = 20  # sessions of a server that ends
TAKEN_OVER_LIMIT_S = 60


def database_alone(bench, url):
    """Appends per second of the database, by appends in a batch: the server's own function, and
    rows of that size, over one connection."""
    found = {}
    environment = dict(os.environ, DORMOUSE_BENCH_URL=url)
    for batch in BATCHES:
        out = run([STORE_BENCH, f'--benchmark_filter=appends/{batch}/', '--benchmark_format=json',
                   f'--benchmark_min_time={bench.sizes.bare_s}'], 'store_postgres_bench', 300,
                  env=environment)
        [figures] = json.loads(out)['benchmarks']
        if 'items_per_second' not in figures:
            raise Failed(f'store_postgres_bench: {figures.get("error_message")}')
        found[batch] = figures['items_per_second']
    return found


def at_size(by_batch, size):
    """Between the measured batches, straight lines."""
    below = max((one for one in by_batch if one <= size), default=min(by_batch))
    above = min((one for one in by_batch if one >= size), default=max(by_batch))
    if above == below:
        return by_batch[above]
    part = (size - below) / (above - below)
    return by_batch[below] + part * (by_batch[above] - by_batch[below])


def counted(server):
    return (gauge(server, 'dormouse_commit_appends_sum'),
            gauge(server, 'dormouse_commit_appends_count'))


def share(bench):
    if not STORE_BENCH.exists():
        raise Skipped('build/release/store_postgres_bench is not built: '
                      'ninja -C build/release store_postgres_bench')
    postgres, rounds = bench.postgres(), []
    for number in range(1, min(3, bench.sizes.rounds) + 1):
        bench.round('share', number, 'the database alone')
        alone = database_alone(bench, postgres.empty_database('bench_alone'))
        with bench.servers(1, '--store', postgres.empty_database('bench_share')) as [server]:
            bench.round('share', number, f'a server with {CONNECTIONS} connections')
            before = counted(server)
            jobs = bench.sizes.postgres_jobs
            figures = job_figures(bench.load([server], jobs, [CONNECTIONS]))
            appends, commits = (now - then for now, then in zip(counted(server), before))
        batch = appends / commits
        # `dormouse bench` does each phase twice, also with those sessions that warm it up.
        of_a_session = appends / 2 / (jobs + min(WARM_UP_JOBS, jobs))
        rate = of_a_session / (1 / figures['pauses/s'] + 1 / figures['resumes/s'])
        rounds.append({**{f'batches of {one}': value for one, value in alone.items()},
                       'server, appends a batch': batch, 'server, appends/s': rate,
                       'share %': 100 * rate / at_size(alone, batch)})
    rows = [{'what': name, 'median': value} for name, value in medians(rounds).items()]
    return rows, ['Rows "batches of": appends a second that PostgreSQL does with our function and '
                  'rows of 400 bytes, over one connection. Share: the appends of pausing and '
                  f'resuming sessions with {CONNECTIONS} connections, of what the database does '
                  'alone with batches of that size.']


def two_servers(bench):
    postgres = bench.postgres()
    settings = {'as is': {'commit_delay': None, 'commit_siblings': None},
                f'commit_delay = {COMMIT_DELAY_US}': {'commit_delay': COMMIT_DELAY_US,
                                                     'commit_siblings': 0}}
    rounds = {(name, count): [] for name in settings for count in (1, 2)}
    try:
        for number in range(1, bench.sizes.rounds + 1):
            for (name, count), found in rounds.items():
                bench.round('servers', number, f'{count}, {name}')
                postgres.configure(**settings[name])
                store = postgres.empty_database('bench_servers')
                with bench.servers(count, '--store', store) as servers:
                    report = bench.load(servers, bench.sizes.postgres_jobs, [BOTH])
                found.append(job_figures(report))
    finally:
        postgres.configure(commit_delay=None, commit_siblings=None)
    rows = []
    for name in settings:
        one, two = (medians(rounds[name, count]) for count in (1, 2))
        for count, figures in ((1, one), (2, two)):
            ratios = {f'{of} ÷': ratio(figures[of], one[of])
                      for of in ('pauses/s', 'resumes/s')}
            rows.append({'PostgreSQL': name, 'servers': count, **figures, **ratios})
    return rows, [f'{BOTH} connections, spread over the servers; {bench.sizes.postgres_jobs:,} '
                  'sessions a round. With `commit_delay`, `commit_siblings` is 0, so that each '
                  'commit is delayed.']


def all_rest(server, sessions, since):
    """Seconds since then until all these sessions rest."""
    for session in sessions:
        while server.session(session, wait=1)['activity']['type'] not in ('idle', 'waiting_async'):
            if time.monotonic() - since > TAKEN_OVER_LIMIT_S:
                raise Failed(f'{session} was not continued within {TAKEN_OVER_LIMIT_S} s')
    return time.monotonic() - since


def take_over(bench):
    rows = []
    for name in ('SIGKILL', 'SIGTERM'):
        bench.round('take-over', 1, f'{name}, {bench.sizes.sleeping_beside:,} asleep beside')
        store = bench.postgres().empty_database('bench_take_over')
        with bench.servers(2, '--store', store) as [first, second]:
            put_to_sleep(first, bench.sizes.sleeping_beside)
            working = [first.create('sleepy 100ms', wait=0)['id'] for _ in range(WORKING)]
            since = time.monotonic()
            if name == 'SIGKILL':
                first.kill()
            else:
                first.process.terminate()
            took = all_rest(second, working, since)
            rows.append({'ends by': name, 'asleep beside': bench.sizes.sleeping_beside,
                         'all rest after s': round(took, 2),
                         'sessions in memory of the other': round(
                             gauge(second, 'dormouse_sessions_resident'))})
    return rows, [f'{WORKING} sessions have a tool call of 100 ms when their server ends; the other '
                  'server runs it again, which is part of the figure.']


class Reader(threading.Thread):
    """Reads a session's events from a server, and notes when each number arrives: of a title, or of
    a piece of text."""

    def __init__(self, server, session):
        super().__init__(daemon=True)
        self.socket = socket.create_connection(('127.0.0.1', server.port), timeout=60)
        self.socket.sendall(request(server, 'GET', f'/api/sessions/{session}/events',
                                    accept='text/event-stream'))
        self.seen, self.changed, self.unread = {}, threading.Condition(), b''

    def run(self):
        with contextlib.suppress(OSError):
            while got := self.socket.recv(1 << 16):
                now = time.monotonic()
                self.unread = (self.unread + got)[-(1 << 16):]
                with self.changed:
                    for number in re.findall(rb'"number (\d+)"', self.unread):
                        self.seen.setdefault(int(number), now)
                    self.ready = b'session_created' in self.unread or bool(self.seen)
                    self.changed.notify_all()

    def arrival(self, number):
        with self.changed:
            if not self.changed.wait_for(lambda: number in self.seen, 30):
                raise Failed(f'event {number} did not reach a reader within 30 s')
            return self.seen[number]


def event_times(bench, servers, count):
    """Milliseconds from the request to A until a reader on A, and one on B, has the event."""
    first, second = servers
    session = first.create('hello')['id']
    readers = [Reader(first, session), Reader(second, session)]
    for reader in readers:
        reader.start()
    took = {'reader on the same server': [], 'reader on the other server': []}
    for number in range(count):
        begun = time.monotonic()
        answer = first.call('PATCH', f'/api/sessions/{session}', {'title': f'number {number}'})
        if answer.status != 200:
            raise Failed(f'a title was refused: {answer}')
        for reader, times in zip(readers, took.values()):
            times.append((reader.arrival(number) - begun) * 1000)
        time.sleep(0.02)
    for reader in readers:
        reader.socket.shutdown(socket.SHUT_RDWR)
        reader.join()
        reader.socket.close()
    return {name: times[len(times) // 10:] for name, times in took.items()}  # without the first


class Writer(http.server.BaseHTTPRequestHandler):
    """A model that writes numbered pieces, each when it is allowed to."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.end_headers()
        for number in range(self.server.pieces):
            self.server.allowed.acquire(timeout=30)
            delta = {'role': 'assistant', 'content': f'number {number}'}
            chunk = json.dumps({'choices': [{'index': 0, 'delta': delta}]})
            self.wfile.write(f'data: {chunk}\n\n'.encode())
            self.wfile.flush()
            self.server.written.put(time.monotonic())
        self.wfile.write(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
                         b'data: [DONE]\n\n')


@contextlib.contextmanager
def writing_model(pieces):
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Writer) as model:
        model.daemon_threads = True
        model.pieces, model.allowed, model.written = pieces, threading.Semaphore(0), queue.Queue()
        threading.Thread(target=model.serve_forever, daemon=True).start()
        yield model
        model.shutdown()


def text_times(model, servers):
    """Milliseconds from a piece that a model writes for A until a reader on B has it."""
    first, second = servers
    session = first.create()['id']
    reader = Reader(second, session)
    reader.start()
    first.call('POST', f'/api/sessions/{session}/prompt', {'text': 'write'})
    took = []
    for number in range(model.pieces):
        time.sleep(0.1)
        model.allowed.release()
        took.append((reader.arrival(number) - model.written.get(timeout=30)) * 1000)
    reader.socket.shutdown(socket.SHUT_RDWR)
    reader.join()
    reader.socket.close()
    return took[len(took) // 10:]


def text_row(bench):
    bench.round('events', 1, 'text of a model')
    store = bench.postgres().empty_database('bench_text')
    with writing_model(bench.sizes.pieces) as model:
        config = (f'[store]\nurl = "{store}"\n'
                  '[[model]]\nid = "m"\nkind = "openai-chat"\nmodel = "m"\n'
                  f'base_url = "http://127.0.0.1:{model.server_port}/v1"\n'
                  '[[agent]]\nid = "demo"\nmodel = "m"\n')
        with bench.servers(2, config=config) as servers:
            times = text_times(model, servers)
    return {'signal': 'notify', 'to': 'text of a model, reader on the other server',
            'p50 ms': round(statistics.median(times), 2),
            'p99 ms': round(percentile(times, 0.99), 2)}


def events(bench):
    rows = []
    for signal in ('notify', 'poll'):
        bench.round('events', 1, signal)
        store = bench.postgres().empty_database('bench_events')
        config = f'[store]\nurl = "{store}"\nsignal = "{signal}"\n[server]\ndemo = true\n'
        with bench.servers(2, config=config) as servers:
            for name, times in event_times(bench, servers, bench.sizes.events).items():
                rows.append({'signal': signal, 'to': name,
                             'p50 ms': round(statistics.median(times), 2),
                             'p99 ms': round(percentile(times, 0.99), 2)})
    rows.append(text_row(bench))
    return rows, [f'{bench.sizes.events:,} events, one after the other: from the request to one '
                  'server, which also stores it, until the reader has it.',
                  f'{bench.sizes.pieces} pieces of text, 100 ms apart: from the model, which writes '
                  'for one server, until the reader has it.']


def append_all(servers, session, count):
    """Appends to one session by 64 clients of these servers; returns appends per second, and the
    answers other than 200."""
    selector, left, wrong = selectors.DefaultSelector(), count, []
    links = [(Link(servers[n % len(servers)]), servers[n % len(servers)]) for n in range(BOTH)]
    def ask(link, server, number):
        body = json.dumps({'title': f'number {number}'}).encode()
        link.in_flight.append(number)
        link.socket.sendall(request(server, 'PATCH', f'/api/sessions/{session}', body))
    begun = time.monotonic()
    for number, (link, server) in enumerate(links):
        selector.register(link.socket, selectors.EVENT_READ, (link, server))
        ask(link, server, number)
    sent, done = len(links), 0
    while done < max(left, len(links)):
        for key, _ in selector.select(60):
            link, server = key.data
            for status, body, _ in link.answers():
                done += 1
                if status != 200:
                    wrong.append((status, body[:200]))
                if sent < left:
                    ask(link, server, sent)
                    sent += 1
    took = time.monotonic() - begun
    for link, _ in links:
        link.socket.close()
    return done / took, wrong


def one_session(bench):
    rows = []
    for count in (1, 2):
        bench.round('one-session', 1, f'{count} servers')
        store = bench.postgres().empty_database('bench_one_session')
        with bench.servers(count, '--store', store) as servers:
            session = servers[0].create('hello')['id']
            append_all(servers, session, BOTH)
            rate, wrong = append_all(servers, session, bench.sizes.appends)
            rows.append({'servers': count, 'appends/s': round(rate, 1), 'errors': len(wrong)})
            if wrong:
                say(f'first error: {wrong[0]}')
    for row in rows:
        row['appends/s ÷'] = ratio(row['appends/s'], rows[0]['appends/s'])
    return rows, [f'{BOTH} clients change the title of one session, {bench.sizes.appends:,} times.']


def logged(postgres):
    return len(re.findall(r'LOG:  (?:statement|execute)', postgres.log.read_text(errors='replace')))


def idle(bench):
    bench.round('idle', 1, f'{bench.sizes.sleeping_beside:,} asleep')
    postgres = bench.postgres()
    store = postgres.empty_database('bench_idle')
    with bench.servers(1, '--store', store) as [server]:
        put_to_sleep(server, bench.sizes.sleeping_beside)
        server.term()
        server.start()
        postgres.configure(log_statement='all')
        try:
            time.sleep(min(5, bench.sizes.idle_s))
            queries, cpu, begun = logged(postgres), cpu_s(server.process.pid), time.monotonic()
            time.sleep(bench.sizes.idle_s)
            seconds = time.monotonic() - begun
            cpu = cpu_s(server.process.pid) - cpu
            queries = logged(postgres) - queries
        finally:
            postgres.configure(log_statement=None)
    return [{'asleep': bench.sizes.sleeping_beside, 'queries/s': round(queries / seconds, 2),
             'server CPU %': round(100 * cpu / seconds, 3)}], [
        f'Statements in the log of PostgreSQL (`log_statement = all`) in {bench.sizes.idle_s} s.']
