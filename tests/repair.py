#!/usr/bin/env python3
"""What stands beside a journal and does not agree with it is found and made anew, while the server
runs, with an entry in the journal; a journal that is damaged is named and left alone."""
import sqlite3

from dormouse import Case, main, run


class Repair(Case):
    def damage(self, *statements):
        self.server.term()
        with sqlite3.connect(f'{self.server.directory}/dormouse.db') as file:
            for statement in statements:
                file.execute(statement)
        file.close()
        self.server.start()

    def doctor(self, *flags):
        url = f'http://127.0.0.1:{self.server.port}'
        return run('--server', url, 'doctor', *flags, env={'DORMOUSE_TOKEN': self.server.token})

    def test_rows_that_lie_are_made_anew_and_the_session_goes_on(self):
        session = self.server.create('deploy A within 1h')['id']
        (call,) = self.server.open_calls(session)
        self.damage(
            'UPDATE pending SET status = 1',
            'DELETE FROM owed',
            "UPDATE sessions SET title = 'x'",
        )
        listed = self.server.get('/async-tool/pending?project=default')['items']
        self.assertEqual(listed, [], 'lists over sessions believe the rows')

        looked = self.doctor('--check')
        self.assertEqual(looked.returncode, 1, looked.stdout + looked.stderr)
        self.assertIn(session, looked.stdout)
        self.assertIn('doctor --repair', looked.stdout)
        mended = self.doctor('--repair')
        self.assertEqual(mended.returncode, 0, mended.stdout + mended.stderr)
        self.assertEqual(self.doctor('--check').returncode, 0)

        self.assertEqual([c['id'] for c in self.server.open_calls(session)], [call['id']])
        (entry,) = [e for e in self.server.events(session) if e['type'] == 'repaired']
        self.assertIn('pending row 1.1', entry['data']['what'])
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.server.at_rest(session)
        self.assertEqual(self.server.said(session), 'deploy A: live')

    def test_a_journal_that_is_damaged_is_named_and_left_alone(self):
        session = self.server.create('deploy A')['id']
        other = self.server.create('deploy B')['id']
        self.damage(
            'DELETE FROM journal WHERE k = (SELECT min(k) + 1 FROM journal) OR k = '
            '(SELECT k FROM journal ORDER BY k LIMIT 1 OFFSET 1)',
            'DELETE FROM snapshots',
        )
        looked = self.doctor('--repair')
        self.assertEqual(looked.returncode, 1, looked.stdout + looked.stderr)
        self.assertIn(session, looked.stdout)
        self.assertIn('restore a backup', looked.stdout)
        self.assertNotIn(other, looked.stdout)
        self.assertIn(session, self.doctor('--check').stdout)
        # Not to be verified at the end: it is damaged on purpose.
        self.server.verify = lambda: None


if __name__ == '__main__':
    main()
