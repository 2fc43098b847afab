#!/usr/bin/env python3
"""Rows that differ from their journal are found and rebuilt while the server runs, with an event in
the journal; a damaged journal is named and left alone."""
import json
import time

from dormouse import Alone, Case, main, run
from stored import FRAME_FIRST, FRAME_NO
from tools_by_config import HELD, Tools, eventually


class Damaged:
    kind = Alone  # damage is found in the order of the sessions

    def doctor(self, *flags):
        url = f'http://127.0.0.1:{self.server.port}'
        return run('--server', url, 'doctor', *flags, env={'DORMOUSE_TOKEN': self.server.token})


class Repair(Damaged, Case):
    def test_wrong_rows_are_rebuilt_and_the_session_continues(self):
        session = self.server.create('deploy A within 1h')['id']
        (call,) = self.server.open_calls(session)
        self.server.while_down(
            'UPDATE pending SET status = 1',
            'DELETE FROM wakeups',
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
        self.assertEqual(self.server.last_text(session), 'deploy A: live')

    def test_journal_that_is_damaged_is_named_and_left_alone(self):
        session = self.server.create('deploy A')['id']
        other = self.server.create('deploy B')['id']
        first = '(SELECT min(no) FROM sessions)'
        self.server.while_down(
            f'DELETE FROM journal WHERE {FRAME_NO} = {first} AND {FRAME_FIRST} = (SELECT'
            f' min({FRAME_FIRST}) FROM journal WHERE {FRAME_NO} = {first} AND {FRAME_FIRST} > 1)',
            'DELETE FROM snapshots',
        )
        looked = self.doctor('--repair')
        self.assertEqual(looked.returncode, 1, looked.stdout + looked.stderr)
        self.assertIn(session, looked.stdout)
        self.assertIn('restore a backup', looked.stdout)
        self.assertNotIn(other, looked.stdout)
        again = self.doctor('--check')
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        self.assertIn(session, again.stdout)
        # The session can be deleted, and then the store has no findings.
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)


