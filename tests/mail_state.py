#!/usr/bin/env python3
"""The delivery of mail from outside: its status, its time to live, other projects, and doctor."""
import pathlib
import tempfile

from dormouse import Client, main, run, wait_for
from mail import Mail


class State(Mail):
    def sent(self, session, query=''):
        answer = self.assertStatus(self.server.get(f'/api/mail?sessionID={session}{query}'), 200)
        return answer.json

    def hanging(self, project='default'):
        return self.assertStatus(self.server.get(f'/api/mail?project={project}'), 200)['items']

    def fates(self, mail, query=''):
        answer = self.assertStatus(self.server.get(f'/api/mail/{mail}{query}'), 200)
        return {one['sessionID']: one['status'] for one in answer['receivers']}

    def held(self):
        """Returns quarantined mail: the 17th of a loop. Released, it causes no further one."""
        text = 'enough'
        for i in range(17):
            text = f'tell {"alice" if i % 2 == 0 else "bob"} {text}'
        self.server.prompt(self.names['alice'], 'tell bob ' + text.split(' ', 2)[2])

        def held():
            return [one for one in self.hanging() if one['status'] == 'quarantined']

        return wait_for(held, what='a quarantined mail')

    def test_sender_sees_the_status_of_each_mail(self):
        alice, bob, carol = (self.named(name) for name in ('alice', 'bob', 'carol'))
        self.server.prompt(carol, 'sleepy 700ms', wait=0)
        self.server.post(f'/api/sessions/{bob}/end', {})
        body = {'from': alice, 'to': ['carol', bob], 'text': 'hello', 'resume': False}
        mail = self.assertStatus(self.mail(**body), 202)['id']
        wait_for(lambda: self.fates(mail) == {carol: 'delivered', bob: 'failed'},
                 what='both reports')
        self.server.restart()
        wait_for(lambda: self.fates(mail)[carol] == 'read', what='it is read')
        (item,) = self.sent(alice)['items']
        self.assertEqual((item['id'], item['receivers'], item['failed']), (mail, 2, 1))
        self.assertEqual(item['text'], 'hello')
        # Mail from a person too.
        quiet = self.mail(to='alice', text='by the way', resume=False)['id']
        self.assertEqual(self.fates(quiet), {alice: 'delivered'})
        self.assertProblem(self.server.get('/api/mail/mail_x'), 404, 'not_found')
        self.assertProblem(self.server.get(f'/api/mail/{mail[:-1]}99'), 404, 'not_found')

    def test_pages_of_mail_and_of_receivers(self):
        alice = self.named('alice')
        others = [self.named(f'n{i}') for i in range(5)]
        ids = []
        for i in range(3):
            body = {'from': alice, 'text': f'number {i}', 'resume': False}
            ids.append(self.assertStatus(self.mail(**body), 202)['id'])
        first = self.sent(alice, '&limit=2')
        self.assertEqual([one['id'] for one in first['items']], [ids[2], ids[1]])
        rest = self.sent(alice, f'&limit=2&cursor={first["next"]}')
        self.assertEqual([one['id'] for one in rest['items']], [ids[0]])
        self.assertIsNone(rest['next'])
        found, after = [], 0
        while after is not None:
            page = self.server.get(f'/api/mail/{ids[0]}?limit=2&after={after}').json
            self.assertLessEqual(len(page['receivers']), 2)
            found += [one['sessionID'] for one in page['receivers']]
            after = page['next']
        self.assertEqual(sorted(found), sorted(others))
        bad = self.server.get(f'/api/mail?sessionID={alice}&cursor=mail_x')
        self.assertProblem(bad, 400, 'bad_cursor')

    def test_held_mail_is_listed_until_it_is_read(self):
        self.names = {name: self.named(name) for name in ('alice', 'bob')}
        (item,) = self.held()
        self.assertEqual(item['status'], 'quarantined')
        self.assertEqual(self.hanging('other'), [])
        self.server.restart()
        (found,) = self.server.get('/api/doctor')['blocked']
        self.assertEqual(found['sessionID'], item['to']['sessionID'])
        self.assertIn(item['id'], found['why'])
        self.assertEqual(found['next'], f'release it: dormouse release {item["id"]}')
        self.assertEqual(self.fates(item['id']), {item['to']['sessionID']: 'quarantined'})
        self.assertEqual(self.server.get('/api/deliveries').json['items'], [])
        self.server.post(f'/api/mail/{item["id"]}/release', {})
        wait_for(lambda: not self.hanging(), what='nothing hangs')
        self.assertEqual(self.server.get('/api/doctor')['blocked'], [])
        self.held()
        for session in self.names.values():
            self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        self.assertEqual(self.hanging(), [], 'what lay in a session that is deleted')

    def test_command_line(self):
        self.names = {name: self.named(name) for name in ('alice', 'bob')}

        def dm(*words):
            url = f'http://127.0.0.1:{self.server.port}'
            return run(*words, '--server', url, '--data', self.server.directory)

        self.assertEqual(dm('sent').stdout, 'nothing\n')
        output = dm('mail', 'bob', 'soon', '--from', 'alice', '--quiet', '--ttl', '1h').stdout
        self.assertIn('bob: delivered', output)
        (item,) = self.sent(self.names['alice'])['items']
        self.assertIn(item['id'], dm('sent', self.names['alice']).stdout)
        self.assertIn('bob: delivered', dm('sent', item['id']).stdout)
        self.assertEqual(item['expires'] - item['time']['created'], 3_600_000)
        (held,) = self.held()
        self.assertIn(f'{held["id"]}  from', dm('sent').stdout)
        self.assertIn(held['id'], dm('doctor').stdout)


