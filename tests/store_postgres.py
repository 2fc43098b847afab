#!/usr/bin/env python3
"""Servers that keep their sessions in PostgreSQL: how the store is named, what is refused at start
and says what to do, a database that goes away and comes back."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import postgres
from dormouse import BINARY, Server, environment, leave_out, main, run, wait_for

SECRET = 'geheim-4711'
BACK_S = 10  # 5 are promised after the database is back


class Database(unittest.TestCase):
    """Each test has a schema and a folder of its own."""

    def setUp(self):
        self.database = postgres.cluster()
        self.schema = 't_' + os.urandom(6).hex()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-store-'))
        self.addCleanup(shutil.rmtree, self.folder, True)

    def url(self, **more):
        return self.database.url(more.pop('schema', self.schema), **more)

    def server(self, *arguments, store=None, env=None, **more):
        """Starts a server; the test's end stops it."""
        named = ['--store', store or self.url(), '--relaxed', *arguments]
        server = Server(*named, env=env, **more)
        self.addCleanup(server.clean)
        return server

    def configured(self, text, *arguments, env=None):
        path = self.folder / 'dormouse.toml'
        path.write_text(text)
        server = Server('--config', str(path), '--relaxed', *arguments, env=env, start=False)
        server.store = None  # but what the configuration names
        self.addCleanup(server.clean)
        return server.start()

    def sql(self, *statements):
        return self.database.run(*statements, schema=self.schema)

    def exists(self, schema=None):
        return self.database.run(
            f"SELECT count(*) FROM pg_namespace WHERE nspname = '{schema or self.schema}'"
        ) == [['1']]

    def refusal(self, store, *arguments, env=None, exits=None):
        """Starts a server that must refuse; returns what it says."""
        ended = run('serve', '--data', self.folder / 'data', '--no-config', '--listen',
                    '127.0.0.1:0', '--store', store, *arguments, env=environment(**(env or {})))
        self.assertNotEqual(ended.returncode, 0, ended.stdout)
        if exits is not None:
            self.assertEqual(ended.returncode, exits, ended)
        self.assertNotIn('ready', ended.stdout)
        return ended.stderr


