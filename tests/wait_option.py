#!/usr/bin/env python3
"""`--wait[=TIME]` of prompt, result, error, approve, deny, retry and resume: follows the turn until
it ends, also through sleeps, or until the time is over."""
import contextlib
import http.client
import http.server
import re
import subprocess
import threading

from cli import CONFLICT, DONE, INTERRUPTED, SLEEPS, USAGE, Cli
from doctor import failed_session
from dormouse import BINARY, environment, main, run, wait_for


class Recorder:
    """Passes requests on to a server, and notes their paths. The session is read when it is at
    rest."""

    def __init__(self, server):
        self.paths = []
        recorder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def pass_on(self):
                recorder.paths.append(self.path)
                size = int(self.headers.get('Content-Length') or 0)
                body = self.rfile.read(size) if size else None
                if re.fullmatch('/api/sessions/[^/?]+', self.path):
                    server.at_rest(self.path.rsplit('/', 1)[1])
                upstream = http.client.HTTPConnection('127.0.0.1', server.port, timeout=60)
                with contextlib.closing(upstream):
                    headers = {k: v for k, v in self.headers.items() if k.lower() != 'host'}
                    upstream.request(self.command, self.path, body, headers)
                    answer = upstream.getresponse()
                    self.send_response(answer.status)
                    self.send_header('Content-Type', answer.headers['Content-Type'])
                    self.end_headers()
                    while piece := answer.read1():
                        self.wfile.write(piece)
                        self.wfile.flush()

            do_GET = do_POST = pass_on

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.http.server_port}'
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()


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

    def test_turn_that_has_ended_needs_no_readyz(self):
        recorder = Recorder(self.server)
        self.addCleanup(recorder.close)
        done = run('prompt', 'hello', '--server', recorder.url,
                   env={'DORMOUSE_TOKEN': self.server.token})
        self.assertEqual(done.returncode, DONE, done)
        self.assertIn('You said: hello', done.stdout)
        self.assertNotIn('/readyz', recorder.paths)
        self.assertIn('/api/sessions/', ' '.join(recorder.paths))

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
