"""Streams of events that a test opens, which its end closes, and the whole feed."""
from dormouse import Case, Events


def whole_feed(server, query='?', limit=200):
    """Returns every event of the feed, and the cursor at its end."""
    found, cursor = [], None
    while True:
        place = f'&cursor={cursor}' if cursor else ''
        page = server.get(f'/api/events{query}&limit={limit}{place}').json
        if not page['items'] and page['next'] == cursor:
            return found, cursor
        found += page['items']
        cursor = page['next']


class StreamCase(Case):
    def setUp(self):
        super().setUp()
        self.opened = []

    def tearDown(self):
        for stream in self.opened:
            stream.close()
        super().tearDown()

    def open_stream(self, path, last_event_id=None, **more):
        stream = Events(self.server, path, last_event_id, **more)
        self.opened.append(stream)
        self.assertEqual(stream.status, 200, stream.head)
        return stream
