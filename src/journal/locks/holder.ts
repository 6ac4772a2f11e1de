import { isIdentityName, isSessionId } from '../../core/names.ts';

/** Who holds a lock, or ended it. */
export interface Holder {
  session_id: string;
  identity: string;
  at: string;
  host: string;
  reason?: string;
}

/** Who acts for nobody's session: a person who releases one. */
export const NO_SESSION = '';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/**
 * Checked when a lock is read, before anything uses it: ids become paths and words of commands, so a text that is no id is no
 * holder. `host` and `reason` are words that are only ever shown.
 */
export function isHolder(value: unknown): value is Holder {
  const { session_id, identity, at, host, reason } = (value ?? {}) as Partial<Record<keyof Holder, unknown>>;
  if (typeof session_id !== 'string' || typeof identity !== 'string') return false;
  if (typeof at !== 'string' || typeof host !== 'string' || !['string', 'undefined'].includes(typeof reason))
    return false;
  return (session_id === NO_SESSION || isSessionId(session_id)) && isIdentityName(identity) && TIME.test(at);
}
