#!/usr/bin/env python3
"""Foreign pages in the browser of a signed-in person read nothing and change nothing. Each attack
is tried from another site, from another port of the same host (which SameSite does not stop), and
by a name that resolves to another address a moment later (DNS rebinding)."""
import http.server
import threading

import chromium
from dormouse import Case, leave_out, main

FOREIGN = ('evil.example', '127.0.0.1', 'localhost')
LIST = '/api/projects/default/sessions'
NAMES = ('evil.example', 'rebound.example')


class Quiet(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Type', 'text/html')
        self.end_headers()
        self.wfile.write(b'<!doctype html><title>evil</title><body>evil</body>')

    def log_message(self, *_):
        pass


class Attacks(Case):
    @classmethod
    def setUpClass(cls):
        cls.evil = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Quiet)
        threading.Thread(target=cls.evil.serve_forever, daemon=True).start()
        cls.browser = chromium.Chromium(NAMES)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.evil.shutdown()
        cls.evil.server_close()

    def setUp(self):
        super().setUp()
        self.own = f'http://127.0.0.1:{self.server.port}'
        self.call = self.server.open_calls(self.server.create('deploy A')['id'])[0]
        link = self.server.post('/api/links', {'name': 'alice', 'role': 'admin'})
        self.page = self.browser.open(link['url'])
        # The page says what the link is for, and the person confirms.
        self.page.until('''(() => {
            const all = [...document.querySelectorAll('button')];
            const button = all.find(one => one.innerText.startsWith('Sign in as'));
            button?.click();
            return button != null;
        })()''')
        self.page.until("location.pathname == '/'")
        self.page.settle()
        self.page.go(self.own + '/healthz')  # no page: its policy would block scripts

    def tearDown(self):
        self.page.close()
        super().tearDown()

    def everything(self):
        """Returns everything that an attack could have changed."""
        paths = (LIST, '/async-tool/pending', '/api/tokens')
        answers = {path: self.server.get(path) for path in paths}
        for path, answer in answers.items():
            self.assertStatus(answer, 200)
        return {path: answer.raw for path, answer in answers.items()}

    def evil_pages(self):
        for host in FOREIGN:
            page = self.browser.open(f'http://{host}:{self.evil.server_port}/')
            self.assertEqual(page.run('document.title'), 'evil', host)
            yield host, page
            page.close()

    def result_body(self):
        return '{"pendingID":"%s","result":{"output":"evil"}}' % self.call['id']

    def test_the_cookie_works_on_our_own_page(self):
        said = self.page.run(
            send('/async-tool/result', 'POST', self.result_body(), 'application/json', 'cors')
        )
        self.assertEqual(said, 'basic 200')

    def test_a_foreign_page_sends_and_nothing_changes(self):
        before = self.everything()
        tries = [
            ('POST', '/async-tool/result', self.result_body()),
            ('POST', LIST, '{"agent":"demo","prompt":"evil"}'),
            ('POST', '/api/tokens', '{"name":"evil","role":"admin"}'),
            ('POST', '/sign-out', ''),
            ('DELETE', f'/api/sessions/{self.call["sessionID"]}', None),
        ]
        for host, page in self.evil_pages():
            for method, path, body in tries:
                for kind in ('text/plain', 'application/json', 'application/x-www-form-urlencoded'):
                    for mode in ('no-cors', 'cors'):
                        said = page.run(send(self.own + path, method, body, kind, mode))
                        self.assertIn(said, ('opaque 0', 'refused'), (host, path, kind, mode))
            beacon = f"navigator.sendBeacon('{self.own}/async-tool/result', {self.result_body()!r})"
            page.run(beacon)
        self.assertEqual(self.everything(), before)

    def test_a_foreign_form_sends_and_nothing_changes(self):
        before = self.everything()
        for path in ('/async-tool/result', '/api/mail', '/api/links', f'/a/{self.call["id"]}'):
            for kind in (
                'text/plain',
                'application/x-www-form-urlencoded',
                'multipart/form-data',
            ):
                for host, page in self.evil_pages():
                    page.run(form(self.own + path, kind, self.result_body()))
                    page.until(f"location.host == '127.0.0.1:{self.server.port}'")
                    page.settle()
                    self.assertNotIn('"receipt"', page.run('document.body.innerText'), host)
        self.assertEqual(self.everything(), before)

    def test_a_foreign_page_reads_nothing(self):
        session = self.call['sessionID']
        for host, page in self.evil_pages():
            for path in (LIST, f'/api/sessions/{session}/events', '/async-tool/pending'):
                for mode in ('no-cors', 'cors'):
                    said = page.run(send(self.own + path, 'GET', None, '', mode))
                    self.assertIn(said, ('opaque 0', 'refused'), (host, path, mode))
            opened = page.run(
                f"""new Promise(done => {{
                const stream = new EventSource('{self.own}/api/sessions/{session}/events',
                    {{withCredentials: true}});
                stream.onopen = () => done('open'); stream.onerror = () => done('closed');
                stream.onmessage = () => done('read')}})"""
            )
            self.assertEqual(opened, 'closed', host)
            script = page.run(
                f"""new Promise(done => {{
                const script = document.createElement('script');
                script.onload = () => done('ran'); script.onerror = () => done('refused');
                script.src = '{self.own}{LIST}'; document.head.append(script)}})"""
            )
            self.assertEqual(script, 'refused', host)

    def test_no_page_of_ours_is_in_a_frame(self):
        for host, page in self.evil_pages():
            for path in ('/sign-in', f'/a/{self.call["id"]}'):
                page.run(
                    f"""new Promise(done => {{
                    const frame = document.createElement('iframe'); frame.onload = done;
                    frame.src = '{self.own}{path}'; document.body.replaceChildren(frame)}})"""
                )
                tree = page.call('Page.getFrameTree')['frameTree']
                inside = [f['frame']['url'] for f in tree.get('childFrames', [])]
                shown = [url for url in inside if url.startswith('http')]
                self.assertEqual(shown, [], (host, path))

    def press(self, page, label):
        page.until(f"""(() => {{
            const one = [...document.querySelectorAll('button')].find(
                button => button.innerText.trim() == {label!r} && !button.disabled);
            one?.click();
            return one != null;
        }})()""")

    def test_signed_in_person_denies_at_the_link_of_the_decision(self):
        session = self.server.create('approve X')['id']
        (call,) = self.server.open_calls(session)
        offered = "document.body?.innerText.includes('Deny…')"
        for host, page in self.evil_pages():
            page.run(f"location.href = '{self.own}/a/{call['id']}'")
            page.until("location.pathname.startsWith('/a/') && document.readyState == 'complete'")
            page.until(offered)
        page = self.browser.open(f'{self.own}/a/{call["id"]}')
        self.press(page, 'Deny…')
        page.until("document.getElementById('reason') != null")
        page.run("""(() => {
            const reason = document.getElementById('reason');
            reason.value = 'not on a friday';
            reason.dispatchEvent(new Event('input', {bubbles: true}));
        })()""")
        self.press(page, 'Deny the call')
        self.server.at_rest(session)
        self.assertIn('denied: not on a friday', self.server.said(session))
        page.until(f"!({offered})")
        page.close()

    def test_dns_rebinding_is_refused(self):
        page = self.browser.open('about:blank')
        page.call('Page.setBypassCSP', enabled=True)  # the error page is not the attacker's
        page.go(f'http://rebound.example:{self.server.port}{LIST}')
        self.assertIn('wrong_host', page.run('document.body.innerText'))
        before = self.everything()
        for method, path, body in (
            ('GET', LIST, None),
            ('GET', '/sign-in', None),
            ('POST', '/async-tool/result', self.result_body()),
            ('POST', LIST, '{"agent":"demo","prompt":"evil"}'),
        ):
            said = page.run(send(path, method, body, 'application/json', 'cors'))
            self.assertEqual(said, 'basic 421', path)
        page.close()
        self.assertEqual(self.everything(), before)

    def test_foreign_page_cannot_sign_in_another_person(self):
        link = self.server.post('/api/links', {'name': 'mallory', 'role': 'admin'})
        code = link['url'].split('#')[1]
        for host, page in self.evil_pages():
            page.run(
                send(self.own + '/sign-in', 'POST', '{"code":"%s"}' % code, 'text/plain', 'no-cors')
            )
            page.run(form(self.own + '/sign-in', 'text/plain', '{"code":"%s"}' % code))
            page.until(f"location.host == '127.0.0.1:{self.server.port}'")
        names = [t['name'] for t in self.server.items('/api/tokens') if t.get('kind') == 'cookie']
        self.assertIn('alice', names)
        self.assertNotIn('mallory', names)


def send(url, method, body, kind, mode):
    """Returns a script that reports how a request ends for the page that sends it."""
    headers = f"{{'Content-Type': {kind!r}}}" if kind else '{}'
    given = f'body: {body!r},' if body is not None else ''
    return f"""fetch({url!r}, {{method: {method!r}, mode: {mode!r}, credentials: 'include', {given}
        headers: {headers}}}).then(r => r.type + ' ' + r.status, () => 'refused')"""


def form(url, kind, value):
    """Returns a script that sends a form from the page; the text before its '=' makes it JSON."""
    return f"""(() => {{ const form = document.createElement('form');
        form.method = 'POST'; form.action = {url!r}; form.enctype = {kind!r};
        const field = document.createElement('textarea');
        field.name = {value[:-1] + ',"x":"'!r}; field.value = '"}}'; form.append(field);
        document.body.append(form); form.submit() }})()"""


def setUpModule():
    if not chromium.program():
        leave_out('not installed: chromium-headless-shell (tools/setup.sh test)')


if __name__ == '__main__':
    main()
