import type { IdentityResult, KeygenResult, RevokeResult } from '../../verbs/identity.ts';
import type { IdentityListing } from '../../verbs/identity-list.ts';
import type { Paint } from '../terminal.ts';
import { committed, headedTable, lines } from './layout.ts';

export function formatAdded(result: IdentityResult, paint: Paint): string {
  return formatSigned(result, `${result.identity} is signed in as ${result.role}`, paint);
}

export function formatRotated(result: IdentityResult, paint: Paint): string {
  return formatSigned(result, `${result.identity} has a new key; the old one is retired`, paint);
}

export function formatRevoked(result: RevokeResult, paint: Paint): string {
  const { revoked, signed_again, identity } = result;
  const again =
    signed_again.length === 0
      ? []
      : [
          '  Its documents were signed again by you; look at each of them:',
          ...signed_again.map((path) => `    ${path}`),
        ];
  const head = formatSigned(
    result,
    `Revoked ${revoked.length === 1 ? 'a key' : `${revoked.length} keys`} of ${identity}`,
    paint,
  );
  return head + lines(...again);
}

function formatSigned({ fingerprint, path, commit, pending }: IdentityResult, done: string, paint: Paint): string {
  const place = `  ${fingerprint}\n  ${path} (${committed(commit)})`;
  if (!pending) return lines(`${paint('green', '✓')} ${done}`, place);
  return lines(
    `${paint('yellow', '!')} ${done}, once enough root principals have signed`,
    place,
    '  They sign it with: git handoff policy sign --as NAME',
  );
}

export function formatKeygen({ identity, fingerprint, public_key, path }: KeygenResult, paint: Paint): string {
  return lines(
    `${paint('green', '✓')} A key for ${identity}: ${fingerprint}`,
    `  ${path}`,
    '',
    public_key,
    '',
    `Send that line to a maintainer, as ${identity}.pub. They sign it in with:`,
    `  git handoff identity add ${identity} --key ${identity}.pub`,
  );
}

export function formatListing({ identities }: IdentityListing, paint: Paint): string {
  const rows = identities.flatMap(({ identity, role, keys }) =>
    keys.map(({ fingerprint, state }, at) => [at === 0 ? identity : '', at === 0 ? role : '', state, fingerprint]),
  );
  const heads = ['IDENTITY', 'ROLE', 'KEY', 'FINGERPRINT'];
  return lines(headedTable(heads, rows, paint, (cell, column) => colourState(cell, column, paint)));
}

function colourState(cell: string, column: number, paint: Paint): string {
  if (column !== 2) return cell;
  if (cell.startsWith('active')) return paint('green', cell);
  return paint(cell.startsWith('revoked') ? 'red' : 'dim', cell);
}
