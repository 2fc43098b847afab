#!/usr/bin/env python3
"""Images and files of prompts: decoded on receipt and stored as artifacts in the append of their
message, over SIGKILLs, in forks, until their session is deleted (requirement C9)."""
import base64
import json
import pathlib
import time
import zlib

from dormouse import Case, main, run
from http_raw import kill_during
from shapes import MESSAGE, mismatch


def png(width, height, seed=1):
    """Returns a valid image whose bytes compress badly."""
    noise, state = bytearray(), seed
    for _ in range(height):
        noise.append(0)
        for _ in range(3 * width):
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            noise.append(state >> 16 & 255)

    def chunk(kind, data):
        body = kind + data
        return len(data).to_bytes(4, 'big') + body + zlib.crc32(body).to_bytes(4, 'big')

    head = width.to_bytes(4, 'big') + height.to_bytes(4, 'big') + bytes([8, 2, 0, 0, 0])
    return (
        b'\x89PNG\r\n\x1a\n'
        + chunk(b'IHDR', head)
        + chunk(b'IDAT', zlib.compress(bytes(noise)))
        + chunk(b'IEND', b'')
    )


SMALL = png(2, 2)
LARGE = b'\x89PNG\r\n\x1a\n' + bytes(range(256)) * 8_000  # 2 MB; only the beginning is checked


def image(data=SMALL, **more):
    return {
        'type': 'image',
        'mime': 'image/png',
        'data': base64.b64encode(data).decode(),
        **more,
    }


def text_part(text):
    return {'type': 'text', 'text': text}


class Files(Case):
    def send(self, session, parts, wait=20, **more):
        query = f'?wait={wait}' if wait else ''
        return self.server.post(f'/api/sessions/{session}/prompt{query}', {'parts': parts, **more})

    def shown(self, session, index=0):
        """Returns the parts of the user's messages, without their ids."""
        messages = [m for m in self.server.messages(session) if m['role'] == 'user']
        for message in messages:
            self.assertFalse(mismatch(message, MESSAGE))
        hidden = ('id', 'messageID', 'sessionID')
        return [
            {k: v for k, v in p.items() if k not in hidden} for p in messages[index]['parts']
        ]

    def types(self, session):
        return [e['type'] for e in self.server.events(session)]

    def fetch(self, artifact):
        return self.server.get(f'/api/artifacts/{artifact}')


MIXED_PARTS = [
    text_part('look'),
    image(name='cat.png', alt='a cat'),
    text_part('and'),
    {
        'type': 'file',
        'mime': 'text/csv; charset=utf-8',
        'name': 'a b.csv',
        'data': base64.b64encode(b'1,2\n').decode(),
    },
    {'type': 'image', 'url': 'https://example.org/dog.png', 'alt': 'a dog'},
]
# The same as messages show it, without the ids of stored files.
MIXED_SHOWN = [
    {'type': 'text', 'text': 'look', 'synthetic': False},
    {
        'type': 'image',
        'mime': 'image/png',
        'name': 'cat.png',
        'bytes': len(SMALL),
        'url': None,
        'alt': 'a cat',
    },
    {'type': 'text', 'text': 'and', 'synthetic': False},
    {
        'type': 'file',
        'mime': 'text/csv; charset=utf-8',
        'name': 'a b.csv',
        'bytes': 4,
        'url': None,
        'alt': None,
    },
    {
        'artifactID': None,
        'type': 'image',
        'mime': None,
        'name': None,
        'bytes': None,
        'url': 'https://example.org/dog.png',
        'alt': 'a dog',
    },
]


