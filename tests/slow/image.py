#!/usr/bin/env python3
"""The OCI image run by podman, as docs/how-to/install.md does: without a network, without rights
and with a read-only root; then an image of a later release on the same volume. Where podman cannot
run a container the tests are left out; those of packages.py run the image by bwrap."""
import json
import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from dormouse import leave_out, main, wait_for  # noqa: E402
from packaged import FILE, PACKAGES, ended, maker, need_archives, needs, run  # noqa: E402

LATER = '99.0'
# What podman asks for otherwise is more than a container may have that podman itself runs in.
LIMITS = ('--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024')
CONFINED = ('--read-only', '--cap-drop', 'all', '--security-opt', 'no-new-privileges',
            '--network', 'none', *LIMITS)


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_archives()
        needs('podman', 'skopeo', 'runc')
        run('packaging/build', 'single')
        run('packaging/build', 'oci')
        temporary = tempfile.TemporaryDirectory(prefix='dormouse-image-')
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.podman = ['podman', '--root', cls.folder / 'store', '--runroot', cls.folder / 'run',
                      '--tmpdir', cls.folder / 'tmp', '--storage-driver', 'vfs',
                      '--cgroup-manager', 'cgroupfs', '--events-backend', 'file', '--runtime',
                      'runc']
        image = maker('packaging/oci/image.py')
        cls.release = image.RELEASE
        with mock.patch.object(image, 'RELEASE', LATER):
            image.main([FILE], cls.folder / 'later')
        for place, release in ((PACKAGES / 'dormouse-oci', cls.release),
                               (cls.folder / 'later', LATER)):
            run('skopeo', '--insecure-policy', 'copy', f'oci:{place}:{release}',
                f'containers-storage:[vfs@{cls.folder}/store+{cls.folder}/run]dormouse:{release}')
        done = ended(*cls.podman, 'run', '--rm', *CONFINED, f'dormouse:{cls.release}', 'demo')
        cls.addClassCleanup(ended, *cls.podman, 'rm', '--all', '--force')
        if done.returncode:
            leave_out(f'podman runs no container here: {done.stderr.strip()[-300:]}')
        cls.demo = done.stdout

    def do(self, *words):
        return run(*self.podman, *words).strip()

    def start(self, release):
        """A container of its own that has the volume."""
        self.do('run', '--detach', '--name', 'server', *CONFINED, '--volume',
                'dormouse:/var/lib/dormouse', f'dormouse:{release}')
        wait_for(lambda: 'ready http://' in self.do('logs', 'server'), 60)
        [described] = json.loads(self.do('inspect', 'server'))
        self.assertTrue(described['HostConfig']['ReadonlyRootfs'])
        self.assertEqual(described['Config']['Labels']['org.opencontainers.image.version'], release)

    def command(self, *words, status=0):
        done = ended(*self.podman, 'exec', 'server', '/usr/bin/dormouse', '--data',
                     '/var/lib/dormouse', *words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def end(self):
        """By SIGTERM, and the server ends itself."""
        self.do('stop', '--time', '30', 'server')
        self.assertEqual(self.do('inspect', '--format', '{{.State.ExitCode}}', 'server'), '0')
        self.do('rm', 'server')

    def test_demo_runs_without_a_volume(self):
        self.assertIn('woke exactly once', self.demo)

    def test_session_sleeps_through_an_upgrade_of_the_image(self):
        self.start(self.release)
        out = self.command('prompt', '--agent', 'demo', 'deploy shop', status=10)
        call = re.search(r'pnd_[\w-]+', out)[0]
        with self.subTest('nothing but the volume can be written'):
            out = self.command('config', 'init', '/etc/dormouse/dormouse.toml', status=1)
            self.assertIn('Read-only file system', out)
        self.end()
        self.start(LATER)
        self.assertIn('applied', self.command('result', call, 'live'))
        self.assertIn('live', self.command('show', call))
        self.end()
        with self.subTest('the volume outlives the images, until it is removed'):
            self.do('rmi', f'dormouse:{self.release}', f'dormouse:{LATER}')
            self.assertEqual(self.do('volume', 'ls', '--quiet'), 'dormouse')
            volume = pathlib.Path(self.do('volume', 'inspect', '--format', '{{.Mountpoint}}',
                                          'dormouse'))
            self.assertTrue((volume / 'dormouse.db').exists())
            self.do('volume', 'rm', 'dormouse')
            self.assertFalse(volume.exists())


if __name__ == '__main__':
    main()
