import { chmodSync, cpSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../cli/cli.ts';
import { initialised, newKey, type Place, privateKey, STORY, writeBytes, writeSession } from '../handoff.ts';
import { writeLedgerOf } from '../ledger/forge-ledger.ts';
import { COSIGNED_AT, makeKey, signLine } from '../ledger/note-key.ts';
import {
  CHECKPOINT,
  checkpointOf,
  commitHandoff,
  commitSealed,
  entriesOf,
  ledgerFiles,
  sealedSession,
  writeCheckpoint,
} from '../ledger/sealed.ts';
import { seal } from '../sealing.ts';
import { git } from '../temporary.ts';
import { findings, reopen, template } from '../threats/forge.ts';
import { open } from './agents.ts';

const fresh = template(async (place) => {
  commitSealed(place, 3);
  await place.handoff.ledger.append();
});

const LEDGER = '.handoff/ledger';
const witness = makeKey('witness.example/w1', 4);

function verify(place: Place, options: object = {}) {
  return reopen(place).handoff.ledger.verify(options);
}

function pathOfFirst({ dir }: Place): string {
  return git(dir, 'ls-files', '.handoff/sessions').split('\n')[0]!;
}

function logKey(place: Place, key = privateKey(place, 'maintainer')) {
  return makeKey(`git-handoff/${place.root}`, 1, key);
}

describe('ledger verify counts', () => {
  it('nothing where there is no ledger, and says what is not sealed', async () => {
    const place = fresh();
    git(place.dir, 'reset', '--quiet', '--hard', 'HEAD~2');
    rmSync(join(place.dir, '.git/handoff/ledger.json'));
    writeSession(place, STORY);
    sealedSession(place);
    expect(await verify(place)).toEqual({
      ...{ valid: true, exists: false, size: 0, origin: `git-handoff/${place.root}`, unsealed: 2, pending: 1 },
      ...{ root: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', witnesses: [], seen_at: null },
    });
    const { code, stdout } = run(['-C', place.dir, 'ledger', 'verify'], { env: place.env });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^! there is no ledger here yet\n +pending +1 seal to append: git handoff ledger append\n/,
      ),
    });
    expect(stdout).not.toContain('✓');
  });

  it('sessions that it does not cover, and seals that wait', async () => {
    const place = fresh();
    expect(await verify(place)).toMatchObject({ valid: true, exists: true, size: 3, unsealed: 0, pending: 0 });
    expect((await verify(place)).root).toBe(checkpointOf(place).root);
    writeSession(place, STORY); // not sealed
    const options = { sessionId: '11111111-51cf-4c61-9a39-2b7fd2f9a1de' };
    sealedSession(place, options); // waits
    expect(await verify(place)).toMatchObject({ unsealed: 2, pending: 1 });
    commitHandoff(place);
    await reopen(place).handoff.ledger.append();
    expect(await verify(place)).toMatchObject({ size: 4, unsealed: 1, pending: 0 });
    const steps = [{ kind: 'start', intent: 'to be sealed' } as const, seal(), STORY[1]!];
    sealedSession(place, options, steps); // something came after the seal
    expect(await verify(place)).toMatchObject({ size: 4, unsealed: 2, pending: 0 });
    sealedSession(place, options, [...steps, seal(1)]);
    expect(await verify(place)).toMatchObject({ size: 4, unsealed: 2, pending: 1 });
  });

  it('in a bare repository, and from a subdirectory', async () => {
    const place = fresh();
    const dir = join(place.dir, '../bare.git');
    git('/', 'clone', '--quiet', '--bare', place.dir, dir);
    expect(await open(place, { dir }).handoff.ledger.verify()).toMatchObject({ size: 3 });
    expect(await open(place, { dir: join(place.dir, LEDGER) }).handoff.ledger.verify()).toMatchObject({ size: 3 });
  });
});

type Tamper = (place: Place) => void;

function bytesOf(place: Place, path: string): Buffer {
  return readFileSync(join(place.dir, LEDGER, path));
}

function flip(path: string, at: number): Tamper {
  return (place) => {
    const bytes = bytesOf(place, path);
    bytes[at]! ^= 1;
    writeFileSync(join(place.dir, LEDGER, path), bytes);
  };
}

