#!/usr/bin/env python3
"""[[notify]] to chat services, against a fake of each service's contract: what is sent, what its
answers mean, limits, malformed answers, redirects, a service that hangs; and messages that change
when their call is decided."""
import contextlib
import json
import pathlib
import re
import tempfile
import threading
import urllib.parse

from dormouse import Case, Client, Server, main
from tools_by_config import eventually
from webhook_peers import Receiver, slack

CONFIG = '''
[server]
demo = true
public_url = "https://dm.example.org"
webhook_hosts = ["%(host)s"]
%(more)s
'''
GATE = """
[[gate]]
tools = ["deploy"]
ask = "Ship <!here> & {input.target}?"

[[gate]]
tools = ["background_task"]
ask = "Begin?"
"""
BOT = '''
[[notify]]
kind = "slack-bot"
token_env = "N_TOKEN"
channel = "C1"
api_url = "RECEIVER/api"
'''
DISCORD = '[[notify]]\nkind = "discord"\nurl_env = "N_URL"\n'
TELEGRAM = '''
[[notify]]
kind = "telegram"
token_env = "N_TOKEN"
channel = "-1001"
api_url = "RECEIVER"
'''
TEAMS = '[[notify]]\nkind = "teams"\nurl_env = "N_URL"\n'
NTFY = '[[notify]]\nkind = "ntfy"\nurl_env = "N_URL"\ntoken_env = "N_TOKEN"\n'
SECRET = 'xoxb-very-s3cret'


class Slack:
    """chat.postMessage and chat.update as Slack documents them."""

    def __init__(self):
        self.count = 0

    def __call__(self, got):
        if got['headers'].get('authorization') != 'Bearer ' + SECRET:
            return 200, {}, {'ok': False, 'error': 'invalid_auth'}
        body = json.loads(got['body'])
        if got['path'] == '/api/chat.update':
            return 200, {}, {'ok': True, 'channel': body['channel'], 'ts': body['ts']}
        assert got['path'] == '/api/chat.postMessage', got['path']
        self.count += 1
        return 200, {}, {'ok': True, 'channel': body['channel'], 'ts': f'1503435956.{self.count}'}


class Notified(Case):
    more = ''

    def setUp(self):
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)
        folder = tempfile.TemporaryDirectory(prefix='dormouse-notify-')
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / 'dormouse.toml'
        more = GATE + self.more.replace('RECEIVER', self.receiver.url)
        path.write_text(CONFIG % {'host': self.receiver.host, 'more': more})
        env = {'N_TOKEN': SECRET, 'N_URL': self.receiver.url + '/hook/' + SECRET, **self.env()}
        self.server = Server('--config', str(path), env=env)
        self.addCleanup(self.server.clean)

    def env(self):
        return {}

    def ask(self):
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        return call

    def deliveries(self):
        return self.server.items('/api/deliveries')

    def in_state(self, state, count=1):
        return eventually(
            lambda: (found := [d for d in self.deliveries() if d['state'] == state])
            and len(found) >= count
            and found,
            f'{count} {state}',
        )

    def failed(self):
        """Returns the one delivery after its first attempt."""
        return eventually(
            lambda: (found := self.deliveries()) and found[-1]['attempts'] and found[-1], 'attempt'
        )

    def sent(self, count):
        return [(r['method'], r['path'], json.loads(r['body'])) for r in self.receiver.wait(count)]

    def tearDown(self):
        self.assertNotIn(SECRET, self.server.log.read_text())
        self.assertNotIn(SECRET, json.dumps(self.deliveries()))


