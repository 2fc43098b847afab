#!/usr/bin/env python3
"""GET /metrics and the log: what is counted, that Prometheus can read it, and that neither contains
an id in a wrong place, or a secret."""
import json
import os
import pathlib
import re
import shutil
import subprocess

from dormouse import Alone, Case, Client, main, wait_for
from webhooks_out import Sent

LINE = re.compile(r'([a-z_]+)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)')


def parse(text):
    """Returns {(name, labels as sorted pairs): value}. Fails on anything the format does not allow.
    """
    values, types, described, family = {}, {}, set(), None
    assert text.endswith('\n')
    for line in text[:-1].split('\n'):
        if line.startswith('# HELP '):
            family = line.split(' ')[2]
            assert family not in described, f'{family} stands twice'
            described.add(family)
        elif line.startswith('# TYPE '):
            _, _, name, kind = line.split(' ')
            assert name == family and kind in ('counter', 'gauge', 'histogram'), line
            types[name] = kind
        else:
            match = LINE.fullmatch(line)
            assert match, line
            name, labels, value = match.groups()
            ends = ('_bucket', '_sum', '_count') if types[family] == 'histogram' else ('',)
            assert name in [family + end for end in ends], line
            pairs = LABEL.findall(labels or '')
            assert ''.join(f'{k}="{v}",' for k, v in pairs)[:-1] == (labels or ''), line
            key = name, tuple(sorted(pairs))
            assert key not in values, f'{line} stands twice'
            values[key] = float(value)
    return values


class MetricsCase(Case):
    kind = Alone  # each server counts what it does

    def scrape(self):
        answer = self.server.get('/metrics')
        self.assertStatus(answer, 200)
        self.assertEqual(
            answer.headers['Content-Type'], 'text/plain; version=0.0.4; charset=utf-8'
        )
        return answer.raw.decode()

    def values(self):
        return parse(self.scrape())

    def value(self, name, **labels):
        return self.values().get((name, tuple(sorted(labels.items()))), 0)

    def waiting(self, text='deploy A'):
        session = self.server.create(text)
        return session['id'], self.server.open_calls(session['id'])[0]['id']


