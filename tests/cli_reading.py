#!/usr/bin/env python3
"""The command line, reading: `pending`, `show`, `explain`, ids by their beginning, `watch`
(docs/reference/cli.md)."""
import json
import os
import pathlib
import re
import signal
import stat
import subprocess

from cli import (
    CONFLICT, Cli, DONE, FAILED, INTERRUPTED, NOT_FOUND, SLEEPS, Terminal, UNREACHABLE,
    USAGE,
)
from dormouse import BINARY, environment, main, run, wait_for
from wrong_clock import clock_set_to


class Reading(Cli):
    def test_sessions_and_pending(self):
        _, one, call = self.asleep()
        self.dm('prompt', 'hello')
        listed = self.dm('sessions')
        self.assertIn(one, listed)
        self.assertIn('more', self.dm('sessions', '--limit', '1'))
        self.assertEqual(len(self.dm('sessions', '--all').splitlines()), len(listed.splitlines()))
        waits = self.dm('pending')
        self.assertIn(call['id'], waits)
        self.assertIn('deploy', waits)
        self.assertNotIn(call['id'], self.dm('pending', '--tool', 'other'))
        self.assertIn(call['id'], self.dm('pending', '-s', one, '--status', 'waiting'))
        self.dm('pending', '--status', 'nonsense', exits=USAGE)
        self.dm('sessions', '--limit', '0', exits=USAGE)
        self.assertNotIn(one, self.dm('sessions', '--project', 'other'))

    def test_times_are_those_of_the_servers_clock(self):
        _, session, call = self.asleep('deploy A within 2h')
        for minutes in (-300, 300):
            env = environment(**clock_set_to(minutes * 60))
            for words in (('pending',), ('show', call['id']), ('status',), ('sessions',),
                          ('explain', call['id'])):
                shown = run(*words, *self.where(), env=env).stdout
                deadline = 'in 2 h'
                if words != ('sessions',):
                    self.assertIn(deadline, shown, words)
                self.assertNotRegex(shown, r'[345] h|overdue', words)

    def test_show_and_explain(self):
        _, session, call = self.asleep()
        self.assertIn('deploy', self.dm('show', call['id']))
        receipt = self.server.result(call['id'], 'live')['receipt']
        self.server.at_rest(session)
        for name in (call['id'], session, receipt['id']):
            output = self.dm('explain', name)
            self.assertIn(receipt['digest'][:19], output)
            self.assertIn('first', output, 'who')
        self.dm('explain', 'nonsense', exits=NOT_FOUND)

    def test_artifact(self):
        _, session, call = self.asleep()
        text = 'a line with é\n' * 100_000
        self.server.result(call['id'], text)
        self.server.at_rest(session)
        shown = self.dm('show', session)
        (artifact,) = set(re.findall(r'dormouse artifact (art_[\w-]+)', shown))
        self.assertIn(f'({len(text.encode())} bytes; all of it: dormouse artifact ', shown)
        self.assertEqual(self.dm('artifact', artifact), text)
        file = pathlib.Path(self.server.own, 'all.txt')
        self.assertEqual(self.dm('artifact', artifact, '-o', file), '')
        self.assertEqual(file.read_bytes(), text.encode())
        self.dm('artifact', artifact + '0', '-o', file, exits=NOT_FOUND)
        self.assertEqual(file.read_bytes(), text.encode(), 'nothing was changed')
        self.dm('artifact', artifact, '-o', file.parent, exits=FAILED)

    def test_tail(self):
        _, session, call = self.asleep()
        lines = self.dm('tail', session, '--no-follow').splitlines()
        self.assertEqual(len(lines), self.server.session(session)['seq'])
        self.assertIn('session_created', lines[0])
        rest = self.dm('tail', session, '--no-follow', '--after', '3').splitlines()
        self.assertEqual(rest, lines[3:])
        where = [
            '--server',
            f'http://127.0.0.1:{self.server.port}',
            '--data',
            self.server.directory,
        ]
        live = subprocess.Popen(
            [BINARY, 'tail', session, *where], env=environment(), stdout=subprocess.PIPE, text=True
        )
        for _ in lines:
            live.stdout.readline()
        self.server.result(call['id'], 'live')
        self.assertIn('submitted', live.stdout.readline())
        live.send_signal(signal.SIGINT)
        live.communicate(timeout=10)
        self.assertEqual(live.returncode, INTERRUPTED)

    def test_timeline_draws_who_woke_the_session(self):
        output, session, call = self.asleep()
        asleep = self.dm('timeline', session[:14])
        self.assertIn('☾', asleep)
        self.assertRegex(asleep, r'(?m)^deploy +▒*┄+')
        self.dm('result', call['id'], 'live')
        wait_for(lambda: self.server.session(session)['activity']['type'] == 'idle')
        drawn = self.dm('timeline', session)
        self.assertRegex(drawn, r'(?m)^woken by .*▶ \S+ prompt .*▶ \S+ result')
        self.assertIn('✓ done', drawn)
        self.assertLessEqual(max(map(len, drawn.splitlines())), 80)
        (line,) = self.objects('timeline', session)
        self.assertEqual([wake['verb'] for wake in line['wakes']], ['prompt', 'result'])
        self.assertEqual(line['calls'][0]['settled']['what'], 'done')
        self.dm('timeline', 'ses_nothing', exits=NOT_FOUND)

    def test_doctor_and_version_and_help(self):
        self.dm('doctor')
        self.assertRegex(run('--version').stdout, r'^dormouse \d+\.\d+')
        listed = re.split('Example:|Exit status', run('--help').stdout.split('Run a server:')[1])[0]
        names = re.findall(r'^  ([a-z]+) ', listed, re.M)
        self.assertGreater(len(names), 18)
        for name in names:
            done = run(name, '--help')
            self.assertEqual(done.returncode, DONE)
            self.assertIn('Example', done.stdout)

    def test_objects_are_those_of_the_api(self):
        (turn,) = self.objects('prompt', 'deploy A', exits=SLEEPS)
        self.assertEqual((turn['status'], turn['sessionID'][:4]), ('waiting', 'ses_'))
        session = turn['sessionID']
        (call,) = self.server.open_calls(session)
        api = {
            ('sessions',): '/api/projects/default/sessions',
            ('pending',): '/async-tool/pending',
            ('show', call['id']): f'/async-tool/pending/{call["id"]}',
            ('explain', call['id']): f'/api/explain/{call["id"]}',
        }
        for command, path in api.items():
            self.assertEqual(self.objects(*command), [self.server.get(path).json])
        self.assertEqual(self.objects('show', session)[0], self.server.session(session))
        self.assertEqual(self.objects('tail', session, '--no-follow'), self.server.events(session))
        self.assertTrue(self.objects('doctor')[0]['ok'])
        (answer,) = self.objects('result', call['id'], 'live')
        self.assertEqual(
            (answer['outcome'], answer['receipt']['pendingID']), ('applied', call['id'])
        )
        self.server.at_rest(session)
        self.assertEqual(self.objects('prompt', '-s', session, 'hello')[0]['status'], 'ended')

    def test_problem_with_json_is_its_document(self):
        where = [
            '--server',
            f'http://127.0.0.1:{self.server.port}',
            '--data',
            self.server.directory,
        ]
        _, _, call = self.asleep()
        self.server.result(call['id'], 1)
        ended = run('result', call['id'], 'other', '--json', *where)
        self.assertEqual(ended.returncode, CONFLICT)
        lines = (ended.stdout + ended.stderr).splitlines()
        documents = [line for line in lines if line.startswith('{')]
        self.assertEqual(json.loads(documents[0])['code'], 'conflict')

    def test_control_characters_do_not_reach_the_terminal(self):
        evil = 'x\x1b[2J\x07\u202e\x9b\u200b\u2066\ufeff\U000e0041'
        _, session, call = self.asleep()
        self.server.error(call['id'], evil)
        self.server.call('PATCH', f'/api/sessions/{session}', {'title': evil})
        self.server.at_rest(session)
        for command in (
            ('show', session),
            ('sessions',),
            ('tail', session, '--no-follow'),
            ('explain', call['id']),
            ('show', call['id']),
            ('pending', '--status', 'failed'),
            ('candidates', 'session'),
        ):
            for output in (self.dm(*command), self.dm(*command, '--json')):
                for character in evil[1:2] + '\x07\u202e\x9b\u200b\u2066\ufeff\U000e0041':
                    self.assertNotIn(character, output, command)
        (shown, *_) = self.objects('show', session)
        self.assertEqual(shown['title'], evil, 'the same value in another spelling')


