#!/usr/bin/env python3
"""`dormouse mcp`: an external agent gets its session's tools, and the outcome of a call is one
message in the session, over kills of each process."""
import json

from dormouse import Case, main, run, wait_for
from rpc_peer import Peer, Refused


class Program(Peer):
    def __init__(self, server, session=None, version='2025-06-18', capabilities=None):
        super().__init__(server, 'mcp', *(['--session', session] if session else []))
        self.hello = self.ask('initialize', protocolVersion=version,
                              capabilities=capabilities or {},
                              clientInfo={'name': 'test', 'version': '1'})
        self.notify('notifications/initialized')

    def tools(self):
        return {tool['name']: tool for tool in self.ask('tools/list')['tools']}

    def call(self, name, **arguments):
        """Returns the text of its answer; AssertionError when it is an error."""
        answer = self.ask('tools/call', name=name, arguments=arguments)
        assert not answer['isError'], answer
        return answer['content'][0]['text']

    def fails(self, name, **arguments):
        answer = self.ask('tools/call', name=name, arguments=arguments)
        assert answer['isError'], answer
        return answer['content'][0]['text']


class Face(Case):
    def setUp(self):
        super().setUp()
        self.session = self.server.create()['id']

    def program(self, **more):
        program = Program(self.server, self.session, **more)
        self.addCleanup(program.kill)
        return program

    def waiting(self, count=1, tool=None):
        """Returns the open calls of the project."""
        path = '/async-tool/pending?project=default' + (f'&tool={tool}' if tool else '')
        seen = []

        def there():
            seen[:] = self.server.items(path)
            return len(seen) >= count

        self.eventually(there)
        self.assertEqual(len(seen), count)
        return seen

    def eventually(self, ready, seconds=20):
        return wait_for(ready, seconds)

    def notices(self, count=1):
        """Returns the session's notices, once it has that many and is idle."""
        def there():
            inputs = [e for e in self.server.events(self.session)
                      if e['type'] == 'input_received']
            return inputs if len(inputs) >= count else None

        inputs = self.eventually(there)
        self.server.at_rest(self.session)
        self.assertEqual(len(inputs), count)
        return [e['data']['parts'][0]['text'] for e in inputs]


