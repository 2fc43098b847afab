// A timeline in words: the list of the phone, the description of the picture.
import type { IconName } from './icons';
import { count } from './text';
import { duration } from './time';
import type { Wake } from './journal';
import { waitText, type Timeline } from './timeline';
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

/** [as it happens, later]; NAME stands for who it was. */
const VERBS: Record<string, [string, string]> = {
  approved: ['NAME approves', 'NAME approved'],
  denied: ['NAME denies', 'NAME denied'],
  answered: ['NAME answers', 'NAME answered'],
  prompt: ['NAME prompts', 'NAME prompted'],
  cancelled: ['NAME cancels', 'NAME cancelled'],
  result: ['NAME sends the result', 'NAME sent the result'],
  failed: ['NAME reports a failure', 'NAME reported a failure'],
  webhook: ['A webhook of NAME arrives', 'a webhook of NAME arrived'],
  mail: ['Mail of NAME arrives', 'mail of NAME arrived'],
  'time is up': ['The time is up', 'the time was up'],
  passed: ['The deadline passes', 'the deadline passed'],
  finished: ['A tool finishes', 'a tool finished'],
};
/** Where nobody has a name. */
const NAMELESS: Record<string, [string, string]> = {
  prompt: ['A prompt arrives', 'a prompt arrived'],
  mail: ['Mail arrives', 'mail arrived'],
  call: ['A call is cancelled', 'a call was cancelled'],
  task: ['A task ends', 'a task ended'],
};

/** What woke a session, as a sentence without its full stop. */
export function said(wake: Wake, past = false): string {
  const forms = (wake.icon === 'user' ||
  wake.icon === 'mail' ||
  wake.icon === 'list-tree' ||
  wake.name === 'call'
    ? NAMELESS[wake.name]
    : undefined) ??
    VERBS[wake.verb] ?? [`NAME ${wake.verb}`, `NAME ${wake.verb}`];
  return forms[past ? 1 : 0].replace('NAME', () => wake.name || 'somebody');
}

const HOW: Record<string, [IconName, State, string]> = {
  done: ['circle-check', 'done', 'finishes'],
  failed: ['circle-x', 'fail', 'fails'],
  denied: ['ban', 'neut', 'is denied'],
  expired: ['timer-off', 'neut', 'expires'],
  cancelled: ['circle-slash', 'neut', 'is cancelled'],
};

const WORDS_MOST = 120;
const shortened = (words: string): string =>
  words.length > WORDS_MOST ? `${words.slice(0, WORDS_MOST - 1)}…` : words;

function waits(line: Timeline, sleep: Timeline['sleeps'][number]): string {
  const names = sleep.waits.map((one) => {
    const tool = line.rows.find((row) => row.callID === one.callID)?.tool ?? 'a call';
    return `${tool} ${waitText(one.label)}`;
  });
  const [first = ''] = names;
  return names.length > 1 ? `${first}, and ${count(names.length - 1, 'more call')}` : first;
}

export function story(line: Timeline): Beat[] {
  const beats: Beat[] = [];
  for (const wake of line.wakes) {
    const slept = line.sleeps.some((one) => one.wake === wake);
    const title = slept ? `${said(wake)}, and it wakes` : said(wake);
    const words = wake.text ? `“${shortened(wake.text)}”` : '';
    beats.push(beat(wake.at, wake.icon, slept ? 'wait' : 'neut', title, words));
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
  const sentences = [`${count(line.turns.length, 'turn')} of ${title}.`];
  for (const sleep of line.sleeps) {
    const lasted = duration((sleep.end ?? line.end) - sleep.start);
    const by = sleep.wake
      ? ` until ${said(sleep.wake, true)}`
      : sleep.end === null
        ? ' and sleeps still'
        : '';
    sentences.push(`It slept ${lasted}${by}.`);
  }
  for (const crash of line.crashes)
    sentences.push(
      `The server was ${crash.clean ? 'stopped' : 'killed'} and started again after ${duration(crash.started - crash.at)}.`,
    );
  return sentences.join(' ');
}
