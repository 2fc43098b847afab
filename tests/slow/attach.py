#!/usr/bin/env python3
"""`dormouse attach`: the own screen of a session's external agent, in a terminal. A sleeping agent
is started without a prompt, runs while the screen is open and is stopped after; what is typed there
is stored in the journal. The agent is a small program that behaves like opencode where it matters
(tests/slow/opencode_screen.py runs opencode itself)."""
import fcntl
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from dormouse import (  # noqa: E402
    BINARY,
    ROOT,
    Server,
    children_of,
    environment,
    main,
    programs_of,
    wait_for,
)
from shapes import MESSAGE, Contract  # noqa: E402

LEASE_S = 20
IDLE_S = 1


class Terminal:
    """`dormouse attach` on its own terminal."""

    def __init__(self, server, session, env=None):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 120, 0, 0))
        self.shown = ''
        self.process = subprocess.Popen(
            [BINARY, 'attach', session, '--data', server.directory,
             '--server', f'http://127.0.0.1:{server.port}'],
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            env=environment(TERM='xterm-256color', **(env or {})),
        )
        os.close(slave)

    def read(self):
        while select.select([self.master], [], [], 0)[0]:
            try:
                self.shown += os.read(self.master, 65536).decode(errors='replace')
            except OSError:  # the other end is closed
                break
        return self.shown

    def until(self, text, limit=30):
        wait_for(lambda: text in self.read(), limit, f'{text!r} on the screen')

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self, limit=20):
        try:
            return self.process.wait(limit)
        finally:
            self.read()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)


class Attach(Contract):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-attach-'))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.state, program = self.folder / 'state', self.folder / 'opencode'
        for folder in (self.state, self.folder / 'work'):
            folder.mkdir()
        program.symlink_to(ROOT / 'tests/acp/fake_opencode.py')
        command = json.dumps([str(program), 'acp'])
        config = self.folder / 'dormouse.toml'
        config.write_text(
            f'[[agent]]\nid = "coder"\nacp = {command}\nroots = ["work"]\n'
            f'env_allow = ["FAKE_STATE"]\nidle_stop = "{IDLE_S}s"\n'
        )
        self.env = {'FAKE_STATE': str(self.state)}
        self.server = Server('--config', str(config), env=self.env)
        self.addCleanup(self.server.clean)

    def log(self, kind):
        path = self.state / 'log.jsonl'
        lines = path.read_text().splitlines() if path.exists() else []
        return [line for line in map(json.loads, lines) if line['kind'] == kind]

    def programs(self):
        return programs_of(self.server.process.pid)

    def asleep(self, text='remember TOKEN-17'):
        """Returns a prompted session whose agent was stopped."""
        session = self.server.create(text, agent='coder')['id']
        wait_for(lambda: not self.programs(), 20, 'its sleep')
        return session

    def attach(self, session):
        terminal = Terminal(self.server, session, self.env)
        self.addCleanup(terminal.close)
        return terminal

    def typed(self, session):
        """Returns the texts of user messages in turns of cause external."""
        messages = self.server.messages(session)  # read before their turns, which come with them
        causes = {turn['id']: turn['cause']['type'] for turn in self.server.turns(session)}
        return [
            m['parts'][0]['text'] for m in messages
            if m['role'] == 'user' and causes[m['turnID']] == 'external'
        ]

    def quit(self, terminal):
        terminal.type('quit\n')
        self.assertEqual(terminal.end(), 0, terminal.shown)


