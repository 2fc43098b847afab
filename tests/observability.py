#!/usr/bin/env python3
"""packaging/observability: the dashboard and the alert rules agree with the metrics of the server,
and Prometheus answers each of their questions."""
import contextlib
import http.client
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

import metrics as metrics_tests
from dormouse import ROOT, Case, Server, leave_out, main, run, wait_for
from stored import STORE

sys.path.insert(0, str(ROOT / 'tools'))
import alerts  # noqa: E402
import dashboard  # noqa: E402

SOURCES = [ROOT / 'src/http/resources/operations/metrics' / name
           for name in ('metrics_text.cc', 'model_work.cc')]
RULES = ROOT / 'packaging/observability/alerts.yaml'
DRAWN = ROOT / 'packaging/observability/dashboard.json'
LIMIT_S = 240
# Counted by Prometheus itself.
OF_PROMETHEUS = {'up', 'scrape_duration_seconds', 'ALERTS'}
# Metrics without a series on one healthy server, and why.
EMPTY = {
    'dormouse_nodes': 'the server is alone',
    'dormouse_nodes_removed_total': 'the server is alone',
    'dormouse_fenced_total': 'the server is alone',
    'dormouse_takeovers_total': 'the server is alone',
    'dormouse_feed_behind_seconds': 'the server is alone',
    **({'dormouse_lost_commits_total': 'there is no database server'}
       if not STORE.startswith('postgres') else {}),
    'dormouse_append_errors_total': 'the store refused nothing',
    'dormouse_cost_total': 'the demo model has no price',
    **dict.fromkeys(('dormouse_trace_export_up', 'dormouse_spans_exported_total',
                     'dormouse_spans_dropped_total', 'dormouse_spans_waiting',
                     'dormouse_trace_export_failures_total'), 'there is no collector'),
    **dict.fromkeys(('dormouse_copy_up', 'dormouse_copy_age_seconds', 'dormouse_copy_feed_position',
                     'dormouse_copy_increment_seconds', 'dormouse_copy_bytes_total',
                     'dormouse_copy_objects_total', 'dormouse_copy_bases_total',
                     'dormouse_copy_failures_total'), 'nothing is copied'),
    **dict.fromkeys(('dormouse_archive_up', 'dormouse_archive_age_seconds',
                     'dormouse_archived_sessions_total', 'dormouse_archived_bytes_total',
                     'dormouse_archive_left_sessions', 'dormouse_archive_failures_total'),
                    'nothing is archived'),
    **({'dormouse_database_bytes': 'PostgreSQL has it'} if STORE != 'sqlite' else {}),
}

# These depend on the machine that runs the tests, too.
OF_THE_MACHINE = {'DormouseDown', 'DormouseSlowScrape', 'DormouseBusyLoop', 'DormouseSlowCommits',
                  'DormouseSlowResume', 'DormouseDiskNearlyFull', 'DormouseFilesNearLimit'}


# Words after the name of the program in texts that name no command.
NO_COMMANDS = {
    'candidates',  # hidden: shells call it
    'capability', 'content', 'copy', 'node', 'owner', 'sign-in',  # what keys and locks are of
    'did', 'reads',  # sentences
}


def commands_in(source):
    """What the strings of a C++ source name as commands."""
    source = re.sub(r'^\s*//.*$', '', source, flags=re.M)
    source = re.sub(r'"\s*\n\s*"', '', source)
    strings = re.findall(r'"((?:[^"\\\n]|\\.)*)"', source)
    return {word for one in strings for word in re.findall(r'\bdormouse ([a-z][a-z-]*)', one)}


def described():
    return {metric.name: metric for metric in dashboard.metrics(dashboard.PAGE.read_text())}


def needs(program):
    if not shutil.which(program):
        leave_out(f'{program} is missing (tools/setup.sh test)')


def expressions():
    """Yields (panel, expression) of the dashboard, as Grafana asks with everything selected."""
    for panel in json.loads(DRAWN.read_text())['panels']:
        for target in panel.get('targets', ()):
            expression = target['expr'].replace('$__rate_interval', '1m')
            yield panel['title'], expression.replace('$job', 'dormouse').replace('$instance', '.*')


