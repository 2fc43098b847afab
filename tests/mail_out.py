#!/usr/bin/env python3
"""E-mail, against a fake SMTP server: notifications with a link that works once, sign-in links that
a person asks for, encryption, logins, and what the server answers."""
import base64
import contextlib
import email
import email.policy
import pathlib
import re
import socketserver
import ssl
import tempfile
import threading
import urllib.parse

from dormouse import Case, Client, Server, main
from tls import certificate
from tools_by_config import eventually

CONFIG = '''
[server]
demo = true
[[gate]]
tools = ["deploy"]
ask = "Grüße: {input.target} <!here>?"
answerers = %(answerers)s
[email]
server = "127.0.0.1:%(port)d"
tls = "%(tls)s"
from = "dormouse@example.org"
%(login)s
[[user]]
name = "alice"
email = "Alice@example.org"
[[user]]
name = "bob"
email = "bob@example.org"
projects = ["other"]
[[user]]
name = "carol"
role = "read"
email = "carol@example.org"
[[user]]
name = "dave"
'''
NOTIFY = '[[notify]]\nkind = "email"\n'
PASSWORD = 'smtp-s3cret'


class SmtpHandler(socketserver.StreamRequestHandler):
    """One connection of an Smtp, which it finds as `self.server.smtp`."""

    def say(self, text):
        self.wfile.write(text.encode() + b'\r\n')

    def handle(self):
        self.secure, self.envelope = False, {}
        with contextlib.suppress(OSError):
            self.say('220 fake')
            while line := self.rfile.readline():
                word = line.split()[0].upper().decode() if line.split() else ''
                if word in self.server.smtp.answers:
                    self.say(self.server.smtp.answers[word])
                elif word == 'QUIT':
                    return self.say('221 bye')
                else:
                    getattr(self, f'do_{word}', self.do_other)(line)

    def do_other(self, _):
        self.say('250 ok')

    def do_EHLO(self, _):
        smtp = self.server.smtp
        offers = ['SIZE 1000000'] + (['STARTTLS'] if smtp.context and not self.secure else [])
        offers += ['AUTH PLAIN LOGIN'] if smtp.login else []
        lines = ['250-fake'] + ['250-' + offer for offer in offers[:-1]] + ['250 ' + offers[-1]]
        self.say('\r\n'.join(lines))

    def do_STARTTLS(self, _):
        self.say('220 go')
        self.request = self.server.smtp.context.wrap_socket(self.request, server_side=True)
        self.rfile = self.request.makefile('rb')
        self.wfile = self.request.makefile('wb', 0)
        self.secure = True

    def do_AUTH(self, line):
        value = line.split()[-1]
        if len(line.split()) < 3:
            self.say('334 ')
            value = self.rfile.readline()
        self.server.smtp.logins.append(base64.b64decode(value))
        self.say('235 ok')

    def take_address(self, line):
        self.envelope[line.split()[0].upper()] = line.decode().split('<')[1].split('>')[0]
        self.say('250 ok')

    do_MAIL = do_RCPT = take_address

    def do_DATA(self, _):
        self.say('354 go')
        content = b''
        while (part := self.rfile.readline()) != b'.\r\n':
            content += part
        mail = (self.envelope[b'MAIL'], self.envelope[b'RCPT'], content, self.secure)
        self.server.smtp.take(mail)
        self.say('250 taken')


