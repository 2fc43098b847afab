"""A server of the Model Context Protocol that does what tests say, on standard input and output.
Arguments: a folder, in which it writes what it got (`log`), and how it behaves."""
import json
import pathlib
import sys
import time

FOLDER = pathlib.Path(sys.argv[1])
HOW = sys.argv[2] if len(sys.argv) > 2 else 'well'
READS = {'readOnlyHint': True}


def tool(name, schema=None, **annotations):
    return {'name': name, 'description': f'The tool {name}.', 'annotations': annotations,
            'inputSchema': schema or {'type': 'object'}}


def say(message):
    sys.stdout.write(json.dumps({'jsonrpc': '2.0', **message}) + '\n')
    sys.stdout.flush()


def tools():
    found = [tool('deploy', {'type': 'object', 'properties': {'target': {'type': 'string'}},
                             'required': ['target']}),
             tool('look', **READS), tool('hang', **READS), tool('die', **READS),
             tool('large', **READS), tool('grow', **READS), tool('fail', **READS)]
    return found + ([tool('new', **READS)] if (FOLDER / 'grown').exists() else [])


def log(line):
    with open(FOLDER / 'log', 'a') as file:
        file.write(line + '\n')


def call(number, name, arguments):
    log(f'call {name} {json.dumps(arguments)}')
    if name == 'die' and not (FOLDER / 'died').exists():
        (FOLDER / 'died').touch()
        sys.exit('out of memory')
    if name == 'hang':
        return
    if name == 'large':
        return say({'id': number, 'result': {'content': [{'type': 'text', 'text': 'x' * 200_000}]}})
    if name == 'grow':
        (FOLDER / 'grown').touch()
        say({'method': 'notifications/tools/list_changed'})
    text = f'{name} {arguments.get("target", "done")}'
    say({'id': number, 'result': {'content': [{'type': 'text', 'text': text}],
                                  'isError': name == 'fail'}})


def main():
    log('start')
    if HOW == 'html':
        print('<html>' * 1000, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        method, number = message.get('method'), message.get('id')
        if method == 'notifications/cancelled':
            log('cancelled')
        if HOW == 'silent' or number is None:
            continue
        if method == 'initialize':
            say({'id': number, 'result': {
                'protocolVersion': message['params']['protocolVersion'],
                'capabilities': {'tools': {'listChanged': True}},
                'serverInfo': {'name': 'fake', 'version': '1'}}})
        elif method == 'tools/list':
            say({'id': number, 'result': {'tools': tools()}})
        elif method == 'tools/call':
            call(number, message['params']['name'], message['params']['arguments'])
        else:
            say({'id': number, 'error': {'code': -32601, 'message': 'unknown'}})


if __name__ == '__main__':
    main()