class Metrics(MetricsCase):
    def test_approval_counts_as_a_resume(self):
        session = self.server.create()['id']
        self.server.prompt(session, 'approve A')
        call = self.server.open_calls(session)[0]
        before = self.value('dormouse_resume_seconds_count')
        self.assertStatus(self.server.decide(call, True), 200)
        self.server.at_rest(session)
        self.assertEqual(self.value('dormouse_resume_seconds_count'), before + 1)

    def test_values_follow_pause_result_duplicate_and_conflict(self):
        self.assertEqual(self.value('dormouse_pending_calls'), 0)
        session, pending = self.waiting()
        before = self.values()

        def grew(name, **labels):
            key = name, tuple(sorted(labels.items()))
            return self.values().get(key, 0) - before.get(key, 0)

        self.assertEqual(before['dormouse_pending_calls', ()], 1)
        self.assertEqual(before['dormouse_calls_paused_total', (('reason', 'tool_result'),)], 1)
        self.assertEqual(before['dormouse_resume_seconds_count', ()], 0)
        self.assertGreater(before['dormouse_appends_total', ()], 0)
        self.assertEqual(self.value('dormouse_sessions_resident'), 1)
        wait_for(
            lambda: self.value('dormouse_pending_oldest_age_seconds') > 0.05, what='some age'
        )
        self.assertStatus(self.server.result(pending, 'live'), 200)
        self.server.at_rest(session)
        self.assertEqual(self.value('dormouse_pending_calls'), 0)
        self.assertEqual(self.value('dormouse_pending_oldest_age_seconds'), 0)
        self.assertEqual(grew('dormouse_submissions_total', outcome='applied'), 1)
        self.assertEqual(grew('dormouse_calls_settled_total', status='completed'), 1)
        self.assertEqual(grew('dormouse_resume_seconds_count'), 1)
        self.assertEqual(grew('dormouse_resume_seconds_bucket', le='+Inf'), 1)
        self.assertEqual(grew('dormouse_effects_started_total', kind='model'), 1)
        self.assertGreaterEqual(grew('dormouse_commit_appends_count'), 2)
        self.assertStatus(self.server.result(pending, 'live'), 200)
        self.assertStatus(self.server.result(pending, 'dead'), 409)
        self.assertEqual(grew('dormouse_submissions_total', outcome='applied'), 1)
        self.assertEqual(grew('dormouse_submissions_total', outcome='duplicate'), 1)
        self.assertEqual(grew('dormouse_submissions_total', outcome='conflict'), 1)
        self.assertEqual(grew('dormouse_calls_settled_total', status='completed'), 1)
        result = {'method': 'POST', 'route': '/async-tool/result'}
        self.assertEqual(grew('dormouse_http_requests_total', code='2xx', **result), 2)
        self.assertEqual(grew('dormouse_http_requests_total', code='4xx', **result), 1)

    def test_expiry_is_counted_and_so_is_what_comes_after_it(self):
        session, pending = self.waiting('deploy A within 400ms')
        wait_for(lambda: self.value('dormouse_calls_settled_total', status='expired') == 1)
        self.assertStatus(self.server.result(pending, 'late'), 410)
        self.assertEqual(self.value('dormouse_submissions_total', outcome='expired'), 1)
        self.assertEqual(self.value('dormouse_pending_calls'), 0)

    def test_waiting_calls_are_counted_again_after_a_kill(self):
        self.waiting()
        self.waiting('deploy A and B')
        self.server.restart()
        values = self.values()
        self.assertEqual(values['dormouse_pending_calls', ()], 3)
        self.assertEqual(values['dormouse_calls_paused_total', (('reason', 'tool_result'),)], 0)

    def test_metrics_need_the_token(self):
        outsider = Client(self.server.port, None)
        self.addCleanup(outsider.close)
        self.assertProblem(outsider.get('/metrics'), 401, 'unauthenticated')
        self.assertEqual(
            self.value('dormouse_http_requests_total', method='other', route='other', code='4xx'), 1
        )

    def test_prometheus_finds_nothing_wrong_with_it(self):
        self.waiting()
        text = self.scrape()
        parse(text)
        if not shutil.which('promtool'):
            self.skipTest('promtool is not installed (tools/setup.sh test)')
        report = subprocess.run(
            ['promtool', 'check', 'metrics'], input=text, text=True, capture_output=True
        )
        self.assertEqual((report.returncode, report.stdout, report.stderr), (0, '', ''))

    def test_no_label_holds_an_id_a_path_or_a_secret(self):
        session, pending = self.waiting()
        self.server.get(f'/c/{pending}')
        self.server.get('/nowhere/very-secret?token=very-secret')
        self.server.get(f'/api/sessions/{session}')
        self.server.call('VERYSECRET', '/healthz')
        text = self.scrape()
        for word in ('ses_', 'pnd_', 'req_', 'secret', 'SECRET', self.server.token, 'nowhere'):
            self.assertNotIn(word, text)


class Usage(MetricsCase):
    def setUp(self):
        self.configured("""
[[model]]
id = "main"
kind = "scripted"
input_price = 2
output_price = 10.5
currency = "EUR"
[[agent]]
id = "ops"
model = "main"
""")

    def test_cost_is_counted_by_project(self):
        for project in ('red', 'blue', 'blue'):
            session = self.server.create('hello', agent='ops', project=project)['id']
            self.server.at_rest(session)
        red, blue = (self.value('dormouse_cost_total', currency='EUR', agent='ops', model='main',
                                project=project) for project in ('red', 'blue'))
        self.assertGreater(red, 0)
        self.assertAlmostEqual(blue, 2 * red)

    def test_tokens_and_cost_are_counted_by_agent_and_model(self):
        session = self.server.create('hello', agent='ops')['id']
        self.assertStatus(self.server.prompt(session, 'and again'), 200)
        usage = self.server.at_rest(session)['usage']
        spent = {'agent': 'ops', 'project': 'default', 'model': 'main'}
        for kind in ('input', 'output'):
            self.assertGreater(usage[f'{kind}Tokens'], 0)
            self.assertEqual(self.value('dormouse_tokens_total', kind=kind, **spent),
                             usage[f'{kind}Tokens'])
        self.assertAlmostEqual(self.value('dormouse_cost_total', currency='EUR', **spent) * 1e6,
                               usage['cost']['EUR'])

    def test_disk_and_files_are_those_of_the_system(self):
        values, folder = self.values(), pathlib.Path(self.server.directory)
        space = os.statvfs(folder)
        self.assertEqual(values['dormouse_disk_size_bytes', ()], space.f_blocks * space.f_frsize)
        free = values['dormouse_disk_free_bytes', ()]
        self.assertTrue(0 < free <= space.f_blocks * space.f_frsize, free)
        limits = pathlib.Path(f'/proc/{self.server.process.pid}/limits').read_text()
        [allowed] = re.findall(r'^Max open files +(\d+)', limits, re.M)
        self.assertEqual(values['process_max_fds', ()], int(allowed))
        if not self.server.store:
            files = [folder / name for name in ('dormouse.db', 'dormouse.db-wal')]
            self.assertEqual(values['dormouse_database_bytes', ()],
                             sum(file.stat().st_size for file in files))


