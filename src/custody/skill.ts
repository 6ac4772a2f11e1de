import { find } from '../audit/source/source.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import { skillPath } from '../core/paths.ts';
import { recordId } from '../core/record/verify.ts';
import type { Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import type { Directories, GitAccess } from '../repository/parts.ts';
import { readPosition } from '../repository/position.ts';
import { committedSource } from '../repository/trusted-now.ts';

/** What a persona reads, as a maintainer has signed it. SPEC §5.6. Null where there is none; one of another digest is none. */
export async function readSkill(
  repository: GitAccess & Directories,
  trust: Trust,
  name: string,
): Promise<string | null> {
  const digest = trust.identities.get(name)?.document.fields.skill;
  if (digest === undefined) return null;
  const source = await committedSource(repository, await readPosition(repository));
  const entry = await find(source, skillPath(name));
  const bytes = entry && (await source.read(entry, MAX_RECORD_BYTES));
  return bytes && digestOf(bytes) === digest ? Buffer.from(bytes).toString('utf8') : null;
}

/** As the identity's document names it. */
export function digestOf(bytes: Uint8Array): string {
  return recordId(bytes, nodeSuite);
}
