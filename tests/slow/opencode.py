#!/usr/bin/env python3
"""opencode itself as a durable agent, with a scripted model: its conversation survives the kill of
the server, its permissions are pending calls, and its own HTTP port is closed to others."""
import base64
import json
import os
import pathlib
import platform
import sys
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / 'agents')]

import npm  # noqa: E402
import real_agent  # noqa: E402
from dormouse import children_of, leave_out, main, wait_for  # noqa: E402

FOLDER = HERE.parent / 'agents'
PROGRAM = FOLDER / 'node_modules/opencode-linux-x64/bin/opencode'


def install():
    """Returns None, or why it is missing."""
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


class OpenCode(real_agent.RealAgent):
    command = (PROGRAM, 'acp', '--pure', '--hostname', '127.0.0.1')

    def variables(self):
        quiet = ('AUTOUPDATE', 'MODELS_FETCH', 'LSP_DOWNLOAD', 'DEFAULT_PLUGINS', 'SHARE')
        return {
            **{f'OPENCODE_DISABLE_{name}': '1' for name in quiet},
            'OPENCODE_CONFIG_CONTENT': json.dumps(settings(self.model.url)),
        }

    def test_its_own_port_is_closed(self):
        session = self.server.create(agent='coder')['id']
        self.permission(session)
        processes = children_of(self.server.process.pid)
        ports = [port for pid in processes for port in listening_ports(pid)]
        for port in ports:
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f'http://127.0.0.1:{port}/permission', timeout=20)
            self.assertEqual(refused.exception.code, 401)
        self.assertTrue(ports, 'it listens nowhere: the check has become pointless')

    def test_input_at_its_own_port_becomes_messages(self):
        session = self.server.create(agent='coder')['id']
        self.prompted(session, 'remember TOKEN-17')
        info = self.assertStatus(self.server.post(f'/api/sessions/{session}/attach'), 200).json
        self.assertEqual(info['command'][1:],
                         ['attach', info['url'], '--session', info['acpSessionID'],
                          '--dir', str(self.work.resolve())])
        (password,) = info['environment'].values()
        key = base64.b64encode(f'opencode:{password}'.encode()).decode()
        time.sleep(1.5)  # input within a second after an answer still belongs to that turn
        body = json.dumps({'parts': [{'type': 'text', 'text': 'remember TOKEN-23'}]}).encode()
        request = urllib.request.Request(
            f'{info["url"]}/session/{info["acpSessionID"]}/message', data=body,
            headers={'Content-Type': 'application/json', 'Authorization': f'Basic {key}'},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            self.assertEqual(answer.status, 200)
        wait_for(lambda: 'TOKEN-23' in self.server.last_text(session), 30, 'what was said there')
        self.assertEqual(self.server.turns(session)[-1]['cause']['type'], 'external')
        (typed,) = [m for m in self.server.messages(session)
                    if m['role'] == 'user' and m['source']['type'] == 'external']
        self.assertEqual(typed['parts'][0]['text'], 'remember TOKEN-23')
        self.assertNotIn(password, self.server.tail())
        self.assertIn('TOKEN-23', self.prompted(session, 'what do you remember?'))


class Sandboxed(OpenCode):
    """In a sandbox that lets it keep its own state and write in its folder only."""

    more = 'sandbox = "bwrap"\n'


def setUpModule():
    if why := install():
        leave_out(why)


if __name__ == '__main__':
    main()
