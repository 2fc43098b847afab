#!/usr/bin/env python3
"""Writes the SBOM of the single file to standard output: SPDX 2.3 as JSON.

usage: sbom.py LINKED FILE

LINKED names the program beside its build.ninja; FILE is what is shipped. The components are the
archives of the link command: Debian packages with the versions that are installed here or that
packaging/single/sysroot unpacked, sources that packaging/single/libraries compiled, SQLite, and
libraries that are headers alone.
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Headers alone: no archive names them.
HEADERS = ('libboost1.81-dev', 'libcli11-dev', 'libvalijson-dev', 'libtomlplusplus-dev')
COMPILER = {'x86_64': 'g++', 'aarch64': 'aarch64-linux-gnu-g++'}
# The compiler links these without being asked.
IMPLIED = ('libc.a', 'libstdc++.a', 'libgcc.a', 'libgcc_eh.a', 'libm.a')
COMPILED = {'libcurl.a': 'curl', 'libpq.a': 'postgresql-15', 'libqrencode.a': 'qrencode',
            'libspdlog.a': 'spdlog', 'libfmt.a': 'fmtlib'}


def output_of(*command, cwd=None):
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=cwd).stdout


def linked_archives(program, arch):
    """Returns the paths of all archives of the link command that are not our own objects."""
    command = output_of('ninja', '-t', 'commands', '-s', program.name, cwd=program.parent)
    named = [word for word in re.findall(r'\S+\.a\b', command) if word.startswith('/')]
    implied = [output_of(COMPILER[arch], f'-print-file-name={name}').strip() for name in IMPLIED]
    return sorted({os.path.realpath(path) for path in named + implied})


def debian_package(path):
    """Returns (name, version) of the package that has this file."""
    for form in (path, path.replace('/usr/', '/', 1)):  # before and after the merge of /usr
        done = subprocess.run(['dpkg-query', '-S', form], capture_output=True, text=True)
        if done.returncode == 0:
            name = done.stdout.split(': ')[0].split(',')[0]
            return name.split(':')[0], version_of(name)
    raise SystemExit(f'sbom: no package has {path}')


def version_of(name):
    return output_of('dpkg-query', '-W', '-f', '${Version}', name)


class Unpacked:
    """The packages of another architecture."""

    def __init__(self, arch):
        self.root = ROOT / f'build/sysroot-{arch}'
        lines = (self.root / 'versions').read_text().splitlines() if self.root.exists() else []
        self.versions = dict(line.split() for line in lines)

    def package(self, path):
        """As debian_package(): an archive libNAME.a, or libNAME_pic.a, is that of its package."""
        stem = pathlib.Path(path).name.removesuffix('.a').removesuffix('_pic')
        known = {'libcrypto': 'libssl-dev', 'libz': 'zlib1g-dev'}
        name = known.get(stem, f'{stem}-dev')
        return name, self.versions[name]


def compiled_sources():
    """Returns {name: version} of the sources that the libraries script names."""
    text = (ROOT / 'packaging/single/libraries').read_text()
    listed = re.search(r'^sources=\((.*?)\)$', text, re.MULTILINE | re.DOTALL)[1]
    return {name: version for name, version in re.findall(r'"(\S+) ([^\s"]+)', listed)}


def components(program, arch):
    """Returns {(kind, name): version}, kind `deb` or `generic`."""
    sources, found = compiled_sources(), {}
    unpacked = Unpacked(arch) if arch != os.uname().machine else None
    for path in linked_archives(program, arch):
        name = pathlib.Path(path).name
        if unpacked and path.startswith(str(unpacked.root)):
            package, version = unpacked.package(path)
            found['deb', package] = version
        elif path.startswith(str(ROOT)):
            if name in COMPILED:
                found['deb-source', COMPILED[name]] = sources[COMPILED[name]]
        else:
            package, version = debian_package(path)
            found['deb', package] = version
    for name in HEADERS:
        found['deb', name] = unpacked.versions[name] if unpacked else version_of(name)
    header = (ROOT / 'build/sqlite/sqlite3.h').read_text()
    found['generic', 'sqlite'] = re.search(r'^#define SQLITE_VERSION +"(.*)"', header,
                                           re.MULTILINE)[1]
    return found


def locator(kind, name, version):
    if kind == 'generic':
        return f'pkg:generic/{name}@{version}'
    version = version.replace('+', '%2B').replace(':', '%3A')
    more = '?arch=source&distro=debian-12' if kind == 'deb-source' else '?distro=debian-12'
    return f'pkg:deb/debian/{name}@{version}{more}'


def package(identifier, name, version, **more):
    return {'SPDXID': identifier, 'name': name, 'versionInfo': version,
            'downloadLocation': 'NOASSERTION', 'filesAnalyzed': False,
            'licenseConcluded': 'NOASSERTION', 'licenseDeclared': 'NOASSERTION',
            'copyrightText': 'NOASSERTION', **more}


def document(program, shipped):
    digest = hashlib.sha256(shipped.read_bytes()).hexdigest()
    release = re.search(r'project\(dormouse VERSION (\S+)', (ROOT / 'CMakeLists.txt').read_text())[1]
    made = datetime.datetime.fromtimestamp(int(os.environ.get('SOURCE_DATE_EPOCH', 0)),
                                           datetime.timezone.utc)
    packages = [package('SPDXRef-dormouse', 'dormouse', release, licenseDeclared='Apache-2.0',
                        packageFileName=shipped.name,
                        checksums=[{'algorithm': 'SHA256', 'checksumValue': digest}])]
    relations = [('SPDXRef-DOCUMENT', 'DESCRIBES', 'SPDXRef-dormouse')]
    for (kind, name), version in sorted(components(program, shipped.name.split('-')[-1]).items()):
        identifier = 'SPDXRef-' + re.sub(r'[^A-Za-z0-9.-]', '-', f'{kind}-{name}')
        packages.append(package(identifier, name, version, externalRefs=[{
            'referenceCategory': 'PACKAGE-MANAGER', 'referenceType': 'purl',
            'referenceLocator': locator(kind, name, version)}]))
        relations.append(('SPDXRef-dormouse', 'STATIC_LINK', identifier))
    return {'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT',
            'name': shipped.name,
            'documentNamespace': f'https://spdx.org/spdxdocs/{shipped.name}-{release}-{digest}',
            'creationInfo': {'created': made.strftime('%Y-%m-%dT%H:%M:%SZ'),
                             'creators': ['Tool: dormouse-packaging/single/sbom.py']},
            'packages': packages,
            'relationships': [{'spdxElementId': one, 'relationshipType': kind,
                               'relatedSpdxElement': other} for one, kind, other in relations]}


if __name__ == '__main__':
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    linked, file = (pathlib.Path(name).resolve() for name in sys.argv[1:])
    json.dump(document(linked, file), sys.stdout, indent=1)
    print()