class Kept(Files):
    def test_image_and_a_file_are_kept_beside_their_message(self):
        session = self.server.create()['id']
        turn = self.assertStatus(self.send(session, MIXED_PARTS), 200)
        self.assertEqual(turn['finishReason'], 'stop')
        self.assertEqual(self.server.last_text(session), 'You said: lookand')
        shown = self.shown(session)
        cat, csv = (shown[i].pop('artifactID') for i in (1, 3))
        self.assertEqual(shown, MIXED_SHOWN)
        self.assertEqual(self.fetch(cat).raw, SMALL)
        self.assertEqual(self.fetch(csv).raw, b'1,2\n')
        self.assertEqual(self.fetch(cat).headers['Content-Type'], 'image/png')
        self.assertEqual(
            self.fetch(csv).headers['Content-Disposition'], 'attachment; filename="a b.csv"'
        )
        types = self.types(session)
        at = types.index('input_received')
        self.assertEqual(types[at - 2 : at], ['artifact_emitted'] * 2)
        events = self.server.events(session)
        emitted = [e['data'] for e in events if e['type'] == 'artifact_emitted']
        self.assertEqual([e['artifactID'] for e in emitted], [cat, csv])
        self.assertNotIn('callID', emitted[0])
        # The bytes are in no record.
        self.assertNotIn(image()['data'], json.dumps(events))

    def test_session_may_begin_with_one_and_with_nothing_else(self):
        answer = self.server.post(
            '/api/projects/default/sessions?wait=20',
            {'agentID': 'demo', 'prompt': {'parts': [image()]}},
        )
        session = self.assertStatus(answer, 201)['id']
        (part,) = self.shown(session)
        self.assertEqual(self.fetch(part['artifactID']).raw, SMALL)
        self.assertEqual(
            self.types(session)[:3], ['session_created', 'artifact_emitted', 'input_received']
        )

    def test_repeat_with_its_key_keeps_it_once(self):
        session = self.server.create()['id']
        body = {'parts': [text_part('hi'), image()]}
        first, second = (
            self.server.post(f'/api/sessions/{session}/prompt', body, Idempotency_Key='k')
            for _ in range(2)
        )
        self.assertEqual((first.status, first.json), (202, second.json))
        self.server.at_rest(session)
        self.assertEqual(self.types(session).count('artifact_emitted'), 1)

    def test_fork_has_its_own_and_it_goes_with_its_session(self):
        session = self.server.create()['id']
        self.send(session, [text_part('one'), image()])
        self.send(session, [text_part('two'), image(png(3, 3))])
        first = self.shown(session, 0)[1]['artifactID']
        ends = [e['seq'] for e in self.server.events(session) if e['type'] == 'model_replied']
        fork = self.assertStatus(
            self.server.post(f'/api/sessions/{session}/fork', {'seq': ends[0]}), 201
        )['id']
        own = self.shown(fork)[1]['artifactID']
        self.assertNotEqual(own, first)
        # Not what follows the event of the fork.
        self.assertEqual(self.types(fork).count('artifact_emitted'), 1)
        second = self.assertStatus(self.server.post(f'/api/sessions/{fork}/fork', {}), 201)['id']
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        self.assertStatus(self.server.delete(f'/api/sessions/{fork}'), 204)
        self.server.restart()
        for gone in (first, own):
            self.assertProblem(self.fetch(gone), 404, 'not_found')
        self.assertEqual(self.fetch(self.shown(second)[1]['artifactID']).raw, SMALL)

    def test_queued_one_is_kept_while_it_waits(self):
        session = self.server.create('deploy A')['id']
        answer = self.send(session, [image()], wait=0, when='queue')
        self.assertStatus(answer, 202)
        self.server.restart()
        part = self.shown(session, 1)[0]
        self.assertEqual(self.fetch(part['artifactID']).raw, SMALL)


class Answers(Files):
    def test_question_takes_text_only(self):
        session = self.server.create('ask what colour?')['id']
        (call,) = self.server.open_calls(session)
        for more in ({}, {'answers': call['id']}):
            problem = self.assertProblem(
                self.send(session, [text_part('red'), image()], wait=0, **more), 422, 'wrong_kind'
            )
            self.assertIn('text only', problem['detail'])
        self.assertEqual(self.types(session).count('artifact_emitted'), 0)
        self.assertStatus(self.send(session, [image()], wait=0, when='queue'), 202)
        self.assertStatus(self.send(session, [text_part('red')]), 200)