function replace(path: string, make: (bytes: Buffer) => Uint8Array | string): Tamper {
  return (place) => writeBytes(place.dir, `${LEDGER}/${path}`, make(bytesOf(place, path)));
}

function remove(path: string): Tamper {
  return ({ dir }) => rmSync(join(dir, LEDGER, path), { recursive: true });
}

/** What is there, elsewhere, and a link to it in its place. */
function link(path: string): Tamper {
  return ({ dir }) => {
    const aside = join(dir, '..', 'aside');
    renameSync(join(dir, path), aside);
    symlinkSync(aside, join(dir, path));
  };
}

/** The text of the checkpoint changed, and signed again by the key that may. */
function resigned(change: (text: string) => string): Tamper {
  return (place) => {
    const text = change(checkpointOf(place).text);
    writeCheckpoint(place, text, signLine(logKey(place), text));
  };
}

const TAMPERED: [string, Tamper][] = [
  ['the size in the checkpoint', replace('checkpoint', (b) => `${b}`.replace('\n3\n', '\n2\n'))],
  ['a letter of the root', flip('checkpoint', 85)],
  ['the signature', replace('checkpoint', (b) => `${b}`.slice(0, -8).concat('AAAAAA=\n'))],
  ['no signature', replace('checkpoint', (b) => `${b}`.replace(/— .*\n$/, ''))],
  ['an empty checkpoint', replace('checkpoint', () => '')],
  ['a checkpoint of 100 KB', replace('checkpoint', () => 'x'.repeat(100_000))],
  ['line ends of Windows', replace('checkpoint', (b) => `${b}`.replaceAll('\n', '\r\n'))],
  ['a tile', flip('tile/0/000.p/3', 40)],
  ['a tile that is too short', replace('tile/0/000.p/3', (b) => b.subarray(1))],
  ['a tile that is too long', replace('tile/0/000.p/3', (b) => Buffer.concat([b, b]))],
  ['an entry', flip('tile/entries/000.p/3', 500)],
  ['the length of an entry', flip('tile/entries/000.p/3', 0)],
  ['something after the entries', replace('tile/entries/000.p/3', (b) => `${b}\0\0`)],
  ['no checkpoint', remove('checkpoint')],
  ['no tile', remove('tile/0/000.p/3')],
  ['no entries', remove('tile/entries')],
  ['no tiles at all', remove('tile')],
  ['no ledger', remove('')],
  ['another file', ({ dir }) => writeBytes(dir, `${LEDGER}/notes.txt`, 'mine\n')],
  ['a tile too many', ({ dir }) => writeBytes(dir, `${LEDGER}/tile/0/000.p/2`, 'x')],
  ['a tile of a level too many', ({ dir }) => writeBytes(dir, `${LEDGER}/tile/1/000.p/1`, 'x')],
  ['a checkpoint that is a link', link(CHECKPOINT)],
  ['a tile that is a link', link(`${LEDGER}/tile/0/000.p/3`)],
  ['a folder that is a link', link(`${LEDGER}/tile`)],
  ['a ledger that is a link', link(LEDGER)],
  ['a checkpoint that can be run', ({ dir }) => chmodSync(join(dir, CHECKPOINT), 0o755)],
  ['signed: another origin', resigned((text) => text.replace('handoff/', 'handoff/0'))],
  ['signed: a size it has not', resigned((text) => text.replace('\n3\n', '\n4\n'))],
  ['signed: a smaller size', resigned((text) => text.replace('\n3\n', '\n2\n'))],
  ['signed: a size beyond all', resigned((text) => text.replace('\n3\n', `\n${'9'.repeat(30)}\n`))],
  ['signed: a negative size', resigned((text) => text.replace('\n3\n', '\n-3\n'))],
  ['signed: a size with a zero before it', resigned((text) => text.replace('\n3\n', '\n03\n'))],
  ['signed: no root', resigned((text) => text.split('\n').slice(0, 2).join('\n').concat('\n'))],
  [
    'signed by an agent',
    (place) => {
      const { text } = checkpointOf(place);
      writeCheckpoint(place, text, signLine(logKey(place, privateKey(place, 'donna')), text));
    },
  ],
  [
    'signed by a stranger',
    (place) => {
      const { text } = checkpointOf(place);
      writeCheckpoint(place, text, signLine(logKey(place, newKey()), text));
    },
  ],
  [
    'a seal that is in the ledger and not in the tree any more',
    ({ dir }) => rmSync(join(dir, '.handoff/sessions'), { recursive: true }),
  ],
  [
    'a session that is in the ledger under another name',
    ({ dir }) => renameSync(join(dir, '.handoff/sessions/donna'), join(dir, '.handoff/sessions/erin')),
  ],
];

