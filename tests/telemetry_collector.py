#!/usr/bin/env python3
"""[telemetry] at a collector that others wrote, from npm (requirement F14): what it has stored of a
turn that pauses, and of the metrics."""
import json
import socket
import subprocess

import npm
from dormouse import ROOT, Alone, leave_out, main, wait_for
from telemetry import SENT, TRACE, Traced

COLLECTOR = ROOT / 'tests/collector'


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as listener:
        return listener.getsockname()[1]


class AtACollector(Traced):
    kind = Alone  # each server reports its own metrics
    env = {'OTEL_METRICS_EXPORTER': 'otlp'}

    def serve(self, collector):
        if why := npm.install(COLLECTOR, 'node'):
            leave_out(why)
        port = free_port()
        self.process = subprocess.Popen(['node', 'collector.mjs', str(port)], cwd=COLLECTOR,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.communicate)
        self.assertEqual(self.process.stdout.readline(), 'ready\n')
        super().serve(f'http://127.0.0.1:{port}')

    def stored(self, kind, name):
        self.process.stdin.write(f'{kind} {name}\n')
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def spans(self):
        """Returns the stored spans of the trace by name."""
        trace = self.stored('trace', TRACE)
        return {span['operationName']: span for span in trace['spans']} if trace else {}

    def test_spans_of_a_turn_are_stored_with_their_parents(self):
        self.finish_call(self.begin(traceparent=SENT))
        wait_for(lambda: {'invoke_agent ops', 'execute_tool deploy'} <= self.spans().keys(),
                 what='spans at the collector')
        spans = self.spans()
        tool, turn = spans['execute_tool deploy'], spans['invoke_agent ops']
        self.assertEqual((tool['serviceName'], tool['traceId']), ('dormouse', TRACE))
        self.assertEqual(tool['tags']['gen_ai.tool.name'], 'deploy')
        self.assertEqual(turn['tags']['gen_ai.operation.name'], 'invoke_agent')
        self.assertFalse(turn['hasError'])

    def test_metrics_are_stored_with_their_attributes(self):
        self.finish_call(self.begin())
        self.server.advance(60)
        wait_for(lambda: self.stored('metric', 'dormouse_calls_settled'),
                 what='metrics at the collector')
        settled = {one['attributes']['status']: one['points'][-1]['value']
                   for one in self.stored('metric', 'dormouse_calls_settled')}
        self.assertEqual(settled['completed'], 1)


if __name__ == '__main__':
    main()
