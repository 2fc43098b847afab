#!/usr/bin/env python3
"""Plants each violation that tidy.py knows in a small tree: found, and nothing else with it."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True
import test_rules  # noqa: E402
import tidy  # noqa: E402

TABLE = '''
| layer | may include | holds | names | I/O |
| --- | --- | --- | --- | --- |
| `base` | none | values | | pure |
| `io` | `base` | threads | `boost/asio` | does I/O |
| `app` | all | main | | does I/O |
'''
BUILD = (
    'add_layer(base TEST_LINK rapidcheck)\nadd_layer(io DEPS base)\n'
    'add_layer(app HOT DEPS base\n io)\n'
)


class Tidy(unittest.TestCase):
    def findings(self, files, table=TABLE, build=BUILD):
        tree = {'src/base/a.cc': '', 'src/io/a.cc': '', 'src/app/a.cc': '', **files}
        tree.update({'ARCHITECTURE.md': table, 'CMakeLists.txt': build})
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in tree.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return tidy.findings(root)

    def expect(self, finding, code, name='src/io/x.cc', line=1):
        found = self.findings({name: code})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f'{name}:{line}: '), found[0])
        self.assertIn(finding, found[0])

    def expect_none(self, code, name='src/io/x.cc'):
        self.assertEqual(self.findings({name: code}), [])

    def test_clean_tree_has_no_findings(self):
        self.assertEqual(self.findings({}), [])

    def test_document_and_build_must_agree(self):
        found = self.findings({}, build=BUILD.replace('io DEPS base', 'io'))
        self.assertIn('CMakeLists.txt and ARCHITECTURE.md differ', found[0])
        self.assertIn('not both', self.findings({}, build=BUILD + 'add_layer(extra)\n')[0])

    def test_layers_form_no_cycle(self):
        found = self.findings(
            {},
            TABLE.replace('`base` | none', '`base` | `io`'),
            BUILD.replace('base TEST_LINK', 'base DEPS io TEST_LINK'),
        )
        self.assertIn('cycle', found[0])

    def test_comments_cite_documents_of_the_repository(self):
        self.expect('not in the repository', '// By design/' + '02, rule 3.\n')
        self.expect_none('// By docs/design/rules.md, rule 3.\n')

    def test_layer_in_a_group_is_found_there(self):
        grouped = BUILD.replace('add_layer(io ', 'add_layer(io IN node ')
        tree = {'src/node/io/x.cc': '#include "io/a.h"\n#include "app/a.h"\n'}
        found = self.findings(tree, build=grouped)
        self.assertEqual(len([each for each in found if 'io may not include app' in each]), 1)
        self.assertTrue(any('src/io/a.cc' in each and 'not in' in each for each in found), found)

    def test_every_folder_is_a_layer_and_every_layer_a_folder(self):
        self.expect('its folder is not in', '', 'src/stray/x.cc')
        found = self.findings(
            {},
            TABLE + '| `gone` | none | x | | pure |\n',
            BUILD.replace('io)', 'io gone)') + 'add_layer(gone)\n',
        )
        self.assertIn('no such folder', found[0])

    def test_includes_follow_the_table(self):
        self.expect('base may not include io', '#include "io/a.h"\n', 'src/base/x.cc')
        self.expect('from src/', '#include "a.h"\n')
        self.expect('from src/', '#include "../base/a.h"\n')
        self.expect_none('#include <boost/asio/post.hpp>\n#include <unistd.h>\n#include <vector>\n')
        self.expect(
            'app does not name boost/asio',
            '#include <boost/asio.h>\n'.replace('asio.h', 'asio/post.hpp'),
            'src/app/x.cc',
        )
        self.expect('named by no layer', '#include <boost/uuid/uuid.hpp>\n')
        self.expect('is pure: <unistd.h>', '#include <unistd.h>\n', 'src/base/x.cc')
        self.expect('is for tests', '#include <gtest/gtest.h>\n')
        self.expect_none('#include <gtest/gtest.h>\n#include <unistd.h>\n', 'src/base/x_test.cc')

    def test_source_includes_its_own_header_first(self):
        tree = {'src/io/x.h': '#pragma once\n', 'src/io/x.cc': '#include <vector>\n'}
        (found,) = self.findings(tree)
        self.assertEqual(found, 'src/io/x.cc:1: a source includes its own header first')
        tree['src/io/x.cc'] = '#include "io/x.h"\n\n#include <vector>\n'
        self.assertEqual(self.findings(tree), [])

    def test_public_headers_stand_alone(self):
        self.expect(
            'public header', '#pragma once\n#include <fmt/core.h>\n', 'include/dormouse/x.h', 2
        )
        self.expect_none(
            '#pragma once\n#include <dormouse/id.h>\n#include <span>\n', 'include/dormouse/x.h'
        )

    def test_pure_layers_name_no_clock(self):
        self.expect_none("auto a = port::read(1);\n", "src/base/x.cc")
        self.expect("is pure", "auto a = ::read(1);\n", "src/base/x.cc")
        self.expect('is pure', 'auto t = std::chrono::system_clock::now();\n', 'src/base/x.cc')
        self.expect_none('// system_clock::now() is for io\nauto s = "getenv";\n', 'src/base/x.cc')
        self.expect_none('auto t = std::chrono::system_clock::now();\n', 'src/base/x_test.cc')

    def test_sizes(self):
        self.expect('over 100 columns', '// ' + 'ä' * 98 + '\n')
        self.expect_none('// ' + 'ä' * 97 + '\n')
        self.expect('over 600 lines', ';\n' * 601)
        self.expect_none(';\n' * 600)

    def test_program_that_nobody_can_start(self):
        self.expect('never run', '#!/usr/bin/env python3\n', 'tests/x.py')

    def test_banned_words(self):
        self.expect('left over', '// TO' + 'DO: later\n')
        self.expect('is banned', 'using namespace std;\n')
        self.expect('is banned', 'Task f() { co_return; }\n')
        self.expect('is banned', 'void f() { assert(true); }\n')
        self.expect('Scope (base/scope.h)', 'loop.post([this, alive = alive_] {});\n')
        self.expect('Scope (base/scope.h)', 'std::shared_ptr<bool> here_ = make();\n')
        self.expect_none('keep_alive_ = false;\n')
        self.expect_none('static_assert(true);\nauto s = "std::endl";\n')
        self.expect('#pragma once', 'int a;\n', 'src/io/x.h')
        handler = 'void f() { try { g(); } catch (...) { h(); } }\n'
        self.expect('the code of others', handler, 'src/base/x.cc')
        self.expect_none(handler)

    def test_folder_has_about_thirty_files(self):
        files = {f'src/io/f{n}.cc': '' for n in range(tidy.FOLDER_FILES_MAX)}
        self.assertEqual(self.findings(files), ['src/io: has 37 files, more than 36: group them in '
                                                'folders'])
        files = {f'src/io/f{n}.cc': '' for n in range(1, tidy.FOLDER_FILES_MAX)}
        self.assertEqual(self.findings({**files, 'src/io/README.md': ''}), [])

    def test_layer_of_many_files_has_a_readme(self):
        code = {f'src/io/{n % 2}/f{n}.{"h" if n % 3 else "cc"}': '#pragma once\n'
                for n in range(tidy.LAYER_FILES_MAX)}
        missing = ['src/io: the layer io has 41 source files, more than 40: write a README.md']
        self.assertEqual(self.findings(code), missing)
        self.assertEqual(self.findings({**code, 'src/io/0/README.md': ''}), missing)
        self.assertEqual(self.findings({**code, 'src/io/README.md': ''}), [])
        self.assertEqual(self.findings({**code, 'src/app/README.md': ''}), missing)
        del code['src/io/0/f0.cc']
        self.assertEqual(self.findings({**code, 'src/io/x.md': '', 'src/io/x.sql': ''}), [])

    def test_readme_of_a_layer_in_a_group_is_in_its_folder(self):
        grouped = BUILD.replace('add_layer(io ', 'add_layer(io IN node ')
        code = {f'src/node/io/{n % 2}/f{n}.cc': '' for n in range(41)}
        found = self.findings({**code, 'src/node/README.md': ''}, build=grouped)
        self.assertIn('src/node/io: the layer io has 41 source files, more than 40: write a '
                      'README.md', found)

    def test_wait_in_a_test_has_a_reason(self):
        self.expect('a wait for time', 'time.sleep(1)\n', 'tests/x.py')
        self.expect('a wait for time', 'i = 1\nwhile x: time.sleep(0.1)\n', 'tests/x.py', line=2)
        self.expect('a wait for time', 'select.select([], [], [], 0.1)\n', 'tests/x.py')
        self.expect('a wait for time', 'threading.Event().wait(3)\n', 'tests/x.py')
        self.expect('a wait for time', 'wait_for_fault(3)\n', 'tests/x.py')
        self.expect('a wait for time', 'sleep_for(1ms);\n', 'src/io/x_test.cc')
        wait = 'await new Promise((done) => setTimeout(done, 9));\n'
        self.expect('a wait for time', wait, 'web/test/x.test.ts')
        self.expect('a wait for time', 'await page.waitForTimeout(9);\n', 'web/test/x.spec.ts')
        self.expect_none('test.setTimeout(9);\n', 'web/test/x.spec.ts')
        self.expect_none('time.sleep(1)  # a slow reader\n', 'tests/x.py')
        self.expect_none('# A slow reader.\ntime.sleep(1)\n', 'tests/x.py')
        self.expect_none('time.sleep(1)\n', 'bench/x.py')

    def test_waits_in_all_tests_are_limited(self):
        wait = 'time.sleep(1)  # a slow reader\n'
        self.expect_none(wait * test_rules.WAITS_MAX, 'tests/x.py')
        self.expect('wait number 11', wait * 11, 'tests/x.py', line=11)

    def test_assertion_on_elapsed_time_has_a_reason(self):
        late = 'self.assertLess(time.monotonic() - begin, 5)\n'
        self.expect('elapsed time', late, 'tests/x.py')
        self.expect('elapsed time', 'EXPECT_LT(steady_clock::now() - begin, 5s);\n',
                    'src/io/x_test.cc')
        self.expect_none('# The client\'s own wait.\n' + late, 'tests/x.py')
        self.expect('assertion number 11', ('# why\n' + late) * 11, 'tests/x.py', line=22)

    def test_names_of_tests(self):
        for macro in ('TEST', 'TEST_F', 'RC_GTEST_PROP'):
            end = ', ()) {}\n' if macro.startswith('RC') else ') {}\n'
            self.expect('Subject_Condition', f'{macro}(Io, Reads{end}', 'src/io/x_test.cc')
            self.expect('Subject_Cond', f'{macro}(Io, A_{"x" * 60}{end}', 'src/io/x_test.cc')
            self.expect_none(f'{macro}(Io, Loop_Reads{end}', 'src/io/x_test.cc')
        self.expect('at most 60', f'def test_{"x" * 56}():\n    pass\n', 'tests/x.py')
        self.expect('begin with its subject', 'def test_it_reads():\n    pass\n', 'tests/x.py')
        article = 'def test_a1_' + 'the_end():\n    pass\n'
        self.expect('begin with its subject', article, 'tests/x.py')
        self.expect_none('def test_reader_reads():\n    pass\n', 'tests/x.py')
        self.expect('at most 60', f"  it('{'x' * 61}', f);\n", 'web/test/x.test.ts')

    def test_functions_and_files_of_scripts_are_short(self):
        body = '    a = 1\n'
        self.expect('f: over 60 lines', 'def f():\n' + body * 60, 'tests/x.py')
        self.expect_none('def f():\n' + body * 59, 'tests/x.py')
        for name in ('tests/x.py', 'web/src/x.css', 'web/src/x.svelte', 'docs/x.md'):
            self.expect('over 600 lines', '\n' * 601, name)
        self.expect_none('\n' * 601, 'docs/reference/events.md')

    def test_retired_words(self):
        self.expect("'can not' is retired: write cannot", '// It can ' + 'not end.\n')
        self.expect('is retired: write cannot', 'auto a = "it can ' + 'not end";\n')
        self.expect('retired', 'It is made an' + 'ew.\n', 'docs/page.md')
        self.expect('retired', "WHY = 'the gate is not " + "there'\n", 'tests/x.py')
        self.expect('retired', 'struct Ver' + 'dict {};\n')
        self.expect('retired', 'struct TurnVer' + 'dict {};\n')
        self.expect_none('// It cannot end. A verdictless end. Renewed.\n')

    def test_retired_identifiers(self):
        self.expect("'told' in a name: write notified", 'bool told_ = false;\n')
        self.expect("'said' in a name", 'int is_said_once();\n')
        self.expect_none('auto a = "it was said";  // as heard\nint aforesaid;\n')
        self.expect_none('bool told_ = false;\n', 'src/io/x_test.cc')

    def test_retired_words_that_are_stored_and_in_the_glossary(self):
        word = 'dis' + 'own'
        self.expect('write outstanding', f'auto a = "{word}";\n')
        stored = {'src/core/wire/x.cc': f'auto a = "{word}";\n'}
        self.assertFalse([each for each in self.findings(stored) if 'retired' in each])
        self.assertEqual(self.findings({'docs/glossary.md': f'`{word}`\n'}), [])


if __name__ == '__main__':
    unittest.main()
