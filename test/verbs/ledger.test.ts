import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { initialised, type Place, STORY, writeBytes, writeSession } from '../handoff.ts';
import { checkpointOf, commitHandoff, commitSealed, entriesOf, ledgerFiles, sealedSession } from '../ledger/sealed.ts';
import { seal } from '../sealing.ts';
import { git, isolatedEnv } from '../temporary.ts';
import { findings, reopen, template } from '../threats/forge.ts';
import { changes, open, pathsOf } from './agents.ts';

const fresh = template();

/** The bytes of records, as entries are. */
function texts(seals: readonly { bytes: Uint8Array }[]): string[] {
  return seals.map(({ bytes }) => Buffer.from(bytes).toString('utf8'));
}

async function append(place: Place, options: object = {}) {
  return reopen(place).handoff.ledger.append(options);
}

describe('ledger append adds what has arrived', () => {
  it('the seals that are committed, sorted by id, and nothing else', async () => {
    const place = fresh();
    const seals = commitSealed(place, 5);
    writeSession(place, STORY);
    commitHandoff(place);
    sealedSession(place); // nobody has committed this one
    const before = git(place.dir, 'rev-parse', 'HEAD');
    const result = await append(place);
    expect(result).toEqual({
      ...{ size: 5, appended: 5, origin: `git-handoff/${place.root}` },
      ...{ root: checkpointOf(place).root, commit: git(place.dir, 'rev-parse', 'HEAD') },
      ...{ identity: 'maintainer', pushed: false, pushed_to: null },
    });
    expect(entriesOf(place)).toEqual(texts(seals));
    expect(git(place.dir, 'rev-parse', 'HEAD^')).toBe(before);
    expect(pathsOf(place).sort()).toEqual([
      '.handoff/ledger/checkpoint',
      '.handoff/ledger/tile/0/000.p/5',
      '.handoff/ledger/tile/entries/000.p/5',
    ]);
    expect(changes(place).every((line) => line.startsWith('?? .handoff/sessions/'))).toBe(true);
  });

  it('nothing a second time, and makes no commit', async () => {
    const place = fresh();
    commitSealed(place, 2);
    const first = await append(place);
    expect(await append(place)).toEqual({ ...first, appended: 0, identity: null, commit: null });
    expect(git(place.dir, 'rev-parse', 'HEAD')).toBe(first.commit);
    writeSession(place, STORY);
    commitHandoff(place);
    expect(await append(place)).toMatchObject({ size: 2, appended: 0, commit: null });
  });

  it('only what came since, after what was there', async () => {
    const place = fresh();
    const first = commitSealed(place, 3);
    await append(place);
    const second = commitSealed(place, 2, { identity: 'erin' });
    expect(await append(place)).toMatchObject({ size: 5, appended: 2 });
    expect(entriesOf(place)).toEqual([...texts(first), ...texts(second)]);
    expect(ledgerFiles(place)).toEqual(['checkpoint', 'tile/0/000.p/5', 'tile/entries/000.p/5']);
    expect(await findings(place)).toEqual([]);
  });

  it('to what HEAD has, whatever the work tree says', async () => {
    const place = fresh();
    const first = commitSealed(place, 3);
    await append(place);
    const second = commitSealed(place, 2, { identity: 'erin' });
    for (const file of ledgerFiles(place)) {
      const path = join(place.dir, '.handoff/ledger', file);
      const bytes = readFileSync(path);
      bytes[20]! ^= 1;
      writeFileSync(path, bytes);
    }
    expect(await append(place)).toMatchObject({ size: 5, appended: 2 });
    expect(entriesOf(place)).toEqual([...texts(first), ...texts(second)]);
    expect(await findings(place)).toEqual([]);
  });

  it('a second seal of a session whose first one it has', async () => {
    const place = fresh();
    const steps = [STORY[0]!, STORY[1]!, seal()];
    const options = { sessionId: '11111111-51cf-4c61-9a39-2b7fd2f9a1de' };
    const first = sealedSession(place, options, steps);
    commitHandoff(place);
    await append(place);
    const second = sealedSession(place, options, [...steps, STORY[2]!, seal(2)]);
    commitHandoff(place);
    expect(await append(place)).toMatchObject({ size: 2, appended: 1 });
    expect(entriesOf(place)).toEqual(texts([first.at(-1)!, second.at(-1)!]));
    expect(await findings(place)).toEqual([]);
  });

  it('both seals of a session that was sealed twice before it came', async () => {
    const place = fresh();
    sealedSession(place, {}, [STORY[0]!, seal(), STORY[1]!, seal(1)]);
    commitHandoff(place);
    expect(await append(place)).toMatchObject({ size: 2, appended: 2 });
    expect(await append(place)).toMatchObject({ appended: 0 });
  });

  it('the same leaves for each merge, whichever branch is merged first', async () => {
    const place = fresh();
    const seals = new Map(
      ['one', 'two'].map((name) => {
        git(place.dir, 'checkout', '--quiet', '-b', name, 'main');
        return [name, texts(commitSealed(place, 3))];
      }),
    );
    for (const order of [
      ['one', 'two'],
      ['two', 'one'],
    ]) {
      git(place.dir, 'checkout', '--quiet', '-B', 'main', 'one~1');
      rmSync(join(place.dir, '.git/handoff/ledger.json'), { force: true });
      const leaves: string[] = [];
      for (const name of order) {
        git(place.dir, 'merge', '--quiet', '--no-ff', '--no-edit', name);
        expect(await append(place)).toMatchObject({ appended: 3 });
        leaves.push(...seals.get(name)!);
      }
      expect(entriesOf(place)).toEqual(leaves);
      expect(await findings(place)).toEqual([]);
    }
  });

  it('the same leaves for two merges at once as for one', async () => {
    const place = fresh();
    const merged: string[][] = [];
    for (const name of ['one', 'two']) {
      git(place.dir, 'checkout', '--quiet', '-b', name, 'main');
      commitSealed(place, 2);
    }
    for (const order of [
      ['one', 'two'],
      ['two', 'one'],
    ]) {
      git(place.dir, 'checkout', '--quiet', '-B', 'main', 'one~1');
      rmSync(join(place.dir, '.git/handoff/ledger.json'), { force: true });
      for (const name of order) git(place.dir, 'merge', '--quiet', '--no-ff', '--no-edit', name);
      await append(place);
      merged.push(entriesOf(place));
    }
    expect(merged[0]).toHaveLength(4);
    expect(merged[1]).toEqual(merged[0]);
  });

  it('all there are, once, where the clone no longer has what the checkpoint saw', async () => {
    const place = fresh();
    commitSealed(place, 2);
    await append(place);
    commitSealed(place, 1);
    const { dir } = place;
    // the folder of sessions that the checkpoint names is in the history, which this clone has not
    const tree = git(dir, 'rev-parse', 'HEAD^{tree}');
    git(dir, 'reset', '--quiet', '--soft', git(dir, 'commit-tree', tree, '-m', 'without a past'));
    for (const ref of git(dir, 'for-each-ref', '--format=%(refname)').split('\n'))
      if (ref !== 'refs/heads/main') git(dir, 'update-ref', '-d', ref);
    git(dir, 'reflog', 'expire', '--expire=now', '--all');
    git(dir, 'gc', '--quiet', '--prune=now');
    expect(await append(place)).toMatchObject({ size: 3, appended: 1 });
  });

  it('in a SHA-256 repository', async () => {
    const place = await initialised('--object-format=sha256');
    commitSealed(place, 2);
    expect(await append(place)).toMatchObject({ size: 2, appended: 2 });
    commitSealed(place, 1);
    expect(await append(place)).toMatchObject({ size: 3, appended: 1 });
    expect(checkpointOf(place).text).toMatch(/\nsessions [0-9a-f]{64}\n$/);
    expect(await reopen(place).handoff.ledger.verify()).toMatchObject({ valid: true, size: 3 });
    await place.handoff.close();
  });

  it('beyond a full tile: partial ones of before are gone, and what is left over is right', async () => {
    const place = fresh();
    commitSealed(place, 250);
    await append(place);
    expect(ledgerFiles(place)).toEqual(['checkpoint', 'tile/0/000.p/250', 'tile/entries/000.p/250']);
    commitSealed(place, 6);
    await append(place);
    expect(ledgerFiles(place)).toEqual(['checkpoint', 'tile/0/000', 'tile/1/000.p/1', 'tile/entries/000']);
    commitSealed(place, 9);
    expect(await append(place)).toMatchObject({ size: 265, appended: 9 });
    expect(ledgerFiles(place)).toEqual([
      ...['checkpoint', 'tile/0/000', 'tile/0/001.p/9', 'tile/1/000.p/1'],
      ...['tile/entries/000', 'tile/entries/001.p/9'],
    ]);
    expect(changes(place)).toEqual([]);
    expect(await reopen(place).handoff.ledger.verify()).toMatchObject({ size: 265, unsealed: 0, pending: 0 });
    expect(await findings(place)).toEqual([]);
  });
});

