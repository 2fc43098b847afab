// Keeps the page itself, so that it opens without a connection; what the API answers is never kept here.
const CACHE = 'dormouse-page';

self.addEventListener('activate', (event) => {
  event.waitUntil(self.clients.claim());
});

async function keep(request, response) {
  if (response.ok) (await caches.open(CACHE)).put(request, response.clone());
  return response;
}

/** Files with their hash in the name never change; those of an earlier page go once another page was loaded. */
async function asset(request) {
  return (await caches.match(request)) ?? keep(request, await fetch(request));
}

async function page(request) {
  try {
    const response = await fetch(request);
    if (response.ok && !response.redirected) await keep('/', response);
    return response;
  } catch (error) {
    const kept = await caches.match('/');
    if (kept) return kept;
    throw error;
  }
}

self.addEventListener('fetch', (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== 'GET' || url.origin !== self.location.origin) return;
  if (url.pathname.startsWith('/assets/')) event.respondWith(asset(event.request));
  // Pages that the server draws without script are its own.
  else if (event.request.mode === 'navigate' && !/^\/(a|c|api|sign-in)(\/|$)/.test(url.pathname)) {
    event.respondWith(page(event.request));
  }
});
