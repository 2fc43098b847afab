#!/usr/bin/env python3
"""The command line (docs/reference/cli.md): each command, its exit status, and `--json`."""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unicodedata

from dormouse import BINARY, Case, environment, main, run, wait_for

DONE, FAILED, USAGE, NOT_FOUND, CONFLICT, GONE, NOT_ALLOWED, UNREACHABLE, REFUSED = range(9)
SLEEPS, INTERRUPTED = 10, 130


class Cli(Case):
    def dm(self, *arguments, exits=DONE, stdin='', env=None):
        """Runs a command against the test's server and returns its standard output."""
        where = [
            '--server',
            f'http://127.0.0.1:{self.server.port}',
            '--data',
            self.server.directory,
        ]
        ended = run(*arguments, *where, stdin=stdin, env=env)
        self.assertEqual(ended.returncode, exits, ended)
        if exits in (DONE, SLEEPS):
            self.assertEqual(ended.stderr, '')
        else:
            self.assertRegex(ended.stderr, r'^dormouse: ')
        self.assertNotIn('\x1b', ended.stdout, 'colours are for terminals')
        return ended.stdout

    def objects(self, *arguments, **named):
        """Returns the objects that --json prints."""
        text, found, decoder = (
            self.dm(*arguments, '--json', **named).strip(),
            [],
            json.JSONDecoder(),
        )
        while text:
            value, end = decoder.raw_decode(text)
            found.append(value)
            text = text[end:].lstrip()
        return found

    def asleep(self, text='deploy A', exits=SLEEPS):
        """Sends a prompt that sleeps. Returns the output, the session and its first open call."""
        output = self.dm('prompt', text, exits=exits)
        session = re.search(r'ses_[A-Za-z0-9_-]{22}', output)[0]
        return output, session, self.server.open_calls(session)[0]


    def where(self):
        return ['--server', f'http://127.0.0.1:{self.server.port}', '--data', self.server.directory]


class Terminal:
    """The binary on its own terminal."""

    def __init__(self, *arguments, program=BINARY, columns=80, rows=24, **env):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
        self.process = subprocess.Popen(
            [program, *map(str, arguments)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment(**{'TERM': 'xterm', **env}),
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # Ctrl-C comes from it
        )
        os.close(slave)
        self.file = master
        self.text = ''
        self.bytes = b''

    def read(self, seconds):
        """Returns what was printed; None at the end."""
        if not select.select([self.file], [], [], seconds)[0]:
            return ''
        try:
            got = os.read(self.file, 65536)
        except OSError:
            return None
        self.bytes += got
        self.text = self.bytes.decode(errors='replace')
        return got or None

    def until(self, word, seconds=20):
        end = time.monotonic() + seconds
        while word not in self.text:
            assert time.monotonic() < end, f'no {word!r} in {self.text!r}'
            if self.read(0.2) is None and word not in self.text:
                raise AssertionError(f'ended without {word!r}: {self.text!r}')
        return self.text

    def type(self, text):
        os.write(self.file, text.encode())

    def ended(self, seconds=20):
        """Returns its exit status, after all its output was read."""
        end = time.monotonic() + seconds
        while self.read(0.2) is not None:
            if self.process.poll() is not None and not select.select([self.file], [], [], 0)[0]:
                break
            assert time.monotonic() < end, self.text
        status = self.process.wait(timeout=seconds)
        os.close(self.file)
        return status


def columns_of(line):
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in 'WF' else 1
        for c in line
    )


