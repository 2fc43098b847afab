#!/usr/bin/env python3
"""Checks the rules of the house that neither the compiler nor clang-tidy checks.

usage: tidy.py [REPOSITORY]

The layer table is read from ARCHITECTURE.md and compared with CMakeLists.txt and the tree, so that
the document, the build and the code cannot differ. Prints one finding a line; the exit status is 1
if there is any.
"""
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import retired_words  # noqa: E402
import test_rules  # noqa: E402

COLUMNS_MAX, FILE_LINES_MAX, FOLDER_FILES_MAX = 100, 600, 36
LAYER_FILES_MAX = 40  # of a layer without a README.md
CODE = ('.h', '.cc')
# What a person writes and reads besides; generated pages are as long as their source.
WRITTEN = ('.py', '.sh', '.mjs', '.ts', '.svelte', '.css', '.md')
GENERATED = ('docs/reference/events.md', 'docs/reference/configuration.md', 'CHANGELOG.md')

# | `layer` | may include | holds | names | I/O |
ROW = re.compile(r'^\|\s*`([\w/]+)`\s*\|([^|]*)\|[^|]*\|([^|]*)\|([^|]*)\|\s*$')
QUOTED = re.compile(r'`([^`]+)`')
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
ADD_LAYER = re.compile(r'^\s*add_layer\(([\w/]+)([^)]*)\)', re.M)

# What a pure layer may not name: time, chance, threads, files, sockets, environment, terminals. A
# mutex may be in one: on one thread, as in the simulation, it changes nothing.
IMPURE = re.compile(
    r'\b(\w+_clock::now|random_device|this_thread|std::j?thread|std::async\b|std::atomic|'
    r'condition_variable|clock_gettime|gettimeofday|time\(nullptr\)|getenv|std::rand\b|'
    r'std::cout|std::cerr|'
    r'[io]?fstream)\b|(?<![\w>])::(open|read|write|socket|connect|fsync|unlink)\('
)
# Libraries that only tests use.
TEST_LIBRARIES = ('gtest', 'gmock', 'rapidcheck', 'rapidcheck.h', 'benchmark')
# (pattern, why, layers that may all the same). The first are looked for in comments, too.
IN_COMMENTS = 2
BANNED = (
    (re.compile(r'\b(TO' r'DO|FIX' r'ME|XX' r'X|HA' r'CK)\b'), 'left over', ()),
    (re.compile(r'\b(design/\d\d|[Ss]pec 00\d)\b'), 'not in the repository; see docs/design', ()),
    (re.compile(r'using namespace std\b(?!::\w*literals)'), 'qualify names', ()),
    (re.compile(r'\bco_(await|return|yield)\b'), 'g++ 12 destroys its temporaries twice', ()),
    (re.compile(r'(?<!\w)alive_\b|\bshared_ptr<bool> \w+_\b'), 'Scope (base/scope.h) guards', ()),
    (re.compile(r'(?<![\w:])assert\('), 'CHECK (base/check.h) stays on in release', ()),
    (
        re.compile(r'catch \(\.\.\.\)'),
        'only where the code of others is called',
        ('agent', 'tool', 'io', 'runtime', 'app'),
    ),
    (re.compile(r'\bDISABLED_|EXPECT_TRUE\(true\)'), 'a test that cannot fail', ()),
)

PROSE = ('.h', '.cc', *WRITTEN)
RETIRED = retired_words.compiled()
RETIRED_IDENTIFIERS = retired_words.compiled_identifiers()
NO_IDENTIFIERS = re.compile(r'R"\(.*?\)"|"(?:\\.|[^"\\])*"|//.*$')  # literals and comments


class Layer:
    def __init__(self, deps, names, pure):
        self.deps, self.names, self.pure = deps, names, pure
        self.test_deps = set()


def read_table(text):
    """The layers of ARCHITECTURE.md by name. `all` stands for every other layer."""
    rows = [m for m in map(ROW.match, text.splitlines()) if m]
    every = {m[1] for m in rows}
    table = {}
    for row in rows:
        deps = every - {row[1]} if row[2].strip() == 'all' else set(QUOTED.findall(row[2]))
        table[row[1]] = Layer(deps, QUOTED.findall(row[3]), row[4].strip() == 'pure')
    return table


def read_build(text):
    """{layer: {'IN': [folder], 'DEPS': [...], ...}} of the add_layer lines of CMakeLists.txt."""
    layers = {}
    for match in ADD_LAYER.finditer(text):
        words, part = {}, None
        for word in match[2].split():
            if word in ('IN', 'DEPS', 'LINK', 'TEST_DEPS', 'TEST_LINK'):
                part = words.setdefault(word, [])
            elif word != 'HOT':
                part.append(word)
        layers[match[1]] = words
    return layers


