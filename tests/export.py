#!/usr/bin/env python3
"""`dormouse export` prints whole sessions as JSON lines, beside the server that uses them, and
`dormouse import` puts them into another store, which holds; bad lines change nothing. With --events
a server prints every event and the bytes of artifacts, for reading."""
import base64
import json
import os
import pathlib
import subprocess

import postgres
from dormouse import BINARY, Case, Server, environment, main, run, wait_for


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


TO_DO = '  has something to do\n'


class Events(Case):
    def export(self, *sessions, status=0):
        done = run('export', '--events', *sessions, '--data', self.server.directory,
                   env={'DORMOUSE_URL': ''})
        self.assertEqual(done.returncode, status, done.stderr)
        return lines_of(done.stdout)

    def test_export_has_all_events_and_artifacts(self):
        first = self.server.create('deploy A within 1h')['id']
        (call,) = self.server.open_calls(first)
        output = 'x' * 1_200_000
        self.assertStatus(self.server.result(call['id'], output), 200)
        self.server.at_rest(first)
        second = self.server.create('deploy B within 1h')['id']

        lines = self.export()
        self.assertEqual((lines[0]['type'], lines[0]['format']), ('export', 1))
        self.assertEqual(lines[-1]['sessions'], 2)
        events = [line['event'] for line in lines if line['type'] == 'event']
        self.assertEqual(lines[-1]['events'], len(events))
        for session in (first, second):
            self.assertEqual([e for e in events if e['sessionID'] == session],
                             self.server.events(session))
        (artifact,) = [line for line in lines if line['type'] == 'artifact']
        self.assertEqual(base64.b64decode(artifact['data']).decode(), output)

        one = self.export(second)
        self.assertEqual([line['session']['id'] for line in one if line['type'] == 'session'],
                         [second])
        self.assertEqual(self.export('ses_zzzzzz', status=3), [])


class Whole(Case):
    arguments = ('--store', 'sqlite')

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.server.own)
        self.file = self.folder / 'sessions.jsonl'

    def export(self, *words, source=None, status=0):
        place = source or ('--data', self.server.directory)
        done = run('export', *words, *place)
        self.assertEqual(done.returncode, status, done.stdout[-2000:] + done.stderr)
        self.file.write_text(done.stdout)
        return done

    def imports(self, *options, to='copy', target=None, file=None, status=0, stdin=''):
        place = target or ('--data', str(self.folder / to))
        done = run('import', str(file or self.file), *options, *place, stdin=stdin)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def served(self, to='copy', *arguments):
        server = Server('--store', 'sqlite', *arguments, directory=self.folder / to)
        self.addCleanup(server.clean)
        wait_for(lambda: server.get('/readyz').status == 200, what='readiness')
        return server

    def release(self, server):
        done = run('--server', f'http://127.0.0.1:{server.port}', 'release',
                   env={'DORMOUSE_TOKEN': server.token})
        self.assertEqual(done.returncode, 0, done.stderr)

    def sleeping(self, text='deploy A within 1h'):
        session = self.server.create(text)['id']
        (call,) = self.server.open_calls(session)
        return session, call

    def verified(self, to='copy'):
        done = run('verify', '--data', str(self.folder / to))
        self.assertEqual(done.returncode, 0, done.stdout)


