#!/usr/bin/env python3
"""MCP servers over HTTP that want OAuth tokens: fetched with client credentials when the server
asks, replaced when they end or are refused, never logged. No other issuer gets the secret."""
import base64
import http.server
import json
import urllib.parse

import mcp_servers
from dormouse import main

SECRET = 's3cret-of-the-client'


class Peer(http.server.ThreadingHTTPServer):
    """An MCP server and its authorization server at one address. It accepts the newest token."""
    daemon_threads = True

    def __init__(self):
        super().__init__(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.server_address[1]}'
        self.issuers = [self.url]
        self.token = None
        self.grants = []
        self.calls = 0
        self.lifetime = 3600


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, status, body, **headers):
        text = json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace('_', '-'), value)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        peer = self.server
        if self.path == '/meta':
            return self.answer(200, {'resource': f'{peer.url}/mcp',
                                     'authorization_servers': peer.issuers})
        if self.path == '/.well-known/oauth-authorization-server':
            return self.answer(200, {'issuer': peer.url, 'token_endpoint': f'{peer.url}/token'})
        self.answer(405 if self.path == '/mcp' else 404, {})

    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        (self.give_token if self.path == '/token' else self.mcp)(body)

    def give_token(self, body):
        peer = self.server
        form = dict(urllib.parse.parse_qsl(body.decode()))
        pair = base64.b64decode(self.headers['Authorization'].removeprefix('Basic ')).decode()
        peer.grants.append(form)
        if pair != f'dormouse:{SECRET}':
            return self.answer(401, {'error': 'invalid_client'})
        peer.token = f'token-{len(peer.grants)}'
        self.answer(200, {'access_token': peer.token, 'token_type': 'Bearer',
                          'expires_in': peer.lifetime})

    def mcp(self, body):
        peer = self.server
        if not peer.token or self.headers['Authorization'] != f'Bearer {peer.token}':
            challenge = f'Bearer error="invalid_token", resource_metadata="{peer.url}/meta"'
            return self.answer(401, {}, WWW_Authenticate=challenge)
        message = json.loads(body)
        if 'id' not in message:
            return self.answer(202, {})
        result = {'tools': [{'name': 'look', 'inputSchema': {'type': 'object'},
                             'annotations': {'readOnlyHint': True}}]}
        if message['method'] == 'initialize':
            result = {'protocolVersion': '2025-11-25', 'capabilities': {'tools': {}}}
        if message['method'] == 'tools/call':
            peer.calls += 1
            result = {'content': [{'type': 'text', 'text': f'looked with {peer.token}'}]}
        self.answer(200, {'jsonrpc': '2.0', 'id': message['id'], 'result': result})

    def log_message(self, *_):
        pass


class OAuth(mcp_servers.Servers):
    def setUp(self):
        super().setUp()
        self.peer = Peer()
        self.start_peer(self.peer)

    def start(self, secret=SECRET):
        self.serve(f'''
[[mcp]]
name = "s"
url = "{self.peer.url}/mcp"
issuer = "{self.peer.url}"
client_id = "dormouse"
client_secret_env = "MCP_SECRET"
scopes = ["read", "write"]
''', MCP_SECRET=secret)

    def test_token_is_fetched_used_and_replaced(self):
        self.start()
        self.assertIn('looked with token-1', self.outcome(self.call('look')))
        self.assertEqual(self.peer.grants, [{
            'grant_type': 'client_credentials', 'resource': f'{self.peer.url}/mcp',
            'scope': 'read write'}])
        self.peer.token = 'revoked'
        self.assertIn('looked with token-2', self.outcome(self.call('look')))
        self.server.advance(3600)
        self.assertIn('looked with token-3', self.outcome(self.call('look')))
        self.server.restart()
        self.assertIn('looked with token-4', self.outcome(self.call('look')))
        self.assertEqual(self.peer.calls, 4, 'no call was made twice')
        log = self.server.log.read_text() + json.dumps(self.server.get('/api/doctor').json)
        for secret in (SECRET, 'token-'):
            self.assertNotIn(secret, log)

    def test_wrong_secret_is_named(self):
        self.start('wrong')
        self.logged("MCP server 's': initialize failed: the issuer gave no token: invalid_client")
        self.assertNotIn('wrong', self.server.log.read_text())

    def test_secret_is_given_to_no_other_issuer(self):
        self.peer.issuers = ['https://evil.example']
        self.start()
        self.logged('its protected resource metadata does not name the issuer')
        self.assertEqual(self.peer.grants, [])


if __name__ == '__main__':
    main()
