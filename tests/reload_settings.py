#!/usr/bin/env python3
"""A reload applies [retention], [[project]], hosts and origins, and reminders, while streams and
requests continue. Each limit of [limits] across a reload: tests/limits.py."""
from dormouse import Events, main, wait_for
from reload import Reloading, tool


class Settings(Reloading):
    def begin(self, *parts):
        deploy = tool(self.script('deploy', 'cat >/dev/null; exit 75'))
        self.fixed = (self.ops('"deploy"'), deploy)
        return self.serve(*self.fixed, *parts)

    def applies(self, *parts):
        answer = self.assertStatus(self.reload(*self.fixed, *parts), 200)
        self.assertEqual(answer['needsRestart'], [])
        return answer['applied']

    def with_server(self, lines, *parts):
        """[server] is in the file already: more of it."""
        self.write(*self.fixed, *parts)
        self.file.write_text(self.file.read_text().replace('[server]', f'[server]\n{lines}', 1))
        answer = self.assertStatus(self.server.post('/api/reload', {}), 200)
        self.assertEqual(answer['needsRestart'], [])
        return answer['applied']

    def ended(self):
        session = self.server.create(agent='ops')['id']
        self.assertStatus(self.server.post(f'/api/sessions/{session}/end'), 200)
        return session

    def paused(self):
        session = self.server.create('deploy A', agent='ops', wait=0)['id']
        (call,) = wait_for(lambda: self.server.open_calls(session), what='the pause')
        return session, call

    def gone(self, session):
        wait_for(lambda: self.server.get(f'/api/sessions/{session}').status == 404,
                 what='its deletion')


class Retention(Settings):
    def test_age_applies_and_a_stream_continues(self):
        self.begin()
        old = self.ended()
        self.server.advance(3600)
        session, call = self.paused()
        with Events(self.server, f'/api/sessions/{session}/events') as stream:
            self.assertEqual(self.applies('[retention]\ncompleted_after = "30m"\n'),
                             ['[retention] completed_after'])
            self.gone(old)
            self.server.result(call['id'], 'done')
            stream.until(lambda frame: (frame.data or {}).get('type') == 'turn_ended')
        self.applies('')
        kept = self.ended()
        self.server.advance(7200)
        self.assertStatus(self.server.get(f'/api/sessions/{kept}'), 200)
        self.applies('[retention]\ncompleted_after = "1h"\n')
        self.gone(kept)

    def test_messages_are_cut_when_the_next_turn_ends(self):
        self.begin()
        session = self.server.create(agent='ops')['id']
        for n in range(60):
            self.assertStatus(self.server.prompt(session, f'hi {n}'), 200)
        path = f'/api/sessions/{session}/messages'
        self.assertEqual(len(self.server.items(path)), 120)
        self.assertEqual(self.applies('[retention]\nmessages_per_session = 100\n'),
                         ['[retention] messages_per_session'])
        self.server.prompt(session, 'one more')
        wait_for(lambda: len(self.server.items(path)) <= 100, what='the cut')

    def test_defaults_of_the_request_are_the_new_ones(self):
        self.begin()
        self.assertStatus(self.server.post('/api/retention', {'dryRun': True}), 400)
        self.applies('[retention]\naudit_after = "30d"\n')
        self.assertStatus(self.server.post('/api/retention', {'dryRun': True}), 200)

    def test_mistake_keeps_the_age(self):
        self.begin('[retention]\ncompleted_after = "2h"\n')
        old = self.ended()
        answer = self.reload(*self.fixed, '[retention]\ncompleted_after = "1s"\n'
                                          'messages_per_session = 1\n')
        self.assertProblem(answer, 400, 'bad_value')
        self.server.advance(3600)
        self.assertStatus(self.server.get(f'/api/sessions/{old}'), 200)


class Projects(Settings):
    def mail(self, sender, receiver):
        return self.server.post('/api/mail', {'from': sender, 'to': receiver, 'text': 'hello'})

    def test_right_to_mail_another_project_comes_and_goes(self):
        self.begin()
        alice = self.server.create(agent='ops')['id']
        made = self.server.post('/api/projects/ops/sessions', {'agentID': 'ops'})
        oscar = self.assertStatus(made, 201)['id']
        self.assertProblem(self.mail(alice, oscar), 404, 'not_found')
        project = '[[project]]\nid = "default"\n'
        self.assertEqual(self.applies(project + 'mail_to = ["ops"]\n'),
                         ['[[project]] default (added)'])
        sent = self.assertStatus(self.mail(alice, oscar), 202)
        self.assertEqual(sent['receivers'][0]['status'], 'delivered')
        self.assertEqual(self.applies(project), ['[[project]] default: mail_to'])
        self.assertProblem(self.mail(alice, oscar), 404, 'not_found')


class Access(Settings):
    def test_hosts_and_origins_change_between_requests(self):
        server = self.begin()
        session, call = self.paused()
        host = {'Host': 'dm.example.org'}
        origin = {'Origin': 'https://page.example.org'}
        poller = server.new_client()
        poller.begin(f'/async-tool/pending/{call["id"]}?wait=40')
        for headers, status in ((host, 421), (origin, 403)):
            self.assertStatus(server.call('GET', '/api/me', headers=headers), status)
        lines = ('allowed_hosts = ["dm.example.org"]\n'
                 'allowed_origins = ["https://page.example.org"]\n')
        self.assertEqual(self.with_server(lines),
                         ['[server] allowed_hosts', '[server] allowed_origins'])
        for headers in (host, origin):
            self.assertStatus(server.call('GET', '/api/me', headers=headers), 200)
        self.applies('')
        self.assertStatus(server.call('GET', '/api/me', headers=host), 421)
        self.assertStatus(server.call('GET', '/api/me', headers=origin), 403)
        server.result(call['id'], 'done')
        self.assertEqual(poller.end()['status'], 'completed')
        server.at_rest(session)

    def test_reminders_are_for_the_next_question(self):
        server = self.begin('[[gate]]\nid = "careful"\ntools = ["deploy"]\nask = "Sure?"\n')
        gate = '[[gate]]\nid = "careful"\ntools = ["deploy"]\nask = "Sure?"\n'
        self.assertEqual(self.with_server('remind_after = "1m"\n', gate),
                         ['[server] remind_after'])
        session, _ = self.paused()
        server.advance(120)
        wait_for(lambda: 'reminded' in [e['type'] for e in server.events(session)],
                 what='a reminder')


if __name__ == '__main__':
    main()
