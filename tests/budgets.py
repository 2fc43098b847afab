#!/usr/bin/env python3
"""Budgets: a session pauses at a limit until a person raises it or ends the turn
(docs/how-to/budgets.md)."""
import concurrent.futures
import pathlib
import re
import tempfile
import unittest

from dormouse import Case, Client, main, run, wait_for

MODEL = '''
[server]
demo = true
[[model]]
id = "main"
kind = "scripted"
%s
[[agent]]
id = "ops"
model = "main"
tools = ["ask_human"]
'''
WORKING = '''
[server]
demo = false
[[model]]
id = "main"
kind = "scripted"
[[tool]]
name = "deploy"
kind = "command"
command = ["%s"]
time_limit = "2h"
[[agent]]
id = "ops"
model = "main"
tools = ["deploy"]
'''
BUDGET = '''
[[budget]]
per = "%s"
%s
'''


class BudgetCase(Case):
    def setUp(self):
        pass  # each test starts its server with its own budgets

    def serve(self, per, *limits, prices=''):
        return self.configured(MODEL % prices + BUDGET % (per, '\n'.join(limits)))

    def budget_call(self, session):
        """Returns the open call about the budget."""
        (call,) = [c for c in self.server.open_calls(session) if c['reason'] == 'budget']
        return call

    def paused(self, session):
        """Waits until the session asks about its budget."""
        def asks():
            calls = self.server.open_calls(session)
            return next((c for c in calls if c['reason'] == 'budget'), None)

        return wait_for(asks, what='the question about the budget')

    def reached(self, *limits, text='deploy A'):
        """A session whose turn has used one step, its budget, and has the result of its tool."""
        self.serve('turn', *(limits or ('steps = 1',)))
        session = self.server.create(text)['id']
        (call,) = self.server.open_calls(session)
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        return session, self.paused(session)

    def raised_by(self, call, amount, **more):
        return self.server.decide(call, True, content={'raise': amount}, **more)

    def worked_long(self, budget):
        """A session whose tool has worked for twenty minutes, and its question."""
        folder = tempfile.TemporaryDirectory(prefix='dormouse-budget-')
        self.addCleanup(folder.cleanup)
        begun, go, tool = (pathlib.Path(folder.name, name) for name in ('begun', 'go', 'deploy.sh'))
        tool.write_text(f'#!/bin/sh\ntouch {begun}\nwhile [ ! -e {go} ]; do sleep 0.05; done\n'
                        'echo done\n')
        tool.chmod(0o755)
        self.configured(WORKING % tool + budget)
        session = self.server.create('deploy A', agent='ops', wait=0)['id']
        wait_for(begun.exists, what='the tool')
        self.server.advance(1200)
        go.touch()
        return session, self.paused(session)

    def types(self, session):
        return [event['type'] for event in self.server.events(session)]

    def last_turn(self, session):
        return self.server.turns(session)[0]

    def cli(self, *arguments):
        where = ('--server', f'http://127.0.0.1:{self.server.port}',
                 '--data', self.server.directory)
        return run(*arguments, *where)


