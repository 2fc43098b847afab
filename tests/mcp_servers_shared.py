#!/usr/bin/env python3
"""Several servers on one database with tools of foreign MCP servers: each has its own process of an
MCP server, and what lives there (a task, a question) is asked, answered and cancelled there,
whichever server a person uses."""
import json
import os
import urllib.parse

import mcp_servers
import mcp_servers_sign_in
import postgres
from dormouse import Server, main, wait_for

SESSIONS = 4  # each server has the share of some


class Shared(mcp_servers.Servers):
    """Two servers; what lives on an MCP server is that of A."""

    def serve_both(self, how='well', **more):
        self.serve_both_with(self.program(how, **more))

    def serve_both_with(self, servers, first=''):
        store = postgres.cluster().url(schema='t_' + os.urandom(6).hex())
        path = self.folder / 'dormouse.toml'
        path.write_text(f'[server]\ndemo = false\n{first}' + mcp_servers.AGENT + servers)
        start = ('--config', str(path), '--store', store, '--relaxed')
        self.server = Server(*start)
        self.addCleanup(self.server.clean)
        self.other = Server(*start)
        self.addCleanup(self.other.clean)
        for server in (self.server, self.other):
            wait_for(lambda to=server: len(to.items('/api/nodes')) == 2, 20, 'both')

    def tearDown(self):
        for server in (self.server, self.other):
            if server.alive():
                server.finish()

    def advance(self, seconds):
        for server in (self.server, self.other):
            server.advance(seconds)

    def told(self, server, session):
        """The outcomes of the calls of a session, as the model reads them."""
        return ' '.join(one['parts'][0]['text'] for one in server.messages(session)
                        if one['role'] == 'user')

    def says(self, text, session=None, server=None):
        session, server = session or self.session, server or self.server
        wait_for(lambda: self.told(server, session), 40, 'the outcome')
        self.assertIn(text, self.told(server, session))


class Tasks(Shared):
    def begin(self, how='forgets', **more):
        """Tasks of A, in sessions of which both servers have a share."""
        self.serve_both(how, **more)
        self.sessions, self.tasks = [], []
        for n in range(SESSIONS):
            self.session = None
            self.tasks.append(self.call('slow'))
            self.sessions.append(self.session)
            wait_for(lambda n=n: len(self.all_waiting()) == n + 1, 20, 'the task')

    def all_waiting(self):
        return self.server.items('/async-tool/pending?project=default&status=waiting')

    def end_tasks(self):
        for file in self.folder.glob('tasks*/*'):
            file.write_text('{"status": "completed"}')

    def test_task_is_asked_for_where_it_lives(self):
        self.begin()
        for _ in range(3):  # the polls are overdue for the other server
            self.advance(5)
            for session in self.sessions:
                self.assertEqual(self.other.get(f'/api/sessions/{session}').status, 200)
        self.end_tasks()
        self.advance(5)
        for session in self.sessions:
            self.says('is: result of task-', session)

    def test_task_of_a_killed_server_is_asked_for_by_the_other(self):
        self.begin('well')
        self.server.kill()
        self.end_tasks()
        for session in self.sessions:
            self.says('is: result of task-', session, self.other)

    def test_cancelling_on_the_other_server_cancels_there(self):
        self.begin()
        deleted = self.all_waiting()[0]['sessionID']
        self.assertStatus(self.other.delete(f'/api/sessions/{deleted}'), 204)
        for task in self.tasks:
            self.assertIn(self.other.post(f'/api/tasks/{task}/cancel').status, (204, 404, 410))
        wait_for(lambda: sum(one.startswith('tasks/cancel') for one in self.log()) == SESSIONS, 20,
                 'the MCP server hears of all')

    def test_expiry_on_either_server_cancels_there(self):
        self.begin(task_limit='"1h"')
        self.advance(3601)
        wait_for(lambda: sum(one.startswith('tasks/cancel') for one in self.log()) == SESSIONS, 20,
                 'the MCP server hears of all')


