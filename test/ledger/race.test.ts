import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { nodeHost } from '../../src/host.ts';
import { openRepositoryAt } from '../../src/repository/repository.ts';
import { catchUp, readTips } from '../../src/sealing/ledger/race.ts';
import { type Run, run } from '../cli/cli.ts';
import { newKey, type Place, privateKey, writeBytes } from '../handoff.ts';
import { git, isolatedEnv, temporaryDirectory } from '../temporary.ts';
import { identityOf, reopen, signDocument, template } from '../threats/forge.ts';
import { changes } from '../verbs/agents.ts';
import { makeKey, signLine } from './note-key.ts';
import { commitHandoff, commitSealed, entriesOf, sealedSession } from './sealed.ts';

// Several clones append at once; the remote is a bare repository, with our hook and without.

const fresh = template(async (place) => {
  commitSealed(place, 2);
  await place.handoff.ledger.append();
});
const CLI = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));

interface Remote {
  bare: string;
  /** A clone of what it has now, as another machine of the same maintainer. */
  clone(name: string): Place;
}

function remote(place: Place, isHooked: boolean): Remote {
  const base = temporaryDirectory();
  const bare = join(base, 'origin.git');
  git('/', 'clone', '--quiet', '--bare', place.dir, bare);
  git(bare, 'config', 'handoff.root', place.root);
  if (isHooked) ok(run(['-C', bare, 'hooks', 'install', '--server']));
  const clone = (name: string): Place => {
    const dir = join(base, name);
    git('/', 'clone', '--quiet', bare, dir);
    return { ...place, dir };
  };
  return { bare, clone };
}

function ok(result: Run): Run {
  expect(result).toMatchObject({ code: 0 });
  return result;
}

/** The command as a process, which does not wait for others. */
function start({ dir, env }: Place, ...args: string[]): Promise<Run> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [CLI, '-C', dir, ...args], { env: { ...isolatedEnv, ...env } });
    const out = { stdout: '', stderr: '' };
    child.stdout.on('data', (text) => (out.stdout += text));
    child.stderr.on('data', (text) => (out.stderr += text));
    child.on('close', (code) => resolve({ code, ...out }));
  });
}

function append(place: Place, ...flags: string[]): Promise<Run> {
  return start(place, 'ledger', 'append', '--json', ...flags);
}

/** A sealed session that arrives on the remote's main by a commit of its own. */
function arrives(place: Place, count = 1): void {
  commitSealed(place, count);
  git(place.dir, 'push', '--quiet', 'origin', 'main');
}

function pull({ dir }: Place): void {
  git(dir, 'pull', '--quiet', '--ff-only');
}

/** The ledger of the remote's main: whole, linear, and each seal once. */
async function expectOneLedger({ bare, clone }: Remote, size: number): Promise<void> {
  const place = clone(`judge-${size}`);
  expect(await reopen(place).handoff.ledger.verify()).toMatchObject({ size, pending: 0, unsealed: 0 });
  expect(new Set(entriesOf(place)).size).toBe(size);
  expect((await reopen(place).handoff.verify()).findings).toEqual([]);
  expect(git(bare, 'rev-list', '--min-parents=2', 'main')).toBe('');
}

const SERVERS: [string, boolean][] = [
  ['a server with our hook', true],
  ['a plain server', false],
];