describe('ledger verify refuses', () => {
  it('a ledger whose signer was revoked, and says who mends that', async () => {
    const place = fresh();
    await place.handoff.identity.add({ name: 'second', role: 'maintainer' });
    commitSealed(place);
    await reopen(place).handoff.ledger.append({ as: 'second' });
    await reopen(place).handoff.identity.revoke({ name: 'second', as: 'maintainer' });
    const hint = expect.stringContaining('A maintainer signs it anew: git handoff ledger append');
    const refusal = { code: 'ledger_inconsistent', message: expect.stringContaining('was revoked'), hint };
    await expect(verify(place)).rejects.toMatchObject(refusal);
    const cosigned = checkpointOf(place);
    writeCheckpoint(place, cosigned.text, cosigned.signatures, signLine(witness, cosigned.text));
    await expect(verify(place, { witness: [witness.vkey] })).rejects.toMatchObject(refusal);
    expect((await reopen(place).handoff.verify()).findings).toContainEqual(expect.objectContaining(refusal));
    git(place.dir, 'checkout', '--quiet', '--', '.handoff');
    expect(await reopen(place).handoff.ledger.append()).toMatchObject({ appended: 0, commit: expect.any(String) });
    expect(await verify(place)).toMatchObject({ valid: true });
    // who has the name of a revoked key has not its signature
    const { text, signatures } = checkpointOf(place);
    const forged = cosigned.signatures.slice(0, -12).concat('AAAAAAAAAA=\n');
    writeCheckpoint(place, text, forged);
    const error = await verify(place).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'ledger_inconsistent' });
    expect(error.hint).not.toContain('signs it anew');
    writeCheckpoint(place, text, signatures);
    expect(await verify(place)).toMatchObject({ valid: true });
  });

  it.each(TAMPERED)('%s', async (_, tamper) => {
    const place = fresh();
    await verify(place);
    tamper(place);
    await expect(verify(place)).rejects.toMatchObject({
      code: 'ledger_inconsistent',
      exitCode: 1,
      hint: expect.any(String),
    });
  });

  it('every single flipped bit of its files', async () => {
    const place = fresh();
    const { handoff } = reopen(place);
    for (const path of ledgerFiles(place)) {
      const good = bytesOf(place, path);
      const step = Math.max(1, Math.floor(good.length / 40));
      for (let at = 0; at < good.length; at += step) {
        flip(path, at)(place);
        const verdict = await handoff.ledger.verify().then(
          () => 'holds',
          ({ code }) => code,
        );
        expect({ path, at, verdict }).toEqual({ path, at, verdict: 'ledger_inconsistent' });
        writeBytes(place.dir, `${LEDGER}/${path}`, good);
      }
    }
    expect(await handoff.ledger.verify()).toMatchObject({ valid: true });
  });

  it('what verify refuses too, once it is committed', async () => {
    const place = fresh();
    flip('tile/0/000.p/3', 40)(place);
    commitHandoff(place);
    expect(await findings(place)).toEqual(['ledger_inconsistent ledger']);
  });

  it('a ledger that is a link, also where none was ever seen', async () => {
    const place = fresh();
    rmSync(join(place.dir, '.git/handoff/ledger.json'));
    link(LEDGER)(place);
    await expect(verify(place)).rejects.toMatchObject({ code: 'ledger_inconsistent' });
  });

  it('a root that is signed and not that of the tiles, also where none was ever seen', async () => {
    const place = fresh();
    rmSync(join(place.dir, '.git/handoff/ledger.json'));
    resigned((text) => text.replace(/\n[A-Za-z0-9+/]{43}=\n/, `\n${'A'.repeat(43)}=\n`))(place);
    await expect(verify(place)).rejects.toMatchObject({ code: 'ledger_inconsistent' });
    commitHandoff(place);
    expect(await findings(place)).toEqual(['ledger_inconsistent ledger']);
  });

  it('a seal that stands in it twice, whoever signed that', async () => {
    const place = fresh();
    await expect(forged(place, (entries) => [...entries, entries[0]!])).rejects.toMatchObject({
      code: 'ledger_inconsistent',
      message: expect.stringContaining('twice'),
    });
  });

  it('an entry that is a record and no seal', async () => {
    const place = fresh();
    const [start] = writeSession(place, STORY);
    const text = Buffer.from(start!.bytes).toString('utf8');
    await expect(forged(place, (entries) => [...entries, text])).rejects.toMatchObject({
      code: 'ledger_inconsistent',
      message: expect.stringContaining('Entry 3 of the ledger is no seal'),
    });
  });

  it('an entry that is nothing of ours', async () => {
    const place = fresh();
    await expect(forged(place, (entries) => [...entries, 'hello\n'])).rejects.toMatchObject({ exitCode: 1 });
  });

  it('a seal of another repository', async () => {
    const place = fresh();
    const other = { ...place, root: 'ab'.repeat(32), dir: join(place.dir, '..', 'other') };
    const foreign = sealedSession(other, { key: privateKey(place, 'donna') }).at(-1)!;
    cpSync(join(other.dir, dirname(foreign.path)), join(place.dir, dirname(foreign.path)), { recursive: true });
    const text = Buffer.from(foreign.bytes).toString('utf8');
    await expect(forged(place, (entries) => [...entries, text])).rejects.toMatchObject({
      code: 'ledger_inconsistent',
      message: expect.stringContaining('no seal of this repository'),
    });
  });
});

