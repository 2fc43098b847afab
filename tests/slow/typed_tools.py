#!/usr/bin/env python3
"""The public headers of typed tools (include/dormouse/tool.h) from outside, with each installed
compiler: invalid programs do not compile, and the error says why in a sentence; the program of
docs/how-to/typed-tools.md compiles without a warning; so does an include of each header alone;
compile time is limited."""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / 'docs/how-to/typed-tools.md'
# A program that embeds the library may enable all warnings; only its own code may cause them.
FLAGS = ['-std=c++23', '-O0', '-Wall', '-Wextra', '-Wconversion', '-Wno-sign-conversion', '-Werror',
         '-I', str(ROOT / 'include')]
COMPILE_S_MAX = 4.0  # processor time, also on a busy machine; about 1.5 on an idle one

# For each program: the sentence of its error, and its code.
WRONG = {
    'this type has no JSON form: use bool, an integer': 'struct In { std::set<int> a; };',
    'a pointer has no JSON form': 'struct In { std::unique_ptr<int> a; };',
    'a C array has no JSON form': 'struct In { int before; char name[8]; };',
    'of the floating-point types only double': 'struct In { float a; };',
    'a character has no JSON form': 'struct In { char a; };',
    'a string_view owns nothing': 'struct In { std::string_view a; };',
    'std::vector<bool> holds no bools': 'struct In { std::vector<bool> a; };',
    'an optional of a type that may be null makes null ambiguous':
        'struct In { std::optional<std::optional<int>> a; };',
    'a struct with a base class': 'struct Base { int b; }; struct In : Base { int a; };',
    'a struct that holds itself': 'struct In { std::vector<In> more; };',
    'at most 32 fields':
        'struct In { int ' + ', '.join(f'a{i}' for i in range(33)) + '; };',
    '`doc` describes a field that this struct does not have':
        'struct In { int a; static constexpr dormouse::Doc doc[] = {{"b", "?"}}; };',
    '`doc` has a rule that does not fit its field':
        'struct In { int a; static constexpr dormouse::Doc doc[] = '
        '{{"a", "", {.pattern = "x"}}}; };',
    'an enum in JSON has a fixed underlying type': 'enum Old { one }; struct In { Old a; };',
    'an enum in JSON has enumerators with values 0 to 63':
        'enum class Far { far = 100 }; struct In { Far a; };',
    'a duration in JSON counts whole milliseconds': 'struct In { std::chrono::nanoseconds a; };',
    'JSON cannot tell the alternatives of this variant apart':
        'struct In { std::variant<int, double> a; };',
    'two structs of this variant have the same tag':
        'struct A { static constexpr std::string_view tag = "x"; int a; };'
        'struct B { static constexpr std::string_view tag = "x"; int b; };'
        'struct In { std::variant<A, B> a; };',
    'a struct with a tag has no field `type`':
        'struct A { static constexpr std::string_view tag = "x"; int type; };'
        'struct In { std::variant<int, A> a; };',
    'two fields of this struct have one name': 'struct In { int a; int a_; };',
    "a tool's input is a plain struct": 'using In = int;',
}
WRONG_FUNCTIONS = {
    "a tool's function names its types": '[](auto const&) {}',
    'can be called when it is const': '[n = 0](In const&) mutable { ++n; }',
    'declare that the function returns NeedInput':
        '[](In const&) -> dormouse::Outcome<int> { return dormouse::NeedInput{1, "Which?"}; }',
    'declare that the function returns Pending':
        '[](In const&) -> dormouse::Outcome<int, dormouse::NeedInput> '
        '{ return dormouse::Pending{1}; }',
}
HEAD = '#include <dormouse/registry.h>\n#include <set>\n'


def compilers():
    found = [name for name in ('g++', 'clang++-19', 'clang++') if shutil.which(name)][:2]
    assert found, 'no compiler is here'
    return found


def compile_text(compiler, text, folder, *more):
    """Returns (exit status, output, processor seconds)."""
    source = pathlib.Path(folder) / 'program.cc'
    source.write_text(text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [compiler, *FLAGS, *more, '-c', str(source), '-o', str(source.with_suffix('.o'))],
        capture_output=True, text=True, check=False, env={**os.environ, 'LC_ALL': 'C'})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.returncode, done.stderr, seconds


def wrong_programs():
    for sentence, code in WRONG.items():
        yield sentence, code + ' int main() { (void)dormouse::tool("t", [](In const&) {}); }'
    for sentence, function in WRONG_FUNCTIONS.items():
        yield sentence, 'struct In { int a; }; int main() { (void)dormouse::tool("t", ' \
                        f'{function}); }}'


@pytest.mark.parametrize('compiler', compilers())
def test_invalid_types_do_not_compile_and_say_why(compiler, tmp_path):
    folder = tmp_path
    for sentence, program in wrong_programs():
        status, output, _ = compile_text(compiler, HEAD + program, folder, '-fsyntax-only')
        assert status != 0, f'this compiles: {program}'
        errors = [line for line in output.splitlines() if 'error' in line and sentence in line]
        assert errors, f'"{sentence}" is not said of: {program}\n{output[:3000]}'


@pytest.mark.parametrize('compiler', compilers())
def test_each_header_stays_alone(compiler, tmp_path):
    folder = tmp_path
    for header in sorted((ROOT / 'include/dormouse').glob('*.h')):
        status, output, _ = compile_text(compiler, f'#include <dormouse/{header.name}>\n', folder)
        assert status == 0, f'{header.name}:\n{output[:3000]}'


@pytest.mark.parametrize('compiler', compilers())
def test_program_of_the_how_to_compiles_without_warnings(compiler, tmp_path):
    folder = tmp_path
    blocks = re.findall(r'^```cpp\n(.*?)^```', PAGE.read_text(), re.M | re.S)
    assert blocks, 'the page has no program'
    seconds = []
    for block in blocks:
        status, output, took = compile_text(compiler, block, folder)
        assert status == 0, output[:3000]
        seconds.append(took)
    print(f'{compiler}: {max(seconds):.1f} s of processor time')
    assert max(seconds) <= COMPILE_S_MAX, f'{compiler} takes {max(seconds):.1f} s'


if __name__ == '__main__':
    sys.exit(pytest.main([__file__, '-v']))
