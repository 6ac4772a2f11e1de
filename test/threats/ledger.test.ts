import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Place, privateKey, STORY, type Written, writeBytes, writeSession } from '../handoff.ts';
import { writeLedgerOf } from '../ledger/forge-ledger.ts';
import { makeKey, signLine } from '../ledger/note-key.ts';
import {
  byId,
  checkpointOf,
  commitHandoff,
  commitSealed,
  entriesOf,
  sealedSession,
  writeCheckpoint,
} from '../ledger/sealed.ts';
import { seal } from '../sealing.ts';
import { git } from '../temporary.ts';
import { open } from '../verbs/agents.ts';
import { codes, findings, identityOf, type NamedKey, publicLine, reopen, signDocument, template } from './forge.ts';

// THREATS 7 to 10.

let sealed: Written[][] = [];
const fresh = template(async (place) => {
  sealed = [1, 2].map(() => sealedSession(place, {}, [STORY[0]!, STORY[1]!, STORY[3]!, seal()]));
  commitHandoff(place);
  await place.handoff.ledger.append();
});

const PIN = '.git/handoff/ledger.json';

function ledger(place: Place) {
  return reopen(place).handoff.ledger;
}

async function grow(place: Place, count = 1): Promise<void> {
  commitSealed(place, count);
  await ledger(place).append();
}

/** A remote with what a place has, and so many clones of it. */
function clones(place: Place, count: number): [string, ...Place[]] {
  const bare = join(place.dir, '..', 'origin.git');
  git('/', 'clone', '--quiet', '--bare', place.dir, bare);
  const made = Array.from({ length: count }, (_, n) => {
    const dir = join(place.dir, '..', `clone-${n}`);
    git('/', 'clone', '--quiet', bare, dir);
    return open(place, { dir });
  });
  return [bare, ...made];
}

describe('7: a proof is of the record, the key, the session and the place that it says', () => {
  /** Both proofs, of the notes of two sessions of one key. */
  async function proofs(place: Place): Promise<[string, string, string]> {
    const { handoff } = reopen(place);
    const [one, two] = await Promise.all(
      sealed.map((records) => handoff.prove({ record: records[1]!.id, output: '-' })),
    );
    return [one!.proof, two!.proof, one!.vkey];
  }

  async function check(place: Place, proof: string, vkey: string, record?: string) {
    const file = join(place.dir, '../proof.yaml');
    writeFileSync(file, proof);
    return reopen(place).handoff.checkProof({ file, vkey, ...(record ? { record } : {}) });
  }

  it('both hold by themselves', async () => {
    const place = fresh();
    const [one, two, vkey] = await proofs(place);
    expect(await check(place, one, vkey)).toMatchObject({ valid: true, trusted: true, record: sealed[0]![1]!.id });
    expect(await check(place, two, vkey, join(place.dir, sealed[1]![1]!.path))).toMatchObject({ valid: true });
  });

  it('a part of one in the place of the same part of the other is refused, whichever it is', async () => {
    const place = fresh();
    const [one, two, vkey] = await proofs(place);
    const parts = ['record', 'session', 'seal', 'ledger'];
    const cut = (proof: string, part: string) => new RegExp(`^${part}:\n(?: .*\n|\n)+`, 'm').exec(proof)![0];
    for (const part of parts) {
      const swapped = one.replace(cut(one, part), () => cut(two, part));
      expect(swapped, part).not.toBe(one);
      await expect(check(place, swapped, vkey), part).rejects.toMatchObject({ code: 'proof_invalid', exitCode: 1 });
    }
    for (const part of parts) {
      const all = parts.filter((other) => other !== part);
      const swapped = all.reduce((text, each) => text.replace(cut(text, each), () => cut(two, each)), one);
      await expect(check(place, swapped, vkey), `all but ${part}`).rejects.toMatchObject({ code: 'proof_invalid' });
    }
  });

  it('the proof of one is no proof of the other', async () => {
    const place = fresh();
    const [one, , vkey] = await proofs(place);
    const record = join(place.dir, sealed[1]![1]!.path);
    await expect(check(place, one, vkey, record)).rejects.toMatchObject({ code: 'proof_invalid' });
  });
});

