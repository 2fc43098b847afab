#!/usr/bin/env python3
"""`dormouse export` prints sessions as JSON lines: every event, and the bytes of artifacts."""
import base64
import json

from dormouse import Case, main, run


class Export(Case):
    def export(self, *sessions, status=0):
        done = run('export', *sessions, '--data', self.server.directory, env={'DORMOUSE_URL': ''})
        self.assertEqual(done.returncode, status, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_export_has_all_events_and_artifacts(self):
        first = self.server.create('deploy A within 1h')['id']
        (call,) = self.server.open_calls(first)
        output = 'x' * 1_200_000
        self.assertStatus(self.server.result(call['id'], output), 200)
        self.server.at_rest(first)
        second = self.server.create('deploy B within 1h')['id']

        lines = self.export()
        self.assertEqual((lines[0]['type'], lines[0]['format']), ('export', 1))
        self.assertEqual(lines[-1]['sessions'], 2)
        events = [line['event'] for line in lines if line['type'] == 'event']
        self.assertEqual(lines[-1]['events'], len(events))
        for session in (first, second):
            self.assertEqual([e for e in events if e['sessionID'] == session],
                             self.server.events(session))
        (artifact,) = [line for line in lines if line['type'] == 'artifact']
        self.assertEqual(base64.b64decode(artifact['data']).decode(), output)

        one = self.export(second)
        self.assertEqual([line['session']['id'] for line in one if line['type'] == 'session'],
                         [second])
        self.assertEqual(self.export('ses_zzzzzz', status=3), [])


if __name__ == '__main__':
    main()
