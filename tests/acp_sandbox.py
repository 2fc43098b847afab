#!/usr/bin/env python3
"""Agents that are programs: how far they reach (sandbox, run_as)."""
import json
import os
import shutil

from acp import Programs
from dormouse import ROOT, children_of, leave_out, main, run, wait_for


class Sandboxed(Programs):
    """It sees its folder, and nothing of what is hidden."""

    more = 'sandbox = "bwrap"\nterminals = true'

    def make_state(self):
        return self.work / 'state'

    def shown(self, command):
        session = self.create(f'run {command}')
        return json.loads(self.server.said(session))['output'].strip()

    def test_it_works_in_its_folder_and_writes_nowhere_else(self):
        outside = ROOT / 'build/outside'
        self.assertIn('Read-only', self.shown(f'touch {outside}'))
        self.assertEqual(self.shown('touch made; ls made; pwd'), f'made\n{self.work.resolve()}')
        self.assertTrue((self.work / 'made').exists())
        self.assertFalse(outside.exists())

    def test_the_servers_data_and_its_processes_are_hidden(self):
        self.assertEqual(self.shown(f'cat {self.server.directory}/token | wc -c'),
                         f'cat: {self.server.directory}/token: No such file or directory\n0')
        self.assertEqual(self.shown(f'ls /proc/{self.server.process.pid} >/dev/null && echo seen'),
                         f"ls: cannot access '/proc/{self.server.process.pid}': "
                         'No such file or directory')

    def test_it_ends_with_the_server(self):
        session = self.begin('hang')
        wait_for(lambda: self.prompts() == ['hang'], what='prompt')
        children = children_of(self.server.process.pid)
        self.assertTrue(children)
        self.server.restart()
        wait_for(lambda: not any(self.lives(pid) for pid in children), what='end')
        self.ended(session)


class OneProject(Programs):
    """Without a wall it can read all that the server keeps, so it serves one project."""

    more = '[[project]]\nid = "team"\n[server]\ndemo = true'

    def create_in(self, project, agent='fake'):
        body = {'agentID': agent, 'prompt': {'text': 'hello'}}
        return self.server.post(f'/api/projects/{project}/sessions?wait=20', body)

    def assertRefused(self, answer, only='team', pointer='/agentID'):
        problem = self.assertProblem(answer, 400, 'bad_value')
        self.assertEqual(problem['pointer'], pointer)
        self.assertIn(f'sessions of the project "{only}" only', problem['why'])
        self.assertIn('sandbox = "bwrap" or run_as', problem['why'])

    def test_sessions_of_others_are_refused_when_they_are_made(self):
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

    def test_those_that_are_there_already_are_refused_when_they_are_prompted(self):
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
        said = self.check('')
        self.assertNotEqual(said.returncode, 0)
        self.assertIn('[[agent]] fake: acp runs as the server\'s user', said.stdout + said.stderr)
        self.assertIn('set sandbox = "bwrap" or run_as', said.stdout + said.stderr)
        self.assertEqual(self.check('sandbox = "bwrap"').returncode, 0)
        self.assertEqual(self.check('run_as = "nobody"').returncode, 0)


class AsAUser(Programs):
    more = 'run_as = "nobody"\nterminals = true'

    def setUp(self):
        super().setUp()
        for folder in (self.folder, self.state, self.work):
            folder.chmod(0o777)

    def test_it_has_that_users_rights(self):
        if os.geteuid() != 0:
            error = self.server.turns(self.create('hello'))[0]['error']
            return self.assertIn('a server that runs as root', error['message'])
        session = self.create('run id -un; cat ' + str(self.server.directory) + '/token')
        shown = json.loads(self.server.said(session))['output']
        self.assertTrue(shown.startswith('nobody\n'), shown)
        self.assertIn('Permission denied', shown)


class NoSuchUser(Programs):
    more = 'run_as = "nobody-at-all"'

    def test_it_is_unavailable_and_says_why(self):
        error = self.server.turns(self.create('hello'))[0]['error']
        self.assertEqual(error['code'], 'agent_unavailable')
        self.assertIn('there is no user nobody-at-all', error['message'])


if __name__ == '__main__':
    if not shutil.which('bwrap'):
        leave_out('bubblewrap is not installed')
    main()
