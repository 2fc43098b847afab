#!/usr/bin/env python3
"""The web page in Chromium, by Playwright, with the real server: the specifications are in
web/test/browser, and each of their tests is one here. `./test -k NAME` runs those whose name has
NAME, as does `tests/slow/browser.py -g NAME`, which shows Playwright's own report."""
import collections
import json
import os
import re
import pathlib
import shutil
import subprocess
import sys
import threading

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import npm
from dormouse import BINARY, ROOT, leave_out

WEB = ROOT / 'web'
SPECS = WEB / 'test/browser'
PLAYWRIGHT = WEB / 'node_modules/@playwright/test/cli.js'
TITLE = re.compile(r"^ *test\(\s*(?:'([^'\n]+)'|`([^`\n]+)`)", re.M)
SIZES = re.compile(r"name: '([^']+)', width", re.M)

Case = collections.namedtuple('Case', 'spec title')


def titles(path):
    """The tests of a specification. A template is written out for each size of the page."""
    text = path.read_text()
    for plain, template in TITLE.findall(text):
        if plain:
            yield plain
        for size in SIZES.findall(text) if template else ():
            yield template.replace('${name}', size)


CASES = [Case(path.name, title) for path in sorted(SPECS.glob('*.spec.ts'))
         for title in titles(path)]


def name_of(case):
    """As an identifier, which `-k` can name."""
    words = re.sub(r'\W+', '_', case.title).strip('_')
    return f'{case.spec.removesuffix(".spec.ts").replace("-", "_")}-{words}'


def command(*arguments):
    return ['node', str(PLAYWRIGHT), 'test', '-c', str(SPECS), *arguments]


def environment():
    return {**os.environ, 'DORMOUSE': os.path.abspath(BINARY), 'CI': '1', 'FORCE_COLOR': '0'}


class Run:
    """One run of Playwright: the chosen tests of a specification, one after the other."""

    def __init__(self, spec, chosen):
        exact = '|'.join(re.escape(title).replace('/', r'\/') for title in chosen)
        self.process = subprocess.Popen(
            command(f'--reporter={SPECS}/reporter.ts', '-g', f'({exact})$', f'/{spec}'),
            cwd=WEB, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )
        self.found, self.faults, self.noise = {}, [], ''
        # What it prints besides the results is read at the same time: a full pipe would stop it.
        self.reader = threading.Thread(target=self.read_noise, daemon=True)
        self.reader.start()

    def read_noise(self):
        self.noise = self.process.stderr.read()

    def result(self, title):
        while title not in self.found:
            line = self.process.stdout.readline()
            if not line:
                self.end()
                raise AssertionError('\n'.join(
                    [f'Playwright ended without it: {title}', *self.faults, self.noise[-3000:]]))
            if not line.startswith('{'):
                continue
            one = json.loads(line)
            if 'title' in one:
                self.found[one['title']] = one
            else:
                self.faults.append(one['error'])
        return self.found[title]

    def end(self):
        self.process.stdout.close()
        self.process.wait()
        self.reader.join()


RUNS = {}


def run_of(case, items):
    """The run of its specification, which the first of its tests begins."""
    if case.spec not in RUNS:
        chosen = [item.callspec.params['case'] for item in items if hasattr(item, 'callspec')
                  and isinstance(item.callspec.params.get('case'), Case)]
        RUNS[case.spec] = Run(case.spec, [c.title for c in chosen if c.spec == case.spec])
        RUNS[case.spec].left = sum(c.spec == case.spec for c in chosen)
    return RUNS[case.spec]


@pytest.mark.parametrize('case', [
    pytest.param(case, id=name_of(case), marks=pytest.mark.xdist_group(f'browser {case.spec}'))
    for case in CASES
])
def test_page(case, request):
    run = run_of(case, request.session.items)
    try:
        result = run.result(case.title)
    finally:
        run.left -= 1
        if run.left == 0:
            run.end()
    if result['status'] == 'skipped':
        leave_out(result['why'] or 'skipped')
    assert result['status'] == 'passed', result['error']


def test_every_test_of_the_specifications_is_counted():
    """Also those that a template or a loop would make."""
    done = subprocess.run(command('--list', '--reporter=json'), cwd=WEB, env=environment(),
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr + done.stdout

    def specs(suite):
        yield from suite.get('specs', ())
        for inner in suite.get('suites', ()):
            yield from specs(inner)

    listed = [Case(os.path.basename(spec['file']), spec['title'])
              for suite in json.loads(done.stdout)['suites'] for spec in specs(suite)]
    assert sorted(listed) == sorted(CASES)
    assert len({name_of(case) for case in CASES}) == len(CASES)


def why_not():
    """None, or why it cannot run here."""
    if not any(map(shutil.which, ('chromium-headless-shell', 'chromium'))):
        return 'not installed: chromium-headless-shell (tools/setup.sh test)'
    if not PLAYWRIGHT.is_file():
        return 'Playwright is not installed (tools/web_page.sh --tests)'
    return npm.old_node()


@pytest.fixture(scope='module', autouse=True)
def can_run():
    if why := why_not():
        leave_out(why)


if __name__ == '__main__':
    if why := why_not():
        sys.exit(why)
    os.chdir(WEB)
    os.execvpe('node', command('--reporter=list', *sys.argv[1:]), environment())
