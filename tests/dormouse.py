"""Shared by the outside tests: a test server, clients for it, and what holds at the end of each
test (nothing is stuck, the server stops in time, the store has no findings).

The binary is $DORMOUSE_BIN, else $DORMOUSE, else build/release/dormouse of this repository.
"""
import contextlib
import http.client
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from event_stream import Events, Frame  # noqa: F401, for the tests
from stored import BESIDE, Stored

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = (
    os.environ.get('DORMOUSE_BIN')
    or os.environ.get('DORMOUSE')
    or str(ROOT / 'build/release/dormouse')
)
# What tools/setup.sh test unpacks: Node of a pinned version, proxies, promtool.
PROGRAMS = ROOT / 'build/programs/bin'
SYSTEM_PATH = os.environ.get('DORMOUSE_SYSTEM_PATH') or os.environ.get('PATH', os.defpath)
os.environ['DORMOUSE_SYSTEM_PATH'] = SYSTEM_PATH
os.environ['PATH'] = f'{PROGRAMS}:{SYSTEM_PATH}'


def offer_this_python():
    """Programs that say `python3` get the one that runs the tests: the launcher of a version
    manager costs several times as much at each start."""
    with contextlib.suppress(OSError):
        PROGRAMS.mkdir(parents=True, exist_ok=True)
        (PROGRAMS / 'python3').symlink_to(sys.executable)


offer_this_python()
NOTHING = object()  # no body at all, which is not the body null
READY_LIMIT_S = 20
STOP_LIMIT_S = 10  # time in which a server must stop


def leave_out(reason):
    """Skips the test, class or module because it cannot run here."""
    raise unittest.SkipTest(reason)

# With a key, all test servers encrypt what they store.
ENCRYPTED = os.environ.get('DORMOUSE_TEST_KEY')


