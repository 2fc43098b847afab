"""A server of the Model Context Protocol that does what tests say, on standard input and output.
Arguments: a folder, in which it writes what it got (`log`), and how it behaves."""
import json
import os
import pathlib
import sys

FOLDER = pathlib.Path(sys.argv[1])
HOW = sys.argv[2] if len(sys.argv) > 2 else 'well'
READS = {'readOnlyHint': True}
CAPABILITIES = [
    {'tools': {'listChanged': True}, 'resources': {}, 'prompts': {},
     'tasks': {'cancel': {}, 'requests': {'tools': {'call': {}}}}},
    {'tools': {'listChanged': True}, 'extensions': {'io.modelcontextprotocol/tasks': {}}},
]


# One file for each, which survives this program; tests write them, too. `forgets`: only this
# process knows its tasks.
TASKS = FOLDER / (f'tasks-{os.getpid()}' if HOW == 'forgets' else 'tasks')
RESULTS = []  # requests for the result of a task that is asking: (number, task)


def tool(name, schema=None, task=None, **annotations):
    return {'name': name, 'description': f'The tool {name}.', 'annotations': annotations,
            'inputSchema': schema or {'type': 'object'},
            **({'execution': {'taskSupport': task}} if task else {})}


def say(message):
    sys.stdout.write(json.dumps({'jsonrpc': '2.0', **message}) + '\n')
    sys.stdout.flush()


def tools():
    found = [tool('deploy', {'type': 'object', 'properties': {'target': {'type': 'string'}},
                             'required': ['target']}),
             tool('look', **READS), tool('hang', **READS), tool('die', **READS),
             tool('large', **READS), tool('grow', **READS), tool('fail', **READS),
             tool('steps', **READS), tool('slow', task='required', **READS),
             tool('quiz', task='required'),
             tool('ask', **READS), tool('ask_once'), tool('visit', **READS),
             tool('sample', **READS)]
    return found + ([tool('new', **READS)] if (FOLDER / 'grown').exists() else [])


def log(line):
    with open(FOLDER / 'log', 'a') as file:
        file.write(line + '\n')


def task_of(name):
    """The state of a task, as its file says."""
    return {'taskId': name, 'createdAt': '2026-11-26T00:00:00Z', 'ttl': None, 'pollInterval': 1000,
            'lastUpdatedAt': '2026-11-26T00:00:00Z', **json.loads((TASKS / name).read_text())}


def answer_task(name, answer):
    """The task has its input, and ends with it as its result."""
    log(f'answered {json.dumps(answer)}')
    result = {'content': [{'type': 'text', 'text': json.dumps(answer)}]}
    (TASKS / name).write_text(json.dumps({'status': 'completed', 'result': result}))
    for number, task in RESULTS:
        if task == name:
            say({'id': number, 'result': result})


def task_request(number, method, params):
    name = params['taskId']
    log(f'{method} {name}')
    if not (TASKS / name).exists():
        return say({'id': number, 'error': {'code': -32602, 'message': 'no such task'}})
    if method == 'tasks/update':
        answer_task(name, params['inputResponses'])
        return say({'id': number, 'result': {'resultType': 'complete'}})
    if method == 'tasks/cancel':
        (TASKS / name).write_text('{"status": "cancelled"}')
    if method == 'tasks/result' and task_of(name)['status'] == 'input_required':
        say({'id': f't{name}', 'method': 'elicitation/create', 'params': {
            **ASKS['ask'], '_meta': {'io.modelcontextprotocol/related-task': {'taskId': name}}}})
        return RESULTS.append((number, name))
    if method == 'tasks/result':
        return say({'id': number,
                    'result': {'content': [{'type': 'text', 'text': f'result of {name}'}]}})
    say({'id': number, 'result': task_of(name)})


def begin_task(number, params):
    TASKS.mkdir(exist_ok=True)
    name = f'task-{len(list(TASKS.iterdir())) + 1}'
    (TASKS / name).write_text('{"status": "working", "statusMessage": "begun"}')
    if params['name'] == 'quiz':
        inside = HOW in ('extension', 'stateless')
        request = {'who': {'method': 'elicitation/create', 'params': ASKS['ask']}}
        (TASKS / name).write_text(json.dumps(
            {'status': 'input_required', **({'inputRequests': request} if inside else {})}))
    if HOW in ('extension', 'stateless'):
        return say({'id': number, 'result': {'resultType': 'task', **task_of(name)}})
    if 'task' not in params:
        return say({'id': number, 'error': {'code': -32601, 'message': 'only as a task'}})
    say({'id': number, 'result': {'task': task_of(name)}})


