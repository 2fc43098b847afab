#!/usr/bin/env python3
"""The charts and tables of docs/benchmarks.md are those of bench/data, and bench/run refuses what
it does not know. That it measures: tests/slow/benchmarks_run.py."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from dormouse import ROOT, main

BENCH = ROOT / 'bench'
LIMIT_S = 60


class Refused(unittest.TestCase):
    def refusal(self, *arguments):
        done = subprocess.run([sys.executable, BENCH / 'run', '--quick', *arguments], text=True,
                              capture_output=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def test_unknown_scenario_is_refused_with_the_known_ones(self):
        output = self.refusal('--only', 'nonsense')
        self.assertIn('nonsense is not one of systems, cold', output)

    def test_unknown_size_is_refused_with_the_known_ones(self):
        self.assertIn('write NAME=NUMBER', self.refusal('--sizes', 'jobs=many'))
        self.assertIn('one of appends', self.refusal('--sizes', 'speed=3'))

    def test_quick_figures_are_not_published(self):
        self.assertIn('--publish goes with neither', self.refusal('--publish'))


class Charts(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-charts-'))
        self.addCleanup(shutil.rmtree, self.folder, True)

    def charts(self, *arguments):
        return subprocess.run([sys.executable, BENCH / 'charts', *arguments], text=True,
                              capture_output=True, timeout=LIMIT_S, check=False)

    def test_page_and_images_are_what_the_data_make(self):
        done = self.charts('--check')
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_published_data_are_not_quick(self):
        for path in (BENCH / 'data').glob('*.json'):
            self.assertFalse(json.loads(path.read_text()).get('quick'), path.name)

    def test_each_scenario_has_its_place_on_the_page(self):
        page = (ROOT / 'docs/benchmarks.md').read_text()
        done = subprocess.run([sys.executable, BENCH / 'run', '--help'], text=True,
                              capture_output=True, check=True)
        names = re.search(r'--only NAME,…\s+([a-z, -]+)\n', done.stdout)[1].split(', ')
        self.assertEqual(sorted({*names, 'long'}),
                         sorted(re.findall(r'<!-- bench/charts: ([\w-]+) -->', page)))

    def test_changed_data_change_page_and_image(self):
        shutil.copytree(BENCH / 'data', self.folder / 'data')
        shutil.copytree(ROOT / 'docs/images', self.folder / 'images')
        page = self.folder / 'benchmarks.md'
        shutil.copy(ROOT / 'docs/benchmarks.md', page)
        named = ['--data', self.folder / 'data', '--page', page]
        rows = [{'sessions': name, 'pauses/s': 9000.0, 'resumes/s': rate, 'resume p50 ms': 1.5,
                 'resume p99 ms': 4.0, 'resumes/s ÷': rate / 8000}
                for name, rate in (('in memory', 8000.0), ('not in memory', 6000.0))]
        (self.folder / 'data/cold.json').write_text(json.dumps({
            'scenario': 'cold', 'measured': '2026-11-27', 'rows': rows, 'notes': ['A note.']}))
        self.assertEqual(self.charts('--check', *named).returncode, 1)
        self.assertEqual(self.charts(*named).returncode, 0)
        self.assertEqual(self.charts('--check', *named).returncode, 0)
        self.assertIn('| not in memory | 9,000 | 6,000 | 1.5 | 4 | 0.75 × |', page.read_text())
        drawn = (self.folder / 'images/bench-cold.svg').read_text()
        self.assertIn('>6,000</text>', drawn)
        self.assertIn('prefers-color-scheme: dark', drawn)


if __name__ == '__main__':
    main()
