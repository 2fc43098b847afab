#!/usr/bin/env python3
"""On a terminal, lines of the list shown last are numbered and `#3` means the third; a command
without its id lets the person choose. Elsewhere nothing is numbered, chosen or asked."""
import pathlib

from cli import DONE, INTERRUPTED, NOT_FOUND, USAGE, Cli, Terminal
from doctor import failed_session
from dormouse import BINARY, main, run


class Shell(Terminal):
    """A shell on one terminal, so that several commands have the same one."""

    def __init__(self, where):
        flags = ' '.join(where)
        super().__init__(
            '-c',
            f'while IFS= read -r line; do eval "\'{BINARY}\' $line {flags}"; echo "exit:$?"; done',
            program='/bin/bash',
            NO_COLOR='1',
        )

    def stop(self):
        self.process.kill()
        self.ended()

    def run(self, line):
        """Returns what the command printed, and its exit status."""
        begin = len(self.text)
        self.type(line + '\n')
        while 'exit:' not in self.text[begin:]:
            self.until('exit:') if 'exit:' not in self.text else self.read(0.2)
        return self.text[begin:]


class Lines(Cli):
    def shell(self):
        shell = Shell(self.where())
        self.addCleanup(shell.stop)
        return shell

    def test_number_means_the_line_of_the_list_on_this_terminal(self):
        sessions = [self.server.create(f'deploy {x}')['id'] for x in 'ABC']
        shell = self.shell()
        listed = shell.run('sessions')
        self.assertRegex(listed, r'(?m)^ *# +SESSION')
        self.assertRegex(listed, r'(?m)^1 +ses_')
        newest = self.server.items('/api/projects/default/sessions')
        for line, session in enumerate(newest, 1):
            self.assertIn(session['id'], shell.run(f"show '#{line}'"))
        self.assertIn(newest[1]['id'], shell.run('show 2'))
        self.assertIn('is no line of the list', shell.run("show '#9'"))
        self.assertIn('not a call', shell.run("claim '#1'"))
        shell.run('pending')
        calls = self.server.items('/async-tool/pending')
        self.assertIn('applied', shell.run("result '#3' live"))
        state = self.server.get(f'/async-tool/pending/{calls[2]["id"]}')['status']
        self.assertEqual(state, 'completed')
        # Another terminal has shown no list.
        self.assertIn('is no line of the list', self.shell().run("show '#1'"))
        self.assertEqual(len(sessions), 3)

    def test_elsewhere_nothing_is_numbered(self):
        self.server.create('deploy A')
        self.assertNotIn('#', self.dm('sessions'))
        self.assertFalse(pathlib.Path(self.server.directory, 'last-lists').exists())
        done = run('show', '#1', *self.where())
        self.assertEqual(done.returncode, USAGE)
        self.assertIn('is no line of the list', done.stderr)


