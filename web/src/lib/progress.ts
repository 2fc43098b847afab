import { show } from './text';

const SHARES = ['progress', 'percent', 'percentage', 'fraction', 'share'];
const WORDS = ['message', 'text', 'note', 'step', 'status', 'stage'];

/** What a progress payload says, in whatever shape it came: a share of 1, and words. */
export function progressOf(payload: unknown): { share: number | null; text: string } {
  if (typeof payload === 'number')
    return { share: Math.min(1, payload > 1 ? payload / 100 : payload), text: '' };
  if (payload === null || typeof payload !== 'object' || Array.isArray(payload)) {
    return { share: null, text: show(payload) };
  }
  const data = payload as Record<string, unknown>;
  const words = WORDS.map((name) => data[name]).find((one) => typeof one === 'string');
  const key = SHARES.find((name) => typeof data[name] === 'number');
  let share: number | null = null;
  if (key) {
    const value = data[key] as number;
    share = key.startsWith('percent') || value > 1 ? value / 100 : value;
  } else if (
    typeof data['done'] === 'number' &&
    typeof data['total'] === 'number' &&
    data['total'] > 0
  ) {
    share = data['done'] / data['total'];
  }
  const text = typeof words === 'string' ? show(words) : share === null ? show(payload) : '';
  return { share: share === null ? null : Math.max(0, Math.min(1, share)), text };
}
