#!/usr/bin/env python3
"""`dormouse tasks`: background tasks of a session from a terminal."""
from cli import NOT_FOUND, SLEEPS, USAGE, Cli
from dormouse import main


class Tasks(Cli):
    def test_tasks(self):
        session = self.server.create()['id']
        self.assertIn('no tasks', self.dm('tasks', session))
        body = {'agentID': 'demo', 'prompt': 'hello', 'description': 'look it up'}
        task = self.server.post(f'/api/sessions/{session}/tasks', body).json
        self.server.get(f'/api/tasks/{task["taskID"]}/output?wait=20')
        output = self.dm('tasks', session)
        for part in (task['taskID'], task['sessionID'], 'completed', 'look it up'):
            self.assertIn(part, output)
        listed = self.server.get(f'/api/sessions/{session}/tasks').json
        self.assertEqual(self.objects('tasks', session), [listed])

    def test_task_from_its_start_to_its_end(self):
        session = self.server.create()['id']
        [task] = self.objects('tasks', session, '--start', 'hello', '--description', 'greet')
        self.assertEqual((task['agentID'], task['description']), ('demo', 'greet'))
        output = self.dm('tasks', '--output', task['taskID'], '--wait', '20s')
        self.assertIn('completed', output)
        self.assertIn('You said: hello', output)
        self.dm('tasks', '--resume', task['taskID'], exits=USAGE)
        self.dm('tasks', '--resume', task['taskID'], '--message', 'deploy A')
        self.assertIn('resumed', self.dm('tasks', '--output', task['taskID'], exits=SLEEPS))
        self.assertIn('completed', self.dm('tasks', '--cancel', task['taskID']))
        self.assertIn('cleared', self.dm('tasks', '--clear', task['taskID']))
        self.dm('tasks', '--output', task['taskID'], exits=NOT_FOUND)
        self.dm('tasks', session, '--output', task['taskID'], exits=USAGE)
        self.dm('tasks', exits=USAGE)


if __name__ == '__main__':
    main()
