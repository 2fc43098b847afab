#!/usr/bin/env python3
"""Outgoing webhooks (requirement A10): a call's outcome with both signatures, session events,
retries, the same delivery over a SIGKILL under the same id, refused addresses, the list of
deliveries, notifications, warnings before a deadline."""
import json
import pathlib
import socket
import tempfile
import threading
import time

import webhook_peers
from dormouse import Case, Client, main, wait_for
from stored import STORE
from tools_by_config import DEPLOYS, Service, eventually
from webhook_peers import WHSEC, Receiver, plain, standard

CONFIG = '''
[server]
demo = %(demo)s
webhook_hosts = ["%(host)s"]
%(tool)s
%(more)s
'''
TOOL = DEPLOYS + '''
[[tool]]
name = "deploy"
kind = "http"
url = "%(service)s/job"
webhook_url = "%(hook)s"
webhook_secret_env = "S_JOB"
'''
SECRETS = {'S_JOB': 'shared-secret', 'S_EVENTS': WHSEC}


class Sent(Case):
    more = ''
    env = {}
    demo = False

    def setUp(self):
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)
        self.service = Service()
        self.addCleanup(self.service.close)
        self.service.answer = lambda handler, body: handler.say(202, {'externalRef': 'j-1'})
        self.serve(self.receiver.url + '/done')

    def serve(self, hook, more=None, hosts=None):
        folder = tempfile.TemporaryDirectory(prefix='dormouse-webhooks-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        path = self.folder / 'dormouse.toml'
        tool = '' if self.demo else TOOL % {'service': self.service.url, 'hook': hook}
        text = CONFIG % {
            'host': self.receiver.host if hosts is None else hosts,
            'tool': tool,
            'demo': 'true' if self.demo else 'false',
            'more': (self.more if more is None else more)
            .replace('RECEIVER', self.receiver.url)
            .replace('FOLDER', str(self.folder)),
        }
        path.write_text(text)
        env = {
            **SECRETS,
            **{k: v.replace('RECEIVER', self.receiver.url) for k, v in self.env.items()},
        }
        self.server = self.new_server('--config', str(path), env=env)
        self.addCleanup(self.server.clean)

    def job(self):
        session = self.server.create('deploy A', agent='ops')['id']
        return session, self.server.open_calls(session)[0]['id']

    def deliveries(self, state=''):
        return self.server.items('/api/deliveries' + (f'?state={state}' if state else ''))

    def in_state(self, state, count=1):
        return eventually(
            lambda: (found := self.deliveries(state)) and len(found) == count and found,
            f'{count} {state}',
        )


class Outcomes(Sent):
    def test_call_webhook_has_both_signatures(self):
        session, pending = self.job()
        call = self.server.get(f'/async-tool/pending/{pending}').json
        self.assertEqual(call['webhookURL'], self.receiver.url + '/done')
        self.assertStatus(self.server.result(pending, {'ok': 1}, title='T'), 200)
        (got,) = self.receiver.wait(1)
        body = json.loads(got['body'])
        receipt = self.server.get(f'/async-tool/pending/{pending}')['receipt']
        self.assertEqual(
            body,
            {
                'pendingID': pending,
                'result': {'title': 'T', 'output': {'ok': 1}, 'metadata': None},
                'status': 'completed',
                'sessionID': session,
                'receipt': {k: receipt[k] for k in ('status', 'digest', 'at')},
            },
        )
        headers = got['headers']
        self.assertEqual(headers['x-webhook-signature'], plain('shared-secret', got['body']))
        expected = standard(
            'shared-secret', got['body'], headers['webhook-id'], int(headers['webhook-timestamp'])
        )
        self.assertEqual(headers['webhook-signature'], expected['webhook-signature'])
        self.assertEqual(headers['content-type'], 'application/json')
        (delivery,) = self.in_state('delivered')
        self.assertEqual(
            (
                delivery['id'],
                delivery['type'],
                delivery['attempts'],
                delivery['lastStatus'],
                delivery['sessionID'],
            ),
            (headers['webhook-id'], 'call', 1, 200, session),
        )
        self.assertNotIn('shared-secret', self.server.log.read_text())

    def test_early_result_is_delivered_as_any_other(self):
        early = []

        def answer(handler, body):
            pending = json.loads(body)['pendingID']
            client = self.server.new_client()
            early.append(
                (
                    pending,
                    client.post(
                        '/async-tool/result', {'pendingID': pending, 'result': {'output': 'soon'}}
                    ),
                )
            )
            client.close()
            handler.say(202, {'externalRef': 'j-1'})

        self.service.answer = answer
        session = self.server.create('deploy A', agent='ops')['id']
        self.server.at_rest(session)
        # The session may become idle before the service has read the answer to its result.
        wait_for(lambda: early)
        ((pending, settled),) = early
        self.assertEqual(self.assertStatus(settled, 200)['outcome'], 'applied')
        self.assertNotIn('call_paused', [e['type'] for e in self.server.events(session)])
        (got,) = self.receiver.wait(1)
        body = json.loads(got['body'])
        self.assertEqual((body['pendingID'], body['status']), (pending, 'completed'))
        self.assertEqual(body['result']['output'], 'soon')
        self.assertEqual(got['headers']['x-webhook-signature'], plain('shared-secret', got['body']))
        self.assertIn('webhook-signature', got['headers'])
        self.in_state('delivered')
        self.server.restart()
        self.assertEqual(len(self.deliveries()), 1)
        # The same again is a duplicate and is not delivered again.
        self.assertTrue(self.server.result(pending, 'soon')['duplicate'])
        self.assertEqual(len(self.deliveries()), 1)

    def test_errors_expiry_and_cancel_are_delivered(self):
        _, first = self.job()
        self.server.error(first, 'no room')
        _, second = self.job()
        self.server.delete(f'/async-tool/pending/{second}')
        got = {
            json.loads(r['body'])['pendingID']: json.loads(r['body']) for r in self.receiver.wait(2)
        }
        self.assertEqual((got[first]['error'], got[first]['status']), ('no room', 'failed'))
        self.assertEqual((got[second]['error'], got[second]['status']), ('cancelled', 'cancelled'))

    def test_delivery_is_retried_under_the_same_id(self):
        self.receiver.answer = lambda received: 503 if len(self.receiver.received) == 1 else 204
        _, pending = self.job()
        self.server.result(pending, 'x')
        first, second = self.receiver.wait(2)
        self.assertEqual(first['headers']['webhook-id'], second['headers']['webhook-id'])
        self.assertEqual(first['body'], second['body'])
        (delivery,) = self.in_state('delivered')
        self.assertEqual((delivery['attempts'], delivery['lastStatus']), (2, 204))

    def test_redirect_is_a_failure_and_410_ends_it(self):
        self.receiver.answer = lambda received: (302, {'Location': self.receiver.url + '/other'})
        _, pending = self.job()
        self.server.result(pending, 'x')
        self.receiver.wait(1)
        (delivery,) = eventually(
            lambda: [d for d in self.deliveries('pending') if d['attempts'] == 1], 'one attempt'
        )
        self.assertEqual(
            (delivery['lastStatus'], delivery['lastError']), (302, 'the receiver answered 302')
        )
        self.assertNotIn('/other', [r['path'] for r in self.receiver.received])
        self.receiver.answer = lambda received: 410
        self.assertStatus(self.server.post(f'/api/deliveries/{delivery["id"]}/retry'), 200)
        (delivery,) = self.in_state('disabled')
        self.assertEqual(delivery['lastStatus'], 410)
        self.receiver.answer = lambda received: 200
        self.assertStatus(self.server.post(f'/api/deliveries/{delivery["id"]}/retry'), 200)
        self.in_state('delivered')
        self.assertStatus(self.server.delete(f'/api/deliveries/{delivery["id"]}'), 204)
        self.assertEqual(self.deliveries(), [])
        self.assertStatus(self.server.delete(f'/api/deliveries/{delivery["id"]}'), 404)

    def test_kill_before_the_answer_sends_again(self):
        stuck = threading.Event()
        self.addCleanup(stuck.set)
        self.receiver.answer = lambda received: (stuck.wait(30), 200)[1]
        _, pending = self.job()
        self.assertStatus(self.server.result(pending, 'x'), 200)
        (first,) = self.receiver.wait(1)
        self.server.kill()
        stuck.set()
        self.receiver.answer = lambda received: 200
        self.server.start()
        second = self.receiver.wait(2)[1]
        self.assertEqual(first['headers']['webhook-id'], second['headers']['webhook-id'])
        self.assertEqual(first['body'], second['body'])
        self.in_state('delivered')

    def test_acknowledged_delivery_is_sent_over_any_kill(self):
        sent = {}
        for round in range(4):
            pendings = [self.job()[1] for _ in range(3)]
            for pending in pendings:
                self.assertStatus(self.server.result(pending, round), 200)
                sent[pending] = round
            self.server.restart()

        def delivered():
            return {json.loads(r['body'])['pendingID'] for r in list(self.receiver.received)}

        eventually(lambda: delivered() == set(sent), 'all got it')
        by_call = {}
        for received in list(self.receiver.received):
            body = json.loads(received['body'])
            self.assertEqual(body['result']['output'], sent[body['pendingID']])
            by_call.setdefault(body['pendingID'], set()).add(received['headers']['webhook-id'])
        self.assertEqual({len(ids) for ids in by_call.values()}, {1})

    def test_lists_are_strict_and_of_one_project(self):
        for path in (
            '/api/deliveries?state=odd',
            '/api/deliveries?cursor=x',
            '/api/deliveries?limit=0',
            '/api/deliveries?stat=dead',
        ):
            self.assertStatus(self.server.get(path), 400)
        for id in ('x', 'dlv_x', 'dlv_' + 'A' * 22 + '_1_1000', 'dlv_' + 'A' * 22 + '_1'):
            self.assertStatus(self.server.post(f'/api/deliveries/{id}/retry'), 404)
            self.assertStatus(self.server.delete(f'/api/deliveries/{id}'), 404)
        for number in range(3):
            self.server.result(self.job()[1], number)
        self.in_state('delivered', 3)
        page = self.server.get('/api/deliveries?limit=2')
        rest = self.server.get(f'/api/deliveries?limit=2&cursor={page["next"]}')
        self.assertEqual((len(page['items']), len(rest['items'])), (2, 1))
        self.assertEqual(len({d['id'] for d in page['items'] + rest['items']}), 3)
        self.assertEqual(self.server.items('/api/deliveries?project=other'), [])
        # Deliveries of another project are not found.
        made = self.server.post(
            '/api/tokens', {'name': 'other', 'role': 'admin', 'projects': ['other']}
        )
        foreign = Client(self.server.port, self.assertStatus(made, 201)['secret'])
        known = page['items'][0]['id']
        self.assertEqual(foreign.get('/api/deliveries')['items'], [])
        self.assertStatus(foreign.post(f'/api/deliveries/{known}/retry'), 404)
        self.assertStatus(foreign.delete(f'/api/deliveries/{known}'), 404)
        self.assertEqual(len(self.deliveries()), 3)


class Refused(Sent):
    """Nothing is sent to addresses of this machine or its networks, in any notation."""

    def refused(self):
        if STORE != 'postgres':
            return self.in_state('dead')
        self.server.advance(11)  # until then another server could allow it
        return wait_for(lambda: [one for one in self.in_state('pending') if one['attempts']],
                        what='a failed attempt')

    def test_no_connection_is_made(self):
        with socket.socket() as listener:
            listener.bind(('127.0.0.1', 0))
            listener.listen()
            listener.settimeout(0.2)
            port = listener.getsockname()[1]
            hosts = (
                '127.0.0.1',
                'localhost',
                '127.1',
                '0x7f.1',
                '2130706433',
                '[::1]',
                '[::ffff:127.0.0.1]',
                '0.0.0.0',
                'user@127.0.0.1',
                '127.0.0.1.',
            )
            for host in hosts:
                for scheme in ('http', 'https'):
                    self.server.clean()
                    if 'user@' in host:
                        continue
                    self.serve(f'{scheme}://{host}:{port}/x', hosts='nobody.example')
                    _, pending = self.job()
                    self.assertStatus(self.server.result(pending, 'x'), 200)
                    (delivery,) = self.refused()
                    self.assertEqual(delivery['attempts'], 1)
                    self.assertTrue(delivery['lastError'].startswith('not sent: '), delivery)
            with self.assertRaises(TimeoutError):
                listener.accept()


class Events(Sent):
    demo = True
    more = '''
[[webhook]]
url = "RECEIVER/events"
secret_env = "S_EVENTS"
events = ["call_paused", "submitted", "turn_ended"]
'''

    def of_events(self):
        return [r for r in list(self.receiver.received) if r['path'] == '/events']

    def test_events_are_sent_as_standard_webhooks(self):
        session = self.server.create('deploy A')['id']
        pending = self.server.open_calls(session)[0]['id']
        self.server.result(pending, 'up')
        self.server.at_rest(session)
        eventually(lambda: len(self.of_events()) == 3, 'three events')
        events = {e['type']: e for e in self.server.events(session)}
        for received in self.of_events():
            body = json.loads(received['body'])
            self.assertEqual(sorted(body), ['data', 'timestamp', 'type'])
            self.assertEqual(body['data'], events[body['type']])
            headers = received['headers']
            expected = standard(
                WHSEC, received['body'], headers['webhook-id'], int(headers['webhook-timestamp'])
            )
            self.assertEqual(headers['webhook-signature'], expected['webhook-signature'])
            self.assertNotIn('x-webhook-signature', headers)
            self.assertRegex(body['timestamp'], r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$')
        self.assertEqual(
            {json.loads(r['body'])['type'] for r in self.of_events()},
            {'call_paused', 'submitted', 'turn_ended'},
        )

    def test_other_libraries_verify_them(self):
        why = webhook_peers.install()
        if why:
            self.skipTest(why)
        self.server.create('deploy A')
        eventually(self.of_events, 'an event')
        received = self.of_events()[0]
        headers = {k: v for k, v in received['headers'].items() if k.startswith('webhook-')}
        for library in ('standardwebhooks', 'svix', 'openai'):
            request = {
                'verify': library,
                'secret': WHSEC,
                'headers': headers,
                'body': received['body'].decode(),
            }
            answer = webhook_peers.peer(**request)
            self.assertEqual(
                answer.get('payload', answer).get('type'), 'call_paused', (library, answer)
            )
            request['body'] += ' '
            self.assertIn('refused', webhook_peers.peer(**request))


class Fairness(Sent):
    """Receivers that accept connections and never answer, next to one that does."""

    demo = True
    more = '''
[[webhook]]
url = "RECEIVER/live"
secret_env = "S_EVENTS"
events = ["turn_ended"]
'''
    dead = '''
[[webhook]]
url = "%s/dead/%d"
secret_env = "S_EVENTS"
events = ["input_received", "turn_started", "model_requested", "model_replied"]
'''
    sessions = 60
    receivers = 40

    def setUp(self):
        self.silent = socket.create_server(('127.0.0.1', 0), backlog=512)
        self.addCleanup(self.silent.close)
        url = 'http://127.0.0.1:%d' % self.silent.getsockname()[1]
        self.more = self.more + ''.join(self.dead % (url, n) for n in range(self.receivers))
        super().setUp()

    def serve(self, hook, more=None, hosts=None):
        super().serve(hook, more, '127.0.0.1')

    def test_many_dead_receivers_delay_no_live_one(self):
        begin = time.monotonic()
        for _ in range(self.sessions):
            self.server.create('hi')
        made = time.monotonic() - begin
        self.receiver.wait(self.sessions, seconds=max(10, 2 * made))
        self.assertTrue(all(r['path'] == '/live' for r in self.receiver.received))
        waiting = self.server.items('/api/deliveries?state=pending&limit=200')
        dead = [delivery for delivery in waiting if '/dead/' in delivery['url']]
        self.assertEqual(len(dead), self.receivers * 4 * self.sessions)
        self.server.kill()
        self.server.start()  # the backlog holds up nobody either
        before = len(self.receiver.received)
        self.server.create('hi')
        self.receiver.wait(before + 1, seconds=10)


class Silence(Fairness):
    receivers = 200
    sessions = 8

    def test_many_dead_receivers_delay_no_live_one(self):
        """All of them hang at once, and the live one gets every delivery meanwhile."""
        for n in range(self.sessions):
            self.server.create('hi')
            self.receiver.wait(n + 1, seconds=10)
        waiting = self.server.items('/api/deliveries?state=pending&limit=200')
        dead = [one for one in waiting if '/dead/' in one['url']]
        self.assertEqual(len(dead), self.receivers * 4 * self.sessions)
        self.assertEqual({one['attempts'] for one in dead}, {0}, 'none of them has given up yet')
        hanging = {one['url'] for one in dead}
        self.assertEqual(len(hanging), self.receivers)


class Crowd(Fairness):
    """A thousand unknown receivers that all hang."""

    more = '''
[[webhook]]
url = "RECEIVER/live"
secret_env = "S_EVENTS"
events = ["turn_ended"]
[[webhook]]
url = "RECEIVER/late"
secret_env = "S_EVENTS"
events = ["progressed"]
'''
    dead = '''
[[webhook]]
url = "%s/dead/%d"
secret_env = "S_EVENTS"
events = ["call_paused"]
'''
    receivers = 1_000

    def came(self, path):
        return [one for one in self.receiver.received if one['path'] == path]

    def dead_ones(self):
        waiting = self.server.items('/api/deliveries?state=pending&limit=200')
        return [one for one in waiting if '/dead/' in one['url']]

    def test_many_dead_receivers_delay_no_live_one(self):
        self.server.create('hi')
        eventually(lambda: self.came('/live'), 'it is known to answer')
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        self.assertEqual(len(self.dead_ones()), self.receivers)
        progress = {'pendingID': call['id'], 'payload': 1}
        self.assertStatus(self.server.post('/async-tool/progress', progress), 200)
        for n in range(5):
            self.server.create('hi')
            eventually(lambda: len(self.came('/live')) == n + 2, 'word of it')
        untried = [one for one in self.dead_ones() if one['attempts'] == 0]
        self.assertGreater(len(untried), 320, 'they hang, and others wait behind them')
        # It has its turn like each of them: 1,001 by 320, each at most 5 s and the next scan.
        eventually(lambda: self.came('/late'), 'word to one that nobody knows')
        eventually(lambda: all(one['attempts'] for one in self.dead_ones()), 'all had their turn')
        cut = [one for one in self.dead_ones()
               if 'other receivers waited' in (one['lastError'] or '')]
        self.assertGreater(len(cut), 320)
        self.server.kill()


if __name__ == '__main__':
    main()