describe('8: an old ledger that is served again is noticed', () => {
  it('when the branch is set back', async () => {
    const place = fresh();
    const old = checkpointOf(place);
    await grow(place, 2);
    const seen = checkpointOf(place);
    git(place.dir, 'reset', '--quiet', '--hard', 'HEAD~1');
    const expected = {
      code: 'ledger_inconsistent',
      exitCode: 1,
      message: expect.stringMatching(/went back.*4 seals.*2 seals/),
      data: { seen: { size: 4, root: seen.root }, found: { size: 2, root: old.root } },
    };
    await expect(ledger(place).verify()).rejects.toMatchObject(expected);
    await expect(ledger(place).append()).rejects.toMatchObject(expected);
    git(place.dir, 'reset', '--quiet', '--hard', 'ORIG_HEAD');
    expect(await ledger(place).verify()).toMatchObject({ size: 4 });
  });

  it('when the ledger is gone, before another one is begun', async () => {
    const place = fresh();
    git(place.dir, 'reset', '--quiet', '--hard', 'HEAD~1');
    const head = git(place.dir, 'rev-parse', 'HEAD');
    await expect(ledger(place).verify()).rejects.toMatchObject({ data: { seen: { size: 2 }, found: { size: 0 } } });
    await expect(ledger(place).append()).rejects.toMatchObject({ code: 'ledger_inconsistent' });
    expect(git(place.dir, 'rev-parse', 'HEAD')).toBe(head);
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
  });

  it('when only its folder is set back', async () => {
    const place = fresh();
    await grow(place);
    rmSync(join(place.dir, '.handoff/ledger'), { recursive: true });
    git(place.dir, 'checkout', '--quiet', 'HEAD~2', '--', '.handoff/ledger');
    await expect(ledger(place).verify()).rejects.toMatchObject({ code: 'ledger_inconsistent' });
  });

  it('when a remote gives an older one than it had, in a clone that only reads', async () => {
    const place = fresh();
    const [bare, reader] = clones(place, 1) as [string, Place];
    await grow(place);
    git(place.dir, 'push', '--quiet', bare, 'main');
    git(reader.dir, 'pull', '--quiet');
    expect(await ledger(reader).verify()).toMatchObject({ size: 3 });
    git(bare, 'update-ref', 'refs/heads/main', 'main~2');
    git(reader.dir, 'fetch', '--quiet', '--force');
    git(reader.dir, 'reset', '--quiet', '--hard', 'origin/main');
    await expect(ledger(reader).verify()).rejects.toMatchObject({
      code: 'ledger_inconsistent',
      data: { seen: { size: 3 }, found: { size: 2 } },
    });
  });

  it('when a remote takes back what this clone has pushed', async () => {
    const place = fresh();
    const [bare, writer] = clones(place, 1) as [string, Place];
    commitSealed(writer);
    await ledger(writer).append({ push: true });
    expect(git(bare, 'rev-parse', 'main')).toBe(git(writer.dir, 'rev-parse', 'HEAD'));
    // another main, with another ledger of the same size and more
    git(writer.dir, 'push', '--quiet', '--force', 'origin', 'HEAD~2:main');
    const other = join(place.dir, '..', 'other');
    git('/', 'clone', '--quiet', bare, other);
    commitSealed({ ...place, dir: other });
    await open(place, { dir: other }).handoff.ledger.append({ push: true });
    git(writer.dir, 'fetch', '--quiet', '--force');
    git(writer.dir, 'reset', '--quiet', '--hard', 'origin/main');
    for (const verb of ['verify', 'append'] as const)
      await expect(ledger(writer)[verb](), verb).rejects.toMatchObject({
        code: 'ledger_inconsistent',
        data: { seen: { size: 3 }, found: { size: 3 } },
      });
  });

  it('when this clone drops what it has appended, though its remote has nothing else', async () => {
    const place = fresh();
    const [, writer] = clones(place, 1) as [string, Place];
    await grow(writer);
    git(writer.dir, 'reset', '--quiet', '--hard', 'origin/main');
    await expect(ledger(writer).verify()).rejects.toMatchObject({
      code: 'ledger_inconsistent',
      data: { seen: { size: 3 }, found: { size: 2 } },
    });
  });

  it('a branch that left before is only warned about', async () => {
    const place = fresh();
    git(place.dir, 'branch', 'none', 'HEAD~1');
    git(place.dir, 'branch', 'feature');
    await grow(place);
    for (const [branch, size] of [
      ['feature', 2],
      ['none', 0],
    ] as const) {
      git(place.dir, 'checkout', '--quiet', branch);
      const here = reopen(place);
      expect(await here.handoff.ledger.verify()).toMatchObject({ valid: true, size });
      expect(here.warnings.join()).toContain(`The ledger of this branch has ${size} seals; 3 were seen`);
    }
    git(place.dir, 'checkout', '--quiet', '--detach', 'feature');
    await expect(ledger(place).verify()).rejects.toMatchObject({ code: 'ledger_inconsistent' });
    git(place.dir, 'checkout', '--quiet', 'main');
    const here = reopen(place);
    expect(await here.handoff.ledger.verify()).toMatchObject({ size: 3 });
    expect(here.warnings).toEqual([]);
  });

  it('what was seen is remembered through every verb, and in linked work trees', async () => {
    const place = fresh();
    await grow(place);
    const pin = readFileSync(join(place.dir, PIN), 'utf8');
    await reopen(place).handoff.verify();
    await ledger(place).verify();
    await ledger(place).key();
    expect(readFileSync(join(place.dir, PIN), 'utf8')).toBe(pin);
    const dir = join(place.dir, '..', 'linked');
    git(place.dir, 'checkout', '--quiet', '--detach');
    git(place.dir, 'worktree', 'add', '--quiet', dir, 'main');
    git(dir, 'reset', '--quiet', '--hard', 'HEAD~2');
    await expect(open(place, { dir }).handoff.ledger.verify()).rejects.toMatchObject({ code: 'ledger_inconsistent' });
  });

  it('what was seen and cannot be read is not taken for nothing', async () => {
    const place = fresh();
    const good = JSON.parse(readFileSync(join(place.dir, PIN), 'utf8'));
    const changes = [{ size: -1 }, { size: 1.5 }, { root: 'ab' }, { at: 'never' }, { origin: 3 }];
    const owns = [{ commit: '--all', before: null }, { commit: 'a'.repeat(40), before: {} }, {}];
    const bad = [...changes, ...owns.map((own) => ({ own }))].map((change) => JSON.stringify({ ...good, ...change }));
    for (const text of ['', '{}', 'null', '[]', '"pin"', 'not json', ...bad]) {
      writeFileSync(join(place.dir, PIN), text);
      for (const verb of ['verify', 'append'] as const)
        await expect(ledger(place)[verb](), `${verb}: ${text}`).rejects.toMatchObject({
          code: 'io',
          exitCode: 4,
          data: { path: join(place.dir, PIN) },
        });
    }
    writeFileSync(join(place.dir, PIN), JSON.stringify(good));
    expect(await ledger(place).verify()).toMatchObject({ size: 2 });
  });
});

