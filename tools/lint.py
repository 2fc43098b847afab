#!/usr/bin/env python3
"""Runs clang-tidy on the sources that changed, with the flags of build/clang.

usage: lint.py [SOURCE...]

Build the clang preset first: its compile_commands.json has the flags, and its dependency files have
the headers of each source. Skips a source whose text, headers, command, .clang-tidy and clang-tidy
are those of an earlier run without findings; the record is in ~/.cache/dormouse-tidy (build/lint if
there is no home). The plugin lint_scope.cc keeps clang-tidy out of system headers. Checks many
sources with the same flags as one, which takes a sixth of the time, because shared headers are read
once. If such a batch has findings or does not compile, checks each source alone. The exit status is
1 if there are findings.
"""

import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

TOOL = 'clang-tidy-19'
LEFT_OUT = re.compile(r'_(test|bench)\.cc$')
KEPT_S = 30 * 86_400
BATCH = 24
SCOPE = pathlib.Path(__file__).resolve().parent / 'lint_scope.cc'
LLVM = '/usr/lib/llvm-19/include'
OBJECT = re.compile(r'(.+): #deps \d+, deps mtime (\d+) \(VALID\)')


def commands(root):
    """{source: its command} of the layers, without tests and benchmarks."""
    entries = json.loads((root / 'build/clang/compile_commands.json').read_text())
    layers = f'{root}/src/'
    return {entry['file']: entry['command'] for entry in entries
            if entry['file'].startswith(layers) and not LEFT_OUT.search(entry['file'])}


def parse_dependencies(text):
    """{object: (when it was made in ns, the files that it was made from)} of ninja -t deps."""
    objects = {}
    made = None
    for line in text.splitlines():
        if line.startswith(' ') and made is not None:
            made.append(line.strip())
        elif line and not line.startswith(' '):
            head = OBJECT.fullmatch(line)
            made = [] if head else None
            if head:
                objects[head[1]] = (int(head[2]), made)
    return objects


class Keys:
    """What a source's findings follow from, as one hash. Needs the build to be of this tree."""

    def __init__(self, root, tool, objects):
        self.root = root
        self.build = root / 'build/clang'
        self.common = tool.encode() + (root / '.clang-tidy').read_bytes() + SCOPE.read_bytes()
        self.objects = objects
        self.files = {}

    def file(self, path):
        if path not in self.files:
            at = self.build / path
            self.files[path] = (at.stat().st_mtime_ns, hashlib.sha256(at.read_bytes()).digest())
        return self.files[path]

    def of(self, command):
        """None if the object is older than a file that it was made from: what the source reads
        now is not known."""
        words = shlex.split(command)
        when, paths = self.objects.get(words[words.index('-o') + 1], (0, []))
        key = hashlib.sha256(self.common)
        key.update(command.replace(str(self.root), '').encode())
        try:
            for path in sorted(paths):
                changed, content = self.file(path)
                if changed > when:
                    return None
                key.update(path.encode() + b'\0' + content)
        except FileNotFoundError:
            return None
        return key.hexdigest() if paths else None


class Stamps:
    """The keys without findings; one that is unused for a month is removed."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for stamp in folder.iterdir():
            if time.time() - stamp.stat().st_mtime > KEPT_S:
                stamp.unlink(missing_ok=True)

    def knows(self, key):
        if key is None or not (self.folder / key).exists():
            return False
        self.add(key)
        return True

    def add(self, key):
        if key is not None:
            (self.folder / key).touch()


def made_scope(root):
    """The plugin, compiled. Its name says what it was made from."""
    made_from = hashlib.sha256(SCOPE.read_bytes()).hexdigest()[:16]
    made = root / f'build/lint_scope-{made_from}.so'
    if not made.exists():
        made.parent.mkdir(exist_ok=True)
        new = made.with_suffix(f'.{os.getpid()}')
        subprocess.run(['clang++-19', '-std=c++17', '-O1', '-fPIC', '-shared', '-fno-rtti',
                        '-isystem', LLVM, SCOPE, '-o', new], check=True)
        new.rename(made)
    return made


def lint(root, source):
    """The findings of one source, empty if there are none."""
    done = subprocess.run([TOOL, f'--load={made_scope(root)}', '--quiet', '-p', 'build/clang',
                           source], cwd=root, check=False, capture_output=True, text=True)
    return '' if done.returncode == 0 else done.stdout + done.stderr


def flags_of(command, source):
    """The compiler's flags, without the source and the object."""
    words = shlex.split(command)
    words = words[next(at for at, word in enumerate(words) if word.startswith('-')):]
    at = words.index('-o')
    return tuple(w for w in words[:at] + words[at + 2:] if w not in ('-c', source))


def batches(sources, flags, most=BATCH):
    """The sources in lists of up to `most` that have the same flags."""
    alike = {}
    for source in sources:
        alike.setdefault(flags[source], []).append(source)
    return [some[at:at + most] for some in alike.values() for at in range(0, len(some), most)]


def is_clean(root, sources, flags):
    """Whether these, as one source, have no findings."""
    with tempfile.NamedTemporaryFile('w', suffix='.cc') as together:
        together.write(''.join(f'#include "{source}"\n' for source in sources))
        together.flush()
        done = subprocess.run(
            [TOOL, f'--load={made_scope(root)}', '--quiet', f'--config-file={root}/.clang-tidy',
             '--checks=-bugprone-suspicious-include',
             f'--header-filter=(^{re.escape(str(root))}/src/|/layers/|/include/dormouse/)',
             together.name, '--', *flags],
            cwd=root / 'build/clang', check=False, capture_output=True)
        return done.returncode == 0


def lint_batch(root, sources, flags):
    """The findings of each."""
    if len(sources) > 1 and is_clean(root, sources, flags):
        return [''] * len(sources)
    return [lint(root, source) for source in sources]


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(arguments):
    root = pathlib.Path(__file__).resolve().parent.parent
    home = os.environ.get('HOME')
    stamps = Stamps(pathlib.Path(home, '.cache/dormouse-tidy') if home else root / 'build/lint')
    objects = parse_dependencies(output_of('ninja', '-C', str(root / 'build/clang'), '-t', 'deps'))
    keys = Keys(root, output_of(TOOL, '--version'), objects)
    wanted = {str(pathlib.Path(name).resolve()) for name in arguments}
    command_of = {source: command for source, command in sorted(commands(root).items())
                  if not wanted or source in wanted}
    all_keys = {source: keys.of(command) for source, command in command_of.items()}
    looked_at = [source for source, key in all_keys.items() if not stamps.knows(key)]
    flags = {source: flags_of(command_of[source], source) for source in looked_at}
    together = batches(looked_at, flags)
    made_scope(root)
    found = 0
    with ThreadPoolExecutor(int(os.environ.get('JOBS', os.cpu_count() or 1))) as pool:
        results = pool.map(lambda some: lint_batch(root, some, flags[some[0]]), together)
        for source, findings in zip(sum(together, []), (one for some in results for one in some)):
            if findings:
                found += 1
                print(findings, flush=True)
            else:
                stamps.add(all_keys[source])
    print(f'lint: {len(all_keys)} sources, {len(looked_at)} looked at, {found} with findings')
    return 1 if found or not all_keys else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
