import { hash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { git } from '../temporary.ts';

/** An object whatever its bytes, as `git hash-object --literally -w` would write it, without a process. */
export function writeRaw(dir: string, type: 'commit' | 'tree' | 'tag' | 'blob', bytes: Uint8Array): string {
  const whole = Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes]);
  const oid = hash('sha1', whole, 'hex');
  const folder = join(dir, '.git/objects', oid.slice(0, 2));
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, oid.slice(2)))) writeFileSync(join(folder, oid.slice(2)), deflateSync(whole));
  return oid;
}

/** Objects that exist, for hostile ones to name. */
export interface Pool {
  tree: string;
  commits: string[];
  blobs: string[];
}

export function makePool(dir: string): Pool {
  const tree = writeRaw(dir, 'tree', Buffer.alloc(0));
  const commits = Array.from({ length: 6 }, (_, n) =>
    git(dir, 'commit-tree', tree, '-m', `number ${n}`, ...(n > 3 ? ['-p', 'HEAD'] : [])),
  );
  const blobs = ['a', 'b'].map((text) => writeRaw(dir, 'blob', Buffer.from(text)));
  return { tree, commits, blobs };
}

const IDENT = 'Ada <ada@example.org> 1767323045 +0000';

/** Mostly what git writes, with lines repeated, moved, cut, in other cases and of other widths. */
export function hostileCommit({ tree, commits }: Pool): fc.Arbitrary<Buffer> {
  const id = fc.constantFrom(...commits);
  const spelled = fc.oneof(
    { weight: 12, arbitrary: id },
    { weight: 1, arbitrary: id.map((oid) => oid.toUpperCase()) },
    { weight: 1, arbitrary: id.map((oid) => oid.slice(1)) },
    { weight: 1, arbitrary: id.map((oid) => `${oid}0`) },
    { weight: 1, arbitrary: id.map((oid) => ` ${oid}`) },
    { weight: 1, arbitrary: id.map((oid) => `${oid} `) },
  );
  const line = fc.oneof(
    { weight: 4, arbitrary: spelled.map((oid) => `parent ${oid}\n`) },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        `tree ${tree}\n`,
        `author ${IDENT}\n`,
        `committer ${IDENT}\n`,
        'encoding ISO-8859-1\n',
        'gpgsig -----BEGIN\n abc\n \n -----END\n',
        `mergetag object ${commits[0]}\n type commit\n tag v1\n tagger ${IDENT}\n \n parent ${commits[1]}\n`,
        ` parent ${commits[0]}\n`,
        'parent\n',
        'parents x\n',
        '\n',
        'x\0y\n',
        '\0\n',
        '\r\n',
        'parent',
      ),
    },
  );
  const extra = fc.array(fc.tuple(fc.nat(8), line), { maxLength: 2 });
  const message = fc.constantFrom('', 'text', 'text\n', 'a\0b\n', '\n\ntext\n', 'ümlaut\n', 'parent x\n\nmore\n');
  return fc
    .tuple(fc.array(id, { maxLength: 3 }), extra, message, fc.option(fc.nat(400), { freq: 8 }))
    .map(([parents, added, text, cut]) => {
      const lines = [
        `tree ${tree}\n`,
        ...parents.map((oid) => `parent ${oid}\n`),
        `author ${IDENT}\n`,
        `committer ${IDENT}\n`,
        '\n',
        text,
      ];
      for (const [at, each] of added) lines.splice(Math.min(at, lines.length), 0, each);
      const whole = Buffer.from(lines.join(''));
      return cut === null ? whole : whole.subarray(0, cut);
    });
}

const NAMES = ['a', 'b', 'a.b', 'a-b', 'A', '.git', '..', '.', '', 'a/b', '/', 'ü', '\ufffd', ' ', 'x\n', '.handoff'];
const BYTES = [Buffer.of(0xff), Buffer.of(0xfe), Buffer.of(0xc3), Buffer.from('caf\xe9', 'latin1')];
const MODES = ['100644', '100755', '40000', '120000', '160000'];
const ODD = ['100664', '040000', '0100644', '100600', '0', '644', '1', '777777', '8', '', '40755', '100644 '];

/** Mostly what git writes; modes, names and ends that it does not, in any order and more than once. */
export function hostileTree({ blobs, tree }: Pool): fc.Arbitrary<Buffer> {
  const name = fc.oneof(
    { weight: 4, arbitrary: fc.stringMatching(/^[a-z]{1,6}$/).map((text) => Buffer.from(text)) },
    { weight: 2, arbitrary: fc.constantFrom(...NAMES.map((text) => Buffer.from(text)), ...BYTES) },
  );
  const mode = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...MODES) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD) },
  );
  const entry = fc
    .tuple(mode, name, fc.constantFrom(...blobs, tree))
    .map(([spelled, text, oid]) =>
      Buffer.concat([Buffer.from(`${spelled} `), text, Buffer.of(0), Buffer.from(oid, 'hex')]),
    );
  return fc
    .tuple(fc.array(entry, { maxLength: 6 }), fc.boolean(), fc.option(fc.nat(200), { freq: 10 }))
    .map(([entries, isSorted, cut]) => {
      if (isSorted) entries.sort((a, b) => Buffer.compare(nameIn(a), nameIn(b)));
      const whole = Buffer.concat(entries);
      return cut === null ? whole : whole.subarray(0, cut);
    });
}

function nameIn(entry: Buffer): Buffer {
  return entry.subarray(entry.indexOf(0x20) + 1, entry.indexOf(0));
}

/** Tags of everything, with what they say of it, and a little else. */
export function hostileTag(targets: readonly string[]): fc.Arbitrary<Buffer> {
  const target = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...targets) },
    { weight: 1, arbitrary: fc.constantFrom(targets[0]!.toUpperCase(), targets[0]!.slice(1), `${targets[0]}00`) },
  );
  const type = fc.constantFrom(...Array<string>(9).fill('commit'), 'tree', 'blob', 'tag', 'tag', 'Commit', 'thing', '');
  const first = fc.constantFrom('', '', '', '', '', 'x y\n', ' ', '\n');
  const second = fc.constantFrom('', '', '', '', `object ${targets.at(-1)}\n`, 'x\n');
  const end = fc.constantFrom(`\ntagger ${IDENT}\n\ntext\n`, '\n\ntext\n', '\n\n', '\n', '');
  return fc
    .tuple(first, target, second, type, fc.constantFrom('tag v', 'tag v', 'tag v', ''), fc.nat(), end)
    .map(([before, oid, between, kind, tag, number, rest]) =>
      Buffer.from(`${before}object ${oid}\n${between}type ${kind}\n${tag}${number}${rest}`),
    );
}
