import { existsSync, lstatSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { findLeaves, inconsistent, type Ledger } from '../../audit/ledger/ledger.ts';
import { toHex } from '../../core/bytes/bytes.ts';
import { HandoffError } from '../../core/error.ts';
import { ledgerOrigin } from '../../core/ledger/checkpoint.ts';
import { formatVerifierKey } from '../../core/ledger/note.ts';
import type { Proof, ProofLeaf } from '../../core/ledger/proof.ts';
import { formatProof } from '../../core/ledger/proof-text.ts';
import { inclusionFromTiles } from '../../core/ledger/tiles.ts';
import { proofPath, ROOT } from '../../core/paths.ts';
import { inclusionProof, leafHash, verifyInclusion } from '../../core/seal/merkle.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import { guarded, replaceBy, writeSynced } from '../../disk/durable.ts';
import { type PublishOptions, publish } from '../../journal/commits/publish.ts';
import { keyLine } from '../../journal/keys/signers.ts';
import type { Directories } from '../../repository/parts.ts';
import { findRecordPath } from '../../repository/record-path.ts';
import type { Repository } from '../../repository/repository.ts';
import { readSessionAt, type TreeRecord, type TreeSession } from '../../repository/tree-session.ts';
import { currentSource, requireTrust } from '../../repository/trusted-now.ts';
import { checkCurrentPin, homeOf } from '../../sealing/ledger/pin.ts';
import { notInLedger, requireLedger } from '../../sealing/require-ledger.ts';
import { signingKey } from './key.ts';

export interface ProveOptions extends PublishOptions {
  /** A path, an id, or at least six digits of one. */
  record: string;
  /** Where to write it; `-`: nowhere. Default: in `.handoff/proofs`. */
  output?: string;
}

export interface ProveResult {
  record: string;
  session_root: string;
  ledger_size: number;
  /** Null where it is only returned. */
  file: string | null;
  /** What the proof is checked with. */
  vkey: string;
  proof: string;
}

/** A file that proves, to whoever has the ledger's public key and nothing else of ours, that a record is in it. SPEC §11.6 */
export async function prove(repository: Repository, options: ProveOptions): Promise<ProveResult> {
  if (options.output === '') throw noFile();
  const trust = await requireTrust(repository);
  const source = await currentSource(repository);
  const ledger = await requireLedger(source);
  const key = await signingKey(ledger, trust); // what nobody who is trusted has signed is not remembered
  await checkCurrentPin(repository, ledger, homeOf(trust));
  const path = await findRecordPath(repository, source, options.record);
  const session = await readSessionAt(source, trust, path);
  const at = session.files.findIndex((file) => file.path === path);
  const { seal, root, index } = await findSeal(session, at, ledger);
  const proof = await planProof({ trust, ledger, key, session, at, seal, index });
  const bytes = formatProof(proof);
  const file = await writeProof(repository, proof, bytes, options);
  return {
    record: proof.record.id,
    session_root: root,
    ledger_size: ledger.checkpoint.size,
    file,
    vkey: proof.vkey,
    proof: Buffer.from(bytes).toString('utf8'),
  };
}

/** The first seal that the ledger has and that covers the record, or is it. */
async function findSeal(
  { session_id, files }: TreeSession,
  at: number,
  ledger: Ledger,
): Promise<{ seal: number; root: string; index: number }> {
  const seals = files.flatMap(({ record }, seal) =>
    record.kind === 'seal' && seal >= at ? [{ seal, root: record.fields.root }] : [],
  );
  const leaves = seals.map(({ seal }) => leafHash(files[seal]!.bytes, nodeSuite.sha256));
  const places = await findLeaves(ledger, leaves);
  const first = leaves.findIndex((leaf) => places.has(toHex(leaf)));
  if (first >= 0) return { ...seals[first]!, index: places.get(toHex(leaves[first]!))! };
  if (seals.length > 0) throw notInLedger(`The seal of session ${session_id} is not in the ledger yet.`);
  throw new HandoffError('nothing_sealed', `No seal of session ${session_id} covers record ${at + 1}.`, {
    hint: `Where it was written: git handoff seal ${session_id.slice(0, 8)}; once that is merged, git handoff ledger append on the protected branch.`,
    data: { session_id },
  });
}

interface ProofGround {
  trust: Trust;
  ledger: Ledger;
  /** The key that signed the ledger. */
  key: Uint8Array;
  session: TreeSession;
  /** Which record, and which seal, of the session. */
  at: number;
  seal: number;
  /** Where the seal stands in the ledger. */
  index: number;
}

async function planProof({ trust, ledger, key, session, at, seal, index }: ProofGround): Promise<Proof> {
  const { size } = ledger.checkpoint;
  const leaves = session.files.slice(0, seal).map(({ bytes }) => bytes);
  const siblings = await inclusionFromTiles(index, size, ledger.read, nodeSuite.sha256);
  assertLeads(ledger, session.files[seal]!.bytes, index, siblings);
  return {
    repo: trust.repoId,
    record: toLeaf(session.files[at]!, trust),
    session: at === seal ? null : { index: at, size: seal, siblings: inclusionProof(leaves, at, nodeSuite.sha256) },
    seal: toLeaf(session.files[seal]!, trust),
    ledger: { index, size, siblings },
    vkey: formatVerifierKey(ledgerOrigin(trust.repoId), key, nodeSuite),
    note: ledger.bytes,
  };
}

/** The tiles have not been compared with the signed checkpoint yet: a path that does not lead to its root would prove nothing. */
function assertLeads({ checkpoint }: Ledger, bytes: Uint8Array, index: number, siblings: readonly Uint8Array[]): void {
  const { size, root } = checkpoint;
  const { sha256 } = nodeSuite;
  if (verifyInclusion(leafHash(bytes, sha256), index, size, siblings, root, sha256)) return;
  throw inconsistent(`The tiles of the ledger do not lead to the root that was signed, ${toHex(root)}.`);
}

function toLeaf({ path, bytes, record }: TreeRecord, { identities }: Trust): ProofLeaf {
  const keys = identities.get(record.fields.identity)!.keys;
  const key = keys.find(({ fingerprint }) => fingerprint === record.fingerprint)!;
  return { path, id: record.id, key: keyLine(key), bytes };
}

async function writeProof(
  repository: Repository,
  { record }: Proof,
  bytes: Uint8Array,
  { output, ...options }: ProveOptions,
): Promise<string | null> {
  if (output === '-') return null;
  if (output !== undefined) return writeTo(assertInWorkTree(repository, resolve(output)), bytes);
  if (repository.dirs.topLevel === null) throw noWorkTree();
  const path = proofPath(record.id);
  const plan = {
    files: [{ path, bytes, replaces: true }],
    message: `handoff: proof of ${record.path}`,
    identity: 'proof',
  };
  await publish(repository, plan, { ...options, commit: options.commit ?? false });
  return path;
}

/** A folder that is not there was not meant; and what is in `.handoff` has its own place there. SPEC §2.2 */
function assertInWorkTree({ dirs: { topLevel } }: Directories, file: string): string {
  const folder = dirname(file);
  if (!existsSync(folder))
    throw new HandoffError('usage', `There is no folder ${folder} to write the proof to.`, { hint: 'Make it first.' });
  const path = topLevel === null ? '..' : relative(topLevel, join(realpathSync(folder), basename(file)));
  if (path.split(sep)[0] !== ROOT) return file;
  throw new HandoffError('usage', `${path} is no place for a proof.`, {
    hint: `Without -o it goes to ${ROOT}/proofs; with -o anywhere outside ${ROOT}.`,
  });
}

function noFile(): HandoffError {
  return new HandoffError('usage', 'Expected a file to write to, found an empty name.', {
    hint: 'Name a file: -o FILE, or -o - to print it.',
  });
}

/** A pipe, a device or a link is written through, and not put out of the way. */
function writeTo(file: string, bytes: Uint8Array): string {
  guarded(file, () => {
    const isOther = lstatSync(file, { throwIfNoEntry: false })?.isFile() === false;
    if (isOther) writeFileSync(file, bytes);
    else replaceBy(file, (temporary) => writeSynced(temporary, bytes));
  });
  return file;
}

function noWorkTree(): HandoffError {
  return new HandoffError('usage', 'This is a bare repository: there is no .handoff/proofs to write to.', {
    hint: 'Name a file: -o FILE, or -o - to print it.',
  });
}
