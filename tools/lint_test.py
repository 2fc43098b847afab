#!/usr/bin/env python3
"""Tests that lint.py skips a source only if nothing changed since a run without findings."""
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True
import lint  # noqa: E402

DEPENDENCIES = '''a.o: #deps 2, deps mtime 2000000000 (VALID)
    ../../src/a.cc
    ../../src/a.h

b.o: #deps 1, deps mtime 2000000000 (STALE)
    ../../src/b.cc

'''
COMMAND = 'clang++-19 -O0 -o a.o -c /src/a.cc'


class Lint(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / 'build/clang').mkdir(parents=True)
        for name in ('src/a.cc', 'src/a.h', 'src/b.cc', '.clang-tidy'):
            self.write(name, name)

    def write(self, name, text, seconds=1):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (seconds, seconds))

    def key(self, command=COMMAND, tool='19.1'):
        objects = lint.parse_dependencies(DEPENDENCIES)
        return lint.Keys(self.root, tool, objects).of(command)

    def test_nothing_changed(self):
        self.assertIsNotNone(self.key())
        self.assertEqual(self.key(), self.key())

    def test_all_that_findings_follow_from_is_in_the_key(self):
        keys = [self.key(), self.key(tool='19.2'), self.key(COMMAND.replace('-O0', '-O2'))]
        for name in ('src/a.cc', 'src/a.h', '.clang-tidy'):
            self.write(name, 'other')
            keys.append(self.key())
        self.assertEqual(len(set(keys)), len(keys))

    def test_checkout_elsewhere_has_the_same_keys(self):
        here = self.key(COMMAND.replace('/src', f'{self.root}/src'))
        self.setUp()
        self.assertEqual(here, self.key(COMMAND.replace('/src', f'{self.root}/src')))

    def test_no_key_where_the_build_does_not_tell_what_is_read(self):
        self.assertIsNone(self.key(COMMAND.replace('a.o', 'b.o')))  # stale
        self.assertIsNone(self.key(COMMAND.replace('a.o', 'c.o')))  # not built
        self.write('src/a.h', 'src/a.h', seconds=3)  # newer than the object
        self.assertIsNone(self.key())
        (self.root / 'src/a.h').unlink()
        self.assertIsNone(self.key())

    def test_stamp_is_kept_for_a_month_after_its_last_use(self):
        stamps = lint.Stamps(self.root / 'stamps')
        stamps.add('a')
        stamps.add(None)
        self.write('stamps/b', '', seconds=1)
        self.assertTrue(stamps.knows('a'))
        self.assertFalse(stamps.knows(None))
        self.assertFalse(stamps.knows('c'))
        self.assertFalse(lint.Stamps(self.root / 'stamps').knows('b'))

    def test_sources_with_the_same_flags_are_looked_at_together(self):
        flags = {f'/src/{n}.cc': ('-Ia',) for n in range(5)} | {'/src/x.cc': ('-Ib',)}
        found = lint.batches(flags, flags, most=3)
        self.assertEqual([len(some) for some in found], [3, 2, 1])
        self.assertEqual(sorted(sum(found, [])), sorted(flags))

    def test_flags_exclude_compiler_source_and_object(self):
        command = f'/usr/bin/ccache {COMMAND} -DX="a b"'
        self.assertEqual(lint.flags_of(command, '/src/a.cc'), ('-O0', '-DX=a b'))

    def test_findings_are_those_of_each_alone(self):
        """A fault in a batch is found too, and reported for its source."""
        if not shutil.which(lint.TOOL):
            self.skipTest(f'not installed: {lint.TOOL}')
        self.write('.clang-tidy', "Checks: '-*,bugprone-*'\nWarningsAsErrors: '*'\n")
        self.write('src/good.cc', 'namespace { int same() { return 1; } }\n')
        self.write('src/alike.cc', 'namespace { int same() { return 2; } }\n')
        self.write('src/bad.cc', 'int f(int a) { if (a) { return 1; } else { return 1; } }\n')
        names = [str(self.root / f'src/{name}.cc') for name in ('good', 'alike', 'bad')]
        entries = [{'file': name, 'directory': str(self.root / 'build/clang'),
                    'command': f'clang++ -o {name}.o -c {name}'} for name in names]
        self.write('build/clang/compile_commands.json', json.dumps(entries))
        self.assertTrue(lint.is_clean(self.root, names[:1], ()))
        self.assertFalse(lint.is_clean(self.root, names[::2], ()))
        good, alike, bad = lint.lint_batch(self.root, names, ())
        self.assertEqual((good, alike), ('', ''))
        self.assertIn('bugprone-branch-clone', bad)


if __name__ == '__main__':
    unittest.main()
