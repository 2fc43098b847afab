"""The contents of requests to the providers, in one form; and what a real provider would
refuse: calls without their answers, answers without calls, two messages of the same side."""
import json


def _text(pieces, kind='text'):
    return '\n'.join(p['text'] for p in pieces if p.get('type') == kind)


def _content_text(content, kind='text'):
    """Of a message whose content is a text, or pieces among which are images and files."""
    return _text(content, kind) if isinstance(content, list) else content or ''


def _call(number, name, arguments):
    return {'id': number, 'name': name, 'arguments': arguments}


class Transcript:
    """One request: `messages` as {role, content, calls?, id?, error?}, `faults` besides those that
    all providers share, and `kept`: what was given back of their own data."""

    def __init__(self, body):
        self.body, self.messages, self.faults, self.kept = body, [], [], []
        self.read()
        self.faults += shared_faults(self.messages)

    def add(self, role, content='', **more):
        self.messages.append({'role': role, 'content': content, **more})

    def tools(self):
        return [t['function']['name'] for t in self.body.get('tools', [])]

    def first_prompt(self):
        return next((m['content'] for m in self.messages if m['role'] == 'user'), None)

    def alternate(self, messages, other):
        roles = [m['role'] for m in messages]
        if roles != ['user', other][: len(roles)] + roles[:-2]:
            self.faults.append(f'the sides do not take turns: {roles}')


class Chat(Transcript):
    def read(self):
        for message in self.body['messages']:
            if message['role'] == 'tool':
                self.add('tool', message['content'], id=message['tool_call_id'])
                continue
            calls = [
                _call(c['id'], c['function']['name'], json.loads(c['function']['arguments']))
                for c in message.get('tool_calls', [])
            ]
            self.add(message['role'], _content_text(message['content']), calls=calls)


class Ollama(Transcript):
    """Its calls have no ids that count: they are answered in order, by name."""

    def read(self):
        number, waiting = 0, []
        for message in self.body['messages']:
            calls = []
            for call in message.get('tool_calls', []):
                number += 1
                calls.append(_call(number, call['function']['name'], call['function']['arguments']))
            if message.get('thinking'):
                self.kept.append(message['thinking'])
            if message['role'] == 'tool':
                call = waiting.pop(0) if waiting else _call(None, None, {})
                if message['tool_name'] != call['name']:
                    self.faults.append(f'{message["tool_name"]}: answers {call["name"]}')
                self.add('tool', message['content'], id=call['id'])
            else:
                self.add(message['role'], message['content'], calls=calls)
                waiting += calls


class Anthropic(Transcript):
    def read(self):
        if 'system' in self.body:
            self.add('system', self.body['system'])
        self.alternate(self.body['messages'], 'assistant')
        for message in self.body['messages']:
            pieces = message['content']
            self.faults += [f'an empty text: {p}' for p in pieces if not p.get('text', 'x').strip()]
            if message['role'] == 'assistant':
                self.assistant(pieces)
            else:
                self.user(pieces)

    def assistant(self, pieces):
        thoughts = [p for p in pieces if p['type'] in ('thinking', 'redacted_thinking')]
        self.kept += [p.get('signature') or p.get('data') for p in thoughts]
        if not all(p.get('signature') or p.get('data') for p in thoughts):
            self.faults.append(f'thinking without its signature: {thoughts}')
        if pieces[-1] in thoughts:
            self.faults.append('ends with thinking')
        calls = [
            _call(p['id'], p['name'], p['input']) for p in pieces if p['type'] == 'tool_use'
        ]
        self.add('assistant', _text(pieces), calls=calls)

    def user(self, pieces):
        kinds = [p['type'] == 'tool_result' for p in pieces]
        if kinds != sorted(kinds, reverse=True):
            self.faults.append('results come after other content')
        for piece in pieces:
            if piece['type'] == 'tool_result':
                error = piece.get('is_error', False)
                self.add('tool', piece['content'], id=piece['tool_use_id'], error=error)
        if not all(kinds):
            self.add('user', _text(pieces))

    def tools(self):
        for tool in self.body.get('tools', []):
            assert tool['input_schema']['type'] == 'object', tool
        return [t['name'] for t in self.body.get('tools', [])]