class Budgets(BudgetCase):
    def test_raise_continues_with_the_next_step(self):
        session, call = self.reached()
        self.assertEqual(call['message'], 'The turn has used 1 step; its budget is 1 step. '
                                          'Raise it, or end the turn?')
        self.assertEqual(call['input'],
                         {'budget': 'turn', 'used': '1 step', 'limit': '1 step'})
        self.assertEqual(call['form']['properties']['raise']['default'], 1)
        self.assertStatus(self.server.decide(call, True), 200)
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'deploy A: live')
        types = self.types(session)
        self.assertEqual(types.count('model_replied'), 2)
        self.assertEqual(types.count('model_requested'), 2)
        self.assertEqual(types.count('tool_started'), 1)
        self.assertEqual(types.count('budget_raised'), 1)

    def test_model_never_sees_the_question(self):
        session, call = self.reached()
        self.assertStatus(self.server.decide(call, True), 200)
        self.server.at_rest(session)
        tools = [p['tool'] for m in self.server.messages(session) for p in m['parts']
                 if p['type'] == 'tool']
        self.assertEqual(tools, ['deploy'])

    def test_denial_ends_the_turn_and_keeps_its_work(self):
        session, call = self.reached()
        self.assertStatus(self.server.decide(call, False, reason='enough'), 200)
        self.server.at_rest(session)
        turn = self.last_turn(session)
        self.assertEqual(turn['finishReason'], 'budget')
        self.assertEqual(turn['error']['code'], 'budget_reached')
        self.assertIn('ended the turn: enough.', turn['error']['message'])
        (part,) = [p for m in self.server.messages(session) for p in m['parts']
                   if p['type'] == 'tool']
        self.assertEqual(part['state']['output'], 'live')
        self.server.prompt(session, 'hello')
        self.assertEqual(self.server.last_text(session), 'deploy A: live\nYou said: hello')

    def test_expiry_ends_the_turn(self):
        session, call = self.reached('steps = 1', 'timeout = "1h"')
        self.assertIsNotNone(call['timeout'])
        self.server.advance(3601)
        wait_for(lambda: 'turn_ended' in self.types(session), what='the end of the turn')
        self.assertEqual(self.last_turn(session)['error']['message'],
                         'Nobody raised the budget in time. The turn has used 1 step; its '
                         'budget is 1 step.')
        late = self.server.decide(call, True)
        self.assertProblem(late, 410, 'expired')

    def test_cancel_of_the_question_ends_the_turn(self):
        session, call = self.reached()
        self.assertStatus(self.server.delete(f'/async-tool/pending/{call["id"]}'), 200)
        self.server.at_rest(session)
        self.assertEqual(self.last_turn(session)['finishReason'], 'cancelled')

    def test_wrong_raises_change_nothing(self):
        session, call = self.reached()
        before = self.types(session)
        for amount in (0, -1, 1001, 1.5, 1e300, 'many', None, [1], True, {}):
            with self.subTest(amount=amount):
                problem = self.assertProblem(self.raised_by(call, amount), 422, 'invalid_result')
                self.assertEqual(problem['errors'], [{
                    'pointer': '/content/raise',
                    'message': 'must be a whole number, more than 0 and at most 1000 steps'}])
        problem = self.assertProblem(self.server.decide(call, True, content={'more': 1}),
                                     422, 'invalid_result')
        self.assertEqual(problem['errors'][0]['pointer'], '/content')
        self.assertEqual(self.types(session), before)
        self.assertStatus(self.raised_by(call, 1000), 200)
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'deploy A: live')

    def continues_with(self, kind, rest):
        self.serve(kind, 'steps = 1')
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.paused(session)
        self.config_path.write_text(MODEL % '' + rest)
        self.assertStatus(self.server.post('/api/reload', {}), 200)
        wait_for(lambda: not self.server.open_calls(session), what='the end of the question')
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'deploy A: live')

    def test_removed_budget_ends_its_question(self):
        self.continues_with('turn', '')

    def test_larger_budget_ends_its_question(self):
        self.continues_with('session', BUDGET % ('session', 'steps = 9'))

    def test_kill_while_paused_loses_nothing(self):
        session, call = self.reached()
        for _ in range(2):
            self.server.kill()
            self.server.start()
        self.assertEqual(self.budget_call(session)['id'], call['id'])
        self.assertStatus(self.raised_by(call, 5), 200)
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'deploy A: live')
        self.assertEqual(self.types(session).count('model_requested'), 2)

    def test_one_of_two_racing_raises_counts(self):
        session, call = self.reached()
        clients = [Client(self.server.port, self.server.client.token) for _ in range(2)]
        body = {'pendingID': call['id'], 'approved': True, 'inputDigest': call['inputDigest']}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(
                lambda one: one[0].post('/async-tool/decision',
                                        {**body, 'content': {'raise': one[1]}}),
                zip(clients, (3, 4))))
        for client in clients:
            client.close()
        self.assertEqual(sorted(answer.status for answer in answers), [200, 409], answers)
        self.server.at_rest(session)
        raises = [e['data']['amount'] for e in self.server.events(session)
                  if e['type'] == 'budget_raised']
        winner = 3 if answers[0].status == 200 else 4
        self.assertEqual(raises, [winner])

    def test_fork_of_a_paused_session_has_its_own_budget(self):
        session, call = self.reached()
        fork = self.assertStatus(self.server.post(f'/api/sessions/{session}/fork', {}), 201)['id']
        self.assertEqual(self.server.open_calls(fork), [])
        self.server.prompt(fork, 'hello')
        stays = f'deploy A failed: stays with session {session}'
        self.assertEqual(self.server.last_text(fork), stays + '\nYou said: hello')
        self.assertEqual(self.budget_call(session)['id'], call['id'])
        self.assertStatus(self.server.decide(call, True), 200)
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'deploy A: live')

    def test_session_budget_holds_the_next_turn(self):
        self.serve('session', 'tokens = 1', 'agents = ["ops"]')
        session = self.server.create('hello', agent='ops')['id']
        self.assertEqual(self.server.last_text(session), 'You said: hello')
        self.server.prompt(session, 'more')
        call = self.paused(session)
        self.assertRegex(call['message'], r'^The session has used \d+ tokens; its budget is 1 ')
        self.assertStatus(self.raised_by(call, 1000), 200)
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'You said: more')
        self.server.prompt(session, 'once more')
        self.assertEqual(self.server.last_text(session), 'You said: once more')

    def test_agents_and_projects_limit_only_themselves(self):
        self.serve('session', 'steps = 1', 'agents = ["demo"]', 'projects = ["other"]')
        for agent, project in (('ops', 'default'), ('demo', 'default'), ('ops', 'other')):
            session = self.server.create('hello', agent=agent, project=project)['id']
            self.server.prompt(session, 'more')
            self.assertEqual(self.server.last_text(session), 'You said: more')
        session = self.server.create('hello', project='other')['id']
        self.server.prompt(session, 'more')
        self.paused(session)

    def test_cost_is_limited_by_the_prices(self):
        self.serve('session', 'cost = 0.000001', 'agents = ["ops"]',
                   prices='input_price = 1\noutput_price = 1\n')
        session = self.server.create('hello', agent='ops')['id']
        self.server.prompt(session, 'more')
        call = self.paused(session)
        self.assertIn('its budget is 0.000001 USD', call['message'])
        self.assertProblem(self.raised_by(call, -0.5), 422, 'invalid_result')
        self.assertStatus(self.raised_by(call, 0.001), 200)
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'You said: more')

    def test_waiting_is_no_wall_time(self):
        self.serve('turn', 'wall_time = "10m"')
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        self.server.advance(3600)
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'deploy A: live')

    def test_work_of_a_tool_reaches_the_wall_time(self):
        session, call = self.worked_long(BUDGET % ('turn', 'wall_time = "10m"'))
        self.assertRegex(call['message'], '^The turn has worked for [0-9ms]+; its budget is 10m')
        self.assertEqual(call['input']['limit'], '10m')
        self.assertNotRegex(call['input']['used'], 'ms')
        self.assertStatus(self.raised_by(call, '1h'), 200)
        self.server.at_rest(session)
        self.assertIn('deploy A', self.server.last_text(session))

    def test_only_answerers_may_raise(self):
        session, call = self.reached('steps = 1', 'answerers = ["alice"]')
        self.assertProblem(self.server.decide(call, True), 403, 'not_an_answerer')
        self.assertEqual(self.budget_call(session)['id'], call['id'])

    def test_commands_show_and_raise(self):
        session, call = self.reached()
        listed = self.cli('pending', '--reason', 'budget')
        self.assertIn('budget', listed.stdout)
        shown = self.cli('show', call['id'])
        self.assertIn('The turn has used 1 step; its budget is 1 step.', shown.stdout)
        wrong = self.cli('approve', call['id'], '--content', '{"raise":-2}')
        self.assertNotEqual(wrong.returncode, 0)
        self.assertIn("The answer's content.raise must be a whole number", wrong.stderr)
        self.assertEqual(wrong.stderr.count('must be a whole number'), 1, wrong.stderr)
        self.assertNotIn("tool's schema", wrong.stderr)
        raised = self.cli('approve', call['id'], '--content', '{"raise":2}')
        self.assertEqual(raised.returncode, 0, raised.stderr)
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'deploy A: live')

    def test_inbox_metrics_and_audit_have_it(self):
        _, call = self.reached()
        texts = [self.server.get('/metrics').raw.decode() for _ in self.server.urls()]
        counted = [re.findall(r'dormouse_calls_paused_total{reason="budget"} (\d+)', text)
                   for text in texts]
        self.assertEqual(sum(int(number) for (number,) in counted), 1)
        inbox = self.server.items('/async-tool/pending?view=inbox')
        self.assertEqual([c['id'] for c in inbox], [call['id']])
        self.assertTrue(inbox[0]['mine'])
        self.assertStatus(self.raised_by(call, 7), 200)
        audited = self.server.items('/api/audit?type=budget_raised')
        self.assertEqual([one['line']['amount'] for one in audited], [7])


