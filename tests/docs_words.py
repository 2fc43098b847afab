#!/usr/bin/env python3
"""The documents use plain words: none of the retired ones below, beside code, output and the texts
that they repeat from the sources (titles of errors, meanings of keys). Exit status 1 and a list if
one does."""
import pathlib
import re
import sys

from docs_links import CODE

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ['*.md', 'docs/**/*.md', 'verification/*.md']
# CHANGELOG.md describes the past; docs/glossary.md names old words once.
LEFT_OUT = {'CHANGELOG.md', 'docs/glossary.md'}
REPEATED = {  # lines with texts of src/core/base/error.cc and src/node/config/keys.cc
    'docs/reference/configuration.md': re.compile(r'^\|'),
    'docs/errors/README.md': re.compile(r'^\| \['),
}
ERROR_TITLE_LINE = 5
INSTEAD = {
    r'can not': 'cannot',
    r'anew': 'again',
    r'(?:that|what) is usual|usual (?=\d)': 'default',
    r'bears?': 'has',
    r'bricked': 'unreadable',
    r'goes on|go on': 'continues',
    r'hangs': 'is undelivered, or does not answer',
    r'in good order': 'gracefully',
    r'lets? go of|puts? away|put away': 'releases, ends',
    r'comes? to rest': 'becomes idle',
    r'owed|owes|owing': 'outstanding',
    r'played model|model that is played': 'scripted model',
    r'stranger|strangers': 'unknown receiver',
    r'[Ww]hoever': 'everybody who, or the noun',
    r'is told|are told|was told|be told': 'gets',
    r'stands? in|stands? behind|stands? beside': 'is in',
    r'agents? that (?:is a program|are programs)': 'external agent',
}
WORDS = [(re.compile(rf'\b(?:{pattern})\b'), word) for pattern, word in INSTEAD.items()]


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
