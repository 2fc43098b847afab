#!/usr/bin/env python3
"""`dormouse attach` with opencode itself and its real screen, in a terminal: what a person types
there is stored, the model (scripted) answers, and the next prompt knows of it."""
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / 'agents')]

import attach  # noqa: E402
import opencode  # noqa: E402
import real_agent  # noqa: E402
from dormouse import children_of, leave_out, main, wait_for  # noqa: E402


class Screen(real_agent.Played):
    more = ''

    def setUp(self):
        super().setUp()
        self.own = {'DO_NOT_TRACK': '1', 'CI': '1', **opencode.OpenCode.variables(self)}
        more = f'idle_stop = "2s"\n{self.more}'
        self.serve(real_agent.entry('coder', opencode.OpenCode.command, self.own, more), self.own)

    prompted, rested = real_agent.RealAgent.prompted, real_agent.RealAgent.rested

    def sleeps(self):
        wait_for(lambda: not children_of(self.server.process.pid), 90, 'its sleep')

    def test_input_on_the_screen_is_stored(self):
        session = self.server.create(agent='coder')['id']
        self.prompted(session, 'remember TOKEN-17')
        self.sleeps()
        env = {'HOME': str(self.home), **self.own}
        terminal = attach.Terminal(self.server, session, env)
        self.addCleanup(terminal.close)
        terminal.until('TOKEN-17', real_agent.LIMIT_S)
        self.assertEqual(len(self.server.turns(session)), 1, 'woken without a turn')
        time.sleep(3)  # the real screen draws, and drops input until it is done
        terminal.type('remember TOKEN-23')
        time.sleep(1)  # otherwise it takes both for a paste
        terminal.type('\r')

        def answered():
            terminal.read()
            return 'TOKEN-23' in self.server.last_text(session)

        wait_for(answered, real_agent.LIMIT_S, 'the answer in the journal')
        self.assertTrue(children_of(self.server.process.pid), 'it is awake')
        terminal.type('\x03')
        self.assertEqual(terminal.end(30), 0, terminal.shown[-2000:])
        user = [m for m in self.server.messages(session) if m['role'] == 'user']
        self.assertEqual([m['source']['type'] for m in user], ['prompt', 'external'])
        self.assertEqual(user[1]['parts'][0]['text'], 'remember TOKEN-23')
        turns = self.server.turns(session)
        self.assertEqual([t['cause']['type'] for t in turns], ['prompt', 'external'])
        self.sleeps()
        reply = self.prompted(session, 'what do you remember?')
        self.assertIn('TOKEN-17', reply)
        self.assertIn('TOKEN-23', reply)


class InASandbox(Screen):
    more = 'sandbox = "bwrap"\n'


def setUpModule():
    if why := opencode.install():
        leave_out(why)


if __name__ == '__main__':
    main()
