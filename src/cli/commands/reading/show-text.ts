import { randomBytes } from 'node:crypto';
import { fenceText, makeFence } from '../../../core/text/fence.ts';
import type { ShowResult } from '../../../verbs/reading/show.ts';
import type { Paint } from '../../terminal.ts';
import { fields, lines, tree } from '../../text/layout.ts';

/** Who signed it comes first: what an invalid record says was said by nobody. */
export function formatShow({ id, record, body, path, signer, sshsig }: ShowResult, paint: Paint): string {
  const verdict = signer
    ? `${paint('green', '✓')} signed by ${signer.identity} ${paint('dim', signer.fingerprint)}`
    : `${paint('red', '✗ does not hold')}; git handoff verify says why`;
  const facts: [string, string][] = [
    ['record', id],
    ['path', path],
  ];
  const text = body === null ? [] : ['', signer ? fenced(body, id, record, signer.identity) : NOT_SHOWN];
  const proof = sshsig ? ['', `Written to ${sshsig.directory}. Check it there:`, `  ${sshsig.command}`] : [];
  return lines(verdict, ...fields(facts, paint), '', ...tree(record, paint), ...text, ...proof);
}

const NOT_SHOWN = 'Its text is not shown: nobody we know has said it. --json has it.';

/** All of it, between lines that its author could not have guessed. SPEC §8.8 */
function fenced(body: string, delta_id: string, record: ShowResult['record'], identity: string): string {
  const fence = makeFence(body, () => randomBytes(16).toString('hex'));
  const provenance = { identity, delta_id, session_id: String(record.session_id), at: String(record.at) };
  return fenceText(body, provenance, fence, Number.POSITIVE_INFINITY).replace(/\n$/, '');
}
