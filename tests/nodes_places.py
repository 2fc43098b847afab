#!/usr/bin/env python3
"""Sessions whose agent is an external program, with several servers on one database: they continue
on the server whose machine has the program's files, until a person moves them."""
import json
import pathlib
import sys

from acp import AGENT
from dormouse import Server, environment, main, run, wait_for
from store_postgres import Database

CONFIG = '''
[store]
url = "%(url)s"
node = "%(node)s"
[[agent]]
id = "fake"
acp = %(command)s
roots = ["%(work)s"]
env_allow = ["FAKE_STATE"]
%(more)s
'''


class Nodes(Database):
    more, flags = '', ()

    def setUp(self):
        super().setUp()
        self.a, self.b = self.node('a'), self.node('b')
        wait_for(lambda: self.names(self.a) == self.names(self.b) == ['a', 'b'], what='both')

    def config(self, node):
        work = self.folder / 'work'  # the same path on both machines
        work.mkdir(exist_ok=True)
        command = json.dumps([sys.executable, AGENT, *self.flags])
        return CONFIG % {'url': self.url(), 'node': node, 'work': work, 'command': command,
                         'more': self.more}

    def node(self, name):
        """Starts a server that stands for a machine: with its own files of the program."""
        state = self.folder / name / 'state'
        state.mkdir(parents=True)
        config = self.folder / name / 'dormouse.toml'
        config.write_text(self.config(name))
        server = Server('--config', str(config), '--relaxed', env={'FAKE_STATE': str(state)},
                        start=False)
        server.store = None  # but what the configuration names
        self.addCleanup(server.clean)
        return server.start()

    def names(self, server):
        return sorted(one['name'] for one in server.items('/api/nodes'))

    def log(self, node, kind):
        path = self.folder / node / 'state/log.jsonl'
        lines = path.read_text().splitlines() if path.exists() else []
        return [line for line in map(json.loads, lines) if line['kind'] == kind]

    def prompts(self, node):
        return [line['wanted'] for line in self.log(node, 'prompt')]

    def dormouse(self, server, *arguments):
        return run(*arguments, env=environment(
            DORMOUSE_TOKEN=server.token, DORMOUSE_URL=f'http://127.0.0.1:{server.port}'))

    def create(self, server, text='one'):
        return server.create(text, agent='fake')['id']


