#!/usr/bin/env python3
"""Request smuggling behind nginx and haproxy: the server and the proxy agree on where each request
ends. A hidden request would be answered, or would take the place of the next one."""
import pathlib
import shutil
import socket
import subprocess
import tempfile

from dormouse import Case, leave_out, main, wait_for
from http_raw import read_all

NGINX = '''
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{}}
http {{
  access_log off; client_body_temp_path {folder}; proxy_temp_path {folder};
  fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};
  upstream dormouse {{ server 127.0.0.1:{server}; keepalive 4; }}
  server {{
    listen 127.0.0.1:{port};
    client_max_body_size 8m;
    location / {{
      proxy_pass http://dormouse; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Host 127.0.0.1:{server}; proxy_buffering off; proxy_request_buffering off;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }}
  }}
}}
'''
HAPROXY = '''
defaults
  mode http
  timeout connect 5s
  timeout client 20s
  timeout server 20s
  option http-keep-alive
  http-reuse always
frontend in
  bind 127.0.0.1:{port}
  http-request set-header Host 127.0.0.1:{server}
  default_backend dormouse
backend dormouse
  option forwardfor
  server one 127.0.0.1:{server}
'''
HIDDEN = 'GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n'
LINES = (
    ['Content-Length: 2', 'Content-Length: {all}'],
    ['Content-Length: {all}', 'Content-Length: 2'],
    ['Content-Length: 2', 'Transfer-Encoding: chunked'],
    ['Content-Length: {all}', 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding: chunked', 'Content-Length: 2'],
    ['Transfer-Encoding: xchunked', 'Content-Length: 2'],
    ['Transfer-Encoding : chunked', 'Content-Length: 2'],
    ['Transfer-Encoding:\tchunked', 'Content-Length: 2'],
    ['Transfer-Encoding: chunked', 'Transfer-Encoding: x', 'Content-Length: 2'],
    ['X: x\n Transfer-Encoding: chunked', 'Content-Length: 2'],
    ['Transfer-Encoding: \x0bchunked', 'Content-Length: 2'],
    ['Content-Length: +2'],
    ['Content-Length: 2;'],
    ['Content-Length: 0x2'],
    ['Content-Length:'],
    ['Connection: content-length', 'Content-Length: {all}'],
)
CHUNKS = (
    '2',
    '02',
    '2;ext',
    '2 ',
    ' 2',
    '+2',
    '0x2',
    '-2',
    '2\n',
    '2;\n',
    '2;a\r',
    '2;x="\n"',
    '100000000000000002',
    '2\x00',
    'g',
)


class Behind(Case):
    proxy = None

    def start_proxy(self, name, text, *command):
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f'dormouse-{name}-'))
        self.addCleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            self.port = free.getsockname()[1]
        config = folder / 'config'
        config.write_text(text.format(folder=folder, server=self.server.port, port=self.port))
        process = subprocess.Popen(
            [*command, str(config)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
        )
        self.addCleanup(lambda: (process.terminate(), process.wait(timeout=10)))
        wait_for(self.listens, what=name)

    def listens(self):
        try:
            socket.create_connection(('127.0.0.1', self.port), timeout=1).close()
            return True
        except OSError:
            return False

    def send(self, data, wait=10):
        """Returns the bytes until the proxy closes, or nothing has arrived for `wait` s."""
        with socket.create_connection(('127.0.0.1', self.port), timeout=wait) as client:
            client.sendall(data)
            return read_all(client)

    def attack(self, lines, body):
        head = [
            'POST /async-tool/result HTTP/1.1',
            'Host: x',
            'Content-Type: application/json',
            f'Authorization: Bearer {self.server.token}',
            *lines,
        ]
        text = '\r\n'.join(head).replace('{all}', str(len(body))) + '\r\n\r\n'
        seen = self.send(text.encode() + body, wait=0.3)
        # The hidden request has an unknown path and no token: it would be 401, and its answer would
        # follow the first or reach the next client.
        self.assertLessEqual(seen.count(b'HTTP/1.1 '), 2, seen)
        for _ in range(4):
            next_one = self.send(
                b'GET /api/agents HTTP/1.1\r\nHost: x\r\nConnection: close\r\n'
                + f'Authorization: Bearer {self.server.token}\r\n\r\n'.encode()
            )
            self.assertEqual(next_one.count(b'HTTP/1.1 '), 1, next_one)
            self.assertIn(b'HTTP/1.1 200', next_one, (lines, body))

    def attacks(self):
        before = self.server.create()
        for lines in LINES:
            for body in (
                b'{}' + HIDDEN.encode(),
                b'0\r\n\r\n' + HIDDEN.encode(),
                b'2\r\n{}\r\n0\r\n\r\n' + HIDDEN.encode(),
            ):
                with self.subTest(lines=lines, body=body):
                    self.attack(lines, body)
        for size in CHUNKS:
            with self.subTest(size=size):
                self.attack(
                    ['Transfer-Encoding: chunked'], f'{size}\r\n{{}}\r\n0\r\n\r\n{HIDDEN}'.encode()
                )
        self.assertEqual(self.server.session(before['id'])['seq'], before['seq'])

    def works(self):
        session = self.server.create('deploy A')
        call = self.server.open_calls(session['id'])[0]['id']
        body = f'{{"pendingID":"{call}","result":{{"output":"x"}}}}'
        for _ in range(2):  # with a length, and in chunks
            seen = self.send(
                f'POST /async-tool/result HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}'
                f'\r\nContent-Type: application/json\r\nConnection: close\r\nAuthorization: '
                f'Bearer {self.server.token}\r\n\r\n{body}'.encode()
            )
            self.assertIn(b'200 OK', seen)

    def test_nginx(self):
        self.start_proxy('nginx', NGINX, 'nginx', '-c')
        self.works()
        self.attacks()

    def test_haproxy(self):
        self.start_proxy('haproxy', HAPROXY, 'haproxy', '-db', '-f')
        self.works()
        self.attacks()


def setUpModule():
    missing = [p for p in ('nginx', 'haproxy') if not shutil.which(p)]
    if missing:
        leave_out(f'not installed: {", ".join(missing)} (tools/setup.sh test)')


if __name__ == '__main__':
    main()
