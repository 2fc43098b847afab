#!/usr/bin/env python3
"""The events of a project, GET /api/events: all its sessions' events in the order of
the commits, with an opaque cursor that never skips and may repeat.
"""
import threading

from dormouse import main
from feeds import StreamCase, whole_feed
from stored import FRAME_FIRST, FRAME_NO


def key(event):
    return event['sessionID'], event['seq']


class FeedCase(StreamCase):
    def stream(self, query='', last_event_id=None):
        return self.open_stream('/api/events' + query, last_event_id)

    def pages(self, query='?', limit=50):
        return whole_feed(self.server, query, limit)


class Feed(FeedCase):
    def test_pages_equal_the_events_of_each_session(self):
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

    def test_stream_sends_past_and_new_events(self):
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

    def test_reader_reconnecting_after_a_kill_misses_nothing(self):
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

    def test_deleted_session_is_reported_without_its_past(self):
        gone = self.server.create('hello')['id']
        kept = self.server.create('hello')['id']
        self.assertStatus(self.server.delete(f'/api/sessions/{gone}'), 204)
        feed, _ = self.pages()
        self.assertEqual([e['type'] for e in feed if e['sessionID'] == gone], ['session_deleted'])
        self.assertTrue([e for e in feed if e['sessionID'] == kept])

    def test_many_sessions_reach_each_of_several_readers(self):
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

    def test_view_objects_adds_the_current_object(self):
        sessions = [self.server.create('deploy A')['id'] for _ in range(2)]
        gone = self.server.create('hello')['id']
        own = {}
        for session in sessions:
            path = f'/api/sessions/{session}/events?view=objects&limit=200'
            own.update({key(e): e for e in self.server.items(path)})
        self.assertStatus(self.server.delete(f'/api/sessions/{gone}'), 204)
        for limit in (1, 50):
            feed, end = self.pages('?view=objects', limit)
            shown = {key(e): e for e in feed if e['sessionID'] != gone}
            self.assertEqual(shown, own)
            self.assertTrue(any(e['object']['status'] == 'waiting' for e in shown.values()
                                if e['type'] == 'call_paused'))
        self.assertEqual(end, self.pages()[1])
        stream = self.stream('?view=objects')
        seen = {}
        while set(seen) < set(own):
            frame = stream.frame()
            if frame.data and frame.data['sessionID'] != gone:
                seen[key(frame.data)] = frame.data
        self.assertEqual(seen, own)
        # Continues with new events.
        self.server.result(self.server.open_calls(sessions[0])[0]['id'], 'live')
        while frame.event != 'submitted':
            frame = stream.frame()
        self.assertEqual(frame.data['object']['status'], 'completed')

    def test_stream_from_now_has_its_place_before_its_first_event(self):
        self.server.create('hello')
        stream = self.stream('?after=now')
        place = None
        while not place:
            frame = stream.frame()
            self.assertFalse(frame.data)
            place = frame.id
        session = self.server.create('hello')['id']
        frame = stream.frame()
        self.assertEqual(key(frame.data), (session, 1))
        again = self.stream(last_event_id=place)
        while not (frame := again.frame()).data:
            pass
        self.assertEqual(key(frame.data), (session, 1))

    def test_unknown_view_is_refused(self):
        self.assertProblem(self.server.get('/api/events?view=all'), 400, 'bad_value')

    def test_invalid_cursors_are_refused(self):
        for place in ('17', 'x', 'f', 'f99999999', 'f-1'):
            self.assertProblem(self.server.get(f'/api/events?cursor={place}'), 400, 'bad_cursor')
        self.assertEqual(self.server.get('/api/events?project=nobody').json['items'], [])

    def test_stream_cut_within_an_append_begins_it_again(self):
        self.server.create('deploy A')
        stream = self.stream()
        wanted = {key(e) for e in self.pages()[0]}
        frames = []
        while {key(f.data) for f in frames} != wanted:
            frame = stream.frame()
            if frame.data:
                frames.append(frame)
        self.assertTrue(frames[-1].id)
        self.assertTrue([f for f in frames if not f.id], 'an append of several events')
        for i, frame in enumerate(frames[:-1]):
            if not frame.id:
                continue
            again = self.stream(last_event_id=frame.id)
            following = again.until(lambda f: f.data)[-1]
            self.assertEqual(key(following.data), key(frames[i + 1].data))

    def test_cursor_that_is_not_kept_is_refused_or_reset(self):
        for _ in range(2):
            session = self.server.create('deploy A')['id']
            self.server.at_rest(session)
        _, end = self.pages()
        floor = "UPDATE meta SET value = (SELECT max(n) FROM feed) - 1 WHERE name = 'feed_floor'"
        self.server.while_down(floor, 'DELETE FROM feed WHERE n < (SELECT max(n) FROM feed)')
        self.assertProblem(self.server.get('/api/events?cursor=f1'), 410, 'history_gone')
        self.assertStatus(self.server.get(f'/api/events?cursor={end}'), 200)
        stream = self.stream(last_event_id='f1')
        frame = stream.until(lambda f: f.event)[-1]
        self.assertEqual(frame.event, 'reset')
        frames = stream.until(lambda f: f.data and f.data.get('sessionID') == session)
        self.assertTrue(frames)

    def test_stream_far_behind_gets_all_without_a_new_append(self):
        text = 'hello ' + 'x' * 300_000
        sessions = {self.server.create(text)['id'] for _ in range(8)}
        wanted = {key(e) for s in sessions for e in self.server.events(s)}
        stream, seen = self.stream(), set()
        while seen != wanted:
            frame = stream.frame()
            if frame.data:
                seen.add(key(frame.data))


