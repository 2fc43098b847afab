"""An independent fake of the model providers (npm: @copilotkit/aimock), installed from the lock
file beside this one."""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE / 'node_modules/.bin/llmock'
NODE_MIN = (20, 15)
START_LIMIT_S = 20


def missing():
    """Why it can not run here; None: it can."""
    node, npm = shutil.which('node'), shutil.which('npm')
    if not node or not npm:
        return 'there is no node, or no npm'
    version = subprocess.run([node, '--version'], capture_output=True, text=True).stdout.strip()
    numbers = tuple(int(n) for n in re.findall(r'\d+', version)[:2])
    if numbers < NODE_MIN:
        return f'node is {version}; aimock needs 20.15 or later'
    if PROGRAM.exists():
        return None
    done = subprocess.run(
        [npm, 'ci', '--omit=optional', '--omit=peer', '--loglevel=error'],
        cwd=HERE,
        capture_output=True,
        text=True,
    )
    return None if done.returncode == 0 else f'npm ci: {done.stderr.strip()[-200:]}'


class Aimock:
    def __init__(self, fixtures, *arguments):
        self.folder = tempfile.mkdtemp(prefix='aimock-')
        file = pathlib.Path(self.folder, 'fixtures.json')
        file.write_text(json.dumps({'fixtures': fixtures}))
        self.log = pathlib.Path(self.folder, 'log')
        command = ['node', str(PROGRAM), '-p', '0', '-f', str(file), '--journal-max', '0']
        with open(self.log, 'w') as log:
            self.process = subprocess.Popen(
                [*command, '--strict', *map(str, arguments)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.url = self._url()

    def _url(self):
        deadline = time.monotonic() + START_LIMIT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            found = re.search(r'listening on (http://\S+)', self.log.read_text())
            if found:
                return found[1]
            time.sleep(0.02)
        raise AssertionError(f'aimock does not start: {self.log.read_text()}')

    def stop(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
