#!/usr/bin/env python3
"""Bad input: a clear error with its code, nothing changed, nothing lost, and the server continues.
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess

from dormouse import BINARY, Case, environment, main, run

MEGABYTE = 1 << 20
NEWER = 9  # exit status: data of a newer release


class Bad(Case):
    """Calls that wait before a test wait unchanged after it."""

    def setUp(self):
        super().setUp()
        self.id = self.server.create('deploy A')['id']
        (self.call,) = self.server.open_calls(self.id)
        self.before = self.everything()

    def everything(self):
        listed = self.server.items('/api/projects/default/sessions')
        return listed, self.server.events(self.id), self.server.open_calls(self.id)

    def tearDown(self):
        self.assertTrue(self.server.alive(), self.server.tail())
        self.assertEqual(self.everything(), self.before)
        super().tearDown()

    def output(self, raw):
        """Submits a result whose output has these bytes."""
        body = b'{"pendingID":"%s","result":{"output":%s}}' % (self.call['id'].encode(), raw)
        return self.server.call('POST', '/async-tool/result', raw=body)

    def memory(self):
        """Returns the resident memory in bytes."""
        status = pathlib.Path(f'/proc/{self.server.process.pid}/status').read_text()
        return 1024 * int(status.split('VmRSS:')[1].split()[0])


class Json(Bad):
    def test_body_that_is_not_json(self):
        for raw in (
            b'',
            b'{',
            b'[1,]',
            b'[1',
            b'"',
            b'"\\',
            b'"\\u12"',
            b'"\\x"',
            b"'a'",
            b'tru',
            b'True',
            b'nul',
            b'1 2',
            b'[1]]',
            b'{"a":1,}',
            b'{"a"}',
            b'{a:1}',
            b'{1:2}',
            b'/* */1',
            b'1//',
            b'\x00',
            b'"a\x00b"',
            b'"a\nb"',
            b'"\x1f"',
            b'"\t"',
        ):
            self.assertProblem(self.output(raw), 400, 'bad_json')

    def test_invalid_numbers(self):
        for raw in (
            b'NaN',
            b'-NaN',
            b'nan',
            b'Infinity',
            b'-Infinity',
            b'inf',
            b'01',
            b'-01',
            b'+1',
            b'.5',
            b'5.',
            b'1e',
            b'1e+',
            b'0x10',
            b'1_000',
            b'--1',
            b'-',
            b'1.e1',
        ):
            self.assertProblem(self.output(raw), 400, 'bad_json')

    def test_numbers_out_of_double_range(self):
        for raw in (
            b'1e999',
            b'-1e999',
            b'[1e400]',
            b'{"a":1e99999999999999999999}',
            b'1' + b'0' * 400,
        ):
            self.assertProblem(self.output(raw), 422, 'bad_number_or_key')

    def test_bad_utf8(self):
        for raw in (
            b'\xff',
            b'\xc3',
            b'\x80',
            b'\xc0\x80',
            b'\xc1\xbf',
            b'\xe0\x80\x80',
            b'\xed\xa0\x80',
            b'\xf4\x90\x80\x80',
            b'\xf8\x88\x80\x80\x80',
            b'\xe2\x82',
        ):
            self.assertProblem(self.output(b'"' + raw + b'"'), 400, 'bad_json')
            self.assertProblem(self.output(b'{"' + raw + b'":1}'), 400, 'bad_json')

    def test_byte_order_mark_and_other_encodings(self):
        text = json.dumps({'agentID': 'demo'})
        for raw in (b'\xef\xbb\xbf' + text.encode(), text.encode('utf-16'), text.encode('utf-32')):
            answer = self.server.call('POST', '/api/projects/default/sessions', raw=raw)
            self.assertProblem(answer, 400, 'bad_json')

    def test_lone_surrogates(self):
        for raw in (
            b'"\\ud800"',
            b'"\\udc00"',
            b'"\\ud800\\ud800"',
            b'"\\udc00\\ud800"',
            b'"\\ud83dx"',
            b'{"\\ud800":1}',
        ):
            self.assertProblem(self.output(raw), 422, 'bad_number_or_key')

    def test_duplicate_keys_at_any_depth_and_in_any_spelling(self):
        for raw in (b'{"a":1,"a":1}', b'{"a":1,"\\u0061":2}', b'[[{"x":{"a":1,"b":2,"a":3}}]]'):
            self.assertProblem(self.output(raw), 422, 'bad_number_or_key')
        body = b'{"pendingID":"x","pendingID":"%s","result":{"output":1}}'
        answer = self.server.call('POST', '/async-tool/result', raw=body % self.call['id'].encode())
        self.assertProblem(answer, 422, 'bad_number_or_key')

    def test_depth(self):
        for depth in (65, 100, 10_000, 400_000):
            for start, end in ((b'[', b']'), (b'{"a":', b'}')):
                raw = start * depth + b'1' + end * depth
                self.assertProblem(self.output(raw), 400, 'bad_json')
                self.assertProblem(self.output(start * depth), 400, 'bad_json')

    def test_wrong_types_everywhere(self):
        for value in (None, 1, 1.5, True, [], {}, [[]], {'pendingID': 1}):
            for path, name in (
                ('/async-tool/result', 'pendingID'),
                ('/async-tool/error', 'error'),
                ('/async-tool/decision', 'approved'),
                (f'/api/sessions/{self.id}/prompt', 'text'),
                ('/api/projects/default/sessions', 'agentID'),
            ):
                if name == 'approved' and value is True:
                    continue
                answer = self.server.post(path, {name: value})
                self.assertProblem(answer, 400, 'bad_value')


class Kept(Case):
    """Unusual but valid values stay unchanged, to the digit."""

    def echoed(self, raw):
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        body = b'{"pendingID":"%s","result":{"output":%s}}' % (call['id'].encode(), raw)
        answer = self.server.call('POST', '/async-tool/result', raw=body)
        self.assertStatus(answer, 200)
        again = self.server.call('POST', '/async-tool/result', raw=body)
        self.assertTrue(again['duplicate'])
        self.server.at_rest(session)
        return self.server.get(f'/async-tool/pending/{call["id"]}').raw

    def test_large_integers_keep_their_digits(self):
        for raw in (
            b'9007199254740993',
            b'-9223372036854775809',
            b'18446744073709551616',
            b'1' + b'0' * 300 + b'7',
            b'[12345678901234567890123]',
        ):
            self.assertIn(b'"output":' + raw, self.echoed(raw))

    def test_neighbouring_integers_over_2_53_differ(self):
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        self.assertStatus(self.server.result(call['id'], 2**53), 200)
        self.assertProblem(self.server.result(call['id'], 2**53 + 1), 409, 'conflict')

    def test_equal_numbers_are_one_outcome(self):
        for one, other in (
            (b'1000000', b'1e6'),
            (b'1.0', b'1'),
            (b'-0', b'0'),
            (b'{"a":1,"b":2}', b'{ "b" : 2.0, "a":1 }'),
            (b'"A"', b'"\\u0041"'),
        ):
            session = self.server.create('deploy A')['id']
            (call,) = self.server.open_calls(session)
            for number, raw in enumerate((one, other)):
                body = b'{"pendingID":"%s","result":{"output":%s}}' % (call['id'].encode(), raw)
                answer = self.server.call('POST', '/async-tool/result', raw=body)
                self.assertEqual((answer.status, answer['duplicate']), (200, number == 1), raw)

    def test_depth_within_the_limit(self):
        depth = 60  # the body itself has two levels more
        raw = b'[' * depth + b'1' + b']' * depth
        self.assertIn(raw, self.echoed(raw))

    def test_control_characters_in_escapes(self):
        for text in ('a\x00b', '\x01\x1f\x7f', '\u2028\u2029', '\ufffe\uffff', '\u202e', '\x1b[2J'):
            session = self.server.create()['id']
            self.assertStatus(self.server.prompt(session, text), 200)
            self.assertEqual(self.server.last_text(session), f'You said: {text}')
            call = self.server.open_calls(self.server.create('deploy A')['id'])[0]
            self.assertStatus(self.server.error(call['id'], text), 200)
            shown = self.server.get(f'/async-tool/pending/{call["id"]}')
            self.assertEqual(shown['error'], text)

    def test_templates_and_markup_are_only_text(self):
        text = '{{7*7}} ${HOME} %s <script>alert(1)</script> \'; DROP TABLE journal;-- ../../etc'
        session = self.server.create(text, title=text)
        self.assertEqual(session['title'], text)
        self.assertEqual(self.server.last_text(session['id']), f'You said: {text}')


class Large(Bad):
    def raw(self, head, body=b'', timeout=20):
        """Returns the server's answer to these bytes; it may close before all are sent."""
        lines = [
            f'Host: 127.0.0.1:{self.server.port}',
            f'Authorization: Bearer {self.server.token}',
            'Content-Type: application/json',
        ]
        with socket.create_connection(('127.0.0.1', self.server.port), timeout=timeout) as client:
            text = head.split('\r\n')
            client.sendall('\r\n'.join(text[:1] + lines + text[1:] + ['', '']).encode())
            try:
                for piece in body if not isinstance(body, bytes) else [body]:
                    client.sendall(piece)
            except (BrokenPipeError, ConnectionResetError):
                pass
            reply = b''
            try:
                while more := client.recv(65536):
                    reply += more
                    if b'\r\n\r\n' in reply and b'"code"' in reply:
                        break
            except (ConnectionResetError, socket.timeout):
                pass
        return reply

    def assertRefused(self, reply, status, code=None):
        self.assertTrue(reply.startswith(b'HTTP/1.1 %d ' % status), reply[:300])
        if code:
            self.assertIn(b'"code":"%s"' % code.encode(), reply)

    def test_100_megabytes_declared_are_refused_at_once(self):
        for path in ('/async-tool/result', '/api/projects/default/sessions', '/healthz', '/none'):
            reply = self.raw(f'POST {path} HTTP/1.1\r\nContent-Length: {100 * MEGABYTE}')
            self.assertRefused(reply, 413, 'too_large')

    def test_100_megabytes_sent_are_not_kept(self):
        before = self.memory()
        for framing, wrap in (
            (f'Content-Length: {100 * MEGABYTE}', lambda b: b),
            ('Transfer-Encoding: chunked', lambda b: b'%x\r\n' % len(b) + b + b'\r\n'),
        ):
            body = (wrap(b' ' * MEGABYTE) for _ in range(100))
            reply = self.raw('POST /async-tool/result HTTP/1.1\r\n' + framing, body)
            self.assertRefused(reply, 413, 'too_large')
        self.assertLess(self.memory() - before, 64 * MEGABYTE)

    def test_absurd_lengths(self):
        for length in ('9' * 19, '18446744073709551615', '18446744073709551616', '9' * 40):
            reply = self.raw(f'POST /async-tool/result HTTP/1.1\r\nContent-Length: {length}')
            self.assertIn(reply[9:12], (b'400', b'413'), reply[:200])

    def test_framing_that_servers_read_in_two_ways(self):
        for lines in (
            'Content-Length: 2\r\nContent-Length: 3',
            'Content-Length: 2, 2',
            'Content-Length: 2\r\nTransfer-Encoding: chunked',
            'Content-Length: +2',
            'Content-Length: 0x2',
            'Content-Length: -2',
            'Content-Length: 2 3',
            'Transfer-Encoding: gzip, chunked',
            'Transfer-Encoding: chunked, identity',
            'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
            'Transfer-Encoding : chunked',
            ' Content-Length: 2',
            'Content-Length\t: 2',
            'X: a\r\n folded',
            'Host: evil.test',
            'A\x00B: 1',
            'X: a\x00b',
            ': empty',
        ):
            reply = self.raw('POST /async-tool/result HTTP/1.1\r\n' + lines, b'{}0\r\n\r\n')
            self.assertTrue(reply.startswith(b'HTTP/1.1 4'), (lines, reply[:200]))
            self.assertNotIn(b'HTTP/1.1 2', reply)

    def test_invalid_chunk_sizes(self):
        for size in (
            '-2',
            '+5',
            '0x5',
            '0' * 17,
            ' 5',
            '5 ;',
            '',
            'g',
            '5;ext=1',
            '1' * 17,
            'ffffffffffffffff',
        ):
            reply = self.raw(
                'POST /async-tool/result HTTP/1.1\r\nTransfer-Encoding: chunked',
                size.encode() + b'\r\n{"a":1}\r\n0\r\n\r\n',
                timeout=3,
            )
            self.assertTrue(reply.startswith(b'HTTP/1.1 4'), (size, reply[:200]))

    def test_bytes_that_are_not_http(self):
        for raw in (
            b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
            b'GET /\r\n\r\n',
            b'GET / HTTP/9.9\r\n\r\n',
            b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
            b'GET /healthz HTTP/1.1\r\n\r\n',
            b'GET  /healthz HTTP/1.1\r\n\r\n',
            b'\r\n' * 100,
            b'\x00' * 1000,
            b'G' * 100_000,
        ):
            with socket.create_connection(('127.0.0.1', self.server.port), timeout=2) as client:
                try:
                    client.sendall(raw)
                    client.shutdown(socket.SHUT_WR)
                    reply = client.recv(65536)
                except (ConnectionError, socket.timeout):
                    reply = b''
            self.assertNotIn(b' 200 ', reply[:20], raw[:40])

    def test_targets_that_climb_or_hide(self):
        for path in (
            '/../etc/passwd',
            '/api/../healthz',
            '/%2e%2e/healthz',
            '/healthz%00',
            '/%zz',
            '/%',
            '/api/sessions/%ff',
            '/api/agents?x=%ff',
            '/a\\b',
            '/#x',
        ):
            reply = self.raw(f'GET {path} HTTP/1.1')
            self.assertIn(reply[9:12], (b'400', b'404'), (path, reply[:100]))

    def test_unsupported_encodings(self):
        reply = self.raw(
            'POST /async-tool/result HTTP/1.1\r\nContent-Encoding: gzip\r\n' 'Content-Length: 20',
            b'\x1f\x8b\x08' + b'\x00' * 17,
        )
        self.assertTrue(reply.startswith(b'HTTP/1.1 4'), reply[:200])

    def test_many_pipelined_bad_ones(self):
        one = (
            f'POST /async-tool/result HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\n'
            f'Authorization: Bearer {self.server.token}\r\nContent-Type: application/json\r\n'
            'Content-Length: 2\r\n\r\n[]'
        ).encode()
        with socket.create_connection(('127.0.0.1', self.server.port), timeout=10) as client:
            client.sendall(one * 500)
            client.shutdown(socket.SHUT_WR)
            reply = b''
            while more := client.recv(1 << 16):
                reply += more
        self.assertEqual(reply.count(b'HTTP/1.1 400 '), 500)


