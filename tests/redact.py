#!/usr/bin/env python3
"""Redaction: the content of one message or call is gone from every file of the data directory and
every answer, and the session continues."""
import http.server
import json
import pathlib
import tempfile
import threading

from acp import Programs
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
        self.server.requests.append(body)
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
        self.model.requests = []
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

    def streamed(self, path, until):
        with Events(self.server, path) as stream:
            return repr([f.data for f in stream.until(lambda f: f.event == until)])

    def test_content_is_in_no_file_and_no_answer(self):
        session, call = self.with_secret()
        self.assertIn(SECRET, self.streamed('/api/events?project=*', 'submitted'))
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
        for path in (f'/api/sessions/{session}/events?after=0', '/api/events?project=*'):
            self.assertNotIn(SECRET, self.streamed(path, 'redacted'))
        self.continues(session)
        self.copies_are_clean(session)

    def continues(self, session):
        for _ in range(2):
            self.assertStatus(self.server.prompt(session, 'continue'), 200)
            self.assertEqual(self.server.last_text(session), 'done')
            self.assertNotIn(SECRET, json.dumps(self.model.requests[-1]))
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


class OfMail(Redacting):
    def setUp(self):
        super().setUp()
        self.alice = self.server.create(alias='alice')['id']
        self.bob = self.server.create(alias='bob')['id']

    def exchange_mail(self, text):
        """Returns the mail, after both have read and said it."""
        self.server.prompt(self.alice, f'tell bob {text}')
        wait_for(lambda: self.server.get(f'/api/sessions/{self.bob}/inbox').json['items'],
                 what='the mail')
        wait_for(lambda: text in json.dumps(self.server.messages(self.bob)[-1]) and
                 self.server.messages(self.bob)[-1]['role'] == 'assistant', what='an answer')
        self.server.at_rest(self.alice)
        self.server.at_rest(self.bob)
        return self.server.get(f'/api/sessions/{self.bob}/inbox').json['items'][0]

    def remove_rest(self):
        """The prompt, and what both agents have repeated."""
        for session in (self.alice, self.bob):
            for message in self.server.messages(session):
                if SECRET in json.dumps(message):
                    self.assertStatus(self.redact(session, messageID=message['id']), 200)

    def clean(self):
        found = self.answers(self.alice, []) + self.answers(self.bob, [])
        for session in (self.alice, self.bob):
            found += self.server.get(f'/api/sessions/{session}/inbox').raw
        self.assertNotIn(SECRET.encode(), found)
        if not self.server.store:
            self.assertEqual(self.files_with(SECRET), [])
        self.server.finish()
        self.server.start()

    def test_mail_goes_at_both_sides_and_in_the_call_that_sent_it(self):
        mail = self.exchange_mail(SECRET)
        done = self.assertStatus(self.redact(self.alice, mailID=mail['id'], reason='x'), 200)
        self.assertEqual([(c['sessionID'], c['why']) for c in done['copies']],
                         [(self.bob, 'mail')])
        self.assertGreater(done['copies'][0]['seq'], 0)
        kept = self.server.get(f'/api/sessions/{self.bob}/inbox').json['items'][0]
        self.assertIn('[removed by first on ', kept['text'])
        for event in self.server.events(self.alice):
            if event['type'] in ('model_replied', 'mail_sent'):
                self.assertNotIn(SECRET, json.dumps(event['data'].get('calls', event['data'].get(
                    'text', ''))))
        self.assertEqual(self.redact(self.alice, mailID=mail['id']).json, done.json)
        self.remove_rest()
        self.clean()
        self.assertEqual(self.server.last_text(self.alice) and self.server.prompt(
            self.alice, 'tell bob more').status, 200)

    def test_receivers_message_removes_it_at_the_senders(self):
        self.exchange_mail(SECRET)
        (message,) = [m for m in self.server.messages(self.bob) if m['source']['type'] == 'mail']
        done = self.assertStatus(self.redact(self.bob, messageID=message['id']), 200)
        self.assertEqual([c['sessionID'] for c in done['copies']], [self.alice])
        self.remove_rest()
        self.clean()

    def test_forks_of_both_sides_go_at_once_or_nothing_does(self):
        mail = self.exchange_mail(SECRET)
        forks = [self.assertStatus(self.server.post(f'/api/sessions/{session}/fork', {}), 201)['id']
                 for session in (self.alice, self.bob)]
        before = self.server.messages(self.bob)
        self.assertProblem(self.redact(self.alice, mailID=mail['id']), 409, 'wrong_state')
        self.assertEqual(self.server.messages(self.bob), before)
        done = self.assertStatus(self.redact(self.alice, mailID=mail['id'], forks=True), 200)
        self.assertEqual({c['sessionID'] for c in done['copies']}, {self.bob, *forks})
        calls = [part for message in self.server.messages(forks[0]) for part in message['parts']
                 if part['type'] == 'tool']
        self.assertNotIn(SECRET, json.dumps(calls))
        (got,) = [m for m in self.server.messages(forks[1]) if m['source']['type'] == 'mail']
        self.assertNotIn(SECRET, json.dumps(got))

    def test_deleted_sender_has_nothing_more(self):
        self.exchange_mail(SECRET)
        self.assertStatus(self.server.delete(f'/api/sessions/{self.alice}'), 204)
        (message,) = [m for m in self.server.messages(self.bob) if m['source']['type'] == 'mail']
        done = self.assertStatus(self.redact(self.bob, messageID=message['id']), 200)
        self.assertEqual(done['copies'], [])

    def test_mail_that_is_unknown_is_refused(self):
        self.assertProblem(self.redact(self.alice, mailID='mail_x'), 400, 'bad_value')
        missing = f'mail_{self.alice[4:]}_99'
        self.assertProblem(self.redact(self.alice, mailID=missing), 404, 'not_found')


