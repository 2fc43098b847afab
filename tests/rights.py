#!/usr/bin/env python3
"""Rights (P8): every route with every kind of caller, and the limits of tokens.

The table of routes is that of src/http/resources/routes.cc; a route without a row of its own fails
here."""
import json
import pathlib
import re
import tempfile

from dormouse import ROOT, Alone, Case, Client, Events, main, run, wait_for
from http_contract import OPEN, ROUTES
from http_raw import call_when_allowed
from stored import STORE
from tools_by_config import DEPLOYS

ROLES = ('anyone', 'read', 'answer', 'operate', 'admin')


def rights():
    """(method, path) → (role, names), as the server's table has it."""
    source = (ROOT / 'src/http/resources/routes.cc').read_text()
    right = re.compile(r'constexpr Right (\w+)\{Role::(\w+), Names::(\w+)(?:, (?:true|false))*\};')
    rights = {name: (role, names) for name, role, names in right.findall(source)}
    row = re.compile(r'\{"([A-Z]+)",\s+\{([^}]*(?:\{\}[^}]*)*)\},\s[^{}]*?(\w+)\}')
    found = {}
    for method, path, name in row.findall(source):
        found[method, '/' + '/'.join(re.findall(r'"([^"]*)"', path))] = rights[name]
    return found


class Rights(Case):
    def token(self, name, role, **more):
        answer = self.server.post('/api/tokens', {'name': name, 'role': role, **more})
        self.assertStatus(answer, 201)
        self.assertEqual(answer['token']['name'], name)
        return Client(self.server.port, answer['secret']), answer['token']['id']

    def client(self, name, role, **more):
        return self.token(name, role, **more)[0]

    def waiting(self, project='default'):
        session = self.server.create('deploy A', project=project)
        return session, self.server.open_calls(session['id'])[0]

    def comparable(self, answer):
        """Returns a problem without what differs from request to request."""
        problem = answer.json
        return answer.status, {
            k: v for k, v in problem.items() if k not in ('requestID', 'instance')
        }


