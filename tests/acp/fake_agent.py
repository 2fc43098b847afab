#!/usr/bin/env python3
"""An agent that speaks ACP version 1 and does what its prompts say: for tests, with nothing but the
standard library. What it remembers lies in the folder $FAKE_STATE, as a real agent's would.

The last line of a prompt that is no marker decides:
  crash           it dies, each time                crash once      … only the first time
  vanish          it dies before it has kept the prompt; vanish once: only the first time
  hang            no answer until it is cancelled   deaf            … not even then
  tool NAME       a tool call, and what came of it  halfway once    dies while a tool runs
  ask NAME        wants to be allowed that tool     ask once NAME   … and dies meanwhile, once
  flip            asks for a command and dies meanwhile; then asks for another. Sends no input
  slow NAME       asks, and dies while it runs; then asks again
  own NAME        asks for a tool of the MCP server dormouse, as Claude Code does
  late            says something after its answer   later           … long after, twice
  flood N         N pieces of text, tool updates and plans
  junk            writes what is no message
  typed COMMAND   a tool call as opencode tells of it: its name first, its input later
  think           reasons first                     big N           N bytes of text
  refuse          answers with an error             title T         names the session
  mode M          changes its mode by itself
  call METHOD {…} asks us for that, and says what came back
  run COMMAND     in a terminal of ours, waits for its end, says what it showed
anything else is said back, with what it knows of the conversation.
Flags: --no-load, --resume, --forgets (knows no session after a restart), --login (wants one before
it makes a session; takes the login "key"), --modes (has modes and options), --version N;
--list, --close, --delete (says that it can that with its sessions), --list-hangs, --close-hangs,
--delete-hangs-once (no answer), --denies-once (does not know its session the first time),
--kills-server (has a new session and its prompt, and the server dies before it can write so down).
"""
import datetime
import fcntl
import json
import os
import pathlib
import signal
import sys
import threading
import uuid

STATE = pathlib.Path(os.environ['FAKE_STATE'])
FLAGS = set(sys.argv[1:])
lock = threading.Lock()
waiting = {}  # id of a request of ours → [event, answer]
cancelled = threading.Event()
last_id = 0


def send(message):
    with lock:
        sys.stdout.write(json.dumps({'jsonrpc': '2.0', **message}) + '\n')
        sys.stdout.flush()


def log(kind, **more):
    with open(STATE / 'log.jsonl', 'a') as out:
        out.write(json.dumps({'kind': kind, 'pid': os.getpid(), **more}) + '\n')


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def first_time(name):
    """Whether nobody has asked so before, over all processes."""
    try:
        (STATE / name).touch(exist_ok=False)
        return True
    except FileExistsError:
        return False


def marked(name):
    return (STATE / name).exists()


class Session:
    def __init__(self, name):
        self.name = name
        self.file = STATE / f'{name}.json'
        self.history = json.loads(self.file.read_text()) if self.file.exists() else []

    def keep(self, role, text):
        self.history.append([role, text])
        self.file.write_text(json.dumps(self.history))

    def update(self, what, **more):
        send({
            'method': 'session/update',
            'params': {'sessionId': self.name, 'update': {'sessionUpdate': what, **more}},
        })

    def say(self, text, kind='agent_message_chunk'):
        for start in range(0, len(text), 16 if len(text) < 1000 else 4096):
            piece = text[start : start + (16 if len(text) < 1000 else 4096)]
            self.update(kind, content={'type': 'text', 'text': piece})

    def tool(self, name, status, **more):
        self.update(
            'tool_call' if status == 'pending' else 'tool_call_update',
            toolCallId=f'call-{name}', title=f'run {name}', kind='execute', status=status,
            rawInput={'name': name}, **more,
        )

    def may(self, name, **call):
        call = call or {'name': f'Tool-{name}', 'rawInput': {'name': name}}
        answer = ask(
            'session/request_permission',
            {
                'sessionId': self.name,
                'toolCall': {
                    'toolCallId': f'call-{name}', 'title': f'run {name}', 'kind': 'execute', **call
                },
                'options': [
                    {'optionId': 'always', 'name': 'Always', 'kind': 'allow_always'},
                    {'optionId': 'no', 'name': 'No', 'kind': 'reject_once'},
                    {'optionId': 'yes', 'name': 'Yes', 'kind': 'allow_once'},
                ],
            },
        )
        outcome = answer['result']['outcome']
        log('permission', outcome=outcome)
        return outcome.get('optionId') == 'yes'


