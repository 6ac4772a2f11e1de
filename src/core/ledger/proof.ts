import { equalBytes, fromHex, toHex } from '../bytes/bytes.ts';
import type { HandoffError } from '../error.ts';
import type { RecordHead, SealRecord } from '../generated/types.ts';
import { parseSessionFolder, ROOT, recordName } from '../paths.ts';
import { parseRecord } from '../record/record.ts';
import { type Suite, type VerifiedRecord, verifyRecord } from '../record/verify.ts';
import { leafHash, verifyInclusion } from '../seal/merkle.ts';
import { mendEnds } from '../text/text.ts';
import { fingerprint, parsePublicKey } from '../trust/sshsig.ts';
import type { Checkpoint } from './checkpoint.ts';
import { checkNote, type KeySource, type ProofKeys, parseKeys } from './proof-checkpoint.ts';
import { asProofError, assertEqual, OTHER_ENDS, proofError } from './proof-error.ts';

/** A record, whole, with its place and the key that signed it. */
export interface ProofLeaf {
  path: string;
  id: string;
  /** An `ssh-ed25519` line. */
  key: string;
  bytes: Uint8Array;
}

/** From a leaf to a root: RFC 6962. */
export interface ProofPath {
  index: number;
  size: number;
  siblings: Uint8Array[];
}

/** Proves that a record is in a ledger: the record leads to the session root in the seal, and the seal to the ledger root in the checkpoint. */
export interface Proof {
  repo: string;
  record: ProofLeaf;
  /** Null when the record is the seal itself. */
  session: ProofPath | null;
  /** The same as `record` when that is the seal. */
  seal: ProofLeaf;
  ledger: ProofPath;
  vkey: string;
  /** The signed checkpoint, byte for byte. */
  note: Uint8Array;
}

export interface ProofCheck {
  record: string;
  path: string;
  kind: string;
  identity: string;
  /** The fingerprint of the key that signed the record. */
  fingerprint: string;
  /** When its writer says that it was written. */
  at: string;
  session_id: string;
  session_root: string;
  origin: string;
  ledger_size: number;
  ledger_root: string;
  /** What was checked, in order. */
  checked: string[];
  witnesses: string[];
  /** Whether the checkpoint is signed by a key that was given, and not only by the one the proof brought along. */
  trusted: boolean;
  /** Whose key that is; null where it is not trusted. */
  trusted_by: KeySource | null;
}

/** Checks every step, and that all of them speak of the same record, session, identity and repository. */
export async function checkProof(
  proof: Proof,
  keys: ProofKeys,
  suite: Suite,
  record?: Uint8Array,
): Promise<ProofCheck> {
  const given = parseKeys(keys, suite);
  if (record && !equalBytes(record, proof.record.bytes)) throw otherFile(record, proof.record);
  const leaf = await checkLeaf('record', proof.record, proof.repo, suite);
  const seal = proof.session === null ? leaf : await checkLeaf('seal', proof.seal, proof.repo, suite);
  if (seal.kind !== 'seal') throw proofError('seal kind', 'seal', seal.kind);
  assertSeal(seal.fields, proof);
  if (proof.session !== null) checkSession(proof.session, leaf.fields, seal.fields, proof, suite);
  const { checkpoint, witnesses } = await checkNote(proof, given, suite);
  checkLedger(proof, checkpoint, suite);
  return {
    record: leaf.id,
    path: proof.record.path,
    kind: leaf.kind,
    identity: leaf.fields.identity,
    fingerprint: leaf.fingerprint,
    at: leaf.fields.at,
    session_id: leaf.fields.session_id,
    session_root: seal.fields.root,
    origin: checkpoint.origin,
    ledger_size: checkpoint.size,
    ledger_root: toHex(checkpoint.root),
    checked: [
      ...['record', 'record_signature'],
      ...(proof.session === null ? [] : ['session', 'seal_signature']),
      ...['ledger', 'checkpoint'],
      ...witnesses.map((name) => `witness ${name}`),
    ],
    witnesses,
    trusted: given.vkeys.length > 0,
    trusted_by: given.vkeys.length > 0 ? given.source : null,
  };
}

function otherFile(given: Uint8Array, { path, bytes }: ProofLeaf): HandoffError {
  const hint = equalBytes(mendEnds(given), bytes)
    ? OTHER_ENDS
    : `The proof is of ${path}. Give that file, byte for byte, or leave out --record.`;
  return proofError('record', 'the bytes of the file that was given', 'others', hint);
}

async function checkLeaf(part: string, leaf: ProofLeaf, repo: string, suite: Suite): Promise<VerifiedRecord> {
  const record = await readLeaf(leaf, suite).catch((error) => {
    throw asProofError(part, error);
  });
  assertEqual(`${part} id`, leaf.id, record.id);
  assertEqual(`${part} repo`, repo, record.fields.repo);
  assertProofPath(part, leaf.path, record);
  return record;
}

async function readLeaf({ bytes, key }: ProofLeaf, suite: Suite): Promise<VerifiedRecord> {
  const publicKey = parsePublicKey(key).key;
  const keys = [{ bytes: publicKey, fingerprint: fingerprint(publicKey, suite) }];
  return verifyRecord(parseRecord(bytes), keys, suite);
}

/** As in the tree: the path names the identity, the session, the number and the kind. SPEC §6.2 */
function assertProofPath(part: string, path: string, { kind, fields }: VerifiedRecord): void {
  const { identity, session_id, seq } = fields;
  const folder = path.split('/')[3] ?? '';
  const sid8 = session_id.slice(0, 8);
  if (parseSessionFolder(folder)?.sid8 !== sid8) throw proofError(`${part} path`, `a folder of session ${sid8}`, path);
  assertEqual(`${part} path`, `${ROOT}/sessions/${identity}/${folder}/${recordName(seq, kind)}`, path);
}

/** SPEC §11.1 M76, §11.7 M90: a seal is over all that came before it. */
function assertSeal({ seq, tree_size }: SealRecord, { session, record, seal }: Proof): void {
  assertEqual('seal tree_size', seq - 1, tree_size);
  if (session === null && !equalBytes(record.bytes, seal.bytes))
    throw proofError('session', 'a path from the record to the seal', 'none');
}

function checkSession(session: ProofPath, record: RecordHead, seal: SealRecord, proof: Proof, suite: Suite): void {
  assertEqual('seal session_id', record.session_id, seal.session_id);
  assertEqual('seal identity', record.identity, seal.identity);
  assertEqual('seal folder', folderOf(proof.record.path), folderOf(proof.seal.path));
  assertEqual('session index', record.seq - 1, session.index);
  assertEqual('session size', seal.tree_size, session.size);
  assertIncluded('session', proof.record, session, fromHex(seal.root)!, suite);
}

function checkLedger({ ledger, seal }: Proof, { size, root }: Checkpoint, suite: Suite): void {
  assertEqual('ledger size', size, ledger.size);
  assertIncluded('ledger', seal, ledger, root, suite);
}

function assertIncluded(part: string, { bytes }: ProofLeaf, path: ProofPath, root: Uint8Array, suite: Suite): void {
  const { index, size, siblings } = path;
  if (verifyInclusion(leafHash(bytes, suite.sha256), index, size, siblings, root, suite.sha256)) return;
  throw proofError(part, `a path to the root ${toHex(root)}`, 'one that does not lead there');
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
