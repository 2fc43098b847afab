#!/usr/bin/env python3
"""The web page as the server gives it: its files, views, headers and policy, and the forms of
questions."""
import re
import urllib.parse

from dormouse import ROOT, Client, Server, main
from page import Parsed, Person
from tools_by_config import HELD, Tools, eventually


class WebPage(Tools):
    """The files that the server contains, and the paths of the page's views."""

    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.clean)
        self.anyone = Client(self.server.port, None)

    def file(self, end):
        bob = Person(self.server, 'bob')
        (path,) = [f for f in Parsed(bob.raw('/').encode()).files
                   if f.endswith(end) and not f.startswith('/assets/plain-')]
        return path

    def test_files_are_immutable_and_need_no_token(self):
        for end, kind in (('.js', 'text/javascript'), ('.css', 'text/css')):
            path = self.file(end)
            self.assertTrue(path.startswith('/assets/'), path)
            answer = self.assertStatus(self.anyone.get(path), 200)
            self.assertEqual(answer.headers['Content-Type'], kind + '; charset=utf-8')
            self.assertEqual(
                answer.headers['Cache-Control'], 'public, max-age=31536000, immutable'
            )
            self.assertIsNone(answer.headers['Content-Encoding'])
            self.assertEqual(answer.headers['X-Content-Type-Options'], 'nosniff')
            head = self.assertStatus(self.anyone.call('HEAD', path), 200)
            self.assertEqual(head.headers['Content-Length'], str(len(answer.raw)))
            self.assertEqual(head.raw, b'')

    def test_brotli_is_smaller_and_has_a_tag_of_its_own(self):
        path = self.file('.js')
        plain = self.anyone.get(path)
        small = self.anyone.get(path, **{'Accept-Encoding': 'gzip, br'})
        self.assertEqual(small.headers['Content-Encoding'], 'br')
        self.assertEqual(small.headers['Vary'], 'Accept-Encoding')
        self.assertLess(len(small.raw) * 2, len(plain.raw))
        self.assertNotEqual(small.headers['ETag'], plain.headers['ETag'])
        whole = sum(
            len(self.anyone.get(self.file(end), **{'Accept-Encoding': 'br'}).raw)
            for end in ('.js', '.css')
        )
        self.assertLess(whole, 150_000)

    def test_known_tag_is_304(self):
        for path in (self.file('.css'), '/icon.svg', '/manifest.webmanifest', '/index.html'):
            tag = self.assertStatus(self.anyone.get(path), 200).headers['ETag']
            again = self.anyone.get(path, **{'If-None-Match': tag})
            self.assertEqual((again.status, again.raw), (304, b''), path)
            self.assertEqual(again.headers['ETag'], tag)

    def test_unknown_files_and_paths_out_of_the_folder_are_404(self):
        for path in (
            '/assets/nothing.js',
            '/assets/',
            '/assets/../token',
            '/assets/%2e%2e/%2e%2e/etc/passwd',
            '/assets/..%2f..%2ftoken',
        ):
            answer = self.anyone.call('GET', path, headers={'Connection': 'close'})
            self.assertIn(answer.status, (400, 401, 404), path)
            self.assertNotIn(self.server.token.encode(), answer.raw)
        self.assertProblem(self.anyone.get('/assets/nothing.js'), 404, 'not_found')

    def test_other_methods_are_405(self):
        for path in (self.file('.js'), '/sessions', '/sessions/ses_x/timeline', '/icon.svg'):
            for method in ('POST', 'PUT', 'DELETE', 'PATCH'):
                answer = self.server.call(method, path)
                self.assertProblem(answer, 405, 'method_not_allowed')
                self.assertEqual(answer.headers['Allow'], 'GET, HEAD')

    def test_views_give_the_page_to_anyone_who_is_signed_in(self):
        bob = Person(self.server, 'bob')
        shell = (ROOT / 'web/src/parts/Shell.svelte').read_text()
        found = re.findall(r"router\.path === '(/[a-z/]+)'|'(/[a-z/]+)': \(\) =>", shell)
        views = {one or other for one, other in found} - {'/'}
        self.assertIn('/operate/rules', views)
        for path in ('/sessions?state=idle&q=a', '/sessions/ses_x/timeline', *sorted(views)):
            answer = self.assertStatus(bob.client().get(path, Cookie=bob.cookie), 200)
            self.assertIn('<div id="app"></div>', answer.raw.decode())
            self.assertEqual(answer.headers['Cache-Control'], 'no-cache')
            policy = answer.headers['Content-Security-Policy']
            self.assertIn("script-src 'self'; style-src 'self';", policy)
            self.assertIn("require-trusted-types-for 'script'", policy)
            away = self.anyone.call('GET', path, headers={'Connection': 'close'})
            self.assertEqual(away.status, 303)
            self.assertEqual(
                away.headers['Location'], '/sign-in?next=' + urllib.parse.quote(path)
            )

    def test_sign_in_returns_to_the_view(self):
        for path in ('/sessions?q=a%26b', '/?open=pnd_x', '/sessions/ses_x/timeline'):
            link = self.server.post('/api/links', {'name': 'bob', 'role': 'answer'})
            body = {'code': link['url'].split('#')[1], 'next': path}
            self.assertEqual(self.anyone.post('/sign-in', body)['next'], path)
        greeted = self.anyone.get('/?open=pnd_x').raw.decode()
        self.assertIn('href="/sign-in?next=/%3Fopen%3Dpnd_x"', greeted)

    def test_form_of_the_sign_in_works_without_script(self):
        own = f'http://127.0.0.1:{self.server.port}'
        form = {'Content-Type': 'application/x-www-form-urlencoded', 'Connection': 'close'}

        def send(link, path, origin=own, confirm='yes'):
            fields = {'link': link, 'next': path, **({'confirm': confirm} if confirm else {})}
            raw = urllib.parse.urlencode(fields).encode()
            headers = {**form, **({'Origin': origin} if origin else {})}
            return self.anyone.call('POST', '/sign-in', headers=headers, raw=raw)

        page = Parsed(self.anyone.get('/sign-in?next=/sessions%3Fq%3Da').raw)
        self.assertEqual(page.hidden['next'], '/sessions?q=a')
        link = self.server.post('/api/links', {'name': 'bob', 'role': 'answer'})['url']
        # A foreign page cannot sign a person in.
        for origin in (None, 'null', 'https://evil.test', 'http://127.0.0.1:1'):
            self.assertProblem(send(link, '/', origin), 403, 'origin_refused')
        asks = self.assertStatus(send(f'  {link}\r\n', '/sessions?q=a', confirm=None), 200)
        step = Parsed(asks.raw)
        # Only the server that made it knows who did.
        made_by = 'This link is for bob' if self.server.beside else 'first made this link for you'
        for words in ('Sign in as bob', made_by, 'answer what waits',
                      'all projects', '30 days', 'continue to /sessions?q=a', 'works once'):
            self.assertIn(words, step.text)
        self.assertNotIn('Set-Cookie', asks.headers)
        self.assertEqual(step.hidden['next'], '/sessions?q=a')
        self.assertEqual(step.hidden['link'], link.split('#')[1])
        answer = send(step.hidden['link'], '/sessions?q=a')
        self.assertEqual((answer.status, answer.headers['Location']), (303, '/sessions?q=a'))
        cookie = answer.headers['Set-Cookie'].split(';')[0]
        self.assertStatus(self.anyone.get('/api/agents', Cookie=cookie), 200)
        again = self.assertStatus(send(link, '/'), 401)
        self.assertIn('was used before', Parsed(again.raw).text)
        for path in ('//evil.test', 'https://evil.test/', '/\\evil.test'):
            link = self.server.post('/api/links', {'name': 'bob', 'role': 'answer'})['url']
            self.assertEqual(send(link, path).headers['Location'], '/')

    def test_hosts_and_origins_are_checked_as_for_all_routes(self):
        path = self.file('.js')
        self.assertProblem(self.anyone.get(path, Host='evil.test'), 421, 'wrong_host')
        answer = self.anyone.get(path, Origin='https://evil.test')
        self.assertProblem(answer, 403, 'origin_refused')


