import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { judgeStaged } from '../../src/hooks/staged-records.ts';
import { nodeHost } from '../../src/host.ts';
import { openRepositoryAt } from '../../src/repository/repository.ts';
import { BATON, branch, commitRecords, START, verdict } from '../gate/scenario.ts';
import { type Draft, type Place, writeBytes } from '../handoff.ts';
import { headOf, SEALED_ID, type SealDraft, type Step, seal, writeSealed } from '../sealing.ts';
import { git } from '../temporary.ts';
import { codes, reopen, template } from '../threats/forge.ts';

// Seals that a real key signed, and that say what is not so. Every way to judge a session must notice.

const place = template();
const NOTE: Draft = { kind: 'note', text: 'one' };
const ZEROS = '0'.repeat(64);
const previous = (change: object) => (honest: SealDraft) => ({
  ...honest,
  previous: { ...honest.previous!, ...change },
});

/** A session of eight records with seals over 2, 4 and 7. */
const HONEST: Step[] = [START, NOTE, seal(), NOTE, seal(2), NOTE, BATON, seal(4)];
const with3 = (step: Step): Step[] => HONEST.with(2, step);
const with5 = (step: Step): Step[] => HONEST.with(4, step).slice(0, 5);

test('honest seals pass every judge', async () => {
  const here = place();
  expect(await everyVerdict(here, () => writeSealed(here, HONEST))).toEqual(agreed([]));
});

describe('M76 M77: a forged seal is found by', () => {
  test.each<[string, Step[], string[]]>([
    ['a root of nothing', with3(seal(null, (honest) => ({ ...honest, root: ZEROS }))).slice(0, 4), ['3']],
    [
      'a size that leaves out the end',
      with3((files) => ({ kind: 'seal', ...headOf(files.slice(1)) })).slice(0, 3),
      ['3'],
    ],
    [
      'a size that is more than there is',
      with3(seal(null, (honest) => ({ ...honest, tree_size: 3 }))).slice(0, 3),
      ['3'],
    ],
    [
      'the root of fewer records',
      with3((files) => ({ kind: 'seal', ...headOf(files), root: headOf(files.slice(0, 1)).root })).slice(0, 3),
      ['3'],
    ],
    [
      'the root of records in another order',
      with3((files) => ({ kind: 'seal', ...headOf(files.toReversed()) })).slice(0, 3),
      ['3'],
    ],
    ['a previous where there was none', with3(seal(1)).slice(0, 3), ['3']],
    ['previous left out', with5(seal()), ['5']],
    ['previous of another size', with5(seal(1)), ['5']],
    ['previous with another root', with5(seal(2, previous({ root: ZEROS }))), ['5']],
    ['previous with the size of another', with5(seal(2, previous({ tree_size: 3 }))), ['5']],
    ['a proof cut off', with5(seal(2, previous({ proof: [] }))), ['5']],
    [
      'a proof prolonged',
      with5(
        seal(2, ({ previous: old, ...honest }) => ({
          ...honest,
          previous: { ...old!, proof: [...old!.proof, ZEROS] },
        })),
      ),
      ['5'],
    ],
    [
      'a proof of something else',
      with5(seal(2, (honest) => ({ ...honest, previous: { ...honest.previous!, proof: [ZEROS] } }))),
      ['5'],
    ],
    ['the seal before the last as previous', HONEST.with(7, seal(2)), ['8']],
    [
      'a wrong seal, and one that goes on from it',
      HONEST.with(
        2,
        seal(null, (honest) => ({ ...honest, root: ZEROS })),
      ).with(4, seal(2, previous({ root: ZEROS }))),
      ['3', '5'],
    ],
  ])('every judge: %s', async (_, steps, numbers) => {
    const here = place();
    const found = await everyVerdict(here, () => writeSealed(here, steps));
    expect(found).toEqual(agreed(numbers.map((number) => `chain_broken 000${number}-seal.yaml`)));
  });

  test('every judge: the root of another session, which is right there', async () => {
    const here = place();
    const found = await everyVerdict(here, () => {
      const other = writeSealed(here, [START, NOTE], { identity: 'erin', sessionId: SEALED_ID.replace('5', '6') });
      writeSealed(here, with3({ kind: 'seal', ...headOf(other.map(({ bytes }) => bytes)) }).slice(0, 3));
    });
    expect(found).toEqual(agreed(['chain_broken 0003-seal.yaml']));
  });

  test('every judge: a record below it that the same key signed anew', async () => {
    const here = place();
    const found = await everyVerdict(here, () => {
      const honest = headOf(writeSealed(here, [START, NOTE]).map(({ bytes }) => bytes));
      writeSealed(here, [START, { ...NOTE, text: 'two' }, { kind: 'seal', ...honest }]);
    });
    expect(found).toEqual(agreed(['chain_broken 0003-seal.yaml']));
  });

  test('every judge: a seal that is too large for a log', async () => {
    const here = place();
    const big = seal(null, (honest) => ({ ...honest, x_pad: 'x'.repeat(65_536) }));
    const found = await everyVerdict(here, () => writeSealed(here, with3(big).slice(0, 3)));
    expect(found).toEqual(agreed(['too_large 0003-seal.yaml']));
  });
});

