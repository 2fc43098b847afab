"""An independent fake of the model providers (npm: @copilotkit/aimock), installed from the lock
file beside this one."""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import npm
from dormouse import wait_for

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE / 'node_modules/.bin/llmock'
START_LIMIT_S = 20


def missing():
    """Why it cannot run here; None: it can."""
    return npm.install(HERE, 'node')


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
        def found():
            if self.process.poll() is not None:
                raise AssertionError(f'aimock does not start: {self.log.read_text()}')
            return re.search(r'listening on (http://\S+)', self.log.read_text())

        return wait_for(found, START_LIMIT_S, 'the URL of aimock')[1]

    def stop(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
