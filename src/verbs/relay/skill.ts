import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { skillPath } from '../../core/paths.ts';
import { recordId } from '../../core/record/verify.ts';
import { nodeSuite } from '../../crypto.ts';
import type { Relay } from '../../relay/cycle/relay.ts';
import { type Repository, requireWorkTree } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';

/** What makes an identity a persona: a text that a maintainer has signed for it, by its digest. */
export interface Skill {
  path: string;
  text: string;
}

/** It is told to a model, which has to read all of it. Bytes. */
export const MOST_SKILL = 64 * 1024;

/** Null where none was signed, and where the file is not the one that was: nobody is primed with what nobody signed. */
export async function skillOf(tree: Repository, identity: string): Promise<Skill | null> {
  const digest = (await requireTrust(tree)).identities.get(identity)?.document.fields.skill;
  if (digest === undefined) return null;
  const path = join(requireWorkTree(tree), skillPath(identity));
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > MOST_SKILL) return null;
  const bytes = readFileSync(path);
  return skillDigest(bytes) === digest ? { path, text: bytes.toString('utf8') } : null;
}

/** As the identity's document names it. SPEC §5.6 */
export function skillDigest(bytes: Uint8Array): string {
  return recordId(bytes, nodeSuite);
}

/** A program takes no more than so much, of which the rest of what is told needs the half. */
const MOST_OF_A_SKILL = 4_000;

export function skillContext({ next_agent }: Pick<Relay, 'next_agent'>, { path, text }: Skill): string {
  const whose = `git-handoff: the skill of ${next_agent}, as a maintainer has signed it`;
  if (JSON.stringify(text).length > MOST_OF_A_SKILL)
    return `${whose}, is too long to be shown here: read all of it in ${path}`;
  return `${whose}:\n\n${text}`;
}
