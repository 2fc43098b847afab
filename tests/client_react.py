#!/usr/bin/env python3
"""The React hooks in jsdom, against a real server that is killed."""
import json
import os
import queue
import subprocess
import sys
import threading

import npm
from dormouse import ROOT, Case, environment, leave_out, main

sys.path.insert(0, str(ROOT / 'tests/clients'))

from driven import BUILT, CLIENTS, LIMIT_S, build_typescript, link_packages  # noqa: E402

REACT = CLIENTS / 'react'


def setUpModule():
    for folder in (CLIENTS / 'typescript', REACT):
        if why := npm.install(folder, 'node'):
            leave_out(why)
    build_typescript()
    done = subprocess.run(['npm', 'run', 'build'], cwd=REACT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    link_packages(BUILT / 'react', {'dormouse': CLIENTS / 'typescript', 'dormouse-react': REACT,
                                    **{name: REACT / 'node_modules' / name
                                       for name in ('jsdom', 'react', 'react-dom')}})
    (BUILT / 'react/hooks.mjs').write_bytes((REACT / 'test/hooks.mjs').read_bytes())


class Hooks(Case):
    def page(self, session):
        """A process that shows the session, and the states that it showed."""
        process = subprocess.Popen(
            ['node', BUILT / 'react/hooks.mjs', f'http://127.0.0.1:{self.server.port}',
             self.server.token, session],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment(PATH=os.environ['PATH']))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        states = queue.Queue()
        threading.Thread(target=lambda: [states.put(json.loads(line))
                                         for line in process.stdout if line.strip()],
                         daemon=True).start()
        return process, states

    def until(self, states, is_last):
        seen = []
        while True:
            try:
                seen.append(states.get(timeout=LIMIT_S))
            except queue.Empty:
                raise AssertionError(f'did not come; the newest: {seen[-3:]}') from None
            if is_last(seen[-1]):
                return seen

    def test_page_follows_the_session_across_a_kill(self):
        session = self.server.create('deploy shop')['id']
        process, states = self.page(session)
        asleep = self.until(states, lambda one: one['calls'] and not one['loading'])[-1]
        self.assertEqual(len(asleep['calls']), 1)
        self.assertEqual(asleep['error'], None)
        self.server.restart()
        self.server.result(asleep['calls'][0], {'status': 'live'})
        seen = self.until(states, lambda one: one['activity'] == 'idle' and not one['calls']
                          and 'deploy shop: {"status":"live"}' in one['texts'])
        self.assertEqual(seen[-1]['tools'], ['completed'])
        self.assertEqual(seen[-1]['texts'], ['deploy shop', 'deploy shop: {"status":"live"}'])
        self.assertEqual({one['error'] for one in seen}, {None})
        self.server.prompt(session, 'hello')
        last = self.until(states,
                          lambda one: one['texts'][-1] == 'You said: hello' and not one['draft'])
        self.assertLessEqual({one['draft'] for one in last}, {'', 'You said: hello'})
        process.stdin.write('unmount\n')
        process.stdin.flush()
        self.assertEqual(process.wait(timeout=LIMIT_S), 0)

    def test_new_calls_come_and_settled_ones_leave(self):
        session = self.server.create('deploy A and B')['id']
        process, states = self.page(session)
        two = self.until(states, lambda one: len(one['calls']) == 2)[-1]['calls']
        self.server.result(two[0], 1)
        self.assertEqual(self.until(states, lambda one: len(one['calls']) == 1)[-1]['calls'],
                         [two[1]])
        self.server.result(two[1], 1)
        self.until(states, lambda one: one['calls'] == [])
        self.server.prompt(session, 'deploy C')
        self.assertNotIn(self.until(states, lambda one: one['calls'])[-1]['calls'][0], two)

    def test_unknown_session_is_an_error(self):
        _, states = self.page('ses_AAAAAAF4ZetYZl8rTkQZmg')
        self.until(states, lambda one: one['error'])


if __name__ == '__main__':
    main()
