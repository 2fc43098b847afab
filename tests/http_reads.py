#!/usr/bin/env python3
"""Lists, tags and streams: strict queries, entity tags, changedSince, events with their objects,
and pages for a reader that is far behind."""
import threading
import time
import urllib.parse

from dormouse import Client, Events, main
from http_contract import ROUTES
from shapes import (
    EVENT,
    MESSAGE,
    PART,
    PENDING,
    SESSION,
    TURN,
    Contract,
    mismatch,
)


class Queries(Contract):
    def test_parameter_that_is_unknown_is_refused_on_every_route(self):
        own = {'Origin': f'http://127.0.0.1:{self.server.port}'}
        client = Client(self.server.port, self.server.token)  # pages call the server they are of
        self.addCleanup(client.close)
        for method, path in ROUTES:
            if path.startswith('/c/'):
                continue  # a secret path answers nothing before it is known
            if path in ('/sign-in/oidc/callback', '/mcp-sign-in/{}/callback'):
                continue  # providers add parameters of their own
            with self.subTest(method=method, path=path):
                target = path.replace('{}', 'ses_AAAAAAAA') + '?zzzzzz=1'
                answer = client.call(method, target, headers=own)
                self.assertProblem(answer, 400, 'unknown_field', field='?zzzzzz', nearest=None)

    def test_mistyped_parameter_names_the_nearest(self):
        for path, field, near in [
            ('/async-tool/pending?sesionID=x', '?sesionID', 'sessionID'),
            ('/async-tool/pending?changedsince=1', '?changedsince', 'changedSince'),
            ('/api/projects/default/sessions?limits=5', '?limits', 'limit'),
            ('/api/sessions/ses_AAAAAAAA/events?veiw=objects', '?veiw', 'view'),
        ]:
            answer = self.server.get(path)
            self.assertProblem(answer, 400, 'unknown_field', field=field, nearest=near)

    def test_parameter_is_given_once(self):
        answer = self.server.get('/async-tool/pending?limit=5&limit=6')
        self.assertProblem(answer, 400, 'bad_value', pointer='?limit')

    def test_invalid_values_are_refused(self):
        session = self.server.create()['id']
        for path, pointer in [
            ('/async-tool/pending?changedSince=yesterday', '?changedSince'),
            (f'/async-tool/pending?sessionID={session}&project=default', '?project'),
            (f'/api/sessions/{session}/events?view=everything', '?view'),
        ]:
            self.assertProblem(self.server.get(path), 400, 'bad_value', pointer=pointer)


class Tags(Contract):
    def test_if_none_match_takes_lists_weak_tags_and_any(self):
        session = self.server.create()
        path, tag = f'/api/sessions/{session["id"]}', f'"{session["seq"]}"'
        for value in (tag, f'W/{tag}', f'"99", {tag}', f'"99",{tag} , "7"', '*'):
            answer = self.server.get(path, If_None_Match=value)
            self.assertStatus(answer, 304)
            self.assertEqual((answer.headers['ETag'], answer.raw), (tag, b''))
        for value in ('"99"', session['seq'], f'"x{session["seq"]}"', ''):
            self.assertStatus(self.server.get(path, If_None_Match=str(value)), 200)

    def test_head_has_the_tag_too(self):
        session = self.server.create()
        answer = self.server.call('HEAD', f'/api/sessions/{session["id"]}')
        self.assertEqual(answer.headers['ETag'], f'"{session["seq"]}"')

    def test_answers_with_a_session_have_its_etag(self):
        answer = self.server.post('/api/projects/default/sessions', {'agentID': 'demo'})
        self.assertEqual(answer.headers['ETag'], f'"{answer["seq"]}"')
        session = self.server.create('hello')['id']
        fork = self.server.post(f'/api/sessions/{session}/fork', {})
        self.assertEqual(fork.headers['ETag'], f'"{fork["seq"]}"')

    def test_delete_checks_if_match(self):
        session = self.server.create()
        path = f'/api/sessions/{session["id"]}'
        for value, status, code in (('"99"', 412, 'precondition_failed'), ('x', 400, 'bad_value')):
            answer = self.server.call('DELETE', path, headers={'If-Match': value})
            self.assertProblem(answer, status, code)
        self.assertEqual(self.server.session(session['id']), session)
        tag = f'"{session["seq"]}"'
        self.assertStatus(self.server.call('DELETE', path, headers={'If-Match': tag}), 204)
        self.assertProblem(self.server.get(path), 404, 'not_found')

    def test_if_match_any_is_no_condition(self):
        session = self.server.create()['id']
        answer = self.server.call(
            'PATCH', f'/api/sessions/{session}', {'title': 'x'}, {'If-Match': '*'}
        )
        self.assertStatus(answer, 200)