class EveryRoute(Rights):
    def filled(self, path, names, session, call):
        if names in ('project', 'project_session'):
            path = path.replace('{}', 'secret', 1)
        is_call = path.startswith(('/async-tool/pending/', '/api/pending/'))
        if path.startswith('/api/artifacts/'):
            return path.replace('{}', f'art_{session[4:]}_1')
        return path.replace('{}', call if is_call else session)

    def body(self, method, names, call):
        if method in ('GET', 'DELETE'):
            return {}
        item = {'pendingID': call, 'result': {'output': 1}}
        return {'body': {'items': [item]} if names == 'items' else item}

    def test_every_route_has_a_row_with_its_right(self):
        self.assertEqual(sorted(rights()), sorted(ROUTES))

    def test_smaller_role_is_403_and_others_pass(self):
        clients = {role: self.client(role, role) for role in ROLES[1:]}
        for (method, path), (needed, _) in rights().items():
            if path.startswith('/c/') or path in ('/sign-in', '/sign-in/email', '/sign-out'):
                continue
            target = path.replace('{}', 'ses_AAAAAAAA')
            for role, client in clients.items():
                with self.subTest(method=method, path=path, role=role):
                    answer = client.call(method, target)
                    if ROLES.index(role) < ROLES.index(needed):
                        self.assertProblem(answer, 403, 'forbidden', role=needed)
                    else:
                        self.assertNotIn(answer.status, (401, 403), answer)

    def test_other_project_looks_like_not_found(self):
        session, call = self.waiting('secret')
        unknown = 'ses_' + 'B' * 22, re.sub(r'^pnd_.{22}', 'pnd_' + 'B' * 22, call['id'])
        outsider = self.client('outsider', 'admin', projects=['other'])
        before = self.server.session(session['id'])
        for (method, path), (role, names) in rights().items():
            if role == 'anyone' or names == 'nothing':
                continue
            with self.subTest(method=method, path=path):
                if names == 'server':
                    answer = outsider.call(method, path.replace('{}', 'tok_x'))
                    self.assertProblem(answer, 403, 'forbidden')
                    continue
                if names in ('list', 'lists'):
                    for query in (f'?sessionID={session["id"]}', '?project=secret'):
                        of_project = ('/api/events', '/api/deliveries', '/api/mail', '/api/rules')
                        asks = (method, path) == ('POST', '/api/pending')
                        if (asks or path in of_project) and 'session' in query:
                            continue
                        answer = outsider.call(method, path + query)
                        self.assertProblem(answer, 404, 'not_found')
                    continue
                mine = self.filled(path, names, session['id'], call['id'])
                none = self.filled(path, names, *unknown)
                sent = [self.body(method, names, one) for one in (call['id'], unknown[1])]
                if path == '/a/{}':
                    sent = [{}, {}]  # it takes a form, and no JSON
                foreign = outsider.call(method, mine, **sent[0])
                absent = outsider.call(method, none, **sent[1])
                if names == 'items':
                    self.assertEqual([i['status'] for i in foreign['items']], [404])
                    self.assertEqual([i['status'] for i in absent['items']], [404])
                    continue
                self.assertEqual(self.comparable(foreign), self.comparable(absent))
                self.assertProblem(foreign, 404, 'not_found')
        self.assertEqual(self.server.session(session['id']), before, 'nothing was changed')

    def test_no_wrong_and_revoked_tokens_are_401_everywhere(self):
        revoked, name = self.token('gone', 'admin')
        self.assertStatus(revoked.get('/api/agents'), 200)
        self.assertStatus(self.server.delete(f'/api/tokens/{name}'), 204)
        session, call = self.waiting()
        for (method, path), (role, names) in rights().items():
            if role == 'anyone':
                continue
            target = self.filled(path, names, session['id'], call['id'])
            for client in (
                Client(self.server.port, None),
                Client(self.server.port, 'dm_x'),
                revoked,
            ):
                with self.subTest(method=method, path=path):
                    answer = call_when_allowed(self.server, client, method, target)
                    self.assertProblem(answer, 401, 'unauthenticated')

    def test_hosts_origins_and_content_types_are_checked_first(self):
        for (method, path), _ in rights().items():
            target = path.replace('{}', 'ses_AAAAAAAA')
            with self.subTest(method=method, path=path):
                wrong = self.server.call(method, target, headers={'Host': 'evil.example'})
                self.assertProblem(wrong, 421, 'wrong_host')
                for origin in ('null', 'http://localhost:1.evil.test', 'https://evil.test'):
                    answer = self.server.call(method, target, headers={'Origin': origin})
                    self.assertProblem(answer, 403, 'origin_refused')
                    self.assertIsNone(answer.headers['Access-Control-Allow-Origin'])
                if path in OPEN or path.startswith('/c/') or method == 'GET':
                    continue
                form = self.server.call(
                    method,
                    target,
                    raw=b'{}',
                    headers={'Content-Type': 'text/plain', 'Connection': 'close'},
                )
                self.assertProblem(form, 415, 'unsupported_media_type')


