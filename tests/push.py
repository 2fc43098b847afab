#!/usr/bin/env python3
"""Web Push: [[notify]] of kind web-push, against a fake push service. Libraries of others decrypt
what it receives and check the server's signature."""
import base64
import json
import pathlib
import stat
import tempfile
import threading
import time

import webhook_peers
from dormouse import Case, Client, Server, leave_out, main, run, wait_for
from tools_by_config import eventually
from webhook_peers import Receiver

CONFIG = '''
[server]
demo = true
push_contact = "mailto:ops@example.org"
webhook_hosts = ["%(host)s"]

[[gate]]
tools = ["deploy"]
ask = "Deploy to {input.target}?"
%(gate)s

[[notify]]
kind = "web-push"
%(notify)s
'''


def setUpModule():
    if why := webhook_peers.install():
        leave_out(why)


class Browser:
    """A browser that is signed in, with a subscription."""

    def __init__(self, test, name='ann', role='answer', path='/push/1', **link):
        self.test = test
        self.name = name
        answer = test.server.post('/api/links', {'name': name, 'role': role, **link})
        code = test.assertStatus(answer, 201)['url'].split('#')[1]
        answer = self.client().post('/sign-in', {'code': code}, Connection='close')
        self.cookie = test.assertStatus(answer, 200).headers['Set-Cookie'].split(';')[0]
        self.path = path
        self.keys = webhook_peers.peer('push.mjs', subscribe=True)

    def client(self):
        return Client(self.test.server.port, None)

    def call(self, method, path, body=None, **headers):
        own = f'http://127.0.0.1:{self.test.server.port}'
        headers = {'Cookie': self.cookie, 'Origin': own, 'Connection': 'close', **headers}
        return self.client().call(method, path, body, headers=headers)

    def subscription(self, **changes):
        keys = {name: self.keys[name] for name in ('p256dh', 'auth')}
        endpoint = self.test.receiver.url + self.path
        return {'endpoint': endpoint, 'label': 'Firefox on Android', **keys, **changes}

    def enable(self):
        answer = self.call('POST', '/api/devices', self.subscription())
        self.id = self.test.assertStatus(answer, 201)['id']
        return self

    def devices(self):
        return self.test.assertStatus(self.call('GET', '/api/devices'), 200)['items']

    def open(self, got):
        """Decrypts a message and checks who sent it."""
        opened = webhook_peers.peer('push.mjs', open={
            'secret': self.keys['secret'],
            'auth': self.keys['auth'],
            'body': base64.b64encode(got['body']).decode(),
            'authorization': got['headers']['authorization'],
        })
        self.test.assertEqual(got['path'], self.path)
        self.test.assertEqual(opened['claims']['aud'], self.test.receiver.url)
        self.test.assertEqual(opened['claims']['sub'], 'mailto:ops@example.org')
        life = opened['claims']['exp'] - time.time() - self.test.server.ahead
        self.test.assertTrue(3_600 < life <= 86_400, life)
        self.test.assertEqual(opened['key'], self.call('GET', '/api/devices')['key'])
        return json.loads(opened['text'])


class Pushed(Case):
    notify = ''
    gate = ''

    def setUp(self):
        self.receiver = Receiver(lambda got: 201)
        self.addCleanup(self.receiver.close)
        folder = tempfile.TemporaryDirectory(prefix='dormouse-push-')
        self.addCleanup(folder.cleanup)
        self.config = pathlib.Path(folder.name) / 'dormouse.toml'
        self.write_config()
        self.server = Server('--config', str(self.config))
        self.addCleanup(self.server.clean)

    def write_config(self):
        settings = {'host': self.receiver.host, 'notify': self.notify, 'gate': self.gate}
        self.config.write_text(CONFIG % settings)

    def ask(self, target='shop'):
        session = self.server.create(f'deploy {target}')['id']
        (call,) = self.server.open_calls(session)
        return call

    def deliveries(self):
        return self.server.items('/api/deliveries')

    def newest(self, state, count=1):
        return eventually(
            lambda: len(found := [d for d in self.deliveries() if d['state'] == state]) >= count
            and found[0],
            f'{count} {state}',
        )

    def failed(self):
        return eventually(
            lambda: (found := self.deliveries()) and found[0]['attempts'] and found[0], 'attempt'
        )

    def tearDown(self):
        self.assertNotIn('/push/', self.server.log.read_text(), 'addresses are secrets')
        self.assertNotIn('/push/', json.dumps(self.deliveries()))


