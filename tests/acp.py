#!/usr/bin/env python3
"""External agents (requirements C), with the real binary and a scripted ACP agent: prompts, what is
stored, permissions, and deaths of the agent and of the server."""
import fcntl
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from dormouse import ROOT, Alone, environment, main, wait_for
from shapes import MESSAGE, PENDING, SESSION, Contract

AGENT = str(ROOT / 'tests/acp/fake_agent.py')


class Programs(Contract):
    flags = ()
    more = ''
    python = sys.executable

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-acp-'))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.work = self.folder / 'work'
        self.work.mkdir()
        self.state = self.make_state()
        self.state.mkdir()
        config = self.folder / 'dormouse.toml'
        command = json.dumps([self.python, AGENT, *self.flags])
        config.write_text(
            f'[[agent]]\nid = "fake"\nacp = {command}\nroots = ["work"]\n'
            f'env_allow = ["FAKE_STATE", "FAKE_KEY"]\n{self.more}\n'
        )
        env = {'FAKE_STATE': str(self.state), 'SECRET_OF_OURS': 'no'}
        self.server = Alone('--config', str(config), env=env)
        self.addCleanup(self.server.clean)

    def make_state(self):
        return self.folder / 'state'

    def log(self, kind):
        """Returns the agent's log entries of that kind, oldest first."""
        path = self.state / 'log.jsonl'
        lines = path.read_text().splitlines() if path.exists() else []
        return [line for line in map(json.loads, lines) if line['kind'] == kind]

    def prompts(self):
        return [line['wanted'] for line in self.log('prompt')]

    def ran(self):
        path = self.state / 'ran.txt'
        return path.read_text().split() if path.exists() else []

    def create(self, text=None, **more):
        return self.server.create(text, agent='fake', **more)['id']

    def begin(self, text):
        """Creates a session whose agent works."""
        session = self.create()
        self.assertStatus(self.server.prompt(session, text, wait=0), 202)
        return session

    def text(self, session):
        return [
            ''.join(p.get('text', '') for p in m['parts'] if p['type'] == 'text')
            for m in self.server.messages(session)
        ]

    def tools(self, session):
        return [p for m in self.server.messages(session) for p in m['parts'] if p['type'] == 'tool']

    def types(self, session):
        return [event['type'] for event in self.server.events(session)]

    def of_type(self, session, kind):
        return [e['data'] for e in self.server.events(session) if e['type'] == kind]

    def permission(self, session):
        """Returns the permission that the session waits for."""
        wait_for(lambda: self.server.open_calls(session), what='permission')
        (call,) = self.server.open_calls(session)
        self.assertShape(call, PENDING)
        return call

    def lives(self, pid):
        """False also for a process that has ended but was not reaped."""
        try:
            stat = pathlib.Path(f'/proc/{pid}/stat').read_text()
        except (FileNotFoundError, ProcessLookupError):  # the second: it ended while it was read
            return False
        return stat.rsplit(')', 1)[1].split()[0] != 'Z'

    def ended(self, session):
        return wait_for(
            lambda: self.server.session(session)['activity']['type'] == 'idle', 40, 'rest'
        )