class Pick(Cli):
    def test_call_is_chosen_shown_whole_and_confirmed(self):
        calls = {}
        for name in 'AB':
            session = self.server.create(f'approve {name}')['id']
            calls[name] = self.server.open_calls(session)[0]['id']
        terminal = Terminal('approve', *self.where(), NO_COLOR='1')
        terminal.until('Which one? [1-2]: ')
        terminal.type('7\n')
        terminal.type('2\n')
        terminal.until('Approve this? [y/N] ')
        self.assertIn(f'{calls["A"]}  waiting\r\n', terminal.text)
        terminal.type('y\n')
        terminal.until('applied')
        self.assertEqual(terminal.ended(), DONE)
        status = {x: self.server.get(f'/async-tool/pending/{calls[x]}')['status'] for x in 'AB'}
        self.assertNotEqual(status['A'], 'waiting')
        self.assertEqual(status['B'], 'waiting')

    def test_only_approvals_are_offered_for_a_decision(self):
        waits = self.server.create('deploy A')['id']
        self.assertEqual(len(self.server.open_calls(waits)), 1)
        terminal = Terminal('approve', *self.where())
        terminal.until('no approval waits')
        self.assertNotEqual(terminal.ended(), DONE)
        self.server.create('approve A')
        terminal = Terminal('approve', *self.where(), NO_COLOR='1')
        terminal.until('Which one? [1]: ')
        self.assertNotIn('deploy', terminal.text)
        terminal.type('\n')
        self.assertEqual(terminal.ended(), INTERRUPTED)

    def test_nothing_is_decided_without_a_yes(self):
        session = self.server.create('approve A')['id']
        for answers in (('\n',), ('1\n', '\n'), ('1\n', 'n\n')):
            terminal = Terminal('deny', *self.where())
            for question, answer in zip(('Which one? [1]: ', 'Deny this? [y/N] '), answers):
                terminal.until(question)
                terminal.type(answer)
            self.assertEqual(terminal.ended(), INTERRUPTED)
        self.assertEqual(len(self.server.open_calls(session)), 1)

    def test_session_is_chosen(self):
        session = self.server.create('hello')['id']
        self.server.at_rest(session)
        terminal = Terminal('show', *self.where())
        terminal.until('Which one? [1]: ')
        terminal.type('1\n')
        terminal.until('You said: hello')
        self.assertEqual(terminal.ended(), DONE)

    def test_delete_asks_which_and_whether(self):
        session = self.server.create('hello')['id']
        self.server.at_rest(session)
        terminal = Terminal('delete', *self.where())
        terminal.until('Which one? [1]: ')
        terminal.type('1\n')
        terminal.until('[y/N] ')
        terminal.type('y\n')
        self.assertEqual(terminal.ended(), DONE, terminal.text)
        self.assertEqual(self.server.get(f'/api/sessions/{session}').status, 404)

    def test_call_is_chosen_for_a_result(self):
        for command, words, status in (
            ('progress', ('50 %',), 'waiting'),
            ('result', ('live',), 'completed'),
            ('result', ('--json-value', '{"url": 1}'), 'completed'),
            ('error', ('no room',), 'failed'),
        ):
            with self.subTest(command, words=words):
                session = self.server.create('deploy A')['id']
                (call,) = self.server.open_calls(session)
                terminal = Terminal(command, *words, *self.where())
                terminal.until('Which one? [1')
                terminal.type('1\n')
                terminal.until('noted' if command == 'progress' else 'applied')
                self.assertEqual(terminal.ended(), DONE, terminal.text)
                shown = self.server.get(f'/async-tool/pending/{call["id"]}')
                self.assertEqual(shown['status'], status)
                if status == 'waiting':
                    self.server.result(call['id'], 'live')

    def test_question_is_chosen_for_an_answer(self):
        session = self.server.create('ask A')['id']
        calls = self.server.open_calls(session)
        terminal = Terminal('answer', 'blue', *self.where())
        terminal.until('Which one? [1')
        terminal.type('\n')
        self.assertEqual(terminal.ended(), INTERRUPTED)
        self.assertEqual(len(self.server.open_calls(session)), len(calls))

    def test_id_without_a_text_settles_nothing(self):
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        for words in (('result', call['id']), ('error',), ('progress', '#1')):
            terminal = Terminal(*words, *self.where())
            terminal.until('give the value: TEXT')
            self.assertEqual(terminal.ended(), USAGE)
        done = run('result', call['id'][4:14], *self.where())
        self.assertEqual(done.returncode, USAGE, done)
        self.assertIn('give the value: TEXT', done.stderr)
        self.assertEqual(len(self.server.open_calls(session)), 1)

    def test_session_and_message_are_chosen_for_redact(self):
        session = self.server.create('the key is hunter2')['id']
        self.server.at_rest(session)
        terminal = Terminal('redact', '--yes', *self.where(), NO_COLOR='1')
        terminal.until('Which one? [1]: ')
        terminal.type('1\n')
        terminal.until('Which one? [1-2]: ')
        self.assertIn('hunter2', terminal.text)
        terminal.type('1\n')
        self.assertEqual(terminal.ended(), DONE, terminal.text)
        self.assertIn('removed: ', terminal.text)
        self.assertNotIn('hunter2', str(self.server.messages(session)[0]))
        message = self.server.messages(session)[1]['id']
        terminal = Terminal('redact', message, '--yes', *self.where())
        terminal.until('Which one? [1]: ')
        terminal.type('1\n')
        self.assertEqual(terminal.ended(), DONE, terminal.text)
        self.assertNotIn('hunter2', str(self.server.messages(session)))

    def test_session_is_chosen_for_its_tasks(self):
        session = self.server.create('hello')['id']
        self.server.at_rest(session)
        terminal = Terminal('tasks', *self.where())
        terminal.until('Which one? [1]: ')
        terminal.type('1\n')
        terminal.until('no tasks')
        self.assertEqual(terminal.ended(), DONE)

    def test_session_and_artifact_are_chosen(self):
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        output = 'begin' + 'x' * 1_200_000 + 'the end'
        self.assertStatus(self.server.result(call['id'], output), 200)
        self.server.at_rest(session)
        terminal = Terminal('artifact', *self.where())
        terminal.until('Which one? [1]: ')
        terminal.type('1\n')
        terminal.until('1200012')
        self.assertIn('begin', terminal.text)
        terminal.until('Which one? [1]: ')
        terminal.type('1\n')
        terminal.until('the end')
        self.assertEqual(terminal.ended(), DONE)
        done = run('artifact', *self.where())
        self.assertEqual(done.returncode, USAGE, done)
        self.assertIn('name an artifact:', done.stderr)
        empty = self.server.create('hello')['id']
        self.server.at_rest(empty)
        terminal = Terminal('artifact', *self.where())
        terminal.until('Which one? [1-2]: ')
        terminal.type('1\n')
        terminal.until('name no artifact')
        self.assertEqual(terminal.ended(), NOT_FOUND)

    def test_redact_refuses_what_names_nothing(self):
        session = self.server.create('hello')['id']
        for words, why in (
            (('rcp_AAAA',), "'rcp_AAAA' is no id of what redact removes"),
            (('ses_AAAA',), "'ses_AAAA' is no id of what redact removes"),
            (('--label', ''), '--label must not be empty'),
            ((), 'redact: name what to remove'),
        ):
            done = run('redact', session, *words, '--yes', *self.where())
            self.assertEqual(done.returncode, USAGE, done)
            self.assertIn(why, done.stderr)

    def test_without_a_terminal_it_says_what_to_pass(self):
        for command, what in (
            ('approve', 'name a call:'),
            ('deny', 'name a call:'),
            ('claim', 'name a call:'),
            ('cancel', 'name a call:'),
            ('show', 'name a session:'),
            ('tail', 'name a session:'),
            ('timeline', 'name a session:'),
            ('explain', 'name a session:'),
            ('resume', 'name a session:'),
            ('retry', 'name a session:'),
            ('end', 'name a session:'),
            ('attach', 'name a session:'),
            ('delete --yes', 'name a session:'),
            ('fork', 'name a session:'),
            ('move --to web2', 'name a session:'),
            ('inbox', 'name a session:'),
            ('reassign --to bob', 'name a call:'),
            ('result --json-value 7', 'name a call:'),
            ('error --file /dev/null', 'name a call:'),
            ('progress --json-value 7', 'name a call:'),
            ('answer --json-value 7', 'name a call:'),
            ('redact --title', 'name a session:'),
        ):
            done = run(*command.split(), *self.where())
            self.assertEqual(done.returncode, USAGE, done)
            self.assertIn(what, done.stderr)
            seen = 'dormouse pending' if 'call' in what else 'dormouse sessions'
            self.assertIn(seen, done.stderr)


class PickFailed(Cli):
    def setUp(self):
        pass  # each test starts its server

    def test_retry_offers_what_failed_only(self):
        failed = failed_session(self)
        other = self.server.create('hello', agent='ops')['id']
        self.server.at_rest(other)
        terminal = Terminal('retry', *self.where())
        terminal.until('Which one? [1]: ')
        self.assertNotIn(other, terminal.text)
        terminal.type('1\n')
        self.assertEqual(terminal.ended(), DONE, terminal.text)
        self.server.at_rest(failed)
        terminal = Terminal('retry', *self.where())
        terminal.until('no session can be retried')
        self.assertEqual(terminal.ended(), NOT_FOUND)


if __name__ == '__main__':
    main()
