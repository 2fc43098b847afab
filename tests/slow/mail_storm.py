#!/usr/bin/env python3
"""Agents that mail each other at random while the server is killed: usage mail_storm.py [AGENTS
[KILLS [SEED]]]   (1000, 12, drawn)

Each send has a key and is repeated under it until it was answered. At the end every mail that was
acknowledged lies in its receiver's inbox once, in the order in which its sender sent it, with
numbers from 1 without gaps, and has been read; nothing is stuck, and the store has no findings."""
import http.client
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from dormouse import Server, end_on_sigterm, wait_for  # noqa: E402

SENDERS = 4  # threads; each sends for agents of its own
NO_ANSWER = (http.client.HTTPException, OSError)


class Storm:
    def __init__(self, server, agents, seed):
        self.server = server
        self.random = random.Random(seed)
        self.names = {}  # alias: session
        for i in range(agents):
            self.names[f'a{i}'] = server.create(alias=f'a{i}')['id']
        self.sent = {}  # (sender, receiver): texts, in order
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self.wrong = []

    def run(self, number):
        chance = random.Random(self.random.random() + number)
        own = [name for i, name in enumerate(self.names) if i % SENDERS == number]
        count = 0
        while not self.stopping.is_set():
            sender, receiver = chance.choice(own), chance.choice(list(self.names))
            count += 1
            text = f'{sender}>{receiver} {number}.{count}'
            body = {'from': self.names[sender], 'to': receiver, 'text': text}
            if self.acknowledged(body, f'{number}-{count}'):
                self.sent.setdefault((sender, receiver), []).append(text)

    def acknowledged(self, body, key):
        """Repeats the request with its key until it is answered."""
        answer = wait_for(lambda: self.answer(body, key), 3600)
        if answer.status != 202:
            self.wrong.append(f'{answer} for {body}')
        return answer.status == 202

    def answer(self, body, key):
        client = self.server.new_client(timeout=20)
        try:
            answer = client.post('/api/mail', body, **{'Idempotency-Key': key})
            return None if answer.status == 503 else answer
        except NO_ANSWER:
            return None
        finally:
            client.close()

    def inbox(self, session):
        found, after = [], 0
        while True:
            page = self.server.get(f'/api/sessions/{session}/inbox?limit=200&after={after}').json
            found += page['items']
            if page['next'] is None:
                return found
            after = page['next']

    def all_arrived(self):
        return sum(len(self.inbox(one)) for one in self.names.values()) >= sum(
            len(texts) for texts in self.sent.values()
        )

    def check(self):
        for name, session in self.names.items():
            self.server.prompt(session, 'read your mail')
            items = self.inbox(session)
            numbers = [mail['number'] for mail in items]
            if numbers != list(range(1, len(items) + 1)):
                self.wrong.append(f'{name}: numbers {numbers}')
            if unread := [mail for mail in items if mail['status'] != 'read']:
                self.wrong.append(f'{name}: not read: {unread}')
            for sender in self.names:
                came = [m['text'] for m in items if m['from']['alias'] == sender]
                sent = self.sent.get((sender, name), [])
                if came != sent:
                    self.wrong.append(f'{sender} to {name}: sent {sent}, came {came}')


def test_all_mail_that_was_taken_arrives():
    assert main() == 0


def main(agents=1000, kills=12, seed=None):
    seed = random.randrange(1 << 30) if seed is None else seed
    print(f'seed {seed}', flush=True)
    server = Server()
    try:
        storm = Storm(server, agents, seed)
        threads = [threading.Thread(target=storm.run, args=(n,)) for n in range(SENDERS)]
        for thread in threads:
            thread.start()
        for _ in range(kills):
            server.restart(after=storm.random.uniform(0.3, 1.5))
        storm.stopping.set()
        for thread in threads:
            thread.join()
        wait_for(storm.all_arrived, seconds=60, what='all that was acknowledged')
        storm.check()
        if not server.get('/api/doctor').json['ok']:
            storm.wrong.append('doctor finds something')
        count = sum(len(texts) for texts in storm.sent.values())
        print(f'{count} mails between {agents} agents over {kills} kills')
        server.finish()
        for line in storm.wrong[:20]:
            print(line)
        return 1 if storm.wrong or count == 0 else 0
    finally:
        server.clean()


if __name__ == '__main__':
    end_on_sigterm()
    sys.exit(main(*map(int, sys.argv[1:])))
