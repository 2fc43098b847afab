"""Starts the examples of the adapters (clients/ai-sdk, clients/langgraph, …) against a server."""
import os
import queue
import subprocess
import threading

import npm
from dormouse import Case, environment, leave_out
from driven import CLIENTS, LIMIT_S, build_typescript


def build_client():
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


class Starts(Case):
    built = None  # a folder that finds the packages

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

    def cancelled_question(self):
        first = self.start('refund.mjs', 'order-1')
        self.decide(first.until('waiting for'))
        pending = first.until('waiting for')
        self.assertStatus(self.server.delete(f'/api/pending/{pending}?reason=nobody+is+here'), 200)
        second = self.start('refund.mjs', 'order-1')
        for program in (first, second):
            self.assertEqual(program.end(), 1, program)
            self.assertIn('"Which address gets the notice?" has no answer: nobody is here',
                          ''.join(program.errors))
        self.assertRan('refunding 42', 1, first, second)

    def denied(self):
        """The example, after a denial: the tool never runs, and the output says why."""
        program = self.start('refund.mjs', 'order-1')
        self.decide(program.until('waiting for'), False, reason='not on a Friday')
        output = program.until('output:')
        self.assertEqual(program.end(), 0)
        self.assertRan('refunding 42', 0, program)
        return output

    def assertRan(self, line, times, *programs):
        self.assertEqual([one for p in programs for one in p.lines].count(line), times,
                         '\n---\n'.join(map(str, programs)))


class Adapter(Starts):
    folder = None  # under clients

    @classmethod
    def setUpClass(cls):
        source = CLIENTS / cls.folder
        if why := npm.install(source, 'node'):
            leave_out(why)
        with npm.locked(source):
            done = subprocess.run(['npm', 'run', 'build'], cwd=source, capture_output=True,
                                  text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        cls.built = source / 'example'
        super().setUpClass()

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
