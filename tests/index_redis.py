#!/usr/bin/env python3
"""`dormouse serve --index redis://…`: sets of Redis that say which calls wait. A Redis that was
flushed, changed, stalled or killed costs the server nothing, and is made right again. Starts a
redis-server of its own; without one the tests are skipped, with DORMOUSE_TEST_REDIS=required they
fail."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading

from dormouse import Alone, Case, OnDisk, leave_out, main, run, wait_for

PROGRAM = shutil.which('redis-server')
PREFIX = 'dormouse:pending:'


def setUpModule():
    if PROGRAM or os.environ.get('DORMOUSE_TEST_REDIS') == 'required':
        return
    leave_out('redis-server is not installed (tools/setup.sh test)')


class Redis:
    """A server on a Unix socket, with a client for its protocol."""

    def __init__(self, *options):
        self.folder = tempfile.mkdtemp(prefix='dormouse-redis-')
        self.path = str(pathlib.Path(self.folder, 'redis.sock'))
        self.options = options
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [PROGRAM, '--port', '0', '--unixsocket', self.path, '--save', '', '--appendonly', 'no',
             '--dir', self.folder, *self.options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        wait_for(self.answers, what='redis-server')

    def answers(self):
        try:
            return bool(self.ask('PING'))
        except OSError:
            return False

    def stop(self):
        self.process.kill()
        self.process.wait()

    def clean(self):
        self.process.send_signal(signal.SIGCONT)
        self.stop()
        shutil.rmtree(self.folder)

    @property
    def url(self):
        return f'redis+unix://{self.path}'

    def ask(self, *words):
        """Sends one command; returns its reply as text, number, list or None."""
        request = b'*%d\r\n' % len(words)
        for word in words:
            data = str(word).encode()
            request += b'$%d\r\n%s\r\n' % (len(data), data)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(self.path)
            connection.sendall(request)
            return self.reply(connection.makefile('rb'))

    def reply(self, stream):
        line = stream.readline().rstrip()
        kind, rest = line[:1], line[1:]
        if kind in (b'+', b'-'):
            return rest.decode()
        if kind == b':':
            return int(rest)
        if kind == b'$':
            return stream.read(int(rest) + 2)[:-2].decode() if rest != b'-1' else None
        return [self.reply(stream) for _ in range(int(rest))]

    def members(self, name):
        return sorted(self.ask('SMEMBERS', PREFIX + name))

    def expirations(self):
        flat = self.ask('ZRANGE', PREFIX + 'expiration', 0, -1, 'WITHSCORES')
        return {flat[i]: int(flat[i + 1]) for i in range(0, len(flat), 2)}


class RedisCase(Case):
    # Of several servers one writes the keys, and says so: each test has one.
    options = ()

    def setUp(self):
        self.redis = Redis(*self.options)
        self.addCleanup(self.redis.clean)
        self.server = Alone('--index', self.redis.url)
        self.addCleanup(self.server.clean)
        wait_for(lambda: self.server.get('/readyz').status == 200, what='readiness')

    def state(self):
        (index,) = self.server.get('/api/doctor')['indexes']
        return index

    def waiting(self, text='deploy A within 1h'):
        session = self.server.create(text)['id']
        (call,) = self.server.open_calls(session)
        return session, call

    def seen(self, *calls):
        ids = sorted(call['id'] for call in calls)
        wait_for(lambda: self.redis.members('by-status:waiting') == ids, what='the waiting calls')


class IndexRedis(RedisCase):
    def test_keys_follow_a_call(self):
        session, call = self.waiting()
        self.seen(call)
        self.assertEqual(self.redis.members('by-session:' + session), [call['id']])
        self.assertEqual(self.redis.expirations(), {call['id']: call['timeout']})
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        wait_for(lambda: self.redis.members('by-status:completed') == [call['id']], what='the end')
        self.assertEqual(self.redis.members('by-status:waiting'), [])
        self.assertEqual(self.redis.members('by-session:' + session), [call['id']])
        self.assertEqual(self.redis.expirations(), {})
        self.server.at_rest(session)

    def test_deleted_session_is_removed(self):
        session, call = self.waiting()
        self.seen(call)
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        wait_for(lambda: self.redis.ask('KEYS', '*') == [PREFIX + 'position'], what='its removal')

    def test_killed_server_continues_at_the_position(self):
        _, call = self.waiting()
        self.seen(call)
        self.server.kill()
        self.server.start()
        _, other = self.waiting('deploy B')
        self.seen(call, other)
        self.assertIn(b'dormouse_index_rebuilds_total{index="redis"} 0',
                      self.server.get('/metrics').raw)

    def broken(self, damage):
        """After the damage the keys are right again, and other keys stay."""
        _, call = self.waiting()
        self.seen(call)
        self.redis.ask('SET', 'mine', 'untouched')
        damage(call)
        _, other = self.waiting('deploy B')
        self.seen(call, other)
        self.assertEqual(self.state()['state'], 'current')
        return call, other

    def test_flushed(self):
        self.broken(lambda _: self.redis.ask('FLUSHALL'))

    def test_poisoned_with_other_types(self):
        def damage(_):
            self.redis.ask('DEL', PREFIX + 'by-status:waiting')
            self.redis.ask('SET', PREFIX + 'by-status:waiting', 'x')
            self.redis.ask('SET', PREFIX + 'expiration', 'x')
        self.broken(damage)
        self.assertEqual(self.redis.ask('GET', 'mine'), 'untouched')

    def test_poisoned_position(self):
        for value in ('999999.999999.1.x', '', 'x' * 1000):
            self.broken(lambda _, value=value: self.redis.ask('SET', PREFIX + 'position', value))
            for item in self.server.items('/async-tool/pending'):
                self.server.result(item['id'], 'live')
            self.seen()

    def test_stale_sets_go_with_the_position(self):
        def damage(_):
            self.redis.ask('SADD', PREFIX + 'by-status:waiting', 'pnd_stale')
            self.redis.ask('SADD', PREFIX + 'by-session:ses_stale', 'pnd_stale')
            self.redis.ask('SADD', 'dormouse?pending:by-session:other', 'theirs')
            self.redis.ask('DEL', PREFIX + 'position')
        self.broken(damage)
        self.assertEqual(self.redis.members('by-session:ses_stale'), [])
        self.assertEqual(self.redis.ask('SMEMBERS', 'dormouse?pending:by-session:other'),
                         ['theirs'])

    def test_killed_redis_costs_speed_only(self):
        _, call = self.waiting()
        self.seen(call)
        self.redis.stop()
        _, other = self.waiting('deploy B')
        wait_for(lambda: self.state()['state'] == 'failed', what='the failure')
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        wait_for(lambda: self.server.get('/readyz').status == 200, what='readiness')
        self.redis.start()
        self.server.advance(31)
        self.seen(other)

    def test_stalled_redis_delays_nobody(self):
        self.redis.process.send_signal(signal.SIGSTOP)
        session, call = self.waiting()
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.server.at_rest(session)
        wait_for(lambda: self.state()['state'] == 'failed', what='the failure')
        self.assertIn(self.redis.path, self.state()['why'])
        self.redis.process.send_signal(signal.SIGCONT)
        self.server.advance(31)
        wait_for(lambda: self.redis.members('by-status:completed') == [call['id']], what='the end')


class IndexRedisStart(Case):
    kind = OnDisk  # an index that the configuration names stays beside another --store
    def setUp(self):
        self.server = Alone(start=False)
        self.addCleanup(self.server.clean)

    def refused(self, *words):
        done = run('serve', '--no-config', '--data', '/nonexistent/x', '--index', *words)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def test_tls_is_refused(self):
        self.assertIn('rediss:// is not supported', self.refused('rediss://h:1'))

    def test_password_on_the_command_line_is_refused(self):
        error = self.refused('redis://ann:s3cret@h:1')
        self.assertIn('index_url_env', error)
        self.assertNotIn('s3cret', error)

    def test_malformed_address_is_refused(self):
        self.assertIn('malformed port', self.refused('redis://h:x'))

    def test_server_starts_without_its_redis(self):
        self.server = Alone('--index', 'redis+unix:///nonexistent/redis.sock')
        self.addCleanup(self.server.clean)
        wait_for(lambda: self.server.get('/readyz').status == 200, what='readiness')
        (index,) = self.server.get('/api/doctor')['indexes']
        self.assertEqual(index['state'], 'failed')
        self.assertIn('/nonexistent/redis.sock', index['why'])

    def test_port_that_takes_connections_and_says_nothing(self):
        with socket.create_server(('127.0.0.1', 0)) as silent:
            taken = []
            thread = threading.Thread(target=lambda: taken.append(silent.accept()), daemon=True)
            thread.start()
            self.server = Alone('--index', f'redis://127.0.0.1:{silent.getsockname()[1]}')
            self.addCleanup(self.server.clean)
            self.server.create('deploy A')
            wait_for(lambda: self.server.get('/api/doctor')['indexes'][0]['state'] == 'failed',
                     what='the failure')

    def with_password(self, password):
        """Returns a server that uses this password for a Redis whose password is `s3cret`."""
        with socket.create_server(('127.0.0.1', 0)) as free:
            port = free.getsockname()[1]
        redis = Redis('--requirepass', 's3cret', '--port', str(port), '--bind', '127.0.0.1')
        self.addCleanup(redis.clean)
        return self.configured('[store]\nindex_url_env = "REDIS_URL"\n',
                               REDIS_URL=f'redis://:{password}@127.0.0.1:{port}/0')

    def reaches(self, server, state):
        wait_for(lambda: server.get('/api/doctor')['indexes'][0]['state'] == state, what=state)

    def test_password_comes_from_the_environment(self):
        server = self.with_password('s3cret')
        self.reaches(server, 'current')
        self.assertNotIn('s3cret', server.log.read_text())

    def test_wrong_password_is_not_shown(self):
        server = self.with_password('wr0ng')
        self.reaches(server, 'failed')
        for shown in (server.get('/api/doctor').raw.decode(), server.log.read_text(),
                      server.get('/metrics').raw.decode()):
            self.assertNotIn('wr0ng', shown)


if __name__ == '__main__':
    main()
