#!/usr/bin/env python3
"""What the server and `config check` report about external agents before they are needed, and about
missing agents that sessions use."""
import json
import os
import pathlib
import pwd
import shutil
import tempfile
import unittest

from acp import Programs
from cli import Terminal
from dormouse import OnDisk, environment, main, run, wait_for


class Start(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-start-'))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.bin = self.folder / 'bin'
        self.bin.mkdir()
        self.path = f'{self.bin}:/usr/bin:/bin'

    def program(self, name, text, mode=0o755):
        path = self.bin / name
        path.write_text(text)
        path.chmod(mode)
        return path

    def config(self, text):
        path = self.folder / 'dormouse.toml'
        path.write_text(text)
        return str(path)

    def serve(self, *arguments, **named):
        server = OnDisk(*arguments, env={'PATH': self.path, 'HOME': str(self.folder)}, **named)
        self.addCleanup(server.clean)
        return server

    def agent(self, server, name):
        (found,) = [one for one in server.items('/api/agents') if one['id'] == name]
        return found


class Broken(Start):
    def test_program_that_fails_is_listed_as_broken(self):
        self.program('opencode', '#!/bin/sh\necho "no library libbun" >&2\nexit 1\n')
        server = self.serve()
        wait_for(lambda: not self.agent(server, 'opencode')['available'], 40, 'the probe')
        reason = self.agent(server, 'opencode')['reason']
        self.assertIn('opencode --version ended with status 1', reason)
        self.assertIn('no library libbun', reason)
        self.assertIn('npm install -g opencode-ai', reason)
        where = ['--server', f'http://127.0.0.1:{server.port}', '--data', server.directory]
        listed = run('agents', *where)
        self.assertIn('is broken', ' '.join(listed.stdout.split()))

    def test_program_whose_interpreter_is_missing_is_broken(self):
        self.program('claude-agent-acp', '#!/no/such/node\n')
        server = self.serve()
        wait_for(lambda: not self.agent(server, 'claude')['available'], 40, 'the probe')

    def test_program_that_works_is_available(self):
        seen = self.folder / 'seen'
        self.program('opencode', f'#!/bin/sh\necho "$@" >> {seen}\necho 1.2.3\n')
        server = self.serve()
        wait_for(seen.exists, 40, 'the look')
        self.assertTrue(self.agent(server, 'opencode')['available'])
        self.assertEqual(seen.read_text(), '--version\n')


class Check(Start):
    def warnings(self, text, *more):
        path = self.config(text)
        done = run('config', 'check', path, '--json', *more,
                   env=environment(PATH=self.path, HOME=str(self.folder)))
        self.assertEqual(done.returncode, 0, done)
        return [w for w in json.loads(done.stdout)['warnings'] if 'server\'s user' not in w]

    def test_program_that_is_not_executable_is_a_warning(self):
        path = self.program('agent', 'text', mode=0o644)
        for named in (str(path), 'agent'):
            (warning,) = self.warnings(f'[[agent]]\nid = "a"\nacp = ["{named}", "x"]\n')
            self.assertIn(f'The program {path} is not executable; make it so (chmod +x)', warning)
        (warning,) = self.warnings(f'[[agent]]\nid = "a"\nacp = ["{self.bin}"]\n')
        self.assertIn('is a folder', warning)

    @unittest.skipIf(os.geteuid() != 0, 'run_as needs root')
    def test_data_that_the_user_may_write_to_is_a_warning(self):
        data = self.folder / 'data'
        data.mkdir()
        self.folder.chmod(0o777)
        warnings = self.warnings('[[agent]]\nid = "a"\nacp = ["/bin/true"]\nrun_as = "nobody"\n'
                                 'roots = ["/usr"]\n', '--data', str(data))
        self.assertEqual(len(warnings), 1, warnings)
        self.assertIn(f'the server does not start with it: run_as: the user nobody may write to '
                      f'{self.folder.resolve()}', warnings[0])


@unittest.skipIf(os.geteuid() != 0, 'run_as needs root')
class Exposed(Start):
    """The data directory is in a place where a process with the rights of its own user could change
    it."""

    def starts(self, data):
        config = self.config('[[agent]]\nid = "a"\nacp = ["/bin/true"]\nrun_as = "nobody"\n'
                             'roots = ["/usr"]\n')
        server = self.serve('--config', config, directory=data, start=False)
        with server.spawn() as ready:
            line = ready.readline()
        if line:
            server.term()
            return ''
        self.assertNotEqual(server.process.wait(), 0)
        return server.tail()

    def test_start_with_a_folder_of_the_user_is_refused(self):
        data = self.folder / 'data'
        data.mkdir(mode=0o700)
        self.assertEqual(self.starts(data), '')
        os.chown(data, pwd.getpwnam('nobody').pw_uid, -1)
        output = self.starts(data)
        self.assertIn(f'the user nobody may write to {data.resolve()}', output)
        self.assertIn(f'chown root {data.resolve()}', output)

    def test_start_below_a_folder_of_everybody_is_refused(self):
        data = self.folder / 'open' / 'deep' / 'data'
        data.mkdir(parents=True)
        (self.folder / 'open').chmod(0o777)
        self.assertIn('may write to', self.starts(data))
        (self.folder / 'open').chmod(0o1777)  # as /tmp: only the owner may replace a file
        self.assertEqual(self.starts(data), '')
        os.chown(self.folder / 'open' / 'deep', pwd.getpwnam('nobody').pw_uid, -1)
        self.assertIn('may write to', self.starts(data))

    def test_start_with_a_file_of_the_user_is_refused(self):
        data = self.folder / 'data'
        data.mkdir(mode=0o755)
        self.assertEqual(self.starts(data), '')
        os.chown(data / 'dormouse.db', pwd.getpwnam('nobody').pw_uid, -1)
        self.assertIn(f'may write to {data.resolve()}/dormouse.db', self.starts(data))

    def test_start_behind_a_link_checks_its_target(self):
        data = self.folder / 'data'
        data.mkdir(mode=0o777)
        data.chmod(0o777)
        (self.folder / 'link').symlink_to(data)
        self.assertIn(f'may write to {data.resolve()}', self.starts(self.folder / 'link'))


class Forgotten(Start):
    def test_sessions_of_demo_agents_are_named_when_they_are_gone(self):
        server = self.serve()
        self.assertNotIn('configuration does not have', server.tail())
        server.create('deploy A')
        ended = server.create('hi')['id']
        server.post(f'/api/sessions/{ended}/end', {})
        server.term()
        server.arguments = ['--config', self.config(
            '[[model]]\nid = "m"\nkind = "scripted"\n[[agent]]\nid = "ops"\nmodel = "m"\n')]
        server.start()
        log = wait_for(
            lambda: 'configuration does not have' in server.tail() and server.tail(), 10, 'a line')
        self.assertIn('1 session belongs to agents that the configuration does not', log)
        self.assertIn('have: demo. It is kept', log)
        self.assertIn('demo = true in [server] brings them back', log)


class WithoutAName(Start):
    def test_prompt_to_the_demo_names_the_other_agents(self):
        self.program('opencode', '#!/bin/sh\necho 1\n')
        server = self.serve()
        where = ['--server', f'http://127.0.0.1:{server.port}', '--data', server.directory]
        shown = Terminal('prompt', 'hello', *where, columns=200)
        shown.until('hello')
        shown.ended()
        self.assertIn('There are also: opencode; name one with --agent', shown.text)
        quiet = run('prompt', 'hello', *where)
        self.assertEqual(quiet.stderr, '')


class Modes(Programs):
    more = '[[gate]]\nid = "care"\ntools = ["acp:execute"]\nask = "Run {tool}?"\n'

    def not_asking(self):
        return self.server.get('/api/doctor')['notAsking']

    def test_mode_chosen_by_the_agent_is_in_log_and_doctor(self):
        session = self.create('mode yolo')
        (one,) = self.not_asking()
        self.assertEqual(one['sessionID'], session)
        self.assertIn('works in the mode "yolo"', one['why'])
        self.assertIn('[[gate]] care does not see actions', one['why'])
        self.assertIn(session, self.server.tail())
        self.assertIn('in which it does not ask', self.server.tail())
        self.assertStatus(self.server.prompt(session, 'mode ask'), 200)
        self.assertEqual(self.not_asking(), [])


if __name__ == '__main__':
    main()
