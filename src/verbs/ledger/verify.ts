import { assertTiles, reportStrays } from '../../audit/ledger/audit.ts';
import { assertComplete } from '../../audit/ledger/complete.ts';
import { inconsistent, openCheckpoint, readLedger } from '../../audit/ledger/ledger.ts';
import { openTree } from '../../audit/source/tree-source.ts';
import { toHex } from '../../core/bytes/bytes.ts';
import { ledgerOrigin } from '../../core/ledger/checkpoint.ts';
import { nodeSuite } from '../../crypto.ts';
import type { Repository } from '../../repository/repository.ts';
import { currentSource, requireTrust } from '../../repository/trusted-now.ts';
import { assertAge } from '../../sealing/ledger/age.ts';
import { checkCurrentPin, EMPTY_LOG, homeOf } from '../../sealing/ledger/pin.ts';
import { openSealedSessions } from '../../sealing/ledger/sealed-sessions.ts';
import { readWitnesses } from '../../sealing/ledger/witnesses.ts';

export interface LedgerVerifyOptions {
  /** Verifier keys of witnesses, besides those that `handoff.witness` names. */
  witness?: string[];
  /** Fail when nothing newer was seen for longer: `7d`, `12h`, `30m`, `90s`. */
  maxAge?: string;
}

export interface LedgerVerifyResult {
  valid: true;
  /** False where there is no ledger yet, which is as one without seals. */
  exists: boolean;
  size: number;
  root: string;
  origin: string;
  /** Sessions whose last record is no seal that the ledger has. */
  unsealed: number;
  /** Seals that wait for the next append. */
  pending: number;
  /** Known witnesses who cosigned it, and when they saw it. */
  witnesses: { name: string; at: string }[];
  /** When this clone first saw a ledger of this size; null where it remembers none of this size, as on another branch than the protected one. */
  seen_at: string | null;
}

/** The whole ledger as it is here: signature, every tile, every entry against its seal, and what this clone saw before. SPEC §11.5 */
export async function ledgerVerify(
  repository: Repository,
  options: LedgerVerifyOptions = {},
): Promise<LedgerVerifyResult> {
  const trust = await requireTrust(repository);
  const source = await currentSource(repository);
  const witnesses = await readWitnesses(repository, options.witness);
  const sessions = await openSealedSessions(source, repository.progress);
  const ledger = await readLedger(source);
  const origin = ledgerOrigin(trust.repoId);
  if (!ledger) {
    await checkCurrentPin(repository, null, homeOf(trust));
    assertAge(null, options.maxAge, repository.now());
    const { size, root } = EMPTY_LOG;
    const treeHead = { size, root: toHex(root), origin };
    return { valid: true, exists: false, ...treeHead, ...sessions.counts(), witnesses: [], seen_at: null };
  }
  const { verified } = await openCheckpoint(ledger, trust, nodeSuite, witnesses);
  await reportStrays(source, ledger, ({ path, message }) => {
    throw inconsistent(`${path}: ${message}`, { path });
  });
  await assertTiles(ledger, trust.repoId, nodeSuite, sessions.assertThere);
  // the folder that it names is git's, wherever the ledger was read from
  const { store } = repository;
  const objects = (await store.resolve('HEAD')) === null ? null : await openTree(store, 'HEAD');
  if (objects) await assertComplete(ledger, null, { source: objects, trust, suite: nodeSuite });
  const { size, root } = ledger.checkpoint;
  const pin = await checkCurrentPin(repository, ledger, homeOf(trust));
  const seen = pin?.size === size ? pin : null;
  assertAge(pin, options.maxAge, repository.now());
  const cosigned = verified.flatMap(({ verifier, time }) =>
    time === undefined ? [] : [{ name: verifier.name, at: new Date(time * 1000).toISOString() }],
  );
  return {
    valid: true,
    exists: true,
    size,
    root: toHex(root),
    origin,
    ...sessions.counts(),
    witnesses: cosigned,
    seen_at: seen?.at ?? null,
  };
}
