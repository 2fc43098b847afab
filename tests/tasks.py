#!/usr/bin/env python3
"""Background tasks (requirements D) with the real binary: over HTTP, over kills, with parents that
sleep, wait and end; and agents as tools."""
from dormouse import Events, main, run, wait_for
from shapes import SESSION, TASK, Contract

GONE = 'Session expired or was deleted. Start a new background_task to continue.'
RESUMING = 'Task is currently being resumed. Wait for completion before sending another message.'


class Tasks(Contract):
    def child_waits(self, child):
        """The child is created a moment after its task."""
        wait_for(lambda: self.server.get(f'/api/sessions/{child}').status == 200, what='the child')
        wait_for(lambda: self.server.open_calls(child), what='the call of the child')

    def start(self, session, prompt='hello', **more):
        body = {'agentID': 'demo', 'prompt': prompt, 'description': 'look', **more}
        task = self.assertStatus(self.server.post(f'/api/sessions/{session}/tasks', body), 201).json
        self.assertShape(task, TASK)
        return task

    def output(self, task, wait=30):
        return self.server.get(f'/api/tasks/{task["taskID"]}/output?wait={wait}')

    def ended(self, task):
        answer = self.assertStatus(self.output(task), 200)
        self.assertShape(answer.json, TASK)
        return answer.json

    def resume(self, task, message):
        return self.server.post(f'/api/tasks/{task["taskID"]}/resume', {'message': message})

    def list(self, session):
        return self.assertPage(self.server.get(f'/api/sessions/{session}/tasks'), TASK)

    def notices(self, session):
        """Returns the messages about a session's tasks."""
        return [
            m['parts'][0]['text']
            for m in self.server.messages(session)
            if m['source']['type'] == 'task'
        ]

    def wait_notices(self, session, count=1):
        wait_for(lambda: len(self.notices(session)) >= count, what='notice')
        self.server.at_rest(session)
        return self.notices(session)


