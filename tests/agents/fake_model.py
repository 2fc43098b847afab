"""A scripted model for external agents, over HTTP with streaming. It does what the newest user
message says, and answers the requests that agents make on their own, such as titles. It speaks
chat completions, Anthropic's messages and Gemini's generateContent."""
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
        return content.get('text') or text_of(content.get('content') or content.get('parts'))
    return content or ''


def decide(messages, tools):
    """(name, arguments) of a tool, or a text. Messages are (role, text, has a tool's result)."""
    prompts = [text for role, text, result in messages if role == 'user' and not result]
    prompt = prompts[-1] if prompts else ''
    shell = [name for name in SHELLS if name in tools]
    ask = [name for name in tools if name.endswith('ask_human')]
    if messages and messages[-1][2]:
        return ' '.join(['the tool has run', *re.findall(r'TOKEN-\d+', messages[-1][1])])
    if ask and 'USE_MCP' in prompt:
        return ask[0], {'question': 'Which token?', 'wait': 600_000}
    if shell and ('USE_TOOL' in prompt or 'You may now do' in prompt):
        return shell[0], COMMAND
    task = [name for name in tools if name.endswith('background_task')]
    if task and 'USE_TASK' in prompt:
        wanted = {'description': 'a review', 'prompt': 'remember TOKEN-99', 'agent': 'reviewer'}
        return task[0], wanted
    ended = re.search(r'Task (tsk_[\w-]+): completed', prompt)
    output = [name for name in tools if name.endswith('background_output')]
    if ended and output:
        return output[0], {'task_id': ended[1]}
    known = sorted(set(re.findall(r'TOKEN-\d+', '\n'.join(text for _, text, _ in messages))))
    return f'I remember {" ".join(known) or "nothing"}'


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.send_response(200)
        self.end_headers()

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        self.server.bodies.append(body)
        path = self.path.partition('?')[0]
        if path.endswith('/chat/completions'):
            self.chat(body)
        elif path.endswith('/messages'):
            self.anthropic(body)
        elif path.endswith('/count_tokens'):
            self.whole({'input_tokens': 10})
        else:
            self.gemini(body, path.rpartition(':')[2])

    def whole(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self):
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.end_headers()

    def event(self, value, name=None):
        head = f'event: {name}\n' if name else ''
        data = value if isinstance(value, str) else json.dumps(value)
        self.wfile.write(f'{head}data: {data}\n\n'.encode())

    def chat(self, body):
        messages = [
            (m['role'], text_of(m.get('content')), m['role'] == 'tool') for m in body['messages']
        ]
        reply = decide(messages, [t['function']['name'] for t in body.get('tools') or []])
        if isinstance(reply, tuple):
            call = {
                'index': 0,
                'id': f'call_{len(self.server.bodies)}',
                'type': 'function',
                'function': {'name': reply[0], 'arguments': json.dumps(reply[1])},
            }
            deltas = [({'tool_calls': [call]}, None), ({}, 'tool_calls')]
        else:
            deltas = [({'content': word + ' '}, None) for word in reply.split()] + [({}, 'stop')]
        self.stream()
        chunk = {'id': 'c1', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'fake-1'}
        for delta, finish in [({'role': 'assistant', 'content': ''}, None), *deltas]:
            self.event(
                {**chunk, 'choices': [{'index': 0, 'delta': delta, 'finish_reason': finish}]}
            )
        usage = {'prompt_tokens': 11, 'completion_tokens': 7, 'total_tokens': 18}
        self.event({**chunk, 'choices': [], 'usage': usage})
        self.event('[DONE]')

    def anthropic(self, body):
        messages = [
            (
                m['role'],
                text_of(m['content']),
                isinstance(m['content'], list)
                and any(part.get('type') == 'tool_result' for part in m['content']),
            )
            for m in body['messages']
        ]
        reply = decide(messages, [t.get('name') for t in body.get('tools') or []])
        number = len(self.server.bodies)
        if isinstance(reply, tuple):
            block = {'type': 'tool_use', 'id': f'toolu_{number}', 'name': reply[0], 'input': {}}
            delta = {'type': 'input_json_delta', 'partial_json': json.dumps(reply[1])}
        else:
            block = {'type': 'text', 'text': ''}
            delta = {'type': 'text_delta', 'text': reply}
        stop = 'tool_use' if isinstance(reply, tuple) else 'end_turn'
        usage = {'input_tokens': 11, 'output_tokens': 7}
        message = {
            'id': f'msg_{number}',
            'type': 'message',
            'role': 'assistant',
            'model': body['model'],
            'stop_sequence': None,
            'usage': usage,
        }
        if not body.get('stream'):
            whole = {**block, **({'input': reply[1]} if stop == 'tool_use' else {'text': reply})}
            return self.whole({**message, 'content': [whole], 'stop_reason': stop})
        self.stream()
        for value in (
            {'type': 'message_start', 'message': {**message, 'content': [], 'stop_reason': None}},
            {'type': 'content_block_start', 'index': 0, 'content_block': block},
            {'type': 'content_block_delta', 'index': 0, 'delta': delta},
            {'type': 'content_block_stop', 'index': 0},
            {'type': 'message_delta', 'delta': {'stop_reason': stop}, 'usage': usage},
            {'type': 'message_stop'},
        ):
            self.event(value, value['type'])

    def gemini(self, body, verb):
        if verb == 'countTokens':
            return self.whole({'totalTokens': 12})
        messages = [
            (
                'assistant' if m.get('role') == 'model' else 'user',
                text_of(m['parts']),
                any('functionResponse' in part for part in m['parts']),
            )
            for m in body['contents']
        ]
        tools = [
            f['name'] for t in body.get('tools') or [] for f in t.get('functionDeclarations', [])
        ]
        reply = decide(messages, tools)
        if (body.get('generationConfig') or {}).get('responseMimeType') == 'application/json':
            reply = json.dumps({'reasoning': 'x', 'model_choice': 'flash', 'complexity_score': 1})
        call = isinstance(reply, tuple)
        part = {'functionCall': {'name': reply[0], 'args': reply[1]}} if call else {'text': reply}
        usage = {'promptTokenCount': 11, 'candidatesTokenCount': 7, 'totalTokenCount': 18}
        content = {'role': 'model', 'parts': [part]}
        reply = {
            'candidates': [{'content': content, 'finishReason': 'STOP', 'index': 0}],
            'usageMetadata': usage,
            'modelVersion': 'fake',
            'responseId': f'r{len(self.server.bodies)}',
        }
        if not verb.startswith('stream'):
            return self.whole(reply)
        self.stream()
        return self.event(reply)


class FakeModel:
    def __init__(self):
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.bodies = []
        self.root = f'http://127.0.0.1:{self.server.server_port}'
        self.url = f'{self.root}/v1'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
