import fs, { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { writeFiles } from '../../src/disk/tree-files.ts';
import { temporaryDirectory } from '../temporary.ts';
import { withFs } from '../with-fs.ts';

const PATH = '.handoff/sessions/donna/0001-start.yaml';
const BYTES = Buffer.from('handoff: 1\nkind: start\n');

/** A work tree in which somebody has written a file, or nobody has. */
function place(text?: string) {
  const dir = temporaryDirectory();
  const file = join(dir, PATH);
  mkdirSync(dirname(file), { recursive: true });
  if (text !== undefined) writeFileSync(file, text);
  return {
    file,
    scratch: join(dir, 'scratch'),
    write: () => writeFiles(dir, [{ path: PATH, bytes: BYTES }], join(dir, 'scratch')),
  };
}

/** Something that happens right before a link is made, one after the other. */
function beforeLinks(...happenings: (() => void)[]): Partial<typeof fs> {
  const link = fs.linkSync;
  return {
    linkSync: (from, to) => {
      happenings.shift()?.();
      link(from, to);
    },
  };
}

it('a file that git is writing just now is waited for', () => {
  const { file, scratch, write } = place('hand');
  withFs(
    beforeLinks(
      () => {},
      () => writeFileSync(file, BYTES),
    ),
    write,
  );
  expect([readFileSync(file), readdirSync(scratch)]).toEqual([BYTES, []]);
});

it('a folder that a checkout has removed meanwhile is made again', () => {
  const { file, scratch, write } = place();
  withFs(
    beforeLinks(() => rmSync(dirname(file), { recursive: true })),
    write,
  );
  expect([readFileSync(file), readdirSync(scratch)]).toEqual([BYTES, []]);
});

it('a file that somebody has written otherwise is theirs', () => {
  const { file, scratch, write } = place('theirs');
  expect(write).toThrow(/EEXIST/);
  expect([readFileSync(file, 'utf8'), readdirSync(scratch)]).toEqual(['theirs', []]);
});
