#!/usr/bin/env python3
"""Agents that are programs and keep to no rule: what a person approved holds once, what comes late
changes nothing, and what they say of themselves has bounds."""
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
        """It has asked and died; a person approved meanwhile. What it is asked then."""
        session = self.begin(word)
        call = self.asked(session)
        wait_for(lambda: 'detached' in self.types(session), 20, 'its death')
        self.assertStatus(self.server.decide(call, True), 200)
        return session, self.asked(session)

    def answers(self):
        return sorted((line['call'], line['said']) for line in self.log('answer'))

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
        self.assertEqual(sorted(said for _, said in self.answers()), ['no', 'yes'])

    def test_questions_and_answers_after_a_cancel_change_nothing(self):
        session = self.begin('cancel')
        wait_for(lambda: self.log('prompt'), what='the prompt')
        self.assertStatus(self.server.post(f'/api/sessions/{session}/cancel', {}), 200)
        wait_for(lambda: len(self.answers()) == 2, 20, 'both answers')
        self.assertEqual(self.answers(), [('late', 'cancelled'), ('later', 'cancelled')])
        self.assertEqual(self.server.open_calls(session), [])
        self.assertNotIn('agent_asked', self.types(session))
        self.assertStatus(self.server.prompt(session, 'hello'), 200)
        self.assertEqual(self.server.said(session), 'done hello')
        finishes = [turn['finishReason'] for turn in self.server.turns(session)]
        self.assertEqual(sorted(finishes), ['cancelled', 'stop'])

    def test_question_that_it_does_not_wait_for_is_settled(self):
        session = self.begin('leaves')
        self.ended(session)
        (asked,) = self.of_type(session, 'agent_asked')
        self.assertEqual(self.server.open_calls(session), [])
        said = self.server.post(
            '/async-tool/decision', {'pendingID': asked['pendingID'], 'approved': True})
        self.assertEqual(said.status, 409, said)
        self.assertEqual(self.answers(), [])

    def test_names_of_any_length_are_bounded(self):
        session = self.begin('names')
        call = self.asked(session)
        self.assertEqual(call['tool'], 'acp:other')
        self.assertLess(len(json.dumps(call)), 100_000)
        self.assertStatus(self.server.decide(call, False), 200)
        self.ended(session)
        self.assertLess(len(json.dumps(self.server.events(session))), 200_000)

    def test_odd_messages_are_passed_over(self):
        session = self.create('odd')
        self.assertTrue(self.server.said(session).endswith('done odd'))
        self.assertLess(len(json.dumps(self.server.events(session))), 100_000)
        usage = self.server.session(session)['usage']
        self.assertEqual((usage['inputTokens'], usage['outputTokens']), (0, 0))


class LongId(Unruly):
    flags = ('--long-id',)

    def test_session_id_that_cannot_be_kept_is_refused(self):
        session = self.create('hello')
        error = self.server.turns(session)[0]['error']
        self.assertEqual(error['code'], 'agent_refused')
        self.assertIn('gave no id of it', error['message'])


if __name__ == '__main__':
    main()
