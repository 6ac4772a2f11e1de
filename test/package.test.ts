import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, resolve } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';
import { git, temporaryDirectory } from './temporary.ts';

// What others get: the entries of package.json, as they are built. Nothing here looks into src.

const ROOT = resolve(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const CORE = [
  'verifyEd25519',
  'parseRecord',
  'leafHash',
  'merkleRoot',
  'inclusionProof',
  'consistencyProof',
  'verifyInclusion',
  'verifyConsistency',
];
const MAIN = ['verifyEd25519', 'openRepository', 'HandoffError'];

beforeAll(() => {
  const missing = Object.values(manifest.exports as Record<string, string | Record<string, string>>)
    .flatMap((target) => (typeof target === 'string' ? [target] : Object.values(target)))
    .filter((path) => !path.includes('*') && !existsSync(join(ROOT, path)));
  if (missing.length > 0) throw new Error(`Not built: ${missing.join(', ')} missing. Run: npm run build`);
});

describe('the entries', () => {
  test.each([
    ['git-handoff', MAIN],
    ['git-handoff/core', CORE],
  ])('%s exports what was promised', (entry, names) => {
    const script = `import * as entry from '${entry}'; console.log(JSON.stringify(Object.entries(entry).map(([name, value]) => [name, typeof value])));`;
    const found = new Map<string, string>(JSON.parse(runModule(script)));
    for (const name of names) expect([name, found.get(name)]).toEqual([name, 'function']);
  });

  test('have one HandoffError, and the same verdicts', () => {
    const script = `
      import * as main from 'git-handoff';
      import * as core from 'git-handoff/core';
      const key = new Uint8Array(32).fill(7);
      const caught = (() => { try { core.parseRecord(new Uint8Array()); } catch (error) { return error; } })();
      console.log(JSON.stringify([main.HandoffError === core.HandoffError, caught instanceof main.HandoffError, caught.code,
        main.verifyEd25519(key, key, new Uint8Array(64)), core.verifyEd25519(key, key, new Uint8Array(64))]));`;
    expect(JSON.parse(runModule(script))).toEqual([true, true, 'yaml_invalid', false, false]);
  });

  test('nothing else can be imported', () => {
    const script = "await import('git-handoff/dist/core.js').catch((error) => console.log(error.code));";
    expect(runModule(script).trim()).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });

  test('the schemas are published', () => {
    const script =
      "import { createRequire } from 'node:module'; console.log(createRequire(import.meta.url)('git-handoff/schemas/thought.json').$id);";
    expect(runModule(script).trim()).toBe('thought.json');
  });
});

describe('git-handoff/core in a browser', () => {
  let code = '';
  let inputs: string[] = [];

  beforeAll(async () => {
    const { outputFiles, metafile } = await build({
      stdin: { contents: "export * from 'git-handoff/core';", resolveDir: ROOT },
      bundle: true,
      write: false,
      metafile: true,
      format: 'iife',
      globalName: 'core',
      platform: 'browser',
      logLevel: 'silent',
    });
    code = outputFiles[0]!.text;
    inputs = Object.keys(metafile.inputs);
  });

  test('bundles without a module of Node or a polyfill', () => {
    expect(inputs.length).toBeGreaterThan(2);
    const foreign = inputs.filter(
      (path) => builtinModules.includes(path.replace(/^.*node:/, '')) || path.includes('isomorphic-git'),
    );
    expect(foreign).toEqual([]);
    expect(code).not.toMatch(/require\("node:|from "node:|import\("node:/);
  });

  test('parses and verifies a record, and checks a Merkle proof, where there is nothing but the language and text codecs', async () => {
    const context = createContext({ TextEncoder, TextDecoder });
    const records = JSON.parse(readFileSync(join(ROOT, 'protocol/vectors/records.json'), 'utf8'));
    const keys = JSON.parse(readFileSync(join(ROOT, 'protocol/vectors/keys.json'), 'utf8'));
    const note = records.find((vector: { name: string }) => vector.name === 'note');
    const key = keys.find((candidate: { label: string }) => candidate.label === note.key);
    runInContext(code, context);
    Object.assign(context, { note: JSON.stringify(note), key: JSON.stringify(key) });
    const verdict = await runInContext(`(${inBrowser})()`, context);
    expect(JSON.parse(verdict)).toEqual({
      globals: ['undefined', 'undefined', 'undefined', 'undefined'],
      id: note.id,
      fingerprint: key.fingerprint,
      fields: note.fields,
      forged: 'signature_invalid',
      broken: 'yaml_invalid',
      proofs: [true, true, true, true, true],
      wrongLeaf: false,
      consistent: true,
    });
  });
});

/** Runs inside the bare context: `core`, `note` and `key` are its globals. */
const inBrowser = `async () => {
  const note = JSON.parse(globalThis.note);
  const key = JSON.parse(globalThis.key);
  const publicKey = { bytes: core.fromHex(key.public_key), fingerprint: key.fingerprint };
  const encode = (text) => Uint8Array.from(new TextEncoder().encode(text));
  const codeOf = async (text) => {
    try { await core.verifyRecord(core.parseRecord(encode(text)), [publicKey], core.browserSuite); return 'valid'; }
    catch (error) { if (error instanceof core.HandoffError) return error.code; throw error; }
  };
  const record = await core.verifyRecord(core.parseRecord(encode(note.file)), [publicKey], core.browserSuite);
  const leaves = ['a', 'b', 'c', 'd', 'e'].map(encode);
  const root = core.merkleRoot(leaves);
  const proves = (leaf, index) => core.verifyInclusion(core.leafHash(leaf), index, 5, core.inclusionProof(leaves, index), root);
  return JSON.stringify({
    globals: [typeof Buffer, typeof process, typeof require, typeof crypto],
    id: record.id,
    fingerprint: record.fingerprint,
    fields: record.fields,
    forged: await codeOf(note.file.replace('npm', 'yarn')),
    broken: await codeOf('# no record\\n'),
    proofs: leaves.map(proves),
    wrongLeaf: proves(leaves[1], 0),
    consistent: core.verifyConsistency(3, 5, core.consistencyProof(leaves, 3), core.merkleRoot(leaves.slice(0, 3)), root),
  });
}`;

describe('the types', () => {
  const USE = `import { HandoffError, openRepository, verifyEd25519, type Finding, type GitStore, type Handoff } from 'git-handoff';
import * as core from 'git-handoff/core';

const handoff: Handoff = openRepository('.');
const result = await handoff.verify();
const findings: Finding[] = result.findings;
const valid: boolean = result.valid;
const same: boolean = verifyEd25519(new Uint8Array(32), new Uint8Array(), new Uint8Array(64));
const record: core.ParsedRecord = core.parseRecord(new Uint8Array());
const verified: core.VerifiedRecord = await core.verifyRecord(record, [], core.browserSuite);
const root: Uint8Array = core.merkleRoot([core.leafHash(new Uint8Array())]);
const proof: Uint8Array[] = core.inclusionProof([root], 0);
const code: core.ErrorCode = new HandoffError('usage', 'why').code;
const check: boolean = core.verifyInclusion(root, 0, 1, proof, root) && core.verifyConsistency(1, 1, core.consistencyProof([root], 1), root, root);
// @ts-expect-error: what shows text takes no record that was not verified
core.summarise(record);
// @ts-expect-error: codes are literal
new HandoffError('nonsense', 'why');
export const all = [findings, valid, same, verified.id, code, check, null as GitStore | null];
`;

  test('resolve through the exports, and describe what is there', () => {
    expect(typecheck(project({ 'use.ts': USE }))).toBe('');
  });

  test('do not resolve to anything whatever', () => {
    expect(typecheck(project({ 'use.ts': USE.replaceAll('parseRecord', 'parseAnything') }))).toContain('TS2339');
  });
});

/** A module of a project that has this package installed, run by Node. */
function runModule(script: string): string {
  const dir = project({ 'use.mjs': script });
  return execFileSync(process.execPath, [join(dir, 'use.mjs')], { encoding: 'utf8' });
}

function project(files: Record<string, string>): string {
  const dir = temporaryDirectory();
  mkdirSync(join(dir, 'node_modules'));
  symlinkSync(ROOT, join(dir, 'node_modules/git-handoff'), 'dir');
  symlinkSync(join(ROOT, 'node_modules/@types'), join(dir, 'node_modules/@types'), 'dir');
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }\n');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  return dir;
}

/** What the compiler has to say in a strict project of its own. */
function typecheck(dir: string): string {
  const flags = [
    '--noEmit',
    '--strict',
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--types',
    'node',
    '--noUnusedLocals',
    'use.ts',
  ];
  const { stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...flags], {
    cwd: dir,
    encoding: 'utf8',
  });
  return stdout + stderr;
}

test('the lock file names every optional package, also those of other systems', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const names = Object.values<{ optionalDependencies?: object }>(packages).flatMap((entry) =>
    Object.keys(entry.optionalDependencies ?? {}),
  );
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name) => !packages[`node_modules/${name}`])).toEqual([]);
  expect(JSON.stringify(packages)).not.toContain('"resolved"');
});

