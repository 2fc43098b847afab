"""A model behind chat completions, streamed, that does what the newest user message says: for
agents that bring requests of their own (titles and such), which are answered too."""
import http.server
import json
import re
import threading


def text_of(content):
    if isinstance(content, list):
        return '\n'.join(text_of(part) for part in content)
    if isinstance(content, dict):
        return content.get('text') or ''
    return content or ''


def decide(messages, tools):
    """(tool, name, arguments) or (text, …)."""
    users = [text_of(m['content']) for m in messages if m['role'] == 'user']
    everything = '\n'.join(text_of(m.get('content')) for m in messages)
    if messages[-1]['role'] == 'tool':
        return 'text', 'the tool has run'
    if 'USE_TOOL' in (users or [''])[-1] and 'bash' in tools:
        command = {'command': 'echo ran >> marker.txt', 'description': 'a marker'}
        return 'tool', 'bash', command
    known = sorted(set(re.findall(r'TOKEN-\d+', everything)))
    return 'text', f'I remember {" ".join(known) or "nothing"}'


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        self.server.bodies.append(body)
        tools = [t['function']['name'] for t in body.get('tools') or []]
        kind, *what = decide(body['messages'], tools)
        if kind == 'tool':
            call = {
                'index': 0, 'id': f'call_{len(self.server.bodies)}', 'type': 'function',
                'function': {'name': what[0], 'arguments': json.dumps(what[1])},
            }
            deltas = [({'tool_calls': [call]}, None), ({}, 'tool_calls')]
        else:
            deltas = [({'content': word + ' '}, None) for word in what[0].split()] + [({}, 'stop')]
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.end_headers()
        for delta, finish in [({'role': 'assistant', 'content': ''}, None), *deltas]:
            self.event([{'index': 0, 'delta': delta, 'finish_reason': finish}])
        usage = {'prompt_tokens': 11, 'completion_tokens': 7, 'total_tokens': 18}
        self.event([], usage=usage)
        self.wfile.write(b'data: [DONE]\n\n')

    def event(self, choices, **more):
        chunk = {
            'id': 'c1', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'fake-1',
            'choices': choices, **more,
        }
        self.wfile.write(f'data: {json.dumps(chunk)}\n\n'.encode())


class FakeModel:
    def __init__(self):
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.bodies = []
        self.url = f'http://127.0.0.1:{self.server.server_port}/v1'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
