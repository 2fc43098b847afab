#!/usr/bin/env python3
"""docs/requirements.md has every requirement once, and each test that it names is in the tree: the
file exists and mentions the test. A requirement that is done names at least one test; so do the
tests of the source of B, each promise of docs/design/promises.md and each threat of
docs/threat-model.md, which has every known advisory of systems like this one. Exit status 1 and a
list if not."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAST = {'A': 20, 'B': 28, 'C': 14, 'D': 9, 'E': 8, 'F': 17}
STATES = ('done', 'partly', 'open')
ROW = re.compile(r'\| ([A-F]\d+) \| (.+?) \| (\w+) \| (.*?) ?\|$', re.M)
SOURCE_ROW = re.compile(r'\| (T\d+) \| (.+?) \| (.*?) ?\|$', re.M)
PROMISE_ROW = re.compile(r'\| (P\d+) \| (.+?) \| (.+?) \| (.*?) ?\|$', re.M)
PROMISES = 14
THREAT_ROW = re.compile(r'\| ([MV]\d+) \| (.+?) \| (.+?) \| (.*?) ?\|$', re.M)
# Of systems like this one; each is a row of docs/threat-model.md, by its number without CVE-.
ADVISORIES = '''
2026-22812 #38857 2025-49596 2025-66414 2025-66416 2026-42559 2026-25536 2025-6514 2025-53109
2025-53110 2026-27735 2025-68143 2025-68144 2025-68145 2026-30623 2025-14986 2025-14987 2026-5199
2026-44504 2026-55255 2026-34046 2025-3248 2025-34291 2026-53576 2026-21858 2026-21877 2025-68613
2025-68668 2026-1470 GHSA-h3jj-5f3v-3685 2026-45707 2025-67644 2026-28277 2026-27022 2026-7724
2026-42344 2026-44284 2026-44286 GHSA-w5r7-4f94-vp4c 2026-33480 2026-5366 2025-53548 2024-21491
2026-32896 GHSA-2xcp-x87w-q377 GHSA-rqpp-rjj8-7wv8 2026-53821 GHSA-m8wm-r5vq-qjpg 2026-25253
2026-25593 2025-59536 2026-21852 2025-61260 2026-25725 2025-53773 2026-45372 2026-45352 2025-52887
2026-22776 2026-31870 2026-29076 2026-46527 2025-66577 2026-29085 2026-33128 2026-44217 2024-1135
2024-23452 2025-55315 2023-38697'''.split()
# `one_test`, `another_test` in `src/core/session/some_test.cc`; tests in the browser have titles:
# "a title", "another" in `web/test/browser/some.spec.ts`
NAME = r'(?:`\w+`|"[^"]+")'
PROOF = re.compile(rf'((?:{NAME}, )*{NAME}) in `([\w./-]+)`')
COUNTS = re.compile(r'^Now: (\d+) done, (\d+) partly, (\d+) open\.$', re.M)


def check_proofs(root, name, text, found):
    """Returns how many of the tests that `text` names exist."""
    proofs = 0
    for tests, file in PROOF.findall(text):
        path = root / file
        content = path.read_text() if path.is_file() else None
        if content is None:
            found.append(f'{name}: there is no {file}')
            continue
        for test in re.findall(r'[`"]([^`"]+)[`"](?:, |$)', tests):
            if re.search(rf'\b{re.escape(test)}\b', content):
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
    promises = PROMISE_ROW.findall((root / 'docs/design/promises.md').read_text())
    found += [f'P{n}: no row of docs/design/promises.md' for n in range(1, PROMISES + 1)
              if f'P{n}' not in [name for name, *_ in promises]]
    found += [f'{name}: names no test' for name, _, _, proof in promises
              if not check_proofs(root, name, proof, found)]
    threats = THREAT_ROW.findall((root / 'docs/threat-model.md').read_text())
    advisories = ' '.join(what for name, what, guard, proof in threats)
    found += [f'{name}: no row of docs/threat-model.md' for name in ADVISORIES
              if not re.search(rf'(^|[ ,;-]){name}\b', advisories)]
    for name, what, guard, proof in threats:
        if not check_proofs(root, name, proof, found) and not proof.startswith('does not apply: '):
            found.append(f'{name}: names no test')
    wanted = [f'{letter}{n}' for letter, last in LAST.items() for n in range(1, last + 1)]
    found += [f'{name}: missing' for name in wanted if name not in seen]
    found += [f'{name}: not a requirement' for name in set(seen) - set(wanted)]
    found += [f'{name}: more than once' for name in wanted if seen.count(name) > 1]
    counts = COUNTS.search(text)
    if not counts or [int(n) for n in counts.groups()] != [count[state] for state in STATES]:
        found.append('the line of counts should be "Now: {done} done, {partly} partly, '
                     '{open} open."'.format(**count))
    return found


def test_each_requirement_is_accounted_for():
    assert main() == 0


def main():
    found = findings(ROOT)
    print('\n'.join(found) if found else f'{sum(LAST.values())} requirements, all accounted for')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
