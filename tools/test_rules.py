"""Rules for tests that no compiler checks: names, waits for time, and the length of functions.

`check(root, emit)` calls `emit(path, line, text)` for each finding. `tools/tidy.py` runs it.
"""
import ast
import re

NAME_MAX = 60
FUNCTION_LINES_MAX = 60
# Waits for time in all tests together. A test that waits is slow, and fails on a slow machine:
# advance the server's clock, or wait for a condition. `wait_for_fault()` of tests/dormouse.py is
# one of them: the time that a fault lasts. Each use of it has a reason, too.
WAITS_MAX = 10
SLEEPS = r'\b(?:time\.sleep|sleep_for|sleep_until|usleep|nanosleep|waitForTimeout)\('
SELECTS = r'\bselect\(\[\], \[\], \[\], '
PROMISES = r'\bPromise(?:<\w+>)?\(.*\bsetTimeout\('
EVENTS = r'\bEvent\(\)\.wait\([\d.]'
WAIT = re.compile('|'.join((SLEEPS, SELECTS, PROMISES, EVENTS)))
# Assertions on elapsed time in all tests together: a slow machine breaks most of them. Each has a
# reason.
ELAPSED_MAX = 10
PYTHON_ELAPSED = r'\bassert\w*\b.*\b(?:monotonic|perf_counter|time\.time)\(\) - '
CPP_ELAPSED = r'\b(?:EXPECT|ASSERT)_\w+\(.*(?:steady_clock|system_clock)::now\(\)'
ELAPSED = re.compile('|'.join((PYTHON_ELAPSED, CPP_ELAPSED)))
FAULT = re.compile(r'(?<!def )\bwait_for_fault\(')
COMMENT = re.compile(r'(?:^|\s)(?:#|//) \w')
STARTS_WITH = re.compile(r'^test_(?:[a-f]\d+_)?(an?|the|it|they|what|that|of|at|on|by|to)_')
CPP_TEST = re.compile(r'^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\w+,\s*(\w+)\)', re.M)
RAPIDCHECK_TEST = re.compile(r'^\s*RC_GTEST_(?:FIXTURE_)?PROP\(\w+,\s*(\w+),', re.M)
WEB_TEST = re.compile(r"^\s*it\('([^']+)'", re.M)


def files(root, folder, suffixes):
    """What is ours: not what npm puts there."""
    return sorted(path for path in (root / folder).rglob('*')
                  if path.suffix in suffixes and 'node_modules' not in path.parts)


def line_of(text, offset):
    return text.count('\n', 0, offset) + 1


def check_waits(root, paths, emit):
    waits = 0
    for path in paths:
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines, 1):
            fault = FAULT.search(line) and path.suffix == '.py'
            if not fault and not WAIT.search(line):
                continue
            waits += not fault
            before = lines[number - 2] if number > 1 else ''
            if not COMMENT.search(line) and not before.strip().startswith(('#', '//')):
                emit(path, number, 'a wait for time without a comment that says why')
            if waits > WAITS_MAX:
                emit(path, number, f'wait number {waits} for time in tests; at most {WAITS_MAX}')


def check_elapsed(paths, emit):
    found = 0
    for path in paths:
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines, 1):
            if not ELAPSED.search(line):
                continue
            found += 1
            before = lines[number - 2] if number > 1 else ''
            if not COMMENT.search(line) and not before.strip().startswith(('#', '//')):
                emit(path, number, 'an assertion on elapsed time without a comment that says why')
            if found > ELAPSED_MAX:
                emit(path, number, f'assertion number {found} on elapsed time; at most '
                     f'{ELAPSED_MAX}')


def check_cpp_names(path, emit):
    text = path.read_text()
    for pattern in (CPP_TEST, RAPIDCHECK_TEST):
        for match in pattern.finditer(text):
            if len(match[1]) > NAME_MAX or '_' not in match[1]:
                emit(path, line_of(text, match.start()),
                     f'{match[1]}: must be Subject_Result or Subject_Condition_Result, at most '
                     f'{NAME_MAX} characters')


def check_web_names(path, emit):
    text = path.read_text()
    for match in WEB_TEST.finditer(text):
        if len(match[1]) > NAME_MAX:
            emit(path, line_of(text, match.start()),
                 f'{match[1]}: must be at most {NAME_MAX} characters')


def check_python(path, emit):
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if node.end_lineno - node.lineno >= FUNCTION_LINES_MAX:
            emit(path, node.lineno, f'{node.name}: over {FUNCTION_LINES_MAX} lines')
        if node.name.startswith('test_') and len(node.name) > NAME_MAX:
            emit(path, node.lineno, f'{node.name}: must be at most {NAME_MAX} characters')
        if STARTS_WITH.match(node.name):
            emit(path, node.lineno, f'{node.name}: must begin with its subject')


def check(root, emit):
    python = files(root, 'tests', {'.py'}) + files(root, 'tools', {'.py'})
    cpp = files(root, 'src', {'.cc', '.h'}) + files(root, 'tests', {'.cc', '.h'})
    cpp = [path for path in cpp if re.search(r'_test\.cc$|/test_\w+\.h$|_fixture\.h$', str(path))]
    web = files(root, 'web/test', {'.ts'})
    tests = files(root, 'tests', {'.py', '.mjs', '.ts'}) + cpp + web
    check_waits(root, tests, emit)
    check_elapsed(tests, emit)
    for path in python + files(root, 'bench', {'.py'}) + files(root, 'verification', {'.py'}):
        check_python(path, emit)
    for path in cpp:
        check_cpp_names(path, emit)
    for path in web:
        check_web_names(path, emit)
