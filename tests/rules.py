#!/usr/bin/env python3
"""Standing rules: made with an approval, used for later calls, listed, revoked, ended; after a
SIGKILL, and after each change of what a person had agreed to."""
import json
import pathlib
import re
import tempfile

from dormouse import Case, Client, Server, environment, main, run
from tools_by_config import DEPLOYS

CONFIG = '''
[server]
demo = false
[[project]]
id = "default"
[[project]]
id = "other"
''' + DEPLOYS + '''
[[agent]]
id = "more"
model = "main"
tools = ["deploy"]
[[tool]]
name = "deploy"
kind = "command"
command = ["cat"]
%(tool)s
[[gate]]
id = "deploys"
tools = ["deploy"]
ask = "%(ask)s"
%(gate)s
'''
DAY = 86_400_000


class Rules(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='dormouse-rules-')
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / 'dormouse.toml'

    def tearDown(self):
        if getattr(self, 'server', None):
            super().tearDown()

    def configure(self, gate='', ask='Deploy?', tool=''):
        self.path.write_text(CONFIG % {'gate': gate, 'ask': ask, 'tool': tool})

    def serve(self, gate='', **env):
        self.configure(gate)
        self.server = Server('--config', str(self.path), env=env)
        self.addCleanup(self.server.clean)
        return self.server

    def ask(self, text='deploy shop', **more):
        """The call of a new session; None: it ran without a question."""
        self.session = self.server.create(text, **{'agent': 'ops', **more})['id']
        return self.open_call()

    def open_call(self):
        path = f'/async-tool/pending?sessionID={self.session}&view=inbox'
        calls = self.server.get(path)['items']
        return calls[0] if calls else None

    def ask_again(self, text='deploy shop'):
        self.server.prompt(self.session, text)
        return self.open_call()

    def allow(self, call, scope='project', **more):
        answer = self.server.decide(call, True, rule={'scope': scope, **more})
        self.assertStatus(answer, 200)
        self.server.at_rest(call['sessionID'])
        return answer['ruleID']

    def rules(self, project='default'):
        return self.server.get(f'/api/rules?project={project}')['items']

    def decided(self):
        events = self.server.events(self.session)
        return [e['data'] for e in events if e['type'] == 'gate_decided']


class Made(Rules):
    def test_rule_of_the_session_answers_in_it_alone(self):
        self.serve()
        call = self.ask()
        self.assertEqual(call['gate'], {'id': 'deploys', 'alwaysAsk': False, 'rules': True})
        rule = self.allow(call, 'session')
        self.assertIsNone(self.ask_again())
        decided = self.decided()[-1]
        self.assertEqual((decided['verdict'], decided['rule']), ('allow', rule))
        self.assertEqual(decided['by'], 'token:first')
        self.assertIsNotNone(self.ask(), 'another session')

    def test_project_rule_answers_in_each_session_of_its_agent(self):
        self.serve()
        self.allow(self.ask())
        self.assertIsNone(self.ask())
        self.assertIn('{"target":"shop"}', self.server.last_text(self.session))
        self.assertIsNotNone(self.ask('deploy blog'), 'other arguments')
        self.assertIsNotNone(self.ask(agent='more'), 'another agent')
        self.assertIsNotNone(self.ask(project='other'), 'another project')

    def test_rule_is_listed_with_its_uses(self):
        self.serve()
        rule = self.allow(self.ask(), forMs=DAY)
        (listed,) = self.rules()
        self.assertEqual(listed['uses'], 0)
        self.ask()
        self.ask()
        (listed,) = self.rules()
        made = listed['time'].pop('created')
        self.assertGreaterEqual(listed['time'].pop('used'), made)
        self.assertEqual(listed, {
            'id': rule, 'scope': 'project', 'projectID': 'default',
            'sessionID': listed['sessionID'], 'agentID': 'ops', 'gate': 'deploys',
            'tool': 'deploy', 'input': {'target': 'shop'}, 'match': None,
            'by': {'type': 'token', 'name': 'first'}, 'uses': 2,
            'time': {'expires': made + DAY},
        })
        self.assertEqual(self.rules('other'), [])

    def test_chosen_arguments_must_be_equal_others_may_differ(self):
        self.serve()
        self.allow(self.ask('deploy shop'), match=['target'])
        self.assertIsNone(self.ask('deploy shop'))
        self.assertIsNotNone(self.ask('deploy blog'))

    def test_rule_is_used_after_a_kill(self):
        self.serve()
        self.allow(self.ask())
        self.server.restart()
        self.assertIsNone(self.ask())
        self.server.restart()
        self.assertEqual(self.rules()[0]['uses'], 1)

    def test_kills_while_rules_are_made_and_used(self):
        """Each time either both the approval and its rule are there, or neither."""
        self.serve()
        for _ in range(6):
            call = self.ask()
            if call is None:
                (rule,) = self.rules()
                self.assertStatus(self.server.delete(f'/api/rules/{rule["id"]}'), 204)
                for _ in self.server.urls():  # each server that lists has read the deletion
                    self.assertEqual(self.rules(), [])
                continue
            body = {'pendingID': call['id'], 'approved': True,
                    'inputDigest': call['inputDigest'], 'rule': {'scope': 'project'}}
            client = self.server.new_client()
            client.begin('/async-tool/decision', body)
            self.server.restart(after=0.002)
            client.close()
            self.server.at_rest(call['sessionID'])
            open_ = [one['id'] for one in self.server.open_calls(call['sessionID'])]
            settled = call['id'] not in open_
            made = [e for e in self.server.events(call['sessionID'])
                    if e['type'] == 'submitted' and 'rule' in e['data'].get('decision', {})]
            self.assertEqual((len(made), len(self.rules())), (int(settled),) * 2)
            if not settled:
                self.server.decide(call, False)

    def test_approval_is_in_the_audit_with_its_rule(self):
        self.serve()
        rule = self.allow(self.ask())
        self.ask()
        self.server.delete(f'/api/rules/{rule}')
        self.server.term()
        audit = self.server.checked()
        self.assertEqual(audit.returncode, 0, audit)
        self.server.start()

    def test_explain_names_the_rule(self):
        self.serve()
        rule = self.allow(self.ask())
        self.ask()
        (allowed,) = self.server.get(f'/api/explain/{self.session}')['byRules']
        self.assertEqual((allowed['ruleID'], allowed['tool'], allowed['by']['name']),
                         (rule, 'deploy', 'first'))


