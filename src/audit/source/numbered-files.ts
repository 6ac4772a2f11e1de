import { parseRecordName } from '../../core/paths.ts';
import type { RecordKind } from '../../core/record/kinds.ts';
import { finding, type Report } from '../finding.ts';
import { type Entry, FILE } from './source.ts';

/** A file of a session, with what its name says. */
export interface NumberedFile {
  entry: Entry;
  seq: number;
  kind: RecordKind;
}

/** In the order of their numbers; a file without a number has no place here. SPEC §6.2 */
export function numberedFiles(entries: readonly Entry[], report: Report): NumberedFile[] {
  const files: NumberedFile[] = [];
  for (const entry of entries) {
    const place = parseRecordName(entry.name);
    if (place && entry.mode === FILE) files.push({ entry, ...place });
    else if (place)
      report(finding('mode_invalid', entry.path, 'a regular file, mode 100644', `mode ${entry.mode}`, NO_MODE));
    else report(finding('path_mismatch', entry.path, 'NNNN-<kind>.yaml or .md', JSON.stringify(entry.name), NO_PLACE));
  }
  return files.sort((a, b) => a.seq - b.seq);
}

const NO_MODE = 'Records are plain files: git update-index --chmod=-x FILE, and no links.';
const NO_PLACE = 'Nothing but records belongs in a session folder; move the file elsewhere.';
