import type { Suite } from '../../core/record/verify.ts';
import { isActive } from '../../core/trust/key-standing.ts';
import { assertByThreshold, type Identity, laidDownBy, type Policy } from '../../core/trust/trust.ts';

/**
 * SPEC §5.4, §10.3.3: what was a maintainer's, or becomes one's, is the threshold's to change: who demotes a maintainer decides as
 * much as who signs one in. So is what speaks for a root principal, by its name or with its key.
 */
export async function assertEntitled(was: Identity | null, is: Identity, policy: Policy, suite: Suite): Promise<void> {
  if (was?.role !== 'maintainer' && is.role !== 'maintainer' && !speaksForRoot(is, policy)) return;
  if (was && (await isLaidDown(was, is, suite))) return;
  await assertByThreshold(is, policy, suite);
}

function speaksForRoot({ name, keys }: Identity, { root }: Policy): boolean {
  const prints = new Set([...root.principals.values()].map(({ fingerprint }) => fingerprint));
  return root.principals.has(name) || keys.some(({ fingerprint }) => prints.has(fingerprint));
}

/** SPEC §5.5: signed by a key that was active, and nothing but keys and version changes. A retired key may have been stolen since. */
async function isLaidDown(was: Identity, is: Identity, suite: Suite): Promise<boolean> {
  const signers = await laidDownBy(is, suite);
  const wasActive = ({ fingerprint }: { fingerprint: string }) =>
    was.keys.some((key) => key.fingerprint === fingerprint && isActive(key));
  return signers.some(wasActive) && is.keys.length === was.keys.length && restOf(was) === restOf(is);
}

/** What does not change from one version to the next by itself. */
function restOf({ document }: Identity): string {
  const { version: _, prev: __, at: ___, keys: ____, ...rest } = document.fields;
  return JSON.stringify(rest);
}
