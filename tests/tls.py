#!/usr/bin/env python3
"""TLS, trusted proxies, and which addresses may be listened on."""
import http.client
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

from dormouse import BINARY, Alone, Answer, Client, Server, environment, main, run, wait_for


def certificate(folder, name='server'):
    """Returns the files of a certificate for 127.0.0.1 from its own authority."""
    cert, key = folder / f'{name}.pem', folder / f'{name}.key'
    subprocess.run(
        [
            'openssl',
            'req',
            '-x509',
            '-newkey',
            'ec',
            '-pkeyopt',
            'ec_paramgen_curve:P-256',
            '-nodes',
            '-days',
            '2',
            '-subj',
            f'/CN={name}',
            '-addext',
            'subjectAltName=IP:127.0.0.1',
            '-keyout',
            key,
            '-out',
            cert,
        ],
        check=True,
        capture_output=True,
    )
    return cert, key


class TlsClient(Client):
    def __init__(self, port, token, cert):
        super().__init__(port, token)
        self.context = ssl.create_default_context(cafile=cert)
        self.connection = http.client.HTTPSConnection(
            '127.0.0.1', port, timeout=30, context=self.context
        )


def reads(server):
    """How often it has called read."""
    text = pathlib.Path(f'/proc/{server.process.pid}/io').read_text()
    return int(text.split('syscr:')[1].split()[0])


class TlsServer(Server):
    cert = None

    def new_client(self, timeout=70):
        return TlsClient(self.port, self.token, self.cert)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-tls-'))
        self.addCleanup(lambda: subprocess.run(['rm', '-rf', self.folder], check=True))

    def config(self, text):
        file = self.folder / 'dormouse.toml'
        file.write_text('[server]\n' + text)
        return str(file)

    def server(self, text, kind=Alone, **more):
        server = kind('--config', self.config(text), start=False, **more)
        self.addCleanup(server.clean)
        server.start()
        return server

    def refused(self, text, *arguments):
        done = subprocess.run(
            [
                BINARY,
                'serve',
                '--data',
                self.folder / 'data',
                '--config',
                self.config(text),
                *arguments,
            ],
            capture_output=True,
            text=True,
            timeout=20,
            env=environment(),
        )
        self.assertNotEqual(done.returncode, 0)
        return done.stderr


