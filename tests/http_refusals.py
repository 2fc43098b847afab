#!/usr/bin/env python3
"""Requests that are refused in any state (docs/errors): 400, 403, 404, 412, 413, 415, 421, 422 and
431. None changes anything."""
import itertools
import json

from dormouse import main
from http_contract import OPEN, OWN_PROOF, ROUTES
from shapes import Contract


class BadRequests(Contract):
    """400, 403, 412, 413, 415, 421, 431: nothing changes."""

    # /c/{token} has no other token: tests/tools_by_config.py
    # Those that need no token of a role: tests/tools_by_config.py, webhooks_in.py, sign_in.py.
    POSTS = [p for m, p in ROUTES if m == 'POST' and not p.startswith(OWN_PROOF + OPEN)]
    POSTS.remove('/sign-out')  # a form, tests/page.py
    POSTS.remove('/mcp')  # it answers in JSON-RPC: tests/mcp_http.py
    POSTS.remove('/api/deliveries/{}/retry')  # there is none: tests/webhooks_out.py
    POSTS.remove('/api/devices/{}/test')  # there is none: tests/push.py

    def setUp(self):
        super().setUp()
        self.session, self.call = self.waiting()
        self.before = self.server.session(self.session['id'])

    def tearDown(self):
        if self.server.alive():
            self.assertEqual(self.server.session(self.session['id']), self.before)
        super().tearDown()

    def path(self, path):
        if 'projects' in path:
            path = path.replace('{}', 'default', 1)
        kind = self.call if 'pending' in path else self.session
        numbered = {'tasks': 'tsk_', 'mail': 'mail_'}.get(path.split('/')[2])
        if numbered:  # the body is checked before the resource is searched
            return path.replace('{}', self.session['id'].replace('ses_', numbered) + '_1')
        return path.replace('{}', kind['id'])

    def test_invalid_json_is_bad_json_on_every_route(self):
        for path in self.POSTS:
            answer = self.server.call('POST', self.path(path), raw=b'{"a":')
            self.assertProblem(answer, 400, 'bad_json', next='fix')

    def test_body_not_an_object_is_bad_value_on_every_route(self):
        for path, raw in itertools.product(self.POSTS, (b'[]', b'"x"', b'1', b'null', b'true')):
            answer = self.server.call('POST', self.path(path), raw=raw)
            problem = self.assertProblem(answer, 400, 'bad_value', pointer='')
            self.assertIsInstance(problem['why'], str)

    def test_unknown_field_is_named_on_every_route(self):
        for path in self.POSTS:
            answer = self.server.post(self.path(path), {'zzzzzz': 1})
            self.assertProblem(answer, 400, 'unknown_field', field='/zzzzzz', nearest=None)
        answer = self.server.call('PATCH', self.path('/api/sessions/{}'), {'zzzzzz': 1})
        self.assertProblem(answer, 400, 'unknown_field', field='/zzzzzz')

    def test_mistyped_field_names_the_nearest(self):
        p = self.call['id']
        prompt = f'/api/sessions/{self.session["id"]}/prompt'
        for path, body, field, near in [
            (
                '/async-tool/result',
                {'pendingId': p, 'result': {'output': 1}},
                '/pendingId',
                'pendingID',
            ),
            (
                '/async-tool/result',
                {'pendingID': p, 'result': {'outptu': 1}},
                '/result/outptu',
                'output',
            ),
            ('/async-tool/error', {'pendingID': p, 'eror': 'x'}, '/eror', 'error'),
            ('/api/projects/default/sessions', {'agentId': 'demo'}, '/agentId', 'agentID'),
            (
                '/api/projects/default/sessions',
                {'agentID': 'demo', 'prompt': {'txt': 'x'}},
                '/prompt/txt',
                'text',
            ),
            (prompt, {'text': 'x', 'wen': 'queue'}, '/wen', 'when'),
        ]:
            answer = self.server.post(path, body)
            self.assertProblem(answer, 400, 'unknown_field', field=field, nearest=near)

    def assert_pointed_at(self, rows):
        for path, body, pointer in rows:
            with self.subTest(path=path, body=str(body)[:80]):
                answer = self.server.post(path, body)
                self.assertProblem(answer, 400, 'bad_value', pointer=pointer)
                self.assertIsInstance(answer['why'], str)

    def test_wrong_value_of_a_submission_is_pointed_at(self):
        p, digest = self.call['id'], self.call['inputDigest']
        self.assert_pointed_at([
            ('/async-tool/result', {}, '/result'),
            ('/async-tool/result', {'pendingID': p}, '/result'),
            ('/async-tool/result', {'pendingID': p, 'result': 'x'}, '/result'),
            ('/async-tool/result', {'pendingID': p, 'result': {}}, '/result/output'),
            ('/async-tool/result', {'pendingID': 1, 'result': {'output': 1}}, '/pendingID'),
            ('/async-tool/result', {'result': {'output': 1}}, '/pendingID'),
            (
                '/async-tool/result',
                {'pendingID': p, 'result': {'output': 1, 'title': 2}},
                '/result/title',
            ),
            ('/async-tool/error', {'pendingID': p}, '/error'),
            ('/async-tool/error', {'pendingID': p, 'error': {'a': 1}}, '/error'),
            ('/async-tool/progress', {'pendingID': p}, '/payload'),
            ('/async-tool/progress', {'pendingID': p, 'payload': 1, 'key': 5}, '/key'),
            ('/async-tool/progress', {'pendingID': p, 'payload': 1, 'key': 'k' * 257}, '/key'),
            ('/async-tool/progress', {'pendingID': p, 'payload': 'x' * 65_537}, '/payload'),
            ('/async-tool/decision', {'pendingID': p}, '/approved'),
            ('/async-tool/decision', {'pendingID': p, 'approved': 'yes'}, '/approved'),
            (
                '/async-tool/decision',
                {'pendingID': p, 'approved': True, 'inputDigest': 'x'},
                '/inputDigest',
            ),
            (
                '/async-tool/decision',
                {'pendingID': p, 'approved': True, 'inputDigest': digest, 'reason': 1},
                '/reason',
            ),
            (f'/async-tool/pending/{p}/claim', {'forMs': -1}, '/forMs'),
            (f'/async-tool/pending/{p}/claim', {'forMs': 3_600_001}, '/forMs'),
            (f'/async-tool/pending/{p}/claim', {'forMs': 1.5}, '/forMs'),
            (f'/async-tool/pending/{p}/claim', {'forMs': '1'}, '/forMs'),
        ])

    def test_wrong_value_of_a_new_session_is_pointed_at(self):
        create = '/api/projects/default/sessions'
        self.assert_pointed_at([
            (create, {}, '/agentID'),
            (create, {'agentID': 1}, '/agentID'),
            (create, {'agentID': 'nobody'}, '/agentID'),
            (create, {'agentID': 'demo', 'title': 'x' * 1001}, '/title'),
            (create, {'agentID': 'demo', 'labels': []}, '/labels'),
            (create, {'agentID': 'demo', 'labels': {'a': 1}}, '/labels'),
            (create, {'agentID': 'demo', 'labels': {str(i): '' for i in range(65)}}, '/labels'),
            (create, {'agentID': 'demo', 'prompt': 'x'}, '/prompt'),
            (create, {'agentID': 'demo', 'prompt': {}}, '/prompt/text'),
            (create, {'agentID': 'demo', 'prompt': {'text': ''}}, '/prompt/text'),
            ('/api/projects/a%20b/sessions', {'agentID': 'demo'}, '{project}'),
        ])

    def test_wrong_value_of_a_prompt_cancel_or_fork_is_pointed_at(self):
        s = f'/api/sessions/{self.session["id"]}'
        self.assert_pointed_at([
            (s + '/prompt', {}, '/text'),
            (s + '/prompt', {'text': ''}, '/text'),
            (s + '/prompt', {'text': 5}, '/text'),
            (s + '/prompt', {'text': 'x', 'parts': []}, '/text'),
            (s + '/prompt', {'parts': [{'type': 'video', 'text': 'x'}]}, '/parts/0/type'),
            (s + '/prompt', {'parts': [{'type': 'text'}]}, '/parts/0/text'),
            (s + '/prompt', {'text': 'x', 'when': 'soon'}, '/when'),
            (s + '/prompt', {'text': 'x', 'reopen': 'yes'}, '/reopen'),
            (s + '/cancel', {'turn': True, 'all': True}, '/'),
            (s + '/cancel', {'pendingID': 7}, '/pendingID'),
            (s + '/fork', {'seq': 0}, '/seq'),
            (s + '/fork', {'seq': -1}, '/seq'),
            (s + '/fork', {'seq': 1}, '/seq'),
            (s + '/fork', {'seq': 100_000}, '/seq'),
            (s + '/fork', {'seq': '1'}, '/seq'),
            (s + '/fork', {'seq': 5, 'title': 'x' * 1001}, '/title'),
        ])

    def test_queries_have_limits(self):
        p, s = f'/async-tool/pending/{self.call["id"]}', f'/api/sessions/{self.session["id"]}'
        for path in (
            '/async-tool/pending',
            s + '/messages',
            s + '/turns',
            s + '/events',
            '/api/projects/default/sessions',
        ):
            for limit in ('0', '201', '-1', 'x', '', '1e1', '99999999999999999999'):
                answer = self.server.get(f'{path}?limit={limit}')
                self.assertProblem(answer, 400, 'bad_value', pointer='?limit')
            answer = self.server.get(f'{path}?cursor=%22nonsense')
            self.assertProblem(answer, 400, 'bad_cursor')
        for path in (p, s, '/async-tool/pending'):
            for wait in ('51', '-1', 'x', '1.5'):
                answer = self.server.get(f'{path}?wait={wait}')
                self.assertProblem(answer, 400, 'bad_value', pointer='?wait')
        for wait in ('51', '-1', 'x'):
            answer = self.server.post(f'{s}/prompt?wait={wait}', {'text': 'x'})
            self.assertProblem(answer, 400, 'bad_value', pointer='?wait')
        answer = self.server.get('/async-tool/pending?status=open')
        self.assertProblem(answer, 400, 'bad_value', pointer='?status')
        answer = self.server.get('/async-tool/pending?reason=open')
        self.assertProblem(answer, 400, 'bad_value', pointer='?reason')
        for after in ('x', '-1', '1.5', str(2**65)):
            answer = self.server.get(f'{s}/events?after={after}')
            self.assertProblem(answer, 400, 'bad_cursor')

    def test_bytes_of_a_path_or_query_are_named(self):
        for path, why in (
            ('/api/sessions/%ff', 'the path is not UTF-8'),
            ('/api/sessions/%00', 'the path has a zero byte'),
            ('/api/sessions/%0a', 'the path has a control character'),
            ('/api/sessions/%zz', 'the path has a bad percent-escape'),
            ('/async-tool/pending?tool=%ff', 'the query is not UTF-8'),
            ('/async-tool/pending?cursor=%00', 'the query has a zero byte'),
            ('/async-tool/pending?cursor=%2', 'the query has a bad percent-escape'),
        ):
            answer = self.assertProblem(self.server.get(path), 400, 'bad_value')
            self.assertEqual(answer['detail'], why)

    def test_names_that_no_project_has_are_refused(self):
        for path in ('/async-tool/pending?project=..%2f', '/api/projects/a%2fb/sessions',
                     '/api/rules?project=', f'/api/projects/{"x" * 65}/acp/session'):
            answer = self.assertProblem(self.server.get(path), 400, 'bad_value')
            self.assertIn('must match [A-Za-z0-9_.-]{1,64}', answer['detail'])
        answer = self.server.post('/api/projects/a%2fb/import', {})
        self.assertProblem(answer, 400, 'bad_value')
        self.assertStatus(self.server.get('/async-tool/pending?project=*'), 200)

    def test_label_without_a_name_is_refused(self):
        path = self.path('/api/sessions/{}')
        answer = self.server.call('PATCH', path, {'labels': {'': 'x'}})
        self.assertProblem(answer, 400, 'bad_value', pointer='/labels')
        body = {'agentID': 'demo', 'labels': {'': 'x'}}
        answer = self.server.post('/api/projects/default/sessions', body)
        self.assertProblem(answer, 400, 'bad_value', pointer='/labels')

    def test_denial_replaces_no_arguments(self):
        call = self.waiting('approve X')[1]
        answer = self.server.decide(call, False, arguments={'action': 'Y'})
        self.assertProblem(answer, 400, 'bad_value', pointer='/arguments')
        self.assertStatus(self.server.decide(call, False, arguments=None), 200)

    def test_if_match_must_be_an_etag_and_the_newest(self):
        path = f'/api/sessions/{self.session["id"]}'
        for value in ('5', '"x"', '""', 'W/"1"'):
            answer = self.server.call('PATCH', path, {'title': 'x'}, {'If-Match': value})
            self.assertProblem(answer, 400, 'bad_value', pointer='If-Match')
        answer = self.server.call('PATCH', path, {'title': 'x'}, {'If-Match': '"1"'})
        self.assertProblem(answer, 412, 'precondition_failed')

    def test_body_must_be_json_and_say_so(self):
        for kind in (
            'text/plain',
            'application/x-www-form-urlencoded',
            'multipart/form-data',
            'application/jsonx',
            'text/json',
            '',
            None,
        ):
            answer = self.server.call(
                'POST',
                '/api/projects/default/sessions',
                raw=b'{"agentID":"demo"}',
                headers={'Content-Type': kind},
            )
            self.assertProblem(answer, 415, 'unsupported_media_type')
        for kind in ('application/json; charset=utf-8', 'APPLICATION/JSON', 'application/x+json'):
            answer = self.server.call(
                'POST',
                '/api/projects/default/sessions',
                raw=b'{"agentID":"demo"}',
                headers={'Content-Type': kind},
            )
            self.assertStatus(answer, 201)

    def test_foreign_hosts_are_421(self):
        self.enterContext(self.server.alone())
        port = self.server.port
        for host in (
            'evil.test',
            f'evil.test:{port}',
            f'0.0.0.0:{port}',
            '127.0.0.1',
            f'127.0.0.1:{port + 1}',
            f'localhost.evil.test:{port}',
            f'127.1:{port}',
            f'localhost.:{port}',
        ):
            answer = self.server.call('GET', '/healthz', headers={'Host': host})
            self.assertProblem(answer, 421, 'wrong_host')
        for host in (f'localhost:{port}', f'LOCALHOST:{port}', f'[::1]:{port}'):
            self.assertStatus(self.server.call('GET', '/healthz', headers={'Host': host}), 200)

    def test_foreign_origins_are_403(self):
        self.enterContext(self.server.alone())
        port = self.server.port
        for origin in (
            'https://evil.test',
            'null',
            f'http://localhost:{port}.evil.test',
            f'http://127.0.0.1:{port}@evil.test',
            'http://localhost',
            f'https://localhost:{port}',
            f'http://localhost:{port}/',
            f'http://evil.localhost:{port}',
            'http://localhost:1.evil.test',
            f'HTTP://localhost:{port}x',
            'file://',
        ):
            answer = self.server.get('/api/agents', Origin=origin)
            self.assertProblem(answer, 403, 'origin_refused')
            self.assertIsNone(answer.headers['Access-Control-Allow-Origin'])
        for origin in (f'http://localhost:{port}', f'http://127.0.0.1:{port}'):
            self.assertStatus(self.server.get('/api/agents', Origin=origin), 200)

    def test_large_headers_are_431(self):
        answer = self.server.get('/api/agents', X_Large='x' * 40_000)
        self.assertProblem(answer, 431, 'headers_too_large')

    def test_large_bodies_and_texts_are_413(self):
        prompt = f'/api/sessions/{self.session["id"]}/prompt'
        text = {'text': 'x' * ((1 << 20) + 1)}
        self.assertProblem(self.server.post(prompt, text), 413, 'too_large')
        for path, size in (
            (prompt, 8 << 20),
            ('/async-tool/result', 8 << 20),
            ('/async-tool/progress', 1 << 20),
            (f'/api/sessions/{self.session["id"]}/fork', 1 << 20),
        ):
            client = self.server.new_client()
            answer = client.call('POST', path, raw=b' ' * (size + 1))
            self.assertProblem(answer, 413, 'too_large')

    def test_large_text_within_the_limit_is_taken(self):
        session = self.server.create()
        answer = self.server.prompt(session['id'], 'x' * (1 << 20))
        self.assertStatus(answer, 200)

    def test_bad_keys_and_numbers_are_422(self):
        for raw in (
            b'{"agentID":"demo","agentID":"demo"}',
            b'{"agentID":"\\ud800"}',
            b'{"agentID":1e999}',
        ):
            answer = self.server.call('POST', '/api/projects/default/sessions', raw=raw)
            self.assertProblem(answer, 422, 'bad_number_or_key')


