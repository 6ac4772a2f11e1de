import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { bash } from './cli/cli.ts';
import { git, isolatedEnv, temporaryDirectory } from './temporary.ts';
import { reopen, template } from './threats/forge.ts';

// What the README and the pages in docs/ say to paste is pasted.

const ROOT = join(import.meta.dirname, '..');
const fresh = template((place) => git(place.dir, 'commit', '--quiet', '--allow-empty', '--message', 'a project'));

/** The blocks of one language on a page. */
function blocks(path: string, language: string): string[] {
  const all = readFileSync(join(ROOT, path), 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```/gm);
  return [...all].flatMap(([, of, text]) => (of === language ? [text!] : []));
}

/** Line by line, in a shell that stops at the first that fails; returns what was printed. */
function paste(cwd: string, script: string, env: NodeJS.ProcessEnv): string {
  const bin = temporaryDirectory();
  symlinkSync(join(ROOT, 'dist/cli.cjs'), join(bin, 'git-handoff'));
  const path = [bin, dirname(process.execPath), process.env.PATH].join(delimiter);
  const { code, stdout, stderr } = bash(`set -e -o pipefail\n${script}`, { cwd, env: { ...env, PATH: path } });
  expect(code, `${stdout}\n${stderr}`).toBe(0);
  return stdout;
}

/** A module of a project that has this package installed, run where `cwd` says. */
function runModule(cwd: string, script: string, env: NodeJS.ProcessEnv): string {
  const dir = temporaryDirectory();
  mkdirSync(join(dir, 'node_modules'));
  symlinkSync(ROOT, join(dir, 'node_modules/git-handoff'), 'dir');
  writeFileSync(join(dir, 'use.mjs'), script);
  return paste(cwd, `node '${join(dir, 'use.mjs')}'`, env);
}

test('README.md: solo in 60 seconds, and everything that init turned on is turned off', () => {
  const base = temporaryDirectory();
  const env = { ...isolatedEnv, HANDOFF_KEYS: join(base, 'keys') };
  const [walk = ''] = blocks('README.md', 'sh').filter((block) => block.startsWith('git init '));
  const said = paste(base, walk, env);
  expect(said).toContain('P0.1 is done');
  expect(said).toContain('lola continues session');
  expect(said).toMatch(/✓ \d+ records and documents hold/);

  const dir = join(base, 'my-project');
  expect(git(dir, 'status', '--porcelain')).toBe('');
  const off = [...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^\|.*\| `(git [^`]+)`[^|]*\|$/gm)];
  expect(off.map(([, command]) => command)).toHaveLength(3);
  paste(dir, `${off.map(([, command]) => command).join('\n')}\ngit commit -q -m "without"`, env);
  expect(git(dir, 'ls-files')).toBe('.gitattributes\nreader.mjs');
  expect(git(dir, 'config', '--local', '--list')).not.toContain('handoff');
});

test('README.md: donna on one machine, lola on another, and a server that lets their work in', () => {
  const base = temporaryDirectory();
  const [walk = ''] = blocks('README.md', 'sh').filter((block) => block.startsWith('git init --bare'));
  const said = paste(base, walk, isolatedEnv);
  expect(said).toContain('P0.1 is done');
  expect(said).toMatch(/lola continues session/);
  expect(said).toContain('quotes.mjs is half done.');
  expect(said).toContain('1 file of session');
  expect(said).toContain('✓ pass: nothing against it');
  const names = ['server.git', 'lola/.worktrees/lola/feature-p0-1-the-reader'];
  const [server, lola] = names.map((name) => join(base, name)) as [string, string];
  expect(git(server, 'rev-parse', 'main')).toBe(git(lola, 'rev-parse', 'HEAD'));
  expect(git(server, 'ls-tree', '--name-only', 'main', 'reader.mjs')).toBe('reader.mjs');
  expect(git(lola, 'status', '--porcelain')).toBe('');
  const env = { ...isolatedEnv, HANDOFF_KEYS: join(base, 'keys-of-lola') };
  expect(paste(lola, 'git handoff task list', env)).toMatch(/P0\.1 +done[\s\S]*P0\.2 +done/);
  expect(paste(lola, 'git handoff verify', env)).toContain('records and documents hold');
});

test('docs/team.md: all of it, from top to bottom', () => {
  const base = temporaryDirectory();
  const said = paste(base, blocks('docs/team.md', 'sh').join('\n'), isolatedEnv);
  expect(said).toContain('Signed Policy 3, by ada, olga');
  const main = git(join(base, 'server.git'), 'rev-parse', 'main');
  expect(git(join(base, 'olga'), 'rev-parse', 'HEAD')).toBe(main);
  for (const clone of ['ada', 'lola', 'olga']) expect(git(join(base, clone), 'status', '--porcelain')).toBe('');
  expect(git(join(base, 'lola'), 'worktree', 'list').split('\n')).toHaveLength(1);
  expect(git(join(base, 'server.git'), 'ls-tree', '--name-only', 'main', 'package.json')).toBe('package.json');
  expect(git(join(base, 'server.git'), 'for-each-ref', 'refs/handoff/locks')).toContain('task/P0.1');
});

test('docs/proofs.md: proof-grade work from beginning to end, a proof in three lines, and the same in the core', async () => {
  const place = fresh();
  const [work = '', proof = ''] = blocks('docs/proofs.md', 'sh');
  const said = paste(place.dir, `${work}\n${proof}\necho "$KEY" > ../key`, place.env);
  expect(said).toContain('is in the ledger');
  expect(said).not.toContain('anyone could have made it');
  expect(proof.trimEnd().split('\n')).toHaveLength(3);
  const { handoff } = reopen(place);
  expect(await handoff.ledger.verify()).toMatchObject({ size: 1, unsealed: 0, pending: 0 });
  expect(await handoff.task.show({ id: 'P0.2' })).toMatchObject({ status: 'done' });
  expect((await handoff.sessions()).sessions.filter(({ state }) => state === 'active')).toEqual([]);
  expect(git(place.dir, 'status', '--porcelain')).toBe('');
  git(place.dir, 'worktree', 'remove', '.worktrees/donna/p0-2-smoke-test'); // nothing is left behind that would stop it

  const [, check = ''] = blocks('docs/library.md', 'js');
  const given = `import { readFileSync } from 'node:fs';
    const [bytes, key] = [readFileSync('../proof.yaml'), readFileSync('../key', 'utf8').trim()];`;
  const answer = `console.log(identity, record.slice(0, 7), trusted, checked.length > 0);`;
  expect(runModule(place.dir, `${given}\n${check}\n${answer}`, place.env)).toBe('donna sha256: true true\n');
});

test('docs/library.md: a session from a program', async () => {
  const place = fresh();
  await place.handoff.identity.add({ name: 'lola' });
  const [use = ''] = blocks('docs/library.md', 'js');
  expect(runModule(place.dir, `${use}\nconsole.log(valid, findings.length);`, place.env)).toBe('true 0\n');
  const { handoff } = reopen(place);
  expect((await handoff.sessions()).sessions).toMatchObject([{ identity: 'donna', state: 'wrapped' }]);
});
