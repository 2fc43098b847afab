#!/usr/bin/env python3
"""The adapters of agent frameworks, with the frameworks themselves: each example is run while the
program and the server are killed, and then continues."""
import json
import os
import queue
import shutil
import subprocess
import sys
import threading

import npm
from dormouse import ROOT, Case, environment, leave_out, main, wait_for

sys.path.insert(0, str(ROOT / 'tests/clients'))

from driven import BUILT, CLIENTS, LIMIT_S, build_typescript, link_packages  # noqa: E402


def setUpModule():
    if why := npm.install(CLIENTS / 'typescript', 'node'):
        leave_out(why)
    build_typescript()


class Program:
    """An example, and the lines that it has printed."""

    def __init__(self, case, file, *arguments, **more):
        self.process = subprocess.Popen(
            ['node', file, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            env=environment(PATH=os.environ['PATH'], DORMOUSE_TOKEN=case.server.token,
                            DORMOUSE_URL=f'http://127.0.0.1:{case.server.port}', **more))
        self.lines, self.coming, self.errors = [], queue.Queue(), []
        self.threads = [threading.Thread(target=self._read, daemon=True),
                        threading.Thread(target=self._complain, daemon=True)]
        for thread in self.threads:
            thread.start()
        case.addCleanup(self.kill)

    def _read(self):
        for line in self.process.stdout:
            self.coming.put(line.rstrip('\n'))
        self.coming.put(None)

    def _complain(self):
        self.errors.extend(self.process.stderr)

    def until(self, start):
        """The rest of the next line that begins so."""
        while True:
            try:
                line = self.coming.get(timeout=LIMIT_S)
            except queue.Empty:
                raise AssertionError(f'no "{start}" within {LIMIT_S} s: {self}') from None
            if line is None:
                raise AssertionError(f'ended without "{start}": {self}')
            self.lines.append(line)
            if line.startswith(start):
                return line[len(start):].strip()

    def end(self):
        """Its exit status, once it has ended by itself."""
        status = self.process.wait(timeout=LIMIT_S)
        for thread in self.threads:
            thread.join(LIMIT_S)
        while (line := self.coming.get()) is not None:
            self.lines.append(line)
        return status

    def kill(self):
        self.process.kill()
        self.process.wait()
        for thread in self.threads:
            thread.join(LIMIT_S)
        self.process.stdout.close()
        self.process.stderr.close()

    def __str__(self):
        return '\n'.join(self.lines + self.errors)


class Adapter(Case):
    folder = None  # under clients
    modules = []   # of its node_modules that the examples import

    @classmethod
    def setUpClass(cls):
        source = CLIENTS / cls.folder
        if why := npm.install(source, 'node'):
            leave_out(why)
        with npm.locked(source):
            done = subprocess.run(['npm', 'run', 'build'], cwd=source, capture_output=True,
                                  text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        cls.built = BUILT / cls.folder
        # A copy, as npm makes one: Node looks for `dormouse` beside the real folder.
        package = cls.built / f'node_modules/dormouse-{cls.folder}'
        shutil.copytree(source / 'dist', package / 'dist', dirs_exist_ok=True)
        shutil.copy(source / 'package.json', package)
        packages = {'dormouse': CLIENTS / 'typescript'}
        for name in cls.modules:
            (cls.built / 'node_modules' / name).parent.mkdir(exist_ok=True)
            packages[name] = source / 'node_modules' / name
        link_packages(cls.built, packages)
        for file in (*source.glob('example/*.mjs'), *source.glob('test/*.mjs')):
            (cls.built / file.name).write_bytes(file.read_bytes())
        super().setUpClass()

    def start(self, name, *arguments, **more):
        return Program(self, self.built / name, *arguments, **more)

    def crash(self, program):
        """Kills the program and the server; only the server comes back."""
        program.kill()
        self.server.restart()

    def call(self, pending):
        return self.assertStatus(self.server.get(f'/api/pending/{pending}'), 200).json

    def decide(self, pending, approved=True, **more):
        self.assertStatus(self.server.decide(self.call(pending), approved, **more), 200)

    def continues_after_kills(self):
        first = self.start('refund.mjs', 'order-1')
        pending = first.until('waiting for')
        self.crash(first)
        self.decide(pending)
        second = self.start('refund.mjs', 'order-1')
        question = second.until('waiting for')
        self.assertEqual(self.call(question)['message'], 'Which address gets the notice?')
        self.crash(second)
        self.assertStatus(self.server.result(question, 'ann@example.org'), 200)
        third = self.start('refund.mjs', 'order-1')
        self.assertEqual(third.until('output:'), 'refunded 30 euro, notice to ann@example.org')
        self.assertEqual(third.end(), 0)
        for line in ('checking 42', 'refunding 42'):
            self.assertRan(line, 1, first, second, third)

    def assertRan(self, line, times, *programs):
        self.assertEqual([one for p in programs for one in p.lines].count(line), times,
                         '\n---\n'.join(map(str, programs)))


class AISDK(Adapter):
    folder = 'ai-sdk'
    modules = ['ai', '@ai-sdk/react', 'zod']

    def test_run_continues_after_everything_was_killed(self):
        first = self.start('refund.mjs', 'order-1')
        tool, refund = first.until('waiting for').split()
        other, parcel = first.until('waiting for').split()
        if tool != 'refund':
            refund, parcel = parcel, refund
        self.assertEqual({tool, other}, {'refund', 'parcel'})
        self.crash(first)
        self.decide(refund)
        second = self.start('refund.mjs', 'order-1')
        self.assertEqual(second.until('waiting for'), f'parcel {parcel}')
        self.crash(second)
        self.assertStatus(self.server.result(parcel, {'number': 'P1'}), 200)
        third = self.start('refund.mjs', 'order-1')
        self.assertEqual(third.until('output:'), 'parcel: {"number":"P1"}, refund: {"euro":30}')
        self.assertEqual(third.end(), 0)
        self.assertRan('refunding 42', 1, first, second, third)

    def chat(self, port, session, *command):
        program = self.start('chat.mjs', port, session, *command)
        self.assertEqual(program.end(), 0, program)
        return json.loads(program.lines[-1])

    def test_chat_resumes_after_everything_was_killed(self):
        route = self.start('server.mjs', '0')
        port = route.until('listening on')
        session = self.server.create(None)['id']
        page = self.start('chat.mjs', port, session, 'send', 'deploy shop')
        wait_for(lambda: self.server.session(session)['activity']['type'] == 'waiting_async')
        page.kill()
        self.crash(route)
        port = self.start('server.mjs', '0').until('listening on')
        page = self.start('chat.mjs', port, session, 'resume')
        self.server.result(self.server.session(session)['activity']['pendingID'], 'live')
        self.assertEqual(page.end(), 0, page)
        self.assertEqual(json.loads(page.lines[-1]), {
            'status': 'ready', 'error': None,
            'shown': ['user deploy shop', 'assistant step-start', 'assistant output-available',
                      'assistant step-start', 'assistant deploy shop: live']})
        again = self.chat(port, session, 'resume')
        self.assertEqual(again, json.loads(page.lines[-1]))

    def test_approval_in_the_chat_is_a_decision(self):
        port = self.start('server.mjs', '0').until('listening on')
        for command, last in ((['approve'], 'dangerous cleanup: '),
                              (['deny', 'no'], 'dangerous cleanup failed: denied: no')):
            session = self.server.create(None)['id']
            shown = self.chat(port, session, 'send', 'approve cleanup')
            self.assertEqual((shown['status'], shown['shown'][-1]),
                             ('ready', 'assistant approval-requested'))
            shown = self.chat(port, session, *command)
            self.assertEqual((shown['status'], shown['error']), ('ready', None))
            self.assertTrue(shown['shown'][-1].startswith('assistant ' + last), shown)
            self.assertEqual(len(shown['shown']), 5, shown)

    def test_deltas_are_the_reply_once(self):
        port = self.start('server.mjs', '0').until('listening on')
        session = self.server.create(None)['id']
        shown = self.chat(port, session, 'send', 'hello my friend')
        self.assertEqual(shown['shown'], ['user hello my friend', 'assistant step-start',
                                          'assistant You said: hello my friend'])


class Mastra(Adapter):
    folder = 'mastra'
    modules = ['@mastra/core', 'zod']

    def test_run_continues_after_everything_was_killed(self):
        self.continues_after_kills()


class OpenAIAgents(Adapter):
    folder = 'openai-agents'
    modules = ['@openai/agents', 'zod']

    def test_run_continues_after_everything_was_killed(self):
        first = self.start('refund.mjs', 'order-1')
        pending = first.until('waiting for')
        call = self.call(pending)
        self.assertEqual((call['tool'], call['input'], call['reason']),
                         ('refund', {'order': 42, 'euro': 30}, 'approval'))
        self.crash(first)
        self.decide(pending)
        second = self.start('refund.mjs', 'order-1')
        self.assertEqual(second.until('output:'), 'The tool said: refunded 30 euro')
        self.assertEqual(second.end(), 0)
        self.assertRan('refunding 42', 1, first, second)
        self.server.restart()
        third = self.start('refund.mjs', 'order-1')
        self.assertEqual(third.until('output:'), 'The tool said: refunded 30 euro')
        self.assertRan('refunding 42', 0, third)


class LangGraph(Adapter):
    folder = 'langgraph'
    modules = ['@langchain/langgraph', '@langchain/core']

    def test_run_continues_after_everything_was_killed(self):
        self.continues_after_kills()


if __name__ == '__main__':
    main()
