#!/usr/bin/env python3
"""Clients that send endless bodies, or do not read the answers, use no more memory than
`buffer_bytes`, and do not delay other clients. Nor do large bodies."""
import hashlib
import hmac
import json
import pathlib
import re
import socket
import threading

from dormouse import Case, Client, main, wait_for
from http_raw import read_all

MIB = 1024 * 1024
SOURCE = '[[source]]\nid = "ci"\nkind = "hmac"\nsecrets_env = ["S_CI"]\n'
# Generous: a busy machine answers late, a blocked server never.
SOON_S = 10


class Overload(Case):
    def setUp(self):
        """Each test starts the server with its limits."""

    def started(self, limits=''):
        text = f'[server]\ndemo = true\n[limits]\n{limits}\n{SOURCE}'
        return self.configured(text, S_CI='s3cret')

    def resident_mib(self):
        status = pathlib.Path(f'/proc/{self.server.process.pid}/status').read_text()
        return int(re.search(r'VmRSS:\s+(\d+) kB', status)[1]) / 1024

    def connected(self):
        client = socket.create_connection(('127.0.0.1', self.server.port), timeout=20)
        self.addCleanup(client.close)
        return client

    def head(self, path, length, *lines, method='POST'):
        return '\r\n'.join(
            [
                f'{method} {path} HTTP/1.1',
                f'Host: 127.0.0.1:{self.server.port}',
                'Content-Type: application/json',
                f'Content-Length: {length}',
                *lines,
                '\r\n',
            ]
        ).encode()

    def with_token(self):
        return f'Authorization: Bearer {self.server.token}'

    def begin(self, head, size):
        """Sends a body without its end, as far as the server accepts it."""
        client = self.connected()
        client.settimeout(0.5)
        try:
            client.sendall(head)
            client.sendall(b'x' * size)
        except OSError:
            pass  # refused, or ended to free memory
        return client

    def received(self, client):
        """Returns what the server answered before it closed, or within two seconds."""
        client.settimeout(2)
        return read_all(client).decode(errors='replace')

    def answered_soon(self, path='/readyz', within=SOON_S):
        client = Client(self.server.port, self.server.token, timeout=within)
        try:
            self.assertStatus(client.get(path), 200)
        finally:
            client.close()