def names_in(expression):
    """Returns the metrics that an expression reads, histograms by their family."""
    without = re.sub(r'\{[^}]*\}|\b(?:by|on) \([^)]*\)', '', expression)
    words = re.findall(r'\b(?:dormouse|process|scrape)_\w+|\bup\b|\bALERTS\b', without)
    return {word.removesuffix('_bucket') for word in words}


class Prometheus:
    """Debian's Prometheus, which scrapes a server, and one beside it, with its token."""

    def __init__(self, server):
        self.own = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-prometheus-'))
        token = pathlib.Path(server.directory, 'token')
        ports = [one.port for one in (server, server.beside) if one]
        config = {
            'global': {'scrape_interval': '250ms', 'scrape_timeout': '250ms'},
            'rule_files': [str(RULES)],
            'scrape_configs': [{
                'job_name': 'dormouse', 'authorization': {'credentials_file': str(token)},
                'scrape_interval': '250ms', 'scrape_timeout': '250ms',
                'static_configs': [{'targets': [f'127.0.0.1:{port}' for port in ports]}]}],
        }
        (self.own / 'prometheus.yml').write_text(json.dumps(config))
        with open(self.own / 'log', 'wb') as log:
            self.process = subprocess.Popen(
                ['prometheus', '--web.listen-address=127.0.0.1:0',
                 f'--config.file={self.own}/prometheus.yml',
                 f'--storage.tsdb.path={self.own}/data'],
                cwd=self.own, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.port = wait_for(self.listens, LIMIT_S, 'an address of Prometheus')
        wait_for(lambda: self.get('/-/ready')[0] == 200, LIMIT_S, 'a Prometheus that is ready')

    def log(self):
        return (self.own / 'log').read_text()

    def listens(self):
        assert self.process.poll() is None, self.log()
        match = re.search(r'msg="Listening on" address=127\.0\.0\.1:(\d+)', self.log())
        return match and int(match[1])

    def get(self, path):
        with contextlib.closing(
                http.client.HTTPConnection('127.0.0.1', self.port, timeout=60)) as connection:
            connection.request('GET', path)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def ask(self, expression):
        """Returns the samples of an instant query."""
        status, body = self.get('/api/v1/query?' + urllib.parse.urlencode({'query': expression}))
        assert status == 200, (expression, body)
        return json.loads(body)['data']['result']

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.own)


