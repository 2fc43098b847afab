#!/usr/bin/env python3
"""`dormouse redact --archive` removes content from the files of an archive."""
import gzip
import json
import subprocess

from archive import Archive
from dormouse import BINARY, environment, main, run, wait_for


class Redacted(Archive):
    def message(self, session):
        listed = json.loads(self.read('show', session, '--json').stdout.splitlines()[1])
        return listed['items'][0]['id']

    def redacts(self, session, *options, status=0):
        done = run('redact', session, *options, '--archive', str(self.archive), '--reason',
                   'a password')
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def holds(self, text):
        return any(text.encode() in gzip.decompress(file.read_bytes()) for file in self.files())

    def test_message_goes_from_the_file_and_others_stay(self):
        session = self.completed('the password is hunter2')
        other = self.completed('hello other')
        self.archives()
        (before,) = self.files()
        shown = self.shown(other)
        message = self.message(session)
        done = self.redacts(session, message, '--dry-run')
        self.assertIn('would be removed: 1 event', done.stdout)
        self.assertIn('there is no terminal', self.redacts(session, message, status=2).stderr)
        self.assertEqual(self.files(), [before])
        done = self.redacts(session, message, '--yes', '--json')
        self.assertGreater(json.loads(done.stdout)['seq'], 0)
        answer = json.loads(self.read('show', session, '--json').stdout.splitlines()[1])
        self.redacts(session, answer['items'][-1]['id'], '--yes')
        self.assertFalse(self.holds('hunter2'))
        audit = [json.loads(line) for line in (self.archive / 'audit.jsonl').open()]
        self.assertEqual([(one['type'], one['sessionID'], one['reason']) for one in audit],
                         [('redacted', session, 'a password')] * 2)
        self.assertEqual(audit[0]['messageID'], message)
        (after,) = self.files()
        self.assertNotEqual(before, after)
        self.assertEqual(len(self.files('.index.json')), 1)
        self.assertIn('[removed by', self.read('show', session).stdout)
        self.assertNotIn('hunter2', self.read('sessions').stdout)
        self.assertEqual(self.shown(other), shown)
        self.assertIn('2 sessions, 0 findings', self.read('verify').stdout)
        self.file.write_text(self.read('export', session, other).stdout)
        (line,) = [json.loads(one) for one in gzip.decompress(after.read_bytes()).splitlines()
                   if b'"end"' in one and b'session_end' not in one]
        self.assertEqual(line['sessions'], 2)
        self.assertEqual(sorted(self.imports().stdout.split()), sorted([session, other]))
        self.verified()
        copy = self.served()
        (event,) = [e for e in copy.events(session) if e['type'] == 'redacted'][:1]
        self.assertEqual(event['data']['reason'], 'a password')
        copy.finish()

    def redacted_with_the_former_index(self):
        """The index of before a redaction names data that was removed."""
        session = self.completed('the password is hunter2')
        self.archives()
        (index,) = self.files('.index.json')
        former = index.read_bytes()
        self.redacts(session, self.message(session), '--yes')
        (data,) = self.files()
        return session, index, former, data

    def test_former_index_does_not_remove_the_newer_file(self):
        _, index, former, data = self.redacted_with_the_former_index()
        index.write_bytes(former)
        self.completed('another')
        self.archives()
        self.assertTrue(data.exists())
        self.assertIn('its index has 1 session', self.read('verify', status=1).stderr)

    def test_lost_index_does_not_give_its_name_to_another_file(self):
        _, index, _, data = self.redacted_with_the_former_index()
        current = index.read_bytes()
        index.unlink()
        for text in ('one', 'two'):
            self.completed(text)
            self.archives()
        self.assertTrue(data.exists())
        index.write_bytes(current)
        self.assertIn('3 sessions, 0 findings', self.read('verify').stdout)

    def test_other_state_with_as_many_events_is_written_too(self):
        session = self.completed('the password is hunter2')
        self.archives()
        first, last = [one['id'] for one in json.loads(
            self.read('show', session, '--json').stdout.splitlines()[1])['items']][:2]
        done = run('archive', str(self.archive), '--restore', session, '--data',
                   str(self.server.directory))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.redacts(session, first, '--yes')
        path = f'/api/sessions/{session}/redactions'
        self.assertStatus(self.server.post(path, {'messageID': last, 'reason': 'x'}), 200)
        self.assertIn('archived 1 session', self.archives().stdout)
        shown = json.loads(self.read('show', session, '--json').stdout.splitlines()[1])['items']
        self.assertIn('[removed', json.dumps([one for one in shown if one['id'] == last]))

    def test_damaged_file_is_refused_and_stays(self):
        session = self.completed('the password is hunter2')
        self.archives()
        message = self.message(session)
        (file,) = self.files()
        changed = bytearray(file.read_bytes())
        changed[-30] ^= 1
        file.write_bytes(changed[:-1])
        self.assertIn('bytes instead of', self.redacts(session, message, '--yes', status=1).stderr)
        changed[len(changed) // 2] ^= 1
        file.write_bytes(changed)
        self.assertIn('its bytes were changed',
                      self.redacts(session, message, '--yes', status=1).stderr)
        self.assertEqual(file.read_bytes(), bytes(changed))
        self.assertEqual(self.files(), [file])

    def test_damaged_session_does_not_block_the_others_of_its_file(self):
        damaged = self.completed('hello other')
        session = self.completed('the password is hunter2')
        self.archives()
        message = self.message(session)
        (file,) = self.files()
        (index,) = self.files('.index.json')
        entries = {one['id']: one
                   for one in json.loads(index.read_text().splitlines()[0])['sessions']}
        entry = entries[damaged]
        changed = bytearray(file.read_bytes())
        changed[entry['offset'] + entry['bytes'] // 2] ^= 1
        file.write_bytes(changed)
        piece = bytes(changed[entry['offset']:entry['offset'] + entry['bytes']])
        self.redacts(session, message, '--yes')
        self.assertIn('[removed by', self.read('show', session).stdout)
        (after,) = self.files()
        self.assertIn(piece, after.read_bytes())
        self.assertIn('its bytes were changed', self.read('show', damaged, status=1).stderr)
        self.assertIn('1 finding', self.read('verify', status=1).stdout)
        self.assertIn('its bytes were changed',
                      self.redacts(damaged, 'msg_zz', '--yes', status=1).stderr)

    def test_ids_that_are_not_there_change_nothing(self):
        session = self.completed('hello')
        self.archives()
        (file,) = self.files()
        for what, text, status in (('msg_zz', 'was not found', 1), ('call_9', 'was not found', 1),
                                   ('hello', 'is no id of what redact removes', 2)):
            self.assertIn(text, self.redacts(session, what, '--yes', status=status).stderr)
        self.assertIn('is not in the archive', self.redacts('ses_zzzz', 'call_1', '--yes',
                                                            status=1).stderr)
        self.assertEqual(self.files(), [file])

    def test_kill_before_the_index_is_in_its_place_is_finished_first(self):
        session = self.completed('the password is hunter2')
        self.archives()
        (data,), (index,) = self.files(), self.files('.index.json')
        former = {file: file.read_bytes() for file in (data, index)}
        message = self.message(session)
        self.redacts(session, message, '--yes')
        index.rename(f'{index}.new')
        for file, content in former.items():
            file.write_bytes(content)
        self.assertEqual(len(self.files()), 2)
        self.redacts(session, message, '--yes')
        self.assertNotIn(data, self.files())
        self.assertEqual(len(self.files()), 1)
        self.assertIn('1 session, 0 findings', self.read('verify').stdout)

    def test_kill_leaves_the_former_file_or_the_new_one(self):
        session = self.completed('the password is hunter2')
        self.archives()
        message = self.message(session)
        for _ in range(5):
            process = subprocess.Popen(
                [BINARY, 'redact', session, message, '--yes', '--archive', str(self.archive)],
                env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_for(lambda process=process: self.files('.new') or process.poll() is not None,
                     what='a file')
            process.kill()
            process.wait()
            self.assertIn('1 session, 0 findings', self.read('verify').stdout)
        self.redacts(session, message, '--yes')
        self.assertEqual(len(self.files()), 1)


if __name__ == '__main__':
    main()
