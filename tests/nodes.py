#!/usr/bin/env python3
"""Several servers on one database: any of them answers any request, each thing is done once, and
the others continue what a killed one did."""
import time

from dormouse import Client, Server, environment, main, run, wait_for
from rules import CONFIG as RULES
from store_postgres import Database
from tools_by_config import DEPLOYS, Service
from webhook_peers import WHSEC, Receiver
from wrong_clock import clock_set_to

CONFIG = '''
[store]
url = "%(store)s"
[server]
webhook_hosts = ["%(host)s"]
[[webhook]]
url = "%(hook)s"
events = ["call_paused", "submitted", "turn_ended"]
secret_env = "S_EVENTS"
''' + DEPLOYS + '''
[[tool]]
name = "deploy"
kind = "http"
url = "%(service)s/job"
'''
SOON_S = 2  # usually milliseconds: the database notifies the others


class Nodes(Database):
    """Two servers, and what a client of either sees."""

    def setUp(self):
        super().setUp()
        self.a, self.b = self.server(), self.server()

    def tearDown(self):
        for server in (self.a, self.b):
            if server.alive():
                server.finish()

    def answers(self, server, token):
        client = Client(server.port, token)
        self.addCleanup(client.close)
        return client.get('/api/projects/default/sessions').status

    def test_redaction_on_one_server_holds_on_the_other(self):
        session = self.a.create('the key is hunter2')['id']
        path = f'/api/sessions/{session}/messages'
        message, echo = [one['id'] for one in self.b.messages(session)]
        self.assertIn('hunter2', str(self.b.get(path).json))
        for one in (echo, message):
            done = self.a.post(f'/api/sessions/{session}/redactions', {'messageID': one})
            self.assertEqual(done.status, 200, done)
        for server in (self.b, self.a):
            self.assertNotIn('hunter2', str(server.get(path).json))
            again = server.post(f'/api/sessions/{session}/redactions', {'messageID': message})
            self.assertEqual(again.json, done.json)
            self.assertEqual(server.prompt(session, 'next').status, 200)
            self.assertEqual(server.last_text(session), 'You said: next')
        types = [e['type'] for e in self.b.events(session)]
        self.assertEqual(types.count('redacted'), 2)

    def test_any_server_answers_any_request(self):
        session = self.a.create('deploy A')['id']
        call, = self.b.open_calls(session)
        self.assertEqual(self.b.result(call['id'], 'live').status, 200)
        self.assertEqual(self.a.result(call['id'], 'live').status, 200, 'the first receipt again')
        self.assertEqual(self.a.result(call['id'], 'other').status, 409)
        for server in (self.a, self.b):
            server.at_rest(session)
            self.assertEqual(server.last_text(session), 'deploy A: live')
        self.b.prompt(session, 'hello')
        self.a.at_rest(session)
        self.assertEqual(self.a.last_text(session), 'You said: hello')

    def test_result_wakes_who_waits_on_the_other_server(self):
        session = self.a.create('deploy A')['id']
        call, = self.a.open_calls(session)
        changed = self.a.new_client()
        self.addCleanup(changed.close)
        since = self.a.get('/api/pending').headers['Dormouse-As-Of']
        changed.begin(f'/api/pending?changedSince={since}&wait=50&status=completed')
        self.assertEqual(self.b.result(call['id'], 'live').status, 200)
        found = changed.end()
        self.assertEqual([one['id'] for one in found['items']], [call['id']], found)

    def test_servers_share_keys_and_first_token(self):
        self.assertEqual(self.a.token, self.b.token)
        session = self.a.create('deploy A')['id']
        call, = self.a.open_calls(session)
        url = self.a.post(f'/async-tool/pending/{call["id"]}/callback', {})['url']
        path = url[url.index('/c/'):]
        client = Client(self.b.port, None)
        self.addCleanup(client.close)
        self.assertEqual(client.post(path, {'result': {'output': 'live'}}).status, 200)
        self.a.at_rest(session)

    def test_token_of_one_is_valid_and_revoked_on_the_other(self):
        made = self.a.post('/api/tokens', {'name': 'ci', 'role': 'answer'})
        self.assertEqual(made.status, 201, made)
        self.assertEqual(self.answers(self.b, made['secret']), 200, 'at once')
        self.assertEqual(self.b.delete('/api/tokens/' + made['token']['id']).status, 204)
        self.assertEqual(self.answers(self.b, made['secret']), 401)
        wait_for(lambda: self.answers(self.a, made['secret']) == 401, SOON_S, 'refused by A')

    def test_audit_has_the_lines_of_all_servers_by_their_time(self):
        made = []
        for n, server in enumerate((self.a, self.b, self.a, self.b)):
            made.append(f't{n}')
            self.assertEqual(server.post('/api/tokens', {'name': made[-1], 'role': 'read'}).status,
                             201)
        for server in (self.a, self.b):
            page = server.get('/api/audit?type=token_created')
            self.assertTrue(page['verified'])
            self.assertIsNone(page['next'])
            lines = [one['line'] for one in page['items']]
            times = [line['at'] for line in lines]
            self.assertEqual(times, sorted(times, reverse=True))
            # The clocks of two servers differ by milliseconds: each one's lines are in order.
            names = [line['name'] for line in lines if line.get('name') in made]
            self.assertEqual([name for name in names if name in ('t0', 't2')], ['t2', 't0'])
            self.assertEqual([name for name in names if name in ('t1', 't3')], ['t3', 't1'])
        found, cursor = [], ''
        while cursor is not None:
            page = self.a.get('/api/audit?limit=1' + cursor)
            found += [one['hash'] for one in page['items']]
            cursor = page['next'] and '&cursor=' + page['next']
        self.assertEqual(found, [one['hash'] for one in self.a.items('/api/audit?limit=200')])
        self.assertEqual(len({one['n'] >> 48 for one in self.a.items('/api/audit?limit=200')}), 2)
        done = run('audit', '--verify', '--server', f'http://127.0.0.1:{self.a.port}',
                   env=environment(DORMOUSE_TOKEN=self.a.token))
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertEqual(done.stdout.count('sha256:'), 2)
        self.assertIn('newest of another server: line ', done.stdout)
        for bad in ('1.', '5.3', '2.2', 'x.1'):
            self.assertEqual(self.a.get('/api/audit?cursor=' + bad).status, 400, bad)

    def test_new_token_and_cookie_are_valid_on_the_other_at_once(self):
        for n in range(5):
            made = self.a.post('/api/tokens', {'name': f'ci{n}', 'role': 'operate'})
            client = Client(self.b.port, made['secret'])
            self.addCleanup(client.close)
            session = client.post('/api/projects/default/sessions', {'agentID': 'demo'})
            self.assertEqual(session.status, 201, session)
        code = self.a.post('/api/links', {'name': 'alice', 'role': 'answer'})['url'].split('#')[1]
        browser = Client(self.b.port, None)
        self.addCleanup(browser.close)
        self.assertEqual(browser.post('/sign-in/link', {'code': code}).status, 200)
        signed_in = browser.post('/sign-in', {'code': code})
        self.assertEqual(signed_in.status, 200, signed_in)
        cookie = signed_in.headers['Set-Cookie'].split(';')[0]
        listed = Client(self.a.port, None)
        self.addCleanup(listed.close)
        self.assertEqual(listed.get('/api/pending', Cookie=cookie).status, 200)

    def test_tokens_of_one_are_listed_by_the_other_at_once(self):
        for n in range(10):
            made = self.a.post('/api/tokens', {'name': f'ci{n}', 'role': 'answer'})['token']['id']
            ids = lambda server: [one['id'] for one in server.get('/api/tokens')['items']]
            self.assertIn(made, ids(self.b))
            self.assertEqual(self.b.delete('/api/tokens/' + made).status, 204)
            self.assertNotIn(made, ids(self.a))
            self.assertEqual(self.a.delete('/api/tokens/' + made).status, 404)

    def test_unknown_tokens_are_refused(self):
        statuses = {self.answers(self.b, f'dmt_unknown{n}') for n in range(30)}
        self.assertLessEqual(statuses, {401, 429})
        self.assertIn(401, statuses)

    def test_changes_followed_on_both_servers_are_all_seen(self):
        session = self.a.create('deploy A')['id']
        call, = self.a.open_calls(session)
        self.b.get('/api/pending')

        def changed(server, since):
            answer = server.get(f'/api/pending?changedSince={since}')
            ids = [one['id'] for one in answer['items']]
            return call['id'] in ids, answer.headers['Dormouse-As-Of']

        for n in range(10):
            _, since = changed(self.b, 0)
            done = self.a.post(
                '/async-tool/progress', {'pendingID': call['id'], 'payload': n, 'key': str(n)}
            )
            self.assertEqual(done.status, 200, done)
            seen, later = changed(self.b, since)
            wait_for(lambda: seen or changed(self.a, later)[0], SOON_S, f'progress {n} at A')
            for server in (self.a, self.b):
                wait_for(lambda: changed(server, since)[0], SOON_S, f'progress {n} again')

    def test_sign_in_link_works_once(self):
        link = self.a.post('/api/links', {'name': 'alice', 'role': 'answer'})
        code = link['url'].split('#')[1]
        def spend(server):
            client = Client(server.port, None)
            self.addCleanup(client.close)
            return client.post('/sign-in', {'code': code}).status
        self.assertEqual(spend(self.b), 200)
        self.assertIn(spend(self.a), (401, 409))
        self.assertEqual(spend(self.b), 401)

    def test_killed_server_is_replaced(self):
        session = self.a.create('deploy A within 1h and B')['id']
        self.a.create('sleepy 1s', wait=0)
        calls = self.a.open_calls(session)
        self.a.kill()
        for call in calls:
            self.assertEqual(self.b.result(call['id'], 'live').status, 200)
        self.b.at_rest(session)
        wait_for(lambda: len(self.b.get('/api/nodes')['items']) == 1, 12, 'the removal of A')
        for one in self.b.items('/api/projects/default/sessions'):
            self.b.at_rest(one['id'])
        metrics = self.b.get('/metrics').raw.decode()
        self.assertIn('dormouse_nodes_removed_total 1', metrics)
        self.assertRegex(metrics, '(?m)^dormouse_takeovers_total [1-9]')
        wait_for(lambda: 'dormouse_feed_behind_seconds 0\n' in self.b.get('/metrics').raw.decode(),
                 what='the end of the feed')
        self.a.start()
        self.assertEqual(len(self.a.messages(session)), len(self.b.messages(session)))

    def test_servers_are_listed(self):
        def both():
            nodes = self.a.get('/api/nodes')['items']
            return len(nodes) == 2 and nodes
        nodes = wait_for(both, SOON_S, 'both nodes')
        own, = (node for node in nodes if node['self'])
        other, = (node for node in nodes if not node['self'])
        self.assertEqual(own['url'], f'http://127.0.0.1:{self.a.port}')
        self.assertEqual(other['url'], f'http://127.0.0.1:{self.b.port}')
        self.assertEqual(own['release'], other['release'])
        self.assertIsNone(other['resident'])
        self.assertIsNotNone(own['resident'])
        self.assertIn('dormouse_nodes 2', self.a.get('/metrics').raw.decode())

    def test_verify_beside_both(self):
        for server in (self.a, self.b):
            server.create('deploy A')
        done = run('verify', '--store', self.url())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Clocks(Database):
    """Servers whose machines have the wrong time."""

    def server_at(self, minutes):
        return self.server(env=clock_set_to(minutes * 60))

    def test_time_is_that_of_the_database(self):
        ahead, behind, right = self.server_at(10), self.server_at(-10), self.server()
        session = behind.create('deploy A and B within 5m')['id']
        calls = right.open_calls(session)
        self.assertEqual(len(calls), 2, 'no deadline has come')
        for call in calls:
            minutes_left = (call['timeout'] / 1000 - time.time()) / 60
            self.assertAlmostEqual(minutes_left, 5, delta=1)
        for server, call in zip((ahead, behind), calls):
            self.assertEqual(server.result(call['id'], 'live').status, 200)
        due = behind.create('deploy C within 500ms')['id']
        wait_for(lambda: not ahead.open_calls(due), 20, 'its deadline')
        logs = [server.tail() for server in (ahead, behind)]
        self.assertIn(" s ahead of the database's", logs[0])
        self.assertIn(" s behind the database's", logs[1])
        for server in (ahead, behind, right):
            server.at_rest(session)
            self.assertEqual(server.term(), 0)


