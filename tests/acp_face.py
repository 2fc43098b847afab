#!/usr/bin/env python3
"""`dormouse acp`: requests of an editor and the notifications that it gets; nothing of a session is
lost with the editor or with the server. The protocol's own library acts as the editor once, and its
JSON Schemas validate all that is sent."""
import json
import pathlib
import subprocess

import npm
from acp import Programs
from dormouse import BINARY, Alone, Case, leave_out, main, run
from rpc_peer import Peer, Refused
from tools_by_config import HELD, Tools, eventually

FOLDER = pathlib.Path(__file__).resolve().parent / 'editor'
PNG = ('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ'
       'RU5ErkJggg==')
ANSWERS = {'initialize': 'InitializeResponse', 'session/new': 'NewSessionResponse',
           'session/load': 'LoadSessionResponse', 'session/resume': 'ResumeSessionResponse',
           'session/list': 'ListSessionsResponse', 'session/prompt': 'PromptResponse'}


def install():
    """Returns None, or why the protocol's library is missing."""
    return npm.install(FOLDER, 'node')


class Editor(Peer):
    def __init__(self, server, *words, capabilities=None, **more):
        super().__init__(server, 'acp', *(words or ('--agent', 'demo')), **more)
        self.typed = []  # (type, value) for the schema
        self.capabilities = self.ask('initialize', protocolVersion=1,
                                     clientCapabilities=capabilities or {})

    def ask(self, method, **params):
        return self.finish(method, self.begin(method, **params))

    def finish(self, method, number):
        result = self.end(number)
        self.typed.append({'type': ANSWERS[method], 'value': result})
        return result

    def new(self, cwd='/tmp'):
        return self.ask('session/new', cwd=cwd, mcpServers=[])['sessionId']

    def say(self, session, *blocks):
        """Sends a prompt."""
        blocks = [{'type': 'text', 'text': b} if isinstance(b, str) else b for b in blocks]
        return self.begin('session/prompt', sessionId=session, prompt=blocks)

    def updates(self, session, kind=None):
        with self.changed:
            sent = [n['params'] for n in self.notices if n['method'] == 'session/update']
        return [t['update'] for t in sent if t['sessionId'] == session
                and kind in (None, t['update']['sessionUpdate'])]

    def streamed(self, session, kind='agent_message_chunk'):
        return ''.join(u['content']['text'] for u in self.updates(session, kind))

    def permission_requests(self):
        return [r for r in self.requests if r['method'] == 'session/request_permission']

    def fits(self):
        """Checks everything that was sent against the protocol's schema."""
        typed = list(self.typed)
        for notice in self.notices:
            if notice['method'] == 'session/update':
                typed.append({'type': 'SessionNotification', 'value': notice['params']})
            else:
                assert notice['method'] == '$/cancel_request', notice
                typed.append({'type': 'CancelRequestNotification', 'value': notice['params']})
        for request in self.requests:
            asks = request['method'] == 'session/request_permission'
            typed.append({
                'type': 'RequestPermissionRequest' if asks else 'CreateElicitationRequest',
                'value': request['params']})
        done = subprocess.run(['node', 'check.mjs'], cwd=FOLDER, input=json.dumps(typed), text=True,
                              capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == [], done.stdout


class Face(Case):
    kind = Alone

    def editor(self, *words, **more):
        editor = Editor(self.server, *words, **more)
        self.addCleanup(editor.kill)
        return editor

    def end(self, editor, number):
        return editor.finish('session/prompt', number)['stopReason']


class Talking(Face):
    def test_agent_reports_its_capabilities(self):
        editor = self.editor()
        self.assertEqual(editor.capabilities['protocolVersion'], 1)
        can = editor.capabilities['agentCapabilities']
        self.assertTrue(can['loadSession'])
        self.assertEqual(can['sessionCapabilities'], {'list': {}, 'resume': {}})
        self.assertEqual(editor.ask('initialize', protocolVersion=99)['protocolVersion'], 1)
        self.assertEqual(editor.close(), 0)
        editor.fits()

    def test_prompt_ends_with_its_turn_and_text_comes_before(self):
        editor = self.editor()
        session = editor.new('/home/me/project')
        self.assertEqual(self.end(editor, editor.say(session, 'hello')), 'end_turn')
        self.assertEqual(editor.streamed(session), 'You said: hello')
        self.assertEqual(editor.streamed(session, 'user_message_chunk'), '', 'it knows its own')
        self.assertEqual(self.server.session(session)['labels'], {'cwd': '/home/me/project'})
        editor.fits()

    def test_several_kinds_of_content(self):
        editor = self.editor()
        session = editor.new()
        end = editor.say(
            session, 'look:', {'type': 'image', 'mimeType': 'image/png', 'data': PNG},
            {'type': 'resource_link', 'uri': 'file:///a/b.txt', 'name': 'b.txt'},
            {'type': 'resource', 'resource': {'uri': 'file:///c.txt', 'text': 'inside'}})
        self.assertEqual(self.end(editor, end), 'end_turn')
        found = editor.streamed(session)
        for piece in ('look:', '[b.txt](file:///a/b.txt)', 'inside'):
            self.assertIn(piece, found)
        parts = self.server.messages(session)[0]['parts']
        self.assertEqual([p['type'] for p in parts], ['text', 'image', 'text', 'text'])

    def test_tool_that_takes_days_holds_the_prompt_open(self):
        editor = self.editor()
        session = editor.new()
        end = editor.say(session, 'deploy api')
        call, = editor.until(lambda: self.server.open_calls(session), 'the call')
        editor.until(lambda: [u for u in editor.updates(session, 'tool_call_update')
                              if u['status'] == 'in_progress'], 'that it waits')
        self.server.post('/async-tool/progress', {'pendingID': call['id'], 'payload': 'half'})
        editor.until(lambda: 'half' in json.dumps(editor.updates(session)), 'progress')
        self.assertNotIn(end, editor.answers)
        self.server.result(call['id'], {'url': 'https://x'})
        self.assertEqual(self.end(editor, end), 'end_turn')
        first, = editor.updates(session, 'tool_call')
        self.assertEqual((first['title'], first['rawInput']), ('deploy', {'target': 'api'}))
        last = editor.updates(session, 'tool_call_update')[-1]
        self.assertEqual((last['status'], last['rawOutput']), ('completed', {'url': 'https://x'}))
        self.assertIn('deploy api: {"url":"https://x"}', editor.streamed(session))
        editor.fits()

    def test_tool_that_fails(self):
        editor = self.editor()
        session = editor.new()
        self.assertEqual(self.end(editor, editor.say(session, 'fail')), 'end_turn')
        self.assertEqual(editor.updates(session, 'tool_call_update')[-1]['status'], 'failed')
        editor.fits()

    def test_question_ends_the_prompt_and_the_next_one_answers(self):
        editor = self.editor()
        session = editor.new()
        self.assertEqual(self.end(editor, editor.say(session, 'ask Which region?')), 'end_turn')
        self.assertIn('Which region?', editor.streamed(session))
        self.assertEqual(self.end(editor, editor.say(session, 'Frankfurt')), 'end_turn')
        self.assertIn('Frankfurt', editor.streamed(session))
        self.assertEqual(len(self.server.turns(session)), 1)
        editor.fits()

    def test_cancel(self):
        editor = self.editor()
        session = editor.new()
        end = editor.say(session, 'deploy api')
        editor.until(lambda: self.server.open_calls(session), 'the call')
        editor.notify('session/cancel', sessionId=session)
        self.assertEqual(self.end(editor, end), 'cancelled')
        self.assertEqual(self.server.open_calls(session), [])
        editor.notify('session/cancel', sessionId=session)  # no turn is open: no effect
        self.assertEqual(self.end(editor, editor.say(session, 'hi')), 'end_turn')

    def test_prompts_of_others_are_shown(self):
        editor = self.editor()
        session = editor.new()
        self.server.prompt(session, 'from elsewhere')
        editor.until(lambda: 'You said: from elsewhere' in editor.streamed(session), 'the answer')
        self.assertEqual(editor.streamed(session, 'user_message_chunk'), 'from elsewhere')
        self.server.call('PATCH', f'/api/sessions/{session}', {'title': 'Ship it'})
        editor.until(lambda: editor.updates(session, 'session_info_update'), 'the title')
        editor.fits()


class Approvals(Face):
    def test_editor_decides(self):
        def answer(method, params):
            return {'outcome': {'outcome': 'selected', 'optionId': choice}}

        editor = self.editor(on_request=answer)
        session = editor.new()
        for choice, word in (('approve', 'done'), ('deny', 'denied')):
            end = editor.say(session, 'approve cleanup')
            self.assertEqual(self.end(editor, end), 'end_turn')
            self.assertIn(word, editor.streamed(session))
        self.assertEqual([r['params']['toolCall']['rawInput'] for r in
                          editor.permission_requests()],
                         [{'action': 'cleanup'}] * 2)
        editor.fits()

    def test_other_client_decides_and_the_editor_is_notified(self):
        editor = self.editor()
        session = editor.new()
        end = editor.say(session, 'approve cleanup')
        request, = editor.until(editor.permission_requests, 'the question')
        call, = self.server.open_calls(session)
        self.server.decide(call, True)
        self.assertEqual(self.end(editor, end), 'end_turn')
        notice = editor.until(lambda: [n for n in editor.notices
                                       if n['method'] == '$/cancel_request'], 'the notice')[0]
        self.assertEqual(notice['params'], {'requestId': request['id']})
        editor.answer(request['id'], {'outcome': {'outcome': 'selected', 'optionId': 'deny'}})
        self.assertEqual(self.end(editor, editor.say(session, 'hi')), 'end_turn')
        editor.fits()

    def test_question_is_asked_again_when_the_session_is_reopened(self):
        first = self.editor()
        session = first.new()
        first.say(session, 'approve cleanup')
        first.until(first.permission_requests, 'the question')
        first.kill()
        second = self.editor()
        second.ask('session/load', sessionId=session, cwd='/tmp', mcpServers=[])
        request, = second.until(second.permission_requests, 'the question')
        second.answer(request['id'], {'outcome': {'outcome': 'selected', 'optionId': 'approve'}})
        second.until(lambda: 'done' in second.streamed(session), 'the outcome')
        second.fits()


class Lasting(Face):
    def test_load_replays_history_and_resume_does_not(self):
        first = self.editor()
        session = first.new('/a')
        self.end(first, first.say(session, 'hello'))
        self.end(first, first.say(session, 'fail'))
        first.close()
        second = self.editor()
        second.ask('session/load', sessionId=session, cwd='/a', mcpServers=[])
        kinds = [u['sessionUpdate'] for u in second.updates(session)]
        self.assertEqual(kinds[:3], ['user_message_chunk', 'agent_message_chunk',
                                     'user_message_chunk'])
        self.assertEqual(second.streamed(session, 'user_message_chunk'), 'hellofail')
        self.assertEqual(second.streamed(session), first.streamed(session))
        self.assertEqual(len(second.updates(session, 'tool_call')), 1)
        third = self.editor()
        third.ask('session/resume', sessionId=session, cwd='/a', mcpServers=[])
        self.assertEqual(third.updates(session), [])
        self.assertEqual(self.end(third, third.say(session, 'more')), 'end_turn')
        self.assertEqual(third.streamed(session), 'You said: more')
        second.fits()

    def test_list_shows_those_of_a_folder(self):
        editor = self.editor()
        here, there = editor.new('/here'), editor.new('/there')
        every = editor.ask('session/list')['sessions']
        self.assertEqual([(s['sessionId'], s['cwd']) for s in every],
                         [(there, '/there'), (here, '/here')])
        some = editor.ask('session/list', cwd='/here')['sessions']
        self.assertEqual([s['sessionId'] for s in some], [here])
        self.assertRegex(some[0]['updatedAt'], r'^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$')
        editor.fits()

    def test_server_is_killed_in_mid_turn(self):
        editor = self.editor()
        session = editor.new()
        end = editor.say(session, 'deploy api')
        call, = editor.until(lambda: self.server.open_calls(session), 'the call')
        self.server.restart()
        self.server.result(call['id'], 'live')
        self.assertEqual(self.end(editor, end), 'end_turn')
        self.assertEqual(editor.streamed(session), 'deploy api: live', 'once')
        self.assertEqual(len(editor.updates(session, 'tool_call')), 1)

    def test_prompt_while_the_server_is_away_is_taken_once(self):
        editor = self.editor()
        session = editor.new()
        self.server.kill()
        end = editor.say(session, 'hello')
        self.server.start()
        self.assertEqual(self.end(editor, end), 'end_turn')
        self.assertEqual(len(self.server.turns(session)), 1)

    def test_session_that_is_deleted_ends_its_prompt(self):
        editor = self.editor()
        session = editor.new()
        end = editor.say(session, 'deploy api')
        editor.until(lambda: self.server.open_calls(session), 'the call')
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        self.assertEqual(self.end(editor, end), 'cancelled')
        with self.assertRaises(Refused) as refused:
            editor.ask('session/prompt', sessionId=session, prompt=[{'type': 'text', 'text': 'x'}])
        self.assertEqual(refused.exception.code, -32002)


class Mistakes(Face):
    def refused(self, editor, method, **params):
        with self.assertRaises(Refused) as refused:
            editor.end(editor.begin(method, **params))
        return refused.exception.code

    def test_each_has_the_protocols_number(self):
        editor = self.editor()
        session = editor.new()
        gone = 'ses_AAAAAAEAAAAAAAAAAAAAAA'
        self.assertEqual(self.refused(editor, 'session/zzz'), -32601)
        self.assertEqual(self.refused(editor, 'initialize'), -32602)
        self.assertEqual(self.refused(editor, 'session/new', cwd='here', mcpServers=[]), -32602)
        self.assertEqual(self.refused(editor, 'session/load', sessionId=gone, cwd='/'), -32002)
        self.assertEqual(self.refused(editor, 'session/load', cwd='/'), -32602)
        self.assertEqual(self.refused(editor, 'session/prompt', sessionId=gone,
                                      prompt=[{'type': 'text', 'text': 'x'}]), -32002)
        for prompt in (None, [], [{'type': 'text'}], [{'type': 'audio', 'data': ''}], 'text'):
            self.assertEqual(self.refused(editor, 'session/prompt', sessionId=session,
                                          prompt=prompt), -32602, prompt)
        editor.say(session, 'deploy api')
        self.assertEqual(self.refused(editor, 'session/prompt', sessionId=session,
                                      prompt=[{'type': 'text', 'text': 'x'}]), -32602)

    def test_lines_that_are_no_messages_do_not_end_it(self):
        editor = self.editor()
        for text in ('{', '[]', '7', '{"jsonrpc":"2.0"}', '\x00\xff', 'x' * (17 << 20)):
            before = len(editor.lines)
            editor.send_raw(text + '\n')
            line, = editor.until(lambda: editor.lines[before:], 'a refusal')
            self.assertIn(line['error']['code'], (-32700, -32600))
            self.assertIsNone(line['id'])
        editor.send_raw('\n\n')
        editor.notify('$/unknown')
        editor.answer(77, {})
        self.assertEqual(self.end(editor, editor.say(editor.new(), 'hi')), 'end_turn')

    def test_several_agents_and_none_is_named(self):
        editor = self.editor('--project', 'default')
        with self.assertRaises(Refused) as refused:
            editor.new()
        self.assertIn('--agent', refused.exception.error['message'])

    def test_help_shows_how(self):
        shown = run('acp', '--help')
        self.assertEqual(shown.returncode, 0)
        self.assertIn('dormouse acp --agent', shown.stdout)


class Folders(Programs):
    def setUp(self):
        super().setUp()
        (self.work / 'app').mkdir()
        self.editor = Editor(self.server, '--agent', 'fake')
        self.addCleanup(self.editor.kill)

    def test_program_works_in_the_folder_of_the_editor(self):
        folder = str((self.work / 'app').resolve())
        session = self.editor.new(folder)
        done = self.editor.finish('session/prompt', self.editor.say(session, 'hello'))
        self.assertEqual(done['stopReason'], 'end_turn')
        self.assertEqual(self.log('session/new')[0]['cwd'], folder)
        (listed,) = self.editor.ask('session/list')['sessions']
        self.assertEqual((listed['sessionId'], listed['cwd']), (session, folder))

    def test_folder_outside_of_the_roots_is_refused(self):
        with self.assertRaises(Refused) as refused:
            self.editor.new('/')
        self.assertIn('outside of the agent\'s roots', str(refused.exception))

    def test_permission_has_the_title_and_kind_of_the_program(self):
        session = self.editor.new(str(self.work / 'app'))
        number = self.editor.say(session, 'ask deploy')
        self.editor.until(self.editor.permission_requests, 'the question')
        call = self.editor.permission_requests()[0]['params']['toolCall']
        self.assertEqual((call['title'], call['kind'], call['toolCallId']),
                         ('run deploy', 'execute', 'call-deploy'))
        shown = self.editor.updates(session, 'tool_call')
        self.assertEqual([u['toolCallId'] for u in shown], ['call-deploy'])
        self.server.decide(self.server.open_calls(session)[0], True)
        self.editor.finish('session/prompt', number)
        self.assertEqual(len(self.editor.updates(session, 'tool_call')), 1)


class Questions(Tools, Face):
    """The question about a tool that a crash interrupted: as a form, as choices, or as text."""

    def setUp(self):
        super().setUp()
        self.serve(self.command(
            HELD + '; echo ran',
            more='crash = "ask"'))
        self.session = self.server.create('deploy A', agent='ops', wait=0)['id']
        eventually(lambda: (self.folder / 'deploy.sh.begun').exists(), 'it runs')
        self.server.restart()
        eventually(self.open, 'the question')

    def open(self):
        calls = self.server.open_calls(self.session)
        return [call for call in calls if call['reason'] == 'elicitation']

    def loaded(self, *answers, **capabilities):
        answers = list(answers)
        editor = self.editor('--agent', 'ops', capabilities=capabilities,
                             on_request=lambda *_: answers.pop(0) if answers else None)
        editor.ask('session/load', sessionId=self.session, cwd='/', mcpServers=[])
        editor.until(lambda: editor.requests, 'the question')
        return editor

    def test_choices_are_options(self):
        editor = self.loaded()
        (request,) = editor.permission_requests()
        options = request['params']['options']
        self.assertEqual([(o['name'], o['kind']) for o in options],
                         [('Run it again', 'allow_once'), ('It succeeded', 'allow_once'),
                          ('Give it up', 'reject_once')])
        shown = json.dumps(request['params']['toolCall'])
        self.assertIn('The server stopped while this tool ran', shown)
        editor.answer(request['id'], {'outcome': {'outcome': 'selected', 'optionId': 'choice-0'}})
        (self.folder / 'deploy.sh.go').write_text('')
        eventually(lambda: 'ran' in self.server.last_text(self.session), 'the end')
        editor.fits()

    def test_form_where_the_editor_shows_some(self):
        editor = self.loaded({'action': 'accept', 'content': {'action': 'give_up'}},
                             elicitation={'form': {}})
        (request,) = editor.requests
        self.assertEqual(request['method'], 'elicitation/create')
        self.assertEqual(request['params']['requestedSchema']['required'], ['action'])
        eventually(lambda: 'outcome unknown' in self.server.last_text(self.session), 'the end')
        self.assertEqual(self.open(), [])
        editor.fits()

    def test_cancelled_form_stays_open_invalid_one_is_reported(self):
        editor = self.loaded({'action': 'cancel'}, elicitation={'form': {}})
        self.assertEqual(len(self.open()), 1)
        editor.kill()
        editor = self.loaded({'action': 'accept', 'content': {'action': 'what'}},
                             elicitation={'form': {}})
        editor.until(lambda: 'was rejected' in editor.streamed(self.session), 'why')
        self.assertEqual(len(self.open()), 1)

    def test_protocols_own_library_shows_it(self):
        done = subprocess.run(
            ['node', 'form.mjs', BINARY, f'http://127.0.0.1:{self.server.port}',
             self.server.directory, self.session,
             json.dumps({'action': 'accept', 'content': {'action': 'give_up'}})],
            cwd=FOLDER, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        params = json.loads(done.stdout)
        self.assertEqual((params['mode'], params['sessionId']), ('form', self.session))
        eventually(lambda: not self.open(), 'the answer')


class Peers(Face):
    def test_protocols_own_library(self):
        done = subprocess.run(
            ['node', 'editor.mjs', BINARY, f'http://127.0.0.1:{self.server.port}',
             self.server.directory],
            cwd=FOLDER, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = json.loads(done.stdout)
        self.assertEqual(seen['permissions'], ['dangerous'])
        self.assertEqual((seen['stopReason'], seen['again']), ('end_turn', 'end_turn'))
        self.assertIn(seen['id'], seen['listed'])
        self.assertEqual(seen['updates'][0]['sessionUpdate'], 'tool_call')
        self.assertGreater(seen['loaded'], 3)
        self.assertEqual(seen['replayed'][0]['sessionUpdate'], 'user_message_chunk')


def setUpModule():
    if why := install():
        leave_out(why)


if __name__ == '__main__':
    main()
