"""A PostgreSQL server for the outside tests, of Debian's package `postgresql`: one for each file of
tests, in a temporary folder. It ends with the file or with the process.

It has fsync off, so a server of ours that uses it needs --relaxed.
"""
import atexit
import ctypes
import functools
import glob
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

START_LIMIT_S = 30
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None, use_errno=True)


def programs():
    """Returns the folder of the newest installed server; None: there is none."""
    found = glob.glob('/usr/lib/postgresql/*/bin/initdb')
    newest = max(found, key=lambda path: int(path.split('/')[4]), default=None)
    return newest and pathlib.Path(newest).parent


def free_port():
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        return listener.getsockname()[1]


class Program:
    """A program of PostgreSQL's that runs in a temporary folder, as another user if we are root."""

    def __init__(self):
        self.bin = programs()
        # initdb and pgbouncer refuse root.
        self.user = pwd.getpwnam('postgres') if os.geteuid() == 0 else None
        self.folder = tempfile.mkdtemp(prefix='dormouse-pg-')
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.process = None
        self.port = free_port()
        atexit.register(self.end)

    def _as_user(self):
        if self.user:
            os.setgroups([])
            os.setgid(self.user.pw_gid)
            os.setuid(self.user.pw_uid)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)  # after the change of user, which forgets it

    def _run(self, name, *arguments):
        subprocess.run([self.bin / name, *arguments], check=True, cwd='/',
                       preexec_fn=self._as_user, stdout=subprocess.DEVNULL)

    def _start(self, says, *command):
        """Starts it, and returns when it says that it accepts connections."""
        self.process = subprocess.Popen(
            command, cwd='/', preexec_fn=self._as_user, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        timer = threading.Timer(START_LIMIT_S, self.process.kill)
        timer.start()
        output = []
        while not (output and says in output[-1]):
            line = self.process.stderr.readline()
            assert line, f'{command[0]} did not start:\n{"".join(output)}'
            output.append(line)
        timer.cancel()
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def stop(self, how=signal.SIGQUIT):
        self.process.send_signal(how)
        self.process.wait()

    def end(self):
        if self.process and self.process.poll() is None:
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        atexit.unregister(self.end)

    def url(self, schema=None, user='postgres', database='postgres', password=None):
        secret = f':{password}' if password else ''
        query = f'?schema={schema}' if schema else ''
        return f'postgres://{user}{secret}@127.0.0.1:{self.port}/{database}{query}'


class Cluster(Program):
    """A running server. `options` are added to postgresql.conf; `primary`: it is its standby;
    `on`: a folder for the tables, its log is elsewhere; `port`: else a free one."""

    def __init__(self, *options, primary=None, on=None, port=None):
        super().__init__()
        self.port = port or self.port
        self.data = f'{on or self.folder}/data'
        if on and self.user:
            os.chown(on, self.user.pw_uid, self.user.pw_gid)
        if primary:
            self._run('pg_basebackup', '-d', primary.url(), '-D', self.data, '-R', '--no-sync',
                      '-c', 'fast')
            self.configure(*options)
            return self.start()
        self._run('initdb', '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C',
                  '--no-sync', '--waldir', f'{self.folder}/wal', '-D', self.data)
        self.configure("listen_addresses = '127.0.0.1'", 'fsync = off', 'max_connections = 200',
                       'shared_buffers = 64MB', *options)
        # A role of this name needs its password; all others need none.
        hba = pathlib.Path(self.data, 'pg_hba.conf')
        hba.write_text('host all locked all scram-sha-256\n' + hba.read_text())
        self.start()

    def configure(self, *options, file='postgresql.conf'):
        """Adds to its configuration; a server that runs reads it again."""
        with open(f'{self.data}/{file}', 'a') as to:
            to.write('\n'.join([*options, '']))
        if self.process:
            self.process.send_signal(signal.SIGHUP)

    def start(self):
        self._start('system is ready to accept', self.bin / 'postgres', '-D', self.data, '-p',
                    str(self.port), '-k', self.folder)

    def standby(self):
        return Cluster(primary=self)

    def run(self, *statements, schema=None, database='postgres'):
        """Runs SQL as the superuser, in the schema, as one transaction; returns the rows of the
        last statement as lists of texts."""
        path = [f'SET search_path TO "{schema}"'] if schema else []
        done = subprocess.run(
            [self.bin / 'psql', '-XqAt', '-F', '\x1f', '-v', 'ON_ERROR_STOP=1', '-1', '-d',
             self.url(database=database), '-f', '-'],
            input=';\n'.join([*path, *statements]) + ';', text=True, capture_output=True,
            check=False)
        if done.returncode != 0:
            raise AssertionError(f'psql: {done.stderr}')
        return [line.split('\x1f') for line in done.stdout.splitlines()]


class Pooler(Program):
    """PgBouncer in front of a cluster."""

    def __init__(self, cluster, mode):
        program = shutil.which('pgbouncer') or '/usr/sbin/pgbouncer'
        if not os.access(program, os.X_OK):
            unavailable('PgBouncer')
        super().__init__()
        config = pathlib.Path(self.folder, 'pgbouncer.ini')
        # Any user becomes the superuser.
        config.write_text('\n'.join([
            '[databases]', f'* = host=127.0.0.1 port={cluster.port} user=postgres', '[pgbouncer]',
            'listen_addr = 127.0.0.1', f'listen_port = {self.port}', 'unix_socket_dir =',
            'auth_type = any', f'pool_mode = {mode}', '']))
        self._start('process up', program, str(config))

    def stop(self, how=signal.SIGTERM):
        """It has no handler for SIGQUIT, which a shell's background commands ignore."""
        super().stop(how)


def unavailable(what):
    """Skips the test; in CI, with DORMOUSE_TEST_POSTGRES set, it fails."""
    text = f'{what} is not installed (tools/setup.sh ci)'
    if os.environ.get('DORMOUSE_TEST_POSTGRES'):
        raise AssertionError(text)
    raise unittest.SkipTest(text)


def needed():
    """Skips the test where PostgreSQL is not installed, or lets it fail (unavailable())."""
    if programs() is None:
        unavailable('PostgreSQL')


@functools.cache
def _shared():
    return Cluster()


def end_shared():
    """Ends the server of cluster(), if it runs; the next call starts another one."""
    if _shared.cache_info().currsize:
        _shared().end()
        _shared.cache_clear()


def cluster():
    """Returns the server that the tests of a file share. Skips the test where PostgreSQL is not
    installed; in CI, with DORMOUSE_TEST_POSTGRES set, it fails."""
    needed()
    return _shared()