sessions = {}


def ask(method, params):
    global last_id
    last_id += 1
    number = last_id
    waiting[number] = [threading.Event(), None]
    send({'id': number, 'method': method, 'params': params})
    waiting[number][0].wait()
    return waiting.pop(number)[1]


def call(session, method, **params):
    answer = ask(method, {'sessionId': session.name, **params})
    return answer.get('result', answer.get('error'))


def run_tool(session, name):
    session.tool(name, 'pending')
    session.tool(name, 'in_progress')
    with open(STATE / 'ran.txt', 'a') as out:
        out.write(name + '\n')
    session.tool(name, 'completed', rawOutput={'ran': name})
    session.say(f'ran {name}')


def wanted(blocks):
    """What the prompt asks for: its last line that is no marker."""
    lines = []
    for block in blocks:
        lines += [line for line in block.get('text', '').split('\n') if line.strip()]
    lines = [line for line in lines if not line.startswith('<!-- ')]
    return lines[-1].strip() if lines else ''


def synchronise(session):
    """Returns when the client has read all that was sent before: it answers in order."""
    call(session, 'fs/read_text_file', path=str(STATE / 'nothing'))


def released(name):
    """Waits until the test removes its lock from the file."""
    with open(STATE / name, 'w') as file:
        fcntl.flock(file, fcntl.LOCK_SH)


def begin_tool_and_die(session, name):
    session.tool(name, 'pending')
    session.tool(name, 'in_progress')
    synchronise(session)
    die()


def hang(session, deaf):
    session.say('working')
    cancelled.wait()
    if deaf:
        threading.Event().wait()
    return 'cancelled'


def halfway(session, text):
    if not first_time('halfway'):
        return echo(session, f'halfway {text}'.strip())
    session.say('I begin')
    begin_tool_and_die(session, 'deploy')


def ask_permission(session, rest):
    name = rest.removeprefix('once ')
    session.say('May I?')
    if rest.startswith('once ') and first_time('asked'):
        threading.Timer(0.5, die).start()
    if session.may(name):
        run_tool(session, name)
    else:
        session.say(f'not {name}')


def flip(session, _):
    """Asks for something harmless, dies, and asks for something else that shows as little."""
    session.say('May I?')
    if first_time('flip'):
        threading.Timer(0.5, die).start()
        session.may('t', title='echo harmless', content=[], locations=[])
    elif session.may('t', title='echo EVIL', content=[], locations=[]):
        run_tool(session, 'EVIL')


def slow(session, name):
    session.say('May I?')
    if session.may(name):
        if first_time('slow'):
            begin_tool_and_die(session, name)
        run_tool(session, name)


def own(session, name):
    if session.may(name, _meta={'claudeCode': {'toolName': f'mcp__dormouse__{name}'}}):
        run_tool(session, name)


def typed(session, command):
    of = {'toolCallId': 'call-typed', 'kind': 'execute'}
    session.update('tool_call', title='bash', status='pending', rawInput={}, **of)
    for status, more in (
        ('in_progress', {'title': 'bash'}),
        ('completed', {'title': command, 'rawOutput': {'output': f'{command} ran'}}),
    ):
        fields = {**of, **more, 'rawInput': {'command': command}}
        session.update('tool_call_update', status=status, **fields)


def think(session, _):
    session.say('let me see', 'agent_thought_chunk')
    session.say('I see')


def flood(session, count):
    session.tool('t', 'pending')
    for i in range(int(count)):
        session.update('agent_message_chunk', content={'type': 'text', 'text': f'{i} '})
        session.tool('t', 'in_progress', locations=[{'path': f'/{i}'}], content=[])
        session.update('plan', entries=[{'content': f'step {i}', 'status': 'pending'}])
    session.tool('t', 'completed', rawOutput={'ran': 't'})
    session.say('done')


def call_client(session, rest):
    method, _, params = rest.partition(' ')
    session.say(json.dumps(call(session, method, **json.loads(params))))


def run_in_terminal(session, command):
    terminal = call(session, 'terminal/create', command=command)
    call(session, 'terminal/wait_for_exit', **terminal)
    session.say(json.dumps(call(session, 'terminal/output', **terminal)))
    call(session, 'terminal/release', **terminal)


def set_mode(session, mode):
    session.update('current_mode_update', currentModeId=mode)
    session.say(f'now {mode}')


