#!/usr/bin/env python3
"""`dormouse serve --index files`: JSON files about calls and sessions beside the store. They follow
it, also after crashes; damage is repaired by making them again; they never stop the server."""
import json
import os
import pathlib
import shutil

from dormouse import Case, Server, main, run, wait_for

DEPLOY = 'deploy A within 1h'


class Files:
    """The files of a data directory."""

    def __init__(self, directory):
        self.top = pathlib.Path(directory, 'storage')
        self.calls = self.top / 'pending_tool'
        self.sessions = self.top / 'session'

    def index(self):
        return json.loads((self.calls / 'index.json').read_text())

    def call(self, pending):
        return json.loads((self.calls / f'{pending}.json').read_text())

    def session(self, session, project='default'):
        return json.loads((self.sessions / project / f'{session}.json').read_text())

    def status(self, pending):
        path = self.calls / f'{pending}.json'
        return json.loads(path.read_text())['status'] if path.exists() else None

    def names(self):
        return sorted(str(path.relative_to(self.top)) for path in self.top.rglob('*'))


class IndexCase(Case):
    # Each server of a shared store has files of its own.
    arguments = ('--store', 'sqlite', '--index', 'files')

    def setUp(self):
        super().setUp()
        self.files = Files(self.server.directory)
        self.ready()

    def ready(self):
        wait_for(lambda: self.server.get('/readyz').status == 200, what='readiness')

    def restart(self, change=None):
        self.server.kill()
        if change:
            change()
        self.server.start()
        self.ready()

    def is_current(self):
        (index,) = self.server.get('/api/doctor')['indexes']
        return index['state'] == 'current' and index['behindSince'] is None

    def caught_up(self):
        wait_for(self.is_current, what='a current index')

    def waiting(self, text=DEPLOY, **more):
        """Returns a session and its call, both of which have files."""
        session = self.server.create(text, **more)['id']
        (call,) = self.server.open_calls(session)
        wait_for(lambda: self.files.status(call['id']) == 'waiting', what='the file of the call')
        self.caught_up()  # the session's file is written after it
        return session, call

    def settled(self, call, output='live'):
        self.assertStatus(self.server.result(call['id'], output), 200)
        wait_for(lambda: self.files.status(call['id']) == 'completed', what='the settled call')


