#!/usr/bin/env python3
"""`dormouse doctor` names what an operator should look at before it becomes a problem: missing
agents, rejected keys, failed turns, links that only this machine can open, old backups."""
import http.server
import json
import pathlib
import resource
import tempfile
import threading

from dormouse import Alone, Case, Client, main, run, wait_for
from webhook_peers import Receiver

DAY_S = 86_400


def failed_session(case):
    """Returns a session whose turn failed because of its provider, which accepts from now on."""
    provider = Provider()
    case.addCleanup(provider.close)
    case.configured(ONE_MODEL % provider.url, THE_KEY='sk-sesame')
    session = case.server.create('hello', agent='ops')['id']
    case.server.at_rest(session)
    provider.accepts = True
    return session


class Provider:
    """Refuses the key until `accepts` is set."""

    def __init__(self):
        outer = self
        self.accepts = False

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                self.rfile.read(int(self.headers['Content-Length']))
                if outer.accepts:
                    chunk = {'choices': [{'index': 0, 'delta': {'content': 'well'},
                                          'finish_reason': 'stop'}]}
                    return self.say(200, 'text/event-stream',
                                    f'data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n')
                self.say(401, 'application/json', json.dumps({'error': {'message': 'bad key'}}))

            def say(self, status, kind, text):
                body = text.encode()
                self.send_response(status)
                self.send_header('Content-Type', kind)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}/v1'

    def close(self):
        self.server.shutdown()
        self.server.server_close()


NOTIFYING = '''
[server]
demo = true
webhook_hosts = ["%s"]
[[gate]]
tools = ["deploy"]
ask = "Ship?"
[[notify]]
kind = "webhook"
url_env = "N_URL"
'''
ONE_MODEL = '''
[server]
demo = false
[[model]]
id = "main"
kind = "openai-chat"
model = "m"
base_url = "%s"
api_key_env = "THE_KEY"
[[agent]]
id = "ops"
model = "main"
'''


class Doctored(Case):
    def setUp(self):
        pass

    def concerns(self):
        """What the servers report, each what it met itself."""
        servers = [self.server, self.server.beside] if self.server.beside else [self.server]
        found = {}
        for server in servers:
            client = Client(server.port, server.token)
            found.update({one['about']: one for one in client.get('/api/doctor')['concerns']})
            client.close()
        return found

    def doctor(self):
        done = run('doctor', '--server', f'http://127.0.0.1:{self.server.port}', '--data',
                   self.server.directory)
        return done.returncode, done.stdout


class Models(Doctored):
    def test_rejected_key_is_named_until_it_is_accepted(self):
        provider = Provider()
        self.addCleanup(provider.close)
        self.configured(ONE_MODEL % provider.url, THE_KEY='sk-sesame')
        with self.server.alone():
            session = self.server.create('hello', agent='ops')['id']
        found = self.concerns()
        self.assertIn("the key of the model of 'ops' was rejected", found['key']['why'])
        self.assertIn('api_key_env', found['key']['next'])
        self.assertIn('1 turn failed', found['turns']['why'])
        self.assertIn(session, found['turns']['next'])
        status, text = self.doctor()
        self.assertEqual(status, 0, 'no session is stuck')
        self.assertIn('look at key', text)
        self.assertNotIn('sk-sesame', text)
        provider.accepts = True
        with self.server.alone():  # each server finds out for itself
            self.server.create('hello', agent='ops')
        wait_for(lambda: 'key' not in self.concerns(), what='the key is accepted')
        self.server.advance(DAY_S + 60)
        self.assertNotIn('turns', self.concerns())


class Agents(Doctored):
    def test_missing_agent_is_named_with_its_sessions(self):
        text = '[server]\ndemo = false\n[[model]]\nid = "main"\nkind = "scripted"\n'
        self.configured(text + '[[agent]]\nid = "ops"\nmodel = "main"\n')
        path = pathlib.Path(self.server.arguments[1])
        self.server.create('hello', agent='ops')
        ended = self.server.create('hello', agent='ops')['id']
        self.assertStatus(self.server.post(f'/api/sessions/{ended}/end', {}), 200)
        self.assertNotIn('agents', self.concerns())
        self.server.term()
        path.write_text(text)
        self.server.start()
        found = self.concerns()['agents']
        self.assertIn("'ops' is not configured, and 1 session of it has not ended", found['why'])
        self.assertIn('dormouse sessions', found['next'])


class People(Doctored):
    kind = Alone  # each server reports the receivers that refused its messages

    def test_links_that_only_this_machine_opens_are_named(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        self.configured('''
[server]
webhook_hosts = ["%s"]
[[notify]]
kind = "discord"
url_env = "N_URL"
''' % receiver.host, N_URL=receiver.url + '/n')
        self.assertIn('which only this machine can open', self.concerns()['public_url']['why'])

    def test_receiver_that_refuses_is_named_until_it_accepts(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        receiver.answer = lambda got: (503, {}, b'')
        self.configured(NOTIFYING % receiver.host, N_URL=receiver.url + '/s3cret')
        for _ in range(3):
            self.server.create('deploy A')
        wait_for(lambda: 'receivers' in self.concerns(), what='the receiver is named')
        found = self.concerns()['receivers']
        self.assertIn('the receiver answered 503', found['why'])
        self.assertIn('dormouse deliveries', found['next'])
        code, text = self.doctor()
        self.assertIn('look at receivers', text)
        self.assertNotIn('s3cret', text)
        self.assertNotIn('deliveries', self.concerns(), 'nothing was given up')
        receiver.answer = lambda got: (204, {}, b'')
        self.server.advance(6)
        wait_for(lambda: 'receivers' not in self.concerns(), what='it accepts a message')


class OfTheProcess(Doctored):
    def test_open_files_near_their_limit_are_named(self):
        self.configured('')
        self.assertNotIn('files', self.concerns())
        pid = self.server.process.pid
        count = len(list(pathlib.Path(f'/proc/{pid}/fd').iterdir()))
        _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (count + 8, hard))
        found = self.concerns()['files']
        self.assertIn(f'of at most {count + 8} files and connections are open', found['why'])
        self.assertIn('LimitNOFILE', found['next'])

    def test_deliveries_that_were_given_up_are_counted(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        receiver.answer = lambda got: (410, {}, b'')
        self.configured(NOTIFYING % receiver.host, N_URL=receiver.url + '/n')
        self.server.create('deploy A')
        wait_for(lambda: 'deliveries' in self.concerns(), what='the delivery is given up')
        self.assertIn('were given up: 1', self.concerns()['deliveries']['why'])
        self.assertIn('--state disabled', self.concerns()['deliveries']['next'])
        done = run('deliveries', '--state', 'disabled', '--server',
                   f'http://127.0.0.1:{self.server.port}', '--data', self.server.directory)
        self.assertIn('disabled', done.stdout)


class Backups(Doctored):
    def test_old_or_missing_backup_is_named(self):
        self.configured('')
        if self.server.store:
            self.skipTest('PostgreSQL is backed up by its own means')
        self.server.create('hello')
        self.assertNotIn('backup', self.concerns())
        self.server.advance(8 * DAY_S)
        self.assertIn('never a backup', self.concerns()['backup']['why'])
        target = tempfile.TemporaryDirectory(prefix='dormouse-backup-')
        self.addCleanup(target.cleanup)
        done = run('backup', f'{target.name}/b', '--data', self.server.directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('the newest backup is 8 days old', self.concerns()['backup']['why'])


if __name__ == '__main__':
    main()