class Projects(Rights):
    def test_batch_is_checked_item_by_item(self):
        _, mine = self.waiting('mine')
        _, theirs = self.waiting('theirs')
        client = self.client('ci', 'answer', projects=['mine'])
        items = [{'pendingID': c['id'], 'result': {'output': 'ok'}} for c in (theirs, mine)]
        answer = client.post('/async-tool/results', {'items': items})
        self.assertEqual([i['status'] for i in answer['items']], [404, 200])
        still = self.server.get(f'/async-tool/pending/{theirs["id"]}')
        self.assertEqual(still['status'], 'waiting')
        self.assertEqual(
            answer['items'][1]['answer']['receipt']['by'], {'type': 'token', 'name': 'ci'}
        )

    def test_list_is_of_the_only_project_or_needs_one(self):
        _, a = self.waiting('a')
        self.waiting('b')
        one = self.client('one', 'read', projects=['a'])
        two = self.client('two', 'read', projects=['a', 'b'])
        listed = one.get('/async-tool/pending')
        self.assertEqual([c['id'] for c in listed['items']], [a['id']])
        self.assertProblem(two.get('/async-tool/pending'), 400, 'project_required')
        self.assertProblem(two.get('/api/events'), 400, 'project_required')
        self.assertEqual(len(two.get('/async-tool/pending?project=b')['items']), 1)
        self.assertProblem(two.get('/async-tool/pending?project=c'), 404, 'not_found')

    def test_star_is_every_project_of_the_token_and_no_other(self):
        calls = {name: self.waiting(name)[1]['id'] for name in ('a', 'b', 'c')}
        two = self.client('two', 'read', projects=['a', 'b'])
        every = self.client('every', 'read')
        for client, mine in ((two, 'ab'), (every, 'abc')):
            wanted = [calls[name] for name in reversed(mine)]
            self.assertEqual(
                [c['id'] for c in client.get('/async-tool/pending?project=*')['items']], wanted
            )
            found, cursor = [], ''
            while cursor is not None:
                page = client.get(f'/async-tool/pending?project=*&limit=1{cursor}').json
                found += [c['id'] for c in page['items']]
                cursor = page['next'] and f'&cursor={page["next"]}'
            self.assertEqual(found, wanted, 'page by page')
            changed = client.get('/async-tool/pending?project=*&changedSince=0')
            self.assertEqual({c['id'] for c in changed['items']}, set(wanted))
            events = client.get('/api/events?project=*&limit=200')['items']
            self.assertEqual({e['projectID'] for e in events}, set(mine))
        operator = self.client('operator', 'operate', projects=['a', 'b'])
        for path in ('/api/deliveries', '/api/mail', '/api/rules'):
            with self.subTest(path=path):
                answer = operator.get(f'{path}?project=*')
                self.assertProblem(answer, 404, 'not_found')

    def test_waiting_request_for_every_project_sees_only_its_own(self):
        two = self.client('two', 'read', projects=['a', 'b'])
        self.waiting('c')
        since = two.get('/async-tool/pending?project=*').headers['Dormouse-As-Of']
        two.begin(f'/async-tool/pending?project=*&changedSince={since}&wait=20')
        self.waiting('c')
        self.assertTrue(two.waits(), 'a change of another project is no answer')
        _, call = self.waiting('b')
        self.assertEqual([c['id'] for c in two.end()['items']], [call['id']])

    def test_projects_are_those_that_the_token_may_see(self):
        for name in ('b', 'a', 'c'):
            self.waiting(name)
        gone, _ = self.waiting('gone')
        self.assertStatus(self.server.delete(f'/api/sessions/{gone["id"]}'), 204)
        every = self.client('every', 'read')
        found, cursor = [], ''
        while cursor is not None:
            page = every.get(f'/api/projects?limit=1{cursor}').json
            found += [p['id'] for p in page['items']]
            cursor = page['next'] and f'&cursor={page["next"]}'
        self.assertEqual(sorted(found), ['a', 'b', 'c'])
        some = self.client('some', 'read', projects=['unused', 'a'])
        self.assertEqual(
            some.get('/api/projects').json, {'items': [{'id': 'a'}, {'id': 'unused'}], 'next': None}
        )
        self.assertProblem(every.get('/api/projects?limit=0'), 400, 'bad_value')

    def test_agent_with_programs_needs_the_right_to_start_it(self):
        self.server.term()
        config = pathlib.Path(self.server.own) / 'dormouse.toml'
        config.write_text(
            '[server]\ndemo = true\n[[model]]\nid = "m"\nkind = "scripted"\n'
            '[[tool]]\nname = "shell"\nkind = "command"\ncommand = ["/bin/true"]\n'
            '[[agent]]\nid = "coder"\nmodel = "m"\ntools = ["shell"]\n'
        )
        self.server.arguments = ['--config', str(config)]
        self.server.start()
        usual = self.client('usual', 'operate')
        coder = self.client('coder', 'operate', agents=['coder'])
        path = '/api/projects/default/sessions'
        self.assertProblem(usual.post(path, {'agentID': 'coder'}), 403, 'forbidden')
        self.assertStatus(usual.post(path, {'agentID': 'demo'}), 201)
        made = self.assertStatus(coder.post(path, {'agentID': 'coder'}), 201)
        self.assertProblem(coder.post(path, {'agentID': 'demo'}), 403, 'forbidden')
        self.assertStatus(self.server.post(path, {'agentID': 'coder'}), 201)
        acp = usual.post('/api/projects/default/acp/session', {'agentId': 'coder'})
        self.assertProblem(acp, 403, 'forbidden')
        fork = usual.post(f'/api/sessions/{made["id"]}/fork', {})
        self.assertIn(fork.status, (400, 403))

    def test_token_that_may_not_start_an_agent_gives_it_no_work(self):
        self.server.term()
        config = pathlib.Path(self.server.own) / 'dormouse.toml'
        ran = pathlib.Path(self.server.own) / 'ran'
        config.write_text(
            '[server]\ndemo = true\n[[model]]\nid = "m"\nkind = "scripted"\n'
            f'[[tool]]\nname = "shell"\nkind = "command"\ncommand = ["/usr/bin/touch", "{ran}"]\n'
            '[[agent]]\nid = "coder"\nmodel = "m"\ntools = ["shell"]\n'
        )
        self.server.arguments = ['--config', str(config)]
        self.server.start()
        made = self.assertStatus(
            self.server.post('/api/projects/default/sessions', {'agentID': 'coder', 'alias': 'c'}),
            201,
        )['id']
        work = (
            (f'/api/sessions/{made}/calls', {'tool': 'shell', 'arguments': {}}),
            (f'/api/sessions/{made}/prompt', {'text': 'shell {}'}),
            (f'/api/sessions/{made}/resume', {}),
            (f'/api/sessions/{made}/retry', {}),
            (f'/api/sessions/{made}/attach', {}),
            (f'/api/sessions/{made}/import', {'part': 1, 'messages': []}),
            (f'/api/projects/default/acp/session/{made}/prompt', {'text': 'shell {}'}),
            (f'/api/projects/default/acp/session/{made}/resume', {}),
            ('/api/mail', {'to': 'c', 'text': 'shell {}'}),
            ('/api/mail', {'to': made, 'text': 'shell {}'}),
        )
        clients = (
            self.client('usual', 'operate'),
            self.client('bound', 'operate', projects=['default']),
            self.client('other', 'operate', agents=['demo']),
        )
        for client in clients:
            for path, body in work:
                with self.subTest(path=path):
                    self.assertProblem(client.post(path, body), 403, 'forbidden')
        usual = clients[0]
        self.assertProblem(usual.post('/api/mail', {'text': 'shell {}'}), 404, 'not_found')
        some = usual.post('/api/mail', {'to': ['c', 'nobody'], 'text': 'shell {}'})
        self.assertEqual([one['status'] for one in some['receivers']], ['failed', 'failed'])
        self.assertEqual(self.server.get(f'/api/sessions/{made}/inbox')['items'], [])
        self.assertFalse(ran.exists())
        # It may still be ended and read.
        self.assertStatus(usual.post(f'/api/sessions/{made}/cancel', {}), 200)
        self.assertStatus(usual.get(f'/api/sessions/{made}/messages'), 200)
        coder = self.client('coder', 'operate', agents=['coder'])
        self.assertStatus(coder.post('/api/mail', {'to': 'c', 'text': 'hello'}), 202)
        called = coder.post(f'/api/sessions/{made}/calls', {'tool': 'shell', 'arguments': {}})
        self.assertStatus(called, 202)
        wait_for(ran.exists)

    def test_task_resume_needs_the_right_to_start_its_agent(self):
        session = self.server.create('wait')
        made = self.server.post(
            f'/api/sessions/{session["id"]}/tasks', {'agentID': 'demo', 'prompt': 'wait'}
        )
        self.assertStatus(made, 201)
        path = f'/api/tasks/{made["taskID"]}/resume'
        other = self.client('other', 'operate', agents=['demo-each'])
        self.assertProblem(other.post(path, {'message': 'continue'}), 403, 'forbidden')


