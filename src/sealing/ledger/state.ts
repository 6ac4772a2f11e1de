import { type Ledger, noTiles, readLedger } from '../../audit/ledger/ledger.ts';
import { checkedOut } from '../../audit/source/checked-out.ts';
import type { Source } from '../../audit/source/source.ts';
import { openTree } from '../../audit/source/tree-source.ts';
import { type Asked, later, settled } from '../../core/later.ts';
import { edgeOf, type ReadTile, tilePath } from '../../core/ledger/tiles.ts';
import { LEDGER, ROOT } from '../../core/paths.ts';
import type { Directories, GitAccess, Messages } from '../../repository/parts.ts';
import { type Repository, requireWorkTree } from '../../repository/repository.ts';
import { askCandidates, type Candidates } from './arrivals.ts';
import { readTips, type Tips } from './race.ts';

/** What HEAD has. Nothing of it was judged. */
export interface State extends Tips {
  source: Source;
  ledger: Ledger | null;
  read: ReadTile;
  candidates: Promise<Asked<Candidates>>;
}

/** git answers in turn: first what tells which sessions are new, then those, which takes it long; the rest it finds meanwhile. */
export function askState(repository: Repository): { tips: Promise<Tips>; state: Promise<State> } {
  repository.store.askAhead(['HEAD^{tree}', `HEAD:${ROOT}/`, `HEAD:${LEDGER}/`, `HEAD:${ROOT}/sessions/`]);
  const tips = later(readTips(repository));
  return { tips, state: later(readState(repository, tips)) };
}

async function readState(repository: GitAccess & Directories & Messages, reading: Promise<Tips>): Promise<State> {
  const { store } = repository;
  const tips = await reading;
  const source = checkedOut(await openTree(store, tips.headCommit.tree), requireWorkTree(repository));
  const ledger = await readLedger(source);
  const candidates = later(askCandidates(repository, source, ledger));
  await settled(candidates);
  return { ...tips, source, ledger, read: ledger ? readAhead(store, ledger) : noTiles, candidates };
}

/** Asks for the right edge. */
function readAhead(store: Repository['store'], { checkpoint, read }: Ledger): ReadTile {
  const tiles = edgeOf(checkpoint.size);
  const folders = new Set(tiles.flatMap((tile) => foldersOf(tilePath(tile))));
  store.askAhead([...folders].map((folder) => `HEAD:${LEDGER}/${folder}/`));
  const edge = new Map(tiles.map((tile) => [tilePath(tile), later(read(tile))]));
  return (tile) => edge.get(tilePath(tile)) ?? read(tile);
}

function foldersOf(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, i) => names.slice(0, i + 1).join('/'));
}
