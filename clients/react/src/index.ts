export { usePendingCalls, type PendingCallsOptions, type PendingCallsState } from './pending.js';
export { useSession, type SessionState } from './session.js';
