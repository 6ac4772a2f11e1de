import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { groupBy } from '../src/core/group-by.ts';

// Dependencies point one way: adapters → verbs → gate, sealing, relay, tasks, writeback, trust → custody → journal → repository →
// audit → core, git and disk. What is not listed here is not allowed.

const SRC = resolve(import.meta.dirname, '../src');

/** What each room stands on; it may import that, and whatever that stands on. A file that stands alone is a room. */
const BELOW: Record<string, string[]> = {
  core: [],
  'core.ts': ['core'],
  'crypto.ts': ['core'],
  git: ['core/error.ts', 'core/error-code.ts', 'core/text/quote.ts'],
  disk: ['core/error.ts', 'core/error-code.ts', 'core/bytes/json.ts'],
  audit: ['core', 'git', 'crypto.ts'],
  repository: ['audit', 'disk'],
  journal: ['repository'],
  custody: ['journal'],
  tasks: ['custody'],
  writeback: ['custody'],
  trust: ['journal'],
  gate: ['journal'],
  sealing: ['gate', 'custody'],
  runtimes: ['core'],
  // what moves work between agents stands where verbs stand; the verbs that end and open sessions are handed to it
  relay: ['custody', 'runtimes'],
  verbs: ['tasks', 'writeback', 'trust', 'gate', 'sealing', 'runtimes', 'relay'],
  'host.ts': ['disk'],
  'index.ts': ['verbs', 'host.ts'],
  hooks: ['verbs'],
  cli: ['hooks', 'index.ts'],
  mcp: ['cli'],
  'entry.ts': ['mcp'],
};

/** Rooms that were split because they were overfull stay small enough to be read as a list. */
const LARGEST_FOLDER = 20;

/** What each room may import of packages. Node's own modules are for everyone but the core. */
const PACKAGES: Record<string, string[]> = {
  core: ['tweetnacl', '@noble/hashes/sha2.js'],
  git: ['isomorphic-git'],
  journal: ['gray-matter', 'yaml'],
  runtimes: ['jsonc-parser', 'smol-toml'],
  cli: ['commander', 'yoctocolors'],
  mcp: ['@modelcontextprotocol/server', '@modelcontextprotocol/server/stdio'],
};

interface Module {
  path: string;
  room: string;
  code: string;
  /** As they are written. */
  imports: string[];
  /** Paths in src. */
  inner: string[];
  /** Those of them that are not only imported by a call. */
  eager: string[];
  packages: string[];
  node: string[];
}

const ALLOWED = new Map(Object.keys(BELOW).map((room) => [room, reachable(room)]));

const modules = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
  .map((path) => readModule(path.split(sep).join('/')));
const byPath = new Map(modules.map((module) => [module.path, module]));