class OnePrompt(Programs):
    def test_trace_context_reaches_the_agent(self):
        """At the places of `_meta` that the protocol reserves for it."""
        session = self.create()
        trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
        self.assertStatus(self.server.post(f'/api/sessions/{session}/prompt?wait=20',
                                           {'text': 'hello'}, traceparent=trace,
                                           tracestate='a=1'), 200)
        (prompt,) = self.log('prompt')
        self.assertEqual(prompt['meta'], {'traceparent': trace, 'tracestate': 'a=1'})

    def test_prompt_is_stored_forwarded_and_answered(self):
        session = self.create('hello')
        self.assertEqual(self.text(session), ['hello', 'You said: hello (1 messages)'])
        for message in self.server.messages(session):
            self.assertShape(message, MESSAGE)
        (prompt,) = self.log('prompt')
        self.assertIsNone(prompt['meta'], 'no trace was asked for')
        now = self.server.session(session)
        # On a store of several servers it says which one has the program.
        self.assertShape(now, {**SESSION, 'node': str} if self.server.store else SESSION)
        self.assertEqual(now['acpSessionID'], prompt['session'])
        self.assertEqual(now['usage']['inputTokens'], 7)
        types = self.types(session)
        self.assertLess(types.index('input_received'), types.index('agent_prompted'))
        self.assertEqual(types[-3:], ['agent_update', 'agent_replied', 'turn_ended'])

    def test_process_and_the_conversation_continue(self):
        session = self.create('one')
        self.assertStatus(self.server.prompt(session, 'two'), 200)
        self.assertEqual(self.server.last_text(session), 'You said: two (3 messages)')
        self.assertEqual(len(self.log('initialize')), 1)

    def test_reported_cost_is_that_of_each_turn_and_survives_a_kill(self):
        session = self.create('hello')
        self.assertIsNone(self.server.session(session)['usage']['cost'], 'nothing was reported')
        self.assertStatus(self.server.prompt(session, 'spend 0.25'), 200)
        self.server.restart()
        self.assertStatus(self.server.prompt(session, 'spend 0.4'), 200)
        # As of an agent that counts from its own start.
        self.assertStatus(self.server.prompt(session, 'spend 0.1'), 200)
        self.server.at_rest(session)
        costs = [turn['usage']['cost'] for turn in self.server.turns(session)]
        self.assertEqual(costs, [None, {'USD': 250000}, {'USD': 150000}, {'USD': 100000}])
        self.assertEqual(self.server.session(session)['usage']['cost'], {'USD': 500000})
        spent = [data.get('spent') for data in self.of_type(session, 'agent_replied')]
        self.assertEqual(spent, [None, {'USD': 250000}, {'USD': 400000}, {'USD': 100000}])

    def test_tool_calls_are_parts_with_their_outcome(self):
        session = self.create('tool build')
        (tool,) = self.tools(session)
        self.assertEqual(tool['tool'], 'acp:execute')
        self.assertEqual(tool['state']['status'], 'completed')
        self.assertEqual(tool['state']['input'], {'name': 'build'})
        self.assertEqual(tool['state']['output'], {'ran': 'build'})
        self.assertEqual(self.text(session)[-1], 'ran build')
        for message in self.server.messages(session):
            self.assertShape(message, MESSAGE)

    def test_thoughts_are_reasoning_parts(self):
        session = self.create('think')
        parts = self.server.messages(session)[-1]['parts']
        self.assertEqual([p['type'] for p in parts], ['reasoning', 'text'])

    def test_session_without_title_shows_the_agents_title(self):
        session = self.create('title Ship it')
        self.assertEqual(self.server.session(session)['title'], 'Ship it')
        named = self.create('title Ship it', title='Mine')
        self.assertEqual(self.server.session(named)['title'], 'Mine')

    def test_title_set_meanwhile_stays(self):
        session = self.begin('ask once more')
        self.assertEqual(self.server.session(session)['title'], 'ask once more')
        self.permission(session)
        self.server.call('PATCH', f'/api/sessions/{session}', {'title': 'Mine'})
        self.server.post(f'/api/sessions/{session}/cancel')
        self.ended(session)
        self.server.prompt(session, 'title Other')
        self.assertEqual(self.server.session(session)['title'], 'Mine')

    def test_long_answer_is_whole(self):
        session = self.create('big 300000')
        self.assertEqual(self.server.last_text(session), 'x' * 300000)

    def test_invalid_and_foreign_messages_are_ignored(self):
        session = self.create('junk')
        self.assertEqual(self.text(session), ['junk', 'You said: junk (1 messages)'])

    def test_text_after_the_answer_is_stored(self):
        session = self.create('late')
        wait_for(lambda: self.text(session)[-1] == 'one more thing', what='late message')

    def test_work_long_after_the_answer_is_its_own_turn(self):
        locks = [(self.state / text).open('w') for text in ('by myself', 'and more')]
        for lock in locks:
            fcntl.flock(lock, fcntl.LOCK_EX)
        session = self.create('later')
        for lock, text in zip(locks, ('by myself', 'and more')):
            self.server.advance(3)  # no longer just after a prompt
            lock.close()
            wait_for(lambda text=text: self.text(session)[-1] == text, what=text)
        turns = self.server.turns(session)
        self.assertEqual([turn['cause']['type'] for turn in turns], ['prompt', 'external'])
        self.assertEqual([turn['status'] for turn in turns], ['ended', 'ended'])
        self.assertEqual(self.text(session)[-2:], ['by myself', 'and more'])
        self.assertStatus(self.server.prompt(session, 'hello'), 200)
        self.assertNotIn('without a prompt', self.log('prompt')[-1]['text'])
        self.server.restart()
        self.assertEqual(self.text(session)[-4:-2], ['by myself', 'and more'])

    def test_update_flood_is_merged_and_finished_parts_are_whole(self):
        session = self.create('flood 3000')
        self.assertEqual(
            ''.join(self.text(session)[1:]), ''.join(f'{i} ' for i in range(3000)) + 'done'
        )
        self.assertEqual([t['state']['status'] for t in self.tools(session)], ['completed'])
        plans = [u for u in self.of_type(session, 'agent_update') if u['kind'] == 'plan']
        self.assertEqual(plans[-1]['body']['entries'][0]['content'], 'step 2999')
        self.assertLess(len(plans), 3000)

    def test_refusal_ends_the_turn_but_not_the_session(self):
        session = self.create('refuse')
        turn = self.server.turns(session)[0]
        self.assertEqual(turn['error']['code'], 'agent_refused')
        self.assertIn('no credit left', turn['error']['message'])
        self.assertStatus(self.server.prompt(session, 'hello'), 200)
        self.assertIn('You said: hello', self.server.last_text(session))

    def test_cancel_stops_it(self):
        session = self.begin('hang')
        wait_for(lambda: self.prompts() == ['hang'], what='prompt')
        self.assertStatus(self.server.post(f'/api/sessions/{session}/cancel'), 200)
        wait_for(lambda: self.log('cancel'), what='cancel')
        self.assertStatus(self.server.prompt(session, 'hello'), 200)
        self.assertIn('You said: hello', self.server.last_text(session))
        self.assertNotIn('hang', self.log('prompt')[1]['text'])
        self.assertEqual(len(self.log('initialize')), 1)

    def test_agent_gets_its_own_environment_and_folder(self):
        self.create('hello')
        (begun,) = self.log('initialize')
        self.assertIn('FAKE_STATE', begun['environment'])
        self.assertNotIn('SECRET_OF_OURS', begun['environment'])
        self.assertFalse([n for n in begun['environment'] if n.startswith('DORMOUSE')])
        self.assertEqual(self.log('session/new')[0]['cwd'], str(self.work.resolve()))

    def test_folder_outside_of_its_roots_is_refused(self):
        (self.work / 'out').symlink_to('/')
        for cwd in ('/', str(self.work / '..'), str(self.work / 'out/etc'), '/no/such'):
            body = {'agentID': 'fake', 'cwd': cwd}
            answer = self.server.post('/api/projects/default/sessions', body)
            self.assertProblem(answer, 400, 'bad_value', pointer='/cwd')
        self.assertEqual(self.log('initialize'), [])
        body = {'agentID': 'fake', 'cwd': 'relative'}
        answer = self.server.post('/api/projects/default/sessions', body)
        self.assertProblem(answer, 400, 'bad_value', pointer='/cwd')

    def test_session_shows_its_folder(self):
        (self.work / 'in').mkdir()
        inside = self.work / "in"
        for more, folder in (({}, self.work), ({"cwd": f"{inside}/../in"}, inside)):
            session = self.create('hello', **more)
            self.assertEqual(self.server.session(session)['cwd'], str(folder.resolve()))
        self.assertEqual(self.log('session/new')[-1]['cwd'], str((self.work / 'in').resolve()))

    def test_agents_are_listed_with_their_path(self):
        (agent,) = [a for a in self.server.get('/api/agents')['items'] if a['id'] == 'fake']
        self.assertEqual((agent['kind'], agent['available']), ('acp', True))
        self.assertEqual(agent['path'], sys.executable)
        self.assertEqual((agent['version'], agent['can']['load']), (None, False))
        self.create('hello')
        (agent,) = [a for a in self.server.get('/api/agents')['items'] if a['id'] == 'fake']
        self.assertEqual((agent['version'], agent['can']), ('1', {'load': True, 'resume': False}))


    def test_agent_named_by_path_only_is_that_program(self):
        program = self.folder / 'claude-agent-acp'
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {AGENT}\n')
        program.chmod(0o755)
        config = self.folder / 'named.toml'
        config.write_text(f'[[agent]]\nid = "named"\nacp = ["{program}"]\n')
        server = Alone('--config', str(config), env={'FAKE_STATE': str(self.state)})
        self.addCleanup(server.clean)
        (agent,) = [a for a in server.get('/api/agents')['items'] if a['id'] == 'named']
        self.assertEqual((agent['available'], agent['path']), (True, str(program)))


