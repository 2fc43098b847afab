"""The objects of the HTTP API as docs/reference/http-objects.md has them, with every member. A
shape is a type, a pattern, a dict of shapes, one of the forms below, or a function that picks
the shape by the value."""
import re

from dormouse import Case

NULL = type(None)
ANY = object()
ID = re.compile(r'[A-Za-z0-9_-]{8,64}\Z')
DIGEST = re.compile(r'sha256:[0-9a-f]{64}\Z')


def an_id(prefix):
    return re.compile(re.escape(prefix) + r'[A-Za-z0-9_-]{4,60}\Z')


def maybe(shape):
    return ('maybe', shape)


def list_of(shape):
    return ('list', shape)


def one_of(*values):
    return ('one', values)


ACTOR = {
    'type': one_of('token', 'webhook', 'capability', 'session', 'agent', 'runtime'),
    'name': maybe(str),
}
USAGE = {
    'inputTokens': int,
    'outputTokens': int,
    'cachedTokens': int,
    'reasoningTokens': int,
    'cacheWrittenTokens': int,
    'cost': maybe(dict),
    'steps': int,
}
TROUBLE = {'code': str, 'message': str}
ACTIVITY = {
    'idle': {'type': str},
    'busy': {'type': str, 'turnID': an_id('trn_'), 'step': int},
    'retry': {
        'type': str,
        'turnID': an_id('trn_'),
        'attempt': int,
        'message': str,
        'next': maybe(int),
    },
    'waiting_async': {
        'type': str,
        'turnID': an_id('trn_'),
        'pendingID': maybe(an_id('pnd_')),
        'pendingIDs': list_of(an_id('pnd_')),
        'tool': str,
        'since': int,
        'timeout': maybe(int),
        'missingGates': list_of(str),
    },
}
SESSION = {
    'id': an_id('ses_'),
    'projectID': str,
    'agentID': str,
    'alias': maybe(str),
    'title': maybe(str),
    'status': one_of('active', 'paused', 'completed', 'error'),
    'activity': lambda value: ACTIVITY[value['type']],
    'parentID': maybe(str),
    'forkedFrom': maybe(an_id('ses_')),
    'acpSessionID': maybe(str),
    'cwd': maybe(str),
    'labels': dict,
    'seq': int,
    'messageCount': int,
    'usage': USAGE,
    'error': maybe(TROUBLE),
    'lastTurn': maybe({'id': an_id('trn_'), 'failed': bool, 'error': maybe(TROUBLE)}),
    'time': {'created': int, 'updated': int, 'ended': maybe(int)},
}
TURN = {
    'id': an_id('trn_'),
    'sessionID': an_id('ses_'),
    'status': one_of('queued', 'running', 'waiting', 'ended'),
    'finishReason': one_of(
        None, 'paused', 'stop', 'length', 'refusal', 'step_limit', 'cancelled', 'error', 'budget'
    ),
    'cancelReason': maybe(str),
    'cause': {
        'type': one_of('prompt', 'mail', 'task', 'result', 'external', 'timer'),
        'by': ACTOR,
        'ref': maybe(str),
    },
    'step': int,
    'stepLimit': int,
    'inputMessageID': an_id('msg_'),
    'messageIDs': list_of(an_id('msg_')),
    'pendingIDs': list_of(an_id('pnd_')),
    'usage': USAGE,
    'error': maybe(TROUBLE),
    'time': {'created': int, 'started': maybe(int), 'ended': maybe(int)},
}
TASK = {
    'taskID': an_id('tsk_'),
    'sessionID': an_id('ses_'),
    'parentID': an_id('ses_'),
    'agentID': str,
    'description': str,
    'prompt': str,
    'status': one_of('running', 'completed', 'error', 'cancelled', 'resumed'),
    'queued': bool,
    'resumeCount': int,
    'result': maybe(str),
    'progress': maybe(str),
    'error': maybe(str),
    'by': ACTOR,
    'time': {'created': int, 'completed': maybe(int), 'resumed': maybe(int)},
}
TOOL_STATE = {
    'pending': {'status': str, 'input': ANY, 'raw': str},
    'running': {
        'status': str,
        'input': ANY,
        'title': maybe(str),
        'metadata': ANY,
        'time': {'start': int},
    },
    'waiting_async': {
        'status': str,
        'input': ANY,
        'pendingID': an_id('pnd_'),
        'output': ANY,
        'time': {'start': int},
    },
    'completed': {
        'status': str,
        'input': ANY,
        'output': ANY,
        'title': maybe(str),
        'metadata': ANY,
        'artifactID': maybe(str),
        'time': {'start': int, 'end': int},
    },
    'error': {
        'status': str,
        'input': ANY,
        'error': str,
        'reason': one_of('failed', 'denied', 'expired', 'cancelled', 'unknown'),
        'metadata': ANY,
        'time': {'start': int, 'end': int},
    },
}
PART_HEAD = {'id': an_id('prt_'), 'messageID': an_id('msg_'), 'sessionID': an_id('ses_')}
MEDIA = {
    'type': str,
    'mime': maybe(str),
    'name': maybe(str),
    'bytes': maybe(int),
    'url': maybe(str),
    'artifactID': maybe(an_id('art_')),
    'alt': maybe(str),
}
PART = {
    'text': {**PART_HEAD, 'type': str, 'text': str, 'synthetic': bool},
    'reasoning': {**PART_HEAD, 'type': str, 'text': str},
    'image': {**PART_HEAD, **MEDIA},
    'file': {**PART_HEAD, **MEDIA},
    'tool': {
        **PART_HEAD,
        'type': str,
        'callID': str,
        'tool': str,
        'state': lambda value: TOOL_STATE[value['status']],
    },
}
MESSAGE = {
    'id': an_id('msg_'),
    'sessionID': an_id('ses_'),
    'turnID': an_id('trn_'),
    'role': one_of('user', 'assistant', 'system'),
    'source': {'type': str, 'ref': maybe(str)},
    'parts': list_of(lambda value: PART[value['type']]),
    'error': maybe(TROUBLE),
    'usage': maybe(USAGE),
    'time': {'created': int, 'completed': maybe(int)},
}
CONSUMED = {'turnID': an_id('trn_'), 'step': maybe(int), 'seq': int, 'at': int}
RECEIPT = {
    'id': an_id('rcp_'),
    'pendingID': an_id('pnd_'),
    'sessionID': an_id('ses_'),
    'kind': one_of('result', 'error', 'decision', 'cancel', 'expiry'),
    'status': one_of('completed', 'failed', 'expired', 'cancelled'),
    'digest': DIGEST,
    'at': int,
    'by': ACTOR,
    'via': maybe(str),
    'deliveryID': maybe(str),
    'seq': int,
    'consumed': maybe(CONSUMED),
}
PENDING = {
    'id': an_id('pnd_'),
    'projectID': str,
    'sessionID': an_id('ses_'),
    'turnID': an_id('trn_'),
    'messageID': an_id('msg_'),
    'callID': str,
    'generation': int,
    'tool': str,
    'input': ANY,
    'modelInput': ANY,
    'inputDigest': DIGEST,
    'status': one_of('waiting', 'processing', 'completed', 'failed', 'expired', 'cancelled'),
    'reason': one_of('tool_result', 'user_input', 'approval', 'elicitation', 'handoff', 'budget'),
    'continuation': one_of('tool_response', 'message', 'reentry'),
    'message': maybe(str),
    'form': ANY,
    'schema': ANY,
    'files': int,
    'placeholder': ANY,
    'webhookURL': maybe(str),
    'externalRef': maybe(str),
    'estimatedDuration': maybe(int),
    'timeout': maybe(int),
    'answer': {
        'from': list_of(str),
        'escalateTo': list_of(str),
        'need': int,
        'votes': list_of({'by': ACTOR, 'approved': bool, 'digest': str, 'at': int}),
    },
    'progress': list_of({'seq': int, 'key': maybe(str), 'payload': ANY, 'at': int}),
    'progressCount': int,
    'inDoubt': bool,
    'time': {'created': int, 'started': int, 'completed': maybe(int)},
    'result': maybe({'title': maybe(str), 'output': ANY, 'metadata': ANY}),
    'error': maybe(str),
    'decision': maybe({'approved': bool, 'reason': maybe(str), 'arguments': ANY, 'content': ANY}),
    'cancelReason': maybe(str),
    'receipt': maybe(RECEIPT),
}
OUTCOME = {
    'outcome': one_of('applied', 'duplicate', 'counted'),
    'duplicate': bool,
    'receipt': maybe(RECEIPT),
    'votes': ANY,
}
ACCEPTED = {
    'turnID': an_id('trn_'),
    'messageID': an_id('msg_'),
    'seq': int,
    'queuedBehind': maybe(an_id('trn_')),
}
EVENT = {
    'seq': int,
    'type': str,
    'v': int,
    'sessionID': an_id('ses_'),
    'projectID': str,
    'turnID': maybe(an_id('trn_')),
    'at': int,
    'data': dict,
}
AGENT = {
    'id': str,
    'kind': one_of('model', 'acp'),
    'available': bool,
    'reason': maybe(str),
    'model': maybe(str),
    'tools': list_of(str),
    'can': {'load': bool, 'resume': bool},
    'path': maybe(str),
    'version': maybe(str),
}
DOCTOR = {
    'ok': bool,
    'stuck': list,
    'blocked': list,
    'inDoubt': list,
    'orphaned': list,
    'unreadable': list,
    'notAsking': list,
    'signIns': list,
    'mcpServers': list,
    'concerns': list,
    'counts': dict,
    'held': bool,
    'lookedAt': int,
    'next': maybe(an_id('ses_')),
    'cut': list,
    'store': maybe(str),
    'nodes': list,
    'others': list,
    'database': maybe(dict),
    'ofGoneServers': dict,
    'storeFormat': maybe(dict),
    'indexes': list,
    'traces': maybe(dict),
    'metrics': maybe(dict),
    'copy': maybe(dict),
    'queues': dict,
}


