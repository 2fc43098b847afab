#!/usr/bin/env python3
"""How external agents are confined (sandbox, run_as)."""
import json
import os
import pathlib
import shutil

from acp import Programs
from dormouse import ROOT, Alone, children_of, leave_out, main, run, wait_for


class Confined(Programs):
    """Tests for both ways to confine an agent."""

    def shown(self, command):
        session = self.create(f'run {command}')
        return json.loads(self.server.last_text(session))['output'].strip()

    def called(self, session, method, **params):
        self.assertStatus(self.server.prompt(session, f'call {method} {json.dumps(params)}'), 200)
        return json.loads(self.server.last_text(session))

    def no_variable_reaches_what_builds_the_sandbox(self):
        """The loader of each program logs what it loads, as it would load LD_PRELOAD."""
        session = self.create('hello')
        traces = self.work / 'traces'
        traces.mkdir()
        traces.chmod(0o777)
        variables = {'LD_DEBUG': 'libs', 'LD_DEBUG_OUTPUT': str(traces / 'ld'), 'PLAIN': 'it\'s'}
        env = [{'name': name, 'value': value} for name, value in variables.items()]
        terminal = self.called(
            session, 'terminal/create', command='/usr/bin/env; id >/dev/null', env=env
        )
        self.called(session, 'terminal/wait_for_exit', **terminal)
        shown = self.called(session, 'terminal/output', **terminal)['output']
        self.assertIn("PLAIN=it's\n", shown)
        loaded = ''.join(path.read_text() for path in traces.iterdir())
        self.assertIn('initialize program: id', loaded)
        for builder in ('setpriv', 'bwrap', 'mkdir'):
            self.assertNotIn(builder, loaded)
        odd = self.called(
            session, 'terminal/create', command='true', env=[{'name': '-i', 'value': 'x'}]
        )
        self.assertIn('name of a variable is invalid', odd['message'])


class Sandboxed(Confined):
    """The agent sees its folder and none of the hidden files."""

    more = 'sandbox = "bwrap"\nterminals = true'

    def make_state(self):
        return self.work / 'state'

    def test_variables_of_a_terminal_stay_behind_the_sandbox(self):
        self.no_variable_reaches_what_builds_the_sandbox()

    def test_temporary_files_have_a_place(self):
        self.assertEqual(self.shown('echo $TMPDIR; mktemp >/dev/null && echo made'), '/tmp\nmade')

    def test_agent_writes_in_its_folder_only(self):
        outside = ROOT / 'build/outside'
        self.assertIn('Read-only', self.shown(f'touch {outside}'))
        self.assertEqual(self.shown('touch made; ls made; pwd'), f'made\n{self.work.resolve()}')
        self.assertTrue((self.work / 'made').exists())
        self.assertFalse(outside.exists())

    def test_servers_data_and_its_processes_are_hidden(self):
        self.assertEqual(self.shown(f'cat {self.server.directory}/token | wc -c'),
                         f'cat: {self.server.directory}/token: No such file or directory\n0')
        self.assertEqual(self.shown(f'ls /proc/{self.server.process.pid} >/dev/null && echo seen'),
                         f"ls: cannot access '/proc/{self.server.process.pid}': "
                         'No such file or directory')

    def test_sandbox_ends_with_the_server(self):
        session = self.begin('hang')
        wait_for(lambda: self.prompts() == ['hang'], what='prompt')
        children = children_of(self.server.process.pid)
        self.assertTrue(children)
        self.server.restart()
        wait_for(lambda: not any(self.lives(pid) for pid in children), what='end')
        self.ended(session)


