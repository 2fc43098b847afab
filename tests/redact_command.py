#!/usr/bin/env python3
"""The command redact."""
import json

from dormouse import main, run
from redact import SECRET, Redacting


class CommandLine(Redacting):
    def redact_by_command(self, *arguments):
        where = ['--server', f'http://127.0.0.1:{self.server.port}', '--data',
                 self.server.directory]
        return run('redact', *arguments, *where)

    def test_command_tries_asks_and_removes(self):
        session = self.server.create(f'the key is {SECRET}')['id']
        message = self.server.messages(session)[0]['id']
        tried = self.redact_by_command(session, message, '--dry-run')
        self.assertEqual(tried.returncode, 0, tried.stderr)
        self.assertIn('would be removed: 1 event', tried.stdout)
        ended = self.redact_by_command(session, message)
        self.assertEqual(ended.returncode, 2)
        self.assertIn('--yes', ended.stderr)
        done = self.redact_by_command(session, message, '--yes', '--reason', 'a key')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('removed: 1 event', done.stdout)
        (audited,) = self.server.items('/api/audit?type=redacted')
        self.assertEqual(audited['line']['messageID'], message)
        self.assertEqual(audited['line']['reason'], 'a key')

    def test_several_messages_are_removed_or_none(self):
        session = self.server.create(f'the key is {SECRET}')['id']
        messages = [m['id'] for m in self.server.messages(session)]
        refused = self.redact_by_command(session, *messages, f'{messages[0]}9', '--yes')
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn(SECRET, json.dumps(self.server.messages(session)[0]))
        done = self.redact_by_command(session, *messages, '--yes')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(SECRET.encode(), self.answers(session, []))
        self.assertEqual(len(self.server.items('/api/audit?type=redacted')), len(messages))

    def test_options_name_what_was_set(self):
        session = self.server.create('hi', title=SECRET, labels={'a': SECRET, 'b': 'c'})['id']
        nothing = self.redact_by_command(session, '--yes')
        self.assertEqual(nothing.returncode, 2)
        self.assertIn('--title', nothing.stderr)
        turn = self.server.messages(session)[0]['turnID']
        done = self.redact_by_command(session, turn, '--title', '--label', 'a', '--yes')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count('removed: '), 3)
        self.assertNotIn(SECRET.encode(), self.answers(session, []))
        unknown = self.redact_by_command(session, '--label', 'z', '--yes')
        self.assertNotEqual(unknown.returncode, 0)
        self.assertIn('label z', unknown.stderr)


if __name__ == '__main__':
    main()
