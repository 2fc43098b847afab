#!/usr/bin/env python3
"""Agents that are programs: what is asked of them about the sessions that they keep, by what they
say that they can (list, close, delete), with the real binary and the scripted agent."""

from acp import Programs
from dormouse import main, wait_for


class Keeping(Programs):
    flags = ('--list', '--close', '--delete')

    def name_of(self, session):
        return self.server.session(session)['acpSessionID']

    def kept(self):
        return {path.stem for path in self.state.glob('*.folder')}

    def deliveries(self, state):
        return self.server.items(f'/api/deliveries?project=default&state={state}')

    def delivery(self, state):
        """The only one that is in that state, as soon as there is one."""
        wait_for(lambda: self.deliveries(state), what=f'a delivery that is {state}')
        (one,) = self.deliveries(state)
        return one


class Deleting(Keeping):
    def test_what_is_deleted_here_is_deleted_there_and_nothing_else(self):
        session, other = self.create('one'), self.create('two')
        name, stays = self.name_of(session), self.name_of(other)
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        one = self.delivery('delivered')
        self.assertEqual((one['type'], one['url']), ('program', 'agent:fake'))
        self.assertEqual(one['sessionID'], session)
        self.assertEqual([line['session'] for line in self.log('session/delete')], [name])
        self.assertEqual(self.kept(), {stays})
        # The process that worked at it let go of it, and another one deleted it.
        wait_for(lambda: self.log('session/close'), what='that the process lets go of the session')
        self.assertEqual(self.log('session/close')[0]['session'], name)
        worked = next(x['pid'] for x in self.log('prompt') if x['session'] == name)
        self.assertNotEqual(worked, self.log('session/delete')[0]['pid'])
        self.assertFalse(self.lives(worked))
        self.assertStatus(self.server.prompt(other, 'three'), 200)
        self.assertEqual(self.server.said(other), 'You said: three (3 messages)')

    def test_a_fork_has_a_session_of_its_own_and_keeps_it(self):
        session = self.create('one')
        fork = self.assertStatus(self.server.post(f'/api/sessions/{session}/fork', {}), 201)['id']
        self.assertIsNone(self.server.session(fork)['acpSessionID'])
        self.assertStatus(self.server.prompt(fork, 'two'), 200)
        self.assertNotEqual(self.name_of(fork), self.name_of(session))
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        self.delivery('delivered')
        self.assertEqual(self.kept(), {self.name_of(fork)})

    def test_what_was_never_prompted_has_nothing_there(self):
        session = self.create()
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        self.server.advance(60)
        self.assertEqual(self.log('initialize'), [])
        self.assertEqual(self.server.items('/api/deliveries'), [])


class Losing(Keeping):
    flags = ('--no-load', *Keeping.flags)

    def test_those_that_it_lost_meanwhile_are_deleted_too(self):
        session = self.create('one')
        self.server.restart()
        self.assertStatus(self.server.prompt(session, 'two'), 200)
        self.assertEqual(len(self.kept()), 2)
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        self.delivery('delivered')
        self.assertEqual(self.kept(), set())


class DeletingLate(Keeping):
    flags = ('--delete-hangs-once', *Keeping.flags)

    def test_a_kill_before_it_was_told_is_made_good(self):
        session = self.create('one')
        self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        wait_for(lambda: self.log('hangs'), what='deleting')
        self.assertEqual(len(self.kept()), 1)
        self.server.restart()
        self.delivery('delivered')
        self.assertEqual(self.kept(), set())


class DeletingNone(Keeping):
    flags = ()

    def test_a_program_that_can_not_is_said_to_keep_it(self):
        for _ in range(2):
            session = self.create('one')
            self.assertStatus(self.server.delete(f'/api/sessions/{session}'), 204)
        wait_for(lambda: len(self.deliveries('dead')) == 2, what='two that are dead')
        for one in self.deliveries('dead'):
            self.assertIn('no way to delete a session', one['lastError'])
        self.assertEqual(self.log('session/delete'), [])
        self.assertIn('the deletion of a session is not tried any more', self.server.tail())


class Sleeping(Keeping):
    more = 'idle_stop = "1s"'

    def test_one_that_sleeps_was_let_go_of_first(self):
        session = self.create('one')
        wait_for(lambda: self.log('end'), what='end')
        self.assertEqual([x['session'] for x in self.log('session/close')], [self.name_of(session)])
        self.assertStatus(self.server.prompt(session, 'two'), 200)
        self.assertEqual(self.server.said(session), 'You said: two (3 messages)')


class SleepingBadly(Keeping):
    flags = ('--close-hangs', '--close')
    more = 'idle_stop = "1s"'

    def test_one_that_does_not_let_go_is_ended_all_the_same(self):
        session = self.create('one')
        pid = self.log('initialize')[0]['pid']
        wait_for(lambda: not self.lives(pid), what='end')
        self.assertEqual([x['method'] for x in self.log('hangs')], ['session/close'])
        self.assertStatus(self.server.prompt(session, 'two'), 200)
        self.assertEqual(self.server.said(session), 'You said: two (3 messages)')


class Denying(Keeping):
    flags = ('--denies-once', *Keeping.flags)

    def test_what_it_lists_it_is_asked_for_once_more(self):
        session = self.create('one')
        name = self.name_of(session)
        self.server.restart()
        self.assertStatus(self.server.prompt(session, 'two'), 200)
        self.assertEqual(self.server.said(session), 'You said: two (3 messages)')
        self.assertEqual(self.of_type(session, 'attached')[-1]['how'], 'load')
        self.assertEqual(self.name_of(session), name)
        self.assertEqual(len(self.log('session/load')), 2)
        self.assertEqual(self.log('session/list')[0]['cwd'], str(self.work.resolve()))


class Hanging(Keeping):
    flags = ('--forgets', '--list-hangs', '--list')

    def test_a_list_that_never_comes_holds_nothing_up(self):
        session = self.create('one')
        self.server.restart()
        self.assertStatus(self.server.prompt(session, 'two', wait=30), 200)
        self.assertTrue(self.of_type(session, 'attached')[-1]['told'])


class Killed(Keeping):
    flags = ('--kills-server', *Keeping.flags)

    def test_a_session_that_nobody_wrote_down_is_found_by_its_marker(self):
        session = self.create()
        try:
            self.server.prompt(session, 'halfway', wait=0)
        except OSError:
            pass
        wait_for(lambda: not self.server.alive(), what='the kill')
        (name,) = self.kept()
        for other in ('a', 'b'):  # of somebody else, in the same folder
            (self.state / f'{other}.folder').write_text(str(self.work.resolve()))
            (self.state / f'{other}.json').write_text('[["user", "hello"]]')
        self.server.restart()
        self.ended(session)
        self.assertEqual(self.name_of(session), name)
        self.assertEqual(len(self.log('session/new')), 1)
        self.assertEqual([a['how'] for a in self.of_type(session, 'attached')], ['load'])
        self.assertIn('Go on where you were', self.log('prompt')[0]['text'])
        looked = {line['session'] for line in self.log('session/load')}
        self.assertEqual(looked, {name, 'a', 'b'})
        for line in self.log('session/load')[:3]:
            self.assertEqual(line['servers'], [])
        self.assertEqual(self.kept(), {name, 'a', 'b'})


if __name__ == '__main__':
    main()
