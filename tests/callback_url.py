#!/usr/bin/env python3
"""The callback URL of a job, as a person asks for it (docs/reference/http.md)."""
from dormouse import Case, Client, main


class CallbackUrl(Case):
    def waiting(self, text):
        session = self.server.create(text)['id']
        (call,) = self.server.open_calls(session)
        return session, call

    def ask(self, call, client=None):
        return (client or self.server).post(f'/async-tool/pending/{call["id"]}/callback', {})

    def test_holder_of_the_url_settles_the_call_once_without_a_token(self):
        session, call = self.waiting('deploy A')
        with self.server.alone():  # without public_url, the URL names the server that is asked
            answer, again = self.ask(call), self.ask(call)
        self.assertStatus(answer, 200)
        self.assertEqual(answer.headers['Cache-Control'], 'no-store')
        self.assertEqual(answer['pendingID'], call['id'])
        self.assertEqual(answer['timeout'], call['timeout'])
        own = f'http://127.0.0.1:{self.server.port}'
        self.assertTrue(answer['url'].startswith(f'{own}/c/cap_'), answer['url'])
        self.assertEqual(again['url'], answer['url'])
        anyone = Client(self.server.port, None)
        path = answer['url'].removeprefix(own)
        self.assertStatus(anyone.post(path, {'result': {'output': 'live'}}), 200)
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'deploy A: live')
        self.assertProblem(self.ask(call), 409, 'wrong_state')

    def test_url_is_in_no_list_and_no_event(self):
        session, call = self.waiting('deploy A')
        secret = self.ask(call)['url'].split('/c/')[1]
        for path in (
            '/async-tool/pending?view=inbox',
            f'/async-tool/pending/{call["id"]}',
            f'/api/sessions/{session}/events',
            '/api/audit',
        ):
            self.assertNotIn(secret, self.server.get(path).raw.decode(), path)
        self.assertNotIn(secret, self.server.tail())

    def test_call_for_people_has_none(self):
        _, call = self.waiting('approve A')
        answer = self.ask(call)
        self.assertProblem(answer, 422, 'wrong_kind')
        self.assertNotIn('/c/', answer.raw.decode())

    def test_lower_roles_and_foreign_projects_get_nothing(self):
        _, call = self.waiting('deploy A')
        for role, more, status in (
            ('read', {}, 403),
            ('answer', {}, 403),
            ('operate', {'projects': ['other']}, 404),
        ):
            made = self.server.post('/api/tokens', {'name': 'bob', 'role': role, **more})
            answer = self.ask(call, Client(self.server.port, made['secret']))
            self.assertEqual(answer.status, status, role)
            self.assertNotIn('cap_', answer.raw.decode())

    def test_unknown_call_and_members_are_refused(self):
        _, call = self.waiting('deploy A')
        self.assertProblem(self.ask({'id': 'pnd_AAAA'}), 404, 'not_found')
        path = f'/async-tool/pending/{call["id"]}/callback'
        self.assertProblem(self.server.post(path, {'forMs': 1}), 400, 'unknown_field')


if __name__ == '__main__':
    main()