class Start(Bad):
    """Starts that are refused, with one line that says why."""

    arguments = ('--store', 'sqlite')  # in the directory that the tests damage

    def refused(self, *arguments, env=None, exits=None):
        ended = run('serve', *arguments, timeout=20, env=env)
        self.assertNotIn(ended.returncode, (0, -signal.SIGSEGV, -signal.SIGABRT), ended)
        if exits is not None:
            self.assertEqual(ended.returncode, exits, ended)
        lines = [line for line in ended.stderr.splitlines() if not line.startswith('{')]
        self.assertTrue(lines, ended)
        self.assertNotIn('ready', ended.stdout)
        return ended.stderr

    def copy(self):
        """Returns a copy of a stopped server's data directory, to damage."""
        self.server.term()
        spoilt = pathlib.Path(self.server.own, 'spoilt')
        shutil.copytree(self.server.directory, spoilt)
        self.server.start()
        return spoilt

    def test_second_server_on_the_directory(self):
        output = self.refused('--data', self.server.directory, '--listen', '127.0.0.1:0')
        self.assertIn('in use', output)
        self.assertIn(str(self.server.process.pid), output)

    def test_verify_on_a_directory_in_use(self):
        ended = run('verify', '--data', self.server.directory)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn('in use', ended.stderr)

    def test_port_in_use(self):
        other = pathlib.Path(self.server.own, 'other')
        address = f'127.0.0.1:{self.server.port}'
        output = self.refused('--data', other, '--listen', address, exits=4)
        self.assertIn(str(self.server.port), output)

    def test_invalid_addresses(self):
        other = pathlib.Path(self.server.own, 'other')
        for address in (
            '',
            'x',
            '127.0.0.1',
            '127.0.0.1:',
            ':1',
            '127.0.0.1:65536',
            '127.0.0.1:-1',
            '300.0.0.1:1',
            'no.such.host.invalid:1',
        ):
            self.refused('--data', other, '--listen', address)

    def test_listening_beyond_loopback_needs_a_flag(self):
        other = pathlib.Path(self.server.own, 'other')
        for address in ('0.0.0.0:0', '[::]:0'):
            output = self.refused('--data', other, '--listen', address, exits=6)
            self.assertIn('--insecure', output)

    def test_newer_database(self):
        spoilt = self.copy()
        self.make_newer(spoilt)
        before = (spoilt / 'dormouse.db').read_bytes()
        output = self.refused('--data', spoilt, '--listen', '127.0.0.1:0', exits=NEWER)
        self.assertIn('use the release that wrote it', output)
        self.assertEqual((spoilt / 'dormouse.db').read_bytes(), before, 'nothing was changed')
        ended = run('verify', '--data', spoilt)
        self.assertEqual(ended.returncode, NEWER)
        self.assertIn('use the release that wrote it', ended.stderr)

    def make_newer(self, directory):
        database = sqlite3.connect(directory / 'dormouse.db')
        (version,) = database.execute('PRAGMA user_version').fetchone()
        self.assertGreater(version, 0)
        database.execute(f'PRAGMA user_version = {version + 1}')
        database.commit()
        database.execute('PRAGMA wal_checkpoint(TRUNCATE)')
        database.close()

    def test_file_that_is_no_database(self):
        spoilt = self.copy()
        for content in (b'no database at all\n' * 1000, b'SQLite format 3\0' + b'\xff' * 5000):
            for name in ('dormouse.db-wal', 'dormouse.db-shm'):
                (spoilt / name).unlink(missing_ok=True)
            (spoilt / 'dormouse.db').write_bytes(content)
            self.refused('--data', spoilt, '--listen', '127.0.0.1:0')
            self.assertEqual((spoilt / 'dormouse.db').read_bytes(), content)

    def test_damaged_record_is_found(self):
        spoilt = self.copy()
        path = spoilt / 'dormouse.db'
        content = bytearray(path.read_bytes())
        at = content.find(b'deploy A')
        self.assertGreater(at, 0)
        while at >= 0:
            content[at : at + 8] = b'destroy!'
            at = content.find(b'deploy A')
        path.write_bytes(content)
        ended = run('verify', '--data', spoilt)
        self.assertEqual(ended.returncode, 1, ended)
        self.assertIn(self.id, ended.stdout + ended.stderr)

    def test_directory_that_is_a_file(self):
        other = pathlib.Path(self.server.own, 'file')
        other.write_text('mine')
        self.refused('--data', other, '--listen', '127.0.0.1:0')
        self.refused('--data', other / 'below', '--listen', '127.0.0.1:0')
        self.assertEqual(other.read_text(), 'mine')

    def test_foreign_files_in_the_directory_are_left_alone(self):
        other = pathlib.Path(self.server.own, 'other')
        other.mkdir()
        (other / 'mine.txt').write_text('mine')
        with subprocess.Popen(
            [BINARY, 'serve', '--data', other, '--listen', '127.0.0.1:0'],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment(),
        ) as server:
            self.assertIn('ready', server.stdout.readline())
            server.terminate()
        self.assertEqual((other / 'mine.txt').read_text(), 'mine')

    def test_unknown_flags(self):
        for arguments in (['--nonsense'], ['--store', 'paper'], ['--ready-fd', '-1'], ['extra']):
            ended = run('serve', '--data', os.path.join(self.server.own, 'x'), *arguments)
            self.assertEqual(ended.returncode, 2, ended)


if __name__ == '__main__':
    main()