class Life(Rights):
    def test_revocation_ends_streams_and_waiting_requests(self):
        session, call = self.waiting()
        client, name = self.token('bob', 'read')
        streams = [
            Events(self.server, path, token=client.token)
            for path in (f'/api/sessions/{session["id"]}/events', '/api/events?project=default')
        ]
        for stream in streams:
            self.assertEqual(stream.status, 200)
            stream.frame()
        own = Events(self.server, f'/api/sessions/{session["id"]}/events')
        self.assertStatus(self.server.delete(f'/api/tokens/{name}'), 204)
        for stream in streams:
            last = stream.rest()[-1]
            self.assertEqual((last.event, last.data), ('bye', {'reason': 'revoked'}))
        self.assertProblem(client.get('/api/agents'), 401, 'unauthenticated')
        self.server.result(call['id'], 'ok')
        self.assertTrue(own.until(lambda f: f.event == 'turn_ended'), 'others read on')
        own.close()

    def test_waiting_request_gets_nothing_after_revocation(self):
        _, call = self.waiting()
        client, name = self.token('bob', 'read')
        client.begin(f'/async-tool/pending/{call["id"]}?wait=30')
        self.server.advance(1)
        self.assertTrue(client.waits())
        self.server.delete(f'/api/tokens/{name}')
        self.assertProblem(client.end(), 401, 'unauthenticated')

    def test_expired_token_ends_with_its_streams(self):
        session, _ = self.waiting()
        client, name = self.token('brief', 'read', ttlMs=60_000)
        stream = Events(self.server, f'/api/sessions/{session["id"]}/events', token=client.token)
        self.server.advance(60)
        self.assertEqual(stream.rest()[-1].data, {'reason': 'revoked'})
        self.assertProblem(client.get('/api/agents'), 401, 'unauthenticated')
        self.assertNotIn(name, [t['id'] for t in self.server.get('/api/tokens')['items']])

    def test_acknowledged_change_survives_sigkill(self):
        kept, _ = self.token('kept', 'read')
        gone, name = self.token('gone', 'read')
        self.assertStatus(self.server.delete(f'/api/tokens/{name}'), 204)
        self.server.restart()
        self.assertStatus(Client(self.server.port, kept.token).get('/api/agents'), 200)
        self.assertStatus(Client(self.server.port, gone.token).get('/api/agents'), 401)

    def test_secret_is_shown_once_and_stored_nowhere(self):
        client, _ = self.token('alice', 'operate')
        client.get('/api/agents')
        self.assertNotIn(client.token, json.dumps(self.server.get('/api/tokens').json))
        self.server.finish()
        for file in pathlib.Path(self.server.own).rglob('*'):
            if file.is_file():
                self.assertNotIn(client.token.encode(), file.read_bytes(), file)
                if file.name != 'token':
                    self.assertNotIn(self.server.token.encode(), file.read_bytes(), file)

    def test_built_in_tokens_are_listed_and_not_revoked_here(self):
        items = self.server.get('/api/tokens')['items']
        self.assertEqual(
            [(t['id'], t['builtIn'], t['role']) for t in items], [('first', True, 'admin')]
        )
        self.assertProblem(self.server.delete('/api/tokens/first'), 409, 'wrong_state')
        self.assertProblem(self.server.delete('/api/tokens/tok_x'), 404, 'not_found')

    def test_deleted_token_file_makes_a_new_first_token(self):
        old = self.server.token
        self.server.term()
        pathlib.Path(self.server.directory, 'token').unlink()
        if STORE == 'postgres':
            self.server.change("DELETE FROM settings WHERE name = 'token'")
        self.server.start()
        self.assertNotEqual(self.server.token, old)
        self.assertStatus(Client(self.server.port, old).get('/api/agents'), 401)

    def test_invalid_tokens_are_not_created(self):
        for body, pointer in (
            ({'role': 'read'}, '/name'),
            ({'name': 'a', 'role': 'root'}, '/role'),
            ({'name': 'a', 'role': 'anyone'}, '/role'),
            ({'name': '', 'role': 'read'}, '/name'),
            ({'name': 'role:admin', 'role': 'read'}, '/name'),
            ({'name': 'a\nb', 'role': 'read'}, '/name'),
            ({'name': 'a' * 65, 'role': 'read'}, '/name'),
            ({'name': 'a', 'role': 'read', 'projects': []}, '/projects'),
            ({'name': 'a', 'role': 'read', 'projects': ['*']}, '/projects'),
            ({'name': 'a', 'role': 'read', 'projects': [1]}, '/projects'),
            ({'name': 'a', 'role': 'read', 'agents': ['nobody']}, '/agents'),
            ({'name': 'a', 'role': 'read', 'ttlMs': 0}, '/ttlMs'),
            ({'name': 'a', 'role': 'read', 'ttlMs': 10**18}, '/ttlMs'),
        ):
            with self.subTest(body=body):
                problem = self.assertProblem(
                    self.server.post('/api/tokens', body), 400, 'bad_value'
                )
                self.assertEqual(problem['pointer'], pointer)
        answer = self.server.post('/api/tokens', {'name': 'a', 'role': 'read', 'scopes': 'admin'})
        self.assertProblem(answer, 400, 'unknown_field')
        self.assertEqual(len(self.server.get('/api/tokens')['items']), 1)


