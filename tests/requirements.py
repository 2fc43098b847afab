#!/usr/bin/env python3
"""docs/requirements.md has every requirement once; whoever is named as a test is in the tree: the
file exists and mentions the test. What is done names at least one; so do the tests of the source of
B and each threat of docs/threat-model.md. Exit status 1 and a list if not."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAST = {'A': 20, 'B': 28, 'C': 14, 'D': 9, 'E': 8, 'F': 17}
STATES = ('done', 'partly', 'open')
ROW = re.compile(r'\| ([A-F]\d+) \| (.+?) \| (\w+) \| (.*?) ?\|$', re.M)
SOURCE_ROW = re.compile(r'\| (T\d+) \| (.+?) \| (.*?) ?\|$', re.M)
THREAT_ROW = re.compile(r'\| ([MV]\d+) \| (.+?) \| (.+?) \| (.*?) ?\|$', re.M)
# `one_test`, `another_test` in `src/session/some_test.cc`
PROOF = re.compile(r'((?:`\w+`, )*`\w+`) in `([\w./-]+)`')
COUNTS = re.compile(r'^Now: (\d+) done, (\d+) partly, (\d+) open\.$', re.M)


def check_proofs(root, name, text, found):
    """How many tests `text` names that are there."""
    proofs = 0
    for tests, file in PROOF.findall(text):
        path = root / file
        content = path.read_text() if path.is_file() else None
        if content is None:
            found.append(f'{name}: there is no {file}')
            continue
        for test in re.findall(r'\w+', tests):
            if re.search(rf'\b{test}\b', content):
                proofs += 1
            else:
                found.append(f'{name}: {file} has no {test}')
    return proofs


def findings(root):
    text, found, seen = (root / 'docs/requirements.md').read_text(), [], []
    count = dict.fromkeys(STATES, 0)
    for name, what, state, proof in ROW.findall(text):
        seen.append(name)
        if state not in STATES:
            found.append(f'{name}: "{state}" is none of {", ".join(STATES)}')
            continue
        count[state] += 1
        proofs = check_proofs(root, name, proof, found)
        if state == 'done' and not proofs:
            found.append(f'{name}: done, and names no test')
        if state == 'partly' and not proof:
            found.append(f'{name}: partly, and does not say what is missing')
    for name, what, proof in SOURCE_ROW.findall(text):
        if not check_proofs(root, name, proof, found):
            found.append(f'{name}: names no test')
    for name, what, guard, proof in THREAT_ROW.findall((root / 'docs/threat-model.md').read_text()):
        if not check_proofs(root, name, proof, found) and not proof.startswith('does not apply: '):
            found.append(f'{name}: names no test')
    wanted = [f'{letter}{n}' for letter, last in LAST.items() for n in range(1, last + 1)]
    found += [f'{name}: missing' for name in wanted if name not in seen]
    found += [f'{name}: not a requirement' for name in set(seen) - set(wanted)]
    found += [f'{name}: more than once' for name in wanted if seen.count(name) > 1]
    told = COUNTS.search(text)
    if not told or [int(n) for n in told.groups()] != [count[state] for state in STATES]:
        found.append('the line of counts should be "Now: {done} done, {partly} partly, '
                     '{open} open."'.format(**count))
    return found


def main():
    found = findings(ROOT)
    print('\n'.join(found) if found else f'{sum(LAST.values())} requirements, all accounted for')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