describe.each(SERVERS)('%s: who is second', (_, isHooked) => {
  /** A clone that appended what it knew, while another appended that and more. `differs`: not the same seals. */
  async function lost(differs = true): Promise<[Remote, Place, Place]> {
    const there = remote(fresh(), isHooked);
    const [winner, loser] = [there.clone('winner'), there.clone('loser')];
    arrives(winner, 3);
    pull(loser);
    if (differs) arrives(winner, 3);
    ok(await append(loser));
    ok(await append(winner, '--push'));
    return [there, winner, loser];
  }

  test.each([true, false])('begins again with --push, be it with other seals: %s', async (differs) => {
    const [there, winner, loser] = await lost(differs);
    const result = ok(await append(loser, '--push'));
    expect(JSON.parse(result.stdout)).toMatchObject({ size: differs ? 8 : 5, appended: 0 });
    expect(git(loser.dir, 'rev-parse', 'HEAD')).toBe(git(winner.dir, 'rev-parse', 'HEAD'));
    expect(changes(loser)).toEqual([]);
    await expectOneLedger(there, differs ? 8 : 5);
  });

  test('appends again by hand, and pushes without a conflict', async () => {
    const [there, winner, loser] = await lost();
    expect(() => git(loser.dir, 'push', '--quiet')).toThrow(/rejected/);
    arrives(winner, 2); // and there is more to append
    git(loser.dir, 'fetch', '--quiet');
    const result = ok(await append(loser));
    expect(JSON.parse(result.stdout)).toMatchObject({ size: 10, appended: 2 });
    expect(result.stderr).toContain('lost a race');
    git(loser.dir, 'push', '--quiet');
    expect(git(loser.dir, 'status', '--porcelain', '--branch')).toBe('## main...origin/main');
    await expectOneLedger(there, 10);
    expect(await reopen(loser).handoff.ledger.verify()).toMatchObject({ size: 10 });
  });

  test('may as well take what is there by hand: nobody had seen theirs', async () => {
    const [, winner, loser] = await lost();
    expect(await reopen(loser).handoff.ledger.verify()).toMatchObject({ size: 5 });
    git(loser.dir, 'fetch', '--quiet');
    git(loser.dir, 'reset', '--quiet', '--hard', 'origin/main');
    expect(await reopen(loser).handoff.ledger.verify()).toMatchObject({ size: 8 });
    pull(winner);
    expect(JSON.parse(ok(await append(loser)).stdout)).toMatchObject({ size: 8, appended: 0 });
  });

  test('keeps what is staged and what is changed', async () => {
    const [, , loser] = await lost();
    writeBytes(loser.dir, 'staged.ts', 'staged\n');
    git(loser.dir, 'add', 'staged.ts');
    writeBytes(loser.dir, 'staged.ts', 'and changed\n');
    writeBytes(loser.dir, 'loose.ts', 'loose\n');
    ok(await append(loser, '--push'));
    expect(changes(loser)).toEqual(['AM staged.ts', '?? loose.ts']);
  });

  test('trusts whom the winner has brought along', async () => {
    const there = remote(fresh(), isHooked);
    const [winner, loser] = [there.clone('winner'), there.clone('loser')];
    arrives(winner);
    pull(loser);
    ok(await append(loser));
    const key = newKey();
    const signer: [string, typeof key] = ['maintainer', privateKey(winner, 'maintainer')];
    const fay = signDocument(identityOf(winner, 'fay', key), [signer]);
    writeBytes(winner.dir, '.handoff/identities/fay/identity.yaml', fay);
    commitHandoff(winner);
    sealedSession(winner, { identity: 'fay', key });
    commitHandoff(winner);
    git(winner.dir, 'push', '--quiet');
    expect(JSON.parse(ok(await append(loser, '--push')).stdout)).toMatchObject({ size: 4, appended: 2 });
    await expectOneLedger(there, 4);
  });

  test('is left alone with commits of another kind', async () => {
    const [, , loser] = await lost();
    writeBytes(loser.dir, 'mine.md', 'mine\n');
    git(loser.dir, 'add', 'mine.md');
    git(loser.dir, 'commit', '--quiet', '--message', 'mine');
    const head = git(loser.dir, 'rev-parse', 'HEAD');
    git(loser.dir, 'fetch', '--quiet');
    expect(JSON.parse(ok(await append(loser)).stdout)).toMatchObject({ appended: 0, commit: null });
    expect(git(loser.dir, 'rev-parse', 'HEAD')).toBe(head);
    const refused = await append(loser, '--push');
    expect(refused.code).toBe(4);
    expect(JSON.parse(refused.stdout).error).toMatchObject({ code: 'io', hint: expect.stringContaining('git pull') });
    expect(git(loser.dir, 'rev-parse', 'HEAD')).toBe(head);
    expect(readFileSync(join(loser.dir, 'mine.md'), 'utf8')).toBe('mine\n');
  });

  test('asked to end while it is brought to where the remote is, ends when it is there', async () => {
    const [, winner, loser] = await lost();
    git(loser.dir, 'fetch', '--quiet');
    const hook = '[ "$1" = prepared ] && grep -q refs/heads/main && : > .git/reached && sleep 1\nexit 0';
    writeBytes(loser.dir, '.git/hooks/reference-transaction', `#!/bin/sh\n${hook}\n`);
    chmodSync(join(loser.dir, '.git/hooks/reference-transaction'), 0o755);
    const env = { ...isolatedEnv, ...loser.env };
    const child = spawn(process.execPath, [CLI, '-C', loser.dir, 'ledger', 'append'], { env });
    while (!existsSync(join(loser.dir, '.git/reached'))) await new Promise((next) => setTimeout(next, 20));
    child.kill('SIGTERM');
    const [, signal] = await once(child, 'close');
    expect(signal).toBe('SIGTERM');
    expect(git(loser.dir, 'rev-parse', 'HEAD')).toBe(git(winner.dir, 'rev-parse', 'HEAD'));
    expect(changes(loser)).toEqual([]);
    expect(readdirSync(join(loser.dir, '.git')).filter((name) => /\.lock$|handoff-/.test(name))).toEqual([]);
  });

  /** Ends like a power cut of the append: right after git has replaced the files, and before they are in the index. */
  async function killedWhileMoved(loser: Place): Promise<void> {
    git(loser.dir, 'fetch', '--quiet');
    const shim = join(loser.dir, '../bin');
    const kill = 'case "$*" in *\\ read-tree\\ *) git "$@"; kill -9 $PPID; exit ;; esac';
    writeBytes(shim, 'git', `#!/bin/sh\nPATH="\${PATH#*:}"\n${kill}\nexec git "$@"\n`);
    chmodSync(join(shim, 'git'), 0o755);
    const killed = await append({ ...loser, env: { ...loser.env, PATH: `${shim}:${process.env.PATH}` } }, '--push');
    expect(killed.code).toBeNull();
    expect(existsSync(join(loser.dir, '.git/index.lock'))).toBe(true);
  }

  test.each([[], ['--push']])(
    'killed while it is brought to where the remote is, goes on: append %s',
    async (...flags) => {
      const [, winner, loser] = await lost();
      writeBytes(loser.dir, 'staged.ts', 'staged\n');
      git(loser.dir, 'add', 'staged.ts');
      await killedWhileMoved(loser);
      const left = changes(loser);
      expect(left).toContain(' M .handoff/ledger/checkpoint');
      expect(JSON.parse(ok(await append(loser, ...flags)).stdout)).toMatchObject({ size: 8, appended: 0 });
      expect(git(loser.dir, 'rev-parse', 'HEAD')).toBe(git(winner.dir, 'rev-parse', 'HEAD'));
      expect(changes(loser)).toEqual(['A  staged.ts']);
      expect(await reopen(loser).handoff.ledger.verify()).toMatchObject({ size: 8 });
    },
  );

  test('killed so, and the remote has moved on since, goes on as well', async () => {
    const [, winner, loser] = await lost();
    await killedWhileMoved(loser);
    arrives(winner, 2);
    ok(await append(winner, '--push'));
    git(loser.dir, 'fetch', '--quiet');
    expect(JSON.parse(ok(await append(loser)).stdout)).toMatchObject({ size: 10, appended: 0 });
    expect(changes(loser)).toEqual([]);
  });

  test('killed so, and changed since: nothing is lost, and what to do is said', async () => {
    const [, , loser] = await lost();
    await killedWhileMoved(loser);
    writeBytes(loser.dir, '.handoff/ledger/checkpoint', 'mine\n');
    const refused = JSON.parse((await append(loser, '--push')).stdout).error;
    expect(refused).toMatchObject({ code: 'io', hint: expect.stringContaining('git stash push --include-untracked') });
    expect(readFileSync(join(loser.dir, '.handoff/ledger/checkpoint'), 'utf8')).toBe('mine\n');
    git(loser.dir, 'stash', 'push', '--quiet', '--include-untracked');
    expect(JSON.parse(ok(await append(loser, '--push')).stdout)).toMatchObject({ size: 8 });
    expect(changes(loser)).toEqual([]);
  });

  const MINE: [string, (dir: string) => void][] = [
    [
      'commits that come to nothing',
      (dir) => {
        writeBytes(dir, 'mine.md', 'mine\n');
        git(dir, 'add', 'mine.md');
        git(dir, 'commit', '--quiet', '--message', 'mine');
        git(dir, 'revert', '--no-edit', 'HEAD');
      },
    ],
    ['a commit that changes nothing', (dir) => git(dir, 'commit', '--quiet', '--allow-empty', '--message', 'a mark')],
    [
      'what a witness has signed',
      (dir) => {
        const path = '.handoff/ledger/checkpoint';
        const text = readFileSync(join(dir, path), 'utf8');
        const signed = text.slice(0, text.indexOf('\n\n') + 1);
        writeBytes(dir, path, text + signLine(makeKey('witness.example/w1', 4), signed));
        git(dir, 'commit', '--quiet', '--all', '--message', 'cosigned');
      },
    ],
  ];

  test.each(MINE)('is left alone with %s, which cannot be made again', async (_, commitMine) => {
    const [, , loser] = await lost();
    commitMine(loser.dir);
    const head = git(loser.dir, 'rev-parse', 'HEAD');
    git(loser.dir, 'fetch', '--quiet');
    ok(await append(loser));
    expect(git(loser.dir, 'rev-parse', 'HEAD')).toBe(head);
  });

  test('need not have a log of what the remote had', async () => {
    const there = remote(fresh(), isHooked);
    const [winner, loser] = [there.clone('winner'), there.clone('loser')];
    git(loser.dir, 'config', 'core.logAllRefUpdates', 'false');
    rmSync(join(loser.dir, '.git/logs'), { recursive: true });
    arrives(winner, 3);
    pull(loser);
    // the other one is faster between the append and its push
    const shim = join(loser.dir, '../bin');
    const win = `node '${CLI}' -C '${winner.dir}' ledger append --push`;
    writeBytes(
      shim,
      'git',
      `#!/bin/sh\nPATH="\${PATH#*:}"\ncase "$*" in *\\ push\\ *) [ -e '${shim}/once' ] || { : > '${shim}/once'; ${win} >&2; } ;; esac\nexec git "$@"\n`,
    );
    chmodSync(join(shim, 'git'), 0o755);
    commitSealed(winner, 1);
    const env = { ...loser.env, PATH: `${shim}:${process.env.PATH}` };
    const result = ok(await append({ ...loser, env }, '--push'));
    expect(JSON.parse(result.stdout)).toMatchObject({ size: 6, appended: 0 });
    await expectOneLedger(there, 6);
  });

  test('is left alone with a merge', async () => {
    const [, , loser] = await lost();
    git(loser.dir, 'fetch', '--quiet');
    git(loser.dir, 'merge', '--quiet', '--strategy=ours', '--no-edit', 'origin/main~1');
    const head = git(loser.dir, 'rev-parse', 'HEAD');
    await append(loser);
    expect(git(loser.dir, 'rev-parse', 'HEAD')).toBe(head);
  });

  test('our hooks in the clone are no hindrance', async () => {
    const [there, , loser] = await lost();
    ok(run(['-C', loser.dir, 'hooks', 'install'], { env: loser.env }));
    expect(existsSync(join(loser.dir, '.git/hooks/reference-transaction'))).toBe(true);
    expect(JSON.parse(ok(await append(loser, '--push')).stdout)).toMatchObject({ size: 8 });
    arrives(there.clone('third'));
    pull(loser);
    expect(JSON.parse(ok(await append(loser, '--push')).stdout)).toMatchObject({ size: 9, appended: 1 });
    await expectOneLedger(there, 9);
  });
});

