import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tilePath, tilesOf } from '../../src/core/ledger/tiles.ts';
import { findStrays } from '../../src/sealing/ledger/strays.ts';
import { temporaryDirectory } from '../temporary.ts';

/** A ledger of this size, with more files in it. */
function ledger(size: number, more: readonly string[]): string {
  const dir = temporaryDirectory();
  for (const path of [...tilesOf(size).map(tilePath), ...more]) write(dir, path);
  return dir;
}

function write(dir: string, path: string): void {
  const file = join(dir, '.handoff/ledger', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '');
}

describe('tiles that a cut-off append has left', () => {
  it.each<[string, number, string[]]>([
    ['of a larger attempt', 250, ['tile/0/000.p/253', 'tile/entries/000.p/253']],
    ['of one that the log has gone past since', 260, ['tile/0/000.p/253', 'tile/entries/000.p/253']],
    [
      'that filled a tile',
      250,
      ['tile/0/000', 'tile/0/001.p/4', 'tile/1/000.p/1', 'tile/entries/000', 'tile/entries/001.p/4'],
    ],
    ['of a smaller one', 257, ['tile/0/001.p/9', 'tile/0/000.p/255', 'tile/1/000.p/2']],
    ['that opened a level', 65_535, ['tile/1/000', 'tile/2/000.p/1', 'tile/0/256.p/3']],
    [
      'beyond a thousand tiles',
      256_000 + 300,
      ['tile/0/x001/001.p/60', 'tile/0/x001/002', 'tile/0/x002/000', 'tile/0/000.p/7'],
    ],
    ['where there was no ledger', 0, ['tile/0/000.p/1', 'tile/entries/000.p/1']],
  ])('%s are found, and nothing else', (_, size, left) => {
    const found = findStrays(ledger(size, left), size);
    expect(found.sort()).toEqual(left.map((path) => `.handoff/ledger/${path}`).sort());
  });

  it('are files of that name and nothing else', () => {
    const dir = ledger(10, ['tile/0/000.p/11', 'tile/readme', 'tile/0/000.p/x', 'tile/0/0001', 'tile/-1/000']);
    symlinkSync('000.p/10', join(dir, '.handoff/ledger/tile/0/001'));
    expect(findStrays(dir, 10)).toEqual(['.handoff/ledger/tile/0/000.p/11']);
  });

  it('are none where there is no folder', () => {
    expect(findStrays(temporaryDirectory(), 5)).toEqual([]);
  });
});
