#!/usr/bin/env python3
"""Outputs too long for the journal are stored whole as artifacts: over SIGKILLs, in forks, until
their session is deleted; reads return the bytes that were sent (rule 13)."""
import hashlib
import json

from dormouse import Case, Client, main
from http_raw import kill_during
from stored import STORE

TEXT = 'ä line of a log\n' * 150_000  # 2.4 MB
BYTES = TEXT.encode()


class Artifacts(Case):
    def waiting(self):
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        return session, call['id']

    def state(self, session):
        """Returns the state of the newest tool part."""
        parts = [p for m in self.server.messages(session) for p in m['parts']]
        return [p['state'] for p in parts if p['type'] == 'tool'][-1]

    def fetch(self, artifact, **headers):
        return self.server.get(f'/api/artifacts/{artifact}', **headers)

    def types(self, session):
        return [e['type'] for e in self.server.events(session)]

    def kept(self):
        """Returns a session with an artifact, and the artifact's id."""
        session, pending = self.waiting()
        self.assertStatus(self.server.result(pending, TEXT), 200)
        self.server.at_rest(session)
        return session, self.state(session)['artifactID']


class Kept(Artifacts):
    def test_long_result_is_whole_after_a_kill_and_settles_once(self):
        session, pending = self.waiting()
        self.server.restart()
        applied = self.assertStatus(self.server.result(pending, TEXT), 200)
        self.server.kill()  # right after the acknowledgement
        self.server.start()
        self.server.at_rest(session)
        types = self.types(session)
        self.assertEqual(types.count('artifact_emitted'), 1)
        self.assertEqual(types[types.index('artifact_emitted') + 1], 'submitted')
        state = self.state(session)
        output = state['output']
        self.assertEqual(set(output), {'truncated', 'head', 'tail', 'bytes', 'artifactID'})
        self.assertEqual((output['truncated'], output['bytes']), (True, len(BYTES)))
        self.assertTrue(TEXT.startswith(output['head']) and TEXT.endswith(output['tail']))
        self.assertEqual(state['artifactID'], output['artifactID'])
        report = self.assertStatus(self.server.get(f'/api/explain/{state["artifactID"]}'), 200)
        self.assertEqual([c['pendingID'] for c in report['calls']], [pending])
        answer = self.assertStatus(self.fetch(state['artifactID']), 200)
        self.assertEqual(answer.raw, BYTES)
        for output, status, outcome in ((TEXT, 200, 'duplicate'), (TEXT + 'x', 409, None)):
            again = self.server.result(pending, output)
            self.assertEqual(again.status, status, again)
            if outcome:
                self.assertEqual(again['outcome'], outcome)
                self.assertEqual(again['receipt']['digest'], applied['receipt']['digest'])
        # The agent got the beginning and the end, and continued.
        text = self.server.last_text(session)
        self.assertTrue(text.startswith('deploy A: {"truncated":true,"head":'), text[:60])
        self.assertIn(state['artifactID'], text)
        self.assertLess(len(text), 20_000)

    def test_event_names_the_artifact(self):
        session, artifact = self.kept()
        (event,) = [e for e in self.server.events(session) if e['type'] == 'artifact_emitted']
        self.assertEqual(
            event['data'],
            {
                'artifactID': artifact,
                'name': 'output.txt',
                'mime': 'text/plain; charset=utf-8',
                'bytes': len(BYTES),
                'digest': 'sha256:' + hashlib.sha256(BYTES).hexdigest(),
                'callID': 'call_1',
            },
        )
        (shown,) = [
            e['object']
            for e in self.server.items(f'/api/sessions/{session}/events?view=objects&limit=200')
            if e['type'] == 'artifact_emitted'
        ]
        self.assertEqual((shown['type'], shown['callID']), ('tool', 'call_1'))

    def test_non_text_output_is_stored_as_json(self):
        session, pending = self.waiting()
        output = {'lines': ['x' * 1000] * 2000}
        self.assertStatus(self.server.result(pending, output), 200)
        self.server.at_rest(session)
        answer = self.fetch(self.state(session)['artifactID'])
        self.assertEqual(answer.json, output)
        self.assertEqual(answer.headers['Content-Type'], 'application/json')
        self.assertEqual(
            answer.headers['Content-Disposition'], 'attachment; filename="output.json"'
        )

    def test_one_of_a_batch_may_be_long(self):
        session = self.server.create('deploy A and B')['id']
        calls = self.server.open_calls(session)
        items = [
            {'pendingID': c['id'], 'result': {'output': o}} for c, o in zip(calls, (TEXT, 'short'))
        ]
        answer = self.server.post('/async-tool/results', {'items': items})
        self.assertEqual([i['status'] for i in answer['items']], [200, 200], answer)
        self.server.at_rest(session)
        self.assertEqual(self.types(session).count('artifact_emitted'), 1)


