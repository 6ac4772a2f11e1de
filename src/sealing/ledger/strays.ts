import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { hasTile, openTile, parseTilePath, TILE_WIDTH, tilePath } from '../../core/ledger/tiles.ts';
import { LEDGER } from '../../core/paths.ts';
import { ifThere } from '../../disk/if-there.ts';

/**
 * Tiles that an attempt which was cut off has left, and that a log of this size does not have: partial ones, or such as come after
 * all that it has. Full ones before that are not looked at, of which there may be thousands.
 */
export function findStrays(topLevel: string, size: number): string[] {
  const ledger = join(topLevel, LEDGER);
  const isStray = (path: string): boolean => {
    const tile = parseTilePath(path);
    return tile !== null && !hasTile(size, tile) && lstatSync(join(ledger, path)).isFile();
  };
  return namesIn(ledger, 'tile')
    .filter((level) => /^(?:entries|\d+)$/.test(level) && lstatSync(join(ledger, 'tile', level)).isDirectory())
    .flatMap((level) => tilesFrom(ledger, `tile/${level}`, openNames(level, size)))
    .filter(isStray)
    .map((path) => `${LEDGER}/${path}`);
}

/** Where the next hash or entry of a level goes, name by name. */
function openNames(level: string, size: number): string[] {
  const tile = openTile(level === 'entries' ? level : Number(level), size);
  return tilePath({ ...tile, width: TILE_WIDTH })
    .split('/')
    .slice(2);
}

/** The files below a folder that are partial, or at or behind a place, which is given as one name for each level of folders. */
function tilesFrom(ledger: string, folder: string, [first = '', ...below]: readonly string[]): string[] {
  return namesIn(ledger, folder)
    .filter((name) => name >= first || name.endsWith('.p'))
    .flatMap((name) => {
      const path = `${folder}/${name}`;
      const isFolder = lstatSync(join(ledger, path)).isDirectory();
      return isFolder ? tilesFrom(ledger, path, name === first ? below : []) : [path];
    });
}

function namesIn(ledger: string, folder: string): string[] {
  return ifThere(() => readdirSync(join(ledger, folder))) ?? [];
}
