#!/usr/bin/env python3
"""Writes the tables of docs/reference/typescript-client.md and python-client.md from the comments
and docstrings of the clients.

    tools/client_pages.py

tests/client_packages.py compares them."""
import ast
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
REFERENCE = ROOT / 'docs/reference'
TYPESCRIPT = ROOT / 'clients/typescript/src'
PYTHON = ROOT / 'clients/python/dormouse'
BEGIN, END = '<!-- made by tools/client_pages.py: {} -->', '<!-- end -->'
COMMENT = r'/\*\*((?:(?!\*/).)*)\*/\s*'
CLASS = re.compile(COMMENT + r'export (?:class|function|interface) (\w+)', re.S)


def one_line(text):
    return ' '.join(re.sub(r'^\s*\*', ' ', text, flags=re.M).split()).replace('|', '\\|')


def arguments_of(text):
    """The names of the required arguments of a TypeScript method."""
    depth, names, start = 0, [], True
    for word in re.findall(r'\w+\??:|[{}(<>)\[\],]', text):
        if word in '{(<[':
            depth += 1
        elif word in '})>]':
            depth -= 1
        elif word == ',':
            start = start or depth == 0
        elif start and depth == 0:
            names.append(word.rstrip(':'))
            start = False
    return names


def typescript_rows():
    """[(group, method, text)] of the class Client."""
    rows, group = [], ''
    core, text = ((TYPESCRIPT / f'{name}.ts').read_text() for name in ('caller', 'client'))
    core = core[core.index('export class Caller'):]
    core = core[:core.index('protected async *pages')]
    body = core + text[text.index('export class Client'):]
    pattern = re.compile(
        r'^  // ---- (?P<group>[^\n]*)$|^  ' + COMMENT.replace('((', '(?P<about>(', 1)
        + r'(?:override )?(?:async )?\*?(?P<name>\w+)(?:<[^(]*>)?\(', re.S | re.M)
    for match in pattern.finditer(body):
        if match['group']:
            group = match['group']
        else:
            rest = body[match.end():]
            rest = rest[:re.search(r'\): |\) \{', rest).start()]
            shown = ', '.join(arguments_of(rest))
            rows.append((group, f'{match["name"]}({shown})', one_line(match['about'])))
    return rows


def python_rows():
    """[(group, method, text)] of the class AsyncClient; Client has the same."""
    text = (PYTHON / '_async/client.py').read_text()
    groups = [(text[:at.start()].count('\n') + 1, at[1]) for at in re.finditer(r'    # ---- (.*)',
                                                                               text)]
    core = ast.parse((PYTHON / '_async/caller.py').read_text())
    made = [node for tree in (core, ast.parse(text)) for node in tree.body
            if isinstance(node, ast.ClassDef) and node.name in ('AsyncCaller', 'AsyncClient')]
    rows = []
    for kind, node in ((one.name, member) for one in made for member in one.body):
        if not isinstance(node,
                          (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name.startswith('_'):
            continue
        named = [one.arg for one in node.args.args[1:]]
        named += [f'{one.arg}=' for one in node.args.kwonlyargs if one.arg != 'timeout_ms']
        above = [name for line, name in groups if line < node.lineno and kind == 'AsyncClient']
        group = (above or ['calls'])[-1]
        rows.append((group, f'{node.name}({", ".join(named)})',
                     one_line(ast.get_docstring(node) or '')))
    return rows


def table(rows):
    lines, last = [], None
    for group, method, text in rows:
        if group != last:
            lines += ['', f'### {(group or "calls").capitalize()}', '', '| method | |',
                      '| --- | --- |']
            last = group
        lines.append(f'| `{method}` | {text} |')
    return '\n'.join(lines).strip() + '\n'


def typescript_errors():
    rows = [(name, one_line(text)) for text,
            name in CLASS.findall((TYPESCRIPT / 'errors.ts').read_text())]
    return rows


def python_errors():
    tree = ast.parse((PYTHON / 'errors.py').read_text())
    return [(node.name, one_line(ast.get_docstring(node) or '')) for node in tree.body
            if isinstance(node, ast.ClassDef)]


def errors_table(rows):
    return '| class | |\n| --- | --- |\n' + ''.join(f'| `{name}` | {text} |\n' for name,
                                                    text in rows)


def filled(page, parts):
    for name, text in parts.items():
        begin = BEGIN.format(name)
        before, found, rest = page.partition(begin)
        assert found, f'the page has no {begin}'
        page = f'{before}{begin}\n\n{text}\n{END}{rest.partition(END)[2]}'
    return page


def pages():
    """{path: its text as it must be}"""
    made = {
        'typescript-client.md': {'methods': table(typescript_rows()),
                                 'errors': errors_table(typescript_errors())},
        'python-client.md': {'methods': table(python_rows()),
                             'errors': errors_table(python_errors())},
    }
    return {REFERENCE / name: filled((REFERENCE / name).read_text(), parts)
            for name, parts in made.items()}


if __name__ == '__main__':
    for path, text in pages().items():
        path.write_text(text)