class Places(Nodes):
    def test_prompt_elsewhere_runs_where_the_session_was_made(self):
        session = self.create(self.a)
        self.assertEqual(self.b.session(session)['node'], 'a')
        self.assertEqual(self.b.prompt(session, 'two').status, 200)
        self.assertEqual(self.a.last_text(session), 'You said: two (3 messages)')
        self.assertEqual((len(self.prompts('a')), self.prompts('b')), (2, []))

    def test_session_waits_for_its_server(self):
        session = self.create(self.a)
        self.a.term()
        wait_for(lambda: self.names(self.b) == ['b'], 15, 'the end of A')
        self.assertEqual(self.b.prompt(session, 'two', wait=0).status, 202)
        self.assertEqual(self.b.get(f'/api/explain/{session}')['waitsFor'], 'a')
        explained = self.dormouse(self.b, 'explain', session)
        self.assertIn('only on the server a, which does not run', explained.stdout)
        listed = self.dormouse(self.b, 'sessions')
        self.assertIn(f'the server a does not run; only there continue: {session}', listed.stdout)
        blocked = wait_for(lambda: self.b.get('/api/doctor')['blocked'], 15, 'the finding')
        self.assertEqual([one['sessionID'] for one in blocked], [session])
        self.assertIn('"a", which does not run', blocked[0]['why'])
        self.assertIn(f'dormouse move {session} --to b', blocked[0]['next'])
        self.a.start()
        wait_for(lambda: self.a.last_text(session) == 'You said: two (3 messages)',
                 what='the answer')
        wait_for(lambda: self.b.get(f'/api/explain/{session}')['waitsFor'] is None,
                 what='the server A in the answers of B')

    def test_killed_servers_sessions_move(self):
        session = self.create(self.a)
        self.assertEqual(self.a.prompt(session, 'hang', wait=0).status, 202)
        wait_for(lambda: len(self.prompts('a')) == 2, what='the second prompt')
        busy = self.dormouse(self.b, 'move', session, '--to', 'b')
        self.assertNotEqual(busy.returncode, 0)
        self.assertIn('The agent works for this session on the server "a"', busy.stderr)
        self.a.kill()
        wait_for(lambda: self.names(self.b) == ['b'], 15, 'the end of A')
        moved = self.dormouse(self.b, 'move', session, '--to', 'b')
        self.assertEqual(moved.returncode, 0, moved.stderr)
        self.assertIn('server    b', moved.stdout)
        self.assertEqual(self.b.session(session)['node'], 'b')
        wait_for(lambda: self.prompts('b'), what='that B prompts its agent')
        self.assertEqual(self.b.post(f'/api/sessions/{session}/cancel', {}).status, 200)
        self.b.at_rest(session)
        self.assertEqual(self.b.prompt(session, 'two').status, 200)
        self.assertIn('You said: two', self.b.last_text(session))

    def test_sleeping_session_moves_between_live_servers(self):
        session = self.create(self.a)
        self.assertEqual(self.dormouse(self.a, 'move', session, '--to', 'b').returncode, 0)
        self.assertEqual(self.a.prompt(session, 'two').status, 200)
        self.assertEqual((len(self.prompts('a')), len(self.prompts('b'))), (1, 1))
        refused = self.dormouse(self.a, 'move', session, '--to', 'c')
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn('names no server that runs on this store: ', refused.stderr)

    def test_attach_names_the_other_server(self):
        session = self.create(self.a)
        answer = self.b.post(f'/api/sessions/{session}/attach')
        self.assertEqual((answer.status, answer['code']), (409, 'wrong_state'))
        self.assertEqual(answer['node'], 'a')
        self.assertEqual(answer['url'], f'http://127.0.0.1:{self.a.port}')
        self.assertIn(answer['url'], answer['detail'])

    def test_second_server_of_that_name_is_refused(self):
        path = self.folder / 'again.toml'
        path.write_text(self.config('a'))
        done = run('serve', '--config', path, '--relaxed', '--data', self.folder / 'other',
                   '--listen', '127.0.0.1:0')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('Another server named "a" works on this database', done.stderr)


class Deleting(Nodes):
    flags = ('--delete',)

    def test_deletion_elsewhere_reaches_the_program(self):
        sessions = [self.create(self.a), self.create(self.a)]  # of either share
        for session in sessions:
            self.assertEqual(self.b.delete(f'/api/sessions/{session}').status, 204)
        wait_for(lambda: len(self.log('a', 'session/delete')) == 2, what='the deletions')
        self.assertEqual(self.log('b', 'session/delete'), [])


class SharedFolder(Nodes):
    more = 'shared_folder = true'

    def test_session_continues_anywhere(self):
        session = self.create(self.a)
        self.assertNotIn('node', self.b.session(session))
        self.a.term()
        self.assertEqual(self.b.prompt(session, 'two').status, 200)
        self.assertEqual(len(self.prompts('b')), 1)
        refused = self.dormouse(self.b, 'move', session, '--to', 'b')
        self.assertIn('is not bound to a server', refused.stderr)


class Names(Database):
    """Without a name in the configuration the data directory has it."""

    def test_name_stays_after_a_restart(self):
        server = self.server()
        name = server.get('/api/nodes')['items'][0]['name']
        self.assertEqual(pathlib.Path(server.directory, 'node').read_text().strip(), name)
        server.restart()
        self.assertEqual(server.get('/api/nodes')['items'][0]['name'], name)
        server.term()
        pathlib.Path(server.directory, 'node').write_text('no name\n')
        self.assertIn('does not hold the name of a server', self.started_on(server.directory))

    def started_on(self, directory):
        done = run('serve', '--data', directory, '--no-config', '--relaxed', '--store', self.url(),
                   '--listen', '127.0.0.1:0')
        self.assertNotEqual(done.returncode, 0)
        return done.stderr


if __name__ == '__main__':
    main()
