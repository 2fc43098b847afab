#!/usr/bin/env python3
"""Event streams (P6): Last-Event-ID resumes exactly, all readers get the same bytes, pages and
streams have the same events, and a slow or disconnected reader loses nothing."""
import json
import select
import socket
import threading

from dormouse import Events, main
from feeds import StreamCase


class Streams(StreamCase):
    def path(self, session):
        return f'/api/sessions/{session}/events'

    def stream(self, session, last_event_id=None, query='', **more):
        return self.open_stream(self.path(session) + query, last_event_id, **more)

    def journal(self, session, last_event_id=None):
        """Returns the current frames with an id."""
        head = self.server.session(session)['seq']
        with self.stream(session, last_event_id) as stream:
            if last_event_id == head:
                return []
            return [f for f in stream.until(lambda f: f.id == head) if f.id is not None]

    def busy_session(self):
        session = self.server.create('deploy A and B')['id']
        for call in self.server.open_calls(session):
            self.server.result(call['id'], 'x')
        self.server.at_rest(session)
        self.server.prompt(session, 'hello')
        return session

    def test_head_is_sent_at_once(self):
        session = self.server.create()['id']
        stream = self.stream(session, last_event_id=1)
        for line in (
            'Content-Type: text/event-stream',
            'Cache-Control: no-store',
            'X-Accel-Buffering: no',
        ):
            self.assertIn(line, stream.head)
        self.assertNotIn('Content-Length', stream.head)
        self.assertEqual(stream.frame().retry, 1000)

    def test_stream_equals_the_pages(self):
        session = self.busy_session()
        frames = self.journal(session)
        events = self.server.events(session)
        self.assertEqual([f.data for f in frames], events)
        self.assertEqual([f.id for f in frames], [e['seq'] for e in events])
        self.assertEqual([f.event for f in frames], [e['type'] for e in events])
        self.assertEqual([f.id for f in frames], list(range(1, len(frames) + 1)))
        page = self.server.get(self.path(session) + '?limit=200').raw
        for frame in frames:  # the same bytes, not only the same values
            self.assertIn(frame.raw.split(b'data: ', 1)[1], page)

    def test_stream_resumes_exactly_after_any_event(self):
        session = self.busy_session()
        whole = self.journal(session)
        for after in range(len(whole) + 1):
            raw = [f.raw for f in self.journal(session, after)]
            self.assertEqual(raw, [f.raw for f in whole[after:]])
        with self.stream(session, query='?after=3') as stream:
            frames = stream.until(lambda f: f.id is not None)
            self.assertEqual(frames[-1].id, 4)
        with self.stream(session, last_event_id=5, query='?after=3') as stream:
            frames = stream.until(lambda f: f.id is not None)
            self.assertEqual(frames[-1].id, 6, 'the header is newer than the address')

    def test_invalid_cursors_are_refused(self):
        session = self.server.create('hello')['id']
        for place in ('x', '-1', '1.5', '99999', str(2**64)):
            answer = self.server.get(
                self.path(session), Accept='text/event-stream', Last_Event_ID=place
            )
            self.assertProblem(answer, 400, 'bad_cursor')

    def test_readers_get_the_same_bytes_and_live(self):
        session = self.server.create()['id']
        streams = [self.stream(session) for _ in range(8)]
        self.server.prompt(session, 'deploy A')
        (call,) = self.server.open_calls(session)
        self.server.result(call['id'], 'live')
        head = self.server.at_rest(session)['seq']
        raw = []
        for stream in streams:
            frames = stream.until(lambda f: f.id == head)
            raw.append([f.raw for f in frames])
        for other in raw[1:]:
            self.assertEqual(other, raw[0])
        self.assertEqual(
            [f.raw for f in self.journal(session)], [r for r in raw[0] if r.startswith(b'id: ')]
        )

    def test_silent_stream_gets_a_comment(self):
        """Every 15 s, so that no proxy closes the connection."""
        session = self.server.create()['id']
        with Events(self.server, f'/api/sessions/{session}/events', 1) as stream:
            received = stream.buffer
            while not received.endswith(b'\n\n'):
                received += stream.socket.recv(65536)
            self.server.advance(10)
            self.assertFalse(select.select([stream.socket], [], [], 0)[0], 'too early')
            self.server.advance(5)
            while not received.endswith(b':\n\n'):
                received += stream.socket.recv(65536)
        self.assertEqual(received, b'retry: 1000\n\n:\n\n', 'a comment is no event')

    def test_event_is_sent_as_it_happens(self):
        session = self.server.create()['id']
        stream = self.stream(session)
        stream.until(lambda f: f.id == 1)
        self.server.prompt(session, 'hello', wait=0)
        stream.until(lambda f: f.event == 'turn_ended')

    def test_deltas_have_no_id_and_the_reply_replaces_them(self):
        session = self.server.create()['id']
        stream = self.stream(session)
        self.server.prompt(session, 'hello', wait=0)
        frames = stream.until(lambda f: f.event == 'turn_ended')
        deltas = [f for f in frames if f.event == 'delta']
        self.assertTrue(deltas)
        for delta in deltas:
            self.assertIsNone(delta.id)
            self.assertNotIn('seq', delta.data)
            self.assertTrue({'turnID', 'step', 'attempt', 'kind', 'text'} <= set(delta.data))
        reply = next(f for f in frames if f.event == 'model_replied')
        for delta in deltas:  # which durable reply voids it
            self.assertEqual(delta.data['turnID'], reply.data['turnID'])
            self.assertEqual(delta.data['step'], reply.data['data']['step'])
            self.assertEqual(delta.data['attempt'], reply.data['data']['attempt'])
        text = ''.join(d.data['text'] for d in deltas)
        self.assertEqual(text, ''.join(p['text'] for p in reply.data['data']['parts']))
        self.assertLess(frames.index(deltas[-1]), frames.index(reply))

    def test_no_text_can_forge_an_event(self):
        session = self.server.create()['id']
        evil = 'x\ndata: forged\n\nid: 99\nevent: turn_ended\n\n\r\rdata: y\u2028\u0085'
        self.server.prompt(session, evil)
        head = self.server.session(session)['seq']
        frames = self.journal(session)
        self.assertEqual([f.id for f in frames], list(range(1, head + 1)))
        self.assertEqual(frames[1].data['data']['parts'][0]['text'], evil)
        for frame in frames:
            self.assertEqual(len(frame.raw.split(b'\n')), 3, frame)
            self.assertNotIn(b'\r', frame.raw)

    def test_deletion_sends_bye_and_closes(self):
        session = self.server.create('deploy A')['id']
        stream = self.stream(session)
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        frames = stream.rest()
        self.assertEqual(frames[-1].event, 'bye')
        self.assertEqual(frames[-1].data, {'reason': 'deleted'})
        self.assertIsNone(frames[-1].id)
        self.assertIn('session_deleted', [f.event for f in frames])

    def test_sigterm_sends_bye_and_closes(self):
        session = self.server.create('deploy A')['id']
        stream = self.stream(session)
        self.server.term()
        frames = stream.rest()
        self.assertEqual((frames[-1].event, frames[-1].data), ('bye', {'reason': 'draining'}))
        self.assertEqual(frames[-1].retry, 1000)
        self.server.start()

    def test_reader_reconnecting_over_a_kill_misses_nothing(self):
        session = self.server.create('deploy ' + ' and '.join(f't{n}' for n in range(12)))['id']
        calls = self.server.open_calls(session)
        shown = []
        for call in calls:
            last = shown[-1].id if shown else None
            with self.stream(session, last) as stream:
                self.server.result(call['id'], 'x')
                pending = call['id']
                frames = stream.until(
                    lambda f: f.event == 'submitted' and f.data['data']['pendingID'] == pending
                )
                shown += [f for f in frames if f.id is not None]
            if len(shown) % 3 == 0:
                self.server.restart()
        self.server.restart()
        self.server.at_rest(session)
        whole = self.journal(session)
        self.assertEqual([f.raw for f in shown], [f.raw for f in whole[: len(shown)]])

    def test_slow_reader_is_cut_and_resumes_at_its_cursor(self):
        session = self.server.create()['id']
        slow = socket.create_connection(('127.0.0.1', self.server.port))
        slow.sendall(
            f'GET {self.path(session)} HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\n'
            f'Accept: text/event-stream\r\nAuthorization: Bearer {self.server.token}'
            '\r\n\r\n'.encode()
        )
        fast = self.stream(session)
        got = []
        reader = threading.Thread(
            target=lambda: got.extend(fast.until(lambda f: f.event == 'session_ended'))
        )
        reader.start()
        for _ in range(30):  # 18 MB of frames
            self.server.prompt(session, 'x' * 200_000)
        self.assertStatus(self.server.post(f'/api/sessions/{session}/end'), 200)
        reader.join(timeout=30)
        self.assertFalse(reader.is_alive(), 'a slow reader does not hold up a fast one')
        slow.settimeout(10)
        pieces = []
        try:
            while pieces[-1:] != [b'']:
                pieces.append(slow.recv(1 << 20))
        except ConnectionResetError:
            pass  # this is how it was cut
        raw = b''.join(pieces)
        slow.close()
        # Whole frames of the right bytes up to the cut; a partial one is requested again.
        whole = self.journal(session)
        frames = [
            part for part in raw.split(b'\r\n\r\n', 1)[1].split(b'\n\n') if part.startswith(b'id: ')
        ]
        complete = [f for f in frames if json_ends(f)]
        self.assertNotIn(b'event: session_ended', raw, 'it was cut')
        self.assertEqual(complete, [f.raw for f in whole[: len(complete)]])
        rest = self.journal(session, len(complete))
        self.assertEqual([f.raw for f in rest], [f.raw for f in whole[len(complete) :]])

    def test_readers_that_vanish_harm_no_other(self):
        session = self.server.create('deploy A')['id']
        for _ in range(50):
            self.stream(session).close()
        (call,) = self.server.open_calls(session)
        self.assertStatus(self.server.result(call['id'], 'x'), 200)
        newest = self.server.at_rest(session)['seq']
        self.assertEqual(len(self.journal(session)), newest)

    def test_many_readers_of_many_sessions(self):
        sessions = [self.server.create('deploy A')['id'] for _ in range(20)]
        streams = [(s, self.stream(s)) for s in sessions for _ in range(5)]
        for session in sessions:
            (call,) = self.server.open_calls(session)
            self.server.result(call['id'], session)
        for session, stream in streams:
            frames = [
                f for f in stream.until(lambda f: f.event == 'turn_ended') if f.id is not None
            ]
            self.assertEqual([f.id for f in frames], list(range(1, len(frames) + 1)))
            self.assertEqual({f.data['sessionID'] for f in frames}, {session})


def json_ends(frame):
    try:
        json.loads(frame.split(b'data: ', 1)[1])
        return True
    except (ValueError, IndexError):
        return False


if __name__ == '__main__':
    main()
