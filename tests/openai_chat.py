#!/usr/bin/env python3
"""Agents with an OpenAI-compatible model, against aimock: what the model is asked, how often, and
that every transcript is one that real providers take. Needs node 20.15 and npm.
"""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / 'models'))
from dormouse import Case, Events, Server, leave_out, main, run, wait_for  # noqa: E402
import aimock  # noqa: E402

KEY = 'sk-mock-4711'
CONFIG = '''
[server]
demo = true

[[model]]
id = "main"
kind = "openai-chat"
base_url = "{url}/v1"
model = "gpt-test"
api_key_env = "MOCK_KEY"
{model}

[[agent]]
id = "ops"
model = "main"
instructions = "You deploy things."
tools = ["deploy"]

[[agent]]
id = "clerk"
model = "main"
tools = ["artifact_emit", "todo"]
'''


def call(number, target, name='deploy'):
    return {'id': f'call_{number}', 'name': name, 'arguments': f'{{"target":"{target}"}}'}


def asks(tool, **arguments):
    return {'id': f'call_{tool}', 'name': tool, 'arguments': json.dumps(arguments)}


PLAN = [{'text': 'write it', 'status': 'done'}, {'text': 'send it', 'status': 'pending'}]
FIXTURES = [
    {
        'match': {'userMessage': 'report', 'hasToolResult': False},
        'response': {
            'toolCalls': [
                asks('artifact_emit', name='é plan.html', mime='text/html', text='<b>été</b>'),
                asks('todo', items=[PLAN[0], {'text': 'send it'}]),
            ]
        },
    },
    {'match': {'userMessage': 'report', 'hasToolResult': True}, 'response': {'content': 'Kept.'}},
    {
        'match': {'userMessage': 'outside', 'hasToolResult': False},
        'response': {'toolCalls': [asks('artifact_emit', name='../../etc/passwd', text='x')]},
    },
    {'match': {'userMessage': 'outside', 'hasToolResult': True}, 'response': {'content': 'No.'}},
    {'match': {'userMessage': 'hello'}, 'response': {'content': 'Hello from the mock.'}},
    {
        'match': {'userMessage': 'ship', 'hasToolResult': False},
        'response': {'content': 'On it.', 'toolCalls': [call('a', 'A'), call('b', 'B')]},
    },
    {
        'match': {'userMessage': 'ship', 'hasToolResult': True},
        'response': {'content': 'Both are live.'},
    },
    {
        'match': {'userMessage': 'limited', 'sequenceIndex': 0},
        'response': {'error': {'message': 'Rate limit'}, 'status': 429, 'retryAfter': 3},
    },
    {'match': {'userMessage': 'limited'}, 'response': {'content': 'Now.'}},
    {
        'match': {'userMessage': 'cut', 'sequenceIndex': 0},
        'response': {'toolCalls': [call('a', 'A')]},
        'latency': 5,
        'chunkSize': 3,
        'truncateAfterChunks': 4,
    },
    {'match': {'userMessage': 'cut'}, 'response': {'content': 'Whole now.'}},
    {
        'match': {'userMessage': 'wrong', 'hasToolResult': False},
        'response': {
            'toolCalls': [
                {'id': 'c1', 'name': 'deploy', 'arguments': '{"targ'},
                {'id': 'c2', 'name': 'deploy', 'arguments': '{"goal":1}'},
                {'id': 'c3', 'name': 'destroy', 'arguments': '{}'},
            ]
        },
    },
    {
        'match': {'userMessage': 'wrong', 'hasToolResult': True},
        'response': {'content': 'I see.'},
    },
    {
        'match': {'userMessage': 'locked'},
        'response': {'error': {'message': f'Incorrect key: {KEY}'}, 'status': 401},
    },
    {
        'match': {'userMessage': 'slow'},
        'response': {'content': 'One word after the other, slowly.'},
        'latency': 300,
        'chunkSize': 4,
    },
]