class MainJob(Cli):
    def test_prompt_sleep_result(self):
        output, session, call = self.asleep()
        self.assertIn(call['id'], output)
        self.assertIn('result', output, 'it says how to settle what sleeps')
        self.assertIn('applied', self.dm('result', call['id'], 'live'))
        self.server.at_rest(session)
        shown = self.dm('show', session)
        self.assertIn('deploy A: live', shown)
        self.assertIn('duplicate', self.dm('result', call['id'], 'live'))
        self.dm('result', call['id'], 'other', exits=CONFLICT)
        self.assertIn('deploy A: live', self.dm('show', session))

    def test_commands_it_prints_work_when_pasted(self):
        output, session, call = self.asleep()
        line = next(
            line.strip()
            for line in output.splitlines()
            if 'dormouse result' in line or ' result ' in line
        )
        command = line[line.index('dormouse') :]
        command = re.sub(r"TEXT|'…'|…$", 'live', command)
        env = environment(PATH=os.path.dirname(BINARY) + ':' + os.environ['PATH'])
        if os.path.basename(BINARY) == 'dormouse':
            ended = subprocess.run(['bash', '-c', command], env=env, capture_output=True, text=True)
            self.assertEqual(ended.returncode, DONE, (command, ended))
            self.server.at_rest(session)
            self.assertTrue(self.server.last_text(session).startswith('deploy A: '))

    def test_turn_that_ends_is_done(self):
        output = self.dm('prompt', 'hello')
        self.assertIn('You said: hello', output)

    def test_text_may_come_from_standard_input(self):
        self.assertIn('You said: from a pipe', self.dm('prompt', '-', stdin='from a pipe'))

    def test_continuing_a_session(self):
        _, session, call = self.asleep()
        self.dm('result', call['id'], 'live')
        self.server.at_rest(session)
        self.assertIn('You said: more', self.dm('prompt', '-c', 'more'))
        self.assertIn('You said: again', self.dm('prompt', '-s', session[:14], 'again'))
        self.assertEqual(len(self.server.turns(session)), 3)
        self.dm('prompt', '--new', 'hello')
        self.assertEqual(len(self.server.items('/api/projects/default/sessions')), 2)

    def test_another_agent(self):
        self.dm('prompt', '-a', 'demo-each', 'hello')
        (session,) = self.server.items('/api/projects/default/sessions')
        self.assertEqual(session['agentID'], 'demo-each')
        self.dm('prompt', '-a', 'nobody', 'hello', exits=USAGE)

    def test_not_followed(self):
        output = self.dm('prompt', '--no-follow', 'sleepy 1s')
        session = output.strip()
        self.assertRegex(session, r'^ses_')
        self.server.at_rest(session)

    def test_modes_of_a_prompt(self):
        _, session, call = self.asleep()
        self.dm('prompt', '-s', session, '--when', 'reject', 'x', exits=REFUSED)
        self.dm('prompt', '-s', session, '--when', 'nonsense', 'x', exits=USAGE)
        self.dm('prompt', '-s', session, '--when', 'steer', 'hello', exits=SLEEPS)
        self.assertEqual(self.server.last_text(session), 'You said: hello')

    def test_interrupted_while_it_follows(self):
        where = [
            '--server',
            f'http://127.0.0.1:{self.server.port}',
            '--data',
            self.server.directory,
        ]
        follows = subprocess.Popen(
            [BINARY, 'prompt', 'sleepy 20s', *where],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for(lambda: self.server.items('/api/projects/default/sessions'))
        streams = re.compile(r'^dormouse_http_streams [1-9]', re.M)
        wait_for(lambda: streams.search(self.server.get('/metrics').raw.decode()), what='a reader')
        follows.send_signal(signal.SIGINT)
        _, output = follows.communicate(timeout=10)
        self.assertEqual(follows.returncode, INTERRUPTED)
        self.assertIn('the turn continues', output)
        (session,) = self.server.items('/api/projects/default/sessions')
        self.assertEqual(session['activity']['type'], 'busy')
        self.dm('cancel', session['id'])


class Settling(Cli):
    def test_results_of_each_form(self):
        file = pathlib.Path(self.server.own, 'value.json')
        file.write_text('{"from":"a file"}')
        text = pathlib.Path(self.server.own, 'value.txt')
        text.write_text('3')
        for arguments, stdin, output in (
            (['plain'], '', 'plain'),
            (['-'], 'piped', 'piped'),
            (['--json-value', '{"a":[1,2]}'], '', {'a': [1, 2]}),
            (['--file', file], '', {'from': 'a file'}),
            (['--file', text], '', '3'),
        ):
            _, session, call = self.asleep()
            self.dm('result', call['id'], *arguments, stdin=stdin)
            shown = self.server.get(f'/async-tool/pending/{call["id"]}')
            self.assertEqual(shown['result']['output'], output)
        self.dm('result', call['id'], exits=USAGE)
        self.dm('result', call['id'], 'a', '--json-value', '1', exits=USAGE)
        self.dm('result', call['id'], '--json-value', '{', exits=USAGE)
        self.dm('result', call['id'], '--file', '/no/such/file', exits=USAGE)

    def test_title_and_metadata(self):
        _, _, call = self.asleep()
        self.dm('result', call['id'], 'x', '--title', 'T', '--metadata', '{"k":1}')
        shown = self.server.get(f'/async-tool/pending/{call["id"]}')
        self.assertEqual(shown['result'], {'title': 'T', 'output': 'x', 'metadata': {'k': 1}})

    def test_error_and_progress(self):
        _, session, call = self.asleep()
        self.dm('progress', call['id'], '50 %', '--key', '50')
        self.dm('progress', call['id'], '50 %', '--key', '50')
        self.assertEqual(self.server.get(f'/async-tool/pending/{call["id"]}')['progressCount'], 1)
        self.dm('error', call['id'], 'no such branch')
        self.server.at_rest(session)
        self.assertIn('deploy A failed: no such branch', self.dm('show', session))

    def test_approve_and_deny(self):
        _, session, call = self.asleep('approve X')
        self.assertIn('dangerous', self.dm('approve', call['id'], '--reason', 'checked'))
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'dangerous X: {"done":"X","runs":1}')
        self.dm('deny', call['id'], exits=CONFLICT)
        _, session, call = self.asleep('approve X')
        self.dm('deny', call['id'], '--reason', 'not on a Friday')
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session),
                         'dangerous X failed: denied: not on a Friday')
        _, session, call = self.asleep('approve X')
        self.dm('approve', call['id'], '--arguments', '{"action":1}', exits=USAGE)
        output = self.dm('approve', call['id'], '--arguments', '{"action":"Y"}')
        self.assertIn('{"action":"Y"} instead of {"action":"X"}: applied', output)
        output = self.dm('explain', call['id'])
        self.assertIn('asked for dangerous {"action":"X"}', output)
        self.assertIn('- action: "X"\n          + action: "Y"\n', output)
        self.server.at_rest(session)
        self.assertIn('{"done":"Y","runs":1}', self.server.last_text(session))

    def test_wrong_kind_says_what_to_do(self):
        _, _, call = self.asleep('approve X')
        ended = run(
            'result',
            call['id'],
            'x',
            '--data',
            self.server.directory,
            '--server',
            f'http://127.0.0.1:{self.server.port}',
        )
        self.assertEqual(ended.returncode, USAGE)
        self.assertIn('approve', ended.stderr)

    def test_question_is_answered_by_a_prompt(self):
        _, session, call = self.asleep('ask Q?')
        output = self.dm('prompt', '-s', session, '--answers', call['id'], 'yes')
        self.assertIn('ask_human Q?: yes', output)

    def test_cancel(self):
        _, session, call = self.asleep()
        self.dm('cancel', call['id'])
        self.dm('result', call['id'], 'x', exits=GONE)
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'deploy A failed: cancelled')
        _, session, call = self.asleep()
        self.dm('cancel', session)
        self.assertEqual(self.server.turns(session)[0]['finishReason'], 'cancelled')
        self.dm('cancel', call['id'], '--all', exits=USAGE)

    def test_cancel_reason_reaches_the_model_and_people(self):
        _, session, call = self.asleep()
        self.dm('cancel', call['id'], '--reason', 'another branch')
        self.server.at_rest(session)
        self.assertIn('another branch', self.server.last_text(session))
        self.assertIn('cancelled another branch', self.dm('show', call['id']))
        self.assertIn('another branch', self.dm('explain', call['id']))
        self.assertIn('another branch', self.dm('show', session))
        _, session, call = self.asleep()
        self.dm('cancel', session, '--reason', 'wrong repository')
        self.assertEqual(self.server.turns(session)[0]['cancelReason'], 'wrong repository')

    def test_expired_call_is_gone(self):
        _, session, call = self.asleep('deploy A within 400ms')
        self.server.get(f'/async-tool/pending/{call["id"]}?wait=10')
        self.dm('result', call['id'], 'late', exits=GONE)

    def test_moves(self):
        _, session, call = self.asleep()
        self.dm('resume', session, exits=CONFLICT)
        self.dm('retry', session, exits=CONFLICT)
        self.dm('end', session)
        self.assertEqual(self.server.session(session)['status'], 'completed')
        self.dm('end', session, exits=CONFLICT)
        self.dm('prompt', '-s', session, 'x', exits=CONFLICT)

    def test_fork(self):
        _, session, call = self.asleep()
        output = self.dm('fork', session, '--title', 'F')
        forks = [
            s
            for s in self.server.items('/api/projects/default/sessions')
            if s['forkedFrom'] == session
        ]
        self.assertEqual(len(forks), 1)
        self.assertIn(forks[0]['id'], output)
        self.dm('fork', session, '--seq', '1', exits=USAGE)