describe('ledger append is refused', () => {
  it.each([
    ['on another branch', ['checkout', '--quiet', '-b', 'feature'], 'feature'],
    ['on no branch', ['checkout', '--quiet', '--detach'], null],
  ])('%s', async (_, args, branch) => {
    const place = fresh();
    commitSealed(place);
    git(place.dir, ...args);
    await expect(append(place)).rejects.toMatchObject({
      code: 'not_protected_branch',
      exitCode: 2,
      hint: expect.stringContaining('where main is checked out'),
      data: { branch, protected: ['refs/heads/main'] },
    });
    expect(changes(place)).toEqual([]);
  });

  it('where nothing is sealed', async () => {
    const place = fresh();
    writeSession(place, STORY);
    commitHandoff(place);
    await expect(append(place)).rejects.toMatchObject({ code: 'nothing_sealed', exitCode: 2 });
    sealedSession(place);
    await expect(append(place)).rejects.toMatchObject({ code: 'nothing_sealed' });
  });

  it('without the key of a maintainer', async () => {
    const place = fresh();
    commitSealed(place);
    const keys = join(place.keys, place.root.slice(0, 12));
    renameSync(join(keys, 'maintainer.pem'), join(keys, 'away.pem'));
    const refused = await append(place).catch((error) => error);
    expect(refused).toMatchObject({ code: 'no_key', exitCode: 4, hint: expect.stringContaining('HANDOFF_KEYS') });
    expect(refused.hint).not.toContain('handoff.signingKey'); // an OpenSSH key signs no checkpoint
    await expect(append(place, { as: 'donna' })).rejects.toMatchObject({ code: 'not_entitled' });
    expect(changes(place)).toEqual([]);
  });

  it.each(['zoe', 'ada'])('with a key that signs through OpenSSH only: that of %s, beside a file', async (name) => {
    const place = fresh();
    commitSealed(place);
    const key = join(place.dir, '../id_ed25519');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key]);
    await reopen(place).handoff.identity.add({ name, role: 'maintainer', key: `${key}.pub` });
    git(place.dir, 'config', 'handoff.signingKey', key);
    await expect(append(place, { as: name })).rejects.toMatchObject({
      code: 'no_key',
      data: { identity: name },
    });
    expect(changes(place)).toEqual([]);
    expect(await append(place)).toMatchObject({ appended: 1 }); // the other maintainer's key is a file
  });

  it('where the ledger that is there was tampered with', async () => {
    const place = fresh();
    commitSealed(place, 3);
    await append(place);
    const tile = join(place.dir, '.handoff/ledger/tile/0/000.p/3');
    const bytes = readFileSync(tile);
    bytes[40]! ^= 1;
    writeFileSync(tile, bytes);
    commitHandoff(place);
    commitSealed(place);
    await expect(append(place)).rejects.toMatchObject({ code: 'ledger_inconsistent' });
    expect(changes(place)).toEqual([]);
  });

  it('in a bare repository', async () => {
    const place = fresh();
    commitSealed(place);
    const dir = join(place.dir, '../bare.git');
    git('/', 'clone', '--quiet', '--bare', place.dir, dir);
    await expect(open(place, { dir }).handoff.ledger.append()).rejects.toMatchObject({ code: 'usage' });
  });

  it('where it is to be pushed and not to be committed', async () => {
    const place = fresh();
    commitSealed(place);
    for (const options of [{ commit: false }, { stage: false }])
      await expect(append(place, { push: true, ...options })).rejects.toMatchObject({ code: 'usage' });
    expect(changes(place)).toEqual([]);
  });
});

