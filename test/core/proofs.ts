import { sign } from 'node:crypto';
import { toHex } from '../../src/core/bytes/bytes.ts';
import type { YamlMap } from '../../src/core/bytes/yaml.ts';
import { formatCheckpoint, ledgerOrigin } from '../../src/core/ledger/checkpoint.ts';
import {
  cosignatureMessage,
  formatNote,
  formatVerifierKey,
  type NoteSignature,
  noteMessage,
  noteSignature,
} from '../../src/core/ledger/note.ts';
import type { Proof, ProofLeaf, ProofPath } from '../../src/core/ledger/proof.ts';
import { recordName, sessionFolder } from '../../src/core/paths.ts';
import { parseRecord } from '../../src/core/record/record.ts';
import { recordId } from '../../src/core/record/verify.ts';
import { inclusionProof, merkleRoot } from '../../src/core/seal/merkle.ts';
import { nodeHashes } from '../../src/crypto.ts';
import { signedFile, type TestKey, testKey } from './examples.ts';
import { AT, type Draft, sessionId } from './sessions.ts';

export const REPO = 'ab'.repeat(32);
export const ORIGIN = ledgerOrigin(REPO);
export const LEDGER_KEY = testKey('ada');
export const VKEY = formatVerifierKey(ORIGIN, LEDGER_KEY.bytes, nodeHashes);
const WITNESS = testKey('ben');
export const WITNESS_KEY = formatVerifierKey('witness.example/w1', WITNESS.bytes, nodeHashes, 'cosignature');

export interface Owner {
  identity?: string;
  key?: TestKey;
  repo?: string;
  /** Of a `.md` record. */
  body?: string;
  /** Instead of the tree that the records have. */
  seal?: YamlMap;
}

/** The records of a session, and a seal over all of them. */
export function sealedSession(number: number, drafts: readonly Draft[], owner: Owner = {}): ProofLeaf[] {
  const leaves: ProofLeaf[] = [];
  for (const draft of drafts) leaves.push(makeLeaf(number, draft, leaves, owner));
  const root = toHex(merkleRoot(leaves.map(({ bytes }) => bytes)));
  const seal: Draft = { kind: 'seal', tree_size: leaves.length, root, ...owner.seal };
  return [...leaves, makeLeaf(number, seal, leaves, owner)];
}

export function makeLeaf(number: number, draft: Draft, before: readonly ProofLeaf[], owner: Owner = {}): ProofLeaf {
  const { identity = 'donna', key = testKey('donna'), repo = REPO, body = 'Text.\n' } = owner;
  const { kind, ...own } = draft;
  const seq = before.length + 1;
  const fields = {
    ...{ handoff: 1, kind, repo, session_id: sessionId(number), identity, seq },
    ...{ prev: before.at(-1)?.id ?? null, clock: seq, at: AT, ...own },
  } as YamlMap;
  const bytes = signedFile(fields, kind === 'baton' || kind === 'decision' ? body : null, key);
  const path = `.handoff/sessions/${identity}/${sessionFolder(AT, sessionId(number))}/${recordName(seq, kind)}`;
  return { path, id: recordId(parseRecord(bytes).signedBytes, nodeHashes), key: key.line, bytes };
}

export interface Signing {
  origin?: string;
  key?: TestKey;
  name?: string;
  witness?: boolean;
  /** Whether the log signs as a witness would. */
  asWitness?: boolean;
}

/** The checkpoint of a ledger with these leaves, signed. */
export function signedCheckpoint(leaves: readonly Uint8Array[], signing: Signing = {}): Uint8Array {
  const { origin = ORIGIN, key = LEDGER_KEY, name = origin, witness = false, asWitness = false } = signing;
  const extensions = [`sessions ${'4b'.repeat(20)}`];
  const text = formatCheckpoint({ origin, size: leaves.length, root: merkleRoot(leaves), extensions });
  const bytes = new Uint8Array(sign(null, noteMessage(text), key.privateKey));
  const log = asWitness ? cosign(text, name, key) : noteSignature(name, key.bytes, bytes, nodeHashes);
  return formatNote({ text, signatures: witness ? [log, cosign(text, 'witness.example/w1', WITNESS)] : [log] });
}

/** A proof of record `index` of the first session in a ledger of the seals of all sessions. */
export function proofOf(sessions: readonly ProofLeaf[][], index: number, signing: Signing = {}): Proof {
  const [session] = sessions as [ProofLeaf[]];
  const seal = session.at(-1)!;
  const record = session[index]!;
  const seals = sessions.map((leaves) => leaves.at(-1)!.bytes);
  return {
    repo: REPO,
    record,
    session:
      record === seal
        ? null
        : pathTo(
            session.slice(0, -1).map(({ bytes }) => bytes),
            index,
          ),
    seal,
    ledger: pathTo(seals, 0),
    vkey: VKEY,
    note: signedCheckpoint(seals, signing),
  };
}

export function pathTo(leaves: readonly Uint8Array[], index: number): ProofPath {
  return { index, size: leaves.length, siblings: inclusionProof(leaves, index) };
}

function cosign(text: string, name: string, key: TestKey, time = 1_679_315_147): NoteSignature {
  const bytes = Buffer.alloc(72);
  bytes.writeBigUInt64BE(BigInt(time));
  bytes.set(sign(null, cosignatureMessage(text, time), key.privateKey), 8);
  return noteSignature(name, key.bytes, new Uint8Array(bytes), nodeHashes, 'cosignature');
}
