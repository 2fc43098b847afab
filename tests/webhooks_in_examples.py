#!/usr/bin/env python3
"""Results as signed webhooks: the example of requirement A19, signatures made by other libraries,
and floods of forged ones."""
import http.client
import json
import threading
import time

import webhook_peers
from dormouse import main
from tools_by_config import DEPLOYS, Service, eventually
from webhook_peers import WHSEC, plain, standard
from webhooks_in import Webhooks


class SpecExample(Webhooks):
    """The example of requirement A19: its payload, and its signature."""

    def setUp(self):
        self.service = Service()
        self.addCleanup(self.service.close)
        self.service.answer = lambda handler, body: handler.say(
            202,
            {
                'externalRef': 'deploy-123',
                'estimatedDuration': 300000,
                'placeholder': 'Deployment deploy-123 started',
            },
        )
        body = '{"branch":{"$input":"/target"},"callbackID":{"$call":"pendingID"}}'
        self.tools = DEPLOYS + f"""
[[tool]]
name = "deploy"
kind = "http"
url = "{self.service.url}/deployments"
body = '''{body}'''
webhook_secret_env = "S_JOB"
"""
        super().setUp()

    def test_deploy_preview(self):
        session = self.server.create('deploy main', agent='ops')['id']
        (call,) = self.server.open_calls(session)
        ((_, _, request),) = self.service.requests
        pending = json.loads(request)['callbackID']
        self.assertEqual(pending, call['id'])
        self.assertEqual(
            (call['externalRef'], call['estimatedDuration'], call['placeholder']),
            ('deploy-123', 300000, 'Deployment deploy-123 started'),
        )
        body = json.dumps(
            {
                'pendingID': pending,
                'result': {
                    'title': 'Deployment Complete',
                    'output': 'Preview deployed to https://preview-123.example.com',
                    'metadata': {
                        'url': 'https://preview-123.example.com',
                        'deploymentID': 'deploy-123',
                    },
                },
            }
        ).encode()
        self.server.restart()
        for headers in (
            {},
            {'X-Webhook-Signature': '0' * 64},
            {'X-Webhook-Signature': plain('another', body)},
        ):
            self.assertProblem(self.send('', body, headers), 401, 'bad_signature')
        good = {'X-Webhook-Signature': plain('shared-secret', body)}
        self.assertEqual(self.assertStatus(self.send('', body, good), 200)['outcome'], 'applied')
        self.assertEqual(self.assertStatus(self.send('', body, good), 200)['outcome'], 'duplicate')
        self.server.at_rest(session)
        self.assertIn(
            'Preview deployed to https://preview-123.example.com', self.server.last_text(session)
        )
        receipt = self.server.get(f'/async-tool/pending/{pending}')['receipt']
        self.assertEqual((receipt['by']['type'], receipt['via']), ('webhook', 'webhook'))
        whole = json.dumps([self.server.events(session), self.server.messages(session)])
        self.assertNotIn('shared-secret', whole)
        self.assertNotIn('shared-secret', self.server.log.read_text())

    def test_secret_signs_for_its_own_call_only(self):
        session = self.server.create('deploy main', agent='ops')['id']
        self.server.open_calls(session)
        for body in ({'error': 'e'}, {'pendingID': 'x', 'error': 'e'}, []):
            raw = json.dumps(body).encode()
            answer = self.send('', raw, {'X-Webhook-Signature': plain('shared-secret', raw)})
            self.assertStatus(answer, 404)


class LibrariesOfOthers(Webhooks):
    def setUp(self):
        why = webhook_peers.install()
        if why:
            self.skipTest(why)
        super().setUp()

    def test_signatures_of_the_library_are_accepted(self):
        for library in ('standardwebhooks', 'svix'):
            _, pending = self.deploy()
            body = json.dumps(self.outcome(pending))
            headers = webhook_peers.peer(
                sign=library, secret=WHSEC, id=f'{library}-1', body=body, seconds=int(time.time())
            )['headers']
            self.assertStatus(self.send('ci', body.encode(), headers), 200)

    def test_signatures_of_octokit_are_accepted(self):
        body = json.dumps(
            {
                'action': 'completed',
                'workflow_run': {'id': 1, 'name': 'CI', 'conclusion': 'success'},
            }
        )
        headers = webhook_peers.peer(sign='octokit', secret='gh secret', id='o-1', body=body)[
            'headers'
        ]
        self.assertEqual(
            self.assertStatus(self.send('gh', body.encode(), headers), 202)['outcome'], 'kept'
        )
        self.assertProblem(self.send('gh', body.encode() + b' ', headers), 401, 'bad_signature')


class Floods(Webhooks):
    """Bad signatures, from many addresses of this machine."""

    bad_signatures_per_s = 3

    def post(self, address, source, body, headers):
        connection = http.client.HTTPConnection(
            '127.0.0.1', self.server.port, timeout=20, source_address=(address, 0)
        )
        path = '/async-tool/webhook' + (f'/{source}' if source else '')
        connection.request('POST', path, body, {'Content-Type': 'application/json', **headers})
        reply = connection.getresponse()
        reply.read()
        connection.close()
        return reply

    def bad(self, address, source='ci'):
        return self.post(address, source, b'{}', standard('whsec_' + 'AAAA' * 8, b'{}'))

    def good(self, address, id):
        raw = json.dumps(self.outcome(self.pending)).encode()
        return self.post(address, 'ci', raw, standard(WHSEC, raw, id=id)).status

    def until_limited(self, address, source='ci'):
        """Repeats until one second reaches its limit, because seconds have boundaries."""
        for n in range(50):
            reply = self.bad(address, source)
            if reply.status == 429:
                self.assertEqual(int(reply.headers['Retry-After']), 1)
                return
            self.assertEqual(reply.status, 401)
        self.fail('never limited')

    def test_bad_signatures_limit_their_address_only(self):
        _, self.pending = self.deploy()
        self.until_limited('127.0.0.2')
        self.assertEqual(self.good('127.0.0.3', 'd1'), 200)
        # A good one from there is refused too, because it is not checked, and is accepted a second
        # later.
        self.until_limited('127.0.0.2')
        statuses = []
        eventually(
            lambda: statuses.append(self.good('127.0.0.2', 'd1')) or statuses[-1] == 200,
            'it is taken',
        )
        self.assertLessEqual(set(statuses), {200, 429})
        self.assertLess(statuses.count(200), 2)

    def test_flooded_source_still_accepts_good_signatures(self):
        _, self.pending = self.deploy()
        stop, refused = threading.Event(), []

        def flood(n):
            while not stop.is_set():
                refused.append(self.bad(f'127.1.{n}.{len(refused) % 250 + 1}').status)

        threads = [threading.Thread(target=flood, args=(n,)) for n in range(3)]
        for thread in threads:
            thread.start()
        try:
            eventually(lambda: len(refused) > 100, 'a flood')
            for n in range(5):
                self.assertEqual(self.good('127.0.0.9', f'd{n}'), 200)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertLessEqual(set(refused), {401, 429})

    def test_calls_own_secret_is_limited_too(self):
        statuses = [
            self.post('127.0.0.4', '', b'{"pendingID":"x"}', {'X-Webhook-Signature': 'x'}).status
            for _ in range(40)
        ]
        self.assertIn(429, statuses)
        self.assertLessEqual(set(statuses), {404, 401, 429})


if __name__ == '__main__':
    main()
