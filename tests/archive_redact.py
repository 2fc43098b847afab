#!/usr/bin/env python3
"""`dormouse redact --archive` removes content from the files of an archive."""
import gzip
import http.client
import http.server
import json
import os
import subprocess
import threading

import postgres
from archive import Archive
from dormouse import BINARY, Server, environment, main, run, wait_for


class Redacting(Archive):
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


class Redacted(Redacting):
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


class Deleting:
    """A proxy that calls `before` before the deletion of a session reaches the server."""

    def __init__(self, server, before):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.command == 'DELETE':
                    before()
                headers = {name: value for name, value in self.headers.items()
                           if name.lower() not in ('host', 'connection')}
                body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
                connection = http.client.HTTPConnection('127.0.0.1', server.port)
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                content = answer.read()
                connection.close()
                self.send_response(answer.status)
                for name in ('Content-Type', 'Dormouse-Version'):
                    if name in answer.headers:
                        self.send_header(name, answer.headers[name])
                self.send_header('Content-Length', str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_DELETE = do_GET

            def log_message(self, *_):
                pass

        self.proxy = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.proxy.server_address[1]}'
        threading.Thread(target=self.proxy.serve_forever, daemon=True).start()

    def close(self):
        self.proxy.shutdown()
        self.proxy.server_close()


class Meanwhile(Redacting):
    """The server redacts a session of which the archive has a copy."""

    def redacts_in_the_store(self, session):
        path = f'/api/sessions/{session}/redactions'
        for item in self.server.messages(session):
            self.assertStatus(self.server.post(path, {'messageID': item['id'], 'reason': 'x'}), 200)

    def test_redaction_before_the_deletion_leaves_no_copy(self):
        session = self.completed('the password is hunter2')
        other = self.completed('hello other')
        redacted = []

        def redact_once():
            if not redacted:
                redacted.append(self.redacts_in_the_store(session))

        proxy = Deleting(self.server, redact_once)
        self.addCleanup(proxy.close)
        done = self.archives('--server', proxy.url, status=1,
                             env={'DORMOUSE_TOKEN': self.server.token})
        self.assertTrue(redacted)
        self.assertIn(f'left: {session}: it was redacted while it was archived', done.stderr)
        self.assertFalse(self.holds('hunter2'))
        self.assertFalse(self.gone(session))
        self.assertTrue(self.gone(other))
        self.assertIn('hello other', self.read('show', other).stdout)
        self.assertIn('archived 1 session', self.archives().stdout)
        self.assertIn('[removed by', self.read('show', session).stdout)
        self.assertIn('2 sessions, 0 findings', self.read('verify').stdout)

    def test_redaction_after_an_interrupted_run_reaches_the_file(self):
        session = self.completed('the password is hunter2')
        self.archives(status=1, env={'DORMOUSE_TOKEN': 'wrong'})
        self.assertTrue(self.holds('hunter2'))
        self.redacts_in_the_store(session)
        self.assertIn('archived 1 session', self.archives().stdout)
        self.assertFalse(self.holds('hunter2'))
        self.assertTrue(self.gone(session))
        self.assertIn('1 session, 0 findings', self.read('verify').stdout)

    def restores(self, session):
        done = run('archive', str(self.archive), '--restore', session, '--data',
                   str(self.server.directory))
        self.assertEqual(done.returncode, 0, done.stderr)

    def restored_and_redacted(self, *options):
        session = self.completed('the password is hunter2')
        self.archives(*options)
        self.restores(session)
        self.redacts_in_the_store(session)
        self.archives(*options, after='90d')
        self.assertFalse(self.holds('hunter2'))
        self.assertEqual(self.files() + self.files('.index.json'), [])
        self.archives(*options)
        self.assertIn('[removed by', self.read('show', session).stdout)

    def test_redaction_of_a_restored_session_reaches_the_file(self):
        self.restored_and_redacted()

    def test_redaction_in_a_database_reaches_the_file(self):
        postgres.needed()
        url = postgres.cluster().url('t_' + os.urandom(6).hex())
        server = Server('--store', url, '--relaxed', start=False)
        server.store = None
        self.addCleanup(server.clean)
        original, self.server = self.server, server.start()
        wait_for(lambda: server.get('/readyz').status == 200, what='readiness')
        self.restored_and_redacted('--store', url)
        server.term()
        self.server = original

    def test_copy_that_could_not_be_removed_is_tried_again(self):
        """Its session is archived again meanwhile, so only the files say what was redacted."""
        session, other = self.completed('the password is hunter2'), self.completed('hello other')
        self.archives()
        (former,) = self.files()
        self.restores(session)
        self.redacts_in_the_store(session)
        whole = former.read_bytes()
        former.write_bytes(whole + b'\0')
        for _ in range(2):  # the first one archives the session again
            self.assertIn('bytes instead of', self.archives(status=1).stderr)
            self.assertTrue(self.gone(session))
            self.assertEqual(len(self.files()), 2)
        former.write_bytes(whole)
        self.assertTrue(self.holds('hunter2'))
        self.archives(after='90d')
        self.assertFalse(self.holds('hunter2'))
        self.assertIn('[removed by', self.read('show', session).stdout)
        self.assertIn('hello other', self.read('show', other).stdout)
        self.assertIn('2 files, 2 sessions, 0 findings', self.read('verify').stdout)

    def test_former_copy_with_the_same_redaction_stays(self):
        session = self.completed('the password is hunter2')
        self.archives()
        self.restores(session)
        title = {'title': 'other'}
        self.assertStatus(self.server.call('PATCH', f'/api/sessions/{session}', title), 200)
        self.archives()
        self.redacts(session, self.message(session), '--title', '--yes')
        before = self.files()
        self.assertEqual(len(before), 2)
        self.archives(after='90d')
        self.assertEqual(self.files(), before)

    def test_unchanged_copy_stays(self):
        session = self.completed('hello')
        self.archives()
        self.restores(session)
        before = self.files()
        self.archives(after='90d')
        self.assertEqual(self.files(), before)

    def redacted_archived_and_restored(self):
        """Returns a session of which the archive has a copy with its redaction, and a message."""
        session = self.completed('the password is hunter2')
        first, last = [item['id'] for item in self.server.messages(session)][:2]
        self.redacts_one(session, first)
        self.archives()
        self.restores(session)
        return session, last

    def redacts_one(self, session, message):
        path = f'/api/sessions/{session}/redactions'
        self.assertStatus(self.server.post(path, {'messageID': message, 'reason': 'x'}), 200)

    def test_copy_of_a_redacted_session_stays_after_a_restore(self):
        session, _ = self.redacted_archived_and_restored()
        before = self.files()
        self.archives(after='90d')
        self.assertEqual(self.files(), before)
        self.assertIn('[removed by', self.read('show', session).stdout)

    def test_redaction_after_the_restore_removes_the_copy(self):
        session, message = self.redacted_archived_and_restored()
        self.redacts_one(session, message)
        self.archives(after='90d')
        self.assertEqual(self.files(), [])

    def test_redactions_of_both_sides_with_the_same_number(self):
        """The store's removed something else than the archive's, so the copy still has it."""
        session = self.completed('the password is hunter2')
        first, last = [item['id'] for item in self.server.messages(session)][:2]
        self.archives()
        self.restores(session)
        self.redacts(session, last, '--yes')
        self.redacts_one(session, first)
        self.assertTrue(self.holds('hunter2'))
        self.archives(after='90d')
        self.assertEqual(self.files(), [])


