#!/usr/bin/env python3
"""Retention by hand: what goes by its age is told first, goes in batches, and a kill in the middle
leaves each session whole or gone."""
import threading

from dormouse import Case, main, run

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
        """One that waits and one that is active: neither goes, however old it is."""
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

    def test_a_dry_run_counts_and_changes_nothing(self):
        others = self.others()
        old = self.ended(3)
        for _ in range(2):
            told = self.retain(dryRun=True, completedAfterMs=0)
            self.assertEqual((told['sessions'], told['deleted'], told['more']), (3, 0, False))
            self.assertEqual([one['sessionID'] for one in told['found']], old)
            self.assertGreater(min(one['bytes'] for one in told['found']), 0)
            self.assertEqual(sum(one['bytes'] for one in told['found']), told['bytes'])
        self.assertEqual(self.retain(dryRun=True, completedAfterMs=3_600_000)['sessions'], 0)
        done = self.command('--dry-run', '--completed-after', '0ms')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f'3 sessions would go, {told["bytes"]} bytes', done.stdout)
        self.assertIn(old[0], done.stdout)
        self.assertEqual(self.ids(), {*others, *old})

    def test_what_is_completed_goes_once_and_nothing_else(self):
        waiting, active = self.others()
        old = self.ended(70)  # more than a batch
        told = self.retain(completedAfterMs=0)
        self.assertEqual((told['sessions'], told['deleted'], told['more']), (70, 70, False))
        self.assertEqual(self.ids(), {waiting, active})
        self.assertProblem(self.server.get(f'/api/sessions/{old[0]}'), 404, 'not_found')
        again = self.command('--completed-after', '0ms')
        self.assertIn('0 sessions are deleted, 0 bytes', again.stdout)
        (call,) = self.server.open_calls(waiting)
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.server.at_rest(waiting)
        self.assertEqual(self.server.said(waiting), 'deploy A: live')

    def test_a_kill_in_the_middle_leaves_each_whole_or_gone(self):
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

    def test_others_have_their_turn_meanwhile(self):
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

    def test_without_an_age_nothing_goes(self):
        self.ended(1)
        self.assertProblem(self.server.post(PATH), 400, 'bad_value', pointer='/completedAfterMs')
        for age in (-1, 1 << 60, 'x', 1.5):
            answer = self.server.post(PATH, {'completedAfterMs': age})
            self.assertProblem(answer, 400, 'bad_value')
        self.assertEqual(self.command('--completed-after', 'soon').returncode, 2)
        self.assertEqual(len(self.ids()), 1)


if __name__ == '__main__':
    main()
