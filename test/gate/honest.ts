import { CONTENTS, ROUTES } from './honest-code.ts';
import { SEALED } from './honest-ledger.ts';
import { PLACES, TRUST, WORK } from './honest-records.ts';
import type { Scenario } from './scenario.ts';

/** Every honest flow, by what it is about. */
export const HONEST: Readonly<Record<string, Scenario[]>> = {
  'ways onto the protected branch': ROUTES,
  'what a change is made of': CONTENTS,
  'who is trusted': TRUST,
  'sessions and tasks': WORK,
  'the ledger and its proofs': SEALED,
  'where it is judged': PLACES,
};