describe('9: two ledgers are told apart', () => {
  it('when two clones have appended differently, of one size or another', async () => {
    const place = fresh();
    const [, one, two] = clones(place, 2) as [string, Place, Place];
    await grow(one, 2);
    await grow(two, 2);
    const [left, right] = [checkpointOf(one), checkpointOf(two)];
    expect(left.root).not.toBe(right.root);
    git(one.dir, 'remote', 'remove', 'origin');
    for (const size of [4, 5]) {
      git(one.dir, 'fetch', '--quiet', two.dir, 'main');
      git(one.dir, 'reset', '--quiet', '--hard', 'FETCH_HEAD');
      expect(await codes(one, { rev: 'HEAD' })).toEqual(['ledger_inconsistent ledger']);
      expect(await codes(one)).toEqual(['ledger_inconsistent ledger']);
      await expect(ledger(one).verify()).rejects.toMatchObject({
        code: 'ledger_inconsistent',
        message: expect.stringContaining('another ledger'),
        data: { seen: { size: 4, root: left.root }, found: { size, root: checkpointOf(two).root } },
      });
      await grow(two);
    }
  });

  it.each([
    ['as large', 3],
    ['smaller', 2],
  ])('when a commit that is named has another order, and is %s', async (_, size) => {
    const place = fresh();
    await grow(place);
    expect(await codes(place)).toEqual([]);
    git(place.dir, 'checkout', '--quiet', '-b', 'forged');
    await writeLedgerOf(place, entriesOf(place).toReversed().slice(0, size));
    commitHandoff(place);
    git(place.dir, 'checkout', '--quiet', 'main');
    expect(await codes(place, { rev: 'forged' })).toEqual(['ledger_inconsistent ledger']);
    git(place.dir, 'read-tree', 'forged');
    expect(await codes(place, { staged: true })).toContain('ledger_inconsistent ledger');
  });

  it('from one that is only older', async () => {
    const place = fresh();
    await grow(place);
    await grow(place);
    expect(await codes(place)).toEqual([]);
    const seen = readFileSync(join(place.dir, PIN), 'utf8');
    for (const rev of ['HEAD~1', 'HEAD~2', 'HEAD~5']) expect(await codes(place, { rev })).toEqual([]);
    expect(readFileSync(join(place.dir, PIN), 'utf8')).toBe(seen);
  });

  it('when the same key signs two ledgers of one size on a branch', async () => {
    const place = fresh();
    await grow(place);
    const seen = checkpointOf(place);
    git(place.dir, 'checkout', '--quiet', '-b', 'fork', 'HEAD~2');
    commitSealed(place);
    git(place.dir, 'checkout', '--quiet', '-B', 'main');
    rmSync(join(place.dir, PIN));
    const pin = join(place.dir, PIN);
    await ledger(place).append();
    const { origin } = seen;
    writeFileSync(pin, JSON.stringify({ origin, size: 3, root: seen.root, at: '2026-02-20T14:30:25.123Z' }));
    await expect(ledger(place).verify()).rejects.toMatchObject({ code: 'ledger_inconsistent' });
    // on a side branch too: it is no older one, it is another
    git(place.dir, 'checkout', '--quiet', '-b', 'side');
    await expect(ledger(place).verify()).rejects.toMatchObject({ code: 'ledger_inconsistent' });
  });
});