class Deaths(Programs):
    def test_prompt_that_was_not_delivered_is_sent_again(self):
        session = self.create('vanish once')
        self.ended(session)
        self.assertEqual(self.prompts(), ['vanish once', 'vanish once'])
        self.assertEqual(self.server.last_text(session), 'here again')
        (lost,) = self.of_type(session, 'detached')
        self.assertEqual(lost['error']['code'], 'agent_crashed')

    def test_delivered_prompt_is_not_sent_again(self):
        session = self.create('crash once')
        self.ended(session)
        first, second = (line['text'] for line in self.log('prompt'))
        self.assertIn('crash once', first)
        self.assertNotIn('crash once', second)
        self.assertIn('Continue where you stopped', second)
        self.assertIn('boom', self.of_type(session, 'detached')[0]['error']['message'])
        self.assertEqual(self.of_type(session, 'attached')[-1]['how'], 'load')

    def test_open_tool_is_unknown_and_next_prompt_says_so(self):
        session = self.create('halfway once')
        self.ended(session)
        (tool,) = self.tools(session)
        self.assertEqual((tool['state']['status'], tool['state']['reason']), ('error', 'unknown'))
        self.assertIn('run deploy', self.log('prompt')[1]['text'])
        self.assertIn('unknown what became of these tool calls', self.log('prompt')[1]['text'])
        self.assertEqual(self.text(session)[1], 'I begin')

    def test_three_deaths_in_a_minute_are_an_error(self):
        session = self.begin('vanish')
        wait_for(lambda: self.server.session(session)['status'] == 'error', 40, 'error')
        changed = self.of_type(session, 'status_changed')[-1]
        self.assertIn('died 3 times within a minute', changed['why'])
        error = {'code': 'agent_crashed', 'message': changed['why']}
        self.assertEqual(self.server.session(session)['error'], error)
        self.assertEqual(len(self.prompts()), 3)
        (blocked,) = self.server.get('/api/doctor')['blocked']
        self.assertEqual((blocked['sessionID'], blocked['why']), (session, 'its status is error'))
        self.assertIn(f'dormouse retry {session}', blocked['next'])
        self.assertProblem(self.server.prompt(session, 'hello', wait=0), 409, 'wrong_state')
        retried = self.assertStatus(self.server.post(f'/api/sessions/{session}/retry'), 200)
        self.assertIsNone(retried['error'])
        wait_for(lambda: self.server.session(session)['status'] == 'error', 40, 'error')
        self.assertEqual(len(self.prompts()), 6)

    def test_branch_without_the_prompt_is_a_lost_session(self):
        session = self.begin('hang')
        wait_for(lambda: self.text(session)[-1:] == ['working'], what='an update')
        name = self.log('prompt')[0]['session']
        self.server.kill()
        (self.state / f'{name}.json').write_text('[["user", "another branch"]]')
        self.server.start()
        wait_for(lambda: len(self.prompts()) == 2, what='second prompt')
        last = self.of_type(session, 'attached')[-1]
        self.assertEqual((last['how'], last['told']), ('new', True))
        self.assertIn('hang', self.log('prompt')[1]['text'])
        self.server.post(f'/api/sessions/{session}/cancel')
        self.ended(session)

    def test_server_is_killed_and_the_turn_continues(self):
        session = self.begin('hang')
        # An update shows the server that the agent got the prompt.
        wait_for(lambda: self.text(session)[-1:] == ['working'], what='an update')
        pid = self.log('initialize')[0]['pid']
        self.server.restart()
        wait_for(lambda: len(self.prompts()) == 2, what='second prompt')
        self.assertFalse(self.lives(pid))
        self.assertIn('Continue where you stopped', self.log('prompt')[1]['text'])
        self.ended(session)
        self.assertEqual(len([m for m in self.server.messages(session) if m['role'] == 'user']), 1)

    def test_conversation_continues_after_a_kill_while_idle(self):
        session = self.create('one')
        self.server.restart()
        self.assertStatus(self.server.prompt(session, 'two'), 200)
        self.assertEqual(self.server.last_text(session), 'You said: two (3 messages)')
        self.assertEqual(len(self.of_type(session, 'attached')), 2)


