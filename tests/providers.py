#!/usr/bin/env python3
"""Agents with models behind each of the providers' protocols, against aimock: what the model is
asked, how often, and that the real provider would accept every transcript. One table, the same
tests for each row. Needs node 20.15 and npm."""
import base64
import dataclasses
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / 'models'))
from dormouse import Case, Events, Server, leave_out, main, run, wait_for  # noqa: E402
import aimock  # noqa: E402
from fixtures import KEY, LIVE_A, PLAN, SIGNATURE, call, fixtures  # noqa: E402
import peer  # noqa: E402
import streams  # noqa: E402
import transcripts  # noqa: E402

DOT = (
    b'GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,'
    b'\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;'
)


@dataclasses.dataclass
class Kind:
    name: str
    base: str  # behind the address of the fake
    path: str
    key_header: tuple
    transcript: type
    model: str
    reply: object  # signed reasoning and two calls, as the provider streams it
    back: object  # (a request) -> the assistant's messages in it
    given_back: list
    settings: str = ''
    unreadable: str = 'cannot be read|do not fit'
    kept: tuple = ()  # patterns: what aimock signed and gets back
    usage: tuple = (21, 9)  # of the fake
    reply_usage: tuple = (34, 50, 30, 40)
    cut: int = 4  # chunks of the fake's stream that is cut off; 0: it has only one
    broken: dict = dataclasses.field(default_factory=dict)  # an error in the stream


BROKEN = {'error': {'message': 'over my head', 'type': 'overloaded_error'}}
KINDS = [
    Kind(
        'openai-chat', '/v1', '/v1/chat/completions', ('Authorization', f'Bearer {KEY}'),
        transcripts.Chat, 'gpt-test', streams.chat,
        lambda body: [c['id'] for m in body['messages'] for c in m.get('tool_calls', [])],
        ['call_A', 'call_B'], unreadable='cannot be read', broken=BROKEN,
    ),
    Kind(
        'anthropic', '/v1', '/v1/messages', ('x-api-key', KEY),
        transcripts.Anthropic, 'claude-sonnet-4-5', streams.anthropic,
        lambda body: body['messages'][1]['content'], streams.ANTHROPIC_BACK,
        settings='extra = { thinking = { type = "enabled", budget_tokens = 1024 } }',
        kept=(SIGNATURE,), reply_usage=(34, 50, 30, 0), broken={'type': 'error', **BROKEN},
    ),
    Kind(
        'openai-responses', '/v1', '/v1/responses', ('Authorization', f'Bearer {KEY}'),
        transcripts.Responses, 'gpt-5', streams.responses,
        lambda body: body['input'][1], streams.REASONING, kept=('[A-Za-z0-9+/=]{40,}',),
        broken={'type': 'error', 'code': 'server_error', 'message': 'over my head'},
    ),
    Kind(
        'gemini', '/v1beta', '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
        ('x-goog-api-key', KEY), transcripts.Gemini, 'gemini-2.5-pro', streams.gemini,
        lambda body: body['contents'][1]['parts'], streams.GEMINI_BACK,
        cut=0, broken={'error': {'code': 503, 'message': 'over my head', 'status': 'UNAVAILABLE'}},
    ),
    Kind(
        'ollama', '', '/api/chat', ('Authorization', f'Bearer {KEY}'),
        transcripts.Ollama, 'qwen3', streams.ollama,
        lambda body: body['messages'][2]['thinking'], 'Both.',
        usage=(0, 0), reply_usage=(34, 50, 0, 0), cut=1, broken={'error': 'over my head'},
    ),
]  # fmt: skip

