#!/usr/bin/env python3
"""What servers with one database tell each other at once: changed tokens, appended events, text
that a model is still writing; by the database's notifications or, with signal = "redis", by a Redis
server. The same arrives later when these are lost, and with signal = "poll"."""
import contextlib
import http.server
import signal
import threading
import time

import index_redis
from dormouse import Client, Events, environment, main, run, wait_for, wait_for_fault
from postgres import free_port
from postgres_proxy import Proxy
from store_postgres import Database
from streamed import CONFIG as MODEL
from streamed import PIECES, TEXT, Provider

LATE_S = 20  # long after all that a poll brings
# What is promised, with time for a machine that does other things, too.
REVOKED_S = 6  # instead of 2; its streams end after 5 s at most
TEXT_S = 5  # instead of 150 ms
EVENT_S = 10  # 100 ms without notifications
POLL = '[server]\ndemo = true\n[store]\nurl = "%s"\nsignal = "poll"\n'
REDIS = '[server]\ndemo = true\n[store]\nurl = "%s"\nsignal = "redis"\nsignal_url = "%s"\n'
PASSWORD = 'geheim-4712'


@contextlib.contextmanager
def within(seconds, what):
    begin = time.monotonic()
    yield
    took = time.monotonic() - begin
    assert took < seconds, f'{what} took {took:.2f} s'


class Pair(Database):
    """Two servers; the second one reaches the database through a proxy."""

    def setUp(self):
        super().setUp()
        self.proxy = Proxy(self.database.port)
        self.addCleanup(self.proxy.close)

    def start(self, notified=True):
        self.proxy.unnotified = not notified
        self.a = self.server()
        self.b = self.server(store=self.proxy.url(self.url()) + '&sslmode=disable')
        self.addCleanup(self.end)

    def start_polling(self):
        self.a, self.b = (self.configured(POLL % self.url()) for _ in range(2))
        self.addCleanup(self.end)

    def redis_server(self, *options):
        index_redis.setUpModule()
        redis = index_redis.Redis(*options)
        self.addCleanup(redis.clean)
        return redis

    def start_redis(self):
        self.redis = self.redis_server()
        self.a, self.b = (self.configured(REDIS % (self.url(), self.redis.url)) for _ in range(2))
        self.addCleanup(self.end)
        self.both_listen(self.redis)

    def both_listen(self, redis):
        """On one channel, whose name nobody can guess."""
        def listeners():
            names = redis.ask('PUBSUB', 'CHANNELS', 'dormouse:signal:*')
            both = len(names) == 1 and redis.ask('PUBSUB', 'NUMSUB', *names)[1] == 2
            return both and names
        self.channel, = wait_for(listeners, LATE_S, 'both servers at Redis')
        for server in (self.a, self.b):
            wait_for(lambda: not self.concern(server), LATE_S, 'no concern')

    def concern(self, server):
        return [one for one in server.get('/api/doctor')['concerns'] if one['about'] == 'signal']

    def end(self):
        for server in (self.a, self.b):
            self.assertEqual(server.term(), 0)


