#!/usr/bin/env python3
"""`dormouse archive` of a session that the archive has already: it is only deleted from the store,
although the store may have forgotten meanwhile which webhooks were delivered."""
from dormouse import main, run, wait_for
from webhooks_out import Sent

DAY = 86_400


class Again(Sent):
    demo = True
    more = '''
[[webhook]]
url = "RECEIVER/all"
secret_env = "S_EVENTS"
events = ["turn_ended"]
'''

    def archives(self, *options, status=0, **more):
        done = run('archive', str(self.folder / 'archive'), '--completed-after', '0s', '--data',
                   str(self.server.directory), *options, **more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def files(self):
        return sorted((self.folder / 'archive').glob('*.jsonl.gz'))

    def interrupted(self):
        """Archives a session, which then is in a file and still in the store."""
        session = self.server.create('hello')['id']
        self.server.at_rest(session)
        wait_for(lambda: len(self.deliveries('delivered')) == 1, what='the webhook')
        self.assertStatus(self.server.post(f'/api/sessions/{session}/end'), 200)
        self.archives(status=1, env={'DORMOUSE_TOKEN': 'wrong'})
        return session

    def test_messages_that_are_not_kept_any_longer_are_no_difference(self):
        session = self.interrupted()
        before = self.files()
        self.server.advance(8 * DAY)
        wait_for(lambda: self.deliveries() == [], what='the end of the deliveries')
        self.assertIn('archived 0 sessions, there already 1, deleted from the store 1',
                      self.archives().stdout)
        self.assertEqual(self.files(), before)
        self.assertIn(self.server.get(f'/api/sessions/{session}').status, (404, 410))

    def test_message_that_waits_again_keeps_the_session(self):
        session = self.interrupted()
        (delivery,) = self.deliveries('delivered')
        self.receiver.answer = lambda request: 503
        self.assertStatus(self.server.post(f'/api/deliveries/{delivery["id"]}/retry'), 200)
        self.assertIn('not delivered yet', self.archives(status=1).stderr)
        self.assertEqual(self.server.session(session)['status'], 'completed')


if __name__ == '__main__':
    main()
