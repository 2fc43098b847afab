"""What is asked of every real agent, with a model that is played: its conversation, its permissions
and what becomes of both when it or the server is killed."""
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from dormouse import Server, wait_for  # noqa: E402
from fake_model import FakeModel  # noqa: E402
from shapes import MESSAGE, Contract  # noqa: E402

LIMIT_S = 120  # they take their time to start


def children_of(pid):
    """All processes below it."""
    out = []
    for entry in pathlib.Path('/proc').iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / 'stat').read_text().rsplit(')', 1)[1].split()[1])
        except (OSError, IndexError):
            continue
        if parent == pid:
            out += [int(entry.name), *children_of(int(entry.name))]
    return out


class RealAgent:
    """The tests; mixed into a Contract with what is below."""

    command = ()  # the program and its arguments

    def environment(self, home, model):
        """What it must find in its environment to ask `model` and nobody else."""
        raise NotImplementedError

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-agent-'))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.work = self.folder / 'work'
        home = self.folder / 'home'
        for folder in (self.work, home):
            folder.mkdir()
        self.model = FakeModel()
        self.addCleanup(self.model.close)
        env = {
            'DO_NOT_TRACK': '1', 'NO_PROXY': '127.0.0.1,localhost',
            **self.environment(home, self.model),
        }
        config = self.folder / 'dormouse.toml'
        config.write_text(
            f'[[agent]]\nid = "coder"\nacp = {json.dumps([str(word) for word in self.command])}\n'
            f'roots = ["work"]\nenv_allow = {json.dumps(sorted(env))}\n'
        )
        env.update(HOME=str(home), TMPDIR=str(self.folder))
        self.server = Server('--config', str(config), env=env)
        self.addCleanup(self.server.clean)

    def rest(self, session, *kinds):
        wait_for(
            lambda: self.server.session(session)['activity']['type'] in kinds, LIMIT_S, 'rest'
        )
        turn = self.server.turns(session)[-1]
        self.assertIsNone(turn['error'], turn)

    def prompted(self, session, text):
        """What it says, or what it waits for."""
        self.assertStatus(self.server.prompt(session, text, wait=0), 202)
        self.rest(session, 'idle', 'waiting_async')
        return self.server.said(session)

    def kill_agent(self):
        children = children_of(self.server.process.pid)
        self.assertTrue(children)
        for pid in children:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def types(self, session):
        return [event['type'] for event in self.server.events(session)]

    def ran(self):
        file = self.work / 'marker.txt'
        return file.read_text().split() if file.exists() else []

    def test_its_conversation_survives_the_kill_of_the_server_and_its_own(self):
        session = self.server.create(agent='coder')['id']
        self.assertIn('TOKEN-17', self.prompted(session, 'remember TOKEN-17'))
        self.server.restart()
        self.assertIn('TOKEN-17', self.prompted(session, 'what do you remember?'))
        self.kill_agent()
        self.assertIn('TOKEN-17', self.prompted(session, 'and now?'))
        for message in self.server.messages(session):
            self.assertShape(message, MESSAGE)
        (agent,) = [a for a in self.server.get('/api/agents')['items'] if a['id'] == 'coder']
        self.assertTrue(agent['version'], agent)

    def test_a_tool_waits_for_its_approval(self):
        session = self.server.create(agent='coder')['id']
        self.prompted(session, 'USE_TOOL please')
        (call,) = self.server.open_calls(session)
        self.assertEqual(call['tool'], 'acp:execute')
        self.assertEqual(self.ran(), [])
        self.assertStatus(self.server.decide(call, True), 200)
        self.rest(session, 'idle')
        self.assertEqual(self.ran(), ['ran'])
        self.assertIn('the tool has run', self.server.said(session))

    def test_an_approval_that_comes_after_its_death_is_used_once(self):
        session = self.server.create(agent='coder')['id']
        self.prompted(session, 'USE_TOOL please')
        (call,) = self.server.open_calls(session)
        self.kill_agent()
        wait_for(lambda: 'detached' in self.types(session), 20, 'death')
        self.server.restart()
        self.assertEqual([c['id'] for c in self.server.open_calls(session)], [call['id']])
        self.assertStatus(self.server.decide(call, True), 200)
        self.rest(session, 'idle')
        self.assertEqual(self.ran(), ['ran'])
        self.assertIn('the tool has run', self.server.said(session))


__all__ = ['Contract', 'LIMIT_S', 'RealAgent', 'children_of', 'wait_for']
