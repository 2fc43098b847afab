#!/usr/bin/env python3
"""`dormouse hook`: permission questions of coding agents, in the form of each; nothing is allowed
that a person did not allow, and whatever goes wrong leaves the question to the agent."""
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import tempfile
import unittest

from dormouse import BINARY, Case, environment, leave_out, main, run, wait_for

TOOL = {'command': 'rm -r "build"', 'description': 'Remove the build', 'timeout': 1.50}
CLAUDE = {
    'session_id': 'c0ffee', 'transcript_path': '/home/ann/.claude/t.jsonl', 'cwd': '/home/ann/shop',
    'permission_mode': 'default', 'hook_event_name': 'PermissionRequest', 'tool_name': 'Bash',
    'tool_input': TOOL, 'permission_suggestions': [],
}
BEFORE = {**CLAUDE, 'hook_event_name': 'PreToolUse', 'tool_use_id': 'toolu_1'}
CODEX = {
    'session_id': 'c0ffee', 'turn_id': 't1', 'transcript_path': None, 'cwd': '/home/ann/shop',
    'hook_event_name': 'PermissionRequest', 'model': 'm', 'permission_mode': 'default',
    'tool_name': 'Bash', 'tool_input': TOOL,
}
GEMINI = {
    'session_id': 'c0ffee', 'transcript_path': '', 'cwd': '/home/ann/shop', 'timestamp': 'now',
    'hook_event_name': 'BeforeTool', 'tool_name': 'run_shell_command', 'tool_input': TOOL,
}
REQUEST = {
    'id': 'per_1', 'sessionID': 'ses_1', 'permission': 'bash', 'patterns': ['rm *'],
    'metadata': {}, 'always': ['rm *'], 'tool': {'messageID': 'msg_1', 'callID': 'call_1'},
}
OPENCODE = {'directory': '/home/ann/shop', 'request': REQUEST}


def permission(decision):
    return {
        'hookSpecificOutput': {'hookEventName': 'PermissionRequest', 'decision': decision}
    }


def before(decision, reason):
    return {
        'hookSpecificOutput': {
            'hookEventName': 'PreToolUse', 'permissionDecision': decision,
            'permissionDecisionReason': reason,
        }
    }


DENIED = 'Denied by first: too risky'
# program, its question, tool, arguments, what an approval, a denial and no decision print
CONTRACTS = (
    ('claude-code', CLAUDE, 'Bash', TOOL, permission({'behavior': 'allow'}),
     permission({'behavior': 'deny', 'message': DENIED}), None),
    ('claude-code', BEFORE, 'Bash', TOOL, before('allow', 'Approved by first'),
     before('deny', DENIED), None),
    ('codex', CODEX, 'Bash', TOOL, permission({'behavior': 'allow'}),
     permission({'behavior': 'deny', 'message': DENIED}), None),
    ('gemini', GEMINI, 'run_shell_command', TOOL, {'decision': 'allow'},
     {'decision': 'deny', 'reason': DENIED}, {'decision': 'ask'}),
    ('opencode', OPENCODE, 'bash', REQUEST, {'reply': 'once'},
     {'reply': 'reject', 'message': DENIED}, None),
)


class Hooking(Case):
    def env(self, **more):
        return environment(
            DORMOUSE_URL=f'http://127.0.0.1:{self.server.port}',
            DORMOUSE_TOKEN=self.server.token,
            HOME=self.server.own,
            **more,
        )

    def begin(self, program, question, *arguments):
        hook = subprocess.Popen(
            [BINARY, 'hook', program, *arguments], stdin=subprocess.PIPE, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env()
        )
        for stream in (hook.stdout, hook.stderr):
            self.addCleanup(stream.close)
        self.addCleanup(lambda: hook.poll() is None and hook.kill())
        hook.stdin.write(json.dumps(question))
        hook.stdin.close()
        hook.stdin = None
        return hook

    def open_call(self):
        (call,) = wait_for(
            lambda: self.server.items('/api/pending?status=waiting'), what='the question'
        )
        return call

    def ends(self, hook, shown, says=''):
        """It ended well, printed the JSON `shown` (None: nothing), and said one line at most."""
        out, err = hook.communicate(timeout=30)
        self.assertEqual(hook.returncode, 0, err)
        self.assertEqual(json.loads(out) if out else None, shown, err)
        self.assertIn(says, err)
        self.assertEqual(len(err.splitlines()), 1 if says else 0, err)

    def hooked(self, program, text, env=None, *arguments):
        return run('hook', program, *arguments, stdin=text, env=env or self.env())

    def cancelled(self, pending):
        call = wait_for(
            lambda: (c := self.server.get(f'/api/pending/{pending}').json)['status'] != 'waiting'
            and c,
            what='the end of the question',
        )
        self.assertEqual(call['status'], 'cancelled')
        self.assertIn('answered in the terminal', call['cancelReason'])


