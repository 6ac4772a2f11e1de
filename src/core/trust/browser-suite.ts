import { nobleHashes } from '../bytes/hash.ts';
import type { Suite } from '../record/verify.ts';
import { verifyEd25519 } from './ed25519.ts';

/** Hashes and signatures without Node. */
export const browserSuite: Suite = { ...nobleHashes, verify: verifyEd25519 };
