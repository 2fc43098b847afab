#!/usr/bin/env python3
"""Approval rules and polled tools from the configuration (docs/how-to/approvals.md)."""
import json

from dormouse import main
from tools_by_config import Tools, eventually


class Gates(Tools):
    gate = '''
[[gate]]
tools = ["dep*"]
ask = "Deploy {input.target}?"
%s
'''

    def test_person_is_asked_before_a_tool_of_the_pattern(self):
        self.serve(self.command('echo "$(cat)"') + self.gate % '')
        call = self.waiting()
        self.assertEqual((call['reason'], call['message']), ('approval', 'Deploy A?'))
        self.assertStatus(self.server.decide(call, True, arguments={'target': 'B'}), 200)
        self.server.at_rest(self.session)
        self.assertIn('{"target":"B"}', self.server.last_text(self.session))

    def test_condition_asks_only_for_calls_that_may_fit(self):
        when = 'when = { "/target" = { pattern = "^A" } }'
        self.serve(self.command('echo ran') + self.gate % when)
        self.assertStatus(self.server.decide(self.waiting(), False, reason='no'), 200)
        self.ends_with('deploy A failed: denied: no')
        self.server.prompt(self.session, 'deploy B')
        self.ends_with('deploy B: ran')

    def test_denied_call_never_runs(self):
        self.serve(self.command('touch "$0.ran"') + self.gate % '')
        self.assertStatus(self.server.decide(self.waiting(), False, reason='friday'), 200)
        self.ends_with('deploy A failed: denied: friday')
        self.assertFalse((self.folder / 'deploy.sh.ran').exists())

    def test_requester_may_not_answer(self):
        self.serve(self.command('echo ran') + self.gate % 'forbid_requester = true',
                   DORMOUSE_TOKEN='second')
        call = self.waiting()
        self.assertProblem(self.server.decide(call, True), 403, 'not_an_answerer')
        self.server.client.token = 'second'
        self.assertStatus(self.server.decide(call, True), 200)
        self.ends_with('deploy A: ran')

    def test_call_is_denied_at_the_deadline(self):
        self.serve(self.command('echo ran') + self.gate % 'timeout = "1s"\non_expiry = "deny"')
        self.waiting()
        eventually(lambda: not self.server.open_calls(self.session), 'the gate expires')
        self.server.at_rest(self.session)
        self.assertIn('failed', self.server.last_text(self.session))

    def test_others_are_asked_at_the_deadline(self):
        self.serve(self.command('echo ran') + self.gate %
                   'answerers = ["first"]\ntimeout = "1s"\non_expiry = "escalate:env"',
                   DORMOUSE_TOKEN='second')
        call = self.waiting()
        self.assertEqual((call['answer']['from'], call['answer']['escalateTo']),
                         (['first'], ['env']))

        def escalated():
            (now,) = self.server.open_calls(self.session)
            return now if now['answer']['from'] == ['env'] else None

        now = eventually(escalated, 'the question goes to the next')
        self.assertEqual((now['id'], now['answer']['escalateTo']), (call['id'], []))
        self.assertGreater(now['timeout'], call['timeout'])
        self.assertIn('reassigned', self.types())
        if self.server.decide(call, True).status == 403:  # otherwise it was denied already
            self.server.client.token = 'second'
            self.server.decide(call, True)
        self.server.at_rest(self.session)
        last = [t for t in self.types() if t in ('submitted', 'expired')]
        self.assertEqual(len(last), 1)

    def test_one_denial_is_enough_where_two_must_agree(self):
        self.serve(self.command('echo ran') + self.gate % 'need = 2', DORMOUSE_TOKEN='second')
        call = self.waiting()
        answer = self.server.decide(call, True)
        self.assertEqual((answer.status, answer['outcome']), (200, 'counted'))
        self.server.client.token = 'second'
        self.assertEqual(self.server.decide(call, False, reason='friday')['outcome'], 'applied')
        self.ends_with('deploy A failed: denied: friday')

    def restart_with(self, tools, agent=''):
        self.server.kill()
        self.configure(tools, agent)
        self.server.start()

    def test_decision_waits_for_its_gate_to_come_back(self):
        one = 'tool_concurrency = 1\n'
        tool = self.command('[ "$(cat)" = \'{"target":"A"}\' ] && sleep 30; echo ran')
        self.serve(tool + self.gate % '', one)
        self.session = self.server.create('deploy A and B', agent='ops')['id']
        first, second = self.server.open_calls(self.session)
        self.assertStatus(self.server.decide(first, True), 200)
        eventually(lambda: 'tool_started' in self.types(), 'A runs and has the only slot')
        self.assertStatus(self.server.decide(second, True), 200)
        self.restart_with(tool, one)  # the gate has not decided, and is removed
        eventually(lambda: 'gate_missing' in self.types(), 'the gate is missed')
        session = self.server.at_rest(self.session)
        self.assertEqual(session['activity']['missingGates'], ['dep*'])
        (blocked,) = self.server.get('/api/doctor')['blocked']
        self.assertEqual(blocked['sessionID'], self.session)
        self.assertIn("'dep*'", blocked['why'])
        (missing,) = self.server.get('/api/explain/' + self.session)['missingGates']
        self.assertEqual((missing['callID'], missing['gate']), ('call_2', 'dep*'))
        self.assertNotIn('gate_decided', self.types()[self.types().index('gate_missing'):])
        self.restart_with(tool + self.gate % '', one)
        eventually(lambda: 'tool_finished' in self.types(), 'B continues')
        self.assertEqual(self.server.get('/api/doctor')['blocked'], [])
        (doubt,) = self.server.open_calls(self.session)
        self.assertStatus(self.server.result(doubt['id'], 'after all'), 200)
        self.ends_with('deploy A: after all\ndeploy B: ran')

    def test_deciding_is_refused_while_the_gate_is_gone(self):
        tool = self.command('echo ran')
        self.serve(tool + self.gate % '')
        call = self.waiting()
        self.restart_with(tool)
        self.assertProblem(self.server.decide(call, True), 409, 'reentry_gone')
        (blocked,) = self.server.get('/api/doctor')['blocked']
        self.assertEqual(blocked['sessionID'], self.session)
        self.assertIn("decision of the gate 'dep*'", blocked['why'])
        (missing,) = self.server.get('/api/explain/' + call['id'])['missingGates']
        self.assertEqual((missing['callID'], missing['gate']), ('call_1', 'dep*'))
        self.assertEqual(self.server.open_calls(self.session)[0]['status'], 'waiting')
        self.restart_with(tool + self.gate % '')
        self.assertEqual(self.server.get('/api/doctor')['blocked'], [])
        self.assertStatus(self.server.decide(call, True), 200)
        self.ends_with('deploy A: ran')