class Damage(FeedCase):
    """An unreadable append is reported in its place and harms no other."""

    def tearDown(self):
        self.server.verify = lambda: None  # damaged on purpose
        super().tearDown()

    def damage(self, change, goes_on=False):
        """`change`: SQL for a {frame} of the {session} `bad`, which has two others next to it.
        `goes_on`: other frames follow it."""
        before = self.server.create('deploy A')['id']
        bad = self.server.create('deploy B')['id']
        after = self.server.create('deploy C')['id']
        for session in (before, bad, after):
            self.server.at_rest(session)
        if goes_on:
            self.server.result(self.server.open_calls(bad)[0]['id'], 'live')
            self.server.at_rest(bad)
        number = f"(SELECT no FROM sessions WHERE id = '{bad[4:]}')"
        own = f'{FRAME_NO} = {number}'
        frame = (f'{own} AND {FRAME_FIRST} = (SELECT min({FRAME_FIRST}) FROM journal'
                 f' WHERE {own} AND {FRAME_FIRST} > 1)')
        self.server.while_down(change.format(session=own, frame=frame), 'DELETE FROM snapshots')
        return before, bad, after

    def expect_damage(self, change, goes_on=False):
        before, bad, after = self.damage(change, goes_on)
        feed, _ = self.pages()
        types = [e['type'] for e in feed if e['sessionID'] == bad]
        self.assertEqual(types.count('append_unreadable'), 1, types)
        self.assertEqual(types[0], 'session_created')
        for session in (before, after):
            own = [key(e) for e in feed if e['sessionID'] == session]
            self.assertEqual(own, [key(e) for e in self.server.events(session)])
        self.assertEqual(key(self.pages(limit=1)[0][-1]), key(feed[-1]))
        objects, _ = self.pages('?view=objects')
        self.assertEqual([key(e) for e in objects], [key(e) for e in feed])
        stream = self.stream()
        frames = []
        while not frames or key(frames[-1].data) != key(feed[-1]):
            frame = stream.frame()
            if frame.data:
                frames.append(frame)
        self.assertEqual([f.event for f in frames], [e['type'] for e in feed])
        return before, bad, after

    def test_damaged_append_is_reported_and_the_feed_continues(self):
        _, bad, after = self.expect_damage(
            "UPDATE journal SET data = replace(data, 'a', 'b') WHERE {frame}"
        )
        problem = self.server.get(f'/api/sessions/{bad}')
        self.assertProblem(problem, 500, 'internal')
        self.assertTrue(problem.json['unreadable'])
        self.assertEqual(problem.json['next'], 'stop')
        self.assertIn('delete it', problem.json['detail'])
        self.assertStatus(self.server.get('/async-tool/pending?project=default'), 200)

        self.assertStatus(self.server.delete(f'/api/sessions/{bad}'), 204)
        self.assertStatus(self.server.get(f'/api/sessions/{bad}'), 404)
        feed, _ = self.pages()
        self.assertEqual([e['type'] for e in feed if e['sessionID'] == bad], ['session_deleted'])
        self.assertTrue(self.server.get('/api/doctor').json['ok'])
        self.server.result(self.server.open_calls(after)[0]['id'], 'live')
        self.server.at_rest(after)

    def test_missing_append_is_reported(self):
        self.expect_damage('DELETE FROM journal WHERE {frame}', goes_on=True)

    def test_session_without_any_append_is_deleted(self):
        _, bad, _ = self.damage('DELETE FROM journal WHERE {session}')
        self.assertProblem(self.server.get(f'/api/sessions/{bad}'), 500, 'internal')
        self.assertStatus(self.server.delete(f'/api/sessions/{bad}'), 204)
        self.assertStatus(self.server.get(f'/api/sessions/{bad}'), 404)


if __name__ == '__main__':
    main()