test('who is only behind is brought along by --push, and by nothing else', async () => {
  const there = remote(fresh(), false);
  const [winner, other] = [there.clone('winner'), there.clone('other')];
  arrives(winner, 2);
  const head = git(other.dir, 'rev-parse', 'HEAD');
  git(other.dir, 'fetch', '--quiet');
  expect(JSON.parse(ok(await append(other)).stdout)).toMatchObject({ size: 2, appended: 0 });
  expect(git(other.dir, 'rev-parse', 'HEAD')).toBe(head);
  expect(JSON.parse(ok(await append(other, '--push')).stdout)).toMatchObject({ size: 4, appended: 2 });
  // nor does it have to have heard of it
  arrives(there.clone('third'));
  expect(JSON.parse(ok(await append(other, '--push')).stdout)).toMatchObject({ size: 5, appended: 1 });
  await expectOneLedger(there, 5);
});

describe.each(SERVERS)('%s: all at once', (_, isHooked) => {
  test('five clones, each with what it knows, end with one ledger that has every seal once', async () => {
    const there = remote(fresh(), isHooked);
    const source = there.clone('source');
    // each clone has one session more than the one before it
    const clones = Array.from({ length: 5 }, (_, n) => {
      arrives(source);
      return there.clone(`clone-${n}`);
    });
    const results = await Promise.all(clones.map((clone) => append(clone, '--push')));
    expect(results.map(({ code, stderr }) => (code === 0 ? 'done' : stderr))).toEqual(Array(5).fill('done'));
    await expectOneLedger(there, 7);
    for (const clone of clones) {
      git(clone.dir, 'fetch', '--quiet');
      ok(await append(clone));
      expect(git(clone.dir, 'rev-parse', 'HEAD')).toBe(git(there.bare, 'rev-parse', 'main'));
      expect(await reopen(clone).handoff.ledger.verify()).toMatchObject({ size: 7 });
    }
  });
});