class OfForks(Redacting):
    def fork(self, session):
        return self.assertStatus(self.server.post(f'/api/sessions/{session}/fork', {}), 201)['id']

    def family(self):
        """A session, its fork, and the fork of that."""
        with self.server.alone():  # in the order of their numbers
            first = self.server.create(f'the key is {SECRET}')['id']
            second = self.fork(first)
            return first, second, self.fork(second)

    def test_forks_are_named_and_go_with_the_option(self):
        first, second, third = self.family()
        for message in [m['id'] for m in self.server.messages(first)]:
            named = self.assertStatus(self.redact(first, messageID=message), 200)
            self.assertEqual([(c['sessionID'], c['why'], c['item'], c['seq'])
                              for c in named['copies']],
                             [(second, 'fork', message, None), (third, 'fork', message, None)])
            self.assertIn(SECRET, json.dumps(self.server.messages(third)))
            done = self.assertStatus(self.redact(first, messageID=message, forks=True), 200)
            self.assertEqual(done['seq'], named['seq'])
            self.assertNotIn(None, [c['seq'] for c in done['copies']])
        for session in (first, second, third):
            self.assertNotIn(SECRET.encode(), self.answers(session, []))
            self.assertIn('[removed by first on ', self.server.session(session)['title'])
        if not self.server.store:
            self.assertEqual(self.files_with(SECRET), [])
        self.server.prompt(third, 'continue')
        self.server.finish()
        self.server.start()

    def test_copy_in_a_fork_names_origin_and_other_forks(self):
        first, second, third = self.family()
        message = self.server.messages(third)[0]['id']
        done = self.assertStatus(self.redact(third, messageID=message, reason='leak'), 200)
        self.assertEqual({c['sessionID'] for c in done['copies']}, {first, second})
        self.assertIn('[removed by', self.server.messages(third)[0]['parts'][0]['text'])
        self.assertIn(SECRET, json.dumps(self.server.messages(third)[1]), 'only what was named')
        self.assertIn(SECRET, json.dumps(self.server.messages(first)[0]))
        self.assertEqual(self.redact(third, messageID=message).json['seq'], done['seq'])
        (audited,) = self.server.items('/api/audit?type=redacted')
        self.assertEqual(audited['line']['reason'], f'{message}: leak')
        gone = self.assertStatus(self.redact(third, messageID=message, forks=True), 200)
        self.assertNotIn(None, [c['seq'] for c in gone['copies']])
        self.assertNotIn(SECRET, json.dumps(self.server.messages(first)[0]))

    def test_answer_of_a_question_goes_with_the_message_that_asked(self):
        session = self.server.create('ask Which key?')['id']
        self.server.prompt(session, f'it is {SECRET}')
        fork = self.fork(session)
        (answer,) = [m['id'] for m in self.server.messages(session)
                     if m['role'] == 'user' and SECRET in json.dumps(m)]
        done = self.assertStatus(self.redact(session, messageID=answer, forks=True), 200)
        self.assertIn(fork, {c['sessionID'] for c in done['copies']})
        tools = [part for message in self.server.messages(fork) for part in message['parts']
                 if part['type'] == 'tool']
        self.assertNotIn(SECRET, json.dumps(tools))

    def test_single_call_goes_in_forks_and_the_message_stays(self):
        first = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(first)
        self.assertStatus(self.server.result(call['id'], SECRET), 200)
        self.server.at_rest(first)
        with self.server.alone():  # in the order of their numbers
            second = self.fork(first)
            third = self.fork(second)

        def calls(session):
            return [part for message in self.server.messages(session)
                    for part in message['parts'] if part['type'] == 'tool']
        (part,) = calls(third)
        named = self.assertStatus(self.redact(first, callID='call_1', dryRun=True), 200)
        self.assertEqual([(c['sessionID'], c['item']) for c in named['copies']],
                         [(second, part['id']), (third, part['id'])])
        done = self.assertStatus(self.redact(third, partID=part['id'], reason='x'), 200)
        self.assertNotIn(SECRET, json.dumps(calls(third)))
        self.assertEqual(calls(third)[0]['state']['status'], 'completed')
        self.assertEqual({(c['sessionID'], c['item']) for c in done['copies']},
                         {(first, 'call_1'), (second, part['id'])})
        self.assertIn(SECRET, json.dumps(calls(first)))
        self.assertStatus(self.redact(third, partID=part['id'], forks=True), 200)
        for session in (first, second):
            self.assertNotIn(SECRET, json.dumps(calls(session)))
        self.assertProblem(self.redact(third, partID='prt_none'), 404, 'not_found')
        self.assertProblem(self.redact(third, partID='x'), 400, 'bad_value')
        self.server.prompt(third, 'continue')
        self.server.finish()
        self.server.start()

    def test_message_of_an_import(self):
        part = {'type': 'text', 'text': SECRET}
        tool = {'type': 'tool', 'tool': 'sh', 'input': {'c': SECRET}, 'output': SECRET}
        session = self.assertStatus(self.server.post('/api/projects/default/import', {
            'agentID': 'demo', 'messages': [{'role': 'user', 'parts': [part]},
                                            {'role': 'assistant', 'parts': [tool]}]}), 201)['id']
        for message in [m['id'] for m in self.server.messages(session)]:
            self.assertStatus(self.redact(session, messageID=message), 200)
        self.assertNotIn(SECRET.encode(), self.answers(session, []))
        if not self.server.store:
            self.assertEqual(self.files_with(SECRET), [])
        self.server.prompt(session, 'continue')
        self.server.finish()
        self.server.start()
        missing = self.redact(session, messageID='msg_import_9')
        self.assertProblem(missing, 404, 'not_found')