class Deliveries(Sent, MetricsCase):
    def counts(self):
        values = self.values()
        return [values['dormouse_deliveries_total', (('outcome', word),)]
                for word in ('delivered', 'failed', 'given_up')] + [
                    values[f'dormouse_deliveries_{word}', ()] for word in ('waiting', 'given_up')]

    def deliver(self, status):
        self.receiver.answer = lambda received: status
        _, pending = self.job()
        self.assertStatus(self.server.result(pending, 1), 200)

    def test_deliveries_are_counted_by_how_they_end(self):
        self.assertEqual(self.counts(), [0, 0, 0, 0, 0])
        self.deliver(200)
        wait_for(lambda: self.counts() == [1, 0, 0, 0, 0], what='a delivery')
        self.deliver(500)
        wait_for(lambda: self.counts() == [1, 1, 0, 1, 0], what='a failure')
        self.deliver(410)
        wait_for(lambda: self.counts() == [1, 1, 1, 1, 1], what='one that was given up')


class Log(MetricsCase):
    arguments = ('--log-level', 'debug', '--log-format', 'json')

    def lines(self, message):
        text = self.server.log.read_text()
        read = [json.loads(line) for line in text.splitlines() if line.startswith('{')]
        return [line for line in read if line['message'] == message]

    def test_log_shows_session_events_with_ids(self):
        session, pending = self.waiting()
        self.assertStatus(self.server.result(pending, 'live'), 200)
        self.server.at_rest(session)
        conflict = self.assertStatus(self.server.result(pending, 'dead'), 409)
        self.assertEqual([line['sessionID'] for line in self.lines('session created')], [session])
        self.assertEqual(
            [(line['pendingID'], line['reason']) for line in self.lines('call paused')],
            [(pending, 'tool_result')],
        )
        offered = self.lines('outcome offered')
        self.assertEqual([line['outcome'] for line in offered], ['applied', 'conflict'])
        self.assertEqual({(o['sessionID'], o['pendingID']) for o in offered}, {(session, pending)})
        self.assertEqual(offered[1]['requestID'], conflict['requestID'])
        self.assertEqual(len(self.lines('turn ended')), 1)
        answered = [r for r in self.lines('request') if r['requestID'] == conflict['requestID']]
        self.assertEqual(
            [(r['route'], r['status']) for r in answered], [('/async-tool/result', 409)]
        )

    def test_metrics_have_no_token_and_no_path(self):
        self.server.get('/c/very-secret')
        self.server.get('/nowhere/very-secret?token=very-secret')
        self.server.call('GET', '/healthz', headers={'Authorization': 'Bearer very-secret'})
        text = self.server.log.read_text()
        self.assertTrue(self.lines('request'))
        self.assertNotIn('very-secret', text)
        self.assertNotIn(self.server.token, text)


class QuietLog(MetricsCase):
    arguments = ('--log-level', 'warn', '--log-format', 'text')

    def test_level_warn_logs_no_success(self):
        self.waiting()
        self.assertEqual(self.server.log.read_text(), '')


if __name__ == '__main__':
    main()
