import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Place, type Written, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { prepareHonest } from './ready.ts';
import { BATON, code, commitRecords, START, thoughtSince } from './scenario.ts';

/** Forty lines, far enough apart that git merges changes at both ends. */
const LINES = Array.from({ length: 40 }, (_, n) => `line ${n}\n`);

/** The file with some of its lines changed. */
export function edited(changes: Record<number, string>): string {
  return LINES.map((line, n) => changes[n] ?? line).join('');
}

/** What the protected branch has when a scenario begins: code, and a finished session with a thought for it. */
export async function ground(place: Place): Promise<void> {
  const base = git(place.dir, 'rev-parse', 'HEAD');
  code(place, { 'src/app.ts': edited({}), 'src/lib.ts': 'lib\n', 'src/old.ts': edited({}) }, 'the application');
  writeSession(place, [START, { ...(await thoughtSince(place, base)), task_id: 'P0.0' }, BATON], { clock: 10 });
  commitRecords(place);
  await prepareHonest(place);
}

/** The folder of the session that was there before. */
export function groundFolder({ dir }: Place): string {
  const owner = '.handoff/sessions/donna';
  return `${owner}/${readdirSync(join(dir, owner)).sort()[0]}`;
}

export function folderOf([first]: readonly Written[]): string {
  return first!.path.slice(0, first!.path.lastIndexOf('/'));
}
