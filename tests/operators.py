#!/usr/bin/env python3
"""What operators see of the server: the audit, nodes, starts, the effective configuration."""
import json
import pathlib

from dormouse import Alone, Case, Client, main, run
from stored import STORE

SECRET = 'sk-never-shown-4711'
HEX = {'sqlite': 'hex(hash)', 'postgres': "encode(hash, 'hex')"}[STORE]
UNHEX = {'sqlite': "x'%s'", 'postgres': "decode('%s', 'hex')"}[STORE]
GOOD = '''
[server]
demo = true

[limits]
heartbeat = "30s"

[[model]]
id = "main"
kind = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
model = "m"
api_key_env = "OPS_KEY"
headers = { X-Team = "ops", X-Key = { env = "OPS_KEY", prefix = "Key " } }

[[agent]]
id = "writer"
model = "main"
'''


class Operators(Case):
    kind = Alone  # the audit has a chain for each server

    def setUp(self):
        self.server = self.configured(GOOD, OPS_KEY=SECRET)

    def client(self, role, **more):
        made = self.server.post('/api/tokens', {'name': f'{role}-person', 'role': role, **more})
        return Client(self.server.port, made['secret'])

    def get(self, path):
        return self.assertStatus(self.server.get(path), 200).json

    # ---- audit

    def test_audit_shows_who_decided_newest_first_and_verifies(self):
        session = self.server.create('approve A')['id']
        (call,) = self.server.open_calls(session)
        self.server.decide(call, True)
        self.client('read')
        page = self.get('/api/audit')
        self.assertTrue(page['verified'])
        self.assertIsNone(page['next'])
        numbers = [one['n'] for one in page['items']]
        self.assertEqual(numbers, list(range(len(numbers), 0, -1)))
        self.assertEqual(page['checked'], len(numbers))
        self.assertTrue(all(one['verified'] is True for one in page['items']))
        self.assertEqual(page['items'][0]['type'], 'token_created')
        decided = next(one for one in page['items'] if one['pendingID'] == call['id'])
        self.assertEqual((decided['type'], decided['by']), ('submitted', 'first'))
        self.assertIs(decided['line']['approved'], True)

    def test_audit_filters_and_pages(self):
        sessions = [self.server.create('deploy A')['id'] for _ in range(3)]
        for session in sessions:
            self.server.result(self.server.open_calls(session)[0]['id'], 'live')
        (one,) = self.get(f'/api/audit?session={sessions[1]}')['items']
        self.assertEqual(one['sessionID'], sessions[1])
        self.assertEqual(self.get('/api/audit?by=nobody')['items'], [])
        found, cursor = [], ''
        while cursor is not None:
            page = self.get('/api/audit?type=submitted&limit=1' + cursor)
            found += [item['sessionID'] for item in page['items']]
            cursor = page['next'] and '&cursor=' + page['next']
        self.assertEqual(found, sessions[::-1])
        for bad in ('x', '0', '-1'):
            self.assertProblem(self.server.get(f'/api/audit?cursor={bad}'), 400, 'bad_cursor')

    def test_changed_audit_line_is_not_verified(self):
        session = self.server.create('deploy A')['id']
        self.server.result(self.server.open_calls(session)[0]['id'], 'live')
        self.client('read')
        self.rename('first', 'other')
        page = self.get('/api/audit')
        self.assertFalse(page['verified'])
        self.assertEqual([one['n'] for one in page['items'] if not one['verified']], [1])
        self.rename('other', 'first')

    def audit(self, *words):
        return run('audit', *words, '--server', f'http://127.0.0.1:{self.server.port}',
                   '--data', self.server.directory)

    def test_command_lists_and_filters(self):
        session = self.server.create('deploy A')['id']
        self.server.result(self.server.open_calls(session)[0]['id'], 'live')
        self.client('read')
        done = self.audit()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r'LINE +WHEN +WHO +WHAT')
        self.assertIn('token_created', done.stdout)
        done = self.audit('-s', session, '--type', 'submitted', '--json')
        (one,) = json.loads(done.stdout)['items']
        self.assertEqual((one['sessionID'], one['type']), (session, 'submitted'))
        self.assertIn('no line', self.audit('--by', 'nobody').stdout)
        self.assertEqual(self.audit('--verify', '--by', 'x').returncode, 2)
        for short in (session[:10], session[4:10]):
            done = self.audit('-s', short, '--type', 'submitted', '--json')
            (one,) = json.loads(done.stdout)['items']
            self.assertEqual(one['sessionID'], session, short)
        done = self.audit('-s', 'ses_zzzz')
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_command_verifies_all_pages_and_names_a_changed_line(self):
        for n in range(210):
            self.server.post('/api/tokens', {'name': f't{n}', 'role': 'read'})
        newest = self.get('/api/audit')['items'][0]
        done = self.audit('--verify')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f'{newest["n"]} lines verified', done.stdout)
        self.assertIn(newest['hash'], done.stdout)
        change = """UPDATE audit SET line = replace(line, '"{0}"', '"{1}"')
            WHERE line LIKE '%"{0}"%'"""
        self.server.while_down(change.format('t5', 'nobody'))
        (changed,) = [one['n'] for one in self.server.items('/api/audit?limit=200')
                      if one['verified'] is False]
        done = self.audit('--verify')
        self.assertEqual(done.returncode, 1)
        self.assertIn(f'line {changed} ', done.stderr)
        self.server.while_down(change.format('nobody', 't5'))

    def test_line_that_is_missing_is_found_also_between_two_reads(self):
        """A read takes 500 lines."""
        for n in range(520):
            self.server.post('/api/tokens', {'name': f't{n}', 'role': 'read'})
        newest = self.get('/api/audit')['items'][0]['n']
        for gone in (newest - 5, newest - 501, newest - 500):
            kept, = self.server.select(
                f'SELECT line, {HEX} AS digest FROM audit WHERE n = {gone}')
            self.server.while_down(f'DELETE FROM audit WHERE n = {gone}')
            done = self.audit('--verify')
            self.assertEqual(done.returncode, 1, gone)
            self.assertIn(f'line {gone + 1} ', done.stderr)
            self.assertIn(f'{newest - 1} lines', done.stdout)
            self.server.while_down(f"""INSERT INTO audit(n, line, hash)
                VALUES({gone}, '{kept["line"]}', {UNHEX % kept["digest"]})""")

    def verified_without(self, change):
        """Changes the table while the server is down; returns what --verify says then, and undoes
        it."""
        self.server.while_down('CREATE TABLE saved AS SELECT * FROM audit', change)
        done = self.audit('--verify')
        listed = self.get('/api/audit')['verified']
        self.server.while_down('DELETE FROM audit', 'INSERT INTO audit SELECT * FROM saved',
                               'DROP TABLE saved')
        self.assertEqual(self.audit('--verify').returncode, 0)
        return done, listed

    def test_removed_newest_and_oldest_lines_are_found(self):
        for n in range(4):
            self.server.post('/api/tokens', {'name': f't{n}', 'role': 'read'})
        newest = self.get('/api/audit')['items'][0]['n']
        done, listed = self.verified_without(f'DELETE FROM audit WHERE n > {newest - 2}')
        self.assertEqual(done.returncode, 1)
        self.assertIn(f'lines {newest - 1} to {newest} are missing', done.stderr)
        self.assertFalse(listed)
        done, _ = self.verified_without('DELETE FROM audit WHERE n < 3')
        self.assertEqual(done.returncode, 1)
        self.assertIn('the lines before line 3 are missing', done.stderr)
        done, listed = self.verified_without('DELETE FROM audit')
        self.assertIn(f'lines 1 to {newest} are missing', done.stderr)
        self.assertFalse(listed)

    def test_lines_that_retention_removed_are_no_finding(self):
        self.client('read')
        self.server.advance(100 * 86_400)
        self.server.post('/api/tokens', {'name': 'newer', 'role': 'read'})
        done = run('retention', '--audit-after', '30d', '--server',
                   f'http://127.0.0.1:{self.server.port}', '--data', self.server.directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(self.get('/api/audit')['items'][-1]['n'], 1)
        done = self.audit('--verify')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        change = "UPDATE audit SET line = replace(line, '\"newer\"', '\"nobody\"')"
        done, _ = self.verified_without(change)
        self.assertEqual(done.returncode, 1)
        self.assertIn('or the line before it was changed', done.stderr)

    def test_bad_hash_is_a_finding(self):
        for n in range(3):
            self.server.post('/api/tokens', {'name': f't{n}', 'role': 'read'})
        zero = {'sqlite': "x'00'", 'postgres': "decode('00', 'hex')"}[STORE]
        done, listed = self.verified_without(f'UPDATE audit SET hash = {zero} WHERE n = 2')
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn('line 2 or the line before it was changed', done.stderr)
        self.assertFalse(listed)

    def rename(self, old, new):
        """Changes a name in the first line, behind the server's back."""
        change = f"""UPDATE audit SET line = replace(line, '"{old}"', '"{new}"') WHERE n = 1"""
        self.server.while_down(change)

    # ---- starts and nodes

    def test_starts_say_how_each_process_ended(self):
        self.server.kill()
        self.server.start()
        self.server.term()
        self.server.start()
        now, clean, killed = self.get('/api/starts')['items']
        self.assertEqual([now['clean'], clean['clean'], killed['clean']], [None, True, False])
        self.assertIsNone(now['aliveAt'])
        self.assertGreater(now['epoch'], clean['epoch'])
        self.assertLessEqual(killed['startedAt'], killed['aliveAt'])
        self.assertLessEqual(killed['aliveAt'], clean['startedAt'])

    def test_node_says_what_it_uses(self):
        (node,) = self.get('/api/nodes')['items']
        self.assertEqual(node['epoch'], self.get('/api/starts')['items'][0]['epoch'])
        directory = str(pathlib.Path(self.server.directory).resolve())
        self.assertEqual(node['data']['directory'], directory)
        self.assertGreater(node['data']['bytes'], 1000 if STORE == 'sqlite' else 10)
        self.assertGreater(node['data']['freeBytes'], 1000)
        self.assertIn(node['release'], run('--version').stdout)

    # ---- configuration

    def test_configuration_never_shows_a_secret(self):
        answer = self.assertStatus(self.server.get('/api/config'), 200)
        self.assertNotIn(SECRET.encode(), answer.raw)
        config = answer.json
        keys = {
            (section['heading'], key['name']): key
            for section in config['sections']
            for key in section['keys']
        }
        self.assertEqual(keys['[limits]', 'heartbeat']['value'], '"30s"')
        self.assertTrue(keys['[limits]', 'heartbeat']['changed'])
        self.assertFalse(keys['[limits]', 'connections']['changed'])
        self.assertEqual(keys['[[model]]', 'api_key_env']['value'], '"OPS_KEY"')
        self.assertEqual(keys['[[model]]', 'headers']['value'], '["X-Team", "X-Key from OPS_KEY"]')

    def test_config_show_prints_the_same_values(self):
        path = pathlib.Path(self.server.directory) / 'shown.toml'
        path.write_text(GOOD)
        shown = run('config', 'show', path, env={'OPS_KEY': SECRET})
        self.assertEqual(shown.returncode, 0, shown)
        self.assertIn('heartbeat = "30s"\n', shown.stdout)
        self.assertIn('# connections = ', shown.stdout)
        self.assertIn('api_key_env = "OPS_KEY"\n', shown.stdout)
        self.assertNotIn(SECRET, shown.stdout)
        self.assertIn('"heading":"[server]"', run('config', 'show', path, '--json',
                                                  env={'OPS_KEY': SECRET}).stdout)

    # ---- roles

    def test_roles_decide_what_is_visible(self):
        paths = ('/api/audit', '/api/config', '/api/nodes', '/api/starts')
        for role, seen in (
            ('read', paths[3:]),
            ('answer', paths[3:]),
            ('operate', paths[2:]),
            ('admin', paths),
        ):
            client = self.client(role)
            for path in paths:
                with self.subTest(role=role, path=path):
                    self.assertEqual(client.get(path).status, 200 if path in seen else 403)
        other = self.client('admin', projects=['other'])
        for path in paths[:3]:
            self.assertEqual(other.get(path).status, 403, path)


if __name__ == '__main__':
    main()
