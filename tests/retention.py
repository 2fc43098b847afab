#!/usr/bin/env python3
"""Retention by hand: deletions by age are reported first, run in batches, and a kill in the middle
leaves each session whole or deleted."""
import json
import threading

from dormouse import Case, main, run
from tools_by_config import eventually
from webhooks_out import Sent

PATH = '/api/retention'
LIST = '/api/projects/default/sessions'


class Retention(Case):
    def ended(self, count):
        out = []
        for _ in range(count):
            session = self.server.create()['id']
            self.assertStatus(self.server.post(f'/api/sessions/{session}/end'), 200)
            out.append(session)
        return out

    def others(self):
        """A waiting and an active session: neither is deleted, however old it is."""
        waiting = self.server.create('deploy A')['id']
        active = self.server.create('hi')['id']
        return waiting, active

    def retain(self, **body):
        return self.assertStatus(self.server.post(PATH, body), 200).json

    def ids(self):
        return {s['id'] for s in self.server.items(LIST)}

    def command(self, *flags):
        url = f'http://127.0.0.1:{self.server.port}'
        env = {'DORMOUSE_TOKEN': self.server.token}
        return run('--server', url, 'retention', *flags, env=env)

    def test_dry_run_counts_and_changes_nothing(self):
        others = self.others()
        old = self.ended(3)
        for _ in range(2):
            answer = self.retain(dryRun=True, completedAfterMs=0)
            self.assertEqual((answer['sessions'], answer['deleted'], answer['more']), (3, 0, False))
            self.assertEqual([one['sessionID'] for one in answer['found']], old)
            self.assertGreater(min(one['bytes'] for one in answer['found']), 0)
            self.assertEqual(sum(one['bytes'] for one in answer['found']), answer['bytes'])
        self.assertEqual(self.retain(dryRun=True, completedAfterMs=3_600_000)['sessions'], 0)
        done = self.command('--dry-run', '--completed-after', '0ms')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f'3 sessions would be deleted, {answer["bytes"]} bytes', done.stdout)
        self.assertIn(old[0], done.stdout)
        self.assertEqual(self.ids(), {*others, *old})

    def test_only_completed_sessions_are_deleted_once(self):
        waiting, active = self.others()
        old = self.ended(70)  # more than a batch
        answer = self.retain(completedAfterMs=0)
        self.assertEqual((answer['sessions'], answer['deleted'], answer['more']), (70, 70, False))
        self.assertEqual(self.ids(), {waiting, active})
        self.assertProblem(self.server.get(f'/api/sessions/{old[0]}'), 404, 'not_found')
        again = self.command('--completed-after', '0ms')
        self.assertIn('0 sessions deleted, 0 bytes', again.stdout)
        (call,) = self.server.open_calls(waiting)
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.server.at_rest(waiting)
        self.assertEqual(self.server.last_text(waiting), 'deploy A: live')

    def test_kill_in_the_middle_leaves_each_whole_or_gone(self):
        waiting, active = self.others()
        left = set(self.ended(200))
        for _ in range(3):

            def ask():
                try:
                    self.server.new_client().post(PATH, {'completedAfterMs': 0})
                except Exception:
                    pass  # it was killed

            client = self.server.client
            thread = threading.Thread(target=ask)
            thread.start()
            client.get(f'/api/sessions/{active}')
            self.server.restart()
            thread.join()
            now = self.ids()
            self.assertLessEqual(now, left | {waiting, active})
            self.assertLessEqual({waiting, active}, now)
            for session in list(now)[:5]:
                self.assertStatus(self.server.get(f'/api/sessions/{session}'), 200)
            left = now - {waiting, active}
        self.server.term()
        self.server.verify()
        self.server.start()
        self.assertEqual(self.retain(completedAfterMs=0)['deleted'], len(left))
        self.assertEqual(self.retain(completedAfterMs=0)['deleted'], 0)
        self.assertEqual(self.ids(), {waiting, active})

    def test_other_requests_run_meanwhile(self):
        waiting, _ = self.others()
        (call,) = self.server.open_calls(waiting)
        self.ended(300)
        answers = []
        thread = threading.Thread(
            target=lambda: answers.append(
                self.server.new_client().post(PATH, {'completedAfterMs': 0})
            )
        )
        thread.start()
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.assertEqual(answers, [], 'it was answered before the deletion was done')
        thread.join()
        self.assertEqual(answers[0]['deleted'], 300)

    def test_without_an_age_nothing_is_deleted(self):
        self.ended(1)
        self.assertProblem(self.server.post(PATH), 400, 'bad_value', pointer='/completedAfterMs')
        for age in (-1, 1 << 60, 'x', 1.5):
            answer = self.server.post(PATH, {'completedAfterMs': age})
            self.assertProblem(answer, 400, 'bad_value')
        self.assertEqual(self.command('--completed-after', 'soon').returncode, 2)
        self.assertEqual(len(self.ids()), 1)