class OnATerminal(Cli):
    def test_artifact_is_shown_without_its_control_characters(self):
        _, session, call = self.asleep()
        self.server.result(call['id'], 'a\x1b[2Jb\n' * 85_000)
        self.server.at_rest(session)
        parts = [p for m in self.server.messages(session) for p in m['parts']]
        (artifact,) = [p['state']['artifactID'] for p in parts if p['type'] == 'tool']
        screen = Terminal('artifact', artifact, *self.where())
        self.assertEqual(screen.ended(), DONE)
        self.assertIn('a\\u{1b}[2Jb\r\n', screen.text)
        self.assertNotIn('\x1b', screen.text)

    def test_colours_on_a_terminal_by_default(self):
        self.asleep()
        for env, coloured in (
            ({}, True),
            ({'NO_COLOR': '1'}, False),
            ({'NO_COLOR': ''}, True),
            ({'TERM': 'dumb'}, False),
        ):
            screen = Terminal('pending', *self.where(), columns=200, **env)
            self.assertEqual(screen.ended(), DONE)
            self.assertEqual('\x1b[' in screen.text, coloured, (env, screen.text))

    def test_tables_fit(self):
        _, session, call = self.asleep()
        title = '漢字 🐭 e\u0301 ' + 'many words ' * 20
        self.server.call('PATCH', f'/api/sessions/{session}', {'title': title})
        for command in (
            ['sessions'],
            ['pending'],
            ['agents'],
            ['timeline', session],
            ['tail', session, '--no-follow'],
        ):
            for columns in (40, 80, 132):
                screen = Terminal(*command, *self.where(), columns=columns, NO_COLOR='1')
                self.assertEqual(screen.ended(), DONE)
                for line in screen.text.splitlines():
                    self.assertLessEqual(columns_of(line), columns, (command, line))
        # A shortened id is still accepted.
        screen = Terminal('pending', *self.where(), columns=60, NO_COLOR='1')
        screen.ended()
        cut = re.search(r'…\S+', screen.text)[0]
        self.assertLess(len(cut), len(call['id']))
        self.assertIn(call['id'], self.dm('show', cut))

    def test_delete_asks(self):
        session = self.server.create('hello')['id']
        screen = Terminal('delete', session, *self.where())
        screen.until('[y/N]')
        screen.type('n\n')
        self.assertEqual(screen.ended(), FAILED)
        self.assertEqual(self.server.get(f'/api/sessions/{session}').status, 200)
        screen = Terminal('delete', session, *self.where())
        screen.until('[y/N]')
        screen.type('y\n')
        self.assertEqual(screen.ended(), DONE)
        self.dm('show', session, exits=NOT_FOUND)