describe('a session under a seal', () => {
  test('a record whose bytes were changed is found, and so is every seal over it', async () => {
    const here = place();
    const [, note] = writeSealed(here, HONEST);
    const path = join(here.dir, note!.path);
    writeBytes(here.dir, note!.path, readFileSync(path, 'utf8').replace('text: one', 'text: two'));
    git(here.dir, 'add', '--all');
    expect(await codes(here, { staged: true })).toEqual([
      'signature_invalid 0002-note.yaml',
      ...['3', '5', '8'].map((number) => `chain_broken 000${number}-seal.yaml`),
    ]);
  });

  test('other signature bytes over the same text are other bytes', async () => {
    const here = place();
    const [, note] = writeSealed(here, [START, NOTE, seal()]);
    const text = readFileSync(join(here.dir, note!.path), 'utf8');
    writeBytes(
      here.dir,
      note!.path,
      text.replace(/signature: ./, (start) => `${start.slice(0, -1)}${start.endsWith('A') ? 'B' : 'A'}`),
    );
    git(here.dir, 'add', '--all');
    expect(await codes(here, { staged: true })).toContain('chain_broken 0003-seal.yaml');
  });

  test('a record that is gone leaves no root that could hold', async () => {
    const here = place();
    const [, note] = writeSealed(here, [START, NOTE, NOTE, seal()]);
    rmSync(join(here.dir, note!.path));
    git(here.dir, 'add', '--all');
    expect(await codes(here, { staged: true })).toEqual(['chain_broken 0003-note.yaml', 'chain_broken 0004-seal.yaml']);
  });

  test('a number that stands there twice leaves none either', async () => {
    const here = place();
    const written = writeSealed(here, [START, NOTE, seal()]);
    const other: Draft = { kind: 'decision', title: 'x', status: 'accepted', body: 'x\n' };
    const [, fork] = writeSealed(here, [START, other]);
    expect(written[1]!.path).not.toBe(fork!.path);
    git(here.dir, 'add', '--all');
    expect(await codes(here, { staged: true })).toContain('chain_broken 0003-seal.yaml');
  });

  test('a seal that is spoilt has its own finding, and those after it are over other bytes', async () => {
    const here = place();
    const [, , sealed] = writeSealed(here, HONEST);
    writeBytes(here.dir, sealed!.path, 'no seal any more');
    git(here.dir, 'add', '--all');
    expect(await codes(here, { staged: true })).toEqual([
      'yaml_invalid 0003-seal.yaml',
      'chain_broken 0005-seal.yaml',
      'chain_broken 0008-seal.yaml',
    ]);
  });

  test('a key that is revoked later spoils every record and no root: the files are what they were', async () => {
    const here = place();
    writeSealed(here, HONEST);
    await here.handoff.identity.revoke({ name: 'donna' });
    commitRecords(here);
    expect(new Set((await codes(here)).map((line) => line.split(' ')[0]))).toEqual(new Set(['key_revoked']));
  });

  test('the same verdict comes out of the cache, and a seal that is forged later is not hidden by it', async () => {
    const here = place();
    writeSealed(here, HONEST.slice(0, 5));
    commitRecords(here);
    const cached = () => reopen(here, here.dir, here.env, 'a build').handoff;
    for (const _ of ['cold', 'warm']) expect((await cached().verify()).valid).toBe(true);
    await cached().log();
    writeSealed(
      here,
      HONEST.with(
        7,
        seal(4, (honest) => ({ ...honest, root: ZEROS })),
      ),
    );
    commitRecords(here);
    for (const _ of ['cold', 'warm']) {
      const { findings } = await cached().verify();
      expect(findings.map(({ code, path }) => `${code} ${path!.slice(-14)}`)).toEqual(['chain_broken 0008-seal.yaml']);
    }
  });

  test('what a forged seal stands on is still told to whoever picks up, the seal and what follows is not', async () => {
    const here = place();
    writeSealed(here, [START, NOTE, seal(null, (honest) => ({ ...honest, root: ZEROS })), BATON]);
    commitRecords(here);
    const { handoff, warnings } = reopen(here);
    expect((await handoff.pickup({ as: 'erin' })).baton).toBeNull();
    expect(warnings.join()).toContain('Problems in .handoff: 1');
  });

  test('what was wrong before does not stand in the way of others, and cannot be sealed over', async () => {
    const here = place();
    const wrong = [START, NOTE, seal(null, (honest) => ({ ...honest, root: ZEROS }))];
    writeSealed(here, wrong);
    commitRecords(here);
    branch(here, 'feature');
    writeSealed(here, [...wrong, NOTE]);
    commitRecords(here);
    expect(await verdict(here)).toEqual([]);
    writeSealed(here, [...wrong, NOTE, seal(2)]);
    commitRecords(here);
    expect(await verdict(here)).toEqual(['chain_broken 0005-seal.yaml']);
  });
});

