#!/usr/bin/env python3
"""The list of the web page with 100,000 sessions (DORMOUSE_MANY says how many): it opens, scrolls,
searches and filters, with a bounded number of requests. Prints what it measured; only that it
works is asserted."""
import http.client
import json
import os
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import chromium
from dormouse import Case, main

MANY = int(os.environ.get('DORMOUSE_MANY', '100000'))
THREADS = 8
PAGE = 200
# Scrolls the list to its end again and again; resolves with the frames and what was asked for.
SCROLL = """new Promise(done => {
    const list = document.querySelector('.body');
    const before = performance.getEntriesByType('resource').length;
    const begin = performance.now();
    let frames = 0;
    let longest = 0;
    let last = begin;
    const step = now => {
        frames += 1;
        longest = Math.max(longest, now - last);
        last = now;
        list.scrollTop += 120;
        if (now - begin < 4000) return requestAnimationFrame(step);
        done({
            fps: frames / (now - begin) * 1000,
            longest,
            requests: performance.getEntriesByType('resource').length - before,
            rows: document.querySelectorAll('.body tr').length,
            top: list.scrollTop,
        });
    };
    requestAnimationFrame(step);
})"""


class ManySessions(Case):
    def create(self, first):
        connection = http.client.HTTPConnection('127.0.0.1', self.server.port, timeout=120)
        headers = {
            'Authorization': f'Bearer {self.server.token}',
            'Content-Type': 'application/json',
        }
        for number in range(first, MANY, THREADS):
            body = json.dumps({'agentID': 'demo', 'title': f'Session {number:06}'})
            connection.request('POST', '/api/projects/default/sessions', body, headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status not in (200, 201):
                self.failed.append(answer.status)
                return

    def shows(self, text, seconds=60):
        begin = time.monotonic()
        self.page.until(f'document.body?.innerText.includes({json.dumps(text)})', seconds)
        return time.monotonic() - begin

    def requests(self):
        return self.page.run("performance.getEntriesByType('resource').length")

    def test_list_opens_scrolls_searches_and_filters(self):
        self.failed = []
        begin = time.monotonic()
        threads = [threading.Thread(target=self.create, args=(n,)) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.failed, [])
        print(f'{MANY} sessions created in {time.monotonic() - begin:.0f} s')
        asleep = self.server.create('deploy A', title='The one that sleeps')
        browser = chromium.Chromium()
        self.addCleanup(browser.close)
        link = self.server.post('/api/links', {'name': 'alice', 'role': 'admin'})
        code = link['url'].split('#')[1]
        url = f'http://127.0.0.1:{self.server.port}'
        self.page = browser.open(f'{url}/sign-in?next=/you#{code}')
        self.page.call(
            'Emulation.setDeviceMetricsOverride',
            width=1440,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.page.run("document.getElementById('in').click()")
        self.page.until("location.pathname == '/you'")
        begin = time.monotonic()
        self.page.go(f'{url}/sessions')
        self.shows('The one that sleeps')
        took = time.monotonic() - begin
        print(f'first page shown after {took:.2f} s, {self.requests()} requests')
        self.assertLess(self.requests(), 60)

        found = self.page.run(SCROLL)
        print('scrolled: {fps:.0f} frames/s, longest {longest:.0f} ms, {requests} requests, '
              '{rows} rows drawn'.format(**found))
        self.assertGreater(found['top'], 0)
        self.assertLess(found['rows'], 200, 'only what is seen is drawn')
        self.assertLess(found['requests'], 200)

        before = self.requests()
        self.page.go(f'{url}/sessions?q=Session%20000017')
        took = self.shows('Session 000017', 120)
        print(f'an old session found after {took:.2f} s')
        self.assertLess(self.requests(), before + 100)
        self.page.go(f'{url}/sessions?state=sleep')
        took = self.shows('The one that sleeps', 120)
        print(f'the sleeping one found after {took:.2f} s')
        self.assertNotIn('Session 0', self.page.run("document.querySelector('.body').innerText"))
        self.assertIn(asleep['id'], self.page.run("document.querySelector('.body a').href"))


if __name__ == '__main__':
    main()
