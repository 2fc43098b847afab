#!/usr/bin/env python3
"""`dormouse dev` runs a server of its own: it is started again when the configuration changes, a
mistake changes nothing, and no server is left behind."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest
import urllib.parse

from cli import DONE, USAGE, Terminal
from dormouse import BINARY, environment, main, run, wait_for

CONFIG = '[[model]]\nid = "m"\nkind = "scripted"\n[[agent]]\nid = "%s"\nmodel = "m"\n'


class Dev(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='dormouse-dev-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.config = self.folder / 'dormouse.toml'
        self.config.write_text(CONFIG % 'first')
        self.env = environment(HOME=str(self.folder), TMPDIR=str(self.folder))

    def start(self, *words):
        self.out = self.folder / 'out'
        with self.out.open('w') as out:
            self.process = subprocess.Popen(
                [BINARY, 'dev', *words],
                cwd=self.folder,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.until('try     dormouse prompt')
        self.data = re.search(r'data    ([^\s,]+)', self.text())[1]
        self.url = re.search(r'server  (\S+)', self.text())[1]

    def text(self):
        return self.out.read_text()

    def until(self, text):
        wait_for(
            lambda: text in self.text() or self.process.poll() is not None, what=text, seconds=60
        )
        self.assertIn(text, self.text())

    def command(self, *words):
        done = run(*words, '--data', self.data, env=self.env)
        self.assertEqual(done.returncode, DONE, done)
        return done.stdout

    def server_pid(self):
        children = pathlib.Path(f'/proc/{self.process.pid}/task/{self.process.pid}/children')
        return int(children.read_text().split()[0])

    def test_configuration_of_the_folder_is_used_events_shown(self):
        self.start()
        self.assertIn(str(self.config), self.text())
        self.assertRegex(self.text(), rf'inbox   {self.url}/sign-in#\S+')
        self.assertIn('You said: hello', self.command('prompt', 'hello'))
        self.until('turn_ended')
        self.process.terminate()
        self.assertEqual(self.process.wait(60), DONE)
        self.assertFalse(pathlib.Path(self.data).exists(), 'temporary data')

    def test_saved_file_does_not_interrupt_a_tool_that_runs(self):
        tool = self.folder / 'tool.sh'
        tool.write_text(f'#!/bin/sh\ncd {self.folder}; cat >/dev/null; touch began\n'
                        'until test -e go; do sleep 0.05; done; echo finished\n')
        tool.chmod(0o755)
        agent = CONFIG % 'first' + 'tools = ["deploy"]\n'
        with_tool = agent + ('[[tool]]\nname = "deploy"\ndescription = "d"\n'
                             'kind = "command"\ncommand = ["./tool.sh"]\n')
        self.config.write_text(with_tool)
        self.start()
        pid = self.server_pid()
        prompt = subprocess.Popen(
            [BINARY, 'prompt', 'deploy A', '--agent', 'first', '--data', self.data],
            env=self.env, stdout=subprocess.PIPE, text=True)
        self.addCleanup(prompt.communicate)
        self.addCleanup(prompt.kill)
        wait_for(lambda: (self.folder / 'began').exists(), what='the tool')
        self.config.write_text(with_tool + '[[agent]]\nid = "second"\nmodel = "m"\n')
        self.until('reloaded with the changed files')
        self.until('  [[agent]] second (added)')
        tool.write_text('#!/bin/sh\necho 2\n')
        wait_for(lambda: self.text().count('reloaded') == 2, what='the second reload', seconds=60)
        (self.folder / 'go').touch()
        out = prompt.communicate(timeout=60)[0]
        self.assertEqual(prompt.returncode, DONE, out)
        self.assertNotIn('interrupted', out)
        self.assertIn('finished', out)
        self.assertEqual(self.server_pid(), pid)
        self.assertNotIn('started again', self.text())

    def test_change_that_needs_a_restart_keeps_data_and_address(self):
        self.start('--data', str(self.folder / 'data'))
        self.command('prompt', 'hello')
        before = self.server_pid()
        self.config.write_text(CONFIG % 'second' + '[server]\npublic_url = "http://localhost:1"\n')
        self.until('started again')
        self.assertIn('second', self.command('agents'))
        self.assertNotIn('first', self.command('agents'))
        self.assertIn('hello', self.command('sessions'))
        self.assertNotEqual(self.server_pid(), before)
        self.command('status', '--server', self.url)
        self.process.send_signal(signal.SIGINT)
        self.assertEqual(self.process.wait(60), DONE)
        self.assertTrue(pathlib.Path(self.data, 'token').exists(), 'kept data')

    def test_mistake_is_shown_and_the_server_continues(self):
        self.start()
        pid = self.server_pid()
        self.config.write_text('[[agent]]\nid = "first"\nmodle = "m"\n')
        self.until('the server continues with what it has')
        self.assertIn('dormouse.toml:3: ', self.text())
        self.assertEqual(self.server_pid(), pid)
        self.assertIn('first', self.command('agents'))
        self.config.write_text(CONFIG % 'third')
        self.until('reloaded')
        self.assertIn('third', self.command('agents'))

    def test_file_that_the_configuration_names_counts(self):
        tool = self.folder / 'tool.sh'
        tool.write_text('#!/bin/sh\necho 1\n')
        tool.chmod(0o755)
        self.config.write_text(
            CONFIG % 'first' + '[[tool]]\nname = "t"\ndescription = "d"\n'
            'kind = "command"\ncommand = ["./tool.sh"]\n'
        )
        self.start()
        tool.write_text('#!/bin/sh\necho 22\n')
        self.until('reloaded')

    def test_changed_program_that_keeps_running_is_started_again(self):
        server = self.folder / 'mcp.sh'
        server.write_text('#!/bin/sh\ncat\n')
        server.chmod(0o755)
        self.config.write_text(CONFIG % 'first' + '[[mcp]]\nname = "s"\ncommand = ["./mcp.sh"]\n')
        self.start()
        server.write_text('#!/bin/sh\nexec cat\n')
        self.until('started again')

    def replace(self, file, text):
        """As an editor or a linker does: the new file has the name at once."""
        new = self.folder / 'new'
        new.write_text(text)
        new.chmod(0o755)
        new.rename(file)

    def start_with_program(self):
        self.program = self.folder / 'mcp.sh'
        self.replace(self.program, '#!/bin/sh\ncat\n')
        self.with_program = CONFIG % 'first' + '[[mcp]]\nname = "s"\ncommand = ["./mcp.sh"]\n'
        self.config.write_text(self.with_program)
        self.start()

    def test_program_changed_beside_a_mistake_is_started_again(self):
        self.start_with_program()
        self.replace(self.config, self.with_program + 'wrong = 1\n')
        self.replace(self.program, '#!/bin/sh\nexec cat\n')
        self.until('the server continues with what it has')
        self.replace(self.config, self.with_program)
        self.until('with the changed files')
        self.assertIn('started again with the changed files', self.text())

    def test_program_that_was_absent_for_a_moment_is_started_again(self):
        self.start_with_program()
        self.program.unlink()
        self.until('mcp.sh')  # the mistake
        self.replace(self.program, '#!/bin/sh\nexec cat\n')
        self.until('with the changed files')
        self.assertIn('started again with the changed files', self.text())

    def stop_answering(self):
        """The server answers nothing more, and has a request of `dev`."""
        pid = self.server_pid()
        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(self.wake, pid)
        self.replace(self.config, CONFIG % 'second')
        port = f':{int(self.url.rsplit(":", 1)[1]):04X}'

        def has_bytes():
            rows = [row.split() for row in
                    pathlib.Path('/proc/net/tcp').read_text().splitlines()[1:]]
            return any(row[1].endswith(port) and not row[4].endswith(':00000000') and
                       row[3] == '01' for row in rows)
        wait_for(has_bytes, what='the request', seconds=60)
        return pid

    def wake(self, pid):
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass

    def has_term(self, pid):
        pending = re.search(r'ShdPnd:\s+(\S+)', pathlib.Path(f'/proc/{pid}/status').read_text())[1]
        return int(pending, 16) >> (signal.SIGTERM - 1) & 1

    def test_ctrl_c_ends_it_while_the_server_does_not_answer(self):
        self.start()
        pid = self.stop_answering()
        self.process.send_signal(signal.SIGINT)
        wait_for(lambda: self.has_term(pid), what='the end', seconds=30)
        self.wake(pid)
        self.assertEqual(self.process.wait(60), DONE, self.text())
        self.assertNotIn('started again', self.text())

    def test_server_that_does_not_answer_is_started_again(self):
        self.start()
        pid = self.stop_answering()
        wait_for(lambda: self.has_term(pid), what='the restart', seconds=40)
        self.wake(pid)
        self.until('started again with the changed files')
        self.assertIn('second', self.command('agents'))

    def test_killed_dev_leaves_no_server(self):
        self.start()
        pid = self.server_pid()
        self.process.kill()
        self.process.wait(60)
        wait_for(lambda: not alive(pid), what='the end of the server', seconds=60)

    def test_server_that_dies_is_reported(self):
        self.start()
        os.kill(self.server_pid(), signal.SIGKILL)
        self.until('the server ended')
        self.config.write_text(CONFIG % 'second')
        self.until('started again')

    def test_configuration_with_mistakes_starts_nothing(self):
        self.config.write_text('[serve]\n')
        done = subprocess.run([BINARY, 'dev'], cwd=self.folder, env=self.env, text=True,
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn('dev starts nothing', done.stderr)
        self.assertIn('dormouse.toml:1: ', done.stderr)

    def opened(self, *words, **env):
        """Runs dev on a terminal of a desktop; returns it and what the browser has got."""
        got = self.folder / 'got'
        browser = self.folder / 'browser'
        browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {got}.new && mv {got}.new {got}\n')
        browser.chmod(0o755)
        terminal = Terminal('dev', '--config', self.config, *words, **{
            'HOME': str(self.folder), 'TMPDIR': str(self.folder), 'DISPLAY': ':0',
            'BROWSER': str(browser), **env})
        self.addCleanup(terminal.process.wait)
        self.addCleanup(terminal.process.kill)
        terminal.until('try     dormouse prompt', 60)
        return terminal, got

    def test_inbox_is_opened_on_a_desktop(self):
        terminal, got = self.opened()
        wait_for(got.exists, what='the browser')
        address = got.read_text()
        self.assertTrue(address.startswith('file:///'), address)
        page = pathlib.Path(urllib.parse.unquote(address.removeprefix('file://')))
        self.assertEqual(page.stat().st_mode & 0o777, 0o600)
        link = re.search(r'inbox   (\S+)', terminal.text)[1]
        self.assertIn(f'url={link}"', page.read_text())
        self.assertNotIn(link.split('#')[1], address, 'no secret in the list of processes')
        terminal.type('\x03')
        self.assertEqual(terminal.ended(60), DONE)
        self.assertFalse(page.exists(), 'temporary data')

    def test_no_browser_is_opened_without_a_desktop_or_on_request(self):
        for words, env in (((), {'DISPLAY': ''}), (('--no-open',), {})):
            terminal, got = self.opened(*words, **env)
            terminal.type('\x03')
            self.assertEqual(terminal.ended(60), DONE)
            self.assertFalse(got.exists())

    def test_browser_that_cannot_be_started_is_reported(self):
        terminal, _ = self.opened(BROWSER='/no/such/browser')
        terminal.until('no browser could be started', 60)
        self.assertIsNone(terminal.process.poll())

    def test_demo_needs_no_configuration(self):
        self.start('--demo')
        self.assertIn('demo', self.command('agents'))


def alive(pid):
    try:
        return pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[0] != 'Z'
    except OSError:
        return False


if __name__ == '__main__':
    main()
