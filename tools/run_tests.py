#!/usr/bin/env python3
"""Runs the tests of one build folder and counts every case.

usage: run_tests.py BUILD_FOLDER [quick] [unit] [agents] [postgres | postgres2] [-k EXPRESSION]
       [--binaries NAME,...] [--at-once N]

ctest runs the GoogleTest binaries and, at the same time, pytest the tests from outside
(tests/conftest.py) with DORMOUSE naming the binary under test. `quick` leaves out what is slow,
`unit` the tests from outside; `agents` runs real agents alone, also those that are too large to be
fetched each time; `postgres` runs the quick tests from outside on servers that keep their sessions
in PostgreSQL, `postgres2` on two such servers that answer in turn; -k runs only the tests from
outside that the expression names (pytest's own), --binaries these GoogleTest binaries alone,
--at-once at most N at a time. A binary that did not change since it passed does not run again
(passed.py): its cases are counted from the report of that run.
The reports (JUnit) are in BUILD_FOLDER/results. The last line is `N passed, N failed, N skipped`;
the exit status is 1 if a test failed or none ran.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as xml

from passed import Passed

ROOT = pathlib.Path(__file__).resolve().parent.parent
UNIT_LIMIT_S = 2_400  # the simulator under a sanitizer, beside other work
STORES = ('postgres', 'postgres2')
# Most tests wait most of the time.
AT_ONCE = (os.cpu_count() or 1) + 1


class Tally:
    """What became of the tests."""

    def __init__(self):
        self.passed, self.left_out, self.broken = 0, [], []

    def count(self, report):
        """Adds the cases of a JUnit report, of GoogleTest's or of pytest's."""
        for case in xml.parse(report).getroot().iter('testcase'):
            name = f'{case.get("classname")}.{case.get("name")}'
            skipped = case.find('skipped')
            if case.find('failure') is not None or case.find('error') is not None:
                self.broken.append(name)
            elif skipped is not None:
                self.left_out.append(f'{name}: {why_skipped(skipped)}')
            elif case.get('status') == 'notrun':
                self.left_out.append(f'{name}: disabled')
            else:
                self.passed += 1

    def report(self):
        for title, names in (('Left out:', self.left_out), ('Failed:', self.broken)):
            if names:
                print('\n'.join([title] + ['  ' + name for name in sorted(set(names))]))
        counts = f'{self.passed} passed, {len(self.broken)} failed, {len(self.left_out)} skipped'
        print(counts, flush=True)
        return 1 if self.broken or not self.passed else 0


def why_skipped(element):
    """GoogleTest writes `file:line` and then the text given to GTEST_SKIP()."""
    lines = (element.get('message') or element.text or '').strip().splitlines()
    return lines[-1] if lines else 'no reason given'


def start(command, **environment):
    return subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environment},
                            stdin=subprocess.DEVNULL, start_new_session=True)


def names_of_binaries(options):
    """What ctest would run."""
    listed = subprocess.run(
        ['ctest', '--test-dir', options.build, '--show-only=json-v1',
         *(['-LE', 'slow'] * options.quick)], check=True, capture_output=True).stdout
    names = [test['name'] for test in json.loads(listed)['tests']]
    chosen = options.binaries.split(',') if options.binaries else names
    unknown = set(chosen) - set(names)
    if unknown:
        sys.exit(f'run_tests.py: no such binaries: {" ".join(sorted(unknown))}')
    return chosen


def start_unit_tests(options, results, names):
    return start(
        ['ctest', '--test-dir', options.build, '-j', str(options.at_once), '--output-on-failure',
         '--timeout', str(UNIT_LIMIT_S), '--output-junit', results / 'ctest.xml',
         '-R', f'^({"|".join(names)})$'],
        GTEST_OUTPUT=f'xml:{results / "unit"}/')


def keep_passed(passed, results):
    """Remembers those that ctest calls passed: a sanitizer can speak after the last case."""
    try:
        cases = xml.parse(results / 'ctest.xml').getroot().iter('testcase')
    except (OSError, xml.ParseError):
        return
    for case in cases:
        name, report = case.get('name'), results / 'unit' / f'{case.get("name")}.xml'
        if case.get('status') == 'run' and case.find('failure') is None and report.is_file():
            passed.keep(name, report)


def start_outside_tests(build, results, options):
    # Debian's Python, for which tools/setup.sh installs pytest.
    python = '/usr/bin/python3' if os.access('/usr/bin/python3', os.X_OK) else sys.executable
    more = [f'--{name}' for name in ('quick', 'agents') if getattr(options, name)]
    more += ['-k', options.k] if options.k else []
    store = {}
    if options.store:
        more.append('--quick')
        store = {'DORMOUSE_TEST_STORE': options.store, 'DORMOUSE_TEST_POSTGRES': 'required'}
    return start(
        [python, '-m', 'pytest', '-q', '-n', str(AT_ONCE), '--dist', 'loadgroup',
         f'--junitxml={results / "outside.xml"}', *more],
        DORMOUSE=str(build / 'dormouse'), **store)


def run_unit_tests(options, results, tally, processes):
    passed, names = Passed(ROOT, options.build), names_of_binaries(options)
    known = passed.find(names, results / 'unit')
    if known:
        print(f'{len(known)} of {len(names)} binaries did not change since they passed: not run '
              'again (tools/passed.py)', flush=True)
    names = [name for name in names if name not in known]
    status = 0
    if names:
        unit = start_unit_tests(options, results, names)
        processes.append(unit)
        status = unit.wait()
        keep_passed(passed, results)
    count_unit_tests(results, tally, status)


def count_unit_tests(results, tally, status):
    """A binary that ended badly without a failed case: a sanitizer's finding, a crash."""
    for report in sorted((results / 'unit').glob('*.xml')):
        tally.count(report)
    if status == 0 or tally.broken:
        return
    binaries = Tally()
    with contextlib.suppress(OSError, xml.ParseError):
        binaries.count(results / 'ctest.xml')
    tally.broken += binaries.broken or [f'ctest (ended with {status})']


def count_outside_tests(results, tally, status):
    before = len(tally.broken)
    try:
        tally.count(results / 'outside.xml')
    except (OSError, xml.ParseError):
        tally.broken.append(f'pytest (ended with {status} before its report)')
    if status != 0 and len(tally.broken) == before:
        tally.broken.append(f'pytest (ended with {status})')


def end_with_us(processes):
    def end(*_):
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        os._exit(143)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)


def read_options(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument('build', type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument('words', nargs='*', choices=['quick', 'unit', 'agents', *STORES, []])
    parser.add_argument('-k', metavar='EXPRESSION')
    parser.add_argument('--binaries', metavar='NAME,...')
    parser.add_argument('--at-once', metavar='N', type=int, default=AT_ONCE)
    options = parser.parse_intermixed_args(arguments)
    for word in ('quick', 'unit', 'agents'):
        setattr(options, word, word in options.words)
    options.store = next((word for word in STORES if word in options.words), None)
    return options


def main(arguments):
    options = read_options(arguments)
    results = options.build / 'results'
    shutil.rmtree(results, ignore_errors=True)
    (results / 'unit').mkdir(parents=True)
    tally, processes = Tally(), []
    end_with_us(processes)
    outside = None
    if not options.unit:
        outside = start_outside_tests(options.build, results, options)
        processes.append(outside)
    if not (options.agents or options.k or options.store):
        run_unit_tests(options, results, tally, processes)
    if outside:
        count_outside_tests(results, tally, outside.wait())
    return tally.report()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
