#!/usr/bin/env python3
"""Programs that check results before they are accepted ([tool.validator]): results by every route,
what each exit status means, how many run at once, and that no loop waits for them."""
import collections
import fcntl
import http.client
import json
import threading

from dormouse import Alone, Client, main, run, wait_for
from tools_by_config import HELD, Tools, call_back, eventually
from webhook_peers import WHSEC, standard

# Logs each request, and does what the output says.
CHECK = '''
import fcntl, json, os, signal, sys
what = json.load(sys.stdin)
with open(os.path.join(os.path.dirname(sys.argv[0]), 'requests'), 'a') as log:
    log.write(json.dumps([what, dict(os.environ)]) + '\\n')
output = what['output']
if output == 'dead':
    print('status must be live')
    print('and more')
    sys.exit(1)
if output == 'stumble':
    raise RuntimeError('s3cret-of-a-stumble')
if output == 'odd':
    sys.stderr.write('s3cret-of-an-oddity')
    sys.exit(3)
if output == 'killed':
    os.kill(os.getpid(), 9)
if output == 'hang':
    signal.pause()
if isinstance(output, str) and output.startswith('slow'):
    with open(os.path.join(os.path.dirname(sys.argv[0]), 'lock')) as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)  # until the test removes its own
'''
SOURCE = '''
[[source]]
id = "ci"
kind = "standard"
secrets_env = ["S_CI"]
'''


class Validated(Tools):
    def setUp(self):
        super().setUp()
        # What checks 'slow' waits until this is closed.
        self.lock = (self.folder / 'lock').open('w')
        self.addCleanup(self.lock.close)
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def checked(self, more=''):
        path = self.folder / 'check.py'
        path.write_text('#!/usr/bin/env python3\n' + CHECK)
        path.chmod(0o755)
        return f'[tool.validator]\ncommand = ["./check.py"]\n{more}\n'

    def later(self, more='', tool=''):
        """A tool whose results come from outside; its callback URL is in the folder."""
        text = f'cat >/dev/null; echo "$DORMOUSE_CALLBACK_URL" > {self.folder}/url; exit 75\n'
        return self.command(text, more=tool) + self.checked(more)

    def requests(self):
        path = self.folder / 'requests'
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def url(self):
        return (self.folder / 'url').read_text().strip()

    def assertRefused(self, status, problem):
        self.assertEqual((status, problem['code']), (422, 'invalid_result'), problem)
        (error,) = problem['errors']
        self.assertEqual(error, {'pointer': '', 'message': 'status must be live\nand more'})

    def counted(self):
        """Returns what all servers have counted."""
        out = collections.Counter()
        for _ in self.server.urls():
            for line in self.server.get('/metrics').raw.decode().splitlines():
                if line.startswith('dormouse_validations_total{'):
                    name, value = line.split('} ')
                    out[name.split('"')[1]] += int(float(value))
        return dict(out)