class SlackBot(Notified):
    more = BOT

    def test_message_changes_when_the_call_is_decided(self):
        self.receiver.answer = Slack()
        call = self.ask()
        ((_, path, body),) = self.sent(1)
        self.assertEqual((path, body['channel']), ('/api/chat.postMessage', 'C1'))
        text = json.dumps(body['blocks'])
        for part in ('Approval wanted', 'Ship <!here> & A?', call['inputDigest'], 'deploy'):
            self.assertIn(part, text)
        self.assertNotIn('"approve"', text)  # no signing secret: nobody could verify a press
        self.in_state('delivered')
        self.server.restart()
        self.assertStatus(self.server.decide(call, True), 200)
        _, (_, path, body) = self.sent(2)
        self.assertEqual((path, body['ts']), ('/api/chat.update', '1503435956.1'))
        text = json.dumps(body['blocks'])
        self.assertIn('Approved by first', text)
        self.assertIn('Ship <!here> & A?', text)
        self.in_state('delivered', 2)

    def test_every_message_about_the_call_changes(self):
        self.receiver.answer = Slack()
        call = self.ask()
        self.in_state('delivered')
        for n in 1, 2:
            self.server.advance(3600)
        self.in_state('delivered', 1)
        self.assertStatus(self.server.decide(call, False, reason='not on Friday'), 200)
        posted = self.receiver.answer.count
        got = self.sent(2 * posted)
        changed = [body['ts'] for _, path, body in got if path == '/api/chat.update']
        self.assertEqual(len(set(changed)), posted)
        self.assertIn('Denied by first', json.dumps(got[-1]))
        self.assertIn('not on Friday', json.dumps(got[-1]))

    def test_rate_limit_and_errors_are_tried_again(self):
        answers = [
            (429, {'Retry-After': '30'}, {'ok': False, 'error': 'ratelimited'}),
            (200, {}, {'ok': False, 'error': 'internal_error'}),
            (200, {'Content-Type': 'text/html'}, b'<html>Sign in to the Wi-Fi</html>'),
        ]
        slack = Slack()
        self.receiver.answer = lambda got: answers.pop(0) if answers else slack(got)
        self.ask()
        first = self.failed()
        self.assertIn('429', first['lastError'])
        self.assertGreaterEqual(first['nextAt'], first['time']['created'] + 29_000)
        self.server.advance(31)
        eventually(lambda: 'internal_error' in self.deliveries()[-1]['lastError'], 'the error')
        self.server.advance(400)
        eventually(lambda: 'not from Slack' in self.deliveries()[-1]['lastError'], 'the page')
        self.server.advance(3000)
        self.in_state('delivered')

    def test_message_that_is_refused_for_good_is_not_repeated(self):
        self.receiver.answer = lambda got: (200, {}, {'ok': False, 'error': 'channel_not_found'})
        self.ask()
        (dead,) = self.in_state('dead')
        self.assertEqual(dead['lastError'], 'Slack refused the message: channel_not_found')
        self.assertEqual(dead['url'], 'notify:N_TOKEN:C1')

    def test_redirect_is_not_followed(self):
        to = self.receiver.url + '/elsewhere'
        self.receiver.answer = lambda got: (307, {'Location': to}, b'')
        self.ask()
        self.assertIn('307', self.failed()['lastError'])
        self.assertEqual([r['path'] for r in self.receiver.received], ['/api/chat.postMessage'])

    def test_call_decided_before_the_message_was_taken(self):
        release = threading.Event()
        self.addCleanup(release.set)
        slack = Slack()
        self.receiver.answer = lambda got: release.wait(60) and slack(got)
        call = self.ask()
        self.receiver.wait(1)
        self.assertStatus(self.server.decide(call, True), 200)
        release.set()
        self.in_state('delivered')
        self.server.advance(20)
        got = eventually(lambda: len(self.receiver.received) >= 2 and self.sent(2), 'the change')
        self.assertEqual(got[-1][1], '/api/chat.update')

    def counted(self, outcome):
        """Returns how many deliveries of the servers ended so."""
        texts = [self.server.get('/metrics').raw.decode() for _ in self.server.urls()]
        found = [re.findall(rf'dormouse_deliveries_total{{outcome="{outcome}"}} (\d+)', text)
                 for text in texts]
        return sum(int(number) for numbers in found for number in numbers)

    def test_call_decided_after_a_failure_withdraws_its_messages(self):
        self.receiver.answer = lambda got: (503, {}, b'')
        call = self.ask()
        self.failed()
        self.assertStatus(self.server.decide(call, True), 200)
        self.receiver.answer = Slack()
        eventually(self.all_withdrawn, 'no delivery is left')
        self.assertEqual((self.counted('withdrawn'), self.counted('delivered')), (2, 0))
        self.assertEqual(len(self.receiver.received), 1, 'nobody must be asked any more')

    def all_withdrawn(self):
        self.server.advance(10)
        return not self.deliveries()