class Forks(Redacting):
    def fork(self, session):
        made = self.assertStatus(self.server.post(f'/api/sessions/{session}/fork', {}), 201)
        self.server.at_rest(made['id'])
        return made['id']

    def family(self, end_first=True):
        """A session with a secret, its fork, and the fork of that, which are completed."""
        first = self.server.create('the password is hunter2')['id']
        self.server.at_rest(first)
        title = {'title': 'of customer hunter3'}
        self.assertStatus(self.server.call('PATCH', f'/api/sessions/{first}', title), 200)
        second = self.fork(first)
        third = self.fork(second)
        for session in [first] * end_first + [second, third]:
            self.end(session)
        return first, second, third

    def prompt_of(self, session):
        return self.server.messages(session)[0]['id']

    def redacts_with_forks(self, session, *options, status=0):
        return self.redacts(session, *options, '--forks', '--yes', status=status)

    def test_message_goes_from_forks_too(self):
        first, second, third = self.family()
        other = self.completed('hello other')
        message, answer = [one['id'] for one in self.server.messages(first)][:2]
        self.archives()
        shown = self.shown(other)
        done = self.redacts(first, message, '--forks', '--dry-run')
        self.assertIn(f'fork {second} {message}: would be removed there, too', done.stdout)
        self.assertTrue(self.holds('hunter2'))
        done = self.redacts_with_forks(first, message, answer)
        for fork in (second, third):
            self.assertIn(f'fork {fork} {message}: removed there, too', done.stdout)
            self.assertIn('[removed by', self.read('show', fork).stdout)
        self.assertFalse(self.holds('hunter2'))
        self.assertTrue(self.holds('hunter3'))
        self.redacts_with_forks(first, '--title')
        self.assertFalse(self.holds('hunter3'))
        self.assertEqual(self.shown(other), shown)
        self.assertIn('4 sessions, 0 findings', self.read('verify').stdout)
        audit = [json.loads(line) for line in (self.archive / 'audit.jsonl').open()]
        self.assertLessEqual({first, second, third}, {one['sessionID'] for one in audit})
        again = self.redacts_with_forks(first, message, '--json')
        self.assertEqual({copy['sessionID'] for copy in json.loads(again.stdout)['copies']},
                         {second, third})

    def test_fork_names_its_original_and_other_forks(self):
        first, second, third = self.family()
        message = self.prompt_of(first)
        self.archives()
        self.redacts_with_forks(third, message)
        for session in (first, second, third):
            self.assertIn('[removed by', self.read('show', session).stdout)

    def test_session_that_is_in_the_store_still(self):
        first, second, third = self.family(end_first=False)
        message, answer = [one['id'] for one in self.server.messages(first)][:2]
        self.archives()
        self.assertIn('is not in the archive',
                      self.redacts(first, message, '--yes', status=1).stderr)
        done = self.redacts_with_forks(first, message, answer)
        self.assertIn(f'fork {third} {message}: removed there, too', done.stdout)
        self.redacts_with_forks(first, '--title')
        self.assertFalse(self.holds('hunter2') or self.holds('hunter3'))
        self.assertIn('only messages, calls, turns, --title',
                      self.redacts_with_forks(first, '--alias', status=1).stderr)
        self.assertIn('no fork of it that has it',
                      self.redacts_with_forks(first, 'call_1', status=1).stderr)
        lonely = self.completed('hello')
        self.assertIn('no fork of it that has it',
                      self.redacts_with_forks(lonely, self.prompt_of(lonely), status=1).stderr)
        self.assertIn('2 sessions, 0 findings', self.read('verify').stdout)

    def archived_forks_of_a_deploy(self):
        """The forks of a session that is in the store still, which has two calls in two turns."""
        first = self.server.create('deploy hunter4')['id']
        for output in ('hunter5', 'hunter6'):
            (call,) = self.server.open_calls(first)
            self.assertStatus(self.server.result(call['id'], output), 200)
            self.server.at_rest(first)
            if output == 'hunter5':
                self.server.prompt(first, 'deploy B')
        second = self.fork(first)
        third = self.fork(second)
        for session in (second, third):
            self.end(session)
        self.archives()
        return first, (second, third), call['id']

    def test_call_of_a_session_that_is_in_the_store_still(self):
        first, forks, pending = self.archived_forks_of_a_deploy()
        done = self.redacts_with_forks(first, pending, '--json')
        copies = json.loads(done.stdout)['copies']
        self.assertEqual({copy['sessionID'] for copy in copies}, set(forks))
        self.assertEqual(json.loads(done.stdout)['callID'], 'call_2')
        outputs = [part['state']['output'] for message in self.messages_of(forks[1])
                   for part in message['parts'] if part['type'] == 'tool']
        self.assertEqual(outputs[0], 'hunter5')
        self.assertIn('[removed by', outputs[1])
        again = self.redacts_with_forks(first, 'call_2', '--json')
        self.assertEqual(json.loads(again.stdout)['copies'], copies)
        part = self.messages_of(forks[0])[1]['parts'][0]['id']
        self.redacts_with_forks(first, part)
        outputs = [part['state']['output'] for message in self.messages_of(forks[1])
                   for part in message['parts'] if part['type'] == 'tool']
        self.assertIn('[removed by', outputs[0])
        self.assertIn('2 sessions, 0 findings', self.read('verify').stdout)

    def test_turn_of_a_session_that_is_in_the_store_still(self):
        first, forks, _ = self.archived_forks_of_a_deploy()
        turn = self.server.turns(first)[0]['id']
        self.redacts_with_forks(first, turn)
        self.assertFalse(self.holds('hunter4') or self.holds('hunter5'))
        for fork in forks:
            texts = json.dumps(self.messages_of(fork))
            self.assertIn('hunter6', texts)
            self.assertIn('deploy B', texts)
        self.assertIn('2 sessions, 0 findings', self.read('verify').stdout)

    def messages_of(self, session):
        return json.loads(self.read('show', session, '--json').stdout.splitlines()[1])['items']


if __name__ == '__main__':
    main()