class Refused(Database):
    """What is wrong with the database is said at start, with what to do, and nothing is changed."""

    def test_unknown_scheme(self):
        for store in ('mysql://ann@db/work', 'postgres', 'sqlite3', ''):
            output = self.refusal(store)
            self.assertIn('write sqlite, memory or postgres://', output)

    def test_malformed_url(self):
        for store in ('postgres://[::1/x', 'postgres://db/x?nonsense=1'):
            self.assertIn('The URL of the store is invalid', self.refusal(store))
        self.assertIn('The schema', self.refusal(self.url(schema='Große')))

    def test_unreachable_server(self):
        port = postgres.free_port()
        output = self.refusal(f'postgres://ann@127.0.0.1:{port}/work')
        self.assertIn('PostgreSQL cannot be reached', output)
        self.assertIn(str(port), output)

    def test_missing_database(self):
        output = self.refusal(self.url(database='nowhere'), '--relaxed')
        self.assertIn('"nowhere" does not exist', output)
        self.assertIn('createdb', output)

    def test_missing_role(self):
        output = self.refusal(self.url(user='nobody_here'), '--relaxed')
        self.assertIn('"nobody_here" does not exist', output)
        self.assertIn('createuser', output)

    def test_role_that_may_not_create_the_schema(self):
        self.database.run(f'CREATE ROLE {self.schema} LOGIN')
        output = self.refusal(self.url(user=self.schema), '--relaxed')
        self.assertIn(f'GRANT CREATE ON DATABASE "postgres" TO "{self.schema}"', output)
        self.assertFalse(self.exists())

    def test_role_that_may_not_use_the_schema(self):
        self.database.run(f'CREATE ROLE {self.schema} LOGIN', f'CREATE SCHEMA {self.schema}')
        output = self.refusal(self.url(user=self.schema), '--relaxed')
        grant = f'GRANT USAGE, CREATE ON SCHEMA "{self.schema}" TO "{self.schema}"'
        self.assertIn(grant, output)
        self.database.run(grant)
        self.server(store=self.url(user=self.schema)).finish()

    def test_tables_of_another_role(self):
        self.server().finish()
        self.database.run(f'CREATE ROLE {self.schema} LOGIN',
                          f'GRANT USAGE, CREATE ON SCHEMA {self.schema} TO {self.schema}')
        output = self.refusal(self.url(user=self.schema), '--relaxed')
        owner = f'REASSIGN OWNED BY "postgres" TO "{self.schema}"'
        grants = [f'GRANT ALL ON ALL TABLES IN SCHEMA "{self.schema}" TO "{self.schema}"',
                  f'GRANT ALL ON ALL SEQUENCES IN SCHEMA "{self.schema}" TO "{self.schema}"']
        for grant in grants:
            self.assertIn(grant, output)
        self.assertNotIn(owner, output)
        self.database.run(*grants)
        self.server(store=self.url(user=self.schema)).finish()

    def test_encoding_other_than_utf8(self):
        name = 'ascii_' + self.schema
        subprocess.run([self.database.bin / 'createdb', '-h', '127.0.0.1', '-p',
                        str(self.database.port), '-U', 'postgres', '-E', 'SQL_ASCII', '-T',
                        'template0', name], check=True)
        output = self.refusal(self.url(database=name), '--relaxed')
        self.assertIn('SQL_ASCII', output)
        self.assertIn("ENCODING 'UTF8' TEMPLATE template0", output)

    def test_server_that_loses_results(self):
        output = self.refusal(self.url())
        self.assertIn('fsync = off', output)
        self.assertIn('set it to on', output)
        self.assertIn('--relaxed', output)
        self.assertFalse(self.exists())

    def test_commits_that_do_not_wait(self):
        safe = postgres.Cluster('fsync = on')
        self.addCleanup(safe.end)
        options = '&options=-c%20synchronous_commit%3Doff'
        output = self.refusal(safe.url(self.schema) + options)
        self.assertIn('synchronous_commit = off', output)
        server = Server('--store', safe.url(self.schema))
        self.addCleanup(server.clean)
        server.create('is kept')
        server.finish()

    def test_standby(self):
        standby = self.database.standby()
        self.addCleanup(standby.end)
        output = self.refusal(standby.url(self.schema), '--relaxed')
        self.assertIn('is a standby: name the primary', output)

    def test_pooler_by_transaction(self):
        pooler = postgres.Pooler(self.database, 'transaction')
        self.addCleanup(pooler.end)
        output = self.refusal(pooler.url(self.schema), '--relaxed')
        self.assertIn('pool_mode = session', output)
        self.assertFalse(self.exists())

    def test_pooler_by_session_is_accepted(self):
        pooler = postgres.Pooler(self.database, 'session')
        self.addCleanup(pooler.end)
        server = self.server(store=pooler.url(self.schema))
        server.create('is kept')
        server.finish()

    def test_tables_of_another_program(self):
        self.database.run(f'CREATE SCHEMA {self.schema}',
                          f'CREATE TABLE {self.schema}.sessions(id int)')
        output = self.refusal(self.url(), '--relaxed')
        self.assertIn('tables of another program under our names', output)
        self.assertIn('?schema=NAME', output)
        self.assertEqual(self.sql('SELECT count(*) FROM pg_class WHERE relnamespace = '
                                  f"'{self.schema}'::regnamespace"), [['1']])

    def test_schema_of_a_newer_release(self):
        self.server().finish()
        self.sql("UPDATE meta SET value = 99 WHERE name IN ('format', 'write_version')")
        output = self.refusal(self.url(), '--relaxed', exits=9)
        self.assertIn('is written in format 99', output)
        self.assertIn('use the release of the servers that work on it', output)
        self.assertEqual(self.sql("SELECT value FROM meta WHERE name = 'format'"), [['99']])

    def test_clock_far_from_the_databases_is_a_warning(self):
        server = self.server(start=False)
        server.ahead = 90
        server.start()
        self.assertIn("s ahead of the database's", server.tail())
        server.finish()


