#!/usr/bin/env python3
"""The released binary (OpenSSF's list for C++): its address is random, writable memory is not
executable, tables of functions are read-only, and it links only libraries that Debian maintains."""
import re
import subprocess
import unittest

import unwind_table
from dormouse import BINARY, leave_out, main

# Debian's packages; each new one is one more to maintain.
LIBRARIES = {
    'libboost_json.so',
    'libc.so',
    'libcrypto.so',
    'libcurl.so',
    'libfmt.so',
    'libgcc_s.so',
    'libhiredis.so',
    'libm.so',
    'libpq.so',
    'libqrencode.so',
    'libre2.so',
    'libspdlog.so',
    'libssl.so',
    'libstdc++.so',
    'libutf8proc.so',
    'ld-linux-x86-64.so',
    'ld-linux-aarch64.so',
}


def readelf(*flags):
    return subprocess.run(
        ['readelf', '--wide', *flags, BINARY], capture_output=True, text=True, check=True
    ).stdout


class Hardening(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.symbols = readelf('--dyn-syms')
        if '__asan_init' in cls.symbols or '__tsan_init' in cls.symbols:
            leave_out('built with a sanitizer, and so without these')

    def test_address_space_is_randomized(self):
        self.assertRegex(readelf('--file-header'), r'Type: +DYN')

    def test_nothing_that_can_be_written_is_run(self):
        segments = re.findall(r'^ +([A-Z_]+) +0x.* ([RWE ]{3}) [0x]', readelf('--segments'), re.M)
        self.assertIn('GNU_STACK', [name for name, _ in segments])
        self.assertEqual([name for name, flags in segments if 'W' in flags and 'E' in flags], [])

    def test_function_tables_are_bound_at_start_and_read_only(self):
        self.assertIn('GNU_RELRO', readelf('--segments'))
        self.assertRegex(readelf('--dynamic'), r'BIND_NOW|FLAGS_1.*NOW')

    def test_copies_and_stacks_are_watched(self):
        for name in ('__stack_chk_fail', '__memcpy_chk'):
            self.assertIn(name, self.symbols)

    def test_no_library_is_looked_for_in_a_folder_of_its_own(self):
        self.assertNotRegex(readelf('--dynamic'), r'RPATH|RUNPATH')

    def test_libraries_are_those_that_debian_maintains(self):
        needed = re.findall(r'NEEDED.*\[(.*?\.so)', readelf('--dynamic'))
        self.assertEqual(sorted(set(needed) - LIBRARIES), [])

    def test_unwinder_finds_every_function(self):
        lost, functions = unwind_table.not_found(BINARY)
        self.assertGreater(functions, 1_000)
        self.assertEqual(lost, [], 'an exception that passes one of these ends the process')


if __name__ == '__main__':
    main()
