#!/usr/bin/env python3
"""Processes that the server starts never outlive it: external agents, their terminals, tools,
validators and notifications, each with a child in its own process session, when the server is
killed."""
import json
import pathlib
import sys

from acp import AGENT
from dormouse import Alone, main, wait_for
from tools_by_config import Tools


def lives(pid):
    """False also for a process that has ended but was not reaped."""
    try:
        stat = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rsplit(')', 1)[1].split()[0] != 'Z'


DAEMON = '''
import ctypes, os, signal
def adopt():
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
for _ in range(3):
    if os.fork():
        os._exit(0)
    os.setsid()
    adopt()
for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except OSError:
        pass
os.closerange(0, 64)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        break
with open(PIDS, 'a') as out:
    out.write(f'{os.getpid()}\\n')
signal.sigtimedwait([], 600)  # what nobody ends is gone after the tests
'''


class Outlive(Tools):
    kind = Alone  # whose processes are looked at

    def stubborn(self, name, then='sleep 600'):
        """Returns a shell line that writes down two process ids, one of which ignores signals."""
        pids = self.folder / f'{name}.pids'
        inner = f"trap '' TERM HUP INT; echo $$ >> {pids}; sleep 600; sleep 600"
        inner = inner.replace('$', '\\$')
        return f'setsid sh -c "{inner}" & echo $$ >> {pids}; {then}'

    def pids(self, name):
        path = self.folder / f'{name}.pids'
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def begun(self, name):
        return wait_for(lambda: len(self.pids(name)) >= 2 and self.pids(name), what=name)

    def gone(self, name, pids):
        wait_for(lambda: not any(lives(pid) for pid in pids), what=f'end of {name}')

    def configured(self):
        state = self.folder / 'state'
        state.mkdir()
        line = self.stubborn('program', f'exec {sys.executable} {AGENT}')
        program = self.script(line, 'agent.sh')
        validator = self.script(self.stubborn('validator'), 'check.sh')
        notice = self.script(self.stubborn('notice'), 'tell.sh')
        agent = (
            f'[[agent]]\nid = "fake"\nacp = ["{program}"]\nterminals = true\n'
            f'env_allow = ["FAKE_STATE"]\n'
            f'[[notify]]\nkind = "command"\ncommand = ["{notice}"]\nreasons = ["tool_result"]\n'
        )
        tools = (
            self.command(self.stubborn('tool'), 'slow')
            + self.command('cat >/dev/null; exit 75', 'deploy')
            + f'[tool.validator]\ncommand = ["{validator}"]\n'
        )
        return tools, agent, str(state)

    def test_nothing_outlives_a_server_that_is_killed(self):
        tools, agent, state = self.configured()
        self.serve(tools, agent, FAKE_STATE=state)
        job = self.stubborn('terminal')
        arguments = json.dumps({'command': job})
        session = self.server.create(f'call terminal/create {arguments}', agent='fake')['id']
        self.server.at_rest(session)
        call = self.waiting()
        path = f'/api/sessions/{self.session}/calls'
        self.assertStatus(self.server.post(path, {'tool': 'slow', 'arguments': {}}), 202)
        self.offer_result(call)
        names = ['program', 'terminal', 'tool', 'validator', 'notice']
        pids = {name: self.begun(name) for name in names}
        self.assertTrue(all(lives(pid) for each in pids.values() for pid in each), pids)
        self.server.kill()
        for name, each in pids.items():
            self.gone(name, each)
        self.server.start()

    def offer_result(self, call):
        """No client waits for the answer: the validator takes its time."""
        client = self.server.new_client(timeout=1)
        try:
            body = {'pendingID': call['id'], 'result': {'output': 'live'}}
            client.post('/async-tool/result', body)
        except OSError:
            pass
        client.close()

    def test_ended_program_leaves_no_process(self):
        tools, agent, state = self.configured()
        self.serve(tools, agent, FAKE_STATE=state)
        session = self.server.create('hello', agent='fake')['id']
        pids = self.begun('program')
        self.assertStatus(self.server.post(f'/api/sessions/{session}/end', {}), 200)
        self.gone('the program', pids)

    def test_detached_daemon_ends_with_a_killed_server(self):
        """It forks three times, adopts what its children leave, ignores signals, and closes all."""
        pids = self.folder / 'daemon.pids'
        daemon = self.folder / 'daemon.py'
        daemon.write_text(DAEMON.replace('PIDS', repr(str(pids))))
        state = self.folder / 'state'
        state.mkdir()
        line = f'{sys.executable} {daemon} &\nexec {sys.executable} {AGENT}'
        program = self.script(line, 'agent.sh')
        agent = f'[[agent]]\nid = "fake"\nacp = ["{program}"]\nenv_allow = ["FAKE_STATE"]\n'
        self.serve(self.command('cat >/dev/null', 'deploy'), agent, FAKE_STATE=str(state))
        self.server.at_rest(self.server.create('hello', agent='fake')['id'])
        found = wait_for(lambda: len(self.pids('daemon')) == 4 and self.pids('daemon'),
                         what='the daemon')
        self.assertTrue(all(lives(pid) for pid in found))
        self.server.kill()
        self.gone('the daemon', found)
        self.server.start()


if __name__ == '__main__':
    main()
