// What the fake server knows: the sessions and calls of the design's mocks, in the shapes of the API.
import { journal } from './journal.mjs';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const id = (kind, name) => `${kind}_AAAAAAEX${name.padEnd(14, 'x')}`;

export const ids = {
  ship: id('ses', 'ship'),
  asleep: id('ses', 'images'),
  ledger: id('ses', 'ledger'),
  review: id('ses', 'review'),
  ticket: id('ses', 'ticket'),
  replica: id('ses', 'replica'),
  orders: id('ses', 'orders'),
  preview: id('ses', 'preview'),
  deploy: id('pnd', 'deploy'),
  refund: id('pnd', 'refund'),
  doubt: id('pnd', 'doubt'),
  cut: id('pnd', 'cut'),
  question: id('pnd', 'question'),
  claimed: id('pnd', 'claimed'),
  job: id('pnd', 'job'),
  late: id('pnd', 'late'),
};

function call(now, name, more) {
  const { ago, left, ...rest } = more;
  return {
    id: ids[name],
    projectID: 'shop',
    turnID: 'trn_x_1',
    messageID: 'msg_x_5',
    callID: 'call_1',
    generation: 1,
    inputDigest: 'sha256:51c10e43c34ae49f22637d1c407535531b4844543fb369bc40abc2bbdf952e35',
    status: 'waiting',
    reason: 'approval',
    continuation: 'reentry',
    form: null,
    schema: null,
    placeholder: null,
    webhookURL: null,
    externalRef: null,
    estimatedDuration: null,
    timeout: left ? now + left : null,
    answer: { from: ['alice', 'carol'], escalateTo: [], need: 1, votes: [] },
    progress: [],
    progressCount: 0,
    inDoubt: false,
    time: { created: now - ago, started: now - ago, completed: null },
    result: null,
    error: null,
    decision: null,
    receipt: null,
    message: null,
    onDeadline: 'deny',
    gate: { id: 'production', alwaysAsk: false, rules: (rest.answer?.need ?? 1) === 1 },
    lastText: null,
    requestedBy: { type: 'token', name: 'bob' },
    ...rest,
  };
}

