#!/usr/bin/env python3
"""External agents (requirements C): what they may request in their session's folder, and the SQL
views of their sessions."""
import json

from acp import Programs
from dormouse import main, wait_for


class Sql(Programs):
    """The rows of requirement C2, read with SQL."""

    more = '[server]\ndemo = true'

    def rows(self, session, view='agent_session_messages', key='session_id'):
        return self.server.select(f"SELECT * FROM {view} WHERE {key} = '{session}'")

    def test_messages_of_a_program(self):
        session = self.create('tool build')
        self.assertStatus(self.server.prompt(session, 'two'), 200)
        rows = self.rows(session)
        self.assertEqual(
            list(rows[0]), ['id', 'session_id', 'role', 'content', 'tool_calls', 'created_at']
        )
        messages = self.server.messages(session)
        self.assertEqual([row['id'] for row in rows], [message['id'] for message in messages])
        self.assertEqual([row['role'] for row in rows], [message['role'] for message in messages])
        self.assertEqual([json.loads(row['content'])['text'] for row in rows], self.text(session))
        self.assertEqual(rows[0]['created_at'], messages[0]['time']['created'] // 1000)
        calls = [c for row in rows for c in json.loads(row['tool_calls'] or '[]')]
        self.assertEqual(
            [(c['name'], c['input'], c['output'], c['status']) for c in calls],
            [('acp:execute', {'name': 'build'}, '{"ran":"build"}', 'completed')],
        )
        (row,) = self.rows(session, 'agent_sessions', 'id')
        self.assertEqual(row['acp_session_id'], self.server.session(session)['acpSessionID'])

    def calls(self, session):
        return [c for row in self.rows(session) for c in json.loads(row['tool_calls'] or '[]')]

    def test_tool_call_shows_last_input_and_own_name(self):
        session = self.create('typed ls -l')
        self.assertStatus(self.server.prompt(session, 'typed pwd'), 200)
        members = ('id', 'name', 'input', 'output', 'status')
        self.assertEqual(
            [tuple(call[m] for m in members) for call in self.calls(session)],
            [
                ('call-typed', 'bash', {'command': 'ls -l'}, '{"output":"ls -l ran"}', 'completed'),
                ('call-typed', 'bash', {'command': 'pwd'}, '{"output":"pwd ran"}', 'completed'),
            ],
        )

    def test_messages_of_a_model(self):
        session = self.server.create('deploy A and B and C')['id']
        one, two, three = self.server.open_calls(session)
        self.assertStatus(self.server.result(one['id'], 'live'), 200)
        self.assertStatus(
            self.server.post('/async-tool/error', {'pendingID': two['id'], 'error': 'broken'}), 200
        )
        row = self.rows(session)[1]
        calls = json.loads(row['tool_calls'])
        self.assertEqual(
            [(c['name'], c['input'], c['output'], c['status']) for c in calls],
            [
                ('deploy', {'target': 'A'}, 'live', 'completed'),
                ('deploy', {'target': 'B'}, 'broken', 'failed'),
                ('deploy', {'target': 'C'}, None, 'pending'),
            ],
        )
        self.assertStatus(self.server.result(three['id'], 'live'), 200)
        self.server.at_rest(session)
        self.assertEqual(
            json.loads(self.rows(session)[-1]['content'])['text'], self.server.last_text(session)
        )
        self.assertIsNone(self.rows(session, 'agent_sessions', 'id')[0]['acp_session_id'])


class Nothing(Programs):
    def test_files_and_terminals_are_not_offered_and_refused(self):
        params = {'path': str(self.work / 'a.txt'), 'content': 'x', 'command': 'true'}
        for method in ('fs/read_text_file', 'fs/write_text_file', 'terminal/create'):
            session = self.create(f'call {method} {json.dumps(params)}')
            self.assertEqual(json.loads(self.server.last_text(session))['code'], -32601)
        can = self.log('initialize')[0]['params']['clientCapabilities']
        self.assertEqual(
            can, {'fs': {'readTextFile': False, 'writeTextFile': False}, 'terminal': False}
        )


class ReadingFiles(Programs):
    more = 'files = "read"'

    def test_readable_files_are_not_writable(self):
        (self.work / 'a.txt').write_text('one')
        params = json.dumps({'path': str(self.work / 'a.txt'), 'content': 'two'})
        session = self.create(f'call fs/read_text_file {params}')
        self.assertEqual(json.loads(self.server.last_text(session)), {'content': 'one'})
        self.server.prompt(session, f'call fs/write_text_file {params}')
        self.assertEqual(json.loads(self.server.last_text(session))['code'], -32601)
        self.assertEqual((self.work / 'a.txt').read_text(), 'one')


class Folders(Programs):
    more = 'files = "write"\nterminals = true'

    def called(self, session, method, **params):
        self.assertStatus(self.server.prompt(session, f'call {method} {json.dumps(params)}'), 200)
        return json.loads(self.server.last_text(session))

    def test_files_of_its_folder(self):
        session = self.create('hello')
        path = str(self.work / 'a.txt')
        self.assertEqual(
            self.called(session, 'fs/write_text_file', path=path, content='1\n2\n3\n4\n'), {}
        )
        self.assertEqual((self.work / 'a.txt').read_text(), '1\n2\n3\n4\n')
        read = self.called(session, 'fs/read_text_file', path=path, line=2, limit=2)
        self.assertEqual(read, {'content': '2\n3\n'})
        none = self.called(session, 'fs/read_text_file', path=path + '.none')
        self.assertEqual(none['code'], -32002)
        can = self.log('initialize')[0]['params']['clientCapabilities']
        self.assertEqual(
            can, {'fs': {'readTextFile': True, 'writeTextFile': True}, 'terminal': True}
        )

    def test_nothing_outside_of_its_folder(self):
        session = self.create('hello')
        outside = self.folder / 'outside.txt'
        outside.write_text('not yours')
        (self.work / 'link').symlink_to(outside)
        (self.work / 'up').symlink_to('..')
        (self.work / 'binary').write_bytes(b'\xff\xfe')
        work = str(self.work)
        for path in (
            '/etc/passwd', str(outside), f'{work}/../outside.txt', f'{work}/link',
            f'{work}/up/outside.txt', 'a.txt', work, f'{work}/', f'{work}//etc/../../outside.txt',
        ):
            for method in ('fs/read_text_file', 'fs/write_text_file'):
                answer = self.called(session, method, path=path, content='x')
                self.assertIn(answer.get('code'), (-32602, -32002), (path, answer))
        self.assertEqual(outside.read_text(), 'not yours')
        answer = self.called(session, 'fs/read_text_file', path=f'{work}/binary')
        self.assertIn('UTF-8', answer['message'])
        for cwd in ('/', str(self.folder)):
            answer = self.called(session, 'terminal/create', command='true', cwd=cwd)
            self.assertIn('outside', answer['message'])

    def test_terminal_shows_both_outputs_and_its_end(self):
        session = self.create('run pwd; echo wrong >&2; exit 3')
        self.assertEqual(
            json.loads(self.server.last_text(session)),
            {
                'output': f'{self.work.resolve()}\nwrong\n', 'truncated': False,
                'exitStatus': {'exitCode': 3, 'signal': None},
            },
        )
        terminal = self.called(
            session, 'terminal/create', command='printf', args=['%s|', 'a b', '$HOME'],
            outputByteLimit=4,
        )
        self.called(session, 'terminal/wait_for_exit', **terminal)
        shown = self.called(session, 'terminal/output', **terminal)
        self.assertEqual((shown['output'], shown['truncated']), ('OME|', True))

    def test_processes_of_a_terminal_end_with_it(self):
        session = self.create('hello')
        script = 'sleep 600 & echo $! $$; wait'
        pids = []
        for end in ('terminal/kill', 'terminal/release', 'death'):
            terminal = self.called(session, 'terminal/create', command=script)
            shown = wait_for(
                lambda: self.called(session, 'terminal/output', **terminal)['output'].split(),
                what='the processes',
            )
            pids += shown
            if end == 'death':
                self.assertStatus(self.server.prompt(session, 'crash once', wait=0), 202)
            else:
                self.called(session, end, **terminal)
            wait_for(lambda: not any(self.lives(pid) for pid in shown), what=f'end by {end}')
            if end == 'terminal/kill':
                ended = self.called(session, 'terminal/wait_for_exit', **terminal)
                self.assertEqual(ended, {'exitCode': None, 'signal': '15'})
        self.assertEqual(len(pids), 6)
        self.ended(session)


if __name__ == '__main__':
    main()
