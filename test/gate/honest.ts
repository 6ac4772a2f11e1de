import { APPROVED } from './honest-approved.ts';
import { BESIDE } from './honest-beside.ts';
import { DONE_LATER, LISTED, RECORDS_FIRST } from './honest-claimed.ts';
import { COUNTED } from './honest-clocks.ts';
import { CONTENTS, ROUTES } from './honest-code.ts';
import { PASSED_OVER } from './honest-complete.ts';
import { DECIDED, MOVED } from './honest-coverage.ts';
import { SEVERAL_VERSIONS, TWO_MAINTAINERS } from './honest-documents.ts';
import { SEALED } from './honest-ledger.ts';
import { NAMED_WELL } from './honest-names.ts';
import { UNUSUAL } from './honest-objects.ts';
import { TO_REBASE } from './honest-rebased.ts';
import { PLACES, TRUST, WORK } from './honest-records.ts';
import { REVOKED } from './honest-revoked.ts';
import { RUNS } from './honest-runs.ts';
import { SQUATTED } from './honest-squatted.ts';
import { IN_TURN, REMEMBERED, SEEN, UNTANGLED } from './honest-tasks.ts';
import { WAITING } from './honest-waiting.ts';
import type { Scenario } from './scenario.ts';

/** Every honest flow, by what it is about. */
export const HONEST: Readonly<Record<string, Scenario[]>> = {
  'ways onto the protected branch': ROUTES,
  'what git moved, and nothing else': MOVED,
  'what somebody decided': DECIDED,
  'what is no code beside code': BESIDE,
  'what a forge may rebase': TO_REBASE,
  'done in a second push': DONE_LATER,
  'records before their code': RECORDS_FIRST,
  'what comes along and is listed': LISTED,
  'what a change is made of': CONTENTS,
  'objects that are unusual': UNUSUAL,
  'who is trusted': TRUST,
  'two maintainers': TWO_MAINTAINERS,
  'what waits for signatures': WAITING,
  'documents of several versions': SEVERAL_VERSIONS,
  'keys that are revoked and retired': REVOKED,
  'sessions and tasks': WORK,
  'clocks as they come about': COUNTED,
  'ids that somebody else has taken': SQUATTED,
  'what was said long ago': REMEMBERED,
  'reviews in their own time': SEEN,
  'reviews of one after the other': APPROVED,
  'what was run': RUNS,
  'one holder after the other': IN_TURN,
  'tasks that wait for others': UNTANGLED,
  'the ledger and its proofs': SEALED,
  'where it is judged': [...PLACES, ...NAMED_WELL],
  'sessions that do not hold, and the ledger': PASSED_OVER,
};