class OfTasks(Redacting):
    def ended(self, parent, prompt=SECRET):
        body = {'agentID': 'demo', 'prompt': prompt, 'description': 'look'}
        task = self.assertStatus(self.server.post(f'/api/sessions/{parent}/tasks', body), 201).json
        self.assertStatus(self.server.get(f'/api/tasks/{task["taskID"]}/output?wait=30'), 200)
        self.server.at_rest(parent)
        return task

    def clear(self, task):
        self.assertStatus(self.server.delete(f'/api/tasks/{task["taskID"]}'), 204)
        wait_for(lambda: self.server.session(task['sessionID'])['status'] == 'completed',
                 what='the end of the child')

    def clean(self, *sessions):
        for session in sessions:
            self.assertNotIn(SECRET.encode(), self.answers(session, []))
        if not self.server.store:
            self.assertEqual(self.files_with(SECRET), [])
        self.server.finish()
        self.server.start()

    def test_task_goes_with_prompt_and_result_in_both_sessions(self):
        parent = self.server.create()['id']
        task = self.ended(parent)
        done = self.assertStatus(self.redact(parent, taskID=task['taskID'], reason='x'), 200)
        self.assertEqual([(c['sessionID'], c['why']) for c in done['copies']],
                         [(task['sessionID'], 'task')])
        self.assertEqual(self.redact(parent, taskID=task['taskID']).json, done.json)
        self.clean(parent, task['sessionID'])

    def test_task_that_the_session_has_stays_usable(self):
        parent = self.server.create()['id']
        task = self.ended(parent)
        self.assertStatus(self.redact(parent, taskID=task['taskID']), 200)
        output = self.server.get(f'/api/tasks/{task["taskID"]}/output')
        self.assertIn('[removed by first on ', output.raw.decode())
        self.assertIn('[removed by first on ', self.server.session(task['sessionID'])['title'])
        self.clean(parent, task['sessionID'])
        path = f'/api/tasks/{task["taskID"]}'
        again = self.server.post(path + '/resume', {'message': f'again {SECRET}'})
        self.assertIn(again.status, (200, 202), again)
        self.assertStatus(self.server.get(path + '/output?wait=30'), 200)
        self.server.at_rest(parent)
        done = self.assertStatus(self.redact(parent, taskID=task['taskID']), 200)
        self.assertGreater(done['events'], 0)
        self.clear(task)
        self.clean(parent, task['sessionID'])

    def test_task_that_works_is_refused(self):
        parent = self.server.create()['id']
        body = {'agentID': 'demo', 'prompt': 'deploy A', 'description': SECRET}
        task = self.assertStatus(self.server.post(f'/api/sessions/{parent}/tasks', body), 201).json
        own = f'/api/sessions/{task["sessionID"]}'
        wait_for(lambda: self.server.get(own).status == 200, what='its session')
        wait_for(lambda: self.server.open_calls(task['sessionID']), what='its call')
        refused = self.redact(parent, taskID=task['taskID'])
        self.assertProblem(refused, 409, 'session_busy')
        self.assertIn('--cancel', refused.json['detail'])
        self.assertStatus(self.server.post(f'/api/tasks/{task["taskID"]}/cancel',
                                           {'reason': SECRET}), 200)
        self.server.at_rest(task['sessionID'])
        self.server.at_rest(parent)
        wait_for(lambda: self.redact(parent, taskID=task['taskID']).status == 200,
                 what='its end to be delivered')
        self.clean(parent, task['sessionID'])

    def test_forks_of_both_sides_go_at_once_or_nothing_does(self):
        parent = self.server.create(f'background {SECRET}')['id']
        self.server.at_rest(parent)
        (task,) = self.server.items(f'/api/sessions/{parent}/tasks')
        self.assertStatus(self.server.get(f'/api/tasks/{task["taskID"]}/output?wait=30'), 200)
        self.server.at_rest(parent)
        forks = [self.assertStatus(self.server.post(f'/api/sessions/{session}/fork', {}), 201)['id']
                 for session in (parent, task['sessionID'])]
        self.assertProblem(self.redact(parent, taskID=task['taskID']), 409, 'wrong_state')
        done = self.assertStatus(self.redact(parent, taskID=task['taskID'], forks=True), 200)
        self.assertEqual({c['sessionID'] for c in done['copies']}, {task['sessionID'], *forks})
        calls = [part for message in self.server.messages(forks[0]) for part in message['parts']
                 if part['type'] == 'tool']
        self.assertNotIn(SECRET, json.dumps(calls))
        self.assertNotIn(SECRET, json.dumps(self.server.messages(forks[1])))

    def test_childs_message_goes_in_the_parent(self):
        parent = self.server.create()['id']
        task = self.ended(parent)
        child = task['sessionID']
        prompt, answer = [m['id'] for m in self.server.messages(child)]
        done = self.assertStatus(self.redact(child, messageID=prompt), 200)
        self.assertEqual([c['sessionID'] for c in done['copies']], [parent])
        self.assertIn(SECRET, json.dumps(self.server.messages(child)))
        self.assertStatus(self.redact(child, messageID=answer), 200)
        self.clean(parent, child)

    def test_call_that_started_a_task(self):
        parent = self.server.create(f'background {SECRET}')['id']
        self.server.at_rest(parent)
        (task,) = self.server.items(f'/api/sessions/{parent}/tasks')
        self.assertStatus(self.server.get(f'/api/tasks/{task["taskID"]}/output?wait=30'), 200)
        self.server.at_rest(parent)
        done = self.assertStatus(self.redact(parent, callID='call_1'), 200)
        self.assertEqual([c['sessionID'] for c in done['copies']], [task['sessionID']])
        self.assertNotIn(SECRET.encode(),
                         self.server.get(f'/api/sessions/{task["sessionID"]}/messages').raw)
        for message in self.server.messages(parent):
            if SECRET in json.dumps(message):
                self.assertStatus(self.redact(parent, messageID=message['id']), 200)
        self.assertNotIn(SECRET, json.dumps(self.server.events(parent)))
        self.server.finish()
        self.server.start()