class Messages(Pushed):
    def test_question_and_outcome_reach_the_browser(self):
        browser = Browser(self).enable()
        call = self.ask()
        (got,) = self.receiver.wait(1)
        message = browser.open(got)
        self.assertEqual(
            message,
            {'type': 'call', 'pendingID': call['id'], 'headline': 'Approval wanted',
             'settled': False, 'question': 'Deploy to shop?', 'tool': 'deploy',
             'agentID': 'demo', 'deadline': None,
             'open': f'/?open={call["id"]}'},
        )
        headers = got['headers']
        self.assertEqual(headers['content-encoding'], 'aes128gcm')
        self.assertEqual(headers['urgency'], 'high')
        self.assertGreater(int(headers['ttl']), 0)
        self.assertRegex(headers['topic'], r'^[\w-]{32}$')
        self.assertLessEqual(len(got['body']), 4096)
        self.newest('delivered')
        self.assertStatus(self.server.decide(call, True), 200)
        _, after = self.receiver.wait(2)
        message = browser.open(after)
        self.assertTrue(message['settled'])
        self.assertIn('Approved by first', message['headline'])
        self.assertEqual(after['headers']['topic'], headers['topic'], 'it replaces the question')
        self.newest('delivered', 2)

    def test_device_and_message_survive_sigkill(self):
        browser = Browser(self).enable()
        self.receiver.answer = lambda got: 503
        call = self.ask()
        self.receiver.wait(1)
        self.failed()
        self.server.restart()
        self.receiver.answer = lambda got: 201
        self.server.advance(60)
        *_, got = self.receiver.wait(2)
        self.assertEqual(browser.open(got)['pendingID'], call['id'])
        self.newest('delivered')
        self.assertEqual([d['id'] for d in browser.devices()], [browser.id])

    def test_message_in_flight_at_sigkill_is_sent_again(self):
        browser = Browser(self).enable()
        requested = threading.Event()
        self.receiver.answer = lambda got: requested.wait(30) and self.server.kill() or 201
        call = self.ask()
        requested.set()
        self.receiver.wait(1)
        eventually(lambda: not self.server.alive(), 'the end of the server')
        self.receiver.answer = lambda got: 201
        self.server.start()
        first, second = self.receiver.wait(2)
        self.assertEqual(browser.open(second)['pendingID'], call['id'])
        self.assertEqual(first['headers']['topic'], second['headers']['topic'])

    def test_too_many_requests_is_tried_again_after_that_time(self):
        browser = Browser(self).enable()
        self.receiver.answer = lambda got: (429, {'Retry-After': '600'})
        call = self.ask()
        self.receiver.wait(1)
        delivery = self.failed()
        self.assertEqual((delivery['state'], delivery['lastStatus']), ('pending', 429))
        self.receiver.answer = lambda got: 201
        self.server.advance(590)
        self.assertEqual(len(self.receiver.received), 1, 'Retry-After is respected')
        self.server.advance(60)
        _, got = self.receiver.wait(2)
        self.assertEqual(browser.open(got)['pendingID'], call['id'])

    def test_question_that_is_late_is_not_sent(self):
        Browser(self).enable()
        self.receiver.answer = lambda got: (503, {'Retry-After': '600'})
        call = self.ask()
        self.receiver.wait(1)
        self.failed()
        self.assertStatus(self.server.decide(call, False), 200)
        self.receiver.answer = lambda got: 201
        self.server.advance(60)
        self.server.advance(60)
        self.server.advance(1200)
        wait_for(lambda: not self.server.items('/api/deliveries'), what='both are withdrawn')
        self.assertEqual(len(self.receiver.received), 1, 'nobody must hear of it any more')

    def test_gone_device_is_removed(self):
        for status in 404, 410:
            with self.subTest(status=status):
                browser = Browser(self, path=f'/push/{status}').enable()
                self.receiver.answer = lambda got: status
                self.ask()
                self.newest('disabled')
                eventually(lambda: browser.devices() == [], 'removal')
                self.server.term()
                self.server.start()
                self.assertEqual(browser.devices(), [])
                self.ask()
                self.server.advance(60)
        self.assertEqual(len(self.receiver.received), 2)

    def test_message_too_large_is_given_up_and_reported(self):
        Browser(self).enable()
        self.receiver.answer = lambda got: 413
        self.ask()
        delivery = self.newest('dead')
        self.assertIn('413', delivery['lastError'])
        self.assertIn('is not tried any more', self.server.log.read_text())

    def test_redirect_and_malformed_answers_are_failures(self):
        Browser(self).enable()
        self.receiver.answer = lambda got: (307, {'Location': self.receiver.url + '/elsewhere'})
        self.ask()
        self.assertEqual(self.failed()['lastStatus'], 307)
        self.assertEqual([got['path'] for got in self.receiver.received], ['/push/1'])