class Ended(Rules):
    def test_revoked_rule_never_answers(self):
        self.serve()
        rule = self.allow(self.ask())
        self.assertStatus(self.server.delete(f'/api/rules/{rule}'), 204)
        self.assertProblem(self.server.delete(f'/api/rules/{rule}'), 404, 'not_found')
        self.assertIsNotNone(self.ask())
        self.server.restart()
        self.assertIsNotNone(self.ask())
        self.assertEqual(self.rules(), [])

    def test_expired_rule_never_answers(self):
        self.serve()
        self.allow(self.ask(), forMs=60_000)
        self.server.advance(59)
        self.assertIsNone(self.ask())
        self.server.advance(2)
        self.assertIsNotNone(self.ask())
        self.assertEqual(self.rules(), [])
        self.server.restart()
        self.assertEqual(self.rules(), [])

    def test_default_end_of_a_rule_of_the_project(self):
        self.serve()
        self.allow(self.ask())
        self.allow(self.ask('deploy blog'), 'session')
        of_session, of_project = self.rules()
        self.assertIsNone(of_session['time']['expires'])
        time = of_project['time']
        self.assertEqual(time['expires'] - time['created'], 30 * DAY)

    def test_deleted_session_takes_its_rules(self):
        self.serve()
        self.allow(self.ask(), 'session')
        of_project = self.allow(self.ask('deploy blog'))
        for item in self.server.items('/api/projects/default/sessions'):
            self.assertStatus(self.server.delete(f'/api/sessions/{item["id"]}'), 204)
        self.assertEqual([rule['id'] for rule in self.rules()], [of_project])
        self.server.restart()
        self.assertEqual([rule['id'] for rule in self.rules()], [of_project])
        self.assertStatus(self.server.delete(f'/api/rules/{of_project}'), 204)

    def test_each_change_of_gate_or_tool_asks_again(self):
        self.serve()
        self.allow(self.ask())
        for change in (
            {'ask': 'Deploy now?'},
            {'gate': 'answerers = ["first"]'},
            {'gate': 'need = 2'},
            {'gate': 'always_ask = true'},
            {'gate': 'forbid_requester = true'},
            {'gate': 'when = { "/target" = "shop" }'},
            {'tool': 'description = "Another one."'},
            {'tool': 'cwd = "/"'},
        ):
            with self.subTest(change):
                self.configure(**change)
                self.server.restart()
                self.assertIsNotNone(self.ask())
        self.configure()
        self.server.restart()
        self.assertIsNone(self.ask(), 'what the person agreed to is back')
        self.configure(gate='timeout = "1h"\nremind_after = "1m"')
        self.server.restart()
        self.assertIsNone(self.ask(), 'times are no part of it')


