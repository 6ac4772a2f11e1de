import { describe, expect, test } from 'vitest';
import { textOf } from '../gate/ledgers.ts';
import { branch, codesOf, commitRecords, identityAfter, maintainer } from '../gate/scenario.ts';
import { privateKey, writeBytes } from '../handoff.ts';
import { writeLedgerOf } from '../ledger/forge-ledger.ts';
import { sealedSession } from '../ledger/sealed.ts';
import { alterTree, blob, codes, policyAfter, reopen, signDocument, template } from '../threats/forge.ts';
import { open } from '../verbs/agents.ts';

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

describe('M2 M50: in the ledger of a key that was revoked', () => {
  async function revoked() {
    const here = place();
    await open(here).handoff.identity.add({ name: 'second', role: 'maintainer' });
    const written = sealedSession(here);
    await writeLedgerOf(here, [textOf(written[1]!)], { key: privateKey(here, 'second') });
    commitRecords(here);
    return here;
  }

  test.each([
    ['a file that has no place', '100644', 'path_mismatch run.sh'],
    ['a link', '120000', 'mode_invalid run.sh'],
  ])('%s is an error all the same', async (_, mode, found) => {
    const here = await revoked();
    await open(here).handoff.identity.revoke({ name: 'second', as: 'maintainer' });
    const rev = alterTree(here.dir, '.handoff/ledger', (entries) => [
      { mode, name: 'run.sh', oid: blob(here.dir, 'x') },
      ...entries,
    ]);
    const { findings, valid } = await reopen(here).handoff.verify({ rev });
    expect(findings.map(({ code, path }) => `${code} ${path!.replace(/.*\//, '')}`)).toContain(found);
    expect(valid).toBe(false);
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
