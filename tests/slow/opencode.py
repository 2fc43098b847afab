#!/usr/bin/env python3
"""opencode itself as a durable agent, with a model that is played: its conversation survives the
kill of the server, its permissions are pending calls (real.py), and its own HTTP port is closed to
others."""
import json
import os
import pathlib
import platform
import sys
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / 'agents')]

import npm  # noqa: E402
from dormouse import leave_out, main  # noqa: E402
from real import Contract, RealAgent, children_of  # noqa: E402

FOLDER = HERE.parent / 'agents/opencode'
PROGRAM = FOLDER / 'node_modules/opencode-linux-x64/bin/opencode'


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


class OpenCode(RealAgent, Contract):
    command = [PROGRAM, 'acp', '--pure', '--hostname', '127.0.0.1']

    def environment(self, home, model):
        quiet = ('AUTOUPDATE', 'MODELS_FETCH', 'LSP_DOWNLOAD', 'DEFAULT_PLUGINS', 'SHARE')
        return {
            **{f'OPENCODE_DISABLE_{name}': '1' for name in quiet},
            'OPENCODE_CONFIG_CONTENT': json.dumps(settings(model.url)),
        }

    def test_its_own_session_goes_on(self):
        session = self.server.create(agent='coder')['id']
        self.prompted(session, 'remember TOKEN-17')
        first = self.server.session(session)['acpSessionID']
        self.server.restart()
        self.prompted(session, 'what do you remember?')
        self.assertEqual(self.server.session(session)['acpSessionID'], first)

    def test_its_port_is_closed_to_others(self):
        session = self.server.create(agent='coder')['id']
        self.prompted(session, 'hello')
        ports = [p for pid in children_of(self.server.process.pid) for p in listening_ports(pid)]
        for port in ports:
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f'http://127.0.0.1:{port}/permission', timeout=20)
            self.assertEqual(refused.exception.code, 401)
        self.assertTrue(ports, 'it listens nowhere: the check has become pointless')


if __name__ == '__main__':
    why = install()
    if why:
        leave_out(why)
    main()
