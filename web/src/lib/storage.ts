// Small things that this browser keeps; without storage (a private window) the page works all the same.
import { parse, stringify } from './exact';

const PREFIX = 'dormouse:';

export function load<T>(key: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(PREFIX + key);
    return text === null ? otherwise : (parse(text) as T);
  } catch {
    return otherwise;
  }
}

export function save(key: string, value: unknown): void {
  try {
    if (value === null || value === undefined || value === '')
      localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, stringify(value));
  } catch {
    // Full or forbidden: nothing is kept.
  }
}

/** Removes the files of the page that the service worker keeps: nobody is signed in any more. */
export async function forgetFiles(): Promise<void> {
  try {
    for (const name of await caches.keys()) await caches.delete(name);
  } catch {
    // Without a secure connection there are none.
  }
}

/** Removes all that was kept whose name begins so; '': all, at sign-out. */
export function forget(beginning = ''): void {
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(PREFIX + beginning)) localStorage.removeItem(key);
    }
  } catch {
    // There is nothing then.
  }
}
