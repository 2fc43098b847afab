"""Base class of the tests with real agents: each has its own home, folder and scripted model, and
does only what a prompt asks for."""
import json
import os
import pathlib
import shutil
import signal
import tempfile

from dormouse import Server, children_of, wait_for
from fake_model import FakeModel
from shapes import MESSAGE, Contract

LIMIT_S = 120  # they take their time to start


def entry(name, command, variables, more=''):
    """An [[agent]] that is started so, in the folder `work` beside its configuration."""
    return (
        f'[[agent]]\nid = "{name}"\nacp = {json.dumps(list(map(str, command)))}\n'
        f'roots = ["work"]\nenv_allow = {json.dumps(list(variables))}\n{more}'
    )


class Played(Contract):
    """A home, a folder and a model for what `serve` starts."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-agent-'))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.work, self.home = self.folder / 'work', self.folder / 'home'
        self.work.mkdir()
        self.home.mkdir()
        self.model = FakeModel()
        self.addCleanup(self.model.close)

    def serve(self, agents, variables):
        config = self.folder / 'dormouse.toml'
        config.write_text(agents)
        env = {'HOME': str(self.home), 'TMPDIR': str(self.folder), **variables}
        self.server = Server('--config', str(config), env=env)
        self.addCleanup(self.server.clean)


class RealAgent(Played):
    """`command` and `variables()` say how it is started. `keeps_its_session`: it can load its
    stored session; else a new session gets the history in its first prompt."""

    command = ()
    keeps_its_session = True
    more = ''  # of its [[agent]]

    def variables(self):
        raise NotImplementedError

    def setUp(self):
        super().setUp()
        own = {'DO_NOT_TRACK': '1', 'CI': '1', **self.variables()}
        self.serve(entry('coder', self.command, own, self.more), own)

    def prompted(self, session, text):
        """What it says at the end of the turn; None: the turn waits."""
        self.assertStatus(self.server.prompt(session, text, wait=0), 202)
        return self.rested(session)

    def rested(self, session):
        wait_for(
            lambda: self.server.session(session)['activity']['type'] != 'busy', LIMIT_S, 'answer'
        )
        turn = self.server.turns(session)[-1]
        self.assertIsNone(turn['error'], turn)
        return self.server.last_text(session) if turn['status'] == 'ended' else None

    def wait_until_kept(self):
        """Waits until the program has stored the messages, if it does so after its answer."""

    def marker(self):
        path = self.work / 'marker.txt'
        return path.read_text() if path.exists() else ''

    def test_its_conversation_survives_the_kill_of_the_server(self):
        session = self.server.create(agent='coder')['id']
        self.assertIn('TOKEN-17', self.prompted(session, 'remember TOKEN-17'))
        first = self.server.session(session)['acpSessionID']
        self.wait_until_kept()
        self.server.restart()
        self.assertIn('TOKEN-17', self.prompted(session, 'what do you remember?'))
        kept = self.server.session(session)['acpSessionID'] == first
        self.assertEqual(kept, self.keeps_its_session)
        for message in self.server.messages(session):
            self.assertShape(message, MESSAGE)

    def test_its_conversation_survives_its_own_kill(self):
        session = self.server.create(agent='coder')['id']
        self.assertIn('TOKEN-17', self.prompted(session, 'remember TOKEN-17'))
        self.kill()
        self.assertIn('TOKEN-17', self.prompted(session, 'what do you remember?'))

    def kill(self):
        pids = children_of(self.server.process.pid)
        self.assertTrue(pids, 'there is no process of it')
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        wait_for(lambda: not set(pids) & set(children_of(self.server.process.pid)), what='its end')

    def permission(self, session):
        self.prompted(session, 'USE_TOOL please')
        (call,) = self.server.open_calls(session)
        self.assertTrue(call['tool'].startswith('acp:'), call)
        self.assertEqual(self.marker(), '')
        return call

    def test_its_permissions_are_pending_calls(self):
        session = self.server.create(agent='coder')['id']
        self.allowed(session, self.permission(session))

    def allowed(self, session, call):
        self.assertStatus(self.server.decide(call, True), 200)
        wait_for(lambda: self.server.session(session)['activity']['type'] == 'idle', LIMIT_S, 'end')
        self.assertEqual(self.marker(), 'ran\n')
        self.assertIn('the tool has run', self.server.last_text(session))

    def test_denied_tool_does_not_run(self):
        session = self.server.create(agent='coder')['id']
        self.assertStatus(self.server.decide(self.permission(session), False), 200)
        self.rested(session)
        self.assertEqual(self.marker(), '')

    def test_approval_after_its_death_lets_it_run_once(self):
        session = self.server.create(agent='coder')['id']
        call = self.permission(session)
        self.kill()
        self.allowed(session, call)

    def test_approval_after_the_death_of_all_lets_it_run_once(self):
        session = self.server.create(agent='coder')['id']
        call = self.permission(session)
        self.server.restart()
        self.allowed(session, call)
