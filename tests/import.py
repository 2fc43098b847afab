#!/usr/bin/env python3
"""`dormouse import`: sessions of opencode out of each form that it has kept them in, once; what
cannot be read is named."""
import json
import pathlib
import sqlite3
import tempfile

from dormouse import Case, main, run

SECRET = 'sk-do-not-read-this'


def part(number, **data):
    return {'id': f'prt_{number}', **data}


MESSAGES = [
    ('msg_2', {'role': 'user', 'time': {'created': 1700000000000}},
     [part(1, type='text', text='list the files')]),
    ('msg_1', {'role': 'assistant', 'time': {'created': 1700000001000}},  # ids are in no order
     [part(2, type='step-start'), part(3, type='reasoning', text='hm'),
      part(4, type='tool', callID='c1', tool='bash',
           state={'status': 'completed', 'input': {'command': 'ls'}, 'output': 'a\nb',
                  'title': 'ls', 'metadata': {}, 'time': {'start': 1, 'end': 2}}),
      part(5, type='tool', callID='c2', tool='bash',
           state={'status': 'running', 'input': {'command': 'sleep'}, 'time': {'start': 1}}),
      part(6, type='text', text='a and b')]),
]


class Import(Case):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def database(self, sessions=('ses_one',), folder=None):
        file = (folder or self.folder) / 'opencode.db'
        base = sqlite3.connect(file)
        base.execute('PRAGMA journal_mode=WAL')
        base.executescript(
            'CREATE TABLE session(id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT,'
            ' directory TEXT, title TEXT, time_created INTEGER, time_updated INTEGER);'
            'CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,'
            ' time_updated INTEGER, data TEXT);'
            'CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT,'
            ' time_created INTEGER, time_updated INTEGER, data TEXT);'
            'CREATE TABLE account(secret TEXT);')
        base.execute('INSERT INTO account VALUES (?)', (SECRET,))
        for number, session in enumerate(sessions):
            base.execute('INSERT INTO session VALUES (?, ?, NULL, ?, ?, ?, ?)',
                         (session, 'global', '/srv/app', f'Title {number}', number, number))
            for id, info, parts in MESSAGES:
                base.execute('INSERT INTO message VALUES (?, ?, ?, ?, ?)',
                             (session + id, session, info['time']['created'], 0, json.dumps(info)))
                for each in parts:
                    data = {k: v for k, v in each.items() if k != 'id'}
                    base.execute('INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)',
                                 (session + each['id'], session + id, session, 0, 0,
                                  json.dumps(data)))
        base.commit()
        self.addCleanup(base.close)  # what it holds is partly in its log only
        return base

    def tree(self, session='ses_tree'):
        storage = self.folder / 'storage'

        def write(path, value):
            file = storage / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(value if isinstance(value, str) else json.dumps(value))

        write(f'session/global/{session}.json',
              {'id': 'stale', 'title': 'Old', 'directory': '/old', 'time': {'created': 5}})
        for id, info, parts in MESSAGES:
            write(f'message/{session}/{id}.json', info)
            for each in parts:
                write(f'part/{id}/{each["id"]}.json', each)
        write('auth.json', {'key': SECRET})
        return write

    def exported(self, session='ses_file', **more):
        file = self.folder / 'export.json'
        file.write_text(json.dumps({
            'info': {'id': session, 'title': 'Exported', 'directory': '/x', 'time': {'created': 9}},
            'messages': [{'info': {'id': id, **info}, 'parts': parts}
                         for id, info, parts in MESSAGES], **more}))
        return file

    def run_import(self, *words, status=0):
        done = run('import', *words, '--agent', 'demo', '--server',
                   f'http://127.0.0.1:{self.server.port}', '--data', self.server.directory)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertNotIn(SECRET, done.stdout + done.stderr)
        return done

    def sessions(self):
        return self.server.items('/api/projects/default/sessions')

    def assertWhole(self, session):
        user, assistant = self.server.messages(session['id'])
        self.assertEqual((user['role'], user['source']['type']), ('user', 'import'))
        self.assertEqual(user['parts'][0]['text'], 'list the files')
        self.assertEqual(user['time']['created'], 1700000000000)
        kinds = [p['type'] for p in assistant['parts']]
        self.assertEqual(kinds, ['reasoning', 'tool', 'tool', 'text'])
        done, open_ = [p['state'] for p in assistant['parts'] if p['type'] == 'tool']
        self.assertEqual((done['status'], done['output']), ('completed', 'a\nb'))
        self.assertEqual((open_['status'], open_['reason']), ('error', 'unknown'))
        self.assertEqual(self.server.session(session['id'])['activity'], {'type': 'idle'})
        self.server.prompt(session['id'], 'go on')
        self.assertEqual(self.server.said(session['id']),  # the model is shown what was
                         'bash ls: a\nb\nbash sleep failed: It had not ended.\n'
                         'You said: go on')


class Forms(Import):
    def test_the_database_as_it_is_being_written(self):
        self.database()
        done = self.run_import(self.folder)
        self.assertIn('imported 1, there already 0', done.stdout)
        session, = self.sessions()
        self.assertEqual((session['title'], session['labels'], session['forkedFrom']),
                         ('Title 0', {'source': 'opencode:ses_one', 'cwd': '/srv/app'}, None))
        self.assertWhole(session)
        self.assertEqual(sorted(f.name for f in self.folder.iterdir() if 'shm' not in f.name),
                         ['opencode.db', 'opencode.db-wal'], 'nothing was changed there')

    def test_the_older_tree(self):
        self.tree()
        self.run_import(self.folder)
        session, = self.sessions()
        self.assertEqual(session['labels']['source'], 'opencode:ses_tree', 'the name, not the text')
        self.assertWhole(session)

    def test_an_exported_file(self):
        self.run_import(self.exported())
        session, = self.sessions()
        self.assertEqual(session['title'], 'Exported')
        self.assertWhole(session)

    def test_a_folder_with_both(self):
        self.database()
        self.tree()
        self.assertIn('imported 2', self.run_import(self.folder).stdout)


