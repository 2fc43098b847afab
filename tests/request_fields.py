#!/usr/bin/env python3
"""The members that handlers take of a request's body (the lists of `Body` in src/http/resources)
against the schemas of the bodies in openapi.json."""
import json
import re
import unittest

from dormouse import ROOT, main

# Body name(object, pointer, {"a", "b"})
BODY = re.compile(r'\bBody \w+\(([^;{]*)\{([^}]*)\}\)')
# What no handler reads by a `Body`: forms, and webhooks, which are stored as they come.
OTHER_READERS = ('/a/{id}', '/async-tool/webhook', '/async-tool/webhook/{source}')


class RequestFields(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.document = json.loads(
            (ROOT / 'src/http/resources/operations/openapi.json').read_text()
        )
        cls.bodies, cls.parts = {}, {}
        for path in sorted((ROOT / 'src/http/resources').glob('*/*.cc')):
            for place, names in BODY.findall(path.read_text()):
                kind = cls.bodies if re.search(r',\s*"",\s*$', place) else cls.parts
                members = frozenset(re.findall(r'"(\w+)"', names))
                kind[members] = f'{path.name}: {sorted(members)}'

    def members(self, schema):
        while '$ref' in schema:
            schema = self.document['components']['schemas'][schema['$ref'].rsplit('/', 1)[1]]
        out = set(schema.get('properties', {}))
        for word in ('allOf', 'oneOf', 'anyOf'):
            for part in schema.get(word, []):
                out |= self.members(part)
        return out

    def requests(self):
        """{place: members}, with the names that a route of other clients translates"""
        out = {}
        for path, item in self.document['paths'].items():
            for method, operation in item.items():
                for media in operation.get('requestBody', {}).get('content', {}).values():
                    names = self.members(media['schema'])
                    if '/acp/' in path:
                        names = {re.sub('Id$', 'ID', name) for name in names}
                        names = {'cwd' if n == 'workingDirectory' else n for n in names}
                    out[f'{method} {path}'] = frozenset(names)
        return out

    def objects(self, node):
        """The members of each object that is described in `node`."""
        if isinstance(node, list):
            return set().union(*map(self.objects, node))
        if not isinstance(node, dict):
            return set()
        out = set().union(*map(self.objects, node.values()))
        if isinstance(node.get('properties'), dict):
            out.add(frozenset(node['properties']))
        return out

    def test_each_body_that_is_described_is_read(self):
        self.assertGreater(len(self.bodies), 20)
        for place, members in self.requests().items():
            if place.split()[1] in OTHER_READERS:
                continue
            known = [*self.bodies]
            if '/acp/' in place:  # these leave out what they cannot name
                self.assertTrue(any(members <= one for one in known), place)
            else:
                self.assertTrue(members in known, f'{place}: {sorted(members)}')

    def test_each_body_that_is_read_is_described(self):
        described = set(self.requests().values())
        for members, where in self.bodies.items():
            self.assertTrue(members in described, where)

    def test_each_object_in_a_body_is_described(self):
        described = self.objects(self.document)
        for members, where in self.parts.items():
            # One reader may take several alternatives: with `data`, or with `url`.
            alternatives = [one for one in described if one <= members]
            self.assertEqual(set().union(*alternatives), members, where)


if __name__ == '__main__':
    main()
