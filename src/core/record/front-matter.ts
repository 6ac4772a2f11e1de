import type { PickupRecord, RecordHead } from '../generated/types.ts';
import { patterns } from '../generated/validators.js';
import { MAX_FRONT_MATTER_BYTES, MAX_RECORD_BYTES, MAX_SEAL_BYTES } from '../limits.ts';
import { decodeText } from '../text/text.ts';
import type { RecordKind } from './kinds.ts';
import type { SignedParts } from './signed-parts.ts';

/** What places, signatures and chains are checked by: any record will do. */
export interface SignedHead {
  kind: RecordKind;
  signedBytes: Uint8Array;
  fields: HeadFields;
}

interface HeadFields extends Pick<RecordHead, 'repo' | 'session_id' | 'identity' | 'seq' | 'prev' | 'clock' | 'at'> {
  inherited_from?: string | undefined;
  lock?: RecordHead['lock'] | undefined;
  /** The session that a pickup continues is a matter of the chain as well. */
  predecessor_session_id?: PickupRecord['predecessor_session_id'] | undefined;
}

const FENCES = '---\n---\n'.length;

/**
 * The head of a record that is certainly well-formed: all of its front matter has the layout, the types and the values
 * that its kind's schema asks for. One regular expression per kind says so, made from that schema. It matches nothing that
 * `parseRecord` refuses. Null says nothing: then only `parseRecord` can tell.
 */
export function matchHead(bytes: Uint8Array, parts: SignedParts | null, kind: RecordKind): SignedHead | null {
  if (!parts || bytes.length > (kind === 'seal' ? MAX_SEAL_BYTES : MAX_RECORD_BYTES)) return null;
  const match = patterns[kind].exec(decodeText(bytes));
  if (!match || match[0].length > MAX_FRONT_MATTER_BYTES + FENCES) return null;
  const [, repo, session_id, identity, seq, prev, clock, at, inherited_from, task, token, predecessor] = match;
  return {
    kind,
    signedBytes: parts.signedBytes,
    fields: {
      repo: repo!,
      session_id: session_id!,
      identity: identity!,
      seq: Number(seq),
      prev: orNull(prev!),
      clock: Number(clock),
      at: at!,
      inherited_from,
      lock: token === undefined ? undefined : { task: task!, token: Number(token) },
      predecessor_session_id: kind === 'pickup' ? orNull(predecessor!) : undefined,
    },
  };
}

function orNull(text: string): string | null {
  return text === 'null' ? null : text;
}