class DataInItsFolder(Confined):
    """The folder of its sessions, by default that of the configuration, contains the server's data.
    """

    more = 'sandbox = "bwrap"\nterminals = true'

    def setUp(self):
        super().setUp()
        self.server.clean()
        self.link = self.folder / 'link'
        self.link.symlink_to(self.work)
        data = self.link / 'data'
        self.data = self.work / 'data'
        self.server = Alone('--config', str(self.folder / 'dormouse.toml'), directory=data,
                             env={'FAKE_STATE': str(self.state)})
        self.addCleanup(self.server.clean)

    def make_state(self):
        return self.folder / 'state'

    def test_such_a_folder_is_refused(self):
        inside = self.data / 'inside'
        inside.mkdir()
        error = self.server.turns(self.create('hello'))[0]['error']
        self.assertEqual(error['code'], 'agent_refused')
        self.assertIn('the data directory of the server', error['message'])
        for cwd in (str(self.work), str(self.data), str(inside)):
            answer = self.server.post('/api/projects/default/sessions',
                                      {'agentID': 'fake', 'cwd': cwd})
            self.assertProblem(answer, 400, 'bad_value', pointer='/cwd')
            self.assertIn('the data directory of the server', answer['detail'])
        self.assertEqual(self.prompts(), [])
        self.assertEqual([p.name for p in self.data.iterdir() if p.name == 'log.jsonl'], [])

    def test_config_check_says_so(self):
        done = run('config', 'check', str(self.folder / 'dormouse.toml'), '--data',
                   str(self.link / 'data'))
        self.assertIn('[[agent]] fake cannot be used: the data directory', done.stderr)
        done = run('config', 'check', str(self.folder / 'dormouse.toml'), '--data',
                   str(self.folder / 'elsewhere'))
        self.assertNotIn('the data directory', done.stderr)


class Apart(Confined):
    """Sessions of other projects work in other folders of the roots."""

    more = 'sandbox = "bwrap"\nterminals = true'

    def setUp(self):
        super().setUp()
        self.own, self.other = self.state, self.work / 'other'
        self.other.mkdir()
        for folder in (self.own, self.other):
            (folder / 'file').write_text(folder.name)

    def make_state(self):
        return self.work / 'own'

    def test_folders_of_other_projects_are_hidden(self):
        work = self.work.resolve()
        session = self.create(f'run cat file; cat {work}/other/file; touch {work}/other/made',
                              cwd=str(self.own))
        shown = json.loads(self.server.last_text(session))['output']
        self.assertTrue(shown.startswith('own'), shown)
        self.assertIn(f'{work}/other/file: No such file', shown)
        self.assertEqual((self.other / 'file').read_text(), 'other')
        self.assertFalse((self.other / 'made').exists())


class OneProject(Programs):
    """Without a sandbox an agent can read all data of the server, so it serves one project."""

    more = '[[project]]\nid = "team"\n[server]\ndemo = true'

    def create_in(self, project, agent='fake'):
        body = {'agentID': agent, 'prompt': {'text': 'hello'}}
        return self.server.post(f'/api/projects/{project}/sessions?wait=20', body)

    def assertRefused(self, answer, only='team', pointer='/agentID'):
        problem = self.assertProblem(answer, 400, 'bad_value')
        self.assertEqual(problem['pointer'], pointer)
        self.assertIn(f'sessions of the project "{only}" only', problem['why'])
        self.assertIn('sandbox = "bwrap" in its', problem['why'])

    def test_sessions_of_other_projects_are_refused(self):
        self.ended(self.create_in('team')['id'])
        self.assertEqual(self.prompts(), ['hello'])
        self.assertRefused(self.create_in('other'))
        self.assertEqual(self.server.items('/api/projects/other/sessions'), [])
        messages = [{'role': 'user', 'parts': [{'type': 'text', 'text': 'hello'}]}]
        body = {'agentID': 'fake', 'messages': messages}
        self.assertRefused(self.server.post('/api/projects/other/import', body))
        parent = self.create_in('other', agent='demo')['id']
        task = {'agentID': 'fake', 'prompt': 'hello', 'description': 'elsewhere'}
        self.assertRefused(self.server.post(f'/api/sessions/{parent}/tasks', task))
        self.assertEqual(self.server.items(f'/api/sessions/{parent}/tasks'), [])
        self.assertEqual(self.prompts(), ['hello'])
        self.assertIn('it serves the project \\"team\\" only', self.server.tail())

    def test_existing_sessions_of_other_projects_cannot_be_prompted(self):
        session = self.create_in('team')['id']
        config = self.folder / 'dormouse.toml'
        config.write_text(config.read_text().replace('id = "team"', 'id = "moved"'))
        self.server.restart()
        self.server.prompt(session, 'again')
        error = self.server.turns(session)[-1]['error']
        self.assertEqual(error['code'], 'agent_unavailable')
        self.assertIn('sessions of the project "moved" only', error['message'])
        self.assertEqual(self.prompts(), ['hello'])
        fork = self.server.post(f'/api/sessions/{session}/fork', {})
        self.assertRefused(fork, only='moved', pointer='')

    def check(self, more):
        path = self.folder / 'several.toml'
        path.write_text(
            '[[project]]\nid = "a"\n[[project]]\nid = "b"\n[[agent]]\nid = "fake"\n'
            f'acp = ["/bin/true"]\n{more}'
        )
        return run('config', 'check', str(path))

    def test_with_several_projects_nothing_is_started(self):
        done = self.check('')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('[[agent]] fake: acp has no sandbox', done.stdout + done.stderr)
        self.assertIn('set sandbox = "bwrap"', done.stdout + done.stderr)
        self.assertEqual(self.check('sandbox = "bwrap"').returncode, 0)

    def test_user_of_its_own_separates_no_projects(self):
        done = self.check('run_as = "nobody"')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('acp has no sandbox', done.stdout + done.stderr)