class Talking(Face):
    def test_server_reports_its_name(self):
        program = self.program()
        self.assertEqual(program.hello['protocolVersion'], '2025-06-18')
        self.assertEqual(program.hello['capabilities'], {'tools': {}})
        self.assertEqual(program.hello['serverInfo']['name'], 'dormouse')
        self.assertEqual(program.ask('ping'), {})
        self.assertEqual(program.close(), 0)
        older = self.program(version='2025-03-26')
        self.assertEqual(older.hello['protocolVersion'], '2025-03-26')
        unknown = self.program(version='1999-01-01')
        self.assertEqual(unknown.hello['protocolVersion'], '2025-11-25')

    def test_its_tools_are_those_of_the_agent_and_the_sessions_own(self):
        tools = self.program().tools()
        for name in ('deploy', 'dangerous', 'ask_human', 'background_task', 'background_output',
                     'background_resume', 'background_cancel', 'background_clear',
                     'background_list', 'broadcast', 'session_history'):
            self.assertIn(name, tools)
            self.assertEqual(tools[name]['inputSchema']['type'], 'object')
            self.assertTrue(tools[name]['description'])
        self.assertNotIn('todo', tools)
        self.assertIn('key', tools['deploy']['inputSchema']['properties'])
        self.assertNotIn('key', tools['background_task']['inputSchema']['properties'])

    def test_mistakes(self):
        program = self.program()
        for method, params, code in [
            ('zzz', {}, -32601), ('initialize', {}, -32602), ('tools/call', {}, -32602),
            ('tools/call', {'name': 'none'}, -32602),
            ('tools/call', {'name': 'deploy', 'arguments': 3}, -32602),
        ]:
            with self.assertRaises(Refused) as refused:
                program.ask(method, **params)
            self.assertEqual(refused.exception.code, code, method)
        self.assertIn('target', program.fails('deploy', wrong=1))
        self.assertIn('prompt is missing',
                      program.fails('background_task', description='x', agent='demo'))
        self.assertIn('timeout', program.fails('background_output', task_id='tsk_1', timeout='x'))
        self.assertIn('not found', program.fails('background_output', task_id='tsk_1').lower())
        program.send_raw('[]\n{\n')
        program.until(lambda: program.answers.get(None), 'a refusal')
        self.assertEqual(self.server.items(f'/api/sessions/{self.session}/tasks'), [])

    def test_batch_is_answered_as_one(self):
        program = self.program(version='2025-03-26')
        program.send_raw(json.dumps([
            {'jsonrpc': '2.0', 'id': 'a', 'method': 'ping'},
            {'jsonrpc': '2.0', 'method': 'notifications/initialized'},
            {'jsonrpc': '2.0', 'id': 'b', 'method': 'zzz'}]) + '\n')
        line = program.until(lambda: [x for x in program.lines if isinstance(x, list)], 'it')[0]
        self.assertEqual([each['id'] for each in line], ['a', 'b'])

    def test_repeated_id_of_an_open_request_is_refused(self):
        program = self.program()
        task = program.call('background_task', description='x', prompt='deploy api',
                            agent='demo').split()[2].rstrip('.')
        call = {'method': 'tools/call', 'id': 'a', 'params': {
            'name': 'background_output', 'arguments': {'task_id': task, 'block': True}}}
        program.send(call)
        program.send(call)
        refused = program.until(lambda: program.answers.pop('a', None), 'the refusal')
        self.assertEqual(refused['error']['code'], -32600)
        program.notify('notifications/cancelled', requestId='a')
        self.assertEqual(program.ask('ping'), {})

    def test_without_a_server_it_does_not_start(self):
        self.assertEqual(run('mcp', '--server', 'http://127.0.0.1:9', '--session',
                             'ses_AAAAAAE').returncode, 7)
        self.assertIn('dormouse mcp --session', run('mcp', '--help').stdout)


