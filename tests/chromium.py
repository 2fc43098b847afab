"""Runs headless Chromium, driven by its DevTools protocol over a pipe (no library needed)."""
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

from dormouse import wait_for

PROGRAMS = ('chromium-headless-shell', 'chromium')


def program():
    """Returns its path, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Chromium:
    """One process with its own profile. `names`: host names that resolve to 127.0.0.1."""

    def __init__(self, names=()):
        self.profile = pathlib.Path(tempfile.mkdtemp(prefix='dormouse-chromium-'))
        to_it, self.write_fd = os.pipe()
        self.read_fd, from_it = os.pipe()
        rules = ','.join([f'MAP {name} 127.0.0.1' for name in names] + ['MAP * ~NOTFOUND'])
        rules += ',EXCLUDE 127.0.0.1,EXCLUDE localhost,EXCLUDE 0.0.0.0'
        self.process = subprocess.Popen(
            # The protocol uses the descriptors 3 and 4. Root can run it without a sandbox only.
            ['bash', '-c', f'exec "$@" 3<&{to_it} 4>&{from_it}', 'bash', program()]
            + ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
            + ['--remote-debugging-pipe', '--no-first-run', '--disable-background-networking']
            + [f'--user-data-dir={self.profile}', f'--host-resolver-rules={rules}'],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(to_it, from_it),
        )
        os.close(to_it)
        os.close(from_it)
        self.unread, self.number, self.answers = b'', 0, {}

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.write_fd)
        os.close(self.read_fd)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, session=None, seconds=30, **params):
        """Returns the result of a command; skips events."""
        self.number += 1
        request = {'id': self.number, 'method': method, 'params': params}
        if session:
            request['sessionId'] = session
        os.write(self.write_fd, json.dumps(request).encode() + b'\0')
        deadline = time.monotonic() + seconds
        while self.number not in self.answers:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.read_fd], [], [], left)[0]:
                raise TimeoutError(f'{method}: no answer in {seconds} s')
            more = os.read(self.read_fd, 1 << 20)
            if not more:
                raise ConnectionError('chromium has ended')
            *whole, self.unread = (self.unread + more).split(b'\0')
            for text in whole:
                message = json.loads(text)
                if 'id' in message:
                    self.answers[message['id']] = message
        answer = self.answers.pop(self.number)
        if 'error' in answer:
            raise RuntimeError(f'{method}: {answer["error"]}')
        return answer['result']

    def open(self, url):
        return Page(self, url)


class Page:
    """A loaded tab."""

    def __init__(self, browser, url):
        self.browser = browser
        self.target = browser.call('Target.createTarget', url='about:blank')['targetId']
        self.session = browser.call('Target.attachToTarget', targetId=self.target, flatten=True)[
            'sessionId'
        ]
        self.go(url)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def go(self, url):
        """Returns the error, or None."""
        error = self.call('Page.navigate', url=url).get('errorText')
        self.settle()
        return error

    def settle(self):
        self.until("document.readyState == 'complete'")

    def run(self, script):
        """Returns the value of an expression, which may be a promise."""
        done = self.call(
            'Runtime.evaluate',
            expression=script,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        if 'exceptionDetails' in done:
            raise RuntimeError(json.dumps(done['exceptionDetails']))
        return done['result'].get('value')

    def until(self, script, seconds=20):
        def value():
            try:
                return self.run(script)
            except RuntimeError as error:  # it is loading another page
                if 'navigated' not in str(error) and 'context' not in str(error):
                    raise

        return wait_for(value, seconds, script)

    def close(self):
        self.browser.call('Target.closeTarget', targetId=self.target)