class OfADay(BudgetCase):
    """Sums of all sessions of an agent or a project."""

    def spend(self, agent='ops', project='default'):
        """A new session that takes one step."""
        session = self.server.create('hello', agent=agent, project=project)['id']
        self.assertEqual(self.server.last_text(session), 'You said: hello')
        return session

    def held(self, agent='ops', project='default'):
        """A new session that asks before its first step."""
        session = self.server.create('hello', agent=agent, project=project)['id']
        return session, self.paused(session)

    def test_sessions_of_an_agent_share_the_day(self):
        self.serve('agent_day', 'steps = 2', 'agents = ["ops"]')
        self.spend()
        self.spend(project='other')
        _, call = self.held()
        self.assertEqual(call['message'], 'The agent has used 2 steps today; its budget is '
                                          '2 steps. Raise it, or end the turn?')
        self.assertEqual(call['input'],
                         {'budget': 'agent_day', 'used': '2 steps', 'limit': '2 steps'})
        self.spend(agent='demo')

    def test_cost_of_a_day_is_limited(self):
        self.serve('agent_day', 'cost = 0.000001', 'agents = ["ops"]',
                   prices='input_price = 1\noutput_price = 1\n')
        self.spend()
        session, call = self.held()
        self.assertRegex(call['message'], 'The agent has used [0-9.]+ USD today; its budget is '
                                          '0.000001 USD')
        self.assertStatus(self.raised_by(call, 0.001), 200)
        self.server.at_rest(session)
        self.spend()

    def test_wall_time_of_a_day_is_limited(self):
        session, call = self.worked_long(BUDGET % ('project_day', 'wall_time = "10m"'))
        self.assertRegex(call['message'], '^The project has worked for [0-9ms]+ today')
        _, second = self.held()
        self.assertStatus(self.raised_by(second, '1h'), 200)
        wait_for(lambda: not self.server.open_calls(session), what='one raise is for both')

    def test_agents_of_a_project_share_the_day(self):
        self.serve('project_day', 'steps = 2', 'projects = ["shop"]')
        self.spend(project='shop')
        self.spend(project='shop', agent='demo')
        self.spend(project='other')
        _, call = self.held(project='shop')
        self.assertIn('The project has used 2 steps today', call['message'])

    def test_next_day_ends_the_pause_by_itself(self):
        self.serve('agent_day', 'steps = 1')
        self.spend()
        session, call = self.held()
        self.assertEqual(call['timeout'] % 86_400_000, 0)
        self.server.advance(86_400)
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'You said: hello')
        self.assertProblem(self.server.decide(call, True), 410, 'expired')
        self.held()

    def test_sums_outlive_kills(self):
        self.serve('agent_day', 'tokens = 1')
        self.spend()
        self.server.kill()
        self.server.start()
        session, call = self.held()
        self.assertStatus(self.raised_by(call, 1000), 200)
        self.server.at_rest(session)
        self.server.kill()
        self.server.start()
        self.spend()

    def test_one_raise_is_for_all_that_wait(self):
        self.serve('agent_day', 'steps = 1')
        self.spend()
        first, call = self.held()
        second, _ = self.held()
        self.assertStatus(self.raised_by(call, 5), 200)
        for session in (first, second):
            wait_for(lambda one=session: not self.server.open_calls(one),
                     what='the end of the question')
            self.server.at_rest(session)
            self.assertEqual(self.server.last_text(session), 'You said: hello')
        self.spend()

    def continues(self, session, seconds=60):
        wait_for(lambda: not self.server.open_calls(session), seconds, 'the end of the question')
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'You said: hello')

    def test_raise_before_a_kill_is_for_all_that_wait(self):
        self.serve('agent_day', 'steps = 1')
        self.spend()
        first, call = self.held()
        others = [self.held()[0] for _ in range(3)]
        self.assertStatus(self.raised_by(call, 9), 200)
        self.server.restart()
        for session in (first, *others):
            self.continues(session)

    def test_raise_in_the_configuration_is_for_all_that_wait(self):
        self.serve('agent_day', 'steps = 1')
        self.spend()
        sessions = [self.held()[0] for _ in range(2)]
        self.config_path.write_text(MODEL % '' + BUDGET % ('agent_day', 'steps = 9'))
        for port in [self.server.port, *([self.server.beside.port] if self.server.beside else [])]:
            self.assertStatus(Client(port, self.server.token).post('/api/reload', {}), 200)
        for session in sessions:
            self.continues(session)

    def test_removal_from_the_configuration_is_for_all_that_wait(self):
        self.serve('agent_day', 'steps = 1')
        self.spend()
        sessions = [self.held()[0] for _ in range(2)]
        self.config_path.write_text(MODEL % '')
        # With two servers the other one still has the budget.
        self.assertStatus(self.server.post('/api/reload', {}), 200)
        for session in sessions:
            self.continues(session)

    def test_restart_without_the_budget_is_for_all_that_wait(self):
        self.serve('agent_day', 'steps = 1')
        self.spend()
        sessions = [self.held()[0] for _ in range(2)]
        self.config_path.write_text(MODEL % '')
        self.server.restart()
        for session in sessions:
            self.continues(session)

    def test_denial_ends_the_turn_of_its_session_only(self):
        self.serve('agent_day', 'steps = 1')
        self.spend()
        first, call = self.held()
        second, _ = self.held()
        self.assertStatus(self.server.decide(call, False), 200)
        self.server.at_rest(first)
        self.assertEqual(self.last_turn(first)['finishReason'], 'budget')
        self.budget_call(second)


