#!/usr/bin/env python3
"""An event stream that is silent gets a comment every 15 s, so that nobody in between closes it."""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from dormouse import Case, Events, main  # noqa: E402


class Heartbeat(Case):
    def test_a_silent_stream_gets_a_comment(self):
        session = self.server.create()['id']
        begin = time.monotonic()
        with Events(self.server, f'/api/sessions/{session}/events', 1, timeout=20) as stream:
            received = stream.buffer
            while not received.endswith(b':\n\n'):
                received += stream.socket.recv(65536)
        self.assertEqual(received, b'retry: 1000\n\n:\n\n', 'a comment is no event')
        self.assertTrue(13 < time.monotonic() - begin < 18)


if __name__ == '__main__':
    main()
