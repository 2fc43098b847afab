#!/usr/bin/env python3
"""Signing in with a browser: a link works once, by POST; the cookie works on the server's own pages
only."""
import re
import threading

from dormouse import ROOT, Case, Client, main, run, wait_for


class SignIn(Case):
    def link(self, **more):
        answer = self.server.post('/api/links', {'name': 'alice', 'role': 'answer', **more})
        self.assertStatus(answer, 201)
        return answer['url'].split('#')[1], answer.json

    def browser(self):
        return Client(self.server.port, None)

    def spend(self, code):
        return self.browser().post('/sign-in', {'code': code}, Connection='close')

    def cookie(self, code):
        answer = self.assertStatus(self.spend(code), 200)
        header = answer.headers['Set-Cookie']
        value, *attributes = header.split('; ')
        self.assertEqual({'HttpOnly', 'SameSite=Lax', 'Path=/'} - set(attributes), set())
        return value

    def own(self):
        return f'http://127.0.0.1:{self.server.port}'

    def test_link_works_once_and_by_post_only(self):
        code, link = self.link()
        self.assertIn(link['url'], [f'{url}/sign-in#{code}' for url in self.server.urls()])
        self.assertRegex(code, r'^dml_')
        for _ in range(3):  # programs that preview links see a page, and no code
            page = self.assertStatus(self.browser().get('/sign-in'), 200)
            policy = page.headers['Content-Security-Policy']
            self.assertIn("default-src 'none'; style-src 'self';", policy)
            self.assertIn("; script-src 'self'; connect-src 'self'; require-trusted-", policy)
            self.assertNotIn('sha256', policy)
            self.assertIn(b' defer></script>', page.raw)
            self.assertNotIn(b'<style', page.raw)
        self.assertStatus(self.spend(code), 200)
        self.assertProblem(self.spend(code), 401, 'unauthenticated')

    def test_link_says_what_it_is_for_and_stays_unused(self):
        with self.server.alone():  # which remembers who made it
            code, link = self.link(role='operate', projects=['a', 'b'])
        ask = lambda: self.browser().post('/sign-in/link', {'code': code}, Connection='close')
        for _ in range(3):
            about = self.assertStatus(ask(), 200).json
            self.assertEqual(
                {**about, 'created': 0},
                {'name': 'alice', 'role': 'operate', 'projects': ['a', 'b'], 'by': 'first',
                 'created': 0, 'expires': link['expires'], 'lastsMs': 30 * 86_400_000},
            )
        self.server.restart()
        self.assertEqual(self.assertStatus(ask(), 200)['by'], None)
        self.assertStatus(self.spend(code), 200)
        self.assertProblem(ask(), 401, 'unauthenticated')

    def test_link_questions_of_guessed_codes_are_counted(self):
        ask = lambda: self.browser().post('/sign-in/link', {'code': 'x'}, Connection='close')
        self.assertEqual({ask().status for _ in range(40)}, {401, 429})
        self.assertProblem(self.browser().post('/sign-in/link', {}), 400, 'bad_value')

    def test_first_of_many_sign_ins_wins(self):
        code, _ = self.link()
        statuses = []
        threads = [
            threading.Thread(target=lambda: statuses.append(self.spend(code).status))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(statuses.count(200), 1, statuses)

    def test_neither_a_link_nor_a_cookie_is_a_token(self):
        code, _ = self.link()
        self.assertStatus(Client(self.server.port, code).get('/api/agents'), 401)
        secret = self.cookie(code).split('=', 1)[1]
        self.assertStatus(Client(self.server.port, secret).get('/api/agents'), 401)
        answer = self.browser().get('/api/agents', Cookie=f'dormouse={self.server.token}')
        self.assertStatus(answer, 401)

    def test_used_link_and_cookie_survive_sigkill(self):
        code, _ = self.link()
        unspent, _ = self.link()
        cookie = self.cookie(code)
        self.server.restart()
        self.assertStatus(self.spend(code), 401)
        self.assertStatus(self.browser().get('/api/agents', Cookie=cookie), 200)
        self.assertStatus(self.spend(unspent), 200)

    def test_cookie_of_another_page_changes_nothing(self):
        code, _ = self.link(role='operate')
        cookie = self.cookie(code)
        path = '/api/projects/default/sessions'
        body = {'agentID': 'demo'}
        for origin in (
            None,
            'null',
            'https://evil.test',
            f'https://127.0.0.1:{self.server.port}',
            f'http://localhost:{self.server.port}',
            self.own() + '/',
            self.own() + '.evil.test',
        ):
            answer = self.browser().post(path, body, Cookie=cookie, Origin=origin)
            self.assertProblem(answer, 403, 'origin_refused')
        self.assertEqual(self.server.items(path), [])
        self.assertStatus(self.browser().post(path, body, Cookie=cookie, Origin=self.own()), 201)
        self.assertStatus(self.browser().get(path, Cookie=cookie), 200)

    def test_cookie_has_the_role_and_projects_of_its_link(self):
        code, _ = self.link(role='read', projects=['a'])
        cookie = self.cookie(code)
        self.assertStatus(self.browser().get('/api/projects/a/sessions', Cookie=cookie), 200)
        self.assertStatus(self.browser().get('/api/projects/b/sessions', Cookie=cookie), 404)
        answer = self.browser().post(
            '/api/projects/a/sessions', {'agentID': 'demo'}, Cookie=cookie, Origin=self.own()
        )
        self.assertProblem(answer, 403, 'forbidden', role='operate')

    def test_cookies_are_listed_revoked_and_signed_out(self):
        first, second = (self.cookie(self.link()[0]) for _ in range(2))
        cookies = [t for t in self.server.get('/api/tokens')['items'] if t['kind'] == 'cookie']
        self.assertEqual([c['name'] for c in cookies], ['alice', 'alice'])
        out = self.browser().call('DELETE', '/sign-in', headers={'Cookie': first})
        self.assertProblem(out, 403, 'origin_refused')
        out = self.browser().call(
            'DELETE', '/sign-in', headers={'Cookie': first, 'Origin': self.own()}
        )
        self.assertStatus(out, 204)
        self.assertStatus(self.browser().get('/api/agents', Cookie=first), 401)
        self.assertStatus(self.browser().get('/api/agents', Cookie=second), 200)
        for cookie in cookies:
            self.server.delete(f'/api/tokens/{cookie["id"]}')
        # Another server refuses it within 2 s.
        wait_for(lambda: self.browser().get('/api/agents', Cookie=second).status == 401,
                 what='the refusal')

    def test_sign_in_returns_to_this_server_only(self):
        for path, leads_to in (
            ('/a/pnd_x_1_1_y', '/a/pnd_x_1_1_y'),
            ('//evil.test', '/'),
            ('/\\evil.test', '/'),
            ('https://evil.test', '/'),
            ('/\t/evil.test', '/'),
            ('', '/'),
            (None, '/'),
        ):
            body = {'code': self.link()[0], **({} if path is None else {'next': path})}
            answer = self.browser().post('/sign-in', body, Connection='close')
            self.assertStatus(answer, 200)
            self.assertEqual(answer['next'], leads_to)
        self.assertStatus(self.browser().get('/sign-in?next=/a/x'), 200)

    def test_get_with_a_cookie_changes_nothing(self):
        code, _ = self.link(role='admin')
        cookie = self.cookie(code)
        session = self.server.create('approve A')['id']
        (call,) = self.server.open_calls(session)
        source = (ROOT / 'src/http/resources/routes.cc').read_text()
        rows = re.findall(r'\{"GET",\s+\{([^}]*(?:\{\}[^}]*)*)\},\s', source)
        paths = ['/' + '/'.join(re.findall(r'"([^"]*)"', row)) for row in rows]
        self.assertGreater(len(paths), 20)
        before = (self.server.events(session), self.server.items('/api/tokens'))
        for path in [*paths, '/sign-out', f'/async-tool/result?pendingID={call["id"]}&result=1']:
            path = path.replace('projects/{}', 'projects/default')
            path = path.replace('{}', call['id'] if path.startswith(('/a/', '/async')) else session)
            for method in ('GET', 'HEAD'):
                answer = self.browser().call(method, path, headers={'Cookie': cookie})
                self.assertLess(answer.status, 500, path)
        self.assertEqual((self.server.events(session), self.server.items('/api/tokens')), before)

    def test_codes_that_are_guessed_are_counted(self):
        statuses = [self.spend('dml_x').status for _ in range(40)]
        self.assertIn(429, statuses)
        self.assertEqual(set(statuses), {401, 429})
        code, _ = self.link()
        wait_for(lambda: self.spend(code).status == 200, what='the end of the limit')

    def test_link_expires(self):
        code, link = self.link(ttlMs=60_000)
        self.server.advance(link['expires'] / 1000 - self.server.time())
        self.assertStatus(self.spend(code), 401)

    def test_command_prints_the_link_alone(self):
        done = run(
            'link',
            'alice',
            '--role',
            'read',
            '--server',
            self.own(),
            '--data',
            self.server.directory,
        )
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stdout, r'^http://\S+/sign-in#dml_\S{43}\n$')

    def test_command_shows_a_qr_code(self):
        where = ('--server', self.own(), '--data', self.server.directory)
        done = run('link', 'bob', '--qr', *where)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn('Another device cannot open this address. Set public_url', done.stderr)
        self.assertEqual(run('link', '--qr', *where).returncode, 2, 'a link is for somebody')
        rows = [line for line in done.stderr.splitlines() if '▀' in line or '▄' in line]
        self.assertGreater(len(rows), 15)
        self.assertRegex(done.stdout, r'^http://\S+/sign-in#dml_\S{43}\n$')
        self.assertStatus(self.spend(done.stdout.strip().split('#')[1]), 200)

    def test_neither_code_nor_cookie_is_kept_or_logged(self):
        code, _ = self.link()
        cookie = self.cookie(code).split('=', 1)[1]
        self.server.finish()
        import pathlib

        for file in pathlib.Path(self.server.own).rglob('*'):
            if file.is_file():
                for secret in (code, cookie):
                    self.assertNotIn(secret.encode(), file.read_bytes(), file)


if __name__ == '__main__':
    main()
