#!/usr/bin/env python3
"""`dormouse import`: imports sessions of opencode from each form it has stored them in, once;
unreadable ones are named."""
import base64
import hashlib
import json
import pathlib
import sqlite3
import tempfile

from acp import Programs
from dormouse import Case, main, run

SECRET = 'sk-do-not-read-this'
PNG = b'\x89PNG\r\n\x1a\n' + bytes(range(60))


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


def data_url(mime, data):
    return f'data:{mime};base64,{base64.b64encode(data).decode()}'


def file(number, url, **more):
    return part(number, type='file', url=url, **more)


class Import(Case):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def database(self, sessions=('ses_one',), folder=None, messages=MESSAGES):
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
            for id, info, parts in messages:
                base.execute('INSERT INTO message VALUES (?, ?, ?, ?, ?)',
                             (session + id, session, info['time']['created'], 0, json.dumps(info)))
                for each in parts:
                    data = {k: v for k, v in each.items() if k != 'id'}
                    base.execute('INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)',
                                 (session + each['id'], session + id, session, 0, 0,
                                  json.dumps(data)))
        base.commit()
        self.addCleanup(base.close)  # part of its data is only in its log
        return base

    def tree(self, session='ses_tree', messages=MESSAGES):
        storage = self.folder / 'storage'

        def write(path, value):
            file = storage / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(value if isinstance(value, str) else json.dumps(value))

        write(f'session/global/{session}.json',
              {'id': 'stale', 'title': 'Old', 'directory': '/old', 'time': {'created': 5}})
        for id, info, parts in messages:
            write(f'message/{session}/{id}.json', info)
            for each in parts:
                write(f'part/{id}/{each["id"]}.json', each)
        write('auth.json', {'key': SECRET})
        return write

    def exported(self, session='ses_file', messages=MESSAGES, **more):
        file = self.folder / 'export.json'
        file.write_text(json.dumps({
            'info': {'id': session, 'title': 'Exported', 'directory': '/x', 'time': {'created': 9}},
            'messages': [{'info': {'id': id, **info}, 'parts': parts}
                         for id, info, parts in messages], **more}))
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
        self.server.prompt(session['id'], 'continue')
        self.assertEqual(self.server.last_text(session['id']),  # what the model was shown
                         'bash ls: a\nb\nbash sleep failed: It had not ended.\n'
                         'You said: continue')


class IntoAProgram(Programs):
    def run_import(self, folder, status):
        file = self.folder / 'export.json'
        file.write_text(json.dumps({
            'info': {'id': 'ses_x', 'title': 'X', 'directory': str(folder), 'time': {'created': 9}},
            'messages': [{'info': {'id': id, **info}, 'parts': parts}
                         for id, info, parts in MESSAGES]}))
        done = run('import', file, '--agent', 'fake', '--server',
                   f'http://127.0.0.1:{self.server.port}', '--data', self.server.directory)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_session_continues_in_the_folder_that_it_had(self):
        (self.work / 'app').mkdir()
        folder = str((self.work / 'app').resolve())
        self.run_import(folder, 0)
        (session,) = self.server.items('/api/projects/default/sessions')
        self.assertEqual(session['cwd'], folder)
        self.assertEqual(session['labels'], {'source': 'opencode:ses_x'})
        self.server.prompt(session['id'], 'continue')
        self.assertEqual(self.log('session/new')[0]['cwd'], folder)

    def test_session_of_a_folder_outside_of_the_roots_is_named(self):
        self.assertIn('outside of the agent', self.run_import('/etc', 1))
        self.assertEqual(self.server.items('/api/projects/default/sessions'), [])


class Forms(Import):
    def test_database_as_it_is_being_written(self):
        self.database()
        done = self.run_import(self.folder)
        self.assertIn('imported 1, there already 0', done.stdout)
        session, = self.sessions()
        self.assertEqual((session['title'], session['labels'], session['forkedFrom']),
                         ('Title 0', {'source': 'opencode:ses_one', 'cwd': '/srv/app'}, None))
        self.assertWhole(session)
        self.assertEqual(sorted(f.name for f in self.folder.iterdir() if 'shm' not in f.name),
                         ['opencode.db', 'opencode.db-wal'], 'nothing was changed there')

    def test_older_tree(self):
        self.tree()
        self.run_import(self.folder)
        session, = self.sessions()
        self.assertEqual(session['labels']['source'], 'opencode:ses_tree', 'the name, not the text')
        self.assertWhole(session)

    def test_exported_file(self):
        self.run_import(self.exported())
        session, = self.sessions()
        self.assertEqual(session['title'], 'Exported')
        self.assertWhole(session)

    def test_folder_with_both(self):
        self.database()
        self.tree()
        self.assertIn('imported 2', self.run_import(self.folder).stdout)


