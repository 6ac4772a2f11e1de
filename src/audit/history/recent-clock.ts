import { HandoffError } from '../../core/error.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { parseRecordName, ROOT } from '../../core/paths.ts';
import { CLOCK_CAP } from '../../core/record/clocks.ts';
import { parseRecord } from '../../core/record/record.ts';
import { type Suite, verifyRecord } from '../../core/record/verify.ts';
import { standingKeys } from '../../core/trust/key-standing.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { type Entry, FILE, FOLDER, find, type Source } from '../source/source.ts';

/**
 * A clock that a tree has, close to its highest as a rule: of every identity the last record of the session whose folder comes last
 * is looked at. Costs no more because history is long. 0 where there is none.
 */
export async function recentClock(source: Source, trust: Trust, suite: Suite): Promise<number> {
  const sessions = await find(source, `${ROOT}/sessions`);
  const owners = sessions?.mode === FOLDER ? await source.list(sessions) : [];
  let highest = 0;
  for (const owner of owners.filter(({ mode }) => mode === FOLDER)) {
    const record = await lastRecord(source, owner);
    const clock = record ? await clockOf(source, record, owner.name, trust, suite) : 0;
    if (clock < CLOCK_CAP) highest = Math.max(highest, clock);
  }
  return highest;
}

async function lastRecord(source: Source, owner: Entry): Promise<Entry | undefined> {
  const folder = (await source.list(owner)).filter(({ mode }) => mode === FOLDER).at(-1);
  const files = folder ? await source.list(folder) : [];
  return files.filter(({ name, mode }) => mode === FILE && parseRecordName(name)).at(-1);
}

/** What does not hold says nothing. */
async function clockOf(source: Source, file: Entry, owner: string, trust: Trust, suite: Suite): Promise<number> {
  const keys = standingKeys(trust.identities.get(owner));
  try {
    const bytes = await source.read(file, MAX_RECORD_BYTES);
    return (await verifyRecord(parseRecord(bytes), keys, suite)).fields.clock;
  } catch (error) {
    if (!(error instanceof HandoffError) || error.exitCode === 4) throw error;
    return 0;
  }
}
