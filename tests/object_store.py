"""An object store for tests: s3rver (tests/s3), behind a proxy that verifies each request's AWS
Signature Version 4, which s3rver does not."""
import contextlib
import hashlib
import hmac
import http.client
import http.server
import subprocess
import threading

from dormouse import ROOT

OBJECTS = ROOT / 'tests/s3'
ACCESS, SECRET = 'S3RVER', 'a-secret-that-only-this-store-has'
EMPTY = hashlib.sha256(b'').hexdigest()


def signature(secret, method, path, headers, signed, scope, digest):
    """Of the AWS documentation: canonical request, string to sign, derived key."""
    request = '\n'.join([method, path, '', *(f'{name}:{headers[name].strip()}' for name in signed),
                         '', ';'.join(signed), digest])
    text = '\n'.join(['AWS4-HMAC-SHA256', headers['x-amz-date'], scope,
                      hashlib.sha256(request.encode()).hexdigest()])
    key = b'AWS4' + secret.encode()
    for part in [*scope.split('/'), text]:
        key = hmac.digest(key, part.encode(), 'sha256')
    return key.hex()


def refusal(method, path, headers, body):
    """None, or the code of the error with which S3 refuses the request."""
    scheme, _, rest = headers.get('authorization', '').partition(' ')
    parts = dict(part.strip().split('=', 1) for part in rest.split(',') if '=' in part)
    if scheme != 'AWS4-HMAC-SHA256':
        return 'AccessDenied'
    access, _, scope = parts['Credential'].partition('/')
    if access != ACCESS:
        return 'InvalidAccessKeyId'
    digest = headers.get('x-amz-content-sha256', '')
    if digest != hashlib.sha256(body).hexdigest():
        return 'XAmzContentSHA256Mismatch'
    signed = parts['SignedHeaders'].split(';')
    if not {'host', 'x-amz-date', 'x-amz-content-sha256'} <= set(signed):
        return 'AccessDenied'
    if not set(signed) <= set(headers):
        return 'SignatureDoesNotMatch'
    right = signature(SECRET, method, path, headers, signed, scope, digest)
    return None if hmac.compare_digest(right, parts['Signature']) else 'SignatureDoesNotMatch'


class Verifying(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def answer(self):
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        if self.server.ended:  # a connection that was kept
            self.close_connection = True
            return None
        headers = {name.lower(): value for name, value in self.headers.items()}
        why = refusal(self.command, self.path, headers, body)
        if why:
            return self.reply(403, f'<Error><Code>{why}</Code></Error>'.encode())
        peer = http.client.HTTPConnection('127.0.0.1', self.server.behind, timeout=60)
        try:
            peer.request(self.command, self.path, body,
                         {k: v for k, v in headers.items() if k == 'content-type'})
            answer = peer.getresponse()
            return self.reply(answer.status, answer.read())
        except OSError:
            return self.reply(503, b'<Error><Code>ServiceUnavailable</Code></Error>')
        finally:
            peer.close()

    do_GET = do_PUT = do_DELETE = answer

    def reply(self, status, body):
        self.send_response(status)
        if status != 204:
            self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):  # the client has given up
            self.wfile.write(body)

    def log_message(self, *_):
        pass


class Unwilling(Verifying):
    """Answers 503, or nothing until it is released."""

    def answer(self):
        self.rfile.read(int(self.headers.get('Content-Length') or 0))
        self.server.requested.set()
        if self.server.hangs:
            self.server.released.wait(60)
        self.reply(503, b'<Error><Code>SlowDown</Code></Error>')

    do_GET = do_PUT = do_DELETE = answer


class Peer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    behind = 0
    hangs = False
    ended = False

    def __init__(self, handler, port=0):
        super().__init__(('127.0.0.1', port), handler)
        self.requested, self.released = threading.Event(), threading.Event()
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.ended = True
        self.released.set()
        self.shutdown()
        self.server_close()


class Store:
    """s3rver with the bucket `backups`, and the proxy at `port`."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            ['node', str(OBJECTS / 'node_modules/s3rver/bin/s3rver.js'), '-d', str(folder),
             '-a', '127.0.0.1', '-p', '0', '--no-vhost-buckets', '--configure-bucket', 'backups'],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            if 'listening on' in line:
                self.behind = int(line.rsplit(':', 1)[1])
                break
        else:
            raise AssertionError('s3rver did not start')
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        self.peer = None
        self.port = 0
        self.open()

    def open(self):
        """At the same port as before."""
        self.peer = Peer(Verifying, self.port)
        self.peer.behind = self.behind
        self.port = self.peer.port

    def close(self):
        """Nothing answers until open()."""
        if self.peer:
            self.peer.close()
            self.peer = None

    def end(self):
        self.close()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