class OfFiles(Case):
    def setUp(self):
        pass

    def tearDown(self):
        pass

    def test_generated_files_are_up_to_date(self):
        checked = subprocess.run([sys.executable, ROOT / 'tools/dashboard.py', '--check'],
                                 capture_output=True, text=True)
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, '', ''))

    def test_page_describes_what_the_server_writes(self):
        written = {name for source in SOURCES for name in re.findall(
            r'"((?:dormouse|process)_[a-z_]+)"', source.read_text())}
        self.assertEqual(set(described()), written)

    def test_each_metric_is_on_a_panel(self):
        shown = set().union(*(names_in(expression) for _, expression in expressions()))
        self.assertEqual(shown - OF_PROMETHEUS, set(described()))

    def test_panels_do_not_overlap(self):
        taken = set()
        for panel in json.loads(DRAWN.read_text())['panels']:
            place = panel['gridPos']
            cells = {(x, y) for x in range(place['x'], place['x'] + place['w'])
                     for y in range(place['y'], place['y'] + place['h'])}
            self.assertFalse(cells & taken, panel['title'])
            self.assertLessEqual(place['x'] + place['w'], dashboard.COLUMNS)
            taken |= cells

    def test_alerts_read_metrics_that_exist(self):
        self.assertGreaterEqual(len(alerts.ALL), 20)
        for alert in alerts.ALL:
            with self.subTest(alert.name):
                names = names_in(alert.expression)
                self.assertTrue(names)
                self.assertLessEqual(names, set(described()) | OF_PROMETHEUS)
                self.assertTrue(alert.action.endswith(('.', '?')))

    def test_commands_and_metrics_of_advice_exist(self):
        commands = set(re.findall(r'^  ([a-z]+) +[A-Z]', run('--help').stdout, re.M))
        for alert in alerts.ALL:
            named = set(re.findall(r'\bdormouse ([a-z]+)', alert.action))
            self.assertLessEqual(named, commands, alert.name)
            read = set(re.findall(r'\b(?:dormouse|process)_\w+', alert.action))
            self.assertLessEqual(read, set(described()), alert.name)

    def test_commands_named_by_errors_and_advice_exist(self):
        commands = set(re.findall(r'^  ([a-z]+) +[A-Z]', run('--help').stdout, re.M))
        self.assertIn('doctor', commands)
        for path in ROOT.glob('src/**/*.cc'):
            place = path.relative_to(ROOT).as_posix()
            if place.endswith('_test.cc') or re.search('/tests?/|/testing/', place):
                continue
            unknown = commands_in(path.read_text()) - commands - NO_COMMANDS
            self.assertFalse(unknown, f'{place} names commands that do not exist')

    def test_alerts_fire_and_are_quiet(self):
        needs('promtool')
        with tempfile.TemporaryDirectory(prefix='dormouse-alerts-') as folder:
            tries = pathlib.Path(folder) / 'tries.yaml'
            tries.write_text(alerts.tries(RULES))
            for command in (['check', 'rules', RULES], ['test', 'rules', tries]):
                done = subprocess.run(['promtool', *command], capture_output=True, text=True,
                                      timeout=LIMIT_S)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class OfAServer(Case):
    """Asks a Prometheus that scrapes a server on which a bit of everything has happened."""

    @classmethod
    def setUpClass(cls):
        needs('prometheus')
        cls.shared = Server('--index', 'files')
        cls.addClassCleanup(cls.shared.clean)
        cls.work(cls.shared)
        cls.prometheus = Prometheus(cls.shared)
        cls.addClassCleanup(cls.prometheus.close)
        wait_for(lambda: cls.prometheus.ask('count_over_time(dormouse_store_answers[1m]) > 2'),
                 LIMIT_S, 'three scrapes')

    @staticmethod
    def work(server):
        session = server.create('deploy A')['id']
        [call] = server.open_calls(session)
        assert server.result(call['id'], 'live').status == 200
        assert server.result(call['id'], 'dead').status == 409
        session = server.create('approve A')['id']
        [call] = server.open_calls(session)
        assert server.decide(call, True).status == 200
        server.at_rest(session)
        server.create('deploy A')

    def setUp(self):
        self.server = self.shared

    def tearDown(self):
        pass

    def test_page_has_kinds_and_labels_of_the_server(self):
        text = self.server.get('/metrics').raw.decode()
        kinds = dict(re.findall(r'^# TYPE (\w+) (\w+)$', text, re.M))
        page = described()
        self.assertEqual(kinds, {name: page[name].kind for name in kinds})
        for name, labels in metrics_tests.parse(text):
            family = name if name in kinds else re.sub(r'_(bucket|sum|count)$', '', name)
            labels = {label for label, _ in labels} - {'le'}
            self.assertEqual(labels, set(page[family].labels), name)

    def test_panels_have_data(self):
        for panel, expression in expressions():
            with self.subTest(panel, expression=expression):
                if names_in(expression) & EMPTY.keys():
                    self.prometheus.ask(expression)
                else:
                    wait_for(lambda: self.prometheus.ask(expression), LIMIT_S, expression)

    def test_alerts_of_a_healthy_server_are_quiet(self):
        for alert in alerts.ALL:
            with self.subTest(alert.name):
                found = self.prometheus.ask(alert.expression)
                if alert.name not in OF_THE_MACHINE:
                    self.assertEqual(found, [])
                for name in names_in(alert.expression) - EMPTY.keys():
                    any_of_it = f'count_over_time({{__name__=~"{name}(_bucket)?"}}[10m])'
                    self.assertTrue(self.prometheus.ask(any_of_it), name)


if __name__ == '__main__':
    main()