class Fetched(Artifacts):
    def test_headers_prevent_execution_and_allow_caching(self):
        _, artifact = self.kept()
        answer = self.fetch(artifact)
        tag = '"' + hashlib.sha256(BYTES).hexdigest() + '"'
        self.assertEqual(answer.headers['ETag'], tag)
        self.assertEqual(answer.headers['Content-Type'], 'text/plain; charset=utf-8')
        self.assertEqual(answer.headers['Content-Disposition'], 'inline; filename="output.txt"')
        self.assertEqual(answer.headers['X-Content-Type-Options'], 'nosniff')
        self.assertIn('sandbox', answer.headers['Content-Security-Policy'])
        self.assertEqual(answer.headers['Cache-Control'], 'private, no-cache')
        known = self.fetch(artifact, If_None_Match=f'"x", {tag}')
        self.assertEqual((known.status, known.raw, known.headers['ETag']), (304, b'', tag))
        head = self.server.call('HEAD', f'/api/artifacts/{artifact}')
        self.assertEqual((head.status, head.raw), (200, b''))
        self.assertEqual(int(head.headers['Content-Length']), len(BYTES))

    def test_foreign_token_and_wrong_id_see_nothing(self):
        session, artifact = self.kept()
        outsider = Client(self.server.port, 'wrong')
        self.assertProblem(outsider.get(f'/api/artifacts/{artifact}'), 401, 'unauthenticated')
        outsider.close()
        number = int(artifact.rsplit('_', 1)[1])
        for wrong in (
            artifact[:-1] + 'x',
            f'{artifact.rsplit("_", 1)[0]}_{number + 1}',  # an event of another type
            f'{artifact.rsplit("_", 1)[0]}_999999',
            'art_' + 'A' * 22 + '_1',
            session,
        ):
            self.assertProblem(self.fetch(wrong), 404, 'not_found')

    def test_artifact_is_deleted_with_its_session_fork_has_a_copy(self):
        session, artifact = self.kept()
        fork = self.assertStatus(self.server.post(f'/api/sessions/{session}/fork', {}), 201)['id']
        own = self.state(fork)['artifactID']
        self.assertNotEqual(own, artifact)
        self.assertEqual(self.state(fork)['output']['artifactID'], own)
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        self.assertProblem(self.fetch(artifact), 404, 'not_found')
        self.server.restart()
        self.assertProblem(self.fetch(artifact), 404, 'not_found')
        self.assertEqual(self.fetch(own).raw, BYTES)


class Crashed(Artifacts):
    def test_kill_during_upload_leaves_all_or_nothing(self):
        body = {'result': {'output': TEXT}}
        for delay in (0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12):
            session, pending = self.waiting()
            raw = json.dumps({'pendingID': pending, **body}).encode()
            kill_during(self.server, delay, '/async-tool/result', raw)
            types = self.types(session)
            self.assertEqual(types.count('artifact_emitted'), types.count('submitted'), delay)
            answer = self.assertStatus(self.server.result(pending, TEXT), 200)
            self.assertEqual(answer['duplicate'], 'submitted' in types)
            self.server.at_rest(session)
            self.assertEqual(self.types(session).count('artifact_emitted'), 1)
            self.assertEqual(self.fetch(self.state(session)['artifactID']).raw, BYTES)


class Refused(Artifacts):
    def test_body_too_large_is_413_and_the_call_still_waits(self):
        session, pending = self.waiting()
        room = (8 << 20) - 512
        answer = self.server.result(pending, 'x' * (8 << 20))
        self.assertProblem(answer, 413, 'too_large')
        self.server.client = self.server.new_client()
        self.assertEqual(self.server.get(f'/async-tool/pending/{pending}')['status'], 'waiting')
        self.assertStatus(self.server.result(pending, 'x' * room), 200)
        self.server.at_rest(session)
        self.assertEqual(self.state(session)['output']['bytes'], room)


class Damaged(Artifacts):
    def damage(self, statement):
        self.assertEqual(self.server.term(), 0)
        self.assertEqual(len(self.server.select('SELECT * FROM artifacts')), 1)
        self.server.change(statement)

    def test_damaged_bytes_are_never_served_verify_names_them(self):
        session, artifact = self.kept()
        zeros = {'sqlite': 'zeroblob(length(data))',
                 'postgres': "decode(repeat('00', length(data)), 'hex')"}[STORE]
        self.damage(f'UPDATE artifacts SET data = {zeros}')
        report = self.server.checked('--json')
        self.assertEqual(report.returncode, 1, report)
        self.assertIn('artifact', report.stdout)
        self.assertIn(session, report.stdout)
        self.server.start()
        self.assertProblem(self.fetch(artifact), 500, 'internal')
        self.server.kill()

    def test_missing_bytes_are_named(self):
        _, artifact = self.kept()
        self.damage('DELETE FROM artifacts')
        report = self.server.checked('--json')
        self.assertEqual(report.returncode, 1, report)
        self.assertIn('missing', report.stdout)
        self.server.start()
        answer = self.assertProblem(self.fetch(artifact), 500, 'internal')
        self.assertIn(artifact, answer['detail'])
        self.server.kill()


if __name__ == '__main__':
    main()
