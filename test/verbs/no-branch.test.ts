import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Place } from '../handoff.ts';
import { git, isolatedEnv } from '../temporary.ts';
import { findings, template } from '../threats/forge.ts';
import { changes, open, recordsOf, workAndWrap, worktree } from './agents.ts';

const fresh = template((place) => commit(place, 'one'));

function commit({ dir }: Place, code: string): void {
  writeFileSync(join(dir, 'code.txt'), `${code}\n`);
  git(dir, 'add', 'code.txt');
  git(dir, 'commit', '--quiet', '--message', code);
}

const detach = ({ dir }: Place) => git(dir, 'checkout', '--quiet', '--detach');
const checkOut = ({ dir }: Place, branch: string) => git(dir, 'checkout', '--quiet', branch);

/** A rebase of main that has stopped at a conflict. */
function stopRebase(place: Place): void {
  git(place.dir, 'checkout', '--quiet', '-b', 'up');
  commit(place, 'theirs');
  checkOut(place, 'main');
  commit(place, 'mine');
  const { status } = spawnSync('git', ['-C', place.dir, 'rebase', 'up'], { env: isolatedEnv });
  expect(status).toBe(1);
}

/** The branches that have a session's baton. */
function branchesWith({ dir }: Place, path: string): string[] {
  const branches = git(dir, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n');
  return branches.filter((branch) => git(dir, 'ls-tree', '-r', '--name-only', branch, path) !== '');
}

const LOST: [string, (place: Place) => Promise<string>][] = [
  [
    'in a rebase that is given up',
    async (place) => {
      await place.handoff.start({ as: 'donna' });
      stopRebase(place);
      const { baton } = await place.handoff.wrap({ message: 'the last words' });
      git(place.dir, 'rebase', '--abort');
      return baton.path;
    },
  ],
  [
    'on a detached HEAD',
    async (place) => {
      detach(place);
      await place.handoff.start({ as: 'donna' });
      const { baton } = await place.handoff.wrap({ message: 'the last words' });
      checkOut(place, 'main');
      return baton.path;
    },
  ],
  [
    'on a detached HEAD, and sealed',
    async (place) => {
      detach(place);
      await place.handoff.start({ as: 'donna' });
      const { baton, session_id } = await place.handoff.wrap({ message: 'the last words' });
      await place.handoff.seal({ session: session_id });
      checkOut(place, 'main');
      return baton.path;
    },
  ],
  [
    'on a detached HEAD of a work tree that was removed',
    async (place) => {
      const side = worktree(place, 'side');
      detach(side);
      await side.handoff.start({ as: 'donna' });
      const { baton } = await side.handoff.wrap({ message: 'the last words' });
      git(place.dir, 'worktree', 'remove', side.dir);
      return baton.path;
    },
  ],
  [
    'on a detached HEAD, under a stash',
    async (place) => {
      detach(place);
      await place.handoff.start({ as: 'donna' });
      const { baton } = await place.handoff.wrap({ message: 'the last words' });
      writeFileSync(join(place.dir, 'code.txt'), 'later\n');
      git(place.dir, 'stash', '--quiet');
      checkOut(place, 'main');
      return baton.path;
    },
  ],
];

describe('a baton that was committed on no branch', () => {
  it.each(LOST)('%s: the next verb puts it back, and the next commit has it', async (_, lose) => {
    const place = fresh();
    const path = await lose(place);
    expect(branchesWith(place, path)).toEqual([]);
    const next = open(place);
    await next.handoff.start({ as: 'erin' });
    expect(next.warnings.join()).toContain('Restored from the journal');
    expect(existsSync(join(place.dir, path))).toBe(true);
    await next.handoff.note({ as: 'erin', text: 'and on', commit: true });
    expect(branchesWith(place, path)).toContain('main');
    expect(changes(place)).toEqual([]);
    expect(await findings(place)).toEqual([]);
    const clone = join(place.dir, '..', 'clone');
    git('/', 'clone', '--quiet', '--branch', 'main', place.dir, clone);
    expect(existsSync(join(clone, path))).toBe(true);
  });

  it('goes to whichever branch is checked out by then, and says so once', async () => {
    const place = fresh();
    detach(place);
    const session = await workAndWrap(place.handoff, 'donna');
    git(place.dir, 'checkout', '--quiet', '-b', 'other', 'main');
    await workAndWrap(open(place).handoff, 'erin');
    expect(branchesWith(place, recordsOf(place, session).at(-1)!.path)).toEqual(['other']);
    const after = open(place);
    await workAndWrap(after.handoff, 'erin');
    expect(after.warnings).toEqual([]);
  });

  it('is picked up by the very next verb', async () => {
    const place = fresh();
    detach(place);
    const session = await workAndWrap(place.handoff, 'donna', 'the last words');
    checkOut(place, 'main');
    expect(await open(place).handoff.pickup({ as: 'erin' })).toMatchObject({ baton: { body: 'the last words' } });
    expect(branchesWith(place, recordsOf(place, session).at(-1)!.path)).toEqual(['main']);
  });

  it('is committed by the same wrap, or the same seal, once more', async () => {
    const place = fresh();
    detach(place);
    const session = await workAndWrap(place.handoff, 'donna', 'the last words');
    checkOut(place, 'main');
    const { baton, commit: again } = await open(place).handoff.wrap({ as: 'donna', message: 'the last words' });
    expect(again).toBe(git(place.dir, 'rev-parse', 'main'));
    expect(branchesWith(place, baton.path)).toEqual(['main']);
    detach(place);
    await open(place).handoff.seal({ session });
    checkOut(place, 'main');
    expect(await open(place).handoff.seal({ session })).toMatchObject({
      already_sealed: true,
      commit: git(place.dir, 'rev-parse', 'main'),
    });
    expect(await findings(place)).toEqual([]);
  });

  it('is missed by audit verify until then', async () => {
    const place = fresh();
    detach(place);
    const session = await workAndWrap(place.handoff, 'donna');
    expect((await open(place).handoff.audit.verify()).valid).toBe(true);
    const paths = recordsOf(place, session).map(({ path }) => path);
    checkOut(place, 'main');
    const missed = (await open(place).handoff.audit.verify()).findings;
    expect(missed.map(({ code, path }) => [code, path])).toEqual(paths.map((path) => ['record_deleted', path]));
    expect(missed[0]!.hint).toContain('puts it back');
  });

  it('stays where it is while HEAD has it, or a branch that it was put on', async () => {
    const place = fresh();
    detach(place);
    const session = await workAndWrap(place.handoff, 'donna');
    const path = recordsOf(place, session).at(-1)!.path;
    const here = open(place);
    await workAndWrap(here.handoff, 'erin');
    git(place.dir, 'checkout', '--quiet', '-b', 'kept');
    checkOut(place, 'main');
    await workAndWrap(here.handoff, 'erin');
    expect(here.warnings.filter((text) => text.includes('Restored'))).toEqual([]);
    expect(branchesWith(place, path)).toEqual(['kept']);
    git(place.dir, 'branch', '--quiet', '-D', 'kept');
    await workAndWrap(open(place).handoff, 'erin');
    expect(branchesWith(place, path)).toEqual(['main']);
  });

  it('and its seal stay where they are when it is sealed once more elsewhere', async () => {
    const place = fresh();
    detach(place);
    const session = await workAndWrap(place.handoff, 'donna');
    await place.handoff.seal({ session });
    git(place.dir, 'branch', 'kept');
    checkOut(place, 'main');
    expect(await open(place).handoff.seal({ session })).toMatchObject({ already_sealed: true, commit: null });
    expect(recordsOf(place, session)).toEqual([]);
  });

  it('is on the branch once the rebase goes on', async () => {
    const place = fresh();
    await place.handoff.start({ as: 'donna' });
    stopRebase(place);
    const { baton } = await place.handoff.wrap({ message: 'the last words' });
    writeFileSync(join(place.dir, 'code.txt'), 'both\n');
    git(place.dir, 'add', 'code.txt');
    git(place.dir, '-c', 'core.editor=true', 'rebase', '--continue');
    const next = open(place);
    await next.handoff.start({ as: 'erin' });
    expect([branchesWith(place, baton.path), next.warnings]).toEqual([['main'], []]);
  });

  it('merges cleanly where it was put back, and on a branch as well', async () => {
    const place = fresh();
    detach(place);
    const session = await workAndWrap(place.handoff, 'donna');
    const lost = git(place.dir, 'rev-parse', 'HEAD');
    checkOut(place, 'main');
    await workAndWrap(open(place).handoff, 'erin');
    git(place.dir, 'branch', 'kept', lost);
    git(place.dir, 'merge', '--quiet', '-m', 'merge', 'kept');
    expect(recordsOf(place, session)).toHaveLength(2);
    expect(await findings(place)).toEqual([]);
  });

  it('keeps its journal however many come after it', async () => {
    const place = fresh();
    detach(place);
    const ids: string[] = [];
    for (let n = 0; n < 18; n++) ids.push(await workAndWrap(place.handoff, 'donna'));
    await place.handoff.start({ as: 'erin' });
    expect(readdirSync(join(place.dir, '.git/handoff/sessions'))).toEqual(expect.arrayContaining(ids));
    git(place.dir, 'branch', 'kept');
    await place.handoff.start({ as: 'erin' }); // verbs that write forget what commits have
    expect(readdirSync(join(place.dir, '.git/handoff/sessions'))).not.toContain(ids[0]);
  });
});

describe('a session that was committed by hand on another branch', () => {
  /** As it was found there: of which branch is not said. */
  async function byHand(): Promise<{ place: Place; session: string }> {
    const place = fresh();
    git(place.dir, 'checkout', '--quiet', '-b', 'side');
    const { session_id } = await place.handoff.start({ as: 'donna' });
    await place.handoff.wrap({ message: 'the last words', commit: false, stage: true });
    git(place.dir, 'commit', '--quiet', '--message', 'by hand');
    checkOut(place, 'main');
    await workAndWrap(open(place).handoff, 'erin');
    const mark = join(place.dir, '.git/handoff/sessions', session_id, 'committed');
    expect(JSON.parse(readFileSync(mark, 'utf8'))).toEqual({ branch: null });
    return { place, session: session_id };
  }

  it('stays there as long as the branch does', async () => {
    const { place, session } = await byHand();
    const next = open(place);
    await workAndWrap(next.handoff, 'erin');
    expect([recordsOf(place, session), next.warnings]).toEqual([[], []]);
    git(place.dir, 'branch', '--quiet', '-D', 'side');
    await workAndWrap(next.handoff, 'erin');
    expect(recordsOf(place, session)).toHaveLength(2);
    expect(next.warnings.join()).toContain('Restored');
  });

  it('costs no verb more than three git processes, however many there are', async () => {
    const { place } = await byHand();
    checkOut(place, 'side');
    for (const message of ['one', 'two']) {
      await open(place).handoff.start({ as: 'donna' });
      await open(place).handoff.wrap({ as: 'donna', message, commit: false, stage: true });
      git(place.dir, 'commit', '--quiet', '--message', message);
    }
    checkOut(place, 'main');
    for (const verb of ['first', 'second']) {
      const trace = join(place.dir, '..', 'trace');
      rmSync(trace, { force: true });
      await open(place).handoff.start({ as: 'erin' });
      const { handoff } = open(place, { env: { GIT_TRACE: trace } });
      await handoff.wrap({ as: 'erin', message: verb });
      await handoff.close();
      const started = [...readFileSync(trace, 'utf8').matchAll(/built-in: git (\S+)/g)].map(([, command]) => command);
      expect(started.length).toBeLessThanOrEqual(3);
    }
  });
});

describe('that a commit is on no branch', () => {
  const said = ({ warnings }: Place) => warnings.filter((text) => text.includes('git switch -c'));

  it('is said by wrap and seal, with what keeps it', async () => {
    const place = fresh();
    detach(place);
    const here = open(place);
    await here.handoff.start({ as: 'donna' });
    await here.handoff.note({ text: 'one', commit: true });
    expect(said(here)).toHaveLength(0);
    await here.handoff.seal();
    expect(said(here)).toHaveLength(1);
    await here.handoff.wrap({ message: 'done' });
    expect(said(here)).toHaveLength(2);
  });

  it('is not said where nothing was committed, nor on a branch, nor in a rebase, which goes on', async () => {
    const place = fresh();
    const here = open(place);
    await workAndWrap(here.handoff, 'donna');
    await here.handoff.start({ as: 'donna' });
    stopRebase(place);
    await here.handoff.wrap({ as: 'donna', message: 'in between' });
    git(place.dir, 'rebase', '--abort');
    detach(place);
    await here.handoff.start({ as: 'donna' });
    await here.handoff.wrap({ as: 'donna', message: 'staged', commit: false });
    expect(said(here)).toEqual([]);
  });
});
