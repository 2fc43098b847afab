#!/usr/bin/env python3
"""/openapi.json against the routes, and other programs against it: redocly lints it and runs flows
(Arazzo) on a live server, prism checks a server's answers in the contract tests, and npm's
eventsource follows a stream over a kill. The programs are installed by the lock file of
tests/contract; without npm's registry these tests are skipped, with the reason."""
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import dormouse
import http_contract
import http_objects
import http_state
import npm
from dormouse import ROOT, Case, Client, Server, leave_out, main, wait_for

PROGRAMS = ROOT / 'tests/contract'
MODULES = PROGRAMS / 'node_modules'
DOCUMENT = ROOT / 'src/http/resources/operations/openapi.json'
START_LIMIT_S = 120  # prism compiles thousands of modules before it listens
METHODS = {'get', 'post', 'patch', 'put', 'delete'}


def install():
    """Returns None, or why the programs are missing."""
    return npm.install(PROGRAMS, 'node')


def program(name, *arguments, timeout=120):
    return subprocess.run(
        [MODULES / '.bin' / name, *arguments],
        cwd=PROGRAMS,
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, 'REDOCLY_TELEMETRY': 'off'},
    )


class Document(Case):
    def test_server_gives_the_file_that_is_checked_in(self):
        answer = self.server.get('/openapi.json')
        self.assertStatus(answer, 200)
        self.assertEqual(answer.headers['Content-Type'], 'application/json')
        self.assertEqual(answer.raw, DOCUMENT.read_bytes())

    def test_document_has_every_route_and_no_other(self):
        paths = json.loads(DOCUMENT.read_text())['paths']
        documented = {(m.upper(), re.sub(r'\{\w+\}', '{}', p))
                      for p, item in paths.items() for m in item if m in METHODS}
        self.assertEqual(documented, set(http_contract.ROUTES))

    def test_document_has_every_query_parameter_and_no_other(self):
        source = (ROOT / 'src/http/resources/routes.cc').read_text()
        constants = dict(re.findall(r'constexpr std::string_view (\w+) =\s*"([^"]*)"', source))
        rows = re.findall(
            r'\{"([A-Z]+)",\s+\{([^}]*(?:\{\}[^}]*)*)\},\s+\w+,\s+\w+(?:,\s+("[^"]*"|\w+))?'
            r'(?:,\s+\w+)?\}',
            source)
        taken = {}
        for method, path, query in rows:
            words = constants.get(query, query.strip('"')).split()
            # "*": other parameters are ignored, so they have no description.
            taken[method, '/' + '/'.join(re.findall(r'"([^"]*)"', path))] = set(words) - {'*'}
        self.assertEqual(set(taken), set(http_contract.ROUTES))
        document = json.loads(DOCUMENT.read_text())
        shared = document['components']['parameters']
        for path, item in document['paths'].items():
            for method, operation in item.items():
                parameters = [shared[p['$ref'].rsplit('/', 1)[1]] if '$ref' in p else p
                              for p in operation.get('parameters', [])]
                documented = {p['name'] for p in parameters if p['in'] == 'query'}
                place = method.upper(), re.sub(r'\{\w+\}', '{}', path)
                self.assertEqual(documented, taken[place], place)

    def test_document_has_every_code_and_no_other(self):
        schemas = json.loads(DOCUMENT.read_text())['components']['schemas']
        pages = {p.stem for p in (ROOT / 'docs/errors').glob('*.md')} - {'README'}
        self.assertEqual(set(schemas['Code']['enum']), pages)


class Redocly(Case):
    @classmethod
    def setUpClass(cls):
        if why := install():
            leave_out(why)

    def test_lint_finds_nothing(self):
        report = program('redocly', 'lint', str(DOCUMENT), '--format', 'json')
        totals = json.loads(report.stdout[report.stdout.index('{'):])['totals']
        self.assertEqual((totals['errors'], totals['warnings']), (0, 0), report.stdout)

    def test_flows_run_as_written(self):
        report = program(
            'redocly', 'respect', 'flows.arazzo.yaml', '--input', f'token={self.server.token}',
            '--server', f'dormouse=http://127.0.0.1:{self.server.port}',
        )
        self.assertEqual(report.returncode, 0, report.stdout + report.stderr)
        self.assertIn('3 passed, 3 total', report.stdout)


