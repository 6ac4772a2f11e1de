import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Place } from '../handoff.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';
import { openLog } from './client.ts';
import { COSIGNED_AT, makeKey, signLine } from './note-key.ts';
import { checkpointOf, commitSealed, writeCheckpoint } from './sealed.ts';
import { serveFolder } from './static-server.ts';

// The ledger of a real repository, as its files are, before a client that knows nothing of ours.

const COMMITS = [1, 2, 255, 3];
const texts: string[] = [];

const place = template(async (here) => {
  for (const count of COMMITS) {
    const seals = commitSealed(here, count);
    texts.push(...seals.map(({ bytes }) => Buffer.from(bytes).toString('utf8')));
    await here.handoff.ledger.append();
  }
});

/** The ledger that a commit has, in a folder of its own. */
function ledgerAt({ dir }: Place, rev: string): string {
  const folder = temporaryDirectory();
  git(dir, '--work-tree', folder, 'checkout', '--quiet', rev, '--', '.handoff/ledger');
  git(dir, 'reset', '--quiet');
  return join(folder, '.handoff/ledger');
}

test('the checkpoint, every tile and every entry hold, and each entry is proved by the tiles', async () => {
  const here = place();
  const { vkey, origin } = await reopen(here).handoff.ledger.key();
  const { url } = await serveFolder(join(here.dir, '.handoff/ledger'));
  const client = openLog(url, vkey);
  const checkpoint = await client.checkpoint();
  const sessions = git(here.dir, 'rev-parse', 'HEAD:.handoff/sessions');
  expect(checkpoint).toMatchObject({ origin, size: 261, extensions: [`sessions ${sessions}`], signers: [origin] });
  expect(checkpoint.root.toString('hex')).toBe((await reopen(here).handoff.ledger.verify()).root);
  expect(checkpoint.root.toString('hex')).toBe((await reopen(here).handoff.root({ ledger: true })).root);
  expect((await client.audit(checkpoint)).map(String)).toEqual(texts);
  for (const index of [0, 1, 254, 255, 256, 260])
    expect(String(await client.entry(index, checkpoint)), `${index}`).toBe(texts[index]);
});

test('it extends the checkpoint of every older commit', async () => {
  const here = place();
  const { vkey } = await reopen(here).handoff.ledger.key();
  const served = temporaryDirectory();
  const { url } = await serveFolder(served);
  const client = openLog(url, vkey);
  const seen = [];
  for (const rev of ['HEAD~6', 'HEAD~4', 'HEAD~2', 'HEAD']) {
    rmSync(served, { recursive: true });
    cpSync(ledgerAt(here, rev), served, { recursive: true });
    for (const checkpoint of seen) await client.update(checkpoint);
    seen.push(await client.checkpoint());
  }
  expect(seen.map(({ size }) => size)).toEqual([1, 3, 258, 261]);
});

test('a cosignature that is added is accepted by both', async () => {
  const here = place();
  const witness = makeKey('witness.example/w1', 4);
  const { text, signatures, origin } = checkpointOf(here);
  writeCheckpoint(here, text, signatures, signLine(witness, text));
  const { vkey } = await reopen(here).handoff.ledger.key();
  const { url } = await serveFolder(join(here.dir, '.handoff/ledger'));
  expect((await openLog(url, vkey, [witness.vkey]).checkpoint()).signers).toEqual([origin, witness.name]);
  const { witnesses } = await reopen(here).handoff.ledger.verify({ witness: [witness.vkey] });
  expect(witnesses).toEqual([{ name: witness.name, at: new Date(COSIGNED_AT * 1000).toISOString() }]);
});

test('what we refuse the client refuses too', async () => {
  const here = place();
  const { vkey } = await reopen(here).handoff.ledger.key();
  const { url } = await serveFolder(join(here.dir, '.handoff/ledger'));
  const client = openLog(url, vkey);
  for (const path of ['checkpoint', 'tile/0/000', 'tile/1/000.p/1', 'tile/entries/001.p/5']) {
    const file = join(here.dir, '.handoff/ledger', path);
    const good = readFileSync(file);
    const bad = Buffer.from(good);
    bad[good.length >> 1]! ^= 1;
    writeFileSync(file, bad);
    await expect(client.checkpoint().then(client.audit), path).rejects.toThrow();
    await expect(reopen(here).handoff.ledger.verify(), path).rejects.toMatchObject({ code: 'ledger_inconsistent' });
    writeFileSync(file, good);
  }
  await client.audit(await client.checkpoint());
});