class Access(Pair):
    def made(self, **more):
        made = self.a.post('/api/tokens', {'name': 'ci', 'role': 'read', **more})
        self.assertEqual(made.status, 201, made)
        return made['secret'], made['token']['id']

    def status(self, server, token):
        client = Client(server.port, token)
        self.addCleanup(client.close)
        return client.get('/api/projects/default/sessions').status

    def knows(self, server, name):
        wait_for(lambda: any(one['name'] == name for one in server.items('/api/tokens')),
                 LATE_S, f'the token {name}')

    def check_revocation(self):
        session = self.a.create('deploy A')['id']
        token, name = self.made()
        self.knows(self.b, 'ci')  # a refused token would count as an attack
        self.assertEqual(self.status(self.b, token), 200)
        paths = [f'/api/sessions/{session}/events', '/api/events']
        streams = [Events(self.b, path, token=token) for path in paths]
        for stream in streams:
            self.assertEqual(stream.status, 200, stream.head)
        self.assertEqual(self.a.delete(f'/api/tokens/{name}').status, 204)
        with within(REVOKED_S, 'the end of the streams'):
            for stream in streams:
                with stream:
                    bye = [frame for frame in stream.rest() if frame.event == 'bye']
                    self.assertEqual([frame.data for frame in bye], [{'reason': 'revoked'}])
        for server in (self.a, self.b):
            self.assertEqual(self.status(server, token), 401)

    def test_revoked_token_ends_its_streams_on_the_other(self):
        self.start()
        self.check_revocation()

    def test_revocation_without_notifications(self):
        self.start(notified=False)
        self.check_revocation()

    def test_revocation_by_polling(self):
        self.start_polling()
        self.check_revocation()

    def test_revocation_with_redis(self):
        self.start_redis()
        self.check_revocation()

    def test_link_is_spent_once_by_whom_asks_first(self):
        self.start()
        link = self.a.post('/api/links', {'name': 'alice', 'role': 'answer'})
        code = link['url'].split('#')[1]
        self.knows(self.b, 'alice')
        statuses = []
        def spend(server):
            client = Client(server.port, None)
            statuses.append(client.post('/sign-in', {'code': code}).status)
            client.close()
        threads = [threading.Thread(target=spend, args=(server,))
                   for server in (self.a, self.b) * 4]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(statuses.count(200), 1, statuses)
        self.assertLessEqual(set(statuses), {200, 401, 409})


class Feed(Pair):
    def check_events(self):
        """What A appends wakes each kind of reader on B."""
        session = self.a.create('deploy A')['id']
        call, = self.b.open_calls(session)
        head = self.b.session(session)['seq']
        with Events(self.b, f'/api/sessions/{session}/events', head) as one, \
                Events(self.b, '/api/events') as all_of_them:
            self.assertEqual(self.a.result(call['id'], 'live').status, 200)
            with within(EVENT_S, 'the end of the turn'):
                for stream in (one, all_of_them):
                    stream.until(lambda f: f.event == 'turn_ended' or 'turn_ended' in str(f.data))
        since = self.b.get('/api/pending').headers['Dormouse-As-Of']
        waiting = self.b.new_client()
        self.addCleanup(waiting.close)
        waiting.begin(f'/api/pending?changedSince={since}&wait=50')
        other = self.a.create('deploy B')['id']
        call, = self.a.open_calls(other)
        # What B has already shown of the first session may count as a change here once more.
        answer, found = waiting.end(), set()
        while True:
            found |= {one['id'] for one in answer['items'] if one['sessionID'] != session}
            if found:
                break
            since = answer.headers['Dormouse-As-Of']
            answer = waiting.get(f'/api/pending?changedSince={since}&wait=50')
        self.assertEqual(found, {call['id']})
        self.assertEqual(self.b.result(call['id'], 'live').status, 200)
        self.a.at_rest(other)

    def test_event_reaches_readers_on_the_other(self):
        self.start()
        self.check_events()

    def test_long_reply_reaches_a_stream_on_the_other(self):
        """Its append has a snapshot: when the other server reads the session again, nothing
        follows."""
        self.start()
        session = self.a.create('hello')['id']
        self.a.at_rest(session)
        head = self.b.session(session)['seq']
        with Events(self.b, f'/api/sessions/{session}/events', head) as stream:
            self.assertIn(self.a.prompt(session, 'x' * 80_000).status, (200, 202))
            with within(EVENT_S, 'the end of the turn'):
                stream.until(lambda f: f.event == 'turn_ended')

    def test_event_without_notifications(self):
        self.start(notified=False)
        self.check_events()

    def test_event_by_polling(self):
        self.start_polling()
        self.check_events()

    def test_new_session_of_an_idle_server_is_the_newest_of_the_list(self):
        self.start()  # each has taken numbers; those of A are smaller
        self.b.create('deploy B')

        def newest_is_that_of(server):
            made = server.create()['id']
            return server.items('/api/projects/default/sessions')[0]['id'] == made
        for server in (self.a, self.b):  # the numbers of B are smaller afterwards
            wait_for(lambda: newest_is_that_of(server), LATE_S, 'newer numbers')

    def test_event_by_redis(self):
        self.start_redis()
        self.check_events()

    def test_nobody_listens_or_notifies_by_polling(self):
        self.start_polling()
        self.check_silence()

    def test_nobody_listens_or_notifies_with_redis(self):
        self.start_redis()
        self.check_silence()

    def connections(self, server):
        """What its connections to the database are for."""
        name, = (node['name'] for node in server.get('/api/nodes')['items'] if node['self'])
        rows = self.sql("SELECT application_name FROM pg_stat_activity WHERE application_name"
                        f" LIKE 'dormouse/{name}/%'")
        return sorted(row[0].rsplit('/', 1)[1] for row in rows)

    def has_connections(self, *others):
        """Whether A has these, and readers: a second to fourth one if it read much at once."""
        found = self.connections(self.a)
        readers = found.count('reader')
        return 1 <= readers <= 4 and found == sorted([*others, *readers * ['reader']])

    def test_connections_are_those_that_are_documented(self):
        self.start()
        wait_for(lambda: len(self.a.get('/api/nodes')['items']) == 2, LATE_S, 'B at A')
        self.a.create('deploy A')
        wait_for(lambda: self.has_connections('heartbeat', 'signal', 'writer'), LATE_S,
                 'four to seven connections')

    def test_connections_with_redis(self):
        self.start_redis()
        self.a.create('deploy A')
        wait_for(lambda: self.has_connections('heartbeat', 'writer'), LATE_S,
                 'three to six connections')

    def check_silence(self):
        self.a.create('deploy A')
        listening = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
        signalling = ("SELECT count(*) FROM pg_stat_activity WHERE "
                      "application_name LIKE 'dormouse/%/signal'")
        own = f" AND query LIKE '%{self.schema}%'"
        self.assertEqual(self.sql(listening + own), [['0']])
        self.assertEqual(self.sql(signalling + own), [['0']])


