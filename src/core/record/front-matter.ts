import { patterns } from '../generated/validators.js';
import { MAX_FRONT_MATTER_BYTES, MAX_RECORD_BYTES, MAX_SEAL_BYTES } from '../limits.ts';
import { decodeText } from '../text/text.ts';
import type { RecordKind } from './kinds.ts';
import type { ParsedRecord, SignedParts } from './record.ts';

/** What places, signatures and chains are checked by. `fields` may hold the keys of the head alone. */
export type Head = Pick<ParsedRecord, 'kind' | 'fields' | 'signedBytes'>;

const FENCES = '---\n---\n'.length;

/**
 * The head of a record that is certainly well-formed: all of its front matter has the layout, the types and the values
 * that its kind's schema asks for. One regular expression per kind says so, made from that schema. It matches nothing that
 * `parseRecord` refuses. Null says nothing: then only `parseRecord` can tell.
 */
export function matchHead(bytes: Uint8Array, parts: SignedParts | null, kind: RecordKind): Head | null {
  if (!parts || bytes.length > (kind === 'seal' ? MAX_SEAL_BYTES : MAX_RECORD_BYTES)) return null;
  const match = patterns[kind].exec(decodeText(bytes));
  if (!match || match[0].length > MAX_FRONT_MATTER_BYTES + FENCES) return null;
  const [, repo, session_id, identity, seq, prev, clock, at, inherited_from, task, token, predecessor] = match;
  return {
    kind,
    signedBytes: parts.signedBytes,
    fields: {
      repo,
      session_id,
      identity,
      seq: Number(seq),
      prev: orNull(prev),
      clock: Number(clock),
      at,
      inherited_from,
      lock: token === undefined ? undefined : { task, token: Number(token) },
      predecessor_session_id: kind === 'pickup' ? orNull(predecessor) : undefined,
    },
  };
}

function orNull(text: string | undefined): string | null | undefined {
  return text === 'null' ? null : text;
}
