// Builds everything that is published: dist/cli.cjs, the library, its types, the man page.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Module from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { importSource } from './import-source.mjs';
import { joinChunks } from './join-chunks.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

const COMMON = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
};

/** The core hashes with a package where nobody gave it Node's hashes; the CLI always does, and need not load it. */
function nodeHashes({ onResolve, onLoad }) {
  const namespace = 'hashes';
  const lines = ['sha256', 'sha512'].map(
    (name) => `export const ${name} = (bytes) => hash('${name}', bytes, 'buffer');`,
  );
  onResolve({ filter: /^@noble\/hashes\/sha2\.js$/ }, ({ path }) => ({ path, namespace }));
  onLoad({ filter: /.*/, namespace }, () => ({
    contents: [`import { hash } from 'node:crypto';`, ...lines].join('\n'),
  }));
}

const LIGHTER = [
  { name: 'builtins', setup: loadedWhenUsed },
  { name: 'hashes', setup: nodeHashes },
];

// CommonJS, and one file behind the entry: Node takes 2 ms for every module it links, and 8 ms for the first.
const CLI = {
  ...COMMON,
  format: 'cjs',
  entryPoints: {
    cli: 'src/entry.ts',
    mcp: 'src/mcp/serve.ts',
    'gray-matter': 'gray-matter',
    yaml: 'yaml',
  },
  plugins: [
    { name: 'parts', setup: ({ onResolve }) => onResolve({ filter: /^gray-matter$/ }, part) },
    { name: 'program', setup: loadedFromKept },
    { name: 'server', setup: ({ onResolve }) => onResolve({ filter: /^\.\/mcp\/serve\.ts$/ }, server) },
    { name: 'engines', setup: ({ onLoad }) => onLoad({ filter: /gray-matter.lib.engines\.js$/ }, noEngines) },
    ...LIGHTER,
  ],
  outdir: 'dist',
  outExtension: { '.js': '.cjs' },
  supported: { 'dynamic-import': false }, // a require, which need not start Node's module loader
  metafile: true,
};

// In chunks, which are joined into one file: of what a verb does not load, V8 then has nothing to keep and nothing to read.
const PROGRAM = {
  ...COMMON,
  format: 'esm',
  splitting: true,
  entryPoints: { program: 'src/cli/main.ts' },
  alias: { 'jsonc-parser': './node_modules/jsonc-parser/lib/esm/main.js' }, // what it names first cannot be bundled
  plugins: [{ name: 'parts', setup: ({ onResolve }) => onResolve({ filter: /^gray-matter$/ }, part) }, ...LIGHTER],
  outdir: 'dist',
  metafile: true,
};

/** The version needs nothing of main, and what V8 kept of it is for a file of its own. */
function loadedFromKept({ onResolve, onLoad }) {
  const namespace = 'loader';
  onResolve({ filter: /^\.\/cli\/main\.ts$/ }, ({ path }) => ({ path, namespace }));
  onLoad({ filter: /.*/, namespace }, () => ({
    resolveDir: join(root, 'scripts'),
    contents: `const { keptFor, load } = require('./program-loader.cjs');
      module.exports = load(__dirname, keptFor(process.argv), require);`,
  }));
}

/** Files of their own: only what somebody typed needs them. */
function part({ kind, path }) {
  return kind === 'entry-point' ? undefined : { path: partNamed(path), external: true };
}

function partNamed(path) {
  return path.startsWith('node:') ? path : `./${path}.cjs`;
}

/** So is what speaks MCP: only the verb of that name needs it. */
function server({ kind }) {
  return kind === 'entry-point' ? undefined : { path: './mcp.cjs', external: true };
}

/** gray-matter's own engines are never called, and one of them is eval: the CLI does without them and js-yaml. */
function noEngines() {
  return { contents: 'module.exports = {};' };
}

/** Modules that most verbs name and few use, at a millisecond or more each. */
function loadedWhenUsed({ onResolve, onLoad }) {
  const namespace = 'when-used';
  onResolve(
    { filter: /^(?:node:(?:child_process|fs\/promises|timers\/promises|zlib)|yaml)$/ },
    ({ kind, path, importer }) => {
      if (kind === 'entry-point') return undefined;
      return importer === path ? { path: partNamed(path), external: true } : { path, namespace };
    },
  );
  onLoad({ filter: /.*/, namespace }, async ({ path }) => ({
    contents: Object.keys(await import(path))
      .filter((name) => name !== 'default')
      .map(
        (name) =>
          `Object.defineProperty(exports, '${name}', { enumerable: true, get: () => require('${path}').${name} });`,
      )
      .join('\n'),
  }));
}