class Refused(Rules):
    def refuse(self, call, pointer, **rule):
        answer = self.server.decide(call, True, rule=rule)
        problem = self.assertProblem(answer, 400, 'bad_value')
        self.assertEqual(problem.get('pointer'), pointer)
        self.assertEqual(len(self.server.open_calls(call['sessionID'])), 1)

    def test_bad_rules(self):
        self.serve()
        call = self.ask()
        self.refuse(call, '/rule/scope')
        self.refuse(call, '/rule/scope', scope='always')
        self.refuse(call, '/rule/scope', scope=1)
        for ms in (0, 999, 366 * DAY + 1, '1h', 1.5, True):
            self.refuse(call, '/rule/forMs', scope='session', forMs=ms)
        for match in ([], 'target', [1], ['x'] * 65, ['nothing'], ['/target'], [None]):
            self.refuse(call, '/rule/match', scope='session', match=match)
        answer = self.server.decide(call, True, rule={'scope': 'session', 'until': 1})
        self.assertProblem(answer, 400, 'unknown_field')
        answer = self.server.decide(call, True, rule='session')
        self.assertProblem(answer, 400, 'bad_value')
        self.assertEqual(self.rules(), [])

    def test_rule_needs_an_approval_of_what_was_shown(self):
        self.serve()
        call = self.ask()
        rule = {'scope': 'session'}
        for more in ({'approved': False}, {'arguments': {'target': 'x'}}, {'inputDigest': None}):
            body = {'pendingID': call['id'], 'approved': True,
                    'inputDigest': call['inputDigest'], 'rule': rule, **more}
            answer = self.server.post('/async-tool/decision', body)
            self.assertProblem(answer, 400, 'bad_value')
        self.assertEqual(self.rules(), [])
        self.allow(call, 'session')

    def test_gate_that_always_asks(self):
        self.serve('always_ask = true')
        call = self.ask()
        self.assertEqual((call['gate']['alwaysAsk'], call['gate']['rules']), (True, False))
        self.refuse(call, '/rule', scope='session')

    def test_gate_of_several_voters(self):
        self.serve('need = 2', DORMOUSE_TOKEN='second')
        self.refuse(self.ask(), '/rule', scope='session')

    def test_requester_never_answers_by_a_rule(self):
        self.serve('forbid_requester = true', DORMOUSE_TOKEN='second')
        call = self.ask()
        first, self.server.client = self.server.client, Client(self.server.port, 'second')
        self.allow(call)
        self.assertIsNotNone(self.ask(), 'its creator is now the requester')
        self.server.client = first
        self.assertIsNone(self.ask())

    def test_roles_and_projects(self):
        self.serve()
        rule = self.allow(self.ask())

        def client(role, project):
            body = {'name': 'x', 'role': role, 'projects': [project]}
            return Client(self.server.port, self.server.post('/api/tokens', body)['secret'])

        reader, other = client('read', 'default'), client('answer', 'other')
        self.assertEqual(len(reader.get('/api/rules')['items']), 1)
        self.assertProblem(reader.delete(f'/api/rules/{rule}'), 403, 'forbidden')
        self.assertEqual(other.get('/api/rules')['items'], [])
        self.assertProblem(other.get('/api/rules?project=default'), 404, 'not_found')
        by_session = other.get(f'/api/rules?sessionID={self.session}')
        self.assertIn(by_session.status, (400, 404))
        self.assertProblem(other.delete(f'/api/rules/{rule}'), 404, 'not_found')
        self.assertStatus(client('answer', 'default').delete(f'/api/rules/{rule}'), 204)

    def test_repeated_approval_makes_one_rule(self):
        self.serve()
        call = self.ask()
        self.allow(call)
        again = self.server.decide(call, True, rule={'scope': 'project'})
        self.assertEqual(again['outcome'], 'duplicate')
        self.assertProblem(self.server.decide(call, True), 409, 'conflict')
        self.assertEqual(len(self.rules()), 1)


class CommandLine(Rules):
    def dm(self, *arguments, exits=0):
        env = environment(DORMOUSE_TOKEN=self.server.token)
        url = f'http://127.0.0.1:{self.server.port}'
        ended = run('--server', url, *arguments, env=env)
        self.assertEqual(ended.returncode, exits, ended)
        return ended.stdout + ended.stderr

    def test_rules_are_made_listed_and_revoked(self):
        self.serve()
        self.assertIn('people are asked about each call', self.dm('rules'))
        call = self.ask()
        output = self.dm('approve', call['id'], '--always', '--for', '7d', '--match', 'target')
        rule = re.search(r'rul_\S+', output)[0]
        self.server.at_rest(self.session)
        output = self.dm('rules')
        for word in ('rul_', 'first', 'project', 'deploy', 'target = shop, …'):
            self.assertIn(word, output)
        self.assertRegex(output, 'in [67] d')
        self.assertEqual(json.loads(self.dm('rules', '--json'))['items'][0]['id'], rule)
        self.assertIsNone(self.ask())
        output = self.dm('prompt', '--agent', 'ops', 'deploy shop')
        self.assertIn('allowed: deploy {"target":"shop"} by the standing rule of token:first',
                      output)
        self.assertIn(rule, self.dm('explain', self.session))
        self.assertIn(f'revoked {rule}', self.dm('rules', 'revoke', rule[:12]))
        self.assertIn('no standing rule begins with', self.dm('rules', 'revoke', rule, exits=3))

    def test_usage_errors(self):
        self.serve()
        call = self.ask()
        self.assertIn('Add --session or --always', self.dm(
            'approve', call['id'], '--for', '7d', exits=2))
        self.assertIn('--always', self.dm(
            'approve', call['id'], '--session', '--always', exits=2))
        self.assertIn('needs the rule', self.dm('rules', 'revoke', exits=2))
        self.dm('approve', call['id'], '--session')
        self.server.at_rest(self.session)
        self.assertIsNone(self.ask_again())


if __name__ == '__main__':
    main()
