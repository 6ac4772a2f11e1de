import { insertNewest, type Moment } from './newest.ts';
import type { VerifiedRecord } from './verify.ts';

export interface Signal extends Moment {
  from: string;
  to: string;
  type: string | null;
  text: string;
  at: string;
  session_id: string;
}

/** What is left of a signal that was received: it must not come back when its session is read again. */
interface ReceivedSignal extends Moment {
  received: true;
}

/** A pickup that drained signals. Branches merge in any order, so it can be read before the signals it names. */
interface Drain extends Moment {
  identity: string;
  signals: string[];
}

export interface Signals {
  sent: (Signal | ReceivedSignal)[];
  drains: Drain[];
}

/** Received ones count: were they dropped first, a signal that is read again would be pending again. */
const NEWEST_SIGNALS = 1024;
const NEWEST_DRAINS = 1024;

export function addSignal({ sent, drains }: Signals, record: VerifiedRecord): void {
  const signal = toSignal(record);
  const isReceived = drains.some((drain) => receives(drain, signal));
  insertNewest(sent, isReceived ? received(signal) : signal, NEWEST_SIGNALS);
}

function toSignal({ id, fields }: VerifiedRecord): Signal {
  const { identity, to, type, text, at, session_id } = fields as Record<string, string>;
  return {
    delta_id: id,
    from: identity!,
    to: to!,
    type: type ?? null,
    text: text!,
    at: at!,
    clock: fields.clock as number,
    session_id: session_id!,
  };
}

export function addDrain(signals: Signals, { id, fields }: VerifiedRecord): void {
  const { identity, clock, signals: named = [] } = fields as { identity: string; clock: number; signals?: string[] };
  if (named.length === 0) return;
  const drain: Drain = { delta_id: id, clock, identity, signals: named };
  insertNewest(signals.drains, drain, NEWEST_DRAINS);
  signals.sent = signals.sent.map((signal) =>
    isPending(signal) && receives(drain, signal) ? received(signal) : signal,
  );
}

/** Nobody receives what was sent to another. */
function receives({ identity, signals }: Drain, { to, delta_id }: Signal): boolean {
  return identity === to && signals.includes(delta_id);
}

function received({ clock, delta_id }: Signal): ReceivedSignal {
  return { clock, delta_id, received: true };
}

export function isPending(signal: Signal | ReceivedSignal): signal is Signal {
  return !('received' in signal);
}
