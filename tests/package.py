#!/usr/bin/env python3
"""The installed library: a project of its own finds it with CMake and with pkg-config."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from dormouse import BINARY, ROOT, environment, main  # noqa: E402

BUILD = pathlib.Path(BINARY).resolve().parent
EXAMPLE = ROOT / 'examples' / 'sync_tool.cc'
SAYS = 'It is 12 degrees in Oslo.\n'
PROJECT = '''cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(dormouse 0.1 REQUIRED)
add_executable(consumer %s)
target_link_libraries(consumer PRIVATE dormouse::dormouse)
'''
# What a program does not get with the library: a server, and the libraries that it is made of.
ABSENT = ('boost', 'sqlite', 'spdlog', 'toml', 'CLI11', 'valijson')
INSIDE = ('boost::', 'sqlite3_', 'spdlog::')


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix='dormouse-package-')
        cls.addClassCleanup(cls.folder.cleanup)
        cls.prefix = pathlib.Path(cls.folder.name, 'prefix')
        cls.run_tool('cmake', '--install', BUILD, '--prefix', cls.prefix)

    @staticmethod
    def run_tool(*arguments, **more):
        ended = subprocess.run([str(a) for a in arguments], text=True, capture_output=True,
                               timeout=300, env=environment(**more))
        assert ended.returncode == 0, f'{arguments}: {ended.stdout}{ended.stderr}'
        return ended.stdout

    def found(self, pattern):
        return sorted(self.prefix.rglob(pattern))

    def test_a_project_finds_it_with_cmake(self):
        home = pathlib.Path(self.folder.name, 'cmake')
        home.mkdir()
        (home / 'CMakeLists.txt').write_text(PROJECT % EXAMPLE)
        self.run_tool('cmake', '-S', home, '-B', home / 'build', '-G', 'Ninja',
                      f'-DCMAKE_PREFIX_PATH={self.prefix}')
        self.run_tool('cmake', '--build', home / 'build')
        self.assertEqual(self.run_tool(home / 'build' / 'consumer'), SAYS)

    def test_a_project_finds_it_with_pkg_config(self):
        [config] = self.found('dormouse.pc')
        flags = self.run_tool('pkg-config', '--cflags', '--libs', 'dormouse',
                              PKG_CONFIG_PATH=str(config.parent)).split()
        program = pathlib.Path(self.folder.name, 'plain')
        self.run_tool(os.environ.get('CXX', 'g++'), EXAMPLE, *flags, '-o', program)
        self.assertEqual(self.run_tool(program), SAYS)

    def test_each_installed_header_compiles_alone(self):
        headers = self.found('include/dormouse/*.h')
        self.assertGreaterEqual(len(headers), 10)
        for header in headers:
            with self.subTest(header.name):
                alone = pathlib.Path(self.folder.name, 'alone.cc')
                alone.write_text(f'#include <dormouse/{header.name}>\n' * 2)
                self.run_tool('g++', '-std=c++23', '-fsyntax-only', '-Wall', '-Wextra', '-Werror',
                              f'-I{self.prefix}/include', alone)

    def test_no_header_names_a_library_that_it_is_made_of(self):
        for header in self.found('include/dormouse/*.h'):
            for line in header.read_text().splitlines():
                if line.startswith('#include'):
                    self.assertFalse([name for name in ABSENT if name in line], (header, line))

    def test_the_library_shows_nothing_of_what_is_inside(self):
        [library] = [f for f in self.found('libdormouse.so*') if not f.is_symlink()]
        shown = self.run_tool('nm', '-DC', '--defined-only', library)
        self.assertIn('dormouse::v0::Runtime::open', shown)
        self.assertNotIn('Runtime::serve', shown)
        for inside in ('dormouse::runner::', 'dormouse::session::', *INSIDE):
            self.assertNotIn(f' T {inside}', shown)

    def test_a_program_that_serves_links_the_other_library(self):
        source = ROOT / 'examples' / 'embedding_with_server.cc'
        home = pathlib.Path(self.folder.name, 'serving')
        home.mkdir()
        (home / 'CMakeLists.txt').write_text(
            (PROJECT % source).replace('dormouse::dormouse', 'dormouse::serve'))
        self.run_tool('cmake', '-S', home, '-B', home / 'build', '-G', 'Ninja',
                      f'-DCMAKE_PREFIX_PATH={self.prefix}')
        self.run_tool('cmake', '--build', home / 'build')
        self.assertIn('answer: 200', self.run_tool(home / 'build' / 'consumer'))
        [config] = self.found('dormouse-serve.pc')
        flags = self.run_tool('pkg-config', '--libs', 'dormouse-serve',
                              PKG_CONFIG_PATH=str(config.parent))
        self.assertIn('-ldormouse-serve', flags)
        [library] = [f for f in self.found('libdormouse-serve.so*') if not f.is_symlink()]
        shown = self.run_tool('nm', '-DC', '--defined-only', library)
        self.assertIn('dormouse::v0::Runtime::serve', shown)
        for inside in ('dormouse::server::', 'dormouse::session::', *INSIDE):
            self.assertNotIn(f' T {inside}', shown)


if __name__ == '__main__':
    main()