function edit(path: string, from: string, to: string): string {
  return readFileSync(path, 'utf8').replace(from, to);
}

/** The gate lets none in; where one is there all the same, the others do not wait for it. */
describe('passes over', () => {
  it.each([
    ['a record that is gone', (path: string) => rmSync(path)],
    ['a record that was changed', (path: string) => writeFileSync(path, edit(path, 'git', 'got'))],
  ])('a session that does not hold: %s', async (_, damage) => {
    const place = fresh();
    const others = commitSealed(place, 2);
    const records = sealedSession(place, {}, [STORY[0]!, STORY[1]!, STORY[3]!, seal()]);
    damage(join(place.dir, records[1]!.path));
    commitHandoff(place);
    expect(await append(place)).toMatchObject({ appended: 2 });
    expect(entriesOf(place)).toEqual(others.map(({ bytes }) => Buffer.from(bytes).toString('utf8')));
  });

  it('a seal over something else', async () => {
    const place = fresh();
    sealedSession(place, {}, [STORY[0]!, seal(null, (honest) => ({ ...honest, root: 'ab'.repeat(32) }))]);
    commitHandoff(place);
    await expect(append(place)).rejects.toMatchObject({ code: 'nothing_sealed' });
  });

  it('nothing that was mended since', async () => {
    const place = fresh();
    commitSealed(place, 2);
    const records = sealedSession(place, {}, [STORY[0]!, STORY[1]!, seal()]);
    rmSync(join(place.dir, records[1]!.path));
    commitHandoff(place);
    expect(await append(place)).toMatchObject({ appended: 2 });
    writeBytes(place.dir, records[1]!.path, records[1]!.bytes);
    commitHandoff(place);
    expect(await append(place)).toMatchObject({ appended: 1 });
  });
});

