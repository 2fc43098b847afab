#!/usr/bin/env python3
"""The demo agent (docs/demo-agent.md), row by row, with its answers."""
import re

from dormouse import Case, main

TIMED_OUT = 'failed: Tool execution timed out'


class Demo(Case):
    agent = 'demo'

    def ask(self, text):
        """Creates a session that is idle, and returns its open calls."""
        session = self.server.create(text, agent=self.agent)['id']
        return session, self.server.open_calls(session)

    def assertSaid(self, session, *lines):
        self.assertEqual(self.server.at_rest(session)['activity'], {'type': 'idle'})
        self.assertEqual(self.server.last_text(session), '\n'.join(lines))

    def assertPauses(self, call, tool, arguments, reason, placeholder=None):
        self.assertEqual((call['tool'], call['input']), (tool, arguments))
        self.assertEqual((call['status'], call['reason']), ('waiting', reason))
        if placeholder is not None:
            self.assertEqual(call['placeholder'], placeholder)


class Deploy(Demo):
    def test_one(self):
        session, (call,) = self.ask('deploy api')
        placeholder = {'status': 'queued', 'target': 'api'}
        self.assertPauses(call, 'deploy', {'target': 'api'}, 'tool_result', placeholder)
        self.assertEqual(call['continuation'], 'tool_response')
        self.server.result(call['id'], 'live')
        self.assertSaid(session, 'deploy api: live')

    def test_several_calls_are_one_step_in_request_order(self):
        session, calls = self.ask('deploy a and b.1 and C_2-x')
        self.assertEqual([c['input']['target'] for c in calls], ['a', 'b.1', 'C_2-x'])
        self.assertEqual(len({c['messageID'] for c in calls}), 1)
        for number in (2, 0, 1):
            self.assertEqual(self.server.messages(session)[-1]['role'], 'assistant')
            self.server.result(calls[number]['id'], {'n': number, 'list': [1, None]})
        self.assertSaid(
            session,
            'deploy a: {"n":0,"list":[1,null]}',
            'deploy b.1: {"n":1,"list":[1,null]}',
            'deploy C_2-x: {"n":2,"list":[1,null]}',
        )
        self.assertEqual(self.server.turns(session)[0]['usage']['steps'], 2)

    def test_string_stays_as_it_is_and_other_json_is_compact(self):
        for output, line in [
            ('two\nlines "quoted"', 'two\nlines "quoted"'),
            ('', ''),
            (None, 'null'),
            (True, 'true'),
            (3, '3'),
            ('3', '3'),
            ([1, {'a': 'b'}], '[1,{"a":"b"}]'),
        ]:
            session, (call,) = self.ask('deploy A')
            self.server.result(call['id'], output)
            self.assertSaid(session, f'deploy A: {line}')

    def test_error_is_reported_to_the_model(self):
        session, (call,) = self.ask('deploy A')
        self.server.error(call['id'], 'no such branch')
        self.assertSaid(session, 'deploy A failed: no such branch')

    def test_cancellation_is_reported_to_the_model(self):
        session, (first, second) = self.ask('deploy A and B')
        self.server.delete(f'/async-tool/pending/{first["id"]}')
        self.server.result(second['id'], 'ok')
        self.assertSaid(session, 'deploy A failed: cancelled', 'deploy B: ok')

    def test_within_a_time(self):
        session, calls = self.ask('deploy A and B within 300ms')
        for call, target in zip(calls, 'AB'):
            self.assertEqual(call['input'], {'target': target, 'within': '300ms'})
            self.assertEqual(call['timeout'] - call['time']['created'], 300)
        self.server.result(calls[1]['id'], 'in time')
        expired = self.server.get(f'/async-tool/pending/{calls[0]["id"]}?wait=10')
        self.assertEqual(expired['status'], 'expired')
        self.assertSaid(session, f'deploy A {TIMED_OUT}', 'deploy B: in time')

    def test_units_of_time(self):
        for text, ms in [('5s', 5000), ('2m', 120_000), ('3h', 10_800_000), ('1d', 86_400_000)]:
            _, (call,) = self.ask(f'deploy A within {text}')
            self.assertEqual(call['timeout'] - call['time']['created'], ms)

    def test_turn_that_is_cancelled_says_nothing(self):
        session, (call,) = self.ask('deploy A')
        self.server.post(f'/api/sessions/{session}/cancel')
        self.assertEqual(self.server.turns(session)[0]['finishReason'], 'cancelled')
        self.assertSaid(session, '')
        self.server.prompt(session, 'and now?')
        self.assertTrue(self.server.last_text(session).endswith('You said: and now?'))


