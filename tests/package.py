#!/usr/bin/env python3
"""The installed library: another project finds it with CMake and with pkg-config."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import pytest
from dormouse import BINARY, ROOT, environment, main  # noqa: E402

BUILD = pathlib.Path(BINARY).resolve().parent
EXAMPLE = ROOT / 'examples' / 'sync_tool.cc'
CACHE = BUILD / 'CMakeCache.txt'
# With sanitizers the library and the program must be of one compiler.
CXX = os.environ.get('CXX') or re.search(
    r'^CMAKE_CXX_COMPILER:\w+=(.*)$', CACHE.read_text(), re.MULTILINE)[1]
SAYS = 'It is 12 degrees in Oslo.\n'
PROJECT = '''cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(dormouse 0.1 REQUIRED)
add_executable(consumer %s)
target_link_libraries(consumer PRIVATE dormouse::dormouse)
'''
# What a program does not get with the library: a server, and the libraries it is made of.
ABSENT = ('boost', 'sqlite', 'spdlog', 'toml', 'CLI11', 'valijson')
# The whole interface: any other exported name could be used by mistake by a program with another
# Boost.
SHOWN = re.compile(r"(?:(?:vtable|VTT|typeinfo|typeinfo name) for )?dormouse::v0::"
                   r"|std::hash<dormouse::v0::SessionId>::")
# A program that uses Asio itself, next to the library that contains another one.
ASIO_USER = '''
#include <utility>  // which Boost 1.74 forgets
#include <boost/asio.hpp>
#include <boost/version.hpp>
#include <dormouse/dormouse.h>
#include <chrono>
#include <cstdio>

int main() {
    dormouse::Script script;
    script.otherwise().says("Good.");
    auto runtime = dormouse::Runtime::open(
        {.store = ":memory:", .agents = {{.name = "a", .model = script.model()}}});
    if (!runtime) return 1;
    boost::asio::io_context context;
    boost::asio::steady_timer timer(context, std::chrono::milliseconds(20));
    bool rang = false;
    timer.async_wait([&](boost::system::error_code const& error) { rang = !error; });
    auto const session = runtime->create({.agent = "a", .prompt = "hello"});
    if (!session || !runtime->wait_idle(*session)) return 2;
    context.run();
    std::printf("Boost %d, %s %s\\n", BOOST_VERSION, rang ? "rang" : "silent",
                runtime->last_reply(*session)->c_str());
}
'''

# Eight threads on one runtime: a sanitizer that sees only one side would report races.
THREADS = '''
#include <dormouse/dormouse.h>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

int main() {
    dormouse::Script script;
    script.otherwise().says("Good.");
    auto runtime = dormouse::Runtime::open(
        {.store = ":memory:", .agents = {{.name = "a", .model = script.model()}}});
    if (!runtime) return 1;
    std::atomic<int> ended = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i)
            threads.emplace_back([&] {
                for (int n = 0; n < 10; ++n) {
                    auto const session = runtime->create({.agent = "a", .prompt = "hello"});
                    if (session && runtime->wait_idle(*session)) ++ended;
                }
            });
    }
    std::printf("%d ended\\n", ended.load());
}
'''


# What it builds may not be in the compiler's cache.
pytestmark = pytest.mark.timeout(1_800)


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix='dormouse-package-')
        cls.addClassCleanup(cls.folder.cleanup)
        cls.prefix = pathlib.Path(cls.folder.name, 'prefix')
        cls.run_tool('cmake', '--build', BUILD)  # ./test -k builds the program alone
        cls.run_tool('cmake', '--install', BUILD, '--prefix', cls.prefix)

    @staticmethod
    def run_tool(*arguments, **more):
        ended = subprocess.run([str(a) for a in arguments], text=True, capture_output=True,
                               timeout=1_800, env=environment(**more))
        assert ended.returncode == 0, f'{arguments}: {ended.stdout}{ended.stderr}'
        return ended.stdout

    def found(self, pattern):
        return sorted(self.prefix.rglob(pattern))

    def test_project_finds_it_with_cmake(self):
        home = pathlib.Path(self.folder.name, 'cmake')
        home.mkdir()
        (home / 'CMakeLists.txt').write_text(PROJECT % EXAMPLE)
        self.run_tool('cmake', '-S', home, '-B', home / 'build', '-G', 'Ninja', *self.compiler(),
                      f'-DCMAKE_PREFIX_PATH={self.prefix}')
        self.run_tool('cmake', '--build', home / 'build')
        self.assertEqual(self.run_tool(home / 'build' / 'consumer'), SAYS)

    def built(self, name, *options, like=CACHE):
        """Builds the library alone, with the configuration that `like` caches and these options."""
        if not shutil.which('ccache'):
            self.skipTest('without ccache this compiles the whole library again')
        cache = like.read_text()
        same = [f'-D{key}={value}' for key, value in re.findall(
            r'^(CMAKE_BUILD_TYPE|CMAKE_C(?:XX)?_COMPILER|DORMOUSE_(?:SANITIZE|WERROR|TOGETHER))'
            r':\w+=(.*)$',
            cache, re.MULTILINE)]
        # As deep in the tree as the other builds, whose objects are in the cache.
        build = ROOT / 'build' / f'package-{name}'
        prefix = pathlib.Path(self.folder.name, f'{name}-prefix')
        ccache = {'CCACHE_BASEDIR': str(ROOT), 'CCACHE_NOHASHDIR': '1',
                  'HOME': os.environ.get('HOME', '/')}
        self.run_tool('cmake', '-S', ROOT, '-B', build, '-G', 'Ninja', *same,
                      '-DDORMOUSE_TESTS=OFF', '-DDORMOUSE_LIBRARY=ON', *options)
        self.run_tool('cmake', '--build', build, '--target', 'libdormouse', 'libdormouse-serve',
                      **ccache)
        self.run_tool('cmake', '--install', build, '--prefix', prefix)
        return prefix

    def test_consumer_of_the_archive_needs_no_shared_object(self):
        prefix = self.built('static', '-DDORMOUSE_STATIC=ON')
        self.assertEqual(list(prefix.rglob('libdormouse*.so*')), [])
        home = pathlib.Path(self.folder.name, 'static')
        home.mkdir()
        (home / 'CMakeLists.txt').write_text(PROJECT % EXAMPLE)
        self.run_tool('cmake', '-S', home, '-B', home / 'build', '-G', 'Ninja', *self.compiler(),
                      f'-DCMAKE_PREFIX_PATH={prefix}')
        self.run_tool('cmake', '--build', home / 'build')
        self.assertEqual(self.run_tool(home / 'build' / 'consumer'), SAYS)
        self.assertNotIn('libdormouse', self.run_tool('ldd', home / 'build' / 'consumer'))
        [config] = prefix.rglob('dormouse.pc')
        flags = self.run_tool('pkg-config', '--cflags', '--libs', 'dormouse',
                              PKG_CONFIG_PATH=str(config.parent)).split()
        program = pathlib.Path(self.folder.name, 'static-plain')
        self.run_tool(CXX, EXAMPLE, *flags, '-o', program)
        self.assertEqual(self.run_tool(program), SAYS)

    def test_sanitizers_of_a_consumer_see_the_library(self):
        """Runs where tests were built with a sanitizer before, so that the cache has the objects.
        """
        caches = [cache for cache in (ROOT / 'build').glob('?san/CMakeCache.txt')
                  if 'DORMOUSE_SANITIZE:' in cache.read_text()]
        if not caches:
            self.skipTest('no build with a sanitizer: cmake --preset tsan')
        for cache in caches:
            name = cache.parent.name
            with self.subTest(name):
                prefix = self.built(name, like=cache)
                source = pathlib.Path(self.folder.name, 'threads.cc')
                source.write_text(THREADS)
                [config] = prefix.rglob('dormouse.pc')
                flags = self.run_tool('pkg-config', '--cflags', '--libs', 'dormouse',
                                      PKG_CONFIG_PATH=str(config.parent)).split()
                self.assertTrue([f for f in flags if f.startswith('-fsanitize=')], flags)
                compiler = re.search(r'^CMAKE_CXX_COMPILER:\w+=(.*)$', cache.read_text(),
                                     re.MULTILINE)[1]
                program = pathlib.Path(self.folder.name, f'threads-{name}')
                self.run_tool(compiler, source, *flags, '-o', program)
                self.assertEqual(self.run_tool(program), '80 ended\n')

    @staticmethod
    def compiler():
        return [f'-DCMAKE_CXX_COMPILER={CXX}']

    def test_project_finds_it_with_pkg_config(self):
        [config] = self.found('dormouse.pc')
        flags = self.run_tool('pkg-config', '--cflags', '--libs', 'dormouse',
                              PKG_CONFIG_PATH=str(config.parent)).split()
        program = pathlib.Path(self.folder.name, 'plain')
        self.run_tool(CXX, EXAMPLE, *flags, '-o', program)
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

    def shown_by(self, name):
        """Returns the names that a library exports; all must belong to the interface."""
        [library] = [f for f in self.found(f'{name}.so*') if not f.is_symlink()]
        shown = [line.split(None, 2)[1:] for line in self.run_tool(
            'nm', '-DC', '--defined-only', library).splitlines()]
        self.assertEqual([name for _, name in shown if not SHOWN.match(name)], [])
        # A unique name is one in the whole process, whatever its visibility.
        self.assertEqual([name for kind, name in shown if kind == 'u'], [])
        return '\n'.join(name for _, name in shown)

    def test_library_shows_its_interface_and_nothing_else(self):
        shown = self.shown_by('libdormouse')
        self.assertIn('dormouse::v0::Runtime::open', shown)
        self.assertNotIn('Runtime::serve', shown)

    def asio_of_debian(self):
        """Returns the headers of Debian's default Boost, which is not the one the library is made
        of: unpacked separately, because the two packages cannot both be installed."""
        for root in (ROOT / 'build' / 'programs', pathlib.Path(self.folder.name, 'boost')):
            if (root / 'usr/include/boost/asio.hpp').exists():
                return root / 'usr/include'
        root.mkdir()
        fetched = subprocess.run(['apt-get', 'download', 'libboost1.74-dev'], cwd=root, text=True,
                                 capture_output=True, timeout=300)
        archives = list(root.glob('*.deb'))
        if fetched.returncode or not archives:
            self.skipTest(f'libboost1.74-dev cannot be fetched: {fetched.stderr.strip()[-200:]}')
        self.run_tool('dpkg', '-x', archives[0], root)
        return root / 'usr/include'

    def test_program_with_another_boost_keeps_its_own(self):
        include = self.asio_of_debian()
        source = pathlib.Path(self.folder.name, 'asio_user.cc')
        source.write_text(ASIO_USER)
        for name in ('dormouse', 'dormouse-serve'):
            [config] = self.found(f'{name}.pc')
            flags = self.run_tool('pkg-config', '--cflags', '--libs', name,
                                  PKG_CONFIG_PATH=str(config.parent)).split()
            program = pathlib.Path(self.folder.name, f'asio-{name}')
            self.run_tool(CXX, f'-I{include}', '-w', source, *flags, '-o', program)
            self.assertEqual(self.run_tool(program), 'Boost 107400, rang Good.\n', name)

    def test_program_that_serves_links_the_other_library(self):
        source = ROOT / 'examples' / 'embedding_with_server.cc'
        home = pathlib.Path(self.folder.name, 'serving')
        home.mkdir()
        (home / 'CMakeLists.txt').write_text(
            (PROJECT % source).replace('dormouse::dormouse', 'dormouse::serve'))
        self.run_tool('cmake', '-S', home, '-B', home / 'build', '-G', 'Ninja', *self.compiler(),
                      f'-DCMAKE_PREFIX_PATH={self.prefix}')
        self.run_tool('cmake', '--build', home / 'build')
        self.assertIn('answer: 200', self.run_tool(home / 'build' / 'consumer'))
        [config] = self.found('dormouse-serve.pc')
        flags = self.run_tool('pkg-config', '--libs', 'dormouse-serve',
                              PKG_CONFIG_PATH=str(config.parent))
        self.assertIn('-ldormouse-serve', flags)
        self.assertIn('dormouse::v0::Runtime::serve', self.shown_by('libdormouse-serve'))


if __name__ == '__main__':
    main()
