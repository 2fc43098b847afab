#!/usr/bin/env python3
"""kill -9 at random points under load: usage kill_under_load.py [CYCLES [SEED]]   (200, drawn)

Clients create sessions, prompt, submit (also repeats and conflicts), decide, cancel and read until
the server is killed. Then it is started again, some requests are repeated with their keys, and
everything is read back. Every request is recorded with its times by one clock; the outcome of a
request without an answer is unknown. At the end: each call's history is that of a register written
once, everything acknowledged is there, the model saw each settlement exactly once, sequences have
no gaps and only grow at their end, nothing is stuck and the store has no findings.
"""
import collections
import hashlib
import http.client
import itertools
import json
import pathlib
import random
import socket
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from dormouse import Events, Server, end_on_sigterm  # noqa: E402
from write_once import OPEN, SAW, UNKNOWN, WON, Op, wrong  # noqa: E402

WRITERS = 4
NEW_PER_WRITER = 4  # sessions a cycle
LOAD_S = (0.05, 0.6)
NO_ANSWER = (http.client.HTTPException, OSError)
EXPIRY_SLACK_S = 0.05  # between our clock and the server's


def digest_of(member, value):
    canonical = json.dumps({member: value}, separators=(',', ':'), ensure_ascii=False)
    return 'sha256:' + hashlib.sha256(canonical.encode()).hexdigest()


def settled_by(receipt):
    """What a receipt says, as one word to compare."""
    kind = receipt['kind']
    return kind if kind in ('cancel', 'expiry') else receipt['digest']


class Call:
    def __init__(self, name, session):
        self.name, self.session = name, session
        self.history = []
        self.receipts = {}  # acknowledged: receipt id -> what settled it


class Session:
    def __init__(self, title, body):
        self.title, self.body = title, body
        self.id = None
        self.deleted = False  # asked for: from then on 404 is right
        self.cancelled = False
        self.within_s = None
        self.begun = None
        self.calls = {}
        self.prompts = {}  # text -> accepted answer, or None while unknown
        self.journal = []  # raw events read so far


