import { equalBytes, fromHex, toHex, utf8 } from '../bytes/bytes.ts';
import { readYaml, type Shape, type YamlMap } from '../bytes/yaml.ts';
import { formatLiteral, type PlainYaml, plainYaml } from '../bytes/yaml-literal.ts';
import { writeYaml } from '../bytes/yaml-write.ts';
import { asHandoffError, HandoffError } from '../error.ts';
import { shape, validate } from '../generated/proof.js';
import type { ProofFields } from '../generated/types.ts';
import { assertSize } from '../record/record.ts';
import { describeSchemaError } from '../record/schema-error.ts';
import { inclusionNodes, isLeft } from '../seal/tree-nodes.ts';
import { decodeText, mendEnds } from '../text/text.ts';
import type { Proof, ProofLeaf, ProofPath } from './proof.ts';
import { asProofError, OTHER_ENDS, proofError } from './proof-error.ts';

/** A record of 256 KiB may be six times as long in escapes; its seal and the note are small beside it. */
export const MAX_PROOF_BYTES = 2 * 1024 * 1024;
const HEAD = 'handoff: 1\nkind: proof\n';

/** YAML that any library reads, with comments from which a person can check it by hand. */
export function formatProof(proof: Proof): Uint8Array {
  const { repo, record, session, seal, ledger, vkey, note } = proof;
  const text = [
    `${HEAD}${writeYaml({ repo })}`,
    comment(INTRODUCTION),
    comment(session === null ? SEAL_ITSELF : RECORD),
    formatLeaf('record', record),
    ...(session === null
      ? []
      : [comment(SESSION), formatPath('session', session), comment(SEAL), formatLeaf('seal', seal)]),
    comment(LEDGER),
    formatPath('ledger', ledger),
    comment(CHECKPOINT),
    writeYaml({ vkey }),
    formatLiteral('note', decodeText(note)),
  ].join('');
  const bytes = utf8(text);
  assertSize(bytes.length, MAX_PROOF_BYTES, 'proof');
  return bytes;
}

/** A proof without its comments, in which alone two files that say the same may differ. */
export function withoutComments(bytes: Uint8Array): string {
  return plainYaml(decodeText(bytes)).text;
}

/** The file as it was written; nothing of it is checked but its form. */
export function parseProof(bytes: Uint8Array): Proof {
  if (!(bytes instanceof Uint8Array)) throw proofError('file', 'the bytes of a file, as Uint8Array', typeof bytes);
  try {
    return readProof(bytes);
  } catch (error) {
    throw hasOtherEnds(bytes) ? asProofError('file', error, OTHER_ENDS) : asProofError('file', error);
  }
}

/** Whether it would be read with the line ends that it was written with. */
function hasOtherEnds(bytes: Uint8Array): boolean {
  const mended = mendEnds(bytes);
  if (equalBytes(mended, bytes)) return false;
  try {
    readProof(mended);
    return true;
  } catch (error) {
    asHandoffError(error);
    return false;
  }
}

function readProof(bytes: Uint8Array): Proof {
  assertSize(bytes.length, MAX_PROOF_BYTES, 'proof');
  const text = decodeText(bytes);
  if (!text.startsWith(HEAD))
    throw proofError('file', 'the lines "handoff: 1" and "kind: proof" first', JSON.stringify(text.slice(0, 24)));
  const fields = readFields(plainYaml(text));
  if (!validate(fields)) throw describeSchemaError('proof', fields, validate.errors![0]!);
  assertOrder(fields, shape);
  return toProof(fields as ProofFields); // its validator has just said so, and the type is made from the same schema
}

function readFields({ text, lines }: PlainYaml): YamlMap {
  try {
    return readYaml(text, shape);
  } catch (error) {
    if (!(error instanceof HandoffError) || typeof error.data?.line !== 'number') throw error;
    const { code, message, data } = error;
    const line = lines[(data.line as number) - 1] ?? (data.line as number);
    throw new HandoffError(code, message.replace(/^line \d+/, `line ${line}`), { data: { ...data, line } });
  }
}

