#!/usr/bin/env python3
"""The GitHub actions and the GitLab jobs of packaging/, run as their runners run them: expressions
are replaced in the environment of a step, outputs come from the file $GITHUB_OUTPUT, commands from
lines that begin with `::`."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile

import yaml

from dormouse import BINARY, Case, environment, main, wait_for

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGING = ROOT / 'packaging'
EXPRESSION = re.compile(r'\$\{\{\s*([\w.-]+)\s*\}\}')
OUTPUT = re.compile(
    r'(?P<name>[\w-]+)(?:=(?P<value>.*)|<<(?P<end>\S+)\n(?P<lines>(?:.*\n)*?)(?P=end))\n'
)
DENIED, EXPIRED, CANCELLED, USAGE, NOT_ALLOWED, UNREACHABLE = 11, 12, 13, 2, 6, 7
GITHUB = {
    'github.repository': 'acme/shop',
    'github.run_id': '42',
    'github.run_attempt': '1',
    'github.job': 'deploy',
    'github.action': '__ask',
    'github.server_url': 'https://github.example',
    'job.status': 'success',
}


class Step:
    def __init__(self, exit_status, log, outputs):
        self.exit, self.log, self.outputs = exit_status, log, outputs


class Action:
    """A composite action, as a step `uses` it."""

    def __init__(self, name, token, server, folder, **inputs):
        self.path = PACKAGING / 'github' / name
        self.text = yaml.safe_load((self.path / 'action.yml').read_text())
        self.folder = folder
        self.given = {'token': token, 'server': server, **inputs}

    def values(self):
        known = dict(GITHUB)
        for name, described in self.text['inputs'].items():
            if described.get('required') and name not in self.given:
                raise AssertionError(f'the input {name} is required')
            value = self.given.get(name, described.get('default', ''))
            known[f'inputs.{name}'] = self.filled(str(value), known)
        return known

    @staticmethod
    def filled(text, known):
        return EXPRESSION.sub(lambda match: known[match[1]], text)

    def start(self, **more):
        (step,) = self.text['runs']['steps']
        assert step['shell'] == 'bash' and self.text['runs']['using'] == 'composite'
        known = self.values()
        self.output = self.folder / f'output-{len(list(self.folder.iterdir()))}'
        self.output.touch()
        own = {name: self.filled(value, known) for name, value in step['env'].items()}
        return subprocess.Popen(
            ['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', step['run']],
            env=environment(**{
                'PATH': f'{pathlib.Path(BINARY).parent}:{os.environ["PATH"]}',
                'GITHUB_ACTION_PATH': str(self.path),
                'GITHUB_OUTPUT': str(self.output),
                **own,
                **more,
            }),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # a runner ends all that a step has started
        )

    def end(self, process):
        log, _ = process.communicate(timeout=60)
        outputs = {}
        for match in OUTPUT.finditer(self.output.read_text()):
            lines = match['lines']
            outputs[match['name']] = match['value'] if lines is None else lines.removesuffix('\n')
        return Step(process.returncode, log, outputs)

    def run(self, **more):
        return self.end(self.start(**more))


class Jobs(Case):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix='dormouse-ci-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.url = f'http://127.0.0.1:{self.server.port}'

    def action(self, name, **inputs):
        return Action(name, self.server.token, self.url, self.folder, **inputs)

    def waiting_calls(self, count=1):
        def waiting():
            calls = self.server.items('/async-tool/pending?status=waiting&limit=50')
            return calls if len(calls) == count else None

        return wait_for(waiting, what='the question')

    def waiting_call(self):
        session = self.server.create('deploy A')['id']
        (call,) = self.server.open_calls(session)
        return session, call['id']


class GithubAsk(Jobs):
    def test_approved_question_lets_the_job_continue(self):
        action = self.action(
            'ask', question='Deploy 4.2?', arguments='version=4.2\ncanary:=true\n', by='first'
        )
        process = action.start()
        (call,) = self.waiting_calls()
        self.assertEqual(call['input'], {'version': '4.2', 'canary': True})
        self.assertStatus(self.server.decide(call, True), 200)
        step = action.end(process)
        self.assertEqual(step.exit, 0, step.log)
        self.assertEqual(step.outputs, {'answer': 'approved', 'status': 'approved'})
        self.assertIn(f'::add-mask::{self.server.token}\n', step.log)
        self.assertIn('::notice::Deploy 4.2?: approved\n', step.log)

    def test_denied_question_fails_the_job(self):
        action = self.action('ask', question='Deploy?')
        process = action.start()
        (call,) = self.waiting_calls()
        self.assertStatus(self.server.decide(call, False), 200)
        step = action.end(process)
        self.assertEqual((step.exit, step.outputs['status']), (DENIED, 'denied'))
        self.assertIn('::error::Deploy?: denied\n', step.log)

    def test_question_that_nobody_answers_expires(self):
        action = self.action('ask', question='Deploy?', timeout='1h')
        process = action.start()
        self.waiting_calls()
        self.server.advance(3_601)
        step = action.end(process)
        self.assertEqual((step.exit, step.outputs['status']), (EXPIRED, 'expired'))

    def test_answer_is_an_output_whatever_it_says(self):
        evil = 'eu\nstatus=approved\n::set-output name=x::y'
        action = self.action('ask', question='Where?\n::error::x', kind='answer', choices='eu\nus')
        process = action.start()
        (call,) = self.waiting_calls()
        self.assertStatus(self.server.result(call['id'], 'us'), 200)
        step = action.end(process)
        self.assertEqual(step.outputs, {'answer': 'us', 'status': 'answered'})
        self.assertIn('::notice::Where?%0A::error::x: us\n', step.log)
        free = self.action('ask', question='Why?', kind='answer', key='another')
        process = free.start()
        (call,) = self.waiting_calls()
        self.assertStatus(self.server.result(call['id'], evil), 200)
        step = free.end(process)
        self.assertEqual(step.outputs, {'answer': evil, 'status': 'answered'})
        self.assertNotRegex(step.log, r'(?m)^::set-output')

    def test_killed_job_and_server_find_the_same_question_again(self):
        action = self.action('ask', question='Deploy?')
        process = action.start()
        (call,) = self.waiting_calls()
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        self.server.kill()
        self.server.start()
        self.url = f'http://127.0.0.1:{self.server.port}'
        again = self.action('ask', question='Deploy?')
        process = again.start()
        self.assertEqual(self.waiting_calls()[0]['id'], call['id'])
        self.assertStatus(self.server.decide(call, True), 200)
        self.assertEqual(again.end(process).exit, 0)

    def test_bad_inputs_are_one_clear_error(self):
        for inputs, exit_status, words in (
            ({'token': ''}, NOT_ALLOWED, 'is the secret set'),
            ({'kind': 'vote'}, USAGE, 'must be approve or answer'),
            ({'votes': 'x'}, USAGE, '::error::'),
            ({'token': 'dm_wrong'}, NOT_ALLOWED, '::error::'),
            ({'server': 'http://127.0.0.1:1'}, UNREACHABLE, '::error::'),
        ):
            step = Action('ask', **{
                'token': self.server.token,
                'server': self.url,
                'folder': self.folder,
                'question': 'Deploy?',
                **inputs,
            }).run()
            self.assertEqual((step.exit, step.outputs['status']), (exit_status, 'failed'), inputs)
            self.assertIn(words, step.log, inputs)
        self.assertEqual(self.server.items('/async-tool/pending?status=waiting&limit=50'), [])

    def test_runner_without_dormouse_says_what_to_install(self):
        step = self.action('ask', question='Deploy?').run(PATH='/usr/bin:/bin')
        self.assertEqual(step.exit, 1)
        self.assertIn('::error::dormouse is not in PATH', step.log)


class GithubResult(Jobs):
    def report(self, call, **inputs):
        return self.action('result', call=call, **inputs).run()

    def test_job_that_succeeded_gives_its_result_once(self):
        session, call = self.waiting_call()
        self.assertEqual(self.report(call, result='live').exit, 0)
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'deploy A: live')
        self.assertEqual(self.report(call, result='live').exit, 0, 'the same again has no effect')

    def test_job_without_a_result_gives_the_address_of_its_run(self):
        session, call = self.waiting_call()
        self.assertEqual(self.report(call).exit, 0)
        self.server.at_rest(session)
        self.assertIn('https://github.example/acme/shop/actions/runs/42', self.server.last_text(session))

    def test_json_stays_json(self):
        _, call = self.waiting_call()
        self.assertEqual(self.report(call, result='{"url": "https://x"}').exit, 0)
        shown = self.server.get(f'/async-tool/pending/{call}')
        self.assertEqual(shown['result']['output'], {'url': 'https://x'})

    def test_job_that_failed_or_was_cancelled_gives_an_error(self):
        for status in ('failure', 'cancelled'):
            _, call = self.waiting_call()
            self.assertEqual(self.report(call, **{'job-status': status}).exit, 0)
            shown = self.server.get(f'/async-tool/pending/{call}')
            self.assertEqual(shown['status'], 'failed')
            self.assertIn(f'status {status}: https://github.example', shown['error'])

    def test_call_that_is_no_call_is_refused(self):
        step = self.report('--help')
        self.assertEqual(step.exit, USAGE)
        self.assertIn('::error::The input call must be the id', step.log)


class Gitlab(Jobs):
    def script(self, job, part, **variables):
        text = yaml.safe_load((PACKAGING / 'gitlab' / 'dormouse.yml').read_text())[job]
        own = {**text.get('variables', {}), **variables}
        return subprocess.Popen(
            ['sh', '-ec', '\n'.join(text[part])],
            env=environment(**{
                'PATH': f'{pathlib.Path(BINARY).parent}:{os.environ["PATH"]}',
                'DORMOUSE_URL': self.url,
                'DORMOUSE_TOKEN': self.server.token,
                'CI_PROJECT_PATH': 'acme/shop',
                'CI_PIPELINE_ID': '7',
                'CI_PIPELINE_URL': 'https://gitlab.example/p/7',
                'CI_JOB_NAME': 'deploy',
                'CI_JOB_URL': 'https://gitlab.example/j/9',
                **own,
            }),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def test_job_continues_only_if_it_is_approved(self):
        for approved, exit_status in ((True, 0), (False, DENIED)):
            job = self.script('.dormouse-ask', 'script', CI_PIPELINE_ID=str(exit_status))
            (call,) = self.waiting_calls()
            self.assertEqual(call['input'], {'pipeline': 'https://gitlab.example/p/7'})
            self.assertStatus(self.server.decide(call, approved), 200)
            log, _ = job.communicate(timeout=60)
            self.assertEqual(job.returncode, exit_status, log)

    def test_outcome_of_the_job_is_reported(self):
        for status, known in (('success', 'completed'), ('failed', 'failed')):
            _, call = self.waiting_call()
            job = self.script(
                '.dormouse-result', 'after_script', DORMOUSE_CALL=call, CI_JOB_STATUS=status
            )
            log, _ = job.communicate(timeout=60)
            self.assertEqual(job.returncode, 0, log)
            shown = self.server.get(f'/async-tool/pending/{call}')
            self.assertEqual(shown['status'], known)
            self.assertIn('https://gitlab.example/j/9', shown.raw.decode())


if __name__ == '__main__':
    main()
