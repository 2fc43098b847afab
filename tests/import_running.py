#!/usr/bin/env python3
"""`dormouse import` of an export into a server that works: whole sessions or none, nothing of other
sessions is disturbed, and nothing is done for them unasked."""
import os
import subprocess

import postgres
from dormouse import BINARY, Server, environment, main, run, wait_for
from export import Whole


class Running(Whole):
    def setUp(self):
        super().setUp()
        self.copy = self.served()

    def imports(self, *options, server=None, **named):
        server = server or self.copy
        return super().imports(*options, target=('--data', str(server.directory)), **named)

    def counted(self, done, imported, before=0, refused=0):
        sessions = '1 session' if imported == 1 else f'{imported} sessions'
        self.assertIn(f'imported {sessions}, there already {before}, refused {refused}',
                      done.stderr)


class Sessions(Running):
    def test_session_at_rest_continues_when_it_is_prompted(self):
        session = self.server.create('hello')['id']
        self.export()
        done = self.imports()
        self.assertEqual(done.stdout.split(), [session])
        self.counted(done, 1)
        self.assertEqual(self.copy.events(session), self.server.events(session))
        self.assertFalse(self.copy.get('/api/doctor')['held'])
        own = self.copy.create('hello')['id']
        self.assertNotEqual(own, session)
        self.copy.prompt(session, 'hello again')
        self.copy.at_rest(session)
        self.copy.restart()
        self.assertEqual(self.copy.last_text(session), self.copy.last_text(own).replace(
            'hello', 'hello again'))
        self.counted(self.imports(status=1), 0, refused=1)
        self.copy.finish()

    def test_repetition_skips_what_is_there(self):
        for number in range(3):
            self.server.create(f'hello {number}')
        self.export()
        self.counted(self.imports(), 3)
        done = self.imports()
        self.counted(done, 0, before=3)
        self.assertEqual(done.stdout.count('there already'), 3)

    def test_large_sessions_come_in_several_requests(self):
        made = []
        for number in range(3):
            session, call = self.sleeping(f'deploy {number} within 1h')
            self.assertStatus(self.server.result(call['id'], 'x' * 3_000_000), 200)
            self.server.at_rest(session)
            made.append(session)
        self.export()
        done = self.imports()
        self.assertEqual(done.stdout.split(), made)
        for session in made:
            self.assertEqual(self.copy.events(session), self.server.events(session))
        self.copy.finish()

    def test_dry_run_writes_nothing(self):
        self.server.create('hello')
        self.export()
        self.assertIn('would import 1', self.imports('--dry-run').stderr)
        self.counted(self.imports(), 1)

    def test_address_and_token_are_enough(self):
        session = self.server.create('hello')['id']
        self.export()
        done = run('import', str(self.file), '--server', f'http://127.0.0.1:{self.copy.port}',
                   env={'DORMOUSE_TOKEN': self.copy.token})
        self.assertEqual(done.stdout.split(), [session], done.stderr)
        done = run('import', str(self.file), '--server', f'http://127.0.0.1:{self.copy.port}',
                   env={'DORMOUSE_TOKEN': 'wrong'})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('unauthenticated', done.stderr)


class Work(Running):
    def test_open_work_is_refused_unless_asked_for(self):
        session, call = self.sleeping()
        rests = self.server.create('hello')['id']
        self.export()
        done = self.imports(status=1)
        self.assertEqual(done.stdout.split(), [rests])
        self.assertIn(f'not imported: {session}: it has something to do', done.stderr)
        self.assertStatus(self.copy.get(f'/api/sessions/{session}'), 404)
        done = self.imports('--start')
        self.counted(done, 1, before=1)
        self.assertEqual(self.copy.open_calls(session)[0]['id'], call['id'])
        self.assertStatus(self.copy.result(call['id'], 'live'), 200)
        self.copy.at_rest(session)
        self.assertEqual(self.copy.last_text(session), 'deploy A: live')
        self.copy.finish()

    def test_deadline_of_a_started_session_is_kept(self):
        session, call = self.sleeping()
        self.export()
        self.imports('--start')
        self.copy.advance(7200)
        wait_for(lambda: not self.copy.open_calls(session), what='the deadline')

    def test_server_that_holds_takes_all_and_does_nothing(self):
        first, _ = self.sleeping()
        self.export()
        super(Running, self).imports(to='held')
        held = self.served('held')
        second, call = self.sleeping('deploy B within 1h')
        self.export()
        self.counted(self.imports(server=held), 1, before=1)
        self.assertTrue(held.get('/api/doctor')['held'])
        self.assertStatus(held.result(call['id'], 'live'), 200)
        self.assertEqual([t['status'] for t in held.turns(second)], ['running'])
        self.release(held)
        held.at_rest(second)
        self.assertEqual(held.last_text(second), 'deploy B: live')