interface Verdicts {
  verify: string[];
  staged: string[];
  preCommit: string[];
  gate: string[];
}

function agreed(found: string[]): Verdicts {
  return { verify: found, staged: found, preCommit: found, gate: found };
}

/** What each judge says of a session that a branch brings. */
async function everyVerdict(here: Place, write: () => unknown): Promise<Verdicts> {
  branch(here, 'feature');
  write();
  git(here.dir, 'add', '--all');
  const staged = await codes(here, { staged: true });
  const preCommit = await judgeIndex(here);
  commitRecords(here);
  return { staged, preCommit, verify: await codes(here), gate: await verdict(here) };
}

async function judgeIndex({ dir, env }: Place): Promise<string[]> {
  const repository = openRepositoryAt(dir, { env, host: nodeHost });
  const findings = await judgeStaged(repository);
  await repository.close();
  return findings.map(({ code, path }) => `${code} ${path!.slice(path!.lastIndexOf('/') + 1)}`);
}

describe('M76: a file that is too large to be a record', () => {
  const LARGE = 'x'.repeat(262_145);

  test.each<[string, (honest: SealDraft) => object, string[]]>([
    ['is under the seal that is over it', (honest) => honest, ['too_large 0002-note.yaml']],
    [
      'is not what another seal is over',
      (honest) => ({ ...honest, root: ZEROS }),
      ['chain_broken 0003-seal.yaml', 'too_large 0002-note.yaml'],
    ],
  ])('%s', async (_, change, expected) => {
    const here = place();
    const start = writeSealed(here, [START])[0]!;
    const files = [start.bytes, Buffer.from(LARGE)];
    const written = writeSealed(here, [START, NOTE, () => ({ kind: 'seal', ...change(headOf(files)) })]);
    writeBytes(here.dir, written[1]!.path, LARGE);
    commitRecords(here);
    expect((await codes(here)).sort()).toEqual(expected);
  });
});
