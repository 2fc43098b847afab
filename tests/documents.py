#!/usr/bin/env python3
"""The pages that people follow do what they say: each shell block is run as it stands, and what the
page shows as its output is what came.

usage: documents.py [PAGE…]   default: README.md, docs/tutorial.md, docs/how-to/*.md

A page is run from top to bottom by one bash, in a folder of its own that looks like a checkout
(`./run`, `build/release/dormouse`), with a home of its own, and free ports in the place of 3676
and of the others in PORTS. Root runs PostgreSQL's programs as another user.

- A ```sh block is run. A command in it that ends with another status than 0 must be announced.
- A ```text block whose fence is the next one is its output: ids, times and ports are masked,
  white space is one space, `…` stands for anything, as a line for any lines.
- Comments before a block, which readers do not see:
    <!-- test: status 10 4 -->    some command of it ends with each of these
    <!-- test: background -->     it continues beside the others; a server is waited for
    <!-- test: background 8017 -->  the same, until something listens on that port
    <!-- test: file NAME -->      the block (of any language) is that file; a script if it has #!
    <!-- test: append NAME -->    it is put at the end of that file
    <!-- test: says A | B -->     its output has these, in this order
    <!-- test: until TEXT -->     it is run again until its output has TEXT, and all that the page
                                  shows below it, for 40 s at most
    <!-- test: needs PROGRAM… --> without these the page is skipped
    <!-- test: skip REASON -->    it is not run, or not compared; counted and listed at the end
- Blocks of other languages are for reading.
"""
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

import postgres
import pytest
from dormouse import BINARY, ROOT, environment, wait_for

PAGES = ['README.md', 'docs/tutorial.md', 'docs/how-to/*.md']
NEEDS = ['bash', 'curl', 'jq', 'python3']
PATIENCE_S = 40
BLOCK_LIMIT_S = 180  # some install npm packages beside other tests
FENCE = re.compile(r'^([ ]*)```(\w*)[ ]*$')
MARK = re.compile(r'^[ ]*<!-- test: (\w+) ?(.*?) -->[ ]*$')
MARKS = ('status', 'background', 'file', 'append', 'says', 'until', 'needs', 'skip')
ADDRESS = re.compile(r'\b(127\.0\.0\.1|localhost):3676\b')
# Of a service that a page makes; of servers and databases.
PORTS = re.compile(r'\b(8017|368[123]|543[34]|6379)\b')
MASKS = [
    (re.compile(r'\b(ses|pnd|trn|msg|prt|rcp|req)_[A-Za-z0-9_-]{6,}'), r'\1_ID'),
    (re.compile(r'127\.0\.0\.1:\d+'), 'ADDRESS'),
    (re.compile(r'\b\d\d:\d\d:\d\d\b'), 'TIME'),
    (re.compile(r'\b1[789]\d{11}\b'), 'MS'),
    (re.compile(r'\b\d+(\.\d+)? ms\b|\(\d+ ms\)'), 'DURATION'),
    (re.compile(r'\bin (\d+ d( \d+ h)?|\d+ h( \d+ min)?)'), 'in HOURS'),
    (re.compile(r'\bjust now\b|\b\d+ (s|min) ago\b'), 'NOW'),
    (re.compile(r'\bprocess \d+'), 'process PID'),
    (re.compile(r'"idem":"[0-9a-f.]+"'), '"idem":"KEY"'),
]
# `serve` without an address listens on the page's port, so that pages can run beside anything.
# setpriv: PostgreSQL refuses root.
AS_POSTGRES = '''#!/bin/sh
exec setpriv --reuid=postgres --regid=postgres --clear-groups '%s' "$@"
'''
WRAPPER = '''#!/bin/bash
[ $# -gt 0 ] || set -- serve
if [ "$1" = serve ] && [[ "$*" != *--listen* ]]; then
  shift; set -- serve --listen 127.0.0.1:%d "$@"
fi
exec '%s' "$@"
'''
EACH = '''trap 'echo $? >> "$BLOCKS/status"' ERR
. "$BLOCKS/%d" %s "$BLOCKS/out"%s
trap - ERR
touch "$BLOCKS/done"
'''


class Wrong(Exception):
    pass


@dataclasses.dataclass
class Block:
    line: int
    language: str
    text: str
    marks: dict


def blocks_of(text):
    """Returns the blocks in order. A comment belongs to the next fence, ignoring blank lines."""
    found, marks, opened = [], {}, None
    for number, line in enumerate(text.split('\n'), 1):
        fence = FENCE.match(line)
        if opened and fence and not fence[2]:
            found.append(Block(*opened))
            opened, marks = None, {}
        elif opened:
            opened[2] += line.removeprefix(indent) + '\n'
        elif fence:
            indent = fence[1]
            opened = [number, fence[2], '', marks]
        elif mark := MARK.match(line):
            if mark[1] not in MARKS:
                raise Wrong(f'{number}: there is no mark "{mark[1]}"')
            marks[mark[1]] = mark[2]
        elif line.strip() and marks:
            raise Wrong(f'{number}: no block follows the comment "test: {" ".join(marks)}"')
    if opened or marks:
        raise Wrong('the last block or comment is open')
    return found