class Refused(Running):
    def test_number_that_is_taken_is_named(self):
        session = self.server.create('hello')['id']
        own = self.copy.create('hello')['id']
        self.export()
        done = self.imports(status=1)
        self.assertIn(f'{session}: its number is that of {own} here', done.stderr)

    def test_alias_that_is_in_use(self):
        self.server.create('hello')
        made = self.server.post('/api/projects/default/sessions',
                                {'agentID': 'demo', 'alias': 'ops'}, **{'Idempotency-Key': 'k1'})
        self.assertStatus(made, 201)
        self.assertStatus(self.copy.post('/api/projects/default/sessions',
                                         {'agentID': 'demo', 'alias': 'ops'}), 201)
        self.export(made['id'])
        self.assertIn("its alias 'ops' is that of ses_", self.imports(status=1).stderr)

    def test_changed_lines_are_named_by_their_place_in_the_file(self):
        for number in range(2):
            self.server.create(f'hello {number}')
        self.export()
        lines = self.file.read_text().splitlines()
        last = max(n for n, line in enumerate(lines) if '"type":"frame"' in line)
        edited = list(lines)
        edited[last] = edited[last].replace('hello 1', 'hello 7')
        self.file.write_text('\n'.join(edited) + '\n')
        done = self.imports(status=1)
        self.counted(done, 1, refused=1)
        self.assertIn('the digest of the session\'s lines differs', done.stderr)
        edited[last] = edited[last][:40]
        self.file.write_text('\n'.join(edited) + '\n')
        done = self.imports(status=1)
        self.assertIn(f'line {last + 1}: it is not JSON', done.stderr)
        self.file.write_text('\n'.join(lines[:last]) + '\n')
        self.assertIn('the file was cut off', self.imports(status=1).stderr)
        self.file.write_text('\n'.join(lines) + '\n')
        self.counted(self.imports(), 1, before=1)

    def test_other_files_and_formats(self):
        self.server.create('hello')
        self.export()
        lines = self.file.read_text().splitlines()
        self.file.write_text('\n'.join([lines[0].replace('"format":2', '"format":3'), *lines[1:]]))
        done = self.imports(status=9)
        self.assertIn('newer than this release reads (2)', done.stderr)
        done = self.imports('--new-ids', status=2)
        self.assertIn('--new-ids', done.stderr)

    def test_route_is_for_admins_and_reads_strictly(self):
        token = run('token', 'create', 'other', '--role', 'operate', '--server',
                    f'http://127.0.0.1:{self.copy.port}', env={'DORMOUSE_TOKEN': self.copy.token})
        self.assertEqual(token.returncode, 0, token.stderr)
        done = run('import', str(self.file), '--server', f'http://127.0.0.1:{self.copy.port}',
                   env={'DORMOUSE_TOKEN': token.stdout.split()[-1]})
        self.assertNotEqual(done.returncode, 0)
        for body in ({}, {'lines': []}, {'lines': [1]}, {'lines': ['{}']}, {'lines': ['x'], 'y': 1},
                     {'lines': ['{}'], 'line': 0}):
            self.assertStatus(self.copy.post('/api/import', body), 400)


class Killed(Running):
    def test_killed_server_has_whole_sessions(self):
        made = []
        for number in range(40):
            session, call = self.sleeping(f'deploy {number} within 1h')
            self.assertStatus(self.server.result(call['id'], 'x' * 200_000), 200)
            self.server.at_rest(session)
            made.append(session)
        self.export()
        process = subprocess.Popen(
            [BINARY, 'import', str(self.file), '--data', str(self.copy.directory)],
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline().strip(), made[0])
        self.copy.kill()
        process.wait()
        self.copy.restart()
        wait_for(lambda: self.copy.get('/readyz').status == 200, what='readiness')
        self.imports()
        for session in made:
            self.assertEqual(self.copy.events(session), self.server.events(session))
        self.copy.finish()


class OnPostgres(Whole):
    def setUp(self):
        postgres.needed()
        super().setUp()
        database = postgres.cluster()
        url = database.url('t_' + os.urandom(6).hex())
        self.copies = []
        for _ in range(2):
            server = Server('--store', url, '--relaxed', start=False)
            server.store = None
            self.addCleanup(server.clean)
            self.copies.append(server.start())
            wait_for(lambda s=server: s.get('/readyz').status == 200, what='readiness')

    def test_all_servers_of_the_database_have_it(self):
        session, call = self.sleeping()
        rests = self.server.create('hello')['id']
        self.export()
        first, second = self.copies
        target = ('--server', f'http://127.0.0.1:{first.port}')
        env = {'DORMOUSE_TOKEN': first.token}
        done = run('import', str(self.file), *target, env=env)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout.split(), [rests])
        done = run('import', str(self.file), '--start', *target, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(second.events(rests), self.server.events(rests))
        self.assertStatus(second.result(call['id'], 'live'), 200)
        second.at_rest(session)
        self.assertEqual(first.last_text(session), 'deploy A: live')
        for server in self.copies:
            self.assertStatus(server.prompt(rests, 'hello again'), 200)
            server.at_rest(rests)


if __name__ == '__main__':
    main()