class Missing(Contract):
    """404: an unknown id, an id of another form and an almost correct one look the same."""

    def assertAlike(self, answers):
        problems = []
        for answer in answers:
            problem = self.assertProblem(answer, 404, 'not_found')
            for name in ('instance', 'requestID'):
                problem.pop(name)
            problems.append(json.dumps(problem, sort_keys=True))
        self.assertEqual(len(set(problems)), 1, problems)

    def forged(self, kind, real):
        other = self.server.create('deploy B')
        flipped = real[:-1] + ('A' if real[-1] != 'A' else 'Q')
        ids = [
            f'{kind}AAAAAAHW1EtoEHiAv8ehiA',
            f'{kind}x',
            'x',
            flipped,
            real + 'A',
            real[:-1],
            real.upper(),
            "x') OR 1=1--",
            '%00',
            'a%2f..%2fb',
            '%2e%2e%2e',
            '*',
            'x' * 2000,
        ]
        if kind == 'pnd_':
            parts = real.split('_')
            ids += [f'pnd_{other["id"][4:]}_' + '_'.join(parts[-3:]), other['id']]
            ids += ['_'.join(parts[:-3] + ['9'] + parts[-2:])]
            ids += ['_'.join(parts[:-2] + ['2'] + parts[-1:])]
            ids += ['_'.join(parts[:-3] + ['01'] + parts[-2:])]
        else:
            ids += [self.server.open_calls(other['id'])[0]['id']]
        return ids

    def quoted(self, name):
        return name.replace("'", '%27').replace(' ', '%20').replace('=', '%3D')

    def test_pending_calls(self):
        session, call = self.waiting()
        answers = []
        for name in self.forged('pnd_', call['id']):
            path = f'/async-tool/pending/{self.quoted(name)}'
            if name != '%00':
                answers.append(self.server.get(path))
                answers.append(self.server.delete(path))
                answers.append(self.server.post(path + '/claim'))
            answers.append(self.server.result(name, 1))
            answers.append(self.server.error(name, 'x'))
            answers.append(
                self.server.post('/async-tool/progress', {'pendingID': name, 'payload': 1})
            )
            answers.append(
                self.server.decide({'id': name, 'inputDigest': call['inputDigest']}, True)
            )
            path = f'/api/sessions/{session["id"]}'
            answers.append(self.server.post(path + '/cancel', {'pendingID': name}))
            answers.append(self.server.prompt(session['id'], 'x', answers=name))
        self.assertAlike(answers)
        self.assertEqual(self.server.open_calls(session['id']), [call])

    def test_sessions(self):
        session, call = self.waiting()
        answers = []
        for name in self.forged('ses_', session['id']):
            if name == '%00':
                continue
            path = f'/api/sessions/{self.quoted(name)}'
            answers += [self.server.get(path), self.server.delete(path)]
            answers += [self.server.call('PATCH', path, {'title': 'x'})]
            answers += [
                self.server.get(f'{path}/{what}') for what in ('messages', 'turns', 'events')
            ]
            answers += [
                self.server.post(f'{path}/{what}')
                for what in ('cancel', 'resume', 'end', 'retry', 'fork')
            ]
            answers += [self.server.post(path + '/prompt', {'text': 'x'})]
            answers += [self.server.get(path + '/events', Accept='text/event-stream')]
            answers += [self.server.get(f'/async-tool/pending?sessionID={self.quoted(name)}')]
        self.assertAlike(answers)

    def test_explain(self):
        session, call = self.waiting()
        names = [
            'x',
            'pnd_x',
            'rcp_' + session['id'][4:] + '_99',
            'ses_AAAAAAHW1EtoEHiAv8ehiA',
            'trn_AAAAAAHW1EtoEHiAv8ehiA_1',
            call['id'] + 'A',
        ]
        self.assertAlike([self.server.get(f'/api/explain/{name}') for name in names])

    def test_deleted_session_looks_unknown(self):
        session, call = self.waiting()
        self.assertStatus(self.server.delete(f'/api/sessions/{session["id"]}'), 204)
        path = f'/api/sessions/{session["id"]}'
        answers = [
            self.server.get(path),
            self.server.delete(path),
            self.server.post(path + '/end'),
            self.server.get(path + '/events'),
            self.server.get(path + '/messages'),
            self.server.post(path + '/prompt', {'text': 'x'}),
            self.server.get('/api/sessions/ses_AAAAAAHW1EtoEHiAv8ehiA'),
            self.server.get(f'/async-tool/pending/{call["id"]}'),
            self.server.result(call['id'], 1),
            self.server.error(call['id'], 'x'),
        ]
        self.assertAlike(answers)
        self.assertEqual(self.server.items('/api/projects/default/sessions'), [])
        self.assertEqual(self.server.items('/async-tool/pending'), [])

    def test_projects_lists_show_only_its_own(self):
        here, there = self.server.create('deploy A'), self.server.create('deploy B', project='two')
        for project, session in (('default', here), ('two', there)):
            items = self.server.items(f'/api/projects/{project}/sessions')
            self.assertEqual([item['id'] for item in items], [session['id']])
            items = self.server.items(f'/async-tool/pending?project={project}')
            self.assertEqual([item['sessionID'] for item in items], [session['id']])
        self.assertEqual(self.server.items('/api/projects/three/sessions'), [])


if __name__ == '__main__':
    main()