class Responses(Transcript):
    def read(self):
        if 'instructions' in self.body:
            self.add('system', self.body['instructions'])
        if self.body['store'] is not False:
            self.faults.append('the provider is asked to store')
        after = None  # a reasoning item that its item must follow
        for item in self.body['input']:
            kind = item.get('type', 'message')
            other = kind in ('reasoning', 'function_call_output') or item.get('role') == 'user'
            if after and other:
                self.faults.append(f'{after}: reasoning without what it led to')
            after = None
            if kind == 'reasoning':
                after = item['id']
                self.kept.append(item['encrypted_content'])
            elif kind == 'function_call':
                call = _call(item['call_id'], item['name'], json.loads(item['arguments']))
                if self.messages and self.messages[-1]['role'] == 'assistant':
                    self.messages[-1]['calls'].append(call)
                else:
                    self.add('assistant', '', calls=[call])
            elif kind == 'function_call_output':
                self.add('tool', item['output'], id=item['call_id'])
            elif item['role'] == 'assistant':
                self.add('assistant', _text(item['content'], 'output_text'), calls=[])
            else:
                self.add(item['role'], _content_text(item['content'], 'input_text'))
        if after:
            self.faults.append(f'{after}: reasoning at the end')

    def tools(self):
        return [t['name'] for t in self.body.get('tools', [])]


class Gemini(Transcript):
    def read(self):
        if 'systemInstruction' in self.body:
            self.add('system', self.body['systemInstruction']['parts'][0]['text'])
        self.alternate(self.body['contents'], 'model')
        self.number, self.waiting = 0, []
        for content in self.body['contents']:
            parts = content['parts']
            self.kept += [p['thoughtSignature'] for p in parts if 'thoughtSignature' in p]
            text = '\n'.join(p['text'] for p in parts if 'text' in p and not p.get('thought'))
            if content['role'] == 'model':
                self.waiting = [self.call(p['functionCall']) for p in parts if 'functionCall' in p]
                self.add('assistant', text, calls=list(self.waiting))
                continue
            answers = [p['functionResponse'] for p in parts if 'functionResponse' in p]
            for answer in answers:
                self.answer(answer)
            if len(answers) < len(parts):
                self.add('user', text)

    def call(self, call):
        self.number += 1
        return {**_call(self.number, call['name'], call['args']), 'given': call.get('id')}

    def answer(self, answer):
        call = self.waiting.pop(0) if self.waiting else {'id': None}
        if (answer['name'], answer.get('id')) != (call.get('name'), call.get('given')):
            self.faults.append(f'{answer}: answers {call}')
        response = answer['response']
        content = response.get('output', response.get('error'))
        self.add('tool', content, id=call['id'], error='error' in response)

    def tools(self):
        return [f['name'] for t in self.body.get('tools', []) for f in t['functionDeclarations']]


def shared_faults(messages):
    faults, ids, open_ids = [], set(), []
    for message in messages:
        role = message['role']
        if role == 'tool':
            if not open_ids or open_ids[0] != message['id']:
                faults.append(f'{message["id"]}: answered out of order')
            open_ids = open_ids[1:]
            continue
        if open_ids:
            faults.append(f'{open_ids}: not answered')
        open_ids = [call['id'] for call in message.get('calls', [])]
        faults += [f'{i}: twice' for i in open_ids if i in ids or ids.add(i)]
        for call in message.get('calls', []):
            if not isinstance(call['arguments'], dict):
                faults.append(f'{call["id"]}: the arguments are no object')
        if role == 'assistant' and not message.get('content') and not open_ids:
            faults.append('an empty message of the assistant')
    if open_ids:
        faults.append(f'{open_ids}: not answered at the end')
    roles = [m['role'] for m in messages if m['role'] != 'system']
    if roles[:1] != ['user']:
        faults.append(f'begins with {roles[:1]}')
    return faults