class Frozen(Database):
    """A server that was declared dead while it stood still, and whose place another one took."""

    def test_waiting_requests_see_what_was_appended_from_its_place(self):
        a, b = self.server(), self.server()
        since = b.get('/api/pending').headers['Dormouse-As-Of']
        waiting = b.new_client()
        self.addCleanup(waiting.close)
        waiting.begin(f'/api/pending?changedSince={since}&wait=50')
        with Events(b, '/api/events') as events:
            wait_for(lambda: len(a.get('/api/nodes')['items']) == 2, LATE_S, 'B at A')
            b.process.send_signal(signal.SIGSTOP)
            wait_for(lambda: len(a.get('/api/nodes')['items']) == 1, LATE_S, 'the removal of B')
            c = self.server()
            session = c.create('deploy A')['id']
            call, = c.open_calls(session)
            b.process.send_signal(signal.SIGCONT)
            with within(EVENT_S, 'the event'):
                events.until(lambda f: call['id'] in str(f.data))
                answer = waiting.end()
        self.assertEqual([one['id'] for one in answer['items']], [call['id']])
        for server in (a, b, c):
            self.assertEqual(server.term(), 0)


class Text(Pair):
    """A model writes for A; the readers are on B."""

    def setUp(self):
        super().setUp()
        self.provider = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Provider)
        self.provider.daemon_threads = True
        threading.Thread(target=self.provider.serve_forever, daemon=True).start()
        self.addCleanup(self.provider.shutdown)
        self.tickets = threading.Semaphore(0)
        self.provider.wait = lambda: self.tickets.acquire(timeout=LATE_S)

    def start(self, notified=True, signal='notify'):
        self.proxy.unnotified = not notified
        text = MODEL % self.provider.server_port + f'[store]\nsignal = "{signal}"\nurl = "%s"\n'
        if signal == 'redis':
            self.redis = self.redis_server()
            text += f'signal_url = "{self.redis.url}"\n'
        url = self.url()
        env = {'MOCK_KEY': 'sk-mock'}
        self.a = self.configured(text % url, env=env)
        self.b = self.configured(text % (self.proxy.url(url) + '&sslmode=disable'), env=env)
        self.addCleanup(self.end)
        # Only then does A know that there is another one.
        wait_for(lambda: len(self.a.get('/api/nodes')['items']) == 2, LATE_S, 'B at A')
        if signal == 'redis':
            self.both_listen(self.redis)
        self.session = self.a.create()['id']

    def reader(self):
        events = Events(self.b, f'/api/sessions/{self.session}/events')
        self.addCleanup(events.close)
        self.assertEqual(events.status, 200, events.head)
        return events

    def delta(self, reader):
        return reader.until(lambda f: f.event == 'delta')[-1].data

    def write(self, pieces):
        for _ in range(pieces):
            self.tickets.release()

    def check_rest(self, reader, text):
        """The reader, who has this much, gets what follows once, perhaps not up to the end, and
        then the durable reply."""
        frames = reader.until(lambda f: f.event == 'turn_ended')
        text = text.encode()
        for delta in [f.data for f in frames if f.event == 'delta']:
            self.assertEqual(delta['offset'], len(text), 'bytes of UTF-8')
            text += delta['text'].encode()
        self.assertTrue(TEXT.startswith(text.decode()), text)
        kinds = [f.event for f in frames]
        self.assertNotIn('delta', kinds[kinds.index('model_replied'):])

    def test_text_reaches_readers_on_the_other(self):
        self.start()
        self.check_text()

    def test_text_by_redis(self):
        self.start(signal='redis')
        self.check_text()

    def check_text(self):
        early = self.reader()
        self.a.prompt(self.session, 'go', wait=0)
        first = self.delta(early)
        self.assertEqual((first['offset'], first['text'], first['kind']), (0, PIECES[0], 'text'))
        own = Events(self.a, f'/api/sessions/{self.session}/events')
        self.addCleanup(own.close)
        self.assertEqual(self.delta(own)['partID'], first['partID'], 'the same as on A')
        with within(TEXT_S, 'the second piece'):
            self.write(1)
            second = self.delta(early)
        self.assertEqual((second['offset'], second['text']), (len(PIECES[0]), PIECES[1]))
        late = self.reader()
        draft = self.delta(late)
        self.assertEqual((draft['offset'], draft['text']), (0, PIECES[0] + PIECES[1]))
        self.write(len(PIECES))
        for reader in (early, late):
            self.check_rest(reader, PIECES[0] + PIECES[1])

    def test_first_reader_joins_in_mid_turn(self):
        self.start()
        self.check_mid_turn()

    def test_first_reader_joins_in_mid_turn_by_redis(self):
        self.start(signal='redis')
        self.check_mid_turn()

    def check_mid_turn(self):
        self.a.prompt(self.session, 'go', wait=0)
        self.write(1)
        with Events(self.a, f'/api/sessions/{self.session}/events') as own:
            own.until(lambda f: f.event == 'delta' and PIECES[1] in f.data['text'])
        for _ in range(2):  # the second one comes after the first has left
            reader = self.reader()
            self.assertEqual(self.delta(reader)['text'], PIECES[0] + PIECES[1])
            reader.close()
        reader = self.reader()
        self.assertEqual(self.delta(reader)['text'], PIECES[0] + PIECES[1])
        self.write(len(PIECES))
        self.check_rest(reader, PIECES[0] + PIECES[1])

    def test_lost_pieces_come_again(self):
        self.start()
        reader = self.reader()
        self.a.prompt(self.session, 'go', wait=0)
        self.delta(reader)
        own = Events(self.a, f'/api/sessions/{self.session}/events')
        self.addCleanup(own.close)
        self.proxy.unnotified = True
        self.write(1)
        own.until(lambda f: f.event == 'delta' and PIECES[1] in f.data['text'])
        wait_for_fault(0.2)  # until it is lost: A says it within 50 ms
        self.proxy.unnotified = False
        self.write(1)
        text = PIECES[0]
        while len(text) < len(''.join(PIECES[:3])):
            delta = self.delta(reader)
            self.assertEqual(delta['offset'], len(text.encode()))
            text += delta['text']
        self.write(len(PIECES))
        self.check_rest(reader, text)

    def check_reply_without_text(self):
        reader = self.reader()
        self.a.prompt(self.session, 'go', wait=0)
        self.write(len(PIECES))
        frames = reader.until(lambda f: f.event == 'turn_ended')
        self.assertNotIn('delta', [f.event for f in frames])
        self.assertEqual(self.b.last_text(self.session), TEXT)

    def test_reply_without_notifications(self):
        self.start(notified=False)
        self.check_reply_without_text()

    def test_reply_by_polling(self):
        self.start(signal='poll')
        self.check_reply_without_text()

    def test_reply_while_redis_is_gone(self):
        self.start(signal='redis')
        self.redis.stop()
        self.check_reply_without_text()
        self.redis.start()
        self.both_listen(self.redis)
        self.check_text_again()

    def check_text_again(self):
        while self.tickets.acquire(blocking=False):  # left by the turn before
            pass
        reader = self.reader()
        self.a.prompt(self.session, 'again', wait=0)
        self.assertEqual(self.delta(reader)['text'], PIECES[0])
        self.write(len(PIECES))
        self.check_rest(reader, PIECES[0])


