import { toHex } from '../../core/bytes/bytes.ts';
import { HandoffError } from '../../core/error.ts';
import { MAX_SEAL_BYTES } from '../../core/limits.ts';
import { parseRecordName, parseSessionFolder, ROOT } from '../../core/paths.ts';
import type { Suite } from '../../core/record/verify.ts';
import { leafHash } from '../../core/seal/merkle.ts';
import { isRevoked } from '../../core/trust/key-standing.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { FOLDERS_AT_ONCE, limiter } from '../source/limit.ts';
import { newEntries } from '../source/new-entries.ts';
import { type Entry, FILE, FOLDER, type Source } from '../source/source.ts';
import { auditSession } from '../tree/session.ts';
import { findLeaves, inconsistent, type Ledger } from './ledger.ts';

const SESSIONS_LINE = 'sessions ';

/** The line of a checkpoint that names the folder of sessions whose seals are all in it. SPEC §11.3 */
export function sessionsLine(sessions: string): string {
  return `${SESSIONS_LINE}${sessions}`;
}

/** The folder that a checkpoint names; null where it names none. */
export function namedSessions({ checkpoint }: Ledger): string | null {
  const oid = checkpoint.extensions.find((line) => line.startsWith(SESSIONS_LINE))?.slice(SESSIONS_LINE.length);
  return oid !== undefined && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(oid) ? oid : null;
}

interface Context {
  source: Source;
  trust: Trust;
  suite: Suite;
}

/**
 * SPEC §11.4: a ledger has every seal of the folder that its checkpoint names, or the next append would pass over what is missing
 * for ever. Seals of sessions that do not hold are left out. What `before` has named was looked at when that came;
 * `found` are files that are known to be in it.
 */
export async function assertComplete(
  ledger: Ledger,
  before: Ledger | null,
  context: Context,
  found: readonly Entry[] = [],
): Promise<void> {
  const { source, suite } = context;
  const named = await folderNamed(source, ledger);
  if (named === null) return;
  const old = before && (await folderNamed(source, before));
  const oldSeals = new Set(found.map(({ path, oid }) => `${oid} ${path}`));
  const seals = (await newSeals(source, old, named)).filter(({ file }) => !oldSeals.has(`${file.oid} ${file.path}`));
  const leaves = await leavesOf(source, seals, suite);
  const places = leaves.length > 0 ? await findLeaves(ledger, leaves) : new Map();
  for (const [at, seal] of seals.entries())
    if (!places.has(toHex(leaves[at]!)) && (await isVerified(seal, context))) throw leftOut(seal.file, ledger);
}

/** Whether this clone can tell what a checkpoint says that it has. */
export async function hasNamed(source: Source, ledger: Ledger): Promise<boolean> {
  return namedSessions(ledger) === null || (await folderNamed(source, ledger)) !== null;
}

/** Null where there is none, as in a shallow clone. */
async function folderNamed(source: Source, ledger: Ledger): Promise<Entry | null> {
  const oid = namedSessions(ledger);
  if (oid === null || source.oid === null) return null;
  const folder = { path: `${ROOT}/sessions`, name: 'sessions', mode: FOLDER, oid };
  try {
    await source.list(folder);
    return folder;
  } catch (error) {
    if (error instanceof HandoffError && error.code === 'io') return null;
    throw error;
  }
}

interface Sealed {
  owner: string;
  folder: Entry;
  file: Entry;
}

/** The seals of a folder of sessions that another one has not. */
async function newSeals(source: Source, old: Entry | null, now: Entry): Promise<Sealed[]> {
  const owners = await newEntries(source, old, now);
  const seals: Sealed[] = [];
  const inTurn = limiter(FOLDERS_AT_ONCE);
  for (const owner of owners.entries.filter(({ mode }) => mode === FOLDER)) {
    const { entries, before } = await newEntries(source, owners.before.get(owner.name) ?? null, owner);
    const folders = entries.filter(({ name, mode }) => mode === FOLDER && parseSessionFolder(name));
    const files = folders.map((folder) =>
      inTurn(1, async () => {
        const added = await newEntries(source, before.get(folder.name) ?? null, folder);
        return added.entries.filter(isSeal).map((file) => ({ owner: owner.name, folder, file }));
      }),
    );
    for (const found of await Promise.all(files)) for (const seal of found) seals.push(seal);
  }
  return seals;
}

function isSeal({ name, mode }: Entry): boolean {
  return mode === FILE && parseRecordName(name)?.kind === 'seal';
}

async function leavesOf(source: Source, seals: readonly Sealed[], suite: Suite): Promise<Uint8Array[]> {
  const files = seals.map(({ file }) => file);
  const contents = await source.readAll(files, MAX_SEAL_BYTES);
  // what is too large to be a seal is in no ledger
  return contents.map((bytes) => leafHash(bytes instanceof HandoffError ? new Uint8Array() : bytes, suite.sha256));
}

/** Whether an append would have had to take it. One whose author was distrusted for a while may have come too late. */
async function isVerified({ folder, owner, file }: Sealed, context: Context): Promise<boolean> {
  let isSound = !wasDistrusted(owner, context.trust);
  const limit = <T>(_: number, task: () => Promise<T>): Promise<T> => task();
  await auditSession(folder, owner, { ...context, limit, onFile() {} }, ({ severity, path }) => {
    if (severity === 'error' || path === file.path) isSound = false;
  });
  return isSound;
}

/** Whether a key signed an identity in that was revoked since: until somebody else did, nothing of it counted. SPEC §5.5 */
function wasDistrusted(owner: string, { identities }: Trust): boolean {
  const lines = identities.get(owner)?.document.signatures ?? [];
  return lines.some(({ identity, fingerprint }) => {
    const key = identities.get(identity)?.keys.find((each) => each.fingerprint === fingerprint);
    return key !== undefined && isRevoked(key);
  });
}

function leftOut({ path }: Entry, { checkpoint: { size } }: Ledger): HandoffError {
  return inconsistent(
    `${path} is in the folder of sessions that the checkpoint of ${size} seals says it has all of, and is not in the ledger.`,
    { path },
    'Append what was left out, on the protected branch: git handoff ledger append --all',
  );
}