test('a remote that refuses says why, and nothing is lost', async () => {
  const there = remote(fresh(), false);
  const place = there.clone('clone');
  commitSealed(place);
  writeBytes(there.bare, 'hooks/pre-receive', '#!/bin/sh\necho "closed for today" >&2\nexit 1\n');
  git(there.bare, 'config', 'core.hooksPath', join(there.bare, 'hooks'));
  chmodSync(join(there.bare, 'hooks/pre-receive'), 0o755);
  const result = await append(place, '--push');
  expect(result.code).toBe(4);
  expect(JSON.parse(result.stdout).error).toMatchObject({
    code: 'io',
    message: expect.stringContaining('closed for today'),
    hint: expect.stringContaining('git push origin'),
  });
  expect(await reopen(place).handoff.ledger.verify()).toMatchObject({ size: 3 });
});

test('what was pushed is said, and where to, and that there was nothing to push', async () => {
  const { bare, clone } = remote(fresh(), false);
  const [here, other] = [clone('here'), clone('other')];
  arrives(here);
  const text = (place: Place) => start(place, 'ledger', 'append', '--push').then((result) => ok(result).stdout);
  expect(await text(here)).toMatch(/1 appended[\s\S]*\n +pushed +main to origin\n/);
  expect(git(bare, 'rev-parse', 'main')).toBe(git(here.dir, 'rev-parse', 'HEAD'));
  expect(await text(here)).toMatch(/nothing new\n[\s\S]* +pushed +nothing: origin has all of main\n/);
  pull(other);
  commitSealed(other);
  const to = { branch: 'main', remote: 'origin' };
  expect(JSON.parse(ok(await append(other)).stdout)).toMatchObject({ pushed: false, pushed_to: null });
  expect(JSON.parse(ok(await append(other, '--push')).stdout)).toMatchObject({
    commit: null,
    pushed: true,
    pushed_to: to,
  });
  expect(JSON.parse(ok(await append(other, '--push')).stdout)).toMatchObject({ pushed: false, pushed_to: to });
  // an address may have a password in it
  git(other.dir, 'config', 'branch.main.remote', `file://${bare}`);
  commitSealed(other);
  expect(JSON.parse(ok(await append(other, '--push')).stdout)).toMatchObject({
    pushed: true,
    pushed_to: { branch: 'main', remote: null },
  });
});

