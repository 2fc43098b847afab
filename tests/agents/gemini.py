#!/usr/bin/env python3
"""Gemini CLI itself as a durable agent: what is asked of all (real.py)."""
import json

from real import HERE, Contract, RealAgent

import npm
from dormouse import leave_out, main

FOLDER = HERE / 'gemini'
SETTINGS = {
    'security': {
        'auth': {'selectedType': 'gemini-api-key'}, 'folderTrust': {'enabled': False},
    },
    'general': {
        'enableAutoUpdate': False, 'disableAutoUpdate': True, 'disableUpdateNag': True,
        'sessionRetention': {'enabled': False},
    },
    'privacy': {'usageStatisticsEnabled': False}, 'telemetry': {'enabled': False},
}


class Gemini(RealAgent, Contract):
    command = [FOLDER / 'node_modules/.bin/gemini', '--acp']

    def environment(self, home, model):
        (home / '.gemini').mkdir()
        (home / '.gemini/settings.json').write_text(json.dumps(SETTINGS))
        return {
            'GEMINI_API_KEY': 'dummy', 'GOOGLE_GEMINI_BASE_URL': model.root,
            'GEMINI_TELEMETRY_ENABLED': 'false', 'GEMINI_CLI_NO_RELAUNCH': 'true',
            'GEMINI_FORCE_FILE_STORAGE': 'true',
        }


if __name__ == '__main__':
    why = npm.install(FOLDER, 'node', limit_s=600)
    if why:
        leave_out(why)
    main()