def masked(text):
    for pattern, name in MASKS:
        text = pattern.sub(name, text)
    return [' '.join(line.split()) for line in text.strip().split('\n')]


def difference(shown, came):
    """Returns None if the output matches the page, else both."""
    pattern = ''
    for line in masked(shown):
        if line == '…':
            pattern += r'(?:.*\n)*'
        else:
            pattern += '.*'.join(re.escape(piece) for piece in line.split('…')) + r'\n'
    lines = '\n'.join(masked(came)) + '\n'
    if re.fullmatch(pattern, lines):
        return None
    return 'the page shows\n' + indented('\n'.join(masked(shown))) + '\nand there came\n' + \
        indented(lines)


def require_programs(names):
    for name in names:
        if name == 'initdb':
            postgres.needed()
        elif not shutil.which(name):
            pytest.skip(f'not installed: {name}')


def require(pieces, output):
    at = 0
    for piece in pieces:
        at = output.find(piece, at)
        if at < 0:
            raise Wrong(f'"{piece}" is not in its output, or not after the one before\n'
                        + indented(output))


def indented(text):
    return '\n'.join('    ' + line for line in text.rstrip().split('\n'))


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def listens(port):
    try:
        socket.create_connection(('127.0.0.1', port), timeout=5).close()
        return True
    except OSError:
        return False


