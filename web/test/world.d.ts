declare module '*/world.mjs' {
  export const ids: Record<'ship' | 'ledger', string>;
  export function world(now: number): { events: Map<string, unknown[]> };
}
declare module '*/fake.mjs' {
  export const ids: Record<
    'ship' | 'cut' | 'deploy' | 'doubt' | 'refund' | 'question' | 'claimed',
    string
  >;
  export function fake(): {
    state: {
      calls: Map<string, Record<string, unknown>>;
      events: Map<string, unknown[]>;
    };
    handle(incoming: unknown, answer: unknown): Promise<void>;
  };
}
