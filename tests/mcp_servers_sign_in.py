#!/usr/bin/env python3
"""MCP servers over HTTP to which a person signs in (OAuth 2.1, authorization code with PKCE): calls
wait for it and continue by themselves; tokens are renewed, stored for the owner only, never
logged."""
import base64
import hashlib
import json
import os
import pathlib
import stat
import threading
import urllib.parse

import mcp_servers
from dormouse import Client, main, run, wait_for
from mcp_servers_oauth import Handler, Peer


class Issuer(Peer):
    """An MCP server and its authorization server, which registers clients and rotates its refresh
    tokens."""

    def __init__(self):
        super().__init__()
        self.RequestHandlerClass = SignInHandler
        self.clients, self.codes = {}, {}
        self.refresh, self.scope, self.needed = None, '', 'read'
        self.names_itself = True
        self.tokens_seen = set()
        self.renewing, self.may_renew = threading.Event(), threading.Event()
        self.may_renew.set()

    def sign_in(self, location):
        """What a person's browser does there; the query with which it comes back."""
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(location).query))
        code = f'code-{len(self.codes)}'
        self.codes[code] = query
        return query, {'code': code, 'state': query['state'], 'iss': self.url}


class SignInHandler(Handler):
    def do_GET(self):
        peer = self.server
        if self.path == '/.well-known/oauth-authorization-server':
            return self.answer(200, {
                'issuer': peer.url, 'token_endpoint': f'{peer.url}/token',
                'authorization_endpoint': f'{peer.url}/authorize',
                'registration_endpoint': f'{peer.url}/register',
                'authorization_response_iss_parameter_supported': True,
                'code_challenge_methods_supported': ['S256']})
        super().do_GET()

    def do_POST(self):
        if self.path != '/register':
            return super().do_POST()
        body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        client = f'client-{len(self.server.clients)}'
        self.server.clients[client] = body
        self.answer(201, {'client_id': client, **body})

    def give_token(self, body):
        peer = self.server
        form = dict(urllib.parse.parse_qsl(body.decode()))
        peer.grants.append(form)
        if basic := self.headers['Authorization']:
            pair = base64.b64decode(basic.removeprefix('Basic ')).decode()
            form['client_id'], form['client_secret'] = pair.split(':')
        if form['grant_type'] == 'refresh_token':
            peer.renewing.set()
            assert peer.may_renew.wait(30)
            if form['refresh_token'] != peer.refresh:
                return self.answer(400, {'error': 'invalid_grant'})
        else:
            grant = peer.codes.pop(form['code'], {})
            digest = hashlib.sha256(form['code_verifier'].encode()).digest()
            proof = base64.urlsafe_b64encode(digest).decode().rstrip('=')
            if (grant.get('code_challenge'), grant.get('redirect_uri'), grant.get('client_id')) != (
                    proof, form['redirect_uri'], form['client_id']):
                return self.answer(400, {'error': 'invalid_grant'})
            peer.scope = grant.get('scope', '')
        number = len(peer.grants)
        peer.token, peer.refresh = f'token-{number}', f'refresh-{number}'
        self.answer(200, {'access_token': peer.token, 'refresh_token': peer.refresh,
                          'token_type': 'Bearer', 'expires_in': peer.lifetime})

    def mcp(self, body):
        peer = self.server
        peer.tokens_seen.add(self.headers['Authorization'])
        valid = peer.token and self.headers['Authorization'] == f'Bearer {peer.token}'
        call = json.loads(body).get('method') == 'tools/call'
        if valid and call and peer.needed not in peer.scope.split():
            challenge = f'Bearer error="insufficient_scope", scope="{peer.needed}"'
            return self.answer(403, {}, WWW_Authenticate=challenge)
        super().mcp(body)


