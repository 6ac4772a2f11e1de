import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { bash } from '../cli/cli.ts';
import type { Place } from '../handoff.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';

// What the README says to paste is pasted.

const ROOT = join(import.meta.dirname, '../..');
const section = readFileSync(join(ROOT, 'README.md'), 'utf8').split('## Prove it to somebody who has none of it')[1]!;
const [work = '', proof = ''] = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!);

const fresh = template((place) => git(place.dir, 'commit', '--quiet', '--allow-empty', '--message', 'a project'));

/** Line by line, in a shell that stops at the first that fails. */
function paste({ dir, env }: Place, script: string) {
  const bin = temporaryDirectory();
  symlinkSync(join(ROOT, 'dist/cli.cjs'), join(bin, 'git-handoff'));
  const path = [bin, dirname(process.execPath), process.env.PATH].join(delimiter);
  return bash(`set -e\n${script}`, { cwd: dir, env: { ...env, PATH: path } });
}

test('proof-grade work from beginning to end, and a proof in three lines', async () => {
  const place = fresh();
  const pasted = paste(place, `${work}\n${proof}`);
  expect(pasted.code, pasted.stderr).toBe(0);
  expect(pasted.stdout).toContain('is in the ledger');
  expect(pasted.stdout).not.toContain('anyone could have made it');
  expect(proof.trimEnd().split('\n')).toHaveLength(3);
  expect(existsSync(join(place.dir, '../proof.yaml'))).toBe(true);
  const { handoff } = reopen(place);
  expect(await handoff.ledger.verify()).toMatchObject({ size: 1, unsealed: 0, pending: 0 });
  expect(await handoff.task.show({ id: 'P0.2' })).toMatchObject({ status: 'done' });
  expect((await handoff.sessions()).sessions.filter(({ state }) => state === 'active')).toEqual([]);
  expect(git(place.dir, 'status', '--porcelain')).toBe('');
  git(place.dir, 'worktree', 'remove', '.worktrees/donna/p0-2-smoke-test'); // nothing is left behind that would stop it
});