CONFIG = '''
[server]
demo = true

[[model]]
id = "main"
kind = "{kind.name}"
base_url = "{url}{kind.base}"
model = "{kind.model}"
api_key_env = "MOCK_KEY"
{kind.settings}
{more}

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


class WithMock(Case):
    kind = None  # a row of the table
    mock_arguments = ()
    more = ''

    def setUp(self):
        self.mock = aimock.Aimock(fixtures(self.kind.cut), *self.mock_arguments)
        self.addCleanup(lambda: self.mock.stop())
        self.peer = peer.Peer(self.kind.transcript, lambda: self.mock.url)
        self.addCleanup(self.peer.stop)
        self.server = Server(env={'MOCK_KEY': KEY}, start=False)
        self.addCleanup(self.server.clean)
        config = pathlib.Path(self.server.own, 'dormouse.toml')
        config.write_text(CONFIG.format(url=self.peer.url, kind=self.kind, more=self.more))
        self.server.arguments = ['--config', str(config)]
        self.server.start()

    def tearDown(self):
        for request in self.peer.requests:
            self.assertEqual(request['transcript'].faults, [])
        super().tearDown()

    def create(self, text, **more):
        return self.server.create(text, agent='ops', **more)['id']

    def types(self, session):
        return [e['type'] for e in self.server.events(session)]

    def data(self, session, kind):
        return [e['data'] for e in self.server.events(session) if e['type'] == kind]

    def wait_for(self, session, kind, count=1):
        wait_for(lambda: self.types(session).count(kind) >= count, what=kind)


class Asked:
    def test_reply_is_streamed_and_stored_and_the_model_asked_once(self):
        session = self.server.create(agent='ops')['id']
        with Events(self.server, f'/api/sessions/{session}/events') as events:
            self.server.prompt(session, 'hello')
            frames = events.until(lambda f: f.event == 'turn_ended')
        text = ''.join(f.data['text'] for f in frames if f.event == 'delta')
        self.assertEqual(text, 'Hello from the mock.')
        self.assertEqual(self.server.last_text(session), 'Hello from the mock.')
        (request,) = self.peer.requests
        self.assertEqual(request['path'], self.kind.path)
        name, value = self.kind.key_header
        self.assertEqual(request['headers'][name], value)
        self.assertEqual(request['body'].get('model', self.kind.model), self.kind.model)
        transcript = request['transcript']
        self.assertEqual(
            [(m['role'], m['content']) for m in transcript.messages],
            [('system', 'You deploy things.'), ('user', 'hello')],
        )
        self.assertEqual(transcript.tools(), ['deploy'])
        usage = self.server.session(session)['usage']
        self.assertEqual((usage['inputTokens'], usage['outputTokens']), self.kind.usage)

    def test_parallel_calls_sleep_and_the_model_is_asked_once_a_step(self):
        session = self.create('ship')
        calls = self.server.open_calls(session)
        self.assertEqual([c['input'] for c in calls], [{'target': 'A'}, {'target': 'B'}])
        self.server.restart()  # nothing in doubt: the model is not asked again
        self.assertEqual(self.server.result(calls[1]['id'], 'live B')['outcome'], 'applied')
        self.assertEqual(self.server.result(calls[0]['id'], {'live': 'A'})['outcome'], 'applied')
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'Both are live.')
        first, second = (r['transcript'].messages for r in self.peer.requests)
        self.assertEqual(second[: len(first)], first)
        kept = self.peer.requests[1]['transcript'].kept
        self.assertEqual(len(kept), len(self.kind.kept))
        for given, pattern in zip(kept, self.kind.kept):
            self.assertRegex(given, f'^{pattern}$')
        added = second[len(first)]
        self.assertEqual(
            [(c['name'], c['arguments']) for c in added['calls']],
            [('deploy', {'target': 'A'}), ('deploy', {'target': 'B'})],
        )
        answers = [m['content'] for m in second if m['role'] == 'tool']
        self.assertEqual(answers, [LIVE_A.get(self.kind.name, '{"live":"A"}'), 'live B'])

    def test_signed_provider_data_is_returned_unchanged(self):
        self.peer.script['signed'] = [self.kind.reply()]
        session = self.create('signed')
        calls = self.server.open_calls(session)
        self.assertEqual([c['input'] for c in calls], [{'target': 'A'}, {'target': 'B'}])
        usage = self.server.session(session)['usage']
        counted = ('inputTokens', 'outputTokens', 'cachedTokens', 'reasoningTokens')
        self.assertEqual(tuple(usage[name] for name in counted), self.kind.reply_usage)
        (message,) = (m for m in self.server.messages(session) if m['role'] == 'assistant')
        thought = [p['text'] for p in message['parts'] if p['type'] == 'reasoning']
        self.assertIn('Both.', thought)
        self.server.restart()
        for call in calls:
            self.server.result(call['id'], 'live')
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'Both are live.')
        self.assertEqual(self.kind.back(self.peer.requests[1]['body']), self.kind.given_back)
        # A fork has the same past.
        fork = self.server.post(f'/api/sessions/{session}/fork')['id']
        self.server.prompt(fork, 'and?')
        self.server.at_rest(fork)
        second, third = (r['transcript'].kept for r in self.peer.requests[1:])
        self.assertEqual(third[: len(second)], second)

    def test_calls_that_cannot_run_are_reported_to_the_model(self):
        session = self.create('wrong')
        self.assertEqual(self.server.last_text(session), 'I see.')
        self.assertNotIn('tool_started', self.types(session))
        reported = [m['content'] for m in self.peer.requests[1]['transcript'].messages[-3:]]
        # Providers whose arguments come as objects cannot send unreadable ones.
        self.assertRegex(reported[0], self.kind.unreadable)
        self.assertIn('do not fit', reported[1])
        self.assertIn("unknown tool 'destroy'", reported[2])


class Seen:
    """The content of a prompt, as each provider expects it."""

    def shown(self, part):
        data = base64.b64encode(DOT).decode()
        url = f'data:image/gif;base64,{data}'
        return {
            'openai-chat': {'type': 'image_url', 'image_url': {'url': url}},
            'openai-responses': {'type': 'input_image', 'image_url': url},
            'anthropic': {
                'type': 'image',
                'source': {'type': 'base64', 'media_type': 'image/gif', 'data': data},
            },
            'gemini': {'inlineData': {'mimeType': 'image/gif', 'data': data}},
        }[self.kind.name] == part

    def pictures(self, body):
        """Returns how often the picture is in a request."""
        if self.kind.name == 'ollama':
            images = [i for m in body['messages'] for i in m.get('images', [])]
            return images.count(base64.b64encode(DOT).decode())
        messages = body.get('messages') or body.get('input') or body.get('contents')
        pieces = [m.get('content') or m.get('parts') or [] for m in messages]
        return sum(self.shown(p) for each in pieces if isinstance(each, list) for p in each)

    def test_model_gets_image_and_file_after_kill_and_in_fork(self):
        session = self.server.create(agent='ops')['id']
        parts = [
            {'type': 'text', 'text': 'picture'},
            {
                'type': 'image',
                'mime': 'image/gif',
                'name': 'dot.gif',
                'data': base64.b64encode(DOT).decode(),
            },
            {
                'type': 'file',
                'mime': 'text/csv',
                'name': 'a.csv',
                'data': base64.b64encode(b'one,two').decode(),
            },
        ]
        path = f'/api/sessions/{session}/prompt?wait=20'
        self.assertStatus(self.server.post(path, {'parts': parts}), 200)
        self.assertEqual(self.server.last_text(session), 'A dot.')
        self.server.restart()
        self.server.prompt(session, 'and?')
        fork = self.server.post(f'/api/sessions/{session}/fork')['id']
        self.server.delete(f'/api/sessions/{session}')
        self.server.prompt(fork, 'and?')
        self.assertEqual(len(self.peer.requests), 3)
        for request in self.peer.requests:
            self.assertEqual(self.pictures(request['body']), 1)
            self.assertIn('[file a.csv text/csv]\\none,two', request['raw'].decode())

    def test_missing_bytes_end_the_turn_without_a_request(self):
        session = self.server.create(agent='ops')['id']
        data = base64.b64encode(DOT).decode()
        parts = [{'type': 'text', 'text': 'picture'},
                 {'type': 'image', 'mime': 'image/gif', 'data': data}]  # fmt: skip
        path = f'/api/sessions/{session}/prompt?wait=20'
        self.assertStatus(self.server.post(path, {'parts': parts}), 200)
        self.assertEqual(self.server.term(), 0)
        self.assertEqual(len(self.server.select('SELECT sum FROM artifacts')), 1)
        self.server.change('DELETE FROM artifacts')
        self.server.start()
        turn = self.assertStatus(self.server.prompt(session, 'and?'), 200)
        self.assertEqual(turn['finishReason'], 'error')
        self.assertIn('dormouse verify', turn['error']['message'])
        self.assertEqual(len(self.peer.requests), 1)
        self.server.kill()


class Blind:
    """A model without images and with a small context."""

    more = 'images = false\ncontext_tokens = 400'

    def test_model_without_images_gets_the_name(self):
        session = self.server.create(agent='ops')['id']
        data = base64.b64encode(DOT).decode()
        parts = [{'type': 'text', 'text': 'picture'},
                 {'type': 'image', 'mime': 'image/gif', 'alt': 'a dot', 'data': data}]  # fmt: skip
        path = f'/api/sessions/{session}/prompt?wait=20'
        self.assertStatus(self.server.post(path, {'parts': parts}), 200)
        (request,) = self.peer.requests
        self.assertIn('[image image/gif: a dot]', request['raw'].decode())
        self.assertNotIn(data, request['raw'].decode())

    def test_long_session_is_cut_to_the_context(self):
        session = self.server.create('hello first', agent='ops')['id']
        for _ in range(20):
            self.server.prompt(session, 'hello ' + 'x' * 100)
        sizes = [len(r['raw']) for r in self.peer.requests]
        self.assertLess(max(sizes), 6_000)
        self.assertIn(b'hello first', self.peer.requests[0]['raw'])
        self.assertNotIn(b'hello first', self.peer.requests[-1]['raw'])
        self.assertEqual(len(self.server.turns(session)), 21)


class BuiltIn:
    """artifact_emit and todo, called by an agent of the configuration."""

    def states(self, text):
        self.session = self.server.create(text, agent='clerk')['id']
        message = self.server.messages(self.session)[1]
        return [p['state'] for p in message['parts'] if p['type'] == 'tool']

    def test_file_and_a_list_are_kept_over_a_kill(self):
        kept, todo = self.states('report')
        self.server.restart()
        artifact = kept['artifactID']
        described = {'name': 'é plan.html', 'mime': 'text/html; charset=utf-8', 'bytes': 12}
        self.assertEqual(kept['output'], {**described, 'artifactID': artifact})
        answer = self.server.get(f'/api/artifacts/{artifact}')
        self.assertEqual(answer.raw.decode(), '<b>été</b>')
        self.assertEqual(answer.headers['Content-Type'], described['mime'])
        self.assertEqual(
            answer.headers['Content-Disposition'], "attachment; filename*=UTF-8''%C3%A9%20plan.html"
        )
        self.assertEqual(todo['output'], {'items': PLAN, 'open': 1, 'done': 1})
        self.assertEqual((todo['title'], todo['artifactID']), ('1 of 2 done', None))
        # The model gets the id, and its list.
        described = self.peer.requests[1]['transcript'].messages
        answers = [m['content'] for m in described if m['role'] == 'tool']
        answers = [json.loads(a) if isinstance(a, str) else a for a in answers]
        self.assertEqual(answers, [kept['output'], todo['output']])
        self.assertEqual(self.types(self.session).count('artifact_emitted'), 1)

    def test_invalid_name_is_reported_to_the_model(self):
        (state,) = self.states('outside')
        self.assertEqual((state['status'], state['reason']), ('error', 'failed'))
        self.assertIn('name must be the name of a file', state['error'])
        self.assertNotIn('artifact_emitted', self.types(self.session))


class Failing:
    def test_time_of_the_next_try_is_durable(self):
        session = self.create('limited', wait=0)
        self.wait_for(session, 'model_failed')
        (failed,) = self.data(session, 'model_failed')
        self.assertIn('429', failed['error']['message'])
        asked_at = self.peer.requests_of('limited')[0]['timestamp']
        self.assertGreaterEqual(failed['retryAt'], asked_at + 3000)
        activity = self.server.session(session)['activity']
        self.assertEqual((activity['type'], activity['next']), ('retry', failed['retryAt']))
        self.server.restart()
        # A new process knows only what is stored.
        again = self.server.session(session)['activity']
        if again['type'] == 'retry':
            self.assertEqual(again['next'], failed['retryAt'])
        wait_for(lambda: 'turn_ended' in self.types(session), what='turn_ended')
        self.assertEqual(self.server.last_text(session), 'Now.')
        first, second = self.peer.requests_of('limited')
        self.assertGreaterEqual(second['timestamp'], failed['retryAt'])
        self.assertEqual(first['raw'], second['raw'])

    def test_overloaded_or_aborted_request_is_retried(self):
        broken = streams.lines if self.kind.name == 'ollama' else streams.events
        self.peer.script['troubled'] = [
            (529, {'Retry-After': '0.2', 'Content-Type': 'application/json'}, b'{"error":{}}'),
            broken(self.kind.broken),
        ]
        session = self.create('troubled', wait=0)
        wait_for(lambda: 'turn_ended' in self.types(session), what='turn_ended')
        self.assertEqual(self.server.last_text(session), 'Now.')
        overloaded, broke_off = (f['error']['message'] for f in self.data(session, 'model_failed'))
        self.assertIn('529', overloaded)
        self.assertIn('over my head', broke_off)
        self.assertEqual(len(self.peer.requests), 3)

    def test_calls_of_a_cut_stream_never_run(self):
        if not self.kind.cut:
            status, headers, body = self.kind.reply()
            first, _ = body.split(b'\n\n', 1)  # the whole calls, but not the end of the stream
            self.peer.script['cut'] = [(status, headers, first + b'\n\n')]
        session = self.create('cut')
        wait_for(lambda: 'turn_ended' in self.types(session), what='turn_ended')
        self.assertEqual(self.server.last_text(session), 'Whole now.')
        self.assertNotIn('tool_started', self.types(session))
        self.assertEqual(len(self.data(session, 'model_failed')), 1)
        self.assertEqual(len(self.peer.requests_of('cut')), 2)

    def test_crash_while_the_model_speaks_asks_it_again(self):
        session = self.create('slow', wait=0)
        wait_for(lambda: self.peer.requests_of('slow'), what='the first request')
        self.server.restart()
        wait_for(lambda: 'turn_ended' in self.types(session), what='turn_ended', seconds=30)
        self.assertEqual(self.server.last_text(session), 'One word after the other, slowly.')
        self.assertEqual(self.types(session).count('model_replied'), 1)
        self.assertEqual(len(self.peer.requests_of('slow')), 2)

    def test_cancelled_turn_ends_its_request(self):
        session = self.create('slow', wait=0)
        wait_for(lambda: self.peer.requests_of('slow'), what='the first request')
        self.server.post(f'/api/sessions/{session}/cancel')
        self.assertEqual(self.server.at_rest(session)['activity'], {'type': 'idle'})
        self.server.prompt(session, 'hello')
        self.assertEqual(self.server.last_text(session), 'Hello from the mock.')
        self.assertEqual(self.types(session).count('model_replied'), 1)

    def test_permanent_failure_ends_turn_without_showing_the_key(self):
        session = self.create('locked')
        (failed,) = self.data(session, 'model_failed')
        self.assertIsNone(failed.get('retryAt'))
        self.assertIn('main: the provider answered 401', failed['error']['message'])
        self.assertIn('Incorrect key: [secret]', failed['error']['message'])
        (turn,) = self.server.turns(session)
        self.assertEqual((turn['status'], turn['finishReason']), ('ended', 'error'))
        self.assertEqual(turn['error']['code'], 'model_failed')
        self.assertEqual(len(self.peer.requests), 1)
        everything = str(self.server.events(session)) + self.server.tail()
        self.assertNotIn(KEY, everything)

    def test_unreachable_provider_is_retried_until_it_answers(self):
        self.mock.process.kill()
        self.mock.process.wait()
        session = self.create('hello', wait=0)
        self.wait_for(session, 'model_failed')
        (failed, *_) = self.data(session, 'model_failed')
        self.assertIn('no answer from the provider', failed['error']['message'])
        self.assertIsNotNone(failed['retryAt'])
        self.server.post(f'/api/sessions/{session}/cancel')
        self.mock = aimock.Aimock(fixtures(self.kind.cut))


class Chaos:
    mock_arguments = (
        '--chaos-ratelimit', '0.15', '--chaos-disconnect', '0.1',
        '--chaos-malformed', '0.05', '--chaos-drop', '0.1',
    )  # fmt: skip
    more = 'concurrency = 3'

    def test_each_session_succeeds_or_reports_why_not(self):
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
                self.assertEqual(self.server.last_text(session), 'Both are live.')
                self.assertEqual(self.types(session).count('tool_started'), 2)
            else:
                self.assertEqual(turn['finishReason'], 'error')
                self.assertIn('main: ', turn['error']['message'])
        self.assertGreater(through, 2)  # a body that is no stream (malformed) ends a turn for good
        # One request for each intent and no other.
        intents = sum(self.types(s).count('model_requested') for s in sessions)
        self.assertEqual(len(self.peer.requests), intents)


class Configured(Case):
    def test_settings_that_cannot_work_are_refused_before_the_start(self):
        for setting, complaint in (
            ('extra = { messages = [] }', 'extra.messages cannot be set'),
            ('base_url = "ftp://example.org"', 'base_url'),
        ):
            config = pathlib.Path(self.server.own, 'bad.toml')
            text = CONFIG.format(url='http://127.0.0.1:1', kind=KINDS[0], more='')
            if setting.startswith('base_url'):
                text = text.replace('base_url = "http://127.0.0.1:1/v1"', setting)
            else:
                text = text.replace('model = "gpt-test"', 'model = "gpt-test"\n' + setting)
            config.write_text(text)
            done = run('config', 'check', config, env={**self.server.environment, 'MOCK_KEY': KEY})
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(complaint, done.stdout + done.stderr)
            self.assertNotIn(KEY, done.stdout + done.stderr)


def rows():
    """Makes each class of tests once for each row of the table."""
    for kind in KINDS:
        word = ''.join(part.title() for part in kind.name.split('-'))
        for tests in (Asked, Seen, Blind, BuiltIn, Failing, Chaos):
            name = word + tests.__name__
            yield name, type(name, (tests, WithMock), {'kind': kind})


globals().update(rows())


def setUpModule():
    if reason := aimock.missing():
        leave_out(reason)


if __name__ == '__main__':
    main()