class Calls(Face):
    def test_outcome_is_a_later_message_and_wakes_the_session(self):
        text = self.program().call('deploy', target='api')
        self.assertIn('deploy {"target":"api"}', text)
        self.assertIn('tsk_', text)
        call, = self.waiting()
        self.assertEqual((call['tool'], call['input']), ('deploy', {'target': 'api'}))
        self.assertEqual(self.server.session(self.session)['activity'], {'type': 'idle'})
        self.assertEqual(self.server.result(call['id'], {'url': 'x'}).status, 200)
        notice, = self.notices()
        self.assertEqual(notice, 'The result of deploy {"target":"api"} is: {"url":"x"}')
        self.assertEqual(self.server.last_text(self.session), f'You said: {notice}')
        self.assertEqual(self.server.items(f'/api/sessions/{self.session}/tasks'), [])
        again = self.server.result(call['id'], {'url': 'x'})
        self.assertTrue(again['duplicate'], 'its receipt stays')
        self.assertEqual(self.server.result(call['id'], 'other').status, 409)
        self.notices(1)

    def test_open_call_is_not_repeated(self):
        program = self.program()
        first = program.call('deploy', target='api')
        second = program.call('deploy', target='api')
        self.assertIn('open already', second)
        self.assertEqual(first.split('(')[1].split(')')[0], second.split('(')[1].split(')')[0])
        other = self.program()  # the agent was started again
        self.assertIn('open already', other.call('deploy', target='api'))
        call, = self.waiting()
        program.call('deploy', target='api', key='2')
        program.call('deploy', target='web')
        self.waiting(3)
        self.server.result(call['id'], 'done')
        self.notices(1)
        self.assertIn('Started', program.call('deploy', target='api'))
        self.waiting(3)

    def test_denied_or_failed_call_is_reported(self):
        program = self.program()
        program.call('dangerous', action='cleanup')
        call, = self.waiting()
        self.assertEqual(call['reason'], 'approval')
        self.server.decide(call, False, reason='not today')
        notice, = self.notices()
        self.assertIn('The call dangerous {"action":"cleanup"} failed', notice)
        self.assertIn('not today', notice)
        program.call('fail')
        self.assertIn('fail {} failed', self.notices(2)[1])

    def test_person_is_asked(self):
        self.program().call('ask_human', question='Which region?')
        call, = self.waiting()
        self.assertEqual((call['reason'], call['message']), ('user_input', 'Which region?'))
        self.server.result(call['id'], 'Frankfurt')
        notice, = self.notices()
        self.assertIn('Which region?', notice)
        self.assertIn('Frankfurt', notice)

    def test_outcome_during_a_turn_waits_for_its_end(self):
        self.program().call('deploy', target='api')
        call, = self.waiting()
        self.server.prompt(self.session, 'deploy web')
        own, = [c for c in self.waiting(2) if c['sessionID'] == self.session]
        self.server.result(call['id'], 'live')
        self.eventually(lambda: len([e for e in self.server.events(self.session)
                                     if e['type'] == 'input_received']) == 2)
        self.assertEqual(len(self.server.turns(self.session)), 2)
        self.server.result(own['id'], 'live')
        self.eventually(lambda: self.server.session(self.session)['activity']['type'] == 'idle')
        newest, first = self.server.turns(self.session)
        self.assertEqual((first['status'], newest['status']), ('ended', 'ended'))

    def test_waiting_outcomes_are_reported_together(self):
        program = self.program()
        for target in ('api', 'web', 'docs'):
            program.call('deploy', target=target)
        calls = {call['input']['target']: call for call in self.waiting(3)}
        self.server.prompt(self.session, 'deploy own')
        own, = [c for c in self.waiting(4) if c['sessionID'] == self.session]
        for target in ('web', 'api'):
            self.server.result(calls[target]['id'], f'{target} is live')
        inputs = self.waits(3)
        self.server.restart()
        self.server.result(calls['docs']['id'], 'docs are live')
        inputs = self.waits(4)
        self.assertEqual([e['data']['turn'] for e in inputs[1:]],
                         [inputs[1]['data']['turn']] * 3)
        self.server.result(own['id'], 'eu')
        self.eventually(lambda: self.server.turns(self.session)[-1]['status'] == 'ended')
        together = self.server.turns(self.session)[-1]
        texts = [m['parts'][0]['text'] for m in reversed(self.server.messages(self.session))
                 if m['role'] == 'user']
        self.assertEqual(len(texts), 4, texts)
        self.assertEqual(
            [m['turnID'] for m in self.server.messages(self.session)].count(together['id']), 4)
        self.assertEqual(together['status'], 'ended')

    def waits(self, count):
        return self.eventually(lambda: (lambda found: found if len(found) == count else None)(
            [e for e in self.server.events(self.session) if e['type'] == 'input_received']))

    def test_agent_or_end_of_session_cancels_the_call(self):
        program = self.program()
        task = program.call('deploy', target='api').split('(')[1].split(')')[0]
        call, = self.waiting()
        self.assertIn(task, program.call('background_list'))
        program.call('background_cancel', task_id=task)
        self.assertIn('cancelled', self.notices()[0])
        self.assertEqual(self.server.result(call['id'], 'late').status, 409)
        program.call('deploy', target='web')
        call, = self.waiting()
        self.server.post(f'/api/sessions/{self.session}/end')
        self.eventually(lambda: self.server.items('/async-tool/pending?project=default') == [])


class Crashes(Face):
    def test_kill_at_each_moment_makes_and_reports_one_call(self):
        program = self.program()
        program.call('deploy', target='api')
        self.server.restart()
        self.assertIn('open already', program.call('deploy', target='api'))
        call, = self.waiting()
        self.server.restart()
        self.server.result(call['id'], 'live')
        self.server.restart()
        self.assertEqual(self.notices(), ['The result of deploy {"target":"api"} is: live'])
        self.server.restart()
        self.notices(1)
        self.assertEqual(self.server.items('/async-tool/pending?project=default'), [])

    def test_call_while_the_server_is_away_is_made_once(self):
        program = self.program()
        program.tools()
        self.server.kill()
        number = program.begin('tools/call', name='deploy', arguments={'target': 'api'})
        self.server.start()
        self.assertFalse(program.end(number)['isError'])
        self.waiting(1)


