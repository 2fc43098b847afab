"""Scenarios of bench/run on SQLite: cold sessions, sessions with a history, a memory limit, TLS,
and the file index. Each returns the rows of its table and notes."""
import concurrent.futures
import contextlib
import json
import pathlib
import shlex
import shutil
import statistics
import subprocess
import time

import dormouse
from harness import ask_all, request
from machine import Failed, Skipped, cpu_s, ratio
from tls import TlsServer, certificate

CONNECTIONS = 32
CREATE = '/api/projects/default/sessions?wait=20'
BODY = json.dumps({'agentID': 'demo', 'prompt': {'text': 'deploy A'}}).encode()
MEMORY_MB = 512
COLD_BYTES = 1 << 20  # the least that `resident_bytes` can be


def put_to_sleep(server, count):
    """Creates sessions that pause; returns (pending calls, ids, sessions per second)."""
    begun = time.monotonic()
    made = ask_all(server, [(n, request(server, 'POST', CREATE, BODY)) for n in range(count)],
                   CONNECTIONS)
    took = time.monotonic() - begun
    wrong = [answer for answer in made if answer[0] != 201]
    if wrong:
        raise Failed(f'{len(wrong)} of {count} sessions were not created: {wrong[0][:2]}')
    found = [json.loads(answer[1]) for answer in made]
    return ([one['activity']['pendingID'] for one in found], [one['id'] for one in found],
            count / took)


def medians(rounds):
    """[{name: figure}] → {name: median}"""
    return {name: round(statistics.median(one[name] for one in rounds), 3) for name in rounds[0]}


def job_figures(report):
    job = report['jobs'][0]
    return {'pauses/s': job['pausesPerS'], 'resumes/s': job['resumesPerS'],
            'resume p50 ms': job['resumeP50Us'] / 1000, 'resume p99 ms': job['resumeP99Us'] / 1000}


def compared(names, rounds, head, of):
    """A row for each name: medians, and the ratios of `of` to the first one's."""
    rows = []
    for name in names:
        row = {head: name, **medians(rounds[name])}
        first = rows[0] if rows else row
        row |= {f'{one} ÷': ratio(row[one], first[one]) for one in of}
        rows.append(row)
    return rows


def in_rounds(bench, scenario, count, subjects, measure):
    """What `measure` says of each subject, one after the other in each round: {name: [figures]}."""
    rounds = {name: [] for name in subjects}
    for number in range(1, count + 1):
        for name, subject in subjects.items():
            bench.round(scenario, number, name)
            rounds[name].append(measure(subject))
    return rounds


def cold(bench):
    """Sessions that left memory before their result came, beside some that did not."""
    limits = {
        'in memory': 'resident_bytes = 4000000000\nresident_sessions = 1000000\n'
                     'resident_time = "30s"',
        'not in memory': f'resident_bytes = {COLD_BYTES}',
    }
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(bench.server(f'[limits]\n{text}\n'))
                   for name, text in limits.items()}
        rounds = in_rounds(bench, 'cold', bench.sizes.rounds, servers, lambda server: job_figures(
            bench.load([server], bench.sizes.jobs, [CONNECTIONS])))
        stayed = gauge(servers['not in memory'], 'dormouse_sessions_resident_bytes')
    rows = compared(limits, rounds, 'sessions', ('resumes/s',))
    return rows, [f'{bench.sizes.jobs:,} sessions pause, then each gets its result in turn; '
                  f'{CONNECTIONS} connections. `resident_bytes` was 1 MiB for those not in memory '
                  f'(at the end {stayed / 2**20:.2f} MiB).']


def gauge(server, name):
    for line in server.get('/metrics').raw.decode().splitlines():
        if line.startswith(name + ' '):
            return float(line.split()[1])
    return 0.0


def history(bench):
    sizes = {'1 KB': 1_000, '10 KB': 10_000, '100 KB': 100_000}
    with bench.server() as server:
        rounds = in_rounds(
            bench, 'history', min(3, bench.sizes.rounds), sizes, lambda size: job_figures(
                bench.load([server], bench.sizes.history_jobs, [CONNECTIONS], size)))
    rows = compared(sizes, rounds, 'text in the session', ('pauses/s', 'resumes/s'))
    return rows, [f'{bench.sizes.history_jobs:,} sessions a round, {CONNECTIONS} connections. Here '
                  'a pause is two requests: a prompt, and the wait for the end of the turn.']


