// A record is a file that anyone can write: fields, a signature, and a place in the chain. This is all there is to it.
import { createPrivateKey, sign } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  attachSignatures,
  browserSuite,
  formatRecord,
  recordId,
  recordName,
  sessionFolder,
  signedMessage,
} from '../dist/core.js';

/** Writes one session's records to a work tree and returns their paths and ids. */
export function writeSession({ dir, repo, identity, keyFile, session_id, at }, drafts) {
  const key = createPrivateKey(readFileSync(keyFile));
  const folder = `.handoff/sessions/${identity}/${sessionFolder(at, session_id)}`;
  const written = [];
  for (const [index, { kind, body, ...fields }] of drafts.entries()) {
    const seq = index + 1;
    const prev = written.at(-1)?.id ?? null;
    const common = { handoff: 1, kind, repo, session_id, identity, seq, prev, clock: seq, at };
    const unsigned = formatRecord({ ...common, ...fields }, body);
    const signature = sign(null, signedMessage(unsigned, browserSuite), key);
    const path = `${folder}/${recordName(seq, kind)}`;
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), attachSignatures(unsigned, [{ bytes: new Uint8Array(signature) }]));
    written.push({ path, id: recordId(unsigned.signedBytes, browserSuite) });
  }
  return written;
}