class Contracts(Hooking):
    def test_question_shows_exactly_what_would_run(self):
        for program, question, tool, arguments, allow, _, _ in CONTRACTS:
            with self.subTest(program=program, event=question.get('hook_event_name')):
                hook = self.begin(program, question, '--timeout', '2h')
                call = self.open_call()
                self.assertEqual((call['tool'], call['input']), (tool, arguments))
                self.assertTrue(call['message'].endswith(f'{tool} in /home/ann/shop') or
                                call['message'].endswith(f'`{tool}` in /home/ann/shop'), call)
                self.assertEqual(call['timeout'] - call['time']['created'], 7_200_000)
                self.assertStatus(self.server.decide(call, True), 200)
                self.ends(hook, allow)

    def test_denial_gives_the_reason(self):
        for program, question, _, _, _, deny, _ in CONTRACTS:
            with self.subTest(program=program, event=question.get('hook_event_name')):
                hook = self.begin(program, question)
                call = self.open_call()
                self.assertStatus(self.server.decide(call, False, reason='too risky'), 200)
                self.ends(hook, deny)

    def test_expiry_and_cancel_decide_nothing(self):
        for program, question, _, _, _, _, none in CONTRACTS:
            with self.subTest(program=program, event=question.get('hook_event_name')):
                hook = self.begin(program, question, '--timeout', '60s')
                self.open_call()
                self.server.advance(61)
                self.ends(hook, none, 'nobody answered in time')
                hook = self.begin(program, question)
                self.server.delete(f'/api/pending/{self.open_call()["id"]}')
                self.ends(hook, none, 'was cancelled')

    def test_only_those_named_may_answer(self):
        hook = self.begin('claude-code', CLAUDE, '--by', 'ann')
        call = self.open_call()
        self.assertEqual(call['answer']['from'], ['ann'])
        self.assertProblem(self.server.decide(call, True), 403, 'not_an_answerer')
        self.server.delete(f'/api/pending/{call["id"]}')
        self.ends(hook, None, 'was cancelled')

    def test_odd_folder_is_shown_as_it_is(self):
        hook = self.begin('codex', {**CODEX, 'cwd': '/w/**[x](http://y)\n# z'})
        call = self.open_call()
        self.assertEqual(call['message'], 'Codex wants to run Bash in `/w/**[x](http://y) # z`')
        self.assertStatus(self.server.decide(call, True), 200)
        self.ends(hook, permission({'behavior': 'allow'}))