@contextlib.contextmanager
def started_by(command):
    """Servers that start meanwhile are started by this command."""
    before = dormouse.BINARY
    folder = pathlib.Path(dormouse.tempfile.mkdtemp(prefix='limited-'))
    wrapper = folder / 'dormouse'
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.join([*command, before])} "$@"\n')
    wrapper.chmod(0o700)
    dormouse.BINARY = str(wrapper)
    try:
        yield
    finally:
        dormouse.BINARY = before


def memory_limit():
    """Returns what limits a server's memory here: its name, and the command."""
    unit = ['systemd-run', '--scope', '--quiet', '-p', f'MemoryMax={MEMORY_MB}M', '-p',
            'MemorySwapMax=0']
    if pathlib.Path('/run/systemd/system').exists() and shutil.which(unit[0]):
        if subprocess.run([*unit, 'true'], capture_output=True, check=False).returncode == 0:
            return f'{MEMORY_MB} MB (systemd-run, MemoryMax)', unit
    if shutil.which('prlimit'):
        return (f'{MEMORY_MB} MB of address space (prlimit --as)',
                ['prlimit', f'--as={MEMORY_MB << 20}'])
    raise Skipped('neither systemd-run nor prlimit can limit memory here')


def memory(bench):
    name, command = memory_limit()
    rows = []
    for what, by in (('no limit', ['env']), (name, command)):
        bench.round('memory', 1, what)
        with started_by(by), bench.server() as server:
            calls, _, rate = put_to_sleep(server, bench.sizes.asleep)
            sent = [(one, request(server, 'POST', '/async-tool/result', json.dumps(
                {'pendingID': one, 'result': {'output': 'live'}}).encode()))
                for one in calls[: bench.sizes.jobs]]
            begun = time.monotonic()
            done = ask_all(server, sent, CONNECTIONS)
            took = time.monotonic() - begun
            if any(answer[0] != 200 for answer in done):
                raise Failed(f'results were refused: {[a[:2] for a in done if a[0] != 200][0]}')
            load = job_figures(bench.load([server], bench.sizes.jobs, [CONNECTIONS]))
            rows.append({'memory': what, 'asleep': bench.sizes.asleep,
                         'put to sleep/s': round(rate, 1),
                         'results for the oldest/s': round(len(sent) / took, 1),
                         'pauses/s': round(load['pauses/s'], 1),
                         'resumes/s': round(load['resumes/s'], 1),
                         'most MiB': round(most_resident(server) / 2**20, 1)})
    for row in rows:
        row['resumes/s ÷'] = ratio(row['resumes/s'], rows[0]['resumes/s'])
    return rows, ['The Python client, with its own cost, puts the sessions to sleep and sends the '
                  'results for the oldest. No request was refused.']


def most_resident(server):
    text = pathlib.Path(f'/proc/{server.process.pid}/status').read_text()
    return int(text.split('VmHWM:')[1].split()[0]) * 1024


def cycle(server, count):
    """Sessions that pause and are resumed by the Python client."""
    before = cpu_s(server.process.pid)
    begun = time.monotonic()
    calls, ids, _ = put_to_sleep(server, count)
    done = ask_all(server, [(one, request(server, 'POST', '/async-tool/result', json.dumps(
        {'pendingID': one, 'result': {'output': 'live'}}).encode())) for one in calls],
        CONNECTIONS)
    ask_all(server, [(one, request(server, 'GET', f'/api/sessions/{one}?wait=20'))
                     for one in ids], CONNECTIONS)
    if any(answer[0] != 200 for answer in done):
        raise Failed('a result was refused')
    return {'sessions/s': count / (time.monotonic() - begun),
            'server CPU ms a session': (cpu_s(server.process.pid) - before) * 1000 / count}