class Smtp:
    """Takes mail as RFC 5321 says. `answers` replaces the answers of commands."""

    def __init__(self, context=None, login=False):
        self.context, self.login = context, login
        self.mails, self.logins, self.answers = [], [], {}
        self.changed = threading.Condition()
        self.server = socketserver.ThreadingTCPServer(('127.0.0.1', 0), SmtpHandler)
        self.server.smtp = self
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, mail):
        with self.changed:
            self.mails.append(mail)
            self.changed.notify_all()

    def wait(self, count):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.mails) >= count, 30), self.mails
            return [
                (to, email.message_from_bytes(content, policy=email.policy.default))
                for _, to, content, _ in self.mails
            ]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Mailed(Case):
    tls = 'none'
    login = ''
    notify = NOTIFY
    answerers = '[]'
    offers_login = False

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='dormouse-mail-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.smtp = Smtp(self.context(), self.offers_login)
        self.addCleanup(self.smtp.close)
        text = CONFIG % {
            'port': self.smtp.port,
            'tls': self.tls,
            'login': self.login,
            'answerers': self.answerers,
        }
        path = self.folder / 'dormouse.toml'
        path.write_text(text + self.notify)
        self.server = Server('--config', str(path), env={'M_PASSWORD': PASSWORD})
        self.addCleanup(self.server.clean)

    def context(self):
        return None

    def tearDown(self):
        self.assertNotIn(PASSWORD, self.server.log.read_text())
        self.assertNotIn('dml_', self.server.log.read_text())

    def ask(self):
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        return call

    def link(self, mail):
        (link,) = re.findall(r'http://\S+/sign-in\?\S+', mail.get_content())
        parts = urllib.parse.urlsplit(link)
        return urllib.parse.parse_qs(parts.query)['next'][0], parts.fragment

    def own(self):
        return f'http://127.0.0.1:{self.server.port}'

    def browser(self):
        return Client(self.server.port, None)

    def spend(self, code):
        return self.browser().post('/sign-in', {'code': code})

    def failed(self):
        return eventually(
            lambda: (found := self.server.items('/api/deliveries'))
            and found[0]['attempts']
            and found[0],
            'an attempt',
        )


class Notifications(Mailed):
    def test_person_who_may_answer_gets_a_link_that_works_once(self):
        call = self.ask()
        ((to, mail),) = self.smtp.wait(1)
        self.assertEqual((to, mail['To']), ('Alice@example.org', 'Alice@example.org'))
        self.assertEqual(mail['Subject'], 'Approval wanted: Grüße: A <!here>?')
        self.assertEqual(mail['Auto-Submitted'], 'auto-generated')
        content = mail.get_content()
        for part in ('Grüße: A <!here>?', 'deploy', call['inputDigest'], '"target":"A"'):
            self.assertIn(part, content.replace('": "', '":"'))
        leads_to, code = self.link(mail)
        self.assertEqual(leads_to, f'/a/{call["id"]}')
        answer = self.assertStatus(self.spend(code), 200)
        self.assertEqual(answer['name'], 'alice')
        cookie = answer.headers['Set-Cookie'].split('; ')[0]
        page = self.browser().get(leads_to, Cookie=cookie)
        self.assertIn('Grüße', page.raw.decode())
        self.assertProblem(self.spend(code), 401, 'unauthenticated')
        # bob has another project, carol only reads
        self.assertEqual(len(self.server.items('/api/deliveries')), 1)

    def test_too_many_links_leave_room_for_tokens(self):
        if self.server.store:
            self.skipTest('writes to the tables of SQLite')
        self.server.while_down(
            'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) '
            "INSERT INTO tokens SELECT 'tok_' || i, 'link', 'x', 'read', '[]', '[]', "
            "CAST(printf('%032d', i) AS BLOB), 1, NULL FROM n")
        call = self.ask()
        ((_, mail),) = self.smtp.wait(1)
        content = mail.get_content()
        self.assertTrue(content.rstrip().endswith(f'/a/{call["id"]}'), content)
        self.assertIn('once you are signed in', content)
        self.assertNotIn('#dml_', content)
        self.assertStatus(self.server.post('/api/tokens', {'name': 'ci', 'role': 'read'}), 201)

    def test_refused_mail_ends_busy_server_is_asked_again(self):
        self.smtp.answers['RCPT'] = '450 try later'
        self.ask()
        self.assertIn('450', self.failed()['lastError'])
        del self.smtp.answers['RCPT']
        self.server.advance(10)
        self.smtp.wait(1)
        self.smtp.answers['RCPT'] = '550 no such mailbox'
        self.ask()
        eventually(
            lambda: [d for d in self.server.items('/api/deliveries') if d['state'] == 'dead'],
            'a dead one',
        )


class Answerers(Mailed):
    answerers = '["zoe"]'

    def test_person_who_may_not_answer_gets_nothing(self):
        self.ask()
        self.assertEqual(self.server.items('/api/deliveries'), [])