describe('ledger append leaves everything else alone', () => {
  it('what is staged stays staged, what is not stays so', async () => {
    const place = fresh();
    commitSealed(place);
    writeBytes(place.dir, 'staged.ts', 'staged\n');
    git(place.dir, 'add', 'staged.ts');
    writeBytes(place.dir, 'staged.ts', 'and changed\n');
    writeBytes(place.dir, 'loose.ts', 'loose\n');
    await append(place);
    expect(changes(place)).toEqual(['AM staged.ts', '?? loose.ts']);
    expect(pathsOf(place).every((path) => path.startsWith('.handoff/ledger/'))).toBe(true);
  });

  it('with --no-commit it only stages, with --no-stage it only writes', async () => {
    const place = fresh();
    commitSealed(place);
    const head = git(place.dir, 'rev-parse', 'HEAD');
    expect(await append(place, { stage: false })).toMatchObject({ appended: 1, commit: null });
    const paths = ['checkpoint', 'tile/0/000.p/1', 'tile/entries/000.p/1'].map((path) => `.handoff/ledger/${path}`);
    expect(changes(place)).toEqual(paths.map((path) => `?? ${path}`));
    expect(await append(place, { commit: false, stage: true })).toMatchObject({ appended: 1, commit: null });
    expect(changes(place)).toEqual(paths.map((path) => `A  ${path}`));
    expect(git(place.dir, 'rev-parse', 'HEAD')).toBe(head);
    expect(await findings(place, { staged: true })).toEqual([]);
    git(place.dir, 'commit', '--quiet', '--message', 'by hand');
    expect(await append(place)).toMatchObject({ size: 1, appended: 0, commit: null });
  });

  it('works where git knows nobody', async () => {
    const place = fresh();
    commitSealed(place);
    git(place.dir, 'config', 'user.useConfigOnly', 'true');
    const names = ['GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL'];
    const env: NodeJS.ProcessEnv = { ...isolatedEnv, HANDOFF_KEYS: place.keys };
    for (const name of names) delete env[name];
    const { commit } = await reopen(place, place.dir, env).handoff.ledger.append();
    expect(git(place.dir, 'log', '-1', '--format=%H %an')).toBe(`${commit} maintainer`);
  });

  it('what an attempt that was cut off has left is cleared away', async () => {
    const place = fresh();
    commitSealed(place, 3);
    await append(place);
    for (const path of ['tile/0/000.p/7', 'tile/entries/000.p/7', 'tile/0/000', 'tile/0/001.p/2', 'tile/1/000.p/1'])
      writeBytes(place.dir, `.handoff/ledger/${path}`, 'cut off');
    commitSealedOnly(place);
    await append(place);
    expect(ledgerFiles(place)).toEqual(['checkpoint', 'tile/0/000.p/4', 'tile/entries/000.p/4']);
    expect(changes(place)).toEqual([]);
    expect(await reopen(place).handoff.ledger.verify()).toMatchObject({ size: 4 });
  });

  it('a file that is no tile is never removed', async () => {
    const place = fresh();
    commitSealed(place, 1);
    await append(place);
    mkdirSync(join(place.dir, '.handoff/ledger/tile/0/000.p'), { recursive: true });
    writeBytes(place.dir, '.handoff/ledger/tile/0/000.p/notes.txt', 'mine\n');
    commitSealedOnly(place);
    await append(place);
    expect(changes(place)).toEqual(['?? .handoff/ledger/tile/0/000.p/notes.txt']);
  });
});

