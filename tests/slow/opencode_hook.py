#!/usr/bin/env python3
"""opencode itself with the plugin of `dormouse hook install opencode`, and a scripted model: its
permission questions are pending calls, and the answer of a person lets the tool run or not."""
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / 'agents')]

import opencode  # noqa: E402
from dormouse import Case, environment, leave_out, main, run, wait_for  # noqa: E402
from fake_model import FakeModel  # noqa: E402

LIMIT_S = 60  # it takes its time to start


def setUpModule():
    if reason := opencode.install():
        leave_out(reason)


class Hooked(Case):
    def setUp(self):
        super().setUp()
        self.model = FakeModel()
        self.addCleanup(self.model.close)
        self.home = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-agent-'))
        self.addCleanup(shutil.rmtree, self.home, True)
        self.work = self.home / 'work'
        self.work.mkdir()
        quiet = ('AUTOUPDATE', 'MODELS_FETCH', 'LSP_DOWNLOAD', 'DEFAULT_PLUGINS', 'SHARE')
        self.env = environment(
            HOME=str(self.home), DO_NOT_TRACK='1', CI='1',
            DORMOUSE_URL=f'http://127.0.0.1:{self.server.port}', DORMOUSE_TOKEN=self.server.token,
            OPENCODE_CONFIG_CONTENT=json.dumps(opencode.settings(self.model.url)),
            **{f'OPENCODE_DISABLE_{name}': '1' for name in quiet},
        )
        done = run('hook', 'install', 'opencode', env=self.env)
        self.assertEqual(done.returncode, 0, done)
        self.keep_from_npm(self.home / '.config/opencode')
        with socket.create_server(('127.0.0.1', 0)) as free:
            self.port = free.getsockname()[1]
        self.log = open(self.home / 'log', 'wb')
        self.addCleanup(self.log.close)
        self.program = subprocess.Popen(
            [opencode.PROGRAM, 'serve', '--hostname', '127.0.0.1', '--port', str(self.port)],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, cwd=self.work, env=self.env,
        )
        self.addCleanup(self.end)
        wait_for(lambda: 'listening on' in (self.home / 'log').read_text(), LIMIT_S, 'its port')

    def keep_from_npm(self, folder):
        """opencode would wait for npm: it installs the types of plugins beside each plugin."""
        package = {'dependencies': {'@opencode-ai/plugin': '*'}}
        (folder / 'node_modules').mkdir()
        (folder / 'package.json').write_text(json.dumps(package))
        (folder / 'package-lock.json').write_text(json.dumps({'packages': {'': package}}))

    def end(self):
        self.program.kill()
        self.program.wait()

    def tell(self, path, body):
        request = urllib.request.Request(
            f'http://127.0.0.1:{self.port}{path}', data=json.dumps(body).encode(),
            headers={'Content-Type': 'application/json'},
        )
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            return json.loads(answer.read() or 'null')

    def use_tool(self):
        session = self.tell('/session', {})['id']
        text = {'type': 'text', 'text': 'USE_TOOL'}
        self.tell(f'/session/{session}/prompt_async', {'parts': [text]})
        (call,) = wait_for(
            lambda: self.server.items('/api/pending?status=waiting'), LIMIT_S, 'the question'
        )
        self.assertEqual(call['tool'], 'bash')
        self.assertEqual(call['message'], f'opencode wants to run bash in `{self.work}`'
                         if '_' in str(self.work) else f'opencode wants to run bash in {self.work}')
        self.assertIn('marker.txt', json.dumps(call['input']))
        return session, call

    def transcript(self, session):
        with urllib.request.urlopen(
            f'http://127.0.0.1:{self.port}/session/{session}/message', timeout=LIMIT_S
        ) as answer:
            return answer.read().decode()

    def test_approval_elsewhere_lets_the_tool_run(self):
        session, call = self.use_tool()
        self.assertFalse((self.work / 'marker.txt').exists())
        self.assertStatus(self.server.decide(call, True), 200)
        wait_for(lambda: 'the tool has run' in self.transcript(session), LIMIT_S, 'the turn\'s end')
        self.assertEqual((self.work / 'marker.txt').read_text(), 'ran\n')

    def test_denial_elsewhere_keeps_the_tool_from_running(self):
        session, call = self.use_tool()
        self.assertStatus(self.server.decide(call, False), 200)
        wait_for(lambda: '"status":"error"' in self.transcript(session), LIMIT_S, 'the denial')
        self.assertFalse((self.work / 'marker.txt').exists())

    def test_answer_in_the_program_cancels_the_question(self):
        session, call = self.use_tool()
        answered = f'/session/{session}/permissions/{call["input"]["id"]}'
        self.tell(answered, {'response': 'once'})
        settled = wait_for(
            lambda: (c := self.server.get(f'/api/pending/{call["id"]}').json)['status'] != 'waiting'
            and c,
            what='the end of the question',
        )
        self.assertEqual(settled['status'], 'cancelled')
        wait_for(lambda: 'the tool has run' in self.transcript(session), LIMIT_S, 'the turn\'s end')


if __name__ == '__main__':
    main()
