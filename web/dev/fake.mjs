// A scripted server for screenshots and component tests: the shapes are those that `dormouse serve` answers
// (test/recorded holds some), the content is that of the design's mocks.
import { world } from './world.mjs';

export { ids } from './world.mjs';

const json = (answer, status, body) => {
  answer.writeHead(status, {
    'content-type': status < 400 ? 'application/json' : 'application/problem+json',
    'dormouse-as-of': String(Date.now()),
  });
  answer.end(body === undefined ? '' : JSON.stringify(body));
};
const problem = (answer, status, code, title, detail, more = {}) =>
  json(answer, status, {
    type: `/errors/${code}`,
    title,
    status,
    code,
    detail,
    instance: '',
    next: 'fix',
    retryAfter: null,
    requestID: 'req_fake',
    ...more,
  });
const notFound = (answer) =>
  problem(answer, 404, 'not_found', 'This id or path was not found', 'There is no such path.');
const list = (items) => ({ items, next: null });

async function body(incoming) {
  const pieces = [];
  for await (const piece of incoming) pieces.push(piece);
  return pieces.length > 0 ? JSON.parse(Buffer.concat(pieces).toString()) : {};
}

/** An event stream that stays open, with what `first` writes. */
function stream(answer, open, first = []) {
  answer.writeHead(200, { 'content-type': 'text/event-stream' });
  answer.write(`retry: 1000\n\n${first.join('')}`);
  open.add(answer);
  answer.on('close', () => open.delete(answer));
}
const frame = (event) =>
  `${event.type === 'delta' ? '' : `id: ${event.seq}\n`}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** One fake server; `cut(true)` closes its streams and refuses all until `cut(false)`. */
export function fake(now = Date.now()) {
  const state = world(now);
  const open = new Set();
  let down = false;

  const settle = (call, more) => {
    Object.assign(call, { status: 'completed', ...more });
    call.time.completed = Date.now();
    call.receipt = {
      id: `rcp_${call.id.slice(4)}`,
      pendingID: call.id,
      sessionID: call.sessionID,
      kind: 'decision',
      status: 'completed',
      digest: call.inputDigest,
      at: Date.now(),
      by: { type: 'token', name: 'alice' },
      via: 'http',
      deliveryID: null,
      seq: 9,
      consumed: null,
    };
    return { outcome: 'applied', duplicate: false, receipt: call.receipt, votes: null };
  };

  async function submit(incoming, answer) {
    const given = await body(incoming);
    const call = state.calls.get(given.pendingID);
    if (!call) return notFound(answer);
    if (call.status !== 'waiting' && call.status !== 'processing')
      return problem(answer, 409, 'conflict', 'This call has another outcome', 'Already settled.');
    if (given.inputDigest && given.inputDigest !== call.inputDigest)
      return problem(answer, 409, 'input_changed', 'The arguments changed', 'Other arguments.');
    if ('approved' in given)
      return json(
        answer,
        200,
        settle(call, {
          decision: {
            approved: given.approved,
            reason: given.reason ?? null,
            arguments: given.arguments ?? null,
            content: null,
          },
        }),
      );
    return json(
      answer,
      200,
      settle(call, {
        result: { output: given.result?.output ?? null, title: null, metadata: null },
      }),
    );
  }

  function pending(url, answer) {
    const query = url.searchParams;
    let calls = [...state.calls.values()];
    const isOpen = (one) => one.status === 'waiting' || one.status === 'processing';
    if (query.has('sessionID'))
      calls = calls.filter((one) => one.sessionID === query.get('sessionID'));
    if (query.has('status')) calls = calls.filter((one) => one.status === query.get('status'));
    else if (!query.has('changedSince')) calls = calls.filter(isOpen);
    json(answer, 200, list(calls));
  }

  function session(path, url, incoming, answer) {
    const [, , , id, what] = path.split('/');
    const found = state.sessions.get(id);
    if (!found) return notFound(answer);
    const events = state.events.get(id) ?? [];
    if (!what) return json(answer, 200, found);
    if (what === 'events') {
      const after = Number(incoming.headers['last-event-id'] ?? url.searchParams.get('after') ?? 0);
      const rest = events.filter((one) => one.seq > after);
      if (incoming.headers.accept !== 'text/event-stream')
        return json(answer, 200, list(rest.slice(0, 200)));
      return stream(answer, open, [...rest, ...(state.drafts.get(id) ?? [])].map(frame));
    }
    if (what === 'tasks') return json(answer, 200, list(state.tasks.get(id) ?? []));
    if (what === 'inbox') return json(answer, 200, { read: 0, ...list(state.mail.get(id) ?? []) });
    if (what === 'messages' || what === 'turns') return json(answer, 200, list([]));
    if (incoming.method === 'POST')
      return json(
        answer,
        what === 'fork' ? 201 : what === 'prompt' ? 202 : 200,
        what === 'prompt'
          ? { turnID: 'trn_x', messageID: 'msg_x', seq: 1, queuedBehind: 0 }
          : found,
      );
    return notFound(answer);
  }

  async function handle(incoming, answer) {
    if (down) return answer.destroy();
    const url = new URL(incoming.url, 'http://fake');
    const path = url.pathname;
    if (path === '/api/me') return json(answer, 200, state.me);
    if (path === '/api/projects')
      return json(answer, 200, {
        items: (state.me.projects ?? ['shop']).map((id) => ({ id })),
        next: null,
      });
    if (path === '/api/devices') return json(answer, 200, state.devices);
    if (path === '/sign-in/link') return json(answer, 200, state.link);
    if (path === '/sign-in')
      return json(answer, 200, { name: 'alice', role: 'admin', expires: now + 1e9 });
    if (path === '/api/events') {
      return incoming.headers.accept === 'text/event-stream'
        ? stream(answer, open)
        : json(answer, 200, list([]));
    }
    if (/^\/async-tool\/(decision|result|error)$/.test(path)) return submit(incoming, answer);
    if (path === '/async-tool/pending') return pending(url, answer);
    if (path.startsWith('/async-tool/pending/')) {
      const call = state.calls.get(path.split('/')[3]);
      return call ? json(answer, 200, call) : notFound(answer);
    }
    if (/^\/api\/projects\/[^/]+\/sessions$/.test(path))
      return json(answer, 200, {
        ...list([...state.sessions.values()].filter((one) => !one.hidden)),
        counts: state.counts,
      });
    if (path.startsWith('/api/sessions/')) return session(path, url, incoming, answer);
    if (path === '/api/mail')
      return json(answer, 200, list(url.searchParams.has('sessionID') ? [] : state.quarantined));
    if (path === '/metrics') {
      answer.writeHead(200, { 'content-type': 'text/plain' });
      return answer.end(state.metrics);
    }
    if (path.startsWith('/api/rules/')) {
      const at = state.rules.findIndex((one) => one.id === path.split('/')[3]);
      if (at < 0) return notFound(answer);
      state.rules.splice(at, 1);
      answer.writeHead(204);
      return answer.end();
    }
    const lists = {
      '/api/agents': state.agents,
      '/api/tools': state.tools,
      '/api/deliveries': state.deliveries,
      '/api/tokens': state.tokens,
      '/api/rules': state.rules,
      '/api/nodes': state.nodes,
      '/api/starts': state.starts,
    };
    const wanted = url.searchParams.get('state');
    if (lists[path])
      return json(answer, 200, list(lists[path].filter((one) => !wanted || one.state === wanted)));
    if (path === '/api/audit')
      return json(answer, 200, {
        ...list(state.audit),
        checked: state.audit.length,
        verified: true,
      });
    if (path === '/api/config') return json(answer, 200, state.config);
    if (path === '/api/doctor') return json(answer, 200, state.doctor);
    return notFound(answer);
  }

  return {
    state,
    handle,
    cut(value) {
      down = value;
      if (value) for (const one of open) one.destroy();
    },
  };
}
