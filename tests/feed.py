#!/usr/bin/env python3
"""The events of a project, GET /api/events (design/04): all its sessions' events in the order of
the commits, with an opaque cursor that never skips and may repeat.
"""
import threading

from dormouse import Case, Events, main


def key(event):
    return event['sessionID'], event['seq']


class Feed(Case):
    def setUp(self):
        super().setUp()
        self.opened = []

    def tearDown(self):
        for stream in self.opened:
            stream.close()
        super().tearDown()

    def stream(self, query='', last_event_id=None):
        events = Events(self.server, '/api/events' + query, last_event_id)
        self.opened.append(events)
        self.assertEqual(events.status, 200, events.head)
        return events

    def pages(self, query='?', limit=50):
        """Every event, and the cursor at the end."""
        found, cursor = [], None
        while True:
            place = f'&cursor={cursor}' if cursor else ''
            page = self.server.get(f'/api/events{query}&limit={limit}{place}').json
            if not page['items'] and page['next'] == cursor:
                return found, cursor
            found += page['items']
            cursor = page['next']

    def test_pages_tell_what_every_session_tells_of_itself(self):
        sessions = [self.server.create('deploy A')['id'] for _ in range(3)]
        sessions.append(self.server.create('hello', project='other')['id'])
        feed, _ = self.pages()
        own = [e for s in sessions[:3] for e in self.server.events(s)]
        self.assertEqual(sorted(feed, key=key), sorted(own, key=key))
        for session in sessions[:3]:
            order = [e['seq'] for e in feed if e['sessionID'] == session]
            self.assertEqual(order, list(range(1, len(order) + 1)))
        other, _ = self.pages('?project=other')
        self.assertEqual(sorted(other, key=key), sorted(self.server.events(sessions[3]), key=key))

    def test_small_pages_skip_nothing_and_repeat_nothing(self):
        for _ in range(4):
            self.server.create('deploy A')
        whole, end = self.pages()
        small, same = self.pages(limit=1)
        self.assertEqual(small, whole)
        self.assertEqual(end, same)

    def test_a_stream_tells_what_comes_and_what_was(self):
        before = self.server.create('deploy A')['id']
        stream = self.stream()
        after = self.server.create('hello')['id']
        wanted = {key(e) for s in (before, after) for e in self.server.events(s)}
        seen = []
        while {key(f.data) for f in seen} != wanted:
            frame = stream.frame()
            if frame.data:
                self.assertEqual(frame.event, frame.data['type'])
                seen.append(frame)
        self.assertEqual(len(seen), len(wanted), 'nothing twice on one connection')

    def test_who_comes_back_after_a_kill_has_every_event(self):
        session = self.server.create('deploy A')['id']
        stream = self.stream()
        seen, place = set(), None
        head = self.server.session(session)['seq']
        while (session, head) not in seen:
            frame = stream.frame()
            place = frame.id or place
            if frame.data:
                seen.add(key(frame.data))
        self.server.kill()
        self.server.restart()
        self.server.result(self.server.open_calls(session)[0]['id'], 'live')
        self.server.at_rest(session)
        stream = self.stream(last_event_id=place)
        end = self.server.session(session)['seq']
        again = []
        while (session, end) not in seen:
            frame = stream.frame()
            if frame.data:
                seen.add(key(frame.data))
                again.append(key(frame.data))
        self.assertEqual({s for _, s in seen}, set(range(1, end + 1)))
        self.assertEqual(again, [(session, s) for s in range(head + 1, end + 1)])

    def test_a_deleted_session_is_told_and_its_past_is_gone(self):
        gone = self.server.create('hello')['id']
        kept = self.server.create('hello')['id']
        self.assertStatus(self.server.delete(f'/api/sessions/{gone}'), 204)
        feed, _ = self.pages()
        self.assertEqual([e['type'] for e in feed if e['sessionID'] == gone], ['session_deleted'])
        self.assertTrue([e for e in feed if e['sessionID'] == kept])

    def test_many_sessions_at_once_are_all_there_for_each_of_several_readers(self):
        streams = [self.stream() for _ in range(3)]
        made = []

        def make():
            client = self.server.new_client()
            for _ in range(20):
                body = {'agentID': 'demo', 'prompt': {'text': 'deploy A'}}
                made.append(client.post('/api/projects/default/sessions', body).json['id'])
            client.close()

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for session in made:
            self.server.at_rest(session)
        wanted = {key(e) for s in made for e in self.server.events(s)}
        for stream in streams:
            seen = set()
            while seen != wanted:
                frame = stream.frame()
                if frame.data:
                    seen.add(key(frame.data))

    def test_with_objects_each_event_tells_what_it_is_about_as_it_stands_now(self):
        sessions = [self.server.create('deploy A')['id'] for _ in range(2)]
        gone = self.server.create('hello')['id']
        own = {}
        for session in sessions:
            path = f'/api/sessions/{session}/events?view=objects&limit=200'
            own.update({key(e): e for e in self.server.items(path)})
        self.assertStatus(self.server.delete(f'/api/sessions/{gone}'), 204)
        for limit in (1, 50):
            feed, end = self.pages('?view=objects', limit)
            told = {key(e): e for e in feed if e['sessionID'] != gone}
            self.assertEqual(told, own)
            self.assertTrue(any(e['object']['status'] == 'waiting' for e in told.values()
                                if e['type'] == 'call_paused'))
        self.assertEqual(end, self.pages()[1])
        stream = self.stream('?view=objects')
        seen = {}
        while set(seen) < set(own):
            frame = stream.frame()
            if frame.data and frame.data['sessionID'] != gone:
                seen[key(frame.data)] = frame.data
        self.assertEqual(seen, own)
        # And goes on with what comes.
        self.server.result(self.server.open_calls(sessions[0])[0]['id'], 'live')
        while frame.event != 'submitted':
            frame = stream.frame()
        self.assertEqual(frame.data['object']['status'], 'completed')

    def test_a_view_that_is_none_is_refused(self):
        self.assertProblem(self.server.get('/api/events?view=all'), 400, 'bad_value')

    def test_places_that_are_none_are_refused(self):
        for place in ('17', 'x', 'f', 'f99999999', 'f-1'):
            self.assertProblem(self.server.get(f'/api/events?cursor={place}'), 400, 'bad_cursor')
        self.assertEqual(self.server.get('/api/events?project=nobody').json['items'], [])


if __name__ == '__main__':
    main()
