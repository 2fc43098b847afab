#!/usr/bin/env python3
"""Relative links of all Markdown files lead to files, and their anchors to headings. Exit status 1
and a list if not."""
import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEFT_OUT = {'build', 'node_modules', '.git', '.cache'}
FENCE = re.compile(r'^(```+|~~~+).*?^\1`*~*[ \t]*$', re.M | re.S)
CODE = re.compile(r'(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\1(?!`)', re.S)  # within a paragraph
LINK = re.compile(r'\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^()\s>]+)>?(?:\s+"[^"]*")?\)')
REFERENCE = re.compile(r'^\[[^\]]+\]:\s+(\S+)', re.M)
HEADING = re.compile(r'^#{1,6}\s+(.+?)\s*#*$', re.M)
ANCHOR = re.compile(r'<a\s+(?:id|name)="([^"]+)"')


def markdown(root):
    for path in sorted(root.rglob('*.md')):
        if not LEFT_OUT & set(path.relative_to(root).parts):
            yield path


def without_fences(text):
    return FENCE.sub('', text)


def slug(heading):
    """As GitHub names a heading."""
    plain = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading).replace('`', '')
    return re.sub(r'[^\w\- ]', '', plain.strip().lower()).replace(' ', '-')


def anchors(path):
    text, found, times = without_fences(path.read_text()), set(), {}
    for heading in HEADING.findall(text):
        name = slug(heading)
        again = times[name] = times.get(name, -1) + 1
        found.add(f'{name}-{again}' if again else name)
    return found | set(ANCHOR.findall(text))


def links(path):
    text = CODE.sub('', without_fences(path.read_text()))
    return LINK.findall(text) + REFERENCE.findall(text)


def check_link(root, path, link, found):
    if re.match(r'[a-z][a-z0-9+.-]*:|//', link, re.I):
        return  # another site
    name, _, anchor = urllib.parse.unquote(link).partition('#')
    target = (root / name[1:] if name.startswith('/') else path.parent / name) if name else path
    if not target.exists():
        found.append(f'{path.relative_to(root)}: {link}: file not found')
    elif root not in (target.resolve(), *target.resolve().parents):
        found.append(f'{path.relative_to(root)}: {link}: outside the project')
    elif anchor and target.suffix == '.md' and anchor not in anchors(target):
        found.append(f'{path.relative_to(root)}: {link}: heading not found')


def test_every_link_leads_somewhere():
    assert main() == 0


def main():
    found, count = [], 0
    for path in markdown(ROOT):
        for link in links(path):
            count += 1
            check_link(ROOT, path, link, found)
    print('\n'.join(found) if found else f'{count} links, all lead somewhere')
    return 1 if found or not count else 0


if __name__ == '__main__':
    sys.exit(main())