class Ids(Cli):
    def test_unique_beginning_is_enough(self):
        _, session, call = self.asleep()
        self.assertIn(session, self.dm('show', session[:-3]))
        self.assertIn(session, self.dm('show', session[4:12]))
        self.dm('result', call['id'][:-10], 'live')
        self.server.at_rest(session)
        self.assertEqual(self.server.last_text(session), 'deploy A: live')

    def test_ambiguous_beginning_lists_candidates(self):
        for _ in range(3):
            self.asleep()
        ended = run(
            'show',
            'ses_',
            '--data',
            self.server.directory,
            '--server',
            f'http://127.0.0.1:{self.server.port}',
        )
        self.assertEqual(ended.returncode, CONFLICT)
        for session in self.server.items('/api/projects/default/sessions'):
            self.assertIn(session['id'], ended.stderr)

    def test_unknown_ones_are_not_found(self):
        self.dm('show', 'ses_nothing', exits=NOT_FOUND)
        self.dm('show', 'pnd_nothing', exits=NOT_FOUND)
        self.dm('result', 'pnd_nothing', 'x', exits=NOT_FOUND)
        self.dm('show', 'ses_AAAAAAHW1EtoEHiAv8ehiA', exits=NOT_FOUND)
        self.dm('prompt', '-c', 'x', exits=NOT_FOUND)
        self.dm('show', '', exits=USAGE)


    def test_beginning_also_names_settled_calls(self):
        _, session, call = self.asleep()
        cut = call['id'][:34]
        self.assertIn('applied', self.dm('result', cut, 'live'))
        self.assertIn('duplicate', self.dm('result', cut, 'live'))
        self.dm('result', cut, 'other', exits=CONFLICT)
        self.server.at_rest(session)
        self.dm('prompt', '-s', session[:12], 'deploy B', exits=SLEEPS)
        # Two calls have this beginning, so it is ambiguous.
        self.dm('result', call['id'][:26], 'live', exits=CONFLICT)
        self.assertEqual(len(self.server.open_calls(session)), 1)
        self.assertIn(call['id'], self.dm('show', cut))
        self.assertIn(call['id'], self.dm('explain', cut))

    def test_explain_takes_the_beginning_of_any_id(self):
        _, session, call = self.asleep()
        for prefix in ('ses_', 'trn_', 'msg_', 'rcp_', ''):
            self.assertIn(call['id'], self.dm('explain', prefix + session[4:14]), prefix)

    def test_last_session_file_is_private(self):
        self.dm('prompt', 'hello')
        mode = os.stat(pathlib.Path(self.server.directory, 'last-session')).st_mode
        self.assertEqual(stat.S_IMODE(mode), 0o600)


