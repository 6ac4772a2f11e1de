import type { LedgerRoot, RootResult } from '../../verbs/root.ts';
import type { SealResult } from '../../verbs/seal.ts';
import type { Paint } from '../terminal.ts';
import { committed, fields, lines, shortId } from './layout.ts';

export function formatSeal(result: SealResult, paint: Paint): string {
  const { session_id, tree_size, root, delta_id, path, already_sealed, commit } = result;
  const did = already_sealed ? 'was sealed, and nothing came since' : `is sealed, ${committed(commit)}`;
  return lines(
    `${paint('green', '✓')} session ${session_id.slice(0, 8)} ${did}`,
    fields(
      [
        ['root', root],
        ['over', `${tree_size} record${tree_size === 1 ? '' : 's'}`],
        ['seal', shortId(delta_id)],
        ['path', path],
      ],
      paint,
      '  ',
    ),
  );
}

export function formatRoot(result: RootResult | LedgerRoot, paint: Paint): string {
  const what = 'origin' in result ? `${result.size} seals  ${result.origin}` : `${result.tree_size} records`;
  return lines(`${result.root}  ${paint('dim', what)}`);
}
