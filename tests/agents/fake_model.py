"""A model behind chat completions, Anthropic's messages or Gemini's contents, streamed, that does
what the newest user message says: for agents that bring requests of their own (titles, routing),
which are answered too."""
import http.server
import json
import re
import threading

SHELLS = ('bash', 'Bash', 'run_shell_command')
COMMAND = {'command': 'echo ran >> marker.txt', 'description': 'a marker'}


def text_of(content):
    if isinstance(content, list):
        return '\n'.join(text_of(part) for part in content)
    if isinstance(content, dict):
        return content.get('text') or text_of(content.get('content') or '')
    return content or ''


def decide(messages, tools):
    """(tool, name, arguments) or (text, …). messages: (role, text, whether it is a result)."""
    users = [text for role, text, result in messages if role == 'user' and not result]
    if messages and messages[-1][2]:
        return 'text', 'the tool has run'
    newest = (users or [''])[-1]
    shell = next((tool for tool in tools if tool in SHELLS), None)
    if shell and ('USE_TOOL' in newest or 'You may now do what you had asked' in newest):
        return 'tool', shell, COMMAND
    known = sorted(set(re.findall(r'TOKEN-\d+', '\n'.join(text for _, text, _ in messages))))
    return 'text', f'I remember {" ".join(known) or "nothing"}'


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.send_response(200)
        self.send_header('Content-Length', '0')
        self.end_headers()

    def do_GET(self):
        self.whole({'data': []})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        self.server.bodies.append(body)
        path = self.path.partition('?')[0]
        if path.endswith('/chat/completions'):
            return self.chat(body)
        if path.endswith('/count_tokens'):
            return self.whole({'input_tokens': 10})
        if path.endswith('/messages'):
            return self.anthropic(body)
        return self.gemini(body, path.rpartition(':')[2])

    def whole(self, value):
        raw = json.dumps(value).encode()
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def stream(self, events):
        """Of (name or None, data)."""
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.end_headers()
        for name, data in events:
            line = f'event: {name}\n' if name else ''
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(f'{line}data: {text}\n\n'.encode())
        self.close_connection = True

    def number(self):
        return len(self.server.bodies)

    def chat(self, body):
        messages = [
            (m['role'], text_of(m.get('content')), m['role'] == 'tool')
            for m in body['messages'] if m['role'] != 'system'
        ]
        tools = [t['function']['name'] for t in body.get('tools') or []]
        kind, *what = decide(messages, tools)
        deltas = [({'role': 'assistant', 'content': ''}, None)]
        if kind == 'tool':
            call = {
                'index': 0, 'id': f'call_{self.number()}', 'type': 'function',
                'function': {'name': what[0], 'arguments': json.dumps(what[1])},
            }
            deltas += [({'tool_calls': [call]}, None), ({}, 'tool_calls')]
        else:
            deltas += [({'content': word + ' '}, None) for word in what[0].split()]
            deltas += [({}, 'stop')]
        base = {'id': 'c1', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'fake-1'}
        events = [
            (None, {**base, 'choices': [{'index': 0, 'delta': delta, 'finish_reason': finish}]})
            for delta, finish in deltas
        ]
        usage = {'prompt_tokens': 11, 'completion_tokens': 7, 'total_tokens': 18}
        self.stream([*events, (None, {**base, 'choices': [], 'usage': usage}), (None, '[DONE]')])

    def anthropic(self, body):
        messages = []
        for message in body['messages']:
            content = message['content']
            result = isinstance(content, list) and any(
                part.get('type') == 'tool_result' for part in content
            )
            messages.append((message['role'], text_of(content), result))
        kind, *what = decide(messages, [t.get('name') for t in body.get('tools') or []])
        usage = {'input_tokens': 11, 'output_tokens': 7}
        reply = {
            'id': f'msg_{self.number()}', 'type': 'message', 'role': 'assistant',
            'model': body.get('model'), 'content': [], 'stop_reason': None,
            'stop_sequence': None, 'usage': usage,
        }
        if kind == 'tool':
            block = {'type': 'tool_use', 'id': f'toolu_{self.number()}', 'name': what[0]}
            full, stop = {**block, 'input': what[1]}, 'tool_use'
            start = {**block, 'input': {}}
            delta = {'type': 'input_json_delta', 'partial_json': json.dumps(what[1])}
        else:
            full, stop = {'type': 'text', 'text': what[0]}, 'end_turn'
            start, delta = {'type': 'text', 'text': ''}, {'type': 'text_delta', 'text': what[0]}
        if not body.get('stream'):
            return self.whole({**reply, 'content': [full], 'stop_reason': stop})
        events = [
            {'type': 'message_start', 'message': reply},
            {'type': 'content_block_start', 'index': 0, 'content_block': start},
            {'type': 'content_block_delta', 'index': 0, 'delta': delta},
            {'type': 'content_block_stop', 'index': 0},
            {'type': 'message_delta', 'delta': {'stop_reason': stop, 'stop_sequence': None},
             'usage': {'output_tokens': 7}},
            {'type': 'message_stop'},
        ]
        self.stream([(event['type'], event) for event in events])

    def gemini(self, body, verb):
        if verb == 'countTokens':
            return self.whole({'totalTokens': 12})
        messages = []
        for message in body.get('contents', []):
            parts = message.get('parts', [])
            role = 'assistant' if message.get('role') == 'model' else 'user'
            result = any('functionResponse' in part for part in parts)
            messages.append((role, text_of(parts), result))
        tools = [
            f['name'] for tool in body.get('tools') or []
            for f in tool.get('functionDeclarations', [])
        ]
        kind, *what = decide(messages, tools)
        if (body.get('generationConfig') or {}).get('responseMimeType') == 'application/json':
            kind, what = 'text', [json.dumps({
                'reasoning': 'x', 'next_speaker': 'user', 'model_choice': 'flash',
                'complexity_reasoning': 'x', 'complexity_score': 1,
            })]
        part = {'text': what[0]}
        if kind == 'tool':
            part = {'functionCall': {'name': what[0], 'args': what[1]}}
        reply = {
            'candidates': [{
                'content': {'role': 'model', 'parts': [part]}, 'finishReason': 'STOP', 'index': 0,
            }],
            'usageMetadata': {
                'promptTokenCount': 11, 'candidatesTokenCount': 7, 'totalTokenCount': 18,
            },
            'modelVersion': 'fake', 'responseId': f'r{self.number()}',
        }
        self.stream([(None, reply)]) if verb.startswith('stream') else self.whole(reply)


class FakeModel:
    def __init__(self):
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.bodies = []
        self.root = f'http://127.0.0.1:{self.server.server_port}'
        self.url = self.root + '/v1'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