class Others(Cli):
    def test_claim_does_not_exclude_the_same_token(self):
        _, _, call = self.asleep()
        self.assertIn('claimed deploy', self.dm('claim', call['id'][:30], '--for', '10m'))
        self.assertIn('processing', self.dm('pending'))
        self.assertIn('gave deploy', self.dm('claim', call['id'], '--release'))
        self.dm('claim', call['id'], '--for', '2h', exits=USAGE)
        self.dm('claim', call['id'], '--for', 'long', exits=USAGE)
        self.dm('result', call['id'], 'live')

    def test_delete(self):
        session = self.server.create('hello')['id']
        self.dm('delete', session[:12], exits=USAGE)
        self.assertIn(session, self.dm('delete', session[:12], '--yes'))
        self.dm('show', session, exits=NOT_FOUND)
        self.dm('delete', session, '--yes', exits=NOT_FOUND)

    def test_failed_output_is_no_success(self):
        with open('/dev/full', 'w') as full:
            ended = subprocess.run(
                [BINARY, 'agents', *self.where()],
                env=environment(),
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
            )
        self.assertEqual(ended.returncode, FAILED)
        self.assertIn('cannot write', ended.stderr)

    def test_deliveries(self):
        self.assertEqual(self.dm('deliveries'), 'nothing was sent\n')
        self.assertEqual(self.objects('deliveries', '--state', 'dead'),
                         [{'items': [], 'next': None}])
        self.dm('deliveries', '--retry', 'dlv_x', exits=NOT_FOUND)
        self.dm('deliveries', '--forget', 'dlv_x', exits=NOT_FOUND)
        self.dm('deliveries', '--state', 'odd', exits=USAGE)

    def test_agents(self):
        self.assertIn('demo-each', self.dm('agents'))
        self.assertEqual(self.objects('agents'), [self.server.get('/api/agents').json])

    def test_tools(self):
        self.assertRegex(self.dm('tools'), r'(?m)^deploy +target')
        self.assertEqual(self.objects('tools'), [self.server.get('/api/tools').json])

    def test_ended_session_is_reopened(self):
        session = self.server.create('hello')['id']
        self.dm('end', session)
        self.dm('prompt', '-s', session, 'more', exits=CONFLICT)
        self.assertIn('You said: more', self.dm('prompt', '-s', session, '--reopen', 'more'))

    def test_turn_that_fails_and_one_that_is_cancelled(self):
        _, session, _ = self.asleep()
        follows = subprocess.Popen(
            [BINARY, 'prompt', '-s', session, '--when', 'queue', 'hello', *self.where()],
            env=environment(),
            stdout=subprocess.PIPE,
            text=True,
        )
        self.assertEqual(follows.wait(timeout=20), SLEEPS)
        follows = subprocess.Popen(
            [BINARY, 'prompt', 'sleepy 20s', *self.where()],
            env=environment(),
            stdout=subprocess.PIPE,
            text=True,
        )
        wait_for(lambda: len(self.server.items('/api/projects/default/sessions')) == 2)
        fresh = self.server.items('/api/projects/default/sessions')[0]['id']
        self.assertIn('sleepy', follows.stdout.readline() + follows.stdout.readline())
        self.dm('cancel', fresh)
        follows.communicate(timeout=20)
        self.assertEqual(follows.returncode, GONE)


