"""What the test servers store, and how tests look at it and damage it."""
import contextlib
import hashlib
import json
import os
import sqlite3

import postgres

# The store of the test servers: sqlite, or postgres (tests/postgres.py) with a schema for each.
# postgres2: a second server shares the schema, and the requests of a client go to both in turn.
NAMED = os.environ.get('DORMOUSE_TEST_STORE', 'sqlite')
STORE = NAMED.removesuffix('2')
BESIDE = NAMED == 'postgres2'
# Where a frame of the journal is, in SQL: its session's number, and its first event.
FRAME_NO = {'sqlite': 'k >> 24', 'postgres': 'no'}[STORE]
FRAME_FIRST = {'sqlite': 'k & 16777215', 'postgres': 'first'}[STORE]


class Stored:
    """The part of a test server that is its store: in `directory`, or in the database `store`."""

    def database_of(self, arguments):
        """The URL of the database of a server with these arguments; None: it has none."""
        if '--store' in arguments:
            named = arguments[arguments.index('--store') + 1]
            return named if named.startswith('postgres') else None
        if STORE != 'postgres':
            return None
        # A server in the same directory continues the same sessions.
        name = hashlib.sha256(self.directory.encode()).hexdigest()[:16]
        return postgres.cluster().url(schema=f'd_{name}')

    def change(self, *statements):
        """Runs SQL that changes the stored data of a server that has ended."""
        if self.store:
            return self._database(*statements)
        with contextlib.closing(sqlite3.connect(f'{self.directory}/dormouse.db')) as file:
            with file:
                for statement in statements:
                    file.execute(statement)

    def select(self, query):
        """Returns the rows of a query as dictionaries. The server may run."""
        if self.store:
            found = self._database(f'SELECT row_to_json(r) FROM ({query}) r')
            return [{name: json.dumps(value) if isinstance(value, (dict, list)) else value
                     for name, value in json.loads(row).items()} for (row,) in found]
        path = f'file:{self.directory}/dormouse.db?mode=ro'
        with contextlib.closing(sqlite3.connect(path, uri=True)) as file:
            file.row_factory = sqlite3.Row
            return [dict(row) for row in file.execute(query)]

    def _database(self, *statements):
        return postgres.cluster().run(*statements, schema=self.store.split('?schema=')[1])
