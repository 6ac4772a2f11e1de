import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { squash } from '../gate/landing.ts';
import {
  branch,
  checkout,
  code,
  commitRecords,
  DONE,
  headOf,
  honestBranch,
  IN_PROGRESS,
  merge,
  thoughtSince,
} from '../gate/scenario.ts';
import { told } from '../gate/tasks.ts';
import { type Draft, type Place, STORY, writeBytes, writeSession } from '../handoff.ts';
import { git, gitInput, temporaryDirectory } from '../temporary.ts';
import { rawTree, template } from '../threats/forge.ts';
import { open, snapshot, tryGit, writeHook } from './hooked.ts';

// THREATS 66: one push costs a server so much and no more, and what is beyond that is refused with what to do.

const place = template();
const MAIN = 'refs/heads/main';

async function withServer(here: Place, limits: Record<string, string> = {}): Promise<string> {
  const server = join(here.dir, '../server.git');
  git('/', 'init', '--quiet', '--bare', '--initial-branch=main', server);
  git(here.dir, 'push', '--quiet', server, 'main');
  git(server, 'config', 'handoff.root', here.root);
  for (const [name, value] of Object.entries(limits)) git(server, 'config', `handoff.budget.${name}`, value);
  await open(server).hooks.install({ server: true });
  return server;
}

const push = ({ dir }: Place, server: string, refspecs: string[], env: NodeJS.ProcessEnv = {}) =>
  tryGit(dir, ['push', '--no-verify', server, ...refspecs], env);

/** One finding, with its code, its limit and what to do. */
function beyond(codeName: string, limit: string, name: string) {
  const hint = `Push it in pieces, .*git config handoff\\.budget\\.${name} NUMBER`;
  return { code: 1, stderr: expect.stringMatching(new RegExp(`remote: error ${codeName}: .*${limit}.*${hint}`)) };
}

/** A session with as many records, each in a commit of its own. */
function commits(here: Place, number: number): string[] {
  return Array.from({ length: number }, () => {
    writeSession(here, STORY);
    return commitRecords(here);
  });
}

