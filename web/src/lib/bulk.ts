// One decision for several calls: only for the same tool and gate, and only for what a person saw.
import { exactly, isLong, rows, visible } from './text';
import { isDoubt, isMine, isOpen, type Call, type Person } from './words';

/** Whether a call may be decided together with others. Long arguments are read one call at a time. */
export function markable(call: Call, me: Person): boolean {
  return (
    isOpen(call) &&
    isMine(call, me) &&
    call.reason === 'approval' &&
    !isDoubt(call) &&
    !!call.gate &&
    call.gate.alwaysAsk !== true &&
    !rows(call.input).some(([, value]) => isLong(value))
  );
}

export const sameKind = (a: Call, b: Call): boolean =>
  a.tool === b.tool && a.gate?.id === b.gate?.id && a.projectID === b.projectID;

/** Those that a mark may be put at: all before the first mark, then its kind alone. */
export function markables(calls: Call[], marked: string[], me: Person): Call[] {
  const all = calls.filter((one) => markable(one, me));
  const first = all.find((one) => marked.includes(one.id));
  if (first) return all.filter((one) => sameKind(one, first));
  return all.filter((one) => all.some((other) => other !== one && sameKind(one, other)));
}

export interface Split {
  /** Arguments that all calls have, with the same value. */
  same: [string, string][];
  each: { call: Call; rows: [string, string][] }[];
}

/** What is the same in all calls, and what differs in each. */
export function split(calls: Call[]): Split {
  const texts = calls.map((call) =>
    rows(call.input).map(([name, value]) => [visible(name), exactly(value)]),
  );
  const isSame = (name: string, text: string): boolean =>
    texts.every((one) => one.some(([other, value]) => other === name && value === text));
  const all = texts as [string, string][][];
  return {
    same: (all[0] ?? []).filter(([name, text]) => isSame(name, text)),
    each: calls.map((call, index) => ({
      call,
      rows: (all[index] ?? []).filter(([name, text]) => !isSame(name, text)),
    })),
  };
}
