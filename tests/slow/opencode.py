#!/usr/bin/env python3
"""opencode itself as a durable agent, with a model that is played: its conversation survives the
kill of the server, its permissions are pending calls, and its own HTTP port is closed to others."""
import json
import os
import pathlib
import platform
import shutil
import sys
import tempfile
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / 'agents')]

import npm  # noqa: E402
from dormouse import Server, leave_out, main, wait_for  # noqa: E402
from fake_model import FakeModel  # noqa: E402
from shapes import MESSAGE, Contract  # noqa: E402

FOLDER = HERE.parent / 'agents'
PROGRAM = FOLDER / 'node_modules/opencode-linux-x64/bin/opencode'
LIMIT_S = 120  # it takes its time to start


def install():
    """None, or why it is not there."""
    if platform.machine() != 'x86_64':
        return 'its package is for x86_64 only'
    return npm.install(FOLDER, limit_s=600)


def settings(url):
    return {
        'autoupdate': False, 'share': 'disabled', 'model': 'fake/fake-1',
        'small_model': 'fake/fake-1', 'enabled_providers': ['fake'], 'lsp': False,
        'formatter': False, 'permission': {'bash': 'ask', 'edit': 'ask'},
        'provider': {
            'fake': {
                'npm': '@ai-sdk/openai-compatible', 'name': 'Fake',
                'options': {'baseURL': url, 'apiKey': 'dummy'},
                'models': {
                    'fake-1': {
                        'name': 'fake-1', 'tool_call': True,
                        'limit': {'context': 32000, 'output': 4000},
                    }
                },
            }
        },
    }


def children_of(pid):
    """All processes below it."""
    out = []
    for entry in pathlib.Path('/proc').iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / 'stat').read_text().rsplit(')', 1)[1].split()[1])
        except (OSError, IndexError):
            continue
        if parent == pid:
            out += [int(entry.name), *children_of(int(entry.name))]
    return out


def listening_ports(pid):
    inodes = set()
    for fd in pathlib.Path(f'/proc/{pid}/fd').iterdir():
        try:
            target = os.readlink(fd)
        except OSError:
            continue
        if target.startswith('socket:['):
            inodes.add(target[8:-1])
    ports = []
    for line in pathlib.Path('/proc/net/tcp').read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == '0A' and fields[9] in inodes:
            ports.append(int(fields[1].split(':')[1], 16))
    return ports


class OpenCode(Contract):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-opencode-'))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.work = self.folder / 'work'
        home = self.folder / 'home'
        for folder in (self.work, home):
            folder.mkdir()
        self.model = FakeModel()
        self.addCleanup(self.model.close)
        quiet = {
            f'OPENCODE_DISABLE_{name}': '1'
            for name in ('AUTOUPDATE', 'MODELS_FETCH', 'LSP_DOWNLOAD', 'DEFAULT_PLUGINS', 'SHARE')
        }
        env = {
            'HOME': str(home), 'TMPDIR': str(self.folder), 'DO_NOT_TRACK': '1', **quiet,
            'OPENCODE_CONFIG_CONTENT': json.dumps(settings(self.model.url)),
        }
        config = self.folder / 'dormouse.toml'
        command = json.dumps([str(PROGRAM), 'acp', '--pure', '--hostname', '127.0.0.1'])
        allowed = json.dumps(['DO_NOT_TRACK', *quiet])
        config.write_text(
            f'[[agent]]\nid = "coder"\nacp = {command}\nroots = ["work"]\nenv_allow = {allowed}\n'
        )
        self.server = Server('--config', str(config), env=env)
        self.addCleanup(self.server.clean)

    def prompted(self, session, text):
        self.assertStatus(self.server.prompt(session, text, wait=0), 202)
        wait_for(
            lambda: self.server.session(session)['activity']['type'] != 'busy', LIMIT_S, 'answer'
        )
        turn = self.server.turns(session)[0]
        self.assertIsNone(turn['error'], turn)
        return self.server.said(session) if turn['status'] == 'ended' else None

    def test_its_conversation_survives_the_kill_of_the_server(self):
        session = self.server.create(agent='coder')['id']
        self.assertIn('TOKEN-17', self.prompted(session, 'remember TOKEN-17'))
        first = self.server.session(session)['acpSessionID']
        self.server.restart()
        self.assertIn('TOKEN-17', self.prompted(session, 'what do you remember?'))
        self.assertEqual(self.server.session(session)['acpSessionID'], first)
        for message in self.server.messages(session):
            self.assertShape(message, MESSAGE)

    def test_its_permissions_are_pending_calls_and_its_port_is_closed(self):
        session = self.server.create(agent='coder')['id']
        self.prompted(session, 'USE_TOOL please')
        (call,) = self.server.open_calls(session)
        self.assertEqual(call['tool'], 'acp:execute')
        self.assertFalse((self.work / 'marker.txt').exists())
        ports = [p for pid in children_of(self.server.process.pid) for p in listening_ports(pid)]
        for port in ports:
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f'http://127.0.0.1:{port}/permission', timeout=20)
            self.assertEqual(refused.exception.code, 401)
        self.assertTrue(ports, 'it listens nowhere: the check has become pointless')
        self.assertStatus(self.server.decide(call, True), 200)
        wait_for(
            lambda: self.server.session(session)['activity']['type'] == 'idle', LIMIT_S, 'end'
        )
        self.assertEqual((self.work / 'marker.txt').read_text(), 'ran\n')
        self.assertIn('the tool has run', self.server.said(session))


if __name__ == '__main__':
    why = install()
    if why:
        leave_out(why)
    main()
