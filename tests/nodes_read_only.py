#!/usr/bin/env python3
"""Servers whose database takes no writes for a while: they say so, and continue by themselves."""
import postgres
from dormouse import main, wait_for
from store_postgres import Database


class ReadOnly(Database):
    def setUp(self):
        super().setUp()
        self.database = postgres.Cluster()
        self.addCleanup(self.database.end)

    def make(self, value):
        self.database.configure(f'default_transaction_read_only = {value}')

    def check(self, server):
        session = server.create('deploy A')['id']
        call, = server.open_calls(session)
        self.make('on')
        wait_for(lambda: server.get('/readyz').status == 503, what='not ready')
        self.assertEqual(server.result(call['id'], 'live').status, 503)
        self.assertEqual(len(server.open_calls(session)), 1, 'it can be read')
        return session, call

    def recover(self, server, session, call):
        self.make('off')
        wait_for(lambda: server.get('/readyz').status == 200, what='ready again')
        wait_for(lambda: server.result(call['id'], 'live').status == 200, what='the write')
        server.at_rest(session)
        self.assertEqual(server.last_text(session), 'deploy A: live')

    def test_servers_are_not_ready_until_it_takes_writes(self):
        a, b = self.server(), self.server()
        waiting = self.check(a)
        wait_for(lambda: b.get('/readyz').status == 503, what='B is not ready')
        wait_for(lambda: self.concerns(a), what='the doctor')
        self.assertIn('read-only', self.concerns(a)[0]['why'])
        self.recover(a, *waiting)
        wait_for(lambda: b.get('/readyz').status == 200, what='B is ready')
        wait_for(lambda: not self.concerns(a), what='no concern')

    def test_only_server_is_not_ready_until_it_takes_writes(self):
        server = self.server()
        self.recover(server, *self.check(server))

    def concerns(self, server):
        return [one for one in server.get('/api/doctor')['concerns'] if one['about'] == 'store']


if __name__ == '__main__':
    main()