class OfTheConfiguration(unittest.TestCase):
    def test_configuration_is_checked(self):
        for lines, what in (
            ('per = "turn"', 'has no tokens'),
            ('steps = 1', 'has no per'),
            ('per = "month"\nsteps = 1', 'per is "month"'),
            ('per = "project_day"\nsteps = 1\nagents = ["ops"]', 'agents has no meaning with per'),
            ('per = "turn"\nsteps = 0', 'steps is 0'),
            ('per = "turn"\ncost = 0', 'cost is 0'),
            ('per = "turn"\nsteps = 1\ncurrency = "EUR"', 'currency has no meaning without cost'),
            ('per = "turn"\nsteps = 1\nagents = ["opps"]', 'agent not found'),
            ('per = "turn"\nsteps = 1\nanswerers = ["role:boss"]', 'role not found'),
            ('per = "turn"\ncost = 1', 'cost does not limit the agent ops'),
        ):
            with self.subTest(lines=lines), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, 'dormouse.toml')
                path.write_text(MODEL % '' + '[[budget]]\n' + lines + '\n')
                checked = run('config', 'check', str(path))
                self.assertIn(what, checked.stdout + checked.stderr)

    def test_cost_in_another_currency_than_the_prices_is_named(self):
        prices = 'input_price = 1\noutput_price = 2\ncurrency = "EUR"\n'
        for currency, warned in (('USD', True), ('EUR', False)):
            with self.subTest(currency), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, 'dormouse.toml')
                path.write_text(MODEL % prices + '[[budget]]\nper = "turn"\ncost = 1\n'
                                f'currency = "{currency}"\n')
                checked = run('config', 'check', str(path))
                named = 'prices in EUR and the budget is in USD' in checked.stdout + checked.stderr
                self.assertEqual(named, warned, checked)


if __name__ == '__main__':
    main()
