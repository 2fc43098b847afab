// Registers the service worker, which keeps the page's files for when there is no connection.

const WORKER = '/service-worker.js';

interface TrustedScripts {
  createScriptURL: (url: string) => string;
}
interface Factory {
  createPolicy: (name: string, rules: TrustedScripts) => TrustedScripts;
}

/** The worker's address as the Trusted Types rule of the page's policy wants it, and no other. */
function trusted(): string {
  const factory = (globalThis as { trustedTypes?: Factory }).trustedTypes;
  if (!factory) return WORKER;
  const policy = factory.createPolicy('dormouse-worker', {
    createScriptURL: (url) => {
      if (url !== WORKER) throw new TypeError(`not the service worker: ${url}`);
      return url;
    },
  });
  return policy.createScriptURL(WORKER);
}

/** Does nothing where the browser has no service workers: then the page needs a connection. */
export async function registerWorker(): Promise<void> {
  if (!('serviceWorker' in navigator) || !isSecureContext) return;
  try {
    await navigator.serviceWorker.register(trusted());
  } catch (error) {
    console.warn('the page cannot be kept for use without a connection:', error);
  }
}
