#!/usr/bin/env python3
"""Every program in examples/ prints what its header says."""
import pathlib
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from dormouse import BINARY, ROOT, environment, main  # noqa: E402

BUILT = pathlib.Path(BINARY).resolve().parent / 'examples'


def promised(source):
    head = re.match(r'(?://.*\n)+', source.read_text())[0]
    match = re.search(r'^// Prints:\n((?:// {3}.*\n)+)', head, re.MULTILINE)
    return re.sub(r'^// {3}', '', match[1], flags=re.MULTILINE)


class Examples(unittest.TestCase):
    maxDiff = None

    def test_each_prints_what_its_head_promises(self):
        sources = sorted((ROOT / 'examples').glob('*.cc'))
        self.assertGreaterEqual(len(sources), 6)
        for source in sources:
            with self.subTest(source.stem):
                ended = subprocess.run([BUILT / source.stem], text=True, capture_output=True,
                                       timeout=60, env=environment())
                self.assertEqual((ended.stdout, ended.stderr, ended.returncode),
                                 (promised(source), '', 0))


if __name__ == '__main__':
    main()