class Typing(Attach):
    def test_sleeping_agent_is_started_and_input_is_stored(self):
        session = self.asleep()
        terminal = self.attach(session)
        terminal.until('the screen of own_')
        self.assertEqual(len(self.server.turns(session)), 1, 'no turn of its own')
        self.assertEqual([c['method'] for c in self.log('call')][-2:],
                         ['initialize', 'session/resume'])
        terminal.type('remember TOKEN-23\n')
        terminal.until('I know TOKEN-17 TOKEN-23')
        wait_for(lambda: self.server.last_text(session) == 'I know TOKEN-17 TOKEN-23', 20,
                 'the answer')
        self.quit(terminal)
        self.assertEqual(self.typed(session), ['remember TOKEN-23'])
        self.assertEqual(
            [(m['role'], m['turnID'][-1]) for m in self.server.messages(session)],
            [('user', '1'), ('assistant', '1'), ('user', '2'), ('assistant', '2')])
        for message in self.server.messages(session):
            self.assertShape(message, MESSAGE)
        self.server.prompt(session, 'what do you know?')
        self.assertEqual(self.server.last_text(session), 'I know TOKEN-17 TOKEN-23')
        prompt = [m['parts'][0]['text'] for m in self.kept() if m['info']['role'] == 'user'][-1]
        self.assertNotIn('TOKEN-23', prompt, 'it does not get its own messages again')

    def kept(self):
        return list(json.loads((self.state / 'kept.json').read_text()).values())[0]

    def test_input_without_answer_is_stored_too(self):
        session = self.asleep()
        terminal = self.attach(session)
        terminal.until('the screen of')
        for number in range(3):
            terminal.type(f'say nothing {number}\n')
            terminal.until(f'said: say nothing {number}')
        self.quit(terminal)
        wait_for(lambda: len(self.typed(session)) == 3, LEASE_S + 10, 'all three')
        self.assertEqual(self.typed(session), [f'say nothing {n}' for n in range(3)])
        self.assertEqual([t['status'] for t in self.server.turns(session)], ['ended'] * 4)

    def test_input_at_the_servers_death_is_stored_once(self):
        session = self.asleep()
        file = self.state / 'kept.json'
        kept = json.loads(file.read_text())
        (messages,) = kept.values()
        at = messages[-1]['info']['time']['created'] + 1
        messages.append({'info': {'role': 'user', 'time': {'created': at}},
                         'parts': [{'type': 'text', 'text': 'remember TOKEN-99'},
                                   {'type': 'text', 'text': 'no word', 'synthetic': True}]})
        file.write_text(json.dumps(kept))
        for _ in range(2):
            self.server.restart()
            self.assertStatus(self.server.post(f'/api/sessions/{session}/attach'), 200)
            wait_for(lambda: self.typed(session), 20, 'what was typed')
            self.server.advance(5)
        self.assertEqual(self.typed(session), ['remember TOKEN-99'])

    def test_session_without_a_prompt_begins_on_the_screen(self):
        session = self.server.create(agent='coder')['id']
        terminal = self.attach(session)
        terminal.until('the screen of')
        terminal.type('remember TOKEN-5\n')
        terminal.until('I know TOKEN-5')
        self.quit(terminal)
        wait_for(lambda: self.typed(session), 20, 'what was typed')
        self.server.prompt(session, 'and you know?')
        self.assertEqual(self.server.last_text(session), 'I know TOKEN-5')
        self.assertEqual(len([c for c in self.log('call') if c['method'] == 'session/new']), 1)

    def test_permission_is_left_to_the_screen(self):
        session = self.asleep()
        terminal = self.attach(session)
        terminal.until('the screen of')
        terminal.type('ask me\n')
        terminal.until('said: ask me')
        self.server.advance(5)  # less than the lease
        self.assertEqual(self.log('answered'), [], 'the person decides')
        self.assertEqual(self.server.open_calls(session), [])
        self.quit(terminal)
        wait_for(lambda: self.log('answered'), LEASE_S + 10, 'the end of the lease')
        self.assertEqual(self.log('answered')[0]['result'], {'outcome': {'outcome': 'cancelled'}})