class OverHttp(Tasks):
    def test_task_is_a_session_of_its_own(self):
        parent = self.server.create()['id']
        task = self.ended(self.start(parent))
        self.assertEqual(task['status'], 'completed')
        self.assertEqual(task['result'], 'You said: hello')
        child = self.server.session(task['sessionID'])
        self.assertShape(child, SESSION)
        self.assertEqual((child['parentID'], child['status']), (parent, 'active'))
        self.assertEqual(self.list(parent), [task])

    def test_parent_gets_the_end_once(self):
        parent = self.server.create()['id']
        task = self.ended(self.start(parent))
        (notice,) = self.wait_notices(parent)
        self.assertTrue(notice.startswith(f'Task {task["taskID"]}: completed.'), notice)
        self.assertEqual(self.server.last_text(parent), f'task {task["taskID"]}: completed')
        self.server.restart()
        self.server.at_rest(parent)
        self.assertEqual(len(self.notices(parent)), 1)

    def test_resume_continues_with_the_whole_conversation(self):
        parent = self.server.create()['id']
        task = self.ended(self.start(parent))
        resumed = self.assertStatus(self.resume(task, 'again'), 202).json
        self.assertEqual(resumed['resumeCount'], 1)
        task = self.ended(task)
        self.assertEqual((task['status'], task['resumeCount']), ('completed', 1))
        self.assertEqual(task['result'], 'You said: again')  # the new response, and only that
        texts = [m['parts'][0]['text'] for m in self.server.messages(task['sessionID'])]
        self.assertEqual(texts, ['hello', 'You said: hello', 'again', 'You said: again'])
        self.assertEqual(len(self.wait_notices(parent, 2)), 2)

    def test_only_completed_tasks_can_be_resumed(self):
        parent = self.server.create()['id']
        task = self.start(parent, 'deploy A')
        status = self.assertProblem(self.resume(task, 'x'), 409, 'task_not_completed')
        self.assertEqual(
            status['detail'],
            "Cannot resume task: status is 'running'. Only completed tasks can be resumed.",
        )
        done = self.ended(self.start(parent))
        self.assertStatus(self.resume(done, 'deploy B'), 202)
        again = self.assertProblem(self.resume(done, 'x'), 409, 'task_resuming')
        self.assertEqual(again['detail'], RESUMING)

    def test_task_that_is_missing(self):
        parent = self.server.create()['id']
        known = self.start(parent)['taskID']
        for unknown in ('tsk_1', 'nonsense', known[:-1] + '9', known[:-1] + '0'):
            problem = self.assertProblem(
                self.server.post(f'/api/tasks/{unknown}/resume', {'message': 'x'}), 404, 'not_found'
            )
            self.assertEqual(problem['detail'], f'Task not found: {unknown}')
            self.assertProblem(self.server.delete(f'/api/tasks/{unknown}'), 404, 'not_found')
            path = f'/api/tasks/{unknown}/output'
            self.assertProblem(self.server.get(path), 404, 'not_found')

    def test_child_that_was_deleted(self):
        parent = self.server.create()['id']
        task = self.ended(self.start(parent))
        self.assertStatus(self.server.delete(f'/api/sessions/{task["sessionID"]}'), 204)
        # A resume that is earlier is accepted, and the task fails.
        wait_for(lambda: any(event['data'].get('gone') for event in self.server.events(parent)),
                 what='the end of the child')
        problem = self.assertProblem(self.resume(task, 'x'), 410, 'task_session_gone')
        self.assertEqual(problem['detail'], GONE)

    def test_child_that_is_deleted_while_it_runs(self):
        parent = self.server.create()['id']
        task = self.start(parent, 'deploy A')
        wait_for(lambda: self.server.get(f'/api/sessions/{task["sessionID"]}').status == 200)
        self.server.delete(f'/api/sessions/{task["sessionID"]}')
        task = self.ended(task)
        self.assertEqual((task['status'], task['error']), ('error', GONE))

    def test_cancel_stops_the_child(self):
        parent = self.server.create()['id']
        task = self.start(parent, 'deploy A')
        self.child_waits(task['sessionID'])
        cancelled = self.server.post(f'/api/tasks/{task["taskID"]}/cancel')
        self.assertEqual(self.assertStatus(cancelled, 200)['status'], 'cancelled')
        wait_for(lambda: not self.server.open_calls(task['sessionID']), what='its cancel')
        again = self.server.post(f'/api/tasks/{task["taskID"]}/cancel')
        self.assertProblem(again, 409, 'wrong_state')

    def test_clear_ends_the_child(self):
        parent = self.server.create()['id']
        task = self.start(parent, 'deploy A')
        self.assertStatus(self.server.delete(f'/api/tasks/{task["taskID"]}'), 204)
        self.assertEqual(self.list(parent), [])
        child = f'/api/sessions/{task["sessionID"]}'
        wait_for(lambda: self.server.get(child).json.get('status') == 'completed', what='its end')
        problem = self.assertProblem(self.resume(task, 'x'), 404, 'not_found')
        self.assertEqual(problem['detail'], f'Task not found: {task["taskID"]}')

    def test_repeated_request_starts_one(self):
        parent = self.server.create()['id']
        body = {'agentID': 'demo', 'prompt': 'hello'}
        first, again = (
            self.server.post(f'/api/sessions/{parent}/tasks', body, Idempotency_Key='k')
            for _ in range(2)
        )
        self.assertEqual(first['taskID'], again['taskID'])
        self.server.restart()
        late = self.server.post(f'/api/sessions/{parent}/tasks', body, Idempotency_Key='k')
        self.assertEqual(late['taskID'], first['taskID'])
        self.assertEqual(len(self.list(parent)), 1)

    def test_bad_requests_change_nothing(self):
        parent = self.server.create()['id']
        for body, code in [
            ({'agentID': 'nobody', 'prompt': 'x'}, 'bad_value'),
            ({'agentID': 'demo'}, 'bad_value'),
            ({'agentID': 'demo', 'prompt': ''}, 'bad_value'),
            ({'agentID': 'demo', 'prompt': 'x', 'block': True}, 'unknown_field'),
            ({'agentID': 'demo', 'prompt': 'x', 'description': 'd' * 1001}, 'bad_value'),
        ]:
            answer = self.server.post(f'/api/sessions/{parent}/tasks', body)
            self.assertProblem(answer, 400, code)
        large = {'agentID': 'demo', 'prompt': 'x' * (1 << 20) + 'y'}
        self.assertProblem(
            self.server.post(f'/api/sessions/{parent}/tasks', large), 413, 'too_large'
        )
        self.assertEqual(self.list(parent), [])

    def test_eight_tasks_run_at_once_others_are_queued(self):
        parent = self.server.create()['id']
        tasks = [self.start(parent, 'deploy A') for _ in range(9)]
        self.assertEqual([t['queued'] for t in self.list(parent)], [False] * 8 + [True])
        wait_for(lambda: self.server.open_calls(tasks[3]['sessionID']), what='its call')
        (call,) = self.server.open_calls(tasks[3]['sessionID'])
        self.server.result(call['id'], 'live')
        self.ended(tasks[3])
        self.assertFalse(self.list(parent)[8]['queued'])
        wait_for(lambda: self.server.get(f'/api/sessions/{tasks[8]["sessionID"]}').status == 200)
        self.server.post(f'/api/sessions/{parent}/end')