/** SPEC §11.6: the keys stand as the writer puts them; the schema has said which there are. */
function assertOrder(fields: YamlMap, { order = [], keys = {} }: Shape): void {
  const found = Object.keys(fields);
  const expected = order.filter((key) => fields[key] !== undefined);
  if (found.some((key, at) => key !== expected[at]))
    throw proofError('file', `the keys in the order ${expected.join(', ')}`, found.join(', '));
  for (const key of found) if (keys[key]?.order) assertOrder(fields[key] as YamlMap, keys[key]);
}

function toProof({ repo, record, session, seal, ledger, vkey, note }: ProofFields): Proof {
  const leaf = toLeaf(record);
  return {
    repo,
    record: leaf,
    session: session ? toPath(session) : null,
    seal: seal ? toLeaf(seal) : leaf,
    ledger: toPath(ledger),
    vkey,
    note: utf8(note),
  };
}

function toLeaf({ path, id, key, file }: ProofFields['record']): ProofLeaf {
  return { path, id, key, bytes: utf8(file) };
}

function toPath({ index, size, siblings }: ProofFields['ledger']): ProofPath {
  return { index, size, siblings: siblings.map((hex) => fromHex(hex)!) };
}

function formatLeaf(name: string, { path, id, key, bytes }: ProofLeaf): string {
  return writeYaml({ [name]: { path, id, key } }) + formatLiteral('file', decodeText(bytes), '  ');
}

function formatPath(name: string, { index, size, siblings }: ProofPath): string {
  const sides = inclusionNodes(index, size).map((node) => (isLeft(node) ? 'left' : 'right'));
  const order =
    sides.length === 0 ? 'There are none here: the leaf is the root.' : `The siblings stand: ${sides.join(', ')}.`;
  return comment(order) + writeYaml({ [name]: { index, size, siblings: siblings.map(toHex) } });
}

function comment(text: string): string {
  return text.replace(/^/gm, '# ').replace(/ +$/gm, '').concat('\n');
}

const INTRODUCTION = `
This file proves that a record is in the ledger of the repository named above. To check it:
  git handoff check-proof FILE --vkey VKEY
VKEY is the ledger's key, from somebody you trust: \`git handoff ledger key\` prints it in a clone.

To follow it by hand, copy the texts below into files, without their indent (\`|-\`: without the last line end). Then
  printf '\\0' | cat - FILE | sha256sum                      is the hash of a leaf, and
  printf '01%s%s' LEFT RIGHT | xxd -r -p | sha256sum         is the hash of a node with these two below it:
with a sibling that stands left, LEFT is the sibling and RIGHT what you have; else it is the other way round.
`;

const RECORD = `The record. Its id is the SHA-256 of the file without its line "signature: …"; the key signed it as
ssh-keygen -Y sign does, in the namespace git-handoff/v1/ and its kind. That the key belongs to whom the record names is the
word of whoever signed the checkpoint.`;

const SEAL_ITSELF = `${RECORD}
It is a seal, and stands in the ledger itself, for the records of its session before it.`;

const SESSION = `
From the record to the root of its session. The record is leaf number \`index\`, from 0, of \`size\`. Hashed with
each sibling in turn, the first one first, it gives the \`root\` in the seal below.`;

const SEAL = `
The seal: the same identity says that its session had this root. Id and key as above.`;

const LEDGER = `
From the seal to the root of the ledger. The seal is leaf number \`index\` of \`size\`. Hashed with each sibling in turn,
it gives the root in the checkpoint below.`;

const CHECKPOINT = `
The checkpoint, a signed note (c2sp.org/signed-note): the name of the ledger, its size, its root in base64 (\`base64 -d | xxd -p -c 32\`
gives hex), which sessions it had seen, and who signed that. vkey is the key that signed it. Anybody can make a key: compare it
with the one you trust.`;
