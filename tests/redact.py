#!/usr/bin/env python3
"""Redaction: the content of one message or call is gone from every file of the data directory and
every answer, and the session continues."""
import http.server
import json
import pathlib
import tempfile
import threading

from dormouse import Case, Client, Events, Server, main, run, wait_for
from tools_by_config import Service
from webhook_peers import WHSEC, Receiver

SECRET = 'hunter2-7f3a9c'
CONFIG = '''
[server]
webhook_hosts = ["%(host)s"]
[[webhook]]
url = "%(hook)s"
events = ["input_received", "call_paused", "submitted", "turn_ended"]
secret_env = "S_EVENTS"
[[model]]
id = "main"
kind = "openai-chat"
base_url = "http://127.0.0.1:%(model)d/v1"
model = "m"
api_key_env = "MOCK_KEY"
[[agent]]
id = "ops"
model = "main"
tools = ["deploy"]
[[tool]]
name = "deploy"
kind = "http"
url = "%(service)s/job"
'''


class Model(http.server.BaseHTTPRequestHandler):
    """Thinks and calls the tool with the secret of the prompt."""

    def log_message(self, *_):
        pass

    def chunk(self, delta, finish=None):
        choice = {'index': 0, 'delta': delta, 'finish_reason': finish}
        whole = {'id': 'c', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'm'}
        self.wfile.write(f'data: {json.dumps({**whole, "choices": [choice]})}\n\n'.encode())

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        self.server.asked.append(body)
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.end_headers()
        newest = body['messages'][-1]
        if newest['role'] == 'user' and 'deploy' in str(newest['content']):
            call = {'index': 0, 'id': 'c1', 'type': 'function', 'function': {
                'name': 'deploy', 'arguments': json.dumps({'target': SECRET})}}
            self.chunk({'role': 'assistant', 'reasoning_content': f'they said {SECRET}'})
            self.chunk({'content': f'with {SECRET}', 'tool_calls': [call]})
            self.chunk({}, 'tool_calls')
        else:
            self.chunk({'role': 'assistant', 'content': 'done'})
            self.chunk({}, 'stop')
        self.wfile.write(b'data: [DONE]\n\n')


class Redacting(Case):
    arguments = ()

    def redact(self, session, **body):
        return self.server.post(f'/api/sessions/{session}/redactions', body)

    def files_with(self, text, directory=None):
        top = pathlib.Path(directory or self.server.directory)
        return [path.name for path in top.rglob('*')
                if path.is_file() and text.encode() in path.read_bytes()]

    def seqs(self, session):
        return [(e['seq'], e['type'], e['at']) for e in self.server.events(session)]

    def answers(self, session, calls):
        """Everything that the API says about the session."""
        paths = [f'/api/sessions/{session}', f'/api/sessions/{session}/messages',
                 f'/api/sessions/{session}/turns', f'/api/sessions/{session}/events?limit=200',
                 '/api/events?limit=200', '/api/projects/default/sessions', '/api/deliveries',
                 '/api/audit', *(f'/async-tool/pending/{call}' for call in calls),
                 *(f'/api/explain/{call}' for call in calls)]
        return b'\n'.join(self.server.get(path).raw for path in paths)


