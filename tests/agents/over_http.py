#!/usr/bin/env python3
"""opencode, Claude Code and Gemini CLI as clients of `/mcp` over streamable HTTP: they use a tool
that waits for a person, and get the answer. The real programs, with a scripted model."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / 'slow')]

import claude  # noqa: E402
import gemini  # noqa: E402
import npm  # noqa: E402
import opencode  # noqa: E402
from dormouse import Case, environment, leave_out, main, wait_for  # noqa: E402
from fake_model import FakeModel  # noqa: E402
from real_agent import LIMIT_S  # noqa: E402

PROMPT = 'USE_MCP please'
PENDING = '/async-tool/pending?project=default&status=waiting'


class OverHttp(Case):
    """`variables()` and `command()` say how a program runs one prompt without a person."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix='dormouse-mcp-agent-',
                                             ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        self.model = FakeModel()
        self.addCleanup(self.model.close)
        self.url = f'http://127.0.0.1:{self.server.port}/mcp'
        self.bearer = {'Authorization': f'Bearer {self.server.token}'}

    def begin(self):
        self.output = self.home / 'output'
        env = environment(HOME=str(self.home), TMPDIR=str(self.home), DO_NOT_TRACK='1', CI='1',
                          **self.variables())
        with open(self.output, 'w') as output:
            program = subprocess.Popen(
                list(map(str, self.command())), cwd=self.home, env=env, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        self.addCleanup(self.end, program)
        return program

    def end(self, program):
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()

    def question(self, program):
        def found():
            self.assertIsNone(program.poll(), self.output.read_text())
            return self.server.items(PENDING)
        call, = wait_for(found, LIMIT_S, 'a question')
        self.assertIn('Which token?', call['message'])
        return call

    def check(self):
        program = self.begin()
        call = self.question(program)
        self.assertStatus(self.server.result(call['id'], 'TOKEN-31'), 200)
        program.wait(LIMIT_S)
        output = self.output.read_text()
        self.assertEqual(program.returncode, 0, output)
        self.assertIn('the tool has run', output)
        self.assertIn('TOKEN-31', json.dumps(self.model.server.bodies), 'its model has read it')


class OpenCode(OverHttp):
    def variables(self):
        quiet = ('AUTOUPDATE', 'MODELS_FETCH', 'LSP_DOWNLOAD', 'DEFAULT_PLUGINS', 'SHARE')
        server = {'type': 'remote', 'url': self.url, 'headers': self.bearer, 'oauth': False,
                  'timeout': LIMIT_S * 1000}
        config = {**opencode.settings(self.model.url), 'mcp': {'dormouse': server}}
        return {**{f'OPENCODE_DISABLE_{name}': '1' for name in quiet},
                'OPENCODE_CONFIG_CONTENT': json.dumps(config)}

    def command(self):
        return opencode.PROGRAM, 'run', '--pure', PROMPT

    def test_tool_that_waits_for_a_person_gives_the_answer(self):
        self.check()


class ClaudeCode(OverHttp):
    variables = claude.Claude.variables

    def command(self):
        config = self.home / 'mcp.json'
        config.write_text(json.dumps({'mcpServers': {'dormouse': {
            'type': 'http', 'url': self.url, 'headers': self.bearer}}}))
        program = claude.FOLDER / 'node_modules/@anthropic-ai/claude-agent-sdk-linux-x64/claude'
        return (program, '-p', PROMPT, '--mcp-config', config, '--strict-mcp-config',
                '--allowedTools', 'mcp__dormouse__ask_human')

    def test_tool_that_waits_for_a_person_gives_the_answer(self):
        self.check()


class GeminiCli(OverHttp):
    variables_of = gemini.Gemini.variables

    def variables(self):
        own = self.variables_of()
        settings = {**gemini.SETTINGS, 'mcpServers': {'dormouse': {
            'httpUrl': self.url, 'headers': self.bearer, 'trust': True}}}
        (self.home / '.gemini/settings.json').write_text(json.dumps(settings))
        return own

    def command(self):
        return gemini.FOLDER / 'node_modules/.bin/gemini', '-p', PROMPT

    def test_tool_that_waits_for_a_person_gives_the_answer(self):
        self.check()


def setUpModule():
    if why := opencode.install() or npm.install(claude.FOLDER, 'node', limit_s=600):
        leave_out(why)


if __name__ == '__main__':
    main()
