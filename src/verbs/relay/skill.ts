import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../core/paths.ts';
import { type Repository, requireWorkTree } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';

/** What makes an identity a persona: a text that a maintainer has signed for it, by its digest. */
export interface Skill {
  path: string;
  text: string;
}

const MOST = 64 * 1024;

/** Null where none was signed, and where the file is not the one that was: nobody is primed with what nobody signed. */
export async function skillOf(tree: Repository, identity: string): Promise<Skill | null> {
  const digest = (await requireTrust(tree)).identities.get(identity)?.document.fields.skill;
  if (digest === undefined) return null;
  const path = join(requireWorkTree(tree), ROOT, 'identities', identity, 'skill.md');
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > MOST) return null;
  const bytes = readFileSync(path);
  const found = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  return found === digest ? { path, text: bytes.toString('utf8') } : null;
}