class Tasks(Face):
    def test_task_from_its_start_to_its_end(self):
        program = self.program()
        started = program.call('background_task', description='look', prompt='deploy api',
                               agent='demo')
        task = started.split()[2].rstrip('.')
        self.assertTrue(task.startswith('tsk_'), started)
        self.assertIn('is running', program.call('background_output', task_id=task))
        self.assertIn('"status":"running"', program.call('background_list', status='running'))
        number = program.begin('tools/call', name='background_output',
                               arguments={'task_id': task, 'block': True, 'timeout': 30000})
        self.assertEqual(program.ask('ping'), {}, 'others are answered meanwhile')
        self.server.result(self.waiting()[0]['id'], 'live')
        self.assertEqual(program.end(number)['content'][0]['text'], 'deploy api: live')
        self.assertIn(task, self.notices()[0])
        self.assertIn('resumed', program.call('background_resume', task_id=task, message='hi'))
        self.assertIn('You said: hi',
                      program.call('background_output', task_id=task, block=True))
        self.assertIn('cleared: 1', program.call('background_clear'))
        self.assertIn('not found', program.fails('background_output', task_id=task))

    def test_block_has_its_time(self):
        program = self.program()
        task = program.call('background_task', description='x', prompt='deploy api',
                            agent='demo').split()[2].rstrip('.')
        self.assertIn('is running', program.call('background_output', task_id=task, block=True,
                                                 timeout=10))
        self.assertIn('cancelled: 1', program.call('background_cancel', all=True))
        self.assertIn('cancelled', program.call('background_output', task_id=task))

    def test_clearing_leaves_open_calls(self):
        program = self.program()
        program.call('deploy', target='api')
        self.assertIn('cleared: 0', program.call('background_clear'))
        self.waiting(1)

    def test_mail(self):
        other = self.server.create(alias='other')['id']
        program = self.program()
        self.assertIn('other: delivered', program.call('broadcast', message='hello', to='other'))
        self.eventually(lambda: self.server.turns(other))
        self.assertEqual(
            self.server.items(f'/api/sessions/{other}/inbox')[0]['from']['sessionID'],
            self.session)