class Changed(Contract):
    def changed(self, since, wait=0, **more):
        query = urllib.parse.urlencode({'changedSince': since, 'wait': wait, **more})
        answer = self.server.get(f'/async-tool/pending?{query}')
        self.assertPage(answer, PENDING)
        return answer['items'], int(answer.headers['Dormouse-As-Of'])

    def scopes(self, session):
        return ({'sessionID': session['id']}, {'project': 'default'})

    def test_changed_since_returns_changes_only(self):
        session, call = self.waiting('deploy A')
        _, other = self.waiting('deploy B')
        for scope in self.scopes(session):
            _, as_of = self.changed(0, **scope)
            self.server.advance(0.01)
            items, as_of = self.changed(as_of + 1, **scope)
            self.assertEqual(items, [])
            answer = self.server.post(
                '/async-tool/progress', {'pendingID': call['id'], 'payload': {'percent': 1}}
            )
            self.assertStatus(answer, 200)
            items, as_of = self.changed(as_of, **scope)
            self.assertEqual([one['id'] for one in items], [call['id']])
        self.server.result(call['id'], 'x')
        self.server.at_rest(session['id'])
        for scope in self.scopes(session):
            items, _ = self.changed(as_of, **scope)
            self.assertEqual([(one['id'], one['status']) for one in items],
                             [(call['id'], 'completed')], 'what was settled has changed too')
            items, _ = self.changed(as_of, status='waiting', **scope)
            self.assertEqual(items, [])
        everything, _ = self.changed(0, project='default')
        self.assertEqual({one['id'] for one in everything}, {call['id'], other['id']})

    def test_change_ends_the_wait(self):
        session, call = self.waiting()
        for n, scope in enumerate(self.scopes(session)):
            _, as_of = self.changed(0, **scope)
            self.server.advance(0.01)
            reader = Client(self.server.port, self.server.token)
            query = urllib.parse.urlencode({'changedSince': as_of + 1, 'wait': 20, **scope})
            reader.begin(f'/async-tool/pending?{query}')
            self.server.advance(1)
            self.assertTrue(reader.waits())
            self.server.post(
                '/async-tool/progress', {'pendingID': call['id'], 'payload': n, 'key': str(n)}
            )
            self.assertEqual([one['progressCount'] for one in reader.end()['items']], [n + 1])
            reader.close()

    def test_project_waits_for_its_first_call(self):
        answers = []
        reader = Client(self.server.port, self.server.token)
        thread = threading.Thread(
            target=lambda: answers.append(reader.get('/async-tool/pending?project=mine&wait=20'))
        )
        thread.start()
        self.server.create('deploy A', project='other')
        self.server.create('deploy A', project='mine')
        thread.join(timeout=10)
        self.assertEqual([one['projectID'] for one in answers[0]['items']], ['mine'])
        reader.close()

    def test_time_runs_out_with_an_empty_list(self):
        reader = self.server.new_client()
        self.addCleanup(reader.close)
        reader.begin(f'/async-tool/pending?changedSince={2**50}&wait=30')
        self.server.get('/healthz')  # answered after everything before it was read
        self.server.advance(15)
        self.assertTrue(reader.waits())
        self.server.advance(15)
        answer = reader.end()
        self.assertPage(answer, PENDING)
        self.assertEqual(answer['items'], [])
        self.assertGreater(int(answer.headers['Dormouse-As-Of']), 1_700_000_000_000)

    def test_poller_following_the_header_sees_every_change(self):
        seen, as_of, wanted = {}, 0, set()

        def work():
            for n in range(10):
                _, call = self.waiting(f'deploy t{n}')
                wanted.add(call['id'])
                self.server.result(call['id'], n)

        thread = threading.Thread(target=work)
        thread.start()
        reader = Client(self.server.port, self.server.token)
        until = time.monotonic() + 40
        while time.monotonic() < until:
            answer = reader.get(f'/async-tool/pending?changedSince={as_of}&wait=1')
            as_of = int(answer.headers['Dormouse-As-Of'])
            seen.update({one['id']: one['status'] for one in answer['items']})
            done = not thread.is_alive() and wanted <= set(seen)
            if done and all(seen[one] == 'completed' for one in wanted):
                break
        reader.close()
        thread.join()
        self.assertEqual({one: 'completed' for one in wanted}, seen)

    def test_cursor_survives_a_restart(self):
        _, call = self.waiting()
        _, as_of = self.changed(0)
        self.server.result(call['id'], 'x')
        self.server.restart()
        items, _ = self.changed(as_of)
        self.assertEqual([(one['id'], one['status']) for one in items], [(call['id'], 'completed')])

    def test_pages(self):
        made = {self.waiting(f'deploy t{n}')[1]['id'] for n in range(5)}
        got, cursor = [], {}
        while True:
            answer = self.server.get(
                '/async-tool/pending?' + urllib.parse.urlencode(
                    {'changedSince': 1, 'limit': 2, **cursor})
            )
            got += [one['id'] for one in answer['items']]
            if answer['next'] is None:
                break
            cursor = {'cursor': answer['next']}
        self.assertEqual((len(got), set(got)), (5, made))


