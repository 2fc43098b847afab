#!/usr/bin/env python3
"""Sign-in with an OpenID provider: the whole flow with npm's oidc-provider, what a person sees when
it fails, and a provider that answers wrongly."""
import base64
import hashlib
import hmac
import json
import pathlib
import re
import shutil
import subprocess
import time
import urllib.parse

import oidc_peers
from dormouse import ROOT, Case, Client, leave_out, main
from oidc_peers import SECRET, Browser, FakeProvider, Form, Provider, as_json, free_port

CONFIG = '''
[server]
demo = true

[oidc]
issuer = "%(issuer)s"
name = "Example <ID>"
client_id = "dormouse"
%(secret)s
scopes = ["openid", "profile", "email", "groups"]
%(more)s

[oidc.roles]
approvers = "answer"
team-a = { role = "operate", projects = ["a"] }
team-b = { role = "operate", projects = ["b"] }
readers = "read"

[[user]]
name = "boss"
role = "admin"
oidc_subject = "sub-of-boss"

[[user]]
name = "carol"
role = "operate"
email = "carol@example.org"
slack = "U7"
'''
PEOPLE = {
    'alice-id': {'preferred_username': 'alice', 'groups': ['approvers', 'readers']},
    'team-id': {'preferred_username': 'tom', 'groups': ['readers', 'team-b', 'team-a', 'other']},
    'none-id': {'preferred_username': 'nobody', 'groups': ['<b>others</b>']},
    'bare-id': {'preferred_username': 'bare'},
    'sub-of-boss': {'preferred_username': 'the boss'},
    'carol-id': {'email': 'Carol@Example.org', 'email_verified': True},
    'liar-id': {'email': 'carol@example.org', 'email_verified': False, 'groups': ['approvers'],
                'preferred_username': 'liar'},
    'thief-id': {'preferred_username': 'Boss', 'groups': ['approvers']},
    'odd-id': {'preferred_username': 'a b', 'groups': ['approvers']},
}


class World(Case):
    def setUp(self):
        pass  # `begin` starts the server

    def begin(self, issuer, secret='client_secret_env = "OIDC_SECRET"', more=''):
        self.configured(CONFIG % {'issuer': issuer, 'secret': secret, 'more': more},
                        OIDC_SECRET=SECRET)
        self.own = f'http://127.0.0.1:{self.server.port}'
        self.browser = Browser()

    def start(self, next_path='', browser=None):
        """The redirect to the provider."""
        query = '?next=' + urllib.parse.quote(next_path, safe='') if next_path else ''
        page = (browser or self.browser).open(f'{self.own}/sign-in/oidc{query}')
        self.assertEqual(page.status, 303, page)
        return page

    def assertPage(self, page, status, *words):
        self.assertEqual(page.status, status, page)
        self.assertTrue(page.headers['Content-Type'].startswith('text/html'))
        self.assertIn("default-src 'none'", page.headers['Content-Security-Policy'])
        for word in words:
            self.assertIn(word, page.text)
        self.assertIsNone(self.browser.cookie('dormouse'), 'nobody is signed in')

    def me(self, browser=None):
        page = (browser or self.browser).open(self.own + '/api/me', Accept='application/json')
        return json.loads(page.text) if page.status == 200 else page.status

    def audit(self):
        lines = self.server.get('/api/audit?type=signed_in')['items']
        return [one['line'] for one in lines]

    def kept_bytes(self):
        """Everything that the server has written, its log too."""
        files = [file for file in pathlib.Path(self.server.own).rglob('*') if file.is_file()]
        return b'\n'.join(file.read_bytes() for file in files)


def setUpModule():
    if why := oidc_peers.install():
        leave_out(why)