class World:
    """What the clients know. One lock; the requests themselves run outside it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.sessions = []
        self.numbers = itertools.count(1)
        self.failures = []
        self.requests = collections.Counter()

    def fail(self, what):
        with self.lock:
            self.failures.append(what)

    def any_session(self, draw):
        with self.lock:
            known = [s for s in self.sessions[-40:] if s.id and not s.deleted]
            return draw.choice(known) if known else None

    def any_call(self, draw):
        with self.lock:
            calls = [c for s in self.sessions[-40:] for c in s.calls.values()]
            return draw.choice(calls) if calls else None

    def learn(self, session, answer):
        """Stores the id, and the calls that wait."""
        with self.lock:
            if session.id not in (None, answer['id']):
                self.failures.append(f'one key made {session.id} and {answer["id"]}')
            session.id = answer['id']
            for name in answer['activity'].get('pendingIDs', []):
                if name not in session.calls:
                    call = session.calls[name] = Call(name, session)
                    if session.within_s is not None:
                        due = session.begun + session.within_s - EXPIRY_SLACK_S
                        call.history.append(Op(due, 'expiry'))


class Writer(threading.Thread):
    """A client that does random things until the server is gone."""

    new_max = NEW_PER_WRITER

    def __init__(self, world, server, seed, stop):
        super().__init__()
        self.world, self.stop = world, stop
        self.draw = random.Random(seed)
        self.client = server.new_client(timeout=30)
        self.new = 0

    def run(self):
        try:
            while not self.stop.is_set():
                self.act()
        except Exception as error:  # of the test itself; it must not pass in silence
            self.world.fail(f'{type(error).__name__}: {error}')
        finally:
            self.client.close()

    def act(self):
        acts = [
            (self.create, 3),
            (self.prompt, 2),
            (self.submit, 8),
            (self.read, 3),
            (self.cancel, 1),
            (self.cancel_turn, 0.3),
            (self.delete, 0.1),
        ]
        try:
            self.draw.choices([act for act, _ in acts], [weight for _, weight in acts])[0]()
        except NO_ANSWER:  # requests in progress stay unknown
            self.unanswered()

    def unanswered(self):
        """Killed: it is not asked again."""
        self.stop.set()

    def create(self):
        if self.new >= self.new_max:
            return
        self.new += 1
        number = next(self.world.numbers)
        within_s = None
        kind = self.draw.random()
        if kind < 0.15:
            text = f'approve x{number}'
        elif kind < 0.25:
            text = 'sleepy 30ms'
        elif kind < 0.4:
            within_s = self.draw.choice([0.05, 0.3, 1.0])
            text = f'deploy t{number} within {round(within_s * 1000)}ms'
        else:
            count = self.draw.choice([1, 1, 1, 2, 3])
            text = 'deploy ' + ' and '.join(f't{number}_{i}' for i in range(count))
        agent = self.draw.choice(['demo', 'demo', 'demo-each'])
        title = f's{number}'
        session = Session(title, {'agentID': agent, 'title': title, 'prompt': {'text': text}})
        session.within_s, session.begun = within_s, time.monotonic()
        with self.world.lock:
            self.world.sessions.append(session)
        ask_create(self.world, self.client, session, self.draw.choice([0, 5]))

    def prompt(self):
        session = self.world.any_session(self.draw)
        if not session:
            return
        text = f'hello {next(self.world.numbers)}'
        with self.world.lock:
            session.prompts[text] = None
        ask_prompt(self.world, self.client, session, text, self.draw.choice([None, 'steer']))

    def submit(self):
        call = self.world.any_call(self.draw)
        if not call:
            return
        kind = self.draw.random()
        if call.session.body['prompt']['text'].startswith('approve'):
            approved = kind < 0.5
            body = {'pendingID': call.name, 'approved': approved}
            offer('decision', body, digest_of('decision', {'approved': approved}), call, self)
        elif kind < 0.8:
            output = self.draw.choice(['one', 'one', 'one', 'two'])
            body = {'pendingID': call.name, 'result': {'output': output}}
            offer('result', body, digest_of('output', output), call, self)
        else:
            body = {'pendingID': call.name, 'error': 'broken'}
            offer('error', body, digest_of('error', 'broken'), call, self)

    def cancel(self):
        call = self.world.any_call(self.draw)
        if call and self.draw.random() < 0.3:
            offer(None, None, 'cancel', call, self)

    def cancel_turn(self):
        session = self.world.any_session(self.draw)
        if not session:
            return
        session.cancelled = True
        ops = [Op(time.monotonic(), 'cancel') for _ in session.calls]
        with self.world.lock:
            for op, call in zip(ops, session.calls.values()):
                call.history.append(op)
        answer = self.client.post(f'/api/sessions/{session.id}/cancel', {'turn': True})
        for op in ops:
            op.end = time.monotonic()
        self.check(answer, session, {200})

    def delete(self):
        session = self.world.any_session(self.draw)
        if session:
            session.deleted = True
            self.check(self.client.delete(f'/api/sessions/{session.id}'), session, {204})

    def read(self):
        call = self.world.any_call(self.draw)
        if call:
            look(self.world, self.client, call)

    def check(self, answer, session, fine):
        # 410: it was deleted between the command and the answer that shows it.
        allowed = fine | ({404, 410} if session.deleted else set())
        if answer.status not in allowed:
            self.world.fail(f'unexpected: {answer}')


def ask_create(world, client, session, wait):
    path = f'/api/projects/default/sessions?wait={wait}'
    answer = client.post(path, session.body, Idempotency_Key=session.title)
    world.requests['create'] += 1
    if answer.status == 201:
        world.learn(session, answer.json)
    elif not (session.deleted and answer.status in (404, 410)):
        world.fail(f'create: {answer}')


def ask_prompt(world, client, session, text, when):
    body = {'text': text} | ({'when': when} if when else {})
    answer = client.post(f'/api/sessions/{session.id}/prompt', body, Idempotency_Key=text)
    world.requests['prompt'] += 1
    if answer.status == 202:
        with world.lock:
            session.prompts[text] = answer.json
    elif answer.status == 422:  # asked again in another mode: the first is there
        world.fail(f'prompt: {answer}')
    elif not (session.deleted and answer.status == 404):
        world.fail(f'prompt: {answer}')


def offer(kind, body, value, call, writer):
    """A submission, a decision, or (kind None) the cancellation of a call."""
    op = Op(time.monotonic(), value)
    with writer.world.lock:
        call.history.append(op)  # before it is sent: the kill may come at any time
    if kind:
        answer = writer.client.post(f'/async-tool/{kind}', body)
    else:
        answer = writer.client.delete(f'/async-tool/pending/{call.name}')
    end = time.monotonic()
    writer.world.requests[kind or 'cancel'] += 1
    if answer.status == 200:
        seen = settled_by(answer['receipt'])
        if answer['duplicate']:
            op.done(end, SAW, seen, True)
        else:
            op.done(end, WON)
            if seen != value:
                writer.world.fail(f'a receipt of another outcome: {answer}')
        call.receipts[answer['receipt']['id']] = seen
    elif answer.status in (409, 410) and answer.json.get('receipt'):
        op.done(end, SAW, settled_by(answer['receipt']), False)
        call.receipts[answer['receipt']['id']] = settled_by(answer['receipt'])
    elif call.session.deleted and answer.status == 404:
        op.end = end
    else:
        writer.world.fail(f'{kind} (deleted {call.session.deleted}): {answer}')


def look(world, client, call):
    op = Op(time.monotonic())
    answer = client.get(f'/async-tool/pending/{call.name}')
    end = time.monotonic()
    world.requests['read'] += 1
    if answer.status != 200:
        if not call.session.deleted:
            world.fail(f'an acknowledged call is gone: {answer}')
        return None
    receipt = answer['receipt']
    op.done(end, *((SAW, settled_by(receipt)) if receipt else (OPEN,)))
    with world.lock:
        call.history.append(op)
    return answer.json


class Follower(threading.Thread):
    """Reads one session's stream: every event it received must stay in the journal."""

    def __init__(self, world, server, session, stop):
        super().__init__()
        self.world, self.server, self.session, self.stop = world, server, session, stop
        self.shown = []

    def run(self):
        try:
            path = f'/api/sessions/{self.session.id}/events'
            with Events(self.server, path, timeout=0.2) as stream:
                while stream.status == 200 and not self.stop.is_set():
                    try:
                        frame = stream.frame()
                        if frame.id is not None:
                            self.shown.append(frame.data)
                    except socket.timeout:
                        continue
        except (EOFError, OSError, ValueError):
            pass