class Findings(Damaged, Tools):
    """What doctor reports, with what to do about it."""

    def demo(self):
        self.server = Alone()
        self.addCleanup(self.server.clean)

    def number(self, session):
        return f"(SELECT no FROM sessions WHERE id = '{session[4:]}')"

    def found(self, name):
        report = self.server.get('/api/doctor').json
        self.assertIn(name, report)
        for one in report[name]:
            self.assertTrue(one['why'] and one['next'], one)
        return report['ok'], [one['sessionID'] for one in report[name]]

    def test_doctor_names_what_is_in_doubt(self):
        tool = self.command(HELD, more='crash = "never"')
        self.serve(tool)
        session = self.server.create('deploy A', agent='ops', wait=0)['id']
        eventually(lambda: (self.folder / 'deploy.sh.begun').exists(), 'it runs')
        self.assertEqual(self.found('inDoubt'), (True, []))
        self.server.restart()
        (call,) = eventually(lambda: self.server.open_calls(session), 'it waits')
        self.assertEqual(self.found('inDoubt'), (True, [session]))
        (one,) = self.server.get('/api/doctor')['inDoubt']
        self.assertEqual(one['pendingID'], call['id'])
        self.assertIn('in doubt', self.doctor().stdout)
        self.assertStatus(self.server.result(call['id'], 'it was done'), 200)
        self.assertEqual(self.found('inDoubt'), (True, []))
        (self.folder / 'deploy.sh.go').write_text('')

    def test_call_in_doubt_notifies_and_reminds_people(self):
        notified = self.folder / 'notified'
        notify = self.script(f'cat >> {notified}', 'tell.sh')
        tool = self.command(HELD, more='crash = "ask"')
        more = f'[[notify]]\nkind = "command"\ncommand = ["{notify}"]\n'
        path = self.configure(tool, more)
        reminders = 'demo = false\nremind_after = "1m"\nremind_every = "1m"'
        path.write_text(path.read_text().replace('demo = false', reminders))
        self.server = Alone('--config', str(path))
        self.addCleanup(self.server.clean)
        session = self.server.create('deploy A', agent='ops', wait=0)['id']
        eventually(lambda: (self.folder / 'deploy.sh.begun').exists(), 'it runs')
        self.server.restart()
        lines = lambda: [json.loads(line) for line in notified.read_text().splitlines()]
        for n in range(1, 4):
            eventually(lambda: notified.exists() and len(lines()) >= n, 'the notifications')
            self.server.advance(60)
        (question,) = [c for c in self.server.open_calls(session) if c['reason'] == 'elicitation']
        first, second, third = lines()[:3]
        self.assertEqual(
            [w['event'] for w in (first, second, third)], ['in_doubt'] + ['reminded'] * 2
        )
        for word in (first, second, third):
            self.assertEqual((word['pendingID'], word['tool']), (question['id'], 'deploy'))
            self.assertEqual(word['reason'], 'elicitation')
            self.assertIn('Run it again', word['text'])
            self.assertIn(f'/a/{question["id"]}', word['text'])
        self.assertTrue(second['text'].startswith('Still waiting: '), second)
        self.assertStatus(self.server.decide(question, True, content={'action': 'give_up'}), 200)
        self.server.at_rest(session)
        self.server.restart()
        count = len([e for e in self.server.events(session) if e['type'] == 'reminded'])
        self.server.advance(3600)  # until after the next would have come
        self.assertEqual(
            len([e for e in self.server.events(session) if e['type'] == 'reminded']), count
        )
        (self.folder / 'deploy.sh.go').write_text('')

    def test_doctor_limits_what_it_reads_and_says_so(self):
        """The problems come after more than a thousand healthy sessions, and are more than doctor
        shows."""
        self.demo()
        numbers = [self.server.create('deploy A')['id'] for _ in range(1_250)]
        broken = numbers[1_020:]
        last = f"(SELECT no FROM sessions WHERE id = '{broken[0][4:]}')"
        self.server.while_down(
            f"UPDATE journal SET data = '[]' WHERE {FRAME_NO} >= {last}",
            f'DELETE FROM snapshots WHERE no >= {last}',
        )
        report = self.server.get('/api/doctor').json
        self.assertEqual((report['lookedAt'], report['ok']), (1_000, True))
        self.assertEqual(report['cut'], ['blocked', 'inDoubt', 'orphaned', 'unreadable'])
        self.assertEqual(report['queues']['waiting'], 1_250)
        output = self.doctor().stdout
        self.assertIn('1000 sessions were read; there may be more in: blocked,', output)
        self.assertIn('next: dormouse doctor --all', output)
        report = self.server.get('/api/doctor?calls=100000').json
        self.assertEqual((report['lookedAt'], report['next'], report['ok']), (1_250, None, False))
        self.assertEqual(report['cut'], [])
        self.assertEqual(report['counts']['unreadable'], len(broken))
        self.assertEqual([one['sessionID'] for one in report['unreadable']], broken[:200])
        output = self.doctor('--all').stdout
        self.assertIn(f'{len(broken)} unreadable', output)
        self.assertNotIn('not all was looked at', output)
        seen, looked, cursor = [], 0, ''
        while cursor is not None:
            page = self.server.get(f'/api/doctor?calls=500{cursor and "&cursor=" + cursor}').json
            seen.append(page['counts']['unreadable'])
            looked += page['lookedAt']
            self.assertLessEqual(page['lookedAt'], 500)
            cursor = page['next']
        self.assertEqual((looked, sum(seen)), (1_250, len(broken)))
        self.assertEqual(seen[:2], [0, 0], 'a page tells of what it looked at')
        for wrong in ('calls=0', 'calls=100001', 'cursor=x'):
            self.assertEqual(self.server.get('/api/doctor?' + wrong).status, 400, wrong)
        self.server.kill()  # damaged on purpose

    def test_doctor_names_what_is_orphaned(self):
        self.demo()
        parent = self.server.create('background deploy A')['id']
        (task,) = self.server.get(f'/api/sessions/{parent}/tasks')['items']
        child = task['sessionID']
        eventually(lambda: self.server.open_calls(child), 'it waits')
        self.assertEqual(self.found('orphaned'), (True, []))
        self.server.while_down(
            "UPDATE sessions SET status = 'deleted', updated = updated - 60000"
            f" WHERE id = '{parent[4:]}'"
        )
        self.assertEqual(self.found('orphaned'), (False, [child]))
        self.assertEqual(self.doctor().returncode, 1)
        self.assertStatus(self.server.post(f'/api/sessions/{child}/end'), 200)
        self.assertEqual(self.found('orphaned'), (True, []))
        self.server.kill()  # its parent's rows are wrong on purpose

    def test_doctor_names_what_is_stuck_and_what_is_unreadable(self):
        self.demo()
        well = self.server.create('deploy B')['id']
        session = self.server.create('deploy A within 1h')['id']
        rests = self.server.create('hi')['id']
        self.assertEqual(self.found('unreadable'), (True, []))
        number = f"(SELECT no FROM sessions WHERE id = '{session[4:]}')"
        self.server.while_down(
            f"UPDATE journal SET data = '[]' WHERE {FRAME_NO} = {number}",
            f'DELETE FROM snapshots WHERE no = {number}',
            'UPDATE wakeups SET wake_at = wake_at - 7200000',
            f'INSERT INTO wakeups(no, wake_at) VALUES ({self.number(rests)}, 1)',
        )
        self.assertEqual(self.found('unreadable'), (False, [session]))
        self.assertEqual(self.found('stuck'), (False, [rests]), 'each is named once')
        output = self.doctor().stdout
        self.assertIn('1 stuck', output)
        self.assertIn('1 unreadable', output)
        (call,) = self.server.open_calls(well)
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.server.at_rest(well)
        self.server.kill()  # damaged on purpose

    def test_doctor_names_unreadable_session_without_waiting_call(self):
        """Found through the times at which sessions wake, also future ones; sessions that only
        sleep are not read."""
        self.demo()
        far = 2_000_000_000_000
        rests, now, *later = [self.server.create('hi')['id'] for _ in range(130)]
        for one in rests, now, *later:
            self.server.at_rest(one)
        waits = self.server.create('deploy A')['id']  # read once, although it is also due
        self.server.while_down(
            *(
                f"UPDATE journal SET data = '[]' WHERE {FRAME_NO} = {self.number(one)}"
                for one in (rests, now, later[-1])
            ),
            f'INSERT INTO wakeups(no, wake_at) VALUES ({self.number(now)}, 0)',
            *(
                f'INSERT INTO wakeups(no, wake_at) VALUES ({self.number(one)}, {far + n})'
                for n, one in enumerate(later)
            ),
            'DELETE FROM snapshots',
        )
        report = self.server.get('/api/doctor').json
        named = sorted(one['sessionID'] for one in report['unreadable'])
        self.assertEqual(named, sorted([now, later[-1]]))
        self.assertEqual((report['ok'], report['next']), (False, None))
        self.assertEqual(report['lookedAt'], 130, 'all but the one that rests')
        self.assertIn('2 unreadable', self.doctor().stdout)
        seen, cursor = [], ''
        while cursor is not None:
            page = self.server.get(f'/api/doctor?calls=20{cursor and "&cursor=" + cursor}').json
            seen += [one['sessionID'] for one in page['unreadable']]
            self.assertLessEqual(page['lookedAt'], 20)
            cursor = page['next']
        self.assertIn(now, seen)
        self.assertIn(later[-1], seen)
        for wrong in ('due', 'due_x', 'due_1', 'due_1_ses_x', 'due_1x_' + waits):
            self.assertEqual(self.server.get('/api/doctor?cursor=' + wrong).status, 400, wrong)
        self.server.kill()  # damaged on purpose


class StartUp(Case):
    """Requirement A15: deadlines that passed while down, and work in progress at the crash."""

    def test_deadline_passed_while_down_expires_at_start(self):
        session = self.server.create('deploy A within 1h')['id']
        (call,) = self.server.open_calls(session)
        self.server.restart(down=call['timeout'] / 1000 - time.time())
        eventually(lambda: self.server.session(session)['activity']['type'] == 'idle', 'it moves')
        self.assertEqual(self.server.get('/async-tool/pending/' + call['id'])['status'], 'expired')
        self.assertEqual(self.server.last_text(session),
                         'deploy A failed: Tool execution timed out')

    def test_stale_processing_waits_again_after_the_start(self):
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        path = '/async-tool/pending/' + call['id']
        self.assertStatus(self.server.post(path + '/claim', {'forMs': 60_000}), 200)
        self.assertEqual(self.server.get(path)['status'], 'processing')
        self.server.restart()
        self.assertEqual(self.server.get(path)['status'], 'processing')
        self.server.advance(60)
        eventually(lambda: self.server.get(path)['status'] == 'waiting', 'the claim ends')
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'deploy A: live')


if __name__ == '__main__':
    main()