class SignIn(World):
    def setUp(self):
        self.port = free_port()
        self.begin(f'http://127.0.0.1:{self.port}')

    def provider(self, **more):
        made = Provider(self.port, self.server.port, PEOPLE, **more)
        self.addCleanup(made.close)
        return made

    def sign_in(self, provider, name, next_path='', browser=None):
        """The page of the callback."""
        browser = browser or self.browser
        page = self.start(next_path, browser)
        return browser.open(provider.log_in(browser, page, name))

    def test_sign_in_page_offers_it_with_and_without_script(self):
        for path, link in (
            ('/sign-in?next=/a/x', '/sign-in/oidc?next=%2Fa%2Fx'),
            ('/sign-in', '/sign-in/oidc'),
            ('/', '/sign-in/oidc'),
            ('/?open=pnd_x', '/sign-in/oidc?next=%2F%3Fopen%3Dpnd_x'),
        ):
            page = self.browser.open(self.own + path)
            self.assertIn('Sign in with Example &lt;ID&gt;', page.text)
            self.assertIn(link, Form(page.text).links)

    def test_redirect_has_state_nonce_and_challenge(self):
        self.provider()
        page = self.start()
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page.location).query))
        self.assertEqual(
            {name: query[name] for name in
             ('response_type', 'client_id', 'redirect_uri', 'scope', 'code_challenge_method')},
            {'response_type': 'code', 'client_id': 'dormouse',
             'redirect_uri': self.own + '/sign-in/oidc/callback',
             'scope': 'openid profile email groups', 'code_challenge_method': 'S256'},
        )
        for name in ('state', 'nonce', 'code_challenge'):
            self.assertRegex(query[name], r'^[\w-]{43}$')
        header = page.headers['Set-Cookie']
        self.assertEqual({'HttpOnly', 'SameSite=Lax', 'Path=/', 'Max-Age=600'}
                         - set(header.split('; ')), set())
        self.assertNotIn(query['state'], header)
        other = self.start(browser=Browser())
        self.assertNotIn(query['state'], other.location)

    def test_person_of_a_group_is_signed_in_with_its_role(self):
        page = self.sign_in(self.provider(), 'alice-id', '/a/pnd_x_1_1_y?z=1')
        self.assertEqual((page.status, page.location), (303, self.own + '/a/pnd_x_1_1_y?z=1'))
        me = self.me()
        self.assertEqual({**me, 'expires': 0}, {'name': 'alice', 'role': 'answer', 'expires': 0,
                                                'kind': 'cookie', 'projects': None})
        self.assertAlmostEqual(me['expires'] / 1000, self.server.time() + 8 * 3600, delta=60)
        self.assertIsNone(self.browser.cookie('dormouse-oidc'))
        (line,) = self.audit()
        self.assertEqual((line['issuer'], line['subject'], line['name'], line['by']['name']),
                         (f'http://127.0.0.1:{self.port}', 'alice-id', 'alice', 'alice'))

    def test_session_ends_after_its_length_and_by_signing_out(self):
        provider = self.provider()
        self.sign_in(provider, 'alice-id')
        other = Browser()
        self.sign_in(provider, 'team-id', browser=other)
        page = other.open(self.own + '/sign-out', {}, Origin=self.own)
        self.assertEqual(page.status, 303)
        self.assertEqual((self.me(other), self.me()['name']), (401, 'alice'))
        self.server.advance(8 * 3600)
        self.assertEqual(self.me(), 401)

    def test_highest_role_of_the_groups_counts_in_its_projects(self):
        self.sign_in(self.provider(), 'team-id')
        me = self.me()
        self.assertEqual((me['name'], me['role'], me['projects']), ('tom', 'operate', ['a', 'b']))

    def test_person_of_no_group_gets_a_page_that_says_so(self):
        provider = self.provider()
        self.assertPage(self.sign_in(provider, 'none-id'), 403, 'You may not use this server',
                        'as none-id', '&lt;b&gt;others&lt;/b&gt;', '/sign-in/oidc')
        self.assertPage(self.sign_in(provider, 'bare-id', browser=Browser()), 403,
                        'The provider named no group of yours (claim groups)')
        self.assertEqual(self.audit(), [])

    def test_user_by_subject_or_verified_address_has_their_name(self):
        provider = self.provider()
        for subject, name, role in (('sub-of-boss', 'boss', 'admin'),
                                    ('carol-id', 'carol', 'operate'),
                                    ('liar-id', 'liar', 'answer')):
            browser = Browser()
            self.assertEqual(self.sign_in(provider, subject, browser=browser).status, 303)
            me = self.me(browser)
            self.assertEqual((me['name'], me['role']), (name, role))

    def test_names_of_others_and_odd_names_are_refused(self):
        provider = self.provider()
        self.assertPage(self.sign_in(provider, 'thief-id'), 403, 'belongs to somebody else')
        self.assertPage(self.sign_in(provider, 'odd-id', browser=Browser()), 403,
                        'preferred_username must be a name')

    def test_declined_sign_in_says_so(self):
        provider = self.provider()
        back = provider.decline(self.browser, self.start('/sessions'))
        self.assertPage(self.browser.open(back), 403, 'You were not signed in',
                        'Example &lt;ID&gt; again', '/sign-in/oidc?next=%2Fsessions')
        self.assertIsNone(self.browser.cookie('dormouse-oidc'))

    def test_replayed_callback_is_refused_also_after_a_restart(self):
        provider = self.provider()
        page = self.start()
        cookie = self.browser.cookie('dormouse-oidc')
        back = provider.log_in(self.browser, page, 'alice-id')
        again = lambda: Browser().open(back, Cookie='dormouse-oidc=' + cookie)
        self.assertEqual(self.browser.open(back).status, 303)
        self.assertIn('This sign-in was used before', again().text)
        self.server.restart()
        refused = again()
        self.assertIn('This sign-in was used before', refused.text)
        self.assertEqual(refused.status, 401)
        self.assertEqual(len(self.audit()), 1)
        # By the provider, where this server has forgotten it.
        self.browser.open(self.own + '/sign-out', {}, Origin=self.own)
        self.server.restart()
        refused = again()
        self.assertIn('used before or has expired', refused.text)
        self.assertEqual(len(self.audit()), 1)

    def test_callback_works_after_sigkill_in_between(self):
        provider = self.provider()
        back = provider.log_in(self.browser, self.start('/tasks'), 'alice-id')
        self.server.restart()
        page = self.browser.open(back)
        self.assertEqual((page.status, page.location), (303, self.own + '/tasks'))
        self.assertEqual(self.me()['name'], 'alice')

    def test_callback_of_another_browser_or_state_is_refused(self):
        provider = self.provider()
        back = provider.log_in(self.browser, self.start(), 'alice-id')
        self.assertIn('This browser did not begin', Browser().open(back).text)
        outsider = Browser()
        self.start(browser=outsider)
        self.assertIn('belongs to another sign-in', outsider.open(back).text)
        changed = re.sub('state=[^&]*', 'state=x', back)
        self.assertPage(self.browser.open(changed), 401, 'belongs to another sign-in')

    def test_callback_after_ten_minutes_is_refused(self):
        back = self.provider().log_in(self.browser, self.start(), 'alice-id')
        self.server.advance(601)
        cookie = self.browser.cookie('dormouse-oidc')
        self.assertPage(self.browser.open(back), 401, 'took too long')
        self.assertTrue(cookie)

    def test_code_that_is_wrong_is_refused_by_the_provider(self):
        back = self.provider().log_in(self.browser, self.start(), 'alice-id')
        self.assertPage(self.browser.open(re.sub('code=[^&]*', 'code=wrong', back)), 401,
                        'used before or has expired')

    def test_new_keys_of_the_provider_are_fetched(self):
        first = self.provider()
        self.assertEqual(self.sign_in(first, 'alice-id').status, 303)
        first.close()
        second = self.provider(kid='k2')
        browser = Browser()
        # The keys were fetched less than a minute ago.
        page = self.sign_in(second, 'alice-id', browser=browser)
        self.assertIn('a key that the provider does not publish', page.text)
        self.server.advance(61)
        browser = Browser()
        self.assertEqual(self.sign_in(second, 'alice-id', browser=browser).status, 303)
        self.assertEqual(self.me(browser)['name'], 'alice')

    def test_es256_and_a_public_client(self):
        self.server.finish()
        self.begin(f'http://127.0.0.1:{self.port}', secret='')
        provider = self.provider(algorithm='ES256', public=True)
        self.assertEqual(self.sign_in(provider, 'alice-id').status, 303)
        self.assertEqual(self.me()['name'], 'alice')

    def test_provider_that_is_down_is_reported(self):
        self.assertPage(self.browser.open(self.own + '/sign-in/oidc'), 503,
                        'Example &lt;ID&gt; cannot be reached', 'use a sign-in link')
        provider = self.provider()
        back = provider.log_in(self.browser, self.start(), 'alice-id')
        provider.close()
        self.assertPage(self.browser.open(back), 503, 'cannot be reached')
        again = Browser()
        self.assertEqual(self.sign_in(self.provider(), 'alice-id', browser=again).status, 303)

    def test_secrets_codes_and_tokens_are_in_no_file(self):
        provider = self.provider()
        page = self.start()
        flow = self.browser.cookie('dormouse-oidc')
        back = provider.log_in(self.browser, page, 'alice-id')
        self.browser.open(back)
        secrets = [SECRET, flow, self.browser.cookie('dormouse'),
                   *(urllib.parse.parse_qs(urllib.parse.urlsplit(back).query)[name][0]
                     for name in ('code', 'state'))]
        other = Browser()
        back = provider.log_in(other, self.start(browser=other), 'none-id')
        other.open(back)
        secrets.append(urllib.parse.parse_qs(urllib.parse.urlsplit(back).query)['code'][0])
        kept = self.kept_bytes()
        self.assertIn(b'a person may not sign in', kept)
        for secret in secrets:
            self.assertNotIn(secret.encode(), kept)