test('without a remote there is nothing to push to, and that is said', async () => {
  const place = fresh();
  commitSealed(place);
  const head = git(place.dir, 'rev-parse', 'HEAD');
  const result = await append(place, '--push');
  expect(JSON.parse(result.stdout).error).toMatchObject({
    code: 'usage',
    message: 'There is no remote to push main to.',
    hint: expect.stringContaining('Without --push'),
  });
  expect(git(place.dir, 'rev-parse', 'HEAD')).toBe(head);
});

test('what is committed while an append looks around stays in the branch', async () => {
  const { clone } = remote(fresh(), false);
  const [here, other] = [clone('here'), clone('other')];
  arrives(other);
  git(here.dir, 'fetch', '--quiet');
  const repository = openRepositoryAt(here.dir, { env: here.env, host: nodeHost });
  const tips = await readTips(repository); // only behind, as yet
  writeBytes(here.dir, 'code.ts', 'new\n');
  git(here.dir, 'add', 'code.ts');
  git(here.dir, 'commit', '--quiet', '--message', 'meanwhile');
  expect(await catchUp(repository, 'main', tips, { follows: true, mayMove: async () => {} })).toBe('parted');
  await repository.close();
  expect(git(here.dir, 'log', '-1', '--format=%s')).toBe('meanwhile');
});

