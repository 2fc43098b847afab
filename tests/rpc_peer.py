"""The other end of a program that speaks JSON-RPC on its standard input and output."""
import collections
import json
import subprocess
import threading
import time

from dormouse import BINARY, environment

LIMIT_S = 30


class Refused(Exception):
    def __init__(self, error):
        super().__init__(error)
        self.code, self.error = error['code'], error


class Peer:
    """`dormouse WORDS…` as a child. Its requests go to `on_request(method, params)`, whose answer
    is sent back; None: it is left open. Lines that are not protocol fail the test."""

    def __init__(self, server, *words, on_request=lambda method, params: None):
        self.process = subprocess.Popen(
            [BINARY, *words, '--server', f'http://127.0.0.1:{server.port}', '--data',
             server.directory],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment(),
        )
        self.on_request = on_request
        self.changed = threading.Condition()
        self.answers = {}
        self.notices = collections.deque()
        self.requests = []  # of the program to us
        self.lines = []  # all that it said
        self.wrong = []
        self.errors = b''
        self.numbers = 0
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_errors, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            try:
                value = json.loads(line)
            except ValueError:
                self.wrong.append(line)
                continue
            with self.changed:
                self.lines.append(value)
                for message in value if isinstance(value, list) else [value]:
                    self._take(message)
                self.changed.notify_all()

    def _take(self, message):
        if message.get('jsonrpc') != '2.0':
            self.wrong.append(message)
        elif 'method' not in message:
            self.answers[message['id']] = message
        elif 'id' in message:
            self.requests.append(message)
            answer = self.on_request(message['method'], message['params'])
            if answer is not None:
                self.answer(message['id'], answer)
        else:
            self.notices.append(message)

    def _read_errors(self):
        for line in self.process.stderr:
            self.errors += line

    def send_raw(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def send(self, message):
        self.send_raw(json.dumps({'jsonrpc': '2.0', **message}) + '\n')

    def answer(self, id, result):
        self.send({'id': id, 'result': result})

    def notify(self, method, **params):
        self.send({'method': method, 'params': params})

    def begin(self, method, **params):
        """Sends a request; its id."""
        self.numbers += 1
        self.send({'id': self.numbers, 'method': method, 'params': params})
        return self.numbers

    def until(self, ready, what='it'):
        """Returns the first true value of `ready()`, called after each received line."""
        deadline = time.monotonic() + LIMIT_S
        with self.changed:
            while True:
                found = ready()
                if found:
                    return found
                left = deadline - time.monotonic()
                assert left > 0 and (self.process.poll() is None or left > LIMIT_S - 2), (
                    f'{what} has not come; {self.lines[-5:]} {self.errors[-2000:]!r}')
                self.changed.wait(min(left, 0.5))

    def end(self, number):
        """The answer to that request."""
        message = self.until(lambda: self.answers.pop(number, None), f'the answer to {number}')
        if 'error' in message:
            raise Refused(message['error'])
        return message['result']

    def ask(self, method, **params):
        return self.end(self.begin(method, **params))

    def close(self):
        """Its input ends; the exit status."""
        self.process.stdin.close()
        status = self.process.wait(timeout=10)
        assert self.wrong == [], self.wrong
        return status

    def kill(self):
        self.process.kill()
        self.process.wait()
