import { join } from 'node:path';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { reopen } from '../threats/forge.ts';

/** The server that clones of a place push to and fetch from. */
export function serverOf({ dir }: Place): string {
  const bare = join(dir, '..', 'origin.git');
  git('/', 'clone', '--quiet', '--bare', dir, bare);
  git(dir, 'remote', 'add', 'origin', bare);
  git(dir, 'fetch', '--quiet');
  return bare;
}

/** Another machine: its own clone and its own state. The keys are those of everybody, as only tests may. */
export function cloneOf(place: Place, bare: string, name: string, build?: string): Place {
  const dir = join(place.dir, '..', name);
  git('/', 'clone', '--quiet', bare, dir);
  return reopen(place, dir, place.env, build);
}

/** What git has of the server now. */
export function fetchAll({ dir }: Place): void {
  git(dir, 'fetch', '--quiet', '--prune');
}

/** A branch with a session of its own, made from main, pushed, and left again. Returns the id of the session. */
export async function workOn(
  place: Place,
  branch: string,
  as: string,
  { message = `${as} was here`, nextAgent, push = true }: { message?: string; nextAgent?: string; push?: boolean } = {},
): Promise<string> {
  git(place.dir, 'switch', '--quiet', '-c', branch, 'main');
  const { session_id } = await place.handoff.start({ as });
  await place.handoff.wrap({ as, message, ...(nextAgent ? { nextAgent } : {}) });
  if (push) git(place.dir, 'push', '--quiet', 'origin', branch);
  git(place.dir, 'switch', '--quiet', 'main');
  return session_id;
}
