import { CARRIED, CODE_LATER, DONE_LATER, FALSE_IDS, PICKED_EARLIER, REFUSED } from './attacks-claimed.ts';
import { CLOCKS } from './attacks-clocks.ts';
import { EVIL_MERGES, FALSE_THOUGHTS, NO_REVIEW, UNACCOUNTED } from './attacks-code.ts';
import { LEFT_OUT } from './attacks-complete.ts';
import { BACK_AGAIN, DRIVERS, ELSEWHERE, EXEMPT, HALVES, UNDECIDED } from './attacks-coverage.ts';
import { LINES, ONE_OF_TWO, VERSIONS } from './attacks-documents.ts';
import { FOLLOWED } from './attacks-followed.ts';
import { SURROUNDINGS, TREES } from './attacks-git.ts';
import { CUTOFFS, LEDGERS, PROOFS } from './attacks-ledger.ts';
import { LOST } from './attacks-lost.ts';
import { NAMED_LIKE } from './attacks-names.ts';
import { OBJECTS } from './attacks-objects.ts';
import { REBASED } from './attacks-rebased.ts';
import { REPLAYED, TAKEN_BACK } from './attacks-records.ts';
import { DEPENDENTS, RETIRED } from './attacks-revoked.ts';
import { FAILED_RUNS, NO_EVIDENCE } from './attacks-runs.ts';
import { SQUATTERS } from './attacks-squatted.ts';
import { CIRCLES, PUSHED_OUT, SUPERSEDED, UNSEEN } from './attacks-tasks.ts';
import { KEYS, POLICIES } from './attacks-trust.ts';
import { UNLISTED } from './attacks-unlisted.ts';
import { UNMERGED } from './attacks-unmerged.ts';
import { UNSIGNED } from './attacks-unsigned.ts';
import { WAITING } from './attacks-waiting.ts';
import type { Scenario } from './scenario.ts';

/** Every adversarial pull request, by what it plays with. */
export const ATTACKS: Readonly<Record<string, Scenario[]>> = {
  'code without its thought': UNACCOUNTED,
  'evil merges': EVIL_MERGES,
  'conflicts that nobody decided': UNDECIDED,
  'what git takes for a rename': FOLLOWED,
  'code that git takes out of the code': LOST,
  'what the merge of a forge would do': UNMERGED,
  'what the rebase of a forge would do': REBASED,
  'code that was taken back': BACK_AGAIN,
  'half of a change': [...HALVES, ...PICKED_EARLIER],
  'ids of other code': FALSE_IDS,
  'what a squash carries along': CARRIED,
  'done in a second push': DONE_LATER,
  'code after its records': CODE_LATER,
  'code that was refused': REFUSED,
  'a patch at another place': ELSEWHERE,
  'what would merge otherwise': DRIVERS,
  'what is exempt and no file': EXEMPT,
  'thoughts that do not count': FALSE_THOUGHTS,
  'a review that is missing': NO_REVIEW,
  'what stands under what was approved': UNLISTED,
  'evidence that junk pushes out': PUSHED_OUT,
  'a review that comes too late to be asked for': UNSEEN,
  'runs that failed': FAILED_RUNS,
  'evidence that is none': NO_EVIDENCE,
  'sessions that were superseded': SUPERSEDED,
  'tasks that wait for each other': CIRCLES,
  'keys and identities': KEYS,
  policies: POLICIES,
  'one maintainer of two': ONE_OF_TWO,
  'versions that nobody can follow': VERSIONS,
  'signatures, and what waits for them': LINES,
  'what waits, flooded and taken away': WAITING,
  'what falls with a key': DEPENDENTS,
  'keys that were retired': RETIRED,
  'what nobody signs': UNSIGNED,
  'records of something else': REPLAYED,
  'records taken back': TAKEN_BACK,
  'clocks that run away': CLOCKS,
  'ids that are another’s': SQUATTERS,
  'the ledger rewritten': LEDGERS,
  'a ledger that is not complete': LEFT_OUT,
  'proofs that are none': PROOFS,
  'keys revoked too late': CUTOFFS,
  'trees nobody writes': TREES,
  'objects that readers read differently': OBJECTS,
  'what the judge was made to believe': [...SURROUNDINGS, ...NAMED_LIKE],
};