class Between(Whole):
    def test_sleeping_session_continues_in_a_copy_that_is_released(self):
        session, call = self.sleeping()
        other = self.server.create('deploy B within 1h')['id']
        (late,) = self.server.open_calls(other)
        output = 'x' * 1_200_000
        self.assertStatus(self.server.result(late['id'], output), 200)
        self.server.at_rest(other)
        self.export()
        done = self.imports()
        self.assertEqual(done.stdout.splitlines(), [session + '  has something to do', other])
        self.assertIn('holds', done.stderr)
        self.verified()

        copy = self.served()
        self.assertTrue(copy.get('/api/doctor')['held'])
        for one in (session, other):
            self.assertEqual(copy.events(one), self.server.events(one))
        self.assertStatus(copy.result(call['id'], 'live'), 200)
        copy.advance(7200)  # beyond the deadline
        self.assertStatus(copy.result(late['id'], output), 200)  # the receipt is known
        self.assertEqual([t['status'] for t in copy.turns(session)], ['running'])
        self.release(copy)
        copy.at_rest(session)
        self.assertEqual(copy.last_text(session), 'deploy A: live')
        self.server.prompt(other, 'hello')
        copy.prompt(other, 'hello')
        self.assertEqual(copy.last_text(other), self.server.last_text(other))
        self.assertEqual(self.server.open_calls(session), [call], 'the original still waits')
        copy.finish()

    def test_cut_histories_are_whole(self):
        long = self.server.create('hello')['id']
        for number in range(120):
            self.server.prompt(long, f'hello {number}')
        done = run('retention', '--messages', '100', '--session', long, '--server',
                   f'http://127.0.0.1:{self.server.port}', env={'DORMOUSE_TOKEN': self.server.token})
        self.assertEqual(done.returncode, 0, done.stderr)
        wait_for(lambda: len(self.server.messages(long)) < 200, what='the cut')
        self.export()
        self.imports()
        self.verified()
        copy = self.served()
        self.assertEqual(copy.messages(long), self.server.messages(long))
        self.assertStatus(copy.prompt(long, 'still there'), 200)
        copy.at_rest(long)

    def test_repetition_changes_nothing(self):
        session, call = self.sleeping()
        self.export()
        self.imports()
        self.assertIn('there already 1', self.imports().stderr)
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.server.at_rest(session)
        self.export()
        self.assertIn('with other events', self.imports(status=1).stderr)

    def test_new_ids_for_numbers_that_are_taken(self):
        session, call = self.sleeping()
        self.export()
        self.imports(to='one')
        two = Server('--store', 'sqlite', directory=self.folder / 'copy')
        self.addCleanup(two.clean)
        own = two.create('hello')['id']
        two.term()
        self.assertIn(f'its number is that of {own} here: import with --new-ids',
                      self.imports(status=1).stderr)
        was, now = self.imports('--new-ids').stdout.removesuffix(TO_DO).split()
        self.assertEqual(was, session)
        self.assertIn('there already 1', self.imports('--new-ids').stderr)
        self.verified()
        copy = self.served()
        (waiting,) = copy.open_calls(now)
        self.assertNotEqual(waiting['id'], call['id'])
        self.assertNotIn(session[4:], json.dumps(copy.events(now)))
        self.release(copy)
        self.assertStatus(copy.result(waiting['id'], 'live'), 200)
        copy.at_rest(now)
        self.assertEqual(copy.last_text(now), 'deploy A: live')

    def test_session_at_rest_does_not_hold(self):
        self.server.create('hello')
        self.export()
        self.assertNotIn('holds', self.imports().stderr)
        self.assertFalse(self.served().get('/api/doctor')['held'])

    def test_open_work_continues_whatever_the_epochs(self):
        for _ in range(3):
            self.server.restart()
        session = self.server.create('deploy A within 1h')['id']
        self.export()
        self.imports('--start')
        copy = self.served()
        self.assertFalse(copy.get('/api/doctor')['held'])
        (call,) = copy.open_calls(session)
        self.assertStatus(copy.result(call['id'], 'live'), 200)
        copy.at_rest(session)
        self.assertEqual(copy.last_text(session), 'deploy A: live')

    def test_dry_run_writes_nothing(self):
        self.sleeping()
        self.export()
        self.assertIn('would import 1', self.imports('--dry-run').stderr)
        self.assertFalse((self.folder / 'copy').exists())

    def test_alias_and_key_of_creation_that_are_in_use(self):
        made = self.server.post('/api/projects/default/sessions',
                                {'agentID': 'demo', 'alias': 'ops'}, **{'Idempotency-Key': 'k1'})
        self.assertStatus(made, 201)
        self.export()
        other = Server('--store', 'sqlite', directory=self.folder / 'copy')
        self.addCleanup(other.clean)
        self.assertStatus(other.post('/api/projects/default/sessions',
                                     {'agentID': 'demo', 'alias': 'ops'}), 201)
        other.term()
        self.assertIn("its alias 'ops' is that of ses_",
                      self.imports('--new-ids', status=1).stderr)


