import { parseJson } from '../../core/bytes/json.ts';
import { replaceFile } from '../../disk/durable.ts';
import type { Moment } from '../../disk/moment.ts';
import { readStateText } from '../../disk/state-file.ts';

export function writeHeartbeat(path: string, moment: Moment): void {
  replaceFile(path, `${JSON.stringify(moment)}\n`);
}

/** Null when there is none, or none that can be read: then the session shows no sign of life. */
export function readHeartbeat(path: string): Moment | null {
  const text = readStateText(path);
  const beat = parseJson<Moment>(text ?? '');
  return typeof beat?.uptime === 'number' && typeof beat.at === 'string' ? beat : null;
}
