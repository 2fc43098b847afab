#!/usr/bin/env python3
"""With little more memory than it needs to start (RLIMIT_AS), the server refuses work and
continues: a request that finds no memory ends with 503 or 500, and what was acknowledged is stored
after a restart."""
import collections
import pathlib
import re
import subprocess
import threading

from dormouse import Case, Client, Server, leave_out, main, wait_for

MIB = 1024 * 1024
HEADROOM_MIB = 120  # above what it uses after its start
REFUSED = {500, 503}


def address_space(server):
    status = pathlib.Path(f'/proc/{server.process.pid}/status').read_text()
    return int(re.search(r'VmSize:\s+(\d+) kB', status)[1]) * 1024


def has_sanitizer():
    """The shadow memory of a sanitizer takes terabytes of address space, so none can be measured.
    """
    server = Server()
    try:
        return address_space(server) > 2**40
    finally:
        server.clean()


class Capped(Server):
    headroom = HEADROOM_MIB

    def spawn(self):
        ready = super().spawn()
        line = ready.readline()  # it has started
        limit = str(address_space(self) + self.headroom * MIB)
        subprocess.run(['prlimit', '--pid', str(self.process.pid), f'--as={limit}'], check=True)
        return Line(line, ready)


class Line:
    """A ready line that was read already."""

    def __init__(self, line, file):
        self.line, self.file = line, file

    def readline(self):
        return self.line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()


class MemoryCap(Case):
    def setUp(self):
        self.server = Capped()
        self.addCleanup(self.server.clean)
        self.answers = collections.Counter()
        self.acknowledged = []

    def ask(self, method, path, body=None, headers=None, client=None):
        """Returns the answer, or None when the connection ended without one. Both are counted."""
        try:
            arguments = [] if body is None else [body]
            answer = (client or self.server.new_client()).call(
                method, path, *arguments, headers=headers
            )
        except OSError as error:
            self.answers[type(error).__name__] += 1
            return None
        except Exception as error:  # http.client: a line that is none
            self.answers[type(error).__name__] += 1
            return None
        self.answers[answer.status] += 1
        return answer

    def alive(self):
        self.assertTrue(self.server.alive(), f'{self.answers} {self.server.tail()}')

    def is_well(self):
        self.alive()
        wait_for(lambda: self.probe('/healthz') == 200, 30, '/healthz')
        wait_for(lambda: self.probe('/readyz') == 200, 60, '/readyz')
        wait_for(lambda: self.session_works(), 60, 'a session that works')

    def probe(self, path):
        client = Client(self.server.port, self.server.token, timeout=20)
        try:
            return client.get(path).status
        finally:
            client.close()

    def session_works(self):
        body = {'agentID': 'demo', 'prompt': {'text': 'hello'}}
        answer = self.ask('POST', '/api/projects/default/sessions?wait=20', body)
        return answer is not None and answer.status == 201

    def long_session(self, size):
        """Returns the waiting call of a new session with a history of this size; None: it was
        refused."""
        body = {'agentID': 'demo', 'prompt': {'text': 'x' * size}}
        made = self.ask('POST', '/api/projects/default/sessions?wait=20', body)
        if made is None or made.status != 201:
            return None
        path = f'/api/sessions/{made["id"]}/prompt?wait=20'
        if self.ask('POST', path, {'text': 'deploy A'}) is None:
            return None
        path = f'/async-tool/pending?sessionID={made["id"]}'
        listed = self.ask('GET', path)
        if listed is None or listed.status != 200 or not listed['items']:
            return None
        return listed['items'][0]['id']

    def settle(self, pending, output):
        body = {'pendingID': pending, 'result': {'output': output}}
        answer = self.ask('POST', '/async-tool/result', body)
        if answer is not None and answer.status == 200:
            self.acknowledged.append((pending, answer['receipt']['digest']))

    def all_acknowledged_are_there(self):
        self.server.kill()
        self.server.headroom = 4_000
        self.server.start()
        self.assertGreater(len(self.acknowledged), 10, self.answers)
        for pending, digest in self.acknowledged:
            shown = self.server.get(f'/async-tool/pending/{pending}')
            self.assertStatus(shown, 200)
            self.assertEqual(shown['receipt']['digest'], digest)
        self.server.term()
        self.server.verify()

    def run_at_once(self, work, count):
        threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def test_load_of_many_long_sessions_ends_no_process(self):
        def drive(number):
            for i in range(25):
                pending = self.long_session(900_000)
                if pending:
                    self.settle(pending, f'{number}-{i} ' + 'y' * 900_000)

        self.run_at_once(drive, 4)
        self.is_well()
        self.assertLessEqual({k for k in self.answers if k not in (200, 201)}, REFUSED)
        self.all_acknowledged_are_there()

    def test_load_of_large_values_ends_no_process(self):
        pendings = [p for p in (self.long_session(200_000) for _ in range(20)) if p]
        self.assertTrue(pendings)
        for pending in pendings:
            self.settle(pending, 'y' * 1_000_000)
        deep = '[' * 60 + '1' + ']' * 60
        many = '{"pendingID":"x","result":{"output":[' + ','.join([deep] * 60_000) + ']}}'

        def drive(number):
            for i in range(12):
                kind = (number + i) % 4
                if kind == 0:
                    raw = {'Content-Type': 'application/json'}
                    self.post_raw('/async-tool/result', many.encode(), raw)
                elif kind == 1:
                    for pending in pendings:
                        self.ask('GET', f'/async-tool/pending/{pending}')
                elif kind == 2:
                    self.ask('GET', '/api/events?limit=200')
                    self.ask('GET', '/api/doctor')
                else:
                    pending = self.long_session(900_000)
                    if pending:
                        self.settle(pending, 'z' * 6_000_000)

        self.run_at_once(drive, 8)
        self.is_well()
        self.all_acknowledged_are_there()

    def post_raw(self, path, raw, headers):
        client = self.server.new_client()
        try:
            self.answers[client.call('POST', path, raw=raw, headers=headers).status] += 1
        except Exception as error:
            self.answers[type(error).__name__] += 1
        finally:
            client.close()


def setUpModule():
    if subprocess.run(['which', 'prlimit'], capture_output=True).returncode != 0:
        leave_out('prlimit is not installed')
    if has_sanitizer():
        leave_out('the binary is built with a sanitizer')


if __name__ == '__main__':
    main()
