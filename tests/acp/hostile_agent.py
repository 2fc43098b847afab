#!/usr/bin/env python3
"""An agent that speaks ACP and keeps to nothing else: for tests, with nothing but the standard
library. What it saw lies in the folder $FAKE_STATE. The first word of a prompt decides:
  again    asks for a command and dies; then asks for the same one twice, by other ids
  at-once  the same, but both times at the same moment
  other W  asks and dies; then asks for what differs in W alone: name, told (its name is in an
           update before), title, locations, content, option or nothing
  cancel   asks after it was cancelled, answers its prompt three times, and continues
  leaves   asks, and ends the turn without waiting
  names    asks with names and a title that are far too long
  odd      writes what is no message, and what no message may hold
--long-id: its session's id has 2 MB."""
import json
import os
import pathlib
import signal
import sys
import threading

STATE = pathlib.Path(os.environ['FAKE_STATE'])
lock = threading.Lock()
waiting = {}
cancelled = threading.Event()


def write(line):
    with lock:
        sys.stdout.buffer.write(line + b'\n')
        sys.stdout.buffer.flush()


def send(message):
    write(json.dumps({'jsonrpc': '2.0', **message}).encode())


def log(kind, **more):
    with open(STATE / 'log.jsonl', 'a') as out:
        out.write(json.dumps({'kind': kind, **more}) + '\n')


def first_time(name):
    try:
        (STATE / name).touch(exist_ok=False)
        return True
    except FileExistsError:
        return False


OPTIONS = [
    {'optionId': 'no', 'name': 'No', 'kind': 'reject_once'},
    {'optionId': 'yes', 'name': 'Yes', 'kind': 'allow_once'},
]


def ask(session, call, wait=True, options=OPTIONS, **more):
    number = len(waiting) + 1_000
    waiting[number] = [threading.Event(), None]
    called = {
        'toolCallId': call, 'title': 'Run', 'kind': 'execute', 'rawInput': {'command': 'x'}, **more
    }
    params = {'sessionId': session, 'toolCall': called, 'options': options}
    send({'id': number, 'method': 'session/request_permission', 'params': params})
    if not wait:
        return None
    waiting[number][0].wait()
    outcome = waiting[number][1]['result']['outcome']
    log('answer', call=call[:20], option=outcome.get('optionId', outcome['outcome']))


def update(session, what, **more):
    body = {'sessionUpdate': what, **more}
    send({'method': 'session/update', 'params': {'sessionId': session, 'update': body}})


def say(session, text):
    update(session, 'agent_message_chunk', content={'type': 'text', 'text': text})


def die_soon():
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()


def again(session, number, at_once):
    if first_time('began'):
        die_soon()
        return ask(session, 'a')
    asks = [threading.Thread(target=ask, args=(session, call)) for call in 'bc']
    for one in asks:
        one.start()
        if not at_once:
            one.join()
    for one in asks:
        one.join()


def of_another(what, second):
    """The members of a request that tell the second one from the first."""
    word = 'delete' if second else 'look'
    return {
        'name': {'name': word},
        'title': {'title': f'{word} it'},
        'locations': {'locations': [{'path': f'/{word}'}]},
        'content': {'content': [{'type': 'diff', 'path': '/a', 'newText': word}]},
        'option': {'options': [{'optionId': word, 'name': word, 'kind': 'allow_always'}]},
    }.get(what, {})


def other(session, rest):
    if first_time('other'):
        (STATE / 'other').write_text(rest)
        die_soon()
    what, second = (STATE / 'other').read_text(), not rest
    call = 'b' if second else 'a'
    if what == 'told':
        name = 'delete' if second else 'look'
        update(session, 'tool_call', toolCallId=call, name=name, status='pending')
    ask(session, call, **of_another(what, second))


def after_cancel(session, number):
    cancelled.wait()
    ask(session, 'late')
    for answer in ({'result': {'stopReason': 'cancelled'}}, {'result': {}}, {'error': {}}):
        send({'id': number, **answer})
    ask(session, 'later')


def odd(session):
    head = b'{"jsonrpc":"2.0","method":"session/update","params":'
    text = b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\xff\\ud800"}}'
    write(head + b'{"sessionId":"' + session.encode() + b'","update":' + text + b'}}')
    write(head + b'[' * 5_000 + b']' * 5_000 + b'}')
    write(b'[]\n{}\nnull\n1\n"x"\n{"id":null,"method":"session/request_permission","params":null}')
    for what, more in (
        ('tool_call', {'toolCallId': 't\x00\u202e', 'title': '\x1b[2J', 'kind': 7}),
        ('tool_call', {'toolCallId': 'k' * 100_000, 'status': 'weird'}),
        ('plan', {'entries': 'no'}),
        ('session_info_update', {'title': '\x1b]0;x\x07' * 1_000}),
        ('config_option_update', {'configOptions': {'a': 1}}),
        (7, {}),
    ):
        update(session, what, **more)


def prompt(number, params):
    session = params['sessionId']
    text = params['prompt'][0].get('text', '')
    word = text.split()[0] if text.split() else ''
    log('prompt', word=word)
    usage = {'inputTokens': -5, 'outputTokens': 1e300}
    if word in ('again', 'at-once') or (STATE / 'began').exists():
        again(session, number, word == 'at-once' or (STATE / 'both').exists())
    elif word == 'other' or (STATE / 'other').exists():
        other(session, text.split()[1] if word == 'other' else '')
    elif word == 'cancel':
        return after_cancel(session, number)
    elif word == 'leaves':
        ask(session, 'open', wait=False)
    elif word == 'names':
        names = {'title': 'T\x1b[2J\n' * 50_000, 'kind': 'exe\ncute' * 9_000, 'name': 'n' * 90_000}
        ask(session, 'k' * 300_000, **names)
    elif word == 'odd':
        odd(session)
    say(session, f'done {word}')
    send({'id': number, 'result': {'stopReason': 'end_turn', 'usage': usage}})


def serve(message):
    method, number, params = message.get('method'), message.get('id'), message.get('params')
    if method is None:
        if number in waiting:
            waiting[number][1] = message
            waiting[number][0].set()
    elif method == 'initialize':
        can = {'loadSession': True}
        send({'id': number, 'result': {'protocolVersion': 1, 'agentCapabilities': can}})
    elif method == 'session/new':
        name = 'i' * 2_000_000 if '--long-id' in sys.argv else 'the-only-one'
        send({'id': number, 'result': {'sessionId': name}})
    elif method == 'session/load':
        send({'id': number, 'result': {}})
    elif method == 'session/prompt':
        cancelled.clear()
        threading.Thread(target=prompt, args=(number, params), daemon=True).start()
    elif method == 'session/cancel':
        cancelled.set()
    elif number is not None:
        send({'id': number, 'error': {'code': -32601, 'message': 'Method not found'}})


for line in sys.stdin:
    serve(json.loads(line))