class Watching(Cli):
    def watch(self, *arguments):
        watch = subprocess.Popen(
            [BINARY, 'watch', *arguments, *self.where()],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(watch.kill)
        return watch

    def interrupted(self, watch):
        watch.send_signal(signal.SIGINT)
        _, errors = watch.communicate(timeout=10)
        self.assertEqual((watch.returncode, errors), (INTERRUPTED, ''))

    def test_line_for_each_change(self):
        _, session, call = self.asleep()
        watch = self.watch()
        line = watch.stdout.readline()
        self.assertIn('waiting', line)
        self.assertIn(call['id'], line)
        self.server.post('/async-tool/progress', {'pendingID': call['id'], 'payload': '50 %'})
        self.assertIn('progress 50 %', watch.stdout.readline())
        self.server.result(call['id'], 'live')
        line = watch.stdout.readline()
        self.assertIn('completed', line)
        self.assertIn('by first', line)
        _, other, call = self.asleep('deploy B')
        self.assertIn(call['id'], watch.stdout.readline())
        self.server.delete(f'/api/sessions/{other}')
        self.assertIn(call['id'], watch.stdout.readline())
        self.interrupted(watch)

    def test_objects(self):
        _, session, call = self.asleep()
        self.asleep('approve X')
        watch = self.watch('--json', '--tool', 'deploy', '-s', session[:12])
        self.assertEqual(json.loads(watch.stdout.readline())['id'], call['id'])
        self.server.error(call['id'], 'no')
        self.assertEqual(json.loads(watch.stdout.readline())['status'], 'failed')
        self.interrupted(watch)

    def test_watch_timers_are_shown_with_all(self):
        _, _, timer = self.asleep('wait 500s')
        _, _, call = self.asleep()
        watch = self.watch()
        self.assertIn(call['id'], watch.stdout.readline())
        self.server.result(call['id'], 'live')
        self.assertIn(call['id'], watch.stdout.readline())
        self.interrupted(watch)
        watch = self.watch('--all')
        self.assertIn(timer['id'], watch.stdout.readline())
        self.interrupted(watch)

    def test_watch_outlives_the_server(self):
        _, session, call = self.asleep()
        watch = self.watch()
        watch.stdout.readline()
        self.server.term()
        self.assertIn('connection is lost', watch.stderr.readline())
        self.server.start()
        self.server.result(call['id'], 'live')
        self.assertIn('completed', watch.stdout.readline())
        self.interrupted(watch)

    def test_watch_draws_on_a_terminal(self):
        _, session, call = self.asleep()
        screen = Terminal('watch', *self.where(), columns=70, rows=10)
        screen.until(call['id'][-5:])
        self.assertIn('1 call waiting at http', screen.text)
        self.server.result(call['id'], 'live')
        screen.until('nothing waits')
        screen.type('\x03')
        self.assertEqual(screen.ended(), INTERRUPTED)

    def test_watch_ends_when_no_server_answers(self):
        self.server.term()
        self.dm('watch', exits=UNREACHABLE)
        self.server.start()


if __name__ == '__main__':
    main()
