"""Replies as the providers stream them, with what aimock does not give: reasoning that is signed,
in front of two calls. And what each must be given back of it."""
import json

PLACES = ('A', 'B')
ENCRYPTED = 'gAAAAB+/=='
REASONING = {
    'id': 'rs_1',
    'type': 'reasoning',
    'summary': [{'type': 'summary_text', 'text': 'Both.'}],
    'encrypted_content': ENCRYPTED,
}


def events(*chunks, named=False):
    lines = []
    for chunk in chunks:
        if named:
            lines.append(f'event: {chunk["type"]}\n')
        lines.append(f'data: {json.dumps(chunk)}\n\n')
    return 200, {'Content-Type': 'text/event-stream'}, ''.join(lines).encode()


def lines(*chunks):
    body = ''.join(json.dumps(chunk) + '\n' for chunk in chunks)
    return 200, {'Content-Type': 'application/x-ndjson'}, body.encode()


def anthropic():
    """Hidden thinking, open thinking, text, a call, more thinking, another call."""
    blocks = [
        ({'type': 'redacted_thinking', 'data': 'aGlkZGVu'}, []),
        (
            {'type': 'thinking', 'thinking': '', 'signature': ''},
            [
                {'type': 'thinking_delta', 'thinking': 'Bo'},
                {'type': 'thinking_delta', 'thinking': 'th.'},
                {'type': 'signature_delta', 'signature': 'U0lH'},
            ],
        ),
        ({'type': 'text', 'text': ''}, [{'type': 'text_delta', 'text': 'On it.'}]),
        use('toolu_1', 'A'),
        (
            {'type': 'thinking', 'thinking': '', 'signature': ''},
            [{'type': 'signature_delta', 'signature': 'T01JVFRFRA=='}],
        ),
        use('toolu_2', 'B'),
    ]
    chunks = [{'type': 'message_start', 'message': {'usage': {'input_tokens': 4,
               'cache_read_input_tokens': 30, 'output_tokens': 1}}}, {'type': 'ping'}]  # fmt: skip
    for index, (block, deltas) in enumerate(blocks):
        chunks.append({'type': 'content_block_start', 'index': index, 'content_block': block})
        for delta in deltas:
            chunks.append({'type': 'content_block_delta', 'index': index, 'delta': delta})
        chunks.append({'type': 'content_block_stop', 'index': index})
    chunks.append(
        {'type': 'message_delta', 'delta': {'stop_reason': 'tool_use'},
         'usage': {'output_tokens': 50}}
    )  # fmt: skip
    return events(*chunks, {'type': 'message_stop'}, named=True)


def use(number, target):
    return (
        {'type': 'tool_use', 'id': number, 'name': 'deploy', 'input': {}},
        [
            {'type': 'input_json_delta', 'partial_json': ''},
            {'type': 'input_json_delta', 'partial_json': '{"target":'},
            {'type': 'input_json_delta', 'partial_json': f'"{target}"}}'},
        ],
    )


def responses():
    items = [REASONING] + [
        {'type': 'function_call', 'id': f'fc_{place}', 'call_id': f'call_{place}', 'name': 'deploy',
         'arguments': json.dumps({'target': place})} for place in PLACES
    ]  # fmt: skip
    chunks = [{'type': 'response.created', 'response': {'id': 'resp_1', 'error': None}}]
    for index, item in enumerate(items):
        begun = {**item, 'arguments': ''} if 'arguments' in item else {**item, 'summary': []}
        chunks.append({'type': 'response.output_item.added', 'output_index': index, 'item': begun})
        if 'arguments' in item:
            chunks.append(
                {'type': 'response.function_call_arguments.delta', 'output_index': index,
                 'delta': item['arguments']}
            )  # fmt: skip
        done = {**item, 'status': 'completed'}
        chunks.append({'type': 'response.output_item.done', 'output_index': index, 'item': done})
    usage = {
        'input_tokens': 34, 'input_tokens_details': {'cached_tokens': 30},
        'output_tokens': 50, 'output_tokens_details': {'reasoning_tokens': 40},
    }  # fmt: skip
    chunks.append({'type': 'response.completed', 'response': {'usage': usage}})
    return events(*chunks, named=True)


def gemini():
    call = {'name': 'deploy', 'args': {'target': 'A'}}
    other = {'name': 'deploy', 'args': {'target': 'B'}}
    first = [
        {'text': 'Both.', 'thought': True},
        {'text': 'On it.'},
        {'functionCall': call, 'thoughtSignature': 'U0lH'},
        {'functionCall': other},
    ]
    usage = {'promptTokenCount': 34, 'cachedContentTokenCount': 30, 'candidatesTokenCount': 10,
             'thoughtsTokenCount': 40}  # fmt: skip
    return events(
        {'candidates': [{'content': {'role': 'model', 'parts': first}, 'index': 0}]},
        {
            'candidates': [
                {'content': {'parts': [{'text': '', 'thoughtSignature': 'RU5E'}]},
                 'finishReason': 'STOP', 'index': 0}
            ],
            'usageMetadata': usage,
        },
    )  # fmt: skip


def ollama():
    calls = [{'function': {'name': 'deploy', 'arguments': {'target': p}}} for p in PLACES]
    return lines(
        {'message': {'role': 'assistant', 'content': '', 'thinking': 'Bo'}, 'done': False},
        {'message': {'role': 'assistant', 'content': '', 'thinking': 'th.'}, 'done': False},
        {'message': {'role': 'assistant', 'content': '', 'tool_calls': calls}, 'done': False},
        {'message': {'role': 'assistant', 'content': ''}, 'done': True, 'done_reason': 'stop',
         'prompt_eval_count': 34, 'eval_count': 50},
    )  # fmt: skip


def chat():
    calls = [
        {'index': i, 'id': f'call_{p}', 'type': 'function',
         'function': {'name': 'deploy', 'arguments': json.dumps({'target': p})}}
        for i, p in enumerate(PLACES)
    ]  # fmt: skip
    usage = {
        'prompt_tokens': 34, 'prompt_tokens_details': {'cached_tokens': 30},
        'completion_tokens': 50, 'completion_tokens_details': {'reasoning_tokens': 40},
    }  # fmt: skip
    return events(
        {'choices': [{'index': 0, 'delta': {'reasoning_content': 'Both.'}}]},
        {'choices': [{'index': 0, 'delta': {'tool_calls': calls}, 'finish_reason': 'tool_calls'}]},
        {'choices': [], 'usage': usage},
    )


# The assistant's side of the next request.
ANTHROPIC_BACK = [
    {'type': 'redacted_thinking', 'data': 'aGlkZGVu'},
    {'type': 'thinking', 'thinking': 'Both.', 'signature': 'U0lH'},
    {'type': 'text', 'text': 'On it.'},
    {'type': 'tool_use', 'id': 'toolu_1', 'name': 'deploy', 'input': {'target': 'A'}},
    {'type': 'thinking', 'thinking': '', 'signature': 'T01JVFRFRA=='},
    {'type': 'tool_use', 'id': 'toolu_2', 'name': 'deploy', 'input': {'target': 'B'}},
]
GEMINI_BACK = [
    {'text': 'On it.'},
    {'functionCall': {'name': 'deploy', 'args': {'target': 'A'}}, 'thoughtSignature': 'U0lH'},
    {'functionCall': {'name': 'deploy', 'args': {'target': 'B'}}},
    {'text': '', 'thoughtSignature': 'RU5E'},
]
