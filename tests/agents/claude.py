#!/usr/bin/env python3
"""Claude Code itself (claude-agent-acp) as a durable agent: what is asked of all (real.py)."""
import platform

from real import HERE, Contract, RealAgent

import npm
from dormouse import leave_out, main

FOLDER = HERE / 'claude'


class Claude(RealAgent, Contract):
    command = [FOLDER / 'node_modules/.bin/claude-agent-acp']

    def environment(self, home, model):
        return {
            'ANTHROPIC_BASE_URL': model.root, 'ANTHROPIC_API_KEY': 'sk-ant-dummy',
            'CLAUDE_CONFIG_DIR': str(home / '.claude'), 'IS_SANDBOX': '1',
            'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC': '1', 'DISABLE_AUTOUPDATER': '1',
            'DISABLE_TELEMETRY': '1', 'DISABLE_ERROR_REPORTING': '1', 'ENABLE_TOOL_SEARCH': 'false',
        }


if __name__ == '__main__':
    if platform.machine() != 'x86_64':
        leave_out('its package is pinned for x86_64 only')
    why = npm.install(FOLDER, 'node', limit_s=600)
    if why:
        leave_out(why)
    main()