class IndexFiles(IndexCase):
    def test_call_that_waits_has_the_fields_of_the_specification(self):
        session, call = self.waiting()
        file = self.files.call(call['id'])
        self.assertEqual(
            {name: file[name] for name in ('id', 'sessionID', 'messageID', 'callID', 'tool',
                                           'input', 'status', 'timeout')},
            {name: call[name] for name in ('id', 'sessionID', 'messageID', 'callID', 'tool',
                                           'input', 'status', 'timeout')})
        self.assertEqual(file['time']['created'], call['time']['created'])
        self.assertNotIn('result', file)
        self.assertNotIn('error', file)
        state = self.files.session(session)
        self.assertEqual(state['activity']['type'], 'waiting_async')
        self.assertEqual(state['activity']['pendingID'], call['id'])
        self.assertEqual(state['activity']['tool'], call['tool'])
        self.assertEqual(state['activity']['timeout'], call['timeout'])
        self.assertEqual(state['projectID'], 'default')

    def test_settled_call_has_its_result_and_index_json_follows(self):
        session, call = self.waiting()
        self.caught_up()
        self.server.advance(2)
        wait_for(lambda: self.files.index()['byStatus']['waiting'] == [call['id']], what='waiting')
        index = self.files.index()
        self.assertEqual(index['bySession'], {session: [call['id']]})
        self.assertEqual(index['byExpiration'],
                         [{'pendingID': call['id'], 'expiresAt': call['timeout']}])
        self.assertStatus(self.server.result(call['id'], {'url': 'x'}, title='Done',
                                             metadata={'n': 1}), 200)
        wait_for(lambda: self.files.status(call['id']) == 'completed', what='the result')
        self.assertEqual(self.files.call(call['id'])['result'],
                         {'title': 'Done', 'output': {'url': 'x'}, 'metadata': {'n': 1}})
        self.server.at_rest(session)
        self.caught_up()
        self.server.advance(2)
        wait_for(lambda: self.files.index()['byStatus']['completed'] == [call['id']], what='index')
        self.assertEqual(self.files.index()['byExpiration'], [])

    def test_failed_expired_and_cancelled_calls_say_why(self):
        _, failed = self.waiting()
        _, expired = self.waiting()
        other, cancelled = self.waiting('deploy B')
        self.assertStatus(self.server.error(failed['id'], 'no quota'), 200)
        self.assertStatus(self.server.delete(f'/async-tool/pending/{cancelled["id"]}'), 200)
        self.server.advance(3601)
        for call, status, error in ((failed, 'failed', 'no quota'),
                                    (expired, 'expired', 'Tool execution timed out'),
                                    (cancelled, 'cancelled', 'cancelled')):
            wait_for(lambda: self.files.status(call['id']) == status, what=status)
            self.assertEqual(self.files.call(call['id'])['error'], error)

    def test_decision_is_a_result(self):
        question = self.server.post('/api/pending', {'question': 'Go?', 'arguments': {'n': 1}})
        call = self.assertStatus(question, 201)['call']
        self.assertStatus(self.server.decide(call, True, reason='green'), 200)
        wait_for(lambda: self.files.status(call['id']) == 'completed', what='the decision')
        self.assertEqual(self.files.call(call['id'])['result'], {
            'title': 'Approved', 'output': {'approved': True, 'reason': 'green'}, 'metadata': {}})

    def test_deleted_session_leaves_no_file(self):
        session, call = self.waiting()
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        wait_for(lambda: not any(call['id'] in name or session in name
                                 for name in self.files.names()), what='their removal')

    def test_names_of_projects_stay_in_the_folder(self):
        # Other names that a project may not have: FolderName in contents_test.cc.
        self.waiting(project='.hidden')
        self.waiting(project='a.b')
        self.assertEqual(sorted(path.name for path in self.files.sessions.iterdir()),
                         ['%2ehidden', 'a.b'])

    def test_files_are_the_owners_alone(self):
        _, call = self.waiting()
        self.assertEqual((self.files.calls / f'{call["id"]}.json').stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.files.calls.stat().st_mode & 0o777, 0o700)


class IndexCrashes(IndexCase):
    def test_kill_at_any_moment_loses_nothing(self):
        calls = {}
        for n in range(12):
            session = self.server.create(f'deploy {n}')['id']
            (call,) = self.server.open_calls(session)
            calls[call['id']] = 'waiting'
            if n % 2:
                self.assertStatus(self.server.result(call['id'], 'live'), 200)
                calls[call['id']] = 'completed'
            if n % 3 == 0:
                self.restart()
        self.restart()
        self.caught_up()
        self.assertEqual({call: self.files.status(call) for call in calls}, calls)
        self.server.term()
        index = self.files.index()
        self.assertEqual({call: status for status, ids in index['byStatus'].items()
                          for call in ids}, calls)
        self.assertEqual([name for name in self.files.names() if name.endswith('.new')], [])
        self.server.start()

    def test_appends_without_the_index_are_in_it_afterwards(self):
        _, before = self.waiting()
        self.server.term()
        self.server.arguments = ['--store', 'sqlite']
        self.server.start()
        self.assertStatus(self.server.result(before['id'], 'live'), 200)
        session = self.server.create(DEPLOY)['id']
        (during,) = self.server.open_calls(session)
        self.server.term()
        self.server.arguments = list(self.arguments)
        self.server.start()
        self.ready()
        self.assertEqual(self.files.status(before['id']), 'completed')
        self.assertEqual(self.files.status(during['id']), 'waiting')
        self.assertIn(b'dormouse_index_rebuilds_total{index="files"} 0',
                      self.server.get('/metrics').raw, 'it read the feed only')

    def test_ready_only_after_the_index_has_caught_up(self):
        self.server.term()
        self.server.arguments = ['--store', 'sqlite']
        self.server.start()
        calls = [self.server.open_calls(self.server.create(DEPLOY)['id'])[0] for _ in range(20)]
        self.server.term()
        self.server.arguments = list(self.arguments)
        self.server.start()
        answers = []
        wait_for(lambda: answers.append(self.server.get('/readyz')) or answers[-1].status == 200,
                 what='readiness')
        self.assertEqual([self.files.status(call['id']) for call in calls], ['waiting'] * 20)
        for answer in answers[:-1]:
            self.assertProblem(answer, 503, 'recovering')


