"""Programs that the benchmarks run: commands with a time limit, and a PostgreSQL server of their
own. Everything started here ends with it."""
import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time

TREE = pathlib.Path(__file__).resolve().parent.parent
OUT = TREE / 'build' / 'bench'
BUILD = TREE / 'build' / 'release'


class Failed(Exception):
    """Says in one sentence what went wrong and what to do."""


class Skipped(Exception):
    """Says in one sentence why this cannot be measured here."""


def say(text):
    print(f'  {text}', file=sys.stderr, flush=True)


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(('127.0.0.1', 0))
        return [one.getsockname()[1] for one in sockets]


def end(process, gently=signal.SIGTERM, limit_s=20):
    """Ends the process and its process group."""
    if process.poll() is None:
        process.send_signal(gently)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(limit_s)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def remove_with_processes(folder):
    """Removes a folder, and kills each process whose arguments name a file there: a signal may come
    after the start of a process and before its starter knows it."""
    for _ in range(200):
        left = [int(path.parent.name) for path in pathlib.Path('/proc').glob('[0-9]*/cmdline')
                if str(folder) in arguments_of(path)]
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)
        if not left and not folder.exists():
            return
        time.sleep(0.05)  # what they started ends after them, and may write until then


def arguments_of(path):
    try:
        return path.read_bytes().decode(errors='replace')
    except OSError:
        return ''  # it has ended


def run(command, what, limit_s, **options):
    """Runs a command in a process group, kills what is left of it, returns its standard output."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True, **options)
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise Failed(f'{what} did not end within {limit_s} s') from None
    finally:
        end(process)
    if process.returncode != 0:
        last = '\n    '.join((err or out).strip().splitlines()[-12:])
        raise Failed(f'{what} ended with {process.returncode}:\n    {last}')
    return out


def cpu_s(pid):
    """The CPU time of the threads of a process that run now, in seconds."""
    total = 0
    for path in pathlib.Path(f'/proc/{pid}/task').glob('*/schedstat'):
        with contextlib.suppress(OSError):  # it has ended
            total += int(path.read_text().split()[0])
    return total / 1e9


def ratio(value, to):
    """None where there is nothing to compare with."""
    return round(value / to, 3) if to else None


class Postgres:
    """A private PostgreSQL: a temporary folder, a free loopback port, an unprivileged user.
    Its durability settings are PostgreSQL's defaults (fsync and synchronous_commit are on)."""

    def __init__(self, folder):
        found = sorted(pathlib.Path('/usr/lib/postgresql').glob('*/bin/initdb'))
        if not found:
            raise Skipped('PostgreSQL is not installed: run tools/setup.sh bench')
        self.bin = found[-1].parent
        self.version = run([self.bin / 'postgres', '--version'], 'postgres', 10).split()[2]
        self.folder = folder
        self.log = folder.parent / 'postgres.log'
        self.options = {'cwd': '/'}
        folder.mkdir()
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            user = pwd.getpwnam('nobody')
            os.chown(folder, user.pw_uid, user.pw_gid)
            self.options |= {'user': user.pw_uid, 'group': user.pw_gid, 'extra_groups': []}
        self.port = free_ports(1)[0]
        self.process = None

    def start(self):
        data = self.folder / 'data'
        run([self.bin / 'initdb', '--pgdata', data, '--username', 'bench', '--auth', 'trust',
             '--encoding', 'UTF8', '--no-instructions'], 'initdb', 120, **self.options)
        settings = [f'port={self.port}', 'listen_addresses=127.0.0.1',
                    'unix_socket_directories=', 'max_connections=200']
        arguments = [word for setting in settings for word in ('-c', setting)]
        with open(self.log, 'wb') as log:
            self.process = subprocess.Popen([self.bin / 'postgres', '-D', data, *arguments],
                                            stdout=log, stderr=log, start_new_session=True,
                                            **self.options)
        deadline = time.monotonic() + 60
        while subprocess.run([self.bin / 'pg_isready', '-q', *self.address()],
                             check=False).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f'PostgreSQL did not start: {self.log.read_text()[-500:]}')
            time.sleep(0.1)

    def address(self):
        return ['--host', '127.0.0.1', '--port', str(self.port)]

    def empty_database(self, name):
        """Makes a database, in place of one of that name; returns its URL."""
        where = [*self.address(), '--username', 'bench']
        run([self.bin / 'dropdb', *where, '--if-exists', '--force', name], 'dropdb', 60)
        run([self.bin / 'createdb', *where, name], 'createdb', 60)
        return f'{self.url()}/{name}'

    def url(self):
        return f'postgres://bench@127.0.0.1:{self.port}'

    def configure(self, **settings):
        """Changes settings of the running server; None: back to the default."""
        words = [f'ALTER SYSTEM SET {name} = {value!r}' if value is not None
                 else f'ALTER SYSTEM RESET {name}' for name, value in settings.items()]
        commands = [word for one in [*words, 'SELECT pg_reload_conf()'] for word in ('-c', one)]
        run([self.bin / 'psql', '-Xq', '-d', f'{self.url()}/postgres', *commands], 'psql', 60)

    def stop(self):
        if self.process:
            end(self.process, signal.SIGINT)
