#!/usr/bin/env python3
"""Makes the Python client speak the protocol of README.md; `driver.py async` the one of asyncio."""
import asyncio
import base64
import json
import re
import sys
import threading
import traceback

import dormouse

lock = threading.Lock()


def write(line):
    with lock:
        sys.stdout.write(json.dumps(line) + '\n')
        sys.stdout.flush()


def snake(name):
    return re.sub('ID|[A-Z]', lambda found: '_' + found[0].lower(), name)


def named(options):
    return {'from_' if key == 'from' else snake(key): value for key, value in options.items()}


def described(error):
    kind = type(error)
    refused = isinstance(error, dormouse.Refusal)
    found = {'kind': 'Refusal' if refused else kind.__name__, 'message': str(error),
             'shown': repr(error) + ''.join(traceback.format_exception(error))}
    if isinstance(error, asyncio.CancelledError):
        found['kind'] = 'cancelled'
    if refused:
        found.update(code=error.code, next=error.next, remedy=error.remedy, class_=kind.__name__,
                     retryAfterMs=error.retry_after_ms)
    return {**found, 'status': getattr(error, 'status', None)}


def plain(value):
    if isinstance(value, dormouse.Artifact):
        return {'bytes': base64.b64encode(value.bytes).decode(), 'mime': value.mime,
                'digest': value.digest}
    return value


def made(kind, options):
    return kind(options.pop('base'), options.pop('token', None), **named(options))


class Driver:
    client = None

    def shared(self, line, kind):
        """Handles what needs no waiting; None if it is something else."""
        if 'new' in line:
            self.client = made(kind, line['new'])
            return {'value': None}
        if 'show' in line:
            return {'value': f'{self.client!r} {self.client}'}
        return None

    def begin(self, line):
        name = line.get('call') or line['iterate']
        return getattr(self.client, snake(name))(*line.get('args', []),
                                                 **named(line.get('options', {})))

    def run(self, line):
        try:
            if found := self.shared(line, dormouse.Client):
                write({'id': line['id'], **found})
            elif 'call' in line:
                write({'id': line['id'], 'value': plain(self.begin(line))})
            else:
                items = self.begin(line)
                for item in items:
                    write({'id': line['id'], 'item': item,
                           'cursor': getattr(items, 'cursor', None)})
                write({'id': line['id'], 'end': True})
        except Exception as error:
            write({'id': line['id'], 'error': described(error)})

    async def run_async(self, line, running):
        try:
            if found := self.shared(line, dormouse.AsyncClient):
                write({'id': line['id'], **found})
            elif 'cancel' in line:
                running[line['cancel']].cancel()
                write({'id': line['id'], 'value': None})
            elif 'call' in line:
                write({'id': line['id'], 'value': plain(await self.begin(line))})
            else:
                items = self.begin(line)
                async for item in items:
                    write({'id': line['id'], 'item': item,
                           'cursor': getattr(items, 'cursor', None)})
                write({'id': line['id'], 'end': True})
        except (Exception, asyncio.CancelledError) as error:
            write({'id': line['id'], 'error': described(error)})


def blocking():
    driver = Driver()
    for text in sys.stdin:
        line = json.loads(text)
        if 'new' in line:
            driver.run(line)
        else:
            threading.Thread(target=driver.run, args=[line], daemon=True).start()


async def asynchronous():
    driver, running, loop = Driver(), {}, asyncio.get_running_loop()
    while text := await loop.run_in_executor(None, sys.stdin.readline):
        line = json.loads(text)
        running[line['id']] = asyncio.create_task(driver.run_async(line, running))


if __name__ == '__main__':
    if sys.argv[1:] == ['async']:
        asyncio.run(asynchronous())
    else:
        blocking()
