#!/usr/bin/env python3
"""MCP over HTTP at /mcp: sessions, both eras, streams, tokens, Origin, and a client of others."""
import http.client
import json
import pathlib
import subprocess
import threading

from dormouse import Alone, Case, Client, Server, main, wait_for
from npm import install

HERE = pathlib.Path(__file__).resolve().parent
META = {'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {}}
BOTH = 'application/json, text/event-stream'


class Mcp(Case):
    def post(self, message, path='/mcp', client=None, **headers):
        raw = message if isinstance(message, bytes) else json.dumps(message).encode()
        return (client or self.server.client).call('POST', path, raw=raw, headers={
            'Accept': BOTH, **{name.replace('_', '-'): v for name, v in headers.items()}})

    def ask(self, method, path='/mcp', client=None, headers=None, **params):
        return self.post({'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': params},
                         path=path, client=client, **(headers or {}))

    def last_message(self, answer):
        """The last message of an answer, which may be a stream."""
        lines = [line[6:] for line in answer.raw.decode().split('\n')
                 if line.startswith('data: {')]
        return json.loads(lines[-1] if lines else answer.raw)

    def begin(self, version='2025-06-18', path='/mcp'):
        answer = self.ask('initialize', path=path, protocolVersion=version, capabilities={},
                          clientInfo={'name': 'test', 'version': '1'})
        self.assertStatus(answer, 200)
        return answer.headers['Mcp-Session-Id'], json.loads(answer.raw)['result']

    def client(self, name, role, **more):
        made = self.server.post('/api/tokens', {'name': name, 'role': role, **more})
        self.assertStatus(made, 201)
        return Client(self.server.port, made['secret'])

    def stream(self, name, session=None, id=7, meta=None, **arguments):
        """Returns the open answer to a call that waits."""
        return self.begin_stream('tools/call', session, id, name=name, arguments=arguments,
                                 **({'_meta': meta} if meta else {}))

    def begin_stream(self, method, session=None, id=7, headers=None, server=None, **params):
        """Returns the open answer to a request that waits."""
        port = (server or self.server).port
        connection = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
        self.addCleanup(connection.close)
        headers = {'Authorization': f'Bearer {self.server.token}', 'Accept': BOTH,
                   'Content-Type': 'application/json', **(headers or {})}
        if session:
            headers['Mcp-Session-Id'] = session
        connection.request('POST', '/mcp', json.dumps(
            {'jsonrpc': '2.0', 'id': id, 'method': method, 'params': params}), headers)
        answer = connection.getresponse()
        answer.connection = connection
        self.assertEqual((answer.status, answer.headers['Content-Type']),
                         (200, 'text/event-stream'))
        return answer

    def messages(self, stream):
        return [json.loads(line[6:]) for line in stream.read().decode().split('\n')
                if line.startswith('data: ')]

    def waiting(self, count=1):
        path = '/async-tool/pending?project=default'
        wait_for(lambda: len(self.server.items(path)) == count, 20)
        return self.server.items(path)


class Talking(Mcp):
    kind = Alone  # a session of the protocol and its streams belong to one server
    def test_initialize_begins_a_session_of_the_version(self):
        for version in ('2025-03-26', '2025-06-18', '2025-11-25'):
            session, result = self.begin(version)
            self.assertEqual(result['protocolVersion'], version)
            self.assertRegex(session, '^mcp_[A-Za-z0-9_-]{43}$')
            done = self.post({'jsonrpc': '2.0', 'method': 'notifications/initialized'},
                             Mcp_Session_Id=session, MCP_Protocol_Version=version)
            self.assertEqual((done.status, done.raw), (202, b''))
            listed = json.loads(self.ask('tools/list', headers={
                'Mcp-Session-Id': session, 'MCP-Protocol-Version': version}).raw)
            self.assertEqual([tool['name'] for tool in listed['result']['tools']],
                             ['approve', 'ask_human', 'collect_answer'])
        self.assertEqual(self.begin('1999-01-01')[1]['protocolVersion'], '2025-11-25')

    def test_session_of_a_client_ends_and_survives_a_restart(self):
        session, _ = self.begin()
        self.server.restart()
        self.assertStatus(self.ask('ping', headers={'Mcp-Session-Id': session}), 200)
        ended = self.server.call('DELETE', '/mcp', headers={'Mcp-Session-Id': session})
        self.assertStatus(ended, 204)
        self.assertStatus(self.ask('ping', headers={'Mcp-Session-Id': session}), 404)
        self.assertStatus(self.ask('ping', headers={'Mcp-Session-Id': 'invented'}), 404)
        self.assertStatus(self.server.call('DELETE', '/mcp'), 400)
        other, _ = self.begin()
        bob = self.client('bob', 'operate')
        self.assertStatus(self.ask('ping', client=bob), 200)
        self.assertStatus(self.ask('ping', client=bob, headers={'Mcp-Session-Id': other}), 404)

    def test_tools_of_a_session_are_those_of_stdio(self):
        session = self.server.create()['id']
        path = f'/mcp?session={session}'
        tools = json.loads(self.ask('tools/list', path=path).raw)['result']['tools']
        self.assertIn('deploy', [tool['name'] for tool in tools])
        started = json.loads(self.ask('tools/call', path=path, name='deploy',
                                      arguments={'target': 'api'}).raw)['result']
        self.assertFalse(started['isError'], started)
        self.assertIn('Started: deploy {"target":"api"}', started['content'][0]['text'])
        call, = self.waiting()
        self.server.result(call['id'], 'live')
        wait_for(lambda: self.server.turns(session), 20)
        unknown = '/mcp?session=ses_AAAAAAEAAAAAAAAAAAAAAA'
        gone = json.loads(self.ask('tools/list', path=unknown).raw)
        self.assertEqual(gone['error']['code'], -32002)

    def test_batch_is_for_the_first_version(self):
        batch = [{'jsonrpc': '2.0', 'id': 'a', 'method': 'ping'},
                 {'jsonrpc': '2.0', 'method': 'notifications/initialized'}, 3]
        answers = json.loads(self.post(batch, MCP_Protocol_Version='2025-03-26').raw)
        self.assertEqual([(one['id'], 'error' in one) for one in answers],
                         [('a', False), (None, True)])
        self.assertStatus(self.post(batch, MCP_Protocol_Version='2025-06-18'), 400)

    def test_mistakes_have_a_status_and_a_code(self):
        for raw, code in [(b'{', -32700), (b'3', -32600), (b'[]', -32600),
                          (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
                          (b'{"a":1,"a":2}', -32700)]:
            answer = self.post(raw)
            self.assertStatus(answer, 400)
            self.assertEqual(json.loads(answer.raw)['error']['code'], code, raw)
        unknown = self.ask('zzz')
        self.assertEqual((unknown.status, json.loads(unknown.raw)['error']['code']), (200, -32601))
        self.assertStatus(self.ask('ping', headers={'MCP-Protocol-Version': '1'}), 400)
        long = self.post({'jsonrpc': '2.0', 'id': 'x' * 300, 'method': 'ping'})
        self.assertEqual((long.status, json.loads(long.raw)['error']['code']), (400, -32600))
        self.assertStatus(self.post(b' ' * (8 << 20) + b'{}'), 413)
        self.assertStatus(self.server.call('PUT', '/mcp'), 405)

    def test_get_is_a_stream_that_stays_open(self):
        connection = http.client.HTTPConnection('127.0.0.1', self.server.port, timeout=30)
        self.addCleanup(connection.close)
        connection.request('GET', '/mcp', headers={
            'Authorization': f'Bearer {self.server.token}', 'Accept': 'text/event-stream'})
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.headers['Content-Type']),
                         (200, 'text/event-stream'))
        self.server.advance(20)
        self.assertTrue(answer.readline(), 'a heartbeat')
        self.assertStatus(self.server.get('/mcp'), 400)
        self.assertStatus(self.server.call('GET', '/mcp', headers={
            'Accept': 'text/event-stream', 'MCP-Protocol-Version': '2026-07-28'}), 405)