class Asking(Programs):
    more = 'on_restart = "ask"'

    def test_death_in_mid_turn_pauses_until_resume(self):
        session = self.create('halfway once')
        wait_for(lambda: self.server.session(session)['status'] == 'paused', what='pause')
        self.assertEqual(self.prompts(), ['halfway once'])
        self.server.restart()
        self.assertEqual(self.server.session(session)['status'], 'paused')
        self.assertStatus(self.server.post(f'/api/sessions/{session}/resume'), 200)
        self.ended(session)
        self.assertEqual(len(self.prompts()), 2)


class Stateless(Programs):
    flags = ('--no-load',)

    def test_first_prompt_contains_the_history(self):
        session = self.create('one')
        self.server.restart()
        self.assertStatus(self.server.prompt(session, 'two'), 200)
        prompt = self.log('prompt')[1]['text']
        self.assertIn('Previous conversation:\n\nuser: one\n\nassistant: You said: one', prompt)
        self.assertIn('Continue from here.', prompt)
        first, second = self.of_type(session, 'attached')
        self.assertEqual((second['how'], second['told']), ('new', True))
        self.assertNotEqual(first['acpSessionID'], second['acpSessionID'])
        self.assertEqual(
            self.server.session(session)['acpSessionID'], second['acpSessionID']
        )