def check_table(table, build, root, emit):
    for name in sorted(table.keys() ^ build.keys()):
        emit(f'{name}: is not both in ARCHITECTURE.md and in CMakeLists.txt')
    for name in sorted(table.keys() & build.keys()):
        declared = set(build[name].get('DEPS', []))
        if declared != table[name].deps:
            different = ' '.join(sorted(declared ^ table[name].deps))
            emit(f'{name}: CMakeLists.txt and ARCHITECTURE.md differ about its layers: {different}')
        table[name].test_deps = set(build[name].get('TEST_DEPS', []))
    for name, layer in table.items():
        layer.place = '/'.join([*build.get(name, {}).get('IN', []), name])
        home = root / 'src' / layer.place
        if not any(home.rglob('*.h')) and not any(home.rglob('*.cc')):
            emit(f'{name}: there is no such folder with code: src/{layer.place}')
        for dep in sorted(layer.deps - table.keys()):
            emit(f'{name}: may include {dep}, which is no layer')
    check_acyclic(table, emit)


def check_acyclic(table, emit):
    done, path = set(), []

    def visit(name):
        if name in path:
            emit(f'cycle: {" -> ".join(path + [name])}')
        elif name not in done and name in table:
            path.append(name)
            for dep in sorted(table[name].deps):
                visit(dep)
            path.pop()
            done.add(name)

    for name in table:
        visit(name)


def under(path, prefixes):
    """The longest of `prefixes` that is `path` or a folder that holds it, or None."""
    return max(
        (p for p in prefixes if path == p or path.startswith(p + '/')), key=len, default=None
    )


def is_test(path):
    """Tests, benchmarks, and the headers that only they include."""
    return bool(
        re.search(r'(_(test|bench|fixture)\.(cc|h)|/conformance\.h|/test_\w+\.h)$', str(path))
    )


def check_layer_include(target, layer_name, table, test, emit):
    layer, other = table[layer_name], under(target, table)
    if (
        other
        and other != layer_name
        and other not in layer.deps | (layer.test_deps if test else set())
    ):
        emit(f'{layer_name} may not include {other}')


def check_library_include(target, layer_name, table, test, emit):
    layer = table[layer_name]
    known = {name for each in table.values() for name in each.names}
    library = under(target, known | set(TEST_LIBRARIES))
    if under(target, ('dormouse',)):
        return
    if library in TEST_LIBRARIES:
        if not test:
            emit(f'<{target}> is for tests')
    elif library:
        if library not in layer.names:
            emit(f'{layer_name} does not name {library} (ARCHITECTURE.md, "names")')
    elif target.endswith('.hpp'):
        emit(f'<{target}> is named by no layer (ARCHITECTURE.md, "names")')
    elif target.endswith('.h') and layer.pure and not test:
        emit(f'{layer_name} is pure: <{target}>')


def check_includes(lines, layer_name, table, test, emit):
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        here = lambda text, number=number: emit(number, text)  # noqa: E731
        if match[1] == '<':
            check_library_include(match[2], layer_name, table, test, here)
        elif '..' in match[2] or '/' not in match[2]:
            here('write the include from src/')
        else:
            check_layer_include(match[2], layer_name, table, test, here)


def check_own_header(path, lines, emit):
    """A source begins with its header, so that compiling it shows that the header stands alone."""
    header = path.with_suffix('.h')
    if path.suffix != '.cc' or not header.exists():
        return
    named = ((number, m[2]) for number, m in enumerate(map(INCLUDE.match, lines), 1) if m)
    first = next(named, (1, ''))
    if not str(header).endswith('/' + first[1]):
        emit(first[0], 'a source includes its own header first')


def check_public_includes(lines, emit):
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match and (match[1] == '"' or ('.' in match[2] and not under(match[2], ('dormouse',)))):
            emit(number, 'a public header includes <dormouse/...> and the standard library alone')