class Polls(Tools):
    """Jobs whose results are polled."""

    def polled(self, more='', every='1s'):
        url = self.service.url + '/jobs/{call.externalRef}'
        return self.http(f'{more}\npoll = {{ url = "{url}", every = "{every}", done = "/done", '
                         'output = "/result" }')

    def job(self, *answers):
        """Starts as run-N; each poll gets the next answer, the last one repeatedly."""
        left = list(answers)

        def answer(handler, body):
            if handler.command == 'POST':
                starts = [r for r in self.service.requests if r[0] == '/deploy']
                return handler.say(202, {'externalRef': f'run-{len(starts)}'})
            status, reply = left.pop(0) if len(left) > 1 else left[0]
            return handler.say(status, reply)

        self.service.answer = answer

    def polls(self, job='run-1'):
        return len([path for path, *_ in self.service.requests if path == '/jobs/' + job])

    def test_poll_is_repeated_until_done(self):
        self.job((200, {'done': False}), (503, b'busy'), (200, {'done': True, 'result': 'live'}))
        self.serve(self.polled('headers = { Authorization = { env = "TOK" } }'), TOK='s3cret')
        call = self.waiting()
        eventually(lambda: not self.server.open_calls(self.session), 'the result')
        self.ends_with('deploy A: live')
        self.assertEqual(self.polls(), 3)
        self.assertEqual(self.types().count('polled'), 2)
        receipt = self.server.get('/async-tool/pending/' + call['id'])['receipt']
        self.assertEqual((receipt['via'], receipt['by']['type']), ('poll', 'runtime'))
        headers = self.service.requests[-1][1]
        self.assertEqual(headers['Authorization'], 's3cret')
        self.assertNotIn('s3cret', json.dumps(self.server.events(self.session)))

    def test_poll_survives_a_kill(self):
        self.job((200, {'done': False}), (200, {'done': True, 'result': [1]}))
        self.serve(self.polled())
        self.waiting()
        self.server.restart()
        eventually(lambda: not self.server.open_calls(self.session), 'the result')
        self.ends_with('deploy A: [1]')
        self.assertEqual([path for path, *_ in self.service.requests].count('/deploy'), 1)

    def test_result_from_elsewhere_ends_it(self):
        self.job((200, {'done': False}))
        self.serve(self.polled())
        call = self.waiting()
        eventually(lambda: self.polls() > 0, 'the first poll')
        self.assertStatus(self.server.result(call['id'], 'pushed'), 200)
        self.ends_with('deploy A: pushed')
        before = self.polls()
        self.server.create('deploy B', agent='ops')
        eventually(lambda: self.polls('run-2') > 2, 'another one is polled')
        self.assertEqual(self.polls(), before)

    def test_its_deadline_holds(self):
        self.job((200, {'done': False}))
        self.serve(self.polled('timeout = "2s"'))
        self.waiting()
        eventually(lambda: not self.server.open_calls(self.session), 'it expires')
        self.ends_with('deploy A failed: Tool execution timed out')


if __name__ == '__main__':
    main()