class Stateless(Mcp):
    def modern(self, method, headers=None, meta=META, **params):
        name = {'Mcp-Name': params['name']} if 'name' in params else {}
        sent = {'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method, **name,
                **(headers or {})}
        return self.ask(method, headers=sent, _meta=meta, **params)

    def test_request_needs_nothing_before_it(self):
        found = self.modern('server/discover')
        self.assertStatus(found, 200)
        self.assertNotIn('Mcp-Session-Id', found.headers)
        result = json.loads(found.raw)['result']
        self.assertEqual(result['supportedVersions'],
                         ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'])
        self.assertEqual((result['resultType'], result['cacheScope']), ('complete', 'private'))
        self.assertEqual(result['_meta']['io.modelcontextprotocol/serverInfo']['name'], 'dormouse')
        task = json.loads(self.modern('tools/call', name='ask_human',
                                      arguments={'question': 'Which?'}).raw)['result']
        self.assertEqual((task['isError'], task['resultType']), (False, 'complete'))
        self.waiting(1)

    def test_headers_must_repeat_the_body(self):
        for headers, meta, status, code in [
            ({'Mcp-Method': 'tools/list'}, META, 400, -32020),
            ({'MCP-Protocol-Version': '2025-06-18'}, META, 400, -32020),
            ({'MCP-Protocol-Version': None}, META, 400, -32020),
            ({}, {}, 400, -32602),
            ({}, {**META, 'io.modelcontextprotocol/clientCapabilities': 1}, 400, -32602),
            ({'MCP-Protocol-Version': '2027-01-01'},
             {**META, 'io.modelcontextprotocol/protocolVersion': '2027-01-01'}, 400, -32022),
        ]:
            answer = self.modern('server/discover', headers=headers, meta=meta)
            self.assertEqual((answer.status, json.loads(answer.raw)['error']['code']),
                             (status, code), (headers, meta))
        wrong = self.modern('tools/call', headers={'Mcp-Name': 'approve'}, name='ask_human',
                            arguments={})
        self.assertEqual((wrong.status, json.loads(wrong.raw)['error']['code']), (400, -32020))
        self.assertStatus(self.modern('ping'), 404)
        self.assertStatus(self.modern('initialize'), 404)


class Waits(Mcp):
    kind = Alone  # a session of the protocol and its streams belong to one server
    def test_permission_is_streamed_with_progress(self):
        session, _ = self.begin()
        stream = self.stream('approve', session, meta={'progressToken': 'p'}, tool_name='Bash',
                             input={'command': 'ls'})
        call, = self.waiting()
        self.server.advance(60)
        self.server.decide(call, True)
        *progress, answer = self.messages(stream)
        self.assertEqual(json.loads(answer['result']['content'][0]['text']),
                         {'behavior': 'allow', 'updatedInput': {'command': 'ls'}})
        self.assertEqual(answer['id'], 7)
        for number, one in enumerate(progress, 1):
            self.assertEqual((one['method'], one['params']['progress']),
                             ('notifications/progress', number))

    def test_client_that_withdraws_or_leaves_cancels_its_question(self):
        session, _ = self.begin()
        stream = self.stream('approve', session, tool_name='Bash', input={})
        self.waiting()
        refused = self.post({'jsonrpc': '2.0', 'id': 7, 'method': 'ping'}, Mcp_Session_Id=session)
        self.assertEqual(json.loads(refused.raw)['error']['code'], -32600, 'its id is open')
        self.post({'jsonrpc': '2.0', 'method': 'notifications/cancelled',
                   'params': {'requestId': 7}}, Mcp_Session_Id=session)
        self.server.advance(60)
        self.waiting(0)
        stream.read()
        left = self.stream('approve', tool_name='Bash', input={})
        self.waiting()
        left.connection.close()
        left.close()
        self.waiting(0)

    def test_question_found_again_by_its_use_after_a_kill(self):
        self.stream('approve', tool_name='Bash', input={'a': 1}, tool_use_id='toolu_1')
        call, = self.waiting()
        self.server.restart()
        again = self.stream('approve', tool_name='Bash', input={'a': 1}, tool_use_id='toolu_1')
        self.assertEqual([one['id'] for one in self.waiting()], [call['id']])
        self.server.decide(call, False, reason='no')
        answer, = self.messages(again)
        self.assertEqual(json.loads(answer['result']['content'][0]['text'])['behavior'], 'deny')

    def test_client_without_streams_gets_one_answer(self):
        self.server.post('/api/pending', {'question': 'Which?', 'kind': 'answer'})
        call, = self.waiting()
        answers = []
        other = self.server.new_client()
        thread = threading.Thread(target=lambda: answers.append(self.ask(
            'tools/call', client=other, headers={'Accept': 'application/json'},
            name='collect_answer', arguments={'id': call['id'], 'wait': 60000})))
        thread.start()
        self.server.result(call['id'], 'eu')
        thread.join(30)
        self.assertEqual(json.loads(answers[0].raw)['result']['content'][0]['text'], 'eu')


class Rights(Mcp):
    def test_client_without_a_token_learns_how_to_send_one(self):
        outsider = Client(self.server.port, None)
        refused = self.ask('ping', client=outsider)
        self.assertChallenged(refused, sent=False)
        for path in ('/.well-known/oauth-protected-resource',
                     '/.well-known/oauth-protected-resource/mcp'):
            found = outsider.get(path)
            self.assertStatus(found, 200)
            self.assertEqual(found['resource'], f'http://127.0.0.1:{self.server.port}/mcp')
            self.assertEqual(found['bearer_methods_supported'], ['header'])
        self.assertStatus(outsider.get('/.well-known/oauth-protected-resource/x'), 401)

    def assertChallenged(self, answer, sent=True):
        self.assertStatus(answer, 401)
        place = f'http://127.0.0.1:{self.server.port}/.well-known/oauth-protected-resource/mcp'
        error = (', error="invalid_token", '
                 'error_description="The token is unknown, expired or revoked"') if sent else ''
        self.assertEqual(answer.headers['WWW-Authenticate'],
                         f'Bearer realm="dormouse", resource_metadata="{place}"{error}')

    def test_token_that_is_not_valid_is_challenged_everywhere(self):
        other = Server()
        self.addCleanup(other.clean)
        with self.subTest('of another server'):
            self.assertChallenged(self.ask('ping', client=Client(self.server.port, other.token)))
        short = self.client('short', 'operate', ttlMs=1_000)
        gone = self.client('gone', 'operate')
        self.assertStatus(self.ask('ping', client=short), 200)
        self.server.advance(2)
        token, = [one for one in self.server.items('/api/tokens') if one['name'] == 'gone']
        self.assertStatus(self.server.delete(f'/api/tokens/{token["id"]}'), 204)
        for bad in (short, gone, Client(self.server.port, None),
                    Client(self.server.port, 'dm_nonsense')):
            self.server.advance(2)  # the failures that a second allows
            for method in ('POST', 'GET', 'DELETE'):
                with self.subTest(token=bad.token, method=method):
                    body = {'raw': b'{"jsonrpc":"2.0","id":1,"method":"ping"}'}
                    self.assertChallenged(bad.call(method, '/mcp', **(
                        body if method == 'POST' else {}), headers={
                            'Accept': 'text/event-stream'}), sent=bad.token is not None)

    def test_token_in_the_address_is_no_token(self):
        outsider = Client(self.server.port, None)
        for name in ('access_token', 'token'):
            self.assertChallenged(self.ask('ping', client=outsider,
                                           path=f'/mcp?{name}={self.server.token}'), sent=False)

    def test_revoked_token_ends_its_streams(self):
        session = self.server.post('/api/tokens', {'name': 'ann', 'role': 'operate'})
        ann = Client(self.server.port, session['secret'])
        hello = self.ask('initialize', client=ann, protocolVersion='2025-11-25', capabilities={},
                         clientInfo={'name': 't', 'version': '1'})
        stream = self.begin_stream('tools/call', hello.headers['Mcp-Session-Id'], headers={
            'Authorization': f'Bearer {ann.token}'}, name='approve', arguments={
                'tool_name': 'Bash', 'input': {}})
        self.waiting()
        token, = [one for one in self.server.items('/api/tokens') if one['name'] == 'ann']
        self.assertStatus(self.server.delete(f'/api/tokens/{token["id"]}'), 204)
        self.server.advance(60)
        self.assertFalse(b'allow' in stream.read())

    def test_pages_of_other_sites_are_refused(self):
        self.assertStatus(self.ask('ping', headers={'Origin': 'http://evil.example'}), 403)
        own = f'http://127.0.0.1:{self.server.port}'
        self.assertStatus(self.ask('ping', headers={'Origin': own}), 200)
        self.assertStatus(self.ask('ping', headers={'Host': 'evil.example'}), 421)
        self.assertStatus(self.post(b'{}', Content_Type='text/plain'), 415)

    def test_tools_have_the_rights_of_the_token(self):
        reader = self.client('eve', 'read')
        answer = json.loads(self.ask('tools/call', client=reader, name='ask_human',
                                     arguments={'question': 'x'}).raw)['result']
        self.assertTrue(answer['isError'])
        self.assertIn('role operate', answer['content'][0]['text'])
        other = self.client('tom', 'operate', projects=['other'])
        session = self.server.create()['id']
        hidden = json.loads(self.ask('tools/list', path=f'/mcp?session={session}',
                                     client=other).raw)
        self.assertEqual(hidden['error']['code'], -32002)


class Others(Mcp):
    """The protocol's own client, in both eras."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.missing = install(HERE / 'mcp', 'node')

    def test_client_of_the_protocol_asks_and_collects(self):
        if self.missing:
            self.skipTest(self.missing)
        for era in ('legacy', 'modern'):
            with self.subTest(era=era):
                run = subprocess.run(
                    ['node', str(HERE / 'mcp/client.mjs'), era,
                     f'http://127.0.0.1:{self.server.port}/mcp', self.server.token],
                    capture_output=True, text=True, timeout=60)
                self.assertEqual(run.returncode, 0, run.stderr)
                outcome = json.loads(run.stdout)
                self.assertEqual(outcome['tools'], ['approve', 'ask_human', 'collect_answer'])
                self.assertIn('still waits', outcome['collected'])
                self.assertEqual(outcome['version'],
                                 {'legacy': '2025-11-25', 'modern': '2026-07-28'}[era])


if __name__ == '__main__':
    main()