describe('a push that costs too much is refused, and passes in pieces or under a higher limit', () => {
  it('refs', async () => {
    const here = place();
    const server = await withServer(here, { refs: '2' });
    const names = ['a', 'b', 'c'].map((name) => `main:refs/heads/${name}`);
    expect(push(here, server, names)).toMatchObject(beyond('too_large', 'at most 2 refs', 'refs'));
    expect(git(server, 'for-each-ref', '--format=%(refname)')).toBe(MAIN);
    for (const piece of [names.slice(0, 2), names.slice(2)])
      expect(push(here, server, piece)).toMatchObject({ code: 0 });
  });

  it('commits, of all refs together', async () => {
    const here = place();
    await here.handoff.policy.set({ key: 'protected', value: `${MAIN},refs/heads/release` });
    const server = await withServer(here, { commits: '3' });
    const [, second] = commits(here, 4);
    expect(push(here, server, ['main'])).toMatchObject(beyond('too_large', 'at most 3 commits', 'commits'));
    expect(push(here, server, [`${second}:${MAIN}`, `${second}:refs/heads/release`])).toMatchObject(
      beyond('too_large', 'at most 3 commits', 'commits'),
    );
    expect(push(here, server, [`${second}:${MAIN}`])).toMatchObject({ code: 0 });
    expect(push(here, server, ['main'])).toMatchObject({ code: 0 });
  });

  it('bytes', async () => {
    const here = place();
    const server = await withServer(here, { bytes: '40k' });
    commits(here, 3);
    expect(push(here, server, ['main'])).toMatchObject(beyond('too_large', 'at most 40960 bytes', 'bytes'));
    git(server, 'config', 'handoff.budget.bytes', '1m');
    expect(push(here, server, ['main'])).toMatchObject({ code: 0 });
  });

  it('commits that are read to see whether what an older thought is about has landed', async () => {
    const here = place();
    const base = headOf(here.dir);
    branch(here, 'feature');
    code(here, { 'src/a.ts': 'a\n' });
    told(here, [IN_PROGRESS, await thoughtSince(here, base)], { clock: 20 });
    squash(here);
    for (const text of ['b', 'c', 'd', 'e']) code(here, { 'src/a.ts': `a\n${text}\n` });
    const server = await withServer(here, { commits: '3' });
    told(here, [DONE], { clock: 60 });
    expect(push(here, server, ['main'])).toMatchObject(beyond('too_large', 'at most 3 commits', 'commits'));
    git(server, 'config', 'handoff.budget.commits', '100');
    expect(push(here, server, ['main'])).toMatchObject({ code: 0 });
  });

  it('bytes of a few long records', async () => {
    const here = place();
    const server = await withServer(here, { bytes: '500k' });
    const note: Draft = { kind: 'note', text: 'a'.repeat(200_000) };
    writeSession(here, [{ kind: 'start' }, note, note, note]);
    commitRecords(here);
    expect(push(here, server, ['main'])).toMatchObject(beyond('too_large', 'at most 512000 bytes', 'bytes'));
    git(server, 'config', 'handoff.budget.bytes', '2m');
    expect(push(here, server, ['main'])).toMatchObject({ code: 0 });
  });

  it('memory: a file of line ends, which is next to nothing in a push', async () => {
    const here = place();
    const server = await withServer(here, { memory: '1m' });
    code(here, { 'src/lines.txt': '\n'.repeat(1 << 20) });
    const refused = push(here, server, ['main']);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('remote: error too_large: ') });
    expect(refused.stderr).toMatch(
      /at most 1048576 bytes that git takes at once.*git config handoff\.budget\.memory NUMBER/,
    );
    git(server, 'config', 'handoff.budget.memory', '256m');
    expect(push(here, server, ['main']).stderr).toContain('writeback_missing');
  });

  it('merges that have to be made again', async () => {
    const here = place();
    const server = await withServer(here, { merges: '2' });
    branch(here, 'side');
    for (const name of ['a', 'b', 'c']) {
      branch(here, name, 'main');
      code(here, { [name]: `${name}\n` });
      checkout(here, 'side');
      merge(here, '--no-ff', name);
    }
    expect(push(here, server, [`side:${MAIN}`])).toMatchObject(
      beyond('too_many_merges', 'at most 2 merges that have to be made again', 'merges'),
    );
    git(server, 'config', 'handoff.budget.merges', '512');
    const { stderr } = push(here, server, [`side:${MAIN}`]);
    expect(stderr).toContain('error writeback_missing');
    expect(stderr).not.toContain('too_many_merges');
  });

  it('memory: a merge of many branches, each with its own thousands of exempt files', async () => {
    const here = place();
    await here.handoff.policy.set({ key: 'exempt', value: 'docs/' });
    const server = await withServer(here, { memory: '2m' });
    const main = git(here.dir, 'ls-tree', 'main');
    const file = git(here.dir, 'hash-object', '-w', '--stdin');
    const names = (side: number) =>
      Array.from({ length: 3000 }, (_, at) => `${side}-${String(at).padStart(6, '0')}.md`);
    const sides = Array.from({ length: 12 }, (_, side) => {
      const docs = rawTree(
        here.dir,
        names(side).map((name) => ({ mode: '100644', name, oid: file })),
      );
      const tree = gitInput(here.dir, `${main}\n040000 tree ${docs}\tdocs\n`, 'mktree');
      return git(here.dir, 'commit-tree', tree, '-p', 'main', '-m', `docs of ${side}`);
    });
    const parents = ['main', ...sides].flatMap((oid) => ['-p', oid]);
    const joined = git(here.dir, 'commit-tree', `${sides[0]}^{tree}`, ...parents, '-m', 'all docs');
    const refused = push(here, server, [`${joined}:${MAIN}`]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('remote: error too_large: ') });
    expect(refused.stderr).toMatch(
      /at most 2097152 bytes of folders.*Merge fewer branches in one commit.*git config handoff\.budget\.memory NUMBER/,
    );
    const one = git(here.dir, 'commit-tree', `${sides[0]}^{tree}`, ...parents.slice(0, 4), '-m', 'some docs');
    expect(push(here, server, [`${one}:${MAIN}`])).toMatchObject({ code: 0 });
    git(server, 'config', 'handoff.budget.memory', '256m');
    const rest = git(here.dir, 'commit-tree', `${one}^{tree}`, '-p', one, '-p', joined, '-m', 'the rest');
    expect(push(here, server, [`${rest}:${MAIN}`])).toMatchObject({ code: 0 });
  });

  it('a few trees that stand for a thousand million files', async () => {
    const here = place();
    const server = await withServer(here);
    const folder = (oid: string, mode: string, names: string[]) =>
      rawTree(
        here.dir,
        names.map((name) => ({ mode, name, oid })),
      );
    const TEN = Array.from({ length: 10 }, (_, at) => `n${at}`);
    let oid = folder(git(here.dir, 'hash-object', '-w', '--stdin'), '100644', TEN);
    for (let depth = 1; depth < 9; depth++) oid = folder(oid, '40000', TEN);
    const sessions = folder(folder(oid, '40000', ['20260220T143025-00000000']), '40000', ['donna']);
    const inside = git(here.dir, 'ls-tree', 'main:.handoff');
    const handoff = gitInput(here.dir, `${inside}\n040000 tree ${sessions}\tsessions\n`, 'mktree');
    const others = git(here.dir, 'ls-tree', 'main').replace(
      /^040000 tree .*\t\.handoff$/m,
      `040000 tree ${handoff}\t.handoff`,
    );
    const bomb = git(here.dir, 'commit-tree', gitInput(here.dir, `${others}\n`, 'mktree'), '-p', 'main', '-m', 'bomb');
    expect(push(here, server, [`${bomb}:${MAIN}`])).toMatchObject(beyond('too_large', 'bytes in .handoff', 'bytes'));
  });
});