class Files(Import):
    """Files of messages, from each form."""

    def setUp(self):
        super().setUp()
        self.secret = self.folder / 'passwd'
        self.secret.write_text(SECRET)
        tool = {'status': 'completed', 'input': {}, 'output': 'seen', 'title': '', 'metadata': {},
                'time': {'start': 1, 'end': 2},
                'attachments': [{'type': 'file', 'mime': 'text/csv', 'filename': 't.csv',
                                 'url': 'data:text/csv,a%2Cb'}]}
        self.messages = [
            ('msg_1', {'role': 'user', 'time': {'created': 1700000000000}},
             [part(1, type='text', text='look'),
              file(2, data_url('image/png', PNG), mime='image/png', filename='dot.png'),
              file(3, data_url('application/pdf', b'%PDF-x'), mime='application/pdf',
                   filename='docs/a b.pdf'),
              file(4, 'https://example.org/far.png', mime='image/png', filename='far.png'),
              file(5, f'file://{self.secret}', mime='text/plain', filename='passwd')]),
            ('msg_2', {'role': 'assistant', 'time': {'created': 1700000001000}},
             [part(6, type='tool', callID='c1', tool='read', state=tool)]),
        ]

    def artifact(self, part):
        answer = self.server.get(f'/api/artifacts/{part["artifactID"]}')
        self.assertStatus(answer, 200)
        self.assertEqual(len(answer.raw), part['bytes'])
        return answer

    def assertFiles(self):
        session, = self.sessions()
        user, assistant = self.server.messages(session['id'])
        text, image, pdf, far, near = user['parts']
        self.assertEqual((image['type'], image['mime'], image['name'], image['url']),
                         ('image', 'image/png', 'dot.png', None))
        self.assertEqual(self.artifact(image).raw, PNG)
        self.assertEqual(self.artifact(image).headers['Content-Type'], 'image/png')
        self.assertEqual((pdf['type'], pdf['mime'], pdf['name']),
                         ('file', 'application/pdf', 'a b.pdf'))
        self.assertEqual(self.artifact(pdf).raw, b'%PDF-x')
        self.assertEqual(far['text'], '[far.png: https://example.org/far.png]')
        self.assertEqual(near['text'], f'[passwd: file://{self.secret}]')
        self.assertEqual([p['type'] for p in assistant['parts']], ['tool', 'file'])
        self.assertEqual(self.artifact(assistant['parts'][1]).raw, b'a,b')
        emitted = [e['data'] for e in self.server.events(session['id'])
                   if e['type'] == 'artifact_emitted']
        self.assertEqual([e['digest'] for e in emitted][0],
                         'sha256:' + hashlib.sha256(PNG).hexdigest())
        self.assertEqual(len(emitted), 3)
        self.server.prompt(session['id'], 'continue')
        fork = self.server.post(f'/api/sessions/{session["id"]}/fork', {})
        self.assertStatus(fork, 201)
        self.assertEqual(self.artifact(self.server.messages(fork['id'])[0]['parts'][1]).raw, PNG)

    def imported_twice(self, path):
        done = self.run_import(path)
        self.assertIn('files 3, left out 0', done.stdout)
        self.server.restart()
        self.assertIn('there already 1', self.run_import(path).stdout)
        self.assertFiles()

    def test_out_of_the_database(self):
        self.database(messages=self.messages)
        self.imported_twice(self.folder)

    def test_out_of_the_older_tree(self):
        self.tree(messages=self.messages)
        self.imported_twice(self.folder)

    def test_out_of_an_exported_file(self):
        self.imported_twice(self.exported(messages=self.messages))

    def test_large_or_broken_files_are_named_the_rest_imported(self):
        id, info, parts = self.messages[0]
        parts += [file(7, data_url('text/plain', b'x' * (5 << 20) + b'y'), filename='big.bin'),
                  file(8, 'data:text/plain;base64,*', filename='broken.txt')]
        done = self.run_import(self.exported(messages=self.messages), status=1)
        self.assertIn('imported 1', done.stdout)
        self.assertIn('files 3, left out 2', done.stdout)
        self.assertIn('big.bin of message msg_1 in session ses_file (larger than 5 MiB)',
                      done.stderr)
        self.assertIn('broken.txt of message msg_1', done.stderr)
        self.assertFiles_of_the_first('[big.bin]', '[broken.txt]')

    def assertFiles_of_the_first(self, *texts):
        session, = self.sessions()
        parts = self.server.messages(session['id'])[0]['parts']
        self.assertEqual([p.get('text') for p in parts[-len(texts):]], list(texts))

    def test_files_that_need_several_requests_come_once(self):
        parts = [[file(i, data_url('application/x-t', bytes([i]) * (4 << 20)), filename=f'{i}.t')]
                 for i in range(4)]
        messages = [(f'msg_{i}', {'role': 'user', 'time': {'created': 5 + i}}, parts[i])
                    for i in range(4)]
        path = self.exported(messages=messages)
        self.assertIn('files 4, left out 0', self.run_import(path).stdout)
        self.assertIn('there already 1', self.run_import(path).stdout)
        session, = self.sessions()
        for i, message in enumerate(self.server.messages(session['id'])):
            self.assertEqual(self.artifact(message['parts'][0]).raw, bytes([i]) * (4 << 20))

    def test_route_takes_bytes_and_no_addresses(self):
        path = '/api/projects/default/import'
        good = {'type': 'file', 'mime': 'text/plain', 'data': 'eA=='}
        for more in ({'url': 'https://example.org/'}, {'data': '*'}, {'data': None},
                     {'mime': 'x'}, {'name': 'a/b'}, {'type': 'image', 'mime': 'image/png'}):
            part = {k: v for k, v in {**good, **more}.items() if v is not None}
            answer = self.server.post(path, {'agentID': 'demo', 'messages': [
                {'role': 'user', 'parts': [part]}]})
            self.assertProblem(answer, 400, answer['code'])
        large = {**good, 'data': base64.b64encode(b'x' * (5 << 20) + b'y').decode()}
        answer = self.server.post(path, {'agentID': 'demo', 'messages': [
            {'role': 'user', 'parts': [large]}]})
        self.assertProblem(answer, 413, 'too_large')
        self.assertEqual(self.sessions(), [])