class Followed(Case):
    @classmethod
    def setUpClass(cls):
        if why := install():
            leave_out(why)

    def test_eventsource_over_kills_sees_every_event_once(self):
        session = self.server.create('deploy A and B and C')
        types = json.loads(DOCUMENT.read_text())['components']['schemas']['Event']
        url = f'http://127.0.0.1:{self.server.port}/api/sessions/{session["id"]}/events'
        follower = subprocess.Popen(
            ['node', 'follow.mjs', url, *types['properties']['type']['enum']],
            cwd=PROGRAMS,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, 'TOKEN': self.server.token},
        )
        self.addCleanup(follower.wait)
        self.addCleanup(follower.kill)
        received = []
        reader = threading.Thread(
            target=lambda: [received.append(json.loads(line)) for line in follower.stdout]
        )
        reader.start()
        seen = lambda: [one['seq'] for one in received if 'seq' in one]
        for call in self.server.open_calls(session['id']):
            head = self.server.session(session['id'])['seq']
            wait_for(lambda: seen()[-1:] == [head])
            self.server.restart()
            self.server.result(call['id'], 'x')
        head = self.server.at_rest(session['id'])['seq']
        wait_for(lambda: seen()[-1:] == [head])
        follower.kill()
        reader.join(timeout=10)
        self.assertEqual(seen(), list(range(1, head + 1)))
        self.assertEqual([one['id'] for one in received if 'seq' in one],
                         [str(n) for n in range(1, head + 1)])
        self.assertGreaterEqual(len([one for one in received if 'open' in one]), 4)


# ---- the contract tests through prism

def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Proxy:
    """prism between the tests and their server: it checks each answer."""

    def __init__(self, document):
        self.port, self.upstream = free_port(), free_port()
        self.process = subprocess.Popen(
            [MODULES / '.bin/prism', 'proxy', document, f'http://127.0.0.1:{self.upstream}',
             '--host', '127.0.0.1', '--port', str(self.port), '--verboseLevel', 'error'],
            stdout=subprocess.DEVNULL,
        )
        try:
            wait_for(self.answers, seconds=START_LIMIT_S, what='an answer of prism')
        except AssertionError:
            self.stop()
            raise

    def answers(self):
        try:
            socket.create_connection(('127.0.0.1', self.port), timeout=1).close()
            return True
        except OSError:
            return False

    def stop(self):
        self.process.kill()
        self.process.wait()


class CheckedClient(Client):
    """prism's findings about answers are errors here; those about requests are what tests try out.
    """

    counted = 0

    def __init__(self, proxy, token, timeout=70):
        super().__init__(proxy.port, token, timeout)

    def call(self, *arguments, **named):
        answer = super().call(*arguments, **named)
        found = json.loads(answer.headers.get('sl-violations') or '[]')
        wrong = [one for one in found if one['location'][0] == 'response']
        if wrong:
            raise AssertionError(f'{arguments[:2]}: {wrong} in {answer}')
        CheckedClient.counted += 1
        return answer


def through(proxy):
    """Returns the test cases of the contract with servers that are reached through `proxy`."""

    class ProxiedServer(Server):
        def __init__(self, *arguments, start=True, **named):
            super().__init__(*arguments, '--allowed-host', f'127.0.0.1:{proxy.port}',
                             start=False, **named)
            self.port = proxy.upstream
            if start:
                self.start()

        def new_client(self, timeout=70):
            return CheckedClient(proxy, self.token, timeout)

    dormouse.Server = ProxiedServer
    wanted = [
        http_objects.Objects,
        http_state.Conflicts,
        http_state.Keys,
        http_state.Conditional,
        http_state.Paging,
        http_state.Waits,
    ]
    return [unittest.defaultTestLoader.loadTestsFromTestCase(case) for case in wanted]


class Prism(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if why := install():
            leave_out(why)

    def setUp(self):
        self.addCleanup(setattr, dormouse, 'Server', Server)

    def proxy(self, document):
        proxy = Proxy(document)
        self.addCleanup(proxy.stop)
        return proxy

    def test_contract_test_replies_match_the_document(self):
        CheckedClient.counted = 0
        suite = unittest.TestSuite(through(self.proxy(DOCUMENT)))
        result = unittest.TextTestRunner().run(suite)
        self.assertTrue(result.wasSuccessful())
        self.assertGreater(CheckedClient.counted, 100)

    def test_missing_member_is_found(self):
        document = json.loads(DOCUMENT.read_text())
        document['components']['schemas']['Session']['required'].append('planted')
        with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
            json.dump(document, file)
            file.flush()
            through(self.proxy(file.name))
            server = dormouse.Server()
            self.addCleanup(server.clean)
            with self.assertRaisesRegex(AssertionError, 'planted'):
                server.create()


if __name__ == '__main__':
    main()