class IndexDamage(IndexCase):
    """Each test damages the files of a stopped server."""

    def setUp(self):
        super().setUp()
        self.open_session, self.open = self.waiting()
        self.closed_session, self.closed = self.waiting('deploy B')
        self.settled(self.closed)
        self.server.at_rest(self.closed_session)
        self.caught_up()
        self.server.term()
        self.good = self.contents()
        self.server.start()

    def contents(self):
        return {name: (self.files.top / name).read_text() for name in self.files.names()
                if (self.files.top / name).is_file() and not name.endswith('index.json')}

    def rebuilt(self, damage):
        """The files are as before once the server has found the damage."""
        self.restart(damage)
        self.caught_up()
        self.assertIn(b'dormouse_index_rebuilds_total{index="files"} 1',
                      self.server.get('/metrics').raw)
        self.assertEqual(self.contents(), self.good)
        self.server.term()
        self.assertEqual(sorted(self.files.index()['bySession']),
                         sorted([self.open_session, self.closed_session]))

    def index_file(self):
        return self.files.calls / 'index.json'

    def test_undamaged_files_are_not_written_again(self):
        times = {name: (self.files.top / name).stat().st_mtime_ns for name in self.good}
        self.restart()
        self.assertEqual(times, {name: (self.files.top / name).stat().st_mtime_ns
                                 for name in self.good})

    def test_everything_is_missing(self):
        self.rebuilt(lambda: shutil.rmtree(self.files.top))

    def test_index_is_missing(self):
        self.rebuilt(self.index_file().unlink)

    def test_index_is_cut(self):
        self.rebuilt(lambda: os.truncate(self.index_file(), 100))

    def test_index_was_changed_by_hand(self):
        self.rebuilt(lambda: self.index_file().write_text(
            self.index_file().read_text().replace('"waiting"', '"Waiting"')))

    def test_index_has_other_types(self):
        self.rebuilt(lambda: self.index_file().write_text('{"bySession":[],"byStatus":7}'))

    def test_index_is_nested_without_end(self):
        self.rebuilt(lambda: self.index_file().write_text('[' * 1_000_000))

    def test_index_is_huge(self):
        self.rebuilt(lambda: os.truncate(self.index_file(), 2 << 30))

    def test_index_is_a_pipe(self):
        def damage():
            self.index_file().unlink()
            os.mkfifo(self.index_file())
        self.rebuilt(damage)

    def test_call_is_missing(self):
        self.rebuilt((self.files.calls / f'{self.open["id"]}.json').unlink)

    def test_session_is_missing(self):
        self.rebuilt((self.files.sessions / 'default' / f'{self.open_session}.json').unlink)

    def test_stale_files_are_removed_and_others_stay(self):
        note = self.files.calls / 'README'

        def damage():
            self.index_file().unlink()
            stale = self.open['id'][:-4] + 'AAAA'
            (self.files.calls / f'{stale}.json').write_text('{}')
            (self.files.calls / '.x.json.new').write_text('{')
            (self.files.sessions / 'default' / 'ses_AAAAAAAAAAAAAAAAAAAAAA.json').write_text('{}')
            note.write_text('mine')
            self.good[str(note.relative_to(self.files.top))] = 'mine'
        self.rebuilt(damage)

    def test_links_are_replaced_and_not_followed(self):
        outside = pathlib.Path(self.server.own, 'outside')
        outside.write_text('untouched')
        call = self.files.calls / f'{self.open["id"]}.json'

        def damage():
            call.unlink()
            call.symlink_to(outside)
            (self.files.calls / f'.{call.name}.new').symlink_to(outside)
        self.rebuilt(damage)
        self.assertEqual(outside.read_text(), 'untouched')
        self.assertFalse(call.is_symlink())

    def test_index_of_another_store(self):
        other = Server(*self.arguments)
        self.addCleanup(other.clean)
        session = other.create(DEPLOY)['id']
        (call,) = other.open_calls(session)
        for n in range(3):
            other.create(f'deploy {n}')
        wait_for(lambda: Files(other.directory).status(call['id']), what='its file')
        other.term()

        def damage():
            shutil.rmtree(self.files.top)
            shutil.copytree(Files(other.directory).top, self.files.top)
        self.rebuilt(damage)

    def test_store_was_restored_from_a_backup(self):
        target = pathlib.Path(self.server.own, 'backup')
        self.assertEqual(run('backup', str(target), '--data', self.server.directory).returncode, 0)
        self.settled(self.open)
        self.server.term()
        restored = pathlib.Path(self.server.own, 'restored')
        self.assertEqual(run('restore', str(target), '--data', str(restored)).returncode, 0)
        shutil.copytree(self.files.top, restored / 'storage')
        copy = Server(*self.arguments, directory=restored)
        self.addCleanup(copy.clean)
        wait_for(lambda: copy.get('/readyz').status == 200, what='readiness')
        self.assertEqual(Files(restored).status(self.open['id']), 'waiting')


