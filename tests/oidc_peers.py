"""For tests/oidc.py: a browser, an OpenID provider of others, and one that answers what a test
says."""
import html.parser
import http.cookiejar
import http.server
import json
import pathlib
import socket
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request

import npm

FOLDER = pathlib.Path(__file__).resolve().parent / 'oidc'
SECRET = 'very-s3cret-of-the-client'


def install():
    """None, or why npm's oidc-provider cannot run here."""
    return npm.install(FOLDER, 'node')


def free_port():
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return one.getsockname()[1]


class Form(html.parser.HTMLParser):
    """The fields of the first form of a page, where they go, and the links."""

    def __init__(self, text):
        super().__init__()
        self.action, self.fields, self.links = None, {}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        if tag == 'form':
            self.action = self.action or named['action']
        elif tag == 'input':
            self.fields[named.get('name', '')] = named.get('value', '')
        elif tag == 'a':
            self.links.append(named.get('href', ''))


class Page:
    def __init__(self, url, status, headers, text):
        self.url, self.status, self.headers, self.text = url, status, headers, text
        self.location = urllib.parse.urljoin(url, headers['Location'] or '')

    def __repr__(self):
        return f'{self.status} {self.url} {self.text[:2000]}'


class Follow(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # the test follows


class Browser:
    """Keeps cookies as a browser does, by host. Follows redirects one by one."""

    def __init__(self):
        self.jar = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(
            Follow, urllib.request.HTTPCookieProcessor(self.jar)
        )

    def open(self, url, fields=None, **headers):
        data = None if fields is None else urllib.parse.urlencode(fields).encode()
        request = urllib.request.Request(url, data, {'Accept': 'text/html', **headers})
        try:
            answer = self.opener.open(request, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            return Page(url, answer.status, answer.headers, answer.read().decode())

    def follow(self, page, until=None):
        """Follows redirects; stops before an address that begins with `until`."""
        while page.status in (302, 303) and not (until and page.location.startswith(until)):
            page = self.open(page.location)
        return page

    def cookie(self, name):
        return next((one.value for one in self.jar if one.name == name), None)

    def forget(self, name):
        for one in list(self.jar):
            if one.name == name:
                self.jar.clear(one.domain, one.path, one.name)


class NodePeer:
    """A program of tests/oidc that prints `ready`."""

    def __init__(self, program, settings):
        self.process = subprocess.Popen(
            ['node', program, json.dumps(settings)],
            cwd=FOLDER,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        limit = threading.Timer(60, self.process.kill)
        limit.start()
        line = self.process.stdout.readline()
        limit.cancel()
        if line != 'ready\n':
            raise AssertionError(f'{program}: {line!r} {self.process.communicate()[1]}')
        # Nothing it says may fill the pipe.
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Provider(NodePeer):
    """npm's oidc-provider. A new one has a new key; people have the claims of `people`."""

    def __init__(self, port, server_port, people, *, algorithm='RS256', kid='k1', public=False,
                 host='127.0.0.1'):
        self.issuer = f'http://{host}:{port}'
        back = f'http://127.0.0.1:{server_port}/sign-in/oidc/callback'
        client = {
            'client_id': 'dormouse',
            'redirect_uris': [back],
            'response_types': ['code'],
            'grant_types': ['authorization_code'],
            'id_token_signed_response_alg': algorithm,
            'token_endpoint_auth_method': 'none' if public else 'client_secret_basic',
        }
        if not public:
            client['client_secret'] = SECRET
        settings = {'issuer': self.issuer, 'port': port, 'clients': [client], 'people': people,
                    'kid': kid, 'algorithm': algorithm}
        super().__init__('provider.mjs', settings)

    def log_in(self, browser, page, name):
        """From the redirect to the provider to its answer, which is not followed."""
        page = browser.follow(page)
        form = Form(page.text)
        page = browser.open(
            form.action, {**form.fields, 'login': name, 'password': 'any'}
        )
        page = browser.follow(page)
        form = Form(page.text)
        assert form.fields.get('prompt') == 'consent', page
        page = browser.open(form.action, form.fields)
        while '/sign-in/oidc/callback' not in page.location:
            page = browser.open(page.location)
        return page.location

    def decline(self, browser, page):
        """The same for a person who declines."""
        page = browser.follow(page)
        (abort,) = [link for link in Form(page.text).links if link.endswith('/abort')]
        page = browser.open(abort)
        while '/sign-in/oidc/callback' not in page.location:
            page = browser.open(page.location)
        return page.location


class FakeProvider:
    """Answers each path with what `answers` says: (status, headers, bytes), or a function of the
    request's body that returns that. Keeps the requests."""

    def __init__(self):
        self.answers, self.requests = {}, []
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get('Content-Length') or 0)).decode()
                path = self.path.split('?')[0]
                fake.requests.append((path, dict(self.headers), body))
                response = fake.answers.get(path, (404, {}, b''))
                status, headers, raw = response(body) if callable(response) else response
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header('Content-Length', str(len(raw)))
                self.end_headers()
                try:
                    self.wfile.write(raw)
                except OSError:
                    pass  # the server has seen enough

            do_GET = do_POST = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.issuer = f'http://127.0.0.1:{self.server.server_port}'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.documents()

    def documents(self, **more):
        """A good discovery document, with other members, and no key."""
        document = {
            'issuer': self.issuer,
            'authorization_endpoint': self.issuer + '/auth',
            'token_endpoint': self.issuer + '/token',
            'jwks_uri': self.issuer + '/jwks',
            **more,
        }
        self.answers['/.well-known/openid-configuration'] = as_json(document)
        self.answers['/jwks'] = as_json({'keys': []})

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def as_json(value, status=200):
    return status, {'Content-Type': 'application/json'}, json.dumps(value).encode()
