import { join } from 'node:path';
import { commitAll, type Place, writeBytes } from '../handoff.ts';
import { git, temporaryDirectory } from '../temporary.ts';

/** What a service has, and the clone of it in which a job runs. */
export interface Checkout {
  origin: string;
  workspace: string;
  head: string;
}

/** On a branch: a session that is wrapped, and nothing else. */
export async function honestBranch(place: Place, text = 'half way'): Promise<void> {
  git(place.dir, 'checkout', '--quiet', '-b', 'feature');
  await place.handoff.start({ as: 'donna', intent: text });
  await place.handoff.wrap({ as: 'donna', message: text });
}

/** On a branch: code that no thought record covers. */
export function silentBranch(place: Place): void {
  git(place.dir, 'checkout', '--quiet', '-b', 'feature');
  writeBytes(place.dir, 'src/code.js', 'work();\n');
  commitAll(place, 'work');
}

/** As actions/checkout leaves it: detached at the change, with every branch of the origin. */
export function checkout(place: Place, ...flags: string[]): Checkout {
  const head = git(place.dir, 'rev-parse', 'feature');
  const workspace = join(temporaryDirectory(), 'workspace');
  git('/', 'clone', '--quiet', '--no-local', '--branch', 'feature', ...flags, `file://${place.dir}`, workspace);
  git(workspace, 'checkout', '--quiet', '--detach', head);
  return { origin: place.dir, workspace, head };
}