class Doors(Validated):
    def test_invalid_result_is_refused_valid_one_taken_once(self):
        self.serve(self.later('env_allow = ["SHOWN"]'), SHOWN='yes', HIDDEN='no')
        call = self.waiting()
        refused = self.server.result(call['id'], 'dead')
        self.assertRefused(refused.status, refused.json)
        self.assertEqual(len(self.server.open_calls(self.session)), 1)
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.ends_with('deploy A: live')
        (what, environment), _ = self.requests()
        self.assertEqual(
            what,
            {
                'tool': 'deploy',
                'pendingID': call['id'],
                'sessionID': self.session,
                'callID': call['callID'],
                'arguments': call['input'],
                'output': 'dead',
            },
        )
        self.assertEqual((environment['SHOWN'], environment['DORMOUSE_TOOL']), ('yes', 'deploy'))
        self.assertNotIn('HIDDEN', environment)
        self.assertNotIn('DORMOUSE_TOKEN', environment)
        # A settled call is answered by its receipt.
        again = self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.assertTrue(again['duplicate'])
        self.assertProblem(self.server.result(call['id'], 'dead'), 409, 'conflict')
        self.assertEqual(len(self.requests()), 2)
        self.assertEqual(self.counted(), {'fits': 1, 'misfit': 1, 'failed': 0, 'refused': 0})
        self.assertNotIn('status must be live', self.server.log.read_text())

    def test_many_at_once(self):
        self.serve(self.later())
        calls = [self.waiting()['id'] for _ in range(4)]
        outputs = ['live', 'dead', 'odd']
        body = {
            'items': [
                {'pendingID': pending, 'result': {'output': output}}
                for pending, output in zip(calls, outputs)
            ]
            + [{'pendingID': calls[3], 'error': 'no room'}]
        }
        items = self.assertStatus(self.server.post('/async-tool/results', body), 200)['items']
        self.assertEqual([one['status'] for one in items], [200, 422, 503, 200])
        self.assertEqual(items[2]['problem']['code'], 'validator_unavailable')
        self.assertEqual(len(self.requests()), 3, 'an error is no result')

    def test_callback_url(self):
        self.serve(self.later())
        self.waiting()
        self.assertRefused(*call_back(self.url(), {'result': {'output': 'dead'}}))
        status, problem = call_back(self.url(), {'result': {'output': 'odd'}})
        self.assertEqual((status, problem['code']), (503, 'validator_unavailable'))
        self.assertEqual(call_back(self.url(), {'result': {'output': 'live'}})[0], 200)
        self.ends_with('deploy A: live')

    def test_signed_webhook(self):
        self.serve(SOURCE + self.later(), S_CI=WHSEC)
        pending = self.waiting()['id']

        def send(output, id):
            raw = json.dumps({'pendingID': pending, 'result': {'output': output}}).encode()
            client = Client(self.server.port, '')
            self.addCleanup(client.close)
            headers = standard(WHSEC, raw, id=id)
            return client.call('POST', '/async-tool/webhook/ci', raw=raw, headers=headers)

        refused = send('dead', 'd1')
        self.assertRefused(refused.status, refused.json)
        self.assertProblem(send('odd', 'd2'), 503, 'validator_unavailable')
        self.assertStatus(send('live', 'd3'), 200)
        self.ends_with('deploy A: live')
        self.assertEqual(len(self.requests()), 3)
        self.assertStatus(send('live', 'd3'), 200)
        self.assertEqual(len(self.requests()), 3, 'a delivery that comes twice')

    def test_command_line(self):
        self.serve(self.later())
        pending = self.waiting()['id']
        url = f'http://127.0.0.1:{self.server.port}'

        def result(output):
            environment = {'DORMOUSE_TOKEN': self.server.token}
            return run('--server', url, 'result', pending, output, env=environment)

        refused = result('dead')
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn('status must be live', refused.stderr)
        self.assertEqual(result('live').returncode, 0)
        self.ends_with('deploy A: live')

    def test_answer_for_a_call_in_doubt_is_validated(self):
        self.serve(self.command(HELD, more='crash = "ask"\ntime_limit = "60s"') + self.checked())
        self.session = self.server.create('deploy A', agent='ops', wait=0)['id']
        eventually(lambda: 'tool_started' in self.types(), 'it runs')
        self.server.restart()

        def questions():
            calls = self.server.open_calls(self.session)
            return [call for call in calls if call['reason'] == 'elicitation']

        (call,) = eventually(questions, 'the question')

        def say(output):
            content = {'action': 'succeeded', 'output': output}
            return self.server.decide(call, True, content=content)

        refused = say('dead')
        self.assertRefused(refused.status, refused.json)
        self.assertProblem(say('odd'), 503, 'validator_unavailable')
        self.assertStatus(say('live'), 200)
        self.ends_with('deploy A: live')

    def test_poll(self):
        answers = ['odd', 'live']

        def answer(handler, body):
            if handler.command == 'POST':
                return handler.say(202, {'externalRef': 'run-1'})
            return handler.say(200, {'done': True, 'result': answers.pop(0)})

        self.service.answer = answer
        url = self.service.url + '/jobs/{call.externalRef}'
        poll = f'poll = {{ url = "{url}", every = "1s", done = "/done", output = "/result" }}'
        self.serve(self.http(poll) + self.checked())
        self.waiting()
        eventually(lambda: not self.server.open_calls(self.session), 'the result')
        self.ends_with('deploy A: live')
        (polled,) = [e for e in self.server.events(self.session) if e['type'] == 'polled']
        self.assertIn('could not be checked', polled['data']['error'])
        self.assertEqual([what['output'] for what, _ in self.requests()], ['odd', 'live'])

    def test_immediate_result_of_a_tool(self):
        self.serve(self.command('cat >/dev/null; cat "$(dirname "$0")/gives"\n') + self.checked())
        (self.folder / 'gives').write_text('dead')
        self.assertIn('refused its output: status must be live', self.say())
        (self.folder / 'gives').write_text('live')
        self.assertEqual(self.say(), 'deploy A: live')


