#!/usr/bin/env python3
"""The page behind the link that people receive: a signed-in person answers with its form, by POST
only; no form of another origin is accepted; texts of agents are escaped."""
import html.parser
import re
import threading
import urllib.parse

from dormouse import Client, Server, main
from tools_by_config import Tools

GATE = '''
[[gate]]
tools = ["deploy"]
ask = "Deploy {input.target}?"
%s
'''
HOSTILE = '''
[[gate]]
tools = ["deploy"]
ask = "<script>alert(1)</script><form action='https://evil.test'>{input.target}"
'''


class Parsed(html.parser.HTMLParser):
    """The tags of a page, its text, and the fields of its form."""

    def __init__(self, raw):
        super().__init__()
        self.tags, self.text, self.hidden, self.confirms, self.links = [], '', {}, [], []
        self.files = []  # of the web page
        self.feed(raw.decode())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append(tag)
        if tag == 'input' and 'name' in attributes:
            self.hidden[attributes['name']] = attributes.get('value', '')
        if tag == 'button':
            self.confirms.append(attributes.get('value'))
        if tag in ('script', 'link'):
            self.files += filter(None, (attributes.get('src'), attributes.get('href')))
        if tag == 'a':
            self.links.append(attributes['href'])
        bad = [name for name in attributes if name.startswith('on')]
        own = re.compile(r'/sign-in|/sign-out|/a/pnd_[\w-]+')
        bad += [a for n, a in attributes.items() if n == 'action' and not own.fullmatch(a)]
        assert not bad, bad

    def handle_data(self, data):
        self.text += data


class Person:
    """A signed-in browser; it sends what browsers send with a form."""

    def __init__(self, server, name, role='answer', **more):
        self.server, self.name = server, name
        self.own = f'http://127.0.0.1:{server.port}'
        link = server.post('/api/links', {'name': name, 'role': role, **more})
        assert link.status == 201, link
        spent = self.client().post('/sign-in', {'code': link['url'].split('#')[1]})
        assert spent.status == 200, spent
        self.cookie = spent.headers['Set-Cookie'].split(';')[0]

    def client(self):
        return Client(self.server.port, None)

    def get(self, pending, confirm=None):
        """The page of a call, or the confirmation of a decision, which has the form."""
        path = '/a/' + pending + (f'?confirm={confirm}' if confirm else '')
        answer = self.client().get(path, Cookie=self.cookie)
        assert answer.status == 200, answer
        return Parsed(answer.raw)

    def raw(self, path, **headers):
        answer = self.client().get(path, Cookie=self.cookie, **headers)
        assert answer.status == 200, answer
        return answer.raw.decode()

    def send(self, pending, fields, **headers):
        headers = {'Origin': self.own, 'Cookie': self.cookie, **headers}
        headers = {'Content-Type': 'application/x-www-form-urlencoded', **headers}
        raw = urllib.parse.urlencode(fields).encode()
        return self.client().call('POST', '/a/' + pending, headers=headers, raw=raw)

    def answer(self, pending, confirm, page=None, **fields):
        page = page or self.get(pending, None if confirm == 'answer' else confirm)
        return self.send(pending, {**page.hidden, 'confirm': confirm, **fields})


def has_own_script_alone(case, page):
    """That of the web page, which is a file."""
    case.assertEqual(page.tags.count('script'), 1)
    scripts = [name for name in page.files if name.endswith('.js')]
    case.assertEqual([name.startswith('/assets/') for name in scripts], [True])


