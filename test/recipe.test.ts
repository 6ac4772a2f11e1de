import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { disposableDirectory } from './temporary.ts';

// Does in a copy what CONTRIBUTING.md says, and compares what the compiler asks for with the files that are named there.

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const contributing = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
const { path: copy, remove } = disposableDirectory();

/** Between this heading and the next. */
function recipe(heading: string): string {
  return contributing.split(/^### /m).find((part) => part.startsWith(`${heading}\n`))!;
}

function run(...args: string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' });
  return stdout + stderr;
}

/** The files in which the compiler finds something, each once. */
function compile(): string[] {
  expect(run('scripts/generate-validators.mjs')).toBe('');
  const found = run('node_modules/typescript/bin/tsc', '--noEmit', '--project', 'tsconfig.json');
  return [...new Set([...found.matchAll(/^(\S+?)\(\d+,\d+\): error/gm)].map(([, file]) => file!))].sort();
}

function edit(path: string, before: string, after: string): void {
  const text = readFileSync(join(copy, path), 'utf8');
  expect(text, `${path} has no ${JSON.stringify(before)}`).toContain(before);
  writeFileSync(
    join(copy, path),
    text.replace(before, () => after),
  );
}

beforeAll(() => {
  for (const name of ['src', 'scripts', 'protocol', 'package.json'])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'));
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
  return remove;
});

describe('a kind of record', () => {
  it('is asked for in every place that the recipe names, and in no other', () => {
    const schema = JSON.parse(readFileSync(join(copy, 'protocol/schemas/note.json'), 'utf8'));
    schema.$id = 'blessing.json';
    schema.properties.kind.const = 'blessing';
    writeFileSync(join(copy, 'protocol/schemas/blessing.json'), JSON.stringify(schema));
    const places = [...recipe('A kind of record').matchAll(/^\| `(src\/\S+)` \|/gm)].map(([, path]) => path);
    expect(places.length).toBeGreaterThan(3);
    expect(compile()).toEqual(places.sort());
  });

  it('is there once each of them has answered', () => {
    edit('src/core/record/kinds.ts', "  note: 'yaml',\n", "  note: 'yaml',\n  blessing: 'yaml',\n");
    edit('src/core/record/summary.ts', "  note: ['text'],\n", "  note: ['text'],\n  blessing: ['text'],\n");
    edit('src/core/session/session-summary.ts', '  note: true,\n', '  note: true,\n  blessing: false,\n');
    edit('src/core/session/history.ts', "    case 'note':\n", "    case 'note':\n    case 'blessing':\n");
    edit('src/audit/evidence/trace.ts', "    case 'note':\n", "    case 'note':\n    case 'blessing':\n");
    expect(compile()).toEqual([]);
  });
});

it('a finding is asked for where the recipe says', () => {
  edit('src/core/error.ts', '  path_mismatch: 1,\n', '  path_mismatch: 1,\n  blessing_missing: 1,\n');
  const place = 'src/cli/commands/writeback/gate-formats/rules.ts';
  expect(recipe('A finding')).toContain(place);
  expect(compile()).toEqual([place]);
  edit(place, '  path_mismatch:', "  blessing_missing: 'A session is blessed',\n  path_mismatch:");
});

it('a verb that is written as the recipe says can be called, and is in the help', async () => {
  writeFileSync(join(copy, 'src/verbs/reading/bless.ts'), BLESS);
  writeFileSync(join(copy, 'src/cli/commands/reading/bless.ts'), COMMAND);
  const table = 'src/cli/commands/table.ts';
  expect(recipe('A verb')).toContain(table);
  edit(
    table,
    "import { log } from './reading/log.ts';\n",
    "import { log } from './reading/log.ts';\nimport { bless } from './reading/bless.ts';\n",
  );
  edit(
    table,
    "  { audience: 'Agents', row: OPEN, ...start },\n",
    "  { audience: 'Agents', row: OPEN, ...start },\n  { audience: 'Agents', row: OPEN, ...bless },\n",
  );
  expect(compile()).toEqual([]);
  await bundle();
  expect(run('cli.cjs', 'bless', 'ada')).toBe('Blessed be ada.\n');
  expect(run('cli.cjs', '--help')).toContain('bless');
});

const BLESS = `export interface BlessResult { blessed: string }
export function bless({ name }: { name: string }): BlessResult {
  return { blessed: name };
}
`;

const COMMAND = `import type { BlessResult } from '../../../verbs/reading/bless.ts';
import { defineVerb } from '../../command.ts';
export const bless = defineVerb<{ name: string }, BlessResult>({
  name: 'bless',
  summary: 'bless somebody',
  purpose: 'Blesses whoever is named.',
  args: [{ name: 'NAME', about: 'whom' }],
  examples: [{ run: 'git handoff bless ada', does: 'bless ada' }],
  run: async (_, options) => (await import('../../../verbs/reading/bless.ts')).bless(options),
  text: async ({ blessed }) => \`Blessed be \${blessed}.\\n\`,
});
`;

async function bundle(): Promise<void> {
  const define = { __VERSION__: '"0"', __BUILD__: '""' };
  const common = { bundle: true, platform: 'node', format: 'cjs', packages: 'external' } as const;
  await build({
    ...common,
    define,
    absWorkingDir: copy,
    entryPoints: ['src/entry.ts'],
    outfile: join(copy, 'cli.cjs'),
  });
}

it('the files that CONTRIBUTING.md names exist', () => {
  const named = [...contributing.matchAll(/`((?:src|test|protocol|scripts|docs)\/[^`<]*)`/g)].filter(
    ([, path]) => !path!.endsWith('…'),
  );
  expect(named.length).toBeGreaterThan(40);
  expect(named.map(([, path]) => path!).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