class Refused(Files):
    def test_invalid_files_are_named_and_change_nothing(self):
        session = self.server.create()['id']
        head = self.server.session(session)['seq']
        data = image()['data']
        for part, pointer, why in (
            (image(mime='image/jpeg'), '/parts/1/data', 'is no image/jpeg'),
            (image(mime='image/svg+xml'), '/parts/1/mime', 'send others as a file'),
            (image(mime='png'), '/parts/1/mime', 'media type'),
            (image(mime='image/png\r\nX: y'), '/parts/1/mime', 'media type'),
            ({'type': 'image', 'data': data}, '/parts/1/mime', 'is missing'),
            ({'type': 'image', 'mime': 'image/png'}, '/parts/1/data', 'either'),
            (image(url='https://example.org/'), '/parts/1/data', 'either'),
            (image(b''), '/parts/1/data', 'base64'),
            ({**image(), 'data': data[:-1]}, '/parts/1/data', 'base64'),
            ({**image(), 'data': data.replace('=', '-')}, '/parts/1/data', 'base64'),
            ({**image(), 'data': data[:8] + '\n' + data[8:]}, '/parts/1/data', 'base64'),
            ({**image(), 'data': 7}, '/parts/1/data', 'string'),
            (image(name='../x'), '/parts/1/name', 'name of a file'),
            (image(name=''), '/parts/1/name', 'name of a file'),
            (image(alt='x' * 4097), '/parts/1/alt', '4096'),
            ({'type': 'image', 'url': 'file:///etc/passwd'}, '/parts/1/url', 'https://'),
            ({'type': 'image', 'url': 'data:image/png;base64,AA=='}, '/parts/1/url', 'https://'),
            ({'type': 'image', 'url': 'https://' + 'x' * 2048}, '/parts/1/url', '2048'),
            ({'type': 'image', 'url': 'https://x/ y'}, '/parts/1/url', 'https://'),
            ({'type': 'video', 'url': 'https://x'}, None, ''),
        ):
            answer = self.send(session, [text_part('look'), part], wait=0)
            if pointer is None:
                self.assertEqual(answer.status, 400, answer)
                continue
            problem = self.assertProblem(answer, 400, 'bad_value', pointer=pointer)
            self.assertIn(why, problem['why'], part)
        answer = self.send(session, [image(size=3)], wait=0)
        self.assertProblem(answer, 400, 'unknown_field', field='/parts/0/size')
        self.assertEqual(self.server.session(session)['seq'], head)
        self.assertEqual(self.types(session).count('artifact_emitted'), 0)

    def test_limits_are_named(self):
        session = self.server.create()['id']
        for parts, limit, most in (
            ([image(SMALL + bytes(5 << 20))], 'prompt_file_bytes', 5 << 20),
            ([image()] * 21, 'prompt_files', 20),
        ):
            answer = self.send(session, parts, wait=0)
            self.assertProblem(answer, 413, 'too_large', limit=limit, max=most)
        self.assertStatus(self.send(session, [image()] * 20), 200)
        self.assertEqual(self.types(session).count('artifact_emitted'), 20)
        answer = self.send(session, [image(bytes(7 << 20))], wait=0)
        self.assertProblem(answer, 413, 'too_large')
        self.server.client = self.server.new_client()


