#!/usr/bin/env python3
"""Claude Code itself (claude-agent-acp) as a durable agent, with a scripted model."""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

import npm  # noqa: E402
import real_agent  # noqa: E402
from dormouse import leave_out, main, wait_for  # noqa: E402

FOLDER = HERE / 'more'


class Claude(real_agent.RealAgent):
    command = (FOLDER / 'node_modules/.bin/claude-agent-acp',)

    def variables(self):
        return {
            'ANTHROPIC_BASE_URL': self.model.root,
            'ANTHROPIC_API_KEY': 'sk-ant-dummy',
            'CLAUDE_CONFIG_DIR': str(self.home / '.claude'),
            'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC': '1',
            'DISABLE_AUTOUPDATER': '1',
            'DISABLE_TELEMETRY': '1',
            'DISABLE_ERROR_REPORTING': '1',
            'IS_SANDBOX': '1',  # else it does not run for root
        }

    def wait_until_kept(self):
        wait_for(lambda: list(self.home.glob('.claude/projects/**/*.jsonl')), what='its transcript')


class Sandboxed(Claude):
    """In a sandbox: its home is read-only but for ~/.claude."""

    more = 'sandbox = "bwrap"\n'

    def variables(self):
        own = super().variables()
        del own['CLAUDE_CONFIG_DIR']  # as people have it
        return own

    def test_its_settings_are_written_when_they_are_there(self):
        settings = self.home / '.claude.json'
        settings.write_text('{"numStartups": 3}')
        session = self.server.create(agent='coder')['id']
        self.assertIn('TOKEN-17', self.prompted(session, 'remember TOKEN-17'))
        written = json.loads(settings.read_text())
        self.assertEqual(written['numStartups'], 3)
        self.assertGreater(len(written), 1, 'it could not write them')

    def test_folder_of_its_own_that_is_elsewhere_is_let_in(self):
        own = {**self.variables(), 'CLAUDE_CONFIG_DIR': str(self.home / 'elsewhere')}
        self.server.term()
        self.serve(real_agent.entry('coder', self.command, own, self.more), own)
        session = self.server.create(agent='coder')['id']
        self.prompted(session, 'remember TOKEN-17')
        first = self.server.session(session)['acpSessionID']
        kept = self.home / 'elsewhere' / 'projects'
        wait_for(lambda: list(kept.glob('**/*.jsonl')), what='what it keeps')  # it takes a moment
        self.server.restart()
        self.assertIn('TOKEN-17', self.prompted(session, 'what do you remember?'))
        self.assertEqual(self.server.session(session)['acpSessionID'], first)


def setUpModule():
    if why := npm.install(FOLDER, 'node', limit_s=600):
        leave_out(why)


if __name__ == '__main__':
    main()
