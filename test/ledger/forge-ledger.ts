import type { KeyObject } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { planGrowth } from '../../src/core/ledger/log-growth.ts';
import { merkleRoot } from '../../src/core/seal/merkle.ts';
import { nodeHashes } from '../../src/crypto.ts';
import { type Place, privateKey, writeBytes } from '../handoff.ts';
import { makeKey, signLine } from './note-key.ts';
import { writeCheckpoint } from './sealed.ts';

const { sha256 } = nodeHashes;

export interface Forgery {
  key?: KeyObject;
  origin?: string;
  extensions?: string[];
}

/** A ledger of these entries and no others, whole in itself, whatever they are and whoever signs it. */
export async function writeLedgerOf(place: Place, entries: readonly string[], forgery: Forgery = {}): Promise<void> {
  const { key = privateKey(place, 'maintainer'), origin = `git-handoff/${place.root}` } = forgery;
  rmSync(join(place.dir, '.handoff/ledger'), { recursive: true, force: true });
  const none = { size: 0, root: merkleRoot([], sha256) };
  const bytes = entries.map((entry) => new TextEncoder().encode(entry));
  const growth = await planGrowth(none, bytes, async () => new Uint8Array(), sha256);
  for (const file of growth.written) writeBytes(place.dir, `.handoff/ledger/${file.path}`, file.bytes);
  const lines = [
    origin,
    String(growth.size),
    Buffer.from(growth.root).toString('base64'),
    ...(forgery.extensions ?? []),
  ];
  const text = `${lines.join('\n')}\n`;
  writeCheckpoint(place, text, signLine(makeKey(origin, 1, key), text));
}