class Failures(Validated):
    kind = Alone  # whose log is read

    def test_failed_validation_is_retryable(self):
        self.serve(self.later('time_limit = "2s"'))
        call = self.waiting()
        ends = {
            'odd': 'it ended with exit status 3',
            'stumble': 'it ended with exit status 1 and wrote only to standard error',
            'killed': 'it was ended by signal 9',
            'hang': 'it took longer than its time limit of 2 s',
        }
        for output, why in ends.items():
            answer = self.server.result(call['id'], output)
            problem = self.assertProblem(answer, 503, 'validator_unavailable', next='retry')
            self.assertIn(why, problem['detail'])
            self.assertEqual(answer.headers['Retry-After'], '5')
        (self.folder / 'check.py').unlink()
        answer = self.server.result(call['id'], 'live')
        problem = self.assertProblem(answer, 503, 'validator_unavailable')
        self.assertIn('it cannot be started', problem['detail'])
        self.assertNotIn(str(self.folder), json.dumps(problem))
        self.checked()
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.ends_with('deploy A: live')
        log = self.server.log.read_text()
        for why in ends.values():
            self.assertIn(why, log)
        self.assertEqual(log.count('a validator failed'), 5)
        self.assertNotIn('s3cret', log, 'nothing that it wrote')
        self.assertEqual(self.counted(), {'fits': 1, 'misfit': 0, 'failed': 5, 'refused': 0})

    def test_configuration_is_checked(self):
        path = self.configure(self.later())
        check = run('config', 'check', str(path))
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        (self.folder / 'check.py').unlink()
        check = run('config', 'check', str(path))
        self.assertNotEqual(check.returncode, 0)
        self.assertIn('validator of [[tool]]', check.stdout + check.stderr)
        self.assertIn('names no program that can be run', check.stdout + check.stderr)


class Crowds(Validated):
    kind = Alone  # each server has its queue

    def offer(self, pending, output, answers):
        client = self.server.new_client()
        body = {'pendingID': pending, 'result': {'output': output}}
        answers.append(client.post('/async-tool/result', body))
        client.close()

    def offer_many(self, outputs):
        """Submits results for several calls at once; returns the threads, and the answers as they
        come."""
        answers = []
        threads = [
            threading.Thread(target=self.offer, args=(self.waiting()['id'], output, answers))
            for output in outputs
        ]
        for thread in threads:
            thread.start()
        return threads, answers

    def test_validators_over_the_queue_limit_are_retryable(self):
        self.serve(
            self.later('time_limit = "20s"'),
            '[limits]\nvalidators_at_once = 2\nvalidators_waiting = 3\n',
        )
        threads, answers = self.offer_many(['slow'] * 7)
        wait_for(lambda: len(answers) == 2, what='two find no room')
        for answer in answers:
            self.assertProblem(answer, 503, 'overloaded', next='retry')
            self.assertIn('Retry-After', answer.headers)
        self.assertLessEqual(len(self.requests()), 2)
        self.assertStatus(self.server.get('/healthz'), 200)
        other = self.server.create('hi', agent='ops')['id']
        self.server.at_rest(other)
        self.assertEqual(len(answers), 2, 'nobody else waits for them')
        self.lock.close()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(answer.status for answer in answers), [200] * 5 + [503] * 2)
        self.assertEqual(self.counted()['refused'], 2)

    def test_two_concurrent_validations_have_one_winner(self):
        self.serve(self.later('time_limit = "20s"'))
        pending, answers = self.waiting()['id'], []
        threads = [
            threading.Thread(target=self.offer, args=(pending, output, answers))
            for output in ('slow a', 'slow b')
        ]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(self.requests()) == 2, what='both are checked')
        self.lock.close()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(answer.status for answer in answers), [200, 409])

    def test_kill_during_validation_applies_nothing_repeat_does(self):
        self.serve(self.later('time_limit = "20s"'))
        pending = self.waiting()['id']
        sender = threading.Thread(target=self.sends_into_a_kill, args=(pending,))
        sender.start()
        wait_for(lambda: self.requests(), what='it is checked')
        self.server.kill()
        sender.join()
        self.server.start()
        self.assertEqual(len(self.server.open_calls(self.session)), 1)
        self.assertStatus(self.server.result(pending, 'live'), 200)
        self.ends_with('deploy A: live')

    def sends_into_a_kill(self, pending):
        try:
            self.offer(pending, 'slow', [])
        except (OSError, http.client.HTTPException):
            pass  # cut off


if __name__ == '__main__':
    main()
