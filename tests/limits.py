#!/usr/bin/env python3
"""Each limit of `[limits]`, set low and exceeded against the real server: its answer, and that
nothing changed. One test for each key; none can be left out."""
import json
import select
import socket
import unittest

from dormouse import Alone, Case, Client, main, tests_of_keys, wait_for

CONFIG = '[server]\ndemo = true\n%s[limits]\n%s\n'
BEHIND_A_PROXY = 'trusted_proxies = ["127.0.0.1"]\n'
FROM_OUTSIDE = {'X-Forwarded-For': '198.51.100.7'}


# test_validators_over_the_queue_limit_are_retryable in tests/validators.py; the last one is tested
# in tests/ask.py.
ELSEWHERE = ['validators_at_once', 'validators_waiting', 'waiting_calls']


def prompts_everywhere(session, task):
    """Every route that takes a prompt, and how its body has the text."""
    of_project, of_session = '/api/projects/default', f'/api/sessions/{session}'
    yield f'{of_session}/prompt', lambda text: {'text': text}
    yield f'{of_session}/prompt', lambda text: {'parts': [{'type': 'text', 'text': text}]}
    yield f'{of_project}/acp/session/{session}/prompt', lambda text: {'text': text}
    yield f'{of_session}/tasks', lambda text: {'agentID': 'demo', 'prompt': text}
    yield f'/api/tasks/{task}/resume', lambda text: {'message': text}
    for path, agent in ('sessions', 'agentID'), ('acp/session', 'agentId'):
        for prompt in {'text': '%s'}, {'parts': [{'type': 'text', 'text': '%s'}]}:
            body = json.dumps({agent: 'demo', 'prompt': prompt})
            yield f'{of_project}/{path}', lambda text, body=body: json.loads(body % text)


class Limits(Case):
    kind = Alone  # each server has its own

    def setUp(self):
        """Each test starts the server with its limits."""

    def started(self, limits, server=''):
        return self.configured(CONFIG % (server, limits))

    def connected(self, timeout=10):
        client = socket.create_connection(('127.0.0.1', self.server.port), timeout=timeout)
        self.addCleanup(client.close)
        return client

    def ends_after(self, client, limit_s):
        """The server closes after that time and not before; returns what it sent after it."""
        self.server.get('/healthz')  # answered after everything before it was read
        self.server.advance(limit_s / 2)
        self.assertFalse(select.select([client], [], [], 0)[0], 'closed, or said something')
        self.server.advance(limit_s / 2)
        seen = b''
        while more := client.recv(65536):
            seen += more
        return seen.decode()

    def limited(self, ask):
        """Sends requests until the rate limit refuses; returns how many were accepted."""
        for done in range(1000):
            answer = ask(done)
            if answer.status == 429:
                self.assertProblem(answer, 429, 'rate_limited')
                self.assertGreaterEqual(int(answer.headers['Retry-After']), 1)
                return done
        self.fail('never refused')

    def waiting(self, text='deploy A', **more):
        session = self.server.create(text, **more)['id']
        return session, [call['id'] for call in self.server.open_calls(session)]

    def untouched(self, session, change):
        before = self.server.events(session)
        answer = change()
        self.assertEqual(self.server.events(session), before)
        return answer


