#!/usr/bin/env python3
"""The members that handlers take of a request's body (the tables of src/http/objects/requests.cc,
and the lists of `Body` in src/http/resources) against the schemas of the bodies in openapi.json."""
import json
import re
import unittest

from dormouse import ROOT, main

# Body name(object, pointer, {"a", "b"})
PART = re.compile(r'\bBody \w+\(([^;{]*)\{([^}]*)\}\)')
# Body name(object, some_request)
BODY = re.compile(r'\bBody (?:const )?\w+\(json::View\([^()]*\), (\w+_request)[,)]')
REQUEST = re.compile(r'^Request const (\w+)\{\s*"(\w+)"', re.M)
# What is read by a table, though not by one of a body as a whole.
TABLES = {'asked_answer_part', 'choice_part', 'input_part', 'mail_request', 'rule_part'}
# What no handler reads by a `Body`: forms, and webhooks, which are stored unchanged.
OTHER_READERS = (
    '/a/{id}',
    '/async-tool/slack',
    '/async-tool/webhook',
    '/async-tool/webhook/{source}',
    '/mcp',
    '/sign-in/email',
)


class RequestFields(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.document = json.loads(
            (ROOT / 'src/http/resources/operations/openapi.json').read_text()
        )
        tables = (ROOT / 'src/http/objects/requests.cc').read_text()
        cls.tables = dict(REQUEST.findall(tables))  # variable: schema
        cls.read, cls.parts = set(), {}
        for path in sorted((ROOT / 'src/http/resources').glob('*/*.cc')):
            text = path.read_text()
            cls.read |= set(BODY.findall(text))
            for _, names in PART.findall(text):
                members = frozenset(re.findall(r'"(\w+)"', names))
                cls.parts[members] = f'{path.name}: {sorted(members)}'

    def members(self, schema):
        while '$ref' in schema:
            schema = self.document['components']['schemas'][schema['$ref'].rsplit('/', 1)[1]]
        out = set(schema.get('properties', {}))
        for word in ('allOf', 'oneOf', 'anyOf'):
            for part in schema.get(word, []):
                out |= self.members(part)
        return out

    def bodies(self):
        """(place, schema) of each body that a handler reads"""
        for path, item in self.document['paths'].items():
            for method, operation in item.items():
                media = operation.get('requestBody', {}).get('content', {})
                if path not in OTHER_READERS and 'application/json' in media:
                    yield f'{method} {path}', media['application/json']['schema']

    def objects(self, node):
        """Returns the members of each object described in `node`."""
        if isinstance(node, list):
            return set().union(*map(self.objects, node))
        if not isinstance(node, dict):
            return set()
        out = set().union(*map(self.objects, node.values()))
        if isinstance(node.get('properties'), dict):
            out.add(frozenset(node['properties']))
        return out

    def test_each_body_that_is_described_has_a_table(self):
        schemas = self.document['components']['schemas']
        described = set()
        for place, schema in self.bodies():
            name = schema['$ref'].rsplit('/', 1)[1]
            described.add(name)
            if name.startswith('Acp'):
                names = {re.sub('Id$', 'ID', one) for one in self.members(schema)}
                names = {'cwd' if one == 'workingDirectory' else one for one in names}
                self.assertEqual(names, set(schemas[name[3:]]['properties']), place)
            else:
                self.assertIn(name, self.tables.values(), place)
        unused = set(self.tables.values()) - described
        self.assertEqual(unused, {'AskAnswerers', 'Choice', 'Input', 'RuleRequest'})

    def test_each_table_is_read(self):
        self.assertGreater(len(self.tables), 20)
        self.assertEqual(set(self.tables) - self.read, TABLES)

    def test_each_object_in_a_body_is_described(self):
        described = self.objects(self.document)
        for members, where in self.parts.items():
            # One reader may accept several alternatives: with `data`, or with `url`.
            alternatives = [one for one in described if one <= members]
            self.assertEqual(set().union(*alternatives), members, where)


if __name__ == '__main__':
    main()