class Bodies(Overload):
    def test_bodies_of_unknown_clients_stay_within_a_tenth(self):
        self.started()
        before = self.resident_mib()
        signed = 'X-Webhook-Signature: sha256=' + '0' * 64
        head = self.head('/async-tool/webhook/ci', MIB, signed)
        clients = [self.begin(head, MIB - 1) for _ in range(200)]
        self.answered_soon()
        self.assertLess(self.resident_mib() - before, 120)
        self.assertIn('"code":"overloaded"', self.received(clients[0]).replace('": "', '":"'))

    def test_unknown_bodies_are_refused_by_their_head(self):
        self.started()
        reader = self.server.post('/api/tokens', {'name': 'r', 'role': 'read'})['secret']
        reads = f'Authorization: Bearer {reader}'
        for path, line, status in (
            ('/sign-in', 'X-A: b', 413),
            ('/async-tool/webhook/none', 'X-A: b', 404),
            ('/async-tool/webhook/ci', 'X-A: b', 401),
            ('/async-tool/webhook', 'X-A: b', 401),
            ('/async-tool/result', reads, 403),
            ('/api/projects/default/sessions', reads, 403),
            ('/api/nowhere', reads, 404),
            ('/healthz', 'X-A: b', 405),
            ('/async-tool/result?x=1', f'Authorization: Bearer {self.server.token}', 400),
        ):
            with self.subTest(path=path):
                client = self.connected()
                client.sendall(self.head(path, MIB, line))
                self.assertIn(f'HTTP/1.1 {status} ', self.received(client).split('\r\n')[0] + ' ')

    def test_with_a_token_stay_within_the_whole(self):
        self.started(f'buffer_bytes = {32 * MIB}')
        before = self.resident_mib()
        head = self.head('/async-tool/result', 8 * MIB, self.with_token())
        clients = [self.begin(head, 4 * MIB) for _ in range(40)]
        self.answered_soon()
        self.assertLess(self.resident_mib() - before, 32 * 2.5 + 60)
        self.assertIn(' 503 ', self.received(clients[0]).split('\r\n')[0] + ' ')
        session = self.server.create('deploy A')
        (call,) = self.server.open_calls(session['id'])
        self.assertStatus(self.server.result(call['id'], 'x' * 100_000), 200)

    def test_requests_that_wait_keep_no_body(self):
        """A waiting request cannot be ended, so it must not hold what others need."""
        self.started(f'buffer_bytes = {16 * MIB}')
        (call,) = self.server.open_calls(self.server.create('deploy A')['id'])
        path = f'/async-tool/pending/{call["id"]}?wait=50'
        head = self.head(path, 512 * 1024, self.with_token(), method='GET')
        waiting = []
        for _ in range(48):  # together 24 MiB
            waiting.append(self.connected())
            waiting[-1].sendall(head + b'{}' + b' ' * (512 * 1024 - 2))
            if len(waiting) % 8 == 0:
                self.answered_soon()  # 4 MiB at a time: what is being read counts, too
        raw = json.dumps({'pendingID': call['id'], 'result': {'output': 'x' * (4 * MIB)}}).encode()
        give = lambda: self.server.new_client().call('POST', '/async-tool/result', raw=raw)
        # 503 until all of them wait: a request that is still being read keeps its body.
        wait_for(lambda: give().status == 200, 30, 'room for the result')
        for client in waiting:
            self.assertIn('200 OK', client.recv(64).decode())

    def test_large_answers_delay_no_other(self):
        self.started()
        session = self.server.create('deploy A')
        (call,) = self.server.open_calls(session['id'])
        self.assertStatus(self.server.result(call['id'], 'first'), 200)
        many = {f'key{i}': i for i in range(300_000)}
        raw = json.dumps({'pendingID': call['id'], 'result': {'output': many}}).encode()
        self.hold_up_nobody('/async-tool/result', raw, {409})

    def test_bodies_of_prompts_delay_no_other(self):
        self.started()
        session = self.server.create()
        parts = [{'type': 'text', 'text': f'part {i}'} for i in range(150_000)]
        raw = json.dumps({'parts': parts}).encode()
        self.assertGreater(len(raw), 4 * MIB)
        self.hold_up_nobody(f'/api/sessions/{session["id"]}/prompt', raw, {413})

    def test_bodies_of_imports_delay_no_other(self):
        self.started()
        keys = {f'key{i}': i for i in range(200)}
        call = {'type': 'tool', 'tool': 'x', 'input': keys, 'output': 1}
        message = {'role': 'assistant', 'at': 0, 'parts': [call] * 10}
        raw = json.dumps({'agentID': 'demo', 'messages': [message] * 200}).encode()
        self.assertGreater(len(raw), 4 * MIB)
        self.hold_up_nobody('/api/projects/default/import', raw, {201, 413})

    def test_bodies_of_webhooks_delay_no_other(self):
        self.started()
        body = {'pendingID': 'none', 'result': {'output': {f'k{i}': i for i in range(60_000)}}}
        raw = json.dumps(body).encode()
        self.assertLess(len(raw), MIB)
        digest = hmac.new(b's3cret', raw, hashlib.sha256).hexdigest()
        signed = {'X-Webhook-Signature': f'sha256={digest}'}
        self.hold_up_nobody('/async-tool/webhook/ci', raw, {404}, signed)

    def hold_up_nobody(self, path, raw, expected, headers=None):
        """Four clients send this repeatedly; others are answered meanwhile."""
        ended, statuses = threading.Event(), []

        def repeat():
            client = self.server.new_client()
            send = {'Content-Type': 'application/json', **(headers or {})}
            while not ended.is_set():
                statuses.append(client.call('POST', path, raw=raw, headers=send).status)
            client.close()

        threads = [threading.Thread(target=repeat) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            wait_for(lambda: len(statuses) >= 8, 60, 'the load')
            for probe in ('/healthz', '/readyz') * 40:
                self.answered_soon(probe, within=5)
        finally:
            ended.set()
            for thread in threads:
                thread.join()
        self.assertLessEqual(set(statuses), expected)


class Answers(Overload):
    def artifact(self):
        session = self.server.create('deploy A')
        (call,) = self.server.open_calls(session['id'])
        self.assertStatus(self.server.result(call['id'], 'x' * (7 * MIB)), 200)
        self.server.at_rest(session['id'])
        parts = [p for m in self.server.messages(session['id']) for p in m['parts']]
        (state,) = [p['state'] for p in parts if p['type'] == 'tool']
        return f'/api/artifacts/{state["artifactID"]}'

    def test_unread_answers_take_little_memory(self):
        self.started()
        path = self.artifact()
        self.server.get(path)  # what one download uses was in use before
        before = self.resident_mib()
        head = self.head(path, 0, self.with_token(), method='GET')
        for _ in range(150):
            self.connected().sendall(head)
        self.answered_soon('/healthz')
        wait_for(lambda: self.server.get('/readyz').status == 200, 120, 'the store')
        self.assertLess(self.resident_mib() - before, 150)
        whole = self.server.new_client().get(path)
        self.assertEqual(len(whole.raw), 7 * MIB)

    def test_unread_answers_end_over_the_budget(self):
        self.started(f'buffer_bytes = {16 * MIB}')
        path = self.artifact()
        head = self.head(path, 0, self.with_token(), method='GET')
        clients = []
        for _ in range(150):
            clients.append(self.connected())
            clients[-1].sendall(head)
        wait_for(lambda: self.ended(clients), 120, 'the end of one that does not read')
        self.assertEqual(len(self.server.new_client().get(path).raw), 7 * MIB)

    def ended(self, clients):
        log = self.server.get('/metrics').raw.decode()
        open_now = int(re.search(r'dormouse_http_connections (\d+)', log)[1])
        return open_now < len(clients)

    def test_answers_to_head_have_a_length_and_no_bytes(self):
        self.started()
        path = self.artifact()
        answer = self.server.call('HEAD', path)
        self.assertStatus(answer, 200)
        self.assertEqual(answer.headers['Content-Length'], str(7 * MIB))
        self.assertEqual(answer.raw, b'')


if __name__ == '__main__':
    main()