class Lease(Attach):
    def test_agent_stays_awake_while_its_screen_is_open(self):
        session = self.asleep()
        terminal = self.attach(session)
        terminal.until('the screen of')
        (pid,) = self.programs()
        screens = children_of(terminal.process.pid)
        self.assertEqual(len(screens), 1)
        time.sleep(LEASE_S + 3 * IDLE_S)  # the command renews the lease by its own clock
        self.assertEqual(self.programs(), [pid], 'it was unloaded under the screen')
        terminal.process.send_signal(signal.SIGKILL)
        terminal.process.wait()
        wait_for(lambda: not pathlib.Path(f'/proc/{screens[0]}').exists()
                 or 'Z' in pathlib.Path(f'/proc/{screens[0]}/stat').read_text().split()[2],
                 20, 'the end of the screen without its command')
        wait_for(lambda: not self.programs(), LEASE_S + 3 * IDLE_S + 10, 'its sleep')

    def test_screen_closes_when_the_program_dies(self):
        session = self.asleep()
        terminal = self.attach(session)
        terminal.until('the screen of')
        (pid,) = self.programs()
        os.kill(pid, signal.SIGKILL)
        self.assertEqual(terminal.end(LEASE_S), 1)
        self.assertIn('was restarted', terminal.shown)

    def test_server_that_comes_back_closes_it_too(self):
        session = self.asleep()
        terminal = self.attach(session)
        terminal.until('the screen of')
        self.server.restart()
        self.assertEqual(terminal.end(LEASE_S), 1)
        self.assertIn('was restarted', terminal.shown)


class Secrets(Attach):
    def test_password_is_in_the_environment_of_the_screen_alone(self):
        session = self.asleep()
        terminal = self.attach(session)
        terminal.until('the screen of')
        info = self.assertStatus(self.server.post(f'/api/sessions/{session}/attach'), 200).json
        (password,) = info['environment'].values()
        (screen,) = children_of(terminal.process.pid)
        environ = pathlib.Path(f'/proc/{screen}/environ').read_bytes()
        self.assertIn(password.encode(), environ)
        self.assertNotIn(b'DORMOUSE_TOKEN', environ)
        for pid in (screen, terminal.process.pid, *self.programs()):
            self.assertNotIn(password.encode(), pathlib.Path(f'/proc/{pid}/cmdline').read_bytes())
        self.quit(terminal)
        shown = terminal.shown + self.server.tail() + json.dumps(self.server.events(session))
        self.assertNotIn(password, shown)
        self.assertEqual(info['leaseMs'], LEASE_S * 1000)


class Refusals(Attach):
    def attach_to(self, session):
        return self.server.post(f'/api/sessions/{session}/attach')

    def test_history_to_transfer_needs_a_prompt_first(self):
        parts = [{'type': 'text', 'text': 'long ago'}]
        made = self.server.post('/api/projects/default/import', {
            'agentID': 'coder', 'messages': [{'role': 'user', 'parts': parts}]})
        self.assertProblem(self.attach_to(made['id']), 409, 'not_ready')
        self.server.prompt(made['id'], 'continue TOKEN-1')
        self.assertStatus(self.attach_to(made['id']), 200)

    def test_lost_session_needs_a_prompt_first(self):
        session = self.asleep()
        (self.state / 'kept.json').write_text('{}')
        self.assertProblem(self.attach_to(session), 409, 'not_ready')
        self.server.prompt(session, 'again TOKEN-2')
        self.assertStatus(self.attach_to(session), 200)

    def test_session_that_has_ended_and_a_model(self):
        session = self.asleep()
        self.assertStatus(self.server.post(f'/api/sessions/{session}/end'), 200)
        self.assertProblem(self.attach_to(session), 409, 'wrong_state')

    def test_program_that_is_missing(self):
        session = self.asleep()
        (self.folder / 'opencode').unlink()
        self.assertProblem(self.attach_to(session), 503, 'agent_unavailable')
        terminal = self.attach(session)
        self.assertNotEqual(terminal.end(), 0)


if __name__ == '__main__':
    main()