class AsAUser(Confined):
    more = 'run_as = "nobody"\nterminals = true\nfiles = "write"'
    python = '/usr/bin/python3'  # that of the tests may be in a home directory

    def setUp(self):
        super().setUp()
        for folder in (self.folder, self.state, self.work):
            folder.chmod(0o777)

    def test_agent_has_the_rights_of_its_user(self):
        if os.geteuid() != 0:
            error = self.server.turns(self.create('hello'))[0]['error']
            return self.assertIn('a server that runs as root', error['message'])
        session = self.create('run id -un; cat ' + str(self.server.directory) + '/token')
        shown = json.loads(self.server.last_text(session))['output']
        self.assertTrue(shown.startswith('nobody\n'), shown)
        self.assertIn('Permission denied', shown)


    def test_variables_of_a_terminal_come_after_its_rights(self):
        if os.geteuid() != 0:
            return self.skipTest('run_as needs root')
        self.no_variable_reaches_what_builds_the_sandbox()
        owners = {path.stat().st_uid for path in (self.work / 'traces').iterdir()}
        self.assertNotIn(0, owners)

    def test_its_files_are_that_users(self):
        if os.geteuid() != 0:
            return self.skipTest('run_as needs root')
        session = self.create('hello')
        private = self.work / 'private'
        private.write_text('of root')
        private.chmod(0o600)
        read = self.called(session, 'fs/read_text_file', path=str(private))
        self.assertIn('Permission denied', read['message'])
        write = self.called(session, 'fs/write_text_file', path=str(private), content='x')
        self.assertIn('Permission denied', write['message'])
        self.assertEqual(private.read_text(), 'of root')
        made = str(self.work / 'made')
        self.assertEqual(self.called(session, 'fs/write_text_file', path=made, content='x'), {})
        self.assertNotEqual(pathlib.Path(made).stat().st_uid, 0)

    def test_folder_that_became_a_link_is_not_followed(self):
        if os.geteuid() != 0:
            return self.skipTest('run_as needs root')
        session = self.create('hello')
        outside = self.folder / 'outside'
        outside.mkdir(mode=0o700)
        self.work.rename(self.folder / 'was')
        self.work.symlink_to(outside)
        path = str(self.work.parent.resolve() / 'work/escaped')
        answer = self.called(session, 'fs/write_text_file', path=path, content='x')
        self.assertIn('leads out', answer['message'])
        self.assertEqual(list(outside.iterdir()), [])

    def test_sandbox_gains_no_rights(self):
        if os.geteuid() != 0:
            return self.skipTest('run_as needs root')
        self.assertIn('NoNewPrivs:\t1', self.shown('grep NoNewPrivs /proc/self/status'))
        self.assertEqual(self.shown('echo $HOME $USER').split()[1], 'nobody')


class NoSuchUser(Programs):
    more = 'run_as = "nobody-at-all"'

    def test_agent_is_unavailable_and_says_why(self):
        error = self.server.turns(self.create('hello'))[0]['error']
        self.assertEqual(error['code'], 'agent_unavailable')
        self.assertIn('unknown user nobody-at-all', error['message'])


def setUpModule():
    if not shutil.which('bwrap'):
        leave_out('bubblewrap is not installed')


if __name__ == '__main__':
    main()