class TimeToLive(Mail):
    def test_unread_it_expires_and_its_sender_is_notified(self):
        alice, bob = self.named('alice'), self.named('bob')
        self.server.prompt(bob, 'deploy A')
        body = {'from': alice, 'to': 'bob', 'text': 'lunch?', 'ttl': 1_500}
        mail = self.assertStatus(self.mail(**body), 202)['id']
        self.assertEqual(self.inbox(bob)['items'][0]['status'], 'delivered')
        self.server.restart()

        def bounces():
            return [e for e in self.server.events(alice) if e['type'] == 'mail_bounced']

        (bounce,) = wait_for(bounces, what='the bounce')
        self.assertEqual(bounce['data']['error']['code'], 'expired')
        self.assertEqual(self.server.session(alice)['activity']['type'], 'idle')
        (item,) = self.inbox(bob)['items']
        self.assertEqual(item['status'], 'expired')
        self.assertEqual(len(self.inbox(bob, '?status=expired')['items']), 1)
        state = self.server.get(f'/api/mail/{mail}')['receivers'][0]
        self.assertEqual(state['status'], 'expired')
        (call,) = self.server.open_calls(bob)
        self.server.result(call['id'], 'live')
        self.server.at_rest(bob)
        self.assertEqual(self.replies(bob)[-1], 'deploy A: live', 'it has not read it')
        self.server.prompt(alice, 'hello')
        texts = str(self.server.messages(alice))
        self.assertIn('could not be delivered: The mail expired unread', texts)

    def test_read_in_time_it_is_an_ordinary_mail(self):
        bob = self.named('bob')
        self.assertStatus(self.mail(to='bob', text='now', ttl=60_000), 202)
        self.wait_reply(bob, 'You said: now')
        self.assertEqual(self.inbox(bob)['items'][0]['status'], 'read')


class OtherProjects(Mail):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='dormouse-mail-')
        self.addCleanup(folder.cleanup)
        config = pathlib.Path(folder.name, 'd.toml')
        config.write_text('[server]\ndemo = true\n[[project]]\nid = "default"\nmail_to = ["ops"]\n')
        self.arguments = ('--config', str(config))
        super().setUp()

    def test_other_project_needs_an_explicit_right(self):
        alice = self.named('alice')
        oscar = self.named('oscar', project='ops')
        eve = self.named('eve', project='elsewhere')
        for to in (oscar, 'ops/oscar'):
            answer = self.mail(**{'from': alice, 'to': to, 'text': f'hello {to}'})
            self.assertStatus(answer, 202)
            self.assertEqual(answer['receivers'][0]['status'], 'delivered')
        wait_for(lambda: self.inbox(oscar)['read'] == 2, what='both read')
        self.assertEqual(self.inbox(oscar)['items'][0]['projectID'], 'default')
        for to in (eve, 'elsewhere/eve', 'oscar', 'ops/nobody', 'nowhere/x', 'ops/'):
            answer = self.mail(**{'from': alice, 'to': to, 'text': 'psst'})
            self.assertProblem(answer, 404, 'not_found')
        # The right belongs to the sender's project, and is one way.
        body = {'from': oscar, 'to': alice, 'text': 'and back'}
        back = self.server.post('/api/mail?project=ops', body)
        self.assertProblem(back, 404, 'not_found')
        self.assertEqual(self.texts(alice) + self.texts(eve), [])
        # `*` means every session of one's own project.
        bob = self.named('bob')
        self.mail(**{'from': alice, 'text': 'all'})
        self.assertEqual(self.texts(bob), ['all'])
        self.assertEqual(len(self.texts(oscar)), 2)

    def test_release_needs_the_receivers_project(self):
        alice, oscar = self.named('alice'), self.named('oscar', project='ops')
        body = {'from': alice, 'to': oscar, 'text': 'quiet', 'resume': False}
        mail = self.assertStatus(self.mail(**body), 202)['id']
        made = self.server.post(
            '/api/tokens', {'name': 'ann', 'role': 'operate', 'projects': ['default']}
        )
        ann = Client(self.server.port, self.assertStatus(made, 201)['secret'])
        answer = ann.post(f'/api/mail/{mail}/release', {})
        ann.close()
        self.assertEqual(self.assertStatus(answer, 200)['released'], 0)
        self.assertEqual(self.server.post(f'/api/mail/{mail}/release', {})['released'], 1)


if __name__ == '__main__':
    main()