function calls(now) {
  const votes = [{ by: { type: 'token', name: 'carol' }, approved: true, at: now - 46 * MINUTE }];
  const receipt = {
    id: id('rcp', 'late'),
    pendingID: ids.late,
    sessionID: ids.orders,
    kind: 'decision',
    status: 'completed',
    digest: 'sha256:87fb06795dd01bbf85ffe0c5145c2f62e6d9cd2d2abcabd9d40a5c67c53e845d',
    at: now - 5 * MINUTE,
    by: { type: 'token', name: 'bob' },
    via: 'http',
    deliveryID: null,
    seq: 8,
    consumed: null,
  };
  return [
    call(now, 'deploy', {
      sessionID: ids.ship,
      agentID: 'release',
      sessionTitle: 'Ship 2.41.0',
      tool: 'deploy',
      ago: 12 * MINUTE,
      left: 48 * MINUTE + 9000,
      message: 'Deploy shop 2.41.0 to production?',
      input: {
        service: 'shop',
        version: '2.41.0',
        environment: 'production',
        replicas: 12,
        strategy: 'rolling, 25 % at a time',
      },
      lastText:
        'All 214 checks on 2.41.0 passed. I raised the replicas to 12 for the evening peak. The migration is backwards compatible, so a rollback is safe.',
    }),
    call(now, 'refund', {
      sessionID: ids.ticket,
      agentID: 'support',
      sessionTitle: 'Ticket 5521: broken desk',
      tool: 'refund',
      ago: HOUR,
      left: 5 * HOUR + 9000,
      message: 'Refund €1,240.00 for order 88213?',
      requestedBy: { type: 'token', name: 'dana' },
      input: {
        order: '88213',
        amount: '1240.00',
        currency: 'EUR',
        to: 'the card that paid, ending 4417',
        notify: true,
      },
      answer: {
        from: ['alice', 'bob', 'finance-lead', 'carol'],
        escalateTo: ['finance-lead'],
        need: 2,
        votes,
      },
      lastText:
        'The desk arrived with a broken leg, and the customer sent two photos. A replacement is out of stock until January, so I suggest a full refund.',
    }),
    call(now, 'doubt', {
      sessionID: ids.orders,
      agentID: 'ops',
      sessionTitle: 'Move the orders table',
      tool: 'migrate_orders',
      ago: 5 * HOUR,
      left: 25 * HOUR,
      reason: 'elicitation',
      message:
        'The server stopped while this tool ran. Run it again, enter its result, or give up?',
      input: { table: 'orders', to: 'ledger_2' },
    }),
    call(now, 'cut', {
      sessionID: ids.orders,
      agentID: 'ops',
      sessionTitle: 'Move the orders table',
      tool: 'migrate_orders',
      ago: 5 * HOUR,
      inDoubt: true,
      reason: 'tool_result',
      input: { table: 'orders', to: 'ledger_2' },
    }),
    call(now, 'question', {
      sessionID: ids.replica,
      agentID: 'ops',
      sessionTitle: 'Replica for reports',
      tool: 'ask_human',
      ago: 3 * HOUR,
      reason: 'user_input',
      message: 'Which region gets the new read replica?',
      input: { question: 'Which region gets the new read replica?' },
      requestedBy: { type: 'token', name: 'alice' },
      answer: { from: ['alice'], escalateTo: [], need: 1, votes: [] },
      form: {
        choices: [
          { title: 'eu-central', description: 'near the users' },
          { title: 'eu-west', description: 'cheaper' },
        ],
      },
      lastText:
        'Reports run at night. Both regions have room. Central is nearer to the users, west is cheaper by about a fifth.',
    }),
    call(now, 'claimed', {
      sessionID: ids.preview,
      agentID: 'release',
      sessionTitle: 'Preview environments',
      tool: 'delete_env',
      ago: HOUR,
      left: 2 * DAY + 9000,
      status: 'processing',
      claim: { by: 'dana', until: now + 8 * MINUTE },
      message: 'Delete 3 preview environments?',
      input: { names: ['a', 'b', 'c'] },
      answer: { from: ['dana'], escalateTo: [], need: 1, votes: [] },
      lastText: '',
    }),
    call(now, 'job', {
      sessionID: ids.asleep,
      agentID: 'release',
      sessionTitle: 'Nightly images',
      tool: 'build_image',
      ago: 2 * DAY + 3 * HOUR,
      left: 21 * HOUR + 9000,
      reason: 'tool_result',
      continuation: 'tool_response',
      input: { image: 'shop-web', commit: '9f1c2e7', platforms: ['amd64', 'arm64'] },
      externalRef: 'run 48213',
      callbackURL: 'https://dormouse.example/c/cap_7Qm…hidden',
      answer: { from: ['role:answer'], escalateTo: [], need: 1, votes: [] },
      progressCount: 3,
      progress: [
        {
          seq: 1,
          key: null,
          payload: { percent: 40, message: 'cache restored, 3.1 GB' },
          at: now - 49 * MINUTE,
        },
        {
          seq: 2,
          key: null,
          payload: { percent: 57, message: 'layer 12 of 21' },
          at: now - 26 * MINUTE,
        },
        {
          seq: 3,
          key: null,
          payload: { percent: 62, message: 'layer 13 of 21' },
          at: now - 4 * MINUTE,
        },
      ],
    }),
    call(now, 'late', {
      sessionID: ids.orders,
      agentID: 'ops',
      sessionTitle: 'Checkout latency',
      tool: 'restart',
      ago: 20 * MINUTE,
      left: HOUR,
      status: 'completed',
      message: 'Restart the checkout workers?',
      input: { service: 'checkout', group: 'workers', order: 'one at a time' },
      requestedBy: { type: 'token', name: 'dana' },
      decision: {
        approved: true,
        reason: 'Latency is back to normal after a restart on Friday too.',
        arguments: null,
        content: null,
      },
      receipt,
      time: { created: now - 20 * MINUTE, started: now - 20 * MINUTE, completed: now - 5 * MINUTE },
      lastText: '',
    }),
  ];
}

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
    },
    error: null,
    time: { created: now - ago - HOUR, updated: now - ago, ended: null },
    cost: { amount: cost, currency: 'USD' },
    ...more,
  };
}