class TasksAndMail(Whole):
    """What sessions have to do with each other goes with them."""

    def task(self, parent, prompt):
        body = {'agentID': 'demo', 'prompt': prompt, 'description': 'look'}
        task = self.assertStatus(self.server.post(f'/api/sessions/{parent}/tasks', body), 201).json
        wait_for(lambda: self.server.get(f'/api/sessions/{task["sessionID"]}').status == 200,
                 what='the child')
        return task

    def ended(self, server, task):
        return self.assertStatus(server.get(f'/api/tasks/{task}/output?wait=30'), 200).json

    def notices(self, server, session):
        return [m['parts'][0]['text'] for m in server.messages(session)
                if m['source']['type'] == 'task']

    def inbox(self, server, session):
        answer = self.assertStatus(server.get(f'/api/sessions/{session}/inbox'), 200)
        return [(mail['text'], mail['from']) for mail in answer.json['items']]

    def replies(self, server, session):
        return [part['text'] for message in server.messages(session)
                if message['role'] == 'assistant'
                for part in message['parts'] if part['type'] == 'text']

    def waiting_task(self):
        """A task that waits for a result, its parent, and the call."""
        parent = self.server.create()['id']
        task = self.task(parent, 'deploy A within 1h')
        child = task['sessionID']
        wait_for(lambda: self.server.open_calls(child), what='the call of the child')
        (call,) = self.server.open_calls(child)
        return parent, task, call

    def test_waiting_task_ends_in_the_copy_and_notifies_its_parent(self):
        parent, task, call = self.waiting_task()
        self.export()
        self.imports('--start')
        self.verified()
        copy = self.served()
        self.assertStatus(copy.result(call['id'], 'live'), 200)
        ended = self.ended(copy, task['taskID'])
        self.assertEqual((ended['status'], ended['result']), ('completed', 'deploy A: live'))
        wait_for(lambda: self.notices(copy, parent), what='the notice')
        copy.at_rest(parent)
        self.assertEqual(self.notices(self.server, parent), [], 'the original gets no notice')
        listed = copy.items(f'/api/sessions/{parent}/tasks')
        self.assertEqual([one['taskID'] for one in listed], [task['taskID']])

    def test_new_ids_keep_parent_and_task_together(self):
        parent, task, _ = self.waiting_task()
        self.export()
        other = Server('--store', 'sqlite', directory=self.folder / 'copy')
        self.addCleanup(other.clean)
        other.create('hello')
        other.term()
        done = self.imports('--new-ids', '--start')
        now = dict(line.split()[:2] for line in done.stdout.splitlines())
        self.verified()
        copy = self.served()
        child = now[task['sessionID']]
        self.assertEqual(copy.session(child)['parentID'], now[parent])
        (call,) = copy.open_calls(child)
        self.assertStatus(copy.result(call['id'], 'live'), 200)
        wait_for(lambda: self.notices(copy, now[parent]), what='the notice')
        (listed,) = copy.items(f'/api/sessions/{now[parent]}/tasks')
        self.assertEqual((listed['sessionID'], listed['status']), (child, 'completed'))

    def test_ended_task_can_be_resumed_in_the_copy(self):
        parent = self.server.create()['id']
        task = self.task(parent, 'hello')
        self.ended(self.server, task['taskID'])
        wait_for(lambda: self.notices(self.server, parent), what='the notice')
        self.server.at_rest(parent)
        self.export()
        self.imports()
        copy = self.served()
        self.assertEqual(len(self.notices(copy, parent)), 1)
        resumed = copy.post(f'/api/tasks/{task["taskID"]}/resume', {'message': 'again'})
        self.assertStatus(resumed, 202)
        self.assertEqual(self.ended(copy, task['taskID'])['result'], 'You said: again')
        wait_for(lambda: len(self.notices(copy, parent)) == 2, what='the second notice')

    def test_mail_is_read_once_and_answered_in_the_copy(self):
        alice = self.server.create(alias='alice')['id']
        bob = self.server.create(alias='bob')['id']
        self.server.prompt(alice, 'tell bob hello')
        wait_for(lambda: 'You said: hello' in self.replies(self.server, bob), what='the mail')
        for session in (alice, bob):
            self.server.at_rest(session)
        before = self.inbox(self.server, bob)
        self.assertEqual(len(before), 1)
        self.export()
        self.imports('--start')
        self.verified()
        copy = self.served()
        self.assertEqual(self.inbox(copy, bob), before)
        copy.prompt(bob, 'tell alice thanks')
        wait_for(lambda: 'You said: thanks' in self.replies(copy, alice), what='the answer')
        self.assertEqual(self.inbox(copy, bob), before, 'it came once')
        self.assertEqual(self.inbox(self.server, alice), [])

    def test_child_without_its_parent_ends_alone(self):
        _, task, call = self.waiting_task()
        self.export(task['sessionID'])
        self.imports('--start')
        self.verified()
        copy = self.served()
        self.assertStatus(copy.result(call['id'], 'live'), 200)
        copy.at_rest(task['sessionID'])
        self.assertEqual(copy.last_text(task['sessionID']), 'deploy A: live')


