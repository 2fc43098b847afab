#!/usr/bin/env python3
"""The single file in minimal installations of other systems, and in one that has a static busybox
and nothing else. The installations are made once, in build/chroots, only with
DORMOUSE_TEST_PACKAGES=1."""
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from dormouse import ROOT, leave_out, main  # noqa: E402
from packaged import ASKED, CHROOT, FILE, need_archives, run, tried  # noqa: E402


class SingleFile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_archives()
        run('packaging/build', 'single')

    def use_in(self, name):
        root = ROOT / 'build/chroots' / name
        if name != 'empty' and ASKED != '1' and not root.exists():
            leave_out('takes minutes: DORMOUSE_TEST_PACKAGES=1')
        tried(CHROOT, 'make', name)
        with tempfile.TemporaryDirectory(prefix='dormouse-systems-') as folder:
            shutil.copy(FILE, f'{folder}/dormouse')
            shutil.copy(ROOT / 'packaging/single/use', folder)
            self.assertEqual(tried(CHROOT, 'run', '--with', folder, root, '/bin/sh', '/mnt/use'),
                             'ok')

    def test_debian_11(self):
        self.use_in('bullseye')

    def test_debian_12(self):
        self.use_in('bookworm')

    def test_debian_13(self):
        self.use_in('trixie')

    def test_ubuntu_22_04(self):
        self.use_in('jammy')

    def test_ubuntu_24_04(self):
        self.use_in('noble')

    def test_system_without_libraries(self):
        self.use_in('empty')


if __name__ == '__main__':
    main()
