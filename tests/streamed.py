#!/usr/bin/env python3
"""A streamed reply for readers that join late: each gets it from its beginning, once."""
import http.server
import json
import re
import threading

from dormouse import Case, Events, main, run, wait_for

PIECES = ['# Result\n', 'first **line**\n', 'second ü line\n', 'the end']
TEXT = ''.join(PIECES)
CONFIG = '''
[[model]]
id = "main"
kind = "openai-chat"
base_url = "http://127.0.0.1:%d/v1"
model = "m"
api_key_env = "MOCK_KEY"

[[agent]]
id = "demo"
model = "main"
'''


class Provider(http.server.BaseHTTPRequestHandler):
    """Sends the first piece at once, and each further one when the test allows it."""

    def log_message(self, *_):
        pass

    def event(self, value):
        self.wfile.write(f'data: {value}\n\n'.encode())
        self.wfile.flush()

    def chunk(self, delta, finish=None):
        choice = {'index': 0, 'delta': delta, 'finish_reason': finish}
        whole = {'id': 'c', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'm'}
        self.event(json.dumps({**whole, 'choices': [choice]}))

    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.end_headers()
        for number, piece in enumerate(PIECES):
            if number:
                self.server.wait()
            self.chunk({'role': 'assistant', 'content': piece})
        self.chunk({}, 'stop')
        self.event('[DONE]')


class Streamed(Case):
    def setUp(self):
        self.provider = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Provider)
        self.provider.daemon_threads = True
        threading.Thread(target=self.provider.serve_forever, daemon=True).start()
        self.addCleanup(self.provider.shutdown)
        self.server = self.configured(CONFIG % self.provider.server_port, MOCK_KEY='sk-mock')

    def prompt(self, *arguments):
        where = ['--server', f'http://127.0.0.1:{self.server.port}']
        return run('prompt', 'go', *arguments, *where, '--data', self.server.directory)

    def metrics(self):
        return self.server.get('/metrics').raw.decode()

    def test_prompt_first_piece_before_it_follows_prints_reply_once(self):
        followed = lambda: re.search(r'^dormouse_http_streams [1-9]', self.metrics(), re.M)
        self.provider.wait = lambda: wait_for(followed, what='the command to follow')
        session = self.server.create()['id']
        for i in range(20):
            done = self.prompt(*(['-s', session] if i % 2 else []))
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual(done.stdout.partition('\n')[2], TEXT + '\n')

    def test_reader_joins_in_mid_turn_gets_the_draft_first(self):
        tickets = threading.Semaphore(0)
        self.provider.wait = lambda: tickets.acquire(timeout=20)
        session = self.server.create()['id']
        events = f'/api/sessions/{session}/events'
        with Events(self.server, events) as early:
            self.server.prompt(session, 'go', wait=0)
            first = early.until(lambda f: f.event == 'delta')[-1].data
            self.assertEqual((first['offset'], first['text']), (0, PIECES[0]))
            tickets.release()
            early.until(lambda f: f.event == 'delta')
            with Events(self.server, events) as late:
                draft = late.until(lambda f: f.event == 'delta')[-1].data
                self.assertEqual((draft['offset'], draft['text']), (0, ''.join(PIECES[:2])))
                self.assertEqual(draft['partID'], first['partID'])
                for _ in PIECES:
                    tickets.release()
                frames = late.until(lambda f: f.event == 'model_replied')
                text = draft['text'].encode()
                for delta in [f.data for f in frames if f.event == 'delta']:
                    self.assertEqual(delta['offset'], len(text), 'bytes of UTF-8')
                    text += delta['text'].encode()
                self.assertEqual(text.decode(), TEXT)
        with Events(self.server, events) as after:
            frames = after.until(lambda f: f.event == 'turn_ended')
        self.assertNotIn('delta', [f.event for f in frames])


if __name__ == '__main__':
    main()
