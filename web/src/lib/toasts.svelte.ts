export interface Toast {
  id: number;
  text: string;
  link: { to: string; text: string } | null;
  left: number;
}

const LASTS = 8;

/** Short words about what has happened; each stays 8 s, and longer under the pointer. */
class Toasts {
  list = $state<Toast[]>([]);
  held = false;
  private count = 0;

  constructor() {
    setInterval(() => {
      if (this.held || this.list.length === 0) return;
      for (const one of this.list) one.left -= 1;
      this.list = this.list.filter((one) => one.left > 0);
    }, 1000);
  }

  say(text: string, link: Toast['link'] = null): void {
    this.count += 1;
    this.list = [...this.list.slice(-2), { id: this.count, text, link, left: LASTS }];
  }

  drop(id: number): void {
    this.list = this.list.filter((one) => one.id !== id);
  }
}

export const toasts = new Toasts();
