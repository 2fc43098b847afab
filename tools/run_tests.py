#!/usr/bin/env python3
"""Runs the tests of one build folder and counts them.

usage: run_tests.py BUILD_FOLDER [quick] [unit] | BUILD_FOLDER agents

Runs the GoogleTest binaries that ctest knows, then the programs in tests/ and tests/slow/
(executable .sh and .py files) with DORMOUSE naming the binary under test. A program ends with 0
(passed), 77 (left out, the reason on its last line) or anything else (failed). `quick` leaves out
what is slow, `unit` the programs; `agents` runs real agents alone, also those that are too large to
be fetched each time. The last line is `N passed, N failed, N skipped`; the exit
status is 1 if a test failed or none ran.
"""
import concurrent.futures
import contextlib
import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT_S = 600
TAIL_LINES = 60
LEFT_OVER_S = 3
LEFT_OUT = 77
PART_LEFT_OUT = 'left out: '  # before a test or a block of a program that passed
AT_ONCE = (os.cpu_count() or 1) + 1
SPEAKING = threading.Lock()
RUNNING = set()  # the tests' process groups


class Tally:
    """What became of the tests. Several threads count."""

    def __init__(self):
        self.lock = threading.Lock()
        self.passed = self.failed = self.skipped = 0
        self.left_out = []
        self.broken = []

    def succeed(self, count=1):
        with self.lock:
            self.passed += count

    def skip(self, name, why, count=1):
        with self.lock:
            self.skipped += count
            self.left_out.append(f'{name}: {why}')

    def fail(self, name, count=1):
        with self.lock:
            self.failed += count
            self.broken.append(name)


def processes_of(session):
    """{pid: command line} of those that run in a session of the system's."""
    found = {}
    for folder in pathlib.Path('/proc').iterdir():
        try:
            fields = (folder / 'stat').read_text().rpartition(')')[2].split()
            if folder.name.isdigit() and fields[3] == str(session) and fields[0] != 'Z':
                found[int(folder.name)] = (folder / 'cmdline').read_bytes().replace(b'\0', b' ')
        except OSError:
            continue  # it ended meanwhile, or is no process
    return found


def end_left_over(session):
    """Ends what a test left running, once it had its time; a line for each."""
    end = time.monotonic() + LEFT_OVER_S
    while (left := processes_of(session)) and time.monotonic() < end:
        time.sleep(0.05)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return [f'left running: {command.decode(errors="replace")}' for command in left.values()]


def run(command, environment):
    """(exit status, output, seconds). Past the time limit: 124, and its process group is ended; 1
    if it left a process running."""
    begin = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors='replace',
        start_new_session=True,
    )
    RUNNING.add(process.pid)
    try:
        output, _ = process.communicate(timeout=TIMEOUT_S)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        output += f'\nended: it took more than {TIMEOUT_S} s'
        status = 124
    finally:
        RUNNING.discard(process.pid)
    seconds = time.monotonic() - begin
    left = end_left_over(process.pid)
    return status or int(bool(left)), '\n'.join([output, *left]), seconds


def say(mark, name, detail, seconds, output=None):
    """A line for what ended, and the end of its output where it failed: in one piece."""
    lines = [f'{mark:10}{name:32}{detail}, {seconds:.1f} s']
    if output is not None:
        lines += ['    ' + line for line in output.splitlines()[-TAIL_LINES:]]
    with SPEAKING:
        print('\n'.join(lines), flush=True)


def skip_reason(case):
    """GoogleTest writes `file:line` and then the text given to GTEST_SKIP()."""
    lines = (case.find('skipped').get('message') or '').strip().splitlines()
    return lines[-1] if lines else 'no reason given'


def count_cases(report, name, tally):
    """Adds the cases of one GoogleTest report to the tally; returns (passed, failed)."""
    passed = failed = 0
    for case in xml.parse(report).getroot().iter('testcase'):
        full = f'{name} {case.get("classname")}.{case.get("name")}'
        if case.find('failure') is not None:
            failed += 1
            tally.fail(full)
        elif case.find('skipped') is not None:
            tally.skip(full, skip_reason(case))
        elif case.get('status') == 'notrun':
            tally.skip(full, 'disabled')
        else:
            passed += 1
    tally.succeed(passed)
    return passed, failed


