#!/usr/bin/env python3
"""`dormouse login` keeps servers and their tokens in a file that only its owner may read; each
token goes only to its server. `-o` and errors as JSON."""
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import termios

from cli import DONE, INTERRUPTED, NOT_ALLOWED, NOT_FOUND, UNREACHABLE, USAGE, Cli, Terminal
from dormouse import BINARY, Server, environment, main, run, wait_for


class Contexts(Cli):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix='dormouse-contexts-')
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        self.file = self.home / '.config/dormouse/contexts.json'
        self.url = f'http://127.0.0.1:{self.server.port}'

    def command(self, *words, exits=DONE, stdin='', **env):
        done = run(*words, stdin=stdin, env=environment(HOME=str(self.home), **env))
        self.assertEqual(done.returncode, exits, done)
        return done

    def login(self, *words, token=None, exits=DONE):
        token = self.server.token if token is None else token
        return self.command('login', self.url, *words, stdin=token + '\n', exits=exits)

    def test_commands_use_the_server_of_the_login(self):
        done = self.login('--name', 'prod')
        self.assertIn('role admin', done.stdout)
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)
        session = self.server.create('hello')['id']
        self.assertIn(session, self.command('sessions').stdout)
        listed = json.loads(self.command('context', '--json').stdout)['items']
        self.assertEqual([(c['name'], c['current']) for c in listed],
                         [('local', False), ('prod', True)])
        self.assertNotIn(self.server.token, self.command('context').stdout)

        paths = json.loads(self.command('paths', '--json').stdout)
        self.assertEqual(paths['server'], {'url': self.url, 'from': 'context prod'})
        self.assertEqual(paths['token'], {'path': None, 'from': 'context prod', 'exists': True})

        self.command('context', 'use', 'local')
        self.assertIn('no server at 127.0.0.1:3676',
                      self.command('sessions', exits=UNREACHABLE).stderr)
        self.assertIn(session, self.command('sessions', '--context', 'prod').stdout)
        self.assertIn(session, self.command('sessions', '--server', self.url).stdout)
        self.assertIn(session, self.command('sessions', DORMOUSE_URL=self.url).stdout)
        self.command('context', 'remove', 'prod')
        done = self.command('sessions', '--context', 'prod', exits=NOT_FOUND).stderr
        self.assertIn('dormouse login URL', done)
        self.assertNotIn(self.server.token, self.file.read_text())

    def test_token_goes_to_its_server_only(self):
        self.login()
        other = Server()
        self.addCleanup(other.clean)
        url = f'http://127.0.0.1:{other.port}'
        self.command('sessions', '--server', url, exits=NOT_ALLOWED)
        listener = socket.create_server(('127.0.0.1', 0))
        listener.settimeout(20)
        self.addCleanup(listener.close)
        process = subprocess.Popen(
            [BINARY, 'agents', '--server', f'http://127.0.0.1:{listener.getsockname()[1]}'],
            stderr=subprocess.PIPE, env=environment(HOME=str(self.home)))
        peer, _ = listener.accept()
        with peer:
            head = peer.recv(65536)
        process.communicate(timeout=30)
        self.assertIn(b'GET /api/agents', head)
        self.assertNotIn(b'uthorization', head)
        # Another token of the environment is not sent to the server of the context in use.
        self.command('sessions', DORMOUSE_TOKEN='of-another-server')
        self.command('sessions', '--server', self.url, DORMOUSE_TOKEN='wrong', exits=NOT_ALLOWED)

    def test_refused_logins_store_nothing(self):
        for words, stdin, exits, why in (
            ((self.url,), 'dm_wrong\n', NOT_ALLOWED, 'does not accept the token'),
            ((self.url,), '\n', USAGE, 'the token is empty'),
            ((self.url,), 'two words\n', USAGE, 'visible characters'),
            ((self.url, '--name', 'a b'), 'x\n', USAGE, 'not a name for a context'),
            ((self.url, '--name', 'local'), 'x\n', USAGE, 'not a name for a context'),
            (('ftp://x',), 'x\n', USAGE, 'not a server address'),
            ((self.url, '--token-file', '/nowhere'), '', USAGE, 'cannot read the file'),
            (('http://127.0.0.1:1',), 'x\n', UNREACHABLE, 'no server at'),
        ):
            output = self.command('login', *words, stdin=stdin, exits=exits).stderr
            self.assertIn(why, output)
        self.assertFalse(self.file.exists())

    def test_token_of_a_file_and_wrong_one_names_its_context(self):
        token = self.home / 'token'
        token.write_text(self.server.token + '\nsecond line\n')
        self.command('login', self.url, '--token-file', token)
        self.command('sessions')
        name = f'127.0.0.1-{self.server.port}'
        stored = json.loads(self.file.read_text())
        stored['contexts'][0]['token'] = 'dm_revoked'
        self.file.write_text(json.dumps(stored))
        output = self.command('sessions', exits=NOT_ALLOWED).stderr
        self.assertIn(f'the token of context {name}', output)
        self.assertIn(f'dormouse login {self.url} --name {name}', output)

    def test_file_that_others_may_read_or_broken_is_refused(self):
        self.login()
        self.file.chmod(0o640)
        output = self.command('sessions', exits=USAGE).stderr
        self.assertIn('others may read it', output)
        self.assertIn(f'chmod 600 {self.file}', output)
        self.file.chmod(0o600)
        self.file.write_text('no')
        self.assertIn('is not a list of contexts', self.command('sessions', exits=USAGE).stderr)
        self.command('paths')

    def test_terminal_asks_and_shows_no_token(self):
        terminal = Terminal('login', self.url, HOME=str(self.home))
        terminal.until('Token (not shown): ')
        terminal.type(self.server.token + '\n')
        terminal.until('signed in to')
        self.assertEqual(terminal.ended(), DONE)
        self.assertNotIn(self.server.token, terminal.text)

    def test_ctrl_c_at_the_question_restores_the_terminal(self):
        terminal = Terminal('login', self.url, HOME=str(self.home))
        terminal.until('Token (not shown): ')
        echo = lambda: bool(termios.tcgetattr(terminal.file)[3] & termios.ECHO)
        wait_for(lambda: not echo(), what='a terminal without echo')
        terminal.type('\x03')
        terminal.process.wait(20)
        self.assertTrue(echo())
        self.assertEqual(terminal.ended(), INTERRUPTED)
        self.assertFalse(self.file.exists())

    def test_completion_offers_contexts(self):
        self.login('--name', 'prod')
        self.assertEqual(self.command('candidates', 'context', 'pr').stdout,
                         f'prod\t{self.url}\n')


