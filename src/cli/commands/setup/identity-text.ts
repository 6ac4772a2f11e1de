import type { IdentityResult } from '../../../verbs/setup/identity.ts';
import type { KeygenResult } from '../../../verbs/setup/identity-keygen.ts';
import type { IdentityListing } from '../../../verbs/setup/identity-list.ts';
import type { IdentityResignResult } from '../../../verbs/setup/identity-resign.ts';
import type { RevokeResult } from '../../../verbs/setup/identity-revoke.ts';
import type { RotateResult } from '../../../verbs/setup/identity-rotate.ts';
import type { SkillResult } from '../../../verbs/setup/identity-skill.ts';
import type { Paint } from '../../terminal.ts';
import { committed, headedTable, lines } from '../../text/layout.ts';

export function formatAdded(result: IdentityResult, paint: Paint): string {
  return formatSigned(result, `${result.identity} is signed in as ${result.role}`, paint);
}

export function formatSkill({ identity, skill, signed_by, commit, path }: SkillResult, paint: Paint): string {
  const tick = paint('green', '✓');
  if (signed_by.length === 0) return lines(`${tick} ${identity} has ${skill === null ? 'no' : 'this'} skill already`);
  const what = skill === null ? 'has no skill any more' : `reads ${path}`;
  return lines(`${tick} ${identity} ${what}, signed by ${signed_by.join(', ')}, ${committed(commit)}`);
}

export function formatRotated(result: RotateResult, paint: Paint): string {
  const { identity, retired, public_key } = result;
  if (public_key !== undefined) return formatAsked(result, public_key, paint);
  const old = retired.length === 0 ? 'it had none that was active' : 'the old one is retired';
  return formatSigned(result, `${identity} has a new key; ${old}`, paint);
}

function formatAsked({ identity, fingerprint, path, signs }: RotateResult, public_key: string, paint: Paint): string {
  return lines(
    `${paint('yellow', '!')} The next key of ${identity}: ${fingerprint}`,
    `  ${path}`,
    '',
    public_key,
    '',
    ...request(identity, 'rotate'),
    signs ? 'Until that has arrived here, the old key signs.' : 'Until that has arrived here, nothing is signed.',
  );
}

function whatToDo({ identity, signed_in, state }: KeygenResult): string[] {
  if (state === 'active') return ['It is signed in: records by this key count.'];
  if (state === null) return request(identity, signed_in ? 'rotate' : 'add');
  return [
    `It is ${state}, and signs nothing that counts any more. For the next key: git handoff identity rotate ${identity}`,
  ];
}

/** What a maintainer does elsewhere with a public line. */
function request(identity: string, verb: 'add' | 'rotate'): string[] {
  return [
    `Send that line to a maintainer, as ${identity}.pub. They sign it in with:`,
    `  git handoff identity ${verb} ${identity} --key ${identity}.pub`,
  ];
}

export function formatRevoked(result: RevokeResult, paint: Paint): string {
  const { revoked, resigned, withdrawn, distrusted, identity } = result;
  const heading = formatSigned(
    result,
    `Revoked ${revoked.length === 1 ? 'a key' : `${revoked.length} keys`} of ${identity}`,
    paint,
  );
  return (
    heading +
    lines(
      ...listed('Documents that it had signed are signed by you now; look at each of them:', resigned),
      ...listed('Set back to what they said before, and signed by you:', withdrawn),
      ...listed('Left as they are, and count for nothing, since nobody has confirmed them:', distrusted),
      ...(distrusted.length === 0 ? [] : [`  ${CONFIRM}`]),
    )
  );
}

const CONFIRM = 'If one is right, sign it: git handoff identity resign NAME';

function listed(heading: string, paths: readonly string[]): string[] {
  return paths.length === 0 ? [] : [`  ${heading}`, ...paths.map((path) => `    ${path}`)];
}

export function formatResigned({ resigned, distrusted, commit }: IdentityResignResult, paint: Paint): string {
  const done = `${paint('green', '✓')} Signed by you (${committed(commit)}):`;
  const none = distrusted.length === 0 ? ['Every document is signed by a key that counts.'] : [];
  return lines(
    ...(resigned.length === 0 ? none : [done, ...resigned.map((path) => `    ${path}`)]),
    ...listed('Signed by revoked keys only, and count for nothing:', distrusted),
    ...(distrusted.length === 0 ? [] : [`  ${CONFIRM}`]),
  );
}

function formatSigned(result: IdentityResult, done: string, paint: Paint): string {
  const { fingerprint, path, signed_by, commit, pending } = result;
  const place = `  ${fingerprint}\n  ${path} (signed by ${signed_by.join(', ')}; ${committed(commit)})`;
  if (!pending) return lines(`${paint('green', '✓')} ${done}`, place);
  return lines(
    `${paint('yellow', '!')} ${done}, once enough root principals have signed`,
    place,
    '  They sign it with: git handoff policy sign --as NAME',
  );
}

export function formatKeygen(result: KeygenResult, paint: Paint): string {
  const { identity, fingerprint, public_key, path } = result;
  return lines(
    `${paint('green', '✓')} A key for ${identity}: ${fingerprint}`,
    `  ${path}`,
    '',
    public_key,
    '',
    ...whatToDo(result),
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
