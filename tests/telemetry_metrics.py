#!/usr/bin/env python3
"""Metrics at the collector of [telemetry] (requirement F14): those of /metrics, the histograms of
the GenAI conventions, a last report at the end; collectors that hang or refuse."""
import json
import re
import subprocess
import threading

import npm
from dormouse import Alone, leave_out, main, wait_for
from telemetry import PEERS, Traced, attributes, without_empty


class Metrics(Traced):
    kind = Alone  # each server reports its own
    env = {'OTEL_METRICS_EXPORTER': 'otlp'}

    def metrics(self, report):
        (resource,) = report['resourceMetrics']
        (scope,) = resource['scopeMetrics']
        return {one['name']: one for one in scope['metrics']}

    def status(self):
        return self.server.get('/api/doctor')['metrics']

    def test_report_has_the_metrics_of_the_page(self):
        self.finish_call(self.begin())
        self.server.advance(60)
        metrics = self.metrics(self.collector.wait_for_report())
        page = self.server.get('/metrics').raw.decode()
        # One without values has no line of its own.
        shown = re.findall(r'^# TYPE (\S+) (\w+)\n[^#]', page, re.M)
        named = {'dormouse_deliveries_total': 'messaging.client.sent.messages',
                 'dormouse_model_operation_seconds': 'gen_ai.client.operation.duration',
                 'dormouse_model_operation_tokens': 'gen_ai.client.token.usage',
                 'process_cpu_seconds_total': 'process.cpu.time',
                 'process_open_fds': 'process.unix.file_descriptor.count',
                 'process_resident_memory_bytes': 'process.memory.usage'}
        for name, kind in shown:
            sent = named.get(name) or re.sub('_(seconds|bytes)$', '', name.removesuffix('_total'))
            self.assertIn({'counter': 'sum'}.get(kind, kind), metrics[sent], name)
        settled = metrics['dormouse_calls_settled']['sum']
        self.assertEqual((settled['aggregationTemporality'], settled['isMonotonic']), (2, True))
        points = {attributes(point)['status']: point for point in settled['dataPoints']}
        self.assertEqual(points['completed']['asInt'], '1')
        self.assertGreater(int(points['completed']['timeUnixNano']),
                           int(points['completed']['startTimeUnixNano']))
        tool, = (one for one in metrics['dormouse_tool_attempts']['sum']['dataPoints'])
        self.assertEqual(attributes(tool), {'gen_ai.tool.name': 'deploy', 'outcome': 'paused'})
        commits = metrics['dormouse_commit']
        point, = commits['histogram']['dataPoints']
        self.assertEqual(commits['unit'], 's')
        self.assertEqual(sum(map(int, point['bucketCounts'])), int(point['count']))
        self.assertEqual(len(point['bucketCounts']), len(point['explicitBounds']) + 1)

    def test_histograms_of_the_conventions_are_sent(self):
        self.finish_call(self.begin())
        self.server.advance(60)
        metrics = self.metrics(self.collector.wait_for_report())
        duration, tokens = (metrics[f'gen_ai.client.{name}']
                            for name in ('operation.duration', 'token.usage'))
        self.assertEqual((duration['unit'], tokens['unit']), ('s', '{token}'))
        expected = {'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'dormouse',
                    'gen_ai.request.model': 'main'}
        point, = duration['histogram']['dataPoints']
        self.assertEqual(attributes(point), expected)
        self.assertEqual(point['count'], '2')
        self.assertEqual(point['explicitBounds'], [.01 * 2 ** n for n in range(14)])
        points = {attributes(one)['gen_ai.token.type']: one
                  for one in tokens['histogram']['dataPoints']}
        self.assertEqual(points.keys(), {'input', 'output'})
        for kind, one in points.items():
            self.assertEqual(attributes(one), {**expected, 'gen_ai.token.type': kind})
            self.assertEqual(one['explicitBounds'], [4 ** n for n in range(14)])
            self.assertEqual(one['sum'], self.value(
                'dormouse_tokens_total{agent="ops",project="default",model="main",'
                f'kind="{kind}"}}'))

    def test_last_report_is_sent_at_the_end(self):
        self.finish_call(self.begin())
        self.assertEqual(self.collector.reports(), [])
        self.server.term()
        report, = self.collector.reports()
        metrics = self.metrics(report)
        ended, = (point['asInt'] for point in metrics['dormouse_events']['sum']['dataPoints']
                  if attributes(point)['type'] == 'turn_ended')
        self.assertEqual(ended, '1')
        sent = metrics['dormouse_spans_exported']['sum']['dataPoints'][0]['asInt']
        self.assertEqual(int(sent), len(self.collector.spans()))
        self.server.start()

    def test_lost_report_is_made_good_by_the_next(self):
        self.collector.answer = self.refuse_once()
        self.begin('hello')
        self.server.advance(60)
        wait_for(lambda: self.status()['why'] == 'the collector answered 503')
        self.begin('hello')
        self.server.advance(60)
        wait_for(lambda: self.status()['ok'], what='a report that was taken')
        turns = self.metrics(self.collector.reports()[-1])['dormouse_events']['sum']
        ended, = (point['asInt'] for point in turns['dataPoints']
                  if attributes(point)['type'] == 'turn_ended')
        self.assertEqual(ended, '2')
        self.assertEqual((self.status()['exported'], self.status()['dropped']), (1, 1))

    def refuse_once(self):
        left = [503]
        return lambda received: (
            left.pop() if received['path'] == '/v1/metrics' and left else 200)

    def test_hanging_collector_delays_nothing(self):
        held = threading.Event()
        self.addCleanup(held.set)
        self.collector.answer = lambda received: held.wait(120) and 200 or 200
        self.server.advance(60)
        self.collector.wait_for_report()
        self.begin('hello')
        self.server.advance(3600)
        self.assertEqual(len(self.collector.reports()), 1, 'one at a time')
        # The collector answers nothing before the server has ended.
        self.server.term()
        self.assertFalse(held.is_set())
        held.set()
        self.server.start()

    def test_published_schema_reads_the_report(self):
        if why := npm.install(PEERS, 'node'):
            leave_out(why)
        self.finish_call(self.begin())
        self.server.advance(60)
        report = self.collector.wait_for_report()
        done = subprocess.run(['node', 'decode.cjs', 'metrics'], cwd=PEERS, text=True,
                              input=json.dumps(report), capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), without_empty(report))


class WithoutMetrics(Traced):
    def test_variable_switches_them_off(self):
        self.begin('hello')
        self.server.advance(120)
        self.collector.wait_for_spans('invoke_agent ops')
        self.assertEqual(self.collector.reports(), [])
        self.assertIsNone(self.server.get('/api/doctor')['metrics'])


if __name__ == '__main__':
    main()
