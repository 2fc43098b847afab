#!/usr/bin/env python3
"""What sessions cost by the prices of their models (docs/reference/models.md)."""
import json
import pathlib

from dormouse import Case, Server, main, run

MODEL = '''
[[model]]
id = "main"
kind = "scripted"
%s

[[agent]]
id = "ops"
model = "main"
tools = ["ask_human"]
'''
PRICES = 'input_price = 2\noutput_price = 10.5\n'


class Costs(Case):
    def serve(self, prices):
        self.server = Server(start=False)
        self.addCleanup(self.server.clean)
        self.configure(prices)
        self.server.start()

    def configure(self, prices):
        config = pathlib.Path(self.server.own, 'dormouse.toml')
        config.write_text(MODEL % prices)
        self.server.arguments = ['--config', str(config)]

    def session(self):
        return self.server.create('hello', agent='ops')['id']

    def replies(self, session):
        events = self.server.events(session)
        return [e['data']['usage'] for e in events if e['type'] == 'model_replied']

    def usage(self, session):
        return self.server.session(session)['usage']

    def cli(self, *arguments):
        where = (
            '--server', f'http://127.0.0.1:{self.server.port}', '--data', self.server.directory
        )
        return run(*arguments, *where).stdout

    def test_cost_of_replies_is_stored_and_added_up(self):
        self.serve(PRICES)
        session = self.session()
        self.assertStatus(self.server.prompt(session, 'and again'), 200)
        self.server.at_rest(session)
        replies = self.replies(session)
        self.assertEqual(len(replies), 2)
        for usage in replies:
            self.assertGreater(usage['inputTokens'], 0)
            micros = usage['inputTokens'] * 2 + usage['outputTokens'] * 10.5
            self.assertEqual(usage['cost'], {'USD': int(micros + 0.5)})
        total = {'USD': sum(usage['cost']['USD'] for usage in replies)}
        self.assertEqual(self.usage(session)['cost'], total)
        (listed,) = self.server.items('/api/projects/default/sessions')
        self.assertEqual(listed['usage']['cost'], total)
        turns = self.server.turns(session)
        self.assertEqual(sum(turn['usage']['cost']['USD'] for turn in turns), total['USD'])
        messages = self.server.messages(session)
        costs = [m['usage']['cost']['USD'] for m in messages if m['role'] == 'assistant']
        self.assertEqual(sorted(costs), sorted(usage['cost']['USD'] for usage in replies))

    def test_new_prices_do_not_change_old_costs(self):
        self.serve(PRICES)
        session = self.session()
        (first,) = self.replies(session)
        self.server.kill()
        self.configure('input_price = 1\noutput_price = 1\ncurrency = "EUR"\n')
        self.server.start()
        self.assertEqual(self.usage(session)['cost'], first['cost'])
        self.assertStatus(self.server.prompt(session, 'and again'), 200)
        self.server.at_rest(session)
        second = self.replies(session)[1]
        tokens = second['inputTokens'] + second['outputTokens']
        self.assertEqual(second['cost'], {'EUR': tokens})
        self.assertEqual(self.usage(session)['cost'], {**first['cost'], 'EUR': tokens})

    def test_model_without_prices_has_no_cost(self):
        self.serve('')
        session = self.session()
        self.assertNotIn('cost', self.replies(session)[0])
        self.assertIsNone(self.usage(session)['cost'])
        self.assertNotIn('cost ', self.cli('show', session))
        self.assertNotIn('$', self.cli('timeline', session))

    def test_commands_show_the_cost(self):
        self.serve('input_price = 10000\noutput_price = 10000\n')
        session = self.session()
        (usage,) = self.replies(session)
        amount = f'${(usage["inputTokens"] + usage["outputTokens"]) / 100:.2f}'
        self.assertIn(f'cost      {amount}\n', self.cli('show', session))
        self.assertIn(f'{amount}, asleep', self.cli('timeline', session))
        line = json.loads(self.cli('timeline', session, '--json'))
        self.assertEqual(line['use'][-1]['cost'], usage['cost'])

    def test_half_of_the_prices_is_refused(self):
        for prices, what in (
            ('input_price = 1', 'has no output_price'),
            ('output_price = 1', 'has no input_price'),
            ('currency = "EUR"', 'currency has no meaning without input_price'),
            ('input_price = 1\noutput_price = -1', 'output_price is out of bounds'),
            (PRICES + 'currency = "euro"', 'currency has 4 bytes'),
        ):
            with self.subTest(prices=prices):
                self.server = Server(start=False)
                self.addCleanup(self.server.clean)
                self.configure(prices)
                checked = run('config', 'check', self.server.arguments[1])
                self.assertNotEqual(checked.returncode, 0)
                self.assertIn(what, checked.stdout + checked.stderr)


if __name__ == '__main__':
    main()
