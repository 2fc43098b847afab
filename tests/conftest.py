"""How pytest runs the tests from outside.

A test file is an executable one in tests/, tests/slow/ or tests/agents/. Its unittest classes and
its functions `test_…` are the tests. Files that are slow are in tests/slow/, what needs real
agents in tests/agents/ (`--agents` runs these alone, `--quick` leaves out what is slow).

With several workers (-n), the tests of one class run on one worker, because they may share a
server, and those of tests/slow/ one after the other, because each keeps a processor busy. A test
that names its own group (`xdist_group`) stays with that.

A process that a file's tests leave running is ended, and the last test of the file has an error.
"""
import ctypes
import functools
import os
import pathlib
import signal
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS))

import postgres  # noqa: E402
from dormouse import wait_for  # noqa: E402

LEFT_OUT = 77  # exit status of a file that cannot run here
LEFT_OVER_S = 3
PR_SET_CHILD_SUBREAPER = 36
REAL_AGENTS = (
    'slow/opencode.py', 'slow/opencode_hook.py', 'slow/opencode_screen.py', 'agents/'
)


def pytest_addoption(parser):
    parser.addoption('--quick', action='store_true', help='without tests/slow/')
    parser.addoption('--agents', action='store_true', help='tests with real agents alone')


class SaysFailures:
    """Reports a failed test at once, not at the end of the run."""

    def __init__(self, config):
        self.config = config

    def pytest_runtest_logreport(self, report):
        if report.failed:
            terminal = self.config.pluginmanager.getplugin('terminalreporter')
            terminal.write_line(f'\nFAILED {report.nodeid} ({report.when})')
            for line in str(report.longrepr).splitlines()[-20:]:
                terminal.write_line('    ' + line)


def pytest_configure(config):
    if not hasattr(config, 'workerinput'):
        config.pluginmanager.register(SaysFailures(config))
    # Orphaned processes of a test become children of this process, and are found.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if hasattr(config, 'workerinput') or not config.getoption('numprocesses', None):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def pytest_collect_file(file_path, parent):
    if parent.session.isinitpath(file_path):
        return None  # named on the command line: pytest collects it
    here = file_path.parent in (TESTS, TESTS / 'slow', TESTS / 'agents')
    if here and file_path.suffix == '.py' and os.access(file_path, os.X_OK):
        return pytest.Module.from_parent(parent, path=file_path)


def is_of_agents(path):
    return str(path.relative_to(TESTS)).startswith(REAL_AGENTS)


def pytest_ignore_collect(collection_path, config):
    if collection_path.suffix != '.py':
        return None
    of_agents = is_of_agents(collection_path)
    if config.getoption('agents'):
        return not of_agents or None
    return 'agents' in collection_path.relative_to(TESTS).parts or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        slow = item.path.parent.name == 'slow'
        if slow and config.getoption('quick'):
            item.add_marker(pytest.mark.skip(reason='slow'))
        if slow or config.getoption('agents'):
            item.add_marker(pytest.mark.timeout(900))
        owner = item.getparent(pytest.Class) or item
        together = 'slow' if slow or config.getoption('agents') else owner.nodeid
        if not item.get_closest_marker('xdist_group'):
            item.add_marker(pytest.mark.xdist_group(together))
        if item.get_closest_marker('own_process'):
            item.runtest = functools.partial(run_apart, item)
    # The slow ones first: they take longest.
    items.sort(key=lambda item: item.path.parent.name != 'slow')


def run_apart(item):
    """Runs the file with the name of the test, as by hand."""
    name = '.'.join(item.nodeid.split('@')[0].split('::')[1:])
    ended = subprocess.run([sys.executable, item.path, name], capture_output=True, text=True)
    if ended.returncode == LEFT_OUT:
        pytest.skip(ended.stdout.strip().splitlines()[-1])
    if ended.returncode != 0:
        pytest.fail(ended.stdout + ended.stderr, pytrace=False)


def children_of(pid):
    """Returns {pid: command line} of all running processes below it."""
    parents = {}
    for folder in pathlib.Path('/proc').iterdir():
        try:
            fields = (folder / 'stat').read_text().rpartition(')')[2].split()
            if folder.name.isdigit() and fields[0] != 'Z':
                parents[int(folder.name)] = int(fields[1])
        except OSError:
            continue  # it ended meanwhile, or is no process
    found, more = {}, {pid}
    while more := {child for child, parent in parents.items() if parent in more} - found.keys():
        for child in more:
            found[child] = pathlib.Path(f'/proc/{child}/cmdline')
    return found


def end_left_over():
    """Ends the processes that the tests of a file left running, after a grace period; returns their
    command lines."""
    try:
        wait_for(lambda: not children_of(os.getpid()), LEFT_OVER_S)
    except AssertionError:
        pass  # they are to be ended
    commands = []
    for pid, command in children_of(os.getpid()).items():
        try:
            line = command.read_bytes()
            if not line:
                continue  # it is ending: its memory has been released already
            commands.append(line.replace(b'\0', b' ').decode(errors='replace'))
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue  # it ended meanwhile
    return commands


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item, nextitem):
    yield
    if nextitem is not None and nextitem.path == item.path:
        return
    postgres.end_shared()
    left = end_left_over()
    reap()
    assert not left, 'left running: ' + '; '.join(left)


def reap():
    """Reaps ended children."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