def library(number, method, params):
    """Resources and prompts."""
    log(f'{method} {json.dumps(params)}')
    uri = params.get('uri', '')
    if uri == 'notes://none':
        return say({'id': number, 'error': {'code': -32002, 'message': 'no such resource'}})
    text = 'x' * 200_000 if uri == 'notes://large' else 'the notes'
    greeting = f'Greet {params.get("arguments")}'
    message = {'role': 'user', 'content': {'type': 'text', 'text': greeting}}
    say({'id': number, 'result': {
        'resources/list': {'resources': [{'uri': 'notes://all', 'name': 'all'}]},
        'resources/read': {'contents': [{'uri': uri, 'text': text}]},
        'prompts/list': {'prompts': [{'name': 'greet', 'arguments': [{'name': 'who'}]}]},
        'prompts/get': {'messages': [message]},
    }[method]})


FORM = {'type': 'object', 'properties': {'name': {'type': 'string'}}, 'required': ['name']}
ASKS = {'ask': {'message': 'Who are you?', 'requestedSchema': FORM},
        'ask_once': {'message': 'Who are you?', 'requestedSchema': FORM},
        'visit': {'mode': 'url', 'message': 'Sign in there.', 'elicitationId': 'e1',
                  'url': 'https://sign-in.example/start?x=1'}}


SAMPLE = {'method': 'sampling/createMessage', 'params': {
    'messages': [{'role': 'user', 'content': {'type': 'text', 'text': 'Say hello.'}}],
    'maxTokens': 100}}


def ask(number, params):
    """Asks a question in the call; the answer is the call's result."""
    name = params['name']
    if HOW == 'stateless':
        if 'inputResponses' in params:
            return answered(number, [params['requestState'], params['inputResponses']['who']])
        request = SAMPLE if name == 'sample' else {'method': 'elicitation/create',
                                                   'params': ASKS[name]}
        return say({'id': number, 'result': {'resultType': 'input_required', 'requestState': 'mine',
                                             'inputRequests': {'who': request}}})
    say({'id': f'q{number}', 'method': 'elicitation/create', 'params': ASKS[name]})


def answered(number, answer):
    log(f'answered {json.dumps(answer)}')
    say({'id': number, 'result': {'content': [{'type': 'text', 'text': json.dumps(answer)}]}})


def steps(number, token):
    """Reports 500 steps at once, and ends when the test writes to the FIFO `end`."""
    for step in range(1, 501):
        say({'method': 'notifications/progress',
             'params': {'progressToken': token, 'progress': step, 'total': 500,
                        'message': f'step {step}'}})
    (FOLDER / 'end').read_text()
    say({'id': number, 'result': {'content': [{'type': 'text', 'text': 'steps done'}]}})


def call(number, params):
    name, arguments = params['name'], params['arguments']
    log(f'call {name} {json.dumps(arguments)}')
    if 'traceparent' in params.get('_meta', {}):
        log(f'traceparent {params["_meta"]["traceparent"]}')
        log(f'tracestate {params["_meta"].get("tracestate")}')
    if name in ASKS or (name == 'sample' and HOW == 'stateless'):
        return ask(number, params)
    if name == 'sample':
        return say({'id': f'q{number}', **SAMPLE})
    if name in ('slow', 'quiz'):
        return begin_task(number, params)
    if name == 'steps':
        return steps(number, params['_meta']['progressToken'])
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


def wrong_meta(message):
    """Why a server that knows only 2026-07-28 refuses the request; None: it does not."""
    if message['method'] == 'initialize':
        return {'code': -32601, 'message': 'unknown method'}
    meta = message['params'].get('_meta', {})
    name = 'io.modelcontextprotocol/'
    if meta.get(name + 'protocolVersion') != '2026-07-28':
        return {'code': -32022, 'message': 'Unsupported protocol version'}
    if not isinstance(meta.get(name + 'clientCapabilities'), dict):
        return {'code': -32602, 'message': 'no capabilities'}
    return None


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
        if method is None and number[0] == 't':
            answer_task(number[1:], message.get('result', message.get('error')))
            continue
        if method is None:
            answered(int(number[1:]), message.get('result', message.get('error')))
            continue
        if HOW == 'stateless' and (refusal := wrong_meta(message)):
            say({'id': number, 'error': refusal})
        elif method == 'server/discover':
            say({'id': number, 'result': {'resultType': 'complete', 'ttlMs': 60_000,
                                          'supportedVersions': ['2026-07-28'],
                                          'capabilities': CAPABILITIES[1]}})
        elif method == 'initialize':
            say({'id': number, 'result': {
                'protocolVersion': message['params']['protocolVersion'],
                'capabilities': CAPABILITIES[HOW == 'extension'],
                'serverInfo': {'name': 'fake', 'version': '1'}}})
        elif method == 'tools/list':
            say({'id': number, 'result': {'tools': tools()}})
        elif method == 'tools/call':
            call(number, message['params'])
        elif method.startswith(('resources/', 'prompts/')):
            library(number, method, message.get('params', {}))
        elif method.startswith('tasks/'):
            task_request(number, method, message['params'])
        else:
            say({'id': number, 'error': {'code': -32601, 'message': 'unknown'}})


if __name__ == '__main__':
    main()
