"""Which test binaries passed as they are: one that did not change since is not run again, and its
cases are counted from the report of that time.

What a result follows from is one hash: the binary, the texts of the tree that tests read, and the
variables that tests and sanitizers read. Reports are in ~/.cache/dormouse-passed
(BUILD_FOLDER/passed if there is no home); DORMOUSE_TEST_AGAIN=1 runs everything. Only a binary all
of whose cases ran and passed is remembered: a case that was left out for want of a server runs as
soon as there is one. A property test would try other values each time, and a test that fails now
and then may be remembered when it passed: everything runs where nothing is remembered, as on a
machine of continuous integration that begins empty.
"""
import hashlib
import os
import pathlib
import shutil
import time
import xml.etree.ElementTree as xml

KEPT_S = 30 * 24 * 3_600
# DORMOUSE_ARCHITECTURE and DORMOUSE_TIMELINES in CMakeLists.txt: files that tests open by path.
TEXTS = ('ARCHITECTURE.md', 'web/test/recorded')
VARIABLES = ('DORMOUSE_', 'ASAN_', 'UBSAN_', 'TSAN_', 'GTEST_FILTER')


def files_below(path):
    return sorted(p for p in path.rglob('*') if p.is_file()) if path.is_dir() else [path]


def all_ran(report):
    """Whether each case of GoogleTest's report ran and passed."""
    cases = list(xml.parse(report).getroot().iter('testcase'))
    return bool(cases) and all(case.get('status') == 'run' and case.find('failure') is None
                               and case.find('skipped') is None for case in cases)


class Passed:
    """The reports of one build folder's binaries."""

    def __init__(self, root, build):
        home = os.environ.get('HOME')
        self.folder = (pathlib.Path(home) / '.cache/dormouse-passed' if home
                       else build / 'passed')
        self.folder.mkdir(parents=True, exist_ok=True)
        self.again = 'DORMOUSE_TEST_AGAIN' in os.environ
        self.build = build
        self.common = hashlib.sha256()
        for text in TEXTS:
            for path in files_below(root / text):
                self.common.update(path.name.encode() + b'\0' + path.read_bytes())
        for name, value in sorted(os.environ.items()):
            if name.startswith(VARIABLES):
                self.common.update(f'{name}={value}\0'.encode())
        self.forget_old()

    def forget_old(self):
        for report in self.folder.iterdir():
            if time.time() - report.stat().st_mtime > KEPT_S:
                report.unlink(missing_ok=True)

    def place(self, name):
        """Where the report of the binary `name`, as it is now, is or would be."""
        key = self.common.copy()
        key.update((self.build / name).read_bytes())
        return self.folder / f'{name}-{key.hexdigest()}.xml'

    def find(self, names, reports):
        """Copies the reports of those that passed into the folder `reports`; returns their
        names."""
        found = []
        for name in names:
            if self.again or not (self.build / name).is_file():
                continue
            place = self.place(name)
            if place.is_file():
                place.touch()
                shutil.copy(place, reports / f'{name}.xml')
                found.append(name)
        return found

    def keep(self, name, report):
        """Remembers a binary that ended well."""
        if not all_ran(report):
            return
        place = self.place(name)
        new = place.with_suffix(f'.{os.getpid()}')
        shutil.copy(report, new)
        new.rename(place)  # part of a report must never be found
