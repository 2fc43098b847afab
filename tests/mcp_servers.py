#!/usr/bin/env python3
"""Tools of foreign MCP servers: agents call them, over kills of each process, with gates; servers
that misbehave cost one line; `dormouse mcp --serve` offers them to any client."""
import http.client
import http.server
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading

from dormouse import Alone, Case, Server, main, wait_for
from npm import install
from oidc_peers import free_port
from rpc_peer import Peer, Refused
from tools_by_config import SCRIPTED_AGENT

HERE = pathlib.Path(__file__).resolve().parent
AGENT = SCRIPTED_AGENT % '"mcp:s:*"'


class Servers(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='dormouse-mcp-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.server = None

    def tearDown(self):
        if self.server:
            super().tearDown()

    def program(self, how='well', **more):
        keys = ''.join(f'{key} = {value}\n' for key, value in more.items())
        command = [sys.executable, str(HERE / 'mcp_fake.py'), str(self.folder), how]
        return f'[[mcp]]\nname = "s"\ncommand = {json.dumps(command)}\n{keys}'

    def serve(self, servers, **env):
        path = self.folder / 'dormouse.toml'
        path.write_text('[server]\ndemo = false\n' + AGENT + servers)
        # Two servers: mcp_servers_shared.py.
        self.server = Alone('--config', str(path), env=env)

    def start_peer(self, peer):
        """Serves until the test ends."""
        threading.Thread(target=peer.serve_forever, daemon=True).start()
        self.addCleanup(peer.server_close)
        self.addCleanup(peer.shutdown)

    def serve_signed_in(self, peer):
        """With an MCP server at the peer, which wants a person to sign in."""
        self.start_peer(peer)
        self.serve(f'''
[[mcp]]
name = "s"
url = "{peer.url}/mcp"
sign_in = true
scopes = ["read"]
''')

    def tools(self):
        agents = {one['id']: one for one in self.server.get('/api/agents').json['items']}
        return agents['ops']['tools']

    def call(self, tool, **arguments):
        """A call of a tool of the agent, as an external agent makes it; its id."""
        if not getattr(self, 'session', None):
            self.session = self.server.create(agent='ops')['id']
            self.outcomes_seen = 0
        made = self.server.post(f'/api/sessions/{self.session}/calls',
                                {'tool': f'mcp:s:{tool}', 'arguments': arguments})
        self.assertStatus(made, 202)
        return made['taskID']

    def outcome(self, *_):
        """The newest message of the session that has the outcome of a call."""
        def outcomes():
            found = [one['parts'][0]['text'] for one in self.server.messages(self.session)
                     if one['role'] == 'user']
            return found if len(found) > self.outcomes_seen else None

        found = wait_for(outcomes, 30, 'the outcome')
        self.outcomes_seen = len(found)
        return found[-1]

    def log(self):
        path = self.folder / 'log'
        return path.read_text().splitlines() if path.exists() else []

    def waiting(self):
        path = '/async-tool/pending?project=default&status=waiting'
        return wait_for(lambda: self.server.items(path), 20, 'a waiting call')[0]

    def question(self, but=None):
        """The waiting question; it takes the place of the wait for a task."""
        path = '/async-tool/pending?project=default&status=waiting'
        return wait_for(lambda: next(
            (one for one in self.server.items(path) if one['reason'] == 'elicitation' and
             one['id'] != (but or {}).get('id')), None), 30, 'a question')

    def logged(self, text):
        wait_for(lambda: text in self.server.log.read_text(), 30, text)


class Calls(Servers):
    def test_tools_are_those_of_the_agent_with_their_terms(self):
        self.serve(self.program())
        self.assertEqual(sorted(self.tools()), [
            f'mcp:s:{name}' for name in ('ask', 'ask_once', 'deploy', 'die', 'fail', 'grow', 'hang',
                                         'large', 'look', 'prompts/get', 'prompts/list',
                                         'quiz', 'resources/list', 'resources/read',
                                         'resources/templates/list', 'sample', 'slow', 'steps',
                                         'visit')])
        listed = {one['name']: one for one in self.server.get('/api/tools').json['items']}
        self.assertEqual(listed['mcp:s:deploy']['description'], 'The tool deploy.')
        self.assertEqual(self.outcome(self.call('look')),
                         'The result of mcp:s:look {} is: look done')
        self.assertIn('failed: fail done', self.outcome(self.call('fail')))
        refused = self.server.post(f'/api/sessions/{self.session}/calls',
                                   {'tool': 'mcp:s:deploy', 'arguments': {'target': 3}})
        self.assertProblem(refused, 422, 'invalid_arguments')

    def test_person_is_asked_before_a_destructive_tool(self):
        self.serve(self.program())
        task = self.call('deploy', target='api')
        call = self.waiting()
        self.assertEqual((call['reason'], call['tool']), ('approval', 'mcp:s:deploy'))
        self.assertEqual([line for line in self.log() if line.startswith('call')], [])
        self.assertStatus(self.server.decide(call, True), 200)
        self.assertIn('is: deploy api', self.outcome(task))
        denied = self.call('deploy', target='web')
        self.server.decide(self.waiting(), False, reason='no')
        self.assertIn('denied: no', self.outcome(denied))
        self.assertEqual(self.log().count('call deploy {"target": "web"}'), 0)

    def test_asking_is_configured(self):
        self.serve(self.program(ask='"none"'))
        self.assertIn('is: deploy api', self.outcome(self.call('deploy', target='api')))

    def test_kill_during_a_call_repeats_only_what_may_be(self):
        self.serve(self.program(ask='"none"'))
        task = self.call('hang')
        wait_for(lambda: 'call hang {}' in self.log(), 20)
        self.server.restart()
        wait_for(lambda: self.log().count('call hang {}') == 2, 30, 'it only reads: again')
        self.assertStatus(self.server.post(f'/api/tasks/{task}/cancel'), 204)
        wait_for(lambda: 'cancelled' in self.log(), 20, 'the server hears of it')

    def test_kill_while_a_person_is_asked_loses_nothing(self):
        self.serve(self.program())
        task = self.call('deploy', target='api')
        call = self.waiting()
        self.server.restart()
        self.server.decide(call, True)
        self.assertIn('is: deploy api', self.outcome(task))
        self.assertEqual(self.log().count('call deploy {"target": "api"}'), 1)

    def test_changed_list_is_followed(self):
        self.serve(self.program())
        self.assertIn('is: grow done', self.outcome(self.call('grow')))
        self.server.advance(2)
        wait_for(lambda: 'mcp:s:new' in self.tools(), 20, 'the new tool')
        self.assertIn('is: new done', self.outcome(self.call('new')))

    def test_progress_of_a_server_is_progress_of_the_call(self):
        os.mkfifo(self.folder / 'end')
        self.serve(self.program())
        call = self.call('steps')
        tasks = f'/api/sessions/{self.session}/tasks'
        task = wait_for(lambda: self.server.items(tasks), 20, 'its session')[0]

        def progress():
            return [one['data']['payload'] for one in self.server.events(task['sessionID'])
                    if one['type'] == 'progressed']
        wait_for(lambda: progress() and progress()[-1]['progress'] == 500, 20, 'the newest step')
        (self.folder / 'end').write_text('now')
        self.assertIn('is: steps done', self.outcome(call))
        self.assertEqual(progress()[0], {'progress': 1, 'total': 500, 'message': 'step 1'})
        self.assertLess(len(progress()), 20, 'at most one a second')

    def test_resources_and_prompts_are_tools(self):
        self.serve(self.program(message_bytes=100_000))
        self.assertIn('"uri":"notes://all"', self.outcome(self.call('resources/list')))
        self.assertIn('"text":"the notes"',
                      self.outcome(self.call('resources/read', uri='notes://all')))
        self.assertIn('no such resource',
                      self.outcome(self.call('resources/read', uri='notes://none')))
        self.assertIn('"name":"greet"', self.outcome(self.call('prompts/list')))
        greeting = self.outcome(self.call('prompts/get', name='greet', arguments={'who': 'Ann'}))
        self.assertIn("Greet {'who': 'Ann'}", greeting)
        refused = self.server.post(f'/api/sessions/{self.session}/calls',
                                   {'tool': 'mcp:s:resources/read', 'arguments': {}})
        self.assertProblem(refused, 422, 'invalid_arguments')
        self.call('resources/read', uri='notes://large')
        self.logged("MCP server 's': it sent a message of more than 100000 bytes")


class Tasks(Servers):
    def task(self, how='well', **more):
        self.serve(self.program(how, **more))
        self.task_call = self.call('slow')
        call = self.waiting()
        self.assertEqual((call['reason'], call['externalRef']), ('tool_result', 'task-1'))

    def state(self, status, **more):
        (self.folder / 'tasks/task-1').write_text(json.dumps({'status': status, **more}))

    def test_task_is_a_pending_call_until_it_has_ended(self):
        self.task()
        wait_for(lambda: 'tasks/get task-1' in self.log(), 20, 'it is polled')
        self.state('completed')
        self.assertIn('is: result of task-1', self.outcome(self.task_call))
        self.assertEqual(self.log().count('tasks/cancel task-1'), 0)

    def test_task_of_the_extension_has_its_result(self):
        self.task('extension')
        self.state('completed', result={'content': [{'type': 'text', 'text': 'inline'}]})
        self.assertIn('is: inline', self.outcome(self.task_call))
        self.assertEqual(self.log().count('tasks/result task-1'), 0)

    def test_task_survives_kills_of_dormouse_and_its_server(self):
        self.task()
        self.server.restart()  # the server's program ends with it
        wait_for(lambda: self.log().count('start') == 2 and
                 self.log().index('start', 1) < len(self.log()) - 1, 20, 'it is polled again')
        self.server.restart()
        self.state('completed')
        self.assertIn('is: result of task-1', self.outcome(self.task_call))
        self.assertEqual(self.log().count('call slow {}'), 1, 'the tool was started once')

    def test_cancel_here_cancels_there(self):
        self.task()
        self.assertStatus(self.server.post(f'/api/tasks/{self.task_call}/cancel'), 204)
        wait_for(lambda: 'tasks/cancel task-1' in self.log(), 20, 'the server hears of it')

    def test_task_over_its_limit_expires_and_is_cancelled(self):
        self.task(task_limit='"1h"')
        self.server.advance(3601)
        wait_for(lambda: 'tasks/cancel task-1' in self.log(), 20, 'the server hears of it')
        self.assertIn('timed out', self.outcome(self.task_call))

    def test_other_ends_of_a_task_are_clear(self):
        for status, more, says in (
            ('failed', {'error': {'code': -32000, 'message': 'out of disk'}}, 'out of disk'),
            ('cancelled', {'statusMessage': 'by Ann'}, 'the server has cancelled the task: by Ann'),
        ):
            with self.subTest(status):
                self.task()
                self.state(status, **more)
                self.assertIn(says, self.outcome(self.task_call))
                self.server.kill()
                (self.folder / 'tasks/task-1').unlink()
                self.session = None

    def test_task_that_the_server_forgets_is_lost(self):
        self.task()
        (self.folder / 'tasks/task-1').unlink()
        self.assertIn('its task is lost: no such task', self.outcome(self.task_call))

    def test_server_stops_at_once_while_a_task_is_followed(self):
        self.task()
        wait_for(lambda: 'tasks/get task-1' in self.log(), 20, 'it is polled')
        self.assertEqual(self.server.term(within=4), 0)
        self.assertEqual(self.log().count('tasks/cancel task-1'), 0)


class Questions(Servers):
    def ask(self, tool='ask', **more):
        self.serve(self.program(ask='"none"', **more))
        self.task_id = self.call(tool)
        return self.waiting()

    def test_question_of_a_server_is_answered_by_a_person(self):
        call = self.ask()
        self.assertEqual((call['reason'], call['message']),
                         ('elicitation', "The MCP server 's' asks: Who are you?"))
        self.assertEqual(call['form']['required'], ['name'])
        self.assertStatus(self.server.decide(call, True, content={'name': 3}), 200)
        again = wait_for(lambda: [one for one in [self.waiting()] if one['id'] != call['id']], 20,
                         'the question again')[0]
        self.assertIn('The answer does not fit', again['message'])
        self.assertStatus(self.server.decide(again, True, content={'name': 'Ann'}), 200)
        self.assertIn('{"action": "accept", "content": {"name": "Ann"}}',
                      self.outcome(self.task_id))
        self.assertEqual(self.log().count('call ask {}'), 1)

    def test_model_answers_a_server_after_approval(self):
        call = self.ask('sample', sampling='"ask"')
        self.assertEqual(call['reason'], 'elicitation')
        self.assertIn('[user] Say hello.', call['message'])
        self.server.decide(call, True)
        self.assertIn('"role": "assistant"', self.outcome(self.task_id))
        self.task_id = self.call('sample')
        self.server.decide(self.waiting(), False)
        self.assertIn('a person has declined the request', self.outcome(self.task_id))

    def test_sampling_is_refused_unless_it_is_configured(self):
        self.serve(self.program(ask='"none"'))
        self.assertIn('does not offer sampling', self.outcome(self.call('sample')))

    def test_denial_declines(self):
        call = self.ask()
        self.server.decide(call, False, reason='no')
        self.assertIn('{"action": "decline"}', self.outcome(self.task_id))

    def test_address_is_text_for_a_person(self):
        call = self.ask('visit')
        self.assertIn('https://sign-in.example/start?x=1', call['message'])
        self.server.decide(call, True)
        self.assertIn('{"action": "accept"}', self.outcome(self.task_id))

    def test_cancel_and_expiry_reach_the_server(self):
        self.ask(answer_limit='"1h"')
        self.assertStatus(self.server.post(f'/api/tasks/{self.task_id}/cancel'), 204)
        wait_for(lambda: 'answered {"action": "cancel"}' in self.log(), 20, 'the answer')
        wait_for(lambda: 'cancelled' in self.log(), 20, 'the cancellation')
        self.assertIn('was cancelled', self.outcome(self.task_id))
        expires = self.call('ask')
        self.waiting()
        self.server.advance(3601)
        self.assertIn('nobody answered in time', self.outcome(expires))
        wait_for(lambda: self.log().count('answered {"action": "cancel"}') == 2, 20, 'the answer')

    def test_answer_after_a_kill_is_kept_if_the_call_may_be_repeated(self):
        call = self.ask()
        self.server.restart()
        self.server.decide(call, True, content={'name': 'Ann'})
        self.assertIn('{"action": "accept", "content": {"name": "Ann"}}',
                      self.outcome(self.task_id))
        self.assertEqual(self.log().count('call ask {}'), 2)

    def test_answer_after_a_kill_repeats_nothing_else(self):
        call = self.ask('ask_once')
        self.server.restart()
        self.server.decide(call, True, content={'name': 'Ann'})
        self.assertIn('unknown', self.outcome(self.task_id))
        self.assertEqual(self.log().count('call ask_once {}'), 1)


class Stateless(Servers):
    """A server that knows only 2026-07-28."""

    def test_tools_tasks_and_questions_work(self):
        self.serve(self.program('stateless', ask='"none"'))
        self.assertIn('is: look done', self.outcome(self.call('look')))
        task = self.call('slow')
        self.assertEqual(self.waiting()['externalRef'], 'task-1')
        (self.folder / 'tasks/task-1').write_text(json.dumps(
            {'status': 'completed', 'result': {'content': [{'type': 'text', 'text': 'inline'}]}}))
        self.assertIn('is: inline', self.outcome(task))

    def test_sampling_is_approved_and_answered_by_the_model(self):
        self.serve(self.program('stateless', ask='"none"', sampling='"ask"'))
        task = self.call('sample')
        call = self.waiting()
        self.assertIn('[user] Say hello.', call['message'])
        self.assertEqual(call['reason'], 'elicitation')
        self.server.restart()
        self.server.decide(call, True)
        self.assertIn('["mine", {"role": "assistant"', self.outcome(task))
        task = self.call('sample')
        self.server.decide(self.waiting(), False)
        self.assertIn('a person has declined the request', self.outcome(task))

    def test_question_survives_a_kill_of_both_sides(self):
        self.serve(self.program('stateless', ask='"none"'))
        task = self.call('ask_once')
        call = self.waiting()
        self.assertIn('Who are you?', call['message'])
        self.server.restart()
        self.server.decide(call, True, content={'name': 'Ann'})
        self.assertIn('["mine", {"action": "accept", "content": {"name": "Ann"}}]',
                      self.outcome(task))


class StatelessHttp(Servers):
    """Another Dormouse, behind a proxy that refuses `initialize`."""

    def setUp(self):
        super().setUp()
        self.other = other = Server()
        self.addCleanup(other.finish)
        self.methods = methods = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                message = json.loads(body)
                methods.append((message['method'], self.headers['Mcp-Method']))
                status, kind, answer = 404, 'application/json', json.dumps(
                    {'jsonrpc': '2.0', 'id': message.get('id'),
                     'error': {'code': -32601, 'message': 'unknown method'}}).encode()
                if message['method'] != 'initialize':
                    status, kind, answer = self.forwarded(body)
                self.send_response(status)
                self.send_header('Content-Type', kind)
                self.send_header('Content-Length', str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def forwarded(self, body):
                peer = http.client.HTTPConnection('127.0.0.1', other.port)
                headers = {name: value for name, value in self.headers.items()
                           if name.lower() not in ('host', 'content-length')}
                peer.request('POST', '/mcp', body,
                             {**headers, 'Authorization': f'Bearer {other.token}'})
                answer = peer.getresponse()
                text = answer.read()
                peer.close()
                return answer.status, answer.headers['Content-Type'] or '', text

            def log_message(self, *_):
                pass

        proxy = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.start_peer(proxy)
        self.url = f'http://127.0.0.1:{proxy.server_address[1]}/mcp'

    def test_tools_of_a_server_are_used(self):
        self.serve(f'[[mcp]]\nname = "s"\nurl = "{self.url}"\nask = "none"\n')
        call = self.call('ask_human', question='Which branch?')
        path = '/async-tool/pending?project=default&status=waiting'
        waiting = wait_for(lambda: self.other.items(path), 20, 'a task of the other server')
        self.assertEqual(len(waiting), 1, 'the call reached the other server once')
        self.assertIn('Which branch?', json.dumps(waiting))
        self.assertStatus(self.other.result(waiting[0]['id'], 'the green one'), 200)
        self.assertIn('the green one', self.outcome(call))
        self.assertIn(('tools/call', 'tools/call'), self.methods)
        self.assertEqual(self.methods[:3], [
            ('initialize', 'initialize'), ('server/discover', 'server/discover'),
            ('tools/list', 'tools/list')])


class Gateway(Servers):
    def client(self, *servers):
        peer = Peer(self.server, 'mcp', *(word for name in servers for word in ('--serve', name)))
        self.addCleanup(peer.kill)
        peer.ask('initialize', protocolVersion='2025-11-25', capabilities={},
                 clientInfo={'name': 'test', 'version': '1'})
        return peer

    def result(self, answer):
        return answer['content'][0]['text'], answer['isError']

    def test_call_waits_for_approval_and_is_answered(self):
        self.serve(self.program())
        client = self.client('s')
        tools = {one['name'] for one in client.ask('tools/list')['tools']}
        self.assertIn('deploy', tools)
        self.assertIn('resources_read', tools)
        self.assertEqual(self.result(client.ask('tools/call', name='look', arguments={})),
                         ('look done', False))
        number = client.begin('tools/call', name='deploy', arguments={'target': 'api'})
        call = self.waiting()
        self.assertEqual(client.ask('ping'), {}, 'others are answered meanwhile')
        self.server.restart()
        self.server.decide(call, True)
        self.assertEqual(self.result(client.end(number)), ('deploy api', False))
        audit = self.server.get(f'/api/explain/{call["id"]}').json
        self.assertIn('approved', json.dumps(audit))
        number = client.begin('tools/call', name='deploy', arguments={'target': 'api'})
        self.server.decide(self.waiting(), False, reason='no')
        self.assertEqual(self.result(client.end(number)), ('denied: no', True))
        with self.assertRaises(Refused):
            client.ask('tools/call', name='none', arguments={})

    def test_client_that_leaves_cancels_its_calls(self):
        self.serve(self.program())
        client = self.client('s')
        number = client.begin('tools/call', name='deploy', arguments={'target': 'api'})
        self.waiting()
        client.notify('notifications/cancelled', requestId=number)
        path = '/async-tool/pending?project=default&status=waiting'
        wait_for(lambda: not self.server.items(path), 20, 'the call is cancelled')
        client.begin('tools/call', name='deploy', arguments={'target': 'web'})
        self.waiting()
        self.assertEqual(client.close(), 0)
        wait_for(lambda: not self.server.items(path), 20, 'its session has ended')


class Others(Servers):
    """The protocol's own example server."""

    def everything(self):
        if missing := install(HERE / 'mcp', 'node'):
            self.skipTest(missing)
        return ['node', str(HERE / 'mcp/node_modules/@modelcontextprotocol/server-everything'
                            '/dist/index.js')]

    def check(self):
        self.assertIn('mcp:s:echo', self.tools())
        self.assertIn('Echo: hi', self.outcome(self.call('echo', message='hi')))
        self.assertIn('is: ', self.outcome(self.call('get-sum', a=2, b=3)))
        self.check_library()
        self.check_question()
        self.check_task()

    def check_library(self):
        self.assertIn('demo://', self.outcome(self.call(self.listed('resources/list'))))
        self.assertIn('contents', self.outcome(
            self.call('resources/read', uri='demo://resource/dynamic/text/1')))
        self.assertIn('simple-prompt', self.outcome(self.call('prompts/list')))
        self.assertIn('messages', self.outcome(self.call('prompts/get', name='simple-prompt')))

    def listed(self, tool):
        wait_for(lambda: f'mcp:s:{tool}' in self.tools(), 20, tool)
        return tool

    def check_question(self):
        task = self.call(self.listed('trigger-elicitation-request'))
        call = self.waiting()
        self.assertIn('Please provide inputs', call['message'])
        self.server.decide(call, True, content={'name': 'Ann', 'check': True})
        self.assertIn('Name: Ann', self.outcome(task))
        visited = self.call(self.listed('trigger-url-elicitation'), url='https://a.example/x')
        call = self.waiting()
        self.assertIn('https://a.example/x', call['message'])
        self.server.decide(call, False)
        self.assertIn('declined', self.outcome(visited))

    def check_task(self):
        tool = self.listed('simulate-research-query')
        task = self.call(tool, topic='tea', ambiguous=True)
        self.assertEqual(self.waiting()['reason'], 'tool_result')
        call = self.question()
        wanted = call['form']['properties']['interpretation']['oneOf'][0]['const']
        self.server.decide(call, True, content={'interpretation': wanted})
        self.assertIn(f'**Clarification**: {wanted}', self.outcome(task))

    def test_everything_over_stdio(self):
        command = json.dumps([*self.everything(), 'stdio'])
        self.serve(f'[[mcp]]\nname = "s"\ncommand = {command}\nask = "none"\n')
        self.check()

    def test_everything_over_http(self):
        port = free_port()
        peer = subprocess.Popen([*self.everything(), 'streamableHttp'],
                                env={**os.environ, 'PORT': str(port)},
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(peer.wait)
        self.addCleanup(peer.stderr.close)
        self.addCleanup(peer.send_signal, signal.SIGKILL)
        for line in peer.stderr:
            if 'listening' in line.lower():
                break
        self.serve(f'[[mcp]]\nname = "s"\nurl = "http://127.0.0.1:{port}/mcp"\nask = "none"\n')
        self.check()


if __name__ == '__main__':
    main()
