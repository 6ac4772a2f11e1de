import { resolve } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { skillPath } from '../../core/paths.ts';
import { quoteWord } from '../../core/text/quote.ts';
import { nodeSuite } from '../../crypto.ts';
import { readLinked } from '../../disk/state-file.ts';
import type { SecretOptions } from '../../journal/drafts/record-draft.ts';
import { refuseSecrets } from '../../journal/drafts/secret.ts';
import { requireIdentity } from '../../journal/keys/signers.ts';
import type { Repository } from '../../repository/repository.ts';
import { enterWorkTree } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { nextVersion } from '../../trust/identity-document.ts';
import { MOST_SKILL, skillDigest } from '../relay/skill.ts';
import { type IdentityOptions, publishIdentity } from './identity.ts';

export interface SkillOptions extends Omit<IdentityOptions, 'key'>, SecretOptions {
  /** What the persona is to read; without it the skill is taken away. */
  text?: Uint8Array;
}

export interface SkillResult {
  identity: string;
  /** The digest that is signed; null where the identity has none any more. */
  skill: string | null;
  path: string;
  signed_by: string[];
  commit: string | null;
}

/** Signs in what a persona reads: its document names the digest, and no other text stands beside it. SPEC §5.6 */
export async function identitySkill(repository: Repository, options: SkillOptions): Promise<SkillResult> {
  const { name, text } = options;
  enterWorkTree(repository);
  const trust = await requireTrust(repository);
  const identity = requireIdentity(trust, name);
  if (identity.role === 'maintainer' && trust.policy.root.threshold > 1) throw waitsForOthers(name);
  const skill = text === undefined ? null : skillDigest(readable(name, text, options));
  const path = skillPath(name);
  const before = identity.document.fields.skill ?? null;
  if (skill === before) return { identity: name, skill, path, signed_by: [], commit: null };
  const { skill: _, ...next } = nextVersion(identity, identity.keys, repository.now().toISOString(), nodeSuite);
  const fields = skill === null ? next : { ...next, skill };
  const along = text === undefined ? { removed: [path] } : { others: [{ path, bytes: text, replaces: true }] };
  const message = `handoff: ${skill === null ? 'no skill' : 'a skill'} for ${name}`;
  const fingerprint = identity.keys[0]?.fingerprint ?? '';
  const { signed_by, commit } = await publishIdentity(repository, trust, fields, fingerprint, message, options, along);
  return { identity: name, skill, path, signed_by, commit };
}

/** As the command line gives it; null where the skill is to go. */
export async function readSkillFile(
  file: string | undefined,
  remove: boolean,
  { directory, readInput }: { directory: string; readInput(limit?: number): Promise<Uint8Array> },
): Promise<Uint8Array | null> {
  if (remove === (file === undefined)) return remove ? null : readGiven(directory, file!, readInput);
  throw new HandoffError(
    'usage',
    remove ? 'Expected a file or --remove, found both.' : 'Expected the file of the skill.',
    {
      hint: 'git handoff identity skill NAME FILE; --remove takes the skill away.',
    },
  );
}

async function readGiven(directory: string, file: string, readInput: (limit?: number) => Promise<Uint8Array>) {
  if (file === '-') return readInput(MOST_SKILL);
  const path = resolve(directory, file);
  const bytes = await Promise.resolve()
    .then(() => readLinked(path))
    .catch((cause: Error) => {
      throw notRead(path, cause.message);
    });
  if (bytes === null) throw notRead(path, 'there is no such file.');
  return bytes;
}

function notRead(path: string, why: string): HandoffError {
  return new HandoffError('usage', `The skill cannot be read from ${path}: ${why}`, {
    hint: 'Name a Markdown file that you may read.',
  });
}

/** It is told to agents as a maintainer's word: text, of a size that can be read, and without a secret. */
function readable(name: string, bytes: Uint8Array, { allowSecret }: SecretOptions): Uint8Array {
  if (bytes.length > MOST_SKILL)
    throw unreadable(name, 'too_large', `it has ${bytes.length} bytes, and at most ${MOST_SKILL} are kept.`);
  const text = new TextDecoder('utf-8', { fatal: false }).decode(bytes);
  if (text.includes('\ufffd') || text.includes('\0')) throw unreadable(name, 'usage', 'it is no text of UTF-8.');
  if (text.trim() === '') throw unreadable(name, 'usage', 'it is empty.');
  refuseSecrets({ fields: {}, body: text, ...(allowSecret ? { allowSecret } : {}) });
  return bytes;
}

function unreadable(name: string, code: 'too_large' | 'usage', why: string): HandoffError {
  return new HandoffError(code, `This cannot be the skill of ${name}: ${why}`, {
    hint: `Give a Markdown file: git handoff identity skill ${quoteWord(name)} FILE`,
  });
}

/** A document that waits for signatures stands beside the one that holds, and the skill could only be one of the two. */
function waitsForOthers(name: string): HandoffError {
  return new HandoffError(
    'usage',
    `${name} is a maintainer, and several have to sign its document: a skill cannot wait.`,
    {
      hint: 'Let agents have skills; a maintainer acts in its own name.',
    },
  );
}
