import { describe, expect, test } from 'vitest';
import { revokeDonna, textOf } from '../gate/ledgers.ts';
import { commitRecords, START } from '../gate/scenario.ts';
import { writeBytes } from '../handoff.ts';
import { writeLedgerOf } from '../ledger/forge-ledger.ts';
import { sealedSession } from '../ledger/sealed.ts';
import { headOf, seal } from '../sealing.ts';
import { codes, template } from '../threats/forge.ts';

// What a verifier of a tree says about ledgers that a maintainer signed and that are wrong all the same.

const place = template();

describe('M30: a ledger that vouches for a seal that nobody can read', () => {
  test.each(['no seal at all\n', 'handoff: 1\nkind: seal\n', '\u0000'])('%o is found at its path', async (text) => {
    const here = place();
    const written = sealedSession(here);
    writeBytes(here.dir, written[1]!.path, text);
    await writeLedgerOf(here, [text]);
    commitRecords(here);
    revokeDonna(here, 1);
    const found = await codes(here);
    expect(found.filter((line) => line.endsWith(' 0002-seal.yaml'))).toHaveLength(1);
    expect(found).toContain('ledger_inconsistent ledger');
  });
});

test('M30 M76: a seal of another size than its number says vouches for nothing', async () => {
  const here = place();
  const written = sealedSession(here, {}, [START, seal(null, (honest) => ({ ...honest, tree_size: 2 }))]);
  await writeLedgerOf(here, [textOf(written[1]!)]);
  commitRecords(here);
  revokeDonna(here, 1);
  expect(await codes(here)).toEqual(['key_revoked 0001-start.yaml', 'key_revoked 0002-seal.yaml']);
});

test('M30 M76: a seal over a file that is too large vouches for the records around it', async () => {
  const here = place();
  const large = 'x'.repeat(262_145);
  const [start] = sealedSession(here, { sessionId: SESSION }, [START]);
  const over = headOf([start!.bytes, Buffer.from(large)]);
  const note = { kind: 'note' as const, text: 'hello' };
  const written = sealedSession(here, { sessionId: SESSION }, [START, note, { kind: 'seal', ...over }]);
  writeBytes(here.dir, written[1]!.path, large);
  await writeLedgerOf(here, [textOf(written[2]!)]);
  commitRecords(here);
  revokeDonna(here, 1);
  expect(await codes(here)).toEqual(['too_large 0002-note.yaml']);
});

const SESSION = '7c1f09aa-51cf-4c61-9a39-2b7fd2f9a1de';

describe('M84: in the folder of a ledger', () => {
  test.each([
    ['a tile of another size', 'tile/0/000.p/2', 'ledger_inconsistent 2'],
    ['a full tile', 'tile/0/000', 'ledger_inconsistent 000'],
    ['a tile of a level that it has not', 'tile/1/000.p/1', 'ledger_inconsistent 1'],
    ['a bundle of another size', 'tile/entries/000.p/2', 'ledger_inconsistent 2'],
    ['what is no tile', 'tile/README', 'path_mismatch README'],
    ['a tile spelled otherwise', 'tile/00/000.p/1', 'path_mismatch 1'],
  ])('%s is found', async (_, path, found) => {
    const here = place();
    const written = sealedSession(here);
    await writeLedgerOf(here, [textOf(written[1]!)]);
    writeBytes(here.dir, `.handoff/ledger/${path}`, 'x');
    commitRecords(here);
    expect(await codes(here)).toEqual([found]);
  });
});
