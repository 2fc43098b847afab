#!/usr/bin/env python3
"""Tasks of MCP at /mcp, in both forms of the protocol: a task is a pending call, so it outlives
kills of the server, and only its token finds it."""
import json
import pathlib
import subprocess

from dormouse import main
from mcp_http import META, Mcp
from npm import install

HERE = pathlib.Path(__file__).resolve().parent

TASKS = {**META, 'io.modelcontextprotocol/clientCapabilities': {
    'extensions': {'io.modelcontextprotocol/tasks': {}}}}


class Tasks(Mcp):
    """2025-11-25."""

    def result(self, method, client=None, **params):
        answer = self.last_message(self.ask(method, client=client, **params))
        self.assertIn('result', answer, answer)
        return answer['result']

    def fault(self, method, client=None, **params):
        error = self.last_message(self.ask(method, client=client, **params))['error']
        return error['code'], error['message']

    def create(self, client=None, ttl=60_000, name='ask_human', **arguments):
        arguments = arguments or {'question': 'Which region?'}
        return self.result('tools/call', client=client, name=name, arguments=arguments,
                           task={'ttl': ttl})['task']

    def test_capability_is_for_the_version_that_has_it(self):
        for version, tasks in [('2025-06-18', False), ('2025-11-25', True)]:
            _, hello = self.begin(version)
            self.assertEqual('tasks' in hello['capabilities'], tasks)
        self.assertEqual(hello['capabilities']['tasks'],
                         {'list': {}, 'cancel': {}, 'requests': {'tools': {'call': {}}}})
        support = {tool['name']: tool.get('execution')
                   for tool in self.result('tools/list')['tools']}
        self.assertEqual(support, {'approve': {'taskSupport': 'optional'},
                                   'ask_human': {'taskSupport': 'optional'},
                                   'collect_answer': None})
        session = self.server.create()['id']
        hello = json.loads(self.ask(
            'initialize', path=f'/mcp?session={session}', protocolVersion='2025-11-25',
            capabilities={}, clientInfo={'name': 't', 'version': '1'}).raw)['result']
        self.assertNotIn('tasks', hello['capabilities'], 'its outcomes are messages')

    def test_task_outlives_kills_and_gives_the_answer(self):
        task = self.create()
        self.assertEqual((task['status'], task['ttl']), ('working', 60_000))
        self.server.restart()
        self.assertEqual(self.result('tasks/get', taskId=task['taskId'])['status'], 'working')
        call, = self.waiting()
        self.assertEqual(call['id'], task['taskId'])
        self.server.result(call['id'], 'eu')
        self.server.restart()
        got = self.result('tasks/get', taskId=task['taskId'])
        self.assertEqual((got['status'], got['createdAt']), ('completed', task['createdAt']))
        answer = self.result('tasks/result', taskId=task['taskId'])
        self.assertEqual((answer['isError'], answer['content'][0]['text']), (False, 'eu'))
        self.assertEqual(answer['_meta']['io.modelcontextprotocol/related-task'],
                         {'taskId': task['taskId']})

    def test_waiting_for_the_result_is_notified_of_the_change(self):
        task = self.create(name='approve', tool_name='Bash', input={'command': 'ls'})
        stream = self.begin_stream('tasks/result', taskId=task['taskId'])
        call, = self.waiting()
        self.server.decide(call, True)
        changed, answer = self.messages(stream)
        self.assertEqual((changed['method'], changed['params']['status']),
                         ('notifications/tasks/status', 'completed'))
        self.assertEqual(json.loads(answer['result']['content'][0]['text']),
                         {'behavior': 'allow', 'updatedInput': {'command': 'ls'}})

    def test_client_that_leaves_its_result_keeps_its_task(self):
        task = self.create()
        stream = self.begin_stream('tasks/result', taskId=task['taskId'])
        stream.connection.close()
        stream.close()
        self.server.advance(55)
        self.assertEqual(self.result('tasks/get', taskId=task['taskId'])['status'], 'working')

    def test_ttl_is_bounded_and_then_the_task_is_gone(self):
        self.assertEqual(self.create(ttl=1)['ttl'], 1_000)
        self.assertEqual(self.create(ttl=1e15)['ttl'], 31_622_400_000)
        task = self.create(ttl=60_000)
        self.server.advance(61)
        for method in ('tasks/get', 'tasks/result', 'tasks/cancel'):
            self.assertEqual(self.fault(method, taskId=task['taskId']),
                             (-32602, 'Task has expired'))
        left = self.result('tasks/list')['tasks']
        self.assertEqual([one['ttl'] for one in left], [31_622_400_000])
        self.assertEqual(self.fault('tools/call', name='ask_human',
                                    arguments={'question': 'x'}, task={'ttl': 'x'})[0], -32602)

    def test_task_of_another_token_is_not_found(self):
        ann, bob = self.client('ann', 'operate'), self.client('bob', 'operate')
        task = self.create(client=ann)
        for method in ('tasks/get', 'tasks/result', 'tasks/cancel'):
            self.assertEqual(self.fault(method, client=bob, taskId=task['taskId']),
                             (-32602, 'Task not found'))
            self.assertEqual(self.fault(method, client=ann, taskId='pnd_x'),
                             (-32602, 'Task not found'))
        self.assertEqual(self.result('tasks/list', client=bob)['tasks'], [])
        forged = self.server.post('/api/pending', {
            'question': 'x', 'kind': 'answer', 'externalRef': 'mcp-task:bob'})
        self.assertStatus(forged, 201)
        self.assertEqual(self.result('tasks/list', client=bob)['tasks'], [])
        listed, = self.result('tasks/list', client=ann)['tasks']
        self.assertEqual(listed, self.result('tasks/get', client=ann, taskId=task['taskId']))

    def test_list_has_pages(self):
        made = [self.create()['taskId'] for _ in range(51)]
        first = self.result('tasks/list')
        second = self.result('tasks/list', cursor=first['nextCursor'])
        # Of several servers each has numbers of its own, and the list is in their order.
        order = sorted if self.server.beside else list
        listed = [one['taskId'] for one in first['tasks'] + second['tasks']]
        self.assertEqual(order(listed), order(made[::-1]))
        self.assertEqual(self.fault('tasks/list', cursor='zzz')[0], -32602)

    def test_cancelled_task_stays_so(self):
        task = self.create()
        gone = self.result('tasks/cancel', taskId=task['taskId'])
        self.assertEqual(gone['status'], 'cancelled')
        self.waiting(0)
        late = self.server.post('/async-tool/result', {
            'pendingID': task['taskId'], 'result': {'output': 'late'}})
        self.assertProblem(late, 409, 'cancelled')
        self.assertEqual(self.fault('tasks/cancel', taskId=task['taskId'])[0], -32602)
        answer = self.result('tasks/result', taskId=task['taskId'])
        self.assertTrue(answer['isError'])
        answered = self.create()
        self.server.result(answered['taskId'], 'eu')
        self.assertIn("'completed'", self.fault('tasks/cancel', taskId=answered['taskId'])[1])

    def test_repeated_permission_finds_its_task(self):
        permission = {'tool_name': 'Bash', 'input': {'a': 1}, 'tool_use_id': 'toolu_1'}
        first = self.create(name='approve', **permission)
        self.server.restart()
        self.assertEqual(self.create(name='approve', **permission)['taskId'], first['taskId'])

    def test_only_questions_can_be_tasks(self):
        self.assertEqual(self.fault('tools/call', name='collect_answer', arguments={'id': 'x'},
                                    task={})[0], -32601)
        self.assertEqual(self.fault('tasks/update', taskId='x')[0], -32601)