def environment(**more):
    """Returns the environment without variables that would lead the binary to another server, token
    or directory."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(('DORMOUSE', 'XDG_'))}
    return {**clean, **more}


def run(*arguments, stdin='', timeout=60, env=None, cwd=None):
    """Runs the binary as a command; returns its exit status, standard output and standard error."""
    return subprocess.run(
        [BINARY, *map(str, arguments)],
        input=stdin,
        text=True,
        capture_output=True,
        timeout=timeout,
        env=env or environment(),
        cwd=cwd,
    )


def tests_of_keys(section, case):
    """The keys of a section of the configuration ("limits"), and what the tests of `case` are
    called, one for each key. Both sorted."""
    keys = re.findall(rf'^{section}\.(\w+) ', run('config', 'keys').stdout, re.M)
    return sorted(keys), sorted(name[5:] for name in dir(case) if name.startswith('test_'))


class Answer:
    def __init__(self, status, headers, raw):
        self.status, self.headers, self.raw = status, headers, raw

    @property
    def json(self):
        return json.loads(self.raw)

    def __getitem__(self, name):
        return self.json[name]

    def __repr__(self):
        return f'{self.status} {self.raw[:600]!r}'


class Verbs:
    """The short forms of call(method, path, body, headers)."""

    def get(self, path, **headers):
        return self.call('GET', path, headers={k.replace('_', '-'): v for k, v in headers.items()})

    def post(self, path, body=NOTHING, **headers):
        return self.call('POST', path, body, {k.replace('_', '-'): v for k, v in headers.items()})

    def delete(self, path):
        return self.call('DELETE', path)


class Client(Verbs):
    """One keep-alive connection. A call without an answer raises and is never repeated here."""

    def __init__(self, port, token, timeout=70):
        self.token = token
        self.connection = http.client.HTTPConnection('127.0.0.1', port, timeout=timeout)

    def call(self, method, path, body=NOTHING, headers=None, raw=None):
        send = {'Authorization': f'Bearer {self.token}'} if self.token else {}
        if body is not NOTHING:
            raw = json.dumps(body).encode()
        if raw is not None:
            send['Content-Type'] = 'application/json'
        send.update(headers or {})
        send = {name: value for name, value in send.items() if value is not None}
        try:
            try:
                self.connection.request(method, path, raw, send)
            except (BrokenPipeError, ConnectionResetError):
                pass  # refused before all of it was sent: the answer may have arrived
            return self.end()
        except BaseException:
            self.connection.close()
            raise

    def begin(self, path, body=NOTHING):
        """Sends a GET, or with a body a POST; end() returns its answer."""
        headers = {'Authorization': f'Bearer {self.token}', 'Content-Type': 'application/json'}
        raw = None if body is NOTHING else json.dumps(body).encode()
        self.connection.request('GET' if raw is None else 'POST', path, raw, headers)

    def end(self):
        reply = self.connection.getresponse()
        return Answer(reply.status, reply.headers, reply.read())

    def waits(self):
        """Returns true if nothing has arrived yet."""
        return not select.select([self.connection.sock], [], [], 0)[0]

    def close(self):
        self.connection.close()


class AlternatingClient(Client):
    """Sends its calls to two servers in turn; what begin() sends goes to the second one."""

    def __init__(self, ports, token, timeout=70):
        super().__init__(ports[0], token, timeout)
        self.next = Client(ports[1], token, timeout)

    def call(self, *arguments, **named):
        self.connection, self.next.connection = self.next.connection, self.connection
        return super().call(*arguments, **named)

    def close(self):
        super().close()
        self.next.close()


class Server(Stored):
    """A test server, in its own directory unless one is given."""

    host = '127.0.0.1'

    def __init__(self, *arguments, directory=None, env=None, start=True):
        self.own = tempfile.mkdtemp(prefix='dormouse-test-')
        self.directory = str(directory or pathlib.Path(self.own) / 'data')
        self.log = pathlib.Path(self.own) / 'log'
        self.arguments = list(arguments)
        self.environment = environment(**(env or {}))
        self.key_env = None  # the variable with the keys of its store
        if ENCRYPTED and not {'--key-env', 'memory'} & set(self.arguments):
            self.arguments += ['--key-env', 'KEY_OF_TESTS']
            self.environment['KEY_OF_TESTS'] = ENCRYPTED
        if '--key-env' in self.arguments:
            self.key_env = self.arguments[self.arguments.index('--key-env') + 1]
        self.store = self.database_of(self.arguments)
        self.beside = None  # another server on the same store, once this one runs
        self.process = None
        self.clock = None  # a socket that moves the server's clock
        self.ahead = 0  # seconds that its clock is ahead, also after a restart
        self.port = 0
        self.token = ''
        self.client = None
        if start:
            self.start()

    def start(self):
        """Returns when the server says that it is ready."""
        with self.spawn() as ready:
            line = self._first_line(ready)
        if not line.startswith(('ready http://', 'ready https://')):
            raise AssertionError(f'no ready line but {line!r}; its log:\n{self.tail()}')
        # Uses the same port after a restart, so that clients find it again.
        self.port = int(line.rsplit(':', 1)[1])
        if self.ahead:
            self._clock_moved()
        self.token = pathlib.Path(self.directory, 'token').read_text().strip()
        # A test that names the store starts all servers that it needs.
        if BESIDE and type(self) is Server and self.store and '--store' not in self.arguments:
            self._start_beside()
        if self.client:
            self.client.close()
        self.client = self.new_client()
        return self

    def _start_beside(self):
        if not self.beside:
            self.beside = Beside(start=False)
        self.beside.arguments = [*self.arguments, '--store', self.store, '--relaxed']
        self.beside.store = self.store
        self.beside.environment = self.environment
        self.beside.ahead = self.ahead
        self.beside.start()

    def spawn(self):
        """Only starts the process; its ready line comes on the returned file."""
        read, write = os.pipe()
        if self.clock:
            self.clock.close()
        self.clock, theirs = socket.socketpair()
        if self.ahead:
            self._send_to_clock(self.ahead)
        # Not the configuration of the user who runs the tests, unless a test names one.
        named = '--config' in self.arguments or 'DORMOUSE_CONFIG' in self.environment
        with open(self.log, 'ab') as log:
            self.process = subprocess.Popen(
                [
                    BINARY,
                    'serve',
                    '--data',
                    self.directory,
                    '--listen',
                    f'{self.host}:{self.port}',
                    '--ready-fd',
                    str(write),
                    *([] if named else ['--no-config']),
                    *([] if '--store' in self.arguments or not self.store
                      else ['--store', self.store, '--relaxed']),
                    *self.arguments,
                ],
                pass_fds=[write, theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**self.environment, 'DORMOUSE_TEST_CLOCK_FD': str(theirs.fileno())},
            )
        os.close(write)
        theirs.close()
        return os.fdopen(read)

    def _first_line(self, stream):
        timer = threading.Timer(READY_LIMIT_S, self.process.kill)
        timer.start()
        try:
            return stream.readline()
        finally:
            timer.cancel()

    def advance(self, seconds):
        """Moves its clock that far ahead of the test's from now on, also after a restart. When this
        returns, everything due by timers and in the store has begun; output to sockets and programs
        may still be under way."""
        if self.beside:
            self.beside.advance(seconds)
        self._send_to_clock(seconds)
        self._clock_moved()
        self.ahead += seconds
        if self.client:
            self.client.close()  # the server may have: it was idle for that long

    def _send_to_clock(self, seconds):
        self.clock.settimeout(READY_LIMIT_S)
        self.clock.sendall(b'advance %d\n' % round(seconds * 1000))

    def _clock_moved(self):
        answer = self.clock.makefile().readline()
        assert answer == 'ok\n', f'the clock: {answer!r}; the log:\n{self.tail()}'

    def time(self):
        """Returns its wall clock."""
        return time.time() + self.ahead

    def new_client(self, timeout=70):
        if self.beside:
            return AlternatingClient([self.port, self.beside.port], self.token, timeout)
        return Client(self.port, self.token, timeout)

    @contextlib.contextmanager
    def alone(self):
        """Meanwhile its clients send to it only, not also to the server beside it: what is tested
        is said of one server."""
        beside, self.beside = self.beside, None
        both, self.client = self.client, self.new_client()
        try:
            yield
        finally:
            self.client.close()
            self.beside, self.client = beside, both

    def urls(self):
        """Returns its address, and that of the server beside it."""
        both = [self, self.beside] if self.beside else [self]
        return [f'http://127.0.0.1:{one.port}' for one in both]

    def kill(self, after=0):
        """Sends SIGKILL, like a power failure for the process."""
        if after:
            wait_for_fault(after)  # the moment of the kill is what is tested
        if self.beside:
            self.beside.kill()
        self.process.kill()
        self.process.wait()

    def term(self, within=STOP_LIMIT_S):
        """Sends SIGTERM; returns the exit status. REQUIRES: it ends within so many seconds."""
        if self.beside and self.beside.alive():
            self.beside.term()
        self.process.terminate()
        return self.process.wait(timeout=within)

    def restart(self, down=0, after=0):
        """Kills the server and starts it after `down` seconds."""
        self.kill(after)
        self.ahead += down
        return self.start()

    def while_down(self, *statements):
        """Runs SQL that changes stored data, between a stop and a start."""
        self.term()
        self.change(*statements)
        return self.start()

    def alive(self):
        return self.process.poll() is None

    def tail(self):
        return self.log.read_text(errors='replace')[-4000:] if self.log.exists() else ''

    def finish(self):
        """Checks what holds at the end of every test."""
        client = self.new_client()
        doctor = client.get('/api/doctor')
        client.close()
        assert doctor.status == 200 and doctor['ok'] and doctor['stuck'] == [], doctor
        status = self.term()
        assert status == 0, f'SIGTERM: exit status {status}; its log:\n{self.tail()}'
        self.verify()

    def verify(self):
        report = self.checked('--json')
        assert report.returncode == 0, f'verify: {report.stdout}{report.stderr}'
        assert json.loads(report.stdout)['findings'] == []

    def checked(self, *options):
        """Runs `dormouse verify` on its store."""
        store = ['--store', self.store] if self.store else ['--data', self.directory]
        key = ['--key-env', self.key_env] if self.key_env else []
        return run('verify', *store, *key, *options, timeout=120, env=self.environment)

    def clean(self):
        if self.beside:
            self.beside.clean()
        if self.process and self.alive():
            self.kill()
        if self.clock:
            self.clock.close()
        shutil.rmtree(self.own, ignore_errors=True)

    # ---- short forms for most tests

    def call(self, *arguments, **named):
        return self.client.call(*arguments, **named)

    def get(self, path, **headers):
        return self.client.get(path, **headers)

    def post(self, path, body=NOTHING, **headers):
        return self.client.post(path, body, **headers)

    def delete(self, path):
        return self.client.delete(path)

    def create(self, text=None, agent='demo', wait=20, project='default', **more):
        """Creates a session; with a text waits until it is idle."""
        body = {'agentID': agent, **more}
        if text is not None:
            body['prompt'] = {'text': text}
        query = f'?wait={wait}' if text is not None and wait else ''
        answer = self.post(f'/api/projects/{project}/sessions{query}', body)
        assert answer.status == 201, answer
        return answer.json

    def prompt(self, session, text, wait=20, **more):
        query = f'?wait={wait}' if wait else ''
        return self.post(f'/api/sessions/{session}/prompt{query}', {'text': text, **more})

    def session(self, session, wait=0):
        answer = self.get(f'/api/sessions/{session}' + (f'?wait={wait}' if wait else ''))
        assert answer.status == 200, answer
        return answer.json

    def at_rest(self, session):
        now = self.session(session, wait=30)
        assert now['activity']['type'] in ('idle', 'waiting_async'), now
        return now

    def items(self, path):
        """Returns all pages of a list."""
        found, cursor = [], None
        while True:
            glue = '&' if '?' in path else '?'
            page = self.get(path + (f'{glue}cursor={cursor}' if cursor else ''))
            assert page.status == 200, page
            found += page['items']
            cursor = page['next']
            if cursor is None:
                return found

    def open_calls(self, session):
        """Returns the open calls in request order."""
        return self.items(f'/async-tool/pending?sessionID={session}')[::-1]

    def messages(self, session):
        return self.items(f'/api/sessions/{session}/messages')

    def turns(self, session):
        return self.items(f'/api/sessions/{session}/turns')

    def events(self, session):
        return self.items(f'/api/sessions/{session}/events?limit=200')

    def last_text(self, session):
        """Returns the text of the agent's newest message."""
        last = [m for m in self.messages(session) if m['role'] == 'assistant'][-1]
        return ''.join(part['text'] for part in last['parts'] if part['type'] == 'text')

    def result(self, pending, output, **more):
        return self.post(
            '/async-tool/result', {'pendingID': pending, 'result': {'output': output, **more}}
        )

    def error(self, pending, text):
        return self.post('/async-tool/error', {'pendingID': pending, 'error': text})

    def decide(self, call, approved, **more):
        return self.post(
            '/async-tool/decision',
            {
                'pendingID': call['id'],
                'approved': approved,
                'inputDigest': call['inputDigest'],
                **more,
            },
        )


