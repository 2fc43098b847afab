#!/usr/bin/env python3
"""Results as signed webhooks (requirement A10): kinds of signatures and forged ones, timestamps,
duplicate deliveries, references, deliveries kept until their call exists (over a SIGKILL), and the
example of requirement A19."""
import json
import pathlib
import tempfile
import threading
import time
import urllib.parse

from dormouse import Case, Client, Server, main
from stored import STORE
from tools_by_config import DEPLOYS, Service, eventually
from webhook_peers import WHSEC, plain, slack, standard

OLD = 'whsec_' + 'b2xkLW9sZC1vbGQtb2xkLW9sZC1vbGQ='
CONFIG = '''
[server]
demo = %s
[limits]
failed_auth_per_address_per_s = %s
[[source]]
id = "ci"
kind = "standard"
secrets_env = ["S_CI", "S_CI_OLD"]
tools = ["deploy"]
[[source]]
id = "plain"
kind = "hmac"
secrets_env = ["S_PLAIN"]
[[source]]
id = "gh"
kind = "github"
secrets_env = ["S_GH"]
external_ref = "/workflow_run/id"
output = "/workflow_run/conclusion"
title = "/workflow_run/name"
when = { "/action" = "completed" }
[[source]]
id = "slack"
kind = "slack"
secrets_env = ["S_SLACK"]
pending = "/payload/actions/0/block_id"
output = "/payload/actions/0/value"
[[source]]
id = "elsewhere"
kind = "standard"
secrets_env = ["S_CI"]
project = "other"
[[source]]
id = "unset"
kind = "standard"
secrets_env = ["S_NOT_SET", "S_EMPTY"]
'''
SECRETS = {
    'S_CI': WHSEC,
    'S_CI_OLD': OLD,
    'S_PLAIN': 'plain secret',
    'S_GH': 'gh secret',
    'S_SLACK': 'slack secret',
    'S_EMPTY': '',
    'S_JOB': 'shared-secret',
}


