"""Servers that misbehave: each answers every request with the same bytes, or as a function says."""
import socket
import threading


def problem(status, code, following='fix', retry_ms=None, headers='', detail='refused'):
    retry = 'null' if retry_ms is None else str(retry_ms)
    body = (f'{{"type":"/errors/{code}","title":"title","status":{status},"code":"{code}",'
            f'"detail":"{detail}","instance":"/","next":"{following}","retryAfter":{retry},'
            f'"requestID":"req_1"}}')
    return response(status, body, 'application/problem+json', headers)


def response(status, body='', media='application/json', headers=''):
    content = body.encode() if isinstance(body, str) else body
    head = f'HTTP/1.1 {status} X\r\nContent-Type: {media}\r\nContent-Length: {len(content)}\r\n'
    return (head + headers + '\r\n').encode() + content


class Hostile:
    """`answers`: bytes for the first, the second … request; the last again and again. An answer may
    be a function of the socket. `by_path`: {what the path contains: answer}."""

    def __init__(self, *answers, by_path=None):
        self.answers, self.by_path = list(answers), by_path or {}
        self.requests, self.lock = [], threading.Lock()
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.base = f'http://127.0.0.1:{self.port}'
        self.open = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                accepted, _ = self.listener.accept()
            except OSError:
                return
            self.open.append(accepted)
            threading.Thread(target=self._serve, args=[accepted], daemon=True).start()

    def _serve(self, accepted):
        try:
            while request := self._request(accepted):
                with self.lock:
                    self.requests.append(request)
                    answer = self._answer(request.split(' ')[1])
                if callable(answer):
                    answer(accepted)
                    break
                accepted.sendall(answer)
        except OSError:
            pass  # the client ended the connection
        accepted.close()

    def _answer(self, path):
        for part, answer in self.by_path.items():
            if part in path:
                return answer
        return self.answers[0] if len(self.answers) == 1 else self.answers.pop(0)

    def _request(self, accepted):
        data = b''
        while b'\r\n\r\n' not in data:
            piece = accepted.recv(65536)
            if not piece:
                return None
            data += piece
        head, _, body = data.partition(b'\r\n\r\n')
        size = 0
        for line in head.lower().split(b'\r\n'):
            if line.startswith(b'content-length:'):
                size = int(line.split(b':')[1])
        while len(body) < size:
            body += accepted.recv(65536)
        return head.decode() + '\r\n\r\n' + body.decode()

    def key(self, number):
        """The Idempotency-Key of a request."""
        lines = self.requests[number].lower().split('\r\n')
        return next(line.split(': ')[1] for line in lines if line.startswith('idempotency-key'))

    def close(self):
        self.listener.close()
        for accepted in self.open:
            accepted.close()
