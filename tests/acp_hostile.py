#!/usr/bin/env python3
"""External agents that break the rules: an approval is used once, late messages change nothing, and
texts about themselves are bounded."""
import json

import acp
from acp import Programs
from dormouse import ROOT, main, wait_for


class Unruly(Programs):
    def setUp(self):
        agent = acp.AGENT
        acp.AGENT = str(ROOT / 'tests/acp/hostile_agent.py')
        try:
            super().setUp()
        finally:
            acp.AGENT = agent

    def tearDown(self):
        self.assertTrue(self.server.get('/api/doctor')['ok'])
        self.server.term()
        self.server.verify()


class Hostile(Unruly):
    def approved_while_dead(self, word):
        """The agent asked and died; a person approved meanwhile. Returns what it is asked then."""
        session = self.begin(word)
        call = self.permission(session)
        wait_for(lambda: 'detached' in self.types(session), 20, 'its death')
        self.assertStatus(self.server.decide(call, True), 200)
        return session, self.permission(session)

    def answers(self):
        return sorted((line['call'], line['option']) for line in self.log('answer'))

    def test_approval_is_used_once_by_calls_of_other_ids(self):
        session, second = self.approved_while_dead('again')
        self.assertEqual(len(self.of_type(session, 'agent_granted')), 1)
        self.assertStatus(self.server.decide(second, False), 200)
        self.ended(session)
        self.assertEqual(self.answers(), [('b', 'yes'), ('c', 'no')])

    def test_approval_is_used_once_by_two_calls_at_once(self):
        self.state.joinpath('both').touch()
        session, second = self.approved_while_dead('at-once')
        self.assertEqual(len(self.of_type(session, 'agent_granted')), 1)
        self.assertStatus(self.server.decide(second, False), 200)
        self.ended(session)
        self.assertEqual(sorted(option for _, option in self.answers()), ['no', 'yes'])

    def permission_for_another(self, what):
        """A person approved while the agent was dead; the agent then asks for something else."""
        self.state.joinpath('other').unlink(missing_ok=True)
        self.state.joinpath('log.jsonl').unlink(missing_ok=True)
        session = self.begin(f'other {what}')
        first = self.permission(session)
        wait_for(lambda: 'detached' in self.types(session), 20, 'its death')
        self.assertStatus(self.server.decide(first, True), 200)
        wait_for(lambda: self.server.open_calls(session) or self.answers(), 20, 'a question')
        return session, first

    def test_approval_does_not_cover_other_arguments(self):
        for what in ('name', 'told', 'title', 'locations', 'content', 'option'):
            with self.subTest(what):
                session, first = self.permission_for_another(what)
                second = self.permission(session)
                self.assertEqual((second['tool'], second['input']), (first['tool'], first['input']))
                self.assertIn('does not apply: this request may differ', second['message'])
                self.assertNotIn('agent_granted', self.types(session))
                self.assertStatus(self.server.decide(second, False), 200)
                self.ended(session)
                self.assertNotIn(('b', 'yes'), self.answers())

    def test_approval_covers_the_same_request_with_another_id(self):
        session, _ = self.permission_for_another('nothing')
        self.ended(session)
        self.assertEqual(self.answers(), [('b', 'yes')])

    def test_questions_and_answers_after_a_cancel_change_nothing(self):
        session = self.begin('cancel')
        wait_for(lambda: self.log('prompt'), what='the prompt')
        self.assertStatus(self.server.post(f'/api/sessions/{session}/cancel', {}), 200)
        wait_for(lambda: len(self.answers()) == 2, 20, 'both answers')
        self.assertEqual(self.answers(), [('late', 'cancelled'), ('later', 'cancelled')])
        self.assertEqual(self.server.open_calls(session), [])
        self.assertNotIn('agent_asked', self.types(session))
        self.assertStatus(self.server.prompt(session, 'hello'), 200)
        self.assertEqual(self.server.last_text(session), 'done hello')
        finishes = [turn['finishReason'] for turn in self.server.turns(session)]
        self.assertEqual(sorted(finishes), ['cancelled', 'stop'])

    def test_question_without_waiting_agent_is_settled(self):
        session = self.begin('leaves')
        self.ended(session)
        (question,) = self.of_type(session, 'agent_asked')
        self.assertEqual(self.server.open_calls(session), [])
        answer = self.server.post(
            '/async-tool/decision', {'pendingID': question['pendingID'], 'approved': True})
        self.assertEqual(answer.status, 409, answer)
        self.assertEqual(self.answers(), [])

    def test_names_of_any_length_are_bounded(self):
        session = self.begin('names')
        call = self.permission(session)
        self.assertEqual(call['tool'], 'acp:other')
        self.assertLess(len(json.dumps(call)), 100_000)
        self.assertStatus(self.server.decide(call, False), 200)
        self.ended(session)
        self.assertLess(len(json.dumps(self.server.events(session))), 200_000)

    def test_malformed_messages_are_ignored(self):
        session = self.create('odd')
        self.assertTrue(self.server.last_text(session).endswith('done odd'))
        self.assertLess(len(json.dumps(self.server.events(session))), 100_000)
        usage = self.server.session(session)['usage']
        self.assertEqual((usage['inputTokens'], usage['outputTokens']), (0, 0))