describe('the import graph', () => {
  test('has the modules and the imports that the compiler sees, each and no other', () => {
    const seen = compiled();
    expect(modules.map(({ path }) => path).sort()).toEqual(seen.modules);
    const edges = modules.flatMap(({ path, imports }) => imports.map((name) => `${path} → ${name}`));
    expect(edges.sort()).toEqual(seen.edges);
    expect(new Set(modules.map(({ room }) => room))).toEqual(new Set(Object.keys(BELOW)));
  });

  test('names files that exist, by their whole name', () => {
    const missing = modules.flatMap(({ path, inner }) =>
      inner
        .filter((target) => !byPath.has(target) && !target.startsWith('core/generated/'))
        .map((target) => `${path} → ${target}`),
    );
    expect(missing).toEqual([]);
  });

  test.each(Object.keys(BELOW))('%s imports only what is below it', (room) => {
    const allowed = ALLOWED.get(room)!;
    const wrong = modulesIn(room).flatMap(({ path, inner }) =>
      inner.filter((target) => !allowed.some((name) => isIn(target, name))).map((target) => `${path} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test.each(Object.keys(BELOW))('%s imports no package that is not its own', (room) => {
    const wrong = modulesIn(room).flatMap(({ path, packages }) =>
      packages.filter((name) => !PACKAGES[room]?.includes(name)).map((name) => `${path} → ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  // What is loaded when it is called may look back: the completion of a command knows all commands.
  test('has no cycles, not even of types', () => {
    expect(cycles()).toEqual([]);
  });
});

describe('the core', () => {
  test('imports no module of Node', () => {
    expect(
      modules.filter(({ room, node }) => room.startsWith('core') && node.length > 0).map(({ path }) => path),
    ).toEqual([]);
  });

  test('uses nothing that only Node has, no clock and no randomness', () => {
    const foreign =
      /\b(?:Buffer\b|process\.|require\(|__dirname|setTimeout|fetch|crypto\.|performance|Date\b|Math\.random)/;
    const wrong = modulesIn('core').filter(({ code }) => foreign.test(code));
    expect(wrong.map(({ path, code }) => `${path}: ${foreign.exec(code)![0]}`)).toEqual([]);
  });
});

describe('what checks us from outside', () => {
  test.each(['test/ledger/client.ts', 'test/ledger/note-key.ts'])('%s knows nothing of ours', (path) => {
    const text = readFileSync(join(SRC, '..', path), 'utf8');
    const imported = [...text.matchAll(/\bfrom '([^']+)'/g)].map(([, from]) => from!);
    expect(imported.filter((from) => !/^node:|^\.\/(?:client|note-key)\.ts$/.test(from))).toEqual([]);
    expect(imported.length).toBeGreaterThan(0);
  });
});

describe('effects have one place', () => {
  test('what knows the bytes of the index is behind two files: one for the index, one for a copy of it', () => {
    const inside = /^git\/index\/index-(?:copy|direct|entries|folder|footprint|layout|lookup|place|trees)\.ts$/;
    const known = modules.filter(({ path }) => inside.test(path));
    expect(known).toHaveLength(9);
    const users = modules.filter(
      ({ path, inner }) => !inside.test(path) && inner.some((target) => inside.test(target)),
    );
    expect(users.map(({ path }) => path).sort()).toEqual(['git/index/hidden-index.ts', 'git/index/index-file.ts']);
  });

  test('one file knows how git lays out the entries of an index', () => {
    const layout = /\b(?:0x0fff|0x4000|0x3000|0xb000)\b|'DIRC'/;
    expect(modules.filter(({ code }) => layout.test(code)).map(({ path }) => path)).toEqual([
      'git/index/index-layout.ts',
    ]);
  });

  test('only adapters touch the process', () => {
    const touching = modules.filter(({ code, node }) => /\bprocess\.\w/.test(code) || node.includes('node:process'));
    expect(touching.length).toBeGreaterThan(0);
    expect(
      touching
        .filter(({ path }) => !['index.ts', 'host.ts', 'entry.ts'].includes(path) && !path.startsWith('cli/'))
        .map(({ path }) => path),
    ).toEqual([]);
  });

  test('one file ends the process', () => {
    const ends = /process\.(?:exit|abort|reallyExit|kill)\s*\(|\.exitCode\s*=[^=]/g;
    const found = modules.flatMap(({ path, code }) => [...code.matchAll(ends)].map(() => path));
    expect([...new Set(found)]).toEqual(['entry.ts']);
  });

  test('one file starts git, and only ssh-keygen, tmux, ps, the programs of agents and what a user asks to run are started anywhere else', () => {
    const starters = modules.filter(({ code }) =>
      /import \{[^}]*\b(?<!type )(?:spawn|exec|execFile|fork)(?:Sync)?\b[^}]*\} from 'node:child_process'/.test(code),
    );
    expect(starters.map(({ path }) => path).sort()).toEqual([
      'git/run.ts',
      'journal/keys/ssh-key.ts',
      'relay/background.ts',
      'relay/processes.ts',
      'relay/tmux.ts',
      'verbs/agents/found-program.ts',
      'writeback/run-command.ts',
    ]);
    expect(
      modules
        .filter(({ code }) => /\b(?:spawn|exec|execFile)(?:Sync)?\(\s*['"`]git\b/.test(code))
        .map(({ path }) => path),
    ).toEqual(['git/run.ts']);
    for (const path of [
      'journal/keys/ssh-key.ts',
      'relay/background.ts',
      'relay/processes.ts',
      'relay/tmux.ts',
      'verbs/agents/found-program.ts',
      'writeback/run-command.ts',
    ])
      expect(byPath.get(path)!.code).not.toMatch(/['"`]git['"`]/);
  });

  test('one file builds the bytes that a key signs', () => {
    const builders = modules.filter(({ code }) => /\bsshsigMessage\(/.test(code)).map(({ path }) => path);
    expect(builders.sort()).toEqual(['core/record/signed-message.ts', 'core/trust/sshsig.ts']);
  });

  test('one file says what a key in some state is worth', () => {
    const compares = /\bstate\s*[!=]==\s*'(?:retired|revoked)'|'(?:retired|revoked)'\s*[!=]==/;
    expect(modules.filter(({ code }) => compares.test(code)).map(({ path }) => path)).toEqual([
      'core/trust/key-standing.ts',
    ]);
  });

  test('one file says what signs of life make a session active', () => {
    const compares = /\bliveness\.state\s*[!=]==\s*'active'|\bheartbeat_age\s*[<>]/;
    expect(modules.filter(({ code }) => compares.test(code)).map(({ path }) => path)).toEqual([
      'journal/sessions/liveness.ts',
    ]);
    const users = modules
      .filter(({ inner }) => inner.includes('journal/sessions/heartbeat.ts'))
      .map(({ path }) => path);
    expect(users.sort()).toEqual(['journal/append.ts', 'journal/sessions/liveness.ts', 'journal/sessions/registry.ts']);
  });

  test('what needs a part of the open repository asks for that part', () => {
    const takesApart = /\}: Repository\b/;
    expect(modules.filter(({ code }) => takesApart.test(code)).map(({ path }) => path)).toEqual([]);
  });

  test('no shell is ever asked', () => {
    expect(modules.filter(({ code }) => /\bshell:\s*true/.test(code)).map(({ path }) => path)).toEqual([]);
  });
});

describe('files', () => {
  test('none is a drawer for everything', () => {
    const names = modules.flatMap(({ path }) => path.split('/')).map((name) => basename(name, '.ts'));
    expect(names.filter((name) => /^(?:utils?|helpers?|misc|common|shared|lib|tools)$/i.test(name))).toEqual([]);
  });

  test('none is in a folder that is too full to be read', () => {
    const folders = groupBy(modules, ({ path }) => dirname(path));
    const full = [...folders].filter(([, inside]) => inside.length > LARGEST_FOLDER);
    expect(full.map(([folder, inside]) => `${folder}: ${inside.length}`)).toEqual([]);
  });

  test('none exports everything of another', () => {
    expect(modules.filter(({ code }) => /^export \*/m.test(code)).map(({ path }) => path)).toEqual([]);
  });

  test('none swallows an error', () => {
    expect(modules.filter(({ code }) => /catch(?:\s*\([^)]*\))?\s*\{\s*\}/.test(code)).map(({ path }) => path)).toEqual(
      [],
    );
  });
});

/** Every way to name a module: import and export declarations, import(), types of imports. */
function readModule(path: string): Module {
  const code = withoutComments(readFileSync(join(SRC, path), 'utf8'));
  const declared = [
    ...code.matchAll(/^(?:import|export)\b[^;'"]*?\bfrom\s+'([^']+)'/gm),
    ...code.matchAll(/^import\s+'([^']+)'/gm),
  ];
  const dynamic = code.matchAll(/\bimport\(\s*'([^']+)'/g);
  const first = new Set(declared.map(([, name]) => name!));
  const names = [...new Set([...first, ...[...dynamic].map(([, name]) => name!)])];
  const inner = names.filter((name) => name.startsWith('.')).map((name) => inSrc(path, name));
  const eager = [...first].filter((name) => name.startsWith('.')).map((name) => inSrc(path, name));
  const node = names.filter((name) => name.startsWith('node:'));
  const packages = names.filter((name) => !name.startsWith('.') && !name.startsWith('node:'));
  return { path, room: path.split('/')[0]!, code, imports: names, inner, eager, node, packages };
}

/** What the compiler reads in src, and what it looks for there: nothing of how modules are read here can hide one from it. */
function compiled(): { modules: string[]; edges: string[] } {
  const root = join(SRC, '..');
  const args = ['--listFilesOnly', '--traceResolution', '--project', join(root, 'tsconfig.json')];
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), ...args];
  const { stdout } = spawnSync(process.execPath, tsc, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  const top = `${SRC.split(sep).join('/')}/`;
  const ours = (path: string): string[] =>
    path.startsWith(top) && /(?<!\.d)\.ts$/.test(path) ? [path.slice(top.length)] : [];
  const asked = [...stdout.matchAll(/^=+ Resolving module '(.+)' from '(.+)'\. =+$/gm)];
  const edges = asked.flatMap(([, name, from]) => ours(from!).map((path) => `${path} → ${name}`));
  return {
    modules: stdout.split('\n').flatMap(ours).sort(),
    edges: [...new Set(edges)].sort(),
  };
}

/** Words in comments are no code. Strings stay: none of ours contains a comment's beginning at the start of a line. */
function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/ .*$/gm, '$1');
}

function inSrc(from: string, name: string): string {
  return relative(SRC, resolve(SRC, dirname(from), name))
    .split(sep)
    .join('/');
}

/** A room itself, and all that it stands on. */
function reachable(room: string, found: string[] = []): string[] {
  if (found.includes(room)) return found;
  found.push(room);
  for (const below of BELOW[room] ?? []) reachable(below, found);
  return found;
}

function modulesIn(room: string): Module[] {
  return modules.filter((module) => module.room === room);
}

function isIn(path: string, room: string): boolean {
  return path === room || path.startsWith(`${room}/`);
}

/** Each cycle once, as the path that closes it. */
function cycles(): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
    if (done.has(path) || trail.includes(path)) return;
    for (const next of byPath.get(path)?.eager ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const { path } of modules) visit(path, []);
  return found;
}
