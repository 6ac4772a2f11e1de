import type { Oid } from '../objects/store.ts';
import type { LineReader } from './line-reader.ts';

/** What a patch expects to find in a file that it changes. */
export interface FileHunks {
  /** The file before. */
  oid: Oid;
  hunks: Hunk[];
}

/** A run of lines that is kept in part and changed in part. */
export interface Hunk {
  /** The lines as they were. */
  lines: Buffer[];
  /** How many lines are shown before the first change and after the last: fewer than three only where the file begins or ends. */
  leading: number;
  trailing: number;
}

/** Null where the patch is too large to be held. */
export function openHunkReader(): LineReader<FileHunks[] | null> {
  const files: FileHunks[] = [];
  let oid: Oid = '';
  let open: OpenHunk | null = null;
  let held = 0;
  return {
    line(line) {
      if (held > MOST_BYTES) return;
      if (open && (open.before > 0 || open.after > 0 || line[0] === BACKSLASH)) {
        held += line.length;
        return addLine(open, line);
      }
      const text = line.toString('latin1', 0, 160);
      const [, named] = /^index ([0-9a-f]{40,64})\.\./.exec(text) ?? [];
      const [, before = '1', after = '1'] = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(text) ?? [];
      if (named !== undefined) oid = named;
      if (!text.startsWith('@@ ')) return;
      open = { lines: [], leading: 0, trailing: 0, hasChanged: false, before: Number(before), after: Number(after) };
      const last = files.at(-1);
      if (last?.oid === oid) last.hunks.push(open);
      else files.push({ oid, hunks: [open] });
    },
    finish: () => (held > MOST_BYTES ? null : files),
  };
}

const MOST_BYTES = 1 << 22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const PLUS = 0x2b;

interface OpenHunk extends Hunk {
  hasChanged: boolean;
  /** How many lines of each side are still to come. */
  before: number;
  after: number;
}

function addLine(hunk: OpenHunk, line: Buffer): void {
  const [mark] = line;
  if (mark === BACKSLASH) return; // no line end at the end of the file: the counts have said so
  if (mark !== PLUS) {
    hunk.lines.push(Buffer.from(line.subarray(1)));
    hunk.before--;
  }
  if (mark === PLUS || mark === SPACE) hunk.after--;
  if (mark !== SPACE) {
    hunk.hasChanged = true;
    hunk.trailing = 0;
  } else if (hunk.hasChanged) hunk.trailing++;
  else hunk.leading++;
}
