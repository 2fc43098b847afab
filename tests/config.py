#!/usr/bin/env python3
"""The configuration (docs/reference/configuration.md): found, checked, reported, and in effect."""
import json
import pathlib
import re
import resource
import stat
import sys
import tempfile
import unittest

from dormouse import ROOT, Client, Server, environment, main, run, wait_for

sys.path.insert(0, str(ROOT / 'tools'))
from config_page import PAGE, with_tables


class Folder(unittest.TestCase):
    """A folder, and the binary in an environment that finds no other configuration."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='dormouse-config-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.env = environment(
            HOME=str(self.folder / 'home'), XDG_CONFIG_HOME=str(self.folder / 'etc')
        )

    def write(self, text, name='d.toml'):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def dm(self, *arguments, exits=0, **env):
        ended = run(*arguments, env={**self.env, **env})
        self.assertEqual(ended.returncode, exits, ended)
        return ended


class Init(Folder):
    def test_init_writes_a_valid_example_silently(self):
        output = self.dm('config', 'init').stdout
        path = self.folder / 'etc/dormouse/dormouse.toml'
        self.assertIn(f'dormouse config check {path}\n', output)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertIn(f'{path} is valid', self.dm('config', 'check').stdout)
        self.assertIn('agent      demo ', self.dm('config', 'check').stdout)

    def test_init_never_overwrites(self):
        path = self.write('# mine\n')
        refused = self.dm('config', 'init', path, exits=4)  # as `init`
        self.assertIn('already exists', refused.stderr)
        self.assertEqual(path.read_text(), '# mine\n')

    def test_init_prints_to_standard_output(self):
        text = self.dm('config', 'init', '-').stdout
        self.assertIn('#[[agent]]', text)
        self.assertEqual(self.dm('config', 'check', self.write(text)).stderr, '')

    def test_folder_that_cannot_be_made_is_reported(self):
        self.write('', 'file')
        refused = self.dm('config', 'init', self.folder / 'file/d.toml', exits=1)
        self.assertIn('cannot write', refused.stderr)


class Check(Folder):
    def test_all_mistakes_one_line_each(self):
        path = self.write('[server]\nlisten = 7\n[[agent]]\nid = "ops"\nmodel = "mian"\n')
        refused = self.dm('config', 'check', path, exits=2)
        lines = refused.stderr.splitlines()
        self.assertEqual(
            lines[0], f'{path}:2: [server] listen is a whole number; ' 'write a string in quotes'
        )
        self.assertTrue(lines[1].startswith(f'{path}:5: [[agent]] ops: model is "mian"'), lines)
        self.assertEqual(lines[2], f'dormouse config: 2 mistakes in {path}')
        self.assertEqual(refused.stdout, '')

    def test_json_has_them_too(self):
        path = self.write('[serverr]\n')
        report = json.loads(self.dm('config', 'check', path, '--json', exits=2).stdout)
        self.assertFalse(report['ok'])
        self.assertEqual(len(report['problems']), 1)
        report = json.loads(self.dm('config', 'check', self.write(''), '--json').stdout)
        self.assertTrue(report['ok'])
        self.assertEqual([a['id'] for a in report['agents']], ['demo', 'demo-each'])

    def test_file_that_is_missing(self):
        refused = self.dm('config', 'check', self.folder / 'none.toml', exits=2)
        self.assertIn('none.toml: cannot be read: No such file', refused.stderr)
        refused = self.dm('config', 'check', self.folder, exits=2)
        self.assertIn('it is a folder', refused.stderr)

    def test_secret_is_never_shown(self):
        path = self.write(
            '[[model]]\nid = "m"\nkind = "scripted"\nheaders = { A = { env = "SECRET" }, '
            '"b b" = "hunter2" }\napi_key_env = "hunter2-is-my-key"\n'
        )
        refused = self.dm('config', 'check', path, exits=2, SECRET='hunter2')
        self.assertNotIn('hunter2', refused.stderr + refused.stdout)

    def test_without_configuration_prints_the_defaults(self):
        output = self.dm('config', 'check').stdout
        self.assertIn('No configuration file was found', output)
        self.assertIn('127.0.0.1:3676', output)
        self.assertNotIn('in this folder', output)

    def test_file_of_this_folder_that_is_not_read_is_named(self):
        self.write('[server]\n', 'here/dormouse.toml')
        done = run('config', 'check', env=self.env, cwd=self.folder / 'here')
        self.assertEqual(done.returncode, 0, done)
        self.assertIn('There is a dormouse.toml in this folder: dormouse config check '
                      'dormouse.toml\n', done.stdout)

    def test_summary_shows_what_the_server_would_use(self):
        path = self.write(
            '[retention]\ncompleted_after = "7d"\n[[model]]\nid = "m"\nkind = "scripted"\n'
            '[[agent]]\nid = "ops"\nmodel = "m"\ntools = ["ask_human"]\n'
        )
        output = self.dm('config', 'check', path).stdout
        for part in ('m (scripted)', 'ops (1 tool)', 'ask_human', 'after 7d'):
            self.assertIn(part, output)
        self.assertNotIn('demo', output)

    def test_config_check_unused_built_in_tools_are_not_listed(self):
        path = self.write(
            '[[model]]\nid = "m"\nkind = "scripted"\n'
            '[[tool]]\nname = "t"\nkind = "http"\nurl = "https://ci.example.org/go"\n'
            '[[agent]]\nid = "ops"\nmodel = "m"\ntools = ["ask_human"]\n'
        )
        output = self.dm('config', 'check', path).stdout
        tools = [line.split()[1] for line in output.splitlines() if line.startswith('tool ')]
        self.assertEqual(sorted(tools), ['ask_human', 't'])
        report = json.loads(self.dm('config', 'check', path, '--json').stdout)
        self.assertEqual(sorted(report['tools']), ['ask_human', 't'])

    def test_missing_program_is_a_warning(self):
        hook = 'secret_env = "S_HOOK"\nevents = ["turn_ended"]\n'
        path = self.write(
            '[server]\nwebhook_hosts = ["Ok.Internal"]\n'
            f'[[webhook]]\nurl = "http://example.org/x"\n{hook}'
            f'[[webhook]]\nurl = "https://10.0.0.1/x"\n{hook}'
            f'[[webhook]]\nurl = "http://ok.internal/x"\n{hook}'
            '[[notify]]\nkind = "slack"\nurl_env = "S_NOTIFY"\n'
            '[[source]]\nid = "ci"\nkind = "standard"\nsecrets_env = ["S_NOT_SET"]\n'
            '[[agent]]\nid = "gone"\nacp = ["no-such-program"]\n'
            '[[agent]]\nid = "other"\nacp = ["sh"]\nrun_as = "no-such-user"\n'
        )
        done = self.dm(
            'config',
            'check',
            path,
            S_HOOK='whsec_MDEyMzQ1Njc4OWFiY2RlZg==',
            S_NOTIFY='http://x.org/secret',
        )
        self.assertNotIn('secret', done.stderr.replace('secrets_env', ''))
        wanted = (
            r':3: \[\[webhook\]\] http://example.org/x gets nothing: it is not https',
            r':7: \[\[webhook\]\] https://10.0.0.1/x gets nothing: its address is not a public',
            r':15: \[\[notify\]\] sends nothing: it is not https',
            r':18: \[\[source\]\] ci: none of its secrets_env is set',
            r':22: \[\[agent\]\] gone: it runs as the server',
            r':22: \[\[agent\]\] gone cannot be used: There is no program no-such-program',
            r':25: \[\[agent\]\] other cannot be used: run_as: unknown user no-such-user',
        )
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), len(wanted), lines)
        for line, pattern in zip(lines, wanted):
            self.assertRegex(line, pattern)
            self.assertTrue(line.endswith('(warning)'), line)

    def test_secret_that_is_not_base64_is_refused(self):
        for section in (
            '[[source]]\nid = "ci"\nkind = "standard"\nsecrets_env = ["S_HOOK"]\n',
            '[[webhook]]\nurl = "https://example.org/x"\nevents = ["turn_ended"]\n'
            'secret_env = "S_HOOK"\n',
            '[[tool]]\nname = "t"\ndescription = "d"\nkind = "http"\nurl = "https://x.org/y"\n'
            'webhook_secret_env = "S_HOOK"\n',
            '[[tool]]\nname = "t"\ndescription = "d"\nkind = "http"\nurl = "https://x.org/y"\n'
            'secret_env = "S_HOOK"\n',
        ):
            path = self.write(section)
            for bad in ('whsec_!!!', 'whsec_', 'whsec_abc'):
                refused = self.dm('config', 'check', path, exits=2, S_HOOK=bad)
                self.assertRegex(refused.stderr, r'names S_HOOK, whose value begins with whsec_')
                self.assertIn('copy the secret whole', refused.stderr)
                self.assertNotIn('!!!', refused.stderr)
            for good in ('whsec_MDEyMzQ1Njc4OWFiY2RlZg==', 'any text'):
                self.dm('config', 'check', path, S_HOOK=good)
        path = self.write('[[source]]\nid = "ci"\nkind = "hmac"\nsecrets_env = ["S_HOOK"]\n')
        self.dm('config', 'check', path, S_HOOK='whsec_!!!')

    def test_one_mistake_is_one_line(self):
        for text in (
            '[[tool]]\ncommand = []\nname = "t"\nkind = "http"\nurl = "http://x/y"\n',
            '[[tool]]\ncwd = "x y"\nname = "t"\nkind = "http"\nurl = "http://x/y"\n',
            '[[agent]]\njoin = "no"\nid = "a"\nacp = ["sh"]\n',
            '[[agent]]\nstep_limit = ""\nid = "a"\nacp = ["sh"]\n',
        ):
            refused = self.dm('config', 'check', self.write(text), exits=2)
            self.assertIn('1 mistake in', refused.stderr)

    def test_permission_gate_with_mode_that_never_asks_warns(self):
        for mode, warnings in (('bypassPermissions', 1), ('default', 0)):
            path = self.write(
                f'[[agent]]\nid = "a"\nacp = ["/bin/true", "x"]\nsession_mode = "{mode}"\n'
                '[[gate]]\ntools = ["acp:execute"]\nask = "Run {tool}?"\n')
            report = json.loads(self.dm('config', 'check', path, '--json').stdout)
            found = [w for w in report['warnings'] if 'does not ask' in w]
            self.assertEqual(len(found), warnings, report)

    def test_unreachable_callback_url_is_a_warning(self):
        text = '[server]\ndemo = false\n[[tool]]\nname = "t"\nkind = "http"\nurl = "%s"\n'
        path = self.write(text % 'https://ci.example.org/go')
        done = self.dm('config', 'check', path)
        self.assertIn(f'{path}:3: [[tool]] t: its service gets a callback URL', done.stderr)
        self.assertIn('is valid', done.stdout)
        report = json.loads(self.dm('config', 'check', path, '--json').stdout)
        self.assertEqual((report['ok'], len(report['warnings'])), (True, 1))


class Found(Folder):
    def place(self, **env):
        return json.loads(self.dm('paths', '--json', **env).stdout)['config']

    def test_first_place_wins(self):
        self.assertIsNone(self.place()['file'])
        own = self.write('', 'etc/dormouse/dormouse.toml')
        self.assertEqual(self.place()['file'], str(own))
        other = self.write('')
        self.assertEqual(self.place(DORMOUSE_CONFIG=str(other))['file'], str(other))

    def test_paths_for_people(self):
        output = self.dm('paths', '--data', self.folder).stdout
        self.assertIn('/etc/dormouse/dormouse.toml', output)
        self.assertIn(str(self.folder / 'token'), output)
        self.assertIn('not found', output)
        self.assertIn('$DORMOUSE_TOKEN', self.dm('paths', DORMOUSE_TOKEN='x').stdout)

    def test_each_command_explains_itself(self):
        for command in (['config', '--help'], ['config', 'init', '--help'], ['paths', '--help']):
            output = self.dm(*command).stdout
            self.assertIn('Example:', output)
            self.assertIn(f'dormouse {command[0]}', output)


class Documents(Folder):
    def test_configuration_page_has_the_rows_of_the_keys(self):
        keys = json.loads(self.dm('config', 'keys', '--json').stdout)
        page = PAGE.read_text()
        self.assertEqual(page, with_tables(page, keys), 'run tools/config_page.py')
        for section in {key['section'] for key in keys}:
            self.assertRegex(page, rf'(?m)^## `\[+{re.escape(section)}\]+`$')

    def test_list_for_people_has_every_key(self):
        keys = json.loads(self.dm('config', 'keys', '--json').stdout)
        lines = self.dm('config', 'keys').stdout.splitlines()
        self.assertEqual(
            [line.split()[0] for line in lines], [f'{k["section"]}.{k["name"]}' for k in keys]
        )

    def test_example_has_every_key(self):
        example = self.dm('config', 'init', '-').stdout
        shown = set(re.findall(r'^#(\w+) = ', example, re.M))
        keys = json.loads(self.dm('config', 'keys', '--json').stdout)
        self.assertEqual(shown | {'poll', 'validator'}, {key['name'] for key in keys})


AGENT = (
    '[[model]]\nid = "m"\nkind = "scripted"\n'
    '[[agent]]\nid = "ops"\nmodel = "m"\ntools = ["ask_human"]\n'
)


class Started(Folder):
    def server(self, text, *arguments, start=True, **env):
        server = Server('--config', str(self.write(text)), *arguments, env=env, start=start)
        self.addCleanup(server.clean)
        return server

    def refused(self, *arguments, **env):
        data = self.folder / 'data'
        ended = self.dm('serve', '--data', data, *arguments, exits=2, **env)
        self.assertEqual(ended.stdout, '')
        self.assertFalse(data.exists(), 'nothing half-done')
        return ended.stderr


class Serve(Started):
    def test_mistake_starts_nothing(self):
        path = self.write('[limits]\nconnections = 0\nheartbeat = 3\n')
        for arguments, env in ((['--config', path], {}), ([], {'DORMOUSE_CONFIG': str(path)})):
            lines = self.refused(*arguments, **env).splitlines()
            self.assertEqual(len(lines), 3, lines)
            self.assertIn(f'{path}:2: [limits] connections is 0; write a whole number', lines[0])
            self.assertIn('nothing was started', lines[2])

    def test_named_file_must_be_there(self):
        self.assertIn('cannot be read', self.refused('--config', self.folder / 'none'))
        none = str(self.folder / 'none')
        self.assertIn('cannot be read', self.refused(DORMOUSE_CONFIG=none))

    def test_keys_of_a_later_release_are_refused_by_name(self):
        path = self.write('[limits]\ninbox = 1\n')
        self.assertIn('comes with a later release', self.refused('--config', path))

    def test_configured_agents_replace_the_demo(self):
        server = self.server(AGENT)
        agents = server.get('/api/agents').json['items']
        self.assertEqual([agent['id'] for agent in agents], ['ops'])
        self.assertEqual(agents[0]['tools'], ['ask_human'])
        session = server.create('ask why', agent='ops')['id']
        (call,) = server.open_calls(session)
        server.result(call['id'], 'because')
        server.at_rest(session)
        self.assertEqual(server.last_text(session), 'ask_human why: because')
        server.finish()

    def test_demo_stays_when_configured(self):
        server = self.server('[server]\ndemo = true\n' + AGENT)
        agents = server.get('/api/agents').json['items']
        self.assertEqual([agent['id'] for agent in agents], ['demo', 'demo-each', 'ops'])
        server.finish()

    def test_demo_false_removes_the_demo(self):
        server = self.server('[server]\ndemo = false\n')
        self.assertEqual(server.get('/api/agents').json['items'], [])
        server.finish()

    def test_flags_win_over_the_file(self):
        server = self.server(
            '[server]\nlisten = "127.0.0.1:1"\n[store]\nurl = "sqlite"\n', '--store', 'memory'
        )
        self.assertFalse((pathlib.Path(server.directory) / 'dormouse.db').exists())
        self.assertEqual(server.get('/healthz').status, 200)

    def test_file_says_where_to_listen(self):
        taken = self.server('').port
        path = self.write(f'[server]\nlisten = "127.0.0.1:{taken}"\n', 'taken.toml')
        data = self.folder / 'data'
        ended = self.dm('serve', '--config', path, '--data', data, exits=4)
        self.assertIn(f'127.0.0.1:{taken}', ended.stderr)

    def test_listening_beyond_loopback_needs_a_flag(self):
        path = self.write('[server]\nlisten = "0.0.0.0:0"\n')
        ended = self.dm('serve', '--config', path, '--data', self.folder / 'data', exits=6)
        self.assertIn('--insecure', ended.stderr)
        self.assertFalse((self.folder / 'data').exists())

    def test_public_url_is_an_allowed_host_and_origin(self):
        server = self.server(
            '[server]\npublic_url = "https://dm.example.org"\n'
            'allowed_hosts = ["other.example.org"]\n'
        )
        for host, status in (
            ('dm.example.org', 200),
            ('other.example.org', 200),
            ('evil.example.org', 421),
        ):
            self.assertEqual(server.get('/healthz', Host=host).status, status, host)
        for origin, status in (('https://dm.example.org', 200), ('https://evil.org', 403)):
            self.assertEqual(server.get('/healthz', Origin=origin).status, status, origin)
        server.finish()

    def test_token_of_the_environment_is_valid_at_each_start(self):
        server = self.server('', DORMOUSE_TOKEN='from-outside')
        for _ in range(2):
            client = Client(server.port, 'from-outside')
            self.assertEqual(client.get('/api/agents').status, 200)
            client.close()
            self.assertEqual(server.get('/api/agents').status, 200, 'the first token')
            server.restart()
        server.environment['DORMOUSE_TOKEN'] = ''
        server.restart()
        client = Client(server.port, 'from-outside')
        self.assertEqual(client.get('/api/agents').status, 401, 'empty is not set')
        client.close()
        server.finish()


TOOL = (
    '[[tool]]\nname = "deploy"\nkind = "command"\ncommand = ["./tool.sh"]\n'
    'description = "Ships it."\ncrash = "retry"\n'
)


class Tools(Started):
    def script(self, text):
        path = self.write('#!/bin/sh\n' + text, 'tool.sh')
        path.chmod(0o755)

    def test_program_is_a_tool_of_an_agent(self):
        self.script('cat > /dev/null; echo \'{"shipped": true}\'\n')
        server = self.server(TOOL + AGENT.replace('"ask_human"', '"dep*"'))
        session = server.create('deploy A', agent='ops')['id']
        server.at_rest(session)
        self.assertEqual(server.last_text(session), 'deploy A: {"shipped":true}')
        server.finish()

    def test_gate_stays_before_it(self):
        self.script('cat > /dev/null; echo shipped\n')
        server = self.server(
            TOOL
            + AGENT.replace('"ask_human"', '"deploy"')
            + '[[gate]]\ntools = ["dep*"]\nask = "Ship {input.target}?"\n'
        )
        session = server.create('deploy A', agent='ops')['id']
        (call,) = server.open_calls(session)
        self.assertEqual((call['reason'], call['message']), ('approval', 'Ship A?'))
        self.assertEqual(server.decide(call, True).status, 200)
        server.at_rest(session)
        self.assertEqual(server.last_text(session), 'deploy A: shipped')
        server.finish()

    def test_program_sees_only_what_it_may(self):
        self.script('cat > /dev/null; echo "$SECRET-$SHOWN"\n')
        server = self.server(
            TOOL + 'env_allow = ["SHOWN"]\n' + AGENT.replace('"ask_human"', '"deploy"'),
            SECRET='s3cr3t',
            SHOWN='yes',
        )
        session = server.create('deploy A', agent='ops')['id']
        server.at_rest(session)
        self.assertEqual(server.last_text(session), 'deploy A: -yes')
        server.finish()

    def test_unsupported_settings_are_reported_with_their_line(self):
        for text, line, what in (
            ('[limits]\ninbox = 1\n', 2, '[limits]: inbox'),
        ):
            path = self.write(text)
            refused = self.dm('config', 'check', path, exits=2).stderr
            self.assertIn(f'{path}:{line}: ', refused)
            self.assertIn(what + ' comes with a later release', refused)
            self.assertIn(what, self.refused('--config', path))

    def test_unreachable_callback_url_is_logged(self):
        server = self.server(
            '[server]\ndemo = false\n[[tool]]\nname = "t"\nkind = "http"\n'
            'url = "https://ci.example.org/go"\n'
        )
        self.assertIn('callback URL that only this machine reaches', server.tail())
        server.finish()

    def test_hundred_tools_cost_a_tenth_of_a_cpu_second(self):
        self.script('')
        self.write('{"type": "object", "properties": {"target": {"type": "string"}}}', 's.json')
        text = '[server]\ndemo = false\n' + ''.join(
            TOOL.replace('"deploy"', f'"deploy_{n}"') + 'input_schema_file = "s.json"\n'
            for n in range(100)
        )
        path, empty = self.write(text), self.write('', 'empty.toml')

        def seconds(file):
            begin = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.dm('config', 'check', file)
            end = resource.getrusage(resource.RUSAGE_CHILDREN)
            return end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime

        # Best of five each: the cost of the tools without the cost of starting a process.
        with_tools, without = (min(seconds(f) for _ in range(5)) for f in (path, empty))
        self.assertLess(with_tools - without, 0.1)


class Retention(Started):
    def test_completed_sessions_are_deleted_by_age(self):
        server = self.server('[retention]\ncompleted_after = "1s"\n')
        old, active = server.create()['id'], server.create()['id']
        self.assertEqual(server.post(f'/api/sessions/{old}/end').status, 200)
        wait_for(lambda: server.get(f'/api/sessions/{old}').status == 404, what='the deletion')
        self.assertEqual(server.get(f'/api/sessions/{active}').status, 200)
        self.assertIn('completed sessions deleted', server.tail())
        server.finish()

    def test_without_retention_they_stay(self):
        server = self.server('')
        old = server.create()['id']
        server.post(f'/api/sessions/{old}/end')
        server.restart()
        self.assertEqual(server.get(f'/api/sessions/{old}').status, 200)
        server.finish()


if __name__ == '__main__':
    main()
