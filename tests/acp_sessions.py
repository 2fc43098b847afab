#!/usr/bin/env python3
"""What the server asks external agents to do with their sessions, by the capabilities they report
(list, close, delete), with the real binary and the scripted agent."""

from acp import Programs
from dormouse import main, wait_for


class Keeping(Programs):
    flags = ('--list', '--close', '--delete')

    def name_of(self, session):
        return self.server.session(session)['acpSessionID']

    def kept(self):
        return {path.stem for path in self.state.glob('*.folder')}

    def receiver(self):
        """What deliveries call the agent; of several servers, only one has its program."""
        if not self.server.store:
            return 'agent:fake'
        (node,) = [one['name'] for one in self.server.get('/api/nodes')['items']]
        return f'agent:fake@{node}'

    def deliveries(self, state):
        return self.server.items(f'/api/deliveries?project=default&state={state}')

    def delivery(self, state):
        """Returns the only delivery in that state, as soon as there is one. On PostgreSQL an
        attempt of a server that was killed is repeated after 20 s."""
        wait_for(lambda: self.deliveries(state), 60, f'a delivery that is {state}')
        (one,) = self.deliveries(state)
        return one


class Deleting(Keeping):
    def test_deletion_deletes_the_agents_session_only(self):
        session, other = self.create('one'), self.create('two')
        name, stays = self.name_of(session), self.name_of(other)
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        one = self.delivery('delivered')
        self.assertEqual((one['type'], one['url']), ('program', self.receiver()))
        self.assertEqual(one['sessionID'], session)
        self.assertEqual([line['session'] for line in self.log('session/delete')], [name])
        self.assertEqual(self.kept(), {stays})
        # One process closed the session, another one deleted it.
        wait_for(lambda: self.log('session/close'), what='that the process releases the session')
        self.assertEqual(self.log('session/close')[0]['session'], name)
        worked = next(x['pid'] for x in self.log('prompt') if x['session'] == name)
        self.assertNotEqual(worked, self.log('session/delete')[0]['pid'])
        self.assertFalse(self.lives(worked))
        self.assertStatus(self.server.prompt(other, 'three'), 200)
        self.assertEqual(self.server.last_text(other), 'You said: three (3 messages)')

    def test_fork_has_a_session_of_its_own_and_keeps_it(self):
        session = self.create('one')
        fork = self.assertStatus(self.server.post(f'/api/sessions/{session}/fork', {}), 201)['id']
        self.assertIsNone(self.server.session(fork)['acpSessionID'])
        self.assertStatus(self.server.prompt(fork, 'two'), 200)
        self.assertNotEqual(self.name_of(fork), self.name_of(session))
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        self.delivery('delivered')
        self.assertEqual(self.kept(), {self.name_of(fork)})

    def test_session_never_prompted_deletes_nothing(self):
        session = self.create()
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        self.server.advance(60)
        self.assertEqual(self.log('initialize'), [])
        self.assertEqual(self.server.items('/api/deliveries'), [])


class Losing(Keeping):
    flags = ('--no-load', *Keeping.flags)

    def test_replaced_agent_sessions_are_deleted_too(self):
        session = self.create('one')
        self.server.restart()
        self.assertStatus(self.server.prompt(session, 'two'), 200)
        self.assertEqual(len(self.kept()), 2)
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        self.delivery('delivered')
        self.assertEqual(self.kept(), set())


class DeletingLate(Keeping):
    flags = ('--delete-hangs-once', *Keeping.flags)

    def test_kill_during_the_request_repeats_it(self):
        session = self.create('one')
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        wait_for(lambda: self.log('hangs'), what='deleting')
        self.assertEqual(len(self.kept()), 1)
        self.server.restart()
        self.delivery('delivered')
        self.assertEqual(self.kept(), set())


class DeletingNone(Keeping):
    flags = ()

    def test_agent_without_delete_is_reported(self):
        for _ in range(2):
            session = self.create('one')
            self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        wait_for(lambda: len(self.deliveries('dead')) == 2, what='two that are dead')
        for one in self.deliveries('dead'):
            self.assertIn('does not support deleting sessions', one['lastError'])
        self.assertEqual(self.log('session/delete'), [])
        self.assertIn('the deletion of a session is not tried any more', self.server.tail())


class Sleeping(Keeping):
    more = 'idle_stop = "1s"'

    def test_sleeping_agent_closes_the_session_first(self):
        session = self.create('one')
        wait_for(lambda: self.log('end'), what='end')
        self.assertEqual([x['session'] for x in self.log('session/close')], [self.name_of(session)])
        self.assertStatus(self.server.prompt(session, 'two'), 200)
        self.assertEqual(self.server.last_text(session), 'You said: two (3 messages)')


class SleepingBadly(Keeping):
    flags = ('--close-hangs', '--close')
    more = 'idle_stop = "1s"'

    def test_agent_that_does_not_close_is_stopped(self):
        session = self.create('one')
        pid = self.log('initialize')[0]['pid']
        wait_for(lambda: not self.lives(pid), what='end')
        self.assertEqual([x['method'] for x in self.log('hangs')], ['session/close'])
        self.assertStatus(self.server.prompt(session, 'two'), 200)
        self.assertEqual(self.server.last_text(session), 'You said: two (3 messages)')


class Denying(Keeping):
    flags = ('--denies-once', *Keeping.flags)

    def test_session_still_listed_is_loaded_again(self):
        session = self.create('one')
        name = self.name_of(session)
        self.server.restart()
        self.assertStatus(self.server.prompt(session, 'two'), 200)
        self.assertEqual(self.server.last_text(session), 'You said: two (3 messages)')
        self.assertEqual(self.of_type(session, 'attached')[-1]['how'], 'load')
        self.assertEqual(self.name_of(session), name)
        self.assertEqual(len(self.log('session/load')), 2)
        self.assertEqual(self.log('session/list')[0]['cwd'], str(self.work.resolve()))


class Hanging(Keeping):
    flags = ('--forgets', '--list-hangs', '--list')

    def test_missing_list_delays_nothing(self):
        session = self.create('one')
        self.server.restart()
        self.assertStatus(self.server.prompt(session, 'two', wait=30), 200)
        self.assertTrue(self.of_type(session, 'attached')[-1]['told'])


class Killed(Keeping):
    flags = ('--kills-server', *Keeping.flags)

    def test_unrecorded_session_is_found_by_its_marker(self):
        session = self.create()
        try:
            self.server.prompt(session, 'halfway', wait=0)
        except OSError:
            pass
        wait_for(lambda: not self.server.alive(), what='the kill')
        (name,) = self.kept()
        for other in ('a', 'b'):  # of another user, in the same folder
            (self.state / f'{other}.folder').write_text(str(self.work.resolve()))
            (self.state / f'{other}.json').write_text('[["user", "hello"]]')
        self.server.restart()
        self.ended(session)
        self.assertEqual(self.name_of(session), name)
        self.assertEqual(len(self.log('session/new')), 1)
        self.assertEqual([a['how'] for a in self.of_type(session, 'attached')], ['load'])
        self.assertIn('Continue where you stopped', self.log('prompt')[0]['text'])
        looked = {line['session'] for line in self.log('session/load')}
        self.assertEqual(looked, {name, 'a', 'b'})
        for line in self.log('session/load')[:3]:
            self.assertEqual(line['servers'], [])
        self.assertEqual(self.kept(), {name, 'a', 'b'})


if __name__ == '__main__':
    main()