class Everywhere(Redacting):
    def setUp(self):
        self.receiver = Receiver(lambda _: 503)  # so that deliveries wait
        self.addCleanup(self.receiver.close)
        self.service = Service()
        self.addCleanup(self.service.close)
        self.service.answer = lambda handler, body: handler.say(202, {'externalRef': 'j-1'})
        self.model = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Model)
        self.model.daemon_threads = True
        self.model.asked = []
        threading.Thread(target=self.model.serve_forever, daemon=True).start()
        self.addCleanup(self.model.shutdown)
        text = CONFIG % {'host': self.receiver.host, 'hook': self.receiver.url + '/x',
                         'model': self.model.server_port, 'service': self.service.url}
        self.server = self.configured(text, MOCK_KEY='sk-mock', S_EVENTS=WHSEC)

    def with_secret(self):
        """A session that has the secret in prompt, title, reasoning, arguments and result."""
        session = self.server.create(f'deploy {SECRET}', agent='ops')['id']
        (call,) = self.server.open_calls(session)
        self.assertStatus(self.server.result(call['id'], {'key': SECRET}, title=SECRET), 200)
        self.server.at_rest(session)
        return session, call['id']

    def messages_with(self, session, text):
        return [m['id'] for m in self.server.messages(session) if text in json.dumps(m)]

    def test_content_is_in_no_file_and_no_answer(self):
        session, call = self.with_secret()
        self.server.prompt(session, 'and now?')
        before = self.seqs(session)
        found = self.messages_with(session, SECRET)
        self.assertEqual(len(found), 2)
        for message in found:
            tried = self.assertStatus(self.redact(session, messageID=message, dryRun=True), 200)
            self.assertIsNone(tried['seq'])
            done = self.assertStatus(self.redact(session, messageID=message, reason='leak'), 200)
            self.assertEqual(done['events'], tried['events'])
            self.assertGreater(done['bytes'], 0)
        self.assertNotIn(SECRET.encode(), self.answers(session, [call]))
        self.assertEqual(self.seqs(session)[:len(before)], before)
        if not self.server.store:
            self.assertEqual(self.files_with(SECRET), [])
        self.assertIn('[removed by first on ', self.server.session(session)['title'])
        with Events(self.server, f'/api/sessions/{session}/events?after=0') as stream:
            frames = stream.until(lambda f: f.event == 'redacted')
        self.assertNotIn(SECRET, repr([f.data for f in frames]))
        self.continues(session)
        self.copies_are_clean(session)

    def continues(self, session):
        for _ in range(2):
            self.assertStatus(self.server.prompt(session, 'continue'), 200)
            self.assertEqual(self.server.said(session), 'done')
            self.assertNotIn(SECRET, json.dumps(self.model.asked[-1]))
            self.server.restart()
        self.server.finish()
        self.server.start()

    def copies_are_clean(self, session):
        store = ['--store', self.server.store] if self.server.store else [
            '--data', self.server.directory]
        exported = run('export', session, *store)
        self.assertEqual(exported.returncode, 0, exported.stderr)
        self.assertNotIn(SECRET, exported.stdout)
        self.assertIn('[removed by first', exported.stdout)
        if self.server.store:
            return
        with tempfile.TemporaryDirectory() as folder:
            made = run('backup', folder + '/b', '--data', self.server.directory)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertEqual(self.files_with(SECRET, folder), [])
            (pathlib.Path(folder) / 'lines').write_text(exported.stdout)
            into = run('import', folder + '/lines', '--data', folder + '/copy')
            self.assertEqual(into.returncode, 0, into.stderr)

    def test_call_loses_arguments_and_outcome_only(self):
        session, call = self.with_secret()
        done = self.assertStatus(self.redact(session, pendingID=call), 200)
        self.assertEqual((done['callID'], done['messageID']), ('call_1', None))
        shown = self.server.get(f'/async-tool/pending/{call}')
        self.assertNotIn(SECRET.encode(), shown.raw)
        self.assertEqual(shown['status'], 'completed')
        self.assertEqual(self.redact(session, callID='call_1').json, {**done.json})
        self.assertEqual(len(self.messages_with(session, SECRET)), 2, 'the texts stay')
        self.assertStatus(self.server.result(call, {'key': SECRET}, title=SECRET), 200)