class Questions(Shared):
    def ask(self, tool='ask_once', **more):
        self.serve_both(ask='"none"', **more)
        self.task = self.call(tool)
        return self.waiting()

    def test_answer_on_the_other_server_reaches_the_question(self):
        call = self.ask()
        self.assertStatus(self.other.decide(call, True, content={'name': 'Ann'}), 200)
        self.says('{"action": "accept", "content": {"name": "Ann"}}', server=self.other)
        self.assertEqual(self.log().count('call ask_once {}'), 1)
        self.assertStatus(self.other.decide(call, True, content={'name': 'Ann'}), 200)

    def test_model_answers_after_approval_on_the_other_server(self):
        call = self.ask('sample', sampling='"ask"')
        self.assertStatus(self.other.decide(call, True), 200)
        self.says('"role": "assistant"', server=self.other)
        self.assertEqual(self.log().count('call sample {}'), 1)

    def test_answer_after_a_kill_of_the_asking_server(self):
        call = self.ask()
        self.server.kill()
        wait_for(lambda: len(self.other.items('/api/nodes')) == 1, 30, 'A is gone')
        self.assertStatus(self.other.decide(call, True, content={'name': 'Ann'}), 200)
        self.says('unknown', server=self.other)
        self.assertEqual(self.log().count('call ask_once {}'), 1)

    def test_cancelling_on_the_other_server_reaches_the_question(self):
        self.ask()
        self.assertStatus(self.other.post(f'/api/tasks/{self.task}/cancel'), 204)
        wait_for(lambda: 'answered {"action": "cancel"}' in self.log(), 20, 'the answer')
        wait_for(lambda: 'cancelled' in self.log(), 20, 'the cancellation')

    def test_deleting_on_the_other_server_reaches_the_question(self):
        call = self.ask()
        self.assertStatus(self.other.delete(f'/api/sessions/{call["sessionID"]}'), 204)
        wait_for(lambda: 'answered {"action": "cancel"}' in self.log(), 20, 'the answer')


class SignIns(Shared):
    """A person's sign-in to an MCP server, with two servers behind one address."""

    def setUp(self):
        super().setUp()
        self.peer = mcp_servers_sign_in.Issuer()
        self.start_peer(self.peer)
        self.serve_both_with(f'[[mcp]]\nname = "s"\nurl = "{self.peer.url}/mcp"\n'
                             'sign_in = true\nscopes = ["read"]\n',
                             'public_url = "https://dormouse.example"\n')
        for server in (self.server, self.other):
            self.wait_for_state(server, 'failing', 'needed')

    def wait_for_state(self, server, *state):
        def now():
            found, = server.get('/api/doctor')['mcpServers']
            return (found['state'], found['signIn']) == state
        wait_for(now, 20, f'{state}')

    def sign_in(self, begin, end):
        sent = begin.get('/mcp-sign-in/s')
        self.assertStatus(sent, 303)
        query, back = self.peer.sign_in(sent.headers['Location'])
        cookie = sent.headers['Set-Cookie'].split(';')[0]
        path = '/mcp-sign-in/s/callback?' + urllib.parse.urlencode(back)
        self.assertStatus(end.get(path, Cookie=cookie), 200)
        return query

    def looked(self, server):
        """The answer of the tool at this server, which drives the sessions that it creates."""
        session = server.create(agent='ops')['id']
        made = server.post(f'/api/sessions/{session}/calls',
                           {'tool': 'mcp:s:look', 'arguments': {}})
        self.assertStatus(made, 202)
        wait_for(lambda: self.told(server, session), 40, 'the outcome')
        return self.told(server, session)

    def test_sign_in_ends_at_the_other_server_and_counts_on_both(self):
        self.sign_in(self.server, self.other)
        for server in (self.server, self.other):
            self.wait_for_state(server, 'ready', 'good')
        self.assertEqual(len(self.peer.clients), 1)
        self.assertIn('looked with token-1', self.looked(self.server))
        self.assertIn('looked with token-1', self.looked(self.other))

    def test_token_is_renewed_once_for_both(self):
        self.sign_in(self.other, self.server)
        for server in (self.server, self.other):
            self.wait_for_state(server, 'ready', 'good')
        for expected in ('token-2', 'token-3'):
            self.peer.token = 'revoked'
            for server in (self.server, self.other):
                self.assertIn(f'looked with {expected}', self.looked(server))
        self.assertEqual([one.get('refresh_token') for one in self.peer.grants],
                         [None, 'refresh-1', 'refresh-2'])

    def test_call_continues_after_a_sign_in_at_the_other_server(self):
        self.sign_in(self.other, self.server)
        for server in (self.server, self.other):
            self.wait_for_state(server, 'ready', 'good')
        self.peer.token = self.peer.refresh = 'revoked'
        session = self.server.create(agent='ops')['id']
        made = self.server.post(f'/api/sessions/{session}/calls',
                                {'tool': 'mcp:s:look', 'arguments': {}})
        self.assertStatus(made, 202)
        waiting = '/async-tool/pending?project=default&status=waiting'
        wait_for(lambda: self.server.items(waiting), 20, 'the question')
        self.sign_in(self.other, self.other)
        wait_for(lambda: self.told(self.server, session), 40, 'the outcome')
        self.assertIn(f'looked with {self.peer.token}', self.told(self.server, session))
        self.assertEqual(self.server.items(waiting), [])
        self.server.kill()
        self.assertIn(f'looked with {self.peer.token}', self.looked(self.other))


if __name__ == '__main__':
    main()