class WithMock(Case):
    mock_arguments = ()
    model = ''

    def setUp(self):
        self.mock = aimock.Aimock(FIXTURES, *self.mock_arguments)
        self.addCleanup(self.mock.stop)
        self.server = Server(env={'MOCK_KEY': KEY}, start=False)
        self.addCleanup(self.server.clean)
        config = pathlib.Path(self.server.own, 'dormouse.toml')
        config.write_text(CONFIG.format(url=self.mock.url, model=self.model))
        self.server.arguments = ['--config', str(config)]
        self.server.start()

    def tearDown(self):
        for entry in self.mock.journal():
            self.assertEqual(aimock.transcript_faults(entry['body']), [])
        super().tearDown()

    def create(self, text, **more):
        return self.server.create(text, agent='ops', **more)['id']

    def types(self, session):
        return [e['type'] for e in self.server.events(session)]

    def data(self, session, kind):
        return [e['data'] for e in self.server.events(session) if e['type'] == kind]

    def wait_for(self, session, kind, count=1):
        wait_for(lambda: self.types(session).count(kind) >= count, what=kind)


class Asked(WithMock):
    def test_a_reply_is_streamed_and_stored_and_the_model_asked_once(self):
        session = self.server.create(agent='ops')['id']
        with Events(self.server, f'/api/sessions/{session}/events') as events:
            self.server.prompt(session, 'hello')
            frames = events.until(lambda f: f.event == 'turn_ended')
        said = ''.join(f.data['text'] for f in frames if f.event == 'delta')
        self.assertEqual(said, 'Hello from the mock.')
        self.assertEqual(self.server.said(session), 'Hello from the mock.')
        (asked,) = self.mock.journal()
        self.assertEqual(asked['body']['model'], 'gpt-test')
        self.assertEqual(
            [m['role'] for m in asked['body']['messages']], ['system', 'user'], asked['body']
        )
        self.assertEqual(asked['body']['messages'][0]['content'], 'You deploy things.')
        self.assertEqual(asked['body']['tools'][0]['function']['name'], 'deploy')
        self.assertGreater(self.server.session(session)['usage']['outputTokens'], 0)

    def test_parallel_calls_sleep_and_the_model_is_asked_once_a_step(self):
        session = self.create('ship')
        calls = self.server.open_calls(session)
        self.assertEqual([c['input'] for c in calls], [{'target': 'A'}, {'target': 'B'}])
        self.server.restart()  # nothing in doubt: the model is not asked again
        self.assertEqual(self.server.result(calls[1]['id'], 'live B')['outcome'], 'applied')
        self.assertEqual(self.server.result(calls[0]['id'], {'live': 'A'})['outcome'], 'applied')
        self.server.at_rest(session)
        self.assertEqual(self.server.said(session), 'Both are live.')
        first, second = self.mock.journal()
        messages = second['body']['messages']
        self.assertEqual(messages[: len(first['body']['messages'])], first['body']['messages'])
        self.assertEqual(
            [(m['tool_call_id'], m['content']) for m in messages if m['role'] == 'tool'],
            [('call_a', '{"live":"A"}'), ('call_b', 'live B')],
        )

    def test_calls_that_can_not_run_are_told_to_the_model(self):
        session = self.create('wrong')
        self.assertEqual(self.server.said(session), 'I see.')
        self.assertNotIn('tool_started', self.types(session))
        told = [m['content'] for m in self.mock.journal()[1]['body']['messages'][-3:]]
        self.assertIn('can not be read', told[0])
        self.assertIn('do not fit', told[1])
        self.assertIn("no tool 'destroy'", told[2])


