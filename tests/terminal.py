#!/usr/bin/env python3
"""The command line with closed descriptors, lost readers, unusual files and agents that die."""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

from cli import (
    CONFLICT,
    DONE,
    FAILED,
    INTERRUPTED,
    NOT_FOUND,
    SLEEPS,
    UNREACHABLE,
    USAGE,
    Cli,
    Terminal,
)
from dormouse import BINARY, Server, environment, main, run, wait_for

UNREAD = 141


class Descriptors(Cli):
    def shell(self, line, timeout=20):
        """`line` in a shell that knows the binary as $D."""
        return subprocess.run(
            ['sh', '-c', line],
            capture_output=True,
            timeout=timeout,
            env=environment(D=BINARY, W=' '.join(self.where())),
        )

    def test_closed_output_is_not_written_into_the_connection(self):
        session = self.server.create('hello')['id']
        ended = self.shell(f'$D show {session} $W >&-')
        self.assertEqual(ended.returncode, FAILED, ended)
        self.assertIn(b'cannot write to standard output', ended.stderr)
        self.assertEqual(self.shell(f'$D show {session} $W >/dev/null 2>&- <&-').returncode, DONE)
        log = self.server.tail()
        self.assertNotIn('bad_request', log)

    def test_server_with_closed_descriptors_keeps_its_files(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-closed-'))
        self.addCleanup(subprocess.run, ['rm', '-rf', folder])
        data = folder / 'data'
        server = subprocess.Popen(
            f'exec {shlex.quote(BINARY)} serve --no-config --listen 127.0.0.1:0 --data {data} '
            f'<&- >&- 2>&-',
            shell=True,
            env=environment(),
        )
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        wait_for((data / 'token').exists, what='the token')
        wait_for(lambda: self.listens(server.pid), what='its socket')
        server.terminate()
        self.assertEqual(server.wait(20), 0)
        for file in data.iterdir():
            self.assertNotIn(b'ready', file.read_bytes(), file)
        report = run('verify', '--data', data)
        self.assertEqual(report.returncode, DONE, report)

    def listens(self, pid):
        sockets = set()
        for fd in pathlib.Path(f'/proc/{pid}/fd').iterdir():
            try:
                target = os.readlink(fd)
            except OSError:
                continue
            if target.startswith('socket:['):
                sockets.add(target[8:-1])
            self.assertFalse(fd.name in ('0', '1', '2') and target != '/dev/null', (fd, target))
        lines = pathlib.Path('/proc/net/tcp').read_text().splitlines()[1:]
        return any(line.split()[9] in sockets and line.split()[3] == '0A' for line in lines)

    def test_tail_and_watch_end_when_output_closes(self):
        session = self.asleep()[1]
        for command in (f'tail {session}', 'watch', f'watch --json -s {session}'):
            process = subprocess.Popen(
                [BINARY, *command.split(), *self.where()],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
            )
            with process:
                process.stdout.readline()
                process.stdout.close()  # as `head -1` does; the session says nothing any more
                self.assertEqual(abs(process.wait(10)) % 128, UNREAD % 128, command)
                self.assertEqual(process.stderr.read(), b'')


class Files(Cli):
    def test_folder_in_place_of_a_file_is_refused(self):
        _, session, call = self.asleep()
        for words in (
            ('result', call['id'], '--file', '/etc'),
            ('prompt', 'look', '-s', session, '--file', '/etc'),
        ):
            ended = run(*words, *self.where())
            self.assertEqual(ended.returncode, USAGE, ended)
            self.assertEqual(ended.stderr, 'dormouse: /etc is a folder, not a file\n')
        for path, why in (('/nowhere/x', 'No such file'), ('/dev/zero', 'larger than')):
            ended = run('result', call['id'], '--file', path, *self.where())
            self.assertEqual(ended.returncode, USAGE, ended)
            self.assertIn(why, ended.stderr)

    def test_import_accepts_a_file_or_a_folder(self):
        ended = run('import', '/dev/null', '--agent', 'demo', '--dry-run', *self.where())
        self.assertEqual(ended.returncode, USAGE, ended)
        self.assertIn('/dev/null is neither a file nor a folder', ended.stderr)


class OnATerminal(Cli):
    def test_ctrl_c_ends_a_prompt_that_reads_its_text(self):
        terminal = Terminal('prompt', '-', *self.where())
        terminal.type('half a line\n')
        terminal.until('half a line')
        wait_for(lambda: self.reads(terminal.process.pid), what='its reading')
        terminal.type('\x03')
        self.assertEqual(terminal.ended(), -2)
        self.assertEqual(self.server.items('/api/projects/default/sessions'), [])

    def reads(self, pid):
        return pathlib.Path(f'/proc/{pid}/wchan').read_text() in ('0', '') or 'read' in (
            pathlib.Path(f'/proc/{pid}/wchan').read_text()
        )

    def test_message_at_ctrl_c_has_its_own_line(self):
        session = self.server.create('hello')['id']
        terminal = Terminal('tail', session, *self.where())
        terminal.until('turn_ended')
        terminal.type('\x03')
        self.assertEqual(terminal.ended(), INTERRUPTED)
        self.assertTrue(terminal.text.endswith('^C\r\n'), terminal.text)


class Decisions(Cli):
    def test_explain_and_show_print_decision_and_reason(self):
        _, session, call = self.asleep('approve A')
        self.dm('deny', call['id'], '--reason', 'not on a Friday')
        for output in (self.dm('show', call['id']), self.dm('explain', call['id'])):
            self.assertRegex(output, r'(?m)^decision  denied: not on a Friday$')
        _, session, call = self.asleep('approve B')
        self.assertNotIn('decision', self.dm('show', call['id']))
        self.dm('approve', call['id'])
        for output in (self.dm('show', call['id']), self.dm('explain', session)):
            self.assertRegex(output, r'(?m)^decision  approved$')


class Dying(Cli):
    """An agent whose process dies each time."""

    def setUp(self):
        folder = tempfile.mkdtemp(prefix='dormouse-dying-')
        self.addCleanup(subprocess.run, ['rm', '-rf', folder])
        config = pathlib.Path(folder, 'dormouse.toml')
        config.write_text('[[agent]]\nid = "dies"\nacp = ["sh", "-c", "echo boom >&2; exit 3"]\n')
        self.server = Server('--config', str(config))
        self.addCleanup(self.server.clean)

    def test_prompt_ends_with_the_reason_and_says_how_to_continue(self):
        ended = run('prompt', 'hello', '--agent', 'dies', *self.where(), timeout=30)
        self.assertEqual(ended.returncode, FAILED, ended)
        session = re.match(r'ses_\S+', ended.stdout)[0]
        gone = "the agent's program is gone: it ended with status 3: boom"
        self.assertEqual(ended.stdout.count(gone), 3)
        self.assertEqual(ended.stdout.count(gone + '; it is started again'), 2)
        why = "The agent's program died 3 times within a minute: it ended with status 3: boom"
        self.assertIn(f'dormouse: the session is in error: {why}\n', ended.stderr)
        self.assertIn(f'dormouse retry {session}', ended.stderr)
        self.assertIn(f'because   {why}\n', self.dm('show', session))
        ended = run('prompt', 'again', '-s', session, *self.where())
        self.assertIn('dormouse retry ', ended.stderr)


class Advice(Cli):
    def error_output(self, *words, exits=USAGE):
        ended = run(*words, *self.where())
        self.assertEqual(ended.returncode, exits, ended)
        return ended.stderr

    def test_queued_prompt_says_behind_what(self):
        _, session, call = self.asleep()
        output = self.dm('prompt', 'hello', '-s', session, exits=SLEEPS)
        self.assertIn(f'queued behind {call["turnID"]}\n', output)

    def test_https_where_http_is_spoken(self):
        url = f'https://127.0.0.1:{self.server.port}'
        ended = run('agents', '--server', url, '--data', self.server.directory)
        self.assertEqual(ended.returncode, UNREACHABLE, ended)
        self.assertIn('that port uses plain http', ended.stderr)

    def test_errors_name_the_flags(self):
        _, session, call = self.asleep()
        output = self.error_output('claim', call['id'], '--for', '9h')
        self.assertIn('dormouse: --for: must be', output)
        output = self.error_output('prompt', 'x', '--agent', 'nobody')
        self.assertEqual(
            output,
            "dormouse: --agent: unknown agent 'nobody' (bad_value)\n"
            '  See them: dormouse agents.\n',
        )

    def test_not_found_names_the_list_once(self):
        for words, hint in (
            (('show', 'ses_AAAAAAHCQBGvepH5AAurTA'), 'dormouse sessions --all'),
            (('tasks', '--output', 'tsk_x'), 'dormouse tasks SESSION'),
            (('sent', 'mail_x'), 'dormouse sent'),
            (('deliveries', '--retry', 'dlv_x'), 'dormouse deliveries'),
            (('mail', 'nobody', 'hi'), 'dormouse alias'),
        ):
            output = self.error_output(*words, exits=NOT_FOUND)
            self.assertIn(hint, output)
            self.assertNotIn('id or path was not found', output)

    def test_completed_session_is_reopened(self):
        session = self.server.create('hello')['id']
        self.dm('end', session)
        output = self.error_output('prompt', 'x', '-s', session, exits=CONFLICT)
        self.assertIn('--reopen', output)
        self.dm('prompt', 'x', '-s', session, '--reopen')

    def test_names_that_other_programs_have(self):
        for word, ours in (('events', 'tail'), ('ls', 'sessions'), ('sesions', 'sessions')):
            self.assertIn(f'Did you mean: dormouse {ours}\n', self.error_output(word))

    def test_output_that_cannot_be_written_is_a_failure(self):
        with open('/dev/full', 'w') as full:
            for words in (('--help',), ('prompt', '--help'), ('--version',)):
                ended = subprocess.run([BINARY, *words], stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(ended.returncode, FAILED, ended)
            ended = subprocess.run(
                [BINARY, 'token', 'create', 'ann', *self.where()],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                env=environment(),
            )
        self.assertEqual(ended.returncode, FAILED, ended)
        token = re.search(r'dormouse token revoke (\S+)', ended.stderr)[1]
        self.assertIn('revoked', self.dm('token', 'revoke', token))

    def test_dry_run_of_an_import_looks_for_its_agent(self):
        export = pathlib.Path(self.server.own, 'export.json')
        export.write_text('{"info": {"id": "ses_1"}, "messages": []}')
        output = self.error_output('import', export, '--agent', 'nobody', '--dry-run')
        self.assertIn("--agent: unknown agent 'nobody'", output)
        self.dm('import', export, '--agent', 'demo', '--dry-run')
        data = ['--server', 'http://127.0.0.1:1', '--data', self.server.directory]
        ended = run('import', export, '--agent', 'nobody', '--dry-run', *data)
        self.assertEqual(ended.returncode, DONE, ended)
        self.assertIn('could not check that agent nobody exists', ended.stderr)

    def test_invalid_flags_of_serve(self):
        for words, why in (
            (('--ready-fd', '77'), 'no open descriptor 77'),
            (('--public-url', 'http://x/'), 'without a slash at its end'),
        ):
            ended = run('serve', '--no-config', '--data', self.server.directory + '2', *words)
            self.assertEqual(ended.returncode, USAGE, ended)
            self.assertIn(why, ended.stderr)


class OneAgent(Cli):
    """A server with one agent, which is not the demo."""

    def start(self, text):
        folder = tempfile.mkdtemp(prefix='dormouse-agents-')
        self.addCleanup(subprocess.run, ['rm', '-rf', folder])
        config = pathlib.Path(folder, 'dormouse.toml')
        config.write_text('[[model]]\nid = "m"\nkind = "scripted"\n' + text)
        # No program of this machine is an agent.
        server = Server('--config', str(config), env={'PATH': '/nowhere', 'HOME': folder})
        self.addCleanup(server.clean)
        return server

    def setUp(self):
        self.server = self.start('[[agent]]\nid = "ops"\nmodel = "m"\n')

    def test_prompt_uses_the_only_agent(self):
        self.assertIn('You said: hello', self.dm('prompt', 'hello'))
        self.assertEqual(self.server.items('/api/projects/default/sessions')[0]['agentID'], 'ops')

    def test_several_agents_need_a_name(self):
        both = ''.join(f'[[agent]]\nid = "{x}"\nmodel = "m"\n' for x in ('ops', 'dev'))
        server = self.start(both)
        where = ['--server', f'http://127.0.0.1:{server.port}', '--data', server.directory]
        ended = run('prompt', 'hello', *where)
        self.assertEqual(ended.returncode, USAGE, ended)
        self.assertRegex(ended.stderr, r'which agent\? There are (ops, dev|dev, ops)\n')
        self.assertIn('--agent ', ended.stderr)


if __name__ == '__main__':
    main()