class OverRedis(Pair):
    def test_redis_is_killed_and_comes_back(self):
        self.start_redis()
        self.redis.stop()
        for server in (self.a, self.b):
            concern, = wait_for(lambda: self.concern(server), LATE_S, 'the concern')
            self.assertIn(self.redis.path, concern['why'])
            self.assertIn('signal_url', concern['next'])
        session = self.a.create('deploy A')['id']
        head = self.b.session(session)['seq']
        call, = self.b.open_calls(session)
        with Events(self.b, f'/api/sessions/{session}/events', head) as events:
            self.assertEqual(self.a.result(call['id'], 'live').status, 200)
            events.until(lambda f: f.event == 'turn_ended')
        self.redis.start()
        self.both_listen(self.redis)
        self.assertEqual(len(self.a.get('/api/nodes')['items']), 2, 'nobody was declared dead')

    def test_stalled_redis_delays_nothing(self):
        self.start_redis()
        self.redis.process.send_signal(index_redis.signal.SIGSTOP)
        session = self.a.create('deploy A')['id']
        call, = self.b.open_calls(session)
        self.assertEqual(self.b.result(call['id'], 'live').status, 200)
        self.a.at_rest(session)
        for server in (self.a, self.b):
            wait_for(lambda: self.concern(server), LATE_S, 'the concern')
            self.assertEqual(len(server.get('/api/nodes')['items']), 2)
        self.redis.process.send_signal(index_redis.signal.SIGCONT)
        self.both_listen(self.redis)

    def test_messages_of_others_are_dropped(self):
        self.start_redis()
        session = self.a.create('deploy A')['id']
        call, = self.b.open_calls(session)
        forged = 'x' * 32
        with Events(self.b, f'/api/sessions/{session}/events') as events:
            for text in ('', 'a', 'a99', 't99 {}', forged, forged + 'a99', forged + 't99 text',
                         forged + 'a' * 60_000):
                for _ in range(20):
                    self.redis.ask('PUBLISH', self.channel, text)
            self.assertEqual(self.a.result(call['id'], 'live').status, 200)
            frames = events.until(lambda f: f.event == 'turn_ended')
            self.assertNotIn('delta', [frame.event for frame in frames])
        self.assertFalse(self.concern(self.b))

    def test_too_large_message_costs_the_connection_only(self):
        self.start_redis()
        self.redis.ask('PUBLISH', self.channel, 'x' * 1_000_000)
        self.both_listen(self.redis)
        session = self.a.create('deploy A')['id']
        call, = self.b.open_calls(session)
        self.assertEqual(self.b.result(call['id'], 'live').status, 200)

    def test_databases_with_one_redis_do_not_hear_each_other(self):
        self.start_redis()
        first = self.schema
        self.schema = first + '_2'
        other = self.configured(REDIS % (self.url(), self.redis.url))
        def channels():
            return len(self.redis.ask('PUBSUB', 'CHANNELS', 'dormouse:signal:*')) == 2
        wait_for(channels, LATE_S, 'two channels')
        self.assertEqual(other.term(), 0)

    def test_password_is_in_no_log_and_no_answer(self):
        port = free_port()
        self.redis_server('--requirepass', PASSWORD, '--port', str(port), '--bind', '127.0.0.1')
        text = ('[server]\ndemo = true\n[store]\nurl = "%s"\nsignal = "redis"\n'
                'signal_url_env = "SIGNAL"\n') % self.url()
        env = {'SIGNAL': f'redis://:{PASSWORD}@127.0.0.1:{port}/0'}
        self.a, self.b = (self.configured(text, env=env) for _ in range(2))
        self.addCleanup(self.end)
        wait_for(lambda: not self.concern(self.a), LATE_S, 'A at Redis')
        wrong = self.configured(text, env={'SIGNAL': f'redis://:{PASSWORD}x@127.0.0.1:{port}/0'})
        concern, = wait_for(lambda: self.concern(wrong), LATE_S, 'the concern')
        self.assertIn('WRONGPASS', concern['why'])
        answers = wrong.get('/api/doctor').raw + wrong.get('/api/config').raw
        self.assertNotIn(PASSWORD.encode(), answers)
        self.assertEqual(wrong.term(), 0)
        for server in (self.a, wrong):
            self.assertNotIn(PASSWORD, server.log.read_text())


