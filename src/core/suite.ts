import { verifyEd25519 } from './ed25519.ts';
import { nobleHashes } from './hash.ts';
import type { Suite } from './verify.ts';

/** Hashes and signatures without Node. */
export const browserSuite: Suite = { ...nobleHashes, verify: verifyEd25519 };
