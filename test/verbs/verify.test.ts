import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitAll, initialised, type Place, STORY, writeBytes, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';

async function codes(place: Place, rev?: string): Promise<string[]> {
  const { findings } = await place.handoff.verify(rev === undefined ? {} : { rev });
  return findings.map(({ code, path }) => `${code} ${path?.split('/').at(-1)}`);
}

describe('verify', () => {
  it('holds for a fresh repository and for a session in it', async () => {
    const place = await initialised();
    writeSession(place, STORY);
    commitAll(place);
    const result = await place.handoff.verify();
    expect(result).toMatchObject({ valid: true, findings: [], root: place.root, checked: 9, records: 4 });
  });

  it('catches one changed byte, and only there', async () => {
    const place = await initialised();
    const [, note] = writeSession(place, STORY);
    writeBytes(place.dir, note!.path, readFileSync(join(place.dir, note!.path), 'utf8').replace('git are', 'git were'));
    commitAll(place);
    expect(await codes(place)).toEqual(['signature_invalid 0002-note.yaml']);
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
  });
});
