"""What tests get from the npm registry: exactly what a package-lock.json names."""
import contextlib
import fcntl
import os
import re
import shutil
import subprocess

from dormouse import SYSTEM_PATH

NODE_MIN = (20, 19)  # what @redocly/cli needs; tools/setup.sh test fetches a Node that fits


def old_node():
    """None, or why the Node in PATH cannot run what the tests install."""
    if not shutil.which('node'):
        return 'node is not installed (tools/setup.sh test)'
    version = subprocess.run(['node', '--version'], capture_output=True, text=True).stdout.strip()
    if tuple(int(n) for n in re.findall(r'\d+', version)[:2]) < NODE_MIN:
        return f'node is {version}, and {".".join(map(str, NODE_MIN))} is needed'
    return None


def install(folder, *needs, limit_s=300):
    """None, or why it is missing. `needs`: programs besides npm."""
    if not shutil.which('npm', path=SYSTEM_PATH):
        return 'npm is not installed'
    if 'node' in needs and (why := old_node()):
        return why
    with locked(folder):
        return install_locked(folder, limit_s)


@contextlib.contextmanager
def locked(folder):
    """Two tests may need the same packages at the same time: the second waits for the first."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def install_locked(folder, limit_s):
    lock = folder / 'package-lock.json'
    stamp = folder / 'node_modules' / '.installed'
    if stamp.exists() and stamp.read_text() == lock.read_text():
        return None
    done = subprocess.run(
        ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'],
        cwd=folder, capture_output=True, text=True, timeout=limit_s,
        # Debian's npm runs on Debian's Node.
        env={**os.environ, 'PATH': SYSTEM_PATH},
    )
    if done.returncode != 0:
        return f'npm cannot install what package-lock.json names: {done.stderr[-300:]}'
    stamp.write_text(lock.read_text())
    return None
