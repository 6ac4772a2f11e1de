/** `git-handoff/core`: the protocol, pure. Runs in Node and in a browser, with no polyfills. */
export { fromBase64, fromHex, toBase64, toHex } from './core/bytes.ts';
export { type ChainFault, chainFaults, type Link, toLink } from './core/chain.ts';
export { type Checkpoint, formatCheckpoint, ledgerOrigin, parseCheckpoint } from './core/checkpoint.ts';
export { verifyEd25519 } from './core/ed25519.ts';
export { type ErrorCode, type Finding, type FindingCode, HandoffError } from './core/error.ts';
export { attachSignatures, formatRecord, type UnsignedRecord } from './core/format.ts';
export { type Hashes, sha256, sha512 } from './core/hash.ts';
export { addSession, emptyHistory, type History, type Wip } from './core/history.ts';
export {
  findSession,
  lastDecisions,
  newestBaton,
  openWip,
  pendingSignals,
  recentDeltas,
  successorOf,
  taskStatus,
} from './core/history-queries.ts';
export { type DocumentKind, type FieldsOf, type Kind, namespaceOf, type RecordKind } from './core/kinds.ts';
export { type LogGrowth, planGrowth } from './core/log-growth.ts';
export {
  consistencyProof,
  inclusionProof,
  leafHash,
  merkleRoot,
  verifyConsistency,
  verifyInclusion,
} from './core/merkle.ts';
export { isIdentityName, isTaskId } from './core/names.ts';
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
} from './core/note.ts';
export { identityPath, policyPath, recordName, sessionFolder } from './core/paths.ts';
export {
  checkProof,
  type Proof,
  type ProofCheck,
  type ProofLeaf,
  type ProofPath,
} from './core/proof.ts';
export type { ProofKeys } from './core/proof-checkpoint.ts';
export { formatProof, parseProof } from './core/proof-text.ts';
export {
  hasKind,
  isDocument,
  isSessionRecord,
  type ParsedRecord,
  parseRecord,
  type Signature,
} from './core/record.ts';
export type { Baton, Decision, PlacedRecord, RecordSummary } from './core/record-summary.ts';
export { type Seal, type SealClaim, type SealFault, sealFaults, type TreeHead, toSeal } from './core/seal.ts';
export type { SessionSummary } from './core/session-summary.ts';
export type { Signal } from './core/signals.ts';
export { armourSshsig, fingerprint, formatPublicKey, parsePublicKey, parseSshsig, type Sshsig } from './core/sshsig.ts';
export type { Ed25519Verify } from './core/strict.ts';
export { browserSuite } from './core/suite.ts';
export { summarise } from './core/summary.ts';
export type { TaskState, TaskStatus } from './core/task-state.ts';
export { escapeInvisible } from './core/text.ts';
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
} from './core/tiles.ts';
export { type Identity, type Policy, readIdentity, readPolicy, type Trust } from './core/trust.ts';
export {
  type PublicKey,
  recordId,
  type Suite,
  signedMessage,
  type VerifiedRecord,
  verifyRecord,
} from './core/verify.ts';
export { readYaml, type Shape, type YamlMap, type YamlValue } from './core/yaml.ts';
export { writeYaml } from './core/yaml-write.ts';
