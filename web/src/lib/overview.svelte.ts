// Counts beside the navigation, and what the overview shows. Read again every half minute while the page is seen.
import type { Delivery, Doctor } from 'dormouse-client';
import { client, maybe } from './api';
import { me } from './me.svelte';

const EVERY = 30_000;

class Overview {
  mail = $state(0);
  dead = $state(0);
  doctor = $state.raw<Doctor | null>(null);
  deliveries = $state.raw<Delivery[]>([]);
  metrics = $state.raw<Record<string, number>>({});
  at = $state(0);
  error = $state.raw<unknown>(null);
  needs = $derived(this.count());

  private count(): number {
    const { counts } = this.doctor ?? {};
    const all = counts as Record<string, number> | undefined;
    if (!all) return 0;
    return Object.values(all).reduce((sum, one) => sum + one, 0) + this.dead;
  }

  watch(project: string): () => void {
    void this.read(project);
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void this.read(project);
    }, EVERY);
    return () => clearInterval(timer);
  }

  async read(project: string): Promise<void> {
    try {
      const held = await maybe(client.call('listMail', { query: { project } as never }));
      const items = (held as { items?: { status?: string }[] } | null)?.items ?? [];
      this.mail = items.filter((one) => one.status === 'quarantined').length;
      if (me.may('operate')) await this.operate(project);
      this.at = Date.now();
      this.error = null;
    } catch (error) {
      if (!me.refused(error)) this.error = error;
    }
  }

  private async operate(project: string): Promise<void> {
    const [doctor, dead] = await Promise.all([
      maybe(client.call('doctor')),
      maybe(
        client.call('listDeliveries', { query: { project, state: 'dead', limit: 50 } as never }),
      ),
    ]);
    this.doctor = doctor;
    this.deliveries = dead?.items ?? [];
    this.dead = this.deliveries.length;
  }

  async figures(): Promise<void> {
    const response = await client.raw('/metrics').catch(() => null);
    if (response?.ok) this.metrics = parse(await response.text());
  }
}

/** Samples of Prometheus' text format, by name with labels. */
export function parse(text: string): Record<string, number> {
  const found: Record<string, number> = {};
  for (const line of text.split('\n')) {
    const match = /^([a-z_]+(?:\{[^}]*\})?) (\S+)$/.exec(line);
    if (match?.[1]) found[match[1]] = Number(match[2]);
  }
  return found;
}

/** A percentile of a histogram: the bound of the bucket that it is in. */
export function percentile(
  samples: Record<string, number>,
  name: string,
  share: number,
): number | null {
  const total = samples[`${name}_count`] ?? 0;
  if (total === 0) return null;
  const buckets = Object.entries(samples)
    .map(([key, value]) => [/_bucket\{le="([^"]+)"\}$/.exec(key)?.[1], key, value] as const)
    .filter(
      ([bound, key]) => bound !== undefined && bound !== '+Inf' && key.startsWith(`${name}_bucket`),
    )
    .map(([bound, , value]) => [Number(bound), value] as const)
    .sort((a, b) => a[0] - b[0]);
  return buckets.find(([, value]) => value >= total * share)?.[0] ?? null;
}

export const overview = new Overview();
