// Small things that this browser keeps; without storage (a private window) the page works all the same.
const PREFIX = 'dormouse:';

export function load<T>(key: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(PREFIX + key);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

export function save(key: string, value: unknown): void {
  try {
    if (value === null || value === undefined || value === '')
      localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // Full or forbidden: nothing is kept.
  }
}

/** Removes all that was kept, at sign-out. */
export function forget(): void {
  try {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(PREFIX)) localStorage.removeItem(key);
    }
  } catch {
    // There is nothing then.
  }
}