class Page(Tools):
    def waiting_call(self, gate='', text='deploy A'):
        self.serve(self.command('echo "ran $(cat)"') + GATE % gate)
        self.session = self.server.create(text, agent='ops')['id']
        (call,) = self.server.open_calls(self.session)
        return call['id']

    def status(self, pending):
        return self.server.get('/async-tool/pending/' + pending)['status']

    def test_person_approves_with_a_comment_and_reads_the_receipt(self):
        pending = self.waiting_call()
        bob = Person(self.server, 'bob')
        page = bob.get(pending)
        self.assertIn('Deploy A?', page.text)
        self.assertIn('{"target":"A"}', page.text)
        self.assertNotIn('form', page.tags)
        self.assertEqual(page.confirms, [])
        ways = [f'/a/{pending}?confirm={confirm}' for confirm in ('deny', 'approve')]
        self.assertEqual(page.links, ['/', *ways])
        page = bob.get(pending, 'approve')
        self.assertIn('Run this once?', page.text)
        self.assertIn('Deploy A?', page.text)
        self.assertIn('{"target":"A"}', page.text)
        self.assertEqual(page.confirms, ['approve'])
        self.assertEqual(page.links, ['/a/' + pending] * 2)
        has_own_script_alone(self, page)
        answer = bob.answer(pending, 'approve', page, comment='go\r\nahead & <b>')
        self.assertEqual((answer.status, answer.headers['Location']), (303, pending))
        self.server.at_rest(self.session)
        self.assertEqual(self.server.last_text(self.session), 'deploy A: ran {"target":"A"}')
        call = self.server.get('/async-tool/pending/' + pending).json
        self.assertEqual(call['decision']['reason'], 'go\nahead & <b>')
        self.assertEqual(call['receipt']['by'], {'type': 'token', 'name': 'bob'})
        self.assertEqual(call['receipt']['via'], 'page')
        after = bob.get(pending)
        self.assertIn('Approved by bob at ', after.text)
        self.assertIn('go\nahead & <b>', after.text)
        self.assertNotIn('form', after.tags)
        # The back button or a second click: the same request again.
        again = bob.answer(pending, 'approve', page, comment='again')
        self.assertEqual(again.status, 303)
        receipt = self.server.get('/async-tool/pending/' + pending)['receipt']
        self.assertEqual(receipt['seq'], call['receipt']['seq'])

    def test_approval_shows_arguments_with_markup_as_stored(self):
        self.serve(self.command('cat') + """
[[gate]]
tools = ["deploy"]
ask = "{input.target}"
""")
        target = '__all__'
        session = self.server.create('deploy ' + target, agent='ops')['id']
        (call,) = self.server.open_calls(session)
        bob = Person(self.server, 'bob')
        for page in (bob.get(call['id']), bob.get(call['id'], 'approve')):
            # The row of the argument, and the JSON of all.
            self.assertIn('target' + target, page.text)
            self.assertIn('{"target":"__all__"}', page.text)
            self.assertNotIn('strong', page.tags)
        self.assertEqual(bob.get(call['id'], 'approve').hidden['inputDigest'], call['inputDigest'])

    def test_denied_call_never_runs_late_answer_names_the_decider(self):
        pending = self.waiting_call()
        bob, eve = Person(self.server, 'bob'), Person(self.server, 'eve')
        late = eve.get(pending, 'approve')
        self.assertEqual(bob.answer(pending, 'deny', comment='friday').status, 303)
        self.ends_with('deploy A failed: denied: friday')
        answer = eve.answer(pending, 'approve', late)
        self.assertEqual(answer.status, 409, answer)
        text = Parsed(answer.raw).text
        self.assertIn('Your answer was not applied.', text)
        self.assertIn('Denied by bob at ', text)
        self.assertIn('friday', text)
        self.assertEqual(self.server.last_text(self.session), 'deploy A failed: denied: friday')

    def test_first_of_many_clicks_decides(self):
        pending = self.waiting_call()
        people = [Person(self.server, f'p{i}') for i in range(6)]
        pages = [person.get(pending, 'approve') for person in people]
        statuses = []

        def click(i):
            confirm = 'approve' if i % 2 else 'deny'
            statuses.append(people[i].answer(pending, confirm, pages[i]).status)

        threads = [threading.Thread(target=click, args=(i,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((statuses.count(303), statuses.count(409)), (3, 3), statuses)
        self.server.at_rest(self.session)
        types = [e['type'] for e in self.server.events(self.session)]
        self.assertEqual(types.count('submitted'), 1)

    def test_confirmation_is_of_decisions_alone(self):
        pending = self.waiting_call()
        bob = Person(self.server, 'bob')
        for confirm in ('x', 'answer', 'approve&confirm=deny'):
            answer = bob.client().get(f'/a/{pending}?confirm={confirm}', Cookie=bob.cookie)
            self.assertProblem(answer, 400, 'bad_value')
        page = bob.get(pending, 'run_again')  # not of an approval: the page
        self.assertIn(f'/a/{pending}?confirm=approve', page.links)
        page = bob.get(pending, 'deny')
        self.assertIn('Deny deploy?', page.text)
        self.assertEqual(page.confirms, ['deny'])
        anyone = Client(self.server.port, None).get(f'/a/{pending}?confirm=approve')
        self.assertNotIn('Deploy', Parsed(anyone.raw).text)
        self.assertEqual(bob.answer(pending, 'deny', page).status, 303)
        self.assertNotIn('form', bob.get(pending, 'approve').tags)

    def test_get_never_decides(self):
        pending = self.waiting_call()
        bob = Person(self.server, 'bob')
        page = bob.get(pending, 'approve')
        fields = urllib.parse.urlencode({**page.hidden, 'confirm': 'approve'})
        answer = bob.client().get(f'/a/{pending}?{fields}', Cookie=bob.cookie)
        self.assertEqual(answer.status, 400)
        for method in ('GET', 'HEAD'):
            for cookie in (bob.cookie, None):
                headers = {'Cookie': cookie, 'Content-Type': 'application/x-www-form-urlencoded'}
                answer = bob.client().call(
                    method, '/a/' + pending, headers=headers, raw=fields.encode()
                )
                self.assertLess(answer.status, 500)
        self.assertEqual(self.status(pending), 'waiting')

    def test_no_form_of_another_page_person_or_call_is_taken(self):
        pending = self.waiting_call()
        other = self.server.create('deploy B', agent='ops')['id']
        (call,) = self.server.open_calls(other)
        bob, eve = Person(self.server, 'bob'), Person(self.server, 'eve')
        fields = {**bob.get(pending, 'approve').hidden, 'confirm': 'approve'}
        for origin in (None, 'null', 'https://evil.test', self.own_but_port(1), bob.own + '/'):
            answer = bob.send(pending, fields, Origin=origin)
            self.assertProblem(answer, 403, 'origin_refused')
        for token in (
            '',
            'x',
            eve.get(pending, 'approve').hidden['token'],
            bob.get(call['id'], 'approve').hidden['token'],
        ):
            answer = bob.send(pending, {**fields, 'token': token})
            self.assertEqual(answer.status, 403, answer)
            self.assertIn('another sign-in', Parsed(answer.raw).text)
        self.assertProblem(bob.send(pending, fields, Cookie=None), 401, 'unauthenticated')
        self.assertProblem(self.with_token(pending, fields), 403, 'forbidden')
        as_json = bob.client().post('/a/' + pending, fields, Cookie=bob.cookie, Origin=bob.own)
        self.assertProblem(as_json, 415, 'unsupported_media_type')
        twice = bob.send(pending, [*fields.items(), ('confirm', 'deny')])
        self.assertProblem(twice, 400, 'bad_value')
        self.assertEqual(self.status(pending), 'waiting')
        self.assertEqual(bob.send(pending, fields).status, 303)

    def own_but_port(self, port):
        return f'http://127.0.0.1:{port}'

    def with_token(self, pending, fields):
        return self.server.call(
            'POST',
            '/a/' + pending,
            raw=urllib.parse.urlencode(fields).encode(),
            headers={'Content-Type': 'application/x-www-form-urlencoded'},
        )

    def test_incomplete_form_changes_nothing(self):
        pending = self.waiting_call()
        bob = Person(self.server, 'bob')
        hidden = bob.get(pending, 'approve').hidden
        for fields, status in (
            ({**hidden}, 400),
            ({**hidden, 'confirm': 'answer'}, 400),
            ({**hidden, 'confirm': 'approve', 'inputDigest': ''}, 400),
            ({**hidden, 'confirm': 'approve', 'inputDigest': 'sha256:' + '0' * 64}, 409),
            ({**hidden, 'confirm': 'approve', 'comment': 'x' * 1_100_000}, 413),
        ):
            self.assertEqual(bob.send(pending, fields).status, status, list(fields))
        self.assertEqual(self.status(pending), 'waiting')

    def test_form_is_only_for_people_who_may_answer(self):
        pending = self.waiting_call()
        reader = Person(self.server, 'ro', role='read')
        for confirm in (None, 'approve'):
            page = reader.get(pending, confirm)
            self.assertIn('Deploy A?', page.text)
            self.assertNotIn('form', page.tags)
            self.assertEqual(page.links, ['/'])
        bob = Person(self.server, 'bob')
        fields = {**bob.get(pending, 'approve').hidden, 'confirm': 'approve'}
        self.assertProblem(reader.send(pending, fields), 403, 'forbidden', role='answer')
        foreign = Person(self.server, 'far', projects=['other'])
        page = foreign.get(pending)
        self.assertNotIn('Deploy', page.text)
        self.assertProblem(foreign.send(pending, fields), 404, 'not_found')
        unknown = pending[:-4] + 'AAAA'
        self.assertEqual(foreign.get(unknown).text.replace(unknown, pending), page.text)
        self.assertProblem(foreign.send(unknown, fields), 404, 'not_found')
        self.assertEqual(page.links, ['/sign-in?next=/a/' + pending])
        self.assertIn('Sign in to answer', page.text)
        self.assertEqual(self.status(pending), 'waiting')

    def test_form_after_sign_out_or_revocation_is_refused(self):
        pending = self.waiting_call()
        bob = Person(self.server, 'bob')
        fields = {**bob.get(pending, 'approve').hidden, 'confirm': 'approve'}
        out = bob.client().call(
            'DELETE', '/sign-in', headers={'Cookie': bob.cookie, 'Origin': bob.own}
        )
        self.assertStatus(out, 204)
        self.assertProblem(bob.send(pending, fields), 401, 'unauthenticated')
        self.assertEqual(self.status(pending), 'waiting')

    def test_two_answerers_must_agree(self):
        pending = self.waiting_call('answerers = ["ann", "bob"]\nneed = 2')
        ann, bob, eve = (Person(self.server, name) for name in ('ann', 'bob', 'eve'))
        page = ann.get(pending, 'approve')
        self.assertIn('ann, bob; 2 must agree', page.text)
        self.assertIn('0 of 2 have approved', page.text)
        answer = eve.answer(pending, 'approve')
        self.assertEqual(answer.status, 403)
        self.assertIn('not among the answerers', Parsed(answer.raw).text)
        self.assertEqual(ann.answer(pending, 'approve', page).status, 303)
        after = ann.get(pending)
        self.assertIn('1 of 2 have approved: ann at ', after.text)
        self.assertIn('Your vote is counted', after.text)
        self.assertNotIn('form', after.tags)
        self.assertEqual(ann.answer(pending, 'approve', page).status, 303)  # counts once
        self.assertEqual(self.status(pending), 'waiting')
        self.assertEqual(bob.answer(pending, 'approve').status, 303)
        self.assertIn('Approved by bob', bob.get(pending).text)
        self.ends_with('deploy A: ran {"target":"A"}')

    def test_claimed_call_is_left_to_its_claimant(self):
        pending = self.waiting_call()
        ann, bob = Person(self.server, 'ann'), Person(self.server, 'bob')
        before = bob.get(pending, 'approve')
        headers = {'Cookie': ann.cookie, 'Origin': ann.own}
        claim = f'/async-tool/pending/{pending}/claim'
        self.assertStatus(ann.client().post(claim, {'forMs': 600_000}, **headers), 200)
        page = bob.get(pending, 'approve')
        self.assertIn('Claimed by ann until ', page.text)
        self.assertNotIn('form', page.tags)
        answer = bob.answer(pending, 'approve', before)
        self.assertEqual(answer.status, 409)
        self.assertIn('ann has claimed this call', Parsed(answer.raw).text)
        self.assertEqual(self.status(pending), 'processing')
        self.assertEqual(ann.answer(pending, 'approve').status, 303)
        self.ends_with('deploy A: ran {"target":"A"}')

    def test_hostile_texts_are_escaped(self):
        self.serve(self.command('echo ran') + HOSTILE)
        evil = '<img/src=x/onerror=alert(1)>"\'&\u202egnp'
        call = self.waiting()
        bob = Person(self.server, 'bob')
        answer = bob.client().get('/a/' + call['id'], Cookie=bob.cookie)
        policy = answer.headers['Content-Security-Policy']
        self.assertIn("default-src 'none'", policy)
        self.assertIn("form-action 'self'", policy)
        self.assertIn("frame-ancestors 'none'", policy)
        self.assertIn("script-src 'self'; style-src 'self';", policy)
        self.assertNotIn('sha256', policy)
        # With no-referrer browsers would send `Origin: null` with the form.
        self.assertEqual(answer.headers['Referrer-Policy'], 'same-origin')
        self.assertEqual(answer.headers['Cache-Control'], 'no-store')
        page = Parsed(answer.raw)
        has_own_script_alone(self, page)
        self.assertEqual((page.tags.count('form'), page.tags.count('style')), (0, 0))
        self.assertIn("<script>alert(1)</script><form action='https://evil.test'>A", page.text)
        page = bob.get(call['id'], 'approve')
        has_own_script_alone(self, page)
        self.assertEqual(page.tags.count('form'), 1)
        self.assertIn("<script>alert(1)</script><form action='https://evil.test'>A", page.text)
        # What was typed is kept in a form that is refused, and escaped.
        refused = bob.answer(call['id'], 'deny', comment=evil, inputDigest='')
        self.assertEqual(refused.status, 400)
        again = Parsed(refused.raw)
        self.assertEqual(again.confirms, ['deny'])
        self.assertNotIn('img', again.tags)
        self.assertIn('<img/src=x/onerror=alert(1)>"\'&\\u{202e}gnp', again.text.lower())
        # Edited arguments and comments are escaped too.
        self.assertEqual(bob.answer(call['id'], 'deny', comment=evil).status, 303)
        after = Parsed(bob.client().get('/a/' + call['id'], Cookie=bob.cookie).raw)
        self.assertNotIn('img', after.tags)
        self.assertIn('<img/src=x/onerror=alert(1)>"\'&\\u{202e}gnp', after.text.lower())

    def test_page_is_about_the_question(self):
        pending = self.waiting_call()
        raw = Person(self.server, 'bob').raw('/a/' + pending)
        self.assertIn('<title>Deploy A?</title>', raw)
        self.assertIn('<h1>Deploy A?</h1>', raw)
        self.assertIn('<main>', raw)
        self.assertIn('content="light dark"', raw)
        page = Parsed(raw.encode())
        self.assertRegex(page.text, r'target\s*A\s')  # a row of its own
        self.assertIn('Raw JSON{"target":"A"}', page.text)
        self.assertIn('/', page.links)

    def test_page_edited_arguments_show_what_differs(self):
        pending = self.waiting_call()
        body = {'pendingID': pending, 'approved': True, 'arguments': {'target': 'B'}}
        self.assertEqual(self.server.post('/async-tool/decision', body).status, 200)
        self.server.at_rest(self.session)
        page = Person(self.server, 'bob').get(pending)
        self.assertIn('- target: "A"', page.text)
        self.assertIn('+ target: "B"', page.text)

    def test_form_decides_over_a_crash(self):
        pending = self.waiting_call()
        bob = Person(self.server, 'bob')
        page = bob.get(pending, 'approve')
        self.server.restart()
        self.assertEqual(bob.answer(pending, 'approve', page).status, 303)
        self.ends_with('deploy A: ran {"target":"A"}')
        self.server.restart()
        self.assertIn('Approved by bob', bob.get(pending).text)


class Home(Tools):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.clean)

    def test_question_markdown_is_readable_and_safe(self):
        text = 'ask Which **region**?\n\n- eu\n- <script>us</script>\n\n[now](javascript:x)'
        question = self.server.open_calls(self.server.create(text)['id'])[0]
        bob = Person(self.server, 'bob')
        raw = bob.raw('/a/' + question['id'])
        self.assertIn('<title>Which region?</title>', raw)
        self.assertIn('<h1>Which <strong>region</strong>?</h1>', raw)
        self.assertIn('<li>eu</li>', raw)
        self.assertIn('<li>&lt;script&gt;us&lt;/script&gt;</li>', raw)
        self.assertIn('<p>[now](javascript:x)</p>', raw)
        self.assertIn('as it was sent', raw)
        has_own_script_alone(self, Parsed(raw.encode()))
        self.assertIn('Which region?\n- eu', bob.raw('/'))

    def test_home_lists_what_waits_for_the_person(self):
        approval = self.server.open_calls(self.server.create('approve A')['id'])[0]
        question = self.server.open_calls(self.server.create('ask How\nmany?')['id'])[0]
        self.server.create('deploy B')  # a job: not for people
        bob = Person(self.server, 'bob')
        page = Parsed(bob.raw('/').encode())
        self.assertIn('Signed in as bob (role answer)', page.text)
        self.assertIn('Waiting for you: 2', page.text)
        self.assertEqual(page.links, ['/a/' + question['id'], '/a/' + approval['id']])
        # All of that is for browsers without script.
        within = bob.raw('/').partition('<noscript>')[2].partition('</noscript>')[0]
        self.assertIn('Waiting for you: 2', within)
        self.assertEqual(bob.answer(question['id'], 'answer', answer='4').status, 303)
        self.assertIn('Waiting for you: 1', bob.raw('/'))
        for other in (
            Person(self.server, 'ro', role='read'),
            Person(self.server, 'far', projects=['other']),
        ):
            page = Parsed(other.raw('/').encode())
            self.assertIn('Nothing waits for your answer.', page.text)
            self.assertEqual(page.links, [])

    def test_home_without_sign_in_shows_nothing(self):
        call = self.server.open_calls(self.server.create('approve A')['id'])[0]
        answer = self.assertStatus(Client(self.server.port, None).get('/'), 200)
        page = Parsed(answer.raw)
        self.assertIn('Ask your administrator for one', page.text)
        self.assertNotIn(call['message'], page.text)
        self.assertNotIn(call['id'], answer.raw.decode())
        self.assertEqual(page.links, ['/sign-in'])

    def test_button_signs_out(self):
        bob = Person(self.server, 'bob')
        form = {'Content-Type': 'application/x-www-form-urlencoded', 'Cookie': bob.cookie}
        for origin in (None, 'null', 'https://evil.test'):
            headers = {**form, **({'Origin': origin} if origin else {})}
            answer = bob.client().call('POST', '/sign-out', headers=headers, raw=b'')
            self.assertProblem(answer, 403, 'origin_refused')
        headers = {**form, 'Origin': bob.own, 'Accept': 'text/html'}
        answer = bob.client().call('POST', '/sign-out', headers=headers, raw=b'')
        self.assertEqual((answer.status, answer.headers['Location']), (303, '/'))
        self.assertIn('Max-Age=0', answer.headers['Set-Cookie'])
        self.assertIn('Sign in to Dormouse', bob.raw('/'))

    def test_browser_gets_errors_as_pages(self):
        bob = Person(self.server, 'bob')
        html_type = {'Accept': 'text/html,application/xhtml+xml'}
        for path, cookie, status in (
            ('/nothing', bob.cookie, 404),
            ('/favicon.ico', None, 401),
            ('/api/agents', None, 401),
            ('/api/tokens', bob.cookie, 403),
            ('/sign-out', bob.cookie, 405),
            ('/a/x', bob.cookie, 404),
        ):
            headers = dict(html_type, **({'Cookie': cookie} if cookie else {}))
            answer = self.assertStatus(bob.client().get(path, **headers), status)
            self.assertEqual(answer.headers['Content-Type'], 'text/html; charset=utf-8', path)
            self.assertIn("default-src 'none'", answer.headers['Content-Security-Policy'])
            text = answer.raw.decode()
            for part in ('<html lang="en">', '<title>', '<main>', 'viewport', 'light dark'):
                self.assertIn(part, text, path)
            self.assertIn('What waits for me', text, path)
        form = {'Content-Type': 'application/x-www-form-urlencoded', 'Origin': bob.own}
        for headers, raw, status, advice in (
            (form, b'link=x', 401, 'for a new one'),
            (form, b'link=' + b'x' * 5_000, 413, 'too large'),
            ({'Content-Type': 'application/json'}, b'{"code":"x"}', 401, 'sign-in link'),
            ({'Content-Type': 'application/json'}, b'{', 400, ''),
            ({'Content-Type': 'text/plain'}, b'x', 415, ''),
            ({**form, 'Origin': 'https://evil.test'}, b'link=x', 403, ''),
            ({**form, 'Host': 'evil.test'}, b'link=x', 421, 'address'),
        ):
            with self.subTest(status=status, raw=raw[:10]):
                answer = bob.client().call('POST', '/sign-in', raw=raw,
                                           headers={**html_type, **headers, 'Connection': 'close'})
                self.assertStatus(answer, status)
                self.assertEqual(answer.headers['Content-Type'], 'text/html; charset=utf-8')
                self.assertIn(advice, answer.raw.decode())
        answers = [bob.client().call('POST', '/sign-in', raw=b'link=x',
                                     headers={**html_type, **form, 'Connection': 'close'})
                   for _ in range(40)]
        (limited, *_) = [one for one in answers if one.status == 429]
        self.assertIn('text/html', limited.headers['Content-Type'])
        answer = bob.client().get('/nothing', Cookie=bob.cookie, Accept='*/*')
        self.assertProblem(answer, 404, 'not_found')


if __name__ == '__main__':
    main()
