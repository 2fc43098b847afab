/** Rows that come while the reader is in a list wait, so that no row moves under the pointer. */
export class Held {
  /** The rows that were there when the reader came; null: nobody reads. */
  private there = $state.raw<ReadonlySet<string> | null>(null);
  private reasons = new Set<string>();

  /** `reason`: what keeps the reader there, such as "pointer". `ids`: the rows now. */
  begin(reason: string, ids: readonly string[]): void {
    this.reasons.add(reason);
    this.there ??= new Set(ids);
  }

  end(reason: string): void {
    this.reasons.delete(reason);
    if (this.reasons.size === 0) this.there = null;
  }

  /** Shows what waited. */
  show(ids: readonly string[]): void {
    if (this.there) this.there = new Set(ids);
  }

  /** False: the row waits. */
  has(id: string): boolean {
    return this.there === null || this.there.has(id);
  }

  fresh(ids: readonly string[]): number {
    return this.there === null ? 0 : ids.filter((id) => !this.has(id)).length;
  }
}
