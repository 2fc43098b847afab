#!/usr/bin/env python3
"""Writes the fields of events, as src/core/wire/event_fields.h has them, into the tables of
docs/reference/events.md and the schemas of openapi.json.

    tools/events_page.py build/release/wire_tests

tests/event_fields.py compares them."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs/reference/events.md'
OPENAPI = ROOT / 'src/http/resources/operations/openapi.json'
STREAM_ONLY = ['append_unreadable']


def written_by(tests, suite, variable):
    """Returns the JSON that a suite of a GoogleTest binary writes to the file that `variable`
    names."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'written.json'
        subprocess.run(
            [tests, f'--gtest_filter={suite}.*'], check=True, stdout=subprocess.DEVNULL,
            env={**os.environ, variable: str(path)}
        )
        return json.loads(path.read_text())


def fields_of(wire_tests):
    """{'events': schema by type, 'shared': schemas that these refer to}"""
    return written_by(wire_tests, 'EventFields', 'EVENT_FIELDS')


def names(schema):
    required = schema.get('required', [])
    return ', '.join(f'`{name}{"" if name in required else "?"}`' for name in schema['properties'])


def with_tables(page, events):
    """The page with the fields of each event in the second column of its row; its prose stays."""
    out, table = [], False
    for line in page.splitlines():
        if line.startswith('| type | fields |'):
            table = True
        elif not line.startswith('|'):
            table = False
        row = table and re.match(r'\| `(\w+)` \|[^|]*\|', line)
        if row:
            cell = names(events[row[1]])
            line = f'| `{row[1]}` | {cell}{" " if cell else ""}|' + line[row.end():]
        out.append(line)
    return '\n'.join(out) + '\n'


def schema_name(event):
    return 'Event' + ''.join(word.capitalize() for word in event.split('_')) + 'Data'


def with_schemas(document, fields):
    """The document with a schema for the data of each type, chosen by the type."""
    old = document['components']['schemas']
    generated = re.compile(r'Event(Budget|Call|MailTarget|Pause|Receipt|Trouble|Usage|\w+Data)')
    schemas = {name: schema for name, schema in old.items() if not generated.fullmatch(name)}
    schemas.update(fields['shared'])
    schemas.update({schema_name(event): schema for event, schema in fields['events'].items()})
    event = schemas['Event']
    event['properties']['type']['enum'] = [*fields['events'], *STREAM_ONLY]
    event['allOf'] = [
        {
            'if': {'properties': {'type': {'const': name}}},
            'then': {'properties': {'data': {'$ref': f'#/components/schemas/{schema_name(name)}'}}},
        }
        for name in fields['events']
    ]
    components = {**document['components'], 'schemas': schemas}
    return {**document, 'components': components}


def text_of(document):
    return json.dumps(document, indent=1, ensure_ascii=False) + '\n'


def main():
    fields = fields_of(sys.argv[1])
    PAGE.write_text(with_tables(PAGE.read_text(), fields['events']))
    OPENAPI.write_text(text_of(with_schemas(json.loads(OPENAPI.read_text()), fields)))


if __name__ == '__main__':
    main()
