#!/usr/bin/env python3
"""An ACP agent that sends time stamps: it answers a prompt with the line `count gap_ms` with that
many updates, each with the time (CLOCK_MONOTONIC, ns) at which it was written."""
import json
import re
import sys
import time

ASKED = re.compile(r'^(\d+) (\d+)$', re.M)


def send(message):
    sys.stdout.write(json.dumps({'jsonrpc': '2.0', **message}) + '\n')
    sys.stdout.flush()


def say(session, text):
    content = {'type': 'text', 'text': text}
    update = {'sessionUpdate': 'agent_message_chunk', 'content': content}
    send({'method': 'session/update', 'params': {'sessionId': session, 'update': update}})


def answer(method, params):
    if method == 'initialize':
        return {'protocolVersion': 1, 'agentCapabilities': {'loadSession': True}, 'authMethods': []}
    if method == 'session/new':
        return {'sessionId': 'stamps'}
    if method == 'session/prompt':
        text = '\n'.join(part.get('text', '') for part in params['prompt'])
        count, gap_ms = ASKED.findall(text)[-1]
        for _ in range(int(count)):
            say(params['sessionId'], f'@{time.monotonic_ns()}@')
            time.sleep(float(gap_ms) / 1000)
        return {'stopReason': 'end_turn'}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if 'id' in message and 'method' in message:
        result = answer(message['method'], message.get('params', {}))
        send({'id': message['id'], 'result': result})
