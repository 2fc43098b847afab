// Keeps the files of the page, so that it opens without a connection. They are the same for everybody and hold nothing of
// a session; what the server says to a person (the API, and `/` itself) is never kept. A sign-out removes them all.
const CACHE = 'dormouse-page-2';
const SHELL = '/index.html';
const SIGN_IN = '/sign-in';
// Pages that the server draws without script.
const DRAWN = /^\/(a|c|api|sign-in|sign-out)(\/|$)/;

async function forget() {
  for (const name of await caches.keys()) await caches.delete(name);
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
  if (response.type === 'opaqueredirect' || response.redirected) await forget();
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
  if (signsOut(request, url.pathname)) event.waitUntil(forget());
  if (request.method !== 'GET') return;
  if (url.pathname.startsWith('/assets/')) event.respondWith(asset(request));
  else if (request.mode === 'navigate' && !DRAWN.test(url.pathname))
    event.respondWith(view(request));
});
