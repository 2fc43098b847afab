// The sessions of the fake server, with their tasks and mail.
import { DAY, HOUR, MINUTE, id, ids } from './ids.mjs';

function session(now, key, title, agentID, ago, activity, cost, more = {}) {
  return {
    id: ids[key] ?? id('ses', key),
    projectID: 'shop',
    agentID,
    alias: null,
    title,
    status: 'active',
    activity,
    parentID: null,
    forkedFrom: null,
    historyAfter: 0,
    acpSessionID: null,
    cwd: null,
    labels: {},
    seq: 20,
    messageCount: 6,
    usage: {
      inputTokens: 48210,
      outputTokens: 3904,
      cachedTokens: 0,
      reasoningTokens: 0,
      steps: 4,
      cost: { USD: Math.round(cost * 1_000_000) },
    },
    error: null,
    time: { created: now - ago - HOUR, updated: now - ago, ended: null },
    ...more,
  };
}

export function sessions(now) {
  const busy = { type: 'busy', turnID: 'trn_x_3', step: 4 };
  const idle = { type: 'idle' };
  const waits = (pendingIDs, tool, ago, timeout = null) => ({
    type: 'waiting_async',
    turnID: 'trn_x_1',
    pendingIDs,
    pendingID: pendingIDs[0] ?? null,
    tool,
    since: now - ago,
    timeout,
    missingGates: [],
  });
  return [
    session(now, 'ship', 'Ship 2.41.0', 'release', 4 * MINUTE, busy, 0.42, { alias: 'ship' }),
    session(
      now,
      'ticket',
      'Ticket 5521: broken desk',
      'support',
      HOUR,
      waits([ids.refund], 'refund', HOUR),
      0.06,
    ),
    session(
      now,
      'asleep',
      'Nightly images',
      'release',
      2 * DAY + 3 * HOUR,
      waits([ids.job], 'build_image', 2 * DAY + 3 * HOUR),
      0.18,
    ),
    session(
      now,
      'replica',
      'Replica for reports',
      'ops',
      3 * HOUR,
      waits([ids.question], 'ask_human', 3 * HOUR),
      0.09,
    ),
    session(
      now,
      'orders',
      'Move the orders table',
      'ops',
      5 * HOUR,
      waits([ids.doubt], 'migrate_orders', 5 * HOUR),
      1.1,
    ),
    session(
      now,
      'review',
      'Supplier review, quarter 4',
      'research',
      6 * HOUR,
      waits([], '3 tasks and 1 mail', 6 * HOUR),
      2.84,
      { alias: 'research' },
    ),
    session(now, 'cert', 'Certificate renewal', 'ops', 9 * DAY, waits([], 'timer', 9 * DAY), 0.03),
    session(now, 'week', 'Summary of the week', 'research', DAY, idle, 0, {
      lastError: { code: 'refused', message: 'the model refused the key' },
    }),
    session(now, 'cart', 'Refactor the cart', 'coder', 2 * DAY, idle, 3.2, { status: 'paused' }),
    session(now, 'notes', 'Release notes 2.40', 'release', 3 * DAY, idle, 0.22),
    session(now, 'ledger', 'Move the invoices', 'ledger', 3 * DAY, idle, 0.31, {
      status: 'completed',
    }),
    session(now, 'ship2', 'Ship 2.40.2', 'release', 5 * DAY, idle, 0.38, { status: 'completed' }),
    session(now, 'parcel', 'Ticket 5498: late parcel', 'support', 6 * DAY, idle, 0.04, {
      status: 'completed',
    }),
    session(
      now,
      'preview',
      'Preview environments',
      'release',
      HOUR,
      waits([ids.claimed], 'delete_env', HOUR),
      0.1,
    ),
    session(now, 'compare', 'Compare the terms', 'research', HOUR, busy, 0.1, {
      parentID: ids.review,
      hidden: false,
    }),
  ];
}

export function tasks(now) {
  const task = (name, agentID, description, status, minutes, more = {}) => ({
    taskID: `tsk_${name}`,
    sessionID: id('ses', name),
    parentID: ids.review,
    agentID,
    description,
    prompt: description,
    status,
    queued: false,
    resumeCount: 0,
    result: null,
    progress: null,
    error: null,
    by: { type: 'token', name: 'bob' },
    time: {
      created: now - minutes * MINUTE,
      completed: status === 'completed' ? now - minutes * MINUTE : null,
      resumed: null,
    },
    ...more,
  });
  return [
    task('prices', 'research', 'Collect the price lists', 'completed', 8, {
      result: '14 lists found',
    }),
    task('compare', 'research', 'Compare the terms of 14 suppliers', 'running', 31, {
      progress: '9 of 14 compared',
      tasks: [
        task('scan', 'reader', 'Read the scanned contracts', 'completed', 12, {
          result: '5 documents',
        }),
        task('translate', 'reader', 'Translate two contracts', 'error', 4, {
          error: 'the file is encrypted',
        }),
      ],
    }),
    task('better', 'buyer', 'Ask for a better price', 'running', 120, {
      progress: 'send_mail waits for dana',
    }),
    task('summary', 'writer', 'Write the summary', 'running', 0, { queued: true }),
  ];
}

export function mail(now) {
  const one = (number, from, to, text, minutes, more = {}) => ({
    id: `mail_${number}`,
    projectID: 'shop',
    number,
    from: { sessionID: id('ses', from), alias: from },
    by: { type: 'session', name: from },
    to: { sessionID: id('ses', to), alias: to },
    text,
    replyTo: null,
    conversation: 'mail_1',
    hops: number,
    status: 'read',
    reason: null,
    time: {
      created: now - minutes * MINUTE,
      delivered: now - minutes * MINUTE,
      read: now - minutes * MINUTE,
      expires: null,
    },
    ...more,
  });
  const quarantined = one(
    4,
    'research',
    'finance',
    'Please confirm the discount rate before I compare further.',
    46,
    { status: 'quarantined', reason: 'this conversation woke finance 50 times' },
  );
  quarantined.time.read = null;
  return [
    one(
      1,
      'research',
      'buyer',
      'Which suppliers accept 60 days? I need it for the comparison.',
      184,
    ),
    one(
      2,
      'buyer',
      'legal',
      'Can we ask suppliers 4 and 9 for 60 days under the present contracts?',
      183,
    ),
    one(3, 'legal', 'buyer', 'Supplier 9 yes. Supplier 4 only with a new contract.', 145),
    quarantined,
  ];
}
