#!/usr/bin/env python3
"""One agent mails all others of its project: usage mail_to_all.py [AGENTS]   (10,000)

The server is killed during the delivery. Each receiver gets the mail once, reads it, and wakes
once; prompts to sessions are answered meanwhile."""
import pathlib
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from dormouse import Server, end_on_sigterm, wait_for  # noqa: E402

KEY = {'Idempotency-Key': 'to-all'}


class Neighbour:
    """A client of another project that prompts without a pause."""

    def __init__(self, server):
        self.session = server.create(project='other')['id']
        self.client = server.new_client()
        self.took, self.failed, self.stopping = [], [], threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stopping.is_set():
            begin = time.monotonic()
            answer = self.client.post(f'/api/sessions/{self.session}/prompt?wait=20', {'text': 'x'})
            self.took.append((time.monotonic() - begin) * 1000)
            if answer.status not in (200, 202):
                self.failed.append(answer)

    def stop(self):
        self.stopping.set()
        self.thread.join()
        self.client.close()
        return self.took


def unread(server, sessions):
    """Returns the sessions that have not read it, or have it twice."""
    out = []
    for session in sessions:
        items = server.get(f'/api/sessions/{session}/inbox').json['items']
        if [mail['status'] for mail in items] != ['read'] or len(server.turns(session)) != 1:
            out.append(session)
    return out


def test_mail_to_ten_thousand_arrives():
    main()


def main(agents=10_000):
    server = Server()
    try:
        sender = server.create(alias='sender')['id']
        sessions = [server.create(alias=f'a{n}')['id'] for n in range(agents - 1)]
        quiet = Neighbour(server)
        wait_for(lambda: len(quiet.took) >= 50, what='what it takes alone')
        alone = quiet.stop()
        begin = time.monotonic()
        busy = Neighbour(server)
        body = {'from': sender, 'text': 'hello everybody'}
        answer = server.call('POST', '/api/mail', body, headers=KEY)
        assert answer.status == 202 and len(answer['receivers']) == agents - 1, answer
        wait_for(lambda: len(busy.took) >= 10, what='what it takes beside the mail')
        beside = busy.stop()
        server.restart()
        again = server.call('POST', '/api/mail', body, headers=KEY)
        assert again['duplicate'] and again['id'] == answer['id'], again
        left = sessions
        deadline = time.monotonic() + 120
        while left:
            assert time.monotonic() < deadline, f'{len(left)} have not read it'
            left = unread(server, left)
        took = time.monotonic() - begin
        assert not quiet.failed + busy.failed, (quiet.failed + busy.failed)[:3]
        print(
            f'{agents - 1:,} receivers over a kill in {took:.1f} s; a neighbour\'s prompt: '
            f'{statistics.median(alone):.1f} ms alone, '
            f'{statistics.median(beside):.1f} ms beside it, {max(beside):.0f} ms at most'
        )
        server.finish()
    finally:
        server.clean()


if __name__ == '__main__':
    end_on_sigterm()
    main(*map(int, sys.argv[1:]))
