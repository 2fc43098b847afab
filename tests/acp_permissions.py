#!/usr/bin/env python3
"""Permissions that an external agent asks for, with and without approval rules (requirements C),
with the real binary and a scripted ACP agent."""
import json
import os
import pathlib
import signal
import subprocess

from acp import Programs
from dormouse import BINARY, Client, environment, main, wait_for


class OwnTools(Programs):
    """Each session of an external agent gets `dormouse mcp` with a token of its own."""

    more = 'tools = ["deploy"]\n[server]\ndemo = true'

    def given(self, session):
        (line,) = [x for x in self.log('session/new')]
        (server,) = line['servers']
        self.assertEqual(server['name'], 'dormouse')
        self.assertEqual(server['args'][:3], ['mcp', '--session', session])
        (token,) = [v['value'] for v in server['env'] if v['name'] == 'DORMOUSE_TOKEN']
        return server, token

    def test_token_works_for_its_session_only_and_cannot_decide(self):
        session = self.create('hello')
        other = self.server.create('deploy A')['id']
        waits = self.server.open_calls(other)[0]['id']
        mine = Client(self.server.port, self.given(session)[1])
        self.assertStatus(mine.get('/api/tools'), 200)
        self.assertStatus(mine.get(f'/api/sessions/{session}'), 200)
        self.assertStatus(mine.get(f'/api/sessions/{session}/tasks'), 200)
        for path in (f'/api/sessions/{other}', f'/api/sessions/{other}/tasks'):
            self.assertProblem(mine.get(path), 404, 'not_found')
        self.assertProblem(
            mine.post(f'/api/sessions/{other}/calls', {'tool': 'deploy'}), 404, 'not_found'
        )
        for path, body in (
            ('/async-tool/decision', {'pendingID': waits, 'approved': True}),
            ('/async-tool/result', {'pendingID': waits, 'result': {'output': 1}}),
            (f'/api/sessions/{session}/prompt', {'text': 'hello'}),
            ('/api/tokens', {'name': 'x', 'role': 'admin'}),
            ('/api/mail', {'from': other, 'to': session, 'text': 'x'}),
        ):
            self.assertProblem(mine.post(path, body), 403, 'forbidden')
        self.assertProblem(mine.get('/api/events'), 403, 'forbidden')
        task = {'agentID': 'fake', 'prompt': 'hello', 'description': 'of another program'}
        self.assertStatus(mine.post(f'/api/sessions/{session}/tasks', task), 201)
        self.assertEqual(len(self.server.open_calls(other)), 1)

    def test_token_ends_with_its_agents_process(self):
        session = self.create('hello')
        mine = Client(self.server.port, self.given(session)[1])
        self.assertStatus(mine.get('/api/tools'), 200)
        os.kill(self.log('initialize')[0]['pid'], signal.SIGKILL)
        wait_for(lambda: mine.get('/api/tools').status == 401, what='end of the token')

    def test_call_outcome_is_reported_in_a_later_prompt(self):
        session = self.create('hello')
        server, token = self.given(session)
        self.assertEqual(pathlib.Path(server['command']).resolve(), pathlib.Path(BINARY).resolve())
        lines = [
            {'method': 'initialize', 'id': 1, 'params': {'protocolVersion': '2025-06-18'}},
            {'method': 'tools/call', 'id': 2,
             'params': {'name': 'deploy', 'arguments': {'target': 'api'}}},
        ]
        ended = subprocess.run(
            [server['command'], *server['args']],
            input=''.join(json.dumps({'jsonrpc': '2.0', **line}) + '\n' for line in lines),
            env={**environment(), 'DORMOUSE_TOKEN': token}, text=True, capture_output=True,
            timeout=30,
        )
        self.assertIn('Started: deploy', ended.stdout, ended.stderr)
        call = wait_for(
            lambda: self.server.items('/async-tool/pending?project=default&tool=deploy'),
            what='the call',
        )[0]
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        wait_for(lambda: len(self.prompts()) == 2, what='the prompt that tells of it')
        self.assertIn('{"target":"api"} is: live', self.prompts()[1])


