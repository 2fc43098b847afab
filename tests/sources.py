#!/usr/bin/env python3
"""Each option of a `[[source]]` with real deliveries: accepted, ignored or refused, and what was
settled. One test for each key; none can be left out."""
import json
import unittest

from dormouse import main, tests_of_keys, wait_for
from tools_by_config import Service
from webhook_peers import WHSEC, plain, slack, standard
from webhooks_in import OLD, SECRETS, Webhooks

DEMO = '[server]\ndemo = true\n[limits]\nfailed_auth_per_address_per_s = 1000\n'
HMAC = 'kind = "hmac"\nsecrets_env = ["S_PLAIN"]\n'


class EachOne(Webhooks):
    def setUp(self):
        """Each test starts the server with its sources."""

    def started(self, *sources, more=DEMO):
        return self.configured(more + '\n'.join('[[source]]\n' + s for s in sources), **SECRETS)

    def hmac(self, body, source='ci'):
        raw = json.dumps(body).encode()
        return self.send(source, raw, {'X-Webhook-Signature': plain('plain secret', raw)})

    def settled(self, body, expected, source='ci'):
        """Settles a call by the delivery that `body` makes of its id; returns the agent's text."""
        session, pending = self.deploy()
        answer = self.assertStatus(self.hmac(body(pending), source), 200)
        self.assertEqual(answer['outcome'], 'applied')
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), expected)
        return pending

    def refused(self, answer, status, code, pending):
        self.assertProblem(answer, status, code)
        self.assertEqual(self.server.get(f'/async-tool/pending/{pending}')['status'], 'waiting')

    def test_id(self):
        self.started('id = "ci"\n' + HMAC, 'id = "default"\n' + HMAC)
        for source in ('ci', 'default', ''):
            self.settled(self.outcome, 'deploy A: up', source)
        _, pending = self.deploy()
        self.refused(self.hmac(self.outcome(pending), 'CI'), 404, 'not_found', pending)

    def test_kind(self):
        kinds = ('standard', 'hmac', 'github', 'slack')
        self.started(
            *(f'id = "{kind}"\nkind = "{kind}"\nsecrets_env = ["S_PLAIN"]\n' for kind in kinds)
        )
        secret = SECRETS['S_PLAIN']
        for n, kind in enumerate(kinds):
            session, pending = self.deploy()
            raw = json.dumps(self.outcome(pending)).encode()
            signed = {
                'standard': standard(secret, raw),
                'hmac': {'X-Webhook-Signature': plain(secret, raw)},
                'github': {
                    'X-Hub-Signature-256': 'sha256=' + plain(secret, raw),
                    'X-GitHub-Delivery': str(n),
                },
                'slack': slack(secret, raw),
            }
            for other in kinds:
                if other != kind:
                    answer = self.send(kind, raw, signed[other])
                    self.refused(answer, 401, 'bad_signature', pending)
            self.assertStatus(self.send(kind, raw, signed[kind]), 200)

    def test_secrets_env(self):
        """Any secret that is set verifies; a rotation has two for a while."""
        self.started(
            'id = "ci"\nkind = "standard"\nsecrets_env = ["S_NOT_SET", "S_CI", "S_CI_OLD"]\n',
            'id = "unset"\nkind = "standard"\nsecrets_env = ["S_NOT_SET", "S_EMPTY"]\n',
        )
        for n, secret in enumerate((WHSEC, OLD)):
            _, pending = self.deploy()
            self.assertStatus(self.signed(self.outcome(pending), secret=secret, id=f'd{n}'), 200)
        _, pending = self.deploy()
        answer = self.signed(self.outcome(pending), secret='whsec_' + 'AAAA' * 8)
        self.refused(answer, 401, 'bad_signature', pending)
        for secret in (WHSEC, ''):
            answer = self.signed(self.outcome(pending), source='unset', secret=secret)
            self.refused(answer, 404, 'not_found', pending)

    def test_project(self):
        self.started('id = "ci"\n' + HMAC, 'id = "other"\nproject = "other"\n' + HMAC)
        _, pending = self.deploy()
        self.refused(self.hmac(self.outcome(pending), 'other'), 404, 'not_found', pending)
        _, pending = self.deploy(project='other')
        self.refused(self.hmac(self.outcome(pending)), 404, 'not_found', pending)
        self.assertStatus(self.hmac(self.outcome(pending), 'other'), 200)

    def test_tools(self):
        self.started(
            'id = "ci"\ntools = ["dep*", "dangerous"]\n' + HMAC,
            'id = "no"\ntools = ["dangerous"]\n' + HMAC,
        )
        _, pending = self.deploy()
        self.refused(self.hmac(self.outcome(pending), 'no'), 403, 'forbidden', pending)
        self.assertStatus(self.hmac(self.outcome(pending)), 200)

    def test_pending(self):
        self.started('id = "ci"\npending = "/job/args/0"\n' + HMAC)
        body = lambda pending: {
            'job': {'args': [pending]},
            'result': {'title': 'T', 'output': 'up', 'metadata': None},
        }
        self.settled(body, 'deploy A: up')
        _, pending = self.deploy()
        for other in (self.outcome(pending), body(None), body([pending]), {'job': pending}):
            self.refused(self.hmac(other), 400, 'bad_value', pending)

    def test_output(self):
        self.started('id = "ci"\noutput = "/run/conclusion"\n' + HMAC)
        for output, expected in (('good', 'good'), ({'a': [1]}, '{"a":[1]}'), (None, 'null')):
            body = lambda pending: {'pendingID': pending, 'run': {'conclusion': output}}
            self.settled(body, f'deploy A: {expected}')
        _, pending = self.deploy()
        self.refused(self.hmac({'pendingID': pending, 'run': {}}), 400, 'bad_value', pending)

    def test_error(self):
        self.started('id = "ci"\nerror = "/failure"\noutput = "/out"\n' + HMAC)
        body = lambda failure: lambda pending: {
            'pendingID': pending,
            'out': 'up',
            'failure': failure,
        }
        self.settled(body('no room'), 'deploy A failed: no room')
        self.settled(body({'code': 7}), 'deploy A failed: {"code": 7}')
        self.settled(body(None), 'deploy A: up')
        self.settled(lambda pending: {'pendingID': pending, 'out': 'up'}, 'deploy A: up')

    def test_title(self):
        self.started('id = "ci"\ntitle = "/name"\noutput = "/out"\n' + HMAC)
        for name, title in (('Nightly', 'Nightly'), (7, '7'), (None, '')):
            session, pending = self.deploy()
            body = {'pendingID': pending, 'out': 'up', 'name': name}
            self.assertStatus(self.hmac(body), 200)
            self.server.at_rest(session)
            state = self.server.messages(session)[1]['parts'][0]['state']
            self.assertEqual(state.get('title') or '', title)

    def test_when(self):
        when = 'when = { "/action" = "completed", "/run/attempt" = 2, "/run/ok" = true }\n'
        self.started('id = "ci"\noutput = "/run"\n' + HMAC + when)
        meant = {'action': 'completed', 'run': {'attempt': 2, 'ok': True}}
        session, pending = self.deploy()
        for other in (
            {**meant, 'action': 'requested'},
            {**meant, 'action': None},
            {'action': 'completed'},
            {**meant, 'run': {'attempt': 1, 'ok': True}},
            {**meant, 'run': {'attempt': 2, 'ok': False}},
        ):
            answer = self.assertStatus(self.hmac({'pendingID': pending, **other}), 200)
            self.assertEqual((answer['outcome'], answer['receipt']), ('ignored', None))
        self.assertEqual(len(self.server.open_calls(session)), 1)
        self.assertStatus(self.hmac({'pendingID': pending, **meant}), 200)

    def test_external_ref(self):
        service = Service()
        self.addCleanup(service.close)
        service.answer = lambda handler, body: handler.say(202, {'externalRef': 'run-7'})
        self.started(
            'id = "ci"\nexternal_ref = "/run/id"\noutput = "/run"\n' + HMAC,
            more='[[model]]\nid = "m"\nkind = "scripted"\n[[agent]]\nid = "ops"\nmodel = "m"\n'
            'tools = ["deploy"]\n[[tool]]\nname = "deploy"\nkind = "http"\n'
            f'url = "{service.url}/build"\n',
        )
        early = self.assertStatus(self.hmac({'run': {'id': 'run-7', 'n': 1}}), 202)
        self.assertEqual(early['outcome'], 'kept')
        session = self.server.create('deploy A', agent='ops')['id']
        # The call pauses, and takes the kept delivery a moment later.
        wait_for(lambda: self.server.last_text(session) == 'deploy A: {"id":"run-7","n":1}')
        for body in ({}, {'run': {'id': ''}}, {'run': {'id': []}}, {'run': {'id': 'x' * 4097}}):
            self.assertProblem(self.hmac(body), 400, 'bad_value')


class Every(unittest.TestCase):
    def test_no_key_is_without_a_test(self):
        self.assertEqual(*tests_of_keys('source', EachOne))


if __name__ == '__main__':
    main()
