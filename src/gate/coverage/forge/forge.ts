import type { Finding } from '../../../core/error.ts';
import type { CodeOf } from '../code.ts';
import type { Comparer } from '../comparer.ts';
import { type ForgeMerge, judgeForgeMerge } from './forge-merge.ts';
import { type ForgeRebase, judgeForgeRebase } from './forge-rebase.ts';

/** SPEC §10.4.9, §10.4.10: a branch that does not have the protected one behind it, landed by a merge, a squash or a rebase. */
export async function judgeForge(
  comparer: Comparer,
  codeOf: CodeOf,
  input: ForgeMerge & ForgeRebase,
): Promise<Finding[]> {
  if (input.mergeBases.length === 0) return []; // their histories never met: no forge lands it
  const merged = await judgeForgeMerge(comparer, codeOf, input);
  return merged.length > 0 ? merged : judgeForgeRebase(comparer, codeOf, input);
}