class Demo(Tasks):
    def test_background_returns_the_id_and_reports_the_end(self):
        session = self.server.create('background deploy A')['id']
        (task,) = self.list(session)
        line = f'background_task deploy A: {task["taskID"]}'
        self.assertEqual(self.server.last_text(session), line)
        self.child_waits(task['sessionID'])
        (call,) = self.server.open_calls(task['sessionID'])
        self.server.result(call['id'], 'live')
        self.assertEqual(self.ended(task)['result'], 'deploy A: live')
        self.wait_notices(session)
        self.assertEqual(self.server.last_text(session), f'task {task["taskID"]}: completed')


class OverKills(Tasks):
    def test_task_survives_a_kill_at_each_step(self):
        parent = self.server.create()['id']
        task = self.start(parent, 'deploy A')
        self.server.restart()  # it was acknowledged: the child is created
        child = task['sessionID']
        wait_for(lambda: self.server.get(f'/api/sessions/{child}').status == 200)
        self.child_waits(child)
        self.server.restart()
        (call,) = self.server.open_calls(child)
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.server.restart()  # the outcome was acknowledged: the parent gets the end
        self.assertEqual(self.ended(task)['result'], 'deploy A: live')
        self.server.restart()
        self.assertEqual(len(self.wait_notices(parent)), 1)
        kinds = [e['type'] for e in self.server.events(child)]
        self.assertEqual(kinds.count('session_created'), 1)
        self.assertEqual(kinds.count('turn_started'), 1)

    def test_many_tasks_over_a_kill_run_once_each(self):
        parent = self.server.create()['id']
        tasks = [self.start(parent, f'number {n}') for n in range(20)]
        self.server.restart()
        for n, task in enumerate(tasks):
            self.assertEqual(self.ended(task)['result'], f'You said: number {n}')
        self.assertEqual(len(self.wait_notices(parent, 20)), 20)


class OfParents(Tasks):
    def test_waiting_parent_gets_the_end_after_its_turn(self):
        parent = self.server.create('deploy A')['id']
        self.ended(self.start(parent))
        self.assertEqual(self.server.session(parent)['activity']['type'], 'waiting_async')
        self.assertEqual(len(self.server.turns(parent)), 2)  # the notice's waits behind
        (call,) = self.server.open_calls(parent)
        self.server.result(call['id'], 'live')
        self.assertEqual(len(self.wait_notices(parent)), 1)

    def test_end_of_a_parent_ends_its_children(self):
        parent = self.server.create()['id']
        task = self.start(parent, 'deploy A')
        self.child_waits(task['sessionID'])
        self.assertStatus(self.server.post(f'/api/sessions/{parent}/end'), 200)
        child = task['sessionID']
        wait_for(lambda: self.server.session(child)['status'] == 'completed')
        self.assertEqual(self.server.open_calls(child), [])
        self.assertEqual(self.list(parent), [])

    def test_deleting_a_parent_ends_its_children_over_a_kill(self):
        parent = self.server.create()['id']
        task = self.start(parent, 'deploy A')
        self.child_waits(task['sessionID'])
        self.assertStatus(self.server.delete(f'/api/sessions/{parent}'), 204)
        self.server.restart()
        wait_for(lambda: self.server.session(task['sessionID'])['status'] == 'completed')