class Lines:
    def lines(self):
        rows = self.server.select('SELECT n, line FROM audit ORDER BY n')
        return [(row['n'], json.loads(row['line'])) for row in rows]


class Audit(Lines, Case):
    """Old audit lines are deleted, and the rest is still a valid chain."""

    def ended(self, count):
        for _ in range(count):
            session = self.server.create()['id']
            self.assertStatus(self.server.post(f'/api/sessions/{session}/end'), 200)

    def test_dry_run_counts_what_is_then_deleted(self):
        self.ended(5)
        before = self.lines()
        answer = self.server.post(PATH, {'dryRun': True, 'auditAfterMs': 0}).json
        old = len(before) - 1  # the newest always stays
        self.assertEqual((answer['audit']['lines'], answer['audit']['more']), (old, False))
        self.assertEqual((answer['completedBefore'], answer['sessions']), (None, 0))
        self.assertEqual(self.lines(), before)
        url = f'http://127.0.0.1:{self.server.port}'
        arguments = ('--server', url, 'retention', '--audit-after', '0ms')
        env = {'DORMOUSE_TOKEN': self.server.token}
        self.assertIn(
            f'{old} lines of the audit would be deleted',
            run(*arguments, '--dry-run', env=env).stdout,
        )
        self.assertIn(f'{old} lines of the audit were deleted', run(*arguments, env=env).stdout)
        left = self.lines()
        self.assertEqual([n for n, _ in left], [len(before), len(before) + 1])
        trim = left[1][1]
        self.assertEqual(
            (trim['type'], trim['lines'], trim['through']), ('audit_trimmed', old, old)
        )
        self.assertEqual(trim['by']['type'], 'token')
        none = self.server.post(PATH, {'auditAfterMs': 3_600_000}).json['audit']['lines']
        self.assertEqual(none, 0)
        self.ended(1)
        self.server.term()
        self.assertEqual(self.server.checked().returncode, 0, self.server.checked().stdout)

    def test_beginning_that_is_just_missing_is_found(self):
        self.ended(3)
        self.server.term()
        self.assertEqual(self.server.checked().returncode, 0)
        self.server.change('DELETE FROM audit WHERE n = 1')
        found = self.server.checked()
        self.assertEqual(found.returncode, 1)
        self.assertIn('the lines before line 2 are missing', found.stdout)
        self.server.verify = lambda: None  # damaged on purpose


class Configured(Lines, Sent):
    """Automatic deletion by [retention]."""

    demo = True
    more = '''
[[webhook]]
url = "RECEIVER/gone"
secret_env = "S_EVENTS"
events = ["turn_ended"]
[retention]
audit_after = "2s"
dead_deliveries_after = "1s"
'''

    def test_old_lines_and_dead_deliveries_are_deleted(self):
        self.receiver.answer = lambda request: 410
        session = self.server.create('hi')['id']
        self.in_state('disabled', 1)
        dry = {'dryRun': True, 'deadDeliveriesAfterMs': 0, 'auditAfterMs': 0}
        self.assertEqual(self.server.post(PATH, dry)['deliveries']['count'], 1)
        for _ in range(2):
            self.assertStatus(self.server.post(f'/api/sessions/{session}/end'), 200)
            session = self.server.create('hi')['id']
        types = lambda: [line['type'] for _, line in self.lines()]
        eventually(lambda: 'audit_trimmed' in types(), 'old lines go')
        self.server.restart()
        eventually(lambda: self.deliveries() == [], 'what was given up is forgotten')


if __name__ == '__main__':
    main()