test('the man page is where npm looks for it', () => {
  const { man } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(man).toEqual(['dist/man/git-handoff.1']);
  expect(readFileSync(man[0], 'utf8')).toContain('.TH');
});

test('a build in a hook, by an agent, touches neither the repository nor the session of either', () => {
  const dir = temporaryDirectory();
  cpSync(join(ROOT, 'dist'), join(dir, 'dist'), { recursive: true });
  git(dir, 'init', '--quiet');
  git(dir, 'add', 'dist/cli.cjs');
  const before = readFileSync(join(dir, '.git/index'));
  const index = join(dir, '.git/index');
  const env = { ...process.env, GIT_DIR: join(dir, '.git'), GIT_INDEX_FILE: index, HANDOFF_IDENTITY: 'zed' };
  execFileSync(process.execPath, [join(ROOT, 'scripts/keep-compiled.cjs')], { cwd: dir, env, stdio: 'pipe' });
  expect(readFileSync(index).equals(before)).toBe(true);
  expect(existsSync(join(dir, '.git/handoff'))).toBe(false);
  const kept = readdirSync(join(dir, 'dist')).filter((name) => name.endsWith('.v8'));
  const sizes = kept.map((name) => readFileSync(join(dir, 'dist', name)).length);
  expect(sizes.length).toBeGreaterThan(1);
  expect(Math.min(...sizes)).toBeGreaterThan(1 << 19);
});