class Beside(Server):
    """A server that shares the store of another one."""


class Alone(Server):
    """A server without another one beside it, whatever the store: for tests of what one server has
    to itself, such as its programs, its memory and its connections."""


class OnDisk(Alone):
    """A server with an SQLite database of its own, whatever the store: for tests of its disk, and
    of what a server with a database that others may share leaves out."""

    def __init__(self, *arguments, **named):
        super().__init__('--store', 'sqlite', *arguments, **named)


class Case(unittest.TestCase):
    """Each test has its own server; at its end `finish` holds."""

    maxDiff = None
    arguments = ()
    kind = None  # of its server, if it is another class than Server

    def new_server(self, *arguments, **more):
        return (self.kind or Server)(*arguments, **more)

    def setUp(self):
        self.server = self.new_server(*self.arguments)
        self.addCleanup(self.server.clean)

    def configured(self, text, **env):
        """Starts the test's server with this configuration; `setUp` must then start none."""
        folder = tempfile.TemporaryDirectory(prefix='dormouse-config-')
        self.addCleanup(folder.cleanup)
        self.config_path = pathlib.Path(folder.name) / 'dormouse.toml'
        self.config_path.write_text(text)
        self.server = self.new_server('--config', str(self.config_path), env=env)
        self.addCleanup(self.server.clean)
        return self.server

    def tearDown(self):
        if self.server.process and self.server.alive():
            self.server.finish()

    def assertStatus(self, answer, status):
        self.assertEqual(answer.status, status, answer)
        return answer

    def assertProblem(self, answer, status, code, **members):
        """Checks a problem document: all its members, and these values."""
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.headers['Content-Type'], 'application/problem+json')
        problem = answer.json
        self.assertEqual(problem['code'], code, answer)
        self.assertEqual(problem['status'], status)
        self.assertEqual(problem['type'], f'/errors/{code}')
        self.assertIn(problem['next'], ('fix', 'retry', 'stop', 'reopen'))
        for name in ('title', 'detail', 'requestID', 'instance'):
            self.assertIsInstance(problem[name], str, name)
        self.assertIn('retryAfter', problem)
        if problem['retryAfter'] is not None:
            self.assertGreaterEqual(int(answer.headers['Retry-After']), 1)
        for name, value in members.items():
            self.assertEqual(problem[name], value, name)
        return problem


def wait_for_fault(seconds):
    """Waits. Only for faults: their moment, or how long they last, is what is tested."""
    time.sleep(seconds)  # a fault


def wait_for(is_true, seconds=20, what='it'):
    """Polls, for conditions that no waiting request covers."""
    end = time.monotonic() + seconds
    while True:
        value = is_true()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f'{what} did not come within {seconds} s')
        time.sleep(0.02)  # the only loop that polls: nothing signals the condition


def children_of(pid):
    """Returns all processes below it."""
    out = []
    for entry in pathlib.Path('/proc').iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / 'stat').read_text().rsplit(')', 1)[1].split()[1])
        except (OSError, IndexError):
            continue
        if parent == pid:
            out += [int(entry.name), *children_of(int(entry.name))]
    return out


def programs_of(pid):
    """Returns the processes below a server without the guard of each program."""
    out = []
    for child in children_of(pid):
        with contextlib.suppress(OSError):
            if b'--guard-a-program' not in pathlib.Path(f'/proc/{child}/cmdline').read_bytes():
                out.append(child)
    return out


def end_on_sigterm():
    """Makes SIGTERM run clean-ups, so that no server stays behind."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def main():
    end_on_sigterm()
    unittest.main(module='__main__', warnings='ignore')
