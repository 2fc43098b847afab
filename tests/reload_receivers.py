#!/usr/bin/env python3
"""A reload applies [[webhook]] and [[notify]]: what is being sent ends as it began, what waits is
sent as the new configuration says, and nothing is lost or sent twice."""
import json
import threading

from dormouse import main, wait_for
from notify import SECRET, Slack
from reload import Reloading, tool
from stored import STORE
from webhook_peers import WHSEC, Receiver, standard

OTHER = 'another-secret'
HOOK = '''
[[webhook]]
url = "{url}"
secret_env = "{secret}"
events = ["submitted"]
'''


class Receivers(Reloading):
    def setUp(self):
        super().setUp()
        self.receiver = self.receives()

    def receives(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        return receiver

    def write(self, *parts, hosts=None):
        """The receiver's address is allowed."""
        super().write(self.ops(), tool(self.script('deploy', 'cat >/dev/null; exit 75')), *parts)
        allowed = json.dumps([self.receiver.host] if hosts is None else hosts)
        text = self.file.read_text()
        self.file.write_text(text.replace('[server]', f'[server]\nwebhook_hosts = {allowed}', 1))

    def begin(self, *parts):
        self.serve(*parts, S_ONE=WHSEC, S_TWO=OTHER, N_TOKEN=SECRET)

    def hook(self, secret='S_ONE', path='/one'):
        return HOOK.format(url=self.receiver.url + path, secret=secret)

    def applies(self, *parts):
        answer = self.assertStatus(self.reload(*parts), 200)
        self.assertEqual(answer['needsRestart'], [])
        return answer['applied']

    def settle(self):
        """An event that receivers get."""
        session = self.server.create('deploy A', agent='ops', wait=0)['id']
        (call,) = wait_for(lambda: self.server.open_calls(session), what='the pause')
        self.assertStatus(self.server.result(call['id'], 'x'), 200)

    def in_state(self, state, count=1):
        def found():
            items = self.server.items(f'/api/deliveries?state={state}')
            return len(items) == count and items
        return wait_for(found, 30, f'{count} {state}')

    def hold(self):
        """The receiver answers nothing until what is returned is set."""
        held = threading.Event()
        self.addCleanup(held.set)
        before = self.receiver.answer
        self.receiver.answer = lambda received: (held.wait(60), before(received))[1]
        return held

    def assertSigned(self, received, secret):
        headers = received['headers']
        made = standard(secret, received['body'], headers['webhook-id'],
                        int(headers['webhook-timestamp']))
        self.assertEqual(headers['webhook-signature'], made['webhook-signature'])


class Webhooks(Receivers):
    def test_first_one_gets_what_happens_afterwards(self):
        self.begin()
        self.settle()
        url = self.receiver.url + '/one'
        self.assertEqual(self.applies(self.hook()), [f'[[webhook]] {url} (added)'])
        self.settle()
        (got,) = self.receiver.wait(1)
        self.assertSigned(got, WHSEC)
        self.in_state('delivered')
        self.assertEqual(self.applies(''), [f'[[webhook]] {url} (removed)'])
        self.settle()
        self.assertEqual(len(self.server.items('/api/deliveries')), 1)

    def test_delivery_under_way_ends_and_the_next_has_the_new_secret(self):
        self.begin(self.hook())
        held = self.hold()
        self.settle()
        self.receiver.wait(1)
        url = self.receiver.url + '/one'
        self.assertEqual(self.applies(self.hook('S_TWO')), [f'[[webhook]] {url}: secret_env'])
        held.set()
        self.in_state('delivered')
        self.settle()
        first, second = self.receiver.wait(2)
        self.assertSigned(first, WHSEC)
        self.assertSigned(second, OTHER)
        self.in_state('delivered', 2)
        self.assertNotIn(OTHER, self.server.tail())

    def test_waiting_delivery_is_sent_with_the_new_secret(self):
        self.receiver.answer = lambda received: 503 if len(self.receiver.received) == 1 else 204
        self.begin(self.hook())
        self.settle()
        wait_for(lambda: [one for one in self.server.items('/api/deliveries') if one['attempts']],
                 what='an attempt')
        self.applies(self.hook('S_TWO'))
        self.server.advance(6)
        first, second = self.receiver.wait(2)
        self.assertEqual(first['headers']['webhook-id'], second['headers']['webhook-id'])
        self.assertSigned(second, OTHER)
        self.in_state('delivered')

    def test_removed_one_keeps_its_attempt(self):
        self.begin(self.hook())
        held = self.hold()
        self.settle()
        self.receiver.wait(1)
        self.applies(self.hook(path='/two'))
        held.set()
        self.in_state('delivered')
        self.settle()
        self.assertEqual([one['path'] for one in self.receiver.wait(2)], ['/one', '/two'])
        self.in_state('delivered', 2)

    def use_all_attempts(self):
        one = lambda: self.server.items('/api/deliveries')[0]
        while (before := one())['state'] == 'pending':
            self.server.advance(11 * 3_600)
            wait_for(lambda: one()['attempts'] > before['attempts'], 30, 'an attempt')

    def test_waiting_delivery_of_a_removed_one_is_given_up(self):
        self.receiver.answer = lambda received: 503 if len(self.receiver.received) == 1 else 204
        self.begin(self.hook())
        self.settle()
        wait_for(lambda: [one for one in self.server.items('/api/deliveries') if one['attempts']],
                 what='an attempt')
        self.applies('')
        self.server.advance(6)
        if STORE == 'postgres':  # another server may know it
            self.use_all_attempts()
        (gone,) = self.in_state('dead')
        self.assertEqual(gone['lastError'], 'this address is not in any [[webhook]] now')
        self.applies(self.hook())
        self.assertStatus(self.server.post(f'/api/deliveries/{gone["id"]}/retry'), 200)
        self.in_state('delivered')

    def test_host_that_is_allowed_by_the_reload_gets_messages(self):
        self.write(hosts=[])
        self.begin()
        self.write(hosts=[])
        self.assertEqual(self.applies(self.hook())[-1:],
                         [f'[[webhook]] {self.receiver.url}/one (added)'])
        self.settle()
        self.receiver.wait(1)

    def test_mistake_changes_nothing(self):
        self.begin(self.hook())
        bad = self.hook('S_TWO').replace('submitted', 'no_event')
        answer = self.reload(bad, '[limits]\nwaiting_calls = 0\n')
        self.assertProblem(answer, 400, 'bad_value')
        self.assertEqual(len(answer['mistakes']), 2)
        self.settle()
        (got,) = self.receiver.wait(1)
        self.assertSigned(got, WHSEC)


GATE = '[[gate]]\nid = "careful"\ntools = ["deploy"]\nask = "Ship?"\n'


class Notifies(Receivers):
    def bot(self, channel='C1'):
        return (f'[[notify]]\nkind = "slack-bot"\ntoken_env = "N_TOKEN"\nchannel = "{channel}"\n'
                f'api_url = "{self.receiver.url}/api"\n')

    def setUp(self):
        super().setUp()
        self.receiver.answer = Slack()

    def ask(self):
        session = self.server.create('deploy A', agent='ops', wait=0)['id']
        (call,) = wait_for(lambda: self.server.open_calls(session), what='the gate')
        return call

    def sent(self, count):
        return [(r['path'].rpartition('/')[2], json.loads(r['body'])['channel'])
                for r in self.receiver.wait(count)]

    def test_people_of_the_new_configuration_are_notified(self):
        self.begin(GATE)
        self.assertEqual(self.applies(GATE, self.bot()), ['[[notify]] slack-bot (added)'])
        self.ask()
        self.assertEqual(self.sent(1), [('chat.postMessage', 'C1')])
        self.assertEqual(self.applies(GATE, self.bot('C2')), ['[[notify]] slack-bot: channel'])
        self.ask()
        self.assertEqual(self.sent(2)[1], ('chat.postMessage', 'C2'))

    def test_message_is_changed_although_its_receiver_is_gone(self):
        self.begin(GATE, self.bot())
        call = self.ask()
        self.in_state('delivered')
        held = self.hold()
        self.server.decide(call, False)
        self.receiver.wait(2)
        self.assertEqual(self.applies(GATE), ['[[notify]] slack-bot (removed)'])
        held.set()
        self.in_state('delivered', 2)
        self.assertEqual(self.sent(2)[1], ('chat.update', 'C1'))

    def test_first_email_needs_a_restart(self):
        self.begin(GATE)
        email = ('[email]\nserver = "127.0.0.1:25"\ntls = "none"\nfrom = "dm@example.org"\n'
                 '[[user]]\nname = "ann"\nrole = "answer"\nemail = "ann@example.org"\n'
                 '[[notify]]\nkind = "email"\n')
        answer = self.reload(GATE, self.bot(), email)
        self.assertEqual(answer['applied'], ['[[user]] ann (added)',
                                             '[[notify]] slack-bot (added)'])
        self.assertIn('[[notify]] email (added)', answer['needsRestart'])
        self.ask()
        self.sent(1)
        self.assertEqual(len(self.server.items('/api/deliveries')), 1)


if __name__ == '__main__':
    main()
