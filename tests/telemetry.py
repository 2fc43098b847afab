#!/usr/bin/env python3
"""[telemetry] (requirement F14): spans of turns, requests to models, tools and webhooks at a
collector; links over pauses, a SIGKILL and a restart; traceparent from a prompt to tools and
webhooks; content only on request; collectors that hang, answer 429 or are gone. The metrics:
tests/telemetry_metrics.py."""
import http.server
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

import npm
from dormouse import ROOT, Alone, Case, environment, leave_out, main, run, wait_for
from tools_by_config import Service
from webhook_peers import WHSEC, Receiver

CONFIG = '''
[server]
demo = false
webhook_hosts = ["%(host)s"]
[telemetry]
endpoint = "%(collector)s"
%(telemetry)s
[[model]]
id = "main"
kind = "scripted"
[[agent]]
id = "ops"
model = "main"
tools = ["deploy", "dangerous"]
[[tool]]
name = "deploy"
kind = "http"
url = "%(service)s/job"
[[tool]]
name = "dangerous"
kind = "command"
command = ["sh", "-c", "echo $TRACEPARENT $TRACESTATE > %(folder)s/seen; cat >/dev/null; echo 1"]
[[webhook]]
url = "%(host_url)s/events"
secret_env = "S_EVENTS"
events = ["turn_ended"]
'''
TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
PARENT = '00f067aa0ba902b7'
SENT = f'00-{TRACE}-{PARENT}-01'
STATE = 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'
PEERS = ROOT / 'tests/traces'
KINDS = {'invoke_agent': 1, 'execute_tool': 1, 'chat': 3, 'send': 4}


def value_of(value):
    (kind, held), = value.items()
    if kind == 'arrayValue':
        return [value_of(one) for one in held['values']]
    assert kind in ('stringValue', 'intValue', 'boolValue'), value
    assert kind != 'intValue' or isinstance(held, str), value
    return int(held) if kind == 'intValue' else held


def attributes(thing):
    return {one['key']: value_of(one['value']) for one in thing.get('attributes', ())}


class Span:
    def __init__(self, raw):
        self.raw = raw
        self.trace, self.id = raw['traceId'], raw['spanId']
        self.parent = raw.get('parentSpanId')
        self.name, self.kind = raw['name'], raw['kind']
        self.start, self.end = int(raw['startTimeUnixNano']), int(raw['endTimeUnixNano'])
        self.of = attributes(raw)
        self.links = {attributes(link)['dormouse.link']: (link['traceId'], link['spanId'])
                      for link in raw.get('links', ())}
        self.failed = raw['status'].get('code') == 2

    def __repr__(self):
        return f'{self.name} {self.of}'


class Collector(Receiver):
    def spans(self, name=''):
        out = []
        with self.changed:
            received = [one for one in self.received if one['path'] == '/v1/traces']
        for request in received:
            for resource in json.loads(request['body'])['resourceSpans']:
                for scope in resource['scopeSpans']:
                    out += [Span(raw) for raw in scope['spans']]
        return [span for span in out if span.name.startswith(name)]

    def reports(self):
        """Of metrics: the bodies."""
        with self.changed:
            return [json.loads(one['body']) for one in self.received
                    if one['path'] == '/v1/metrics']

    def wait_for_report(self, count=1):
        wait_for(lambda: len(self.reports()) >= count, 30, f'{count} reports of metrics')
        return self.reports()[-1]

    def wait_for_spans(self, name, count=1):
        wait_for(lambda: len(self.spans(name)) >= count, 30,
                 f'{count} spans {name!r}: {self.spans()}')
        return self.spans(name)


