// A timeline in words: the list of the phone, the description of the picture.
import type { IconName } from './icons';
import { count } from './text';
import { duration } from './time';
import type { Timeline } from './timeline';
import type { State } from './words';

export interface Beat {
  at: number;
  icon: IconName;
  state: State;
  title: string;
  text: string;
  night: boolean;
}

const beat = (at: number, icon: IconName, state: State, title: string, text: string): Beat => ({
  at,
  icon,
  state,
  title,
  text,
  night: icon === 'moon',
});

const HOW: Record<string, [IconName, State, string]> = {
  done: ['circle-check', 'done', 'finishes'],
  failed: ['circle-x', 'fail', 'fails'],
  denied: ['ban', 'neut', 'is denied'],
  expired: ['timer-off', 'neut', 'expires'],
  cancelled: ['circle-slash', 'neut', 'is cancelled'],
};

function waits(line: Timeline, sleep: Timeline['sleeps'][number]): string {
  const names = sleep.waits.map((one) => {
    const tool = line.rows.find((row) => row.callID === one.callID)?.tool ?? 'a call';
    return `${tool} waits for ${one.label}`;
  });
  const [first = ''] = names;
  return names.length > 1 ? `${first}, and ${count(names.length - 1, 'more call')}` : first;
}

export function story(line: Timeline): Beat[] {
  const beats: Beat[] = [];
  for (const wake of line.wakes) {
    const slept = line.sleeps.some((one) => one.wake === wake);
    const who = [wake.name, wake.verb].filter(Boolean).join(' ');
    beats.push(
      beat(wake.at, wake.icon, slept ? 'wait' : 'neut', slept ? `${who}, and it wakes` : who, ''),
    );
  }
  for (const sleep of line.sleeps) {
    const lasted = duration((sleep.end ?? line.end) - sleep.start);
    const text =
      waits(line, sleep) + (sleep.restarted ? '. The server restarted once: no effect.' : '');
    beats.push(beat(sleep.start, 'moon', 'sleep', `Asleep for ${lasted}`, text));
  }
  for (const crash of line.crashes) {
    const down = duration(crash.started - crash.at);
    beats.push(
      beat(
        crash.at,
        'zap',
        'fail',
        crash.clean ? 'The server stops' : 'The server is killed',
        'What ran is cut off',
      ),
    );
    beats.push(beat(crash.started, 'power', 'done', `Started again after ${down}`, ''));
  }
  for (const row of line.rows) {
    for (const bar of row.bars) {
      const again = bar.attempt > 1 ? `attempt ${bar.attempt}` : '';
      beats.push(beat(bar.start, 'wrench', 'run', `${row.tool} runs`, again));
    }
    if (row.settled) {
      const [icon, state, verb] = HOW[row.settled.how] ?? ['circle', 'neut', ''];
      beats.push(beat(row.settled.at, icon, state, `${row.tool} ${verb}`, row.settled.by));
    }
    for (const note of row.notes) {
      const title = note.conflict
        ? `A second result for ${row.tool}: refused`
        : `The same result again: no effect`;
      beats.push(
        beat(note.at, note.conflict ? 'x' : 'copy', note.conflict ? 'fail' : 'neut', title, ''),
      );
    }
  }
  for (const bar of line.model) {
    if (bar.outcome === 'failed')
      beats.push(beat(bar.start, 'circle-x', 'fail', 'The model did not answer', ''));
  }
  for (const turn of line.turns) {
    if (turn.end === null) continue;
    const failed = turn.failed;
    beats.push(
      beat(
        turn.end,
        failed ? 'circle-x' : 'circle-check',
        failed ? 'fail' : 'done',
        failed ? `Turn ${turn.number} fails` : `Turn ${turn.number} ends`,
        '',
      ),
    );
  }
  return beats.sort((a, b) => a.at - b.at);
}

/** Sentences for those who do not see the picture. */
export function describe(line: Timeline, title: string): string {
  const said = [`${count(line.turns.length, 'turn')} of ${title}.`];
  for (const sleep of line.sleeps) {
    const lasted = duration((sleep.end ?? line.end) - sleep.start);
    const by = sleep.wake
      ? ` until ${sleep.wake.name} ${sleep.wake.verb}`
      : sleep.end === null
        ? ' and sleeps still'
        : '';
    said.push(`It slept ${lasted}${by}.`);
  }
  for (const crash of line.crashes)
    said.push(
      `The server was killed and started again after ${duration(crash.started - crash.at)}.`,
    );
  return said.join(' ');
}