def mismatch(value, shape, where=''):
    """None, or where and how the value is not of the shape."""
    if shape is ANY:
        return None
    if isinstance(shape, tuple):
        return mismatch_of_kind(value, shape, where)
    if isinstance(shape, re.Pattern):
        fits = isinstance(value, str) and shape.match(value)
        return None if fits else f'{where}: {value!r} is not {shape.pattern}'
    if callable(shape) and not isinstance(shape, type):
        return mismatch(value, shape(value), where)
    if not isinstance(shape, dict):
        fits = isinstance(value, shape) and not (shape is int and isinstance(value, bool))
        return None if fits else f'{where}: {value!r} is not {shape.__name__}'
    if not isinstance(value, dict):
        return f'{where}: {value!r} is not an object'
    if set(value) != set(shape):
        return f'{where}: members differ: {sorted(set(value) ^ set(shape))}'
    found = (mismatch(value[name], shape[name], f'{where}/{name}') for name in shape)
    return next((one for one in found if one), None)


def mismatch_of_kind(value, shape, where):
    kind, inner = shape
    if kind == 'one':
        return None if value in inner else f'{where}: {value!r} is not one of {inner}'
    if kind == 'maybe':
        return None if value is None else mismatch(value, inner, where)
    if not isinstance(value, list):
        return f'{where}: {value!r} is not a list'
    found = (mismatch(one, inner, f'{where}/{i}') for i, one in enumerate(value))
    return next((one for one in found if one), None)


class Contract(Case):
    def assertShape(self, value, shape):
        self.assertIsNone(mismatch(value, shape))

    def assertPage(self, answer, shape):
        self.assertStatus(answer, 200)
        self.assertShape(answer.json, {'items': list_of(shape), 'next': maybe(str)})
        return answer['items']

    def waiting(self, text='deploy A'):
        """A session that waits, and its only open call."""
        session = self.server.create(text)
        (call,) = self.server.open_calls(session['id'])
        return session, call
