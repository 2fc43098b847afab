#!/usr/bin/env python3
"""The Homebrew formula: Ruby reads it, and a small part of Homebrew's language installs and tests
what it names."""
import hashlib
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

from dormouse import BINARY, ROOT, environment, leave_out, main

MAKE = ROOT / 'packaging/homebrew/formula.py'
HOMEBREW = pathlib.Path(__file__).resolve().parent / 'formula/homebrew.rb'
URL = 'https://example.org/releases/0.1.0'
ARCH = os.uname().machine
LIMIT_S = 240


class OfHomebrew(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(
            tempfile.TemporaryDirectory(prefix='dormouse-formula-')))
        shutil.copy(BINARY, self.folder / f'dormouse-linux-{ARCH}')

    def sums(self, *names):
        lines = [f'{hashlib.sha256((self.folder / name).read_bytes()).hexdigest()}  {name}\n'
                 for name in names]
        (self.folder / 'SHA256SUMS').write_text(''.join(lines))

    def make(self, url=URL):
        return subprocess.run([sys.executable, MAKE, self.folder, url], capture_output=True,
                              text=True)

    def formula(self):
        self.sums(f'dormouse-linux-{ARCH}')
        made = self.make()
        self.assertEqual((made.returncode, made.stderr), (0, ''))
        file = self.folder / 'dormouse.rb'
        file.write_text(made.stdout)
        return file

    def brew(self, file):
        return subprocess.run(['ruby', HOMEBREW, file, self.folder / 'prefix', self.folder],
                              capture_output=True, text=True, timeout=LIMIT_S,
                              env=environment(HOME=str(self.folder)))

    def test_each_file_of_the_sums_has_its_source(self):
        for name in ('dormouse-linux-x86_64', 'dormouse-linux-aarch64',
                     'dormouse-linux-x86_64.debug', 'dormouse-linux-x86_64.spdx.json'):
            (self.folder / name).write_text(name)
        self.sums(*sorted(path.name for path in self.folder.iterdir()))
        text = self.make().stdout
        for arch, cpu in (('x86_64', 'intel'), ('aarch64', 'arm')):
            name = f'dormouse-linux-{arch}'
            digest = hashlib.sha256(name.encode()).hexdigest()
            self.assertIn(f'    on_{cpu} do\n      url "{URL}/{name}"\n      sha256 "{digest}"\n',
                          text)
        self.assertEqual(text.count('sha256 "'), 2)
        self.assertNotIn('@', text)

    def test_mistakes_are_named(self):
        self.assertIn('SHA256SUMS not found', self.make().stderr)
        (self.folder / 'SHA256SUMS').write_text('')
        self.assertIn('names no single file', self.make().stderr)
        for url in ('http://example.org', 'https://example.org/"; system("id")'):
            made = self.make(url)
            self.assertEqual(made.returncode, 1)
            self.assertIn('expected an https address', made.stderr)

    def test_formula_installs_and_passes_its_test(self):
        if not shutil.which('ruby'):
            leave_out('ruby is not installed (tools/setup.sh ci)')
        file = self.formula()
        checked = subprocess.run(['ruby', '-wc', file], capture_output=True, text=True)
        self.assertEqual((checked.stdout.strip(), checked.stderr), ('Syntax OK', ''))
        done = self.brew(file)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        about, prefix = json.loads(done.stdout), self.folder / 'prefix'
        self.assertEqual(about['needs'], ['linux'])
        self.assertEqual(about['service']['run'][:3],
                         [str(prefix / 'bin/dormouse'), 'serve', '--data'])
        self.assertTrue((prefix / 'bin/dormouse').stat().st_mode & stat.S_IXOTH)
        for name, words in (('share/man/man1/dormouse.1', '.TH'),
                            ('etc/bash_completion.d/dormouse', 'complete'),
                            ('share/zsh/site-functions/_dormouse', 'compdef'),
                            ('share/fish/vendor_completions.d/dormouse.fish', 'complete')):
            self.assertIn(words, (prefix / name).read_text())

    def test_other_file_than_named_is_not_installed(self):
        if not shutil.which('ruby'):
            leave_out('ruby is not installed (tools/setup.sh ci)')
        file = self.formula()
        with open(self.folder / f'dormouse-linux-{ARCH}', 'ab') as program:
            program.write(b'x')
        done = self.brew(file)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('sha256 of', done.stderr)
        self.assertFalse((self.folder / 'prefix').exists())


if __name__ == '__main__':
    main()
