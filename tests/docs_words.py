#!/usr/bin/env python3
"""The documents use plain words: none that tools/retired_words.py lists, besides code, output and
the texts that they repeat from the sources (titles of errors, meanings of keys). Exit status 1 and
a list if one does."""
import pathlib
import re
import sys

from docs_links import CODE

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'tools'))
import retired_words  # noqa: E402

PAGES = ['*.md', 'docs/**/*.md', 'verification/*.md']
# CHANGELOG.md describes the past; docs/glossary.md names old words once.
LEFT_OUT = {'CHANGELOG.md', 'docs/glossary.md'}
REPEATED = {  # lines with texts of src/core/base/error.cc and src/node/config/keys.cc
    'docs/reference/configuration.md': re.compile(r'^\|'),
    'docs/errors/README.md': re.compile(r'^\| \['),
}
ERROR_TITLE_LINE = 5
WORDS = retired_words.in_documents()


def prose(name, text):
    """Returns the lines of prose; other lines are empty."""
    blank = lambda match: re.sub(r'[^\n]', '', match[0])
    text = re.sub(r'^(```+).*?^\1[ \t]*$', blank, text, flags=re.M | re.S)
    lines = CODE.sub(blank, text).split('\n')
    if name in REPEATED:
        lines = ['' if REPEATED[name].match(line) else line for line in lines]
    elif name.startswith('docs/errors/'):
        lines[ERROR_TITLE_LINE - 1] = ''
    return lines


def findings(root):
    paths = sorted({path for pattern in PAGES for path in root.glob(pattern)})
    found = []
    for path in paths:
        name = str(path.relative_to(root))
        if name in LEFT_OUT:
            continue
        for number, line in enumerate(prose(name, path.read_text()), 1):
            found += [f'{name}:{number}: "{match[0]}": say "{word}"'
                      for pattern, word in WORDS for match in pattern.finditer(line)]
    return found


def test_documents_use_plain_words():
    assert main() == 0


def main():
    found = findings(ROOT)
    print('\n'.join(found) if found else 'no retired words')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
