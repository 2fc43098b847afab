#!/usr/bin/env python3
"""`--jq` (docs/reference/cli.md): the program jq filters what `--json` prints; its status; filters
that are wrong or begin with a dash; no jq; a command that is killed."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile

from cli import Cli, DONE, INTERRUPTED, NOT_FOUND, SLEEPS, Terminal, USAGE
from dormouse import BINARY, environment, main, run, wait_for

FAILED_ON_A_VALUE = 5  # of jq


def children(pid):
    found = pathlib.Path(f'/proc/{pid}/task/{pid}/children')
    return [int(one) for one in found.read_text().split()] if found.exists() else []


def name_of(pid):
    try:
        return pathlib.Path(f'/proc/{pid}/comm').read_text().strip()
    except OSError:
        return None


def ended(pid):
    """Also when nobody has waited for it."""
    try:
        return pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[0] == 'Z'
    except OSError:
        return True


class Filters(Cli):
    def jq(self, *arguments, env=None):
        return run(*arguments, *self.where(), env=env)

    def sessions(self):
        return self.server.get('/api/projects/default/sessions')['items']

    def test_strings_are_raw_and_values_take_a_line(self):
        _, session, call = self.asleep()
        self.assertEqual(self.dm('pending', '--jq', '.items[].id'), call['id'] + '\n')
        self.assertEqual(self.dm('pending', '--json', '--jq', '.items[0] | {id, tool}'),
                         json.dumps({'id': call['id'], 'tool': 'deploy'}, separators=(',', ':'))
                         + '\n')
        self.assertEqual(self.dm('show', session, '--jq', 'type'), 'object\nobject\n')

    def test_commands_that_print_their_json_themselves(self):
        self.assertEqual(self.dm('paths', '--jq', 'type'), 'object\n')
        self.assertEqual(self.dm('config', 'keys', '--jq', 'type').splitlines()[0], 'array')

    def test_status_of_a_command_that_failed_is_its_own(self):
        done = self.jq('show', 'ses_nothing', '--jq', '.id')
        self.assertEqual((done.returncode, done.stdout), (NOT_FOUND, ''))
        self.assertEqual(json.loads(done.stderr)['code'], 'not_found')
        self.assertEqual(self.jq('prompt', 'deploy A', '--jq', 'empty').returncode, SLEEPS)

    def test_status_of_jq_is_passed_on(self):
        done = self.jq('paths', '--jq', '.[0]')
        self.assertEqual(done.returncode, FAILED_ON_A_VALUE)
        self.assertIn('jq: error', done.stderr)
        self.assertEqual(self.jq('paths', '--jq', '"x" | halt_error(7)').returncode, 7)

    def test_jq_that_ends_early_ends_a_command_that_follows(self):
        self.dm('prompt', 'hello')
        session = self.sessions()[0]['id']
        folder = pathlib.Path(self.server.own)
        program = folder / 'jq'  # the real one reads to the end in some versions, also after `halt`
        program.write_text('#!/bin/sh\nread line || exit 0\necho once\nexit 9\n')
        program.chmod(0o700)
        env = environment(PATH=f'{folder}:{os.environ["PATH"]}')
        done = self.jq('tail', session, '--jq', '.type', env=env)
        self.assertEqual((done.returncode, done.stdout), (9, 'once\n'), done)

    def test_wrong_filter_changes_nothing(self):
        done = self.jq('prompt', 'hello', '--jq', '.items[')
        self.assertEqual((done.returncode, done.stdout), (USAGE, ''))
        self.assertIn('jq: error: syntax error', done.stderr)
        self.assertIn("--jq: jq does not accept the filter '.items['", done.stderr)
        self.assertEqual(self.sessions(), [])

    def test_filter_is_never_an_option_or_a_command_of_a_shell(self):
        folder = pathlib.Path(self.server.own)
        self.assertEqual(self.dm('paths', '--jq=-1'), '-1\n')
        self.assertEqual(self.jq('paths', '--jq=--version').returncode, USAGE)
        self.assertEqual(self.jq('paths', '--jq=-n').returncode, USAGE)
        shell = f'"$(touch {folder}/made)`touch {folder}/made`"'
        self.assertEqual(self.dm('paths', '--jq', shell), shell.strip('"') + '\n')
        self.assertFalse((folder / 'made').exists())

    def test_without_jq_it_says_what_to_do_and_does_nothing(self):
        with tempfile.TemporaryDirectory(prefix='dormouse-empty-') as empty:
            done = self.jq('prompt', 'hello', '--jq', '.id', env=environment(PATH=empty))
        self.assertEqual((done.returncode, done.stdout), (USAGE, ''))
        problem = json.loads(done.stderr)
        self.assertIn('jq', problem['title'])
        self.assertIn('sudo apt install jq', problem['remedy'])
        self.assertEqual(self.sessions(), [])

    def test_commands_without_json_refuse_it(self):
        for command in (['serve'], ['man'], ['completion', 'bash'], ['mcp'], ['demo']):
            done = run(*command, '--jq', '.')
            self.assertEqual((done.returncode, done.stdout), (USAGE, ''), command)
            self.assertIn('prints no JSON', done.stderr)
        self.assertEqual(run('paths', '--jq', '.', '-o', 'yaml').returncode, USAGE)


def handles_interrupts(pid):
    masks = re.findall(r'^Sig(?:Blk|Cgt):\s*([0-9a-f]+)$',
                       pathlib.Path(f'/proc/{pid}/status').read_text(), re.M)
    return any(int(mask, 16) >> (signal.SIGINT - 1) & 1 for mask in masks)


class Following(Cli):
    def follow(self, *arguments):
        process = subprocess.Popen([BINARY, *arguments, *self.where()], env=environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def jq_of(self, process):
        """The pid of jq, when it runs for longer than the check of the filter."""
        def found():
            return [one for one in children(process.pid) if name_of(one) == 'jq']
        wait_for(found, what='jq')
        return found()

    def endless(self):
        """A command whose jq computes without end, and that jq."""
        process = self.follow('watch', '--jq', 'last(range(1e18))')
        self.asleep()
        return process, self.jq_of(process)

    def expect_ended(self, jq):
        for one in jq:
            wait_for(lambda one=one: ended(one), what='the end of jq')

    def test_each_object_is_filtered_when_it_comes(self):
        process = self.follow('watch', '--jq', '[.tool, .status] | join(" ")')
        _, _, call = self.asleep()
        self.assertEqual(process.stdout.readline(), 'deploy waiting\n')
        jq = self.jq_of(process)
        self.server.result(call['id'], 'live')
        self.assertEqual(process.stdout.readline(), 'deploy completed\n')
        process.send_signal(signal.SIGINT)
        self.assertIn(process.wait(20), (DONE, INTERRUPTED))
        self.expect_ended(jq)

    def test_jq_does_not_outlive_a_command_that_is_killed(self):
        process, jq = self.endless()
        process.kill()
        process.wait()
        self.expect_ended(jq)

    def test_interrupt_ends_a_filter_that_does_not_end(self):
        process, jq = self.endless()
        wait_for(lambda: handles_interrupts(process.pid), what='the handler of Ctrl-C')
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), INTERRUPTED)
        self.expect_ended(jq)

    def test_closed_output_ends_both(self):
        process = self.follow('watch', '--jq', '.tool')
        self.asleep()
        self.assertEqual(process.stdout.readline(), 'deploy\n')
        jq = self.jq_of(process)
        process.stdout.close()
        self.asleep('deploy B')
        process.wait(20)
        self.expect_ended(jq)


    def test_longest_filter(self):
        done = run('sessions', '--jq', '.' + ' ' * 100_000, *self.where())
        self.assertEqual(done.returncode, USAGE)
        self.assertIn('must be at most 100000 bytes', done.stderr)


class OnATerminal(Cli):
    def test_text_of_a_session_cannot_control_the_terminal(self):
        self.server.create('hello', title='a\x1b[2Jb\u202ec')
        terminal = Terminal('sessions', '--jq', '.items[] | .title, {title}', *self.where())
        self.assertEqual(terminal.ended(), DONE)
        self.assertIn('a\\u{1b}[2Jb\\u{202e}c', terminal.text)
        self.assertIn('{\r\n  "title"', terminal.text)
        self.assertNotIn('\x1b', terminal.text)
        self.assertNotIn('\u202e', terminal.text)

    def test_errors_are_text(self):
        for words, status, says in (
            (('show', 'ses_nothing', '--jq', '.id', *self.where()), NOT_FOUND, 'dormouse: '),
            (('verify', '--jq', '.', '--data', '/nowhere'), NOT_FOUND, 'dormouse verify: '),
            (('pending', '--nonsense', '--jq', '.'), USAGE, '--nonsense'),
            (('pending', '--jq', '.items['), USAGE, '--jq: jq does not accept'),
        ):
            terminal = Terminal(*words)
            self.assertEqual(terminal.ended(), status, terminal.text)
            self.assertIn(says, terminal.text)
            self.assertNotIn('"code"', terminal.text)
        terminal = Terminal('show', 'ses_nothing', '--json', '--jq', '.id', *self.where())
        self.assertEqual(terminal.ended(), NOT_FOUND)
        self.assertIn('"code":"not_found"', terminal.text)


if __name__ == '__main__':
    main()
