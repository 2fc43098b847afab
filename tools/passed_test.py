#!/usr/bin/env python3
"""What is remembered of a test binary, and what makes it run again."""
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True
from passed import Passed  # noqa: E402

CASE = '<testcase name="a" classname="A" status="{status}">{more}</testcase>'


class OfBinaries(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.build, self.reports = self.root / 'build', self.root / 'reports'
        for made in (self.build, self.reports, self.root / 'web/test/recorded'):
            made.mkdir(parents=True)
        (self.root / 'ARCHITECTURE.md').write_text('a walk')
        (self.root / 'web/test/recorded/line.json').write_text('{}')
        (self.build / 'x_tests').write_text('binary')
        changed = mock.patch.dict(os.environ, {'HOME': folder.name})
        changed.start()
        self.addCleanup(changed.stop)
        os.environ.pop('DORMOUSE_TEST_AGAIN', None)

    def passed(self):
        return Passed(self.root, self.build)

    def keep(self, status='run', more=''):
        report = self.root / 'report.xml'
        report.write_text(f'<testsuites>{CASE.format(status=status, more=more)}</testsuites>')
        self.passed().keep('x_tests', report)

    def found(self):
        return self.passed().find(['x_tests', 'absent_tests'], self.reports)

    def test_report_of_an_unchanged_binary_is_found(self):
        self.assertEqual(self.found(), [])
        self.keep()
        self.assertEqual(self.found(), ['x_tests'])
        self.assertIn('name="a"', (self.reports / 'x_tests.xml').read_text())

    def test_binary_runs_again_when_it_a_text_or_a_variable_changed(self):
        for name, changed in (('binary', self.build / 'x_tests'),
                              ('walk', self.root / 'ARCHITECTURE.md'),
                              ('recorded', self.root / 'web/test/recorded/line.json')):
            with self.subTest(name):
                self.keep()
                self.assertEqual(self.found(), ['x_tests'])
                changed.write_text(changed.read_text() + ' ')
                self.assertEqual(self.found(), [])
        self.keep()
        for variable in ('ASAN_OPTIONS', 'DORMOUSE_TEST_POSTGRES', 'DORMOUSE_TEST_AGAIN'):
            with self.subTest(variable), mock.patch.dict(os.environ, {variable: '1'}):
                self.assertEqual(self.found(), [])

    def test_failed_and_left_out_cases_are_not_remembered(self):
        for status, more in (('run', '<failure/>'), ('run', '<skipped/>'), ('notrun', '')):
            with self.subTest(status=status, more=more):
                self.keep(status, more)
                self.assertEqual(self.found(), [])

    def test_report_that_nobody_asked_for_is_forgotten(self):
        self.keep()
        report, = (self.root / '.cache/dormouse-passed').iterdir()
        os.utime(report, (0, 0))
        self.assertEqual(self.found(), [])
        self.assertFalse(report.exists())


if __name__ == '__main__':
    unittest.main()
