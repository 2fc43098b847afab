#!/usr/bin/env python3
"""The adapters of agent frameworks, with the frameworks themselves: each example is run while the
program and the server are killed, and then continues."""
import json
import re
import shutil
import subprocess
import sys
import unittest

from dormouse import ROOT, Client, main, wait_for

sys.path.insert(0, str(ROOT / 'tests/clients'))

from adapted import Adapter, build_client  # noqa: E402
from driven import BUILT, CLIENTS, link_packages  # noqa: E402


def setUpModule():
    build_client()


class Packages(unittest.TestCase):
    def test_each_has_only_what_is_built(self):
        for folder in sorted(one.folder for one in Adapter.__subclasses__()):
            with self.subTest(folder=folder):
                done = subprocess.run(['npm', 'pack', '--dry-run', '--json'],
                                      cwd=CLIENTS / folder, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                names = {file['path'] for file in json.loads(done.stdout)[0]['files']}
                self.assertLessEqual({'README.md', 'package.json'}, names)
                wrong = [one for one in names if not re.match(r'dist/|README|package\.json', one)]
                self.assertEqual(wrong, [])


class AISDK(Adapter):
    folder = 'ai-sdk'
    away, chunks = '../test/away.mjs', '../test/chunks.mjs'

    def test_run_continues_after_everything_was_killed(self):
        first = self.start('refund.mjs', 'order-1')
        tool, refund = first.until('waiting for').split()
        other, parcel = first.until('waiting for').split()
        if tool != 'refund':
            refund, parcel = parcel, refund
        self.assertEqual({tool, other}, {'refund', 'parcel'})
        self.crash(first)
        self.decide(refund)
        second = self.start('refund.mjs', 'order-1')
        self.assertEqual(second.until('waiting for'), f'parcel {parcel}')
        self.crash(second)
        self.assertStatus(self.server.result(parcel, {'number': 'P1'}), 200)
        third = self.start('refund.mjs', 'order-1')
        self.assertEqual(third.until('output:'), 'parcel: {"number":"P1"}, refund: {"euro":30}')
        self.assertEqual(third.end(), 0)
        self.assertRan('refunding 42', 1, first, second, third)

    def chat(self, port, session, *command):
        program = self.start('chat.mjs', port, session, *command)
        self.assertEqual(program.end(), 0, program)
        return json.loads(program.lines[-1])

    def test_chat_resumes_after_everything_was_killed(self):
        route = self.start('server.mjs', '0')
        port = route.until('listening on')
        session = self.server.create(None)['id']
        page = self.start('chat.mjs', port, session, 'send', 'deploy shop')
        wait_for(lambda: self.server.session(session)['activity']['type'] == 'waiting_async')
        page.kill()
        self.crash(route)
        port = self.start('server.mjs', '0').until('listening on')
        page = self.start('chat.mjs', port, session, 'resume')
        self.server.result(self.server.session(session)['activity']['pendingID'], 'live')
        self.assertEqual(page.end(), 0, page)
        self.assertEqual(json.loads(page.lines[-1]), {
            'status': 'ready', 'error': None,
            'shown': ['user deploy shop', 'assistant step-start', 'assistant output-available',
                      'assistant step-start', 'assistant deploy shop: live']})
        again = self.chat(port, session, 'resume')
        self.assertEqual(again, json.loads(page.lines[-1]))

    def test_approval_in_the_chat_is_a_decision(self):
        port = self.start('server.mjs', '0').until('listening on')
        for command, last in ((['approve'], 'dangerous cleanup: '),
                              (['deny', 'no'], 'dangerous cleanup failed: denied: no')):
            session = self.server.create(None)['id']
            shown = self.chat(port, session, 'send', 'approve cleanup')
            self.assertEqual((shown['status'], shown['shown'][-1]),
                             ('ready', 'assistant approval-requested'))
            shown = self.chat(port, session, *command)
            self.assertEqual((shown['status'], shown['error']), ('ready', None))
            self.assertTrue(shown['shown'][-1].startswith('assistant ' + last), shown)
            self.assertEqual(len(shown['shown']), 5, shown)

    def post(self, port, body):
        client = Client(int(port), None)
        self.addCleanup(client.close)
        return client.call('POST', '/api/chat', raw=body.encode())

    def test_stream_outlives_a_kill_of_the_server(self):
        port = self.start('server.mjs', '0').until('listening on')
        session = self.server.create(None)['id']
        page = self.start('chat.mjs', port, session, 'send', 'deploy shop')
        wait_for(lambda: self.server.session(session)['activity']['type'] == 'waiting_async')
        self.server.restart()
        self.server.result(self.server.session(session)['activity']['pendingID'], 'live')
        self.assertEqual(page.end(), 0, page)
        shown = json.loads(page.lines[-1])
        self.assertEqual((shown['status'], shown['error']), ('ready', None))
        self.assertEqual(shown['shown'][-1], 'assistant deploy shop: live')

    def test_output_that_the_page_adds_answers_a_question(self):
        port = self.start('server.mjs', '0').until('listening on')
        session = self.server.create('ask Which port?')['id']
        call = self.call(self.server.session(session)['activity']['pendingID'])
        part = {'type': 'dynamic-tool', 'toolCallId': f'{call["messageID"]}/{call["callID"]}',
                'toolName': 'ask_human', 'state': 'output-available', 'input': {}, 'output': '8080'}
        answered = {'id': call['turnID'], 'role': 'assistant', 'parts': [part]}
        answer = self.post(port, json.dumps({'id': session, 'messages': [answered]}))
        self.assertIn('8080', answer.raw.decode())
        self.assertIn('"finish"', answer.raw.decode())
        self.assertEqual(self.call(call['id'])['result']['output'], '8080')

    def test_stale_page_cannot_change_a_decision(self):
        port = self.start('server.mjs', '0').until('listening on')
        session = self.server.create('approve cleanup')['id']
        call = self.call(self.server.session(session)['activity']['pendingID'])
        self.decide(call['id'], False, reason='too late')
        wait_for(lambda: self.server.session(session)['activity']['type'] == 'idle')
        part = {'type': 'dynamic-tool', 'toolCallId': f'{call["messageID"]}/{call["callID"]}',
                'toolName': 'dangerous', 'state': 'approval-responded', 'input': {},
                'approval': {'id': call['id'], 'approved': True}}
        stale = {'id': call['turnID'], 'role': 'assistant', 'parts': [{'type': 'step-start'}, part]}
        answer = self.post(port, json.dumps({'id': session, 'messages': [stale]}))
        chunks = [json.loads(line[6:]) for line in answer.raw.decode().splitlines()
                  if line.startswith('data: {')]
        self.assertEqual([one['type'] for one in chunks],
                         ['start', 'tool-output-denied', 'finish-step', 'start-step', 'text-start',
                          'text-delta', 'text-end', 'finish-step', 'finish'])
        self.assertIn('denied: too late', json.dumps(chunks))
        self.assertEqual(self.call(call['id'])['decision']['approved'], False)

    def test_message_that_is_sent_twice_is_one_prompt(self):
        port = self.start('server.mjs', '0').until('listening on')
        session = self.server.create(None)['id']
        message = {'id': 'm1', 'role': 'user', 'parts': [{'type': 'text', 'text': 'hello'}]}
        body = json.dumps({'id': session, 'messages': [message]})
        self.assertEqual(self.post(port, body).raw, self.post(port, body).raw)
        self.assertEqual(len(self.server.messages(session)), 2)

    def test_server_that_is_away_is_one_error(self):
        self.server.kill()
        program = self.start(self.away)
        self.assertEqual(program.end(), 0, program)
        self.server.restart()
        for line in program.lines[:2]:
            self.assertTrue(line.startswith('502 No answer '), line)
        self.assertEqual(program.lines[2], '405 Only GET and POST are allowed.')

    def test_bad_requests_are_one_clear_error(self):
        port = self.start('server.mjs', '0').until('listening on')
        session = self.server.create(None)['id']
        user = {'id': 'm', 'role': 'user', 'parts': [{'type': 'text', 'text': 'x'}]}
        remote = {'type': 'file', 'mediaType': 'image/png', 'url': 'https://example.org/a.png'}
        for body, status, error_text in (
            ('x', 400, 'must be JSON'),
            ('null', 400, 'must be JSON'),
            (json.dumps({'id': session, 'messages': []}), 400, 'must have parts'),
            (json.dumps({'id': 'other', 'messages': [user]}), 400, 'id of a session'),
            (json.dumps({'id': 'ses_AAAAAAF4ZetYZl8rTkQZmg', 'messages': [user]}), 404, ''),
            (json.dumps({'id': session, 'messages': [{**user, 'parts': []}]}), 400, 'a text'),
            (json.dumps({'id': session, 'messages': [{**user, 'parts': [remote]}]}), 400, 'data:'),
            (json.dumps({'id': session, 'messages': [{'role': 'user'}]}), 400, 'must have parts'),
            (json.dumps({'id': session, 'messages': [{**user, 'id': 'ä'}]}), 400, 'ASCII'),
            (json.dumps({'id': session, 'messages': [{**user, 'id': None}]}), 400, 'ASCII'),
            (json.dumps({'id': session, 'messages': [{**user, 'role': 'system'}]}), 400,
             'of the user'),
            (json.dumps({'id': session, 'messages': [user], 'trigger': 'regenerate-message'}),
             400, 'regenerate'),
        ):
            with self.subTest(body=body):
                answer = self.post(port, body)
                self.assertEqual(answer.status, status, answer)
                self.assertIn(error_text, answer.raw.decode())
        self.assertEqual(self.server.messages(session), [])

    def test_denied_call_never_runs(self):
        program = self.start('refund.mjs', 'order-1')
        for _ in range(2):
            tool, pending = program.until('waiting for').split()
            if tool == 'refund':
                self.decide(pending, False, reason='no')
            else:
                self.assertStatus(self.server.delete(f'/api/pending/{pending}?reason=lost'), 200)
        self.assertEqual(program.until('output:'), 'parcel: "lost", refund: denied: no')
        self.assertRan('refunding 42', 0, program)

    def test_reply_is_whole_after_an_attempt_was_cut_off(self):
        for begun, rest in (('Hä', ['llo you', 'text-end']),
                            ('Other', ['text-end', 'text-start', 'Hällo you', 'text-end'])):
            program = self.start(self.chunks, begun)
            self.assertEqual(program.end(), 0, program)
            self.assertEqual(program.lines, ['start', 'start-step', 'text-start', begun, *rest,
                                             'finish-step', 'finish', 'true'])

    def test_deltas_are_the_reply_once(self):
        port = self.start('server.mjs', '0').until('listening on')
        session = self.server.create(None)['id']
        shown = self.chat(port, session, 'send', 'hello my friend')
        self.assertEqual(shown['shown'], ['user hello my friend', 'assistant step-start',
                                          'assistant You said: hello my friend'])


class AISDK7(AISDK):
    """The same with version 7, which is installed under other names."""
    away, chunks = 'away.mjs', CLIENTS / 'ai-sdk/test/chunks.mjs'

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        source, cls.built = CLIENTS / cls.folder, BUILT / 'ai-sdk-7'
        modules = cls.built / 'node_modules'
        (modules / '@ai-sdk').mkdir(parents=True, exist_ok=True)
        # A copy: Node looks for `ai` beside the real folder.
        shutil.copytree(source / 'dist', modules / 'dormouse-ai-sdk/dist', dirs_exist_ok=True)
        shutil.copy(source / 'package.json', modules / 'dormouse-ai-sdk')
        installed = source / 'node_modules'
        link_packages(cls.built, {
            'dormouse': CLIENTS / 'typescript', 'ai': installed / 'ai7',
            '@ai-sdk/react': installed / 'react7', 'zod': installed / 'zod'})
        for file in source.glob('example/*.mjs'):
            shutil.copy(file, cls.built)
        shutil.copy(source / 'test/away.mjs', cls.built)

    def test_version_is_seven(self):
        package = json.loads((self.built / 'node_modules/ai/package.json').read_text())
        self.assertEqual(package['version'].split('.')[0], '7')


class ClaudeAgentSDK(Adapter):
    folder = 'claude-agent-sdk'

    def test_session_continues_after_everything_was_killed(self):
        first = self.start('deploy.mjs')
        session = first.until('session')
        pending = first.until('waiting for')
        self.assertEqual(self.call(pending)['input'], {'command': 'deploy 4.2'})
        self.crash(first)
        self.decide(pending)
        second = self.start('deploy.mjs', session)
        question = second.until('waiting for')
        call = self.call(question)
        self.assertEqual((call['message'], call['reason']), ('Where?', 'user_input'))
        self.crash(second)
        self.assertStatus(self.server.result(question, 'staging'), 200)
        third = self.start('deploy.mjs', session)
        self.assertEqual(third.until('output:'), 'deployed to staging')
        self.assertEqual(third.end(), 0)
        self.assertRan(f'waiting for {pending}', 1, first, second, third)

    def permission(self, *arguments):
        return self.start('../test/permission.mjs', *arguments)

    def answer(self, program):
        self.assertEqual(program.end(), 0, program)
        return json.loads(program.lines[-1])

    def test_expiry_is_a_denial_with_the_reason(self):
        program = self.permission('')
        call = self.call(program.until('waiting for'))
        self.assertEqual((call['tool'], call['message'], call['input']),
                         ('mcp__shop_refund', 'Allow mcp__shop refund?', {'order': 42}))
        self.server.advance(61)
        self.assertEqual(self.answer(program),
                         {'behavior': 'deny', 'message': 'nobody answered in time'})

    def test_request_that_the_sdk_gives_up_is_cancelled(self):
        program = self.permission('give-up')
        pending = program.until('waiting for')
        self.assertEqual(self.answer(program)['behavior'], 'deny')
        call = self.call(pending)
        self.assertEqual((call['status'], call['cancelReason']),
                         ('cancelled', 'the agent asks no more'))

    def test_question_with_several_answers_takes_only_its_labels(self):
        program = self.permission('many')
        pending = program.until('waiting for')
        self.assertProblem(self.server.result(pending, ['c']), 422, 'invalid_result')
        self.assertStatus(self.server.result(pending, ['a', 'b']), 200)
        self.assertEqual(self.answer(program)['updatedInput']['answers'], {'Which?': 'a, b'})

    def test_server_that_is_away_ends_the_query_with_one_error(self):
        self.server.kill()
        error = self.answer(self.permission('', '500'))
        self.assertEqual((error['behavior'], error['interrupt']), ('deny', True))
        self.assertIn('Dormouse could not ask: No answer', error['message'])
        self.server.restart()

    def test_denial_reaches_the_agent(self):
        program = self.start('deploy.mjs')
        self.decide(program.until('waiting for'), False, reason='not on a Friday')
        self.assertEqual(program.until('output:'), 'denied: not on a Friday')


class KilledDeniedCancelled:
    """Tests of adapters that report a denial as the output of the tool."""

    def test_run_continues_after_everything_was_killed(self):
        self.continues_after_kills()

    def test_denied_call_never_runs(self):
        self.assertEqual(self.denied(), 'denied: not on a Friday')

    def test_cancelled_question_ends_the_program_with_one_error(self):
        self.cancelled_question()


class Mastra(KilledDeniedCancelled, Adapter):
    folder = 'mastra'


class OpenAIAgents(Adapter):
    folder = 'openai-agents'

    def test_run_continues_after_everything_was_killed(self):
        first = self.start('refund.mjs', 'order-1')
        pending = first.until('waiting for')
        call = self.call(pending)
        self.assertEqual((call['tool'], call['input'], call['reason']),
                         ('refund', {'order': 42, 'euro': 30}, 'approval'))
        self.crash(first)
        self.decide(pending)
        second = self.start('refund.mjs', 'order-1')
        self.assertEqual(second.until('output:'), 'The tool said: refunded 30 euro')
        self.assertEqual(second.end(), 0)
        self.assertRan('refunding 42', 1, first, second)
        self.server.restart()
        third = self.start('refund.mjs', 'order-1')
        self.assertEqual(third.until('output:'), 'The tool said: refunded 30 euro')
        self.assertRan('refunding 42', 0, third)

    def test_denied_call_never_runs(self):
        self.assertEqual(self.denied(), 'The tool said: denied: not on a Friday')

    def test_two_programs_of_one_run_have_one_question(self):
        programs = [self.start('refund.mjs', 'order-1') for _ in range(2)]
        first, second = (one.until('waiting for') for one in programs)
        self.assertEqual(first, second)
        self.decide(first)
        for program in programs:
            self.assertEqual(program.until('output:'), 'The tool said: refunded 30 euro')
            self.assertEqual(program.end(), 0, program)


class LangGraph(KilledDeniedCancelled, Adapter):
    folder = 'langgraph'


if __name__ == '__main__':
    main()
