"""An event stream of a server, read down to its bytes."""
import json
import socket


class Frame:
    def __init__(self, raw):
        self.raw = raw
        self.id = self.event = self.retry = None
        data = []
        for line in raw.decode().split('\n'):
            name, _, value = line.partition(': ')
            if name == 'id':
                self.id = int(value) if value.isdigit() else value
            elif name == 'event':
                self.event = value
            elif name == 'retry':
                self.retry = int(value)
            elif name == 'data':
                data.append(value)
        self.data = json.loads('\n'.join(data)) if data else None

    def __repr__(self):
        return repr(self.raw)


class Events:
    """Reads an event stream, down to its bytes."""

    def __init__(self, server, path, last_event_id=None, timeout=20, token=None):
        self.socket = socket.create_connection(('127.0.0.1', server.port), timeout=timeout)
        lines = [
            f'GET {path} HTTP/1.1',
            f'Host: 127.0.0.1:{server.port}',
            'Accept: text/event-stream',
            f'Authorization: Bearer {token or server.token}',
        ]
        if last_event_id is not None:
            lines.append(f'Last-Event-ID: {last_event_id}')
        self.socket.sendall(('\r\n'.join(lines) + '\r\n\r\n').encode())
        self.buffer = b''
        head = self._until(b'\r\n\r\n')
        self.head = head.decode()
        self.status = int(self.head.split()[1])

    def _until(self, end):
        while end not in self.buffer:
            more = self.socket.recv(65536)
            if not more:
                raise EOFError(f'the stream ended with {self.buffer!r}')
            self.buffer += more
        piece, self.buffer = self.buffer.split(end, 1)
        return piece

    def frame(self):
        """Returns the next frame and skips comments. EOFError: the stream has ended."""
        while True:
            raw = self._until(b'\n\n')
            if not raw.startswith(b':'):
                return Frame(raw)

    def until(self, is_last):
        """The frames up to the first that `is_last`, and that one."""
        frames = []
        while not frames or not is_last(frames[-1]):
            frames.append(self.frame())
        return frames

    def rest(self):
        frames = []
        try:
            while True:
                frames.append(self.frame())
        except EOFError:
            return frames

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
