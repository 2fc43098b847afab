#!/usr/bin/env python3
"""The fields of events in docs/reference/events.md and openapi.json against the rows of
src/core/wire/event_fields.h, which wire_tests prints."""
import json
import pathlib
import sys
import unittest

from dormouse import BINARY, ROOT, leave_out, main

sys.path.insert(0, str(ROOT / 'tools'))
from events_page import OPENAPI, PAGE, fields_of, text_of, with_schemas, with_tables

WIRE_TESTS = pathlib.Path(BINARY).parent / 'wire_tests'
AGAIN = 'run tools/events_page.py build/release/wire_tests'


def setUpModule():
    if not WIRE_TESTS.exists():
        leave_out('wire_tests is not built beside the binary')


class EventsPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fields = fields_of(WIRE_TESTS)

    def test_page_has_the_fields_of_each_event(self):
        page = PAGE.read_text()
        self.assertTrue(with_tables(page, self.fields['events']) == page, AGAIN)
        for event in self.fields['events']:
            self.assertEqual(page.count(f'\n| `{event}` | '), 1, event)

    def test_openapi_has_a_schema_for_each_event(self):
        text = OPENAPI.read_text()
        self.assertTrue(text_of(with_schemas(json.loads(text), self.fields)) == text, AGAIN)


if __name__ == '__main__':
    main()
