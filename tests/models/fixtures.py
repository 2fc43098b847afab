"""What the mock of a provider answers to the prompts of tests/providers.py (aimock's fixtures)."""
import json

KEY = 'sk-mock-4711'
SIGNATURE = 'c2lnbmVk/w=='


def call(number, target, name='deploy'):
    return {'id': f'call_{number}', 'name': name, 'arguments': f'{{"target":"{target}"}}'}


def asks(tool, **arguments):
    return {'id': f'call_{tool}', 'name': tool, 'arguments': json.dumps(arguments)}


PLAN = [{'text': 'write it', 'status': 'done'}, {'text': 'send it', 'status': 'pending'}]
# What the model reads of the output {"live": "A"}.
LIVE_A = {'gemini': {'live': 'A'}}

FIXTURES = [
    {
        'match': {'userMessage': 'report', 'hasToolResult': False},
        'response': {
            'toolCalls': [
                asks('artifact_emit', name='é plan.html', mime='text/html', text='<b>été</b>'),
                asks('todo', items=[PLAN[0], {'text': 'send it'}]),
            ]
        },
    },
    {
        'match': {'userMessage': 'report', 'hasToolResult': True},
        'response': {'content': 'Kept.'},
    },
    {
        'match': {'userMessage': 'outside', 'hasToolResult': False},
        'response': {'toolCalls': [asks('artifact_emit', name='../../etc/passwd', text='x')]},
    },
    {
        'match': {'userMessage': 'outside', 'hasToolResult': True},
        'response': {'content': 'No.'},
    },
    {
        'match': {'userMessage': 'hello'},
        'response': {
            'content': 'Hello from the mock.',
            'usage': {'prompt_tokens': 21, 'completion_tokens': 9, 'total_tokens': 30},
        },
    },
    {
        'match': {'userMessage': 'ship', 'hasToolResult': False},
        'response': {
            'content': 'On it.',
            'reasoning': 'Both at once, then.',
            'reasoningSignature': SIGNATURE,
            'toolCalls': [call('a', 'A'), call('b', 'B')],
        },
    },
    {
        'match': {'userMessage': 'ship', 'hasToolResult': True},
        'response': {'content': 'Both are live.'},
    },
    {
        'match': {'userMessage': 'limited', 'sequenceIndex': 0},
        'response': {'error': {'message': 'Rate limit'}, 'status': 429, 'retryAfter': 3},
    },
    {'match': {'userMessage': 'limited'}, 'response': {'content': 'Now.'}},
    {'match': {'userMessage': 'cut'}, 'response': {'content': 'Whole now.'}},
    {
        'match': {'userMessage': 'wrong', 'hasToolResult': False},
        'response': {
            'reasoning': 'Anything goes.',
            'toolCalls': [
                {'id': 'c1', 'name': 'deploy', 'arguments': '{"targ'},
                {'id': 'c2', 'name': 'deploy', 'arguments': '{"goal":1}'},
                {'id': 'c3', 'name': 'destroy', 'arguments': '{}'},
            ]
        },
    },
    {
        'match': {'userMessage': 'wrong', 'hasToolResult': True},
        'response': {'content': 'I see.'},
    },
    {
        'match': {'userMessage': 'locked'},
        'response': {'error': {'message': f'Incorrect key: {KEY}'}, 'status': 401},
    },
    {
        'match': {'userMessage': 'slow'},
        'response': {'content': 'One word after the other, slowly.'},
        'latency': 300,
        'chunkSize': 4,
    },
    {'match': {'userMessage': 'picture'}, 'response': {'content': 'A dot.'}},
    {'match': {'userMessage': 'signed'}, 'response': {'content': 'Both are live.'}},
    {'match': {'userMessage': 'and?'}, 'response': {'content': 'Nothing else.'}},
    {'match': {'userMessage': 'troubled'}, 'response': {'content': 'Now.'}},
]


def fixtures(cut):
    """The first answer to the prompt "cut" breaks off after `cut` pieces, unless that is 0."""
    cut_off = {
        'match': {'userMessage': 'cut', 'sequenceIndex': 0},
        'response': {'toolCalls': [call('a', 'A')]},
        'latency': 5,
        'chunkSize': 3,
        'truncateAfterChunks': cut,
    }
    return [*([cut_off] if cut else []), *FIXTURES]