class Asking(Face):
    """Without a session: tools that ask people."""

    def setUp(self):
        super().setUp()
        self.session = None

    def approve(self, program, **more):
        return program.begin('tools/call', name='approve', arguments={
            'tool_name': 'Bash', 'input': {'command': 'make  deploy'}, **more})

    def behavior(self, program, number):
        return json.loads(program.end(number)['content'][0]['text'])

    def test_tools_are_listed_and_others_unknown(self):
        program = self.program()
        self.assertEqual(set(program.tools()), {'approve', 'ask_human', 'collect_answer'})
        with self.assertRaises(Refused) as refused:
            program.ask('tools/call', name='deploy', arguments={'target': 'api'})
        self.assertEqual(refused.exception.code, -32602)
        self.assertIn('tool_name is missing', program.fails('approve', input={}))
        self.assertIn('input is invalid', program.fails('approve', tool_name='x', input=3))

    def test_permission_prompt_tool_allows_what_was_asked(self):
        program = self.program()
        number = self.approve(program, tool_use_id='toolu_1')
        call, = self.waiting()
        self.assertEqual((call['tool'], call['input'], call['reason'], call['externalRef']),
                         ('Bash', {'command': 'make  deploy'}, 'approval', 'mcp:toolu_1'))
        self.assertEqual(program.ask('ping'), {}, 'others are answered meanwhile')
        self.server.decide(call, True)
        self.assertEqual(self.behavior(program, number),
                         {'behavior': 'allow', 'updatedInput': {'command': 'make  deploy'}})

    def test_permission_prompt_tool_denies_with_the_reason(self):
        program = self.program()
        number = self.approve(program)
        call, = self.waiting()
        self.server.decide(call, False, reason='not today')
        denied = self.behavior(program, number)
        self.assertEqual(denied['behavior'], 'deny')
        self.assertIn('not today', denied['message'])

    def test_permission_outlives_a_kill_of_the_server(self):
        program = self.program()
        number = self.approve(program)
        call, = self.waiting()
        self.server.restart()
        self.server.decide(call, True)
        self.assertEqual(self.behavior(program, number)['behavior'], 'allow')

    def test_client_that_withdraws_cancels_its_question(self):
        program = self.program()
        number = self.approve(program)
        self.waiting()
        program.notify('notifications/cancelled', requestId=number)
        self.eventually(lambda: self.server.items('/async-tool/pending?project=default') == [])
        self.approve(program)
        self.waiting()
        self.assertEqual(program.close(), 0)
        self.assertEqual(self.server.items('/async-tool/pending?project=default'), [])
        self.assertNotIn(number, program.answers)

    def test_question_is_collected_later(self):
        program = self.program()
        question = program.call('ask_human', question='Which region?')
        call, = self.waiting()
        self.assertIn(call['id'], question)
        self.assertIn('still waits', program.call('collect_answer', id=call['id']))
        number = program.begin('tools/call', name='collect_answer',
                               arguments={'id': call['id'], 'wait': 60000})
        self.server.result(call['id'], 'Frankfurt')
        self.assertEqual(program.end(number)['content'][0]['text'], 'Frankfurt')
        self.assertEqual(program.call('collect_answer', id=call['id']), 'Frankfurt')
        self.assertIn('not found', program.fails('collect_answer', id='pnd_1').lower())

    def asking(self, elicitation, **arguments):
        """A program whose client asks its user, the question, and the number of the call."""
        program = Program(self.server, capabilities={'elicitation': elicitation})
        self.addCleanup(program.kill)
        number = program.begin('tools/call', name='ask_human', arguments={
            'question': 'Which region?', 'wait': 600_000, **arguments})
        request, = program.until(lambda: program.requests, 'the question')
        return program, request, number

    def test_client_asks_its_user_and_the_inbox_knows(self):
        program, request, number = self.asking({'form': {}})
        call, = self.waiting()
        self.assertEqual((request['method'], request['id'], request['params']['message']),
                         ('elicitation/create', f'ask-{call["id"]}', 'Which region?'))
        self.assertEqual(program.ask('ping'), {}, 'others are answered meanwhile')
        program.answer(request['id'], {'action': 'accept', 'content': {'answer': 'Frankfurt'}})
        self.assertEqual(program.end(number)['content'][0]['text'], 'Frankfurt')
        self.assertEqual(self.server.get(f'/api/pending/{call["id"]}')['status'], 'completed')
        self.assertEqual(program.close(), 0)

    def test_answer_elsewhere_ends_the_question_of_the_client(self):
        program, request, number = self.asking({'url': {}})
        call, = self.waiting()
        self.assertEqual(request['params']['url'],
                         f'http://127.0.0.1:{self.server.port}/a/{call["id"]}')
        program.answer(request['id'], {'action': 'accept'})
        program.answer('ask-pnd_unknown', {'action': 'accept', 'content': {'answer': 'us'}})
        self.server.restart()
        self.server.result(call['id'], 'Frankfurt')
        self.assertEqual(program.end(number)['content'][0]['text'], 'Frankfurt')
        self.assertEqual(program.notices[-1]['method'], 'notifications/elicitation/complete')

    def test_task_outlives_kills_of_both_sides(self):
        program = self.program(version='2025-11-25')
        self.assertIn('tasks', program.hello['capabilities'])
        task = program.ask('tools/call', name='ask_human', task={'ttl': 600_000},
                           arguments={'question': 'Which region?'})['task']
        self.server.restart()
        program.kill()
        program = self.program(version='2025-11-25')
        listed, = program.ask('tasks/list')['tasks']
        self.assertEqual((listed['taskId'], listed['status'], listed['ttl']),
                         (task['taskId'], 'working', 600_000))
        number = program.begin('tasks/result', taskId=task['taskId'])
        self.server.restart()
        self.server.result(task['taskId'], 'Frankfurt')
        self.assertEqual(program.end(number)['content'][0]['text'], 'Frankfurt')

    def test_task_of_the_extension_asks_its_client(self):
        meta = {**Stateless.META, 'io.modelcontextprotocol/clientCapabilities': {
            'elicitation': {}, 'extensions': {'io.modelcontextprotocol/tasks': {}}}}
        program = self.program()
        task = program.ask('tools/call', name='ask_human', _meta=meta,
                           arguments={'question': 'Which region?'})['taskId']
        state = program.ask('tasks/get', taskId=task, _meta=meta)
        self.assertEqual(state['inputRequests']['answer']['params']['message'], 'Which region?')
        program.ask('tasks/update', taskId=task, _meta=meta, inputResponses={
            'answer': {'action': 'accept', 'content': {'answer': 'Frankfurt'}}})
        state = program.ask('tasks/get', taskId=task, _meta=meta)
        self.assertEqual((state['status'], state['result']['content'][0]['text']),
                         ('completed', 'Frankfurt'))