class EachOne(Limits):
    def test_submissions_per_token_per_s(self):
        server = self.started('submissions_per_token_per_s = 5', BEHIND_A_PROXY)
        _, calls = self.waiting('deploy A and B and C and D and E and F and G and H')
        token = server.post('/api/tokens', {'name': 'ci', 'role': 'answer'})['secret']
        client = Client(server.port, token)
        self.addCleanup(client.close)

        def settle(i):
            body = {'pendingID': calls[i % len(calls)], 'result': {'output': i}}
            return client.call('POST', '/async-tool/result', body, FROM_OUTSIDE)

        self.assertGreaterEqual(self.limited(settle), 5)

    def test_submissions_per_call_per_s(self):
        server = self.started('submissions_per_call_per_s = 5', BEHIND_A_PROXY)
        _, (call,) = self.waiting()
        token = server.post('/api/tokens', {'name': 'ci', 'role': 'answer'})['secret']
        client = Client(server.port, token)
        self.addCleanup(client.close)
        body = {'pendingID': call, 'result': {'output': 'up'}}
        again = lambda _: client.call('POST', '/async-tool/result', body, FROM_OUTSIDE)
        self.assertGreaterEqual(self.limited(again), 5)
        _, (other,) = self.waiting('deploy B')
        body = {'pendingID': other, 'result': {'output': 'up'}}
        answer = client.call('POST', '/async-tool/result', body, FROM_OUTSIDE)
        self.assertStatus(answer, 200)

    def test_failed_auth_per_address_per_s(self):
        server = self.started('failed_auth_per_address_per_s = 3')
        nobody = Client(server.port, 'wrong')
        self.addCleanup(nobody.close)
        self.assertGreaterEqual(self.limited(lambda _: nobody.get('/api/agents')), 3)
        self.assertStatus(server.get('/api/agents'), 200)

    def test_connections(self):
        server = self.started('connections = 2')
        held = server.new_client()
        self.assertStatus(held.get('/healthz'), 200)
        self.assertStatus(server.get('/healthz'), 200)
        third = server.new_client()
        self.assertStatus(third.get('/healthz'), 503)
        held.close()
        wait_for(lambda: third.get('/healthz').status == 200, what='a place that became free')
        third.close()
        server.client.close()

    def test_connections_per_address(self):
        """Not for this machine, from which tests call: src/http/transport/address_count_test.cc."""
        server = self.started('connections_per_address = 1')
        clients = [server.new_client() for _ in range(3)]
        for client in clients:
            self.assertStatus(client.get('/healthz'), 200)
        for client in clients:
            client.close()

    def test_buffer_bytes(self):
        server = self.started('buffer_bytes = 16777216')
        first, *others = [self.connected() for _ in range(5)]
        head = (
            f'POST /async-tool/result HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n'
            f'Authorization: Bearer {server.token}\r\nContent-Type: application/json\r\n'
            'Content-Length: 8000000\r\n\r\n'
        ).encode()
        for client in (first, *others):
            try:
                client.sendall(head + b' ' * 5_000_000)
            except OSError:
                pass  # ended, because later ones need the memory
        seen = b''
        try:
            while more := first.recv(65536):
                seen += more
        except OSError:
            pass
        self.assertIn(b'HTTP/1.1 503 ', seen)
        self.assertIn(b'overloaded', seen)
        wait_for(lambda: server.get('/readyz').status == 200, what='readiness')

    def test_header_bytes(self):
        server = self.started('header_bytes = 2048')
        # Of /healthz, as /readyz is 503 until the server has recovered.
        answer = server.get('/healthz', X='x' * 2048)
        self.assertProblem(answer, 431, 'headers_too_large')
        self.assertStatus(server.new_client().get('/healthz', X='x' * 1024), 200)

    def test_header_time_limit(self):
        self.started('header_time_limit = "20s"')
        client = self.connected()
        client.sendall(b'GET /readyz HTTP/1.1\r\nHost: ')
        answer = self.ends_after(client, 20)
        self.assertIn(answer.split('\r\n')[0], ('', 'HTTP/1.1 408 Request Timeout'))

    def test_body_time_limit(self):
        server = self.started('body_time_limit = "20s"')
        session = server.create()['id']
        client = self.connected()
        head = (
            f'POST /api/sessions/{session}/prompt HTTP/1.1',
            f'Host: 127.0.0.1:{server.port}',
            f'Authorization: Bearer {server.token}',
            'Content-Type: application/json',
            'Content-Length: 100',
        )
        client.sendall(('\r\n'.join(head) + '\r\n\r\n{"text":').encode())
        self.untouched(session, lambda: self.assertIn('408', self.ends_after(client, 20)))

    def test_idle_time_limit(self):
        self.started('idle_time_limit = "20s"')
        client = self.connected()
        client.sendall(
            f'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\n\r\n'.encode()
        )
        self.assertTrue(client.recv(65536).startswith(b'HTTP/1.1 200'))
        self.assertEqual(self.ends_after(client, 20), '')

    def test_heartbeat(self):
        server = self.started('heartbeat = "100ms"')
        session = server.create()['id']
        stream = self.connected()
        lines = (
            f'GET /api/sessions/{session}/events HTTP/1.1',
            f'Host: 127.0.0.1:{server.port}',
            'Accept: text/event-stream',
            f'Authorization: Bearer {server.token}',
        )
        stream.sendall(('\r\n'.join(lines) + '\r\n\r\n').encode())
        seen = b''
        while seen.count(b'\n:') < 3:
            more = stream.recv(4096)
            self.assertNotEqual(more, b'')
            seen += more

    def test_resident_sessions(self):
        """Over the limit sessions are released, and are unchanged when used again."""
        server = self.started('resident_sessions = 5')
        waiting = [self.waiting(f'deploy {i}') for i in range(30)]
        self.assertLess(server.get('/api/doctor')['nodes'][0]['resident'], 15)
        for i, (session, (call,)) in enumerate(waiting):
            self.assertStatus(server.result(call, f'up {i}'), 200)
            server.at_rest(session)
            self.assertEqual(server.last_text(session), f'deploy {i}: up {i}')

    def test_resident_bytes(self):
        """Over the limit the longest idle sessions are released, and are read again when used."""
        server = self.started('resident_bytes = 2000000')
        sessions = [server.create()['id'] for _ in range(30)]
        for session in sessions:
            self.assertStatus(server.prompt(session, 'x' * 200_000), 200)
        node = server.get('/api/doctor')['nodes'][0]
        self.assertLessEqual(node['residentBytes'], 2_000_000)
        self.assertLess(node['resident'], 10)
        for session in sessions:
            self.assertEqual(server.last_text(session), 'You said: ' + 'x' * 200_000)

    def test_resident_time(self):
        """Sessions idle for that long leave memory, and are read again when used."""
        server = self.started('resident_time = "20s"')
        waiting = [self.waiting(f'deploy {i}') for i in range(5)]
        server.advance(10)
        self.assertEqual(server.get('/api/doctor')['nodes'][0]['resident'], 5)
        server.advance(15)
        wait_for(lambda: server.get('/api/doctor')['nodes'][0]['resident'] == 0)
        for i, (session, (call,)) in enumerate(waiting):
            self.assertStatus(server.result(call, f'up {i}'), 200)
            server.at_rest(session)
            self.assertEqual(server.last_text(session), f'deploy {i}: up {i}')

    def test_prompt_bytes(self):
        server = self.started('prompt_bytes = 1024')
        session = server.create()['id']
        self.assertStatus(server.prompt(session, 'x' * 1024), 200)
        answer = server.post(f'/api/sessions/{session}/tasks', {'agentID': 'demo', 'prompt': 'go'})
        task = answer['taskID']
        server.get(f'/api/tasks/{task}/output?wait=30')
        for path, body in prompts_everywhere(session, task):
            with self.subTest(path, body=body('x')):
                answer = self.assertProblem(server.post(path, body('x' * 1025)), 413, 'too_large')
                self.assertEqual((answer['limit'], answer['max']), ('prompt_bytes', 1024))
                self.assertIn(server.post(path, body('x' * 1024)).status, (201, 202))
        for each in server.items('/api/projects/default/sessions'):
            self.assertNotIn('x' * 1025, json.dumps(server.events(each['id'])))

    def test_output_bytes(self):
        server = self.started('output_bytes = 1024')
        session, (call,) = self.waiting()
        self.assertStatus(server.result(call, 'x' * 1023), 200)  # with its quotes
        server.at_rest(session)
        state = server.messages(session)[1]['parts'][0]['state']
        self.assertEqual(state['output']['bytes'], 1023)
        self.assertEqual(server.get(f'/api/artifacts/{state["artifactID"]}').raw, b'x' * 1023)

    def test_queued_prompts(self):
        server = self.started('queued_prompts = 1')
        session, _ = self.waiting()
        self.assertStatus(server.prompt(session, 'one', wait=0, when='queue'), 202)
        full = self.untouched(session, lambda: server.prompt(session, 'two', wait=0, when='queue'))
        self.assertProblem(full, 429, 'queue_full')

    def failed(self, text):
        session = self.server.create(text)['id']
        (turn,) = self.server.turns(session)
        self.assertEqual(turn['finishReason'], 'error', turn)
        self.assertEqual(self.server.open_calls(session), [])
        return turn['error']['message']

    def test_open_calls(self):
        self.started('open_calls = 2\ncalls_per_reply = 2')
        self.assertEqual(len(self.waiting('deploy A and B')[1]), 2)
        self.assertIn('3 would be open (at most 2)', self.failed('deploy A and B and C'))

    def test_calls_per_reply(self):
        self.started('calls_per_reply = 2')
        self.assertEqual(len(self.waiting('deploy A and B')[1]), 2)
        self.assertIn('3 calls at once (at most 2)', self.failed('deploy A and B and C'))

    def test_progress_per_s(self):
        server = self.started('progress_per_s = 2')
        session, (call,) = self.waiting()
        body = {'pendingID': call, 'payload': 1}
        done = self.limited(lambda _: server.post('/async-tool/progress', body))
        self.assertGreaterEqual(done, 2)
        self.assertLess(done, 20)
        kept = [event for event in server.events(session) if event['type'] == 'progressed']
        self.assertEqual(len(kept), done)

    def test_progress_per_call(self):
        server = self.started('progress_per_call = 2')
        session, (call,) = self.waiting()
        body = {'pendingID': call, 'payload': 1}
        for _ in range(2):
            self.assertStatus(server.post('/async-tool/progress', body), 200)
        answer = self.untouched(session, lambda: server.post('/async-tool/progress', body))
        self.assertProblem(answer, 429, 'rate_limited')
        self.assertStatus(server.result(call, 'up'), 200)


class EachOneReloaded(EachOne):
    """The limits of a reload are those of a start."""

    def started(self, limits, server=''):
        running = self.configured(CONFIG % (server, ''))
        self.assertStatus(running.get('/healthz'), 200)  # on a connection that stays
        self.config_path.write_text(CONFIG % (server, limits))
        answer = self.assertStatus(running.post('/api/reload', {}), 200)
        self.assertEqual(answer['needsRestart'], [])
        self.assertEqual(len(answer['applied']), len(limits.splitlines()))
        return running


class Deleted(Limits):
    def test_deleted_sessions_leave_memory(self):
        server = self.started('resident_sessions = 1000')
        for _ in range(20):
            session = server.create()['id']
            self.assertStatus(server.call('DELETE', f'/api/sessions/{session}'), 204)
        node = server.get('/api/doctor')['nodes'][0]
        self.assertEqual((node['resident'], node['residentBytes']), (0, 0))


class Every(unittest.TestCase):
    def test_no_key_is_without_a_test(self):
        keys, tested = tests_of_keys('limits', EachOne)
        self.assertEqual(keys, sorted(tested + ELSEWHERE))


if __name__ == '__main__':
    main()
