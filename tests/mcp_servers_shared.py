#!/usr/bin/env python3
"""Several servers on one database with tools of foreign MCP servers: each has its own process of an
MCP server, and what lives there (a task, a question) is asked, answered and cancelled there,
whichever server a person uses."""
import json
import os

import mcp_servers
import postgres
from dormouse import Server, main, wait_for

SESSIONS = 4  # each server has the share of some


class Shared(mcp_servers.Servers):
    """Two servers; what lives on an MCP server is that of A."""

    def serve_both(self, how='well', **more):
        store = postgres.cluster().url(schema='t_' + os.urandom(6).hex())
        path = self.folder / 'dormouse.toml'
        path.write_text('[server]\ndemo = false\n' + mcp_servers.AGENT + self.program(how, **more))
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


if __name__ == '__main__':
    main()