class Tls(Case):
    def tls(self):
        TlsServer.cert, _ = certificate(self.folder)
        # Named as seen from the configuration's folder.
        return self.server('tls_cert = "server.pem"\ntls_key = "server.key"\n', TlsServer)

    def raw(self, server):
        context = ssl.create_default_context(cafile=server.cert)
        plain = socket.create_connection(('127.0.0.1', server.port), timeout=20)
        return context.wrap_socket(plain, server_hostname='127.0.0.1')

    def head(self, server, path, more=''):
        return (
            f'GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n'
            f'Authorization: Bearer {server.token}\r\n{more}\r\n'
        ).encode()

    def test_requests_bodies_and_streams_work_over_tls(self):
        server = self.tls()
        session = server.create('deploy A')
        call = server.open_calls(session['id'])[0]
        with self.raw(server) as stream:
            stream.sendall(
                self.head(
                    server, f'/api/sessions/{session["id"]}/events', 'Accept: text/event-stream\r\n'
                )
            )
            large = 'x' * 900_000
            self.assertEqual(server.result(call['id'], large).status, 200)
            seen = b''
            while b'turn_ended' not in seen:
                more = stream.recv(65536)
                self.assertTrue(more, 'the stream ended')
                seen += more
            self.assertGreater(len(seen), 900_000)
        self.assertIn(large, server.messages(session['id'])[-1]['parts'][0]['text'])
        server.finish()

    def test_pipelined_requests_and_bytes_one_by_one(self):
        server = self.tls()
        with self.raw(server) as many:
            many.sendall(
                self.head(server, '/healthz') * 50
                + self.head(server, '/healthz', 'Connection: close\r\n')
            )
            seen = b''
            while more := many.recv(65536):
                seen += more
            self.assertEqual(seen.count(b'HTTP/1.1 200'), 51)
        with self.raw(server) as slow:
            for byte in self.head(server, '/healthz'):
                slow.sendall(bytes([byte]))
            self.assertIn(b'200 OK', slow.recv(65536))
        server.finish()

    def test_old_protocols_and_plain_http_are_refused(self):
        server = self.tls()
        with socket.create_connection(('127.0.0.1', server.port), timeout=20) as plain:
            plain.sendall(self.head(server, '/healthz'))
            try:
                self.assertNotIn(b'HTTP/1.1 200', plain.recv(4096))
            except ConnectionResetError:
                pass  # that is a refusal too
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_ciphers('ALL:@SECLEVEL=0')
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
        with socket.create_connection(('127.0.0.1', server.port), timeout=20) as plain:
            with self.assertRaises((ssl.SSLError, ConnectionError)):
                context.wrap_socket(plain)
        server.finish()

    def test_tls_1_2_has_authenticated_ciphers_only(self):
        server = self.tls()
        for ciphers, taken in (
            ('AES128-SHA', False),
            ('AES128-GCM-SHA256', False),
            ('ECDHE+AES:!AESGCM:!AESCCM', False),
            ('ECDHE+AESGCM', True),
            ('ECDHE+CHACHA20', True),
        ):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            context.set_ciphers(ciphers + ':@SECLEVEL=0')
            context.maximum_version = ssl.TLSVersion.TLSv1_2
            with self.subTest(ciphers=ciphers):
                with socket.create_connection(('127.0.0.1', server.port), timeout=20) as plain:
                    if taken:
                        context.wrap_socket(plain).close()
                        continue
                    with self.assertRaises((ssl.SSLError, ConnectionError)):
                        context.wrap_socket(plain)
        server.finish()

    def test_client_without_handshake_is_cut_others_continue(self):
        TlsServer.cert, _ = certificate(self.folder)
        server = self.server(
            'tls_cert = "server.pem"\ntls_key = "server.key"\n'
            '[limits]\nheader_time_limit = "500ms"\n',
            TlsServer,
        )
        idle = [socket.create_connection(('127.0.0.1', server.port), timeout=20) for _ in range(50)]
        for one in idle[:25]:
            one.sendall(b'\x16\x03\x01')
        self.assertEqual(server.get('/api/agents').status, 200)
        for one in idle:
            one.settimeout(10)
            try:
                while one.recv(4096):
                    pass
            except ConnectionError:
                pass
            one.close()
        server.finish()

    def test_rest_of_a_record_is_waited_for(self):
        server = self.tls()
        received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
        stream = ssl.create_default_context(cafile=server.cert).wrap_bio(
            received, sent, server_hostname='127.0.0.1'
        )
        with socket.create_connection(('127.0.0.1', server.port), timeout=20) as plain:
            while not stream.version():
                try:
                    stream.do_handshake()
                except ssl.SSLWantReadError:
                    plain.sendall(sent.read())
                    received.write(plain.recv(65536))
            stream.write(self.head(server, '/healthz'))
            bytes_ = sent.read()
            plain.sendall(bytes_[:-10])
            self.assertEqual(server.get('/healthz').status, 200)
            before = reads(server)
            for _ in range(200):  # meanwhile a loop that does not wait reads thousands of times
                server.get('/healthz')
            self.assertLess(reads(server) - before, 1_000, 'it reads again and again')
            plain.sendall(bytes_[-10:])
            while True:
                received.write(plain.recv(65536))
                try:
                    self.assertIn(b'200 OK', stream.read(65536))
                    break
                except ssl.SSLWantReadError:
                    pass
        server.finish()

    def test_sighup_loads_a_new_certificate_or_keeps_the_old(self):
        server = self.tls()
        open_before = server.client
        self.assertEqual(open_before.get('/api/agents').status, 200)
        old = server.cert.read_bytes()
        server.cert.write_text('no certificate')
        server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: 'stays as it was' in server.tail(), what='the refusal')
        server.cert.write_bytes(old)
        self.assertEqual(server.new_client().get('/api/agents').status, 200)
        new, new_key = certificate(self.folder, 'next')
        os.replace(new_key, self.folder / 'server.key')
        server.cert.write_bytes(new.read_bytes())
        server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: 'certificate was reloaded' in server.tail(), what='a reload')
        self.assertEqual(server.new_client().get('/api/agents').status, 200)
        self.assertEqual(open_before.get('/api/agents').status, 200, 'what is open continues')
        server.finish()

    def test_files_that_cannot_be_used_are_named(self):
        certificate(self.folder)
        certificate(self.folder, 'other')
        for text, words in (
            ('tls_cert = "none.pem"\ntls_key = "server.key"\n', 'none.pem'),
            ('tls_cert = "server.pem"\ntls_key = "none.key"\n', 'none.key'),
            ('tls_cert = "server.pem"\ntls_key = "other.key"\n', 'other.key'),
            ('tls_cert = "server.pem"\n', 'tls_cert is set without tls_key'),
        ):
            self.assertIn(words, self.refused(text))

    def cli(self, server, *arguments, host='127.0.0.1', **trust):
        url = f'https://{host}:{server.port}'
        return run(
            *arguments, '--server', url, env=environment(DORMOUSE_TOKEN=server.token, **trust)
        )

    def test_cli_uses_tls_also_for_streams(self):
        server = self.tls()
        trust = {'SSL_CERT_FILE': str(server.cert)}
        session = server.create('deploy A')
        call = server.open_calls(session['id'])[0]
        done = self.cli(server, 'result', call['id'], 'x' * 100_000, **trust)
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = self.cli(server, 'prompt', '--session', session['id'], 'deploy B', **trust)
        self.assertEqual(seen.returncode, 10, seen.stderr)  # it sleeps
        server.finish()

    def test_cli_rejects_certificate_of_another_host(self):
        server = self.tls()
        untrusted = self.cli(server, 'sessions')
        self.assertEqual(untrusted.returncode, 7, untrusted.stderr)
        self.assertIn('self-signed certificate', untrusted.stderr)
        self.assertIn('SSL_CERT_FILE', untrusted.stderr)
        trust = {'SSL_CERT_FILE': str(server.cert)}
        named = self.cli(server, 'sessions', host='localhost', **trust)
        self.assertEqual(named.returncode, 7, named.stderr)
        self.assertIn('ostname mismatch', named.stderr)
        plain = run(
            'sessions',
            '--server',
            f'http://127.0.0.1:{server.port}',
            env=environment(DORMOUSE_TOKEN=server.token),
        )
        self.assertNotEqual(plain.returncode, 0)
        self.assertNotIn(server.token, untrusted.stderr + named.stderr + plain.stderr)
        server.finish()

    def test_cookie_is_secure(self):
        server = self.tls()
        code = server.post('/api/links', {'name': 'a', 'role': 'read'})['url'].split('#')[1]
        answer = server.post('/sign-in', {'code': code})
        self.assertRegex(answer.headers['Set-Cookie'], r'^__Host-dormouse=dmc_.*; Secure$')
        server.finish()