class Stateless(Face):
    """2026-07-28: nothing comes before a request."""
    META = {'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {}}

    def test_request_is_answered_without_initialize(self):
        program = self.program()
        found = program.ask('server/discover', _meta=self.META)
        self.assertEqual(found['supportedVersions'][0], '2026-07-28')
        self.assertEqual(found['resultType'], 'complete')
        listed = program.ask('tools/list', _meta=self.META)
        self.assertEqual((listed['cacheScope'], listed['resultType']), ('private', 'complete'))
        self.assertIn('deploy', [tool['name'] for tool in listed['tools']])
        called = program.ask('tools/call', name='background_list', arguments={}, _meta=self.META)
        self.assertEqual(called['resultType'], 'complete')
        for method, meta, code in [
            ('ping', self.META, -32601),
            ('tools/list', {**self.META, 'io.modelcontextprotocol/protocolVersion': '1'}, -32022),
            ('tools/list', {'io.modelcontextprotocol/protocolVersion': '2026-07-28'}, -32602),
        ]:
            with self.assertRaises(Refused) as refused:
                program.ask(method, _meta=meta)
            self.assertEqual(refused.exception.code, code, method)


class Hidden(Face):
    def test_internal_call_agent_cannot_be_started(self):
        self.assertNotIn('calls:', self.server.get('/api/agents').raw.decode())
        self.assertStatus(self.server.post('/api/projects/default/sessions',
                                           {'agentID': 'calls:demo'}), 400)
        self.assertStatus(self.server.post(f'/api/sessions/{self.session}/tasks',
                                           {'agentID': 'calls:demo', 'prompt': 'x'}), 400)

    def test_route_refuses_invalid_bodies(self):
        path = f'/api/sessions/{self.session}/calls'
        self.assertProblem(self.server.post(path, {'tool': 'none'}), 400, 'bad_value')
        self.assertProblem(self.server.post(path, {'tool': 'deploy', 'arguments': {}}), 422,
                           'invalid_arguments')
        self.assertProblem(self.server.post(path, {'tool': 'deploy', 'arguments': [1]}), 400,
                           'bad_value')
        self.assertProblem(self.server.post(path, {'tol': 'deploy'}), 400, 'unknown_field')
        gone = '/api/sessions/ses_AAAAAAEAAAAAAAAAAAAAAA/calls'
        self.assertProblem(self.server.post(gone, {'tool': 'deploy'}), 404, 'not_found')
        made = self.server.post(path, {'tool': 'deploy', 'arguments': {'target': 'a'}})
        self.assertStatus(made, 202)
        again = self.server.post(path, {'arguments': {'target': 'a'}, 'tool': 'deploy'})
        self.assertStatus(again, 200)
        self.assertEqual((made['taskID'], again['duplicate']), (again['taskID'], True))


if __name__ == '__main__':
    main()
