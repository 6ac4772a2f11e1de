import { findAssignments } from './secret-assignment.ts';
import { findKnownForms, type SecretHit } from './secret-forms.ts';

/** Where a secret seems to stand. Never the secret itself: findings are printed and logged. */
export interface SecretFinding {
  rule: string;
  line: number;
}

/** Passwords, keys and tokens that do not belong in a record, which is signed and pushed and never taken back. */
export function findSecrets(text: string): SecretFinding[] {
  const tokens = numberLines(text, findKnownForms(text));
  const lines = new Set(tokens.map(({ line }) => line));
  const assigned = numberLines(text, findAssignments(text)).filter(({ line }) => !lines.has(line));
  return [...tokens, ...assigned].sort((a, b) => a.line - b.line);
}

/** Each rule once a line. One pass over the text, since a hostile text can have a hit every few characters. */
function numberLines(text: string, hits: readonly SecretHit[]): SecretFinding[] {
  const findings = new Map<string, SecretFinding>();
  let line = 1;
  let next = text.indexOf('\n');
  for (const { rule, index } of hits.toSorted((a, b) => a.index - b.index)) {
    for (; next >= 0 && next < index; next = text.indexOf('\n', next + 1)) line++;
    findings.set(`${line} ${rule}`, { rule, line });
  }
  return [...findings.values()];
}
