"""Shared code of the benchmarks in this folder: requests as bytes, many connections in one loop, a
server on its own core, and the printed table. The client is Python, and its own cost is part of the
figures."""
import collections
import contextlib
import functools
import os
import pathlib
import random
import re
import selectors
import socket
import ssl
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'tests'))
from dormouse import Server  # noqa: E402

LENGTH = re.compile(rb'content-length: *(\d+)', re.IGNORECASE)


def request(server, method, path, body=b'', headers=(), token=True, accept='application/json'):
    lines = [f'{method} {path} HTTP/1.1', f'Host: 127.0.0.1:{server.port}', f'Accept: {accept}']
    lines += [f'Authorization: Bearer {server.token}'] if token else []
    lines += [f'{name}: {value}' for name, value in dict(headers).items()]
    lines += ['Content-Type: application/json', f'Content-Length: {len(body)}', '', '']
    return '\r\n'.join(lines).encode() + body


@functools.cache
def trusting(cert):
    return ssl.create_default_context(cafile=cert)


class Link:
    """A kept-alive connection; requests may be pipelined."""

    def __init__(self, server):
        self.socket = socket.create_connection(('127.0.0.1', server.port), timeout=20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.encrypted = getattr(server, 'cert', None) is not None
        if self.encrypted:
            self.socket = trusting(server.cert).wrap_socket(self.socket,
                                                            server_hostname='127.0.0.1')
        self.unread, self.in_flight = b'', collections.deque()

    def received(self):
        got = self.socket.recv(1 << 18)
        if not got:
            raise ConnectionError('the server closed a connection')
        return got

    def decrypted(self):
        """All that has arrived, also what select does not know of; possibly nothing."""
        got = b''
        self.socket.setblocking(False)
        with contextlib.suppress(ssl.SSLWantReadError):
            while True:
                got += self.received()
        self.socket.settimeout(20)
        return got

    def answers(self):
        """Yields (status, body, value given with the request) of each complete answer."""
        self.unread += self.decrypted() if self.encrypted else self.received()
        while (end := self.unread.find(b'\r\n\r\n')) >= 0:
            length = int(LENGTH.search(self.unread, 0, end + 2)[1])
            if len(self.unread) < end + 4 + length:
                return
            body = self.unread[end + 4 : end + 4 + length]
            status = int(self.unread[9:12])
            self.unread = self.unread[end + 4 + length :]
            yield status, body, self.in_flight.popleft()


def ask_all(server, requests, connections=32, rate=None):
    """Returns each answer as (status, body, key, ms). Requests are (key, bytes). With `rate` per
    second each request has its own due time, and late sending counts as waiting; without it each
    connection sends its next request as soon as it has the answer."""
    links = [Link(server) for _ in range(connections)]
    selector = selectors.DefaultSelector()
    for link in links:
        selector.register(link.socket, selectors.EVENT_READ, link)
    waiting, done, begin = collections.deque(requests), [], time.monotonic()
    idle, sent, wanted = collections.deque(links), 0, len(waiting)
    while len(done) < wanted:
        now = time.monotonic()
        while waiting and (sent < (now - begin) * rate if rate else idle):
            link = idle.popleft() if idle else random.choice(links)
            due = begin + sent / rate if rate else now
            key, data = waiting.popleft()
            link.in_flight.append((key, due))
            link.socket.sendall(data)
            sent += 1
        for ready, _ in selector.select(0.0005 if rate else 5):
            link = ready.data
            for status, body, (key, due) in link.answers():
                done.append((status, body, key, (time.monotonic() - due) * 1000))
            if not link.in_flight:
                idle.append(link)
    for link in links:
        link.socket.close()
    return done


def percentile(values, q):
    return sorted(values)[min(len(values) - 1, int(len(values) * q))]


class Report:
    def __init__(self):
        self.kept = True
        print(
            '| what | number | p50 ms | p99 ms | longest ms |\n| --- | ---: | ---: | ---: | ---: |'
        )

    def row(self, name, took):
        at = [f'{percentile(took, q):.1f}' for q in (0.5, 0.99, 1)]
        print(f'| {name} | {len(took):,} | ' + ' | '.join(at) + ' |', flush=True)

    def promise(self, text, holds):
        self.kept = self.kept and holds
        print(f'{"holds " if holds else "BROKEN"}  {text}', flush=True)


def started(config, env=None):
    """Starts a server with this configuration on the last core; this process uses the others."""
    server = Server(start=False, env=env)
    path = pathlib.Path(server.own, 'dormouse.toml')
    path.write_text(config)
    server.arguments = ['--config', str(path)]
    server.start()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        for task in pathlib.Path(f'/proc/{server.process.pid}/task').iterdir():
            os.sched_setaffinity(int(task.name), {cores[-1]})
        os.sched_setaffinity(0, set(cores[:-1]))
    return server
