"""An independent fake of the model providers (npm: @copilotkit/aimock), installed from the lock
file beside this one. Its journal says what a model was really asked."""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request

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

    def journal(self):
        """All requests so far, oldest first."""
        with urllib.request.urlopen(f'{self.url}/__aimock/journal') as answer:
            return json.load(answer)

    def asked(self, text):
        """The requests of the sessions whose first prompt was `text`."""
        return [e for e in self.journal() if first_prompt(e['body']) == text]

    def stop(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def first_prompt(body):
    return next((m['content'] for m in body['messages'] if m['role'] == 'user'), None)


def transcript_faults(body):
    """What a real provider would refuse: calls without their answers, answers without calls."""
    faults, ids, open_ids = [], set(), []
    for message in body['messages']:
        role = message['role']
        if role == 'tool':
            if not open_ids or open_ids[0] != message['tool_call_id']:
                faults.append(f'{message["tool_call_id"]}: answered out of order')
            open_ids = open_ids[1:]
            continue
        if open_ids:
            faults.append(f'{open_ids}: not answered')
        open_ids = [call['id'] for call in message.get('tool_calls', [])]
        faults += [f'{i}: twice' for i in open_ids if i in ids or ids.add(i)]
        for call in message.get('tool_calls', []):
            if not isinstance(json.loads(call['function']['arguments']), dict):
                faults.append(f'{call["id"]}: the arguments are no object')
        if role == 'assistant' and not message.get('content') and not open_ids:
            faults.append('an empty message of the assistant')
    if open_ids:
        faults.append(f'{open_ids}: not answered at the end')
    roles = [m['role'] for m in body['messages'] if m['role'] != 'system']
    if roles[:1] != ['user']:
        faults.append(f'begins with {roles[:1]}')
    return faults
