#!/usr/bin/env python3
"""MCP servers that misbehave cost one line of the log and the calls that they concern; nothing else
is lost, and nobody waits for ever."""
import http.server
import json
import pathlib
import subprocess
import sys

import mcp_servers
from dormouse import BINARY, main, wait_for

HERE = pathlib.Path(__file__).resolve().parent


class Misbehaving(mcp_servers.Servers):
    def test_server_that_dies_is_started_again(self):
        self.serve(self.program())
        task = self.call('die')
        self.logged("MCP server 's': its program ended with status 1: out of memory")
        self.server.advance(120)
        self.assertIn('is: die done', self.outcome(task), 'it only reads: called again')
        self.assertEqual(self.log().count('start'), 2)

    def test_server_that_says_nothing_is_named(self):
        self.serve(self.program('silent', start_limit='"100ms"'))
        self.logged("MCP server 's': it has not listed its tools within 0 s")
        self.assertEqual(self.tools(), [])

    def test_program_that_is_no_server_is_named(self):
        self.serve(self.program('html', start_limit='"5s"'))
        self.logged("MCP server 's': it sent a line that is not JSON-RPC: <html>")
        self.assertIn('is: look done', self.outcome(self.call('look')))

    def test_result_over_the_limit_ends_the_connection(self):
        self.serve(self.program(message_bytes=100_000))
        self.call('large')
        self.logged("MCP server 's': it sent a message of more than 100000 bytes")

    def test_call_over_its_time_is_cancelled(self):
        self.serve(self.program(time_limit='"200ms"'))
        self.call('hang')
        wait_for(lambda: 'cancelled' in self.log(), 20, 'the cancellation')

    def test_mistakes_in_the_file_are_named(self):
        path = self.folder / 'dormouse.toml'
        for text, says in (
            ('[[mcp]]\nname = "s"\n', 'has no command; add the program and its arguments, or url'),
            ('[[mcp]]\nname = "s"\ncommand = ["sh"]\nurl = "http://a/"\n',
             'command is for a server with command'),
            ('[[mcp]]\nname = "t"\nurl = "http://a/"\n', 'MCP server not found'),
        ):
            path.write_text(mcp_servers.AGENT + text)
            check = subprocess.run([BINARY, 'config', 'check', str(path)],
                                   capture_output=True, text=True)
            self.assertEqual(check.returncode, 2, text)
            self.assertIn(says, check.stderr)


class Hostile(mcp_servers.Servers):
    """Each tool of mcp_hostile.py breaks the protocol in its own way."""

    def start(self, **more):
        keys = ''.join(f'{key} = {value}\n' for key, value in more.items())
        command = [sys.executable, str(HERE / 'mcp_hostile.py'), str(self.folder)]
        self.serve(f'[[mcp]]\nname = "s"\ncommand = {json.dumps(command)}\n{keys}')

    def works_again(self):
        """After its connection was ended, the server is started again and used."""
        self.server.advance(2)
        self.assertIn('is: first', self.outcome(self.call('twice')))

    def memory(self):
        status = pathlib.Path(f'/proc/{self.server.process.pid}/status').read_text()
        return 1024 * int(status.split('VmRSS:')[1].split()[0])

    def test_second_answer_under_an_id_is_ignored(self):
        self.start()
        for _ in range(3):
            self.assertIn('is: first', self.outcome(self.call('twice')))
        texts = [one['parts'][0]['text'] for one in self.server.messages(self.session)]
        self.assertFalse([text for text in texts if 'second' in text])

    def test_tool_that_vanishes_during_its_call_is_answered(self):
        self.start()
        task = self.call('vanish')
        wait_for(lambda: 'call vanish' in self.log(), 20, 'the call')
        self.server.advance(2)
        self.assertIn('is: done without it', self.outcome(task))
        wait_for(lambda: 'mcp:s:vanish' not in self.tools(), 20, 'the new list')
        refused = self.server.post(f'/api/sessions/{self.session}/calls',
                                   {'tool': 'mcp:s:vanish', 'arguments': {}})
        self.assertGreaterEqual(refused.status, 400)
        self.assertIn('vanish', refused['detail'])

    def test_flood_ends_the_connection(self):
        self.start(ask='"none"')
        self.call('flood')
        self.logged("MCP server 's': it sends more than 1000 messages in a second")

    def test_100_mb_are_not_kept(self):
        self.start(message_bytes=100_000)
        self.assertIn('is: first', self.outcome(self.call('twice')))
        before = self.memory()
        self.call('huge')
        self.logged("MCP server 's': it sent a message of more than 100000 bytes")
        self.assertLess(self.memory() - before, 50_000_000)

    def test_lines_of_every_wrong_form_are_skipped(self):
        self.start()
        self.assertIn('is: answered at last', self.outcome(self.call('forms')))
        self.logged("MCP server 's': it sent a line that is not JSON-RPC: ")
        self.assertIn('is: first', self.outcome(self.call('twice')), 'it is still connected')
        self.assertIn("failed: the MCP server's result has no content",
                      self.outcome(self.call('odd')))

    def test_two_questions_under_one_id_are_one(self):
        self.start()
        task = self.call('twins')
        call = self.waiting()
        self.assertIn('One?', call['message'])
        self.server.decide(call, True, content={'name': 'Ann'})
        self.assertIn('"content": {"name": "Ann"}', self.outcome(task))

    def test_sampling_without_end_ends(self):
        self.start(sampling='"ask"')
        task = self.call('samples')
        questions = set()
        for _ in range(10):
            call = wait_for(lambda: next((one for one in self.server.items(
                '/async-tool/pending?project=default&status=waiting')
                if one['id'] not in questions), None), 20, 'a request')
            questions.add(call['id'])
            self.server.decide(call, True)
        self.assertIn('a call may ask at most 10 questions', self.outcome(task))


class Web(mcp_servers.Servers):
    def test_web_pages_and_redirects_are_named(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers['Content-Length']))
                self.send_response(302 if self.path == '/moved' else 200)
                self.send_header('Location', 'http://127.0.0.1:1/')
                self.send_header('Content-Type', 'text/html')
                self.send_header('Content-Length', '2')
                self.end_headers()
                self.wfile.write(b'hi')

            def log_message(self, *_):
                pass

        pages = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.start_peer(pages)
        url = f'http://127.0.0.1:{pages.server_address[1]}'
        self.serve(f'[[mcp]]\nname = "s"\nurl = "{url}/moved"\n'
                   f'[[mcp]]\nname = "t"\nurl = "{url}/page"\n')
        self.logged("MCP server 's': initialize failed: it answered with a redirect (302)")
        self.logged("MCP server 't': initialize failed: it answered with 'text/html'")

    def test_body_without_end_is_cut(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers['Content-Length']))
                self.send_response(200)
                self.send_header('Content-Type', self.path.strip('/').replace('-', '/'))
                self.end_headers()
                try:
                    for _ in range(100):
                        self.wfile.write(b'x' * 1_000_000)
                except OSError:
                    sent.append('refused')

            def log_message(self, *_):
                pass

        sent = []
        pages = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.start_peer(pages)
        url = f'http://127.0.0.1:{pages.server_address[1]}'
        self.serve(f'[[mcp]]\nname = "s"\nurl = "{url}/application-json"\n'
                   'message_bytes = 100000\n'
                   f'[[mcp]]\nname = "t"\nurl = "{url}/text-event-stream"\n'
                   'message_bytes = 100000\n')
        self.logged("MCP server 's': ")
        self.logged("MCP server 't': ")
        wait_for(lambda: len(sent) >= 2, 30, 'both connections are ended')


if __name__ == '__main__':
    main()