class OfAnAgent(Programs):
    redact, files_with = Redacting.redact, Redacting.files_with
    answers = Redacting.answers

    def test_reported_message_with_its_tools_and_permissions(self):
        session = self.begin(f'ask {SECRET}')
        call = self.permission(session)
        prompt = self.server.messages(session)[0]['id']
        self.assertProblem(self.redact(session, messageID=prompt), 409, 'session_busy')
        self.assertStatus(self.server.decide(call, True), 200)
        self.ended(session)
        found = [m['id'] for m in self.server.messages(session) if SECRET in json.dumps(m)]
        self.assertGreater(len(found), 1)
        for message in found:
            self.assertStatus(self.redact(session, messageID=message), 200)
        own_id = f'call-{SECRET}'.encode()  # the agent's id of the tool call, which stays
        shown = self.answers(session, [call['id']]).replace(own_id, b'')
        self.assertNotIn(SECRET.encode(), shown)
        if not self.server.store:
            for path in pathlib.Path(self.server.directory).rglob('*'):
                if path.is_file():
                    self.assertNotIn(SECRET.encode(), path.read_bytes().replace(own_id, b''))
        self.assertStatus(self.server.prompt(session, 'two'), 200)
        self.server.finish()
        self.server.start()


class Refused(Redacting):
    def test_each_request_that_cannot_be_done_says_why(self):
        session = self.server.create('deploy A within 1h')['id']
        other = self.server.create('hi')['id']
        first = self.server.messages(session)[0]['id']
        foreign = self.server.messages(other)[0]['id']
        self.assertProblem(self.redact(session, messageID=first), 409, 'session_busy')
        self.assertProblem(self.redact(session, callID='call_1'), 409, 'session_busy')
        self.assertProblem(self.redact(session, messageID=foreign), 404, 'not_found')
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
