#!/usr/bin/env python3
"""Receivers of webhooks with several servers on one database: one that a server does not know yet,
and one that answered 410 and works again."""
from dormouse import main, wait_for
from store_postgres import Database
from webhook_peers import WHSEC, Receiver

CONFIG = '''
[store]
url = "{store}"
[server]
demo = true
webhook_hosts = [{hosts}]
'''
HOOK = '''
[[webhook]]
url = "{url}"
secret_env = "S_HOOK"
events = ["submitted"]
'''
LATE_S = 40


class Receivers(Database):
    def setUp(self):
        super().setUp()
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)

    def one(self, *, hook=True, allowed=True):
        hosts = f'"{self.receiver.host}"' if allowed else ''
        text = CONFIG.format(store=self.url(), hosts=hosts)
        return self.configured(text + (HOOK.format(url=self.receiver.url) if hook else ''),
                               env={'S_HOOK': WHSEC})

    def settle(self, server, count=1, **terms):
        """Events that the receiver gets."""
        for _ in range(count):
            made = server.post('/api/pending', {'question': 'Build?', 'kind': 'result', **terms})
            self.assertEqual(made.status, 201, made)
            self.assertEqual(server.result(made['pendingID'], 'x').status, 200)

    def in_state(self, server, state):
        return server.items(f'/api/deliveries?state={state}&limit=200')

    def delivered(self, server, count):
        wait_for(lambda: len(self.in_state(server, 'delivered')) == count, LATE_S,
                 f'{count} deliveries')

    def ends(self, *servers):
        for server in servers:
            self.assertEqual(server.term(), 0)

    def test_receiver_that_one_server_does_not_know_gets_everything(self):
        knows, other = self.one(), self.one(hook=False)
        self.settle(knows, 8)
        self.delivered(other, 8)
        self.assertEqual(len(self.receiver.received), 8)
        self.assertEqual(self.in_state(other, 'dead'), [])
        self.ends(knows, other)

    def test_address_that_one_server_does_not_allow_gets_everything(self):
        allows, other = self.one(hook=False), self.one(hook=False, allowed=False)
        self.settle(allows, 8, webhookURL=self.receiver.url)
        self.delivered(other, 8)
        self.assertEqual(self.in_state(other, 'dead'), [])
        self.ends(allows, other)

    def test_receiver_that_nobody_knows_waits_until_one_does(self):
        maker, other = self.one(), self.one(hook=False)
        self.receiver.answer = lambda received: 503
        self.settle(maker, 2)
        wait_for(lambda: all(one['attempts'] for one in self.in_state(other, 'pending')), LATE_S,
                 'attempts')
        maker.kill()
        self.receiver.answer = lambda received: 200
        other.advance(30)
        wait_for(lambda: any('not in any' in one['lastError']
                             for one in self.in_state(other, 'pending')), LATE_S, 'an attempt')
        self.assertEqual(self.in_state(other, 'dead'), [])
        path = self.folder / 'dormouse.toml'
        path.write_text(path.read_text() + HOOK.format(url=self.receiver.url))
        self.assertEqual(other.post('/api/reload', {}).status, 200)
        other.advance(3_600)
        self.delivered(other, 2)
        self.ends(other)

    def test_receiver_that_works_again_is_used_by_both(self):
        a, b = servers = self.one(), self.one()
        self.receiver.answer = lambda received: 410
        # Each of them has sent to it when there were two requests, and disables it alone.
        def both_refused():
            self.settle(a)
            wait_for(lambda: not self.in_state(a, 'pending'), LATE_S, 'no delivery waits')
            return len(self.receiver.received) == 2
        wait_for(both_refused, LATE_S, 'a 410 for each server')
        self.settle(b, 4)
        wait_for(lambda: not self.in_state(a, 'pending'), LATE_S, 'no delivery waits')
        self.assertEqual(len(self.receiver.received), 2, 'both have disabled it')
        self.receiver.answer = lambda received: 200
        one, *_ = [one for one in self.in_state(a, 'disabled') if one['lastStatus'] == 410]
        self.assertEqual(a.post(f'/api/deliveries/{one["id"]}/retry').status, 200)
        self.delivered(b, 1)
        before = len(self.in_state(a, 'disabled'))
        self.settle(a, 8)
        self.delivered(b, 9)
        self.assertEqual(len(self.in_state(a, 'disabled')), before)
        self.ends(*servers)


if __name__ == '__main__':
    main()
