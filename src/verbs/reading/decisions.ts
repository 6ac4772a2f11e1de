import type { PlacedRecord } from '../../core/record/record-summary.ts';
import { type Decision, toDecision } from '../../core/record/record-summary.ts';
import { asTheyStand } from '../../core/session/history-queries.ts';
import { byNewest } from '../../core/session/newest.ts';
import { detached } from '../../core/text/excerpt.ts';
import { findRecords } from '../../custody/find-records.ts';
import type { Repository } from '../../repository/repository.ts';

export interface DecisionsOptions {
  limit?: number;
}

export interface DecisionListing {
  decisions: Omit<Decision, 'clock' | 'kind'>[];
}

/** All that were taken, the newest first. One that a later one supersedes shows as superseded. */
export async function decisions(repository: Repository, { limit }: DecisionsOptions = {}): Promise<DecisionListing> {
  const question = { most: Number.POSITIVE_INFINITY, isWanted: ({ kind }: { kind: string }) => kind === 'decision' };
  const found = await findRecords(repository, question, (path, _, record): Decision | null =>
    record?.kind === 'decision' ? detached(toDecision({ path, record } as PlacedRecord<'decision'>)) : null,
  );
  const valid = found.filter(({ isValid }) => isValid).map(({ item }): [string, Decision] => [item.delta_id, item]);
  const unique = [...new Map(valid).values()].sort(byNewest); // a session may stand in two places
  return {
    decisions: asTheyStand(unique)
      .slice(0, limit)
      .map(({ clock: _, kind: __, ...decision }) => decision),
  };
}