rmSync('dist', { recursive: true, force: true });
run('scripts/generate-validators.mjs');
const define = { __VERSION__: JSON.stringify(version), __BUILD__: JSON.stringify(await sourceDigest()) };
await Promise.all([buildCli(), buildLibrary(), buildManual()]);
run('node_modules/typescript/bin/tsc', '--project', 'tsconfig.build.json');
keepCompiled();

function run(script, ...args) {
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1); // it has said why
}

/** Names the code that fills a cache: of everything that is bundled, so that no other code reads what it wrote. */
async function sourceDigest() {
  const empty = { write: false, define: { __VERSION__: '""', __BUILD__: '""' } };
  const built = await Promise.all([CLI, PROGRAM].map((options) => build({ ...options, ...empty })));
  const inputs = new Set(built.flatMap(({ metafile }) => Object.keys(metafile.inputs)));
  const files = [...inputs].filter((path) => existsSync(path)); // the others are made here
  const hash = createHash('sha256').update(version);
  for (const path of files.sort()) hash.update(`\0${path}\0`).update(readFileSync(path));
  return hash.digest('hex').slice(0, 16);
}

async function buildCli() {
  const [cli, program] = await Promise.all(
    [CLI, PROGRAM].map((options) => build({ ...options, write: false, define })),
  );
  const inputs = [cli, program].flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const heavy = inputs.filter((path) => /node_modules\/(?:isomorphic-git|js-yaml)\//.test(path));
  if (heavy.length > 0) throw new Error(`The CLI must not load ${heavy[0]}`);
  mkdirSync('dist', { recursive: true });
  for (const { path, contents } of cli.outputFiles) writeFileSync(path, assertAscii(path, contents));
  writeFileSync('dist/program.cjs', Module.wrap(joined(program.outputFiles)));
  writeFileSync('dist/hook.sh', hookScript());
  for (const path of ['dist/cli.cjs', 'dist/hook.sh']) chmodSync(path, 0o755);
  writeLicences(inputs);
}

/** One script: what is loaded as one has to be the function that Node would make of it. */
function joined(files) {
  const chunks = files.map(({ path, contents }) => [
    basename(path),
    Buffer.from(assertAscii(path, contents)).toString('latin1'),
  ]);
  return joinChunks(Object.fromEntries(chunks), 'program.js');
}

/** One file: to find another beside it would take a process, where a link leads to it. */
function hookScript() {
  const [before, after] = readFileSync('scripts/hook.sh', 'utf8').split(/^\. \.\/event\.sh .*$/m);
  return before + readFileSync('scripts/event.sh', 'utf8') + after;
}

/** V8 takes two bytes for each letter of a source that has one beyond, and reading it takes twice as long. */
function assertAscii(path, contents) {
  const at = contents.findIndex((byte) => byte > 0x7f);
  if (at < 0) return contents;
  const found = Buffer.from(contents.subarray(Math.max(0, at - 40), at + 20)).toString('utf8');
  throw new Error(`${path} must be ASCII; escape what is not, as in /\\u2026/: ${found}`);
}

/** Quiet unless it fails: what the verbs print is of no interest. */
function keepCompiled() {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/keep-compiled.cjs'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The program could not be run to keep what V8 compiles of it: ${stderr}`);
}

/** What is bundled is copied, and its licences ask to be copied with it. */
function writeLicences(inputs) {
  const packages = new Set(
    inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter(Boolean),
  );
  const texts = [...packages].sort().map((name) => {
    const file = readdirSync(`node_modules/${name}`).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} is bundled and has no licence file`);
    return `${name}\n\n${readFileSync(`node_modules/${name}/${file}`, 'utf8')}`;
  });
  writeFileSync('dist/THIRD-PARTY-LICENCES', texts.join(`\n${'-'.repeat(72)}\n\n`));
}

/** Packages stay imports, so that an application has each of them once. */
async function buildLibrary() {
  const entryPoints = { index: 'src/index.ts', core: 'src/core.ts' };
  await build({
    ...COMMON,
    format: 'esm',
    entryPoints,
    outdir: 'dist',
    splitting: true,
    chunkNames: 'lib/[name]-[hash]',
    packages: 'external',
    define,
  });
}

async function buildManual() {
  const { formatManual } = await importSource('src/cli/man.ts');
  mkdirSync('dist/man', { recursive: true });
  writeFileSync('dist/man/git-handoff.1', formatManual(version));
}
