import { createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { YamlMap } from '../src/core/bytes/yaml.ts';
import { recordName, sessionFolder } from '../src/core/paths.ts';
import { attachSignatures, formatRecord } from '../src/core/record/format.ts';
import type { RecordKind } from '../src/core/record/kinds.ts';
import { signedMessage } from '../src/core/record/signed-message.ts';
import { recordId } from '../src/core/record/verify.ts';
import { nodeHashes } from '../src/crypto.ts';
import { type Handoff, openRepository } from '../src/index.ts';
import { generateKey } from '../src/journal/keys/keys.ts';
import { git, isolatedEnv, temporaryDirectory } from './temporary.ts';

/** A temporary repository with git-handoff in it, and the keys beside it. */
export interface Place {
  dir: string;
  keys: string;
  env: NodeJS.ProcessEnv;
  root: string;
  handoff: Handoff;
  warnings: string[];
}

export function emptyPlace(...initFlags: string[]): Place {
  const base = temporaryDirectory();
  const dir = join(base, 'work');
  const keys = join(base, 'keys');
  git('/', 'init', '--quiet', '--initial-branch=main', ...initFlags, dir);
  return openPlace(dir, keys, '');
}

export function openPlace(dir: string, keys: string, root: string): Place {
  const env = { ...isolatedEnv, HANDOFF_KEYS: keys };
  const warnings: string[] = [];
  return { dir, keys, env, root, warnings, handoff: openRepository(dir, { env, warn: (text) => warnings.push(text) }) };
}

/** Initialised, with an agent called donna. */
export async function initialised(...initFlags: string[]): Promise<Place> {
  const place = emptyPlace(...initFlags);
  const { root } = await place.handoff.init();
  await place.handoff.identity.add({ name: 'donna' });
  return { ...place, root };
}

export function privateKey({ keys, root }: Place, identity: string): KeyObject {
  return createPrivateKey(readFileSync(join(keys, root.slice(0, 12), `${identity}.pem`)));
}

export const newKey = generateKey;

export interface Draft {
  kind: RecordKind;
  body?: string;
  /** The keys of the kind; common keys may be overridden to forge a record. */
  [key: string]: unknown;
}

export interface Written {
  path: string;
  id: string;
  bytes: Uint8Array;
}

export interface SessionOptions {
  identity?: string;
  key?: KeyObject;
  sessionId?: string;
  at?: string;
  clock?: number;
}

/** Signs a chain of records as the protocol says and writes them to the work tree, unstaged. */
export function writeSession(place: Place, drafts: Draft[], options: SessionOptions = {}): Written[] {
  const identity = options.identity ?? 'donna';
  const key = options.key ?? privateKey(place, identity);
  const sessionId = options.sessionId ?? randomUUID();
  const at = options.at ?? '2026-02-20T14:30:25.123Z';
  const folder = `.handoff/sessions/${identity}/${sessionFolder(at, sessionId)}`;
  const written: Written[] = [];
  for (const [index, { kind, body, ...fields }] of drafts.entries()) {
    const seq = index + 1;
    const common = {
      handoff: 1,
      kind,
      repo: place.root,
      session_id: sessionId,
      identity,
      seq,
      prev: written.at(-1)?.id ?? null,
      clock: (options.clock ?? 0) + seq,
      at,
    };
    const record = signRecord({ ...common, ...fields } as YamlMap & { kind: RecordKind }, key, body);
    written.push({ ...record, path: `${folder}/${recordName(seq, kind)}` });
  }
  for (const { path, bytes } of written) writeBytes(place.dir, path, bytes);
  return written;
}

export function signRecord(
  fields: YamlMap & { kind: RecordKind },
  key: KeyObject,
  body?: string,
): Omit<Written, 'path'> {
  const unsigned = formatRecord(fields, body ?? null);
  const bytes = new Uint8Array(sign(null, signedMessage(unsigned, nodeHashes), key));
  const signed = attachSignatures(unsigned, [{ identity: '', fingerprint: '', bytes }]);
  return { id: recordId(unsigned.signedBytes, nodeHashes), bytes: signed };
}

export function writeBytes(dir: string, path: string, bytes: Uint8Array | string): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), bytes);
}

export function commitAll({ dir }: Place, message = 'records'): string {
  git(dir, 'add', '--all');
  git(dir, 'commit', '--quiet', '--allow-empty', '--message', message);
  return git(dir, 'rev-parse', 'HEAD');
}

/** A session that could be anybody's. */
export const STORY: Draft[] = [
  { kind: 'start', intent: 'set up the package' },
  { kind: 'note', text: 'npm and git are all it needs' },
  { kind: 'decision', title: 'Use YAML', status: 'accepted', body: 'People read it in reviews.\n' },
  { kind: 'baton', summary: 'half way', body: '# Current work\n\nHalf way there.\n' },
];
