"""Drives a client library through clients/behaviour: one process, one client."""
import contextlib
import hashlib
import itertools
import json
import os
import queue
import subprocess
import sys
import threading

import npm
from dormouse import ROOT, environment

CLIENTS = ROOT / 'clients'
BUILT = ROOT / 'build/clients'
LIMIT_S = 30


class ClientError(Exception):
    """What the library raised, as the driver described it."""

    def __init__(self, about):
        super().__init__(f'{about["kind"]}: {about["message"]}')
        self.about = about

    def __getattr__(self, name):
        return self.about.get(name)


def build_python():
    """The package, with what is made at build time; returns the folder to import it from."""
    target = BUILT / 'python'
    target.mkdir(parents=True, exist_ok=True)
    with npm.locked(target):
        subprocess.run([sys.executable, CLIENTS / 'python/backend.py', target], check=True)
    return target


def typescript_digest():
    source = CLIENTS / 'typescript'
    files = [*sorted((source / 'src').glob('*.ts')), source / 'generate.mjs',
             source / 'package.json',
             source / 'tsconfig.json', ROOT / 'src/http/resources/operations/openapi.json']
    written = [path for path in files if not path.name.endswith('.gen.ts')]
    return hashlib.sha256(b''.join(path.read_bytes() for path in written)).hexdigest()


def build_typescript():
    """The folder in which `import 'dormouse'` finds the built package."""
    source = CLIENTS / 'typescript'
    with npm.locked(source):
        stamp, digest = BUILT / 'typescript.digest', typescript_digest()
        built = stamp.exists() and (source / 'dist/index.js').exists()
        if not built or stamp.read_text() != digest:
            done = subprocess.run(['npm', 'run', 'build'], cwd=source, capture_output=True,
                                  text=True)
            assert done.returncode == 0, done.stdout + done.stderr
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.write_text(digest)
    link_packages(BUILT / 'typescript', {'dormouse': source})
    driver = BUILT / 'typescript/driver.mjs'
    driver.write_bytes((CLIENTS / 'behaviour/driver.mjs').read_bytes())
    return driver


def link_packages(folder, packages):
    """Programs in the folder find these packages: {name: its folder}."""
    modules = folder / 'node_modules'
    modules.mkdir(parents=True, exist_ok=True)
    for name, target in packages.items():
        with contextlib.suppress(FileExistsError):  # also if another process makes it just now
            (modules / name).symlink_to(target)


def command_of(library):
    if library == 'typescript':
        return ['node', str(build_typescript())], {}
    mode = ['async'] if library == 'python-async' else []
    driver = str(CLIENTS / 'behaviour/driver.py')
    return [sys.executable, '-W', 'error::RuntimeWarning', driver, *mode], \
        {'PYTHONPATH': str(build_python()), 'PYTHONDONTWRITEBYTECODE': '1'}


class Answers:
    """What one line of the protocol brings."""

    def __init__(self, driven, number):
        self.driven, self.number, self.lines, self.cursor = driven, number, queue.Queue(), None

    def next(self, limit_s=LIMIT_S):
        try:
            line = self.lines.get(timeout=limit_s)
        except queue.Empty:
            raise AssertionError(f'no line within {limit_s} s') from None
        if 'error' in line:
            raise ClientError(line['error'])
        self.cursor = line.get('cursor')
        return line

    def item(self, limit_s=LIMIT_S):
        line = self.next(limit_s)
        assert 'item' in line, line
        return line['item']

    def until(self, is_last):
        items = []
        while not items or not is_last(items[-1]):
            items.append(self.item())
        return items

    def value(self):
        return self.next()['value']

    def cancel(self):
        self.driven.send(cancel=self.number).value()


class Driven:
    def __init__(self, command, more):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment(**more, PATH=os.environ['PATH']))
        self.numbers, self.open = itertools.count(1), {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for text in self.process.stdout:
            line = json.loads(text)
            self.open[line['id']].lines.put(line)

    def send(self, **line):
        number = next(self.numbers)
        answers = self.open[number] = Answers(self, number)
        self.process.stdin.write(json.dumps({'id': number, **line}) + '\n')
        self.process.stdin.flush()
        return answers

    def begin(self, name, *arguments, **options):
        return self.send(call=name, args=arguments, options=options)

    def call(self, name, *arguments, **options):
        return self.begin(name, *arguments, **options).value()

    def iterate(self, name, *arguments, **options):
        return self.send(iterate=name, args=arguments, options=options)

    def all(self, name, *arguments, **options):
        answers, items = self.iterate(name, *arguments, **options), []
        while 'end' not in (line := answers.next()):
            items.append(line['item'])
        return items

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