class BuiltIn(WithMock):
    """artifact_emit and todo, as an agent of the configuration calls them."""

    def states(self, text):
        self.session = self.server.create(text, agent='clerk')['id']
        message = self.server.messages(self.session)[1]
        return [p['state'] for p in message['parts'] if p['type'] == 'tool']

    def test_a_file_and_a_list_are_kept_over_a_kill(self):
        kept, todo = self.states('report')
        self.server.restart()
        artifact = kept['artifactID']
        told = {'name': 'é plan.html', 'mime': 'text/html; charset=utf-8', 'bytes': 12}
        self.assertEqual(kept['output'], {**told, 'artifactID': artifact})
        answer = self.server.get(f'/api/artifacts/{artifact}')
        self.assertEqual(answer.raw.decode(), '<b>été</b>')
        self.assertEqual(answer.headers['Content-Type'], told['mime'])
        self.assertEqual(
            answer.headers['Content-Disposition'], "attachment; filename*=UTF-8''%C3%A9%20plan.html"
        )
        self.assertEqual(todo['output'], {'items': PLAN, 'open': 1, 'done': 1})
        self.assertEqual((todo['title'], todo['artifactID']), ('1 of 2 done', None))
        # The model is told the id, and what it wrote down.
        answers = [m for m in self.mock.journal()[1]['body']['messages'] if m['role'] == 'tool']
        self.assertEqual(json.loads(answers[0]['content']), kept['output'])
        self.assertEqual(json.loads(answers[1]['content']), todo['output'])
        self.assertEqual(self.types(self.session).count('artifact_emitted'), 1)

    def test_a_name_that_is_none_is_told_to_the_model(self):
        (state,) = self.states('outside')
        self.assertEqual((state['status'], state['reason']), ('error', 'failed'))
        self.assertIn('name must be the name of a file', state['error'])
        self.assertNotIn('artifact_emitted', self.types(self.session))


class Failing(WithMock):
    def test_the_time_of_the_next_try_is_durable(self):
        session = self.create('limited', wait=0)
        self.wait_for(session, 'model_failed')
        (failed,) = self.data(session, 'model_failed')
        self.assertIn('429', failed['error']['message'])
        asked_at = self.mock.asked('limited')[0]['timestamp']
        self.assertGreaterEqual(failed['retryAt'], asked_at + 3000)
        activity = self.server.session(session)['activity']
        self.assertEqual((activity['type'], activity['next']), ('retry', failed['retryAt']))
        self.server.restart()
        # What a new process knows of it is what was written.
        again = self.server.session(session)['activity']
        if again['type'] == 'retry':
            self.assertEqual(again['next'], failed['retryAt'])
        wait_for(lambda: 'turn_ended' in self.types(session), what='turn_ended')
        self.assertEqual(self.server.said(session), 'Now.')
        first, second = self.mock.asked('limited')
        self.assertGreaterEqual(second['timestamp'], failed['retryAt'])
        self.assertEqual(first['body'], second['body'])

    def test_what_a_cut_stream_said_is_never_done(self):
        session = self.create('cut')
        wait_for(lambda: 'turn_ended' in self.types(session), what='turn_ended')
        self.assertEqual(self.server.said(session), 'Whole now.')
        self.assertNotIn('tool_started', self.types(session))
        self.assertEqual(len(self.data(session, 'model_failed')), 1)
        self.assertEqual(len(self.mock.asked('cut')), 2)

    def test_a_crash_while_the_model_speaks_asks_it_again(self):
        session = self.create('slow', wait=0)
        wait_for(lambda: self.mock.asked('slow'), what='the first request')
        self.server.restart()
        wait_for(lambda: 'turn_ended' in self.types(session), what='turn_ended', seconds=30)
        self.assertEqual(self.server.said(session), 'One word after the other, slowly.')
        self.assertEqual(self.types(session).count('model_replied'), 1)
        self.assertEqual(len(self.mock.asked('slow')), 2)

    def test_a_cancelled_turn_ends_its_request(self):
        session = self.create('slow', wait=0)
        wait_for(lambda: self.mock.asked('slow'), what='the first request')
        self.server.post(f'/api/sessions/{session}/cancel')
        self.assertEqual(self.server.at_rest(session)['activity'], {'type': 'idle'})
        self.server.prompt(session, 'hello')
        self.assertEqual(self.server.said(session), 'Hello from the mock.')
        self.assertEqual(self.types(session).count('model_replied'), 1)

    def test_what_will_not_get_better_ends_the_turn_and_no_key_is_told(self):
        session = self.create('locked')
        (failed,) = self.data(session, 'model_failed')
        self.assertIsNone(failed.get('retryAt'))
        self.assertIn('main: the provider answered 401', failed['error']['message'])
        self.assertIn('Incorrect key: [secret]', failed['error']['message'])
        (turn,) = self.server.turns(session)
        self.assertEqual((turn['status'], turn['finishReason']), ('ended', 'error'))
        self.assertEqual(turn['error']['code'], 'model_failed')
        self.assertEqual(len(self.mock.journal()), 1)
        everything = str(self.server.events(session)) + self.server.tail()
        self.assertNotIn(KEY, everything)

    def test_nobody_there_is_tried_again_until_somebody_is(self):
        self.mock.process.kill()
        self.mock.process.wait()
        session = self.create('hello', wait=0)
        self.wait_for(session, 'model_failed')
        (failed, *_) = self.data(session, 'model_failed')
        self.assertIn('no answer from the provider', failed['error']['message'])
        self.assertIsNotNone(failed['retryAt'])
        self.server.post(f'/api/sessions/{session}/cancel')
        self.mock = aimock.Aimock(FIXTURES)
        self.addCleanup(self.mock.stop)


