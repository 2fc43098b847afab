#!/usr/bin/env python3
"""The web page's own tests (web/test), by Vitest, with the packages of web/package-lock.json."""
import os
import shutil
import subprocess
import unittest

from dormouse import ROOT, leave_out, main

WEB = ROOT / 'web'
LIMIT_S = 300


class WebUnits(unittest.TestCase):
    def test_vitest_passes(self):
        for command in (['node', '../clients/typescript/generate.mjs'],
                        ['node', 'node_modules/vitest/vitest.mjs', 'run']):
            done = subprocess.run(command, cwd=WEB, capture_output=True, text=True,
                                  timeout=LIMIT_S, env={**os.environ, 'CI': '1'})
            self.assertEqual(done.returncode, 0, done.stdout[-6000:] + done.stderr[-3000:])


def setUpModule():
    if not shutil.which('node'):
        leave_out('node is not installed (tools/setup.sh test)')
    if not (WEB / 'node_modules/vitest/vitest.mjs').is_file():
        leave_out('Vitest is not installed (tools/web_page.sh --tests)')


if __name__ == '__main__':
    main()