class People(Rights):
    def approval(self):
        session = self.server.create('approve X')
        return session, self.server.open_calls(session['id'])[0]

    def test_role_answer_must_send_the_digest(self):
        _, call = self.approval()
        bob = self.client('bob', 'answer')
        say = {'pendingID': call['id'], 'approved': True}
        problem = self.assertProblem(bob.post('/async-tool/decision', say), 400, 'bad_value')
        self.assertEqual(problem['pointer'], '/inputDigest')
        other = {**say, 'inputDigest': 'sha256:' + '0' * 64}
        self.assertProblem(bob.post('/async-tool/decision', other), 409, 'input_changed')
        good = {**say, 'inputDigest': call['inputDigest']}
        answer = self.assertStatus(bob.post('/async-tool/decision', good), 200)
        self.assertEqual(answer['receipt']['by'], {'type': 'token', 'name': 'bob'})
        receipt = self.server.get(f'/api/explain/{call["id"]}')['calls'][0]['pending']['receipt']
        self.assertEqual(receipt['by'], {'type': 'token', 'name': 'bob'})
        admin = self.server.post('/async-tool/decision', say)
        self.assertEqual(admin['outcome'], 'duplicate', 'an operator may leave it out')


GATE = """
[server]
demo = false
""" + DEPLOYS + """
[[tool]]
name = "deploy"
kind = "command"
command = ["/bin/sh", "-c", "echo ran"]
[[gate]]
tools = ["deploy"]
ask = "Deploy {input.target}?"
answerers = ["alice", "role:operate"]
need = 2
forbid_requester = true
"""