describe('what this clone has pushed', () => {
  /** A clone that appended twice; then the remote is put back to the first, and goes on from there. */
  async function rolledBack(push: (place: Place) => Promise<unknown>): Promise<Place> {
    const there = remote(fresh(), false);
    const place = there.clone('clone');
    for (let round = 0; round < 2; round++) {
      commitSealed(place);
      await push(place);
    }
    const base = git(place.dir, 'rev-parse', 'HEAD~2');
    const evil = git(place.dir, 'commit-tree', '-p', base, '-m', 'innocent', `${base}^{tree}`);
    git(place.dir, 'push', '--quiet', 'origin', `${evil}:refs/heads/tmp`);
    git(there.bare, 'update-ref', '-d', 'refs/heads/main');
    git(place.dir, 'fetch', '--quiet', '--prune'); // and with the ref goes its log
    git(there.bare, 'update-ref', 'refs/heads/main', evil);
    git(place.dir, 'fetch', '--quiet');
    git(place.dir, 'reset', '--quiet', '--hard', 'origin/main');
    return place;
  }

  const WAYS: [string, (place: Place) => Promise<unknown>][] = [
    ['at once', (place) => append(place, '--push')],
    [
      'by hand, and has looked at since',
      async (place) => {
        ok(await append(place));
        git(place.dir, 'push', '--quiet');
        await reopen(place).handoff.ledger.verify();
      },
    ],
  ];

  test.each(WAYS)('%s, is missed when it is gone, though no log tells of it', async (_, push) => {
    const place = await rolledBack(push);
    const { ledger, root } = reopen(place).handoff;
    for (const look of [() => ledger.verify(), () => root({ ledger: true }), () => ledger.append()])
      await expect(look()).rejects.toMatchObject({ code: 'ledger_inconsistent', data: { seen: { size: 4 } } });
    expect((await reopen(place).handoff.verify()).findings.map(({ code }) => code)).toContain('ledger_inconsistent');
  });

  /** Somebody puts the remote back to before its last append, and goes on. */
  function takesBack(there: Remote, place: Place, name = 'evil'): void {
    const evil = there.clone(name);
    const [append] = git(evil.dir, 'log', '--format=%H', '-1', '--', '.handoff/ledger').split('\n');
    git(evil.dir, 'reset', '--quiet', '--hard', `${append}~1`);
    git(evil.dir, 'commit', '--quiet', '--allow-empty', '--message', 'innocent');
    git(evil.dir, 'push', '--quiet', '--force', 'origin', 'HEAD:main');
    git(place.dir, 'fetch', '--quiet');
  }

  const amend = ({ dir }: Place) => git(dir, 'commit', '--quiet', '--amend', '--message', 'amended');
  const rebase = ({ dir }: Place) => git(dir, 'rebase', '--quiet', '--force-rebase', 'HEAD~1');
  const look = (place: Place) => reopen(place).handoff.ledger.verify();
  const turnAway = async () => {};

  test.each<[string, (place: Place) => void, (place: Place) => Promise<unknown>]>([
    ['amended, and has looked at since', amend, look],
    ['rebased, and has looked at since', rebase, look],
    ['amended, and has not looked at since', amend, turnAway],
    ['rebased, and has not looked at since', rebase, turnAway],
  ])('%s, is missed when it is gone', async (_, change, since) => {
    const there = remote(fresh(), false);
    const place = there.clone('clone');
    commitSealed(place);
    ok(await append(place));
    change(place);
    git(place.dir, 'push', '--quiet');
    await since(place);
    takesBack(there, place);
    git(place.dir, 'reset', '--quiet', '--hard', 'origin/main');
    await expect(reopen(place).handoff.ledger.verify()).rejects.toMatchObject({ code: 'ledger_inconsistent' });
  });

  test('to an address, is missed when somebody takes it back on top of it', async () => {
    const there = remote(fresh(), false);
    const place = there.clone('clone');
    commitSealed(place);
    git(place.dir, 'push', '--quiet');
    ok(await append(place));
    git(place.dir, 'push', '--quiet', there.bare, 'main'); // no log tells of it
    const evil = there.clone('evil');
    git(evil.dir, 'revert', '--no-edit', 'HEAD');
    git(evil.dir, 'push', '--quiet');
    pull(place);
    await expect(reopen(place).handoff.ledger.verify()).rejects.toMatchObject({ code: 'ledger_inconsistent' });
  });

  test('by somebody else, who was faster with the same, is missed when it is gone', async () => {
    const there = remote(fresh(), false);
    const [winner, loser] = [there.clone('winner'), there.clone('loser')];
    arrives(winner, 2);
    pull(loser);
    ok(await append(loser));
    git(loser.dir, 'commit', '--quiet', '--amend', '--no-edit', '--date', '2026-01-02T03:04:05Z');
    ok(await append(winner, '--push'));
    git(loser.dir, 'fetch', '--quiet');
    ok(await append(loser)); // takes theirs
    expect(git(loser.dir, 'rev-parse', 'HEAD')).toBe(git(winner.dir, 'rev-parse', 'HEAD'));
    takesBack(there, loser);
    git(loser.dir, 'reset', '--quiet', '--hard', 'origin/main');
    await expect(reopen(loser).handoff.ledger.verify()).rejects.toMatchObject({ code: 'ledger_inconsistent' });
  });

  test.each([[], ['--push']])(
    'is not dropped for a remote that went back, be it in a new clone: append %s',
    async (...flags) => {
      const there = remote(fresh(), false);
      const first = there.clone('first');
      arrives(first);
      ok(await append(first, '--push'));
      const place = there.clone('clone'); // it has never looked at the ledger
      takesBack(there, place);
      const head = git(place.dir, 'rev-parse', 'HEAD');
      const refused = await append(place, ...flags);
      expect(JSON.parse(refused.stdout).error).toMatchObject({
        code: 'ledger_inconsistent',
        data: { seen: { size: 3 } },
      });
      expect([git(place.dir, 'rev-parse', 'HEAD'), ...changes(place)]).toEqual([head]);
    },
  );

  test('is remembered without what came before, however often', async () => {
    const there = remote(fresh(), false);
    const place = there.clone('clone');
    const sizes = new Set<number>();
    for (let round = 0; round < 3; round++) {
      commitSealed(place); // not pushed before the append
      ok(await append(place, '--push'));
      const pin = readFileSync(join(place.dir, '.git/handoff/ledger.json'), 'utf8');
      expect(JSON.parse(pin)).not.toHaveProperty('own');
      sizes.add(pin.length);
    }
    expect(sizes.size).toBe(1);
  });
});

