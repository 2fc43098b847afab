#!/usr/bin/env python3
"""`dormouse init` writes a configuration that works, and overwrites nothing; `dormouse status`
finds the server by its data directory and shows what waits."""
import json
import pathlib
import tempfile

from cli import Terminal
from dormouse import Case, Server, main, run

NO_KEYS = {'ANTHROPIC_API_KEY': '', 'OPENAI_API_KEY': '', 'GEMINI_API_KEY': ''}


class Init(Case):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        (self.home / 'bin').mkdir()
        self.env = {**NO_KEYS, 'HOME': str(self.home), 'XDG_CONFIG_HOME': '',
                    'PATH': f'{self.home}/bin:/usr/bin:/bin'}

    def program(self, name):
        file = self.home / 'bin' / name
        file.write_text('#!/bin/sh\nexit 1\n')
        file.chmod(0o755)

    def init(self, *options, status=0, **env):
        done = run('init', *options, '--yes', env={**self.env, **env})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_without_a_model_the_example_works_and_asks_a_person(self):
        folder = self.home / 'shop'
        self.init(str(folder))
        server = Server('--config', str(folder / 'dormouse.toml'))
        self.addCleanup(server.clean)
        session = server.create('deploy shop', agent='assistant')['id']
        (call,) = server.open_calls(session)
        self.assertEqual(call['reason'], 'approval')
        self.assertStatus(server.decide(call, True), 200)
        server.at_rest(session)
        self.assertIn('would deploy {"target":"shop"}', server.last_text(session))
        server.finish()

    def test_installed_programs_are_named_and_the_file_is_valid(self):
        for name in ('ollama', 'opencode', 'claude'):
            self.program(name)
        (self.home / '.claude.json').write_text(json.dumps({'mcpServers': {
            'files': {'command': 'npx', 'args': ['mcp-files'], 'env': {'TOKEN': 'a-secret'}},
            'Not a word': {'command': 'x'}, 'issues': {'url': 'https://mcp.example.org'}}}))
        done = self.init(ANTHROPIC_API_KEY='sk-a-secret')
        file = self.home / '.config' / 'dormouse' / 'dormouse.toml'
        text = file.read_text()
        for part in ('kind = "anthropic"', '#kind = "ollama"', '# opencode is installed',
                     '# claude is installed', '#command = ["npx", "mcp-files"]',
                     '#url = "https://mcp.example.org"'):
            self.assertIn(part, text)
        self.assertNotIn('a-secret', text + done.stdout + done.stderr)
        self.assertIn(str(file), done.stdout)
        checked = run('config', 'check', env={**self.env, 'ANTHROPIC_API_KEY': 'sk-a-secret'})
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

        file.with_name('deploy.sh').unlink()
        again = self.init(status=4)
        self.assertIn('exists already', again.stderr)
        self.assertEqual(file.read_text(), text)
        self.assertFalse(file.with_name('deploy.sh').exists(), 'nothing was written')

    def init_output(self, *answers, **env):
        """The questions of `init` on a terminal; each answer is a line."""
        terminal = Terminal('init', str(self.home / 'shop'), **{**self.env, **env})
        for number, line in enumerate(answers, 1):
            terminal.until(f'{number}. ')
            terminal.type(line + '\n')
        self.assertEqual(terminal.ended(), 0, terminal.text)
        return terminal.text

    def test_questions_on_a_terminal_are_numbered(self):
        text = self.init_output('n', '')
        self.assertIn('No model was found, so the scripted model is used', text)
        self.assertIn('1. Is a person asked', text)
        self.assertIn('2. Which folder?', text)
        self.assertNotIn('3. ', text)
        other = self.home / 'other'
        text = self.init_output('', '', str(other), ANTHROPIC_API_KEY='sk-a-secret')
        self.assertRegex(text, r'(?s)1\. Which model\?.*2\. Is a person.*3\. Which folder\?')
        self.assertIn('kind = "anthropic"', (other / 'dormouse.toml').read_text())

    def test_status_finds_the_server_by_its_data_directory(self):
        session = self.server.create('deploy A within 1h')['id']
        (call,) = self.server.open_calls(session)
        data = ('--data', self.server.directory)
        done = run('status', *data, env={'DORMOUSE_URL': ''})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f'http://127.0.0.1:{self.server.port}', done.stdout)
        self.assertIn('1 in project default: 1 waiting', done.stdout)
        self.assertIn(call['id'], done.stdout)
        shown = json.loads(run('status', *data, '--json', env={'DORMOUSE_URL': ''}).stdout)
        self.assertEqual(shown['sessions']['waiting'], 1)
        self.assertEqual([one['id'] for one in shown['waiting']], [call['id']])
        self.assertFalse(shown['held'])
        self.server.term()
        self.assertFalse(pathlib.Path(self.server.directory, 'url').exists())
        self.server.start()


if __name__ == '__main__':
    main()
