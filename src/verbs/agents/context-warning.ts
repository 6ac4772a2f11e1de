import type { Warning } from '../../custody/bundle.ts';

/** Percent of a context from which on a person should think of the next agent. */
const NEARLY_FULL = 75;

/** None where nobody knows how full it is, or there is room. */
export function contextWarning(identity: string, session_id: string, used: number | null): Warning[] {
  if (used === null || used < NEARLY_FULL) return [];
  const message = `The context of ${identity} (session ${session_id.slice(0, 8)}) is ${Math.round(used)} % full. Hand over while there is room: git handoff wrap`;
  return [{ kind: 'context_nearly_full', message }];
}
