#!/usr/bin/env python3
"""A selection of the outside tests, run on servers that keep their sessions in PostgreSQL, and on
two servers that share the schema, each answering every second request.

`./test postgres` and `./test postgres2` run all of them so; with DORMOUSE_TEST_STORE=postgres or
postgres2, tests/FILE.py runs one file."""
import os
import subprocess
import sys

import postgres
import pytest
from dormouse import ROOT

LIMIT_S = 280
# A file, and perhaps names of classes or tests in it.
ON_ONE = [
    'http_contract',
    'answers',
    'artifacts Damaged',
    'mail Policy',
    'feed Feed',
    'operators Operators',
    'repair Repair StartUp',
    'retention Audit',
    'retention_messages ByHand.test_view_for_sql_shows_what_is_left',
    'crash_windows OnTheWay',
]
# What answers differently if a server trusts its memory, or is done twice.
ON_TWO = [
    'answers',
    'callback_url',
    'doctor Models',
    'gates_by_config Polls',
    'http_state Paging TwoTokens Keys',
    'rules Made Ended',
    'sign_in',
    'tasks OverHttp',
    'validators Doors',
    'webhooks_in References',
]
SELECTED = [('postgres', one) for one in ON_ONE] + [('postgres2', one) for one in ON_TWO]


@pytest.mark.parametrize('store, selected', SELECTED)
def test_selected(store, selected):
    postgres.needed()
    file, *names = selected.split()
    ended = subprocess.run(
        [sys.executable, ROOT / 'tests' / f'{file}.py', *names], capture_output=True, text=True,
        check=False, timeout=LIMIT_S, env={**os.environ, 'DORMOUSE_TEST_STORE': store})
    assert ended.returncode == 0, ended.stdout + ended.stderr


if __name__ == '__main__':
    sys.exit(pytest.main([__file__, '-q', '-p', 'no:cacheprovider']))