class Sent(Database):
    """Messages of both servers to one receiver."""

    def setUp(self):
        super().setUp()
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)
        self.service = Service()
        self.addCleanup(self.service.close)
        self.service.answer = lambda handler, body: handler.say(202, {'externalRef': 'j-1'})
        text = CONFIG % {'store': self.url(), 'host': self.receiver.host,
                         'hook': self.receiver.url + '/events', 'service': self.service.url}
        self.servers = [self.configured(text, env={'S_EVENTS': WHSEC}) for _ in range(2)]

    def ids(self):
        return [one['headers']['webhook-id'] for one in list(self.receiver.received)]

    def test_each_message_is_sent_once(self):
        sessions = [self.servers[n % 2].create('deploy A', agent='ops')['id'] for n in range(8)]
        for n, session in enumerate(sessions):
            call, = self.servers[n % 2].open_calls(session)
            self.assertEqual(self.servers[1 - n % 2].result(call['id'], 'up').status, 200)
        wait_for(lambda: len(set(self.ids())) == 24, what='three events of eight sessions')
        for server in self.servers:
            wait_for(lambda: not server.items('/api/deliveries?state=pending'), what='none left')
        self.assertEqual(len(self.ids()), 24, 'none is sent twice')

    def test_killed_servers_messages_are_sent_by_the_other(self):
        self.receiver.answer = lambda received: 503
        session = self.servers[0].create('deploy A', agent='ops')['id']
        self.receiver.wait(1)
        self.servers[0].kill()
        self.receiver.answer = lambda received: 200
        other = self.servers[1]
        other.advance(6)  # when the next attempt is due
        wait_for(lambda: other.items('/api/deliveries?state=delivered'), 30, 'the delivery')
        self.assertEqual(len(set(self.ids())), 1, 'under the same id')
        self.assertEqual(len(other.open_calls(session)), 1)


