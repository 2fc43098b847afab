#!/usr/bin/env python3
"""A new configuration without a restart (docs/operations.md): SIGHUP, `dormouse reload` and
POST /api/reload."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
from unittest import mock

from dormouse import BINARY, ROOT, Alone, Case, Client, Events, environment, main, run, wait_for
from webhook_peers import standard

BASE = '''
[server]
demo = false
[[model]]
id = "main"
kind = "scripted"
'''
AGENT = '''
[[agent]]
id = "{id}"
model = "main"
tools = [{tools}]
'''
GATE = '''
[[gate]]
id = "careful"
tools = ["deploy"]
ask = "{ask}"
'''


def tool(path, name='deploy'):
    return f'[[tool]]\nname = "{name}"\nkind = "command"\ncommand = ["{path}"]\n'


class Reloading(Case):
    kind = Alone  # a reload is of one server

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='dormouse-reload-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / 'dormouse.toml'
        self.server = None

    def tearDown(self):
        if self.server:
            super().tearDown()

    def script(self, name, text):
        path = self.folder / name
        path.write_text('#!/bin/sh\n' + text)
        path.chmod(0o755)
        return path

    def write(self, *parts):
        self.file.write_text(BASE + ''.join(parts))

    def serve(self, *parts, **env):
        self.write(*parts)
        self.server = Alone('--config', str(self.file), env=env)
        self.addCleanup(self.server.clean)
        return self.server

    def reload(self, *parts):
        """Writes a configuration and reloads it; returns the answer."""
        if parts:
            self.write(*parts)
        return self.server.post('/api/reload', {})

    def webhook_status(self, source, text):
        """Sends a call that does not exist, signed by the secret that text makes."""
        raw = json.dumps({'pendingID': 'pnd_' + '0' * 26, 'result': {
            'title': 'T', 'output': 'up', 'metadata': None}}).encode()
        with contextlib.closing(Client(self.server.port, '')) as client:
            return client.call('POST', f'/async-tool/webhook/{source}', raw=raw,
                               headers=standard('whsec_' + text * 8, raw)).status

    def ops(self, tools='"deploy"', more=''):
        return AGENT.format(id='ops', tools=tools) + more


class WhatIsApplied(Reloading):
    def test_new_agent_tool_model_and_gate_are_used(self):
        deploy = tool(self.script('deploy', 'cat >/dev/null; echo first'))
        server = self.serve(self.ops(), deploy)
        self.assertEqual([a['id'] for a in server.items('/api/agents')], ['ops'])
        other = tool(self.script('other', 'cat >/dev/null; echo did it'), 'dangerous')
        more = '[[model]]\nid = "other"\nkind = "scripted"\n'
        new = '[[agent]]\nid = "new"\nmodel = "other"\ntools = ["dangerous"]\n'
        answer = self.reload(self.ops('"deploy", "dangerous"'), deploy, other, more, new,
                             GATE.format(ask='Sure?'))
        self.assertStatus(answer, 200)
        self.assertEqual(answer['applied'], [
            '[[model]] other (added)', '[[agent]] ops: tools', '[[agent]] new (added)',
            '[[tool]] dangerous (added)', '[[gate]] careful (added)'])
        self.assertEqual(answer['needsRestart'], [])
        session = server.create('approve A', agent='new')['id']
        self.assertIn('did it', server.last_text(session))
        waiting = server.create('deploy A', agent='ops', wait=0)['id']
        (call,) = wait_for(lambda: server.open_calls(waiting), what='the gate')
        self.assertEqual(call['message'], 'Sure?')
        server.decide(call, True)
        server.at_rest(waiting)
        self.assertIn('first', server.last_text(waiting))
        self.assertEqual(self.reload()['applied'], [], 'nothing has changed since')

    def test_removed_agent_continues_when_it_is_put_back(self):
        deploy = tool(self.script('deploy', 'cat >/dev/null; exit 75'))
        server = self.serve(self.ops(), deploy)
        session = server.create('deploy A', agent='ops', wait=0)['id']
        (call,) = wait_for(lambda: server.open_calls(session), what='the pause')
        other = AGENT.format(id='other', tools='')
        self.assertStatus(self.reload(other), 200)
        answer = server.post('/api/projects/default/sessions', {'agentID': 'ops'})
        self.assertGreaterEqual(answer.status, 400)
        self.assertEqual(server.session(session)['activity']['type'], 'waiting_async')
        self.assertStatus(self.reload(self.ops(), deploy), 200)
        self.assertStatus(server.result(call['id'], 'done'), 200)
        server.at_rest(session)
        self.assertIn('done', server.last_text(session))

    def test_changed_gate_is_for_the_next_call(self):
        deploy = tool(self.script('deploy', 'cat >/dev/null; echo ran'))
        server = self.serve(self.ops(), deploy, GATE.format(ask='Old?'))
        seen = server.create('deploy A', agent='ops', wait=0)['id']
        (call,) = wait_for(lambda: server.open_calls(seen), what='the gate')
        answer = self.reload(self.ops(), deploy, GATE.format(ask='New?') + 'need = 2\n')
        self.assertEqual(answer['applied'], ['[[gate]] careful: ask', '[[gate]] careful: need'])
        (still,) = server.open_calls(seen)
        self.assertEqual((still['message'], still['inputDigest']),
                         ('Old?', call['inputDigest']))
        self.assertEqual(server.decide(call, True)['outcome'], 'applied')
        server.at_rest(seen)
        self.assertIn('ran', server.last_text(seen))
        other = server.create('deploy A', agent='ops', wait=0)['id']
        (call,) = wait_for(lambda: server.open_calls(other), what='the gate')
        self.assertEqual(call['message'], 'New?')
        self.assertEqual(server.decide(call, True)['outcome'], 'counted')

    def test_missing_gate_that_is_put_back_asks_again(self):
        deploy = tool(self.script('deploy', 'cat >/dev/null; echo ran'))
        server = self.serve(self.ops(), deploy, GATE.format(ask='Sure?'))
        session = server.create('deploy A', agent='ops', wait=0)['id']
        (call,) = wait_for(lambda: server.open_calls(session), what='the gate')
        self.reload(self.ops(), deploy)
        self.assertProblem(server.decide(call, True), 409, 'reentry_gone')
        self.reload(self.ops(), deploy, GATE.format(ask='Sure?'))
        self.assertStatus(server.decide(call, True), 200)
        server.at_rest(session)
        self.assertIn('ran', server.last_text(session))

    def test_call_under_way_ends_with_what_it_began(self):
        slow = self.script('deploy', 'cat >/dev/null; while [ ! -e "$0.go" ]; do sleep 0.05; done;'
                                     ' echo old')
        server = self.serve(self.ops(), tool(slow))
        session = server.create('deploy A', agent='ops', wait=0)['id']
        wait_for(lambda: any(e['type'] == 'tool_started' for e in server.events(session)),
                 what='the call')
        new = self.script('new', 'cat >/dev/null; echo new')
        self.assertEqual(self.reload(self.ops(), tool(new))['applied'],
                         ['[[tool]] deploy: command'])
        (self.folder / 'deploy.go').touch()
        server.at_rest(session)
        self.assertIn('old', server.last_text(session))
        server.prompt(session, 'deploy A')
        self.assertIn('new', server.last_text(session))

    def test_streams_and_long_polls_survive(self):
        deploy = tool(self.script('deploy', 'cat >/dev/null; exit 75'))
        server = self.serve(self.ops(), deploy)
        session = server.create('deploy A', agent='ops', wait=0)['id']
        (call,) = wait_for(lambda: server.open_calls(session), what='the pause')
        poller = server.new_client()
        poller.begin(f'/async-tool/pending/{call["id"]}?wait=40')
        with Events(server, f'/api/sessions/{session}/events') as stream:
            for _ in range(3):
                self.assertStatus(self.reload(self.ops('"deploy", "todo"'), deploy), 200)
                self.assertStatus(self.reload(self.ops(), deploy), 200)
            server.result(call['id'], 'done')
            stream.until(lambda frame: (frame.data or {}).get('type') == 'turn_ended')
        self.assertEqual(poller.end()['status'], 'completed')

    def test_secret_in_a_credential_file_is_read_again(self):
        secrets = self.folder / 'secrets'
        secrets.mkdir()
        (secrets / 'dormouse_CI_SECRET').write_text('whsec_' + 'b25l' * 8 + '\n')
        source = '[[source]]\nid = "ci"\nkind = "standard"\nsecrets_env = ["CI_SECRET"]\n'
        self.serve(self.ops('"todo"'), source, CREDENTIALS_DIRECTORY=str(secrets))
        self.assertEqual(self.reload()['applied'], [])
        (secrets / 'dormouse_CI_SECRET').write_text('whsec_' + 'dHdv' * 8 + '\n')
        self.assertEqual(self.reload()['applied'], ['[[source]] ci: secrets_env'])
        self.assertNotIn('dHdv', self.server.tail())

    def test_secret_in_the_folder_of_secrets_is_read_again(self):
        secrets = self.folder / 'secrets'
        secrets.mkdir(mode=0o750)
        (secrets / 'README').write_text('not a variable of the configuration\n')
        (secrets / 'README').chmod(0o640)

        def write(name, text, mode=0o640):
            file = secrets / name
            file.unlink(missing_ok=True)
            file.write_text('whsec_' + text * 8 + '\n')
            file.chmod(mode)

        write('CI_SECRET', 'b25l')
        replaced = mock.patch(f'{__name__}.BASE', BASE.replace(
            'demo = false', f'demo = false\nsecrets_dir = "{secrets.name}"'))
        replaced.start()
        self.addCleanup(replaced.stop)
        source = '[[source]]\nid = "ci"\nkind = "standard"\nsecrets_env = ["CI_SECRET"]\n'
        self.serve(self.ops('"todo"'), source)
        self.assertEqual(self.reload()['applied'], [])
        write('CI_SECRET', 'dHdv')
        self.assertEqual(self.reload()['applied'], ['[[source]] ci: secrets_env'])
        write('LATER', 'dHdv')
        later = source.replace('"ci"', '"later"').replace('CI_SECRET', 'LATER')
        self.assertEqual(self.reload(self.ops('"todo"'), source, later)['applied'],
                         ['[[source]] later (added)'])
        write('CI_SECRET', 'dGhy', 0o644)
        refused = self.reload()
        self.assertStatus(refused, 400)
        self.assertIn('CI_SECRET can be read or changed by others: chmod 640',
                      refused['mistakes'][0])
        write('CI_SECRET', 'dGhy')
        self.assertEqual(self.reload()['applied'], ['[[source]] ci: secrets_env'])
        self.assertNotIn('dHdv', self.server.tail())
        accepted = self.webhook_status('ci', 'dGhy')
        refused = self.webhook_status('ci', 'dHdv')
        self.assertNotEqual(accepted, refused)
        (secrets / 'CI_SECRET').unlink()
        self.assertEqual(self.reload()['applied'], ['[[source]] ci: secrets_env'])
        for text in ('b25l', 'dGhy'):  # the value of the start, and the one before
            self.assertEqual(self.webhook_status('ci', text), 404)

        write('CI_SECRET', 'dGhy', 0o604)
        checked = run('config', 'check', str(self.folder / 'dormouse.toml'))
        self.assertEqual(checked.returncode, 2, checked)
        self.assertIn('secrets_dir', checked.stderr)
        self.assertIn('chmod 640', checked.stderr)
        secrets.chmod(0o770)
        self.assertIn('chmod 750', run('config', 'check',
                                       str(self.folder / 'dormouse.toml')).stderr)

    def test_token_stays_valid(self):
        server = self.serve(self.ops('"todo"'))
        made = server.post('/api/tokens', {'name': 'ci', 'role': 'operate'})
        self.assertStatus(made, 201)
        self.assertStatus(self.reload(self.ops('"todo"'), AGENT.format(id='b', tools='')), 200)
        other = Client(server.port, made['secret'])
        self.addCleanup(other.close)
        self.assertStatus(other.get('/api/me'), 200)
        self.assertProblem(other.post('/api/reload', {}), 403, 'forbidden')

    def test_reload_is_in_the_audit(self):
        server = self.serve(self.ops('"todo"'))
        self.reload(self.ops('"todo"'), AGENT.format(id='b', tools=''))
        lines = [x for x in server.items('/api/audit') if x['type'] == 'config_reloaded']
        self.assertEqual([(x['by'], x['line']['applied']) for x in lines], [('first', 1)])

    def test_requests_under_load_are_not_dropped(self):
        deploy = tool(self.script('deploy', 'cat >/dev/null; echo ok'))
        server = self.serve(self.ops(), deploy)
        stop, wrong, counts = threading.Event(), [], []

        def work():
            client, count = server.new_client(), 0
            while not stop.is_set() or count == 0:
                try:
                    answer = client.post('/api/projects/default/sessions?wait=30',
                                         {'agentID': 'ops', 'prompt': {'text': 'deploy A'}})
                    if answer.status != 201:
                        wrong.append(answer)
                except OSError as error:
                    wrong.append(error)
                count += 1
            counts.append(count)
            client.close()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for n in range(20):
            more = AGENT.format(id=f'more{n}', tools='"deploy"')
            answer = self.reload(self.ops('"deploy", "todo"' if n % 2 else '"deploy"'), deploy,
                                 more)
            self.assertStatus(answer, 200)
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual((wrong, len(counts)), ([], 4))


class ForeignServers(Reloading):
    def program(self, name, how='well', **more):
        keys = ''.join(f'{key} = {value}\n' for key, value in more.items())
        command = [sys.executable, str(ROOT / 'tests/mcp_fake.py'), str(self.folder), how, name]
        return f'[[mcp]]\nname = "{name}"\ncommand = {json.dumps(command)}\n{keys}'

    def uses(self, *names):
        return self.ops(', '.join(f'"mcp:{name}:*"' for name in names))

    def tools(self):
        return [t['name'] for t in self.server.items('/api/tools')]

    def running(self):
        """The names of the servers whose program runs."""
        found = []
        for path in pathlib.Path('/proc').glob('[0-9]*/cmdline'):
            try:
                words = path.read_bytes().decode().split('\0')
            except OSError:
                continue
            if str(self.folder) in words and 'mcp_fake.py' in words[1]:
                found.append(words[4])
        return sorted(found)

    def test_servers_come_go_and_change(self):
        self.serve(self.uses('one', 'two'), self.program('one'), self.program('two'))
        wait_for(lambda: {'mcp:one:look', 'mcp:two:look'} <= set(self.tools()), what='tools')
        self.assertEqual(self.running(), ['one', 'two'])
        answer = self.reload(self.uses('two', 'three'), self.program('two', ask='"all"'),
                             self.program('three'))
        self.assertEqual(answer['applied'], [
            '[[agent]] ops: tools', '[[mcp]] two: ask', '[[mcp]] three (added)',
            '[[mcp]] one (removed)'])
        wait_for(lambda: {'mcp:two:look', 'mcp:three:look'} <= set(self.tools()), what='tools')
        self.assertNotIn('mcp:one:look', self.tools())
        wait_for(lambda: self.running() == ['three', 'two'], what='the end of the others')
        self.reload(self.ops(''))
        wait_for(lambda: self.running() == [], what='the end of all')
        self.assertEqual(self.tools(), [])

    def test_server_that_stays_keeps_its_process(self):
        agent = self.uses('one')
        self.serve(agent, self.program('one'))
        wait_for(lambda: 'mcp:one:look' in self.tools(), what='tools')
        starts = (self.folder / 'log').read_text().count('start')
        self.reload(agent, self.program('one'), AGENT.format(id='b', tools=''))
        self.assertIn('mcp:one:look', self.tools())
        self.assertEqual((self.folder / 'log').read_text().count('start'), starts)


class WhatNeedsARestart(Reloading):
    def test_keys_are_named_and_stay(self):
        server = self.serve(self.ops('"todo"'))
        self.file.write_text(BASE.replace(
            'demo = false', 'demo = false\nlisten = "127.0.0.1:1"\n'
            'public_url = "https://dm.example.org"') + self.ops('"todo"')
            + '[store]\nurl = "memory"\n[limits]\nwaiting_calls = 7\n')
        answer = server.post('/api/reload', {})
        self.assertStatus(answer, 200)
        # A store that the command line names is not that of the file.
        named = ['[server] public_url', *([] if server.store else ['[store] url'])]
        self.assertEqual([x for x in answer['needsRestart'] if 'listen' not in x], named)
        self.assertEqual(server.post('/api/reload', {})['needsRestart'], answer['needsRestart'])
        self.assertStatus(server.get('/api/agents'), 200)


class Mistakes(Reloading):
    def refused(self, *words):
        answer = self.server.post('/api/reload', {})
        self.assertProblem(answer, 400, 'bad_value')
        text = '\n'.join(answer['mistakes'])
        for word in words:
            self.assertIn(word, text)
        self.assertEqual([a['id'] for a in self.server.items('/api/agents')], ['ops'])
        self.assertStatus(self.server.post('/api/projects/default/sessions', {'agentID': 'ops'}),
                          201)
        return answer

    def test_all_are_listed_and_the_old_one_stays(self):
        self.serve(self.ops('"todo"'))
        self.file.write_text(BASE + self.ops('"nothing"') + '[limits]\nwaiting_calls = 0\n'
                             '[[tool]]\nname = "x"\nkind = "wood"\n')
        answer = self.refused('nothing', 'waiting_calls', 'wood')
        self.assertIn(f'{len(answer["mistakes"])} mistakes', answer['detail'])
        checked = subprocess.run([BINARY, 'config', 'check', self.file, '--json'],
                                 capture_output=True, text=True, env=environment())
        self.assertEqual(json.loads(checked.stdout)['problems'], answer['mistakes'])

    def test_file_that_cannot_be_read(self):
        self.serve(self.ops('"todo"'))
        text = self.file.read_text()
        self.file.unlink()
        self.refused('cannot be read', 'No such file')
        self.file.mkdir()
        self.refused('it is a folder')
        self.file.rmdir()
        with self.file.open('wb') as file:
            file.truncate(100 << 20)
        self.refused('it is over 1 MiB')
        self.file.unlink()
        os.mkfifo(self.file)
        self.refused('must be a regular file')
        self.file.unlink()
        self.file.write_bytes(b'\xff\xfe\x00')
        self.refused(str(self.file))
        self.file.write_text(text)
        self.assertStatus(self.reload(), 200)

    def test_no_configuration_says_so(self):
        self.server = Alone('--no-config')
        self.addCleanup(self.server.clean)
        answer = self.server.post('/api/reload', {})
        self.assertStatus(answer, 200)
        self.assertIn('without a configuration file', answer['warnings'][0])

    def test_unknown_members_of_the_body_are_refused(self):
        self.serve(self.ops('"todo"'))
        self.assertProblem(self.server.post('/api/reload', {'now': True}), 400, 'unknown_field')


class Command(Reloading):
    def run_command(self, *arguments):
        return subprocess.run(
            [BINARY, 'reload', '--server', f'http://127.0.0.1:{self.server.port}',
             '--data', self.server.directory, *arguments],
            capture_output=True, text=True, env=environment(), timeout=60)

    def test_prints_what_was_done(self):
        self.serve(self.ops('"todo"'))
        self.assertEqual(self.run_command().stdout, 'nothing has changed\n')
        self.file.write_text(BASE + self.ops('"todo"') + AGENT.format(id='b', tools='')
                             + '[email]\nserver = "127.0.0.1:25"\ntls = "none"\n'
                             'from = "dm@example.org"\n')
        done = self.run_command()
        self.assertEqual((done.returncode, done.stdout), (
            0, 'applied:\n  [[agent]] b (added)\nneeds a restart:\n'
            '  [email] server\n  [email] tls\n  [email] from\n'))
        self.file.write_text('[limits]\nheartbeat = "soon"\nconnections = 0\n')
        done = self.run_command()
        self.assertEqual((done.returncode, done.stdout), (2, ''))
        self.assertIn('stays in force', done.stderr)
        self.assertIn('heartbeat', done.stderr)
        self.assertIn('connections', done.stderr)

    def test_sighup_logs_what_was_done(self):
        self.serve(self.ops('"todo"'))
        self.write(self.ops('"todo"'), AGENT.format(id='b', tools=''))
        self.server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: 'the configuration was reloaded' in self.server.tail(), what='the log')
        self.assertIn('[[agent]] b (added)', self.server.tail())
        self.assertIn('b', [a['id'] for a in self.server.items('/api/agents')])
        self.file.write_text('[limits]\nheartbeat = "soon"\n')
        self.server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: 'the configuration was not reloaded' in self.server.tail(),
                 what='the refusal')
        self.assertIn('[limits] heartbeat is', self.server.tail())

    def test_many_at_once_are_all_answered(self):
        self.serve(self.ops('"todo"'))
        answers = []

        def work():
            client = self.server.new_client()
            answers.append(client.post('/api/reload', {}).status)
            client.close()

        threads = [threading.Thread(target=work) for _ in range(20)]
        for n, thread in enumerate(threads):
            self.write(self.ops('"todo"'), AGENT.format(id=f'a{n}', tools=''))
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(answers, [200] * 20)
        self.assertIn('a19', [a['id'] for a in self.server.items('/api/agents')])


if __name__ == '__main__':
    main()
