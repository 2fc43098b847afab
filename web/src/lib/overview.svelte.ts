// Counts beside the navigation, and what the overview shows. Read again every half minute while the page is seen.
import type { Delivery, Doctor, Node as ServerNode } from 'dormouse-client';
import { client, maybe } from './api';
import type { IconName } from './icons';
import { keep, sampleOf, type Sample } from './history';
import { me } from './me.svelte';
import { sessions } from './sessions.svelte';
import { count } from './text';
import type { State } from './words';

const EVERY = 30_000;
const DEAD = 200;
const DEAD_SHOWN = 5;

/** Something that does not continue without a person. */
export interface Need {
  kind: State;
  icon: IconName;
  title: string;
  text: string;
  to: string;
  button: string;
}
interface Found {
  sessionID: string;
  pendingID?: string;
  why: string;
}
type Index = Doctor['indexes'][number];
const FINDINGS = ['inDoubt', 'stuck', 'orphaned', 'unreadable', 'blocked', 'notAsking'] as const;
type Finding = (typeof FINDINGS)[number];
const title = (id: string): string => sessions.get(id)?.title ?? 'a session';

function needOf(name: Finding, one: Found): Need {
  const whose = `“${title(one.sessionID)}”`;
  const session = { text: one.why, to: `/sessions/${one.sessionID}`, button: 'Open' };
  if (name === 'inDoubt') {
    const to = one.pendingID ? `/?open=${one.pendingID}` : session.to;
    return {
      kind: 'doubt',
      icon: 'circle-question-mark',
      title: `A call of ${whose} is in doubt`,
      text: one.why,
      to,
      button: 'Decide',
    };
  }
  if (name === 'blocked' || name === 'notAsking') {
    const says = name === 'blocked' ? 'waits for configuration or for a person' : 'may act unasked';
    return { kind: 'wait', icon: 'circle-pause', title: `${whose} ${says}`, ...session };
  }
  return { kind: 'fail', icon: 'circle-x', title: `${whose} is ${name}`, ...session };
}

const needOfDelivery = (one: Delivery): Need => ({
  kind: 'fail',
  icon: 'send',
  title: 'A webhook could not be delivered',
  text: `${one.url} ${one.lastStatus ? `answered ${one.lastStatus}` : (one.lastError ?? 'did not answer')}, ${count(one.attempts, 'time')}. It is not tried again by itself.`,
  to: '/operate/deliveries?state=dead',
  button: 'Open',
});

/** Nothing is lost: the index catches up by itself once its place works again. */
const needOfIndex = (one: Index): Need => ({
  kind: 'fail',
  icon: 'file',
  title: `The index ${one.name} cannot be written`,
  text: one.why ?? 'It is tried again by itself.',
  to: '/operate/nodes',
  button: 'Nodes',
});

class Overview {
  mail = $state(0);
  dead = $state(0);
  doctor = $state.raw<Doctor | null>(null);
  deliveries = $state.raw<Delivery[]>([]);
  metrics = $state.raw<Record<string, number>>({});
  /** The figures since the page was opened. */
  history = $state.raw<Sample[]>([]);
  at = $state(0);
  error = $state.raw<unknown>(null);
  nodes = $state.raw<ServerNode[]>([]);
  /** More deliveries were given up than were counted. */
  deadMore = $state(false);

  /** Indexes beside the store that could not be written. A server of an earlier release has none. */
  private failing = $derived((this.doctor?.indexes ?? []).filter((one) => one.state === 'failed'));
  /** What needs a person, as the overview lists it. */
  needs = $derived.by((): Need[] => [
    ...FINDINGS.flatMap((name) => this.listOf(name).map((one) => needOf(name, one))),
    ...this.failing.map(needOfIndex),
    ...this.deliveries.slice(0, DEAD_SHOWN).map(needOfDelivery),
  ]);
  /** How many things that are: the number of the heading, and of the navigation. */
  needed = $derived(
    FINDINGS.reduce((sum, name) => sum + (this.doctor?.counts[name] ?? 0), 0) +
      this.failing.length +
      this.dead,
  );
  more = $derived(this.deadMore || this.needed > this.needs.length);

  private listOf(name: Finding): Found[] {
    return (this.doctor?.[name] ?? []) as Found[];
  }

  watch(project: string): () => void {
    void this.read(project);
    const timer = setInterval(() => {
      if (document.visibilityState !== 'visible') return;
      void this.read(project);
      if (me.may('operate')) void this.figures();
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
    const query = { project, state: 'dead', limit: DEAD };
    const [doctor, dead, nodes] = await Promise.all([
      maybe(client.call('doctor')),
      maybe(client.call('listDeliveries', { query: query as never })),
      maybe(client.call('listNodes')),
    ]);
    this.doctor = doctor;
    this.deliveries = dead?.items ?? [];
    this.dead = this.deliveries.length;
    this.deadMore = (dead?.next ?? null) !== null;
    this.nodes = nodes?.items ?? [];
  }

  async figures(): Promise<void> {
    const response = await client.raw('/metrics').catch(() => null);
    if (response?.ok) this.metrics = parse(await response.text());
    // Without an answer there is nothing to say of this moment.
    if (response) this.history = keep(this.history, sampleOf(this.metrics, this.dead, Date.now()));
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
