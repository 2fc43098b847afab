#!/usr/bin/env python3
"""Questions to people with a form, with files and in Markdown, and calls that are reassigned: over
HTTP, on the command line and on the page without script."""
import base64
import json
import pathlib
import tempfile

from dormouse import Client, Server, main, run
from page import Person
from rights import Rights
from tools_by_config import Tools

USAGE = 2
PNG = bytes.fromhex('89504e470d0a1a0a') + b'picture'
FORM = {
    'type': 'object',
    'properties': {
        'count': {'type': 'integer', 'minimum': 1, 'title': '<b>How many</b>'},
        'region': {'enum': ['eu', 'us']},
    },
    'required': ['count'],
    'additionalProperties': False,
}


def file_of(name, data, mime='text/plain'):
    return {'name': name, 'mime': mime, 'data': base64.b64encode(data).decode()}


class Asks(Tools):
    def setUp(self):
        super().setUp()
        self.server = Server()
        self.addCleanup(self.server.clean)

    def asks(self, **arguments):
        session = self.server.create('ask ' + json.dumps({'question': 'Q?', **arguments}))['id']
        (call,) = self.server.open_calls(session)
        return session, call

    def answer(self, call, output, **more):
        body = {'pendingID': call['id'], 'result': {'output': output}, **more}
        return self.server.post('/async-tool/result', body)


class Forms(Asks):
    def test_answer_that_does_not_fit_names_where(self):
        session, call = self.asks(schema=FORM)
        self.assertEqual(call['schema'], FORM)
        for output, pointer in (
            ({'count': 0}, '/count'), ({'count': 'two'}, '/count'), ({}, ''), ('two', ''),
            ({'count': 1, 'region': 'asia'}, '/region'), ({'count': 1, 'else': 1}, '/else'),
        ):
            with self.subTest(output=output):
                problem = self.assertProblem(self.answer(call, output), 422, 'invalid_result')
                pointers = [one['pointer'] for one in problem['errors']]
                self.assertTrue(any(one in (pointer, '') for one in pointers), pointers)
        self.assertStatus(self.answer(call, {'count': 3, 'region': 'eu'}), 200)
        self.server.at_rest(session)
        self.assertIn('{"count":3,"region":"eu"}', self.server.last_text(session))

    def test_prompt_is_no_answer_to_a_form(self):
        session, call = self.asks(schema=FORM)
        path = f'/api/sessions/{session}/prompt'
        problem = self.assertProblem(self.server.post(path, {'text': '3'}), 422, 'wrong_kind')
        self.assertEqual(problem['ids'], [call['id']])
        self.assertStatus(self.server.post(path, {'text': 'later', 'when': 'queue'}), 202)

    def test_schema_that_is_none_fails_the_call(self):
        made = self.server.create('ask ' + json.dumps({
            'question': 'Q?', 'schema': {'properties': {'a': {'$ref': '#/none'}}},
        }))
        self.assertEqual(self.server.open_calls(made['id']), [])
        self.assertIn('the schema of the answer', self.server.last_text(made['id']))

    def test_page_without_script_takes_json(self):
        session, call = self.asks(schema=FORM)
        bob = Person(self.server, 'bob')
        page = bob.get(call['id'])
        self.assertIn('Answer (JSON)', page.text)
        self.assertNotIn('b', page.tags)  # the title in the schema is text
        self.assertIn('<b>How many</b>', page.text)
        hidden = {name: page.hidden[name] for name in ('token', 'inputDigest')}
        for answer, status in (('{', 400), ('{"count":0}', 422), ('{"count": 2}', 303)):
            sent = bob.send(call['id'], {**hidden, 'confirm': 'answer', 'answer': answer})
            self.assertEqual(sent.status, status, sent)
        self.server.at_rest(session)
        self.assertIn('{"count":2}', self.server.last_text(session))


