#!/usr/bin/env python3
"""Redaction in an encrypted file of an archive of which a session is damaged: the others are
redacted, it is named, stays as it is, and can be repaired from a copy of the former file."""
import base64
import json

from archive import Archive
from dormouse import main, run

KEY = {'KEY': base64.b64encode(bytes(range(32))).decode()}


class Damaged(Archive):
    def setUp(self):
        super().setUp()
        self.damaged = self.completed('hello other')
        self.session = self.completed('the password is hunter2')
        self.archives('--key-env', 'KEY',
                   env={**KEY, 'HOME': str(self.folder)})
        self.former, _, entries = self.stored()
        self.entry = entries[self.damaged]
        changed = bytearray(self.former)
        changed[self.entry['offset'] + self.entry['bytes'] // 2] ^= 1
        self.piece = self.piece_of(changed, self.entry)
        (file,) = self.archive.glob('*.sealed')
        file.write_bytes(changed)

    def stored(self):
        """The bytes of the only file, its index, and the entries of its sessions."""
        (file,), (index,) = self.archive.glob('*.sealed'), self.archive.glob('*.index.json')
        parsed = json.loads(index.read_text().splitlines()[0])
        return file.read_bytes(), index, {one['id']: one for one in parsed['sessions']}

    def piece_of(self, content, entry):
        return bytes(content[entry['offset']:entry['offset'] + entry['bytes']])

    def command(self, *words, status=0):
        done = run(*words, '--archive', str(self.archive), '--key-env', 'KEY',
                   env={**KEY, 'HOME': str(self.folder)})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def redacts(self, item, session=None, status=0):
        return self.command('redact', session or self.session, item, '--yes', '--reason', 'x',
                            status=status)

    def items(self):
        shown = self.command('show', self.session, '--json').stdout.splitlines()[1]
        return json.loads(shown)['items']

    def test_others_of_the_file_are_redacted_and_it_is_named(self):
        for item in self.items()[:2]:
            done = self.redacts(item['id'])
            self.assertIn(self.damaged, done.stderr)
            self.assertIn('it stays as it is', done.stderr)
        self.assertNotIn('hunter2', self.command('show', self.session).stdout)
        self.assertIn('1 finding', self.command('verify', status=1).stdout)
        self.assertIn('its bytes were changed',
                      self.redacts('msg_zz', self.damaged, status=1).stderr)

    def test_damaged_session_is_repaired_from_a_copy(self):
        self.redacts(self.items()[0]['id'])
        content, _, entries = self.stored()
        after = entries[self.damaged]
        self.assertEqual(self.piece_of(content, after), self.piece)
        self.assertEqual(after['digest'], self.entry['digest'])
        repaired = bytearray(content)
        repaired[after['offset']:after['offset'] + after['bytes']] = self.piece_of(
            self.former, self.entry)
        (file,) = self.archive.glob('*.sealed')
        file.write_bytes(repaired)
        self.assertIn('2 sessions, 0 findings', self.command('verify').stdout)
        self.assertIn('hello other', self.command('show', self.damaged).stdout)

    def test_no_nonce_is_used_twice_with_the_key(self):
        """The number of a piece is its first 8 bytes; the damaged one is the same piece."""
        seen = {}
        messages = self.items()[:2]
        for item in (None, *messages):
            if item:
                self.redacts(item['id'])
            content, index, entries = self.stored()
            starts = [0, *(one['offset'] for one in entries.values())]
            starts.append(max(one['offset'] + one['bytes'] for one in entries.values()))
            titles = base64.b64decode(json.loads(index.read_text().splitlines()[0])['titles'])
            for piece in (*(content[at:at + 60] for at in starts), titles):
                number = bytes(piece[:8])
                self.assertEqual(seen.setdefault(number, bytes(piece[8:60])),
                                 bytes(piece[8:60]))
        self.assertEqual(len(seen), 3 * 5 - 2)

    def test_undamaged_file_gets_another_key(self):
        (file,) = self.archive.glob('*.sealed')
        file.write_bytes(self.former)
        self.redacts(self.items()[0]['id'])
        content, _, entries = self.stored()
        self.assertNotEqual(self.piece_of(content, entries[self.damaged]),
                            self.piece_of(self.former, self.entry))
        self.assertEqual(content[:8], bytes(7) + b'\1')


if __name__ == '__main__':
    main()