class Chaos(WithMock):
    mock_arguments = (
        '--chaos-ratelimit', '0.15', '--chaos-disconnect', '0.1',
        '--chaos-malformed', '0.1', '--chaos-drop', '0.1',
    )  # fmt: skip
    model = 'concurrency = 3'

    def test_each_session_gets_through_or_says_why_not(self):
        sessions = [self.create('ship', wait=0) for _ in range(10)]
        for session in sessions:
            wait_for(
                lambda s=session: len(self.server.open_calls(s)) == 2
                or 'turn_ended' in self.types(s),
                what='the calls',
                seconds=60,
            )
            for pending in self.server.open_calls(session):
                self.server.result(pending['id'], 'live')
        through = 0
        for session in sessions:
            wait_for(lambda s=session: 'turn_ended' in self.types(s), what='the end', seconds=60)
            (turn,) = self.server.turns(session)
            if turn['finishReason'] == 'stop':
                through += 1
                self.assertEqual(self.server.said(session), 'Both are live.')
                self.assertEqual(self.types(session).count('tool_started'), 2)
            else:
                self.assertEqual(turn['finishReason'], 'error')
                self.assertIn('main: ', turn['error']['message'])
        self.assertGreater(through, 5)
        # One request for each intent, none besides.
        intents = sum(self.types(s).count('model_requested') for s in sessions)
        self.assertEqual(len(self.mock.journal()), intents)


class Configured(Case):
    def test_settings_that_can_not_work_are_told_before_the_start(self):
        for setting, complaint in (
            ('extra = { messages = [] }', 'extra.messages can not be set'),
            ('base_url = "ftp://example.org"', 'base_url'),
        ):
            config = pathlib.Path(self.server.own, 'bad.toml')
            text = CONFIG.format(url='http://127.0.0.1:1', model='')
            if setting.startswith('base_url'):
                text = text.replace('base_url = "http://127.0.0.1:1/v1"', setting)
            else:
                text = text.replace('model = "gpt-test"', 'model = "gpt-test"\n' + setting)
            config.write_text(text)
            done = run('config', 'check', config, env={**self.server.environment, 'MOCK_KEY': KEY})
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(complaint, done.stdout + done.stderr)
            self.assertNotIn(KEY, done.stdout + done.stderr)


if __name__ == '__main__':
    if reason := aimock.missing():
        leave_out(reason)
    main()
