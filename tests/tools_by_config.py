#!/usr/bin/env python3
"""Tools and gates from the configuration (docs/how-to): all kinds of programs and web services,
results by callback URL, a SIGKILL while the service works."""
import email.utils
import http.client
import http.server
import json
import pathlib
import re
import tempfile
import threading
import urllib.parse

from dormouse import Case, main, wait_for

SCRIPTED_AGENT = '''
[[model]]
id = "main"
kind = "scripted"
[[agent]]
id = "ops"
model = "main"
tools = [%s]
'''
AGENT = '''
[server]
demo = false
''' + SCRIPTED_AGENT
DEPLOYS = SCRIPTED_AGENT % '"deploy"'  # agent ops, whose tool the test configures
PATIENCE_S = 30


def eventually(is_so, what):
    return wait_for(is_so, PATIENCE_S, what)


# A program that runs until a test says so by a file, or its folder is deleted with the test.
HELD = 'echo > "$0.begun"; while [ -e "$0" ] && [ ! -e "$0.go" ]; do sleep 0.1; done'


class Service:
    """A web service whose answers the test chooses: a function of the request, on a thread."""

    def __init__(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
                outer.requests.append((self.path, dict(self.headers), body))
                outer.answer(self, body)

            do_GET = do_POST

            def say(self, status, body=b'', **headers):
                body = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {'Content-Type': 'application/json', **headers}.items():
                    self.send_header(name.replace('_', '-'), value)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.requests = []
        self.answer = lambda handler, body: handler.say(200, {'output': 'ok'})
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def call_back(url, body, headers=None):
    """Calls back like a job that knows only its URL."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    send = {'Content-Type': 'application/json', **(headers or {})}
    connection.request('GET' if body is None else 'POST', parts.path,
                       None if body is None else json.dumps(body), send)
    reply = connection.getresponse()
    raw = reply.read()
    connection.close()
    return reply.status, json.loads(raw)


class Tools(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='dormouse-tools-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.service = Service()
        self.addCleanup(self.service.close)

    def tearDown(self):
        if getattr(self, 'server', None):
            super().tearDown()

    def configure(self, tools, agent=''):
        names = re.findall(r'^name = ("[^"]*")', tools, re.M)
        path = self.folder / 'dormouse.toml'
        path.write_text(AGENT % ', '.join(names) + agent + tools)
        return path

    def serve(self, tools, agent='', **env):
        self.server = self.new_server('--config', str(self.configure(tools, agent)), env=env)
        self.addCleanup(self.server.clean)
        return self.server

    def script(self, text, name='tool.sh'):
        path = self.folder / name
        path.write_text('#!/bin/sh\n' + text)
        path.chmod(0o755)
        return path

    def command(self, text, tool='deploy', more=''):
        path = self.script(text, f'{tool}.sh')
        return f'[[tool]]\nname = "{tool}"\nkind = "command"\ncommand = ["{path}"]\n{more}\n'

    def http(self, more='', path='/deploy'):
        url = self.service.url + path
        return f'[[tool]]\nname = "deploy"\nkind = "http"\nurl = "{url}"\n{more}\n'

    def artifact(self):
        """Returns the artifact of the newest call of self.session."""
        parts = [p for m in self.server.messages(self.session) for p in m['parts']]
        state = [p['state'] for p in parts if p['type'] == 'tool'][-1]
        return self.server.get(f'/api/artifacts/{state["artifactID"]}').raw

    def say(self, text='deploy A'):
        """Returns the agent's last text; stores the session in self.session."""
        self.session = self.server.create(text, agent='ops')['id']
        return self.server.last_text(self.session)

    def asks_again_after(self, seconds):
        """The service is called a second time after that many seconds, and not before."""
        self.session = self.server.create('deploy A', agent='ops', wait=0)['id']
        eventually(
            lambda: [e for e in self.server.events(self.session) if e['type'] == 'tool_failed'],
            'the first answer',
        )
        self.server.advance(seconds)
        self.assertEqual(len(self.service.requests), 1)
        self.server.advance(10)
        self.ends_with('deploy A: well')

    def waiting(self, text='deploy A'):
        self.session = self.server.create(text, agent='ops')['id']
        (call,) = self.server.open_calls(self.session)
        return call

    def types(self):
        return [event['type'] for event in self.server.events(self.session)]

    def ends_with(self, text):
        self.server.at_rest(self.session)
        self.assertEqual(self.server.last_text(self.session), text)


class Programs(Tools):
    def test_output_errors_and_the_environment_of_a_script(self):
        self.serve(self.command('echo "$DORMOUSE_ATTEMPT $(cat) ${SECRET-none} $OPEN"',
                                more='env_allow = ["OPEN"]'), SECRET='s', OPEN='o')
        self.assertEqual(self.say(), 'deploy A: 1 {"target":"A"} none o')

    def test_exit_status_is_reported_with_the_end_of_stderr(self):
        self.serve(self.command('echo no such target >&2; exit 3'))
        self.assertEqual(self.say(), 'deploy A failed: exit status 3: no such target')

    def test_long_output_is_whole_beyond_8_mib_an_error(self):
        self.serve(self.command('yes line | head -c 2000000'))
        self.assertIn('"truncated":true', self.say())
        self.assertEqual(self.artifact() + b'\n', b'line\n' * 400_000)
        self.script('head -c 9000000 /dev/zero | tr "\\0" x', 'deploy.sh')
        self.assertIn('exceeded its output limit of 8 MiB', self.say())

    def test_background_job_calls_back(self):
        self.serve(self.command(
            'echo "$DORMOUSE_CALLBACK_URL" > "$0.url"\n'
            'echo \'{"pending": {"externalRef": "job-1", '
            '"placeholder": {"status": "queued"}}}\' >&3\n'
        ))
        call = self.waiting()
        self.assertEqual(call['externalRef'], 'job-1')
        url = (self.folder / 'deploy.sh.url').read_text().strip()
        self.assertEqual(call_back(url, None)[1]['status'], 'waiting')
        status, answer = call_back(url, {'result': {'output': 'live'}})
        self.assertEqual((status, answer['outcome']), (200, 'applied'))
        self.ends_with('deploy A: live')
        self.assertEqual(set(answer['receipt']), {'status', 'digest', 'at'})
        again = call_back(url, {'result': {'output': 'live'}})
        self.assertEqual((again[0], again[1]['duplicate']), (200, True))
        other = call_back(url, {'error': 'no'})
        self.assertEqual((other[0], other[1]['code']), (409, 'conflict'))
        self.assertNotIn(url.rsplit('/', 1)[1], self.server.tail() + json.dumps(other[1]))
        self.assertEqual(call_back(url + 'x', {'error': 'no'})[0], 404)

    def test_callback_that_comes_before_the_script_ends_wins(self):
        self.serve(self.command(
            'curl -sS -H content-type:application/json -d \'{"result":{"output":"early"}}\' '
            '"$DORMOUSE_CALLBACK_URL" > "$0.out" 2>&1; exit 75'))
        self.assertEqual(self.say(), 'deploy A: early')

    def test_capability_as_a_token_is_for_its_own_call_alone(self):
        self.serve(self.command('echo "$DORMOUSE_CALLBACK_URL" > "$0.url"; exit 75'))
        call = self.waiting()
        token = (self.folder / 'deploy.sh.url').read_text().strip().rsplit('/', 1)[1]
        bearer = {'Authorization': f'Bearer {token}'}
        refused = self.server.call('GET', '/api/sessions/' + self.session, headers=bearer)
        self.assertProblem(refused, 403, 'forbidden')
        self.assertStatus(self.server.call('POST', '/async-tool/result', {'result': {'output': 1}},
                                           headers=bearer), 200)
        self.ends_with('deploy A: 1')
        self.assertEqual(self.server.get('/async-tool/pending/' + call['id'])['receipt']['by']
                         ['type'], 'capability')

    def test_key_of_callback_urls_outlives_a_kill(self):
        self.serve(self.command('echo "$DORMOUSE_CALLBACK_URL" > "$0.url"; exit 75'))
        self.waiting()
        self.assertEqual(
            (pathlib.Path(self.server.directory) / 'callback.key').stat().st_mode & 0o777, 0o600)
        self.server.restart()
        url = (self.folder / 'deploy.sh.url').read_text().strip()
        self.assertEqual(call_back(url, {'result': {'output': 'still'}})[0], 200)
        self.ends_with('deploy A: still')

    def test_hang_follows_its_crash_policy(self):
        self.serve(self.command('sleep 1000', more='time_limit = "1s"\ncrash = "never"'))
        call = self.waiting()
        self.assertTrue(call['inDoubt'])
        self.assertStatus(self.server.result(call['id'], 'it ran after all'), 200)
        self.ends_with('deploy A: it ran after all')

    def test_tool_without_later_cannot_pend(self):
        self.serve(self.command('exit 75', more='later = "never"'))
        self.assertIn('failed: the program reports that its result comes later', self.say())

    def test_flood_is_ended(self):
        self.serve(self.command('yes'))
        self.assertIn('exceeded its output limit', self.say())

    def test_grandchild_that_holds_the_pipe_does_not_hold_the_call(self):
        self.serve(self.command('sleep 1000 & echo $! > "$0.pid"; echo done'))
        self.assertEqual(self.say(), 'deploy A: done')
        pid = int((self.folder / 'deploy.sh.pid').read_text())

        def gone():
            try:
                state = pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[0]
                return state == 'Z'
            except (FileNotFoundError, ProcessLookupError):
                return True

        eventually(gone, 'the grandchild is ended')

    def test_program_killed_by_a_signal_runs_again_same_key(self):
        self.serve(self.command(
            'echo "$DORMOUSE_IDEMPOTENCY_KEY" >> "$0.keys"\n'
            '[ "$DORMOUSE_ATTEMPT" = 1 ] && kill -9 $$\n'
            'echo attempt $DORMOUSE_ATTEMPT', more='crash = "retry"'))
        self.assertEqual(self.say(), 'deploy A: attempt 2')
        keys = (self.folder / 'deploy.sh.keys').read_text().split()
        self.assertEqual((len(keys), len(set(keys))), (2, 1))

    def test_policy_ask_asks_a_person(self):
        self.serve(self.command('kill -9 $$', more='crash = "ask"'))
        self.session = self.server.create('deploy A', agent='ops')['id']
        calls = self.server.open_calls(self.session)
        question = [call for call in calls if call['reason'] == 'elicitation'][0]
        self.assertIn('signal 9', question['message'])
        answer = self.server.decide(question, True,
                                    content={'action': 'succeeded', 'output': 'it went well'})
        self.assertStatus(answer, 200)
        self.ends_with('deploy A: it went well')


class Services(Tools):
    def test_service_gets_its_request_and_gives_a_result(self):
        self.service.answer = lambda handler, body: handler.say(
            200, {'title': 'T', 'output': json.loads(body)['input'], 'metadata': {'n': 1}})
        self.serve(self.http('headers = { Authorization = { env = "TOK", prefix = "Bearer " } }'),
                   TOK='s3cret')
        self.assertEqual(self.say(), 'deploy A: {"target":"A"}')
        ((_, headers, body),) = self.service.requests
        sent = json.loads(body)
        self.assertEqual(headers['Authorization'], 'Bearer s3cret')
        self.assertEqual(headers['Idempotency-Key'], sent['pendingID'])
        self.assertEqual(set(sent), {'pendingID', 'sessionID', 'callID', 'tool', 'input', 'attempt',
                                     'callbackURL', 'deadline'})
        self.assertNotIn('s3cret', json.dumps(self.server.events(self.session)))
        self.assertNotIn('s3cret', self.server.tail())

    def test_sigkill_during_the_service_result_by_callback(self):
        begun = threading.Event()
        go_on = threading.Event()

        def answer(handler, body):
            begun.set()
            go_on.wait(PATIENCE_S)
            try:
                handler.say(202, {'externalRef': 'late'})
            except OSError:
                pass  # the client is gone

        self.service.answer = answer
        self.serve(self.http('crash = "never"'))
        self.session = self.server.create('deploy A', agent='ops', wait=0)['id']
        self.assertTrue(begun.wait(PATIENCE_S))
        self.server.kill()
        go_on.set()
        self.server.start()
        (call,) = eventually(lambda: self.server.open_calls(self.session), 'the call in doubt')
        self.assertTrue(call['inDoubt'])
        url = json.loads(self.service.requests[0][2])['callbackURL']
        self.assertEqual(call_back(url, {'result': {'output': 'it was done'}})[0], 200)
        self.ends_with('deploy A: it was done')
        self.assertEqual(len(self.service.requests), 1, 'never means never')

    def test_retry_tool_waits_as_long_as_a_503_asks_for(self):
        def answer(handler, body):
            if json.loads(body)['attempt'] == 1:
                handler.say(503, b'busy', Retry_After='30')
            else:
                handler.say(200, 'well')

        self.service.answer = answer
        self.serve(self.http('crash = "retry"'))
        self.asks_again_after(29)
        keys = {headers['Idempotency-Key'] for _, headers, _ in self.service.requests}
        self.assertEqual((len(self.service.requests), len(keys)), (2, 1))

    def test_later_and_the_schema_of_the_result(self):
        (self.folder / 'out.json').write_text('{"type":"object","required":["url"]}')
        self.service.answer = lambda handler, body: handler.say(204)
        self.serve(self.http('later = "2xx"\nresult_schema_file = "out.json"'))
        call = self.waiting()
        refused = self.server.result(call['id'], {'status': 'ok'})
        self.assertProblem(refused, 422, 'invalid_result')
        self.assertTrue(refused['errors'])
        self.assertStatus(self.server.result(call['id'], {'url': 'u'}), 200)
        self.ends_with('deploy A: {"url":"u"}')

    def test_retry_after_may_be_a_date(self):
        def answer(handler, body):
            if json.loads(body)['attempt'] == 1:
                at = email.utils.formatdate(self.server.time() + 30, usegmt=True)
                handler.say(503, b'busy', Retry_After=at)
            else:
                handler.say(200, 'well')

        self.service.answer = answer
        self.serve(self.http('crash = "retry"'))
        self.asks_again_after(25)

    def test_body_and_url_templates_fit_another_service(self):
        self.service.answer = lambda handler, body: handler.say(200, json.loads(body))
        self.serve(self.http(
            "body = '{\"ref\": {\"$input\": \"/target\"}, \"id\": {\"$call\": \"callID\"}}'",
            path='/r/{input.target}/go?x={input.target}'))
        self.assertEqual(self.say('deploy a.b-c'), 'deploy a.b-c: {"ref":"a.b-c","id":"call_1"}')
        self.assertEqual(self.service.requests[0][0], '/r/a.b-c/go?x=a.b-c')

    def test_service_errors_are_reported(self):
        self.service.answer = lambda handler, body: handler.say(404, b'no such ref')
        self.serve(self.http())
        self.assertEqual(self.say(), 'deploy A failed: the service answered 404: no such ref')

    def test_redirects_are_not_followed(self):
        self.service.answer = lambda handler, body: handler.say(
            302, Location=self.service.url + '/elsewhere')
        self.serve(self.http())
        self.assertIn('redirect', self.say())
        self.assertEqual(len(self.service.requests), 1)

    def test_wrong_content_type(self):
        self.service.answer = lambda handler, body: handler.say(200, b'<html>')
        self.serve(self.http())
        self.assertIn('body that is not JSON', self.say())

    def test_long_answer_is_kept_whole(self):
        lines = 'line\n' * 400_000
        self.service.answer = lambda handler, body: handler.say(200, {'output': lines})
        self.serve(self.http())
        self.assertIn('"truncated":true', self.say())
        self.assertEqual(self.artifact(), lines.encode())

    def test_flood(self):
        def answer(handler, body):
            handler.send_response(200)
            handler.send_header('Content-Length', str(1 << 30))
            handler.end_headers()
            try:
                while True:
                    handler.wfile.write(b'x' * 65536)
            except OSError:
                handler.close_connection = True

        self.service.answer = answer
        self.serve(self.http())
        self.assertIn('more than 8 MiB', self.say())

    def test_connection_closed_early_is_unknown(self):
        def answer(handler, body):
            handler.connection.close()
            handler.close_connection = True

        self.service.answer = answer
        self.serve(self.http('crash = "never"\nlater = "never"'))
        self.assertIn('failed: outcome unknown: the service gave no answer', self.say())

    def test_late_answer_is_ignored_and_the_call_unknown(self):
        def answer(handler, body):
            handler.rfile.read(1)  # until the server has given up
            try:
                handler.say(200, 'late')
            except OSError:
                pass

        self.service.answer = answer
        self.serve(self.http('crash = "never"\nlater = "never"\ntime_limit = "1s"'))
        self.assertIn('failed: outcome unknown', self.say())


if __name__ == '__main__':
    main()