class ShortMemory(Stateless):
    flags = ('--no-load',)
    more = 'history_tokens = 100'

    def test_long_history_is_shortened_in_the_first_prompt(self):
        session = self.create('the first ' + 'x' * 300)
        self.assertStatus(self.server.prompt(session, 'the second'), 200)
        self.server.restart()
        self.assertStatus(self.server.prompt(session, 'three'), 200)
        prompt = self.log('prompt')[2]['text']
        self.assertIn('[earlier messages are left out]', prompt)
        self.assertIn('You said: the second', prompt)
        self.assertNotIn('the first', prompt)
        self.assertLess(len(prompt), 1000)
        self.assertIn('The tool session_history of the MCP server dormouse reads them.', prompt)

    def test_omitted_history_is_read_with_a_tool_by_page(self):
        session = self.create('the first ' + 'x' * 5000)
        for i in range(15):
            self.assertStatus(self.server.prompt(session, f'number {i}'), 200)
        other = self.create('not yours')
        self.server.restart()
        self.assertStatus(self.server.prompt(session, 'last'), 200)
        line = [x for x in self.log('session/new') if session in x['servers'][0]['args']][-1]
        first = self.history(line)
        self.assertTrue(first.startswith('user: the first xxx'), first[:50])
        self.assertIn('x … [cut]', first)
        self.assertNotIn('number 14', first)
        page = first.rsplit('The next page: ', 1)[1]
        second = self.history(line, page=page)
        self.assertIn('user: number 14', second)
        self.assertIn('That was the last page.', second)
        self.assertNotIn('not yours', first + second)
        self.assertIn('bad_cursor', self.history(line, page='zzz'))
        args = [other if a == session else a for a in line['servers'][0]['args']]
        self.assertIn('not_found', self.history(line, args=args))

    def history(self, line, args=None, **arguments):
        """Returns what the history tool answers the agent."""
        (server,) = line['servers']
        (token,) = [v['value'] for v in server['env'] if v['name'] == 'DORMOUSE_TOKEN']
        calls = [
            {'method': 'initialize', 'id': 1, 'params': {'protocolVersion': '2025-06-18'}},
            {'method': 'tools/call', 'id': 2,
             'params': {'name': 'session_history', 'arguments': arguments}},
        ]
        ended = subprocess.run(
            [server['command'], *(args or server['args'])],
            input=''.join(json.dumps({'jsonrpc': '2.0', **call}) + '\n' for call in calls),
            env={**environment(), 'DORMOUSE_TOKEN': token}, text=True, capture_output=True,
            timeout=30,
        )
        answers = [json.loads(answer) for answer in ended.stdout.splitlines()]
        if len(answers) < 2 or 'result' not in answers[1]:
            return ended.stdout + ended.stderr
        return answers[1]['result']['content'][0]['text']


