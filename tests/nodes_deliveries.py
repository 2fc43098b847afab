#!/usr/bin/env python3
"""A delivery of a webhook source that reaches two servers with one database at the same time: it
completes one call, and is kept once while there is none."""
import json
import threading

from dormouse import Client, main, wait_for
from store_postgres import Database
from tools_by_config import DEPLOYS, Service
from webhook_peers import plain

CONFIG = '''
[store]
url = "%s"
[[source]]
id = "ci"
kind = "hmac"
secrets_env = ["S_CI"]
external_ref = "/run"
output = "/output"
''' + DEPLOYS + '''
[[tool]]
name = "deploy"
kind = "http"
url = "%s/build"
'''
ROUNDS = 12
LATE_S = 30


class AtOnce(Database):
    def setUp(self):
        super().setUp()
        self.service = Service()
        self.addCleanup(self.service.close)
        self.run_id = ''  # of the call that begins to wait
        self.service.answer = lambda handler, body: handler.say(202, {'externalRef': self.run_id})
        text = CONFIG % (self.url(), self.service.url)
        self.servers = [self.configured(text, env={'S_CI': 'secret'}) for _ in range(2)]

    def deliver(self, server, run, answers):
        raw = json.dumps({'run': run, 'output': 'green'}).encode()
        client = Client(server.port, None)
        answers.append(client.call('POST', '/async-tool/webhook/ci', raw=raw, headers={
            'X-Webhook-Signature': plain('secret', raw), 'webhook-id': run}))
        client.close()

    def deliver_to_both(self, run, asks=False):
        """Meanwhile a call with the reference may begin to wait."""
        answers = []
        threads = [threading.Thread(target=self.deliver, args=(server, run, answers))
                   for server in self.servers]
        for thread in threads:
            thread.start()
        if asks:
            self.ask(self.servers[1], run)
        for thread in threads:
            thread.join()
        return answers

    def ask(self, server, run):
        """A call waits for the result of this run."""
        self.run_id = run
        server.create('deploy A', agent='ops')

    def completed(self, run):
        return self.servers[0].items(f'/async-tool/pending?externalRef={run}&status=completed')

    def wait_for_result(self, run):
        wait_for(lambda: self.completed(run), LATE_S, 'the result')

    def test_delivery_without_a_call_is_kept_once(self):
        for n in range(ROUNDS):
            answers = self.deliver_to_both(f'run-{n}')
            self.assertEqual([answer.status for answer in answers], [202, 202], answers)
            self.assertEqual(sorted(answer['duplicate'] for answer in answers), [False, True])
            self.assertEqual({answer['outcome'] for answer in answers}, {'kept'})
        for n in range(ROUNDS):
            self.ask(self.servers[n % 2], f'run-{n}')
            self.wait_for_result(f'run-{n}')

    def test_delivery_completes_one_of_two_calls(self):
        for n in range(ROUNDS):
            run = f'run-{n}'
            answers = self.deliver_to_both(run, asks=True)
            self.assertLessEqual({answer.status for answer in answers}, {200, 202}, answers)
            # Of two that wait at the same time, none is chosen.
            self.wait_for_result(run)
            self.ask(self.servers[n % 2], run)
        for server in self.servers:
            server.advance(3)  # what is offered again later has been
        for n in range(ROUNDS):
            self.assertEqual(len(self.completed(f'run-{n}')), 1, f'run-{n}')

    def post_pending(self, server, run, answers):
        client = Client(server.port, server.token)
        answers.append(client.post('/api/pending', {
            'question': 'Which build?', 'kind': 'result', 'externalRef': run}))
        client.close()

    def test_call_of_a_client_takes_a_kept_delivery_once(self):
        for n in range(ROUNDS):
            run, (one, other) = f'run-{n}', self.servers[::1 if n % 2 else -1]
            kept = []
            self.deliver(one, run, kept)
            self.assertEqual((kept[0].status, kept[0]['outcome']), (202, 'kept'))
            calls = []
            self.post_pending(other, run, calls)
            self.assertEqual(calls[0].status, 201, calls)
            self.wait_for_result(run)
            self.post_pending(one, run, calls)
            self.assertEqual(calls[1].status, 201, calls)
        for server in self.servers:
            server.advance(3)  # what is offered again later has been
        for n in range(ROUNDS):
            self.assertEqual(len(self.completed(f'run-{n}')), 1, f'run-{n}')

    def test_two_calls_of_clients_at_once_take_it_at_most_once(self):
        for n in range(ROUNDS):
            run, calls = f'run-{n}', []
            self.deliver(self.servers[n % 2], run, [])
            threads = [threading.Thread(target=self.post_pending, args=(server, run, calls))
                       for server in self.servers]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual([call.status for call in calls], [201, 201], calls)
        for server in self.servers:
            server.advance(3)
        for n in range(ROUNDS):
            # Of two that wait at the same time, none is chosen.
            self.assertLessEqual(len(self.completed(f'run-{n}')), 1, f'run-{n}')


if __name__ == '__main__':
    main()
