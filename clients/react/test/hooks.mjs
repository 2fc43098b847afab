// The hooks in jsdom against a real server. Each state of the page is a line of JSON.
import { createInterface } from 'node:readline';
import { JSDOM } from 'jsdom';

const { window } = new JSDOM('<div id="root"></div>');
Object.assign(globalThis, { window, document: window.document, IS_REACT_ACT_ENVIRONMENT: false });
Object.defineProperty(globalThis, 'navigator', { value: window.navigator, configurable: true });
const { createElement: h } = await import('react');
const { createRoot } = await import('react-dom/client');
const { Client } = await import('dormouse');
const { usePendingCalls, useSession } = await import('dormouse-react');

const [base, token, sessionID] = process.argv.slice(2);
const client = new Client({ base, token });

function Page() {
  const { session, messages, draft, error } = useSession(client, sessionID);
  const pending = usePendingCalls(client, { sessionID });
  const parts = messages.flatMap((message) => message.parts);
  return h(
    'pre',
    null,
    JSON.stringify({
      activity: session?.activity.type ?? null,
      texts: parts.filter((part) => part.type === 'text').map((part) => part.text),
      tools: parts.filter((part) => part.type === 'tool').map((part) => part.state.status),
      draft,
      error: error?.message ?? pending.error?.message ?? null,
      loading: pending.loading,
      calls: pending.calls.map((call) => call.id),
    }),
  );
}

const root = createRoot(document.getElementById('root'));
root.render(h(Page));
let shown = '';
const observer = new window.MutationObserver(() => {
  const text = document.body.textContent;
  if (text !== shown) process.stdout.write(`${text}\n`);
  shown = text;
});
observer.observe(document.body, { childList: true, characterData: true, subtree: true });
createInterface({ input: process.stdin }).on('line', () => {
  root.unmount();
  // Nothing may keep the process alive: requests, timers and streams have ended.
  process.stdin.destroy();
});