/** One more sealed session, and no other file. */
function commitSealedOnly(place: Place): void {
  sealedSession(place);
  git(place.dir, 'add', '--all', '--', '.handoff/sessions');
  git(place.dir, 'commit', '--quiet', '--message', 'records');
}

describe('a key of somebody that was revoked', () => {
  it('what waits for the ledger and was signed with it does not hold up the others', async () => {
    const place = fresh();
    commitSealed(place, 1);
    const honest = commitSealed(place, 1, { identity: 'erin' });
    await reopen(place).handoff.identity.revoke({ name: 'donna' });
    const here = reopen(place);
    expect(await here.handoff.ledger.append()).toMatchObject({ size: 1, appended: 1 });
    expect(here.warnings.join('\n')).toMatch(/sessions\/donna\/.*revoked/);
    expect(entriesOf(place)).toEqual(texts(honest));
    const again = reopen(place);
    expect(await again.handoff.ledger.append()).toMatchObject({ appended: 0 });
    commitSealed(place, 2, { identity: 'erin' });
    expect(await append(place)).toMatchObject({ size: 3, appended: 2 });
  });

  it('of a maintainer: whoever appends next signs the ledger anew, and the seals stay', async () => {
    const place = fresh();
    await reopen(place).handoff.identity.add({ name: 'second', role: 'maintainer' });
    commitSealed(place, 2);
    const { root } = await append(place, { as: 'second' });
    await reopen(place).handoff.identity.revoke({ name: 'second', as: 'maintainer' });
    expect(await findings(place)).toEqual(['ledger_inconsistent ledger']);
    const { commit } = await append(place);
    expect(commit).not.toBeNull();
    expect(pathsOf(place)).toEqual(['.handoff/ledger/checkpoint']);
    expect(checkpointOf(place).root).toBe(root);
    expect(await findings(place)).toEqual([]);
    expect(await append(place)).toMatchObject({ size: 2, appended: 0, commit: null });
  });

  it('of a maintainer that was retired: what it signed stands', async () => {
    const place = fresh();
    commitSealed(place, 1);
    await append(place);
    await reopen(place).handoff.identity.rotate({ name: 'maintainer' });
    expect(await findings(place)).toEqual([]);
    expect(await append(place)).toMatchObject({ appended: 0, commit: null });
    const [old] = [(await reopen(place).handoff.ledger.key()).vkey];
    commitSealed(place, 1);
    expect(await append(place)).toMatchObject({ size: 2, appended: 1 });
    const { vkey, vkeys } = await reopen(place).handoff.ledger.key();
    expect(vkey).not.toBe(old);
    expect(vkeys).toEqual(expect.arrayContaining([vkey, old]));
    expect(await findings(place)).toEqual([]);
  });
});

it('two sessions whose ids begin alike are told apart', async () => {
  const place = fresh();
  const days = ['2026-02-20T14:30:25.123Z', '2026-02-21T14:30:25.123Z', '2026-02-22T14:30:25.123Z'];
  for (const [n, at] of days.entries())
    sealedSession(place, { sessionId: `11111111-51cf-4c61-9a39-2b7fd2f9a1d${n}`, at });
  commitHandoff(place);
  expect(await append(place)).toMatchObject({ size: 3 });
  expect(await reopen(place).handoff.ledger.verify()).toMatchObject({ size: 3, unsealed: 0, pending: 0 });
  const gate = await reopen(place).handoff.gate({ base: 'HEAD~1', head: 'HEAD', replaces: true });
  expect(gate.findings.filter(({ code }) => code === 'ledger_rewritten')).toEqual([]);
});