class Crashed(Files):
    def test_kill_during_upload_leaves_all_or_nothing(self):
        raw = json.dumps({'parts': [text_part('look'), image(LARGE)]}).encode()
        begin = time.monotonic()
        path = f'/api/sessions/{self.server.create()["id"]}/prompt'
        self.assertStatus(self.server.call('POST', path, raw=raw), 202)
        usual_s, taken = time.monotonic() - begin, 0
        for part in (0, 0.1, 0.3, 0.5, 0.7, 0.9, 1, 1.3, 2, 5):
            delay = part * usual_s
            session = self.server.create()['id']
            path = f'/api/sessions/{session}/prompt'
            kill_during(self.server, delay, path, raw, {'Idempotency-Key': 'k'})
            types = self.types(session)
            self.assertEqual(types.count('artifact_emitted'), types.count('input_received'), delay)
            taken += types.count('input_received')
            again = self.server.call('POST', path, raw=raw, headers={'Idempotency-Key': 'k'})
            self.assertStatus(again, 202)
            self.server.at_rest(session)
            self.assertEqual(self.types(session).count('artifact_emitted'), 1)
            self.assertEqual(self.fetch(self.shown(session)[1]['artifactID']).raw, LARGE)
        self.assertGreater(taken, 0)

    def test_acknowledged_files_survive_a_kill(self):
        session = self.server.create()['id']
        self.assertStatus(self.send(session, [image(LARGE)], wait=0), 202)
        self.server.restart()
        self.server.at_rest(session)
        self.assertEqual(self.fetch(self.shown(session)[0]['artifactID']).raw, LARGE)


class Damaged(Files):
    def test_missing_bytes_are_named_and_the_turn_says_so(self):
        session = self.server.create()['id']
        self.send(session, [text_part('look'), image()])
        artifact = self.shown(session)[1]['artifactID']
        self.assertEqual(self.server.term(), 0)
        self.assertEqual(len(self.server.select('SELECT sum FROM artifacts')), 1)
        self.server.change('DELETE FROM artifacts')
        report = self.server.checked('--json')
        self.assertEqual(report.returncode, 1, report)
        self.assertIn('missing', report.stdout)
        self.server.start()
        turn = self.assertStatus(self.server.prompt(session, 'and?'), 200)
        self.assertEqual(turn['finishReason'], 'error')
        self.assertIn(artifact, turn['error']['message'])
        self.server.kill()


class CommandLine(Files):
    def prompt(self, *words, stdin=''):
        server = f'http://127.0.0.1:{self.server.port}'
        return run(
            'prompt', *words, '--server', server, '--data', self.server.directory, stdin=stdin
        )

    def test_prompt_sends_files_with_their_type_by_name(self):
        folder = pathlib.Path(self.server.own)
        (folder / 'cat.png').write_bytes(SMALL)
        (folder / 'notes.md').write_text('# Notes\n')
        done = self.prompt(
            'look', '--new', '--file', folder / 'cat.png', '--file', folder / 'notes.md'
        )
        self.assertEqual(done.returncode, 0, done)
        (session,) = [s['id'] for s in self.server.items('/api/projects/default/sessions')]
        text, cat, notes = self.shown(session)
        self.assertEqual(text['text'], 'look')
        self.assertEqual((cat['type'], cat['mime'], cat['name']), ('image', 'image/png', 'cat.png'))
        self.assertEqual(
            (notes['type'], notes['mime'], notes['name']), ('file', 'text/markdown', 'notes.md')
        )
        self.assertEqual(self.fetch(cat['artifactID']).raw, SMALL)
        shown = run('show', session, '--server', f'http://127.0.0.1:{self.server.port}',
                    '--data', self.server.directory)  # fmt: skip
        self.assertIn('[image cat.png image/png, ', shown.stdout)
        self.assertIn('[file notes.md text/markdown, 8 bytes; dormouse artifact ', shown.stdout)

    def test_unsendable_file_is_reported_before_sending(self):
        folder = pathlib.Path(self.server.own)
        (folder / 'fake.png').write_text('no image')
        (folder / 'large.bin').write_bytes(bytes((5 << 20) + 1))
        (folder / 'empty.txt').write_text('')
        for name, status, why in (
            ('none.png', 2, 'cannot read'),
            ('large.bin', 2, '5 MiB'),
            ('empty.txt', 2, 'empty'),
            ('fake.png', 2, 'is no image/png'),
        ):
            done = self.prompt('look', '--file', folder / name)
            self.assertEqual(done.returncode, status, done)
            self.assertIn(why, done.stderr)
        self.assertEqual(self.server.items('/api/projects/default/sessions'), [])


if __name__ == '__main__':
    main()
