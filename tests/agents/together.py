#!/usr/bin/env python3
"""opencode starts a background task of Claude Code, ends its turn, and wakes with the outcome,
whatever was killed in between. Both are the real programs, with a scripted model."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / 'slow')]

import claude  # noqa: E402
import npm  # noqa: E402
import opencode  # noqa: E402
import real_agent  # noqa: E402
from dormouse import leave_out, main, wait_for  # noqa: E402
from real_agent import LIMIT_S, entry  # noqa: E402


class Together(real_agent.Played):
    def setUp(self):
        super().setUp()
        coder, reviewer = opencode.OpenCode.variables(self), claude.Claude.variables(self)
        self.serve(
            entry('coder', opencode.OpenCode.command, coder, 'tools = ["background_*"]\n')
            + entry('reviewer', claude.Claude.command, reviewer),
            {**coder, **reviewer},
        )

    def reports_token(self, session):
        """True if the session's last reply has the token that Claude Code reported."""
        replies = [m for m in self.server.messages(session) if m['role'] == 'assistant']
        return any('TOKEN-99' in p.get('text', '') for m in replies[-1:] for p in m['parts'])

    def begin(self):
        session = self.server.create(agent='coder')['id']
        self.assertStatus(self.server.prompt(session, 'USE_TASK please', wait=0), 202)
        return session

    def woken_once(self, session):
        wait_for(lambda: self.reports_token(session), LIMIT_S, 'the outcome')
        (task,) = self.server.items(f'/api/sessions/{session}/tasks')
        self.assertEqual((task['agentID'], task['status']), ('reviewer', 'completed'))
        turns = self.server.turns(session)
        self.assertEqual([turn['cause']['type'] for turn in turns], ['prompt', 'task'])

    def test_agent_is_woken_by_the_outcome(self):
        self.woken_once(self.begin())

    def test_kill_of_all_in_between_loses_and_doubles_nothing(self):
        session = self.begin()
        wait_for(lambda: self.server.items(f'/api/sessions/{session}/tasks'), LIMIT_S, 'the task')
        self.server.restart()
        self.woken_once(session)


def setUpModule():
    if why := opencode.install() or npm.install(claude.FOLDER, 'node', limit_s=600):
        leave_out(why)


if __name__ == '__main__':
    main()
