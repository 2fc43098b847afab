#!/usr/bin/env python3
"""The HTTP contract (docs/reference/http.md): every route, every object with all members."""
import re

from dormouse import ROOT, Client, main, wait_for
from http_raw import call_when_allowed
from shapes import Contract

# ---- routes: as in src/http/resources/routes.cc, which a test compares

ROUTES = [
    ('POST', '/async-tool/result'),
    ('POST', '/async-tool/results'),
    ('POST', '/async-tool/error'),
    ('POST', '/async-tool/decision'),
    ('POST', '/async-tool/progress'),
    ('POST', '/async-tool/webhook'),
    ('POST', '/async-tool/webhook/{}'),
    ('POST', '/async-tool/slack'),
    ('POST', '/c/{}'),
    ('GET', '/c/{}'),
    ('GET', '/'),
    ('GET', '/a/{}'),
    ('POST', '/a/{}'),
    ('GET', '/async-tool/pending'),
    ('GET', '/async-tool/pending/{}'),
    ('DELETE', '/async-tool/pending/{}'),
    ('POST', '/api/pending'),
    ('GET', '/api/pending'),
    ('GET', '/api/pending/{}'),
    ('DELETE', '/api/pending/{}'),
    ('POST', '/async-tool/pending/{}/claim'),
    ('POST', '/async-tool/pending/{}/reassign'),
    ('POST', '/async-tool/pending/{}/callback'),
    ('POST', '/api/projects/{}/sessions'),
    ('GET', '/api/projects/{}/sessions'),
    ('GET', '/api/sessions/{}'),
    ('PATCH', '/api/sessions/{}'),
    ('DELETE', '/api/sessions/{}'),
    ('POST', '/api/sessions/{}/prompt'),
    ('POST', '/api/sessions/{}/cancel'),
    ('POST', '/api/sessions/{}/resume'),
    ('POST', '/api/sessions/{}/end'),
    ('POST', '/api/sessions/{}/retry'),
    ('POST', '/api/sessions/{}/fork'),
    ('POST', '/api/sessions/{}/redactions'),
    ('GET', '/api/sessions/{}/tasks'),
    ('POST', '/api/sessions/{}/tasks'),
    ('POST', '/api/sessions/{}/report'),
    ('POST', '/api/sessions/{}/attach'),
    ('POST', '/api/sessions/{}/calls'),
    ('POST', '/api/projects/{}/import'),
    ('POST', '/api/sessions/{}/import'),
    ('POST', '/api/tasks/{}/resume'),
    ('POST', '/api/tasks/{}/cancel'),
    ('GET', '/api/tasks/{}/output'),
    ('DELETE', '/api/tasks/{}'),
    ('GET', '/api/sessions/{}/messages'),
    ('GET', '/api/sessions/{}/turns'),
    ('GET', '/api/sessions/{}/events'),
    ('POST', '/api/projects/{}/acp/session'),
    ('GET', '/api/projects/{}/acp/session'),
    ('GET', '/api/projects/{}/acp/session/{}'),
    ('DELETE', '/api/projects/{}/acp/session/{}'),
    ('POST', '/api/projects/{}/acp/session/{}/prompt'),
    ('POST', '/api/projects/{}/acp/session/{}/resume'),
    ('POST', '/api/projects/{}/acp/session/{}/cancel'),
    ('GET', '/api/mail'),
    ('GET', '/api/mail/{}'),
    ('POST', '/api/mail'),
    ('POST', '/api/mail/{}/release'),
    ('GET', '/api/sessions/{}/inbox'),
    ('GET', '/api/artifacts/{}'),
    ('GET', '/api/deliveries'),
    ('POST', '/api/deliveries/{}/retry'),
    ('DELETE', '/api/deliveries/{}'),
    ('GET', '/api/events'),
    ('GET', '/api/projects'),
    ('GET', '/api/agents'),
    ('GET', '/api/tools'),
    ('GET', '/api/explain/{}'),
    ('GET', '/api/doctor'),
    ('POST', '/api/doctor/repair'),
    ('POST', '/api/release'),
    ('POST', '/api/import'),
    ('POST', '/api/copy'),
    ('POST', '/api/reload'),
    ('GET', '/api/audit'),
    ('GET', '/api/nodes'),
    ('GET', '/api/starts'),
    ('GET', '/api/config'),
    ('POST', '/api/retention'),
    ('POST', '/api/retention/messages'),
    ('GET', '/api/rules'),
    ('DELETE', '/api/rules/{}'),
    ('GET', '/api/me'),
    ('GET', '/api/devices'),
    ('POST', '/api/devices'),
    ('DELETE', '/api/devices/{}'),
    ('POST', '/api/devices/{}/test'),
    ('GET', '/api/tokens'),
    ('POST', '/api/tokens'),
    ('DELETE', '/api/tokens/{}'),
    ('POST', '/api/links'),
    ('GET', '/sign-in'),
    ('POST', '/sign-in'),
    ('POST', '/sign-in/email'),
    ('POST', '/sign-in/link'),
    ('GET', '/sign-in/oidc'),
    ('GET', '/sign-in/oidc/callback'),
    ('DELETE', '/sign-in'),
    ('POST', '/sign-out'),
    ('GET', '/openapi.json'),
    ('GET', '/metrics'),
    ('POST', '/mcp'),
    ('GET', '/mcp'),
    ('DELETE', '/mcp'),
    ('GET', '/.well-known/oauth-protected-resource'),
    ('GET', '/.well-known/oauth-protected-resource/mcp'),
    ('GET', '/mcp-sign-in/{}'),
    ('GET', '/mcp-sign-in/{}/callback'),
    ('GET', '/healthz'),
    ('GET', '/readyz'),
]
OPEN = (
    '/healthz',
    '/readyz',
    '/sign-in',
    '/sign-in/email',
    '/sign-in/link',
    '/sign-in/oidc',
    '/sign-in/oidc/callback',
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
)
# The path, or a signature of the body, replaces the token; here neither is valid.
OWN_PROOF = ('/c/', '/a/', '/async-tool/webhook', '/async-tool/slack')


