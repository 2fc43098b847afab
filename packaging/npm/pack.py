#!/usr/bin/env python3
"""Packs the command and the client for npm, without a network once the client's compiler exists.

usage: pack.py FILE... FOLDER

Each FILE is the single file of an architecture, named dormouse-linux-ARCH. Written to FOLDER are:
dormouse-bin, whose `bin` finds the program; for each FILE dormouse-bin-linux-CPU, which has it
and which npm installs on that platform alone; and dormouse, which is the client
(clients/typescript) with dormouse-bin as an optional dependency, so that `npx dormouse` works. Its
package.json names dormouse-bin here only: `npm ci` would look for a release that is not published.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CPUS = {'x86_64': 'x64', 'aarch64': 'arm64'}  # as Node names them
RELEASE = re.search(r'project\(dormouse VERSION (\S+)', (ROOT / 'CMakeLists.txt').read_text())[1]


def describe(folder, name, **more):
    folder.mkdir(parents=True)
    shutil.copy(ROOT / 'LICENSE', folder)
    (folder / 'README.md').write_text(
        '# Dormouse\n\nAgent sessions that sleep while their tools work, and wake exactly once.\n\n'
        '    npx dormouse-bin demo\n')
    text = {'name': name, 'version': RELEASE, 'license': 'Apache-2.0',
            'description': 'Dormouse, durable agent sessions: the server and its command line',
            **more}
    (folder / 'package.json').write_text(json.dumps(text, indent=2) + '\n')


def pack(folder, out):
    environment = {**os.environ, 'npm_config_update_notifier': 'false',
                   'npm_config_offline': 'true', 'npm_config_cache': str(folder.parent / 'cache')}
    subprocess.run(['npm', 'pack', '--silent', '--pack-destination', out], cwd=folder, check=True,
                   env=environment, stdout=sys.stderr, stdin=subprocess.DEVNULL)


def build_client(source):
    """Compiles it, with the compiler that its package-lock.json names."""
    for command, done in ((['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'],
                           source / 'node_modules/typescript'),
                          (['npm', 'run', 'build'], source / 'dist/index.js')):
        if not done.exists():
            subprocess.run(command, cwd=source, check=True, stdout=sys.stderr,
                           stdin=subprocess.DEVNULL)


def pack_client(folder, out):
    source = ROOT / 'clients/typescript'
    build_client(source)
    description = json.loads((source / 'package.json').read_text())
    for name in ('scripts', 'devDependencies'):
        del description[name]
    description |= {'version': RELEASE, 'optionalDependencies': {'dormouse-bin': RELEASE}}
    shutil.copytree(source / 'dist', folder / 'dist')
    for file in (ROOT / 'LICENSE', source / 'README.md', source / 'bin.cjs'):
        shutil.copy(file, folder)
    (folder / 'package.json').write_text(json.dumps(description, indent=2) + '\n')
    pack(folder, out)


def main(files, out):
    with tempfile.TemporaryDirectory(prefix='dormouse-npm-') as temporary:
        names = []
        for file in files:
            platform, arch = file.name.split('-')[1:]
            names.append(f'dormouse-bin-{platform}-{CPUS[arch]}')
            program = pathlib.Path(temporary, names[-1])
            describe(program, names[-1], os=[platform], cpu=[CPUS[arch]], files=['dormouse'])
            shutil.copy(file, program / 'dormouse')
            (program / 'dormouse').chmod(0o755)
            pack(program, out)
        launcher = pathlib.Path(temporary, 'dormouse-bin')
        describe(launcher, 'dormouse-bin', bin={'dormouse': 'launch.js'}, files=['launch.js'],
                 engines={'node': '>=18'}, optionalDependencies=dict.fromkeys(names, RELEASE))
        shutil.copy(HERE / 'launch.js', launcher)
        (launcher / 'launch.js').chmod(0o755)
        pack(launcher, out)
        pack_client(pathlib.Path(temporary, 'dormouse'), out)


if __name__ == '__main__':
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    *FILES, OUT = (pathlib.Path(name).resolve() for name in sys.argv[1:])
    main(FILES, OUT)