class DemoOfNodes(unittest.TestCase):
    """Servers are killed on a database that loses nothing."""

    def setUp(self):
        self.database = postgres.Cluster('fsync = on')
        self.addCleanup(self.database.end)
        self.store = self.database.url()

    def demo(self, *arguments):
        return run('demo', *arguments, timeout=150)

    def schemas(self):
        return self.database.run("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'dormouse%'")

    def test_one_of_three_is_killed(self):
        ended = self.demo('--nodes', '3', '--store', self.store)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        lines = ended.stdout.splitlines()
        for text in ('server 3, process', 'server 1 is killed', 'still waits', 'duplicate: true',
                     '409 conflict', 'exactly one', '2 servers are listed', 'nothing was lost'):
            self.assertIn(text, ended.stdout)
        pids = [line.split('process ')[1].split(',')[0] for line in lines if ', process ' in line]
        self.assertEqual([pid for pid in pids if pathlib.Path('/proc', pid).exists()], [])
        removal = lines[-1].split("-c '")[1].rstrip("'")
        self.assertEqual(self.schemas(), [['1']])
        self.database.run(removal)
        self.assertEqual(self.schemas(), [['0']])

    def test_flags_that_do_not_fit(self):
        for arguments, expected in ((['--nodes', '3'], 'belong together'),
                                    (['--store', self.store], 'belong together'),
                                    (['--nodes', '1', '--store', self.store], 'range'),
                                    (['--nodes', '3', '--store', 'memory'], 'PostgreSQL'),
                                    (['--nodes', '3', '--store', self.store + '?schema=x'], 'own')):
            ended = self.demo(*arguments)
            self.assertEqual(ended.returncode, 2, ended)
            self.assertIn(expected, ended.stderr)
        self.assertEqual(self.schemas(), [['0']])