OBJECTS = {
    'session_created': SESSION,
    'session_changed': SESSION,
    'session_ended': SESSION,
    'input_received': MESSAGE,
    'model_replied': MESSAGE,
    'turn_started': TURN,
    'turn_ended': TURN,
    'model_requested': TURN,
    'tool_started': PART['tool'],
    'tool_finished': PART['tool'],
    'call_paused': PENDING,
    'submitted': PENDING,
    'progressed': PENDING,
    'cancelled': PENDING,
}


class Objects(Contract):
    """view=objects: each event with its current object."""

    def some_events(self):
        session, call = self.waiting()
        self.server.post('/async-tool/progress', {'pendingID': call['id'], 'payload': 1})
        self.server.result(call['id'], 'x')
        self.server.at_rest(session['id'])
        self.server.call('PATCH', f'/api/sessions/{session["id"]}', {'title': 'T'})
        self.server.post(f'/api/sessions/{session["id"]}/end')
        return session['id'], call['id']

    def test_pages_contain_the_objects(self):
        session, call = self.some_events()
        path = f'/api/sessions/{session}/events'
        page = self.server.get(f'{path}?view=objects&limit=200')
        plain = self.server.get(f'{path}?limit=200')
        self.assertEqual([{k: v for k, v in e.items() if k != 'object'} for e in page['items']],
                         plain['items'])
        now = self.server.session(session)
        kinds = set()
        for event in page['items']:
            shape = OBJECTS[event['type']]
            kinds.add(event['type'])
            self.assertIsNone(mismatch(event['object'], shape), event)
            if shape is SESSION:
                self.assertEqual(event['object'], now, 'as it stands now, not as it stood')
            if shape is PENDING:
                self.assertEqual(event['object'],
                                 self.server.get(f'/async-tool/pending/{call}').json)
        self.assertLessEqual({'session_created', 'input_received', 'model_replied', 'turn_started',
                              'turn_ended', 'tool_started', 'submitted', 'progressed'}, kinds)
        self.assertEqual(self.server.get(f'{path}?view=events').json,
                         self.server.get(path).json)

    def test_stream_has_them_too_and_continues(self):
        session, call = self.waiting()
        path = f'/api/sessions/{session["id"]}/events?view=objects'
        with Events(self.server, path) as stream:
            begin = [f for f in stream.until(lambda f: f.id == session['seq']) if f.id]
            self.assertEqual([f.id for f in begin], list(range(1, session['seq'] + 1)))
            self.server.result(call['id'], 'x')
            frames = stream.until(lambda f: f.event == 'turn_ended')
        durable = [f for f in frames if f.id]
        self.assertEqual([f.id for f in durable],
                         list(range(session['seq'] + 1, durable[-1].id + 1)))
        for frame in begin + durable:
            self.assertIsNone(mismatch(frame.data['object'], OBJECTS[frame.event]), frame)
        settled = next(f for f in durable if f.event == 'submitted')
        self.assertEqual(settled.data['object']['status'], 'completed')