class IndexCommands(IndexCase):
    def test_verify_rebuilds_the_files(self):
        _, call = self.waiting()
        self.caught_up()
        self.server.term()
        path = self.files.calls / f'{call["id"]}.json'
        good = path.read_text()
        path.write_text('{"status":"completed"}')
        done = run('verify', '--rebuild', '--data', self.server.directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(path.read_text(), good)
        self.server.start()
        self.ready()
        self.assertIn(b'dormouse_index_rebuilds_total{index="files"} 0',
                      self.server.get('/metrics').raw)

    def imported(self, *words, status=0):
        done = run('import', 'files', self.server.directory, *words, '--server',
                   f'http://127.0.0.1:{self.other.port}', env={'DORMOUSE_TOKEN': self.other.token})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_files_become_calls_and_sessions_of_another_server(self):
        _, waits = self.waiting()
        session, settled = self.waiting('deploy B')
        self.settled(settled)
        self.server.at_rest(session)
        self.caught_up()
        self.other = Server('--store', 'sqlite')
        self.addCleanup(self.other.clean)
        lines = dict(line.split() for line in self.imported().stdout.splitlines())
        self.assertEqual(sorted(lines), sorted([waits['id'], session]))
        new = self.other.get(f'/async-tool/pending/{lines[waits["id"]]}')
        self.assertEqual((new['status'], new['tool'], new['input'], new['reason']),
                         ('waiting', waits['tool'], waits['input'], 'tool_result'))
        self.assertAlmostEqual(new['timeout'], waits['timeout'], delta=60_000)
        (message,) = self.other.messages(lines[session])
        (part,) = message['parts']
        self.assertEqual((part['tool'], part['state']['output']), (settled['tool'], 'live'))
        # Once more: nothing new.
        again = self.imported()
        self.assertIn('2 were there already', again.stderr)
        self.assertEqual(len(self.other.items('/async-tool/pending')), 1)
        self.other.term()

    def test_damaged_files_are_named_and_left_out(self):
        _, call = self.waiting()
        self.caught_up()
        (self.files.calls / f'{call["id"][:-4]}AAAA.json').write_text('{"id":')
        (self.files.calls / f'{call["id"][:-4]}BBBB.json').symlink_to('/etc/passwd')
        self.other = Server('--store', 'sqlite')
        self.addCleanup(self.other.clean)
        done = self.imported(status=1)
        self.assertEqual(done.stderr.count('cannot be read'), 2, done.stderr)
        self.assertEqual(len(self.other.items('/async-tool/pending')), 1)
        self.other.term()

    def test_folder_without_files_is_refused(self):
        done = run('import', 'files', '/nonexistent')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('has no storage/pending_tool', done.stderr)


class IndexFails(IndexCase):
    def failed(self):
        (index,) = self.server.get('/api/doctor')['indexes']
        return index if index['state'] == 'failed' else None

    def test_file_in_place_of_the_folder_stops_the_index_alone(self):
        def damage():
            shutil.rmtree(self.files.top)
            self.files.top.write_text('in the way')
        self.restart(damage)
        self.assertIn('storage: something else has this name; remove it', self.failed()['why'])
        session = self.server.create(DEPLOY)['id']
        (call,) = self.server.open_calls(session)
        self.assertIn(b'dormouse_index_up{index="files"} 0', self.server.get('/metrics').raw)
        self.files.top.unlink()
        self.server.advance(31)
        wait_for(lambda: self.files.status(call['id']) == 'waiting', what='the call')
        self.caught_up()
        self.assertIn(b'dormouse_index_up{index="files"} 1', self.server.get('/metrics').raw)
        log = self.server.log.read_text()
        self.assertEqual(log.count('an index cannot be written'), 1, log)
        self.assertEqual(log.count('an index works again'), 1, log)

    def test_linked_folder_is_refused(self):
        outside = pathlib.Path(self.server.own, 'outside')
        outside.mkdir()

        def damage():
            shutil.rmtree(self.files.calls)
            self.files.calls.symlink_to(outside)
        self.restart(damage)
        self.assertIn('pending_tool', self.failed()['why'])
        self.server.create(DEPLOY)
        self.assertEqual(list(outside.iterdir()), [])

    def test_file_that_is_a_folder_is_named(self):
        session, call = self.waiting()
        path = self.files.calls / f'{call["id"]}.json'

        def damage():
            path.unlink()
            (path / 'inner').mkdir(parents=True)
        self.restart(damage)
        self.assertIn(call['id'], self.failed()['why'])
        shutil.rmtree(path)
        self.server.advance(31)
        wait_for(lambda: self.files.status(call['id']) == 'waiting', what='the call')


class IndexOptions(Case):
    def setUp(self):
        self.server = Server(start=False)
        self.addCleanup(self.server.clean)

    def test_unknown_index_is_refused(self):
        done = run('serve', '--no-config', '--index', 'mongodb://x', '--data', '/nonexistent/x')
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn('--index: write files', done.stderr)

    def test_index_of_the_configuration_is_written(self):
        server = self.configured('[store]\nindex = ["files"]\n')
        session = server.create(DEPLOY)['id']
        (call,) = server.open_calls(session)
        files = Files(server.directory)
        wait_for(lambda: files.status(call['id']) == 'waiting', what='the file')

    def test_store_in_memory_begins_again(self):
        self.server = Server('--store', 'memory', '--index', 'files')
        self.addCleanup(self.server.clean)
        files = Files(self.server.directory)
        session = self.server.create(DEPLOY)['id']
        (call,) = self.server.open_calls(session)
        wait_for(lambda: files.status(call['id']) == 'waiting', what='the file')
        self.server.kill()
        self.server.start()
        wait_for(lambda: self.server.get('/readyz').status == 200, what='readiness')
        self.assertIsNone(files.status(call['id']))
        self.server.term()


if __name__ == '__main__':
    main()