class Passwords(Database):
    """A password is nowhere but in a file of PostgreSQL's or in a variable."""

    def setUp(self):
        super().setUp()
        self.database.run('DROP ROLE IF EXISTS locked',
                          f"CREATE ROLE locked LOGIN PASSWORD '{SECRET}'",
                          'GRANT CREATE ON DATABASE postgres TO locked')
        self.addCleanup(self.database.run, 'DROP OWNED BY locked CASCADE', 'DROP ROLE locked')

    def test_wrong_or_missing_password_is_refused(self):
        store = self.url(user='locked')
        self.assertIn('PGPASSFILE', self.refusal(store, '--relaxed'))
        output = self.refusal(store, '--relaxed', env={'PGPASSWORD': 'wrong-' + SECRET})
        self.assertIn('PGPASSFILE', output)
        self.assertNotIn(SECRET, output)

    def test_password_on_the_command_line_is_refused(self):
        for store in (self.url(user='locked', password=SECRET),
                      self.url(user='locked') + '&password=' + SECRET,
                      self.url(user='locked') + '&pass%77ord=' + SECRET):
            output = self.refusal(store, '--relaxed')
            self.assertIn('PGPASSFILE', output)
            self.assertNotIn(SECRET, output)

    def test_password_in_the_configuration_is_refused(self):
        path = self.folder / 'dormouse.toml'
        path.write_text(f'[store]\nurl = "{self.url(user="locked", password=SECRET)}"\n')
        for command in (['check'], ['check', '--json'], ['show']):
            done = run('config', command[0], path, *command[1:])
            self.assertEqual(done.returncode, 2, done)
            self.assertIn('url_env', done.stdout + done.stderr)
            self.assertNotIn(SECRET, done.stdout + done.stderr)

    def test_file_of_passwords(self):
        path = self.folder / 'passwords'
        path.write_text(f'127.0.0.1:{self.database.port}:*:locked:{SECRET}\n')
        path.chmod(0o600)
        server = self.server(store=self.url(user='locked'), env={'PGPASSFILE': str(path)})
        server.create('is kept')
        self.assert_silent(server)
        self.assertEqual(server.term(), 0)

    def test_variable_with_the_url(self):
        server = self.configured('[store]\nurl_env = "STORE_URL"\n', env={
            'STORE_URL': self.url(user='locked', password=SECRET)})
        server.create('is kept')
        self.assert_silent(server)
        self.assertEqual(self.sql('SELECT count(*) FROM sessions'), [['1']])
        path = self.folder / 'dormouse.toml'
        env = environment(STORE_URL=self.url(user='locked', password=SECRET))
        for command in ('check', 'show'):
            done = run('config', command, path, '--json', env=env)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('STORE_URL' if command == 'show' else self.schema, done.stdout)
            self.assertNotIn(SECRET, done.stdout + done.stderr)
        self.assertEqual(server.term(), 0)

    def test_variable_without_a_url(self):
        path = self.folder / 'dormouse.toml'
        path.write_text('[store]\nurl_env = "STORE_URL"\n')
        for value in ('', SECRET, 'mysql://' + SECRET):
            done = run('config', 'check', path, env=environment(STORE_URL=value))
            self.assertEqual(done.returncode, 2, value)
            self.assertIn('STORE_URL' if value else 'not set', done.stderr)
            self.assertNotIn(SECRET, done.stderr)

    def assert_silent(self, server):
        """Nothing that the running server shows contains the password."""
        shown = [server.tail(), pathlib.Path(f'/proc/{server.process.pid}/cmdline').read_text()]
        for path in ('/api/doctor', '/api/nodes', '/metrics', '/api/server', '/readyz'):
            shown.append(server.get(path).raw.decode())
        self.assertIn(self.schema, server.tail(), 'the log names the database')
        named = server.get('/api/doctor')['store']
        self.assertEqual(
            named, f'postgres://127.0.0.1:{self.database.port}/postgres?schema={self.schema}')
        metric = f'dormouse_store_info{{store="postgres://127.0.0.1:{self.database.port}/postgres'
        self.assertIn(metric, server.get('/metrics').raw.decode())
        for text in shown:
            self.assertNotIn(SECRET, text)