class Approve(Demo):
    def test_allowed_tool_runs_once(self):
        session, (call,) = self.ask('approve X')
        self.assertPauses(call, 'dangerous', {'action': 'X'}, 'approval')
        self.assertEqual(call['timeout'], None)
        started = [e for e in self.server.events(session) if e['type'] == 'tool_started']
        self.assertEqual(started, [], 'nothing runs before it is allowed')
        self.server.decide(call, True)
        self.assertSaid(session, 'dangerous X: {"done":"X","runs":1}')
        self.server.decide(call, True)
        started = [e for e in self.server.events(session) if e['type'] == 'tool_started']
        self.assertEqual(len(started), 1)

    def test_denied_without_and_with_a_reason(self):
        for more, expected in [
            ({}, 'no reason given'),
            ({'reason': 'not on a Friday'}, 'not on a Friday'),
        ]:
            session, (call,) = self.ask('approve X')
            self.server.decide(call, False, **more)
            self.assertSaid(session, f'dangerous X failed: denied: {expected}')
            part = self.server.messages(session)[1]['parts'][0]
            self.assertEqual(
                (part['state']['status'], part['state']['reason']), ('error', 'denied')
            )
            settled = self.server.get(f'/async-tool/pending/{call["id"]}')
            self.assertEqual(
                (settled['status'], settled['decision']['approved']), ('completed', False)
            )
            self.assertNotIn('tool_started', [e['type'] for e in self.server.events(session)])

    def test_edited_arguments_are_what_runs_and_both_stay(self):
        session, (call,) = self.ask('approve X')
        self.server.decide(call, True, arguments={'action': 'Y'})
        self.server.at_rest(session)
        self.assertIn('{"done":"Y","runs":1}', self.server.last_text(session))
        journal = self.server.events(session)
        reply = next(e for e in journal if e['type'] == 'model_replied')
        self.assertEqual(reply['data']['calls'][0]['input'], {'action': 'X'})
        decided = next(e for e in journal if e['type'] == 'gate_decided')
        self.assertEqual(decided['data']['arguments'], {'action': 'Y'})

    def test_yes_and_no_at_once_have_one_winner(self):
        session, (call,) = self.ask('approve X')
        self.assertEqual(self.server.decide(call, True).status, 200)
        self.assertProblem(self.server.decide(call, False), 409, 'conflict')
        self.assertSaid(session, 'dangerous X: {"done":"X","runs":1}')

    def test_approval_and_then_the_job_are_two_pauses_of_one_call(self):
        session, (approval,) = self.ask('approve-deploy web')
        self.assertPauses(approval, 'approve_deploy', {'target': 'web'}, 'approval')
        self.server.decide(approval, True)
        self.server.at_rest(session)
        (job,) = self.server.open_calls(session)
        placeholder = {'status': 'queued', 'target': 'web'}
        self.assertPauses(job, 'approve_deploy', {'target': 'web'}, 'tool_result', placeholder)
        self.assertEqual(job['callID'], approval['callID'])
        self.assertEqual((approval['generation'], job['generation']), (1, 2))
        self.assertNotEqual(job['id'], approval['id'])
        late = self.server.decide(approval, False)
        self.assertProblem(late, 409, 'conflict')
        self.server.result(job['id'], 'live')
        self.assertSaid(session, 'approve_deploy web: live')

    def test_denied_deployment_never_starts(self):
        session, (call,) = self.ask('approve-deploy web')
        self.server.decide(call, False, reason='frozen')
        self.assertSaid(session, 'approve_deploy web failed: denied: frozen')
        self.assertEqual(self.server.open_calls(session), [])


class Ask(Demo):
    def test_answered_by_a_plain_prompt(self):
        session, (call,) = self.ask('ask Which region, then?')
        self.assertPauses(call, 'ask_human', {'question': 'Which region, then?'}, 'user_input')
        self.assertEqual(call['message'], 'Which region, then?')
        self.assertEqual((call['continuation'], call['timeout']), ('message', None))
        answer = self.server.prompt(session, 'eu-west')
        self.assertEqual(answer['status'], 'ended')
        self.assertSaid(session, 'ask_human Which region, then?: eu-west')
        self.assertEqual(len(self.server.turns(session)), 1, 'the answer is no new turn')

    def test_answered_by_name(self):
        session, (call,) = self.ask('ask Q?')
        self.server.prompt(session, 'yes', answers=call['id'])
        self.assertSaid(session, 'ask_human Q?: yes')
        settled = self.server.get(f'/async-tool/pending/{call["id"]}')
        self.assertEqual(settled['result']['output'], 'yes')

    def test_answered_by_a_result(self):
        session, (call,) = self.ask('ask Q?')
        self.server.result(call['id'], 'yes')
        self.assertSaid(session, 'ask_human Q?: yes')

    def test_same_answer_is_a_duplicate_another_a_conflict(self):
        session, (call,) = self.ask('ask Q?')
        self.server.prompt(session, 'yes', answers=call['id'])
        again = self.server.result(call['id'], 'yes')
        self.assertTrue(again['duplicate'])
        self.assertProblem(self.server.result(call['id'], 'no'), 409, 'conflict')
        answer = self.server.prompt(session, 'no', answers=call['id'])
        self.assertProblem(answer, 409, 'conflict')