class Again(Import):
    def test_repeat_imports_once_and_names_changes(self):
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

    def test_dry_run_changes_nothing(self):
        self.database()
        done = self.run_import(self.folder, '--dry-run')
        self.assertIn('ses_one  2 messages  Title 0', done.stdout)
        self.assertIn('would import 1', done.stdout)
        self.assertEqual(self.sessions(), [])


class Mistakes(Import):
    def test_unreadable_sessions_are_named_the_rest_imported(self):
        write = self.tree()
        write('session/global/ses_bad.json', '{"id":')
        write('part/msg_1/prt_9.json', '[]')
        done = self.run_import(self.folder, status=1)
        self.assertIn('ses_bad.json', done.stderr)
        self.assertIn('prt_9.json', done.stderr)
        self.assertIn('imported 1', done.stdout)
        self.assertWhole(self.sessions()[0])

    def test_row_that_is_no_json(self):
        base = self.database()
        base.execute("INSERT INTO part VALUES ('p', 'ses_onemsg_1', 'ses_one', 0, 0, 'x')")
        base.commit()
        self.assertIn('part p', self.run_import(self.folder, status=1).stderr)
        self.assertWhole(self.sessions()[0])

    def test_path_that_holds_no_sessions(self):
        self.run_import(self.folder / 'none', status=3)
        self.assertIn('neither', self.run_import(self.folder, status=2).stderr)
        file = self.folder / 'x.json'
        for text in ('{', '{}', '[1]', '{"info":{},"messages":[]}'):
            file.write_text(text)
            self.run_import(file, status=2)
        file.write_text('')
        self.assertIn(f'{file} is empty', self.run_import(file, status=2).stderr)
        base = sqlite3.connect(self.folder / 'other.db')
        base.execute('CREATE TABLE t(x)')
        base.close()
        self.assertIn('opencode', self.run_import(self.folder / 'other.db', status=2).stderr)

    def test_long_transcript_comes_in_parts_once(self):
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
        texts = [m['parts'][0]['text'] for m in self.server.messages(session['id'])]
        self.assertEqual([text.split()[0] for text in texts[:19]], [str(i) for i in range(19)])
        self.assertEqual(texts[19], 'the end')
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
        self.server.prompt(session['id'], 'continue')
        self.assertProblem(self.server.post(path, {'part': 5, 'messages': more}), 409,
                           'wrong_state')

    def test_route_refuses_invalid_bodies(self):
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


