const UTF8 = new TextEncoder();

/** What is wrong with the size of a text, as the server would say it; '': nothing. `most`: KiB. */
export function sizeError(text: string, most: number): string {
  return UTF8.encode(text).length > most * 1024 ? `must be at most ${most} KiB` : '';
}

/** Names in a field, separated by commas or spaces, each once. */
export const namesIn = (text: string): string[] => [
  ...new Set(text.split(/[\s,]+/).filter((one) => one !== '')),
];

/** The same key as long as the same request is sent: sent twice, it has one effect. */
export class Once {
  private sent = '';
  private key = '';

  for(request: unknown): string {
    const now = JSON.stringify(request);
    if (now !== this.sent) [this.sent, this.key] = [now, crypto.randomUUID()];
    return this.key;
  }
}
