import { describe, expect, test } from 'vitest';
import { assertRecordPlace, chainFaults, type Link, toLink } from '../../src/core/record/chain.ts';
import type { RecordKind } from '../../src/core/record/kinds.ts';
import { parseRecord, parseSessionRecord } from '../../src/core/record/record.ts';
import { recordId, verifyRecord } from '../../src/core/record/verify.ts';
import { errorOf, example, nodeSuite, signedFile, testKey } from './examples.ts';

const SESSION = '7c1f09aa-5b1e-4c3d-9f2a-0123456789ab';
const OTHER = '1d9e44b2-0c0d-4e0f-8a1b-fedcba987654';
const AT = '2026-02-20T14:30:25.123Z';
const NONE: ReadonlySet<number> = new Set();

type Step = Partial<Link> & { kind: RecordKind };

/** Links as a writer would make them, except where a step says otherwise. */
function chain(...steps: Step[]): Link[] {
  const links: Link[] = [];
  for (const [index, step] of steps.entries()) {
    const before = links.at(-1);
    const seq = step.seq ?? index + 1;
    links.push({
      seq,
      id: `sha256:${String(index).padStart(64, '0')}`,
      prev: before?.id ?? null,
      clock: (before?.clock ?? 40) + 1,
      at: AT,
      sessionId: SESSION,
      inheritedFrom: links[0]?.predecessor ?? step.predecessor ?? null,
      predecessor: null,
      lock: null,
      fingerprint: testKey('donna').fingerprint,
      ...step,
    });
  }
  return links;
}

function faults(links: Link[], damaged = NONE): string[] {
  return chainFaults(links, damaged).map(
    ({ code, seq, expected, found }) => `${code} ${seq}: ${expected}, not ${found}`,
  );
}

const start = { kind: 'start' } as const;
const note = { kind: 'note' } as const;
const baton = { kind: 'baton' } as const;
const seal = { kind: 'seal' } as const;
const pickup = { kind: 'pickup', predecessor: OTHER } as const;
const locked = (token: number, task = 'P0.1.1') => ({ ...note, lock: { task, token } });

describe('a chain holds', () => {
  test.each<[string, Link[]]>([
    ['that is empty', []],
    ['of a start', chain(start)],
    ['of a pickup, inherited by all', chain(pickup, note, baton, seal)],
    ['sealed again after the baton', chain(start, baton, seal, seal)],
    ['sealed before the baton', chain(start, seal, note, seal, baton)],
    ['whose clock jumps', chain(start, { ...note, clock: 9000 }, { ...note, clock: 2 ** 53 - 1 })],
    ['whose times go back: no clock on a wall decides', chain(start, { ...note, at: '1970-01-01T00:00:00.000Z' })],
    ['with other keys of the identity', chain(start, { ...note, fingerprint: testKey('ada').fingerprint })],
    ['whose lock is given back', chain(start, locked(3), note)],
    ['whose token stays or goes up', chain(start, locked(3), locked(3), locked(7))],
    ['with the tokens of two tasks', chain(start, locked(3, 'A'), locked(1, 'B'), locked(3, 'A'), locked(2, 'B'))],
  ])('%s', (_, links) => {
    expect(chainFaults(links, NONE)).toEqual([]);
  });
});