class People(Pushed):
    notify = 'to = ["ann", "bob"]'
    gate = 'answerers = ["ann"]'

    def test_only_those_who_may_answer_get_a_message(self):
        ann = Browser(self, 'ann').enable()
        bob = Browser(self, 'bob', path='/push/bob').enable()
        Browser(self, 'eve', path='/push/eve').enable()
        call = self.ask()
        (got,) = self.receiver.wait(1)
        self.assertEqual(ann.open(got)['pendingID'], call['id'])
        self.newest('delivered')
        # What was sent is replaced, also for somebody who may not answer any more.
        answer = self.server.post(f'/async-tool/pending/{call["id"]}/reassign', {'to': ['bob']})
        self.assertStatus(answer, 200)
        self.assertEqual(self.receiver.wait(2)[1]['path'], '/push/bob')
        self.newest('delivered', 2)
        decision = {
            'pendingID': call['id'], 'approved': True, 'inputDigest': call['inputDigest']}
        self.assertStatus(bob.call('POST', '/async-tool/decision', decision), 200)
        outcomes = self.receiver.wait(4)[2:]
        self.assertEqual({got['path'] for got in outcomes}, {'/push/1', '/push/bob'})


class OtherProjects(Pushed):
    def test_person_of_another_project_gets_nothing(self):
        Browser(self, projects=['other']).enable()
        self.ask()
        self.server.advance(30)
        self.assertEqual(self.deliveries(), [])


class Devices(Pushed):
    def test_added_listed_tested_and_removed(self):
        browser = Browser(self).enable()
        (device,) = browser.devices()
        self.assertEqual(
            {**device, 'time': None},
            {'id': browser.id, 'label': 'Firefox on Android', 'service': self.receiver.host,
             'current': True, 'time': None},
        )
        other = Browser(self, path='/push/2')
        self.assertEqual([d['current'] for d in other.devices()], [False], 'the same person')
        tested = self.assertStatus(browser.call('POST', f'/api/devices/{browser.id}/test'), 200)
        self.assertEqual(
            tested.json, {'taken': True, 'status': 201, 'why': None, 'removed': False})
        (got,) = self.receiver.wait(1)
        self.assertEqual(browser.open(got), {'type': 'test', 'open': '/you'})
        self.assertStatus(browser.call('DELETE', f'/api/devices/{browser.id}'), 204)
        self.assertEqual(browser.devices(), [])
        self.assertProblem(
            browser.call('DELETE', f'/api/devices/{browser.id}'), 404, 'not_found')
        self.ask()
        self.server.advance(30)
        self.assertEqual(len(self.receiver.received), 1)
        audit = [line['type'] for line in self.server.items('/api/audit')]
        self.assertIn('device_added', audit)
        self.assertIn('device_removed', audit)

    def test_same_endpoint_replaces_the_device(self):
        browser = Browser(self).enable()
        first = browser.id
        browser.enable()
        self.assertNotEqual(browser.id, first)
        self.assertEqual([d['id'] for d in browser.devices()], [browser.id])

    def test_others_neither_see_nor_touch_it(self):
        browser = Browser(self).enable()
        bob = Browser(self, 'bob')
        self.assertEqual(bob.devices(), [])
        for method, path in (
            ('DELETE', f'/api/devices/{browser.id}'),
            ('POST', f'/api/devices/{browser.id}/test'),
        ):
            self.assertProblem(bob.call(method, path), 404, 'not_found')
        reader = Browser(self, 'carl', role='read')
        self.assertProblem(reader.call('GET', '/api/devices'), 403, 'forbidden')
        self.assertEqual(len(browser.devices()), 1)

    def test_other_sites_cannot_add_one(self):
        browser = Browser(self)
        answer = browser.call(
            'POST', '/api/devices', browser.subscription(), Origin='https://evil.example')
        self.assertProblem(answer, 403, 'origin_refused')
        self.assertEqual(browser.devices(), [])

    def test_refused_subscriptions(self):
        browser = Browser(self)
        point = browser.keys['p256dh']
        off_curve = point[:-2] + ('AA' if point[-2:] != 'AA' else 'BA')
        for changes, pointer in (
            ({'endpoint': 'http://push.example.org/x'}, '/endpoint'),
            ({'endpoint': 'https://10.0.0.1/x'}, '/endpoint'),
            ({'endpoint': 'https://localhost/x'}, '/endpoint'),
            ({'endpoint': 'https://u:p@push.example.org/'}, '/endpoint'),
            ({'endpoint': 'https://push.example.org/' + 'x' * 2_048}, '/endpoint'),
            ({'endpoint': None}, '/endpoint'),
            ({'p256dh': off_curve}, '/p256dh'),
            ({'auth': 'AAAA'}, '/p256dh'),
            ({'auth': 'A' * 33}, '/auth'),
            ({'label': 'a\x07b'}, '/label'),
            ({'label': 'x' * 101}, '/label'),
        ):
            with self.subTest(changes=changes):
                answer = browser.call('POST', '/api/devices', browser.subscription(**changes))
                self.assertEqual(answer.status, 400, answer.json)
                self.assertEqual(answer['pointer'], pointer)
        answer = browser.call('POST', '/api/devices', browser.subscription(more=1))
        self.assertProblem(answer, 400, 'unknown_field')
        self.assertEqual(browser.devices(), [])

    def test_first_token_has_none(self):
        subscription = Browser(self).subscription()
        self.assertProblem(self.server.post('/api/devices', subscription), 409, 'wrong_state')

    def test_ten_of_a_person(self):
        browser = Browser(self)
        for n in range(10):
            browser.path = f'/push/{n}'
            browser.enable()
        browser.path = '/push/10'
        answer = browser.call('POST', '/api/devices', browser.subscription())
        self.assertProblem(answer, 409, 'wrong_state')
        browser.path = '/push/3'
        browser.enable()  # it is replaced
        self.assertEqual(len(browser.devices()), 10)

    def test_tests_say_what_went_wrong_and_are_counted(self):
        browser = Browser(self).enable()
        test = lambda: browser.call('POST', f'/api/devices/{browser.id}/test')
        self.receiver.answer = lambda got: 403
        refused = self.assertStatus(test(), 200).json
        self.assertEqual((refused['taken'], refused['status']), (False, 403))
        self.assertIn('push.key', refused['why'])
        for _ in range(4):
            self.assertStatus(test(), 200)
        answer = test()
        self.assertProblem(answer, 429, 'rate_limited')
        self.server.advance(60)
        self.receiver.answer = lambda got: 410
        gone = self.assertStatus(test(), 200).json
        self.assertEqual((gone['taken'], gone['removed']), (False, True))
        self.assertEqual(browser.devices(), [])


