#!/usr/bin/env python3
"""An MCP server whose authorization server is npm's oidc-provider: a person signs in, the token is
renewed, and after a revocation a person must sign in again. Needs node and npm."""
import base64
import json
import pathlib
import urllib.parse
import urllib.request

import mcp_servers
import oidc_peers
from dormouse import leave_out, main, wait_for
from mcp_servers_oauth import Handler, Peer

GUARD = {'id': 'guard', 'secret': 'of-the-guard'}


class Guarded(Handler):
    """Accepts the tokens that the authorization server says are active, and for this server."""

    def mcp(self, body):
        peer = self.server
        token = (self.headers['Authorization'] or '').removeprefix('Bearer ')
        claims = peer.ask('/token/introspection', token=token) if token else {}
        valid = (claims.get('active') and claims['aud'] == f'{peer.url}/mcp'
                 and claims['scope'] == 'read')
        peer.token = token if valid else None
        if valid:
            peer.tokens.add(token)
        super().mcp(body)


class Resource(Peer):
    def __init__(self):
        super().__init__()
        self.RequestHandlerClass = Guarded
        port = oidc_peers.free_port()
        self.issuer = f'http://127.0.0.1:{port}'
        self.issuers, self.tokens = [self.issuer], set()
        self.provider = oidc_peers.NodePeer('resource.mjs', {
            'issuer': self.issuer, 'port': port, 'introspector': GUARD})

    def ask(self, path, **fields):
        pair = base64.b64encode(f'{GUARD["id"]}:{GUARD["secret"]}'.encode()).decode()
        request = urllib.request.Request(
            self.issuer + path, urllib.parse.urlencode(fields).encode(),
            {} if 'client_id' in fields else {'Authorization': f'Basic {pair}'})
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None


class Authorized(mcp_servers.Servers):
    def setUp(self):
        super().setUp()
        self.peer = Resource()
        self.addCleanup(self.peer.provider.close)
        self.serve_signed_in(self.peer)

    def sign_in(self):
        """As a person does it in a browser."""
        sent = self.server.get('/mcp-sign-in/s')
        self.assertStatus(sent, 303)
        browser = oidc_peers.Browser()
        page = browser.follow(browser.open(sent.headers['Location']))
        for answer in ({'login': 'ann', 'password': 'any'}, {}):
            form = oidc_peers.Form(page.text)
            page = browser.open(form.action, {**form.fields, **answer})
            page = browser.follow(page, until=f'http://127.0.0.1:{self.server.port}/')
        back = urllib.parse.urlsplit(page.location)
        self.assertEqual(back.path, '/mcp-sign-in/s/callback', page)
        self.assertStatus(self.server.get(f'{back.path}?{back.query}',
                                          Cookie=sent.headers['Set-Cookie'].split(';')[0]), 200)

    def state(self):
        found, = self.server.get('/api/doctor')['mcpServers']
        return found['state'], found['signIn']

    def is_in(self, *state):
        wait_for(lambda: self.state() == state, 30, f'{state}')

    def revoke(self):
        """As the person does at the authorization server."""
        path = pathlib.Path(self.server.directory) / 'mcp-sign-ins.json'
        grant = json.loads(path.read_text())['s']
        self.peer.ask('/token/revocation', token=grant['refreshToken'],
                      client_id=grant['clientID'])

    def test_sign_in_is_needed_good_renewed_expired_and_good_again(self):
        self.is_in('failing', 'needed')
        self.sign_in()
        self.is_in('ready', 'good')
        self.assertIn('looked with', self.outcome(self.call('look')))
        self.server.advance(3600)
        self.assertIn('looked with', self.outcome(self.call('look')))
        self.assertEqual(len(self.peer.tokens), 2, 'it was renewed')
        self.server.restart()
        self.is_in('ready', 'good')
        self.revoke()
        task = self.call('look')
        self.assertIn('/mcp-sign-in/s', self.waiting()['message'])
        self.is_in('ready', 'expired')
        self.sign_in()
        self.assertIn('looked with', self.outcome(task))
        self.is_in('ready', 'good')


def setUpModule():
    if why := oidc_peers.install():
        leave_out(why)


if __name__ == '__main__':
    main()
