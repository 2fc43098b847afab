#!/usr/bin/env python3
"""The server under a service manager: states by NOTIFY_SOCKET, a socket by LISTEN_FDS, secrets by
CREDENTIALS_DIRECTORY. systemd itself is not needed."""
import http.client
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import unittest

from dormouse import BINARY, READY_LIMIT_S, ROOT, STOP_LIMIT_S, environment, main


class UnderAServiceManager(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix='dormouse-service-')
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.manager.close)
        self.manager.bind(str(self.folder / 'notify'))
        self.manager.settimeout(READY_LIMIT_S)

    def start(self, listener, **more):
        """Starts the server with `listener` as descriptor 3."""
        kept = os.dup(listener.fileno())
        command = f'exec 3<&{kept}; LISTEN_PID=$$ exec "$@"'
        server = subprocess.Popen(
            ['bash', '-c', command, 'bash', BINARY, 'serve', '--no-config', '--data',
             self.folder / 'data'],
            env=environment(NOTIFY_SOCKET=str(self.folder / 'notify'), LISTEN_FDS='1', **more),
            pass_fds=[kept], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        os.close(kept)
        self.addCleanup(lambda: (server.kill(), server.communicate()))
        return server

    def next_state(self):
        """Returns the next message that does not only report that the server is alive."""
        while (message := self.manager.recv(4096).decode()) == 'WATCHDOG=1':
            pass
        return message.splitlines()[0]

    def test_states_are_reported_and_the_socket_is_served(self):
        listener = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(listener.close)
        port = listener.getsockname()[1]
        secrets = self.folder / 'secrets'
        secrets.mkdir()
        (secrets / 'dormouse_DORMOUSE_TOKEN').write_text('dm_of_a_credential_file_0123456789\n')
        server = self.start(listener, WATCHDOG_USEC='10000000', CREDENTIALS_DIRECTORY=str(secrets))
        self.assertEqual(self.manager.recv(4096), b'WATCHDOG=1')
        self.assertEqual(self.next_state(), 'READY=1')
        self.assertEqual(server.stdout.readline(), f'ready http://127.0.0.1:{port}\n')
        client = http.client.HTTPConnection('127.0.0.1', port, timeout=READY_LIMIT_S)
        self.addCleanup(client.close)
        client.request('GET', '/api/me', headers={
            'Authorization': 'Bearer dm_of_a_credential_file_0123456789'})
        answer = client.getresponse()
        self.assertEqual(answer.status, 200, answer.read())
        server.send_signal(signal.SIGHUP)
        self.assertEqual([self.next_state() for _ in range(2)], ['RELOADING=1', 'READY=1'])
        server.send_signal(signal.SIGTERM)
        self.assertEqual(self.next_state(), 'STOPPING=1')
        self.assertEqual(server.wait(STOP_LIMIT_S), 0)

    def test_socket_of_another_kind_is_refused(self):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(listener.close)
        server = self.start(listener)
        _, output = server.communicate(timeout=READY_LIMIT_S)
        self.assertEqual(server.returncode, 2, output)
        self.assertIn('ListenStream=ADDRESS:PORT', output)

    def test_socket_beyond_loopback_needs_tls_or_a_proxy(self):
        listener = socket.create_server(('0.0.0.0', 0))
        self.addCleanup(listener.close)
        server = self.start(listener)
        _, output = server.communicate(timeout=READY_LIMIT_S)
        self.assertIn('--insecure', output)
        self.assertEqual(server.returncode, 6, output)

    def test_units_restart_only_after_what_a_restart_can_repair(self):
        table = (ROOT / 'docs/reference/cli.md').read_text().split('## Exit status')[1]
        documented = {int(one) for one in re.findall(r'(?m)^\| (\d+) \|', table)}
        for unit in ('dormouse.service', 'dormouse@.service'):
            text = (ROOT / 'packaging/systemd' / unit).read_text()
            (prevents,) = re.findall(r'(?m)^RestartPreventExitStatus=(.*)$', text)
            # A mistake in the configuration, not allowed, data of a newer release.
            self.assertEqual(prevents.split(), ['2', '6', '9'], unit)
            self.assertLessEqual({int(one) for one in prevents.split()}, documented)


if __name__ == '__main__':
    main()
