#!/usr/bin/env python3
"""Claude Code itself (claude-agent-acp) as a durable agent, with a model that is played."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

import npm  # noqa: E402
import real_agent  # noqa: E402
from dormouse import leave_out, main  # noqa: E402

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


if __name__ == '__main__':
    why = npm.install(FOLDER, 'node', limit_s=600)
    if why:
        leave_out(why)
    main()