class Extension(Mcp):
    """2026-07-28: the server decides, for clients that declare the extension."""

    def modern(self, method, of, meta=TASKS, **params):
        return self.ask(method, headers={
            'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method, 'Mcp-Name': of,
        }, _meta=meta, **params)

    def result(self, method, of, **params):
        answer = self.modern(method, of, **params)
        self.assertStatus(answer, 200)
        return json.loads(answer.raw)['result']

    def create(self, **arguments):
        return self.result('tools/call', 'ask_human', name='ask_human',
                           arguments={'question': 'Which region?', **arguments})

    def of_task(self, method, task, **params):
        return self.result(method, task['taskId'], taskId=task['taskId'], **params)

    def test_declaring_client_gets_a_task_and_its_result(self):
        found = self.result('server/discover', None)
        self.assertIn('io.modelcontextprotocol/tasks', found['capabilities']['extensions'])
        task = self.create()
        self.assertEqual((task['resultType'], task['status']), ('task', 'working'))
        self.server.restart()
        self.assertEqual(self.of_task('tasks/get', task)['status'], 'working')
        self.server.result(task['taskId'], 'eu')
        got = self.of_task('tasks/get', task)
        self.assertEqual((got['resultType'], got['status'], got['result']['content'][0]['text']),
                         ('complete', 'completed', 'eu'))

    def test_cancel_is_acknowledged_also_afterwards(self):
        task = self.create()
        for _ in range(2):
            self.assertEqual(self.of_task('tasks/cancel', task)['resultType'], 'complete')
        got = self.of_task('tasks/get', task)
        self.assertEqual((got['status'], 'result' in got), ('cancelled', False))

    def test_client_without_the_extension_is_answered_at_once(self):
        result = self.result('tools/call', 'ask_human', meta=META, name='ask_human',
                             arguments={'question': 'x'})
        self.assertEqual(result['resultType'], 'complete')
        task = self.create()
        for method in ('tasks/get', 'tasks/update', 'tasks/cancel'):
            refused = self.modern(method, task['taskId'], meta=META, taskId=task['taskId'])
            error = json.loads(refused.raw)['error']
            self.assertEqual((refused.status, error['code'], error['data']), (400, -32021, {
                'requiredCapabilities': {'extensions': {'io.modelcontextprotocol/tasks': {}}}}))

    def test_header_must_name_the_task(self):
        task = self.create()
        wrong = self.modern('tasks/get', 'pnd_other', taskId=task['taskId'])
        self.assertEqual((wrong.status, json.loads(wrong.raw)['error']['code']), (400, -32020))
        unknown = self.modern('tasks/get', 'pnd_other', taskId='pnd_other')
        self.assertEqual((unknown.status, json.loads(unknown.raw)['error']['code']),
                         (400, -32602))


class Durable(Mcp):
    """The client of the Tasks extension (ext-tasks)."""

    def client(self, *arguments):
        what, *rest = arguments
        run = subprocess.run(
            ['node', str(HERE / 'mcp/durable.mjs'), what,
             f'http://127.0.0.1:{self.server.port}/mcp', self.server.token, *rest],
            capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_task_is_resumed_by_another_process_after_a_kill(self):
        if missing := install(HERE / 'mcp', 'node'):
            self.skipTest(missing)
        reference = self.client('begin')
        call, = self.waiting(1)
        self.server.restart()
        self.assertStatus(self.server.result(call['id'], 'Frankfurt'), 200)
        result = json.loads(self.client('resume', reference))
        self.assertEqual(result['content'], [{'type': 'text', 'text': 'Frankfurt'}])


if __name__ == '__main__':
    main()