class Shell:
    """One bash that runs one block after the other."""

    def __init__(self):
        self.own = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-page-'))
        self.port, self.count, self.process = free_port(), 0, None
        self.ports = {'3676': self.port}  # by what the page calls it
        self.blocks = self.own / 'blocks'
        checkout, home = self.own / 'dormouse', self.own / 'home'
        for folder in (self.blocks, checkout / 'build/release', home):
            folder.mkdir(parents=True)
        for name in ('run', 'build/release/dormouse'):
            (checkout / name).write_text(WRAPPER % (self.port, os.path.abspath(BINARY)))
            (checkout / name).chmod(0o755)
        path = f'{checkout}/build/release:{self.add_postgres(checkout)}{os.environ["PATH"]}'
        self.process = subprocess.Popen(
            ['bash', '--norc'],
            cwd=checkout,
            env=environment(HOME=str(home), PATH=path, BLOCKS=str(self.blocks), NO_COLOR='1',
                            DORMOUSE_URL=f'http://127.0.0.1:{self.port}'),
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            text=True, start_new_session=True)
        self.type('set -E\n')

    def add_postgres(self, checkout):
        """Returns the beginning of PATH with PostgreSQL's programs, or nothing without them."""
        programs = postgres.programs()
        if not programs or os.geteuid() != 0:
            return f'{programs}:' if programs else ''
        mine = self.own / 'postgres'
        mine.mkdir()
        for program in programs.iterdir():
            (mine / program.name).write_text(AS_POSTGRES % program)
            (mine / program.name).chmod(0o755)
        self.own.chmod(0o755)
        checkout.chmod(0o777)
        return f'{mine}:'

    def type(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def folder(self):
        return pathlib.Path(f'/proc/{self.process.pid}/cwd').resolve()

    def here(self, text):
        return PORTS.sub(self.port_of, ADDRESS.sub(f'127.0.0.1:{self.port}', text))

    def port_of(self, named):
        if named[0] not in self.ports:
            self.ports[named[0]] = free_port()
        return str(self.ports[named[0]])

    def run(self, text, background=False):
        """Returns its output, and the statuses other than 0; neither for a block in the background.
        """
        self.count += 1
        for name in ('out', 'status', 'done'):
            (self.blocks / name).unlink(missing_ok=True)
        (self.blocks / str(self.count)).write_text(self.here(text))
        if background:
            self.type(f'. "$BLOCKS/{self.count}" > "$BLOCKS/{self.count}.out" 2>&1 &\n')
            return '', []
        self.type(EACH % (self.count, '>', ' 2>&1 < /dev/null'))
        self.wait(lambda: (self.blocks / 'done').exists(), BLOCK_LIMIT_S)
        status = self.blocks / 'status'
        seen = status.read_text().split() if status.exists() else []
        return (self.blocks / 'out').read_text(errors='replace'), seen

    def wait(self, is_true, limit_s):
        def ended():
            return self.process.poll() is not None

        try:
            wait_for(lambda: is_true() or ended(), limit_s)
        except AssertionError:
            raise Wrong(f'not within {limit_s} s; so far it said\n{self.log()}') from None
        if ended() and not is_true():
            raise Wrong(f'the shell has ended\n{self.log()}')

    def log(self):
        names = [self.blocks / 'out', *sorted(self.blocks.glob('*.out'))]
        return '\n'.join(indented(n.read_text(errors='replace')[-2000:])
                         for n in names if n.exists())

    def ready(self):
        try:
            with urllib.request.urlopen(f'http://127.0.0.1:{self.port}/readyz', timeout=5):
                return True
        except (urllib.error.URLError, OSError):
            return False

    def add_clients(self):
        """The sources of the client libraries, as a checkout has them."""
        checkout, api = self.own / 'dormouse', 'src/http/resources/operations/openapi.json'
        unwanted = shutil.ignore_patterns('node_modules', 'dist', '__pycache__')
        shutil.copytree(ROOT / 'clients', checkout / 'clients', ignore=unwanted)
        (checkout / api).parent.mkdir(parents=True)
        shutil.copy(ROOT / api, checkout / api)

    def add_packaging(self):
        shutil.copytree(ROOT / 'packaging', self.own / 'dormouse/packaging')

    def clean(self):
        if self.process:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.stdin.close()
            self.process.wait()
        shutil.rmtree(self.own, ignore_errors=True)


class Page:
    def __init__(self, name):
        self.name, self.ran, self.compared, self.left_out = name, 0, 0, []

    def run(self):
        text = (ROOT / self.name).read_text()
        blocks = blocks_of(text)
        for block in blocks:
            require_programs(block.marks.get('needs', '').split())
        shell = Shell()
        try:
            if re.search(r'\bclients/(python|typescript)\b', text):
                shell.add_clients()
            if '/observability/' in text:
                shell.add_packaging()
            for before, block, after in zip([None, *blocks], blocks, [*blocks[1:], None]):
                try:
                    self.step(shell, before, block, after)
                except Wrong as wrong:
                    raise Wrong(f'{block.line}: {wrong}') from None
        finally:
            shell.clean()

    def step(self, shell, before, block, after):
        is_output = block.language == 'text' and before and before.language == 'sh' \
            and not {'file', 'append', 'skip'} & before.marks.keys()
        if 'skip' in block.marks:
            if not block.marks['skip']:
                raise Wrong('a block is left out without a reason')
            self.left_out.append(f'{self.name}:{block.line}: {block.marks["skip"]}')
        elif 'file' in block.marks or 'append' in block.marks:
            self.write(shell, block)
        elif block.language == 'sh':
            shown = after.text if after and after.language == 'text' else None
            self.execute(shell, block, shown)
        elif is_output:
            self.compared += 1
            if wrong := difference(block.text, self.output):
                raise Wrong(wrong)

    def write(self, shell, block):
        name = block.marks.get('file') or block.marks['append']
        path = shell.folder() / name
        with open(path, 'a' if 'append' in block.marks else 'w') as out:
            out.write(shell.here(block.text))
        if block.text.startswith('#!'):
            path.chmod(0o755)

    def execute(self, shell, block, shown):
        self.ran += 1
        if 'background' in block.marks:
            shell.run(block.text, background=True)
            if port := block.marks['background']:
                shell.wait(lambda: listens(shell.ports[port]), PATIENCE_S)
            elif re.search(r'\bserve\b|\./run\b', block.text):
                shell.wait(shell.ready, PATIENCE_S)
            self.output = ''
            return
        until, seen = block.marks.get('until', ''), []

        def came():
            nonlocal seen
            self.output, seen = shell.run(block.text)
            whole = not until or shown is None or not difference(shown, self.output)
            return until in self.output and whole

        try:
            wait_for(came, PATIENCE_S)
        except AssertionError:
            if until in self.output:
                return  # what is missing is reported by the comparison
            raise Wrong(f'"{until}" did not come within {PATIENCE_S} s, but\n'
                        + indented(self.output)) from None
        if set(seen) != set(block.marks.get('status', '').split()):
            raise Wrong(f'ended with {" ".join(seen) or "0"}, '
                        f'not {block.marks.get("status", "0")}\n' + indented(self.output))
        if 'says' in block.marks:
            require(block.marks['says'].split(' | '), self.output)


def pages(arguments):
    found = [path for name in arguments or PAGES for path in sorted(ROOT.glob(name))]
    return [str(path.relative_to(ROOT)) for path in found]


def leave_out_unless_runnable(name):
    if 'observability/' in (ROOT / name).read_text() and not shutil.which('prometheus'):
        pytest.skip('prometheus is missing (tools/setup.sh test)')


def setup_module():
    if missing := [name for name in NEEDS if not shutil.which(name)]:
        pytest.skip('not installed: ' + ', '.join(missing))


@pytest.mark.timeout(600)
@pytest.mark.parametrize('name', pages([]))
def test_page(name):
    leave_out_unless_runnable(name)
    page = Page(name)
    try:
        page.run()
    except Wrong as wrong:
        pytest.fail(f'{name}:{wrong}', pytrace=False)
    print(f'{page.ran} run, {page.compared} compared')
    for line in page.left_out:
        print(f'left out: {line}')


if __name__ == '__main__':
    chosen = [f'{__file__}::test_page[{name}]' for name in pages(sys.argv[1:])]
    sys.exit(pytest.main(['-v', '-rP', *chosen]))
