#!/usr/bin/env python3
"""MCP over HTTP with two servers on one database: a session that ends or a request that is
withdrawn at one server ends at the other, too; by the database's notifications, by Redis, without
notifications, and with signal = "poll"."""
import http.client
import json

import index_redis
from dormouse import Client, main, wait_for
from mcp_http_resume import Events
from postgres_proxy import Proxy
from store_postgres import Database

LATE_S = 20  # long after what a second brings
POLL = '[server]\ndemo = true\n[store]\nurl = "%s"\nsignal = "poll"\n'
REDIS = '[server]\ndemo = true\n[store]\nurl = "%s"\nsignal = "redis"\nsignal_url = "%s"\n'
ASKED = {'tool_name': 'Bash', 'input': {}}


class Two(Database, Events):
    """`self.server` and `self.other`, which reaches the database through a proxy."""

    def setUp(self):
        Database.setUp(self)
        self.proxy = Proxy(self.database.port)
        self.addCleanup(self.proxy.close)
        self.begin_servers()
        for server in (self.server, self.other):
            wait_for(lambda to=server: len(to.items('/api/nodes')) == 2, LATE_S, 'both')

    def begin_servers(self):
        self.server = self.server_at(self.url())
        self.other = self.server_at(self.proxy.url(self.url()) + '&sslmode=disable')

    def server_at(self, store):
        return Database.server(self, store=store)

    def tearDown(self):
        for server in (self.server, self.other):
            self.assertEqual(server.term(), 0)

    def both(self):
        return (self.server, self.other), (self.other, self.server)

    def begin_at(self, server):
        return self.ask('initialize', client=server.client, protocolVersion='2025-11-25',
                        capabilities={}, clientInfo={'name': 't', 'version': '1'}
                        ).headers['Mcp-Session-Id']

    def delete(self, server, session, client=None):
        return (client or server.client).call('DELETE', '/mcp',
                                              headers={'Mcp-Session-Id': session}).status

    def ping(self, server, session, client=None):
        return self.ask('ping', client=client or server.client,
                        headers={'Mcp-Session-Id': session}).status

    def listen(self, server, session, last=None):
        """Returns the answer to a GET."""
        connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=LATE_S)
        self.addCleanup(connection.close)
        connection.request('GET', '/mcp', headers={
            'Authorization': f'Bearer {server.token}', 'Accept': 'text/event-stream',
            'Mcp-Session-Id': session, **({'Last-Event-ID': last} if last else {})})
        return connection.getresponse()

    def approve_at(self, server, session, id=7, **more):
        """Returns the stream of the answer, and the question."""
        before = {one['id'] for one in self.open_questions()}
        stream = self.begin_stream('tools/call', session, id, server=server, name='approve',
                                   arguments=ASKED, **more)
        made, = wait_for(lambda: [one for one in self.open_questions()
                                  if one['id'] not in before], LATE_S, 'the question')
        return stream, made

    def open_questions(self):
        return self.server.items('/async-tool/pending?project=default&status=waiting')

    def state(self, question):
        return self.server.get(f'/api/pending/{question["id"]}')['status']

    def withdraw(self, server, session, id=7):
        answer = self.post({'jsonrpc': '2.0', 'method': 'notifications/cancelled',
                            'params': {'requestId': id}}, client=server.client,
                           Mcp_Session_Id=session)
        self.assertEqual((answer.status, answer.raw), (202, b''))

    def is_cancelled(self, question):
        """The wait of the tool ends at its next turn, after at most 50 s."""
        for server in (self.server, self.other):
            server.advance(50)
        return self.state(question) == 'cancelled'

    def check_end_of_session(self):
        for begins, ends in self.both():
            session = self.begin_at(begins)
            self.assertEqual(self.ping(ends, session), 200)
            asking, question = self.approve_at(begins, session)
            listening = [self.listen(one, session) for one in (begins, ends)]
            self.assertEqual([one.status for one in listening], [200, 200])
            self.assertEqual(self.delete(ends, session), 204)
            for server in (begins, ends):
                self.assertEqual(self.ping(server, session), 404)
                self.assertEqual(self.listen(server, session).status, 404)
                self.assertEqual(self.delete(server, session), 404)
            for stream in (asking, *listening):
                self.assertNotIn('allow', stream.read().decode(), 'its end')
            wait_for(lambda asked=question: self.is_cancelled(asked), LATE_S, 'cancelled')

    def check_withdrawal(self):
        for begins, other in self.both():
            session = self.begin_at(begins)
            asking, question = self.approve_at(begins, session)
            _, again = self.approve_at(begins, session, 8)
            self.withdraw(other, session)
            wait_for(lambda asked=question: self.is_cancelled(asked), LATE_S, 'cancelled')
            answers = [one for one in self.messages(asking) if 'result' in one]
            self.assertEqual([one['id'] for one in answers], [7])
            self.assertIn('deny', answers[0]['result']['content'][0]['text'])
            self.assertEqual(self.state(again), 'waiting', 'another request')
            self.assertEqual(self.ping(other, session), 200)