class Permissions(Programs):
    def test_approval_lets_it_run_once(self):
        session = self.begin('ask deploy')
        call = self.permission(session)
        self.assertEqual((call['reason'], call['tool']), ('approval', 'acp:execute'))
        self.assertEqual(call['input'], {'name': 'deploy'})
        self.assertEqual(self.server.session(session)['activity']['type'], 'waiting_async')
        self.assertEqual(self.tools(session)[0]['state']['pendingID'], call['id'])
        self.assertStatus(self.server.decide(call, True), 200)
        self.ended(session)
        self.assertEqual(self.ran(), ['deploy'])
        self.assertEqual(self.log('permission')[0]['outcome']['optionId'], 'yes')

    def test_denial_is_answered_by_kind(self):
        session = self.begin('ask deploy')
        self.assertStatus(self.server.decide(self.permission(session), False), 200)
        self.ended(session)
        self.assertEqual(self.ran(), [])
        self.assertEqual(self.server.last_text(session), 'not deploy')

    def test_its_arguments_cannot_be_edited(self):
        session = self.begin('ask deploy')
        call = self.permission(session)
        answer = self.server.decide(call, True, arguments={'name': 'other'})
        self.assertProblem(answer, 422, 'invalid_arguments')
        self.assertStatus(self.server.decide(call, False), 200)
        self.ended(session)

    def test_cancelled_turn_withdraws_the_question(self):
        session = self.begin('ask deploy')
        call = self.permission(session)
        self.assertStatus(self.server.post(f'/api/sessions/{session}/cancel'), 200)
        self.assertProblem(self.server.decide(call, True), 409, 'cancelled')
        wait_for(lambda: self.log('permission'), what='answer')
        self.assertEqual(self.log('permission')[0]['outcome'], {'outcome': 'cancelled'})

    def test_question_survives_restart_and_is_granted_once(self):
        session = self.begin('ask deploy')
        call = self.permission(session)
        self.server.restart()
        self.assertEqual(self.server.session(session)['activity']['type'], 'waiting_async')
        self.assertStatus(self.server.decide(call, True), 200)
        wait_for(lambda: len(self.prompts()) == 2, what='next prompt')
        self.assertIn('You may now do what you had asked for', self.log('prompt')[1]['text'])
        self.ended(session)

    def test_approval_after_the_agent_died_is_used_once(self):
        session = self.begin('ask once deploy')
        call = self.permission(session)
        wait_for(lambda: 'detached' in self.types(session), what='death')
        self.assertEqual([c['id'] for c in self.server.open_calls(session)], [call['id']])
        self.assertStatus(self.server.decide(call, True), 200)
        self.ended(session)
        self.assertEqual(self.server.open_calls(session), [])


    def test_permission_without_input_never_covers_another_command(self):
        session = self.begin('flip')
        call = self.permission(session)
        self.assertEqual(call['input'], {'kind': 'execute', 'title': 'echo harmless'})
        wait_for(lambda: 'detached' in self.types(session), what='death')
        self.assertStatus(self.server.decide(call, True), 200)
        again = self.permission(session)
        self.assertEqual(again['input']['title'], 'echo EVIL')
        self.assertEqual(self.ran(), [])
        self.assertStatus(self.server.decide(again, False), 200)
        self.ended(session)
        self.assertEqual(self.ran(), [])

    def test_approved_and_running_when_agent_died_is_asked_again(self):
        session = self.begin('slow deploy')
        call = self.permission(session)
        self.assertNotIn('may have run', call['message'])
        self.assertStatus(self.server.decide(call, True), 200)
        wait_for(lambda: 'detached' in self.types(session), what='death')
        again = self.permission(session)
        self.assertIn('may have run already', again['message'])
        self.assertEqual(again['input'], call['input'])
        prompt = self.log('prompt')[1]['text']
        self.assertNotIn('You may now do what you had asked for', prompt)
        self.assertIn('may have run already', prompt)
        self.assertStatus(self.server.decide(again, True), 200)
        self.ended(session)
        self.assertEqual(self.ran(), ['deploy'])
        self.assertNotIn('agent_granted', self.types(session))

    def test_own_tool_is_allowed_without_a_person(self):
        session = self.create('own deploy')
        self.ended(session)
        self.assertEqual(self.ran(), ['deploy'])
        self.assertEqual(self.server.open_calls(session), [])
        (granted,) = self.of_type(session, 'agent_granted')
        self.assertEqual(granted['own'], 'mcp__dormouse__deploy')
        self.assertNotIn('agent_asked', self.types(session))


