#!/usr/bin/env python3
"""`dormouse init` writes a configuration that works, and overwrites nothing; `dormouse status`
finds the server by its data directory and shows what waits."""
import http.server
import json
import pathlib
import tempfile
import threading

from cli import Terminal
from dormouse import Case, Server, main, run

NO_KEYS = {'ANTHROPIC_API_KEY': '', 'OPENAI_API_KEY': '', 'GEMINI_API_KEY': ''}


class Init(Case):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        self.here = self.home / 'here'
        for name in ('bin', 'here'):
            (self.home / name).mkdir()
        # Nothing listens at port 1.
        self.env = {**NO_KEYS, 'OLLAMA_HOST': '127.0.0.1:1', 'HOME': str(self.home),
                    'XDG_CONFIG_HOME': '',
                    'PATH': f'{self.home}/bin:/usr/bin:/bin'}

    def program(self, name):
        file = self.home / 'bin' / name
        file.write_text('#!/bin/sh\nexit 1\n')
        file.chmod(0o755)

    def stored_model(self, name, tag):
        folder = self.home / '.ollama/models/manifests/registry.ollama.ai/library' / name
        folder.mkdir(parents=True)
        (folder / tag).write_text('{}')

    def ollama(self, *models, delay=0):
        """Serves Ollama's list of models; returns $OLLAMA_HOST."""
        ended = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                ended.wait(delay)
                body = json.dumps({'models': [{'name': name} for name in models]}).encode()
                self.send_response(200 if self.path == '/api/tags' else 404)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(ended.set)
        return f'127.0.0.1:{server.server_port}'

    def test_model_that_ollama_serves_is_chosen(self):
        host = self.ollama('nomic-embed-text:latest', 'llama3.2:3b', 'qwen3:8b')
        for named in (host, f'http://{host}/', host.replace('127.0.0.1', '0.0.0.0'),
                      host.replace('127.0.0.1', '')):
            folder = self.home / named.replace('/', '_')
            self.init(str(folder), OLLAMA_HOST=named)
            text = (folder / 'dormouse.toml').read_text()
            self.assertIn('kind = "ollama"\nmodel = "llama3.2:3b"\n'
                          f'base_url = "http://{host}"\n', text)
            self.assertEqual(run('config', 'check', str(folder / 'dormouse.toml')).returncode, 0)

    def test_ollama_that_cannot_be_used_is_named(self):
        for host, why in (
            (self.ollama(), 'it has no model'),
            (self.ollama('qwen3', delay=60), 'no server answers there'),
            ('127.0.0.1:1', 'no server answers there'),
            ('a"\nb', 'no server answers there'),
        ):
            folder = self.home / str(abs(hash(host)))
            done = self.init(str(folder), OLLAMA_HOST=host)
            self.assertRegex(done.stderr, f'(?s)skipped Ollama.*{why}')
            self.assertIn('kind = "scripted"', (folder / 'dormouse.toml').read_text())
        self.program('ollama')
        done = self.init(str(self.home / 'none'), OLLAMA_HOST='')
        self.assertIn('skipped Ollama: it has no model', done.stderr)

    def test_ollama_host_is_read_as_ollama_reads_it(self):
        for host, url in (
            (' "127.0.0.9:1" ', 'http://127.0.0.9:1'),
            ("'127.0.0.9'", 'http://127.0.0.9:11434'),
            ('127.0.0.9:high', 'http://127.0.0.9:11434'),
            ('http://127.0.0.9', 'http://127.0.0.9:80'),
            ('https://127.0.0.9/', 'https://127.0.0.9:443'),
            ('https://127.0.0.9:2', 'https://127.0.0.9:2'),
            ('http://me:secret@127.0.0.9:1', 'http://127.0.0.9:1'),
            ('[::1]:1', 'http://[::1]:1'),
            ('100::1', 'http://[100::1]:11434'),
        ):
            with self.subTest(host):
                folder = self.home / f'as-{abs(hash(host))}'
                done = self.init(str(folder), OLLAMA_HOST=host)
                self.assertIn(f'skipped Ollama at {url}: no server answers there', done.stderr)
                self.assertNotIn('secret', done.stdout + done.stderr)
        for host in ('', '0.0.0.0', ' http://127.0.0.1:11434 ', '""'):
            done = self.init(str(self.home / f'host-{abs(hash(host))}'), OLLAMA_HOST=host)
            self.assertNotIn('Ollama at', done.stderr, host)

    def init(self, *options, status=0, **env):
        done = run('init', *options, '--yes', env={**self.env, **env}, cwd=self.here)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_without_a_model_the_example_works_and_asks_a_person(self):
        folder = self.home / 'shop'
        self.init(str(folder))
        config = folder / 'dormouse.toml'
        self.assertIn(f'\n# dormouse config check {config}\n', config.read_text())
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
        self.stored_model('llama3', '8b')
        (self.home / '.claude.json').write_text(json.dumps({'mcpServers': {
            'files': {'command': 'npx', 'args': ['mcp-files'], 'env': {'TOKEN': 'a-secret'}},
            'Not a\x1bword': {'command': 'x'}, 'issues': {'url': 'https://mcp.example.org'},
            'nothing': {}}, 'projects': {
                str(self.here): {'mcpServers': {'mine': {'command': 'mcp-mine'},
                                                'issues': {'url': 'https://own.example.org'}}},
                '/another': {'mcpServers': {'theirs': {'command': 'mcp-theirs'}}}}}))
        done = self.init(ANTHROPIC_API_KEY='sk-a-secret', OLLAMA_HOST='')
        file = self.home / '.config' / 'dormouse' / 'dormouse.toml'
        text = file.read_text()
        for part in ('kind = "anthropic"', '#kind = "ollama"\n#model = "llama3:8b"',
                     '# opencode is installed', '# claude is installed',
                     '#command = ["npx", "mcp-files"]', '#command = ["mcp-mine"]',
                     '#url = "https://own.example.org"'):
            self.assertIn(part, text)
        self.assertNotIn('theirs', text)
        self.assertNotIn('mcp.example.org', text, 'that of the folder comes first')
        self.assertRegex(done.stderr, r'skipped MCP server Not a\\u\{1b\}word .*: a name of')
        self.assertIn('.claude.json): it has no command and no URL', done.stderr)
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
