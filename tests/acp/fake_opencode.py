#!/usr/bin/env python3
"""A program that has what matters of opencode: `acp` with an HTTP port that lists the messages,
and `attach URL`, its own screen, which sends what is typed to that port. ACP tells nobody what was
typed. What it keeps lies in $FAKE_STATE."""
import base64
import http.server
import json
import os
import pathlib
import sys
import threading
import time
import urllib.request

STATE = pathlib.Path(os.environ['FAKE_STATE'])
PASSWORD = os.environ.get('OPENCODE_SERVER_PASSWORD', '')
KEY = 'Basic ' + base64.b64encode(f'opencode:{PASSWORD}'.encode()).decode()


def log(kind, **more):
    with open(STATE / 'log.jsonl', 'a') as file:
        file.write(json.dumps({'kind': kind, 'pid': os.getpid(), **more}) + '\n')


class Kept:
    """The messages of all sessions, in one file."""

    def __init__(self):
        self.file = STATE / 'kept.json'
        self.sessions = json.loads(self.file.read_text()) if self.file.exists() else {}

    def add(self, session, role, text, **more):
        messages = self.sessions.setdefault(session, [])
        newest = messages[-1]['info']['time']['created'] if messages else 0
        created = max(int(time.time() * 1000), newest + 1)
        parts = [{'type': 'text', 'text': text, **more}]
        messages.append({'info': {'role': role, 'time': {'created': created}}, 'parts': parts})
        self.file.write_text(json.dumps(self.sessions))


class Agent:
    def __init__(self):
        self.kept = Kept()
        self.lock = threading.RLock()
        self.asks = 0

    def send(self, message):
        with self.lock:
            sys.stdout.write(json.dumps({'jsonrpc': '2.0', **message}) + '\n')
            sys.stdout.flush()

    def says(self, session, text):
        self.kept.add(session, 'assistant', text)
        update = {
            'sessionUpdate': 'agent_message_chunk',
            'messageId': f'msg_{time.monotonic_ns()}',
            'content': {'type': 'text', 'text': text},
        }
        self.send({'method': 'session/update', 'params': {'sessionId': session, 'update': update}})

    def answer(self, session, text):
        """Answers a prompt of a person or of Dormouse."""
        with self.lock:
            self.kept.add(session, 'user', text)
            if 'say nothing' in text:
                return
            if 'ask me' in text:
                self.asks += 1
                call = {'toolCallId': f't{self.asks}', 'title': 'rm', 'kind': 'execute'}
                options = [{'optionId': 'once', 'kind': 'allow_once', 'name': 'Once'}]
                self.send({
                    'id': 1000 + self.asks, 'method': 'session/request_permission',
                    'params': {'sessionId': session, 'toolCall': call, 'options': options},
                })
                return
            texts = [m['parts'][0]['text'] for m in self.kept.sessions[session]]
            words = [w for text in texts for w in text.split() if w.startswith('TOKEN-')]
            self.says(session, 'I know ' + ' '.join(sorted(set(words))))

    def call(self, method, params):
        session = params.get('sessionId')
        if method == 'initialize':
            can = {'loadSession': True, 'sessionCapabilities': {'resume': {}}}
            about = {'name': 'fake-opencode', 'version': '1'}
            return {'protocolVersion': 1, 'agentCapabilities': can, 'agentInfo': about}
        if method == 'session/new':
            session = f'own_{os.getpid()}_{time.monotonic_ns()}'
            self.kept.sessions[session] = []
            return {'sessionId': session}
        if method in ('session/resume', 'session/load'):
            return {} if session in self.kept.sessions else None
        if method == 'session/prompt':
            self.answer(session, '\n'.join(p.get('text', '') for p in params['prompt']))
            return {'stopReason': 'end_turn'}
        return {}

    def run(self):
        for line in sys.stdin:
            message = json.loads(line)
            if 'method' not in message:
                log('answered', id=message['id'], result=message.get('result'))
                continue
            log('call', method=message['method'])
            result = self.call(message['method'], message.get('params') or {})
            if result is None:
                error = {'code': -32002, 'message': 'session not found'}
                self.send({'id': message['id'], 'error': error})
            elif 'id' in message:
                self.send({'id': message['id'], 'result': result})


class Port(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def reply(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def session(self):
        if self.headers['Authorization'] != KEY:
            self.reply(401, {})
            return None
        return self.path.split('/')[2]

    def do_GET(self):
        session = self.session()
        if session:
            self.reply(200, self.server.agent.kept.sessions.get(session, []))

    def do_POST(self):
        session = self.session()
        if not session:
            return
        body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        self.server.agent.answer(session, body['text'])
        self.reply(200, self.server.agent.kept.sessions[session][-1])


def acp(port):
    log('start', password=len(PASSWORD), token='DORMOUSE_TOKEN' in os.environ)
    agent = Agent()
    server = http.server.ThreadingHTTPServer(('127.0.0.1', port), Port)
    server.agent = agent
    threading.Thread(target=server.serve_forever, daemon=True).start()
    agent.run()


def screen(url, session):
    log('screen', arguments=sys.argv, token='DORMOUSE_TOKEN' in os.environ)
    print('the screen of', session, flush=True)
    for line in sys.stdin:
        if line.strip() == 'quit':
            return
        request = urllib.request.Request(
            f'{url}/session/{session}/message', json.dumps({'text': line.strip()}).encode(),
            {'Authorization': KEY},
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            print('said:', json.loads(answer.read())['parts'][0]['text'], flush=True)


if __name__ == '__main__':
    words = sys.argv[1:]
    if words == ['--version']:
        print('1.0.0')
    elif words[0] == 'acp':
        acp(int(words[words.index('--port') + 1]))
    else:
        screen(words[1], words[words.index('--session') + 1])