function sessions(now) {
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

function tasks(now) {
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

function mail(now) {
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
  const held = one(
    4,
    'research',
    'finance',
    'Please confirm the discount rate before I compare further.',
    46,
    { status: 'quarantined', reason: 'this conversation woke finance 50 times' },
  );
  held.time.read = null;
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
    held,
  ];
}

const METRICS = `dormouse_store_answers 1
dormouse_submissions_total{outcome="applied"} 556
dormouse_submissions_total{outcome="duplicate"} 41
dormouse_submissions_total{outcome="conflict"} 2
dormouse_submissions_total{outcome="expired"} 3
dormouse_resume_seconds_bucket{le="0.001"} 120
dormouse_resume_seconds_bucket{le="0.002"} 320
dormouse_resume_seconds_bucket{le="0.005"} 580
dormouse_resume_seconds_bucket{le="0.01"} 595
dormouse_resume_seconds_bucket{le="+Inf"} 598
dormouse_resume_seconds_count 598
dormouse_model_requests_running{model="main"} 1
dormouse_appends_total 88412
`;

const AUDIT = (now) =>
  [
    ['submitted', 'alice', { kind: 'decision', approved: true }],
    ['submitted', 'ci', { kind: 'result', status: 'completed' }],
    ['voted', 'bob', { approved: true }],
    ['token_created', 'first', { name: 'carol', role: 'answer' }],
    ['expired', null, { status: 'expired' }],
  ].map(([type, by, more], index) => ({
    n: 1284 - index,
    at: now - index * 47 * 60_000,
    type,
    by,
    sessionID: type.startsWith('token') ? null : ids.ship,
    pendingID: null,
    line: { type, at: now, by: { type: 'token', name: by ?? '' }, ...more },
    hash: 'sha256:87fb0679a1',
    verified: true,
  }));

export function world(now) {
  const schema = {
    type: 'object',
    required: ['service', 'version'],
    properties: {
      service: { type: 'string' },
      version: { type: 'string' },
      environment: { enum: ['staging', 'production'] },
      replicas: { type: 'integer', minimum: 1, maximum: 50 },
      strategy: { type: 'string' },
    },
  };
  const open = sessions(now);
  const events = journal(now, ids);
  for (const one of open) one.seq = events.get(one.id)?.at(-1)?.seq ?? 0;
  const letters = mail(now);
  return {
    me: { name: 'alice', role: 'admin', projects: ['shop', 'lab'] },
    link: {
      name: 'alice',
      role: 'answer',
      projects: ['shop'],
      by: 'dana',
      created: now - 18 * MINUTE,
      expires: now + 12 * MINUTE,
      lastsMs: 30 * DAY,
    },
    calls: new Map(calls(now).map((one) => [one.id, one])),
    sessions: new Map(open.map((one) => [one.id, one])),
    counts: { '': 1284, wait: 7, run: 3, sleep: 212, doubt: 1, fail: 2 },
    events,
    drafts: new Map([
      [
        ids.ship,
        [
          {
            type: 'delta',
            sessionID: ids.ship,
            data: {
              turnID: 'trn_x_3',
              step: 4,
              attempt: 1,
              messageID: 'msg_draft',
              partID: 'p',
              kind: 'text',
              text: 'Version 2.41.0 is live with 6 replicas. The error rate stays at 0.02 %, and the latency at the 99th percentile went down from 310 ms to',
            },
          },
        ],
      ],
    ]),
    tasks: new Map([[ids.review, tasks(now)]]),
    mail: new Map([[ids.review, letters]]),
    held: [{ ...letters[3], receivers: 1, failed: 0 }],
    agents: ['release', 'support', 'ops', 'research'].map((one) => ({
      id: one,
      kind: 'model',
      available: true,
      reason: null,
      model: 'main',
      tools: [],
      can: { load: false, resume: false },
      path: null,
      version: null,
    })),
    tools: [{ name: 'deploy', agents: ['release'], description: '', inputSchema: schema }],
    deliveries: [
      {
        id: 'dlv_1',
        sessionID: ids.ship,
        seq: 9,
        url: 'https://hooks.shop.example/dormouse',
        type: 'call',
        state: 'dead',
        attempts: 8,
        nextAt: null,
        lastStatus: 503,
        lastError: null,
        time: { created: now - DAY, delivered: null },
      },
      {
        id: 'dlv_2',
        sessionID: ids.ship,
        seq: 11,
        url: 'https://hooks.shop.example/dormouse',
        type: 'event',
        state: 'delivered',
        attempts: 1,
        nextAt: null,
        lastStatus: 200,
        lastError: null,
        time: { created: now - HOUR, delivered: now - HOUR },
      },
    ],
    rules: [
      {
        id: id('rul', 'deploy') + '_9',
        scope: 'project',
        projectID: 'shop',
        sessionID: ids.ship,
        agentID: 'release',
        gate: 'production',
        tool: 'deploy',
        input: { service: 'shop', version: '2.40.3', environment: 'staging' },
        match: ['service', 'environment'],
        by: { type: 'token', name: 'carol' },
        uses: 14,
        time: { created: now - 6 * DAY, expires: now + 24 * DAY, used: now - 2 * HOUR },
      },
      {
        id: id('rul', 'images') + '_4',
        scope: 'session',
        projectID: 'shop',
        sessionID: ids.asleep,
        agentID: 'ops',
        gate: 'production',
        tool: 'resize',
        input: { folder: 'products' },
        match: null,
        by: { type: 'token', name: 'alice' },
        uses: 0,
        time: { created: now - 3 * HOUR, expires: null, used: null },
      },
    ],
    devices: {
      key: 'BP4z',
      items: [
        {
          id: 'dev_1',
          label: 'Firefox on Android',
          service: 'updates.push.services.mozilla.com',
          current: false,
          time: { created: now - 86_400_000 },
        },
      ],
    },
    tokens: [
      {
        id: 'tok_first',
        kind: 'token',
        name: 'first',
        role: 'admin',
        projects: null,
        agents: null,
        builtIn: true,
        time: { created: now - 30 * DAY, expires: null },
      },
      {
        id: 'tok_ci',
        kind: 'token',
        name: 'ci',
        role: 'answer',
        projects: ['shop'],
        agents: null,
        builtIn: false,
        time: { created: now - 9 * DAY, expires: now + 30 * DAY },
      },
      {
        id: 'tok_a',
        kind: 'cookie',
        name: 'alice',
        role: 'admin',
        projects: ['shop'],
        agents: null,
        builtIn: false,
        time: { created: now - 2 * DAY, expires: now + 28 * DAY },
      },
    ],
    doctor: {
      ok: true,
      stuck: [],
      blocked: [],
      orphaned: [],
      unreadable: [],
      inDoubt: [
        {
          sessionID: ids.orders,
          pendingID: ids.doubt,
          why: 'A crash cut it off at 09:12. Say whether it finished; then the session continues.',
          next: 'decide',
        },
      ],
      counts: { stuck: 0, blocked: 0, inDoubt: 1, orphaned: 0, unreadable: 0 },
      lookedAt: 1284,
      next: null,
      nodes: [{ resident: 34, clockHeld: false }],
      queues: { outstanding: 0, nextWakeAt: null, models: [] },
    },
    metrics: METRICS,
    audit: AUDIT(now),
    nodes: [
      {
        id: 'node_3',
        release: '0.2.0',
        epoch: 3,
        startedAt: now - 3 * DAY,
        uptimeMs: 3 * DAY,
        resident: 34,
        residentBytes: 2_400_000,
        clockHeld: false,
        data: { directory: '/var/lib/dormouse', bytes: 1_240_000_000, freeBytes: 81_000_000_000 },
      },
    ],
    starts: [
      { epoch: 3, startedAt: now - 3 * DAY, aliveAt: null, clean: null },
      { epoch: 2, startedAt: now - 5 * DAY, aliveAt: now - 3 * DAY - 13_000, clean: false },
      { epoch: 1, startedAt: now - 9 * DAY, aliveAt: now - 5 * DAY - 4_000, clean: true },
    ],
    config: {
      file: '/etc/dormouse/dormouse.toml',
      sections: [
        {
          heading: '[server]',
          name: '',
          keys: [
            { name: 'listen', value: '"0.0.0.0:443"', default: '"127.0.0.1:3676"', changed: true },
            { name: 'public_url', value: '"https://dm.example.org"', default: '', changed: true },
            { name: 'allowed_hosts', value: '[]', default: '[]', changed: false },
          ],
        },
        {
          heading: '[[model]]',
          name: 'claude',
          keys: [
            { name: 'kind', value: '"anthropic"', default: '', changed: true },
            { name: 'api_key_env', value: '"ANTHROPIC_API_KEY"', default: '', changed: true },
          ],
        },
      ],
    },
  };
}