def blank(code):
    """`code` with comments and literals blanked out, every offset and line kept."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'',
        re.S,
    )
    return pattern.sub(lambda m: re.sub(r'[^\n]', ' ', m[0]), code)


def check_words(lines, plain, layer_name, pure, emit):
    for number, (line, code) in enumerate(zip(lines, plain), 1):
        if len(line) > COLUMNS_MAX and '://' not in line and not INCLUDE.match(line):
            emit(number, f'over {COLUMNS_MAX} columns')
        for index, (pattern, why, allowed) in enumerate(BANNED):
            found = pattern.search(
                line if index < IN_COMMENTS else code
            )
            if found and layer_name not in allowed:
                emit(number, f'{found[0]!r} is banned: {why}')
        found = pure and IMPURE.search(code)
        if found:
            emit(number, f'{layer_name} is pure: {found[0]}')


def check_file(path, root, table, findings):
    relative = path.relative_to(root)
    emit = lambda number, text: findings.append(f'{relative}:{number}: {text}')  # noqa: E731
    code = path.read_text()
    lines, text = code.splitlines(), blank(code)
    plain = text.splitlines()
    if len(lines) > FILE_LINES_MAX:
        emit(1, f'over {FILE_LINES_MAX} lines')
    if path.suffix == '.h' and not code.startswith('#pragma once\n'):
        emit(1, 'a header begins with #pragma once')
    layer_name, pure = None, False
    if relative.parts[0] == 'src':
        places = {layer.place: name for name, layer in table.items()}
        layer_name = places.get(under(str(pathlib.Path(*relative.parts[1:])), places))
        if layer_name is None:
            return emit(1, 'its folder is not in ARCHITECTURE.md')
        pure = table[layer_name].pure and not is_test(path)
        check_includes(lines, layer_name, table, is_test(path), emit)
        check_own_header(path, lines, emit)
    elif relative.parts[0] == 'include':
        check_public_includes(lines, emit)
    check_words(lines, plain, layer_name, pure, emit)


def files_in(folder):
    """What is ours: not what npm puts there."""
    made = {'node_modules', 'dist', 'build', '__pycache__'}
    return sorted(p for p in folder.rglob('*') if not made & set(p.relative_to(folder).parts))


def check_lengths(root, findings):
    folders = ('tests', 'tools', 'bench', 'verification', 'web', 'clients', 'docs')
    paths = [p for p in root.glob('*.md')] + [p for f in folders for p in files_in(root / f)]
    for path in sorted(p for p in paths if p.suffix in WRITTEN and p.is_file()):
        name = path.relative_to(root).as_posix()
        if name.endswith('.gen.ts') or name in GENERATED:
            continue
        lines = path.read_text().count('\n')
        if lines > FILE_LINES_MAX:
            findings.append(f'{name}:1: over {FILE_LINES_MAX} lines')


def check_folders(root, findings):
    """A folder that a reader can take in. Generated and embedded files count, a README does not."""
    for folder in [root / 'src', *(path for path in (root / 'src').rglob('*') if path.is_dir())]:
        count = sum(path.is_file() and path.name != 'README.md' for path in folder.iterdir())
        if count > FOLDER_FILES_MAX:
            findings.append(f'{folder.relative_to(root)}: has {count} files, more than '
                            f'{FOLDER_FILES_MAX}: group them in folders')


def check_readmes(table, root, findings):
    """A layer of many files says what it is for, what it may include and where to start."""
    for name, layer in table.items():
        home = root / 'src' / layer.place
        count = sum(path.suffix in CODE for path in files_in(home))
        if count > LAYER_FILES_MAX and not (home / 'README.md').is_file():
            findings.append(f'src/{layer.place}: the layer {name} has {count} source files, more '
                            f'than {LAYER_FILES_MAX}: write a README.md')


def check_scripts(root, findings):
    scripts = [root / name for name in ('run', 'test', '.ci/run', 'CMakeLists.txt')]
    for folder in ('cmake', 'tools', 'tests'):
        scripts += [p for p in files_in(root / folder) if p.suffix in ('.py', '.sh', '.cmake')]
    for path in sorted(p for p in scripts if p.exists()):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if len(line) > COLUMNS_MAX and '://' not in line:
                findings.append(f'{path.relative_to(root)}:{number}: over {COLUMNS_MAX} columns')
        if path.read_text().startswith('#!') and not os.access(path, os.X_OK):
            findings.append(f'{path.relative_to(root)}:1: not executable, and so never run')


def check_retired(root, findings):
    pages = [p for p in root.glob('*.md')]
    for folder in ('include', 'src', 'tests', 'bench', 'examples', 'docs', 'tools', 'verification',
                   'web', 'clients', 'packaging', 'cmake'):
        pages += [p for p in files_in(root / folder) if p.suffix in PROSE and p.is_file()]
    for path in sorted(pages):
        name = path.relative_to(root).as_posix()
        if name in retired_words.LEFT_OUT:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for pattern, instead, excepted in RETIRED:
                found = pattern.search(line)
                if found and not any(name.startswith(place) for place, _ in excepted):
                    findings.append(f'{name}:{number}: {found[0]!r} is retired: write {instead}')


def check_retired_identifiers(root, findings):
    for path in sorted(p for folder in ('include', 'src') for p in files_in(root / folder)):
        name = path.relative_to(root).as_posix()
        if path.suffix not in ('.h', '.cc') or 'test' in name:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = NO_IDENTIFIERS.sub('""', line)
            for pattern, instead, excepted in RETIRED_IDENTIFIERS:
                found = pattern.search(code)
                if found and not any(name.startswith(place) for place, _ in excepted):
                    findings.append(f'{name}:{number}: {found[0]!r} in a name: write {instead}')


def findings(root):
    found = []
    table = read_table((root / 'ARCHITECTURE.md').read_text())
    check_table(table, read_build((root / 'CMakeLists.txt').read_text()), root, found.append)
    for folder in ('include', 'src', 'tests', 'bench', 'examples'):
        for path in files_in(root / folder):
            if path.suffix in CODE:
                check_file(path, root, table, found)
    check_scripts(root, found)
    check_lengths(root, found)
    check_folders(root, found)
    check_readmes(table, root, found)
    check_retired(root, found)
    check_retired_identifiers(root, found)
    test_rules.check(root, lambda path, line, text: found.append(
        f'{path.relative_to(root).as_posix()}:{line}: {text}'))
    return found


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    found = findings(root.resolve())
    print('\n'.join(found) if found else 'tidy: nothing found')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
