import { describe, expect, expectTypeOf, it } from 'vitest';
import type { ThoughtRecord } from '../../src/core/generated/types.ts';
import { isOfKind, type OwnFields } from '../../src/core/record/kinds.ts';
import { hasKind, isDocument, isSessionRecord, parseAs, parseRecord } from '../../src/core/record/record.ts';
import type { PlacedRecord } from '../../src/core/record/record-summary.ts';
import { example } from './examples.ts';

// What the compiler knows is checked by `npm run typecheck`; what is the case, when the tests run.

describe('a record that was parsed has the type of its kind', () => {
  it('once somebody has looked at the kind', () => {
    const record = parseRecord(example('thought').bytes);
    // @ts-expect-error: not every kind has a commit
    expect(record.fields.commit_sha).toMatch(/^[0-9a-f]{40}$/);
    if (record.kind !== 'thought') throw new Error('no thought');
    expectTypeOf(record.fields).toEqualTypeOf<ThoughtRecord>();
    expect(record.fields.tests_run.length).toBeGreaterThan(0);
  });

  it('in a list of one kind', () => {
    const thoughts = ([] as PlacedRecord[]).filter(isOfKind('thought'));
    expectTypeOf(thoughts).toExtend<PlacedRecord<'thought'>[]>();
    expect(thoughts.flatMap(({ record }) => record.fields.files_changed)).toEqual([]);
  });

  it('and tells a record from a document', () => {
    const [note, policy] = [parseRecord(example('note').bytes), parseRecord(example('policy').bytes)];
    expect([isSessionRecord(note), isDocument(note), hasKind(note, 'wip')]).toEqual([true, false, false]);
    expect([isSessionRecord(policy), isDocument(policy), hasKind(policy, 'policy')]).toEqual([false, true, true]);
    if (isSessionRecord(note)) expectTypeOf(note.fields.clock).toEqualTypeOf<number>();
    if (isDocument(policy)) expectTypeOf(policy.fields.version).toEqualTypeOf<number>();
  });

  it('and is refused where another kind was asked for', () => {
    expect(() => parseAs(example('note').bytes, 'wip')).toThrow('Unknown kind: expected wip, found "note".');
  });
});

it('a draft has the keys of its kind and no others', () => {
  expectTypeOf<OwnFields<'waiver'>>().toEqualTypeOf<{ commit_sha: string; reason: string; task_id?: string }>();
});
