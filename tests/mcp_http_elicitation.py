#!/usr/bin/env python3
"""Elicitation at /mcp: a client asks its user what waits in Dormouse, beside the inbox. The first
answer counts, and the other side is notified."""
import json
import pathlib
import subprocess

from dormouse import main
from mcp_http_resume import Events
from mcp_http_tasks import TASKS
from npm import install

HERE = pathlib.Path(__file__).resolve().parent
FORM, PAGE = {'form': {}}, {'url': {}}


class Elicitation(Events):
    def begin_with(self, elicitation):
        answer = self.ask('initialize', protocolVersion='2025-11-25',
                          capabilities={'elicitation': elicitation},
                          clientInfo={'name': 'test', 'version': '1'})
        return answer.headers['Mcp-Session-Id']

    def approve(self, session, **more):
        stream = self.begin_stream('tools/call', session, name='approve', arguments={
            'tool_name': 'Bash', 'input': {'command': 'ls'}, **more})
        (_, request), = self.events(stream, 1)
        self.assertEqual(request['method'], 'elicitation/create')
        return stream, request, self.waiting()[0]

    def question(self, session):
        stream = self.begin_stream('tools/call', session, name='ask_human', arguments={
            'question': 'Which region?', 'wait': 600_000})
        (_, request), = self.events(stream, 1)
        return stream, request

    def respond(self, session, request, status=202, **result):
        answer = self.post({'jsonrpc': '2.0', 'id': request['id'], 'result': result},
                           Mcp_Session_Id=session)
        self.assertStatus(answer, status)

    def rest(self, stream):
        """The methods of what comes before the answer, and its text."""
        *before, (_, answer) = self.events(stream)
        return [one['method'] for _, one in before], answer['result']['content'][0]['text']

    def test_form_of_an_approval_decides_it(self):
        session = self.begin_with(FORM)
        for content, behaviour in [({'approved': True}, 'allow'),
                                   ({'approved': False, 'reason': 'not now'}, 'deny')]:
            stream, request, call = self.approve(session)
            self.assertIn('{"command":"ls"}', request['params']['message'])
            self.assertEqual(request['params']['requestedSchema']['required'], ['approved'])
            self.respond(session, request, action='accept', content=content)
            before, text = self.rest(stream)
            self.assertEqual((before, json.loads(text)['behavior']), ([], behaviour))
            self.assertIn(content.get('reason', ''), text)
            settled = self.server.get(f'/api/pending/{call["id"]}').json
            self.assertEqual(settled['receipt']['by']['name'], 'first')

    def test_empty_capability_means_forms_and_none_means_nothing(self):
        stream, request = self.question(self.begin_with({}))
        self.assertIn('requestedSchema', request['params'])
        call, = self.waiting()
        self.server.result(call['id'], 'eu')
        stream.read()
        session, _ = self.begin('2025-11-25')
        plain = self.begin_stream('tools/call', session, name='ask_human', arguments={
            'question': 'Which region?', 'wait': 600_000})
        call, = self.waiting()
        self.server.result(call['id'], 'eu')
        self.assertEqual(self.rest(plain), ([], 'eu'))

    def test_inbox_that_is_first_wins_and_the_client_is_notified(self):
        session = self.begin_with(FORM)
        stream, request, call = self.approve(session)
        self.server.decide(call, False, reason='no')
        (_, notice), (_, answer) = self.events(stream)
        self.assertEqual((notice['method'], notice['params']['requestId']),
                         ('notifications/cancelled', request['id']))
        self.assertIn('deny', answer['result']['content'][0]['text'])
        self.respond(session, request, action='accept', content={'approved': True})
        settled = self.server.get(f'/api/pending/{call["id"]}').json
        self.assertFalse(settled['decision']['approved'], 'the first answer counts')

    def test_client_that_is_first_wins_and_the_inbox_is_notified(self):
        session = self.begin_with(FORM)
        stream, request = self.question(session)
        self.respond(session, request, action='accept', content={'answer': 'eu'})
        self.assertEqual(self.rest(stream), ([], 'eu'))
        late = self.server.post('/async-tool/result', {
            'pendingID': request['id'].removeprefix('ask-'), 'result': {'output': 'us'}})
        self.assertProblem(late, 409, 'conflict')

    def test_decline_denies_or_cancels(self):
        session = self.begin_with(FORM)
        stream, request, _ = self.approve(session)
        self.respond(session, request, action='decline')
        self.assertIn('declined in the MCP client', self.rest(stream)[1])
        stream, request = self.question(session)
        self.respond(session, request, action='decline')
        self.assertIn('There is no answer: cancelled', self.rest(stream)[1])

    def test_cancel_leaves_the_question_to_the_inbox(self):
        session = self.begin_with(FORM)
        stream, request, call = self.approve(session, tool_use_id='toolu_1')
        self.respond(session, request, action='cancel')
        self.server.restart()
        again = self.begin_stream('tools/call', session, name='approve', arguments={
            'tool_name': 'Bash', 'input': {'command': 'ls'}, 'tool_use_id': 'toolu_1'})
        self.assertEqual([one['id'] for one in self.waiting()], [call['id']])
        self.server.decide(call, True)
        before, text = self.rest(again)
        self.assertEqual(before, [], 'it was asked once')
        self.assertIn('allow', text)

    def test_client_that_cannot_ask_leaves_the_question_to_the_inbox(self):
        session = self.begin_with(FORM)
        stream, request = self.question(session)
        refused = self.post({'jsonrpc': '2.0', 'id': request['id'],
                             'error': {'code': -32602, 'message': 'no'}}, Mcp_Session_Id=session)
        self.assertStatus(refused, 202)
        call, = self.waiting()
        self.server.result(call['id'], 'eu')
        self.assertEqual(self.rest(stream), ([], 'eu'))

    def test_answer_that_does_not_fit_is_refused(self):
        session = self.begin_with(FORM)
        stream, request, call = self.approve(session)
        for result in [{'action': 'accept', 'content': {'approved': 'yes'}},
                       {'action': 'accept', 'content': {}}, {'action': 'perhaps'}, {}]:
            self.respond(session, request, status=400, **result)
        bob = self.client('bob', 'operate')
        other = self.post({'jsonrpc': '2.0', 'id': request['id'], 'result': {
            'action': 'accept', 'content': {'approved': True}}}, client=bob)
        self.assertStatus(other, 400)
        invented = self.post({'jsonrpc': '2.0', 'id': 'ask-pnd_x', 'result': {'action': 'cancel'}})
        self.assertStatus(invented, 400)
        self.assertStatus(self.post({'jsonrpc': '2.0', 'id': 9, 'result': {}}), 202)
        self.waiting(1)
        self.server.decide(call, True)
        stream.read()

    def test_page_is_opened_and_answered_there(self):
        session = self.begin_with(PAGE)
        stream, request, call = self.approve(session)
        params = request['params']
        self.assertEqual((params['mode'], params['elicitationId'], params['url']), (
            'url', call['id'], f'http://127.0.0.1:{self.server.port}/a/{call["id"]}'))
        self.respond(session, request, action='accept')
        self.waiting(1)
        self.server.decide(call, True)
        before, text = self.rest(stream)
        self.assertEqual(before, ['notifications/elicitation/complete'])
        self.assertIn('allow', text)

    def test_task_asks_on_the_stream_of_its_result(self):
        session = self.begin_with(FORM)
        made = self.ask('tools/call', headers={'Mcp-Session-Id': session}, name='ask_human',
                        arguments={'question': 'Which?'}, task={})
        task = self.last_message(made)['result']['task']['taskId']
        self.server.restart()
        state = self.last_message(self.ask('tasks/get', headers={'Mcp-Session-Id': session},
                                           taskId=task))['result']
        self.assertEqual(state['status'], 'input_required')
        stream = self.begin_stream('tasks/result', session, taskId=task)
        (_, request), = self.events(stream, 1)
        self.assertEqual(request['params']['_meta'],
                         {'io.modelcontextprotocol/related-task': {'taskId': task}})
        self.respond(session, request, action='accept', content={'answer': 'eu'})
        self.assertEqual(self.rest(stream), (['notifications/tasks/status'], 'eu'))


