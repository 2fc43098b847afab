#!/usr/bin/env python3
"""The Compose file: it fits the schema of Compose and the rules of a linter, and its service runs
without rights and is published to this machine alone. That it names the image that is built:
tests/slow/packages.py."""
import pathlib
import subprocess
import tempfile
import unittest

import npm
import yaml
from dormouse import ROOT, leave_out, main

FILE = ROOT / 'packaging/oci/compose.yaml'
CHECKER = ROOT / 'tests/compose'
# Of style, and one that does not see quotes within brackets.
NOT_OURS = ('service-keys-order', 'no-quotes-in-volumes', 'require-quotes-in-ports')
LIMIT_S = 120


class Compose(unittest.TestCase):
    def check(self, text):
        """Returns the exit status of the checker and what it says of this file."""
        with tempfile.TemporaryDirectory(prefix='dormouse-compose-') as folder:
            file = pathlib.Path(folder, 'compose.yaml')
            file.write_text(text)
            done = subprocess.run(
                ['node', 'node_modules/dclint/bin/dclint.cjs', file, '--max-warnings', '0',
                 *(word for rule in NOT_OURS for word in ('--disable-rule', rule))],
                cwd=CHECKER, capture_output=True, text=True, timeout=LIMIT_S)
        return done.returncode, (done.stdout + done.stderr).strip()

    def test_checker_finds_nothing(self):
        if why := npm.install(CHECKER, 'node'):
            leave_out(why)
        text = FILE.read_text()
        self.assertEqual(self.check(text), (0, ''))
        for wrong, expected in (('read_onyl: true', 'must NOT have additional properties'),
                                ('read_only: 7', '/services/dormouse/read_only')):
            status, output = self.check(text.replace('read_only: true', wrong))
            self.assertNotEqual(status, 0)
            self.assertIn(expected, output)

    def test_service_has_no_rights_and_listens_on_loopback(self):
        document = yaml.safe_load(FILE.read_text())
        service = document['services']['dormouse']
        self.assertEqual(service['cap_drop'], ['ALL'])
        self.assertIn('no-new-privileges:true', service['security_opt'])
        self.assertTrue(service['read_only'])
        for port in service['ports']:
            self.assertTrue(port.startswith('127.0.0.1:'), port)
        for volume in service['volumes']:
            self.assertIn(volume.split(':')[0], document['volumes'])


if __name__ == '__main__':
    main()
