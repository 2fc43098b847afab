#!/usr/bin/env python3
"""`--wait[=TIME]` of prompt, result, error, approve, deny, retry and resume: follows the turn until
it ends, also through sleeps, or until the time is over."""
import subprocess

from cli import CONFLICT, DONE, INTERRUPTED, SLEEPS, USAGE, Cli
from doctor import failed_session
from dormouse import BINARY, environment, main, run, wait_for


class Wait(Cli):
    def started(self, *words):
        process = subprocess.Popen(
            [BINARY, *words, *self.where()],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def opened(self, count=1):
        """Waits until this number of calls wait, and returns the newest first."""
        return wait_for(
            lambda: (lambda calls: len(calls) == count and calls)(
                self.server.items('/async-tool/pending')
            ),
            what='the calls',
        )

    def test_prompt_waits_through_its_sleep(self):
        process = self.started('prompt', 'deploy A', '--wait')
        (call,) = self.opened()
        self.dm('result', call['id'], 'live')
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (DONE, ''))
        self.assertIn(f'dormouse result {call["id"]}', out)
        self.assertTrue(out.endswith('deploy A: live\n'), out)

    def test_time_that_is_over_says_so(self):
        done = run('prompt', 'deploy A', '--wait=1ms', *self.where())
        self.assertEqual(done.returncode, SLEEPS, done)
        self.assertIn('the time of --wait is over', done.stderr)
        for wrong in ('--wait=soon', '--wait=5'):
            self.assertIn('--wait is not a time',
                          run('prompt', 'x', wrong, *self.where()).stderr)
        self.assertEqual(run('prompt', 'x', '--wait', '--no-follow').returncode, USAGE)

    def test_result_follows_to_the_end_of_the_turn(self):
        _, session, call = self.asleep()
        output = self.dm('result', call['id'], 'live', '--wait')
        self.assertTrue(output.startswith('applied'), output)
        self.assertTrue(output.endswith('deploy A: live\n'), output)
        self.assertTrue(self.dm('result', call['id'], 'live', '--wait').startswith('duplicate'))

    def test_error_and_json(self):
        _, session, call = self.asleep()
        receipt, turn = self.objects('error', call['id'], 'no room', '--wait')
        self.assertEqual(receipt['outcome'], 'applied')
        self.assertEqual((turn['status'], turn['finishReason']), ('ended', 'stop'))

    def test_approve_and_deny_follow(self):
        for verb in ('approve', 'deny'):
            _, session, call = self.asleep('approve A')
            output = self.dm(verb, call['id'], '--wait')
            self.assertTrue(output.startswith(verb), output)
            self.assertIn(self.server.last_text(session), output)

    def test_ctrl_c_ends_the_wait_and_not_the_turn(self):
        process = self.started('prompt', 'deploy A', '--wait')
        (call,) = self.opened()
        while 'dormouse cancel' not in process.stdout.readline():
            pass
        process.send_signal(2)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, INTERRUPTED)
        self.assertIn('the turn continues', err)
        self.dm('result', call['id'], 'live')

    def test_question_without_an_agent_ends_at_once(self):
        question = self.server.post('/api/pending', {'question': 'Go?', 'kind': 'approval'})
        self.dm('approve', question['pendingID'], '--wait')


class WaitForRetry(Cli):
    def setUp(self):
        pass  # each test starts its server

    def test_retry_follows_the_turn_that_runs_again(self):
        session = failed_session(self)
        output = self.dm('retry', session, '--wait')
        self.assertIn('well', output)
        (turn,) = self.server.turns(session)
        self.assertEqual(turn['finishReason'], 'stop')
        self.dm('retry', session, '--wait', exits=CONFLICT)


if __name__ == '__main__':
    main()
