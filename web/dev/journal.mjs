// The journals of the fake server's sessions, as events of docs/reference/events.md.
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

class Journal {
  constructor(sessionID, at, agentID) {
    this.events = [];
    Object.assign(this, { sessionID, at, epoch: 1 });
    this.add('session_created', { projectID: 'shop', agentID, by: 'token:bob' });
  }
  after(ms) {
    this.at += ms;
    return this;
  }
  add(type, data = {}, activity) {
    const event = {
      seq: this.events.length + 1,
      type,
      v: 1,
      sessionID: this.sessionID,
      projectID: 'shop',
      turnID: this.turn ?? null,
      at: Math.round(this.at),
      data,
    };
    if (activity) event.activity = { type: activity };
    this.events.push(event);
    return this;
  }
  prompt(text, by = 'token:bob', turn = 1) {
    this.add('input_received', {
      messageID: `msg_in_${this.events.length}`,
      turn,
      parts: [{ type: 'text', text }],
      source: 'prompt',
      by,
    });
    this.turn = `trn_${this.sessionID.slice(4)}_${turn}`;
    this.add('turn_started', { input: 2, cause: 'prompt' });
    return this;
  }
  model(step, ms, reply, busy = false) {
    this.add(
      'model_requested',
      { step, attempt: 1, viewSeq: 3, epoch: this.epoch },
      busy ? 'busy' : undefined,
    ).after(ms);
    return this.add('model_replied', {
      messageID: `msg_${this.events.length}`,
      step,
      attempt: 1,
      usage: { inputTokens: 9800, outputTokens: 720 },
      ...reply,
    });
  }
  tool(callID, generation = 1, attempt = 1) {
    return this.add('tool_started', {
      callID,
      pendingID: `pnd_${callID}_${generation}`,
      generation,
      attempt,
      epoch: this.epoch,
    });
  }
  submit(callID, by, more, activity = 'busy') {
    return this.add(
      'submitted',
      {
        callID,
        pendingID: `pnd_${callID}`,
        receipt: { kind: 'result', status: 'completed', digest: 'sha256:87', by, via: 'http' },
        ...more,
      },
      activity,
    );
  }
}

const call = (callID, tool, input) => ({ callID, tool, input });
const text = (said) => [{ type: 'text', text: said }];
const thought = (said) => ({ type: 'reasoning', text: said });

function ship(now, ids) {
  const one = new Journal(ids.ship, now - 20 * MINUTE, 'release');
  one.prompt('Ship 2.41.0 when the checks are green. Ask before production.', 'token:bob', 3);
  one.model(
    1,
    8 * SECOND,
    {
      parts: [thought('The checks come first.')],
      calls: [call('call_1', 'run_checks', { service: 'shop', version: '2.41.0' })],
    },
    true,
  );
  one
    .tool('call_1')
    .after(112 * SECOND)
    .add('tool_finished', { callID: 'call_1', output: '214 passed', title: '214 passed' });
  const input = { service: 'shop', version: '2.41.0', environment: 'production', replicas: 12 };
  one.model(2, 4 * SECOND, {
    parts: text('All 214 checks passed. I ask for the deploy to production now.'),
    calls: [call('call_2', 'deploy', input)],
  });
  one.add(
    'gate_asked',
    {
      callID: 'call_2',
      pendingID: 'pnd_call_2',
      gate: 'production',
      reason: 'approval',
      message: 'Deploy?',
    },
    'waiting_async',
  );
  one.after(13 * MINUTE).submit('call_2', 'token:alice', {
    decision: { approved: true, arguments: { ...input, replicas: 6 } },
  });
  one
    .add('gate_decided', {
      callID: 'call_2',
      gate: 'production',
      verdict: 'allow',
      arguments: { ...input, replicas: 6 },
    })
    .tool('call_2', 2);
  one
    .after(250 * SECOND)
    .add('tool_finished', { callID: 'call_2', output: '3 of 3 groups healthy' });
  return one.add('model_requested', { step: 4, attempt: 1, viewSeq: 9, epoch: 1 });
}

