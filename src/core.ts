/** `git-handoff/core`: the protocol, pure. Runs in Node and in a browser, with no polyfills. */
export { fromBase64, fromHex, toBase64, toHex } from './core/bytes/bytes.ts';
export { type Hashes, sha256, sha512 } from './core/bytes/hash.ts';
export { readYaml, type Shape, type YamlMap, type YamlValue } from './core/bytes/yaml.ts';
export { writeYaml } from './core/bytes/yaml-write.ts';
export { type ErrorCode, type Finding, type FindingCode, HandoffError } from './core/error.ts';
export { type Checkpoint, formatCheckpoint, ledgerOrigin, parseCheckpoint } from './core/ledger/checkpoint.ts';
export { type LogGrowth, planGrowth } from './core/ledger/log-growth.ts';
export {
  cosignatureMessage,
  formatNote,
  formatVerifierKey,
  type KeyType,
  type Note,
  type NoteSignature,
  noteMessage,
  noteSignature,
  type OpenedNote,
  openNote,
  parseNote,
  parseVerifierKey,
  type Verifier,
} from './core/ledger/note.ts';
export {
  checkProof,
  type Proof,
  type ProofCheck,
  type ProofLeaf,
  type ProofPath,
} from './core/ledger/proof.ts';
export type { ProofKeys } from './core/ledger/proof-checkpoint.ts';
export { formatProof, parseProof } from './core/ledger/proof-text.ts';
export {
  consistencyFromTiles,
  formatEntries,
  inclusionFromTiles,
  parseEntries,
  parseTilePath,
  type ReadTile,
  rootFromTiles,
  TILE_WIDTH,
  type Tile,
  tilePath,
  tilesOf,
} from './core/ledger/tiles.ts';
export { isIdentityName, isTaskId } from './core/names.ts';
export { identityPath, policyPath, recordName, sessionFolder } from './core/paths.ts';
export { type ChainFault, chainFaults, type Link, toLink } from './core/record/chain.ts';
export { attachSignatures, formatRecord, type UnsignedRecord } from './core/record/format.ts';
export { type DocumentKind, type FieldsOf, type Kind, namespaceOf, type RecordKind } from './core/record/kinds.ts';
export { hasKind, isDocument, isSessionRecord, type ParsedRecord, parseRecord } from './core/record/record.ts';
export type { Baton, Decision, PlacedRecord, RecordSummary } from './core/record/record-summary.ts';
export { signedMessage } from './core/record/signed-message.ts';
export type { Signature } from './core/record/signed-parts.ts';
export { summarise } from './core/record/summary.ts';
export { type PublicKey, recordId, type Suite, type VerifiedRecord, verifyRecord } from './core/record/verify.ts';
export {
  consistencyProof,
  inclusionProof,
  leafHash,
  merkleRoot,
  verifyConsistency,
  verifyInclusion,
} from './core/seal/merkle.ts';
export { type Seal, type SealClaim, type SealFault, sealFaults, type TreeHead, toSeal } from './core/seal/seal.ts';
export { addSession, emptyHistory, type History, type Wip } from './core/session/history.ts';
export {
  findSession,
  lastDecisions,
  newestBaton,
  openWip,
  pendingSignals,
  recentDeltas,
  successorOf,
  taskStatus,
} from './core/session/history-queries.ts';
export type { SessionSummary } from './core/session/session-summary.ts';
export type { Signal } from './core/session/signals.ts';
export type { TaskState, TaskStatus } from './core/task/state.ts';
export { escapeInvisible } from './core/text/text.ts';
export { browserSuite } from './core/trust/browser-suite.ts';
export { verifyEd25519 } from './core/trust/ed25519.ts';
export {
  armourSshsig,
  fingerprint,
  formatPublicKey,
  parsePublicKey,
  parseSshsig,
  type Sshsig,
} from './core/trust/sshsig.ts';
export type { Ed25519Verify } from './core/trust/strict.ts';
export { type Identity, type Policy, readIdentity, readPolicy, type Trust } from './core/trust/trust.ts';
