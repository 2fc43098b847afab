#!/usr/bin/env python3
"""The schemas of the API's objects in openapi.json against the rows of src/http, which
http_resources_tests prints."""
import json
import pathlib
import sys
import unittest

from dormouse import BINARY, ROOT, leave_out, main

sys.path.insert(0, str(ROOT / 'tools'))
from events_page import OPENAPI, text_of
from object_schemas import schemas_of, with_objects

RESOURCES_TESTS = pathlib.Path(BINARY).parent / 'http_resources_tests'
AGAIN = 'run tools/object_schemas.py build/release/http_resources_tests'


def setUpModule():
    if not RESOURCES_TESTS.exists():
        leave_out('http_resources_tests is not built beside the binary')


class ObjectSchemas(unittest.TestCase):
    def test_openapi_describes_each_object_as_it_is_written(self):
        text = OPENAPI.read_text()
        schemas = schemas_of(RESOURCES_TESTS)
        self.assertIn('Session', schemas)
        self.assertTrue(text_of(with_objects(json.loads(text), schemas)) == text, AGAIN)


if __name__ == '__main__':
    main()