class Webhooks(Case):
    bad_signatures_per_s = 100_000
    tools = ''  # from the configuration; the default is those of the demo

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='dormouse-webhooks-')
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / 'dormouse.toml'
        demo = 'false' if self.tools else 'true'
        path.write_text(CONFIG % (demo, self.bad_signatures_per_s) + self.tools)
        self.server = Server('--config', str(path), env=SECRETS)
        self.addCleanup(self.server.clean)

    def deploy(self, text='deploy A', **more):
        session = self.server.create(text, **more)['id']
        return session, self.server.open_calls(session)[0]['id']

    def send(self, source, body, headers):
        """Sends like a webhook source: without a token."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        client = Client(self.server.port, '')
        try:
            return client.call(
                'POST',
                '/async-tool/webhook' + (f'/{source}' if source else ''),
                raw=raw,
                headers=headers,
            )
        finally:
            client.close()

    def signed(self, body, source='ci', secret=WHSEC, **more):
        raw = json.dumps(body).encode()
        return self.send(source, raw, standard(secret, raw, **more))

    def outcome(self, pending, output='up'):
        return {'pendingID': pending, 'result': {'title': 'T', 'output': output, 'metadata': None}}


class Signed(Webhooks):
    def test_standard_webhook_settles_its_repeat_is_duplicate(self):
        session, pending = self.deploy()
        first = self.assertStatus(self.signed(self.outcome(pending), id='d1'), 200)
        self.assertEqual((first['outcome'], first['duplicate']), ('applied', False))
        self.assertEqual(sorted(first['receipt']), ['at', 'digest', 'status'])
        again = self.assertStatus(self.signed(self.outcome(pending), id='d1'), 200)
        self.assertEqual((again['outcome'], again['duplicate']), ('duplicate', True))
        self.assertEqual(again['receipt'], first['receipt'])
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'deploy A: up')
        receipt = self.server.get(f'/async-tool/pending/{pending}')['receipt']
        self.assertEqual(
            (receipt['by'], receipt['via'], receipt['deliveryID']),
            ({'type': 'webhook', 'name': 'ci'}, 'webhook', 'd1'),
        )

    def test_error_payload_fails_the_call(self):
        session, pending = self.deploy()
        self.assertStatus(self.signed({'pendingID': pending, 'error': 'no room'}), 200)
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'deploy A failed: no room')

    def test_either_secret_signs_and_no_other(self):
        _, pending = self.deploy()
        self.assertProblem(
            self.signed(self.outcome(pending), secret='whsec_' + 'AAAA' * 8), 401, 'bad_signature'
        )
        self.assertStatus(self.signed(self.outcome(pending), secret=OLD), 200)

    def test_forged_signature_changes_nothing(self):
        session, pending = self.deploy()
        raw = json.dumps(self.outcome(pending)).encode()
        good = standard(WHSEC, raw)
        value = good['webhook-signature']
        for bad in (
            '',
            'v1,',
            'v1',
            value[:-1],
            value + 'A',
            value[3:],
            'v1a' + value[2:],
            'v1,' + 'A' * 44,
            'v1,' + value,
            ' '.join(['v1,AAAA'] * 1000),
        ):
            self.assertProblem(
                self.send('ci', raw, {**good, 'webhook-signature': bad}), 401, 'bad_signature'
            )
        self.assertProblem(self.send('ci', raw + b' ', good), 401, 'bad_signature')
        self.assertProblem(self.send('ci', raw, {}), 401, 'bad_signature')
        self.assertProblem(self.send('ci', b'{no json', {}), 401, 'bad_signature')
        self.assertProblem(
            self.send('ci', raw, {'Authorization': f'Bearer {self.server.token}'}),
            401,
            'bad_signature',
        )
        self.assertEqual(len(self.server.open_calls(session)), 1)
        self.assertStatus(self.send('ci', raw, good), 200)

    def test_stale_timestamp_is_refused_with_its_distance(self):
        _, pending = self.deploy()
        for off in (-400, 400):
            answer = self.signed(self.outcome(pending), seconds=int(time.time()) + off)
            self.assertProblem(answer, 401, 'stale_signature')
            self.assertAlmostEqual(answer['skewMs'], -off * 1000, delta=30_000)
        self.assertStatus(self.signed(self.outcome(pending), seconds=int(time.time()) - 200), 200)

    def test_delivery_id_with_another_body_is_refused(self):
        _, first = self.deploy()
        session, second = self.deploy('deploy B')
        self.assertStatus(self.signed(self.outcome(first), id='d1'), 200)
        self.assertProblem(
            self.signed(self.outcome(first, 'else'), id='d1'), 409, 'delivery_reused'
        )
        self.assertProblem(self.signed(self.outcome(second), id='d1'), 409, 'delivery_reused')
        self.server.restart()
        self.assertProblem(self.signed(self.outcome(second), id='d1'), 409, 'delivery_reused')
        self.assertEqual(len(self.server.open_calls(session)), 1)
        self.assertProblem(self.signed(self.outcome(first, 'else'), id='d2'), 409, 'conflict')
        self.assertStatus(self.signed(self.outcome(second), id='d3'), 200)

    def test_source_without_a_secret_is_missing(self):
        _, pending = self.deploy()
        for source in ('unset', 'nobody', 'default', 'ci/more'):
            self.assertStatus(self.signed(self.outcome(pending), source=source), 404)

    def test_source_settles_results_of_its_project_and_tools_only(self):
        _, pending = self.deploy()
        self.assertProblem(self.signed(self.outcome(pending), source='elsewhere'), 404, 'not_found')
        session = self.server.create('approve X')['id']
        approval = self.server.open_calls(session)[0]['id']
        raw = json.dumps(self.outcome(approval)).encode()
        answer = self.send('plain', raw, {'X-Webhook-Signature': plain('plain secret', raw)})
        self.assertProblem(answer, 403, 'forbidden')
        self.assertProblem(self.signed(self.outcome(approval)), 403, 'forbidden')
        unknown = pending[:-4] + 'AAAA'
        self.assertProblem(self.signed(self.outcome(unknown), id='u'), 404, 'not_found')
        self.assertProblem(self.signed(self.outcome('x'), id='x'), 404, 'not_found')

    def test_hostile_bodies_under_a_good_signature(self):
        _, pending = self.deploy()
        for number, body in enumerate(
            (
                b'{no json',
                b'[' * 100,
                b'[]',
                b'5',
                b'null',
                b'{"a":1,"a":2}',
                b'{"pendingID":"%s"}' % pending.encode(),
                b'"' + b'\xff' + b'"',
                json.dumps({**self.outcome(pending), 'error': 'both'}).encode(),
                json.dumps({'pendingID': [pending], 'error': 'e'}).encode(),
            )
        ):
            answer = self.send('ci', body, standard(WHSEC, body, id=f'h{number}'))
            self.assertIn(answer.status, (400, 404, 422), answer)
        big = json.dumps(self.outcome(pending, 'x' * 1_100_000)).encode()
        self.assertStatus(self.send('ci', big, standard(WHSEC, big)), 413)
        form = b'pendingID=x'
        headers = {**standard(WHSEC, form), 'Content-Type': 'application/x-www-form-urlencoded'}
        self.assertProblem(self.send('ci', form, headers), 415, 'unsupported_media_type')
        self.assertStatus(self.signed(self.outcome(pending), id='good'), 200)


class OtherKinds(Webhooks):
    def test_plain_hmac_with_and_without_its_prefix(self):
        for prefix in ('', 'sha256='):
            _, pending = self.deploy()
            raw = json.dumps(self.outcome(pending)).encode()
            good = plain('plain secret', raw)
            for bad in (good[:-1], good + '0', 'sha1=' + good, '0' * 64, ''):
                self.assertProblem(
                    self.send('plain', raw, {'X-Webhook-Signature': bad}), 401, 'bad_signature'
                )
            headers = {'X-Webhook-Signature': prefix + good}
            self.assertStatus(self.send('plain', raw, headers), 200)
            # Only the content is signed: it is recognised under any id.
            again = self.send('plain', raw, {**headers, 'webhook-id': 'another'})
            self.assertEqual(self.assertStatus(again, 200)['outcome'], 'duplicate')

    def test_slack_sends_forms(self):
        session, pending = self.deploy()
        payload = {'type': 'block_actions', 'actions': [{'block_id': pending, 'value': 'go'}]}
        raw = urllib.parse.urlencode({'payload': json.dumps(payload)}).encode()
        form = {'Content-Type': 'application/x-www-form-urlencoded'}
        headers = {**form, **slack('slack secret', raw)}
        bad = {**headers, 'X-Slack-Signature': 'v0=' + '0' * 64}
        self.assertProblem(self.send('slack', raw, bad), 401, 'bad_signature')
        self.assertStatus(self.send('slack', raw, headers), 200)
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'deploy A: go')


class References(Webhooks):
    def setUp(self):
        self.service = Service()
        self.addCleanup(self.service.close)
        self.reference = '4711'
        self.service.answer = lambda handler, body: handler.say(
            202, {'externalRef': self.reference, 'estimatedDuration': 300000}
        )
        self.tools = DEPLOYS + f'''
[[tool]]
name = "deploy"
kind = "http"
url = "{self.service.url}/build"
'''
        super().setUp()

    def build(self, server=None):
        server = server or self.server
        session = server.create('deploy A', agent='ops')['id']
        return session, server.open_calls(session)[0]['id']

    def github(self, delivery='g1', action='completed', run=4711, conclusion='success'):
        body = {
            'action': action,
            'workflow_run': {'id': run, 'name': 'CI', 'conclusion': conclusion},
        }
        raw = json.dumps(body).encode()
        return self.send(
            'gh',
            raw,
            {
                'X-Hub-Signature-256': 'sha256=' + plain('gh secret', raw),
                'X-GitHub-Delivery': delivery,
                'X-GitHub-Event': 'workflow_run',
            },
        )

    def test_call_is_found_by_its_external_reference(self):
        session, pending = self.build()
        listed = self.server.items('/async-tool/pending?externalRef=4711')
        self.assertEqual([call['id'] for call in listed], [pending])
        self.assertEqual(listed[0]['estimatedDuration'], 300000)
        self.assertEqual(self.server.items('/async-tool/pending?externalRef=4712'), [])
        self.assertEqual(
            self.assertStatus(self.github(action='requested'), 200)['outcome'], 'ignored'
        )
        self.assertEqual(len(self.server.open_calls(session)), 1)
        self.assertEqual(self.assertStatus(self.github(), 200)['outcome'], 'applied')
        again = self.assertStatus(self.github(), 200)
        self.assertEqual((again['outcome'], again['duplicate']), ('duplicate', True))
        self.assertProblem(self.github(delivery='g2', conclusion='failure'), 409, 'conflict')
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'deploy A: success')

    def test_same_content_under_another_id_is_a_duplicate(self):
        session, _ = self.build()
        self.assertEqual(self.assertStatus(self.github(), 200)['outcome'], 'applied')
        self.server.at_rest(session)
        _, second = self.build()
        replayed = self.assertStatus(self.github(delivery='another'), 200)
        self.assertEqual((replayed['outcome'], replayed['duplicate']), ('duplicate', True))
        (waiting,) = self.server.items('/async-tool/pending?externalRef=4711&status=waiting')
        self.assertEqual(waiting['id'], second)

    def test_equal_concurrent_deliveries_apply_once(self):
        session, _ = self.build()
        answers = []
        threads = [
            threading.Thread(target=lambda: answers.append(self.github())) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([answer.status for answer in answers], [200] * 8)
        outcomes = sorted(answer['outcome'] for answer in answers)
        self.assertEqual(outcomes, ['applied'] + ['duplicate'] * 7)
        self.server.at_rest(session)

    def test_two_calls_of_one_reference_are_ambiguous(self):
        _, first = self.build()
        self.build()
        self.assertProblem(self.github(), 409, 'ambiguous_reference')
        self.assertStatus(self.server.result(first, 'by hand'), 200)
        self.assertEqual(self.assertStatus(self.github(), 200)['outcome'], 'applied')

    def test_delivery_before_its_call_survives_a_crash(self):
        self.assertEqual(self.assertStatus(self.github(), 202)['outcome'], 'kept')
        again = self.assertStatus(self.github(), 202)
        self.assertEqual((again['outcome'], again['duplicate']), ('kept', True))
        self.assertProblem(self.github(conclusion='failure'), 409, 'delivery_reused')
        self.server.restart()
        self.assertEqual(self.assertStatus(self.github(), 202)['duplicate'], True)
        session = self.server.create('deploy A', agent='ops')['id']
        eventually(lambda: self.server.session(session)['activity']['type'] == 'idle', 'settled')
        self.assertEqual(self.server.last_text(session), 'deploy A: success')
        receipt = next(
            e['data']['receipt'] for e in self.server.events(session) if e['type'] == 'submitted'
        )
        self.assertEqual(receipt['deliveryID'], 'g1')
        self.assertEqual(self.assertStatus(self.github(), 200)['outcome'], 'duplicate')
        # A later job with that reference is another call, whichever server has it.
        for server in filter(None, [self.server, self.server.beside]):
            _, later = self.build(server)
            self.assertEqual(self.assertStatus(self.github(), 200)['outcome'], 'duplicate')
            self.assertEqual(self.server.get(f'/async-tool/pending/{later}')['status'], 'waiting')
            self.assertStatus(self.server.result(later, 'by hand'), 200)

    def test_delivery_before_the_call_of_a_client_is_for_that_call(self):
        self.assertEqual(self.assertStatus(self.github(), 202)['outcome'], 'kept')
        asked = {'question': 'Which build?', 'kind': 'result', 'tool': 'deploy',
                 'externalRef': '4711'}
        status = lambda call: self.server.get(f'/async-tool/pending/{call["pendingID"]}')['status']
        # An approval is a person's: the delivery stays for a call that it fits.
        approval = self.assertStatus(
            self.server.post('/api/pending', {**asked, 'kind': 'approval'}), 201)
        self.assertStatus(self.server.delete(f'/api/sessions/{approval["sessionID"]}'), 204)
        call = self.assertStatus(self.server.post('/api/pending', asked), 201)
        eventually(lambda: status(call) == 'completed', 'the result')
        self.assertEqual(self.assertStatus(self.github(), 200)['outcome'], 'duplicate')
        later = self.assertStatus(self.server.post('/api/pending', asked), 201)
        self.assertEqual(status(later), 'waiting')
        self.assertStatus(self.server.result(later['pendingID'], 'by hand'), 200)

    def test_same_content_of_a_kept_delivery_is_a_duplicate(self):
        self.assertEqual(self.assertStatus(self.github(), 202)['outcome'], 'kept')
        if not self.server.beside:
            copy = self.assertStatus(self.github(delivery='g2'), 202)
            self.assertEqual((copy['outcome'], copy['duplicate']), ('kept', True))
        session = self.server.create('deploy A', agent='ops')['id']
        eventually(lambda: self.server.session(session)['activity']['type'] == 'idle', 'settled')
        _, later = self.build()
        copy = self.assertStatus(self.github(delivery='g3'), 200)
        self.assertEqual((copy['outcome'], copy['duplicate']), ('duplicate', True))
        self.assertEqual(self.server.get(f'/async-tool/pending/{later}')['status'], 'waiting')

    def test_delivery_without_a_call_is_dropped_after_a_day(self):
        self.assertEqual(self.assertStatus(self.github(), 202)['outcome'], 'kept')
        self.server.while_down('UPDATE kept SET at = at - 86390000')
        self.assertEqual(self.assertStatus(self.github(), 202)['duplicate'], True)
        self.server.while_down('UPDATE kept SET at = at - 20000')
        _, pending = self.build()
        self.assertEqual(self.server.get(f'/async-tool/pending/{pending}')['status'], 'waiting')
        again = self.assertStatus(self.github(), 200)
        self.assertEqual((again['outcome'], again['duplicate']), ('applied', False))

    def test_day_passed_while_down_also_drops_the_delivery(self):
        self.assertEqual(self.assertStatus(self.github(run=4712), 202)['outcome'], 'kept')
        _, pending = self.build()
        self.server.while_down("UPDATE kept SET at = at - 86410000, ref = '4711'")
        self.server.advance(60)  # past the next offer
        self.assertEqual(self.server.get(f'/async-tool/pending/{pending}')['status'], 'waiting')
        self.assertStatus(self.server.result(pending, 'by hand'), 200)

    def test_too_many_kept_deliveries_are_refused(self):
        self.assertEqual(self.assertStatus(self.github(), 202)['outcome'], 'kept')
        key = {'sqlite': 'randomblob(16)', 'postgres': "decode(md5(i::text), 'hex')"}[STORE]
        self.server.while_down(
            'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9998)'
            f' INSERT INTO kept SELECT {key}, digest, id || i, at, source, project,'
            " 'r' || i, body FROM kept, n"
        )
        self.assertStatus(self.github(delivery='g2', run=4712), 202)
        refused = self.github(delivery='g3', run=4713)
        self.assertProblem(refused, 429, 'too_many_pending')
        self.assertGreater(int(refused.headers['Retry-After']), 0)
        self.server.create('deploy A', agent='ops')  # makes room: one kept delivery is for it
        eventually(
            lambda: self.github(delivery='g3', run=4713).status == 202, 'there is room for it'
        )


if __name__ == '__main__':
    main()
