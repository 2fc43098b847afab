"""A server under valgrind's callgrind, and the instructions that it executes."""
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import dormouse

TOTALS = re.compile(r'^(?:totals|summary): (\d+)$', re.M)


def needs_valgrind():
    if not shutil.which('valgrind'):
        sys.exit("there is no valgrind here; install Debian's package: apt-get install valgrind")


def keeps_sessions(binary):
    """Whether the program knows `resident_time`; earlier ones keep sessions anyway."""
    with tempfile.NamedTemporaryFile('w', suffix='.toml') as config:
        config.write('[limits]\nresident_time = "1h"\n')
        config.flush()
        check = subprocess.run([binary, 'config', 'check', config.name], capture_output=True)
        return check.returncode == 0


class CountedServer:
    """A server under callgrind. `executed()` returns the instructions since it was last called."""

    def __init__(self, binary, directory=None, config=''):
        self.server = dormouse.Server(directory=directory, start=False)
        self.folder = pathlib.Path(self.server.own)
        if keeps_sessions(binary):
            config += '[limits]\nresident_time = "1h"\n'  # valgrind is slow
        if config:
            file = self.folder / 'dormouse.toml'
            file.write_text(config)
            self.server.arguments += ['--config', str(file)]
        wrapper = self.folder / 'counted'
        wrapper.write_text(
            '#!/bin/sh\n'
            'exec valgrind --tool=callgrind --quiet --combine-dumps=no'
            f' --vgdb-prefix={self.folder}/vgdb --callgrind-out-file={self.folder}/out'
            f' {shlex.quote(str(pathlib.Path(binary).resolve()))} "$@"\n'
        )
        wrapper.chmod(0o700)
        dormouse.BINARY = str(wrapper)
        self.start()

    def start(self):
        self.server.start()
        self.dumps = 0

    def restart(self):
        self.server.term()
        self.start()

    def executed(self):
        subprocess.run(
            ['vgdb', f'--vgdb-prefix={self.folder}/vgdb', f'--pid={self.server.process.pid}', 'dump'],
            check=True,
            capture_output=True,
            timeout=60,
        )
        self.dumps += 1
        return int(TOTALS.search((self.folder / f'out.{self.dumps}').read_text())[1])