test('an append that lost a race is no fork to whoever is on another branch, or on none', async () => {
  const there = remote(fresh(), false);
  const [winner, loser] = [there.clone('winner'), there.clone('loser')];
  commitSealed(loser);
  ok(await append(loser));
  arrives(winner, 2);
  ok(await append(winner, '--push'));
  git(loser.dir, 'fetch', '--quiet');
  git(loser.dir, 'switch', '--quiet', '--create', 'feature', '--no-track', 'origin/main');
  expect(await reopen(loser).handoff.ledger.verify()).toMatchObject({ size: 4 });
  git(loser.dir, 'switch', '--quiet', '--detach', 'origin/main');
  expect((await reopen(loser).handoff.verify()).findings).toEqual([]);
});

test('appends that nobody has seen are remembered as one', async () => {
  const there = remote(fresh(), false);
  const place = there.clone('clone');
  for (let round = 0; round < 3; round++) {
    commitSealed(place);
    ok(await append(place));
  }
  const pin = JSON.parse(readFileSync(join(place.dir, '.git/handoff/ledger.json'), 'utf8'));
  expect(pin).toMatchObject({ size: 5, own: { commit: git(place.dir, 'rev-parse', 'HEAD'), before: { size: 2 } } });
  expect(pin.own.before).not.toHaveProperty('own');
});

