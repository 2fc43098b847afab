#!/usr/bin/env python3
"""The first token is revoked for good: on the server that is asked, on all that share its database,
and on those that start later."""
import pathlib
import threading
import time

from dormouse import Case, Client, Events, Server, main, wait_for
from nodes_signals import Pair
from stored import STORE

AT_ONCE_S = 2  # until all servers refuse it
STREAMS_S = 5  # until its streams have ended


def made(server, name='root', role='admin', **more):
    """The client and the id of a new token."""
    answer = server.post('/api/tokens', {'name': name, 'role': role, **more})
    assert answer.status == 201, answer
    return Client(server.port, answer['secret']), answer['token']['id']


def status(server, secret):
    client = Client(server.port, secret)
    answer = client.get('/api/agents')
    client.close()
    return answer.status


class OneServer(Case):
    def setUp(self):
        super().setUp()
        self.first = self.server.token

    def use(self, client):
        """The end of the test asks with it."""
        self.server.token = client.token
        self.server.client = client

    def revoke(self, client):
        self.assertStatus(client.delete('/api/tokens/first'), 204)
        self.use(client)

    def test_revoked_one_is_refused_also_after_restarts(self):
        root, _ = made(self.server)
        session = self.server.create('deploy A')['id']
        streams = [Events(self.server, path, token=self.first)
                   for path in (f'/api/sessions/{session}/events', '/api/events')]
        self.revoke(root)
        began = time.monotonic()
        self.assertEqual(status(self.server, self.first), 401)
        for stream in streams:
            with stream:
                self.assertEqual(stream.rest()[-1].data, {'reason': 'revoked'})
        # A promise of docs/reference/http-server.md.
        self.assertLess(time.monotonic() - began, STREAMS_S)
        self.assertEqual([one['name'] for one in root.get('/api/tokens')['items']], ['root'])
        self.assertProblem(root.delete('/api/tokens/first'), 404, 'not_found')
        for start in (self.server.restart, lambda: (self.server.term(), self.server.start())):
            start()
            self.use(Client(self.server.port, root.token))
            self.assertEqual(status(self.server, self.first), 401)
            self.assertEqual(status(self.server, root.token), 200)

    def test_audit_names_who_revoked_it(self):
        root, _ = made(self.server)
        self.revoke(root)
        line, = [one['line'] for one in root.get('/api/audit?type=token_revoked')['items']]
        self.assertEqual((line['by']['name'], line['tokenID'], line['name']),
                         ('root', 'first', 'first'))

    def test_last_token_that_makes_tokens_stays(self):
        made(self.server, 'brief', ttlMs=3_600_000)
        made(self.server, 'shop', projects=['shop'])
        made(self.server, 'ann', 'operate')
        self.assertProblem(self.server.delete('/api/tokens/first'), 409, 'wrong_state')
        root, name = made(self.server)
        self.assertStatus(self.server.delete(f'/api/tokens/{name}'), 204)
        self.assertProblem(self.server.delete('/api/tokens/first'), 409, 'wrong_state')
        self.assertEqual(status(self.server, self.first), 200)
        root.close()

    def test_first_token_may_revoke_itself(self):
        root, _ = made(self.server)
        self.assertStatus(self.server.delete('/api/tokens/first'), 204)
        self.assertEqual(status(self.server, self.first), 401)
        self.use(root)

    def test_deleted_file_makes_another_one(self):
        root, _ = made(self.server)
        self.revoke(root)
        self.server.term()
        pathlib.Path(self.server.directory, 'token').unlink()
        if STORE == 'postgres':
            self.server.change("DELETE FROM settings WHERE name = 'token'")
        self.server.start()
        self.assertNotEqual(self.server.token, self.first)
        self.assertEqual(status(self.server, self.server.token), 200)
        self.assertEqual(status(self.server, self.first), 401)

    def test_secret_in_the_environment_is_refused_too(self):
        root, _ = made(self.server)
        self.revoke(root)
        self.server.term()
        self.server.environment['DORMOUSE_TOKEN'] = self.first
        self.server.start()
        self.use(Client(self.server.port, root.token))
        self.assertEqual(status(self.server, self.first), 401)


class InMemory(Case):
    def test_store_that_would_forget_it_refuses(self):
        server = Server('--store', 'memory')
        self.addCleanup(server.clean)
        made(server)
        self.assertProblem(server.delete('/api/tokens/first'), 409, 'wrong_state')
        self.assertEqual(status(server, server.token), 200)


class SeveralServers(Pair):
    def begin(self):
        """An admin's token, which is what the servers are asked with from then on."""
        self.first = self.a.token
        self.assertEqual(self.b.token, self.first)
        self.root, _ = made(self.a)
        return Client(self.b.port, self.root.token)

    def refused(self, *servers):
        for server in servers:
            wait_for(lambda: status(server, self.first) == 401, AT_ONCE_S, 'the refusal')

    def check(self):
        elsewhere = self.begin()
        session = self.a.create('deploy A')['id']
        streams = [Events(self.b, path, token=self.first)
                   for path in (f'/api/sessions/{session}/events', '/api/events')]
        self.assertEqual(self.root.delete('/api/tokens/first').status, 204)
        began = time.monotonic()
        self.refused(self.a, self.b)
        for stream in streams:
            with stream:
                bye = [frame for frame in stream.rest() if frame.event == 'bye']
                self.assertEqual([frame.data for frame in bye], [{'reason': 'revoked'}])
        # A promise of docs/reference/http-server.md.
        self.assertLess(time.monotonic() - began, STREAMS_S)
        self.assertEqual(elsewhere.delete('/api/tokens/first').status, 404)
        elsewhere.close()

    def test_revoked_one_is_refused_by_servers_that_start_later(self):
        self.start()
        self.check()
        self.b.restart()
        third = self.server()
        self.assertEqual([status(one, self.first) for one in (self.a, self.b, third)], [401] * 3)
        self.assertEqual([status(one, self.root.token) for one in (self.a, self.b, third)],
                         [200] * 3)
        self.assertEqual(third.term(), 0)

    def test_revocation_without_notifications(self):
        self.start(notified=False)
        self.check()

    def test_revocation_by_polling(self):
        self.start_polling()
        self.check()

    def test_two_revoke_it_while_a_third_starts(self):
        self.start()
        elsewhere = self.begin()
        statuses, more = [], []
        def revoke(client):
            statuses.append(client.delete('/api/tokens/first').status)
        threads = [threading.Thread(target=revoke, args=(client,))
                   for client in (self.root, elsewhere)]
        threads.append(threading.Thread(target=lambda: more.append(self.server())))
        for thread in reversed(threads):
            thread.start()
        for thread in threads:
            thread.join()
        self.assertIn(204, statuses)
        self.assertLessEqual(set(statuses), {204, 404}, statuses)
        third, = more
        self.refused(self.a, self.b, third)
        self.assertEqual(third.term(), 0)
        elsewhere.close()


if __name__ == '__main__':
    main()
