import type { ShowResult } from '../../verbs/show.ts';
import type { Paint } from '../terminal.ts';
import { fields, lines, tree } from './layout.ts';

/** Who signed it comes first: what an invalid record says was said by nobody. */
export function formatShow({ id, record, body, path, signer, sshsig }: ShowResult, paint: Paint): string {
  const verdict = signer
    ? `${paint('green', '✓')} signed by ${signer.identity} ${paint('dim', signer.fingerprint)}`
    : `${paint('red', '✗ does not hold')}; git handoff verify says why`;
  const head: [string, string][] = [
    ['record', id],
    ['path', path],
  ];
  const text = body === null ? [] : ['', body.replace(/\n$/, '')];
  const proof = sshsig ? ['', `Written to ${sshsig.directory}. Check it there:`, `  ${sshsig.command}`] : [];
  return lines(verdict, ...fields(head, paint), '', ...tree(record, paint), ...text, ...proof);
}