class OtherClient(Events):
    """The protocol's own client."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.missing = install(HERE / 'mcp', 'node')

    def test_client_of_the_protocol_answers_with_its_form(self):
        if self.missing:
            self.skipTest(self.missing)
        run = subprocess.run(
            ['node', str(HERE / 'mcp/elicit.mjs'), f'http://127.0.0.1:{self.server.port}/mcp',
             self.server.token], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(json.loads(run.stdout), {'asked': ['Which region?'], 'answer': 'eu'})


class OfTheExtension(Events):
    def modern(self, method, of, elicitation=FORM, status=200, **params):
        meta = {**TASKS, 'io.modelcontextprotocol/clientCapabilities': {
            **TASKS['io.modelcontextprotocol/clientCapabilities'], 'elicitation': elicitation}}
        answer = self.ask(method, _meta=meta, headers={
            'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method, 'Mcp-Name': of}, **params)
        self.assertStatus(answer, status)
        return json.loads(answer.raw).get('result')

    def create(self, tool='ask_human', **arguments):
        arguments = arguments or {'question': 'Which region?'}
        return self.modern('tools/call', tool, name=tool, arguments=arguments)['taskId']

    def get(self, task, **more):
        return self.modern('tasks/get', task, taskId=task, **more)

    def update(self, task, status=200, **responses):
        return self.modern('tasks/update', task, taskId=task, inputResponses=responses,
                           status=status)

    def test_task_asks_its_client_and_takes_the_answer(self):
        task = self.create()
        self.server.restart()
        state = self.get(task)
        request = state['inputRequests']['answer']
        self.assertEqual((state['status'], request['method'], request['params']['mode']),
                         ('input_required', 'elicitation/create', 'form'))
        self.update(task, other={'action': 'cancel'})
        self.assertEqual(self.get(task)['status'], 'input_required')
        self.update(task, status=400, answer={'action': 'accept', 'content': {'answer': 3}})
        done = self.update(task, answer={'action': 'accept', 'content': {'answer': 'eu'}})
        self.assertEqual(done['resultType'], 'complete')
        state = self.get(task)
        self.assertEqual((state['status'], state['result']['content'][0]['text']),
                         ('completed', 'eu'))
        self.update(task, answer={'action': 'accept', 'content': {'answer': 'us'}})
        self.assertEqual(self.get(task)['result'], state['result'])

    def test_cancelled_form_is_not_shown_again(self):
        task = self.create('approve', tool_name='Bash', input={})
        self.update(task, answer={'action': 'cancel'})
        self.server.restart()
        state = self.get(task)
        self.assertEqual((state['status'], 'inputRequests' in state), ('working', False))
        call, = self.waiting()
        self.server.decide(call, True)
        self.assertIn('allow', self.get(task)['result']['content'][0]['text'])

    def test_client_that_cannot_ask_sees_a_working_task(self):
        task = self.create()
        self.assertEqual(self.get(task, elicitation=None)['status'], 'working')
        self.assertEqual(self.get(task, elicitation=PAGE)['inputRequests']['answer']['params']
                         ['elicitationId'], task)
        self.modern('tasks/update', task, taskId=task, status=400)


if __name__ == '__main__':
    main()
