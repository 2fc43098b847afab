#!/usr/bin/env python3
"""Encryption of what several servers keep in PostgreSQL: keys that all must have, and a key that is
changed while they work."""
import json
import pathlib
import subprocess
import tempfile
import threading
import urllib.parse

from dormouse import BINARY, environment, main, run, wait_for_fault, wait_for
from encryption import KEY_A, KEY_B, LONG, MARK
from mcp_servers_sign_in import Issuer
from store_postgres import Database


class OnPostgres(Database):
    def test_two_servers_with_one_key(self):
        a, b = (self.server('--key-env', 'KEY', env={'KEY': KEY_A}) for _ in range(2))
        session = a.create(f'deploy {MARK}', title=MARK)['id']
        (call,) = b.open_calls(session)
        self.assertEqual(b.result(call['id'], MARK).status, 200)
        for server in (a, b):
            server.at_rest(session)
            self.assertIn(MARK, server.last_text(session))
            self.assertEqual(server.session(session)['title'], MARK)
        for table in ('journal', 'sessions', 'snapshots', 'posts'):
            rows = self.sql(f'SELECT count(*) FROM {table} t WHERE t::text LIKE \'%{MARK}%\'')
            self.assertEqual(rows, [['0']], table)
        for env, text in (({}, 'encryption_key_env'), ({'KEY': KEY_B}, 'master key')):
            key = ['--key-env', 'KEY'] if env else []
            self.assertIn(text, self.refusal(self.url(), '--relaxed', *key, env=env))
        a.kill()
        self.assertEqual(b.prompt(session, 'hello').status, 200)
        b.finish()

    def test_sign_in_to_an_mcp_server_is_encrypted(self):
        peer = Issuer()
        threading.Thread(target=peer.serve_forever, daemon=True).start()
        self.addCleanup(peer.server_close)
        self.addCleanup(peer.shutdown)
        folder = tempfile.TemporaryDirectory(prefix='dormouse-config-')
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, 'dormouse.toml')
        path.write_text(f'[[mcp]]\nname = "s"\nurl = "{peer.url}/mcp"\nsign_in = true\n')

        def wait_for_good(server):
            wait_for(lambda: server.get('/api/doctor')['mcpServers'][0]['signIn'] == 'good', 20,
                     'the sign-in')

        def stored():
            return str(self.sql("SELECT encode(value, 'escape') FROM settings"
                                " WHERE name LIKE 'mcp-sign-in:%'"))

        server = self.server('--config', str(path))
        wait_for(lambda: server.get('/api/doctor')['signIns'], 20, 'the refusal')
        sent = server.get('/mcp-sign-in/s')
        _, back = peer.sign_in(sent.headers['Location'])
        cookie = sent.headers['Set-Cookie'].split(';')[0]
        path_back = '/mcp-sign-in/s/callback?' + urllib.parse.urlencode(back)
        self.assertEqual(server.get(path_back, Cookie=cookie).status, 200)
        wait_for_good(server)
        server.finish()
        self.assertIn('refresh-1', stored())
        self.rekey(KEY_A)
        self.assertNotIn('refresh-1', stored())
        server = self.server('--config', str(path), '--key-env', 'KEY', env={'KEY': KEY_A})
        wait_for_good(server)
        server.advance(3600)
        server.restart()
        wait_for(lambda: len(peer.grants) == 2, 20, 'the renewal')
        wait_for_good(server)
        self.assertEqual(peer.grants[1]['refresh_token'], 'refresh-1')
        self.assertNotIn('refresh-2', stored())
        server.finish()

    def plain(self):
        """A server without a key that has ended, and what its session has."""
        server = self.server()
        session = server.create(f'deploy {MARK}', title=MARK)['id']
        (call,) = server.open_calls(session)
        self.assertEqual(server.result(call['id'], LONG, title=MARK).status, 200)
        server.at_rest(session)
        waiting = server.create(f'approve {MARK}', title=MARK)['id']
        content = server.events(session), server.session(session)['title']
        server.finish()
        return session, waiting, content

    def rekey(self, keys, status=0):
        done = run('rekey', '--store', self.url(), '--key-env', 'KEY', '--json',
                   env=environment(KEY=keys))
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout) if status == 0 else done.stderr

    def plain_tables(self):
        """The tables with the text of a session."""
        tables = ('journal', 'sessions', 'snapshots', 'artifacts', 'posts', 'secrets', 'sent',
                  'kept', 'rules', 'devices')
        mark = MARK.encode().hex()
        return [t for t in tables if self.sql(
            f"SELECT count(*) FROM {t} t WHERE t::text LIKE '%{MARK}%'"
            f" OR t::text LIKE '%{mark}%'") != [['0']]]

    def expect_sealed(self, session, waiting, content, keys=KEY_A):
        self.assertEqual(self.plain_tables(), [])
        done = run('verify', '--store', self.url(), '--key-env', 'KEY', env=environment(KEY=keys))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        server = self.server('--key-env', 'KEY', env={'KEY': keys})
        self.assertEqual((server.events(session), server.session(session)['title']), content)
        (call,) = server.open_calls(waiting)
        self.assertEqual(server.decide(call, True).status, 200)
        server.finish()

    def test_rekey_encrypts_what_was_there(self):
        session, waiting, content = self.plain()
        self.assertIn('journal', self.plain_tables())
        self.assertGreater(self.rekey(KEY_A)['contents'], 5)
        self.assertEqual(self.rekey(KEY_A)['contents'], 0, 'all is encrypted')
        self.expect_sealed(session, waiting, content)
        self.assertGreater(self.rekey(f'{KEY_B},{KEY_A}')['keys'], 0)
        self.sql("UPDATE sessions SET title = 'forged' WHERE no = (SELECT min(no) FROM sessions)")
        self.assertEqual(self.rekey(KEY_B)['contents'], 0, 'nothing that was forged is encrypted')
        server = self.server('--key-env', 'KEY', env={'KEY': KEY_B})
        self.assertNotIn('forged', [s['title'] for s in server.items(
            '/api/projects/default/sessions')])
        server.term()

    def encrypting(self, keys, **more):
        return self.server('--key-env', 'KEY', env={'KEY': keys}, **more)

    def test_key_is_changed_while_servers_work(self):
        """Each server is restarted twice, one after the other, with the others at work."""
        old_new, new_old = f'{KEY_A},{KEY_B}', f'{KEY_B},{KEY_A}'
        servers = [self.encrypting(KEY_A) for _ in range(2)]
        session = servers[0].create(f'say {MARK}')['id']
        servers[0].at_rest(session)

        def restart(which, keys):
            servers[which].finish()
            servers[which] = self.encrypting(keys)
            for server in servers:
                self.assertEqual(server.prompt(session, f'say {keys[:9]}').status, 200)
                server.at_rest(session)
            texts = [server.last_text(session) for server in servers]
            self.assertEqual(texts[0], texts[1])

        # The other server lacks the new key: nothing is encrypted with it.
        servers[1].finish()
        self.assertIn('without the master key', self.refusal(
            self.url(), '--relaxed', '--key-env', 'KEY', env={'KEY': new_old}))
        self.assertEqual(self.sql('SELECT count(DISTINCT master) FROM data_keys'), [['1']])
        self.assertIn('without the master key', self.rekey(new_old, status=4))
        servers[1] = self.encrypting(old_new)
        restart(0, old_new)
        restart(0, new_old)
        # It has the new key, but still makes data keys with the old one.
        done = self.rekey(new_old)
        self.assertGreater(done['keys'], 0)
        self.assertEqual(len(done['servers']), 1, done)
        restart(1, new_old)
        done = self.rekey(new_old)
        self.assertEqual((done['keys'], done['servers']), (0, []))
        self.assertEqual(self.sql('SELECT count(DISTINCT master) FROM data_keys'), [['1']])
        for which in (0, 1):
            restart(which, KEY_B)
        for server in servers:
            server.finish()

    def test_killed_server_without_the_new_key_delays_only(self):
        server = self.encrypting(KEY_A)
        server.create('say hi')
        server.kill()
        self.encrypting(f'{KEY_B},{KEY_A}').finish()
        self.rekey(f'{KEY_B},{KEY_A}')
        self.encrypting(KEY_B).finish()

    def test_rekey_that_fails_at_any_table_continues(self):
        session, waiting, content = self.plain()
        self.sql("CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS"
                 " $$BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END$$")
        for table in ('journal', 'artifacts', 'sessions'):
            self.sql(f'CREATE TRIGGER stop BEFORE UPDATE ON {table} FOR EACH ROW'
                     ' EXECUTE FUNCTION stop()')
            self.rekey(KEY_A, status=8)
            self.sql(f'DROP TRIGGER stop ON {table}')
            # A server with the key reads both kinds.
            server = self.server('--key-env', 'KEY', env={'KEY': KEY_A})
            self.assertEqual((server.events(session), server.session(session)['title']), content)
            server.finish()
        self.rekey(KEY_A)
        self.expect_sealed(session, waiting, content)

    def test_killed_rekey_continues(self):
        session, waiting, content = self.plain()
        for _ in range(3):
            process = subprocess.Popen(
                [BINARY, 'rekey', '--store', self.url(), '--key-env', 'KEY'],
                env=environment(KEY=KEY_A), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_for_fault(0.03)  # some transactions are done, others not
            process.kill()
            process.wait()
        self.rekey(KEY_A)
        self.expect_sealed(session, waiting, content)

    def test_rekey_is_refused_beside_a_server_and_with_damage(self):
        self.plain()
        server = self.server()
        self.assertIn('in use', self.rekey(KEY_A, status=4))
        server.finish()
        self.sql("UPDATE journal SET data = replace(data, 'Xq7', 'Yq7')")
        self.assertIn('damaged', self.rekey(KEY_A, status=1))
        self.assertNotEqual(self.sql("SELECT count(*) FROM journal WHERE data LIKE '%Yq7%'"),
                            [['0']])


if __name__ == '__main__':
    main()