class Lives(Hooking):
    def test_signal_of_the_agent_cancels_the_question(self):
        for sent in (signal.SIGTERM, signal.SIGINT):
            hook = self.begin('claude-code', CLAUDE)
            pending = self.open_call()['id']
            hook.send_signal(sent)
            self.ends(hook, None)
            self.cancelled(pending)

    def test_signal_at_any_moment_leaves_no_question(self):
        for size in (0, 1_000, 60_000):
            hook = self.begin('claude-code', {**CLAUDE, 'tool_input': {'c': 'x' * size}})
            hook.send_signal(signal.SIGTERM)
            hook.communicate(timeout=30)
            self.assertIn(hook.returncode, (0, -signal.SIGTERM))
            self.assertEqual(self.server.items('/api/pending?status=waiting'), [])

    def test_closed_pipe_cancels_the_question(self):
        hook = self.begin('gemini', GEMINI)
        pending = self.open_call()['id']
        hook.stdout.close()
        self.assertEqual(hook.wait(30), 0)
        self.cancelled(pending)

    def test_wait_outlives_kills_of_the_server(self):
        hook = self.begin('claude-code', CLAUDE)
        call = self.open_call()
        for _ in range(2):
            self.server.kill()
            self.server.restart()
        self.assertStatus(self.server.decide(call, True), 200)
        self.ends(hook, permission({'behavior': 'allow'}))

    def test_signal_while_the_server_is_down_ends_the_hook(self):
        hook = self.begin('claude-code', CLAUDE)
        self.open_call()
        self.server.kill()
        hook.send_signal(signal.SIGTERM)
        self.ends(hook, None, 'no server at')
        self.server.restart()

    def test_no_server_decides_nothing(self):
        env = environment(DORMOUSE_URL='http://127.0.0.1:9', HOME=self.server.own)
        for program, question, _, _, _, _, none in CONTRACTS:
            done = self.hooked(program, json.dumps(question), env)
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual(json.loads(done.stdout) if done.stdout else None, none)
            self.assertIn('no server at 127.0.0.1:9', done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_bad_token_decides_nothing(self):
        done = self.hooked('claude-code', json.dumps(CLAUDE), {**self.env(), 'DORMOUSE_TOKEN': 'x'})
        self.assertEqual((done.returncode, done.stdout), (0, ''), done)
        self.assertIn('Claude Code asks itself', done.stderr)


class BadInput(Hooking):
    def test_nonsense_decides_nothing_and_says_so(self):
        long_input = {**CLAUDE, 'tool_input': {'c': 'x' * 65_536}}
        for program, text, says in (
            ('claude-code', '', 'not JSON'),
            ('claude-code', 'nonsense', 'not JSON'),
            ('claude-code', '[' * 100, 'not JSON'),
            ('claude-code', '{"hook_event_name":"Stop"}', 'hook_event_name'),
            ('codex', json.dumps(BEFORE), 'hook_event_name'),
            ('gemini', json.dumps(CLAUDE), 'hook_event_name'),
            ('opencode', json.dumps(CLAUDE), 'name of the tool'),
            ('claude-code', json.dumps({**CLAUDE, 'tool_name': 'a\nb'}), 'name of the tool'),
            ('claude-code', json.dumps({**CLAUDE, 'tool_input': None}), 'must be an object'),
            ('claude-code', json.dumps(long_input), 'at most 64 KiB'),
            ('claude-code', ' ' * (2 << 20) + json.dumps(CLAUDE), 'at most 1 MiB'),
        ):
            with self.subTest(program=program, text=text[:40]):
                done = self.hooked(program, text)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout, '{"decision":"ask"}\n' * (program == 'gemini'))
                self.assertIn(says, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertEqual(self.server.items('/api/pending'), [])

    def test_usage_error_is_no_denial(self):
        for arguments in (('--timeout',), ('--bogus',)):
            done = run('hook', 'claude-code', *arguments, env=self.env())
            self.assertEqual((done.returncode, done.stdout), (1, ''), done)
        done = self.hooked('claude-code', json.dumps(CLAUDE), None, '--timeout', 'soon')
        self.assertEqual((done.returncode, done.stdout), (0, ''), done)
        self.assertIn('not a time', done.stderr)


# Stands for opencode: tells the plugin each event that comes, and prints each reply.
PLUGIN_HOST = """
import readline from 'node:readline';
const { Dormouse } = await import(process.argv[2]);
const client = { postSessionIdPermissionsPermissionId: (r) => console.log(JSON.stringify(r)) };
const { event } = await Dormouse({ client, directory: '/home/ann/shop' });
for await (const line of readline.createInterface({ input: process.stdin }))
  await event({ event: JSON.parse(line) });
"""


class Plugin(Hooking):
    def setUp(self):
        if not shutil.which('node'):
            leave_out('node is missing')
        super().setUp()
        done = run('hook', 'install', 'opencode', env=self.env())
        self.assertEqual(done.returncode, 0, done)
        own = pathlib.Path(self.server.own)
        plugin, host = own / 'dormouse.mjs', own / 'host.mjs'
        shutil.move(own / '.config/opencode/plugin/dormouse.js', plugin)
        host.write_text(PLUGIN_HOST)
        self.host = subprocess.Popen(
            ['node', host, plugin], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=self.env(),
        )
        self.addCleanup(self.host.wait, 30)
        self.addCleanup(self.host.stdout.close)
        self.addCleanup(self.host.stdin.close)

    def tell(self, kind, properties):
        self.host.stdin.write(json.dumps({'type': kind, 'properties': properties}) + '\n')
        self.host.stdin.flush()

    def test_decision_is_replied_once(self):
        for kind, approved, response in (('permission.asked', True, 'once'),
                                         ('permission.updated', False, 'reject')):
            self.tell(kind, REQUEST)
            self.tell(kind, REQUEST)
            call = self.open_call()
            self.assertEqual((call['tool'], call['input']), ('bash', REQUEST))
            self.assertStatus(self.server.decide(call, approved), 200)
            self.assertEqual(
                json.loads(self.host.stdout.readline()),
                {'path': {'id': 'ses_1', 'permissionID': 'per_1'}, 'body': {'response': response}},
            )

    def test_answer_in_the_terminal_cancels_the_question(self):
        self.tell('permission.asked', REQUEST)
        pending = self.open_call()['id']
        self.tell('permission.replied',
                  {'sessionID': 'ses_1', 'requestID': 'per_1', 'reply': 'once'})
        self.cancelled(pending)
        out, _ = self.host.communicate(timeout=30)
        self.assertEqual((out, self.host.returncode), ('', 0))

    def test_end_of_the_program_cancels_the_question(self):
        self.tell('permission.asked', REQUEST)
        pending = self.open_call()['id']
        self.host.kill()
        self.cancelled(pending)

    def test_no_decision_is_not_replied(self):
        self.tell('permission.asked', {**REQUEST, 'permission': 'a b'})
        self.host.stdin.close()
        self.host.stdin = None
        self.assertEqual(self.host.communicate(timeout=30)[0], '')


class Settings(unittest.TestCase):
    FILES = {
        'claude-code': '.claude/settings.json', 'codex': '.codex/hooks.json',
        'gemini': '.gemini/settings.json', 'opencode': '.config/opencode/plugin/dormouse.js',
    }
    MINE = '{\n    "z": 1.50,\n    "hooks": {"Stop": []},\n    "a": "\\u00e9"\n}\n'

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='dormouse-hook-')
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)

    def hook(self, *arguments, exits=0, folder=None, **env):
        clean = {k: v for k, v in environment().items()
                 if k not in ('CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'GEMINI_CLI_HOME')}
        done = subprocess.run(
            [BINARY, 'hook', *arguments], text=True, capture_output=True, timeout=30,
            cwd=folder or self.home, env={**clean, 'HOME': str(self.home), **env}
        )
        self.assertEqual(done.returncode, exits, done)
        return done.stdout + done.stderr

    def files(self):
        return sorted(str(p.relative_to(self.home)) for p in self.home.rglob('*') if p.is_file())

    def test_install_and_uninstall_keep_what_is_there(self):
        for program in ('claude-code', 'codex', 'gemini'):
            file = self.home / self.FILES[program]
            file.parent.mkdir()
            file.write_text(self.MINE)
            file.chmod(0o640)
            output = self.hook('install', program)
            self.assertIn(str(file), output)
            with_hook = file.read_text()
            settings = json.loads(with_hook)
            self.assertEqual(list(settings), ['z', 'hooks', 'a'])
            self.assertEqual(file.stat().st_mode & 0o777, 0o640)
            self.assertIn('has the hook already', self.hook('install', program))
            self.assertEqual(file.read_text(), with_hook)
            self.assertIn('removed the hook', self.hook('uninstall', program))
            self.assertEqual(file.read_text(), self.MINE)
            self.assertIn('has no hook of dormouse', self.hook('uninstall', program))
        self.assertEqual(len(self.files()), 3)

    def test_hook_has_the_form_of_the_program(self):
        flags = ('--timeout', '2h', '--by', 'ann', '--project', 'shop', '--server', 'http://h:1')
        words = ['--timeout', '2h', '--by', 'ann', '--project', 'shop', '--server', 'http://h:1']
        for program, event, matcher, limit in (
            ('claude-code', 'PermissionRequest', '*', 7_260),
            ('codex', 'PermissionRequest', None, 7_260),
            ('gemini', 'BeforeTool', 'run_shell_command|write_file|replace|web_fetch|mcp_.*',
             7_260_000),
        ):
            self.hook('install', program, *flags)
            settings = json.loads((self.home / self.FILES[program]).read_text())
            (group,) = settings['hooks'][event]
            self.assertEqual(group.get('matcher'), matcher)
            (handler,) = group['hooks']
            self.assertEqual((handler['type'], handler['timeout']), ('command', limit))
            command = shlex.split(handler['command'])
            self.assertEqual(command[1:], ['hook', program, *words])
            self.assertTrue(os.path.samefile(command[0], BINARY))

    def test_installed_plugin_is_a_file_of_its_own(self):
        file = self.home / self.FILES['opencode']
        self.hook('install', 'opencode', '--by', 'ann')
        self.assertIn('"hook","opencode","--by","ann"', file.read_text())
        self.assertIn('has the hook already', self.hook('install', 'opencode', '--by', 'ann'))
        self.hook('uninstall', 'opencode')
        self.assertEqual(self.files(), [])
        file.write_text('export const Mine = 1;\n')
        self.assertIn('did not write it', self.hook('install', 'opencode', exits=4))
        self.hook('uninstall', 'opencode')
        self.assertEqual(file.read_text(), 'export const Mine = 1;\n')

    def test_places_follow_the_variables(self):
        for program, variable, file in (
            ('claude-code', 'CLAUDE_CONFIG_DIR', 'x1/settings.json'),
            ('codex', 'CODEX_HOME', 'x2/hooks.json'),
            ('gemini', 'GEMINI_CLI_HOME', 'x3/.gemini/settings.json'),
            ('opencode', 'XDG_CONFIG_HOME', 'x4/opencode/plugin/dormouse.js'),
        ):
            place = {variable: str(self.home / file.split('/')[0])}
            self.hook('install', program, **place)
            self.assertIn(file, self.files())
        self.assertEqual(len(self.files()), 4)
        self.assertIn('HOME is empty', self.hook('install', 'codex', exits=2, HOME=''))

    def test_settings_of_a_folder_name_no_path(self):
        work = self.home / 'work'
        work.mkdir()
        self.hook('install', 'claude-code', '--here', folder=work)
        settings = json.loads((work / '.claude/settings.json').read_text())
        (group,) = settings['hooks']['PermissionRequest']
        self.assertEqual(group['hooks'][0]['command'], 'dormouse hook claude-code')
        self.assertEqual(self.files(), ['work/.claude/settings.json'])

    def test_settings_that_are_no_json_are_refused(self):
        file = self.home / self.FILES['gemini']
        file.parent.mkdir()
        for text, says in (('{"a": 1,}', 'not valid JSON'), ('{} // note', 'not valid JSON'),
                           ('[]', 'must hold a JSON object'), ('{"hooks":[]}', 'hooks must be'),
                           ('', 'not valid JSON')):
            file.write_text(text)
            for what in ('install', 'uninstall'):
                output = self.hook(what, 'gemini', exits=2)
                self.assertIn(says, output)
                self.assertIn(str(file), output)
                self.assertEqual(file.read_text(), text)

    def test_link_to_the_settings_stays_a_link(self):
        kept = self.home / 'dotfiles.json'
        kept.write_text(self.MINE)
        file = self.home / self.FILES['claude-code']
        file.parent.mkdir()
        file.symlink_to(kept)
        self.hook('install', 'claude-code')
        self.assertTrue(file.is_symlink())
        self.assertIn('PermissionRequest', kept.read_text())
        self.hook('uninstall', 'claude-code')
        self.assertEqual(kept.read_text(), self.MINE)

    def test_program_must_be_named(self):
        self.assertIn('name a program', self.hook('install', exits=2))
        self.assertIn('emacs', self.hook('install', 'emacs', exits=2))


if __name__ == '__main__':
    main()
