#!/usr/bin/env python3
"""Every field of every route, by the table that is /openapi.json: missing, null, of a wrong type,
out of its bounds, unknown, too long; ids of another project, unknown and invalid ids; unknown
parameters. Each is refused by a problem that names the place, and nothing has changed. A new route
is in the document (tests/openapi.py), and so is tested here."""
import copy
import http.client
import json

from dormouse import ROOT, Case, Client, main

LONGEST = {'/api/import': 128 << 20}  # bodies; others have at most 8 MiB

DOCUMENT = json.loads((ROOT / 'src/http/resources/operations/openapi.json').read_text())
METHODS = ('get', 'post', 'patch', 'put', 'delete')
VALUES = {
    'string': 'x',
    'integer': 7,
    'number': 1.5,
    'boolean': True,
    'array': [{'x': 1}],
    'object': {'no such member': 1},
    'null': None,
}
# Their paths contain a proof of their own: without it nothing can be checked.
PROOFS = ('/c/', '/async-tool/webhook', '/async-tool/slack')
# What the document cannot know: which resources exist.
KNOWN = {'agentID': 'demo', 'agentId': 'demo', 'tool': 'deploy', 'result': {'output': 1}}
REFUSED = (400, 404, 409, 413, 415, 422)


def resolved(schema):
    while '$ref' in schema:
        node = DOCUMENT
        for name in schema['$ref'][2:].split('/'):
            node = node[name]
        schema = node
    return schema


def types_of(schema):
    """Returns the JSON types that a schema allows; all, if it does not say."""
    schema = resolved(schema)
    found = set()
    for branch in schema.get('anyOf', []) + schema.get('oneOf', []):
        found |= types_of(branch)
    types = schema.get('type', [])
    found |= {types} if isinstance(types, str) else set(types)
    if 'number' in found:
        found.add('integer')
    return found or set(VALUES)


def example(schema):
    """Returns a valid value."""
    schema = resolved(schema)
    if 'examples' in schema:
        return copy.deepcopy(schema['examples'][0])
    if 'enum' in schema:
        return schema['enum'][0]
    if schema.get('oneOf') or schema.get('anyOf'):
        return example((schema.get('oneOf') or schema.get('anyOf'))[0])
    kind = sorted(types_of(schema) - {'null'})[0] if 'type' in schema else 'string'
    if kind == 'object':
        return {name: example(schema['properties'][name]) for name in schema.get('required', [])}
    if kind == 'array':
        return [example(schema['items'])] * schema.get('minItems', 0)
    if kind == 'integer':
        return schema.get('minimum', 1)
    return VALUES[kind]


def bad_values(schema):
    """(what is wrong, a value)"""
    taken = types_of(schema)
    for kind, value in VALUES.items():
        if kind not in taken and kind != 'null':
            yield f'a {kind}', value
    schema = resolved(schema)
    if 'integer' in taken and 'string' not in taken:
        yield 'half a number', 1.5
        yield 'a number beyond all', 1 << 70
        if 'minimum' in schema:
            yield 'too small', schema['minimum'] - 1
        if 'maximum' in schema:
            yield 'too large', schema['maximum'] + 1
    if 'enum' in schema:
        yield 'no word of these', 'no_such_word'
    if schema.get('maxLength', 1 << 30) < 100_000:
        yield 'too long', 'x' * (schema['maxLength'] + 1)
    if schema.get('maxItems', 1 << 30) <= 1_000:
        yield 'too many', [example(schema['items'])] * (schema['maxItems'] + 1)


def bad_members(schema):
    """Returns (what is wrong, a value) with one invalid member, at any depth."""
    schema = resolved(schema)
    for branch in schema.get('oneOf', []) + schema.get('anyOf', []):
        yield from bad_members(branch)
    taken = types_of(schema)
    if 'array' in taken and 'items' in schema:
        for what, value in list(bad_values(schema['items'])) + list(bad_members(schema['items'])):
            yield f'an item: {what}', [value]
    if 'object' in taken and 'properties' in schema:
        good = example({k: v for k, v in schema.items() if k != 'examples'})
        for name, field in schema['properties'].items():
            for what, value in list(bad_values(field)) + list(bad_members(field)):
                yield f'{name}: {what}', {**good, name: value}
        for name in schema.get('required', []):
            yield f'without {name}', {k: v for k, v in good.items() if k != name}
        if schema.get('additionalProperties') is False:
            yield 'a member that nobody knows', {**good, 'noSuchMember': 1}


def operations():
    for path, item in DOCUMENT['paths'].items():
        for method, operation in item.items():
            # /mcp answers in JSON-RPC: tests/mcp_http.py
            if method in METHODS and not path.startswith(PROOFS) and path != '/mcp':
                yield method.upper(), path, operation


def json_schema(operation):
    content = operation.get('requestBody', {}).get('content', {})
    return (
        resolved(content['application/json']['schema']) if 'application/json' in content else None
    )