class Files(Asks):
    def parts(self, session):
        (message,) = [one for one in self.server.messages(session)
                      if any(part['type'] in ('file', 'image') for part in one['parts'])]
        return message['parts']

    def test_files_come_with_the_answer_and_are_artifacts(self):
        session, call = self.asks(files=True)
        self.assertEqual(call['files'], 8)
        name = '"><img src=x onerror=alert(1)>.txt'
        files = [file_of('a.png', PNG, 'image/png'), file_of(name, b'hello')]
        self.assertStatus(self.answer(call, 'see there', files=files), 200)
        self.server.at_rest(session)
        text, image, other = self.parts(session)
        self.assertEqual(text['text'], 'see there')
        self.assertEqual((image['type'], image['bytes']), ('image', len(PNG)))
        self.assertEqual((other['type'], other['name']), ('file', name))
        stored = self.server.get(f'/api/artifacts/{other["artifactID"]}')
        self.assertEqual(stored.raw, b'hello')
        self.assertIn('sandbox', stored.headers['Content-Security-Policy'])
        self.assertNotIn('<', stored.headers['Content-Disposition'])

    def test_same_answer_with_other_files_is_a_conflict(self):
        _, call = self.asks(files=True)
        self.assertStatus(self.answer(call, 'x', files=[file_of('a', b'1')]), 200)
        again = self.answer(call, 'x', files=[file_of('a', b'1')])
        self.assertEqual(again['outcome'], 'duplicate')
        self.assertProblem(self.answer(call, 'x', files=[file_of('a', b'2')]), 409, 'conflict')
        self.assertProblem(self.answer(call, 'x'), 409, 'conflict')

    def test_files_that_are_not_taken_are_refused(self):
        _, call = self.asks()
        problem = self.assertProblem(
            self.answer(call, 'x', files=[file_of('a', b'1')]), 422, 'invalid_result'
        )
        self.assertEqual(problem['errors'][0]['pointer'], '/files')
        self.assertStatus(self.answer(call, 'x', files=[]), 200)

    def test_limits_and_forms_of_files(self):
        _, call = self.asks(files=True)
        most = [file_of(f'{n}', b'1') for n in range(9)]
        problem = self.assertProblem(self.answer(call, 'x', files=most), 413, 'too_large')
        self.assertEqual((problem['limit'], problem['max']), ('answer_files', 8))
        large = file_of('a', b'x' * (5 * 2**20 + 1))
        problem = self.assertProblem(self.answer(call, 'x', files=[large]), 413, 'too_large')
        self.assertEqual(problem['limit'], 'prompt_file_bytes')
        for file, pointer in (
            ({**file_of('a', b'1'), 'data': '!'}, '/files/0/data'),
            ({**file_of('../a', b'1')}, '/files/0/name'),
            ({**file_of('a', b'1'), 'mime': 'x'}, '/files/0/mime'),
            ({**file_of('a', b'1', 'image/png'), 'type': 'image'}, '/files/0/data'),
            ({**file_of('a', b'1'), 'type': 'link'}, '/files/0/type'),
            ({'mime': 'text/plain', 'url': 'https://a.test/'}, '/files/0/url'),
            ({'mime': 'text/plain'}, '/files/0/data'),
            (7, '/files/0'),
        ):
            with self.subTest(file=str(file)[:60]):
                problem = self.assertProblem(self.answer(call, 'x', files=[file]), 400, 'bad_value')
                self.assertTrue(problem['pointer'].startswith(pointer), problem)
        self.assertEqual(self.server.get(f'/async-tool/pending/{call["id"]}')['status'], 'waiting')

    def test_files_and_a_form_together_survive_a_crash(self):
        session, call = self.asks(files=True, schema=FORM)
        self.assertStatus(self.answer(call, {'count': 2}, files=[file_of('a.txt', b'kept')]), 200)
        self.server.kill()
        self.server.start()
        self.server.at_rest(session)
        data, file = self.parts(session)
        self.assertEqual((data['name'], data['data']), ('answer', {'count': 2}))
        self.assertEqual(self.server.get(f'/api/artifacts/{file["artifactID"]}').raw, b'kept')


class CommandLine(Asks):
    def dm(self, *arguments, exits=0):
        url = f'http://127.0.0.1:{self.server.port}'
        done = run(*arguments, '--server', url, '--data', str(self.server.directory))
        self.assertEqual(done.returncode, exits, done)
        return done.stdout + done.stderr

    def test_choice_by_number_or_text(self):
        for text, expected in (('2', 'south'), ('7 degrees', '7 degrees'), ('north', 'north')):
            session = self.server.create('ask Where? | north | south')['id']
            (call,) = self.server.open_calls(session)
            self.dm('answer', call['id'], text)
            self.server.at_rest(session)
            self.assertEqual(self.server.last_text(session), f'ask_human Where?: {expected}')

    def test_unknown_choice_is_refused(self):
        session = self.server.create('ask Where? | north | south')['id']
        (call,) = self.server.open_calls(session)
        for number in ('0', '3', '99999999999999999999'[:19]):
            self.assertIn('must be 1 to 2', self.dm('answer', call['id'], number, exits=USAGE))
        self.dm('answer', call['id'], exits=USAGE)
        self.dm('answer', call['id'], '', exits=USAGE)
        self.dm('answer', call['id'], '--json-value', '"3"')

    def test_form_and_files(self):
        session, call = self.asks(schema=FORM, files=True)
        self.assertIn('needs an answer as JSON', self.dm('answer', call['id'], '3', exits=USAGE))
        output = self.dm('answer', call['id'], '--json-value', '{"count":0}', exits=USAGE)
        self.assertIn('/count', output)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, 'plan.txt')
            path.write_text('the plan')
            self.dm('answer', call['id'], '--json-value', '{"count":2}', '--file', str(path))
        self.server.at_rest(session)
        self.assertIn('plan.txt', json.dumps(self.server.messages(session)))
        _, other = self.asks()
        with tempfile.NamedTemporaryFile(suffix='.txt') as file:
            file.write(b'x')
            file.flush()
            output = self.dm('answer', other['id'], 'yes', '--file', file.name, exits=USAGE)
        self.assertIn('takes no files', output)

    def test_prompt_shows_how_to_answer(self):
        text = 'ask ' + json.dumps({
            'question': '# Where\n\n- **a**', 'choices': [{'title': 'north'}], 'files': True,
        })
        output = self.dm('prompt', text, exits=10)
        self.assertIn('1. north', output)
        self.assertIn('dormouse answer pnd_', output)
        self.assertIn('NUMBER --file FILE', output)

    def test_reassign(self):
        _, call = self.asks()
        self.assertIn('now asks bob, role:operate',
                      self.dm('reassign', call['id'], '--to', 'bob', '--to', 'role:operate'))
        self.dm('reassign', call['id'], exits=USAGE)
        self.assertIn('/to/0', self.dm('reassign', call['id'], '--to', 'role:boss', exits=USAGE))