class Counts(Contract):
    def counts(self):
        return self.server.get('/api/projects/default/sessions?counts=true&limit=1')['counts']

    def test_counts_are_of_states_that_rows_have(self):
        none = {'all': 0, 'waiting': 0, 'running': 0, 'failed': 0, 'paused': 0, 'error': 0,
                'completed': 0, 'complete': True}
        self.assertEqual(self.counts(), none)
        self.server.create('deploy A')
        self.server.create('hello', project='other')
        ended = self.server.create('hello')['id']
        self.assertStatus(self.server.post(f'/api/sessions/{ended}/end'), 200)
        self.assertEqual(self.counts(), {**none, 'all': 2, 'waiting': 1, 'completed': 1})
        self.assertStatus(self.server.delete(f'/api/sessions/{ended}'), 204)
        self.assertEqual(self.counts(), {**none, 'all': 1, 'waiting': 1})

    def test_more_than_999_sessions_are_not_counted(self):
        for _ in range(999):
            self.server.create()
        self.assertEqual((self.counts()['all'], self.counts()['complete']), (999, True))
        for _ in range(2):
            self.server.create()
            self.assertEqual((self.counts()['all'], self.counts()['complete']), (1000, False))


class FarBehind(Contract):
    """A reader far behind a long session gets it page by page; the server holds a page, not all."""

    EVENTS, BYTES = 100, 400_000

    def resident(self):
        status = open(f'/proc/{self.server.process.pid}/status').read()
        return int(status.split('VmRSS:')[1].split()[0]) * 1024

    def long_session(self):
        session = self.server.create()['id']
        for _ in range(self.EVENTS):
            answer = self.server.prompt(session, 'x' * self.BYTES, wait=0, when='queue')
            self.assertStatus(answer, 202)
            self.server.session(session, wait=20)
        return session

    def test_slow_reader_gets_it_all_and_memory_stays_bounded(self):
        session = self.long_session()
        self.server.restart()  # nothing of it is in memory
        head = self.server.session(session)['seq']
        with Events(self.server, f'/api/sessions/{session}/events') as warm:
            warm.until(lambda f: f.id == 3)
        before = self.resident()
        readers = [Events(self.server, f'/api/sessions/{session}/events', timeout=60)
                   for _ in range(4)]
        peak, got = 0, []
        while not got or got[-1] != head:
            frame = readers[0].frame()
            if frame.id is None:
                continue
            got.append(frame.id)
            if len(got) % 20 == 0:
                peak = max(peak, self.resident())
        self.assertEqual(got, list(range(1, head + 1)))
        # The others have read nothing: they were not cut, and continue at their position.
        for reader in readers[1:]:
            ids = [f.id for f in reader.until(lambda f: f.id == head) if f.id]
            self.assertEqual(ids, list(range(1, head + 1)))
            reader.close()
        readers[0].close()
        total = 2 * self.EVENTS * self.BYTES
        self.assertLess(peak - before, total / 4, f'of {total} bytes of history')

    def test_event_larger_than_the_queue_limit_is_sent(self):
        session = self.server.create('x' * 900_000)['id']
        self.server.prompt(session, 'y' * 900_000)
        fork = self.server.post(f'/api/sessions/{session}/fork', {})  # an event of 3.6 MB
        self.assertStatus(fork, 201)
        with Events(self.server, f'/api/sessions/{fork["id"]}/events') as stream:
            frames = [f for f in stream.until(lambda f: f.id == fork['seq']) if f.id]
        self.assertEqual([f.id for f in frames], list(range(1, fork['seq'] + 1)))
        self.assertGreater(max(len(f.raw) for f in frames), 2 << 20)


if __name__ == '__main__':
    main()