class SlackButtons(Notified):
    more = (
        BOT
        + '''
signing_secret_env = "N_SIGNING"
[[user]]
name = "alice"
slack = "U1"
[[user]]
name = "bob"
slack = "U2"
[[user]]
name = "eve"
role = "read"
slack = "U3"
[[user]]
name = "mallory"
projects = ["other"]
slack = "U4"
'''
    )

    def env(self):
        return {'N_SIGNING': 'signing-s3cret'}

    def setUp(self):
        super().setUp()
        self.slack = Slack()
        self.replies = []
        self.receiver.answer = self.answer

    def answer(self, got):
        if got['path'] == '/respond':
            self.replies.append(json.loads(got['body']))
            return 200, {}, b'ok'
        return self.slack(got)

    def button(self, action, n=1):
        """Returns the value of the button in the newest message."""
        body = self.sent(n)[-1][2]
        (actions,) = [b for b in body['blocks'] if b['type'] == 'actions']
        return {e['action_id']: e for e in actions['elements']}[action]['value']

    def body(self, user, action, value, **more):
        payload = {
            'type': 'block_actions',
            'user': {'id': user},
            'actions': [{'action_id': action, 'value': value, 'type': 'button'}],
            'response_url': self.receiver.url + '/respond',
            **more,
        }
        return ('payload=' + urllib.parse.quote(json.dumps(payload))).encode()

    def press(self, user, action, value, secret='signing-s3cret', **more):
        body = self.body(user, action, value, **more)
        return self.send(body, slack(secret, body))

    def send(self, body, headers):
        with contextlib.closing(Client(self.server.port, None)) as client:
            return client.call(
                'POST',
                '/async-tool/slack',
                raw=body,
                headers={'Content-Type': 'application/x-www-form-urlencoded', **headers},
            )

    def hears(self, part, count=1):
        eventually(lambda: len(self.replies) >= count, 'words to the person')
        self.assertEqual(self.replies[-1]['response_type'], 'ephemeral')
        self.assertIn(part, self.replies[-1]['text'])

    def receipt(self, call):
        return self.server.get(f'/async-tool/pending/{call["id"]}')['receipt']

    def test_press_decides_in_the_name_of_the_person(self):
        call = self.ask()
        value = self.button('approve')
        self.assertEqual(value, f'{call["id"]} {call["inputDigest"]}')
        self.in_state('delivered')
        self.assertStatus(self.press('U1', 'approve', value), 200)
        receipt = self.receipt(call)
        self.assertEqual((receipt['by']['name'], receipt['via']), ('alice', 'slack'))
        self.assertIn('Approved by alice', json.dumps(self.sent(2)[-1]))
        self.assertStatus(self.press('U1', 'approve', value), 200)  # pressed twice
        self.hears('decided so before')
        self.assertStatus(self.press('U2', 'deny', value), 200)
        self.hears('It was alice who answered. Your answer was not applied.', 2)
        self.assertEqual(self.receipt(call), receipt)

    def test_message_that_does_not_show_all_has_a_link_only(self):
        texts = ('short', 'x' * 1100, 'a\u200bb')
        for n, text in enumerate(texts, 1):
            self.server.create('background ' + text)
            body = self.sent(n)[-1][2]
            (actions,) = [b for b in body['blocks'] if b['type'] == 'actions']
            names = [e['action_id'] for e in actions['elements']]
            self.assertEqual(names, ['open'] if n > 1 else ['approve', 'deny', 'open'])

    def test_first_of_two_presses_wins(self):
        call = self.ask()
        value = self.button('deny')
        threads = [
            threading.Thread(target=self.press, args=(user, action, value))
            for user, action in (('U1', 'approve'), ('U2', 'deny'))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        winner = self.receipt(call)['by']['name']
        self.assertIn(winner, ('alice', 'bob'))
        self.hears(f'It was {winner} who answered')
        self.assertEqual(len(self.replies), 1)

    def test_press_without_right_decides_nothing(self):
        call = self.ask()
        value = self.button('approve')
        for n, (user, part) in enumerate(
            (('U9', 'belongs to no [[user]]'), ('', 'belongs to no'), ('U3', 'not answer'),
             ('U4', 'not found')), 1,
        ):
            self.assertStatus(self.press(user, 'approve', value), 200)
            self.hears(part, n)
        self.assertEqual(self.receipt(call), None)

    def test_press_for_other_arguments_is_refused(self):
        call = self.ask()
        value = call['id'] + ' sha256:' + 64 * '0'
        self.assertStatus(self.press('U1', 'approve', value), 200)
        self.hears('Your answer was not applied.')
        self.assertEqual(self.receipt(call), None)

    def test_only_what_slack_signed_now_is_read(self):
        call = self.ask()
        body = self.body('U1', 'approve', self.button('approve'))
        self.assertProblem(self.send(body, {}), 401, 'bad_signature')
        wrong = slack('other', body)
        self.assertProblem(self.send(body, wrong), 401, 'bad_signature')
        good = slack('signing-s3cret', body)
        self.assertProblem(self.send(body + b'&x=y', good), 401, 'bad_signature')
        self.server.advance(301)
        self.assertProblem(self.send(body, good), 401, 'stale_signature')
        self.assertEqual(self.receipt(call), None)
        self.assertEqual(self.replies, [])

    def test_other_and_malformed_payloads_do_nothing(self):
        call = self.ask()
        value = self.button('approve')
        self.assertStatus(self.press('U1', 'open', value), 200)
        self.assertStatus(self.press('U1', 'approve', value, type='view_submission'), 200)
        self.assertStatus(self.press('U1', 'approve', value, actions=[]), 200)
        self.assertStatus(self.press('U1', 'approve', 'no call'), 400)
        for raw in (b'', b'payload', b'payload=%7B', b'payload=[]', b'payload=%22x%22', b'%zz'):
            answer = self.send(raw, slack('signing-s3cret', raw))
            self.assertIn(answer.status, (200, 400), raw)
        self.assertEqual(self.receipt(call), None)

    def test_words_go_to_no_private_address(self):
        self.ask()
        value = self.button('approve')
        self.press('U9', 'approve', value, response_url='http://127.0.0.1:1/respond')
        self.press('U9', 'approve', value, response_url='file:///etc/passwd')
        self.press('U9', 'approve', value)
        self.hears('belongs to no')
        self.assertEqual(len(self.replies), 1)


class Hanging(Notified):
    more = BOT

    def test_service_that_hangs_is_given_up_after_the_time_limit(self):
        # The time limit of outgoing HTTP is one of the machine's clock.
        given_up = threading.Event()
        self.receiver.answer = lambda got: given_up.wait(60) and (200, {}, {'ok': True})
        self.addCleanup(given_up.set)
        self.ask()
        self.assertTrue(self.failed()['lastError'])


class Discord(Notified):
    more = DISCORD

    def test_message_changes_when_the_call_expires_or_is_decided(self):
        self.receiver.answer = lambda got: (200, {}, {'id': '42'})
        call = self.ask()
        ((method, path, body),) = self.sent(1)
        self.assertEqual((method, path), ('POST', f'/hook/{SECRET}?wait=true'))
        self.assertEqual(body['allowed_mentions'], {'parse': []})
        self.in_state('delivered')
        self.assertStatus(self.server.decide(call, True), 200)
        _, (method, path, body) = self.sent(2)
        self.assertEqual((method, path), ('PATCH', f'/hook/{SECRET}/messages/42'))
        self.assertIn('Approved by first', body['embeds'][0]['title'])

    def test_limit_in_the_body_is_respected(self):
        answers = [(429, {}, {'message': 'You are being rate limited.', 'retry_after': 64.5})]
        self.receiver.answer = lambda got: answers.pop() if answers else (200, {}, {'id': '1'})
        self.ask()
        first = self.failed()
        self.assertGreaterEqual(first['nextAt'], first['time']['created'] + 60_000)
        self.server.advance(70)
        self.in_state('delivered')


class Telegram(Notified):
    more = TELEGRAM

    def test_message_changes_when_the_call_is_decided(self):
        self.receiver.answer = lambda got: (
            200, {}, {'ok': True, 'result': {'message_id': 7, 'chat': {'id': -1001}}},
        )
        call = self.ask()
        ((_, path, body),) = self.sent(1)
        self.assertEqual((path, body['chat_id']), (f'/bot{SECRET}/sendMessage', '-1001'))
        self.assertNotIn('parse_mode', body)
        (button,) = body['reply_markup']['inline_keyboard'][0]
        self.assertEqual(button['url'], f'https://dm.example.org/a/{call["id"]}')
        self.in_state('delivered')
        self.assertStatus(self.server.decide(call, True), 200)
        _, (_, path, body) = self.sent(2)
        self.assertEqual((path, body['message_id']), (f'/bot{SECRET}/editMessageText', 7))
        self.assertIn('Approved by first', body['text'])


    def test_limit_in_the_body_is_respected(self):
        limited = {'ok': False, 'error_code': 429, 'description': 'Too Many Requests',
                   'parameters': {'retry_after': 64}}
        taken = {'ok': True, 'result': {'message_id': 7, 'chat': {'id': -1001}}}
        answers = [(200, {}, taken), (429, {}, limited)]
        self.receiver.answer = lambda got: answers.pop()
        self.ask()
        first = self.failed()
        self.assertGreaterEqual(first['nextAt'], first['time']['created'] + 60_000)
        self.server.advance(70)
        self.in_state('delivered')


class Teams(Notified):
    more = TEAMS

    def test_failure_inside_an_answer_of_success_is_tried_again(self):
        failure = b'Webhook message delivery failed: endpoint returned HTTP error 429'
        answers = [(200, {}, b'1'), (200, {}, failure), (429, {'Retry-After': '64'}, b'')]
        self.receiver.answer = lambda got: answers.pop()
        self.ask()
        first = self.failed()
        self.assertGreaterEqual(first['nextAt'], first['time']['created'] + 60_000)
        self.server.advance(70)
        eventually(lambda: self.deliveries()[-1]['attempts'] == 2, 'the second attempt')
        self.assertIn('Teams did not take', self.deliveries()[-1]['lastError'])
        self.server.advance(3600)
        self.in_state('delivered')

    def test_card_is_sent_once(self):
        self.receiver.answer = lambda got: (202, {}, b'')
        call = self.ask()
        ((_, _, body),) = self.sent(1)
        card = body['attachments'][0]['content']
        self.assertEqual(card['actions'][0]['url'], f'https://dm.example.org/a/{call["id"]}')
        self.in_state('delivered')
        self.assertStatus(self.server.decide(call, True), 200)
        self.server.at_rest(call['sessionID'])
        self.assertEqual(len(self.deliveries()), 1)


class Ntfy(Notified):
    more = NTFY

    def test_topic_gets_the_question(self):
        self.receiver.answer = lambda got: (200, {}, {'id': 'x', 'event': 'message'})
        call = self.ask()
        ((_, path, body),) = self.sent(1)
        self.assertEqual((path, body['topic']), ('/hook/', SECRET))
        self.assertEqual(body['click'], f'https://dm.example.org/a/{call["id"]}')
        self.assertEqual(self.receiver.received[0]['headers']['authorization'], 'Bearer ' + SECRET)
        self.assertIn('Ship <!here> & A?', body['message'])
        self.assertNotIn('sequence_id', body)
        self.in_state('delivered')
        # Its outcome replaces it, without a sound.
        self.assertStatus(self.server.decide(call, True), 200)
        _, (_, path, body) = self.sent(2)
        self.assertEqual((path, body['topic'], body['sequence_id']), ('/hook/', SECRET, 'x'))
        self.assertIn('Approved by first', body['title'])
        self.assertEqual(body['priority'], 2)

    def test_limit_is_tried_again_and_a_refused_message_is_not(self):
        answers = [
            (400, {}, {'code': 40009, 'http': 400, 'error': 'invalid request'}),
            (200, {}, {'id': 'x', 'event': 'message'}),
            (429, {'Retry-After': '64'}, {'code': 42901, 'http': 429, 'error': 'limit reached'}),
        ]
        self.receiver.answer = lambda got: answers.pop()
        self.ask()
        first = self.failed()
        self.assertIn('limit reached', first['lastError'])
        self.assertGreaterEqual(first['nextAt'], first['time']['created'] + 60_000)
        self.server.advance(70)
        self.in_state('delivered')
        self.ask()
        (dead,) = self.in_state('dead')
        self.assertIn('invalid request', dead['lastError'])


if __name__ == '__main__':
    main()
