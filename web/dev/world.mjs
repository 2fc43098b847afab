// What the fake server knows: the sessions and calls of the design's mocks, in the shapes of the API.
import { DAY, HOUR, MINUTE, id, ids } from './ids.mjs';
import { journal } from './journal.mjs';
import { mail, sessions, tasks } from './world_sessions.mjs';

export { ids };

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
  const votes = [
    {
      by: { type: 'token', name: 'carol' },
      approved: true,
      digest: `sha256:${'4f1a'.repeat(16)}`,
      at: now - 46 * MINUTE,
    },
  ];
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
    counts: {
      all: 1000,
      waiting: 219,
      running: 3,
      failed: 5,
      paused: 1,
      error: 2,
      completed: 900,
      complete: false,
    },
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
    quarantined: [{ ...letters[3], receivers: 1, failed: 0 }],
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
      nodes: [{ resident: 34, clockGuarded: false }],
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
        clockGuarded: false,
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
