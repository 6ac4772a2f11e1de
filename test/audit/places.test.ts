import { describe, expect, test } from 'vitest';
import { branch, codesOf, commitRecords, identityAfter, maintainer } from '../gate/scenario.ts';
import { writeBytes } from '../handoff.ts';
import { alterTree, blob, codes, policyAfter, signDocument, template } from '../threats/forge.ts';

const place = template();

describe('M25: what waits for signatures', () => {
  test('stands at the path of its name', async () => {
    const here = place();
    branch(here, 'feature');
    const bytes = signDocument(identityAfter(here, 'donna', {}), [maintainer(here)]);
    writeBytes(here.dir, '.handoff/identities/erin/pending.yaml', bytes);
    commitRecords(here);
    expect(await codes(here)).toEqual(['path_mismatch pending.yaml']);
    expect(await codesOf(here, {})).toEqual(['path_mismatch']);
  });

  test('stands at the path of its version', async () => {
    const here = place();
    branch(here, 'feature');
    const bytes = signDocument(policyAfter(here, 1), [maintainer(here)]);
    writeBytes(here.dir, '.handoff/policy/0009.pending.yaml', bytes);
    commitRecords(here);
    expect(await codes(here)).toEqual(['path_mismatch 0009.pending.yaml']);
    expect(await codesOf(here, {})).toEqual(['path_mismatch']);
  });
});

describe('§7.1: a tree that readers read differently is refused', () => {
  test.each([
    ['a name that is empty', { name: '', mode: '100644' }],
    ['a name with a slash', { name: 'a/b', mode: '100644' }],
    ['a mode of four digits', { name: 'x', mode: '1006' }],
    ['a mode that is no octal number', { name: 'x', mode: '100948' }],
  ])('%s', async (_, entry) => {
    const here = place();
    const rev = alterTree(here.dir, '.handoff/policy', (entries) => [
      ...entries,
      { ...entry, oid: blob(here.dir, 'x') },
    ]);
    expect((await codesOf(here, { head: rev })).join()).toMatch(/bytes_invalid/);
  });
});