class SignIn(mcp_servers.Servers):
    def setUp(self):
        super().setUp()
        self.peer = Issuer()
        self.serve_signed_in(self.peer)
        self.page = f'http://127.0.0.1:{self.server.port}/mcp-sign-in/s'
        self.logged(f'a person must sign in: open {self.page}')

    def begin(self):
        """The address to which the browser is sent, and its cookie."""
        sent = self.server.get('/mcp-sign-in/s')
        self.assertStatus(sent, 303)
        return sent.headers['Location'], sent.headers['Set-Cookie'].split(';')[0]

    def come_back(self, cookie, **query):
        return self.server.get('/mcp-sign-in/s/callback?' + urllib.parse.urlencode(query),
                               Cookie=cookie)

    def sign_in(self):
        location, cookie = self.begin()
        query, back = self.peer.sign_in(location)
        self.assertStatus(self.come_back(cookie, **back), 200)
        return query

    def needed(self):
        return self.server.get('/api/doctor')['signIns']

    def state(self):
        found, = self.server.get('/api/doctor')['mcpServers']
        return found['state'], found['signIn']

    def test_token_of_a_person_is_used_renewed_and_stored(self):
        self.assertEqual(self.needed(), [{'server': 's', 'next': f'sign in: open {self.page}'}])
        self.assertEqual(self.state(), ('failing', 'needed'))
        query = self.sign_in()
        self.assertEqual(
            (query['response_type'], query['resource'], query['scope'], query['redirect_uri'],
             query['code_challenge_method']),
            ('code', f'{self.peer.url}/mcp', 'read', f'{self.page}/callback', 'S256'))
        wait_for(lambda: 'mcp:s:look' in self.tools(), 20, 'the tools')
        self.assertEqual(self.needed(), [])
        wait_for(lambda: self.state() == ('ready', 'good'), 20, 'the state')
        self.assertIn('looked with token-1', self.outcome(self.call('look')))
        self.assertEqual(self.peer.grants[0]['resource'], f'{self.peer.url}/mcp')
        self.server.advance(3600)
        self.assertIn('looked with token-2', self.outcome(self.call('look')))
        self.assertEqual(self.peer.grants[1]['refresh_token'], 'refresh-1')
        self.server.restart()
        self.assertIn('looked with token-2', self.outcome(self.call('look')))
        self.peer.token = 'revoked'
        self.assertIn('looked with token-3', self.outcome(self.call('look')))
        self.assertEqual(self.peer.grants[2]['refresh_token'], 'refresh-2')
        self.assertEqual(self.peer.clients['client-0']['redirect_uris'], [f'{self.page}/callback'])
        path = os.path.join(self.server.directory, 'mcp-sign-ins.json')
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        seen = self.server.log.read_text() + json.dumps(self.server.get('/api/doctor').json)
        for secret in ('token-', 'refresh-', 'code-0'):
            self.assertNotIn(secret, seen)

    def test_call_waits_for_a_sign_in_and_continues(self):
        self.sign_in()
        wait_for(lambda: 'mcp:s:look' in self.tools(), 20, 'the tools')
        self.peer.token = self.peer.refresh = 'revoked'
        task = self.call('look')
        call = self.waiting()
        self.assertEqual(call['reason'], 'elicitation')
        self.assertIn(self.page, call['message'])
        self.assertEqual(self.state(), ('ready', 'expired'))
        doctor = run('doctor', '--server', f'http://127.0.0.1:{self.server.port}',
                     '--data', self.server.directory)
        self.assertIn('mcp s: ready, sign-in expired', doctor.stdout)
        self.server.restart()
        self.sign_in()
        self.assertIn('looked with token-3', self.outcome(task))
        self.assertEqual(len(self.peer.clients), 1, 'it was registered once')
        settled = self.server.get(f'/api/pending/{call["id"]}')
        self.assertEqual(settled['receipt']['by']['name'], 'first')

    def test_more_rights_are_asked_for_when_the_server_needs_them(self):
        self.sign_in()
        wait_for(lambda: 'mcp:s:look' in self.tools(), 20, 'the tools')
        self.peer.needed = 'write'
        task = self.call('look')
        self.assertIn(self.page, self.waiting()['message'])
        self.assertEqual(self.state(), ('ready', 'needed'), 'the token is good, but not enough')
        self.assertEqual(self.sign_in()['scope'], 'read write')
        self.assertIn('looked with token-2', self.outcome(task))
        self.peer.needed = 'admin'
        self.call('look')
        self.server.decide(self.waiting(), False)
        self.assertIn('nobody has signed in', self.outcome())

    def test_token_is_sent_to_the_address_it_was_given_for_only(self):
        self.sign_in()
        wait_for(lambda: self.state() == ('ready', 'good'), 20, 'the state')
        other = Issuer()
        self.start_peer(other)
        self.change(f'url = "{self.peer.url}/mcp"', f'url = "{other.url}/mcp"')
        self.server.restart()
        wait_for(lambda: self.state() == ('failing', 'needed'), 20, 'the state')
        self.assertEqual(other.tokens_seen, {None})
        self.change(f'url = "{other.url}/mcp"', f'url = "{self.peer.url}/mcp"')
        self.assertStatus(self.server.post('/api/reload'), 200)
        wait_for(lambda: self.state() == ('ready', 'good'), 20, 'the state')
        self.change(f'url = "{self.peer.url}/mcp"', f'url = "{other.url}/mcp"')
        self.assertStatus(self.server.post('/api/reload'), 200)
        wait_for(lambda: self.state() == ('failing', 'needed'), 20, 'the state')
        self.assertEqual(other.tokens_seen, {None})

    def test_people_who_sign_in_at_the_same_time(self):
        begun = [self.begin() for _ in range(2)]
        for location, cookie in begun:
            _, back = self.peer.sign_in(location)
            self.assertStatus(self.come_back(cookie, **back), 200)
        self.assertEqual(len(self.peer.clients), 1, 'one registration for both')
        wait_for(lambda: self.state() == ('ready', 'good'), 20, 'the state')

    def test_secret_of_a_configured_client_is_not_stored(self):
        self.peer.clients['me'] = {}
        self.change('sign_in = true\n', 'sign_in = true\nclient_id = "me"\n'
                    f'issuer = "{self.peer.url}"\nclient_secret_env = "HUSH"\n')
        self.server.environment['HUSH'] = 'hush-hush'
        self.server.restart()
        self.logged(f'a person must sign in: open {self.page}')
        self.assertEqual(self.sign_in()['client_id'], 'me')
        stored = pathlib.Path(self.server.directory, 'mcp-sign-ins.json')
        self.assertNotIn('hush-hush', stored.read_text())
        self.server.restart()
        wait_for(lambda: self.state() == ('ready', 'good'), 20, 'the state')
        self.server.advance(3600)
        self.assertIn('looked with token-2', self.outcome(self.call('look')))
        self.assertEqual([one['client_secret'] for one in self.peer.grants], ['hush-hush'] * 2)

    def test_sign_in_during_a_renewal_counts(self):
        self.sign_in()
        wait_for(lambda: 'mcp:s:look' in self.tools(), 20, 'the tools')
        self.server.advance(3600)
        self.peer.may_renew.clear()
        task = self.call('look')
        self.assertTrue(self.peer.renewing.wait(20))
        self.sign_in()
        self.peer.may_renew.set()  # the token of the renewal has been replaced by now
        self.assertIn('looked with token-3', self.outcome(task))
        self.assertEqual(self.state(), ('ready', 'good'))
        self.server.advance(3600)
        self.assertIn('looked with token-4', self.outcome(self.call('look')))
        self.assertEqual(self.peer.grants[3]['refresh_token'], 'refresh-3')

    def change(self, former, now):
        path = self.folder / 'dormouse.toml'
        self.assertIn(former, path.read_text())
        path.write_text(path.read_text().replace(former, now))

    def test_answer_that_does_not_belong_signs_nobody_in(self):
        location, cookie = self.begin()
        _, back = self.peer.sign_in(location)
        for wrong in ({'state': 'x'}, {'code': ''}, {'iss': 'https://evil.example'},
                      {'error': 'access_denied'}):
            with self.subTest(**wrong):
                answer = self.come_back(cookie, **{**back, **wrong})
                self.assertGreaterEqual(answer.status, 400)
                location, cookie = self.begin()
                _, back = self.peer.sign_in(location)
        self.assertStatus(self.come_back('dormouse-mcp=x', **back), 401)
        outsider = Client(self.server.port, None)
        self.assertStatus(outsider.get('/mcp-sign-in/s'), 401)
        self.assertStatus(outsider.get('/mcp-sign-in/s/callback', Cookie=cookie), 401)
        self.assertStatus(self.server.get('/mcp-sign-in/other'), 404)
        self.assertEqual([one for one in self.peer.grants], [])
        self.assertStatus(self.come_back(cookie, **back), 200)
        self.assertStatus(self.come_back(cookie, **back), 401)


if __name__ == '__main__':
    main()
