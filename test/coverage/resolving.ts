import type { Text, Texts } from './edits.ts';
import type { Oid } from './objects.ts';
import type { Random } from './random.ts';
import type { Made, Writer } from './writer.ts';

/** What somebody makes of a merge: git's work as it is, and each conflict decided somehow. */
export function resolved(random: Random, writer: Writer, { files, conflicts }: Made, ours: Oid, theirs: Oid): Texts {
  const result = new Map(files);
  const way = random.one(['ours', 'theirs', 'marks', 'edited'] as const);
  for (const path of conflicts) {
    const side = { ours: writer.read(ours), theirs: writer.read(theirs), marks: files, edited: edited(files, path) }[
      way
    ];
    const text = side.get(path);
    if (text === undefined) result.delete(path);
    else if (!isBlocked(result, path)) result.set(path, text);
  }
  return result;
}

function edited(files: Texts, path: string): Texts {
  const text = files.get(path)?.text.replace(/^[<=>|]{7}.*\n/gm, '') ?? 'decided\n';
  const whole: Text = { mode: '100644', text };
  return new Map([...files, [path, whole]]);
}

/** Where there is a folder, no file can be; nor beneath a file. */
function isBlocked(files: ReadonlyMap<string, Text>, path: string): boolean {
  return [...files.keys()].some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`));
}
