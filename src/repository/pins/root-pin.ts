import { HandoffError } from '../../core/error.ts';
import type { Messages, Settings } from '../parts.ts';

/**
 * Pins the root on first use, and says so: a person compares it with what a maintainer told them. One who has given that root
 * has compared it. SPEC §5.8
 */
export async function pinRoot(repository: Settings & Messages, root: string, isGiven: boolean): Promise<boolean> {
  if ((await repository.config()).get('handoff.root')) return false;
  await repository.setConfig('handoff.root', root);
  if (!isGiven) repository.warn(`Pinned root ${root} (first use). Compare it with a maintainer's: git handoff trust`);
  return true;
}

/** For verbs whose purpose is another one: if the configuration cannot be written, they warn and go on. */
export async function tryPinRoot(repository: Settings & Messages, root: string, isGiven: boolean): Promise<boolean> {
  try {
    return await pinRoot(repository, root, isGiven);
  } catch (error) {
    if (!(error instanceof HandoffError) || error.code !== 'io') throw error;
    repository.warn(`The root is not pinned: ${error.message}`);
    return false;
  }
}
