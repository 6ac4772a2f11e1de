import { EVIL_MERGES, FALSE_THOUGHTS, NO_REVIEW, UNACCOUNTED } from './attacks-code.ts';
import { SURROUNDINGS, TREES } from './attacks-git.ts';
import { CUTOFFS, LEDGERS, PROOFS } from './attacks-ledger.ts';
import { REPLAYED, TAKEN_BACK } from './attacks-records.ts';
import { KEYS, POLICIES } from './attacks-trust.ts';
import type { Scenario } from './scenario.ts';

/** Every adversarial pull request, by what it plays with. */
export const ATTACKS: Readonly<Record<string, Scenario[]>> = {
  'code without its thought': UNACCOUNTED,
  'evil merges': EVIL_MERGES,
  'thoughts that do not count': FALSE_THOUGHTS,
  'a review that is missing': NO_REVIEW,
  'keys and identities': KEYS,
  policies: POLICIES,
  'records of something else': REPLAYED,
  'records taken back': TAKEN_BACK,
  'the ledger rewritten': LEDGERS,
  'proofs that are none': PROOFS,
  'keys revoked too late': CUTOFFS,
  'trees nobody writes': TREES,
  'what the judge was made to believe': SURROUNDINGS,
};
