import { isAbsolute, relative, sep } from 'node:path';
import { quoteWord } from '../../../core/text/quote.ts';
import type { LedgerAppendResult } from '../../../verbs/ledger/append.ts';
import type { CheckProofResult } from '../../../verbs/ledger/check-proof.ts';
import type { ProveResult } from '../../../verbs/ledger/prove.ts';
import type { LedgerVerifyResult } from '../../../verbs/ledger/verify.ts';
import type { LedgerRoot, RootResult } from '../../../verbs/seal/root.ts';
import type { SealResult } from '../../../verbs/seal/seal.ts';
import type { Paint } from '../../terminal.ts';
import { committed, count, fields, lines, shortId } from '../../text/layout.ts';

export function formatSeal(result: SealResult, paint: Paint): string {
  const { session_id, identity, tree_size, root, delta_id, path, already_sealed, commit } = result;
  const before = `was sealed, and no record came since${commit ? `; ${committed(commit)}` : ''}`;
  const did = already_sealed ? before : `is sealed, ${committed(commit)}`;
  return lines(
    `${paint('green', '✓')} session ${session_id.slice(0, 8)} of ${identity} ${did}`,
    fields(
      [
        ['root', root],
        ['over', count(tree_size, 'record')],
        ['seal', shortId(delta_id)],
        ['path', path],
      ],
      paint,
      '  ',
    ),
  );
}

export function formatRoot(result: RootResult | LedgerRoot, paint: Paint): string {
  const what =
    'origin' in result ? `${count(result.size, 'seal')}  ${result.origin}` : count(result.tree_size, 'record');
  return lines(`${result.root}  ${paint('dim', what)}`);
}

export function formatProve(result: ProveResult, paint: Paint, cwd: string): string {
  const { record, session_root, ledger_size, vkey } = result;
  const file = result.file === null ? null : seenFrom(cwd, result.file);
  return lines(
    `${paint('green', '✓')} proof of ${shortId(record)}  ${paint('dim', file ?? '-')}`,
    fields(
      [
        ['session root', session_root],
        ['ledger', count(ledger_size, 'seal')],
        ['check it', `git handoff check-proof ${quoteWord(file ?? 'FILE')} --vkey ${quoteWord(vkey)}`],
        ['the key', 'give it by another way than the proof: whoever sends both could have made both'],
      ],
      paint,
      '  ',
    ),
  );
}

/** The short name of what is in the current directory; never one that a command would take for a flag. */
function seenFrom(cwd: string, file: string): string {
  const near = isAbsolute(file) ? relative(cwd, file) : file;
  if (near.split(sep, 1)[0] === '..' || isAbsolute(near)) return file;
  return near.startsWith('-') ? `.${sep}${near}` : near;
}

const STEPS: Record<string, string> = {
  record: 'the record is whole, and is what its path says',
  record_signature: 'it bears the signature of the key named beside it',
  session: "it is under the root of its session's seal",
  seal_signature: 'the seal bears the signature of the key named beside it',
  ledger: 'the seal is under the root of the ledger',
};

const SIGNED_BY = {
  given: 'by the key you gave',
  maintainers: 'by a maintainer of this repository',
  none: 'by the key in the file, which anyone could have made',
};

function stepText(step: string, trustedBy: CheckProofResult['trusted_by']): string {
  if (step === 'checkpoint') return `the root of the ledger is signed ${SIGNED_BY[trustedBy ?? 'none']}`;
  return STEPS[step] ?? step;
}

export function formatCheck(result: CheckProofResult, paint: Paint): string {
  const { record, kind, identity, path, at, fingerprint, session_id, origin, ledger_size, checked, trusted } = result;
  const what = `${kind} ${shortId(record)} by ${identity}`;
  const told = trusted
    ? `${paint('green', '✓')} ${what} is in the ledger`
    : `${paint('yellow', '!')} ${what}: the proof is whole, but anyone could have made it. Give the key you trust: --vkey`;
  const mark = trusted ? paint('green', '✓') : paint('dim', '·');
  return lines(
    told,
    checked.map((step) => `  ${mark} ${stepText(step, result.trusted_by)}`),
    fields(
      [
        ['path', path],
        ['written', at],
        ['key', `${fingerprint}, ${identity}'s by the word of whoever signed the checkpoint`],
        ['session', session_id],
        ['ledger', `${origin}, ${count(ledger_size, 'seal')}`],
      ],
      paint,
      '  ',
    ),
  );
}

export function formatAppend(result: LedgerAppendResult, paint: Paint): string {
  const { size, root, appended, identity, commit, pushed, pushed_to } = result;
  const by = identity === null ? '' : `, signed by ${identity}`;
  const did = appended === 0 && commit === null ? 'nothing new' : `${appended} appended, ${committed(commit)}${by}`;
  return lines(
    `${paint('green', '✓')} the ledger has ${count(size, 'seal')}: ${did}`,
    fields([['root', root], ...pushedRows(pushed, pushed_to)], paint, '  '),
  );
}

function pushedRows(pushed: boolean, to: LedgerAppendResult['pushed_to']): [string, string][] {
  if (to === null) return [];
  const remote = to.remote ?? 'its remote';
  return [['pushed', pushed ? `${to.branch} to ${remote}` : `nothing: ${remote} has all of ${to.branch}`]];
}

export function formatLedger(result: LedgerVerifyResult, paint: Paint): string {
  const { exists, size, root, origin, unsealed, pending, witnesses, seen_at } = result;
  const open = (number: number, what: string, then: string) =>
    number === 0 ? 'none' : `${count(number, what)} ${then}`;
  const waiting: [string, string] = ['pending', open(pending, 'seal', 'to append: git handoff ledger append')];
  if (!exists) return lines(`${paint('yellow', '!')} there is no ledger here yet`, fields([waiting], paint, '  '));
  return lines(
    `${paint('green', '✓')} the ledger holds: ${count(size, 'seal')}`,
    fields(
      [
        ['root', root],
        ['origin', origin],
        ['not covered', open(unsealed, 'session', 'with records that no seal in it is over')],
        waiting,
        ['witnesses', witnesses.map(({ name, at }) => `${name} (${at})`).join(', ') || 'none'],
        ['first seen', seen_at ?? 'not remembered: only a ledger that is committed on the protected branch is'],
      ],
      paint,
      '  ',
    ),
  );
}
