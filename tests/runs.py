#!/usr/bin/env python3
"""dormouse/runs of the TypeScript client: state and questions of a program that is killed."""
import json
import sys

from dormouse import ROOT, main

sys.path.insert(0, str(ROOT / 'tests/clients'))

from adapted import Starts, build_client  # noqa: E402
from driven import BUILT  # noqa: E402


def setUpModule():
    build_client()


class Runs(Starts):
    """Also what the adapters have in common."""
    built = BUILT / 'typescript'

    @classmethod
    def setUpClass(cls):
        (cls.built / 'runs.mjs').write_bytes((ROOT / 'tests/clients/runs.mjs').read_bytes())
        super().setUpClass()

    def begin(self, command, **given):
        return self.start('runs.mjs', command, json.dumps(given))

    def answer(self, program):
        self.assertEqual(program.end(), 0, program)
        return json.loads(program.lines[-1])

    def output_of(self, command, **given):
        return self.answer(self.begin(command, **given))

    def test_deadline_denies_an_approval_with_a_reason(self):
        program = self.begin('ask', id='r', request={'question': 'Q?', 'kind': 'approval'},
                             options={'ask': {'withinMs': 60_000, 'onDeadline': 'deny'}})
        program.until('waiting for')
        self.server.advance(61)
        outcome = {'approved': False, 'reason': 'nobody answered in time', 'value': None}
        self.assertEqual(self.answer(program), {'value': outcome})
        request = {'question': 'Q?', 'kind': 'approval'}
        self.assertEqual(self.output_of('ask', id='r', request=request), {'value': outcome})

    def test_each_outcome_of_a_job_has_its_reason(self):
        request = {'question': 'Backup', 'kind': 'result'}
        for name, settle, outcome in (
            ('a', lambda p: self.server.result(p, 7), (True, None, 7)),
            ('b', lambda p: self.server.post('/async-tool/error', {'pendingID': p, 'error': 'no'}),
             (False, 'no', None)),
            ('c', lambda p: self.server.delete(f'/api/pending/{p}?reason=late'),
             (False, 'late', None)),
        ):
            with self.subTest(outcome=outcome):
                program = self.begin('ask', id=name, request=request)
                self.assertStatus(settle(program.until('waiting for')), 200)
                self.assertEqual(tuple(self.answer(program)['value'].values()), outcome)

    def test_question_in_other_words_is_still_the_same(self):
        first = self.begin('once', key='k', request={'question': 'Old?', 'kind': 'answer'})
        pending = first.until('waiting for')
        first.kill()
        second = self.begin('once', key='k', request={'question': 'New?', 'kind': 'answer'})
        self.assertEqual(second.until('waiting for'), pending)
        self.assertStatus(self.server.result(pending, 'yes'), 200)
        self.assertEqual(self.answer(second), {'value': 'yes'})

    def test_second_program_that_saves_another_state_stops(self):
        self.assertEqual(self.output_of('two', id='same', same=True)['value']['state'], 1)
        refused = self.output_of('two', id='other')
        self.assertEqual(refused['error'], 'RunTaken')
        self.assertIn('Another program has continued run "other"', refused['message'])
        self.assertEqual(self.output_of('open', id='other')['value'], {'state': 1, 'ended': None})

    def test_state_of_several_mebibytes_is_kept(self):
        self.assertEqual(self.output_of('large', id='large', bytes=3 << 20), {'value': 3 << 20})
        refused = self.output_of('large', id='huge', bytes=8 << 20)
        self.assertIn('must be at most 7 MiB', refused['message'])

    def test_id_in_another_form_is_refused(self):
        for name in ('', 'a b', 'x' * 129):
            self.assertIn('must match', self.output_of('open', id=name)['message'])

    def test_server_that_is_away_is_one_error(self):
        request = {'question': 'Q?', 'kind': 'approval'}
        program = self.begin('ask', id='r', request=request, options={'waitMs': 2000})
        pending = program.until('waiting for')
        self.server.kill()
        self.assertEqual(self.answer(program)['error'], 'TimedOut')
        output = self.output_of('ask', id='r', request=request, limitMs=500)
        self.assertEqual(output['error'], 'ConnectionFailed')
        self.assertIn('No answer from', output['message'])
        self.server.restart()
        self.decide(pending)
        self.assertEqual(self.output_of('ask', id='r', request=request)['value']['approved'], True)

    def test_question_is_waited_for_as_long_as_the_program_wants(self):
        output = self.output_of('ask', id='r', request={'question': 'Q?', 'kind': 'approval'},
                                options={'waitMs': 200})
        self.assertEqual(output['error'], 'TimedOut')
        self.assertEqual(len(self.server.items('/api/pending')), 1)


if __name__ == '__main__':
    main()
