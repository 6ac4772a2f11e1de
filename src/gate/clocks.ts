import { readHistory } from '../audit/history/history.ts';
import { recentClock } from '../audit/history/recent-clock.ts';
import type { Source } from '../audit/source/source.ts';
import type { Finding } from '../core/error.ts';
import { CLOCK_SLACK } from '../core/record/clocks.ts';
import type { PlacedRecord } from '../core/record/record-summary.ts';
import type { Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import type { Messages, StateDirectory } from '../repository/parts.ts';
import { cacheFolder } from '../repository/repository.ts';

interface Ground {
  before: Source;
  trust: Trust;
}

/** SPEC §10.3.5: who writes counts on from what was there. Whoever goes far beyond would be the newest for ever. */
export async function judgeClocks(
  repository: StateDirectory & Messages,
  ground: Ground,
  added: readonly PlacedRecord[],
): Promise<Finding[]> {
  const room = added.length + CLOCK_SLACK;
  const beyond = (highest: number) => added.filter(({ record }) => record.fields.clock > highest + room);
  // cheap checks first: most clocks pass whatever was there, most others by the newest records; only the rest reads the history
  if (beyond(0).length === 0) return [];
  if (beyond(await recentClock(ground.before, ground.trust, nodeSuite)).length === 0) return [];
  const highest = await highestClock(repository, ground);
  return beyond(highest).map((placed) => tooFar(placed, highest + room));
}

async function highestClock(repository: StateDirectory & Messages, { before, trust }: Ground): Promise<number> {
  const folder = repository.build === null ? null : cacheFolder(repository, 'history');
  const options = { suite: nodeSuite, cacheFolder: folder, onProgress: repository.progress };
  return (await readHistory(before, trust, options)).history.highest;
}

function tooFar({ path, record }: PlacedRecord, most: number): Finding {
  return {
    code: 'chain_broken',
    severity: 'error',
    path,
    record: record.id,
    message: `clock: expected at most ${most}, found ${record.fields.clock}`,
    hint: 'No writer of ours goes so far beyond what is there: leave the session out of the branch, and record the work in a new one: git handoff wrap, then git handoff start on a branch without it.',
  };
}