describe('a fault is found', () => {
  const [first, second] = chain(start, note, note) as [Link, Link, Link];

  test.each<[string, Link[], string[]]>([
    [
      'M39: a number missing',
      [chain(start, note, note)[0]!, chain(start, note, note)[2]!],
      ['chain_broken 3: record 2 before it, not none'],
    ],
    ['M39: the first missing', chain(start, note).slice(1), ['chain_broken 2: record 1 before it, not none']],
    ['M39: the first two missing', chain(start, note, note).slice(2), ['chain_broken 3: record 2 before it, not none']],
    [
      'M40: another prev',
      chain(start, { ...note, prev: `sha256:${'f'.repeat(64)}` }),
      [`chain_broken 2: prev ${first.id}, not sha256:${'f'.repeat(64)}`],
    ],
    ['M40: no prev', chain(start, { ...note, prev: null }), [`chain_broken 2: prev ${first.id}, not null`]],
    ['M40: a prev of the first', chain({ ...start, prev: second.id }), [`chain_broken 1: prev null, not ${second.id}`]],
    [
      'M40: the prev of the record before the last',
      chain(start, note, { ...note, prev: first.id }),
      [`chain_broken 3: prev ${second.id}, not ${first.id}`],
    ],
    [
      'M41: a clock that stands still',
      chain(start, { ...note, clock: 41 }),
      ['chain_broken 2: a clock above 41, not 41'],
    ],
    ['M41: a clock that goes back', chain(start, { ...note, clock: 7 }), ['chain_broken 2: a clock above 41, not 7']],
    ['M41: a clock of nothing', chain({ ...start, clock: 0 }), ['chain_broken 1: a clock above 0, not 0']],
    ['M42: a note first', chain(note), ['chain_broken 1: start or pickup first and only first, not note at 1']],
    [
      'M42: a second start',
      chain(start, start),
      ['chain_broken 2: start or pickup first and only first, not start at 2'],
    ],
    [
      'M42: a pickup inside',
      chain(start, { ...pickup, inheritedFrom: null }),
      ['chain_broken 2: start or pickup first and only first, not pickup at 2'],
    ],
    [
      'M43: another session',
      chain(start, { ...note, sessionId: OTHER }),
      [`chain_broken 2: session ${SESSION}, not ${OTHER}`],
    ],
    [
      'M44: an inheritance made up',
      chain(start, { ...note, inheritedFrom: OTHER }),
      [`chain_broken 2: inherited_from null, not ${OTHER}`],
    ],
    [
      'M44: an inheritance forgotten',
      chain(pickup, { ...note, inheritedFrom: null }),
      [`chain_broken 2: inherited_from ${OTHER}, not null`],
    ],
    [
      'M44: a pickup without it',
      chain({ ...pickup, inheritedFrom: null }),
      [`chain_broken 1: inherited_from ${OTHER}, not null`],
    ],
    [
      'M44: another inheritance',
      chain(pickup, { ...note, inheritedFrom: SESSION }),
      [`chain_broken 2: inherited_from ${OTHER}, not ${SESSION}`],
    ],
    [
      'M45: a note after the baton',
      chain(start, baton, note),
      ['chain_broken 3: nothing but a seal after the baton, not note'],
    ],
    [
      'M45: a second baton',
      chain(start, baton, baton),
      ['chain_broken 3: nothing but a seal after the baton, not baton'],
    ],
    [
      'M45: a note after the seal after the baton',
      chain(start, baton, seal, note),
      ['chain_broken 4: nothing but a seal after the baton, not note'],
    ],
    [
      'M46: a token that goes down',
      chain(start, locked(3), locked(2)),
      ['stale_token 3: a token of at least 3, not 2'],
    ],
    [
      'M46: later, after a record without the lock',
      chain(start, locked(3), note, locked(2)),
      ['stale_token 4: a token of at least 3, not 2'],
    ],
    [
      'M46: later, after the lock of another task',
      chain(start, locked(3, 'A'), locked(9, 'B'), locked(2, 'A')),
      ['stale_token 4: a token of at least 3, not 2'],
    ],
    [
      'M46: more than once',
      chain(start, locked(3), locked(1), locked(2)),
      ['stale_token 3: a token of at least 3, not 1', 'stale_token 4: a token of at least 3, not 2'],
    ],
  ])('%s', (_, links, expected) => {
    expect(faults(links)).toEqual(expected);
  });

  test('M39: two records with one number are a fork, even if both are linked well', () => {
    const [opening, ours] = chain(start, note) as [Link, Link];
    const theirs: Link = { ...ours, kind: 'decision', id: `sha256:${'e'.repeat(64)}` };
    expect(faults([opening, ours, theirs])).toEqual(['chain_broken 2: one record 2, not two']);
    const next: Link = { ...ours, seq: 3, prev: theirs.id, clock: 50, id: `sha256:${'d'.repeat(64)}` };
    expect(faults([opening, ours, theirs, next]).length).toBe(1);
  });

  test('every broken rule of a record is named, and those of every record', () => {
    const bad = { ...note, prev: null, clock: 1, sessionId: OTHER, inheritedFrom: OTHER };
    const codes = chainFaults(chain(start, bad, { ...note, clock: 90 }, { ...start, clock: 91 }), NONE).map(
      ({ seq }) => seq,
    );
    expect(codes).toEqual([2, 2, 2, 2, 4]);
  });
});