class Life(Database):
    def test_sessions_are_in_the_schema(self):
        server = self.server()
        session = server.create('deploy A')['id']
        self.assertEqual(self.sql("SELECT 'ses_' || id FROM sessions"), [[session]])
        self.assertFalse(pathlib.Path(server.directory, 'dormouse.db').exists())
        server.finish()

    def test_configuration_names_the_database(self):
        server = self.configured(f'[store]\nurl = "{self.url()}"\n')
        server.create('is kept')
        self.assertEqual(self.sql('SELECT count(*) FROM sessions'), [['1']])
        self.assertEqual(server.term(), 0)

    def test_killed_server_continues_under_the_next_epoch(self):
        server = self.server()
        session = server.create('deploy A')['id']
        call, = server.open_calls(session)
        server.restart()
        self.assertEqual(server.result(call['id'], 'live').status, 200)
        server.at_rest(session)
        self.assertEqual(self.sql('SELECT count(*) FROM nodes'), [['1']])
        self.assertEqual(self.sql('SELECT count(*) FROM writers'), [['1']], 'its row is used again')
        server.finish()

    def test_two_servers_at_once_on_an_empty_database(self):
        both = [self.server(start=False) for _ in range(2)]
        ready = [server.spawn() for server in both]
        lines = [file.readline() for file in ready]
        for file in ready:
            file.close()
        self.assertEqual([line[:5] for line in lines], ['ready', 'ready'])
        for server in both:
            self.assertEqual(server.term(), 0)
        self.assertEqual(self.sql('SELECT count(*) FROM nodes'), [['0']])
        both[0].start()
        both[0].create('hello')
        both[0].finish()

    def test_stops_while_the_database_is_away(self):
        server = self.server()
        session = server.create('deploy A')['id']
        self.database.stop()
        self.assertEqual(server.term(), 0)
        self.database.start()
        server.start()
        self.assertEqual(len(server.open_calls(session)), 1)
        server.finish()

    def test_database_that_comes_back(self):
        server = self.server()
        session = server.create('hello')['id']
        self.database.stop()
        answer = server.post(f'/api/sessions/{session}/prompt', {'text': 'again'})
        self.assertEqual(answer.status, 503, answer)
        self.assertEqual(answer['code'], 'store_unavailable')
        self.assertGreaterEqual(int(answer.headers['Retry-After']), 1)
        self.assertEqual(server.get('/readyz').status, 503)
        self.database.start()
        wait_for(lambda: server.get('/readyz').status == 200, BACK_S, 'the database')
        wait_for(lambda: server.prompt(session, 'again').status < 300, BACK_S, 'an answer')
        server.at_rest(session)
        server.finish()

    def test_views_for_sql(self):
        server = self.server()
        done = server.create('deploy A')['id']
        server.result(server.open_calls(done)[0]['id'], 'live')
        server.at_rest(done)
        waits = server.create('deploy B within 1h')['id']
        rows = {row['session_id']: row for row in server.select('SELECT * FROM pending_tool_calls')}
        self.assertEqual((rows[done]['status'], rows[waits]['status']), ('completed', 'waiting'))
        call = server.open_calls(waits)[0]
        row = rows[waits]
        self.assertEqual((row['id'], row['call_id'], row['tool']),
                         (call['id'], call['callID'], call['tool']))
        self.assertEqual(json.loads(row['input']), call['input'])
        self.assertEqual(row['message_id'], server.messages(waits)[-1]['id'])
        self.assertEqual((row['completed_at'], row['result']), (None, None))
        self.assertGreater(row['timeout'], row['created_at'])
        self.assertEqual(json.loads(rows[done]['result'])['output'], 'live')
        self.assertGreaterEqual(rows[done]['completed_at'], rows[done]['created_at'])
        messages = {message['id']: message for message in server.messages(done)}
        for row in server.select(
                f"SELECT * FROM agent_session_messages WHERE session_id = '{done}'"):
            self.assertEqual(row['role'], messages[row['id']]['role'])
            text = ''.join(p['text'] for p in messages[row['id']]['parts'] if p['type'] == 'text')
            self.assertEqual(json.loads(row['content'])['text'], text)
        sessions = server.select('SELECT * FROM agent_sessions ORDER BY id')
        self.assertEqual(sorted([done, waits]), sorted(row['id'] for row in sessions))
        self.assertEqual({row['agent_id'] for row in sessions}, {'demo'})
        server.finish()

    def test_verify_beside_a_server(self):
        server = self.server()
        session = server.create('deploy A')['id']
        checked = run('verify', '--store', self.url(), '--json')
        self.assertEqual(checked.returncode, 0, checked.stderr)
        report = json.loads(checked.stdout)
        self.assertEqual((report['ok'], report['sessions']), (True, 1))
        self.sql('UPDATE pending SET tool = tool || $$x$$')
        checked = run('verify', '--store', self.url())
        self.assertEqual(checked.returncode, 1)
        self.assertIn(session, checked.stdout)
        self.sql('UPDATE pending SET tool = left(tool, -1)')
        server.finish()

    def test_verify_makes_nothing(self):
        checked = run('verify', '--store', self.url())
        self.assertNotEqual(checked.returncode, 0)
        self.assertIn('has no store', checked.stderr)
        self.assertFalse(self.exists())


if __name__ == '__main__':
    main()