def handshakes(server, count):
    """Requests of which each has its own connection."""
    message = request(server, 'GET', '/api/doctor?calls=1')
    def ask(one):
        return ask_all(server, [(one, message)], 1)
    before, begun = cpu_s(server.process.pid), time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        list(threads.map(ask, range(count)))
    return {'new connections/s': count / (time.monotonic() - begun),
            'server CPU ms a connection': (cpu_s(server.process.pid) - before) * 1000 / count}


def tls(bench):
    if not shutil.which('openssl'):
        raise Skipped('openssl, which makes the certificate, is not installed')
    cert, key = certificate(bench.new_folder())
    with contextlib.ExitStack() as stack:
        servers = {'HTTP': stack.enter_context(bench.server())}
        TlsServer.cert = cert
        servers['HTTPS'] = stack.enter_context(bench.server(
            f'[server]\ndemo = true\ntls_cert = "{cert}"\ntls_key = "{key}"\n', kind=TlsServer))
        rounds = in_rounds(bench, 'tls', bench.sizes.rounds, servers, lambda server: {
            **cycle(server, bench.sizes.tls_jobs),
            **handshakes(server, bench.sizes.tls_jobs // 4)})
    of = ('sessions/s', 'server CPU ms a session', 'server CPU ms a connection')
    return compared(rounds, rounds, 'protocol', of), [
        f'A self-signed certificate (P-256). {bench.sizes.tls_jobs:,} sessions a round over '
        f'{CONNECTIONS} connections that stay open. The Python client has its own cost, so the '
        'CPU time of the server says more than the rates.']


def caught_up(server):
    """Not of /api/doctor, which reads every session in which a call waits."""
    return gauge(server, 'dormouse_index_behind_seconds{index="files"}') == 0


def index(bench):
    """The throughput of SQLite with the file index, and what a call costs there when it has few and
    many."""
    kinds = {'no index': [], '`--index files`': ['--index', 'files']}

    def measure(server):
        report = bench.load([server], bench.sizes.index_jobs, [CONNECTIONS])
        wait_caught_up(server)
        return job_figures(report)

    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(bench.server(None, *more))
                   for name, more in kinds.items()}
        rounds = in_rounds(bench, 'index', bench.sizes.rounds, servers, measure)
    return compared(kinds, rounds, 'store', ('pauses/s', 'resumes/s')), [
        f'{bench.sizes.index_jobs:,} sessions a round, {CONNECTIONS} connections.']


def wait_caught_up(server):
    server.client.connection.close()  # idle for long: the server may have ended it
    dormouse.wait_for(lambda: caught_up(server), seconds=3600, what='the index')


def wait_listed(server, pending):
    path = pathlib.Path(server.directory, 'storage/pending_tool/index.json')
    dormouse.wait_for(lambda: is_listed(path, pending), seconds=3600, what='index.json')


def is_listed(path, pending):
    return set(pending).issubset(json.loads(path.read_text())['byStatus']['waiting'])


def index_cost(bench):
    rows = []
    with bench.server(None, '--index', 'files') as server:
        put_to_sleep(server, 200)  # warms up
        for calls in (100, bench.sizes.indexed_calls):
            bench.round('index-cost', 1, f'{calls:,} calls')
            missing = calls - (rows[-1]['calls'] if rows else 0)
            if rows:
                put_to_sleep(server, missing - bench.sizes.probe_calls)
            wait_caught_up(server)
            before, begun = cpu_s(server.process.pid), time.monotonic()
            pending, _, _ = put_to_sleep(server, bench.sizes.probe_calls)
            wait_caught_up(server)
            count = bench.sizes.probe_calls
            took, after = time.monotonic() - begun, cpu_s(server.process.pid)
            wait_listed(server, pending)
            listed = cpu_s(server.process.pid)
            rows.append({'calls': calls,
                         'ms a call': round(took * 1000 / count, 4),
                         'server CPU ms a call': round((after - before) * 1000 / count, 4),
                         'CPU ms `index.json`': round((listed - after) * 1000, 1)})
    for row in rows:
        row['CPU ÷'] = ratio(row['server CPU ms a call'],
                             rows[0]['server CPU ms a call'])
    return rows, ['From the request of a session that pauses until the index has its call; '
                  f'{bench.sizes.probe_calls:,} sessions. `index.json` is written after that, the '
                  'less often the more calls are in it: all CPU time of the server until then.']
