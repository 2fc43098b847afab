#!/usr/bin/env python3
"""The packages of the client libraries: what is built can be installed into an empty folder,
without a network, and used; the reference pages have every method."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from unittest import mock

import npm
from dormouse import BINARY, ROOT, Server, environment, leave_out, main

sys.path[:0] = [str(ROOT / path) for path in ('tests/clients', 'tools', 'packaging/npm')]

import client_pages  # noqa: E402
import pack  # noqa: E402
from driven import CLIENTS, build_python, build_typescript  # noqa: E402

LIMIT_S = 120
USE_TYPESCRIPT = '''
import { Client, Refusal } from 'dormouse';
import { localClient } from 'dormouse/local';
const client = localClient();
const session = await client.createSession('demo', { prompt: 'hello' });
await client.waitSession(session.id);
for await (const message of client.listMessages(session.id)) console.log(message.role);
try {
  await new Client({ base: process.env.DORMOUSE_URL, token: 'wrong' }).me();
} catch (error) {
  console.log(error instanceof Refusal, error.code);
}
'''
USE_PYTHON = '''
import asyncio
import os
import dormouse
client = dormouse.Client()
session = client.wait_session(client.create_session("demo", prompt="hello")["id"])
for message in client.list_messages(session["id"]):
    print(message["role"])
try:
    asyncio.run(dormouse.AsyncClient(os.environ["DORMOUSE_URL"], "wrong").me())
except dormouse.refusals.Unauthenticated as error:
    print(isinstance(error, dormouse.Refusal), error.code)
'''
SAID = ['user', 'assistant', 'true unauthenticated']


def run(*command, cwd, **more):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=LIMIT_S,
                          env=environment(PATH=os.environ['PATH'], **more))
    assert done.returncode == 0, f'{command}\n{done.stdout}{done.stderr}'
    return done.stdout


class Installed(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix='dormouse-package-')
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def served(self):
        server = Server()
        self.addCleanup(server.clean)
        self.addCleanup(server.finish)
        return {'DORMOUSE_URL': f'http://127.0.0.1:{server.port}', 'DORMOUSE_TOKEN': server.token}


class NpmCommand(Installed):
    """`npx dormouse`, with this binary as the program (the single file: slow/packages.py)."""

    @classmethod
    def setUpClass(cls):
        if why := npm.install(CLIENTS / 'typescript', 'node'):
            leave_out(why)
        build_typescript()

    def packed(self, release):
        """The packages of a release, as npm is given them."""
        machine = os.uname().machine
        folder = self.folder / release
        folder.mkdir()
        program = folder / f'dormouse-linux-{machine}'
        program.symlink_to(BINARY)
        with mock.patch.object(pack, 'RELEASE', release):
            pack.main([program], folder)
        return [f'./{release}/{file.name}' for file in sorted(folder.glob('*.tgz'))]

    def npm(self, command, *words):
        return run('npm', command, '--offline', '--no-audit', '--no-fund', *words,
                   cwd=self.folder, HOME=str(self.folder))

    def dormouse(self, *words):
        return run('npx', '--offline', 'dormouse', *words, cwd=self.folder,
                   HOME=str(self.folder))

    def test_one_package_has_the_command_and_is_upgraded_and_removed(self):
        (self.folder / 'package.json').write_text('{}')
        old, new = self.packed('0.0.1'), self.packed('99.0.0')
        self.npm('install', *old)
        installed = json.loads((self.folder / 'node_modules/dormouse/package.json').read_text())
        self.assertEqual(installed['optionalDependencies'], {'dormouse-bin': '0.0.1'})
        self.assertIn('woke exactly once', self.dormouse('demo'))
        data = self.folder / 'data'
        server = Server('--store', 'sqlite', directory=data)
        session = server.create('deploy A')['id']
        server.finish()
        self.npm('install', *new)
        listed = json.loads(self.npm('ls', '--json', '--all'))['dependencies']
        self.assertEqual({one['version'] for one in listed.values()}, {'99.0.0'})
        self.assertIn(session, self.dormouse('export', '--data', str(data)))
        self.npm('uninstall', *listed)
        self.assertEqual(list((self.folder / 'node_modules').glob('*dormouse*')), [])
        self.assertFalse((self.folder / 'node_modules/.bin/dormouse').exists())
        self.assertTrue((data / 'dormouse.db').exists())

    def test_client_without_the_program_says_what_to_install(self):
        (self.folder / 'package.json').write_text('{}')
        pack.pack_client(self.folder / 'package', self.folder)
        self.npm('install', '--omit=optional', f'./dormouse-{pack.RELEASE}.tgz')
        done = subprocess.run(['npx', '--offline', 'dormouse', 'demo'], cwd=self.folder, text=True,
                              capture_output=True, env=environment(PATH=os.environ['PATH'],
                                                                   HOME=str(self.folder)))
        self.assertEqual(done.returncode, 1, done)
        self.assertIn('npm install dormouse-bin', done.stderr)


class TypeScriptPackage(Installed):
    @classmethod
    def setUpClass(cls):
        if why := npm.install(CLIENTS / 'typescript', 'node'):
            leave_out(why)
        build_typescript()

    def test_packed_package_is_installed_and_used(self):
        packed = run('npm', 'pack', '--silent', '--pack-destination', self.folder,
                     cwd=CLIENTS / 'typescript').split()[-1]
        (self.folder / 'package.json').write_text('{"type": "module"}')
        run('npm', 'install', '--offline', '--no-audit', '--no-fund', f'./{packed}',
            cwd=self.folder)
        found = self.folder / 'node_modules'
        self.assertEqual(sorted(path.name for path in found.iterdir() if path.is_dir()),
                         ['.bin', 'dormouse'])
        self.assertEqual([path.name for path in (found / '.bin').iterdir()], ['dormouse'])
        names = {path.name for path in (found / 'dormouse').rglob('*') if path.is_file()}
        self.assertLessEqual({'index.js', 'index.d.ts', 'local.js', 'api.gen.d.ts', 'package.json'},
                             names)
        self.assertFalse({'client.ts', '.digest', 'generate.mjs'} & names, names)
        (self.folder / 'use.mjs').write_text(USE_TYPESCRIPT)
        output = run('node', 'use.mjs', cwd=self.folder, **self.served())
        self.assertEqual(output.splitlines(), SAID)

    def test_wrong_types_do_not_compile(self):
        modules = self.folder / 'node_modules'
        modules.mkdir()
        (modules / 'dormouse').symlink_to(CLIENTS / 'typescript')
        (self.folder / 'package.json').write_text('{"type": "module"}')
        right = "import { Client } from 'dormouse';\nconst client = new Client();\n" \
            "const s: string | null = (await client.getSession('ses_x')).title;\nconsole.log(s);\n"
        wrong = right.replace('string | null', 'number')
        for text, fits in ((right, True), (wrong, False)):
            (self.folder / 'use.ts').write_text(text)
            compiler = CLIENTS / 'typescript/node_modules/typescript/bin/tsc'
            done = subprocess.run(
                ['node', compiler, '--noEmit', '--strict', '--module', 'nodenext', '--target',
                 'es2022', '--lib', 'es2022,dom', 'use.ts'],
                cwd=self.folder, capture_output=True, text=True, timeout=LIMIT_S)
            self.assertEqual(done.returncode == 0, fits, done.stdout)


class PythonPackage(Installed):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([sys.executable, '-m', 'pip', '--version'], capture_output=True)
        if done.returncode != 0:
            leave_out('pip is not installed (tools/setup.sh test)')

    def pip(self, *arguments):
        run(sys.executable, '-m', 'pip', '--isolated', '--disable-pip-version-check',
            '--no-cache-dir',
            *arguments, cwd=self.folder, PIP_NO_INDEX='1', HOME=str(self.folder))

    def test_wheel_is_built_without_network_and_used(self):
        self.pip('wheel', '--no-index', '--no-deps', '-w', self.folder, CLIENTS / 'python')
        wheel, = self.folder.glob('*.whl')
        self.pip('install', '--no-index', '--target', self.folder / 'site', wheel)
        site = self.folder / 'site/dormouse'
        self.assertTrue((site / 'py.typed').exists())
        (self.folder / 'use.py').write_text(USE_PYTHON)
        output = run(sys.executable, 'use.py', cwd=self.folder,
                     PYTHONPATH=str(self.folder / 'site'), **self.served())
        self.assertEqual(output.lower().splitlines(), SAID)

    def test_wheels_of_the_same_sources_are_equal(self):
        for name in ('one', 'two'):
            (self.folder / name).mkdir()
            run(sys.executable, '-c',
                f'import backend; backend.build_wheel({str(self.folder / name)!r})',
                cwd=CLIENTS / 'python')
        one, two = (self.folder.glob(f'{name}/*.whl') for name in ('one', 'two'))
        path, other = next(one), next(two)
        self.assertEqual(path.read_bytes(), other.read_bytes())
        names = zipfile.ZipFile(path).namelist()
        for name in ('_sync/client.py', '_async/client.py', 'types.py', 'refusals.py', 'py.typed'):
            self.assertIn(f'dormouse/{name}', names)

    def test_source_package_builds_the_same_wheel(self):
        run(sys.executable, '-c', f'import backend; backend.build_sdist({str(self.folder)!r})',
            cwd=CLIENTS / 'python')
        archive, = self.folder.glob('*.tar.gz')
        self.pip('wheel', '--no-index', '--no-deps', '-w', self.folder / 'from-source', archive)
        self.pip('wheel', '--no-index', '--no-deps', '-w', self.folder / 'from-tree',
                 CLIENTS / 'python')
        one, two = (next(self.folder.glob(f'{name}/*.whl')) for name in ('from-source',
                                                                         'from-tree'))
        self.assertEqual(one.read_bytes(), two.read_bytes())


class Pages(unittest.TestCase):
    def test_pages_have_every_method(self):
        for path, text in client_pages.pages().items():
            self.assertTrue(path.read_text() == text, f'{path.name}: run tools/client_pages.py')

    def test_both_clients_have_the_same_methods(self):
        def snake(name):
            return re.sub('ID|[A-Z]', lambda found: '_' + found[0].lower(), name)

        typescript = {snake(row[1].split('(')[0]) for row in client_pages.typescript_rows()}
        python = {row[1].split('(')[0] for row in client_pages.python_rows()}
        self.assertEqual(python - {'close'}, typescript)
        self.assertGreater(len(python), 40)

    def test_every_method_and_error_is_described(self):
        rows = client_pages.typescript_rows() + client_pages.python_rows()
        for row in rows + client_pages.typescript_errors() + client_pages.python_errors():
            self.assertTrue(row[-1].endswith(('.', ')')), row)

    def test_blocking_package_has_no_asynchronous_word(self):
        built = build_python() / 'dormouse/_sync'
        for name in ('client', 'http', 'stream', 'changes'):
            text = (built / f'{name}.py').read_text()
            self.assertIsNone(re.search(r'\b(async|await|asyncio|Async\w+|Awaitable\[)', text),
                              name)


if __name__ == '__main__':
    main()