class Gated(Programs):
    more = (
        '[[gate]]\nid = "two"\ntools = ["acp:exec*"]\nask = "Run {input.name}?"\nneed = 2\n'
        'answerers = ["alice", "bob"]\ntimeout = "1h"\n'
    )

    def people(self):
        out = []
        for name in ('alice', 'bob', 'carol'):
            made = self.assertStatus(
                self.server.post('/api/tokens', {'name': name, 'role': 'answer'}), 201
            )
            out.append(Client(self.server.port, made['secret']))
        return out

    def decide(self, who, call, approved=True):
        body = {
            'pendingID': call['id'], 'approved': approved, 'inputDigest': call['inputDigest'],
        }
        return who.post('/async-tool/decision', body)

    def test_permission_is_what_the_gate_says(self):
        alice, bob, carol = self.people()
        session = self.begin('ask deploy')
        call = self.permission(session)
        self.assertEqual((call['tool'], call['message']), ('acp:execute', 'Run deploy?'))
        self.assertIsNotNone(call['timeout'])
        self.assertProblem(self.decide(carol, call), 403, 'not_an_answerer')
        self.assertStatus(self.decide(alice, call), 200)
        self.assertEqual(self.ran(), [])
        self.assertStatus(self.decide(bob, call), 200)
        self.ended(session)
        self.assertEqual(self.ran(), ['deploy'])

    def test_one_denial_denies(self):
        alice, _, _ = self.people()
        session = self.begin('ask deploy')
        self.assertStatus(self.decide(alice, self.permission(session), False), 200)
        self.ended(session)
        self.assertEqual(self.ran(), [])


class GatedTwice(Programs):
    more = (
        '[[gate]]\nid = "team"\ntools = ["acp:*"]\nask = "Team: {input.name}?"\n'
        '[[gate]]\nid = "ops"\ntools = ["acp:execute"]\nask = "Ops: {input.name}?"\n'
    )

    def test_all_of_them_must_allow_one_after_the_other(self):
        session = self.begin('ask deploy')
        first = self.permission(session)
        self.assertEqual(first['message'], 'Team: deploy?')
        self.assertStatus(self.server.decide(first, True), 200)
        self.server.restart()
        second = self.permission(session)
        self.assertEqual(second['message'], 'Ops: deploy?')
        self.assertNotEqual(first['id'], second['id'])
        self.assertEqual(self.ran(), [])
        self.assertTrue(self.server.decide(first, True)['duplicate'])
        self.assertStatus(self.server.decide(second, True), 200)
        self.ended(session)
        self.assertIn('You may now do what you had asked for', self.log('prompt')[1]['text'])

    def test_both_gates_allow_running_agent_continues(self):
        session = self.begin('ask deploy')
        self.assertStatus(self.server.decide(self.permission(session), True), 200)
        self.assertStatus(self.server.decide(self.permission(session), True), 200)
        self.ended(session)
        self.assertEqual(self.ran(), ['deploy'])
        self.assertEqual(self.log('permission')[0]['outcome']['outcome'], 'selected')

    def test_denial_ends_it(self):
        for before in (0, 1):
            session = self.begin('ask deploy')
            for _ in range(before):
                self.assertStatus(self.server.decide(self.permission(session), True), 200)
            self.assertStatus(self.server.decide(self.permission(session), False), 200)
            self.ended(session)
            self.assertEqual(self.server.open_calls(session), [])
            self.assertEqual(self.server.last_text(session), 'not deploy')
        self.assertEqual(self.ran(), [])


class GatedInTime(Programs):
    more = (
        '[[gate]]\ntools = ["acp:tool-*"]\nask = "?"\ntimeout = "1s"\n'
        '[[gate]]\nid = "other"\ntools = ["acp:execute"]\nask = "?"\n'
    )

    def test_gate_matches_agents_tool_name_and_deadline_denies(self):
        session = self.begin('ask deploy')
        self.ended(session)
        self.assertEqual(self.ran(), [])
        self.assertEqual(self.server.last_text(session), 'not deploy')


if __name__ == '__main__':
    main()
