"""What the tests of webhooks share: signatures of our own making, the libraries of others, and a
receiver that counts."""
import base64
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
    """None, or why the libraries are not there."""
    return npm.install(FOLDER, 'node')


def peer(**asked):
    done = subprocess.run(['node', 'peer.mjs'], cwd=FOLDER, input=json.dumps(asked), text=True,
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
    """Takes webhooks on a port of its own and keeps them. `answer` gives the status of each."""

    def __init__(self, answer=lambda received: 200):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
                received = {'path': self.path, 'body': body,
                            'headers': {k.lower(): v for k, v in self.headers.items()}}
                with outer.changed:
                    outer.received.append(received)
                    outer.changed.notify_all()
                status = outer.answer(received)
                headers = {}
                if isinstance(status, tuple):
                    status, headers = status
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header('Content-Length', '0')
                self.end_headers()

            do_GET = do_POST

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
        """The first `count` that came."""
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
