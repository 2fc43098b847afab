/** The page's address as state; every view is a path, every filter a parameter. */
class Router {
  path = $state(location.pathname);
  query = $state(new URLSearchParams(location.search));
  hash = $state(location.hash);

  constructor() {
    addEventListener('popstate', () => this.read());
    addEventListener('hashchange', () => this.read());
  }

  private read(): void {
    this.path = location.pathname;
    this.query = new URLSearchParams(location.search);
    this.hash = location.hash;
  }

  go(to: string, replace = false): void {
    if (to === location.pathname + location.search + location.hash) return;
    history[replace ? 'replaceState' : 'pushState'](null, '', to);
    this.read();
  }

  /** The current address with other parameters; an empty value removes one. */
  with(changes: Record<string, string | null>): string {
    const query = new URLSearchParams(this.query);
    for (const [key, value] of Object.entries(changes)) {
      if (value) query.set(key, value);
      else query.delete(key);
    }
    const text = query.toString();
    return this.path + (text ? `?${text}` : '');
  }

  /** Segments of the path when it matches `/a/:id`, else null. */
  match(pattern: string): Record<string, string> | null {
    const wanted = pattern.split('/');
    const given = this.path.split('/');
    if (wanted.length !== given.length) return null;
    const found: Record<string, string> = {};
    for (const [index, part] of wanted.entries()) {
      const value = given[index] ?? '';
      if (part.startsWith(':')) found[part.slice(1)] = decodeURIComponent(value);
      else if (part !== value) return null;
    }
    return found;
  }
}

export const router = new Router();

/** Follows links of this page without loading it again. */
export function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element).closest?.('a[href]') as HTMLAnchorElement | null;
  if (!link || link.target || link.hasAttribute('download')) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || /^\/(api|c|openapi|metrics)\b/.test(url.pathname)) return;
  event.preventDefault();
  router.go(url.pathname + url.search + url.hash);
}