class Bad(Whole):
    def setUp(self):
        super().setUp()
        self.sleeping()
        self.server.create('hello')
        self.export()
        self.lines = self.file.read_text().splitlines()

    def refused(self, lines, says, status=1, stored=1):
        self.file.write_text('\n'.join(lines) + '\n')
        done = self.imports(status=status)
        self.assertIn(says, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), stored, done.stdout)
        for file in (self.folder / 'copy').rglob('*'):
            file.unlink()

    def test_edited_lines_are_named_and_the_rest_is_imported(self):
        frame = next(n for n, line in enumerate(self.lines) if '"type":"frame"' in line)
        edited = list(self.lines)
        edited[frame] = edited[frame].replace('deploy A', 'deploy Z')
        self.refused(edited, 'the digest of the session\'s lines differs')
        gone = list(self.lines)
        del gone[frame]
        self.refused(gone, 'another number of lines')
        broken = list(self.lines)
        broken[frame] = broken[frame][:40]
        self.refused(broken, f'line {frame + 1}: it is not JSON')

    def test_file_that_was_cut_off(self):
        end = next(n for n, line in enumerate(self.lines) if 'session_end' in line)
        self.refused(self.lines[:end + 3], 'the file was cut off')

    def test_cut_off_before_its_first_session_leaves_nothing(self):
        end = next(n for n, line in enumerate(self.lines) if 'session_end' in line)
        for lines in (0, 1, 2, end):
            text = ''.join(line + '\n' for line in self.lines[:lines])
            done = self.imports(file='-', stdin=text, status=1 if lines else 2)
            self.assertIn('cut off' if lines else 'is empty', done.stderr)
            self.assertFalse((self.folder / 'copy').exists(), lines)
        self.imports(file='-', stdin='{"type":"other"}\n', status=2)
        self.assertFalse((self.folder / 'copy').exists())

    def test_line_of_100_mb_is_refused_without_memory_for_it(self):
        frame = next(n for n, line in enumerate(self.lines) if '"type":"frame"' in line)
        long = list(self.lines)
        long[frame] = '{"type":"frame","events":"' + 'x' * 100_000_000 + '"}'
        self.refused(long, f'line {frame + 1}: it is longer than 67108864 bytes')

    def test_other_files_and_formats(self):
        newer = [self.lines[0].replace('"format":2', '"format":3'), *self.lines[1:]]
        self.refused(newer, 'newer than this release reads (2)', status=9, stored=0)
        old = [self.lines[0].replace('"format":2', '"format":1')]
        self.refused(old, 'make it without --events', status=2, stored=0)
        done = self.imports(file='-', status=2, stdin='{"type":"other"}\n')
        self.assertIn('not an export', done.stderr)

    def test_empty_standard_input_is_named(self):
        for target in (None, ('--data', str(self.server.directory))):
            done = self.imports(file='-', status=2, stdin='', target=target)
            self.assertIn('the export is empty', done.stderr)