class Questions(Tools):
    def test_question_is_answered(self):
        self.server = self.demo_server()
        session = self.server.create('ask How many?')['id']
        (call,) = self.server.open_calls(session)
        bob = Person(self.server, 'bob')
        page = bob.get(call['id'])
        self.assertEqual(page.confirms, ['answer'])
        self.assertEqual(bob.answer(call['id'], 'answer', page, answer='4\r\n<2>').status, 303)
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'ask_human How many?: 4\n<2>')
        after = bob.get(call['id'])
        self.assertIn('Answered by bob', after.text)
        self.assertIn('4\n<2>', after.text)

    def test_choice_is_the_answer_unless_another_one_is_written(self):
        self.server = self.demo_server()
        bob = Person(self.server, 'bob')
        for fields, expected in (
            ({'choice': 'the <south>'}, 'the <south>'),
            ({'choice': 'north', 'answer': 'neither'}, 'neither'),
        ):
            session = self.server.create('ask Where? | north | the <south>')['id']
            (call,) = self.server.open_calls(session)
            self.assertEqual(
                call['form'], {'choices': [{'title': 'north'}, {'title': 'the <south>'}]}
            )
            page = bob.get(call['id'])
            self.assertIn('the <south>', page.text)
            hidden = {name: page.hidden[name] for name in ('token', 'inputDigest')}
            nothing = bob.send(call['id'], {**hidden, 'confirm': 'answer'})
            self.assertEqual(nothing.status, 400, nothing)
            sent = bob.send(call['id'], {**hidden, 'confirm': 'answer', **fields})
            self.assertEqual(sent.status, 303, sent)
            self.server.at_rest(session)
            self.assertEqual(self.server.last_text(session), f'ask_human Where?: {expected}')

    def demo_server(self):
        server = Server()
        self.addCleanup(server.clean)
        return server

    def test_outcome_of_a_job_is_not_for_people(self):
        self.server = self.demo_server()
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        bob = Person(self.server, 'bob')
        page = bob.get(call['id'])
        self.assertNotIn('form', page.tags)
        self.assertIn(f'dormouse result {call["id"]}', page.text)

    def test_person_answers_for_a_tool_in_doubt(self):
        tool = self.command(
            HELD + '; echo ran',
            more='crash = "ask"',
        )
        self.serve(tool)
        self.session = self.server.create('deploy A', agent='ops', wait=0)['id']
        eventually(lambda: (self.folder / 'deploy.sh.begun').exists(), 'it runs')
        self.server.restart()
        (call,) = eventually(
            lambda: [
                c for c in self.server.open_calls(self.session) if c['reason'] == 'elicitation'
            ],
            'the question',
        )
        bob = Person(self.server, 'bob')
        page = bob.get(call['id'])
        ways = [f'/a/{call["id"]}?confirm={way}' for way in ('give_up', 'run_again', 'succeeded')]
        self.assertEqual(page.links, ['/', *ways])
        page = bob.get(call['id'], 'give_up')
        self.assertIn('Give up deploy?', page.text)
        page = bob.get(call['id'], 'succeeded')
        self.assertEqual(page.confirms, ['succeeded'])
        self.assertEqual(bob.answer(call['id'], 'approve', page).status, 422)
        answer = bob.answer(call['id'], 'succeeded', page, answer='well')
        self.assertEqual(answer.status, 303, answer)
        self.ends_with('deploy A: well')
        self.assertEqual(bob.answer(call['id'], 'succeeded', page, answer='well').status, 303)
        (self.folder / 'deploy.sh.go').write_text('')


if __name__ == '__main__':
    main()
