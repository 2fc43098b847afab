#!/usr/bin/env python3
"""Writes the schemas of the API's objects into openapi.json, from the rows of src/http
(http/objects/fields.h). Keeps the examples.

    tools/object_schemas.py build/release/http_resources_tests

tests/api_schemas.py compares them."""
import json
import re
import sys

from events_page import OPENAPI, text_of, written_by

REFERENCE = '#/components/schemas/'
# The paths of ACP session managers spell these objects in their own way (sessions/acp.cc).
SPELLED = ['Activity', 'Session', 'Turn', 'Accepted', 'CreateRequest', 'CancelRequest']


def schemas_of(resources_tests):
    """{name: schema}"""
    return written_by(resources_tests, 'Schemas', 'OBJECT_SCHEMAS')


def spelled_name(name):
    name = 'workingDirectory' if name == 'cwd' else name
    return re.sub('(ID|IDs|URL)$', lambda word: word[0].replace('D', 'd').replace('RL', 'rl'), name)


def spelled_members(schema):
    properties, required = {}, []
    for name, inner in schema['properties'].items():
        members = inner['properties'] if name == 'time' else {name: inner}
        for member, value in members.items():
            new = f'{member}At' if name == 'time' else spelled_name(member)
            properties[new] = value
            if name in schema.get('required', []):
                required.append(new)
    return {**schema, 'properties': properties, **({'required': required} if required else {})}


def spelled(schema):
    """The schema of an object in the spelling of the /acp/ paths."""
    if 'oneOf' in schema:
        return {**schema, 'oneOf': [spelled_members(one) for one in schema['oneOf']]}
    text = json.dumps(spelled_members(schema))
    return json.loads(text.replace(f'"{REFERENCE}Activity"', f'"{REFERENCE}AcpActivity"'))


def with_spelled(schemas):
    out = dict(schemas)
    for name in SPELLED:
        if name in schemas:
            about = schemas[name].get('description', '') + ' In the spelling of the /acp/ paths.'
            out[f'Acp{name}'] = {**spelled(schemas[name]), 'description': about.strip()}
    return out


def with_objects(document, schemas):
    """The document with these schemas in the place of those of the same names."""
    old = document['components']['schemas']
    new = {**old}
    for name, schema in with_spelled(schemas).items():
        kept = {'examples': old[name]['examples']} if 'examples' in old.get(name, {}) else {}
        new[name] = {**schema, **kept}
    return {**document, 'components': {**document['components'], 'schemas': new}}


def main():
    schemas = schemas_of(sys.argv[1])
    OPENAPI.write_text(text_of(with_objects(json.loads(OPENAPI.read_text()), schemas)))


if __name__ == '__main__':
    main()