class Beyond(Case):
    def test_beyond_loopback_needs_tls_or_a_proxy(self):
        stderr = self.refused('', '--listen', '0.0.0.0:0')
        self.assertIn('trusted_proxies', stderr)
        self.assertIn('--insecure', stderr)
        self.assertFalse((self.folder / 'data').exists(), 'nothing was made')
        self.assertIn('network', self.refused('trusted_proxies = ["everybody"]\n'))

    def test_server_behind_a_proxy_accepts_the_proxy_only(self):
        server = self.server('trusted_proxies = ["192.0.2.1"]\n')
        server.term()
        server.host = '0.0.0.0'
        server.start()
        self.assertEqual(server.get('/api/agents').status, 200, 'this machine may')
        own = subprocess.run(['hostname', '-I'], capture_output=True, text=True).stdout.split()
        for address in [a for a in own if '.' in a][:1]:
            connection = http.client.HTTPConnection(address, server.port, timeout=10)
            connection.request('GET', '/healthz', headers={'Host': f'127.0.0.1:{server.port}'})
            reply = connection.getresponse()
            answer = Answer(reply.status, reply.headers, reply.read())
            self.assertEqual((answer.status, answer['code']), (403, 'forbidden'))
        server.finish()


class Proxied(Case):
    """The test is the proxy: it connects from 127.0.0.1 and names the client."""

    def forwarded(self, server, path='/api/agents', address='198.51.100.7', token=None, body=None):
        client = Client(server.port, token)
        headers = {'X-Forwarded-For': address, 'Connection': 'close'}
        if body is None:
            return client.call('GET', path, headers=headers)
        return client.call('POST', path, body, headers=headers)

    def test_guesses_are_counted_by_the_client_behind_the_proxy(self):
        server = self.server('trusted_proxies = ["127.0.0.1"]\n')
        first = [self.forwarded(server, address='198.51.100.7').status for _ in range(30)]
        self.assertIn(429, first)
        self.assertEqual(self.forwarded(server, address='198.51.100.8').status, 401)
        server.finish()

    def test_forwarded_headers_of_others_are_ignored(self):
        server = self.server('trusted_proxies = ["192.0.2.1"]\n')
        statuses = [self.forwarded(server, address=f'198.51.100.{i}').status for i in range(40)]
        self.assertIn(429, statuses, 'all of them are one address')
        server.finish()

    def test_outcomes_are_limited_by_token_and_by_call(self):
        server = self.server(
            'trusted_proxies = ["127.0.0.1"]\n[limits]\n'
            'submissions_per_token_per_s = 20\nsubmissions_per_call_per_s = 5\n'
        )
        session = server.create('deploy A')
        call = server.open_calls(session['id'])[0]['id']
        made = server.post('/api/tokens', {'name': 'ci', 'role': 'answer'})
        body = {'pendingID': call, 'result': {'output': 'x'}}

        def flood(make, address='198.51.100.7'):
            end, answers = time.monotonic() + 5, []
            while time.monotonic() < end and (not answers or answers[-1].status != 429):
                answers.append(
                    self.forwarded(
                        server, '/async-tool/result', address, made['secret'], make(len(answers))
                    )
                )
            self.assertEqual(answers[-1]['code'], 'rate_limited', answers[-1])
            self.assertGreaterEqual(int(answers[-1].headers['Retry-After']), 1)
            return answers

        self.assertEqual(flood(lambda _: body)[0].status, 200)
        unknown = 'pnd_' + 'A' * 22 + '_{}_1_' + 'A' * 22
        flood(lambda i: {'pendingID': unknown.format(i + 1), 'result': {'output': 1}})
        server.finish()

    def test_valid_token_on_loopback_is_not_limited(self):
        server = self.server(
            '[limits]\nsubmissions_per_token_per_s = 20\nsubmissions_per_call_per_s = 5\n'
        )
        session = server.create('deploy A')
        call = server.open_calls(session['id'])[0]['id']
        here = [server.result(call, 'x').status for _ in range(60)]
        self.assertEqual(set(here), {200})
        server.finish()


class Metrics(Case):
    def test_metrics_listener_needs_no_token_and_serves_only_it(self):
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            port = free.getsockname()[1]
        server = self.server(f'metrics_listen = "127.0.0.1:{port}"\n')
        outsider = Client(port, None)
        answer = outsider.get('/metrics')
        self.assertEqual(answer.status, 200)
        self.assertIn(b'dormouse_', answer.raw)
        for path in ('/', '/api/agents', '/healthz', '/metrics/', '/async-tool/pending'):
            self.assertEqual(Client(port, server.token).get(path).status, 404, path)
        self.assertIn(Client(port, None).post('/metrics', {}).status, (404, 413))
        self.assertEqual(Client(server.port, None).get('/metrics').status, 401)
        server.finish()


if __name__ == '__main__':
    main()
