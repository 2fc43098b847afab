"""Stands between dormouse and a fake provider: keeps each request, byte for byte, hands it
on, and gives the answers of its own that a fake cannot give."""
import http.client
import http.server
import json
import threading
import time
import urllib.parse


class Peer:
    """`script` maps a session's first prompt to answers; each is taken once, then the fake answers.
    An answer is (status, headers, body); a body of None ends the connection without an answer."""

    def __init__(self, transcript, upstream=None):
        self.transcript, self.script, self.requests = transcript, {}, []
        self.upstream = upstream
        self.lock = threading.Lock()
        peer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                peer.serve(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}'

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def requests_of(self, text):
        """The requests of the sessions whose first prompt was `text`."""
        return [r for r in self.requests if r['transcript'].first_prompt() == text]

    def serve(self, handler):
        raw = handler.rfile.read(int(handler.headers['Content-Length']))
        transcript = self.transcript(json.loads(raw))
        with self.lock:
            self.requests.append(
                {
                    'path': handler.path,
                    'headers': dict(handler.headers),
                    'raw': raw,
                    'body': transcript.body,
                    'transcript': transcript,
                    'timestamp': time.time() * 1000,
                }
            )
            answers = self.script.get(transcript.first_prompt())
            answer = answers.pop(0) if answers else None
        try:
            if answer:
                self.answer(handler, *answer)
            else:
                self.forward(handler, raw)
        except OSError:
            handler.close_connection = True  # who asked has gone, or the fake has

    @staticmethod
    def answer(handler, status, headers, body):
        if body is None:
            handler.close_connection = True
            return
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header('Content-Length', str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def forward(self, handler, raw):
        where = urllib.parse.urlsplit(self.upstream())
        there = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
        try:
            there.request('POST', handler.path, raw, dict(handler.headers))
            came = there.getresponse()
            handler.send_response(came.status)
            for name, value in came.getheaders():
                if name.lower() not in ('transfer-encoding', 'connection', 'content-length'):
                    handler.send_header(name, value)
            handler.send_header('Transfer-Encoding', 'chunked')
            handler.end_headers()
            while chunk := came.read1(65536):
                handler.wfile.write(b'%x\r\n%s\r\n' % (len(chunk), chunk))
                handler.wfile.flush()
            handler.wfile.write(b'0\r\n\r\n')
        except (http.client.HTTPException, OSError):
            handler.close_connection = True  # cut off there, cut off here
        finally:
            there.close()