class GatedByName(Unruly):
    """The two tools are of one kind; other people decide on the second one."""

    more = (
        '[[gate]]\nid = "deletes"\ntools = ["acp:delete"]\nask = "Delete {input.command}?"\n'
        'answerers = ["alice"]\n'
    )
    permission_for_another = Hostile.permission_for_another
    answers = Hostile.answers

    def test_ungated_approval_does_not_cover_gated_tool(self):
        session, _ = self.permission_for_another('name')
        second = self.permission(session)
        self.assertTrue(second['message'].startswith('Delete x?'), second['message'])
        self.assertEqual(second['answer']['from'], ['alice'])
        self.assertProblem(self.server.decide(second, True), 403, 'not_an_answerer')
        self.assertStatus(self.server.post(f'/api/sessions/{session}/cancel', {}), 200)


class Reconfigured(Unruly):
    """The configuration changes between the approval and the next request."""

    more = 'on_restart = "ask"\n[[gate]]\ntools = ["acp:execute"]\nask = "Run it?"\n'
    answers = Hostile.answers

    def approved_before(self, old, new):
        """A person approved; then the configuration replaced `old` by `new`. Returns what is asked
        then."""
        session = self.begin('other nothing')
        call = self.permission(session)
        wait_for(lambda: self.server.session(session)['status'] == 'paused', 20, 'its death')
        self.assertStatus(self.server.decide(call, True), 200)
        config = self.folder / 'dormouse.toml'
        self.assertIn(old, config.read_text())
        config.write_text(config.read_text().replace(old, new))
        self.server.restart()
        self.assertStatus(self.server.post(f'/api/sessions/{session}/resume'), 200)
        wait_for(lambda: self.server.open_calls(session) or self.answers(), 20, 'a question')
        return session, self.server.open_calls(session)

    def assertAskedAgain(self, old, new):
        session, (call,) = self.approved_before(old, new)
        self.assertIn('does not apply: this request may differ', call['message'])
        self.assertNotIn('agent_granted', self.types(session))
        self.assertStatus(self.server.post(f'/api/sessions/{session}/cancel', {}), 200)
        return call

    def test_approval_is_used_when_nothing_changed(self):
        session, calls = self.approved_before('Run it?', 'Run it?')
        self.assertEqual(calls, [])
        self.ended(session)
        self.assertEqual(self.answers(), [('b', 'yes')])

    def test_approval_does_not_cover_other_answerers(self):
        gate = 'ask = "Run it?"'
        call = self.assertAskedAgain(gate, gate + '\nanswerers = ["alice"]')
        self.assertEqual(call['answer']['from'], ['alice'])

    def test_approval_does_not_cover_another_question(self):
        self.assertAskedAgain('Run it?', 'Delete it?')

    def test_approval_does_not_cover_another_agent(self):
        self.assertAskedAgain('hostile_agent.py"', 'hostile_agent.py", "--other"')


class LongId(Unruly):
    flags = ('--long-id',)

    def test_session_id_that_cannot_be_kept_is_refused(self):
        session = self.create('hello')
        error = self.server.turns(session)[0]['error']
        self.assertEqual(error['code'], 'agent_refused')
        self.assertIn('created a session without an id', error['message'])


if __name__ == '__main__':
    main()