class Transcripts(Import):
    """Transcripts of other agents become readable sessions that an agent continues."""

    def lines(self, name, *records):
        file = self.folder / name
        file.write_text(''.join(json.dumps(record) + '\n' for record in records))
        return file

    def claude_code(self, session='s1', prompt='list the files'):
        def entry(kind, uuid, parent, content):
            return {'type': kind, 'uuid': uuid, 'parentUuid': parent, 'sessionId': session,
                    'cwd': '/srv/app', 'timestamp': '2026-01-31T12:00:00.250Z',
                    'message': {'role': kind, 'content': content}}
        return self.lines(
            f'{session}.jsonl', entry('user', '1', None, prompt),
            entry('assistant', '2', '1',
                  [{'type': 'thinking', 'thinking': 'hm'},
                   {'type': 'tool_use', 'id': 'c1', 'name': 'Bash', 'input': {'command': 'ls'}}]),
            entry('user', '3', '2',
                  [{'type': 'tool_result', 'tool_use_id': 'c1', 'content': 'a\nb'}]),
            entry('assistant', '4', '3', [{'type': 'text', 'text': 'a and b'}]))

    def codex(self):
        def item(**payload):
            return {'timestamp': '2026-01-31T12:00:00.250Z', 'type': 'response_item',
                    'payload': payload}
        return self.lines(
            'rollout-1.jsonl',
            {'type': 'session_meta', 'payload': {'id': 's2', 'cwd': '/srv/app'}},
            item(type='message', role='user',
                 content=[{'type': 'input_text', 'text': 'list the files'}]),
            item(type='reasoning', summary=[{'type': 'summary_text', 'text': 'hm'}]),
            item(type='function_call', name='Bash', arguments='{"command": "ls"}', call_id='c1'),
            item(type='function_call_output', call_id='c1', output='a\nb'),
            item(type='message', role='assistant',
                 content=[{'type': 'output_text', 'text': 'a and b'}]))

    def gemini(self):
        file = self.folder / 'session-1.json'
        file.write_text(json.dumps({'sessionId': 's3', 'projectHash': 'h', 'messages': [
            {'id': '1', 'type': 'user', 'timestamp': '2026-01-31T12:00:00.250Z',
             'content': 'list the files'},
            {'id': '2', 'type': 'gemini', 'timestamp': '2026-01-31T12:00:01Z', 'content': '',
             'thoughts': [{'subject': 'h', 'description': 'm'}],
             'toolCalls': [{'id': 'c1', 'name': 'Bash', 'args': {'command': 'ls'},
                            'status': 'success', 'result': [{'functionResponse': {
                                'id': 'c1', 'response': {'output': 'a\nb'}}}]}]},
            {'id': '3', 'type': 'gemini', 'timestamp': '2026-01-31T12:00:02Z',
             'content': 'a and b'}]}))
        return file

    def test_each_program(self):
        for program, file, source in (('claude-code', self.claude_code(), 'claude-code:s1'),
                                      ('codex', self.codex(), 'codex:s2'),
                                      ('gemini', self.gemini(), 'gemini:s3')):
            with self.subTest(program=program):
                self.assertIn('imported 1', self.run_import(program, str(file)).stdout)
                session = self.sessions()[0]
                self.assertEqual(session['title'], 'list the files')
                self.assertEqual(session['labels']['source'], source)
                user, assistant = self.server.messages(session['id'])
                self.assertEqual(user['time']['created'], 1769860800250)
                self.assertEqual([p['type'] for p in assistant['parts']],
                                 ['reasoning', 'tool', 'text'])
                state = assistant['parts'][1]['state']
                self.assertEqual((state['status'], state['input'], state['output']),
                                 ('completed', {'command': 'ls'}, 'a\nb'))
                self.assertEqual(self.server.session(session['id'])['activity'],
                                 {'type': 'idle'})
                self.server.prompt(session['id'], 'continue')
                self.assertEqual(self.server.last_text(session['id']),
                                 'Bash ls: a\nb\nYou said: continue')
                self.assertIn('there already 1', self.run_import(program, str(file)).stdout)

    def test_several_files_and_those_that_are_none(self):
        first, second = self.claude_code(), self.claude_code('s9', 'what now')
        other = self.lines('other.jsonl', {'type': 'other'})
        done = self.run_import('claude-code', str(first), str(other), str(second), status=1)
        self.assertIn('imported 2', done.stdout)
        self.assertIn('other.jsonl: it holds no message of claude-code', done.stderr)
        bad = self.lines('s10.jsonl', *[json.loads(line) for line in
                                        self.claude_code('s10').read_text().splitlines()])
        bad.write_text('{"broken\n' + bad.read_text())
        done = self.run_import('claude-code', str(bad), status=1)
        self.assertIn('imported 1', done.stdout)
        self.assertIn('s10.jsonl, line 1: ', done.stderr)
        self.assertIn('there is no file', self.run_import('codex', '/nowhere', status=1).stderr)


if __name__ == '__main__':
    main()
