#!/usr/bin/env python3
"""The benchmarks run: each scenario of bench/run with its smallest sizes, and nothing remains of an
interrupted run."""
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import postgres  # noqa: E402
from dormouse import ROOT, main  # noqa: E402

BENCH = ROOT / 'bench'
LIMIT_S = 600  # half a minute where nothing else runs
SQLITE = 'cold,history,memory,tls,index,index-cost'
ON_POSTGRES = 'servers,take-over,events,one-session,idle'


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-bench-'))
        self.folder.chmod(0o755)  # PostgreSQL runs as another user
        self.addCleanup(shutil.rmtree, self.folder, True)

    def started(self, *arguments):
        return subprocess.Popen(
            [sys.executable, BENCH / 'run', '--quick', '--folder', self.folder, '--out',
             self.folder / 'data', *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def data(self):
        return {path.stem: json.loads(path.read_text())
                for path in sorted((self.folder / 'data').glob('*.json'))}

    def left(self):
        """What remains of a run: processes that name its folder, and temporary folders."""
        folders = [path.name for path in self.folder.iterdir() if path.name != 'data']
        return folders, [line for line in map(command_of, pathlib.Path('/proc').glob('[0-9]*'))
                         if f'{self.folder}/run-' in line]

    def measure(self, names, *arguments):
        process = self.started('--only', names, *arguments)
        try:
            out, err = process.communicate(timeout=LIMIT_S)
        finally:
            process.kill()
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(self.left(), ([], []))
        found = self.data()
        for name in names.split(','):
            self.assertIn(name, found, err)
            self.assertTrue(found[name]['quick'])
            self.assertIn(f'\n{name}\n| ', out)
        self.draw(found)
        return found, err

    def draw(self, found):
        """The page and its charts can be made from the data."""
        shutil.copy(ROOT / 'docs/benchmarks.md', self.folder)
        (self.folder / 'images').mkdir()
        subprocess.run([sys.executable, BENCH / 'charts', '--data', self.folder / 'data', '--page',
                        self.folder / 'benchmarks.md'], check=True)
        page = (self.folder / 'benchmarks.md').read_text()
        for name in found:
            self.assertIn(f'`bench/run --only {name}`, 20', page)


def command_of(process):
    try:
        return (process / 'cmdline').read_bytes().replace(b'\0', b' ').decode(errors='replace')
    except OSError:
        return ''  # it has ended


class Quick(Case):
    def test_scenarios_on_sqlite_write_their_data(self):
        found, _ = self.measure(SQLITE)
        for name, head in (('cold', 'sessions'), ('tls', 'protocol'), ('index', 'store')):
            self.assertEqual(len(found[name]['rows']), 2)
            self.assertEqual(list(found[name]['rows'][0])[0], head)
        self.assertEqual(found['cold']['rows'][0]['resumes/s ÷'], 1)
        self.assertEqual(len(found['history']['rows']), 3)

    def test_scenarios_on_postgres_write_their_data(self):
        postgres.needed()
        found, _ = self.measure(ON_POSTGRES)
        self.assertEqual(len(found['servers']['rows']), 4)
        self.assertEqual([row['errors'] for row in found['one-session']['rows']], [0, 0])
        self.assertEqual(len(found['take-over']['rows']), 2)

    def test_own_systems_are_measured_in_turn(self):
        postgres.needed()
        found, _ = self.measure('systems', '--systems', 'dormouse,dormouse-postgres')
        names = [row['system'] for row in found['systems']['rows']]
        self.assertEqual(names[0], 'Dormouse')
        self.assertRegex(names[1], r'^Dormouse on PostgreSQL \d+')

    def test_interrupted_run_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.started('--only', 'memory', '--sizes', 'asleep=1000000')
            lines = []
            while not (lines and 'memory, round 1' in lines[-1]):
                lines.append(process.stderr.readline())
                self.assertTrue(lines[-1], lines)
            process.send_signal(number)
            _, err = process.communicate(timeout=LIMIT_S)
            self.assertEqual(process.returncode, 128 + number, err)
            self.assertEqual(self.left(), ([], []))
            self.assertEqual(self.data(), {})


if __name__ == '__main__':
    main()
