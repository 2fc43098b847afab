#!/usr/bin/env python3
"""The packages of `packaging/build deb`: lintian, the limits of the units, and an installation that
is used, upgraded while it runs and removed, with and without systemd. Only with
DORMOUSE_TEST_PACKAGES=deb, as continuous integration asks for it, or =1, which also builds the
packages twice and installs them in a Debian 12 that has nothing else."""
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from dormouse import ROOT, leave_out, main  # noqa: E402
from packaged import ASKED, CHROOT, digests, earlier_data, needs, run, tried  # noqa: E402

RELEASE = ROOT / 'build/release'
PACKAGES = RELEASE / 'packages'
TRY = ROOT / 'packaging/deb/try'
EXPOSURE_MAX = '20'  # tenths


def upgrade_earlier_data(*options):
    with tempfile.TemporaryDirectory(prefix='dormouse-debian-') as folder:
        for number in (22, 23):
            earlier_data(f'format-{number}', f'{folder}/{number}')
        return tried(TRY, *options, '--older', folder, PACKAGES)


def setUpModule():
    if not ASKED:
        leave_out('takes a minute: DORMOUSE_TEST_PACKAGES=deb')


class DebianPackages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        needs('dpkg-shlibdeps', 'unshare', 'ip')
        # xz would take most of the time.
        run('packaging/build', 'deb', '-D', 'CPACK_DEBIAN_COMPRESSION_TYPE=gzip')

    def test_lintian_finds_no_error(self):
        needs('lintian')
        run('lintian', '--fail-on', 'error', '--allow-root', *PACKAGES.glob('*.deb'))

    def test_units_are_confined(self):
        needs('systemd-analyze')
        for unit in ('dormouse.service', 'dormouse@.service'):
            output = run('systemd-analyze', 'security', '--offline=true',
                         f'--threshold={EXPOSURE_MAX}', ROOT / 'packaging/systemd' / unit)
            self.assertIn('Overall exposure level', output)

    def test_upgrade_under_systemd_loses_no_result(self):
        self.assertEqual(tried(TRY, '--systemd', PACKAGES), 'ok')

    def test_upgrade_without_systemd_loses_no_result(self):
        self.assertEqual(tried(TRY, PACKAGES), 'ok')

    def test_data_of_two_earlier_formats_under_systemd(self):
        self.assertEqual(upgrade_earlier_data('--systemd'), 'ok')


@unittest.skipUnless(ASKED == '1', 'takes minutes: DORMOUSE_TEST_PACKAGES=1')
class SlowDebianPackages(unittest.TestCase):
    def test_built_twice_they_are_identical(self):
        before = os.umask(0o022)
        self.addCleanup(os.umask, before)
        run('packaging/build', 'deb')
        first = digests(PACKAGES)
        self.assertEqual(len(first), 2)
        # Again with another umask and later, from a program that is linked and texts that are
        # printed again; what cpack copies to is new as well.
        os.umask(0o077)
        shutil.rmtree(RELEASE / '_CPack_Packages')
        for made in (RELEASE / 'dormouse', *RELEASE.glob('deb/**/*.gz')):
            made.unlink()
        run('packaging/build', 'deb')
        self.assertEqual(digests(PACKAGES), first)

    def test_data_of_an_earlier_format_without_systemd(self):
        run('packaging/build', 'deb')
        self.assertEqual(upgrade_earlier_data(), 'ok')

    def test_minimal_debian_12_has_or_fetches_what_it_needs(self):
        run('packaging/build', 'deb')
        tried(CHROOT, 'make', 'bookworm')
        self.assertEqual(tried(TRY, '--network', PACKAGES, ROOT / 'build/chroots/bookworm'), 'ok')


if __name__ == '__main__':
    main()