describe('beside a damaged file, which has a finding of its own,', () => {
  const [, second, third, fourth] = chain(start, note, note, note) as [Link, Link, Link, Link];

  test('the record after it is not blamed', () => {
    expect(faults([chain(start)[0]!, third, fourth], new Set([2]))).toEqual([]);
    expect(faults([second, third, fourth], new Set([1]))).toEqual([]);
  });

  test('the records of a session that began with a damaged pickup are not blamed', () => {
    expect(faults(chain(pickup, note, note, baton).slice(1), new Set([1]))).toEqual([]);
  });

  test('a gap is still a gap', () => {
    expect(faults([chain(start)[0]!, fourth], new Set([2]))).toEqual(['chain_broken 4: record 3 before it, not none']);
  });

  test('later faults are still found', () => {
    const links = chain(start, note, note, { ...note, prev: null });
    expect(faults([links[0]!, links[2]!, links[3]!], new Set([2])).length).toBe(1);
  });
});

describe('toLink', () => {
  test('takes what a chain is checked by from a verified record', async () => {
    const record = await verifyRecord(parseRecord(example('pickup').bytes), [testKey('con-1')], nodeSuite);
    expect(toLink(record, record.id, record.fingerprint)).toEqual({
      seq: 1,
      kind: 'pickup',
      id: recordId(record.signedBytes, nodeSuite),
      prev: null,
      clock: 16,
      at: AT,
      sessionId: OTHER,
      inheritedFrom: SESSION,
      predecessor: SESSION,
      lock: null,
      fingerprint: testKey('con-1').fingerprint,
    } satisfies Link);
    const note = parseSessionRecord(example('note').bytes);
    expect({ ...toLink(note, '', '').lock }).toEqual({ task: 'P0.1.1', token: 3 });
    expect(toLink(note, '', '')).toMatchObject({ inheritedFrom: null, predecessor: null });
  });
});

describe('assertPlace', () => {
  const { fields } = example('note');
  const record = parseRecord(signedFile(fields));
  const place = { identity: 'donna', sid8: '7c1f09aa', seq: 2, kind: 'note' } as const;
  const repo = fields.repo as string;

  test('accepts a record at its own place', () => {
    assertRecordPlace(record, place, repo);
  });

  test.each([
    ['M37: another kind', { ...place, kind: 'audit' }, repo, 'path_mismatch', 'kind: expected audit, found note'],
    [
      'M37: another identity',
      { ...place, identity: 'eve' },
      repo,
      'path_mismatch',
      'identity: expected eve, found donna',
    ],
    [
      'M37: another session',
      { ...place, sid8: '00000000' },
      repo,
      'path_mismatch',
      'session_id: expected 00000000, found 7c1f09aa',
    ],
    ['M37: another number', { ...place, seq: 3 }, repo, 'path_mismatch', 'seq: expected 3, found 2'],
    [
      'M38: another repository',
      place,
      'ab'.repeat(32),
      'repo_mismatch',
      `repo: expected ${'ab'.repeat(32)}, found ${repo}`,
    ],
  ] as const)('%s', (_, where, repoId, code, message) => {
    const error = errorOf(() => assertRecordPlace(record, where, repoId));
    expect([error.code, error.message]).toEqual([code, message]);
    expect(error.data).toMatchObject({ expected: expect.any(String), found: expect.any(String) });
  });
});
