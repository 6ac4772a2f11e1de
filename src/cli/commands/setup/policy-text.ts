import type { YamlMap, YamlValue } from '../../../core/bytes/yaml.ts';
import { quoteWord } from '../../../core/text/quote.ts';
import { POLICY_DEFAULTS } from '../../../core/trust/policy-defaults.ts';
import type { ShownDocument } from '../../../trust/waiting.ts';
import type { PolicyResult } from '../../../verbs/setup/policy.ts';
import type { Paint } from '../../terminal.ts';
import { committed, lines, tree } from '../../text/layout.ts';

/** Keys that say what the file is, not what the policy says. */
const FRAME: ReadonlySet<string> = new Set(['handoff', 'kind', 'repo', 'prev', 'nonce', 'version', 'signatures']);

export function formatPolicy(result: PolicyResult, paint: Paint): string {
  const { version, policy, signed_by, waiting = [] } = result;
  const rules = Object.fromEntries(
    Object.entries({ ...policy, ...absentIn(policy) })
      .filter(([key]) => !FRAME.has(key))
      .map(withDefaults),
  );
  const waits = waiting.flatMap((each) => [
    '',
    `${paint('yellow', '!')} ${titleOf(each, ',')} waits for signatures: git handoff policy sign ${quoteWord(each.document)}`,
    ...detailsOf(each),
  ]);
  return lines(
    `${paint('bold', `Policy ${version}`)}, signed by ${signed_by.join(', ')}`,
    '',
    ...tree(rules, paint),
    ...waits,
  );
}

/** Sections that a policy may leave out, and this one does. */
function absentIn(policy: YamlMap): YamlMap {
  const absent = Object.keys(POLICY_DEFAULTS).filter((key) => !Object.hasOwn(policy, key));
  return Object.fromEntries(absent.map((key) => [key, {}]));
}

/** What a policy leaves out is shown as what it means. */
function withDefaults([key, value]: [string, YamlValue | undefined]): [string, YamlValue | undefined] {
  const defaults = POLICY_DEFAULTS[key];
  return [key, defaults && typeof value === 'object' ? { ...defaults, ...value } : value];
}

export function formatChange({ version, signed_by, pending, signed = [], commit }: PolicyResult, paint: Paint): string {
  const by = `signed by ${signed_by.join(', ')} (${committed(commit)})`;
  const others = signed.flatMap((each) => (each.kind === 'policy' ? [] : ['', ...signedLines(each, paint)]));
  if (!pending) return lines(`${paint('green', '✓')} Policy ${version} is in force, ${by}`, ...others);
  return lines(
    `${paint('yellow', '!')} Policy ${version} waits for more signatures; ${by}`,
    `  Other root principals sign it with: git handoff policy sign policy/${version} --as NAME`,
    ...others,
  );
}

/** Every document that bears one more signature now, with what it changes. */
export function formatSigned({ signed = [], commit }: PolicyResult, paint: Paint): string {
  return lines(...signed.flatMap((each) => [...signedLines(each, paint), '']), `  ${committed(commit)}`);
}

function signedLines(each: ShownDocument, paint: Paint): string[] {
  const waits = /pending\.yaml$/.test(each.path) ? '; it waits for more signatures' : '';
  const title = `${paint('green', '✓')} Signed ${titleOf(each)}, by ${each.signed_by.join(', ')}${waits}`;
  return [title, ...detailsOf(each)];
}

/** The version of an identity stands between commas: `closing` is the second, where none follows. */
function titleOf({ document, version }: ShownDocument, closing = ''): string {
  return document.startsWith('policy/') ? `Policy ${version}` : `${document}, version ${version}${closing}`;
}

function detailsOf({ path, id, signed_by, changes }: ShownDocument): string[] {
  const what = changes.length === 0 ? ['the same words, one more signature'] : changes;
  return [`  ${path}`, `  ${id}`, `  signed by ${signed_by.join(', ')}`, ...what.map((change) => `  ${change}`)];
}