class Run:
    def __init__(self, cycles, seed, server=None):
        self.cycles = cycles
        self.draw = random.Random(seed)
        self.world = World()
        self.server = server or Server()
        self.early_kills = 0

    def cycle(self):
        stop = threading.Event()
        followed = self.world.any_session(self.draw)
        follower = followed and Follower(self.world, self.server, followed, stop)
        threads = [
            Writer(self.world, self.server, self.draw.random(), stop) for _ in range(WRITERS)
        ]
        everyone = threads + ([follower] if follower else [])
        for thread in everyone:
            thread.start()
        self.server.kill(after=self.draw.uniform(*LOAD_S))
        stop.set()
        for thread in everyone:
            thread.join()
        self.start_again()
        self.ask_again()
        if follower and not followed.deleted:
            self.read_journal(followed)
            if followed.journal[: len(follower.shown)] != follower.shown:
                self.world.fail(f'a reader was shown what is not in the journal: {followed.id}')

    def start_again(self):
        while self.draw.random() < 0.15:  # killed again while it recovers
            self.early_kills += 1
            with self.server.spawn():
                self.server.kill(after=self.draw.uniform(0, 0.03))
        self.server.start()

    def ask_again(self):
        """Repeats unanswered requests with their keys, and reads back some of the others."""
        with self.world.lock:
            recent = self.world.sessions[-2 * WRITERS * NEW_PER_WRITER :]
        for session in recent:
            ask_create(self.world, self.server.client, session, 10)
        for session in recent:
            if session.id is None or session.deleted:
                continue
            for text, answer in list(session.prompts.items()):
                if answer is None and self.draw.random() < 0.5:
                    self.prompt_again(session, text)
            for call in list(session.calls.values()):
                look(self.world, self.server.client, call)
            if self.draw.random() < 0.3:
                self.read_journal(session)

    def prompt_again(self, session, text):
        """Uses the same key; the mode was drawn, so either body may have come first."""
        path = f'/api/sessions/{session.id}/prompt'
        for body in ({'text': text}, {'text': text, 'when': 'steer'}):
            answer = self.server.client.post(path, body, Idempotency_Key=text)
            if answer.status == 202:
                session.prompts[text] = answer.json
                return
        self.world.fail(f'prompt again: {answer}')

    def read_journal(self, session):
        events = self.server.events(session.id)
        if events[: len(session.journal)] != session.journal:
            self.world.fail(f'the journal of {session.id} changed in what was read before')
        session.journal = events

    # ---- the end

    def settle_all(self):
        for session in self.living():
            for _ in range(20):
                now = self.server.at_rest(session.id)
                if now['activity']['type'] == 'idle':
                    break
                self.world.learn(session, now)
                for call in self.server.open_calls(session.id):
                    self.settle(session.calls[call['id']], call)
            else:
                self.world.fail(f'{session.id} does not come to an end')

    def settle(self, call, shown):
        writer = Writer(self.world, self.server, 0, threading.Event())
        if shown['reason'] == 'approval':
            body = {'pendingID': call.name, 'approved': True, 'inputDigest': shown['inputDigest']}
            offer('decision', body, digest_of('decision', {'approved': True}), call, writer)
        else:
            body = {'pendingID': call.name, 'result': {'output': 'last'}}
            offer('result', body, digest_of('output', 'last'), call, writer)
        writer.client.close()

    def living(self):
        return [s for s in self.world.sessions if s.id and not s.deleted]

    def check(self):
        titles = collections.Counter(
            item['title'] for item in self.server.items('/api/projects/default/sessions?limit=200')
        )
        for session in self.world.sessions:
            expected = {0, 1} if session.deleted else {1}
            if titles[session.title] not in expected:
                self.world.fail(f'{session.title} is there {titles[session.title]} times')
            for call in session.calls.values():
                problem = wrong(call.history)
                if problem:
                    self.world.fail(f'{call.name}: {problem}: {sorted_ops(call.history)}')
        for session in self.living():
            self.check_session(session)

    def check_session(self, session):
        self.read_journal(session)
        events = session.journal
        if [e['seq'] for e in events] != list(range(1, len(events) + 1)):
            self.world.fail(f'{session.id}: its sequence has gaps')
        messages = self.server.messages(session.id)
        self.check_prompts(session, messages)
        for call in session.calls.values():
            shown = look(self.world, self.server.client, call)
            for receipt, what in call.receipts.items():
                if (shown['receipt']['id'], settled_by(shown['receipt'])) != (receipt, what):
                    self.world.fail(f'{call.name}: its receipt was {receipt} {what}: {shown}')
        self.check_steps(session, events)
        self.check_lines(session, events, messages)

    def check_prompts(self, session, messages):
        counts = collections.Counter(
            part['text'] for m in messages if m['role'] == 'user' for part in m['parts']
        )
        ids = {m['id'] for m in messages}
        for text, answer in session.prompts.items():
            if counts[text] > 1 or (answer and counts[text] != 1 and not session.cancelled):
                self.world.fail(f'{session.id}: {text!r} is there {counts[text]} times')
            if answer and not session.cancelled and answer['messageID'] not in ids:
                self.world.fail(f'{session.id}: no {answer["messageID"]}')

    def check_steps(self, session, events):
        """Each settlement is consumed by one committed step or by its turn's end."""
        committed = collections.Counter()
        for event in events:
            if event['type'] == 'model_replied':
                committed[event['turnID'], event['data']['step']] += 1
        if any(count > 1 for count in committed.values()):
            self.world.fail(f'{session.id}: a step was committed twice: {committed}')
        settling = collections.Counter(
            e['data']['receipt']['pendingID']
            if 'pendingID' in e['data'].get('receipt', {})
            else e['data']['pendingID']
            for e in events
            if e['type'] in ('submitted', 'expired', 'cancelled') and e['data'].get('receipt')
        )
        for call in session.calls:
            if settling[call] != 1:
                self.world.fail(f'{call}: {settling[call]} settling events')
        last = max((e['seq'] for e in events if e['type'] == 'turn_ended'), default=0)
        open_after = [e for e in events if e['seq'] > last and e['type'] == 'submitted']
        if open_after:
            self.world.fail(f'{session.id}: {open_after[0]} was never consumed')

    def check_lines(self, session, events, messages):
        """The agent's text has one line for each call of a turn that was not cancelled."""
        texts = [
            line
            for m in messages
            if m['role'] == 'assistant'
            for part in m['parts']
            if part['type'] == 'text'
            for line in part['text'].split('\n')
        ]
        for message in messages:
            for part in message['parts']:
                if part['type'] != 'tool' or part['tool'] == 'sleepy':
                    continue
                name = f'{part["tool"]} {next(iter(part["state"]["input"].values()))}'
                lines = [l for l in texts if l.startswith((name + ':', name + ' failed:'))]
                if len(lines) > 1 or (not lines and not session.cancelled):
                    self.world.fail(f'{session.id}: {name} got {len(lines)} times')
                if lines and part['tool'] == 'dangerous' and '"runs"' in lines[0]:
                    if '"runs":1}' not in lines[0]:
                        self.world.fail(f'{session.id}: {lines[0]}')

    def report(self, seconds):
        calls = [c for s in self.world.sessions for c in s.calls.values()]
        ops = [op for c in calls for op in c.history]
        outcomes = collections.Counter(op.outcome for op in ops)
        print(
            f'{self.cycles} kills and {self.early_kills} while recovering, {seconds:.0f} s: '
            f'{len(self.world.sessions)} sessions, {len(calls)} calls, {len(ops)} operations, '
            f'{outcomes[WON]} won, {outcomes[SAW]} saw, {outcomes[OPEN]} open, '
            f'{outcomes[UNKNOWN]} unknown'
        )
        return outcomes


def sorted_ops(history):
    return sorted(history, key=lambda op: op.begin)


def test_nothing_acknowledged_is_lost():
    assert main() == 0


def main(cycles=200, seed=None):
    seed = random.SystemRandom().randrange(2**31) if seed is None else seed
    print(f'seed {seed}', flush=True)
    begin = time.monotonic()
    run = Run(cycles, seed)
    try:
        for _ in range(cycles):
            run.cycle()
            if run.world.failures:
                break
        run.settle_all()
        run.check()
        outcomes = run.report(time.monotonic() - begin)
        run.server.finish()
    finally:
        run.server.clean()
    for failure in run.world.failures[:20]:
        print('FAILED:', failure)
    if run.world.failures:
        return 1
    # A run that tests nothing must not pass.
    enough = outcomes[WON] >= cycles and outcomes[SAW] >= cycles and outcomes[UNKNOWN] > 0
    if cycles >= 20 and not enough:
        print('FAILED: too little happened')
        return 1
    return 0


if __name__ == '__main__':
    end_on_sigterm()
    sys.exit(main(*map(int, sys.argv[1:])))