class Progress(Tasks):
    def test_running_task_reports_progress(self):
        parent = self.server.create()['id']
        task = self.start(parent, 'deploy A')
        child = task['sessionID']
        wait_for(lambda: self.server.get(f'/api/sessions/{child}').status == 200)
        wait_for(lambda: self.server.open_calls(child), what='its call')
        self.server.prompt(child, 'report half way', wait=0, when='steer')
        wait_for(lambda: self.list(parent)[0]['progress'] == 'half way', what='its progress')
        body = {'text': 'nearly there'}
        report = f'/api/sessions/{child}/report'
        self.assertStatus(self.server.post(report, body), 204)
        self.server.restart()  # what was acknowledged reaches the parent
        wait_for(lambda: self.list(parent)[0]['progress'] == 'nearly there', what='the next')
        self.assertEqual(self.output(task, 0)['progress'], 'nearly there')
        self.assertEqual(self.notices(parent), [], 'it wakes nobody')
        (call,) = self.server.open_calls(child)
        self.server.result(call['id'], 'live')
        self.ended(task)
        self.wait_notices(parent)
        self.assertEqual(len(self.notices(parent)), 1)
        self.assertProblem(self.server.post(report, body), 409, 'wrong_state')
        self.assertProblem(
            self.server.post(f'/api/sessions/{parent}/report', body), 409, 'wrong_state'
        )
        for bad in ({}, {'text': ''}, {'text': 5}, {'percent': 50}):
            self.assertEqual(self.server.post(report, bad).status, 400, bad)
        self.assertProblem(self.server.post(report, {'text': 'x' * 4097}), 413, 'too_large')

    def test_tree_of_tasks(self):
        parent = self.server.create()['id']
        top = self.start(parent, 'background deploy A')
        wait_for(lambda: len(self.tree(parent)) == 1 and self.tree(parent)[0]['tasks'])
        self.start(top['sessionID'], 'hello')
        first, second = self.tree(parent)[0]['tasks']
        self.assertEqual(first['parentID'], top['sessionID'])
        self.assertEqual((second['prompt'], second['tasks']), ('hello', []))
        shown = run(
            'tasks', parent, '--tree', '--server', f'http://127.0.0.1:{self.server.port}',
            '--data', self.server.directory,
        ).stdout  # fmt: skip
        lines = shown.splitlines()
        self.assertTrue(lines[0].startswith(top['taskID']), shown)
        self.assertTrue(lines[1].startswith('  ' + first['taskID']), shown)
        bad = self.server.get(f'/api/sessions/{parent}/tasks?tree=yes')
        self.assertProblem(bad, 400, 'bad_value')
        self.server.post(f'/api/sessions/{parent}/end')

    def tree(self, session):
        return self.server.get(f'/api/sessions/{session}/tasks?tree=true')['items']

    def test_child_may_begin_with_the_parents_messages(self):
        parent = self.server.create('the word is mulberry')['id']
        task = self.ended(self.start(parent, 'which word?', fork=True))
        self.server.restart()
        texts = [
            part['text']
            for message in self.server.messages(task['sessionID'])
            for part in message['parts']
        ]
        self.assertEqual(
            texts,
            [
                'the word is mulberry',
                'You said: the word is mulberry',
                'which word?',
                'You said: which word?',
            ],
        )
        child = self.server.session(task['sessionID'])
        self.assertEqual((child['forkedFrom'], child['parentID']), (parent, parent))
        plain = self.ended(self.start(parent, 'which word?'))
        self.assertEqual(len(self.server.messages(plain['sessionID'])), 2)
        nothing_yet = self.server.create()['id']
        early = self.ended(self.start(nothing_yet, 'hello', fork=True))
        self.assertEqual(early['result'], 'You said: hello')

    def test_events_of_children_through_the_parent(self):
        parent = self.server.create('background hello')['id']
        (task,) = self.list(parent)
        self.ended(task)
        self.wait_notices(parent)
        self.server.create('somebody else')
        found, cursor = [], '0'
        while True:
            path = f'/api/sessions/{parent}/events?children=true&limit=5&after={cursor}'
            page = self.assertStatus(self.server.get(path), 200).json
            found += page['items']
            if page['next'] == cursor:
                break
            cursor = page['next']
        self.assertEqual({e['sessionID'] for e in found}, {parent, task['sessionID']})
        for session in (parent, task['sessionID']):
            seqs = [e['seq'] for e in found if e['sessionID'] == session]
            self.assertEqual(seqs, [e['seq'] for e in self.server.events(session)])
        path = f'/api/sessions/{parent}/events?children=true'
        with Events(self.server, path, last_event_id=cursor) as stream:
            again = self.start(parent, 'one more')['sessionID']
            frames = stream.until(lambda f: f.data and f.data.get('sessionID') == again)
        seen = {f.data['sessionID'] for f in frames if f.data}
        self.assertEqual(seen, {parent, again})
        bad = self.server.get(f'/api/sessions/{parent}/events?children=all')
        self.assertProblem(bad, 400, 'bad_value')


    def test_events_of_children_among_those_of_many_others(self):
        """To know whose they are, sessions are read: a limited number for each page."""
        parent = self.server.create('hello')['id']
        others = [self.server.create('hello')['id'] for _ in range(80)]
        path = f'/api/sessions/{parent}/events?children=true&after='
        cursor = self.assertStatus(self.server.get(path + 'now'), 200)['next']
        for session in (*others, parent):
            self.server.prompt(session, 'and now?')
        found, pages = [], 0
        while True:
            page = self.assertStatus(self.server.get(path + cursor), 200).json
            found, pages = found + page['items'], pages + 1
            if page['next'] == cursor:
                break
            cursor = page['next']
        self.assertEqual({e['sessionID'] for e in found}, {parent})
        self.assertEqual(found[-1]['seq'], self.server.session(parent)['seq'])
        self.assertGreater(pages, 2)