class Ruled(Database):
    def both(self):
        rules = RULES % {'gate': '', 'ask': 'Deploy?', 'tool': ''}
        text = f'[store]\nurl = "{self.url()}"\n{rules}'
        return (self.configured(text) for _ in range(2))

    def test_rule_and_its_uses_are_the_same_on_both_at_once(self):
        a, b = self.both()
        listed = lambda server: server.get('/api/rules')['items']
        for n in range(5):
            call, = a.open_calls(a.create(f'deploy {n}', agent='ops')['id'])
            self.assertEqual(a.decide(call, True, rule={'scope': 'project'}).status, 200)
            self.assertEqual(len(listed(b)), 1)
            for server in (a, b):
                session = server.create(f'deploy {n}', agent='ops')['id']
                self.assertEqual(server.open_calls(session), [], 'listed, so it answers')
            self.assertEqual(listed(a), listed(b))
            rule, = listed(a)
            self.assertEqual(rule['uses'], 2)
            self.assertEqual(b.delete('/api/rules/' + rule['id']).status, 204)
            self.assertEqual(listed(a), [])
            self.assertEqual(a.delete('/api/rules/' + rule['id']).status, 404)
            call, = a.open_calls(a.create(f'deploy {n}', agent='ops')['id'])
            self.assertEqual(a.decide(call, False).status, 200)
        self.assertEqual([a.term(), b.term()], [0, 0])

    def test_rule_of_one_answers_on_the_other_until_it_is_revoked(self):
        a, b = self.both()
        ask = lambda server: server.open_calls(server.create('deploy shop', agent='ops')['id'])
        call, = ask(a)
        self.assertEqual(a.decide(call, True, rule={'scope': 'project'}).status, 200)
        rule = a.get('/api/rules')['items'][0]['id']
        wait_for(lambda: b.get('/api/rules')['items'], SOON_S, 'the rule on B')
        self.assertEqual(ask(b), [], 'the rule answered')
        self.assertEqual(a.delete('/api/rules/' + rule).status, 204)
        wait_for(lambda: not b.get('/api/rules')['items'], SOON_S, 'no rule on B')
        self.assertEqual(len(ask(b)), 1)
        self.assertEqual([a.term(), b.term()], [0, 0])


class Different(Database):
    def test_server_with_other_agents_is_refused(self):
        first = self.server()
        more = '[[model]]\nid = "m"\nkind = "scripted"\n[[agent]]\nid = "more"\nmodel = "m"\n'
        path = self.folder / 'dormouse.toml'
        path.write_text(f'[store]\nurl = "{self.url()}"\n[server]\ndemo = true\n{more}')
        done = run('serve', '--config', path, '--relaxed', '--data', self.folder / 'other',
                   '--listen', '127.0.0.1:0')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('with other agents, tools or gates', done.stderr)
        first.finish()


if __name__ == '__main__':
    main()
