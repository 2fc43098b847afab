#!/usr/bin/env python3
"""Agents that are programs: what is asked of them about the sessions that they keep, by what they
say that they can (list, close), with the real binary and the scripted agent."""
from acp import Programs
from dormouse import main, wait_for


class Keeping(Programs):
    flags = ('--list', '--close', '--delete')

    def name_of(self, session):
        return self.server.session(session)['acpSessionID']

    def kept(self):
        return {path.stem for path in self.state.glob('*.folder')}


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