class RedisRefused(Database):
    def check(self, lines, env=None):
        path = self.folder / 'dormouse.toml'
        path.write_text(f'[server]\ndemo = true\n[store]\nurl = "{self.url()}"\n{lines}\n')
        env = environment(**(env or {}))
        checked = run('config', 'check', str(path), env=env)
        self.assertNotEqual(checked.returncode, 0, checked.stdout)
        served = run('serve', '--data', self.folder / 'data', '--config', str(path), '--listen',
                     '127.0.0.1:0', '--relaxed', env=env)
        self.assertNotEqual(served.returncode, 0, served.stdout)
        self.assertFalse(self.exists())
        for done in (checked, served):
            self.assertNotIn(PASSWORD, done.stdout + done.stderr)
        return checked.stdout + checked.stderr, served.stderr

    def test_tls(self):
        secret = {'SIGNAL': f'rediss://:{PASSWORD}@redis.example.org'}
        for lines in ('signal = "redis"\nsignal_url = "rediss://redis.example.org"',
                      'signal = "redis"\nsignal_url_env = "SIGNAL"',
                      'index = ["rediss://redis.example.org"]',
                      'index_url_env = "SIGNAL"'):
            for warning in self.check(lines, secret):
                self.assertIn('rediss://', warning)
                self.assertIn('stunnel', warning)

    def test_missing_or_malformed_address(self):
        for error in self.check('signal = "redis"'):
            self.assertIn('set signal_url, or signal_url_env if it has a password', error)
        for error in self.check(f'signal = "redis"\nsignal_url = "redis://:{PASSWORD}@h"'):
            self.assertIn('signal_url_env', error)
        for error in self.check('signal = "redis"\nsignal_url_env = "SIGNAL"',
                                {'SIGNAL': f'http://:{PASSWORD}@h'}):
            self.assertIn('SIGNAL', error)


if __name__ == '__main__':
    main()