class Reassigned(Rights):
    def setUp(self):
        super().setUp()
        self.server = Server()
        self.addCleanup(self.server.clean)

    def waiting_call(self, project='default'):
        session = self.server.create('ask Where?', project=project)
        return self.server.open_calls(session['id'])[0]

    def passes(self, client, call, *to):
        return client.post(f'/async-tool/pending/{call["id"]}/reassign', {'to': list(to)})

    def result(self, client, call):
        body = {'pendingID': call['id'], 'result': {'output': 'there'}}
        return client.post('/async-tool/result', body)

    def test_new_answerers_and_nobody_else(self):
        ann, bob = self.client('ann', 'answer'), self.client('bob', 'answer')
        call = self.waiting_call()
        changed = self.assertStatus(self.passes(ann, call, 'bob'), 200)
        self.assertEqual(changed['answer']['from'], ['bob'])
        self.assertProblem(self.result(ann, call), 403, 'not_an_answerer')
        self.assertProblem(self.result(self.server, call), 403, 'not_an_answerer')
        mine = [one['id'] for one in bob.get('/async-tool/pending?view=inbox')['items']
                if one['mine']]
        self.assertEqual(mine, [call['id']])
        self.assertStatus(self.result(bob, call), 200)
        (event,) = [one for one in self.server.events(call['sessionID'])
                    if one['type'] == 'reassigned']
        self.assertEqual(event['data']['by'], 'token:ann')

    def test_answerer_cannot_widen_and_admin_can(self):
        ann = self.client('ann', 'answer')
        self.client('bob', 'answer')
        self.client('eve', 'read')
        call = self.waiting_call()
        self.assertStatus(self.passes(ann, call, 'ann'), 200)
        for to in (['bob'], ['role:answer'], ['ann', 'bob'], ['nobody']):
            problem = self.assertProblem(self.passes(ann, call, *to), 403, 'forbidden')
            self.assertEqual(problem['role'], 'admin')
        self.assertStatus(self.passes(self.server, call, 'bob', 'ann'), 200)
        self.assertStatus(self.passes(self.server, call, 'role:answer'), 200)
        self.assertProblem(self.passes(ann, call, 'eve'), 403, 'forbidden')  # may not answer
        self.assertProblem(self.passes(ann, call, 'nobody'), 403, 'forbidden')

    def test_roles_other_projects_and_no_token(self):
        ann = self.client('ann', 'answer')
        reader = self.client('rob', 'read')
        other = self.client('oda', 'answer', projects=['other'])
        call = self.waiting_call()
        self.assertProblem(self.passes(reader, call, 'ann'), 403, 'forbidden')
        self.assertProblem(self.passes(other, call, 'oda'), 404, 'not_found')
        self.assertProblem(self.passes(ann, call, 'oda'), 403, 'forbidden')  # not of the project
        nobody = Client(self.server.port, '')
        self.assertProblem(self.passes(nobody, call, 'ann'), 401, 'unauthenticated')
        self.assertStatus(self.passes(ann, call, 'role:operate'), 200)

    def test_bodies_that_are_wrong(self):
        call = self.waiting_call()
        path = f'/async-tool/pending/{call["id"]}/reassign'
        for to, pointer in (
            ([], '/to'), (['a'] * 21, '/to'), (['<b>'], '/to/0'), (['role:read'], '/to/0'),
            (['ok', 7], '/to/1'), ('bob', '/to'), (['x' * 65], '/to/0'), ([''], '/to/0'),
        ):
            with self.subTest(to=str(to)[:40]):
                problem = self.assertProblem(self.server.post(path, {'to': to}), 400, 'bad_value')
                self.assertEqual(problem['pointer'], pointer)
        self.assertProblem(self.server.post(path, {}), 400, 'bad_value')
        gone = self.server.post('/async-tool/pending/pnd_x/reassign', {'to': ['bob']})
        self.assertProblem(gone, 404, 'not_found')

    def test_settled_calls_and_jobs(self):
        call = self.waiting_call()
        self.assertStatus(self.result(self.server, call), 200)
        self.assertProblem(self.passes(self.server, call, 'bob'), 409, 'conflict')
        _, job = self.waiting()
        self.assertProblem(self.passes(self.server, job, 'bob'), 422, 'wrong_kind')


if __name__ == '__main__':
    main()