def set_title(session, title):
    session.update('session_info_update', title=title)
    session.say('named')


def spend(session, total):
    session.update('usage_update', used=10, size=100)
    session.update(
        'usage_update', used=20, size=100, cost={'amount': float(total), 'currency': 'USD'}
    )
    session.say(f'spent {total}')


def echo(session, text):
    session.say(f'You said: {text} ({len(session.history)} messages)')


# What the first word of a prompt does: (session, the rest of the prompt).
ACTIONS = {
    'tool': run_tool,
    'halfway': halfway,
    'ask': ask_permission,
    'flip': flip,
    'slow': slow,
    'own': own,
    'typed': typed,
    'think': think,
    'flood': flood,
    'big': lambda session, size: session.say('x' * int(size)),
    'call': call_client,
    'run': run_in_terminal,
    'mode': set_mode,
    'title': set_title,
    'spend': spend,
}


def act(session, text):
    """Returns the stop reason."""
    if text.startswith('vanish'):
        session.say('here again')
    elif text in ('hang', 'deaf'):
        return hang(session, text == 'deaf')
    elif text.startswith('[The connection was lost') and marked('flip'):
        flip(session, '')
    elif text.startswith('[The connection was lost') and marked('slow'):
        slow(session, 'deploy')
    else:
        word, _, rest = text.partition(' ')
        ACTIONS.get(word, lambda session, _: echo(session, text))(session, rest)
    return 'end_turn'


def prompt(number, params):
    session = sessions[params['sessionId']]
    whole = '\n'.join(block.get('text', f'[{block["type"]}]') for block in params['prompt'])
    text = wanted(params['prompt'])
    log('prompt', text=whole, wanted=text, session=session.name, meta=params.get('_meta'))
    if text == 'vanish' or (text == 'vanish once' and first_time('vanished')):
        die()
    session.keep('user', whole)
    if text == 'crash' or (text == 'crash once' and first_time('crashed')):
        sys.stderr.write('boom\n')
        sys.stderr.flush()
        die()
    if text == 'junk':
        with lock:
            sys.stdout.write('this is no message\n{"jsonrpc":"2.0"}\n')
        session.update('from_the_future', content={'type': 'text', 'text': 'hidden'})
        Session('another').say('foreign')
    if text == 'refuse':
        return send({'id': number, 'error': {'code': -32603, 'message': 'no credit left'}})
    cancelled.clear()
    reason = act(session, text)
    session.keep('agent', text)
    send({
        'id': number,
        'result': {'stopReason': reason, 'usage': {'inputTokens': 7, 'outputTokens': 3}},
    })
    if text == 'late':
        session.say('one more thing')
    if text == 'later':
        for what in ('by myself', 'and more'):
            released(what)
            session.say(what)


def initialize(params):
    log('initialize', params=params, environment=sorted(os.environ))
    can = {'loadSession': '--no-load' not in FLAGS, 'sessionCapabilities': {}}
    for name in ('resume', 'list', 'close', 'delete'):
        if f'--{name}' in FLAGS:
            can['sessionCapabilities'][name] = {}
    return {
        'protocolVersion': int(sys.argv[-1]) if '--version' in FLAGS else 1,
        'agentCapabilities': can,
        'agentInfo': {'name': 'fake', 'version': '1'},
        'authMethods': [
            {'id': 'key', 'name': 'A key'},
            {'id': 'web', 'name': 'Web', 'description': 'Run `fake login`'},
        ],
    }


MODES = {
    'modes': {
        'currentModeId': 'ask',
        'availableModes': [{'id': 'ask', 'name': 'Ask'}, {'id': 'code', 'name': 'Code'}],
    },
    'configOptions': [
        {
            'id': 'model', 'name': 'Model', 'type': 'select', 'currentValue': 'small',
            'options': [{'value': 'small', 'name': 'Small'}, {'value': 'big', 'name': 'Big'}],
        },
        {'id': 'deep', 'name': 'Deep', 'type': 'boolean', 'currentValue': True},
    ],
}


