#!/usr/bin/env python3
"""Gemini CLI itself as a durable agent, with a scripted model. Dormouse never loads its stored
sessions, because loading can destroy them: a new session gets the history in its first prompt."""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

import npm  # noqa: E402
import real_agent  # noqa: E402
from dormouse import leave_out, main  # noqa: E402

FOLDER = HERE / 'more'
SETTINGS = {
    'security': {'auth': {'selectedType': 'gemini-api-key'}, 'folderTrust': {'enabled': False}},
    'general': {'disableAutoUpdate': True, 'disableUpdateNag': True, 'enableAutoUpdate': False},
    'privacy': {'usageStatisticsEnabled': False},
    'telemetry': {'enabled': False},
}


class Gemini(real_agent.RealAgent):
    command = (FOLDER / 'node_modules/.bin/gemini', '--acp')
    keeps_its_session = False

    def variables(self):
        settings = self.home / '.gemini/settings.json'
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps(SETTINGS))
        return {
            'GEMINI_API_KEY': 'dummy',
            'GOOGLE_GEMINI_BASE_URL': self.model.root,
            'GEMINI_TELEMETRY_ENABLED': 'false',
            'GEMINI_CLI_NO_RELAUNCH': 'true',
            'GEMINI_FORCE_FILE_STORAGE': 'true',
        }


class Sandboxed(Gemini):
    """In a sandbox: its home is read-only but for ~/.gemini."""

    more = 'sandbox = "bwrap"\n'


def setUpModule():
    if why := npm.install(FOLDER, 'node', limit_s=600):
        leave_out(why)


if __name__ == '__main__':
    main()
