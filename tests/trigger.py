#!/usr/bin/env python3
"""`dormouse trigger` sends deliveries that each kind of source accepts; `dormouse listen` signs and
forwards what arrives at a local address."""
import json
import pathlib
import socket
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request

from cli import CONFLICT, DONE, NOT_ALLOWED, USAGE, Cli
from dormouse import BINARY, Server, environment, main, run
from webhook_peers import WHSEC

CONFIG = '''
[server]
demo = true
[[source]]
id = "ci"
kind = "standard"
secrets_env = ["S_CI", "S_OLD"]
[[source]]
id = "plain"
kind = "hmac"
secrets_env = ["S_PLAIN"]
output = "/job/out"
error = "/job/failure"
pending = "/job/args/0"
[[source]]
id = "gh"
kind = "github"
secrets_env = ["S_PLAIN"]
output = "/run/conclusion"
when = { "/action" = "completed" }
[[source]]
id = "slack"
kind = "slack"
secrets_env = ["S_PLAIN"]
pending = "/payload/actions/0/block_id"
output = "/payload/actions/0/value"
[[source]]
id = "by-reference"
kind = "hmac"
secrets_env = ["S_PLAIN"]
external_ref = "/id"
output = "/out"
[[source]]
id = "unset"
kind = "hmac"
secrets_env = ["S_NOT_SET"]
'''
OWN = '''
[server]
demo = false
[[model]]
id = "m"
kind = "scripted"
[[agent]]
id = "jobs"
model = "m"
tools = ["deploy"]
[[tool]]
name = "deploy"
description = "starts a job"
kind = "command"
command = ["./job.sh"]
webhook_secret_env = "S_PLAIN"
'''
SECRETS = {'S_CI': WHSEC, 'S_PLAIN': 'plain secret'}


class Sources(Cli):
    text = CONFIG

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='dormouse-trigger-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.config = self.folder / 'dormouse.toml'
        self.config.write_text(self.text)
        job = self.folder / 'job.sh'
        job.write_text('#!/bin/sh\ncat >/dev/null\nexit 75\n')
        job.chmod(0o755)
        self.server = Server('--config', str(self.config), env=SECRETS)
        self.addCleanup(self.server.clean)

    def command(self, *words, exits=DONE, stdin='', **env):
        done = run(
            *words,
            *self.where(),
            '--config',
            self.config,
            stdin=stdin,
            env=environment(**{**SECRETS, **env}),
        )
        self.assertEqual(done.returncode, exits, done)
        return done

    def waiting(self, prompt='deploy A', agent='demo'):
        session = self.server.create(prompt, agent=agent)['id']
        return session, self.server.open_calls(session)[0]['id']

    def final_text(self, session):
        self.server.at_rest(session)
        return self.server.last_text(session)


class Trigger(Sources):
    def test_every_kind_settles_a_call(self):
        for source in ('ci', 'plain', 'gh', 'slack'):
            session, call = self.waiting()
            output = self.command('trigger', source, call, f'live by {source}').stdout
            self.assertIn('applied', output)
            self.assertEqual(self.final_text(session), f'deploy A: live by {source}')

    def test_json_error_and_default_output(self):
        for words, expected in (
            (('--json-value', '{"a":[1]}'), 'deploy A: {"a":[1]}'),
            (('--error', 'no room'), 'deploy A failed: no room'),
            ((), 'deploy A: sample'),
        ):
            session, call = self.waiting()
            self.command('trigger', 'plain', call, *words)
            self.assertEqual(self.final_text(session), expected)

    def test_whole_body_comes_from_a_file_or_standard_input(self):
        body = lambda call: json.dumps({'pendingID': call, 'result': {'output': 'up'}})
        session, call = self.waiting()
        file = self.folder / 'body.json'
        file.write_text(body(call))
        self.command('trigger', 'ci', '--body', file)
        self.assertEqual(self.final_text(session), 'deploy A: up')
        session, call = self.waiting()
        self.command('trigger', 'ci', '--body', '-', stdin=body(call))
        self.assertEqual(self.final_text(session), 'deploy A: up')
        form = 'payload=' + urllib.request.quote('{"actions": []}')
        refused = self.command('trigger', 'slack', '--body', '-', stdin=form, exits=USAGE)
        self.assertIn('/payload/actions/0/block_id', refused.stderr)

    def test_print_sends_nothing_and_shows_no_secret(self):
        session, call = self.waiting()
        shown = self.command('trigger', 'ci', call, 'live', '--print').stdout
        self.assertIn(f':{self.server.port}/async-tool/webhook/ci\n', shown)
        self.assertIn('webhook-signature: v1,', shown)
        self.assertNotIn(WHSEC, shown)
        request = json.loads(self.command('trigger', 'ci', call, '--print', '--json').stdout)
        self.assertEqual(json.loads(request['body'])['pendingID'], call)
        self.assertEqual(self.server.open_calls(session)[0]['id'], call)

    def test_slack_gets_the_form_that_slack_sends(self):
        _, call = self.waiting()
        request = json.loads(self.command('trigger', 'slack', call, 'a & b', '--print',
                                          '--json').stdout)
        self.assertEqual(request['headers']['Content-Type'], 'application/x-www-form-urlencoded')
        self.assertRegex(request['headers']['X-Slack-Signature'], '^v0=[0-9a-f]{64}$')
        fields = urllib.parse.parse_qs(request['body'])
        self.assertEqual(list(fields), ['payload'])
        self.assertEqual(json.loads(fields['payload'][0]),
                         {'actions': [{'block_id': call, 'value': 'a & b'}]})

    def test_refusals_say_what_to_do(self):
        _, call = self.waiting()
        for words, why in (
            (('nobody', call), 'has no source nobody; there are: ci, plain, gh, slack'),
            (('nobody', 'x'), 'has no source nobody'),
            (('unset', call), 'has no secret here: export a variable of its secrets_env'),
            (('by-reference', call), 'finds a call by its externalRef'),
            (('gh', call, '--error', 'x'), 'carries no errors'),
            (('ci',), 'give --body FILE'),
            (('ci', call, '--body', 'x'), 'excludes --body'),
            (('ci', call, '--button', 'approve'), '--button is about messages in Slack'),
            (('slack', call, '--button', 'approve'), 'no [[notify]] of kind slack-bot has'),
        ):
            done = self.command('trigger', *words, exits=USAGE)
            self.assertIn(why, done.stderr)
        done = self.command('trigger', 'ci', call, exits=NOT_ALLOWED, S_CI='whsec_' + 'AAAA' * 8)
        self.assertIn('bad_signature', done.stderr)
        self.command('trigger', 'ci', call, 'one')
        self.command('trigger', 'ci', call, 'two', exits=CONFLICT)