class Forms(Cli):
    def test_names_yaml_wide_and_json(self):
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        self.assertEqual(self.dm('sessions', '-o', 'name'), session + '\n')
        self.assertEqual(self.dm('pending', '--output=name'), call['id'] + '\n')
        self.assertEqual(self.dm('show', call['id'], '-o', 'name'), call['id'] + '\n')
        self.assertIn(f'- id: {session}\n', self.dm('sessions', '-o', 'yaml'))
        self.assertIn('  agentID: demo\n', self.dm('sessions', '-o', 'yaml'))
        self.assertEqual(json.loads(self.dm('sessions', '-o', 'json')),
                         json.loads(self.dm('sessions', '--json')))
        self.assertIn(session, self.dm('sessions', '-o', 'wide'))
        for words in (('config', 'keys'), ('verify',)):
            output = self.dm_error(*words, '-o', 'yaml')
            self.assertIn('--output json', output)
        self.assertIn('excludes', self.dm_error('sessions', '-o', 'yaml', '--json'))

    def dm_error(self, *words):
        done = run(*words, *self.where())
        self.assertEqual(done.returncode, USAGE, done)
        return done.stderr

    def test_wide_cuts_nothing_on_a_terminal(self):
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        for words, whole in ((('pending',), False), (('pending', '-o', 'wide'), True)):
            terminal = Terminal(*words, *self.where(), columns=60)
            terminal.ended()
            self.assertEqual(call['id'] in terminal.text, whole, terminal.text)

    def test_errors_are_json_with_json(self):
        for words, exits, code in (
            (('show', 'ses_nothing', '--json'), NOT_FOUND, 'not_found'),
            (('shw', '--json'), USAGE, 'usage'),
            (('sessions', '--limit', 'x', '-o', 'json'), USAGE, 'usage'),
            (('sessions', '--json', '--context', 'nobody'), NOT_FOUND, 'not_found'),
            (('prompt', 'x', '--agent', 'nobody', '--json'), USAGE, 'bad_value'),
        ):
            where = self.where() if '--context' not in words else []
            with tempfile.TemporaryDirectory() as home:
                done = run(*words, *where, env=environment(HOME=home))
            self.assertEqual(done.returncode, exits, done)
            problem = json.loads(done.stderr)
            self.assertEqual(problem['code'], code)
            self.assertTrue(problem['title'])
        done = run('sessions', '--json', '--server', 'http://127.0.0.1:1')
        problem = json.loads(done.stderr)
        self.assertEqual((problem['code'], problem['exit']), ('unreachable', UNREACHABLE))
        self.assertIn('dormouse serve', problem['remedy'])

    def test_commands_on_data_fail_as_json(self):
        """Each names what it cannot use; `serve` also lists the mistakes of its configuration."""
        folder = tempfile.TemporaryDirectory(prefix='dormouse-errors-')
        self.addCleanup(folder.cleanup)
        wrong = pathlib.Path(folder.name, 'wrong.toml')
        wrong.write_text('[server]\nlisten = 1\n[nothing]\n')
        server = Server('--store', 'sqlite')
        self.addCleanup(server.clean)
        none, used = str(pathlib.Path(folder.name, 'none')), ('--data', server.directory)
        serve = ('serve', '--no-config', '--data', none)
        database = ('--store', 'postgres://127.0.0.1:1/x')
        for words, code in (
            (('restore', none, '--data', none + '2'), 'not_found'),
            (('restore', none, '--data', none + '2', '--key', none), 'not_found'),
            (('restore', none, '--data', none + '2', '--at', 'noon'), 'bad_value'),
            (('restore', os.fsdecode(b'\xff\x1b'), '--data', none + '2'), 'not_found'),
            (('verify', '--data', none), 'not_found'),
            (('verify', *used), 'wrong_state'),
            (('verify', '--backup', none), 'not_found'),
            (('verify', '--backup', 's3://B'), 'bad_value'),
            (('verify', '--archive', none), 'not_found'),
            (('backup', none, '--data', none), 'not_found'),
            (('backup', none, '--key', str(wrong), *used), 'bad_value'),
            (('export', '--data', none), 'not_found'),
            (('export', '--archive', none), 'not_found'),
            (('import', '-', '--data', none + '3'), 'bad_value'),
            (('archive', none, '--completed-after', '1s', *database), 'store_unavailable'),
            (('compact', '--data', none), 'not_found'),
            (('compact', '--store', 'sqlite'), 'bad_value'),
            (('rekey', '--data', none, '--key-env', 'HOME'), 'not_found'),
            (('upgrade', *database), 'store_unavailable'),
            (('serve', '--config', str(wrong), '--data', none), 'bad_value'),
            ((*serve, '--listen', 'nowhere'), 'bad_value'),
            ((*serve, '--store', 'postgres://127.0.0.1:1/x'), 'store_unavailable'),
            (('serve', '--no-config', *used), 'wrong_state'),
            (('config', 'init', str(wrong)), 'conflict'),
            (('config', 'init', '/proc/none/x'), 'internal'),
        ):
            with self.subTest(words=words):
                done = run(*words, '--json', env=environment())
                problem = json.loads(done.stderr)
                self.assertEqual((problem['code'], problem['exit']), (code, done.returncode))
                self.assertGreater(done.returncode, 0)
                self.assertTrue(problem['title'])
                self.assertEqual('mistakes' in problem, str(wrong) in words and 'serve' in words)
                self.assertEqual(done.stdout, '')
                self.assertNotEqual(run(*words, env=environment()).stderr[:1], '{')


if __name__ == '__main__':
    main()