class Reaching(Cli):
    def test_no_server(self):
        self.server.term()
        self.dm('sessions', exits=UNREACHABLE)
        self.dm('prompt', 'x', exits=UNREACHABLE)
        self.server.start()

    def test_wrong_token(self):
        self.dm('sessions', exits=NOT_ALLOWED, env=environment(DORMOUSE_TOKEN='wrong'))

    def test_address_and_token_from_the_environment(self):
        env = environment(
            DORMOUSE_URL=f'http://127.0.0.1:{self.server.port}',
            DORMOUSE_TOKEN=self.server.token,
            HOME=self.server.own,
        )
        self.assertEqual(run('sessions', env=env).returncode, DONE)

    def test_usage(self):
        for arguments in (
            [],
            ['nonsense'],
            ['show'],
            ['prompt'],
            ['result'],
            ['sessions', '--nonsense'],
            ['prompt', '-c', '--new', 'x'],
            ['sessions', '--server', 'nonsense'],
            ['sessions', '--server', 'http://ann:secret@127.0.0.1:1'],
            ['sessions', '--server', 'ftp://127.0.0.1:1'],
        ):
            ended = run(*arguments, env=environment(HOME=self.server.own))
            self.assertEqual(ended.returncode, USAGE, ended)
            self.assertTrue(ended.stderr)
            self.assertNotIn('secret', ended.stderr)

    def test_mistakes_say_what_to_do_instead(self):
        _, session, call = self.asleep()
        where = ['--data', self.server.directory, '--server',
                 f'http://127.0.0.1:{self.server.port}']
        for words, exits, texts in (
            (('error', 'zz'), USAGE, ["For example: dormouse error CALL '"]),
            (('progress', 'zz'), USAGE, ["For example: dormouse progress CALL '"]),
            (('import', 'nosuch.jsonl'), NOT_FOUND, ['cannot read nosuch.jsonl: ']),
            (('import', self.server.own), USAGE, ['--agent is required', 'dormouse import --help']),
            (('timeline', call['id']), USAGE, [f'belongs to the session {session}\n']),
            (('tail', session, '--after', 'zz'), USAGE, ["--after: must be a number, not 'zz'"]),
        ):
            with self.subTest(words):
                ended = run(*words, *where)
                self.assertEqual(ended.returncode, exits, ended)
                for text in texts:
                    self.assertIn(text, ended.stderr)

    def test_typo_names_the_nearest_word(self):
        for arguments, wanted in (
            (['sesions'], 'dormouse sessions'),
            (['sessions', '--limt', '3'], '--limit'),
            (['pending', '--status', 'wating'], 'waiting'),
        ):
            ended = run(*arguments, env=environment(HOME=self.server.own))
            self.assertEqual(ended.returncode, USAGE)
            self.assertIn(f'Did you mean', ended.stderr)
            self.assertIn(wanted, ended.stderr)

    def test_verify_offline(self):
        if self.server.store:
            self.skipTest('reads the file of SQLite')
        _, session, call = self.asleep()
        self.server.term()
        database = pathlib.Path(self.server.directory, 'dormouse.db')
        before = database.read_bytes()
        ended = run('verify', '--data', self.server.directory)
        self.assertEqual(database.read_bytes(), before, 'it only reads')
        self.assertEqual(ended.returncode, DONE, ended)
        self.assertIn('0 findings', ended.stdout)
        missing = pathlib.Path(self.server.own, 'missing')
        self.assertNotEqual(run('verify', '--data', missing).returncode, DONE)
        self.assertFalse(missing.exists(), 'a check makes nothing')
        self.server.start()


class Demo(Cli):
    def test_demo_shows_the_main_job_and_ends(self):
        ended = run('demo', timeout=30, env=environment(HOME=''))
        self.assertEqual(ended.returncode, DONE, ended)
        self.assertIn('killed', ended.stdout)
        self.assertIn('duplicate', ended.stdout)
        self.assertIn('409', ended.stdout)


if __name__ == '__main__':
    main()
