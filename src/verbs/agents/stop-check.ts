import type { SharedFields } from '../../core/record/kinds.ts';
import { parseSessionRecord } from '../../core/record/record.ts';
import { agentRules } from '../../core/trust/policy-defaults.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { noThoughtWarnings } from '../../custody/baton/left-undone.ts';
import { isClean } from '../../git/index/status.ts';
import { readEntry, recordNumbers } from '../../journal/sessions/records.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import { dirsOf } from '../../journal/sessions/session-state.ts';
import { readPosition } from '../../repository/position.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';

/** What a session lacks whose agent stops. */
export interface StopCheck {
  rule: 'remind' | 'block' | 'off';
  lacks: Lack[];
}

export interface Lack {
  kind: 'no_thought' | 'no_baton' | 'not_committed';
  message: string;
}

export async function checkStop(repository: Repository, session: Session): Promise<StopCheck> {
  const trust = await requireTrust(repository);
  const rule = agentRules(trust.policy.rules.agents).stop;
  return { rule, lacks: rule === 'off' ? [] : await findLacks(repository, trust, session) };
}

/** What is not committed yet is said beside something else, and is no reason by itself: nobody owes a thought for it. */
async function findLacks(repository: Repository, trust: Trust, session: Session): Promise<Lack[]> {
  const { head } = await readPosition(repository);
  const [noThought] = await noThoughtWarnings(repository, trust, session, head);
  const lacks: Lack[] = noThought ? [{ kind: 'no_thought', message: noThought.message }] : [];
  if (noThought || hasWork(repository, session, head)) lacks.push(NO_BATON);
  if (lacks.length > 0 && !(await isClean(repository.git, '.handoff', true))) lacks.push(NOT_COMMITTED);
  return lacks;
}

const NO_BATON: Lack = {
  kind: 'no_baton',
  message: 'The session has work and no baton. Whoever goes on from here reads one: git handoff wrap leaves it.',
};

const NOT_COMMITTED: Lack = {
  kind: 'not_committed',
  message: 'Files outside .handoff are changed and not committed.',
};

/** A session that began and did nothing owes nobody a baton. */
function hasWork(repository: Repository, { session_id }: Session, head: string | null): boolean {
  const dirs = dirsOf(repository);
  const [first, ...more] = recordNumbers(dirs, session_id);
  const isWork = (number: number): boolean => {
    const entry = readEntry(dirs, session_id, number);
    return 'kind' in entry && entry.kind !== 'checkpoint';
  };
  if (first === undefined || more.some(isWork)) return first !== undefined;
  const opening = readEntry(dirs, session_id, first);
  return 'bytes' in opening && beganAt(opening.bytes) !== head;
}

function beganAt(bytes: Uint8Array): string | null {
  const { head }: SharedFields = parseSessionRecord(bytes).fields;
  return head ?? null;
}
