import { ORIGIN, signed } from '../checkpoints.mjs';
import { ada } from '../signing.mjs';
import { leafOf, rootOf } from '../tree.mjs';

/** Of fewer than 256 seals, which are whole files. `sessions` is the id of the folder whose seals these are. */
export function ledger(seals, sessions, { keys = [ada], tile = seals.map(leafOf) } = {}) {
  const leaves = seals.map(leafOf);
  const text = `${ORIGIN}\n${seals.length}\n${rootOf(leaves).toString('base64')}\nsessions ${sessions}\n`;
  const entries = seals.flatMap((file) => [Buffer.of(file.length >> 8, file.length & 0xff), Buffer.from(file)]);
  return {
    '.handoff/ledger/checkpoint': `${text}\n${keys.map((key) => signed(text, { key })).join('')}`,
    [`.handoff/ledger/tile/0/000.p/${seals.length}`]: Buffer.concat(tile),
    [`.handoff/ledger/tile/entries/000.p/${seals.length}`]: Buffer.concat(entries),
  };
}

/** These files with a ledger of all seals in them, in this order. */
export function withLedger(store, files, sealed, options) {
  const before = Object.fromEntries(Object.entries(files).filter(([path]) => !path.startsWith('.handoff/ledger/')));
  return {
    ...before,
    ...ledger(
      sealed.map((each) => each.of('seal').file),
      sessionsOf(store, files),
      options,
    ),
  };
}

export function sessionsOf(store, files) {
  const folder = '.handoff/sessions/';
  const below = Object.entries(files).filter(([path]) => path.startsWith(folder));
  return store.writeTree(Object.fromEntries(below.map(([path, content]) => [path.slice(folder.length), content])));
}