class Ends(Pushed):
    def rows(self):
        return [(row['person'],) for row in self.server.select('SELECT person FROM devices')]

    def silent(self):
        self.ask()
        self.server.advance(30)
        self.assertEqual(self.receiver.received, [])
        self.assertEqual(self.rows(), [])

    def test_sign_out(self):
        browser = Browser(self).enable()
        self.assertEqual(self.rows(), [('ann',)])
        self.assertStatus(browser.call('DELETE', '/sign-in'), 204)
        self.silent()

    def test_revoked_token(self):
        browser = Browser(self).enable()
        (token,) = [t for t in self.server.items('/api/tokens') if t['kind'] == 'cookie']
        self.assertStatus(self.server.delete(f'/api/tokens/{token["id"]}'), 204)
        self.silent()
        self.assertProblem(browser.call('GET', '/api/devices'), 401, 'unauthenticated')

    def test_revoked_token_takes_its_waiting_message(self):
        Browser(self).enable()
        self.receiver.answer = lambda got: 503
        self.ask()
        self.receiver.wait(1)
        self.failed()
        (token,) = [t for t in self.server.items('/api/tokens') if t['kind'] == 'cookie']
        self.assertStatus(self.server.delete(f'/api/tokens/{token["id"]}'), 204)
        for _ in self.server.urls():
            self.assertNotIn(token, self.server.items('/api/tokens'))  # each server knows of it
        self.server.advance(60)
        self.assertEqual(self.newest('disabled')['lastError'], 'this device was removed')
        self.assertEqual(len(self.receiver.received), 1)

    def test_expired_token(self):
        Browser(self).enable()
        self.server.advance(31 * 86_400)
        self.ask()
        eventually(lambda: self.rows() == [], 'removal')
        self.silent()


class Key(Pushed):
    def test_key_is_made_once_and_private(self):
        file = pathlib.Path(self.server.directory) / 'push.key'
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        before = file.read_text()
        key = Browser(self).call('GET', '/api/devices')['key']
        self.assertRegex(key, r'^[\w-]{87}$')
        self.server.restart()
        self.assertEqual(file.read_text(), before)
        self.assertEqual(Browser(self).call('GET', '/api/devices')['key'], key)
        self.assertNotIn(before.strip(), self.server.log.read_text())

    def test_damaged_key_is_refused(self):
        file = pathlib.Path(self.server.directory) / 'push.key'
        self.server.term()
        file.write_text('short\n')
        done = run('serve', '--config', self.config, '--data', self.server.directory,
                   '--listen', '127.0.0.1:0')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('push.key is damaged', done.stderr)
        file.unlink()
        self.server.start()


class NotConfigured(Case):
    def test_nothing_is_taken(self):
        self.assertEqual(self.server.get('/api/devices').json, {'key': None, 'items': []})
        keys = webhook_peers.peer('push.mjs', subscribe=True)
        device = {'endpoint': 'https://push.example.org/x',
                  **{name: keys[name] for name in ('p256dh', 'auth')}}
        self.assertProblem(self.server.post('/api/devices', device), 409, 'wrong_state')
        self.assertFalse((pathlib.Path(self.server.directory) / 'push.key').exists())


if __name__ == '__main__':
    main()
