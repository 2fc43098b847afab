#!/usr/bin/env python3
"""The packages of `packaging/build`: each is installed and used as its users do. Those of Debian:
debian.py; the single file on other systems: systems.py."""
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import dormouse  # noqa: E402
from dormouse import ROOT, SYSTEM_PATH, leave_out, main  # noqa: E402
from packaged import FILE, PACKAGES, digests, earlier_data, ended, maker  # noqa: E402
from packaged import need_archives, run  # noqa: E402

WOKE = 'woke exactly once'
DEMO_MAX_S = 10  # of processor time, from the installation to the end of the demo


def used_s():
    """Processor time of the programs that this one ran."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def confined(root, *command):
    """Runs a command as a user without rights, with nothing of this system but /proc and /dev;
    only /tmp can be written."""
    return run('bwrap', '--unshare-all', '--uid', '65532', '--gid', '65532', '--ro-bind', root, '/',
               '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--die-with-parent',
               '--clearenv', '--setenv', 'HOME', '/tmp', *command)


class Container:
    """What a runtime makes of the image: its user, environment, folder and command, a read-only
    root, its volume, and namespaces of its own. `more`: further arguments of bwrap."""

    def __init__(self, case, root, image, volume, *more):
        (mounted,) = image['Volumes']
        variables = [word for pair in image['Env'] for word in ('--setenv', *pair.split('=', 1))]
        inform, informed = os.pipe()
        self.program = image['Entrypoint']
        self.process = subprocess.Popen(
            ['bwrap', '--unshare-all', '--as-pid-1', '--uid', '65532', '--gid', '65532',
             '--ro-bind', root, '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp',
             '--bind', volume, mounted, '--chdir', image['WorkingDir'], '--die-with-parent',
             '--clearenv', *variables, *more, '--info-fd', str(informed),
             *self.program, *image['Cmd']],
            pass_fds=[informed], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        os.close(informed)
        case.addCleanup(self.process.stdout.close)
        case.addCleanup(self.process.wait)
        case.addCleanup(self.process.kill)
        with os.fdopen(inform) as answer:
            self.pid = json.loads(answer.read())['child-pid']
        ready = self.process.stdout.readline()
        assert ready.startswith('ready http://0.0.0.0:3676'), ready

    def run(self, *words, status=0):
        """Runs the program beside the server, as `podman exec` does."""
        done = subprocess.run(
            ['nsenter', '--target', str(self.pid), '--user', '--preserve-credentials', '--mount',
             '--net', '--wd=/', *self.program, '--data', '/var/lib/dormouse', *words],
            capture_output=True, text=True, timeout=60,
            env={'HOME': '/var/lib/dormouse', 'PATH': '/usr/bin'})
        assert done.returncode == status, done
        return done.stdout

    def stop(self):
        os.kill(self.pid, signal.SIGTERM)
        return self.process.wait(60)


class OfTheSingleFile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_archives()
        if not shutil.which('bwrap', path=SYSTEM_PATH):
            leave_out('bwrap is not installed (tools/setup.sh test)')
        run('packaging/build', 'single')

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix='dormouse-packages-')
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def test_file_linked_twice_is_identical(self):
        before = digests(PACKAGES)[FILE.name]
        (ROOT / 'build/release/dormouse-single').unlink()
        run('packaging/build', 'single')
        self.assertEqual(digests(PACKAGES)[FILE.name], before)
        run('sha256sum', '--check', '--strict', 'SHA256SUMS', cwd=PACKAGES)

    def test_file_is_replaced_under_a_server_and_removed(self):
        program, data = self.folder / 'bin/dormouse', self.folder / 'data'
        program.parent.mkdir()
        shutil.copy(FILE, program)
        server = self.served(program, data)
        out = ended(program, '--data', data, 'prompt', '--agent', 'demo', 'deploy shop').stdout
        call = re.search(r'pnd_[\w-]+', out)[0]

        # As docs/how-to/install.md says: the new file takes the name of the old one at once.
        shutil.copy(FILE, program.with_suffix('.new'))
        os.replace(program.with_suffix('.new'), program)
        self.assertIn('1 waiting', run(program, '--data', data, 'status'))
        server.terminate()
        self.assertEqual(server.wait(60), 0)
        server = self.served(program, data)
        self.assertIn('applied', run(program, '--data', data, 'result', call, 'live'))
        self.assertIn('live', run(program, '--data', data, 'show', call))
        server.terminate()
        self.assertEqual(server.wait(60), 0)

        # Data of an earlier release.
        earlier = self.folder / 'earlier'
        earlier_data('format-22', earlier)
        server = self.served(program, earlier)
        self.assertIn('waiting', run(program, '--data', earlier, 'status'))
        server.terminate()
        self.assertEqual(server.wait(60), 0)
        for each in (data, earlier):
            self.assertIn('0 findings', run(program, 'verify', '--data', each))

        program.unlink()
        self.assertEqual([*program.parent.iterdir()], [])
        self.assertIn('dormouse.db', {path.name for path in data.iterdir()}, 'the data stay')

    def test_file_alone_in_a_root_folder_runs_the_demo(self):
        shutil.copy(FILE, self.folder / 'dormouse')
        for name in ('proc', 'dev', 'tmp'):
            (self.folder / name).mkdir()
        self.assertIn(WOKE, confined(self.folder, '/dormouse', 'demo'))

    def test_sbom_names_what_was_linked(self):
        document = json.loads((PACKAGES / f'{FILE.name}.spdx.json').read_text())
        names = {package['name']: package['versionInfo'] for package in document['packages']}
        self.assertLessEqual({'curl', 'postgresql-15', 'libssl-dev', 'libc6-dev', 'sqlite'},
                             names.keys())
        ids = {package['SPDXID'] for package in document['packages']} | {'SPDXRef-DOCUMENT'}
        for relation in document['relationships']:
            self.assertLessEqual({relation['spdxElementId'], relation['relatedSpdxElement']}, ids)

    def npm(self, *words):
        return run(*words, cwd=self.folder, HOME=str(self.folder))

    def install_npm(self, packages):
        here = {'x86_64': 'x64', 'aarch64': 'arm64'}[os.uname().machine]
        packed = [*packages.glob('dormouse-[0-9]*.tgz'), *packages.glob('dormouse-bin-[0-9]*.tgz'),
                  *packages.glob(f'dormouse-bin-linux-{here}-*.tgz')]
        self.assertEqual(len(packed), 3, packed)
        self.npm('npm', 'install', '--offline', '--no-audit', '--no-fund', *packed)

    def served(self, program, data):
        """Starts `dormouse serve`, and returns its process when it is ready."""
        process = subprocess.Popen(
            [program, 'serve', '--data', data, '--listen', '127.0.0.1:0'], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=dormouse.environment(PATH=SYSTEM_PATH))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertIn('ready', process.stdout.readline())
        return process

    def test_npm_packages_run_the_demo_are_upgraded_and_removed(self):
        if not shutil.which('npm', path=SYSTEM_PATH):
            self.skipTest('npm is not installed')
        run('packaging/build', 'npm')
        earlier = self.folder / 'earlier'
        earlier.mkdir()
        pack = maker('packaging/npm/pack.py')
        with mock.patch.object(pack, 'RELEASE', '0.0.1'):
            pack.main([FILE], earlier)
        (self.folder / 'package.json').write_text('{}')
        before = used_s()
        self.install_npm(earlier)
        self.assertIn(WOKE, self.npm('npx', '--offline', 'dormouse', 'demo'))
        self.assertLess(used_s() - before, DEMO_MAX_S)

        # A server of the earlier release works on while the packages are replaced.
        data = self.folder / 'data'
        server = self.served(self.folder / 'node_modules/.bin/dormouse', data)
        command = (self.folder / 'node_modules/.bin/dormouse', '--data', data)
        out = ended(*command, 'prompt', '--agent', 'demo', 'deploy shop').stdout
        call = re.search(r'pnd_[\w-]+', out)[0]
        self.install_npm(PACKAGES)
        listed = json.loads(self.npm('npm', 'ls', '--all', '--json'))['dependencies']
        self.assertEqual({one['version'] for one in listed.values()}, {pack.RELEASE})
        self.assertIn('1 waiting', run(*command, 'status'))
        server.terminate()
        self.assertEqual(server.wait(60), 0)
        server = self.served(self.folder / 'node_modules/.bin/dormouse', data)
        self.assertIn('applied', run(*command, 'result', call, 'live'))
        self.assertIn('live', run(*command, 'show', call))
        server.terminate()
        self.assertEqual(server.wait(60), 0)

        self.npm('npm', 'uninstall', '--offline', '--no-audit', *listed)
        self.assertEqual([*(self.folder / 'node_modules').glob('**/dormouse*')], [])
        self.assertIn('0 findings', run(FILE, 'verify', '--data', data))

    def test_image_runs_with_a_read_only_root(self):
        run('packaging/build', 'oci')
        image = PACKAGES / 'dormouse-oci'
        before = digests(image)
        run('packaging/build', 'oci')
        self.assertEqual(digests(image), before)
        blobs = image / 'blobs/sha256'
        for blob in blobs.iterdir():
            self.assertEqual(hashlib.sha256(blob.read_bytes()).hexdigest(), blob.name)

        def read(descriptor):
            path = blobs / descriptor['digest'].split(':')[1]
            self.assertEqual(path.stat().st_size, descriptor['size'])
            return path
        manifest = json.loads(read(json.loads((image / 'index.json').read_text())['manifests'][0])
                              .read_text())
        config = json.loads(read(manifest['config']).read_text())
        self.assertEqual(config['config']['User'], '65532:65532')
        with self.subTest('compose.yaml names this image'):
            self.compare_with_compose(config['config'])
        with tarfile.open(read(manifest['layers'][0])) as layer:
            layer.extractall(self.folder)
        for name in ('proc', 'dev'):
            (self.folder / name).mkdir()
        [program] = config['config']['Entrypoint']
        self.assertIn(WOKE, confined(self.folder, program, 'demo'))

        with self.subTest('its own command serves from its volume'):
            self.serve(config['config'])

    def serve(self, image, *more):
        """The second container has the volume of the first, as after an upgrade of the image."""
        volume = self.folder / 'volume'
        volume.mkdir(mode=0o700)
        first = Container(self, self.folder, image, volume, *more)
        out = first.run('prompt', '--agent', 'demo', 'deploy shop', status=10)
        call = re.search(r'pnd_[\w-]+', out)[0]
        self.assertIn('1 waiting', first.run('status'))
        self.assertEqual(first.stop(), 0)
        second = Container(self, self.folder, image, volume, *more)
        self.assertIn('applied', second.run('result', call, 'live'))
        self.assertIn('live', second.run('show', call))
        self.assertEqual(second.stop(), 0)
        self.assertTrue((volume / 'token').exists(), 'the data outlives the containers')
        self.assertFalse((self.folder / 'var/lib/dormouse/token').exists())

    def compare_with_compose(self, image):
        import yaml
        text = (ROOT / 'packaging/oci/compose.yaml').read_text()
        service = yaml.safe_load(text)['services']['dormouse']
        release = image['Labels']['org.opencontainers.image.version']
        self.assertEqual(service['image'], f'dormouse:{release}')
        self.assertTrue(service['read_only'])
        [volume], [port] = service['volumes'], service['ports']
        self.assertEqual([volume.split(':')[1]], list(image['Volumes']))
        self.assertEqual(port.split(':')[2] + '/tcp', list(image['ExposedPorts'])[0])


class OfTheOtherArchitecture(unittest.TestCase):
    """The single file for arm64, made here and run by an emulator."""

    @classmethod
    def setUpClass(cls):
        if os.uname().machine == 'aarch64':
            leave_out('this machine is that architecture')
        if not (ROOT / 'build/static-aarch64/lib/libpq.a').exists():
            leave_out('the archives are missing: packaging/single/sysroot aarch64, '
                      'ARCH=aarch64 packaging/single/libraries')
        cls.emulator = shutil.which('qemu-aarch64-static', path=SYSTEM_PATH)
        if not cls.emulator:
            leave_out('qemu-aarch64-static is not installed (qemu-user-static)')
        run('packaging/build', 'single', 'aarch64')
        cls.file = PACKAGES / 'dormouse-linux-aarch64'

    def test_session_outlives_a_kill_of_the_server(self):
        header = self.file.read_bytes()[:20]
        self.assertEqual((header[:4], header[18]), (b'\x7fELF', 183), 'ELF for AArch64')
        with tempfile.TemporaryDirectory(prefix='dormouse-packages-') as folder:
            wrapper = pathlib.Path(folder, 'dormouse')
            wrapper.write_text(f'#!/bin/sh\nexec {self.emulator} {self.file} "$@"\n')
            wrapper.chmod(0o700)
            with mock.patch.object(dormouse, 'BINARY', str(wrapper)):
                self.use(dormouse.Server())

    def use(self, server):
        self.addCleanup(server.clean)
        session = server.create('deploy A')['id']
        call, = server.open_calls(session)
        server.kill()
        server.start()
        self.assertEqual(server.result(call['id'], 'live')['outcome'], 'applied')
        server.at_rest(session)
        self.assertEqual(server.result(call['id'], 'live')['outcome'], 'duplicate')
        self.assertEqual(server.term(), 0)

    def test_sums_and_sbom_name_it(self):
        sums = (PACKAGES / 'SHA256SUMS').read_text()
        for name in ('', '.debug', '.spdx.json'):
            self.assertIn(f'  dormouse-linux-aarch64{name}\n', sums)
        run('sha256sum', '--check', '--strict', 'SHA256SUMS', cwd=PACKAGES)
        document = json.loads((PACKAGES / f'{self.file.name}.spdx.json').read_text())
        names = {package['name'] for package in document['packages']}
        self.assertLessEqual({'curl', 'postgresql-15', 'libssl-dev', 'libre2-dev', 'sqlite'}, names)


if __name__ == '__main__':
    main()