/** The ledger with other entries, its tiles right and its checkpoint signed by who may. */
async function forged(place: Place, change: (entries: string[]) => string[]) {
  await writeLedgerOf(place, change(entriesOf(place)));
  return verify(place);
}

describe('witnesses', () => {
  /** Adds a line to what the maintainer signed. */
  function cosign(place: Place, key = witness, text = checkpointOf(place).text): void {
    const { text: signed, signatures } = checkpointOf(place);
    writeCheckpoint(place, signed, signatures, signLine(key, text));
  }

  const AT = new Date(COSIGNED_AT * 1000).toISOString();

  it('are shown where their key is known, by flag or by configuration', async () => {
    const place = fresh();
    cosign(place);
    expect((await verify(place)).witnesses).toEqual([]);
    expect((await verify(place, { witness: [witness.vkey] })).witnesses).toEqual([{ name: witness.name, at: AT }]);
    const second = makeKey('witness.example/w2', 4);
    cosign(place, second);
    git(place.dir, 'config', 'handoff.witness', `${second.vkey} ${witness.vkey}`);
    expect((await verify(place)).witnesses.map(({ name }) => name)).toEqual([witness.name, second.name]);
    expect(await verify(place, { witness: [witness.vkey] })).toMatchObject({ witnesses: { length: 2 } });
  });

  it('are refused where they are known and wrong', async () => {
    const place = fresh();
    cosign(place, witness, 'another text\n');
    expect((await verify(place)).witnesses).toEqual([]); // of a key that nobody knows: it says nothing
    await expect(verify(place, { witness: [witness.vkey] })).rejects.toMatchObject({
      code: 'ledger_inconsistent',
      message: expect.stringContaining(witness.name),
    });
  });

  it('cannot sign in the place of a maintainer', async () => {
    const place = fresh();
    const { text } = checkpointOf(place);
    writeCheckpoint(place, text, signLine(witness, text));
    await expect(verify(place, { witness: [witness.vkey] })).rejects.toMatchObject({ code: 'ledger_inconsistent' });
  });

  it('whose key is none, or is that of a log, are wrong usage', async () => {
    const place = fresh();
    for (const key of ['nonsense', makeKey('witness.example/log', 1).vkey, witness.vkey.replace('w1', 'w3')])
      await expect(verify(place, { witness: [key] })).rejects.toMatchObject({ code: 'usage', exitCode: 2 });
    git(place.dir, 'config', 'handoff.witness', 'nonsense');
    await expect(verify(place)).rejects.toMatchObject({ code: 'usage' });
  });

  it('stay when nothing is appended, and go when the text is another', async () => {
    const place = fresh();
    cosign(place);
    commitHandoff(place);
    expect(await findings(place)).toEqual([]);
    expect(await reopen(place).handoff.ledger.append()).toMatchObject({ appended: 0, commit: null });
    expect(checkpointOf(place).signatures).toContain(witness.name);
    commitSealed(place);
    await reopen(place).handoff.ledger.append();
    expect(checkpointOf(place).signatures).not.toContain(witness.name);
  });
});

