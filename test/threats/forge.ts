import { type KeyObject, sign } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { YamlMap } from '../../src/core/bytes/yaml.ts';
import { attachSignatures, formatRecord } from '../../src/core/record/format.ts';
import type { DocumentKind, Kind } from '../../src/core/record/kinds.ts';
import { parseAs } from '../../src/core/record/record.ts';
import { signedMessage } from '../../src/core/record/signed-message.ts';
import { recordId } from '../../src/core/record/verify.ts';
import { formatPublicKey } from '../../src/core/trust/sshsig.ts';
import { nodeHashes } from '../../src/crypto.ts';
import { openRepository } from '../../src/index.ts';
import { toSigner } from '../../src/journal/keys/keys.ts';
import { commitAll, openPlace, type Place, writeBytes } from '../handoff.ts';
import { disposableDirectory, git, gitInput, temporaryDirectory } from '../temporary.ts';

/**
 * One initialised repository with the agents donna and erin, made once for a file of tests. What it returns makes a
 * copy, keys included, that belongs to the running test.
 */
export function template(prepare: (place: Place) => Promise<unknown> | unknown = () => {}): () => Place {
  const { path, remove } = disposableDirectory();
  let root = '';
  beforeAll(async () => {
    const dir = join(path, 'work');
    // without the sample hooks there is a third as much to copy
    git('/', 'init', '--quiet', '--initial-branch=main', '--template=', dir);
    for (const folder of ['hooks', 'info']) mkdirSync(join(dir, '.git', folder));
    const place = openPlace(dir, join(path, 'keys'), '');
    root = (await place.handoff.init()).root;
    await place.handoff.identity.add({ name: 'donna' });
    await place.handoff.identity.add({ name: 'erin' });
    await prepare({ ...place, root });
    await place.handoff.close();
  });
  afterAll(remove);
  return () => {
    const copy = temporaryDirectory();
    cpSync(path, copy, { recursive: true, verbatimSymlinks: true });
    return reopen({ ...openPlace(join(copy, 'work'), join(copy, 'keys'), root) });
  };
}

/** The same place as a new process sees it. */
export function reopen(place: Place, dir = place.dir, env: NodeJS.ProcessEnv = place.env, build?: string): Place {
  const warnings: string[] = [];
  const handoff = openRepository(dir, { env, warn: (text) => warnings.push(text), ...(build ? { build } : {}) });
  onTestFinished(() => handoff.close());
  return { ...place, dir, env, warnings, handoff };
}

/** What a new process finds: `code path`, the path without `.handoff/`. */
export async function findings(place: Place, options: { rev?: string; staged?: boolean } = {}): Promise<string[]> {
  const { handoff } = reopen(place);
  const { findings } = await handoff.verify(options);
  return findings.map(({ code, path }) => `${code} ${path?.replace(/^\.handoff\//, '')}`);
}

/** The same, each folder cut off: `code 0002-note.yaml`. */
export async function codes(place: Place, options: { rev?: string; staged?: boolean } = {}): Promise<string[]> {
  return (await findings(place, options)).map((line) => line.replace(/ .*\//, ' '));
}

export async function commitAndFind(place: Place): Promise<string[]> {
  commitAll(place);
  return findings(place);
}

export type NamedKey = [identity: string, key: KeyObject];

/** A document that these keys signed, whatever it says. */
export function signDocument(fields: YamlMap & { kind: DocumentKind }, signers: NamedKey[]): Uint8Array {
  return signText(fields.kind, new TextDecoder().decode(formatRecord(fields).signedBytes), signers);
}

/** The same for text that no writer of ours would make. */
export function signText(kind: Kind, text: string, signers: NamedKey[]): Uint8Array {
  const signedBytes = new TextEncoder().encode(text);
  const unsigned = { kind, signedBytes, offset: signedBytes.length };
  const message = signedMessage(unsigned, nodeHashes);
  const lines = signers.map(([identity, key]) => ({
    identity,
    fingerprint: printOf(key),
    bytes: new Uint8Array(sign(null, message, key)),
  }));
  return attachSignatures(unsigned, lines);
}

export function printOf(key: KeyObject): string {
  return toSigner(key).publicKey.fingerprint;
}

export function publicLine(key: KeyObject): string {
  return formatPublicKey(toSigner(key).publicKey.bytes);
}

export function identityOf(
  place: Place,
  name: string,
  key: KeyObject,
  changes: YamlMap = {},
): YamlMap & { kind: 'identity' } {
  const common = { handoff: 1, kind: 'identity' as const, repo: place.root, version: 1, prev: null };
  const at = '2026-02-20T14:30:25.123Z';
  return { ...common, at, name, role: 'agent', keys: [{ key: publicLine(key), state: 'active' }], ...changes };
}

/** The policy after version `prior`, as an honest maintainer would write it but for `changes`. */
export function policyAfter(place: Place, prior: number, changes: YamlMap = {}): YamlMap & { kind: 'policy' } {
  const { fields, signedBytes } = parseAs(readFileSync(join(place.dir, policyFile(prior))), 'policy');
  const { nonce: _, repo: __, handoff, kind: ___, ...rest } = fields;
  const prev = recordId(signedBytes, nodeHashes);
  return { handoff, kind: 'policy', repo: place.root, ...rest, version: prior + 1, prev, ...changes };
}

export function policyFile(version: number): string {
  return `.handoff/policy/${String(version).padStart(4, '0')}.yaml`;
}

export function writePolicy(
  place: Place,
  version: number,
  fields: YamlMap & { kind: 'policy' },
  signers: NamedKey[],
): void {
  writeBytes(place.dir, policyFile(version), signDocument(fields, signers));
}

export interface RawEntry {
  mode: string;
  name: string | Uint8Array;
  oid: string;
}

/** A tree object as nobody's git would write it: any mode, any name, any order, twice. */
export function rawTree(dir: string, entries: RawEntry[]): string {
  const parts = entries.flatMap(({ mode, name, oid }) => [
    Buffer.from(`${mode} `),
    Buffer.from(name as string),
    Buffer.of(0),
    Buffer.from(oid, 'hex'),
  ]);
  return gitInput(dir, Buffer.concat(parts), 'hash-object', '-t', 'tree', '-w', '--literally', '--stdin');
}

function listTree(dir: string, rev: string): RawEntry[] {
  return git(dir, 'ls-tree', '-z', rev)
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const [, mode = '', oid = '', name = ''] = /^0*(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line)!;
      return { mode, oid, name };
    });
}

/** The tree of a revision with the entries of one folder changed, as a commit. */
export function alterTree(dir: string, folder: string, alter: (entries: RawEntry[]) => RawEntry[]): string {
  const rebuild = (rev: string, steps: string[]): string => {
    const entries = listTree(dir, rev);
    const [step, ...rest] = steps;
    if (step === undefined) return rawTree(dir, alter(entries));
    return rawTree(
      dir,
      entries.map((entry) => (entry.name === step ? { ...entry, oid: rebuild(entry.oid, rest) } : entry)),
    );
  };
  const tree = rebuild('HEAD^{tree}', folder === '' ? [] : folder.split('/'));
  return git(dir, 'commit-tree', tree, '-p', 'HEAD', '-m', 'forged');
}

export function blob(dir: string, bytes: string | Uint8Array): string {
  return gitInput(dir, bytes, 'hash-object', '-w', '--stdin');
}