class Traced(Case):
    telemetry = ''
    env = {}

    def setUp(self):
        self.collector = Collector()
        self.addCleanup(self.collector.close)
        self.hook = Receiver()
        self.addCleanup(self.hook.close)
        self.service = Service()
        self.addCleanup(self.service.close)
        self.service.answer = lambda handler, body: handler.say(202, {'externalRef': 'j-1'})
        folder = tempfile.TemporaryDirectory(prefix='dormouse-telemetry-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.serve(self.collector.url)

    def serve(self, collector):
        self.configured(CONFIG % {
            'host': self.hook.host, 'host_url': self.hook.url, 'collector': collector,
            'service': self.service.url, 'folder': self.folder, 'telemetry': self.telemetry,
        }, S_EVENTS=WHSEC, **{'OTEL_METRICS_EXPORTER': 'none', **self.env})

    def begin(self, text='deploy A', **headers):
        session = self.server.create(agent='ops')['id']
        self.assertStatus(self.server.post(f'/api/sessions/{session}/prompt?wait=20',
                                           {'text': text}, **headers), 200)
        return session

    def finish_call(self, session, output='live', **headers):
        call, = self.server.open_calls(session)
        self.assertStatus(self.server.post('/async-tool/result', {
            'pendingID': call['id'], 'result': {'output': output}}, **headers), 200)
        self.server.at_rest(session)

    def value(self, name):
        text = self.server.get('/metrics').raw.decode()
        return float(re.search(rf'^{name} (\S+)$', text, re.M).group(1))


class Spans(Traced):
    def test_pause_ends_the_span_and_a_linked_one_follows(self):
        session = self.begin()
        paused, = self.collector.wait_for_spans('invoke_agent ops')
        self.assertEqual(paused.of['dormouse.turn.outcome'], 'paused')
        self.assertIsNone(paused.parent)
        self.finish_call(session)
        _, resumed = self.collector.wait_for_spans('invoke_agent ops', 2)
        self.assertEqual(resumed.of['dormouse.turn.outcome'], 'stop')
        self.assertEqual(resumed.links['resumes'], (paused.trace, paused.id))
        self.assertNotEqual(resumed.id, paused.id)
        self.assertGreaterEqual(resumed.start, paused.end)
        tool, = self.collector.wait_for_spans('execute_tool deploy')
        self.assertEqual(tool.parent, paused.id)
        self.assertEqual(resumed.links['paused_call'], (tool.trace, tool.id))
        first, second = self.collector.wait_for_spans('chat ', 2)
        self.assertEqual((first.parent, second.parent), (paused.id, resumed.id))
        self.assertEqual({span.trace for span in self.collector.spans()}, {paused.trace})

    def test_spans_have_the_form_of_otlp(self):
        session = self.begin()
        self.finish_call(session)
        self.collector.wait_for_spans('invoke_agent ops', 2)
        self.collector.wait_for_spans('send ')
        request = self.collector.received[0]
        self.assertEqual(request['path'], '/v1/traces')
        self.assertEqual(request['headers']['content-type'], 'application/json')
        resource = attributes(json.loads(request['body'])['resourceSpans'][0]['resource'])
        self.assertEqual(resource['service.name'], 'dormouse')
        for span in self.collector.spans():
            self.assertRegex(span.trace, '^[0-9a-f]{32}$')
            self.assertRegex(span.id, '^[0-9a-f]{16}$')
            self.assertEqual(span.kind, KINDS[span.name.split()[0]], span)
            self.assertIsInstance(span.raw['startTimeUnixNano'], str)
            self.assertLessEqual(span.start, span.end)
            self.assertEqual(span.of['gen_ai.conversation.id'], session)
            self.assertFalse(span.failed, span)
        chat = self.collector.spans('chat ')[0]
        self.assertEqual(chat.of['gen_ai.operation.name'], 'chat')
        self.assertEqual(chat.of['gen_ai.response.finish_reasons'], ['tool_calls'])
        self.assertIsInstance(chat.of['gen_ai.usage.input_tokens'], int)

    def test_links_survive_a_kill_and_a_restart(self):
        session = self.begin(traceparent=SENT)
        paused, = self.collector.wait_for_spans('invoke_agent ops')
        self.server.kill()
        self.server.start()
        self.finish_call(session)
        _, resumed = self.collector.wait_for_spans('invoke_agent ops', 2)
        self.assertEqual(resumed.links['resumes'], (TRACE, paused.id))
        self.assertEqual((resumed.trace, resumed.parent), (TRACE, PARENT))

    def test_span_of_a_turn_in_progress_survives_a_kill(self):
        held = threading.Event()
        self.addCleanup(held.set)
        self.service.answer = lambda handler, body: held.wait(60)
        session = self.server.create(agent='ops')['id']
        self.assertStatus(self.server.post(f'/api/sessions/{session}/prompt?wait=0',
                                           {'text': 'deploy A'}), 202)
        wait_for(lambda: self.service.requests, what='the tool to run')
        sent = self.service.requests[0][1]['traceparent']
        self.server.kill()
        held.set()
        self.server.start()
        tool, = self.collector.wait_for_spans('execute_tool deploy')
        self.assertEqual(sent, f'00-{tool.trace}-{tool.id}-01')
        self.assertTrue(tool.failed, tool)

    def test_content_is_left_out(self):
        self.begin('approve secretword')
        self.collector.wait_for_spans('invoke_agent ops')
        self.assertNotIn(b'secretword', b''.join(r['body'] for r in self.collector.received))

    def test_spans_that_wait_are_sent_at_the_end(self):
        self.begin()
        self.server.term()
        self.assertTrue(self.collector.spans('invoke_agent ops'))
        self.server.start()


def without_empty(value):
    """Without the empty lists, which a schema of protobuf does not write."""
    if isinstance(value, list):
        return [without_empty(one) for one in value]
    if isinstance(value, dict):
        return {key: without_empty(one) for key, one in value.items() if one != []}
    return value


class Schema(Traced):
    telemetry = 'content = true'

    def test_published_schema_reads_every_body(self):
        if why := npm.install(PEERS, 'node'):
            leave_out(why)
        self.finish_call(self.begin(traceparent=SENT))
        self.begin('approve all')
        self.begin('fail')
        self.collector.wait_for_spans('invoke_agent ops', 4)
        for request in list(self.collector.received):
            done = subprocess.run(['node', 'decode.cjs'], cwd=PEERS, input=request['body'],
                                  capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout), without_empty(json.loads(request['body'])))