it.each<[string, (place: Place) => Promise<unknown>]>([
  ['prove', (place) => reopen(place).handoff.prove({ record: pathOfFirst(place), output: '-' })],
  ['ledger key', (place) => reopen(place).handoff.ledger.key()],
  ['root --ledger', (place) => reopen(place).handoff.root({ ledger: true })],
])('what %s has seen is missed when it is gone', async (_, look) => {
  const place = fresh();
  rmSync(join(place.dir, '.git/handoff/ledger.json'));
  await look(place);
  git(place.dir, 'reset', '--quiet', '--hard', 'HEAD~1');
  await expect(verify(place)).rejects.toMatchObject({ code: 'ledger_inconsistent', data: { seen: { size: 3 } } });
});

it('what no commit has is checked and not remembered: it may yet be dropped', async () => {
  const place = fresh();
  const pin = readFileSync(join(place.dir, '.git/handoff/ledger.json'), 'utf8');
  commitSealed(place);
  await reopen(place).handoff.ledger.append({ commit: false, stage: true });
  expect(await reopen(place).handoff.ledger.verify()).toMatchObject({ valid: true, size: 4, seen_at: null });
  expect(await reopen(place).handoff.root({ ledger: true })).toMatchObject({ size: 4 });
  expect(readFileSync(join(place.dir, '.git/handoff/ledger.json'), 'utf8')).toBe(pin);
  git(place.dir, 'reset', '--quiet', '--hard');
  expect(await reopen(place).handoff.ledger.verify()).toMatchObject({ valid: true, size: 3 });
});

describe('--max-age', () => {
  const FIRST = new Date('2026-03-01T00:00:00Z');
  const after = (seconds: number) => () => new Date(FIRST.getTime() + seconds * 1000);

  it('fails when nothing newer was seen for longer', async () => {
    const place = fresh();
    rmSync(join(place.dir, '.git/handoff/ledger.json'));
    const at = (seconds: number) => open(place, { now: after(seconds) }).handoff.ledger;
    expect(await at(0).verify({ maxAge: '1s' })).toMatchObject({ seen_at: FIRST.toISOString() });
    expect(await at(7 * 86400).verify({ maxAge: '7d' })).toMatchObject({ seen_at: FIRST.toISOString() });
    for (const maxAge of ['7d', '168h', '10080m', '604800s', '0s'])
      await expect(at(7 * 86400 + 1).verify({ maxAge }), maxAge).rejects.toMatchObject({
        code: 'ledger_inconsistent',
        data: { size: 3, root: checkpointOf(place).root, seen_at: FIRST.toISOString() },
      });
    expect(await at(7 * 86400 + 1).verify()).toMatchObject({ valid: true });
    commitSealed(place);
    await at(8 * 86400).append();
    expect(await at(8 * 86400).verify({ maxAge: '1d' })).toMatchObject({ size: 4 });
  });

  it('fails where there is no ledger at all, which without it is none that is wrong', async () => {
    const { handoff } = await initialised();
    expect(await handoff.ledger.verify()).toMatchObject({ valid: true, size: 0 });
    await expect(handoff.ledger.verify({ maxAge: '7d' })).rejects.toMatchObject({ code: 'ledger_inconsistent' });
  });

  it('that is no time is wrong usage', async () => {
    const { handoff } = fresh();
    for (const maxAge of ['7', 'd', '-1d', '1.5h', '7 d', '1w', '', '9999999999d', 'NaN'])
      await expect(handoff.ledger.verify({ maxAge }), maxAge).rejects.toMatchObject({ code: 'usage', exitCode: 2 });
  });
});
