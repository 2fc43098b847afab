"""A server of the Model Context Protocol, on standard input and output, whose tools break the
protocol, each in its own way. Argument: a folder for its `log`."""
import json
import pathlib
import sys

FOLDER = pathlib.Path(sys.argv[1])
GONE = set()
READS = {'readOnlyHint': True}
OPEN = {}  # requests that are asking, by how
FORM = {'type': 'object', 'properties': {'name': {'type': 'string'}}}
SAMPLE = {'messages': [{'role': 'user', 'content': {'type': 'text', 'text': 'More.'}}],
          'maxTokens': 9}


def write(line):
    sys.stdout.write(line + '\n')
    sys.stdout.flush()


def say(message):
    write(json.dumps({'jsonrpc': '2.0', **message}))


def answer(number, text):
    say({'id': number, 'result': {'content': [{'type': 'text', 'text': text}]}})


def twice(number):
    answer(number, 'first')
    answer(number, 'second')


def vanish(number):
    GONE.add('vanish')
    say({'method': 'notifications/tools/list_changed'})
    OPEN['vanish'] = number  # answered when the new list was read


def flood(number):
    for step in range(5000):
        say({'method': 'notifications/message', 'params': {'level': 'info', 'data': step}})


def huge(number):
    for _ in range(100):
        sys.stdout.write('x' * 1_000_000)
    write('')


def forms(number):
    for line in ('[]', '42', '"text"', 'null', '{}', '{"jsonrpc":"2.0"}',
                 '{"jsonrpc":"2.0","id":{"a":1},"result":{}}',
                 '{"jsonrpc":"2.0","id":999999,"result":{}}', '{"jsonrpc":"2.0","method":7}',
                 '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', '[' * 5000, '\x00\x01'):
        write(line)
    answer(number, 'answered at last')


def odd(number):
    say({'id': number})


def twins(number):
    OPEN['twins'] = number
    for message in ('One?', 'Two?'):
        say({'id': 'same', 'method': 'elicitation/create',
             'params': {'message': message, 'requestedSchema': FORM}})


def samples(number):
    OPEN['samples'] = number
    say({'id': 'more', 'method': 'sampling/createMessage', 'params': SAMPLE})


TOOLS = {tool.__name__: tool for tool in (twice, vanish, flood, huge, forms, odd, twins, samples)}


def answered(message):
    """An answer to a request of this server."""
    if message['id'] == 'same' and 'result' in message:
        answer(OPEN.pop('twins'), json.dumps(message['result']))
    if message['id'] == 'more' and 'error' in message:
        answer(OPEN.pop('samples'), message['error']['message'])
    elif message['id'] == 'more':
        samples(OPEN['samples'])


def listed(number):
    say({'id': number, 'result': {'tools': [
        {'name': name, 'inputSchema': {'type': 'object'}, 'annotations': READS}
        for name in TOOLS if name not in GONE]}})
    if 'vanish' in OPEN:
        answer(OPEN.pop('vanish'), 'done without it')


for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get('method'), message.get('id')
    if method is None:
        answered(message)
    elif method == 'initialize':
        say({'id': number, 'result': {'protocolVersion': '2025-11-25',
                                      'capabilities': {'tools': {'listChanged': True}},
                                      'serverInfo': {'name': 'hostile', 'version': '1'}}})
    elif method == 'tools/list':
        listed(number)
    elif method == 'tools/call':
        with open(FOLDER / 'log', 'a') as log:
            log.write('call ' + message['params']['name'] + '\n')
        TOOLS[message['params']['name']](number)