class Content(Traced):
    telemetry = 'content = true\nservice = "night"'

    def test_content_is_sent_on_request(self):
        self.finish_call(self.begin('deploy secretword'))
        tool, = self.collector.wait_for_spans('execute_tool deploy')
        self.assertIn('secretword', tool.of['gen_ai.tool.call.arguments'])
        request = json.loads(self.collector.received[0]['body'])
        resource = attributes(request['resourceSpans'][0]['resource'])
        self.assertEqual(resource['service.name'], 'night')


class Propagation(Traced):
    def test_context_of_the_prompt_reaches_tools_and_webhooks(self):
        session = self.begin(traceparent=SENT)
        paused, = self.collector.wait_for_spans('invoke_agent ops')
        self.assertEqual((paused.trace, paused.parent), (TRACE, PARENT))
        tool, = self.collector.wait_for_spans('execute_tool deploy')
        self.assertEqual(self.service.requests[0][1]['traceparent'], f'00-{TRACE}-{tool.id}-01')
        other = 'aaaabbbbccccddddeeeeffff00001111'
        self.finish_call(session, traceparent=f'00-{other}-1122334455667788-01')
        _, resumed = self.collector.wait_for_spans('invoke_agent ops', 2)
        self.assertEqual(resumed.links['outcome'], (other, '1122334455667788'))
        hook = self.hook.wait(1)[0]
        sent, = self.collector.wait_for_spans('send ')
        self.assertEqual(hook['headers']['traceparent'], f'00-{TRACE}-{sent.id}-01')
        self.assertEqual(sent.parent, paused.id)
        self.assertEqual(sent.of['http.response.status_code'], 200)

    def test_process_gets_the_context_in_its_environment(self):
        self.begin('approve all', traceparent=SENT)
        tool, = self.collector.wait_for_spans('execute_tool dangerous')
        seen = (self.folder / 'seen').read_text().split()[0]
        self.assertEqual(seen, f'00-{TRACE}-{tool.id}-01')

    def test_malformed_context_is_ignored(self):
        for wrong in ('', 'x', SENT[:-1], SENT.upper(), SENT.replace('00-', 'ff-', 1),
                      f'00-{"0" * 32}-{PARENT}-01', SENT + '-more', 'a' * 8000):
            self.collector.received.clear()
            self.begin('hello', traceparent=wrong)
            span, = self.collector.wait_for_spans('invoke_agent ops')
            self.assertIsNone(span.parent)

    def test_tracestate_is_passed_on_with_the_context(self):
        session = self.begin(traceparent=SENT, tracestate=STATE)
        self.assertEqual(self.service.requests[0][1]['tracestate'], STATE)
        self.finish_call(session)
        self.assertEqual(self.hook.wait(1)[0]['headers']['tracestate'], STATE)
        self.collector.wait_for_spans('invoke_agent ops', 2)
        self.collector.wait_for_spans('send ')
        self.assertEqual({span.raw['traceState'] for span in self.collector.spans()}, {STATE})
        received = [event for event in self.server.events(session)
                    if event['type'] == 'input_received']
        self.assertEqual(received[0]['data']['tracestate'], STATE)
        self.begin('approve all', traceparent=SENT, tracestate=STATE)
        self.assertEqual((self.folder / 'seen').read_text().split()[1], STATE)

    def test_bad_tracestate_is_dropped_alone(self):
        for wrong in ('', 'x', 'A=1', 'a=1,a=2', 'a=' + 'v' * 511,
                      ','.join(f'k{n}=v' for n in range(33))):
            self.service.requests.clear()
            self.begin(traceparent=SENT, tracestate=wrong)
            headers = self.service.requests[0][1]
            self.assertIn(TRACE, headers['traceparent'])
            self.assertNotIn('tracestate', headers, wrong)
        self.service.requests.clear()
        self.begin(tracestate=STATE)
        self.assertNotIn('tracestate', self.service.requests[0][1], 'it has no traceparent')

    def test_sender_that_does_not_sample_is_followed(self):
        self.begin('approve all', traceparent=SENT[:-2] + '00')
        self.begin('hello')
        self.collector.wait_for_spans('invoke_agent ops')
        self.assertFalse([span for span in self.collector.spans() if span.trace == TRACE])
        self.assertRegex((self.folder / 'seen').read_text(), f'^00-{TRACE}-[0-9a-f]+-00')


