#!/usr/bin/env python3
"""`dormouse ask`: the exit status is the answer, standard output the answer and nothing else; it
outlives restarts of the server, Ctrl-C and repeated jobs."""
import json
import os
import signal
import subprocess
import tempfile

from dormouse import BINARY, Case, environment, main, run, wait_for

APPROVED, USAGE, NO_SERVER, DENIED, EXPIRED, CANCELLED, INTERRUPTED = 0, 2, 7, 11, 12, 13, 130


class Asking(Case):
    def env(self):
        return environment(
            DORMOUSE_URL=f'http://127.0.0.1:{self.server.port}',
            DORMOUSE_TOKEN=self.server.token,
            HOME=self.server.own,
        )

    def begin(self, *arguments):
        asking = subprocess.Popen(
            [BINARY, 'ask', *map(str, arguments)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.env()
        )
        self.addCleanup(asking.stdout.close)
        self.addCleanup(asking.stderr.close)
        self.addCleanup(lambda: asking.poll() is None and asking.kill())
        return asking

    def open_calls(self, count=1):
        """Returns the open calls once there are at least `count`."""
        return wait_for(
            lambda: len(found := self.server.items('/api/pending')) >= count and found,
            what='the question',
        )

    def ends(self, asking, status):
        out, err = asking.communicate(timeout=30)
        self.assertEqual(asking.returncode, status, (out, err))
        return out, err

    def dm(self, *arguments, exits=0):
        done = run(*arguments, env=self.env())
        self.assertEqual(done.returncode, exits, done)
        return done


class Answers(Asking):
    def test_approval_prints_the_answer_alone_and_exits_0(self):
        asking = self.begin(
            'Deploy **4.2**?', '--approve', '--tool', 'deploy', '--argument', 'version=4.2',
            '--argument', 'regions:=["eu"]', '--by', 'role:answer', '--remind', '1h',
            '--timeout', '2h',
        )
        (call,) = self.open_calls()
        self.assertEqual((call['tool'], call['input']),
                         ('deploy', {'version': '4.2', 'regions': ['eu']}))
        self.assertEqual(call['answer']['from'], ['role:answer'])
        self.assertEqual(call['timeout'] - call['time']['created'], 7_200_000)
        self.dm('approve', call['id'], '--reason', 'tested')
        out, err = self.ends(asking, APPROVED)
        self.assertEqual(out, 'approved\n')
        self.assertIn('Deploy **4.2**?', err)
        self.assertIn(f'/a/{call["id"]}', err)
        self.assertIn(f'dormouse approve {call["id"]}', err)
        self.assertIn('tested', err)

    def test_each_outcome_has_its_status(self):
        outcomes = (
            (lambda c: self.server.decide(c, False, reason='no'), DENIED, 'denied\n'),
            (lambda c: self.server.delete(f'/api/pending/{c["id"]}'), CANCELLED, ''),
            (lambda c: self.server.advance(61), EXPIRED, ''),
        )
        for settle, status, shown in outcomes:
            asking = self.begin('Deploy?', '--approve', '--timeout', '60s')
            (call,) = self.open_calls()
            settle(call)
            self.assertEqual(self.ends(asking, status)[0], shown)

    def test_answer_is_text_choice_or_json_by_schema(self):
        with tempfile.NamedTemporaryFile('w', suffix='.json') as schema:
            schema.write('{"type":"object","required":["port"]}')
            schema.flush()
            for options, wrong, right, shown in (
                ((), None, 'by the door', 'by the door\n'),
                (('--choices', 'eu,us'), 'mars', 'us', 'us\n'),
                (('--schema', schema.name), {'x': 1}, {'port': 8}, '{"port":8}\n'),
            ):
                asking = self.begin('Where?', *options)
                (call,) = self.open_calls()
                if wrong is not None:
                    refused = self.server.result(call['id'], wrong)
                    self.assertProblem(refused, 422, 'invalid_result')
                self.assertStatus(self.server.result(call['id'], right), 200)
                self.assertEqual(self.ends(asking, APPROVED)[0], shown)

    def test_votes_of_two_are_needed(self):
        asking = self.begin('Deploy?', '--approve', '--votes', '2', '--by', 'role:answer')
        (call,) = self.open_calls()
        self.assertEqual(call['answer']['need'], 2)
        self.dm('approve', call['id'])
        created = self.server.post('/api/tokens', {'name': 'ann', 'role': 'answer'})
        env = {**self.env(), 'DORMOUSE_TOKEN': created['secret']}
        self.assertEqual(run('approve', call['id'], env=env).returncode, 0)
        self.ends(asking, APPROVED)

    def test_json_prints_the_settled_call(self):
        asking = self.begin('Deploy?', '--approve', '--json')
        (call,) = self.open_calls()
        self.assertStatus(self.server.decide(call, False), 200)
        out, _ = self.ends(asking, DENIED)
        self.assertEqual(json.loads(out)['decision']['approved'], False)

    def test_question_comes_from_standard_input(self):
        done = run('ask', '-', '--no-wait', stdin='Where\nto?\n', env=self.env())
        self.assertEqual(done.returncode, 0, done)
        (call,) = self.open_calls()
        self.assertEqual((call['message'], done.stdout), ('Where\nto?', call['id'] + '\n'))


class Lives(Asking):
    def test_wait_outlives_kills_of_the_server(self):
        asking = self.begin('Deploy?', '--approve')
        (call,) = self.open_calls()
        for _ in range(2):
            self.server.kill()
            self.server.restart()
        self.assertStatus(self.server.decide(call, True), 200)
        self.assertEqual(self.ends(asking, APPROVED)[0], 'approved\n')

    def test_repeated_job_finds_its_question_by_the_key(self):
        first = self.dm('ask', 'Deploy?', '--approve', '--key', 'job-7', '--no-wait').stdout
        again = self.dm('ask', 'Deploy?', '--approve', '--key', 'job-7', '--no-wait').stdout
        self.assertEqual(first, again)
        (call,) = self.open_calls()
        self.assertStatus(self.server.decide(call, True), 200)
        done = self.dm('ask', 'Deploy?', '--approve', '--key', 'job-7')
        self.assertEqual(done.stdout, 'approved\n')
        self.dm('ask', 'Other?', '--approve', '--key', 'job-7', exits=4)

    def test_wait_for_a_call_made_before(self):
        pending = self.dm('ask', 'Deploy?', '--approve', '--no-wait').stdout.strip()
        asking = self.begin('--wait', pending)
        self.dm('deny', pending)
        self.assertEqual(self.ends(asking, DENIED)[0], 'denied\n')
        self.assertEqual(self.dm('ask', '--wait', pending[:-3], exits=DENIED).stdout, 'denied\n')

    def test_interrupt_leaves_the_question_open(self):
        asking = self.begin('Deploy?', '--approve')
        (call,) = self.open_calls()
        self.waits(asking)
        asking.send_signal(signal.SIGINT)
        _, err = self.ends(asking, INTERRUPTED)
        self.assertIn(f'dormouse ask --wait {call["id"]}', err)
        self.assertEqual(self.open_calls()[0]['status'], 'waiting')

    def test_interrupt_cancels_on_request(self):
        for number, sent in enumerate((signal.SIGINT, signal.SIGTERM)):
            asking = self.begin(f'Deploy {number}?', '--approve', '--cancel-on-exit')
            (call,) = self.open_calls()
            self.waits(asking)
            asking.send_signal(sent)
            self.ends(asking, INTERRUPTED)
            call = self.server.get(f'/api/pending/{call["id"]}')
            self.assertEqual((call['status'], call['cancelReason']),
                             ('cancelled', 'dormouse ask was interrupted'))

    def waits(self, asking):
        """Returns when it has said where to answer: it handles signals then."""
        line = ''
        while '  or:' not in line:
            line = os.read(asking.stderr.fileno(), 4096).decode()
            self.assertNotEqual(line, '')

    def test_no_server_has_its_own_status(self):
        env = environment(DORMOUSE_URL='http://127.0.0.1:9', HOME=self.server.own)
        done = run('ask', 'Deploy?', '--approve', env=env)
        self.assertEqual((done.returncode, done.stdout), (NO_SERVER, ''), done)

    def test_usage_is_named(self):
        for arguments, says in (
            ((), 'give a question'),
            (('Q?', '--wait', 'pnd_x'), '--wait'),
            (('Q?', '--approve', '--choices', 'a'), '--approve'),
            (('Q?', '--argument', 'x'), 'KEY=TEXT'),
            (('Q?', '--argument', 'x:={'), 'not JSON'),
            (('Q?', '--timeout', 'soon'), 'not a time'),
            (('Q?', '--schema', '/nonexistent'), 'cannot read'),
            (('Q?', '--votes', '0'), '--votes'),
            (('Q?', '--by', 'a b'), '/answer/from/0'),
        ):
            with self.subTest(arguments=arguments):
                done = self.dm('ask', *arguments, exits=USAGE)
                self.assertIn(says, done.stderr)
                self.assertEqual(done.stdout, '')


if __name__ == '__main__':
    main()
