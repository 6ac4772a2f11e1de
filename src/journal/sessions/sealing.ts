import { join } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import type { Host } from '../../disk/moment.ts';
import { endTurn, takeTurn } from '../../disk/one-at-a-time.ts';
import type { StateDirs } from './registry.ts';

/**
 * Seals one session at a time. That two never write the same number is the journal's doing; this spares the second the work,
 * and tells it to come back. SPEC §11.1
 */
export async function whileSealing<T>(
  dirs: StateDirs,
  id: string,
  { host, now }: { host: Host; now(): Date },
  work: () => Promise<T>,
): Promise<T> {
  const path = join(dirs.sessions, id, 'sealing');
  if (!takeTurn(path, host, now())) throw sealInProgress(id);
  try {
    return await work();
  } finally {
    endTurn(path);
  }
}

export function sealInProgress(session_id: string): HandoffError {
  return new HandoffError('seal_in_progress', 'Merkle finalization in progress. Retry in 5s.', {
    hint: 'Run the same command again: once it is sealed, sealing changes nothing and gives the same root.',
    data: { session_id, retry_after: 5 },
  });
}