class Messages(Traced):
    """Sessions that get mail, or are tasks, continue the trace of their sender."""

    def serve(self, collector):
        self.configured(f'[telemetry]\nendpoint = "{collector}"\n',
                        OTEL_METRICS_EXPORTER='none')

    def span_of(self, name, session):
        def found():
            return [span for span in self.collector.spans(name)
                    if span.of['gen_ai.conversation.id'] == session]
        wait_for(found, 30, f'a span {name!r} of {session}')
        return found()[0]

    def prompted(self, text, **more):
        session = self.server.create(**more)['id']
        self.assertStatus(self.server.post(f'/api/sessions/{session}/prompt?wait=20',
                                           {'text': text}, traceparent=SENT,
                                           tracestate=STATE), 200)
        return session

    def test_turn_that_mail_begins_is_a_child_of_its_sender(self):
        bob = self.server.create(alias='bob')['id']
        alice = self.prompted('tell bob hello', alias='alice')
        turn, sent = self.span_of('invoke_agent', alice), self.span_of('send mail', alice)
        self.assertEqual((turn.trace, sent.trace, sent.parent), (TRACE, TRACE, turn.id))
        self.assertEqual(sent.of['messaging.destination.name'], bob)
        read = self.span_of('invoke_agent', bob)
        self.assertEqual((read.trace, read.parent, read.raw['traceState']),
                         (TRACE, sent.id, STATE))

    def test_mail_of_a_client_brings_its_context(self):
        bob = self.server.create(alias='bob')['id']
        self.assertStatus(self.server.post('/api/mail', {'to': 'bob', 'text': 'hello'},
                                           traceparent=SENT), 202)
        read = self.span_of('invoke_agent', bob)
        self.assertEqual((read.trace, read.parent), (TRACE, PARENT))

    def test_task_is_a_child_of_the_turn_that_began_it(self):
        parent = self.prompted('background deploy A')
        task, = self.server.get(f'/api/sessions/{parent}/tasks')['items']
        child = task['sessionID']
        turn, sent = self.span_of('invoke_agent', parent), self.span_of('send task', parent)
        self.assertEqual((sent.parent, sent.of['messaging.message.id']), (turn.id, task['taskID']))
        run = self.span_of('invoke_agent', child)
        self.assertEqual((run.trace, run.parent), (TRACE, sent.id))
        self.server.kill()
        self.server.start()
        call, = self.server.open_calls(child)
        self.assertStatus(self.server.result(call['id'], 'live'), 200)
        wait_for(lambda: len([span for span in self.collector.spans('invoke_agent')
                              if span.of['gen_ai.conversation.id'] == child]) == 2,
                 what='the resumed run')
        self.assertEqual({span.trace for span in self.collector.spans()
                          if span.of['gen_ai.conversation.id'] == child}, {TRACE})