function asleep(now, ids) {
  const one = new Journal(ids.asleep, now - 2 * DAY - 3 * HOUR - 16 * MINUTE, 'release');
  one.prompt('Build the nightly images, and publish them when somebody has agreed.');
  one.model(
    1,
    8 * SECOND,
    {
      parts: [thought('First the build.'), ...text('I start the build of shop-web now.')],
      calls: [call('call_1', 'run_checks', { service: 'shop' })],
    },
    true,
  );
  one
    .tool('call_1')
    .after(112 * SECOND)
    .add('tool_finished', { callID: 'call_1', output: '214 passed', title: '214 passed' });
  one.model(2, 4 * SECOND, {
    parts: text('The checks passed. I ask before I start the large runners.'),
    calls: [call('call_2', 'start_runners', { size: 'large' })],
  });
  one.add(
    'gate_asked',
    {
      callID: 'call_2',
      pendingID: 'pnd_call_2',
      gate: 'cost',
      reason: 'approval',
      message: 'Start?',
    },
    'waiting_async',
  );
  one
    .after(13 * MINUTE)
    .submit('call_2', 'token:alice', { decision: { approved: true } })
    .tool('call_2', 2);
  one.after(3 * SECOND).add('tool_finished', { callID: 'call_2', output: 'started' });
  one.model(3, 4 * SECOND, {
    calls: [call('call_3', 'build_image', { image: 'shop-web', commit: '9f1c2e7' })],
  });
  return one
    .tool('call_3')
    .add(
      'call_paused',
      { callID: 'call_3', pendingID: ids.job, reason: 'tool_result' },
      'waiting_async',
    );
}

function ledger(now, ids) {
  const one = new Journal(ids.ledger, now - 6 * DAY - 2 * HOUR, 'ledger');
  one.prompt('Move the invoices to the new ledger.');
  one.model(1, 12 * SECOND, { calls: [call('call_1', 'export', { from: 'invoices' })] }, true);
  one
    .tool('call_1')
    .after(40 * SECOND)
    .add('tool_finished', { callID: 'call_1', output: '18,204 invoices' });
  one.after(1500).model(2, 14 * SECOND, {
    parts: text('The export is complete. I ask before I write to the new ledger.'),
    calls: [call('call_2', 'migrate', { to: 'ledger_2' })],
  });
  one.add('gate_asked', {
    callID: 'call_2',
    pendingID: 'pnd_call_2',
    gate: 'ledger',
    reason: 'approval',
    message: 'Migrate?',
  });
  one.after(2 * SECOND).add('note', { callID: 'call_9', about: 'none' });
  one.events.pop();
  one.events.at(-1).activity = { type: 'waiting_async' };
  one.after(3 * DAY + 2 * HOUR);
  one.submit('call_2', 'token:alice', { decision: { approved: true } });
  one.epoch = 2;
  one
    .after(5)
    .tool('call_2', 2)
    .after(31 * SECOND)
    .add('progressed', { callID: 'call_2', pendingID: 'p', payload: 'half' });
  one.epoch = 3;
  one
    .after(13 * SECOND)
    .tool('call_2', 2, 2)
    .after(22 * SECOND);
  one.add(
    'call_paused',
    { callID: 'call_2', pendingID: 'pnd_call_2b', reason: 'tool_result' },
    'waiting_async',
  );
  one
    .after(46 * MINUTE)
    .submit('call_2', 'webhook:ci', { result: { output: '18,204 of 18,204 moved' } });
  one.after(5).model(3, 19 * SECOND, { parts: text('All 18,204 invoices are in the new ledger.') });
  one.add('turn_ended', { finishReason: 'stop', usage: {} }, 'idle');
  return one.after(22 * SECOND).add('note', {
    callID: 'call_2',
    generation: 2,
    about: 'late_result',
    digest: 'x',
    number: 1,
    text: 'same',
  });
}

export function journal(now, ids) {
  const all = [ship(now, ids), asleep(now, ids), ledger(now, ids)];
  const review = new Journal(ids.review, now - 6 * HOUR, 'research').prompt(
    'Review the suppliers of the quarter.',
  );
  return new Map([...all, review].map((one) => [one.sessionID, one.events]));
}