class Gate(Rights):
    def setUp(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-gate-'))
        (folder / 'dormouse.toml').write_text(GATE)
        self.arguments = ('--config', str(folder / 'dormouse.toml'))
        super().setUp()

    def test_two_answerers_without_the_requester_decide(self):
        requester = self.client('op', 'operate', agents=['*'])
        made = requester.post(
            '/api/projects/default/sessions?wait=20',
            {'agentID': 'ops', 'prompt': {'text': 'deploy A'}},
        )
        self.assertStatus(made, 201)
        call = self.server.open_calls(made['id'])[0]
        self.assertEqual(call['answer']['from'], ['alice', 'role:operate'])
        yes = {'pendingID': call['id'], 'approved': True, 'inputDigest': call['inputDigest']}
        say = '/async-tool/decision'
        self.assertProblem(requester.post(say, yes), 403, 'not_an_answerer')
        again = self.client('op', 'operate')  # another token of the same person
        self.assertProblem(again.post(say, yes), 403, 'not_an_answerer')
        bob = self.client('bob', 'answer')
        self.assertProblem(bob.post(say, yes), 403, 'not_an_answerer')
        alice = self.client('alice', 'answer')
        self.assertEqual(alice.post(say, yes)['outcome'], 'counted')
        second = self.client('alice', 'answer').post(say, yes)
        self.assertEqual([second['outcome'], len(second['votes'])], ['counted', 1])
        boss = self.client('boss', 'operate')
        self.assertEqual(boss.post(say, yes)['outcome'], 'applied')
        self.server.at_rest(made['id'])
        self.assertIn('ran', self.server.last_text(made['id']))
        pending = self.server.get(f'/api/explain/{call["id"]}')['calls'][0]['pending']
        votes = pending['answer']['votes']
        self.assertEqual([v['by']['name'] for v in votes], ['alice', 'boss'])
        self.assertEqual({v['digest'] for v in votes}, {pending['receipt']['digest']})
        self.assertRegex(votes[0]['digest'], '^sha256:[0-9a-f]{64}$')


class CommandLine(Rights):
    def cli(self, *arguments):
        return run(
            *arguments,
            '--server',
            f'http://127.0.0.1:{self.server.port}',
            '--data',
            self.server.directory,
        )

    def test_tokens_are_made_listed_and_revoked(self):
        made = self.cli(
            'token', 'create', 'alice', '--role', 'answer', '--projects', 'a,b', '--ttl', '90d'
        )
        self.assertEqual(made.returncode, 0, made)
        secret = made.stdout.strip()
        self.assertRegex(secret, r'^dm_[A-Za-z0-9_-]{43}$')
        self.assertNotIn(secret, made.stderr)
        client = Client(self.server.port, secret)
        self.assertStatus(client.get('/async-tool/pending?project=a'), 200)
        listed = self.cli('token', 'list')
        self.assertRegex(listed.stdout, r'tok_\S+\s+token\s+alice\s+answer\s+a b')
        self.assertNotIn(secret, listed.stdout)
        gone = self.cli('token', 'revoke', 'alice')
        self.assertEqual(gone.returncode, 0, gone)
        self.assertStatus(client.get('/async-tool/pending?project=a'), 401)
        self.assertEqual(self.cli('token', 'revoke', 'alice').returncode, 3)
        self.assertEqual(self.cli('token', 'create').returncode, 2)
        self.assertEqual(self.cli('token', 'create', 'x', '--role', 'root').returncode, 2)


class Audit(Rights):
    kind = Alone  # the audit has a chain for each server

    def lines(self):
        rows = self.server.select('SELECT line FROM audit ORDER BY n')
        return [json.loads(row['line']) for row in rows]

    def verify(self):
        report = self.server.checked('--json')
        return report.returncode, json.loads(report.stdout)

    def history(self):
        bob, name = self.token('bob', 'answer')
        _, call = self.waiting()
        bob.post(f'/async-tool/pending/{call["id"]}/claim', {})
        bob.post('/async-tool/result', {'pendingID': call['id'], 'result': {'output': 'hidden'}})
        self.server.delete(f'/api/tokens/{name}')
        self.server.finish()

    def test_audit_has_who_and_what_but_no_contents(self):
        self.history()
        lines = self.lines()
        self.assertEqual(
            [line['type'] for line in lines],
            ['token_created', 'claimed', 'submitted', 'token_revoked'],
        )
        self.assertEqual(lines[0]['by']['name'], 'first')
        self.assertEqual(lines[2]['by'], {'type': 'token', 'name': 'bob'})
        self.assertTrue(lines[2]['digest'].startswith('sha256:'))
        self.assertNotIn('hidden', json.dumps(lines))
        status, report = self.verify()
        self.assertEqual((status, report['audited'], report['findings']), (0, 4, []))

    def test_changed_or_missing_audit_lines_are_found(self):
        self.history()
        self.server.change('CREATE TABLE saved AS SELECT * FROM audit')
        zeros = {'sqlite': 'zeroblob(32)', 'postgres': "decode(repeat('00', 32), 'hex')"}[STORE]
        for n in (1, 2, 3, 4):
            for sql in (
                f"UPDATE audit SET line = replace(line, '\"at\":1', '\"at\":2') WHERE n = {n}",
                f'UPDATE audit SET hash = {zeros} WHERE n = {n}',
                f'UPDATE audit SET n = 9 WHERE n = {n}',
            ):
                with self.subTest(sql=sql):
                    self.server.change(
                        'DELETE FROM audit', 'INSERT INTO audit SELECT * FROM saved', sql)
                    status, report = self.verify()
                    self.assertEqual(status, 1, report)
                    self.assertIn('audit', report['findings'][0]['what'])


if __name__ == '__main__':
    main()