class Speaker(http.server.BaseHTTPRequestHandler):
    """A model that calls its only tool, and then says so."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        self.server.headers.append(self.headers)
        called = body['messages'][-1]['role'] == 'tool'
        call = {'index': 0, 'id': 'call_1', 'type': 'function',
                'function': {'name': body['tools'][0]['function']['name'], 'arguments': '{}'}}
        delta = {'content': 'done'} if called else {'tool_calls': [call]}
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.end_headers()
        for content, finish in ((delta, None), ({}, 'stop' if called else 'tool_calls')):
            chunk = {'choices': [{'index': 0, 'delta': content, 'finish_reason': finish}]}
            self.wfile.write(f'data: {json.dumps(chunk)}\n\n'.encode())
        self.wfile.write(b'data: [DONE]\n\n')

    def log_message(self, *_):
        pass


class Others(Traced):
    """A model over HTTP, and the tool of a foreign MCP server."""

    def serve(self, collector):
        model = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Speaker)
        model.headers = []
        threading.Thread(target=model.serve_forever, daemon=True).start()
        self.addCleanup(model.server_close)
        self.addCleanup(model.shutdown)
        self.model = model
        command = [sys.executable, str(ROOT / 'tests/mcp_fake.py'), str(self.folder)]
        self.configured(f'''
[server]
demo = false
[telemetry]
endpoint = "{collector}"
[[model]]
id = "main"
kind = "openai-chat"
model = "m"
base_url = "http://127.0.0.1:{model.server_port}/v1"
[[agent]]
id = "ops"
model = "main"
tools = ["mcp:s:look"]
[[mcp]]
name = "s"
command = {json.dumps(command)}
''')

    def test_context_reaches_the_model_and_the_mcp_server(self):
        session = self.begin(traceparent=SENT, tracestate=STATE)
        self.server.at_rest(session)
        first, second = self.collector.wait_for_spans('chat ', 2)
        tool, = self.collector.wait_for_spans('execute_tool mcp:s:look')
        self.assertEqual([headers['traceparent'] for headers in self.model.headers],
                         [f'00-{TRACE}-{span.id}-01' for span in (first, second)])
        self.assertEqual({headers['tracestate'] for headers in self.model.headers}, {STATE})
        log = (self.folder / 'log').read_text().splitlines()
        self.assertIn(f'traceparent 00-{TRACE}-{tool.id}-01', log)
        self.assertIn(f'tracestate {STATE}', log)


class Unsampled(Traced):
    telemetry = 'sampling_percent = 0'

    def test_only_those_whose_sender_samples_are_traced(self):
        self.begin('hello')
        self.begin('hello', traceparent=SENT)
        span, = self.collector.wait_for_spans('invoke_agent ops')
        self.assertEqual(span.trace, TRACE)
        self.assertEqual({span.trace for span in self.collector.spans()}, {TRACE})


class Collectors(Traced):
    kind = Alone  # each server reports what became of its spans
    telemetry = 'headers = { Authorization = { env = "OTLP_TOKEN", prefix = "Bearer " } }'
    env = {'OTLP_TOKEN': 'sesame-otlp'}

    def traces(self):
        return self.server.get('/api/doctor')['traces']

    def test_doctor_and_metrics_tell_without_secrets(self):
        self.begin('hello')
        self.collector.wait_for_spans('invoke_agent ops')
        wait_for(lambda: self.traces()['exported'] > 0)
        self.assertEqual(self.collector.received[0]['headers']['authorization'],
                         'Bearer sesame-otlp')
        self.assertTrue(self.traces()['ok'])
        self.assertIsNone(self.traces()['why'])
        self.assertEqual(self.value('dormouse_trace_export_up'), 1)
        self.assertGreater(self.value('dormouse_spans_exported_total'), 0)
        for path in ('/api/doctor', '/api/config', '/metrics'):
            self.assertNotIn(b'sesame-otlp', self.server.get(path).raw)

    def test_request_is_repeated_as_late_as_the_collector_asks(self):
        answers = [(429, {'Retry-After': '30'}), 200]
        self.collector.answer = lambda received: answers.pop(0) if answers else 200
        self.begin('hello')
        wait_for(lambda: self.traces()['why'] == 'the collector answered 429')
        self.server.advance(20)
        self.server.get('/api/doctor')
        self.assertEqual(len(self.collector.received), 1)
        self.server.advance(25)
        first, second, *_ = self.collector.wait(2)
        self.assertEqual(json.loads(first['body'])['resourceSpans'][0]['scopeSpans'][0]['spans'],
                         json.loads(second['body'])['resourceSpans'][0]['scopeSpans'][0]['spans']
                         [:len(json.loads(first['body'])['resourceSpans'][0]['scopeSpans'][0]
                               ['spans'])])
        wait_for(lambda: self.traces()['ok'])
        self.assertEqual(self.traces()['dropped'], 0)

    def test_refused_spans_are_dropped_and_counted(self):
        self.collector.answer = lambda received: 400
        self.begin('hello')
        wait_for(lambda: self.traces()['dropped'] > 0)
        self.assertFalse(self.traces()['ok'])
        self.assertGreater(self.value('dormouse_spans_dropped_total'), 0)

    def test_hanging_collector_delays_nothing(self):
        held = threading.Event()
        self.addCleanup(held.set)
        self.collector.answer = lambda received: held.wait(120) and 200 or 200
        self.begin('hello')
        self.collector.wait(1)
        for _ in range(3):
            self.begin('approve all')
        self.assertEqual(self.traces()['exported'], 0)
        self.server.term()
        held.set()
        self.server.start()

    def test_collector_that_is_gone_costs_only_spans(self):
        self.collector.close()
        self.begin('hello')
        wait_for(lambda: not self.traces()['ok'])
        self.begin('approve all')
        self.server.term()
        self.server.start()


class Small(Traced):
    telemetry = 'queue_spans = 2'

    def test_full_queue_drops_and_counts(self):
        held = threading.Event()
        self.addCleanup(held.set)
        self.collector.answer = lambda received: held.wait(120) and 200 or 200
        for _ in range(3):
            self.begin('approve all')
        wait_for(lambda: self.value('dormouse_spans_dropped_total') > 0)
        self.assertLessEqual(self.value('dormouse_spans_waiting'), 2)
        held.set()


class Variables(Case):
    def setUp(self):
        self.collector = Collector()
        self.addCleanup(self.collector.close)

    def test_variables_of_opentelemetry_take_the_place_of_the_file(self):
        self.configured('', OTEL_EXPORTER_OTLP_ENDPOINT=self.collector.url + '/',
                        OTEL_EXPORTER_OTLP_HEADERS='api-key=a%20b, x-more=2',
                        OTEL_SERVICE_NAME='by-variable')
        self.server.create('hello')
        self.collector.wait_for_spans('invoke_agent demo')
        request = self.collector.received[0]
        self.assertEqual((request['headers']['api-key'], request['headers']['x-more']),
                         ('a b', '2'))
        resource = attributes(json.loads(request['body'])['resourceSpans'][0]['resource'])
        self.assertEqual(resource['service.name'], 'by-variable')

    def test_wrong_variables_of_metrics_are_named(self):
        for name, value, says in (
            ('OTEL_METRIC_EXPORT_INTERVAL', '1 minute', 'must be milliseconds from 1000'),
            ('OTEL_METRIC_EXPORT_INTERVAL', '10', 'must be milliseconds from 1000'),
            ('OTEL_METRICS_EXPORTER', 'prometheus', 'must be otlp or none'),
        ):
            done = run('serve', '--no-config', '--store', 'memory', env=environment(
                OTEL_EXPORTER_OTLP_ENDPOINT=self.collector.url, **{name: value}))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f'{name}: {says}', done.stderr)
        self.configured('')


if __name__ == '__main__':
    main()