class Refused(Redacting):
    def test_each_request_that_cannot_be_done_says_why(self):
        session = self.server.create('deploy A within 1h')['id']
        other = self.server.create('hi')['id']
        first = self.server.messages(session)[0]['id']
        foreign = self.server.messages(other)[0]['id']
        self.assertProblem(self.redact(session, messageID=first), 409, 'session_busy')
        self.assertProblem(self.redact(session, callID='call_1'), 409, 'session_busy')
        self.assertProblem(self.redact(session, messageID=foreign), 400, 'bad_value')
        self.assertProblem(self.redact(session), 400, 'bad_value')
        self.assertProblem(self.redact(session, messageID=first, callID='call_1'), 400, 'bad_value')
        self.assertProblem(self.redact(session, callID='7'), 400, 'bad_value')
        missing = foreign.rsplit('_', 1)[0] + '_999'
        self.assertProblem(self.redact(other, messageID=missing), 404, 'not_found')
        self.assertProblem(self.redact(other, callID='call_7'), 404, 'not_found')
        self.assertStatus(self.server.delete(f'/api/sessions/{other}'), 204)
        self.assertIn(self.redact(other, messageID=foreign).status, (404, 410))

    def test_reader_may_not_redact(self):
        session = self.server.create('hi')['id']
        made = self.server.post('/api/tokens', {'name': 'bob', 'role': 'read'})
        client = Client(self.server.port, made['secret'])
        self.addCleanup(client.close)
        message = self.server.messages(session)[0]['id']
        path = f'/api/sessions/{session}/redactions'
        self.assertEqual(client.post(path, {'messageID': message}).status, 403)


class CommandLine(Redacting):
    def redact_by_command(self, *arguments):
        where = ['--server', f'http://127.0.0.1:{self.server.port}', '--data',
                 self.server.directory]
        return run('redact', *arguments, *where)

    def test_command_tries_asks_and_removes(self):
        session = self.server.create(f'the key is {SECRET}')['id']
        message = self.server.messages(session)[0]['id']
        tried = self.redact_by_command(session, message, '--dry-run')
        self.assertEqual(tried.returncode, 0, tried.stderr)
        self.assertIn('would be removed: 1 event', tried.stdout)
        asked = self.redact_by_command(session, message)
        self.assertEqual(asked.returncode, 2)
        self.assertIn('--yes', asked.stderr)
        done = self.redact_by_command(session, message, '--yes', '--reason', 'a key')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('removed: 1 event', done.stdout)
        (audited,) = self.server.items('/api/audit?type=redacted')
        self.assertEqual(audited['line']['messageID'], message)
        self.assertEqual(audited['line']['reason'], 'a key')


class Crashes(Redacting):
    """The process is killed at any moment of a redaction: all of it is done, or nothing."""

    def test_killed_redaction_is_done_wholly_or_not_at_all(self):
        for n in range(4):
            session = self.server.create(f'the key is {SECRET}-{n}')['id']
            message, echo = [m['id'] for m in self.server.messages(session)]
            path = f'/api/sessions/{session}/redactions'
            thread = threading.Thread(target=self.try_one, args=(path, message))
            thread.start()
            self.server.kill(after=n * 0.004)
            thread.join()
            self.server.start()
            again = self.assertStatus(self.redact(session, messageID=message), 200)
            self.assertEqual(again['events'], 1)
            kinds = [e['type'] for e in self.server.events(session)]
            self.assertEqual(kinds.count('redacted'), 1)
            self.assertStatus(self.redact(session, messageID=echo), 200)
            if not self.server.store:
                self.assertEqual(self.files_with(f'{SECRET}-{n}'), [])

    def try_one(self, path, message):
        client = Client(self.server.port, self.server.token)
        try:
            client.post(path, {'messageID': message})
        except OSError:
            pass
        except Exception:  # the answer was cut off
            pass
        finally:
            client.close()


class Index(Redacting):
    arguments = ('--store', 'sqlite', '--index', 'files')

    def test_documents_of_the_session_are_written_again(self):
        session = self.server.create(f'deploy {SECRET}')['id']
        (call,) = self.server.open_calls(session)
        self.assertStatus(self.server.result(call['id'], SECRET), 200)
        self.server.at_rest(session)
        wait_for(lambda: self.files_with(SECRET, self.storage()), what='the documents')
        for message in [m['id'] for m in self.server.messages(session)]:
            self.assertStatus(self.redact(session, messageID=message), 200)
        wait_for(lambda: not self.files_with(SECRET), what='documents without it')

    def storage(self):
        return self.server.directory + '/storage'


if __name__ == '__main__':
    main()
