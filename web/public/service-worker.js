// Keeps the files of the page, so that it opens without a connection. They are the same for everybody and hold nothing of
// a session; what the server says to a person (the API, and `/` itself) is never kept. A sign-out removes them all.
// Shows the server's notifications, and opens the call that one is about. They never decide.
const CACHE = 'dormouse-page-2';
const SHELL = '/index.html';
const SIGN_IN = '/sign-in';
// Pages that the server draws without script.
const DRAWN = /^\/(a|c|api|sign-in|sign-out)(\/|$)/;

async function forget() {
  for (const name of await caches.keys()) await caches.delete(name);
}

/** Nobody is signed in here any more: nothing is kept, and nothing of a call is shown. */
async function leave() {
  await forget();
  for (const shown of await self.registration.getNotifications()) shown.close();
  await (await self.registration.pushManager?.getSubscription())?.unsubscribe();
}

async function keep(request, response) {
  if (response.ok && !response.redirected)
    (await caches.open(CACHE)).put(request, response.clone());
  return response;
}

/** Files with their hash in the name never change. */
async function asset(request) {
  return (await caches.match(request)) ?? keep(request, await fetch(request));
}

/** The server's answer; without a connection the page's file, if someone is signed in here. */
async function view(request) {
  let response;
  try {
    response = await fetch(request);
  } catch (error) {
    const kept = await caches.match(SHELL);
    if (kept) return kept;
    throw error;
  }
  // A view leads to the sign-in: nobody is signed in any more.
  if (response.type === 'opaqueredirect' || response.redirected) await leave();
  return response;
}

function signsOut(request, path) {
  return (
    (request.method === 'POST' && path === '/sign-out') ||
    (request.method === 'DELETE' && path === SIGN_IN)
  );
}

self.addEventListener('activate', (event) => {
  // Earlier releases kept `/`.
  event.waitUntil(forget().then(() => self.clients.claim()));
});

// The page asks for this when a person is signed in.
self.addEventListener('message', (event) => {
  if (event.data === 'keep')
    event.waitUntil(fetch(SHELL).then((response) => keep(SHELL, response)));
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== self.location.origin) return;
  if (signsOut(request, url.pathname)) event.waitUntil(leave());
  if (request.method !== 'GET') return;
  if (url.pathname.startsWith('/assets/')) event.respondWith(asset(request));
  else if (request.mode === 'navigate' && !DRAWN.test(url.pathname))
    event.respondWith(view(request));
});

function said(data) {
  try {
    return data.json();
  } catch {
    // A browser wants a notification for each message, also for one that it cannot read.
    return { type: 'unknown', open: '/' };
  }
}

function until(deadline) {
  const at = new Date(deadline);
  const day = at.toDateString() === new Date().toDateString() ? {} : { dateStyle: 'medium' };
  return `until ${at.toLocaleString(undefined, { timeStyle: 'short', ...day })}`;
}

/** Title and body of a notification about a call. */
function words({ headline, settled, question, tool, agentID, deadline }) {
  const what = question || tool;
  if (settled) return [headline, what];
  const more = [tool, agentID, deadline === null ? '' : until(deadline)].filter((one) => one);
  return [what, `${headline}\n${more.join(' · ')}`];
}

/** A newer message about a call replaces the one that is shown; its outcome comes without a sound. */
function show(message) {
  const look = { icon: '/icon.svg', data: { open: message.open } };
  if (message.type === 'call') {
    const [title, body] = words(message);
    const { pendingID: tag, settled } = message;
    const sound = settled ? { silent: true } : { renotify: true };
    return self.registration.showNotification(title, { ...look, ...sound, body, tag });
  }
  const test = message.type === 'test';
  const title = test ? 'Notifications reach this browser' : 'Something waits for you';
  return self.registration.showNotification(title, { ...look, tag: message.type });
}

self.addEventListener('push', (event) => event.waitUntil(show(said(event.data))));

/** Opens a path of the page in a window of it that is open, else in a new one. */
async function open(to) {
  const url = new URL(to, self.location.origin);
  const path = url.origin === self.location.origin ? url.pathname + url.search : '/';
  const windows = await self.clients.matchAll({ type: 'window' });
  const page = windows.find((one) => !DRAWN.test(new URL(one.url).pathname));
  if (!page) return self.clients.openWindow(path);
  page.postMessage({ open: path });
  return page.focus();
}

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.open ?? '/'));
});

/** The push service gave this browser another address. */
async function subscribeAgain() {
  const answer = await fetch('/api/devices', { headers: { accept: 'application/json' } });
  const { key } = answer.ok ? await answer.json() : { key: null };
  if (!key) return;
  const options = { userVisibleOnly: true, applicationServerKey: key };
  const { endpoint, keys } = (await self.registration.pushManager.subscribe(options)).toJSON();
  await fetch('/api/devices', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ endpoint, p256dh: keys.p256dh, auth: keys.auth }),
  });
}

self.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(subscribeAgain()));