class Others(Demo):
    def test_wait(self):
        session, (call,) = self.ask('wait 300ms')
        self.assertPauses(call, 'wait_for', {'for': '300ms'}, 'handoff')
        self.assertEqual(call['timeout'] - call['time']['created'], 300)
        self.server.get(f'/async-tool/pending/{call["id"]}?wait=10')
        self.assertSaid(session, 'wait_for 300ms: done')

    def test_fail(self):
        session, calls = self.ask('fail')
        self.assertEqual(calls, [])
        self.assertSaid(session, 'fail failed: this tool always fails')

    def test_sleepy(self):
        for text, tool in [('sleepy', 'sleepy'), ('sleepy-never', 'sleepy_never')]:
            session, calls = self.ask(f'{text} 50ms')
            self.assertEqual(calls, [], 'it does not pause')
            self.assertSaid(session, f'{tool} 50ms: slept 50ms')

    def test_anything_else_is_echoed(self):
        for text in (
            'hello',
            'deploy',
            'deploy a b',
            'deploy a and',
            'deploy a and b within x',
            'Deploy a',
            ' deploy a',
            'deploy  a',
            'deploy ä',
            'deploy ' + 'x' * 65,
            'approve',
            'approve a b',
            'ask',
            'wait',
            'wait x',
            'wait 5',
            'sleepy 5y',
            'fail now',
            'two\nlines',
            '\U0001f600 "q" \\ \x7f',
            'within 5s',
        ):
            session, calls = self.ask(text)
            self.assertEqual(calls, [], text)
            self.assertSaid(session, f'You said: {text}')

    def test_usage_counts_characters_not_bytes(self):
        session, _ = self.ask('äöüß')  # 4 characters; the answer has 14
        usage = self.server.session(session)['usage']
        for part in ('cachedTokens', 'reasoningTokens', 'cacheWrittenTokens', 'cost'):
            del usage[part]
        self.assertEqual(usage, {'inputTokens': 1, 'outputTokens': 4, 'steps': 1})

    def test_session_continues_turn_after_turn(self):
        session, (call,) = self.ask('deploy A')
        self.server.result(call['id'], 1)
        self.server.at_rest(session)
        for number in range(5):
            self.server.prompt(session, f'n{number}')
            self.assertSaid(session, f'You said: n{number}')
        self.assertEqual(len(self.server.turns(session)), 6)

    def test_both_agents_are_listed_with_their_tools(self):
        agents = {a['id']: a['tools'] for a in self.server.items('/api/agents')}
        tools = {
            'deploy',
            'dangerous',
            'approve_deploy',
            'ask_human',
            'wait_for',
            'fail',
            'sleepy',
            'sleepy_never',
            'artifact_emit',
            'todo',
            'background_task',
            'background_output',
            'background_resume',
            'background_cancel',
            'background_clear',
            'background_list',
        }
        self.assertEqual(set(agents), {'demo', 'demo-each'})
        for listed in agents.values():
            self.assertTrue(tools <= set(listed), listed)


class Each(Demo):
    """Asked again as each call settles, it names the calls settled since its last answer."""

    agent = 'demo-each'

    def lines(self, session):
        texts = [
            p['text']
            for m in self.server.messages(session)
            if m['role'] == 'assistant'
            for p in m['parts']
            if p['type'] == 'text'
        ]
        return [line for text in texts for line in text.split('\n') if line]

    def test_one_line_for_each_as_it_comes(self):
        session, (a, b, c) = self.ask('deploy A and B and C')
        expected = []
        for call, line in ((b, 'deploy B: 2'), (a, 'deploy A: 1'), (c, 'deploy C: 3')):
            self.server.result(call['id'], int(line[-1]))
            self.server.at_rest(session)
            expected.append(line)
            self.assertEqual(self.lines(session), expected)
        self.assertEqual(self.server.session(session)['activity'], {'type': 'idle'})
        self.assertEqual(len(self.server.turns(session)), 1)

    def test_each_line_comes_once_when_all_come_at_once(self):
        session, calls = self.ask('deploy ' + ' and '.join(f't{n}' for n in range(20)))
        for call in calls:
            self.server.result(call['id'], 'ok')
        self.assertEqual(self.server.at_rest(session)['activity'], {'type': 'idle'})
        self.assertEqual(sorted(self.lines(session)), sorted(f'deploy t{n}: ok' for n in range(20)))

    def test_mixture_of_outcomes(self):
        session, (a, b, c) = self.ask('deploy A and B and C within 700ms')
        self.server.error(a['id'], 'broke')
        self.server.delete(f'/async-tool/pending/{b["id"]}')
        self.server.get(f'/async-tool/pending/{c["id"]}?wait=10')
        self.server.at_rest(session)
        self.assertEqual(
            self.lines(session),
            ['deploy A failed: broke', 'deploy B failed: cancelled', f'deploy C {TIMED_OUT}'],
        )

    def test_demo_waits_for_all_where_demo_each_does_not(self):
        session = self.server.create('deploy A and B', agent='demo')['id']
        first = self.server.open_calls(session)[0]
        self.server.result(first['id'], 1)
        self.assertEqual(self.server.at_rest(session)['messageCount'], 2)
        steps = [e for e in self.server.events(session) if e['type'] == 'model_requested']
        self.assertEqual(len(steps), 1)
        self.assertTrue(re.match('ses_', session))


if __name__ == '__main__':
    main()