def run_unit(name, command, build, tally):
    report = build / 'results' / f'{name}.xml'
    status, output, seconds = run(command, {**os.environ, 'GTEST_OUTPUT': f'xml:{report}'})
    if not report.exists():
        tally.fail(f'{name} (ended with {status} before its report)')
        return say('FAILED', name, f'ended with {status}', seconds, output)
    passed, failed = count_cases(report, name, tally)
    if status != 0 and failed == 0:  # a sanitizer's finding, or a crash at exit
        tally.fail(f'{name} (ended with {status})')
        failed = 1
    say(
        'FAILED' if failed else 'ok',
        name,
        f'{passed} passed' + (f', {failed} failed' if failed else ''),
        seconds,
        output if failed else None,
    )


def unit_tasks(build, quick, tally):
    results = build / 'results'
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True)
    listed = subprocess.run(
        ['ctest', '--test-dir', str(build), '--show-only=json-v1'],
        check=True,
        capture_output=True,
        text=True,
    )
    tasks = []
    for test in json.loads(listed.stdout)['tests']:
        labels = [p['value'] for p in test.get('properties', []) if p['name'] == 'LABELS']
        if quick and 'slow' in sum(labels, []):
            tally.skip(test['name'], 'slow')
        elif 'command' not in test:
            tally.fail(f'{test["name"]} (not built)')
        else:
            tasks.append(functools.partial(run_unit, test['name'], test['command'], build, tally))
    return tasks


def programs(folder):
    return sorted(
        p for p in folder.glob('*') if p.suffix in ('.sh', '.py') and os.access(p, os.X_OK)
    )


def run_program(path, build, tally):
    name = str(path.relative_to(ROOT))
    status, output, seconds = run([str(path)], {**os.environ, 'DORMOUSE': str(build / 'dormouse')})
    lines = output.strip().splitlines()
    for line in lines:
        if status == 0 and line.startswith(PART_LEFT_OUT):
            tally.skip(name, line.removeprefix(PART_LEFT_OUT))
    if status == 0:
        tally.succeed()
        say('ok', name, 'passed', seconds)
    elif status == LEFT_OUT:
        why = lines[-1] if lines else 'no reason given'
        tally.skip(name, why)
        say('left out', name, why, seconds)
    else:
        tally.fail(f'{name} (ended with {status})')
        say('FAILED', name, f'ended with {status}', seconds, output)


def run_together(tasks):
    """Runs functions without arguments, AT_ONCE at a time: most tests wait most of the time."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for done in concurrent.futures.as_completed([pool.submit(task) for task in tasks]):
            done.result()


def program_tasks(folder, build, tally):
    return [functools.partial(run_program, path, build, tally) for path in programs(folder)]


def end_now(*_):
    """What we started ends with us."""
    for group in list(RUNNING):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    os._exit(143)


def tasks_of(arguments, build, tally):
    """What is to run, the longest first."""
    if 'agents' in arguments:
        opencode = [ROOT / 'tests/slow/opencode.py', ROOT / 'tests/slow/opencode_screen.py']
        paths = [*opencode, *programs(ROOT / 'tests/agents')]
        return [functools.partial(run_program, path, build, tally) for path in paths]
    units = unit_tasks(build, 'quick' in arguments, tally)
    if 'unit' in arguments:
        return units
    others = [*program_tasks(ROOT / 'tests', build, tally), *units]
    if 'quick' in arguments:
        for path in programs(ROOT / 'tests/slow'):
            tally.skip(str(path.relative_to(ROOT)), 'slow')
        return others
    slow = program_tasks(ROOT / 'tests/slow', build, tally)
    # One after the other: each of them keeps a processor busy.
    return [lambda: [task() for task in slow], *others]


def main(arguments):
    signal.signal(signal.SIGTERM, end_now)
    signal.signal(signal.SIGINT, end_now)
    build = pathlib.Path(arguments[0]).resolve()
    tally = Tally()
    run_together(tasks_of(arguments, build, tally))
    for title, names in (('Left out:', tally.left_out), ('Failed:', tally.broken)):
        if names:
            print('\n'.join([title] + ['  ' + name for name in names]))
    print(f'{tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped', flush=True)
    return 1 if tally.failed or not tally.passed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