class Killed(Whole):
    def test_killed_import_has_whole_sessions(self):
        made = []
        for number in range(30):
            made.append(self.server.create(f'deploy {number} within 1h', wait=0)['id'])
        for session in made:
            wait_for(lambda s=session: self.server.open_calls(s), what='calls')
        self.export()
        with open(self.file, encoding='utf-8') as file:
            text = file.read().splitlines(keepends=True)
        process = subprocess.Popen(
            [BINARY, 'import', '-', '--data', str(self.folder / 'copy')], env=environment(),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        process.stdin.writelines(text[:len(text) // 2])
        process.stdin.flush()
        wait_for(lambda: (self.folder / 'copy' / 'held').exists(), what='a first session')
        process.kill()
        process.wait()
        self.verified()
        self.imports()
        self.verified()
        copy = self.served()
        self.assertTrue(copy.get('/api/doctor')['held'])
        for session in made:
            self.assertEqual(copy.events(session), self.server.events(session))


class OnPostgres(Whole):
    def setUp(self):
        postgres.needed()
        super().setUp()
        self.database = postgres.cluster()
        self.url = self.database.url('t_' + os.urandom(6).hex())

    def shared(self):
        server = Server('--store', self.url, '--relaxed', start=False)
        server.store = None
        self.addCleanup(server.clean)
        return server.start()

    def test_there_and_back(self):
        session, call = self.sleeping()
        other = self.server.create('hello')['id']
        self.export()
        done = self.imports('--start', target=('--store', self.url))
        self.assertNotIn('holds', done.stderr)
        self.assertEqual(done.stdout.splitlines(), [session + '  has something to do', other])
        checked = run('verify', '--store', self.url)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        server = self.shared()
        wait_for(lambda: server.get('/readyz').status == 200, what='readiness')
        self.assertEqual(server.events(session), self.server.events(session))
        self.assertStatus(server.result(call['id'], 'live'), 200)
        server.at_rest(session)
        self.assertEqual(server.last_text(session), 'deploy A: live')
        self.assertIn('in use', self.imports(target=('--store', self.url), status=4).stderr)

        self.export(source=('--store', self.url))
        self.imports(to='back')
        self.verified('back')
        back = self.served('back')
        self.assertEqual(back.events(session), server.events(session))

    def ready(self, server):
        wait_for(lambda: server.get('/readyz').status == 200, what='readiness')
        return server

    def held(self, server):
        return server.get('/api/doctor').json['held']

    def test_database_holds_for_all_servers_until_one_is_released(self):
        session, call = self.sleeping()
        self.export()
        done = self.imports(target=('--store', self.url))
        self.assertIn('the database holds', done.stderr)
        self.assertIn('there already 1', self.imports(target=('--store', self.url)).stderr)
        first = self.ready(self.shared())
        second = self.ready(self.shared())
        self.assertTrue(self.held(first) and self.held(second))
        self.assertStatus(second.result(call['id'], 'live'), 200)
        first.restart()
        self.ready(first)
        self.assertTrue(self.held(first), 'a restart does not release it')
        self.assertEqual([t['status'] for t in first.turns(session)], ['running'])
        self.release(second)
        wait_for(lambda: not self.held(first) and not self.held(second), what='the release')
        first.at_rest(session)
        self.assertEqual(first.last_text(session), 'deploy A: live')
        third = self.ready(self.shared())
        self.assertFalse(self.held(third))


if __name__ == '__main__':
    main()
