"""Shared by the tests of what packaging/build makes."""
import contextlib
import hashlib
import importlib.util
import os
import pathlib
import shutil
import sqlite3
import subprocess

from dormouse import ROOT, SYSTEM_PATH, environment, leave_out

PACKAGES = ROOT / 'build/packages'
FILE = PACKAGES / f'dormouse-linux-{os.uname().machine}'
CHROOT = ROOT / 'packaging/chroot'
LIMIT_S = 700
CANNOT_RUN_HERE = 77  # exit status of packaging/chroot and of packaging/deb/try
# What is slow only with 1; `deb` is what continuous integration asks for, where no program may be
# missing.
ASKED = os.environ.get('DORMOUSE_TEST_PACKAGES', '')


def ended(*command, cwd=ROOT, **more):
    return subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True,
                          timeout=LIMIT_S, env=environment(PATH=SYSTEM_PATH, JOBS='1', **more))


def run(*command, cwd=ROOT, **more):
    done = ended(*command, cwd=cwd, **more)
    assert done.returncode == 0, f'{command}\n{done.stdout}{done.stderr}'
    return done.stdout


def tried(*command):
    """Runs a command of packaging/ and returns its last line. Leaves the test out where the machine
    does not let it run: without root, namespaces or control groups, or an answer of a mirror."""
    done = ended(*command)
    if done.returncode == CANNOT_RUN_HERE:
        leave_out(done.stderr.strip())
    assert done.returncode == 0, f'{command}\n{done.stdout}{done.stderr}'
    return (done.stdout.splitlines() or [''])[-1]


def needs(*programs):
    """Leaves the test out where a program is missing; fails instead if it was asked for."""
    for name in programs:
        if not shutil.which(name, path=SYSTEM_PATH):
            assert ASKED != 'deb', f'{name} is not installed'
            leave_out(f'{name} is not installed (tools/setup.sh ci)')


def digests(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob('*')) if path.is_file()}


def need_archives():
    """Leaves the tests of the single file out where it cannot be linked."""
    if not (ROOT / 'build/static/lib/libpq.a').exists():
        leave_out('the archives of the single file are missing: packaging/single/libraries')


def earlier_data(name, folder):
    """Makes in `folder` a data directory of an earlier release (tests/stored_directories)."""
    recorded = ROOT / 'tests/stored_directories' / name
    folder = pathlib.Path(folder)
    folder.mkdir(mode=0o700, parents=True)
    with contextlib.closing(sqlite3.connect(folder / 'dormouse.db')) as file:
        file.executescript((recorded / 'dormouse.sql').read_text())
    for beside in ('token', 'callback.key'):
        shutil.copy(recorded / beside, folder)


def maker(path):
    """A script of packaging/ as a module, so that a test makes packages of another release."""
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, ROOT / path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made