describe('the limits', () => {
  it('are those of the server, whatever the client has', async () => {
    const here = place();
    const server = await withServer(here, { commits: '1' });
    writeBytes(here.dir, '.gitconfig', '[handoff "budget"]\n\tcommits = 100\n');
    git(here.dir, 'config', 'handoff.budget.commits', '100');
    commits(here, 2);
    const args = ['-c', 'handoff.budget.commits=100', 'push', '--no-verify', server, 'main'];
    expect(tryGit(here.dir, args)).toMatchObject(beyond('too_large', 'at most 1 commits', 'commits'));
  });

  it('that nobody can read are no reason to take everything', async () => {
    const here = place();
    const server = await withServer(here, { seconds: 'plenty' });
    commits(here, 1);
    const { code: status, stderr } = push(here, server, ['main']);
    expect([status, stderr]).toEqual([1, expect.stringContaining('handoff.budget.seconds: expected a number')]);
    expect(stderr).toContain('git config handoff.budget.seconds 120');
  });
});

/** Git as the server finds it, but for one command, which does something else. */
function execPath(command: string, instead: string): string {
  const real = execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim();
  const folder = temporaryDirectory();
  for (const name of readdirSync(real)) if (name !== 'git') symlinkSync(join(real, name), join(folder, name));
  writeHook(
    join(folder, 'git'),
    `#!/bin/sh\ncase " $* " in *' ${command} '*) ${instead} ;; esac\nexec ${join(real, 'git')} "$@"\n`,
  );
  return folder;
}

const isAlive = (pid: number): boolean => {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
};

describe('a verdict that does not come', () => {
  it.each(['diff-tree', 'merge-tree'])(
    'while git is at work (%s): the push is refused, that git is ended, and nothing is left behind',
    async (command) => {
      const here = place();
      const server = await withServer(here, { seconds: '3' });
      await honestBranch(here);
      checkout(here, 'main');
      code(here, { other: 'other\n' });
      merge(here, '--no-ff', 'feature');
      const before = snapshot(server);
      const note = join(temporaryDirectory(), 'pid');
      const GIT_EXEC_PATH = execPath(command, `echo $$ >${note}; exec sleep 60`);
      const { code: status, stderr } = push(here, server, [`HEAD:${MAIN}`], { GIT_EXEC_PATH });
      expect([status, stderr]).toEqual([1, expect.stringContaining('error over_budget: ')]);
      expect(stderr).toContain('expected a verdict within 3 seconds');
      expect(isAlive(Number(readFileSync(note, 'utf8')))).toBe(false);
      const left = Object.keys(snapshot(server)).filter((name) => !(name in before) && /lock|tmp|incoming/.test(name));
      expect(left).toEqual([]);
      git(server, 'config', '--unset', 'handoff.budget.seconds');
      expect(push(here, server, [`feature:${MAIN}`])).toMatchObject({ code: 0 });
    },
  );

  it.each(['KILL', 'TERM'])('as the hook is killed by SIG%s: refused, and the next push passes', async (signal) => {
    const here = place();
    const server = await withServer(here);
    await honestBranch(here);
    const GIT_EXEC_PATH = execPath('diff-tree', `kill -${signal} $PPID; exec sleep 20`);
    const main = git(server, 'rev-parse', 'main');
    expect(push(here, server, [`feature:${MAIN}`], { GIT_EXEC_PATH }).code).toBe(1);
    expect(git(server, 'rev-parse', 'main')).toBe(main);
    expect(push(here, server, [`feature:${MAIN}`])).toMatchObject({ code: 0 });
    expect(git(server, 'rev-parse', 'main')).toBe(headOf(here.dir));
  });

  it('as git cannot be started: refused', async () => {
    const here = place();
    const server = await withServer(here);
    await honestBranch(here);
    const GIT_EXEC_PATH = execPath('cat-file', 'exit 127');
    expect(push(here, server, [`feature:${MAIN}`], { GIT_EXEC_PATH })).toMatchObject({ code: 1 });
  });
});
