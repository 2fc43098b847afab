#!/usr/bin/env python3
"""docs/errors/ has one page for each code of src/core/base/error.cc, with its status line and its
row in the index, and no page more. Exit status 1 and a list if not."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(
    r'CodeInfo\{\s*Code::(\w+),\s*"(\w+)",\s*Next::(\w+),\s*(\d+),\s*(\d+),\s*"([^"]*)"\s*\}'
)
ENUM = re.compile(r'enum class Code\b[^{]*\{([^}]*)\}')


def read_codes(root):
    """[(code, next, http, exit, title)]"""
    rows = ROW.findall((root / 'src/core/base/error.cc').read_text())
    return [(text, *rest) for name, text, *rest in rows if name == text]


def read_names(root):
    body = ENUM.search((root / 'include/dormouse/error.h').read_text())[1]
    return set(re.findall(r'\w+', re.sub(r'//.*', '', body)))


def check_page(page, code, found):
    text, following, http, exit_status, title = code
    if not page.exists():
        return found.append(f'missing: {page.name}')
    lines = page.read_text().splitlines()
    status = f'HTTP {http} · exit status {exit_status} · next: {following}'
    if lines[:1] != [f'# {text}']:
        found.append(f'{page.name}: the first line must be "# {text}"')
    if lines[2:3] != [status]:
        found.append(f'{page.name}: the third line must be "{status}"')
    if lines[4:5] != [f'{title}.']:
        found.append(f'{page.name}: the fifth line must be the title, "{title}."')
    if not any(line.strip() for line in lines[5:]):
        found.append(f'{page.name}: says nothing about when it happens')


def read_uses(root):
    """Returns the codes that sources use, besides the table."""
    sources = [
        p
        for folder in ('src', 'include')
        for p in (root / folder).rglob('*')
        if p.suffix in ('.cc', '.h')
        and not p.stem.endswith(('_test', '_fuzz'))
        and p.name != 'error.cc'
    ]
    return {name for p in sources for name in re.findall(r'\bCode::(\w+)', p.read_text())}


def check_occurs(codes, uses, found):
    found += [f'{text}: no source gives this code' for text, *_ in codes if text not in uses]


def check_index(folder, codes, found):
    index = (folder / 'README.md').read_text()
    for text, following, http, exit_status, title in codes:
        row = f'| [{text}]({text}.md) | {http} | {exit_status} | {following} | {title}'
        if row not in index:
            found.append(f'README.md: missing "{row}"')


def findings(root):
    folder, codes, found = root / 'docs/errors', read_codes(root), []
    unread = read_names(root) ^ {code[0] for code in codes}
    if unread or not codes:
        found.append(f'enumeration and table differ, or were not understood: {sorted(unread)}')
    for code in codes:
        check_page(folder / f'{code[0]}.md', code, found)
    known = {f'{code[0]}.md' for code in codes} | {'README.md'}
    found += [f'superfluous: {p.name}' for p in sorted(folder.iterdir()) if p.name not in known]
    check_index(folder, codes, found)
    check_occurs(codes, read_uses(root), found)
    return found


def test_each_error_code_has_its_page():
    assert main() == 0


def main():
    found = findings(ROOT)
    print('\n'.join(found) if found else f'{len(read_codes(ROOT))} codes, each with its page')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