describe('10: no date, only the place in the ledger, says what came before a key was revoked', () => {
  it.each(['2001-01-01T00:00:00.000Z', '2026-02-20T14:30:25.123Z', '2099-12-31T23:59:59.999Z'])(
    'sealed by then and dated %s: stands',
    async (at) => {
      const place = fresh();
      sealedSession(place, { at, identity: 'erin' });
      commitHandoff(place);
      await ledger(place).append();
      await reopen(place).handoff.identity.revoke({ name: 'erin' });
      expect(await codes(place)).toEqual([]);
    },
  );

  it.each(['2001-01-01T00:00:00.000Z', '2026-02-20T14:30:25.123Z', '2099-12-31T23:59:59.999Z'])(
    'not sealed by then and dated %s: does not',
    async (at) => {
      const place = fresh();
      writeSession(place, [STORY[0]!], { at, identity: 'erin' });
      sealedSession(place, { at: at.replace(/T.*/, 'T05:00:00.000Z'), identity: 'erin' }); // a seal that waits
      commitHandoff(place);
      await reopen(place).handoff.identity.revoke({ name: 'erin' });
      const found = ['0001-start.yaml', '0001-start.yaml', '0002-seal.yaml'].map((name) => `key_revoked ${name}`);
      expect((await codes(place)).sort()).toEqual(found);
    },
  );

  it('what comes after the seal in the same session does not, nor a seal that comes later', async () => {
    const place = fresh();
    const steps = [STORY[0]!, STORY[1]!, seal()];
    const options = { identity: 'erin', sessionId: '11111111-51cf-4c61-9a39-2b7fd2f9a1de' };
    sealedSession(place, options, steps);
    commitHandoff(place);
    await ledger(place).append();
    await reopen(place).handoff.identity.revoke({ name: 'erin' });
    expect(await codes(place)).toEqual([]);
    sealedSession(place, options, [...steps, STORY[2]!, seal(2)]);
    commitHandoff(place);
    expect(await codes(place)).toEqual(['key_revoked 0004-decision.md', 'key_revoked 0005-seal.yaml']);
    const here = reopen(place);
    expect(await here.handoff.ledger.append()).toMatchObject({ appended: 0 });
    expect(here.warnings.join()).toContain('Not appended');
  });

  it('of two seals in the ledger, only what the one before the cutoff is over', async () => {
    const place = fresh();
    const sessions = [1, 2].map(() => sealedSession(place, { identity: 'erin' }));
    commitHandoff(place);
    await ledger(place).append();
    const [first] = byId(sessions.map((records) => records.at(-1)!));
    await reopen(place).handoff.identity.revoke({ name: 'erin' });
    expect(await codes(place)).toEqual([]);
    const keys = [{ key: publicLine(privateKey(place, 'erin')), state: 'revoked', cutoff: 3 }];
    const fields = identityOf(place, 'erin', privateKey(place, 'erin'), { version: 9, prev: first!.id, keys });
    const signer: NamedKey = ['maintainer', privateKey(place, 'maintainer')];
    writeBytes(place.dir, '.handoff/identities/erin/identity.yaml', signDocument(fields, [signer]));
    commitHandoff(place);
    const left = await findings(place);
    expect(left.map((line) => line.replace(/ .*\//, ' '))).toEqual([
      'key_revoked 0001-start.yaml',
      'key_revoked 0002-seal.yaml',
    ]);
    expect(left.join()).not.toContain(first!.path.split('/').at(-2));
  });

  it('nothing stands by a checkpoint that a stranger signed', async () => {
    const place = fresh();
    await reopen(place).handoff.identity.revoke({ name: 'donna' });
    const { text, origin } = checkpointOf(place);
    writeCheckpoint(place, text, signLine(makeKey(origin, 1), text));
    commitHandoff(place);
    const found = await codes(place);
    expect(found).toContain('ledger_inconsistent ledger');
    expect(found.filter((line) => line.startsWith('key_revoked'))).toHaveLength(8);
  });

  it('nothing stands by tiles that are not what was signed', async () => {
    const place = fresh();
    await reopen(place).handoff.identity.revoke({ name: 'donna' });
    expect(await codes(place)).toEqual([]);
    const tile = join(place.dir, '.handoff/ledger/tile/0/000.p/2');
    const bytes = readFileSync(tile);
    bytes[0]! ^= 1;
    writeFileSync(tile, bytes);
    commitHandoff(place);
    const found = await codes(place);
    expect(found).toContain('ledger_inconsistent ledger');
    expect(found.filter((line) => line.startsWith('key_revoked'))).toHaveLength(8);
  });
});