def open_session(method, params):
    log(method, session=params.get('sessionId'), cwd=params['cwd'], servers=params['mcpServers'])
    more = MODES if '--modes' in FLAGS else {}
    if method == 'session/new':
        name = uuid.uuid4().hex
        sessions[name] = Session(name)
        (STATE / f'{name}.folder').write_text(params['cwd'])
        if '--kills-server' in FLAGS and first_time('killed'):
            kill_server(sessions[name], params)
        return {'sessionId': name, **more}
    name = params['sessionId']
    denies = '--denies-once' in FLAGS and first_time('denied')
    if '--forgets' in FLAGS or denies or not (STATE / f'{name}.json').exists():
        raise KeyError(name)
    session = sessions[name] = Session(name)
    if method == 'session/load':
        for role, text in session.history:
            kind = 'user_message_chunk' if role == 'user' else 'agent_message_chunk'
            session.update(kind, content={'type': 'text', 'text': text})
    return more


def kill_server(session, params):
    """As if the prompt had come, with its marker, and nobody had written down whose it is."""
    args = params['mcpServers'][0]['args']
    ours = args[args.index('--session') + 1].removeprefix('ses_')
    session.keep('user', f'halfway\n<!-- dormouse:{ours}/1.1.1 -->')
    guard = pathlib.Path(f'/proc/{os.getppid()}/stat').read_text()
    os.kill(int(guard.rsplit(')', 1)[1].split()[1]), signal.SIGKILL)
    threading.Event().wait()


def listed(path):
    kept = path.with_suffix('.json')
    touched = datetime.datetime.fromtimestamp(
        (kept if kept.exists() else path).stat().st_mtime, datetime.timezone.utc
    )
    return {'sessionId': path.stem, 'cwd': path.read_text(), 'updatedAt': touched.isoformat()}


def list_sessions(params):
    """Two a page."""
    log('session/list', **params)
    found = sorted(STATE.glob('*.folder'))
    found = [one for one in map(listed, found) if one['cwd'] == params.get('cwd', one['cwd'])]
    start = int(params.get('cursor', 0))
    more = {'nextCursor': str(start + 2)} if len(found) > start + 2 else {}
    return {'sessions': found[start : start + 2], **more}


def delete_session(params):
    name = params['sessionId']
    log('session/delete', session=name)
    for ending in ('json', 'folder'):
        (STATE / f'{name}.{ending}').unlink(missing_ok=True)
    return {}


def close_session(params):
    log('session/close', session=params['sessionId'])
    sessions.pop(params['sessionId'], None)
    return {}


ABOUT_SESSIONS = {
    'session/list': list_sessions, 'session/delete': delete_session, 'session/close': close_session
}


def about_sessions(number, method, params):
    word = method.removeprefix('session/')
    hangs = f'--{word}-hangs' in FLAGS
    if hangs or f'--{word}-hangs-once' in FLAGS and first_time(f'{word}-hung'):
        return log('hangs', method=method)
    send({'id': number, 'result': ABOUT_SESSIONS[method](params)})


def serve(message):
    method, number, params = message.get('method'), message.get('id'), message.get('params')
    if method is None:
        if number in waiting:
            waiting[number][1] = message
            waiting[number][0].set()
    elif method == 'session/cancel':
        log('cancel')
        cancelled.set()
    elif method == 'session/prompt':
        threading.Thread(target=prompt, args=(number, params), daemon=True).start()
    elif method == 'initialize':
        send({'id': number, 'result': initialize(params)})
    elif method == 'authenticate' and params['methodId'] == 'key':
        FLAGS.discard('--login')
        send({'id': number, 'result': {}})
    elif method == 'authenticate':
        send({'id': number, 'error': {'code': -32603, 'message': 'only with a browser'}})
    elif '--login' in FLAGS:
        send({'id': number, 'error': {'code': -32000, 'message': 'Authentication required'}})
    elif method in ('session/set_mode', 'session/set_config_option'):
        log('set', params=params)
        known = params.get('modeId', params.get('value')) in ('code', 'ask', 'big', True)
        error = {'code': -32602, 'message': 'no such thing'}
        send({'id': number, **({'result': {}} if known else {'error': error})})
    elif method in ('session/new', 'session/load', 'session/resume'):
        try:
            send({'id': number, 'result': open_session(method, params)})
        except KeyError:
            send({'id': number, 'error': {'code': -32002, 'message': 'Resource not found'}})
    elif f'--{method.removeprefix("session/")}' in FLAGS and method in ABOUT_SESSIONS:
        about_sessions(number, method, params)
    elif number is not None:
        send({'id': number, 'error': {'code': -32601, 'message': 'Method not found'}})


for line in sys.stdin:
    serve(json.loads(line))
log('end')
