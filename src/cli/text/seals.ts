import type { CheckProofResult } from '../../verbs/check-proof.ts';
import type { LedgerAppendResult } from '../../verbs/ledger/append.ts';
import type { LedgerVerifyResult } from '../../verbs/ledger/verify.ts';
import type { ProveResult } from '../../verbs/prove.ts';
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

export function formatProve({ record, session_root, ledger_size, file, vkey }: ProveResult, paint: Paint): string {
  return lines(
    `${paint('green', '✓')} proof of ${shortId(record)}  ${paint('dim', file ?? '-')}`,
    fields(
      [
        ['session', session_root],
        ['ledger', `${ledger_size} seals`],
        ['check it', `git handoff check-proof ${file} --vkey '${vkey}'`],
      ],
      paint,
      '  ',
    ),
  );
}

const STEPS: Record<string, string> = {
  record: 'the record is whole, and is what its path says',
  record_signature: 'it bears the signature of the key named beside it',
  session: "it is under the root of its session's seal",
  seal_signature: 'so does the seal',
  ledger: 'the seal is under the root of the ledger',
  checkpoint: 'the root of the ledger is signed',
};

export function formatCheck(result: CheckProofResult, paint: Paint): string {
  const { record, kind, identity, path, session_id, origin, ledger_size, checked, trusted } = result;
  const steps = checked.map((step) => `  ${paint('green', '✓')} ${STEPS[step] ?? step}`);
  const unknown = `  ${paint('yellow', '!')} by the key in the proof itself: give the one you trust with --vkey`;
  return lines(
    `${paint('green', '✓')} ${kind} ${shortId(record)} by ${identity} is in the ledger`,
    steps,
    trusted ? [] : unknown,
    fields(
      [
        ['path', path],
        ['session', session_id],
        ['ledger', `${origin}, ${ledger_size} seals`],
      ],
      paint,
      '  ',
    ),
  );
}

export function formatAppend({ size, root, appended, commit }: LedgerAppendResult, paint: Paint): string {
  const did = appended === 0 && commit === null ? 'nothing new' : `${appended} appended, ${committed(commit)}`;
  return lines(`${paint('green', '✓')} the ledger has ${size} seals: ${did}`, fields([['root', root]], paint, '  '));
}

export function formatLedger(result: LedgerVerifyResult, paint: Paint): string {
  const { size, root, origin, unsealed, pending, witnesses, seen_at } = result;
  const open = (count: number, what: string) => (count === 0 ? 'none' : `${count} ${what}`);
  return lines(
    `${paint('green', '✓')} the ledger holds: ${size} seals`,
    fields(
      [
        ['root', root],
        ['origin', origin],
        ['unsealed', open(unsealed, 'sessions that it does not cover yet')],
        ['pending', open(pending, 'seals that wait for git handoff ledger append')],
        ['witnesses', witnesses.map(({ name, at }) => `${name} (${at})`).join(', ') || 'none'],
        ['first seen', seen_at ?? 'never'],
      ],
      paint,
      '  ',
    ),
  );
}