class Buttons(Sources):
    def setUp(self):
        super().setUp()
        self.server.finish()
        self.config.write_text('''
[server]
demo = true
[[notify]]
kind = "slack-bot"
token_env = "S_TOKEN"
channel = "C1"
api_url = "http://127.0.0.1:1"
signing_secret_env = "S_SIGNING"
[[user]]
name = "ann"
slack = "U1"
[[user]]
name = "bob"
slack = "U2"
role = "read"
''')
        self.env = {'S_TOKEN': 'xoxb-1', 'S_SIGNING': 'signing secret'}
        self.server = Server('--config', str(self.config), env=self.env)
        self.addCleanup(self.server.clean)

    def press(self, *words, exits=DONE):
        return self.command('trigger', 'slack', *words, exits=exits, **self.env)

    def test_button_decides_as_the_person_who_presses(self):
        session, call = self.waiting('approve A')
        self.assertIn('ann, bob', self.press(call, '--button', 'deny', exits=USAGE).stderr)
        self.assertIn('no [[user]] "eve" with slack',
                      self.press(call, '--button', 'deny', '--as', 'eve', exits=USAGE).stderr)
        done = self.press(call, '--button', 'approve', '--as', 'bob', exits=1)
        self.assertIn('the call still waits', done.stderr)
        shown = self.press(call, '--button', 'approve', '--as', 'ann', '--print').stdout
        self.assertIn('/async-tool/slack\n', shown)
        self.assertNotIn('signing secret', shown)
        self.press(call, '--button', 'approve', '--as', 'ann')
        self.server.at_rest(session)
        receipt = self.server.get(f'/async-tool/pending/{call}')['receipt']
        self.assertEqual((receipt['by']['name'], receipt['via']), ('ann', 'slack'))


class OwnSecret(Sources):
    text = OWN

    def test_own_secret_of_a_call_settles_it(self):
        for words, expected in ((('live',), 'live'), (('--json-value', '[1]'), '[1]'),
                                (('--error', 'no room'), 'no room'), ((), 'sample')):
            session, call = self.waiting(agent='jobs')
            self.assertIn('applied', self.command('trigger', '--own', call, *words).stdout)
            self.assertIn(expected, self.final_text(session))
        secret = {'S_ASKED': 'of this call'}
        asked = self.server.post('/api/pending', {
            'kind': 'result', 'question': 'Done?',
            'webhookURL': 'https://example.org/x', 'webhookSecret': secret['S_ASKED']})
        call = self.assertStatus(asked, 201)['pendingID']
        named = ('trigger', '--own', call, 'live', '--secret-env', 'S_ASKED')
        self.assertIn('applied', self.command(*named, **secret).stdout)
        shown = self.command(*named, '--print', **secret).stdout
        self.assertIn(f':{self.server.port}/async-tool/webhook\n', shown)
        self.assertNotIn(secret['S_ASKED'], shown)

    def test_own_secret_that_is_missing_or_wrong_is_refused(self):
        asked = self.server.post('/api/pending', {'kind': 'result', 'question': 'Done?'})
        call = self.assertStatus(asked, 201)['pendingID']
        refused = self.command('trigger', '--own', call, exits=USAGE)
        self.assertIn('has no webhook_secret_env', refused.stderr)
        self.assertIn('--secret-env', refused.stderr)
        refused = self.command('trigger', '--own', call, '--secret-env', 'S_NOT', exits=USAGE)
        self.assertIn('S_NOT of --secret-env is not set', refused.stderr)
        _, call = self.waiting(agent='jobs')
        self.command('trigger', '--own', call, '--secret-env', 'S_CI', exits=NOT_ALLOWED)
        for words in ((call, 'a', 'b'), (call, 'a', '--error', 'x'), (call, '--button', 'deny'),
                      ('--body', 'x')):
            self.command('trigger', '--own', *words, exits=USAGE)
        self.command('trigger', 'ci', call, '--secret-env', 'S_CI', exits=USAGE)