class Without(World):
    def test_without_a_provider_the_routes_are_unknown(self):
        self.configured('[server]\ndemo = true\n')
        anybody = Client(self.server.port, None)
        for path in ('/sign-in/oidc', '/sign-in/oidc/callback?code=x&state=y&more=z'):
            self.assertProblem(anybody.get(path), 404, 'not_found')
        self.assertNotIn('/sign-in/oidc', anybody.get('/sign-in').raw.decode())


class InChromium(World):
    """Chromium and a provider of another site: SameSite, the policies of pages, and scripts."""

    def setUp(self):
        self.program = shutil.which('chromium-headless-shell') or shutil.which('chromium')
        if not self.program or not (ROOT / 'web/node_modules/@playwright/test').is_dir():
            self.skipTest('not installed: Chromium, or Playwright (tools/web_page.sh --tests)')
        port = free_port()
        self.begin(f'http://localhost:{port}')
        self.provider = Provider(port, self.server.port, PEOPLE, host='localhost')
        self.addCleanup(self.provider.close)

    def log_in(self, path, login, text):
        done = subprocess.run(
            ['node', ROOT / 'tests/oidc/sign_in.mjs', self.program, self.own + path, login, text],
            capture_output=True, text=True, timeout=90,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_person_signs_in_and_lands_where_they_wanted(self):
        seen = self.log_in('/you', 'alice-id', 'Keyboard and display')
        self.assertEqual(seen['path'], '/you')
        self.assertIn('alice', seen['text'])
        self.assertEqual(seen['cookies'], '', 'no script reads a cookie')

    def test_person_of_no_group_reads_what_to_do(self):
        seen = self.log_in('/sign-in', 'none-id', 'You may not use this server')
        self.assertIn('<b>others</b>', seen['text'])


def token(header, claims, key=b''):
    encoded = lambda raw: base64.urlsafe_b64encode(raw).rstrip(b'=').decode()
    text = '.'.join(encoded(json.dumps(part).encode()) for part in (header, claims))
    mac = hmac.new(key, text.encode(), hashlib.sha256).digest() if key else b''
    return text + '.' + encoded(mac)


class WrongProvider(World):
    """A provider that lies."""

    def setUp(self):
        self.fake = FakeProvider()
        self.addCleanup(self.fake.close)
        self.begin(self.fake.issuer)

    def back(self, page, **more):
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page.location).query))
        fields = {'code': 'c1', 'state': query['state'], **more}
        return query, f'{self.own}/sign-in/oidc/callback?{urllib.parse.urlencode(fields)}'

    def answer_with(self, *, header=None, key=b'', **more):
        """The page after the provider answered with such a token."""
        query, back = self.back(self.start())
        claims = {'iss': self.fake.issuer, 'aud': 'dormouse', 'sub': 'alice-id',
                  'nonce': query['nonce'], 'iat': int(time.time()), 'exp': int(time.time()) + 300,
                  'preferred_username': 'alice', 'groups': ['approvers'], **more}
        made = token(header or {'alg': 'none'}, claims, key)
        self.fake.answers['/token'] = as_json({'access_token': 'x', 'token_type': 'Bearer',
                                               'id_token': made})
        return self.browser.open(back)

    def test_token_without_a_good_signature_is_refused(self):
        self.assertPage(self.answer_with(), 401, 'failed its checks', 'not a signed')
        self.assertPage(self.answer_with(header={'alg': 'HS256'}, key=SECRET.encode()), 401,
                        'its algorithm is &quot;HS256&quot;')
        self.assertPage(self.answer_with(header={'alg': 'none'}, key=b'x'), 401,
                        'its algorithm is &quot;none&quot;')
        self.server.advance(2)  # limits count by the second
        self.assertPage(self.answer_with(header={'alg': 'RS256', 'kid': 'k'}, key=b'x'), 401,
                        'does not publish')
        self.assertPage(self.answer_with(header={'alg': 'ES256'}, key=b'x', more='y' * 70_000),
                        401, 'at most 65536 bytes')

    def test_discovery_document_that_is_wrong_is_refused(self):
        path = '/.well-known/openid-configuration'
        good = self.fake.answers[path]
        document = json.loads(good[2])
        for answer, why in (
            ((200, {}, b'{"x":"' + b'y' * 300_000 + b'"}'), 'cannot be reached'),
            ((302, {'Location': self.fake.issuer + '/other'}, b''), 'status 302'),
            ((500, {}, b'<script>alert(1)</script>'), 'status 500'),
            ((200, {}, b'<html>'), 'is not a JSON object'),
            ((200, {}, b'[' * 10_000), 'is not a JSON object'),
            ((200, {}, b''), 'is not a JSON object'),
            (as_json({**document, 'issuer': 'https://evil.test'}), 'names another issuer'),
            (as_json({**document, 'issuer': self.fake.issuer + '/'}), 'names another issuer'),
            (as_json({**document, 'token_endpoint': 'http://10.0.0.1/t'}), 'is not https'),
            (as_json({**document, 'authorization_endpoint': 'javascript:x'}), 'that is a URL'),
            (as_json({**document, 'jwks_uri': 7}), 'that is a URL'),
        ):
            with self.subTest(why=why):
                self.fake.answers[path] = answer
                self.assertPage(self.browser.open(self.own + '/sign-in/oidc'), 503, why)
                self.server.advance(1)
        self.assertNotIn('/other', [request[0] for request in self.fake.requests])
        self.fake.answers[path] = good
        self.start()

    def test_answers_of_the_token_endpoint_that_are_wrong(self):
        for answer, status, why in (
            ((302, {'Location': self.fake.issuer + '/other'}, b''), 503, 'status 302'),
            ((200, {}, b'x' * 300_000), 503, 'cannot be reached'),
            ((200, {}, b'<html>'), 401, 'the answer has no id_token'),
            (as_json({'id_token': 'a.b.c'}), 401, 'not a signed'),
            (as_json({'error': 'invalid_client', 'error_description': 'hunter2'}, 401), 403,
             'compare client_id, client_secret_env'),
            (as_json({'error': '<script>alert(1)</script>'}, 400), 503, 'status 400'),
        ):
            with self.subTest(why=why):
                _, back = self.back(self.start())
                self.fake.answers['/token'] = answer
                page = self.browser.open(back)
                self.assertPage(page, status, why)
                self.assertNotIn('alert(1)', page.text)
                self.server.advance(1)
        self.assertNotIn('/other', [request[0] for request in self.fake.requests])
        self.assertNotIn(b'hunter2', self.kept_bytes())

    def test_mixed_up_issuer_is_refused_before_the_code_is_sent(self):
        _, back = self.back(self.start(), iss='https://evil.test')
        self.assertPage(self.browser.open(back), 401, 'the answer is of another issuer')
        self.assertNotIn('/token', [request[0] for request in self.fake.requests])

    def test_answers_without_a_code_and_errors_of_the_provider(self):
        for fields, status, why in (
            ({'code': ''}, 400, 'has no code'),
            ({'code': 'x' * 9_000}, 400, '1 to 8192 bytes'),
            ({'error': 'access_denied'}, 403, 'You were not signed in'),
            ({'error': 'temporarily_unavailable'}, 503, 'cannot sign you in now'),
            ({'error': '<script>alert(1)</script>', 'error_description': 'EVIL'}, 403,
             '&lt;script&gt;'),
        ):
            with self.subTest(why=why):
                _, back = self.back(self.start(), **fields)
                page = self.browser.open(back)
                self.assertPage(page, status, why)
                self.assertNotIn('EVIL', page.text)
                self.server.advance(1)
        self.assertNotIn('/token', [request[0] for request in self.fake.requests])

    def test_next_leads_to_this_server_only(self):
        for path in ('//evil.test', 'https://evil.test', '/\\evil.test', '/\t/evil.test'):
            page = self.start(path)
            cookie = self.browser.cookie('dormouse-oidc')
            encoded = cookie.split('.')[2]
            self.assertEqual(base64.urlsafe_b64decode(encoded + '=' * (-len(encoded) % 4)), b'/')
            self.assertEqual(page.status, 303)

    def test_steps_are_limited_by_address(self):
        for path in ('/sign-in/oidc', '/sign-in/oidc/callback?state=x&code=y'):
            statuses = {self.browser.open(self.own + path).status for _ in range(40)}
            self.assertIn(429, statuses, path)
            self.server.advance(2)
            self.assertNotEqual(self.browser.open(self.own + path).status, 429)
            self.server.advance(2)

    def test_programs_get_problems(self):
        anybody = Client(self.server.port, None)
        self.assertProblem(anybody.get('/sign-in/oidc/callback?state=x'), 401, 'unauthenticated')
        self.assertProblem(anybody.get('/sign-in/oidc?other=x'), 400, 'unknown_field')


if __name__ == '__main__':
    main()