class Routes(Contract):
    def test_this_table_names_every_route_of_the_server(self):
        source = (ROOT / 'src/http/resources/routes.cc').read_text()
        rows = re.findall(r'\{"([A-Z]+)",\s+\{([^}]*(?:\{\}[^}]*)*)\},\s', source)
        found = [(m, '/' + '/'.join(re.findall(r'"([^"]*)"', path))) for m, path in rows]
        self.assertEqual(sorted(found), sorted(ROUTES))

    def test_without_a_token_every_route_is_401_without_details(self):
        outsider = Client(self.server.port, None)
        for method, path in ROUTES:
            if path in OPEN or path == '/':
                continue
            with self.subTest(method=method, path=path):
                answer = call_when_allowed(
                    self.server, outsider, method, path.replace('{}', 'ses_AAAAAAAA'))
                if path.startswith(OWN_PROOF) and (method, path) != ('POST', '/a/{}'):
                    self.assertProblem(answer, 404, 'not_found')
                    continue
                self.assertProblem(answer, 401, 'unauthenticated', next='fix')
                self.assertIn('Bearer', answer.headers['WWW-Authenticate'])

    def test_wrong_token_in_any_form_is_401(self):
        token = self.server.token
        for value in (
            '',
            'Bearer',
            'Bearer ',
            token,
            f'Basic {token}',
            f'Bearer {token}x',
            f'Bearer {token[:-1]}',
            f'Bearer {token[1:]}',
            f'Bearer  {token}',
        ):
            client = Client(self.server.port, None)
            answer = client.call('GET', '/api/agents', headers={'Authorization': value})
            self.assertStatus(answer, 401)
            self.server.advance(1)

    def test_wrong_tokens_are_limited_right_ones_are_not(self):
        client = Client(self.server.port, 'dm_wrong')
        statuses = [client.get('/api/agents').status for _ in range(40)]
        self.assertEqual(statuses[0], 401)
        self.assertIn(429, statuses)
        self.assertProblem(client.get('/api/agents'), 429, 'rate_limited', next='retry')
        self.assertStatus(self.server.get('/api/agents'), 200)

    def test_health_and_readiness_need_no_token(self):
        outsider = Client(self.server.port, None)
        self.assertStatus(outsider.get('/healthz'), 200)
        wait_for(lambda: outsider.get('/readyz').status == 200, what='readiness')

    def test_other_methods_are_405_with_allow(self):
        by_path = {}
        for method, path in ROUTES:
            if path.startswith('/c/'):
                continue  # without a good token in it the path is unknown
            by_path.setdefault(path, set()).add(method)
        for path, methods in by_path.items():
            allowed = methods | ({'HEAD'} if 'GET' in methods else set())
            wrong = sorted({'GET', 'POST', 'PUT', 'PATCH', 'DELETE'} - allowed)
            for method in wrong + ['PROPFIND']:
                with self.subTest(method=method, path=path):
                    answer = self.server.call(method, path.replace('{}', 'ses_AAAAAAAA'))
                    self.assertProblem(answer, 405, 'method_not_allowed')
                    self.assertEqual(set(answer.headers['Allow'].split(', ')), allowed)

    def test_unknown_paths_are_404(self):
        for path in (
            '/api',
            '/api/',
            '/api/sessions',
            '/api/sessions/',
            '/async-tool',
            '/async-tool/pending/x/y',
            '/api/doctor/x',
            '/healthz/',
            '/healthz/x',
            '//api/doctor',
            '/API/doctor',
            '/api/projects//sessions',
        ):
            with self.subTest(path=path):
                self.assertProblem(self.server.get(path), 404, 'not_found')

    def test_public_suffixes_open_nothing(self):
        outsider = Client(self.server.port, None)
        for path in (
            '/api/agents/healthz',
            '/api/doctor/readyz',
            '/healthz/../api/agents',
            '/api/agents;/healthz',
            '/healthz%2f..%2fapi%2fagents',
            '//healthz/api',
        ):
            answer = outsider.call('GET', path, headers={'Connection': 'close'})
            self.assertIn(answer.status, (400, 401, 404), path)

    def test_head_is_get_without_the_body(self):
        # /readyz is 503 until the server has recovered.
        wait_for(lambda: self.server.get('/readyz').status == 200, what='readiness')
        session, call = self.waiting()
        explain = f'/api/explain/{call["id"]}'
        for path in (
            '/healthz',
            '/readyz',
            '/api/agents',
            '/api/doctor',
            '/async-tool/pending',
            f'/async-tool/pending/{call["id"]}',
            f'/api/sessions/{session["id"]}',
            f'/api/sessions/{session["id"]}/messages',
            '/api/projects/default/sessions',
            f'/api/sessions/{session["id"]}/turns',
            explain,
            f'/api/sessions/{session["id"]}/events',
        ):
            with self.subTest(path=path), self.server.alone():  # each is the doctor of itself
                get, head = self.server.get(path), self.server.call('HEAD', path)
                self.assertEqual((head.status, head.raw), (200, b''))
                self.assertEqual(head.headers['Content-Length'], str(len(get.raw)))
                self.assertEqual(head.headers['Content-Type'], get.headers['Content-Type'])
        missing = self.server.call('HEAD', '/api/sessions/ses_AAAAAAAA')
        self.assertEqual((missing.status, missing.raw), (404, b''))

    def test_replies_are_neither_stored_nor_sniffed(self):
        answer = self.server.get('/api/agents')
        self.assertEqual(answer.headers['Content-Type'], 'application/json')
        self.assertEqual(answer.headers['Cache-Control'], 'no-store')
        self.assertEqual(answer.headers['X-Content-Type-Options'], 'nosniff')
        self.assertIsNone(answer.headers['Access-Control-Allow-Origin'])


if __name__ == '__main__':
    main()