class Listen(Sources):
    def setUp(self):
        super().setUp()
        self.process = subprocess.Popen(
            [BINARY, 'listen', 'ci', *self.where(), '--config', self.config],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(**SECRETS),
        )
        self.addCleanup(self.process.communicate)
        self.addCleanup(self.process.kill)
        self.url = self.process.stdout.readline().strip()

    def post(self, body, url=None, method='POST'):
        request = urllib.request.Request(url or self.url, body, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.read()

    def test_unsigned_webhook_is_signed_forwarded_and_printed(self):
        session, call = self.waiting()
        body = json.dumps({'pendingID': call, 'result': {'output': 'up'}}).encode()
        status, answer = self.post(body)
        self.assertEqual((status, json.loads(answer)['outcome']), (200, 'applied'))
        self.assertRegex(self.process.stdout.readline(), r'  200  applied')
        shown = ''.join(self.process.stdout.readline() for _ in range(7))
        for header in ('webhook-id: msg_', 'webhook-signature: v1,', 'Content-Type: '):
            self.assertIn(f'  {header}', shown)
        self.assertIn(f'  {len(body)} bytes\n', shown)
        self.assertIn(f'"pendingID": "{call}"', shown)
        self.assertEqual(self.final_text(session), 'deploy A: up')
        status, answer = self.post(b'{"pendingID": "pnd_x"}')
        self.assertEqual((status, json.loads(answer)['code']), (400, 'bad_value'))

    def test_only_the_printed_address_takes_only_posts(self):
        self.assertRegex(self.url, r'^http://127\.0\.0\.1:\d+/[0-9a-f]{32}$')
        other = self.url.rsplit('/', 1)[0]
        for url, method, status in ((other, 'POST', 404), (self.url, 'PUT', 405)):
            self.assertEqual(self.post(b'{}', url, method)[0], status)

    def test_server_that_is_gone_is_a_bad_gateway(self):
        self.server.term()
        status, answer = self.post(b'{}')
        self.assertEqual(status, 502)
        self.assertIn('no server', json.loads(answer)['title'])
        self.process.terminate()
        self.assertEqual(self.process.wait(20), 0)
        self.server.start()


class Mistakes(Sources):
    def test_configuration_of_the_running_server_is_found(self):
        session, call = self.waiting()
        elsewhere = {'XDG_CONFIG_HOME': self.server.directory, 'DORMOUSE_CONFIG': ''}
        done = run('trigger', 'ci', call, 'live', *self.where(),
                   env=environment(**{**SECRETS, **elsewhere}))
        self.assertEqual(done.returncode, DONE, done)
        self.assertEqual(self.final_text(session), 'deploy A: live')

    def test_without_a_configuration_it_says_what_to_name(self):
        self.server.finish()
        self.server = Server('--no-config')
        self.addCleanup(self.server.clean)
        done = run('listen', 'ci', *self.where(), env={'XDG_CONFIG_HOME': self.server.directory,
                                                       'DORMOUSE_CONFIG': ''})
        self.assertEqual(done.returncode, USAGE, done)
        self.assertIn('no configuration was found here: name that of the server with --config FILE',
                      done.stderr)

    def test_port_in_use_is_a_conflict_as_for_serve(self):
        with socket.create_server(('127.0.0.1', 0)) as taken:
            port = str(taken.getsockname()[1])
            output = self.command('listen', 'ci', '--port', port, exits=CONFLICT).stderr
        self.assertIn('another program uses this port', output)

    def test_source_is_checked_before_it_listens(self):
        self.assertIn('no source nobody', self.command('listen', 'nobody', exits=USAGE).stderr)
        self.config.write_text('[[source]]\nid = "ci"\n')
        output = self.command('listen', 'ci', exits=USAGE).stderr
        self.assertRegex(output, r'dormouse\.toml:1: .*kind')


if __name__ == '__main__':
    main()
