"""Shared by the tests of webhooks: signatures made here, libraries of others, and a receiver that
counts."""
import base64
import contextlib
import hashlib
import hmac
import http.server
import json
import pathlib
import subprocess
import threading
import time

import npm

FOLDER = pathlib.Path(__file__).resolve().parent / 'webhooks'
WHSEC = 'whsec_' + base64.b64encode(b'0123456789abcdef0123456789abcdef').decode()


def install():
    """Returns None, or why the libraries are missing."""
    return npm.install(FOLDER, 'node')


def peer(script='peer.mjs', /, **request):
    done = subprocess.run(['node', script], cwd=FOLDER, input=json.dumps(request), text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def plain(secret, body):
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def standard(secret, body, id='msg_1', seconds=None):
    seconds = int(time.time()) if seconds is None else seconds
    key = base64.b64decode(secret[6:]) if secret.startswith('whsec_') else secret.encode()
    text = f'{id}.{seconds}.'.encode() + body
    value = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
    return {'webhook-id': id, 'webhook-timestamp': str(seconds), 'webhook-signature': f'v1,{value}'}


def slack(secret, body):
    seconds = str(int(time.time()))
    value = plain(secret, b'v0:' + seconds.encode() + b':' + body)
    return {'X-Slack-Signature': f'v0={value}', 'X-Slack-Request-Timestamp': seconds}


class Receiver:
    """Receives webhooks on its own port and stores them. `answer` gives the status of each, or
    status, headers and body."""

    def __init__(self, answer=lambda received: 200):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
                received = {'method': self.command, 'path': self.path, 'body': body,
                            'headers': {k.lower(): v for k, v in self.headers.items()}}
                with outer.changed:
                    outer.received.append(received)
                    outer.changed.notify_all()
                status = outer.answer(received)
                headers, content = {}, b''
                if isinstance(status, tuple):
                    status, headers, *more = status
                    content = more[0] if more else b''
                if isinstance(content, dict):
                    content = json.dumps(content).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header('Content-Length', str(len(content)))
                self.end_headers()
                with contextlib.suppress(BrokenPipeError):  # the server gave up
                    self.wfile.write(content)

            do_GET = do_PATCH = do_POST

            def handle(self):
                with contextlib.suppress(ConnectionResetError):
                    super().handle()

            def log_message(self, *_):
                pass

        self.answer = answer
        self.received = []
        self.changed = threading.Condition()
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        self.host = f'127.0.0.1:{self.server.server_address[1]}'
        self.url = f'http://{self.host}'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wait(self, count, seconds=30):
        """Returns the first `count` webhooks."""
        until = time.monotonic() + seconds
        with self.changed:
            while len(self.received) < count:
                left = until - time.monotonic()
                assert left > 0, f'{len(self.received)} of {count} came: {self.received}'
                self.changed.wait(left)
            return list(self.received)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