test('a larger ledger on another branch is none that others need have', async () => {
  const there = remote(fresh(), false);
  const [place, other] = [there.clone('clone'), there.clone('other')];
  commitSealed(place);
  ok(await append(place));
  git(place.dir, 'push', '--quiet', 'origin', 'HEAD:refs/heads/backup');
  git(other.dir, 'fetch', '--quiet');
  git(other.dir, 'switch', '--quiet', 'backup');
  expect(await reopen(other).handoff.ledger.verify()).toMatchObject({ size: 3 });
  git(other.dir, 'switch', '--quiet', 'main');
  expect(await reopen(other).handoff.ledger.verify()).toMatchObject({ size: 2 });
});

test('of two protected branches the first has the ledger, and the other may have an older one', async () => {
  const place = fresh();
  await place.handoff.policy.set({ key: 'protected', value: 'refs/heads/main,refs/heads/release', as: 'maintainer' });
  git(place.dir, 'branch', 'release');
  commitSealed(place);
  ok(await append(place));
  git(place.dir, 'switch', '--quiet', 'release');
  expect(await reopen(place).handoff.ledger.verify()).toMatchObject({ size: 2 });
  expect((await reopen(place).handoff.verify()).findings).toEqual([]);
  commitSealed(place);
  const refused = await append(place);
  expect(JSON.parse(refused.stdout).error).toMatchObject({
    code: 'not_protected_branch',
    message: 'The ledger grows on main only, and this is release.',
  });
});