class Forgetful(Programs):
    flags = ('--forgets',)

    def test_lost_session_is_replaced_and_reported(self):
        session = self.create('one')
        self.server.restart()
        self.assertStatus(self.server.prompt(session, 'two'), 200)
        self.assertIn('user: one', self.log('prompt')[1]['text'])
        self.assertTrue(self.of_type(session, 'attached')[1]['told'])


class Resuming(Programs):
    flags = ('--resume',)

    def test_session_is_resumed_without_a_replay(self):
        session = self.create('one')
        self.server.restart()
        self.assertStatus(self.server.prompt(session, 'two'), 200)
        self.assertEqual(self.server.last_text(session), 'You said: two (3 messages)')
        self.assertEqual(self.of_type(session, 'attached')[1]['how'], 'resume')


class Login(Programs):
    flags = ('--login',)

    def test_error_names_what_was_not_passed(self):
        session = self.create('hello')
        error = self.server.turns(session)[0]['error']
        self.assertEqual(error['code'], 'agent_login')
        self.assertIn('FAKE_KEY', error['message'])
        self.assertIn('key (A key); web (Run `fake login`)', error['message'])


class SigningIn(Programs):
    flags = ('--login',)
    more = 'auth_method = "key"'

    def test_configured_login_signs_in(self):
        session = self.create('hello')
        self.assertEqual(self.server.last_text(session), 'You said: hello (1 messages)')


class SigningInWrongly(Programs):
    flags = ('--login',)
    more = 'auth_method = "web"'

    def test_refused_login_is_named(self):
        error = self.server.turns(self.create('hello'))[0]['error']
        self.assertEqual(error['code'], 'agent_login')
        self.assertIn('"web": only with a browser', error['message'])


class Settings(Programs):
    flags = ('--modes',)
    more = 'session_mode = "code"\nsession_options = { model = "big", deep = true, loud = true }'

    def test_missing_options_are_set_in_each_session(self):
        session = self.create('one')
        self.server.restart()
        self.assertStatus(self.server.prompt(session, 'two'), 200)
        wanted = [
            {'modeId': 'code'}, {'configId': 'model', 'value': 'big'},
            {'configId': 'loud', 'type': 'boolean', 'value': True},
        ]
        sets = [line['params'] for line in self.log('set')]
        for params in sets:
            del params['sessionId']
        self.assertEqual(sets, wanted * 2)
        self.assertEqual([a['mode'] for a in self.of_type(session, 'attached')], ['code'] * 2)


class WrongSettings(Programs):
    flags = ('--modes',)
    more = 'session_mode = "fast"'

    def test_refused_option_ends_turn_and_lists_valid_ones(self):
        error = self.server.turns(self.create('one'))[0]['error']
        self.assertEqual(error['code'], 'agent_refused')
        self.assertIn('mode "fast": no such thing. It has: ask, code.', error['message'])
        self.assertEqual(self.prompts(), [])


class OtherVersion(Programs):
    flags = ('--version', '7')

    def test_other_protocol_version_is_refused(self):
        session = self.create('hello')
        error = self.server.turns(session)[0]['error']
        self.assertEqual(error['code'], 'agent_refused')
        self.assertIn('version 7', error['message'])


class Idle(Programs):
    more = 'idle_stop = "1s"'

    def test_idle_agent_is_stopped_and_its_session_stays(self):
        session = self.create('one')
        wait_for(lambda: self.log('end'), what='end')
        self.assertEqual(self.server.session(session)['status'], 'active')
        self.assertStatus(self.server.prompt(session, 'two'), 200)
        self.assertEqual(self.server.last_text(session), 'You said: two (3 messages)')


if __name__ == '__main__':
    main()
