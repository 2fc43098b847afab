#!/usr/bin/env python3
"""Prints the Homebrew formula of the single files that FOLDER/SHA256SUMS names.

usage: formula.py FOLDER URL

URL is the https address of the folder in which the files of this release are published.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
CMAKE = HERE.parent.parent / 'CMakeLists.txt'
RELEASE = re.search(r'project\(dormouse VERSION (\S+)', CMAKE.read_text())[1]
CPUS = {'x86_64': 'intel', 'aarch64': 'arm'}  # as Homebrew names them
SUM = re.compile(r'([0-9a-f]{64})  dormouse-linux-(\w+)$', re.M)
URL = re.compile(r'https://[\w.:-]+[\w./~+%-]*')
SOURCE = '''    on_{cpu} do
      url "{url}/dormouse-linux-{arch}"
      sha256 "{digest}"
    end
'''


def formula(sums, url):
    if not URL.fullmatch(url):
        sys.exit(f'formula: {url} is invalid: expected an https address')
    found = {arch: digest for digest, arch in SUM.findall(sums) if arch in CPUS}
    if not found:
        sys.exit('formula: SHA256SUMS names no single file; run packaging/build single')
    sources = ''.join(SOURCE.format(cpu=CPUS[arch], arch=arch, digest=digest, url=url.rstrip('/'))
                      for arch, digest in sorted(found.items(), reverse=True))
    text = (HERE / 'dormouse.rb.in').read_text()
    for name, value in (('@RELEASE@', RELEASE), ('@HOMEPAGE@', url), ('@SOURCES@\n', sources)):
        text = text.replace(name, value)
    return text


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sums = pathlib.Path(sys.argv[1], 'SHA256SUMS')
    if not sums.exists():
        sys.exit(f'formula: {sums} not found; run packaging/build single')
    print(formula(sums.read_text(), sys.argv[2]), end='')


if __name__ == '__main__':
    main()