class Again(Import):
    def test_twice_is_once_and_what_changed_is_named(self):
        base = self.database(['ses_one', 'ses_two'])
        self.run_import(self.folder)
        done = self.run_import(self.folder)
        self.assertIn('imported 0, there already 2', done.stdout)
        self.server.restart()
        base.execute("INSERT INTO message VALUES ('m', 'ses_two', 1800000000000, 0, ?)",
                     (json.dumps({'role': 'user'}),))
        base.execute("INSERT INTO part VALUES ('p', 'm', 'ses_two', 0, 0, ?)",
                     (json.dumps({'type': 'text', 'text': 'more'}),))
        base.commit()
        done = self.run_import(self.folder, status=1)
        self.assertIn('there already 1, changed since 1', done.stdout)
        self.assertIn('ses_two', done.stderr)
        self.assertEqual(len(self.sessions()), 2)

    def test_a_dry_run_changes_nothing(self):
        self.database()
        done = self.run_import(self.folder, '--dry-run')
        self.assertIn('ses_one  2 messages  Title 0', done.stdout)
        self.assertIn('would import 1', done.stdout)
        self.assertEqual(self.sessions(), [])


class Mistakes(Import):
    def test_what_cannot_be_read_is_named_and_the_rest_is_imported(self):
        write = self.tree()
        write('session/global/ses_bad.json', '{"id":')
        write('part/msg_1/prt_9.json', '[]')
        done = self.run_import(self.folder, status=1)
        self.assertIn('ses_bad.json', done.stderr)
        self.assertIn('prt_9.json', done.stderr)
        self.assertIn('imported 1', done.stdout)
        self.assertWhole(self.sessions()[0])

    def test_a_row_that_is_no_json(self):
        base = self.database()
        base.execute("INSERT INTO part VALUES ('p', 'ses_onemsg_1', 'ses_one', 0, 0, 'x')")
        base.commit()
        self.assertIn('part p', self.run_import(self.folder, status=1).stderr)
        self.assertWhole(self.sessions()[0])

    def test_a_path_that_holds_no_sessions(self):
        self.run_import(self.folder / 'none', status=3)
        self.assertIn('neither', self.run_import(self.folder, status=2).stderr)
        file = self.folder / 'x.json'
        for text in ('{', '{}', '[1]', '{"info":{},"messages":[]}'):
            file.write_text(text)
            self.run_import(file, status=2)
        base = sqlite3.connect(self.folder / 'other.db')
        base.execute('CREATE TABLE t(x)')
        base.close()
        self.assertIn('opencode', self.run_import(self.folder / 'other.db', status=2).stderr)

    def test_a_long_transcript_comes_in_parts_once(self):
        def write(last):
            file = self.folder / 'long.json'
            file.write_text(json.dumps({
                'info': {'id': 'ses_long', 'title': 'Long', 'directory': '/x',
                         'time': {'created': 9}},
                'messages': [{'info': {'id': f'msg_{i}', 'role': 'user', 'time': {'created': i}},
                              'parts': [part(i, type='text', text=f'{i} ' + 'x' * (1 << 20))]}
                             for i in range(19)] + [
                    {'info': {'id': 'msg_z', 'role': 'user', 'time': {'created': 99}},
                     'parts': [part(99, type='text', text=last)]}]}))
            return file

        self.run_import(write('the end'))
        (session,) = self.sessions()
        self.assertEqual(session['messageCount'], 20)
        said = [m['parts'][0]['text'] for m in self.server.messages(session['id'])]
        self.assertEqual([text.split()[0] for text in said[:19]], [str(i) for i in range(19)])
        self.assertEqual(said[19], 'the end')
        ids = {m['id'] for m in self.server.messages(session['id'])}
        self.assertEqual(len(ids), 20)
        self.assertIn('there already 1', self.run_import(write('the end')).stdout)
        self.assertIn('changed since', self.run_import(write('another end'), status=1).stderr)
        self.server.restart()
        self.assertEqual(self.sessions()[0]['messageCount'], 20)
        path = f'/api/sessions/{session["id"]}/import'
        more = [{'role': 'user', 'parts': [{'type': 'text', 'text': 'x'}]}]
        self.assertProblem(self.server.post(path, {'part': 9, 'messages': more}), 409, 'not_ready')
        self.assertProblem(self.server.post(path, {'part': 1, 'messages': more}), 400, 'bad_value')
        self.server.prompt(session['id'], 'go on')
        self.assertProblem(self.server.post(path, {'part': 5, 'messages': more}), 409,
                           'wrong_state')

    def test_the_route_refuses_what_is_not_right(self):
        path = '/api/projects/default/import'
        good = {'role': 'user', 'parts': [{'type': 'text', 'text': 'x'}]}
        for messages in ([], [{**good, 'role': 'x'}], [{**good, 'parts': []}], [3],
                         [{**good, 'at': -1}], [{**good, 'parts': [{'type': 'image'}]}],
                         [{**good, 'parts': [{'type': 'tool', 'tool': 'a'}]}],
                         [{**good, 'parts': [{'type': 'text'}]}]):
            answer = self.server.post(path, {'agentID': 'demo', 'messages': messages})
            self.assertProblem(answer, 400, answer['code'])
        answer = self.server.post(path, {'agentID': 'none', 'messages': [good]})
        self.assertProblem(answer, 400, 'bad_value')
        self.assertEqual(self.sessions(), [])


if __name__ == '__main__':
    main()