class Fields(Case):
    def setUp(self):
        super().setUp()
        self.session = self.server.create('deploy A')['id']
        (self.call,) = self.server.open_calls(self.session)
        self.before = self.state()

    def state(self):
        """Returns everything that a request here could have changed."""
        return {
            'sessions': self.server.items('/api/projects/default/sessions'),
            'events': self.server.events(self.session),
            'call': self.server.get('/async-tool/pending/' + self.call['id']).json,
            'tokens': [t['id'] for t in self.server.get('/api/tokens')['items']],
            'deliveries': self.server.items('/api/deliveries?project=default'),
        }

    def tearDown(self):
        self.assertEqual(self.state(), self.before)
        super().tearDown()

    def path(self, path):
        """Returns the path with existing ids, so that only the body is invalid."""
        session = self.session[4:]
        ids = {
            '/async-tool/pending/{id}': self.call['id'],
            '/api/tasks/{id}': f'tsk_{session}_1',
            '/api/mail/{id}': f'mail_{session}_1',
            '/api/artifacts/{id}': f'art_{session}_1',
            '/api/deliveries/{id}': f'dlv_{session}_1_1000',
            '/a/{id}': self.call['id'],
        }
        for beginning, one in ids.items():
            if path.startswith(beginning):
                path = path.replace('{id}', one)
        return path.replace('{id}', self.session).replace('{project}', 'default')

    def good_body(self, schema):
        body = example(schema)
        body.update({name: value for name, value in KNOWN.items() if name in body})
        if 'pendingID' in schema.get('required', []):
            body['pendingID'] = self.call['id']
        return body

    def refused(self, answer, field=None):
        self.assertIn(answer.status, REFUSED, answer)
        self.assertEqual(answer.headers['Content-Type'], 'application/problem+json')
        problem = answer.json
        self.assertTrue(problem['code'] and problem['detail'])
        if field and problem['code'] == 'unknown_field':
            self.assertIn(field, problem['field'], problem)
        if field and problem['code'] == 'bad_value' and 'pointer' in problem:
            self.assertEqual(problem['pointer'].split('/')[1], field, problem)
        return problem

    def test_each_field_of_each_body(self):
        tried = 0
        for method, path, operation in operations():
            schema = json_schema(operation)
            if not schema:
                continue
            where = self.path(path)
            for name, field in schema.get('properties', {}).items():
                wrong = list(bad_values(field))
                if path != '/async-tool/results':  # each of its items has its own answer
                    wrong += bad_members(field)
                if name in schema.get('required', []) and types_of(field) != set(VALUES):
                    wrong.append(('null', None))
                for what, value in wrong:
                    with self.subTest(method=method, path=path, field=name, what=what):
                        body = {**self.good_body(schema), name: value}
                        if name == 'parts':
                            body.pop('text', None)  # one of them, not both
                        self.refused(self.server.call(method, where, body), name)
                        tried += 1
        self.assertGreater(tried, 400)

    def test_each_item_of_a_batch_is_refused_by_itself(self):
        schema = resolved({'$ref': '#/components/schemas/BatchRequest'})['properties']['items']
        wrong = [value for what, value in bad_members(schema) if what.startswith('an item: ')]
        items = [
            {**item, 'pendingID': item.get('pendingID', self.call['id'])}
            for (item,) in wrong
            if isinstance(item, dict)
        ]
        answer = self.server.post('/async-tool/results', {'items': items[:100]})
        if answer.status != 200:
            return self.refused(answer)
        self.assertEqual({i.get('outcome') for i in answer['items']} & {'applied'}, set())

    def test_missing_and_unknown_members_of_each_body(self):
        for method, path, operation in operations():
            schema = json_schema(operation)
            if not schema:
                continue
            where = self.path(path)
            with self.subTest(method=method, path=path):
                for name in schema.get('required', []):
                    body = self.good_body(schema)
                    del body[name]
                    self.refused(self.server.call(method, where, body), name)
                body = {**self.good_body(schema), 'noSuchField': 1}
                problem = self.refused(self.server.call(method, where, body))
                self.assertEqual(problem['code'], 'unknown_field', problem)
                for body in ([], 'x', 1, None, True):
                    self.refused(self.server.call(method, where, body))
                for raw in (b'{', b'\xff', b'{"a":1,"a":2}', b'[' * 100 + b']' * 100):
                    self.refused(self.server.call(method, where, raw=raw))

    def test_each_body_too_long_is_refused_before_it_is_sent(self):
        for method, path, operation in operations():
            if not operation.get('requestBody'):
                continue
            form = not json_schema(operation)
            kind = 'application/x-www-form-urlencoded' if form else 'application/json'
            with self.subTest(method=method, path=path):
                connection = http.client.HTTPConnection('127.0.0.1', self.server.port, timeout=20)
                connection.putrequest(method, self.path(path))
                connection.putheader('Authorization', 'Bearer ' + self.server.token)
                connection.putheader('Content-Type', kind)
                connection.putheader('Origin', f'http://127.0.0.1:{self.server.port}')
                connection.putheader('Content-Length', str(LONGEST.get(path, 8 << 20) + 1))
                connection.endheaders()
                reply = connection.getresponse()
                self.assertEqual(reply.status, 413, reply.read())
                connection.close()

    def test_each_parameter_of_each_query(self):
        own = {'Origin': f'http://127.0.0.1:{self.server.port}'}
        page = Client(self.server.port, self.server.token)  # calls the server that it is of
        self.addCleanup(page.close)
        for method, path, operation in operations():
            parameters = [resolved(p) for p in operation.get('parameters', [])]
            queries = [p for p in parameters if p['in'] == 'query']
            where = self.path(path)
            with self.subTest(method=method, path=path):
                self.refused(page.call(method, where + '?noSuchParameter=1', headers=own))
            for one in queries:
                schema = resolved(one['schema'])
                wrong = []
                if schema.get('type') == 'integer':
                    wrong = ['', 'x', '1.5', '-1', '0x10', '1' * 40, '%00']
                    if 'maximum' in schema:
                        wrong.append(str(schema['maximum'] + 1))
                if 'enum' in schema:
                    wrong = ['no_such_word', '%00']
                if one['name'] == 'cursor':
                    wrong = ['x', '-1', '%00', '1' * 40, 'a' * 5000]
                for value in wrong:
                    with self.subTest(
                        method=method, path=path, parameter=one['name'], value=value[:40]
                    ):
                        body = (
                            {'body': self.good_body(json_schema(operation))}
                            if (json_schema(operation))
                            else {}
                        )
                        answer = self.server.call(method, f'{where}?{one["name"]}={value}', **body)
                        self.refused(answer)
                        twice = self.server.call(
                            method, f'{where}?{one["name"]}=1&{one["name"]}=1', **body
                        )
                        self.refused(twice)

    def test_foreign_unknown_and_invalid_ids_look_the_same(self):
        far = self.outsider()
        looked = 0
        for method, path, operation in operations():
            if '{id}' not in path or path.startswith(('/api/tokens/', '/a/')):
                continue
            schema = json_schema(operation)
            body = {'body': self.good_body(schema)} if schema else {}
            own = self.path(path).replace('/projects/default/', '/projects/other/')
            mark = self.session[4:]
            unknown = mark[:8] + 'A' * 13 + mark[21:]
            with self.subTest(method=method, path=path):
                problems = []
                for where in (own, own.replace(mark, unknown)):
                    answer = far.call(method, where, **body)
                    problem = self.refused(answer)
                    self.assertEqual((answer.status, problem['code']), (404, 'not_found'), answer)
                    problems.append(self.neutral(problem, where))
                self.assertEqual(problems[0], problems[1])
                none = path.replace('{id}', 'no-id').replace('{project}', 'other')
                self.assertProblem(far.call(method, none, **body), 404, 'not_found')
                looked += 1
        self.assertGreater(looked, 25)

    def outsider(self):
        """Returns a client with all rights in another project."""
        made = self.server.post(
            '/api/tokens', {'name': 'far', 'role': 'admin', 'projects': ['other'], 'ttlMs': 600_000}
        )
        self.before = self.state()
        return Client(self.server.port, made['secret'])

    def neutral(self, problem, where):
        out = {k: v for k, v in problem.items() if k not in ('requestID', 'instance')}
        return json.dumps(out, sort_keys=True)

    def test_foreign_pending_ids_in_bodies_look_unknown(self):
        far = self.outsider()
        looked = 0
        for method, path, operation in operations():
            schema = json_schema(operation)
            if not schema or 'pendingID' not in schema.get('required', []):
                continue
            for pending in (self.call['id'], self.call['id'][:-6] + 'AAAAAA', 'pnd_x', '', '../x'):
                with self.subTest(path=path, pending=pending):
                    body = {**self.good_body(schema), 'pendingID': pending}
                    self.assertProblem(far.call(method, path, body), 404, 'not_found')
                    looked += 1
        self.assertGreaterEqual(looked, 15)

    def test_replayed_and_reordered_requests_change_nothing(self):
        path = '/api/projects/default/sessions'
        key = {'Idempotency_Key': '"k-1"'}
        first = self.server.post(path, {'agentID': 'demo', 'title': 'one'}, **key)
        self.assertStatus(first, 201)
        again = self.server.post(path, {'agentID': 'demo', 'title': 'one'}, **key)
        self.assertEqual(again['id'], first['id'])
        other = self.server.post(path, {'agentID': 'demo', 'title': 'two'}, **key)
        self.assertProblem(other, 422, 'idempotency_mismatch')
        # The end comes before the decision, the progress after the outcome.
        decision = self.server.decide(self.call, True)
        self.assertProblem(decision, 422, 'wrong_kind')
        session = self.server.create('deploy B')['id']
        (call,) = self.server.open_calls(session)
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        self.server.at_rest(session)
        late = {'pendingID': call['id'], 'payload': {'percent': 50}}
        self.assertProblem(self.server.post('/async-tool/progress', late), 409, 'conflict')
        self.assertProblem(self.server.error(call['id'], 'no'), 409, 'conflict')
        self.assertTrue(self.server.result(call['id'], 'live')['duplicate'])
        receipts = [e for e in self.server.events(session) if e['type'] == 'submitted']
        self.assertEqual(len(receipts), 1)
        self.before = {**self.state(), 'events': self.before['events'], 'call': self.before['call']}


if __name__ == '__main__':
    main()
