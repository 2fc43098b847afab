#!/usr/bin/env python3
"""The same results again and again: usage duplicate_storm.py [CALLS [KILLS]]   (200, 4)

Each call is delivered a hundred times from many connections at once, signed, every tenth time with
another outcome, while the server is killed and started again. One delivery settles each call,
every answer has the same receipt, and the session woke once.
"""
import collections
import http.client
import json
import pathlib
import random
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from dormouse import Server, end_on_sigterm, wait_for  # noqa: E402
from webhook_peers import WHSEC, standard  # noqa: E402

EACH = 100
CONNECTIONS = 32
CONFIG = '''[server]
demo = true
[[source]]
id = "ci"
kind = "standard"
secrets_env = ["S_CI"]
'''


class Storm:
    def __init__(self, calls):
        self.server = Server(start=False, env={'S_CI': WHSEC})
        path = pathlib.Path(self.server.own, 'dormouse.toml')
        path.write_text(CONFIG)
        self.server.arguments = ['--config', str(path)]
        self.server.start()
        self.sessions = {}
        for _ in range(calls):
            session = self.server.create('deploy A')
            self.sessions[session['activity']['pendingID']] = session['id']
        self.left = [(call, n) for call in self.sessions for n in range(EACH)]
        random.shuffle(self.left)
        self.lock = threading.Lock()
        self.answers = collections.defaultdict(list)  # call: (status, answer)
        self.wrong = []

    def take(self):
        with self.lock:
            return self.left.pop() if self.left else None

    def deliver(self):
        """One connection; repeats deliveries without an answer."""
        connection, one = None, self.take()
        while one:
            call, n = one
            output = f'other {n}' if n % 10 == 9 else 'up'
            body = json.dumps({'pendingID': call, 'result': {'output': output}}).encode()
            headers = standard(WHSEC, body, id=f'{call}-{n}')
            headers['Content-Type'] = 'application/json'
            try:
                connection = connection or http.client.HTTPConnection(
                    '127.0.0.1', self.server.port, timeout=20
                )
                connection.request('POST', '/async-tool/webhook/ci', body, headers)
                answer = connection.getresponse()
                text = answer.read()
                if answer.status == 503:
                    continue
                with self.lock:
                    self.answers[call].append((answer.status, output, json.loads(text)))
            except (OSError, http.client.HTTPException):
                connection = None
                continue
            one = self.take()

    def run(self, kills):
        threads = [threading.Thread(target=self.deliver, daemon=True) for _ in range(CONNECTIONS)]
        total = len(self.left)
        for thread in threads:
            thread.start()
        for n in range(kills):
            wait_for(lambda: len(self.left) < total * (kills - n) // (kills + 1), 300, 'deliveries')
            self.server.restart()
        for thread in threads:
            thread.join(300)
            assert not thread.is_alive(), 'a delivery hangs'

    def look(self, call, answers):
        """Returns what is wrong with the answers of a call."""
        session = self.sessions[call]
        receipt = self.server.get(f'/async-tool/pending/{call}')['receipt']
        winners = [
            output
            for status, output, answer in answers
            if status == 200 and answer['outcome'] == 'applied'
        ]
        if len(winners) > 1:
            yield f'{call}: {len(winners)} deliveries won'
        taken = {output for status, output, _ in answers if status == 200}
        if len(taken) != 1:
            yield f'{call}: {taken} were all taken'
        for status, output, answer in answers:
            if status not in (200, 409):
                yield f'{call}: {status} {answer}'
            elif status == 200 and answer['receipt']['digest'] != receipt['digest']:
                yield f'{call}: two receipts'
        if len(answers) != EACH:
            yield f'{call}: {len(answers)} answers'
        self.server.at_rest(session)
        replies = [m for m in self.server.messages(session) if m['role'] == 'assistant']
        # The call's own message, and the one that the result woke.
        if len(replies) != 2 or replies[-1]['parts'][0]['text'] != f'deploy A: {taken.pop()}':
            yield f'{call}: woke {len(replies) - 1} times'


def test_each_call_wakes_its_session_once():
    assert main() == 0


def main(calls=200, kills=4):
    storm = Storm(calls)
    try:
        storm.run(kills)
        wrong = [
            text for call, answers in storm.answers.items() for text in storm.look(call, answers)
        ]
        wrong += [] if len(storm.answers) == calls else ['calls without an answer']
        if not wrong:
            storm.server.finish()
    finally:
        storm.server.clean()
    print('\n'.join(wrong[:50]) or f'{calls * EACH:,} deliveries, {kills} kills: {calls} wake-ups')
    return 1 if wrong else 0


if __name__ == '__main__':
    end_on_sigterm()
    sys.exit(main(*map(int, sys.argv[1:])))
