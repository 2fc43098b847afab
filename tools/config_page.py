#!/usr/bin/env python3
"""Writes the tables of docs/reference/configuration.md from `dormouse config keys --json`.

    tools/config_page.py build/release/dormouse

tests/config.py compares them."""
import json
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / 'docs/reference/configuration.md'


def row(key):
    kind = key['type'] + (': ' + key['range'] if key['range'] else '')
    default = 'required' if key['required'] else key['default'] and f'`{key["default"]}`'
    cells = f'| `{key["name"]}` | {kind} | {default} | {key["applies"]} | {key["about"]} |'
    return cells.replace('|  |', '| |')


def with_tables(page, keys):
    """The page with the rows of each section's table; its prose stays."""
    out, section = [], None
    for line in page.splitlines():
        if line.startswith('## '):
            title = re.fullmatch(r'## `\[+([a-z.]+)\]+`', line)
            section = title and title[1]
        if not (section and line.startswith('| `')):
            out.append(line)
        if section and line.startswith('| ---'):
            out += [row(key) for key in keys if key['section'] == section]
    return '\n'.join(out) + '\n'


def main():
    keys = subprocess.run(
        [sys.argv[1], 'config', 'keys', '--json'], check=True, capture_output=True
    )
    PAGE.write_text(with_tables(PAGE.read_text(), json.loads(keys.stdout)))


if __name__ == '__main__':
    main()
