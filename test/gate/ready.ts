import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { branch, checkout, type Honest, headOf, honestBranch } from './scenario.ts';

let ready: Honest | undefined;

/** Makes the usual branch once, where every copy of the place finds it. */
export async function prepareHonest(place: Place): Promise<void> {
  ready = await honestBranch(place);
  git(place.dir, 'update-ref', 'refs/ready/feature', 'HEAD');
  checkout(place, 'main');
  git(place.dir, 'branch', '--quiet', '-D', 'feature');
  // few files are copied faster than many
  git(place.dir, 'repack', '-adq');
}

/** The branch `feature` as `honestBranch` makes it, which is there already unless main has moved. */
export async function usual(place: Place): Promise<Honest> {
  if (!ready || headOf(place.dir) !== ready.base) return honestBranch(place);
  branch(place, 'feature', 'refs/ready/feature');
  return ready;
}