describe('ledger append, where nothing has arrived, looks after what is left of an earlier one', () => {
  /** Three seals, of which the last came with an append of its own. */
  async function grown(): Promise<Place> {
    const place = fresh();
    commitSealed(place, 2);
    await append(place);
    commitSealed(place);
    await append(place);
    return place;
  }

  const LEFT: [string, (dir: string) => void][] = [
    [
      'an older ledger is staged and in the work tree',
      (dir) => {
        git(dir, 'reset', '--quiet', '--hard', 'HEAD~1');
        git(dir, 'reset', '--quiet', '--soft', 'HEAD@{1}');
      },
    ],
    ['an older ledger is staged', (dir) => git(dir, 'read-tree', 'HEAD~1')],
    ['no ledger is staged', (dir) => git(dir, 'rm', '--quiet', '-r', '--cached', '.handoff/ledger')],
    ['a tile is not staged', (dir) => git(dir, 'rm', '--quiet', '--cached', '.handoff/ledger/tile/0/000.p/3')],
    [
      'old tiles are there still',
      (dir) => {
        for (const path of ['tile/0/000.p/2', 'tile/entries/000.p/2'])
          writeBytes(
            dir,
            `.handoff/ledger/${path}`,
            execFileSync('git', ['-C', dir, 'cat-file', '-p', `HEAD~1:.handoff/ledger/${path}`]),
          );
      },
    ],
  ];

  it.each(LEFT)('%s: then it is what HEAD has, and nothing else changes', async (_, leave) => {
    const place = await grown();
    leave(place.dir);
    writeBytes(place.dir, 'staged.ts', 'staged\n');
    git(place.dir, 'add', 'staged.ts');
    expect(changes(place)).not.toEqual(['A  staged.ts']);
    const head = git(place.dir, 'rev-parse', 'HEAD');
    expect(await append(place)).toMatchObject({ size: 3, appended: 0, commit: null });
    expect(changes(place)).toEqual(['A  staged.ts']);
    expect([git(place.dir, 'rev-parse', 'HEAD'), ledgerFiles(place)]).toEqual([
      head,
      ['checkpoint', 'tile/0/000.p/3', 'tile/entries/000.p/3'],
    ]);
  });

  const CHECKPOINT = '.handoff/ledger/checkpoint';
  const MINE: [string, (dir: string) => void][] = [
    [
      'what a witness has signed is staged',
      (dir) => {
        writeBytes(dir, CHECKPOINT, `${readFileSync(join(dir, CHECKPOINT), 'utf8')}— w1 AAAA\n`);
        git(dir, 'add', CHECKPOINT);
      },
    ],
    [
      'something is staged that is no checkpoint',
      (dir) => {
        writeBytes(dir, CHECKPOINT, 'mine\n');
        git(dir, 'add', CHECKPOINT);
      },
    ],
    [
      'an older ledger is staged, and the work tree has something that nobody else has',
      (dir) => {
        git(dir, 'read-tree', 'HEAD~1');
        writeBytes(dir, CHECKPOINT, 'mine\n');
      },
    ],
    ['the work tree is changed', (dir) => writeBytes(dir, CHECKPOINT, 'mine\n')],
    [
      'a tile is not staged, and the work tree is changed',
      (dir) => {
        git(dir, 'rm', '--quiet', '--cached', '.handoff/ledger/tile/0/000.p/3');
        writeBytes(dir, CHECKPOINT, 'mine\n');
      },
    ],
    [
      'a larger ledger is staged',
      (dir) => {
        git(dir, 'reset', '--quiet', '--soft', 'HEAD~2');
        rmSync(join(dir, '.git/handoff/ledger.json'));
      },
    ],
  ];

  it.each(MINE)('%s: that is not touched', async (_, change) => {
    const place = await grown();
    change(place.dir);
    const before = changes(place);
    expect(before).not.toEqual([]);
    expect(await append(place)).toMatchObject({ appended: 0, commit: null });
    expect(changes(place)).toEqual(before);
  });

  it('with --no-stage the index is not touched', async () => {
    const place = await grown();
    git(place.dir, 'read-tree', 'HEAD~1');
    const before = changes(place);
    await append(place, { stage: false });
    expect(changes(place)).toEqual(before);
  });
});
