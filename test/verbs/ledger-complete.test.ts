import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { demotedAuthor } from '../gate/honest-complete.ts';
import { forgeLedger, ledgered, textOf } from '../gate/ledgers.ts';
import type { Place } from '../handoff.ts';
import { commitHandoff, commitSealed, entriesOf, sealedSession } from '../ledger/sealed.ts';
import { git } from '../temporary.ts';
import { codes, template } from '../threats/forge.ts';
import { open } from './agents.ts';

const fresh = template();

function becomeFolder(path: string): void {
  rmSync(path);
  mkdirSync(path);
  writeFileSync(join(path, 'x'), 'x');
}

/** A ledger by which a maintainer hides one of two seals. */
async function hiding(place: Place): Promise<string> {
  await ledgered(place);
  const [one, other] = commitSealed(place, 2);
  const extensions = [`sessions ${git(place.dir, 'rev-parse', 'HEAD:.handoff/sessions')}`];
  await forgeLedger(place, (entries) => [...entries, textOf(one!)], { extensions });
  return textOf(other!);
}

it('verify and ledger verify tell of a seal that was left out, and append --all mends it', async () => {
  const place = fresh();
  const hidden = await hiding(place);
  expect(await codes(place)).toEqual(['ledger_inconsistent ledger']);
  const refused = await open(place)
    .handoff.ledger.verify()
    .catch((error) => error);
  expect(refused).toMatchObject({ code: 'ledger_inconsistent' });
  expect(refused.hint).toContain('git handoff ledger append --all');
  expect(await open(place).handoff.ledger.append()).toMatchObject({ appended: 0 });
  expect(await open(place).handoff.ledger.append({ all: true })).toMatchObject({ appended: 1, size: 5 });
  expect(entriesOf(place)).toContain(hidden);
  expect(await codes(place)).toEqual([]);
  expect(await open(place).handoff.ledger.verify()).toMatchObject({ valid: true, pending: 0 });
});

it.each<[string, (path: string) => void]>([
  ['a record is gone', rmSync],
  ['a record is another', (path) => writeFileSync(path, readFileSync(path, 'utf8').replace('sealed', 'forged'))],
  ['a record has become a folder', (path) => becomeFolder(path)],
])('one session that does not hold, as %s, stops no append, and is appended once it holds', async (_, breakFile) => {
  const place = fresh();
  await ledgered(place);
  const [broken] = sealedSession(place);
  breakFile(join(place.dir, broken!.path));
  commitHandoff(place);
  commitSealed(place, 2);
  const { handoff, warnings } = open(place);
  expect(await handoff.ledger.append()).toMatchObject({ appended: 2 });
  expect(warnings.join('\n')).toMatch(/Not appended: .* \(once it holds: git handoff ledger append --all\)/);
  rmSync(join(place.dir, broken!.path), { recursive: true, force: true });
  writeFileSync(join(place.dir, broken!.path), broken!.bytes);
  commitHandoff(place);
  expect(await open(place).handoff.ledger.append({ all: true })).toMatchObject({ appended: 1 });
  expect(await codes(place)).toEqual([]);
});

it('the session of a maintainer who was demoted holds, and is appended', async () => {
  const place = fresh();
  await ledgered(place);
  await demotedAuthor(place);
  commitSealed(place, 2);
  expect(await open(place).handoff.ledger.append()).toMatchObject({ appended: 3 });
  expect(await open(place).handoff.verify()).toMatchObject({ valid: true });
});
