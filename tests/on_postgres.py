#!/usr/bin/env python3
"""A selection of the outside tests, run on servers that keep their sessions in PostgreSQL. All of a
file runs so with DORMOUSE_TEST_STORE=postgres tests/FILE.py; with postgres2 on two servers that
share the schema, each answering every second request."""
import os
import subprocess
import sys

import postgres
import pytest
from dormouse import ROOT

LIMIT_S = 180
# A file, and perhaps names of classes or tests in it.
SELECTED = [
    'http_contract',
    'answers',
    'mail Policy',
    'feed Feed',
    'repair Repair StartUp',
    'retention Audit',
    'retention_messages ByHand.test_view_for_sql_shows_what_is_left',
    'crash_windows OnTheWay',
]


@pytest.mark.parametrize('selected', SELECTED)
def test_selected(selected):
    postgres.needed()
    file, *names = selected.split()
    ended = subprocess.run(
        [sys.executable, ROOT / 'tests' / f'{file}.py', *names], capture_output=True, text=True,
        check=False, timeout=LIMIT_S, env={**os.environ, 'DORMOUSE_TEST_STORE': 'postgres'})
    assert ended.returncode == 0, ended.stdout + ended.stderr


if __name__ == '__main__':
    sys.exit(pytest.main([__file__, '-q', '-p', 'no:cacheprovider']))