class Login(Mailed):
    login = 'user = "d"\npassword_env = "M_PASSWORD"'
    offers_login = True

    def test_server_logs_in(self):
        self.ask()
        self.smtp.wait(1)
        self.assertEqual(self.smtp.logins, [b'\0d\0' + PASSWORD.encode()])

    def test_refused_login_is_tried_again(self):
        self.smtp.answers['AUTH'] = '535 no'
        self.ask()
        delivery = self.failed()
        self.assertEqual(delivery['state'], 'pending')


class Encrypted(Mailed):
    tls = 'starttls'
    login = Login.login
    offers_login = True

    def test_nothing_is_sent_to_a_server_without_encryption(self):
        self.ask()
        self.assertTrue(self.failed()['lastError'])
        self.assertEqual((self.smtp.mails, self.smtp.logins), ([], []))


class Untrusted(Encrypted):
    def context(self):
        cert, key = certificate(self.folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        return context


class SignInLinks(Mailed):
    notify = ''

    def want(self, address, **headers):
        form = urllib.parse.urlencode({'email': address, 'next': '/sessions'})
        return self.browser().call(
            'POST',
            '/sign-in/email',
            raw=form.encode(),
            headers={
                'Content-Type': 'application/x-www-form-urlencoded',
                'Origin': self.own(),
                **headers,
            },
        )

    def test_person_gets_a_link_for_ten_minutes(self):
        page = self.assertStatus(self.browser().get('/sign-in?next=/sessions'), 200).raw.decode()
        self.assertIn('action="/sign-in/email"', page)
        self.assertStatus(self.want(' alice@EXAMPLE.org'), 200)
        ((to, mail),) = self.smtp.wait(1)
        self.assertEqual(to, 'Alice@example.org')
        leads_to, code = self.link(mail)
        self.assertEqual(leads_to, '/sessions')
        self.assertEqual(self.assertStatus(self.spend(code), 200)['name'], 'alice')
        self.assertStatus(self.spend(code), 401)
        self.assertStatus(self.want('alice@example.org'), 200)
        _, code = self.link(self.smtp.wait(2)[1][1])
        self.server.advance(601)
        self.assertStatus(self.spend(code), 401)

    def test_every_address_gets_the_same_answer(self):
        answers = [self.want(a) for a in ('alice@example.org', 'nobody@example.org', '', 'x')]
        for answer in answers:
            self.assertStatus(answer, 200)
            self.assertEqual(answer.raw, answers[0].raw)
        self.smtp.wait(1)
        tokens = self.server.get('/api/tokens')['items']
        self.assertEqual([t['name'] for t in tokens if t['kind'] == 'link'], ['alice'])

    def test_too_many_links_are_refused_and_only_to_own_pages(self):
        self.assertProblem(
            self.want('alice@example.org', Origin='https://evil.test'), 403, 'origin_refused'
        )
        self.assertProblem(self.want('alice@example.org', Origin=None), 403, 'origin_refused')
        for _ in range(5):
            self.assertStatus(self.want('alice@example.org'), 200)
        self.assertProblem(self.want('bob@example.org'), 429, 'rate_limited')
        self.server.advance(601)
        self.assertStatus(self.want('bob@example.org'), 200)

    def test_person_of_the_configuration_has_their_role(self):
        self.want('carol@example.org')
        _, code = self.link(self.smtp.wait(1)[0][1])
        cookie = self.spend(code).headers['Set-Cookie'].split('; ')[0]
        me = self.browser().get('/api/me', Cookie=cookie)
        self.assertEqual((me['name'], me['role']), ('carol', 'read'))


class WithoutMail(Case):
    def test_form_and_route_are_absent(self):
        page = self.server.get('/sign-in').raw.decode()
        self.assertNotIn('/sign-in/email', page)
        with contextlib.closing(Client(self.server.port, None)) as browser:
            answer = browser.call(
                'POST',
                '/sign-in/email',
                raw=b'email=a%40b.org',
                headers={
                    'Content-Type': 'application/x-www-form-urlencoded',
                    'Origin': f'http://127.0.0.1:{self.server.port}',
                },
            )
            self.assertProblem(answer, 404, 'not_found')


if __name__ == '__main__':
    main()