class Notified(Two):
    def test_session_ends_on_both_servers(self):
        self.check_end_of_session()

    def test_withdrawal_reaches_the_other_server(self):
        self.check_withdrawal()

    def test_ended_session_is_refused_after_restarts(self):
        session, lives = self.begin_at(self.server), self.begin_at(self.server)
        self.assertEqual(self.delete(self.server, session), 204)
        for server in (self.server, self.other):
            server.restart()
            self.assertEqual(self.ping(server, session), 404)
            self.assertEqual(self.ping(server, lives), 200)

    def test_later_request_with_the_same_id_is_not_withdrawn(self):
        session = self.begin_at(self.server)
        answered, first = self.approve_at(self.server, session, 7)
        self.withdraw(self.other, session, 7)
        wait_for(lambda: self.is_cancelled(first), LATE_S, 'the first')
        self.messages(answered)
        stream, second = self.approve_at(self.server, session, 7)
        _, third = self.approve_at(self.server, session, 8)
        self.withdraw(self.other, session, 8)
        wait_for(lambda: self.is_cancelled(third), LATE_S, 'the third')
        self.assertEqual(self.state(second), 'waiting')
        self.server.decide(second, True)
        self.assertIn('allow', self.messages(stream)[-1]['result']['content'][0]['text'])

    def test_session_belongs_to_its_token_on_both_servers(self):
        session = self.begin_at(self.server)
        made = self.server.post('/api/tokens', {'name': 'bob', 'role': 'operate'})
        for server in (self.other, self.server):
            bob = Client(server.port, made['secret'])
            self.addCleanup(bob.close)
            self.assertEqual(self.ping(server, session, bob), 404)
            self.assertEqual(self.delete(server, session, bob), 404)
            self.assertEqual(self.ping(server, session), 200)

    def test_nothing_is_acknowledged_while_the_database_is_away(self):
        session = self.begin_at(self.server)
        _, question = self.approve_at(self.server, session)
        self.proxy.closed = True
        self.proxy.cut()
        self.assertEqual(self.delete(self.other, session), 503)
        answer = self.post({'jsonrpc': '2.0', 'method': 'notifications/cancelled',
                            'params': {'requestId': 7}}, client=self.other.client,
                           Mcp_Session_Id=session)
        self.assertEqual(answer.status, 503)
        self.assertEqual(self.ping(self.server, session), 200)
        self.assertEqual(self.state(question), 'waiting')
        self.proxy.closed = False
        wait_for(lambda: self.delete(self.other, session) in (204, 404), LATE_S, 'the database')
        self.assertEqual(self.ping(self.server, session), 404)

    def test_stream_continues_at_the_server_that_began_it(self):
        session = self.begin_at(self.server)
        stream, question = self.approve_at(self.server, session,
                                           _meta={'progressToken': 'p'})
        self.server.advance(60)
        (first, _), = self.events(stream, 1)
        stream.connection.close()
        stream.close()
        elsewhere = self.listen(self.other, session, first)
        self.assertEqual((elsewhere.status, json.loads(elsewhere.read())['code']),
                         (410, 'history_gone'))
        self.server.decide(question, True)
        again = self.listen(self.server, session, first)
        answers = [one for _, one in self.events(again) if 'result' in one]
        self.assertEqual([one['id'] for one in answers], [7])


class Unnotified(Two):
    def begin_servers(self):
        self.proxy.unnotified = True
        store = self.proxy.url(self.url()) + '&sslmode=disable'
        self.server, self.other = self.server_at(store), self.server_at(store)

    def test_session_ends_on_both_servers(self):
        self.check_end_of_session()

    def test_withdrawal_reaches_the_other_server(self):
        self.check_withdrawal()


class Polling(Two):
    def begin_servers(self):
        self.server, self.other = (self.configured(POLL % self.url()) for _ in range(2))

    def test_session_ends_on_both_servers(self):
        self.check_end_of_session()

    def test_withdrawal_reaches_the_other_server(self):
        self.check_withdrawal()


class ByRedis(Two):
    def begin_servers(self):
        index_redis.setUpModule()
        redis = index_redis.Redis()
        self.addCleanup(redis.clean)
        text = REDIS % (self.url(), redis.url)
        self.server, self.other = (self.configured(text) for _ in range(2))

    def test_session_ends_on_both_servers(self):
        self.check_end_of_session()

    def test_withdrawal_reaches_the_other_server(self):
        self.check_withdrawal()


if __name__ == '__main__':
    main()
