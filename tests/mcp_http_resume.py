#!/usr/bin/env python3
"""Streams of MCP sessions at /mcp continue after a lost connection: nothing is lost or repeated,
and what is no longer kept is refused."""
import http.client
import json

from dormouse import Alone, main
from mcp_http import Mcp


class Events(Mcp):
    def events(self, stream, count=None):
        """The next events, as (id, message); without `count`, those until the end."""
        out, event = [], {}
        while count is None or len(out) < count:
            line = stream.readline().decode()
            if not line:
                break
            if line == '\n':
                if 'data' in event:
                    data = event['data']
                    out.append((event.get('id'), json.loads(data) if data else None))
                event = {}
            elif not line.startswith(':'):
                name, _, value = line.rstrip('\n').partition(': ')
                event[name] = value
        return out


class Resuming(Events):
    kind = Alone  # the events of a stream are kept by the server that sent them
    def resume(self, session, last, token=None):
        connection = http.client.HTTPConnection('127.0.0.1', self.server.port, timeout=30)
        self.addCleanup(connection.close)
        connection.request('GET', '/mcp', headers={
            'Authorization': f'Bearer {token or self.server.token}',
            'Accept': 'text/event-stream', 'Mcp-Session-Id': session, 'Last-Event-ID': last})
        answer = connection.getresponse()
        answer.connection = connection
        return answer

    def refused(self, session, last, **more):
        answer = self.resume(session, last, **more)
        return answer.status, json.loads(answer.read())['code']

    def approve(self, session, id=7, **headers):
        stream = self.begin_stream('tools/call', session, id, headers=headers, name='approve',
                                   arguments={'tool_name': 'Bash', 'input': {}},
                                   _meta={'progressToken': 'p'})
        return stream, self.waiting()[0]

    def leave(self, stream):
        stream.connection.close()
        stream.close()

    def test_answer_arrives_after_the_connection_was_lost(self):
        session, _ = self.begin('2025-11-25')
        stream, call = self.approve(session, **{'MCP-Protocol-Version': '2025-11-25'})
        (first, nothing), = self.events(stream, 1)
        self.assertIsNone(nothing, 'an event to continue from')
        self.leave(stream)
        self.server.decide(call, True)
        *progress, (last, answer) = self.events(self.resume(session, first))
        self.assertEqual(answer['id'], 7)
        self.assertIn('allow', answer['result']['content'][0]['text'])
        ids = [first, *(id for id, _ in progress), last]
        stream_id = first.partition('.')[0]
        self.assertEqual(ids, [f'{stream_id}.{n}' for n in range(1, len(ids) + 1)])
        self.assertEqual(self.events(self.resume(session, last)), [], 'nothing twice')

    def test_continued_stream_goes_on_and_the_old_one_ends(self):
        session, _ = self.begin()
        stream, call = self.approve(session)
        self.server.advance(60)
        (first, progress), = self.events(stream, 1)
        self.assertEqual(progress['method'], 'notifications/progress')
        again = self.resume(session, first)
        self.assertEqual(again.status, 200)
        self.server.decide(call, False)
        (_, answer), = [one for one in self.events(again) if 'result' in one[1]]
        self.assertIn('deny', answer['result']['content'][0]['text'])
        self.assertFalse([one for one in self.events(stream) if 'result' in one[1]])

    def test_client_that_does_not_return_cancels_its_question(self):
        session, _ = self.begin()
        stream, _ = self.approve(session)
        self.leave(stream)
        self.server.advance(60)
        self.waiting(1)
        for _ in range(6):
            self.server.advance(60)
        self.waiting(0)

    def test_event_that_is_not_kept_is_refused(self):
        session, _ = self.begin()
        other, _ = self.begin()
        stream, call = self.approve(session)
        self.server.decide(call, True)
        (last, _), = self.events(stream)
        stream_id = last.partition('.')[0]
        self.assertEqual(self.events(self.resume(session, f'{stream_id}.0'))[0][0], last)
        self.assertEqual(self.refused(session, f'{stream_id}.9'), (410, 'history_gone'))
        self.assertEqual(self.refused(other, last), (410, 'history_gone'))
        self.assertEqual(self.refused(session, 'nonsense'), (400, 'bad_value'))
        bob = self.client('bob', 'operate')
        self.assertEqual(self.refused(session, last, token=bob.token)[0], 404)
        self.server.restart()
        self.assertEqual(self.refused(session, last), (410, 'history_gone'))

    def test_ended_session_ends_its_streams(self):
        session, _ = self.begin()
        stream, _ = self.approve(session)
        ended = self.server.call('DELETE', '/mcp', headers={'Mcp-Session-Id': session})
        self.assertStatus(ended, 204)
        self.assertEqual(self.events(stream), [])
        self.server.advance(60)
        self.waiting(0)


if __name__ == '__main__':
    main()
