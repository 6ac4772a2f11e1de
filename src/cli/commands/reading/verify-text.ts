import type { Finding } from '../../../core/error.ts';
import type { VerifyResult } from '../../../verbs/reading/verify.ts';
import type { Paint } from '../../terminal.ts';
import { count, fields, lines, shortId } from '../../text/layout.ts';
import { placeOf } from '../writeback/gate-formats/facts.ts';

/** Each finding as a compiler would print it, then the verdict. */
export function formatVerify(result: VerifyResult, paint: Paint): string {
  const { findings } = result;
  const warnings = findings.filter(({ severity }) => severity === 'warning');
  const hidden = new Set(warnings.slice(MOST_WARNINGS));
  const shown = findings.filter((finding) => !hidden.has(finding));
  return lines(
    shown.flatMap((finding) => formatFinding(finding, paint)),
    ...(hidden.size === 0 ? [] : [`… and ${count(hidden.size, 'more warning')}: git handoff verify --json`, '']),
    formatVerdict(result, paint),
  );
}

/** An agent whose key was revoked may have left thousands: what is wrong must not scroll away. */
const MOST_WARNINGS = 10;

export function formatFinding(finding: Finding, paint: Paint): string[] {
  const { severity, code, path, record, commit, message, expected, found, hint } = finding;
  const heading = `${paint('bold', placeOf(finding) ?? '.handoff')}: ${paint(severity === 'error' ? 'red' : 'yellow', severity)} ${code}`;
  const rows: [string, string | undefined][] = [
    ['problem', expected === undefined ? message : undefined],
    ['expected', expected],
    ['found', found],
    ['record', path && record && shortId(record)],
    ['commit', path && commit],
    ['hint', hint],
  ];
  const given = rows.filter((row): row is [string, string] => row[1] !== undefined);
  return [heading, ...fields(given, paint, '  '), ''];
}

function formatVerdict(result: VerifyResult, paint: Paint): string {
  const { findings, checked, policy_version, root, first_use, given, valid } = result;
  const files = count(checked, 'record or document', 'records and documents');
  const warnings = findings.filter(({ severity }) => severity === 'warning').length;
  const also = warnings === 0 ? '' : `, ${count(warnings, 'warning')}`;
  if (!valid) return `${paint('red', '✗')} ${count(findings.length - warnings, 'problem')} in ${files}${also}`;
  const pinned = first_use && given ? ', pinned as given' : '';
  const trusted = root === null ? '' : paint('dim', ` (policy ${policy_version}, root ${shortId(root)}${pinned})`);
  return `${paint('green', '✓')} ${files} ${checked === 1 ? 'holds' : 'hold'}${also}${trusted}`;
}