class WhatUsersOfOthersReport(Tasks):
    """The five known complaints about background tasks of other systems, each as a regression test.
    """

    def test_idle_parent_is_woken_by_the_end_of_its_task(self):
        parent = self.server.create('hello')['id']
        self.assertEqual(self.server.session(parent)['activity']['type'], 'idle')
        task = self.start(parent)
        self.wait_notices(parent)
        self.assertEqual(self.server.last_text(parent), f'task {task["taskID"]}: completed')

    def test_busy_parent_gets_the_end_in_its_turn(self):
        """There is always a next prompt: the notice waits in the same queue."""
        parent = self.server.create()['id']
        for n in range(3):
            self.server.prompt(parent, f'sleepy {300 + n}ms', wait=0)
        self.ended(self.start(parent))
        for n in range(60):
            if self.notices(parent):
                break
            open_turns = [t for t in self.server.turns(parent) if t['status'] != 'ended']
            self.assertTrue(open_turns, 'the parent was busy all the time')
            self.server.prompt(parent, f'sleepy {400 + n}ms', wait=0)
            wait_for(
                lambda: len([t for t in self.server.turns(parent) if t['status'] != 'ended']) < 3
            )
        self.assertEqual(len(self.notices(parent)), 1)
        self.server.at_rest(parent)

    def test_one_end_wakes_the_parent_once(self):
        parent = self.server.create()['id']
        tasks = [self.start(parent, f'number {n}') for n in range(4)]
        for task in tasks:
            self.ended(task)
            self.server.restart()  # what was under way is delivered again
        self.wait_notices(parent, 4)
        self.server.restart()
        self.server.at_rest(parent)
        causes = [t['cause']['type'] for t in self.server.turns(parent)]
        self.assertEqual(causes, ['task'] * 4)
        self.assertEqual(len(set(self.notices(parent))), 4)

    def test_output_is_stored_before_the_notice(self):
        parent = self.server.create()['id']
        for n in range(5):
            task = self.start(parent, f'number {n}')
            wait_for(lambda: len(self.notices(parent)) == n + 1, what='notice')
            self.server.restart()  # a kill in the moment in which the notice is visible
            done = self.assertStatus(self.output(task, 0), 200).json
            self.assertEqual(done['result'], f'You said: number {n}')
        events = self.server.events(parent)
        stored = [e['seq'] for e in events if e['data'].get('status') == 'completed']
        notices = [
            e['seq']
            for e in events
            if e['type'] == 'input_received' and e['data']['source'] == 'task'
        ]
        self.assertEqual(len(stored), len(notices))
        for before, after in zip(stored, notices):
            self.assertLess(before, after)

    def test_returned_id_is_found_at_once_and_after_a_kill(self):
        parent = self.server.create()['id']
        other = self.server.new_client()
        for n in range(5):
            task = self.start(parent, f'number {n}')
            path = f'/api/tasks/{task["taskID"]}/output'
            self.assertIn(other.get(path).status, (200, 202))
        other.close()
        session = self.server.create('background deploy A')['id']
        announced = self.server.last_text(session).rsplit(': ', 1)[1]
        self.server.restart()
        for one in (announced, task['taskID']):
            self.assertIn(self.server.get(f'/api/tasks/{one}/output').status, (200, 202))

    def test_second_output_does_not_overwrite_the_first(self):
        """Both end while the parent waits for something else."""
        parent = self.server.create('deploy A')['id']
        first, second = self.start(parent, 'one'), self.start(parent, 'two')
        self.ended(first)
        self.ended(second)
        (call,) = self.server.open_calls(parent)
        self.server.result(call['id'], 'live')
        notices = self.wait_notices(parent, 2)
        for task in (first, second):
            self.assertEqual(len([one for one in notices if task['taskID'] in one]), 1, notices)
        self.assertEqual(self.output(first)['result'], 'You said: one')
        self.assertEqual(self.output(second)['result'], 'You said: two')


if __name__ == '__main__':
    main()
