import { untrack } from 'svelte';
import { me } from './me.svelte';

export interface Shortcut {
  keys: string[];
  text: string;
  run: (event: KeyboardEvent) => void;
}

const CHORD = 1200;

/** The shortcuts of the view that is open, and those of all views. Single letters work outside fields only. */
class Keys {
  shown = $state(false);
  private sets = $state.raw<Shortcut[][]>([]);
  private first: { key: string; at: number } | null = null;

  /** Those that work: the newest of two with the same keys. */
  get all(): Shortcut[] {
    const taken = new Set<string>();
    return this.sets.flat().filter(({ keys }) => {
      const name = keys.join(' ');
      return !taken.has(name) && taken.add(name);
    });
  }

  /** Adds shortcuts; the function that is returned removes them. */
  use(shortcuts: Shortcut[]): () => void {
    // Called in effects, which must not depend on what others have added.
    this.sets = [shortcuts, ...untrack(() => this.sets)];
    return () => {
      this.sets = untrack(() => this.sets).filter((one) => one !== shortcuts);
    };
  }

  handle(event: KeyboardEvent): void {
    if (!me.keys || event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented)
      return;
    const target = event.target as HTMLElement;
    if (target.closest('input, textarea, select, [contenteditable], dialog, [role=dialog]')) return;
    // Enter presses what has the focus.
    if (event.key === 'Enter' && target.closest('a, button, summary, [role=button]')) return;
    const chord = this.first && Date.now() - this.first.at < CHORD ? this.first.key : null;
    this.first = null;
    for (const shortcut of this.all) {
      const [one, two] = shortcut.keys;
      const isChord = two !== undefined && shortcut.keys.length === 2 && one === 'g';
      if (
        isChord ? chord === one && event.key === two : !chord && shortcut.keys.includes(event.key)
      ) {
        event.preventDefault();
        return shortcut.run(event);
      }
    }
    if (event.key === 'g') this.first = { key: 'g', at: Date.now() };
  }
}

export const keys = new Keys();
